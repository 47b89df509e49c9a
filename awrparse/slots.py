"""The slots of time of active session history: reports print the time of the day alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from datetime import datetime


def slots_with_dates(activity: pl.DataFrame, begin: datetime | None) -> pl.DataFrame:
    """`ash_activity` with ``slot_begin``: slots follow each other, and the first holds the begin of the period.

    Args:
        activity: The table with ``slot_start`` and ``slot_s``.
        begin: Of the period; without it, and from a slot on whose time cannot be read, the dates stay null.

    Examples:
        >>> from datetime import datetime
        >>> slots = pl.DataFrame({"slot_start": ["23:58:00", "23:58:00", "00:00:00"], "slot_s": [120.0, 120.0, 60.0],
        ...     "slot_begin": [None, None, None]})
        >>> dated = slots_with_dates(slots, datetime(2026, 3, 1, 23, 58, 30))
        >>> [f"{one:%m-%d %H:%M}" for one in dated["slot_begin"]]
        ['03-01 23:58', '03-01 23:58', '03-02 00:00']
    """
    if begin is None or activity.is_empty():
        return activity
    clock = pl.col("slot_start").str.to_time("%H:%M:%S", strict=False)
    times = activity.select(of_day=clock.cast(pl.Duration("us")), length="slot_s")
    first, length = times.row(0)
    if first is None:
        return activity
    midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    if midnight + first + timedelta(seconds=length or 0.0) <= begin:
        midnight += timedelta(days=1)
    of_day = pl.col("of_day")
    is_known = of_day.is_not_null().cum_min()
    days = (of_day < of_day.shift(1)).fill_null(value=False).cum_sum()
    dated = times.select(
        slot_begin=pl.when(is_known).then(pl.lit(midnight) + of_day + pl.duration(days=days)).cast(pl.Datetime("us"))
    )
    return activity.with_columns(dated)
