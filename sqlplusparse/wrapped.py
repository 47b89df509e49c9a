"""Rows whose texts are wrapped over several lines, and rows of nulls, which are blank lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logframe import Column, cut_row
from sqlplusparse.lines import NUMBER, Kind

if TYPE_CHECKING:
    from sqlplusparse.page import Page
    from sqlplusparse.records import Grid


def join_wrapped(page: Page, grid: Grid, count: int | None) -> None:
    """Join the lines of rows whose texts are wrapped.

    Where the client says how many rows there are, that decides.  Else a row is continued in the next line where its
    texts fill their columns and a blank line follows the row (SET RECSEP).
    """
    if grid.cells or grid.totals or grid.is_collapsed or len(grid.rulers) > 1:
        return
    if count is None:
        _join_separated(page, grid)
        return
    if not 0 < count < len(grid.rows):
        return
    columns = grid.rulers[0]
    widths = [column.end - column.start for column in columns]
    rows: list[tuple[int, list[str]]] = []
    above: tuple[str, ...] = ()
    for number in grid.rows:
        cells = cut_row(page.lines[number], columns).cells
        if above and _is_wrapped(cells, above, widths, is_counted=True):
            texts = rows[-1][1]
            for place, cell in enumerate(cells):
                blank = " " if cell and len(above[place]) < widths[place] else ""
                texts[place] += blank + cell
        elif len(rows) == count:
            return
        else:
            rows.append((number, list(cells)))
        above = cells
    if len(rows) == count:
        grid.rows = [number for number, _ in rows]
        grid.cells = [tuple(texts) for _, texts in rows]


def add_blank_rows(page: Page, grid: Grid, count: int) -> None:
    """Take blank lines for rows of nulls, where this many are missing from what the client selected.

    They are above, between and below the other rows: one blank line more than the client prints above its feedback.
    """
    if (
        grid.cells
        or grid.totals
        or grid.is_collapsed
        or len(grid.rulers) > 1
        or grid.pages > 1
        or len(grid.rows) >= count
    ):
        return
    start = grid.rows[0] if grid.rows else grid.last
    while page.kinds[start - 1] == Kind.BLANK:
        start -= 1
    within = [number for number in range(start, grid.last) if page.kinds[number] == Kind.BLANK]
    feedback = page.after_blanks(grid.last)
    below = list(range(grid.last, feedback - 1)) if page.kind(feedback) == Kind.FEEDBACK else []
    for blanks in (within, within + below):
        if len(grid.rows) + len(blanks) == count:
            grid.rows = sorted(grid.rows + blanks)
            grid.last = max(grid.last, grid.rows[-1] + 1)
            return


def _join_separated(page: Page, grid: Grid) -> None:
    """Join lines whose texts fill their columns with the lines below them, up to a blank line."""
    if not any(page.kinds[number] == Kind.BLANK for number in range(grid.rows[0] if grid.rows else 0, grid.last)):
        return
    columns = grid.rulers[0]
    widths = [column.end - column.start for column in columns]
    rows: list[tuple[int, list[str]]] = []
    above: tuple[str, ...] = ()
    parts: list[int] = []
    for number in grid.rows:
        cells = cut_row(page.lines[number], columns).cells
        goes_on = (
            bool(above)
            and page.kind(number - 1) != Kind.BLANK
            and len(columns) > 1
            and _is_wrapped(cells, above, widths)
            and all(len(above[place]) == widths[place] for place, cell in enumerate(cells) if cell)
            and _ends_with_blank(page, number, columns, cells)
        )
        if goes_on:
            texts = rows[-1][1]
            for place, cell in enumerate(cells):
                texts[place] += cell
            parts.append(number)
        else:
            rows.append((number, list(cells)))
        above = cells
    if parts:
        grid.rows = [number for number, _ in rows]
        grid.cells = [tuple(texts) for _, texts in rows]
        page.note(parts[0], "repaired", f"{len(parts)} lines go on with the rows above them, whose texts are wrapped")


def _ends_with_blank(page: Page, number: int, columns: tuple[Column, ...], cells: tuple[str, ...]) -> bool:
    """Does a blank line follow the lines that continue the same columns?"""
    shown = {place for place, cell in enumerate(cells) if cell}
    number += 1
    while page.kind(number) == Kind.TEXT:
        below = cut_row(page.lines[number], columns).cells
        if not shown >= {place for place, cell in enumerate(below) if cell}:
            return False
        number += 1
    return page.kind(number) == Kind.BLANK


def _is_wrapped(cells: tuple[str, ...], above: tuple[str, ...], widths: list[int], *, is_counted: bool = False) -> bool:
    """Do the cells of a line continue those above: texts only, each below one, and not below all?

    Args:
        cells: of the line.
        above: of the line above.
        widths: how wide each column is.
        is_counted: the number of rows is known, so that digits may continue a text that fills its column.
    """
    if all(cells):
        return len(cells) == 1 and len(above[0]) == widths[0]
    return any(cells) and all(
        not cell or (shown and (not NUMBER.fullmatch(cell) or (is_counted and len(shown) == width)))
        for cell, shown, width in zip(cells, above, widths, strict=True)
    )
