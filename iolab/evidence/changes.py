"""What changed from report to report: initialization parameters, and events between neighbours with bounds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.evidence.report_periods import INSTANCE, LEAST_WAITS
from iolab.evidence.timeline import KEYS, LEFT_OUT, db_time_sessions, with_elapsed
from iolab.metrics.formatting import apart_texts, at_least_text, figure_text, until_text
from logframe.interval import ENDS, Interval
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from iolab.evidence.timeline import Timeline

#: Columns of `parameter_changes`.
PARAMETER_CHANGES: Final = pl.Schema(
    {"db_name": pl.String(), "db_id": pl.Int64()}
    | dict.fromkeys(("instance_name", "parameter", "status", "before", "after"), pl.String())
    | {"from_time": pl.Datetime("us"), "to_time": pl.Datetime("us"), "report": pl.String()}
)
#: Columns of `neighbour_changes`.
NEIGHBOUR_CHANGES: Final = pl.Schema(
    {
        "db_name": pl.String(),
        "db_id": pl.Int64(),
        "instance_name": pl.String(),
        "before": pl.String(),
        "after": pl.String(),
        "at": pl.Datetime("us"),
        "event": pl.String(),
        "direction": pl.String(),
        "at_least": pl.Float64(),
        "more_sessions": pl.Float64(),
        "usual": pl.Float64(),
        "is_unusual": pl.Boolean(),
        "unit": pl.String(),
    }
    | dict.fromkeys((f"{side}{end}" for side in ("a", "b", "ratio") for end in ENDS), pl.Float64())
)
#: Text reports cut values here; HTML reports do not.
_CUT: Final = 33
_ROOT: Final = "CDB$ROOT"
#: This many parameters are named in a sentence.
_MOST_NAMED: Final = 6
#: Fewer neighbours have no usual spread; a change is unusual beyond this power of it.
_LEAST_NEIGHBOURS: Final = 4
_BEYOND: Final = 3
#: More of a rise is the most of it, whatever else there is.
_MOST_OF_IT: Final = 0.5
#: Events that a sentence lists.
_FEW: Final = 3
#: Tables without which a report is not compared, or its settings are not.
_NEEDED: Final = ("foreground_events", "parameters")
#: Bounds that differ by no more than this share differ by the rounding of the arithmetic alone.
_SLACK: Final = 1e-9


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
    who = [name for name in INSTANCE if name in parameters.columns]
    for instance, rows in parameters.group_by(who, maintain_order=True):
        ordered = rows.sort("begin_time", "report", "part", maintain_order=True)
        last: tuple[dict[str, str], object] | None = None
        for (report, _), page in ordered.group_by(["report", "part"], maintain_order=True):
            values = _values(page)
            begin, end = page.item(0, "begin_time"), page.item(0, "end_time")
            steps = [(*values, begin, end)]
            if last is not None and (last[1] is None or begin is None or begin >= last[1]):
                steps.insert(0, (last[0], values[0], last[1], begin))
            for old, new, *times in steps:
                named = {
                    **dict(zip(who, instance, strict=True)),
                    **dict(zip(("from_time", "to_time"), times, strict=True)),
                }
                found += [{**named, "report": report, **change} for change in _differences(old, new)]
            last = values[1], end
    frame = pl.DataFrame(found, schema=PARAMETER_CHANGES)
    return frame.sort("to_time", "parameter", maintain_order=True)


def _values(page: pl.DataFrame) -> tuple[dict[str, str], dict[str, str]]:
    """The parameters at the begin and at the end of one report; several values of one are joined."""
    values: dict[str, list[tuple[str, str]]] = {}
    for name, number, begin, end, pdb in page.select("parameter", "instance", "begin", "end", "pdb").iter_rows():
        place = pdb if pdb != _ROOT else None  # what holds for the whole database has no such name before 12.1
        label = " ".join(filter(None, [name, number and f"(instance {number})", place and f"({place})"]))
        values.setdefault(label, []).append((begin or "", end or begin or ""))
    begins, ends = ({name: _joined([one[place] for one in both]) for name, both in values.items()} for place in (0, 1))
    return begins, ends


def _joined(values: list[str]) -> str:
    """Several values of one parameter: reports list them together, and once more one by one."""
    if len(values) == 1:
        return values[0]
    return ", ".join(dict.fromkeys(part.strip() for value in values for part in value.split(",")))


def _differences(before: dict[str, str], after: dict[str, str]) -> Iterator[dict[str, str | None]]:
    """The parameters that differ from one time to the next."""
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is None or new is None or _cut(old) != _cut(new):
            status = "appeared" if old is None else "vanished" if new is None else "changed"
            yield {"parameter": name, "status": status, "before": old, "after": new}


def _cut(value: str) -> str:
    return value[:_CUT].rstrip()


def neighbour_changes(
    line: Timeline,
    *,
    quantity: str = "avg_wait_ms",
    events: Sequence[str] | None = None,
    least_waits: int = LEAST_WAITS,
) -> pl.DataFrame:
    """How much each event changed from one report of an instance to the next, what changed most time first.

    Rows are in the order of ``more_sessions``: how many more active sessions, or fewer (below zero), the change made at
    least: for an average wait, its change times the lesser of both rates of waits.  ``at_least`` is by what factor the
    figure rose or fell at least, whatever the rounding; after a figure of 0 ``ratio_hi`` is null.  The bounds are those
    of rounding; they do not describe how much averages vary from hour to hour.  ``usual`` does: the factor by which
    other neighbours of the whole line differ in the middle (the median of the absolute logarithms of their ratios,
    without the greatest); ``is_unusual`` where ``at_least`` is above its third power, and below four neighbours null: a
    usual spread is not known.

    Args:
        line: The time line of one or more instances.
        quantity: ``avg_wait_ms``, or ``sessions`` that wait or are on CPU on average.
        events: The events wanted; by default all.
        least_waits: Averages of fewer waits are left out.

    Returns:
        The columns `NEIGHBOUR_CHANGES`.  An event that only one of two reports lists is no row: it may be below the
        top list of the other.

    Raises:
        ValueError: There is no such quantity.
    """
    frames = {"avg_wait_ms": line.latencies, "sessions": line.events}
    if quantity not in frames:
        raise ValueError(f"no quantity {quantity}; there are {', '.join(frames)}")
    places = with_elapsed(line.periods).select(*KEYS, "db_name", "db_id", "elapsed_hi").sort("begin_time")
    places = places.with_columns(place=pl.int_range(pl.len()).over(INSTANCE))
    one = frames[quantity].drop_nulls("value")
    rate = pl.lit(None, pl.Float64)
    if quantity == "avg_wait_ms":
        one = one.filter(pl.col("waits") >= least_waits).join(
            line.events.select(*KEYS, "event"), on=[*KEYS, "event"], how="semi", nulls_equal=True
        )
        rate = pl.col("waits_lo") / pl.col("elapsed_hi") / 1000
    if events is not None:
        one = one.filter(pl.col("event").is_in(list(events)))
    one = one.rename({"value": "b", "lo": "b_lo", "hi": "b_hi"}).unique([*KEYS, "event"], keep="first")
    one = one.join(places, on=KEYS, nulls_equal=True).with_columns(rate=rate).sort("place")
    of_event = [*INSTANCE, "event"]
    last = (
        pl.col("report", "end_time", "place", "rate", "b", "b_lo", "b_hi").shift().over(of_event).name.suffix("_last")
    )
    both = one.with_columns(last).rename({f"b{end}_last": f"a{end}" for end in ENDS})
    follows = (pl.col("begin_time") >= pl.col("end_time_last")).fill_null(value=True)
    both = both.filter(pl.col("place") == pl.col("place_last") + 1, pl.col("a_hi") > 0, follows)
    ratio = pl.when(pl.col("a") > 0).then(pl.col("b") / pl.col("a"))
    lo, hi = pl.col("b_lo") / pl.col("a_hi"), pl.when(pl.col("a_lo") > 0).then(pl.col("b_hi") / pl.col("a_lo"))
    factor = pl.when(pl.col("a_lo") > 0, ratio > 0).then(ratio).log().abs().drop_nulls()
    others = factor.sort().head(factor.len() - 1).median().over(of_event)
    weight = pl.min_horizontal("rate", "rate_last").fill_null(1.0)

    def moved(up: pl.Expr, down: pl.Expr, same: pl.Expr) -> pl.Expr:
        return pl.when(lo > 1 + _SLACK).then(up).when(hi < 1 - _SLACK).then(down).otherwise(same)

    changes = both.with_columns(
        before="report_last",
        after="report",
        at="begin_time",
        ratio=ratio,
        ratio_lo=lo,
        ratio_hi=hi,
        direction=moved(pl.lit("up"), pl.lit("down"), pl.lit("same")),
        at_least=moved(lo, 1 / hi, pl.lit(1.0)),
        more_sessions=weight * moved(pl.col("b_lo") - pl.col("a_hi"), pl.col("b_hi") - pl.col("a_lo"), pl.lit(0.0)),
        usual=pl.when(pl.len().over(of_event) >= _LEAST_NEIGHBOURS).then(others.exp()),
    ).with_columns(is_unusual=pl.col("at_least") > pl.col("usual") ** _BEYOND)
    order = [-pl.col("more_sessions").abs().round_sig_figs(9), pl.col("at"), pl.col("event")]
    return changes.select(pl.col(name).cast(kind) for name, kind in NEIGHBOUR_CHANGES.items()).sort(order)


def timeline_sentences(line: Timeline, neighbours: pl.DataFrame, parameters: pl.DataFrame) -> list[str]:
    """The main findings of a time line, a sentence each: what was read, the busiest report, the greatest change.

    Args:
        line: The time line of one instance.
        neighbours: What `neighbour_changes` gives of average waits.
        parameters: What `parameter_changes` gives.
    """
    sentences = [_periods_sentence(line), *left_out_sentences(line)]
    busy = db_time_sessions(line.periods).drop_nulls("value").sort("value", descending=True, maintain_order=True)
    if busy.height:
        row = busy.row(0, named=True)
        active = figure_text(Interval(row["value"], row["lo"], row["hi"]))
        end = until_text(row["begin_time"], row["end_time"], "%H:%M")
        sentences.append(f"The busiest is {row['begin_time']:%Y-%m-%d %H:%M} to {end}, with {active} active sessions.")
    sentences += _rise_sentence(line)
    if neighbours.is_empty():
        sentences.append(f"No average was compared: {why_not_compared(line.periods.height, line.latencies)}.")
    else:
        sentences += change_sentences(neighbours, parameters)
    if greatest := greatest_change(neighbours):
        restarts = line.breaks.filter(kind="restart", to_time=greatest["at"]).get_column("reason")
        sentences += [f"Just before {greatest['at']:%Y-%m-%d %H:%M}, {reason}." for reason in restarts]
    return sentences


def greatest_change(changes: pl.DataFrame) -> dict[str, Any] | None:
    """The row of `neighbour_changes` that changed most time, beyond rounding and its usual spread."""
    moved = changes.filter(pl.col("direction") != "same", pl.col("is_unusual").fill_null(value=True))
    return moved.row(0, named=True) if moved.height else None


def why_not_compared(reports: int, averages: pl.DataFrame | None) -> str:
    """Why no average wait of an instance was compared with that of the next report, as a part of a sentence.

    Args:
        reports: How many reports it has.
        averages: The rows of `Timeline.latencies` that were to be compared, where they are known.
    """
    if reports == 1:
        return "a change shows in two reports of an instance at least"
    if averages is not None and averages.is_empty():
        return "the reports list no such waits of foreground sessions"
    if averages is not None and averages.filter(pl.col("value").is_null(), pl.col("waits") >= LEAST_WAITS).height:
        return "times and averages of waits contradict each other"
    return f"no two reports that follow each other both have an average of {LEAST_WAITS} waits"


def change_sentences(changes: pl.DataFrame, parameters: pl.DataFrame, *, of_fleet: bool = False) -> list[str]:
    """The greatest change from one report to the next, and the parameters that changed just before it.

    Where a greater one is usual for its event, or of a fleet a fall, a sentence names that, too.

    Args:
        changes: What `neighbour_changes` gives of average waits.
        parameters: What `parameter_changes` gives.
        of_fleet: Whether the greatest rise is wanted, and the instance is named.
    """
    moved = changes.filter(pl.col("direction") != "same")
    wanted = moved.filter(direction="up") if of_fleet else moved
    row = greatest_change(wanted)
    first = moved.row(0, named=True) if moved.height else None
    names = changes.get_column("event").unique().sort().to_list()
    events = " or ".join(f"`{one}`" for one in names) if len(names) <= _FEW else "a wait"
    if row is None:
        spread = "by more than its usual spread" if wanted.height else "by more than its rounding allows"
        said = [f"No average wait changed {spread} from one report to the next."]
        if of_fleet:
            said = [f"At no instance that was compared the average of {events} became longer {spread}."]
    else:
        spread = "" if wanted.row(0, named=True) == row else " beyond its usual spread"
        change = f"rise{spread} of {events}" if of_fleet else f"change{spread}"
        said = [f"The greatest {change} from one report to the next{_change_text(row, where=of_fleet)}"]
    if first and first != row and (of_fleet if row is None else abs(first["more_sessions"]) > _middle(row)):
        usual = "" if first["is_unusual"] in {None, True} else " within its usual spread"
        change = "rise" if first["direction"] == "up" else "fall"
        said.append(f"The greatest change of all is a {change}{usual}{_change_text(first, where=of_fleet)}")
    if row is None and of_fleet:
        return said
    if row is None:
        meanwhile, when = parameters, ""
    else:
        same = pl.all_horizontal(pl.col(name).eq_missing(pl.lit(row[name])) for name in INSTANCE)
        meanwhile = parameters.filter(same, pl.col("to_time") == row["at"])
        when = f" just before {row['at']:%Y-%m-%d %H:%M}"
    named = [
        f"`{name}` {_shown(before)} to {_shown(after)}"
        for name, before, after in meanwhile.select("parameter", "before", "after").head(_MOST_NAMED).iter_rows()
    ]
    named += [f"and {meanwhile.height - _MOST_NAMED} more"] if meanwhile.height > _MOST_NAMED else []
    return [*said, *([f"Parameters that changed{when}: {', '.join(named)}."] if named else [])]


def _middle(row: dict[str, Any]) -> float:
    """The sessions that a change made by the printed figures, without their rounding; those of a tie are no greater."""
    one, two = ("b", "a") if row["direction"] == "up" else ("a", "b")
    by_figures = (row[one] - row[two]) / (row[f"{one}_lo"] - row[f"{two}_hi"])
    return float(abs(row["more_sessions"]) * by_figures * (1 + _SLACK))


def _sessions(row: dict[str, Any]) -> str:
    return at_least_text(abs(row["more_sessions"]))


def _shown(value: str | None) -> str:
    return "not listed" if value is None else value or "empty"


def _change_text(row: dict[str, Any], *, where: bool) -> str:
    """Where a change was, of what, and what it made."""
    place = f" at `{row['db_name']}/{row['instance_name']}`" if where else ""
    before, after = apart_texts(row["a"], row["b"])
    before, after = (
        said if row[f"{side}_lo"] > 0 else figure_text(Interval(*(row[f"{side}{end}"] for end in ("", "_lo", "_hi"))))
        for side, said in zip("ab", (before, after), strict=True)
    )
    effect = f"{'added' if row['direction'] == 'up' else 'removed'} at least {_sessions(row)}"
    return (
        f"{place}: the average of `{row['event']}` went {row['direction']}, from {before} to {after} {row['unit']}, "
        f"by a factor of at least {at_least_text(row['at_least'])}, in the report that begins at "
        f"{row['at']:%Y-%m-%d %H:%M}. This alone {effect} active sessions."
    )


def _rise_sentence(line: Timeline) -> list[str]:
    """Where DB time rose most from one report to the next, and what has the most of it; nothing where it never rose."""
    ordered = db_time_sessions(line.periods).drop_nulls("value").sort("begin_time").to_dicts()
    figures = [Interval(row["value"], row["lo"], row["hi"]) for row in ordered]
    pairs = [(place, two - one) for place, (one, two) in enumerate(pairwise(figures)) if not one.meets(two)]
    rises = [
        (place, rise)
        for place, rise in pairs
        if rise.lo > 0 and ordered[place + 1]["begin_time"] >= ordered[place]["end_time"]
    ]
    if not rises:
        return []
    place, rise = max(rises, key=lambda pair: pair[1].value)
    sides = [
        {
            f"`{row['wait_class']}`": Interval(row["value"], row["lo"], row["hi"])
            for row in line.sessions.filter(report=one["report"]).drop_nulls("value").iter_rows(named=True)
        }
        for one in ordered[place : place + 2]
    ]
    parts = {name: sides[1][name] - time for name, time in sides[0].items() if name in sides[1]}
    is_whole = sides[0].keys() == sides[1].keys()  # what one of the reports does not list is not known
    if parts and is_whole:
        parts["time not accounted for"] = rise - sum(parts.values(), start=Interval.exact(0))
    said = ""
    if parts:
        most = max(parts, key=lambda name: parts[name].value)
        share = (parts[most] / rise).capped(1)
        if parts[most].lo > rise.hi:
            said = f"; {most} rose by {figure_text(parts[most])} sessions while some other parts fell"
        elif share.lo > (0 if is_whole else _MOST_OF_IT) and share.hi - share.lo < _MOST_OF_IT:
            said = f"; {figure_text(share * 100, '%', step=1)} of the rise is {most}"
    before, after = apart_texts(figures[place].value, figures[place + 1].value)
    at = f"in the report that begins at {ordered[place + 1]['begin_time']:%Y-%m-%d %H:%M}"
    return [f"DB time rose most {at}, from {before} to {after} active sessions{said}."]


def _periods_sentence(line: Timeline) -> str:
    """What was read."""
    count = line.periods.height
    first, last = line.periods.select(pl.col("begin_time").min(), pl.col("end_time").max()).row(0)
    breaks = line.breaks.get_column("kind").to_list()
    unread = line.diagnostics.unique(["source", "kind"]).get_column("kind").to_list()
    others, lost = (unread.count(kind) for kind in ("no_report", "unreadable"))
    reports = f"{counted(count, 'report')} of `{line.instances[0]}`"
    parts = [f"{reports}, {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"]
    parts += [counted(breaks.count(one), one) for one in ("restart", "gap", "overlap") if one in breaks]
    parts += [f"{others} file{' is no report' if others == 1 else 's are no reports'}"] if others else []
    parts += [f"{counted(lost, 'file')} could not be read"] if lost else []
    return "; ".join(parts) + "."


def left_out_sentences(line: Timeline) -> list[str]:
    """How many reports have no place on a time line, lack a table, or are not compared; nothing where all are."""
    again, overlaps = (line.breaks.filter(kind=kind).height for kind in ("repeat", "overlap"))
    apart = line.diagnostics.filter(reason=LEFT_OUT)["source"].n_unique()
    is_cut = pl.col("text").is_in(_NEEDED) & (pl.col("reason") != LEFT_OUT)
    lacking = line.diagnostics.filter(is_cut, kind="missing")["source"].n_unique()
    parts = [f"{counted(again, 'report')} of the time of others"] if again else []
    parts += [f"{counted(apart, 'file')} without one instance and a valid period"] if apart else []
    said = [f"Left out: {', '.join(parts)}."] if parts else []
    has = "has" if lacking == 1 else "have"
    said += [f"{counted(lacking, 'report')} {has} no table of waits or of parameters."] if lacking else []
    return [*said, *([f"Not compared: {counted(overlaps, 'pair')} of reports that overlap."] if overlaps else [])]
