"""The real runs of `sample_data/runs`, from the log to the verdict and the picture: 31 of each kind, in turn."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from statistics import median

import polars as pl
import pytest

from iolab import charts
from iolab.comparison import Comparison, ManyComparison, compare_many, first_run
from sqlplusparse import read_spool

RUNS = Path(__file__).parents[2] / "sample_data" / "runs"
KINDS = {1: "buffered", 2: "direct", 3: "asynchronous"}
PAIRS = [("buffered", "direct"), ("buffered", "asynchronous"), ("direct", "asynchronous")]


@cache
def runs(name: str) -> pl.DataFrame:
    """The runs of a log; the kinds take turns."""
    found = read_spool(RUNS / f"{name}.txt").runs(period=len(KINDS))
    return found.with_columns(pl.col("sample").replace_strict(KINDS))


@cache
def compared(name: str) -> ManyComparison:
    """The three kinds of a log, compared."""
    kinds = {kind: runs(name).filter(pl.col("sample") == kind) for kind in KINDS.values()}
    return compare_many(
        {kind: rows["elapsed_s"] for kind, rows in kinds.items()},
        orders={kind: rows["statement"].to_list() for kind, rows in kinds.items()},
        resolution=0.001,
        conditions={"cache level": "page cache " + ("warm" if name.endswith("warm") else "cold")},
    )


def pair(name: str, which: tuple[str, str]) -> Comparison:
    """One pair of a log."""
    return compared(name).pairs[PAIRS.index(which)]


def interval(found: Comparison, digits: int) -> tuple[float, ...]:
    """The ratio B / A and its limits, rounded."""
    assert found.ratio.lo is not None
    assert found.ratio.hi is not None
    return tuple(round(one, digits) for one in (found.ratio.value, found.ratio.lo, found.ratio.hi))


@pytest.mark.parametrize("name", ["buffered_direct_async", "buffered_direct_async_warm"])
def test_the_samples_are_those_of_the_log(name: str) -> None:
    """31 runs of each kind in turn; the medians are those of the times as a plain search finds them."""
    shown = re.findall(r"Elapsed: 00:00:(\d\d\.\d{3})", (RUNS / f"{name}.txt").read_text(encoding="utf-8"))
    found = compared(name)

    assert [one.names for one in found.pairs] == PAIRS
    assert {one.n for one in found.pairs} == {(31, 31)}
    middles = [median(float(time) for time in shown[place::3]) for place in range(3)]
    assert [found.pairs[0].medians[0].value, *(one.medians[1].value for one in found.pairs[:2])] == middles


@pytest.mark.parametrize(
    ("name", "which", "verdict", "ratio", "p"),
    [
        ("buffered_direct_async", PAIRS[0], "faster", (0.8, 0.71, 0.88), 0.0998),
        ("buffered_direct_async", PAIRS[1], "faster", (0.74, 0.7, 0.8), 3.78e-11),
        ("buffered_direct_async", PAIRS[2], "undecided", (0.93, 0.83, 1.06), 0.655),
        ("buffered_direct_async_warm", PAIRS[0], "slower", (5.67, 5.26, 6.1), 4.30e-18),
        ("buffered_direct_async_warm", PAIRS[1], "slower", (4.35, 3.95, 4.78), 4.30e-18),
        ("buffered_direct_async_warm", PAIRS[2], "faster", (0.78, 0.71, 0.85), 6.97e-7),
    ],
)
def test_verdicts_intervals_and_tests(
    name: str, which: tuple[str, str], verdict: str, ratio: tuple[float, float, float], p: float
) -> None:
    """Cold, both direct kinds are faster, as the rounds show; warm, they go past the copies in memory."""
    found = pair(name, which)

    assert (found.verdict, interval(found, 2)) == (verdict, ratio)
    assert found.p_values.p == pytest.approx(p, rel=0.01)


def test_the_shift_and_the_delta() -> None:
    """Cold, asynchronous against buffered: 0.62 s less within rounds, and in 94 % of the pairs of runs."""
    found = pair("buffered_direct_async", PAIRS[1])

    assert [round(one or 0, 3) for one in (found.shift.value, found.shift.lo, found.shift.hi)] == [0.62, 0.456, 0.762]
    assert (round(found.prob_a_greater.value, 3), found.gap) == (0.935, None)
    assert pair("buffered_direct_async_warm", PAIRS[0]).gap == pytest.approx(1.092)


def test_all_three_at_once() -> None:
    """Kruskal and Wallis' test, and p values that are corrected for three pairs."""
    found = compared("buffered_direct_async")

    assert found.p_kruskal == pytest.approx(1.63e-5, rel=0.01)
    assert [round(p, 3) for p in found.p_holm] == [0.001, 0.0, 0.239]


def test_what_limits_the_comparison_is_said() -> None:
    """The trend of the buffered runs, spreads that differ, the conditions that are known and those that are not."""
    text = str(compared("buffered_direct_async"))

    for part in (
        "trend: buffered gets faster from run to run (Kendall tau -0.41",
        "unequal spreads of buffered and direct (Levene p = 1.5e-06)",
        "Clock step 0.001 s; outliers kept. Cache level: page cache cold.",
        "Not stated: plan hash, row count, physical reads, recursive calls, interval length, client or server clock.",
    ):
        assert part in text
    assert "all runs of" not in text


def test_the_first_runs() -> None:
    """No series begins cold: one run of each kind goes before the timed ones."""
    kinds = {
        kind: first_run(runs("buffered_direct_async").filter(pl.col("sample") == kind)["elapsed_s"]).kind
        for kind in KINDS.values()
    }

    assert "cold_first" not in kinds.values()


def test_the_picture(tmp_path: Path) -> None:
    """Every run is a point in its place, each box has the median of the comparison, and the picture can be drawn."""
    chart = charts.run_strip(runs("buffered_direct_async"), run="statement")
    points, boxes = chart.to_dict()["datasets"].values()

    assert sorted(point["run"] for point in points) == list(range(1, 94))
    middles = {box["sample"]: box["median"] for box in boxes}
    found = pair("buffered_direct_async", PAIRS[0])
    assert [middles[name] for name in PAIRS[0]] == [one.value for one in found.medians]
    assert charts.save(chart, tmp_path / "runs.svg").read_text(encoding="utf-8").startswith("<svg")
