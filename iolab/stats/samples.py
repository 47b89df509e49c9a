"""Samples of timed runs: what is accepted, and what the clock's step does to them.

logframe.LogError
+-- SampleError       a sample that no statistic can be computed of, and why
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

import polars as pl

from logframe import LogError

#: Nanoseconds in each unit a Polars Duration can be read in.
DURATION_UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}

#: The pairwise methods grow with the product of the sizes; more values than this are not timed runs.
MAX_RUNS = 2_000

#: In whatever unit, no time is outside of these; beyond them sums and ratios overflow.
_SHORTEST, _LONGEST = 1e-30, 1e30

#: The median absolute deviation times this is the standard deviation of a normal sample.
NORMAL_MAD = 1.4826


class SampleError(LogError):
    """A sample no statistic can be computed of; the message names the sample, the position and the value."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Values in run order, and what was left out of them.

    Attributes:
        name: What the sample is called in every message.
        values: The values in run order, without nulls.
        nulls: How many nulls were dropped.
        left_out: How many first runs were left out on request.
        order: The place of each value in the order all runs were made in, or None where it was not stated.
    """

    name: str
    values: tuple[float, ...]
    nulls: int = 0
    left_out: int = 0
    order: tuple[float, ...] | None = None


Runs: TypeAlias = Sequence[float | None] | pl.Series


def check_threshold(threshold: float) -> None:
    """Refuse a smallest difference that is not one, such as 2 for 2 %.

    Raises:
        SampleError: If it does not lie between 0 and 1.
    """
    if not 0 < threshold < 1:
        raise SampleError(f"the threshold is {threshold}; it is a relative difference between 0 and 1")


def check_resolution(resolution: float | None, values: Sequence[float] = ()) -> None:
    """Refuse a clock's step that cannot be the one of these values; None is no step.

    Raises:
        SampleError: If it is not a finite number above zero, or a value is smaller.
    """
    if resolution is None:
        return
    if not (math.isfinite(resolution) and resolution > 0):
        raise SampleError(f"the resolution is {resolution}; it is the step of a clock, above zero")
    if values and (least := min(values)) < resolution * (1 - 1e-9):
        raise SampleError(
            f"the value {least:g} is below the resolution {resolution:g}: no clock shows less than its step"
        )


def read_times(values: Runs, name: str, unit: str = "s") -> list[float | None]:
    """The values as numbers in their order, nulls kept, each checked.

    Raises:
        SampleError: If a value is not a finite number above zero, or too small or large to be a time.

    Examples:
        >>> read_times(pl.Series([1_500, None]).cast(pl.Duration("ms")), "direct")
        [1.5, None]
    """
    numbers = _numbers(values, name, unit)
    for place, number in enumerate(numbers):
        if number is not None and not (math.isfinite(number) and number > 0):
            raise SampleError(f"{name}: value {place} is {number}; a time must be a finite number above zero")
        if number is not None and not _SHORTEST <= number <= _LONGEST:
            raise SampleError(f"{name}: value {place} is {number}; no time is so {'short' if number < 1 else 'long'}")
    return numbers


def _numbers(values: Runs, name: str, unit: str) -> list[float | None]:
    if not isinstance(values, pl.Series):
        numbers: list[float | None] = []
        for place, value in enumerate(values):
            # Text is refused even if it reads as a number: a printed time is for a parser, which knows its unit.
            if isinstance(value, str | bool):
                raise SampleError(f"{name}: value {place} is not a number: {value!r}")
            try:
                numbers.append(None if value is None else float(value))
            except (TypeError, ValueError, OverflowError):
                raise SampleError(f"{name}: value {place} is not a number: {value!r}") from None
        return numbers
    if values.dtype == pl.Duration:
        if unit not in DURATION_UNITS:
            raise SampleError(f"{name}: durations can be read in {', '.join(DURATION_UNITS)}, not in {unit!r}")
        nanoseconds = values.dt.total_nanoseconds().to_list()
        return [None if value is None else value / DURATION_UNITS[unit] for value in nanoseconds]
    if not (values.dtype.is_numeric() or values.dtype == pl.Null):
        raise SampleError(f"{name}: {values.dtype} values cannot be compared; numbers or durations can")
    return values.cast(pl.Float64).to_list()


def check_units(a: Runs, b: Runs, names: tuple[str, str]) -> None:
    """Refuse durations beside plain numbers: a duration has its unit, and of a number it is not known.

    Raises:
        SampleError: One sample is of durations and the other of numbers.
    """
    typed = [isinstance(runs, pl.Series) and runs.dtype == pl.Duration for runs in (a, b)]
    if typed[0] != typed[1]:
        first, second = ("A", "B") if names[0] == names[1] else names
        durations, numbers = (first, second) if typed[0] else (second, first)
        raise SampleError(f"{durations}: durations, {numbers}: plain numbers; their units may differ")


def read_sample(
    values: Runs,
    name: str,
    *,
    unit: str = "s",
    order: Sequence[float] | None = None,
    drop_first: int = 0,
) -> Sample:
    """The sample, checked, in run order.

    Args:
        values: Numbers, or a Polars Series of numbers or durations, in run order; nulls are dropped and counted.
        name: The name for messages.
        unit: The unit to read durations in.
        order: One number a value (a run number, an epoch): the place of each run in the order of all runs.
            The values are sorted by it.
        drop_first: How many first runs to leave out.

    Raises:
        SampleError: If a value is not a finite number above zero, if nothing is left, or if `order` does not fit.

    Examples:
        >>> read_sample([5.71, None, 5.69], "direct").values
        (5.71, 5.69)
        >>> read_sample([5.71, -1], "direct")
        Traceback (most recent call last):
        iolab.stats.samples.SampleError: direct: value 1 is -1.0; a time must be a finite number above zero
    """
    numbers = read_times(values, name, unit)
    if order is not None and len(order) != len(numbers):
        raise SampleError(f"{name}: {len(numbers)} values but {len(order)} places in the run order")
    places: Sequence[float] = range(len(numbers)) if order is None else order
    if order is not None and any(isinstance(place, bool) or not math.isfinite(place) for place in order):
        raise SampleError(f"{name}: a place in the run order is not a finite number")
    if order is not None and len(set(order)) != len(order):
        raise SampleError(f"{name}: two runs have the same place in the run order")
    runs = sorted((place, number) for place, number in zip(places, numbers, strict=True) if number is not None)
    kept = runs[drop_first:]
    if drop_first < 0:
        raise SampleError(f"{name}: drop_first is {drop_first}; it counts the runs to leave out")
    if not kept:
        raise SampleError(f"{name}: no value is left of {len(numbers)}")
    if len(kept) > MAX_RUNS:
        raise SampleError(f"{name}: {len(kept):,} values; samples of runs have at most {MAX_RUNS:,}")
    return Sample(
        name=name,
        values=tuple(number for _, number in kept),
        nulls=len(numbers) - len(runs),
        left_out=len(runs) - len(kept),
        order=None if order is None else tuple(float(place) for place, _ in kept),
    )


def repeated_share(values: Sequence[float]) -> float:
    """The share of the values that repeat another one: (n - distinct values) / n.

    Examples:
        >>> repeated_share([5.71, 5.71, 5.71, 5.72])
        0.5
    """
    return (len(values) - len(set(values))) / len(values)


def modal_share(values: Sequence[float]) -> float:
    """The share of the values that equal the one that comes most often.

    Examples:
        >>> modal_share([5.71, 5.71, 5.71, 5.72])
        0.75
    """
    return max(Counter(values).values()) / len(values)


def median_deviation(values: Sequence[float]) -> float:
    """The median absolute deviation from the median, in the unit of the values.

    Examples:
        >>> median_deviation([1.0, 2.0, 4.0, 100.0])
        1.5
    """
    middle = median(values)
    return median([abs(value - middle) for value in values])


def robust_spread(values: Sequence[float], step: float | None) -> float:
    """The spread of a sample: 1.4826 MAD, but never less than what the clock's step alone makes.

    A clock of step u puts an error of standard deviation u / sqrt(12) on every value.

    Examples:
        >>> round(robust_spread([5.71, 5.71, 5.71, 5.72], 0.01), 6)
        0.002887
    """
    return max(NORMAL_MAD * median_deviation(values), (step or 0.0) / math.sqrt(12))


def clock_step(values: Sequence[float]) -> float | None:
    """The step all values are multiples of, as far as the values tell; None without one.

    It is the smaller of the greatest common divisor of the gaps between the values and the last decimal place
    in use; no clock shows less than its step, so it is not above the smallest value. All can only be too large, so
    a known resolution is better than this.

    Examples:
        >>> clock_step([5.71, 5.73, 5.73, 5.79])
        0.01
        >>> clock_step([5.7123456789, 5.73918273645, 5.79283746511]) is None
        True
    """
    distinct = sorted(set(values))
    largest = max(abs(distinct[0]), abs(distinct[-1]))
    steps = [step for step in (_common_step(distinct, largest), _decimal_step(distinct, largest)) if step]
    return min((step for step in steps if step <= distinct[0] * (1 + 1e-9)), default=None)


def _common_step(distinct: Sequence[float], largest: float) -> float | None:
    # Euclid on floats: what is left under the tolerance is rounding noise, and a step of the size of the
    # noise is no step. Three gaps are needed before a common divisor says anything.
    tolerance = 1e-9 * largest
    if len(distinct) < 4:
        return None
    step = distinct[1] - distinct[0]
    for low, high in pairwise(distinct):
        gap = high - low
        while gap > tolerance:
            step, gap = gap, abs(step - round(step / gap) * gap)
        if step < 1e-6 * largest:
            return None
    return float(f"{step:.9g}")


def _decimal_step(distinct: Sequence[float], largest: float) -> float | None:
    for places in range(-6, 10):
        step = 10.0**-places
        if step < 1e-7 * largest:
            return None
        if all(math.isclose(round(value, places), value, rel_tol=1e-12) for value in distinct):
            return step
    return None


def spread_ties(values: Sequence[float], step: float) -> tuple[float, ...]:
    """The values in ascending order, those that the clock made equal spread evenly over its step.

    This is the rule for the median of grouped data applied to every value: m equal readings v stand for
    m values at even distances between v - step/2 and v + step/2. Single values stay where they are.

    Examples:
        >>> [round(value, 4) for value in spread_ties([5.71, 5.72, 5.71], 0.01)]
        [5.7075, 5.7125, 5.72]
    """
    spread: list[float] = []
    for value, times in sorted(Counter(values).items()):
        spread.extend(value + step * ((place + 0.5) / times - 0.5) for place in range(times))
    return tuple(sorted(spread))
