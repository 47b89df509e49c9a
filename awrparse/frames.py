"""Frames of canonical tables, many at once.

The cells of all columns are gathered first: texts in one list, figures as numbers of distinct cells.  Each distinct
cell is read once for each way of reading; a few Series hold the values of all columns, and the columns of the frames
are slices.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.values import Measure, form_of, read_measure, reading_of
from logframe.figures import BLANK, read_figures
from logframe.printed import with_points

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awrparse.columns import Kind
    from awrparse.values import Fault, Reading
    from logframe.printed import DecimalMark

#: Parts of a figure, by the end of its column's name.
VALUE, LO, HI = "", "_lo", "_hi"
_FLOAT: Final = pl.Float64()


class _Measures(dict[str, Measure]):
    """Cell -> its measure, among the distinct cells that are read in one way; a new cell is read."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._reading = reading

    def __missing__(self, cell: str) -> Measure:
        measure = self[cell] = read_measure(cell, self._reading)
        return measure


class FigureColumn:
    """One column of figures.

    Attributes:
        name: of the canonical column.
        cells: as printed.
        first: the number of its first cell among those of all columns.
        faults: rows that are no value, or another than printed, and why; known when all columns are read.
    """

    __slots__ = ("cells", "decimal_mark", "faults", "first", "heading", "kind", "name")

    def __init__(
        self, cells: Sequence[str], name: str, first: int, kind: Kind, heading: str, decimal_mark: DecimalMark
    ) -> None:
        self.name = name
        self.cells = cells
        self.first = first
        self.kind: Kind = kind
        self.heading = heading
        self.decimal_mark: DecimalMark = decimal_mark
        self.faults: list[tuple[int, Fault]] = []

    def reading(self) -> Reading:
        """How one cell is read."""
        return reading_of(self.cells, self.kind, self.heading, self.decimal_mark)


class Figures:
    """The figures of columns of one type, read when all columns are known.

    Compiled code reads the plain cells, almost all, at once.  The others (all of them without compiled code) are read
    one by one, each distinct cell once for each way of reading.
    """

    def __init__(self, dtype: pl.DataType, parts: tuple[str, ...]) -> None:
        self._dtype = dtype
        self._parts = parts
        self._columns: list[FigureColumn] = []
        self._count = 0
        self._flat = pl.DataFrame()

    def add(self, cells: Sequence[str], name: str, kind: Kind, heading: str, decimal_mark: DecimalMark) -> FigureColumn:
        """Put a column after those before."""
        column = FigureColumn(cells, name, self._count, kind, heading, decimal_mark)
        self._columns.append(column)
        self._count += len(cells)
        return column

    def __len__(self) -> int:
        """How many cells there are."""
        return self._count

    def build(self) -> None:
        """Make the columns of all cells."""
        cells = [
            one.cells if one.decimal_mark == "." else [with_points(cell, one.decimal_mark) for cell in one.cells]
            for one in self._columns
        ]
        plain = read_figures(cells, [form_of(one.kind, one.heading) for one in self._columns])
        others = range(self._count) if plain is None else plain.others
        measures = self._read_others(others)
        if plain is not None:
            are_blank = plain.kinds == BLANK
            places = pl.Series(others, dtype=pl.UInt32)
            read = {VALUE: plain.values.cast(self._dtype), LO: plain.lows, HI: plain.highs}
            for part in self._parts:
                measures[part] = read[part].scatter(places, measures[part]).set(are_blank, None)
        self._flat = pl.DataFrame([measures[part].alias(part) for part in self._parts])

    def _read_others(self, places: Sequence[int]) -> dict[str, pl.Series]:
        """The figures of cells that are read one by one: `VALUE`, `LO` and `HI`."""
        measures: list[Measure] = []
        known: dict[Reading, _Measures] = {}
        starts = [column.first for column in self._columns]
        position = 0
        while position < len(places):
            # of columns that start at one place all but the last are empty
            column = self._columns[bisect_right(starts, places[position]) - 1]
            end = bisect_left(places, column.first + len(column.cells), position)
            reading = column.reading()
            measure_of = known.setdefault(reading, _Measures(reading))
            rows = [place - column.first for place in places[position:end]]
            found = [measure_of[column.cells[row]] for row in rows]
            column.faults += [(row, one.fault) for row, one in zip(rows, found, strict=True) if one.fault is not None]
            measures += found
            position = end
        values, lows, highs, _ = zip(*measures, strict=True) if measures else ((), (), (), ())
        parts = ((VALUE, values, self._dtype), (LO, lows, _FLOAT), (HI, highs, _FLOAT))
        return {name: pl.Series(name, part, dtype=dtype, strict=False) for name, part, dtype in parts}

    def slice(self, start: int, length: int, names: Sequence[str]) -> pl.DataFrame:
        """This many figures as columns: the values and, with bounds, their bounds."""
        return cut(self._flat, start, length, names)

    def slice_exact(self, start: int, length: int, names: Sequence[str]) -> pl.DataFrame:
        """This many figures that are no printed ones: their bounds are the values."""
        values = self._flat.slice(start, length).to_series()
        return pl.DataFrame([values.alias(name) for name in names])


class Values:
    """Texts, times or marks of columns: blank texts become null."""

    def __init__(self, dtype: pl.DataType) -> None:
        self._dtype = dtype
        self._cells: list[object] = []
        self._flat = pl.DataFrame()

    def add(self, cells: Iterable[object]) -> None:
        """Put cells after those before."""
        self._cells += cells

    def __len__(self) -> int:
        """How many cells there are."""
        return len(self._cells)

    def build(self) -> None:
        """Make the column of all cells."""
        cells = pl.Series(self._cells, dtype=self._dtype)
        if self._dtype == pl.String:
            cells = cells.str.strip_chars()
            cells = cells.set(cells == "", None)
        self._flat = cells.to_frame()

    def slice(self, start: int, length: int, names: list[str]) -> pl.DataFrame:
        """This many cells as a column."""
        return cut(self._flat, start, length, names)


class Columns:
    """The cells of the columns of several frames.

    Args:
        parts: of each figure that are wanted, `VALUE` first.
    """

    def __init__(self, parts: tuple[str, ...]) -> None:
        self.parts = parts
        self._figures: dict[pl.DataType, Figures] = {}
        self._values: dict[pl.DataType, Values] = {}

    def names(self, name: str) -> tuple[str, ...]:
        """The names of a figure's columns."""
        return _names(name, self.parts)

    def figures(self, dtype: pl.DataType) -> Figures:
        """The figures of columns of a type, Int64 or Float64."""
        found = self._figures.get(dtype)
        if found is None:
            found = self._figures[dtype] = Figures(dtype, self.parts)
        return found

    def values(self, dtype: pl.DataType) -> Values:
        """The cells of columns of another type."""
        found = self._values.get(dtype)
        if found is None:
            found = self._values[dtype] = Values(dtype)
        return found

    def build(self) -> None:
        """Make the columns of all cells."""
        for figures in self._figures.values():
            figures.build()
        for values in self._values.values():
            values.build()


@lru_cache(maxsize=4096)
def _names(name: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([f"{name}{part}" for part in parts])


def cut(flat: pl.DataFrame, start: int, length: int, names: Sequence[str]) -> pl.DataFrame:
    """Rows of all columns, under other names."""
    part = flat.slice(start, length)
    part.columns = names
    return part
