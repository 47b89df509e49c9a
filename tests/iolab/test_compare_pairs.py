"""Pairs of statements, published medians, and the figures of the source articles."""

import math
import re
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

from iolab.comparison import Pairing, SampleError, compare, compare_medians, compare_paired
from iolab.comparison.report_sets import is_same

T1 = [11.54, 0.14, 13.33, 2.71, 5.02, 7.77, 21.4, 3.9]
T2 = [10.21, 0.15, 12.90, 2.60, 4.81, 7.21, 20.2, 3.8]

LINUX = [9.16, 9.17, 9.28, 9.18, 9.20]
HP_UX = [63.27, 19.23, 19.28, 19.35, 19.43]
DIRECTIO = [72.03, 66.69, 72.98, 70.14, 67.21]


def test_pairs_are_compared_on_their_ratio() -> None:
    """Seven of eight pairs faster: the pseudo-median of the ratios, its interval, the signed ranks."""
    result = compare_paired(T1, T2, names=("t1", "t2"))

    assert (result.n, result.faster, result.slower) == (8, 7, 1)
    assert result.geometric_mean.value == pytest.approx(
        math.exp(fmean(math.log(b / a) for a, b in zip(T1, T2, strict=True)))
    )
    assert result.ratio.lo is not None
    assert result.ratio.hi is not None
    assert result.ratio.lo < result.ratio.value < 1 < result.ratio.hi
    assert result.extremes[1] == ("2", pytest.approx(0.15 / 0.14))
    assert "t2 takes " in str(result)
    assert "less time than t1; ratio t2/t1 0.9" in str(result)


def test_pairs_of_different_work_are_left_out_and_named() -> None:
    """Another row count is another piece of work; another plan is a result, and its pair stays in."""
    result = compare_paired(
        T1,
        [*T2[:7], None],
        labels=[f"Q{number}" for number in range(1, 9)],
        plan_hashes=([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 30, 4, 5, 6, 7, 8]),
        row_counts=([5] * 8, [5, 5, 5, 6, 5, 5, 5, 5]),
    )

    assert result.excluded == (
        ("Q4", "row count 5 against 6"),
        ("Q8", "no time in both runs"),
    )
    assert result.n == 6
    assert result.plan_changed == ("Q3 (3 against 30)",)
    assert "Plan changed: Q3 (3 against 30). Left out: Q4 (row count 5 against 6)" in str(result)
    assert "Plan hash: changed in 1 of 8 pairs." in str(result)
    assert not any("not compared" in caveat for caveat in result.caveats)


def test_unchecked_pairs_are_counted() -> None:
    """A guard that is not given, or null in places, is said."""
    result = compare_paired(T1, T2, plan_hashes=([1] * 8, [1] * 7 + [None]))

    assert "plan hash not compared in 1 of 8 pairs: a change of plan is not seen" in result.caveats
    assert "row count not compared in 8 of 8 pairs: they may be different work" in result.caveats


def test_what_is_known_of_pairs_is_printed() -> None:
    """Guards that were compared in every pair, what is stated, the clock, and all that is not stated."""
    text = str(compare_paired(T1, T2, plan_hashes=([1] * 8, [1] * 8), conditions={"cache level": "warm"}))

    assert "Intervals 95 %; clock step not stated; outliers kept." in text
    assert "Cache level: warm. Plan hash: equal in every pair." in text
    assert text.endswith(
        "Not stated: run order, row count, physical reads, recursive calls, interval length, client or server clock."
    )


def test_pairs_near_the_clocks_step_are_counted() -> None:
    """A ratio of 0.15 s to 0.14 s on a clock of 0.01 s is a matter of rounding."""
    result = compare_paired(T1, T2, resolution=0.01)

    assert any(caveat.startswith("resolution-limited: in 1 of 8 pairs") for caveat in result.caveats)


def test_facts_missing_on_either_side_are_not_compared() -> None:
    """A hash that one run does not show is no difference; pairs without times are not among those that are counted."""
    result = compare_paired(
        [1.0, 1.0, 1.0, 1.0, None], [2.0, 2.0, 2.0, 2.0, 2.0], plan_hashes=([None, 7, 7, 7, 7], [7, None, 7, 8, 7])
    )

    assert result.excluded == (("5", "no time in both runs"),)
    assert result.plan_changed == ("4",)
    assert "plan hash not compared in 2 of 4 pairs: a change of plan is not seen" in result.caveats


def test_a_pair_is_short_if_one_of_its_times_is() -> None:
    """0.15 s against 10 s is as much a matter of the clock as the other way round; 0.2 s is 20 steps, and enough."""
    result = compare_paired([0.15, 10, 10, 0.2], [10, 0.15, 10, 0.2], resolution=0.01)

    assert any(caveat.startswith("resolution-limited: in 2 of 4 pairs") for caveat in result.caveats)


def test_the_basis_says_how_the_interval_was_made() -> None:
    """And nothing of a refusal where there is one."""
    assert compare_paired(T1, T2).ratio.basis == "Hodges-Lehmann on the logarithms of the ratios; Tukey's rank interval"


def test_pairs_of_a_few_ticks_are_not_equivalent() -> None:
    """Readings of 0.02 s on a clock of 0.01 s stand for 0.015 to 0.025 s: the ratio may be 0.6 or 1.67."""
    result = compare_paired([0.02] * 10, [0.02] * 10, resolution=0.01)

    assert (round(result.ratio.lo or 0, 3), round(result.ratio.hi or 0, 3)) == (0.6, 1.667)
    assert result.verdict == "undecided"
    assert "widened by the clock's step 0.01" in result.ratio.basis


def test_the_widened_interval_is_that_of_the_worst_readings() -> None:
    """From the lower limit with every ratio as small as the clock allows to the upper one with every ratio as large."""
    a, b = [0.02, 0.03, 0.05, 0.04, 0.1, 0.02], [0.03, 0.03, 0.06, 0.08, 0.09, 0.05]
    least = [math.log((y - 0.005) / (x + 0.005)) for x, y in zip(a, b, strict=True)]
    most = [math.log((y + 0.005) / (x - 0.005)) for x, y in zip(a, b, strict=True)]
    ratio = compare_paired(a, b, resolution=0.01).ratio

    # Of six values the interval is from the smallest to the largest.
    assert (ratio.lo, ratio.hi) == pytest.approx((math.exp(min(least)), math.exp(max(most))))


def test_few_pairs_of_a_few_ticks_move_nothing() -> None:
    """Below 29 % of short pairs the pseudo-median is that of the others, and the interval stays as it is."""
    short, enough = [0.02, 0.03] + [1.0] * 8, [0.02] * 3 + [1.0] * 7

    assert compare_paired(short, short, resolution=0.01).verdict == "equivalent"
    assert compare_paired(enough, enough, resolution=0.01).verdict == "undecided"


def test_one_pair_has_no_interval() -> None:
    """And is called one pair."""
    result = compare_paired([1.0], [2.0])

    assert result.reason == "no interval: 1 pair, a 95 % interval needs 6"
    assert "A (A) against B (B), 1 pair: B takes 100 % more time than A" in str(result)


def test_equal_pairs_are_equivalent() -> None:
    """No difference at all: p = 1, and the interval is the point 1."""
    result = compare_paired(T1, T1)

    assert (result.p_wilcoxon, result.ratio.lo, result.ratio.hi, result.verdict) == (1.0, 1.0, 1.0, "equivalent")


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([1.0, 2.0], [1.0], {}, "A has 2, others \\[1\\]"),
        ([1.0], [1.0], {"labels": ["Q1", "Q2"]}, "others \\[2\\]"),
        ([1.0], [1.0], {"row_counts": ([1], [2])}, "no pair is left of 1: 1: row count 1 against 2"),
        ([1.0], [-1.0], {}, "B: value 0 is -1.0"),
        ([1.0], [1.0], {"threshold": 2}, "the threshold is 2; it is a relative difference between 0 and 1"),
        ([1.0], [1.0], {"resolution": -1}, "the resolution is -1; it is the step of a clock, above zero"),
        ([1.0], [0.5], {"resolution": 1}, "the value 0.5 is below the resolution 1"),
    ],
)
def test_bad_pairs_are_refused(a: list[float], b: list[float], options: dict[str, object], message: str) -> None:
    """With the reason."""
    with pytest.raises(SampleError, match=message):
        compare_paired(a, b, **options)  # type: ignore[arg-type]


def test_many_pairs_use_the_normal_approximation() -> None:
    """Above 50 pairs there is still an answer."""
    a = [10 + number / 7 for number in range(60)]
    result = compare_paired(a, [value * (0.95 + (place % 5) / 100) for place, value in enumerate(a)])

    assert result.n == 60
    assert result.p_wilcoxon < 0.001
    assert result.verdict == "faster"
    assert result.ratio.value == pytest.approx(0.97, abs=0.005)


def test_paired_frame_is_tidy() -> None:
    """Figures, excluded pairs and caveats in one frame."""
    frame = compare_paired(T1, T2, row_counts=([1] * 8, [2] + [1] * 7)).to_frame()
    ratios = [after / before for before, after in zip(T1, T2, strict=True)][1:]

    assert frame.columns == ["metric", "value", "lo", "hi", "ci_lo", "ci_hi", "unit", "basis"]
    assert frame.filter(metric="left out")["basis"].to_list() == ["1: row count 1 against 2"]
    assert frame.filter(pl.col("metric") == "pairs")["value"].item() == 7.0
    assert frame.filter(metric="threshold")["value"].item() == 2.0
    assert frame.filter(pl.col("metric").is_in(["least B/A", "most B/A"])).select("value", "basis").rows() == [
        (pytest.approx(min(ratios)), str(ratios.index(min(ratios)) + 2)),
        (pytest.approx(max(ratios)), str(ratios.index(max(ratios)) + 2)),
    ]


# --- published medians: articles 000 and 002, METRICS rows 6, 7, 18, 19, 20


@pytest.mark.parametrize(
    ("a", "b", "pct_less_time", "speedup"),
    [("6.910", "5.654", 18.18, 1.2221), ("6.910", "5.714", 17.31, 1.2093), ("6.9", "5.7", 17.39, 1.2105)],
)
def test_published_medians_of_article_000(a: str, b: str, pct_less_time: float, speedup: float) -> None:
    """The article's 17 % is the asynchronous or the rounded pair; the direct one is 18 %."""
    result = compare_medians(a, b, n=(31, 31))

    assert pct_less_time == round(result.pct_less_time.value, 2)
    assert speedup == round(result.speedup.value, 4)
    assert result.ratio.lo is not None
    assert result.ratio.hi is not None
    assert result.ratio.lo < result.ratio.value < result.ratio.hi


def test_asynchronous_reads_were_slower_in_article_000() -> None:
    """60 ms, 1.06 % more time than the synchronous ones."""
    result = compare_medians("5.654", "5.714", names=("synchronous", "asynchronous"))

    assert (round(result.pct_less_time.value, 2), round(result.difference.value, 3)) == (-1.06, -0.06)
    assert "asynchronous takes 1.06" in str(result)
    assert "more time than synchronous" in str(result)


def test_published_medians_allow_no_test() -> None:
    """The reason is said, and the source's own p value is its claim."""
    result = compare_medians("6.910", "5.654", claimed="p < 0.001")

    assert "no test and no confidence interval are possible" in result.reason
    assert "The source claims: p < 0.001. Not stated: run order, outliers kept or dropped, cache level" in str(result)
    assert "p_" not in " ".join(result.to_frame()["metric"])


def test_medians_given_as_numbers_have_no_bounds_without_a_resolution() -> None:
    """6.910 as a number has lost its last digit."""
    assert compare_medians(6.910, 5.654).ratio.lo is None
    assert compare_medians(6.910, 5.654, resolution=0.001).ratio == compare_medians("6.910", "5.654").ratio


@pytest.mark.parametrize("resolution", [-0.001, 0.0, float("nan"), float("inf")])
def test_a_resolution_that_is_none_is_refused(resolution: float) -> None:
    """Bounds would be upside down, or no numbers."""
    with pytest.raises(SampleError, match=f"the resolution is {resolution}"):
        compare_medians(6.910, 5.654, resolution=resolution)


@pytest.mark.parametrize("median", ["fast", "-1", "0", "NaN", "sNaN", "Infinity", "1E400", "1E-400", 0.0])
def test_bad_medians_are_refused(median: str | float) -> None:
    """With the name of the sample."""
    with pytest.raises(SampleError, match="A: the median is"):
        compare_medians(median, "5.0")


def test_cached_hp_ux_took_twice_as_long_in_article_002() -> None:
    """The means of the cached runs are 2.1007 apart, Linux varies by 0.52 %."""
    result = compare(HP_UX[1:], LINUX, names=("HP-UX", "Linux"))

    assert round(result.means[0] / result.means[1], 4) == 2.1007
    assert round(result.means[1], 3) == 9.198
    assert round(100 * (result.deviations[1] or 0) / result.means[1], 2) == 0.52
    assert result.gap == pytest.approx(19.23 - 9.28)


def test_direct_io_is_comparable_to_the_cold_run_in_article_002() -> None:
    """69.81 s on average (4.0 %), 1.103 times the cold HP-UX run and 7.590 times the cached Linux runs."""
    result = compare(DIRECTIO, LINUX)

    assert round(result.means[0], 2) == 69.81
    assert round(100 * (result.deviations[0] or 0) / result.means[0], 1) == 4.0
    assert round(result.means[0] / HP_UX[0], 3) == 1.103
    assert round(result.means[0] / result.means[1], 3) == 7.590
    assert result.p_values.p == pytest.approx(2 / 252)
    assert result.verdict == "different, size unknown"


@pytest.mark.corpus
def test_real_pairs_are_guarded_by_their_plans(corpus: Path) -> None:
    """TPC-H queries timed twice at scale 10: pairs with another plan hash are left out, the rest is compared."""
    runs: dict[str, dict[str, tuple[float, str]]] = {}
    for which in ("t1", "t2"):
        for log in sorted(corpus.glob(f"sqlplus/**/results/10/{which}/testlog*.md")):
            text = log.read_text(encoding="utf-8", errors="replace")
            plans = re.findall(r"Plan hash value: (\d+)", text)
            times = re.findall(r"Elapsed: (\d+):(\d+):(\d+\.\d+)", text)
            if plans and times:
                hours, minutes, seconds = times[0]
                elapsed = 3600 * int(hours) + 60 * int(minutes) + float(seconds)
                runs.setdefault(log.stem, {})[which] = (elapsed, plans[0])
    both = {query: pair for query, pair in runs.items() if len(pair) == 2}
    different = [query for query, pair in both.items() if pair["t1"][1] != pair["t2"][1]]

    result = compare_paired(
        [pair["t1"][0] for pair in both.values()],
        [pair["t2"][0] for pair in both.values()],
        labels=list(both),
        plan_hashes=([pair["t1"][1] for pair in both.values()], [pair["t2"][1] for pair in both.values()]),
        resolution=0.01,
    )

    assert len(both) >= 10
    assert [label.partition(" (")[0] for label in result.plan_changed] == different
    assert (result.n, result.excluded) == (len(both), ())
    assert result.ratio.lo is not None
    assert result.ratio.lo < 1 < (result.ratio.hi or 0)


def test_a_verdict_on_a_set_hides_no_member() -> None:
    """Ten of twelve statements within 1 %, one nine times slower: no "equivalent", and it is named."""
    before = [1.0 + number for number in range(12)]
    after = [time * (1.002 if number % 2 else 0.998) for number, time in enumerate(before)]
    after[3] *= 9
    labels = [f"Q{number}" for number in range(12)]
    result = compare_paired(before, after, labels=labels, plan_hashes=([1] * 12, [1, 1, 1, 2] + [1] * 8))

    assert result.ratio.lo is not None
    assert result.ratio.hi is not None
    assert 1 / 1.02 < result.ratio.lo < result.ratio.hi < 1.02
    assert result.verdict == "undecided"
    assert "that hides 1 of 12 pairs that moved otherwise: Q3 (9.02x)" in result.reason
    assert compare_paired(before[4:], after[4:]).verdict == "equivalent"


def test_a_faster_set_with_a_regression_is_not_called_faster() -> None:
    """Eleven statements take half the time, one twice as long."""
    before = [2.0 + number / 3 for number in range(12)]
    after = [time * (0.5 + number / 1000) for number, time in enumerate(before)]
    assert compare_paired(before, after).verdict == "faster"
    after[7] = 2 * before[7]
    result = compare_paired(before, after)

    assert result.verdict == "undecided"
    assert result.totals == pytest.approx((sum(before), sum(after)))
    assert (result.geometric_mean.lo or 1) < result.geometric_mean.value < (result.geometric_mean.hi or 1)


def test_a_host_whose_name_a_text_report_cuts_is_the_same() -> None:
    """A text report prints 16 characters of it; another name of that length, or a shorter one, is another host."""
    assert is_same("host", "Delta3.fbu.lab.e", "delta3.fbu.lab.emc.com")
    assert not is_same("host", "delta3", "delta3.fbu.lab.emc.com")
    assert not is_same("instance", "instance_number_", "instance_number_1")


@pytest.mark.parametrize(
    "name",
    [
        "articles/002_linux.txt",
        "sqltrace/orders_flash_ora_4711.trc",
        "sqltrace/orders_flash_ora_4711.prf",
        "captures/async_direct_tt_T.strace",
        "one_case/awrrpt_1_881_882.txt",
        "host/iostat.out",
        "host/session_polls.csv",
    ],
)
def test_a_log_of_any_kind_has_nothing_that_itself_lacks(name: str) -> None:
    """Beside itself the time of a log is unchanged, and no part, statement or table is in one side only."""
    path = str(Path(__file__).parents[2] / "sample_data" / name)
    found = compare(path, path)

    assert isinstance(found, Pairing)
    assert found.change is not None
    assert found.change.change.value == 0
    assert [what for what, _ in found.not_compared if " only in " in what] == []
