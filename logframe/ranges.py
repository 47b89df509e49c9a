"""One large log in ranges of bytes that are read apart.

What a line means may depend on lines before it, and what a row says on lines after it.  So there are two passes.  The
first, `Splitting.facts`, reads one range and says what the others need of it; `Splitting.pieces` adds up the facts of
all ranges in their order; the second, `Splitting.read`, reads a piece with what was added up.  The ranges of a pass may
be read in any order, anywhere: all that goes from one to another are values that can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from logframe.errors import LogParseError
from logframe.parsed_log import ParsedLog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from logframe.source import Log

_CHUNK: Final = 1 << 16


class Range(NamedTuple):
    """Bytes of a log, whole lines."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, repr=False)
class Piece(ParsedLog):
    """Some of the rows of a log, or all of them in files, as a log of its own (`logframe.formats.ParsedLog`).

    Attributes:
        format: As of the whole log.
        kind: As of the whole log.
        source: Name of the log.
        tables: Frames by name: rows that no other piece has.
        diagnostics: Those of these rows.
    """

    format: str
    kind: str
    source: str
    tables: Mapping[str, pl.DataFrame | pl.LazyFrame]
    diagnostics: pl.DataFrame

    def frames(self) -> Mapping[str, pl.DataFrame | pl.LazyFrame]:
        """The frames by name."""
        return self.tables

    def describe(self) -> str:
        """What the piece is of."""
        return f"a piece of {self.source}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitting:
    """How a format reads one large log in pieces.

    Attributes:
        cuts: The ranges of a log, each of about this many bytes, in their order; fewer than two where it is not split.
        facts: What the others need of a range; None where the log cannot be split.
        pieces: What is read, from the facts of all ranges in their order: the rows of all pieces together, one after
            the other, are those of the log.  None where the log cannot be split.
        read: A piece.
    """

    cuts: Callable[[Log, int], Sequence[Range]]
    facts: Callable[[Log, Range], Any]
    pieces: Callable[[Log, Sequence[Range], Sequence[Any]], Sequence[Any] | None]
    read: Callable[[Log, Any], Piece]


def size_of(log: Log) -> int:
    """Bytes of the text of a log.

    Raises:
        LogParseError: It is no file of this machine and no bytes.
    """
    match log.target:
        case bytes():
            return len(log.target)
        case Path():
            return log.target.stat().st_size
        case _:
            raise LogParseError("only a file of this machine is read in ranges", source=log.name)


def within(log: Log, cut: Range) -> Log:
    """A range of a log as a log in memory."""
    if isinstance(log.target, bytes):
        return replace(log, target=log.target[cut.start : cut.end])
    with Path(log.target).open("rb") as file:
        file.seek(cut.start)
        return replace(log, target=file.read(cut.end - cut.start))


def line_after(log: Log, place: int) -> int:
    """Where the first line starts after a place; the size of the log where none does."""
    size = size_of(log)
    while place < size:
        end = min(place + _CHUNK, size)
        data = within(log, Range(place, end)).target
        found = data.find(b"\n") if isinstance(data, bytes) else -1
        if found >= 0:
            return place + found + 1
        place = end
    return size


def ranges_between(starts: Sequence[int], size: int) -> list[Range]:
    """Ranges that start at these places, the last of them with the end of the log."""
    return [Range(start, end) for start, end in zip(starts, [*starts[1:], size], strict=True)]


def ranges_of(log: Log, count: int, next_start: Callable[[Log, int], int] = line_after) -> list[Range]:
    """A log in this many ranges of about the same size, or fewer where it has few places to be cut.

    Args:
        log: A file of this machine, or bytes.
        count: How many ranges.
        next_start: Where the first range may start after a place.

    Raises:
        LogParseError: The log is no file of this machine and no bytes.
    """
    size = size_of(log)
    starts = [0]
    for number in range(1, count):
        place = max(size * number // count, starts[-1])
        start = next_start(log, place)
        if starts[-1] < start < size:
            starts.append(start)
    return ranges_between(starts, size)
