"""What cannot be read or written: each is a row of the sources or an error that says why, and stops nothing else."""

from __future__ import annotations

import gzip
import os
import sqlite3
import time
from typing import TYPE_CHECKING
from unittest.mock import Mock

import polars as pl
import pytest
from dataset_logs import PNG, run, statuses, trace

import iolab
from iolab import dataset
from iolab.dataset import worker
from iolab.dataset.contents import GRACE
from iolab.dataset.layout import RUN
from iolab.dataset.objects import open_store
from iolab.dataset.writer import BatchWriter
from logframe.errors import LogError, LogNotFoundError

if TYPE_CHECKING:
    from pathlib import Path

    from iolab.dataset.writer import LogRows


def test_what_is_no_log(logs: Path, tmp_path: Path) -> None:
    """A picture, a damaged archive, an empty file, a file of bytes and prose are one row each; the others convert."""
    bad = {
        "picture.png": PNG,
        "bad.zip": b"PK\x03\x04 no archive",
        "cut.gz": gzip.compress(trace(1))[:9],
        "empty.log": b"",
        "empty_too.log": b"",
        "bytes.bin": bytes(range(256)) * 10,
        "prose.txt": b"Dear all,\nplease find the logs attached.\n",
    }
    for name, data in bad.items():
        (logs / name).write_bytes(data)
    done = run(logs, tmp_path / "dataset")
    found = statuses(tmp_path / "dataset")

    assert done.counts == {"converted": 12, "unreadable": len(bad)}
    assert {name: found[name] for name in bad} == dict.fromkeys(bad, "unreadable")
    assert dataset.sources(tmp_path / "dataset").filter(pl.col("status") == "unreadable")["message"].null_count() == 0
    assert dataset.diagnostics(tmp_path / "dataset").filter(pl.col("kind") == "unreadable").height == len(bad)
    assert run(logs, tmp_path / "dataset", resume=True, retry=True).counts == {"unreadable": len(bad)}
    assert dataset.verify(tmp_path / "dataset") == []


def test_a_log_that_changes_while_it_is_read(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no rows, and the next run converts it."""
    log = logs / "host0" / "ora_0000.strace"
    real = worker.rows_of

    def rows_of(
        found: iolab.loading.ParsedLog, source: str, part: int, tables: frozenset[str] | None, *, is_large: bool
    ) -> LogRows:
        if source == str(log) and log.read_bytes() == trace(0):
            log.write_bytes(trace(66, lines=30))
        return real(found, source, part, tables, is_large=is_large)

    monkeypatch.setattr(worker, "rows_of", rows_of)
    first = run(logs, tmp_path / "dataset")
    again = run(logs, tmp_path / "dataset", resume=True)

    assert first.counts == {"converted": 11, "changed": 1}
    assert again.counts == {"converted": 1}
    assert dataset.verify(tmp_path / "dataset") == []


def test_a_reader_with_a_fault(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is no error of a log costs that log alone, and its record says so."""
    real = worker.rows_of

    def rows_of(
        found: iolab.loading.ParsedLog, source: str, part: int, tables: frozenset[str] | None, *, is_large: bool
    ) -> LogRows:
        if source.endswith("0000.strace"):
            raise ZeroDivisionError("of the reader")
        return real(found, source, part, tables, is_large=is_large)

    monkeypatch.setattr(worker, "rows_of", rows_of)
    done = run(logs, tmp_path / "dataset")
    message = dataset.sources(tmp_path / "dataset").filter(pl.col("status") == "failed").item(0, "message")

    assert done.counts == {"converted": 11, "failed": 1}
    assert message == "ZeroDivisionError: of the reader"


def test_a_full_disk(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends with an error that says so, whatever it was writing; no source is at fault, and the next goes on."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 3)
    real = BatchWriter._new_file  # noqa: SLF001 - the file that cannot be written

    def new_file(writer: BatchWriter) -> Path:
        file = real(writer)
        if (tmp_path / "dataset" / "strace").exists():
            file.symlink_to("/dev/full")
        return file

    for large in (32 << 20, 10):  # tables that are held, and those that are written at once
        monkeypatch.setattr(worker, "LARGE", large)
        with monkeypatch.context() as patch:
            patch.setattr(BatchWriter, "_new_file", new_file)
            with pytest.raises(OSError, match="No space left on device"):
                run(logs, tmp_path / "dataset", resume=large == 10)
        assert set(statuses(tmp_path / "dataset").values()) == {"converted"}
        assert len(statuses(tmp_path / "dataset")) == 3
    assert run(logs, tmp_path / "dataset", resume=True).counts == {"converted": 9}
    assert dataset.verify(tmp_path / "dataset") == []


def test_no_room_for_the_plan(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary folder that is full is an error that names it."""
    full = sqlite3.OperationalError("database or disk is full")
    monkeypatch.setattr("iolab.dataset.planning.Plan.add_files", Mock(side_effect=full))

    with pytest.raises(OSError, match=r"the plan cannot be written: database or disk is full: '.*iolab-plan-"):
        run(logs, tmp_path / "dataset")


def test_refused_places(logs: Path, tmp_path: Path) -> None:
    """A dataset without ``resume``, another folder, a newer version, other tables, a second writer: each says why."""
    dest = tmp_path / "dataset"
    run(logs, dest)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("text", encoding="utf-8")

    with pytest.raises(LogError, match="continue it with --resume"):
        run(logs, dest)
    with pytest.raises(LogError, match="is no dataset, and not empty"):
        run(logs, tmp_path / "other", resume=True)
    with pytest.raises(LogError, match="made with all tables"):
        run(logs, dest, resume=True, tables=["events"])
    with open_store(dest).lock("0" * RUN), pytest.raises(LogError, match="is being written by process"):
        run(logs, dest, resume=True)
    with pytest.raises(LogNotFoundError):
        run(tmp_path / "nowhere", tmp_path / "none")
    with pytest.raises(LogError, match="no executor 'threads'"):
        dataset.convert(logs, tmp_path / "none", executor="threads", resume=True)
    with pytest.raises(LogError, match="is no dataset"):
        dataset.scan(tmp_path / "other", "events")
    with pytest.raises(LogError, match="no table 'nothing'; it has sqlplus/"):
        dataset.scan(dest, "nothing")
    (dest / "_dataset.json").write_text('{"version": 99, "tables": null}', encoding="utf-8")
    with pytest.raises(LogError, match="version 99"):
        run(logs, dest, resume=True)


def test_verify_finds_what_is_wrong(logs: Path, tmp_path: Path) -> None:
    """A file that is missing, and one that was never committed, once no run can be about to commit it."""
    dest = tmp_path / "dataset"
    run(logs, dest)
    events = next((dest / "strace" / "events").iterdir())
    other = events.rename(events.with_name(f"{'0' * 24}.parquet"))
    missing = f"strace/events/{events.name} is missing"

    assert dataset.verify(dest, contents=False) == [missing]
    os.utime(other, (time.time() - GRACE - 60,) * 2)
    assert dataset.verify(dest, contents=False) == [missing, f"strace/events/{other.name} belongs to no batch"]
    assert any("and its record says" in line for line in dataset.verify(dest))
