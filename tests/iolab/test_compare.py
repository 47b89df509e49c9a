"""Two samples compared: what is accepted, refused, found and printed."""

import dataclasses
import math
import os
import subprocess
import sys
import time
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from iolab.comparison import CONDITIONS, SampleError, compare, compare_many
from iolab.stats.intervals import Estimate
from iolab.stats.ranks import run_tests
from iolab.stats.samples import clock_step, read_sample, repeated_share, robust_spread
from iolab.stats.verdict import decide
from logframe.extras import MissingExtraError, require

RNG = np.random.default_rng(20160330)
BUFFERED = [round(float(value), 3) for value in RNG.normal(6.910, 0.030, 31)]
DIRECT = [round(float(value), 3) for value in RNG.normal(5.654, 0.030, 31)]
ALIKE = [round(float(value), 3) for value in RNG.normal(6.912, 0.030, 31)]


# --- what is accepted


@pytest.mark.parametrize(
    "values",
    [
        [5.5, 5.25],
        (5.5, 5.25),
        pl.Series([5.5, 5.25]),
        pl.Series([timedelta(seconds=5.5), timedelta(seconds=5.25)]),
        pl.Series(["5.5", "5.25"]).cast(pl.Decimal(10, 2)),
        np.array([5.5, 5.25]),
    ],
    ids=["list", "tuple", "float", "duration", "decimal", "numpy"],
)
def test_samples_come_in_many_types(values: list[float]) -> None:
    """Numbers and durations give the same sample."""
    assert read_sample(values, "A").values == (5.5, 5.25)


def test_durations_are_read_in_the_unit() -> None:
    """5.5 s are 5500 ms."""
    durations = pl.Series([timedelta(seconds=5.5)])

    assert read_sample(durations, "A", unit="ms").values == (5500.0,)


def test_nulls_are_dropped_and_counted() -> None:
    """In the fields, in a caveat and in the frame."""
    result = compare(pl.Series([*BUFFERED, None, None]), DIRECT, names=("buffered", "direct"))

    assert (result.n, result.nulls) == ((31, 31), (2, 0))
    assert "2 of buffered's values were null and dropped" in result.caveats
    assert result.to_frame().filter(metric="runs buffered")["basis"].item().startswith("2 nulls dropped")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([5.0, 0.0], "A: value 1 is 0.0; a time must be a finite number above zero"),
        ([-1.0], "A: value 0 is -1.0"),
        ([float("nan")], "A: value 0 is nan"),
        ([5.0, float("inf")], "A: value 1 is inf"),
        ([], "A: no value is left of 0"),
        ([None, None], "A: no value is left of 2"),
        (["fast"], "A: value 0 is not a number: 'fast'"),
        ([5.0, 10**400], "A: value 1 is not a number: 1000"),
        ([5.0, "5.0"], "A: value 1 is not a number: '5.0'"),
        ([5.0, True], "A: value 1 is not a number: True"),
        ([timedelta(seconds=5)], "A: value 0 is not a number: "),
        (pl.Series(["5.0"]), "A: String values cannot be compared"),
        ([1.0] * 2001, "A: 2,001 values"),
        ([5.0, 1e300], "no time is so long"),
        ([5e-324], "A: value 0 is 5e-324; no time is so short"),
    ],
)
def test_bad_samples_are_refused_with_the_reason(values: list[float], message: str) -> None:
    """A ValueError that names the sample, the place and the value."""
    with pytest.raises(SampleError, match=message.replace("(", r"\(")) as caught:
        compare(values, [5.0])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "the threshold is 0.0"),
        ({"resolution": -0.01}, "the resolution is -0.01"),
        ({"resolution": 5.1}, "the value 5 is below the resolution 5.1"),
        ({"conditions": {"weather": "fine"}}, "unknown condition 'weather'; known are cache level, plan hash"),
        ({"order_a": [1]}, "A: 2 values but 1 places"),
        ({"order_a": [1, 1]}, "A: two runs have the same place"),
        ({"order_a": [1, 2], "order_b": [2, 3]}, "two runs of different samples have the same place"),
        ({"drop_first": 2}, "A: no value is left of 2"),
        ({"drop_first": -1}, "A: drop_first is -1"),
    ],
)
def test_bad_options_are_refused_with_the_reason(options: dict[str, object], message: str) -> None:
    """Every option that makes no sense is named."""
    with pytest.raises(SampleError, match=message):
        compare([5.0, 6.0], [5.0, 7.0], **options)  # type: ignore[arg-type]


def test_runs_are_sorted_by_their_order() -> None:
    """Given out of order, the sample is put in run order, nulls taken out."""
    assert read_sample([3.0, 1.0, None, 2.0], "A", order=[30, 10, 15, 20]).values == (1.0, 2.0, 3.0)


def test_first_runs_are_left_out_on_request_and_it_is_printed() -> None:
    """drop_first=1 compares the other runs and says so."""
    result = compare(
        [63.27, 19.23, 19.28, 19.35, 19.43], [9.16, 9.17, 9.28, 9.18, 9.20], names=("HP-UX", "Linux"), drop_first=1
    )

    assert result.medians[0].value == pytest.approx(19.315)
    assert result.left_out == (1, 1)
    assert "the first 1 of HP-UX's runs were left out on request" in str(result)


# --- what is found


def test_two_clearly_different_samples() -> None:
    """The effect in three directions, each with its interval, and the verdict."""
    result = compare(BUFFERED, DIRECT, names=("buffered", "direct"))

    assert result.verdict == "faster"
    assert result.reason == "the whole interval of the ratio is beyond 2 %"
    assert result.ratio.value == pytest.approx(result.medians[1].value / result.medians[0].value)
    assert result.speedup.value == pytest.approx(1 / result.ratio.value)
    assert result.pct_less_time.value == pytest.approx(100 * (1 - result.ratio.value))
    assert result.cliffs_delta.value == 1.0
    assert result.prob_a_greater.value == 1.0
    assert result.gap == pytest.approx(min(BUFFERED) - max(DIRECT))


def test_two_alike_samples_are_equivalent() -> None:
    """Equivalent is a finding, not the lack of one: the interval lies within the threshold."""
    result = compare(BUFFERED, ALIKE)

    assert result.verdict == "equivalent"
    assert result.gap is None
    assert result.ratio.lo is not None
    assert result.ratio.hi is not None
    assert 1 / 1.02 < result.ratio.lo < result.ratio.hi < 1.02


def test_significant_but_smaller_than_the_threshold() -> None:
    """One per cent slower in every run: a difference, and an equivalent one; both are said."""
    result = compare(BUFFERED, [value * 1.0106 for value in BUFFERED], threshold=0.02)

    assert result.verdict == "equivalent"
    assert result.p_values.p < 0.05
    assert "a difference is there (p = " in result.reason
    assert "smaller than the threshold" in result.reason


def test_a_smaller_threshold_turns_equivalent_into_different() -> None:
    """The verdict is against the threshold that was stated."""
    slower = [value * 1.0106 for value in BUFFERED]

    verdicts = [compare(BUFFERED, slower, threshold=threshold).verdict for threshold in (0.02, 0.0106, 0.001)]

    assert verdicts == ["equivalent", "undecided", "slower"]


@pytest.mark.parametrize(
    ("lo", "hi", "p", "outcome"),
    [
        (0.80, 0.83, 0.001, "faster"),
        (1.03, 1.10, 0.001, "slower"),
        (0.80, 0.83, 0.20, "undecided"),
        (0.99, 1.01, 0.90, "equivalent"),
        (0.97, 1.01, 0.90, "undecided"),
        (1.01, 1.05, 0.001, "undecided"),
        (0.975, 0.9803, 0.001, "faster"),
        (0.975, 0.9805, 0.001, "undecided"),
        (None, None, 0.008, "different, size unknown"),
        (None, None, 0.1, "undecided"),
    ],
)
def test_verdicts(lo: float | None, hi: float | None, p: float, outcome: str) -> None:
    """Faster, slower and equivalent need the whole interval, the first two also the test."""
    assert decide(Estimate(1.0, lo, hi, ""), p, 0.02).outcome == outcome


@pytest.mark.parametrize(
    ("n", "verdict"),
    [(1, "undecided"), (2, "undecided"), (3, "different, size unknown"), (5, "different, size unknown")],
)
def test_no_interval_below_six_runs(n: int, verdict: str) -> None:
    """The effect is there, the intervals are not, and the reason is said in text and frame."""
    result = compare(BUFFERED[:n], DIRECT, names=("buffered", "direct"))

    for estimate in (
        *result.medians,
        result.ratio,
        result.speedup,
        result.pct_less_time,
        result.shift,
        result.cliffs_delta,
    ):
        assert (estimate.lo, estimate.hi) == (None, None)
    assert result.verdict == verdict
    assert "a 95 % interval needs 6 in each" in str(result)
    assert result.ratio.value < 0.9


def test_six_runs_have_intervals() -> None:
    """The smallest sample with a 95 % interval."""
    result = compare(BUFFERED[:6], DIRECT[:6])

    assert result.verdict == "faster"
    assert None not in (result.ratio.lo, result.shift.lo, result.cliffs_delta.lo, result.medians[0].lo)


@pytest.mark.parametrize(("n", "smallest"), [(3, 0.1), (4, 2 / 70), (5, 2 / 252)])
def test_smallest_p_value_of_few_runs(n: int, smallest: float) -> None:
    """Three runs cannot reach 5 %: the p value of complete separation."""
    result = compare(BUFFERED[:n], DIRECT[:n])

    assert pytest.approx(smallest) == result.p_values.p


def test_ties_get_the_exact_permutation_test() -> None:
    """Without ties there is none; with them it is the one the verdict uses."""
    smooth = compare([5.111, 5.123, 5.137, 5.149], [5.112, 5.124, 5.138, 5.151])
    tied = compare([5.11, 5.12, 5.12, 5.13], [5.12, 5.12, 5.14, 5.15])

    assert smooth.p_values.permutation is None
    assert smooth.p_values.p == smooth.p_values.mann_whitney
    assert tied.p_values.permutation is not None
    assert tied.p_values.p == tied.p_values.permutation


@pytest.mark.filterwarnings("error")
def test_constant_samples_are_dealt_with() -> None:
    """No spread, no ranks: nothing divides by zero, and what says nothing is None."""
    result = compare([5.0] * 7, [5.0] * 8, resolution=0.01)

    assert (result.p_values.p, result.p_values.mann_whitney, result.p_values.levene) == (1.0, 1.0, None)
    assert result.shift == dataclasses.replace(result.shift, value=0.0, lo=-0.01, hi=0.01)
    assert result.verdict == "equivalent"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("a", "b"),
    [([5.0] * 7, [6.0] * 7), ([5.0] * 7, DIRECT), ([5.0, 6.0], [5.0, 6.0]), ([5.0], [5.0]), ([5.0, 5.0], [7.0])],
)
def test_degenerate_samples_raise_no_warning(a: list[float], b: list[float]) -> None:
    """Every result prints and has a frame."""
    result = compare(a, b)

    assert str(result).startswith("A (A, ")
    assert result.to_frame().height > 20


def test_two_constant_samples_have_no_test_of_spreads() -> None:
    """Levene's test divides by spreads of zero: it says nothing, where the rank tests do."""
    found = run_tests([5.0] * 7, [6.0] * 7)

    assert found.levene is None
    assert found.p == pytest.approx(2 / 3432)


@pytest.mark.parametrize(("n", "is_known"), [(1, False), (2, False), (3, True)])
def test_spreads_are_tested_from_3_runs_on(n: int, is_known: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """The other sample does not make up for it."""
    assert (run_tests([5.1, 5.2, 5.4][:n], [6.1, 6.3, 6.6, 6.8]).levene is not None) == is_known


@pytest.mark.parametrize(("n", "method"), [(50, "exact"), (51, "asymptotic")])
def test_exact_up_to_50_runs_without_ties(n: int, method: str) -> None:
    """As R does; one sample of more than 50 is enough for the normal approximation."""
    a, b = [math.sqrt(2 + run) for run in range(n)], [math.sqrt(5.531 + 1.13 * run) for run in range(20)]

    assert run_tests(a, b).mann_whitney == mannwhitneyu(a, b, method=method).pvalue
    assert mannwhitneyu(a, b, method="exact").pvalue != mannwhitneyu(a, b, method="asymptotic").pvalue


# --- the clock


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([9.16, 9.17, 9.28, 9.18, 9.20], 0.01),
        ([5.654, 5.714, 5.7], 0.001),
        ([10, 20, 50], 10),
        ([0.25, 0.5, 1.0, 1.75], 0.01),
        ([60 * 0.05, 60 * 0.06, 60 * 0.08, 60 * 0.11, 60 * 0.13], 0.1),
        ([value / 7 for value in (0.05, 0.06, 0.08, 0.11, 0.13)], 0.01 / 7),
        ([5.7123456789, 5.73918273645, 5.79283746511], None),
    ],
)
def test_clock_step_is_read_off_the_values(values: list[float], step: float | None) -> None:
    """Decimals or the common divisor of the gaps, whichever is smaller; None for a fine clock."""
    found = clock_step(values)

    assert (found is None) == (step is None)
    assert found == pytest.approx(step)


def test_a_coarse_clock_is_said_and_widens_the_intervals() -> None:
    """Half of the runs on one tick: the intervals reach at least one step each way."""
    result = compare([5.0] * 20 + [5.1] * 11, [5.1] * 25 + [5.2] * 6, resolution=0.1)

    assert any(
        caveat.startswith("resolution-limited: half of the runs read one value in A") for caveat in result.caveats
    )
    assert result.shift.lo is not None
    assert result.shift.hi is not None
    assert result.shift.lo <= -0.2 + 1e-9
    assert result.shift.hi >= 0.0 - 1e-9
    assert "more than 95 %" in result.shift.basis


def test_many_ties_are_said() -> None:
    """31 runs on eight ticks are limited by the clock; on a fine clock they are not."""
    ticks = [5.65 + 0.01 * (place % 8) for place in range(31)]
    coarse = compare([round(value, 2) for value in ticks], [round(value + 0.05, 2) for value in ticks])

    assert any(
        caveat.startswith("resolution-limited: 74% of the runs repeat a value in A") for caveat in coarse.caveats
    )
    assert "ties spread over the clock's step 0.01" in coarse.ratio.basis
    assert not any("resolution" in caveat for caveat in compare(BUFFERED, DIRECT).caveats)


def test_unknown_step_refuses_the_interval() -> None:
    """Half of the runs equal, and values no clock step explains: where the times lie is not known."""
    a = [5.123456789, 5.7182818284, 5.123456789, 5.123456789, 5.5772156649, 5.123456789]
    result = compare(a, [value * 1.1 for value in a])

    assert result.resolution is None
    assert result.ratio.lo is None
    assert "the clock's step is not known" in result.reason


def test_spread_is_never_below_that_of_the_clock() -> None:
    """MAD 0 on a clock of 0.01 s is a spread of 0.01 / sqrt(12)."""
    assert robust_spread([5.0, 5.0, 5.0, 5.01], 0.01) == pytest.approx(0.01 / 12**0.5)
    assert repeated_share([5.0, 5.0, 5.0, 5.01]) == 0.5


# --- the run order


def test_all_of_a_before_all_of_b_is_said() -> None:
    """One sample after the other: whatever else changed is part of the difference."""
    blocks = compare(BUFFERED, DIRECT, names=("buffered", "direct"), order_a=range(31), order_b=range(31, 62))
    alternating = compare(BUFFERED, DIRECT, order_a=range(0, 62, 2), order_b=range(1, 62, 2))

    assert any("all runs of buffered came before all runs of direct" in caveat for caveat in blocks.caveats)
    assert not any("came before" in caveat for caveat in alternating.caveats)
    assert "run order of the two samples" in str(compare(BUFFERED, DIRECT))
    assert "run order of the two samples" not in str(alternating)


def test_a_trend_is_said() -> None:
    """Sorted runs get slower one after the other."""
    result = compare(sorted(BUFFERED), DIRECT, names=("buffered", "direct"))

    assert any(caveat.startswith("trend: buffered gets slower") for caveat in result.caveats)
    assert not any(caveat.startswith("trend: direct") for caveat in result.caveats)


def test_correlated_neighbours_are_said() -> None:
    """Slow and fast stretches of eight runs: no trend, but no independent runs either."""
    waves = [5.0 + 0.2 * (place // 8 % 2) + value / 100 for place, value in enumerate(DIRECT)]
    result = compare(waves, BUFFERED, names=("waves", "buffered"))

    assert any(
        caveat.startswith("dependence: neighbouring runs resemble each other; intervals widened ")
        for caveat in result.caveats
    )


def test_a_cold_first_run_is_said() -> None:
    """It is kept, and named, and the option that leaves it out too."""
    result = compare([12.0, *BUFFERED], DIRECT, names=("buffered", "direct"))

    assert any(caveat.startswith("first run: buffered begins 1.7") for caveat in result.caveats)


def test_unequal_spreads_are_said() -> None:
    """The rank methods suppose one shape; the ratio of the medians does not."""
    wide = [5.6 + 5 * (value - 6.9) for value in BUFFERED]

    assert any(caveat.startswith("unequal spreads of A and B (Levene p = ") for caveat in compare(wide, DIRECT).caveats)


# --- the output


def test_the_paragraph_says_all_directions_and_what_is_missing() -> None:
    """Which way round each figure is, the verdict, and every condition that was not stated."""
    text = str(compare(BUFFERED, DIRECT, names=("buffered", "direct"), conditions={"plan hash": "equal"}))

    for part in (
        "buffered (A, 31 runs) against direct (B, 31 runs): median 6.9",
        "less time than buffered; ratio direct/buffered 0.82",
        "speed-up buffered/direct 1.21",
        "Shift buffered - direct (Hodges-Lehmann) 1.2",
        "Mann-Whitney p = ",
        "Cliff's delta 1.0",
        "The ranges do not overlap; the gap is 1.",
        "Verdict: direct is faster than buffered - ",
        "clock step at most 0.001 s; outliers kept. Plan hash: equal.",
    ):
        assert part in text
    missing = text.partition("Not stated: ")[2]
    assert (
        missing == "run order of the two samples, " + ", ".join(key for key in CONDITIONS if key != "plan hash") + "."
    )


def test_a_slower_b_is_said_to_take_more_time() -> None:
    """The sign of the percentage is never left to the reader."""
    result = compare(DIRECT, BUFFERED, names=("direct", "buffered"))

    assert result.pct_less_time.value < 0
    assert "buffered takes 21." in str(result)
    assert "% less" not in str(result)
    assert "more time than direct" in str(result)


def test_the_frame_is_tidy() -> None:
    """One row a figure, each with unit and basis; the names of the samples are in the metrics."""
    frame = compare(BUFFERED, DIRECT, names=("buffered", "direct")).to_frame()

    assert frame.columns == ["metric", "value", "lo", "hi", "ci_lo", "ci_hi", "unit", "basis"]
    assert frame.schema["value"] == pl.Float64
    assert frame.filter(metric="ratio direct/buffered").select("unit", pl.col("ci_lo") < pl.col("value")).rows() == [
        ("x", True)
    ]
    assert frame.filter(metric="threshold")["basis"].item().startswith("faster: ")
    assert frame["basis"].null_count() == 0


def test_the_result_is_frozen() -> None:
    """A finding is not edited."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        compare(BUFFERED, DIRECT).verdict = "equivalent"  # type: ignore[misc]


# --- many samples


def test_many_samples_are_corrected_for_their_number() -> None:
    """Three pairs: each p value is at least the single one, and the verdict uses it."""
    result = compare_many({"buffered": BUFFERED, "alike": ALIKE, "direct": DIRECT})

    assert [(pair.names, pair.verdict) for pair in result.pairs] == [
        (("buffered", "alike"), "equivalent"),
        (("buffered", "direct"), "faster"),
        (("alike", "direct"), "faster"),
    ]
    assert all(holm >= pair.p_values.p for holm, pair in zip(result.p_holm, result.pairs, strict=True))
    assert result.p_kruskal < 1e-6
    assert "3 samples (buffered, alike, direct): Kruskal-Wallis p = " in str(result)
    assert result.to_frame().filter(metric="p_holm").height == 3
    assert result.to_frame().columns[:3] == ["a", "b", "metric"]


def test_a_pair_loses_its_verdict_to_the_correction() -> None:
    """Different alone, but not as one of six pairs: the same interval, a larger p value."""
    a = [10.34, 10.00, 10.42, 10.11, 10.51, 10.23]
    b = [10.02, 10.13, 10.21, 10.36, 10.44, 10.53]
    c = [10.04, 10.09, 10.25, 10.32, 10.46, 10.49]
    d = [10.71, 10.33, 10.94, 10.48, 11.05, 10.83]
    alone = compare(a, d, threshold=0.005)
    many = compare_many({"a": a, "b": b, "c": c, "d": d}, threshold=0.005)

    among = many.pairs[2]

    assert among.names == ("a", "d")
    assert (alone.verdict, among.verdict) == ("slower", "undecided")
    assert (alone.ratio, alone.p_values) == (among.ratio, among.p_values)
    assert alone.p_values.p < 0.05 < many.p_holm[2]


def test_many_equal_samples_say_so() -> None:
    """All values equal: no statistic, p = 1."""
    result = compare_many({"a": [5.0] * 6, "b": [5.0] * 6, "c": [5.0] * 6}, resolution=0.01)

    assert (result.h, result.p_kruskal, result.p_holm) == (None, 1.0, (1.0, 1.0, 1.0))


def test_two_samples_are_compared_as_one_pair() -> None:
    """Kinds of runs may be two: the pair is that of `compare`, with nothing to correct; one sample is refused."""
    many, pair = compare_many({"a": BUFFERED, "b": DIRECT}), compare(BUFFERED, DIRECT, names=("a", "b"))

    assert (many.pairs[0].verdict, many.pairs[0].ratio) == (pair.verdict, pair.ratio)
    assert many.p_holm == (pair.design.p,)
    with pytest.raises(SampleError, match="1 sample: a comparison needs two"):
        compare_many({"a": BUFFERED})


# --- promises


def test_same_input_same_output_whatever_the_thread_count() -> None:
    """Another process with four threads and another hash seed prints the same digits."""
    program = (
        "from iolab.comparison import compare; import sys; a = eval(sys.argv[1]); b = eval(sys.argv[2]);"
        "r = compare(a, b); print(repr(r), r.to_frame().write_json())"
    )
    environment = {
        "POLARS_MAX_THREADS": "4",
        "OMP_NUM_THREADS": "4",
        "OPENBLAS_NUM_THREADS": "4",
        "PYTHONHASHSEED": "7",
    }
    result = compare(BUFFERED, DIRECT)

    output = subprocess.run(
        [sys.executable, "-c", program, repr(BUFFERED), repr(DIRECT)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    ).stdout

    assert f"{result!r} {result.to_frame().write_json()}\n" == output


def test_comparing_takes_less_than_half_a_second() -> None:
    """31 against 31 runs, after SciPy is loaded; the best of three, as the machine may be busy."""
    compare(BUFFERED, DIRECT)
    took = []
    for _ in range(3):
        start = time.perf_counter()
        compare(BUFFERED, DIRECT)
        took.append(time.perf_counter() - start)

    assert min(took) < 0.5


def test_importing_needs_no_scipy_and_using_says_what_to_install() -> None:
    """A core installation can import the module; the error has the command."""
    program = (
        "import sys; sys.modules['scipy'] = None; sys.modules['numpy'] = None\n"
        "from iolab.comparison import compare, compare_medians\n"
        "from iolab.comparison import first_run\n"
        "compare_medians('6.910', '5.654')\n"
        "print(first_run([5, 1, 1.1, 1.2]).kind)\n"
        "compare([1.0] * 6, [2.0] * 6)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)

    assert done.stdout.strip() == "first_apart"
    assert 'is needed here and not installed: pip install "iolab[report]"' in done.stderr


def test_a_library_that_is_there_but_broken_shows_its_own_error() -> None:
    """The hint to install is for a missing library only."""
    with pytest.raises(ModuleNotFoundError, match="no_such_part") as caught:
        require("json.no_such_part")
    assert not isinstance(caught.value, MissingExtraError)
