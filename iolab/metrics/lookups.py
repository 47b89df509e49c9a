"""Figures looked up in logs, and all metrics of reads that a log allows at once."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics import reads
from iolab.metrics.logical import rows_per_trip, us_per_lio
from iolab.metrics.table import METRICS, REFUSED
from logframe.interval import Interval, row_figure
from logframe.oracle import unit_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from awrparse import AwrReport
    from logframe import Source
    from sqlplusparse import Spool

#: Seconds in the unit of a time.
_TIMES: Final = {"s": 1.0, "cs": 0.01, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
#: Bytes, or counts, in the unit that a listing shows.
_UNITS: Final = {
    "B": 1,
    "BYTES": 1,
    "KB": 2**10,
    "K": 2**10,
    "MB": 2**20,
    "M": 2**20,
    "GB": 2**30,
    "G": 2**30,
    "TB": 2**40,
}
#: Of more statements an error names the first and the last.
_MOST_LISTED: Final = 6
#: `instances` and the head show the period in minutes of two decimals.
_HALF_STEP_S: Final = 0.3
#: CPU is counted in steps of this.
_CPU_STEP_S: Final = 0.01
#: What the metrics below call a statistic, and its name in V$STATNAME.
_STATISTICS: Final = {
    "hits": "cell flash cache read hits",
    "requests": "physical read total IO requests",
    "total_bytes": "physical read total bytes",
    "app_requests": "physical read IO requests",
    "app_bytes": "physical read bytes",
    "write_requests": "physical write total IO requests",
    "write_bytes": "physical write total bytes",
    "app_write_requests": "physical write IO requests",
    "app_write_bytes": "physical write bytes",
    "blocks": "physical reads",
    "direct": "physical reads direct",
    "eligible": "cell physical IO bytes eligible for predicate offload",
    "returned": "cell physical IO interconnect bytes returned by smart scan",
    "rows": "rows processed",
    "trips": "SQL*Net roundtrips to/from client",
}
#: Each metric, the figures that it cannot do without, and those that it can.
_METRICS: Final[tuple[tuple[Callable[..., pl.DataFrame], tuple[str, ...], tuple[str, ...]], ...]] = (
    (reads.ms_per_flash_read, ("query_time", "hits", "requests"), ("eligible",)),
    (reads.flash_hit_ratio, ("hits", "requests"), ()),
    (reads.read_size, ("total_bytes", "requests"), ()),
    (reads.blocks_per_read, ("blocks", "block_requests"), ()),
    (reads.block_size, ("block_bytes", "blocks"), ()),
    (reads.throughput, ("total_bytes", "elapsed"), ()),
    (reads.iops, ("requests", "elapsed"), ()),
    (partial(reads.read_size, of="application_read"), ("app_bytes", "app_requests"), ()),
    (partial(reads.throughput, of="application_read"), ("app_bytes", "elapsed"), ()),
    (partial(reads.iops, of="application_read"), ("app_requests", "elapsed"), ()),
    (partial(reads.read_size, of="write"), ("write_bytes", "write_requests"), ()),
    (partial(reads.throughput, of="write"), ("write_bytes", "elapsed"), ()),
    (partial(reads.iops, of="write"), ("write_requests", "elapsed"), ()),
    (partial(reads.throughput, of="application_write"), ("app_write_bytes", "elapsed"), ()),
    (partial(reads.iops, of="application_write"), ("app_write_requests", "elapsed"), ()),
    (reads.direct_share, ("direct", "blocks"), ()),
    (reads.smart_scan_saving, ("eligible", "returned"), ("total_bytes",)),
    (rows_per_trip, ("rows", "trips"), ()),
)
_OF_PERIOD: Final = "an average over the period: how much was requested from the storage, not how fast it is"
_CUMULATIVE: Final = "the listing counts from the session's logon: all of it must be the timed statement's"
_SINCE_START: Final = "the listing is of the whole instance since it started: it shows no single statement"


def statistic(log: Spool | AwrReport | Source, name: str, *, statement: int | None = None) -> Interval | None:
    """A statistic by its name in V$STATNAME, with bounds; None where the log does not show it.

    In a spool autotrace's list goes before a listing, as it is of one statement, while a listing may be of the session
    since its logon.  Of several listings the last counts.  Times are in seconds, whatever Oracle counts them in
    (`CPU used by this session` is counted in centiseconds).  Sizes are in bytes: MB is 2^20 of them, and a whole number
    of bytes is looked for within the rounding.  In a report it is the total of `instance_activity`.

    Args:
        log: what `sqlplusparse.read_spool` or `awrparse.read_awr` gives.
        name: such as `physical read total bytes`.
        statement: autotrace's list of this statement; by default that of the only one.

    Raises:
        LookupError: several statements have the statistic, and none was chosen.
    """
    log = as_log(log, "awr", "sqlplus")
    if log.format == "awr":
        activity = log.with_bounds("instance_activity").filter(pl.col("statistic") == name)
        total = row_figure(activity.row(0, named=True), "total") if activity.height else None
        return _in_seconds(total, unit_of(name))
    traced = log.autotrace.filter((pl.col("name") == name) & pl.col("value").is_not_null())
    if statement is not None:
        traced = traced.filter(pl.col("statement") == statement)
    if traced.height > 1:
        raise LookupError(f"{name}: autotrace shows it for statements {_listed(traced)}; choose one with statement=")
    if traced.height == 1:
        return _in_seconds(Interval.exact(traced.item(0, "value")), traced.item(0, "unit"))
    listed = log.statistics.filter((pl.col("name") == name) & pl.col("value").is_not_null())
    if listed.is_empty():
        return None
    row = listed.row(-1, named=True)
    figure = row_figure(row, "value")
    factor = _UNITS.get(str(row["unit"]).upper())
    if figure is None or factor is None:
        return _in_seconds(figure, row["unit"])
    scaled = figure * factor
    holds_whole = math.ceil(scaled.lo) <= math.floor(scaled.hi)
    return scaled.whole() if scaled.hi - scaled.lo < 1 and holds_whole else scaled


def _in_seconds(figure: Interval | None, unit: str | None) -> Interval | None:
    """A time in seconds; a figure that is no time as it is."""
    factor = None if unit is None else _TIMES.get(unit)
    return figure if figure is None or factor is None else figure * factor


def elapsed_of(log: Spool | AwrReport | Source, *, statement: int | None = None) -> Interval | None:
    """The elapsed time of a statement of a spool, or of a report's period, in seconds; None where it is not shown.

    Raises:
        LookupError: several statements were timed, and none was chosen.
    """
    log = as_log(log, "awr", "sqlplus")
    if log.format == "awr":
        return _of_minutes(log.info.elapsed_s)
    timed = log.statements.filter(pl.col("elapsed_s").is_not_null())
    if statement is not None:
        timed = timed.filter(pl.col("statement") == statement)
    if timed.height > 1:
        raise LookupError(f"statements {_listed(timed)} were timed; choose one with statement=, or take Spool.runs()")
    return row_figure(timed.row(0, named=True), "elapsed_s") if timed.height else None


def lio_cost(log: Spool | Source, *, statement: int | None = None) -> pl.DataFrame | None:
    """What a logical I/O cost a session: `us_per_lio` of its CPU statistic, else at most of its elapsed time.

    `CPU used by this session` is counted in centiseconds: its last one is not certain.  Logical I/Os are `session
    logical reads`, else `consistent gets` + `db block gets`.  A listing that counts from the logon holds all that the
    session did, and the caveat says so.

    Returns:
        One row (`METRICS`), or None where the session shows no gets, no physical reads, or no time.

    Raises:
        LookupError: several statements show their gets, and none was chosen.
    """
    log = as_log(log, "sqlplus")

    def shown(name: str) -> Interval | None:
        return statistic(log, name, statement=statement)

    gets, consistent, current = map(shown, ("session logical reads", "consistent gets", "db block gets"))
    if gets is None and consistent is not None and current is not None:
        gets = consistent + current
    reads, cpu = shown("physical reads"), shown("CPU used by this session")
    if gets is None or gets.lo <= 0 or reads is None:
        return None
    if cpu is not None and cpu.value > 0:
        spent = Interval(cpu.value, max(cpu.lo - _CPU_STEP_S, 0.0), cpu.hi + _CPU_STEP_S)
        found = us_per_lio(gets, cpu_s=spent, physical_reads=reads)
    elif (elapsed := elapsed_of(log, statement=statement)) is not None:
        found = us_per_lio(gets, elapsed_s=elapsed, physical_reads=reads)
    else:
        return None
    return _with_basis(found, log)


def db_time_of(report: AwrReport | Source) -> Interval | None:
    """DB time as the head of a report prints it, in seconds; None where it does not."""
    report = as_log(report, "awr")
    return _of_minutes(report.info.db_time_s)


def _of_minutes(seconds: float | None) -> Interval | None:
    """A time that the head prints in minutes; None of one below zero: the clock was set back."""
    if seconds is None or seconds < 0:
        return None
    return Interval(seconds, max(seconds - _HALF_STEP_S, 0), seconds + _HALF_STEP_S)


def _listed(frame: pl.DataFrame) -> str:
    """The numbers of statements; of many the first and the last."""
    numbers = frame.get_column("statement").unique().sort().to_list()
    if len(numbers) > _MOST_LISTED:
        numbers = [*numbers[: _MOST_LISTED - 1], "...", numbers[-1]]
    return ", ".join(map(str, numbers))


def read_metrics(log: Spool | AwrReport | Source, *, statement: int | None = None) -> pl.DataFrame:
    """Every metric of `iolab.metrics.reads` whose figures the log shows, in one frame.

    A metric that lacks a figure is left out; one that its figures contradict is a refused row.

    Args:
        log: what `sqlplusparse.read_spool` or `awrparse.read_awr` gives.
        statement: the statement of a spool, where several were timed.

    Returns:
        One row a metric (`METRICS`).

    Raises:
        LookupError: several statements were timed, and none was chosen.
    """
    log = as_log(log, "awr", "sqlplus")
    is_report = log.format == "awr"
    elapsed = elapsed_of(log, statement=statement)
    known = {name: statistic(log, title, statement=statement) for name, title in _STATISTICS.items()}
    # A period's length is no time of its reads; and blocks are of the application's reads, not of all of them.
    known |= {
        "elapsed": elapsed,
        "query_time": None if is_report else elapsed,
        "block_requests": known["app_requests"] or (None if is_report else known["requests"]),
        "block_bytes": known["app_bytes"] or known["total_bytes"],
    }
    frames = [
        compute(*(known[name] for name in needed), *(known[name] for name in optional))
        for compute, needed, optional in _METRICS
        if all(known[name] for name in needed)
    ]
    if not frames:
        return pl.DataFrame(schema=METRICS)
    metrics = pl.concat(frames)
    if log.format == "awr":
        return metrics.with_columns(pl.col("caveats").str.replace(reads.AT_LEAST, _OF_PERIOD, literal=True))
    return _with_basis(metrics, log)


def _with_basis(metrics: pl.DataFrame, log: Spool) -> pl.DataFrame:
    """Metrics of a session's statistics; where a listing counts from the logon, the caveats say so."""
    if "cumulative" not in log.statistics.get_column("basis"):
        return metrics
    listings = pl.col("statement").is_in(log.statistics.get_column("statement").unique().to_list())
    texts = log.statements.filter(listings).get_column("text").drop_nulls()
    is_instance = any("sysstat" in text.lower() for text in texts)
    parts = pl.col("caveats").replace("", None), pl.lit(_SINCE_START if is_instance else _CUMULATIVE)
    is_refused = pl.col("caveats").str.starts_with(REFUSED)
    return metrics.with_columns(
        caveats=pl.when(is_refused).then("caveats").otherwise(pl.concat_str(parts, separator="; ", ignore_nulls=True))
    )
