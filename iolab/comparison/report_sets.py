"""Two sets of reports of one instance: settings, load and latencies before and after a change."""

from __future__ import annotations

import operator
from datetime import UTC
from itertools import product
from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from iolab.comparison.changes import CHANGES, DOWN, UP, decide_together, from_to, measure_change
from iolab.evidence.host_alignment import HOST_WIDTH
from iolab.metrics import average_waits, latency_quantiles, statistic
from iolab.metrics.awr import narrow_waits
from iolab.metrics.formatting import count_text, figure_text
from iolab.metrics.lookups import db_time_of, settings_of
from iolab.metrics.report_figures import report_facts
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from awrparse import AwrInfo, AwrReport

#: What says of which system a report is.
IDENTITIES: Final = {
    "db_id": "database id",
    "db_name": "database",
    "instance": "instance",
    "container": "pluggable database",
    "host": "host",
}
#: What of each report is compared as a rate: name, unit, statistic, and its divisor.
_RATES: Final = (
    ("transactions_per_s", "1/s", ("user commits", "user rollbacks"), 1),
    ("executions_per_s", "1/s", ("execute count",), 1),
    ("logical_reads_per_s", "1/s", ("session logical reads",), 1),
    ("read_iops", "1/s", ("physical read total IO requests",), 1),
    ("write_iops", "1/s", ("physical write total IO requests",), 1),
    ("read_mb_per_s", "MB/s", ("physical read total bytes",), 10**6),
    ("write_mb_per_s", "MB/s", ("physical write total bytes",), 10**6),
    ("redo_mb_per_s", "MB/s", ("redo size",), 10**6),
)
#: Checks of a report that its length does not stand.
_LENGTH_CHECKS: Final = frozenset({"elapsed", "active_sessions"})
#: Rates that get a place in a sentence.
_LOADS: Final = {
    "transactions_per_s": "transactions per second",
    "read_iops": "reads per second",
    "write_iops": "writes per second",
}
#: Events with a smaller share of DB time in both sets are left out.
_LEAST_SHARE: Final = 0.01
#: This many changes of one kind get a place in a sentence.
_MOST_NAMED: Final = 4
#: A report of a set is apart from three others and more whose nearest has this many times its sessions, or the reverse.
_APART: Final = 2.0
_LEAST_OTHERS: Final = 3
#: Columns of the settings; ``change`` is `changed`, `mixed` (the reports of a set differ), `appeared` or `vanished`.
SETTINGS: Final = pl.Schema(dict.fromkeys(("instance", "setting", "before", "after", "change"), pl.String()))

Reports = dict[str, "AwrReport"]
Key = TypeVar("Key")
Value = TypeVar("Value")


def by_instance(before: Reports, after: Reports) -> dict[str, tuple[Reports, Reports]]:
    """The reports of each database and instance, before and after."""
    groups: dict[str, tuple[Reports, Reports]] = {}
    for place, reports in enumerate((before, after)):
        for name, report in reports.items():
            info = report.info
            named = [str(part) for part in (info.db_name, info.instance, info.container) if part]
            label = "/".join(named) or "an unnamed database"
            groups.setdefault(f"{label} ({report.kind})", ({}, {}))[place][name] = report
    open_groups = [label for label, (first, second) in groups.items() if not first or not second]
    if len(groups) == 2 and len(open_groups) == 2:  # one database on each side: a copy, or one that moved
        ordered = sorted(groups.items(), key=lambda item: not item[1][0])
        (one, (first, _)), (two, (_, second)) = ordered
        if first and second and next(iter(first.values())).kind == next(iter(second.values())).kind:
            return {f"{one} and {two}": (first, second)}
    return groups


def _of_both(before: Reports, after: Reports, read: Callable[[AwrReport], Value | None]) -> list[list[Value]]:
    """What is read of the reports of each set, without None."""
    return [[value for report in side.values() if (value := read(report)) is not None] for side in (before, after)]


def changed_settings(before: Reports, after: Reports) -> pl.DataFrame:
    """What the heads and parameters of the reports of a set agree on, where the two sets differ."""
    rows = []
    sides = _of_both(before, after, settings_of)
    names = dict.fromkeys(name for side in sides for facts in side for name in facts)
    lists_parameters = [any(name.startswith("parameter ") for facts in side for name in facts) for side in sides]
    for name in names:
        values = [sorted({facts[name] for facts in side if name in facts}) for side in sides]
        is_cut = name == "host" and all(values) and all(is_same(name, one, two) for one, two in product(*values))
        if values[0] == values[1] or is_cut:
            continue
        if name.startswith("parameter ") and not all(lists_parameters):
            continue
        first, second = (", ".join(one) or None for one in values)
        change = "appeared" if first is None else "vanished" if second is None else "changed"
        if max(map(len, values)) > 1:
            change = "mixed"
        rows.append((None, name.removeprefix("parameter "), first, second, change))
    order = {"changed": 0, "mixed": 1, "appeared": 2, "vanished": 3}
    rows.sort(key=lambda row: order[row[-1]])
    return pl.DataFrame(rows, schema=SETTINGS, orient="row")


def changed_load(before: Reports, after: Reports) -> pl.DataFrame:
    """Sessions active, CPU and rates of both sets (`CHANGES`).

    Reports whose length is not known are left out.
    """
    sides = _of_both(before, after, lambda report: (place_of(report), _rates(report)))
    names = dict.fromkeys(name for side in sides for _, found in side for name in found)
    units = {"db_cpus": "CPUs"} | {name: unit for name, unit, _, _ in _RATES}
    return _changes(sides, {name: {"quantity": name, "unit": units.get(name, "sessions")} for name in names})


def trusted_times(report: AwrReport) -> tuple[Interval | None, Interval | None]:
    """Length of the period and DB time of a report, in seconds; None where its other figures contradict it."""
    wrong = set(report.check().get_column("check"))
    elapsed = None if wrong & _LENGTH_CHECKS else report_facts(report).elapsed_s
    return elapsed, None if "db_time" in wrong else db_time_of(report)


def place_of(report: AwrReport) -> float | None:
    """The place of a report in time: the begin of its period."""
    begin = report.info.begin_time
    return None if begin is None else begin.replace(tzinfo=UTC).timestamp()


def _changes(
    sides: Sequence[Sequence[tuple[float | None, Mapping[Key, Interval]]]], labels: Mapping[Key, Mapping[str, str]]
) -> pl.DataFrame:
    """The figures of both sets by their keys, as `CHANGES` with the labels of each key."""
    made = []
    for key, label in labels.items():
        figures = [[(found[key], place) for place, found in side if key in found] for side in sides]
        if (change := measure_change(*figures)) is not None:
            change.row |= label
            made.append(change)
    return decide_together(made, CHANGES)


def _rates(report: AwrReport) -> dict[str, Interval]:
    """The load of a report; empty where its length is not known, or contradicted by the report itself."""
    elapsed, db_time = trusted_times(report)
    if elapsed is None or elapsed.lo <= 0:
        return {}
    found: dict[str, Interval] = {}
    if db_time is not None:
        found["sessions_active"] = db_time / elapsed
    if "time_model" in report:
        rows = report.with_bounds("time_model").filter(pl.col("statistic") == "DB CPU")
        if rows.height == 1 and (cpu := row_figure(rows.row(0, named=True), "time_s")) is not None:
            found["db_cpus"] = cpu / elapsed
    for name, _, statistics, divisor in _RATES:
        figures = [one for title in statistics if (one := statistic(report, title)) is not None]
        if figures:
            found[name] = sum(figures[1:], figures[0]) / elapsed / divisor
    return found


def changed_latencies(before: Reports, after: Reports) -> pl.DataFrame:
    """Average and percentiles of each event with 1 % of DB time in a report of either set (`CHANGES`)."""
    read = _of_both(before, after, lambda report: (place_of(report), *_waits(report)))
    shares: dict[str, float] = {}
    for side in read:
        for _, _, weights in side:
            for event, share in weights.items():
                shares[event] = max(shares.get(event, 0.0), share)
    events = sorted((one for one, share in shares.items() if share >= _LEAST_SHARE), key=lambda one: -shares[one])
    labels = {
        (event, quantity): {"event": event, "quantity": quantity, "unit": "ms"}
        for event in events
        for quantity in ("average", "p50", "p95", "p99")
    }
    return _changes([[(place, found) for place, found, _ in side] for side in read], labels)


def _waits(report: AwrReport) -> tuple[dict[tuple[str, str], Interval], dict[str, float]]:
    """Average and percentiles of each event in ms, and its share of DB time."""
    table = next((name for name in ("foreground_events", "top_events") if name in report), None)
    if table is None:
        return {}, {}
    waits = report.with_bounds(table).unique("event", keep="first", maintain_order=True)
    if table == "foreground_events":
        waits = narrow_waits(waits, report.with_bounds("top_events"))
    found: dict[tuple[str, str], Interval] = {}
    for row in average_waits(waits).filter(pl.col("value").is_not_null()).iter_rows(named=True):
        if not is_idle(row["event"]):
            found[row["event"], "average"] = Interval(row["value"], row["lo"], row["hi"])
    if "event_histogram" in report:
        events = [event for event, _ in found]
        quantiles = latency_quantiles(report.with_bounds("event_histogram"), events=events)
        for row in quantiles.drop_nulls(["value", "lo", "hi"]).iter_rows(named=True):
            edges = Interval(row["value"] / 1000, row["lo"] / 1000, row["hi"] / 1000)
            found[row["event"], row["metric"].removeprefix("wait_us_")] = edges
    db_time = db_time_of(report)
    seconds = waits.select("event", "total_wait_s").drop_nulls().iter_rows()
    total = db_time.value if db_time is not None and db_time.value > 0 else None
    weights = {event: time / total if total else 1.0 for event, time in seconds if (event, "average") in found}
    return found, weights


def is_same(field: str, one: object, two: object) -> bool:
    """Whether two names are of one system; a text report cuts the name of a host."""
    names = [str(name).lower() for name in (one, two)]
    short, long = sorted(names, key=len)
    return short == long or (field == "host" and len(short) >= HOST_WIDTH and long.startswith(short))


def other_system(before: Reports, after: Reports) -> str:
    """What says that two sets of reports are not of one system, in a sentence; empty where nothing does."""
    for field, what in IDENTITIES.items():
        read = operator.attrgetter(f"info.{field}")
        values = [sorted(set(map(str, side))) for side in _of_both(before, after, read)]
        if all(values) and not any(is_same(field, one, two) for one in values[0] for two in values[1]):
            first, second = (", ".join(side) for side in values)
            return f"The {what} differs ({first}, then {second}): the reports are of two systems."
    return ""


def cautions_of_sets(before: Reports, after: Reports) -> Iterator[str]:
    """Why rates of these sets are to be taken with care."""
    yield from _cautions_of_times(before, after)
    both = _of_both(before, after, lambda report: report_facts(report).elapsed_s)
    if not all(both):
        yield "a report does not say how long it is: it has no rates"
        return
    lengths = [length.value for side in both for length in side]
    longest, shortest = max(lengths), min(lengths)
    if shortest <= 0:
        yield "a report covers no time: it has no rates"
        return
    if longest > 2 * shortest:
        yield f"the reports cover {shortest / 60:.0f} to {longest / 60:.0f} minutes: their rates are of different loads"
    hours = [{begin.hour for begin in side} for side in _of_both(before, after, lambda report: report.info.begin_time)]
    if all(hours) and not hours[0] & hours[1]:
        yield "the reports cover different hours of the day, so the load may differ for that reason alone"


def _cautions_of_times(before: Reports, after: Reports) -> Iterator[str]:
    """Reports of one instance in both sets that are of one time, and sets in the other order."""
    shared = [
        (one, two)
        for one, first in before.items()
        for two, second in after.items()
        if _is_one_time(first.info, second.info)
    ]
    begins = _of_both(before, after, place_of)
    if shared:
        more = f", and {count_text(len(shared) - 1, 'pair')} more" if len(shared) > 1 else ""
        yield f"{shared[0][0]} of before and {shared[0][1]} of after the change are of one time{more}"
    elif all(begins) and min(begins[0]) > max(begins[1]):
        yield "the reports of before the change are of a later time than those of after it"


def _is_one_time(one: AwrInfo, two: AwrInfo) -> bool:
    """Do two reports of one instance overlap?"""
    if _system(one) != _system(two):
        return False
    begin, end, other_begin, other_end = one.begin_time, one.end_time, two.begin_time, two.end_time
    return bool(begin and end and other_begin and other_end and begin < other_end and other_begin < end)


def _system(info: AwrInfo) -> tuple[object, ...]:
    return info.db_name, info.db_id, info.instance, info.container


def repeats(reports: Reports) -> dict[str, str]:
    """The reports of a set that are of the same snapshots as an earlier one, such as its HTML, and that one's name."""
    first: dict[tuple[object, ...], str] = {}
    found = {}
    for name, report in reports.items():
        info = report.info
        if info.begin_time is None or info.end_time is None:
            continue
        key = (*_system(info), report.kind, info.begin_time, info.end_time)
        if first.setdefault(key, name) != name:
            found[name] = first[key]
    return found


def cautions_of_report(report: AwrReport) -> Iterator[str]:
    """What the report's figures say against themselves."""
    found = report.check().get_column("check").unique(maintain_order=True).to_list()
    if found:
        yield f"its figures contradict each other (AwrReport.check: {', '.join(found)})"
    length = report_facts(report).elapsed_s
    if report.info.elapsed_s is None and length is not None:
        yield f"the length of its period, {figure_text(length)} s, is inferred from its wait classes"


def reports_apart(reports: Reports, when: str) -> Iterator[str]:
    """The reports of a set whose load is of another size than that of all others, a sentence each.

    Args:
        reports: The set; those whose length or DB time is not known are left out.
        when: ``before`` or ``after``.
    """
    times = {name: trusted_times(report) for name, report in reports.items()}
    active = {
        name: db_time / elapsed
        for name, (elapsed, db_time) in times.items()
        if elapsed is not None and elapsed.lo > 0 and db_time is not None
    }
    for name, own in active.items():
        others = [one for other, one in active.items() if other != name]
        if len(others) < _LEAST_OTHERS:
            return
        least, greatest = min(one.lo for one in others), max(one.hi for one in others)
        if own.lo > _APART * greatest or own.hi * _APART < least:
            span = f"{figure_text(least)} to {figure_text(greatest)}"
            yield f"{name} stands apart {when} the change: {figure_text(own.value)} sessions active, the others {span}."


def change_sentences(
    settings: pl.DataFrame, load: pl.DataFrame, latencies: pl.DataFrame, *, is_set: bool
) -> Iterator[str]:
    """What changed beside the account of time, a sentence a kind; of sets the range of the sessions active, too."""
    changed = settings.filter(pl.col("change") == "changed")
    if changed.height:
        rows = changed.head(_MOST_NAMED).select("setting", "before", "after").iter_rows()
        listed = ", ".join(f"`{name}` {first} to {second}" for name, first, second in rows)
        more = f", {changed.height - _MOST_NAMED} more" if changed.height > _MOST_NAMED else ""
        yield f"{count_text(changed.height, 'setting')} changed: {listed}{more}."
    else:
        yield "No setting that the reports show changed."
    mixed = settings.filter(pl.col("change") == "mixed").get_column("setting").head(_MOST_NAMED).to_list()
    if mixed:
        yield f"Settings that differ within a set: {', '.join(f'`{name}`' for name in mixed)}."
    for row in load.filter(pl.col("quantity") == "sessions_active").iter_rows(named=True):
        if is_set:
            yield f"Sessions active: {from_to(row)}."
    rates = load.filter(pl.col("quantity").is_in(list(_LOADS)))
    loads = [f"{_LOADS[row['quantity']]} {from_to(row)}" for row in rates.iter_rows(named=True)]
    if loads:
        yield f"Load: {'; '.join(loads)}."
    moved = latencies.filter((pl.col("quantity") == "average") & pl.col("change").is_in([UP, DOWN]))
    far = moved.sort(pl.col("ratio").log().abs(), descending=True, nulls_last=True, maintain_order=True)
    named = [f"`{row['event']}` {from_to(row)}" for row in far.head(_MOST_NAMED).iter_rows(named=True)]
    if named:
        yield f"Average waits that changed most, of those with 1 % of DB time: {'; '.join(named)}."
    else:
        yield "No average wait with 1 % of DB time changed beyond what the reports of a set differ by."
