"""Wait event histograms out of several tables of a report, as one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iolab.metrics.histograms import latency_buckets

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Histogram:
    """The waits of one event, foreground and background, by their time.

    Attributes:
        waits: how many.
        edges_us: the edges that a table prints, rising, the last finite one at the end.
        below_pct: the share of the waits below each edge.
    """

    waits: int
    edges_us: tuple[float, ...]
    below_pct: tuple[float, ...]

    def below(self, edge_us: float) -> float | None:
        """The share of the waits below an edge in per cent; None where no table prints this edge.

        Examples:
            >>> Histogram(100, (1000.0, 2000.0), (60.0, 98.0)).below(2000)
            98.0
        """
        if edge_us == math.inf:
            return 100.0
        if edge_us == 0:
            return 0.0
        for edge, share in zip(self.edges_us, self.below_pct, strict=True):
            # tables print 1/8 s and 1 ms for what others count in powers of two of a microsecond
            if math.isclose(edge, edge_us, rel_tol=0.03):
                return share
        return None

    def between(self, from_us: float, to_us: float) -> float | None:
        """The share of the waits between two edges in per cent; None where no table prints one of them."""
        low, high = self.below(from_us), self.below(to_us)
        return None if low is None or high is None else max(0.0, high - low)

    def buckets(self) -> list[tuple[float, float, float]]:
        """From, to (us) and share (%) of each bucket, the open one last where anything is in it."""
        starts, shares = (0.0, *self.edges_us), (0.0, *self.below_pct)
        ends, reached = (*self.edges_us, math.inf), (*self.below_pct, 100.0)
        found = [
            (start, end, max(0.0, share - before))
            for start, end, before, share in zip(starts, ends, shares, reached, strict=True)
        ]
        return found if found[-1][2] >= 0.05 else found[:-1]


def histograms_of(event_histogram: pl.DataFrame) -> dict[str, Histogram]:
    """The histogram of each event of a report's `event_histogram`, its sections merged (`latency_buckets`).

    Examples:
        >>> import polars as pl
        >>> rows = {"event": ["log file sync"] * 2, "waits": [10] * 2, "section": [None] * 2, "from_us": [0.0, 1000.0],
        ...     "to_us": [1000.0, 2000.0], "waits_pct": [40.0, 60.0]}
        >>> histograms_of(pl.DataFrame(rows))["log file sync"].buckets()
        [(0.0, 1000.0, 40.0), (1000.0, 2000.0, 60.0)]
    """
    found = {}
    for (event,), rows in latency_buckets(event_histogram).group_by("event", maintain_order=True):
        below: dict[float, float] = {}
        reached = 0.0
        for start, end, share in rows.select("from_us", "to_us", "waits_pct").iter_rows():
            if start:
                below.setdefault(start, reached)
            reached = min(100.0, reached + share)
            if end is not None:
                below[end] = reached
        waits = rows.get_column("waits").sum()
        if below and waits:
            edges = sorted(below)
            found[str(event)] = Histogram(round(waits), tuple(edges), tuple(round(below[edge], 6) for edge in edges))
    return found


def spread_factor(histogram: Histogram) -> float | None:
    """CV² of the waits, from the upper edges of the buckets: variance over squared mean; None with an open bucket.

    Examples:
        >>> round(spread_factor(Histogram(100, (1000.0, 2000.0), (50.0, 100.0))), 3)
        0.111
    """
    buckets = histogram.buckets()
    if buckets[-1][1] == math.inf:
        return None
    total = sum(share for _, _, share in buckets)
    mean = sum(end * share for _, end, share in buckets) / total
    squares = sum(end * end * share for _, end, share in buckets) / total
    return squares / mean**2 - 1


@dataclass(frozen=True, slots=True)
class Hills:
    """Two separate hills of a histogram: edges in us, shares in per cent."""

    low_from_us: float
    low_to_us: float
    low_pct: float
    high_from_us: float
    high_to_us: float
    high_pct: float
    between_pct: float


def hills_of(histogram: Histogram) -> Hills | None:
    """Two peaks of 10 % or more, at least 8 times apart, with a valley of at most half the smaller peak between them.

    A bucket wider than a doubling is no peak by itself: its share is taken per doubling.  A hill ends where a bucket
    holds less than 40 % of its peak (30 % on the outer side); the open bucket is no peak.

    Examples:
        >>> edges, below = (1e3, 2e3, 4e3, 8e3, 16e3, 32e3), (10.0, 45.0, 47.0, 49.0, 80.0, 100.0)
        >>> hills = hills_of(Histogram(1000, edges, below))
        >>> (hills.low_to_us, hills.low_pct, hills.high_from_us, hills.between_pct)
        (2000.0, 35.0, 8000.0, 4.0)
        >>> hills_of(Histogram(1000, edges, (10.0, 30.0, 60.0, 90.0, 95.0, 100.0))) is None
        True
    """
    buckets = [one for one in histogram.buckets() if one[1] < math.inf]
    if len(buckets) < 4:
        return None
    heights = [share / max(1.0, math.log2(end / start)) if start > 0 else share for start, end, share in buckets]
    best: tuple[float, int, int] | None = None
    for low in range(len(heights)):
        for high in range(low + 2, len(heights)):
            if min(heights[low], heights[high]) < 10 or buckets[high][1] < 8 * buckets[low][1]:
                continue
            smaller = min(heights[low], heights[high])
            if min(heights[low + 1 : high]) <= smaller / 2 and (best is None or smaller > best[0]):
                best = (smaller, low, high)
    if best is None:
        return None
    _, low, high = best
    valley = min(range(low + 1, high), key=lambda place: heights[place])
    low_end = _foot(heights, low, valley)
    high_start = _foot(heights, high, valley)
    low_start = low
    while low_start > 0 and heights[low_start - 1] >= 0.3 * heights[low]:
        low_start -= 1
    high_end = high
    while high_end + 1 < len(heights) and heights[high_end + 1] >= 0.3 * heights[high]:
        high_end += 1

    def total(first: int, last: int) -> float:
        return round(sum(share for _, _, share in buckets[first : last + 1]), 6)

    return Hills(
        buckets[low_start][0],
        buckets[low_end][1],
        total(low_start, low_end),
        buckets[high_start][0],
        buckets[high_end][1],
        total(high_start, high_end),
        total(low_end + 1, high_start - 1) if high_start > low_end + 1 else 0.0,
    )


def _foot(heights: list[float], peak: int, valley: int) -> int:
    """The last bucket of a hill on its way from the peak to the valley: 40 % of the peak or more."""
    step = 1 if valley > peak else -1
    place = peak
    while place + step != valley and heights[place + step] >= 0.4 * heights[peak]:
        place += step
    return place
