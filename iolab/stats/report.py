"""How results print: numbers, intervals, p values, and the columns every result has as a frame."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import polars as pl

from iolab.metrics.formatting import format_figure, with_unit
from iolab.stats.intervals import Estimate
from iolab.stats.samples import SampleError

FRAME_SCHEMA = pl.Schema(
    {
        "metric": pl.String,
        "value": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
        "ci_lo": pl.Float64,
        "ci_hi": pl.Float64,
        "unit": pl.String,
        "basis": pl.String,
    }
)
"""The columns of every `to_frame`: one row a figure.

``ci_lo`` and ``ci_hi`` are the 95 % interval of a sample, ``lo`` and ``hi`` what the rounding of printed figures
allows; null without one.
"""

Row = tuple[str, float | None, float | None, float | None, str, str]


def make_row(metric: str, estimate: Estimate, unit: str) -> Row:
    """The row of an estimate."""
    return metric, estimate.value, estimate.lo, estimate.hi, unit, estimate.basis


def make_frame(rows: Iterable[Row], *, is_rounding: bool = False) -> pl.DataFrame:
    """The rows as a tidy frame; their limits are those of samples, or of the rounding of printed figures.

    Examples:
        >>> make_frame([("ratio", 1.2, 1.1, 1.3, "x", "")]).select("value", "lo", "ci_lo").row(0)
        (1.2, None, 1.1)
    """
    none = (None, None)
    spread = [
        (metric, value, *((lo, hi, *none) if is_rounding else (*none, lo, hi)), unit, basis)
        for metric, value, lo, hi, unit, basis in rows
    ]
    return pl.DataFrame(spread, schema=FRAME_SCHEMA, orient="row")


def format_estimate(estimate: Estimate, unit: str = "") -> str:
    """The value with its unit and, where there is one, the 95 % interval of the sample; bounds of rounding in brackets.

    Examples:
        >>> format_estimate(Estimate(1.222, 1.219, 1.226, ""), "x")
        '1.222x (95 %: 1.219 to 1.226)'
        >>> format_estimate(Estimate(20.2, 11.8, 28.7, ""), "%")
        '20 % (95 %: 12 to 29)'
        >>> format_estimate(Estimate(18.18, 18.16, 18.2, "", is_rounding=True), "%")
        '18.180 % [18.160, 18.200]'
    """
    value, lo, hi = format_figure(estimate.value, estimate.lo, estimate.hi, unit)
    shown = with_unit(value, unit)
    if estimate.lo is None or estimate.hi is None:
        return shown
    return f"{shown} [{lo}, {hi}]" if estimate.is_rounding else f"{shown} (95 %: {lo} to {hi})"


def format_p(p: float) -> str:
    """A p value in a form that never reads as zero.

    Examples:
        >>> format_p(0.0412), format_p(3.2e-12), format_p(0.0)
        ('p = 0.041', 'p = 3.2e-12', 'p < 1e-300')
    """
    return "p < 1e-300" if p < 1e-300 else f"p = {p:.2g}"


def describe_time(name: str, than: str, less: Estimate) -> str:
    """The sentence "B takes x % less time than A", or "more", with its interval.

    Examples:
        >>> describe_time("async", "sync", Estimate(-1.06, -2.0, -0.1, ""))
        'async takes 1.1 % (95 %: 0.1 to 2.0) more time than sync'
    """
    if less.value >= 0:
        shown, word = less, "less"
    else:
        lo = None if less.hi is None else -less.hi
        hi = None if less.lo is None else -less.lo
        shown, word = replace(less, value=-less.value, lo=lo, hi=hi), "more"
    return f"{name} takes {format_estimate(shown, '%')} {word} time than {than}"


CONDITIONS = (
    "cache level",
    "plan hash",
    "row count",
    "physical reads",
    "recursive calls",
    "interval length",
    "client or server clock",
)
"""What a reader must know to use a comparison, and the numbers do not show."""

RUN_ORDER = "run order of the two samples"
"""What is missing where the common run order was not stated."""


def read_conditions(conditions: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    """What was stated of the runs, in the order of `CONDITIONS`.

    Raises:
        SampleError: If a condition is not one of them.

    Examples:
        >>> read_conditions({"row count": "equal", "plan hash": "equal"})
        (('plan hash', 'equal'), ('row count', 'equal'))
    """
    stated = dict(conditions or {})
    if unknown := sorted(set(stated) - set(CONDITIONS)):
        raise SampleError(f"unknown condition {unknown[0]!r}; known are {', '.join(CONDITIONS)}")
    return tuple((key, stated[key]) for key in CONDITIONS if key in stated)


def describe_conditions(stated: Iterable[tuple[str, str]], *, missing: Iterable[str] = ()) -> str:
    """What is known of the runs and what is not, one sentence each.

    Examples:
        >>> describe_conditions([(key, "equal") for key in CONDITIONS[1:]], missing=["run order"]).partition(" Not")[2]
        ' stated: run order, cache level.'
    """
    known = dict(stated)
    sentences = [f"{key.capitalize()}: {value}." for key, value in known.items()]
    unknown = [*missing, *(key for key in CONDITIONS if key not in known)]
    if unknown:
        sentences.append(f"Not stated: {', '.join(unknown)}.")
    return " ".join(sentences)


def describe_clock(resolution: float | None, unit: str, *, is_given: bool) -> str:
    """The step of the clock in words.

    Examples:
        >>> describe_clock(0.01, "s", is_given=False)
        'clock step at most 0.01 s'
    """
    if resolution is None:
        return "no clock step found"
    return f"clock step {'' if is_given else 'at most '}{resolution:g} {unit}"
