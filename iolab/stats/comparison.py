"""The result of a comparison: a small frozen object that prints as a paragraph and as a frame."""

from dataclasses import dataclass

import polars as pl

from iolab.metrics.formatting import format_number
from iolab.shown import Shown
from iolab.stats.dependence import Dependence
from iolab.stats.intervals import Estimate
from iolab.stats.power import RunsNeeded
from iolab.stats.ranks import PValues
from iolab.stats.report import (
    CONDITIONS,
    RUN_ORDER,
    Row,
    describe_clock,
    describe_conditions,
    describe_time,
    format_estimate,
    format_p,
    make_frame,
    make_row,
)
from iolab.stats.verdict import Outcome, describe_verdict, verdict_line
from logframe.wording import counted

__all__ = ["CONDITIONS", "SLOW", "Comparison", "Design"]

SLOW = 0.95
"""The quantile that stands for slow runs."""


@dataclass(frozen=True, slots=True)
class Design:
    """How two samples were compared, and what follows from it.

    Attributes:
        name: ``two samples``, or how many rounds and how they were made.
        units: The runs of the smaller sample, or the rounds.
        ratio: B / A.
        shift: A - B.
        p: The p value that the verdict uses; of two samples corrected for dependence.
        dependence: How much the runs, or rounds, depend on their neighbours.
        refusal: Why there is no interval, or an empty text.
        needed: How many runs or rounds would decide; None where no spread is seen.
        is_rounds: Whether it is one of rounds.
    """

    name: str
    units: int
    ratio: Estimate
    shift: Estimate
    p: float
    dependence: Dependence
    refusal: str
    needed: RunsNeeded | None
    is_rounds: bool = False


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """Two samples of run times compared; A is the first, B the second.

    Attributes:
        names: What A and B are called.
        unit: The unit of the times.
        n: How many runs of each were compared.
        nulls: How many nulls of each were dropped.
        left_out: How many first runs of each were left out on request.
        resolution: The clock's step, given or read off the values; None without one.
        medians: The median of each.
        spreads: The robust spread of each: 1.4826 MAD, at least the clock's step / sqrt(12).
        means: The mean of each. A mean over a cold and a warm run describes neither.
        of_means: Mean of B / mean of A; with an interval where 6 runs of each are two samples.
        slow: The 95th percentile of each; an end of its interval is None where this few runs do not give it.
        deviations: The standard deviation of each; None for one run.
        design: How they were compared.
        ratio: median B / median A; within rounds the pseudo-median of the ratios of the rounds.
        speedup: 1 / ratio.
        pct_less_time: 100 (1 - ratio).
        shift: The Hodges-Lehmann shift A - B.
        prob_a_greater: P(A > B), half of the ties counted.
        cliffs_delta: P(A > B) - P(A < B).
        gap: The distance between the two ranges where they do not overlap, else None.
        p_values: The p values.
        threshold: The smallest relative difference that matters.
        verdict: B is ``faster`` or ``slower``; ``equivalent``, ``different, size unknown`` or ``undecided``.
        reason: The reason for the verdict.
        caveats: What limits the comparison.
        conditions: What was stated about the runs.
        is_ordered: Whether the common run order was stated.
        is_resolution_given: Whether the clock's step was given; else it was read off the values and can be smaller.
    """

    names: tuple[str, str]
    unit: str
    n: tuple[int, int]
    nulls: tuple[int, int]
    left_out: tuple[int, int]
    resolution: float | None
    medians: tuple[Estimate, Estimate]
    spreads: tuple[float, float]
    means: tuple[float, float]
    of_means: Estimate
    slow: tuple[Estimate, Estimate]
    deviations: tuple[float | None, float | None]
    design: Design
    ratio: Estimate
    speedup: Estimate
    pct_less_time: Estimate
    shift: Estimate
    prob_a_greater: Estimate
    cliffs_delta: Estimate
    gap: float | None
    p_values: PValues
    threshold: float
    verdict: Outcome
    reason: str
    caveats: tuple[str, ...]
    conditions: tuple[tuple[str, str], ...]
    is_ordered: bool
    is_resolution_given: bool

    @property
    def ratio_of_means(self) -> float:
        """Mean of B / mean of A."""
        return self.means[1] / self.means[0]

    @property
    def headline(self) -> str:
        """The verdict in a sentence, of A and B."""
        return verdict_line(self.verdict, self.ratio, self.threshold, means=self.ratio_of_means)

    def __str__(self) -> str:
        """A paragraph to paste: both medians, the effect in all three directions, tests, verdict, caveats."""
        a, b = self.names
        where = f"Within {self.design.name}" if self.design.is_rounds else "The effect"
        tests = [f"signed rank within rounds {format_p(self.design.p)}"] if self.design.is_rounds else []
        tests.append(f"Mann-Whitney {format_p(self.p_values.mann_whitney)}")
        if self.p_values.permutation is not None:
            tests.append(f"exact permutation (ties) {format_p(self.p_values.permutation)}")
        apart = ""
        if self.gap is not None:
            apart = f" The ranges do not overlap; the gap is {format_number(self.gap)} {self.unit}."
        median_a, median_b = (format_estimate(one, self.unit) for one in self.medians)
        lines = [
            f"{a} (A, {counted(self.n[0], 'run')}) against {b} (B, {counted(self.n[1], 'run')}):",
            f"median {median_a} against {median_b}.",
            f"{where}: {describe_time(b, a, self.pct_less_time)};",
            f"ratio {b}/{a} {format_estimate(self.ratio)}; speed-up {a}/{b} {format_estimate(self.speedup, 'x')}.",
            f"Means {b}/{a} {format_estimate(self.of_means)}; p95 {_of_slow(self.slow, self.unit)}.",
            f"Shift {a} - {b} (Hodges-Lehmann) {format_estimate(self.shift, self.unit)}.",
            f"Tests: {', '.join(tests)};",
            f"Cliff's delta {format_estimate(self.cliffs_delta)},",
            f"P({a} > {b}) {format_estimate(self.prob_a_greater)}.{apart}",
            f"Verdict: {describe_verdict(self.verdict, a, b, self.threshold)} - {self.reason}.",
            *(f"Caveat: {caveat}." for caveat in self.caveats),
            f"Intervals 95 %; {self.describe_setting()}",
        ]
        return " ".join(lines)

    def describe_setting(self) -> str:
        """The clock, what is known of the runs and what is not."""
        clock = describe_clock(self.resolution, self.unit, is_given=self.is_resolution_given)
        missing = () if self.is_ordered else (RUN_ORDER,)
        return f"{clock}; outliers kept. {describe_conditions(self.conditions, missing=missing)}".rstrip()

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: metric, value, lo, hi, ci_lo, ci_hi, unit, basis."""
        a, b = self.names
        rows: list[Row] = []
        for place, name in enumerate(self.names):
            dropped = f"{self.nulls[place]} nulls dropped, {self.left_out[place]} first runs left out"
            rows.append((f"runs {name}", float(self.n[place]), None, None, "runs", dropped))
            rows.append(make_row(f"median {name}", self.medians[place], self.unit))
            rows.append(
                (f"spread {name}", self.spreads[place], None, None, self.unit, "1.4826 MAD, at least step/sqrt(12)")
            )
            deviation = self.deviations[place]
            share = "" if deviation is None else f"; standard deviation {deviation / self.means[place]:.2%} of it"
            rows.append((f"mean {name}", self.means[place], None, None, self.unit, f"arithmetic mean{share}"))
            rows.append(make_row(f"p95 {name}", self.slow[place], self.unit))
            rows.append((f"standard deviation {name}", deviation, None, None, self.unit, "n - 1 in the denominator"))
        rows += [
            make_row(f"ratio {b}/{a}", self.ratio, "x"),
            make_row(f"speedup {a}/{b}", self.speedup, "x"),
            make_row(f"pct_less_time {b}", self.pct_less_time, "%"),
            make_row(f"ratio of means {b}/{a}", self.of_means, "x"),
            make_row(f"shift {a}-{b}", self.shift, self.unit),
            ("p", self.design.p, None, None, "p", f"of the verdict: {self.design.name}"),
            make_row("cliffs_delta", self.cliffs_delta, ""),
            make_row(f"P({a}>{b})", self.prob_a_greater, ""),
        ]
        tests = (
            ("p_mann_whitney", self.p_values.mann_whitney, "two-sided"),
            ("p_permutation", self.p_values.permutation, "rank sum with mid-ranks, exact; only with ties"),
            ("p_levene", self.p_values.levene, "spreads, around the medians"),
        )
        rows += [(metric, value, None, None, "p", basis) for metric, value, basis in tests]
        rows.append(("gap", self.gap, None, None, self.unit, "between the ranges; null where they overlap"))
        needed = self.design.needed
        if needed is not None and self.verdict == "undecided":
            each = "rounds" if self.design.is_rounds else "runs of each"
            rows.append(("needed", needed.if_equal, None, None, each, "to decide, if there is no difference"))
            rows.append(("needed", needed.if_seen, None, None, each, "to decide, if the difference is the one seen"))
        rows.append(("threshold", 100 * self.threshold, None, None, "%", f"{self.verdict}: {self.reason}"))
        rows += [("caveat", None, None, None, "", caveat) for caveat in self.caveats]
        return make_frame(rows)


def _of_slow(slow: tuple[Estimate, Estimate], unit: str) -> str:
    """The slow runs of both samples; where few runs give no upper limit, the lower one."""
    said = []
    for one in slow:
        least = f" (at least {format_number(one.lo)})" if one.lo is not None and one.hi is None else ""
        said.append(format_estimate(one, unit) + least)
    return " against ".join(said)
