"""Text reports: classified lines joined into tables.

A walk over the lines, a run of rows at a time, keeps one open table.  A ruler opens a table, and takes the lines above
it as its headings; a terminator, a title or (under a title that is only underlined) a blank line closes it; a title
that repeats before a terminator goes on with the table of the page before.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from awrparse.addm import findings_of
from awrparse.records import Document, PrintedTable, Problem
from awrparse.text import lines as kind
from awrparse.text.labels import (
    cut_bars,
    db_of_section,
    has_number,
    is_bar_row,
    is_plan_title,
    is_sql_id_title,
    label_values,
    owner_of_section,
    section_title,
)
from awrparse.text.layout import GRAMMAR, is_row
from awrparse.text.table_builder import Builder, OpenTable
from logframe import columns_of

if TYPE_CHECKING:
    from awrparse.sniff import Part

#: The rest of a note is indented at most so far.
_NOTE_INDENT: Final = 10
_NOTE_LINE = re.compile(GRAMMAR.pattern("{NOTE_LINE}"))


class _Walk(Builder):
    """The walk over one report: what each kind of line does to the tables."""

    def __init__(self, lines: list[str], kinds: bytearray, first: int, end: int, report_kind: str) -> None:
        super().__init__(lines, kinds, first, end, report_kind)
        self.empty: list[str] = []
        self._has_terminators = kind.TERMINATOR in kinds[first:end]
        self._owners: dict[str, tuple[str, ...]] = {}
        self.db_name: str | None = None

    def run(self) -> None:
        """Visit every line once."""
        kinds = self.kinds
        number = self.first
        while number < self.end:
            what = kinds[number]
            if what == kind.TEXT:
                number = self._visit_texts(number)
                continue
            if what == kind.BLANK:
                self._visit_blank(number)
            elif what == kind.RULER:
                self._visit_ruler(number)
            elif what == kind.TITLE:
                self._visit_title(number)
            elif what == kind.NOTE:
                self._visit_note(number)
            elif what == kind.TERMINATOR:
                self.close()
                self.flush_pending()
                self.resumable = None
            elif what == kind.UNDERLINE:
                self._visit_underline(number)
            elif what == kind.ERROR:
                self._visit_error(number)
            elif what == kind.INVALID:
                self._visit_invalid(number)
            elif what == kind.NO_DATA:
                self.empty.append(self.title)
                self.has_title = False
            elif what == kind.ADDM and self.open is not None and self.open.is_sql:
                self.open.body.append(number)
            elif what == kind.ADDM:
                number = self._visit_addm(number)
                continue
            elif what in (kind.BANNER, kind.END):
                self.end_section()
            number = max(number + 1, self.skipped_to)
        if self.open is not None and self.open.stops_at_blank:
            self.open.is_cut_short = True
        self.end_section()

    def _visit_texts(self, number: int) -> int:
        """An unbroken run of texts; gives the line after it."""
        stop = self.end_of_texts(number)
        table = self.open
        if table is None or table.is_suspended:
            self.pending.extend(range(number, stop))
        elif stop < self.end and not table.is_sql and self._is_underline(stop) and not self._has_lost_title(stop):
            table.body.extend(range(number, stop - 1))
            self.close()
            self.pending.append(stop - 1)
        else:
            table.body.extend(range(number, stop))
        return stop

    def _has_lost_title(self, number: int) -> bool:
        """Does a row stand above an underline, where the title was?"""
        line = self.lines[number - 1]
        is_row = ":" in line and has_number(line) and "(CPU" not in line
        if is_row:
            reason = "a row of the table above stands where the title of the next should be: lines are missing"
            self.problems.append(Problem(number, "missing", line.strip(), reason))
        return is_row

    def _is_underline(self, number: int) -> bool:
        """Does the line underline the one above it?"""
        return self.lines[number].startswith("~~~") and self.kinds[number] in (kind.UNDERLINE, kind.RULER)

    def _visit_blank(self, number: int) -> None:
        table = self.open
        if table is None or table.is_suspended:
            if self.pending:
                self.pending.append(number)
        elif table.is_sql or (len(table.rulers) > 1 and not table.stops_at_blank):
            table.body.append(number)
        elif table.stops_at_blank and (table.body or "\f" in self.lines[number]):
            table.is_suspended = True

    def _visit_title(self, number: int) -> None:
        title = section_title(self.lines[number])
        before = self.open
        self.close()
        self.flush_pending()
        goes_on = before is not None and before.title == title and not before.stops_at_blank
        if before is not None and not goes_on and not before.stops_at_blank and self._has_terminators:
            reason = f"no line ends the table {before.title!r} above this title: lines may be missing"
            self.problems.append(Problem(number + 1, "cut", self.lines[number].strip(), reason))
        self.resumable = before if goes_on else None
        self.title, self.is_section, self.has_title = title, True, True
        self.db_name = self.db_name or db_of_section(self.lines[number])
        self._check_owner(number)
        if is_sql_id_title(title):
            self.plan = (title,)
        self.notes = []
        self.pending_heads = []

    def _check_owner(self, number: int) -> None:
        """The sections of a report are about one database, one instance and one period."""
        owner = owner_of_section(self.lines[number])
        first = self._owners.setdefault(owner[0], owner)
        if owner != first and not all(
            one.startswith(two) or two.startswith(one) for one, two in zip(owner, first, strict=True)
        ):
            self._owners[owner[0]] = owner
            text = self.lines[number].strip()
            reason = f"sections above are about {' '.join(first[1:])}: from here on it may be another report"
            self.problems.append(Problem(number + 1, "foreign", text, reason))

    def _visit_error(self, number: int) -> None:
        """An error is no row of the table that it stands in."""
        if self.open is not None and self.open.is_sql:
            self.open.body.append(number)
            return
        reason = "an error of the script that writes the report: lines may be missing"
        self.problems.append(Problem(number + 1, "unparsed", self.lines[number].strip(), reason))
        self.kinds[number] = kind.UNPARSED

    def _visit_invalid(self, number: int) -> None:
        """The report calls its own figures invalid."""
        if self.open is not None and self.open.is_sql:
            self.open.body.append(number)
        else:
            reason = "the report says so: its figures are of no use"
            self.problems.append(Problem(number + 1, "invalid", self.lines[number].strip(), reason))

    def _visit_note(self, number: int) -> None:
        if self.open is not None and self.open.is_sql:
            self.open.body.append(number)
            return
        if self.open is not None and not self.open.is_suspended:
            self.close()
        if not self.is_section or self.pending:
            self._take_title_before_note()
        text = [self.lines[number].removeprefix("->").strip()]
        stop = self.end_of_texts(number + 1)
        # texts right above a ruler are its headings, but for the rest of a note that no blank line sets apart from them
        if stop < self.end and self.kinds[stop] == kind.RULER:
            last, stop = stop - 1, number + 1
            while self.is_section and stop < last and _NOTE_LINE.fullmatch(self.lines[stop]):
                stop += 1
        for below in range(number + 1, stop):
            line = self.lines[below]
            if not line.startswith("   ") and (not self.is_section or is_row(line)):
                break
            text.append(self.lines[below].strip())
            self.kinds[below] = kind.NOTE
            self.skipped_to = below + 1
        self.notes.append(" ".join(text))

    def _take_title_before_note(self) -> None:
        """A title without ``DB/Inst:`` stands right above its first note."""
        self.drop_pending_blanks()
        if not self.pending:
            return
        number = self.pending.pop()
        self.flush_pending()
        line = self.lines[number]
        if self.is_section and self.notes and 3 <= len(line) - len(line.lstrip(" ")) <= _NOTE_INDENT:
            # the end of a note that blank lines have torn apart
            self.kinds[number] = kind.NOTE
            self.notes[-1] += f" {line.strip()}"
            return
        if self.is_section and self.notes:
            reason = "this line stands between notes, and is not one: lines around it may be missing"
            self.problems.append(Problem(number + 1, "unparsed", line.strip(), reason))
            self.kinds[number] = kind.UNPARSED
            return
        self.set_title(self.lines[number], number)

    def _visit_underline(self, number: int) -> None:
        above = self.pending[-1] if self.pending else -1
        if above >= 0 and self.kinds[above] == kind.TEXT and _are_labels(self.lines[above]):
            return
        if above >= 0 and self.kinds[above] == kind.TEXT:
            self.pending.pop()
            self.close()
            self.flush_pending()
            self.set_title(self.lines[above], above)
        elif not self.lines[number].lstrip("\f").startswith("~"):
            return
        rest = self.lines[number].replace("~", " ")
        if rest.strip():
            self.pending_heads.append(rest)

    def _visit_ruler(self, number: int) -> None:
        table = self.open
        line = self.lines[number]
        if number + 1 < self.end and is_bar_row(self.lines[number + 1]) and not (table is not None and table.is_sql):
            self._visit_bars(number)
            return
        if number > self.first and is_plan_title(self.lines[number - 1]):
            self._visit_plan_title(number - 1)
            return
        if table is not None and table.is_sql and not self._repeats(table, line, number):
            if not self.end_sql_at_title(number):
                table.body.append(number)
                return
            table = None
        if "~" in line:
            self._visit_label_ruler(number)
            return
        if table is not None and not table.is_suspended and not table.body and not self.has_pending(number):
            table.rulers.append(([], line))
            return
        heads, above = self.take_headings(number)
        table = self.open
        if table is not None and not table.body and not table.is_suspended and above == kind.RULER:
            table.rulers.append((heads, line))
            return
        self.open_table(number, heads, line)

    def _repeats(self, table: OpenTable, line: str, number: int) -> bool:
        """Is this a ruler of a SQL table, and not a line of SQL text that looks like one?"""
        if not table.body:
            return table.rulers[0][1] == line
        is_group = columns_of(table.rulers[-1][1])[0].start > 0
        return is_group and bytes(self.kinds[number - 4 : number]).strip(bytes([kind.TEXT]))[-1:] == bytes([kind.RULER])

    def _visit_label_ruler(self, number: int) -> None:
        """Title and headings stand on the line above: ``Load Profile    Per Second``."""
        heads: list[str] = []
        if self.pending and self.kinds[self.pending[-1]] == kind.TEXT:
            above = self.pending.pop()
            self.close()
            self.flush_pending()
            title = self.set_title(self.lines[above], above)
            heads = [self.lines[above].replace(title, " " * len(title), 1)]
            self.pending_heads = []
        self.open_table(number, heads, self.lines[number].replace("~", " "))

    def _visit_plan_title(self, number: int) -> None:
        """A report on one statement has the figures of each plan below the plan's hash value."""
        self.drop_from_table(number)
        if self.has_pending(number + 1):
            self.pending.pop()
        self.end_section()
        self.kinds[number] = kind.TITLE
        self.plan = (*self.plan[:1], self.lines[number].strip())

    def _visit_bars(self, number: int) -> None:
        """A plan: rulers above and below the headings, and below the rows; its name stands above the first ruler."""
        above = number - 1
        self.drop_from_table(above)
        self.close()
        self.drop_pending_blanks()
        if self.pending and self.pending[-1] == above:
            self.pending.pop()
            self.flush_pending()
            self.set_title(self.lines[above], above)
        below = number + 1
        body: list[int] = []
        while below < self.end and (is_bar_row(self.lines[below]) or self.kinds[below] == kind.RULER):
            if self.kinds[below] != kind.RULER:
                body.append(below)
                self.kinds[below] = kind.RECORD
            below += 1
        self.kinds[body[0]] = kind.HEADING
        cut = partial(cut_bars, self.lines, body[0], body[1:])
        self.tables.append(PrintedTable(self.title, cut, notes=self.plan, line=number + 1))
        self.skipped_to = below
        # the lines of a plan come last; what follows is about the plan that the next title names
        self.plan = self.plan[:1]

    def _visit_addm(self, number: int) -> int:
        """An ADDM report is prose up to its end; the summary of its findings is a table, too."""
        self.end_section()
        start = number
        while number < self.end and self.kinds[number] not in (kind.END, kind.BANNER, kind.TITLE):
            if self.kinds[number] != kind.BLANK:
                self.kinds[number] = kind.PROSE
            number += 1
        self.add_prose("ADDM Report", start, number)
        self.tables += findings_of(self.lines, range(start, number))
        return number


def _are_labels(line: str) -> bool:
    """Are these labels and values, and no title: ``Host  Name:   fig           Num CPUs:    4``?"""
    found = label_values(line)
    return len(found) > 1 and all(len(values) == 2 for values in found)


def read_text(lines: list[str], kinds: bytearray, part: Part) -> Document:
    """The tables of one text report.

    Args:
        lines: all lines of the file.
        kinds: of each line, from `awrparse.text.lines.classify`; what becomes clear only here is written into it.
        part: which lines, and what they are, from `awrparse.sniff`.
    """
    has_sections = kind.TITLE in kinds[part.first : part.end]
    walk = _Walk(lines, kinds, part.first, part.end, part.kind)
    walk.run()
    return Document(
        kind=part.kind,
        form="text",
        tables=walk.tables,
        first_line=part.first + 1,
        line_kinds=kinds[part.first : part.end],
        empty=walk.empty,
        problems=walk.problems,
        title=part.title,
        db_name=walk.db_name,
        has_sections=has_sections,
    )
