"""Metrics that their inputs contradict are refused, with the reason; the rest keep the schema and their bounds."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from awrparse import read_awr
from iolab import metrics
from iolab.metrics import METRICS, Interval, RefusedError, figure_of
from sqlplusparse import read_spool

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (metrics.ms_per_flash_read(0.73, 1837, 1800), "hits (1837) are more than requests (1800)"),
        (
            metrics.ms_per_flash_read(0.73, 900, 1000),
            "only 90.0% of the requests were flash hits: the time is not theirs",
        ),
        (
            metrics.ms_per_flash_read((0.0, 0.0, 0.01), 99, 100),
            "elapsed_s is shown as 0: shorter than the clock can tell",
        ),
        (metrics.ms_per_flash_read(None, 99, 100), "elapsed_s is not known"),
        (metrics.flash_hit_ratio(5, 4), "hits (5) are more than requests (4)"),
        (metrics.flash_hit_ratio(0, 0), "the divisor, 0, may be zero"),
        (metrics.flash_hit_ratio(-1, 4), "hits is negative: -1"),
        (metrics.read_size(5, 10).head(1), "10 requests cannot have read only 5 bytes"),
        (metrics.block_size((8192.0, 4000.0, 9000.0), 1), "8192 [4000, 9000] B for a block allows 4096, 8192"),
        (metrics.throughput(1, 0).head(1), "elapsed_s is shown as 0: shorter than the clock can tell"),
        (metrics.iops(1, 0), "elapsed_s is shown as 0: shorter than the clock can tell"),
        (metrics.direct_share(2, 1), "physical_reads_direct (2) are more than physical_reads (1)"),
        (metrics.smart_scan_saving(1, 2).tail(1), "returned_bytes (2) are more than eligible_bytes (1)"),
        (metrics.smart_scan_saving(1, 1).head(1), "total_bytes is not known"),
        (
            metrics.us_per_lio(10, cpu_s=1, physical_reads=3),
            "3 blocks came from disk: the time is not that of logical I/O",
        ),
        (metrics.us_per_lio(10), "elapsed_s is not known"),
        (metrics.lio_share(10**9, 10, 1), "logical I/O would take 10000 of the time: lio_us is not of this workload"),
        (metrics.pio_lio_factor(6, 5, blocks=0), "a read has at least one block, not 0"),
        (metrics.time_change(0, 1).head(1), "before_s is shown as 0: shorter than the clock can tell"),
        (metrics.rate(1, None), "elapsed_s is not known"),
        (metrics.rank_correlation([1, 2], [1, 2]), "2 pairs are too few: no order of them is unlikely"),
        (metrics.rank_correlation([1] * 5, [1, 2, 3, 4, 5]), "one of the measures does not change"),
        (
            metrics.rank_correlation([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, float("nan")]),
            "one of the measures holds something that is not a finite number",
        ),
        (metrics.rate(float("nan"), 10), "count: a figure is not a finite number"),
        (metrics.rate(5, float("inf")), "elapsed_s: a figure is not a finite number"),
        (metrics.rate(1e308, 1e-10), "a figure is not a finite number"),
        (metrics.rate(5, -1), "elapsed_s is negative: -1"),
    ],
)
def test_refused_with_the_reason(frame: pl.DataFrame, reason: str) -> None:
    """The value and its bounds are null, and the caveats say why."""
    assert frame.select("value", "lo", "hi", "caveats").row(0) == (None, None, None, f"refused: {reason}")
    assert figure_of(frame) is None


WAITS = {
    "event": "log file sync",
    "waits": 100,
    "total_wait_s": 10.0,
    "total_wait_s_lo": 9.95,
    "total_wait_s_hi": 10.05,
    "avg_wait_ms": 200.0,
    "avg_wait_ms_lo": 199.5,
    "avg_wait_ms_hi": 200.5,
    "db_time_pct": 50.0,
    "db_time_pct_lo": 49.95,
    "db_time_pct_hi": 50.05,
}


def test_an_average_of_another_population() -> None:
    """100 waits of 200 ms are not 10 s: no value lies within both."""
    waits = pl.DataFrame([WAITS])

    assert metrics.average_waits(waits).item(0, "caveats") == (
        "refused: avg_wait_ms: the figures contradict each other: 100 [99.5, 100.5], 200 [199.5, 200.5]"
    )
    assert len(metrics.contradictions(waits)) == 1
    assert metrics.db_time(waits).item(0, "caveats").startswith("refused: no row shows a time")


def test_shares_of_different_totals() -> None:
    """Two rows whose time and share give different DB times cannot be of one report."""
    rows = [
        WAITS | {"avg_wait_ms": None},
        WAITS | {"avg_wait_ms": None, "db_time_pct": 20.0, "db_time_pct_lo": 19.95, "db_time_pct_hi": 20.05},
    ]

    assert (
        metrics.db_time(pl.DataFrame(rows)).item(0, "caveats").startswith("refused: the figures contradict each other")
    )


def test_no_waits_no_average() -> None:
    """An event that was not waited for has no average."""
    waits = pl.DataFrame({"event": ["x"], "waits": [0], "total_wait_s": [0.0]})

    assert metrics.average_waits(waits).item(0, "caveats") == "refused: the divisor, 0, may be zero"


def test_a_time_that_is_no_number_is_not_known() -> None:
    """A frame made elsewhere may hold NaN: the row is refused, and the others stay."""
    waits = pl.DataFrame({"event": ["x", "y"], "waits": [10, 10], "total_wait_s": [float("nan"), 1.0]})
    found = metrics.average_waits(waits)

    assert found.get_column("value").to_list() == [None, 100.0]
    assert found.item(0, "caveats") == "refused: total_wait_s is not known"


def test_the_rounding_of_the_arithmetic_is_no_contradiction() -> None:
    """0.07 s in 7 waits, or 0.3 s in 3, are exactly the averages shown, whatever the last bit says."""
    waits = pl.DataFrame(
        {"event": ["x", "y"], "waits": [3, 10], "total_wait_s": [0.1 + 0.2, 1.1], "avg_wait_ms": [100.0, 110.0]}
    )

    assert metrics.contradictions(waits) == []
    assert metrics.average_waits(waits).get_column("value").to_list() == pytest.approx([100.0, 110.0])


def test_class_shares_without_the_printed_share() -> None:
    """Time / DB time alone gives the share where the report prints none; without both it is refused."""
    classes = pl.DataFrame({"wait_class": ["User I/O"], "waits": [10], "total_wait_s": [30.0]})

    assert metrics.class_shares(classes, (60.0, 50.0, 75.0)).select("value", "lo", "hi").row(0) == (0.5, 0.4, 0.6)
    assert metrics.class_shares(classes).item(0, "caveats") == "refused: db_time_pct is not known"


def test_frames_without_a_key() -> None:
    """A frame that is no table of waits is named by what it has."""
    with pytest.raises(KeyError, match="no column of event, wait_class, statistic in the frame; it has x"):
        metrics.average_waits(pl.DataFrame({"x": [1]}))


def test_one_figure_is_wanted() -> None:
    """Which of several rows is meant must be said."""
    with pytest.raises(KeyError, match="one metric: 2 rows of 2"):
        figure_of(metrics.throughput(1, 1))
    with pytest.raises(KeyError, match="speed: 0 rows of 2"):
        figure_of(metrics.throughput(1, 1), "speed")


def test_elapsed_is_an_upper_bound() -> None:
    """The elapsed time holds more than logical I/O, so nothing bounds the cost from below but zero."""
    row = metrics.us_per_lio(1000, elapsed_s=(0.01, 0.005, 0.02)).row(0, named=True)

    assert (row["value"], row["lo"], row["hi"]) == (10.0, 0.0, 20.0)
    assert row["caveats"].startswith("an upper bound")


COUNTS = st.integers(1, 10**9)
SPREADS = st.floats(0, 0.5)

#: Metrics of positive figures, by how many they take.
PLAIN: list[tuple[Callable[..., pl.DataFrame], int]] = [
    (metrics.read_size, 2),
    (metrics.blocks_per_read, 2),
    (metrics.throughput, 2),
    (metrics.iops, 2),
    (metrics.flash_hit_ratio, 2),
    (metrics.direct_share, 2),
    (metrics.lio_share, 3),
    (metrics.pio_lio_factor, 2),
    (metrics.rows_per_trip, 2),
    (metrics.time_change, 2),
    (metrics.rate, 2),
    (metrics.per_transaction, 2),
    (metrics.average_active_sessions, 2),
    (metrics.smart_scan_saving, 3),
    (metrics.ms_per_flash_read, 3),
    (metrics.block_size, 2),
]


def around(value: float, spread: float) -> Interval:
    """A figure that was rounded."""
    return Interval(value, value * (1 - spread), value * (1 + spread))


@given(st.sampled_from(PLAIN), st.tuples(COUNTS, COUNTS, COUNTS), SPREADS, SPREADS)
def test_bounds_hold_the_value_and_widen(
    metric: tuple[Callable[..., pl.DataFrame], int], values: tuple[int, int, int], one: float, two: float
) -> None:
    """Whatever the figures: the schema, the value within its bounds, and wider figures never give narrower bounds."""
    function, n = metric
    narrow, wide = min(one, two), max(one, two)
    close, far = (function(*(around(value, spread) for value in values[:n])) for spread in (narrow, wide))

    assert close.schema == METRICS
    known = close.filter(pl.col("value").is_not_null())
    assert known.filter(~pl.col("value").is_between("lo", "hi")).is_empty()
    for near, loose in zip(close.iter_rows(named=True), far.iter_rows(named=True), strict=True):
        if near["value"] is not None and loose["value"] is not None:
            assert loose["lo"] <= near["lo"]
            assert near["hi"] <= loose["hi"]


@given(COUNTS, COUNTS, st.integers(1, 1000))
def test_scaling_units_scales_the_rate(total: int, seconds: int, factor: int) -> None:
    """Bytes times a factor are a rate times the factor."""
    once, more = (metrics.throughput(total * scale, seconds).item(0, "value") for scale in (1, factor))

    assert more == pytest.approx(once * factor)


@given(COUNTS, COUNTS)
def test_swapping_times_mirrors_the_change(a: int, b: int) -> None:
    """The speedup one way is the ratio of times the other way."""
    one, other = metrics.time_change(a, b), metrics.time_change(b, a)

    assert one.filter(pl.col("metric") == "speedup").item(0, "value") == pytest.approx(
        other.filter(pl.col("metric") == "time_ratio").item(0, "value")
    )


def test_a_spool_without_statistics() -> None:
    """No figures, no metrics; the frame has the schema all the same."""
    spool = read_spool(b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n")

    assert metrics.read_metrics(spool).schema == METRICS
    assert metrics.read_metrics(spool).is_empty()
    assert metrics.statistic(spool, "physical reads") is None


def test_a_size_that_is_no_whole_number_of_bytes() -> None:
    """A column headed as bytes may hold an average: the figure is kept as it is printed, and nothing fails."""
    spool = read_spool(
        b"SQL> select name, value bytes from v$mystat;\n\n"
        b"NAME                                BYTES\n------------------------------ ----------\n"
        b"physical read total bytes           56.554\n"
    )

    assert metrics.statistic(spool, "physical read total bytes") == Interval(56.554, 56.5535, 56.5545)


def test_several_timed_statements() -> None:
    """Which statement is meant must be said."""
    run = b"SQL> select 1 from dual;\n\nElapsed: 00:00:00.0%d\n\n"
    spool = read_spool(run % 2 + run % 3)

    with pytest.raises(LookupError, match="statements 1, 2 were timed"):
        metrics.elapsed_of(spool)
    assert metrics.elapsed_of(spool, statement=2) == Interval(0.03, 0.025, 0.04)


def test_a_report_as_a_source() -> None:
    """Statistics of a report are its totals; a fragment has no length."""
    report = read_awr(
        b"Wait Classes by Total Wait Time\n"
        b"                        Total Wait\n"
        b"Wait Class       Waits  Time (sec)\n"
        b"------------- -------- -----------\n"
        b"User I/O           100          10\n"
    )

    assert metrics.statistic(report, "physical reads") is None
    assert metrics.elapsed_of(report) is None


def test_unequal_pairs() -> None:
    """A correlation is of pairs."""
    with pytest.raises(ValueError, match="3 figures against 2"):
        metrics.rank_correlation([1, 2, 3], [1, 2])


def test_public_names() -> None:
    """What is listed is there, sorted, and every function says what comes back."""
    assert metrics.__all__ == sorted(metrics.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    for name in metrics.__all__:
        public = getattr(metrics, name)
        assert name.isupper() or inspect.getdoc(public)


def test_missing_bounds_are_not_bounds() -> None:
    """A figure without an upper bound cannot be computed with."""
    open_bucket = metrics.metrics_frame([metrics.Metric("wait_us_p99", 2.0, 2.0, None, "us", "")])

    assert figure_of(open_bucket) is None
    assert issubclass(RefusedError, ValueError)


def test_fewer_blocks_than_requests_are_of_other_reads() -> None:
    """A request reads a block at least: requests of control files among them refuse the average."""
    (row,) = metrics.blocks_per_read(1_000, 8_000).to_dicts()

    assert (row["value"], "less than one each" in row["caveats"]) == (None, True)
    assert metrics.blocks_per_read(7_990, 8_000).item(0, "value") == 7_990 / 8_000


def test_rates_are_named_by_what_was_counted() -> None:
    """Reads are not I/O: reads and writes, of all activity and of the application, have names of their own."""
    listed = {
        "physical read total IO requests": 90_000,
        "physical read total bytes": 1_474_560_000,
        "physical read IO requests": 700,
        "physical read bytes": 5_734_400,
        "physical reads": 700,
        "physical write total IO requests": 240_000,
        "physical write total bytes": 6_000_000_000,
        "physical write IO requests": 1_000,
        "physical write bytes": 8_192_000,
    }
    rows = "\n".join(f"{name:<40} {value:>14}" for name, value in listed.items())
    parts = (
        "SQL> select name, value from v$mystat;\n",
        f"{'NAME':<40} {'VALUE':>14}\n{'-' * 40} {'-' * 14}\n{rows}\n\n9 rows selected.\n",
        "SQL> select count(*) from orders;\n\nElapsed: 00:00:10.00\n",
    )
    text = "\n".join(parts)
    found = metrics.read_metrics(read_spool(text.encode()), statement=2)
    value = dict(found.select("metric", "value").iter_rows())
    caveat = dict(found.select("metric", "caveats").iter_rows())

    assert "iops" not in value
    assert value["read_iops"] == pytest.approx(9_000, rel=0.001)
    assert value["write_iops"] == pytest.approx(24_000, rel=0.001)
    assert value["application_read_iops"] == pytest.approx(70, rel=0.001)
    assert (value["avg_read_kib"], value["avg_application_read_kib"], value["blocks_per_read"]) == (16.0, 8.0, 1.0)
    assert "reads of all activity" in caveat["read_iops"]
    assert "the application's reads only" in caveat["application_read_iops"]


def test_shares_of_call_time_give_no_db_time() -> None:
    """Statspack and 10.2 print shares of total call time: another base, so another column, and no DB time of it."""
    folder = Path(__file__).parents[1] / "awrparse" / "awr_data" / "valid"
    for name in ("statspack_102", "awr_text_102_rac"):
        report = read_awr(folder / f"{name}.txt")
        events = report.with_bounds("top_events")

        assert events.get_column("call_time_pct").drop_nulls().len() > 0
        assert events.get_column("db_time_pct").drop_nulls().is_empty()
        assert metrics.db_time(events).item(0, "value") is None
