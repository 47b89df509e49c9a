"""The comparison of two samples, or of every pair of several: effects with their intervals, and what limits them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import polars as pl

from iolab.metrics.formatting import format_figure, format_number
from iolab.shown import Shown
from iolab.stats.first_runs import first_run
from iolab.stats.intervals import (
    MIN_RUNS,
    Estimate,
    Limits,
    hodges_lehmann_shift,
    median_interval,
    ratio_bounds,
    ratio_interval,
    shift_interval,
    superiority,
    superiority_interval,
    why_few,
)
from iolab.stats.order import CORRELATED, Dependence, describe_blocks, describe_trend, widen
from iolab.stats.ranks import PValues
from iolab.stats.samples import Sample, median_deviation, modal_share, repeated_share, robust_spread, spread_ties
from iolab.stats.verdict import (
    RUN_ORDER,
    Compared,
    Outcome,
    Row,
    RunsNeeded,
    Verdict,
    decide,
    describe_clock,
    describe_conditions,
    describe_time,
    describe_verdict,
    format_estimate,
    format_p,
    make_frame,
    make_row,
    verdict_line,
)
from logframe.extras import require
from logframe.wording import counted

#: From this share of runs on one reading the clock hides where inside its step the times lie.
#:
#: Below it (a spread of a third of a step and more) the intervals hold wherever inside a step the medians are: about
#: 93 % at the worst place, 95 % and more on average. From it on they may cover nothing at all, so they are widened.
COARSE_SHARE = 0.7


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
        'no interval: 5 runs in the smaller sample, whose range holds the median of all runs in only 93.8 % of samples;
        a 95 % interval needs 6 in each'
    """
    smaller = min(len(a), len(b))
    if smaller < MIN_RUNS:
        return f"no interval: {counted(smaller, 'run')} in the smaller sample, {why_few(smaller)} in each"
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
        bounds = None if refusal else interval()
        return Estimate.within(value, bounds, "; ".join(filter(None, [basis, refusal, clock])))

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
    # What the clock made equal is counted as equal: this interval is about the readings.
    return Estimate.within(found.value, superiority_interval(found, len(a), len(b)), basis)


#: The quantile that stands for slow runs.
SLOW = 0.95


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

    @property
    def each(self) -> str:
        """What `needed` counts."""
        return "rounds" if self.is_rounds else "runs of each"

    def decide(self, p: float | None, threshold: float, means: Estimate) -> Verdict:
        """The verdict with a p value, such as one corrected for many comparisons; `means` is B / A of the means."""
        return decide(
            self.ratio,
            p,
            threshold,
            refusal=self.refusal,
            dependence=self.dependence.refusal,
            needed="" if self.needed is None else f"of {self.each}, {self.needed}",
            means=means,
            supposed=self.dependence.supposed,
        )


@dataclass(frozen=True, slots=True)
class Comparison(Compared):
    """Two samples of run times compared; A is the first, B the second.

    The ratio is median B / median A; within rounds the pseudo-median of the ratios of the rounds.

    Attributes:
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
        shift: The Hodges-Lehmann shift A - B.
        prob_a_greater: P(A > B), half of the ties counted.
        cliffs_delta: P(A > B) - P(A < B).
        gap: The distance between the two ranges where they do not overlap, else None.
        p_values: The p values.
        threshold: The smallest relative difference that matters.
        verdict: B is ``faster`` or ``slower``; ``equivalent``, ``different, size unknown`` or ``undecided``.
        caveats: What limits the comparison.
        is_ordered: Whether the common run order was stated.
        is_resolution_given: Whether the clock's step was given; else it was read off the values and can be smaller.
    """

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
    shift: Estimate
    prob_a_greater: Estimate
    cliffs_delta: Estimate
    gap: float | None
    p_values: PValues
    threshold: float
    verdict: Outcome
    caveats: tuple[str, ...]
    is_ordered: bool
    is_resolution_given: bool

    @property
    def ratio_of_means(self) -> float:
        """Mean of B / mean of A."""
        return self.means[1] / self.means[0]

    @property
    def ratio_if_correlated(self) -> Estimate:
        """B / A with the interval that holds if neighbouring runs are correlated by 0.5."""
        return widen(self.ratio, Dependence(factor=CORRELATED), is_positive=True)

    @property
    def headline(self) -> str:
        """The verdict in a sentence, of A and B."""
        supposed = self.design.dependence.supposed.partition(",")[0]
        _, lo, hi = format_figure(self.ratio.value, self.ratio_if_correlated.lo, self.ratio_if_correlated.hi)
        supposed += f" ({lo} to {hi} if neighbours are correlated by 0.5)" if supposed and lo and hi else ""
        means = self.ratio_of_means
        return verdict_line(self.verdict, self.ratio, self.threshold, means=means, supposed=supposed)

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
            f"{where}: {self.effect}.",
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
            *self.effect_rows(),
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
            each = self.design.each
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


#: Below this p value of Levene's test the spreads are called unequal.
UNEQUAL_SPREADS = 0.01

#: From this share of repeated values on, a sample is called limited by its clock.
MANY_TIES = 0.3

#: This many robust spreads above its median a run belongs to the tail,
FAR = 4.0

#: if it takes this many times the median, too.
SLOWER = 1.05

#: From this factor on an interval that dependence widens is a caveat, also where no test sees the dependence.
MUCH_WIDER = 1.2

#: The level of the test of two tails; it is exact, so fewer alarms are false.
TAIL_ALPHA = 0.05


def find_caveats(
    a: Sample,
    b: Sample,
    step: float | None,
    unit: str,
    effects: Effects,
    p_values: PValues,
    *,
    design: Design,
) -> list[str]:
    """One sentence for each thing that limits the comparison of these samples."""
    caveats = [effects.refusal] if effects.refusal else []
    for sample in (a, b):
        if sample.nulls:
            caveats.append(f"{sample.nulls} of {sample.name}'s values were null and dropped")
        if sample.left_out:
            caveats.append(f"the first {sample.left_out} of {sample.name}'s runs were left out on request")
        caveats += filter(None, [_describe_clock(sample, step, unit, effects.clock), describe_trend(sample)])
        caveats += filter(None, [_describe_first(sample, step, unit)])
    if p_values.levene is not None and p_values.levene < UNEQUAL_SPREADS:
        caveats.append(
            f"unequal spreads of {a.name} and {b.name} (Levene {format_p(p_values.levene)}): "
            "Cliff's delta supposes one shape, the ratio of the medians and the shift do not"
        )
    if (note := design.dependence.note) and (design.dependence.is_visible or design.dependence.factor >= MUCH_WIDER):
        what = "rounds" if design.is_rounds else "runs"
        seen = f"neighbouring {what} resemble each other; " if design.dependence.is_visible else ""
        caveats.append(f"dependence: {seen}intervals {note}")
    if not design.is_rounds and (tail := _describe_tail(a, b, step)):
        caveats.append(tail)
    return [*caveats, *filter(None, [describe_blocks(a, b)])]


def _describe_tail(a: Sample, b: Sample, step: float | None) -> str:
    """A sentence where one sample has more runs far above its median than the other (Fisher's exact test)."""
    slow = []
    for sample in (a, b):
        middle = median(sample.values)
        edge = middle + FAR * max(robust_spread(a.values, step), robust_spread(b.values, step))
        slow.append(sum(value > max(edge, middle * SLOWER) for value in sample.values))
    sizes = len(a.values), len(b.values)
    table = [[count, size - count] for count, size in zip(slow, sizes, strict=True)]
    p = float(require("scipy.stats").fisher_exact(table).pvalue)
    if p >= TAIL_ALPHA:
        return ""
    counts = " and ".join(
        f"{count} of {size} runs of {sample.name}" for count, size, sample in zip(slow, sizes, (a, b), strict=True)
    )
    return f"tail: {counts} lie far above their median ({format_p(p)}); medians do not show it"


def _describe_clock(sample: Sample, step: float | None, unit: str, clock: str) -> str:
    repeated, deviation = repeated_share(sample.values), median_deviation(sample.values)
    if len(sample.values) < 2 or (repeated <= MANY_TIES and deviation > 0):
        return ""
    against = "of unknown step" if step is None else f"of step {step:g} {unit}"
    what = "half of the runs read one value" if deviation == 0 else f"{repeated:.0%} of the runs repeat a value"
    treated = f"; {'in the intervals' if clock.startswith('ties') else 'intervals'} {clock}" if clock else ""
    return f"resolution-limited: {what} in {sample.name} (clock {against}){treated}"


def _describe_first(sample: Sample, step: float | None, unit: str) -> str:
    found = first_run(sample.values, name=sample.name, unit=unit, resolution=step)
    if found.kind not in ("cold_first", "warm_up"):
        return ""
    return f"first run: {found.name} begins {found.ratio:.2f}x slower than it ends; drop_first leaves first runs out"


@dataclass(frozen=True, slots=True)
class ManyComparison(Shown):
    """Every pair of three or more samples, with one test of them all.

    Attributes:
        names: The samples in their order.
        h: Kruskal and Wallis' statistic; None where all values are equal.
        p_kruskal: Its p value (chi-squared approximation, ties corrected).
        pairs: The comparison of each pair; the verdict uses the corrected p value.
        p_holm: The corrected p value of each pair.
    """

    names: tuple[str, ...]
    h: float | None
    p_kruskal: float
    pairs: tuple[Comparison, ...]
    p_holm: tuple[float, ...]

    def __str__(self) -> str:
        """A paragraph: the test of all, then one sentence a pair."""
        lines = [f"{len(self.names)} samples ({', '.join(self.names)}): Kruskal-Wallis {format_p(self.p_kruskal)}."]
        for pair, p in zip(self.pairs, self.p_holm, strict=True):
            a, b = pair.names
            lines.append(
                f"Of {a} and {b}, {describe_time(b, a, pair.pct_less_time)} (ratio "
                f"{b}/{a} {format_estimate(pair.ratio)}, speed-up {a}/{b} "
                f"{format_estimate(pair.speedup, 'x')}, Holm {format_p(p)}): "
                f"{describe_verdict(pair.verdict, a, b, pair.threshold)} - {pair.reason}."
            )
        caveats = dict.fromkeys(caveat for pair in self.pairs for caveat in pair.caveats)
        lines += [f"Caveat: {caveat}." for caveat in caveats]
        lines.append("Intervals 95 %, each for its pair alone; the p values are corrected for the number of pairs.")
        settings = dict.fromkeys(pair.describe_setting() for pair in self.pairs)
        lines += [f"{setting[0].upper()}{setting[1:]}" for setting in settings]
        return " ".join(lines)

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: a, b, then as of `Comparison.to_frame`; a and b are null for the test of all."""
        parts = [
            pl.concat(
                [
                    pair.to_frame(),
                    make_frame([("p_holm", p, None, None, "p", f"corrected for {len(self.pairs)} pairs")]),
                ]
            ).select(pl.lit(pair.names[0]).alias("a"), pl.lit(pair.names[1]).alias("b"), pl.all())
            for pair, p in zip(self.pairs, self.p_holm, strict=True)
        ]
        no_name = pl.lit(None, pl.String)
        whole = make_frame([("p_kruskal", self.p_kruskal, None, None, "p", "all samples")])
        return pl.concat([whole.select(no_name.alias("a"), no_name.alias("b"), pl.all()), *parts])
