"""The decimal mark: what a printed figure says of it.  Sessions with other NLS settings print ``1.234,56``.

One figure rarely says it: ``1.234`` may be either.  What says it is a mark that cannot group digits, because it is not
followed by three of them, or stands after the other mark.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from logframe.printed import BLANKS, GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterable

DecimalMark = Literal[".", ","]

_SWAP: Final = str.maketrans(",.", ".,")


def mark_of(figure: str) -> DecimalMark | None:
    """The decimal mark that a figure must have; None where it may have either, or shows none.

    Args:
        figure: a number, with its sign, exponent and unit or without.

    Examples:
        >>> mark_of("1.229,53"), mark_of("60,2K"), mark_of(",083"), mark_of("1,229.53"), mark_of("0.5")
        (',', ',', ',', '.', '.')
        >>> mark_of("1.234"), mark_of("117,246"), mark_of("12"), mark_of("1,2,3")
        (None, None, None, None)
    """
    grouped, comma, point = _forms()
    text = figure.strip(BLANKS)
    if grouped.fullmatch(text):
        return None
    if comma.fullmatch(text):
        return ","
    return "." if point.fullmatch(text) else None


def decimal_mark(figures: Iterable[str]) -> DecimalMark:
    """The decimal mark of a column of figures: a comma where one of them cannot group thousands.

    Examples:
        >>> decimal_mark(["1234,5", "12"]), decimal_mark(["117,246", "3"]), decimal_mark([",0833333333"])
        (',', '.', ',')
    """
    return "," if any(mark_of(figure) == "," for figure in figures if "," in figure) else "."


def with_points(cell: str, mark: DecimalMark) -> str:
    """A cell as it stands in a log with decimal points.

    Examples:
        >>> with_points("1.234,5K", ","), with_points("1,234.5K", ".")
        ('1,234.5K', '1,234.5K')
    """
    return cell.translate(_SWAP) if mark == "," else cell


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Figures whose digits one mark groups; those with a decimal comma; those with a decimal point."""
    tail = "(?:{EXPONENT})?(?:{_GAP}?{UNIT})?"
    names = ("GROUPED", "DECIMAL_COMMA", "DECIMAL_POINT")
    return tuple(re.compile(GRAMMAR.pattern(f"[+-]?{{{name}}}{tail}")) for name in names)
