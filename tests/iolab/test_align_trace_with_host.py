"""A traced process beside the samples of its host: the same seconds, bounds that hold, and what is refused."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sample_scripts import sample_script

from hostparse import HostLog, read_host
from iolab import load
from iolab.comparison.matching import pair
from iolab.comparison.result import UnpairedError
from iolab.evidence import align_trace_with_host
from logframe import RefusedError
from sqltraceparse import SqlTrace
from straceparse import StraceLog

START = datetime(2026, 3, 2, 21, tzinfo=UTC)
EPOCH = START.timestamp()
STEP = 5
Read = tuple[float, float, int]
STACK = "    sda  %9.2f %9.2f %8.2f %8.2f %8.2f %8.2f\n"


def reads(seed: int, seconds: int = 38) -> list[Read]:
    """Reads of a process: start and end in seconds since the epoch, and bytes; never two at a time."""
    dice = random.Random(seed)  # noqa: S311 - data for tests
    found, now = [], EPOCH + 0.25
    while now < EPOCH + seconds:
        length = dice.uniform(0.0005, 0.05)
        found.append((now, now + length, 8192 * dice.choice((1, 1, 16))))
        now += length + dice.uniform(0, 0.03)
    return found


def strace(found: list[Read], clock: str = "%.6f", elapsed: str = " <%.6f>") -> StraceLog:
    """The strace log of reads."""
    lines = [
        f'{clock % start if "%" in clock else clock} pread64(257, "..."..., {size}, 8192) = {size}'
        + (elapsed % (end - start) if elapsed else "")
        for start, end, size in found
    ]
    log = load(("\n".join(lines) + "\n").encode())
    assert isinstance(log, StraceLog)
    return log


def iostat(
    found: list[Read], *, hours: float = 0, times: float = 1.0, stamps: bool = True, samples: int = 9
) -> HostLog:
    """Samples of the device that served the reads, on a clock so many hours ahead of UTC."""
    text = "Linux 5.4.17 (db1) \t03/02/26 \t_x86_64_\t(4 CPU)\n\n"
    for sample in range(samples):
        end = EPOCH + STEP * sample
        own = [one for one in found if end - STEP < one[1] <= end]
        area = sum(max(0.0, min(one[1], end) - max(one[0], end - STEP)) for one in found) / STEP
        mean = 1e3 * sum(one[1] - one[0] for one in own) / len(own) if own else 0.0
        if stamps:
            text += (datetime.fromtimestamp(end, UTC) + timedelta(hours=hours)).strftime("%m/%d/26 %H:%M:%S\n")
        text += "Device          r/s     rkB/s   r_await     w/s   w_await  aqu-sz\n"
        size = times * sum(one[2] for one in own) / 1024 / STEP
        text += STACK % (times * len(own) / STEP, size, mean, 0, 0, area) + "\n"
    return read_host(text.encode())


def vmstat(found: list[Read], times: float = 1.0) -> HostLog:
    """Samples of all block I/O of the host, in UTC."""
    text = (
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
    )
    for sample in range(9):
        end = EPOCH + STEP * sample
        size = times * sum(one[2] for one in found if end - STEP < one[1] <= end) / 1024 / STEP
        stamp = datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%d %H:%M:%S")
        text += f" 2  0  0 279471 295968 312724 0 0 {size:.0f} 0 29 57 0 0 99 0 0 {stamp}\n"
    return read_host(text.encode())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hours", [0, 1, -8, 5.5])
def test_devices_beside_strace(seed: int, hours: float) -> None:
    """The bounds hold the reads within the samples; both sides obey Little's law, and their latencies are one."""
    found = reads(seed)
    aligned = align_trace_with_host(strace(found), iostat(found, hours=hours), shift_s=-3600 * hours)
    rows = {row["quantity"]: row for row in aligned.figures.to_dicts()}
    within = [one for one in found if EPOCH + STEP < one[1] <= EPOCH + 35]
    process, device = aligned.sides.to_dicts()

    assert rows["read_requests"]["process_lo"] <= len(within) <= rows["read_requests"]["process_hi"]
    assert rows["read_bytes"]["process_lo"] <= sum(one[2] for one in within) <= rows["read_bytes"]["process_hi"]
    assert rows["read_requests"]["covered_s"] == 30
    assert [row["verdict"] for row in rows.values()] == ["possible", "possible"]
    assert [row["host"] for row in rows.values()] == [None, None]
    assert rows["read_requests"]["host_hi"] == pytest.approx(len(within), abs=2)
    assert process["littles_law_ratio"] == pytest.approx(1, abs=0.05)
    assert device["littles_law_ratio"] == pytest.approx(1, abs=0.06)
    assert device["latency_ms"] == pytest.approx(process["latency_ms"], rel=0.02)
    assert device["bytes_per_request"] == pytest.approx(process["bytes_per_request"], rel=0.02)


@pytest.mark.parametrize(("times", "verdict"), [(1.0, "agrees"), (0.2, "less"), (3.0, "more")])
def test_host_beside_strace(times: float, verdict: str) -> None:
    """A host that did less than the process read: a cache, or another host; one that did more: other processes."""
    found = reads(7)
    (row,) = align_trace_with_host(strace(found), vmstat(found, times)).figures.to_dicts()

    assert (row["quantity"], row["verdict"]) == ("read_bytes", verdict)
    assert row["host_lo"] < row["host"] < row["host_hi"]


def test_devices_that_did_not_serve_the_process() -> None:
    """All devices together did less than the process read: no latency of them is of these reads."""
    found = reads(8)
    aligned = align_trace_with_host(strace(found), iostat(found, times=0.01), shift_s=0)

    assert aligned.figures["verdict"].to_list() == ["missing", "missing"]


def test_a_read_at_an_edge_is_in_the_upper_bound_only() -> None:
    """A stamp says its time to a second: a read less than one from the first edge may lie outside."""
    found = [(EPOCH + 0.1, EPOCH + 0.2, 8192), (EPOCH + 5.5, EPOCH + 5.6, 8192), (EPOCH + 7, EPOCH + 7.1, 8192),
             (EPOCH + 12, EPOCH + 12.1, 8192)]  # fmt: skip
    aligned = align_trace_with_host(strace(found), iostat(found, samples=4), shift_s=0)
    row = aligned.figures.row(0, named=True)

    assert (row["process_lo"], row["process_hi"], row["samples"]) == (1, 2, 1)


def test_refusals() -> None:
    """No zone, no date, no time of requests, another time: nothing is placed beside each other."""
    found = reads(9)
    log = strace(found)

    with pytest.raises(RefusedError, match="without a zone: its distance"):
        align_trace_with_host(log, iostat(found))
    with pytest.raises(RefusedError, match="zones are not guessed"):
        align_trace_with_host(log, iostat(found, hours=2), shift_s=0)
    with pytest.raises(RefusedError, match="no times"):
        align_trace_with_host(log, iostat(found, stamps=False), shift_s=0)
    with pytest.raises(RefusedError, match="needs -ttt"):
        align_trace_with_host(strace(found, clock="21:00:01.000001"), iostat(found), shift_s=0)
    with pytest.raises(RefusedError, match="no rates"):
        align_trace_with_host(
            log, read_host(b"13:05:00     CPU    %usr   %idle\n13:05:03     all    1.73   95.95\n"), shift_s=0
        )


def test_compared() -> None:
    """`iolab compare` says it in words, in either order; what is refused is no pair."""
    found = reads(10)
    compared = pair(vmstat(found), strace(found), names=("vmstat.out", "trace.out"))
    turned = pair(strace(found), vmstat(found), names=("trace.out", "vmstat.out"))

    assert "6 samples lie within the trace, 2026-03-02 21:00:05 to 21:00:35" in compared.why
    assert compared.paragraphs == ("Read bytes: the host saw as much as the process asked for.",) == turned.paragraphs
    assert compared.frames["Process and host"]["verdict"].to_list() == ["agrees"]
    with pytest.raises(UnpairedError, match="distance to UTC is not known"):
        pair(iostat(found), strace(found))


@pytest.fixture(scope="module")
def traced() -> Any:  # noqa: ANN401 - a script, as a module
    """The module that writes traces."""
    return sample_script("traced_session")


@pytest.mark.parametrize("release", ["19.22.0.0.0", "11.2.0.4.0"])
def test_waits_beside_devices(traced: Any, release: str) -> None:  # noqa: ANN401
    """Waits of a trace, whose blocks need a size; a trace without a zone needs the shift between the clocks."""
    chance = random.Random(3)  # noqa: S311 - data for tests
    made = traced.Session(release, start=START, pid=4711)
    made.head()
    statement = traced.Statement("select 1 from t", 5)
    truth: list[Read] = []

    def work() -> None:
        for _ in range(200):
            made.cpu(chance.randrange(2_000, 20_000))
            waited = chance.randrange(200, 40_000)
            made.wait(5, "db file sequential read", waited, (4, chance.randrange(9_999), 1), 77)
            end = EPOCH + (made.now - made.boot) / 1e6
            truth.append((end - waited / 1e6, end, 8192))

    for _ in range(4):
        made.call("FETCH", statement, work, rows=1)
        made.think(11_000_000, 5)
    trace = load(made.text.encode())
    assert isinstance(trace, SqlTrace)
    has_zone = trace.clock["zone_is_known"][0]
    log = iostat(truth, hours=0 if has_zone else 2)  # the host's clock is the trace's: UTC+2
    if not has_zone:
        with pytest.raises(RefusedError, match="without a zone: its distance"):
            align_trace_with_host(trace, log)
    aligned = align_trace_with_host(trace, log, shift_s=0, block_size=8192)
    requests, size = aligned.figures.to_dicts()
    begin, end = ((at - aligned.begin).total_seconds() for at in (aligned.begin, aligned.end))
    first = aligned.begin.replace(tzinfo=UTC) - timedelta(hours=0 if has_zone else 2)
    within = [one for one in truth if first.timestamp() + begin < one[1] <= first.timestamp() + end]

    assert align_trace_with_host(trace, log, shift_s=0).figures["quantity"].to_list() == ["read_requests"]
    assert requests["process_lo"] <= len(within) <= requests["process_hi"]
    assert size["process_hi"] == 8192 * requests["process_hi"]
    assert requests["process_lo"] > 0
    assert requests["verdict"] == "possible"
