"""Times: dates and clocks as the tools print them, in whatever order a locale puts them."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import polars as pl

from hostparse.lines import GRAMMAR as LINES
from logframe import load_grammar
from logframe.moments import moment
from logframe.printed import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from polars._typing import PolarsDataType

GRAMMAR: Final = load_grammar("hostparse", "times.lark", "start", "iso", "numeric_date", "clock", "long", "full")

DateOrder = Literal["ymd", "mdy", "dmy"]

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: A year of two digits from here on is of the century before.
_PIVOT: Final = 70
_CLOCK: Final = "(?P<hour>{HOUR}):(?P<minute>{SIXTY}):(?P<second>{SIXTY})(?:{GAP}(?P<half>{HALF}))?"
_DATE: Final = "(?P<first>{PART}){MARK}(?P<second_part>{PART}){MARK}(?P<third>{PART})"
_LONG: Final = (
    "{DAY_NAME}{GAP}(?P<month>{MONTH_NAME}){GAP}(?P<day>{PART}){GAP}"
    + _CLOCK
    + ("(?:{GAP}(?P<zone>{ZONE}))?{GAP}(?P<year>{YEAR})")
)
_FULL: Final = (
    "{FULL_DAY}(?P<month>{MONTH_NAME}){MONTH_REST}?{GAP}(?P<day>{PART}),{GAP}(?P<year>{YEAR}){GAP}{AT}?"
    + _CLOCK
    + "(?:{GAP}(?P<zone>{ZONE}))?"
)
_DATED: Final = (
    "(?P<date>{PART}{MARK}{PART}{MARK}{PART}\\.?)(?:T|{GAP})"
    "(?P<clock>{HOUR}:{SIXTY}:{SIXTY}(?:{GAP}{HALF})?)(?:{GAP}?(?P<zone>{ZONE}|Z))?"
)
DAY_S: Final = 86_400
_1970: Final = dt.date(1970, 1, 1)
#: Digits of a month or a day at most.
_DIGITS: Final = 2
_ZONED: Final = pl.Struct({"time": pl.Datetime("us"), "zone": pl.String()})
_UNTIMED: Final[dict[str, object]] = {"time": None, "zone": None}


class Order(NamedTuple):
    """The order of day, month and year in the dates of a file.

    Attributes:
        order: ``ymd``, ``mdy`` or ``dmy``.
        is_assumed: no date of the file decides it; the order is that of the C locale.
    """

    order: DateOrder
    is_assumed: bool


def date_order(dates: list[str], *, twelve_hours: bool) -> Order:
    """The order of the parts of the dates of a file.

    A year first, a point between the parts, or a part above 12 decide it; a clock of twelve hours is American.

    Examples:
        >>> date_order(["02/19/24"], twelve_hours=False), date_order(["02/03/24"], twelve_hours=False)
        (Order(order='mdy', is_assumed=False), Order(order='mdy', is_assumed=True))
        >>> date_order(["19.02.2024"], twelve_hours=False).order, date_order(["2024-02-03"], twelve_hours=False).order
        ('dmy', 'ymd')
    """
    parts = [date.replace(".", "/").replace("-", "/").split("/") for date in dates]
    if any(len(part[0]) == 4 for part in parts):
        return Order("ymd", is_assumed=False)
    if any("." in date for date in dates) or any(int(part[0]) > 12 for part in parts):
        return Order("dmy", is_assumed=False)
    return Order("mdy", is_assumed=not twelve_hours and bool(parts) and all(int(part[1]) <= 12 for part in parts))


def of_each(texts: pl.Expr, read: Callable[[str], object], dtype: PolarsDataType) -> pl.Expr:
    """What is read of each text, once of those that are alike; null of a null.

    Examples:
        >>> texts = pl.DataFrame({"text": ["1:05:00 PM", None, "1:05:00 PM"]})
        >>> texts.select(of_each(pl.col("text"), second_of, pl.Int64)).to_series().to_list()
        [47100, None, 47100]
    """

    def read_all(column: pl.Series) -> pl.Series:
        printed = column.to_list()
        places = {text: place for place, text in enumerate(dict.fromkeys(printed))}
        values = pl.Series(column.name, [None if text is None else read(text) for text in places], dtype=dtype)
        return values.gather(pl.Series([places[text] for text in printed], dtype=pl.UInt32))

    return texts.map_batches(read_all, return_dtype=dtype, is_elementwise=True)


def calendar_day(year: int, month: int, day: str) -> dt.date | None:
    """The date; None without one."""
    try:
        return dt.date(year, month, int(day)) if len(day) <= _DIGITS else None
    except ValueError:
        return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(template))


def second_of(clock: str) -> int | None:
    """The seconds since midnight of a clock; None without one, or where it is no time of a day.

    The second 60 is a leap second, which ends an hour of UTC: in some zones, a quarter of one.

    Examples:
        >>> second_of("23:59:60"), second_of("05:29:60"), second_of("20:54:60"), second_of("24:00:00")
        (86400, 19800, None, None)
    """
    found = _pattern(_CLOCK).fullmatch(clock)
    return None if found is None else _second(found)


def _second(found: re.Match[str]) -> int | None:
    hour, minute, second = map(int, found.group("hour", "minute", "second"))
    if half := found["half"]:
        hour = hour % 12 + 12 * (half[0] in "Pp")
    is_time = hour < 24 and minute < 60 and (second < 60 or (second == 60 and minute % 15 == 14))
    return hour * 3600 + minute * 60 + second if is_time else None


def seconds_of_day(clock: pl.Expr) -> pl.Expr:
    """The `second_of` of each clock."""
    return of_each(clock, second_of, pl.Int64())


def past_midnights(seconds: pl.Expr) -> pl.Expr:
    """Seconds of the day, row by row, as seconds since the midnight before the first row of each ``run``."""
    passed = (seconds < seconds.shift() - DAY_S // 2).fill_null(value=False).cum_sum()
    return (seconds + DAY_S * passed).over("run")


def day_of(date: pl.Expr, order: DateOrder) -> pl.Expr:
    """The Date of a printed date; null without one."""
    return of_each(date, lambda text: date_of(text, order), pl.Date())


def date_of(date: str, order: DateOrder) -> dt.date | None:
    """The printed date; None without one."""
    found = _pattern(_DATE).fullmatch(date)
    if found is None:
        return None
    part = dict(zip(order, found.groups(), strict=True))
    year = int(part["y"])
    if year < 100:
        year += 1900 if year >= _PIVOT else 2000
    return calendar_day(year, int(part["m"]), part["d"]) if len(part["m"]) <= _DIGITS else None


def long_time(text: pl.Expr) -> pl.Expr:
    """The time in ``Mon Feb 19 13:05:00 CET 2024``: a struct of ``time`` (wall clock) and ``zone`` (as printed)."""
    return of_each(text, long_moment, _ZONED)


def long_moment(text: str) -> dict[str, object]:
    """The ``time`` and the ``zone`` of such a text, None where it has none.

    Examples:
        >>> long_moment("Tuesday, February 20, 2024 at 01:05:00 PM CET")
        {'time': datetime.datetime(2024, 2, 20, 13, 5), 'zone': 'CET'}
    """
    found = _pattern(_LONG).search(text) or _pattern(_FULL).search(text)
    if found is None:
        return _UNTIMED
    named = found["month"] in MONTHS
    day = calendar_day(int(found["year"]), MONTHS.index(found["month"]) + 1, found["day"]) if named else None
    return {"time": moment(day, _second(found)), "zone": found["zone"]}


def dated_clock(text: pl.Expr, order: DateOrder) -> pl.Expr:
    """The time in a date and a clock: a struct of ``time`` and ``zone`` (the offset or name after them)."""

    def read(printed: str) -> dict[str, object]:
        found = _pattern(_DATED).fullmatch(printed)
        if found is None:
            return _UNTIMED
        day = date_of(found["date"].rstrip("."), order)
        return {"time": moment(day, second_of(found["clock"])), "zone": found["zone"]}

    return of_each(text, read, _ZONED)


def _epoch(text: str) -> dt.datetime | None:
    seconds = whole_number(text)
    return None if seconds is None else moment(_1970, seconds)


def read_stamps(stamps: pl.DataFrame, order: DateOrder) -> pl.DataFrame:
    """Stamps above reports with what they say, each null where a stamp has another form.

    Args:
        stamps: with their ``text``.
        order: of the parts of dates.

    Returns:
        The stamps with ``second`` (of the day), ``time`` (with a date) and ``zone``.
    """
    text = pl.col("text").str.strip_chars()
    clock = text.str.strip_prefix(LINES.literal("TIME_MARK")).str.strip_chars()
    dated, long, epoch = dated_clock(text, order), long_time(text), of_each(text, _epoch, pl.Datetime("us"))
    times, zones = zip(*((each.struct.field("time"), each.struct.field("zone")) for each in (dated, long)), strict=True)
    return stamps.with_columns(
        second=seconds_of_day(clock),
        time=pl.coalesce(*times, epoch),
        zone=pl.coalesce(*zones, pl.when(epoch.is_not_null()).then(pl.lit("UTC"))),
    )
