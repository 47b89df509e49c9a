"""Pairs: the same list of statements timed twice, compared statement by statement.

A changed plan is a result: the pair stays in, and is named.  A set gets no verdict that hides one of its members: where
pairs moved against it by a quarter and more, it is undecided, and they are named.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from statistics import fmean, stdev

import polars as pl

from iolab.metrics.formatting import format_number
from iolab.stats.intervals import (
    CONFIDENCE,
    MIN_RUNS,
    Estimate,
    Limits,
    pseudo_median,
    pseudo_median_interval,
    ratio_bounds,
    why_few,
)
from iolab.stats.ranks import exact_signed_rank_p
from iolab.stats.samples import Runs, SampleError, check_resolution, check_threshold, check_units, read_times
from iolab.stats.verdict import (
    Compared,
    Outcome,
    Row,
    Verdict,
    decide,
    describe_conditions,
    describe_verdict,
    format_estimate,
    format_p,
    make_frame,
    make_row,
    read_conditions,
)
from logframe.extras import require
from logframe.interval import Interval
from logframe.wording import counted

#: A clock step that is a larger share of a time than this makes the ratio of the pair a matter of rounding.
COARSE_STEP = 0.05

#: A pair whose time changed by this factor or more is not hidden by a verdict on the set.
MOVED = 1.25

#: A pair with this share of the time must be within the threshold where a set is called equivalent.
HEAVY = 0.05

#: From this share of such pairs on they alone can move the pseudo-median anywhere, so its interval is widened.
#:
#: Source: Hodges, Efficiency in normal samples and tolerance of extreme values for some estimates of location (1967).
BREAKDOWN = 1 - math.sqrt(0.5)

_PLAN = "plan hash"
_UNCHECKED = {_PLAN: "a change of plan is not seen", "row count": "they may be different work"}
_MOST_NAMED = 3

Facts = tuple[Sequence[object], Sequence[object]]


@dataclass(frozen=True, slots=True)
class PairedComparison(Compared):
    """Two runs of the same statements, compared pair by pair.

    The ratio is the pseudo-median of the ratios B / A (Hodges-Lehmann on their logarithms).  Of the conditions, plan
    hash and row count are those that were compared in every pair.

    Attributes:
        n: How many pairs were compared.
        excluded: The label of each pair left out, and why.
        geometric_mean: The geometric mean of the ratios B / A, with Student's interval on the logarithms.
        totals: The sum of the times of each run.
        plan_changed: The labels of the pairs with another plan.
        faster: How many pairs got faster from A to B.
        slower: How many got slower.
        extremes: The label and the ratio B / A of the pair that fell most and of the one that rose most.
        p_wilcoxon: Wilcoxon's signed-rank test on the logarithms of the ratios, two-sided.
        threshold: The smallest relative difference that matters.
        verdict: Of the set: B is ``faster`` or ``slower``; ``equivalent``, ``different, size unknown``, ``undecided``.
        caveats: What limits the comparison.
        resolution: The clock's step, where it was given.
    """

    n: int
    excluded: tuple[tuple[str, str], ...]
    geometric_mean: Estimate
    totals: tuple[float, float]
    plan_changed: tuple[str, ...]
    faster: int
    slower: int
    extremes: tuple[tuple[str, float], tuple[str, float]]
    p_wilcoxon: float
    threshold: float
    verdict: Outcome
    caveats: tuple[str, ...]
    resolution: float | None

    def __str__(self) -> str:
        """A paragraph to paste."""
        a, b = self.names
        (low, low_ratio), (high, high_ratio) = self.extremes
        lines = [
            f"{a} (A) against {b} (B), {counted(self.n, 'pair')}: {self.effect}.",
            f"Geometric mean of the ratios {b}/{a} {format_estimate(self.geometric_mean)};",
            f"total {format_number(self.totals[0])} {self.unit} against {format_number(self.totals[1])} {self.unit};",
            f"{self.faster} pairs faster, {self.slower} slower,",
            f"from {low_ratio:.3g} ({low}) to {high_ratio:.3g} ({high}).",
            f"Wilcoxon signed-rank {format_p(self.p_wilcoxon)}.",
            f"Verdict: {describe_verdict(self.verdict, a, b, self.threshold)} - {self.reason}.",
            *(f"Caveat: {caveat}." for caveat in self.caveats),
        ]
        if self.plan_changed:
            lines.append(f"Plan changed: {'; '.join(self.plan_changed)}.")
        if self.excluded:
            lines.append(f"Left out: {'; '.join(f'{label} ({why})' for label, why in self.excluded)}.")
        clock = "clock step not stated" if self.resolution is None else f"clock step {self.resolution:g} {self.unit}"
        lines.append(f"Intervals 95 %; {clock}; outliers kept.")
        lines.append(describe_conditions(self.conditions, missing=("run order",)))
        return " ".join(lines)

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: metric, value, ci_lo, ci_hi, unit, basis; excluded pairs and caveats have no value."""
        a, b = self.names
        rows: list[Row] = [
            ("pairs", float(self.n), None, None, "pairs", f"{len(self.excluded)} left out"),
            *self.effect_rows(),
            make_row(f"geometric mean {b}/{a}", self.geometric_mean, "x"),
            *(
                (f"total {name}", total, None, None, self.unit, "of all pairs")
                for name, total in zip((a, b), self.totals, strict=True)
            ),
            (f"least {b}/{a}", self.extremes[0][1], None, None, "x", self.extremes[0][0]),
            (f"most {b}/{a}", self.extremes[1][1], None, None, "x", self.extremes[1][0]),
            ("p_wilcoxon", self.p_wilcoxon, None, None, "p", "signed ranks of the logarithms of the ratios"),
            ("threshold", 100 * self.threshold, None, None, "%", f"{self.verdict}: {self.reason}"),
        ]
        rows += [("plan changed", None, None, None, "", label) for label in self.plan_changed]
        rows += [("left out", None, None, None, "", f"{label}: {why}") for label, why in self.excluded]
        rows += [("caveat", None, None, None, "", caveat) for caveat in self.caveats]
        return make_frame(rows)


def compare_paired(  # noqa: PLR0913 - the options are keywords, and each has a default
    a: Runs,
    b: Runs,
    *,
    names: tuple[str, str] = ("A", "B"),
    labels: Sequence[str] | None = None,
    plan_hashes: Facts | None = None,
    row_counts: Facts | None = None,
    unit: str = "s",
    resolution: float | None = None,
    threshold: float = 0.02,
    conditions: Mapping[str, str] | None = None,
) -> PairedComparison:
    """Two runs of the same statements, compared pair by pair on the ratio B / A.

    A pair whose row count differs between the runs compares different work: it is left out, and named.  A pair with
    another plan stays in, and is named.  A pair whose hash or count is missing stays in and is counted in a caveat.
    Where pairs moved against the verdict by a quarter or more the set is undecided.

    An interval needs 6 pairs. Where 29 % of the pairs or more are shorter than 20 steps of the clock, it is widened by
    what their rounding allows.

    Args:
        a: The times of the statements in the first run.
        b: The times in the second run, in the same order.
        names: What the two runs are called.
        labels: What the pairs are called; numbers from 1 where they are not given.
        plan_hashes: The plan hash of each statement in the first and in the second run.
        row_counts: The rows returned by each statement in the first and in the second run.
        unit: The unit of the times.
        resolution: The clock's step; pairs shorter than 20 steps are counted in a caveat.
        threshold: The smallest relative difference that matters.
        conditions: What is known of the runs, by the names in `CONDITIONS`; the text lists those that are missing.

    Raises:
        SampleError: If a time is not a finite number above zero or is below the resolution, the lengths differ, no
            pair is left, or an option is out of its range.

    Examples:
        >>> result = compare_paired([10, 20, 30], [5, 10, 15], plan_hashes=([1, 2, 3], [1, 2, 4]),
        ...                         row_counts=([1, 1, 1], [1, 2, 1]))
        >>> result.n, result.plan_changed, result.excluded, result.ratio.value
        (2, ('3',), (('2', 'row count 1 against 2'),), 0.5)
    """
    check_threshold(threshold)
    check_units(a, b, names)
    times_a, times_b = read_times(a, names[0], unit), read_times(b, names[1], unit)
    check_resolution(resolution, [time for time in (*times_a, *times_b) if time is not None])
    size = len(times_a)
    shown = [str(place) for place in range(1, size + 1)] if labels is None else [str(label) for label in labels]
    guards = {_PLAN: plan_hashes, "row count": row_counts}
    sizes = {len(times_b), len(shown), *(len(side) for facts in guards.values() if facts for side in facts)}
    if sizes != {size}:
        raise SampleError(f"pairs need lists of one length; {names[0]} has {size}, others {sorted(sizes - {size})}")
    pairs: list[tuple[str, float, float]] = []
    excluded: list[tuple[str, str]] = []
    unchecked = dict.fromkeys(guards, 0)
    plan_changed: list[str] = []
    for place, (label, time_a, time_b) in enumerate(zip(shown, times_a, times_b, strict=True)):
        if time_a is None or time_b is None:
            excluded.append((label, "no time in both runs"))
            continue
        reasons = []
        for guard, facts in guards.items():
            before, after = (None, None) if facts is None else (facts[0][place], facts[1][place])
            if before is None or after is None:
                unchecked[guard] += 1
            elif before != after and guard == _PLAN:
                plan_changed.append(f"{label} ({before} against {after})" if labels else label)
            elif before != after:
                reasons.append(f"{guard} {before} against {after}")
        if reasons:
            excluded.append((label, ", ".join(reasons)))
        else:
            pairs.append((label, time_a, time_b))
    if not pairs:
        raise SampleError(f"no pair is left of {size}: " + "; ".join(f"{label}: {why}" for label, why in excluded))
    checked = {guard: "equal in every pair" for guard, count in unchecked.items() if not count}
    if plan_changed:
        checked[_PLAN] = f"changed in {len(plan_changed)} of {counted(size, 'pair')}"
    logs = [_log_ratio(time_a, time_b) for _, time_a, time_b in pairs]
    found = measure_pairs(logs, [(time_a, time_b) for _, time_a, time_b in pairs], resolution)
    ratio, p = found.ratio, found.p
    verdict = _of_all(decide(ratio, p, threshold, refusal=found.refusal), logs, pairs, math.log(1 + threshold))
    ranked = sorted(zip(logs, (label for label, _, _ in pairs), strict=True))
    return PairedComparison(
        names=names,
        unit=unit,
        n=len(pairs),
        excluded=tuple(excluded),
        ratio=ratio,
        geometric_mean=_geometric_mean(logs),
        totals=(sum(time_a for _, time_a, _ in pairs), sum(time_b for _, _, time_b in pairs)),
        plan_changed=tuple(plan_changed),
        faster=sum(log < 0 for log in logs),
        slower=sum(log > 0 for log in logs),
        extremes=((ranked[0][1], math.exp(ranked[0][0])), (ranked[-1][1], math.exp(ranked[-1][0]))),
        p_wilcoxon=p,
        threshold=threshold,
        verdict=verdict.outcome,
        reason=verdict.reason,
        caveats=tuple(_find_caveats(pairs, unchecked, excluded, resolution, unit)),
        conditions=read_conditions(checked | dict(conditions or {})),
        resolution=resolution,
    )


def _of_all(
    verdict: Verdict, logs: Sequence[float], pairs: Sequence[tuple[str, float, float]], threshold: float
) -> Verdict:
    """The verdict on a set, unless pairs moved against it: those it must not hide.

    A set is equivalent only if its totals are, and each pair that holds 5 % of the time.
    """
    moved = math.log(MOVED)
    labels, totals = [label for label, _, _ in pairs], (sum(a for _, a, _ in pairs), sum(b for _, _, b in pairs))
    heavy = [max(a / totals[0], b / totals[1]) >= HEAVY if all(totals) else False for _, a, b in pairs]
    against = {
        "faster": [log > moved for log in logs],
        "slower": [log < -moved for log in logs],
        "equivalent": [abs(log) > (threshold if large else moved) for log, large in zip(logs, heavy, strict=True)],
    }.get(verdict.outcome, [])
    if not any(against):
        if verdict.outcome == "equivalent" and all(totals) and abs(math.log(totals[1] / totals[0])) > threshold:
            return Verdict("undecided", f"{verdict.reason}, but the totals differ: {totals[1] / totals[0]:.3g}x")
        return verdict
    named = sorted(((abs(log), log, label) for log, label, is_one in zip(logs, labels, against, strict=True) if is_one))
    listed = "; ".join(f"{label} ({math.exp(log):.3g}x)" for _, log, label in reversed(named[-_MOST_NAMED:]))
    hidden = f"{sum(against)} of {counted(len(logs), 'pair')}"
    return Verdict("undecided", f"{verdict.reason}, but that hides {hidden} that moved otherwise: {listed}")


def _geometric_mean(logs: Sequence[float]) -> Estimate:
    """The geometric mean of ratios with Student's interval on the logarithms; without one below 6 pairs."""
    centre = fmean(logs)
    basis = "geometric mean of the ratios; Student's interval on the logarithms"
    if len(logs) < MIN_RUNS:
        return Estimate(math.exp(centre), None, None, f"{basis}; no interval below {MIN_RUNS} pairs")
    limit = float(require("scipy.stats").t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1))
    half = limit * stdev(logs) / math.sqrt(len(logs))
    return Estimate(centre, centre - half, centre + half, basis).mapped(math.exp)


@dataclass(frozen=True, slots=True)
class PairedRatio:
    """The ratio B / A of pairs, the p value of no difference, and why there is no interval."""

    ratio: Estimate
    p: float
    refusal: str


def measure_pairs(logs: Sequence[float], pairs: Sequence[tuple[float, float]], resolution: float | None) -> PairedRatio:
    """The pseudo-median of the ratios of pairs with its rank interval, and the signed-rank test.

    Args:
        logs: The logarithm of B / A of each pair.
        pairs: The times of A and B.
        resolution: The clock's step; where many pairs are short, the interval is widened by it.
    """
    centre = pseudo_median(logs)
    bounds = pseudo_median_interval(logs)
    basis = "Hodges-Lehmann on the logarithms of the ratios; Tukey's rank interval"
    refusal = ""
    if bounds is None:
        refusal = f"no interval: {counted(len(pairs), 'pair')}, {why_few(len(pairs))}"
        basis = f"{basis}; {refusal}"
    elif resolution is not None and (widened := _widened(pairs, resolution)) is not None:
        bounds = widened
        basis = f"{basis}; widened by the clock's step {resolution:g}, so more than 95 %"
    return PairedRatio(Estimate.within(centre, bounds, basis).mapped(math.exp), _signed_rank_p(logs), refusal)


def _is_short(time_a: float, time_b: float, resolution: float) -> bool:
    return min(time_a, time_b) * COARSE_STEP < resolution


def _widened(pairs: Sequence[tuple[float, float]], resolution: float) -> Limits | None:
    """The interval of the logarithms if every time is as far from its reading as the clock allows; None if few are."""
    short = sum(_is_short(time_a, time_b, resolution) for time_a, time_b in pairs)
    if short < BREAKDOWN * len(pairs):
        return None
    ends = [ratio_bounds(time_a, time_b, resolution) for time_a, time_b in pairs]
    lowest, highest = (pseudo_median_interval([math.log(end[side]) for end in ends]) for side in (0, 1))
    return None if lowest is None or highest is None else (lowest[0], highest[1])


def _log_ratio(time_a: float, time_b: float) -> float:
    """The logarithm of B / A, exactly the opposite where A and B are swapped: signed ranks have no ties by rounding."""
    return math.log(time_b / time_a) if time_b >= time_a else -math.log(time_a / time_b)


def _signed_rank_p(logs: Sequence[float]) -> float:
    moved = [log for log in logs if log != 0]
    if not moved:
        return 1.0
    exact = exact_signed_rank_p(moved)
    return float(require("scipy.stats").wilcoxon(moved, method="asymptotic").pvalue) if exact is None else exact


def _find_caveats(
    pairs: Sequence[tuple[str, float, float]],
    unchecked: dict[str, int],
    excluded: Sequence[tuple[str, str]],
    resolution: float | None,
    unit: str,
) -> list[str]:
    caveats = ["one time a statement and run: the spread of repeated runs is not known"]
    size = len(pairs) + sum(why != "no time in both runs" for _, why in excluded)
    caveats += [
        f"{guard} not compared in {count} of {size} pairs: {_UNCHECKED[guard]}"
        for guard, count in unchecked.items()
        if count
    ]
    if resolution is not None:
        short = sum(_is_short(time_a, time_b, resolution) for _, time_a, time_b in pairs)
        if short:
            caveats.append(
                f"resolution-limited: in {short} of {len(pairs)} pairs the clock's step ({resolution:g} {unit}) "
                f"is more than {COARSE_STEP:.0%} of a time"
            )
    return caveats


NO_TEST = (
    "no test and no confidence interval are possible: a median does not describe the spread of the runs; "
    "the bounds are those of the printed digits alone"
)


@dataclass(frozen=True, slots=True)
class MedianComparison(Compared):
    """Two published medians compared.

    The limits of the ratio are what rounding allows, not a confidence interval.

    Attributes:
        n: How many runs the source says each median is of, or None.
        medians: The medians with the bounds of their rounding.
        difference: median A - median B.
        claimed: What the source says of significance, as its claim.
    """

    n: tuple[int | None, int | None]
    medians: tuple[Estimate, Estimate]
    difference: Estimate
    claimed: str

    def __str__(self) -> str:
        """A paragraph: the effect in all three directions, and why it cannot be tested."""
        a, b = self.names
        runs = "" if self.n == (None, None) else f" ({self.n[0]} and {self.n[1]} runs by the source)"
        claim = f" The source claims: {self.claimed}." if self.claimed else ""
        verdict = f"Verdict: none - {self.reason}.{claim}"
        setting = describe_conditions(self.conditions, missing=("run order", "outliers kept or dropped"))
        return (
            f"{a} (A) against {b} (B), published medians{runs}: {format_estimate(self.medians[0], self.unit)} against "
            f"{format_estimate(self.medians[1], self.unit)}. The effect: {self.effect}; "
            f"difference {a} - {b} {format_estimate(self.difference, self.unit)}. {verdict} {setting}"
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: metric, value, lo, hi, unit, basis; lo and hi are the bounds of the rounding."""
        a, b = self.names
        return make_frame(
            [
                make_row(f"median {a}", self.medians[0], self.unit),
                make_row(f"median {b}", self.medians[1], self.unit),
                *self.effect_rows(),
                make_row(f"difference {a}-{b}", self.difference, self.unit),
            ],
            is_rounding=True,
        )


def _read_median(printed: str | float, resolution: float | None, name: str) -> Interval:
    """The median with the bounds of its last printed digit."""
    try:
        number = Decimal(str(printed).strip())
        value = float(number)
    except (InvalidOperation, ValueError):
        raise SampleError(f"{name}: the median is not a number: {printed!r}") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or not 0 < value < math.inf:
        raise SampleError(f"{name}: the median is {printed}; a time must be a finite number above zero")
    # A number that came as a float has lost its trailing zeros, so its digits do not describe its rounding.
    step = resolution or (10.0**exponent if isinstance(printed, str) else 0.0)
    return Interval(value, value - step / 2, value + step / 2)


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
    a, b = (_read_median(one, resolution, name) for one, name in zip((median_a, median_b), names, strict=True))
    if a.lo <= 0 or b.lo <= 0:
        raise SampleError("a median is not larger than half of its last digit: its ratio has no bounds")
    is_rounded = not (a.is_exact or b.is_exact)
    basis = "bounds of the printed digits" if is_rounded else "rounding not known"

    def bounded(figure: Interval) -> Estimate:
        lo, hi = (figure.lo, figure.hi) if is_rounded else (None, None)
        return Estimate(figure.value, lo, hi, basis, is_rounding=True)

    return MedianComparison(
        names=names,
        unit=unit,
        n=n,
        medians=(bounded(a), bounded(b)),
        ratio=bounded(b / a),
        difference=bounded(a - b),
        claimed=claimed,
        reason=NO_TEST,
        conditions=read_conditions(conditions),
    )
