"""The calls of an strace log: those that failed, and those that were counted."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import count_text, size_text
from iolab.metrics.trace_facts import COMMAND, RARE, SHORT_S, short_name, trace_of
from iolab.metrics.trace_reads import file_or_fd
from iolab.metrics.trace_times import times_of
from iolab.rules.finding import CALM, LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import counted, every, named_list, often_each, percent, seconds
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.next_steps import MORE_ROWS
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.strace import PAIRS, calls_failed, program_of
from logframe.interval import Interval
from straceparse.call_classes import CLOCKS, POSTS, READY_CALLS, with_classes
from straceparse.call_table import HIDDEN, IO_CALLS, READS, REAPS, SUBMITS, WRITES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from iolab.metrics.trace_times import CallTimes
    from iolab.time_ledger.account import Ledger
    from straceparse import StraceLog

_MOST_FAILED: Final = 3
#: Calls shorter than this, in s, take longer when traced, so a profile says who makes them.
_SHORT_S: Final = 50e-6
#: No disk answers as fast, unless it is flash; and a call that sleeps uses less CPU.
_FAST_S: Final = 500e-6
_SLOW_S: Final = 1e-3
_OFTEN: Final = "see what reads so often: an SQL trace (event 10046), if it is Oracle"
_WALL: Final = "how long the reads take: strace -c -w -f -p PID"
_CPU_ONLY: Final = "; as CPU time it excludes waits"
_ELSEWHERE: Final = "see what they did outside of calls: perf top -p PID; what their sessions waited for: V$SESSION"
_ATTACHED: Final = ("Process ", " attached")
_BUSY: Final = "see who makes these calls: perf record -g -p PID, then perf report"
_CLOCK_FILE: Final = "current_clocksource"
_CLOCKS_OFFERED: Final = "see whether tsc is offered: cat /sys/devices/system/clocksource/*/available_clocksource"
#: What the names of processes of an instance begin with, and those of its database writers.
_PROCESSES: Final = ("ora_", "asm_")
_WRITERS: Final = ("ora_dbw", "ora_bw")
#: A log of no more kinds of calls was asked for them (-e).
_ASKED_FOR: Final = 3
_TOTAL: Final = "total"
_WRITES_AT: Final = tuple(name for name in WRITES if IO_CALLS[name].is_of_file)
NOT_SUBMITTED: Final = ", synchronous (no `io_submit`)"
ASYNC_OFF: Final = "see why asynchronous I/O is off: show parameter disk_asynch_io; show parameter filesystemio_options"
WRITER: Final = f"if it is a database writer: {ASYNC_OFF}"
#: A database writer writes to at least this many files, and reads none.
_FILES_OF_WRITER: Final = 3
CLOCK: Final = "see the clock source (tsc needs no system call): /sys/devices/system/clocksource/*/current_clocksource"
STACKS: Final = "see where its threads wait, and who holds the lock: gdb -p PID -batch -ex 'thread apply all bt'"
UNKNOWN_END: Final = "see what is at the other end of the descriptor: ls -l /proc/PID/fd; lsof -p PID"
MORE_ENTROPY: Final = "read /dev/urandom (java: -Djava.security.egd=file:/dev/./urandom), or install rng-tools"
#: Calls of which a log of each says less than another tool.
_SUMMED: Final = {
    **dict.fromkeys(CLOCKS, CLOCK),
    "sched_yield": "see which code spins: perf record -g -p PID, then perf report",
    "futex": STACKS,
}
_CORE: Final = "see where it crashed: coredumpctl info, or gdb PROGRAM core; for Oracle its trace file, the alert log"
#: Signals of which a process makes a core.
_CRASHES: Final = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE", "SIGSYS", "SIGXCPU", "SIGXFSZ")
_FAILED: Final = "see which of them fail: strace -f -Z -e trace={} -o FILE -p PID"
#: What stands in a command for a process that still runs.
_LIVE: Final = "PID"
_DEBUGGER: Final = "gdb"
#: The error of a file that is not there.
_NOT_THERE: Final = "ENOENT"
#: This many failed calls, nearly all of their kind, are a fact of their own.
_MANY, _NEARLY_ALL = 100, 0.9
#: Calls that fail by design where they would have to wait.
_WOULD_WAIT: Final = (
    *(*READS, *WRITES, *READY_CALLS, *REAPS, "recv", "recvfrom", "recvmsg", "recvmmsg", "accept", "accept4"),
    *("futex", "futex_time64", "semtimedop", "restart_syscall", "wait4", "waitpid", "waitid", "rt_sigtimedwait"),
)
#: Calls that come together differ in number by this part of it.
_ALIKE: Final = 0.05
SERVES: Final = "consistent with a server that waits for its client"
#: Ports from this one on are those of clients, in Linux.
_OWN_PORT: Final = 32768
_LEAST_AND_MIDDLE: Final = (pl.col("elapsed").min(), pl.col("elapsed").median())
#: Calls that only read files.
_OF_FILES: Final = (*SUBMITS, *(name for name in READS if IO_CALLS[name].is_of_file))
#: Calls in which a process waits for work as long as it has none.
_IDLE: Final = (*READY_CALLS, *POSTS, "wait4", "waitpid", "waitid", "nanosleep", "clock_nanosleep", "rt_sigtimedwait")
#: Errors that a read or write ends with where nothing is wrong: it would have waited, or was interrupted.
_EXPECTED: Final = ("EAGAIN", "EWOULDBLOCK", "EINTR", "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ECANCELED")
#: Errors of the call, not of the device or the file system: a descriptor that is closed, or of something else.
_OF_CALLS: Final = ("EBADF", "EINVAL", "EISDIR", "ESPIPE", "ENOTCONN", "ECONNRESET", "EPIPE", "EFAULT", "EINPROGRESS")


@rule("failed_requests", of="strace", needs="a request that ended with an error")
def failed_requests(log: StraceLog) -> Iterator[Finding]:
    """Reads and writes that ended with an error of the device or the file system, such as EIO or ENOSPC.

    Examples:
        >>> import iolab
        >>> log = b'''1.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192 <0.000400>
        ... 1.000500 pread64(3</u01/a.dbf>, 0x7f, 8192, 8192) = -1 EIO (Input/output error) <0.200000>'''
        >>> for one in failed_requests(iolab.load(log)): print(one.sentence)
        1 request failed: `pread64` of `a.dbf` with EIO (line 2).
    """
    trace = trace_of(log)
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
    yield Finding(
        "failed_requests",
        f"{count_text(count, 'request')} failed: {', '.join(parts)}{_and_others(kinds.height, parts)}.",
        next="dmesg -T, for the errors of the device at that time",
        evidence=(Evidence("requests", lines=tuple(kinds.get_column("line").head(5))),),
        order=0,
    )


@rule("ended_badly", of="strace", needs="the end of a process", thresholds={"1 s": "a run as short has no other story"})
def ended_badly(log: StraceLog) -> Iterator[Finding]:
    """A crash of any process, or an error status, or a signal, with which the one ended that the others come from.

    Examples:
        >>> import iolab
        >>> log = b'''1.000000 socket(AF_INET, SOCK_RAW, 1) = -1 EPERM (Operation not permitted) <0.000100>
        ... 1.000500 exit_group(2) = ?
        ... 1.000600 +++ exited with 2 +++'''
        >>> for one in ended_badly(iolab.load(log)): print(one.sentence)
        The process exited with status 2; before, `socket` failed with EPERM (line 1).
        >>> for one in ended_badly(iolab.load(log.replace(b"exited with 2", b"killed by SIGSEGV (core dumped)"))):
        ...     print(one.sentence)
        The process was killed by SIGSEGV (core dumped); before, `socket` failed with EPERM (line 1).
    """
    times = times_of(log)
    pids = set(times.calls.get_column("pid"))
    crashed = {pid: end for pid, end in times.ended.items() if any(signal in end for signal in _CRASHES)}
    first = pids - times.parents.keys()
    ends = crashed or {pid: end for pid in first if len(first) == 1 and (end := times.ended.get(pid))}
    for pid, end in [*ends.items()][:1]:
        program = program_of(times, pid)
        who = f"`{program}`" if program else "The process" if len(pids) == 1 else f"Process {pid}"
        more = f", and so {'was' if len(ends) == 2 else 'were'} {len(ends) - 1:,} other{'s' * (len(ends) > 2)}"
        said = end.replace("exited with ", "exited with status ").replace("killed", "was killed")
        refused = times.refused.get(pid)
        why = f"; before, `{refused[0]}` failed with {refused[1]} (line {refused[2]:,})" if refused else ""
        lead = process_ledger(log)
        is_first = bool(crashed) or lead is None or lead.total is None or lead.total.hi < SHORT_S
        yield Finding(
            "ended_badly",
            f"{who} {said}{more if len(ends) > 1 else ''}{why}.",
            next=_CORE if crashed else "see what it printed at its end, and its own log",
            evidence=(Evidence("events"),),
            order=0 if is_first else 3,
        )


@rule("no_asynchronous_io", of="strace", needs="calls of io_setup that failed")
def no_asynchronous_io(log: StraceLog) -> Iterator[Finding]:
    """The kernel gave no context for asynchronous I/O, as all are in use: one request is made after the other.

    Source: io_setup(2), EAGAIN; fs.aio-max-nr of proc_sys_fs(5).

    Examples:
        >>> import iolab
        >>> log = b'1.000000 io_setup(4096, 0x7f) = -1 EAGAIN (Resource temporarily unavailable) <0.000030>'
        >>> for one in no_asynchronous_io(iolab.load(log)): print(one.sentence)
        1 of 1 `io_setup` call failed with EAGAIN: no context for asynchronous I/O was free (fs.aio-max-nr).
    """
    is_setup = pl.col("name") == "io_setup"
    count, failed = times_of(log).calls.filter(is_setup).select(pl.col("calls", "failed").sum()).row(0)
    if not failed:
        return
    rows = log.calls.filter(is_setup, pl.col("errno") == "EAGAIN").select("line").collect()
    if rows.height:
        yield Finding(
            "no_asynchronous_io",
            f"{rows.height:,} of {count_text(count, '`io_setup` call')} failed with EAGAIN: no context for "
            "asynchronous I/O was free (fs.aio-max-nr).",
            next="raise the limit: compare /proc/sys/fs/aio-nr with /proc/sys/fs/aio-max-nr; sysctl fs.aio-max-nr",
            evidence=(Evidence("calls", ("io_setup",), tuple(rows["line"].head(5))),),
            order=0,
        )


@rule("all_calls_failed", of="strace", needs="several calls, each of which ended with an error")
def all_calls_failed(log: StraceLog) -> Iterator[Finding]:
    """All calls of the log failed, as where strace printed no others (-Z).

    Examples:
        >>> import iolab
        >>> line = '1700000000.00000{} pread64(99, 0x7f, 8192, 0) = -1 EBADF (Bad file descriptor) <0.000008>'
        >>> log = chr(10).join(line.format(number) for number in range(6))
        >>> for one in all_calls_failed(iolab.load(log.encode())): print(one.sentence)
        All 6 calls of the log failed: 6 with EBADF.
        >>> list(all_calls_failed(iolab.load((log + chr(10) + "1700000000.000009 close(3) = 0 <0.000008>").encode())))
        []
    """
    count = calls_failed(times_of(log))
    if count:
        named = times_of(log).named.errors.group_by("errno").agg(pl.col("calls").sum())
        errors = named.sort("calls", "errno", descending=[True, False])
        parts = [f"{often:,} with {errno}" for errno, often in errors.head(_MOST_FAILED).iter_rows()]
        yield Finding(
            "all_calls_failed",
            f"All {count:,} calls of the log failed: {', '.join(parts)}{_and_others(errors.height, parts)}.",
            detail="strace -Z prints no others; the time of calls that succeeded is between these calls",
            next=COMMAND,
            evidence=(Evidence("calls"),),
            order=0,
        )


def _and_others(count: int, named: list[str]) -> str:
    return ", and others" if count > len(named) else ""


@rule("counted_calls", CALM, of="strace", needs="the table of strace -c or -C, and no -T")
@rule("counted_calls", CALM, of="strace_summary", needs="the table of strace -c")
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
        `pread64` took 75 % of the 400 us in the summary of calls: 30 calls, 10 us each.
    """
    if log.summary is None or (log.kind == "strace" and trace_of(log).is_timed):
        return
    time = pl.coalesce("wall_total_s", "seconds").alias("seconds")  # the duration where it is counted, too
    rows = log.summary.with_columns(time).filter(pl.col("syscall") != "total", pl.col("seconds") > 0)
    if rows.is_empty():
        return
    run, of_run = _longest_run(rows)
    is_clock = pl.col("syscall").is_in(CLOCKS)  # one service of the kernel
    kind = pl.when(is_clock).then(pl.lit(CLOCKS[0])).otherwise("syscall").alias("syscall")
    kinds = run.select("seconds", "calls", "errors", kind, name="syscall").sort(
        "seconds", "name", descending=[True, False]
    )
    sums, names = pl.col("seconds", "calls", "errors").sum(), pl.col("name").unique(maintain_order=True)
    named = kinds.group_by("syscall", maintain_order=True).agg(sums, names=names)
    named, whole = named.sort("seconds", "syscall", descending=[True, False]), float(run["seconds"].sum())
    top = named.row(0, named=True)
    rest = float((work := named.filter(~pl.col("syscall").is_in(_IDLE)))["seconds"].sum())
    is_idle = top["syscall"] in _IDLE and rest >= PART * whole
    lead = work.row(0, named=True) if is_idle else top
    each = lead["seconds"] / max(lead["calls"], 1)
    step = _SUMMED.get(lead["syscall"], COMMAND if each >= _SHORT_S else _BUSY)
    beside = "; strace sees those that the vDSO does not answer" if lead["syscall"] in CLOCKS else ""
    if lead["syscall"] in CLOCKS and (source := _clock_source(log)):
        beside, step = f"{beside}. The clock source is `{source}`", _CLOCKS_OFFERED
    if lead["calls"] >= LEAST_WAITS and is_synchronous(lead["syscall"], log.summary["syscall"]):
        beside, step = NOT_SUBMITTED, WRITER
        if writer := _writer(log):
            beside, step = f"{beside}. `{writer}` writes so, one at a time, where asynchronous I/O is off", ASYNC_OFF
    if trips := _served(named, lead["syscall"]):
        beside, step = trips, MORE_ROWS
    if lead["syscall"] not in _WOULD_WAIT and lead["errors"] >= _NEARLY_ALL * max(lead["calls"], 1):
        beside, step = f", {lead['errors']:,} of which failed", _FAILED.format(lead["syscall"])
    is_attached = pl.all_horizontal(pl.col("text").str.contains(word, literal=True) for word in _ATTACHED)
    attached: int = log.diagnostics.filter(is_attached)["text"].n_unique()
    longest = run.select((pl.col("seconds") / pl.col("calls")).max()).item() or 0.0
    is_read = lead["syscall"] in _OF_FILES and lead["syscall"] not in SUBMITS
    if attached and whole < SHORT_S and longest < _SLOW_S and not run["errors"].sum():
        who = f"{attached} processes" if attached > 1 else "the process"
        said = f"{seconds(whole)} in calls of {who} that strace attached to"
        yield Finding(CALM, f"Nothing stands out: {said}; no kind of them took 1 ms on average, none failed.", order=-1)
        step = _ELSEWHERE
    elif not beside and is_read and lead["calls"] >= _MANY and _SHORT_S <= each < _FAST_S:
        sleeps = named.filter(pl.col("syscall").is_in(_IDLE), pl.col("seconds") >= _SLOW_S * pl.col("calls"))
        fast, also = (": fast", "") if sleeps.height else ("; as elapsed time (-w) that is fast", _CPU_ONLY)
        beside, step = f"{fast}, so their number counts, not the storage{also}", f"{_OFTEN}; {_WALL}"
    if is_idle:
        beside = f", where it may be idle. {_took(lead, rest, f'other {seconds(rest)}')}{beside}"
    yield Finding(
        "counted_calls",
        f"{_took(top, whole, f'{seconds(whole)} in the summary of calls{of_run}')}{beside}.",
        Interval.exact(top["seconds"] / whole),
        "counted time",
        next=RARE.format(seconds(whole)) if whole < SHORT_S and not attached else step,
        evidence=(Evidence("summary", tuple(top["names"])),),
    )


def is_synchronous(written: str, names: Iterable[str]) -> bool:
    """Whether a call writes at a place in a file, and none of many others submits requests.

    Examples:
        >>> writer = ["pwrite64", "semtimedop", "times", "getrusage"]
        >>> is_synchronous("pwrite64", writer), is_synchronous("times", writer)
        (True, False)
        >>> is_synchronous("pwrite64", [*writer, "io_submit"]), is_synchronous("pwrite64", writer[:2])
        (False, False)
    """
    kinds = {*names}
    return written in _WRITES_AT and len(kinds - {_TOTAL}) > _ASKED_FOR and not {*SUBMITS, *HIDDEN} & kinds


def is_writer(log: StraceLog, lead: Ledger) -> bool:
    """Whether a process writes to several files, one request at a time, and reads none, as DBWn without async I/O."""
    names, targets = (rows.filter(is_own(lead)) for rows in (times_of(log).calls["pid", "name"], times_of(log).targets))
    written = with_classes(targets).filter(pl.col("class") == "file writes")
    is_alone = any(is_synchronous(name, names["name"]) for name in written["name"].unique())
    return is_alone and written["fd"].n_unique() >= _FILES_OF_WRITER and "file reads" not in lead.frame["class"]


def _writer(log: StraceLog) -> str:
    """The one process of an instance that lines beside a summary name (ps), where it is a database writer."""
    words = {word for text in log.diagnostics["text"].drop_nulls() for word in text.split()}
    found = [word for word in words if word.startswith(_PROCESSES)]
    return found[0] if len(found) == 1 and found[0].startswith(_WRITERS) else ""


def _clock_source(log: StraceLog) -> str:
    """The word below a line that names the file of the clock source."""
    texts = [text.strip() for text in log.diagnostics["text"].drop_nulls()]
    found = (other for one, other in pairwise(texts) if one.endswith(_CLOCK_FILE) and len(other.split()) == 1)
    return next(found, "")


def _took(row: dict[str, Any], whole: float, of: str) -> str:
    each = seconds(row["seconds"] / max(row["calls"], 1))
    took = f"{named_list([f'`{name}`' for name in row['names']])} took {percent(row['seconds'] / whole)} of the {of}"
    return f"{took}: {often_each(Interval.exact(row['calls']), None, 'calls', each)}"


def _served(named: pl.DataFrame, top: str) -> str:
    """What a read or write is where there are as many of both, and the files are read by other calls."""
    calls, other = dict(named.select("syscall", "calls").iter_rows()), {"read": "write", "write": "read"}.get(top)
    # a program that starts reads its libraries so, a few times
    files = named.filter(pl.col("syscall").is_in(_OF_FILES), pl.col("calls") >= LEAST_WAITS).head(1)
    if other is None or files.is_empty() or not is_pair(calls[top], calls.get(other) or 0):
        return ""
    name, took, count = files.select("syscall", "seconds", "calls").row(0)
    disk = f"not for a disk; {counted(count, f'`{name}` calls')} took {seconds(took)}"
    return f", beside {calls[other]:,} `{other}` calls: {SERVES}, {disk}"


def is_pair(one: float, other: float) -> bool:
    """Whether calls of two kinds come together, by their numbers: as those that read and write for round trips."""
    return one >= LEAST_WAITS and abs(one - other) <= _ALIKE * one


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
    where = f" (table {longest['table']}, the longest of {sums.height:,} runs)" if sums.height > 1 else ""
    return found.filter(pl.col("run") == longest["run"]), where


@rule(
    "failing_calls",
    of="strace",
    needs="results of calls",
    thresholds={"100 failed calls, 90 % of their kind and 10 % of all": "a convention"},
)
def failing_calls(log: StraceLog) -> Iterator[Finding]:
    r"""Calls that a process made many times in vain: a file that is not there, a port without a listener.

    Reads, waits and locks are left out: they fail by design, where they would have to wait.

    Examples:
        >>> import iolab
        >>> line = '1.{:06} stat("/a", 0x7f) = -1 ENOENT (No such file or directory) <0.000010>\n'
        >>> log = "1.000000 getpid() = 7 <0.000001>" + chr(10)
        >>> log += "".join(line.format(20 * number) for number in range(1, 201))
        >>> for one in failing_calls(iolab.load(log.encode())): print(one.sentence)
        200 of 200 `stat` calls failed with ENOENT, 10.0 us each.
    """
    calls = trace_of(log).calls
    sums = calls.filter(~pl.col("name").is_in(_WOULD_WAIT)).group_by("name").agg(pl.col("calls", "failed").sum())
    whole = int(calls.get_column("calls").sum())
    if int(calls.get_column("failed").sum()) == whole:  # all_calls_failed says so
        return
    is_many = (pl.col("failed") >= _MANY) & (pl.col("failed") >= _NEARLY_ALL * pl.col("calls"))
    found = sums.filter(is_many, pl.col("failed") >= PART * whole)
    for name, count, failed in found.sort("failed", "name", descending=[True, False]).head(1).iter_rows():
        rows = times_of(log).named.errors.filter(pl.col("name") == name)
        errors = rows.group_by("errno").agg(pl.col("calls").sum()).sort("calls", "errno", descending=[True, False])
        errno = errors.item(0, "errno")
        named = rows.group_by("folder").agg(pl.col("calls").sum()).drop_nulls().filter(pl.col("folder") != "")
        named = named.sort("calls", "folder", descending=[True, False])
        time = int(rows.get_column("elapsed").sum()) / 1e9
        took = f", {seconds(time / failed)} each" if trace_of(log).printed and time > 0 else ""
        where = f", in {counted(named.height, 'folders')}, most often `{named.item(0, 0)}`" if named.height else ""
        is_missing = errno == _NOT_THERE and named.height > 1
        yield Finding(
            "failing_calls",
            f"{failed:,} of {count:,} `{name}` calls failed with {errno}{took}{where}.",
            detail=f"{seconds(time)} in all" if took else "",
            next="take the folders without the files out of the search path of the program, or put them last"
            if is_missing
            else f"see what {errno} means for it: man 2 {name}",
            evidence=(Evidence("calls", (name,)),),
            order=1,
        )


@rule(
    "waited_together",
    of="strace",
    needs="times of calls of several processes",
    thresholds={"90 % of the longest process": "a convention"},
)
def waited_together(log: StraceLog) -> Iterator[Finding]:
    """Processes or threads that were in one call nearly all the time, and what they waited for where that is the same.

    Examples:
        >>> import iolab
        >>> lines = [f'{pid} 1700000000.00000{pid} futex(0x7f01, FUTEX_WAIT, 2, NULL) = ? <9.000000>' for pid in (7, 8)]
        >>> for one in waited_together(iolab.load(chr(10).join(lines).encode())): print(one.sentence)
        Both processes waited in `futex` for at least 9 s, all at 0x7f01.
    """
    lead = process_ledger(log)
    if lead is None or lead.total is None:
        return
    least = _NEARLY_ALL * lead.total.value
    locks = times_of(log).classed.filter(pl.col("class") == "locks and messages").get_column("name").unique()
    waits = times_of(log).calls.filter(pl.col("name").is_in(locks.to_list()), pl.col("longest") >= least * 1e9)
    found = waits.group_by("name").agg("pid", pl.col("longest").min()).sort(pl.col("pid").list.len(), descending=True)
    if found.is_empty() or len(pids := found.item(0, "pid")) < 2:
        return
    name, whole = found.item(0, "name"), times_of(log).calls.get_column("pid").n_unique()
    places = times_of(log).named.locks.filter(pl.col("name") == name, pl.col("pid").is_in(pids.to_list())).select("at")
    noun = times_of(log).noun
    many = every(whole, noun) if len(pids) == whole else f"{len(pids)} of {whole:,} {noun}"
    at = f", all at {places.item(0, 0)}" if places.n_unique() == 1 and places.item(0, 0) else ""
    longest = found.item(0, "longest") / 1e9
    yield Finding(
        "waited_together",
        f"{many} waited in `{name}` for at least {seconds(longest)}{at}.",
        Interval(1.0, min(1.0, longest / lead.total.value), 1.0),
        "the longest process",
        next=STACKS,
        evidence=(Evidence("calls", (name,)),),
        order=1,
    )


def process_ledger(log: StraceLog) -> Ledger | None:
    """The account of the process that a log is described by; None where none has a total."""
    return next((one for one in ledgers(log) if not one.void and one.scope.startswith("process")), None)


def alone(log: StraceLog, scope: str) -> str:
    """How to see one process of a log: its lines alone, where each has its own time."""
    dialect, pid = log.dialect, scope.partition(" ")[2]
    if dialect.pid == "file":
        return f"see {scope} alone: iolab show LOG.{pid}"
    if dialect.relative_ts != "none":
        return f'see {scope} alone: in Python, iolab.ledger(log, "{scope}")'
    return f"see {scope} alone: grep '{f'^{pid} ' if dialect.pid == 'column' else f'pid *{pid}]'}' LOG | iolab show -"


def is_own(lead: Ledger) -> pl.Expr:
    """Whether a row is of the process of a ledger."""
    pid = lead.scope.partition(" ")[2]
    return pl.col("pid").eq_missing(pl.lit(int(pid) if pid else None, pl.Int32))


def silent_peer(times: CallTimes, name: str, which: pl.Expr) -> tuple[str, str]:
    """The address and port of the socket on which most calls of a name timed out, and that as the end of a sentence.

    Both are empty where the log shows none.

    Args:
        times: of the log.
        name: of the calls, such as `poll`.
        which: the calls to look at.
    """
    late = times.named.peers.filter(which, pl.col("name") == name).group_by("to").agg(pl.col("calls").sum())
    peers = late.drop_nulls().sort("calls", "to", descending=[True, False])
    most, every = sum(peers.get_column("calls")[:1]), int(late.get_column("calls").sum())
    if most <= every / 2:
        return "", ""
    peer = str(peers.item(0, "to"))
    return peer, f", {f'{most:,} of them ' * (most < every)}with no answer of `{peer}`"


def in_turn(log: StraceLog, name: str, which: pl.Expr, socket: str, count: int) -> tuple[str, str]:
    """Whether a client wrote one request before each read of a socket, in words; and the least time of all answers.

    Args:
        log: of the calls.
        name: of the reads, such as `recvfrom`.
        which: the processes to look at.
        socket: as `-yy` prints it, with both addresses.
        count: of the reads; empty texts where others are of another socket.
    """
    hosts, _, ports = zip(*(end.rpartition(":") for end in socket.removesuffix("]").split("->")), strict=True)
    is_near = hosts[0].partition("[")[2] == hosts[-1]
    pair = next((one for one in PAIRS if name in one), None)
    is_client = len(ports) == 2 and all(map(str.isdigit, ports)) and int(ports[0]) >= _OWN_PORT > int(ports[1])
    if pair is None or not is_client or count < LEAST_WAITS:
        return "", ""
    calls = log.calls.filter(which, pl.col("name").is_in(pair), pl.col("fd_path") == socket)
    rows = calls.select("name", "elapsed", "result", turns=pl.col("name") != pl.col("name").shift()).collect()
    reads, writes = rows.filter(pl.col("name") == name), rows.filter(pl.col("name") != name)
    if reads.height != count or rows["turns"].sum() < _NEARLY_ALL * rows.height:
        return "", ""
    least, middle = (float(reads.select(one.dt.total_nanoseconds()).item() or 0) / 1e9 for one in _LEAST_AND_MIDDLE)
    size = size_text(round(float(writes["result"].mean() or 0)))  # type: ignore[arg-type]  # a column of numbers
    slowest = f"Each request ({size} on average) waited for its answer; no answer came in less than {seconds(least)}, "
    is_even = trace_of(log).printed and not is_near and least >= max(_SLOW_S, _NEARLY_ALL * middle)
    latency = f"{slowest}consistent with the latency of the network." if is_even else ""
    return f", one for each `{writes.item(0, 'name')}`", latency


def flushed_at_close(log: StraceLog, which: pl.Expr) -> str:
    """The file that the longest `close` was of, and what was written to it before: a client of NFS then sends it."""
    closes = log.calls.filter(which, pl.col("name").cast(pl.String) == "close").sort("elapsed", descending=True).head(1)
    for pid, line, args in closes.select("pid", "line", "args").collect().iter_rows():
        own = pl.col("pid").eq_missing(pl.lit(pid, pl.Int32)) & (pl.col("fd").cast(pl.String) == args.partition("<")[0])
        before = trace_of(log).requests.filter(own, pl.col("line") < line, pl.col("file").is_not_null())
        file = str(before.item(-1, "file")) if before.height else ""
        written = before.filter(pl.col("file") == file, pl.col("op") == "write").get_column("bytes_transferred").sum()
        if written:
            return f", after {size_text(int(written))} were written to `{file}`"
    return ""


def with_program(log: StraceLog, step: str) -> str:
    """A next step for a process that has ended: its program is started anew, and nothing of it is in /proc."""
    if _LIVE not in step or not all_ended(log):
        return step
    parts = [one.replace("-p PID", "PROGRAM") for one in step.split("; ") if _DEBUGGER not in one]
    return "; ".join(one for one in parts if _LIVE not in one) or COMMAND.replace("-p PID", "PROGRAM")


def is_calm(log: StraceLog) -> bool:
    """Whether all processes ended by themselves and without an error, and no request failed."""
    return all_ended(log) and not any(times_of(log).ended.values()) and not any(failed_requests(log))


def all_ended(log: StraceLog) -> bool:
    """Whether the log shows the end of every process that made a call."""
    times = times_of(log)
    pids = set(times.calls.get_column("pid"))
    return bool(pids) and pids <= times.ended.keys()
