"""The benchmarks run, and what they measure counts the same calls as the tools they compare with."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import straceparse

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Some lines of each generated log, by what it is called."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    made = importlib.import_module("strace_logs")
    generators = {"parallel": made.parallel_lines, "relative": made.relative_lines}
    return {name: [line for line, _ in zip(of(), range(20_000), strict=False)] for name, of in generators.items()}


@pytest.mark.parametrize("log", ["parallel", "relative"])
def test_awk_counts_the_same_calls(lines: dict[str, list[str]], log: str, tmp_path: Path) -> None:
    """Whole calls and the ends of split ones, as a script of one line counts them."""
    path = tmp_path / "log.strace"
    path.write_text("\n".join(line.rstrip("\n") for line in lines[log]) + "\n", encoding="utf-8")
    awk = shutil.which("mawk") or shutil.which("awk")
    if awk is None:
        pytest.skip("no awk")
    program = "/ = / && !/unfinished/ {n++} END {print n}"
    done = subprocess.run([awk, program, path], capture_output=True, text=True, check=True)

    found = straceparse.totals(straceparse.scan_strace(path))

    assert int(found["calls"].sum()) == int(done.stdout)


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ("strace", ("totals by name", "all columns", "calls", "io_requests", "iolab show", "asynchronous, 1 MB")),
        ("large", ("MB of strace", "to_parquet", "8 reports as one page", "times reading", "times compiled")),
    ],
)
def test_a_benchmark_prints_a_row_of_each_work(script: str, rows: tuple[str, ...]) -> None:
    """On small logs and once: the figures are of no use, but every row is there."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, str(BENCHMARKS / f"{script}.py"), "--short"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    assert done.returncode == 0, done.stderr
    for row in rows:
        assert row in done.stdout
