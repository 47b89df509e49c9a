"""Runs: dependence by one rule, groups that a clock or a warm-up makes, tails, and runs that failed."""

import math

import numpy as np
import pytest

import sqlplusparse
from iolab.comparison import compare, first_run
from iolab.metrics import statement_costs
from iolab.stats.order import measure_dependence


def independent(rng: np.random.Generator, n: int, spread: float, ratio: float = 1.0) -> list[float]:
    """Times around 10 s."""
    return (10 * ratio * np.exp(spread * rng.normal(size=n))).tolist()


def related(rng: np.random.Generator, n: int) -> list[float]:
    """Times around 10 s, each correlated with the one before by 0.5."""
    noise = rng.normal(size=n + 20)
    for place in range(1, n + 20):
        noise[place] = 0.5 * noise[place - 1] + noise[place] * math.sqrt(0.75)
    return (10 * np.exp(0.03 * noise[20:])).tolist()


def test_more_runs_give_more_answers() -> None:
    """8 % more time at a spread of 3 %: no fall of power from 7 to 8 runs."""
    rng = np.random.default_rng(3)
    found = {
        n: sum(
            compare(independent(rng, n, 0.03), independent(rng, n, 0.03, 1.08)).verdict == "slower" for _ in range(100)
        )
        for n in (7, 8, 12)
    }

    assert found[7] >= 70
    assert found[8] >= 76
    assert found[12] >= 86


@pytest.mark.parametrize("n", [6, 8, 15, 31])
def test_independent_runs_do_not_resemble_each_other(n: int) -> None:
    """The sentence stands in 5 % of independent comparisons at most, give or take three standard errors."""
    rng = np.random.default_rng(n)
    seen = sum(measure_dependence(rng.normal(size=n), rng.normal(size=n)).is_visible for _ in range(400))

    assert seen / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_a_verdict_of_few_runs_says_what_it_supposes() -> None:
    """Not where there are many, or where they were made in turns."""
    rng = np.random.default_rng(5)
    places = {"order_a": range(0, 16, 2), "order_b": range(1, 16, 2)}
    few, many, turns = (
        [compare(independent(rng, n, 0.01), independent(rng, n, 0.01, 1.3), **order) for _ in range(30)]
        for n, order in ((8, {}), (20, {}), (8, places))
    )

    for found, least, is_said in ((few, 24, True), (many, 29, False), (turns, 30, False)):
        slower = [one for one in found if one.verdict == "slower"]
        assert len(slower) >= least
        assert {"supposes" in one.reason for one in slower} == {is_said}
        assert {"if neighbours are correlated by 0.5" in one.headline for one in slower} == {is_said}


def test_the_second_interval_of_few_runs_holds_for_correlated_ones() -> None:
    """It covers 94 % where the first one covers 80 to 90 %."""
    rng = np.random.default_rng(11)
    held = [0, 0]
    for _ in range(300):
        found = compare(related(rng, 6), related(rng, 6))
        for place, one in enumerate((found.ratio, found.ratio_if_correlated)):
            held[place] += (one.lo or 0) <= 1 <= (one.hi or 0)

    assert held[0] < 0.88 * 300
    assert held[1] > (0.94 - 3 * math.sqrt(0.94 * 0.06 / 300)) * 300


def test_a_stretched_tail_is_neither_equivalent_nor_silent() -> None:
    """A fifth of the runs takes 15 % more: the medians are alike, the means are not."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        b = np.array(independent(rng, 31, 0.005))
        b[rng.permutation(31)[:6]] *= 1.15
        found = compare(independent(rng, 31, 0.005), b.tolist())

        assert found.verdict == "undecided"
        assert any(caveat.startswith("tail: ") for caveat in found.caveats)
        assert found.slow[1].value > 11 > found.slow[0].value
        assert "of the means" in found.headline


@pytest.mark.parametrize(("mean", "spread"), [(0.03, 0.007), (0.02, 0.005), (0.015, 0.001)])
def test_a_clock_makes_no_groups(mean: float, spread: float) -> None:
    """One-peaked times of two or three steps."""
    rng = np.random.default_rng(11)
    said = [
        "two groups" in str(first_run(np.maximum(rng.normal(mean, spread, n).round(2), 0.01).tolist(), resolution=0.01))
        for n in (8, 12, 20, 40)
        for _ in range(25)
    ]

    assert sum(said) <= 2


def test_a_warm_up_is_no_two_groups() -> None:
    """Two slow first runs, and a decay over several."""
    lone = str(first_run([30, 20, 10.1, 10.0, 9.9, 10.0, 10.1, 9.95, 10, 10.05, 10.1, 9.9]))
    rng = np.random.default_rng(2)
    decays = [
        first_run([10 * (1 + 2 * math.exp(-run / 2)) * math.exp(0.002 * rng.normal()) for run in range(40)])
        for _ in range(20)
    ]

    assert "two groups" not in lone
    assert "The 2 slowest runs came first" in lone
    assert first_run([30, 22.1, 17.4, 14.5, 12.7, 11.6, 11.0, 10.6]).kind == "warm_up"
    assert sum(one.kind == "warm_up" for one in decays) >= 17


def test_failed_runs_are_listed_apart() -> None:
    """Cancelled executions, and one that returned other rows, are no sample."""
    done = "SQL> select * from t;\n\n{} rows selected.\n\nElapsed: 00:00:05.{:02}\n"
    failed = (
        "SQL> select * from t;\nselect * from t\n*\nERROR at line 1:\nORA-01013: cancelled\n\nElapsed: 00:00:00.31\n"
    )
    text = failed * 3 + "".join(done.format(12, run) for run in range(4)) + done.format(7, 50) + failed
    spool = sqlplusparse.read_spool(text.encode())

    assert spool.runs().get_column("elapsed_s").to_list() == [5.0, 5.01, 5.02, 5.03]
    assert sorted(spool.runs_left_out().get_column("elapsed_s").to_list()) == [0.31] * 4 + [5.5]

    costs = statement_costs(spool).row(0, named=True)
    assert (costs["runs"], costs["elapsed_s"]) == (5, 25.56)
    assert costs["times"] == [5.0, 5.01, 5.02, 5.03]


def test_independent_runs_are_rarely_called_dependent() -> None:
    """In at most 5 % of independent samples neighbours are said to resemble each other."""
    rng = np.random.default_rng(4)
    found = [measure_dependence(rng.normal(size=31).tolist(), rng.normal(size=31).tolist()) for _ in range(400)]

    assert sum(one.is_visible for one in found) <= 20
