"""Findings of logs of the operating system's tools, and the sentence for logs of which no rule says anything."""

from __future__ import annotations

import json

import pytest

import iolab
from iolab.rules.devices import device_load
from iolab.rules.sql_traces import sql_trace_findings
from iolab.rules.tool_logs import event_findings
from iolab.views import view_of

_DEVICES = "Device r/s w/s rkB/s wkB/s r_await w_await\n"


def _sentences(log: bytes) -> list[str]:
    return iolab.findings(iolab.load(log)).get_column("sentence").to_list()


def test_a_test_of_storage_says_what_it_reached() -> None:
    """The job, its setting, requests a second, bytes, and the time of one."""
    side = {
        "io_bytes": 409_600_000,
        "total_ios": 100_000,
        "runtime": 10_000,
        "iops": 10_000.0,
        "bw_bytes": 40_960_000,
        "clat_ns": {"min": 100, "max": 9_000_000, "mean": 1_600_000.0, "percentile": {"99.000000": 4_000_000}},
    }
    options = {"rw": "randread", "bs": "4k", "iodepth": "16", "ioengine": "libaio", "direct": "1"}
    result = {"fio version": "fio-3.33", "jobs": [{"jobname": "plums", "job options": options, "read": side}]}

    (said,) = _sentences(json.dumps(result, indent=1).encode())

    assert said == (
        "Job `plums` (randread, blocks of 4k, depth 16): 10,000 reads a second, 41.0 MB/s, 1.600 ms each on average, "
        "99 % at most 4 ms."
    )


def test_a_list_of_slow_requests_gives_no_latency() -> None:
    """A tool that leaves out quick requests is refused: their half would be far too long."""
    head = "Tracing ext4 operations slower than 10 ms\n"
    head += "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n"
    log = iolab.load((head + "06:35:01 cron           16464  R 1249    0          16.05 common-auth\n" * 40).encode())

    (one,) = event_findings(log)

    assert one.is_refused
    assert "only those above its limit, 40" in one.sentence


@pytest.mark.parametrize("group", ["total", " Total", "all"])
def test_the_row_of_a_group_of_devices_is_no_device(group: str) -> None:
    """The sum of all devices has most requests in flight, and is none of them."""
    since_boot = f"{_DEVICES}sda 1.0 1.0 8.0 8.0 9.0 1.0\n\n"
    sample = f"{_DEVICES}sda 100.0 0.0 800.0 0.0 5.0 0.0\n{group} 200.0 0.0 1600.0 0.0 5.0 0.0\n\n"

    (one,) = device_load(iolab.load((since_boot + sample).encode()))

    assert one.sentence.startswith("`sda` had most requests in flight")


def test_requests_in_flight_are_rate_times_time() -> None:
    """A device with few slow requests is before one with many quick ones; the queue and the service add up."""
    head = "Device r/s w/s rkB/s wkB/s await\n"
    rows = "sda 10.0 10.0 80.0 80.0 100.0\nsdb 900.0 100.0 7200.0 800.0 0.5\n\n"

    (one,) = device_load(iolab.load((head + rows + head + rows).encode()))

    assert one.sentence.startswith("`sda` had most requests in flight, 2.00 ")
    assert "20.0 " in one.sentence


def test_waits_beyond_the_response_time_have_no_share_of_it() -> None:
    """Waits that add up to more than the calls took are no part of them."""
    lines = [
        "EXEC #3:c=0,e=146,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=634626798",
        "WAIT #3: nam='db file parallel read' ela= 106671 p1=1 p2=40 p3=40",
        "EXEC #3:c=0,e=120,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=1126157249",
    ]
    found = {one.name: one for one in sql_trace_findings(iolab.load("\n".join(lines).encode()))}

    assert found["cost_of_a_read"].impact is None
    assert found["overlapping_shares"].sentence.startswith("Waits alone add up to ")
    assert found["overlapping_shares"].why == "calls that waited are not in the log"


def test_plans_without_a_prompt_are_of_a_session() -> None:
    """A row of a plan of 8i to 9.2 has the form of a frame of perf: it makes no CPU profile of a session."""
    plan = (
        "Execution Plan\n----------------------------------------------------------\n"
        "   0      SELECT STATEMENT Optimizer=FIRST_ROWS (Cost=35 Card=33 Bytes=33264)\n"
        "   1    0   TABLE ACCESS (BY INDEX ROWID) OF 'PLUMS' (Cost=35 Card=33 Bytes=33264)\n"
        "   2    1     INDEX (RANGE SCAN) OF 'PLUMS_I' (NON-UNIQUE) (Cost=1 Card=33)\n"
    )
    log = iolab.load(f"\nThe cost of plums\n\n\n{plan}".encode())

    assert (log.format, log.frames()["plans"].lazy().collect().height) == ("sqlplus", 3)


def test_a_log_without_findings_says_what_was_looked_at() -> None:
    """Nothing stands out, and in what."""
    found = iolab.findings(iolab.load(b"SQL> select 1 from plums;\n\n         1\n----------\n         1\n"))

    assert found.select("name", "sentence").rows() == [("nothing_found", "Nothing stands out.")]
    assert found.item(0, "why") == f"looked at: {view_of('sqlplus').looked_at}"


def test_a_sample_without_a_begin_is_in_no_mean_by_time() -> None:
    """The first sample of a log whose interval is not known counts for nothing, as for the processors."""
    rows = [
        f"14/09/2026 20:0{minute}:00\n{_DEVICES}sda {rate} 0.0 8.0 0.0 5.0 0.0\n"
        for minute, rate in enumerate((9, 1, 1, 1))
    ]
    (one,) = device_load(iolab.load("\n".join(rows).encode()))

    assert "in 3 samples" in one.sentence
    assert "1 reads" in one.sentence or "1.0 reads" in one.sentence
