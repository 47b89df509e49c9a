"""Signs in the lines of a text report that lines are missing: figures that stand out of line, rows without a table."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from awrparse.canonical import TOTALS
from awrparse.grids import columns_of
from awrparse.integrity.headings import MAY_BE_OTHER
from awrparse.integrity.registry import check
from awrparse.matching import tables_of
from awrparse.records import Problem
from awrparse.tables import IDENTITY
from awrparse.text import lines as kind
from awrparse.text.layout import is_number, is_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.columns import Table
    from awrparse.integrity.registry import Report
    from awrparse.records import Document, PrintedTable

#: This many rows of a table are reported.
_MOST_ROWS: Final = 5
#: A line of figures has at least so many.
_FEWEST_FIGURES: Final = 2
#: Rows without waits are told apart by how many figures they have, wherever these stand.
_CPU_ROWS: Final = frozenset({"DB CPU", "CPU time", "background cpu time"})
#: Names stand in the first columns.
_NAME_COLUMNS: Final = 2
#: Histograms of 12.2 and later, and of 11.2 to 12.1, in the order in which reports print them.
_HISTOGRAMS: Final = (
    ("up to 64 us", "up to 32 ms", "up to 2 sec", "up to 2 min", "up to 1 hr"),
    ("64 msec to 2 sec", "4 sec to 2 min", "4 min to 1 hr"),
)


@check("lines of a text report are missing", cost_ms=1)
def text_signs(report: Report) -> Iterator[Problem]:
    """Lines that show that others are missing."""
    document = report.document
    if document.form != "text":
        return
    yield from _rows_in_notes(document)
    for printed in document.tables:
        matched = tables_of(printed)
        names = ", ".join(table.name for table in matched) or printed.title
        if printed.rows.extents and not printed.rows.spans_lines and document.lines:
            yield from _out_of_line(document, printed, names)
        if not matched:
            yield from _without_label(printed, names)
        else:
            yield from _labels_in_rows(printed, matched, names)
    yield from _under_one_title(document)
    yield from _lost_histograms(report)


def _under_one_title(document: Document) -> Iterator[Problem]:
    """Tables with other headings than those above them under the same title: their own title may be missing."""
    for above, printed in pairwise(document.tables):
        if printed.title and printed.title == above.title and printed.headings != above.headings:
            matched = tables_of(printed)
            if matched and matched == tables_of(above):
                reason = f"{matched[0].name}: the table above has other headings; a title between them may be missing"
                yield Problem(printed.line or None, "missing", printed.title, reason)


def _rows_in_notes(document: Document) -> Iterator[Problem]:
    """Rows that stand among the notes of a section: the headings above them are missing."""
    lines, line_map = document.file_lines, document.line_map
    before = -_MOST_ROWS - 1
    for number, what in enumerate(document.line_kinds, document.first_line - 1):
        if what != kind.NOTE or number >= len(lines) or lines[number].lstrip().startswith("->"):
            continue
        words = lines[number].split()
        if not is_row(lines[number]) or sum(map(is_number, words)) < _FEWEST_FIGURES:
            continue
        if number > before + _MOST_ROWS:
            place = number if line_map is None else bisect_left(line_map.kept, number)
            reason = (
                "a row among the notes of a section: the headings above it are missing; its figures are in no table"
            )
            yield Problem(place + 1, "unknown_name", lines[number].strip(), reason)
        before = number


def _out_of_line(document: Document, printed: PrintedTable, names: str) -> Iterator[Problem]:
    """Figures that do not end where the other figures of their column do."""
    found: dict[int, str] = {}
    rows = [
        (cells, line, document.lines[line - 1])
        for cells, line in zip(printed.rows.cells, printed.rows.lines, strict=True)
        if line and cells[0] not in _CPU_ROWS
    ]
    for place in _columns_of_figures(printed):
        extent = printed.extent(place)
        if extent is None:
            continue
        start, end = extent
        aligned: list[str] = []
        odd: list[str] = []
        ends: dict[int, list[tuple[int, str]]] = {}
        for cells, line, text in rows:
            cell, within = cells[place], text[start:end]
            if within.lstrip() == cell and cell and len(text) >= end:  # nearly all
                aligned.append(cell)
            elif is_number(cell):
                odd.append(cell)
                if within.strip() == cell:
                    ends.setdefault(len(text[:end].rstrip()) - end, []).append((line, cell))
                elif not within.strip() and cell in text:
                    found[line] = cell
        if not ends or not any(map(is_number, aligned)):
            continue
        has_units = any(cell[-1].isalpha() for cell in (*odd, *filter(is_number, aligned)))
        for away, others in ends.items():
            # where figures may have a unit, its place is blank where they have none
            if not (has_units and away == -1):
                found.update(others)
    for line in sorted(found)[:_MOST_ROWS]:
        text = document.lines[line - 1].strip()
        reason = f"{names}: {found[line]!r} does not end where its column does; {MAY_BE_OTHER}"
        yield Problem(line, "misplaced", text, reason)


def _columns_of_figures(printed: PrintedTable) -> list[int]:
    """The places of columns that hold figures."""
    rows = printed.rows
    matched = [table for table in tables_of(printed) if table.shape in {"rows", "sum"}]
    known = [columns_of(table, printed) for table in matched]
    places = []
    for place in range(len(printed.headings)):
        columns = [found[place] for found in known if found[place] is not None]
        if columns:
            is_measured = all(column is not None and column.is_measure for column in columns)
        else:
            is_measured = all(is_number(cells[place]) for cells in rows.cells if cells[place])
        if is_measured:
            places.append(place)
    return places


def _without_label(printed: PrintedTable, names: str) -> Iterator[Problem]:
    """Rows without the colon that the labels above them have."""
    rows = printed.rows
    if not rows.cells or not rows.extents or not rows.cells[0][0].endswith(":") or rows.spans_lines:
        return
    for (above, cells), line in zip(pairwise(rows.cells), rows.lines[1:], strict=True):
        if above[0].endswith(":") and cells[0] and not cells[0].endswith(":") and any(cells[1:]):
            reason = f"{names}: the rows above have labels with a colon, this one has none; {MAY_BE_OTHER}"
            yield Problem(line or None, "foreign", cells[0], reason)
            return


def _labels_in_rows(printed: PrintedTable, matched: list[Table], names: str) -> Iterator[Problem]:
    """Labels among the names of a ruled table, which ends none of its names in a colon but that of its total."""
    if any(table.shape not in {"rows", "sum"} or table in IDENTITY for table in matched):
        return
    for place in range(min(len(printed.headings), _NAME_COLUMNS)):
        for cells, line in zip(printed.rows.cells, printed.rows.lines, strict=True):
            label = cells[place]
            if label.endswith(":") and label.strip(" :").lower() not in TOTALS:
                yield Problem(line or None, "foreign", label, f"{names}: a label among names; {MAY_BE_OTHER}")


def _lost_histograms(report: Report) -> Iterator[Problem]:
    """Histograms between two that the report has, and that it neither prints nor says to be empty."""
    document = report.document
    titles = [printed.title for printed in document.tables] + document.empty
    titles = [title for title in titles if title.startswith("Wait Event Histogram")]
    for ranges in _HISTOGRAMS:
        there = [place for place, text in enumerate(ranges) if any(f"({text})" in title for title in titles)]
        if not there:
            continue
        for place in range(there[0], there[-1]):
            if place not in there:
                reason = "event_histogram: the report has not this histogram; rows of it may stand in the one before"
                yield Problem(None, "missing", f"Wait Event Histogram ({ranges[place]})", reason)
