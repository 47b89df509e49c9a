"""A short run of the fuzzer over every reader, and the fuzzer's own parts."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.driver import case, failure_of, minimised, run, seeds
from fuzz.mutators import MUTATORS

LOGS = seeds()


def test_a_short_run() -> None:
    """Mutated logs raise nothing but the project's own errors, and what must hold holds."""
    found = run(20_261, range(150), LOGS)

    assert dict(found.failures) == {}
    assert found.cases == 150
    assert found.logs > 30


def test_a_thorough_run() -> None:
    """Read twice the result is the same, and Parquet keeps it."""
    found = run(20_262, range(40), LOGS, is_thorough=True)

    assert dict(found.failures) == {}


def test_a_case_is_the_same_again() -> None:
    """The seed and the number decide."""
    assert [case(7, number, LOGS) for number in range(20)] == [case(7, number, LOGS) for number in range(20)]
    assert case(7, 1, LOGS) != case(8, 1, LOGS)


@pytest.mark.parametrize("mutator", MUTATORS, ids=lambda mutator: mutator.__name__)
def test_mutators_take_any_bytes(mutator) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a function
    """A mutator never fails itself, and changes most inputs."""
    chance = random.Random(3)  # noqa: S311 - cases, not secrets
    inputs = [b"x", b"\n", b"\x00\xff", LOGS[0], LOGS[-1]]

    assert sum(mutator(data, chance) != data for data in inputs * 5) > 5


def test_a_failure_is_found_and_minimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that one line causes is brought down to that line."""

    def check(data: bytes, *, is_thorough: bool) -> int:
        del is_thorough
        if b"bad" in data:
            raise IndexError("a fault")
        return 1

    monkeypatch.setattr("fuzz.driver.check", check)
    data = b"one\ntwo\nthe bad line\nfour\n"
    failure, _ = failure_of(data, is_thorough=False)

    assert failure.startswith("IndexError at test_fuzz.py:check: a fault")
    assert minimised(data, failure, is_thorough=False) == b"bad"
