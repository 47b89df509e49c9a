"""Queries as most are: one typed line, a plain grid, its feedback and its Elapsed, read in one step."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from sqlplusparse.elapsed import language_of, read_clock
from sqlplusparse.feedback import read_feedback
from sqlplusparse.lines import Kind
from sqlplusparse.listings import RUNSTATS
from sqlplusparse.page import LineRole
from sqlplusparse.plaingrids import plain_heading
from sqlplusparse.records import Block, Grid, Outcome
from sqlplusparse.statements import FIRST_LETTERS, typed_query
from sqlplusparse.statnames import may_be_known

if TYPE_CHECKING:
    from sqlplusparse.page import Page

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
_ROW: Final = bytes([LineRole.ROW])


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
