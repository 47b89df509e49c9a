"""What the run order says: trend, neighbours that resemble each other, and one sample made before the other."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean, median

from iolab.stats.ranks import mid_ranks
from iolab.stats.samples import Sample
from logframe.extras import require

ALPHA = 0.01
"""A trend or a correlation is reported when independent runs would show it once in a hundred samples.

Not 5 %: two samples are each checked twice, and a warning in every fifth comparison is not read.
"""

MIN_TREND = 5
"""The smallest sample in which a trend can be distinguished from chance at this level (4 runs: p >= 0.08)."""


_MOST_IN_TREND = 400
#: The normal score of 5 %, and the part of a difference from which on a drift may be all of it.
_BEYOND_CHANCE = 1.96
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Trend:
    """Kendall's tau between run order and value, and its two-sided p value."""

    tau: float
    p: float


def find_trend(values: Sequence[float]) -> Trend | None:
    """The trend of the values over the run order; None below 5 values or where all are equal.

    Examples:
        >>> trend = find_trend([5.1, 5.2, 5.3, 5.4, 5.6])
        >>> round(trend.tau, 3), round(trend.p, 3)
        (1.0, 0.017)
    """
    if len(values) < MIN_TREND or len(set(values)) == 1:
        return None
    found = require("scipy.stats").kendalltau(range(len(values)), values)
    return Trend(tau=float(found.statistic), p=float(found.pvalue))


def estimate_trend(values: Sequence[float]) -> Trend | None:
    """The trend as `find_trend` gives it, by the normal approximation: without SciPy, and of any number of values.

    Of many values the means of neighbours are taken, at most 400 of them.

    Examples:
        >>> trend = estimate_trend([9, 8, 7, 6, 5, 4, 3, 2, 1])
        >>> round(trend.tau, 3), trend.p < 0.001, estimate_trend([1, 2, 3, 4])
        (-1.0, True, None)
    """
    if len(values) < MIN_TREND or len(set(values)) == 1:
        return None
    step = math.ceil(len(values) / _MOST_IN_TREND)
    if step > 1:
        values = [math.fsum(values[n : n + step]) / len(values[n : n + step]) for n in range(0, len(values), step)]
    count = len(values)
    score = sum((two > one) - (two < one) for n, one in enumerate(values) for two in values[n + 1 :])
    ties = Counter(values).values()
    pairs = count * (count - 1) / 2
    untied = pairs - sum(tie * (tie - 1) / 2 for tie in ties)
    variance = (count * (count - 1) * (2 * count + 5) - sum(tie * (tie - 1) * (2 * tie + 5) for tie in ties)) / 18
    if untied <= 0 or variance <= 0:
        return None
    p = math.erfc(max(abs(score) - 1, 0) / math.sqrt(2 * variance))
    return Trend(tau=score / math.sqrt(pairs * untied), p=p)


def correlate_neighbours(values: Sequence[float]) -> float | None:
    """The lag-1 autocorrelation of the ranks of the values; None below 4 values or where all are equal.

    Of the ranks, so that a single slow run does not hide it. For independent runs it is near
    -1 / n with a standard deviation of about 1 / sqrt(n).

    Examples:
        >>> correlate_neighbours([1, 2, 3, 4, 5, 6, 7, 8])
        0.625
    """
    if len(values) < 4 or len(set(values)) == 1:
        return None
    ranks = mid_ranks(values)
    centre = math.fsum(ranks) / len(ranks)
    away = [rank - centre for rank in ranks]
    together = math.fsum(one * following for one, following in pairwise(away))
    return together / math.fsum(distance * distance for distance in away)


def describe_order(sample: Sample) -> list[str]:
    """What the run order of one sample shows against independence, one sentence each."""
    notes: list[str] = []
    trend = find_trend(sample.values)
    if trend is not None and trend.p < ALPHA:
        direction = "slower" if trend.tau > 0 else "faster"
        notes.append(
            f"trend: {sample.name} gets {direction} from run to run (Kendall tau {trend.tau:.2f}, p = {trend.p:.2g}); "
            "the runs are not repetitions of one experiment"
        )
    return notes


def describe_blocks(a: Sample, b: Sample) -> str | None:
    """A sentence if all runs of one sample came before all runs of the other, or if the order is not stated."""
    if a.order is None or b.order is None:
        return None
    first, second = (a, b) if a.order[0] < b.order[0] else (b, a)
    if first.order is not None and second.order is not None and first.order[-1] < second.order[0]:
        return (
            f"run order: all runs of {first.name} came before all runs of {second.name}, so whatever else changed "
            "meanwhile is part of the difference; alternate the runs"
        )
    return None


def drift_between(a: Sample, b: Sample) -> str:
    """Why a drift may be the difference, where all runs of one sample came first; empty where it is not so.

    The slope is the median over the pairs of runs of one sample (Theil and Sen), of both samples together; it counts
    where Kendall's score of these pairs is beyond chance (5 %), and explains half of the difference or more.

    Examples:
        >>> from iolab.stats.samples import read_sample
        >>> first = read_sample([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], "A", order=range(6))
        >>> second = read_sample([1.6, 1.7, 1.8, 1.9, 2.0, 2.1], "B", order=range(6, 12))
        >>> print(drift_between(first, second))  # doctest: +NORMALIZE_WHITESPACE
        all runs of A came before those of B, and both get slower from run to run: that alone makes 99 % of the
        difference
    """
    if describe_blocks(a, b) is None or a.order is None or b.order is None:
        return ""
    first, second = (a, b) if a.order[0] < b.order[0] else (b, a)
    slopes, score, variance = [], 0, 0.0
    for sample in (first, second):
        logs, places = [math.log(value) for value in sample.values], sample.order or ()
        placed = combinations(zip(logs, places, strict=True), 2)
        pairs = [(later - one, place - start) for (one, start), (later, place) in placed]
        slopes += [rise / distance for rise, distance in pairs]
        score += sum((rise > 0) - (rise < 0) for rise, _ in pairs)
        variance += len(logs) * (len(logs) - 1) * (2 * len(logs) + 5) / 18
    if abs(score) <= _BEYOND_CHANCE * math.sqrt(variance):
        return ""
    apart = fmean(second.order or ()) - fmean(first.order or ())
    drift = median(slopes) * apart
    difference = math.log(median(second.values) / median(first.values))
    if not difference or drift / difference < _HALF:
        return ""
    direction = "slower" if drift > 0 else "faster"
    return (
        f"all runs of {first.name} came before those of {second.name}, and both get {direction} from run to run: that "
        f"alone makes {drift / difference:.0%} of the difference".replace("%", " %")
    )


def share_places(a: Sample, b: Sample) -> bool:
    """Whether two runs of different samples claim the same place in the common run order."""
    return a.order is not None and b.order is not None and not set(a.order).isdisjoint(b.order)
