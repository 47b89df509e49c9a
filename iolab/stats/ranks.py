"""The tests of two samples: exact rank tests, with and without ties, and the correction for many of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from logframe.extras import require

#: Up to this size of each sample the distributions are counted out; beyond, the normal one is used (as R does).
MAX_EXACT = 50


def mid_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1; equal values share the mean of their ranks.

    Examples:
        >>> mid_ranks([5.7, 5.6, 5.7])
        [2.5, 1.0, 2.5]
    """
    ranks: list[float] = require("scipy.stats").rankdata(values).tolist()
    return ranks


def _rank_sum_counts(ranks: Sequence[int], size: int) -> list[float]:
    """How many subsets of `size` ranks have each sum: the shift algorithm of Streitberg and Roehmel (1986)."""
    np = require("numpy")
    top = sum(sorted(ranks)[-size:])
    counts = np.zeros((size + 1, top + 1))
    counts[0, 0] = 1.0
    for taken, rank in enumerate(ranks, start=1):
        # From large subsets down, so that a rank is used once.
        for chosen in range(min(size, taken), 0, -1):
            counts[chosen, rank:] += counts[chosen - 1, : top + 1 - rank]
    sums: list[float] = counts[size].tolist()
    return sums


def _signed_rank_counts(ranks: Sequence[int]) -> list[float]:
    """How many of the 2^n choices of signs give each sum of positive ranks."""
    np = require("numpy")
    counts = np.zeros(sum(ranks) + 1)
    counts[0] = 1.0
    for rank in ranks:
        counts[rank:] += counts[: len(counts) - rank].copy()
    sums: list[float] = counts.tolist()
    return sums


def _two_sided(counts: Sequence[float], observed: int) -> float:
    """The share of the sums that lie at least as far from the mean as the observed one."""
    total = math.fsum(counts)
    mean = math.fsum(place * count for place, count in enumerate(counts)) / total
    # Sums are whole or half numbers: a distance smaller by rounding alone must not be lost.
    reach = abs(observed - mean) - 1e-9
    return min(1.0, math.fsum(count for place, count in enumerate(counts) if abs(place - mean) >= reach) / total)


def _doubled(ranks: Sequence[float]) -> list[int]:
    return [round(2 * rank) for rank in ranks]


def exact_rank_sum_p(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The exact two-sided p value of the rank sum of `a` among all ways to deal the pooled values, ties included.

    This is the permutation test of the Wilcoxon-Mann-Whitney statistic with mid-ranks: no normal
    approximation, no random numbers. None above 50 values in a sample.
    Source: Streitberg and Roehmel, Exact distributions for permutation and rank tests (1986).

    Examples:
        >>> exact_rank_sum_p([1, 2, 3], [4, 5, 6])
        0.1
    """
    if max(len(a), len(b)) > MAX_EXACT:
        return None
    ranks = _doubled(mid_ranks([*a, *b]))
    return _two_sided(_rank_sum_counts(ranks, len(a)), sum(ranks[: len(a)]))


def exact_signed_rank_p(differences: Sequence[float]) -> float | None:
    """The exact two-sided p value of Wilcoxon's signed-rank test, ties included; differences of zero are dropped.

    None above 50 differences, and where every difference is zero.

    Examples:
        >>> exact_signed_rank_p([1, 2, 3, 4, 5, 6])
        0.03125
    """
    moved = [difference for difference in differences if difference != 0]
    if not moved or len(moved) > MAX_EXACT:
        return None
    ranks = _doubled(mid_ranks([abs(difference) for difference in moved]))
    positive = sum(rank for rank, difference in zip(ranks, moved, strict=True) if difference > 0)
    return _two_sided(_signed_rank_counts(ranks), positive)


@cache
def rank_sum_depth(size_a: int, size_b: int, confidence: float) -> int:
    """How many of the sorted pairwise differences lie outside the interval on each side (Moses' interval).

    The interval is from the (depth + 1)-th smallest to the (depth + 1)-th largest of the size_a * size_b
    differences. -1: the samples are too small for this confidence.

    Examples:
        >>> rank_sum_depth(10, 5, 0.95), rank_sum_depth(3, 3, 0.95)
        (8, -1)
    """
    tail = (1 - confidence) / 2
    if max(size_a, size_b) > MAX_EXACT:
        z = float(require("scipy.stats").norm.ppf(1 - tail))
        spread = math.sqrt(size_a * size_b * (size_a + size_b + 1) / 12)
        return max(-1, math.floor(size_a * size_b / 2 - z * spread) - 1)
    counts = _rank_sum_counts(range(1, size_a + size_b + 1), size_a)
    smallest = size_a * (size_a + 1) // 2
    return _depth(counts[smallest:], tail)


@cache
def signed_rank_depth(size: int, confidence: float) -> int:
    """How many of the sorted Walsh averages lie outside the interval on each side; -1 if the sample is too small.

    Examples:
        >>> signed_rank_depth(6, 0.95), signed_rank_depth(5, 0.95)
        (0, -1)
    """
    tail = (1 - confidence) / 2
    if size > MAX_EXACT:
        z = float(require("scipy.stats").norm.ppf(1 - tail))
        spread = math.sqrt(size * (size + 1) * (2 * size + 1) / 24)
        return max(-1, math.floor(size * (size + 1) / 4 - z * spread) - 1)
    return _depth(_signed_rank_counts(range(1, size + 1)), tail)


def _depth(counts: Sequence[float], tail: float) -> int:
    """The largest value whose cumulated share does not exceed the tail, or -1."""
    allowed = tail * math.fsum(counts) * (1 + 1e-12)
    return sum(cumulated <= allowed for cumulated in accumulate(counts)) - 1


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values corrected for their number by Holm's step-down method, in the given order.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979).

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = largest
    return corrected


@dataclass(frozen=True, slots=True)
class PValues:
    """The p values, all two-sided; None where a test has no meaning (too few runs, all values equal, no ties).

    Attributes:
        mann_whitney: Mann-Whitney U; exact up to 50 runs without ties, else normal with ties corrected.
        permutation: The exact permutation test of the same statistic, where there are ties, up to 50 runs.
        levene: Equal spreads (Brown-Forsythe: Levene around the medians); a small one is a caveat of the comparison.
    """

    mann_whitney: float
    permutation: float | None
    levene: float | None

    @property
    def p(self) -> float:
        """The p value the verdict uses: the permutation test where there are ties, else Mann-Whitney."""
        return self.mann_whitney if self.permutation is None else self.permutation


def run_tests(a: Sequence[float], b: Sequence[float]) -> PValues:
    """The p values of two samples.

    Examples:
        >>> run_tests([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]).p
        0.0021645021645021645
    """
    np, stats = require("numpy"), require("scipy.stats")
    distinct = len(set(a) | set(b))
    tied = distinct < len(a) + len(b)
    if distinct == 1:
        return PValues(1.0, 1.0, None)
    exact = not tied and max(len(a), len(b)) <= MAX_EXACT
    # Zero spreads divide by zero inside; what comes out as nan is reported as None.
    with np.errstate(all="ignore"):
        levene = float(stats.levene(a, b, center="median").pvalue) if min(len(a), len(b)) > 2 else None
    return PValues(
        mann_whitney=float(stats.mannwhitneyu(a, b, method="exact" if exact else "asymptotic").pvalue),
        permutation=exact_rank_sum_p(a, b) if tied else None,
        levene=None if levene is None or math.isnan(levene) else levene,
    )
