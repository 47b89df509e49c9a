"""A small run of the simulation in benchmarks/: a method that stops covering is noticed."""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "coverage_of_intervals.py"
SAMPLES = 250


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
    shares = simulation.count_coverage(kind, n, effect=True, samples=SAMPLES, seed=0, resamples=299)
    low = 0.93 - 3 * math.sqrt(0.93 * 0.07 / SAMPLES)

    assert [name for name in ("median", "ratio", "shift", "P(A>B)") if not low <= shares[name] <= 0.995] == []


def test_a_coarse_clock_is_covered_and_said(simulation: ModuleType) -> None:
    """With a step of twice the spread the intervals hold, and nearly all say that they are wider."""
    shares = simulation.count_coverage("coarse", 15, effect=True, samples=100, seed=0, resamples=99)

    assert min(shares["median"], shares["ratio"], shares["shift"]) >= 0.97
    assert shares["said"] > 0.9


def test_tests_hold_their_level(simulation: ModuleType) -> None:
    """No test is significant in many more than 5 % of the samples without a difference, and no verdict is."""
    alarms = simulation.count_alarms("tied", 15, samples=100, seed=1)

    assert {name: share for name, share in alarms.items() if share > 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)} == {}
