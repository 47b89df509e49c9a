"""How a comparison is designed: runs in turns, in blocks and A-B-B-A, drift, dependence, few runs, and power."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest

from iolab.comparison import SampleError, compare
from iolab.stats.order import find_rounds, measure_dependence
from iolab.stats.samples import Sample
from iolab.stats.verdict import runs_needed


def ordered(pattern: str, seconds: dict[str, float], drift: float, spread: float, seed: int) -> dict[str, list[float]]:
    """Times and places of the runs of a pattern such as ABBA, while everything gets slower by `drift` in all."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {"A": [], "B": [], "places A": [], "places B": []}
    for place, letter in enumerate(pattern):
        pace = 1 + drift * place / len(pattern)
        found[letter].append(seconds[letter] * pace * math.exp(spread * rng.normal()))
        found[f"places {letter}"].append(place)
    return found


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("AB" * 20, "20 rounds (in turns)"),
        ("ABBA" * 10, "20 rounds (A-B-B-A)"),
        ("AAABBB" * 12, "12 rounds (in blocks)"),
        ("AAB" * 14, "14 rounds (in mixed order)"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_gain_under_drift_is_found_within_rounds(pattern: str, name: str, seed: int) -> None:
    """8 % less time while all runs slow down by 40 %: found in rounds, lost between two samples."""
    runs = ordered(pattern, {"A": 4.0, "B": 3.68}, drift=0.4, spread=0.01, seed=seed)
    within = compare(runs["A"], runs["B"], order_a=runs["places A"], order_b=runs["places B"])
    apart = compare(runs["A"], runs["B"], order_a=runs["places A"], order_b=runs["places B"], design="samples")

    assert (within.verdict, within.design.name) == ("faster", name)
    assert within.ratio.lo is not None
    assert within.ratio.hi is not None
    assert within.ratio.lo - 0.005 < 0.92 < within.ratio.hi + 0.005
    assert apart.verdict == "undecided"


def test_runs_in_turns_without_a_difference_are_not_called_different() -> None:
    """The second of two runs is later in the drift: that is no difference."""
    runs = ordered("AB" * 20, {"A": 4.0, "B": 4.0}, drift=1.0, spread=0.002, seed=5)
    found = compare(runs["A"], runs["B"], order_a=runs["places A"], order_b=runs["places B"])

    assert found.verdict == "equivalent"
    assert abs(math.log(found.ratio.value)) < 0.003


def test_sequential_runs_are_two_samples() -> None:
    """All of A before all of B is one round, which is none."""
    times = tuple(2 + 0.01 * (place % 5) for place in range(12))
    a, b = Sample("A", times, order=tuple(range(12))), Sample("B", times, order=tuple(range(12, 24)))

    assert find_rounds(a, b) is None
    assert compare(times, times, order_a=range(12), order_b=range(12, 24)).design.name == "two samples"


def test_rounds_on_request() -> None:
    """Without an order run 1 is paired with run 1; unequal numbers, and an order without rounds, are refused."""
    a = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    found = compare(a, [time * 0.9 for time in a], design="rounds")

    assert (found.design.name, found.verdict) == ("7 rounds (paired by their numbers)", "faster")
    assert found.ratio.value == pytest.approx(0.9)
    with pytest.raises(SampleError, match="7 against 6 runs"):
        compare(a, a[:6], design="rounds")
    with pytest.raises(SampleError, match="fewer than 6 rounds"):
        compare(a, a, design="rounds", order_a=range(7), order_b=range(7, 14))


def autoregressive(rng: np.random.Generator, n: int, rho: float) -> list[float]:
    """Runs of 7 s, 4 % of spread, that resemble their neighbours."""
    noise = rng.normal(size=n + 60)
    for place in range(1, n + 60):
        noise[place] = rho * noise[place - 1] + noise[place] * math.sqrt(1 - rho**2)
    return (7 * np.exp(0.04 * noise[60:])).tolist()


@pytest.mark.parametrize(
    ("rho", "least", "most"), [(0.0, 0.90, 0.025 + 0.035), (0.5, 0.90, 0.06), (0.8, 0.80, 0.05 + 0.045)]
)
def test_dependence_is_in_the_interval_and_in_the_verdict(rho: float, least: float, most: float) -> None:
    """Coverage and false differences of 15 against 15 runs; the limits allow three standard errors of 100."""
    rng = np.random.default_rng(int(10 * rho))
    held = different = 0
    for _ in range(100):
        found = compare(autoregressive(rng, 15, rho), autoregressive(rng, 15, rho))
        held += (found.ratio.lo or 0) <= 1 <= (found.ratio.hi or 0)
        different += found.verdict in ("faster", "slower")

    assert held / 100 >= least
    assert different / 100 <= most


def test_few_runs_that_depend_on_each_other_give_no_verdict() -> None:
    """Twelve runs on a slow wave: said, with what they are worth."""
    wave = [5 + 0.5 * math.sin(place / 2) for place in range(12)]
    found = compare(wave, [1.3 * time for time in wave])

    assert found.verdict == "undecided"
    assert "12 runs are worth" in found.reason
    assert found.design.p > found.p_values.p


def test_independent_runs_are_not_widened_much() -> None:
    """Of white noise half of the estimates are below zero, where nothing is widened."""
    rng = np.random.default_rng(8)
    factors = [measure_dependence(rng.normal(size=31), rng.normal(size=31)).factor for _ in range(100)]

    assert np.median(factors) < 1.1
    assert sum(factor == 1 for factor in factors) > 30


def test_complete_separation_of_few_runs_is_a_difference_of_unknown_size() -> None:
    """Four runs against four that all took longer."""
    found = compare([3.1, 3.3, 3.2, 3.25], [4.9, 5.4, 5.1, 5.05], names=("old", "new"))

    assert found.verdict == "different, size unknown"
    assert "Verdict: different, size unknown - a difference is there (p = 0.029); no interval" in str(found)
    assert compare([3.1, 3.3, 3.2], [4.9, 5.4, 5.1]).verdict == "undecided"


def test_undecided_names_how_many_runs_would_decide() -> None:
    """And so many do: in four of five samples of that size at least."""
    rng = np.random.default_rng(4)
    first = compare((9 * np.exp(0.03 * rng.normal(size=12))), (9 * np.exp(0.03 * rng.normal(size=12))))

    assert first.verdict == "undecided"
    assert "would decide it if there is no difference" in first.reason or "if there is none" in first.reason
    planned = runs_needed(1.0, math.sqrt(math.pi / 2 * 2 * 0.03**2 / 12), 12, 0.02)
    assert planned is not None
    assert planned.if_equal is not None
    decided = sum(
        compare(
            (9 * np.exp(0.03 * rng.normal(size=planned.if_equal))).tolist(),
            (9 * np.exp(0.03 * rng.normal(size=planned.if_equal))).tolist(),
        ).verdict
        == "equivalent"
        for _ in range(40)
    )
    assert 20 < planned.if_equal < 400
    assert decided >= 24  # 80 % of 40, less three standard errors


def test_the_shift_covers_unequal_spreads() -> None:
    """Seven runs that spread five times as far as the other 25: 93 % and more, where the rank interval has 82 %."""
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(150):
        found = compare(8 + rng.normal(size=7), 6 + 0.2 * rng.normal(size=25), design="samples")
        assert found.shift.lo is not None
        assert found.shift.hi is not None
        held += found.shift.lo <= 2 <= found.shift.hi

    assert held / 150 >= 0.88  # three standard errors below 93 %


def test_places_need_not_be_numbers_from_zero() -> None:
    """Epochs, with a break in the night: the order counts, not the distance."""
    ticks = count(1_700_000_000, 60)
    places = [next(ticks) + 30_000 * (place > 20) for place in range(40)]
    rng = np.random.default_rng(1)
    a, b = ((base * np.exp(0.01 * rng.normal(size=20))).tolist() for base in (5.0, 4.0))

    assert compare(a, b, order_a=places[::2], order_b=places[1::2]).design.name == "20 rounds (in turns)"
