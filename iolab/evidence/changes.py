"""What changed from report to report: initialization parameters, and events between neighbours with bounds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.evidence.timeline import db_time_sessions
from iolab.metrics.formatting import at_least_text, figure_text
from logframe.interval import Interval
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.evidence.timeline import Timeline

#: Columns of `parameter_changes`.
PARAMETER_CHANGES: Final = pl.Schema(
    dict.fromkeys(("instance_name", "parameter", "status", "before", "after"), pl.String())
    | {"from_time": pl.Datetime("us"), "to_time": pl.Datetime("us"), "report": pl.String()}
)
#: Columns of `neighbour_changes`.
NEIGHBOUR_CHANGES: Final = pl.Schema(
    {
        "before": pl.String(),
        "after": pl.String(),
        "at": pl.Datetime("us"),
        "event": pl.String(),
        "direction": pl.String(),
        "at_least": pl.Float64(),
        "usual": pl.Float64(),
        "is_unusual": pl.Boolean(),
        "unit": pl.String(),
    }
    | dict.fromkeys((f"{side}{end}" for side in ("a", "b", "ratio") for end in ("", "_lo", "_hi")), pl.Float64())
)
#: Text reports cut values here; HTML reports do not.
_CUT: Final = 33
_ROOT: Final = "CDB$ROOT"
#: This many parameters are named in a sentence.
_MOST_NAMED: Final = 6
_MIN_SESSIONS: Final = 0.05
#: Fewer neighbours have no usual spread; a change is unusual beyond this power of it.
_LEAST_NEIGHBOURS: Final = 4
_BEYOND: Final = 3


def parameter_changes(parameters: pl.DataFrame) -> pl.DataFrame:
    """The initialization parameters that changed, one row a change, in order of time.

    A value that changed within a report is in its column of end values.  A value that differs from the one at the end
    of the report before was changed in between; a static parameter takes a restart.  A parameter that only one of two
    neighbours lists is `appeared` or `vanished`: reports leave out what has its default value.

    Reports of one time, such as AWR and Statspack of the same hour, are no neighbours.

    Values longer than text reports print, 33 characters, are compared up to there.

    Args:
        parameters: The table `parameters` of many reports, as `awrparse.read_awrs` gives it.

    Returns:
        The columns `PARAMETER_CHANGES`: ``status`` is `changed`, `appeared` or `vanished`; the change was made between
        ``from_time`` and ``to_time``; ``report`` is the one that shows it first.

    Examples:
        >>> from datetime import datetime
        >>> rows = [("a", 1, "NONE", None), ("b", 2, "SETALL", None)]
        >>> frame = pl.DataFrame([{"report": report, "part": 1, "instance_name": "i",
        ...     "begin_time": datetime(2026, 1, 1, hour), "end_time": datetime(2026, 1, 1, hour + 1),
        ...     "parameter": "filesystemio_options", "instance": None, "begin": begin, "end": end, "pdb": None}
        ...     for report, hour, begin, end in rows])
        >>> parameter_changes(frame).select("parameter", "before", "after").rows()
        [('filesystemio_options', 'NONE', 'SETALL')]
    """
    found: list[dict[str, object]] = []
    for (instance,), rows in parameters.group_by(["instance_name"], maintain_order=True):
        ordered = rows.sort("begin_time", "report", "part", maintain_order=True)
        last: tuple[dict[str, tuple[str, str]], object] | None = None
        for (report, _), page in ordered.group_by(["report", "part"], maintain_order=True):
            values = _values(page)
            begin, end = page.item(0, "begin_time"), page.item(0, "end_time")
            named = {"instance_name": instance, "report": report}
            if last is not None and (last[1] is None or begin is None or begin >= last[1]):
                for name, status, before, after in _differences(last[0], values):
                    change = {"parameter": name, "status": status, "before": before, "after": after}
                    found.append({**named, **change, "from_time": last[1], "to_time": begin})
            for name, (before, after) in values.items():
                if _cut(before) != _cut(after):
                    change = {"parameter": name, "status": "changed", "before": before, "after": after}
                    found.append({**named, **change, "from_time": begin, "to_time": end})
            last = values, end
    frame = pl.DataFrame(found, schema=PARAMETER_CHANGES)
    return frame.sort("to_time", "parameter", maintain_order=True)


def _values(page: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """Parameter -> value at the begin and at the end of one report; several values of one are joined."""
    values: dict[str, tuple[list[str], list[str]]] = {}
    for name, number, begin, end, pdb in page.select("parameter", "instance", "begin", "end", "pdb").iter_rows():
        place = pdb if pdb != _ROOT else None  # what holds for the whole database has no such name before 12.1
        label = " ".join(filter(None, [name, number and f"(instance {number})", place and f"({place})"]))
        both = values.setdefault(label, ([], []))
        both[0].append(begin or "")
        both[1].append(end or begin or "")
    return {name: (_joined(begins), _joined(ends)) for name, (begins, ends) in values.items()}


def _joined(values: list[str]) -> str:
    """Several values of one parameter: reports list them together, and once more one by one."""
    if len(values) == 1:
        return values[0]
    return ", ".join(dict.fromkeys(part.strip() for value in values for part in value.split(",")))


def _differences(
    before: dict[str, tuple[str, str]], after: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Name, status, old and new value of what differs between the end of a report and the begin of the next."""
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield name, "vanished", before[name][1], None
        elif name not in before:
            yield name, "appeared", None, after[name][0]
        elif _cut(before[name][1]) != _cut(after[name][0]):
            yield name, "changed", before[name][1], after[name][0]


def _cut(value: str) -> str:
    return value[:_CUT].rstrip()


def neighbour_changes(
    line: Timeline, *, quantity: str = "avg_wait_ms", min_sessions: float = _MIN_SESSIONS
) -> pl.DataFrame:
    """How much each event changed from one report of an instance to the next, the greatest change first.

    Rows are in the order of ``at_least``: by what factor the figure rose or fell at least, whatever the rounding.
    ``usual`` is the factor by which neighbours of the whole line differ in the middle (the median of the absolute
    logarithms of their ratios); ``is_unusual`` where ``at_least`` is above its third power, and below four neighbours
    null: a usual spread is not known.  Events that hardly any session waited for are left out, since their averages
    jump.

    Args:
        line: The time line of one or more instances.
        quantity: ``avg_wait_ms``, or ``sessions`` that wait or are on CPU on average.
        min_sessions: Average active sessions that the event has in one of the two reports at least.

    Returns:
        The columns `NEIGHBOUR_CHANGES`.  An event that only one of two reports lists is no row: it may be below the
        top list of the other.

    Raises:
        ValueError: There is no such quantity.
    """
    frames = {"avg_wait_ms": line.latencies, "sessions": line.events}
    if quantity not in frames:
        raise ValueError(f"no quantity {quantity}; there are {', '.join(frames)}")
    sessions = line.events.select("report", "event", sessions="value")
    places = line.periods.select("report", "instance_name", "db_id", "begin_time", "end_time")
    places = places.sort("begin_time").with_columns(place=pl.int_range(pl.len()).over("instance_name", "db_id"))
    one = frames[quantity].drop_nulls("value").join(sessions, on=["report", "event"], how="left", nulls_equal=True)
    one = one.select("report", "event", "sessions", "unit", a="value", a_lo="lo", a_hi="hi")
    one = one.unique(["report", "event"], keep="first").join(places, on="report")
    other = one.rename({name: f"b{name[1:]}" for name in ("a", "a_lo", "a_hi")}).with_columns(place=pl.col("place") - 1)
    both = one.join(other, on=["instance_name", "db_id", "event", "place"], suffix="_after", nulls_equal=True)
    both = both.filter(
        pl.max_horizontal("sessions", "sessions_after") >= min_sessions,
        pl.col("a_lo") > 0,
        (pl.col("begin_time_after") >= pl.col("end_time")).fill_null(value=True),
    )
    ratio = pl.col("b") / pl.col("a")
    lo, hi = pl.col("b_lo") / pl.col("a_hi"), pl.col("b_hi") / pl.col("a_lo")
    distance = ratio.log().abs()
    of_event = ["instance_name", "db_id", "event"]
    changes = both.with_columns(
        before="report",
        after="report_after",
        at="begin_time_after",
        ratio=ratio,
        ratio_lo=lo,
        ratio_hi=hi,
        direction=pl.when(lo > 1).then(pl.lit("up")).when(hi < 1).then(pl.lit("down")).otherwise(pl.lit("same")),
        at_least=pl.when(lo > 1).then(lo).when(hi < 1).then(1 / hi).otherwise(1.0),
        usual=pl.when(pl.len().over(of_event) >= _LEAST_NEIGHBOURS).then(distance.median().over(of_event).exp()),
    ).with_columns(is_unusual=pl.col("at_least") > pl.col("usual") ** _BEYOND)
    changes = changes.select(pl.col(name).cast(kind) for name, kind in NEIGHBOUR_CHANGES.items())
    return changes.sort("at_least", "at", "event", descending=[True, False, False], maintain_order=True)


def timeline_sentences(line: Timeline, neighbours: pl.DataFrame, parameters: pl.DataFrame) -> list[str]:
    """The main findings of a time line, a sentence each: what was read, the busiest report, the greatest change.

    Args:
        line: The time line of one instance.
        neighbours: What `neighbour_changes` gives of average waits.
        parameters: What `parameter_changes` gives.
    """
    sentences = [_periods_sentence(line)]
    busy = db_time_sessions(line.periods).drop_nulls("value").sort("value", descending=True, maintain_order=True)
    if busy.height:
        row = busy.row(0, named=True)
        active = figure_text(Interval(row["value"], row["lo"], row["hi"]))
        sentences.append(
            f"The busiest is {row['begin_time']:%Y-%m-%d %H:%M} to {row['end_time']:%H:%M}, "
            f"with {active} active sessions."
        )
    sentences += _rise_sentence(line)
    moved = neighbours.filter(pl.col("direction").is_in(["up", "down"]))
    greatest = moved.filter(pl.col("is_unusual").fill_null(value=True))
    if greatest.is_empty():
        spread = "beyond its usual spread" if moved.height else "by more than its rounding allows"
        unmoved = f"No event changed {spread} from one report to the next."
        single = "A change shows in two reports of an instance at least."
        return [*sentences, single if line.periods.height == 1 else unmoved]
    row = greatest.row(0, named=True)
    before, after = (figure_text(row[side]) for side in ("a", "b"))
    sentences.append(
        f"The greatest change from one report to the next: the average of `{row['event']}` went {row['direction']}, "
        f"from {before} to {after} {row['unit']}, by a factor of at least {at_least_text(row['at_least'])}, "
        f"in the report that begins at {row['at']:%Y-%m-%d %H:%M}."
    )
    meanwhile = parameters.filter((pl.col("to_time") == row["at"]) & (pl.col("status") == "changed"))
    named = [
        f"`{name}` {before} to {after}"
        for name, before, after in meanwhile.select("parameter", "before", "after").head(_MOST_NAMED).iter_rows()
    ]
    if meanwhile.height > _MOST_NAMED:
        named.append(f"and {meanwhile.height - _MOST_NAMED} more")
    if named:
        sentences.append(f"Parameters that changed just before it: {', '.join(named)}.")
    restarts = line.breaks.filter((pl.col("kind") == "restart") & (pl.col("to_time") == row["at"]))
    sentences += [f"Just before it, {reason}." for reason in restarts.get_column("reason")]
    return sentences


def _rise_sentence(line: Timeline) -> list[str]:
    """Where DB time rose most from one report to the next, and what has the most of it; nothing where it never rose."""
    ordered = db_time_sessions(line.periods).drop_nulls("value").sort("begin_time").to_dicts()
    pairs = [(one, two) for one, two in pairwise(ordered) if two["begin_time"] >= one["end_time"]]
    rises = [(one, two) for one, two in pairs if two["lo"] > one["hi"]]
    if not rises:
        return []
    one, two = max(rises, key=lambda pair: float(pair[1]["value"] - pair[0]["value"]))
    sides = [
        dict(line.sessions.filter(report=side["report"]).select("wait_class", "value").iter_rows())
        for side in (one, two)
    ]
    grown = {name: (sides[1].get(name) or 0.0) - (sides[0].get(name) or 0.0) for name in sides[0] | sides[1]}
    rise = two["value"] - one["value"]
    parts = {f"`{name}`": value for name, value in grown.items()} | {
        "time not accounted for": rise - sum(grown.values())
    }
    most = max(parts, key=lambda name: parts[name])
    share = f"; {100 * parts[most] / rise:.0f} % of the rise is {most}" if grown else ""
    if parts[most] > rise:
        share = f"; {most} rose by {figure_text(parts[most])} sessions while other parts fell"
    before, after = (figure_text(side["value"]) for side in (one, two))
    at = f"in the report that begins at {two['begin_time']:%Y-%m-%d %H:%M}"
    return [f"DB time rose most {at}, from {before} to {after} active sessions{share}."]


def _periods_sentence(line: Timeline) -> str:
    """What was read."""
    count = line.periods.height
    first, last = line.periods.select(pl.col("begin_time").min(), pl.col("end_time").max()).row(0)
    kinds = [
        (kind, line.breaks.filter(pl.col("kind") == kind).height) for kind in ("restart", "gap", "overlap", "repeat")
    ]
    others, lost = (
        line.diagnostics.filter(pl.col("kind") == kind).get_column("source").n_unique()
        for kind in ("no_report", "unreadable")
    )
    reports = f"{counted(count, 'report')} of `{line.instances[0]}`"
    parts = [f"{reports}, {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"]
    parts += [counted(number, kind) for kind, number in kinds if number]
    parts += [f"{others} file{' is no report' if others == 1 else 's are no reports'}"] if others else []
    parts += [f"{counted(lost, 'file')} could not be read"] if lost else []
    return "; ".join(parts) + "."
