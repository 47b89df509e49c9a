"""Result grids as most are: one heading of one line, and rows without anything between them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from logframe import columns_of, fits
from sqlplusparse.cells import are_collapsed, headings_of
from sqlplusparse.grids import ENDS, GAPS, MONITOR_TITLES
from sqlplusparse.lines import Kind, runs_of
from sqlplusparse.page import LineRole, section_above
from sqlplusparse.records import Grid

if TYPE_CHECKING:
    from logframe import Column
    from sqlplusparse.page import Page

_HEADED: Final = bytes([LineRole.HEADING]) * 2
_ROW: Final = bytes([LineRole.ROW])
_TEXTS: Final = runs_of(Kind.TEXT)
_BLANKS: Final = runs_of(Kind.BLANK)
#: What ends a grid for certain, below a blank line.
_CERTAIN_ENDS: Final = ENDS - {Kind.ERROR}


def read_plain_grid(page: Page, number: int, *, is_typed: bool) -> Grid | None:
    """The grid whose heading is a line, where `grids.read_grid` gives the same; None for any other grid.

    Args:
        page: the page.
        number: number of the heading's line, above which no text is open.
        is_typed: as for `grids.read_grid`.
    """
    kinds, roles = page.kinds, page.roles
    start = number + 2
    end = _TEXTS(kinds, start).end()
    after = _BLANKS(kinds, end).end()
    if end == start or (after < len(kinds) and (after == end or kinds[after] not in _CERTAIN_ENDS)):
        return None
    heading, ruler = page.lines[number:start]
    headed = plain_heading(heading, ruler)
    above = number - 2 if number and kinds[number - 1] == Kind.BLANK else number - 1
    if (
        headed is None
        or (len(headed[0]) == 1 and not is_typed)
        or (above >= 0 and (roles[above] == LineRole.TEXT or kinds[above] in GAPS))
        or heading in page.lines[start:end]
    ):
        return None
    roles[number:end] = _HEADED + _ROW * (end - start)
    return Grid(*headed, list(range(start, end)), 1, number, end, section_above(page, number))


@lru_cache(maxsize=1 << 10)
def plain_heading(heading: str, ruler: str) -> tuple[tuple[str, ...], tuple[tuple[Column, ...]]] | None:
    """The headings and the extents of the columns, where a line is the heading above a ruler; None for other lines."""
    columns = columns_of(ruler)
    if (
        not columns
        or "*" in ruler
        or (len(columns) == 1 and heading.strip() in MONITOR_TITLES)
        or len(heading) > columns[-1].end
        or not fits(heading, columns)
        or are_collapsed((heading,), columns)
    ):
        return None
    return headings_of([heading], ruler, columns), (columns,)
