"""Figures looked up in logs, and all metrics of reads that a log allows at once.

Metrics of logical I/O, and the three ways to say that one time is shorter than another.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics import reads
from iolab.metrics.formatting import count_text
from iolab.metrics.table import METRICS, REFUSED, evaluate, evaluate_one, metrics_frame, need_time
from logframe.errors import RefusedError
from logframe.interval import Interval, row_figure, show
from logframe.oracle import unit_of
from logframe.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from awrparse import AwrReport
    from logframe import Source
    from logframe.interval import Figure
    from sqlplusparse import Spool

#: What of the heads is compared, and its phrase.
_HEAD: Final = {
    "db_name": "database {}",
    "instance": "instance {}",
    "release": "release {}",
    "host": "host {}",
    "platform": "{}",
    "cpus": "{} CPUs",
    "cores": "{} cores",
    "memory_gb": "{} GB",
}


def us_per_lio(
    gets: Figure, *, cpu_s: Figure = None, elapsed_s: Figure = None, physical_reads: Figure = 0
) -> pl.DataFrame:
    """Microseconds for a logical I/O: ``cpu_s * 10^6 / gets``, of a run that read nothing from disk.

    Source: Savvinov, "Logical I/O"; Millsap, "Why You Should Focus on LIOs Instead of PIOs" (2001).  A logical I/O is
    one of `session logical reads` (`consistent gets` + `db block gets`).  From the elapsed time there is an upper bound
    only: ``lo`` is 0 and ``value`` is the bound.  Refused when there were physical reads.

    Limitations: not the cost of a get anywhere else: it is mostly the work on the rows of a block, and
    differs by a factor between queries and row shapes on one machine. ARRAYSIZE changes the number of gets, and a
    pinned block is not counted again.

    Args:
        gets: `consistent gets` + `db block gets`.
        cpu_s: CPU of the run in seconds (`statistic(log, "CPU used by this session")`, which Oracle counts in
            centiseconds, or TKPROF's cpu).
        elapsed_s: its elapsed time, where there is no CPU time.
        physical_reads: `physical reads` of the run.

    Returns:
        One row (`METRICS`), in us.

    Examples:
        >>> us_per_lio(1_000_000, cpu_s=5.04).item(0, "value")
        5.04
        >>> us_per_lio(1_000_000, elapsed_s=5.5).select("value", "lo").row(0)
        (5.5, 0.0)
    """
    from_cpu = cpu_s is not None
    name = "cpu_s" if from_cpu else "elapsed_s"

    def compute(gets: Interval, physical_reads: Interval, **times: Interval) -> Interval:
        if physical_reads.lo > 0:
            raise RefusedError(f"{show(physical_reads)} blocks came from disk: the time is not that of logical I/O")
        need_time(name, times[name])
        cost = times[name] * 10**6 / gets
        return cost if from_cpu else Interval(cost.value, 0.0, cost.hi)

    caveats = ["it is the cost of the row work for a get: it differs by a factor between row shapes and queries"]
    if not from_cpu:
        caveats.insert(0, "an upper bound: the elapsed time holds waits and the client's time, too")
    inputs = {name: cpu_s if from_cpu else elapsed_s, "gets": gets, "physical_reads": physical_reads}
    return evaluate_one("us_per_lio", "us", f"{name} * 10^6 / gets", inputs, compute, caveats)


def pio_lio_factor(pio_ms: Figure, lio_us: Figure, *, blocks: int = 1) -> pl.DataFrame:
    """How many times longer a read of m blocks from disk takes than m logical I/Os: ``pio_ms * 1000 / (m * lio_us)``.

    Source: Savvinov, "Logical I/O", with m = 128; Millsap (2001), with m = 1.

    Limitations: m is not given: per block the factor falls as reads grow. A read that a cache below the
    database answered is no read from disk.

    Args:
        pio_ms: time of one read, such as the average of `db file scattered read`.
        lio_us: time of one logical I/O.
        blocks: blocks of one read, m.

    Returns:
        One row (`METRICS`), a factor.

    Examples:
        >>> pio_lio_factor(6, (7.0, 5.0, 9.0), blocks=128).select("lo", "hi").row(0)
        (5.208333333333333, 9.375)
    """

    def compute(pio_ms: Interval, lio_us: Interval, blocks: Interval) -> Interval:
        if blocks.value < 1:
            raise RefusedError(f"a read has at least one block, not {show(blocks)}")
        return pio_ms * 1000 / (lio_us * blocks)

    caveats = (f"for reads of {counted(blocks, 'block')}: the factor for a block falls as reads grow",)
    inputs = {"pio_ms": pio_ms, "lio_us": lio_us, "blocks": blocks}
    return evaluate_one("pio_lio_factor", "x", "pio_ms * 1000 / (blocks * lio_us)", inputs, compute, caveats)


def lio_share(gets: Figure, lio_us: Figure, elapsed_s: Figure) -> pl.DataFrame:
    """Share of a run that its logical I/O explains: ``gets * lio_us / 10^6 / elapsed_s``.

    Refused when it is above 1 even with all rounding in its favour: then the time of a logical I/O is not that of this
    workload.

    Source: arithmetic on `us_per_lio`.

    Limitations: the time of a logical I/O was measured on another query, row shape or machine.

    Returns:
        One row (`METRICS`), a ratio.

    Examples:
        >>> lio_share(100_000, 5.0, 2.0).item(0, "value")
        0.25
    """

    def compute(gets: Interval, lio_us: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        share = gets * lio_us / 10**6 / elapsed_s
        if share.lo > 1:
            raise RefusedError(f"logical I/O would take {show(share)} of the time: lio_us is not of this workload")
        return share

    inputs = {"gets": gets, "lio_us": lio_us, "elapsed_s": elapsed_s}
    caveats = ("the time of a logical I/O is taken from another run",)
    formula = "gets * lio_us / 10^6 / elapsed_s"
    return evaluate_one("lio_share", "ratio", formula, inputs, compute, caveats)


def rows_per_trip(rows: Figure, round_trips: Figure) -> pl.DataFrame:
    """Rows that one round trip to the client brings: ``rows / round_trips``.

    15 is SQL*Plus' default ARRAYSIZE.  Few rows a trip mean that the elapsed time is the client's and the network's.

    Source: Oracle Database Reference, `SQL*Net roundtrips to/from client`; SQL*Plus User's Guide, ARRAYSIZE.

    Limitations: the session ran other statements, or changed ARRAYSIZE meanwhile.

    Args:
        rows: `rows processed`.
        round_trips: `SQL*Net roundtrips to/from client`.

    Returns:
        One row (`METRICS`), in rows.

    Examples:
        >>> round(rows_per_trip(381_105, 25_408).item(0, "value"), 2)
        15.0
    """
    inputs = {"rows": rows, "round_trips": round_trips}
    caveats = ("ARRAYSIZE also changes the gets: a block is got again for each fetch",)
    return evaluate_one(
        "rows_per_trip", "rows", "rows / round_trips", inputs, lambda rows, round_trips: rows / round_trips, caveats
    )


def time_change(before_s: Figure, after_s: Figure) -> pl.DataFrame:
    """Two times of one task, said in the three ways that are often mixed up.

    ``pct_less_time`` is ``100 * (before - after) / before``, ``speedup`` is ``before / after``, ``time_ratio`` is
    ``after / before``.  "x % less time" is not "x % faster": 18 % less time is 22 % more work per second.

    Source: arithmetic.

    Limitations: no proof: two times are no samples, and whether the difference would come again is for
    `iolab.compare` to say.

    Returns:
        Three rows (`METRICS`): in %, x and ratio.  Refused when a time is shown as zero.

    Examples:
        >>> [round(value, 4) for value in time_change(6.910, 5.654)["value"]]
        [18.1766, 1.2221, 0.8182]
    """

    def ratio(before_s: Interval, after_s: Interval) -> Interval:
        need_time("before_s", before_s)
        need_time("after_s", after_s)
        return after_s / before_s

    inputs = {"before_s": before_s, "after_s": after_s}
    caveats = ("two times are no samples: whether the difference would come again is not said",)
    ways = (
        ("pct_less_time", "%", "100 * (before_s - after_s) / before_s", lambda **both: (1 - ratio(**both)) * 100),
        ("speedup", "x", "before_s / after_s", lambda **both: ratio(both["after_s"], both["before_s"])),
        ("time_ratio", "ratio", "after_s / before_s", ratio),
    )
    return metrics_frame(
        [evaluate(name, unit, formula, inputs, compute, caveats) for name, unit, formula, compute in ways]
    )


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
    is_count = (pl.col("name") == name) & pl.col("value").is_not_null() & (pl.col("basis") != "rate")
    listed = log.statistics.filter(is_count)
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


def settings_of(report: AwrReport) -> dict[str, str]:
    """Facts of the head of a report by name, and its parameters, whose names begin with ``parameter``."""
    facts = {name: str(value) for name in _HEAD if (value := getattr(report.info, name, None)) is not None}
    if "parameters" in report:
        for name, begin, end in report["parameters"].select("parameter", "begin", "end").iter_rows():
            facts[f"parameter {name}"] = str(end or begin or "")
    return facts


def equal_settings(reports: Sequence[AwrReport]) -> list[str]:
    """What the heads and parameters of all reports agree on, each as a phrase."""
    facts = [settings_of(report) for report in reports]
    same = [name for name, value in facts[0].items() if all(one.get(name) == value for one in facts)] if facts else []
    said = [_HEAD[name].format(facts[0][name]) for name in same if name in _HEAD]
    return [*said, *([count_text(len(same) - len(said), "parameter")] if len(same) > len(said) else [])]
