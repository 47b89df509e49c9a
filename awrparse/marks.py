"""The decimal mark of a report: its head has elapsed time and DB time with two decimals, which show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse.text.layout import GRAMMAR
from logframe.printed import mark_of

if TYPE_CHECKING:
    from logframe.printed import DecimalMark

_BEFORE_MINUTES = re.compile(GRAMMAR.pattern(r"(?<![\w.,])({ANY_FIGURE})\s{0,3}$"))
#: A number between blanks or in a cell.
_ALONE = re.compile(GRAMMAR.pattern(r"(?<![^\s>;])-?({ANY_FIGURE}){ANY_UNIT}?(?![^\s<&])"))
#: So far the head of a report reaches, as text or as HTML.
_HEAD: Final = 40_000
#: This much of a report is read where its head does not show the mark.
_ENOUGH: Final = 12_000
#: What follows elapsed time and DB time, and how long a figure before it is at most.
_MINUTES, _LONGEST = GRAMMAR.literal("MINUTES"), 24
#: Fewer figures than these may be anything: a list, a version.
_FEWEST: Final = 3
#: One mark is the report's when it is this many times as frequent as the other.
_CLEAR: Final = 4


class Decision(NamedTuple):
    """The decimal mark of a report; `reason` says what is wrong when its figures do not agree on one."""

    mark: DecimalMark
    reason: str = ""


def find_mark(text: str) -> Decision:
    """The decimal mark that the figures of a report have.

    Args:
        text: the report, or its beginning.

    Examples:
        >>> find_mark("Elapsed:   60,22 (mins)   DB Time:   1.229,53 (mins)")
        Decision(mark=',', reason='')
        >>> find_mark("log file sync   1.234   1.234   5.678")
        Decision(mark='.', reason='')
    """
    commas, points = _count(_minutes(text))
    if not (commas or points):
        commas, points = _count(_ALONE.findall(text[:_ENOUGH]))
        if commas < _FEWEST:
            return Decision(".")
    if commas > _CLEAR * points:
        return Decision(",")
    if points > _CLEAR * commas or not commas:
        return Decision(".")
    return Decision(
        "." if points >= commas else ",",
        f"{points} figures have a decimal point and {commas} a decimal comma: the more frequent mark was taken",
    )


def _minutes(text: str) -> list[str]:
    """The figures in minutes of a report's head."""
    figures = []
    place = text.find(_MINUTES, 0, _HEAD)
    while place >= 0:
        found = _BEFORE_MINUTES.search(text[max(0, place - _LONGEST) : place])
        if found:
            figures.append(found.group(1))
        place = text.find(_MINUTES, place + 1, _HEAD)
    return figures


def _count(figures: list[str]) -> tuple[int, int]:
    """How many figures can only have a decimal comma, and how many only a decimal point."""
    marks = [mark_of(figure) for figure in figures]
    return marks.count(","), marks.count(".")
