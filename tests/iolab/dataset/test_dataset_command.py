"""The commands about datasets: counts, exit codes, JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from dataset_logs import PNG, write_logs

from iolab.cli import main
from iolab.dataset.commands import ProgressLine, since_of
from iolab.dataset.run import Progress
from logframe.errors import LogError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of logs, one of them bad."""
    write_logs(tmp_path / "logs", 4)
    (tmp_path / "logs" / "picture.png").write_bytes(PNG)
    return tmp_path / "logs"


def test_convert_and_what_follows(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bad log is counted, and the exit code is 0; a second run wants --resume, and then skips everything."""
    dest = str(tmp_path / "dataset")
    words = ["convert", str(logs), "-o", dest, "--executor", "serial"]

    assert main(words) == 0
    counts = "5 files: 0 skipped, 4 converted, 1 unreadable, 0 duplicate, 0 killed"
    assert capsys.readouterr().out.startswith(counts)
    assert main(words) == 1
    assert "--resume" in capsys.readouterr().err
    assert main([*words, "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == 5
    assert main(["status", dest]) == 0
    assert "5 sources (4 converted, 1 unreadable)" in capsys.readouterr().out
    assert main(["status", dest, "--sources", "--json"]) == 0
    assert [row["status"] for row in json.loads(capsys.readouterr().out)] == ["unreadable"]
    assert main(["status", dest, "--diagnostics"]) == 0
    assert "picture (PNG)" in capsys.readouterr().out
    assert main(["scan", dest, "statements", "--rows", "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["compact", dest]) == 0
    assert main(["verify", dest]) == 0
    assert capsys.readouterr().out.endswith("no fault\n")
    next((tmp_path / "dataset" / "strace" / "events").iterdir()).unlink()
    assert main(["verify", dest, "--quick"]) == 1
    assert "is missing" in capsys.readouterr().err
    assert main(["scan", dest, "events"]) == 1
    assert "--repair" in capsys.readouterr().err
    assert main(["verify", dest, "--repair"]) == 0
    assert "4 sources lost rows" in capsys.readouterr().out
    assert main([*words, "--resume"]) == 0
    assert "4 converted" in capsys.readouterr().out
    assert main(["verify", dest]) == 0


def test_removing_sources(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log, then a folder: no row, record or remark is left; a name that no source has removes nothing."""
    dest = str(tmp_path / "dataset")
    main(["convert", str(logs), "-o", dest, "--executor", "serial"])
    log = str(logs / "host0" / "ora_0000.strace")
    capsys.readouterr()

    assert main(["remove", dest, log, "nothing"]) == 1
    assert "no source 'nothing'" in capsys.readouterr().err
    assert main(["remove", dest, log]) == 0
    assert capsys.readouterr().out == f"removed {log}\n"
    assert main(["remove", dest, str(logs)]) == 0
    assert main(["verify", dest]) == 0
    assert list((tmp_path / "dataset").glob("*/**/*.parquet")) == list((tmp_path / "dataset").glob("_schemas/*"))
    for shown in (["status"], ["status", "--sources"], ["status", "--diagnostics"]):
        assert main([shown[0], dest, *shown[1:]]) == 0
    assert main(["scan", dest, "_sources"]) == 0
    assert main(["scan", dest, "_diagnostics"]) == 0


def test_commands_on_a_dataset_without_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables without rows are shown as such."""
    write_logs(tmp_path / "logs", 2)
    dest = str(tmp_path / "dataset")
    main(["convert", str(tmp_path / "logs"), "-o", dest, "--executor", "serial"])
    capsys.readouterr()

    for words in (["status", dest, "--sources"], ["status", dest, "--diagnostics"], ["scan", dest, "_diagnostics"]):
        assert main(words) == 0
        assert main([*words, "--json"]) == 0
        assert capsys.readouterr().out.endswith("[]\n")


def test_processes_read_the_logs(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With processes the result is the same; tables are selected by name."""
    words = ["convert", str(logs), "-o", str(tmp_path / "dataset"), "--executor", "processes:2", "--tables", "events"]

    assert main([*words, "--since", "52w", "--seconds", "60"]) == 0
    assert "4 converted, 1 unreadable" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "dataset")]) == 0
    assert main(["scan", str(tmp_path / "dataset"), "statements"]) == 1
    assert "it has strace/events" in capsys.readouterr().err


def test_interruption(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C keeps what is committed, says so, and exits with 130."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)
    words = ["convert", str(logs), "-o", str(tmp_path / "dataset"), "--executor", "serial"]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ProgressLine, "__call__", stop)
        assert main(words) == 130
    assert "--resume goes on" in capsys.readouterr().err
    assert main([*words, "--resume"]) == 0
    assert "1 skipped" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "dataset")]) == 0


def test_a_place_that_cannot_be_written(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the place of the folder is one line on the standard error."""
    (tmp_path / "file").write_text("text", encoding="utf-8")

    assert main(["convert", str(logs), "-o", str(tmp_path / "file"), "--executor", "serial"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_progress_without_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A line with the rate and the time that is left."""
    monkeypatch.setattr("iolab.dataset.commands._EVERY", 0.0)
    with ProgressLine() as line:
        line(Progress(50_000_000, 100_000_000, {"converted": 1234}, 1))

    said = capsys.readouterr().err
    assert said.startswith("50 of 100 MB, ")
    assert said.endswith(" s left: 1,234 converted\n")


def test_since_is_a_date_or_an_age() -> None:
    """Anything else is an error that says what is."""
    with pytest.raises(LogError, match="not 'yesterday'"):
        since_of("yesterday")
