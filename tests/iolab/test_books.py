"""Programs that keep books of what they read, write and flush, under strace: the figures are those of the books."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import iolab
from iolab.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What `books.c` can do.
WORK = ("plain", "direct", "synchronous", "others", "copies", "libaio", "ring", "mapped", "children")
#: Options of strace; without the names of files, descriptors that the log does not show opened are unknown.
NAMED = {
    "advised": ("-f", "-ttt", "-T", "-yy", "-v"),
    "relative": ("-f", "-r", "-T", "-y"),
    "unnamed": ("-f", "-tt", "-T"),
}
#: Requests of a ring are in no call: totals are lower bounds.
HIDDEN = "ring"
#: Microseconds between the clock of the program and that of strace, which cuts.
STEP_US = 1.0


@pytest.fixture(scope="session")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled program."""
    compiler = shutil.which("cc")
    if compiler is None or shutil.which("strace") is None:
        pytest.skip("needs strace and a C compiler")
    program = tmp_path_factory.mktemp("books") / "books"
    made = subprocess.run(
        [compiler, "-O1", "-o", program, Path(__file__).with_name("books.c")],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"books.c cannot be compiled here: {made.stderr.splitlines()[0]}")
    return program


def traced(program: Path, folder: Path, work: str, options: tuple[str, ...]) -> tuple[Path, dict[str, int]]:
    """The log of a run, and its books."""
    log, inner = folder / "books.strace", folder / "work"
    inner.mkdir()
    done = subprocess.run(
        ["strace", *options, "-o", log, program, inner, work], check=False, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"{work} cannot be traced here: {done.stderr.strip().splitlines()[-1]}")
    return log, json.loads(done.stdout)


def figures_of(log: Path, capsys: pytest.CaptureFixture[str]) -> Mapping[str, dict[str, Any]]:
    """The figures as a user sees them."""
    assert main(["show", "--figures", "--json", str(log)]) == 0
    return {row["metric"]: row for row in json.loads(capsys.readouterr().out)["figures"]}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("options", NAMED)
def test_figures_are_the_books(
    books: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], work: str, options: str
) -> None:
    """Counts and bytes of files and copies; no socket, pipe, file in memory or end of a file is among them."""
    log, own = traced(books, tmp_path, work, NAMED[options])
    figures = figures_of(log, capsys)
    expected = {
        "reads": own["reads"] + own["aio_reads"],
        "bytes_read": own["bytes_read"] + own["aio_bytes"],
        "writes": own["writes"],
        "bytes_written": own["bytes_written"],
        "flushes": own["flushes"],
    }
    for metric, value in expected.items():
        found = figures.get(metric)
        if found is None:
            assert value == 0, metric
        elif work == HIDDEN and metric != "flushes":
            assert found["lo"] == value, metric
            assert found["hi"] is None, metric
        elif options == "unnamed":
            # the pipe to which the books are written may be a file
            assert found["lo"] == value, metric
            assert found["hi"] is not None, metric
        else:
            assert (found["lo"], found["value"], found["hi"]) == (value, value, value), metric
    requests = iolab.load(log).frames()["requests"].lazy().filter(pl.col("op") == "copy").collect()
    copied = requests.filter(pl.col("bytes_transferred") > 0).get_column("bytes_transferred")

    assert (copied.len(), copied.sum()) == (own["copies"], own["bytes_copied"])


@pytest.mark.parametrize("work", ["plain", "direct", "synchronous"])
def test_latencies_are_within_the_clock_of_the_program(
    books: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], work: str
) -> None:
    """The program waits for each call at least as long as the call takes, so no mean is above its own."""
    log, own = traced(books, tmp_path, work, NAMED["advised"])
    figures = figures_of(log, capsys)
    counted = {
        "latency_us_mean (sync)": ("read_ns", own["reads"] + own["empty"]),
        "write_latency_us_mean (sync)": ("write_ns", own["writes"]),
        "sync_latency_us_mean (sync)": ("flush_ns", own["flushes"]),
    }
    for metric, (spent, count) in counted.items():
        if count:
            found = figures[metric]
            assert 0 <= found["lo"] <= found["value"] <= found["hi"], metric
            assert found["lo"] * (count - own["empty"]) <= own[spent] / 1e3 + STEP_US * count, metric


def test_a_ring_is_named(books: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where requests are hidden, depth and latency of them are refused, and the log says what would show them."""
    log, own = traced(books, tmp_path, HIDDEN, NAMED["advised"])
    figures = figures_of(log, capsys)

    assert own["ring_reads"] == 25
    assert "reads" not in figures  # none is in the log, and it cannot say that there were none
    assert figures["writes"]["hi"] is None
    assert all(figures[name]["hi"] is None for name in ("depth_max", "depth_mean") if name in figures)
    assert main(["show", "--all", str(log)]) == 0
    assert "io_uring" in capsys.readouterr().out
