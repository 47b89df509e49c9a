"""Logs are read some lines at a time: wherever the text is cut, the frames are those of the whole text."""

from __future__ import annotations

import gc
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from hostparse import HostLog, read_host

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SAMPLES = Path(__file__).parents[2] / "sample_data" / "host"
SAR = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(9 CPU)

13:20:09          DEV       tps     rkB/s     await
13:20:19          sda      6.40      1.60      1.00
13:20:19          sdb      0.5      1.60      1.00
13:20:29          sda      6.4       1,60      x
Average:          sda      6.40      1.60      1.00

13:20:09        CPU     %user     %idle
13:20:19        all      1.20     98.80
13:20:29        all      1.2      98.8
13:20:31
13:37:29     LINUX RESTART\t(9 CPU)

13:38:09        CPU     %user     %idle
13:38:19        all      1.20     98.80
Average:        all      1.20     98.80
a line of no table
"""
IOSTAT = """\
9.00 1.00 a row without a heading
Linux 2.6.18 (db1) \t02/19/24

Time: 23:59:50
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.74    0.00    0.43    0.35    0.00   98.48

Device:         rrqm/s   wrqm/s   r/s   w/s   await   newest
----------------------------------------------------------
sda               0.00     0.5    1.00  2.00  3,25    1.5G
a disk            0.00     0.5    1.00  2.00  3.25    1.5

Time: 00:00:20
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.74    0.00    0.43    0.35    0.00   98.48

Device:         rrqm/s   wrqm/s   r/s   w/s   await   newest
sda               0.00     0.5    1.00  2.00
sdb               0.00     0.5    1.00  2.00  3.25    1
"""
NMON = """\
AAA,progname,nmon
AAA,host,db1
AAA,date,17-OCT-2017
CPU_ALL,CPU Total db1,User%,Sys%,Busy,CPUs
DISKREAD,Disk Read KB/s db1,sda,sdb
ZZZZ,T0001,12:55:48,17-OCT-2017
CPU_ALL,T0001,0.3,0.3,,2
DISKREAD,T0001,7,0.25
DISKREAD,T0001,7,0.25,3,4
ZZZZ,T0002,12:55:58,17-OCT-2017
CPU_ALL,T0002,0.3,0.3,,2
DISKREAD,T0002,7.5,0.2
DISKREAD,Disk Read KB/s db1,sda,sdb,sdc
AAA,progname,nmon
AAA,host,db2
AAA,date,18-OCT-2017
ZZZZ,T0001,12:55:48,18-OCT-2017
DISKREAD,T0001,1,2,3
DISKREAD,T0002,1,2
"""


MPSTAT = "Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)\n" + "".join(
    f"\n{start}  CPU    %usr   %idle\n"
    + "".join(f"{end}  {cpu}    {number}.25   9{number}.75\n" for cpu in ("all", 0, 1))
    for number, (start, end) in enumerate(
        [("23:59:40", "23:59:50"), ("23:59:50", "00:00:00"), ("00:00:00", "00:00:10"), ("00:00:10", "00:00:20")]
    )
)
#: A table of all times, then another one: such a run is one piece.
BY_TABLE = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)

13:20:09        CPU     %user     %idle
13:20:19        all      1.20     98.80
13:20:29        all      1.25     98.75
13:20:39        all      1.30     98.70
Average:        all      1.25     98.75

13:20:09     device     tps
13:20:19        sda    6.40
13:20:29        sda    6.45
13:20:39        sda    6.50
Linux 5.4.17 (db1) \t02/20/24 \t_x86_64_\t(2 CPU)

13:20:09        CPU     %user     %idle
13:20:19        all      1.20     98.80
13:20:29        all      1.25     98.75
"""
VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 279471 295968 312724    0    0     1     3   29   57  0  0 99  1  0
 2  0      0 279471 295968 312724    0    0     7     3   29   57  0  0 98  2  0
 3  0      0 279471 295968 312724    0    0     8     3   29   57  0  0 97  3  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 4  0      0 279471 295968 312724    0    0     9     3   29   57  0  0 96  4  0
 5  0      0 279471 295968 312724    0    0    10
"""
PIDSTAT = """\
Linux 5.4.17 (db1) \t02/19/24 \t_x86_64_\t(2 CPU)

# Time        UID       PID    %usr %system    %CPU   CPU  Command
1692579199      0         1    0.00    0.07    0.08     0  systemd
1692579199      0      4711    1.00    0.07    1.07     0  ora lgwr

# Time        UID       PID    usr-ms system-ms  Command
1692579199      0         1      2890      4260  systemd

# Time        UID       PID    %usr %system    %CPU   CPU  Command
1692579209      0         1    0.00    0.07    0.08     0  systemd
""" + "".join(
    f"1692579{number}19      0         1    0.00    0.0{number}    0.08     0  systemd\n" for number in range(2, 9)
)
WATCHER = "".join(
    f"zzz ***Mon Feb {day} {clock} CET 2024\nLinux 4.18.0 (db1) \t02/{day}/24 \t_x86_64_\t(4 CPU)\n\n"
    + "".join(
        f"Device  r/s  rkB/s  await\nsda  {number}.5  7{number}  0.25\nsdb  1.5  8  0.5\n\n" for number in range(3)
    )
    for day, clock in ((19, "23:59:30"), (20, "00:00:00"), (20, "00:00:30"))
)
POOLS = """\
              capacity     operations    bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
""" + "".join(
    f"rpool       1.5G   2.5G      {number}      2   3K     4K\n"
    f"data        7.5G   2.5G      {number}5      2   3K     4K\n"
    for number in range(9)
)
HPUX = (
    """\
HP-UX db1 B.11.23 U ia64    04/01/11

02:39:32   device   %busy   avque   r+w/s  blks/s  avwait  avserv
02:39:42   c2t1d0    0.50    0.50       1      16    0.00   13.79
           c2t2d0    0.60    0.50       2      32    0.00   13.79
02:39:52
"""
    + "".join(
        f"02:4{number}:02   c2t1d0    0.7{number}    0.50       3      16    0.00   13.79\n"
        f"           c2t2d0    0.8{number}    0.50       2      32    0.00   13.79\n"
        for number in range(9)
    )
    + """\
Average    c2t1d0    0.60    0.50       2      16    0.00   13.79
"""
)
TEXTS = {
    "sar": SAR, "iostat": IOSTAT, "nmon": NMON, "mpstat": MPSTAT, "by_table": BY_TABLE, "vmstat": VMSTAT,
    "pidstat": PIDSTAT, "watcher": WATCHER, "pools": POOLS, "hpux": HPUX, "two_tools": IOSTAT + WATCHER + MPSTAT,
}  # fmt: skip


def _in_slices(heights: Sequence[int]) -> object:
    def slices(lines: pl.LazyFrame, _: int) -> Iterator[pl.DataFrame]:
        rows, start = lines.collect(), 0
        for height in cycle(heights):
            if start >= rows.height:
                return
            yield rows.slice(start, height)
            start += height

    return slices


def _frames(log: HostLog) -> dict[str, pl.DataFrame]:
    found = {name: frame.lazy().collect() for name, frame in log.frames().items()}
    return {**found, **{f"{scope} with bounds": log.wide(scope, bounds=True) for scope in log.scopes}}


def _assert_same(source: Path | bytes, *heights: int) -> int:
    """The frames of pieces in files are those of the whole; the number of pieces."""
    whole = read_host(source)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("hostparse.lines", "hostparse.nmon_lines"):
            patch.setattr(f"{module}.batches_of", _in_slices(heights))
        patch.setattr("hostparse.read.LARGE_BYTES", 0)
        cut = read_host(source)
        expected, found = _frames(whole), _frames(cut)

    assert list(expected) == list(found)
    for name, frame in expected.items():
        assert_frame_equal(frame, found[name], check_exact=True)
    assert whole.lines == cut.lines
    assert whole.describe() == cut.describe()
    assert whole.kind == cut.kind
    columns = ["line", "kind", "text", "reason"]
    assert whole.diagnostics.select(columns).sort(columns).equals(cut.diagnostics.select(columns).sort(columns))
    return cut.parts.pieces


@pytest.mark.parametrize("name", TEXTS)
def test_every_line_is_a_batch(name: str) -> None:
    """A piece ends at every sample; a run that prints a table of all times after another is one piece."""
    assert (_assert_same(TEXTS[name].encode(), 1) > 1) == (name not in {"sar", "by_table"})


@given(name=st.sampled_from(sorted(TEXTS)), heights=st.lists(st.integers(1, 9), min_size=1, max_size=5))
@settings(max_examples=12, deadline=None)
def test_batches_of_any_size(name: str, heights: list[int]) -> None:
    """Wherever a log is cut, and lines that end within a figure, a table without rows, two tools, days and hosts."""
    _assert_same(TEXTS[name].encode(), *heights)


def test_sorted_nmon() -> None:
    """The clocks of a sorted file are at its end: it is one piece, whatever its size."""
    lines = NMON.splitlines()[:9]

    assert _assert_same("\n".join(sorted(lines)).encode(), 2) == 1


def test_a_tick_that_comes_again() -> None:
    """Rows of an earlier tick below those of a later one: the file is read as one piece."""
    again = NMON.replace("CPU_ALL,T0002,0.3,0.3,,2", "CPU_ALL,T0001,0.3,0.3,,2", 1)

    assert _assert_same(again.encode(), 1) == 1


def test_times_that_go_back() -> None:
    """Samples of pidstat that are numbered by their times, not by their order: one piece."""
    assert _assert_same(PIDSTAT.replace("1692579819", "1692579190").encode(), 1) == 1


@pytest.mark.parametrize("name", ["iostat.out", "quay07_260914_2000.nmon"])
def test_sample_data(name: str) -> None:
    """The sample logs in batches of some lines."""
    assert _assert_same(SAMPLES / name, 150, 70) > 3


def test_a_frame_of_a_large_log_outlives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files stay while a frame needs them, and go with the last one."""
    monkeypatch.setattr("hostparse.read.LARGE_BYTES", 0)
    log = read_host(WATCHER.encode())
    folder = log.parts.folder
    rows = log.scan("device").filter(pl.col("device") == "sdb").select("reads_per_s", "device")
    assert list(folder.iterdir())
    del log
    gc.collect()

    assert rows.collect().height == 9
    assert rows.head(2).collect().height == 2
    del rows
    gc.collect()
    assert not folder.exists()


@pytest.mark.corpus
def test_real_logs(host_logs: Path) -> None:
    """Small real logs of every tool in batches of 11 lines."""
    paths = [
        path
        for folder in ("sysstat", "iostat_vmstat", "nmon", "iostat_unix")
        for path in sorted((host_logs / folder).iterdir())
        if path.stat().st_size < 40_000 and not path.name.startswith("data-") and "JSON" not in path.name
    ]
    for path in paths[::8]:
        _assert_same(path, 23, 11)

    assert len(paths) > 60
