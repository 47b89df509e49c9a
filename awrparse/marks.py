"""The decimal mark of a report.  A session whose NLS_NUMERIC_CHARACTERS say so prints ``1.234,56`` for ``1,234.56``.

One figure rarely tells: ``1.234`` may be either.  What tells is a mark that cannot group digits, because it is
not followed by three of them, or comes after the other mark.  A report's head always has such figures: elapsed
time and DB time with two decimals.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Mark = Literal[".", ","]

_BEFORE_MINUTES = re.compile(r"(?<![\w.,])([\d.,]*\d)\s{0,3}$")
#: A number that stands alone, between blanks or in a cell.
_ALONE = re.compile(r"(?<![^\s>;])-?([\d.,]*\d)(?:[KMGT%]|[num]?s)?(?![^\s<&])")
_COMMA = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d+$|,\d{1,2}$")
_POINT = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d*)\.\d+$")
_GROUPED = re.compile(r"\d{1,3}(?:(?:,\d{3})+|(?:\.\d{3})+)$")
#: So far the head of a report reaches, as text or as HTML.
_HEAD: Final = 40_000
#: So much of a report is looked at where its head does not tell.
_ENOUGH: Final = 12_000
#: What is printed behind elapsed time and DB time, and how long a figure before it is at most.
_MINUTES, _LONGEST = "(mins)", 24
#: Fewer figures than these may be anything: a list, a version.
_FEWEST: Final = 3
#: One mark is the report's when it is this many times as frequent as the other.
_CLEAR: Final = 4


class Decision(NamedTuple):
    """The decimal mark of a report; `reason` says what is wrong when its figures do not agree on one."""

    mark: Mark
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
    telling = [figure for figure in figures if not _GROUPED.match(figure)]
    return sum(bool(_COMMA.match(one)) for one in telling), sum(bool(_POINT.match(one)) for one in telling)


_SWAP: Final = str.maketrans(",.", ".,")


def with_points(cell: str, mark: Mark) -> str:
    """A cell as it stands in a report with decimal points.

    Examples:
        >>> with_points("1.234,5K", ","), with_points("1,234.5K", ".")
        ('1,234.5K', '1,234.5K')
    """
    return cell.translate(_SWAP) if mark == "," else cell
