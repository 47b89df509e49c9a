"""What each line of a text report is, by the terminals of ``report.lark``."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe import load_grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    "page_heading",
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
    PAGE_HEADING,
) = range(len(KINDS))

#: Which rule of the grammar makes which kind; `labels` and `text` are told apart by where they stand.
RULES: Final = {
    "banner": BANNER,
    "section_title": TITLE,
    "old_title": TITLE,
    "terminator": TERMINATOR,
    "ruler": RULER,
    "label_ruler": RULER,
    "underline": UNDERLINE,
    "note": NOTE,
    "no_data": NO_DATA,
    "end_of_report": END,
    "addm": ADDM,
    "fence": FENCE,
    "spool_column": TEXT,
    "labels": TEXT,
    "text": TEXT,
}


#: Lines that start with one of these are told by their pattern alone.
_MARKS: Final = "-~`"
#: What the title of a section has beside it; Statspack of 9i has the second beside all, later ones beside SQL.
_TITLE_MARK, _OLD_TITLE_MARK = "DB/Inst:", " for DB: "
#: Fixed words that lines of some kinds start with; ADDM in a quoted line is one more, in any language.
_WORDS: Final = (
    "WORKLOAD",
    "STATSPACK",
    "ASH ",
    "Warning:",
    "No data",
    "End of R",
    "Report w",
    "Generating",
    "SQL>",
)
#: What stands for a kind that the first letter leaves open.
_MARKED, _WORDED = 0xFE, 0xFF
#: First letter -> kind; the question mark stands for all letters beyond ASCII.
_BY_FIRST_LETTER: Final = bytes(
    _MARKED
    if chr(letter) in _MARKS
    else _WORDED
    if chr(letter) in "?WSANERG"
    else BLANK
    if chr(letter) == " "
    else TEXT
    for letter in range(256)
)
_UNDECIDED = re.compile(rb"[\xfe\xff]")


class _Patterns(NamedTuple):
    """Terminals of the grammar, compiled."""

    banner: re.Pattern[str]
    section_title: re.Pattern[str]
    old_title: re.Pattern[str]
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
        "OLD_TITLE",
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

    Most lines are rows, told from other text only by where they stand.  So the first letters of all lines are looked up
    at once, and patterns are tried on the few lines that may be something else.

    Examples:
        >>> [KINDS[kind] for kind in classify(["-> ordered by name", "", "----- ---", "a       1"])]
        ['note', 'blank', 'ruler', 'text']
    """
    heads = [line.lstrip() for line in lines]
    first = "".join([head[:1] or " " for head in heads])
    # a letter beyond ASCII becomes a question mark, and a question mark an ordinary letter
    kinds = bytearray(first.replace("?", "x").encode("ascii", "replace").translate(_BY_FIRST_LETTER))
    known = patterns()
    for found in _UNDECIDED.finditer(bytes(kinds)):
        number = found.start()
        line, head = lines[number], heads[number]
        if kinds[number] == _MARKED:
            kinds[number] = NOTE if line.startswith("->") else _kind_of_marks(line)
        else:
            kinds[number] = _kind_of_words(line, head, known) if head.startswith(_WORDS) or "ADDM" in head else TEXT
    text = "\n".join(lines)
    for number in _lines_with(_TITLE_MARK, text):
        if heads[number][0] not in _MARKS:
            kinds[number] = TITLE if known.section_title.match(lines[number]) else TEXT
    for number in _lines_with(_OLD_TITLE_MARK, text):
        if kinds[number] == TEXT and known.old_title.match(lines[number]):
            kinds[number] = TITLE
    return kinds


def _lines_with(mark: str, text: str) -> Iterator[int]:
    """The numbers of the lines that hold a text, counted from 0."""
    number, counted = 0, 0
    place = text.find(mark)
    while place >= 0:
        number += text.count("\n", counted, place)
        counted = place
        yield number
        place = text.find(mark, place + 1)


@lru_cache(maxsize=4096)
def _kind_of_marks(line: str) -> int:
    """The kind of a line that starts with one of `_MARKS`; the same lines come again and again."""
    known = patterns()
    match line.lstrip()[0]:
        case "-":
            if known.terminator.match(line):
                return TERMINATOR
            return RULER if known.ruler.match(line) else TEXT
        case "~":
            if known.label_ruler.match(line):
                return RULER
            return UNDERLINE if known.underline.match(line) else TEXT
        case _:
            return FENCE if known.fence.match(line) else TEXT


@cache
def any_ruler() -> re.Pattern[str]:
    """A ruler of a report, also one that is indented: what a quotation or an indent of the whole text is known by."""
    return re.compile(GRAMMAR.pattern("{ANY_RULER}$"))


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
    if head.startswith(("Generating", "SQL>")):
        return FENCE if known.fence.match(line) else TEXT
    if "ADDM" in head and known.addm.match(line):
        return ADDM
    return TEXT
