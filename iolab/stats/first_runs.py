"""How a series of repeated runs begins: cold, warming up, flat, drifting or slowing down.

A series of independent runs is called flat, or two groups, in 95 % of the cases and more, whatever their distribution:

* a cold first run must be the only one that lies apart.  If any run may lie apart, with whatever probability q, that is
  the first one alone in q (1 - q)^(n - 1) of the series, at most 1 / (e n): 3.7 % of 10 runs.  Of fewer runs it
  is reported to lie apart, and not called cold.
* what is left of the 5 % is the level of a permutation test of the order, with and without the first run, which must
  find one before levels or a drift are looked for: the largest change of the mean logarithm over all places, its p
  value by random orders (Sen and Srivastava, On tests for detecting change in mean, 1975; Good, Permutation Tests,
  1994).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Literal

import polars as pl

from iolab.metrics.formatting import format_number
from iolab.shown import Shown
from iolab.stats.intervals import MIN_RUNS, Estimate, median_interval
from iolab.stats.order import ALPHA, find_trend
from iolab.stats.samples import (
    NORMAL_MAD,
    Runs,
    Sample,
    SampleError,
    check_resolution,
    check_threshold,
    clock_step,
    median_deviation,
    read_sample,
    robust_spread,
    spread_ties,
)
from iolab.stats.verdict import Row, make_frame, make_row
from logframe.extras import require
from logframe.wording import counted

#: What one change must save, in noise variances, per log(n).
PENALTY = 6.0


#: The fewest runs of every level but the first.
MIN_STRETCH = 3


#: The relative noise supposed where neighbours are all equal: any jump is one.
NO_NOISE = 1e-9


@dataclass(frozen=True, slots=True)
class Changes:
    """A series cut into stretches of one level.

    Attributes:
        starts: The place of the first run of each stretch; the first is 0.
        cost: The squared distances from the levels in noise variances, plus the penalties.
        line_cost: The same for one straight line through the whole series instead of levels.
    """

    starts: tuple[int, ...]
    cost: float
    line_cost: float


def estimate_noise(logs: Sequence[float], least: float) -> float:
    """The standard deviation of a run around its level, from the differences of neighbours.

    Differences are blind to the levels themselves: a jump spoils only one of them, and the median ignores it.
    """
    differences = [following - one for one, following in pairwise(logs)]
    return max(NORMAL_MAD * median([abs(difference) for difference in differences]) / math.sqrt(2), least)


def find_changes(values: Sequence[float], *, step: float | None = None) -> Changes:
    """The best cut of the series into levels, on the logarithms of the values.

    Optimal partitioning by dynamic programming: the squared distances from the mean of each stretch plus
    PENALTY * log(n) noise variances a change are as small as they can be. Stretches of one run are allowed.
    Source: Jackson et al., An algorithm for optimal partitioning of data on an interval (2005).

    Examples:
        >>> find_changes([63.0, 63.5, 62.7, 19.2, 19.3, 19.1, 19.2, 19.4]).starts
        (0, 3)
    """
    np = require("numpy")
    logs = [math.log(value) for value in values]
    n = len(logs)
    noise = estimate_noise(logs, (step or 0.0) / math.sqrt(12) / median(values)) or NO_NOISE
    scaled = (np.array(logs) - logs[0]) / noise
    penalty = PENALTY * math.log(n)
    sums = np.concatenate([[0.0], np.cumsum(scaled)])
    squares = np.concatenate([[0.0], np.cumsum(scaled**2)])
    best, cut_before = np.full(n + 1, math.inf), [0] * (n + 1)
    best[0] = -penalty
    for end in range(1, n + 1):
        # Only the first stretch may be short: a lone slow run later is an outlier, not a level.
        begin = np.array([0, *range(1, end - MIN_STRETCH + 1)])
        squared_sums = (sums[end] - sums[begin]) ** 2 / (end - begin)
        costs = best[begin] + np.maximum(squares[end] - squares[begin] - squared_sums, 0.0) + penalty
        place = int(np.argmin(costs))
        best[end], cut_before[end] = costs[place], int(begin[place])
    starts: list[int] = []
    end = n
    while end > 0:
        starts.append(cut_before[end])
        end = cut_before[end]
    return Changes(starts=tuple(reversed(starts)), cost=float(best[n]), line_cost=_line_cost(scaled.tolist()) + penalty)


def _line_cost(values: Sequence[float]) -> float:
    n = len(values)
    centre, level = (n - 1) / 2, math.fsum(values) / n
    slope = math.fsum((place - centre) * (value - level) for place, value in enumerate(values))
    slope /= math.fsum((place - centre) ** 2 for place in range(n))
    return math.fsum((value - level - slope * (place - centre)) ** 2 for place, value in enumerate(values))


#: A first run this many times slower than the others is a cold one, not the slow end of the usual spread.
COLD_RATIO = 1.25

#: How many robust spreads above the other runs a cold first run lies.
COLD_SPREADS = 10.0

#: A first run lies apart alone if it is this many times as far from the median of the others as the slowest of them.
ALONE = 4.0

#: The fewest runs of which a first one is called cold.
MIN_COLD = 10

#: How many series of independent runs may be called anything but flat.
FALSE_ALARMS = 0.05

#: The random orders of the permutation test.
ORDERS = 1999

#: One run and a spread of three others: less is no series.
MIN_SERIES = 4

#: The fewest runs in which change points are looked for.
MIN_CHANGES = 8

#: This many changes from one group to the other at least, or they follow each other.
MIXED = 3

#: Fewer runs are no group but runs that lie apart.
_LEAST_OF_GROUP = 2

#: A warm-up falls in its first half by this many times what it falls in its second.
DECAYS = 2.0

Kind = Literal["cold_first", "first_apart", "warm_up", "flat", "two_groups", "drifting", "slow_down", "too_few"]


@dataclass(frozen=True, slots=True)
class FirstRun(Shown):
    """What the beginning of a series of repeated runs shows.

    Attributes:
        kind: ``cold_first`` (one slow run, then a level), ``first_apart`` (the same of fewer than 10 runs: it may be
            chance), ``warm_up`` (several), ``flat``, ``two_groups`` (no trend, and no one level either),
            ``drifting`` (no steady level), ``slow_down`` (the last level is a slower one), ``too_few`` (below 4 runs).
        name: What the series is called.
        unit: The unit of the times.
        n: How many runs were looked at.
        first: The first run.
        warm_up_runs: How many runs come before the steady level; 0 where the series is flat.
        steady: The median of the steady runs with its interval, or None where there is no steady level.
        ratio: first / steady median, both as shown (of the other runs where there is no level).
        spreads: How many robust spreads of the other runs the first run lies above their median.
        starts: The place of the first run of each level (8 runs and more).
        state: What is known about the cache, from a reference.
        groups: The two groups and how they follow each other, in words; empty where there are not two.
        notes: What limits the answer.
    """

    kind: Kind
    name: str
    unit: str
    n: int
    first: float
    warm_up_runs: int
    steady: Estimate | None
    ratio: float
    spreads: float
    starts: tuple[int, ...]
    state: str
    groups: str
    notes: tuple[str, ...]

    def __str__(self) -> str:
        """A paragraph; the first run and the steady level apart, never their mean."""
        level = "" if self.steady is None else f"{format_number(self.steady.value)} {self.unit}"
        first = f"{format_number(self.first)} {self.unit}"
        then = f"{first}, then a median of {level} in {self.n - 1} runs ({format_number(self.ratio)}x)"
        if self.kind == "too_few":
            few = f"{counted(self.n, 'run')} {'is' if self.n == 1 else 'are'} too few"
            what = f"{few} to tell a cold first run; {MIN_SERIES} are needed"
        elif self.kind == "cold_first":
            what = f"cold first run: {then}"
        elif self.kind == "first_apart":
            chance = f"of {self.n} runs chance puts a slow one first in up to {1 / (math.e * self.n):.0%} of series"
            what = f"first run apart: {then}; {chance}"
        elif self.kind == "warm_up" and self.steady is None:
            falls = "each fall is smaller than those before, and no level is reached"
            what = f"warm-up over all {self.n} runs, from {first}: {falls}"
        elif self.kind == "warm_up":
            rest = f"then a median of {level} in {counted(self.n - self.warm_up_runs, 'run')}"
            what = f"warm-up over {counted(self.warm_up_runs, 'run')}, from {first}; {rest}"
        elif self.kind == "slow_down":
            what = f"slow-down: the last level, {level}, is slower than an earlier one"
        elif self.kind == "two_groups":
            what = f"no steady level: the runs fall into two groups, {self.groups}"
        elif self.kind == "drifting":
            what = f"drifting: no steady level in {self.n} runs"
        else:
            included = f"the first one included ({first}, {format_number(self.ratio)}x)"
            what = f"flat: a median of {level} in {self.n} runs, {included}"
        return ". ".join([f"{self.name}: {what}", self.state, *self.notes]) + "."

    def to_frame(self) -> pl.DataFrame:
        """The figures as a tidy frame: metric, value, lo, hi, ci_lo, ci_hi, unit, basis."""
        steady = self.steady or Estimate(float("nan"), None, None, "no steady level")
        rows: list[Row] = [
            ("first run", self.first, None, None, self.unit, self.kind),
            make_row("steady median", steady, self.unit),
            ("first / steady", self.ratio, None, None, "x", "first run / median of the steady runs"),
            ("first above the others", self.spreads, None, None, "spreads", "(first - median) / robust spread"),
            ("warm-up runs", float(self.warm_up_runs), None, None, "runs", self.state),
        ]
        return make_frame(rows).fill_nan(None)


def first_run(
    runs: Runs,
    *,
    name: str = "series",
    unit: str = "s",
    resolution: float | None = None,
    threshold: float = 0.02,
    reference: Runs | None = None,
    bytes_per_run: float | None = None,
    device_bytes_per_s: float | None = None,
) -> FirstRun:
    """How a series of repeated runs begins: cold, warming up, flat, drifting or slowing down.

    The first run is cold when it lies more than 10 robust spreads (1.4826 MAD, at least the clock's step /
    sqrt(12)) above the median of the others, takes at least 1.25 times as long, and lies apart alone; of fewer than 10
    runs it is only said to lie apart. From 8 runs on, where a permutation test finds an order, levels are searched for
    by change points on the logarithms, and a trend by Kendall's tau. Levels that differ by less than the threshold are
    one level.  Of independent runs at most 5 % of the series are called cold, warming up, drifting or slowing down. Two
    groups of times are reported, in whatever order they come.

    Args:
        runs: The times in run order; nulls are dropped.
        name: What to call the series.
        unit: The unit of the times.
        resolution: The clock's step; taken from the values where it is not given.
        threshold: The smallest relative difference of two levels.
        reference: Times of the same work known to be read without a cache, such as with direct I/O.
        bytes_per_run: Bytes each run reads; with `device_bytes_per_s` a bound that needs no reference.
        device_bytes_per_s: The most the device can deliver; supposes the times are in seconds.

    Raises:
        SampleError: If a value, the resolution, the bytes or the device's rate is not a finite number above zero, or
            the threshold is not between 0 and 1.

    Examples:
        >>> print(first_run([63.27, 19.23, 19.28, 19.35, 19.43], name="HP-UX"))
        HP-UX: first run apart: 63.27 s, then a median of 19.32 s in 4 runs (3.28x);
        of 5 runs chance puts a slow one first in up to 7% of series.
        Cache state undetermined: no reference. Change points need 8 runs.
    """
    check_threshold(threshold)
    check_resolution(resolution)
    for what, amount in (("bytes_per_run", bytes_per_run), ("device_bytes_per_s", device_bytes_per_s)):
        if amount is not None and not 0 < amount < float("inf"):
            raise SampleError(f"{what} is {amount}; it must be a finite number above zero")
    sample = read_sample(runs, name, unit=unit)
    step = resolution or clock_step(sample.values)
    values, n = sample.values, len(sample.values)
    notes = [f"Nulls dropped: {sample.nulls}"] if sample.nulls else []
    others = values[1:] or values
    spreads = _spreads_above(values, step)
    cold = is_apart(values, step)
    starts: tuple[int, ...] = (0,)
    if n < MIN_CHANGES:
        notes.append(f"Change points need {MIN_CHANGES} runs")
    if n < MIN_SERIES:
        kind: Kind = "too_few"
        steady_from = 0
        notes = notes[:-1]
    elif cold:
        kind, steady_from = "cold_first" if n >= MIN_COLD else "first_apart", 1
        starts = (0, 1)
    elif n >= MIN_CHANGES and 3 * min(order_p(values), order_p(others), _trend_p(values)) <= _level(n):
        kind, steady_from, starts = _classify(sample, step, threshold)
        if kind == "warm_up" and steady_from == 1:
            kind, steady_from, starts = "flat", 0, (0,)
    else:
        kind, steady_from = "flat", 0
    groups = _describe_groups(values, step, unit) if kind == "flat" else ""
    kind = "two_groups" if groups else kind
    if kind == "flat" and (slow := _slow_first(values)):
        chance = 1 / math.comb(n, slow)
        notes.append(f"The {slow} slowest runs came first and lie apart; chance does that in {chance:.1%} of series")
    steady = (
        None
        if kind in ("drifting", "too_few", "two_groups") or steady_from == n
        else _steady_median(values[steady_from:], step)
    )
    return FirstRun(
        kind=kind,
        name=name,
        unit=unit,
        n=n,
        first=values[0],
        warm_up_runs=steady_from if kind in ("cold_first", "warm_up") else 0,
        steady=steady,
        ratio=values[0] / (median(others) if steady is None else steady.value),
        spreads=spreads,
        starts=starts,
        state=_cache_state(values[steady_from:] or values, reference, unit, bytes_per_run, device_bytes_per_s),
        groups=groups,
        notes=tuple(notes),
    )


def is_apart(values: Sequence[float], step: float | None = None) -> bool:
    """Whether the first value is far above the others, and lies apart alone.

    Examples:
        >>> is_apart([63.27, 19.23, 19.28, 19.35, 19.43]), is_apart([19.5, 19.23, 19.28, 19.35, 19.43])
        (True, False)
    """
    others = values[1:] or values
    middle = median(others)
    is_far = _spreads_above(values, step) > COLD_SPREADS and values[0] / middle >= COLD_RATIO
    return is_far and values[0] - middle > ALONE * max(max(others) - middle, 0.0)


def _spreads_above(values: Sequence[float], step: float | None) -> float:
    """How many robust spreads the first value is above the median of the others."""
    others = values[1:] or values
    spread, above = robust_spread(others, step), values[0] - median(others)
    return above / spread if spread > 0 else (0.0 if above == 0 else float("inf") * (1 if above > 0 else -1))


def two_groups(
    values: Sequence[float], step: float | None = None, *, is_mixed: bool = True
) -> tuple[list[float], list[float]] | None:
    """The values sorted, parted at the widest gap; None unless it is wider than both groups together, and apart.

    The gap must be wider than two steps of the clock, and runs of both groups must come before and after each other:
    groups that follow one another are levels, or a warm-up, and count with ``is_mixed=False``.

    Of 8 independent values and more at most 4 % of the series are parted where they are normal, lognormal (0.3) or
    exponential, 8 % where they are Pareto's (1.5).

    Examples:
        >>> two_groups([1.0, 5.2, 1.1, 5.0, 1.05, 5.1, 1.0, 5.0]), two_groups([1, 1.1, 1.2, 1.4, 1.6, 1.9, 2.2, 5])
        (([1.0, 1.0, 1.05, 1.1], [5.0, 5.0, 5.1, 5.2]), None)
    """
    ordered = sorted(values)
    splits = range(_LEAST_OF_GROUP, len(ordered) - _LEAST_OF_GROUP + 1)
    if len(ordered) < MIN_CHANGES:
        return None
    place = max(splits, key=lambda place: ordered[place] / ordered[place - 1])
    low, high = ordered[:place], ordered[place:]
    gap = high[0] / low[-1]
    # Readings of times that differ by one step can be two steps apart.
    if step is not None and high[0] - low[-1] <= 2 * step * (1 + 1e-9):
        return None
    if is_mixed and sum((one > low[-1]) != (following > low[-1]) for one, following in pairwise(values)) < MIXED:
        return None
    return (low, high) if gap >= COLD_RATIO and gap > (low[-1] / low[0]) * (high[-1] / high[0]) else None


def _describe_groups(values: Sequence[float], step: float | None, unit: str) -> str:
    """The two groups of runs; empty where there are not two, or where a few runs only came first or last."""
    groups = two_groups(values, step, is_mixed=False)
    if groups is None:
        return ""
    turns = sum((one > groups[0][-1]) != (following > groups[0][-1]) for one, following in pairwise(values))
    if turns < MIXED and 3 * min(map(len, groups)) < len(values):
        return ""
    ends = ("{} of {} to {}".format(len(one), *map(format_number, (one[0], one[-1]))) for one in groups)
    return f"{' and '.join(ends)} {unit}; they change from one to the other {counted(turns, 'time')}"


def _level(n: int) -> float:
    """What a cold first run leaves of the false alarms."""
    return FALSE_ALARMS - (1 / (math.e * n) if n >= MIN_COLD else 0)


def order_p(values: Sequence[float]) -> float:
    """The p value of an order among the values: of a level that changes after two runs or more.

    The largest difference of the mean logarithm before and after any place, standardised, among random orders of the
    same values.  It holds its level for any distribution, ties among them.

    Examples:
        >>> order_p([9, 8, 9.5, 8.5, 3, 2, 3.5, 2.5, 3.2, 2.7]), order_p([5.0] * 9)
        (0.008, 1.0)
    """
    np = require("numpy")
    n = len(values)
    logs = np.log(np.array(values, float))
    logs -= logs.mean()
    ends = np.arange(2, n - 1)
    scale = np.sqrt(ends * (n - ends))

    def largest(orders: Any) -> Any:  # noqa: ANN401 - arrays of a library that need not be installed
        return np.max(np.abs(np.cumsum(orders, axis=-1)[..., ends - 1]) / scale, axis=-1)

    drawn = np.random.default_rng(0).permuted(np.tile(logs, (ORDERS, 1)), axis=1)
    return float((1 + (largest(drawn) >= largest(logs) - 1e-12).sum()) / (ORDERS + 1))


def _steady_median(values: Sequence[float], step: float | None) -> Estimate:
    value = median(values)
    if len(values) < MIN_RUNS:
        return Estimate(value, None, None, f"median of {len(values)} runs; no interval below {MIN_RUNS}")
    if median_deviation(values) == 0:
        return Estimate(value, None, None, "median; no interval: half of the runs read the same value")
    interval = median_interval(spread_ties(values, step) if step else values)
    return Estimate.within(value, interval, "median; interpolated order statistics")


def _classify(sample: Sample, step: float | None, threshold: float) -> tuple[Kind, int, tuple[int, ...]]:
    """The kind, the place of the first steady run, and the starts of the levels that differ."""
    values = sample.values
    if (decayed := _decay(values, step, threshold)) is not None:
        return "warm_up", decayed, (0, decayed) if decayed < len(values) else (0,)
    found = find_changes(values, step=step)
    starts, levels = _merge_levels(values, found, threshold, step)
    drifts = _trend_p(values) < ALPHA
    if len(starts) == 1:
        third = max(1, len(values) // 3)
        moved = median(values[-third:]) / median(values[:third])
        return ("drifting" if drifts and max(moved, 1 / moved) > 1 + threshold else "flat"), 0, starts
    if drifts and found.line_cost < found.cost:
        return "drifting", 0, starts
    if levels[-1] > min(levels):
        return "slow_down", starts[-1], starts
    return "warm_up", starts[-1], starts


def _slow_first(values: Sequence[float]) -> int:
    """How many first runs, two or more and less than half, are slower than all others by a quarter."""
    for slow in range(len(values) // 2, 1, -1):
        if min(values[:slow]) >= COLD_RATIO * max(values[slow:]):
            return slow
    return 0


def _trend_p(values: Sequence[float]) -> float:
    trend = find_trend(values)
    return 1.0 if trend is None else trend.p


def _decay(values: Sequence[float], step: float | None, threshold: float) -> int | None:
    """How many runs a warm-up that decays takes: this many fall, less and less; else None.

    The rest is in no order, or level within the threshold; it needs a third of the runs, and 4.  All runs, where they
    fall to the end.
    """
    n = len(values)
    for begin in range(2, n - max(MIN_SERIES, n // 3) + 1):
        rest = values[begin:]
        middle = median(rest)
        edge = max(middle * (1 + threshold), middle + 2 * robust_spread(rest, step))
        is_random = _trend_p(rest) > FALSE_ALARMS and (len(rest) < MIN_CHANGES or order_p(rest) > FALSE_ALARMS)
        if is_random or max(rest) <= edge:
            return begin if min(values[:begin]) > edge and _falls_less(values[: begin + 1]) else None
    return n if _falls_less(values) and values[0] >= COLD_RATIO * values[-1] else None


def _falls_less(values: Sequence[float]) -> bool:
    """Do the times fall from run to run, but for one in six, and by far more in the first half?"""
    middle = len(values) // 2
    rises = sum(one < following for one, following in pairwise(values))
    falls = rises <= len(values) // 6
    return falls and values[0] - values[middle] >= DECAYS * (values[middle] - values[-1])


def _merge_levels(
    values: Sequence[float], found: Changes, threshold: float, step: float | None
) -> tuple[tuple[int, ...], list[float]]:
    """The starts and medians of the levels, neighbours joined until each differs from the next."""
    starts = list(found.starts)
    while True:
        ends = [*starts[1:], len(values)]
        stretches = [values[start:end] for start, end in zip(starts, ends, strict=True)]
        levels = [median(stretch) for stretch in stretches]
        for place in range(1, len(starts)):
            low, high = sorted(levels[place - 1 : place + 1])
            noise = max(robust_spread(stretch, step) for stretch in stretches[place - 1 : place + 1])
            if high < low * (1 + threshold) or high - low < 3 * noise:
                del starts[place]
                break
        else:
            return tuple(starts), levels


def _cache_state(
    steady: Sequence[float],
    reference: Runs | None,
    unit: str,
    bytes_per_run: float | None,
    device_bytes_per_s: float | None,
) -> str:
    if bytes_per_run is not None and device_bytes_per_s is not None:
        rate = bytes_per_run / median(steady)
        if rate > device_bytes_per_s:
            return (
                f"Read from a cache: {rate / 2**20:.0f} MiB/s is more than the device's "
                f"{device_bytes_per_s / 2**20:.0f} MiB/s"
            )
    if reference is None:
        return "Cache state undetermined: no reference"
    without = read_sample(reference, "reference", unit=unit).values
    ratio = median(without) / median(steady)
    if ratio >= COLD_RATIO and max(steady) < min(without):
        return f"Read from a cache: {ratio:.2f}x faster than the reference"
    if ratio < COLD_RATIO:
        return f"As slow as the reference ({1 / ratio:.2f}x of its time): no cache shows"
    return "Cache state undetermined: the ranges of the runs and of the reference overlap"
