"""I/O requests: file, size, offset, submission and completion of each request, for all calls that do I/O.

A synchronous request is one call.  An asynchronous one is submitted by ``io_submit`` and reaped by ``io_getevents``;
strace never prints the address of the control block, so the two are matched by `data` where the program sets it
(Oracle does), else by size, else by order, within one context.
"""

from __future__ import annotations

from typing import Final, TypeVar

import polars as pl

from straceparse.aio import async_requests
from straceparse.arguments import is_escaped, parsed, unescaped
from straceparse.descriptors import DESCRIPTOR_CALLS, files_of
from straceparse.records import PARTS_GRAMMAR
from straceparse.schema import DURATION, number, whole
from straceparse.system_calls import CALLS
from straceparse.vectors import vector_size

#: Columns of the requests frame, one row per I/O request.
REQUESTS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "end_line": pl.UInt32(),
        "pid": pl.Int32(),
        "op": pl.Enum(["read", "write", "sync", "poll", "other"]),
        "mode": pl.Enum(["sync", "async"]),
        "syscall": pl.String(),
        "fd": pl.Int32(),
        "file": pl.String(),
        "bytes_requested": pl.Int64(),
        "bytes_transferred": pl.Int64(),
        "offset": pl.Int64(),
        "requests": pl.UInt32(),
        "submitted": DURATION,
        "completed": DURATION,
        "latency": DURATION,
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
}
#: Of these, the calls with a list of buffers.
VECTORED_CALLS: Final = ("readv", "preadv", "preadv2", "writev", "pwritev", "pwritev2")
#: Calls that carry asynchronous requests.
ASYNC_CALLS: Final = ("io_submit", "io_getevents", "io_pgetevents", "io_uring_enter")

_HERE: Final = -1
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

        * ``op``: ``read``, ``write``, ``sync`` (fsync and its like), ``poll``, ``other``;  ``mode``: ``sync`` or
          ``async``
        * ``syscall``: the call that carried it;  ``fd``;  ``file``: from ``-y``, or from the open, dup, fcntl and
          close calls in the log
        * ``bytes_requested``, ``bytes_transferred``: the size requested, and the size that the kernel reports; null of
          a failed call
        * ``offset``: in the file, if the call or its control block has one; null for the current position of the file
        * ``requests``: number of requests in the row: 1, except for ``io_uring_enter``, whose requests are in memory
          that strace does not see: one row per call, with their number only
        * ``submitted``, ``completed``: since the log's first timestamp
        * ``latency``: ``completed`` - ``submitted``.  For a synchronous request the ``elapsed`` of the call; for an
          asynchronous one until it was reaped, by ``latency_from``: the end of the reaping call (``T``,
          ``stamps``); its start, if a timeout of zero keeps it from waiting (``poll``); or the start of the next line
          (``gap``: an upper bound, all that ``-r`` allows)
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
        unused = ("wall", "syscall", "result_text", "note")
        return _requests_of(calls.drop(unused, strict=False).collect()).lazy()
    return _requests_of(calls)


def _requests_of(calls: pl.DataFrame) -> pl.DataFrame:
    """The requests of calls in memory."""
    calls = calls.rename({"file": "log"}, strict=False)
    others = [name for name in calls.columns if name not in CALLS]
    rows = calls.filter(
        pl.col("name").is_in([*SYNC_CALLS, *ASYNC_CALLS, *DESCRIPTOR_CALLS]) & (pl.col("state") != "resumed")
    ).with_row_index("_row")
    found = [_sync_requests(rows, others)]
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
        pl.when(op != "sync").then(result).alias("bytes_transferred"),
        pl.col("_offset").alias("offset"),
        pl.lit(1, pl.UInt32).alias("requests"),
        pl.col("start").alias("submitted"),
        pl.col("end").alias("completed"),
        pl.col("elapsed").alias("latency"),
        pl.col("elapsed_from").cast(pl.String).alias("latency_from"),
        "gap",
        pl.lit(None, pl.String).alias("match"),
        pl.lit(value=True).alias("is_printed"),
        "errno",
        pl.lit(0, pl.UInt32).alias("_place"),
    )
    return _with_vectors(requests.collect(), calls)


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


def _with_vectors(requests: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the sizes and offsets of vectored calls."""
    vectored = calls.filter(pl.col("name").is_in(VECTORED_CALLS))
    if vectored.is_empty():
        return requests
    texts = vectored.get_column("args").unique()
    sizes = pl.DataFrame(
        [(text, *_vector(values)) for text, values in zip(texts, map(parsed, texts), strict=True)],
        schema={"args": pl.String, "_requested": pl.Int64, "_offset": pl.Int64, "_whole": pl.Boolean},
        orient="row",
    )
    found = vectored.select("_row", "args").join(sizes, on="args", how="left").drop("args")
    return (
        requests.join(found, on="_row", how="left", maintain_order="left")
        .with_columns(
            pl.coalesce("bytes_requested", "_requested").alias("bytes_requested"),
            pl.coalesce("offset", "_offset").alias("offset"),
            pl.coalesce("_whole", "is_printed").alias("is_printed"),
        )
        .drop("_requested", "_offset", "_whole")
    )


def _vector(values: object) -> tuple[int | None, int | None, bool]:
    """Bytes requested and offset of a vectored call, and whether its list of buffers is complete."""
    items = list(values.values()) if isinstance(values, dict) else values
    if not isinstance(items, list) or len(items) < 3 or not isinstance(items[1], list):
        return None, None, False
    requested = vector_size(items[1])
    offset = whole(items[3]) if len(items) > 3 else None
    # preadv2 and pwritev2: -1 is the current position of the file
    return requested, None if offset == _HERE else offset, requested is not None


def _with_plain_paths(requests: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the escapes of the paths that ``-y`` prints undone, as those of an open's path are."""
    files = requests.get_column("file").unique()
    escaped = [file for file in files if file is not None and is_escaped(file)]
    if not escaped:
        return requests
    plain = [unescaped(file).decode("utf-8", errors="backslashreplace") for file in escaped]
    return requests.with_columns(pl.col("file").replace(escaped, plain))


def _with_files(requests: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the file of each descriptor where ``-y`` does not print it.

    In a ``-ff`` set the threads of a process are in different files, so their calls are put in the order of time.
    """
    is_set = not rows.get_column("line").is_sorted() and not rows.get_column("start").has_nulls()
    turns = (rows.sort("start", maintain_order=True) if is_set else rows).with_row_index("_turn")
    files = files_of(turns.drop("_row").rename({"_turn": "_row"}))
    if files.is_empty():
        return requests
    owner = pl.col("pid").fill_null(-1).alias("_owner")
    known = files.select(pl.col("_row").alias("_turn"), owner, "fd", pl.col("file").alias("_file")).sort("_turn")
    wanted = requests.with_columns(
        pl.col("_row").cast(pl.UInt32), pl.col("fd").cast(pl.Int32, strict=False), owner
    ).with_row_index("_order")
    if is_set:
        wanted = wanted.join(turns.select("_row", "_turn"), on="_row").sort("_turn", "_order")
    else:
        wanted = wanted.with_columns(pl.col("_row").alias("_turn"))
    found = wanted.join_asof(known, on="_turn", by=["_owner", "fd"], check_sortedness=False)
    return (found.sort("_order") if is_set else found).with_columns(pl.coalesce("file", "_file").alias("file"))
