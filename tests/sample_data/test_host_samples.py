"""The made-up samples of a host: reproducible, and of the hour of the report that they were made for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl

import awrparse
from hostparse import read_histograms, read_host
from iolab.evidence import align_host
from iolab.metrics import host_cpu, session_shares
from sqlplusparse import read_session_samples

SAMPLE_DATA = Path(__file__).parents[2] / "sample_data"
HOST = SAMPLE_DATA / "host"


def test_script_writes_the_same_files(tmp_path: Path) -> None:
    """The script writes the very files that are committed: same names, same bytes."""
    script = SAMPLE_DATA / "make" / "make_host.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True)

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in HOST.iterdir()
    }


def test_host_saw_what_the_report_counted() -> None:
    """The bytes of vmstat agree with the report's; the devices of iostat and nmon may have served the database."""
    report = awrparse.read_awr(SAMPLE_DATA / "awr_series" / "awrrpt_1_4104_4105.txt")
    verdicts = {
        path.name: dict(align_host(report, read_host(path)).select("quantity", "verdict").iter_rows())["read_bytes"]
        for path in HOST.iterdir()
        if path.suffix in {".out", ".nmon"}
    }

    assert verdicts == {"vmstat.out": "agrees", "iostat.out": "possible", "quay07_260914_2000.nmon": "possible"}


def test_processors_were_as_busy_as_the_report_counted() -> None:
    """The report's 1.4 % within the rounding of each tool; whole percents of vmstat are the coarsest."""
    for name in ("iostat.out", "vmstat.out", "quay07_260914_2000.nmon"):
        busy = host_cpu(read_host(HOST / name)).row(0, named=True)

        assert busy["lo"] - 0.002 < 0.014 < busy["hi"] + 0.002, name


def test_polls_met_no_wait() -> None:
    """91 polls at a processor: waits had less than one in 28 of the time."""
    rows = session_shares(read_session_samples(HOST / "session_polls.csv")).rows(named=True)

    assert [(row["state"], row["samples"]) for row in rows] == [("CPU", 91), ("any wait", 0)]
    assert rows[1]["ci_hi"] < 1 / 28


def test_waits_and_depth_agree() -> None:
    """Little's law holds in every row of iostat, within the rounding."""
    device = read_host(HOST / "iostat.out").wide("device")
    reads = pl.col("reads_per_s") * pl.col("read_await_ms").fill_null(0)
    writes = pl.col("writes_per_s") * pl.col("write_await_ms").fill_null(0)
    off = device.select(((reads + writes) / 1000 - pl.col("in_flight")).abs().max()).item()

    assert off < 0.006
    assert read_histograms(HOST / "biolatency.txt").diagnostics.height == 0
