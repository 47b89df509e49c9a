"""biotop and biolatpcts: every figure in the row of its process, operation and interval."""

import polars as pl
import pytest

import iolab
from logframe import LogParseError

TOP = """\
Tracing... Output every 5 secs. Hit Ctrl-C to end

08:09:44 loadavg: 0.42 0.44 0.39 2/282 22115

PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms
4711   ora lgwr ORCL    W 252 3   dm-3        36     288   0.39
812    jbd2/dm-0-8      W 252 0   dm-0         3     168   2.67

08:09:49 loadavg: 0.47 0.44 0.39 1/282 22231

PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms
4711   ora lgwr ORCL    W 252 3   dm-3        40     320.5   0.41
"""
TABLES = """\
sdb        p1   p50  99.9  p100
read     95us 985us  22ms  1.5s
write       -     -     -     -
sdb        p1   p50  99.9  p100
read      5us 1.5ms 4.5ms  24ms
"""


def test_processes_of_each_interval() -> None:
    """A command may hold blanks; whole KiB are cut; the load is of its sample."""
    log = iolab.load(TOP.encode())
    rows = log.frames()["processes"].lazy().collect()

    assert (log.format, log.describe()) == ("block_io", "biotop, 2 intervals")
    assert rows.select("sample", "pid", "command", "device", "requests", "bytes", "latency_ms").rows() == [
        (1, 4711, "ora lgwr ORCL", "dm-3", 36, 288 * 1024.0, 0.39),
        (1, 812, "jbd2/dm-0-8", "dm-0", 3, 168 * 1024.0, 2.67),
        (2, 4711, "ora lgwr ORCL", "dm-3", 40, 320.5 * 1024, 0.41),
    ]
    assert rows.select("bytes_lo", "bytes_hi").rows()[1:] == [(168 * 1024, 169 * 1024), (320.5 * 1024, 320.5 * 1024)]
    assert rows["time_of_day"].cast(pl.String).str.head(8).to_list() == ["08:09:44", "08:09:44", "08:09:49"]
    assert log.frames()["loads"].lazy().collect().select("load_1", "runnable", "tasks", "last_pid").rows() == [
        (0.42, 2, 282, 22115),
        (0.47, 1, 282, 22231),
    ]


def test_percentiles_of_each_interval() -> None:
    """The middle of a bucket with the bounds of the bucket and of its digits; a dash is no request."""
    rows = iolab.load(TABLES.encode()).frames()["percentiles"].lazy().collect()

    first = rows.filter(pl.col("operation") == "read", pl.col("sample") == 1).select(
        "percentile", "latency_ms", pl.col("latency_ms_lo", "latency_ms_hi").round(6)
    )
    assert first.rows() == [
        (1.0, 0.095, 0.0895, 0.1005),
        (50.0, 0.985, 0.9795, 0.9905),
        (99.9, 22.0, 21.0, 23.0),
        (100.0, 1500.0, 1400.0, 1600.0),
    ]
    assert rows.filter(pl.col("operation") == "write")["latency_ms"].null_count() == 4
    assert rows["sample"].unique().to_list() == [1, 2]


def test_json_is_the_same() -> None:
    """Seconds; 0.0 is no request."""
    text = '{"read": {"50": 0.000355, "100": 0.0235}, "flush": {"50": 0.0, "100": 0.0}}\n'
    rows = iolab.load((text * 2).encode()).frames()["percentiles"].lazy().collect()

    assert rows.select("sample", "operation", "percentile", pl.col("latency_ms").round(9)).rows()[:4] == [
        (1, "read", 50.0, 0.355),
        (1, "read", 100.0, 23.5),
        (1, "flush", 50.0, None),
        (1, "flush", 100.0, None),
    ]
    assert rows.height == 8


def test_a_name_twice_and_a_percentile_that_is_none() -> None:
    """Two rows; what is beyond 100 % is a diagnostic, and the rest of its line is read."""
    log = iolab.load(
        b'{"read": {"50": 0.0001, "50": 0.0002, "100": 0.0003}, "write": {"50": 0.0004, "500": 0.0005}}\n' * 2
    )
    rows = log.frames()["percentiles"].lazy().collect()

    assert rows.select("percentile", pl.col("latency_ms").round(9)).rows()[:4] == [
        (50.0, 0.1),
        (50.0, 0.2),
        (100.0, 0.3),
        (50.0, 0.4),
    ]
    assert log.diagnostics.filter(kind="unparsed")["line"].to_list() == [1, 2]


@pytest.mark.parametrize("text", [TOP, TABLES])
def test_every_number_is_in_a_frame_or_named(text: str) -> None:
    """No figure is lost; a row a cell short, or below prose, is a diagnostic, and no figure of it is in a frame."""
    damaged = text.replace("     3     168   2.67", "           168   2.67").replace("  5us 1.5ms", "  5us")
    log = iolab.load(damaged.encode())

    for one, source in ((iolab.load(text.encode()), text), (log, damaged)):
        assert iolab.provenance(one, source.encode()).filter(pl.col("status").cast(pl.String) == "lost").is_empty()
    assert log.diagnostics.filter(kind="unparsed")["line"].to_list()[-1:] == ([7] if text == TOP else [5])


def test_a_heading_without_rows() -> None:
    """Nothing was read: an error, no empty log."""
    with pytest.raises(LogParseError, match="no row found"):
        iolab.load(b"PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms\n")
