"""Tools whose lines have one form each: recognition, values, provenance, and what is damaged."""

from __future__ import annotations

import pytest

from hostparse import (
    atop,
    collectl,
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

FIO = """rr: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=4
fio-3.33

rr: (groupid=0, jobs=2): err= 0: pid=315: Tue Nov 12 08:18:18 2024
  read: IOPS=11.5k, BW=90.0MiB/s (94.4MB/s)(1936KiB/21msec)
    clat (usec): min=45, max=4028, avg=156.46, stdev=434.89
    clat percentiles (usec):
     |  1.00th=[   47], 99.00th=[ 3982]
  lat (msec)   : 4=0.20%, >=2000=0.59%
"""
TERSE = (
    ";".join(
        [
            *("3", "fio-3.33", "rr", "0", "0"),
            *("1936", "56941", "7117", "34", "0", "0", "0.0", "0.0", "54", "4599", "130.4", "474.5"),
            *(f"{number}.000000%={50 + number}" for number in range(1, 21)),
            *("60", "4600", "131.5", "475.5", "0", "0", "0.000000%", "0.000000", "0.000000"),
            *("1", "2;3"),
        ]
    )
    + "\n"
)
ENTRIES = "2, 2101411, 0, 8192, 0\n2, 307846, 1, 8192, 0\n3, 307846, 1, 8192, 0\n"
TRACE = """     0.072 ( 0.016 ms): ora/3239 pread64(fd: 3</u01/a.dbf>, count: 8192, pos: 64)   = 8192
         ? (         ): ora/3239  ... [continued]: read())   = 0
"""
EVENTS = """     0.000 ( 0.029 ms): ora/5635 read(fd: 4, count: 832)                          = 832
     0.645 (         ): ora/5635 block:block_rq_issue(dev: 266338304, sector: 31522816, bytes: 8192, rwbs: "RS")
     0.647 ( 0.000 ms): ora/5635 majfault [elf_load+0x28a] => 0x55db7ec5a328 (?k)
"""
SUMMARY = """ Summary of events:

 ora_lgwr (11781), 294 events, 97.4%

   syscall            calls  errors  total       min       avg       max       stddev
   pwrite64              31      2     1.553     0.016     0.050     0.932     58.74%
"""
IOPING = """4 KiB <<< /u01 (ext4 /dev/vda 252.0 GiB): request=2 time=214.5 us
min/avg/max/mdev = 214.0 us / 256.9 us / 1.33 ms / 49.1 us
"""
IOTOP = """13:18:23 Total DISK READ:         0.00 B/s | Total DISK WRITE:        10.50 K/s
    TIME  TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND
13:18:23  4711 be/4 oracle     15.25 K/s    0.00 B/s  0.00 % 87.15 % ora_dbw0_orcl
"""
DISKS = """TS 1708344300.25
 254       0 vda 729410 52852 39171986 1114173 497358 262561 23685152 135520 0 140740 1291731
"""
VMSTAT = "     24684096 K total memory\n         4918 IO-wait cpu ticks\n"
TOP = """top - 08:18:19 up  5:27,  1 user,  load average: 1.03, 1.24, 1.81
%Cpu(s): 61.5 us,  2.5 sy,  0.0 ni, 36.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st

  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
 2488 oracle    20   0   12.3g 274448  74452 R 106.7   1.1   0:35.14 ora_dbw0_orcl
"""
SADF = (
    "db1\t600\t2024-02-19 13:10:00 UTC\tvda\trkB/s\t43.52\n"
    "db1\t-1\t2024-02-19 13:15:00 UTC\tLINUX-RESTART\t(2 CPU)\n"
    "db1\t600\t2024-02-19 13:20:00 UTC\tvda\trkB/s\t40.52\n"
)
ATOP = """ATOP - db1      2024/02/19  13:18:24      -----------------      10s elapsed
DSK |          vda | busy     91% | read  729408 | avio 0.11 ms |
  PID SYSCPU USRCPU BDELAY  VGROW  RGROW  RDDSK  WRDSK  CPU CMD
 4711 0.72s  0.00s  0.00s     0B     0B     0B    12K   7% ora_dbw0_orcl
"""
COLLECTL = """waiting for 1 second sample...

### RECORD    1 >>> db1 <<< (1708344300.001) (Mon Feb 19 13:05:00 2024) ###

# DISK STATISTICS (/sec)
#         <---------reads---------------><---------writes--------------><--------averages--------> Pct
#Name       KBytes Merged  IOs Size  Wait  KBytes Merged  IOs Size  Wait  RWSize  QLen  Wait SvcTim Util
vda         163184      0  20K    8     0  164972      4  20K    8     0       8     3     0      0   78
"""
PLOT = """#Date,Time,[CPU]User%,[DSK:vda]Name,[DSK:vda]Reads
20240219,13:05:01,2,vda,18379
"""
DISK_VIEW = """ATOP - db1   2024/02/19 13:18:24           -----------------7   10s elapsed
  PID   TID  RDDSK  WRDSK WCANCL  DSK CMD
 4711     -   2.5G   1.5G  47.8M  50% ora_dbw0_orcl
"""
SERIES = " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11\n 254 0 vda 11 12 13 14 15 16 17 18 19 20 21\n"
TERSE_5 = TERSE.replace("3;fio", "5;fio", 1).replace(
    "0.000000%;0.000000;0.000000;1;", "0.000000%;0.000000;0.000000;3;4720;5102;4891.3;194.0;3;1;"
)
TYPEPERF = '"(PDH-CSV 4.0)","\\\\DB1\\PhysicalDisk(0 C:)\\Disk Reads/sec"\n"11/24/2024 10:00:01.123","812.25"\n'
#: Format, log, frame, row and values of some columns.
CASES: list[tuple[Format, str, str, dict[str, object]]] = [
    (fio_text.FORMAT, FIO, "rates", {"job": "rr", "requests_per_s": 11500.0, "bytes": 1936 * 1024.0}),
    (fio_text.FORMAT, FIO, "percentiles", {"latency": "clat", "percentile": 1.0, "latency_ms": 0.047}),
    (fio_text.FORMAT, FIO, "latencies", {"direction": "read", "latency_max_ms": 4.028}),
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
