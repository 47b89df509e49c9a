"""Parts of a log: the rows under one heading, as figures in the units of their columns' names.

They are kept in memory or in files, piece by piece, as they were read.  What stands last in a log that no line feed
ends may go on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar
from weakref import finalize

import polars as pl

from logframe import Diagnostic
from logframe.copied import ends_open

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from hostparse.headings import Heading
    from logframe import Log


#: Half a unit of the last printed place of a column: one number, or one a row.
Half = float | pl.Series


@dataclass(frozen=True)
class Part:
    """The rows under one heading.

    Attributes:
        heading: the columns.
        frame: the columns of `hostparse.sampling.PLACE`, then the names and the figures as printed, in the units of the
            columns' names.
        halves: of each column of figures.
        problems: line, heading and text of cells that hold no figure where one is expected.
    """

    heading: Heading
    frame: pl.DataFrame
    halves: dict[str, Half]
    problems: tuple[tuple[int, str, str], ...] = ()

    def rows(self) -> tuple[pl.DataFrame, dict[str, Half]]:
        """One row a name, one column a metric; and the half units of the metrics."""
        return self.frame, self.halves


@dataclass(frozen=True)
class CrossedPart(Part):
    """Figures of one metric with a column for each name, as nmon prints its disks.

    Attributes:
        names: of the columns of `frame`, in order; `heading` has a key and the metric.
        is_by_name: Whether the log prints all metrics of a name beside each other, not all names of a metric.
    """

    names: tuple[str, ...] = ()
    is_by_name: bool = False

    def rows(self) -> tuple[pl.DataFrame, dict[str, Half]]:
        """One row a sample and name, all names of a sample together."""
        return self._rows

    @cached_property
    def _rows(self) -> tuple[pl.DataFrame, dict[str, Half]]:
        key, metric = (field.name for field in self.heading.fields)
        place = [name for name in self.frame.columns if name not in self.halves]
        values = pl.concat([self.frame.get_column(name).alias(metric) for name in self.halves])
        names = pl.Series(key, self.names, dtype=pl.String)
        height, width = self.frame.height, len(self.names)
        # column after column: the row numbers say how to put all names of a sample together
        row = pl.int_range(height * width, dtype=pl.UInt32, eager=True)
        sample, name = row // width, row % width
        cell = name * height + sample
        placed = self.frame.select(pl.col(place).gather(sample))
        frame = placed.hstack([names.gather(name), values.gather(cell)])
        halves = list(self.halves.values())
        if all(isinstance(half, float) and half == halves[0] for half in halves):
            return frame, {metric: halves[0]}
        spread = [
            half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, height) for half in halves
        ]
        together = pl.concat([half.rename("half") for half in spread])
        return frame, {metric: together.gather(cell)}


def together(pieces: list[Part]) -> Part:
    """The pieces of a part, read from one stretch of the log after another, as one part."""
    if len(pieces) == 1:
        return pieces[0]
    frame = pl.concat([piece.frame for piece in pieces])
    problems = tuple(problem for piece in pieces for problem in piece.problems)
    return replace(pieces[0], frame=frame, halves=_halves_together(pieces), problems=problems)


_Key = TypeVar("_Key", bound="Hashable")


def cut_end(
    name: str, parts: Mapping[_Key, Part], halves: Mapping[_Key, AbstractSet[float]], last: int
) -> tuple[dict[_Key, Part], list[Diagnostic]]:
    """The parts, where a log ends within a figure without that figure: it shows fewer decimals than all others.

    Args:
        name: of the log.
        parts: of the end of the log.
        halves: of each, the half units of its last column in the rows that came before.
        last: its last line that is not blank.
    """
    found = dict(parts)
    for key, part in parts.items():
        lines = part.frame.get_column("line")
        if not len(lines) or lines[-1] != last or not part.heading.fields:
            continue
        column = part.heading.fields[-1].name
        half = part.halves.get(column)
        if half is None:
            continue
        spread = half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, len(lines))
        others = {*halves.get(key, ()), *spread[:-1]} - {None}
        if len(others) != 1 or spread[-1] is None or spread[-1] <= (usual := others.pop()):
            continue
        values = pl.when(pl.col("line") != last).then(pl.col(column)).alias(column)
        found[key] = replace(part, frame=part.frame.with_columns(values), halves={**part.halves, column: usual})
        printed = part.heading.fields[-1].printed
        reason = f"the log ends within the figure under {printed}: it shows fewer decimals than all others, and is null"
        return found, [Diagnostic(name, last, None, "cut", None, reason)]
    return found, []


def _halves_together(pieces: list[Part]) -> dict[str, Half]:
    filled = [piece for piece in pieces if piece.frame.height] or pieces[:1]
    found: dict[str, Half] = {}
    for name, first in filled[0].halves.items():
        halves = [piece.halves[name] for piece in filled]
        if isinstance(first, float) and all(isinstance(half, float) and half == first for half in halves):
            found[name] = first
        else:
            found[name] = pl.concat(
                [
                    half if isinstance(half, pl.Series) else pl.Series([half]).new_from_index(0, piece.frame.height)
                    for half, piece in zip(halves, filled, strict=True)
                ]
            )
    return found


def open_end(log: Log, parts: Iterable[Part], last: int) -> list[Diagnostic]:
    """A diagnostic about a name or a whole number at the end of a log without a line feed; none for others.

    A figure with decimals shows by their number that it was cut: `hostparse.stored.cut_end`.

    Args:
        log: opened.
        parts: of its end.
        last: its last line that is not blank.
    """
    if not ends_open(log):
        return []
    for part in parts:
        lines = part.frame.get_column("line")
        if len(lines) and lines[-1] == last and part.heading.fields and _may_go_on(part):
            printed = part.heading.fields[-1].printed
            reason = f"the log ends without a line feed: what is under {printed} in its last line may go on"
            return [Diagnostic(log.name, last, None, "cut", None, reason)]
    return []


def _may_go_on(part: Part) -> bool:
    """Whether the last column has names, figures without decimals, or one figure only."""
    field = part.heading.fields[-1]
    half = part.halves.get(field.name)
    if field.metric is None or half is None or part.frame.height == 1:
        return True
    own = half[-1] if isinstance(half, pl.Series) else half
    return own in {0.0, 0.5 * field.metric.factor, field.metric.factor}


_HALF: Final = "half of "
#: What numbers the samples of a part.
_SAMPLE: Final = ("run", "sample")


class Parts(ABC):
    """The parts of a log, in the order of their headings.

    Attributes:
        headings: of the parts.
        pieces: number of pieces that the log was read in; no sample is in two of them, where they are several.
        is_large: the parts are in files, and should not be put together.
    """

    headings: tuple[Heading, ...] = ()
    pieces: int = 0
    is_large: bool = False

    @abstractmethod
    def part(self, piece: int, number: int, columns: Iterable[str] | None = None) -> Part:
        """The rows of a part in a piece of the log; there may be none.

        Args:
            piece: from 0.
            number: of the part, from 0.
            columns: those that are wanted; None: all.
        """

    def empty(self, number: int) -> Part:
        """A part without rows."""
        return _without_rows(self.part(0, number))

    @abstractmethod
    def height(self, number: int) -> int:
        """The number of rows of a part."""

    @abstractmethod
    def samples(self, number: int) -> int:
        """The number of samples of a part."""

    def whole(self) -> tuple[Part, ...]:
        """All parts, put together."""
        return tuple(
            together([self.part(piece, number) for piece in range(self.pieces)]) for number in range(len(self.headings))
        )


class MemoryParts(Parts):
    """Parts in memory.

    Args:
        parts: whole.
    """

    pieces = 1

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self.headings = tuple(part.heading for part in self._parts)

    def part(self, piece: int, number: int, columns: Iterable[str] | None = None) -> Part:  # noqa: ARG002 - of files
        """The part."""
        return self._parts[number]

    def height(self, number: int) -> int:
        """The number of rows of a part."""
        return self._parts[number].frame.height

    def samples(self, number: int) -> int:
        """The number of samples of a part."""
        return _samples(self._parts[number].frame)

    def whole(self) -> tuple[Part, ...]:
        """The parts."""
        return self._parts


class _Stored(NamedTuple):
    """The rows of a part in a piece of a log.

    Attributes:
        height: number of rows.
        halves: of the columns where one number says it; the others are in the file.
    """

    height: int
    halves: dict[str, float]


class FileParts(Parts):
    """Parts in files.

    Attributes:
        folder: of the files.

    Args:
        folder: of the files.
        empty: the parts without rows.
        numbers: of the parts in the names of the files.
        stored: what is in the files, by piece and that number.
        samples: number of samples of each part.
        is_owned: remove the folder when nothing needs the parts any more.
    """

    is_large = True

    def __init__(
        self,
        folder: Path,
        empty: list[Part],
        numbers: list[int],
        stored: list[dict[int, _Stored]],
        samples: list[int],
        *,
        is_owned: bool,
    ) -> None:
        self.folder = folder
        self._empty = empty
        self._numbers = numbers
        self._stored = stored
        self._samples = samples
        if is_owned:
            finalize(self, rmtree, folder, ignore_errors=True)
        self.headings = tuple(part.heading for part in empty)
        self.pieces = len(stored)

    def part(self, piece: int, number: int, columns: Iterable[str] | None = None) -> Part:
        """The rows of a part in a piece."""
        empty, stored = self._empty[number], self._stored[piece].get(self._numbers[number])
        if stored is None:
            return empty
        wanted = None
        if columns is not None and not isinstance(empty, CrossedPart):
            names = set(columns)
            wanted = [name for name in empty.frame.columns if name in names]
            wanted += [f"{_HALF}{name}" for name in names & empty.halves.keys() - stored.halves.keys()]
        frame = pl.read_ipc(_path(self.folder, piece, self._numbers[number]), columns=wanted)
        halves: dict[str, Half] = dict(stored.halves)
        in_file = [name for name in frame.columns if name.startswith(_HALF)]
        halves |= {name.removeprefix(_HALF): frame.get_column(name).alias("half") for name in in_file}
        kept = {name: halves[name] for name in empty.halves if name in halves}
        return replace(empty, frame=frame.drop(in_file), halves=kept)

    def empty(self, number: int) -> Part:
        """A part without rows."""
        return self._empty[number]

    def height(self, number: int) -> int:
        """The number of rows of a part."""
        found = (stored.get(self._numbers[number]) for stored in self._stored)
        return sum(each.height for each in found if each is not None)

    def samples(self, number: int) -> int:
        """The number of samples of a part."""
        return self._samples[number]


class Collector:
    """Gathers the parts of a log piece by piece.

    Args:
        folder: for files; None: in memory.
        is_owned: the folder is removed with the parts.
    """

    def __init__(self, folder: Path | None = None, *, is_owned: bool = False) -> None:
        self._folder = folder
        self._is_owned = is_owned
        self._numbers: dict[Hashable, int] = {}
        self._pieces: list[list[Part]] = []
        self._stored: list[dict[int, _Stored]] = []
        self._samples: list[int] = []

    def remove(self) -> None:
        """Remove the files of a log that cannot be read."""
        if self._folder is not None and self._is_owned:
            rmtree(self._folder, ignore_errors=True)

    def clear(self) -> None:
        """Forget all pieces."""
        self._numbers.clear()
        self._pieces.clear()
        self._stored.clear()
        self._samples.clear()

    def add(self, parts: Mapping[Any, Part]) -> None:
        """Add the parts of a piece, by what tells them apart."""
        stored: dict[int, _Stored] = {}
        for key, part in parts.items():
            number = self._numbers.setdefault(key, len(self._numbers))
            if number == len(self._pieces):
                self._pieces.append([])
                self._samples.append(0)
            if self._folder is None:
                self._pieces[number].append(part)
                continue
            if not self._pieces[number]:
                self._pieces[number].append(_without_rows(part))
            self._samples[number] += _samples(part.frame)
            if part.frame.height:
                stored[number] = _store(part, _path(self._folder, len(self._stored), number))
        self._stored.append(stored)

    def finish(self, first: Iterable[Hashable] = ()) -> Parts:
        """All parts, those of some keys before the others."""
        leading = [self._numbers[key] for key in first]
        order = [*leading, *(number for number in self._numbers.values() if number not in set(leading))]
        if self._folder is None:
            return MemoryParts(together(self._pieces[number]) for number in order)
        empty = [self._pieces[number][0] for number in order]
        samples = [self._samples[number] for number in order]
        return FileParts(self._folder, empty, order, self._stored, samples, is_owned=self._is_owned)


def _path(folder: Path, piece: int, number: int) -> Path:
    return folder / f"{piece:05d}-{number}.arrow"


def _samples(frame: pl.DataFrame) -> int:
    return frame.select(_SAMPLE).drop_nulls("sample").n_unique()


def _without_rows(part: Part) -> Part:
    return replace(part, frame=part.frame.clear(), halves=dict.fromkeys(part.halves, 0.0), problems=())


def _store(part: Part, path: Path) -> _Stored:
    """Write the rows of a part to a file."""
    series = {name: half for name, half in part.halves.items() if isinstance(half, pl.Series)}
    columns = [half.alias(f"{_HALF}{name}") for name, half in series.items()]
    part.frame.with_columns(columns).write_ipc(path, compression="lz4")
    return _Stored(part.frame.height, {name: half for name, half in part.halves.items() if isinstance(half, float)})
