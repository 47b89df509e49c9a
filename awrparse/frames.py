"""Frames of canonical tables, many at once.

The cells of all columns are gathered first: texts in one list, figures as numbers of distinct cells.  Each distinct
cell is read once for each way of reading; a few Series hold the values of all columns, and the columns of the frames
are slices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.values import read_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awrparse.values import Reading

#: Parts of a figure, by the end of its column's name.
VALUE, LO, HI = "", "_lo", "_hi"
_INTEGER: Final = pl.Int64()
_FLOAT: Final = pl.Float64()


class _Codes(dict[str, int]):
    """Cell -> its number among the distinct cells that are read in one way; a new cell is read."""

    def __init__(self, reading: Reading, figures: Figures) -> None:
        super().__init__()
        self._reading = reading
        self._figures = figures

    def __missing__(self, cell: str) -> int:
        code = self[cell] = self._figures.add(cell, self._reading)
        return code


class Figures:
    """The distinct figures of columns of one type, and the number of the figure in each of their cells.

    Attributes:
        faults: number of a figure -> why it is no value, or another than printed.
    """

    def __init__(self, dtype: pl.DataType) -> None:
        self._dtype = dtype
        # the first figure is null: that of a column that is not printed
        self._values: list[float | int | None] = [None]
        self._lo: list[float | None] = [None]
        self._hi: list[float | None] = [None]
        self._codes: dict[Reading, _Codes] = {}
        self._cells: list[int] = []
        self._flat: dict[str, pl.Series] = {}
        self.faults: dict[int, tuple[str, str]] = {}

    def add(self, cell: str, reading: Reading) -> int:
        """Read a cell; its number."""
        code = len(self._values)
        value, lo, hi, fault = read_measure(cell, reading)
        self._values.append(value)
        self._lo.append(lo)
        self._hi.append(hi)
        if fault is not None:
            self.faults[code] = fault
        return code

    def extend(self, cells: Sequence[str], reading: Reading) -> list[int]:
        """Put the cells of a column after those of the columns before; the number of the figure of each."""
        codes = self._codes.get(reading)
        if codes is None:
            codes = self._codes[reading] = _Codes(reading, self)
        found = [codes[cell] for cell in cells]
        self._cells += found
        return found

    def extend_nulls(self, count: int) -> None:
        """Put so many cells without a figure after the others."""
        self._cells += [0] * count

    def __len__(self) -> int:
        """How many cells there are."""
        return len(self._cells)

    def build(self) -> None:
        """Make the Series of all cells."""
        places = pl.Series(self._cells, dtype=pl.UInt32)
        self._flat[VALUE] = pl.Series(self._values, dtype=self._dtype, strict=False).gather(places)
        self._flat[LO] = pl.Series(self._lo, dtype=_FLOAT).gather(places)
        self._flat[HI] = pl.Series(self._hi, dtype=_FLOAT).gather(places)

    def slice(self, part: str, start: int, length: int, name: str) -> pl.Series:
        """Values or bounds of so many cells as a column."""
        return self._flat[part].slice(start, length).alias(name)


class Columns:
    """The cells of the columns of several frames."""

    def __init__(self) -> None:
        self._figures: dict[pl.DataType, Figures] = {dtype: Figures(dtype) for dtype in (_INTEGER, _FLOAT)}
        self._texts: list[str] = []
        self._names: list[str | None] = []
        self._flat: dict[str, pl.Series] = {}

    def figures(self, dtype: pl.DataType) -> Figures:
        """The figures of columns of a type, Int64 or Float64."""
        return self._figures[dtype]

    def add_texts(self, cells: Iterable[str]) -> None:
        """Put texts after those before; blank ones become null."""
        self._texts += cells

    def add_nulls(self, count: int) -> None:
        """Put so many texts that are null after the others."""
        self._texts += [""] * count

    @property
    def text_count(self) -> int:
        """How many texts there are."""
        return len(self._texts)

    def build(self) -> None:
        """Make the Series of all cells."""
        for figures in self._figures.values():
            figures.build()
        texts = pl.Series(self._texts, dtype=pl.String).str.strip_chars()
        self._flat["text"] = texts.set(texts == "", None)

    def texts(self, start: int, length: int, name: str) -> pl.Series:
        """So many texts as a column."""
        return self._flat["text"].slice(start, length).alias(name)
