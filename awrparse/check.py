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

Figures that cannot be, such as a part beyond its whole, are in `awrparse.impossible`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from awrparse.impossible import impossible_rows
from awrparse.info import labels_of
from awrparse.totals import wrong_totals
from logframe import Interval, read_printed
from logframe.interval import row_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.report import AwrReport

#: Columns of the result.
CHECKS: Final = pl.Schema(
    {
        "check": pl.String,
        "table": pl.String,
        "item": pl.String,
        "first": pl.Float64,
        "first_lo": pl.Float64,
        "first_hi": pl.Float64,
        "second": pl.Float64,
        "second_lo": pl.Float64,
        "second_hi": pl.Float64,
        "reason": pl.String,
    }
)
#: Tables whose rows have waits, their time and their average.
_WAIT_TABLES: Final = (
    ("top_events", "event"),
    ("wait_classes", "wait_class"),
    ("foreground_wait_classes", "wait_class"),
    ("foreground_events", "event"),
    ("background_events", "event"),
)
#: Checks that a whole report of no release fails; others find faults of Oracle.
CERTAIN: Final = ("db_time", "elapsed", "total")
#: The clock of the snapshots shows whole seconds, at both ends.
_CLOCK_S: Final = 1.0


class Contradiction(NamedTuple):
    """One contradiction, a row of the result without its bounds spread."""

    check: str
    table: str
    item: str
    first: Interval
    second: Interval
    reason: str


def check_report(report: AwrReport) -> pl.DataFrame:
    """Contradictions within a report, a row each with both figures and their bounds.

    Returns:
        A frame with the schema `CHECKS`; empty when all figures agree within their rounding.
    """
    contradictions = [
        *_average_waits(report),
        *_top_events(report),
        *_shares(report),
        *_active_sessions(report),
        *_db_time(report),
        *_elapsed(report),
        *_totals(report),
        *_tablespaces(report),
        *_flash_writes(report),
        *_startup(report),
    ]
    rows = [
        (one.check, one.table, one.item, *_bounds(one.first), *_bounds(one.second), one.reason)
        for one in contradictions
    ]
    rows += impossible_rows(report)
    return pl.DataFrame(rows, schema=CHECKS, orient="row")


def certain_contradictions(report: AwrReport) -> Iterator[Contradiction]:
    """The contradictions of `CERTAIN`, which a report has that was damaged or read wrongly."""
    yield from _db_time(report)
    yield from _elapsed(report)
    yield from _totals(report)


def _totals(report: AwrReport) -> Iterator[Contradiction]:
    for table, item, total, whole in wrong_totals(report):
        yield Contradiction("total", table, item, total, whole, "the total is not the sum of its rows")


def _bounds(figure: Interval) -> tuple[float, float, float]:
    return float(figure.value), float(figure.lo), float(figure.hi)


def _average_waits(report: AwrReport) -> Iterator[Contradiction]:
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


def _top_events(report: AwrReport) -> Iterator[Contradiction]:
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


def _model(report: AwrReport, statistic: str) -> Interval | None:
    """A time of the time model; None when there is one of each of several instances."""
    rows = [
        row
        for row in report.with_bounds("time_model").iter_rows(named=True)
        if str(row["statistic"]).lower() == statistic
    ]
    return row_figure(rows[0], "time_s") if len(rows) == 1 else None


def _shares(report: AwrReport) -> Iterator[Contradiction]:
    db_time = _model(report, "db time")
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


def _active_sessions(report: AwrReport) -> Iterator[Contradiction]:
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


def _printed_minutes(report: AwrReport, label: str) -> Interval | None:
    """Elapsed or DB time of the report's head, in seconds."""
    for title in list(report.raw_tables)[:8]:
        for row in report.raw_tables.cells(title):
            for name, value in labels_of(row):
                if name == label and "(mins)" in value:
                    read = read_printed(value, rounded=True, decimal=report.decimal_mark)
                    if read.value:
                        return Interval.of(read[:3])
    return None


def _db_time(report: AwrReport) -> Iterator[Contradiction]:
    head, model = _printed_minutes(report, "db time"), _model(report, "db time")
    if head is not None and model is not None and not head.meets(model):
        yield Contradiction("db_time", "time_model", "DB time", head, model, "head and time model give another DB time")


def _elapsed(report: AwrReport) -> Iterator[Contradiction]:
    info, head = report.info, _printed_minutes(report, "elapsed")
    if head is None or info.begin_time is None or info.end_time is None:
        return
    seconds = (info.end_time - info.begin_time).total_seconds()
    clock = Interval(seconds, seconds - _CLOCK_S, seconds + _CLOCK_S)
    if not head.meets(clock):
        yield Contradiction("elapsed", "snapshots", "elapsed", head, clock, "the snapshots are not that far apart")


def _tablespaces(report: AwrReport) -> Iterator[Contradiction]:
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


def _flash_writes(report: AwrReport) -> Iterator[Contradiction]:
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


def _startup(report: AwrReport) -> Iterator[Contradiction]:
    info = report.info
    started = info.startup_time
    if info.form != "html" or started is None or not (11,) <= info.version < (18,) or report.kind == "awr_global":
        return
    if started.minute == started.month:
        yield Contradiction(
            "startup_time",
            "instances",
            "startup_time",
            Interval.exact(started.minute),
            Interval.exact(started.month),
            "this release prints the month for the minutes",
        )
