"""The cells of result grids, and their headings."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from logframe import Column, columns_of, cut_row, fits, headings
from sqlplusparse.lines import NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlplusparse.page import Page
    from sqlplusparse.records import Grid

_WIDE: Final = "  "


def headings_of(lines: list[str], ruler: str, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The heading of each column."""
    if len(lines) == len(columns) == 1 and len(lines[0]) <= columns[0].end:
        return (" ".join(lines[0].split()),)
    return _headings(tuple(lines), ruler)


@lru_cache(maxsize=1 << 10)
def _headings(lines: tuple[str, ...], ruler: str) -> tuple[str, ...]:
    """The heading of each column; cut at the ruler where the lines fit it, else word by word."""
    columns = columns_of(ruler)
    words = lines[0].split()
    if len(words) == len(columns) and are_collapsed(lines, columns):
        return tuple(words)
    if not all(fits(line, columns) and len(line) <= columns[-1].end for line in lines):
        return headings(list(lines), columns)
    cut = [[" ".join(line[start:end].split()) for line in lines] for start, end in columns]
    return tuple(" ".join(cell for cell in cells if cell) for cells in cut)


def are_collapsed(lines: Sequence[str], columns: tuple[Column, ...]) -> bool:
    """Have headings that end before their last column single blanks between them only?

    Examples:
        >>> columns = columns_of("---------- ---------- -----")
        >>> are_collapsed(["EVENT WAITS PCT"], columns), are_collapsed(["EVENT           WAITS   PCT"], columns)
        (True, False)
    """
    if len(lines) != 1 or len(columns) == 1 or len(lines[0].rstrip()) > columns[-1].start:
        return False
    text = lines[0].strip()
    return _WIDE not in text and text.count(" ") + 1 >= len(columns)


def cells_of(page: Page, grid: Grid) -> list[tuple[int, tuple[str, ...]]]:
    """The rows of a grid as cells, each with the number of its (first) line; folded rows are unfolded."""
    if grid.cells:
        return list(zip(grid.rows, grid.cells, strict=True))
    if len(grid.rulers) == 1:
        columns = grid.rulers[0]
        if grid.is_collapsed:
            texts = [(number, page.lines[number]) for number in grid.rows]
            return [(number, _shifted_cells(text, len(columns)) or cut_cells(text, columns)) for number, text in texts]
        return [(number, cut_cells(page.lines[number], columns)) for number in grid.rows]
    return list(_unfolded(page, grid))


@lru_cache(maxsize=1 << 10)
def cut_cells(line: str, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The cells of a row.  A row shifted off its ruler is cut by its words where only one reading is possible.

    Examples:
        >>> columns = columns_of("------ ----- ----")
        >>> cut_cells("cell flash cache read hits             2991          0", columns)
        ('cell flash cache read hits', '2991', '0')
        >>> cut_cells("cell flash cache read hits 2991 0", columns)
        ('cell flash cache read hits', '2991', '0')
    """
    cut = cut_row(line, columns)
    return (_shifted_cells(line, len(columns)) or cut.cells) if cut.is_shifted else cut.cells


def is_guess(line: str, columns: tuple[Column, ...], *, is_collapsed: bool = False) -> bool:
    """Was a row that is shifted off its ruler cut so that a figure may be in a wrong column?

    Args:
        line: the row.
        columns: extents from `columns_of`.
        is_collapsed: as in `Grid`.

    Examples:
        >>> columns = columns_of("------ ----- ----")
        >>> is_guess("777 User I/O 22        1", columns)
        True
        >>> is_guess("reads           2991          0", columns), is_guess("read 12:43:45.12 b", columns)
        (False, True)
    """
    cut = cut_row(line, columns)
    if is_collapsed or not cut.is_shifted:
        return is_collapsed and _shifted_cells(line, len(columns)) is None
    if _shifted_cells(line, len(columns)):
        return False
    gaps = [line[left.end - 1 : right.start + 1] for left, right in pairwise(columns)]
    return (
        bool(cut.problem)
        or any(" " not in gap and any(map(str.isdigit, gap)) for gap in gaps)
        or any(NUMBER.fullmatch(word) for cell in cut.cells if len(words := cell.split()) > 1 for word in words)
    )


def _shifted_cells(line: str, count: int) -> tuple[str, ...] | None:
    """The cells of a row by its gaps and its numbers; None where they are not as many as the columns.

    Wide gaps separate cells; so does any gap between two numbers.  Where all gaps are single blanks, as pages of the
    web make them, numbers stand before and after one text.
    """
    parts = [part.strip() for part in line.strip().replace("   ", _WIDE).split(_WIDE) if part.strip()]
    if len(parts) == count:
        return tuple(parts)
    if len(parts) > 1:
        parts = [cell for part in parts for cell in _between_numbers(part)]
        return tuple(parts) if len(parts) == count else None
    words = line.split()
    if not any(map(str.isdigit, line)):
        return None
    is_number = [NUMBER.fullmatch(word) is not None for word in words]
    if all(is_number):
        return tuple(words) if len(words) == count else None
    first = is_number.index(False)
    last = len(words) - is_number[::-1].index(False)
    cells = (*words[:first], " ".join(words[first:last]), *words[last:])
    return cells if len(cells) == count else None


def _between_numbers(text: str) -> list[str]:
    """A text cut between two numbers that stand side by side."""
    cells = [""]
    for word, following in pairwise([*text.split(), ""]):
        cells[-1] = f"{cells[-1]} {word}".lstrip()
        if NUMBER.fullmatch(word) and NUMBER.fullmatch(following):
            cells.append("")
    return cells


def _unfolded(page: Page, grid: Grid) -> list[tuple[int, tuple[str, ...]]]:
    """Rows folded over as many lines as there are rulers; lines too few or too many are padded or dropped."""
    rows: list[tuple[int, tuple[str, ...]]] = []
    for start in range(0, len(grid.rows), len(grid.rulers)):
        numbers = grid.rows[start : start + len(grid.rulers)]
        cells: list[str] = []
        for place, columns in enumerate(grid.rulers):
            line = page.lines[numbers[place]] if place < len(numbers) else ""
            cells += cut_row(line, columns).cells
        rows.append((numbers[0], tuple(cells)))
    return rows
