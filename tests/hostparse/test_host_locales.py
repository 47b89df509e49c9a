"""Localised clocks, dates and headings, and the first sample of mpstat's JSON."""

from __future__ import annotations

import json
from datetime import datetime

# ruff: noqa: DTZ001 - what a tool prints has no zone
from hostparse import read_host
from iolab.rules.host_severity import device_flushes, process_waits_for_cpu, saturated_device

SAR = """Linux 4.18.0 (db1) 	2024年02月19日 	_x86_64_	(2 CPU)

13時05分00秒     CPU     %user     %nice   %system   %iowait    %steal     %idle
13時05分10秒     all     10.00      0.00      2.00      1.00      0.00     87.00
13時05分20秒     all     20.00      0.00      2.00      1.00      0.00     77.00
平均値:          all     15.00      0.00      2.00      1.00      0.00     82.00
"""
VMSTAT = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- ----Zeitstempel----
 r  b   swpd   frei   buff  Cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 7  0      0 20918184  33268 2999248    0    0  1148  1751 1068 5032 73 12 15  0  0 2024-02-19 01:08:20
 2  0      0 20918184  33268 2999248    0    0   644    76 3048 6106 39 14 47  0  0 2024-02-19 01:08:21
"""
IOSTAT = "Device r/s w/s f/s f_await r_await w_await aqu-sz %util\n"


def test_kanji() -> None:
    """Dates and clocks in kanji are those of any other sar; the mean is no sample."""
    log = read_host(SAR.encode())
    rows = log.wide("cpu").select("interval_end", "user_percent").rows()

    assert rows == [(datetime(2024, 2, 19, 13, 5, 10), 10.0), (datetime(2024, 2, 19, 13, 5, 20), 20.0)]
    assert log.diagnostics.rows() == []


def test_vmstat_in_german() -> None:
    """The stamps are read whatever the word above them, and memory has its names."""
    log = read_host(VMSTAT.encode())
    row = log.wide("host").row(1, named=True)

    assert (row["interval_end"], row["free"], row["cache"]) == (datetime(2024, 2, 19, 1, 8, 21), 20918184, 2999248)
    assert log.diagnostics.rows() == []


def test_first_sample_of_mpstat() -> None:
    """Samples of mpstat follow each other in one step: the first is as long as the others."""
    load = [{"cpu": "all", "usr": 1.0, "idle": 99.0}]
    samples = [{"timestamp": f"01:08:{second}", "cpu-load": load} for second in (50, 55)]
    host = {"nodename": "db1", "sysname": "Linux", "number-of-cpus": 2, "date": "2024-02-19", "statistics": samples}
    log = read_host(json.dumps({"sysstat": {"hosts": [host]}}, indent=1).encode())

    assert log.kind == "mpstat"
    assert log.wide("cpu")["interval_start"].to_list() == [
        datetime(2024, 2, 19, 1, 8, 45),
        datetime(2024, 2, 19, 1, 8, 50),
    ]


def test_saturation_and_flushes() -> None:
    """Samples are counted; a partition has the requests of its disk and is not said beside it."""
    rows = (
        "sda 1.0 1.0 1.0 1.0 1.0 1.0 0.5 50.0\n\n",
        "sda 1.0 1.0 200.0 4.0 1.0 1.0 9.0 99.0\nsda1 1.0 1.0 200.0 4.0 1.0 1.0 9.0 99.0\n\n",
        "sda 1.0 1.0 200.0 4.0 1.0 1.0 0.5 99.0\n\n",
    )
    log = read_host("".join(IOSTAT + row for row in ("sda 1.0 1.0 1.0 1.0 1.0 1.0 0.5 50.0\n\n", *rows)).encode())
    (full,) = saturated_device(log)
    (flushed,) = device_flushes(log)

    assert "1 of 3 samples" in full.sentence
    assert flushed.sentence == "The write cache of `sda` was flushed 134 times per second, 3.99 ms each."
    assert list(process_waits_for_cpu(log)) == []
