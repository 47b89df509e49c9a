"""Tables as printed: any table of a report as a frame whose columns are its headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from awrparse.values import CELLS
from logframe import read_printed, unique_names
from logframe.printed import LARGEST_WHOLE

if TYPE_CHECKING:
    from awrparse.records import PrintedTable
    from logframe.decimal_mark import DecimalMark

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
