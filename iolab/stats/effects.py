"""The effects between two samples, each with the interval that holds for their size and their clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from iolab.stats.intervals import (
    MIN_RUNS,
    Estimate,
    Limits,
    hodges_lehmann_shift,
    include,
    median_interval,
    ratio_bounds,
    ratio_interval,
    shift_interval,
    superiority,
    superiority_interval,
)
from iolab.stats.samples import median_deviation, modal_share, spread_ties

COARSE_SHARE = 0.7
"""From this share of runs on one reading the clock hides where inside its step the times lie.

Below it (a spread of a third of a step and more) the intervals hold wherever inside a step the medians are: about
93 % at the worst place, 95 % and more on average. From it on they may cover nothing at all, so they are widened.
"""


@dataclass(frozen=True, slots=True)
class Effects:
    """What separates sample b from sample a.

    Attributes:
        medians: The two medians.
        ratio: median(b) / median(a).
        shift: The Hodges-Lehmann shift a - b.
        superiority: P(A > B), half of the ties counted.
        refusal: Why there are no intervals, or an empty text.
        clock: How the clock's step was dealt with, or an empty text.
    """

    medians: tuple[Estimate, Estimate]
    ratio: Estimate
    shift: Estimate
    superiority: Estimate
    refusal: str
    clock: str


def refuse_interval(a: Sequence[float], b: Sequence[float], step: float | None) -> str:
    """Why no 95 % interval can be given for these samples; an empty text if one can.

    Examples:
        >>> refuse_interval([5.1] * 5, [5.2] * 31, 0.01)
        'no interval: 5 runs in the smaller sample, a 95 % interval needs 6 in each'
    """
    smaller = min(len(a), len(b))
    if smaller < MIN_RUNS:
        runs = "1 run" if smaller == 1 else f"{smaller} runs"
        return f"no interval: {runs} in the smaller sample, a 95 % interval needs {MIN_RUNS} in each"
    if step is None and (median_deviation(a) == 0 or median_deviation(b) == 0):
        return "no interval: half of the runs read the same value and the clock's step is not known (resolution)"
    return ""


def measure_effects(a: Sequence[float], b: Sequence[float], *, step: float | None) -> Effects:
    """The effects between two samples, with intervals where they hold.

    Three cases of the clock, each measured (`benchmarks/coverage_of_intervals.py`):

    - no ties, or ties that no clock made: the intervals of the values as they are;
    - ties on a clock of known step: a reading stands for times anywhere within half a step of it. For the
      median equal values are spread evenly over the step, for the ratio and the shift the differences are
      smoothed. Without that the rank interval of 31 runs covers 91 % at a spread of two steps and 81 % at one;
    - 70 % of a sample on one reading: where inside the step the times lie is not known. The intervals are
      widened by the step, cover more than 95 %, and say so.
    """
    # In ascending order, so that sums do not differ in the last digit from one run order to another.
    a, b = sorted(a), sorted(b)
    refusal = refuse_interval(a, b, step)
    coarse = not refusal and max(modal_share(a), modal_share(b)) >= COARSE_SHARE
    tied = len(set(a)) < len(a) or len(set(b)) < len(b)
    clock = ""
    fine_a: Sequence[float] = a
    fine_b: Sequence[float] = b
    slack = within = 0.0
    if step is not None and not refusal and coarse:
        clock = f"widened by the clock's step {step:g}, so more than 95 %"
        slack = step
    elif step is not None and not refusal and tied:
        clock = f"ties spread over the clock's step {step:g}"
        within = step
        fine_a, fine_b = spread_ties(a, step), spread_ties(b, step)

    def estimate(value: float, basis: str, interval: Callable[[], Limits | None]) -> Estimate:
        if refusal:
            return Estimate(value, None, None, f"{basis}; {refusal}")
        bounds = interval()
        if bounds is None:
            return Estimate(value, None, None, f"{basis}; no interval: too few runs")
        lo, hi = include(value, bounds)
        return Estimate(value, lo, hi, f"{basis}; {clock}" if clock else basis)

    def widen(interval: Limits | None, by: float) -> Limits | None:
        return None if interval is None else (interval[0] - by, interval[1] + by)

    def widened_ratio() -> Limits | None:
        if (found := ratio_interval(a, b, step=within)) is None:
            return None
        lo, hi = found
        worst = ratio_bounds(median_a, median_b, slack)
        return lo * worst[0] / ratio, hi * worst[1] / ratio

    median_a, median_b = median(a), median(b)
    ratio = median_b / median_a
    order_statistics = "median; interpolated order statistics"
    return Effects(
        medians=(
            estimate(median_a, order_statistics, lambda: widen(median_interval(fine_a), slack / 2)),
            estimate(median_b, order_statistics, lambda: widen(median_interval(fine_b), slack / 2)),
        ),
        ratio=estimate(ratio, "ratio of the medians; rank interval of the ratio of run to run", widened_ratio),
        shift=estimate(
            hodges_lehmann_shift(a, b),
            "Hodges-Lehmann; Moses' rank interval",
            lambda: widen(shift_interval(a, b, step=within), slack),
        ),
        superiority=_estimate_superiority(a, b, refusal),
        refusal=refusal,
        clock=clock,
    )


def _estimate_superiority(a: Sequence[float], b: Sequence[float], refusal: str) -> Estimate:
    basis = "share of the pairs, ties half; Newcombe's score interval, variance of the placements"
    if min(len(a), len(b)) < MIN_RUNS:
        wins = sum((x > y) + (x == y) / 2 for x in a for y in b) / (len(a) * len(b))
        return Estimate(wins, None, None, f"{basis}; {refusal}")
    found = superiority(a, b)
    lo, hi = include(found.value, superiority_interval(found, len(a), len(b)))
    # What the clock made equal is counted as equal: this interval is about the readings.
    return Estimate(found.value, lo, hi, basis)
