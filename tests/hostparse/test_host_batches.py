"""Logs are read some lines at a time: wherever the text is cut, the frames are those of the whole text."""

from __future__ import annotations

import gc
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from host_logs import IOSTAT, NMON, PIDSTAT, TEXTS, VMSTAT, WATCHER
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import iolab
from hostparse import HostLog, read_host

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SAMPLES = Path(__file__).parents[2] / "sample_data" / "host"


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
        for module in ("hostparse.lines", "hostparse.nmon"):
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


@pytest.mark.parametrize("heights", [(3,), (7, 40)])
def test_runs_that_a_place_begins(heights: tuple[int, ...]) -> None:
    """Dates, commands, configurations, and headings of vmstat that come soon, on each screen, or may be either."""
    report = (
        "    r/s    w/s   kr/s   kw/s  svc_t  %w  %b device\n" + "    9.0    4.0   72.0   32.0    7.7   0   5 c0t0d0\n"
    )
    heading = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n"
    rows = [f" 1  0      0 710000   2000 300000    0    0    20    {row}   90  150  3  1 95  1\n" for row in range(50)]
    blocks = [heading + "".join(rows[:count]) for count in (3, 21, 4, 30, 2)]
    dates = [f"Mon Feb 19 13:0{minute}:00 CET 2024\n" for minute in range(6)]
    log = dates[0] + report * 2 + dates[1] + report * 3 + "$ iostat -x 5 2\n" + report * 2
    log += dates[2] + IOSTAT + dates[3] + VMSTAT + "System configuration: lcpu=8 mem=8192MB\n\n"
    log += "".join(blocks) + dates[4] + "".join(blocks) + dates[5]
    _assert_same(log.encode(), *heights)


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


def test_a_log_that_is_not_read_in_pieces_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of sadf keeps its rows in memory, whatever their number."""
    monkeypatch.setattr("hostparse.read.LARGE_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text = "# hostname;interval;timestamp;DEV;tps;rkB/s\ndb1;10;2024-02-19 13:20:19 UTC;sda;1.50;2.00\n"

    assert read_host(text.encode()).wide("device").height == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["iostat.out", "quay07_260914_2000.nmon"])
def test_a_large_log_is_summarized_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings, figures and tables never put the rows of a large log together; the findings are the same."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the whole frame of a large log")

    small = iolab.summarize(SAMPLES / name)
    monkeypatch.setattr("hostparse.read.LARGE_BYTES", 0)
    monkeypatch.setattr("hostparse.log.HostLog.wide", refuse)
    large = iolab.summarize(SAMPLES / name)

    assert large.log.parts.is_large
    assert large.findings.get_column("sentence").to_list() == small.findings.get_column("sentence").to_list()
