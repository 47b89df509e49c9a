"""A result grid as a typed frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import read_printed, unique_names
from logframe.printed import decimal_mark
from sqlplusparse.cells import cells_of
from sqlplusparse.lines import LISTS, Pattern

if TYPE_CHECKING:
    from sqlplusparse.page import Page
    from sqlplusparse.records import Grid

_INTEGER: Final = Pattern("{INTEGER}", LISTS)
_LONG_INTEGER: Final = Pattern("{LONG_INTEGER}", LISTS)
_FIGURE: Final = Pattern("{FIGURE}", LISTS)


def table_frame(page: Page, grid: Grid, *, printed: bool) -> pl.DataFrame:
    """The rows of a grid: whole numbers as Int64, other numbers as Float64, all else as text; blank cells are null.

    A column with a whole number of more than 18 digits, such as a signature, is text: no digit of it is lost.

    Where COMPUTE printed sums, or a total stands below a second ruler, `is_total` says which rows they are.
    """
    found = cells_of(page, grid)
    rows = [cells for _, cells in found]
    columns: dict[str, pl.Series] = {}
    for place, (heading, width) in enumerate(zip(unique_names(grid.headings), _widths(grid), strict=True)):
        cells = [row[place] for row in rows]
        marks = _overflows(cells, width)
        texts = [None if not cell or cell in marks else cell for cell in cells]
        columns |= _typed(heading, texts, printed=printed)
    if grid.totals:
        name = unique_names((*grid.headings, "is_total"))[-1]
        columns[name] = pl.Series(name, [number in grid.totals for number, _ in found], pl.Boolean)
    return pl.DataFrame(columns)


def note_overflows(page: Page, grid: Grid) -> None:
    """Say of each figure of a grid that did not fit its column that it is null."""
    lines = page.lines
    for number in grid.rows:
        if "##" in lines[number]:
            break
    else:
        return
    rows = cells_of(page, grid)
    for place, (heading, width) in enumerate(zip(unique_names(grid.headings), _widths(grid), strict=True)):
        marks = _overflows([cells[place] for _, cells in rows], width)
        for number, cells in rows if marks else ():
            if cells[place] in marks:
                page.note(number, "overflow", f"{heading}: the figure did not fit its column; it is null, not zero")


def _widths(grid: Grid) -> list[int]:
    """How wide each column is."""
    return [column.end - column.start for columns in grid.rulers for column in columns]


def _overflows(cells: list[str], width: int) -> set[str]:
    """The cells of a column that stand for figures too long for it; bars that a script draws with ``#`` are text."""
    shown = {cell for cell in cells if cell}
    marks = {cell for cell in shown if not cell.strip("#")}
    figures = shown - marks
    if figures:
        return marks if all(map(_FIGURE.fullmatch, figures)) else set()
    return marks if width > 1 and marks == {"#" * width} else set()


def _typed(heading: str, texts: list[str | None], *, printed: bool) -> dict[str, pl.Series]:
    shown = [text for text in texts if text is not None]
    if shown and all(_INTEGER.fullmatch(text) for text in shown):
        return {heading: pl.Series(heading, [None if text is None else int(text) for text in texts], pl.Int64)}
    if not shown or not all(_FIGURE.fullmatch(text) and not _LONG_INTEGER.fullmatch(text) for text in shown):
        return {heading: pl.Series(heading, texts, pl.String)}
    decimal = decimal_mark(shown)
    found = [read_printed(text, decimal=decimal) for text in texts]
    if any(number.flag == "text" for number in found):
        return {heading: pl.Series(heading, texts, pl.String)}
    columns = {heading: pl.Series(heading, [number.value for number in found], pl.Float64)}
    if printed:
        columns[f"{heading}_lo"] = pl.Series(f"{heading}_lo", [number.lo for number in found], pl.Float64)
        columns[f"{heading}_hi"] = pl.Series(f"{heading}_hi", [number.hi for number in found], pl.Float64)
    return columns
