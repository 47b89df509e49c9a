"""What people and programs do to a log before it is read changes no figure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from host_logs import TEXTS
from transformations import coloured, doubled, indented, joined, lines_of, padded, quoted, with_crlf, with_tabs

import iolab
from hostparse import read_host
from logframe import LogParseError

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
"""
BUCKETS = """\
Tracing block device I/O... Hit Ctrl-C to end.

     usecs               : count     distribution
        64 -> 127        : 3        |****                                    |
       128 -> 255        : 27       |****************************************|

avg = 163 usecs, total: 4890 usecs, count: 30
"""
CASES = {name: TEXTS[name] for name in ("mpstat", "watcher", "hpux", "pools")}
CASES |= {"iostat": joined(lines_of(TEXTS["iostat"])[1:]), "nmon": joined(lines_of(TEXTS["nmon"])[:-1])}
CASES |= {"aix_vmstat": AIX_VMSTAT, "aix_disks": AIX_DISKS, "events": EVENTS, "buckets": BUCKETS}


def in_shell(text: str) -> str:
    """Between the lines of a shell."""
    return f"[oracle@db1 ~]$ the command\n{text}[oracle@db1 ~]$ exit\n"


CHANGES = (with_crlf, indented, quoted, with_tabs, coloured, in_shell, lambda text: padded(text, 160))


def figures(text: str) -> dict[str, pl.DataFrame]:
    """The frames without the numbers of lines."""
    frames = {name: frame.lazy().collect() for name, frame in iolab.load(text.encode()).frames().items()}
    return {name: frame.drop("line", strict=False) for name, frame in frames.items()}


@pytest.mark.parametrize("change", CHANGES, ids=["crlf", "indent", "quote", "tabs", "colour", "shell", "padded"])
@pytest.mark.parametrize("name", CASES)
def test_no_figure_changes(name: str, change: Callable[[str], str]) -> None:
    """Figures, runs, hosts and times are those of the log as it was."""
    if change is quoted and name in {"events", "buckets"}:
        with pytest.raises(LogParseError):
            figures(change(CASES[name]))
        return
    expected, found = figures(CASES[name]), figures(change(CASES[name]))

    assert list(expected) == list(found)
    for frame, rows in expected.items():
        assert rows.equals(found[frame]), frame


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
    assert log.diagnostics.filter(kind="interval")["line"].to_list() == [5]
