"""What the order of the runs says: trends, neighbours that resemble each other, and rounds of runs made in turns.

Runs that resemble their neighbours say less than this many independent ones, and intervals must know it.  The lag-1
autocorrelation of the ranks is estimated within each sample, pooled over the samples and corrected for its bias in
short series.  An interval is then widened by sqrt((1 + r) / (1 - r)), the square root of runs / effective runs of a
first-order autoregression, and by Student's quantile for this few effective runs.  A drift raises the same estimate, so
it widens the intervals, too.

One rule holds for all sizes.  The estimate of few runs is mostly noise, so it counts by how far it lies above what
independent runs show: not at all up to a standard score (`unseen_score`), wholly from 0.6 above that.  The more runs,
the smaller is the dependence that is corrected for.  What this costs and gains was drawn by simulation
(`docs/statistics.md`): of fewer than 15 runs that are not made in turns independence is supposed, and said.

Runs of two samples that were made in turns, in blocks or A-B-B-A are compared within rounds.  What changes slowly (a
cache that fills, a neighbour on the storage, a clock) is nearly the same within a round, so it is not in the
difference; and what it still adds within a round, because one run comes after the other, is removed by the slope of
each sample over the order of the rounds around it.

Sources: Marriott and Pope, Bias in the estimation of autocorrelations (1954); Bayley and Hammersley, The "effective"
number of independent observations in an autocorrelated time series (1946).  Box, Hunter and Hunter, Statistics for
Experimenters (1978), on blocks; Theil (1950) and Sen (1968) for the slope: the median of the slopes of all pairs of
runs.  How often the intervals hold was measured (`benchmarks/comparison_designs.py`).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import NormalDist, fmean, median
from typing import Any, Final

from iolab.stats.intervals import CONFIDENCE, MIN_RUNS, Estimate
from iolab.stats.ranks import mid_ranks
from iolab.stats.samples import Sample
from logframe.extras import require

#: A trend or a correlation is reported when independent runs would show it once in a hundred samples.
#:
#: Not 5 %: two samples are each checked twice, and a warning in every fifth comparison is not read.
ALPHA = 0.01

#: The smallest sample in which a trend can be distinguished from chance at this level (4 runs: p >= 0.08).
MIN_TREND = 5


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
    variance = _score_variance(count) - sum(map(_score_variance, ties))
    if untied <= 0 or variance <= 0:
        return None
    p = math.erfc(max(abs(score) - 1, 0) / math.sqrt(2 * variance))
    return Trend(tau=score / math.sqrt(pairs * untied), p=p)


def _score_variance(count: int) -> float:
    """The variance of Kendall's score of this many independent values, or what this many equal ones take from it."""
    return count * (count - 1) * (2 * count + 5) / 18


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


def describe_trend(sample: Sample) -> str:
    """A sentence if the run order of one sample shows a trend."""
    trend = find_trend(sample.values)
    if trend is None or trend.p >= ALPHA:
        return ""
    direction = "slower" if trend.tau > 0 else "faster"
    return (
        f"trend: {sample.name} gets {direction} from run to run (Kendall tau {trend.tau:.2f}, p = {trend.p:.2g}); "
        "the runs are not repetitions of one experiment"
    )


def describe_blocks(a: Sample, b: Sample) -> str:
    """A sentence if all runs of one sample came before all runs of the other."""
    if (blocks := _blocks_of(a, b)) is None:
        return ""
    return (
        f"run order: all runs of {blocks[0].name} came before all runs of {blocks[1].name}, so whatever else changed "
        "meanwhile is part of the difference; alternate the runs"
    )


def _blocks_of(a: Sample, b: Sample) -> tuple[Sample, Sample] | None:
    """Both samples, the one first of which all runs came before those of the other; None where it is not so."""
    if a.order is None or b.order is None:
        return None
    if a.order[-1] < b.order[0]:
        return a, b
    return (b, a) if b.order[-1] < a.order[0] else None


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
    if (blocks := _blocks_of(a, b)) is None:
        return ""
    first, second = blocks
    np = require("numpy")
    slopes = _slopes((sample.order or (), [math.log(value) for value in sample.values]) for sample in blocks)
    variance = sum(_score_variance(len(sample.values)) for sample in blocks)
    if abs(np.sign(slopes).sum()) <= _BEYOND_CHANCE * math.sqrt(variance):
        return ""
    apart = fmean(second.order or ()) - fmean(first.order or ())
    drift = float(np.median(slopes)) * apart
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


#: The largest lag-1 correlation that is corrected for; beyond it a series is a drift.
MOST: Final = 0.95

#: With fewer effective runs in a sample there is no verdict.
MIN_EFFECTIVE: Final = 3.0

#: Below this many runs a dependence that matters can stay unseen: the verdict supposes that there is not one.
SUPPOSED: Final = 15
#: How much wider the interval of a mean is if neighbouring runs are correlated by 0.5 (Bayley and Hammersley 1946).
CORRELATED: Final = math.sqrt((1 + 0.5) / (1 - 0.5))

#: The standard score up to which the intervals of the fewest runs are not widened.
MOST_UNSEEN: Final = 1.5

#: From this many runs on every positive estimate widens; each run fewer adds a sixth to the score.
ALL_SEEN: Final = 18

#: So far above the score the whole correction is made.
RAMP: Final = 0.6

#: Student's quantile of the effective runs is at most this many times that of the runs.
MOST_STUDENT: Final = 4.0

#: Standard errors added to the estimate: one that is too small costs more coverage than one too large gains.
SPARE_ERRORS = 0.5

#: The level of the one-sided test of a dependence.
VISIBLE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Dependence:
    """How much the runs of a comparison depend on their neighbours.

    Attributes:
        lag1: The pooled lag-1 autocorrelation, its bias removed; None below 4 runs a sample.
        factor: What half an interval is multiplied with; 1 where no positive correlation is seen.
        refusal: Why there is no verdict, or an empty text.
        is_visible: A test at 5 % sees that neighbours resemble each other.
        supposed: What a verdict supposes, or an empty text.
    """

    lag1: float | None = None
    factor: float = 1.0
    refusal: str = ""
    is_visible: bool = False
    supposed: str = ""

    @property
    def note(self) -> str:
        """What was done to an interval, or an empty text."""
        if self.lag1 is None or self.factor == 1:
            return ""
        return f"widened {self.factor:.2f} times for dependence (lag-1 {self.lag1:.2f})"


def unseen_score(runs: int) -> float:
    """The standard score of the estimate up to which the intervals of this many runs are not widened.

    Examples:
        >>> [unseen_score(runs) for runs in (6, 12, 15, 18)]
        [1.5, 1.0, 0.5, 0.0]
    """
    return min(max((ALL_SEEN - runs) / 6, 0.0), MOST_UNSEEN)


def measure_dependence(*samples: Sequence[float]) -> Dependence:
    """The dependence within samples in run order, pooled.

    Examples:
        >>> measure_dependence([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]).refusal
        'the runs depend on their neighbours (lag-1 0.95): 15 runs are worth 1.0 independent ones'
        >>> measure_dependence([1, 2], [2, 1])
        Dependence(lag1=None, factor=1.0, refusal='', is_visible=False, supposed='that runs do not depend on their
        neighbours, which this few do not show')
    """
    smallest = min(map(len, samples))
    supposed = "that runs do not depend on their neighbours, which this few do not show" if smallest < SUPPOSED else ""
    seen = [(len(values), found) for values in samples if (found := correlate_neighbours(values)) is not None]
    if not seen:
        return Dependence(supposed=supposed)
    runs = sum(size for size, _ in seen)
    raw = sum(size * found for size, found in seen) / runs
    corrected = sum(size * (size * found + 1) / max(size - 4, 1) for size, found in seen) / runs
    score = (raw + len(seen) / runs) * math.sqrt(runs)
    is_visible = score > NormalDist().inv_cdf(1 - VISIBLE)
    weight = min(max((score - unseen_score(smallest)) / RAMP, 0.0), 1.0)
    if weight == 0 or corrected <= 0:
        return Dependence(max(min(corrected, MOST), -MOST), is_visible=is_visible, supposed=supposed)
    lag1 = min(corrected + SPARE_ERRORS / math.sqrt(runs), MOST)
    # This many runs are worth one at least.
    inflation = min((1 + lag1) / (1 - lag1), smallest)
    quantile = require("scipy.special").stdtrit
    level = (1 + CONFIDENCE) / 2
    t = float(quantile(max(runs / inflation - len(seen), 1.0), level) / quantile(max(runs - len(seen), 1), level))
    factor = 1 + weight * (math.sqrt(inflation) * min(t, MOST_STUDENT) - 1)
    refusal = ""
    if is_visible and smallest / inflation < MIN_EFFECTIVE:
        refusal = (
            f"the runs depend on their neighbours (lag-1 {lag1:.2f}): "
            f"{smallest} runs are worth {smallest / inflation:.1f} independent ones"
        )
    return Dependence(lag1, factor, refusal, is_visible, "" if is_visible else supposed)


def residual_dependence(values: Sequence[float]) -> Dependence:
    """The dependence that is left between rounds: corrected for where it is visible, without removing a bias.

    Within a round the runs share what drifts, so their ratios hardly depend on those of the next round; an estimate
    from a dozen of them is mostly noise.

    Examples:
        >>> residual_dependence([1, 2, 1, 2, 1, 2, 1, 2, 1, 2]).factor
        1.0
    """
    raw = correlate_neighbours(values)
    if raw is None:
        return Dependence()
    score = (raw + 1 / len(values)) * math.sqrt(len(values))
    if score <= NormalDist().inv_cdf(1 - VISIBLE):
        return Dependence(raw)
    lag1 = min(raw, MOST)
    return Dependence(lag1, math.sqrt((1 + lag1) / (1 - lag1)), is_visible=True)


def widen(estimate: Estimate, dependence: Dependence, *, is_positive: bool = False) -> Estimate:
    """The estimate with its interval widened around its value; of a ratio, or a time, on the scale of the logarithms.

    Examples:
        >>> widen(Estimate(1.0, 0.5, 2.0, "x"), Dependence(0.6, 2.0), is_positive=True)
        Estimate(value=1.0, lo=0.25, hi=4.0, basis='x; widened 2.00 times for dependence (lag-1 0.60)')
    """
    if estimate.lo is None or estimate.hi is None or dependence.factor == 1:
        return estimate
    by, value = dependence.factor, estimate.value
    if is_positive:
        lo, hi = (value * (end / value) ** by for end in (estimate.lo, estimate.hi))
    else:
        lo, hi = (value + (end - value) * by for end in (estimate.lo, estimate.hi))
    return Estimate(value, lo, hi, f"{estimate.basis}; {dependence.note}")


def widen_p(p: float, dependence: Dependence) -> float:
    """The two-sided p value of a normal score that is as many times smaller as the intervals are wider.

    Examples:
        >>> round(widen_p(0.001, Dependence(0.6, 2.0)), 2)
        0.1
    """
    if dependence.factor == 1 or not 0 < p < 1:
        return p
    normal = NormalDist()
    return 2 * normal.cdf(normal.inv_cdf(p / 2) / dependence.factor)


#: With fewer rounds than this share of the runs, rounds are taken only where the runs depend on their neighbours.
LEAST_SHARE: Final = 0.5


#: This many rounds before and after a round show the drift within it.
AROUND: Final = 3


@dataclass(frozen=True, slots=True)
class Rounds:
    """Runs put together in rounds.

    Attributes:
        pairs: The times of A and B in each round: the geometric mean, of three runs and more the median.
        places: The mean place of A and of B in each round, in the order of all runs.
        slopes: The drift of the logarithms of the times from one run to the next, around each round.
        pattern: How the order is called: ``in turns``, ``A-B-B-A`` or ``in blocks``.
    """

    pairs: tuple[tuple[float, float], ...]
    places: tuple[tuple[float, float], ...]
    slopes: tuple[float, ...]
    pattern: str

    def log_ratios(self) -> list[float]:
        """The logarithm of B / A in each round, the drift within the round removed."""
        return [
            math.log(time_b / time_a) - slope * (place_b - place_a)
            for (time_a, time_b), (place_a, place_b), slope in zip(self.pairs, self.places, self.slopes, strict=True)
        ]

    def shifts(self) -> list[float]:
        """A - B in each round, the drift within the round removed from B."""
        return [time_a - time_a * math.exp(log) for (time_a, _), log in zip(self.pairs, self.log_ratios(), strict=True)]


def find_rounds(a: Sample, b: Sample) -> Rounds | None:
    """The rounds of two samples with a common order; None where the order shows fewer than 6.

    A round ends where as many runs of A as of B were made; where the samples are not of one size, it is a block of
    the one and the block of the other that follows it.

    Examples:
        >>> times = (2.0, 2.1, 2.0, 2.2, 2.1, 2.0)
        >>> slow = Sample("slow", times, order=(0, 3, 4, 7, 8, 11))
        >>> fast = Sample("fast", tuple(time / 2 for time in times), order=(1, 2, 5, 6, 9, 10))
        >>> found = find_rounds(slow, fast)
        >>> found.pattern, len(found.pairs), round(math.exp(found.log_ratios()[0]), 2)
        ('A-B-B-A', 6, 0.49)
    """
    if a.order is None or b.order is None:
        return None
    runs = sorted(
        [(place, 0, value) for place, value in zip(a.order, a.values, strict=True)]
        + [(place, 1, value) for place, value in zip(b.order, b.values, strict=True)]
    )
    letters = [letter for _, letter, _ in runs]
    cuts = _balanced(letters) if len(a.values) == len(b.values) else []
    if len(cuts) < MIN_RUNS:
        cuts = _blocks(letters)
    if len(cuts) < MIN_RUNS:
        return None
    logs = [math.log(value) for _, _, value in runs]
    pairs, places = [], []
    begins, slopes = [0, *cuts[:-1]], []
    for number, (begin, end) in enumerate(zip(begins, cuts, strict=True)):
        first, last = begins[max(number - AROUND, 0)], cuts[min(number + AROUND, len(cuts) - 1)]
        slopes.append(_slope(letters[first:last], logs[first:last]))
        sides = [[place for place in range(begin, end) if letters[place] == letter] for letter in (0, 1)]
        times = [math.exp(median(logs[place] for place in side)) for side in sides]
        pairs.append((times[0], times[1]))
        places.append((sum(sides[0]) / len(sides[0]), sum(sides[1]) / len(sides[1])))
    return Rounds(tuple(pairs), tuple(places), tuple(slopes), _pattern(letters))


def _balanced(letters: Sequence[int]) -> list[int]:
    """The ends of the shortest stretches with as many runs of A as of B."""
    ends, ahead = [], 0
    for place, letter in enumerate(letters, 1):
        ahead += 1 if letter else -1
        if ahead == 0:
            ends.append(place)
    return ends


def _blocks(letters: Sequence[int]) -> list[int]:
    """The ends of every second block; what is left at the end belongs to the last round."""
    ends, place = [], 0
    for number, (_, block) in enumerate(groupby(letters), 1):
        place += sum(1 for _ in block)
        if number % 2 == 0:
            ends.append(place)
    return [*ends[:-1], len(letters)] if ends else []


def _slope(letters: Sequence[int], logs: Sequence[float]) -> float:
    """The median slope of all pairs of runs of one sample."""
    sides = [[place for place, one in enumerate(letters) if one == letter] for letter in (0, 1)]
    return float(require("numpy").median(_slopes((side, [logs[place] for place in side]) for side in sides)))


def _slopes(samples: Iterable[tuple[Sequence[float], Sequence[float]]]) -> Any:  # noqa: ANN401 - an array
    """The slopes of all pairs of runs of one sample, of samples as the places and the logarithms of their runs."""
    np = require("numpy")
    slopes = []
    for places, logs in samples:
        first, second = np.triu_indices(len(places), 1)
        x, y = np.asarray(places, float), np.asarray(logs)
        slopes.append((y[second] - y[first]) / (x[second] - x[first]))
    return np.concatenate(slopes)


def _pattern(letters: Sequence[int]) -> str:
    lengths = [sum(1 for _ in block) for _, block in groupby(letters)]
    if max(lengths) == 1:
        return "in turns"
    if max(lengths) == 2 and set(lengths[1:-1]) == {2} and lengths[0] == lengths[-1] == 1:
        return "A-B-B-A"
    return "in blocks" if len(set(lengths)) == 1 else "in mixed order"


def takes_rounds(rounds: Rounds | None, runs: int, *, is_dependent: bool) -> bool:
    """Whether the rounds are the design to compare by: there are enough, or the runs depend on their neighbours."""
    return rounds is not None and (len(rounds.pairs) >= LEAST_SHARE * runs or is_dependent)
