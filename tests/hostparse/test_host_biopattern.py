"""biopattern: what it counts of each disk in an interval."""

from pathlib import Path

import pytest

import iolab
from hostparse import HostLog

HEADING = "TIME      DISK     %RND  %SEQ    COUNT     KBYTES\n"
ROWS = (
    "23:59:58  vdb         0    99      788       3184\n23:59:58  vda        85    14       21        488\n"
    "23:59:59  Unknown     0   100        4          0\n00:00:00  vdb        50    50        2         16\n"
)


def read(text: str) -> HostLog:
    """The log, as `iolab.load` finds it."""
    log = iolab.load(text.encode())
    assert isinstance(log, HostLog)
    return log


def test_disks_over_midnight() -> None:
    """A sample a time, in the order of the log; bytes of 1,024; shares cut to whole numbers; counts are exact."""
    log = read(HEADING + ROWS)
    device = log.wide("device", bounds=True)

    assert log.describe() == "biopattern, 3 samples of device"
    assert device.select("sample", "device", "random_percent", "sequential_percent", "requests", "bytes").rows() == [
        (1, "vdb", 0.0, 99.0, 788.0, 3184 * 1024.0),
        (1, "vda", 85.0, 14.0, 21.0, 488 * 1024.0),
        (2, "Unknown", 0.0, 100.0, 4.0, 0.0),
        (3, "vdb", 50.0, 50.0, 2.0, 16 * 1024.0),
    ]
    assert device.select("requests_lo", "requests_hi", "random_percent_hi").row(1) == (21.0, 21.0, 86.0)
    assert not device["is_since_boot"].any()
    assert log.diagnostics.height == 0


def test_a_row_with_a_cell_less() -> None:
    """No figure moves to another column."""
    log = read(HEADING + ROWS + "00:00:01  vdb        50    50        2\n")

    assert log.wide("device").height == 4
    assert log.diagnostics.select("kind", "line").rows() == [("unparsed", 6)]


@pytest.mark.parametrize("hour", ["22", "23"])
def test_processes_over_midnight(hour: str) -> None:
    """`pidstat -h` with a time of day, over midnight: samples in the order of the log."""
    heading = "#      Time   UID       PID    %usr %system  %guest    %CPU   CPU  Command\n"
    rows = "".join(
        f"{clock}     0      4711    1.00    0.50    0.00    1.50     0  ora\n"
        for clock in (f"{hour}:59:50", "00:00:05")
    )
    process = read(heading + rows).wide("process")

    assert process.select("sample", "time_of_day").cast({"time_of_day": str}).rows() == [
        (1, f"{hour}:59:50"),
        (2, "00:00:05"),
    ]


@pytest.mark.corpus
def test_real_rows(host_logs: Path) -> None:
    """Every row of the real file is a row, with the figures of a split at blanks."""
    path = host_logs / "latency_hist" / "biopattern_example.txt"
    words = [line.split() for line in path.read_text().splitlines()]
    expected = [
        (row[1], *(float(cell) for cell in row[2:5]), float(row[5]) * 1024)
        for row in words
        if len(row) == 6 and row[0].count(":") == 2
    ]
    found = read(path.read_text()).wide("device")

    assert found.select("device", "random_percent", "sequential_percent", "requests", "bytes").rows() == expected
    assert len(expected) > 10
