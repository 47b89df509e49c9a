r"""Ruled tables: columns whose extents are given by a ruler of dashes.

AWR text reports, Statspack, SQL*Plus listings and ``strace -c`` all print::

    Event                             Waits    Time(s)
    ------------------------------ -------- ----------
    db file sequential read          55,702     11,112

Each run of dashes is the extent of one column.  A row is cut at those extents, never at its blanks.  Text that was
pasted or edited may have shifted; `cut_row` then gives each word to the column it overlaps, and says so, or says that
it cannot.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_RUN = re.compile(r"-+(?:/-+)*|=+|~+|_+")
_WORD = re.compile(r"\S+")
_RULER = re.compile(r"^\s*(?:-{2,}|={2,}|~{2,}|_{2,}|-)(?:\s+(?:-+|=+|~+|_+))*\s*$")


class Column(NamedTuple):
    """The extent of one column: `start` to before `end`, counted from 0."""

    start: int
    end: int


class Cut(NamedTuple):
    """One row cut into cells.

    Attributes:
        cells: one text a column, without the blanks around it; empty where the row is blank.
        is_shifted: the row did not fit its ruler and words were given to the columns they overlap.
        problem: what could not be decided, or an empty string; the cells are then a guess.
    """

    cells: tuple[str, ...]
    is_shifted: bool = False
    problem: str = ""


def is_ruler(line: str) -> bool:
    """Does the line consist of runs of dashes (``-``, ``=``, ``~`` or ``_``) and blanks only?

    Examples:
        >>> is_ruler("---------- --- -"), is_ruler("- a -"), is_ruler("   ")
        (True, False, False)
    """
    return _RULER.match(line) is not None


@lru_cache(maxsize=1024)
def columns_of(ruler: str) -> tuple[Column, ...]:
    """The extents of the columns under a ruler.

    Examples:
        >>> columns_of("---- --")
        (Column(start=0, end=4), Column(start=5, end=7))
    """
    return tuple(Column(*run.span()) for run in _RUN.finditer(ruler))


def cut_row(row: str, columns: tuple[Column, ...], numeric: tuple[int, ...] = ()) -> Cut:
    """The cells of a row.

    A row fits when the gaps between its columns are blank; the first column takes what precedes it, the last what
    follows it.  A row that does not fit is cut by words: each word goes to the column it overlaps most.

    Args:
        row: the line.
        columns: extents from `columns_of`.
        numeric: positions of columns that hold one number each and no text; two words in one of them are a problem.

    Examples:
        >>> columns = columns_of("---------- ----- ----")
        >>> cut_row("free waits 1,234  5.0", columns).cells
        ('free waits', '1,234', '5.0')
        >>> cut_row("free waits   1,234 5.0", columns)
        Cut(cells=('free waits', '1,234', '5.0'), is_shifted=True, problem='')
    """
    if fits(row, columns):
        last = len(columns) - 1
        return Cut(
            tuple(
                row[column.start if number else 0 : column.end if number < last else None].strip()
                for number, column in enumerate(columns)
            )
        )
    return _cut_by_words(row, columns, numeric)


def fits(row: str, columns: tuple[Column, ...]) -> bool:
    """Are the gaps between the columns blank in this row?"""
    return len(columns) == 1 or all(not row[left.end : right.start].strip() for left, right in pairwise(columns))


def _cut_by_words(row: str, columns: tuple[Column, ...], numeric: tuple[int, ...]) -> Cut:
    cells: list[list[str]] = [[] for _ in columns]
    problems = []
    reached = 0
    for found in _WORD.finditer(row):
        overlaps = [min(found.end(), column.end) - max(found.start(), column.start) for column in columns]
        best = max(overlaps)
        nearest = [number for number, overlap in enumerate(overlaps) if overlap == best]
        if len(nearest) > 1 or nearest[0] < reached:
            problems.append(f"{found.group()!r} lies between two columns")
        reached = max(nearest[0], reached)
        cells[reached].append(found.group())
    problems += [f"{' '.join(cells[number])!r} is more than one number" for number in numeric if len(cells[number]) > 1]
    return Cut(tuple(" ".join(words) for words in cells), is_shifted=True, problem="; ".join(problems))


def headings(lines: list[str], columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The heading of each column, joined over several header lines; a word belongs where it overlaps most.

    One that lies in no column alone belongs where the word one blank before it is: the line is shifted.  A line that
    one blank more or less puts into its columns is moved.

    Examples:
        >>> headings(["              Total", "Event         Waits"], columns_of("---------- --------"))
        ('Event', 'Total Waits')
        >>> headings(["         GC Buffer    % of", "            Busy Capture"], columns_of("---------------- -------"))
        ('GC Buffer Busy', '% of Capture')
        >>> headings(["Exec %Total  Time (s) Value"], columns_of("----- ------ --------- -----"))
        ('Exec', '%Total', 'Time (s)', 'Value')
    """
    found: list[list[str]] = [[] for _ in columns]
    ends = [column.end for column in columns]
    for line in lines:
        place, end = 0, -1
        moved = (line, f" {line}", *([line[1:]] if line[:1] == " " else []))
        for word in _WORD.finditer(next((one for one in moved if fits(one, columns)), line)):
            nearest = _nearest(word.start(), word.end(), columns, ends)
            start = columns[nearest].start
            is_within = start == word.start() or (start < word.start() and word.end() <= ends[nearest])
            place = place if word.start() == end + 1 and not is_within else nearest
            found[place].append(word.group())
            end = word.end()
    return tuple(" ".join(words) for words in found)


def _nearest(start: int, end: int, columns: tuple[Column, ...], ends: list[int]) -> int:
    """The column that a word overlaps most, or the nearest; the left one of two equals."""
    place = bisect_right(ends, start)
    if place == len(columns):
        return place - 1
    if columns[place].start <= start and end <= ends[place]:
        return place
    best = max(place - 1, 0)
    most = min(end, ends[best]) - max(start, columns[best].start)
    while place < len(columns):
        overlap = min(end, ends[place]) - max(start, columns[place].start)
        if overlap > most:
            best, most = place, overlap
        if columns[place].start >= end:
            break
        place += 1
    return best
