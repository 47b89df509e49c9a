"""The calls of an strace log: those that failed, those that were counted, and where time passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, share_text, time_text
from iolab.metrics.times import nanoseconds
from iolab.metrics.trace_reads import file_or_fd
from iolab.rules.finding import Evidence, Finding
from iolab.rules.trace_facts import COMMAND, Trace, seconds_of, short_name
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from straceparse import StraceLog

_MOST_OF_IT: Final = 0.5
_MOST_FAILED: Final = 3
#: Calls in which a process waits to be woken, and does no I/O.
_ASLEEP: Final = frozenset(
    {
        "semtimedop",
        "semop",
        "futex",
        "nanosleep",
        "clock_nanosleep",
        "pause",
        "restart_syscall",
        "poll",
        "select",
        "pselect6",
        "epoll_wait",
        "epoll_pwait",
        "ppoll",
        "wait4",
        "waitid",
        "rt_sigtimedwait",
    }
)
#: Calls that read a file, a pipe, a socket or a terminal.
_READS: Final = ("read", "readv", "pread64", "preadv", "preadv2")
#: Errors that a read or write ends with where nothing is wrong: it would have waited, or was interrupted.
_EXPECTED: Final = ("EAGAIN", "EWOULDBLOCK", "EINTR", "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ECANCELED")
#: Errors of the call, not of the device or the file system: a descriptor that is closed, or of something else.
_OF_CALLS: Final = ("EBADF", "EINVAL", "EISDIR", "ESPIPE", "ENOTCONN", "ECONNRESET", "EPIPE", "EFAULT", "EINPROGRESS")


def failed_requests(trace: Trace) -> Iterator[Finding]:
    """Reads and writes that ended with an error of the device or the file system, such as EIO or ENOSPC.

    Examples:
        >>> import iolab
        >>> from iolab.rules.trace_facts import trace_of
        >>> log = b'''1.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192 <0.000400>
        ... 1.000500 pread64(3</u01/a.dbf>, 0x7f, 8192, 8192) = -1 EIO (Input/output error) <0.200000>'''
        >>> for one in failed_requests(trace_of(iolab.load(log))): print(one.sentence)
        1 request failed: `pread64` of `a.dbf` with EIO (line 2).
    """
    expected = pl.col("errno").cast(pl.String).is_in([*_EXPECTED, *_OF_CALLS])
    is_failed = pl.col("errno").is_not_null() & ~expected & (pl.col("op") != "poll")
    failed = trace.requests.filter(is_failed).select(file_or_fd().alias("file"), "syscall", "errno", "line")
    kinds = failed.group_by("file", "syscall", "errno", maintain_order=True).agg(pl.len(), pl.col("line").min())
    kinds = kinds.sort("line", maintain_order=True)
    if kinds.is_empty():
        return
    count = int(kinds.get_column("len").sum())
    parts = [
        f"{f'{often:,} times ' if often > 1 else ''}`{call}`"
        + (f" of `{short_name(file)}`" if file else "")
        + f" with {errno} ({'first ' if often > 1 else ''}line {line:,})"
        for file, call, errno, often, line in kinds.head(_MOST_FAILED).iter_rows()
    ]
    more = kinds.height - len(parts)
    yield Finding(
        "failed_requests",
        f"{count_text(count, 'request')} failed: {', '.join(parts)}{', and others' if more else ''}.",
        why="the kernel returned the error: the data were not read or written",
        refuted_by="the same request again, and the messages of the kernel",
        evidence=(Evidence("requests", lines=tuple(kinds.get_column("line").head(5))),),
        order=0,
    )


def counted_calls(log: StraceLog) -> Iterator[Finding]:
    r"""The call that took most of the time that `strace -c` counts: processor time, unless -w was given.

    Examples:
        >>> import iolab
        >>> head = "% time     seconds  usecs/call     calls    errors syscall\n"
        >>> rule = "------ ----------- ----------- --------- --------- ----------------\n"
        >>> rows = " 75.00    0.000300          10        30           pread64\n"
        >>> rows += " 25.00    0.000100           5        20         2 openat\n"
        >>> end = "100.00    0.000400                    50         2 total\n"
        >>> for one in counted_calls(iolab.load((head + rule + rows + rule + end).encode())): print(one.sentence)
        75.0 % of the 400 us counted in calls was in `pread64`: 30 calls.
    """
    if log.summary is None:
        return
    rows = log.summary.filter(pl.col("syscall") != "total", pl.col("seconds") > 0)
    if rows.is_empty():
        return
    run, of_run = _longest_run(rows)
    named = run.group_by("syscall").agg(pl.col("seconds", "calls").sum())
    top, whole = (
        named.sort("seconds", "syscall", descending=[True, False]).row(0, named=True),
        float(run["seconds"].sum()),
    )
    yield Finding(
        "counted_calls",
        f"{share_text(top['seconds'] / whole)} of the {time_text(whole)} counted in calls{of_run} was in "
        f"`{top['syscall']}`: {count_text(top['calls'], 'call')}.",
        Interval.exact(top["seconds"] / whole),
        "counted time",
        why="`strace -c` counts processor time of the kernel, in which no wait is; with -w it counts all time in calls",
        refuted_by="`strace -c -w` of the same work",
        collect=f"`{COMMAND}`",
        evidence=(Evidence("summary", (top["syscall"],)),),
    )


def _longest_run(rows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The tables of the run of strace that counted most time, and which it is where there are several.

    A run prints one table for each personality of its processes, so the first of them is a run's first.
    """
    tables = rows.select("log", "table", "personality").unique(maintain_order=True)
    starts = pl.col("personality").eq_missing(pl.col("personality").first().over("log"))
    runs = tables.with_columns(run=starts.cast(pl.UInt32).cum_sum())
    found = rows.join(runs, on=["log", "table"], how="left", maintain_order="left")
    sums = found.group_by("run", maintain_order=True).agg(pl.col("seconds").sum(), pl.col("table").first())
    longest = sums.sort("seconds", descending=True, maintain_order=True).row(0, named=True)
    where = f" of table {longest['table']}, the longest of {sums.height:,} runs," if sums.height > 1 else ""
    return found.filter(pl.col("run") == longest["run"]), where


def trace_profile(trace: Trace) -> Iterator[Finding]:
    """Where the time of the process with most I/O passed: in system calls by name, and between them; needs -T.

    Examples:
        >>> import iolab
        >>> from iolab.rules.trace_facts import trace_of
        >>> log = b'1.000000 pread64(3, "", 8192, 0) = 8192'
        >>> for one in trace_profile(trace_of(iolab.load(log))): print(one.sentence, one.is_refused)
        Where time passed: the log has no times of calls. True
    """
    if trace.calls.is_empty():
        return
    if not trace.is_timed:
        yield Finding(
            "trace_profile",
            "Where time passed: the log has no times of calls.",
            collect=f"`{COMMAND}`",
            is_refused=True,
        )
        return
    if not trace.printed or not trace.has_stamps:
        return
    main = trace.main_process()
    window = main.window_s
    if window is None:
        return
    spent = main.by_name.select("name", seconds=nanoseconds("elapsed") / 1e9)
    total = float(spent.get_column("seconds").sum())
    if total > window * 1.001:
        return
    of = f" of process {main.calls.item(0, 'pid')}" if main.calls.height < trace.calls.height else ""
    named = [
        f"{share_text(seconds / window)} in `{name}`"
        + (", asleep" if name in _ASLEEP and seconds / window >= 0.05 else "")
        + (_of_data(main, name, seconds) if name in _READS else "")
        for name, seconds in spent.head(3).iter_rows()
        if seconds / window >= 0.01
    ]
    if not named:
        return
    named[0] = named[0].replace(" in ", " passed in ", 1)
    share = spent.item(0, "seconds") / window
    yield Finding(
        "trace_profile",
        f"Of {time_text(window)}{of} {', '.join(named)}, {share_text(max(0.0, 1 - total / window))} between calls.",
        Interval.exact(share),
        "elapsed time",
        why="between calls a process computes, waits for a processor, or makes calls that were not traced; strace's "
        "own time is there, too",
        refuted_by="perf, or V$SESSION_EVENT of the session",
        evidence=(Evidence("calls", tuple(spent.get_column("name").head(3))),),
    )


def _of_data(trace: Trace, name: str, seconds: float) -> str:
    """How little of the time of a call was in reads of data, where less than half: the rest is of pipes or sockets."""
    is_own = (pl.col("syscall") == name) & pl.col("latency_from").is_in(["T", "stamps"])
    own = trace.reads.filter(is_own & trace.is_of_process()).select("latency").collect()
    of_data = seconds_of(own, "latency") / seconds if seconds else 1.0
    return f" ({share_text(of_data)} of that in reads of data)" if of_data < _MOST_OF_IT else ""
