"""What changed from report to report: initialization parameters, and events between neighbours with bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse import AwrReport, read_awr
from iolab.evidence.alignment import ALIGNED, align_reports
from iolab.evidence.timeline import db_time_sessions
from iolab.metrics.formatting import figure_text
from logframe.interval import Interval, row_figure
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from iolab.evidence.timeline import Timeline

#: Columns of `parameter_changes`.
PARAMETER_CHANGES: Final = pl.Schema(
    {
        "instance_name": pl.String(),
        "parameter": pl.String(),
        "status": pl.String(),
        "before": pl.String(),
        "after": pl.String(),
        "from_time": pl.Datetime("us"),
        "to_time": pl.Datetime("us"),
        "report": pl.String(),
    }
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
        **ALIGNED,
    }
)
#: Text reports cut values here; HTML reports do not.
_CUT: Final = 33
_ROOT: Final = "CDB$ROOT"
#: So many parameters are named in a sentence.
_MOST_NAMED: Final = 6
_MIN_SESSIONS: Final = 0.05


def parameter_changes(parameters: pl.DataFrame) -> pl.DataFrame:
    """The initialization parameters that changed, one row a change, in order of time.

    A value that changed within a report is in its column of end values.  A value that differs from the one at the end
    of the report before was changed in between; a static parameter takes a restart.  A parameter that only one of two
    neighbours lists is `appeared` or `vanished`: reports leave out what has its default value.

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
            if last is not None:
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
    reports: Iterable[AwrReport | str | Path], *, quantity: str = "avg_wait_ms", min_sessions: float = _MIN_SESSIONS
) -> pl.DataFrame:
    """How much each top event changed from one report to the next, the greatest change first.

    Neighbours are compared by `iolab.evidence.align_reports`: as rates and ratios with bounds, in the order
    of ``at_least``: by what factor the figure rose or fell at least, whatever the rounding.  Events that hardly
    any session waited for are left out, since their averages jump.

    Args:
        reports: Reports in order of time, or their paths; two are held in memory at a time.
        quantity: ``avg_wait_ms``, ``waits_per_s``, ``waiting_sessions`` or ``db_time_share``.
        min_sessions: Average active sessions that the event has in one of the two reports at least.

    Returns:
        The columns `NEIGHBOUR_CHANGES`: the reports, the begin of the second, then those of the alignment.  An event
        that only one report lists is no row: it may be below the top list of the other.

    Raises:
        ValueError: There is no such quantity.
        LogParseError: A path holds no report.
    """
    frames = [pl.DataFrame(schema=NEIGHBOUR_CHANGES)]
    one: AwrReport | None = None
    for item in reports:
        two = item if isinstance(item, AwrReport) else read_awr(item, printed=True)
        if one is not None and {"top_events"} <= set(one.tables) & set(two.tables):
            frames.append(_changes_between(one, two, quantity, min_sessions))
        one = two
    return pl.concat(frames).sort("at_least", "at", "event", descending=[True, False, False], maintain_order=True)


def _changes_between(one: AwrReport, two: AwrReport, quantity: str, min_sessions: float) -> pl.DataFrame:
    events = align_reports(one, two).events.filter(pl.col("status") == "both")
    known = events.get_column("quantity").unique().to_list()
    if quantity not in known and known:
        raise ValueError(f"no quantity {quantity}; there are {', '.join(sorted(known))}")
    waiting = events.filter(pl.col("quantity") == "waiting_sessions")
    busy = waiting.filter(pl.max_horizontal("a", "b") >= min_sessions).get_column("event").to_list()
    rows = events.filter((pl.col("quantity") == quantity) & pl.col("event").is_in(busy)).to_dicts()
    named = {"before": one.source, "after": two.source, "at": two.info.begin_time}
    return pl.DataFrame([{**named, **row, **_factor(row)} for row in rows], schema=NEIGHBOUR_CHANGES)


def _factor(row: dict[str, object]) -> dict[str, object]:
    """Which way a figure changed, and by what factor at least."""
    ratio = row_figure(row, "ratio")
    if ratio is None or ratio.lo <= 0:
        return {"direction": None, "at_least": None}
    if ratio.lo > 1:
        return {"direction": "up", "at_least": ratio.lo}
    if ratio.hi < 1:
        return {"direction": "down", "at_least": 1 / ratio.hi}
    return {"direction": "same", "at_least": 1.0}


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
    greatest = neighbours.filter(pl.col("direction").is_in(["up", "down"]))
    if greatest.is_empty():
        return [*sentences, "No top event changed by more than its rounding allows."]
    row = greatest.row(0, named=True)
    before, after = (figure_text(row[side]) for side in ("a", "b"))
    sentences.append(
        f"The greatest change from one report to the next: the average of `{row['event']}` went {row['direction']}, "
        f"from {before} to {after} {row['unit']}, by a factor of {row['at_least']:.3g} at least, "
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
