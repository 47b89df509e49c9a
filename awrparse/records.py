"""Tables as a report prints them: texts in rows, before any typing.  What the text and HTML readers hand up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from awrparse.marks import Mark


class Problem(NamedTuple):
    """Something in a report that could not be read as it stands; becomes a row of the diagnostics."""

    line: int | None
    kind: str
    text: str
    reason: str


@dataclass(slots=True)
class Rows:
    """The rows of one table.

    Attributes:
        cells: one tuple of texts a row, as long as the headings; a blank cell is an empty text.
        lines: the line in the report where each row starts, counted from 1; 0 where unknown.
        problems: what could not be cut.
        headings: the headings, where cutting the rows found more columns than the ruler has.
    """

    cells: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    headings: tuple[str, ...] = ()


class PrintedTable:
    """One table of a report as printed; the rows are cut when first asked for.

    Attributes:
        title: the heading over the table; a long one may be cut by the report itself.
        summary: what an HTML report says the table is.
        notes: the remarks above the table.
        line: where it starts, counted from 1; 0 where unknown.
        widths: how wide each column is in a text report; empty for HTML, where nothing is cut.
    """

    __slots__ = ("_cut", "_rows", "line", "notes", "summary", "title", "widths")

    def __init__(
        self,
        title: str,
        cut: Callable[[], Rows],
        *,
        summary: str = "",
        notes: tuple[str, ...] = (),
        line: int = 0,
        widths: tuple[int, ...] = (),
    ) -> None:
        self.title = title
        self.summary = summary
        self.notes = notes
        self.line = line
        self.widths = widths
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


@dataclass(slots=True)
class Document:
    """One report, read into tables.

    Attributes:
        kind: `awr`, `awr_pdb`, `awr_global`, `awr_diff`, `statspack`, `ash`, `addm` or `fragment`.
        form: `text` or `html`.
        tables: in the order of the report.
        first_line: where the report starts in its file, counted from 1.
        line_kinds: what each line is (a text report), as names of `awrparse.text.lines.KINDS` by line.
        empty: titles of sections that say they have no data.
        problems: what could not be placed.
        title: what the report calls itself.
        db_name: the database that its sections name beside their titles.
        has_sections: are there titles with the database and the snapshots beside them?
        mark: the decimal mark of its figures, `.` or `,`.
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
    mark: Mark = "."
