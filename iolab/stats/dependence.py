"""Dependence: runs that resemble their neighbours say less than this many independent ones, and intervals must know it.

The lag-1 autocorrelation of the ranks is estimated within each sample, pooled over the samples and corrected for its
bias in short series.  An interval is then widened by sqrt((1 + r) / (1 - r)), the square root of runs / effective runs
of a first-order autoregression, and by Student's quantile for this few effective runs.  A drift raises the same
estimate, so it widens the intervals, too.

One rule holds for all sizes.  The estimate of few runs is mostly noise, so it counts by how far it lies above what
independent runs show: not at all up to a standard score (`unseen_score`), wholly from 0.6 above that.  The more runs,
the smaller is the dependence that is corrected for.  What this costs and gains was drawn by simulation
(`docs/statistics.md`): of fewer than 15 runs that are not made in turns independence is supposed, and said.

Sources: Marriott and Pope, Bias in the estimation of autocorrelations (1954); Bayley and Hammersley, The "effective"
number of independent observations in an autocorrelated time series (1946).  How often the intervals hold was measured
(`benchmarks/comparison_designs.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from iolab.stats.intervals import CONFIDENCE, Estimate
from iolab.stats.order import correlate_neighbours
from logframe.extras import require

MOST: Final = 0.95
"""The largest lag-1 correlation that is corrected for; beyond it a series is a drift."""

MIN_EFFECTIVE: Final = 3.0
"""With fewer effective runs in a sample there is no verdict."""

SUPPOSED: Final = 15
"""Below this many runs a dependence that matters can stay unseen: the verdict supposes that there is not one."""

MOST_UNSEEN: Final = 1.5
"""The standard score up to which the intervals of the fewest runs are not widened."""

ALL_SEEN: Final = 18
"""From this many runs on every positive estimate widens; each run fewer adds a sixth to the score."""

RAMP: Final = 0.6
"""So far above the score the whole correction is made."""

MOST_STUDENT: Final = 4.0
"""Student's quantile of the effective runs is at most this many times that of the runs."""

SPARE_ERRORS = 0.5
"""Standard errors added to the estimate: one that is too small costs more coverage than one too large gains."""

VISIBLE: Final = 0.05
"""The level of the one-sided test of a dependence."""


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
