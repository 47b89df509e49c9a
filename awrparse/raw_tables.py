"""Tables as printed: any table of a report as a frame whose columns are its headings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from awrparse.values import CELLS
from logframe import read_printed, unique_names
from logframe.parsed_log import TableNotFoundError, near
from logframe.printed import LARGEST_WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.records import PrintedTable
    from logframe.printed import DecimalMark

#: Names of columns whose numbers are names: an id must not lose its leading zeros.
_NAMES = frozenset(
    {"SQL Id", "SQL ID", "Old Hash Value", "Release", "SQL Text", "Module", "SQL Module", "Sid, Serial#", "Sid,Serial#"}
)
_PADDED = re.compile(CELLS.pattern("{PADDED}"))


def frame_as_printed(table: PrintedTable, *, bounds: bool = False, decimal_mark: DecimalMark = ".") -> pl.DataFrame:
    """The table with the report's own headings.

    A column whose cells are all numbers without a unit is Int64 or Float64; any other stays text, as printed.  A blank
    cell and ``N/A`` are null.  Digits after a zero, such as ``0012``, are an id, and their column stays text.

    Args:
        table: the printed table.
        bounds: add ``<heading>_lo`` and ``<heading>_hi`` to each Float64 column.
        decimal_mark: the decimal mark of the report.
    """
    rows = table.rows.cells
    data: dict[str, pl.Series] = {}
    for place, name in enumerate(unique_names(table.headings)):
        cells = [row[place] for row in rows]
        for series in _typed(name, cells, bounds=bounds, decimal_mark=decimal_mark):
            data[series.name] = series
    return pl.DataFrame(list(data.values()))


def _typed(name: str, cells: list[str], *, bounds: bool, decimal_mark: DecimalMark) -> list[pl.Series]:
    text = [pl.Series(name, [cell or None for cell in cells], dtype=pl.String)]
    if name in _NAMES:
        return text
    if any(map(_PADDED.fullmatch, cells)):
        return text
    read = [read_printed(cell, rounded=True, decimal=decimal_mark) for cell in cells]
    if not any(printed.value is not None for printed in read):
        return text
    if any(printed.flag == "text" or printed.unit for printed in read):
        return text
    values = [printed.value for printed in read]
    if not any(decimal_mark in cell or "E" in cell for cell in cells):
        exact = [None if value is None else int(value) for value in values]
        if all(value is None or abs(value) <= LARGEST_WHOLE for value in exact):
            return [pl.Series(name, exact, dtype=pl.Int64)]
    found = [pl.Series(name, values, dtype=pl.Float64)]
    if bounds:
        found += [
            pl.Series(f"{name}_lo", [printed.lo for printed in read], dtype=pl.Float64),
            pl.Series(f"{name}_hi", [printed.hi for printed in read], dtype=pl.Float64),
        ]
    return found


class RawTables(Mapping[str, pl.DataFrame]):
    """Every table of a report under its own title, as printed; a title that repeats gets its number: `Latches (2)`.

    The frames are built when asked for: numbers without a unit are numbers, everything else is text as printed.
    """

    def __init__(self, tables: list[PrintedTable], *, bounds: bool, decimal_mark: DecimalMark = ".") -> None:
        self._bounds = bounds
        self._decimal_mark: DecimalMark = decimal_mark
        titles = unique_names([table.title or table.summary or "(untitled)" for table in tables])
        self._tables: dict[str, PrintedTable] = dict(zip(titles, tables, strict=True))
        self._frames: dict[str, pl.DataFrame] = {}
        self._bounded: dict[str, pl.DataFrame] = {}

    def __getitem__(self, title: str) -> pl.DataFrame:
        if title not in self._tables:
            raise TableNotFoundError(f"the report has no table titled {title!r}", expected=near(title, self._tables))
        if title not in self._frames:
            self._frames[title] = frame_as_printed(
                self._tables[title], bounds=self._bounds, decimal_mark=self._decimal_mark
            )
        return self._frames[title]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return f"<{len(self)} tables: {', '.join(list(self)[:4])}{', ...' if len(self) > 4 else ''}>"

    def headings(self, title: str) -> tuple[str, ...]:
        """The headings of a table as printed."""
        return self._tables[title].headings

    def cells(self, title: str) -> list[tuple[str, ...]]:
        """The rows of a table as printed, before any typing; a blank cell is an empty text."""
        return self._tables[title].rows.cells

    def notes(self, title: str) -> tuple[str, ...]:
        """The remarks that the report prints above a table; some hold figures."""
        return self._tables[title].notes
