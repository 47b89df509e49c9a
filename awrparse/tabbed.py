"""Tables copied out of a browser: a tab between two cells, the title and the notes on lines of their own above.

That is what a page of an HTML report becomes when it is marked and pasted, or saved as text.  There are no rulers; a
table is an unbroken run of lines with tabs, and its first line holds the headings unless there are figures in it.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from awrparse.addm import findings_of
from awrparse.records import Document, PrintedTable, Problem, Rows
from awrparse.tables import tables_titled
from awrparse.text import lines as kind
from awrparse.text.labels import cut_prose, has_number, may_be_title
from awrparse.text.layout import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awrparse.sniff import Part

#: A ruler of a text report has at least this many dashes; two stand above the signature of a mail.
_RULER_DASHES: Final = 5
#: Fewer lines with tabs than these are no table.
_FEWEST: Final = 2
#: What browsers put before the remarks above a table.
_BULLETS: Final = "\N{BULLET}*o-# "
#: Kinds of line that are what they are wherever they stand.
_KNOWN: Final = (kind.BANNER, kind.END, kind.NO_DATA)
#: The links after a table.
_BACK: Final = "Back to "
#: A title is no longer than this.
_LONGEST_TITLE: Final = 80


def is_tabbed(lines: list[str], kinds: bytearray) -> bool:
    r"""Are these tables with tabs, and no report with rulers that has tabs in its SQL texts?

    The first table shows it: it has tabs, or a ruler below a heading of a line or two.

    Examples:
        >>> is_tabbed(["Event\tWaits", "log file sync\t12"], bytearray(2)), is_tabbed(["Event  Waits"], bytearray(1))
        (True, False)
    """
    seen = 0
    for what, line in zip(kinds, lines, strict=True):
        if what in (kind.RULER, kind.UNDERLINE) and line.count("-") + line.count("~") >= _RULER_DASHES:
            return False
        if "\t" in line:
            seen += 1
        elif seen >= _FEWEST:
            return True
    return seen >= _FEWEST


class _Walk:
    """The walk over the lines of one part, and what it has found so far."""

    def __init__(self, lines: list[str], kinds: bytearray) -> None:
        self.lines = lines
        self.kinds = kinds
        self.tables: list[PrintedTable] = []
        self.problems: list[Problem] = []
        self.empty: list[str] = []
        self._texts: list[int] = []
        self._left: list[int] = []
        self._stop = 0
        self._title = ""
        self._headings: tuple[str, ...] = ()

    def run(self, first: int, end: int) -> None:
        """Visit the lines, a table at a time."""
        number = first
        while number < end:
            stop = number
            while stop < end and "\t" in self.lines[stop]:
                stop += 1
            if stop > number:
                self._add_table(number, stop)
                number = stop
                continue
            if self.kinds[number] == kind.ADDM:
                number = self._add_addm(number, end)
                continue
            if self.lines[number].strip():
                self._texts.append(number)
            number += 1
        self._left += self._texts
        self._settle()

    def _add_addm(self, start: int, end: int) -> int:
        """An ADDM report is prose up to the link after it; gives the line there."""
        stop = start
        while stop < end and self.kinds[stop] not in _KNOWN and not self.lines[stop].startswith(_BACK):
            stop += 1
        body = [line for line in range(start, stop) if self.lines[line].strip()]
        for line in body:
            self.kinds[line] = kind.PROSE
        self.tables.append(PrintedTable("ADDM Report", partial(cut_prose, self.lines, body), line=start + 1))
        self.tables += findings_of(self.lines, body)
        return stop

    def _add_table(self, start: int, stop: int) -> None:
        grid = [tuple([cell.strip() for cell in line.split("\t")]) for line in self.lines[start:stop]]
        heads = count_of_headings(grid)
        width = max(map(len, grid))
        is_torn = not heads and width == len(self._headings) and self._is_torn(start)
        place = None if is_torn else self._place_of_title()
        self._left += self._texts[: len(self._texts) if place is None else place]
        notes: tuple[str, ...] = ()
        if place is not None:
            self._title = self._words(self._texts[place])
            self._mark(self._texts[place], kind.TITLE)
            notes = tuple([self._words(line) for line in self._texts[place + 1 :]])
            for line in self._texts[place + 1 :]:
                self._mark(line, kind.NOTE)
        self._texts = []
        self._stop = stop
        if not is_torn:
            names = grid[heads - 1] if heads else ()
            self._headings = (*names, *[""] * (width - len(names)))
        self.kinds[start : start + heads] = bytes([kind.HEADING]) * heads
        self.kinds[start + heads : stop] = bytes([kind.RECORD]) * (stop - start - heads)
        rows = Rows(
            [(*cells, *[""] * (width - len(cells))) for cells in grid[heads:]],
            list(range(start + heads + 1, stop + 1)),
            headings=self._headings,
        )
        self.tables.append(PrintedTable(self._title, partial(_same, rows), notes=notes, line=start + 1))

    def _is_torn(self, start: int) -> bool:
        """Are the texts the rest of a cell of several lines, right between two pieces of one table?"""
        texts = self._texts
        return texts == list(range(self._stop, start)) and not any(tables_titled(self._words(line)) for line in texts)

    def _place_of_title(self) -> int | None:
        """Which of the texts above a table is its title: the nearest that is a known one, or the first of the last."""
        words = [self._words(line) for line in self._texts]
        back = max((place for place, text in enumerate(words) if text.startswith(_BACK)), default=-1)
        for place in range(len(words) - 1, back, -1):
            if len(words[place]) <= _LONGEST_TITLE and tables_titled(words[place]):
                return place
        start = back + 1
        if back < 0:
            start = len(words) - 1
            while start > 0 and self._texts[start - 1] == self._texts[start] - 1:
                start -= 1
        return start if 0 <= start < len(words) and may_be_title(words[start]) else None

    def _words(self, line: int) -> str:
        return " ".join(self.lines[line].strip().lstrip(_BULLETS).split())

    def _mark(self, line: int, what: int) -> None:
        if self.kinds[line] not in _KNOWN:
            self.kinds[line] = what

    def _settle(self) -> None:
        """Lines that are no part of a table: titles without data, links and remarks; one with a figure is a problem."""
        for above, line in pairwise(self._left):
            if self.kinds[line] == kind.NO_DATA:
                self.empty.append(self._words(above))
                self._mark(above, kind.TITLE)
        titles = {table.title for table in self.tables}.union(self.empty)
        for line in self._left:
            text = self._words(line)
            is_reported = has_number(text) and text not in titles and self.kinds[line] not in (*_KNOWN, kind.TITLE)
            if self.kinds[line] != kind.TITLE:
                self._mark(line, kind.UNPARSED if is_reported else kind.PROSE)
            if is_reported:
                self.problems.append(Problem(line + 1, "unparsed", text, "no table or section takes this line"))


def _same(rows: Rows) -> Rows:
    return rows


def count_of_headings(grid: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are headings: one, none where it has figures, two where the first spans columns.

    Examples:
        >>> count_of_headings([["Event", "Waits"], ["latch free", "1"]])
        1
        >>> count_of_headings([["Buffer Nowait %:", "99"], ["Latch Hit %:", "100"]])
        0
    """
    if len(grid) < 2 or _has_values(grid[0]):
        return 0
    return 2 if len(grid[0]) < len(grid[1]) and len(grid) > 2 and not _has_values(grid[1]) else 1


def _has_values(cells: Sequence[str]) -> bool:
    return any(is_number(cell) or cell.endswith(":") for cell in cells)


def read_tabbed(lines: list[str], kinds: bytearray, part: Part) -> Document:
    """The tables of one report, or of a piece of one, whose cells are set apart by tabs.

    Args:
        lines: all lines of the file.
        kinds: of each line; what becomes clear only here is written into it.
        part: which lines, and what they are.
    """
    walk = _Walk(lines, kinds)
    walk.run(part.first, part.end)
    return Document(
        kind=part.kind,
        form="text",
        tables=walk.tables,
        first_line=part.first + 1,
        line_kinds=kinds[part.first : part.end],
        empty=walk.empty,
        problems=walk.problems,
        title=part.title,
    )
