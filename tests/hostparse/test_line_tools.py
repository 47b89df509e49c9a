"""Tools whose lines have one form each: recognition, values, provenance, and what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostparse import (
    atop,
    btt,
    collectl,
    dstat,
    fio_text,
    ioping,
    iotop,
    kernel_counters,
    perf_trace,
    refused,
    sadf_lines,
    top,
    typeperf,
)
from logframe import LogParseError, open_log
from logframe.formats import Format, head_of
from logframe.provenance import account

#: A made-up log of each tool.
TOOLS = Path(__file__).parents[2] / "sample_data" / "tools"
FIO = (TOOLS / "fio.out").read_text(encoding="utf-8")
TERSE = (TOOLS / "fio_terse.out").read_text(encoding="utf-8")
ENTRIES = (TOOLS / "fio_lat.out").read_text(encoding="utf-8")
TRACE = (TOOLS / "perf_trace.out").read_text(encoding="utf-8")
EVENTS = (TOOLS / "perf_trace_events.out").read_text(encoding="utf-8")
SUMMARY = (TOOLS / "perf_trace_s.out").read_text(encoding="utf-8")
IOPING = (TOOLS / "ioping.out").read_text(encoding="utf-8")
DSTAT = (TOOLS / "dstat.out").read_text(encoding="utf-8")
IOTOP = (TOOLS / "iotop.out").read_text(encoding="utf-8")
DISKS = (TOOLS / "diskstats.out").read_text(encoding="utf-8")
VMSTAT = (TOOLS / "vmstat_s.out").read_text(encoding="utf-8")
TOP = (TOOLS / "top.out").read_text(encoding="utf-8")
SADF = (TOOLS / "sadf_p.out").read_text(encoding="utf-8")
BTT = (TOOLS / "btt.out").read_text(encoding="utf-8")
ATOP = (TOOLS / "atop.out").read_text(encoding="utf-8")
COLLECTL = (TOOLS / "collectl.out").read_text(encoding="utf-8")
PLOT = (TOOLS / "collectl_P.out").read_text(encoding="utf-8")
DISK_VIEW = """ATOP - db1   2024/02/19 13:18:24           -----------------7   10s elapsed
  PID   TID  RDDSK  WRDSK WCANCL  DSK CMD
 4711     -   2.5G   1.5G  47.8M  50% ora_dbw0_orcl
"""
SERIES = " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11\n 254 0 vda 11 12 13 14 15 16 17 18 19 20 21\n"
TERSE_5 = TERSE.replace("3;fio", "5;fio", 1).replace(
    "0.000000%;0.000000;0.000000;1;", "0.000000%;0.000000;0.000000;3;4720;5102;4891.3;194.0;3;1;"
)
TYPEPERF = (TOOLS / "typeperf.csv").read_text(encoding="utf-8")
#: Format, log, frame, row and values of some columns.
CASES: list[tuple[Format, str, str, dict[str, object]]] = [
    (fio_text.FORMAT, FIO, "rates", {"job": "rr", "requests_per_s": 11500.0, "bytes": 1936 * 1024.0}),
    (fio_text.FORMAT, FIO, "percentiles", {"latency": "clat", "percentile": 1.0, "latency_ms": 0.047}),
    (fio_text.FORMAT, FIO, "latencies", {"direction": "read", "latency_max_ms": 4.028}),
    (fio_text.FORMAT, FIO, "rate_spread", {"direction": "read", "requests_per_s_stddev": 120.5}),
    (btt.FORMAT, BTT, "steps", {"step": "Q2Q", "mean_ms": 2.210514, "count": 81220}),
    (btt.FORMAT, BTT, "shares", {"device": "(253, 16)", "i2d_percent": 74.531}),
    (btt.FORMAT, BTT, "merges", {"dispatched": 81221, "blocks_mean": 16}),
    (fio_text.FORMAT, FIO, "jobs", {"processes": 2}),
    (fio_text.FORMAT, TERSE, "terse", {"direction": "read", "requests_per_s": 7117.0, "lat_max_ms": 4.6}),
    (fio_text.LOG_FORMAT, ENTRIES, "entries", {"value": 2101411, "direction_code": 0}),
    (perf_trace.FORMAT, TRACE, "calls", {"call": "pread64", "elapsed_ms": 0.016, "result": "= 8192"}),
    (perf_trace.FORMAT, EVENTS, "events", {"event": "block:block_rq_issue", "start_ms": 0.645, "elapsed_ms": None}),
    (perf_trace.FORMAT, SUMMARY + "\t\tEAGAIN: 2\n", "errors", {"call": "pwrite64", "errno": "EAGAIN", "count": 2}),
    (
        ioping.FORMAT,
        IOPING + "3 314605 9536 39058502 64926 104868 174959 49723 4 300333362\n",
        "intervals",
        {"requests": 3, "latency_max_ns": 174959, "passed_ns": 300333362},
    ),
    (perf_trace.FORMAT, SUMMARY, "calls_by_name", {"pid": 11781, "count": 31, "errors": 2, "max_ms": 0.932}),
    (ioping.FORMAT, IOPING, "requests", {"latency_ms": 0.2145, "request": 2}),
    (ioping.FORMAT, IOPING, "statistics", {"latency_max_ms": 1.33}),
    (dstat.FORMAT, DSTAT, "samples", {"sample": 1, "group": "total-cpu-usage", "metric": "usr", "value": 2.0}),
    (iotop.FORMAT, IOTOP, "threads", {"tid": 4711, "read_bytes_per_s": 15616.0, "io_wait_percent": 87.15}),
    (kernel_counters.FORMAT, DISKS, "disks", {"since_1970_s": 1708344300.25, "write_ms": 135520, "flushes": None}),
    (kernel_counters.FORMAT, VMSTAT, "counters", {"name": "total memory", "value": 24684096}),
    (top.FORMAT, TOP, "processes", {"clock": "08:18:19", "cpu_percent": 106.7, "resident_bytes": 274448 * 1024.0}),
    (top.FORMAT, TOP, "summary", {"name": "us", "value": 61.5}),
    (sadf_lines.FORMAT, SADF, "samples", {"item": "vda", "metric": "rkB/s", "value": 43.52, "interval_s": 600}),
    (atop.FORMAT, ATOP, "processes", {"pid": 4711, "disk_written": "12K"}),
    (
        collectl.FORMAT,
        COLLECTL,
        "samples",
        {"item": "vda", "group": "reads", "metric": "KBytes", "value": 163184.0, "time": "Mon Feb 19 13:05:00 2024"},
    ),
    (collectl.FORMAT, PLOT, "samples", {"time": "20240219 13:05:01", "group": "CPU", "metric": "User%", "value": 2.0}),
    (atop.FORMAT, DISK_VIEW, "processes", {"disk_written": "1.5G", "disk": "50%", "cpu": None, "other_cells": "TID=-"}),
    (kernel_counters.FORMAT, SERIES, "disks", {"sample": 1, "reads": 1}),
    (fio_text.FORMAT, TERSE_5, "terse", {"requests_per_s": 7117.0, "lat_max_ms": 4.6}),
    (typeperf.FORMAT, TYPEPERF, "samples", {"instance": "0 C:", "value": 812.25}),
]


@pytest.mark.parametrize(("form", "text", "table", "values"), CASES)
def test_values(form: Format, text: str, table: str, values: dict[str, object]) -> None:
    """A log is recognised, a row has the figures that are printed, and nothing is left over."""
    assert form.sniff(head_of(open_log(text.encode()))) is not None
    log = form.read(text.encode())
    row = log.frames()[table].lazy().collect().row(0, named=True)

    assert {name: row[name] for name in values} == pytest.approx(values)
    assert log.diagnostics.rows() == []


@pytest.mark.parametrize(("form", "text"), {id(text): (form, text) for form, text, _, _ in CASES}.values())
def test_provenance(form: Format, text: str) -> None:
    """Each printed number of a row is in a cell; none is lost."""
    log = form.read(text.encode())
    assert form.places is not None
    found = account(form.places(log, text.encode()), log.diagnostics)

    assert found.filter(found["status"] == "lost").rows() == []
    assert found.filter(found["status"] == "typed").height > 0


@pytest.mark.parametrize(("form", "text"), {id(text): (form, text) for form, text, _, _ in CASES}.values())
def test_damage(form: Format, text: str) -> None:
    """A line that is none of the tool's is a diagnostic, and the others are read as before."""
    whole, damaged = form.read(text.encode()), form.read((text + "!! no such line\n").encode())

    assert damaged.diagnostics["kind"].to_list() == ["unparsed"]
    for name, frame in whole.frames().items():
        assert damaged.frames()[name].lazy().collect().equals(frame.lazy().collect())


def test_series_without_stamps() -> None:
    """Each reading of /proc/diskstats is a sample, where no stamp stands between them, too."""
    assert kernel_counters.FORMAT.read(SERIES.encode()).frames()["disks"].lazy().collect()["sample"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('"Time of Day","Process Name","PID","Operation","Path","Result","Detail","Duration"\n', "Procmon"),
        ("11790 01:11:23.624925 SYS_close(3)               = 0 <0.000015>\n" * 3, "ltrace"),
        ("% time     seconds  usecs/call     calls      function\n", "ltrace"),
        ("13:50:39 UTC; CPU; -1; %user; 3133166; 3133167;\n", "sadf -r"),
        ("RESET\nCPU db1 1795528099 2026/11/24 13:48:19 10 100 2 36\n", "atop"),
        ('{"host": "db1", "timestamp": 1795528101, "elapsed": 1, "cpu": []}\n', "atop"),
    ],
)
def test_refusals(line: str, word: str) -> None:
    """A log that is not read is refused by its name."""
    assert refused.FORMAT.sniff(head_of(open_log(line.encode()))) is not None
    with pytest.raises(LogParseError, match=word):
        refused.FORMAT.read(line.encode())


def test_units_of_dstat_are_of_their_group() -> None:
    """``k`` is 1024 of bytes and 1000 of what is counted; a time stands beside every cell of its row."""
    text = DSTAT.replace("--total-cpu-usage--", "----system---- --total-cpu-usage--").replace(
        "usr sys", "time     |usr sys"
    )
    rows = [f"24-11 13:49:4{n}|{line}" if n > 2 else line for n, line in enumerate(text.splitlines())]
    found = dstat.FORMAT.read("\n".join(rows).encode()).frames()["samples"].lazy().collect()

    assert found.select("sample", "group", "metric", "value_lo", "value", "value_hi").rows()[5:7] == [
        (1, "dsk/total", "read", 1023.5 * 1024, 1024.0 * 1024, 1024.5 * 1024),
        (1, "dsk/total", "writ", 345.5 * 1024, 346.0 * 1024, 346.5 * 1024),
    ]
    assert found.filter(sample=2, metric="int")["value"].to_list() == [21000.0]
    assert found["time"].unique().sort().to_list() == [f"24-11 13:49:4{n}" for n in (3, 4, 5)]


def test_a_row_of_dstat_that_lacks_a_cell_is_named() -> None:
    """No cell is read under the heading of another."""
    log = dstat.FORMAT.read(DSTAT.replace("| 148M 5600k|", "| 148M |").encode() + b"some words\n")

    assert log.diagnostics.select("line", "kind").rows() == [(5, "unparsed"), (7, "unparsed")]
    assert log.frames()["samples"].lazy().collect()["line"].unique().to_list() == [4, 6]


def test_the_lines_of_a_log_are_counted_not_its_records() -> None:
    """A heading or a blank line is a line of the log, too."""
    text = (TOOLS / "top.out").read_text(encoding="utf-8")

    assert top.FORMAT.read(text.encode()).describe().endswith(f", {len(text.splitlines())} lines")
