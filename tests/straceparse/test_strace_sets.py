"""Many logs at once: the files of ``strace -ff`` give what each gives alone, thousands of them, with some empty."""

import random
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from logframe import LogParseError, open_logs
from straceparse import calls, read_strace, scan_strace
from straceparse import scan as scan_module
from straceparse.dialects import dialect_of
from straceparse.scan import scan_logs


def file_of(pid: int, chance: random.Random, *, has_end: bool) -> str:
    """The file of one process: calls, a signal, damage."""
    start = 23 * 3600 + 3590 + pid % 20
    lines = []
    for place in range(chance.randint(1, 6)):
        seconds = (start + place * 3) % 86400
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{place:06d}"
        event = chance.choice(
            ['read(3, "a", 8192) = 8192 <0.000041>', "--- SIGCHLD {si_signo=SIGCHLD} ---", "open(", "résumé"]
        )
        lines.append(f"{clock} {event}")
    return "\n".join(lines) + ("\n" if has_end else "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of 600 processes, more than Polars reads in one query; some without a last newline, some empty."""
    chance = random.Random(7)  # noqa: S311 - reproducible data, no secret
    for pid in range(1000, 1600):
        text = "" if pid % 50 == 0 else file_of(pid, chance, has_end=pid % 3 > 0)
        (tmp_path / f"trace.{pid}").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_set_is_the_sum_of_its_files(folder: Path) -> None:
    """Line numbers, processes, names and clocks are those of each file; nothing is lost or mixed."""
    events = read_strace(folder, include_file_paths="log")
    paths = sorted(path for path in folder.iterdir() if path.stat().st_size)
    expected = {str(path): path.read_text(encoding="utf-8").splitlines() for path in paths}

    assert events.group_by("log", maintain_order=True).len().rows() == [
        (name, len(lines)) for name, lines in expected.items()
    ]
    assert events.get_column("pid").to_list() == [int(Path(name).suffix[1:]) for name in events.get_column("log")]
    for (name,), part in events.group_by("log", maintain_order=True):
        lines = expected[str(name)]
        assert part.get_column("line").to_list() == list(range(1, len(lines) + 1))
        clocks = [None if "résumé" in line else line[:8] for line in lines]
        assert [time and str(time)[:8] for time in part.get_column("time_of_day")] == clocks
        assert part.get_column("at").drop_nulls().is_sorted()
    first = events.get_column("at").min()
    assert first is not None
    assert first.total_seconds() == 0


@pytest.mark.parametrize("batch_bytes", [1, 500, 5000, 1 << 24])
def test_the_size_of_a_batch_changes_nothing(folder: Path, batch_bytes: int) -> None:
    """Files that are joined to one text, and files read alone, give the same events."""
    logs = open_logs(sorted(folder.iterdir())[:70])

    assert_frame_equal(
        scan_logs(logs, include_file_paths="log", batch_bytes=batch_bytes).collect(),
        scan_logs(logs, include_file_paths="log").collect(),
    )


def test_selections_of_a_set(folder: Path) -> None:
    """Columns, filters and slices give the same lazily."""
    whole, events = read_strace(folder, include_file_paths="log"), scan_strace(folder, include_file_paths="log")

    for columns in (["at"], ["log"], ["pid", "line"], ["name", "log", "wall"]):
        assert_frame_equal(events.select(columns).collect(), whole.select(columns))
    assert_frame_equal(events.head(25).collect(), whole.head(25))
    assert_frame_equal(events.filter(pl.col("kind") == "call").collect(), whole.filter(pl.col("kind") == "call"))
    one = whole.get_column("log")[100]
    assert_frame_equal(events.filter(log=one).select("at").collect(), whole.filter(log=one).select("at"))
    assert scan_strace(folder, n_rows=1).select(pl.len()).collect().item() == whole.get_column("log").n_unique()
    assert calls(events).collect().height == calls(whole).height > 0


def test_empty_files_only_raise(tmp_path: Path) -> None:
    """An empty file among others is a process that did nothing; a set of nothing is an error."""
    for pid in (1, 2):
        (tmp_path / f"trace.{pid}").write_bytes(b"")

    with pytest.raises(LogParseError, match="empty"):
        read_strace(tmp_path)


def test_many_logs_of_standard_error(tmp_path: Path) -> None:
    """Logs that name processes on some lines only are read one after the other, each with its own processes."""
    for place in range(200):
        text = f"[pid {place + 1}] close(3) = 0\nclose(4) = 0\n" if place % 2 else "close(3) = 0\n"
        (tmp_path / f"log{place}.txt").write_text(text, encoding="utf-8")
    events = read_strace(tmp_path)

    assert dialect_of(open_logs(tmp_path)).pid == "mixed"
    assert events.height == 300
    assert events.get_column("pid").drop_nulls().len() == 200
    assert scan_module.scan_strace(tmp_path).head(3).collect().height == 3
