"""Metrics of logical I/O, and the three ways to say that one time is shorter than another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolab.metrics.table import evaluate, evaluate_one, metrics_frame, need_time
from logframe.errors import RefusedError
from logframe.interval import Interval, show
from logframe.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from logframe.interval import Figure


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
