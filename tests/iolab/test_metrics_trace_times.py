"""Times of strace logs: shares of a process's time, clocks that were set back, and what cut times allow."""

from __future__ import annotations

import polars as pl
import pytest

from iolab import metrics
from iolab.metrics.table import spread, tick_of
from straceparse import calls, io_requests, read_strace


def value(frame: pl.DataFrame, metric: str) -> float:
    """One value of a frame of metrics."""
    return float(frame.filter(pl.col("metric") == metric).item(0, "value"))


def test_nothing_is_said_of_the_time_between_moments_of_different_clocks() -> None:
    """Four reads in 6 ms, the clock set back by 5 s among them: no rate, no depth, no shares of that time."""
    stamps = ("10.000000", "10.002000", "05.000000", "05.002000")
    log = "\n".join(f'17000000{stamp} pread64(3, ""..., 8192, 0) = 8192 <0.001000>' for stamp in stamps)
    found = calls(read_strace(log.encode()))
    requests = io_requests(found)

    for frame in (
        metrics.read_rate(requests),
        metrics.depth(requests),
        metrics.time_shares(found),
        metrics.database_waits(found),
    ):
        assert set(frame.get_column("value")) == {None}
        assert all(said.startswith("refused: the clock was set back") for said in frame.get_column("caveats"))
    assert value(metrics.read_sizes(requests), "reads") == 4


def test_processes_have_their_own_clocks() -> None:
    """Files of `strace -ff` are read one after the other: the second begins before the first ends."""
    logs = [
        f'{pid} 1700000000.00{at}000 pread64(3, "", 8192, 0) = 8192 <0.000100>'
        for pid, at in ((1, 5), (1, 7), (2, 4), (2, 8))
    ]
    requests = io_requests(calls(read_strace("\n".join(logs).encode())))

    assert value(metrics.read_rate(requests), "reads_per_s") == pytest.approx(4 / 0.0041)


def test_calls_that_took_no_time_were_timed() -> None:
    """A thread with one call of no time has -T: the reason is the clock, not a missing option."""
    log = b"""12 1700000000.000000 sched_yield() = 0 <0.000000>
13 1700000000.000000 pread64(3, "", 8192, 0) = 8192 <0.000100>
"""
    found = metrics.time_shares(calls(read_strace(log)))

    assert found.item(0, "caveats") == "refused: the process's time is not above the clock's step"
    assert found.item(2, "value") == 1.0


TWO_PROCESSES = b"""1 1700000000.000000 pread64(3, "", 8192, 0) = 8192 <0.000100>
2 1700000000.000000 pread64(3, "", 16384, 0) = 16384 <0.000450>
1 1700000000.001000 close(3) = 0 <0.000200>
2 1700000000.000500 close(3) = 0 <0.000100>
"""


def test_shares_of_the_time_in_calls_and_between() -> None:
    """300 us of 1,200 and 550 us of 600; every time is cut at the microsecond, and so are both ends of the window."""
    found = metrics.time_shares(calls(read_strace(TWO_PROCESSES)))

    assert found.select("pid", "metric").rows() == [
        (pid, f"{where}_calls_share") for pid in (1, 2) for where in ("in", "between")
    ]
    for figures, expected in zip(
        found.select("value", "lo", "hi").iter_rows(),
        [
            (300 / 1200, 300 / 1202, 302 / 1199),
            (900 / 1200, 1 - 302 / 1199, 1 - 300 / 1202),
            (550 / 600, 550 / 602, 552 / 599),
            (50 / 600, 1 - 552 / 599, 1 - 550 / 602),
        ],
        strict=True,
    ):
        assert figures == pytest.approx(expected)


def test_where_the_time_of_all_processes_goes() -> None:
    """Shares of both processes' 1,800 us: the calls by kind, the largest first, and what is left between them."""
    found = metrics.database_waits(calls(read_strace(TWO_PROCESSES)))

    assert found.select("syscall", "calls").rows() == [
        ("pread64", 1),
        ("close", 2),
        ("pread64", 1),
        ("(between calls)", 0),
    ]
    assert found.get_column("value").to_list() == pytest.approx([450 / 1800, 300 / 1800, 100 / 1800, 950 / 1800])
    assert found.get_column("lo").to_list() == pytest.approx([450 / 1804, 300 / 1804, 100 / 1804, 1 - 854 / 1798])
    assert found.get_column("hi").to_list() == pytest.approx([451 / 1798, 302 / 1798, 101 / 1798, 1 - 850 / 1804])
    assert found.get_column("shown_as").to_list()[::2] == [
        "db file scattered read, or direct path read",
        "db file sequential read, or direct path read of one block",
    ]


def test_gaps_of_all_calls_are_the_whole_without_times() -> None:
    """From -r each share is an upper bound: the gap of a call holds the time after it."""
    log = b"""     0.000000 pread64(3, "", 8192, 0) = 8192
     0.000300 close(3) = 0
     0.000100 getpid() = 7
"""
    found = metrics.database_waits(calls(read_strace(log)))

    assert found.get_column("syscall").to_list() == ["pread64", "close", "getpid"]
    assert found.get_column("value").to_list() == pytest.approx([0.75, 0.25, 0])
    assert found.get_column("lo").to_list() == [0.0] * 3
    assert found.item(0, "hi") == pytest.approx(301 / 400)


SUBMIT = "1700000000.000000 io_submit(0xa, 1, [{aio_data=0}]) = 1 <0.0000%02d>\n"
REAP = "1700000000.000100 io_getevents(0xa, 1, 1, [{data=0}], NULL) = 1 <0.0000%02d>\n"


@pytest.mark.parametrize(
    ("log", "bounds", "said"),
    [
        (SUBMIT % 3 + REAP % 9, (0.25, 3 / 13, 4 / 13), ""),
        (SUBMIT % 9 + REAP % 3, (0.75, 9 / 13, 10 / 13), "most of the time is in io_submit: it blocks"),
        (SUBMIT % 3 + REAP % 3, (0.5, 3 / 7, 4 / 7), ""),
        (SUBMIT % 3 + REAP % 9 + REAP.partition(" = ")[0] + " <unfinished ...>\n", (0.25, 3 / 13, 4 / 13), ""),
        (SUBMIT % 3 + REAP % 4 + REAP % 5, (0.25, 3 / 14, 4 / 13), ""),
        (SUBMIT % 3, (None, None, None), "refused: the log has no time of both io_submit and io_getevents"),
        (REAP % 3, (None, None, None), "refused: the log has no time of both io_submit and io_getevents"),
        (SUBMIT % 0 + REAP % 0, (None, None, None), "refused: the log's clock shows no time in io_submit"),
    ],
)
def test_share_of_the_time_in_submissions(log: str, bounds: tuple[float | None, ...], said: str) -> None:
    """Both are cut at the microsecond; one of the two alone shows nothing."""
    found = metrics.submit_cost(calls(read_strace(log.encode()))).filter(pl.col("metric") == "submit_time_share")

    assert found.select("value", "lo", "hi").row(0) == pytest.approx(bounds)
    assert found.item(0, "caveats").startswith(said)
    assert bool(said) == bool(found.item(0, "caveats"))


def test_percentiles_are_the_nearest_ranks() -> None:
    """Of 1 to 200 us the 95th percentile is 190 and the 99th 198; a mean of cut times may be a tick too small."""
    times = pl.Series([1000 * time for time in range(1, 201)], dtype=pl.Int64).cast(pl.Duration("ns"))
    found = {one.metric: (one.value, one.lo, one.hi, one.caveats) for one in spread(times, "gap_us", basis="gaps")}

    assert found == {
        "gap_us_mean": (100.5, 100.5, 101.5, ""),
        "gap_us_p50": (100.0, 100.0, 101.0, ""),
        "gap_us_p95": (190.0, 190.0, 191.0, ""),
        "gap_us_p99": (198.0, 198.0, 199.0, ""),
        "gap_us_max": (200.0, 200.0, 201.0, ""),
    }


@pytest.mark.parametrize(
    ("count", "longest"),
    [(1, {"p50", "p95", "p99"}), (2, {"p95", "p99"}), (19, {"p95", "p99"}), (20, {"p99"}), (99, {"p99"}), (100, set())],
)
def test_a_percentile_that_is_the_longest_time_says_so(count: int, longest: set[str]) -> None:
    """Behind what holds for all rows: an upper bound stays one at first sight."""
    times = pl.Series([1000 * time for time in range(1, count + 1)], dtype=pl.Int64).cast(pl.Duration("ns"))
    found = spread(times, "gap_us", basis="gaps", caveat="an upper bound", is_upper=True)
    said = {one.metric.removeprefix("gap_us_"): one.caveats for one in found}

    assert {label for label, caveat in said.items() if caveat != "an upper bound"} == longest
    assert {said[label] for label in longest} <= {
        f"an upper bound; of {count} time{'s' * (count > 1)} it is the longest"
    }


def test_calls_that_are_made_most_come_first() -> None:
    """Those made as often in the order of their names."""
    names = ("write", "close", "read", "read", "getpid")
    log = "\n".join(f"1700000000.00{place}000 {name}(3) = 0 <0.000100>" for place, name in enumerate(names))
    found = metrics.call_times(calls(read_strace(log.encode())))

    assert found.get_column("syscall").unique(maintain_order=True).to_list() == ["read", "close", "getpid", "write"]


@pytest.mark.parametrize(
    ("times", "tick"),
    [([2_132_000, 2_214_000, 2_334_000], 1_000), ([5 * 10**9, 10**9, 7 * 10**9], 10**9), ([7, 14, 21], 1), ([0], 1)],
)
def test_the_last_printed_decimal(times: list[int], tick: int) -> None:
    """What all times are multiples of says how many decimals were printed."""
    assert tick_of(pl.Series(times)) == tick


def test_a_millisecond_clock_bounds_times_of_zero() -> None:
    """``<0.000>`` is any time below a millisecond: the last decimal is the printed one, not one common to the times."""
    log = b'read(3, "a", 512) = 512 <0.000>\nread(3, "a", 512) = 512 <0.000>\nread(3, "a", 512) = 512 <0.007>\n'
    found = calls(read_strace(log))
    times = metrics.call_times(found)
    reads = metrics.read_latency(io_requests(found))

    for figures in (times, reads):
        medians = figures.filter(pl.col("metric").str.ends_with("_p50"))
        assert medians.select("value", "lo", "hi").rows() == [(0.0, 0.0, 1000.0)]


def test_times_of_zero_only_are_bounded_too() -> None:
    """Where the last decimal is known, a log of zeros says that each call took less than it."""
    found = calls(read_strace(b"close(3) = 0 <0.000>\nclose(4) = 0 <0.000>\n"))

    assert metrics.call_times(found).select("value", "lo", "hi").unique().rows() == [(0.0, 0.0, 1000.0)]
