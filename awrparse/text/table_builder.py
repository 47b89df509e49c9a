"""The tables of a text report under construction: what a ruler opens, what belongs to it, what closes it.

One table is open at a time.  Lines that no table has taken yet are pending: they may be the headings of the next ruler,
its title, or labels with their values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from awrparse.records import PrintedTable, Problem, Rows
from awrparse.tables import tables_titled
from awrparse.text import lines as kind
from awrparse.text.labels import (
    cut_labels,
    cut_prose,
    has_number,
    is_group_ruler,
    is_label_line,
    is_sql_section,
    is_title_line,
    may_be_title,
    summary_title,
)
from awrparse.text.layout import GRAMMAR, Layout
from awrparse.text.rows import cut_rows
from logframe import columns_of

if TYPE_CHECKING:
    from logframe import Column

#: So far above its ruler a title may stand, notes and headings between.
_TITLE_LINES: Final = 14
#: Lines a heading may take above one ruler.
_HEADING_LINES: Final = 6
_SEVERAL_TABLES: Final = re.compile(GRAMMAR.pattern("{SEVERAL_TABLES}"))
#: What a line is within a table: blank, or part of a record.
_IN_TABLE: Final = bytes(kind.BLANK if number == kind.BLANK else kind.RECORD for number in range(256))


@dataclass(slots=True)
class OpenTable:
    """The table under construction.

    Attributes:
        title: over it.
        first: the line of its first ruler, counted from 0.
        rulers: each with its heading lines.
        body: the lines below the rulers, of all pages.
        notes: the remarks above it.
        stops_at_blank: a blank line ends it, as nothing else would.
        is_sql: SQL text follows its rows.
        is_cut_short: nothing says where its last SQL text ends, so that is the next blank line.
        is_suspended: a blank line has ended it; another ruler may go on.
        marked: this many lines of the body are known as records.
    """

    title: str
    first: int
    rulers: list[tuple[list[str], str]]
    body: list[int] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    stops_at_blank: bool = False
    is_sql: bool = False
    is_cut_short: bool = False
    is_suspended: bool = False
    marked: int = 0


class Builder:
    """The tables of one report so far, the open one, and the lines that wait for theirs.

    Attributes:
        lines: all lines of the file.
        kinds: of each line; what becomes clear only here is written into it.
        first: the report's first line, counted from 0.
        end: the line after its last.
        tables: those that are closed.
        problems: lines that nothing takes.
        open: the table under construction.
        resumable: the table of the page before, when its title has come again.
        pending: lines that no table has taken yet.
        pending_heads: headings that stand beside a title.
        title: over what follows.
        is_section: has that title database and snapshots beside it?
        notes: below that title.
        has_title: has the title no table yet?  Only then another may open without one.
        plan: the statement, and its plan, that a report on one statement is about from here on.
        skipped_to: the lines before this one are dealt with.
    """

    def __init__(self, lines: list[str], kinds: bytearray, first: int, end: int, report_kind: str) -> None:
        self.lines = lines
        self.kinds = kinds
        self.first = first
        self.end = end
        self.tables: list[PrintedTable] = []
        self.problems: list[Problem] = []
        self.open: OpenTable | None = None
        self.resumable: OpenTable | None = None
        self.pending: list[int] = []
        self.pending_heads: list[str] = []
        self.title = ""
        self.is_section = False
        self.has_title = True
        self.notes: list[str] = []
        self.plan: tuple[str, ...] = ()
        self.skipped_to = 0
        self._report_kind = report_kind
        self._last_columns: tuple[Column, ...] | None = None

    def end_of_texts(self, number: int) -> int:
        """The line after the unbroken run of texts from this line on."""
        while number < self.end and self.kinds[number] == kind.TEXT:
            number += 1
        return number

    def has_pending(self, number: int) -> bool:
        """Is the line above pending?"""
        return bool(self.pending) and self.pending[-1] == number - 1

    def set_title(self, line: str, number: int) -> str:
        """Take a line's first words as the title of what follows."""
        self.kinds[number] = kind.TITLE
        words, self.title = summary_title(line)
        self.notes = [line.strip()] if "(CPU" in line else []
        self.is_section = False
        self.has_title = True
        return words

    def drop_pending_blanks(self) -> None:
        """Forget the blank lines at the end of the pending ones."""
        while self.pending and self.kinds[self.pending[-1]] == kind.BLANK:
            self.pending.pop()

    def drop_from_table(self, number: int) -> None:
        """A line that the open table has taken last is the title of the next one."""
        if self.open is not None and self.open.body and self.open.body[-1] == number:
            self.open.body.pop()
            self.pending.append(number)

    def end_sql_at_title(self, number: int) -> bool:
        """Close a SQL table at a known title above this ruler, which belongs to the next table; False without one.

        Tables copied out of a report have no line that ends them, and no database beside their titles.
        """
        table = self.open
        if table is None:
            return False
        lowest = max(table.first, number - _TITLE_LINES)
        for line in range(number - 1, lowest, -1):
            if self.kinds[line] == kind.RULER:
                return False
            if self.kinds[line] == kind.TEXT and tables_titled(self.lines[line].strip()):
                break
        else:
            return False
        table.body = [one for one in table.body if one < line]
        table.is_cut_short = True
        self.close()
        self.set_title(self.lines[line], line)
        for below in range(line + 1, number):
            if self.kinds[below] == kind.NOTE:
                self.notes.append(self.lines[below].removeprefix("->").strip())
            else:
                self.pending.append(below)
        return True

    def take_headings(self, number: int) -> tuple[list[str], int]:
        """The heading lines above a ruler, and the kind of the line above them."""
        table = self.open
        source = self.pending if table is None or table.is_suspended or self.has_pending(number) else table.body
        is_group = table is not None and is_group_ruler(table.rulers[-1][1], self.lines[number])
        taken: list[int] = []
        above = number - 1
        while source and source[-1] == above and self.kinds[above] == kind.TEXT and len(taken) < _HEADING_LINES:
            is_lone = above > 0 and self.kinds[above - 1] == kind.RULER and not taken
            if source is not self.pending and not (is_lone or is_group) and has_number(self.lines[above]):
                break
            taken.append(source.pop())
            above -= 1
        taken.reverse()
        what = self.kinds[above] if above >= self.first else kind.BLANK
        if (
            len(taken) > 1
            and what != kind.RULER
            and not self.is_section
            and is_title_line(self.lines[taken[0]], self.lines[number])
        ):
            self.flush_pending()
            self.set_title(self.lines[taken.pop(0)], above + 1)
        heads = [self.lines[line] for line in taken]
        for line in taken:
            self.kinds[line] = kind.HEADING
        margin = columns_of(self.lines[number])[0].start - 1
        if len(heads) == 1 and not self.is_section and margin > 8 and heads[0][:2].strip():
            # `Shared Pool Statistics        Begin    End`: a title beside the headings
            title = heads[0][:margin]
            if title.strip():
                self.close()
                self.flush_pending()
                self.set_title(title, taken[0])
                heads = [" " * margin + heads[0][margin:]]
        return heads, what

    def open_table(self, number: int, heads: list[str], ruler: str) -> None:
        """Open a table at its ruler, or go on with the one of the page before."""
        resumed = self.resumable
        if self.open is not None:
            self.close()
        if not self.is_section:
            self._take_lone_title()
        self.flush_pending()
        heads = [*self.pending_heads, *heads]
        self.pending_heads = []
        self.resumable = None
        if resumed is not None and resumed.rulers[0][1].split() == ruler.split():
            self.open = resumed
            self._take_back(resumed)
            # the other rulers of a record are repeated too
            if len(resumed.rulers) > 1:
                self._skip_repeated_rulers(number, len(resumed.rulers) - 1)
            self.has_title = False
            return
        if self.is_section:
            self._check_title(number, heads, ruler)
        self.open = OpenTable(
            title=self.title,
            first=number,
            rulers=[(heads, ruler)],
            notes=(*self.notes, *self.plan),
            stops_at_blank=not self.is_section,
            is_sql=is_sql_section(self.title),
        )

    def close(self) -> None:
        """Close the open table, if there is one."""
        table = self.open
        if table is None:
            return
        self.open = None
        self._last_columns = columns_of(table.rulers[-1][1])
        self._mark_records(table)
        self.tables.append(
            PrintedTable(
                table.title,
                partial(_cut_table, table, self._report_kind, self.lines),
                notes=table.notes,
                line=table.first + 1,
            )
        )

    def flush_pending(self) -> None:
        """Lines that no ruler claimed: labels with their values, or lines that nothing explains."""
        pending = [line for line in self.pending if self.kinds[line] == kind.TEXT]
        self.pending = []
        if not pending:
            return
        labels = []
        for line in pending:
            if is_label_line(self.lines[line]):
                labels.append(line)
                self.kinds[line] = kind.RECORD
            else:
                self.kinds[line] = kind.UNPARSED
                text = self.lines[line].strip()
                self.problems.append(Problem(line + 1, "unparsed", text, "no table or section takes this line"))
        if labels:
            heads = tuple(self.pending_heads)
            self.pending_heads = []
            cut = partial(cut_labels, self.lines, labels, heads)
            self.tables.append(PrintedTable(self.title, cut, notes=tuple(self.notes), line=labels[0] + 1))

    def add_prose(self, title: str, start: int, stop: int) -> None:
        """Running text as a table of one column."""
        body = [line for line in range(start, stop) if self.kinds[line] == kind.PROSE]
        if body:
            self.tables.append(PrintedTable(title, partial(cut_prose, self.lines, body), line=start + 1))

    def end_section(self) -> None:
        """Close all; what follows has no title yet."""
        self.close()
        self.flush_pending()
        self.title, self.is_section, self.notes, self.resumable = "", False, [], None
        self.has_title = True
        self.pending_heads = []

    def _check_title(self, number: int, heads: list[str], ruler: str) -> None:
        """A section has one table; another in it has lost its title, unless it is the sum below the rows."""
        if not self.has_title and not _SEVERAL_TABLES.match(self.title) and (heads or not self._is_sum(ruler)):
            text = " ".join(" ".join(heads).split()) or ruler.strip()
            reason = f"no title stands above this table: it may be no part of {self.title!r}; lines may be missing"
            self.problems.append(Problem(number + 1, "missing", text, reason))
        self.has_title = False

    def _is_sum(self, ruler: str) -> bool:
        """Does a ruler stand above a sum: below some columns of the table, and not below its first?"""
        columns = columns_of(ruler)
        return self._last_columns is not None and set(columns) <= set(self._last_columns[1:])

    def _take_back(self, resumed: OpenTable) -> None:
        """The table that goes on is not closed any more; it is among the last."""
        for position in range(len(self.tables) - 1, -1, -1):
            if self.tables[position].line == resumed.first + 1:
                del self.tables[position]
                return

    def _mark_records(self, table: OpenTable) -> None:
        """Say of the lines of a table that they are records, where that is not said yet."""
        body, start = table.body, table.marked
        table.marked = len(body)
        if start == len(body):
            return
        first, last = body[start], body[-1]
        if last - first == len(body) - 1 - start:
            self.kinds[first : last + 1] = self.kinds[first : last + 1].translate(_IN_TABLE)
            return
        for line in body[start:]:
            self.kinds[line] = _IN_TABLE[self.kinds[line]]

    def _skip_repeated_rulers(self, number: int, count: int) -> None:
        """Pass over this many further rulers of a repeated group, and their headings: they are no records."""
        last, below = number, number + 1
        end = min(self.end, number + 4 * count + 4)
        while count and below < end:
            if self.kinds[below] == kind.RULER:
                last, count = below, count - 1
            below += 1
        for line in range(number + 1, last + 1):
            if self.kinds[line] == kind.TEXT:
                self.kinds[line] = kind.HEADING
        self.skipped_to = last + 1

    def _take_lone_title(self) -> None:
        """In a fragment a title may stand alone above its headings, a blank line between."""
        self.drop_pending_blanks()
        if not self.pending:
            return
        number = self.pending[-1]
        alone = len(self.pending) == 1 or self.kinds[self.pending[-2]] == kind.BLANK
        if alone and may_be_title(self.lines[number]):
            self.pending.pop()
            self.flush_pending()
            self.set_title(self.lines[number], number)


def _cut_table(table: OpenTable, report_kind: str, lines: list[str]) -> Rows:
    """The rows of a closed table."""
    layout = Layout(
        table.title, tuple(table.rulers), is_sql=table.is_sql, report_kind=report_kind, is_cut_short=table.is_cut_short
    )
    return cut_rows(layout, lines, table.body)
