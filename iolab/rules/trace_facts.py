"""The frames of an strace log that findings are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import polars as pl

from iolab.metrics.times import nanoseconds, set_back
from iolab.metrics.trace_modes import io_mode
from iolab.metrics.trace_queue import queue_depth
from iolab.metrics.trace_reads import is_data_read
from straceparse.aio_columns import SUBMITS_OR_REAPS
from straceparse.descriptors import is_system_file
from straceparse.ordered import compact, rows_where

if TYPE_CHECKING:
    from straceparse import StraceLog

#: Files that get a sentence of their own.
_MOST_FILES: Final = 3
#: What the next trace is best started with.
COMMAND: Final = "strace -f -ttt -T -yy -v -o FILE -p PID"
#: Columns of the calls and of the requests that findings and figures are made of.
_CALLS: Final = ("line", "pid", "name", "start", "end", "gap", "elapsed", "elapsed_hi", "elapsed_from", "errno")
_REQUESTS: Final = (
    *("line", "end_line", "pid", "op", "mode", "syscall", "fd", "file", "bytes_requested", "bytes_transferred"),
    *("requests", "submitted", "completed", "latency", "latency_hi", "latency_from", "gap", "match", "errno"),
    "is_printed",
)
#: Calls that read or write files, and wait for that: `read` and `write` are of pipes and sockets, too.
_OF_IO: Final = (
    *("pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "fsync", "fdatasync", "sync_file_range"),
    *("io_submit", "io_getevents", "io_pgetevents", "io_uring_enter", "msync", "syncfs", "sync"),
)
#: How the sums of the calls of two parts of a log make those of both.
_SUMS: Final = (
    *(pl.col(name).sum() for name in ("calls", "failed", "stamped", "timed", "printed", "elapsed")),
    pl.col("first").min(),
    pl.col("last").max(),
)


class _Calls:
    """The sums of the calls of a log, batch by batch."""

    def __init__(self) -> None:
        self._sums: list[pl.DataFrame] = []
        self._of_aio: list[pl.DataFrame] = []
        self._last = pl.DataFrame(schema={"line": pl.UInt32, "pid": pl.Int32, "start": pl.Duration("ns")})
        self._set_back: set[int | None] = set()

    def add(self, calls: pl.DataFrame) -> None:
        """Take the next calls."""
        sums = calls.group_by("pid", "name").agg(
            calls=pl.len().cast(pl.Int64),
            failed=pl.col("errno").count().cast(pl.Int64),
            stamped=pl.col("start").count().cast(pl.Int64),
            timed=pl.col("elapsed").count().cast(pl.Int64),
            printed=(pl.col("elapsed_from") == "T").sum().cast(pl.Int64),
            elapsed=pl.col("elapsed").sum(),
            first=pl.col("start").min(),
            last=pl.max_horizontal(pl.col("start").max(), pl.col("end").max()),
        )
        # a view of a text would keep the memory of the whole batch
        self._sums.append(compact(sums))
        self._of_aio.append(compact(rows_where(calls, pl.col("name").is_in(SUBMITS_OR_REAPS))))
        stamps = pl.concat([self._last, calls.select("line", "pid", "start").drop_nulls("start")])
        self._set_back.update(set_back(stamps, "start"))
        self._last = stamps.unique("pid", keep="last", maintain_order=True)

    def found(self) -> tuple[pl.DataFrame, pl.DataFrame, frozenset[int | None]]:
        """The sums of all, the calls of asynchronous requests, and the processes whose clock was set back."""
        sums = pl.concat(self._sums).group_by("pid", "name", maintain_order=True).agg(_SUMS)
        return sums, pl.concat(self._of_aio), frozenset(self._set_back)


@dataclass(frozen=True)
class Trace:
    """The frames of an strace log that findings are made of.

    Attributes:
        lines: how many the log has.
        unread: lines that were not read, of the log's diagnostics.
        opens: the calls that opened a file.
        calls: one row a process and name of its calls: how many there were (``calls``), ``failed``, have a time of
            their start (``stamped``), of their own (``timed``), from -T (``printed``); the sum of these (``elapsed``),
            the first start and the last end.
        aio_calls: the calls that submit or reap asynchronous requests.
        set_back: processes whose clock goes back.
        requests: one row an I/O request, of which the columns that findings need.
        modes: of `io_mode`, one row a process and file.
    """

    lines: int
    unread: pl.DataFrame
    opens: pl.DataFrame
    calls: pl.DataFrame
    aio_calls: pl.DataFrame
    set_back: frozenset[int | None]
    requests: pl.DataFrame
    modes: pl.DataFrame

    @cached_property
    def reads(self) -> pl.LazyFrame:
        """The requests that are reads of data (`iolab.metrics.data_reads`)."""
        return self.requests.lazy().filter(is_data_read(self.requests))

    @cached_property
    def has_reads(self) -> bool:
        """Are there reads of data?"""
        return not self.reads.head(1).collect().is_empty()

    @property
    def is_timed(self) -> bool:
        """Does the log have the time of calls (-T, or the stamps of split ones)?"""
        return int(self.calls.get_column("timed").sum()) > 0

    @property
    def has_stamps(self) -> bool:
        """Does the log say when calls began?"""
        return int(self.calls.get_column("stamped").sum()) > 0

    @property
    def printed(self) -> int:
        """How many calls have their time from -T."""
        return int(self.calls.get_column("printed").sum())

    @property
    def unprinted(self) -> int:
        """Asynchronous requests whose size strace cut (after 32 of a list, without -v) or did not print."""
        return self.requests.filter((pl.col("syscall") == "io_submit") & ~pl.col("is_printed")).height

    @cached_property
    def depths(self) -> pl.DataFrame:
        """The requests outstanding over time (`iolab.metrics.queue_depth`)."""
        return queue_depth(self.requests)

    @cached_property
    def by_name(self) -> pl.DataFrame:
        """The calls of all processes, one row a name, those that took longest first."""
        sums = self.calls.group_by("name", maintain_order=True).agg(_SUMS)
        return sums.sort("elapsed", "name", descending=[True, False])

    def main_process(self) -> Trace:
        """The trace with the calls of one process: that with most time in calls for I/O, else with most calls.

        All calls where the log tells no processes apart.
        """
        of_io = pl.col("elapsed").filter(pl.col("name").is_in(_OF_IO)).sum()
        counts = self.calls.group_by("pid").agg(of_io, pl.col("calls").sum())
        counts = counts.sort("elapsed", "calls", "pid", descending=[True, True, False])
        pid = counts.item(0, "pid") if counts.height else None
        if pid is None:
            return self
        own = self.calls.filter(pl.col("pid") == pid)
        return replace(self, calls=own, set_back=self.set_back.intersection({pid}))

    def is_of_process(self) -> pl.Expr:
        """Whether a request is of the processes that the calls are of."""
        return pl.col("pid").is_in(self.calls.get_column("pid").implode(), nulls_equal=True)

    @property
    def window_s(self) -> float | None:
        """From the first call to the end of the last, in s; None without stamps, or with a clock set back."""
        if not self.has_stamps or self.set_back:
            return None
        first, last = self.calls.select(nanoseconds("first").min(), nanoseconds("last").max()).row(0)
        return (last - first) / 1e9 or None


#: The frames of logs that are in use: several parts of a page are made of them, and a large log is read for each.
_TRACES: Final[WeakKeyDictionary[StraceLog, Trace]] = WeakKeyDictionary()


def trace_of(log: StraceLog) -> Trace:
    """The frames of a log, computed once."""
    if log not in _TRACES:
        _TRACES[log] = _computed(log)
    return _TRACES[log]


def _computed(log: StraceLog) -> Trace:
    calls = _Calls()
    found = log.read_once(_REQUESTS, _CALLS, calls.add)
    modes = io_mode(found.requests, opened=found.opens)
    return Trace(found.lines, log.diagnostics, found.opens, *calls.found(), found.requests, modes)


def data_files(trace: Trace) -> list[dict[str, object]]:
    """The files with most bytes read, each once: its name, and the reads and bytes of all processes by mode.

    strace may print one file both by its path (-y) and by the name it was opened with; the two are one row.
    """
    # O_DIRECT says nothing of raw devices
    is_data = ~is_system_file(pl.col("file")) & (pl.col("file") != "(not known)")
    counts = ("sync_reads", "async_reads", "sync_bytes", "async_bytes")
    size = pl.col("sync_bytes") + pl.col("async_bytes")
    largest = trace.modes.sort(size, descending=True, maintain_order=True)
    rows = largest.filter(pl.col("file").is_not_null() & is_data).select("file", *counts)
    paths = sorted(rows.get_column("file").unique().to_list(), key=len, reverse=True)
    whole = {
        file: next((path for path in paths if path.endswith("/" + file.removeprefix("./"))), file) for file in paths
    }
    return (
        rows.with_columns(file=pl.col("file").replace(list(whole), list(whole.values())))
        .group_by("file", maintain_order=True)
        .agg(pl.col(counts).sum())
        .sort(size, descending=True, maintain_order=True)
        .head(_MOST_FILES)
        .to_dicts()
    )


def short_name(file: object) -> str:
    """The last part of a path."""
    return str(file).rsplit("/", maxsplit=1)[-1] or str(file)


def seconds_of(frame: pl.DataFrame, column: str) -> float:
    """The sum of a column of times, in s; 0 where none is known."""
    return float(frame.select(nanoseconds(column).sum()).item() or 0) / 1e9


def opens_of(trace: Trace, file: str) -> list[tuple[int, bool]]:
    """Line and O_DIRECT of each open of a file."""
    name = short_name(file)
    found = trace.opens.select("line", "file", "has_o_direct")
    return [(line, is_direct) for line, path, is_direct in found.iter_rows() if path and short_name(path) == name]
