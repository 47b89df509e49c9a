"""Printed numbers: the value, and the interval of values that print that way.

A report rounds.  ``11.1K`` stands for anything from 11,050 to 11,150, ``.0`` for anything up to 0.05.  `read_printed`
reads one text, `printed_columns` does the same for a column; the pattern is made of the terminals of ``printed.lark``.

* A whole number without unit or exponent is a **count** and exact, unless `rounded` says that the column holds
  rounded measures; then ``2`` is [1.5, 2.5].
* Units scale: ``K M G T P E`` by `base` (1000, or 1024 for bytes), ``ns us ms s (mins)`` to `time_unit`.
* A measure that ends with its decimal mark was cut there, or shows no decimals: ``79.`` is [78.5, 80].
* A zero has the lower bound 0: what is counted or timed is not negative.
* ``####`` (the value did not fit) is null and flagged `overflow`; ``N/A``, ``*``, ``-``, ``UNLIMITED`` are null and
  flagged `absent`; blank is null; anything else is null and flagged `text`.  None of them is zero.

The decimal mark may be a comma: sessions with other NLS settings print ``1.234,56``.  One figure rarely says it:
``1.234`` may be either.  What says it is a mark that cannot group digits, because it is not followed by three of them,
or stands after the other mark.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import polars as pl

from logframe.grammar import load_grammar

if TYPE_CHECKING:
    from collections.abc import Iterable


GRAMMAR = load_grammar("logframe", "printed.lark", "printed")

TimeUnit = Literal["ns", "us", "ms", "s"]
Flag = Literal["overflow", "absent", "text"]

#: Nanoseconds in each unit of time that a report prints.
NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "(mins)": 60_000_000_000,
}
_POWERS: Final = {letter: power for power, letter in enumerate("KMGTPE", 1)}
#: Exponents beyond this are no figure of a report; the text is left as it is.
_LARGEST_EXPONENT: Final = 200
#: Nor are numbers with more digits than this; beyond some hundreds Python would refuse to divide them.
MOST_DIGITS: Final = 60
#: Nor are longer texts, with the marks between the digits, an exponent and a unit.
_LONGEST: Final = 2 * MOST_DIGITS

#: What a cell may be padded with.
BLANKS: Final = " \t\r\n\N{NO-BREAK SPACE}"
_SWAP_MARKS: Final = str.maketrans(",.", ".,")

_NUMBER: Final = (
    "^(?P<sign>{PLUS}|{MINUS})?(?:(?P<digits>{DIGITS})(?P<fraction>{FRACTION})?|(?P<bare>{FRACTION}))"
    "(?P<exponent>{EXPONENT})?(?:{_GAP}?(?P<unit>{UNIT}))?$"
)


#: The largest whole number that a column of a frame holds.
LARGEST_WHOLE: Final = (1 << 63) - 1
_MOST_DIGITS: Final = len(str(LARGEST_WHOLE))


class Printed(NamedTuple):
    """A printed number.

    Attributes:
        value: the number; None without one.
        lo: the smallest value that prints this way.
        hi: the largest value that prints this way.
        unit: the unit as printed (``K``, ``ms``, ``%``), or None.
        flag: why there is not a number: `overflow`, `absent`, `text`; None when there is one, and for a blank.
    """

    value: float | None = None
    lo: float | None = None
    hi: float | None = None
    unit: str | None = None
    flag: Flag | None = None


def read_printed(
    text: str | None,
    *,
    base: int = 1000,
    time_unit: TimeUnit = "s",
    rounded: bool = False,
    decimals: int | None = None,
    decimal: str = ".",
) -> Printed:
    """A printed number with its bounds.

    Args:
        text: the cell, blanks around it or not.
        base: what ``K`` stands for: 1000, or 1024 for bytes.
        time_unit: the unit that ``ns us ms s (mins)`` are converted to; a number without unit is left as it is.
        rounded: whole numbers are rounded measures, not counts.
        decimals: how many decimals the column shows, where trailing zeros are not printed (``2`` for ``2.0``).
        decimal: the decimal mark; with ``,`` the full stop groups digits.

    Examples:
        >>> read_printed("11.1K")
        Printed(value=11100.0, lo=11050.0, hi=11150.0, unit='K', flag=None)
        >>> read_printed("199.49ms", time_unit="ms")[:3]
        (199.49, 199.485, 199.495)
        >>> read_printed(".0")[:3]
        (0.0, 0.0, 0.05)
        >>> read_printed("1,837")[:3], read_printed("2", rounded=True)[:3], read_printed("2", decimals=1)[:3]
        ((1837.0, 1837.0, 1837.0), (2.0, 1.5, 2.5), (2.0, 1.95, 2.05))
        >>> read_printed("####").flag, read_printed("N/A").flag, read_printed(" ").flag, read_printed("off").flag
        ('overflow', 'absent', None, 'text')
    """
    return _read(text or "", base, time_unit, rounded, decimals, decimal)


@lru_cache(maxsize=1 << 14)
def whole_number(text: str) -> int | None:
    """A whole number without a sign; None for another text, and for a number that no frame holds (`LARGEST_WHOLE`).

    Examples:
        >>> whole_number(" 32 "), whole_number("\u00b2"), whole_number("9" * 19)
        (32, None, None)
    """
    bare = text.strip()
    is_short = len(bare) <= _MOST_DIGITS and bare.isascii() and bare.isdecimal()
    return number if is_short and (number := int(bare)) <= LARGEST_WHOLE else None


def finite(text: str) -> float | None:
    """A number; None for one that is too large for a column of a frame.

    Raises:
        ValueError: the text is not a number.

    Examples:
        >>> finite("1.5"), finite("1e999")
        (1.5, None)
    """
    return number if math.isfinite(number := float(text)) else None


def _read(text: str, base: int, time_unit: TimeUnit, rounded: bool, decimals: int | None, decimal: str) -> Printed:  # noqa: FBT001 - the arguments of read_printed, as a key
    cell = text.strip(BLANKS)
    if not cell:
        return Printed()
    if decimal == ",":
        cell = cell.translate(_SWAP_MARKS)
    forms = _forms()
    found = forms.number.match(cell) if len(cell) <= _LONGEST else None
    if found is None:
        if forms.overflow.match(cell):
            return Printed(flag="overflow")
        return Printed(flag="absent" if forms.absent.match(cell) else "text")
    sign, digits, fraction, bare, exponent, unit = found.group("sign", "digits", "fraction", "bare", "exponent", "unit")
    power = int(exponent[1:]) if exponent else 0
    if abs(power) > _LARGEST_EXPONENT:
        return Printed(flag="text")
    shown = (fraction or bare or ".")[1:]
    if len(digits or "") + len(shown) > MOST_DIGITS:
        return Printed(flag="text")
    number = int((digits or "").replace(",", "") + shown or "0")
    if not (digits or shown):
        return Printed(flag="text")
    is_cut = fraction == "." and not exponent  # decimals followed the mark, or the column shows none
    if decimals is not None and not exponent and len(shown) < decimals and not is_cut:
        number *= 10 ** (decimals - len(shown))
        shown = shown.ljust(decimals, "0")
    multiply, divide = _scale(unit, base, time_unit)
    tens = len(shown) - power
    multiply, divide = (multiply, divide * 10**tens) if tens >= 0 else (multiply * 10**-tens, divide)
    is_exact = not (rounded or exponent or unit or shown)
    half = 0 if is_exact else 1
    value = number * multiply / divide
    lo = max(2 * number - half, 0) * multiply / (2 * divide)
    hi = (2 * number + (2 * half if is_cut else half)) * multiply / (2 * divide)
    if sign == "-":
        value, lo, hi = -value, -hi, -lo
    return Printed(value, lo, hi, unit)


def printed_columns(
    column: str,
    *,
    name: str | None = None,
    bounds: bool = False,
    base: int = 1000,
    time_unit: TimeUnit = "s",
    rounded: bool = False,
    decimals: int | None = None,
    decimal: str = ".",
) -> list[pl.Expr]:
    """Expressions that read a column of printed numbers.

    Args:
        column: the String column.
        name: what to call the result; the column's own name when None.
        bounds: add ``<name>_lo`` and ``<name>_hi``.
        base: as in `read_printed`, and so are the other options.
        time_unit: as in `read_printed`.
        rounded: as in `read_printed`.
        decimals: as in `read_printed`.
        decimal: as in `read_printed`.

    Returns:
        One Float64 expression, or three with `bounds`.  A cell without a number is null; `flag_column` says why.

    Examples:
        >>> frame = pl.DataFrame({"time": ["11.1K", ".2", "####"]})
        >>> frame.select(printed_columns("time", bounds=True))
        shape: (3, 3)
        ┌─────────┬─────────┬─────────┐
        │ time    ┆ time_lo ┆ time_hi │
        │ ---     ┆ ---     ┆ ---     │
        │ f64     ┆ f64     ┆ f64     │
        ╞═════════╪═════════╪═════════╡
        │ 11100.0 ┆ 11050.0 ┆ 11150.0 │
        │ 0.2     ┆ 0.15    ┆ 0.25    │
        │ null    ┆ null    ┆ null    │
        └─────────┴─────────┴─────────┘
    """
    name = name or column
    fields = ("value", "lo", "hi") if bounds else ("value",)

    def read(cells: pl.Series) -> pl.Series:
        rows = [
            _read(cell or "", base, time_unit, rounded, decimals, decimal)[: len(fields)] for cell in cells.to_list()
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys(fields, pl.Float64), orient="row").to_struct(name)

    numbers = pl.col(column).map_batches(
        read, return_dtype=pl.Struct(dict.fromkeys(fields, pl.Float64)), is_elementwise=True
    )
    suffixes = {"value": "", "lo": "_lo", "hi": "_hi"}
    return [numbers.struct.field(field).alias(name + suffixes[field]) for field in fields]


class _Forms(NamedTuple):
    """The forms of a cell as compiled patterns."""

    number: re.Pattern[str]
    overflow: re.Pattern[str]
    absent: re.Pattern[str]


@cache
def _forms() -> _Forms:
    return _Forms(*(re.compile(GRAMMAR.pattern(form)) for form in (_NUMBER, "^{HASHES}$", "^(?:{ABSENT}|{MINUS})$")))


def _scale(unit: str | None, base: int, time_unit: TimeUnit) -> tuple[int, int]:
    """The factor of a printed unit, as numerator and denominator."""
    if unit is None or unit == "%":
        return 1, 1
    if unit in NANOSECONDS:
        return NANOSECONDS[unit], NANOSECONDS[time_unit]
    return base ** _POWERS[unit.upper()], 1


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
    grouped, comma, point = _decimal_mark_forms()
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
def _decimal_mark_forms() -> tuple[re.Pattern[str], ...]:
    """Figures whose digits one mark groups; those with a decimal comma; those with a decimal point."""
    tail = "(?:{EXPONENT})?(?:{_GAP}?{UNIT})?"
    names = ("GROUPED", "DECIMAL_COMMA", "DECIMAL_POINT")
    return tuple(re.compile(GRAMMAR.pattern(f"[+-]?{{{name}}}{tail}")) for name in names)
