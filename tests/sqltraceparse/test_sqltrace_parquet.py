"""`to_parquet` writes the frames of `read_sqltrace`, whatever the size of the parts that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sqltraceparse
from logframe import LogParseError
from sqltraceparse.format import FORMAT

if TYPE_CHECKING:
    from pathlib import Path


def check(source: Path, folder: Path, batch_bytes: int) -> None:
    """The files are the frames."""
    trace = sqltraceparse.read_sqltrace(source)
    files = sqltraceparse.to_parquet(source, folder, batch_bytes=batch_bytes)

    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in files.values())
    for name, frame in {**trace.frames(), "diagnostics": trace.diagnostics, "kinds": trace.kinds}.items():
        assert_frame_equal(pl.read_parquet(files[name]), frame)


def test_a_large_trace_has_the_frames_of_a_small_one(write: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    """Format, kind, frames and diagnostics are those of `read_sqltrace`; the frames are read from files."""
    path = tmp_path / "a.trc"
    path.write_text("\n".join([*write("19.22.0.0.0", seed=5, rounds=40).lines, "FETCH #1:c=half"]))
    trace = sqltraceparse.read_sqltrace(path)
    (tmp_path / "files").mkdir()
    large = FORMAT.parse(path, tmp_path / "files")

    assert (large.format, large.kind, large.source) == (trace.format, trace.kind, trace.source)
    assert trace.diagnostics.height
    assert_frame_equal(large.diagnostics, trace.diagnostics)
    assert list(large.frames()) == list(trace.frames())
    for name, frame in trace.frames().items():
        found = large.frames()[name]
        assert isinstance(found, pl.LazyFrame)
        assert_frame_equal(found.collect(), frame)
    assert isinstance(FORMAT.parse(path, None), sqltraceparse.SqlTrace)


@pytest.mark.parametrize("release", ["8.1.7.4.0", "9.2.0.8.0", "10.2.0.5.0", "11.1.0.7.0", "12.2.0.1.0", "19.22.0.0.0"])
def test_parts_do_not_matter(write: Any, tmp_path: Path, release: str) -> None:  # noqa: ANN401 - a function
    """Calls, waits and binds whose owners stand in other parts."""
    path = tmp_path / "a.trc"
    path.write_text("\n".join(write(release, seed=5, rounds=40).lines))

    check(path, tmp_path / "frames", 4096)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_traces(damaged: Any, tmp_path: Path, seed: int) -> None:  # noqa: ANN401 - a function
    """Fused, cut, repeated and swapped lines."""
    path = tmp_path / "a.trc"
    path.write_text("\n".join(damaged(seed) + damaged(seed + 2)))

    check(path, tmp_path / "frames", 4096)


def test_records_in_texts(write: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    """A text that goes on in the next part, lines of which hold what looks like two records, has no records."""
    text = "\n".join(write("19.22.0.0.0", seed=5, rounds=40).lines)
    path = tmp_path / "a.trc"
    path.write_text(text.replace("END OF STMT\nPARSE", "END OF STMTPARSE"))

    check(path, tmp_path / "frames", 4096)


def test_slices_of_several_processes(write: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    """The same cursors in several processes, of which the first lines name none."""
    one, other = (list(write("19.22.0.0.0", seed=seed, rounds=20).lines[10:]) for seed in (1, 2))
    sliced = one[:120]
    for start in range(120, max(len(one), len(other)), 60):
        sliced += ["*** [ Unix process pid: 4711 ]", *one[start : start + 60]]
        sliced += ["*** [ Unix process pid: 4712 ]", *other[start : start + 60]]
    path = tmp_path / "a.trc"
    path.write_text("\n".join(sliced))

    check(path, tmp_path / "frames", 4096)


def test_real_traces(corpus: Path, tmp_path: Path) -> None:
    """Every trace of the corpus."""
    for number, path in enumerate(sorted((corpus / "sqltrace").glob("*.trc"))):
        try:
            sqltraceparse.read_sqltrace(path)
        except LogParseError:
            continue
        check(path, tmp_path / str(number), max(30_000, path.stat().st_size // 9))


def test_what_is_no_trace(tmp_path: Path) -> None:
    """A log without a record is named, and no folder is left."""
    with pytest.raises(LogParseError, match="this is no trace of the database"):
        sqltraceparse.to_parquet(b"nothing of the kind\n", tmp_path / "frames")

    assert not list(tmp_path.iterdir())


def test_a_trace_of_hundredths_without_its_head(write: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    """Only stamps show the unit of the times of 8i where the head is lost; files and frames have it converted."""
    head = [*write("8.1.7.4.0", seed=3, rounds=4).lines]
    lines = head[next(place for place, line in enumerate(head) if line.startswith("***")) :]
    (tmp_path / "whole.trc").write_text("\n".join(head))
    (tmp_path / "cut.trc").write_text("\n".join(lines))
    whole = sqltraceparse.read_sqltrace(tmp_path / "whole.trc")
    cut = sqltraceparse.read_sqltrace(tmp_path / "cut.trc")

    assert (whole.head.release, cut.head.release) == ("8.1.7.4.0", None)
    assert cut.calls["elapsed_us"].to_list() == whole.calls["elapsed_us"].to_list()
    check(tmp_path / "cut.trc", tmp_path / "files", 4000)


def test_nothing_is_no_trace(tmp_path: Path) -> None:
    """An empty log is refused, and leaves no folder."""
    with pytest.raises(LogParseError, match="the log is empty"):
        sqltraceparse.to_parquet(b"", tmp_path / "files")
    with pytest.raises(LogParseError, match="the log is empty"):
        sqltraceparse.read_sqltrace(b"")
    assert not (tmp_path / "files").exists()
