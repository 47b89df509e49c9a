"""Figures of a session that stand in no table: below no heading their columns have no names."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from logframe import columns_of, fits
from logframe.wording import counted
from sqlplusparse.grids import is_counted
from sqlplusparse.lines import LISTS, NUMBER, WIDE_GAP, Kind, Pattern
from sqlplusparse.page import LineRole

if TYPE_CHECKING:
    from sqlplusparse.page import Page

#: Lines that end with a figure and have this many are a table's where there are this many of them.
_FEWEST_FIGURES: Final = 2
_FEWEST_LINES: Final = 2
#: Lines of a text and a figure are a table's where this many end in one column.
_FEWEST_ALIGNED: Final = 3
#: What the client prints below a result.
_BELOW_ROWS: Final = frozenset({Kind.ELAPSED, Kind.FEEDBACK, Kind.PLAN_HEADING})
_TEXTS: Final = re.compile(
    re.escape(bytes([LineRole.TEXT])) + b"[" + re.escape(bytes([LineRole.TEXT, LineRole.BLANK])) + b"]*"
)
_LIST: Final = Pattern("{COMMA}", LISTS)
#: What a feedback stands between.
_AROUND_FEEDBACK: Final = frozenset({Kind.BLANK, Kind.ELAPSED, Kind.PROMPT})
#: Roles of lines that nothing was read from.
_UNTYPED: Final = frozenset({LineRole.TEXT, LineRole.COMMENT})
_NEARLY_FEEDBACK: Final = Pattern("{NEARLY_FEEDBACK}", LISTS)
_NEARLY_CLOCK: Final = Pattern("{NEARLY_CLOCK}", LISTS)
#: A line of Snapper's statistics, whatever their type, and what the end of its snapshots says.
_SNAPPER_ROW: Final = Pattern("{DIGITS}(?:{GAP}{INSTANCE})?{COMMA}(?:{FIELD}{COMMA}){3}")
_SNAPPER_END: Final = Pattern("--.*{SNAPPER_SECONDS}{DIGITS}")


def note_loose_figures(page: Page) -> None:
    """Add a diagnostic where lines of figures stand in no table."""
    for found in _TEXTS.finditer(page.roles):
        numbers = [number for number in range(*found.span()) if page.lines[number]]
        lines = [number for number in numbers if _has_figures(page, number)]
        if numbers and page.kinds[max(numbers[0] - 2, 0)] == Kind.STATISTICS_HEADING:
            page.note(numbers[0], "cut", "this line below the heading of statistics is not one of them")
        beside = [number for number in numbers if _is_beside_rows(page, number)]
        if beside:
            page.note(beside[0], "unparsed", f"{counted(len(beside), 'line')} among rows; the figures are not read")
        if len(lines) < _FEWEST_LINES and not any(_is_below_ruler(page, one) or _is_wide(page, one) for one in lines):
            lines = _rows_of_names(page, numbers)
        if lines:
            reason = f"figures in {counted(len(lines), 'line')} stand below no heading with a ruler; they are text"
            page.note(lines[0], "no_heading", reason)
        nearly = [number for number in numbers if is_nearly_printed(page, number)]
        if nearly:
            reason = f"{counted(len(nearly), 'line')} like a feedback or an Elapsed, but not as a client prints them"
            page.note(nearly[0], "unparsed", reason)
    if Kind.SNAPPER_ROW in page.kinds:
        for number, role in enumerate(page.roles):
            line = page.lines[number].strip() if role in _UNTYPED else ""
            if _SNAPPER_ROW.match(line) or _SNAPPER_END.match(line):
                page.note(number, "unparsed", "nearly a line of Snapper; its figures are not read")


def _is_beside_rows(page: Page, number: int) -> bool:
    """Does a line end with a figure, between rows or beside one that ends, or has its colon, at the same place?"""
    line = page.lines[number]
    if not line.split()[-1][0].isdigit():
        return False
    around = [one for one in (number - 1, number + 1) if 0 <= one < len(page) and page.roles[one] == LineRole.ROW]
    return len(around) > 1 or any(_has_ends_of(line, page.lines[one]) for one in around)


def _has_ends_of(line: str, other: str) -> bool:
    """Are the ends of two lines, or their first colons, below each other?"""
    colon = line.find(" : ")
    return len(line) == len(other) if colon < 0 else colon == other.find(" : ")


def is_nearly_printed(page: Page, number: int) -> bool:
    """Is a line an Elapsed, or by itself a feedback with a number of rows, but for a word?"""
    line = page.lines[number].strip()
    if ":" in line and line[-1].isdigit():
        return _NEARLY_CLOCK.fullmatch(line) is not None
    if line[-1:] != "." or not _NEARLY_FEEDBACK.fullmatch(line):
        return False
    return page.kind(max(number - 1, 0)) in _AROUND_FEEDBACK and page.kind(number + 1) in _AROUND_FEEDBACK


def _rows_of_names(page: Page, numbers: list[int]) -> list[int]:
    """Lines of a text that end with a figure at the right of a column, or one directly above the end of a result.

    A program that prints tables of its own underlines their titles with equals signs, as no client does.
    """
    ends = [number for number in numbers if _ends_with_figure(page, number)]
    aligned = Counter(len(page.lines[number]) for number in ends)
    width, count = aligned.most_common(1)[0] if aligned else (0, 0)
    if count >= _FEWEST_ALIGNED and all(page.lines[number].strip("= ") for number in numbers):
        return [number for number in ends if len(page.lines[number]) == width]
    below = page.after_blanks(numbers[-1] + 1) if numbers else len(page)
    return numbers[-1:] if ends[-1:] == numbers[-1:] and page.kind(below) in _BELOW_ROWS else []


def _ends_with_figure(page: Page, number: int) -> bool:
    """Is the last cell of a line a number, and not that of a line of a script?"""
    line = page.lines[number]
    return "  " in line and _is_number(WIDE_GAP.compiled.split(line)[-1]) and not is_counted(page, number)


def _is_wide(page: Page, number: int) -> bool:
    """Has a line figures at both ends and one between them, and more than blanks in between?"""
    words = page.lines[number].split()
    count = sum(map(_is_number, words))
    return _FEWEST_FIGURES < count < len(words) and _is_number(words[0]) and _is_number(words[-1])


def _is_below_ruler(page: Page, number: int) -> bool:
    """Does a line stand directly below the ruler of several columns, and fit it?"""
    above = number - 1
    if above < 0 or page.kinds[above] != Kind.RULER:
        return False
    columns = columns_of(page.lines[above])
    return len(columns) > 1 and fits(page.lines[number], columns)


def _has_figures(page: Page, number: int) -> bool:
    """Are all words of a line numbers, or half of its cells or several of many, as in a row of a table?"""
    line = page.lines[number]
    words = line.split()
    if not (_is_number(words[0]) or _is_number(words[-1])):
        return False
    cells = WIDE_GAP.compiled.split(line.strip())
    count = sum(map(_is_number, words))
    if min(count, len(cells) - 1) > _FEWEST_FIGURES:
        return True
    if not line[-1].isdigit() or _LIST.search(line):  # a text may follow the figures
        return count > _FEWEST_FIGURES and "   " in line.lstrip() and all(map(_is_number, words[:3]))
    if not _is_number(words[-1]):
        return False
    if count == len(words):
        return count > 1 or (line[0] == " " and not is_counted(page, number))
    if len(cells) > 1 and count >= _FEWEST_FIGURES and 2 * count >= len(words) and not is_counted(page, number):
        return True
    # the first cell may number a line of a statement
    alone = sum(map(_is_number, cells[1:]))
    return alone >= _FEWEST_FIGURES and 2 * alone >= len(cells)


def _is_number(word: str) -> bool:
    """Is a word a number and nothing else?"""
    return (word[:1].isdigit() or word[-1:].isdigit()) and NUMBER.fullmatch(word) is not None
