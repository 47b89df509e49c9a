"""Rows folded over several lines, because the line size is less than the columns need.

Of each row SQL*Plus prints one line for each ruler, blank where all of its columns are null, and after the row a blank
line (SET RECSEP).  So the place of a line says which columns it has, not what stands in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe import Column, cut_row, fits
from sqlplusparse.lines import Kind
from sqlplusparse.page import LineRole, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse.records import Grid

_Rows = list[tuple[int, tuple[str, ...]]]
#: Blank lines after a row: what SET RECSEP prints by default, or nothing.
_SEPARATORS: Final = (1, 0)


def fits_ruler(line: str, columns: tuple[Column, ...]) -> bool:
    """Stands a line within the columns of a ruler?"""
    return fits(line, columns) and len(line) <= columns[-1].end


def unfold(page: Page, grid: Grid, count: int | None = None) -> None:
    """Give a grid its rows and their cells, by the places of the lines.

    Args:
        page: the page.
        grid: a grid of more than one ruler; its rows are line numbers.
        count: how many rows the client says there are.

    A grid whose lines do not go by their places keeps the lines that it has; a diagnostic says so.
    """
    if not grid.rows:
        return
    readings = [rows for separators in _SEPARATORS if (rows := list(_by_place(page, grid, separators)))]
    if count is not None:
        readings.sort(key=lambda rows: len(rows) != count)
    if readings:
        rows = readings[0]
        grid.rows = [number for number, _ in rows]
        grid.cells = [cells for _, cells in rows]
        return
    if count is None:
        reason = "the lines of these folded rows do not follow their rulers; rows may be merged"
        page.note(grid.first, "ambiguous", reason)


def _by_place(page: Page, grid: Grid, separators: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rows when each has one line a ruler and this many blank lines after it; none when a line does not fit."""
    rows: _Rows = []
    number, end = grid.first, grid.last
    height = len(grid.rulers)
    while number < end:
        start = number
        while number < end and (page.roles[number] == LineRole.HEADING or _is_before_heading(page, number, end)):
            number += 1
        if number >= end:
            break
        if number == start and rows and separators and page.lines[number - 1]:
            return
        lines = [page.lines[place] if place < len(page) else "" for place in range(number, number + height)]
        if not any(lines):
            return
        cells: list[str] = []
        for line, columns in zip(lines, grid.rulers, strict=True):
            if not fits_ruler(line, columns):
                return
            cells += cut_row(line, columns).cells
        first = next(place for place, line in enumerate(lines, number) if line)
        rows.append((first, tuple(cells)))
        number += height
        for _ in range(separators):
            if number < end and page.lines[number]:
                return
            number += 1
    yield from rows


def _is_before_heading(page: Page, number: int, end: int) -> bool:
    """Stand only blank lines between this one and a heading that is printed again?"""
    while number < end and (not page.lines[number] or page.kinds[number] == Kind.ELISION):
        number += 1
    return number < end and page.roles[number] == LineRole.HEADING
