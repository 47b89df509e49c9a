"""Published medians: the effect with its rounding, and why there is no test."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import polars as pl

from iolab.shown import Shown
from iolab.stats.intervals import Estimate
from iolab.stats.report import (
    describe_conditions,
    describe_time,
    format_estimate,
    make_frame,
    make_row,
    read_conditions,
)
from iolab.stats.samples import SampleError, check_resolution

NO_TEST = (
    "no test and no confidence interval are possible: a median does not describe the spread of the runs; "
    "the bounds are those of the printed digits alone"
)


@dataclass(frozen=True, slots=True)
class MedianComparison(Shown):
    """Two published medians compared.

    Attributes:
        names: What A and B are called.
        unit: The unit of the medians.
        n: How many runs the source says each median is of, or None.
        medians: The medians with the bounds of their rounding.
        ratio: median B / median A; lo and hi are what rounding allows, not a confidence interval.
        speedup: median A / median B.
        pct_less_time: 100 (median A - median B) / median A.
        difference: median A - median B.
        claimed: What the source says of significance, as its claim.
        reason: Why there is no test.
        conditions: What the source says of the runs.
    """

    names: tuple[str, str]
    unit: str
    n: tuple[int | None, int | None]
    medians: tuple[Estimate, Estimate]
    ratio: Estimate
    speedup: Estimate
    pct_less_time: Estimate
    difference: Estimate
    claimed: str
    reason: str = NO_TEST
    conditions: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """A paragraph: the effect in all three directions, and why it cannot be tested."""
        a, b = self.names
        runs = "" if self.n == (None, None) else f" ({self.n[0]} and {self.n[1]} runs by the source)"
        claim = f" The source claims: {self.claimed}." if self.claimed else ""
        verdict = f"Verdict: none - {self.reason}.{claim}"
        setting = describe_conditions(self.conditions, missing=("run order", "outliers kept or dropped"))
        return (
            f"{a} (A) against {b} (B), published medians{runs}: {format_estimate(self.medians[0], self.unit)} against "
            f"{format_estimate(self.medians[1], self.unit)}. The effect: {describe_time(b, a, self.pct_less_time)}; "
            f"ratio {b}/{a} {format_estimate(self.ratio)}; speed-up {a}/{b} {format_estimate(self.speedup, 'x')}; "
            f"difference {a} - {b} {format_estimate(self.difference, self.unit)}. {verdict} {setting}"
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: metric, value, lo, hi, unit, basis; lo and hi are the bounds of the rounding."""
        a, b = self.names
        return make_frame(
            [
                make_row(f"median {a}", self.medians[0], self.unit),
                make_row(f"median {b}", self.medians[1], self.unit),
                make_row(f"ratio {b}/{a}", self.ratio, "x"),
                make_row(f"speedup {a}/{b}", self.speedup, "x"),
                make_row(f"pct_less_time {b}", self.pct_less_time, "%"),
                make_row(f"difference {a}-{b}", self.difference, self.unit),
            ],
            is_rounding=True,
        )


def _read_median(printed: str | float, resolution: float | None, name: str) -> tuple[float, float]:
    """The median and the weight of its last printed digit."""
    try:
        number = Decimal(str(printed).strip())
        value = float(number)
    except (InvalidOperation, ValueError):
        raise SampleError(f"{name}: the median is not a number: {printed!r}") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or not 0 < value < math.inf:
        raise SampleError(f"{name}: the median is {printed}; a time must be a finite number above zero")
    if resolution is not None:
        return value, resolution
    # A number that came as a float has lost its trailing zeros, so its digits do not describe its rounding.
    return value, 10.0**exponent if isinstance(printed, str) else 0.0


def compare_medians(
    median_a: str | float,
    median_b: str | float,
    *,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "s",
    n: tuple[int | None, int | None] = (None, None),
    resolution: float | None = None,
    claimed: str = "",
    conditions: Mapping[str, str] | None = None,
) -> MedianComparison:
    """The effect between two published medians, with the bounds of their rounding and without a test.

    Args:
        median_a: The median of A as it is printed; as text ("6.910") its last digit gives the rounding.
        median_b: The median of B.
        names: What A and B are called in the text.
        unit: The unit of the medians.
        n: How many runs the source says each median is of.
        resolution: The weight of the last digit, where the medians are given as numbers.
        claimed: What the source says of significance; printed as its claim.
        conditions: What the source says of the runs, by the names in `CONDITIONS`; the text lists those that are
            missing.

    Raises:
        SampleError: If a median or the resolution is not a finite number above zero, or a condition is not known.

    Examples:
        >>> result = compare_medians("6.910", "5.654", names=("buffered", "direct"))
        >>> round(result.pct_less_time.value, 2), round(result.speedup.value, 4)
        (18.18, 1.2221)
    """
    check_resolution(resolution)
    a, step_a = _read_median(median_a, resolution, names[0])
    b, step_b = _read_median(median_b, resolution, names[1])
    half_a, half_b = step_a / 2, step_b / 2
    if half_a >= a or half_b >= b:
        raise SampleError("a median is not larger than half of its last digit: its ratio has no bounds")
    rounded = bool(step_a and step_b)
    basis = "bounds of the printed digits" if rounded else "rounding not known"

    def bounded(value: float, lo: float, hi: float) -> Estimate:
        return Estimate(value, lo if rounded else None, hi if rounded else None, basis, is_rounding=True)

    low, high = (b - half_b) / (a + half_a), (b + half_b) / (a - half_a)
    return MedianComparison(
        names=names,
        unit=unit,
        n=n,
        medians=(bounded(a, a - half_a, a + half_a), bounded(b, b - half_b, b + half_b)),
        ratio=bounded(b / a, low, high),
        speedup=bounded(a / b, 1 / high, 1 / low),
        pct_less_time=bounded(100 * (a - b) / a, 100 * (1 - high), 100 * (1 - low)),
        difference=bounded(a - b, a - b - half_a - half_b, a - b + half_a + half_b),
        claimed=claimed,
        conditions=read_conditions(conditions),
    )
