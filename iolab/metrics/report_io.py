"""I/O of a report by function and file type, commits and log writes, multiblock reads, and where the reads are.

Reads from Exadata storage cells: what sessions waited, and what the cells measured of flash and disks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.awr import ALL_INSTANCES, average_waits
from iolab.metrics.histograms import histograms_of, latency_quantiles, waits_within
from iolab.metrics.table import METRICS, REFUSED, Metric, clip_share, evaluate, metrics_frame, need_part, need_time
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe.interval import Figure


_SYNC, _WRITE = "log file sync", "log file parallel write"
_SINGLE, _MULTI, _PARALLEL = "db file sequential read", "db file scattered read", "db file parallel read"
#: From this share of the period on, commits also wait for the log writer to become free.
_BUSY: Final = 0.5
#: Shares of waits that make a mode of a histogram, and the dip between two of them.
_MODE_PCT: Final = 5.0
_DIP: Final = 0.5
_KEYS: Final = ("function", "filetype")
#: Waits and blocks are not counted at one moment: they may differ so much.
_SKEW: Final = 0.01
#: A read is of 1 MiB at most, and a block of 2 KiB at least.
_MOST_BLOCKS: Final = 512
_MB: Final = 10**6
_KIB: Final = 1024


def io_by_function(iostat: pl.DataFrame, elapsed_s: Figure = None) -> pl.DataFrame:
    """Requests, megabytes, request sizes and times of each function or file type, reads and writes apart.

    Source: Oracle Database Reference, V$IOSTAT_FUNCTION and V$IOSTAT_FILE.  Bytes a second are those printed, and the
    bytes of the period over its length, intersected.  Sizes are refused where the printed rate may be zero.

    Limitations: the waits of a function are synchronous ones only; a large read is one of 128 KiB or more
    and its time is that of all its parts.  LGWR, DBWR and ARCH are background processes.

    Args:
        iostat: the table `iostat_function` or `iostat_filetype` of a report, with its bounds; totals are left out.
        elapsed_s: the length of the period.

    Returns:
        Rows for each function or file type: its name (``function`` or ``filetype``), then `METRICS`: ``read_iops``,
        ``write_iops`` (1/s), ``read_mb_per_s``, ``write_mb_per_s`` (MB/s, 10^6 B), ``avg_read_kib``, ``avg_write_kib``
        (KiB), and where the table has them ``avg_wait_ms``, or ``small_read_ms`` and ``large_read_ms``.

    Examples:
        >>> table = pl.DataFrame({"function": ["LGWR"], "read_requests_per_s": [0.0], "read_bytes_per_s": [0.0],
        ...     "write_requests_per_s": [125.0], "write_bytes_per_s": [1_024_000.0], "avg_wait_ms": [0.33]})
        >>> io_by_function(table).filter(pl.col("metric").str.starts_with("write")).select("metric", "value").rows()
        [('write_iops', 125.0), ('write_mb_per_s', 1.024)]
    """
    key = next(name for name in _KEYS if name in iostat.columns)
    names: list[str] = []
    metrics: list[Metric] = []
    for row in iostat.iter_rows(named=True):
        if row.get("is_total") or row[key] is None:
            continue
        made = []
        for side in ("read", "write"):
            requests, moved = row_figure(row, f"{side}_requests_per_s"), row_figure(row, f"{side}_bytes_per_s")
            made.append(_shown(f"{side}_iops", "1/s", f"{side}_requests_per_s as shown", requests))
            made.append(_moved(side, moved, row_figure(row, f"{side}_bytes"), elapsed_s))
            inputs: dict[str, Figure] = {"bytes_per_s": moved, "requests_per_s": requests}
            made.append(evaluate(f"avg_{side}_kib", "KiB", "bytes_per_s / requests_per_s / 1024", inputs, _size))
        for name, column in (
            ("avg_wait_ms", "avg_wait_ms"),
            ("small_read_ms", "avg_small_read_ms"),
            ("large_read_ms", "avg_large_read_ms"),
        ):
            if column in iostat.columns:
                made.append(_shown(name, "ms", f"{column} as shown", row_figure(row, column)))
        metrics += made
        names += [str(row[key])] * len(made)
    return metrics_frame(metrics, **{key: pl.Series(names, dtype=pl.String)})


def _shown(metric: str, unit: str, basis: str, figure: Interval | None) -> Metric:
    if figure is None:
        return Metric.refused(metric, unit, "the report does not show it", basis=basis)
    return Metric(metric, figure.value, figure.lo, figure.hi, unit, basis)


def _moved(side: str, printed: Interval | None, total: Interval | None, elapsed_s: Figure) -> Metric:
    name, basis = f"{side}_mb_per_s", f"{side}_bytes_per_s as shown, and {side}_bytes / elapsed_s"
    figures = [] if printed is None else [printed]
    if total is not None and elapsed_s is not None and Interval.of(elapsed_s).lo > 0:
        figures.append(total / Interval.of(elapsed_s))
    try:
        return _shown(name, "MB/s", basis, intersect(figures) / _MB)
    except RefusedError as refusal:
        return Metric.refused(name, "MB/s", str(refusal), basis=basis)


def _size(bytes_per_s: Interval, requests_per_s: Interval) -> Interval:
    if requests_per_s.lo <= 0:
        raise RefusedError(f"requests_per_s, {show(requests_per_s)}, may be zero")
    return bytes_per_s / requests_per_s / _KIB


def commit_times(
    foreground: pl.DataFrame,
    background: pl.DataFrame,
    elapsed_s: Figure = None,
    event_histogram: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """What a commit waits for, beside the write of the log: their averages, and what lies between them.

    ``commit_beyond_write_ms`` is the average of `log file sync` minus that of `log file parallel write`: scheduling,
    the wait for a write that runs already, and messages.  Refused where the log writer was busy half of the period or
    more (commits wait for it to become free, so the difference is a queue), where it had several workers, and where a
    histogram has more than one mode: then the difference of two averages is of no wait.

    Source: Oracle Database Reference, wait events `log file sync` and `log file parallel write`; the busy time of one
    process is the time of its waits over the elapsed time.

    Limitations: several commits share a write, and a write may carry none; a standby in synchronous mode,
    or a slow processor queue, is in the difference.

    Args:
        foreground: the table `foreground_events` of a report.
        background: its table `background_events`.
        elapsed_s: the length of the period.
        event_histogram: its table `event_histogram`, where it has one.

    Returns:
        Four rows (`METRICS`): ``commit_ms``, ``log_write_ms``, ``log_writer_busy`` (a ratio) and
        ``commit_beyond_write_ms``.

    Examples:
        >>> def waits(event, count, seconds): return pl.DataFrame(
        ...     {"event": [event], "waits": [count], "total_wait_s": [seconds]})
        >>> found = commit_times(waits("log file sync", 1000, 2.0), waits("log file parallel write", 900, 1.35), 3600)
        >>> found.select("metric", "value").rows()[-1]
        ('commit_beyond_write_ms', 0.5)
    """
    sync, write = _wait_of(foreground, _SYNC), _wait_of(background, _WRITE)
    made = [
        _average("commit_ms", sync, f"{_SYNC}, foreground: time / waits"),
        _average("log_write_ms", write, f"{_WRITE}, background: time / waits"),
    ]
    inputs: dict[str, Figure] = {"time": None if write is None else write[1], "elapsed_s": elapsed_s}

    def busy(time: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        if "instance" in background.columns and background.filter(event=_WRITE)["instance"].n_unique() > 1:
            raise RefusedError("each of several instances has a log writer of its own")
        share = time / elapsed_s
        if share.lo > 1:
            raise RefusedError(f"{show(share)} times the period: the log has several writers")
        return clip_share(share)

    made.append(evaluate("log_writer_busy", "ratio", f"time of `{_WRITE}` / elapsed_s", inputs, busy))

    def beyond(sync_ms: Interval, write_ms: Interval) -> Interval:
        share = made[2]
        if share.value is None and elapsed_s is not None:
            raise RefusedError(share.caveats.removeprefix(REFUSED))
        if share.lo is not None and share.lo >= _BUSY:
            raise RefusedError(f"the log writer was busy {share.value:.0%} of the time: commits queue for it")
        for event in (_SYNC, _WRITE):
            if event_histogram is not None and modes_of(event_histogram, event) > 1:
                raise RefusedError(f"`{event}` has more than one mode: no wait is like its average")
        return sync_ms - write_ms

    averages: dict[str, Figure] = {
        name: None if one is None or one[0].lo <= 0 else one[1] * 1000 / one[0]
        for name, one in (("sync_ms", sync), ("write_ms", write))
    }
    caveats = ["averages of different waits: several commits may share a write"]
    if event_histogram is None:
        caveats.append("no histogram: whether the averages are of one mode is not known")
    made.append(evaluate("commit_beyond_write_ms", "ms", f"{_SYNC} - {_WRITE}", averages, beyond, caveats))
    return metrics_frame(made)


def modes_of(event_histogram: pl.DataFrame, event: str) -> int:
    """How many modes an event's histogram has: peaks of 5 % of the waits, with a dip to half of the smaller between.

    Examples:
        >>> table = pl.DataFrame({"event": ["x"] * 4, "waits": [100] * 4, "section": [None] * 4,
        ...     "from_us": [0.0, 1e3, 2e3, 4e3], "to_us": [1e3, 2e3, 4e3, 8e3], "waits_pct": [40.0, 10.0, 5.0, 45.0]})
        >>> modes_of(table, "x")
        2
    """
    histogram = histograms_of(event_histogram.filter(pl.col("event") == event)).get(event)
    shares = [share for _, _, share in histogram.buckets()] if histogram is not None else []
    modes, peak, low = 0, 0.0, 0.0
    for share in shares:
        if share > peak and modes and low > _DIP * min(peak, share):
            peak, low = share, share  # the same mode goes on
        elif share >= _MODE_PCT and (not modes or low <= _DIP * min(peak, share)):
            modes, peak, low = modes + 1, share, share
        low = min(low, share) if modes else 0.0
    return modes


def _wait_of(table: pl.DataFrame, event: str) -> tuple[Interval, Interval] | None:
    """Waits and seconds of an event, those of several instances together."""
    found: tuple[Interval, Interval] | None = None
    seen: set[object] = set()
    for row in table.iter_rows(named=True):
        waits, time, instance = row_figure(row, "waits"), row_figure(row, "total_wait_s"), row.get("instance")
        if row["event"] != event or waits is None or time is None or instance in ALL_INSTANCES or instance in seen:
            continue
        seen.add(instance)
        average = row_figure(row, "avg_wait_ms")
        if average is not None:
            try:
                time = intersect([time, average * waits / 1000])
            except RefusedError:
                return None
        found = (waits, time) if found is None else (found[0] + waits, found[1] + time)
    return found


def _average(metric: str, wait: tuple[Interval, Interval] | None, basis: str) -> Metric:
    inputs: dict[str, Figure] = {
        "waits": None if wait is None else wait[0],
        "time": None if wait is None else wait[1],
    }
    return evaluate(metric, "ms", basis, inputs, lambda waits, time: time * 1000 / waits)


def multiblock_reads(
    foreground: pl.DataFrame, background: pl.DataFrame, *, cache_reads: Figure, blocks_read: Figure = None
) -> pl.DataFrame:
    """Reads of one block and of several through the cache, and the blocks of one multiblock read.

    ``effective_mbrc`` is (blocks read into the cache - waits for single blocks) / waits for scattered reads: what
    became of `db_file_multiblock_read_count`.  Where there are waits for parallel reads, whose blocks are not counted
    apart, it is an upper bound (``lo`` is 1).  Never from `physical read total multi block requests`, which counts
    large requests only on some platforms.

    Source: Oracle Database Reference, `physical reads cache` counts blocks; `db file sequential read` waits for one
    block and `db file scattered read` for several in neighbouring buffers.

    Limitations: reads without a wait (asynchronous prefetch, smart scans) are in the blocks only; ends of
    extents and cached blocks cut multiblock reads short.

    Args:
        foreground: the table `foreground_events` of a report.
        background: its table `background_events`; an event that it lacks is taken as not waited for.
        cache_reads: `physical reads cache`, in blocks.
        blocks_read: `physical reads`, in blocks, direct ones among them.

    Returns:
        Three rows (`METRICS`): ``single_block_share`` of the blocks read into the cache, ``effective_mbrc`` in blocks,
        ``direct_share`` of all blocks read.

    Examples:
        >>> waits = pl.DataFrame({"event": ["db file sequential read", "db file scattered read"], "waits": [600, 50],
        ...     "total_wait_s": [1.0, 1.0]})
        >>> multiblock_reads(waits, waits.clear(), cache_reads=1000).select("metric", "value").rows()[:2]
        [('single_block_share', 0.6), ('effective_mbrc', 8.0)]
    """
    counts = {event: _both_waits(foreground, background, event) for event in (_SINGLE, _MULTI, _PARALLEL)}
    parallel = counts[_PARALLEL]
    inputs: dict[str, Figure] = {"cache_reads": cache_reads, "single": counts[_SINGLE]}

    def share(cache_reads: Interval, single: Interval) -> Interval:
        nearly = Interval(single.value, min(single.lo, cache_reads.hi), single.hi)
        is_skew = single.lo <= cache_reads.hi * (1 + _SKEW)
        need_part("waits for single blocks", nearly if is_skew else single, "blocks read into the cache", cache_reads)
        return clip_share(nearly / cache_reads)

    def mbrc(cache_reads: Interval, single: Interval, scattered: Interval) -> Interval:
        need_part("waits for single blocks", single, "the blocks read into the cache", cache_reads)
        found = (cache_reads - single) / scattered
        if found.lo > _MOST_BLOCKS:
            raise RefusedError(f"{show(found)} blocks a scattered read: the blocks of other reads are in it")
        if found.hi < 1:
            raise RefusedError(f"{show(found)} blocks a scattered read: reads without a block do not exist")
        return found if parallel is None else Interval(max(found.value, 1.0), 1.0, max(found.hi, 1.0))

    made = [
        evaluate("single_block_share", "ratio", f"waits of {_SINGLE} / physical reads cache", inputs, share),
        evaluate(
            "effective_mbrc",
            "blocks",
            f"(physical reads cache - waits of {_SINGLE}) / waits of {_MULTI}",
            {**inputs, "scattered": counts[_MULTI]},
            mbrc,
            () if parallel is None else (f"an upper bound: {show(parallel)} waits of {_PARALLEL} read blocks, too",),
        ),
    ]
    parts: dict[str, Figure] = {"cache_reads": cache_reads, "blocks_read": blocks_read}

    def direct(cache_reads: Interval, blocks_read: Interval) -> Interval:
        need_part("blocks read into the cache", cache_reads, "all blocks read", blocks_read)
        return clip_share(1 - cache_reads / blocks_read)

    made.append(evaluate("direct_share", "ratio", "1 - physical reads cache / physical reads", parts, direct))
    return metrics_frame(made)


def _both_waits(foreground: pl.DataFrame, background: pl.DataFrame, event: str) -> Interval | None:
    found = [one[0] for one in (_wait_of(foreground, event), _wait_of(background, event)) if one is not None]
    return sum(found[1:], found[0]) if found else None


def pareto(
    table: pl.DataFrame, value: str, *, names: Sequence[str], whole: Figure = None, largest: int | None = None
) -> pl.DataFrame:
    """Which few rows hold most of a quantity: each with its share and that of all before it and itself.

    The base is the whole where it is given (`physical reads` of the instance for the segments' reads); else the sum of
    the rows, which is not all: a report lists the largest only.  Refused where the rows are more than the whole.

    Source: arithmetic; Juran's use of Pareto's curve.

    Limitations: as what to tune: the segment that is read most may be read well.

    Args:
        table: such as `segments` of one order (``ordered_by``), or `file_io`.
        value: the column that is summed.
        names: the columns that name a row.
        whole: what all rows, the unlisted ones among them, add up to.
        largest: this many rows; by default all.

    Returns:
        One row each, the largest first: ``rank``, ``name``, then `METRICS`: ``cumulative_share``, a ratio; the basis
        holds its own share.

    Examples:
        >>> reads = pl.DataFrame({"object": ["T", "I"], "value": [30, 60]})
        >>> pareto(reads, "value", names=["object"], whole=100).select("rank", "name", "value").rows()
        [(1, 'I', 0.6), (2, 'T', 0.9)]
    """
    known = table.filter(pl.col(value).is_not_null()).sort(value, descending=True, maintain_order=True)
    figures = [row_figure(row, value) or Interval.exact(0) for row in known.iter_rows(named=True)]
    total = Interval.exact(0)
    for one in figures:
        total += one
    base = total if whole is None else Interval.of(whole)
    said = "the rows listed" if whole is None else "the whole"
    labels: list[str] = []
    metrics: list[Metric] = []
    reached = Interval.exact(0)
    for row, one in zip(known.head(largest or known.height).iter_rows(named=True), figures, strict=False):
        reached += one
        labels.append(".".join(str(row[name]) for name in names if row[name] is not None))
        own = "?" if base.lo <= 0 else f"{(one / base).value:.1%}"
        inputs: dict[str, Figure] = {"part": reached, "whole": base}

        def share(part: Interval, whole: Interval) -> Interval:
            need_part(f"the rows' {value}", part, "the whole", whole)
            return clip_share(part / whole)

        metrics.append(evaluate("cumulative_share", "ratio", f"of {said}; its own share is {own}", inputs, share))
    ranks = pl.Series(range(1, len(labels) + 1), dtype=pl.Int64)
    return metrics_frame(metrics, rank=ranks, name=pl.Series(labels, dtype=pl.String))


#: Waits for blocks from cells; from 19c on the event may say from where: `...: flash cache`, `...: xrmem cache`.
_READS: Final = (
    "cell single block physical read",
    "cell multiblock physical read",
    "cell list of blocks physical read",
)
#: A read from flash takes less, one from an idle disk no more.
_SLOW_US: Final = 16_000.0
#: What cells measure of requests, and the columns of the disks.
_MEASURES: Final = {
    "Small Read (ms)": "small_read_ms",
    "Large Read (ms)": "large_read_ms",
    "Small Write (ms)": "small_write_ms",
    "Large Write (ms)": "large_write_ms",
}
_ALL: Final = "All"
#: With a standard deviation of this many means, few requests make the mean.
_WILD: Final = 3.0


def cell_reads(
    foreground: pl.DataFrame, event_histogram: pl.DataFrame | None = None, *, slow_us: float = _SLOW_US
) -> pl.DataFrame:
    """How long sessions waited for blocks from cells: the average, percentiles, and the share of outliers.

    Flash answers within a millisecond and an idle disk within about 16, so a longer wait is one for a queue or a retry.
    Where the event says from where the block came (19c: `cell single block physical read: flash cache`) each place is
    a row of its own; in older releases one event holds both, and its average is of neither.

    Source: Oracle Exadata Storage Server Software User's Guide, cell wait events; the report's wait event histograms.

    Limitations: a wait for several blocks (`cell list of blocks physical read`) is not one read.  Smart scans have
    waits of their own (`cell smart table scan`), which are no latencies of reads.  The histogram holds background
    waits, too; where it has no edge at ``slow_us``, the share is known between bounds only.

    Args:
        foreground: the table `foreground_events` of a report, with its bounds.
        event_histogram: its table `event_histogram`, with its bounds, where it has one.
        slow_us: from this time on a wait is an outlier.

    Returns:
        Rows for each event: ``event``, then `METRICS`: ``avg_wait_ms``, ``wait_us_p50``, ``wait_us_p95``,
        ``wait_us_p99`` and ``share_within_16000_us`` (of the waits that are no outliers).

    Examples:
        >>> waits = pl.DataFrame({"event": ["cell single block physical read: flash cache", "log file sync"],
        ...     "waits": [1000, 10], "total_wait_s": [0.4, 1.0], "avg_wait_ms": [0.4, 100.0]})
        >>> cell_reads(waits).select("event", "metric", "value").rows()
        [('cell single block physical read: flash cache', 'avg_wait_ms', 0.4)]
    """
    is_read = pl.any_horizontal((pl.col("event") == one) | pl.col("event").str.starts_with(f"{one}:") for one in _READS)
    reads = foreground.filter(is_read.fill_null(value=False)).unique("event", keep="first", maintain_order=True)
    parts = [average_waits(reads)]
    if event_histogram is not None and reads.height:
        events = reads.get_column("event").to_list()
        parts.append(latency_quantiles(event_histogram, events=events))
        parts.append(waits_within(event_histogram, to_us=slow_us, events=events))
    found = pl.concat([part.select("event", *METRICS) for part in parts])
    order = {event: place for place, event in enumerate(reads.get_column("event"))}
    return found.sort(pl.col("event").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)


def cell_disks(outliers: pl.DataFrame, latency: pl.DataFrame) -> pl.DataFrame:
    """What cells measured of requests to flash and disks: the mean of each type, and the slowest disk beside it.

    The mean of a type is refused where its standard deviation is three times the mean or more: then a few requests of
    minutes make it, and it is the time of none.  ``slowest`` is the slowest disk that the report lists, as a multiple
    of the mean; ``beyond_range`` counts the cells and disks that the report itself names as beyond its normal range.

    Source: Oracle Database Reference, AWR report sections `Exadata Cell Server IO Latency`; one standard deviation
    around the mean is the report's normal range of cells, two that of disks.

    Limitations: of all databases on the cells, and of smart scans, too; times hold the queue of the cells'
    resource manager.  A disk that is not among the slowest ones listed may still be slow.

    Args:
        outliers: the table `exadata_outliers` of a report, with its bounds.
        latency: its table `exadata_server_latency`, with its bounds.

    Returns:
        Rows for each type of disk and kind of request: ``disk_type``, then `METRICS`: such as ``small_read_ms``,
        ``small_read_slowest`` (x), ``small_read_beyond_range`` (a count).

    Examples:
        >>> outliers = pl.DataFrame({"section": ["server_latency"], "disk_type": ["F"], "cell": ["All"],
        ...     "disk": ["All"], "measure": ["Small Read (ms)"], "mean": [0.5], "sd": [0.1]})
        >>> disks = pl.DataFrame({"disk_type": ["F"], "cell": ["c1"], "disk": ["FD_00"], "small_read_ms": [2.0]})
        >>> cell_disks(outliers, disks).select("metric", "value").rows()
        [('small_read_ms', 0.5), ('small_read_slowest', 4.0), ('small_read_beyond_range', 0.0)]
    """
    rows = outliers.filter(section="server_latency").filter(pl.col("measure").is_in(list(_MEASURES)))
    types: list[str] = []
    made: list[Metric] = []
    of_disks = rows.filter(cell=_ALL, disk=_ALL)
    for row in of_disks.iter_rows(named=True):
        column = _MEASURES[row["measure"]]
        beyond = rows.filter(disk_type=row["disk_type"], measure=row["measure"]).filter(pl.col("cell") != _ALL)
        listed = latency.filter(pl.col("disk_type") == row["disk_type"], pl.col("disk").is_not_null())
        metrics = _of_disks(row, column, listed, beyond.height)
        types += [row["disk_type"]] * len(metrics)
        made += metrics
    return metrics_frame(made, disk_type=pl.Series(types, dtype=pl.String))


def _of_disks(row: dict[str, object], column: str, listed: pl.DataFrame, beyond: int) -> Sequence[Metric]:
    """Mean, slowest disk and number beyond the range, of one kind of request to one type of disk."""
    mean, spread = row_figure(row, "mean"), row_figure(row, "sd")
    name = column.removesuffix("_ms")
    basis = f"mean of {row['measure']} over the disks of type {row['disk_type']}"
    found = Metric(f"{name}_beyond_range", float(beyond), float(beyond), float(beyond), "", "cells and disks named")
    if mean is None:
        return [Metric.refused(column, "ms", "the report does not show it", basis=basis), found]
    if spread is not None and spread.lo >= _WILD * mean.hi:
        reason = f"its standard deviation is {show(spread)} ms: a few requests make the mean of {show(mean)} ms"
        return [Metric.refused(column, "ms", reason, basis=basis), found]
    metrics = [Metric(column, mean.value, mean.lo, mean.hi, "ms", basis), found]
    slowest = listed.filter(pl.col(column).is_not_null()).sort(column, descending=True, maintain_order=True)
    if slowest.height and mean.lo > 0:
        one = slowest.row(0, named=True)
        time = row_figure(one, column)
        if time is not None:
            ratio = time / mean
            basis = f"{one['disk']} of {one['cell']}, {show(time)} ms, over the mean of its type"
            metrics.insert(1, Metric(f"{name}_slowest", ratio.value, ratio.lo, ratio.hi, "x", basis))
    return metrics
