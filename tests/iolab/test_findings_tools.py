"""Findings of logs of the operating system's tools, and the sentence for logs of which no rule says anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import iolab
from iolab.pages.tool_summary import COUNTERS
from iolab.rules.devices import SEE_USERS, device_load
from iolab.rules.finding import platform_steps
from iolab.rules.host_processors import PROFILE
from iolab.rules.tool_logs import event_findings
from iolab.views import view_of

if TYPE_CHECKING:
    from pathlib import Path

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

    in_flight, said = _sentences(json.dumps(result, indent=1).encode())

    assert in_flight == "Job `plums` had 16 requests in flight, its whole queue: 10,000 per second of 1.60 ms each."
    assert said == (
        "Job `plums` (randread, blocks of 4k, depth 16): 10,000 reads per second, 41.0 MB/s, 1.60 ms each on average, "
        "99 % at most 4 ms."
    )


@pytest.mark.parametrize(("spread", "took", "is_even"), [(3.0, 85.3, True), (90.0, 85.3, False), (3.0, 20.0, False)])
def test_an_even_rate_of_a_full_queue_is_that_of_a_limit(spread: float, took: float, *, is_even: bool) -> None:
    """Reads and writes of a text report together fill the queue; their rate is that of a limit where it is even."""
    sizes = "(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B"
    text = f"ora: (g=0): rw=randrw, bs={sizes}, ioengine=libaio, iodepth=32\n...\nfio-3.19\nStarting 8 processes\n\n"
    text += "ora: (groupid=0, jobs=8): err= 0: pid=30817: Wed Nov 18 13:20:41 2026\n"
    for word, rate in (("read", 2100), ("write", 900)):
        text += f"  {word}: IOPS={rate}, BW=16.4MiB/s (17.2MB/s)(4921MiB/300043msec)\n"
        text += f"    clat (msec): min=1, max=161, avg={took}, stdev= 9.1\n"
        text += f"     lat (msec): min=1, max=161, avg={took}, stdev= 9.1\n"
        text += f"   iops        : min= 800, max= 2148, avg={rate}.80, stdev= {spread}, samples=4792\n"
    said = _sentences(text.encode())[0]

    queue = "256 requests in flight, its whole queue" if took > 80 else "60 requests in flight, of 256 that its queue"
    assert said.startswith(f"Job `ora` had {queue}")
    even = (
        "varied by 0.3 % (standard deviation): consistent with a limit on requests per second (of a volume, a cgroup)."
    )
    assert said.endswith(even) == is_even


@pytest.mark.parametrize(
    ("rate", "quickest_ms", "spread_ms", "is_limit"),
    [(3000.03, 2.9, 9.0, True), (3126.0, 1.4, 2.4, True), (3126.0, 15.0, 2.4, False), (3126.0, 1.4, 9.0, False)],
)
def test_an_even_rate_is_a_limit_where_it_is_round_or_the_device_is_quick(
    rate: float, quickest_ms: float, spread_ms: float, *, is_limit: bool
) -> None:
    """A device that is busy all the time may have an even rate, too: only a limit is round, or slows a quick device."""
    mean_ms = 64 / rate * 1e3
    times = {"mean": mean_ms * 1e6, "stddev": spread_ms * 1e6, "percentile": {"1.000000": quickest_ms * 1e6}}
    rates = {"iops": rate, "iops_mean": rate / 4, "iops_stddev": 7.8, "iops_samples": 2400}
    side = {"total_ios": 900_117, "runtime": 300_036, "clat_ns": times, **rates}
    options = {"rw": "randwrite", "iodepth": "16", "numjobs": "4", "group_reporting": "1"}
    jobs = [{"jobname": "dbwr", "job options": options, "write": side}]
    found = iolab.findings(json.dumps({"fio version": "fio-3.19", "jobs": jobs}).encode()).row(0, named=True)

    assert "64 requests in flight, its whole queue" in found["sentence"]
    assert ("varied by 1.0 % (standard deviation): consistent with a limit" in found["sentence"]) is is_limit
    assert ("The quickest 1 % took at most 1.40 ms." in found["sentence"]) is (is_limit and spread_ms < 9)
    assert ("io.max" in found["next"]) is is_limit
    assert found["next"].endswith("run the job again with less depth")


@pytest.mark.parametrize("is_json", [True, False])
def test_the_syncs_of_a_test_of_storage_come_first(*, is_json: bool) -> None:
    """A write into the page cache is quick: what the test waited for is the sync after it."""
    ends = {"mean": 23_080_000.0, "max": 604_000_000, "percentile": {"99.000000": 103_000_000}}
    side = {"total_ios": 5193, "iops": 43.0, "bw_bytes": 177_000, "clat_ns": {"mean": 24_610.0, "max": 412_000}}
    text = json.dumps({"fio version": "fio-3.33", "jobs": [{"jobname": "a", "write": side, "sync": {"lat_ns": ends}}]})
    if not is_json:
        sizes = "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B"
        text = f"a: (g=0): rw=write, bs={sizes}, ioengine=sync, iodepth=1\nfio-3.19\nStarting 1 process\n\n"
        text += "a: (groupid=0, jobs=1): err= 0: pid=31188: Mon Oct 16 17:22:08 2023\n"
        text += "  write: IOPS=43, BW=173KiB/s (177kB/s)(20.3MiB/120018msec)\n"
        text += "    clat (usec): min=9, max=412, avg=24.61, stdev=11.09\n"
        text += "  fsync/fdatasync/sync_file_range:\n    sync (msec): min=7, max=604, avg=23.08, stdev=19.84\n"
        text += "    sync percentiles (msec):\n     | 99.00th=[  103], 99.50th=[  144]\n"

    synced, said = _sentences(text.encode())

    assert synced == "Syncs of job `a` took 23.1 ms each on average, 99 % at most 103 ms, the longest 604 ms."
    assert said.endswith("43 writes per second, 0.177 MB/s, 24.6 us each on average (without its sync).")


def test_a_test_of_storage_without_rates_says_what_it_has() -> None:
    """A result that lacks its rates, its job's name or its settings is no fault of the program."""
    jobs = [{"jobname": "plums", "write": {"total_ios": 3, "iops": 18}}, {"write": {"total_ios": 41}}]

    said = _sentences(json.dumps({"fio version": "fio-3.33", "jobs": jobs}).encode())

    assert said == [
        "Job `1` (its settings are not known): 41 writes.",
        "Job `plums` (its settings are not known): 18 writes per second.",
    ]


def test_a_list_of_slow_requests_gives_no_latency() -> None:
    """A tool that leaves out quick requests is refused: their half would be far too long."""
    head = "Tracing ext4 operations slower than 10 ms\n"
    head += "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n"
    log = iolab.load((head + "06:35:01 cron           16464  R 1249    0          16.05 common-auth\n" * 40).encode())

    (one,) = event_findings(log)

    assert one.is_refused
    assert "only the 40 above its limit" in one.sentence


@pytest.mark.parametrize("group", ["total", " Total", "all"])
def test_the_row_of_a_group_of_devices_is_no_device(group: str) -> None:
    """The sum of all devices has most requests in flight, and is none of them."""
    since_boot = f"{_DEVICES}sda 1.0 1.0 8.0 8.0 9.0 1.0\n\n"
    sample = f"{_DEVICES}sda 100.0 0.0 800.0 0.0 5.0 0.0\n{group} 200.0 0.0 1600.0 0.0 5.0 0.0\n\n"

    (one,) = device_load(iolab.load((since_boot + sample).encode()))

    assert one.sentence.startswith("`sda` had the most requests in flight, 0.500 on average. It served 100 reads")


def test_requests_in_flight_are_rate_times_time() -> None:
    """A device with few slow requests is before one with many quick ones; the queue and the service add up."""
    head = "Device r/s w/s rkB/s wkB/s await\n"
    rows = "sda 10.0 10.0 80.0 80.0 100.0\nsdb 900.0 100.0 7200.0 800.0 0.5\n\n"

    (one,) = device_load(iolab.load((head + rows + head + rows).encode()))

    assert (
        one.sentence
        == "`sda` had the most requests in flight, 2 on average. It served 20 requests per second of 100 ms each."
    )


def test_waits_beyond_the_response_time_have_no_share_of_it() -> None:
    """Waits that add up to more than the calls took, in a session that is nearly all missing, are no part of it."""
    lines = [
        "EXEC #3:c=0,e=146,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=634626798",
        "WAIT #3: nam='db file parallel read' ela= 106671 p1=1 p2=40 p3=40",
        "EXEC #3:c=0,e=120,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,tim=1126157249",
    ]
    found = iolab.findings(iolab.load("\n".join(lines).encode()))

    assert found.get_column("name").to_list() == ["no_total"]
    assert "records cover only" in found.item(0, "sentence")


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
    counts = "          0  recursive calls\n          0  db block gets\n          0  physical reads\n"
    log = f"SQL> commit;\n\nCommit complete.\n\nStatistics\n{'-' * 58}\n{counts}"
    found = iolab.findings(iolab.load(log.encode()))

    assert found.select("name", "sentence").rows() == [("nothing_found", "Nothing stands out.")]
    assert found.item(0, "detail") == f"checked: {view_of('sqlplus').looked_at}"


def test_a_sample_without_a_begin_is_in_no_mean_by_time() -> None:
    """The first sample of a log whose interval is not known counts for nothing, as for the processors."""
    rows = [
        f"14/09/2026 20:0{minute}:00\n{_DEVICES}sda {rate} 0.0 8.0 0.0 5.0 0.0\n"
        for minute, rate in enumerate((9, 1, 1, 1))
    ]
    (one,) = device_load(iolab.load("\n".join(rows).encode()))

    assert "in 3 samples" in one.detail
    assert "served 1 read per second" in one.sentence


def test_a_device_that_a_sample_leaves_out_did_nothing_in_it() -> None:
    """Tools leave out idle devices: the mean of all samples is no mean of those that list the device."""
    since_boot = f"{_DEVICES}sda 1.0 1.0 8.0 8.0 9.0 1.0\n\n"
    burst = f"{_DEVICES}sdb 80.0 0.0 640.0 0.0 5.0 0.0\nsda 50.0 0.0 400.0 0.0 5.0 0.0\n\n"
    steady = f"{_DEVICES}sda 50.0 0.0 400.0 0.0 5.0 0.0\n\n"

    (one,) = device_load(iolab.load((since_boot + burst + steady * 3).encode()))
    (moved,) = device_load(
        iolab.load(
            "".join(
                f"Device tps kB_read/s kB_wrtn/s\n{rows}\n"
                for rows in ("sda 1.0 1.0 0.0\n", "sdb 9.0 900.0 0.0\nsda 9.0 500.0 0.0\n", "sda 9.0 500.0 0.0\n")
            ).encode()
        )
    )

    assert one.sentence.startswith("`sda` had the most requests in flight, 0.250 on average. It served 50 reads")
    assert "in 4 samples" in one.detail
    assert moved.sentence == "`sda` moved the most bytes: 0.512 MB/s read on average."


def test_processors_without_time_to_divide_were_not_busy() -> None:
    """A sample all of whose parts are 0 is no sample; of means since the start alone nothing is said."""
    head = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
    rows = ["10.00 0.00 5.00 0.00 0.00 85.00", "0.00 0.00 0.00 0.00 0.00 0.00", "30.00 0.00 10.00 0.00 0.00 60.00"]
    log = "Linux 6.1.0 (plum) \t2026-09-14 \t_x86_64_\t(4 CPU)\n\n" + "\n\n".join(f"{head} {row}" for row in rows)

    said = _sentences(log.encode())
    assert "The CPUs were 40 % busy in one of 2 samples; all CPU figures of the rest are 0." in said
    (alone,) = _sentences(log[: log.index("\n\n", log.index("85.00"))].encode())
    assert alone == "The total time is unknown: all figures are averages since boot."


def test_devices_of_a_sample_without_ticks_are_reported() -> None:
    """A sample whose CPU figures are all 0 has its devices; one with nearly all requests leads with its figures."""
    head = "avg-cpu:  %user %nice %system %iowait %steal %idle\n{}\n\nDevice r/s w/s r_await w_await aqu-sz %util\n"
    cpus = ["1.00 0.00 1.00 0.00 0.00 98.00", "0.00 0.00 0.00 0.00 0.00 0.00", "20.00 0.00 8.00 0.00 0.00 72.00"]
    disks = ["sda 1.00 1.00 5.00 5.00 0.01 1.00", "sda 1200.00 0.00 12.00 0.00 14.00 85.00", "sda 0 0 0 0 0.00 0.00"]
    text = "Linux 6.1.0 (plum) \t2026-09-14 \t_x86_64_\t(4 CPU)\n\n"
    text += "\n\n".join(head.format(cpu) + disk for cpu, disk in zip(cpus, disks, strict=True))
    assert _sentences(f"{text}\n".encode())[0] == (
        "`sda` had the most requests in flight: 7.00 on average, 14.0 in the busiest of 2 samples (85 % busy). "
        "It then served 1,200 reads per second of 12 ms each."
    )


def test_requests_in_flight_are_those_printed() -> None:
    """The rate times the time of a request is within the rounding of the queue length; the printed one is used."""
    head = "Device r/s w/s r_await w_await aqu-sz %util\n"
    rows = "sda 40.00 0.00 9.00 0.00 0.01 50.00\nsdb 10.00 0.00 5.00 0.00 0.05 50.00\n\n"
    (one,) = device_load(iolab.load((head + rows + head + rows).encode()))
    assert one.sentence.startswith("`sdb` had the most requests in flight, 0.0500 on average.")
    (idle,) = device_load(iolab.load((head + rows + head + "sda 0 0 0 0 0 0\n").encode()))
    assert idle.sentence == "The devices served nothing in 1 sample: all requests are printed as 0."


def test_means_are_of_the_time_of_their_samples() -> None:
    """A sample of five minutes counts for five of one minute."""
    head = "10:00:00 AM IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil\n"
    row = "10:{} AM eth0 9.0 9.0 {} 0.00 0.0 0.0 0.0 0.00\n"
    rows = row.format("01:00", "12000.00") + row.format("06:00", "6000.00")
    said = _sentences(f"Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n{head}{rows}".encode())
    assert "`eth0` received 7.17 MB/s and sent 0 MB/s on average." in said


@pytest.mark.parametrize(("busy", "rate", "is_slow"), [(1500, 12.0, True), (1500, 1.2, False), (1, 1.2, True)])
def test_a_few_slow_requests_beside_a_busy_device(busy: int, rate: float, is_slow: bool) -> None:  # noqa: FBT001
    """One slow request per second, in one sample, is not what was slow where another device served a thousand."""
    head = "02/19/2024 01:05:{}0 PM\nDevice r/s w/s r_await w_await aqu-sz %util\n"
    row = "sda {}.00 0.00 12.00 0.00 0.10 50.00\nsdf {} 0.00 62.50 0.00 0.01 1.00\n\n"
    text = "".join(head.format(n) + row.format(*((busy, rate) if n == 3 else (1, 0.0))) for n in range(6))
    found = iolab.findings(f"Linux 6.1.0 (plum) \t02/19/24 \t_x86_64_\t(4 CPU)\n\n{text}".encode())
    assert found.filter(name="slow_device").height == is_slow


@pytest.mark.parametrize("stamp", ["TS 170000000{}.0", "zzz ***Tue Nov 14 22:13:2{} UTC 2023"])
def test_counters_of_disks_between_stamps(stamp: str) -> None:
    """Two readings of /proc/diskstats make rates; a device that did nothing is not named, and one reading has none."""
    text = "".join(
        f"{stamp.format(5 * n)}\n   1    0 ram0 0 0 0 0 0 0 0 0 0 0 0\n"
        f"   8    0 sda {900 + 2500 * n} 0 {n * 40000} {n * 5000} 7 0 0 0 0 {n * 4750} {n * 5000}\n"
        for n in range(2)
    )
    find = COUNTERS.findings
    assert find is not None
    said = {one.name: one.sentence for one in find(iolab.load(text.encode()))}
    assert said["device_load"] == (
        "`sda` had the most requests in flight, 1 on average. It served 500 reads per second of 2 ms each."
    )
    (none,) = find(iolab.load(text[: text.index(stamp.format(5))].encode()))
    assert none.sentence == "No counters of a device stand twice with a time, so there are no rates."


def test_a_log_without_samples_is_not_all_clear() -> None:
    """Counters without rates are no processors that had nothing to do."""
    disks = "disk- ------------reads------------ ------------writes----------- -----IO------\n"
    disks += "       total merged sectors      ms  total merged sectors      ms    cur    sec\n"
    disks += "sda    20158      0  906346   17454  23302   4139 1083072   24120      0     16\n"
    found = iolab.findings(iolab.load(disks.encode()))

    assert found.select("name", "refused").rows() == [("nothing_read", True)]


def test_notes_on_a_whole_trace_are_no_lines_that_were_not_read(tmp_path: Path) -> None:
    """The files of `strace -ff -r` have a note on their clock: of no line; a line that was not read is one."""
    for number, rest in ((71, ""), (72, "a remark\n")):
        text = '     0.000123 pread64(3, "", 8192, 0) = 8192 <0.000004>\n' * 3
        (tmp_path / f"t.{number}").write_text(text + rest, encoding="utf-8")

    said = [
        iolab.findings(iolab.load(sorted(tmp_path.glob(pattern)))).filter(pl.col("name") == "lines_not_read")
        for pattern in ("t.*", "t.71")
    ]

    assert said[0]["sentence"].to_list() == ["1 of 7 lines was not read; the first is line 4."]
    assert said[1].is_empty()


def test_a_part_of_a_report_without_its_top_events_has_the_shares_of_its_classes() -> None:
    """The whole is what the printed shares are of: 400 s are 50 % of 800 s."""
    part = (
        b"Foreground Wait Class\n\n"
        b"                                      %Time   Total Wait   Avg wait\n"
        b"Wait Class                      Waits -outs         Time (s)      (ms)  %DB time\n"
        b"-------------------- ---------------- ----- ---------------- -------- ---------\n"
        b"User I/O                        1,000     0              400    400.0      50.0\n"
    )

    ledger = iolab.ledger(part)

    assert ledger.total is not None
    assert ledger.total.value == pytest.approx(800, abs=1)
    assert ledger.parts().select("name", "kind").row(0) == ("User I/O", "io")


_SAR = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n10:00:00 AM {}\n"


def test_tables_that_no_rule_knows_give_their_first_figures() -> None:
    """Sar -b and pidstat -w: what was counted, and whose was most; nothing says that the log has no rates."""
    requests = "".join(f"10:0{n}:00 AM 5200.0 4900.0 300.0 400000.0 8000.0\n" for n in range(1, 4))
    switches = "".join(f"10:0{n}:00 AM 0 42 9000.0 10.0 java\n10:0{n}:00 AM 0 7 9.0 1.0 cron\n" for n in range(1, 4))

    assert _sentences((_SAR.format("tps rtps wtps bread/s bwrtn/s") + requests).encode()) == [
        "On average: 5,200 transfers per second, 4,900 reads per second, 300 writes per second."
    ]
    assert _sentences((_SAR.format("UID PID cswch/s nvcswch/s Command") + switches).encode()) == [
        "`42 java` had 9,000 cswch per second, 10 nvcswch per second on average, more than 1 other."
    ]


def test_pages_swapped_are_bytes() -> None:
    """Sar -W counts pages of 4 KiB."""
    pages = "".join(f"10:0{n}:00 AM 1000.0 2000.0\n" for n in range(1, 4))

    assert "The host swapped 4,000 KiB/s in and 8,000 KiB/s out." in _sentences(
        (_SAR.format("pswpin/s pswpout/s") + pages).encode()
    )


def _top(user: str, command: str) -> bytes:
    """Two samples of top, a minute apart, of 4 such processes that are busy, and of 3 of Oracle that are not."""
    row = "{} {}    20   0    4676    863    412 R  {}  0.0  31:56.23 {}\n"
    text = ""
    for minute in (10, 11):
        text += f"top - 23:{49 + minute:02}:30 up 8 days, 3 users, load average: 9.10, 8.40, 7.20\n".replace(
            "23:60", "00:00"
        )
        text += "%Cpu(s): 96.2 us,  3.6 sy,  0.0 ni,  0.2 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st\n\n"
        text += "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n"
        text += "".join(row.format(100 + n, user, "45.0", command) for n in range(4))
        text += "".join(row.format(200 + n, "oracle", "20.0", f"oracle_{200 + n}_db") for n in range(3))
    return text.encode()


def test_processes_of_one_program_are_added_up() -> None:
    """No process of a family need use half a CPU; the clock of top, also past midnight, gives the length of samples."""
    log = iolab.load(_top("backup", "gzip"))
    found = iolab.findings(log).filter(name="busy_process").row(0, named=True)

    assert found["sentence"] == (
        "4 processes `gzip` of user `backup` used 1.80 CPUs; 3 processes like `oracle_200_db` of user `oracle` used "
        "0.600 CPUs on average."
    )
    assert found["next"].startswith("run fewer `gzip` at a time, or let them yield: renice -n 19 -u backup")
    assert iolab.findings(log).filter(name="busy_process").height == 1
    assert iolab.ledger(log).elapsed.value == 60
    own = iolab.findings(iolab.load(_top("oracle", "ora_p000_db"))).filter(name="busy_process")
    assert "renice" not in own.item(0, "next")


LPARSTAT = """
System configuration: type=Shared mode=Uncapped smt=4 lcpu=32 mem=131072MB psize=16 ent=4.00

%user  %sys  %wait  %idle physc %entc  lbusy   app  vcsw phint
----- ----- ------ ------ ----- ----- ------   --- ----- -----
 62.1  12.3    4.2   21.4  5.12 128.0   38.2  3.21 12034    12
 64.0  13.1    3.9   19.0  5.33 133.2   40.1  3.02 12511    15
 60.7  11.8    4.8   22.7  4.98 124.5   36.9  3.44 11876    11
"""


def test_a_partition_of_aix_has_the_processors_that_it_used() -> None:
    """The log of lparstat is no session of SQL*Plus, whatever its rules look like."""
    log = iolab.load(LPARSTAT.encode())
    said = dict(iolab.findings(log).select("name", "sentence").iter_rows())

    assert log.kind == "lparstat"
    assert said["processors"].endswith("; the partition used 5.16 physical CPUs, 129 % of its entitlement.")


@pytest.mark.parametrize(("is_shared", "waits"), [(1, 38.0), (0, 0.2)])
def test_a_shared_partition_has_no_time_of_its_logical_processors(is_shared: int, waits: float) -> None:
    """Percent of an entitlement are none of the logical processors; a request is divided into queue and service."""
    lines = ["AAA,progname,topas_nmon", "AAA,build,AIX", "AAA,host,db1", "AAA,AIX,7.1.3.30", "AAA,time,17:23:00"]
    lines += ["AAA,date,14-MAR-2018", "AAA,interval,300", "AAA,cpus,64,28", "DISKBUSY,Disk %Busy db1,hdisk7"]
    lines += ["CPU_ALL,CPU Total db1,User%,Sys%,Wait%,Idle%,Busy,PhysicalCPUs", "DISKSERV,Disk Service Time,hdisk7"]
    lines += ["LPAR,Logical Partition db1,PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,SharedCPU"]
    lines += ["DISKXFER,Disk transfers per second db1,hdisk7", "DISKWAIT,Disk Wait Queue Time msec/xfer db1,hdisk7"]
    for n in range(1, 8):
        lines += [f"ZZZZ,T{n:04},17:{23 + 5 * n}:00,14-MAR-2018", f"CPU_ALL,T{n:04},32.2,29.2,19.7,18.9,,28"]
        lines += [f"LPAR,T{n:04},0.65,7,28,16,1.30,{is_shared}", f"DISKBUSY,T{n:04},99.1"]
        lines += [f"DISKXFER,T{n:04},1500.0", f"DISKSERV,T{n:04},1.8", f"DISKWAIT,T{n:04},{waits}"]
    log = iolab.load(("\n".join(lines) + "\n").encode())
    said = dict(iolab.findings(log).select("name", "sentence").iter_rows())
    used = "; the partition used 0.650 physical CPUs, 50 % of its entitlement."
    assert said["processors"].endswith(used) == bool(is_shared)
    assert ("28 CPUs" in iolab.ledger(log).text) != bool(is_shared)
    assert (
        "; a request took 39.8 ms on average, 38 ms of it in the queue of the host" in said["saturated_device"]
    ) == (waits > 1)


@pytest.mark.parametrize("usual", [0, 32])
def test_the_disk_with_far_longer_times_comes_before_the_one_with_most(usual: int) -> None:
    """Half of the times of one group are eight times as long as those of the largest, or longer."""
    text = ""
    for disk, low, count in (("sdb", usual, 900), ("sdd", 64, 90)):
        text += f"\nBucket disk = '{disk}'\n     msecs               : count     distribution\n"
        text += f"{low:>10} -> {2 * low - 1 if low else 1:<10} : {count:<8} |****|\n"
    said = iolab.findings(text.encode()).filter(name="latency").get_column("sentence").to_list()
    assert said[0].startswith(
        "Half of 900 times of `sdb`" if usual else "Half of 90 times of `sdd` were 64 ms or longer."
    )


@pytest.mark.parametrize(
    ("each", "stated"), [(15, "most in 2 of 30 histograms: they hold 800 of the 800 times"), (1, "")]
)
def test_the_longest_times_in_few_of_many_tables_are_stalls(each: int, stated: str) -> None:
    """A tail that comes at once stalls requests; the same share of long times in each table does not."""
    text = ""
    for table in range(30):
        text += "\n     usecs               : count     distribution\n"
        text += "       256 -> 511        : 9000     |****|\n"
        if table % each == 0:
            text += f"    262144 -> 524287     : {400 if each > 1 else 27:<8} |    |\n"
    found = iolab.findings(text.encode()).filter(name="stalls").get_column("sentence").to_list()
    assert [stated in sentence and sentence.endswith("of 262 ms to 524 ms.") for sentence in found] == [True] * bool(
        stated
    )


@pytest.mark.parametrize("words", ["AIX", "SunOS", "HP-UX"])
def test_no_step_names_a_command_that_only_linux_has(words: str) -> None:
    """What the rules of hosts lead to has a command on each other platform."""
    steps = pl.Series([
        "see what runs on it: perf top -C 5; cat /proc/interrupts",
        "see what runs on it: perf top -C 5; pidstat -t -u 5",
        PROFILE.format(77),
        "see who holds the memory: ps -eo pid,rss,args --sort=-rss; sar -W 5, for the time of it",
        "see who holds the memory: ps -eo pid,rss,args --sort=-rss; sar -r 5",
        "see what it does not share with the others: multipath -ll; its LUN, path and pool in the array",
        "see who flushes: strace -c -f -e trace=fsync,fdatasync -p PID",
        "see the processes: pidstat -u 5; pidstat 5 shows %wait of each",
        "see who had the CPU: pidstat -u 5; perf sched latency",
        "see the devices: iostat -xt 5; where they wait: cat /proc/PID/stack",
        "see which connections: ss -ti",
        SEE_USERS,
    ])  # fmt: skip
    for usual, other in platform_steps(words).items():
        steps = steps.str.replace_all(usual, other)
    linux = ["perf ", "pidstat", "/proc/", "--sort", "sar -W", "sar -r", "multipath", "strace", "ss -ti", "bio", "-xt"]
    assert steps.filter(steps.str.contains_any(linux)).to_list() == []
    assert ("see what it did: pstack 77; prstat -mL -p 77 5" in steps.to_list()) is (words == "SunOS")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("Linux 5.4.17 (db1)    10/14/24        _x86_64_        (8 CPU)", "pidstat -u 5"),
        ("AIX db1 2 7 00F93CFF4C00    10/14/24", "topas -P"),
        ("SunOS db1 5.11 11.4 sun4v    10/14/24", "prstat -mL 5"),
    ],
)
def test_the_next_step_is_one_of_the_platform(head: str, expected: str) -> None:
    """The commands of Linux are those of the system that the log is of."""
    rows = "".join(f"09:0{minute}:00      93       6       0       1\n" for minute in range(1, 6))
    found = iolab.findings(f"{head}\n\n09:00:00    %usr    %sys    %wio   %idle\n{rows}".encode())
    assert any(step.endswith(expected) for step in found.get_column("next").drop_nulls())
