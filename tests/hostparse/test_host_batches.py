"""Logs are read some lines at a time: wherever the text is cut, the frames are those of the whole text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from polars.testing import assert_frame_equal

from hostparse import HostLog, read_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

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


def _in_slices(height: int) -> object:
    def slices(lines: pl.LazyFrame, _: int) -> Iterator[pl.DataFrame]:
        return lines.collect().iter_slices(height)

    return slices


def _frames(log: HostLog) -> dict[str, pl.DataFrame]:
    found = {name: frame.lazy().collect() for name, frame in log.frames().items()}
    keys = ["run", "line", "scope", "metric", "name"]
    return {**found, "samples": found["samples"].sort(keys), "averages": found["averages"].sort(keys)}


def _assert_same(source: Path | bytes, height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_host(source)
    with monkeypatch.context() as patch:
        for module in ("hostparse.lines", "hostparse.nmon_lines"):
            patch.setattr(f"{module}.batches_of", _in_slices(height))
        cut = read_host(source)
    expected, found = _frames(whole), _frames(cut)

    assert list(expected) == list(found)
    for name, frame in expected.items():
        assert_frame_equal(frame, found[name], check_exact=True)
    assert whole.lines == cut.lines
    columns = ["line", "kind", "text", "reason"]
    assert whole.diagnostics.select(columns).sort(columns).equals(cut.diagnostics.select(columns).sort(columns))


@pytest.mark.parametrize("height", [1, 2, 3, 7])
@pytest.mark.parametrize("text", [SAR, IOSTAT, NMON], ids=["sar", "iostat", "nmon"])
def test_every_cut_of_a_small_log(text: str, height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headings, means, rows that do not fit and the ends of files in any batch."""
    _assert_same(text.encode(), height, monkeypatch)


@pytest.mark.parametrize("name", ["iostat.out", "vmstat.out", "quay07_260914_2000.nmon"])
def test_sample_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample logs in batches of 50 lines."""
    _assert_same(SAMPLES / name, 50, monkeypatch)


@pytest.mark.corpus
def test_real_logs(host_logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small real logs of every tool in batches of 11 lines."""
    paths = [
        path
        for folder in ("sysstat", "iostat_vmstat", "nmon", "iostat_unix")
        for path in sorted((host_logs / folder).iterdir())
        if path.stat().st_size < 40_000 and not path.name.startswith("data-") and "JSON" not in path.name
    ]
    for path in paths[::2]:
        _assert_same(path, 11, monkeypatch)

    assert len(paths) > 60
