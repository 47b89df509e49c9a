"""The command line, the Parquet writer and the exported names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import straceparse
from straceparse import calls, io_requests, read_strace, to_parquet
from straceparse.cli import main

LOG = """3698  09:36:52.167719 open("/u01/users01.dbf", O_RDWR) = 12 <0.000020>
3698  09:36:52.168000 pread64(12, "a"..., 8192, 0) = 8192 <0.000041>
3698  09:36:52.168100 pread64(12, "a"..., 8192, 8192) = -1 EIO (Input/output error) <0.000009>
hello
3698  09:36:52.168200 +++ exited with 0 +++
"""
SUMMARY = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 75.51    0.000296           2       121         3 pread64
------ ----------- ----------- --------- --------- ----------------
100.00    0.000392                   181         3 total
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A small log."""
    path = tmp_path / "ora.strace"
    path.write_text(LOG, encoding="utf-8")
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[dict[str, object]]:
    """The rows that a command prints as JSON."""
    assert main([*map(str, arguments), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_totals_are_printed(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By default: calls, errors and time of each system call, the longest first."""
    rows = printed(capsys, log)

    assert [(row["name"], row["calls"], row["errors"], row["elapsed_s"]) for row in rows] == [
        ("pread64", 2, 1, 0.00005),
        ("open", 1, 0, 0.00002),
    ]


def test_totals_without_times_in_calls_are_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log of -r has gaps, and its column is called so."""
    path = tmp_path / "r.strace"
    path.write_text("     0.000000 close(3) = 0\n     0.000100 close(4) = 0\n", encoding="utf-8")

    assert [(row["name"], row["gap_s"]) for row in printed(capsys, path)] == [("close", 0.0001)]


@pytest.mark.parametrize(
    ("option", "column", "expected"),
    [
        ("--calls", "name", ["open", "pread64", "pread64"]),
        ("--requests", "file", ["/u01/users01.dbf", "/u01/users01.dbf"]),
        ("--unparsed", "line", [4]),
        ("--events", "kind", ["call", "call", "call", "unparsed", "exited"]),
    ],
)
def test_tables(
    log: Path, capsys: pytest.CaptureFixture[str], option: str, column: str, expected: list[object]
) -> None:
    """Each option prints its table."""
    assert [row[column] for row in printed(capsys, option, log)] == expected


def test_a_table_for_people(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without ``--json`` a table with a heading; ``-n`` limits it and says so."""
    assert main([str(log), "-n", "1"]) == 0
    shown = capsys.readouterr().out

    assert "| name" in shown
    assert "pread64" in shown
    assert "1 more rows" in shown


def test_dialect_and_summary(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The dialect reads like a command line; a summary is shown even when not asked for."""
    table = tmp_path / "c.strace"
    table.write_text(SUMMARY, encoding="utf-8")

    assert main(["--dialect", str(log)]) == 0
    assert "strace -f -tt -T" in capsys.readouterr().out
    assert [row["calls"] for row in printed(capsys, table)] == [121, 181]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".ndjson"])
@pytest.mark.parametrize("option", [None, "--calls", "--requests"])
def test_files_are_written(log: Path, tmp_path: Path, suffix: str, option: str | None) -> None:
    """Each table in each format, with as many rows as in memory."""
    out = tmp_path / f"out{suffix}"
    events = read_strace(log)
    expected = {None: events, "--calls": calls(events), "--requests": io_requests(calls(events))}[option]

    assert main([*([option] if option else []), str(log), "-o", str(out)]) == 0
    read = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".ndjson": pl.read_ndjson}[suffix]
    assert read(out).height == expected.height
    if suffix == ".parquet":
        assert pl.read_parquet(out).equals(expected)


def test_several_logs_name_their_source(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of several logs say which log they come from."""
    other = tmp_path / "other.strace"
    other.write_text(LOG, encoding="utf-8")

    assert {row["log"] for row in printed(capsys, "--calls", log, other)} == {str(log), str(other)}


def test_totals_of_plain_calls_do_without_lark(tmp_path: Path) -> None:
    """Lark is imported for lines that no expression matches, not for a log of calls, signals and exits."""
    log = tmp_path / "ora.strace"
    log.write_text(
        LOG.replace("hello\n", "3698  09:36:52.168150 --- SIGALRM {si_signo=SIGALRM} ---\n"), encoding="utf-8"
    )
    code = "import sys; from straceparse.cli import main; main(sys.argv[1:]); print('lark' in sys.modules)"
    command = [sys.executable, "-c", code, str(log)]
    subprocess.run(command, capture_output=True, check=True)  # the terminals of the grammars are kept from now on

    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()[-1] == "False"


def test_standard_input_and_a_closed_pipe() -> None:
    """``-`` reads a pipe; as a process of its own, with its exit status."""
    command = [sys.executable, "-m", "straceparse", "-", "--json"]
    done = subprocess.run(command, input=LOG.encode(), capture_output=True, check=True, env=os.environ)

    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["pread64", "open"]
    assert done.stderr == b""


def test_exit_status(tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0: read; 1: not a log, or none there; 2: wrong arguments."""
    prose = tmp_path / "prose.txt"
    prose.write_text("no strace here\nat all\n", encoding="utf-8")

    assert main([str(log)]) == 0
    assert main([str(prose)]) == 1
    assert main([str(tmp_path / "missing")]) == 1
    for arguments in ([], [str(log), "-o", "x.doc"], [str(log), "--calls", "--requests"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    assert "straceparse:" in capsys.readouterr().err


def test_to_parquet_equals_reading(log: Path, tmp_path: Path) -> None:
    """The data set holds the same events in the same order, in files of the size asked for; progress is reported."""
    many = tmp_path / "many.strace"
    many.write_text(LOG * 400, encoding="utf-8")
    found: list[object] = []
    files = to_parquet(many, tmp_path / "events", lines_per_file=600, progress=found.append)

    assert [file.name for file in files] == [f"part-{place:05d}.parquet" for place in range(4)]
    assert found == [600, 1200, 1800]
    assert pl.concat(pl.read_parquet(file) for file in files).equals(read_strace(many))
    with pytest.raises(FileExistsError, match="not empty"):
        to_parquet(log, tmp_path / "events")


def test_to_parquet_of_several_logs(log: Path, tmp_path: Path) -> None:
    """Several logs go into one data set, each row with its log."""
    files = to_parquet([log, log], tmp_path / "events")
    events = pl.concat(pl.read_parquet(file) for file in files)

    assert events.equals(read_strace([log, log], include_file_paths="file"))
    assert events.height == 2 * LOG.count("\n")


@pytest.mark.parametrize("wrap", ["path", "text path", "bytes", "file", "gzip"])
def test_sources(log: Path, tmp_path: Path, wrap: str) -> None:
    """A path, bytes, an open file or a compressed file give the same events."""
    import gzip  # noqa: PLC0415 - one case of five

    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(LOG.encode()))
    expected = read_strace(log)
    with log.open("rb") as file:
        source = {"path": log, "text path": str(log), "bytes": LOG.encode(), "file": file, "gzip": packed}[wrap]

        assert read_strace(source).equals(expected)


def test_n_rows_reads_the_start(log: Path) -> None:
    """So many lines and no more."""
    assert read_strace(log, n_rows=2).equals(read_strace(log).head(2))


def test_scan_is_lazy_and_equal(log: Path) -> None:
    """A scan gives a LazyFrame of the same rows, whichever columns are asked for."""
    expected = read_strace(log)

    assert straceparse.scan_strace(log).collect().equals(expected)
    for name in expected.columns:
        assert straceparse.scan_strace(log).select(name).collect().equals(expected.select(name)), name


def test_exported_names() -> None:
    """Every public name can be had, and none is listed twice."""
    assert len(straceparse.__all__) == len(set(straceparse.__all__))
    assert all(getattr(straceparse, name) is not None for name in straceparse.__all__)
    assert set(straceparse.__all__) <= set(dir(straceparse))
