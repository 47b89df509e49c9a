"""Records: the parts of one line, parsed by Lark.

This engine parses the lines that no expression matches, and reports where and why a line is not a line of strace.  It
uses no Polars type.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from lark import Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from logframe.grammar import explain, load_grammar

if TYPE_CHECKING:
    from collections.abc import Callable

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

#: Of a longer line, Lark parses so many characters from its start: it needs hundreds of bytes for each.
LONG: Final = 1 << 14

#: A change of colour (`--color`).
COLOUR: Final = PARTS_GRAMMAR.pattern("{COLOUR}")
_COLOUR = re.compile(COLOUR)
_PROCESS = re.compile(PARTS_GRAMMAR.pattern("(?P<pid>{DECIMAL})(?:{LESS}(?P<comm>{COMM})?{GREATER})?"))
_DELETED: Final = PARTS_GRAMMAR.literal("DELETED")
_FRAME: Final = len(PARTS_GRAMMAR.literal("FRAME"))
_FRAME_END: Final = len(PARTS_GRAMMAR.literal("FRAME_END"))
_STACK: Final = GRAMMAR.literal("STACK_MARK")
_MARK_END: Final = " ...>"
_BARE_MARKS: Final = frozenset({"unfinished", "detached"})
_EXITED: Final = len(PARTS_GRAMMAR.literal("EXITED_MARK"))


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


def read_line(line: str) -> Record:
    """The record of one line; any other line has the kind `unparsed`, its text in `note`, and a reason.

    Examples:
        >>> record = read_line('3698  09:36:52 read(3, "a) = 1", 4096) = 6 <0.000041>')
        >>> record.pid, record.clock, record.syscall, record.args, record.value, record.elapsed
        ('3698', '09:36:52', 'read', '3, "a) = 1", 4096', '6', '0.000041')
        >>> read_line("ls: cannot access 'x'").reason
        'not a line of strace: program output, or damaged'
    """
    text = bare(line)
    if len(text) > LONG:
        return _read_long(text)
    try:
        record: Record = _parse()(text)
    except UnexpectedInput as error:
        if text.endswith((" ", "\t")) and (padded := read_line(text.rstrip(" \t"))).kind != "unparsed":
            return padded
        return Record("unparsed", note=text, reason=_reason(text, error))
    if record.kind == "cut":
        return record._replace(reason="the line ends within the call")
    return record


def _read_long(text: str) -> Record:
    """The record of the start of a line, with the rest appended to the part that was cut."""
    record = read_line(text[:LONG])
    rest = text[LONG:]
    if record.kind == "unparsed":
        return record._replace(note=text)
    if record.kind == "cut":
        return record._replace(args=f"{record.args}{rest}")
    if record.syscall is not None:  # it ends with blanks, or is damaged after its end
        return Record("unparsed", note=text, reason="a line of strace that is damaged after its end")
    return record._replace(note=f"{record.note or ''}{rest}")


def bare(line: str) -> str:
    """A line without its carriage return and its colours."""
    return _COLOUR.sub("", line.removesuffix("\r"))


@cache
def _parse() -> Callable[[str], Record]:
    """The parse function; the parser is built on first use."""
    return GRAMMAR.parser_with(_Records()).parse  # type: ignore[return-value]


def _reason(text: str, error: UnexpectedInput) -> str:
    if _looks_like_strace(text):
        column, _ = explain(error)  # it tries every terminal: slow
        place = "its end" if column is None else f"column {column}"
        return f"a line of strace that is damaged at {place}"
    return "not a line of strace: program output, or damaged"


@cache
def _call_start() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(f"^{PREFIX}{{EVENT_START}}"))


def _looks_like_strace(text: str) -> bool:
    return _call_start().match(text) is not None


@cache
def _mark_at_end() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern("(?:(?P<unfinished>{UNFINISHED})|(?P<detached>{DETACHED}))$"))


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


def exited_record(text: str) -> Record:
    """The record of ``+++ exited with 0 +++``."""
    return Record("exited", value=text[_EXITED:-_FRAME_END], note=text[_FRAME:-_FRAME_END])


def killed_record(text: str) -> Record:
    """The record of ``+++ killed by SIGSEGV +++``."""
    return Record("killed", note=text[_FRAME:-_FRAME_END])


def _texts(children: list[object]) -> dict[str, str]:
    return {child.type: str(child) for child in children if isinstance(child, Token)}


class _Records(Transformer[Token, object]):
    """One method for each rule: the parts of the rule as the fields of a `Record`."""

    @v_args(inline=True)
    def line(self, prefix: dict[str, str | None], event: Record | Token) -> Record:
        record = event if isinstance(event, Record) else Record("blank")
        return record._replace(**prefix)  # type: ignore[arg-type]

    def prefix(self, children: list[object]) -> dict[str, str | None]:
        parts = _texts(children)
        texts = prefix_parts(
            parts.get("PID") or parts.get("PID_COLUMN"),
            parts.get("SECONTEXT"),
            parts.get("CLOCK"),
            parts.get("RELATIVE_TS") or parts.get("RELATIVE_TS_WITH_CLOCK"),
            parts.get("SYSCALL_NUMBER"),
            parts.get("INSTRUCTION_POINTER"),
        )
        return dict(zip(PREFIX_FIELDS, texts, strict=True))

    def outcome(self, children: list[object]) -> dict[str, str]:
        fields: dict[str, str] = {}
        notes = []
        for child in children:
            match child:
                case Token(type="VALUE"):
                    fields["value"] = str(child)
                case Token(type="DECORATION"):
                    fields["decoration"] = undecorated(child)
                case Token(type="ERRNO"):
                    fields["errno"] = child.strip()
                case Token(type="ELAPSED"):
                    fields["elapsed"] = child[2:-1]
                case _:
                    notes.append(str(child).strip())
        if notes:
            fields["note"] = " ".join(notes)
        return fields

    def _call(self, kind: str, children: list[object]) -> Record:
        parts = _texts(children)
        outcome = next((child for child in children if isinstance(child, dict)), {})
        args = "".join(
            str(child)
            for child in children
            if isinstance(child, Token) and child.type in {"ARGS", "RESTARTING", "CUT_ARGS", "REST", "CONTINUED"}
        )
        if kind in {"unfinished", "detached"}:
            args = args.removesuffix(" ")  # it is part of the mark that follows
        if note := unfinished_note(parts.get("UNFINISHED", "")):
            outcome = {**outcome, "note": note}
        return Record(kind, syscall=parts.get("SYSCALL"), args=args, **outcome)

    def call(self, children: list[object]) -> Record:
        return self._call("call", children)

    def killed_call(self, children: list[object]) -> Record:
        record = self._call("call", children)
        return record._replace(args=(record.args or "").removesuffix(" "))

    def unfinished(self, children: list[object]) -> Record:
        return self._call("unfinished", children)

    def resumed(self, children: list[object]) -> Record:
        return self._call("resumed", children)

    def resumed_unfinished(self, children: list[object]) -> Record:
        return self._call("resumed", children)

    def detached(self, children: list[object]) -> Record:
        return self._call("detached", children)

    def cut(self, children: list[object]) -> Record:
        record = self._call("cut", children)
        # directly after a word the mark matches as a decoration of -y
        mark = _mark_at_end().search(record.args or "")
        if mark is None:
            return record
        note = unfinished_note(mark.group())
        return record._replace(kind=str(mark.lastgroup), args=mark.string[: mark.start()], note=note)

    def cut_resumed(self, children: list[object]) -> Record:
        record = self.cut(children)
        return record._replace(kind="resumed") if record.kind == "unfinished" else record

    def continuation(self, children: list[object]) -> Record:
        marks = _texts(children)
        if mark := next((name for name in ("DETACHED", "UNFINISHED") if name in marks), None):
            return Record("continuation", args="", note=mark.lower())
        return self._call("continuation", children)

    @v_args(inline=True)
    def signal(self, text: Token) -> Record:
        return signal_record(text)

    @v_args(inline=True)
    def stopped(self, text: Token) -> Record:
        return Record("stopped", note=text[_FRAME:-_FRAME_END])

    @v_args(inline=True)
    def exited(self, text: Token) -> Record:
        return exited_record(text)

    @v_args(inline=True)
    def killed(self, text: Token) -> Record:
        return killed_record(text)

    @v_args(inline=True)
    def superseded(self, text: Token) -> Record:
        return Record("superseded", value=text.rsplit(" ", 2)[1], note=text[_FRAME:-_FRAME_END])

    @v_args(inline=True)
    def notice(self, text: Token) -> Record:
        return Record("notice", note=str(text))

    @v_args(inline=True)
    def stack(self, text: Token) -> Record:
        return Record("stack", note=text.removeprefix(_STACK))

    @v_args(inline=True)
    def dump(self, text: Token) -> Record:
        return Record("dump", note=text.strip())

    @v_args(inline=True)
    def table(self, text: Token) -> Record:
        return Record("table", note=text.strip())

    @v_args(inline=True)
    def chatter(self, text: Token) -> Record:
        return Record("chatter", note=str(text))

    def blank(self, _children: list[object]) -> Record:
        return Record("blank")
