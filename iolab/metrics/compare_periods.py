"""A compare-period report: the two periods that it prints, as the facts of two reports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.report_facts import ReportFacts, Wait
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure
from logframe.oracle import is_idle, wait_class_of

if TYPE_CHECKING:
    from awrparse import AwrReport

#: What the columns of the periods begin with.
PERIODS: Final = ("first", "second")
#: Their waits may be of background processes, which the report does not tell apart.
_BACKGROUND: Final = ("System I/O", "Other", "Idle")
#: Snapshots are stamped in whole seconds.
_STAMP_S: Final = 1.0


def period_facts(report: AwrReport, side: str, place: int) -> ReportFacts:
    """The facts of one period: its length, DB time, CPU, and foreground events among the top ones.

    Args:
        report: a compare-period report.
        side: what the columns of the period begin with: `first` or `second`.
        place: of the period in the table of snapshots.
    """
    snapshots = report.with_bounds("compare_snapshots")
    row = snapshots.row(place, named=True) if snapshots.height == 2 else {}
    elapsed, db_time = row_figure(row, "elapsed_s"), row_figure(row, "db_time_s")
    if elapsed is not None and row["begin_time"] is not None and row["end_time"] is not None:
        stamped = (row["end_time"] - row["begin_time"]).total_seconds()
        elapsed = _both(elapsed, Interval(stamped, stamped - _STAMP_S, stamped + _STAMP_S))
    model = {
        str(one["statistic"]).lower(): figure
        for one in report.with_bounds("compare_time_model").iter_rows(named=True)
        if (figure := row_figure(one, f"{side}_time_s")) is not None
    }
    if db_time is not None and "db time" in model:
        db_time = _both(db_time, model["db time"])
    return ReportFacts(
        kind=report.kind,
        elapsed_s=elapsed,
        db_time_s=db_time,
        db_cpu_s=model.get("db cpu"),
        events=_events(report, side, is_background=False),
        background=_events(report, side, is_background=True),
        parameters=_parameters(report, side),
    )


def with_all_waits(facts: ReportFacts, report: AwrReport, side: str) -> ReportFacts:
    """The facts of a period with its wait classes and all its events, which hold those of background processes."""
    classes, events, names = {}, {}, {}
    for row in report.with_bounds("compare_wait_classes").iter_rows(named=True):
        time = row_figure(row, f"{side}_total_wait_s")
        if time is not None and row["wait_class"] not in {None, "Idle", "DB CPU"}:
            classes[row["wait_class"]] = time
    for row in report.with_bounds("compare_wait_events").iter_rows(named=True):
        time, rate = row_figure(row, f"{side}_total_wait_s"), row_figure(row, f"{side}_waits_per_s")
        if time is None or row["event"] is None or is_idle(row["event"], row["wait_class"]):
            continue
        waits = rate * facts.elapsed_s if rate is not None and facts.elapsed_s is not None else Interval.exact(0)
        events[row["event"]] = Wait(waits, time)
        names[row["event"]] = row["wait_class"] or wait_class_of(row["event"])
    return replace(facts, classes=classes, events=events, event_classes=names) if events else facts


def _both(one: Interval, two: Interval) -> Interval | None:
    """What both statements of a figure allow; None where they contradict each other."""
    try:
        return intersect([one, two])
    except RefusedError:
        return None


def _events(report: AwrReport, side: str, *, is_background: bool) -> dict[str, Wait]:
    frame = report.with_bounds("compare_top_events")
    found = {}
    own = pl.col(f"{side}_wait_class").is_in(_BACKGROUND) == is_background
    for row in frame.filter(own).iter_rows(named=True):
        waits, time = row_figure(row, f"{side}_waits"), row_figure(row, f"{side}_total_wait_s")
        if waits is not None and time is not None:
            found[str(row[f"{side}_event"])] = Wait(waits, time)
    return found


def _parameters(report: AwrReport, side: str) -> dict[str, str]:
    """Parameters with their value at the end of a period; lists of values, printed in several rows, are left out.

    A report prints the value of the second period only where it differs from that of the first.
    """
    frame = report.with_bounds("compare_parameters")
    first, second = pl.col("first_end"), pl.col("second_end")
    value = first if side == "first" else pl.coalesce(second, first)
    follows = pl.col("parameter").is_null() | pl.col("parameter").is_duplicated()
    alone = ~follows & ~pl.col("parameter").is_null().shift(-1, fill_value=False)
    return dict(frame.filter(alone, first.is_not_null()).select("parameter", value).iter_rows())
