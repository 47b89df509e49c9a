"""Records: the parts of one line, and the grammars that describe it; without Polars types."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from logframe.grammar import load_grammar

GRAMMAR = load_grammar("straceparse", "line.lark", "line")
PARTS_GRAMMAR = load_grammar("straceparse", "parts.lark")

#: What a line can be, in the order of the `kind` column's categories.
KINDS: Final = (
    "call",  # a whole call
    "unfinished",  # the start of a call that another line interrupted
    "resumed",  # the end of such a call
    "detached",  # the start of a call; strace detached from the process
    "cut",  # the start of a call whose line ends too early
    "continuation",  # the rest of a cut line
    "signal",  # a signal was delivered
    "stopped",  # a group stop
    "exited",  # the process exited
    "killed",  # the process was killed
    "superseded",  # a thread called execve and took over its process's id
    "notice",  # a message of strace
    "stack",  # a stack frame (-k)
    "dump",  # bytes read or written (-e read=, -e write=)
    "table",  # a line of the summary (-c, -C)
    "chatter",  # prompts, fences and omission marks of a pasted log
    "blank",
    "unparsed",  # none of these
)

#: The fields of a `Record` that come from the prefix of a line.
PREFIX_FIELDS: Final = ("pid", "comm", "secontext", "clock", "relative_ts", "syscall_number", "instruction_pointer")

#: The fields of a prefix in their order: group of `PREFIX` -> terminal.  Two forms of a field have two groups.
PREFIX_TERMINALS: Final = {
    "pid__column": "PID",
    "pid__bracket": "PID_COLUMN",
    "secontext": "SECONTEXT",
    "clock": "CLOCK",
    "relative_ts": "RELATIVE_TS",
    "relative_ts__with_clock": "RELATIVE_TS_WITH_CLOCK",
    "syscall_number": "SYSCALL_NUMBER",
    "instruction_pointer": "INSTRUCTION_POINTER",
}
#: Template of a prefix; each field that is there is in its group.
PREFIX: Final = (
    "(?:(?P<pid__column>{PID})|(?P<pid__bracket>{PID_COLUMN}))?(?P<secontext>{SECONTEXT})?(?P<clock>{CLOCK})?"
    "(?:(?P<relative_ts>{RELATIVE_TS})|(?P<relative_ts__with_clock>{RELATIVE_TS_WITH_CLOCK}))?"
    "(?P<syscall_number>{SYSCALL_NUMBER})?(?P<instruction_pointer>{INSTRUCTION_POINTER})?"
)

#: Of a longer line, Lark parses this many characters from its start: it needs hundreds of bytes for each.
LONG: Final = 1 << 14

#: A change of colour (`--color`).
COLOUR: Final = PARTS_GRAMMAR.pattern("{COLOUR}")
_COLOUR = re.compile(COLOUR)
_PROCESS = re.compile(PARTS_GRAMMAR.pattern("(?P<pid>{DECIMAL})(?:{LESS}(?P<comm>{COMM})?{GREATER})?"))
_DELETED: Final = PARTS_GRAMMAR.literal("DELETED")
_FRAME: Final = len(PARTS_GRAMMAR.literal("FRAME"))
_FRAME_END: Final = len(PARTS_GRAMMAR.literal("FRAME_END"))
_ESCAPE = re.compile(
    PARTS_GRAMMAR.pattern("({HEX_ESCAPE})|({OCTAL_ESCAPE})|({PLAIN_ESCAPE})").encode("ascii"), re.DOTALL
)
_PLAIN_ESCAPES: Final = {b"n": b"\n", b"t": b"\t", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"a": b"\a", b"b": b"\b"}
_MARK_END: Final = " ...>"
_BARE_MARKS: Final = frozenset({"unfinished", "detached"})
_EXITED: Final = len(PARTS_GRAMMAR.literal("EXITED_MARK"))


class Decorated(NamedTuple):
    """A number or name with the path that ``-y`` prints after it."""

    value: object
    path: str


class Changed(NamedTuple):
    """A value that the kernel changed during the call (``before => after``)."""

    before: object
    after: object


class Record(NamedTuple):
    """The parts of one line, as text; None where the line has no such part."""

    kind: str
    pid: str | None = None
    comm: str | None = None
    secontext: str | None = None
    clock: str | None = None
    relative_ts: str | None = None
    syscall_number: str | None = None
    instruction_pointer: str | None = None
    syscall: str | None = None
    args: str | None = None
    value: str | None = None
    decoration: str | None = None
    errno: str | None = None
    note: str | None = None
    elapsed: str | None = None
    reason: str | None = None


def bare(line: str) -> str:
    """A line without its carriage return and its colours."""
    return _COLOUR.sub("", line.removesuffix("\r"))


def unfinished_note(mark: str) -> str | None:
    """What the mark at the end of a call that did not end says beside that.

    Examples:
        >>> unfinished_note(" <pid changed to 17 ...>"), unfinished_note("<unfinished ...>")
        ('pid changed to 17', None)
    """
    text = mark.strip()[1 : -len(_MARK_END)]
    return None if text in _BARE_MARKS else text or None


def undecorated(text: str) -> str:
    """The path within ``<...>`` or ``<...>(deleted)``."""
    return text.removesuffix(_DELETED)[1:-1]


def prefix_parts(
    pid: str | None,
    secontext: str | None,
    clock: str | None,
    relative_ts: str | None,
    syscall_number: str | None,
    instruction_pointer: str | None,
) -> tuple[str | None, ...]:
    """The texts of `PREFIX_FIELDS`: the printed parts of a prefix without brackets and blanks."""
    found = _PROCESS.search(pid) if pid else None
    return (
        found and found.group("pid"),
        found and found.group("comm"),
        secontext and secontext[1:-2],
        clock and clock[:-1],
        relative_ts and relative_ts.strip("(+) "),
        syscall_number and syscall_number.strip("[] "),
        instruction_pointer and instruction_pointer.strip("[] "),
    )


def signal_record(text: str) -> Record:
    """The record of ``--- SIGCHLD {...} ---``."""
    return Record("signal", note=text[_FRAME : 1 - _FRAME_END].strip())


def framed(text: str) -> str:
    """What stands between ``+++`` and ``+++``, or ``---`` and ``---``."""
    return text[_FRAME:-_FRAME_END]


def exited_record(text: str) -> Record:
    """The record of ``+++ exited with 0 +++``."""
    return Record("exited", value=text[_EXITED:-_FRAME_END], note=framed(text))


def killed_record(text: str) -> Record:
    """The record of ``+++ killed by SIGSEGV +++``."""
    return Record("killed", note=framed(text))


def is_escaped(text: str) -> bool:
    """Whether a printed string or path may contain escapes."""
    return "\\" in text


def unescaped(text: str) -> bytes:
    r"""The bytes of a printed string: ``\n``, ``\"``, ``\1`` to ``\377`` and ``\xNN`` undone.

    Examples:
        >>> unescaped(r"\6\242\0\0a\"")
        b'\x06\xa2\x00\x00a"'
    """
    if not is_escaped(text):
        return text.encode("utf-8", errors="surrogateescape")
    return _ESCAPE.sub(_unescape, text.encode("utf-8", errors="surrogateescape"))


def _unescape(found: re.Match[bytes]) -> bytes:
    hexadecimal, octal, plain = found.groups()
    if hexadecimal:
        return bytes.fromhex(hexadecimal[2:].decode("ascii"))
    if octal:
        return bytes([int(octal[1:], 8) & 0xFF])
    return _PLAIN_ESCAPES.get(plain[1:], plain[1:])
