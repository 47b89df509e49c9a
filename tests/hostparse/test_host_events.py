"""Lists of I/O events and results of fio, on logs made for this project, and on the real ones."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import iolab
from hostparse import read_events, read_fio
from logframe import LogParseError

if TYPE_CHECKING:
    from pathlib import Path


def biosnoop(seed: int, rows: int) -> tuple[str, list[tuple[object, ...]]]:
    """A list as biosnoop prints it, and the events in it; commands are cut at 15 characters and may hold blanks."""
    dice = random.Random(seed)  # noqa: S311 - made-up data
    text = "Tracing block device I/O... Hit Ctrl-C to end.\n"
    text += "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
    events: list[tuple[object, ...]] = []
    clock = 0.0
    for _ in range(rows):
        clock += dice.random() / 1000
        command = dice.choice(["oracle_4711_orc", "ora dbw0 orcl", "kworker/3:1H", "dd"])
        event = (round(clock, 6), dice.randrange(1, 99999), command, dice.choice("RW"), dice.randrange(1 << 33))
        size, latency = dice.choice([512, 8192, 1 << 20]), round(dice.random() * 30, 2)
        text += (
            f"{event[0]:<11.6f} {command:14} {event[1]:<6} dm-3    {event[3]} {event[4]:<10} {size:<7}{latency:10.2f}\n"
        )
        events.append((*event, size, latency))
    return text, events


@pytest.mark.parametrize("seed", range(5))
def test_events_of_biosnoop(seed: int) -> None:
    """Each event as written; sectors are bytes, and a latency has half a hundredth of a millisecond on both sides."""
    text, events = biosnoop(seed, 60)

    found = read_events(text.encode())

    names = ("time_s", "pid", "command", "operation", "offset_bytes", "bytes", "latency_ms")
    expected = [(*event[:4], int(str(event[4])) * 512, *event[5:]) for event in events]
    assert found.events.select(names).rows() == expected
    assert found.diagnostics.is_empty()
    width = found.events.get_column("latency_ms_hi") - found.events.get_column("latency_ms_lo")
    assert width.max() == pytest.approx(0.01)


def test_a_heading_that_lacks_a_column() -> None:
    """The figures of its column are no part of the command beside it: each row is a diagnostic."""
    text, events = biosnoop(0, 5)
    found = read_events(text.replace("PID", "   ", 1).encode())

    assert set(found.diagnostics["line"]) == set(range(3, len(events) + 3))


def test_a_step_of_blkparse_with_another_word() -> None:
    """The place of a request that is not read is a diagnostic."""
    row = "8,0    2        9     0.001843458   323  D  WSM 43781957 + 17 [dd]\n"
    found = read_events((row + row.replace("WSM", "DZT WSM")).encode())

    assert found.events["offset_bytes"].to_list() == [43781957 * 512, None]
    assert found.diagnostics.select("line", "kind").rows() == [(2, "no_value")]


def test_slower_events_are_marked() -> None:
    """A list of slow events only says so, and one without a threshold does not inherit it."""
    head = "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n"
    row = "06:35:01 oracle_4711_orc 4711   R 8192    72         12.05 users 01.dbf\n"
    text = f"Tracing ext4 operations slower than 10 ms\n{head}{row}\nTracing ext4 operations\n{head}{row}"

    found = read_events(text.encode())

    columns = ("only_from_ms", "offset_bytes", "name", "time_text", "list")
    assert found.events.select(columns).rows() == [
        (10.0, 72 * 1024, "users 01.dbf", "06:35:01", 1),
        (None, 72 * 1024, "users 01.dbf", "06:35:01", 2),
    ]
    assert found.describe() == "a list of I/O events (slower), 2 events, only those of 10 ms and more"


def test_an_event_faster_than_its_list() -> None:
    """Where the heading of the next list is missing: its events contradict the first one's limit, which ends there."""
    head = "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n"
    rows = [
        f"06:35:01 cron           16464  R 1249    0       {one} common-auth\n"
        for one in ("  10.00", "   9.99", "  12.00")
    ]
    found = read_events(("Tracing ext4 operations slower than 10 ms\n" + head + "".join(rows)).encode())

    assert found.events.get_column("only_from_ms").to_list() == [10.0, None, None]
    assert found.diagnostics.select("line", "kind").rows() == [(4, "threshold")]


def test_latencies_of_whole_microseconds_are_cut() -> None:
    """The bounds go up to the next microsecond; commas within a file's name do not fit and are a diagnostic."""
    text = "ENDTIME_us,TASK,PID,TYPE,BYTES,OFFSET_b,LATENCY_us,FILE\n"
    text += "127200712278,dd,7,R,128,512,1432,a\n1,dd,7,R,1,1,1,a,b\n"

    found = read_events(text.encode())

    assert found.events.select("latency_ms_lo", "latency_ms_hi", "end_s").row(0) == pytest.approx(
        (1.432, 1.433, 127200.712278)
    )
    assert found.diagnostics.select("line", "kind").rows() == [(3, "unparsed")]


def test_waits_of_oracle_processes() -> None:
    """A wait's name may hold blanks, signs and an equals sign."""
    text = "15:02:27  pid=10456 event=SQL*Net message to client wait_time=6\n15:02:28  pid=7 event=a=b wait_time=1700\n"

    found = read_events(text.encode())

    columns = ("time_text", "pid", "name", "latency_ms")
    assert found.events.select(columns).rows() == [
        ("15:02:27", 10456, "SQL*Net message to client", 0.006),
        ("15:02:28", 7, "a=b", 1.7),
    ]


def test_steps_of_blkparse() -> None:
    """Times of the device and of the whole request where one issue and one queueing lead to a completion."""
    steps = [
        ("0.000000000", "Q", "1000 + 16 [dd]"),
        ("0.000100000", "D", "1000 + 16 [dd]"),
        ("0.000600000", "C", "1000 + 16 [0]"),
        ("0.001000000", "Q", "1000 + 16 [dd]"),
        ("0.002000000", "D", "1000 + 16 [dd]"),
        ("0.002100000", "D", "1000 + 16 [dd]"),
        ("0.003000000", "C", "1000 + 16 [0]"),
        ("0.004000000", "C", "2000 + 8 [0]"),
    ]
    text = "".join(
        f"  8,0    3 {number:8} {time:>15}  4711  {action}   R {rest}\n"
        for number, (time, action, rest) in enumerate(steps, 1)
    )
    text += "CPU3 (8,0):\n Reads Queued:           2,       16KiB\t Writes Queued:           0,        0KiB\n"

    found = read_events(text.encode())

    rows = found.requests.select("offset_bytes", "bytes", "device_ms", "total_ms").rows()
    assert rows[0] == pytest.approx((512_000, 8192, 0.5, 0.6))
    assert rows[1][2] is None  # two issues: which one was completed is not known
    assert rows[1][3] == pytest.approx(2.0)
    assert rows[2] == (1_024_000, 4096, None, None)
    assert found.others.filter(heading="CPU3 (8,0)").height == 1
    assert found.diagnostics.is_empty()


@pytest.mark.parametrize(
    "text",
    [
        "  8,0    3 1 0.000000000  4711  Q   R 43781957000000000 + 16 [dd]\n",
        "TIME(s)  COMM  PID  DISK  T SECTOR  BYTES  LAT(ms)\n0.0042  dd  7  dm-3  R 43781957000000000  8192  0.74\n",
    ],
)
def test_a_sector_beyond_64_bits_of_bytes_is_named(text: str) -> None:
    """Its offset is null; the size is read."""
    found = read_events(text.encode())

    assert found.events.select("offset_bytes", "bytes").row(0) == (None, 8192)
    assert found.diagnostics["kind"].to_list() == ["no_value"]


def test_every_number_of_lists_is_accounted_for() -> None:
    """No number is lost: sectors, kilobytes and microseconds are found in the units of the frames."""
    text, _ = biosnoop(7, 30)

    statuses = set(iolab.provenance(iolab.load(text.encode()), text.encode()).get_column("status"))

    assert statuses <= {"typed", "text"}


@pytest.mark.parametrize(
    "row",
    ["0.0042 dd 7 dm-3 R x 8192 0.74", "0.0042 dd 7 dm-3", "99999999999999999999.1 dd 7 dm-3 R 1 8192 0.74"],
)
def test_damaged_rows_are_diagnostics(row: str) -> None:
    """A row that does not fit is named, and the rows around it are read."""
    text, events = biosnoop(1, 3)

    found = read_events(f"{text}{row}\n".encode())

    assert found.events.height == len(events)
    assert found.diagnostics.get_column("text").to_list() == [row]


def fio(**read: object) -> dict[str, Any]:
    """A result of fio 3 with one job that read."""
    none = {"total_ios": 0, "clat_ns": {"min": 0, "max": 0, "mean": 0.0, "percentile": {"1.000000": 0}}}
    job = {
        "jobname": "random",
        "job options": {"rw": "randread", "bs": "8k", "iodepth": "4", "direct": "1", "ioengine": "libaio"},
        "read": {"total_ios": 1000, "io_bytes": 8192000, "runtime": 2000, "iops": 500.0, "bw": 4000, **read},
        "write": none,
        "latency_ns": {"1000": 0.0},
        "latency_us": {"250": 60.0, "500": 39.99},
        "latency_ms": {">=2000": 0.01},
    }
    return {"fio version": "fio-3.1", "jobs": [job]}


def test_result_of_fio() -> None:
    """Units by the names; fillers of percentiles and directions without requests are left out."""
    read = {"clat_ns": {"min": 90000, "max": 3000000, "mean": 250000.0, "percentile": {"99.000000": 400000, "0.00": 0}}}
    text = f"fio: a warning\n{json.dumps(fio(**read))}\n"

    found = read_fio(text.encode())

    columns = (
        "direction",
        "queue_depth",
        "is_direct",
        "bytes_per_s",
        "run_time_s",
        "completion_mean_ms",
        "completion_max_ms",
    )
    assert found.jobs.select(columns).rows() == [("read", 4, True, 4_096_000.0, 2.0, 0.25, 3.0)]
    assert found.percentiles.select("percentile", "latency_ms").rows() == [(99.0, 0.4)]
    shares = found.shares.select("lower_ms", "upper_ms", "share_percent").rows()
    assert shares == [(0.0, 0.001, 0.0), (0.001, 0.25, 60.0), (0.25, 0.5, 39.99), (0.5, None, 0.01)]
    assert found.values.filter(path="jobs[0].read.iops").get_column("number").to_list() == [500.0]
    assert found.values["line"].unique().to_list() == [2]
    assert found.diagnostics.select("line", "text").rows() == [(1, "fio: a warning")]


def test_where_the_figures_of_fio_went() -> None:
    """Each number is in the row of its path and line, and one that the frame lacks is lost."""
    text = f"fio: a warning\n{json.dumps(fio(), indent=2)}\n".encode()
    found = read_fio(text)
    damaged = replace(found, values=found.values.filter(pl.col("path") != "jobs[0].read.iops"))
    at = next(number for number, line in enumerate(text.decode().split("\n"), 1) if '"iops": 500.0' in line)

    assert found.values.filter(path="jobs[0].read.iops").row(0) == ("jobs[0].read.iops", 500.0, None, at)
    assert iolab.provenance(found, text).filter(status="lost").rows() == []
    assert iolab.provenance(damaged, text).filter(status="lost").select("line", "text").rows() == [(at, "500.0")]


def test_a_result_of_fio_nested_without_end() -> None:
    """Lists in lists, as deep as can be: an error of the project."""
    for depth in (200, 900, 100_000):
        text = '{"fio version": "fio-3.1", "jobs": [], "deep": ' + "[" * depth + "1" + "]" * depth + "}"
        try:
            found = read_fio(text.encode())
        except LogParseError:
            continue
        assert found.values.get_column("number").to_list() == [None, 1.0]


def test_old_fio_prints_microseconds() -> None:
    """`clat` without a unit is of fio 2."""
    found = read_fio(json.dumps(fio(clat={"min": 90, "max": 3000, "mean": 250.0, "stddev": 1.0})).encode())

    assert found.jobs.get_column("completion_mean_ms").to_list() == [0.25]


def test_contradicting_rates_of_fio() -> None:
    """Requests that are not rate times run time."""
    found = read_fio(json.dumps(fio(iops=900.0)).encode())

    assert found.diagnostics.get_column("kind").to_list() == ["contradiction"]


@pytest.mark.parametrize("damage", ["cut", "form", "no jobs"])
def test_damaged_results_of_fio(damage: str) -> None:
    """An error that says what is wrong; never another kind of error."""
    text = {
        "cut": json.dumps(fio())[:-40],
        "form": json.dumps(fio(clat_ns={"max": "x", "mean": []})),
        "no jobs": '{"fio version": "fio-3.1", "jobs": 7}',
    }[damage]

    with pytest.raises(LogParseError):
        read_fio(text.encode())


@pytest.mark.corpus
def test_real_lists(host_logs: Path) -> None:
    """Every row below a heading of the real lists is an event, and no number is lost."""
    folder = host_logs / "latency_hist"
    expected = {"biosnoop": 21, "ext4slower": 130, "perf-tools_iosnoop": 95, "ora_wait_trace": 8}
    logs = {folder / f"{name}_example.txt": rows for name, rows in expected.items()}
    for path, rows in {**logs, host_logs / "blkparse" / "blkparse_default_1.txt": 7}.items():
        log = iolab.load(path)
        lost = iolab.provenance(log).filter(status="lost").height

        assert (log.format, log.frames()["events"].lazy().collect().height, lost) == ("io_events", rows, 0), path


@pytest.mark.corpus
def test_real_results_of_fio(host_logs: Path) -> None:
    """The figures of every real result equal those of its JSON, under their paths."""
    for path in sorted((host_logs / "fio").iterdir()):
        document = json.loads(path.read_text())
        log = read_fio(path)
        for direction in ("read", "write"):
            figures = document["jobs"][0][direction]
            row = log.jobs.filter(direction=direction).select("requests", "requests_per_s", "completion_mean_ms")
            assert row.rows() == (
                [(figures["total_ios"], figures["iops"], pytest.approx(figures["clat_ns"]["mean"] / 1e6))]
                if figures["total_ios"]
                else []
            )
        assert log.diagnostics.is_empty()
