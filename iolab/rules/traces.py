"""An strace log: how files were opened and read, where time went, and what the log cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.awr import figure_of
from iolab.metrics.formatting import count_text, share_text, size_text, time_text
from iolab.metrics.trace_calls import submit_cost
from iolab.metrics.trace_queue import depth
from iolab.metrics.trace_reads import file_or_fd
from iolab.rules.finding import Evidence, Finding
from iolab.rules.trace_calls import counted_calls, failed_requests, trace_profile
from iolab.rules.trace_facts import COMMAND, Trace, data_files, opens_of, seconds_of, short_name, trace_of
from iolab.rules.trace_reads import page_cache_share, read_latency_class, read_sizes, timed_few
from logframe.interval import Interval
from straceparse.aio_columns import REAPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from straceparse import StraceLog

_LEAST_SUBMITS: Final = 10


def trace_findings(log: StraceLog) -> Iterator[Finding]:
    """The findings of an strace log.

    Examples:
        >>> import iolab
        >>> log = b'''1700000000.000000 openat(AT_FDCWD, "users01.dbf", O_RDWR|O_DIRECT) = 3 <0.000010>
        ... 1700000000.000100 pread64(3, "", 8192, 0) = 8192 <0.000400>
        ... 1700000000.000600 pread64(3, "", 8192, 8192) = 8192 <0.000380>'''
        >>> for one in trace_findings(iolab.load(log)): print(one.sentence)
        `users01.dbf` was opened with O_DIRECT (line 1): the kernel was asked to go past its cache.
        All 16 KiB of `users01.dbf` were read synchronously, 2 reads.
        Of 980 us 79.6 % passed in `pread64`, 1.0 % in `openat`, 19.4 % between calls.
        Both reads were of 8 KiB.
        Through the buffer cache or direct path: the calls are the same.
    """
    trace = trace_of(log) if log.kind == "strace" else None
    if trace is None or not trace.is_timed:
        yield from counted_calls(log)
    if trace is None:
        return
    for rule in (
        failed_requests,
        page_cache_bypassed,
        async_or_sync,
        async_in_name_only,
        trace_profile,
        read_sizes,
        read_latency_class,
        page_cache_share,
        timed_few,
        direct_path,
        trace_again,
        lines_not_read,
    ):
        yield from rule(trace)


def page_cache_bypassed(trace: Trace) -> Iterator[Finding]:
    """Whether files were opened with O_DIRECT; refused where the open is not in the log.

    Examples:
        >>> import iolab
        >>> log = b'1.000000 pread64(3</u01/users01.dbf>, "", 8192, 0) = 8192 <0.000400>'
        >>> for one in page_cache_bypassed(trace_of(iolab.load(log))): print(one.sentence)
        Whether `users01.dbf` was read past the kernel's cache: the log does not show how it was opened.
    """
    for row in data_files(trace):
        file = str(row["file"])
        opened = opens_of(trace, file)
        ways = {is_direct for _, is_direct in opened}
        if not opened:
            yield Finding(
                "page_cache_bypassed",
                f"Whether `{short_name(file)}` was read past the kernel's cache: the log does not show how it was "
                "opened.",
                collect="`lsof +fg`, or `/proc/PID/fdinfo`",
                is_refused=True,
            )
        elif len(ways) == 1:
            line, is_direct = opened[0]
            with_, then = ("with", "the kernel was asked to go past its cache")
            if not is_direct:
                with_, then = "without", "the kernel's cache was used"
            yield Finding(
                "page_cache_bypassed",
                f"`{short_name(file)}` was opened {with_} O_DIRECT (line {line:,}): {then}.",
                why="O_DIRECT is a flag of the open; ZFS and servers of NFS keep caches of their own",
                refuted_by="`fcntl(F_SETFL)` later in the log",
                evidence=(Evidence("calls", lines=(line,)),),
                order=1,
            )


def async_or_sync(trace: Trace) -> Iterator[Finding]:
    """Which share of each file's bytes was read asynchronously; refused where requests carry no file."""
    is_aio = pl.col("mode") == "async"
    unnamed = trace.reads.filter(is_aio & pl.col("file").is_null() & pl.col("fd").is_null()).collect().height
    uring = trace.requests.filter(pl.col("syscall") == "io_uring_enter").height
    unprinted = trace.unprinted
    if unnamed or uring:
        what = (
            f"{count_text(unnamed, 'request')} of io_submit {'names' if unnamed == 1 else 'name'} no file"
            if unnamed
            else "io_uring shows no requests"
        )
        yield Finding(
            "async_or_sync", f"Which files were read asynchronously: {what}.", collect=COMMAND, is_refused=True
        )
        return
    most = depth(trace.requests, curve=trace.depths)
    top = most.filter(pl.col("metric") == "depth_max").get_column("value").to_list()
    at_once = f", at most {top[0]:.0f} at a time" if top and top[0] is not None and trace.modes.height == 1 else ""
    for row in data_files(trace):
        sync_reads, async_reads = _count(row["sync_reads"]), _count(row["async_reads"])
        sync_bytes, async_bytes = _count(row["sync_bytes"]), _count(row["async_bytes"])
        size, name = sync_bytes + async_bytes, f"`{short_name(row['file'])}`"
        if not size:
            continue
        requests = f"{count_text(async_reads, 'request')} by io_submit{at_once}"
        ended = _ended(trace, row["file"])
        if not async_reads:
            said = f"All {size_text(size)} of {name} were read synchronously, {count_text(sync_reads, 'read')}."
        elif unprinted:
            said = (
                f"{name} was read by io_submit: {count_text(async_reads, 'request')}, of which {ended:,} returned "
                f"{size_text(async_bytes)}, and more that strace did not print"
                + (
                    f"; {count_text(sync_reads, 'read')} {'was' if sync_reads == 1 else 'were'} synchronous."
                    if sync_reads
                    else "."
                )
            )
        elif not sync_reads and ended < async_reads:
            said = (
                f"{name} was read asynchronously: {requests}; {ended:,} of them returned {size_text(async_bytes)}, of "
                "the others the log has no end."
            )
        elif not sync_reads:
            said = f"All {size_text(size)} of {name} were read asynchronously: {requests}."
        else:
            said = (
                f"{share_text(async_bytes / size)} of the bytes of {name} were read asynchronously: {requests}; "
                f"{count_text(sync_reads, 'read')} {'was' if sync_reads == 1 else 'were'} synchronous."
                + (f" Of {async_reads - ended:,} requests the log has no end." if ended < async_reads else "")
            )
        yield Finding(
            "async_or_sync",
            said,
            why="the calls decide: io_submit is asynchronous, pread64 is not",
            caveat=f"strace did not print the size of {count_text(unprinted, 'request')}" if unprinted else "",
            evidence=(Evidence("io_mode", (str(row["file"]),)),),
            order=2,
        )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _ended(trace: Trace, file: object) -> int:
    """Asynchronous reads of a file whose end the log has, failed ones too: of the others it is not known."""
    has_end = pl.any_horizontal(pl.col("bytes_transferred", "errno").is_not_null())
    is_ended = (pl.col("mode") == "async") & has_end
    ended = trace.reads.filter(is_ended).select("file", "fd").collect()
    return ended.filter(file_or_fd().str.split("/").list.last() == short_name(file)).height


def async_in_name_only(trace: Trace) -> Iterator[Finding]:
    """Time in io_submit on files that were opened without O_DIRECT.

    Examples:
        >>> import iolab
        >>> log = b'1.000000 openat(AT_FDCWD, "users01.dbf", O_RDWR|O_DIRECT) = 3 <0.000010>'
        >>> list(async_in_name_only(trace_of(iolab.load(log))))
        []
    """
    submits = trace.aio_calls.filter(pl.col("name") == "io_submit")
    files = [str(row["file"]) for row in data_files(trace) if _count(row["async_reads"])]
    opened = [is_direct for file in files for _, is_direct in opens_of(trace, file)]
    if submits.height < _LEAST_SUBMITS or not opened or any(opened) or trace.window_s is None:
        return
    reaps = trace.aio_calls.filter(pl.col("name").is_in(REAPS))
    column = "elapsed" if trace.is_timed else "gap"
    inside, waiting = (seconds_of(frame, column) for frame in (submits, reaps))
    window = trace.window_s
    if trace.is_timed:
        share = submit_cost(trace.aio_calls).filter(pl.col("metric") == "submit_time_share")
        figure = figure_of(share)
        if figure is None or figure.lo < 0.5:
            return
    elif inside <= waiting or inside < 0.2 * window:
        return
    most = "" if trace.is_timed else "at most "
    yield Finding(
        "async_in_name_only",
        f"`io_submit` took {most}{time_text(inside)} of {time_text(window)} in {count_text(submits.height, 'call')} on "
        f"{_named(files)}, opened without O_DIRECT: asynchronous calls on the kernel's cache wait.",
        Interval(inside / window, inside / window if trace.is_timed else 0, inside / window),
        "elapsed time",
        why="the kernel reads into its cache within io_submit",
        refuted_by="short times of `io_submit` and long ones of `io_getevents`",
        evidence=(Evidence("calls", ("io_submit",)),),
    )


def _named(files: Sequence[str]) -> str:
    return ", ".join(f"`{short_name(file)}`" for file in files[:2]) + (", ..." if len(files) > 2 else "")


def direct_path(trace: Trace) -> Iterator[Finding]:
    """What no strace log shows of the database's reads."""
    if trace.has_reads:
        yield Finding(
            "buffered_or_direct_path",
            "Through the buffer cache or direct path: the calls are the same.",
            collect="an extended SQL trace (event 10046), or V$SESSION_EVENT",
            is_refused=True,
            order=8,
        )


def trace_again(trace: Trace) -> Iterator[Finding]:
    """What the log does not say for want of an option of strace, with the command for the next trace."""
    if trace.calls.is_empty():
        return
    missing = []
    if not trace.has_stamps:
        missing.append("when calls began (-ttt)")
    if not trace.printed:
        missing.append("how long they took (-T)")
    if any(str(row["file"]).startswith("fd ") for row in data_files(trace)):
        missing.append("which files (-yy)")
    if trace.requests.filter(~pl.col("is_printed")).height:
        missing.append("all requests of a list (-v)")
    if missing:
        yield Finding(
            "trace_again",
            f"The log does not say {', '.join(missing)}.",
            collect=f"`{COMMAND}`",
            order=9,
        )


def lines_not_read(trace: Trace) -> Iterator[Finding]:
    """Lines that are no call, signal or exit.

    Examples:
        >>> import iolab
        >>> log = b'pread64(3, "", 8192, 0) = 8192' + chr(10).encode() + b'a remark of the user'
        >>> for one in lines_not_read(trace_of(iolab.load(log))): print(one.sentence)
        1 of 2 lines was not read; the first is line 2.
    """
    unread = trace.unread.filter(pl.col("line").is_not_null()).unique(["source", "line"], maintain_order=True)
    if unread.is_empty():
        return  # notes on the whole log, such as on its clock, are of no line
    first, count = unread.row(0, named=True), unread.height
    of = f" of `{first['source']}`" if first["source"] and unread.get_column("source").n_unique() > 1 else ""
    in_part = "" if unread.filter(pl.col("kind") != "unparsed").is_empty() else ", or only in part"
    yield Finding(
        "lines_not_read",
        f"{count:,} of {count_text(trace.lines, 'line')} {'was' if count == 1 else 'were'} not read{in_part}; the "
        f"first is line {first['line']:,}{of}.",
        why="they are in the diagnostics",
        evidence=(Evidence("diagnostics", lines=tuple(unread.get_column("line").head(5))),),
        order=9,
    )
