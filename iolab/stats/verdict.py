"""Results in words and rows: estimates, p values, the verdict, and how many runs would decide an open one.

Source: Julious, Sample sizes for clinical trials with normal data (2004), for the sizes of a comparison and of an
equivalence, on the logarithms, with the standard error that the samples show.  A quarter of the squared quantile is
added for spreads that are estimated: Guenther, Sample size formulas for normal theory t tests (1981).
"""

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

import polars as pl

from iolab.metrics.formatting import format_figure, format_number, with_unit
from iolab.shown import Shown
from iolab.stats.intervals import Estimate
from iolab.stats.samples import SampleError

#: The columns of every `to_frame`: one row a figure.
#:
#: ``ci_lo`` and ``ci_hi`` are the 95 % interval of a sample, ``lo`` and ``hi`` what the rounding of printed figures
#: allows; null without one.
FRAME_SCHEMA = pl.Schema(
    {"metric": pl.String()}
    | dict.fromkeys(("value", "lo", "hi", "ci_lo", "ci_hi"), pl.Float64())
    | {"unit": pl.String(), "basis": pl.String()}
)

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
    shown, word = (less, "less") if less.value >= 0 else (less.mapped(operator.neg, is_falling=True), "more")
    return f"{name} takes {format_estimate(shown, '%')} {word} time than {than}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Shown):
    """Two sides compared by the ratio of their times; A is the first, B the second.

    Attributes:
        names: What A and B are called.
        unit: The unit of the times.
        ratio: B / A.
        reason: The reason for the verdict, or why no test was made.
        conditions: What was stated about the runs.
    """

    names: tuple[str, str]
    unit: str
    ratio: Estimate
    reason: str
    conditions: tuple[tuple[str, str], ...] = ()

    @property
    def speedup(self) -> Estimate:
        """A / B."""
        return self.ratio.mapped(lambda ratio: 1 / ratio, is_falling=True)

    @property
    def pct_less_time(self) -> Estimate:
        """100 (1 - ratio): by how many per cent less time B takes."""
        return self.ratio.mapped(lambda ratio: 100 * (1 - ratio), is_falling=True)

    @property
    def effect(self) -> str:
        """The ratio in all three directions, in words."""
        a, b = self.names
        ratio, speedup = format_estimate(self.ratio), format_estimate(self.speedup, "x")
        return f"{describe_time(b, a, self.pct_less_time)}; ratio {b}/{a} {ratio}; speed-up {a}/{b} {speedup}"

    def effect_rows(self) -> list[Row]:
        """The ratio in all three directions, a row each."""
        a, b = self.names
        return [
            make_row(f"ratio {b}/{a}", self.ratio, "x"),
            make_row(f"speedup {a}/{b}", self.speedup, "x"),
            make_row(f"pct_less_time {b}", self.pct_less_time, "%"),
        ]


#: What a reader must know to use a comparison, and the numbers do not show.
CONDITIONS = (
    "cache level",
    "plan hash",
    "row count",
    "physical reads",
    "recursive calls",
    "interval length",
    "client or server clock",
)

#: What is missing where the common run order was not stated.
RUN_ORDER = "run order of the two samples"


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


#: The level of the test.
ALPHA = 0.05

Outcome = Literal["faster", "slower", "equivalent", "different, size unknown", "undecided"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome and the sentence that gives the reason."""

    outcome: Outcome
    reason: str


def decide(
    ratio: Estimate,
    p: float | None,
    threshold: float,
    *,
    refusal: str = "",
    dependence: str = "",
    needed: str = "",
    means: Estimate | None = None,
    supposed: str = "",
) -> Verdict:
    """The verdict on B from the interval of B / A, the test and the smallest difference that matters.

    Faster or slower: the whole interval is beyond the threshold and the test agrees at 5 %. Equivalent: the whole
    interval is within it. Different, size unknown: there is no interval, and the test finds a difference, as where few
    runs separate completely. All else is undecided, also alike medians with means that differ: a few runs took longer.
    The band is 1 / (1 + threshold) to 1 + threshold, so that the verdict does not depend on which sample is named
    first.

    Args:
        ratio: B / A.
        p: The p value of no difference, corrected for dependence.
        threshold: The smallest relative difference that matters.
        refusal: Why there is no interval.
        dependence: Why dependence leaves the verdict open, or an empty text.
        needed: How many runs would decide, said where the verdict is open.
        means: B / A of the means, where it is known: alike medians are equivalent if it lies within the threshold, too.
        supposed: What the interval supposes, said with a verdict.

    Examples:
        >>> decide(Estimate(1.0, 0.99, 1.01, ""), 0.8, 0.02, means=Estimate(1.475, 1.1, 1.9, ""))
        Verdict(outcome='undecided', reason='the whole interval of the ratio of the medians lies within 2 %, but the
        ratio of the means is 1.5 (95 %: 1.1 to 1.9): a few runs make the difference')
        >>> decide(Estimate(1.0106, 1.005, 1.016, ""), 0.001, 0.02)
        Verdict(outcome='equivalent', reason='the whole interval of the ratio lies within 2 %;
        a difference is there (p = 0.001), but smaller than the threshold')
    """
    percent = f"{format_number(100 * threshold)} %"
    significant = p is not None and p < ALPHA
    seen = f"a difference is there ({format_p(p)})" if p is not None and significant else ""
    more = f"; {needed}" if needed else ""
    assumption = f"; it supposes {supposed}" if supposed else ""
    if dependence:
        return Verdict("undecided", f"{dependence}{more}")
    if ratio.lo is None or ratio.hi is None:
        if seen:
            return Verdict("different, size unknown", f"{seen}; {refusal or 'no interval'}{assumption}")
        return Verdict("undecided", f"{refusal or 'no interval'}{more}")
    low, high = 1 / (1 + threshold), 1 + threshold
    if ratio.lo > high or ratio.hi < low:
        if significant:
            outcome: Outcome = "slower" if ratio.lo > high else "faster"
            return Verdict(outcome, f"the whole interval of the ratio is beyond {percent}{assumption}")
        return Verdict(
            "undecided", f"the interval of the ratio is beyond {percent}, but the rank test does not agree{more}"
        )
    if low <= ratio.lo and ratio.hi <= high:
        if means is not None and not (low <= (means.lo or means.value) and (means.hi or means.value) <= high):
            why = "a few runs make the difference" if _are_apart(means.value, 1.0, threshold) else "a few runs blur it"
            return Verdict(
                "undecided",
                f"the whole interval of the ratio of the medians lies within {percent}, but the ratio of the means is "
                f"{format_estimate(means)}: {why}",
            )
        note = f"; {seen}, but smaller than the threshold" if seen else ""
        return Verdict("equivalent", f"the whole interval of the ratio lies within {percent}{note}{assumption}")
    note = f"; {seen}, whether it is larger than {percent} is open" if seen else ""
    return Verdict("undecided", f"the difference may be smaller or larger than {percent}{note}{more}")


def describe_verdict(outcome: Outcome, a: str, b: str, threshold: float) -> str:
    """The verdict in words.

    Examples:
        >>> describe_verdict("faster", "buffered", "direct", 0.02), describe_verdict("equivalent", "a", "b", 0.02)
        ('direct is faster than buffered', 'equivalent within 2 %')
    """
    if outcome in ("faster", "slower"):
        return f"{b} is {outcome} than {a}"
    return f"equivalent within {format_number(100 * threshold)} %" if outcome == "equivalent" else outcome


def verdict_line(
    outcome: Outcome, ratio: Estimate, threshold: float, *, means: float | None = None, supposed: str = ""
) -> str:
    """The verdict as the first sentence of a comparison, with the ratio that it rests on.

    `means` is B / A of the means: if it differs from that of the medians, by the threshold too, it is reported.
    `supposed` is what a verdict rests on beside the runs; an open one rests on nothing.

    Examples:
        >>> verdict_line("faster", Estimate(0.818, 0.815, 0.82, ""), 0.02)
        'B was faster than A: B / A 0.8180 (95 %: 0.8150 to 0.8200).'
        >>> verdict_line("slower", Estimate(1.3, 1.2, 1.4, ""), 0.02, supposed="that runs do not depend on each other")
        'B was slower than A: B / A 1.30 (95 %: 1.20 to 1.40), supposing that runs do not depend on each other.'
        >>> verdict_line("different, size unknown", Estimate(2.11, None, None, ""), 0.02)
        'A and B differ, but too few runs show by how much: B / A 2.11.'
        >>> verdict_line("undecided", Estimate(1.0, 0.99, 1.01, ""), 0.02, means=1.475)
        'Whether A or B was faster is not decided: B / A 1.000 (95 %: 0.990 to 1.010), and 1.48 of the means.'
    """
    said = {
        "equivalent": f"A and B were alike within {format_number(100 * threshold)} %",
        "different, size unknown": "A and B differ, but too few runs show by how much",
        "undecided": "Whether A or B was faster is not decided",
    }.get(outcome, f"B was {outcome} than A")
    of_means = ""
    if means is not None and _are_apart(means, ratio.value, threshold):
        of_means = f", and {format_number(means)} of the means"
    assumption = f", supposing {supposed}" if supposed and outcome != "undecided" else ""
    return f"{said}: B / A {format_estimate(ratio)}{of_means}{assumption}."


def _are_apart(means: float, medians: float, threshold: float) -> bool:
    """Does the ratio of the means say another thing than that of the medians?"""
    return max(means / medians, medians / means) > 1 + threshold


#: How often this many runs would decide.
POWER: Final = 0.8

#: More runs than this are not a plan.
MOST_RUNS: Final = 100_000


@dataclass(frozen=True, slots=True)
class RunsNeeded:
    """Runs in each sample (or rounds) that would decide four times in five.

    Attributes:
        if_equal: If there is no difference, to say that it is smaller than the threshold; None beyond 100,000.
        if_seen: If the true ratio is the one seen, to say that it is larger; None where that is within the threshold.
    """

    if_equal: int | None
    if_seen: int | None

    def __str__(self) -> str:
        """A part of a sentence."""
        equal = "more than 100,000" if self.if_equal is None else f"about {self.if_equal:,}"
        if self.if_seen is None:
            return f"{equal} would decide it if there is no difference (power {POWER:.0%})"
        return (
            f"about {self.if_seen:,} would decide it if the true difference is the one seen, {equal} without one "
            f"(power {POWER:.0%})"
        )


def runs_needed(ratio: float, error: float, runs: int, threshold: float) -> RunsNeeded | None:
    """The runs that would decide; None where the samples show no spread.

    Args:
        ratio: The ratio seen.
        error: The standard error of its logarithm.
        runs: The runs in the smaller sample, or the rounds.
        threshold: The smallest relative difference that matters.

    Examples:
        >>> print(runs_needed(1.05, 0.02, 15, 0.02))
        about 58 would decide it if the true difference is the one seen, about 162 without one (power 80%)
    """
    if not 0 < error < math.inf:
        return None
    normal, edge = NormalDist(), math.log1p(threshold)
    level = normal.inv_cdf(0.975)

    def size(distance: float, power: float) -> int | None:
        wanted = runs * (error * (level + normal.inv_cdf(power)) / distance) ** 2
        return None if wanted > MOST_RUNS else max(math.ceil(wanted + level**2 / 4), runs + 1)

    beyond = abs(math.log(ratio)) - edge
    return RunsNeeded(
        # Both ends of the interval must lie inside, so each may fail half as often.
        if_equal=size(edge, 1 - (1 - POWER) / 2),
        if_seen=size(beyond, POWER) if beyond > 0 else None,
    )
