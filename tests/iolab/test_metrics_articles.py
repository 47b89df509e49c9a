"""Every figure of the five articles that is a metric, recomputed from the articles' logs through the parsers."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, median

import polars as pl
import pytest

from awrparse import AwrReport, Spool, read_awr, read_spool
from iolab import metrics
from iolab.metrics import Bounded, figure_of
from straceparse import calls, io_requests, read_strace

ARTICLES = Path(__file__).parents[2] / "sample_data" / "articles"


def report(name: str) -> AwrReport:
    """One of the two reports of article 003."""
    return read_awr(ARTICLES / f"003_filesystemio_{name}.txt", printed=True)


def traced(name: str) -> pl.DataFrame:
    """The calls of one of the two traces of article 000."""
    return calls(read_strace(ARTICLES / f"000_{name}_reads.strace"))


@pytest.fixture(scope="module")
def exadata() -> Spool:
    """The session of article 004."""
    return read_spool(ARTICLES / "004_exadata_flash_cache.txt")


@pytest.fixture(scope="module")
def medians() -> dict[int, Bounded]:
    """The published medians of article 000, by test; three decimals are shown."""
    table = pl.read_csv(ARTICLES / "000_medians.csv")
    return {test: Bounded(t, t - 0.0005, t + 0.0005) for test, t in table.select("test", "median_s").iter_rows()}


@pytest.fixture(scope="module")
def shapes() -> pl.DataFrame:
    """The table of article 001."""
    return pl.read_csv(ARTICLES / "001_logical_io.csv")


def figures(frame: pl.DataFrame, metric: str, digits: int) -> tuple[float, float, float]:
    """Value and bounds of one metric, rounded."""
    figure = figure_of(frame, metric)
    assert figure is not None
    return figure.rounded(digits)


@pytest.mark.parametrize(
    ("metric", "digits", "expected"),
    [
        pytest.param("ms_per_flash_read", 4, (0.3974, 0.3947, 0.4028), id="row 1"),
        pytest.param("flash_hit_ratio", 5, (0.99783, 0.99783, 0.99783), id="row 2"),
        pytest.param("avg_read_bytes", 1, (32211.8, 32211.8, 32211.8), id="row 3, bytes"),
        pytest.param("avg_read_kib", 3, (31.457, 31.457, 31.457), id="row 3, KiB"),
        pytest.param("blocks_per_read", 4, (3.9321, 3.9321, 3.9321), id="row 4"),
        pytest.param("block_size", 0, (8192, 8192, 8192), id="row 5, block size"),
        pytest.param("mib_per_s", 2, (77.47, 76.43, 78.01), id="row 5, throughput"),
        pytest.param("iops", 0, (2522, 2488, 2539), id="row 5, iops"),
    ],
)
def test_flash_cache_read(exadata: Spool, metric: str, digits: int, expected: tuple[float, float, float]) -> None:
    """Article 004: 730 ms / 1837 reads, 1837 of 1841 hits, 56.55 MB in 1841 requests for 7239 blocks."""
    assert figures(metrics.read_metrics(exadata), metric, digits) == expected


def test_megabytes_are_binary(exadata: Spool) -> None:
    """Row 4: 56.5546875 MB are exactly 7239 blocks of 8192 bytes."""
    total, blocks = (metrics.statistic(exadata, name) for name in ("physical read total bytes", "physical reads"))

    assert (total, blocks) == (Bounded.exact(7239 * 8192), Bounded.exact(7239))


@pytest.mark.parametrize(
    ("before", "after", "less", "speedup"),
    [
        pytest.param(1, 2, 18.18, 1.2221, id="row 6, direct synchronous"),
        pytest.param(1, 3, 17.31, 1.2093, id="row 6, direct asynchronous"),
        pytest.param(2, 3, -1.06, 0.9895, id="row 7, asynchronous is slower"),
    ],
)
def test_published_medians(medians: dict[int, Bounded], before: int, after: int, less: float, speedup: float) -> None:
    """Article 000: 17 % less time is the asynchronous pair, the synchronous pair is 18 %."""
    change = metrics.time_change(medians[before], medians[after])

    assert figures(change, "pct_less_time", 2)[0] == less
    assert figures(change, "speedup", 4)[0] == speedup


@pytest.mark.parametrize("name", ["sync", "async"])
def test_reads_of_126_blocks(name: str) -> None:
    """Rows 8 and 11: reads of 1,032,192 bytes = 1008 KiB = 126 blocks, so no db file sequential read."""
    sizes = metrics.read_sizes(io_requests(traced(name)))

    assert [figures(sizes, metric, 1)[0] for metric in ("avg_read_bytes", "avg_read_kib", "blocks_per_read")] == [
        1032192,
        1008,
        126,
    ]


def test_two_blocks_are_skipped() -> None:
    """Row 8: offsets advance by 1,048,576, so two blocks of each extent are skipped, and the scan is sequential."""
    steps = metrics.sequentiality(io_requests(traced("sync")))

    assert steps.select("file", "metric", "value", "caveats").filter(pl.col("metric") != "contiguous_share").rows() == [
        ("fd 268", "sequential_share", 1.0, "skips of up to 16 blocks count"),
        ("fd 268", "offset_step", 1_048_576.0, "2 blocks of 8192 B are skipped"),
        ("fd 269", "sequential_share", 1.0, "skips of up to 16 blocks count"),
        ("fd 269", "offset_step", 1_048_576.0, "2 blocks of 8192 B are skipped"),
    ]


def test_synchronous_trace() -> None:
    """Row 9: 2.2267 ms from start to start (3 gaps), 463.6 MB/s, 17.67 us a block."""
    gaps = metrics.call_gaps(traced("sync"))
    rate = metrics.read_rate(io_requests(traced("sync")))

    assert figures(gaps, "gap_us_mean", 1)[0] == 2226.7
    assert (figures(rate, "mb_per_s", 1)[0], figures(rate, "us_per_block", 2)[0]) == (463.6, 17.67)


def test_asynchronous_trace() -> None:
    """Row 10: two reads in a cycle of 4.456 ms, 463.3 MB/s, 17.68 us a block: the rate of the synchronous trace."""
    rate = metrics.read_rate(io_requests(traced("async")))

    assert (figures(rate, "mb_per_s", 1)[0], figures(rate, "us_per_block", 2)[0]) == (463.3, 17.68)


def test_a_read_of_an_r_log_has_no_latency() -> None:
    """Without -T the gap is an upper bound of the latency, and labelled so."""
    latency = metrics.read_latency(io_requests(traced("sync")))

    assert latency.filter(pl.col("metric") == "latency_us_mean").select("lo", "caveats").row(0) == (
        0.0,
        "an upper bound: without -T the time until the next call is in it",
    )


def test_a_scan_of_128_blocks_in_6_ms() -> None:
    """Row 12: it is 166.7 MiB/s, or 174.8 MB/s."""
    rate = metrics.throughput(128 * 8192, 0.006)

    assert (figures(rate, "mib_per_s", 1)[0], figures(rate, "mb_per_s", 1)[0]) == (166.7, 174.8)


@pytest.mark.parametrize(
    ("machine", "lowest", "highest"), [pytest.param("a", 6.8, 35.0, id="A"), pytest.param("b", 5.2, 9.3, id="B")]
)
def test_pio_against_lio(shapes: pl.DataFrame, machine: str, lowest: float, highest: float) -> None:
    """Row 13: 6 ms for 128 blocks is 6.8 to 35 times the logical I/O on machine A, 5.2 to 9.3 times on B."""
    factors = [
        figures(metrics.pio_lio_factor(6, us, blocks=128), "pio_lio_factor", 1)[0]
        for us in shapes[f"us_per_lio_{machine}"]
    ]

    assert (min(factors), max(factors)) == (lowest, highest)


def test_logical_io_is_below_the_paper(shapes: pl.DataFrame) -> None:
    """Row 14: 53 us of the paper are 5.9 to 39.6 times the table's figures."""
    costs = [*shapes["us_per_lio_a"], *shapes["us_per_lio_b"]]
    factors = [figures(metrics.time_change(53, us), "speedup", 1)[0] for us in costs]

    assert (min(factors), max(factors)) == (5.9, 39.6)


def test_the_paper_s_ratio() -> None:
    """Row 15: 37 times 53 us is a read of 1.96 ms."""
    assert figures(metrics.pio_lio_factor(1.96, 53), "pio_lio_factor", 0)[0] == 37


@pytest.mark.parametrize(
    ("measure", "machine", "rho", "is_supported"),
    [
        pytest.param("row_length", "a", -0.95, True, id="row 16, A"),
        pytest.param("row_length", "b", -0.58, False, id="row 16, B"),
        pytest.param("columns", "a", 0.11, False, id="row 17, A"),
        pytest.param("columns", "b", 0.16, False, id="row 17, B"),
    ],
)
def test_observations(shapes: pl.DataFrame, measure: str, machine: str, rho: float, is_supported: bool) -> None:  # noqa: FBT001 - a column of the table
    """Shorter rows cost more on machine A; that more columns cost more, neither machine's figures support."""
    found = metrics.rank_correlation(shapes[measure].to_list(), shapes[f"us_per_lio_{machine}"].to_list())

    assert round(found.item(0, "value"), 2) == rho
    assert found.item(0, "caveats").startswith("not supported") is not is_supported


def runs(name: str) -> list[float]:
    """The elapsed times of a session of article 002."""
    spool = read_spool(ARTICLES / f"002_{name}.txt")
    return spool.runs().get_column("elapsed_s").to_list()


@pytest.mark.parametrize(
    ("before", "after", "speedup"),
    [
        pytest.param(runs("hpux")[0], median(runs("hpux")[1:]), 3.276, id="row 18, HP-UX"),
        pytest.param(runs("linux")[0], median(runs("linux")[1:]), 0.997, id="row 18, Linux"),
        pytest.param(fmean(runs("hpux")[1:]), fmean(runs("linux")), 2.101, id="row 19"),
        pytest.param(fmean(runs("linux_directio")), runs("hpux")[0], 1.103, id="row 20, HP-UX"),
        pytest.param(fmean(runs("linux_directio")), fmean(runs("linux")), 7.590, id="row 20, Linux"),
    ],
)
def test_repeated_runs(before: float, after: float, speedup: float) -> None:
    """Article 002: first run against the others, platform against platform, direct against cached."""
    assert figures(metrics.time_change(before, after), "speedup", 3)[0] == speedup


def test_every_average_is_time_over_waits() -> None:
    """Row 21: 18 of 18 events and 11 of 11 classes are consistent within rounding; so are two without a time."""
    tables = [report(name)[table] for table in ("top_events", "wait_classes") for name in ("setall", "none")]
    found = [metrics.average_waits(table) for table in tables]

    assert [frame.filter(pl.col("value").is_not_null()).height for frame in found] == [9, 9, 6, 7]
    assert metrics.contradictions(*tables) == []
    timed = [frame.filter((pl.col("waits") > 0) & (pl.col("total_wait_s") > 0)).height for frame in tables]
    assert (timed[0] + timed[1], timed[2] + timed[3]) == (18, 11)


def test_a_time_in_thousands() -> None:
    """Row 22: 11.1K s alone is known to 100 s; with average and waits to 0.6 s."""
    table = report("setall")["top_events"]
    shown = table.filter(pl.col("event") == "db file sequential read").select("total_wait_s_lo", "total_wait_s_hi")
    joint = figure_of(metrics.total_waits(table), event="db file sequential read")

    assert shown.row(0) == (11050.0, 11150.0)
    assert joint is not None
    assert joint.rounded(1)[1:] == (11111.7, 11112.3)


@pytest.mark.parametrize(
    ("name", "time", "length"),
    [
        pytest.param("setall", (14_995, 15_006), (1_863, 1_886), id="SETALL"),
        pytest.param("none", (29_052, 29_082), (3_566, 3_611), id="NONE"),
    ],
)
def test_db_time_and_elapsed(name: str, time: tuple[int, int], length: tuple[int, int]) -> None:
    """Rows 23 and 24: DB time from shares, and the length of the period from average active sessions."""
    tables = report(name)
    db_time = figure_of(metrics.db_time(tables["top_events"], tables["wait_classes"]))
    elapsed = figure_of(metrics.elapsed(tables["wait_classes"]))

    assert db_time is not None
    assert elapsed is not None
    assert (db_time.rounded(0)[1:], elapsed.rounded(0)[1:]) == (time, length)


def test_reads_a_second() -> None:
    """Row 24: 29.7 against 447 single-block reads a second, not 55,702 against 1.6 million."""
    rates = []
    for name, waits in (("setall", 55_702), ("none", 1_603_321)):
        table = report(name)["top_events"].filter(pl.col("event") == "db file sequential read")
        assert table.item(0, "waits") == waits
        elapsed = figure_of(metrics.elapsed(report(name)["wait_classes"]))
        rates.append(metrics.rate(table.item(0, "waits"), elapsed).item(0, "value"))

    assert [round(rate, 1) for rate in rates] == [29.7, 446.8]


def test_a_class_of_more_than_db_time() -> None:
    """Row 25: the foreground rows sum to 15,007 s, the class table to more: 103.7 % of DB time is legal."""
    tables = report("setall")
    shares = metrics.class_shares(
        tables["wait_classes"], figure_of(metrics.db_time(*map(tables.__getitem__, tables.tables)))
    )
    user_io = shares.filter(pl.col("wait_class") == "User I/O")
    foreground = tables["top_events"].filter(pl.col("wait_class") == "User I/O")

    assert round(user_io.item(0, "value"), 3) == 1.037
    assert user_io.item(0, "caveats") == "above 1: background waits are in the class, and no part of DB time"
    assert round(metrics.total_waits(foreground).get_column("value").sum()) == 15_007


@pytest.mark.parametrize(("event", "ratio"), [("db file sequential read", 999), ("db file parallel read", 79)])
def test_latency_ratio(event: str, ratio: int) -> None:
    """Row 26: a single-block read takes 999 times as long under SETALL, a parallel read 79 times."""
    setall, none = (
        figure_of(metrics.average_waits(report(name)["top_events"]), event=event) for name in ("setall", "none")
    )
    assert setall is not None
    assert none is not None

    assert round((setall / none).value) == ratio
