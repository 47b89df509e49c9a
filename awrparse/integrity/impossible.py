"""Figures of a report that cannot be, whatever their rounding: a part beyond its whole, an average beyond its maximum.

| check | figure | what it cannot exceed |
|---|---|---|
| `class_above_db_time` | time of a foreground wait class, or DB CPU | DB time |
| `sessions_above_logged_on` | sessions active on average | the parameter `sessions`, else those at either snapshot |
| `cpu_above_capacity` | DB CPU | elapsed time of all CPUs |
| `above_100_pct` | a percentage | 100 % of its base |
| `average_above_maximum` | an average | the maximum of the same quantity |

Percentages that may exceed 100 % are left out: differences, forecasts of an advisory, shares of idle waits, and the
share of a wait class of all processes in DB time, which holds background waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.integrity.figures import model_time
from awrparse.integrity.registry import Contradiction, check
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.integrity.registry import Report

#: What the columns of percentages end in.
_PERCENT: Final = "_pct"
#: Parts of names of percentages that have no whole.
_NO_WHOLE: Final = ("difference", "estimated")
#: Percentages of something that they are no part of.
_NOT_PARTS: Final = {
    ("wait_classes", "db_time_pct"),
    ("buffer_pool_advisory", "db_time_pct"),
    ("services", "db_time_pct"),
}
#: A percentage of 100 may be the sum of rounded ones.
_WHOLE_PCT: Final = Interval.exact(100)
#: Floating-point slack, relative.
_SLACK: Final = 1e-9
#: Minutes with two decimals, in seconds.
_HALF_STEP_S: Final = 0.3


def _beyond(
    name: str, table: str, item: str, figure: Interval, limit: Interval, reason: str
) -> Iterator[Contradiction]:
    """The contradiction, where the figure is beyond the limit with all rounding in its favour."""
    if figure.lo > limit.hi + _SLACK * abs(limit.hi):
        yield Contradiction(name, table, item, figure, limit, reason)


@check("a part of DB time is of another report", "figures", cost_ms=1)
def _times(report: Report) -> Iterator[Contradiction]:
    """Parts of DB time that are more than it, and CPU that the host does not have."""
    whole = model_time(report, "db time")
    if whole is not None and "foreground_wait_classes" in report:
        for row in report.with_bounds("foreground_wait_classes").iter_rows(named=True):
            time = row_figure(row, "total_wait_s")
            if time is None or row.get("instance") is not None:
                continue
            reason = "a part of DB time is more than DB time"
            name = str(row["wait_class"])
            yield from _beyond("class_above_db_time", "foreground_wait_classes", name, time, whole, reason)
    cpu, info = model_time(report, "db cpu"), report.info
    if whole is not None and cpu is not None:
        reason = "CPU of foreground sessions is a part of DB time, and is more than it"
        yield from _beyond("class_above_db_time", "time_model", "DB CPU", cpu, whole, reason)
    if cpu is not None and info.cpus and info.elapsed_s and info.elapsed_s > 0 and report.kind != "awr_global":
        seconds = Interval(info.elapsed_s, info.elapsed_s - _HALF_STEP_S, info.elapsed_s + _HALF_STEP_S)
        reason = f"more CPU than {info.cpus} CPUs have in the elapsed time"
        yield from _beyond("cpu_above_capacity", "time_model", "DB CPU", cpu, seconds * info.cpus, reason)


@check("sessions are of another report", "figures", cost_ms=1)
def _sessions(report: Report) -> Iterator[Contradiction]:
    """Sessions active on average, of a class or of all, that were never logged on."""
    info, found = report.info, _most_sessions(report)
    if found is None or report.kind == "awr_global":
        return
    limit, reason = found
    for row in report.with_bounds("wait_classes").iter_rows(named=True):
        figure = row_figure(row, "avg_active_sessions")
        if figure is not None:
            name = str(row["wait_class"])
            yield from _beyond("sessions_above_logged_on", "wait_classes", name, figure, limit, reason)
    if info.db_time_s is not None and info.elapsed_s and min(info.db_time_s, info.elapsed_s) >= 0:
        time = Interval(info.db_time_s, max(info.db_time_s - _HALF_STEP_S, 0), info.db_time_s + _HALF_STEP_S)
        elapsed = Interval(info.elapsed_s, max(info.elapsed_s - _HALF_STEP_S, 1e-3), info.elapsed_s + _HALF_STEP_S)
        yield from _beyond("sessions_above_logged_on", "info", "DB time / elapsed time", time / elapsed, limit, reason)


def _most_sessions(report: Report) -> tuple[Interval, str] | None:
    """How many sessions there can have been, and why; None where the report does not say."""
    allowed = _parameter(report, "sessions")
    if allowed is not None:
        return Interval.exact(allowed), "the parameter `sessions` allows fewer than were active on average"
    known = [count for count in (report.info.sessions_begin, report.info.sessions_end) if count is not None]
    if not known:
        return None
    return Interval.exact(max(known)), "fewer sessions were logged on at either snapshot than were active on average"


def _parameter(report: Report, name: str) -> float | None:
    """A parameter that is a whole number and did not change; None where it is not listed."""
    if "parameters" not in report:
        return None
    rows = report["parameters"].filter(pl.col("parameter") == name)
    values = {str(value) for value in (*rows["begin"].to_list(), *rows["end"].to_list()) if value}
    return float(values.pop()) if len(values) == 1 and next(iter(values)).isdecimal() else None


@check("a share is of another whole", "figures", cost_ms=10)
def _percentages(report: Report) -> Iterator[Contradiction]:
    """Percentages of a whole that are more than it."""
    for table in report.tables:
        frame = report.with_bounds(table)
        for column in frame.columns:
            is_part = column.endswith(_PERCENT) and (table, column) not in _NOT_PARTS
            if not is_part or any(part in column for part in _NO_WHOLE) or not frame[column].dtype.is_numeric():
                continue
            reason = f"{column}: more than 100 % of its base"
            for row in frame.filter(pl.col(column) > _WHOLE_PCT.value).iter_rows(named=True):
                figure = row_figure(row, column)
                if figure is not None and not is_idle(str(row.get("event")), row.get("wait_class")):
                    yield from _beyond("above_100_pct", table, _name(row), figure, _WHOLE_PCT, reason)


@check("an average is of another row", "figures", cost_ms=1)
def _averages(report: Report) -> Iterator[Contradiction]:
    """Averages beyond the maximum of the same quantity."""
    for table in report.tables:
        frame = report.with_bounds(table)
        for column in frame.columns:
            most = column.replace("avg_", "max_", 1)
            if not column.startswith("avg_") or most not in frame.columns or column.endswith(("_lo", "_hi")):
                continue
            for row in frame.filter(pl.col(column) > pl.col(most)).iter_rows(named=True):
                average, maximum = row_figure(row, column), row_figure(row, most)
                if average is not None and maximum is not None:
                    reason = f"{column} is more than {most}"
                    yield from _beyond("average_above_maximum", table, _name(row), average, maximum, reason)


def _name(row: dict[str, object]) -> str:
    """What a row is about: its first texts."""
    texts = [value for name, value in row.items() if isinstance(value, str) and not name.endswith("_printed")]
    return " ".join(" ".join(texts[:2]).split())[:80]
