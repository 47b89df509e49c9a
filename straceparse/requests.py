"""I/O requests: file, size, offset, submission and completion of each request, for all calls that do I/O.

A synchronous request is one call.  An asynchronous one is submitted by ``io_submit`` and reaped by ``io_getevents``;
strace never prints the address of the control block, so the two are matched by `data` where the program sets it
(Oracle does), else by size, else by order, within one context.
"""

from __future__ import annotations

from typing import Final, TypeVar

import polars as pl

from straceparse.aio import async_requests
from straceparse.arguments import is_escaped, unescaped
from straceparse.descriptors import DESCRIPTOR_CALLS, files_of
from straceparse.records import PARTS_GRAMMAR
from straceparse.restarts import restarts_of
from straceparse.schema import DURATION, number
from straceparse.system_calls import CALLS
from straceparse.transfers import PARSED_CALLS, transfer_of

#: Columns of the requests frame, one row per I/O request.
REQUESTS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "end_line": pl.UInt32(),
        "pid": pl.Int32(),
        "op": pl.Enum(["read", "write", "copy", "readahead", "sync", "poll", "other"]),
        "mode": pl.Enum(["sync", "async"]),
        "syscall": pl.String(),
        "fd": pl.Int32(),
        "file": pl.String(),
        "fd_out": pl.Int32(),
        "file_out": pl.String(),
        "bytes_requested": pl.Int64(),
        "bytes_transferred": pl.Int64(),
        "offset": pl.Int64(),
        "requests": pl.UInt32(),
        "restarts": pl.UInt32(),
        "wall": pl.Datetime("ns", "UTC"),
        "time_of_day": pl.Time(),
        "submitted": DURATION,
        "completed": DURATION,
        "latency": DURATION,
        "latency_hi": DURATION,
        "latency_from": pl.Enum(["T", "stamps", "poll", "gap"]),
        "gap": DURATION,
        "match": pl.Enum(["data", "size", "order", "none"]),
        "is_printed": pl.Boolean(),
        "errno": pl.String(),
    }
)

#: Synchronous calls -> operation.
SYNC_CALLS: Final = {
    "read": "read",
    "pread64": "read",
    "readv": "read",
    "preadv": "read",
    "preadv2": "read",
    "write": "write",
    "pwrite64": "write",
    "writev": "write",
    "pwritev": "write",
    "pwritev2": "write",
    "fsync": "sync",
    "fdatasync": "sync",
    "sync_file_range": "sync",
    "sync": "sync",
    "syncfs": "sync",
    "msync": "sync",
    "sendfile": "copy",
    "sendfile64": "copy",
    "copy_file_range": "copy",
    "splice": "copy",
    "tee": "copy",
    "readahead": "readahead",
}
#: Calls that carry asynchronous requests.
ASYNC_CALLS: Final = ("io_submit", "io_getevents", "io_pgetevents", "io_uring_enter")

_FD: Final = PARTS_GRAMMAR.pattern("^{FD_NAME}?({INTEGER})")
_LAST: Final = PARTS_GRAMMAR.pattern("{COMMA}{SIZE_NAME}?({INTEGER})$")
_LAST_TWO: Final = PARTS_GRAMMAR.pattern(
    "{COMMA}{SIZE_NAME}?(?P<count>{INTEGER}){COMMA}{OFFSET_NAME}?(?P<offset>{INTEGER})$"
)
_PLAIN_TWO: Final = PARTS_GRAMMAR.pattern("{COMMA}(?P<count>{DECIMAL}){COMMA}(?P<offset>{DECIMAL})$")
#: The last two numbers of a call, and its descriptor, are no longer than this; without names (-N) they are shorter.
_WIDTH: Final = 64
_PLAIN_WIDTH: Final = 44

FrameType = TypeVar("FrameType", pl.DataFrame, pl.LazyFrame)


def io_requests(calls: FrameType) -> FrameType:
    """The I/O requests of a log, one row per request, in the order of their calls.

    Args:
        calls: the result of `calls`, unfiltered: the calls that open and close determine the files of descriptors.  A
            column ``file`` with the path of the log is renamed to ``log``, as ``file`` is the file read or written.

    Returns:
        The columns of `straceparse.REQUESTS`; a LazyFrame for a LazyFrame.

        * ``op``: ``read`` and ``write`` between a file and the process; ``copy`` within the kernel, from ``fd`` to
          ``fd_out`` (sendfile, copy_file_range, splice, tee); ``readahead``: into the page cache, of an unknown number
          of bytes; ``sync`` (fsync, fdatasync, sync, syncfs, msync, sync_file_range), ``poll``, ``other``
        * ``mode``: ``sync`` or ``async``;  ``syscall``: the call that carried it
        * ``fd``, ``file``: file from ``-y``, or from the open, dup, fcntl and close calls in the log; ``fd_out``,
          ``file_out``: the destination of a copy
        * ``bytes_requested``, ``bytes_transferred``: the size requested, and the size that the kernel reports; null of
          a failed call
        * ``offset``: in the file, if the call or its control block has one; null for the current position of the file
        * ``requests``: number of requests in the row: 1, except for ``io_uring_enter``, whose requests are in memory
          that strace does not see: one row per call, with their number only
        * ``restarts``: how often a signal interrupted the call and the kernel restarted it; the row then goes from the
          first start to the last end
        * ``wall``: ``submitted`` in UTC (``-ttt``);  ``time_of_day``: as local time (``-t``, ``-tt``)
        * ``submitted``, ``completed``: since the log's first timestamp
        * ``latency``: ``completed`` - ``submitted``.  For a synchronous request the ``elapsed`` of the call; for an
          asynchronous one until it was reaped, by ``latency_from``: the end of the reaping call (``T``,
          ``stamps``); its start, if a timeout of zero keeps it from waiting (``poll``); or the start of the next line
          (``gap``: an upper bound, all that ``-r`` allows)
        * ``latency_hi``: the time printed is truncated, so the latency is below this (``-T``); null where the log does
          not show its last decimal
        * ``gap``: of a synchronous request, as in `calls`
        * ``match``: how an asynchronous request was matched to its completion: ``data``, ``size``, ``order``; ``none``
          if one of the two is not in the log.  Null for synchronous requests.
        * ``errno``: ``EINVAL``...; of an asynchronous request, from the negative result of its completion
        * ``is_printed``: false for the requests of a list that strace truncated (after 32, without ``-v``) or could not
          print: they are counted, and their sizes are null, so a sum of bytes is a lower bound

    Examples:
        >>> from straceparse import calls, read_strace
        >>> log = b'''     0.000000 io_submit(14, 1, {{data:0x7fe3, pread, filedes:268, nbytes:8192, offset:512}}) = 1
        ...      0.000245 io_getevents(14, 1, 128, {{0x7fe3, 0x7fe3, 8192, 0}}, {0, 0}) = 1'''
        >>> io_requests(calls(read_strace(log))).select("op", "mode", "bytes_transferred", "offset", "latency", "match")
        shape: (1, 6)
        ┌──────┬───────┬───────────────────┬────────┬──────────────┬───────┐
        │ op   ┆ mode  ┆ bytes_transferred ┆ offset ┆ latency      ┆ match │
        │ ---  ┆ ---   ┆ ---               ┆ ---    ┆ ---          ┆ ---   │
        │ enum ┆ enum  ┆ i64               ┆ i64    ┆ duration[ns] ┆ enum  │
        ╞══════╪═══════╪═══════════════════╪════════╪══════════════╪═══════╡
        │ read ┆ async ┆ 8192              ┆ 512    ┆ 245µs        ┆ data  │
        └──────┴───────┴───────────────────┴────────┴──────────────┴───────┘
    """
    if isinstance(calls, pl.LazyFrame):
        unused = ("syscall", "result_text", "note")
        return _requests_of(calls.drop(unused, strict=False).collect()).lazy()
    return _requests_of(calls)


def _requests_of(calls: pl.DataFrame) -> pl.DataFrame:
    """The requests of calls in memory."""
    calls = calls.rename({"file": "log"}, strict=False)
    others = [name for name in calls.columns if name not in CALLS]
    names = [*SYNC_CALLS, *ASYNC_CALLS, *DESCRIPTOR_CALLS]
    numbered = calls.filter(pl.col("state") != "resumed").with_row_index("_row")
    rows = numbered.filter(pl.col("name").is_in(names))
    found = [_with_restarts(_sync_requests(rows, others), numbered)]
    if rows.get_column("name").is_in(ASYNC_CALLS).any():
        found.append(async_requests(rows.filter(pl.col("name").is_in(ASYNC_CALLS)), others))
    requests = pl.concat(found, how="diagonal_relaxed").sort("_row", "_place", nulls_last=False)
    return _with_files(_with_plain_paths(requests), rows).select(
        *others, *(pl.col(name).cast(dtype, strict=False).alias(name) for name, dtype in REQUESTS.items())
    )


def _sync_requests(rows: pl.DataFrame, others: list[str]) -> pl.DataFrame:
    """Requests that are one call each."""
    calls = rows.filter(pl.col("name").is_in(list(SYNC_CALLS)))
    name, op = pl.col("name"), pl.col("name").replace_strict(SYNC_CALLS, default="other")
    result = pl.when(pl.col("result") >= 0).then("result")
    requests = _with_sizes(calls.lazy()).select(
        *others,
        "_row",
        "line",
        "end_line",
        "pid",
        op.alias("op"),
        pl.lit("sync").alias("mode"),
        name.alias("syscall"),
        pl.col("_fd").alias("fd"),
        pl.col("fd_path").alias("file"),
        pl.col("_count").alias("bytes_requested"),
        pl.when(op.is_in(["read", "write", "copy"])).then(result).alias("bytes_transferred"),
        pl.col("_offset").alias("offset"),
        pl.lit(1, pl.UInt32).alias("requests"),
        pl.lit(0, pl.UInt32).alias("restarts"),
        "wall",
        "time_of_day",
        pl.col("start").alias("submitted"),
        pl.col("end").alias("completed"),
        pl.col("elapsed").alias("latency"),
        pl.col("elapsed_hi").alias("latency_hi"),
        pl.col("elapsed_from").cast(pl.String).alias("latency_from"),
        "gap",
        pl.lit(None, pl.String).alias("match"),
        pl.lit(value=True).alias("is_printed"),
        "errno",
        pl.lit(0, pl.UInt32).alias("_place"),
    )
    return _with_parsed(requests.collect(), calls)


def _with_sizes(calls: pl.LazyFrame) -> pl.LazyFrame:
    """The calls with the numbers among their arguments: descriptor, size and offset.

    Most are plain decimals, matched by a short pattern; only the others need the pattern with names and bases.
    """
    name, args = pl.col("name"), pl.col("args")
    # the numbers are the last arguments, so the patterns do not search the buffer before them
    head, tail = args.str.head(_WIDTH), args.str.tail(_WIDTH)
    is_placed, is_sized = name.is_in(["pread64", "pwrite64"]), name.is_in(["read", "write"])
    plain, placed = pl.col("_plain").struct, pl.col("_placed").struct
    return (
        calls.with_columns(
            args.str.head(args.str.find(PARTS_GRAMMAR.literal("COMMA")[0], literal=True).fill_null(_WIDTH))
            .cast(pl.Int64, strict=False)
            .alias("_fd"),
            pl.when(is_placed).then(args.str.tail(_PLAIN_WIDTH)).str.extract_groups(_PLAIN_TWO).alias("_plain"),
            pl.when(is_sized).then(tail).str.extract(_LAST, 1).alias("_last"),
        )
        .with_columns(
            pl.when(is_placed & plain.field("count").is_null())
            .then(tail)
            .str.extract_groups(_LAST_TWO)
            .alias("_placed"),
        )
        .with_columns(
            pl.coalesce("_fd", number(pl.when(pl.col("_fd").is_null()).then(head).str.extract(_FD, 1))).alias("_fd"),
            pl.coalesce(_decimal(plain.field("count")), number(placed.field("count")), number(pl.col("_last"))).alias(
                "_count"
            ),
            pl.coalesce(_decimal(plain.field("offset")), number(placed.field("offset"))).alias("_offset"),
        )
    )


def _decimal(text: pl.Expr) -> pl.Expr:
    return text.cast(pl.Int64, strict=False)


def _with_parsed(requests: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The requests, with descriptors, sizes and offsets of the calls whose arguments are parsed."""
    parsed = calls.filter(pl.col("name").is_in(PARSED_CALLS))
    if parsed.is_empty():
        nothing = {"fd_out": pl.Int64, "file_out": pl.String}
        return requests.with_columns(pl.lit(None, dtype).alias(name) for name, dtype in nothing.items())
    texts = parsed.select("name", "args").unique(maintain_order=True)
    names = ("_fd", "_path", "_size", "_at", "fd_out", "file_out", "_whole")
    types = (pl.Int64, pl.String, pl.Int64, pl.Int64, pl.Int64, pl.String, pl.Boolean)
    found = pl.DataFrame(
        [transfer_of(name, args) for name, args in texts.iter_rows()],
        schema=dict(zip(names, types, strict=True)),
        orient="row",
    )
    found = parsed.select("_row", "name", "args").join(
        pl.concat([texts, found], how="horizontal"), on=["name", "args"], how="left"
    )
    is_parsed = pl.col("_whole").is_not_null()
    return (
        requests.join(found.drop("name", "args"), on="_row", how="left", maintain_order="left")
        .with_columns(
            pl.when(is_parsed).then("_fd").otherwise("fd").alias("fd"),
            pl.when(is_parsed).then("_path").otherwise("file").alias("file"),
            pl.coalesce("bytes_requested", "_size").alias("bytes_requested"),
            pl.coalesce("offset", "_at").alias("offset"),
            pl.coalesce("_whole", "is_printed").alias("is_printed"),
        )
        .drop("_fd", "_path", "_size", "_at", "_whole")
    )


def _with_restarts(requests: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the retries of an interrupted call joined to it."""
    retries = restarts_of(calls, list(SYNC_CALLS))
    if retries.is_empty():
        return requests
    ends = retries.join(
        calls.select("_row", "end_line", "end", "elapsed", "elapsed_hi", "gap", "start", "result", "errno"), on="_row"
    ).sort("_row")
    elapsed = pl.col("elapsed").sum()
    last = ends.group_by("_root", maintain_order=True).agg(
        pl.col("end_line", "end", "gap", "start", "result", "errno").last().name.prefix("_"),
        pl.len().cast(pl.UInt32).alias("_restarts"),
        pl.when(pl.col("elapsed").is_not_null().all()).then(elapsed).alias("_elapsed"),
        pl.when(pl.col("elapsed_hi").is_not_null().all()).then(pl.col("elapsed_hi").sum()).alias("_elapsed_hi"),
    )
    is_restarted = pl.col("_restarts").is_not_null()
    has_bytes = pl.col("op").is_in(["read", "write", "copy"]) & (pl.col("_result") >= 0)
    between = pl.col("_end") - pl.col("submitted")
    has_clock = between.is_not_null()
    columns = {
        "end_line": pl.col("_end_line"),
        "completed": pl.col("_end"),
        "gap": pl.col("_start") + pl.col("_gap") - pl.col("submitted"),
        "bytes_transferred": pl.when(has_bytes).then("_result"),
        "errno": pl.col("_errno"),
        "latency": pl.coalesce(between, pl.col("latency") + pl.col("_elapsed")),
        "latency_hi": pl.when(~has_clock).then(pl.col("latency_hi") + pl.col("_elapsed_hi")),
        "latency_from": pl.when(has_clock).then(pl.lit("stamps")).otherwise("latency_from"),
        "restarts": pl.col("_restarts"),
    }
    joined = requests.join(retries.select("_row"), on="_row", how="anti", maintain_order="left").join(
        last.rename({"_root": "_row"}), on="_row", how="left", maintain_order="left"
    )
    return joined.with_columns(
        pl.when(is_restarted).then(column).otherwise(name).alias(name) for name, column in columns.items()
    ).select(requests.columns)


def _with_plain_paths(requests: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the escapes of the paths that ``-y`` prints undone, as those of an open's path are."""
    files = pl.concat([requests.get_column("file"), requests.get_column("file_out")]).unique()
    escaped = [file for file in files if file is not None and is_escaped(file)]
    if not escaped:
        return requests
    plain = [unescaped(file).decode("utf-8", errors="backslashreplace") for file in escaped]
    return requests.with_columns(pl.col("file", "file_out").replace(escaped, plain))


def _with_files(requests: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the file of each descriptor where ``-y`` does not print it.

    In a ``-ff`` set the threads of a process are in different files, so their calls are put in the order of time.
    """
    is_set = not rows.get_column("line").is_sorted() and not rows.get_column("start").has_nulls()
    turns = rows.sort("start", maintain_order=True).with_row_index("_turn") if is_set else rows
    turns = turns if is_set else turns.with_columns(pl.col("_row").alias("_turn"))
    files = files_of(turns.drop("_row").rename({"_turn": "_row"}))
    if files.is_empty():
        return requests
    owner = pl.col("pid").fill_null(-1).alias("_owner")
    known = files.select(pl.col("_row").alias("_turn"), owner, "fd", pl.col("file").alias("_file")).sort("_turn")
    wanted = requests.with_columns(pl.col("_row").cast(pl.UInt32), owner).with_row_index("_order")
    wanted = wanted.join(turns.select("_row", "_turn"), on="_row").sort("_turn", "_order")
    for fd, file in (("fd", "file"), ("fd_out", "file_out")):
        if wanted.get_column(fd).null_count() < wanted.height:
            wanted = wanted.with_columns(pl.col(fd).cast(pl.Int32, strict=False))
            found = wanted.join_asof(
                known.rename({"fd": fd}, strict=False), on="_turn", by=["_owner", fd], check_sortedness=False
            )
            wanted = found.with_columns(pl.coalesce(file, "_file").alias(file)).drop("_file")
    return wanted.sort("_order")
