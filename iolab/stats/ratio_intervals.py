"""The interval of a ratio of medians: a calibrated bootstrap, widened where the medians are known unequally well."""

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from iolab.stats.intervals import BOOTSTRAP_TAIL, Limits, median_interval
from logframe.extras import require

UNLIKE_WIDTHS = 2.0
"""From this ratio of the widths of two medians' intervals on, that of their ratio is widened to hold both."""


def ratio_interval(a: Sequence[float], b: Sequence[float], *, seed: int, resamples: int, step: float = 0.0) -> Limits:
    """The interval of median(b) / median(a) by the percentile bootstrap, its tails calibrated.

    It needs no equal spreads: with spreads of 1 to 3 (lognormal, 6 to 31 runs) it covers 93-96 %.  Where the interval
    of one median is twice as wide as that of the other or more, as with few runs of a wide spread against many of a
    narrow one, the bootstrap covers 87 %: then it is widened to what the intervals of the two medians allow together.
    The samples are drawn from in ascending order and the smaller sample first, so that neither the run
    order nor the question which sample is called a changes the result. With the step of a clock every value
    drawn is moved to a random place within half a step of its reading (the smoothed bootstrap).
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. The bias-corrected
    bootstrap is not used: it is unstable for medians of few values.  Zou and Donner, Construction of confidence limits
    about effect measures: a general approach (2008), for the two medians together.

    Examples:
        >>> lo, hi = ratio_interval([10, 11, 12, 13, 14, 15], [5, 6, 7, 8, 9, 10], seed=0, resamples=999)
        >>> round(lo, 3), round(hi, 3)
        (0.444, 0.783)
    """
    np, stats = require("numpy"), require("scipy.stats")
    first, second = sorted((tuple(sorted(a)), tuple(sorted(b))), key=lambda sample: (len(sample), sample))
    swapped = first != tuple(sorted(a))
    places = np.random.default_rng([seed, 1])

    def read_again(drawn: Any) -> Any:  # noqa: ANN401 - arrays of a library that need not be installed
        # A reading of the clock stands for any time within half a step of it.
        return drawn + step * places.uniform(-0.5, 0.5, drawn.shape) if step else drawn

    def log_ratio(x: object, y: object, axis: int = -1) -> object:
        return np.log(np.median(read_again(y), axis=axis)) - np.log(np.median(read_again(x), axis=axis))

    bounds = stats.bootstrap(
        (np.array(first), np.array(second)),
        log_ratio,
        n_resamples=resamples,
        confidence_level=1 - 2 * BOOTSTRAP_TAIL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    if first == second:
        # Two equal samples have no order: the interval is as wide, and the same both ways round.
        half = (float(bounds.high) - float(bounds.low)) / 2
        return math.exp(-half), math.exp(half)
    lo, hi = math.exp(bounds.low), math.exp(bounds.high)
    if (medians := _from_medians(first, second, step)) is not None:
        lo, hi = min(lo, medians[0]), max(hi, medians[1])
    return (1 / hi, 1 / lo) if swapped else (lo, hi)


def _from_medians(first: Sequence[float], second: Sequence[float], step: float) -> Limits | None:
    """The limits of median(second) / median(first) by those of the medians; None where these are of like width."""
    parts = []
    for values in (first, second):
        lo, hi = median_interval(values)
        lo, hi = lo - step / 2, hi + step / 2
        if lo <= 0:
            return None
        middle = math.log(median(values))
        parts.append((middle, middle - math.log(lo), math.log(hi) - middle))
    (one, one_below, one_above), (two, two_below, two_above) = parts
    widths = sorted((one_below + one_above, two_below + two_above))
    if widths[1] < UNLIKE_WIDTHS * widths[0]:
        return None
    ratio = two - one
    return math.exp(ratio - math.hypot(two_below, one_above)), math.exp(ratio + math.hypot(two_above, one_below))
