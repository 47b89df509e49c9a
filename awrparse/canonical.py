"""Printed tables made into one canonical frame."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import polars as pl

from awrparse.columns import CUT_KINDS, IS_TOTAL
from awrparse.frames import HI, LO, VALUE, Columns, FigureColumn, cut
from awrparse.grids import columns_by_heading, grid_of, is_pivoted, unpivot
from awrparse.records import PrintedTable, Problem
from awrparse.values import CELLS, read_time
from logframe.oracle import full_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from awrparse.columns import Column, Table
    from awrparse.grids import Grid
    from logframe.printed import DecimalMark

_TEXT = pl.String()
_MARK = pl.Boolean()
_BOUND = pl.Float64()
#: Units of counts; two counts of the same waits differ by less than this.
_UNITS = {"K": 1e3, "M": 1e6, "G": 1e9}
_SAME_COUNT = 0.05
#: End of the name of a group that holds minutes.
_MINUTES = "_minutes"
#: What the rows that sum up others are called, in lower case and without a colon.
TOTALS = frozenset({"total", "all", "sum", "*", "--------"})
#: Rows that are about the others, too, but no sums.
SUMMARIES = frozenset({"avg", "std"})


def matches(table: Table, printed: PrintedTable) -> bool:
    """Is the printed table this canonical one?  Its title is, and the headings that the table needs are there."""
    if table.pivots and is_pivoted(table, printed):
        return True
    if table.shape in {"labels", "wide"} and not table.needs:
        return not _is_compared(printed)
    columns = columns_by_heading(table, printed.headings) if table.needs else []
    found = {column.name for column in columns if column is not None}
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
    return build_frames({table.name: (table, printed)}, bounds=bounds, decimal_mark=decimal_mark)[table.name]


def build_frames(
    tables: Mapping[str, tuple[Table, Iterable[PrintedTable]]],
    *,
    bounds: bool = False,
    decimal_mark: DecimalMark = ".",
    waits: Mapping[str, float] | None = None,
) -> dict[str, tuple[pl.DataFrame, list[Problem]]]:
    """The canonical frames of several tables by name, and what could not be read in each.

    Args:
        tables: name -> the canonical table and its printed ones.
        bounds: add ``_lo`` and ``_hi`` to each figure.
        decimal_mark: of the report.
        waits: of each event, in all of the report; for histograms of waits.
    """
    columns = Columns((VALUE, LO, HI) if bounds else (VALUE,))
    started = {name: _Frame(table, printed, columns, decimal_mark, waits) for name, (table, printed) in tables.items()}
    columns.build()
    return {name: (frame.build(), frame.problems) for name, frame in started.items()}


class _Frame:
    """A frame whose cells are among those of others."""

    def __init__(
        self,
        table: Table,
        printed: Iterable[PrintedTable],
        columns: Columns,
        decimal_mark: DecimalMark,
        waits: Mapping[str, float] | None,
    ) -> None:
        self._table = table
        self._grids = grids_of(table, printed)
        self._heights = [len(grid.lines) for grid in self._grids]
        self._height = sum(self._heights)
        self._columns = columns
        self._decimal_mark = decimal_mark
        # of figures it is known when those of all columns are read
        self._faults: list[list[Problem | FigureColumn]] = [[] for _ in self._grids]
        self._slices: list[Callable[[], pl.DataFrame]] = []
        are_totals: list[bool] = []
        for grid, height, faults in zip(self._grids, self._heights, self._faults, strict=True):
            for name, template in table.splits.items():
                _split(table, name, template, grid, faults)
            if table.shape == "histogram":
                _add_units(table, grid, waits or {}, faults)
            if table.total:
                are_totals += _mark_totals(table, grid, height)
            if "instance" in grid.cells:
                grid.cells["instance"] = [_instance(cell) for cell in grid.cells["instance"]]
        self._shown = frozenset().union(*[grid.cells for grid in self._grids])
        for column in table.columns:
            self._add(column)
        if table.total:
            self._add_values(IS_TOTAL, _MARK, [are_totals])

    @property
    def problems(self) -> list[Problem]:
        """What could not be read, in the order of the printed tables."""
        found: list[Problem] = []
        for grid, faults in zip(self._grids, self._faults, strict=True):
            for fault in faults:
                if isinstance(fault, Problem):
                    found.append(fault)
                    continue
                name = fault.name
                found += [
                    Problem(
                        grid.lines[row] or None,
                        kind,
                        fault.cells[row],
                        f"{self._table.name}.{name}: {reason}",
                        _start(grid, name),
                    )
                    for row, (kind, reason) in fault.faults
                ]
        return found

    def build(self) -> pl.DataFrame:
        """The frame, when all cells are known."""
        return pl.concat([columns() for columns in self._slices], how="horizontal")

    def _add(self, column: Column) -> None:
        """Put the cells of a column to those of its type."""
        match column.kind:
            case "text":
                self._add_values(column.name, _TEXT, [grid.cells.get(column.name) for grid in self._grids])
            case "time" | "flag":
                times = [self._times(column, place) for place in range(len(self._grids))]
                self._add_values(column.name, column.dtype, times)
            case kind if kind in CUT_KINDS:
                self._add_values(column.name, _TEXT, [_full_names(kind, column.name, grid) for grid in self._grids])
                printed = f"{column.name}_printed"
                texts = [grid.cells.get(printed, grid.cells.get(column.name)) for grid in self._grids]
                self._add_values(printed, _TEXT, texts)
            case _:
                self._add_figures(column)

    def _add_values(self, name: str, dtype: pl.DataType, parts: Sequence[Sequence[object] | None]) -> None:
        """Put the cells of each grid to those of their type; None where a grid has no such column."""
        if all(cells is None for cells in parts):
            self._slices.append(partial(_nulls, self._height, [name], dtype))
            return
        values = self._columns.values(dtype)
        start = len(values)
        for cells, height in zip(parts, self._heights, strict=False):
            values.add([None] * height if cells is None else cells)
        self._slices.append(partial(values.slice, start, self._height, [name]))

    def _times(self, column: Column, place: int) -> list[object] | None:
        grid = self._grids[place]
        cells = grid.cells.get(column.name)
        if cells is None:
            return None
        start = _start(grid, column.name)
        return [_time(cell, line, self._faults[place], start) for cell, line in zip(cells, grid.lines, strict=True)]

    def _add_figures(self, column: Column) -> None:
        name = column.name
        names = self._columns.names(name)
        if name not in self._shown:
            self._slices.append(partial(_nulls, self._height, names, column.dtype))
            return
        figures = self._columns.figures(column.dtype)
        first = len(figures)
        mark: DecimalMark = self._decimal_mark if column.heads else "."
        for grid, height, faults in zip(self._grids, self._heights, self._faults, strict=True):
            cells = grid.cells.get(name)
            heading = grid.headings.get(name, "")
            read = figures.add([""] * height if cells is None else cells, name, column.kind, heading, mark)
            if cells is not None:
                faults.append(read)
        # the ends of a range are no printed figures
        is_edge = self._table.shape == "histogram" and not column.heads
        self._slices.append(partial(figures.slice_exact if is_edge else figures.slice, first, self._height, names))


def _nulls(height: int, names: Sequence[str], dtype: pl.DataType) -> pl.DataFrame:
    """A column that the report does not print, and its bounds; its memory may be that of several frames."""
    return cut(_null_frame(dtype, len(names), 1 << height.bit_length()), 0, height, names)


@lru_cache(maxsize=64)
def _null_frame(dtype: pl.DataType, width: int, height: int) -> pl.DataFrame:
    types = [dtype, *[_BOUND] * (width - 1)]
    return pl.DataFrame([pl.Series(str(place), [None] * height, dtype=one) for place, one in enumerate(types)])


def _start(grid: Grid, name: str) -> int | None:
    """Where the cells of a column start in their lines; None where that is not known."""
    extent = grid.extents.get(name)
    return None if extent is None or grid.spans_lines else extent.start


def _full_names(kind: str, name: str, grid: Grid) -> list[str] | None:
    """The names of a column in full; None where the grid has no such column."""
    cells = grid.cells.get(name)
    if cells is None:
        return None
    extent = grid.extents.get(name)
    width = None if extent is None else extent.end - extent.start
    known = {cell: full_name(kind, cell, width) if cell else "" for cell in set(cells)}
    return [known[cell] for cell in cells]


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


def _split(table: Table, name: str, template: str, grid: Grid, problems: list[Problem | FigureColumn]) -> None:
    """Part the cells of a column that hold several figures; a cell of another form is a problem."""
    pattern = re.compile(CELLS.pattern(template))
    parts: dict[str, list[str]] = {part: [] for part in pattern.groupindex}
    for cell, line in zip(grid.cells.get(name, ()), grid.lines, strict=False):
        found = pattern.match(cell)
        if found is None and cell:
            reason = f"{table.name}.{name}: not of the form expected; its figures are null"
            problems.append(Problem(line or None, "no_value", cell, reason))
        for part, texts in parts.items():
            texts.append((found[part] if found else "") or "")
        for part in parts:
            if part.endswith(_MINUTES) and parts[part][-1]:
                parts[part.removesuffix(_MINUTES)][-1] = f"{parts[part][-1]} (mins)"
    grid.cells.update({part: texts for part, texts in parts.items() if texts and part not in grid.cells})


def _add_units(table: Table, grid: Grid, waits: Mapping[str, float], faults: list[Problem | FigureColumn]) -> None:
    """Add the K, M or G that Oracle left out where the column was full (``521.6``), if the waits of the event prove it.

    No event waited 521.6 times.  The waits of other tables were counted at almost the same time.
    """
    events, cells = grid.cells.get("event", []), grid.cells.get("waits", [])
    for place, (event, cell) in enumerate(zip(events, cells, strict=False)):
        if cell.isdecimal() or not cell.replace(",", ".").replace(".", "", 1).isdecimal():
            continue
        # a long name is cut
        names = [event] if event in waits else [name for name in waits if event and name.startswith(event)]
        count = waits[names[0]] if len(names) == 1 else 0
        figure = float(cell.replace(",", "."))
        units = [unit for unit, size in _UNITS.items() if abs(figure * size - count) <= _SAME_COUNT * count]
        if units:
            cells[place] += units[0]
            reason = f"{table.name}.waits: read as {cells[place]}: the event has {count:,.0f} waits"
            faults.append(Problem(grid.lines[place] or None, "repaired", cell, reason, _start(grid, "waits")))


def _instance(cell: str) -> str:
    """An instance as its table names it; rows about all of them have one name in all tables."""
    name = cell.strip(" :").lower()
    return "*" if name in TOTALS else name if name in SUMMARIES else cell


def _mark_totals(table: Table, grid: Grid, height: int) -> list[bool]:
    """Which rows are sums of others; in the grid they get one name, and parts in brackets a column of their own."""
    cells = [cell.strip() for cell in grid.cells.get(table.total, [""] * height)]
    are_totals = [cell.strip(" :").lower() in TOTALS for cell in cells]
    grid.cells[f"{table.total}_printed"] = cells
    cells = ["Total" if one else cell for cell, one in zip(cells, are_totals, strict=True)]
    are_totals = [one or cell.lower() in SUMMARIES for cell, one in zip(cells, are_totals, strict=True)]
    if table.within:
        parted = [cell.removesuffix(")").partition(" (") for cell in cells]
        cells = [name for name, _, _ in parted]
        grid.cells[table.within] = [part for _, _, part in parted]
        are_totals = [not part for _, _, part in parted]
    grid.cells[table.total] = cells
    return are_totals


def _time(cell: str, line: int, problems: list[Problem | FigureColumn], start: int | None) -> object:
    if not cell:
        return None
    time = read_time(cell)
    if time is None:
        problems.append(Problem(line or None, "no_value", cell, f"{cell!r} is not a date and time; it is null", start))
    return time
