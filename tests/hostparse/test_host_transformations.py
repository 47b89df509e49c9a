"""What people and programs do to a log before it is read changes no figure."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import pytest
from host_logs import TEXTS
from transformations import (
    coloured,
    doubled,
    in_shell,
    indented,
    joined,
    lines_of,
    mailed,
    numbered,
    padded,
    quoted,
    with_crlf,
    with_tabs,
)

import iolab
from hostparse import read_events, read_host

if TYPE_CHECKING:
    from collections.abc import Callable

AIX_VMSTAT = """\
System configuration: lcpu=4 mem=8192MB

kthr    memory              page              faults        cpu
----- ----------- ------------------------ ------------ -----------
 r  b   avm   fre  re  pi  po  fr   sr  cy  in   sy  cs us sy id wa
 1  0 22478  1677   0   0   0   0    0   0 188 1380 157 57 32  0 10
 2  0 22506  1609   0   0   0   0    0   0 214 1476 186 48 37  0 16
"""
AIX_DISKS = """\
System configuration: lcpu=4 drives=2 paths=1 vdisks=0

hdisk6          xfer:  %tm_act      bps      tps      bread      bwrtn
                          9.6     16.4K     4.0       16.4K       0.0
                read:      rps  avgserv  minserv  maxserv   timeouts      fails
                          10.0      2.0      0.1      1.1S           0          0
"""
EVENTS = """\
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)
0.000004    ora_lgwr_orcl  4711   dm-3    R 13092560   8192       0.74
0.000178    jbd2/dm-0 8    812    dm-0    W 13092561   4096       2.05
""" + joined(
    [
        f"0.0002{number:02}    ora_lgwr_orcl  4711   dm-3    W {number:8}   8192       0.{number}"
        for number in range(10, 19)
    ]
)

BUCKETS = """\
Tracing block device I/O... Hit Ctrl-C to end.

     usecs               : count     distribution
        64 -> 127        : 3        |****                                    |
       128 -> 255        : 27       |****************************************|

avg = 163 usecs, total: 4890 usecs, count: 30
"""
FIO = """\
{
  "fio version" : "fio-3.19",
  "jobs" : [
    {
      "jobname" : "a",
      "read" : {
        "total_ios" : 20,
        "clat_ns" : {
          "mean" : 500000.5
        }
      }
    }
  ]
}
"""
PERCENTILES = """\
sda    p1    p50   p100
read  95us  175us  1.5ms
write 45us  55us   65us
sda    p1    p50   p100
read  85us  165us  2.5ms
write 35us  65us   75us
"""
ASH = """\
  ActSes   %Thread | INST | SQL_ID          | SQL_CHILD | EVENT                               | WAIT_CLASS
-------------------------------------------------------------------------------------------------------------------
    2.35    (235%) |    2 | 4zkp07hq2dxwm   | 0         | direct path read                    | User I/O
    1.00    (100%) |    1 |                 |           | log file sync                       | Commit

--  End of ASH snap 1, end=2022-05-18 16:58:34, seconds=10, samples_taken=17, AAS=3.4
"""
DEVICE_LAST = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(4 CPU)

      tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device
     8.59       222.14        57.08    1597749     410544 sda
     0.01         0.29         0.00       2108          0 sdb

      tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device
     8.59       222.14        57.08    1597749     410544 sda

"""
CASES = {name: TEXTS[name] for name in ("mpstat", "watcher", "hpux", "pools")}
CASES |= {"iostat": joined(lines_of(TEXTS["iostat"])[1:]), "nmon": joined(lines_of(TEXTS["nmon"])[:-1])}
CASES |= {"aix_vmstat": AIX_VMSTAT, "aix_disks": AIX_DISKS, "events": EVENTS, "buckets": BUCKETS}
CASES |= {
    "fio": FIO,
    "percentiles": PERCENTILES,
    "users": joined([f"{number}|30028|1354|4.509|" for number in range(1, 13)]),
    "ash": ASH,
}
CASES |= {"device last": DEVICE_LAST}
PROFILE = "  oracle`kcbz_fp_buf   13\n  oracle`kdst_fetch    14\n  oracle`kcbgtcr      181\n"


CHANGES = {
    "crlf": with_crlf,
    "indent": indented,
    "indent by a tab": partial(indented, margin="\t"),
    "quote": quoted,
    "mail": mailed,
    "numbers": numbered,
    "tabs": with_tabs,
    "colour": coloured,
    "shell": in_shell,
    "padded": lambda text: padded(text, 160),
    "doubled": doubled,
}


def figures(text: str) -> dict[str, pl.DataFrame]:
    """The frames without the numbers of lines."""
    frames = {name: frame.lazy().collect() for name, frame in iolab.load(text.encode()).frames().items()}
    return {name: frame.drop("line", strict=False) for name, frame in frames.items()}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("name", CASES)
def test_no_figure_changes(name: str, change: Callable[[str], str]) -> None:
    """Figures, runs, hosts and times are those of the log as it was."""
    expected, found = figures(CASES[name]), figures(change(CASES[name]))

    assert list(expected) == list(found)
    for frame, rows in expected.items():
        assert rows.equals(found[frame]), frame


@pytest.mark.parametrize("change", [quoted, coloured, indented, numbered])
def test_an_aggregation_of_dtrace(change: Callable[[str], str]) -> None:
    """Names of modules have no marks of a mail, colours or numbers of lines."""
    assert figures(change(PROFILE))["samples"].equals(figures(PROFILE)["samples"])


@pytest.mark.parametrize("name", sorted({*CASES, "sadf"} - {"users", "fio", "aix_disks"}))
def test_a_row_that_stands_twice(name: str) -> None:
    """It may be a copy of the row above: a diagnostic names its line and all figures are kept."""
    lines = lines_of({**CASES, "sadf": SADF}[name])
    place = max(number for number, line in enumerate(lines) if sum(map(str.isdigit, line)) >= 4)
    found = iolab.load(joined([*lines[: place + 1], *lines[place:]]).encode()).diagnostics

    assert found.filter(kind="repeated")["line"].to_list() == [place + 2]


def test_a_value_that_stands_twice() -> None:
    """A name of JSON that stands twice with its value."""
    lines = lines_of(FIO)
    place = next(number for number, line in enumerate(lines) if "total_ios" in line)
    log = iolab.load(joined([*lines[: place + 1], *lines[place:]]).encode())

    assert log.diagnostics.select("line", "kind").rows() == [(place + 1, "repeated")]


def test_waits_may_be_alike() -> None:
    """Two waits of one process in one second with one time of whole microseconds are no copy."""
    row = "15:02:27  pid=10456 event=SQL*Net message to client wait_time=6\n"
    assert [one.format for one in iolab.load_all((row * 3).encode())] == ["io_events"]
    assert read_events((row * 3).encode()).diagnostics.is_empty()


@pytest.mark.parametrize("name", ["device last", "mpstat", "aix_vmstat", "sadf"])
def test_a_log_that_ends_within_its_last_cell(name: str) -> None:
    """Without a line feed a name, a whole number or a figure of fewer decimals at the end may go on: a diagnostic."""
    text = {**CASES, "sadf": SADF.replace("2.00", "2")}[name].rstrip("\n")
    found = iolab.load(text[:-1].encode()).diagnostics

    assert found.filter(kind="cut")["line"].to_list() == [len(lines_of(text))]
    assert iolab.load(f"{text}\n".encode()).diagnostics.filter(kind="cut").is_empty()


@pytest.mark.parametrize(
    "text", [AIX_DISKS, "     value  ------------- Distribution ------------- count\n   64 |@@   12889\n"]
)
def test_a_number_at_an_open_end(text: str) -> None:
    """Groups of disks, and counts of a histogram."""
    assert iolab.load(text.rstrip("\n").encode()).diagnostics["kind"].to_list() == ["cut"]


def test_a_heading_that_stands_twice() -> None:
    """It is no group of columns of itself: the names of the metrics stay."""
    lines = lines_of(CASES["mpstat"])
    place = next(number for number, line in enumerate(lines) if "CPU " in line)
    twice = figures(joined([*lines[: place + 1], *lines[place:]]))

    assert twice["cpu"].equals(figures(CASES["mpstat"])["cpu"])


def test_doubled_lines_of_disks() -> None:
    """A blank line between a heading of ``iostat -D`` and its figures."""
    assert figures(doubled(AIX_DISKS))["device"].equals(figures(AIX_DISKS)["device"])


def document(host: str, rates: list[float]) -> str:
    """What ``iostat -o JSON`` prints."""
    samples = [{"disk": [{"disk_device": "sda", "r/s": rate, "w/s": 2.25}]} for rate in rates]
    hosts = [{"nodename": host, "number-of-cpus": 2, "date": "02/19/24", "statistics": samples}]
    return json.dumps({"sysstat": {"hosts": hosts}}, indent=1)


def test_documents_in_one_file() -> None:
    """Each document is a run of its own; a line between them, and one after the last, is a diagnostic."""
    text = f"$ iostat -o JSON\n{document('db1', [1.5, 2.5])}\n$ and again\n{document('db2', [3.5])}\nbye"
    log = read_host(text.encode())
    rows = log.wide("device")

    assert rows.select("run", "sample", "reads_per_s").rows() == [(0, 1, 1.5), (0, 2, 2.5), (1, 1, 3.5)]
    assert log.runs.get_column("host").to_list() == ["db1", "db2"]
    assert [text.split("\n")[line - 1].strip() for line in rows["line"]] == ['"disk_device": "sda",'] * 3
    unread = [text.split("\n")[line - 1] for line in log.diagnostics.filter(kind="unparsed")["line"]]
    assert unread == ["$ iostat -o JSON", "$ and again", "bye"]


def test_a_document_that_was_cut_before_another_one() -> None:
    """What is whole of the first is read, the cut is named, and the second is read."""
    first = document("db1", [1.5, 2.5])
    log = read_host(f"{first[: first.rindex('w/s')]}\n{document('db2', [3.5])}".encode())

    assert log.wide("device").select("run", "reads_per_s").rows()[0] == (0, 1.5)
    assert log.wide("device").select("run", "reads_per_s").rows()[-1] == (1, 3.5)
    assert log.diagnostics["kind"].to_list().count("cut") == 1


SADF = """\
# hostname;interval;timestamp;DEV;tps;rkB/s
db1;10;2024-02-19 13:20:19 UTC;sda;1.50;2.00
db1;-1;2024-02-19 13:25:00 UTC;LINUX-RESTART\t(2 CPU)
db1;600;2024-02-19 13:30:29 UTC;sda;2.50;2.00
"""


def test_an_interval_that_begins_before_a_restart() -> None:
    """Counters begin with the restart: the interval printed is kept, and a diagnostic says so."""
    log = read_host(in_shell(SADF).encode())
    start = log.wide("device").select(pl.col("interval_start").cast(pl.String).str.slice(11, 8), "stated_interval_s")

    assert start.rows() == [("13:20:09", 10.0), ("13:25:00", 600.0)]
    assert log.diagnostics.filter(kind="clock")["line"].to_list() == [5]
