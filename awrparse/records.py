"""Tables as a report prints them: texts in rows, before any typing.  What the text and HTML readers hand up."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from logframe import Column
    from logframe.kinds import DiagnosticKind
    from logframe.normalize import LineMap
    from logframe.printed import DecimalMark


class Problem(NamedTuple):
    """Something in a report that could not be read as it stands; becomes a row of the diagnostics.

    Attributes:
        line: counted from 1; None where unknown.
        kind: one word for the cause.
        text: what it is about, as it stands in the line.
        reason: one sentence.
        start: where the column of a cell starts under its ruler, counted from 0; None where unknown.
    """

    line: int | None
    kind: DiagnosticKind
    text: str
    reason: str
    start: int | None = None

    def column(self, line: str) -> int | None:
        """Where the text starts in its line, counted from 1; None when it is not there, or more than once.

        Examples:
            >>> problem = Problem(1, "overflow", "####", "too wide")
            >>> problem.column("a   ####"), problem.column("#### ####"), problem._replace(start=5).column("#### ####")
            (5, None, 6)
        """
        place = line.find(self.text, self.start or 0) if self.text else -1
        if place < 0 or (self.start is None and line.find(self.text, place + 1) >= 0):
            return None
        return place + 1


class Piece(NamedTuple):
    """Where a piece of a joined line begins, or lines that are joined with none.

    Attributes:
        line: of the joined page, counted from 1.
        column: in that line, counted from 0.
        source: the line that the piece was, counted from 0.
    """

    line: int
    column: int
    source: int


@dataclass(slots=True)
class Rows:
    """The rows of one table.

    Attributes:
        cells: one tuple of texts a row, as long as the headings; a blank cell is an empty text.
        lines: the line in the report where each row starts, counted from 1; 0 where unknown.
        problems: what could not be cut.
        headings: the heading of each column.
        extents: of each column below the rulers of a text report; None where a column has no ruler, empty for HTML.
        spans_lines: a row is more than one line of the report.
    """

    cells: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    headings: tuple[str, ...] = ()
    extents: tuple[Column | None, ...] = ()
    spans_lines: bool = False


class PrintedTable:
    """One table of a report as printed; the rows are cut when first asked for.

    Attributes:
        title: the heading over the table; a long one may be cut by the report itself.
        summary: what an HTML report says the table is.
        notes: the remarks above the table.
        line: where it starts, counted from 1; 0 where unknown.
    """

    __slots__ = ("_cut", "_rows", "line", "notes", "summary", "title")

    def __init__(
        self,
        title: str,
        cut: Callable[[], Rows],
        *,
        summary: str = "",
        notes: tuple[str, ...] = (),
        line: int = 0,
    ) -> None:
        self.title = title
        self.summary = summary
        self.notes = notes
        self.line = line
        self._cut = cut
        self._rows: Rows | None = None

    @property
    def rows(self) -> Rows:
        """The rows, cut once."""
        if self._rows is None:
            self._rows = self._cut()
        return self._rows

    @property
    def headings(self) -> tuple[str, ...]:
        """The heading of each column, several lines joined."""
        return self.rows.headings

    def extent(self, place: int) -> Column | None:
        """The extent of a column of the rows; None where it is unknown."""
        return self.rows.extents[place] if place < len(self.rows.extents) else None


@dataclass(slots=True)
class Document:
    """One report, read into tables.

    Attributes:
        kind: `awr`, `awr_pdb`, `awr_global`, `awr_sql`, `awr_diff`, `statspack`, `ash`, `addm` or `fragment`.
        form: `text` or `html`.
        tables: in the order of the report.
        first_line: where the report starts in its file, counted from 1.
        line_kinds: what each line is (a text report), as names of `awrparse.text.lines.KINDS` by line.
        empty: titles of sections that say they have no data.
        problems: what could not be placed.
        title: what the report calls itself.
        db_name: the database that its sections name beside their titles.
        has_sections: are there titles with the database and the snapshots beside them?
        decimal_mark: the decimal mark of its figures, `.` or `,`.
        lines: of its file, as problems count them; empty where columns mean nothing, as in HTML.
        line_map: where in the file the lines are, when lines of a copy were left out.
        raw_lines: the same before a margin was removed (a quoting mark, an indent).
        file_lines: of a text report, all lines of its file; the reports of one file have the same list.
        page: of an HTML report, its text.
        margins: of an HTML report, how many characters another program has put before each line of its file.
        joined: where the lines of the page begin that were joined of several; empty where none were.
    """

    kind: str
    form: str
    tables: list[PrintedTable]
    first_line: int = 1
    line_kinds: bytearray = field(default_factory=bytearray)
    empty: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    title: str = ""
    db_name: str | None = None
    has_sections: bool = False
    decimal_mark: DecimalMark = "."
    lines: Sequence[str] = ()
    raw_lines: Sequence[str] = ()
    line_map: LineMap | None = None
    file_lines: Sequence[str] = ()
    page: str = ""
    joined: Sequence[Piece] = ()
    margins: Sequence[int] = ()

    def line_of(self, problem: Problem) -> int | None:
        """The line of a problem in the file, counted from 1."""
        return problem.line and self.file_line(problem.line)

    def file_line(self, line: int) -> int:
        """The number of a line in the file; both are counted from 1."""
        return self.file_place(line, 1)[0]

    def file_place(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the file of what stands in a line; all are counted from 1."""
        piece = bisect_right(self.joined, (line, column - 1), key=lambda one: one[:2])
        if piece:
            start, before, source = self.joined[piece - 1]
            line, column = source + line - start + 1, column - before if line == start else column
        line = line if self.line_map is None else self.line_map.kept[line - 1] + 1
        return line, column + (self.margins[line - 1] if self.margins else 0)

    def column_of(self, problem: Problem) -> int | None:
        """Where in its line the text of a problem starts, counted from 1; None where that is unknown."""
        if problem.line is None or not 0 < problem.line <= len(self.lines):
            return None
        line, raw = self.lines[problem.line - 1], self.raw_lines[problem.line - 1]
        place = problem.column(line)
        start = raw.find(line)
        return place + start if place is not None and start >= 0 else None
