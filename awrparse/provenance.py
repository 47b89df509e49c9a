"""Which rows of the canonical tables came from which lines of a report, for `logframe.provenance`.

The canonical frames are cut again from tables whose rows carry a number of their own in the place of a line, so that
each row of a frame says of which printed row it was made.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from awrparse.canonical import grids_of
from awrparse.grids import cells_of_pivot, columns_of, is_pivoted, names_of_pivot
from awrparse.records import PrintedTable
from awrparse.report import HEAD_TABLES
from awrparse.tables import INFO, TABLES
from awrparse.text import lines as kind
from awrparse.text.layout import cutter_at
from awrparse.values import CELLS, Reading, form_of, read_measure
from logframe.provenance import Claim, Part
from logframe.source_numbers import rows_of_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from awrparse.columns import Table
    from awrparse.grids import Grid
    from awrparse.records import Document
    from awrparse.report import AwrReport
    from logframe import Column
    from logframe.source_numbers import Key

#: What only `INFO` has of the tables at the head of a report; times in minutes.
_ONLY_INFO: Final = {
    **dict.fromkeys(("elapsed_s", "db_time_s", "db_cpu_s"), 60.0),
    **dict.fromkeys(("average_active_sessions", "sample_count"), 1.0),
}
#: What the numbers of a line of a kind are that no frame has.
_STATUSES: Final = {
    kind.NOTE: "text",
    kind.PROSE: "text",
    kind.UNPARSED: "lost",
    kind.RECORD: "raw",
}


def parts_of(report: AwrReport) -> list[Part]:
    """The text or page of a report, with the rows of its tables by place; other reports of a file are text."""
    document = report.document
    frames = report.frames()
    if document.form == "html":
        part = Part(
            document.page,
            frames,
            default="text",
            is_page=True,
            first_line=document.first_line,
            mark=document.decimal_mark,
            place=document.file_place,
        )
    else:
        part = Part("\n".join(document.file_lines), frames, default="text", mark=document.decimal_mark)
        for place, its_kind in enumerate(document.line_kinds, document.first_line):
            part.statuses[place] = _STATUSES.get(its_kind, "layout")
    _Claims(report, part).add()
    return [part]


class _Row(NamedTuple):
    """One printed row: its table, its position there, and the places that it takes."""

    table: PrintedTable
    position: int
    keys: list[Key]


class _Claims:
    """The rows of the canonical tables of one report, added to the part that holds it."""

    def __init__(self, report: AwrReport, part: Part) -> None:
        self._report = report
        self.document: Document = report.document
        self._part = part
        self._rows: list[_Row] = []
        self._copies: dict[int, PrintedTable] = {}
        self._cells = rows_of_page(self.document.page) if part.is_page else {}

    def add(self) -> None:
        """Add the claims, and the statuses of rows in no canonical table."""
        self._number_rows()
        canonical: set[int] = set()
        for name in self._report.tables:
            printed = self._report.printed_tables(name)
            if printed:
                self._claim_table(TABLES[name], printed)
                canonical.update(map(id, printed))
        head = {id(one) for name in HEAD_TABLES for one in self._report.printed_tables(name)}
        for row in self._rows:
            if id(row.table) in head and INFO.name in self._part.frames:
                for key in row.keys:
                    self._part.claim(key, Claim(INFO.name, 0, _ONLY_INFO))
            status = "lost" if id(row.table) in canonical else "raw"
            for key in row.keys:
                if self._part.statuses.get(key) != "lost":
                    self._part.statuses[key] = status

    def _number_rows(self) -> None:
        """Give each printed row of the report a number, and find the places that it takes."""
        for number, table in enumerate(self.document.tables, 1):
            rows = table.rows
            above = len(self._cells.get(number, ())) - len(rows.cells)
            first = len(self._rows) + 1
            # what stands in preformatted lines of a page is in none of its tables
            is_outside = self._part.is_page and number not in self._cells
            for position, line in enumerate(rows.lines):
                key: Key = (number, above + position + 1) if self._part.is_page else line
                self._rows.append(_Row(table, position, [] if is_outside else [key]))
            numbers = list(range(first, first + len(rows.cells)))
            self._copies[id(table)] = PrintedTable(
                table.title,
                partial(replace, rows, lines=numbers),
                summary=table.summary,
                notes=table.notes,
                line=table.line,
            )
        if not self._part.is_page:
            self._extend_rows()

    def _extend_rows(self) -> None:
        """A row of a text report goes on to the line before the next; lines are those of the file from here on."""
        starts = sorted({line for row in self._rows for line in row.keys if isinstance(line, int)})
        ends = dict(pairwise([*starts, len(self.document.lines) + 1]))
        for row in self._rows:
            start = row.keys[0]
            if isinstance(start, int):
                of_file = [self.document.file_line(line) for line in range(start, ends[start])]
                row.keys[:] = [
                    line for line in of_file if line == of_file[0] or self._part.statuses.get(line) in {"raw", "lost"}
                ]

    def _claim_table(self, table: Table, printed: list[PrintedTable]) -> None:
        copies = [self._copies[id(one)] for one in printed]
        frame = table.name
        height = 0
        claimed: dict[int, int] = {}
        grids = grids_of(table, copies)
        pivoted = [copy for copy in copies if is_pivoted(table, copy)]
        for grid in grids[:-1] if pivoted else grids:
            columns = _columns(table, grid)
            for position, number in enumerate(grid.lines, height):
                claimed[number] = position
                self._claim_row(Claim(frame, position, columns), self._rows[number - 1], table, grid)
            height += len(grid.lines)
        if pivoted and grids:
            self._claim_pivoted(frame, table, pivoted, grids[-1], height, claimed)
        if table.shape in {"wide", "sum"} or table.wraps:
            self._claim_rest(frame, table, copies, grids, claimed)

    def _claim_row(self, claim: Claim, row: _Row, table: Table, grid: Grid) -> None:
        if table.shape in {"rows", "sum"} and not grid.spans_lines and len(row.keys) == 1:
            columns = dict(claim.columns)
            for name, start, end in self._extents(row, table, grid):
                its = {each: columns.pop(each) for each in (name, *_parts(table, name)) if each in columns}
                self._part.claim(row.keys[0], claim._replace(columns=its, start=start, end=end))
            claim = claim._replace(columns=columns)
        for key in row.keys:
            self._part.claim(key, claim)

    def _extents(self, row: _Row, table: Table, grid: Grid) -> Iterator[tuple[str, int, int]]:
        """The columns of a row and where they stand: cells of a page, or letters of a line that is cut at its ruler."""
        rows = row.table.rows
        match row.keys[0]:
            case (number, place):
                if self._cells[number][place - 1] == len(rows.headings):
                    for cell, column in enumerate(columns_of(table, row.table), 1):
                        if column is not None:
                            yield column.name, cell, cell + 1
            case int() as line if rows.extents and None not in rows.extents:
                text = self.document.file_lines[line - 1]
                cut = cutter_at(cast("tuple[Column, ...]", rows.extents)).cut(text)
                if cut == rows.cells[row.position]:
                    last = max(extent.end for extent in grid.extents.values()) if grid.extents else 0
                    for name, extent in grid.extents.items():
                        yield name, extent.start, len(text) if extent.end == last else extent.end

    def _claim_pivoted(
        self,
        frame: str,
        table: Table,
        copies: list[PrintedTable],
        whole: Grid,
        first: int,
        claimed: dict[int, int],
    ) -> None:
        """The rows of tables with a column for each name: each printed row is in several rows of the frame.

        Of what several tables print, the last is read.
        """
        grids = [(copy, grid) for copy in copies for grid in grids_of(table, [copy])]
        printed: list[list[int]] = []
        last: dict[tuple[int, str], int] = {}
        for place, (copy, grid) in enumerate(grids):
            names = names_of_pivot(table, copy) or []
            known = {key: number for number, key in enumerate(_keys(whole, names), first)}
            printed.append([known.get(key, -1) for key in _keys(grid, names)])
            for name, texts in grid.cells.items():
                last.update({(row, name): place for row, text in zip(printed[-1], texts, strict=True) if text})
        times = Counter(row for rows in printed for row in rows)
        for place, ((copy, grid), rows) in enumerate(zip(grids, printed, strict=True)):
            names, cells = names_of_pivot(table, copy) or [], cells_of_pivot(table, copy)
            columns = _columns(table, grid)
            for row, name, number in zip(rows, grid.cells[names[-1]], grid.lines, strict=True):
                if row < 0:
                    continue
                # what the rows of a line have in common is printed once
                own = {one: columns[one] for one in columns if one not in names or number not in claimed}
                kept = [
                    one for one in own if (times[row] > 1 if one in names else last.get((row, one), place) != place)
                ]
                claimed.setdefault(number, row)
                self._claim_cells(Claim(frame, row, own, kept=kept), self._rows[number - 1], cells[name])

    def _claim_cells(self, claim: Claim, row: _Row, cells: dict[str, tuple[int, int]]) -> None:
        """Claim the columns that are in these cells of a printed row there, and the others anywhere."""
        columns = dict(claim.columns)
        match row.keys:
            case [(number, place)] if self._cells[number][place - 1] == len(row.table.rows.headings):
                for name in cells.keys() & columns:
                    its = {name: columns.pop(name)}
                    start, end = cells[name]
                    self._part.claim(
                        row.keys[0], Claim(claim.frame, claim.row, its, start, end, kept=its.keys() & claim.kept)
                    )
        for key in row.keys:
            self._part.claim(key, claim._replace(columns=columns, kept=columns.keys() & claim.kept))

    def _claim_rest(
        self, frame: str, table: Table, copies: list[PrintedTable], grids: list[Grid], claimed: dict[int, int]
    ) -> None:
        """Rows that continue the one above, or repeat a row of another section."""
        name = table.columns[0].name
        cells = [cell for grid in grids for cell in grid.cells.get(name, ())]
        by_name = {cell: place for place, cell in enumerate(cells)}
        columns = _columns(table, grids[0]) if grids else {}
        for copy in copies:
            above: int | None = None
            for row, number in zip(copy.rows.cells, copy.rows.lines, strict=True):
                above = claimed.get(number, above)
                if number in claimed:
                    continue
                place = by_name.get(row[0]) if table.shape == "sum" else 0 if table.shape == "wide" else above
                if place is not None:
                    for key in self._rows[number - 1].keys:
                        self._part.claim(
                            key, Claim(frame, place, columns, kept=columns if table.shape == "sum" else ())
                        )


def _columns(table: Table, grid: Grid) -> dict[str, float]:
    """The columns of a table in the order in which they are printed, and the factors of their kinds and headings."""
    if table.shape == "histogram":
        return dict.fromkeys(("waits", "waits_pct"), 1.0)
    # a form of a table may leave the unit of its sizes to its title
    unit = next((pivot.suffix for pivot in table.pivots if pivot.suffix), "")
    found = {}
    # a line of a pivot begins with what its rows have in common
    names = sorted(grid.cells, key=lambda name: bool(table.pivots) and table.by_name[name].kind != "text")
    for name in (each for cell in names for each in (cell, *_parts(table, cell))):
        if name in table.by_name:
            kind = table.by_name[name].kind
            form = form_of(kind, grid.headings.get(name, ""))
            found[name] = form.factor / form.divisor
            if unit and kind == "bytes":
                found[name] = float(read_measure(f"1{unit}", Reading(kind)).value or 1)
    return found


def _parts(table: Table, name: str) -> list[str]:
    """The columns into which the cells of a column are parted."""
    template = table.splits.get(name)
    return [] if template is None else list(re.compile(CELLS.pattern(template)).groupindex)


def _keys(grid: Grid, names: Iterable[str]) -> list[tuple[str, ...]]:
    """The texts of some columns, row by row."""
    return list(zip(*(grid.cells[name] for name in names), strict=True))
