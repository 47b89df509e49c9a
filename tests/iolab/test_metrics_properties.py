"""What holds for every metric: units scale, swaps mirror, bounds hold the value, wider rounding never narrows them."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from iolab import metrics
from iolab.metrics import Interval
from straceparse import calls, io_requests, read_strace

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = settings(max_examples=40, deadline=None)
SLOW = settings(max_examples=12, deadline=None)  # each example parses a log

Frames = dict[str, pl.DataFrame]


def us_from_cpu(cpu_s: Interval, gets: Interval) -> pl.DataFrame:
    """Microseconds for a logical I/O from CPU."""
    return metrics.us_per_lio(gets, cpu_s=cpu_s)


def us_from_elapsed(elapsed_s: Interval, gets: Interval) -> pl.DataFrame:
    """Microseconds for a logical I/O from elapsed time."""
    return metrics.us_per_lio(gets, elapsed_s=elapsed_s)


#: Metrics of figures some of whose results do not grow with powers of them -> the power for each result and figure;
#: a result whose powers are all 0 is not compared.
POWERS: dict[Callable[..., pl.DataFrame], list[tuple[int, ...]]] = {
    metrics.ms_per_flash_read: [(1, -1, 0)],
    metrics.smart_scan_saving: [(1, 0, -1), (0, 0, 0)],
    metrics.time_change: [(0, 0), (1, -1), (-1, 1)],
    us_from_cpu: [(1, -1)],
    us_from_elapsed: [(1, -1)],
}
#: One legal size or none, and a choice between two times: nothing scales.
UNSCALED = {"block_size", "us_per_lio"}
#: By which share a figure grows to find the power.
STEP = 0.01
#: What gives a frame and is no metric: rows chosen from a frame, several metrics at once, the frame of given rows.
NO_METRICS = {"cpu_samples", "data_reads", "lio_cost", "metrics_frame", "read_metrics", "reads_of"}

PUBLIC = {name: function for name in metrics.__all__ if inspect.isfunction(function := getattr(metrics, name))}
#: The metrics: whatever gives a frame.
METRICS = sorted(
    name
    for name, function in PUBLIC.items()
    if "DataFrame" in str(inspect.signature(function).return_annotation) and name not in NO_METRICS
)


def figures_of(function: Callable[..., pl.DataFrame]) -> int:
    """How many figures a metric needs; 0 where it needs anything else."""
    needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    return len(needed) if all(one.annotation in {"Figure", "Interval"} for one in needed) else 0


#: The metrics of figures; one that is not in `POWERS` grows with whole powers that are found by trying.
OF_FIGURES = [
    *POWERS,
    *(one for name in METRICS if figures_of(one := PUBLIC[name]) > 1 and one not in POWERS and name not in UNSCALED),
]


def powers_of(function: Callable[..., pl.DataFrame]) -> list[tuple[int, ...]]:
    """How each result of a metric grows with each figure: as listed, else as found."""
    return POWERS.get(function) or found_powers(function)


def found_powers(function: Callable[..., pl.DataFrame]) -> list[tuple[int, ...]]:
    """How each result of a metric grows when one of its figures does."""
    n = figures_of(function)
    for figures in ([0.55, 0.71, 0.74], [0.74, 0.71, 0.55]):  # a part and its whole, and the other way round
        tried = [[one * (1 + STEP * (at == place)) for at, one in enumerate(figures[:n])] for place in range(-1, n)]
        first, *grown = (function(*map(Interval.exact, one))["value"].to_list() for one in tried)
        if None not in first:
            powers = [
                [math.log(other[row] / one) / math.log1p(STEP) for other in grown] for row, one in enumerate(first)
            ]
            if all(math.isclose(one, round(one), abs_tol=1e-6) for row in powers for one in row):
                return [tuple(map(round, row)) for row in powers]
    pytest.fail(f"{function.__name__} does not grow with powers of its figures: say in POWERS which of its rows do")


def sum_of(a: Interval, b: Interval) -> pl.DataFrame:
    """No product of powers."""
    return pl.DataFrame({"value": [a.value + b.value]})


def test_powers_are_found() -> None:
    """A quotient, a product, two results of one metric; a sum has none."""
    assert found_powers(metrics.flash_hit_ratio) == found_powers(metrics.blocks_per_read) == [(1, -1)]
    assert found_powers(metrics.lio_share) == [(1, 1, -1)]
    assert found_powers(metrics.throughput) == [(1, -1), (1, -1)]
    with pytest.raises(pytest.fail.Exception, match="sum_of does not grow with powers"):
        found_powers(sum_of)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_where_it_comes_from_and_its_limitations(name: str) -> None:
    """The page of metrics is made of the docstrings: unit or rows, source, and what the figures cannot show."""
    text = inspect.getdoc(PUBLIC[name]) or ""

    assert [part for part in ("Source: ", "Limitations: ", "Returns:") if part not in text] == []


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_tested(name: str) -> None:
    """By a doctest, or in a test of this folder."""
    is_used = re.compile(rf"\bmetrics\.{name}\b|\b{name}\(")

    assert "Examples:" in (inspect.getdoc(PUBLIC[name]) or "") or any(
        is_used.search(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("test_*.py")
    )


def around(value: float, share: float) -> Interval:
    """A figure that is known to a share of it."""
    return Interval(value, value * (1 - share), value * (1 + share))


figures = st.tuples(st.floats(0.5, 0.6), st.floats(0.7, 0.72), st.floats(0.73, 0.75))
factors = st.sampled_from([1 / 1024, 0.5, 2.0, 1000.0])


@QUICK
@given(st.sampled_from(OF_FIGURES), figures, st.floats(0, 0.02), st.integers(0, 2), factors)
def test_scaling_a_figure_scales_the_metric(
    function: Callable[..., pl.DataFrame], values: tuple[float, ...], share: float, place: int, factor: float
) -> None:
    """In other units of one input the metric is the same, in other units; where it is refused nothing is said."""
    powers = powers_of(function)
    n = len(powers[0])
    scales = [factor if at == place % n else 1.0 for at in range(n)]
    once = function(*(around(one, share) for one in values[:n]))
    more = function(*(around(one * scale, share) for one, scale in zip(values[:n], scales, strict=True)))

    for power, one, other in zip(powers, once.iter_rows(named=True), more.iter_rows(named=True), strict=True):
        if one["value"] is None or other["value"] is None or one["hi"] == 1 or other["hi"] == 1:
            continue  # refused, or a share that was cut at its whole
        if not any(power):
            continue
        grown = factor ** power[place % n]
        assert [other[name] for name in ("value", "lo", "hi")] == pytest.approx(
            [one[name] * grown for name in ("value", "lo", "hi")], rel=1e-9
        )


@QUICK
@given(st.sampled_from(OF_FIGURES), figures, st.floats(0, 0.02), st.floats(0, 0.02))
def test_wider_figures_never_narrow(
    function: Callable[..., pl.DataFrame], values: tuple[float, ...], one: float, other: float
) -> None:
    """The bounds of rougher figures hold those of finer ones, and both hold the value."""
    n = len(powers_of(function)[0])
    fine, rough = (function(*(around(value, share) for value in values[:n])) for share in sorted((one, other)))

    assert _never_narrows(fine, rough)


@QUICK
@given(st.tuples(*[st.floats(0.5, 50)] * 2), st.floats(0, 0.05))
def test_swapping_two_times_mirrors(values: tuple[float, float], share: float) -> None:
    """The speedup one way is the ratio of times the other way, bounds and all."""
    a, b = (around(value, share) for value in values)
    one, other = metrics.time_change(a, b), metrics.time_change(b, a)
    there, back = (
        frame.filter(pl.col("metric") == name).select("value", "lo", "hi").row(0)
        for frame, name in ((one, "speedup"), (other, "time_ratio"))
    )

    assert there == pytest.approx(back)


@pytest.mark.parametrize(
    ("y", "p", "is_supported"),
    [([1, 2, 3, 4, 5], "0.017", True), ([1, 2, 3, 5, 4], "0.083", False), ([5, 4, 3, 1, 2], "0.083", False)],
)
def test_few_pairs_are_counted_out(y: list[float], p: str, is_supported: bool) -> None:  # noqa: FBT001 - a parameter
    """The exact p of R's cor.test: 2 and 10 of the 120 orders; Student's t would call the second a relation (0.037)."""
    found = metrics.rank_correlation([1, 2, 3, 4, 5], y)

    assert found.item(0, "basis").endswith(f"n = 5, p = {p}")
    assert (found.item(0, "caveats") == "a relation, not a cause") == is_supported


def test_few_pairs_with_ties_agree_with_the_permutation_test() -> None:
    """Ties are counted as they are; SciPy's permutation test of all pairings gives the same share."""
    x, y = [1.0, 5.0, 25.0, 1.0, 5.0, 25.0], [2.0, 1.0, 2.5, 2.0, 2.2, 3.0]
    result = stats.permutation_test(
        (x,), lambda one: stats.spearmanr(one, y).statistic, permutation_type="pairings", n_resamples=math.inf
    )
    found = metrics.rank_correlation(x, y).item(0, "basis")

    assert found == f"Spearman's rank correlation; n = 6, p = {result.pvalue:.2g}"


@QUICK
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=5, max_size=12), factors)
def test_rank_correlation(pairs: list[tuple[int, int]], factor: float) -> None:
    """It knows no units, is the same both ways round, and turns its sign with one of the measures."""
    x, y = [float(one) for one, _ in pairs], [float(two) for _, two in pairs]
    found = metrics.rank_correlation(x, y).item(0, "value")
    others = [
        metrics.rank_correlation([one * factor for one in x], y).item(0, "value"),
        metrics.rank_correlation(y, x).item(0, "value"),
    ]

    assert others == pytest.approx([found, found])
    if found is not None:
        assert -1 <= found <= 1
        assert metrics.rank_correlation([-one for one in x], y).item(0, "value") == pytest.approx(-found, abs=1e-12)


# --- tables of waits


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """A table of wait classes of a report of any length and load; each figure is rounded as reports round."""
    seconds = draw(st.integers(600, 7200))
    rows = []
    for place in range(draw(st.integers(1, 4))):
        waits, time = draw(st.integers(10, 10**6)), draw(st.floats(50, 5000))
        rows.append(
            {
                "wait_class": f"class {place}",
                "waits": waits,
                **_cell("total_wait_s", time, 0.5),
                **_cell("avg_wait_ms", time / waits * 1000, time / waits * 2),
                **_cell("db_time_pct", time / seconds * 25, 0.05),
                **_cell("avg_active_sessions", time / seconds, 0.05),
            }
        )
    return pl.DataFrame(rows)


def _cell(name: str, value: float, half: float) -> dict[str, float]:
    return {name: value, f"{name}_lo": max(value - half, 0.0), f"{name}_hi": value + half}


def _widened(table: pl.DataFrame, share: float) -> pl.DataFrame:
    """The same figures, rounded more roughly."""
    names = [name for name in table.columns if f"{name}_lo" in table.columns]
    return table.with_columns(
        *((pl.col(f"{name}_lo") * (1 - share)).alias(f"{name}_lo") for name in names),
        *((pl.col(f"{name}_hi") * (1 + share)).alias(f"{name}_hi") for name in names),
    )


def _scaled(table: pl.DataFrame, factor: float, *columns: str) -> pl.DataFrame:
    return table.with_columns(
        (pl.col(f"{name}{end}") * factor).alias(f"{name}{end}") for name in columns for end in ("", "_lo", "_hi")
    )


def _never_narrows(fine: pl.DataFrame, rough: pl.DataFrame) -> bool:
    """Do all rows of both hold their value, and those of the second the bounds of the first's?"""
    for near, far in zip(fine.iter_rows(named=True), rough.iter_rows(named=True), strict=True):
        for row in (near, far):
            if row["value"] is not None:
                assert row["lo"] <= row["value"]
                assert row["hi"] is None or row["value"] <= row["hi"]
        if near["value"] is not None and far["value"] is not None:
            assert far["lo"] <= near["lo"]
            assert far["hi"] is None or (near["hi"] is not None and near["hi"] <= far["hi"])
    return True


OF_WAITS: list[Callable[[pl.DataFrame], pl.DataFrame]] = [
    metrics.average_waits,
    metrics.total_waits,
    metrics.db_time,
    metrics.elapsed,
    metrics.class_shares,
]


@QUICK
@given(st.sampled_from(OF_WAITS), tables(), st.floats(0, 0.5))
def test_wider_rounding_of_waits(
    function: Callable[[pl.DataFrame], pl.DataFrame], table: pl.DataFrame, share: float
) -> None:
    """What several rougher figures allow together holds what the finer ones do."""
    assert _never_narrows(function(table), function(_widened(table, share)))


@QUICK
@given(st.sampled_from(OF_WAITS), tables(), factors)
def test_scaling_the_times_of_waits(
    function: Callable[[pl.DataFrame], pl.DataFrame], table: pl.DataFrame, factor: float
) -> None:
    """Times of another unit scale averages, totals, DB time and length; shares as shown stay."""
    once, more = function(table), function(_scaled(table, factor, "total_wait_s", "avg_wait_ms"))
    grown = 1.0 if function is metrics.class_shares else factor

    for name in ("value", "lo", "hi"):
        assert more[name].to_list() == pytest.approx([None if v is None else v * grown for v in once[name]])


@QUICK
@given(st.lists(st.integers(0, 400), min_size=3, max_size=8), st.floats(0, 0.2), st.floats(0, 0.2), factors)
def test_quantiles_of_histograms(counts: list[int], one: float, other: float, factor: float) -> None:
    """Edges in another unit scale; rougher shares never narrow; the value lies in its bucket."""
    total = max(sum(counts), 1)
    shares = [100 * count / total for count in counts]

    def histogram(half: float, unit: float) -> pl.DataFrame:
        edges = [0.0, *(1000.0 * 2**place for place in range(len(counts)))]
        return pl.DataFrame(
            {
                "event": ["log file sync"] * len(counts),
                "waits": [total] * len(counts),
                "from_us": [edge * unit for edge in edges[:-1]],
                "to_us": [edge * unit for edge in edges[1:]],
                "waits_pct": shares,
                "waits_pct_lo": [max(share - half, 0.0) for share in shares],
                "waits_pct_hi": [share + half for share in shares],
            }
        )

    fine, rough = (metrics.latency_quantiles(histogram(half, 1.0)) for half in sorted((one, other)))
    scaled = metrics.latency_quantiles(histogram(min(one, other), factor))

    assert _never_narrows(fine, rough)
    assert scaled["value"].to_list() == pytest.approx([None if v is None else v * factor for v in fine["value"]])


# --- traces


def trace(gaps: list[int], factor: int, *, size: int = 8192, is_timed: bool = True) -> Frames:
    """The calls and requests of a log of reads, each gap and time the given microseconds times the factor."""
    lines = []
    for place, gap in enumerate(gaps):
        took = f" <{gap * factor // 2 / 1e6:.6f}>" if is_timed else ""
        before = gaps[place - 1] * factor / 1e6 if place else 0.0
        lines.append(f'{before:>13.6f} pread64(268, ""..., {size}, {place * size}) = {size}{took}\n')
    found = calls(read_strace("".join(lines).encode()))
    return {"calls": found, "requests": io_requests(found)}


OF_CALLS = [metrics.call_gaps, metrics.call_times, metrics.submit_cost, metrics.time_shares, metrics.database_waits]
OF_REQUESTS = [metrics.read_sizes, metrics.read_rate, metrics.read_latency, metrics.sequentiality, metrics.depth]
GROWS = {"us": 1, "MiB/s": -1, "MB/s": -1, "1/s": -1}


@SLOW
@given(st.lists(st.integers(50, 5000).map(lambda gap: 2 * gap), min_size=4, max_size=8), st.booleans())
def test_slower_traces_scale(gaps: list[int], is_timed: bool) -> None:  # noqa: FBT001 - drawn
    """In a log that is three times as slow times are three times as long, rates a third, sizes and shares the same."""
    fast, slow = (trace(gaps, factor, is_timed=is_timed) for factor in (1, 3))
    for functions, kind in ((OF_CALLS, "calls"), (OF_REQUESTS, "requests")):
        for function in functions:
            once, more = function(fast[kind]), function(slow[kind])
            powers = [GROWS.get(unit, 0) for unit in once["unit"]]
            assert more["value"].to_list() == pytest.approx(
                [None if v is None else v * 3.0**power for v, power in zip(once["value"], powers, strict=True)]
            )
            outside = pl.any_horizontal(pl.col("lo") > pl.col("value"), pl.col("hi") < pl.col("value"))
            assert pl.concat([once, more]).filter(outside).is_empty()


@SLOW
@given(st.lists(st.integers(50, 5000), min_size=3, max_size=8))
def test_larger_reads_scale(gaps: list[int]) -> None:
    """Reads four times as large are four times the bytes and the rate, in the same number of reads a second."""
    small, large = (trace(gaps, 1, size=size)["requests"] for size in (8192, 32768))
    sizes = [
        function(one)["value"].to_list()
        for function in (metrics.read_sizes, metrics.read_rate)
        for one in (small, large)
    ]

    assert sizes[1] == pytest.approx([one * grown for one, grown in zip(sizes[0], (1, 4, 4, 4, 4), strict=True)])
    assert sizes[3] == pytest.approx([one * grown for one, grown in zip(sizes[2], (4, 4, 1, 0.25), strict=True)])


@SLOW
@given(st.lists(st.integers(50, 5000).map(lambda gap: 2 * gap), min_size=3, max_size=8))
def test_queue_depth_starts_and_ends_at_the_requests(gaps: list[int]) -> None:
    """Synchronous reads: one at a time, and none at the end."""
    curve = metrics.queue_depth(trace(gaps, 1)["requests"])

    assert set(curve["depth"]) == {0, 1}
    assert curve["depth"][-1] == 0
    assert curve["at"].is_sorted()
