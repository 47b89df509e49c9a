"""I/O requests: file, size, offset, submission and completion of each request, for all calls that do I/O.

A synchronous request is one call.  An asynchronous one is submitted by ``io_submit`` and reaped by ``io_getevents``;
strace never prints the address of the control block, so the two are matched by `data` where the program sets it
(Oracle does), else by size, else by order, within one context.  They are read
batch by batch, each in the cheapest way that reads its context.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from logframe.lazy_rows import lazy_rows
from logframe.processes import paused_collection
from straceparse.aio import ASYNC_SCHEMA, by_call, column_contexts, column_requests, column_rest, frame_of, request_of
from straceparse.call_table import ASYNC_CALLS, MOVES, SUBMITS, SYNC_CALLS
from straceparse.descriptors import DESCRIPTOR_CALLS, FILES, TARGETS, Files, target_of, with_known_files, without_note
from straceparse.ordered import InOrder, batches_of, compact, is_one_log, rows_where
from straceparse.records import is_escaped, unescaped
from straceparse.restarts import RestartedRequests
from straceparse.schema import DURATION
from straceparse.system_calls import CALLS, TIMED_BY
from straceparse.transfers import PARSED_CALLS, ROLES, transfer_of, with_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from straceparse.aio import Request


class AsyncRequests:
    """Matches asynchronous requests to their completions, batch by batch.

    Contexts of the usual form are read as columns (`straceparse.aio`), the others call by call.

    Args:
        others: columns that name the log of a call.
    """

    def __init__(self, others: list[str]) -> None:
        self._others = others
        self._odd: set[tuple[object, ...]] | None = set()
        self._columns: pl.DataFrame | None = None
        self._waiting: dict[tuple[object, ...], list[Request]] = defaultdict(list)
        self._later: pl.DataFrame | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether requests wait for their completions, or calls for their turn."""
        return self._columns is not None or self._later is not None or bool(self._waiting)

    def add(self, rows: pl.DataFrame, last_line: int | None) -> tuple[pl.DataFrame, int | None]:
        """The requests that are complete with the next calls that submit and reap requests.

        Args:
            rows: the calls, with ``_row``.
            last_line: all calls that start up to this line are known; None at the end of the log, which completes all
                requests.

        Returns:
            The requests, and the row of the first call that has another one, or None.
        """
        rows = rows.with_columns(pl.col("start", "end", "gap", "wall", "time_of_day").to_physical())
        if self._later is not None:
            rows = pl.concat([self._later, rows]).sort("_row")
        self._later = None
        if last_line is not None and not self._others:
            is_later = ~pl.col("name").is_in(SUBMITS) & (pl.col("end_line") > last_line)
            later = rows.filter(is_later)
            if later.height:
                rows, self._later = rows.filter(~is_later), compact(later)
        return pl.concat(self._found(rows, is_last=last_line is None)), self._first_open()

    def _found(self, rows: pl.DataFrame, *, is_last: bool) -> list[pl.DataFrame]:
        columns, rest, odd = column_contexts(rows, self._others, self._odd)
        if odd is None or odd != self._odd:
            self._odd = odd
            self._leave_columns()
        found = []
        if columns.height:
            done, waiting = column_requests(columns, self._columns, self._others, ASYNC_SCHEMA)
            self._columns = compact(waiting) if waiting.height else None
            found.append(done)
        if is_last and self._columns is not None:
            found.append(column_rest(self._columns, self._others, ASYNC_SCHEMA))
            self._columns = None
        requests = by_call(rest, self._others, self._waiting)
        if is_last:
            requests += [request for waiting in self._waiting.values() for request in waiting]
            self._waiting.clear()
        found.append(frame_of(requests, self._others))
        return found

    def _leave_columns(self) -> None:
        """Read the waiting requests of contexts that are no longer read as columns call by call."""
        if self._columns is None:
            return
        keys = [*self._others, "_context"]
        is_odd = pl.Series([self._odd is None or key in self._odd for key in self._columns.select(keys).iter_rows()])
        for row in self._columns.filter(is_odd).iter_rows(named=True):
            self._waiting[tuple(row[key] for key in keys)].append(request_of(row))
        rest = self._columns.filter(~is_odd)
        self._columns = rest if rest.height else None

    def _first_open(self) -> int | None:
        rows = [request.row for waiting in self._waiting.values() for request in waiting]
        for frame in (self._columns, self._later):
            rows += [] if frame is None else frame.get_column("_row").to_list()
        return min(rows, default=None)

    def waiting_descriptors(self) -> pl.DataFrame:
        """``_row``, ``pid`` and ``fd`` of the requests that wait."""
        own = [
            (one.row, one.call["pid"], one.fd)
            for waiting in self._waiting.values()
            for one in waiting
            if one.fd is not None
        ]
        schema = {"_row": pl.UInt32, "pid": pl.Int32, "fd": pl.Int32}
        found = pl.DataFrame(own, schema=schema, orient="row")
        if self._columns is None:
            return found
        return pl.concat([found, self._columns.select("_row", "pid", pl.col("fd").cast(pl.Int32, strict=False))])


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
        "target": TARGETS,
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

#: The descriptors of a request.
_FDS: Final = ("fd", "fd_out")
#: The calls that are looked at: requests of their own, and those that carry others or change descriptors.
_SYNC: Final = [*SYNC_CALLS]
_OTHERS: Final = [*ASYNC_CALLS, *sorted(DESCRIPTOR_CALLS)]
_CALL: Final = pl.Enum([*_SYNC, *_OTHERS])
#: Operation and role of each of them.
_OPS: Final = pl.Series([SYNC_CALLS.get(name) for name in _CALL.categories], dtype=REQUESTS["op"])
_ROLES: Final = pl.Series([ROLES.get(name, 0) for name in _CALL.categories], dtype=pl.UInt8)
#: The same words as in the calls, in another set.
_SOURCES: Final = pl.Series(TIMED_BY.categories, dtype=REQUESTS["latency_from"])

FrameType = TypeVar("FrameType", pl.DataFrame, pl.LazyFrame)


def io_requests(calls: FrameType, listed: pl.DataFrame | None = None) -> FrameType:
    """The I/O requests of a log, one row per request, in the order of their calls.

    Args:
        calls: the result of `calls`, unfiltered: the calls that open and close determine the files of descriptors.  A
            column ``file`` with the path of the log is renamed to ``log``, as ``file`` is the file read or written.
        listed: the files of descriptors that were open before (`straceparse.descriptors.listed_files`).

    Returns:
        The columns of `straceparse.REQUESTS`; a LazyFrame for a LazyFrame.

        * ``op``: ``read`` and ``write`` between a file and the process; ``copy`` within the kernel, from ``fd`` to
          ``fd_out`` (sendfile, copy_file_range, splice, tee); ``readahead``: into the page cache, of an unknown number
          of bytes; ``sync`` (fsync, fdatasync, sync, syncfs, msync, sync_file_range), ``poll``, ``other``
        * ``mode``: ``sync`` or ``async``;  ``syscall``: the call that carried it
        * ``fd``, ``file``: file from ``-y``, or from the open, dup, fcntl and close calls in the log; ``fd_out``,
          ``file_out``: the destination of a copy
        * ``target``: what ``fd`` is of: ``file``, ``block`` (device), ``character``, ``socket``, ``pipe``,
          ``terminal``, ``event``, ``kernel`` (/proc, /sys, memory), ``standard`` (0 to 2, not named), ``unknown``; null
          of a call without a descriptor
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
    if "file" in calls.collect_schema():
        calls = calls.rename({"file": "log"})
    return _of_frame(calls, listed) if isinstance(calls, pl.DataFrame) else _of_query(calls, listed)


def _of_frame(calls: pl.DataFrame, listed: pl.DataFrame | None) -> pl.DataFrame:
    others = [name for name in calls.columns if name not in CALLS]
    found, _ = _RequestReader(others, listed).add(calls, is_last=True)
    return found.select(*others, *REQUESTS)


def _of_query(calls: pl.LazyFrame, listed: pl.DataFrame | None) -> pl.LazyFrame:
    schema = calls.collect_schema()
    others = [name for name in schema if name not in CALLS]
    return lazy_rows(
        lambda used: _request_batches(calls, others, used, listed),
        {**{name: schema[name] for name in others}, **REQUESTS},
        explained="requests",
    )


def _request_batches(
    calls: pl.LazyFrame, others: list[str], used: list[str], listed: pl.DataFrame | None
) -> Iterator[pl.DataFrame]:
    """The requests of a log, batch by batch, with the columns that are used."""
    unused = {"syscall", "result_text", "note", *{"wall", "time_of_day"}.difference(used)}
    needed = [*others, *(name for name in CALLS if name not in unused)]
    nothing = [pl.lit(None, CALLS[name]).alias(name) for name in ("wall", "time_of_day") if name in unused]
    reader = _RequestReader(others, listed)
    if not is_one_log(calls):
        yield reader.add(calls.select(needed).collect().with_columns(nothing), is_last=True)[0].select(used)
        return
    with InOrder(("_row", "_place")) as order:
        for batch in batches_of(calls, needed):
            parts = order.add(*reader.add(batch.with_columns(nothing)))
            del batch  # the memory of a batch is needed for the next one
            yield from (part.select(used) for part in parts)
        schema = calls.collect_schema()
        last = pl.DataFrame(schema={name: schema[name] for name in needed}).with_columns(nothing)
        yield from (part.select(used) for part in order.add(*reader.add(last, is_last=True)))


class _RequestReader:
    """Finds the requests among calls, batch by batch.

    Args:
        others: columns of the calls that name their log.
        listed: the files of descriptors that were open before.
    """

    def __init__(self, others: list[str], listed: pl.DataFrame | None = None) -> None:
        self._others = others
        self._rows = 0
        self._restarted = RestartedRequests(SYNC_CALLS)
        self._async = AsyncRequests(others)
        self._files = Files(listed)
        self._waiting = pl.DataFrame(schema=FILES)

    @paused_collection()
    def add(self, calls: pl.DataFrame, *, is_last: bool = False) -> tuple[pl.DataFrame, int | None]:
        """The requests that are complete with the next calls, with ``_row`` and ``_place``.

        Returns:
            The requests in order, and the row of the first call that has another one, or None.
        """
        last_line: int | None = None if is_last else calls.get_column("line").max()  # type: ignore[assignment]
        numbered = rows_where(calls, pl.col("state") != "resumed").with_row_index("_row", offset=self._rows)
        self._rows += numbered.height
        named = numbered.with_columns(pl.col("name").cast(_CALL, strict=False).alias("_call"))
        synchronous, others = (rows_where(named, pl.col("_call").is_in(names)) for names in (_SYNC, _OTHERS))
        requests = self._restarted.joined(_sync_requests(synchronous, self._others), numbered, is_last=is_last)
        open_rows: list[int] = []
        if self._restarted.waiting is not None:
            open_rows = self._restarted.waiting.get_column("_row").to_list()
        asynchronous = rows_where(others, pl.col("_call").is_in(ASYNC_CALLS)).drop("_call")
        if asynchronous.height or self._async.is_waiting:
            found, first = self._async.add(asynchronous, last_line)
            open_rows += [] if first is None else [first]
            requests = pl.concat([requests, found], how="diagonal_relaxed").sort("_row", "_place")
        return _with_targets(self._with_files(_with_plain_paths(requests), named, others)).select(
            *self._others,
            *(pl.col(name).cast(dtype, strict=False).alias(name) for name, dtype in REQUESTS.items()),
            "_row",
            "_place",
        ), min(open_rows, default=None)

    def _with_files(self, requests: pl.DataFrame, calls: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
        """The requests, with the file of each descriptor where ``-y`` does not print it.

        In a ``-ff`` set the threads of a process are in different files, so their calls, which are here all at once,
        are put in the order of time.

        Args:
            requests: the requests.
            calls: all calls.
            others: those that are no synchronous requests; those that change descriptors are among them.
        """
        is_wanted = calls.get_column("_call").is_not_null()
        lines, starts = (calls.get_column(name).filter(is_wanted) for name in ("line", "start"))
        if not lines.is_sorted() and not starts.has_nulls():
            turns = calls.filter(is_wanted).sort("start", maintain_order=True).with_row_index("_turn")
            order = turns.select("_row", "_turn")
            requests = requests.join(order, on="_row", how="left", maintain_order="left")
        else:
            turns = others.with_columns(pl.col("_row").alias("_turn"))
            requests = requests.with_columns(pl.col("_row").cast(pl.UInt32).alias("_turn"))
        known = pl.concat([self._files.changes(turns.drop("_row").rename({"_turn": "_row"})), self._waiting])
        self._waiting = self._files_of_waiting(known)
        if known.is_empty():
            return requests
        return with_known_files(requests.rename({"pid": "_owner"}), known).rename({"_owner": "pid"})

    def _files_of_waiting(self, known: pl.DataFrame) -> pl.DataFrame:
        """The files of the requests that wait, at the time of their calls."""
        waiting = self._async.waiting_descriptors()
        roots = self._restarted.waiting
        if roots is not None:
            fds = (roots.select("_row", "pid", pl.col(name).cast(pl.Int32, strict=False).alias("fd")) for name in _FDS)
            waiting = pl.concat([waiting, *fds])
        waiting = waiting.drop_nulls("fd").unique(["_row", "pid", "fd"], maintain_order=True)
        if waiting.is_empty() or known.is_empty():
            return waiting.with_columns(pl.lit(None, pl.String).alias("file"))
        owners = waiting.select(pl.col("_row").alias("_turn"), pl.col("pid").alias("_owner"), "fd")
        owners = owners.with_columns(pl.lit(None, pl.String).alias("file"))
        found = with_known_files(owners, known)
        return found.select(pl.col("_turn").alias("_row"), pl.col("_owner").alias("pid"), "fd", "file")


def _sync_requests(calls: pl.DataFrame, others: list[str]) -> pl.DataFrame:
    """Requests that are one call each."""
    result = pl.when(pl.col("result") >= 0).then("result")
    requests = with_sizes(calls.with_columns(_of_call(_ROLES).alias("_role"))).select_seq(
        *others,
        "_row",
        "line",
        "end_line",
        "pid",
        _of_call(_OPS).alias("op"),
        pl.lit("sync", REQUESTS["mode"]).alias("mode"),
        pl.col("name").alias("syscall"),
        pl.col("_fd").alias("fd"),
        pl.col("fd_path").alias("file"),
        pl.col("_count").alias("bytes_requested"),
        pl.when(pl.col("_call").is_in(MOVES)).then(result).alias("bytes_transferred"),
        pl.col("_offset").alias("offset"),
        pl.lit(1, pl.UInt32).alias("requests"),
        pl.lit(0, pl.UInt32).alias("restarts"),
        "wall",
        "time_of_day",
        pl.col("start").alias("submitted"),
        pl.col("end").alias("completed"),
        pl.col("elapsed").alias("latency"),
        pl.col("elapsed_hi").alias("latency_hi"),
        pl.lit(_SOURCES).gather(pl.col("elapsed_from").cast(TIMED_BY).to_physical()).alias("latency_from"),
        "gap",
        pl.lit(None, REQUESTS["match"]).alias("match"),
        pl.lit(value=True).alias("is_printed"),
        "errno",
        pl.lit(0, pl.UInt32).alias("_place"),
    )
    return _with_parsed(requests, calls)


def _of_call(values: pl.Series) -> pl.Expr:
    """The value of each call."""
    return pl.lit(values).gather(pl.col("_call").to_physical())


def _with_parsed(requests: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The requests, with descriptors, sizes and offsets of the calls whose arguments are parsed."""
    parsed = rows_where(calls, pl.col("_call").is_in(PARSED_CALLS))
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


def _with_targets(requests: pl.DataFrame) -> pl.DataFrame:
    """The requests with ``target``, and files without the notes of `-yy`."""
    files = requests.select("file").drop_nulls().unique()
    nothing = pl.lit(None, pl.Int32)
    kinds = files.with_columns(target_of(pl.col("file"), nothing), _plain=without_note(pl.col("file")))
    found = requests.join(kinds, on="file", how="left", maintain_order="left")
    of_number = pl.when(pl.col("fd").is_not_null()).then(target_of(pl.lit(None, pl.String), pl.col("fd")))
    return found.with_columns(target=pl.coalesce("target", of_number), file="_plain").drop("_plain")


def _with_plain_paths(requests: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the escapes of the paths that ``-y`` prints undone, as those of an open's path are."""
    files = pl.concat([requests.get_column(name).drop_nulls() for name in ("file", "file_out")]).unique()
    escaped = [file for file in files if is_escaped(file)]
    if not escaped:
        return requests
    plain = [unescaped(file).decode("utf-8", errors="backslashreplace") for file in escaped]
    return requests.with_columns(pl.col("file", "file_out").replace(escaped, plain))
