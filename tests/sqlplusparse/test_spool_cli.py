"""The command line: the table of statements, and what goes wrong."""

import io
from pathlib import Path

import pytest

from sqlplusparse.cli import main

DATA = Path(__file__).parent / "spool_data"


def test_statements(capsys: pytest.CaptureFixture[str]) -> None:
    """The statements with their elapsed, reads and gets, and a count of the diagnostics."""
    assert main([str(DATA / "english.log")]) == 0

    lines = capsys.readouterr().out.splitlines()
    header = [cell.strip() for cell in lines[1].strip("|").split("|")]
    assert header == [
        "statement",
        "kind",
        "text",
        "status",
        "rows",
        "elapsed_s",
        "physical_reads",
        "gets",
        "flushed_before",
    ]
    second = [cell.strip() for cell in lines[4].strip("|").split("|")]
    assert second[3:] == ["ok", "1", "11.54", "1096001", "1097113", "buffer_cache"]
    assert lines[10] == "diagnostics: repaired 1, overflow 1, failed 1"


def test_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Repeated statements as samples."""
    assert main(["--runs", str(DATA / "english.log")]) == 0
    assert capsys.readouterr().out.count("select sum(amount)") == 2


def test_no_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log that is no session: the reason on the error output, exit status 1."""
    path = tmp_path / "x.log"
    path.write_text("TKPROF: Release 19.0.0.0.0\n")

    assert main([str(path)]) == 1
    assert "this is a TKPROF report" in capsys.readouterr().err


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A session from a pipe is read like a file."""
    session = b"SQL> select 1 from dual;\n\n         1\n----------\n         1\n\nElapsed: 00:00:00.01\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(session)))

    assert main(["-"]) == 0
    assert "select 1 from dual" in capsys.readouterr().out
