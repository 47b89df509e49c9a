"""Cells of a canonical column as values with bounds."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe import Printed, load_grammar, read_printed
from logframe.figures import ColumnForm
from logframe.printed import LARGEST_WHOLE, MOST_DIGITS, with_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awrparse.columns import Kind
    from logframe.kinds import DiagnosticKind
    from logframe.printed import DecimalMark, TimeUnit

CELLS: Final = load_grammar("awrparse", "cells.lark", "cell", "part")

_DECIMALS = re.compile(CELLS.pattern("{WHOLE_PART}({DECIMALS})"))
_DOTTED = re.compile(CELLS.pattern("{DOTTED}"))
_TIME = re.compile(
    CELLS.pattern(
        r"(?P<day>{DAY}){DATE_MARK}(?P<month>{MONTH})\s?{DATE_MARK}(?P<year>{YEAR})"
        r"(?:\s+(?P<hour>{DAY}):(?P<minute>{TWO_DIGITS})(?::(?P<second>{TWO_DIGITS}))?)?{WEEKDAY}?"
    )
)
_DAY = re.compile(CELLS.pattern("{DAY}"))
#: First letters of month names as NLS_DATE_LANGUAGE prints them, in lower case.
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "jan ene gen янв sty led oca",
            "feb fév fev фев lut úno şub",
            "mar mär mrz maa мар bře már",
            "apr avr abr апр kwi dub nis ápr",
            "may mai mag maj май kvě máj",
            "jun juin giu июн cze čvn haz jún",
            "jul juil lug июл lip čvc tem júl",
            "aug aoû ago авг sie srp ağu",
            "sep set сен wrz zář eyl sze",
            "oct okt ott out окт paź říj eki",
            "nov ноя lis kas",
            "dec dez dic déc дек gru pro ara",
        ),
        1,
    )
    for name in names.split()
}
_MEBI: Final = 1 << 20
#: Kinds whose figures are converted to the unit of their column, and by how much.
_FACTORS: Final = {"kbytes": 1024, "mbytes": _MEBI, "minutes": 60}
#: Kinds whose whole numbers are exact.
_EXACT: Final = frozenset({"count", "bytes"})
#: Kind of column and the other unit that its heading names -> what the figures are divided by.
_IN_HEADING: Final = {("ms", "(us)"): 1000.0, ("s", "(cs)"): 100.0, ("s", "(ms)"): 1000.0, ("us", "(ms)"): 0.001}
#: Kinds of times; kinds whose columns show as many decimals in every cell.
_TIMES: Final = frozenset({"s", "ms", "us"})
_WITH_DECIMALS: Final = _TIMES | {"pct", "number"}
#: A heading whose unit is not known.
_UNKNOWN: Final = "(?)"


class Reading(NamedTuple):
    """How the cells of a column are read.

    Attributes:
        kind: of the column.
        decimals: how many the column shows; None where each cell shows its own.
        divisor: of figures in another unit than the kind's, as in ``Avg Time (us)``.
        is_unknown: no note says in which unit the column is printed.
        decimal_mark: of the report.
    """

    kind: Kind
    decimals: int | None = None
    divisor: float = 1.0
    is_unknown: bool = False
    decimal_mark: DecimalMark = "."


class Fault(NamedTuple):
    """Why a cell is no value, or another than printed."""

    kind: DiagnosticKind
    reason: str


class Measure(NamedTuple):
    """A cell as a value with its bounds, and why it is no value, or another than printed."""

    value: float | int | None
    lo: float | None
    hi: float | None
    fault: Fault | None = None


def reading_of(cells: Sequence[str], kind: Kind, heading: str, decimal_mark: DecimalMark = ".") -> Reading:
    """How a column is read; the heading may name another unit than the kind's, as in ``Avg Time (us)``.

    A whole number in a column that shows decimals has lost a trailing ``.0``: it is read with the column's decimals.

    Args:
        cells: as printed.
        kind: of the column.
        heading: of the column.
        decimal_mark: the decimal mark of the report.
    """
    decimals = None
    if kind in _WITH_DECIMALS:
        shown = [with_points(cell, decimal_mark) for cell in cells] if decimal_mark == "," else cells
        decimals = max(map(_shown_decimals, shown), default=0)
    return Reading(kind, decimals, _divisor(kind, heading), _is_unknown(kind, heading), decimal_mark)


@lru_cache(maxsize=4096)
def form_of(kind: Kind, heading: str) -> ColumnForm:
    """How the plain cells of a column are read at once, as `reading_of` and `read_measure` would."""
    options = (kind in _EXACT, kind == "count", kind in _WITH_DECIMALS, _is_unknown(kind, heading))
    return ColumnForm(*options, _FACTORS.get(kind, 1), _divisor(kind, heading))


def _divisor(kind: Kind, heading: str) -> float:
    """What figures are divided by where the heading names another unit than the kind's."""
    if "(" not in heading:
        return 1.0
    return next((size for (one, unit), size in _IN_HEADING.items() if one == kind and unit in heading), 1.0)


def _is_unknown(kind: Kind, heading: str) -> bool:
    return kind in _TIMES and heading.endswith(_UNKNOWN)


@lru_cache(maxsize=1 << 14)
def _shown_decimals(cell: str) -> int:
    found = _DECIMALS.fullmatch(cell)
    return len(found.group(1)) if found and len(cell) <= MOST_DIGITS else 0


@lru_cache(maxsize=1 << 15)
def read_measure(cell: str, reading: Reading) -> Measure:
    """One cell of a column of figures.

    Examples:
        >>> read_measure("11.1K", Reading("count"))
        Measure(value=11100, lo=11050.0, hi=11150.0, fault=None)
        >>> read_measure("####", Reading("s")).fault
        Fault(kind='overflow', reason='the value did not fit its column; it is null')
    """
    shown = cell
    cell = with_points(cell, reading.decimal_mark)
    printed = _read(cell, reading.kind, reading.decimals)
    value: float | int | None = printed.value
    lo, hi, fault = printed.lo, printed.hi, None
    if printed.flag in {"overflow", "text"}:
        fault = _fault(shown, printed.flag)
    if reading.is_unknown and value:
        return Measure(None, None, None, Fault("ambiguous", "no note says in which unit this is printed; it is null"))
    if reading.divisor != 1 and value is not None and lo is not None and hi is not None and printed.unit is None:
        value, lo, hi = value / reading.divisor, lo / reading.divisor, hi / reading.divisor
    if reading.kind == "count" and value is not None:
        value, reason = _whole(cell, value, shown)
        if reason:
            fault = Fault("no_value" if value is None else "repaired", reason)
            lo = hi = None if value is None else float(value)
    return Measure(value, lo, hi, fault)


def _fault(cell: str, flag: str) -> Fault:
    if flag == "overflow":
        return Fault("overflow", "the value did not fit its column; it is null")
    return Fault("no_value", f"{cell[:60]!r} is not a number; it is null")


def _whole(cell: str, value: float, shown: str) -> tuple[int | None, str]:
    """A count as an integer, and what was wrong with the cell that shows it."""
    if abs(value) > LARGEST_WHOLE:
        return None, f"{shown!r} is too large for a count; it is null"
    if cell.rstrip().endswith("."):
        return None, f"{shown!r} was cut by its column; it is null"
    if value == int(value):
        return int(value), ""
    if _DOTTED.fullmatch(cell.strip()):
        return int(cell.replace(".", "")), f"{shown.strip()!r} in a column of counts: the full stops group digits"
    return None, f"{shown!r} is not a whole number; it is null"


def _read(cell: str, kind: Kind, decimals: int | None) -> Printed:
    if kind == "count":
        return read_printed(cell)
    if kind in {"bytes", "kbytes", "mbytes"}:
        printed = read_printed(cell, base=1024, rounded=kind not in _EXACT)
        return printed if printed.unit or kind == "bytes" else _scaled(printed, _FACTORS[kind])
    if kind == "minutes":
        printed = read_printed(cell, rounded=True, time_unit="s")
        return printed if printed.unit else _scaled(printed, _FACTORS[kind])
    suffixed = cell[-1:].isalpha()
    unit: TimeUnit = "ms" if kind == "ms" else "us" if kind == "us" else "s"
    return read_printed(cell, time_unit=unit, rounded=True, decimals=None if suffixed else decimals)


def _scaled(printed: Printed, factor: int) -> Printed:
    if printed.value is None or printed.lo is None or printed.hi is None:
        return printed
    return printed._replace(value=printed.value * factor, lo=printed.lo * factor, hi=printed.hi * factor)


@lru_cache(maxsize=1024)
def read_time(cell: str) -> datetime | None:
    """A date and time in the language of the report; None without one.

    Examples:
        >>> read_time("23-Apr-14 19:30:10").isoformat(), read_time("10-Дек-17 13:30:55").isoformat()
        ('2014-04-23T19:30:10', '2017-12-10T13:30:55')
        >>> read_time("16-2月 -13 05:00:50").isoformat(), read_time("soon")
        ('2013-02-16T05:00:50', None)
    """
    found = _TIME.fullmatch(cell.strip())
    if found is None:
        return None
    day, month, year, hour, minute, second = found.group("day", "month", "year", "hour", "minute", "second")
    if "/" in cell and month.isdecimal():
        day, month = month, day
    digits = _DAY.match(month)
    number = int(digits.group()) if digits else _month(month)
    try:
        return datetime(  # noqa: DTZ001 - a report prints the database host's clock without a zone
            int(year) + (2000 if len(year) == 2 else 0),
            number,
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
        )
    except ValueError:
        return None


def _month(name: str) -> int:
    name = name.lower()
    return next((_MONTHS[name[:length]] for length in (4, 3) if name[:length] in _MONTHS), 0)
