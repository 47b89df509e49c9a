"""One large log that several processes read in pieces: the dataset is that of a log that one process reads."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import time
import zipfile
from typing import TYPE_CHECKING

import polars as pl
import polars.selectors as cs
import pytest
from dataset_logs import content, kill_one, run, statuses, trace
from polars.testing import assert_frame_equal

from iolab import dataset
from iolab.dataset.executors import Processes
from iolab.dataset.writer import BatchWriter, LogRows

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("IOLAB_KILLS", "2"))


def threads(lines: int) -> bytes:
    """``strace -f -r``: two processes, calls in halves, asynchronous requests, a file that is opened."""
    draw = random.Random(lines)  # noqa: S311 - a case, not a secret
    made = ["4711      0.000000 clone(child_stack=NULL, flags=CLONE_VM) = 4712"]
    for number in range(lines):
        head = f"{draw.choice([4711, 4712])}      0.{draw.randint(1, 9999):06d} "
        match number % 5:
            case 0:
                made.append(f'{head}open("/u01/f{number}", O_RDONLY) = {draw.randint(3, 9)}')
            case 1:
                made.append(f"{head}pread64({draw.randint(3, 9)},  <unfinished ...>")
            case 2:
                made.append(f'{made[-1][:5]}     0.000012 <... pread64 resumed>"..."..., 8192, 512) = 8192')
            case 3:
                block = f"{{{{data:{number}, pread, filedes:5, nbytes:8192, offset:0}}}}"
                made.append(f"{head}io_submit(14, 1, {block}) = 1")
            case _:
                made.append(f"{head}io_getevents(14, 1, 128, {{{{{number - 1}, {number - 1}, 8192, 0}}}}, NULL) = 1")
    return "\n".join(made).encode() + b"\n"


def sql_trace(fetches: int) -> bytes:
    """A trace of one process: a statement that is parsed now and then, and fetches with their reads."""
    draw = random.Random(fetches)  # noqa: S311 - a case, not a secret
    at = 7_000_000_000
    made = ["Unix process pid: 4711, image: oracle@db", "*** 2026-09-14 12:00:00.000", "*** SESSION ID:(12.34)"]
    for number in range(fetches):
        at += draw.randint(100, 9000)
        if number % 7 == 0:
            made.append(f"PARSING IN CURSOR #3 len=8 dep=0 uid=5 oct=3 lid=5 tim={at} hv=1 ad='6b' sqlid='a{number}'")
            made += ["select 1", "END OF STMT", f"EXEC #3:c=1,e=2,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=9,tim={at}"]
        made.append(
            f"WAIT #3: nam='db file sequential read' ela= 40 file#=1 block#={number} blocks=1 obj#=3 tim={at + 50}"
        )
        made.append(f"FETCH #3:c=20,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={at + 60}")
        if number % 11 == 0:
            made.append("STAT #3 id=1 cnt=1 pid=0 pos=1 obj=3 op='TABLE ACCESS FULL T (cr=2 pr=1 pw=0 time=60 us)'")
    return "\n".join(made).encode() + b"\n"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Logs that are large for a test: strace logs, SQL traces, and a small log beside them."""
    folder = tmp_path / "large"
    folder.mkdir()
    (folder / "a.strace").write_bytes(trace(1, 900))
    (folder / "b.strace").write_bytes(threads(900))
    (folder / "c.trc").write_bytes(sql_trace(500))
    (folder / "d.strace").write_bytes(trace(2, 5))
    return folder


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece has 8 kB in this process."""
    monkeypatch.setattr("iolab.dataset.run.PIECE_BYTES", 8 << 10)


def assert_as_whole(dest: Path, logs: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A dataset is that of logs which are not split, row for row, but for ledgers; its files are there once."""
    patch.setattr("iolab.dataset.run.PIECE_BYTES", 1 << 40)
    run(logs, folder / "whole")
    expected, found = (
        {table: rows for table, rows in content(one).items() if not table.endswith("/ledger")}
        for one in (folder / "whole", dest)
    )

    assert dataset.verify(dest) == []
    assert not (dest / "_staging").exists()
    assert expected.keys() == found.keys()
    for table, rows in expected.items():
        counted = r'"rows":\d+,' if table == "_sources" else "$^"  # rows of the ledger are counted, too
        assert_frame_equal(*(one.with_columns(pl.col("row").str.replace(counted, "")) for one in (rows, found[table])))
    for table in expected:
        of_log = pl.col("source").str.ends_with("a.strace") | pl.col("source").str.ends_with(".trc")
        uncounted = cs.exclude("rows") if table == "_sources" else cs.all()
        whole, pieces = (
            dataset.scan(one, table).filter(of_log).sort("source", maintain_order=True).select(uncounted).collect()
            for one in (folder / "whole", dest)
        )
        assert_frame_equal(whole, pieces)


@pytest.mark.usefixtures("in_pieces")
def test_pieces_are_the_whole(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, their order and diagnostics are those of logs that are not split; a second run does nothing."""
    seen: list[dataset.Progress] = []
    done = run(large, tmp_path / "dataset", progress=seen.append)
    files = {path.parent.name: len(list(path.parent.iterdir())) for path in (tmp_path / "dataset").rglob("*.parquet")}

    assert done.counts == {"converted": 4}
    assert files["events"] > 10
    assert files["waits"] > 10
    assert len(seen) > done.batches
    assert seen[-1].done == seen[-1].total
    assert run(large, tmp_path / "dataset", resume=True).skipped == 4
    assert_as_whole(tmp_path / "dataset", large, tmp_path, monkeypatch)


@pytest.mark.usefixtures("in_pieces")
def test_workers_that_read_pieces_are_killed(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their pieces are read by others; nothing is there twice."""
    monkeypatch.setattr("iolab.dataset.run._TRIES", 100)  # no log is at fault here
    draw = random.Random(7)  # noqa: S311 - a case, not a secret
    executor = Processes(2)
    killed: list[int] = []

    def kill(_: dataset.Progress) -> None:
        if len(killed) < KILLS and draw.random() < 0.8:
            kill_one([number for _, number in executor._pools], killed, draw)  # noqa: SLF001 - what the test started

    try:
        done = dataset.convert(large, tmp_path / "dataset", executor=executor, progress=kill)
    finally:
        executor.close()

    assert (done.counts, len(killed)) == ({"converted": 4}, KILLS)
    assert_as_whole(tmp_path / "dataset", large, tmp_path, monkeypatch)


DRIVER = """
import sys
import iolab.dataset.run as conversion
from iolab import dataset
conversion.PIECE_BYTES = 8 << 10
if __name__ == "__main__":
    show = lambda one: print("x", flush=True)
    dataset.convert(sys.argv[1], sys.argv[2], executor="processes:1", resume=True, progress=show)
"""


def test_the_driver_is_killed_between_pieces(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces of a source that was not complete are removed, and it is read again."""
    draw = random.Random(11)  # noqa: S311 - a case, not a secret
    script = tmp_path / "driver.py"
    script.write_text(DRIVER, encoding="utf-8")
    command = [sys.executable, str(script), str(large), str(tmp_path / "dataset")]
    killed = 0
    for _ in range(4 * KILLS):
        if killed == KILLS:
            break
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdout is not None
            for _ in range(draw.randint(1, 12)):
                driver.stdout.readline()
            time.sleep(draw.random() / 20)
            killed += driver.poll() is None
            driver.kill()
    subprocess.run(command, check=True, capture_output=True)

    assert_as_whole(tmp_path / "dataset", large, tmp_path, monkeypatch)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("part", ["facts_of", "pieces_of", "convert_piece"])
def test_a_log_that_cannot_be_split(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """It is read as a whole, and no file of its pieces is left."""
    monkeypatch.setattr(f"iolab.dataset.pieces.{part}", lambda *_: None)
    done = run(large, tmp_path / "dataset")

    assert done.counts == {"converted": 4}
    assert_as_whole(tmp_path / "dataset", large, tmp_path, monkeypatch)


@pytest.mark.usefixtures("in_pieces")
def test_a_log_that_changes_while_it_is_read(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a row of the sources, no row of it is there, and the next run reads it."""
    path = large / "a.strace"

    def change(_: dataset.Progress) -> None:
        if path.stat().st_size < 200_000:
            path.write_bytes(path.read_bytes() * 3)

    run(large, tmp_path / "dataset", progress=change)
    first = statuses(tmp_path / "dataset")
    done = run(large, tmp_path / "dataset", resume=True)

    assert first["a.strace"] == "changed"
    assert done.counts == {"converted": 1}
    assert_as_whole(tmp_path / "dataset", large, tmp_path, monkeypatch)


def test_a_large_log_that_changed(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pieces replace those of before, also where it was read as a whole then."""
    run(large, tmp_path / "dataset")
    for lines in (700, 600):
        monkeypatch.setattr("iolab.dataset.run.PIECE_BYTES", 8 << 10)
        (large / "b.strace").write_bytes(threads(lines))
        assert run(large, tmp_path / "dataset", resume=True).counts == {"converted": 1}

    assert_as_whole(tmp_path / "dataset", large, tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", ["gzip", "of two processes", "in an archive"])
def test_large_logs_that_are_not_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """One worker reads them, in memory that does not grow with them; the rows are those of a log that is small."""
    logs = tmp_path / "large"
    logs.mkdir()
    text = sql_trace(300)
    if kind == "of two processes":
        lines = text.splitlines(keepends=True)
        turns = [
            b"*** [ Unix process pid: %d ]\n%s" % (4711 + at // 90 % 2, b"".join(lines[at : at + 90]))
            for at in range(0, len(lines), 90)
        ]
        (logs / "c.trc").write_bytes(b"".join(turns))
    elif kind == "gzip":
        (logs / "a.strace.gz").write_bytes(gzip.compress(trace(1, 900)))
        (logs / "c.trc.gz").write_bytes(gzip.compress(text))
    else:
        with zipfile.ZipFile(logs / "all.zip", "w") as archive:
            archive.writestr("a.strace", trace(1, 900))
            archive.writestr("c.trc", text)
    seen: list[bool] = []
    real = BatchWriter.add

    def add(writer: BatchWriter, log: LogRows, *, is_large: bool) -> int:
        seen.append(is_large and all(isinstance(frame, pl.LazyFrame) for frame in log.frames.values()))
        return real(writer, log, is_large=is_large)

    with monkeypatch.context() as patch:
        patch.setattr("iolab.dataset.run.PIECE_BYTES", 8 << 10)
        patch.setattr("iolab.dataset.worker.LARGE", 8 << 10)
        patch.setattr(BatchWriter, "add", add)
        done = run(logs, tmp_path / "dataset")

    assert set(done.counts) == {"converted"}
    assert seen == [True] * done.counts["converted"]
    assert_as_whole(tmp_path / "dataset", logs, tmp_path, monkeypatch)
