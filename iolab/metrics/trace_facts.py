"""The frames of an strace log that findings are made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import polars as pl

from iolab.metrics.table import figure_of, nanoseconds
from iolab.metrics.trace_calls import submit_cost
from iolab.metrics.trace_modes import io_mode
from iolab.metrics.trace_queue import depth_by_file, queue_depth
from iolab.metrics.trace_reads import NOT_KNOWN, data_reads, is_data_read
from iolab.metrics.trace_times import CALLS, SUMS, CallSums, CallTimes, known_times, remember
from iolab.metrics.trace_writes import writes_by_file
from logframe.interval import Interval
from straceparse.call_table import REAPS, SUBMITS, SUBMITS_OR_REAPS
from straceparse.descriptors import is_system_file, target_of
from straceparse.ordered import compact, rows_where

if TYPE_CHECKING:
    from straceparse import StraceLog

#: This many submissions, and this much of the time of asynchronous I/O (without -T of all), tell that they wait.
_LEAST_SUBMITS: Final = 10
_MOST_OF_IT: Final = 0.5
#: Reads with less of the time of a log do not matter in it, and a shorter log has little to gain, in s.
_FEW: Final = 0.03
SHORT_S: Final = 1.0
_MUCH: Final = 0.2
#: Files that get a sentence of their own.
_MOST_FILES: Final = 3
#: What the next trace is best started with.
RARE: Final = "see whether it runs often: all of it took only {}"
#: A device whose reads wait for entropy.
ENTROPY: Final = "/dev/random"
COMMAND: Final = "strace -f -ttt -T -yy -v -o FILE -p PID"
#: Diagnostics of lines of which a call may be lost.
_UNREAD: Final = ("unparsed", "damaged", "cut")
#: What two requests of a process cannot have both.
_SAME: Final = ("pid", "submitted", "completed", "syscall", "fd", "bytes_transferred")
#: Columns of the calls of asynchronous requests, and of the requests, that findings and figures are made of.
_OF_AIO: Final = ("line", "pid", "name", "start", "end", "gap", "elapsed", "elapsed_hi", "elapsed_from", "errno")
_REQUESTS: Final = (
    *("line", "end_line", "pid", "op", "mode", "syscall", "fd", "file", "target", "bytes_requested"),
    *(
        "bytes_transferred",
        "requests",
        "submitted",
        "completed",
        "latency",
        "latency_hi",
        "latency_from",
        "gap",
        "match",
        "errno",
    ),
    "is_printed",
)


@dataclass(frozen=True)
class Trace:
    """The frames of an strace log that findings are made of.

    Attributes:
        lines: how many the log has.
        unread: lines that were not read, of the log's diagnostics.
        opens: the calls that opened a file.
        times: the times of the calls.
        aio_calls: the calls that submit or reap asynchronous requests.
        requests: one row an I/O request, of which the columns that findings need.
        modes: of `io_mode`, one row a process and file.
        followed: how many reads of data begin where the one before ended; None where they are of several descriptors.
    """

    lines: int
    unread: pl.DataFrame
    opens: pl.DataFrame
    times: CallTimes
    aio_calls: pl.DataFrame
    requests: pl.DataFrame
    modes: pl.DataFrame
    followed: int | None

    @property
    def calls(self) -> pl.DataFrame:
        """The times of the calls, one row a process and name (`CallTimes.calls`)."""
        return self.times.calls

    @cached_property
    def is_read(self) -> pl.Series:
        """Which requests are reads of data (`iolab.metrics.data_reads`)."""
        return self.requests.select(is_data_read(self.requests)).to_series()

    @property
    def reads(self) -> pl.LazyFrame:
        """The reads of data."""
        return self.requests.lazy().filter(self.is_read)

    @property
    def has_reads(self) -> bool:
        """Are there reads of data?"""
        return bool(self.is_read.any())

    @cached_property
    def share_of_few_reads(self) -> Interval | None:
        """The time of the reads as a share of the log, where it is so small that nothing of them matters; else None."""
        if not self.is_timed or not self.window_s:
            return None
        took = self.reads.select(nanoseconds("latency").sum() / 1e9).collect().item()
        return Interval(took / self.window_s, 0.0, took / self.window_s) if took < _FEW * self.window_s else None

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

    @cached_property
    def _cut(self) -> pl.DataFrame:
        """The asynchronous requests whose size strace cut (after 32 of a list, without -v) or did not print."""
        return self.requests.filter(pl.col("syscall").is_in(SUBMITS) & ~pl.col("is_printed"))

    @property
    def unprinted(self) -> int:
        """How many asynchronous requests strace cut, or printed without their size."""
        return self._cut.height

    @property
    def unsized(self) -> int:
        """Those of them whose result is not in the log, either: no line shows how many bytes they were."""
        return self._cut.get_column("bytes_transferred").null_count()

    @cached_property
    def depths(self) -> pl.DataFrame:
        """The requests outstanding over time (`iolab.metrics.queue_depth`)."""
        return queue_depth(self.requests)

    @cached_property
    def unread_calls(self) -> int:
        """Lines of the log that may be calls, and were not read whole."""
        lines = self.unread.filter(pl.col("kind").is_in(_UNREAD), pl.col("line").is_not_null())
        return lines.unique(["source", "line"]).height

    @cached_property
    def repeated(self) -> int:
        """Synchronous requests of a process that begin when one like it began: the log holds a log twice."""
        if not self.times.set_back:
            return 0
        known = self.requests.filter(pl.col("mode") == "sync", pl.col("submitted").is_not_null())
        if known.get_column("submitted").n_unique() <= 1:  # all stamps of the log are one: they tell nothing apart
            return 0
        again = known.select(pl.struct(_SAME).is_first_distinct().not_()).to_series().sum()
        return int(again) if again >= _MOST_OF_IT / 2 * known.height else 0

    @cached_property
    def runs(self) -> pl.DataFrame:
        """Processes that no call made and that executed a program, each after all before it had ended: their spans.

        ``pid``, ``first``, ``last``.
        """
        own = pl.col("pid").is_in([pid for pid in self.times.programs if pid not in self.times.parents])
        spans = self.calls.filter(own).group_by("pid").agg(pl.col("first").min(), pl.col("last").max())
        spans = spans.drop_nulls().sort("first")
        ended = (pl.col("first") > pl.col("last").cum_max().shift(1)).fill_null(value=True)
        return spans.filter(ended)

    @cached_property
    def queues(self) -> pl.DataFrame:
        """The requests outstanding at a time, of each file (`iolab.metrics.depth_by_file`)."""
        return depth_by_file(self.requests)

    @cached_property
    def writes(self) -> pl.DataFrame:
        """The writes and flushes of each file (`iolab.metrics.writes_by_file`)."""
        return writes_by_file(self.requests, self.opens)

    @property
    def data_files(self) -> list[dict[str, object]]:
        """The first of `every_file`."""
        return self.every_file[:_MOST_FILES]

    @cached_property
    def every_file(self) -> list[dict[str, object]]:
        """The files with most bytes read, each once: its name, and the reads and bytes of all processes by mode.

        strace may print one file both by its path (-y) and by the name it was opened with; the two are one row.
        """
        # O_DIRECT does not describe raw devices
        is_file = target_of(pl.col("file"), pl.lit(None, pl.Int32)) == "file"
        is_data = is_file & ~is_system_file(pl.col("file")) & (pl.col("file") != NOT_KNOWN)
        counts = ("sync_reads", "async_reads", "sync_bytes", "async_bytes")
        size = pl.col("sync_bytes") + pl.col("async_bytes")
        largest = self.modes.sort(size, descending=True, maintain_order=True)
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
            .to_dicts()
        )

    @cached_property
    def by_name(self) -> pl.DataFrame:
        """The calls of all processes, one row a name, those that took longest first."""
        sums = self.calls.group_by("name", maintain_order=True).agg(SUMS)
        return sums.sort("elapsed", "name", descending=[True, False])

    @property
    def window_s(self) -> float | None:
        """From the first call to the end of the last, in s; None without stamps, or with a clock set back."""
        if not self.has_stamps or self.times.set_back:
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
    known = known_times(log)
    sums = CallSums(log)
    of_aio: list[pl.DataFrame] = []

    def take(calls: pl.DataFrame) -> None:
        # a view of a text would keep the memory of the whole batch
        of_aio.append(compact(rows_where(calls.select(_OF_AIO), pl.col("name").is_in(SUBMITS_OR_REAPS))))
        if known is None:
            sums.add(calls)

    columns = _OF_AIO if known is not None else tuple(dict.fromkeys([*CALLS, *_OF_AIO]))
    order = ReadOrder()
    found = log.read_once(_REQUESTS, columns, take, sums.mark, order.add, ("offset",))
    times = sums.found() if known is None else known
    remember(log, times)
    modes = io_mode(found.requests, opened=found.opens)
    aio_calls = pl.concat(of_aio)
    return Trace(found.lines, log.diagnostics, found.opens, times, aio_calls, found.requests, modes, order.followed)


class ReadOrder:
    """Whether reads of data go straight on in their file, added batch by batch: offsets of all would take memory.

    Attributes:
        followed: `Trace.followed`; None also where an offset is not known.
    """

    def __init__(self) -> None:
        self.followed: int | None = 0
        self._last: list[pl.DataFrame] = []

    def add(self, requests: pl.DataFrame) -> None:
        """Look at the requests that follow."""
        if self.followed is None:
            return
        own = data_reads(requests).filter(pl.col("op") == "read", pl.col("bytes_transferred") > 0)
        reads = pl.concat([*self._last, own.select("pid", "fd", "offset", "bytes_transferred")])
        if reads.n_unique(["pid", "fd"]) > 1 or reads.get_column("offset").null_count():
            self.followed = None
            return
        follows = pl.col("offset").diff() == pl.col("bytes_transferred")
        self.followed += reads.select(follows.sum()).item()
        self._last = [reads.tail(1)]


def short_name(file: object) -> str:
    """The last part of a path, but all of that of the device that waits for entropy."""
    return str(file) if file == ENTROPY else str(file).rsplit("/", maxsplit=1)[-1] or str(file)


def seconds_of(frame: pl.DataFrame, column: str) -> float:
    """The sum of a column of times, in s; 0 where none is known."""
    return float(frame.select(nanoseconds(column).sum()).item() or 0) / 1e9


def opens_of(trace: Trace, file: str) -> list[tuple[int, bool]]:
    """Line and O_DIRECT of each open of a file."""
    name = short_name(file)
    found = trace.opens.select("line", "file", "has_o_direct")
    return [(line, is_direct) for line, path, is_direct in found.iter_rows() if path and short_name(path) == name]


def submits_in_name_only(trace: Trace) -> tuple[float, float, int, list[str]] | None:
    """Seconds in io_submit, those of the log, calls and files, where submitting reads without O_DIRECT took them."""
    submits = trace.aio_calls.filter(pl.col("name").is_in(SUBMITS))
    files = [str(row["file"]) for row in trace.data_files if row["async_reads"]]
    opened = [is_direct for file in files for _, is_direct in opens_of(trace, file)]
    if submits.height < _LEAST_SUBMITS or not opened or any(opened) or trace.window_s is None:
        return None
    reaps = trace.aio_calls.filter(pl.col("name").is_in(REAPS))
    column = "elapsed" if trace.is_timed else "gap"
    inside, waiting = (seconds_of(frame, column) for frame in (submits, reaps))
    if trace.is_timed:
        figure = figure_of(submit_cost(trace.aio_calls).filter(pl.col("metric") == "submit_time_share"))
        if figure is None or figure.lo < _MOST_OF_IT:
            return None
    elif inside <= waiting or inside < _MUCH * trace.window_s:
        return None
    return inside, trace.window_s, submits.height, files
