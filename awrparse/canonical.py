"""Printed tables made into one canonical frame."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from awrparse.columns import CUT_KINDS, IS_TOTAL, MEASURES, Table
from awrparse.grids import Grid, columns_by_heading, grid_of
from awrparse.pivots import is_pivoted, unpivot
from awrparse.records import PrintedTable, Problem
from awrparse.values import CELLS, read_measures, read_time
from logframe.oracle import full_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logframe.decimal_mark import DecimalMark

#: End of the name of a group that holds minutes.
_MINUTES = "_minutes"
#: What the rows that sum up others are called, in lower case and without a colon.
_TOTALS = frozenset({"total", "all", "sum", "*", "--------"})
#: Rows that are about the others, too, but no sums.
_SUMMARIES = frozenset({"avg", "std"})


def matches(table: Table, printed: PrintedTable) -> bool:
    """Is the printed table this canonical one?  Its title is, and the headings that the table needs are there."""
    if table.pivots and is_pivoted(table, printed):
        return True
    if table.shape in {"labels", "wide"} and not table.needs:
        return not _is_compared(printed)
    found = {column.name for column in columns_by_heading(table, printed.headings) if column is not None}
    return found.issuperset(table.needs) and _has_row_like(table, printed)


def _has_row_like(table: Table, printed: PrintedTable) -> bool:
    """Has a table of labels one of those that the canonical table is about?"""
    if table.shape != "labels" or not table.rows_like:
        return True
    like = re.compile(table.rows_like)
    return any(like.match(cell) for row in printed.rows.cells for cell in row)


def _is_compared(printed: PrintedTable) -> bool:
    """Has the table figures of two periods?"""
    return any(heading.startswith(("1st", "2nd", "First", "Second")) for heading in printed.headings)


def build_frame(
    table: Table, printed: Iterable[PrintedTable], *, bounds: bool = False, decimal_mark: DecimalMark = "."
) -> tuple[pl.DataFrame, list[Problem]]:
    """The canonical frame of printed tables, one below the other, and what could not be read."""
    problems: list[Problem] = []
    data: dict[str, list[object]] = {name: [] for name in _names(table, bounds=bounds)}
    for grid in grids_of(table, printed):
        _append(data, table, grid, problems, bounds=bounds, decimal_mark=decimal_mark)
    frame = pl.DataFrame(data, schema=_schema(table, bounds=bounds), strict=False)
    return frame, problems


def grids_of(table: Table, printed: Iterable[PrintedTable]) -> list[Grid]:
    """The rows of printed tables by canonical column, in the order of the canonical frame."""
    if table.pivots:
        printed = unpivot(table, printed)
    grids = [(one.title, grid_of(table, one)) for one in printed]
    if table.shape == "sum":
        grids = _without_repeats(table, grids)
    return [grid for _, grid in grids]


def _without_repeats(table: Table, grids: list[tuple[str, Grid]]) -> list[tuple[str, Grid]]:
    """Without the rows of a section ``Key ...`` that a full section has again; names that text cuts alike stay."""
    name = table.columns[0].name
    full = {cell for title, grid in grids if not title.startswith("Key ") for cell in grid.cells.get(name, ())}
    kept = []
    for title, grid in grids:
        if title.startswith("Key "):
            places = [place for place, cell in enumerate(grid.cells[name]) if cell not in full]
            cells = {column: [texts[place] for place in places] for column, texts in grid.cells.items()}
            grid = grid._replace(cells=cells, lines=[grid.lines[place] for place in places])  # noqa: PLW2901 - what is left of it
        kept.append((title, grid))
    return kept


def _schema(table: Table, *, bounds: bool) -> dict[str, pl.DataType]:
    types: dict[str, pl.DataType] = {}
    for column in table.columns:
        types[column.name] = column.dtype
        if column.kind in CUT_KINDS:
            types[f"{column.name}_printed"] = pl.String()
        if bounds and column.kind in MEASURES:
            types[f"{column.name}_lo"] = types[f"{column.name}_hi"] = pl.Float64()
    if table.total:
        types[IS_TOTAL] = pl.Boolean()
    return types


def _names(table: Table, *, bounds: bool) -> list[str]:
    return list(_schema(table, bounds=bounds))


def _append(
    data: dict[str, list[object]],
    table: Table,
    grid: Grid,
    problems: list[Problem],
    *,
    bounds: bool,
    decimal_mark: DecimalMark,
) -> None:
    height = len(grid.lines)
    for name, template in table.splits.items():
        _split(table, name, template, grid, problems)
    if table.total:
        data[IS_TOTAL].extend(_mark_totals(table, grid, height))
    for column in table.columns:
        cells = grid.cells.get(column.name)
        if cells is None:
            for name in (column.name, f"{column.name}_printed", f"{column.name}_lo", f"{column.name}_hi"):
                if name in data:
                    data[name].extend([None] * height)
            continue
        extent = grid.extents.get(column.name)
        start = None if extent is None or grid.spans_lines else extent.start
        match column.kind:
            case "text":
                data[column.name].extend([cell.strip() or None for cell in cells])
            case "time":
                data[column.name].extend(
                    [_time(cell, line, problems, start) for cell, line in zip(cells, grid.lines, strict=True)]
                )
            case name if name in CUT_KINDS:
                width = None if extent is None else extent.end - extent.start
                data[column.name].extend([full_name(column.kind, cell, width) if cell else None for cell in cells])
                data[f"{column.name}_printed"].extend(
                    [cell or None for cell in grid.cells.get(f"{column.name}_printed", cells)]
                )
            case _:
                read = read_measures(
                    # the ends of a range are not printed figures
                    cells,
                    column.kind,
                    grid.headings.get(column.name, ""),
                    decimal_mark if column.heads else ".",
                )
                data[column.name].extend(read.values)
                if bounds:
                    is_exact = table.shape == "histogram" and not column.heads
                    data[f"{column.name}_lo"].extend(read.values if is_exact else read.lo)
                    data[f"{column.name}_hi"].extend(read.values if is_exact else read.hi)
                problems += [
                    Problem(
                        grid.lines[place] or None, kind, cells[place], f"{table.name}.{column.name}: {reason}", start
                    )
                    for place, kind, reason in read.faults
                ]


def _split(table: Table, name: str, template: str, grid: Grid, problems: list[Problem]) -> None:
    """Part the cells of a column that hold several figures; a cell of another form is a problem."""
    pattern = re.compile(CELLS.pattern(template))
    parts: dict[str, list[str]] = {part: [] for part in pattern.groupindex}
    for cell, line in zip(grid.cells.get(name, ()), grid.lines, strict=False):
        found = pattern.match(cell)
        if found is None and cell:
            reason = f"{table.name}.{name}: not of the form expected; its figures are null"
            problems.append(Problem(line or None, "not_parted", cell, reason))
        for part, texts in parts.items():
            texts.append((found[part] if found else "") or "")
        for part in parts:
            if part.endswith(_MINUTES) and parts[part][-1]:
                parts[part.removesuffix(_MINUTES)][-1] = f"{parts[part][-1]} (mins)"
    grid.cells.update({part: texts for part, texts in parts.items() if texts})


def _mark_totals(table: Table, grid: Grid, height: int) -> list[bool]:
    """Which rows are sums of others; in the grid they get one name, and parts in brackets a column of their own."""
    cells = [cell.strip() for cell in grid.cells.get(table.total, [""] * height)]
    are_totals = [cell.strip(" :").lower() in _TOTALS for cell in cells]
    grid.cells[f"{table.total}_printed"] = cells
    cells = ["Total" if one else cell for cell, one in zip(cells, are_totals, strict=True)]
    are_totals = [one or cell.lower() in _SUMMARIES for cell, one in zip(cells, are_totals, strict=True)]
    if table.within:
        parted = [cell.removesuffix(")").partition(" (") for cell in cells]
        cells = [name for name, _, _ in parted]
        grid.cells[table.within] = [part for _, _, part in parted]
        are_totals = [not part for _, _, part in parted]
    grid.cells[table.total] = cells
    return are_totals


def _time(cell: str, line: int, problems: list[Problem], start: int | None) -> object:
    if not cell:
        return None
    time = read_time(cell)
    if time is None:
        problems.append(Problem(line or None, "not_a_time", cell, f"{cell!r} is no date and time; it is null", start))
    return time
