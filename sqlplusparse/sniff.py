"""What a log is when it is no session: its name, and the reader that takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe import LogParseError, load_grammar
from sqlplusparse.lines import Kind, Pattern

if TYPE_CHECKING:
    from sqlplusparse.page import Page

GRAMMAR: Final = load_grammar("sqlplusparse", "sniff.lark", "line")
#: What the beginning of a line shows a log to be, and which reader takes it.
_SIGNS: Final = (
    (
        Pattern("(?m)^{TKPROF}", GRAMMAR),
        "a TKPROF report",
        "a SQL*Plus or SQLcl session; sqltraceparse reads TKPROF reports",
    ),
    (
        Pattern("(?m)^{REPORT}|{REPORT_TITLE}", GRAMMAR),
        "an AWR or Statspack report",
        "a SQL*Plus or SQLcl session; read_awr reads reports",
    ),
    (
        Pattern("(?m)^{SQL_TRACE}", GRAMMAR),
        "an extended SQL trace (event 10046)",
        "a SQL*Plus or SQLcl session; sqltraceparse reads SQL traces",
    ),
    (
        Pattern("(?m)^{TRACE_FILE}", GRAMMAR),
        "a trace file of the database",
        "a SQL*Plus or SQLcl session; trace files are not read",
    ),
    (
        Pattern("(?m)^{STRACE}", GRAMMAR),
        "an strace log",
        "a SQL*Plus or SQLcl session; straceparse reads strace logs",
    ),
)
#: Signs are looked for in this much text.
_HEAD: Final = 1 << 16
#: Kinds of lines that only a session has.
_OWN: Final = frozenset({Kind.PROMPT, Kind.ELAPSED, Kind.STATISTIC, Kind.PLAN_HEADING})
_CONTROL: Final = Pattern("{CONTROL}", GRAMMAR)


def other_format(text: str) -> tuple[str, str] | None:
    """What a text is when it is another kind of log, and what to do with it; None when nothing says so.

    Examples:
        >>> other_format("PARSING IN CURSOR #2 len=20")
        ('an extended SQL trace (event 10046)', 'a SQL*Plus or SQLcl session; sqltraceparse reads SQL traces')
    """
    head = text[:_HEAD]
    return next(((what, hint) for sign, what, hint in _SIGNS if sign.search(head)), None)


def is_binary(text: str) -> bool:
    """Is this no text: are more than a few of its characters control characters?"""
    head = text[:_HEAD]
    return sum(1 for _ in _CONTROL.finditer(head)) > 0.02 * max(len(head), 1)


def refuse_others(page: Page, text: str) -> None:
    """Raise when the text is another kind of log; note the lines of a SQL trace that a session holds."""
    if _OWN.isdisjoint(page.kinds) and (other := other_format(text)) is not None:
        raise LogParseError(f"this is {other[0]}", source=page.source, expected=other[1])
    traced = page.kinds.count(Kind.TRACE)
    if traced:
        page.note(page.kinds.index(Kind.TRACE), "foreign", f"{traced} lines of an extended SQL trace are not read")


def no_session(name: str, text: str, page: Page) -> LogParseError:
    """The error for a log without a statement, a timing, a listing or a plan."""
    if other := other_format(text):
        return LogParseError(f"this is {other[0]}", source=name, expected=other[1])
    damaged = next((note for note in page.notes if note.kind == "damaged"), None)
    if damaged is not None:
        return damaged.to_error()
    return LogParseError(
        "no session: no statement, feedback, Elapsed, autotrace, plan, listing or result was found",
        source=name,
        line=1,
        text=page.lines[0][:200],
        expected="the output of SQL*Plus or SQLcl",
    )
