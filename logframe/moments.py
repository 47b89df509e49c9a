"""Moments computed from printed times, within the years that Python's `datetime` holds.

A column of Polars holds years far beyond 9999; such a moment cannot become a `datetime`, nor be shown.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final

import polars as pl

_FIRST: Final = datetime(1, 1, 1)  # noqa: DTZ001 - the wall clock of a log, in whatever zone
_END: Final = datetime.max  # noqa: DTZ901 - as above
_1970: Final = pl.lit(datetime(1970, 1, 1))  # noqa: DTZ001 - as above
_CALENDAR: Final = (pl.lit(_FIRST), pl.lit(_END))
_LONGEST_S: Final = int((_END - _FIRST) / timedelta(seconds=1))


def in_calendar(moment: pl.Expr) -> pl.Expr:
    """The moment (Datetime in microseconds without a zone); null outside the years 1 to 9999.

    Examples:
        >>> micros = pl.DataFrame({"at": [0, 10**18, -(10**17)]}).select(pl.col("at").cast(pl.Datetime("us")))
        >>> micros.select(in_calendar(pl.col("at"))).to_series().to_list()
        [datetime.datetime(1970, 1, 1, 0, 0), None, None]
    """
    return pl.when(moment.is_between(*_CALENDAR)).then(moment)


def later(begin: pl.Expr, seconds: pl.Expr) -> pl.Expr:
    """The moment this many seconds after another (Datetime in microseconds); null outside the years 1 to 9999.

    Args:
        begin: Datetime, or a Date that stands for its midnight.
        seconds: whole or not, negative for a moment before.

    Examples:
        >>> begin = pl.lit(datetime(2026, 9, 14))
        >>> [pl.select(later(begin, pl.lit(seconds))).item() for seconds in (0.5, -86_400, 10**12)]
        [datetime.datetime(2026, 9, 14, 0, 0, 0, 500000), datetime.datetime(2026, 9, 13, 0, 0), None]
    """
    length = pl.when(seconds.is_between(-_LONGEST_S, _LONGEST_S)).then(seconds * 1_000_000).cast(pl.Int64)
    return in_calendar(begin.cast(pl.Datetime("us")) + length.cast(pl.Duration("us")))


def since_1970(seconds: pl.Expr) -> pl.Expr:
    """The moment this many seconds after the beginning of 1970, in UTC; null outside the years 1 to 9999."""
    return later(_1970, seconds)


def moment(day: date | None, seconds: int | None) -> datetime | None:
    """The moment this many seconds after the midnight that begins a day; None outside the years 1 to 9999.

    Examples:
        >>> moment(date(2024, 2, 29), 3661), moment(date(9999, 12, 31), 86_400)
        (datetime.datetime(2024, 2, 29, 1, 1, 1), None)
    """
    if day is None or seconds is None:
        return None
    try:
        return datetime.combine(day, time()) + seconds * timedelta(seconds=1)
    except OverflowError:
        return None
