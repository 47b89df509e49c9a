"""Dialects: whether strace wrote a log, with which options, and what precedes its lines in a pasted one.

A log does not name its options, but its lines show them: the fields of the prefix, the decimals of the clock, the
elapsed time at the end of a call.  `dialect` samples lines from the start, the middle and the end of a log.

Which lines of a pasted log are strace's is known here, what may precede them in `logframe.normalize`.  Logs of other
formats are known quickly, by marks without which no line is an event of strace.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from logframe import LogParseError, Source, load_grammar
from logframe.line_cleanup import LineCleanup, find_cleanup, shared_indent
from logframe.normalize import has_changed_characters
from straceparse.opening import open_logs
from straceparse.patterns import read_records
from straceparse.records import COLOUR, GRAMMAR, KINDS, PARTS_GRAMMAR, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Log


PASTED = load_grammar("straceparse", "pasted.lark", "editor", "grep", "listing", "process")
#: Terminals of ``pasted.lark``, in the order in which they are tried.
AMBIGUOUS_PREFIXES: Final = ("EDITOR", "GREP")
#: This many of the first lines are looked at for numbers of lines, and this few of them are not enough.
_COUNTED, _FEWEST_COUNTED = 50, 3
#: A line that begins with blanks and a whole number; the width of the seconds of ``-r``.
_PROCESS: Final = re.compile(PASTED.pattern("{PROCESS}"))
_SECONDS_WIDTH: Final = 6
#: Kinds of complete lines of strace.
_WHOLE: Final = frozenset(KINDS) - {"cut", "continuation", "chatter", "blank", "unparsed"}


def cleanup_of(lines: Sequence[str]) -> LineCleanup:
    """What was added to most of the sampled lines of a log.

    Examples:
        >>> found = cleanup_of(["> close(3) = 0  ", "> close(4) = 0  "])
        >>> found.cleaned("> close(5) = 0  ")
        'close(5) = 0'
    """
    listing = PASTED.terminals["LISTING"]
    if _are_counted(lines, listing):
        found = find_cleanup([re.sub(f"^{listing}", "", line) for line in lines], _count_whole)
        return replace(found, prefix=listing + found.prefix, has_codes=False)
    if indent := _indent_of_seconds(lines):
        return LineCleanup(prefix=indent)
    found = find_cleanup(lines, _count_whole, [PASTED.terminals[name] for name in AMBIGUOUS_PREFIXES])
    # colours are removed before strings are read, by the dialect
    return replace(found, prefix=found.prefix or _added_indent(lines), has_codes=False)


def _are_counted(lines: Sequence[str], listing: str) -> bool:
    """Do the first lines begin with 1, 2, 3 and so on?  Process ids do not."""
    first = [re.match(listing, line) for line in lines[:_COUNTED]]
    return len(first) >= _FEWEST_COUNTED and all(
        one is not None and one[0].strip(" \t:") == str(number) for number, one in enumerate(first, 1)
    )


def _added_indent(lines: Sequence[str]) -> str:
    """The blanks that all lines begin with, where one is not a prefix of strace's, which begins with a number.

    Calls are read with blanks before them; notices, tables and the rest of a line are not.
    """
    printed = [line for line in lines if line.strip()]
    indent = shared_indent(printed) if printed and printed[0][:1] in " \t" else ""
    if not indent or not all(line.lstrip(" \t")[0].isdigit() for line in printed):
        return indent
    return indent if all(map(_PROCESS.match, printed)) and not _are_seconds(printed) else ""


def _indent_of_seconds(lines: Sequence[str]) -> str:
    """What stands before the six columns of the whole seconds of ``-r``."""
    printed = [line for line in lines if line.strip()]
    found = _PROCESS.match(printed[0]) if _are_seconds(printed) else None
    return printed[0][: found.end() - _SECONDS_WIDTH] if found is not None else ""


def _are_seconds(printed: Sequence[str]) -> bool:
    """Do all lines begin with a whole number that ends in one column, the first one with 0?  Processes are not 0."""
    found = _PROCESS.match(printed[0]) if printed else None
    if found is None or found[0].strip(" \t0") or found.end() < _SECONDS_WIDTH:
        return False
    return all((one := _PROCESS.match(line)) is not None and one.end() == found.end() for line in printed)


def _count_whole(lines: list[str]) -> int:
    """The number of complete lines of strace."""
    return sum(record.kind in _WHOLE and not _is_changed(record.args or "") for record in read_records(lines))


def _is_changed(args: str) -> bool:
    """Whether a character that strace does not print occurs outside the strings."""
    return has_changed_characters(args) and has_changed_characters(_strings().sub("", args))


@cache
def _strings() -> re.Pattern[str]:
    return re.compile(PARTS_GRAMMAR.pattern("{STRING}"))


#: Lines sampled from each of the three positions of a log.
SAMPLED_LINES: Final = 400
_SAMPLED_BYTES: Final = 1 << 16
_SEARCHED_BYTES: Final = 1 << 20

#: A time of day that decreases by more nanoseconds than this has passed midnight.
HALF_DAY: Final = 12 * 3600 * 10**9

PidStyle = Literal["none", "column", "bracket", "mixed", "file"]
Clock = Literal["none", "time", "epoch", "mixed"]
RelativeTs = Literal["none", "alone", "with_clock"]

VERSIONS = load_grammar("straceparse", "versions.lark")
_FILE_PID = re.compile(PARTS_GRAMMAR.pattern("{DOT}(?P<pid>{PID_DIGITS})$"))
_COLOUR = re.compile(COLOUR)
_DECORATED = re.compile(PARTS_GRAMMAR.pattern("(?:^|{BEFORE_VALUE}){DECORATED_DESCRIPTOR}"))
_NAMED = re.compile(PARTS_GRAMMAR.pattern("{ARGUMENT_NAME}"))
_BRACKET_PID = GRAMMAR.pattern("^{PID_COLUMN}")
_STRACE_KINDS: Final = frozenset({"call", "unfinished", "resumed", "detached", "signal", "exited", "killed", "stopped"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The options that wrote a log, as far as its lines show them; ``str()`` gives a command line.

    Attributes:
        pid: form of the process id: `column` (``-o`` with ``-f``), `bracket` (``[pid N]``), `file` (``-ff``: the
            file name ends in it), `mixed` (on some lines only, as on standard error), `none`.
        has_comm: the command name follows the pid (``-Y``).
        has_secontext: ``--secontext``.
        clock: `time` (``-t``, ``-tt``: local time of day, no date), `epoch` (``-ttt``), `mixed` or `none`.
        clock_digits: decimals of the clock.
        relative_ts: relative timestamps (``-r``): `alone`, `with_clock` (next to a clock) or `none`.
        relative_ts_digits: decimals of the relative timestamps.
        has_syscall_number: the system call's number (``-n``).
        has_instruction_pointer: the instruction pointer (``-i``).
        has_elapsed: the time spent in the call (``-T``).
        elapsed_digits: decimals of the time spent in the call.
        has_paths: paths after descriptors (``-y``, ``-yy``).
        has_argument_names: ``-N``.
        has_stacks: ``-k``.
        has_dumps: ``-e read=`` or ``-e write=``.
        has_summary: ``-c`` or ``-C``.
        has_colour: ``--color``.
        has_carriage_returns: lines end in CR LF.
        can_split: calls may be split into two lines, because several processes share the log.
        versions: the versions of strace that print this way, as text such as ``4.11 to 4.18``; empty when the lines
            do not show it.
        share: fraction of the sampled lines, blank ones apart, that are lines of strace, 0 to 1.
        around: what other programs put around each line (quotes, line numbers, stamps); removed before it is read.
    """

    pid: PidStyle = "none"
    has_comm: bool = False
    has_secontext: bool = False
    clock: Clock = "none"
    clock_digits: int = 0
    relative_ts: RelativeTs = "none"
    relative_ts_digits: int = 6
    has_syscall_number: bool = False
    has_instruction_pointer: bool = False
    has_elapsed: bool = False
    elapsed_digits: int = 6
    has_paths: bool = False
    has_argument_names: bool = False
    has_stacks: bool = False
    has_dumps: bool = False
    has_summary: bool = False
    has_colour: bool = False
    has_carriage_returns: bool = False
    can_split: bool = False
    versions: str = ""
    share: float = 0.0
    cleanup: LineCleanup = field(default=LineCleanup(), repr=False)
    #: The sampled lines, from which the fixed-width expressions are compiled.
    lines: tuple[str, ...] = field(default=(), repr=False, compare=False)
    #: First timestamp of a ``-ff`` set, in nanoseconds of its clock; None for a single log.
    origin: int | None = field(default=None, repr=False, compare=False)

    @property
    def options(self) -> tuple[str, ...]:
        """The options, in the order of the prefix."""
        follow = {"column": "-f", "bracket": "-f", "mixed": "-f", "file": "-ff"}.get(self.pid)
        clock = None
        if self.clock == "time":
            clock = "-tt" if self.clock_digits else "-t"
        elif self.clock != "none":
            clock = "-ttt"
        return tuple(
            option
            for option in (
                follow,
                "-Y" if self.has_comm else None,
                "--secontext" if self.has_secontext else None,
                clock,
                "-r" if self.relative_ts != "none" else None,
                "-n" if self.has_syscall_number else None,
                "-i" if self.has_instruction_pointer else None,
                "-N" if self.has_argument_names else None,
                "-T" if self.has_elapsed else None,
                "-y" if self.has_paths else None,
                "-k" if self.has_stacks else None,
                "-e read/write" if self.has_dumps else None,
                ("-C" if self.share_of_calls else "-c") if self.has_summary else None,
                "--color" if self.has_colour else None,
            )
            if option
        )

    @property
    def share_of_calls(self) -> bool:
        """Whether the log has calls, not only a summary."""
        return self.share > 0

    def __str__(self) -> str:
        written = " ".join(("strace", *self.options))
        return f"{written}  # strace {self.versions}" if self.versions else written


def dialect(source: Source, *, encoding: str | None = None) -> Dialect:
    """The dialect of a log: which options of strace wrote it.

    Args:
        source: a log, or the files of a ``-ff`` set.
        encoding: as in `scan_strace`.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty.

    Examples:
        >>> print(dialect(b"3698  09:36:52.167719 close(3) = 0 <0.000041>"))
        strace -f -tt -T
        >>> dialect(b"     0.000123 pread(268, ''..., 8192, 0) = 8192").relative_ts
        'alone'
    """
    return dialect_of(open_logs(source, encoding=encoding))


def dialect_of(logs: list[Log]) -> Dialect:
    """The dialect of opened logs."""
    dialect = dialect_of_sample(logs)
    if dialect.pid in {"none", "bracket"} and any(_has_other_pids(log, dialect) for log in logs):
        dialect = replace(dialect, pid="mixed", can_split=True)
    return replace(dialect, origin=_origin(logs, dialect.cleanup)) if dialect.pid == "file" else dialect


def dialect_of_sample(logs: list[Log]) -> Dialect:
    """The dialect that the sampled lines of opened logs show, without a look at the others.

    Raises:
        LogParseError: the logs are empty.
    """
    if not logs or all(log.is_empty() for log in logs):
        raise LogParseError("the log is empty", source=logs[0].name if logs else "<log>", expected="output of strace")
    lines: list[str] = []
    for log in logs[:8]:
        lines += sampled_lines(log)
    return _dialect_of_lines(tuple(lines), len(logs) > 1 and all(file_pid(log) is not None for log in logs))


@lru_cache(maxsize=1)
def _dialect_of_lines(lines: tuple[str, ...], has_file_pids: bool) -> Dialect:  # noqa: FBT001 - part of the key
    """The dialect of sampled lines, for the recognition of a log and then for its reader."""
    cleanup = cleanup_of(lines)
    bare = cleanup.cleaned_lines([line.removesuffix("\r") for line in lines])
    dialect = _dialect(bare, has_file_pids=has_file_pids)
    return replace(dialect, cleanup=cleanup, has_carriage_returns=any(line.endswith("\r") for line in lines))


def _has_other_pids(log: Log, dialect: Dialect) -> bool:
    """Whether ``[pid N]`` starts or stops outside the sampled lines, as it does in logs of standard error."""
    if dialect.pid == "none" and not _is_anywhere(log, PARTS_GRAMMAR.literal("PID_MARK").encode()):
        return False  # a search for bytes costs a tenth of one in lines
    is_named = log.scan(name="line").select(dialect.cleanup.apply(pl.col("line")).str.contains(_BRACKET_PID))
    found = is_named.select(pl.col("line").any().alias("any"), pl.col("line").all().alias("all")).collect()
    return bool(found["any"].item() if dialect.pid == "none" else not found["all"].item())


def _is_anywhere(log: Log, mark: bytes) -> bool:
    """Whether a log may contain these bytes; true for a log that is not on this machine."""
    match log.target:
        case bytes():
            return mark in log.target
        case Path():
            with log.target.open("rb") as file:
                end = b""
                while piece := file.read(_SEARCHED_BYTES):
                    if mark in piece or mark in end + piece[: len(mark)]:
                        return True
                    end = (end + piece)[-len(mark) :]
            return False
        case _:
            return True


def _origin(logs: list[Log], cleanup: LineCleanup) -> int | None:
    """The first timestamp of the files of one run; where they span midnight, the first one before midnight."""
    firsts = [clock for log in logs if (clock := _first_clock(log, cleanup)) is not None]
    last = max(firsts, default=0)
    return min((first for first in firsts if last - first < HALF_DAY or last > 2 * HALF_DAY), default=None)


def _first_clock(log: Log, cleanup: LineCleanup) -> int | None:
    """The first timestamp of a log in nanoseconds: of the day, or since 1970."""
    from straceparse.line_parser import read_line  # noqa: PLC0415 - only the files of a set have a common beginning

    records = (read_line(cleanup.cleaned(line.removesuffix("\r"))) for line in log.head(_SAMPLED_BYTES))
    clock = next((record.clock for record in records if record.clock), None)
    if clock is None:
        return None
    *hours, seconds = clock.split(":")
    whole, _, fraction = seconds.partition(".")
    minutes = sum(int(part) * unit for part, unit in zip(hours, (60, 1), strict=False))
    return (minutes * 60 + int(whole)) * 10**9 + int(fraction.ljust(9, "0"))


def file_pid(log: Log) -> int | None:
    """The process id at the end of a file's name, as ``strace -ff -o NAME`` writes it."""
    found = _FILE_PID.search(log.name)
    return int(found.group("pid")) if found else None


def sampled_lines(log: Log) -> list[str]:
    """Lines from the start, the middle and the end of a log, with their carriage returns."""
    match log.target:
        case Path():
            size = log.target.stat().st_size
            with log.target.open("rb") as file:
                pieces = []
                for start in _starts(size):
                    file.seek(start)
                    pieces.append((start, file.read(_SAMPLED_BYTES)))
        case bytes():
            size = len(log.target)
            pieces = [(start, log.target[start : start + _SAMPLED_BYTES]) for start in _starts(size)]
        case _:
            return log.head()[:SAMPLED_LINES]
    lines: list[str] = []
    for start, piece in pieces:
        whole = piece.decode("utf-8", errors="replace").split("\n")
        first = 1 if start else 0
        last = None if start + _SAMPLED_BYTES >= size and whole[-1] else -1
        lines += whole[first:last][:SAMPLED_LINES]
        if start + _SAMPLED_BYTES >= size:  # a summary stands at the end
            lines += whole[first:last][SAMPLED_LINES:][-SAMPLED_LINES:]
    return lines


def _starts(size: int) -> tuple[int, ...]:
    if size <= 3 * _SAMPLED_BYTES:
        return tuple(range(0, size, _SAMPLED_BYTES))
    return (0, size // 2, size - _SAMPLED_BYTES)


def _dialect(lines: list[str], *, has_file_pids: bool) -> Dialect:
    records = read_records(lines)
    ours = [record for record in records if record.kind in _STRACE_KINDS]
    calls = [record for record in ours if record.kind in {"call", "resumed"}]
    clocks = Counter("time" if ":" in record.clock else "epoch" for record in ours if record.clock)
    pids = Counter(
        _pid_style(line, record) for line, record in zip(lines, records, strict=True) if record.kind in _STRACE_KINDS
    )
    kinds = Counter(record.kind for record in records)
    pid: PidStyle = "none"
    if has_file_pids and not (set(pids) - {"none"}):
        pid = "file"
    elif pids:
        pid = next(iter(pids)) if len(pids) == 1 else "mixed"
    return Dialect(
        pid=pid,
        has_comm=any(record.comm for record in ours),
        has_secontext=any(record.secontext for record in ours),
        clock="none" if not clocks else next(iter(clocks)) if len(clocks) == 1 else "mixed",  # type: ignore[arg-type]
        clock_digits=_digits(record.clock for record in ours),
        relative_ts=_relative_ts(ours),
        relative_ts_digits=_digits(record.relative_ts for record in ours),
        has_syscall_number=any(record.syscall_number for record in ours),
        has_instruction_pointer=any(record.instruction_pointer for record in ours),
        has_elapsed=any(record.elapsed for record in calls),
        elapsed_digits=_digits(record.elapsed for record in calls),
        has_paths=any(_DECORATED.search(record.args) for record in ours if record.args)
        or any(record.decoration for record in calls),
        has_argument_names=_has_argument_names(calls),
        has_stacks="stack" in kinds,
        has_dumps="dump" in kinds,
        has_summary="table" in kinds,
        has_colour=any(map(_COLOUR.search, lines)),
        can_split=pid in {"column", "bracket", "mixed"} or bool({"unfinished", "resumed"} & set(kinds)),
        versions=_versions(ours),
        share=len(ours) / max(1, sum(bool(line.strip()) for line in lines)),
        lines=tuple(
            line.removesuffix("\r") for line, record in zip(lines, records, strict=True) if record.kind in _STRACE_KINDS
        ),
    )


def _has_argument_names(calls: list[Record]) -> bool:
    """Whether most calls name their first argument; a few, such as ``clone(child_stack=``, do so without ``-N``."""
    named = [_NAMED.match(record.args) is not None for record in calls if record.args]
    return sum(named) > len(named) / 2


def _pid_style(line: str, record: Record) -> PidStyle:
    if record.pid is None:
        return "none"
    return "bracket" if re.match(_BRACKET_PID, line) else "column"


def _relative_ts(records: list[Record]) -> RelativeTs:
    if any(record.relative_ts and record.clock for record in records):
        return "with_clock"
    return "alone" if any(record.relative_ts for record in records) else "none"


def _digits(texts: object) -> int:
    """The largest number of decimals of any of the timestamps."""
    return max((len(text.partition(".")[2]) for text in texts if text), default=0)  # type: ignore[attr-defined]


#: Terminal of ``versions.lark`` -> the first and the last version that print it; "" where there is no bound.
_VERSION_SIGNS: Final = {
    "PREAD64": ("4.11", ""),
    "PREAD": ("", "4.10"),
    "UNNAMED_BLOCK": ("", "4.6"),
    "FILEDES": ("4.7", "4.10"),
    "FILDES": ("4.11", "4.18"),
    "AIO_OPCODE": ("4.19", ""),
    "AIO_DATA_FIRST": ("5.3", ""),
    "TV_SEC": ("4.17", ""),
    "RELATIVE_WITH_CLOCK": ("4.22", ""),
    "RESUMED_BLANK": ("", "4.26"),
    "RESUMED_TEXT": ("5.0", ""),
    "SI_SIGNO": ("4.7", ""),
    "SIGNAL_TEXT": ("", "4.6"),
    "EXITED_WITH": ("4.7", ""),
    "VARS_IN_BRACKETS": ("", "4.20"),
}


def _versions(records: list[Record]) -> str:
    """The range of versions that print everything seen."""
    first, last = "", ""
    text = "\n".join(_shown(record) for record in records)
    for terminal, (lowest, highest) in _VERSION_SIGNS.items():
        if re.search(VERSIONS.pattern(f"{{{terminal}}}"), text):
            first = max(first, lowest, key=_version)
            last = min((version for version in (last, highest) if version), key=_version, default="")
    if first and last:
        return f"{first} to {last}" if _version(first) <= _version(last) else ""
    return f"{first} or later" if first else f"{last} or earlier" if last else ""


def _shown(record: Record) -> str:
    """A record as a line, with the parts that depend on the version."""
    beside = f"(+ {record.relative_ts}) " if record.relative_ts and record.clock else ""
    match record.kind:
        case "resumed":
            return f"{beside}<... {record.syscall} resumed>{record.args or ')'}"
        case "signal":
            return f"{beside}--- {record.note}"
        case "exited":
            return f"{beside}+++ {record.note}"
        case _:
            return f"{beside}{record.syscall}({record.args})"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")) if text else (0,)


_EVENT_MARK: Final = re.compile(GRAMMAR.pattern("{EVENT_MARK}"))
_STACK_OR_DUMP_MARK: Final = re.compile(GRAMMAR.pattern("{STACK_MARK}|{DUMP}"))


def may_be_strace(lines: Sequence[str], least: float) -> bool:
    """Whether so large a share of sampled lines may be strace's, or one a stack or a dump: a cheap look for marks.

    Lines without the marks are of no such kind, however they are cleaned of what other programs added.
    """
    lines = [line for line in lines if line.strip()]
    if any("\x1b" in line for line in lines):
        return True  # colours may stand within a mark
    changed = LineCleanup(has_changed=True, has_entities=True).cleaned_lines(lines)
    return any(
        any(map(_STACK_OR_DUMP_MARK.search, texts)) or sum(map(has_event_mark, texts)) >= least * len(lines)
        for texts in ((lines,) if changed == lines else (lines, changed))
    )


def has_event_mark(line: str) -> bool:
    """Whether a line may be a call, a half of one, a signal or an end.

    Examples:
        >>> has_event_mark("12  close(3) = 0"), has_event_mark("db file sequential read    977")
        (True, False)
    """
    return _EVENT_MARK.search(line) is not None
