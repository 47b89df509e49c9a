"""Parts of a log, in memory or in files: piece by piece, as they were read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import finalize

import polars as pl

from hostparse.parts import CrossedPart, Part, together

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from pathlib import Path

    from hostparse.headings import Heading
    from hostparse.parts import Half

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
