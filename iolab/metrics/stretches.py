"""Stretches of samples: when a figure was high, where that was once, for a part of the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

#: A stretch has this many samples, this share of all that are high, and is not longer than this share of the log.
_FEWEST: Final = 3
_MOSTLY: Final = 0.8
_MOST_OF_ALL: Final = 0.9
#: Seconds of this share of a sample are left out of its time.
_ROUNDED: Final = 0.05
_DAY_S: Final = 86_400
#: How many times as high a figure is inside a stretch, at least.
_HIGHER: Final = 2.0


class Stretch(NamedTuple):
    """Samples one after another, nearly all of them high.

    Attributes:
        first, last: the places of the first and the last.
        when: `, from 10:20 to 11:00`, or the numbers of the samples.
    """

    first: int
    last: int
    when: str


def stretch_of(is_high: Sequence[bool]) -> tuple[int, int] | None:
    """The first and last of the samples one after another that hold nearly all that are high; None without such.

    Examples:
        >>> stretch_of([False] * 5 + [True] * 3 + [False] + [True] * 2 + [False] * 4)
        (5, 10)
        >>> stretch_of([True, False] * 9), stretch_of([True] * 9)
        (None, None)
    """
    start = sum_here = best_sum = 0
    ends = (0, -1)
    for place, high in enumerate(is_high):
        sum_here += 1 if high else -1
        if sum_here > best_sum:
            best_sum, ends = sum_here, (start, place)
        if sum_here < 0:
            start, sum_here = place + 1, 0
    first, last = ends
    best = sum(is_high[first : last + 1])
    length = last - first + 1
    is_one = best >= max(_FEWEST, _MOSTLY * sum(is_high), _MOSTLY * length)
    return (first, last) if is_one and length <= _MOST_OF_ALL * len(is_high) else None


def high_stretch(rows: pl.DataFrame, is_high: pl.Expr) -> Stretch | None:
    """The stretch of the samples that are high, with its time.

    Args:
        rows: one row a sample, in order; with ``sample``, ``interval_start`` and ``interval_end``.
        is_high: which of them are high.
    """
    found = stretch_of(rows.select(is_high.fill_null(value=False).alias("high")).to_series().to_list())
    return None if found is None else Stretch(*found, _when(rows, *found))


def raised(rows: pl.DataFrame, figure: str) -> Stretch | None:
    """The stretch in which a figure was high: above the middle of its range, and at least twice that of the others."""
    values = rows.get_column(figure).fill_null(0.0).sort()
    if values.len() < 2 * _FEWEST:
        return None
    middle = (float(values[:_FEWEST].mean()) + float(values[-_FEWEST:].mean())) / 2  # type: ignore[arg-type]  # numbers
    found = high_stretch(rows, pl.col(figure) > middle)
    if found is None:
        return None
    inside, outside = levels(rows, found, figure)
    return found if inside >= _HIGHER * outside else None


def placed(rows: pl.LazyFrame, runs: pl.DataFrame) -> pl.LazyFrame:
    """The rows of samples, at the time when a collector wrote them where the tool prints none."""
    opened = runs.lazy().select("run", "opened_at")
    found = rows.join(opened, on="run", how="left", maintain_order="left")
    return found.with_columns(interval_end=pl.coalesce("interval_end", "opened_at"))


def levels(rows: pl.DataFrame, stretch: Stretch, figure: str) -> tuple[float, float]:
    """The mean of a figure in a stretch, and in the other samples."""
    place = pl.int_range(pl.len())
    is_in = place.is_between(stretch.first, stretch.last)
    inside, outside = rows.select(
        pl.col(figure).filter(is_in).mean().alias("in"), pl.col(figure).filter(~is_in).mean().alias("out")
    ).row(0)
    return float(inside or 0.0), float(outside or 0.0)


def _when(rows: pl.DataFrame, first: int, last: int) -> str:
    begin: datetime | None = rows.item(first, "interval_start") or rows.item(first, "interval_end")
    end: datetime | None = rows.item(last, "interval_end")
    if begin is None or end is None:
        return f", in samples {rows.item(first, 'sample'):,} to {rows.item(last, 'sample'):,}"
    opened: datetime = rows.get_column("interval_end").drop_nulls().min()  # type: ignore[assignment]  # a column of times
    closed: datetime = rows.get_column("interval_end").drop_nulls().max()  # type: ignore[assignment]
    length = (end - begin).total_seconds() / (last - first + 1)
    date = "%Y-%m-%d " if (closed - opened).total_seconds() >= _DAY_S else ""
    said = [
        f"{one:{date}%H:%M}" if one.second <= _ROUNDED * length else f"{one:{date}%H:%M:%S}" for one in (begin, end)
    ]
    if last == rows.height - 1:
        return f", from {said[0]} on"
    return f", until {said[1]}" if first == 0 else f", from {said[0]} to {said[1]}"
