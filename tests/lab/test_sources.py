"""Which logs the words of a command name."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from iolab.cli import main
from iolab.loading import load
from iolab.sources import find_logs

SAMPLES = Path(__file__).parents[2] / "sample_data"
TRACE = "12:00:00.000001 pread64(3, ''..., 8192, 0) = 8192 <0.000004>\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of one strace run, a session, a hidden file and a folder."""
    for pid in (4711, 4712):
        (tmp_path / f"trace.{pid}").write_text(TRACE, encoding="utf-8")
    (tmp_path / "a.txt").write_text("SQL> select 1 from dual;\n\nElapsed: 00:00:00.01\n", encoding="utf-8")
    (tmp_path / ".hidden").write_text("no log\n", encoding="utf-8")
    (tmp_path / "below").mkdir()
    return tmp_path


def test_a_folder_stands_for_its_files(folder: Path) -> None:
    """Each file is a log, but the files of one run of strace are one; hidden files are none."""
    found = find_logs(folder)

    assert [log.name for log in found] == ["a.txt", "trace.* (2 files)"]
    assert found[1].source == [folder / "trace.4711", folder / "trace.4712"]


@pytest.mark.parametrize("place", ["trace.*", "*.4711"])
def test_a_pattern_stands_for_its_files(folder: Path, place: str) -> None:
    """A pattern that no shell has expanded is expanded here."""
    files = [path for path in sorted(folder.glob(place)) if path.is_file()]
    (found,) = find_logs(str(folder / place))

    assert found.source == (files if len(files) > 1 else files[0])


def test_numbered_files_that_are_no_traces_stay_apart(tmp_path: Path) -> None:
    """A number behind the name makes no strace run of two reports."""
    for number in (1, 2):
        shutil.copy(SAMPLES / "articles/003_filesystemio_none.txt", tmp_path / f"awr.{number}")

    assert [log.name for log in find_logs(tmp_path)] == ["awr.1", "awr.2"]


def test_members_of_an_archive_are_logs(tmp_path: Path) -> None:
    """Two traces in a zip archive are two logs, each with its own clock."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("async_direct_r", "sequential_direct_r"):
        shutil.copy(SAMPLES / f"captures/{name}.strace", inside)
    archive = shutil.make_archive(str(tmp_path / "logs"), "zip", inside)

    found = find_logs(archive)

    assert [log.name for log in found] == ["logs.zip/async_direct_r.strace", "logs.zip/sequential_direct_r.strace"]
    assert [load(log.source).frames()["events"].lazy().collect().height for log in found] == [
        (inside / log.name.rpartition("/")[2]).read_text(encoding="utf-8").count("\n") for log in found
    ]


def test_what_is_not_there_stays(tmp_path: Path) -> None:
    """Who reads it says that it is not there."""
    assert [log.place for log in find_logs([tmp_path / "none.txt"])] == [str(tmp_path / "none.txt")]


def test_logs_of_one_name_are_told_apart(folder: Path) -> None:
    """By their folder, or by their place in the list."""
    other = folder / "below" / "a.txt"
    shutil.copy(folder / "a.txt", other)

    assert [log.name for log in find_logs([folder / "a.txt", other])] == [f"{folder.name}/a.txt", "below/a.txt"]
    assert [log.name for log in find_logs([other, other])] == ["below/a.txt (1)", "below/a.txt (2)"]


@pytest.mark.parametrize("command", ["show", "compare", "report", "convert"])
def test_standard_input_is_a_log(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` reads what a pipe brings, compressed or not."""
    log = SAMPLES / "captures/async_direct_tt_T.strace"

    class Standard:
        buffer = io.BytesIO(log.read_bytes())

    monkeypatch.setattr("sys.stdin", Standard)
    more = {
        "compare": [str(log)],
        "report": ["-o", str(tmp_path / "page.html")],
        "convert": ["-o", str(tmp_path), "--format", "parquet"],
    }

    assert main([command, "-", *more.get(command, [])]) == 0
    captured = capsys.readouterr()
    if command in {"show", "compare"}:
        assert "<stdin>" in captured.out
    assert "strace log" in (tmp_path / "page.html").read_text(encoding="utf-8") if command == "report" else captured.out


def test_show_goes_on_after_a_log_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One bad path does not hide the other logs; the exit code tells."""
    assert main(["show", str(folder / "none.txt"), str(folder / "a.txt")]) == 1

    captured = capsys.readouterr()
    assert "none.txt: no such file" in captured.err
    assert "SQL*Plus session, 1 statement" in captured.out


def test_compare_takes_two_logs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder of several logs is no log to compare."""
    assert main(["compare", str(folder), str(folder / "a.txt")]) == 1
    assert "compare takes exactly 2 logs, got 3" in capsys.readouterr().err


def test_a_page_does_not_overwrite_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log named as the page, too, is kept."""
    before = (folder / "a.txt").read_bytes()

    assert main(["report", str(folder / "a.txt"), "-o", str(folder / "a.txt")]) == 1
    assert "is one of the inputs" in capsys.readouterr().err
    assert (folder / "a.txt").read_bytes() == before


def test_folders_on_the_way_to_a_page_are_made(folder: Path) -> None:
    """As those of converted frames are."""
    page = folder / "new" / "deep" / "page.html"

    assert main(["report", str(folder / "a.txt"), "-o", str(page)]) == 0
    assert page.is_file()


def test_several_logs_are_converted_each_to_its_folder(folder: Path) -> None:
    """Frames of one name do not overwrite each other."""
    assert main(["convert", str(folder), "-o", str(folder / "out"), "--format", "csv"]) == 0

    made = sorted(path.parent.name for path in (folder / "out").rglob("diagnostics.csv"))
    assert made == ["a.txt", "trace"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["convert", "a.txt", "-o", "a.txt"], "a.txt is a file: name a folder"),
        (["report", "a.txt", "-o", "."], "folder"),
    ],
)
def test_a_file_or_folder_in_the_way(
    arguments: list[str], said: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message is not the operating system's number."""
    monkeypatch.chdir(folder)

    assert main(arguments) == 1
    assert said in capsys.readouterr().err
