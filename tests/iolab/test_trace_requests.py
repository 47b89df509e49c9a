"""Figures of requests by file, of descriptors without a name, and of logs that are damaged or held twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import iolab
from iolab import metrics
from iolab.pages.summary import summarize
from straceparse import calls, io_requests, read_strace

if TYPE_CHECKING:
    import polars as pl

#: Stamps below are short: a log with small ones is read as one of `-r`.
EPOCH = 1_700_000_000.0


def requests_of(*lines: str) -> pl.DataFrame:
    """The requests of a log."""
    return io_requests(calls(read_strace("\n".join(lines).encode())))


def figures_of(*lines: str) -> dict[str, dict[str, object]]:
    """The figures that `iolab show --figures` prints of a log, by name."""
    found = summarize("\n".join(lines).encode()).figures
    return {row["metric"]: row for row in found.iter_rows(named=True)}


def read(at: float, *, name: str = "/u01/a.dbf", size: int = 8192, pid: int = 7, took: float = 0.0004) -> str:
    """A read of a file."""
    return f'{pid} {EPOCH + at:.6f} pread64(3<{name}>, ""..., {size}, 0) = {size} <{took:.6f}>'


def test_queues_are_of_a_file_and_direction() -> None:
    """Two files read at a time by two processes have one request each; reads and writes are apart."""
    lines = [read(1.0, took=0.3), read(1.1, name="/u01/b.dbf", pid=8, took=0.1), read(1.4)]
    lines.append('7 1700000001.500000 pwrite64(3</u01/a.dbf>, ""..., 8192, 0) = 8192 <0.000100>')
    found = metrics.depth_by_file(requests_of(*sorted(lines, key=lambda line: line.split()[1])))
    rows = {(row["file"], row["op"]): row for row in found.iter_rows(named=True)}

    assert rows["/u01/a.dbf", "read"]["requests"] == 2
    assert {row["depth_max"] for row in rows.values()} == {1}
    assert ("/u01/a.dbf", "write") in rows
    together = metrics.depth_by_file(requests_of(read(1.0, took=0.3), read(1.1, pid=8, took=0.1)))
    assert together.select("depth_max").item() == 2
    assert together.select("depth_mean").item() == pytest.approx((0.2 * 1 + 0.1 * 2) / 0.3)


def test_descriptors_without_a_name_bound_the_counts() -> None:
    """A `read` of unknown target may be of a socket: counts are between without and with it; `pread64` is of a file."""
    named, unknown = read(1.0), '7 1700000001.100000 read(9, ""..., 4096) = 4096 <0.000100>'
    odd, placed = (
        '7 1700000001.200000 read(9, ""..., 100) = 37 <0.000100>',
        '7 1700000001.300000 pread64(9, ""..., 100, 0) = 100 <0.0001>',
    )
    found = figures_of(named, unknown, odd, placed)

    assert [found["reads"][end] for end in ("value", "lo", "hi")] == [3, 2, 4]
    assert [found["bytes_read"][end] for end in ("value", "lo", "hi")] == [12_388, 8_292, 12_425]
    assert "descriptors that the log does not name" in str(found["reads"]["caveats"])
    assert [figures_of(named, read(1.2))["reads"][end] for end in ("value", "lo", "hi")] == [2, 2, 2]


def test_flushes_are_counted() -> None:
    """Each call that has data written to the device counts; one that fails, or is of a socket, does not."""
    lines = [f"7 170000000{number}.000000 fdatasync(4</u01/redo01.log>) = 0 <0.001000>" for number in range(3)]
    found = metrics.flush_count(
        requests_of(*lines, "7 1700000009.900000 fsync(5<socket:[1]>) = -1 EINVAL (Invalid) <0.000010>")
    )

    assert found.item(0, "value") == 3


def test_lines_that_are_not_read_leave_counts_open() -> None:
    """A count of a log with damaged lines has no upper bound, and says why."""
    lines = [read(1.0), "7 1700000001.1000 pread6(((3<", read(1.2)]
    found = figures_of(*lines)

    assert found["reads"]["value"] == 2
    assert found["reads"]["hi"] is None
    assert "1 of 3 lines were not read" in str(found["reads"]["caveats"])


def test_a_log_that_is_held_twice_is_said_first() -> None:
    """A log pasted after itself, and two runs one after the other."""
    lines = [read(1.0 + number / 10) for number in range(5)]
    said = iolab.findings(iolab.load("\n".join([*lines, *lines]).encode()))
    assert said["name"].to_list()[:2] == ["no_total", "repeated_log"]
    assert said.item(1, "sentence").startswith("5 of 10 requests are in the log twice")

    # a sorted sample, whose stamps are all one
    alike = [f"7 {EPOCH + 1.0:.6f} +++ exited with 0 +++", *[read(1.0)] * 10]
    assert "repeated_log" not in iolab.findings("\n".join(alike).encode())["name"].to_list()

    def run(pid: int, at: float) -> list[str]:
        program = f'{pid} {EPOCH + at:.6f} execve("/bin/reader", ["reader"], 0x7ff /* 1 var */) = 0 <0.000100>'
        return [program, read(at + 0.1, pid=pid), f"{pid} {EPOCH + at + 0.2:.6f} exit_group(0) = ?"]

    two = iolab.findings(iolab.load("\n".join([*run(7, 1.0), *run(9, 3.0)]).encode()))
    said = "The log holds 2 runs, one after the other (processes 7, 9): 400 ms together."
    assert said in two["sentence"].to_list()
    slow = "\n".join([*run(7, 1.0), *run(9, 3.0)]).replace("<0.000400>", "<0.090000>")
    assert "together, 45 % of it in 2 calls of `pread64`." in iolab.findings(slow.encode()).item(1, "sentence")
    assert "repeated_log" not in iolab.findings(iolab.load("\n".join(run(7, 1.0)).encode()))["name"]
