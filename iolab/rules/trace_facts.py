"""The frames of an strace log that findings are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import polars as pl

from iolab.metrics.times import is_set_back, nanoseconds
from iolab.metrics.trace_modes import io_mode
from iolab.metrics.trace_reads import data_reads
from straceparse import io_requests, opens
from straceparse.descriptors import is_system_file

if TYPE_CHECKING:
    from straceparse import StraceLog

#: Files that get a sentence of their own.
_MOST_FILES: Final = 3
#: What the next trace is best started with.
COMMAND: Final = "strace -f -ttt -T -yy -v -o FILE -p PID"


@dataclass(frozen=True)
class Trace:
    """The frames of an strace log that findings are made of.

    Attributes:
        lines: how many the log has.
        unread: lines that were not read, of the log's diagnostics.
        calls: one row a system call.
        requests: one row an I/O request.
        reads: requests that are reads of data.
        modes: of `io_mode`, one row a process and file.
    """

    lines: int
    unread: pl.DataFrame
    calls: pl.DataFrame
    requests: pl.DataFrame
    reads: pl.DataFrame
    modes: pl.DataFrame

    @property
    def is_timed(self) -> bool:
        """Does the log have the time of calls (-T, or the stamps of split ones)?"""
        return self.calls.get_column("elapsed").null_count() < self.calls.height

    @property
    def has_stamps(self) -> bool:
        """Does the log say when calls began?"""
        return self.calls.get_column("start").null_count() < self.calls.height

    @property
    def unprinted(self) -> int:
        """Asynchronous requests whose size strace cut (after 32 of a list, without -v) or did not print."""
        return self.requests.filter((pl.col("syscall") == "io_submit") & ~pl.col("is_printed")).height

    def main_process(self) -> Trace:
        """The calls of the process with most of them; all calls where the log does not tell processes apart."""
        pids = self.calls.get_column("pid").value_counts().sort("count", "pid", descending=[True, False])
        pid = pids.item(0, "pid") if pids.height else None
        return self if pid is None else replace(self, calls=self.calls.filter(pl.col("pid") == pid))

    @property
    def window_s(self) -> float | None:
        """From the first call to the end of the last, in s; None without stamps, or with a clock set back."""
        if not self.has_stamps or is_set_back(self.calls, "start"):
            return None
        moments = self.calls.select(
            first=nanoseconds("start").min(), last=pl.max_horizontal(nanoseconds("start"), nanoseconds("end")).max()
        ).row(0)
        return (moments[1] - moments[0]) / 1e9 or None


#: The frames of logs that are in use: several parts of a page are made of them, and a large log is read for each.
_TRACES: Final[WeakKeyDictionary[StraceLog, Trace]] = WeakKeyDictionary()


def trace_of(log: StraceLog) -> Trace:
    """The frames of a log, computed once."""
    if log not in _TRACES:
        _TRACES[log] = _computed(log)
    return _TRACES[log]


def _computed(log: StraceLog) -> Trace:
    calls = log.calls.collect()
    requests = log.requests.collect() if log.is_kept else io_requests(calls)
    modes = io_mode(calls, requests=requests)
    lines = int(log.events.select(pl.len()).collect().item())
    return Trace(lines, log.diagnostics, calls, requests, data_reads(requests), modes)


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


def opens_of(trace: Trace, file: str) -> list[tuple[int, bool]]:
    """Line and O_DIRECT of each open of a file."""
    name = short_name(file)
    found = opens(trace.calls).select("line", "file", "has_o_direct")
    return [(line, is_direct) for line, path, is_direct in found.iter_rows() if path and short_name(path) == name]
