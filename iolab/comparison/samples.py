"""Comparisons that hold: two samples of run times, many, pairs, or published medians.

    from iolab.comparison import compare
    print(compare(buffered, direct, names=("buffered", "direct")))

What comes first is the effect with its interval; the tests are listed beside it. The verdict is against a practical
threshold: B is `faster` or `slower`, they are `equivalent`, `different, size unknown` or `undecided`. What the numbers
cannot support is refused, with the reason.

The design is taken from the run order: runs made in turns, in blocks or A-B-B-A are compared within their rounds
(`iolab.stats.order`), all others as two samples.  Runs that depend on their neighbours widen the intervals
(`iolab.stats.order`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike
from statistics import fmean, stdev
from typing import IO, TYPE_CHECKING, Literal, cast, overload

from iolab.comparison.result import Options, Pairing
from iolab.sources import is_one
from iolab.stats.comparison import SLOW, Comparison, Design, Effects, ManyComparison, find_caveats, measure_effects
from iolab.stats.intervals import (
    Estimate,
    means_interval,
    pseudo_median,
    pseudo_median_interval,
    quantile_interval,
)
from iolab.stats.order import (
    Dependence,
    Rounds,
    drift_between,
    find_rounds,
    measure_dependence,
    residual_dependence,
    share_places,
    takes_rounds,
    widen,
    widen_p,
)
from iolab.stats.pairs import measure_pairs
from iolab.stats.ranks import holm, run_tests
from iolab.stats.samples import (
    NORMAL_MAD,
    Runs,
    Sample,
    SampleError,
    check_resolution,
    check_threshold,
    check_units,
    clock_step,
    median_deviation,
    read_sample,
    robust_spread,
)
from iolab.stats.verdict import read_conditions, runs_needed
from logframe.extras import require
from logframe.formats import ParsedLog
from logframe.wording import counted

if TYPE_CHECKING:
    from logframe import Source

#: What stands for a log, as annotations say it.
_LogLike = ParsedLog | str | PathLike[str] | bytes | IO[bytes]
#: One or two runs apart from all others are no difference: they may be outliers.
MIN_SEPARATED = 3


@overload
def compare(
    a: _LogLike,
    b: _LogLike,
    *,
    names: tuple[str, str] = ("A", "B"),
    threshold: float = 0.02,
    design: Literal["auto", "rounds", "samples"] = "auto",
) -> Pairing: ...
@overload
def compare(
    a: Runs,
    b: Runs,
    *,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "s",
    resolution: float | None = None,
    threshold: float = 0.02,
    order_a: Sequence[float] | None = None,
    order_b: Sequence[float] | None = None,
    design: Literal["auto", "rounds", "samples"] = "auto",
    drop_first: int = 0,
    conditions: Mapping[str, str] | None = None,
    means: tuple[float, float] | None = None,
) -> Comparison: ...
def compare(  # noqa: PLR0913 - the options are keywords, and each has a default
    a: Runs | _LogLike,
    b: Runs | _LogLike,
    *,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "s",
    resolution: float | None = None,
    threshold: float = 0.02,
    order_a: Sequence[float] | None = None,
    order_b: Sequence[float] | None = None,
    design: Literal["auto", "rounds", "samples"] = "auto",
    drop_first: int = 0,
    conditions: Mapping[str, str] | None = None,
    means: tuple[float, float] | None = None,
) -> Comparison | Pairing:
    """Two samples of run times compared, or two logs.

    Args:
        a: The times of A in run order: numbers, or a Polars Series of numbers or durations. Nulls are dropped and
            counted.  Or a log, as `iolab.load` gives or takes it: then the result is that of
            `iolab.comparison.pair`, and only the threshold and the design are used of the options.
        b: The times of B, or the other log.
        names: What A and B are called in the text.
        unit: The unit of the times; durations are read in it.
        resolution: The clock's step, such as 0.01 for SQL*Plus timing; taken from the values where it is not given.
        threshold: The smallest relative difference that matters.
        order_a: One number a value: the place of each run of A in the order of all runs, of B too.
        order_b: The same for B.
        design: ``rounds`` compares within rounds, ``samples`` as two samples; ``auto`` takes what the order shows:
            rounds where 6 and half as many as runs are seen.  ``rounds`` without an order pairs run by run.
        drop_first: How many first runs of each sample to leave out; the text says so.
        conditions: What is known of the runs, by the names in `CONDITIONS`; the text lists those that are missing.
        means: Of A and B, where the values are medians of batches; by default those of the values.

    Intervals need 6 runs in each sample. How well each covers was measured, see `iolab.stats.intervals`.

    Raises:
        SampleError: If a value is not a finite number above zero, or is below the resolution; if a sample is empty,
            the orders do not fit, a condition is not known, an option is out of its range, or rounds are asked for
            and the order shows fewer than 6.

    Examples:
        >>> result = compare([9.16, 9.17, 9.28, 9.18, 9.20], [19.23, 19.28, 19.35, 19.43], names=("Linux", "HP-UX"))
        >>> result.verdict, round(result.ratio.value, 4), result.ratio.lo
        ('different, size unknown', 2.104, None)
        >>> result.reason
        'a difference is there (p = 0.016); no interval: 4 runs in the smaller sample, whose range holds the median of
        all runs in only 87.5 % of samples; a 95 % interval needs 6 in each; it supposes that runs do
        not depend on their neighbours, which this few do not show'
    """
    if is_one(a) or is_one(b):
        if not (is_one(a) and is_one(b)):
            raise SampleError("a log compares with a log, a sample of run times with another sample")
        from iolab.comparison.matching import pair  # noqa: PLC0415 - loaded for those who compare logs

        options = Options.checked(threshold, design, "unknown")
        return pair(cast("Source", a), cast("Source", b), names=names, options=options)
    a, b = cast("Runs", a), cast("Runs", b)
    check_threshold(threshold)
    check_resolution(resolution)
    stated = read_conditions(conditions)
    check_units(a, b, names)
    sample_a = read_sample(a, names[0], unit=unit, order=order_a, drop_first=drop_first)
    sample_b = read_sample(b, names[1], unit=unit, order=order_b, drop_first=drop_first)
    if share_places(sample_a, sample_b):
        raise SampleError("two runs of different samples have the same place in the run order")
    x, y = sample_a.values, sample_b.values
    check_resolution(resolution, (*x, *y))
    step = clock_step([*x, *y]) if resolution is None else resolution
    dependence = measure_dependence(x, y)
    rounds = _choose(sample_a, sample_b, design, dependence)
    effects = measure_effects(x, y, step=step)
    p_values = run_tests(x, y)
    if rounds is None:
        found = _as_samples(sample_a, sample_b, effects, p_values.p, step, threshold, dependence)
    else:
        found = _within_rounds(rounds, resolution if resolution is not None else step, threshold)
    averages = (fmean(x), fmean(y)) if means is None else means
    of_means = means_interval(x, y, dependence.factor)
    if means is not None or rounds is not None:
        of_means = Estimate(averages[1] / averages[0], None, None, "ratio of the means")
    verdict = found.decide(found.p if found.units >= MIN_SEPARATED else None, threshold, of_means)
    gap = max(min(x) - max(y), min(y) - max(x))
    superiority = widen(effects.superiority, dependence).mapped(lambda share: min(max(share, 0.0), 1.0))
    return Comparison(
        names=names,
        unit=unit,
        n=(len(x), len(y)),
        nulls=(sample_a.nulls, sample_b.nulls),
        left_out=(sample_a.left_out, sample_b.left_out),
        resolution=step,
        medians=(
            widen(effects.medians[0], dependence, is_positive=True),
            widen(effects.medians[1], dependence, is_positive=True),
        ),
        spreads=(robust_spread(x, step), robust_spread(y, step)),
        means=averages,
        of_means=of_means,
        slow=(quantile_interval(x, SLOW), quantile_interval(y, SLOW)),
        deviations=(_deviation(x), _deviation(y)),
        design=found,
        ratio=found.ratio,
        shift=found.shift,
        prob_a_greater=superiority,
        cliffs_delta=superiority.mapped(lambda share: 2 * share - 1),
        gap=gap if gap > 0 else None,
        p_values=p_values,
        threshold=threshold,
        verdict=verdict.outcome,
        reason=verdict.reason,
        caveats=tuple(find_caveats(sample_a, sample_b, step, unit, effects, p_values, design=found)),
        conditions=stated,
        is_ordered=sample_a.order is not None and sample_b.order is not None,
        is_resolution_given=resolution is not None,
    )


def _choose(a: Sample, b: Sample, design: str, dependence: Dependence) -> Rounds | None:
    """The rounds to compare within, or None for two samples."""
    if design == "samples":
        return None
    if design == "rounds" and a.order is None and b.order is None:
        if len(a.values) != len(b.values):
            raise SampleError(f"rounds need one run of each sample: {len(a.values)} against {len(b.values)} runs")
        pairs = tuple(zip(a.values, b.values, strict=True))
        places = tuple((float(place), float(place)) for place in range(len(pairs)))
        return Rounds(pairs, places, (0.0,) * len(pairs), "paired by their numbers")
    rounds = find_rounds(a, b)
    if design == "rounds" and rounds is None:
        raise SampleError("the run order shows fewer than 6 rounds")
    runs = min(len(a.values), len(b.values))
    is_taken = design == "rounds" or takes_rounds(rounds, runs, is_dependent=dependence.factor > 1)
    return rounds if is_taken else None


def _as_samples(
    a: Sample, b: Sample, effects: Effects, p: float, step: float | None, threshold: float, dependence: Dependence
) -> Design:
    if drift := drift_between(a, b):
        dependence = replace(dependence, refusal=drift)
    sizes = len(a.values), len(b.values)
    parts = [
        (robust_spread(sample.values, step) / middle.value) ** 2 / len(sample.values)
        for sample, middle in zip((a, b), effects.medians, strict=True)
    ]
    # The median of n normal values has sqrt(pi / 2) times the standard error of their mean.
    error = math.sqrt(math.pi / 2 * sum(parts)) * dependence.factor
    return Design(
        name="two samples",
        units=min(sizes),
        ratio=widen(effects.ratio, dependence, is_positive=True),
        shift=widen(effects.shift, dependence),
        p=widen_p(p, dependence),
        dependence=dependence,
        refusal=effects.refusal,
        needed=runs_needed(effects.ratio.value, error, min(sizes), threshold) if min(sizes) > 2 else None,
    )


def _within_rounds(rounds: Rounds, resolution: float | None, threshold: float) -> Design:
    logs, shifts = rounds.log_ratios(), rounds.shifts()
    dependence = residual_dependence(logs)
    found = measure_pairs(logs, rounds.pairs, resolution)
    how = "Hodges-Lehmann within rounds; Tukey's rank interval"
    shift = Estimate.within(pseudo_median(shifts), pseudo_median_interval(shifts), how)
    # The pseudo-median has sqrt(pi / 3) times the standard error of the mean of normal values.
    error = NORMAL_MAD * median_deviation(logs) * math.sqrt(math.pi / 3 / len(logs)) * dependence.factor
    return Design(
        name=f"{len(logs)} rounds ({rounds.pattern})",
        units=len(logs),
        ratio=widen(found.ratio, dependence, is_positive=True),
        shift=widen(shift, dependence),
        # Of few rounds the signed ranks have few values: a corrected score of the smallest would have no meaning.
        p=found.p,
        dependence=dependence,
        refusal=found.refusal,
        needed=runs_needed(found.ratio.value, error, len(logs), threshold),
        is_rounds=True,
    )


def compare_many(
    samples: Mapping[str, Runs],
    *,
    unit: str = "s",
    resolution: float | None = None,
    threshold: float = 0.02,
    orders: Mapping[str, Sequence[float]] | None = None,
    drop_first: int = 0,
    conditions: Mapping[str, str] | None = None,
) -> ManyComparison:
    """Two or more samples: one test of them all, then every pair with p values corrected for their number.

    The first test is Kruskal and Wallis' of equal distributions. The pairs are those of `compare`, in the order of
    the mapping, and their p values are corrected by Holm's method; a pair is `different` only if its corrected
    p value is below 5 %. The intervals are those of each pair alone.

    Args:
        samples: The samples by name.
        unit: See `compare`.
        resolution: See `compare`.
        threshold: See `compare`.
        orders: The places of the runs of each sample in the order of all runs, by name.
        drop_first: See `compare`.
        conditions: See `compare`.

    Raises:
        SampleError: If there are fewer than two samples, or for the reasons of `compare`.

    Examples:
        >>> result = compare_many({"NONE": [7, 8, 9, 7.5, 8.5, 7.7], "ASYNCH": [7.1, 8.1, 9.1, 7.6, 8.6, 7.8],
        ...                        "SETALL": [17, 18, 19, 17.5, 18.5, 17.7]})
        >>> [(pair.names, pair.verdict) for pair in result.pairs][1]
        (('NONE', 'SETALL'), 'slower')
    """
    if len(samples) < 2:
        raise SampleError(f"{counted(len(samples), 'sample')}: a comparison needs two")
    places = orders or {}
    pairs = [
        compare(
            samples[a],
            samples[b],
            names=(a, b),
            unit=unit,
            resolution=resolution,
            threshold=threshold,
            order_a=places.get(a),
            order_b=places.get(b),
            drop_first=drop_first,
            conditions=conditions,
        )
        for a, b in combinations(samples, 2)
    ]
    values = [
        read_sample(runs, name, unit=unit, order=places.get(name), drop_first=drop_first).values
        for name, runs in samples.items()
    ]
    same = len({value for sample in values for value in sample}) == 1
    kruskal = None if same else require("scipy.stats").kruskal(*values)
    corrected = holm([pair.design.p for pair in pairs])
    verdicts = [pair.design.decide(p, threshold, pair.of_means) for pair, p in zip(pairs, corrected, strict=True)]
    return ManyComparison(
        names=tuple(samples),
        h=None if kruskal is None else float(kruskal.statistic),
        p_kruskal=1.0 if kruskal is None else float(kruskal.pvalue),
        pairs=tuple(
            replace(pair, verdict=verdict.outcome, reason=verdict.reason)
            for pair, verdict in zip(pairs, verdicts, strict=True)
        ),
        p_holm=tuple(corrected),
    )


def _deviation(values: Sequence[float]) -> float | None:
    return stdev(values) if len(values) > 1 else None
