"""Queries as most are: one typed line, a plain grid with a heading of one line, its feedback and its Elapsed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from logframe import columns_of, fits
from sqlplusparse.autotrace import may_be_known
from sqlplusparse.cells import are_collapsed, headings_of
from sqlplusparse.elapsed import language_of, read_clock
from sqlplusparse.feedback import read_feedback
from sqlplusparse.grids import ENDS, GAPS, MONITOR_TITLES
from sqlplusparse.lines import Kind, runs_of
from sqlplusparse.listings import RUNSTATS
from sqlplusparse.page import LineRole, section_above
from sqlplusparse.records import Block, Grid, Outcome
from sqlplusparse.statements import FIRST_LETTERS, typed_query

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


#: The kinds of the lines of such a query; its groups end after the rows and after the feedback.
_SHAPE: Final = re.compile(
    b"".join(
        re.escape(bytes([kind])) + often
        for kind, often in (
            (Kind.PROMPT, b""),
            (Kind.BLANK, b""),
            (Kind.TEXT, b""),
            (Kind.RULER, b"("),
            (Kind.TEXT, b"+)"),
            (Kind.BLANK, b"+"),
            (Kind.FEEDBACK, b"()"),
            (Kind.BLANK, b"*"),
            (Kind.ELAPSED, b""),
        )
    )
).match
#: Lines from the prompt to the first row.
_ABOVE: Final = 4
_ROLES_ABOVE: Final = bytes([LineRole.INPUT, LineRole.BLANK, LineRole.HEADING, LineRole.HEADING])
#: How lines of runstats and MyStats begin.
_TYPED: Final = (*RUNSTATS, "STAT ", "LATCH ", "TIME")
#: A line of figures ends with one of these.
LAST_OF_FIGURE: Final = frozenset("0123456789.,kKMGT")


def read_plain_query(page: Page, number: int) -> tuple[Block, Block, Block, Block] | None:
    """The blocks of a query at a prompt, where the readers of each block give the same; None for all else.

    The page has no prompt of its own, and nothing but rulers separates the columns of its results.
    """
    shape = _SHAPE(page.kinds, number)
    if shape is None:
        return None
    lines = page.lines
    (_, last), (_, end), (_, feedback) = shape.regs
    start = number + _ABOVE
    heading, ruler = lines[number + 2], lines[number + 3]
    headed = plain_heading(heading, ruler)
    typed = typed_query(lines[number])
    if headed is None or typed is None or _is_notable_heading(heading) or heading in lines[start:end]:
        return None
    said = lines[feedback - 1].strip()
    rows, verb = read_feedback(said)
    clock = read_clock(lines[last - 1].strip(), last - 1)
    if verb is None or clock is None or language_of(clock.label) is None:
        return None
    roles = page.roles
    roles[number:end] = _ROLES_ABOVE + _ROW * (end - start)
    roles[feedback - 1] = LineRole.FEEDBACK
    roles[last - 1] = LineRole.ELAPSED
    return (
        Block("INPUT", number, number + 1, typed),
        Block("GRID", number + 2, end, Grid(*headed, list(range(start, end)), 1, number + 2, end)),
        Block(
            "SELECTED" if verb == "select" else "CHANGED",
            feedback - 1,
            feedback,
            Outcome(feedback - 1, said, rows, verb),
        ),
        Block("ELAPSED", last - 1, last, clock),
    )


def is_notable(line: str) -> bool:
    """May a line of text be a statement, a timing, a figure, a result without a ruler, or damage?"""
    if ":" in line or line[:3].lower() in FIRST_LETTERS or line[0] in '<"':
        return True
    bare = line.lstrip()
    return bare[0] == '"' or (
        (
            line[-1] in LAST_OF_FIGURE
            and (bare[0].isdigit() or bare.startswith(_TYPED) or ("  " in bare and may_be_known(bare)))
        )
        or (line[-1].isalpha() and bare[0].isdigit() and "  " in bare)
    )


_is_notable_heading = lru_cache(maxsize=1 << 10)(is_notable)
