"""Text reports: classified lines joined into tables.

A walk over the lines keeps one open table.  A ruler opens a table, and takes the lines above it as its headings; a
terminator, a title or (under a title that is only underlined) a blank line closes it; a title that repeats before a
terminator goes on with the table of the page before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from awrparse import lines as kind
from awrparse.headings import (
    has_number,
    is_group_ruler,
    is_sql_section,
    is_title_line,
    may_be_title,
    section_title,
    summary_title,
)
from awrparse.labels import cut_labels, cut_prose, is_label_line
from awrparse.layout import Layout
from awrparse.records import Document, PrintedTable, Problem
from awrparse.rows import cut_rows
from logframe import columns_of

#: Lines a heading may take above one ruler.
_HEADING_LINES = 6


@dataclass(slots=True)
class _Open:
    """The table under construction."""

    title: str
    first: int
    rulers: list[tuple[list[str], str]] = field(default_factory=list)
    body: list[int] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    stops_at_blank: bool = False
    is_sql: bool = False
    is_suspended: bool = False


class _Walk:
    """The state of the walk over one report."""

    def __init__(self, lines: list[str], kinds: bytearray, first: int, end: int, report_kind: str) -> None:
        self.lines = lines
        self.kinds = kinds
        self.first = first
        self.end = end
        self.report_kind = report_kind
        self.tables: list[PrintedTable] = []
        self.problems: list[Problem] = []
        self.empty: list[str] = []
        self.open: _Open | None = None
        self.resumable: _Open | None = None
        self.pending: list[int] = []
        self.pending_heads: list[str] = []
        self.title = ""
        self.is_section = False
        self.notes: list[str] = []
        self.skipped_to = 0

    def run(self) -> None:
        """Visit every line once."""
        kinds = self.kinds
        number = self.first
        while number < self.end:
            what = kinds[number]
            if number < self.skipped_to:
                number += 1
                continue
            if what == kind.TEXT:
                self._visit_text(number)
            elif what == kind.BLANK:
                self._visit_blank(number)
            elif what == kind.RULER:
                self._visit_ruler(number)
            elif what == kind.TITLE:
                self._visit_title(number)
            elif what == kind.NOTE:
                self._visit_note(number)
            elif what == kind.TERMINATOR:
                self._close()
                self._flush_pending()
                self.resumable = None
            elif what == kind.UNDERLINE:
                self._visit_underline(number)
            elif what == kind.NO_DATA:
                self.empty.append(self.title)
            elif what == kind.ADDM:
                number = self._visit_addm(number)
                continue
            elif what in (kind.BANNER, kind.END):
                self._end_section()
            number += 1
        self._end_section()

    # one method a kind of line

    def _visit_text(self, number: int) -> None:
        table = self.open
        if table is None or table.is_suspended:
            self.pending.append(number)
        elif number + 1 < self.end and not table.is_sql and self._is_underlined(number):
            self._close()
            self.pending.append(number)
        else:
            table.body.append(number)

    def _is_underlined(self, number: int) -> bool:
        """Is the next line the underline of this one?"""
        below = self.lines[number + 1]
        return below.startswith("~~~") and self.kinds[number + 1] in (kind.UNDERLINE, kind.RULER)

    def _visit_blank(self, number: int) -> None:
        table = self.open
        if table is None or table.is_suspended:
            if self.pending:
                self.pending.append(number)
        elif table.is_sql or (len(table.rulers) > 1 and not table.stops_at_blank):
            table.body.append(number)
        elif table.stops_at_blank and table.body:
            table.is_suspended = True
        if "\f" in self.lines[number] and table is not None and table.stops_at_blank:
            table.is_suspended = True

    def _visit_title(self, number: int) -> None:
        title = section_title(self.lines[number])
        before = self.open
        self._close()
        self._flush_pending()
        goes_on = before is not None and before.title == title and not before.stops_at_blank
        self.resumable = before if goes_on else None
        self.title, self.is_section = title, True
        self.notes = []
        self.pending_heads = []

    def _visit_note(self, number: int) -> None:
        if self.open is not None and self.open.is_sql:
            self.open.body.append(number)
            return
        if self.open is not None and not self.open.is_suspended:
            self._close()
        if not self.is_section or self.pending:
            self._take_title_before_note()
        text = [self.lines[number].removeprefix("->").strip()]
        below = number + 1
        while below < self.end and self.kinds[below] == kind.TEXT:
            if not (self.is_section or self.lines[below].startswith("   ")) or self._is_heading_of_ruler(below):
                break
            text.append(self.lines[below].strip())
            self.kinds[below] = kind.NOTE
            below += 1
        self.notes.append(" ".join(text))

    def _is_heading_of_ruler(self, number: int) -> bool:
        """Does an unbroken run of texts lead from this line to a ruler?"""
        while number < self.end and self.kinds[number] == kind.TEXT:
            number += 1
        return number < self.end and self.kinds[number] == kind.RULER

    def _take_title_before_note(self) -> None:
        """A title without ``DB/Inst:`` stands right above its first note."""
        while self.pending and self.kinds[self.pending[-1]] == kind.BLANK:
            self.pending.pop()
        if not self.pending:
            return
        number = self.pending.pop()
        self._flush_pending()
        self._set_title(self.lines[number], number)

    def _visit_underline(self, number: int) -> None:
        above = self.pending[-1] if self.pending else -1
        if above >= 0 and self.kinds[above] == kind.TEXT:
            self.pending.pop()
            self._close()
            self._flush_pending()
            self._set_title(self.lines[above], above)
        elif not self.lines[number].lstrip("\f").startswith("~"):
            return
        rest = self.lines[number].replace("~", " ")
        if rest.strip():
            self.pending_heads.append(rest)

    def _visit_ruler(self, number: int) -> None:
        table = self.open
        line = self.lines[number]
        if table is not None and table.is_sql and not self._repeats(table, line, number):
            table.body.append(number)
            return
        if "~" in line:
            self._visit_label_ruler(number)
            return
        if table is not None and not table.is_suspended and not table.body and not self._has_pending(number):
            table.rulers.append(([], line))
            return
        heads, above = self._take_headings(number)
        table = self.open
        if table is not None and not table.body and not table.is_suspended and above == kind.RULER:
            table.rulers.append((heads, line))
            return
        self._open_table(number, heads, line)

    def _visit_label_ruler(self, number: int) -> None:
        """Title and headings stand on the line above: ``Load Profile    Per Second``."""
        heads: list[str] = []
        if self.pending and self.kinds[self.pending[-1]] == kind.TEXT:
            above = self.pending.pop()
            self._close()
            self._flush_pending()
            title = self._set_title(self.lines[above], above)
            heads = [self.lines[above].replace(title, " " * len(title), 1)]
            self.pending_heads = []
        self._open_table(number, heads, self.lines[number].replace("~", " "))

    def _visit_addm(self, number: int) -> int:
        """An ADDM report is prose up to its end."""
        self._end_section()
        start = number
        while number < self.end and self.kinds[number] not in (kind.END, kind.BANNER, kind.TITLE):
            if self.kinds[number] != kind.BLANK:
                self.kinds[number] = kind.PROSE
            number += 1
        self._add_prose("ADDM Report", start, number)
        return number

    # opening and closing

    def _repeats(self, table: _Open, line: str, number: int) -> bool:
        """Is this a ruler of a SQL table, and not a line of SQL text that looks like one?"""
        if not table.body:
            return table.rulers[0][1] == line
        is_group = columns_of(table.rulers[-1][1])[0].start > 0
        return is_group and bytes(self.kinds[number - 4 : number]).strip(bytes([kind.TEXT]))[-1:] == bytes([kind.RULER])

    def _has_pending(self, number: int) -> bool:
        return bool(self.pending) and self.pending[-1] == number - 1

    def _take_headings(self, number: int) -> tuple[list[str], int]:
        """The heading lines above a ruler, and the kind of the line above them."""
        table = self.open
        source = self.pending if table is None or table.is_suspended or self._has_pending(number) else table.body
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
            self._flush_pending()
            self._set_title(self.lines[taken.pop(0)], above + 1)
        heads = [self.lines[line] for line in taken]
        for line in taken:
            self.kinds[line] = kind.HEADING
        margin = columns_of(self.lines[number])[0].start - 1
        if len(heads) == 1 and not self.is_section and margin > 8 and heads[0][:2].strip():
            # `Shared Pool Statistics        Begin    End`: a title beside the headings
            title = heads[0][:margin]
            if title.strip():
                self._close()
                self._flush_pending()
                self._set_title(title, taken[0])
                heads = [" " * margin + heads[0][margin:]]
        return heads, what

    def _set_title(self, line: str, number: int) -> str:
        """Take a line's first words as the title of what follows."""
        self.kinds[number] = kind.TITLE
        words, self.title = summary_title(line)
        self.notes = [line.strip()] if "(CPU" in line else []
        self.is_section = False
        return words

    def _open_table(self, number: int, heads: list[str], ruler: str) -> None:
        resumed = self.resumable
        if self.open is not None:
            self._close()
        if not self.is_section:
            self._take_lone_title()
        self._flush_pending()
        heads = [*self.pending_heads, *heads]
        self.pending_heads = []
        if resumed is not None and resumed.rulers[0][1].split() == ruler.split():
            self.open = resumed
            self.resumable = None
            self.tables = [table for table in self.tables if table.line != resumed.first + 1]
            # the other rulers of a record are repeated too
            if len(resumed.rulers) > 1:
                self._skip_repeated_rulers(number)
            return
        self.resumable = None
        self.open = _Open(
            title=self.title,
            first=number,
            rulers=[(heads, ruler)],
            notes=tuple(self.notes),
            stops_at_blank=not self.is_section,
            is_sql=is_sql_section(self.title),
        )

    def _skip_repeated_rulers(self, number: int) -> None:
        """Pass over the further headings and rulers of a repeated group: they are no records."""
        assert self.open is not None  # noqa: S101 - set by the caller
        last = number
        remaining = len(self.open.rulers) - 1
        below = number + 1
        while remaining and below < self.end and below < number + 4 * remaining + 4:
            if self.kinds[below] == kind.RULER:
                last, remaining = below, remaining - 1
            below += 1
        for line in range(number + 1, last + 1):
            if self.kinds[line] == kind.TEXT:
                self.kinds[line] = kind.HEADING
        self.skipped_to = last + 1

    def _take_lone_title(self) -> None:
        """In a fragment a title may stand alone above its headings, a blank line between."""
        while self.pending and self.kinds[self.pending[-1]] == kind.BLANK:
            self.pending.pop()
        if not self.pending:
            return
        number = self.pending[-1]
        alone = len(self.pending) == 1 or self.kinds[self.pending[-2]] == kind.BLANK
        if alone and may_be_title(self.lines[number]):
            self.pending.pop()
            self._flush_pending()
            self._set_title(self.lines[number], number)

    def _close(self) -> None:
        if self.open is not None:
            self._add(self.open)
            self.open = None

    def _add(self, table: _Open) -> None:
        for line in table.body:
            if self.kinds[line] != kind.BLANK:
                self.kinds[line] = kind.RECORD
        layout = Layout(table.title, tuple(table.rulers), is_sql=table.is_sql, report_kind=self.report_kind)
        self.tables.append(
            PrintedTable(
                table.title,
                partial(cut_rows, layout, self.lines, table.body),
                notes=table.notes,
                line=table.first + 1,
                widths=layout.widths,
            )
        )

    def _flush_pending(self) -> None:
        """Lines that no ruler claimed: labels with their values, or lines that nothing explains."""
        pending = [line for line in self.pending if self.kinds[line] == kind.TEXT]
        self.pending = []
        if not pending:
            return
        labels = [line for line in pending if is_label_line(self.lines[line])]
        for line in pending:
            if line in labels:
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

    def _add_prose(self, title: str, start: int, stop: int) -> None:
        body = [line for line in range(start, stop) if self.kinds[line] == kind.PROSE]
        if body:
            self.tables.append(PrintedTable(title, partial(cut_prose, self.lines, body), line=start + 1))

    def _end_section(self) -> None:
        self._close()
        self._flush_pending()
        self.title, self.is_section, self.notes, self.resumable = "", False, [], None
        self.pending_heads = []


def read_text(lines: list[str], kinds: bytearray, first: int, end: int, report_kind: str, title: str) -> Document:
    """The tables of one text report.

    Args:
        lines: all lines of the file.
        kinds: of each line, from `awrparse.lines.classify`; what becomes clear only here is written into it.
        first: the report's first line, counted from 0.
        end: the line behind its last.
        report_kind: from `awrparse.sniff`.
        title: what the report calls itself.
    """
    has_sections = kind.TITLE in kinds[first:end]
    walk = _Walk(lines, kinds, first, end, report_kind)
    walk.run()
    return Document(
        kind=report_kind,
        form="text",
        tables=walk.tables,
        first_line=first + 1,
        line_kinds=kinds[first:end],
        empty=walk.empty,
        problems=walk.problems,
        title=title,
        has_sections=has_sections,
    )
