"""Signs that lines or rows of a report are missing, which no single row shows.

A table whose headings were cut off, or rows below the headings of another table, would be read under the title above
them, or not at all: each is a row of the diagnostics.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from awrparse.canonical import TOTALS, matches
from awrparse.columns import fold
from awrparse.grids import (
    cells_without_heading,
    columns_by_heading,
    columns_of,
    columns_of_histogram,
    goes_on,
    is_pivoted,
    is_wrapped,
    widths_of,
)
from awrparse.integrity.registry import check
from awrparse.matching import tables_of
from awrparse.records import Problem
from awrparse.sniff import PAGE
from awrparse.tables import IDENTITY, TABLES, tables_titled
from awrparse.text.layout import GRAMMAR, is_number
from awrparse.text.rows import CUT_ID, DAMAGED_ID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.columns import Table
    from awrparse.integrity.registry import Report
    from awrparse.records import PrintedTable
    from logframe.kinds import DiagnosticKind

_TABLE_START: Final = re.compile(PAGE.pattern("{TABLE_TAG}"))
_TABLE_END: Final = re.compile(PAGE.pattern("{TABLE_END}"))
_TITLE_WORD: Final = re.compile(GRAMMAR.pattern("{TITLE_WORD}"))
#: Fewer headings than these do not show whose table it is.
_FEWEST_HEADINGS: Final = 3
#: Of a table this many cells without a heading are reported.
_MOST_CELLS: Final = 5
#: Fewer ids that end too soon were damaged one by one.
_FEWEST_CUT: Final = 3
#: Shapes whose columns are known by their headings.
_RULED: Final = frozenset({"rows", "sum"})
_COLUMNS: Final = _RULED | {"wide"}
#: Kinds of names of which none is a figure.
_NEVER_FIGURES: Final = frozenset({"event", "statistic", "latch", "parameter", "wait_class"})
#: Shapes that any table may have, unless some headings are needed.
_LABELLED: Final = frozenset({"labels", "wide"})
#: Labels that stand below the snapshots.
_PERIOD_LABELS: Final = frozenset({"begin snap", "end snap", "elapsed", "db time", "av act sess", "db cpu"})
MAY_BE_OTHER: Final = "the row may be of another table; lines above it may be missing"


@check("a title, a heading or a page is missing, or a row stands in the wrong column", cost_ms=2)
def missing_headings(report: Report) -> Iterator[Problem]:
    """Tables whose title and headings do not belong together, and columns whose heading is not known.

    Their figures are in `raw_tables` only.
    """
    for printed in report.document.tables:
        if not printed.rows.cells:
            continue
        titled = tables_titled(printed.title)
        matched = tables_of(printed)
        if not printed.title and not matched:
            titled = ()  # the tables at the head of a report have no title
        if matched:
            yield from _unknown_columns(matched, printed)
            yield from _unknown_rows(matched, printed)
            if any(table in IDENTITY for table in matched):
                yield from _labels_in_head(matched, printed)
            if all(table.shape in _RULED for table in matched):
                yield from _shifted_cells(matched, printed)
        elif titled and not any(table.shape not in _RULED or table in IDENTITY for table in titled):
            yield from _other_headings(report, titled, printed)
        elif other := _table_of(printed) or _titled_alike(printed):
            reason = f"the headings are those of {other.name}, the title is not; the table is in raw_tables only"
            yield _problem(printed, "foreign", printed.title, reason)
        elif titled and sum(map(bool, printed.headings)) >= _FEWEST_HEADINGS and _has_figures(printed):
            yield from _other_headings(report, titled, printed)
        elif printed.title and not titled and _is_labelled(printed) and _has_figures(printed):
            reason = "labels below a title that is not known; they are in raw_tables only"
            yield _problem(printed, "foreign", printed.title, reason)
        elif len(printed.rows.extents) > 1 and not any(printed.headings) and not _is_sum(printed):
            reason = "the table has no headings: lines above it may be missing; it is in raw_tables only"
            yield _problem(printed, "unknown_name", printed.title, reason)
        elif len(printed.rows.extents) > 1 and not printed.title:
            reason = "the table has no title: lines above it may be missing; it is in raw_tables only"
            yield _problem(printed, "missing", " ".join(printed.headings), reason)


@check("a piece of the page is missing, or there twice", cost_ms=1)
def unclosed_tables(report: Report) -> Iterator[Problem]:
    """A page, or a table within it, that is cut: not every table has its end."""
    page = report.document.page
    starts, ends = len(_TABLE_START.findall(page)), len(_TABLE_END.findall(page))
    if starts != ends:
        reason = f"{starts} tables start in this page and {ends} end: a piece of it is missing or there twice"
        yield Problem(None, "cut", "", reason)


@check("a copy cut the ends of the lines", cost_ms=1)
def cut_columns(report: Report) -> Iterator[Problem]:
    """Tables that end where all lines of a text do, in a copy that cuts ids, headings or decimals there."""
    width = max(map(len, report.document.lines), default=0)
    ends = [
        one for one in report.document.tables if (last := one.rows.extents[-1:]) and last[0] and last[0].end == width
    ]
    ids = [problem.reason in {CUT_ID, DAMAGED_ID} for printed in ends for problem in printed.rows.problems]
    heads = [printed.headings[-1] for printed in ends if printed.headings]
    figures = [
        row[-1] for printed in ends for row in printed.rows.cells if row[-1][-1:] == "." and row[-1][:-1].isdigit()
    ]
    if sum(ids) >= _FEWEST_CUT or figures or any(head.count("(") > head.count(")") for head in heads):
        reason = f"the lines were cut at {width} characters: the last figures of {len(ends)} tables may lack digits"
        yield _problem(ends[0], "cut", ends[0].title, reason)


@check("a piece of the report was copied twice", cost_ms=1)
def repeated_tables(report: Report) -> Iterator[Problem]:
    """Tables with figures that are printed twice: a piece of the report was copied again."""
    seen: set[tuple[object, ...]] = set()
    for printed in report.document.tables:
        cells = printed.rows.cells
        if not printed.title or not _has_figures(printed):
            continue
        key = (printed.title, printed.headings, *cells)
        if key in seen:
            names = [table.name for table in tables_of(printed)]
            reason = f"{', '.join(names) or 'raw_tables'}: the table is printed twice; its rows are counted twice"
            yield _problem(printed, "repeated", printed.title, reason)
        seen.add(key)


def _problem(printed: PrintedTable, kind: DiagnosticKind, text: str, reason: str) -> Problem:
    return Problem(printed.line or None, kind, text, reason)


def _unknown_columns(matched: list[Table], printed: PrintedTable) -> Iterator[Problem]:
    """Columns with cells that no canonical table takes."""
    if len(matched) == 1 and matched[0].shape in {"labels", "wide"} and not is_pivoted(matched[0], printed):
        for cell in cells_without_heading(matched[0], printed)[:_MOST_CELLS]:
            reason = f"{matched[0].name}: no column of this table takes the cell; it is in raw_tables only"
            yield _problem(printed, "unknown_name", cell, reason)
        return
    if is_histogram := all(table.shape == "histogram" for table in matched):
        found = [columns_of_histogram(printed)]
    elif any(table.shape not in _RULED or is_pivoted(table, printed) for table in matched):
        return
    else:
        found = [[column is not None for column in columns_of(table, printed)] for table in matched]
    for place, heading in enumerate(printed.headings):
        is_known = any(columns[place] for columns in found)
        # without a heading the last column under a ruler is one whose heading stands above the column before it
        is_last = (is_histogram or not heading) and place == len(printed.rows.extents) - 1
        if not is_known and (is_last or any(row[place] for row in printed.rows.cells)):
            name = matched[0].name
            reason = f"{name}: no column of this table has such a heading; its cells are in raw_tables only"
            yield _problem(printed, "unknown_name", heading, reason)


def _unknown_rows(matched: list[Table], printed: PrintedTable) -> Iterator[Problem]:
    """Rows with figures that no canonical table takes: their first cell is not one of theirs; or they lack all ranges.

    And rows that have lost their name: no rest of the one above.
    """
    name, rows = matched[0].name, printed.rows
    if is_wrapped(matched[0], printed):
        widths = widths_of(printed)
        for (above, row), line in zip(pairwise(rows.cells), rows.lines[1:], strict=True):
            if not row[0] and not goes_on(row, above, widths):
                reason = f"{name}: the row has no name, and is no rest of the one above"
                yield Problem(line or None, "unknown_name", " ".join(filter(None, row)), reason)
    if all(table.rows_like and table.shape == "rows" and table not in IDENTITY for table in matched):
        likes = [re.compile(table.rows_like) for table in matched]
        for line, row in zip(rows.lines, rows.cells, strict=True):
            if any(map(is_number, row)) and not any(like.match(row[0]) for like in likes):
                reason = f"{name}: no row of this table begins so; its figures are in raw_tables only"
                yield Problem(line or None, "unknown_name", " ".join(filter(None, row)), reason)
    elif all(table.shape == "histogram" for table in matched):
        for line, row in zip(rows.lines, rows.cells, strict=True):
            if any(row[:2]) and not any(row[2:]):
                reason = f"{name}: the row has no figure of a range; it is in raw_tables only"
                yield Problem(line or None, "unknown_name", " ".join(filter(None, row)), reason)


def _labels_in_head(matched: list[Table], printed: PrintedTable) -> Iterator[Problem]:
    """Labels in a table of the head of the report that are not part of its own."""
    is_of_snapshots = TABLES["snapshots"] in matched
    for cells, line in zip(printed.rows.cells, printed.rows.lines, strict=True):
        label = cells[0].strip(" :").lower()
        is_label = any(cells) if is_of_snapshots else cells[0].endswith(":")
        if is_label and not (is_of_snapshots and label in _PERIOD_LABELS):
            reason = f"{matched[0].name}: the label is not part of this table's; {MAY_BE_OTHER}"
            yield Problem(line or None, "foreign", cells[0] or " ".join(filter(None, cells)), reason)


def _shifted_cells(matched: list[Table], printed: PrintedTable) -> Iterator[Problem]:
    """Rows that lack a word, or have one too many: a release of two words, a figure as the name of what has figures."""
    columns = [
        (place, column)
        for table in matched
        for place, column in enumerate(columns_of(table, printed))
        if column is not None and (column.name == "release" or column.kind in _NEVER_FIGURES)
    ]
    for place, column in dict(columns).items():
        for cells, line in zip(printed.rows.cells, printed.rows.lines, strict=True):
            if " " in cells[place] if column.name == "release" else is_number(cells[place]):
                reason = f"{matched[0].name}.{column.name}: the cells of the row may be in other columns than their own"
                yield Problem(line or None, "misplaced", cells[place], reason)


def _other_headings(report: Report, titled: tuple[Table, ...], printed: PrintedTable) -> Iterator[Problem]:
    """A known title above headings that are not those of its table."""
    if _is_sum(printed) or (
        report.kind == "awr_diff" and not any(table.name.startswith("compare_") for table in titled)
    ):
        return
    name = titled[0].name
    reason = f"{name}: the headings below this title are not those of the table; it is in raw_tables only"
    yield _problem(printed, "unknown_name", printed.title, reason)


def _is_labelled(printed: PrintedTable) -> bool:
    """Has the table labels and their values?"""
    return not (printed.rows.extents or any(printed.headings)) or printed.rows.cells[0][0].endswith(":")


def _has_figures(printed: PrintedTable) -> bool:
    return any(map(is_number, (cell for row in printed.rows.cells for cell in row)))


def _is_sum(printed: PrintedTable) -> bool:
    """Is this the sum below the rows of a table, under a ruler without headings?"""
    rows = printed.rows.cells
    return len(rows) == 1 and not any(printed.headings) and rows[0][0].strip(" :").lower() in TOTALS


def _table_of(printed: PrintedTable) -> Table | None:
    """The canonical table that has all headings of a table, whatever its title; those of the head share some."""
    headings = printed.headings
    used = [
        place for place in range(len(headings)) if headings[place] and any(row[place] for row in printed.rows.cells)
    ]
    if len(used) < _FEWEST_HEADINGS:
        return None
    of_head = [columns_by_heading(table, headings) for table in IDENTITY]
    if matched := [table for table in IDENTITY if matches(table, printed)]:
        return matched[0] if all(any(columns[place] for columns in of_head) for place in used) else None
    for table in TABLES.values():
        columns = columns_by_heading(table, headings) if table.shape in _COLUMNS else []
        if columns and all(columns[place] for place in used):
            return table
    return None


def _titled_alike(printed: PrintedTable) -> Table | None:
    """The canonical table that has headings of a table, and most words of its title: one of these is damaged."""
    alike = _tables_titled_alike(printed.title) if _has_figures(printed) else ()
    return next((table for table in alike if matches(table, printed)), None)


@lru_cache(maxsize=1024)
def _tables_titled_alike(title: str) -> tuple[Table, ...]:
    """The canonical tables that have most words of a title, or all its letters: not those that any table could be."""
    known = [table for table in TABLES.values() if table.needs or table.shape not in _LABELLED]
    return tuple(table for table in known if any(_are_alike(title, one) for one in table.titles))


def _are_alike(title: str, other: str) -> bool:
    words, others = (frozenset(_TITLE_WORD.findall(one.lower())) for one in (title, other))
    is_glued = len(others) > 1 and fold(title).startswith(fold(other))
    return is_glued or (bool(others) and 2 * len(words & others) >= max(len(words), len(others)))
