"""The clock of a log: times since its first timestamp, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.dialects import HALF_DAY
from straceparse.schema import DURATION

if TYPE_CHECKING:
    from straceparse.dialects import Dialect

#: Nanoseconds of a day.
DAY: Final = 86_400 * 10**9


class Clock:
    """Clock state across batches: what earlier batches contribute to the start times of the next one.

    ``-r`` counts from the start of the previous line of any process, so its cumulative sum is the clock (strace(1),
    ``-r``); since 4.22 it is monotonic, so it takes precedence over the other clocks.  Across the files of a ``-ff``
    set it is meaningless; their other clocks count from the first timestamp of the set.  A ``-t`` or ``-tt`` clock that
    decreases by more than twelve hours has passed midnight.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.adds_up = dialect.relative_ts != "none" and dialect.pid != "file"
        self.is_missing = dialect.clock == "none" and not self.adds_up
        self._starts_daily = dialect.clock != "epoch"
        self._origin = dialect.origin
        self._first: int | None = None
        self._total = 0
        self._days = 0
        self._last: int | None = None

    @property
    def needs(self) -> str:
        """The column that the times are made from."""
        return "relative_ts" if self.adds_up else "_instant"

    def times(self, stamps: pl.Series) -> pl.Series:
        """Times since the log's first timestamp for the lines of the next batch, from its column `needs`."""
        if self.is_missing:
            return pl.Series("at", [None], dtype=DURATION).new_from_index(0, len(stamps))
        stamps = stamps.to_physical()
        found = self._summed(stamps) if self.adds_up else self._counted(stamps)
        return found.cast(DURATION).alias("at")

    def _summed(self, steps: pl.Series) -> pl.Series:
        if self._first is None:
            self._first = steps.drop_nulls().first() if steps.null_count() < len(steps) else None  # type: ignore[assignment]
        sums = steps.fill_null(0).cum_sum() + self._total
        self._total = sums.last() if len(sums) else self._total  # type: ignore[assignment]
        times = sums - (self._first or 0)
        return times if not steps.null_count() else times.set(steps.is_null(), None)

    def _counted(self, clock: pl.Series) -> pl.Series:
        if clock.null_count() == len(clock):
            return clock
        if self._starts_daily:
            clock = self._days_added(clock)
        if self._first is None:
            self._first = clock.drop_nulls().first()  # type: ignore[assignment]
        first: int = self._first  # type: ignore[assignment]
        if self._origin is None:
            return clock - first
        # a file that starts after midnight
        return clock + (DAY if first < self._origin else 0) - self._origin

    def _days_added(self, clock: pl.Series) -> pl.Series:
        held = clock.forward_fill() if clock.null_count() else clock
        before = held.shift(1)
        if self._last is not None:
            before = before.fill_null(self._last)
        days = (clock - before < -HALF_DAY).fill_null(value=False).cum_sum() + self._days
        self._days, self._last = days.last(), held.last()  # type: ignore[assignment]
        return clock + days.cast(pl.Int64) * DAY
