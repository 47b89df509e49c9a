"""Printed tables with a column for each name, turned into rows: the forms of reports of all instances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from awrparse.columns import fold
from awrparse.records import PrintedTable, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awrparse.columns import Column, Pivot, Table

#: Fewer headings of a form than these do not show that a table has it.
_FEWEST: Final = 2


def is_pivoted(table: Table, printed: PrintedTable) -> bool:
    """Is the printed table one with a column for each name?"""
    return _pivot_of(table, printed) is not None


def unpivot(table: Table, printed: Iterable[PrintedTable]) -> list[PrintedTable]:
    """The printed tables, those with a column for each name as one with a row for each."""
    plain: list[PrintedTable] = []
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    lines: list[int] = []
    title = ""
    for one in printed:
        pivot = _pivot_of(table, one)
        if pivot is None:
            plain.append(one)
            continue
        title = title or one.title
        _add_rows(table, pivot, one, rows, lines)
    if not title:
        return plain
    columns = [column for column in table.columns if column.heads]
    cells = [tuple([row.get(column.name, "") for column in columns]) for row in rows.values()]
    headings = tuple([column.heads[0] for column in columns])
    return [*plain, PrintedTable(title, lambda: Rows(cells, lines, [], headings))]


def names_of_pivot(table: Table, printed: PrintedTable) -> list[str] | None:
    """The canonical columns whose texts tell the rows of a pivoted table apart; None for another table."""
    pivot = _pivot_of(table, printed)
    if pivot is None:
        return None
    return [*pivot.fixed, *(column.name for column in _names(table, pivot, printed.headings).values()), pivot.key]


def cells_of_pivot(table: Table, printed: PrintedTable) -> dict[str, dict[str, tuple[int, int]]]:
    """Of each row that a pivoted table makes of a printed one, by its name: canonical column -> first cell and end."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    pivot = _pivot_of(table, printed)
    targets = () if pivot is None else _targets(pivot, printed.headings)
    for place, target in enumerate(targets, 1):
        if target is not None:
            end = place + 1 + has_marks(printed.headings, place - 1)
            found.setdefault(target[0], {})[target[1]] = place, end
    return found


def _pivot_of(table: Table, printed: PrintedTable) -> Pivot | None:
    """The form that the printed table has: its title fits, and so do at least two headings."""
    for pivot in table.pivots:
        if pivot.pattern.search(printed.title):
            found = sum(head is not None for head in _targets(pivot, printed.headings))
            if found >= _FEWEST:
                return pivot
    return None


def _targets(pivot: Pivot, headings: Sequence[str]) -> list[tuple[str, str] | None]:
    """Of each printed column the name and the canonical column; a heading over two columns is the first of them."""
    seen: set[str] = set()
    targets: list[tuple[str, str] | None] = []
    for heading in headings:
        key = fold(heading)
        targets.append(None if key in seen else pivot.by_head.get(key))
        seen.add(key)
    return targets


def _add_rows(
    table: Table, pivot: Pivot, printed: PrintedTable, rows: dict[tuple[str, ...], dict[str, str]], lines: list[int]
) -> None:
    targets = _targets(pivot, printed.headings)
    names = _names(table, pivot, printed.headings)
    above: dict[str, str] = {}
    for cells, line in zip(printed.rows.cells, printed.rows.lines, strict=True):
        lead = {**pivot.fixed}
        for place, column in names.items():
            filled = cells[place] or (above.get(column.name, "") if column.name in pivot.filled else "")
            above[column.name] = lead[column.name] = filled
        for place, target in enumerate(targets):
            if target is None:
                continue
            name, column_name = target
            cell = behind_mark(cells[place], cells[place + 1]) if has_marks(printed.headings, place) else cells[place]
            key = (*lead.values(), name)
            if key not in rows:
                rows[key] = {**lead, pivot.key: name}
                lines.append(line)
            if cell:
                rows[key][column_name] = cell + pivot.suffix


def has_marks(headings: Sequence[str], place: int) -> bool:
    """Does a heading span two columns, so that a mark may stand in the first and the figure in the second?"""
    return place + 1 < len(headings) and headings[place] != "" and headings[place] == headings[place + 1]


def behind_mark(cell: str, following: str) -> str:
    """The figure of two cells under one heading; Exadata marks outliers with an asterisk in the first.

    Examples:
        >>> behind_mark("5,263.58", ""), behind_mark("*", "188.75")
        ('5,263.58', '188.75')
    """
    return following if following and not any(map(str.isalnum, cell)) else cell


def _names(table: Table, pivot: Pivot, headings: Sequence[str]) -> dict[int, Column]:
    """Place -> canonical column, of the printed columns that say what a row is about."""
    found: dict[int, Column] = {}
    for place, heading in enumerate(headings):
        column = table.by_head.get(fold(heading))
        if column is not None and column not in found.values() and fold(heading) not in pivot.by_head:
            found[place] = column
    return found
