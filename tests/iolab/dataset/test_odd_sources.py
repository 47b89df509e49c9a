"""Names, links and places that are unusual: each file is converted or is a row that says why it is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from dataset_logs import run, statuses, trace

from iolab import dataset
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = (
    *("a[1]*?.log", "new\nline.log", "-dash.log", "sp ace.log", "%41.log", "\u00fcn\u00ef.log", "tab\t.log", "*"),
    *("back\\slash.log", "@list.log", "s3:x.log", "q'uote\".log", "a#b;c.log", "l" * 250, "~home.log", "\x7f.log"),
    *("\udce9\udcff.log", "\u2603.log", "x.1", "feed\x0c.log", "line\u2028.log"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for logs."""
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.mark.parametrize("place", ["plain", "d [x]*?%41 \u00fc", "q'\"\n"])
def test_names(folder: Path, tmp_path: Path, place: str) -> None:
    """Every log is converted, whatever it and the dataset are called, and known by the next run."""
    for seed, name in enumerate(NAMES):
        (folder / name).write_bytes(trace(seed))
    done = run(folder, tmp_path / place)

    assert done.counts == {"converted": len(NAMES)}
    assert dataset.sources(tmp_path / place).height == len(NAMES)
    assert dataset.scan(tmp_path / place, "events").collect().height == 20 * len(NAMES)
    assert dataset.verify(tmp_path / place) == []
    assert run(folder, tmp_path / place, resume=True).skipped == len(NAMES)


def test_files_of_one_log_whose_name_is_not_utf8(folder: Path, tmp_path: Path) -> None:
    """They are one source; when one is added, the whole is converted again."""
    for pid in (10, 11):
        (folder / f"f\udce9.{pid}").write_bytes(b"1795253115.%d close(3) = 0\n" % (pid * 1000))
    assert run(folder, tmp_path / "dataset").counts == {"converted": 1}
    (folder / "f\udce9.12").write_bytes(b"1795253115.120000 close(3) = 0\n")
    assert run(folder, tmp_path / "dataset", resume=True).counts == {"converted": 1}
    assert statuses(tmp_path / "dataset") == {"f\\xe9.*": "converted"}
    assert dataset.scan(tmp_path / "dataset", "events").collect().height == 3


def test_links(folder: Path, tmp_path: Path) -> None:
    """A link to a file is that file; those to nothing, to themselves and to folders are rows; pipes are left out."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "z.log").write_bytes(trace(2))
    (folder / "a.log").write_bytes(trace(1))
    for name, target in {
        "again.log": folder / "a.log",
        "nothing.log": folder / "gone",
        "itself.log": folder / "itself.log",
        "elsewhere": tmp_path / "other",
        "above": folder,
    }.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    (folder / "to_pipe").symlink_to(folder / "pipe")
    done = run(folder, tmp_path / "dataset")
    rows = dataset.sources(tmp_path / "dataset").filter(pl.col("status") == "unreadable")
    messages = {Path(source).name: message for source, message in rows.select("source", "message").iter_rows()}

    assert done.counts == {"converted": 1, "duplicate": 1, "unreadable": 4}
    assert messages.keys() == {"nothing.log", "itself.log", "elsewhere", "above"}
    assert messages["above"].endswith("a link to a folder, which is not followed: name the folder")
    assert run(folder, tmp_path / "dataset", resume=True).skipped == 6
    assert run(folder / "elsewhere", tmp_path / "dataset", resume=True).counts == {"converted": 1}


def test_what_cannot_be_listed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be read is a row; one that is gone, and a file that is gone, are none."""
    (folder / "closed").mkdir()
    (folder / "a.log").write_bytes(trace(1))
    (folder / "gone.log").write_bytes(trace(2))
    (folder / "removed").mkdir()
    real = os.scandir

    def scandir(path: str | int) -> object:
        if path == str(folder / "removed"):
            os.rmdir(path)  # noqa: PTH106 - a folder that was listed before
        elif path == str(folder / "closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        patch.setattr("iolab.dataset.listing._status", _without(folder / "gone.log"))
        done = run(folder, tmp_path / "dataset")
    assert done.counts == {"converted": 1, "unreadable": 1}
    assert statuses(tmp_path / "dataset") == {"a.log": "converted", "closed": "unreadable"}
    assert "Permission denied" in dataset.diagnostics(tmp_path / "dataset").item(0, "reason")


def _without(gone: Path) -> Callable[[os.DirEntry[str] | str], os.stat_result | None]:
    from iolab.dataset.listing import _status  # noqa: PLC0415 - before it is replaced

    def status(entry: os.DirEntry[str] | str) -> os.stat_result | None:
        if not isinstance(entry, str) and entry.path == str(gone):
            gone.unlink()
        return _status(entry)

    return status


def test_a_pattern_that_matches_folders(folder: Path, tmp_path: Path) -> None:
    """All below them is converted, as where the shell expands the pattern."""
    for number in range(3):
        (folder / f"host{number}" / "deep").mkdir(parents=True)
        (folder / f"host{number}" / "deep" / "a.log").write_bytes(trace(number))
    assert run([Path(f"{folder}/host[01]")], tmp_path / "dataset").counts == {"converted": 2}
    assert run([Path(f"{folder}/**")], tmp_path / "dataset", resume=True).counts == {"converted": 1}


def test_sources_that_are_refused(folder: Path, tmp_path: Path) -> None:
    """A pipe, a list that names itself, and a dataset whose path is not UTF-8: each an error that says why."""
    os.mkfifo(folder / "pipe")
    (tmp_path / "one.txt").write_text(f"@{tmp_path}/two.txt\n", encoding="utf-8")
    (tmp_path / "two.txt").write_text(f"@{tmp_path}/one.txt\n", encoding="utf-8")
    with pytest.raises(LogError, match="each source is read twice: write it to a file"):
        run(folder / "pipe", tmp_path / "dataset")
    with pytest.raises(LogError, match="names itself"):
        run([Path(f"@{tmp_path}/one.txt")], tmp_path / "none")
    with pytest.raises(LogError, match=r"\\xe9 is not UTF-8"):
        run(folder, tmp_path / "\udce9")


def test_a_list_with_odd_names(folder: Path, tmp_path: Path) -> None:
    """A line of a list ends with a line feed, and with nothing else."""
    for seed, name in enumerate(("feed\x0c.log", "line\u2028.log")):
        (folder / name).write_bytes(trace(seed))
    (tmp_path / "list.txt").write_bytes(f"{folder}/feed\x0c.log\r\n# none\n\n{folder}/line\u2028.log".encode())

    assert run([Path(f"@{tmp_path}/list.txt")], tmp_path / "dataset").counts == {"converted": 2}
