"""Metrics of the reads, writes and flushes in an strace log: sizes, rate, latency, sequence.

The frames are what `straceparse.io_requests` gives.  Bytes are what the kernel returned, not what was asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from iolab.metrics.table import (
    REFUSED,
    SET_BACK,
    UPPER_BOUND,
    Metric,
    bounds_of,
    evaluate,
    is_set_back,
    metrics_frame,
    nanoseconds,
    spread,
    tick_of,
    window,
)
from straceparse.call_table import HIDDEN, IO_CALLS, SUBMITS
from straceparse.descriptors import is_library
from straceparse.ordered import rows_where

if TYPE_CHECKING:
    from logframe.interval import Figure, Interval

Op = Literal["read", "write", "sync"]
#: What stands for the file of a request where the log tells neither it nor its descriptor.
NOT_KNOWN: Final = "(not known)"
#: Targets of requests on storage, and those that may be.
STORAGE: Final = ("file", "block")
NOT_NAMED: Final = ("unknown", "standard")
#: A read of a descriptor that the log does not name is taken for one of data where it is of whole sectors.
SECTOR: Final = 512
#: Calls that only files and devices can be read or written by.
_OF_FILES: Final = tuple(name for name, call in IO_CALLS.items() if call.is_of_file)
#: A scan skips the blocks of a segment's own; more of them than this are a jump.
MAX_SKIPPED_BLOCKS: Final = 16
#: A request of a list that strace cut, or did not print: it was submitted, and is known by number only.
_IS_CUT: Final = pl.col("syscall").is_in(SUBMITS) & ~pl.col("is_printed") & pl.col("bytes_transferred").is_null()
#: The columns of the requests that the rate of reads needs, and their latency.
_OF_WINDOW: Final = ("line", "end_line", "pid", "mode", "bytes_transferred", "submitted", "completed", "latency_from")
_OF_LATENCY: Final = ("latency", "latency_hi", "latency_from", "gap", "match")
_AT_LEAST: Final = "bytes and requests are a lower bound"
_REAPED: Final = "from the submission to the call that reaped it: the read may have been done before"


def data_reads(requests: pl.DataFrame) -> pl.DataFrame:
    """The reads of files and block devices, of any size, and asynchronous ones that failed or are not done.

    Left out are reads of sockets, pipes, terminals, devices without data and ``/proc``, the ends of files (0 bytes),
    synchronous calls that failed, and the loader's reads of libraries.  Of descriptors that the log does not name,
    `read` and `readv` of whole sectors (512 bytes) are counted, and `pread64` and its like, which no socket allows.
    Completions whose submission came before the log began, and the requests of a list that strace cut, are kept as
    ``op`` ``other`` unless the log has asynchronous writes, as strace does not say what they were.

    Args:
        requests: what `straceparse.io_requests` gives.

    Returns:
        The rows, unchanged.
    """
    return rows_where(requests, is_data_read(requests))


def is_data_read(requests: pl.DataFrame) -> pl.Expr:
    """Whether a request of this log is a read of data, as `data_reads` says."""
    op = pl.col("op")
    is_async = pl.col("mode") == "async"
    has_writes = requests.select((is_async & (op == "write")).any()).item()
    is_orphan = (pl.col("match") == "none") & pl.col("bytes_transferred").is_not_null()
    is_unnamed = is_async & (op == "other") & (is_orphan | _IS_CUT)
    wanted = op == "read" if has_writes else (op == "read") | is_unnamed
    return wanted & is_of_data(requests)


def is_of_data(requests: pl.DataFrame) -> pl.Expr:
    """Whether a request of this log moved data of a file or block device, or may have."""
    # a category is a number: each file once becomes a text, not each request
    names = requests.get_column("file").unique().cast(pl.String).to_frame()
    libraries = names.select(pl.col("file").filter(is_library(pl.col("file")))).to_series().to_list()
    size = pl.coalesce("bytes_transferred", "bytes_requested")
    is_async = pl.col("mode") == "async"
    is_one = pl.col("file").cast(pl.String).is_in(libraries).fill_null(value=False)
    of_loader = is_one if libraries else pl.lit(value=False)
    is_named = (pl.col("target").is_in(STORAGE) | (is_unnamed() & ~_may_be_other())).fill_null(value=False)
    is_elsewhere = ~is_named & ~pl.col("target").is_in(NOT_NAMED).fill_null(value=True)
    is_sector = size.is_null() | ((size % SECTOR == 0) & (size > 0))
    moved = pl.when(is_named).then(is_async | (pl.col("bytes_transferred").fill_null(1) > 0)).otherwise(is_sector)
    return (is_async | pl.col("errno").is_null()) & moved & ~of_loader & ~is_elsewhere


def is_unnamed() -> pl.Expr:
    """Whether the log does not say what the descriptor of a request is of."""
    return pl.col("target").is_in(NOT_NAMED).fill_null(value=False)


def _may_be_other() -> pl.Expr:
    """Whether a request may be of a socket or pipe where the log does not name its descriptor."""
    return ~pl.col("syscall").is_in(_OF_FILES) & (pl.col("mode") == "sync")


def is_data_request(requests: pl.DataFrame, op: Op) -> pl.Expr:
    """Whether a request is a read or write of data (`data_reads`), or a flush of a file that did not fail."""
    if op == "read":
        return is_data_read(requests)
    is_own = pl.col("op") == op
    return is_own & (pl.col("errno").is_null() if op == "sync" else is_of_data(requests))


def write_sizes(requests: pl.DataFrame) -> pl.DataFrame:
    """Writes of data, their bytes, and the average write.

    Source: pwrite(2), io_getevents(2): the bytes that the call returned.

    Limitations: as for `read_sizes`; what is written through memory (mmap) is not in the log.

    Args:
        requests: what `straceparse.io_requests` gives.

    Returns:
        Three rows (`METRICS`): ``writes``, ``bytes_written``, ``avg_write_bytes``; no upper bounds where requests are
        not in the log.

    Examples:
        >>> from straceparse import calls, io_requests, read_strace
        >>> log = b'1.000000 pwrite64(3</u01/redo.log>, "", 1024, 512) = 1024 <0.000200>'
        >>> write_sizes(io_requests(calls(read_strace(log)))).get_column("value").to_list()
        [1.0, 1024.0, 1024.0]
    """
    done = requests.select(pl.col("bytes_transferred").filter(is_data_request(requests, "write")).drop_nulls())
    sizes = done.to_series()
    caveats = _hidden(requests)
    counts = _counts(requests, "write", "writes", "bytes_written", caveats)
    inputs: dict[str, Figure] = {"size": int(sizes.sum()), "writes": sizes.len()}
    average = evaluate(
        "avg_write_bytes", "B", "bytes_written / writes", inputs, lambda size, writes: size / writes, caveats
    )
    return metrics_frame([*counts, average])


def read_sizes(requests: pl.DataFrame, *, block_size: int = 8192) -> pl.DataFrame:
    """Reads, their bytes, and the average read in bytes, KiB and blocks: exact, from the kernel's own figures.

    Source: pread(2), io_getevents(2): the bytes that the call returned, not those asked for.

    Limitations: the trace began or ended within the query, or follows one of several processes; or the
    block size is not the tablespace's.

    Args:
        requests: what `straceparse.io_requests` gives, or `data_reads` of it: it is applied here.
        block_size: bytes in a block of the database.

    Returns:
        Five rows (`METRICS`): ``reads``, ``bytes_read``, ``avg_read_bytes``, ``avg_read_kib``, ``blocks_per_read``.
        Where strace cut a list of requests, sizes are missing: then a caveat says so, and ``reads`` and ``bytes_read``
        have no upper bound.
    """
    done = requests.select(pl.col("bytes_transferred").filter(is_data_read(requests)).drop_nulls()).to_series()
    caveats = _hidden(requests)
    inputs: dict[str, Figure] = {"bytes_read": int(done.sum()), "reads": done.len()}

    def average(bytes_read: Interval, reads: Interval) -> Interval:
        return bytes_read / reads

    return metrics_frame(
        [
            *_counts(requests, "read", "reads", "bytes_read", caveats),
            evaluate("avg_read_bytes", "B", "bytes_read / reads", inputs, average),
            evaluate("avg_read_kib", "KiB", "bytes_read / reads / 1024", inputs, lambda **all_: average(**all_) / 1024),
            evaluate(
                "blocks_per_read",
                "blocks",
                f"bytes_read / reads / {block_size}",
                inputs,
                lambda **all_: average(**all_) / block_size,
                [f"in blocks of {block_size} B"],
            ),
        ]
    )


def _counts(requests: pl.DataFrame, op: Op, name: str, size: str, hidden: list[str]) -> list[Metric]:
    """Number and bytes of the reads or writes of data, and what descriptors of unknown kind change in them."""
    size_of = pl.col("bytes_transferred")
    moved = requests.filter((pl.col("op") == op) | is_data_request(requests, op), size_of.is_not_null())
    moved = moved.select(size_of, is_own=is_data_request(requests, op), is_open=is_unnamed() & _may_be_other())
    own = moved.filter("is_own").get_column("bytes_transferred")
    within = moved.filter("is_own", "is_open").get_column("bytes_transferred")
    beside = moved.filter(~pl.col("is_own"), "is_open", size_of > 0).get_column("bytes_transferred")
    caveats = list(hidden)
    if within.len() or beside.len():
        parts = [f"{within.len()} are counted"] * (within.len() > 0)
        parts += [f"{beside.len()}, not of whole 512-byte sectors, are left out"] * (beside.len() > 0)
        caveats.append(f"of {name} of descriptors that the log does not name, {' and '.join(parts)}")
    found = []
    for metric, unit, basis, (mine, less, more) in (
        (name, name, f"{name} completed", (own.len(), within.len(), beside.len())),
        (size, "B", "sum of the bytes returned", (int(one.sum()) for one in (own, within, beside))),
    ):
        hi = None if hidden else float(mine + more)
        found.append(Metric(metric, float(mine), float(mine - less), hi, unit, basis, "; ".join(caveats)))
    return found


def flush_count(requests: pl.DataFrame) -> pl.DataFrame:
    """How many times a program had data written to its device.

    Source: fsync(2), sync_file_range(2), msync(2).

    Limitations: writes of files opened with O_SYNC or O_DSYNC are flushes, too, and counted as writes.

    Args:
        requests: what `straceparse.io_requests` gives.

    Returns:
        One row (`METRICS`): ``flushes``.

    Examples:
        >>> from straceparse import calls, io_requests, read_strace
        >>> flush_count(io_requests(calls(read_strace(b"1.000000 fsync(3) = 0 <0.000200>")))).item(0, "value")
        1.0
    """
    count = requests.filter(is_data_request(requests, "sync")).height
    return metrics_frame([Metric.exact("flushes", count, "flushes", "calls completed")])


def read_rate(requests: pl.DataFrame, *, block_size: int = 8192) -> pl.DataFrame:
    """Bytes and reads per second, from the first read of the log to the last.

    The bytes and the time must be of the same reads, so the window depends on what the log shows:

    * both ends of every read (``-T``): all bytes / (last end - first start);
    * starts only (``-r``): the bytes of all reads but those started last / (last start - first start);
    * asynchronous reads without ``-T``: the bytes reaped after the first reap / (last reap - first reap).

    Source: strace(1), -r and -T; pread(2) and io_getevents(2) for the bytes.

    Limitations: strace slows every call, by tens of microseconds; and the time between the reads is in
    it.

    Args:
        requests: what `straceparse.io_requests` gives; `data_reads` is applied here.
        block_size: bytes in a block of the database.

    Returns:
        Four rows (`METRICS`): ``read_mib_per_s`` (MiB/s, 2^20 B), ``read_mb_per_s`` (MB/s, 10^6 B),
        ``reads_per_s`` (1/s), ``us_per_block`` (us).  Refused when the log does not show two moments, or its clock was
        set back.  Where strace cut a list of requests, or reads are left out because the log does not show when they
        ended (``-r`` with both kinds of reads), the rates have no upper bound.
    """
    is_read = requests.select(is_data_read(requests)).to_series()
    reads = rows_where(requests.select(_OF_WINDOW), is_read)
    set_back = is_set_back(reads, "submitted")
    found = None if set_back else _window(reads)
    if found is None:
        reason = SET_BACK if set_back else f"{REFUSED}the log shows no two moments between which reads were done"
        names = (("read_mib_per_s", "MiB/s"), ("read_mb_per_s", "MB/s"), ("reads_per_s", "1/s"), ("us_per_block", "us"))
        return metrics_frame([Metric(name, None, None, None, unit, "no reads", reason) for name, unit in names])
    total, count, seconds, rule, unplaced = found
    inputs: dict[str, Figure] = {"bytes": total, "reads": count, "seconds": seconds}
    caveats = ["the time between the reads is in it, and strace itself slows every call"]
    if unplaced:
        caveats.append(f"{unplaced} reads are left out, as the log does not show when they ended: the rate was higher")
    unknown = _hidden(requests)
    caveats += unknown

    def size_rate(unit: int) -> Metric:
        name, unit_name = ("read_mib_per_s", "MiB/s") if unit == 2**20 else ("read_mb_per_s", "MB/s")
        return evaluate(name, unit_name, rule, inputs, lambda seconds, **all_: all_["bytes"] / unit / seconds, caveats)

    rates = [
        size_rate(2**20),
        size_rate(10**6),
        evaluate("reads_per_s", "1/s", rule, inputs, lambda seconds, reads, **_: reads / seconds, caveats),
    ]
    per_block = evaluate(
        "us_per_block",
        "us",
        rule,
        inputs,
        lambda seconds, **all_: seconds * 10**6 / (all_["bytes"] / block_size),
        (*caveats, f"in blocks of {block_size} B"),
    )
    if unknown or unplaced:  # reads that are in neither the bytes nor the window: the rate was this or higher
        rates = [replace(one, hi=None) for one in rates]
        per_block = replace(per_block, lo=None)
    return metrics_frame([*rates, per_block])


def _hidden(requests: pl.DataFrame) -> list[str]:
    """What is reported where requests that may be of the kind in question have no size in the log."""
    cut = requests.filter(_IS_CUT & pl.col("op").is_in(["read", "other"])).height
    ring = hidden_requests(requests)
    return [
        *([f"strace did not print the size of {cut} requests: {_AT_LEAST}"] if cut else []),
        *([f"io_uring carried {ring} requests that strace does not show: {_AT_LEAST}"] if ring else []),
    ]


def hidden_requests(requests: pl.DataFrame) -> int:
    """How many requests were submitted in memory that strace does not see (io_uring)."""
    return int(requests.filter(pl.col("syscall").is_in(HIDDEN)).get_column("requests").sum() or 0)


def _window(reads: pl.DataFrame) -> tuple[int, int, Interval, str, int] | None:
    """Bytes, number and time of the reads between both moments of a log, how chosen, and how many are left out."""
    rows = reads.select(
        "line",
        "end_line",
        "bytes_transferred",
        is_async=pl.col("mode") == "async",
        start=nanoseconds("submitted"),
        end=nanoseconds("completed"),
        how=pl.col("latency_from"),
    )
    if rows.is_empty():
        return None
    tick = tick_of(pl.concat([rows.get_column("start"), rows.get_column("end")]))
    has_ends = rows.get_column("start").is_not_null() & rows.get_column("end").is_not_null()
    if has_ends.all() and not rows.get_column("how").is_in(["gap", "poll"]).any():
        inside, moments = rows, (rows.get_column("start").min(), rows.get_column("end").max())
        lines = (rows.get_column("line").min(), rows.get_column("end_line").max())
        rule = "all reads, from the first start to the last end"
        unplaced = 0
    else:
        by_end = bool(rows.get_column("is_async").any())
        stamp, line = ("end", "end_line") if by_end else ("start", "line")
        placed = rows.filter(pl.col(stamp).is_not_null())
        if placed.is_empty():
            return None
        unplaced = rows.get_column("bytes_transferred").count() - placed.get_column("bytes_transferred").count()
        moments = (placed.get_column(stamp).min(), placed.get_column(stamp).max())
        lines = (placed.get_column(line).min(), placed.get_column(line).max())
        inside = placed.filter(pl.col(stamp) > moments[0] if by_end else pl.col(stamp) < moments[1])
        rule = (
            "reads reaped after the first reap, from the first reap to the last"
            if by_end
            else "reads but the last, from the first start to the last start"
        )
    first, last = moments
    begin, end = lines
    if not (isinstance(first, int) and isinstance(last, int) and isinstance(begin, int) and isinstance(end, int)):
        return None
    if last - first <= 0:
        return None
    sizes = inside.get_column("bytes_transferred")
    seconds = window(first, last, lines=end - begin, tick=tick)
    return int(sizes.sum()), sizes.count(), seconds, rule, unplaced


def read_latency(requests: pl.DataFrame, op: Op = "read") -> pl.DataFrame:
    """How long reads, writes or flushes took: mean, median, 95th and 99th percentile and maximum, for each mode.

    Of a synchronous request it is the time in the call (``-T``, or the stamps of a split call); of an asynchronous one
    the time from submission to reaping.  A log without ``-T`` has only the gap to the next line, which holds the time
    after the call, too: then the rows are **upper bounds**: ``lo`` is 0, and the caveat begins with "an upper bound".

    Source: strace(1), -r and -T.

    Limitations: not the time of the device: strace's own time is in every call, the page cache answers in
    microseconds, and an asynchronous read may have been done long before it was reaped.

    Args:
        requests: what `straceparse.io_requests` gives; `data_reads` is applied here.
        op: ``read``, ``write`` (of data) or ``sync`` (flushes).

    Returns:
        Five rows a mode: ``mode`` (``sync``, ``async``), then `METRICS`: ``latency_us_mean``, ``latency_us_p50``,
        ``latency_us_p95``, ``latency_us_p99``, ``latency_us_max``, in us.  No rows for a mode that the log lacks.
    """
    modes: list[str] = []
    metrics: list[Metric] = []
    is_read = requests.select(is_data_request(requests, op)).to_series()
    modes_of = requests.get_column("mode")
    for mode in modes_of.filter(is_read).unique(maintain_order=True):
        reads = rows_where(requests.select(_OF_LATENCY), is_read & (modes_of == mode))
        found = _spread_of_sync(reads) if mode == "sync" else _spread_of_async(reads)
        modes += [str(mode)] * len(found)
        metrics += found
    return metrics_frame(metrics, mode=pl.Series(modes, dtype=pl.String))


def _spread_of_sync(reads: pl.DataFrame) -> list[Metric]:
    times = reads.get_column("latency")
    if times.null_count() < times.len():
        return spread(times, "latency_us", basis="time in the call (-T)", bounds=bounds_of(reads, "latency"))
    caveat = f"{UPPER_BOUND}: without -T the time until the next call is in it"
    return spread(reads.get_column("gap"), "latency_us", basis="gap to the next line", caveat=caveat, is_upper=True)


def _spread_of_async(reads: pl.DataFrame) -> list[Metric]:
    matched = reads.filter(pl.col("latency").is_not_null())
    how = matched.get_column("latency_from")
    basis = "submission to reaping, matched by " + ", ".join(
        sorted(matched.get_column("match").cast(pl.String).unique())
    )
    if how.is_in(["gap", "poll"]).any():
        caveat = f"{UPPER_BOUND}: {_REAPED}, and without -T the time until the next call may be in it"
        return spread(matched.get_column("latency"), "latency_us", basis=basis, caveat=caveat, is_upper=True)
    return spread(matched.get_column("latency"), "latency_us", basis=basis, caveat=_REAPED, is_difference=True)


def sequentiality(requests: pl.DataFrame, *, block_size: int = 8192) -> pl.DataFrame:
    """How far the reads of each file go straight on.

    ``contiguous_share``: the next read of the file starts where this one ends.  ``sequential_share``: it does, or it
    skips up to 16 blocks, as a full scan skips the blocks that describe the segment.  ``offset_step``: the
    distance from start to start that comes most often.

    Source: the offsets and lengths of pread(2) and io_submit(2).

    Limitations: not the order on disk: offsets are those in the file, and several processes that share a
    scan each see a part.

    Args:
        requests: what `straceparse.io_requests` gives; `data_reads` is applied here.
        block_size: bytes in a block of the database.

    Returns:
        Three rows a process and file with two reads or more: ``pid``, ``file`` (``fd N`` where the log does not tell),
        then `METRICS`.
    """
    placed = data_reads(requests).filter(pl.col("offset").is_not_null() & (pl.col("bytes_requested") > 0))
    keys = ["pid", "file"]
    steps = (
        placed.with_columns(file=file_or_fd())
        .sort("line", maintain_order=True)
        .with_columns(
            step=pl.col("offset") - pl.col("offset").shift(1).over(keys),
            before=pl.col("bytes_requested").shift(1).over(keys),
        )
        .drop_nulls("step")
    )
    pids: list[int | None] = []
    files: list[str] = []
    metrics: list[Metric] = []
    for (pid, file), rows in steps.group_by(keys, maintain_order=True):
        n = rows.height
        skip = pl.col("step") - pl.col("before")
        contiguous = rows.filter(skip == 0).height
        near = rows.filter(skip.is_between(0, MAX_SKIPPED_BLOCKS * block_size)).height
        modes = rows.get_column("step").value_counts().sort("count", "step", descending=[True, False])
        step, times = modes.row(0)
        basis = f"{n} steps from one read of the file to the next"
        skipped = modes.row(0)[0] - rows.filter(pl.col("step") == step).get_column("before").item(0)
        said = f"{skipped // block_size} blocks of {block_size} B are skipped" if skipped > 0 else ""
        rows_of = [
            Metric.exact("contiguous_share", contiguous / n, "ratio", basis),
            Metric.exact(
                "sequential_share", near / n, "ratio", basis, f"skips of up to {MAX_SKIPPED_BLOCKS} blocks count"
            ),
            Metric.exact("offset_step", float(step), "B", f"{times} of {basis}", said),
        ]
        metrics += rows_of
        pids += [pid if isinstance(pid, int) else None] * len(rows_of)
        files += [str(file)] * len(rows_of)
    return metrics_frame(metrics, pid=pl.Series(pids, dtype=pl.Int32), file=pl.Series(files, dtype=pl.String))


def file_or_fd() -> pl.Expr:
    """The file of a request, or ``fd N`` where the log does not tell it."""
    # not by pl.format, which panics in a query of a frame in several parts whose first has no row left
    return pl.coalesce(pl.col("file").cast(pl.String), pl.concat_str(pl.lit("fd "), "fd"), pl.lit(NOT_KNOWN))
