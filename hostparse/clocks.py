"""Times: dates and clocks as the tools print them, in whatever order a locale puts them."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import polars as pl

from hostparse.lines import GRAMMAR as LINES
from logframe import load_grammar
from logframe.moments import later, since_1970

GRAMMAR: Final = load_grammar("hostparse", "times.lark", "start", "iso", "numeric_date", "clock", "long")

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
DAY_S: Final = 86_400


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


def seconds_of_day(clock: pl.Expr) -> pl.Expr:
    """The seconds since midnight of a clock (Int64); null where there is none, or where it is no time of a day."""
    part = GRAMMAR.groups(clock, f"^{_CLOCK}$").struct
    return _seconds(part)


def _seconds(part: pl.expr.struct.ExprStructNameSpace) -> pl.Expr:
    hour, minute, second = (part.field(name).cast(pl.Int64) for name in ("hour", "minute", "second"))
    half = part.field("half").str.to_uppercase().str.slice(0, 1)
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * (half == "P").cast(pl.Int64))
    is_time = (hour < 24) & (minute < 60) & (second < 61)
    return pl.when(is_time).then(hour * 3600 + minute * 60 + second)


def past_midnights(seconds: pl.Expr) -> pl.Expr:
    """Seconds of the day, row by row, as seconds since the midnight before the first row of each ``run``."""
    passed = (seconds < seconds.shift() - DAY_S // 2).fill_null(value=False).cum_sum()
    return (seconds + DAY_S * passed).over("run")


def day_of(date: pl.Expr, order: DateOrder) -> pl.Expr:
    """The Date of a printed date; null where it is none."""
    part = GRAMMAR.groups(date, f"^{_DATE}$").struct
    names = dict(zip(order, ("first", "second_part", "third"), strict=True))
    year = part.field(names["y"]).cast(pl.Int32)
    year = pl.when(year >= 100).then(year).when(year >= _PIVOT).then(year + 1900).otherwise(year + 2000)
    month, day = (part.field(names[name]).str.zfill(2) for name in ("m", "d"))
    return pl.concat_str(year.cast(pl.String), pl.lit("-"), month, pl.lit("-"), day).str.to_date(
        "%Y-%m-%d", strict=False
    )


def long_time(text: pl.Expr) -> pl.Expr:
    """The time in ``Mon Feb 19 13:05:00 CET 2024``: a struct of ``time`` (wall clock) and ``zone`` (as printed)."""
    part = GRAMMAR.groups(text, _LONG).struct
    month = part.field("month").replace_strict(
        {name: f"{number:02}" for number, name in enumerate(MONTHS, 1)}, default=None, return_dtype=pl.String
    )
    day = pl.concat_str(part.field("year"), pl.lit("-"), month, pl.lit("-"), part.field("day").str.zfill(2))
    at = later(day.str.to_date("%Y-%m-%d", strict=False), _seconds(part))
    return pl.struct(at.alias("time"), part.field("zone").alias("zone"))


def dated_clock(text: pl.Expr, order: DateOrder) -> pl.Expr:
    """The time in a date and a clock: a struct of ``time`` and ``zone`` (the offset or name after them)."""
    part = GRAMMAR.groups(
        text,
        f"^(?P<date>{{PART}}{{MARK}}{{PART}}{{MARK}}{{PART}}\\.?)(?:T|{{GAP}})(?P<clock>{_unnamed()})(?:{{GAP}}?(?P<zone>{{ZONE}}|Z))?$",
    ).struct
    at = later(day_of(part.field("date").str.strip_chars_end("."), order), seconds_of_day(part.field("clock")))
    return pl.struct(at.alias("time"), part.field("zone").alias("zone"))


def read_stamps(stamps: pl.DataFrame, order: DateOrder) -> pl.DataFrame:
    """Stamps above reports with what they say, each null where a stamp has another form.

    Args:
        stamps: with their ``text``.
        order: of the parts of dates.

    Returns:
        The stamps with ``second`` (of the day), ``dated`` and ``long`` (`time` and `zone`) and ``epoch``.
    """
    text = pl.col("text").str.strip_chars()
    clock = text.str.strip_prefix(LINES.literal("TIME_MARK")).str.strip_chars()
    nothing = pl.struct(time=pl.lit(None, pl.Datetime("us")), zone=pl.lit(None, pl.String))
    forms = {
        "second": seconds_of_day(clock),
        "dated": dated_clock(text, order),
        "long": long_time(text),
        "epoch": since_1970(text.cast(pl.Int64, strict=False)),
    }
    absent = {"dated": nothing, "long": nothing, "epoch": pl.lit(None, pl.Datetime("us"))}
    is_read = False
    for name, form in forms.items():  # a log has one form mostly
        stamps = stamps.with_columns((absent[name] if is_read else form).alias(name))
        value = pl.col(name).struct.field("time") if name in {"dated", "long"} else pl.col(name)
        is_read = is_read or bool(stamps.select(value.is_not_null().all()).item())
    return stamps


def _unnamed() -> str:
    return "{HOUR}:{SIXTY}:{SIXTY}(?:{GAP}{HALF})?"
