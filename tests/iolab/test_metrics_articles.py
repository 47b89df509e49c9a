"""The 26 figures of the five articles that are metrics, one test each, recomputed from the articles' logs.

Every input is read from a file of `sample_data/articles` by the parsers.  What an article says in its text only is in
`claims.csv`, and is read as printed numbers are, with its rounding.  The numbers typed here are expected results.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

from awrparse import AwrReport, read_awr
from iolab import metrics
from iolab.comparison import Comparison, compare, compare_medians, first_run
from iolab.metrics import Interval, figure_of
from logframe import read_printed
from logframe.interval import within
from sqlplusparse import Spool, read_spool
from straceparse import calls, io_requests, read_strace

ARTICLES = Path(__file__).parents[2] / "sample_data" / "articles"


@cache
def session() -> Spool:
    """The session of article 004."""
    return read_spool(ARTICLES / "004_exadata_flash_cache.txt")


@cache
def report(name: str) -> AwrReport:
    """One of the two reports of article 003."""
    return read_awr(ARTICLES / f"003_filesystemio_{name}.txt", printed=True)


@cache
def traced(name: str) -> pl.DataFrame:
    """The calls of one of the two traces of article 000."""
    return calls(read_strace(ARTICLES / f"000_{name}_reads.strace"))


@cache
def runs(name: str) -> list[float]:
    """The elapsed times of a session of article 002."""
    return read_spool(ARTICLES / f"002_{name}.txt").runs().get_column("elapsed_s").to_list()


@cache
def table(name: str) -> pl.DataFrame:
    """A table of an article, its cells as they are printed."""
    return pl.read_csv(ARTICLES / name, infer_schema=False)


def printed(cell: str) -> Interval:
    """A printed measure with its rounding."""
    return Interval.of(read_printed(cell, rounded=True))


def claim(article: str, quantity: str) -> Interval:
    """A figure of an article's text with its rounding."""
    rows = table("claims.csv").filter(pl.col("article") == article, pl.col("quantity") == quantity)
    return printed(rows.item(0, "printed"))


def median(test: int) -> Interval:
    """A published median of article 000."""
    return printed(table("000_medians.csv").filter(pl.col("test") == str(test)).item(0, "median_s"))


def lio(machine: str) -> list[Interval]:
    """Microseconds for a logical I/O on a machine of article 001, nine shapes of a table."""
    return [printed(cell) for cell in table("001_logical_io.csv")[f"us_per_lio_{machine}"]]


def figure(frame: pl.DataFrame, metric: str | None = None, **keys: str) -> Interval:
    """One figure, which is there."""
    found = figure_of(frame, metric, **keys)
    assert found is not None
    return found


def of_session(metric: str) -> Interval:
    """A metric of article 004."""
    return figure(metrics.read_metrics(session()), metric)


def times(before: float | Interval, after: float | Interval, digits: int, metric: str = "speedup") -> float:
    """How many times longer the first time is, or by how many per cent the second one is shorter."""
    return figure(metrics.time_change(before, after), metric).rounded(digits)[0]


def variation(comparison: Comparison, side: int) -> tuple[float, float]:
    """The mean of a sample and its standard deviation in per cent of it."""
    mean, deviation = comparison.means[side], comparison.deviations[side]
    assert deviation is not None
    return mean, 100 * deviation / mean


# --- article 004: how fast is an Exadata flash cache read?


def test_row_01_time_of_a_flash_cache_read() -> None:
    """730 ms / 1837 reads: .397 ms, rounded to .4, and what the clock's rounding allows."""
    found = of_session("ms_per_flash_read")

    assert found.rounded(4) == (0.3974, 0.3947, 0.4028)
    assert within(found.value, claim("004", "time of a flash cache read"))
    assert within(found.value, claim("004", "time of a flash cache read, rounded"))


def test_row_02_almost_every_read_was_cached() -> None:
    """1837 of 1841."""
    assert of_session("flash_hit_ratio").rounded(5)[0] == 0.99783


def test_row_03_size_of_a_read() -> None:
    """56.5546875 MB in 1841 reads: 32,211.8 B or 31.457 KiB, 2 % below "32K"; decimal megabytes would fit no block."""
    total, requests = (metrics.statistic(session(), f"physical read total {name}") for name in ("bytes", "IO requests"))
    assert total is not None

    assert (of_session("avg_read_bytes").rounded(1)[0], of_session("avg_read_kib").rounded(3)[0]) == (32211.8, 31.457)
    assert round((claim("004", "size of a flash cache read") / of_session("avg_read_kib")).value, 3) == 1.017
    decimal = total / 2**20 * 10**6
    assert figure(metrics.read_size(decimal, requests), "avg_read_bytes").rounded(0)[0] == 30_720
    blocks = metrics.statistic(session(), "physical reads")
    assert metrics.block_size(decimal, blocks).item(0, "caveats").startswith("refused: 7812.5")


def test_row_04_blocks_of_a_read() -> None:
    """7239 / 1841 = 3.9321 blocks, about 4, and the same as row 3: the bytes are 7239 blocks of 8192 exactly."""
    found = of_session("blocks_per_read")

    assert found.rounded(4)[0] == 3.9321
    assert within(found.value, claim("004", "blocks of a flash cache read"))
    assert metrics.statistic(session(), "physical read total bytes") == Interval.exact(7239 * 8192)
    assert (found * 8).value == pytest.approx(of_session("avg_read_kib").value, rel=1e-12)


def test_row_05_rates_and_block_size() -> None:
    """77.47 MiB/s, 2,522 requests a second, blocks of 8192 bytes: not in the article, but in its figures."""
    assert of_session("read_mib_per_s").rounded(2) == (77.47, 76.43, 78.01)
    assert of_session("read_iops").rounded(0) == (2522, 2488, 2539)
    assert of_session("block_size") == Interval.exact(8192)


# --- article 000: are direct path reads faster than db file scattered reads?


def test_row_06_seventeen_per_cent() -> None:
    """18.18 % less time in the synchronous pair (1.2221x); "17 %" is the asynchronous or the rounded pair."""
    rounded = (claim("000", "time of buffered reads"), claim("000", "time of direct reads"))
    pairs = [(median(1), median(2)), (median(1), median(3)), rounded]
    less = [times(*pair, 2, "pct_less_time") for pair in pairs]

    assert less == [18.18, 17.31, 17.39]
    assert [times(*pair, 4) for pair in pairs[:2]] == [1.2221, 1.2093]
    assert [within(one, claim("000", "less time by direct reads")) for one in less] == [False, True, True]


def test_row_07_asynchronous_was_slower() -> None:
    """By 60 ms or 1.06 %, and published medians allow no test of it."""
    cells = table("000_medians.csv")["median_s"]
    found = compare_medians(cells[1], cells[2], names=("synchronous", "asynchronous"))

    assert (round(-found.pct_less_time.value, 2), round(-found.difference.value, 3)) == (1.06, 0.06)
    assert times(median(2), median(3), 2, "pct_less_time") == -1.06
    assert found.reason.startswith("no test and no confidence interval are possible")


@pytest.mark.parametrize("name", ["sync", "async"])
def test_row_08_reads_of_126_blocks(name: str) -> None:
    """1,032,192 bytes are 1008 KiB or 126 blocks of 8 KiB; each file advances by 1 MiB, so 2 blocks are skipped."""
    requests = io_requests(traced(name))
    sizes = metrics.read_sizes(requests)
    steps = metrics.sequentiality(requests).filter(pl.col("metric") == "offset_step")

    assert [figure(sizes, f"{one}").value for one in ("avg_read_bytes", "avg_read_kib", "blocks_per_read")] == [
        1_032_192,
        1008,
        126,
    ]
    assert set(steps.select("value", "caveats").rows()) == {(1_048_576.0, "2 blocks of 8192 B are skipped")}


def test_row_09_the_synchronous_trace() -> None:
    """3 gaps of 2.2267 ms on average: 463.6 MB/s, 17.67 us a block."""
    gaps = metrics.call_gaps(traced("sync"))
    rate = metrics.read_rate(io_requests(traced("sync")))

    assert figure(gaps, "gap_us_mean").rounded(1)[0] == 2226.7
    assert gaps.item(0, "basis").endswith("n = 3")
    assert (figure(rate, "read_mb_per_s").rounded(1)[0], figure(rate, "us_per_block").rounded(2)[0]) == (463.6, 17.67)


def test_row_10_the_asynchronous_trace() -> None:
    """2 reads in a cycle of 4.456 ms: 463.3 MB/s, 17.68 us a block, so the traces alone do not show the 17 %."""
    synchronous, asynchronous = (metrics.read_rate(io_requests(traced(name))) for name in ("sync", "async"))

    assert round(2000 / figure(asynchronous, "reads_per_s").value, 3) == 4.456
    assert figure(asynchronous, "read_mb_per_s").rounded(1)[0] == 463.3
    assert figure(asynchronous, "us_per_block").rounded(2)[0] == 17.68
    assert within(1, figure(synchronous, "read_mb_per_s") / figure(asynchronous, "read_mb_per_s"))


def test_row_11_a_heading_that_is_wrong() -> None:
    """The heading says db file sequential read; the table and reads of 126 blocks say db file scattered read."""
    waits = metrics.database_waits(traced("sync"))

    assert waits.get_column("shown_as").to_list() == ["db file scattered read, or direct path read"]
    assert table("000_medians.csv").item(0, "wait_event") == "db file scattered read"


# --- article 001: what does a logical I/O cost?


def test_row_12_rate_of_a_multiblock_read() -> None:
    """128 blocks in 6 ms are 166.7 MiB/s or 174.8 MB/s; 160 is what the rounding of 6 ms allows, in MiB."""
    size = 8192 * round(claim("001", "blocks of a multiblock read").value)
    rate = metrics.throughput(size, claim("001", "time of a multiblock read") / 1000)
    said = claim("001", "rate of a multiblock read").value

    assert (figure(rate, "read_mib_per_s").rounded(1)[0], figure(rate, "read_mb_per_s").rounded(1)[0]) == (166.7, 174.8)
    assert (within(said, figure(rate, "read_mib_per_s")), within(said, figure(rate, "read_mb_per_s"))) == (True, False)


@pytest.mark.parametrize(
    ("machine", "cost", "factor"),
    [("a", (0.172, 0.877), (6.8, 35.0)), ("b", (0.645, 1.148), (5.2, 9.3))],
)
def test_row_13_factor_of_six(machine: str, cost: tuple[float, float], factor: tuple[float, float]) -> None:
    """128 logical I/Os take 0.172 to 0.877 ms on A and 0.645 to 1.148 ms on B; the factor 6 is of B only."""
    m = round(claim("001", "blocks of a multiblock read").value)
    read_ms = claim("001", "time of a multiblock read").value
    costs = [(us * m / 1000).rounded(3)[0] for us in lio(machine)]
    factors = [figure(metrics.pio_lio_factor(read_ms, us, blocks=m)).rounded(1)[0] for us in lio(machine)]

    assert ((min(costs), max(costs)), (min(factors), max(factors))) == (cost, factor)
    said, logical = claim("001", "physical / logical").value, claim("001", "time of as many logical I/Os").value
    assert (factor[0] <= said <= factor[1], cost[0] <= logical <= cost[1]) == (machine == "b", machine == "b")


def test_row_14_much_below_the_older_paper() -> None:
    """53 us are 5.9 to 39.6 times the table's figures."""
    paper = claim("001", "logical I/O, older paper")
    factors = [times(paper, us, 1) for us in (*lio("a"), *lio("b"))]

    assert (min(factors), max(factors)) == (5.9, 39.6)


def test_row_15_ratio_of_the_older_paper() -> None:
    """37 times 53 us is a physical read of 1.96 ms: a disk of its time, so the two figures go together."""
    paper, ratio = claim("001", "logical I/O, older paper"), claim("001", "physical / logical, older paper")
    read_ms = paper * ratio / 1000

    assert read_ms.rounded(2)[0] == 1.96
    assert figure(metrics.pio_lio_factor(read_ms.value, paper.value)).rounded(0)[0] == ratio.value


def correlation(measure: str, machine: str) -> tuple[float, str, bool]:
    """The rank correlation of a measure with the cost of a logical I/O, its p, and whether it is supported."""
    cells = table("001_logical_io.csv").select(pl.col(measure, f"us_per_lio_{machine}").cast(pl.Float64))
    found = metrics.rank_correlation(*(column.to_list() for column in cells))
    p = found.item(0, "basis").partition("p = ")[2]
    return round(found.item(0, "value"), 2), p, not found.item(0, "caveats").startswith("not supported")


def test_row_16_shorter_rows_cost_more() -> None:
    """On A (rho -0.95, p 0.0012, the least of three groups of three); on B nine cells do not show it (rho -0.58)."""
    assert correlation("row_length", "a") == (-0.95, "0.0012", True)
    assert correlation("row_length", "b") == (-0.58, "0.13", False)


def test_row_17_more_columns_do_not() -> None:
    """Neither machine's figures support that more columns cost more (p 0.83 and 0.73)."""
    assert correlation("columns", "a") == (0.11, "0.83", False)
    assert correlation("columns", "b") == (0.16, "0.73", False)


# --- article 002: why was db file parallel read faster on Linux?


def test_row_18_linux_equal_hp_ux_first_slow() -> None:
    """Linux 9.198 s, 0.52 % apart, first run 0.997 of the others; HP-UX 63.27 s, then 19.3225 s: 3.276 times."""
    linux, hpux = (first_run(runs(name), resolution=0.01) for name in ("linux", "hpux"))
    together = compare(runs("linux"), runs("hpux")[1:])
    mean, cv = variation(together, 0)

    assert (round(mean, 3), round(cv, 2)) == (9.198, 0.52)
    assert (hpux.first, round(together.means[1], 4)) == (63.27, 19.3225)
    assert [(found.kind, round(found.ratio, 3)) for found in (linux, hpux)] == [("flat", 0.998), ("first_apart", 3.276)]


def test_row_19_twice_linux() -> None:
    """The cached runs: 2.1007 times, "twice" as rounded."""
    ratio = times(fmean(runs("hpux")[1:]), fmean(runs("linux")), 4)

    assert ratio == 2.1007
    assert within(ratio, claim("002", "HP-UX cached / Linux cached"))


def test_row_20_direct_io_is_as_slow_as_cold() -> None:
    """69.81 s, 4.0 % apart: 1.103 times the cold HP-UX run, 7.590 times the cached Linux runs; no cold first run."""
    mean, cv = variation(compare(runs("linux_directio"), runs("linux")), 0)

    assert (round(mean, 2), round(cv, 1)) == (69.81, 4.0)
    assert (times(mean, runs("hpux")[0], 3), times(mean, fmean(runs("linux")), 3)) == (1.103, 7.590)
    assert first_run(runs("linux_directio"), resolution=0.01).kind == "flat"


# --- article 003: filesystemio_options SETALL or NONE?


def test_row_21_every_average_is_time_over_waits() -> None:
    """18 of 18 events and 11 of 11 classes are consistent within rounding."""
    tables = [report(name)[frame] for frame in ("top_events", "wait_classes") for name in ("setall", "none")]
    timed = [frame.filter((pl.col("waits") > 0) & (pl.col("total_wait_s") > 0)) for frame in tables]
    found = [metrics.average_waits(frame) for frame in timed]

    assert [frame.filter(pl.col("value").is_not_null()).height for frame in found] == [9, 9, 5, 6]
    assert metrics.contradictions(*tables) == []


def test_row_22_a_time_in_thousands() -> None:
    """11.1K s alone is known to 100 s; with the average and the waits to 0.6 s, 180 times as well."""
    events = report("setall")["top_events"]
    shown = events.filter(pl.col("event") == "db file sequential read").select("total_wait_s_lo", "total_wait_s_hi")
    joint = figure(metrics.total_waits(events), event="db file sequential read")

    assert shown.row(0) == (11050.0, 11150.0)
    assert joint.rounded(1)[1:] == (11111.7, 11112.3)
    assert round(100 / (joint.hi - joint.lo)) == 180


@pytest.mark.parametrize(
    ("name", "time", "total"),
    [
        pytest.param("setall", (14_995, 15_006), 100.1, id="SETALL"),
        pytest.param("none", (29_052, 29_082), 99.4, id="NONE"),
    ],
)
def test_row_23_db_time(name: str, time: tuple[int, int], total: float) -> None:
    """One DB time fits all shares of both tables; the shares of the ten events add up to 100.1 and 99.4 %."""
    tables = report(name)
    found = figure(metrics.db_time(tables["top_events"], tables["wait_classes"]))

    assert found.rounded(0)[1:] == time
    assert round(tables["top_events"]["db_time_pct"].sum(), 1) == total


def elapsed(name: str) -> Interval:
    """The length of a report's period, from its classes."""
    return figure(metrics.elapsed(report(name)["wait_classes"]))


def test_row_24_not_an_hour() -> None:
    """SETALL covers 1,863 to 1,886 s, NONE 3,566 to 3,611 s: 29.7 against 447 reads a second."""
    hour = claim("003", "length of each test").value * 3600
    rates = []
    for name in ("setall", "none"):
        row = report(name)["top_events"].filter(pl.col("event") == "db file sequential read")
        rates.append(figure(metrics.rate(row.item(0, "waits"), elapsed(name))).rounded(1)[0])

    assert [elapsed(name).rounded(0)[1:] for name in ("setall", "none")] == [(1_863, 1_886), (3_566, 3_611)]
    assert [within(hour, elapsed(name)) for name in ("setall", "none")] == [False, True]
    assert rates == [29.7, 446.8]


def test_row_25_a_class_of_more_than_db_time() -> None:
    """The foreground events of User I/O take 15,007 s, the class 15,558 s or 103.7 % of DB time: that is legal."""
    tables = report("setall")
    time = figure(metrics.db_time(tables["top_events"], tables["wait_classes"]))
    shares = metrics.class_shares(tables["wait_classes"], time).filter(pl.col("wait_class") == "User I/O")
    events = metrics.total_waits(tables["top_events"].filter(pl.col("wait_class") == "User I/O"))

    assert figure(metrics.total_waits(tables["wait_classes"]), wait_class="User I/O").rounded(0)[0] == 15_558
    assert round(events["value"].sum()) == 15_007
    assert figure(shares).rounded(3)[0] == 1.037
    assert shares.item(0, "caveats") == "above 1: background waits are in the class, and no part of DB time"


@pytest.mark.parametrize(
    ("event", "ratio", "shown"), [("db file sequential read", 999, 0.1997), ("db file parallel read", 79, 6.9304)]
)
def test_row_26_latency_ratio(event: str, ratio: int, shown: float) -> None:
    """A single-block read takes 999 times as long under SETALL (0.1997 ms under NONE), a parallel read 79 times."""
    waits = [metrics.average_waits(report(name)["top_events"]) for name in ("setall", "none")]
    setall, none = (figure(frame, event=event) for frame in waits)

    assert (round((setall / none).value), round(none.value, 4)) == (ratio, shown)


def test_every_row_has_its_test() -> None:
    """Rows 1 to 26, none left out."""
    rows = sorted(int(name.split("_")[2]) for name in globals() if name.startswith("test_row_"))

    assert rows == list(range(1, 27))
