"""First runs and cache levels: what is claimed, and what is not."""

from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from iolab.comparison import SampleError, cache_level, first_run, parse_noise
from iolab.stats.first_runs import find_changes

LINUX = [9.16, 9.17, 9.28, 9.18, 9.20]
HP_UX = [63.27, 19.23, 19.28, 19.35, 19.43]
DIRECTIO = [72.03, 66.69, 72.98, 70.14, 67.21]

NOISE = np.random.default_rng(5).normal(1, 0.01, 31).round(4).tolist()


def series(*levels: tuple[int, float]) -> list[float]:
    """Runs at the given levels, each with the same 1 % of noise."""
    values: list[float] = []
    for runs, level in levels:
        values += [level * NOISE[len(values) + place] for place in range(runs)]
    return values


@pytest.mark.parametrize(
    ("runs", "kind", "ratio"),
    [(HP_UX, "first_apart", 3.276), (LINUX, "flat", 0.998), (DIRECTIO, "flat", 1.027)],
    ids=["HP-UX", "Linux", "DIRECTIO"],
)
def test_first_runs_of_article_002(runs: list[float], kind: str, ratio: float) -> None:
    """HP-UX began apart, 3.276 times its later runs, and five are too few to call it cold; the others were flat."""
    found = first_run(runs, resolution=0.01)

    assert (kind, ratio) == (found.kind, round(found.ratio, 3))


def test_cold_and_steady_runs_are_reported_apart() -> None:
    """63.27 s and 19.315 s, and nowhere the mean of 28.1 s that describes no run."""
    found = first_run(HP_UX, name="HP-UX")

    assert found.first == 63.27
    assert found.steady is not None
    assert found.steady.value == pytest.approx(19.315)
    assert found.steady.lo is None
    assert "63.27 s, then a median of 19.32 s in 4 runs (3.28x)" in str(found)
    assert "28.1" not in str(found)


def test_a_flat_series_is_never_called_warm_or_cold() -> None:
    """Without a reference the state of the cache is undetermined."""
    found = first_run(LINUX, name="Linux")

    assert found.state == "Cache state undetermined: no reference"
    assert "warm" not in str(found)
    assert "cold" not in str(found)


def test_a_reference_settles_the_state() -> None:
    """Linux against direct I/O: 7.64 times faster; direct I/O against itself: no cache shows; else overlap."""
    assert first_run(LINUX, reference=DIRECTIO).state == "Read from a cache: 7.64x faster than the reference"
    assert first_run(DIRECTIO, reference=DIRECTIO).state.startswith("As slow as the reference")
    overlapping = first_run([5.0, 5.1, 5.2, 9.9], reference=[9.8, 9.9, 10.0, 10.1])
    assert overlapping.state == "Cache state undetermined: the ranges of the runs and of the reference overlap"


def test_a_physical_bound_settles_the_state() -> None:
    """4 GiB in 9.18 s are more than a device of 200 MiB/s can deliver, and less than one of 2 GiB/s can."""
    fast = first_run(LINUX, bytes_per_run=4 * 2**30, device_bytes_per_s=200 * 2**20)
    slow = first_run(LINUX, bytes_per_run=4 * 2**30, device_bytes_per_s=2 * 2**30)

    assert fast.state == "Read from a cache: 446 MiB/s is more than the device's 200 MiB/s"
    assert slow.state == "Cache state undetermined: no reference"


@pytest.mark.parametrize(
    ("runs", "kind", "warm_up_runs", "starts"),
    [
        (series((15, 5.0)), "flat", 0, (0,)),
        (series((1, 15.0), (14, 5.0)), "cold_first", 1, (0, 1)),
        (series((1, 5.6), (14, 5.0)), "flat", 0, (0,)),
        (series((3, 9.0), (12, 5.0)), "warm_up", 3, (0, 3)),
        (series((3, 9.0), (4, 7.0), (8, 5.0)), "warm_up", 7, (0, 3, 7)),
        (series((8, 5.0), (7, 6.0)), "slow_down", 0, (0, 8)),
        (series((1, 9.0), (7, 5.0), (7, 6.0)), "slow_down", 0, (0, 1, 8)),
        (series((7, 5.0), (1, 25.0), (7, 5.0)), "flat", 0, (0,)),
        ([5.0 * noise * (1 + place / 60) for place, noise in enumerate(NOISE[:20])], "drifting", 0, (0,)),
    ],
    ids=["flat", "cold", "slow first", "warm-up", "two steps", "slow-down", "cold, slow-down", "outlier", "drift"],
)
def test_kinds_of_longer_series(runs: list[float], kind: str, warm_up_runs: int, starts: tuple[int, ...]) -> None:
    """From 8 runs on, levels are found by change points; a lone slow run later is no level."""
    found = first_run(runs)

    assert (kind, warm_up_runs) == (found.kind, found.warm_up_runs)
    if kind != "drifting":
        assert starts == found.starts


def test_a_step_below_the_threshold_is_one_level() -> None:
    """One per cent, however certain, is flat by the practical threshold of 2 %."""
    tiny = [value * (1 + (NOISE[place] - 1) / 100) for place, value in enumerate([5.05] * 8 + [5.0] * 8)]

    assert (first_run(tiny).kind, first_run(tiny, threshold=0.005).kind) == ("flat", "warm_up")


@pytest.mark.parametrize(
    ("runs", "said"), [([5.0], "1 run is too few"), ([9.0, 5.0], "2 runs are too few"), ([9.0, 5.0, 5.1], "3 runs are")]
)
def test_few_runs_tell_nothing(runs: list[float], said: str) -> None:
    """Below four runs no kind is given."""
    found = first_run(runs)

    assert found.kind == "too_few"
    assert found.steady is None
    assert said in str(found)
    assert found.to_frame().filter(metric="steady median")["value"].item() is None


def test_equal_runs_after_a_cold_one_use_the_clock() -> None:
    """MAD 0: the spread is that of the clock's step, and a slow first run is still a cold one."""
    found = first_run([6.0, 5.0, 5.0, 5.0, 5.0], resolution=0.5)

    assert found.kind == "flat"
    assert first_run([7.0, 5.0, 5.0, 5.0, 5.0], resolution=0.01).kind == "first_apart"
    assert first_run([7.0, *[5.0] * 9], resolution=0.01).kind == "cold_first"


def test_steady_runs_have_an_interval_from_six_on() -> None:
    """Tied values are spread over the clock's step."""
    found = first_run(series((1, 15.0), (14, 5.0)))

    assert found.steady is not None
    assert found.steady.lo is not None
    assert found.steady.hi is not None
    assert found.steady.lo <= found.steady.value <= found.steady.hi
    assert found.to_frame().columns == ["metric", "value", "lo", "hi", "ci_lo", "ci_hi", "unit", "basis"]


def test_runs_may_be_durations_with_nulls() -> None:
    """As the parsers give them."""
    found = first_run(pl.Series([timedelta(seconds=value) for value in HP_UX] + [None]))

    assert (found.kind, found.n, found.notes[0]) == ("first_apart", 5, "Nulls dropped: 1")


def test_change_points_find_the_best_cut() -> None:
    """The cut of the dynamic programme is the best of all cuts into two by plain search."""
    values = np.exp(np.array(series((9, 5.0), (8, 5.6))))
    logs = np.log(values)
    costs = {cut: logs[:cut].var() * cut + logs[cut:].var() * (17 - cut) for cut in range(3, 15)}

    assert find_changes(values.tolist()).starts == (0, min(costs, key=lambda cut: costs[cut]))


def test_a_constant_series_is_flat() -> None:
    """No noise at all divides by nothing."""
    assert find_changes([5.0] * 10).starts == (0,)
    assert first_run([5.0] * 10).kind == "flat"
    assert first_run([9.0] + [5.0] * 9).kind == "cold_first"


SHAPES = {
    "two modes": lambda rng, n: np.where(rng.random(n) < 0.7, 3.0, 4.4) * np.exp(0.02 * rng.normal(size=n)),
    "one run in n is slow": lambda rng, n: (
        np.where(rng.random(n) < 1 / n, 40.0, 7.0) * np.exp(0.01 * rng.normal(size=n))
    ),
    "heavy tail": lambda rng, n: 2 + rng.pareto(1.2, n),
    "a coarse clock": lambda rng, n: (0.4 + 0.012 * rng.normal(size=n)).round(2),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [9, 12, 31])
def test_independent_runs_raise_few_alarms(shape: str, n: int) -> None:
    """At most 5 % of the series, whatever the distribution (three standard errors of 150 series allowed)."""
    rng = np.random.default_rng([n, len(shape)])
    kinds = [first_run(SHAPES[shape](rng, n).tolist()).kind for _ in range(150)]

    assert sum(kind not in {"flat", "two_groups", "first_apart"} for kind in kinds) / 150 <= 0.05 + 0.054
    assert n < 10 or "first_apart" not in kinds


# --- cache levels


def runs(elapsed: list[float], **columns: list[object]) -> pl.DataFrame:
    """A frame of runs."""
    return pl.DataFrame({"elapsed": elapsed, **columns}, strict=False)


@pytest.mark.parametrize(
    ("columns", "level", "possible"),
    [
        ({"physical_reads": [7239] * 5, "recursive_calls": [0] * 5}, "below Oracle", ("below Oracle",)),
        ({"physical_reads": [7239, 0, 0, 0, 0], "recursive_calls": [0] * 5}, "buffer cache", ("buffer cache",)),
        ({"physical_reads": [7239] * 5, "recursive_calls": [900, 0, 0, 0, 0]}, "parse", ("parse",)),
        (
            {"physical_reads": [7239, 0, 0, 0, 0], "recursive_calls": [900, 0, 0, 0, 0]},
            "several",
            ("buffer cache", "parse"),
        ),
        ({"flushed_before": [True] * 5, "recursive_calls": [0] * 5}, "below Oracle", ("below Oracle",)),
        ({"flushed_before": [True] * 5}, "unknown", ("parse", "below Oracle")),
        ({"flushed_before": [True, True, None, True, True]}, "unknown", ("buffer cache", "parse", "below Oracle")),
        ({}, "unknown", ("buffer cache", "parse", "below Oracle")),
        ({"physical_reads": [7239] * 4 + [None]}, "unknown", ("buffer cache", "parse", "below Oracle")),
        ({"physical_reads": [0] * 5, "recursive_calls": [9] * 5}, "unknown", ()),
        ({"physical_reads": [0] * 5}, "unknown", ("parse",)),
    ],
)
def test_levels_are_named_by_evidence(columns: dict[str, list[object]], level: str, possible: tuple[str, ...]) -> None:
    """A level is named when it is shown or when all others are ruled out; what is not recorded rules out nothing."""
    found = cache_level(runs(HP_UX, **columns))

    assert (level, possible) == (found.level, found.possible) or (level == "unknown" and found.possible == possible)


def test_article_002_does_not_name_its_cache() -> None:
    """Flushed before every run, nothing else recorded: not the buffer cache, the parse is not ruled out."""
    found = cache_level(runs(HP_UX, flushed_before=[True] * 5))

    assert found.level == "unknown"
    assert "(left: parse, below Oracle)" in str(found)
    assert "not the buffer cache" in str(found)


@pytest.mark.parametrize(
    ("elapsed", "reason"),
    [
        (LINUX, "The first run took 1.00x the median of the 4 others: nothing got faster, so no cache shows"),
        ([9.0, 5.0, 9.1, 4.9, 5.2], "that is within the spread of the runs"),
        ([9.0], "One run cannot be compared with another"),
    ],
)
def test_no_level_without_a_faster_later_run(elapsed: list[float], reason: str) -> None:
    """A series that got no faster shows no cache, whatever its reads did."""
    found = cache_level(runs(elapsed, physical_reads=[7239] + [0] * (len(elapsed) - 1)))

    assert found.level == "unknown"
    assert reason in found.evidence[0]


def test_a_flush_that_did_not_help_is_said() -> None:
    """Physical reads fall although a flush is recorded: the reads decide, the contradiction is printed."""
    found = cache_level(
        runs(HP_UX, physical_reads=[7239, 10, 10, 10, 10], flushed_before=[True] * 5, recursive_calls=[0] * 5)
    )

    assert found.level == "buffer cache"
    assert "A flush is recorded before every later run all the same" in found.evidence


def test_few_runs_are_said_to_be_few() -> None:
    """Two runs can show a cache, but not that it was no chance."""
    found = cache_level(runs([63.0, 19.0], physical_reads=[7239, 7239], recursive_calls=[0, 0]))

    assert found.level == "below Oracle"
    assert "2 runs are too few to say that this is not chance" in found.evidence


def test_the_evidence_is_a_frame() -> None:
    """One row a sentence."""
    found = cache_level(runs(HP_UX, physical_reads=[7239] * 5, recursive_calls=[0] * 5))

    assert found.to_frame().columns == ["level", "evidence"]
    assert found.to_frame().height == len(found.evidence) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 2}, "the threshold is 2"),
        ({"resolution": -0.01}, "the resolution is -0.01"),
        ({"bytes_per_run": -1, "device_bytes_per_s": 1}, "bytes_per_run is -1; it must be a finite number above zero"),
        ({"bytes_per_run": 1, "device_bytes_per_s": 0}, "device_bytes_per_s is 0"),
    ],
)
def test_bad_options_are_refused(options: dict[str, float], message: str) -> None:
    """A device of no speed would be slower than any run: that is no proof of a cache."""
    with pytest.raises(SampleError, match=message):
        first_run([5.0, 1.0, 1.0, 1.0], **options)  # type: ignore[arg-type]


def test_bad_times_are_refused() -> None:
    """The same check as everywhere; rows without a time are left out."""
    with pytest.raises(SampleError, match=r"elapsed: value 1 is -1\.0"):
        cache_level(runs([5.0, -1.0]))
    assert cache_level(runs([9.0, None, 5.0])).evidence[0].startswith("The first run took 1.80x")  # type: ignore[list-item]


# --- parses inside a sample


@pytest.mark.parametrize(
    ("calls", "noisy"),
    [
        ([912, 0, 0, 0], (1,)),
        ([0, 0, 35, 0, None], (3,)),
        ([912, 905, 910], ()),
        ([100, 9, 8, 10], (1,)),
        ([0, 0, 0], ()),
        ([912, 0], ()),
        ([None, None, 5], ()),
    ],
)
def test_runs_that_parsed(calls: list[int | None], noisy: tuple[int, ...]) -> None:
    """A run with recursive calls among runs with none or hardly any; of two runs neither can be the odd one."""
    assert parse_noise(pl.DataFrame({"recursive_calls": calls})) == noisy


def test_runs_without_recursive_calls_recorded() -> None:
    """Not recorded is not zero."""
    assert parse_noise(pl.DataFrame({"elapsed": [1.0, 2.0, 3.0]})) == ()


def test_runs_of_two_groups_are_said_to_be_so() -> None:
    """In turn, in no order, or one group after the other: no level is given, a median is a time that no run took."""
    fast, slow = [1.0, 1.02, 1.01, 1.0, 1.03], [5.0, 5.2, 5.1, 5.3, 5.1]
    mixed = [fast[0], *slow[:2], *fast[1:3], *slow[2:4], fast[3], slow[4], fast[4]]
    turns = [one for both in zip(fast, slow, strict=True) for one in both]

    for runs, times in ((mixed, "6 times"), (turns, "9 times"), (fast + slow, "1 time"), (slow + fast, "1 time")):
        found = first_run(runs)
        assert (found.kind, found.steady) == ("two_groups", None)
        assert "the runs fall into two groups, 5 of 1 to 1.03 and 5 of 5 to 5.30 s; they change" in str(found)
        assert f" from one to the other {times}. " in str(found)
        assert "flat" not in str(found)
    assert "two groups" not in str(first_run([5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 5.2, 5.1, 5.3]))
