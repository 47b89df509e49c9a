"""Signs that rows of a result are another one's: they do not stand where the client prints rows below its ruler."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from logframe import Column, columns_of, fits
from sqlplusparse.cells import cut_cells, is_guess
from sqlplusparse.lines import NUMBER, Kind
from sqlplusparse.loosefigures import is_nearly_printed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse.page import Page
    from sqlplusparse.records import Grid

#: Of this many rows one may be of another kind by mistake.
_FEWEST_ALIKE: Final = 10
_FEWEST_COLUMNS: Final = 3
_REMARK: Final = "<--"
#: This many rows of one width and form are one result's.
_FEWEST_FITTING: Final = 3


def note_misplaced_rows(page: Page, grid: Grid) -> None:
    """Add a diagnostic where rows do not stand below the ruler of a result, where others do."""
    columns = grid.rulers[0]
    if _are_figures(grid.headings) or _is_beside(page, grid):
        page.note(grid.first, "misplaced", "the lines above this ruler are no headings of its columns")
    for number in _below_blank_lines(page, grid) if len(grid.rows) > 1 else ():
        if is_nearly_printed(page, number):
            page.note(number, "misplaced", "a row like a feedback or an Elapsed, but not as a client prints them")
    if len(grid.rulers) > 1 or grid.cells:
        return
    if grid.is_collapsed or (len(grid.rows) == 1 and not fits(page.lines[grid.rows[0]], columns)):
        _note_guesses(page, grid, columns)
    if grid.is_collapsed or len(grid.rows) == 1:
        return
    misplaced = _outside(page, grid, columns)
    is_other = False
    if len(columns) == 1 and misplaced and grid.rows[0] not in misplaced:
        first = page.lines[grid.rows[0]][columns[0].start :]
        is_other = _is_number(first, columns[0].end - columns[0].start)
    if misplaced and len(misplaced) * 2 >= len(grid.rows) and not (is_other or _is_tail(grid, misplaced)):
        _note_guesses(page, grid, columns)
        return
    if not misplaced:
        misplaced = [number for number in grid.rows if _ends_between(page.lines[number], columns)]
    if not misplaced:
        misplaced = [*_no_numbers(page, grid)] or [*_below_sums(page, grid)] or _text_alone(page, grid)
    if not misplaced and not grid.totals and len(columns) > 1:
        misplaced = _of_other_types(page, grid)
    if misplaced:
        reason = f"{len(misplaced)} of {len(grid.rows)} rows do not stand below the ruler; they may be another result's"
        page.note(misplaced[0], "misplaced", reason)


def _below_blank_lines(page: Page, grid: Grid) -> Iterator[int]:
    """Rows with a blank line above."""
    blank = page.kinds.find(Kind.BLANK, grid.rows[0], grid.rows[-1]) if grid.rows else -1
    while blank >= 0:
        if page.kinds[blank + 1] != Kind.BLANK:
            yield blank + 1
        blank = page.kinds.find(Kind.BLANK, blank + 1, grid.rows[-1])


def _note_guesses(page: Page, grid: Grid, columns: tuple[Column, ...]) -> None:
    """Add a diagnostic where rows are shifted off the ruler and more than one reading is possible."""
    guesses = [number for number in grid.rows if is_guess(page.lines[number], columns, is_collapsed=grid.is_collapsed)]
    if guesses:
        reason = f"{len(guesses)} of {len(grid.rows)} rows do not stand below the ruler; cells may be in other columns"
        page.note(guesses[0], "misplaced", reason)


def _outside(page: Page, grid: Grid, columns: tuple[Column, ...]) -> list[int]:
    """Rows that are longer than the only column, or stand across the gaps between columns."""
    if len(columns) == 1:
        return [number for number in grid.rows if len(page.lines[number]) > columns[0].end]
    return [number for number in grid.rows if not fits(page.lines[number], columns)]


def _ends_between(line: str, columns: tuple[Column, ...]) -> bool:
    """Does a line end with a number, after several blanks, that neither begins nor ends where a column does?"""
    end = len(line.rstrip())
    if end >= columns[-1].end or not line[end - 1 : end].isdigit():
        return False
    start = line.rfind("  ", 0, end) + 2
    return (
        start > 1
        and NUMBER.fullmatch(line[start:end]) is not None
        and not (any(start == column.start or end == column.end for column in columns))
    )


def _is_tail(grid: Grid, misplaced: list[int]) -> bool:
    """Do some rows fit, and none below the first that does not?"""
    return len(grid.rows) - len(misplaced) >= _FEWEST_FITTING and grid.rows[-len(misplaced) :] == misplaced


def _no_numbers(page: Page, grid: Grid) -> Iterator[int]:
    """Rows whose cell does not end, or is no number, where the heading and most rows say that the column has numbers.

    The client puts the heading of numbers at the right of its column, that of texts at the left.
    """
    above = page.lines[grid.first : grid.rows[0]] if grid.rows else []
    if len(above) != 2:
        return
    for start, end in grid.rulers[0]:
        heading = above[0][start:end]
        if len(heading) != end - start or heading[0] != " " or heading[-1] == " ":
            continue
        cells = [(number, page.lines[number][start:end]) for number in grid.rows]
        others = [number for number, cell in cells if not _is_number(cell, end - start)]
        if others and len(others) * 2 < len(cells):
            yield from others
            return


def _is_number(cell: str, width: int) -> bool:
    """Is this a number at the right of its column, or nothing?"""
    text = cell.strip()
    return not text or (
        len(cell) == width and cell[-1] != " " and (NUMBER.fullmatch(text) is not None or text[0] == "#")
    )


def _below_sums(page: Page, grid: Grid) -> Iterator[int]:
    """Rows below the ruler of COMPUTE that have nothing under its dashes."""
    for number in grid.rows if grid.totals else ():
        ruler = number - 1
        if ruler > grid.rows[0] and page.kinds[ruler] == Kind.RULER:
            line = page.lines[number]
            if not any(line[start:end].strip() for start, end in columns_of(page.lines[ruler])):
                yield number


def _text_alone(page: Page, grid: Grid) -> list[int]:
    """The last row, where it alone has a text in the first column and no number in the last one."""
    columns = grid.rulers[0]
    if len(columns) < _FEWEST_COLUMNS or len(grid.rows) < _FEWEST_FITTING:
        return []
    start = columns[-1].start
    cells = [page.lines[number][start:].strip() for number in grid.rows]
    is_alone = not cells[-1] and not page.lines[grid.rows[-1]][columns[0].end :].strip()
    return grid.rows[-1:] if is_alone and all(map(NUMBER.fullmatch, filter(None, cells[:-1]))) else []


def _is_figure(cell: str) -> bool:
    """Is a cell empty, a number, or too wide for its column; a remark may follow it?"""
    return NUMBER.fullmatch(cell.partition(_REMARK)[0].rstrip()) is not None or not cell.strip("#")


@lru_cache(maxsize=1 << 10)
def _are_figures(headings: tuple[str, ...]) -> bool:
    """Are several figures one below another in the heading of a column, or in those of two the same figure?"""
    figures = [words for words in map(str.split, headings) if words and all(map(NUMBER.fullmatch, words))]
    return any(len(words) > 1 for words in figures) or len({*map(tuple, figures)}) < len(figures)


def _is_beside(page: Page, grid: Grid) -> bool:
    """Does the line above the ruler of a single column have text before it, or have most columns no heading?"""
    columns, above = grid.rulers[0], page.lines[grid.first]
    if len(columns) == 1:
        before = above[: columns[0].start]
        return before[-1:] == " " and before.strip() != ""
    return 2 * sum(map(bool, grid.headings)) < len(grid.headings)


def _of_other_types(page: Page, grid: Grid) -> list[int]:
    """Rows with a text in a column that has numbers in nearly all rows of a result."""
    if len(grid.rows) < _FEWEST_ALIKE:
        return []
    rows = [cut_cells(page.lines[number], grid.rulers[0]) for number in grid.rows]
    found: set[int] = set()
    for cells in zip(*rows, strict=True):
        others = [place for place, cell in enumerate(cells) if not _is_figure(cell)]
        if len(others) * _FEWEST_ALIKE <= sum(map(bool, cells)):
            found.update(others)
    return [grid.rows[place] for place in sorted(found)]
