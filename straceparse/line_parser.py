"""Lines one by one, parsed by Lark: those that no expression matches.

It reports where and why a line is not a line of strace.  Most logs have few such lines or none, so this module, and
Lark with it, is imported on use.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from lark import Token, Transformer, v_args
from lark.exceptions import UnexpectedInput

from logframe.grammar import explain
from straceparse.records import (
    GRAMMAR,
    LONG,
    PREFIX,
    PREFIX_FIELDS,
    Record,
    bare,
    exited_record,
    framed,
    killed_record,
    prefix_parts,
    signal_record,
    undecorated,
    unfinished_note,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_OTHERS: Final = "not a line of strace: program output, or damaged"
_STACK: Final = GRAMMAR.literal("STACK_MARK")


def read_line(line: str) -> Record:
    """The record of one line; any other line has the kind `unparsed`, its text in `note`, and a reason.

    Examples:
        >>> record = read_line('3698  09:36:52 read(3, "a) = 1", 4096) = 6 <0.000041>')
        >>> record.pid, record.clock, record.syscall, record.args, record.value, record.elapsed
        ('3698', '09:36:52', 'read', '3, "a) = 1", 4096', '6', '0.000041')
        >>> read_line("ls: cannot access 'x'").reason
        'not a line of strace: program output, or damaged'
        >>> read_line("2150400 bytes (2.2 MB, 2.1 MiB) copied, 51.7322 s, 41.6 kB/s").kind
        'unparsed'
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
        if not _looks_like_strace(text):  # a word before a bracket, as of dd
            return Record("unparsed", note=text, reason=_OTHERS)
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


@cache
def _parse() -> Callable[[str], Record]:
    """The parse function; the parser is built on first use."""
    return GRAMMAR.parser_with(_Records()).parse  # type: ignore[return-value]


def _reason(text: str, error: UnexpectedInput) -> str:
    if _looks_like_strace(text):
        column, _ = explain(error)  # it tries every terminal: slow
        place = "its end" if column is None else f"column {column}"
        return f"a line of strace that is damaged at {place}"
    return _OTHERS


@cache
def _call_start() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(f"^{PREFIX}{{EVENT_START}}"))


def _looks_like_strace(text: str) -> bool:
    return _call_start().match(text) is not None


@cache
def _mark_at_end() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern("(?:(?P<unfinished>{UNFINISHED})|(?P<detached>{DETACHED}))$"))


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
        return Record("stopped", note=framed(text))

    @v_args(inline=True)
    def exited(self, text: Token) -> Record:
        return exited_record(text)

    @v_args(inline=True)
    def killed(self, text: Token) -> Record:
        return killed_record(text)

    @v_args(inline=True)
    def superseded(self, text: Token) -> Record:
        return Record("superseded", value=text.rsplit(" ", 2)[1], note=framed(text))

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
