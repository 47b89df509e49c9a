"""`iolab lab`: a copy of the notebooks in which nothing that the user changed is lost, and JupyterLab on it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from iolab.cli import main
from iolab.lab import FIRST, RECORD, copies, copy_lab, find_lab_files, lab_command

ROOT = Path(__file__).parents[2]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two notebooks and a log, with what must not be copied beside them."""
    folder = tmp_path / "source"
    files = {
        FIRST: "first",
        "notebooks/01.ipynb": "one",
        "sample_data/logs/a.txt": "log",
        "notebooks/.ipynb_checkpoints/01.ipynb": "old",
        "notebooks/kernel-ipc-1": "socket",
        "sample_data/make/__pycache__/a.pyc": "compiled",
        "elsewhere/b.txt": "no part",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_copy_has_all_and_no_more(source: Path, tmp_path: Path) -> None:
    """Notebooks and sample data come along, checkpoints and compiled files do not; a second time nothing is written."""
    expected = (FIRST, "notebooks/01.ipynb", "sample_data/logs/a.txt")

    first = copy_lab(tmp_path / "copy", source=source)
    second = copy_lab(tmp_path / "copy", source=source)

    there = {
        path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*") if path.is_file()
    }
    assert there == {*expected, RECORD}
    assert sorted(first.written) == sorted(expected)
    assert (second.written, second.kept, sorted(second.unchanged)) == ((), (), sorted(expected))


def test_the_notebooks_themselves_are_not_copied(source: Path) -> None:
    """Started on the folder that holds them (`make lab`), nothing is written there."""
    before = sorted(source.rglob("*"))

    found = copy_lab(source, source=source)

    assert (found.written, found.kept, len(found.unchanged)) == ((), (), 3)
    assert sorted(source.rglob("*")) == before


def test_what_the_user_changed_stays_and_is_named(source: Path, tmp_path: Path) -> None:
    """A later version replaces what was left alone, keeps what was changed, and brings back what was deleted."""
    copy = tmp_path / "copy"
    copy_lab(copy, source=source)
    (copy / FIRST).write_text("mine", encoding="utf-8")
    (copy / "sample_data/logs/a.txt").unlink()
    for name in (FIRST, "notebooks/01.ipynb"):
        (source / name).write_text("later version", encoding="utf-8")

    done = copy_lab(copy, source=source)

    assert done.kept == (FIRST,)
    assert done.written == ("notebooks/01.ipynb", "sample_data/logs/a.txt")
    assert (copy / FIRST).read_text(encoding="utf-8") == "mine"
    assert (copy / "notebooks/01.ipynb").read_text(encoding="utf-8") == "later version"
    assert f"kept as you changed them, 1 files: {FIRST}" in str(done)
    assert copy_lab(copy, source=source).kept == (FIRST,)


@pytest.mark.parametrize("record", [None, "no JSON", "[]"])
def test_without_a_record_everything_different_is_kept(source: Path, tmp_path: Path, record: str | None) -> None:
    """A folder that has files of these names already, or a damaged record: nothing is overwritten."""
    copy = tmp_path / "copy"
    (copy / "notebooks").mkdir(parents=True)
    (copy / FIRST).write_text("another's", encoding="utf-8")
    if record is not None:
        (copy / RECORD).write_text(record, encoding="utf-8")

    assert copy_lab(copy, source=source).kept == (FIRST,)
    assert (copy / FIRST).read_text(encoding="utf-8") == "another's"
    assert FIRST not in json.loads((copy / RECORD).read_text(encoding="utf-8"))


def test_the_files_are_found() -> None:
    """In a checkout they lie beside the package; the wheel has them within it."""
    found = find_lab_files()

    assert found in {ROOT, ROOT / "iolab" / "lab_files"}
    assert (found / FIRST).is_file()
    assert (found / "sample_data" / "README.md").is_file()


def test_missing_files_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package without them says what to do."""
    monkeypatch.setattr(copies, "__file__", str(tmp_path / "iolab" / "lab" / "copies.py"))

    with pytest.raises(FileNotFoundError, match="the notebooks are not installed"):
        find_lab_files()


def test_the_command_line_becomes_jupyterlab(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`iolab lab DIR --no-browser --port N` copies, says so beside the result, and hands over."""
    started: list[list[str]] = []
    monkeypatch.setattr(copies, "find_lab_files", lambda: source)
    monkeypatch.setattr(copies.os, "execv", lambda _, command: started.append(command))

    main(["lab", str(tmp_path / "copy"), "--no-browser", "--port", "9000"])

    assert "3 files written" in capsys.readouterr().err
    assert started == [lab_command(tmp_path / "copy", browser=False, port=9000)]
    assert {"--no-browser", "--port=9000", f"--ServerApp.root_dir={tmp_path / 'copy'}"} <= set(started[0])
    assert "--no-browser" not in lab_command(tmp_path)
    assert "--ServerApp.ip=127.0.0.1" in lab_command(tmp_path)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "²"])
def test_a_wrong_port_is_2(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line is wrong, and says how."""
    with pytest.raises(SystemExit) as raised:
        main(["lab", "--port", port])
    assert raised.value.code == 2
    assert "port" in capsys.readouterr().err


def test_a_file_in_the_way_is_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is a file gives one line and exit code 1."""
    (tmp_path / "copy").write_text("a file", encoding="utf-8")

    assert main(["lab", str(tmp_path / "copy")]) == 1
    assert capsys.readouterr().err.startswith("iolab: ")


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` shows how it is used."""
    assert main(["lab", "--help"]) == 0
    assert "iolab lab --no-browser" in capsys.readouterr().out


def test_jupyterlab_starts_on_the_copy(tmp_path: Path) -> None:
    """A real start: the server answers on the port, serves the copied notebook, and ends with 0 when it is asked to."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "iolab", "lab", tmp_path / "copy", "--no-browser", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **own, "JUPYTER_TOKEN": "t0k"}, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        try:
            name = None
            url = f"http://127.0.0.1:{port}/api/contents/{FIRST}?content=0&token=t0k"
            for _ in range(120):
                with suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
                    name = json.load(answer)["name"]
                    break
                time.sleep(0.5)
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(timeout=60)

    assert name == Path(FIRST).name, (tmp_path / "log").read_text(encoding="utf-8")[-2000:]
    assert code == 0
    assert (tmp_path / "copy" / "sample_data" / "README.md").is_file()


def test_jupyterlab_asks_nothing_about_news() -> None:
    """The settings that it starts with say that no news are wanted: else a question covers a corner of the notebook."""
    (option,) = [one for one in lab_command(Path("copy")) if one.startswith("--LabApp.app_settings_dir=")]
    settings = json.loads((Path(option.partition("=")[2]) / "overrides.json").read_text(encoding="utf-8"))

    assert settings["@jupyterlab/apputils-extension:notification"] == {"checkForUpdates": False, "fetchNews": "false"}
