"""Figures of a report that contradict each other beyond what rounding explains.

Each figure is an interval: all values that print that way.  Two figures of one quantity contradict each other when
their intervals do not meet.  What is compared:

| check | quantity | first figure | second figure |
|---|---|---|---|
| `average_wait` | average wait, ms | as printed | time / waits |
| `top_events` | time waited, s | among the top events | among the foreground events |
| `db_time_pct` | time waited, s | as printed | its share of DB time (time model) |
| `active_sessions` | average active sessions | as printed | time of the class / elapsed time |
| `db_time` | DB time, s | in the head of the report | in the time model |
| `elapsed` | elapsed time, s | as printed | between the two snapshots |
| `total` | bytes and requests of the I/O tables | the row of the total | the sum of its rows |
| `tablespace_io` | writes of a tablespace | as printed | the sum of its files: 11.2.0.4 prints other figures there |
| `flash_writes` | write requests to a cell's flash cache | as printed | its parts: 12.1 prints overwrites twice |
| `startup_time` | minutes of the startup time | as printed | the month: HTML reports of 11.2 to 12.2 print it there |

Contradictions of the head, the time model, the snapshots and the totals (`CERTAIN`) are rows of the diagnostics, too:
no release prints such a report.

Figures that cannot be, whatever their rounding: a part beyond its whole, an average beyond its maximum.

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

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.columns import IS_TOTAL
from awrparse.info import labels_of
from awrparse.integrity.registry import Contradiction, check
from logframe import read_printed
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.integrity.registry import Report


#: Tables whose rows have waits, their time and their average.
_WAIT_TABLES: Final = (
    ("top_events", "event"),
    ("wait_classes", "wait_class"),
    ("foreground_wait_classes", "wait_class"),
    ("foreground_events", "event"),
    ("background_events", "event"),
)
#: What adds up.
_TRAFFIC: Final = (
    *("read_bytes", "read_requests_per_s", "read_bytes_per_s", "write_bytes", "write_requests_per_s"),
    *("write_bytes_per_s", "requests", "requests_per_s", "bytes", "bytes_per_s"),
)
#: Tables that print every row -> the column of which each value has a total of its own.
_SUMMED: Final = {
    "iostat_function": "instance",
    "iostat_filetype": "instance",
    "iostat_function_filetype": "function",
}
#: The clock of the snapshots shows whole seconds, at both ends.
_CLOCK_S: Final = 1.0


@check("an average belongs to another row", "figures", cost_ms=3)
def _average_waits(report: Report) -> Iterator[Contradiction]:
    for table, name in _WAIT_TABLES:
        for row in report.with_bounds(table).iter_rows(named=True):
            waits, time = row_figure(row, "waits"), row_figure(row, "total_wait_s")
            average = row_figure(row, "avg_wait_ms")
            if waits is None or time is None or average is None or waits.lo <= 0:
                continue
            derived = time * 1000 / waits
            if not average.meets(derived):
                yield Contradiction(
                    "average_wait",
                    table,
                    str(row[name]),
                    average,
                    derived,
                    "the average is not the time over the waits",
                )


@check("two tables are of two reports", "figures", cost_ms=1)
def _top_events(report: Report) -> Iterator[Contradiction]:
    foreground = {
        row["event"]: time
        for row in report.with_bounds("foreground_events").iter_rows(named=True)
        if (time := row_figure(row, "total_wait_s")) is not None
    }
    if report.kind not in {"awr", "awr_pdb"}:
        return
    for row in report.with_bounds("top_events").iter_rows(named=True):
        time, other = row_figure(row, "total_wait_s"), foreground.get(row["event"])
        if time is not None and other is not None and not time.meets(other):
            yield Contradiction(
                "top_events", "top_events", str(row["event"]), time, other, "the foreground events have another time"
            )


def model_time(report: Report, statistic: str) -> Interval | None:
    """A time of the time model; None when there is one of each of several instances."""
    rows = [
        row
        for row in report.with_bounds("time_model").iter_rows(named=True)
        if str(row["statistic"]).lower() == statistic
    ]
    return row_figure(rows[0], "time_s") if len(rows) == 1 else None


@check("a share is of another DB time", "figures", cost_ms=1)
def _shares(report: Report) -> Iterator[Contradiction]:
    db_time = model_time(report, "db time")
    # Statspack's shares are of total call time
    if db_time is None or db_time.value <= 0 or report.kind == "statspack":
        return
    for table, name in (("top_events", "event"), ("wait_classes", "wait_class"), ("foreground_events", "event")):
        for row in report.with_bounds(table).iter_rows(named=True):
            time, share = row_figure(row, "total_wait_s"), row_figure(row, "db_time_pct")
            if time is None or share is None:
                continue
            derived = share * db_time / 100
            if not time.meets(derived):
                yield Contradiction(
                    "db_time_pct", table, str(row[name]), time, derived, "the share of DB time is not that of the time"
                )


@check("sessions and time are of two periods", "figures", cost_ms=1)
def _active_sessions(report: Report) -> Iterator[Contradiction]:
    elapsed = _printed_minutes(report, "elapsed")
    if elapsed is None:
        return
    for row in report.with_bounds("wait_classes").iter_rows(named=True):
        time, sessions = row_figure(row, "total_wait_s"), row_figure(row, "avg_active_sessions")
        if time is None or sessions is None:
            continue
        derived = time / elapsed
        if not sessions.meets(derived):
            yield Contradiction(
                "active_sessions",
                "wait_classes",
                str(row["wait_class"]),
                sessions,
                derived,
                "average active sessions are not the time over the elapsed time",
            )


def _printed_minutes(report: Report, label: str) -> Interval | None:
    """Elapsed or DB time of the report's head, in seconds."""
    for title in list(report.raw_tables)[:8]:
        for row in report.raw_tables.cells(title):
            for name, value in labels_of(row):
                if name == label and "(mins)" in value:
                    read = read_printed(value, rounded=True, decimal=report.decimal_mark)
                    if read.value:
                        return Interval.of(read[:3])
    return None


@check("the head is of another report", "figures", cost_ms=1, is_certain=True)
def _db_time(report: Report) -> Iterator[Contradiction]:
    head, model = _printed_minutes(report, "db time"), model_time(report, "db time")
    if head is not None and model is not None and not head.meets(model):
        yield Contradiction("db_time", "time_model", "DB time", head, model, "head and time model give another DB time")


@check("the snapshots are of another report", "figures", cost_ms=1, is_certain=True)
def _elapsed(report: Report) -> Iterator[Contradiction]:
    info, head = report.info, _printed_minutes(report, "elapsed")
    if head is None or info.begin_time is None or info.end_time is None:
        return
    seconds = (info.end_time - info.begin_time).total_seconds()
    clock = Interval(seconds, seconds - _CLOCK_S, seconds + _CLOCK_S)
    if not head.meets(clock):
        yield Contradiction("elapsed", "snapshots", "elapsed", head, clock, "the snapshots are not that far apart")


@check("rows of a table are missing", "figures", cost_ms=4, is_certain=True)
def _totals(report: Report) -> Iterator[Contradiction]:
    """Rows of totals that are not the sum of the rows above them.

    Only figures that add up are compared, and only tables that print every row: those of Exadata print
    the busiest cells.
    """
    for table, group in _SUMMED.items():
        frame = report.with_bounds(table)
        if not frame[IS_TOTAL].any():
            continue
        for key, rows in frame.rows_by_key(group, named=True, include_key=True).items():
            totals = [row for row in rows if row[IS_TOTAL]]
            parts = [row for row in rows if not row[IS_TOTAL]]
            if len(totals) != 1 or not parts:
                continue
            for column in _TRAFFIC:
                total = row_figure(totals[0], column)
                known = [figure for row in parts if (figure := row_figure(row, column)) is not None]
                if total is None or len(known) < len(parts):
                    continue
                whole = reduce(add, known)
                if not total.meets(whole):
                    reason = "the total is not the sum of its rows"
                    yield Contradiction("total", table, f"{column} of {key or 'all'}", total, whole, reason)


@check("headings do not fit the figures", "figures", cost_ms=1)
def _tablespaces(report: Report) -> Iterator[Contradiction]:
    """A tablespace has at least the writes of its files (a report may leave some files out)."""
    files = report.with_bounds("file_io")
    counted = files.drop_nulls("writes").group_by("tablespace", "pdb").agg(pl.col("writes").sum())
    sums = {(tablespace, pdb): total for tablespace, pdb, total in counted.rows()}
    for row in report.with_bounds("tablespace_io").iter_rows(named=True):
        writes, total = row["writes"], sums.get((row["tablespace"], row["pdb"]))
        if writes is not None and total is not None and total > writes:
            yield Contradiction(
                "tablespace_io",
                "tablespace_io",
                str(row["tablespace"]),
                Interval.exact(writes),
                Interval.exact(total),
                "its files have more writes: the headings of this table do not fit its figures",
            )


@check("a fault of Oracle: overwrites are printed for partial writes, too", "figures", cost_ms=1)
def _flash_writes(report: Report) -> Iterator[Contradiction]:
    """First writes, overwrites and partial writes are all the writes to a cell's flash cache."""
    for row in report.with_bounds("exadata_flash_writes").iter_rows(named=True):
        total = row_figure(row, "write_requests")
        first, over, partial = (row_figure(row, f"{kind}_requests") for kind in ("first", "over", "partial"))
        if total is None or first is None or over is None or partial is None:
            continue
        derived = first + over + partial
        if not total.meets(derived):
            yield Contradiction(
                "flash_writes",
                "exadata_flash_writes",
                str(row["cell"]),
                total,
                derived,
                "its parts are more than all writes: overwrites are printed for partial writes, too",
            )


@check("a fault of Oracle: the month is printed for the minutes", "figures", cost_ms=1)
def _startup(report: Report) -> Iterator[Contradiction]:
    info = report.info
    if info.startup_hour is not None and info.startup_time is None:
        month = Interval.exact(info.startup_hour.month)
        yield Contradiction(
            "startup_time",
            "instances",
            "startup_time",
            month,
            month,
            "this release prints the month for the minutes",
        )


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
