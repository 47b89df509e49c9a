"""Metrics of strace logs: on the real captures, whose reads are known, and on small logs built for the purpose."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iolab import metrics
from iolab.metrics.table import spread
from straceparse import calls, io_requests, read_strace

CAPTURES = Path(__file__).parents[2] / "sample_data" / "captures"
NAMES = sorted(path.stem for path in CAPTURES.glob("*.strace"))
BYTES = {"sequential": 8192, "scattered": 1_032_192, "async": 1_032_192}


def capture(name: str) -> pl.DataFrame:
    """The calls of a capture."""
    return calls(read_strace(CAPTURES / f"{name}.strace"))


def value(frame: pl.DataFrame, metric: str) -> float:
    """One value of a frame of metrics."""
    return float(frame.filter(pl.col("metric") == metric).item(0, "value"))


def caveats(frame: pl.DataFrame, metric: str) -> str:
    """One metric's caveats."""
    return str(frame.filter(pl.col("metric") == metric).item(0, "caveats"))


def test_there_are_captures() -> None:
    """The tests below have something to run on."""
    assert len(NAMES) == 15


@pytest.mark.parametrize("name", NAMES)
def test_reads_of_the_captures(name: str) -> None:
    """Every capture has 300 reads of data; the loader's reads of libraries are not among them."""
    requests = io_requests(capture(name))
    sizes = metrics.read_sizes(requests)
    size = BYTES[name.split("_", maxsplit=1)[0]]

    assert requests.height > 300
    assert (value(sizes, "reads"), value(sizes, "bytes_read"), value(sizes, "avg_read_bytes")) == (
        300,
        300 * size,
        size,
    )


@pytest.mark.parametrize("name", NAMES)
def test_bounds_of_the_captures(name: str) -> None:
    """Every metric of every capture has its value within its bounds, and the schema."""
    found = capture(name)
    requests = io_requests(found)
    frames = [
        *(f(requests) for f in (metrics.read_rate, metrics.read_latency, metrics.sequentiality, metrics.depth)),
        *(f(found) for f in (metrics.call_gaps, metrics.call_times, metrics.submit_cost, metrics.time_shares)),
        metrics.database_waits(found),
    ]
    together = pl.concat([frame.select(list(metrics.METRICS)) for frame in frames])

    assert together.schema == metrics.METRICS
    outside = pl.any_horizontal(pl.col("lo") > pl.col("value"), pl.col("hi") < pl.col("value"))
    assert together.filter(outside).is_empty()
    refused = together.filter(pl.col("value").is_null()).get_column("caveats")
    assert refused.str.starts_with("refused: ").all()


@pytest.mark.parametrize("name", NAMES)
def test_latency_is_an_upper_bound_without_t(name: str) -> None:
    """-r shows no latency: the rows are bounded by zero below, and say so."""
    latency = metrics.read_latency(io_requests(capture(name)))

    assert latency.get_column("mode").unique().to_list() == ["async" if name.startswith("async") else "sync"]
    is_bound = latency.get_column("caveats").str.starts_with("an upper bound").all()
    assert is_bound is name.endswith("_r")
    assert (latency.get_column("lo") == 0).all() is name.endswith("_r")


@pytest.mark.parametrize("kind", ["sequential", "scattered", "async"])
def test_sequences(kind: str) -> None:
    """Random reads of a block are no scan; the others skip two blocks of each extent."""
    steps = metrics.sequentiality(io_requests(capture(f"{kind}_direct_r")))
    share = steps.filter(pl.col("metric") == "sequential_share").get_column("value").to_list()

    assert share == [0.0, 0.0] if kind == "sequential" else [1.0, 1.0]


def test_two_reads_are_outstanding() -> None:
    """The reader keeps two reads in flight; a synchronous one has one."""
    depths = {
        name: value(metrics.depth(io_requests(capture(f"{name}_tt_T"))), "depth_max")
        for name in ("async_direct", "scattered_direct")
    }

    assert depths == {"async_direct": 2, "scattered_direct": 1}


def test_depth_over_time() -> None:
    """The depth rises with a submission and falls when it is reaped."""
    log = b"""     0.000000 io_submit(14, 1, {{data:0x1, pread, filedes:268, nbytes:8192, offset:0}}) = 1
     0.000100 io_submit(14, 1, {{data:0x2, pread, filedes:268, nbytes:8192, offset:8192}}) = 1
     0.000100 io_getevents(14, 1, 128, {{0x1, 0x1, 8192, 0}, {0x2, 0x2, 8192, 0}}, {0, 0}) = 2
     0.000100 close(3) = 0
"""
    curve = metrics.queue_depth(io_requests(calls(read_strace(log))))

    assert curve.select(pl.col("at").dt.total_microseconds(), "depth").rows() == [(0, 1), (100, 2), (200, 0)]
    assert value(metrics.depth(io_requests(calls(read_strace(log)))), "depth_mean") == 1.5


def test_buffered_submissions_block() -> None:
    """Without O_DIRECT nearly all the time is in io_submit; with it, in io_getevents."""
    buffered, direct = (metrics.submit_cost(capture(f"async_{kind}_tt_T")) for kind in ("buffered", "direct"))

    assert value(buffered, "submit_time_share") > 0.9
    assert caveats(buffered, "submit_time_share").startswith("most of the time is in io_submit: it blocks")
    assert value(direct, "submit_time_share") < 0.2
    assert caveats(direct, "submit_time_share") == ""


def test_submissions_without_t() -> None:
    """From -r there is an upper bound of the cost, and no share."""
    cost = metrics.submit_cost(capture("async_direct_r"))

    assert caveats(cost, "submit_us_p50").startswith("an upper bound")
    assert caveats(cost, "submit_time_share") == (
        "refused: the log has no time of the calls themselves; trace with strace -T"
    )


def test_shares_of_time_add_up() -> None:
    """In calls and between them is all of a process's time; so are the rows by wait."""
    found = capture("scattered_direct_tt_T")
    shares, waits = metrics.time_shares(found), metrics.database_waits(found)

    assert shares.get_column("value").sum() == pytest.approx(1)
    assert waits.get_column("value").sum() == pytest.approx(1)
    assert waits.select("syscall", "shown_as").row(0) == ("pread64", "db file scattered read, or direct path read")
    assert waits.item(waits.height - 1, "syscall") == "(between calls)"


def test_times_of_calls() -> None:
    """-T gives times of calls, -r refuses them; gaps are never shorter than times."""
    found = capture("sequential_direct_tt_T")
    times, gaps = (
        frame.filter(pl.col("syscall") == "pread64") for frame in (metrics.call_times(found), metrics.call_gaps(found))
    )

    assert value(times, "elapsed_us_mean") < value(gaps, "gap_us_mean")
    refused = metrics.call_times(capture("sequential_direct_r")).get_column("caveats")
    assert (refused == "refused: no such time is in the log").all()


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        (
            b'     0.000000 pread64(256, "", 8192, 0) = 8192',
            "db file sequential read, or direct path read of one block",
        ),
        (b'     0.000000 pread64(256, "", 16384, 0) = 16384', "db file scattered read, or direct path read"),
        (b'     0.000000 pread64(256, "", 512, 0) = 512', "no data block: a control file, a log, or no wait event"),
        (b'     0.000000 read(8<socket:[99]>, "", 8208) = 250', "SQL*Net message from client"),
        (b'     0.000000 write(8<socket:[99]>, "", 250) = 250', "SQL*Net message to client"),
        (b"     0.000000 times(NULL) = 430008372", "no wait event"),
    ],
)
def test_where_the_database_shows_a_call(log: bytes, shown: str) -> None:
    """By call, size and descriptor."""
    found = metrics.database_waits(calls(read_strace(log + b"\n     0.000100 close(3) = 0\n")))

    assert shown in found.get_column("shown_as").to_list()


def test_one_read_has_no_rate() -> None:
    """Between one moment and itself there is no time."""
    log = b'     0.000000 pread64(256, "", 8192, 0) = 8192\n'
    rate = metrics.read_rate(io_requests(calls(read_strace(log))))

    assert rate.schema == metrics.METRICS
    assert rate.get_column("value").null_count() == 4
    assert rate.item(0, "caveats") == "refused: the log shows no two moments between which reads were done"


def test_a_log_without_reads() -> None:
    """No reads: sizes are refused, counts are zero, the rest has no rows."""
    requests = io_requests(calls(read_strace(b"     0.000000 close(3) = 0\n")))
    sizes = metrics.read_sizes(requests)

    assert value(sizes, "reads") == 0
    assert caveats(sizes, "avg_read_bytes") == "refused: the divisor, 0, may be zero"
    assert metrics.read_latency(requests).is_empty()
    assert metrics.sequentiality(requests).is_empty()
    assert metrics.queue_depth(requests).is_empty()


def test_completions_of_unseen_submissions() -> None:
    """What was submitted before the log began counts as a read, unless the log has asynchronous writes."""
    reaped = b"     0.000000 io_getevents(14, 1, 128, {{0x9, 0x9, 8192, 0}}, {0, 0}) = 1\n"
    write = b"     0.000100 io_submit(14, 1, {{data:0x2, pwrite, filedes:268, nbytes:8192, offset:0}}) = 1\n"

    assert metrics.data_reads(io_requests(calls(read_strace(reaped)))).height == 1
    assert metrics.data_reads(io_requests(calls(read_strace(reaped + write)))).is_empty()


@given(st.lists(st.integers(1, 10**7), min_size=1, max_size=50))
def test_spread_is_ordered_and_bounded(times: list[int]) -> None:
    """Median, p95, p99 and maximum rise; each occurred; all lie within one tick of their bounds."""
    frame = pl.Series([time * 1000 for time in times], dtype=pl.Int64).cast(pl.Duration("ns"))
    mean, *ranks = spread(frame, "gap_us", basis="gaps", is_difference=True)
    values = [one.value for one in ranks]

    assert values == sorted(v for v in values if v is not None)
    assert all(value in times for value in values)
    assert mean.value == pytest.approx(sum(times) / len(times))
    assert all(
        one.lo is not None and one.hi is not None and one.value is not None and one.lo <= one.value <= one.hi
        for one in (mean, *ranks)
    )


def test_a_clock_that_was_set_back() -> None:
    """A time below zero is none: it is left out and counted, and the bounds hold what is left."""
    log = b"\n".join(
        b'1700000000.00000%d pread64(3, "x"..., 8192, 0) = 8192' % second for second in (5, 1, 3, 7)
    )  # gaps of -4, 2 and 4 us
    found = metrics.call_gaps(calls(read_strace(log)))

    mean = found.row(by_predicate=pl.col("metric") == "gap_us_mean", named=True)
    assert (mean["value"], mean["lo"], mean["hi"]) == (3.0, 2.0, 4.0)
    assert mean["caveats"].endswith("; 1 time below zero left out: the clock was set back")
    assert metrics.read_latency(io_requests(calls(read_strace(log)))).filter(pl.col("lo") > pl.col("value")).is_empty()


def test_a_process_shorter_than_the_clock_has_no_shares() -> None:
    """Refused in the frame with the reason, and no error."""
    log = b'1700000000.000001 pread64(3, "x"..., 8192, 0) = 8192 <0.000001>'
    found = metrics.time_shares(calls(read_strace(log)))

    assert found.get_column("value").to_list() == [None, None]
    assert "not above the clock's step" in caveats(found, "in_calls_share")


def test_requests_behind_a_cut_list_make_a_lower_bound() -> None:
    """A list is cut after 32 elements: what it left out was read, too, so nothing bounds the figures above."""
    block = "{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_nbytes=8192, aio_offset=0}"
    event = "{data=0, obj=0x7f, res=8192, res2=0}"
    log = (
        f"1700000000.000000 io_submit(0xa, 3, [{block}, ...]) = 3 <0.000010>\n"
        f"1700000000.000100 io_getevents(0xa, 3, 3, [{event}, ...], NULL) = 3 <0.000100>\n"
        '1700000000.000300 preadv(5, [{iov_base="", iov_len=4096}, ...], 9, 0) = 8192 <0.000010>\n'
    )
    requests = io_requests(calls(read_strace(log.encode())))
    sizes, rates = metrics.read_sizes(requests), metrics.read_rate(requests)

    assert metrics.data_reads(requests).height == 4
    assert sizes.select("value", "lo", "hi").rows()[:2] == [(2.0, 2.0, None), (16384.0, 16384.0, None)]
    assert caveats(sizes, "reads").startswith("strace did not print the size of 2 requests")
    assert rates.get_column("hi").to_list()[:3] == [None] * 3
    assert rates.get_column("lo").to_list()[3] is None


def test_a_read_into_many_buffers_has_its_size() -> None:
    """A cut list of buffers hides what was asked for, not what was read."""
    log = b'preadv(5, [{iov_base="", iov_len=4096}, ...], 9, 0) = 8192\n'
    found = metrics.read_sizes(io_requests(calls(read_strace(log))))

    assert found.select("value", "lo", "hi", "caveats").row(1) == (8192.0, 8192.0, 8192.0, "")


def test_requests_without_bytes_are_no_reads() -> None:
    """An asynchronous fsync, a synchronous one and a write have no place among the reads, and no size is missing."""
    log = (
        "io_submit(0xa, 2, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_FSYNC, aio_fildes=5}, {aio_data=0x2, "
        'aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5, aio_buf="", aio_nbytes=8192, aio_offset=0}]) = 2\n'
        "io_getevents(0xa, 2, 2, [{data=0x1, res=0, res2=0}, {data=0x2, res=8192, res2=0}], NULL) = 2\n"
        'fsync(5) = 0\npwrite64(5, "", 8192, 0) = 8192\n'
    )
    requests = io_requests(calls(read_strace(log.encode())))

    assert requests.height == 4
    assert metrics.data_reads(requests).get_column("op").to_list() == ["read"]
    assert metrics.read_sizes(requests).head(2).select("value", "lo", "hi", "caveats").rows() == [
        (1.0, 1.0, 1.0, ""),
        (8192.0, 8192.0, 8192.0, ""),
    ]


def test_a_rate_that_leaves_reads_out_has_no_upper_bound() -> None:
    """-r with both kinds of reads: a read that the window cannot hold makes the rate higher, never bounded above."""
    lines = []
    for turn in range(6):
        lines.append(f'     0.00{turn}100 pread64(9, ""..., 8192, {turn * 8192}) = 8192')
        lines.append(
            f"     0.000200 io_submit(0x7f10, 1, [{{data=0x{turn + 1:x}, pread, fildes=9, "
            f"buf=0x1000, nbytes=65536, offset={turn * 65536}}}]) = 1"
        )
        lines.append(
            f"     0.000300 io_getevents(0x7f10, 1, 1, [{{data=0x{turn + 1:x}, obj=0x{turn + 1:x}, "
            "res=65536, res2=0}], NULL) = 1"
        )
    found = metrics.read_rate(io_requests(calls(read_strace("\n".join(lines).encode()))))
    rates = found.filter(pl.col("metric") != "us_per_block")
    left_out = rates.filter(pl.col("caveats").str.contains("left out"))

    assert left_out.height == 3
    assert left_out.get_column("hi").null_count() == 3
    assert left_out.get_column("lo").null_count() == 0
