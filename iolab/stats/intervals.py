"""95 % intervals of the effects, and how well each one holds.

What "95 %" was worth was measured by simulation (`benchmarks/coverage_of_intervals.py`): normal, skewed and
tied samples of 6, 15 and 31 runs. The methods here are those that covered the true value in 93-97 % of the
samples. Known exceptions are listed at each function.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist, fmean, stdev
from typing import Any, Self

from iolab.stats.ranks import rank_sum_depth, signed_rank_depth
from iolab.stats.samples import spread_ties
from logframe.extras import require

#: The confidence of every interval.
CONFIDENCE = 0.95

#: The share left out on each side of the interval of P(A > B).
#:
#: With 2.5 % it covers 97.0 % for 6 against 6 normal runs one spread apart, P(A > B) has few values there. With 2.62 %
#: it covers 94.7-96.9 % from 6 to 31 runs, from no difference to one of two spreads (60,000 samples each).
SUPERIORITY_TAIL = 0.0262

#: The smallest sample with a 95 % interval: the range of 5 values covers the median with 93.75 % only.
MIN_RUNS = 6

_MANY = 2000

Limits = tuple[float, float]


def why_few(runs: int) -> str:
    """Why fewer than `MIN_RUNS` runs have no interval, as a part of a sentence.

    Examples:
        >>> why_few(5)
        'whose range holds the median of all runs in only 93.8 % of samples; a 95 % interval needs 6'
    """
    held = f"whose range holds the median of all runs in only {100 - 100 * 0.5 ** (runs - 1):.3g} % of samples; "
    return f"{held if runs > 1 else ''}a 95 % interval needs {MIN_RUNS}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval, or with None where no interval is possible, and how both were made.

    Attributes:
        value: The estimate.
        lo: The lower limit of the interval of the sample.
        hi: Its upper limit.
        basis: How both were made.
        is_rounding: The limits are not those of a sample but what the rounding of printed figures allows.
    """

    value: float
    lo: float | None
    hi: float | None
    basis: str
    is_rounding: bool = field(default=False, repr=False)

    @classmethod
    def within(cls, value: float, interval: Limits | None, basis: str) -> Self:
        """A value with its interval, widened so that it contains the value; None is no interval.

        Values read from a coarse clock can lie just outside an interval computed inside the clock's step.
        """
        lo, hi = (None, None) if interval is None else (min(interval[0], value), max(interval[1], value))
        return cls(value, lo, hi, basis)

    def mapped(self, function: Callable[[float], float], *, is_falling: bool = False) -> Self:
        """The estimate of a function of the value that only rises, or only falls: then the limits change places.

        Examples:
            >>> Estimate(2.0, 1.6, 2.5, "").mapped(lambda ratio: 1 / ratio, is_falling=True)
            Estimate(value=0.5, lo=0.4, hi=0.625, basis='')
        """
        ends = [None if end is None else function(end) for end in (self.lo, self.hi)]
        lo, hi = reversed(ends) if is_falling else ends
        return replace(self, value=function(self.value), lo=lo, hi=hi)


def share_interval(count: int, total: int) -> Limits:
    """The 95 % score interval of a share of samples (E. B. Wilson, 1927), if each sample is an independent draw.

    No samples leave any share open.

    Examples:
        >>> [round(end, 3) for end in share_interval(50, 100)], share_interval(0, 100)[0], share_interval(0, 0)
        ([0.404, 0.596], 0.0, (0.0, 1.0))
    """
    if not total:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)


def median_interval(values: Sequence[float]) -> Limits:
    """The interval of the median by interpolated order statistics; at least 6 values.

    The order statistics x(k) and x(n+1-k) enclose the median with a binomial probability that jumps from
    k to k + 1; the interval lies between the two pairs around 95 %.
    Source: Hettmansperger and Sheather, Confidence intervals based on interpolated order statistics (1986).

    Examples:
        >>> lo, hi = median_interval([1, 2, 3, 4, 5, 6])
        >>> round(lo, 3), round(hi, 3)
        (1.357, 5.643)
    """
    ordered, n = sorted(values), len(values)
    if n > _MANY:  # the normal approximation: the pair of order statistics just outside
        k = int((n - NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * math.sqrt(n)) / 2)
        return ordered[k - 1], ordered[n - k]
    # x(k) and x(n+1-k) miss the median if fewer than k of the n values lie on one side of it.
    k, ways, missed = 0, 1, 1
    wide, narrow = 1.0, 1 - 2 * missed / 2**n
    while narrow >= CONFIDENCE:
        k += 1
        ways = ways * (n - k + 1) // k
        missed += ways
        wide, narrow = narrow, 1 - 2 * missed / 2**n
    part = (wide - CONFIDENCE) / (wide - narrow)
    weight = (n - k) * part / (k + (n - 2 * k) * part)
    lo = ordered[k - 1] + weight * (ordered[k] - ordered[k - 1])
    hi = ordered[n - k] - weight * (ordered[n - k] - ordered[n - k - 1])
    return lo, hi


def quantile_interval(values: Sequence[float], share: float) -> Estimate:
    """A quantile and the order statistics that enclose it with 95 %; an end is None that this few values do not give.

    Examples:
        >>> found = quantile_interval(range(1, 101), 0.95)
        >>> round(found.value, 2), found.lo, found.hi, quantile_interval(range(1, 32), 0.95).hi
        (95.05, 90, 100, None)
    """
    np, stats = require("numpy"), require("scipy.stats")
    ordered, n = sorted(values), len(values)
    # Of n values at most k - 1 lie below the quantile: then x(k) lies above it.
    below = stats.binom.cdf(range(n), n, share)
    tail = (1 - CONFIDENCE) / 2
    under, over = int((below <= tail).sum()), int((below < 1 - tail).sum()) + 1
    return Estimate(
        float(np.quantile(ordered, share)),
        ordered[under - 1] if under else None,
        ordered[over - 1] if over <= n else None,
        f"quantile {share:g}; order statistics",
    )


def means_interval(a: Sequence[float], b: Sequence[float], widened: float = 1.0) -> Estimate:
    """Mean of B / mean of A with Student's interval on the logarithm (Welch's degrees of freedom); None for few runs.

    Examples:
        >>> found = means_interval([9, 10, 11, 10, 9, 11], [18, 20, 22, 20, 18, 22])
        >>> found.value, round(found.lo, 2), round(found.hi, 2)
        (2.0, 1.78, 2.24)
    """
    means = fmean(a), fmean(b)
    ratio, basis = means[1] / means[0], "ratio of the means; Welch's interval on the logarithm"
    if min(len(a), len(b)) < MIN_RUNS:
        return Estimate(ratio, None, None, basis)
    parts = [(stdev(values) / mean) ** 2 / len(values) for values, mean in zip((a, b), means, strict=True)]
    if not sum(parts):
        return Estimate(ratio, ratio, ratio, basis)
    half = widened * _welch(parts, (len(a), len(b))) * math.sqrt(sum(parts))
    return Estimate(ratio, ratio * math.exp(-half), ratio * math.exp(half), basis)


def _welch(variances: Sequence[float], sizes: Sequence[int]) -> float:
    """Student's quantile of a difference of two means with these variances, by Welch's degrees of freedom."""
    freedom = sum(variances) ** 2 / sum(one**2 / (size - 1) for one, size in zip(variances, sizes, strict=True))
    return float(require("scipy.special").stdtrit(freedom, (1 + CONFIDENCE) / 2))


def hodges_lehmann_shift(a: Sequence[float], b: Sequence[float]) -> float:
    """The Hodges-Lehmann shift: the median of all differences a_i - b_j.

    Examples:
        >>> hodges_lehmann_shift([57, 58], [51, 53])
        5.5
    """
    return float(require("numpy").median(_differences(a, b)))


def shift_interval(a: Sequence[float], b: Sequence[float], *, step: float = 0.0) -> Limits | None:
    """The interval of the shift by Moses' method: order statistics of the differences a_i - b_j.

    It is exact when one distribution is the other one moved; at 6 against 6 runs it covers 95.9 %, more
    than requested, as the ranks are few. None where the samples are too small.  Where the spreads are unequal it covers
    81 % of 6 runs against 31 that spread five times less, so it is widened to all shifts that Brunner and Munzel's test
    does not refuse: 96 % then, and 92 % of 8 runs against 20 that spread seven times less.
    Sources: Hollander and Wolfe, Nonparametric Statistical Methods (1999), section 4.3; Brunner and Munzel, The
    nonparametric Behrens-Fisher problem (2000).

    With the step of a clock the order statistics are those of the times that the readings stand for: each
    anywhere within half a step, so that a difference has a triangular distribution one step wide to each side.
    Equal readings spread evenly over the step leave every other one on its tick: where the medians are equal, a
    limit is the true shift of zero so often that the interval covers 97.5 % (6 runs, a spread of two steps).

    Examples:
        >>> shift_interval([12, 14, 15, 17], [1, 2, 4, 5])
        (7.0, 16.0)
        >>> lo, hi = shift_interval([12, 14, 15, 17], [1, 2, 4, 5], step=1)
        >>> round(lo, 2), round(hi, 2)
        (7.0, 16.0)
    """
    fine_a, fine_b = (spread_ties(one, step) if step else one for one in (a, b))
    return _rank_interval((a, b), (fine_a, fine_b), step)


def ratio_interval(a: Sequence[float], b: Sequence[float], *, step: float = 0.0) -> Limits | None:
    """The interval of B / A: that of the shift of the logarithms, so of the ratio of a run of B to a run of A.

    Where the logarithms of B are those of A moved it is one of the ratio of the medians, and nearly as narrow as
    Student's for normal times: the interval that a bootstrap of the medians gives is a quarter wider.

    Examples:
        >>> lo, hi = ratio_interval([10, 11, 12, 13, 14, 15], [5, 6, 7, 8, 9, 10])
        >>> round(lo, 3), round(hi, 3)
        (0.429, 0.8)
    """
    logs = [[math.log(value) for value in values] for values in (b, a)]
    fine = [[math.log(value) for value in (spread_ties(one, step) if step else one)] for one in (b, a)]
    middle = math.exp(math.fsum([*logs[0], *logs[1]]) / (len(a) + len(b)))
    found = _rank_interval((logs[0], logs[1]), (fine[0], fine[1]), step / middle)
    return None if found is None else (math.exp(found[0]), math.exp(found[1]))


def _rank_interval(
    read: tuple[Sequence[float], Sequence[float]], fine: tuple[Sequence[float], Sequence[float]], step: float
) -> Limits | None:
    depth = rank_sum_depth(len(read[0]), len(read[1]), CONFIDENCE)
    if depth < 0:
        return None
    differences = _differences(*read)
    equal = _from_smoothed(differences, depth, step) if step else _from_depth(differences, depth)
    unequal = _unequal_shift(*fine)
    return min(equal[0], unequal[0]), max(equal[1], unequal[1])


def _unequal_shift(a: Sequence[float], b: Sequence[float]) -> Limits:
    """The shifts that Brunner and Munzel's test does not refuse: it supposes no equal spreads."""
    np = require("numpy")
    x, y = np.sort(np.asarray(a, float)), np.sort(np.asarray(b, float))

    def placements(of: Any, among: Any) -> Any:  # noqa: ANN401 - arrays of a library that need not be installed
        return (np.searchsorted(among, of, "left") + np.searchsorted(among, of, "right")) / 2 / len(among)

    def inside(shift: float) -> bool:
        moved = x - shift
        wins, losses = placements(moved, y), placements(y, moved)
        parts = wins.var(ddof=1) / len(x), losses.var(ddof=1) / len(y)
        if sum(parts) == 0:
            return abs(float(wins.mean()) - 0.5) < 0.5 - 1e-12
        return abs(float(wins.mean()) - 0.5) <= _welch(parts, (len(x), len(y))) * math.sqrt(float(sum(parts)))

    # The ranks change at the differences only, and the test crosses its limit once on each side of their median.
    differences = np.unique(_differences(x, y))
    if len(differences) == 1:
        return float(differences[0]), float(differences[0])
    between = ((differences[:-1] + differences[1:]) / 2).tolist()
    centre = float(np.median(_differences(x, y)))
    first = int(np.searchsorted(differences, centre, "left"))
    last = int(np.searchsorted(differences, centre, "right")) - 1
    low = bisect_left(between, True, hi=first, key=inside)
    high = bisect_left(between, True, lo=last, key=lambda shift: not inside(shift))
    return min(float(differences[low]), centre), max(float(differences[high]), centre)


def pseudo_median(values: Sequence[float]) -> float:
    """The Hodges-Lehmann centre of one sample: the median of all Walsh averages (x_i + x_j) / 2, i <= j.

    Examples:
        >>> pseudo_median([1, 2, 6])
        2.75
    """
    return float(require("numpy").median(_walsh_averages(values)))


def pseudo_median_interval(values: Sequence[float]) -> Limits | None:
    """The interval of the pseudo-median by Tukey's method: order statistics of the Walsh averages.

    It is exact for symmetric distributions. None below 6 values.
    Source: Hollander and Wolfe, Nonparametric Statistical Methods (1999), section 3.3.

    Examples:
        >>> pseudo_median_interval([1, 2, 3, 4, 5, 6])
        (1.0, 6.0)
    """
    depth = signed_rank_depth(len(values), CONFIDENCE)
    return None if depth < 0 else _from_depth(_walsh_averages(values), depth)


def _differences(a: Sequence[float], b: Sequence[float]) -> Sequence[float]:
    np = require("numpy")
    differences: Sequence[float] = np.subtract.outer(np.asarray(a, float), np.asarray(b, float)).ravel()
    return differences


def _walsh_averages(values: Sequence[float]) -> Sequence[float]:
    np = require("numpy")
    x = np.asarray(values, float)
    averages: Sequence[float] = (x[:, None] + x[None, :])[np.triu_indices(len(x))] / 2
    return averages


def _from_smoothed(differences: Sequence[float], depth: int, step: float) -> Limits:
    """The interval between the places where depth + 1/2 of the smoothed differences lie outside, on each side."""
    np = require("numpy")
    values, counts = np.unique(differences, return_counts=True)
    wanted = depth + 0.5

    def count_below(place: float, sign: int) -> float:
        away = np.clip((place - sign * values) / step, -1.0, 1.0)
        return float((np.where(away < 0, (1 + away) ** 2, 2 - (1 - away) ** 2) / 2 * counts).sum())

    def find(sign: int) -> float:
        outer, inner = float((sign * values).min()) - step, float((sign * values).max()) + step
        return _edge(outer, inner, lambda place: count_below(place, sign) >= wanted)

    return find(1), -find(-1)


def _from_depth(values: Sequence[float], depth: int) -> Limits:
    last = len(values) - 1 - depth
    ordered = require("numpy").partition(values, (depth, last))
    return float(ordered[depth]), float(ordered[last])


@dataclass(frozen=True, slots=True)
class Superiority:
    """P(A > B), half of the ties counted, and the variance its placements give (DeLong; Brunner and Munzel)."""

    value: float
    variance: float


def superiority(a: Sequence[float], b: Sequence[float]) -> Superiority:
    """The share of the pairs in which a is larger, ties counted half, with its variance; 2 values each at least.

    Source: Brunner and Munzel, The nonparametric Behrens-Fisher problem (2000).

    Examples:
        >>> superiority([3, 4, 5, 9], [1, 2, 4, 8]).value
        0.71875
    """
    np = require("numpy")
    signs = np.sign(_differences(a, b)).reshape(len(a), len(b))
    wins = (signs + 1) / 2
    variance = wins.mean(axis=1).var(ddof=1) / len(a) + wins.mean(axis=0).var(ddof=1) / len(b)
    return Superiority(value=float(wins.mean()), variance=float(variance))


def superiority_interval(found: Superiority, size_a: int, size_b: int) -> Limits:
    """The interval of P(A > B): Newcombe's score interval (method 5), its variance scaled to the placements'.

    Newcombe's variance supposes equal spreads and no ties. Here it is multiplied by what the placements
    show, both with 4 / (size_a * size_b) added, which makes the factor 1 when the samples do not overlap and
    keeps it near 1 for few values. For equal spreads it covers 94.7-96.9 % up to P = 0.92, up to 98 % beyond;
    with spreads of 1 to 3, 93.5-96 % if the sizes are equal, but down to 87 % if the smaller sample is the
    more variable one. The usual interval, value +- t standard errors, covers 29-96 % in the same
    simulation and is a single point when the samples do not overlap.
    Source: Newcombe, Confidence intervals for an effect size measure based on the Mann-Whitney statistic,
    part 2 (2006).

    Examples:
        >>> lo, hi = superiority_interval(Superiority(value=1.0, variance=0.0), 6, 6)
        >>> round(lo, 3), hi
        (0.694, 1.0)
    """
    added = 4 / (size_a * size_b)
    theta = found.value
    factor = (found.variance + added) / (newcombe_variance(theta, size_a, size_b) + added)
    z = NormalDist().inv_cdf(1 - SUPERIORITY_TAIL)

    def inside(candidate: float) -> bool:
        return abs(theta - candidate) <= z * math.sqrt(factor * newcombe_variance(candidate, size_a, size_b))

    return _edge(0.0, theta, inside), _edge(1.0, theta, inside)


def newcombe_variance(theta: float, size_a: int, size_b: int) -> float:
    """The variance of an observed P(A > B) if the true one is theta and the spreads are equal."""
    pairs = (size_a + size_b) / 2 - 1
    spread = 1 + pairs * ((1 - theta) / (2 - theta) + theta / (1 + theta))
    return theta * (1 - theta) * spread / (size_a * size_b)


def _edge(outer: float, inner: float, inside: Callable[[float], bool]) -> float:
    # Bisection: the score function crosses the limit once between the estimate and the end of the scale.
    for _ in range(60):
        middle = (outer + inner) / 2
        if inside(middle):
            inner = middle
        else:
            outer = middle
    return inner


def ratio_bounds(median_a: float, median_b: float, step: float) -> Limits:
    """What median_b / median_a can be when each median is only known to half a step of the clock.

    Examples:
        >>> ratio_bounds(5.0, 2.5, 1.0)
        (0.36363636363636365, 0.6666666666666666)
    """
    half = step / 2
    return max(0.0, median_b - half) / (median_a + half), (median_b + half) / max(median_a - half, 1e-300)
