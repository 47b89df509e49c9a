"""Writing the frames of a trace of any size to Parquet, in bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import LogParseError, diagnostics_frame, open_log
from logframe.atomic import new_folder
from logframe.lazy_rows import lazy_rows
from logframe.parquet import write_parquet
from logframe.ranges import Piece
from sqltraceparse.derived import Derived
from sqltraceparse.heads import CENTISECOND_US, head_of
from sqltraceparse.passes import TIMED, Backward, Forward, in_order
from sqltraceparse.reader import joined, read_pieces
from sqltraceparse.schema import KIND, SCHEMAS
from sqltraceparse.trace import SqlTrace, check_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from logframe import Log, Source
    from sqltraceparse.passes import Frames
    from sqltraceparse.reader import Pieces

#: A part is a batch of text: large, because each part has a cost of its own, and less than the 32 MiB from which on the
#: memory of each would be new.
_PART_BYTES: Final = 31 << 20
#: A part of a trace that a process reads beside other work: as fast, in half the memory.
_SMALL_PART_BYTES: Final = 16 << 20
#: A part whose end is not clear grows to this many batches.
_MOST_BATCHES: Final = 2
_SCHEMAS: Final = SCHEMAS["SqlTrace"]


def to_parquet(
    source: Source, dest: str | PathLike[str], *, encoding: str | None = None, batch_bytes: int | None = None
) -> dict[str, Path]:
    """The frames of a trace as Parquet files, written in memory that does not grow with the trace.

    They are the frames of `sqltraceparse.read_sqltrace`, row by row.  The records wait on the disk, in `dest`'s parent
    folder, until the lines after them are known: about as many bytes as the trace has.

    Args:
        source: one trace: a path, bytes or a file object, compressed or not.
        dest: a new folder, or an empty one; it appears when all files are written.
        encoding: of text that is not UTF-8, when you know better than the guess.
        batch_bytes: bytes of text that are read at a time; None: what is fast.

    Returns:
        The path of each frame, and of the ``diagnostics`` and ``kinds``, by name.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty or holds no record of an SQL trace.
        FileExistsError: the folder is not empty, or is a file.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     files = to_parquet(b"FETCH #1:c=2,e=6,p=0,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=1060", folder)
        ...     pl.read_parquet(files["calls"]).select("op", "elapsed_us", "own_cpu_us").rows()
        [('FETCH', 6, 2)]
    """
    log = open_log(source, encoding=encoding)
    if log.is_empty():
        raise LogParseError("the log is empty", source=log.name, expected="an extended SQL trace")
    target = Path(os.fspath(dest))
    with new_folder(target) as folder, TemporaryDirectory(dir=folder, prefix=".parts-") as spill:
        size = batch_bytes or _PART_BYTES
        _Writer(log, Path(spill), lambda: read_pieces(log, batch_bytes=size)).write(folder)
    return {name: target / f"{name}.parquet" for name in (*_SCHEMAS, "diagnostics", "kinds")}


def read_large(source: Source, folder: Path) -> Piece:
    """A trace of any size, with the frames of `sqltraceparse.read_sqltrace` as LazyFrames over files.

    Args:
        source: one trace.
        folder: an empty one, which stays until the frames are read.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty or holds no record of an SQL trace.
    """
    log = open_log(source)
    files = to_parquet(log.reopened(), folder, batch_bytes=_SMALL_PART_BYTES)
    tables = {name: pl.scan_parquet(files[name], glob=False) for name in _SCHEMAS}
    return Piece(SqlTrace.format, SqlTrace.kind, log.name, tables, pl.read_parquet(files["diagnostics"]))


class _Writer:
    """The two passes over parts that wait on the disk, and the files made of them.

    Args:
        log: the opened trace.
        spill: a folder for the parts.
        pieces: gives the raw records of the log from its beginning.
    """

    def __init__(self, log: Log, spill: Path, pieces: Callable[[], Iterator[Pieces]]) -> None:
        self._log = log
        self._spill = spill
        self._pieces = pieces

    def write(self, folder: Path) -> None:
        """Write all frames to a folder."""
        count, first = self._forward()
        if first.are_centiseconds:
            count, first = self._forward(CENTISECOND_US)
        second = Backward(first.process)
        for part in reversed(range(count)):
            frames = second.add({name: self._get(part, name) for name in _OWNED} | self._waits(part))
            self._put(part, {name: frames[name] for name in (*_OWNED, "links")})
        derived = Derived(first.clock, first.cut_waits, second)
        for name in _SCHEMAS:
            if name == "clock":
                write_parquet(first.clock, folder / "clock.parquet")
            else:
                self._sink(name, count, derived, folder / f"{name}.parquet")
        rows = [*self._log.notes, *first.diagnostics]
        write_parquet(diagnostics_frame(in_order(rows)), folder / "diagnostics.parquet")
        write_parquet(first.kinds.select(pl.col("kind").cast(KIND), "lines"), folder / "kinds.parquet")

    def _forward(self, unit: int | None = None) -> tuple[int, Forward]:
        """The first pass: the number of parts that it left in the folder, and what it found.

        Args:
            unit: of the times; None: what the head says.
        """
        first: Forward | None = None
        count = records = 0
        held: list[Pieces] = []

        def add() -> int:
            nonlocal first, count
            whole = joined(held)
            held.clear()
            if first is None:
                first = Forward(self._log.name, unit or head_of(whole.heads).resolution_us)
            self._put(count, first.add(whole))
            count += 1
            return whole.calls.height + whole.waits.height + whole.statements.height

        for piece in self._pieces():
            held.append(piece)
            if len(held) >= _MOST_BATCHES or _is_clear(held[-1]):
                records += add()
        if held:
            records += add()
        check_records(records, self._log)
        assert first is not None  # noqa: S101 - a log with records has a part
        first.finish()
        return count, first

    def _sink(self, name: str, count: int, derived: Derived, path: Path) -> None:
        """One frame of all parts as a file."""

        def parts(_columns: list[str]) -> Iterator[pl.DataFrame]:
            for part in range(count):
                needed = (name, *_TABLES) if name == "waits" else (name,)
                frame = derived.frame(name, {one: self._get(part, one) for one in needed})
                if frame.height:
                    yield frame

        write_parquet(lazy_rows(parts, _SCHEMAS[name]), path)

    def _path(self, part: int, name: str) -> Path:
        return self._spill / f"{part}-{name}.arrow"

    def _put(self, part: int, frames: Frames) -> None:
        for name, frame in frames.items():
            frame.write_ipc(self._path(part, name), compression="uncompressed")

    def _get(self, part: int, name: str) -> pl.DataFrame:
        """A frame of a part, which is not read again."""
        path = self._path(part, name)
        frame = pl.read_ipc(path)
        path.unlink()
        return frame

    def _waits(self, part: int) -> Frames:
        """What the second pass needs of waits: it adds to them, and changes none."""
        return {
            "waits": pl.read_ipc(self._path(part, "waits"), columns=list(TIMED)),
            "shapes": pl.read_ipc(self._path(part, "shapes")),
        }


#: Frames that the second pass completes.
_OWNED: Final = ("calls", "binds", "owners")
#: What waits are completed with.
_TABLES: Final = ("links", "shapes", "owners", "sessions")


def _is_clear(piece: Pieces) -> bool:
    """Whether the last line with a time is later than the one before it, so that no clock begins with it."""
    tims = pl.concat([frame.select("line", "tim_us").tail(2) for frame in (piece.calls, piece.waits)])
    last = tims.sort("line").get_column("tim_us").drop_nulls().tail(2).to_list()
    return last == sorted(last)
