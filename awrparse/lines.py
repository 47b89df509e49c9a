"""What each line of a text report is, by the terminals of ``report.lark``."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from logframe import load_grammar

GRAMMAR = load_grammar("awrparse", "report.lark", "line")

#: The names of the kinds of line; a line's kind is its position here.
KINDS: Final = (
    "text",
    "blank",
    "banner",
    "title",
    "note",
    "ruler",
    "underline",
    "terminator",
    "no_data",
    "end",
    "addm",
    "fence",
    "heading",
    "record",
    "prose",
    "unparsed",
)
(
    TEXT,
    BLANK,
    BANNER,
    TITLE,
    NOTE,
    RULER,
    UNDERLINE,
    TERMINATOR,
    NO_DATA,
    END,
    ADDM,
    FENCE,
    HEADING,
    RECORD,
    PROSE,
    UNPARSED,
) = range(len(KINDS))

#: Which rule of the grammar makes which kind; `labels` and `text` are told apart by where they stand.
RULES: Final = {
    "banner": BANNER,
    "section_title": TITLE,
    "sql_title": TITLE,
    "terminator": TERMINATOR,
    "ruler": RULER,
    "label_ruler": RULER,
    "underline": UNDERLINE,
    "note": NOTE,
    "no_data": NO_DATA,
    "end_of_report": END,
    "addm": ADDM,
    "fence": FENCE,
    "labels": TEXT,
    "text": TEXT,
}


_QUOTE = re.compile(r"^(?:> ?)+")
_QUOTED_RULER = re.compile(r"^(?:> ?)+\s*[-~]{4,}")


class _Patterns(NamedTuple):
    """Terminals of the grammar, compiled."""

    banner: re.Pattern[str]
    section_title: re.Pattern[str]
    sql_title: re.Pattern[str]
    terminator: re.Pattern[str]
    ruler: re.Pattern[str]
    label_ruler: re.Pattern[str]
    underline: re.Pattern[str]
    no_data: re.Pattern[str]
    end: re.Pattern[str]
    addm: re.Pattern[str]
    fence: re.Pattern[str]


@cache
def patterns() -> _Patterns:
    """The terminals that decide what a line is."""
    names = (
        "BANNER",
        "SECTION_TITLE",
        "SQL_TITLE",
        "TERMINATOR",
        "RULER",
        "LABEL_RULER",
        "UNDERLINE",
        "NO_DATA",
        "END_OF_REPORT",
        "ADDM",
        "FENCE",
    )
    return _Patterns(*(re.compile(GRAMMAR.pattern(f"{{{name}}}")) for name in names))


def classify(lines: list[str]) -> bytearray:
    """The kind of each line, by itself.

    Examples:
        >>> [KINDS[kind] for kind in classify(["-> ordered by name", "", "----- ---", "a       1"])]
        ['note', 'blank', 'ruler', 'text']
    """
    known = patterns()
    kinds = bytearray(len(lines))
    for number, line in enumerate(lines):
        head = line.lstrip()
        if not head:
            kinds[number] = BLANK
            continue
        first = head[0]
        if first == "-":
            if line.startswith("->"):
                kinds[number] = NOTE
            elif known.terminator.match(line):
                kinds[number] = TERMINATOR
            elif known.ruler.match(line):
                kinds[number] = RULER
        elif first == "~":
            kinds[number] = _kind_of_tildes(line, known)
        elif first == "`":
            if known.fence.match(line):
                kinds[number] = FENCE
        elif "DB/Inst:" in line or " for DB: " in line:
            if known.section_title.match(line) or known.sql_title.match(line):
                kinds[number] = TITLE
        elif first in "WSANERG" or first > "\x7f":
            kinds[number] = _kind_of_words(line, head, known)
    return kinds


def without_margin(lines: list[str]) -> list[str]:
    """The lines without what a mail program or a code block puts before each: ``> ``, or the same indent everywhere.

    Examples:
        >>> without_margin(["Look:", "> Event  Waits", "> ------ -----", "> x          1"])
        ['Look:', 'Event  Waits', '------ -----', 'x          1']
        >>> without_margin(["    Event  Waits", "    ------ -----", "", "    x          1"])
        ['Event  Waits', '------ -----', '', 'x          1']
    """
    if any(_QUOTED_RULER.match(line) for line in lines if line.startswith(">")):
        return [_QUOTE.sub("", line) for line in lines]
    margin: int | None = None
    for line in lines:
        text = line.lstrip(" ")
        if text:
            indent = len(line) - len(text)
            margin = indent if margin is None else min(margin, indent)
            if margin == 0:
                return lines
    return [line[margin:] for line in lines]


def _kind_of_tildes(line: str, known: _Patterns) -> int:
    if known.label_ruler.match(line):
        return RULER
    return UNDERLINE if known.underline.match(line) else TEXT


def _kind_of_words(line: str, head: str, known: _Patterns) -> int:
    """The kinds that start with a fixed word."""
    if head.startswith(("WORKLOAD", "STATSPACK", "ASH ")):
        return BANNER if known.banner.match(line) else TEXT
    if line.startswith("Warning:"):
        return NOTE
    if head.startswith("No data"):
        return NO_DATA if known.no_data.match(line) else TEXT
    if head.startswith(("End of R", "Report w")):
        return END if known.end.match(line) else TEXT
    if head.startswith("Generating"):
        return FENCE if known.fence.match(line) else TEXT
    if "ADDM" in head and known.addm.match(line):
        return ADDM
    return TEXT
