"""A dataset holds each log once, whatever runs made it."""

from __future__ import annotations

import gzip
import os
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from dataset_logs import PNG, content, run, session, statuses, trace
from polars.testing import assert_frame_equal

import iolab
from iolab import dataset
from iolab.dataset import worker
from logframe.parquet import physical

if TYPE_CHECKING:
    from iolab.dataset.writer import LogRows


def test_rows_are_those_of_the_readers(sample_data: Path, tmp_path: Path) -> None:
    """Each table of each log is in the dataset, row for row, with its columns in types that others read."""
    paths = [
        *sorted((sample_data / "awr_series").glob("*"))[:2],
        sample_data / "captures" / "async_direct_r.strace",
        *sorted((sample_data / "host").iterdir())[:1],
        *(path for path in sorted((sample_data / "sqltrace").iterdir()) if path.suffix == ".trc"),
    ]
    done = run(paths, tmp_path / "dataset")

    assert done.counts == {"converted": len(paths)}
    assert dataset.verify(tmp_path / "dataset") == []
    for path in paths:
        for log in iolab.load_all(path):
            for name, frame in log.frames().items():
                expected = frame.lazy().collect()
                expected = expected.select(physical(expected.schema))
                rows = dataset.scan(tmp_path / "dataset", f"{log.format}/{name}").filter(pl.col("source") == str(path))
                found = rows.collect().select(pl.all().exclude("source", "part").name.map(str))
                own = [
                    f"table_{column}" if f"table_{column}" in found.columns else column for column in expected.columns
                ]

                assert_frame_equal(expected, found.select(own).rename(dict(zip(own, expected.columns, strict=True))))


def test_reports_name_their_period(sample_data: Path, tmp_path: Path) -> None:
    """Each row of a report's table has its database, instance and period; the rows of a file are sorted by them."""
    reports = sorted((sample_data / "awr_series").glob("*"))[:3]
    run(list(reversed(reports)), tmp_path / "dataset", tables=["foreground_events"])
    found = dataset.scan(tmp_path / "dataset", "foreground_events").collect()

    assert dataset.status(tmp_path / "dataset").tables["table"].to_list()[2:] == ["awr/foreground_events"]
    assert found["begin_time"].is_sorted()
    assert found["begin_time"].n_unique() == len(reports)
    assert found.columns[:4] == ["source", "part", "db_name", "db_id"]


def test_several_reports_of_one_file(sample_data: Path, tmp_path: Path) -> None:
    """A file of two reports has the rows of both, with their numbers."""
    reports = sorted((sample_data / "awr_series").glob("*"))[:2]
    both = tmp_path / "both.txt"
    both.write_bytes(b"\n".join(path.read_bytes() for path in reports))
    run(both, tmp_path / "dataset", tables=["awr/info"])

    assert dataset.scan(tmp_path / "dataset", "info").collect()["part"].to_list() == [1, 2]
    assert dataset.sources(tmp_path / "dataset").item(0, "parts") == 2


def test_a_second_run_does_nothing(logs: Path, tmp_path: Path) -> None:
    """What is known is skipped."""
    first = run(logs, tmp_path / "dataset")
    again = run(logs, tmp_path / "dataset", resume=True)

    assert (first.found, first.counts) == (12, {"converted": 12})
    assert (again.skipped, again.counts, again.batches) == (12, {}, 0)


def test_changed_and_new_logs(logs: Path, tmp_path: Path) -> None:
    """One changed and one added log convert those two; the result is that of one run over the logs as they are."""
    run(logs, tmp_path / "dataset")
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(77))
    (logs / "host0" / "ora_new.strace").write_bytes(trace(78))
    again = run(logs, tmp_path / "dataset", resume=True)
    run(logs, tmp_path / "fresh")

    assert again.counts == {"converted": 2}
    assert dataset.verify(tmp_path / "dataset") == []
    assert_same(tmp_path / "dataset", tmp_path / "fresh")


def assert_same(one: Path, other: Path) -> None:
    """Two datasets hold the same rows."""
    first, second = content(one), content(other)
    assert first.keys() == second.keys()
    for table, rows in first.items():
        assert_frame_equal(rows, second[table])


def test_touched_logs_are_not_read_again(logs: Path, tmp_path: Path) -> None:
    """A log that was written again with the same content keeps its rows, and is skipped the next time."""
    run(logs, tmp_path / "dataset")
    log = logs / "host0" / "ora_0000.strace"
    os.utime(log, ns=(1, 1))
    touched = run(logs, tmp_path / "dataset", resume=True)

    assert (touched.counts, touched.rows) == ({"touched": 1}, 0)
    assert run(logs, tmp_path / "dataset", resume=True).skipped == 12
    assert dataset.verify(tmp_path / "dataset") == []
    assert dataset.sources(tmp_path / "dataset").filter(pl.col("source") == str(log)).item(0, "modified").year == 1970


def test_duplicates(logs: Path, tmp_path: Path) -> None:
    """A copy in another folder, a compressed copy and a member of an archive are one row of the sources each."""
    log = logs / "host0" / "ora_0000.strace"
    (logs / "other").mkdir()
    shutil.copy(log, logs / "other" / "copy.strace")
    (logs / "other" / "packed.gz").write_bytes(gzip.compress(log.read_bytes()))
    with zipfile.ZipFile(logs / "other" / "all.zip", "w") as archive:
        archive.write(log, "inside.strace")
        archive.writestr("own.strace", trace(99))
    done = run(logs, tmp_path / "dataset")
    found = dataset.sources(tmp_path / "dataset")

    assert done.counts == {"converted": 13, "duplicate": 3}
    assert found.filter(pl.col("duplicate_of") == str(log)).height == 3
    assert statuses(tmp_path / "dataset")["own.strace"] == "converted"
    assert run(logs, tmp_path / "dataset", resume=True).skipped == 15


def test_a_duplicate_takes_the_place_of_its_original(logs: Path, tmp_path: Path) -> None:
    """When the original has another content, the copy is converted: no content is lost."""
    shutil.copy(logs / "host0" / "ora_0000.strace", logs / "host1" / "copy_a.strace")
    shutil.copy(logs / "host0" / "ora_0000.strace", logs / "host1" / "copy_b.strace")
    run(logs, tmp_path / "dataset")
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(55))
    again = run(logs, tmp_path / "dataset", resume=True)
    run(logs, tmp_path / "fresh")

    assert again.counts == {"converted": 2, "duplicate": 1}
    assert_same(tmp_path / "dataset", tmp_path / "fresh")
    assert dataset.verify(tmp_path / "dataset") == []


def test_an_archive_is_converted_member_by_member(tmp_path: Path) -> None:
    """Members are sources of their own; a bad one stops nothing, and a changed archive converts what changed."""
    path = tmp_path / "logs.zip"

    def pack(**members: bytes) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)

    pack(a=trace(1), b=PNG, c=session(2))
    first = run(path, tmp_path / "dataset")
    pack(a=trace(1), b=trace(3), c=session(2))
    again = run(path, tmp_path / "dataset", resume=True)

    assert first.counts == {"converted": 2, "unreadable": 1}
    assert again.counts == {"converted": 1, "touched": 2}
    assert run(path, tmp_path / "dataset", resume=True).skipped == 1
    assert dataset.verify(tmp_path / "dataset") == []


def test_files_of_one_log(tmp_path: Path) -> None:
    """The files of one run of ``strace -ff`` are one source; when one is added, the whole is converted again."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for pid in (4711, 4712):
        (folder / f"trace.{pid}").write_bytes(trace(pid))
    run(folder, tmp_path / "dataset")
    (folder / "trace.4713").write_bytes(trace(4713))
    again = run(folder, tmp_path / "dataset", resume=True)
    events = dataset.scan(tmp_path / "dataset", "events").collect()

    assert again.counts == {"converted": 1}
    assert statuses(tmp_path / "dataset") == {"trace.*": "converted"}
    assert sorted(events["pid"].unique()) == [4711, 4712, 4713]
    assert run(folder, tmp_path / "dataset", resume=True).skipped == 1


def test_a_log_that_becomes_one_of_several_files(tmp_path: Path) -> None:
    """Its rows are in the dataset once."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "trace.4711").write_bytes(trace(4711))
    run(folder, tmp_path / "dataset")
    (folder / "trace.4712").write_bytes(trace(4712))
    run(folder, tmp_path / "dataset", resume=True)

    assert dataset.scan(tmp_path / "dataset", "events").collect().height == 40
    assert statuses(tmp_path / "dataset") == {"trace.*": "converted"}
    assert dataset.verify(tmp_path / "dataset") == []


def test_since(logs: Path, tmp_path: Path) -> None:
    """Logs that did not change since a time are left out."""
    os.utime(logs / "host0" / "ora_0000.strace", (1, 1))
    done = run(logs, tmp_path / "dataset", since=datetime(2020, 1, 1, tzinfo=UTC))

    assert done.counts == {"converted": 11}


def test_lists_patterns_and_overlaps(logs: Path, tmp_path: Path) -> None:
    """``@file`` names sources; a log that is named twice is converted once."""
    listed = tmp_path / "list.txt"
    listed.write_text(f"# sources\n{logs}/host0/*.strace\n\n{logs}/host1\n", encoding="utf-8")
    done = dataset.convert([f"@{listed}", logs / "host0"], tmp_path / "dataset", executor="serial")

    assert done.found == sum(1 for folder in ("host0", "host1") for _ in (logs / folder).iterdir())


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """Such a log is converted, and its name is shown with its bytes."""
    folder = tmp_path / "logs"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/ora_\xe9.strace")).write_bytes(trace(1))
    done = run(folder, tmp_path / "dataset")

    assert done.counts == {"converted": 1}
    assert statuses(tmp_path / "dataset") == {"ora_\\xe9.strace": "converted"}
    assert run(folder, tmp_path / "dataset", resume=True).skipped == 1


def test_an_interrupted_run(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was committed stays; files of no commit are removed; the end is the same as without the interruption."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    dest = tmp_path / "dataset"
    seen = []

    def stop(progress: dataset.Progress) -> None:
        seen.append(progress)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(logs, dest, progress=stop)
    committed = dataset.sources(dest).height
    (dest / "strace" / "events" / "lost.parquet").write_bytes(b"half")
    (dest / "_staging" / "lost").mkdir(parents=True)
    (dest / "_lock").write_text("{}", encoding="utf-8")
    again = run(logs, dest, resume=True)
    run(logs, tmp_path / "fresh")

    assert committed == 6
    assert again.counts == {"converted": 6}
    assert dataset.verify(dest) == []
    assert not (dest / "_staging").exists()
    assert_same(dest, tmp_path / "fresh")


def test_columns_of_other_versions(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that a version lacks is null in its rows, and one that it has more is kept."""
    real = worker.rows_of

    def rows_of(
        found: iolab.loading.ParsedLog, source: str, part: int, tables: frozenset[str] | None, *, is_large: bool
    ) -> LogRows:
        rows = real(found, source, part, tables, is_large=is_large)
        frames = {table: frame.drop("errno", strict=False).with_columns(more=1) for table, frame in rows.frames.items()}
        return type(rows)(rows.order, rows.keys, frames)

    run(logs / "host0", tmp_path / "dataset")
    monkeypatch.setattr(worker, "rows_of", rows_of)
    run(logs / "host1", tmp_path / "dataset", resume=True)
    counts = dataset.scan(tmp_path / "dataset", "events").group_by("more").len().collect()

    assert "errno" in dataset.scan(tmp_path / "dataset", "events").collect_schema()
    assert dict(counts.iter_rows()) == {None: 60, 1: 60}
    assert dataset.verify(tmp_path / "dataset") == []


def test_columns_that_changed_their_type(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that became a list, and a text that became a number, are read and compacted with all others."""
    real = worker.rows_of

    def rows_of(
        found: iolab.loading.ParsedLog, source: str, part: int, tables: frozenset[str] | None, *, is_large: bool
    ) -> LogRows:
        rows = real(found, source, part, tables, is_large=is_large)
        changed = {"offset": pl.concat_list("offset"), "name": pl.struct("name")}
        frames = {
            table: frame.with_columns(changed[name].alias(name) for name in changed if name in frame.collect_schema())
            for table, frame in rows.frames.items()
        }
        return type(rows)(rows.order, rows.keys, frames)

    run(logs / "host0", tmp_path / "dataset")
    before = dataset.scan(tmp_path / "dataset", "requests").collect()
    monkeypatch.setattr(worker, "rows_of", rows_of)
    run(logs / "host1", tmp_path / "dataset", resume=True)
    after = dataset.scan(tmp_path / "dataset", "requests").collect()

    assert after.schema["offset"] == pl.List(before.schema["offset"])
    assert after["offset"].list.len().unique().to_list() == [1]
    assert dataset.scan(tmp_path / "dataset", "events").collect()["name"].unique().sort().to_list() == [
        "pread64",
        '{"name":"pread64"}',
    ]
    dataset.compact(tmp_path / "dataset")
    assert dataset.verify(tmp_path / "dataset") == []
    assert_frame_equal(dataset.scan(tmp_path / "dataset", "requests").collect(), after, check_row_order=False)


def test_compaction_keeps_the_rows(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer files, the same rows, and a run afterwards knows every source; a source of it may still change."""
    monkeypatch.setattr("iolab.dataset.run.BATCH_SOURCES", 2)
    dest = tmp_path / "dataset"
    run(logs, dest)
    before = content(dest)
    batches, after = dataset.compact(dest)

    assert (batches > 5, after) == (True, 1)
    assert dataset.verify(dest) == []
    for table, rows in content(dest).items():
        assert_frame_equal(before[table], rows)
    assert run(logs, dest, resume=True).skipped == 12
    (logs / "host0" / "ora_0000.strace").write_bytes(trace(77))
    assert run(logs, dest, resume=True).counts == {"converted": 1}
    assert dataset.verify(dest) == []
