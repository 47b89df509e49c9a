"""What holds for every pair of samples: units, names and run order change nothing but themselves."""

import math
from statistics import fmean

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iolab.comparison import Comparison, cache_level, compare, compare_many, compare_medians, compare_paired, first_run
from iolab.metrics.processors import layer_shares
from iolab.stats.first_runs import find_changes
from iolab.stats.intervals import Estimate, median_interval, superiority, superiority_interval
from iolab.stats.ranks import exact_rank_sum_p, holm
from iolab.stats.samples import spread_ties
from iolab.stats.verdict import decide

QUICK = settings(max_examples=25, deadline=None)

# Readings of a clock of 1 ms between 0.2 and 20 s: ties happen, and scaling cannot make new ones.
ticks = st.lists(st.integers(200, 20_000), min_size=6, max_size=20)
# Few ticks: every sample has ties, and some read half of their runs on one tick.
coarse_ticks = st.lists(st.integers(500, 506), min_size=6, max_size=20)
#: The verdict with the samples named the other way round.
MIRRORED = {"faster": "slower", "slower": "faster"}
factors = st.sampled_from([1000.0, 1e6, 1 / 60, 1 / 3600, 0.37, 2.0**-20])


def read(values: list[int], step: float) -> list[float]:
    """The times that a clock of this step shows as so many ticks."""
    return [value * step for value in values]


def run(a: list[int], b: list[int], step: float = 0.001, threshold: float = 0.02) -> Comparison:
    """The comparison of two lists of ticks, quickly."""
    return compare(read(a, step), read(b, step), resolution=step, threshold=threshold)


def close(one: Estimate, other: Estimate, factor: float = 1.0) -> bool:
    """Whether the second estimate is the first one times the factor, up to rounding."""
    pairs = [(one.value, other.value), (one.lo, other.lo), (one.hi, other.hi)]
    return all(
        (x is None and y is None)
        or (x is not None and y is not None and math.isclose(x * factor, y, rel_tol=1e-9, abs_tol=1e-9 * abs(factor)))
        for x, y in pairs
    )


def turned(estimate: Estimate) -> Estimate:
    """The estimate of 1 / value."""
    if estimate.lo is None or estimate.hi is None:
        return Estimate(1 / estimate.value, None, None, "")
    return Estimate(1 / estimate.value, 1 / estimate.hi, 1 / estimate.lo, "")


def negated(estimate: Estimate) -> Estimate:
    """The estimate of -value."""
    if estimate.lo is None or estimate.hi is None:
        return Estimate(-estimate.value, None, None, "")
    return Estimate(-estimate.value, -estimate.hi, -estimate.lo, "")


@QUICK
@given(a=ticks | coarse_ticks, b=ticks | coarse_ticks, factor=factors)
def test_scaling_the_unit_scales_the_results(a: list[int], b: list[int], factor: float) -> None:
    """Seconds or hours: times scale, ratios, shares, p values and the verdict stay."""
    one, other = run(a, b), run(a, b, step=0.001 * factor)

    assert all(close(x, y, factor) for x, y in zip(one.medians, other.medians, strict=True))
    assert close(one.shift, other.shift, factor)
    assert close(one.ratio, other.ratio)
    assert close(one.cliffs_delta, other.cliffs_delta)
    assert one.p_values.p == pytest.approx(other.p_values.p, abs=1e-9)
    assert one.verdict == other.verdict


@QUICK
@given(a=ticks | coarse_ticks, b=ticks | coarse_ticks)
def test_swapping_the_samples_mirrors_the_results(a: list[int], b: list[int]) -> None:
    """Ratios turn over, shift and delta change sign, the tests stay, and faster is slower."""
    one, other = run(a, b), run(b, a)

    assert close(turned(one.ratio), other.ratio)
    assert close(one.speedup, other.ratio)
    assert close(negated(one.shift), other.shift)
    assert close(negated(one.cliffs_delta), other.cliffs_delta)
    assert one.p_values.p == pytest.approx(other.p_values.p, abs=1e-9)
    assert (one.p_values.levene or 0) == pytest.approx(other.p_values.levene or 0, abs=1e-9)
    assert (MIRRORED.get(one.verdict, one.verdict), one.gap) == (other.verdict, other.gap)


@QUICK
@given(a=ticks | coarse_ticks, b=ticks | coarse_ticks)
def test_every_interval_contains_its_value(a: list[int], b: list[int]) -> None:
    """Whatever the ties."""
    result = run(a, b)

    for estimate in (
        *result.medians,
        result.ratio,
        result.speedup,
        result.pct_less_time,
        result.shift,
        result.cliffs_delta,
    ):
        assert estimate.lo is not None
        assert estimate.hi is not None
        assert estimate.lo <= estimate.value <= estimate.hi


@QUICK
@given(a=ticks, b=ticks, data=st.data())
def test_the_run_order_changes_only_what_is_said_of_it(a: list[int], b: list[int], data: st.DataObject) -> None:
    """The same values in another order: the same effects, to the last digit; only dependence widens intervals."""
    one, other = run(a, b), run(data.draw(st.permutations(a)), b)

    assert [figure.value for figure in (*one.medians, one.ratio, one.shift, one.cliffs_delta)] == [
        figure.value for figure in (*other.medians, other.ratio, other.shift, other.cliffs_delta)
    ]
    if one.design.dependence.factor == other.design.dependence.factor:
        assert one.ratio == other.ratio
        assert one.design.p == other.design.p


@QUICK
@given(a=ticks, b=ticks)
def test_a_coarser_clock_never_makes_a_constant_sample_more_certain(a: list[int], b: list[int]) -> None:
    """With half of the runs on one tick, a wider step gives a wider interval."""
    a, b = [a[0]] * len(a), [b[0]] * len(b)
    fine = compare(read(a, 0.001), read(b, 0.001), resolution=0.001)
    wide = compare(read(a, 0.001), read(b, 0.001), resolution=0.01)

    assert None not in (wide.ratio.lo, wide.ratio.hi, fine.ratio.lo, fine.ratio.hi)
    assert (wide.ratio.lo or 0) < (fine.ratio.lo or 0) <= (fine.ratio.hi or 0) < (wide.ratio.hi or 0)


@QUICK
@given(
    value=st.floats(0.5, 2.0),
    below=st.floats(0.0, 0.5),
    above=st.floats(0.0, 0.5),
    p=st.floats(0, 1),
    threshold=st.floats(0.001, 0.5),
)
def test_verdicts_mirror_and_only_loosen(value: float, below: float, above: float, p: float, threshold: float) -> None:
    """The turned ratio has the same verdict, and a larger threshold never makes alike samples different."""
    ratio = Estimate(value, value / (1 + below), value * (1 + above), "")
    verdict = decide(ratio, p, threshold).outcome

    assert verdict == decide(turned(turned(ratio)), p, threshold).outcome
    if verdict == "equivalent":
        assert decide(ratio, p, threshold * 1.5).outcome == "equivalent"


@given(values=coarse_ticks)
def test_spread_ties_stay_inside_their_step(values: list[int]) -> None:
    """Every value stays within half a step of its reading, all differ, and the mean stays."""
    spread = spread_ties(values, 1.0)

    assert all(abs(one - reading) < 0.5 for one, reading in zip(spread, sorted(values), strict=True))
    assert len(set(spread)) == len(values)
    assert fmean(values) == pytest.approx(fmean(spread))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    """A corrected p value is never smaller, never above 1, and the order of the pairs stays."""
    corrected = holm(p_values)

    assert all(p <= one <= 1 for p, one in zip(p_values, corrected, strict=True))
    ordered = sorted(zip(p_values, corrected, strict=True))
    assert [one for _, one in ordered] == sorted(one for _, one in ordered)


@QUICK
@given(a=coarse_ticks, b=coarse_ticks)
def test_p_values_are_probabilities_and_mirror(a: list[int], b: list[int]) -> None:
    """In (0, 1], the same for both directions."""
    p = exact_rank_sum_p(a, b)

    assert p is not None
    assert 0 < p <= 1
    assert p == pytest.approx(exact_rank_sum_p(b, a), abs=1e-12)


@QUICK
@given(a=ticks, b=ticks)
def test_superiority_interval_stays_inside_0_and_1_and_mirrors(a: list[int], b: list[int]) -> None:
    """P(A > B) and P(B > A) add up to 1, limits too."""
    lo, hi = superiority_interval(superiority(a, b), len(a), len(b))
    mirrored = superiority_interval(superiority(b, a), len(b), len(a))

    assert 0 <= lo <= hi <= 1
    assert (lo, hi) == pytest.approx((1 - mirrored[1], 1 - mirrored[0]), abs=1e-9)


@given(values=st.lists(st.integers(1, 1000), min_size=6, max_size=40))
def test_median_interval_lies_inside_the_sample(values: list[int]) -> None:
    """Between the smallest and the largest value."""
    lo, hi = median_interval(values)

    assert min(values) <= lo <= hi <= max(values)


@QUICK
@given(pairs=st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=6, max_size=20), factor=factors)
def test_pairs_scale_and_mirror(pairs: list[tuple[int, int]], factor: float) -> None:
    """The ratio knows no unit, and swapping the runs turns it over."""
    a, b = [float(one) for one, _ in pairs], [float(other) for _, other in pairs]
    result = compare_paired(a, b)

    assert close(result.ratio, compare_paired([one * factor for one in a], [other * factor for other in b]).ratio)
    assert close(turned(result.ratio), compare_paired(b, a).ratio)
    assert result.p_wilcoxon == pytest.approx(compare_paired(b, a).p_wilcoxon, abs=1e-9)
    assert result.faster + result.slower <= result.n
    assert result.ratio.lo is not None
    assert result.ratio.hi is not None
    assert result.ratio.lo <= result.ratio.value <= result.ratio.hi


@QUICK
@given(a=ticks, b=ticks, c=coarse_ticks, factor=factors)
def test_many_samples_scale_and_mirror(a: list[int], b: list[int], c: list[int], factor: float) -> None:
    """Named in another order and read in another unit: the same pairs, turned over, with the same p values."""
    samples = {"a": a, "b": b, "c": c}
    one = compare_many({name: read(values, 0.001) for name, values in samples.items()}, resolution=0.001)
    other = compare_many(
        {name: read(values, 0.001 * factor) for name, values in reversed(samples.items())},
        resolution=0.001 * factor,
    )

    assert one.p_kruskal == pytest.approx(other.p_kruskal, abs=1e-9)
    assert list(one.p_holm) == pytest.approx(list(reversed(other.p_holm)), abs=1e-9)
    for pair, mirrored in zip(one.pairs, reversed(other.pairs), strict=True):
        assert pair.names == mirrored.names[::-1]
        assert close(turned(pair.ratio), mirrored.ratio)
        assert MIRRORED.get(pair.verdict, pair.verdict) == mirrored.verdict


@given(a=st.integers(2, 10**6), b=st.integers(2, 10**6), factor=factors)
def test_published_medians_scale_and_mirror(a: int, b: int, factor: float) -> None:
    """The ratio knows no unit, and swapping the medians turns it over."""
    one, other = compare_medians(a, b, resolution=1.0), compare_medians(b, a, resolution=1.0)

    assert close(turned(one.ratio), other.ratio)
    assert close(negated(one.difference), other.difference)
    assert close(one.ratio, compare_medians(a * factor, b * factor, resolution=factor).ratio)


@QUICK
@given(values=st.lists(st.integers(500, 5000), min_size=2, max_size=12), reads=st.integers(0, 9999), factor=factors)
def test_cache_levels_know_no_unit(values: list[int], reads: int, factor: float) -> None:
    """The same runs in another unit have the same level and evidence."""
    columns = {"physical_reads": [9999, *[reads] * (len(values) - 1)]}
    one, other = (cache_level(pl.DataFrame({"elapsed": read(values, step), **columns})) for step in (1.0, factor))

    assert (one.level, one.possible) == (other.level, other.possible)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=5), st.integers(2, 50))
def test_more_samples_narrow_a_profile(counts: list[int], factor: int) -> None:
    """Shares stay when all samples are multiplied, their bounds hold them, and lie closer."""
    names = ["kcbgtcr", "kdst_fetch", "skgslcas", "qertbFetch", "opiodr"][: len(counts)]

    def shares(times: int) -> list[dict[str, float]]:
        counted = [count * times for count in counts]
        plain = {"module": None, "is_kernel": False, "is_idle": False}
        samples = pl.DataFrame({"function": names, "samples": counted, **plain})
        return layer_shares(samples).select("value", "ci_lo", "ci_hi").to_dicts()

    for few, many in zip(shares(1), shares(factor), strict=True):
        assert few["value"] == pytest.approx(many["value"])
        assert few["ci_lo"] < many["ci_lo"] <= many["value"] <= many["ci_hi"] < few["ci_hi"]


@given(a=st.integers(2, 10**6), b=st.integers(2, 10**6), digits=st.integers(0, 4))
def test_published_medians_keep_their_rounding(a: int, b: int, digits: int) -> None:
    """The bounds contain the value, and one digit less never narrows them."""
    printed_a, printed_b = (f"{value / 10**digits:.{digits}f}" for value in (a, b))
    fine = compare_medians(printed_a, printed_b)
    coarse = compare_medians(float(printed_a), float(printed_b), resolution=1.5 * 10**-digits)

    for one, other in (
        (fine.ratio, coarse.ratio),
        (fine.difference, coarse.difference),
        (fine.speedup, coarse.speedup),
    ):
        assert None not in (one.lo, one.hi, other.lo, other.hi)
        assert (other.lo or 0) <= (one.lo or 0) <= one.value <= (one.hi or 0) <= (other.hi or 0)


@QUICK
@given(values=st.lists(st.integers(500, 5000), min_size=4, max_size=30), factor=factors)
def test_first_runs_know_no_unit(values: list[int], factor: float) -> None:
    """The kind, the ratio and the levels of a series are the same in any unit."""
    one = first_run(read(values, 0.01), resolution=0.01)
    other = first_run(read(values, 0.01 * factor), resolution=0.01 * factor)

    assert (one.kind, one.warm_up_runs, one.starts) == (other.kind, other.warm_up_runs, other.starts)
    assert one.ratio == pytest.approx(other.ratio)


@QUICK
@given(values=st.lists(st.integers(500, 5000), min_size=8, max_size=30))
def test_stretches_cover_the_series(values: list[int]) -> None:
    """The first stretch starts at 0, all later ones have three runs at least."""
    starts = find_changes([float(value) for value in values]).starts

    ends = [*starts[1:], len(values)]
    assert starts[0] == 0
    assert all(end - start >= 3 for start, end in list(zip(starts, ends, strict=True))[1:])
    assert list(starts) == sorted(set(starts))
