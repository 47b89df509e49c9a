"""Whether a cell of a typed frame holds a number as the source prints it, its unit converted."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from math import isclose
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import polars as pl

from logframe.source_numbers import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from logframe.source_numbers import Number

_BINARY: Final = tuple(1024.0**power for power in range(7))
_DECIMAL: Final = tuple(1000.0**power for power in range(7))
#: Units of time in seconds.
_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "cs": 0.01, "s": 1.0}
#: Digits between two marks that group them.
_GROUP: Final = 3
#: A printed date or clock is shorter.
_LONGEST_TIME: Final = 64


#: Frame, row and column.
Cell: TypeAlias = tuple[str, int, str]


class _Forms(NamedTuple):
    """The forms of a number as compiled patterns."""

    number: re.Pattern[str]
    clock: re.Pattern[str]
    whole: re.Pattern[str]


@cache
def _forms() -> _Forms:
    templates = (
        "(?P<number>{SIGN}?{AMOUNT})(?P<unit>{UNIT}?)$",
        "(?:(?P<hours>{WHOLE}):)?(?P<minutes>{WHOLE}):(?P<seconds>{SECONDS})$",
        "{WHOLE}",
    )
    return _Forms(*(re.compile(GRAMMAR.pattern(template)) for template in templates))


class Cells:
    """The cells of frames as values to compare numbers with.

    Args:
        frames: By name.
        mark: The decimal mark of the source.
    """

    def __init__(self, frames: Mapping[str, pl.DataFrame], *, mark: str = ".") -> None:
        self._frames = frames
        self._mark = mark
        self._texts: dict[str, list[str]] = {}
        self._values: dict[tuple[str, str], list[object]] = {}
        self._units: dict[tuple[str, str], float] = {}
        self._candidates: dict[tuple[str, float, float], list[float]] = {}

    def texts(self, frame: str) -> list[str]:
        """The columns that hold text."""
        if frame not in self._texts:
            schema = self._frames[frame].schema
            self._texts[frame] = [name for name in schema if isinstance(schema[name], (pl.String, pl.Enum))]
        return self._texts[frame]

    def _value(self, cell: Cell) -> object:
        frame, row, column = cell
        values = self._values.get((frame, column))
        if values is None:
            series = self._frames[frame][column]
            if isinstance(series.dtype, pl.Duration):
                series = series.dt.total_nanoseconds() / 1e9
            elif isinstance(series.dtype, pl.Enum):
                series = series.cast(pl.String)
            values = self._values[frame, column] = series.to_list()
        return values[row] if row < len(values) else None

    def is_empty(self, cell: Cell) -> bool:
        """Is there nothing in the cell?"""
        return self._value(cell) is None

    def is_figure(self, cell: Cell) -> bool:
        """Does the column hold figures?"""
        return self._frames[cell[0]].schema[cell[2]].is_numeric()

    def is_moment(self, cell: Cell) -> bool:
        """Is a date with a time of day in the cell?"""
        return isinstance(self._value(cell), datetime)

    def contains(self, cell: Cell, text: str) -> bool:
        """Is the number part of a cell of text?"""
        value = self._value(cell)
        return isinstance(value, str) and text in value

    def holds(self, cell: Cell, number: Number, factor: float = 1.0) -> bool:
        """Is the cell the number?

        Args:
            cell: Frame, row and column.
            number: As printed.
            factor: What a printed figure without a unit of its own is multiplied by in this column.
        """
        value = self._value(cell)
        match value:
            case str():
                value = value.strip()
                return value == number.text or (value.isdigit() and value == (number.text.lstrip("0") or "0"))
            case date() | time():
                return (number.is_compound and _is_time(number.text, value)) or _is_stamp(number, value)
            case int() | float():
                return any(
                    isclose(value, one, rel_tol=1e-9, abs_tol=1e-12)
                    for one in self._read(number.text, factor, self._unit(cell))
                )
            case _:
                return False

    def _unit(self, cell: Cell) -> float:
        """The unit of a column of times in seconds."""
        key = cell[0], cell[2]
        if key not in self._units:
            words = cell[2].split("_per_")[0].split("_")
            self._units[key] = next((_UNITS[word] for word in reversed(words) if word in _UNITS), 1.0)
        return self._units[key]

    def _read(self, text: str, factor: float, unit: float) -> list[float]:
        """The values that a printed number may stand for in a column."""
        key = text, factor, unit
        if key not in self._candidates:
            self._candidates[key] = _values_of(text, self._mark, factor, unit)
        return self._candidates[key]


def _values_of(text: str, mark: str, factor: float, time_unit: float) -> list[float]:
    """The values that a printed number may stand for.

    Args:
        text: The number.
        mark: The decimal mark.
        factor: Of numbers without a unit.
        time_unit: Of the column, in seconds.

    Examples:
        >>> _values_of("8K", ".", 1.0, 1.0), _values_of("1,234.5", ".", 1024.0, 1.0), _values_of("1,234", ".", 1.0, 1.0)
        ([8000.0, 8192.0], [1264128.0], [1.234, 1234.0])
        >>> _values_of("00:01:02.5", ".", 1.0, 1.0), _values_of("12ms", ".", 1.0, 1e-6)
        ([62.5], [12000.0])
        >>> _values_of("1" * 5_000 + ":00:01", ".", 1.0, 1.0)
        [inf]
    """
    if mark == ",":
        text = text.replace(".", "").replace(",", ".")
    if clock := _forms().clock.match(text):
        hours, minutes, seconds = clock.groups()
        return [(float(hours or 0) * 3600 + float(minutes) * 60 + float(seconds)) / time_unit]
    found = _forms().number.match(text)
    if found is None:
        return []
    whole, comma, decimals = found["number"].rpartition(",")
    # a session may have a decimal mark of its own
    marks = [""] if "," in whole or "." in decimals else [".", ""] if len(decimals) == _GROUP else ["."]
    numbers = [float(whole.replace(",", "") + (mark if comma else "") + decimals) for mark in marks]
    match found["unit"].strip():
        case "" | "%":
            return [number * factor for number in numbers]
        case unit if unit in _UNITS:
            # after a blank it may be a word: the factor of the column is then that of its reader
            plain = [number * factor for number in numbers] if found["unit"].startswith(" ") else []
            return [*(number * _UNITS[unit] / time_unit for number in numbers), *plain]
        case unit:
            power = "KMGTPE".find(unit[0].upper()) + 1
            return [number * size for number in numbers for size in (_DECIMAL[power], _BINARY[power])]


def _is_time(text: str, value: date | time) -> bool:
    """Is a printed date or time the cell's?

    Examples:
        >>> at = datetime(2014, 4, 23, 19, 30, 10)
        >>> _is_time("23-Apr-14 19:30:10", at), _is_time("23-Apr-14", at), _is_time("19:31:10", at)
        (True, True, False)
        >>> _is_time("30:10.5", at)  # minutes and seconds, of no hour
        False
        >>> _is_time("04/23/14", at.date()), _is_time("23-Apr-14 19:30:10", at.date())
        (True, False)
        >>> _is_time("1" * 5_000 + ":31:10", at)
        False
        >>> _is_time("31-Dec-16 23:59:60", datetime(2017, 1, 1)), _is_time("23:59:60", time())  # a leap second
        (True, True)
    """
    if len(text) > _LONGEST_TIME:
        return False
    day, clock = _parted(text)
    if clock[2:] == ["60"] and isinstance(value, datetime | time):
        clock[2] = "59"
        end = value if isinstance(value, datetime) else datetime.combine(date.max, value)
        value = end - timedelta(seconds=1) if end.year > 1 else end
    if clock:
        if not isinstance(value, datetime | time):
            return False
        hour, minute, *rest = clock
        if not minute.isdecimal():
            return False
        # a clock of twelve hours has AM or PM beside it
        if (value.hour % 12, value.minute) != (int(hour) % 12, int(minute)):
            return False
        if rest and not isclose(float(rest[0]), value.second + value.microsecond / 1e6, abs_tol=1e-6):
            return False
    if day:
        if not isinstance(value, date):
            return False
        known = {value.day, value.month, value.year, value.year % 100}
        return all(int(digits) in known for digits in day)
    return bool(clock)


def _parted(text: str) -> tuple[list[str], list[str]]:
    """The digits of a date, and the parts of a time of day."""
    words = text.replace("T", " ").split()
    clock = next((word.replace(",", ".").split(":") for word in words if ":" in word), [])
    date = [digits for word in words if ":" not in word for digits in _forms().whole.findall(word)]
    return date, clock


def _is_stamp(number: Number, value: date | time) -> bool:
    """Is the number the cell's time in seconds since 1970?"""
    if number.is_compound or not isinstance(value, datetime):
        return False
    stamp = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return any(
        isclose(candidate, stamp, rel_tol=0, abs_tol=2e-6) for candidate in _values_of(number.text, ".", 1.0, 1.0)
    )
