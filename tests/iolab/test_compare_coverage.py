"""A small run of the simulation in benchmarks/: a method that stops covering is noticed."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from iolab.stats.comparison import measure_effects
from iolab.stats.intervals import ratio_interval, shift_interval

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "coverage_of_intervals.py"
SAMPLES = 150
#: Of tests without a difference.
ALARMS = 60


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    """The benchmark as a module."""
    spec = importlib.util.spec_from_file_location("coverage_of_intervals", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("n", [6, 15, 31])
@pytest.mark.parametrize("kind", ["normal", "skewed", "tied"])
def test_intervals_cover_the_truth(simulation: ModuleType, kind: str, n: int) -> None:
    """93-97 %, give or take three standard errors of so few samples; the benchmark has the exact figures."""
    shares = simulation.count_coverage(kind, n, effect=True, samples=SAMPLES, seed=0)
    low = 0.93 - 3 * math.sqrt(0.93 * 0.07 / SAMPLES)

    assert [name for name in ("median", "ratio", "shift", "P(A>B)") if not low <= shares[name] <= 0.995] == []


@pytest.mark.parametrize(("few", "many"), [((6, 0.15), (31, 0.03)), ((8, 0.3), (40, 0.05)), ((6, 0.3), (6, 0.05))])
def test_few_wide_runs_against_many_narrow_ones_are_covered(few: tuple[int, float], many: tuple[int, float]) -> None:
    """Unequal sizes and spreads: rank intervals of one shape cover 81 % of 6 runs against 31."""
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        a, b = (np.exp(spread * rng.normal(size=n)).tolist() for n, spread in (few, many))
        lo, hi = ratio_interval(a, b) or (0.0, 0.0)
        back = ratio_interval(b, a) or (1.0, 1.0)
        held += lo <= 1 <= hi

        assert (1 / back[1], 1 / back[0]) == pytest.approx((lo, hi))
    assert held / 200 >= 0.94 - 2 * math.sqrt(0.94 * 0.06 / 200)


@pytest.mark.parametrize("n", [6, 15])
def test_a_coarse_clock_is_covered(simulation: ModuleType, n: int) -> None:
    """With a step of twice the spread no interval can be exact, and none covers too little."""
    shares = simulation.count_coverage("coarse", n, effect=False, samples=100, seed=0)

    assert min(shares["median"], shares["ratio"], shares["shift"]) >= 0.97


def test_a_clock_that_hides_all_is_said(simulation: ModuleType) -> None:
    """With a step of ten times the spread every interval holds the truth, and nearly all say that they are wider."""
    rng = np.random.default_rng(1)
    said = 0
    for _ in range(100):
        world = simulation.make_rounded(rng, 0.1, effect=False)
        found = measure_effects(world.draw_a(rng, 15), world.draw_b(rng, 15), step=world.step)
        said += "widened" in found.clock

        assert (found.shift.lo or 0) <= world.shift <= (found.shift.hi or 0)
        assert (found.ratio.lo or 0) <= 1 <= (found.ratio.hi or 0)
    assert said > 90


def test_limits_of_readings_are_those_of_times_within_the_step() -> None:
    """The smoothed limits of the shift are what random places within the step give on average."""
    rng = np.random.default_rng(2)
    a, b = (rng.normal(mean, 2, 15).round() for mean in (10, 11))
    drawn = [
        shift_interval(*((one + rng.uniform(-0.5, 0.5, 15)).tolist() for one in (a, b))) or (0.0, 0.0)
        for _ in range(400)
    ]
    found = shift_interval(a.tolist(), b.tolist(), step=1.0)

    assert found == pytest.approx(np.mean(drawn, axis=0).tolist(), abs=0.1)


def test_a_limit_on_a_tick_is_moved_off_it() -> None:
    """A limit of zero that only the clock made would hold a shift of zero too often; within the step it does not."""
    a, b = [5, 6, 7, 7, 8, 9], [6, 8, 9, 9, 10, 11]
    rough, fine = shift_interval(a, b), shift_interval(a, b, step=1.0)

    assert rough == pytest.approx((-4.0, 0.0))
    assert fine == pytest.approx((-4.0, 0.3944), abs=1e-4)


def test_exact_levels_of_few_runs(simulation: ModuleType) -> None:
    """Six runs: 95.89 % for the shift, 96.88 % for pairs, and nothing nearer to 95 % from above; as the tables say."""
    levels = simulation.exact_levels(6)

    assert {name: tuple(round(100 * one, 2) for one in pair) for name, pair in levels.items()} == {
        "shift": (95.89, 93.51),
        "pairs": (96.88, 93.75),
    }


def test_tests_hold_their_level(simulation: ModuleType) -> None:
    """No test is significant in many more than 5 % of the samples without a difference, and no verdict is."""
    alarms = simulation.count_alarms("tied", 15, samples=ALARMS, seed=1)

    assert {name: share for name, share in alarms.items() if share > 0.05 + 3 * math.sqrt(0.05 * 0.95 / ALARMS)} == {}
