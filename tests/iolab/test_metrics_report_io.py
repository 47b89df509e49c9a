"""I/O by function, commits, multiblock reads, Pareto, samples, Little's law: figures, bounds, refusals."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import iolab
from awrparse import read_awr
from iolab import metrics
from iolab.metrics.trace_facts import trace_of
from iolab.pages.report_summary import report_figures
from iolab.pages.trace_summary import trace_figures

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series" / "awrrpt_1_4102_4103.txt"
CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"


def waits(**events: tuple[int, float]) -> pl.DataFrame:
    """A table of waits: event=(waits, seconds), underscores for blanks."""
    rows = [(name.replace("_", " "), count, seconds) for name, (count, seconds) in events.items()]
    return pl.DataFrame(rows, schema={"event": pl.String, "waits": pl.Int64, "total_wait_s": pl.Float64}, orient="row")


def named(found: pl.DataFrame, metric: str) -> dict[str, object]:
    """The row of one metric."""
    return found.filter(metric=metric).row(0, named=True)


def test_rates_by_function_are_bytes_over_the_period() -> None:
    """M a second is printed with few digits; the bytes of the period over its length know more; totals are left out."""
    table = pl.DataFrame(
        {
            "function": ["DBWR", "Total"],
            "is_total": [False, True],
            **{f"{side}_requests_per_s{end}": [value] * 2 for side, value in (("read", 0.0), ("write", 15.9))
               for end in ("", "_lo", "_hi")},
            **{f"read_bytes_per_s{end}": [0.0] * 2 for end in ("", "_lo", "_hi")},
            "write_bytes_per_s": [288358.4] * 2, "write_bytes_per_s_lo": [283115.0] * 2,
            "write_bytes_per_s_hi": [293602.0] * 2, "read_bytes": [0.0] * 2, "write_bytes": [1042284544.0] * 2,
            "write_bytes_lo": [1041760256.0] * 2, "write_bytes_hi": [1042808832.0] * 2,
        }
    )  # fmt: skip
    printed, joined = metrics.io_by_function(table), metrics.io_by_function(table, (3616.8, 3616.5, 3617.1))

    assert set(joined["function"]) == {"DBWR"}
    assert named(joined, "write_mb_per_s")["value"] == pytest.approx(0.28818, abs=1e-4)
    widths = [
        named(found, "write_mb_per_s")["hi"] - named(found, "write_mb_per_s")["lo"] for found in (printed, joined)
    ]
    assert widths[1] < widths[0] / 10
    assert "may be zero" in str(named(joined, "avg_read_kib")["caveats"])
    assert named(joined, "avg_write_kib")["value"] == pytest.approx(288358.4 / 15.9 / 1024)


def test_bytes_of_another_period_are_refused() -> None:
    """Bytes over a wrong length contradict the rate that is printed."""
    table = pl.DataFrame({"filetype": ["Data File"], "read_requests_per_s": [10.0], "read_bytes_per_s": [8e4],
                          "read_bytes": [8e6], "write_requests_per_s": [0.0], "write_bytes_per_s": [0.0]})  # fmt: skip

    assert named(metrics.io_by_function(table, 100.0), "read_mb_per_s")["value"] == pytest.approx(0.08)
    assert "contradict" in str(named(metrics.io_by_function(table, 60.0), "read_mb_per_s")["caveats"])


def histogram(event: str, *shares: float) -> pl.DataFrame:
    """A histogram with buckets of powers of two from 1 ms."""
    edges = [0.0, *(1000.0 * 2**power for power in range(len(shares)))]
    return pl.DataFrame(
        {"event": [event] * len(shares), "waits": [1000] * len(shares), "section": [None] * len(shares),
         "from_us": edges[:-1], "to_us": edges[1:], "waits_pct": list(shares)},
        schema_overrides={"section": pl.String},
    )  # fmt: skip


def test_what_a_commit_waits_for_beyond_the_write() -> None:
    """Averages of one mode subtract; a busy log writer, several of them, and two modes do not."""
    foreground, background = waits(log_file_sync=(2000, 5.0)), waits(log_file_parallel_write=(1800, 2.7))
    plain = metrics.commit_times(foreground, background, 3600)
    assert named(plain, "commit_beyond_write_ms")["value"] == pytest.approx(1.0)
    assert named(plain, "log_writer_busy")["value"] == pytest.approx(2.7 / 3600)

    busy = metrics.commit_times(foreground, waits(log_file_parallel_write=(1800, 2700.0)), 3600)
    assert "busy 75%" in str(named(busy, "commit_beyond_write_ms")["caveats"])
    several = metrics.commit_times(foreground, waits(log_file_parallel_write=(1800, 7200.0)), 3600)
    assert "several writers" in str(named(several, "log_writer_busy")["caveats"])
    assert named(several, "commit_beyond_write_ms")["value"] is None
    modes = metrics.commit_times(foreground, background, 3600, histogram("log file sync", 60.0, 5.0, 5.0, 30.0))
    assert "more than one mode" in str(named(modes, "commit_beyond_write_ms")["caveats"])
    none = metrics.commit_times(foreground.clear(), background, 3600)
    assert named(none, "commit_beyond_write_ms")["value"] is None


@pytest.mark.parametrize(
    ("shares", "modes"),
    [
        ((100.0,), 1),
        ((10.0, 60.0, 25.0, 5.0), 1),
        ((60.0, 5.0, 5.0, 30.0), 2),
        ((45.0, 10.0, 0.0, 45.0), 2),
        ((40.0, 30.0, 20.0, 10.0), 1),
        ((30.0, 2.0, 30.0, 2.0, 36.0), 3),
        ((96.0, 0.0, 0.0, 4.0), 1),
    ],
)
def test_modes_of_a_histogram(shares: tuple[float, ...], modes: int) -> None:
    """A dip to half of the smaller peak parts two modes; a peak below 5 % is none."""
    assert metrics.modes_of(histogram("x", *shares), "x") == modes


def test_blocks_of_a_multiblock_read() -> None:
    """1,000 blocks, 600 single ones, 25 scattered reads: 16 blocks each; parallel reads make it an upper bound."""
    plain = waits(db_file_sequential_read=(500, 1.0), db_file_scattered_read=(25, 1.0))
    behind = waits(db_file_sequential_read=(100, 1.0))
    found = metrics.multiblock_reads(plain, behind, cache_reads=1000, blocks_read=4000)

    assert found["value"].to_list() == pytest.approx([0.6, 16.0, 0.75])
    parallel = pl.concat([plain, waits(db_file_parallel_read=(7, 1.0))])
    bound = named(metrics.multiblock_reads(parallel, behind, cache_reads=1000), "effective_mbrc")
    assert (bound["lo"], bound["hi"]) == (1.0, 16.0)
    assert "upper bound" in str(bound["caveats"])


@pytest.mark.parametrize(
    ("cache_reads", "metric", "reason"),
    [
        (100, "single_block_share", "are more than"),
        (100, "effective_mbrc", "are more than"),
        (610, "effective_mbrc", "do not exist"),
        (1_000_000, "effective_mbrc", "other reads"),
    ],
)
def test_counts_of_other_reads_are_refused(cache_reads: int, metric: str, reason: str) -> None:
    """More waits for single blocks than blocks, less than a block a read, or more than any read holds."""
    foreground = waits(db_file_sequential_read=(600, 1.0), db_file_scattered_read=(25, 1.0))
    found = metrics.multiblock_reads(foreground, foreground.clear(), cache_reads=cache_reads)

    assert reason in str(named(found, metric)["caveats"])
    assert named(found, metric)["value"] is None


def test_a_little_skew_of_the_snapshots_is_no_contradiction() -> None:
    """604 waits and 600 blocks are one population, counted at two moments."""
    foreground = waits(db_file_sequential_read=(604, 1.0))
    share = named(metrics.multiblock_reads(foreground, foreground.clear(), cache_reads=600), "single_block_share")

    assert share["value"] == 1.0


def test_pareto_names_its_base() -> None:
    """Shares of the instance where its total is given, else of the listed rows; rows beyond the whole are refused."""
    table = pl.DataFrame({"owner": ["A", "A", "B"], "object": ["T", "I", "T"], "value": [20, 50, 10]})
    listed = metrics.pareto(table, "value", names=["owner", "object"])
    whole = metrics.pareto(table, "value", names=["owner", "object"], whole=200, largest=2)

    assert listed.select("rank", "name", "value").rows() == [(1, "A.I", 0.625), (2, "A.T", 0.875), (3, "B.T", 1.0)]
    assert "rows listed" in listed.item(0, "basis")
    assert whole["value"].to_list() == [0.25, 0.35]
    assert "its own share is 10.0%" in whole.item(1, "basis")
    assert metrics.pareto(table, "value", names=["object"], whole=60)["value"].to_list()[1:] == [None, None]


def test_shares_of_samples_have_rounding_and_chance_apart() -> None:
    """27.9 % of 60 samples: known to 0.05 points as printed, and to about 11 by chance."""
    table = pl.DataFrame({"event": ["db file sequential read"], "activity_pct": [27.9]})
    table = table.with_columns(activity_pct_lo=27.85, activity_pct_hi=27.95)
    few, many, unknown = (metrics.ash_shares(table, samples).row(0, named=True) for samples in (60, 60_000, None))

    assert few["hi"] - few["lo"] == pytest.approx(0.001)
    assert few["ci_lo"] < 0.2
    assert few["ci_hi"] > 0.38
    assert many["ci_hi"] - many["ci_lo"] < 0.01
    assert unknown["ci_lo"] is None
    assert unknown["value"] == pytest.approx(0.279)
    assert metrics.ash_shares(table.with_columns(activity_pct_lo=101.0, activity_pct=101.0), 9).item(0, "value") is None


def test_a_state_never_seen_may_still_have_a_share() -> None:
    """None of 16 samples leaves up to 17 %, none of 3,000 up to 0.1 %; no sample says nothing."""
    assert [round(metrics.never_seen(n).item(0, "ci_hi"), 4) for n in (16, 3000)] == [0.1707, 0.001]
    assert metrics.never_seen(0).item(0, "value") is None


@pytest.mark.parametrize(
    "name", ["async_direct_tt_T", "async_buffered_tt_T", "scattered_direct_tt_T", "sequential_direct_f_ttt_T_y"]
)
def test_depth_rate_and_latency_of_real_traces_agree(name: str) -> None:
    """Little's law holds within 20 % where a trace shows both ends of its requests."""
    requests = iolab.load(CAPTURES / f"{name}.strace").requests.collect()
    found = metrics.littles_law(requests)

    assert named(found, "littles_law_ratio")["value"] == pytest.approx(1, abs=0.2)
    assert "agree" in str(named(found, "littles_law_ratio")["caveats"])


def test_pages_show_littles_law_and_the_shares_of_samples() -> None:
    """The figures of a trace hold the check of its depth, those of an ASH report each event's share with its chance."""
    trace = trace_of(iolab.load(CAPTURES / "async_direct_tt_T.strace"))
    report = iolab.load(Path(__file__).parents[1] / "awrparse" / "awr_data" / "valid" / "ash_121.txt")

    of_trace, _ = trace_figures(trace)
    of_report, _ = report_figures(report)

    assert of_trace.get_column("metric").to_list().count("depth_mean") == 1
    assert named(of_trace, "littles_law_ratio")["value"] == pytest.approx(1, abs=0.2)
    shares = of_report.filter(pl.col("metric").str.starts_with("activity_share: "))
    assert shares.height == report["ash_top_events"].get_column("event").n_unique()
    assert shares.filter(pl.col("ci_lo") <= pl.col("lo")).height == shares.drop_nulls("ci_lo").height


def test_requests_that_are_missing_break_littles_law() -> None:
    """Latencies halved, as a wrong match would: the check says that depth, rate and latency are not of one queue."""
    requests = iolab.load(CAPTURES / "async_direct_tt_T.strace").requests.collect()
    wrong = requests.with_columns((pl.col("latency").dt.total_nanoseconds() // 2).cast(pl.Duration("ns")))
    empty = metrics.littles_law(requests.with_columns(latency=pl.lit(None, pl.Duration("ns"))))

    assert "use none alone" in str(named(metrics.littles_law(wrong), "littles_law_ratio")["caveats"])
    assert empty["value"].to_list() == [None, None, None]


def test_figures_of_a_whole_report() -> None:
    """The sample's functions, commits and reads: what its tables print, and nothing refused but zero rates."""
    report = read_awr(SERIES)
    elapsed = metrics.elapsed_of(report)
    tables = [report.with_bounds(name) for name in ("foreground_events", "background_events")]
    commits = metrics.commit_times(*tables, elapsed, report.with_bounds("event_histogram"))

    assert named(commits, "commit_ms")["value"] == pytest.approx(1.62, abs=0.005)
    assert 0 < float(str(named(commits, "log_write_ms")["value"])) < 1.62
    if "iostat_function" in report:
        found = metrics.io_by_function(report.with_bounds("iostat_function"), elapsed)
        assert found.filter(pl.col("caveats").str.contains("contradict")).is_empty()


def test_several_instances_are_put_together_and_have_a_log_writer_each() -> None:
    """The averages are of the waits of all; no share of the period is that of one process."""
    one, two = waits(log_file_sync=(1000, 2.0)), waits(log_file_sync=(1000, 20.0))
    write = waits(log_file_parallel_write=(900, 0.9))
    named = [
        pl.concat([a.with_columns(instance=pl.lit("1")), b.with_columns(instance=pl.lit("2"))])
        for a, b in ((one, two), (write, write))
    ]
    found = {row["metric"]: row for row in metrics.commit_times(*named, 3600).iter_rows(named=True)}

    assert found["commit_ms"]["value"] == pytest.approx(11)
    assert found["log_write_ms"]["value"] == pytest.approx(1)
    assert found["log_writer_busy"]["value"] is None
    assert "several instances" in found["log_writer_busy"]["caveats"]
