"""Where the time of a report went by wait class: foreground in shares of DB time, background beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics.awr import db_time, figure_of
from iolab.metrics.lookups import db_time_of
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure

if TYPE_CHECKING:
    from awrparse import AwrReport
    from logframe import Source

#: Columns of `class_times`.  ``share`` is of what ``base`` names, null where that is not known.
CLASS_TIMES: Final = pl.Schema(
    {
        "side": pl.String(),
        "wait_class": pl.String(),
        "total_wait_s": pl.Float64(),
        "total_wait_s_lo": pl.Float64(),
        "total_wait_s_hi": pl.Float64(),
        "share": pl.Float64(),
        "share_lo": pl.Float64(),
        "share_hi": pl.Float64(),
        "base": pl.String(),
    }
)
#: The part of DB time that is neither CPU nor a wait of a foreground class.
UNACCOUNTED: Final = "not accounted for"
#: CPU of background processes, which the time model has and no wait class.
BACKGROUND_CPU: Final = "background CPU"
#: The CPU of foreground sessions, a part of DB time.
CPU: Final = "DB CPU"
_DB_TIME: Final = "DB time"
_ALL: Final = "time of all classes"
_NOT_COUNTED: Final = ("Idle",)


def class_times(report: AwrReport | Source) -> pl.DataFrame:
    """Time of each wait class: of foreground sessions as a share of DB time, and of background processes beside it.

    ``side`` is ``foreground`` (waits of sessions and `DB CPU`: parts of DB time), ``background`` (time of all processes
    minus that of the foreground, and the CPU of the background: no part of DB time, shown in the same unit), or ``all``
    in a report that does not tell the two apart: then ``base`` is the time of all classes.  `not accounted for` is the
    DB time that is neither.  Foreground shares may add up to more than 100 %: the CPU and the waits of a report are
    measured apart, and a wait for a latch or for the resource manager may be counted in both.

    Source: Oracle Database Reference, V$SYS_TIME_MODEL (DB time and DB CPU are of foreground sessions),
    V$SYSTEM_EVENT (TOTAL_WAITS and TOTAL_WAITS_FG).

    Limitations: background times where the report's classes contradict DB time (`AwrReport.check`).

    Args:
        report: with bounds or without.

    Returns:
        One row a side and class (`CLASS_TIMES`), the longest first; empty where the report has no wait classes.

    Examples:
        >>> from awrparse import read_awr
        >>> times = class_times(read_awr("sample_data/awr_series/awrrpt_1_4102_4103.txt"))
        >>> times.filter(side="foreground").select(pl.col("share").sum()).item() > 0.99
        True
    """
    report = as_log(report, "awr")
    every, foreground = _times(report, "wait_classes"), _times(report, "foreground_wait_classes")
    if not foreground:
        if not every:
            return pl.DataFrame(schema=CLASS_TIMES)
        return _rows("all", every, Interval.exact(sum(time.value for time in every.values())), _ALL)
    whole = _db_time(report)
    cpu = _model(report, "db cpu")
    if cpu is not None and CPU in foreground:
        foreground[CPU] = _narrowed(foreground[CPU], cpu)
    frames = [_rows("foreground", foreground, whole, _DB_TIME)]
    if whole is not None and CPU in foreground:
        rest = whole
        for time in foreground.values():
            rest -= time
        if rest.lo > 0:
            frames.append(_rows("foreground", {UNACCOUNTED: rest}, whole, _DB_TIME))
    other = {
        name: _not_below_zero(time - foreground[name]) if name in foreground else time
        for name, time in every.items()
        if name != CPU
    }
    background_cpu = _model(report, "background cpu time")
    if background_cpu is not None:
        other[BACKGROUND_CPU] = background_cpu
    frames.append(_rows("background", {name: time for name, time in other.items() if time.value > 0}, whole, _DB_TIME))
    return pl.concat(frames)


def _rows(side: str, times: dict[str, Interval], whole: Interval | None, base: str) -> pl.DataFrame:
    rows = []
    for name, time in sorted(times.items(), key=lambda item: -item[1].value):
        part = time / whole if whole is not None and whole.lo > 0 else None
        share = (None, None, None) if part is None else (part.value, part.lo, part.hi)
        rows.append((side, name, time.value, time.lo, time.hi, *share, base))
    return pl.DataFrame(rows, schema=CLASS_TIMES, orient="row")


def _times(report: AwrReport, table: str) -> dict[str, Interval]:
    """The time of each class; of several instances the sum."""
    found: dict[str, Interval] = {}
    if table not in report:
        return found
    for row in report.with_bounds(table).iter_rows(named=True):
        time, name = row_figure(row, "total_wait_s"), row["wait_class"]
        if time is None or name is None or name in _NOT_COUNTED or row.get("instance") == "*":
            continue
        found[name] = found[name] + time if name in found else time
    return found


def _db_time(report: AwrReport) -> Interval | None:
    """DB time by the time model, else by the head, else by the shares of the classes."""
    found = _model(report, "db time") or db_time_of(report)
    if found is None:
        found = figure_of(db_time(report.with_bounds("foreground_wait_classes")))
    return found


def _model(report: AwrReport, statistic: str) -> Interval | None:
    """A time of the time model; of several instances the sum."""
    if "time_model" not in report:
        return None
    total: Interval | None = None
    for row in report.with_bounds("time_model").iter_rows(named=True):
        if str(row["statistic"]).lower() != statistic or row.get("instance") == "*":
            continue
        time = row_figure(row, "time_s")
        if time is not None:
            total = time if total is None else total + time
    return total


def _narrowed(figure: Interval, other: Interval) -> Interval:
    """What both print of one quantity; the first where they contradict each other, which is for `check` to say."""
    try:
        return intersect([figure, other])
    except RefusedError:
        return figure


def _not_below_zero(figure: Interval) -> Interval:
    return Interval(max(figure.value, 0.0), max(figure.lo, 0.0), max(figure.hi, 0.0))
