"""Metrics of reads, from session statistics, autotrace and a timing, and rates of a period.

Statistics have the names of V$STATNAME.  Each function takes figures: numbers, `Interval`, or None where one is not
known; `statistic` and `elapsed_of` look them up in a log.

Counts and DB time of a period are given for each second and each transaction, and as sessions active.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from iolab.metrics.table import (
    clip_share,
    evaluate,
    evaluate_in,
    evaluate_one,
    metrics_frame,
    need_part,
    need_time,
    share_of,
    single,
)
from logframe.errors import RefusedError
from logframe.interval import Interval, show, within

if TYPE_CHECKING:
    import polars as pl

    from logframe.interval import Figure


#: Below this share of hits the time of a query is no time of flash reads.
MIN_HIT_RATIO: Final = 0.95
#: A request reads one block or more; counters that are read one after the other may differ by a little.
LEAST_BLOCKS: Final = 0.95
#: What the rates of a statement hold besides its reads.
AT_LEAST: Final = "the elapsed time holds CPU and fetches, too: the storage was at least this fast"
#: What requests and bytes were counted of.
Scope = Literal["read", "write", "application_read", "application_write"]
SCOPES: Final[dict[str, str]] = {
    "read": "reads of all activity: backups, control files and redo are in it",
    "write": "writes of all activity: redo, archives, backups and control files are in it",
    "application_read": "the application's reads only",
    "application_write": "the application's writes only (DBWR and direct path), without redo",
}
#: The sizes that a block of the database may have (Oracle Database Reference, DB_BLOCK_SIZE).
BLOCK_SIZES: Final = (2048, 4096, 8192, 16384, 32768)


def ms_per_flash_read(elapsed_s: Figure, hits: Figure, requests: Figure, eligible_bytes: Figure = None) -> pl.DataFrame:
    """Milliseconds for a read from the flash cache: ``elapsed_s * 1000 / hits``.

    Source: Durrett, "Exadata flash cache latency .4 milliseconds" (2013).  Refused when hits exceed requests, when less
    than 95 % of the requests were hits, when smart scans overlapped their reads, and when the time is shown as zero.
    For reads one after the other it is an upper bound.  The wait `cell single block physical read` is better evidence
    where there is a report.

    Limitations: the reads overlapped (asynchronous, parallel, smart scan), or the query computed or
    fetched much: all its elapsed time is counted as time of flash reads. Some cell software counts writes and smart
    scans as hits, too.

    Args:
        elapsed_s: the query's elapsed time.
        hits: `cell flash cache read hits`.
        requests: `physical read total IO requests`.
        eligible_bytes: `cell physical IO bytes eligible for predicate offload`, where the session shows them.

    Returns:
        One row (`METRICS`), in ms.

    Examples:
        >>> ms_per_flash_read((0.73, 0.725, 0.74), 1837, 1841).select("value", "lo", "hi").row(0)  # doctest: +ELLIPSIS
        (0.397387..., 0.394665..., 0.402830...)
        >>> ms_per_flash_read(0.73, 1837, 1800).item(0, "caveats")
        'refused: hits (1837) are more than requests (1800)'
    """

    def compute(
        elapsed_s: Interval, hits: Interval, requests: Interval, eligible_bytes: Interval | None = None
    ) -> Interval:
        need_part("hits", hits, "requests", requests)
        if eligible_bytes is not None and eligible_bytes.hi > 0:
            raise RefusedError("smart scans overlap their reads: a read takes longer than the time divided by the hits")
        share = hits / requests
        if share.value < MIN_HIT_RATIO:
            raise RefusedError(f"only {share.value:.1%} of the requests were flash hits: the time is not theirs")
        need_time("elapsed_s", elapsed_s)
        return elapsed_s * 1000 / hits

    caveats = (
        "counts all elapsed time as flash time: an upper bound for serial reads, meaningless where reads overlap",
        "some cell software also counts writes and smart scans as hits",
    )
    inputs = {"elapsed_s": elapsed_s, "hits": hits, "requests": requests}
    if eligible_bytes is not None:
        inputs["eligible_bytes"] = eligible_bytes
    return evaluate_one("ms_per_flash_read", "ms", "elapsed_s * 1000 / hits", inputs, compute, caveats)


def flash_hit_ratio(hits: Figure, requests: Figure) -> pl.DataFrame:
    """Share of the read requests that the flash cache of the cells answered: ``hits / requests``.

    Source: Oracle Exadata documentation, `cell flash cache read hits` and `physical read total IO requests`.  Refused
    when hits exceed requests.  `physical read requests optimized` also counts what a storage index saved, and
    `physical read flash cache hits` is another feature (Database Smart Flash Cache): neither may stand for hits.

    Limitations: the cells' software also counts writes or smart scans as hits, or the figures are of a
    session that did more than the timed query.

    Returns:
        One row (`METRICS`), a ratio.

    Examples:
        >>> flash_hit_ratio(1837, 1841).item(0, "value")  # doctest: +ELLIPSIS
        0.997827...
    """

    def compute(hits: Interval, requests: Interval) -> Interval:
        return share_of("hits", hits, "requests", requests)

    caveats = ("some cell software also counts writes and smart scans as hits",)
    inputs = {"hits": hits, "requests": requests}
    return evaluate_one("flash_hit_ratio", "ratio", "hits / requests", inputs, compute, caveats)


def read_size(total_bytes: Figure, requests: Figure, *, of: Scope = "read") -> pl.DataFrame:
    """Average size of a request, in bytes and in KiB: ``total_bytes / requests``.

    Source: Oracle Database Reference, `physical read total bytes` and `physical read total IO requests`: both of all
    activity, backups, control files and redo included.  `physical read bytes` and `physical read IO requests` are the
    application's: never one of these over one of those.

    Limitations: single-block and multi-block reads are mixed: then maybe no read has this size.

    Args:
        total_bytes: the bytes.
        requests: the requests that moved them.
        of: as for `throughput`.

    Returns:
        Two rows (`METRICS`): ``avg_read_bytes`` (B) and ``avg_read_kib`` (KiB, 1024 B), or ``avg_write_...``.

    Examples:
        >>> read_size(59_301_888, 1841).select("metric", "value", "unit").rows()  # doctest: +ELLIPSIS
        [('avg_read_bytes', 32211.78..., 'B'), ('avg_read_kib', 31.456..., 'KiB')]
    """
    inputs = {"total_bytes": total_bytes, "requests": requests}
    caveats = ("an average of single-block and multi-block requests: maybe none has this size", SCOPES[of])
    units = (
        (f"avg_{of}_bytes", "B", "total_bytes / requests", 1),
        (f"avg_{of}_kib", "KiB", "total_bytes / requests / 1024", 1024),
    )
    return evaluate_in(units, inputs, _bytes_per_request, caveats)


def _bytes_per_request(total_bytes: Interval, requests: Interval) -> Interval:
    if total_bytes.hi < requests.lo:
        raise RefusedError(f"{show(requests)} requests cannot have read only {show(total_bytes)} bytes")
    return total_bytes / requests


def blocks_per_read(physical_reads: Figure, requests: Figure) -> pl.DataFrame:
    """Average blocks of a read: ``physical_reads / requests``.

    Source: Oracle Database Reference: `physical reads` counts **blocks**, not requests; so does DISK_READS.  The
    requests of the same reads are `physical read IO requests`; `physical read total IO requests` holds those of control
    files and backups, too.  Refused when there are clearly fewer blocks than requests: they are not of the same reads.

    Limitations: blocks of several sizes, temporary segments or undo were read; and it is no share of
    multi-block reads, which no quotient of these statistics shows.

    Returns:
        One row (`METRICS`), in blocks.

    Examples:
        >>> blocks_per_read(7239, 1841).item(0, "value")  # doctest: +ELLIPSIS
        3.9321...
    """

    def compute(physical_reads: Interval, requests: Interval) -> Interval:
        if 0 < physical_reads.hi < requests.lo * LEAST_BLOCKS:
            raise RefusedError(
                f"{show(physical_reads)} blocks in {show(requests)} requests are less than one each: "
                "requests that read no blocks (control files, logs) are counted, too"
            )
        return physical_reads / requests

    inputs = {"physical_reads": physical_reads, "requests": requests}
    caveats = ("blocks of another size, temporary segments and undo are counted alike",)
    return evaluate_one("blocks_per_read", "blocks", "physical_reads / requests", inputs, compute, caveats)


def block_size(total_bytes: Figure, physical_reads: Figure) -> pl.DataFrame:
    """The size of a block, inferred: the one legal size that ``total_bytes / physical_reads`` allows.

    Refused when no legal size (2, 4, 8, 16, 32 KiB) lies within the bounds of the quotient, or more than one does: then
    the two figures are not of the same reads, or blocks of several sizes were read.

    Source: arithmetic; Oracle Database Reference, DB_BLOCK_SIZE, for the legal sizes.

    Limitations: the two statistics are of different reads that happen to give a legal size.

    Returns:
        One row (`METRICS`), in B.  It is exact when it is not refused.

    Examples:
        >>> block_size(59_301_888, 7239).select("value", "unit").row(0)
        (8192.0, 'B')
        >>> block_size(56_554_688, 7239).item(0, "caveats")  # doctest: +ELLIPSIS
        'refused: 7812.5... B for a block is no block size: other reads are in one of the figures, ...'
    """

    def compute(total_bytes: Interval, physical_reads: Interval) -> Interval:
        quotient = total_bytes / physical_reads
        sizes = [size for size in BLOCK_SIZES if within(size, quotient)]
        if not sizes:
            raise RefusedError(
                f"{show(quotient)} B for a block is no block size: other reads are in one of the figures, "
                "or blocks of several sizes were read"
            )
        if len(sizes) > 1:
            raise RefusedError(f"{show(quotient)} B for a block allows {', '.join(map(str, sizes))}")
        return Interval.exact(sizes[0])

    inputs = {"total_bytes": total_bytes, "physical_reads": physical_reads}
    formula = "the power of two within total_bytes / physical_reads"
    caveats = ("inferred from two statistics, not read from the parameter db_block_size",)
    return evaluate_one("block_size", "B", formula, inputs, compute, caveats)


def throughput(total_bytes: Figure, elapsed_s: Figure, *, of: Scope = "read") -> pl.DataFrame:
    """Bytes read or written per second, with both meanings of mega: ``total_bytes / elapsed_s``.

    Refused when the time is shown as zero.

    Source: Oracle Database Reference, `physical read total bytes` and `physical write total bytes` (all activity of the
    session or instance, backups and redo among it); `physical read bytes` and `physical write bytes` (the
    application's).

    Limitations: not the speed of the storage: the elapsed time holds CPU and fetches, too, so the storage
    was at least this fast; and a cache below the database may have answered.

    Args:
        total_bytes: the bytes.
        elapsed_s: the time they took.
        of: what was counted: ``read``, ``write``, ``application_read`` or ``application_write``; it is in the names.

    Returns:
        Two rows (`METRICS`): ``read_mib_per_s`` (MiB/s, 2^20 B) and ``read_mb_per_s`` (MB/s, 10^6 B), or ``write_...``.

    Examples:
        >>> throughput(59_301_888, (0.73, 0.725, 0.74)).select("metric", "value").rows()  # doctest: +ELLIPSIS
        [('read_mib_per_s', 77.472...), ('read_mb_per_s', 81.235...)]
    """

    def compute(total_bytes: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        return total_bytes / elapsed_s

    inputs = {"total_bytes": total_bytes, "elapsed_s": elapsed_s}
    caveats = (AT_LEAST, SCOPES[of])
    units = (
        (f"{of}_mib_per_s", "MiB/s", "total_bytes / 2^20 / elapsed_s", 2**20),
        (f"{of}_mb_per_s", "MB/s", "total_bytes / 10^6 / elapsed_s", 10**6),
    )
    return evaluate_in(units, inputs, compute, caveats)


def iops(requests: Figure, elapsed_s: Figure, *, of: Scope = "read") -> pl.DataFrame:
    """Read or write requests per second: ``requests / elapsed_s``.  Refused when the time is shown as zero.

    Source: Oracle Database Reference, `physical read total IO requests` and `physical write total IO requests` (all
    activity), `physical read IO requests` and `physical write IO requests` (the application's).

    Limitations: not the limit of the storage: it was at least this fast, and one serial session never
    shows a limit.

    Args:
        requests: the requests.
        elapsed_s: the time they took.
        of: as for `throughput`.

    Returns:
        One row (`METRICS`), ``read_iops`` or ``write_iops``, in 1/s.

    Examples:
        >>> iops(1841, (0.73, 0.725, 0.74)).select("metric", "value").row(0)  # doctest: +ELLIPSIS
        ('read_iops', 2521.9...)
    """

    def compute(requests: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        return requests / elapsed_s

    inputs = {"requests": requests, "elapsed_s": elapsed_s}
    return evaluate_one(f"{of}_iops", "1/s", "requests / elapsed_s", inputs, compute, (AT_LEAST, SCOPES[of]))


def direct_share(physical_reads_direct: Figure, physical_reads: Figure) -> pl.DataFrame:
    """Share of the blocks read that went past the buffer cache: ``physical_reads_direct / physical_reads``.

    Source: Oracle Database Reference, `physical reads direct`.  Refused when the part exceeds the whole.

    Limitations: temporary segments or LOBs were read, which is direct, too; and a direct path read need
    not use O_DIRECT: past the buffer cache is not past the page cache.

    Returns:
        One row (`METRICS`), a ratio.

    Examples:
        >>> direct_share(7000, 7239).item(0, "value")  # doctest: +ELLIPSIS
        0.96698...
    """

    def compute(physical_reads_direct: Interval, physical_reads: Interval) -> Interval:
        return share_of("physical_reads_direct", physical_reads_direct, "physical_reads", physical_reads)

    inputs = {"physical_reads_direct": physical_reads_direct, "physical_reads": physical_reads}
    caveats = ("reads of temporary segments and LOBs are direct, too", "a direct path read need not use O_DIRECT")
    formula = "physical_reads_direct / physical_reads"
    return evaluate_one("direct_share", "ratio", formula, inputs, compute, caveats)


def smart_scan_saving(eligible_bytes: Figure, returned_bytes: Figure, total_bytes: Figure = None) -> pl.DataFrame:
    """How much of the reads could be offloaded to the cells, and what offloading kept off the interconnect.

    ``offload_eligible`` is ``eligible_bytes / total_bytes``, ``smart_scan_saving`` is ``1 - returned_bytes /
    eligible_bytes``.  Source: Oracle Exadata documentation.

    Limitations: the data is compressed (it grows on return, so the saving looks smaller), or storage
    indexes saved the reads: their part is in it.

    Args:
        eligible_bytes: `cell physical IO bytes eligible for predicate offload`.
        returned_bytes: `cell physical IO interconnect bytes returned by smart scan`.
        total_bytes: `physical read total bytes`.

    Returns:
        Two rows (`METRICS`), ratios; each refused when its part exceeds its whole or a figure is missing.

    Examples:
        >>> smart_scan_saving(1000, 50, 2000).select("metric", "value").rows()
        [('offload_eligible', 0.5), ('smart_scan_saving', 0.95)]
    """

    def eligible_share(eligible_bytes: Interval, total_bytes: Interval) -> Interval:
        return share_of("eligible_bytes", eligible_bytes, "total_bytes", total_bytes)

    def saving(eligible_bytes: Interval, returned_bytes: Interval) -> Interval:
        need_part("returned_bytes", returned_bytes, "eligible_bytes", eligible_bytes)
        return clip_share(1 - returned_bytes / eligible_bytes)

    return metrics_frame(
        [
            evaluate(
                "offload_eligible",
                "ratio",
                "eligible_bytes / total_bytes",
                {"eligible_bytes": eligible_bytes, "total_bytes": total_bytes},
                eligible_share,
                ("eligible bytes are counted as they lie on disk",),
            ),
            evaluate(
                "smart_scan_saving",
                "ratio",
                "1 - returned_bytes / eligible_bytes",
                {"eligible_bytes": eligible_bytes, "returned_bytes": returned_bytes},
                saving,
                ("holds what storage indexes saved", "compressed data grows on return, so the saving may look smaller"),
            ),
        ]
    )


def rate(count: Figure, elapsed_s: Figure, *, metric: str = "per_s") -> pl.DataFrame:
    """A count or amount for each second: ``count / elapsed_s``.

    The only way to compare counts of periods of different length.  Refused when the time is shown as zero.

    Source: definition; the load profile of a report shows its counts so.

    Limitations: the load was not even: an hour's mean does not describe its peak.

    Args:
        count: of the period.
        elapsed_s: its length.
        metric: what to call it, such as ``reads_per_s``.

    Returns:
        One row (`METRICS`), in 1/s.

    Examples:
        >>> rate(55_702, (1874.5, 1863.2, 1885.9)).select("value", "lo", "hi").row(0)  # doctest: +ELLIPSIS
        (29.71..., 29.53..., 29.89...)
    """

    def compute(count: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        return count / elapsed_s

    inputs = {"count": count, "elapsed_s": elapsed_s}
    return single(evaluate(metric, "1/s", "count / elapsed_s", inputs, compute))


def per_transaction(count: Figure, transactions: Figure, *, metric: str = "per_transaction") -> pl.DataFrame:
    """A count or amount for each transaction: ``count / transactions``, `user commits` + `user rollbacks`.

    Source: Oracle Database Reference, `user commits` and `user rollbacks`; a report's load profile does the same.

    Limitations: transactions of the two periods do different work, or most of the work commits nothing.

    Returns:
        One row (`METRICS`), in 1/transaction.

    Examples:
        >>> per_transaction(300, 100).item(0, "value")
        3.0
    """
    inputs = {"count": count, "transactions": transactions}
    return single(
        evaluate(
            metric,
            "1/transaction",
            "count / transactions",
            inputs,
            lambda count, transactions: count / transactions,
        )
    )


def average_active_sessions(db_time_s: Figure, elapsed_s: Figure) -> pl.DataFrame:
    """Sessions active on average: ``db_time_s / elapsed_s``.  Source: Oracle Database Reference, V$SYS_TIME_MODEL.

    Limitations: not a load of the processors: sessions that wait are active, too.

    Returns:
        One row (`METRICS`), in sessions.

    Examples:
        >>> average_active_sessions(15_000, 1_875).item(0, "value")
        8.0
    """

    def compute(db_time_s: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        return db_time_s / elapsed_s

    inputs = {"db_time_s": db_time_s, "elapsed_s": elapsed_s}
    caveats = ("of foreground sessions: DB time holds no background work",)
    return single(evaluate("average_active_sessions", "sessions", "db_time_s / elapsed_s", inputs, compute, caveats))
