"""An strace log: how files were opened and read, and what the log cannot tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, size_text
from iolab.metrics.table import nanoseconds
from iolab.metrics.trace_facts import COMMAND, Trace, opens_of, seconds_of, short_name, submits_in_name_only, trace_of
from iolab.metrics.trace_reads import file_or_fd
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import counted, every, named_list, percent, seconds
from iolab.rules.registry import apply_rules, rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.strace import SUBMIT
from logframe.interval import Interval
from straceparse.call_table import HIDDEN, SUBMITS

# The rules of other modules are registered where they are imported.
from iolab.rules import trace_calls, trace_outliers, trace_reads, trace_time, trace_writes  # isort: skip  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from straceparse import StraceLog

#: Of files with this many bytes read it is reported that they were opened without O_DIRECT.
_MUCH: Final = 1 << 20
#: This many lines that were not read are a problem of the log.
_MANY: Final = 0.05
#: What a stamp or a process begins with; other lines without them are the output of another program.
_BEGINS: Final = "0123456789["
_OTHERS: Final = "unparsed"
#: This many runs are named.
_MOST_RUNS: Final = 3
#: What the name of a program, or of a data file, of Oracle begins or ends with.
_ORACLE: Final = "ora"
#: Larger reads are of several blocks.
_LARGEST_BLOCK: Final = 32 << 10
_DATA_FILES: Final = (".dbf", ".ctl", ".log", ".ora")


def trace_findings(log: StraceLog) -> Iterator[Finding]:
    """What the rules find in an strace log; the parts of its time are found by the time ledger.

    Examples:
        >>> import iolab
        >>> log = b'''1700000000.000000 openat(AT_FDCWD, "users01.dbf", O_RDWR|O_DIRECT) = 3 <0.000010>
        ... 1700000000.000100 pread64(3, "", 8192, 0) = 8192 <0.000400>
        ... 1700000000.000600 pread64(3, "", 8192, 8192) = 8192 <0.000380>'''
        >>> for one in trace_findings(iolab.load(log)): print(one.sentence)
        Both reads returned 8 KiB each.
        The records span 0.980 ms.
        `pread64` took 80 % of 980 us: 2 calls, 390 us each, all of it on `users01.dbf`.
        19 % of 980 us passed between calls: user CPU, run queue, page faults, untraced calls or strace itself.
        `users01.dbf` was opened with O_DIRECT (line 1), bypassing the page cache.
        Both reads of `users01.dbf` were synchronous: 16 KiB.
    """
    for one in apply_rules(log.kind, log):
        yield replace(one, next=trace_calls.with_program(log, one.next))


@rule("page_cache_bypassed", of="strace", needs="the calls that opened the files that were read")
def page_cache_bypassed(log: StraceLog) -> Iterator[Finding]:
    """Whether files were opened with O_DIRECT; refused where the open is not in the log.

    Examples:
        >>> import iolab
        >>> log = b'1.000000 pread64(3</u01/users01.dbf>, "", 8192, 0) = 8192 <0.000400>'
        >>> for one in page_cache_bypassed(iolab.load(log)): print(one.sentence)
        The log does not show whether `users01.dbf` was opened with O_DIRECT.
    """
    trace = trace_of(log)
    files = trace.every_file
    opened = {str(row["file"]): opens_of(trace, str(row["file"])) for row in files}
    sizes = {str(row["file"]): _count(row["sync_bytes"]) + _count(row["async_bytes"]) for row in files}
    unknown = [file for file, ways in opened.items() if not ways]
    if unknown and _took_half(trace, unknown):  # of files that took little time it does not matter
        were = "was" if len(unknown) == 1 else "were"
        yield Finding(
            "page_cache_bypassed",
            f"The log does not show whether {_named(unknown)} {were} opened with O_DIRECT.",
            trace.share_of_few_reads,
            "the log",
            next="lsof +fg -p PID, or cat /proc/PID/fdinfo/FD",
            is_refused=True,
        )
    for is_direct in (True, False):
        lines = {file: [line for line, way in ways if way == is_direct] for file, ways in opened.items()}
        found = {file: of[0] for file, of in lines.items() if of and (is_direct or sizes[file] >= _MUCH)}
        found = dict([*found.items()][:_MOST_RUNS])
        if not found:
            continue
        were, where = ("was", "line") if len(found) == 1 else ("were", "lines")
        how = "with O_DIRECT" if is_direct else "without O_DIRECT"
        then = "bypassing the page cache" if is_direct else "so reads go through the page cache"
        yield Finding(
            "page_cache_bypassed",
            f"{_named([*found])} {were} opened {how} ({where} {', '.join(f'{line:,}' for line in found.values())}), "
            f"{then}.",
            trace.share_of_few_reads,
            "the log",
            evidence=(Evidence("calls", lines=tuple(found.values())),),
            order=1,
        )


def _took_half(trace: Trace, files: list[str]) -> bool:
    """Whether the reads of some files took half of the time of all reads, or more."""
    times = trace.reads.select(pl.col("latency"), own=file_or_fd().is_in(files)).collect()
    return 2 * seconds_of(times.filter("own"), "latency") >= seconds_of(times, "latency")


@rule("async_or_sync", of="strace", needs="reads whose files the log names")
def async_or_sync(log: StraceLog) -> Iterator[Finding]:
    """Which share of each file's bytes was read asynchronously; refused where requests carry no file."""
    trace = trace_of(log)
    is_aio = pl.col("mode") == "async"
    unnamed = trace.reads.filter(is_aio & pl.col("file").is_null() & pl.col("fd").is_null()).collect().height
    uring = trace.requests.filter(pl.col("syscall").is_in(HIDDEN))
    if unnamed or uring.height:
        what, collect = "", COMMAND
        if uring.height:
            carried = count_text(int(uring.get_column("requests").sum() or 0), "request")
            what, collect = f"io_uring carried {carried} that strace does not show", "bpftrace, or iostat -xt 1"
        else:
            is_one = unnamed == 1
            what = f"{count_text(unnamed, 'request')} of io_submit {'does' if is_one else 'do'} not name a file"
            if trace.reads.filter(is_aio, pl.col("fd").is_not_null()).collect().height >= unnamed:
                what = (
                    f"{count_text(unnamed, 'completion')} in io_getevents {'matches' if is_one else 'match'} no request"
                )
                what += " of io_submit"
        said = f"The log does not show which files were read asynchronously: {what}."
        yield Finding("async_or_sync", said, next=collect, is_refused=True)
        return
    alike: dict[str, list[dict[str, object]]] = {"sync": [], "async": []}
    for row in trace.every_file:
        if not _count(row["sync_bytes"]) + _count(row["async_bytes"]):
            continue
        is_whole = not trace.unprinted and _ended(trace, row["file"]) >= _count(row["async_reads"])
        if not _count(row["async_reads"]):
            alike["sync"].append(row)
        elif not _count(row["sync_reads"]) and is_whole:
            alike["async"].append(row)
        elif row in trace.data_files:
            yield _of_mode(trace, [row], _mixed(trace, row))
    for mode, rows in alike.items():
        if not rows:
            continue
        size = sum(_count(row[f"{mode}_bytes"]) for row in rows)
        count = sum(_count(row[f"{mode}_reads"]) for row in rows)
        how = "synchronous" if mode == "sync" else f"submitted with io_submit{_at_once(trace, rows)}"
        were = "was" if count == 1 else "were"
        said = f"{every(count, 'reads')} of {_named([row['file'] for row in rows])} {were} {how}: {size_text(size)}."
        yield _of_mode(trace, rows, said)


def _of_mode(trace: Trace, rows: Sequence[dict[str, object]], said: str) -> Finding:
    unprinted = trace.unprinted
    return Finding(
        "async_or_sync",
        said,
        trace.share_of_few_reads,
        "the log",
        caveat=f"strace did not print the size of {count_text(unprinted, 'request')}" if unprinted else "",
        evidence=(Evidence("io_mode", tuple(str(row["file"]) for row in rows)),),
        order=2,
    )


def _at_once(trace: Trace, rows: Sequence[dict[str, object]]) -> str:
    """How many reads of each of some files were outstanding at a time."""
    names = {short_name(row["file"]) for row in rows}
    queues = trace.queues.filter(pl.col("op") == "read", pl.col("file").str.split("/").list.last().is_in(names))
    if queues.is_empty() or trace.unprinted:
        return ""
    most = max(queues.get_column("depth_max"))
    of_each = " per file" if len(rows) > 1 else ""
    return f", at most {most} at a time{of_each}" if most > 1 else f", one at a time{of_each} (queue depth 1)"


def _mixed(trace: Trace, row: dict[str, object]) -> str:
    """What is reported of a file that was read both ways, or whose requests the log does not show whole."""
    sync_reads, async_reads = _count(row["sync_reads"]), _count(row["async_reads"])
    sync_bytes, async_bytes = _count(row["sync_bytes"]), _count(row["async_bytes"])
    requests = f"{count_text(async_reads, 'request')} by io_submit{_at_once(trace, [row])}"
    name, ended = f"`{short_name(row['file'])}`", _ended(trace, row["file"])
    were = f"{count_text(sync_reads, 'read')} {'was' if sync_reads == 1 else 'were'} synchronous"
    if trace.unprinted:
        returned = "which" if ended == async_reads else f"{ended:,} of which"
        printed = f"the log prints only {async_reads:,} requests, {returned} returned {size_text(async_bytes)} together"
        return f"{name} was read asynchronously (io_submit): {printed}{f'; {were}.' if sync_reads else '.'}"
    if not sync_reads:
        return (
            f"{name} was read asynchronously: {requests}; {ended:,} of them returned {size_text(async_bytes)}. "
            "The log does not show how the others ended."
        )
    share = percent(async_bytes / (sync_bytes + async_bytes))
    return f"{share} of the bytes of {name} were read asynchronously: {requests}; {were}." + (
        f" The log does not show the end of {async_reads - ended:,} requests." if ended < async_reads else ""
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _ended(trace: Trace, file: object) -> int:
    """Asynchronous reads of a file whose end the log has, failed ones too: of the others it is not known."""
    has_end = pl.any_horizontal(pl.col("bytes_transferred", "errno").is_not_null())
    is_ended = (pl.col("mode") == "async") & has_end
    ended = trace.reads.filter(is_ended).select("file", "fd").collect()
    return ended.filter(file_or_fd().str.split("/").list.last() == short_name(file)).height


@rule(
    "async_in_name_only",
    of="strace",
    needs="io_submit on files whose open is in the log",
    thresholds={"half of the time in io_submit and io_getevents": "a request that is queued takes microseconds"},
)
def async_in_name_only(log: StraceLog) -> Iterator[Finding]:
    """Time in io_submit on files that were opened without O_DIRECT.

    Examples:
        >>> import iolab
        >>> log = b'1.000000 openat(AT_FDCWD, "users01.dbf", O_RDWR|O_DIRECT) = 3 <0.000010>'
        >>> list(async_in_name_only(iolab.load(log)))
        []
    """
    found = submits_in_name_only(trace_of(log))
    if found is None:
        return
    inside, window, calls, files = found
    is_timed = trace_of(log).is_timed
    lead = ledgers(log)[0]
    is_part = not lead.void and SUBMIT in lead.frame.get_column("part")
    most = "" if is_timed else "at most "
    yield Finding(
        "async_in_name_only",
        f"`io_submit` took {most}{seconds(inside)} of {seconds(window)}: {counted(calls, 'calls')} that wait for "
        f"the page cache of {_named(files)}, opened without O_DIRECT.",
        Interval(inside / window, inside / window if is_timed else 0, inside / window),
        "elapsed time",
        next="open the files with O_DIRECT (filesystemio_options=SETALL), and trace again",
        part=SUBMIT if is_part else "",
        evidence=(Evidence("calls", SUBMITS),),
    )


def _named(files: Sequence[object]) -> str:
    return named_list([f"`{short_name(file)}`" for file in files])


@rule("buffered_or_direct_path", of="strace", needs="reads of several blocks, of a program that may be Oracle's")
def direct_path(log: StraceLog) -> Iterator[Finding]:
    """What no strace log shows of the database's reads."""
    trace = trace_of(log)
    is_large = trace.reads.select((pl.col("bytes_requested") > _LARGEST_BLOCK).any()).collect().item()
    if is_large and _may_be_oracle(trace):
        yield Finding(
            "buffered_or_direct_path",
            "The log does not show whether Oracle used direct path: the calls alone do not prove it.",
            trace.share_of_few_reads,
            "the log",
            next="take an extended SQL trace (event 10046) of the same session",
            is_refused=True,
            order=8,
        )


def _may_be_oracle(trace: Trace) -> bool:
    """Whether the program is Oracle's by its name; without its name, whether a file or descriptor may be."""
    programs = [short_name(program) for program in trace.times.programs.values()]
    if programs:
        return any(program.startswith(_ORACLE) for program in programs)
    files = [str(row["file"]) for row in trace.data_files]
    return any(file.startswith("fd ") or file.endswith(_DATA_FILES) or _ORACLE in file.lower() for file in files)


@rule("trace_again", of="strace", needs="a call")
def trace_again(log: StraceLog) -> Iterator[Finding]:
    """What the log does not say for want of an option of strace, with the command for the next trace."""
    trace = trace_of(log)
    if trace.calls.is_empty():
        return
    missing = []
    if not trace.has_stamps:
        missing.append("the start times (-ttt)")
    if not trace.printed:
        missing.append("the durations of calls (-T)")
    if any(str(row["file"]).startswith("fd ") for row in trace.data_files):
        missing.append("the file names of descriptors (-yy)")
    if trace.unprinted:
        missing.append("the full argument lists (-v)")
    if missing:
        found = ledgers(log)
        yield Finding(
            "trace_again",
            f"The log lacks {'what options of strace add: ' * bool(missing[1:])}{', '.join(missing)}.",
            next=COMMAND,
            is_gate=bool(found and found[0].void),
            order=9,
        )


@rule("lines_not_read", of="strace", needs="lines that are no call, signal or exit")
def lines_not_read(log: StraceLog) -> Iterator[Finding]:
    """Lines that are no call, signal or exit.

    Examples:
        >>> import iolab
        >>> log = b'pread64(3, "", 8192, 0) = 8192' + chr(10).encode() + b'a remark of the user'
        >>> for one in lines_not_read(iolab.load(log)): print(one.sentence)
        1 of 2 lines was not read; the first is line 2.
    """
    trace = trace_of(log)
    unread = trace.unread.filter(pl.col("line").is_not_null()).unique(["source", "line"], maintain_order=True)
    if unread.is_empty():
        return  # notes on the whole log, such as on its clock, are of no line
    first, count = unread.row(0, named=True), unread.height
    of = f" of `{first['source']}`" if first["source"] and unread.get_column("source").n_unique() > 1 else ""
    in_part = "" if unread.filter(pl.col("kind") != "unparsed").is_empty() else ", or only in part"
    said = (
        f"{count:,} of {count_text(trace.lines, 'line')} {'was' if count == 1 else 'were'} not read{in_part}; the first"
    )
    # a cut line is a call without its time, which no line has without -T; each line of a call has its stamp
    is_lost = (pl.col("kind") != "cut") | (trace.printed > 0)
    if trace.has_stamps:
        is_lost &= pl.col("text").str.strip_chars_start().str.slice(0, 1).is_in([*_BEGINS]) | (
            pl.col("kind") != _OTHERS
        )
    place = Evidence("diagnostics", lines=(*unread["line"].head(5),))
    is_gate = unread.filter(is_lost).height >= _MANY * trace.lines
    said += f" is line {first['line']:,}{of}."
    yield Finding("lines_not_read", said, evidence=(place,), is_gate=is_gate, order=9)


def _of_runs(trace: Trace) -> tuple[str, str]:
    """What all runs took together, and the calls with most of that time; at most, where calls have no durations."""
    own = trace.calls.filter(pl.col("pid").is_in(trace.runs.get_column("pid").implode()))
    spans = trace.runs.select((pl.col("last") - pl.col("first")).dt.total_nanoseconds())
    whole = int(spans.to_series().sum())
    calls = own.group_by("name").agg(pl.sum("calls"), exact=nanoseconds("elapsed").sum(), open=pl.sum("open"))
    found = calls.with_columns(took=pl.col("exact") + pl.col("open")).sort("took", "name", descending=[True, False])
    if not whole or found.is_empty():
        return "", ""
    one, together = found.row(0, named=True), f": {seconds(whole / 1e9)} together"
    least, share = "at most " if one["open"] > one["exact"] else "", min(1.0, one["took"] / whole)
    if share < PART:
        return together, ""
    return f"{together}, {least}{percent(share)} of it in {one['calls']:,} calls of `{one['name']}`", one["name"]


@rule("repeated_log", of="strace", needs="stamps")
def repeated_log(log: StraceLog) -> Iterator[Finding]:
    """A log that is in the file twice, or several runs in one file.

    Examples:
        >>> import iolab
        >>> lines = [f'7 1700000000.{n}00000 pread64(3</a.dbf>, "", 512, 0) = 512 <0.000100>' for n in range(1, 5)]
        >>> for one in repeated_log(iolab.load(chr(10).join(lines * 2).encode())): print(one.sentence)
        4 of 8 requests are in the log twice: a log was pasted or appended again.
    """
    trace = trace_of(log)
    if trace.repeated:
        said = f"{trace.repeated:,} of {count_text(trace.requests.height, 'request')} are in the log twice: a log was "
        detail = "a process cannot begin two equal calls at the same moment"
        step = "remove the second copy: counts and bytes include both"
        said += "pasted or appended again."
        yield Finding("repeated_log", said, detail=detail, is_gate=True, next=step, order=0)
    elif trace.runs.height > 1:
        pids = trace.runs.get_column("pid").to_list()
        named = ", ".join(map(str, pids[:_MOST_RUNS]))
        more = " and more" if len(pids) > _MOST_RUNS else ""
        together, name = _of_runs(trace)
        said = f"The log holds {len(pids)} runs, one after the other (processes {named}{more}){together}."
        detail = "each process started after the ones before it had ended, and no call in the log created it"
        step = trace_time.step_of_folder(log, [name], pl.col("pid").is_in(pids)) if name else ""
        step = step or "`strace -o` with a file per run; `-A` appends"
        yield Finding("repeated_log", said, detail=detail, next=step, order=0)
