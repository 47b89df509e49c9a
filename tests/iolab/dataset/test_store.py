"""Keys of a dataset appear whole, also on a file system without links, and whatever ends a run in the middle."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dataset_logs import assert_undisturbed, content, run, trace, write_logs
from polars.testing import assert_frame_equal

from iolab import dataset
from iolab.dataset import store
from iolab.dataset.store import LocalStore, Lock
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Logs in the folder of a test.
LOGS = 4


def _no_link(*_: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_a_dataset_is_made_again(logs: Path, tmp_path: Path) -> None:
    """One that was removed is made anew by the same process, with all that it consists of."""
    run(logs, tmp_path / "dataset")
    expected = content(tmp_path / "dataset")
    shutil.rmtree(tmp_path / "dataset")
    run(logs, tmp_path / "dataset")

    for table, rows in content(tmp_path / "dataset").items():
        assert_frame_equal(expected.pop(table), rows)
    assert not expected
    assert dataset.verify(tmp_path / "dataset") == []


def test_two_runs_that_do_not_see_each_other(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lock fails, the commit log stops one of them; what both have committed stays, and no file is left."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)

    @contextmanager
    def lock(_: LocalStore, __: str) -> Iterator[Lock]:
        yield Lock(was_interrupted=False, interrupted=(), check=lambda: None)

    def other(_: dataset.Progress) -> None:
        run(logs / "host0", tmp_path / "dataset", resume=True)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "lock", lock)
        with pytest.raises(LogError, match="another run has written to"):
            run(logs, tmp_path / "dataset", progress=other)
    (tmp_path / "dataset" / "_lock").write_text("{}", encoding="utf-8")
    assert 0 < dataset.sources(tmp_path / "dataset").height < LOGS
    run(logs, tmp_path / "dataset", resume=True)

    assert_undisturbed(tmp_path / "dataset", logs, tmp_path)


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two writers of a key one gets it, and its content is whole."""
    monkeypatch.setattr(os, "link", _no_link)
    place = LocalStore(str(tmp_path))

    assert place.put_new("a/key", b"first")
    assert not place.put_new("a/key", b"second")
    assert place.read("a/key") == b"first"
    assert list((tmp_path / "_staging").iterdir()) == []


@pytest.mark.parametrize("ended", ["_schemas", "_commits"])
def test_a_run_that_ends_between_a_name_and_its_content(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    """On a file system without links the empty file that is left stands for nothing, and the next run goes on."""
    run(logs, tmp_path / "undisturbed")
    monkeypatch.setattr(os, "link", _no_link)
    real = store.publish

    def publish(part: Path, target: Path) -> None:
        if target.parent.name == ended:
            raise KeyboardInterrupt
        real(part, target)

    with monkeypatch.context() as patch:
        patch.setattr(store, "publish", publish)
        with pytest.raises(KeyboardInterrupt):
            run(logs, tmp_path / "dataset")
    empty = [path for path in (tmp_path / "dataset" / ended).iterdir() if not path.stat().st_size]
    assert len(empty) == 1
    assert dataset.sources(tmp_path / "dataset").is_empty()

    run(logs, tmp_path / "dataset", resume=True)
    assert dataset.verify(tmp_path / "dataset") == []
    expected, found = content(tmp_path / "undisturbed"), content(tmp_path / "dataset")
    assert expected.keys() == found.keys()
    for table, rows in expected.items():
        assert_frame_equal(rows, found[table])


def test_a_log_of_many_commits(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints hold them: a scan reads few objects, a source may still change, and compaction leaves one."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)
    monkeypatch.setattr("iolab.dataset.commits.FOLD", 3)
    write_logs(logs, 36)
    dest = tmp_path / "dataset"
    run(logs, dest)
    for seed in range(4):
        (logs / "host0" / "ora_0000.strace").write_bytes(trace(50 + seed))
        run(logs, dest, resume=True)

    assert sorted(path.name for path in (dest / "_commits").iterdir()) == [
        "0000000001-0000000027.json",
        "0000000028-0000000036.json",
        "0000000037-0000000039.json",
        "0000000040.json",
    ]
    assert_undisturbed(dest, logs, tmp_path)
    dataset.compact(dest)
    assert [path.name for path in (dest / "_commits").iterdir()] == ["0000000001-0000000041.json"]
    assert dataset.verify(dest) == []
    assert run(logs, dest, resume=True).skipped == 36


@pytest.mark.parametrize("lost", ["_sources/*", "_diagnostics/*", "strace/*/*", "_commits/*", "_schemas/*"])
def test_files_that_are_missing(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    """Each of a kind in turn: the commands say so, `repair` and the next run make the dataset whole again."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    dest = tmp_path / "dataset"
    run(logs, dest)
    for damage in (Path.unlink, lambda path: path.write_bytes(b"damaged")):
        victim = min(dest.glob(lost))
        damage(victim)
        if lost == "_commits/*":
            with pytest.raises(LogError, match=r"lacks commit 1: .*--repair|is damaged"):
                run(logs, dest, resume=True)
            victim.unlink(missing_ok=True)
        elif lost != "_schemas/*":
            assert [line for line in dataset.verify(dest) if victim.name in line]
        dataset.repair(dest)
        assert dataset.verify(dest) == []
        run(logs, dest, resume=True)
        run(logs, tmp_path / "fresh", resume=True)
        for table, rows in content(dest).items():
            assert_frame_equal(rows, content(tmp_path / "fresh")[table])


def test_rows_of_a_log_that_is_gone_stay(logs: Path, tmp_path: Path) -> None:
    """Where one file of its batch is missing, its other rows stay until it is given to a run."""
    dest = tmp_path / "dataset"
    run(logs, dest)
    rows = dataset.scan(dest, "statements").collect()
    next((dest / "strace" / "events").iterdir()).unlink()
    (logs / "host0" / "ora_0000.strace").unlink()
    run(logs, dest, resume=True)

    assert sorted(dataset.status(dest).sources.items()) == [("converted", 3), ("lost", 1)]
    assert_frame_equal(dataset.scan(dest, "statements").collect(), rows)
    assert dataset.verify(dest) == []


def test_a_dataset_of_the_first_version(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log has gaps, for it removed commits that were replaced; the next run writes one without."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 1)
    dest = tmp_path / "dataset"
    run(logs, dest)
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(50))
    run(logs, dest, resume=True)
    (dest / "_dataset.json").write_text('{"version": 1, "tables": null}', encoding="utf-8")
    (dest / "_commits" / "0000000001.json").unlink()
    (dest / "_lock").write_text('{"host": "db1", "process": 17}', encoding="utf-8")
    before = content(dest)
    assert run(logs, dest, resume=True).skipped == LOGS

    assert [path.name for path in (dest / "_commits").iterdir()] == ["0000000001-0000000006.json"]
    for table, rows in content(dest).items():
        assert_frame_equal(rows, before[table])
    assert_undisturbed(dest, logs, tmp_path)
