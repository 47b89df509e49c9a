"""Printed tables made into one canonical frame."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from awrparse.columns import CUT_KINDS, IS_TOTAL, MEASURES, Column, Table, fold
from awrparse.pivots import behind_mark, has_marks, is_pivoted, unpivot
from awrparse.records import PrintedTable, Problem
from awrparse.values import read_measures, read_time
from logframe.oracle import full_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awrparse.marks import Mark
    from logframe import Column as Extent

_RANGE = re.compile(r"(?P<sign><=?|>=?)\s*(?P<number>\d+(?:/\d+)?)(?P<unit>us|u|ms|m|s|h)?$")
_SECTION = re.compile(r"\((?P<range>[^)]+)\)\s*$")
#: What 10g says above a table whose times are not in seconds.
_IN_CENTISECONDS = re.compile(r"\((?P<head>[^)]+)\) in centiseconds?\b")
#: What the rows that sum up others are called, in lower case and without a colon.
_TOTALS = frozenset({"total", "all", "sum", "*"})
_MICROSECONDS = {"us": 1, "u": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}


class _Grid(NamedTuple):
    """Rows of one printed table by canonical column."""

    cells: dict[str, list[str]]
    headings: dict[str, str]
    extents: dict[str, Extent]
    lines: list[int]
    spans_lines: bool = False


def matches(table: Table, printed: PrintedTable) -> bool:
    """Is the printed table this canonical one?  Its title is, and the headings that the table needs are there."""
    if table.pivots and is_pivoted(table, printed):
        return True
    if table.shape in {"labels", "wide"} and not table.needs:
        return not _is_compared(printed)
    found = {column.name for column in _by_place(table, printed.headings) if column is not None}
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
    table: Table, printed: Iterable[PrintedTable], *, bounds: bool = False, mark: Mark = "."
) -> tuple[pl.DataFrame, list[Problem]]:
    """The canonical frame of printed tables, one below the other, and what could not be read."""
    problems: list[Problem] = []
    data: dict[str, list[object]] = {name: [] for name in _names(table, bounds=bounds)}
    if table.pivots:
        printed = unpivot(table, printed)
    grids = [(one.title, _grid(table, one)) for one in printed]
    if table.shape == "sum":
        grids = _without_repeats(table, grids)
    for _, grid in grids:
        _append(data, table, grid, problems, bounds=bounds, mark=mark)
    frame = pl.DataFrame(data, schema=_schema(table, bounds=bounds), strict=False)
    return frame, problems


def _without_repeats(table: Table, grids: list[tuple[str, _Grid]]) -> list[tuple[str, _Grid]]:
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


def _by_place(table: Table, headings: Sequence[str]) -> list[Column | None]:
    """The canonical column of each printed one.  Garbled headings are told by their number and order."""
    seen: Counter[str] = Counter()
    found: list[Column | None] = []
    taken: set[str] = set()
    for heading in headings:
        key = fold(heading)
        seen[key] += 1
        column = table.by_head.get(key if seen[key] == 1 else f"{key}#{seen[key]}")
        if column is not None and column.name in taken:
            column = None
        if column is not None:
            taken.add(column.name)
        found.append(column)
    layout = table.layouts.get(len(headings))
    known = sum(column is not None for column in found)
    # headings may be missing altogether in a pasted table; its title then says what it is
    is_bare = not any(headings) and "^$" not in table.titles
    if layout and (is_bare or len(found) // 2 <= known < len(found)):
        agrees = all(column is None or column.name == name for column, name in zip(found, layout, strict=True))
        if agrees:
            return [table.by_name[name] for name in layout]
    return found


def _grid(table: Table, printed: PrintedTable) -> _Grid:
    match table.shape:
        case "labels":
            return _grid_of_labels(table, printed)
        case "wide":
            return _grid_wide(table, printed)
        case "histogram":
            return _grid_of_histogram(printed)
        case _:
            return _grid_of_rows(table, printed)


def _grid_of_rows(table: Table, printed: PrintedTable) -> _Grid:
    rows = printed.rows
    places = _by_place(table, printed.headings)
    cells, lines = rows.cells, rows.lines
    if table.rows_like:
        like = re.compile(table.rows_like)
        kept = [number for number, row in enumerate(cells) if like.match(row[0])]
        cells, lines = [cells[number] for number in kept], [lines[number] for number in kept]
    if table.wraps and rows.extents and "multi" not in printed.title.lower():
        widths = tuple([extent.end - extent.start if extent else 0 for extent in rows.extents])
        cells, lines = _unwrapped(cells, lines, widths)
    by_name: dict[str, list[str]] = {}
    headings, extents = {}, {}
    for place, column in enumerate(places):
        if column is not None:
            by_name[column.name] = [row[place] for row in cells]
            if has_marks(printed.headings, place) and places[place + 1] is None:
                by_name[column.name] = [behind_mark(*row[place : place + 2]) for row in cells]
            headings[column.name] = _with_unit(printed.headings[place], printed.notes)
            if (extent := printed.extent(place)) is not None:
                extents[column.name] = extent
    _add_group(table, printed, by_name, len(cells))
    for name in table.in_title:
        if name not in by_name and (number := _in_title(table.by_name[name], printed)):
            by_name[name] = [number] * len(cells)
    for name in table.filled:
        _fill(by_name.get(name, []))
    return _Grid(by_name, headings, extents, lines, rows.spans_lines)


def _with_unit(heading: str, notes: tuple[str, ...]) -> str:
    """The heading with the unit that a note gives it: ``Time Waited (Wt Time) in centisecond``.

    Examples:
        >>> _with_unit("Admin Wt Time", ("Time Waited (Wt Time) in centisecond (100th of a second)",))
        'Admin Wt Time (cs)'
    """
    found = next((found for note in notes if (found := _IN_CENTISECONDS.search(note))), None)
    return f"{heading} (cs)" if found and found["head"] in heading else heading


def _unwrapped(
    cells: list[tuple[str, ...]], lines: list[int], widths: tuple[int, ...]
) -> tuple[list[tuple[str, ...]], list[int]]:
    """Rows whose values go on in rows without a name (Statspack) joined."""
    joined: list[list[str]] = []
    starts: list[int] = []
    last: tuple[str, ...] = ()
    for row, line in zip(cells, lines, strict=True):
        if row[0] or not joined:
            joined.append(list(row))
            starts.append(line)
        else:
            for place, cell in enumerate(row):
                # a line that is one short of its column ended in a blank
                gap = " " if cell and len(last[place]) == widths[place] - 1 else ""
                joined[-1][place] += gap + cell
        last = row
    return [tuple(row) for row in joined], starts


def _in_title(column: Column, printed: PrintedTable) -> str:
    """The number that the title gives for a column, or an empty text."""
    text = " ".join((printed.title, *printed.notes))
    found = re.search(rf"\b{column.heads[0]}:\s*(\d+)", text)
    return found.group(1) if found else ""


def _fill(cells: list[str]) -> None:
    """Give a blank cell the text above it."""
    above = ""
    for place, cell in enumerate(cells):
        above = cells[place] = cell or above


def _add_group(table: Table, printed: PrintedTable, cells: dict[str, list[str]], height: int) -> None:
    """A column that the title tells."""
    for name, values in table.group.items():
        found = table.pattern.search(printed.title)
        which = found.group("which") if found else None
        texts = [which or ""] * height if which is not None else cells.get(name, [""] * height)
        cells[name] = [values.get(text.strip().lower(), text.strip().lower()) for text in texts]


def _grid_of_labels(table: Table, printed: PrintedTable) -> _Grid:
    """Rows of a label and its values; a cell that ends in a colon starts another label in the same row."""
    heads = [fold(heading) for heading in printed.headings]
    seen: Counter[str] = Counter()
    places: list[str] = []
    for number, head in enumerate(heads):
        seen[head] += 1
        key = head if seen[head] == 1 else f"{head}#{seen[head]}"
        places.append(key if head and number else f"#{number}")
    label_name = table.columns[0].name
    cells: dict[str, list[str]] = {column.name: [] for column in table.columns}
    lines: list[int] = []
    headings = {label_name: ""}
    for row, line in zip(printed.rows.cells, printed.rows.lines, strict=True):
        step = 0
        for place, cell in enumerate(row):
            if place == 0 or cell.endswith(":"):
                if not cell and not any(row[place + 1 :]):
                    break
                label = " ".join(cell.removesuffix(":").split())
                lines.append(line)
                for texts in cells.values():
                    texts.append("")
                cells[label_name][-1] = table.renamed.get(label, label)
                step = 0
                continue
            step += 1
            column = table.by_head.get(places[step]) if step < len(places) else None
            if column is not None:
                cells[column.name][-1] = cell
                headings[column.name] = printed.headings[step]
    return _Grid(cells, headings, {}, lines)


def _grid_wide(table: Table, printed: PrintedTable) -> _Grid:
    """One row: from headings over one row of values, or from labels with one value each."""
    by_place = _by_place(table, printed.headings)
    cells: dict[str, list[str]] = {}
    rows = printed.rows
    if any(column is not None for column in by_place):
        return _grid_of_rows(table, printed)
    for row in rows.cells:
        column = table.by_head.get(fold(row[0]))
        value = next((cell for cell in row[1:] if cell), "")
        if column is not None:
            cells[column.name] = [value]
    return _Grid(cells, {}, {}, rows.lines[:1] if cells else [])


def _grid_of_histogram(printed: PrintedTable) -> _Grid:
    """One row for each event and range."""
    names = ("event", "waits", "section", "range", "from_us", "to_us", "waits_pct")
    cells: dict[str, list[str]] = {name: [] for name in names}
    lines: list[int] = []
    section = found.group("range") if (found := _SECTION.search(printed.title)) else ""
    ranges = _ranges(printed.headings)
    for row, line in zip(printed.rows.cells, printed.rows.lines, strict=True):
        for place, (text, begin, end) in ranges.items():
            if not row[place]:
                continue
            values = (row[0], row[1], section, text, begin, end, row[place])
            for name, value in zip(names, values, strict=True):
                cells[name].append(value)
            lines.append(line)
    extent = printed.extent(0)
    return _Grid(cells, {}, {"event": extent} if extent else {}, lines)


def _ranges(headings: Sequence[str]) -> dict[int, tuple[str, str, str]]:
    """Place of each column that is a range -> its text, its lower and its upper end in microseconds."""
    limits: dict[int, tuple[str, str, float]] = {}
    before: tuple[str, str] = ("", "")
    for place, heading in enumerate(headings):
        found = _RANGE.search(heading.replace("< ", "<"))
        if place > 1 and found:
            sign, number, unit = found["sign"], found["number"], found["unit"] or ""
            if sign.startswith(">") and number == before[0]:  # text reports cut its unit: `>=512`, `>=32m`
                unit = before[1]
            unit = "us" if unit == "u" else unit
            before = (number, unit)
            top, _, bottom = number.partition("/")
            size = int(top) / int(bottom or 1) * _MICROSECONDS.get(unit, 1)
            limits[place] = (f"{sign}{number}{unit}", sign, size)
    found_ranges: dict[int, tuple[str, str, str]] = {}
    below = 0.0
    for place, (text, sign, size) in limits.items():
        begin, end = (str(below), str(size)) if sign.startswith("<") else (str(below), "")
        found_ranges[place] = (text, begin, end)
        # the last range starts where the one before ends
        below = max(below, size) if sign.startswith("<") else below
    return found_ranges


def _append(
    data: dict[str, list[object]], table: Table, grid: _Grid, problems: list[Problem], *, bounds: bool, mark: Mark
) -> None:
    height = len(grid.lines)
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
                    mark if column.heads else ".",
                )
                data[column.name].extend(read.values)
                if bounds:
                    data[f"{column.name}_lo"].extend(read.lo)
                    data[f"{column.name}_hi"].extend(read.hi)
                problems += [
                    Problem(
                        grid.lines[place] or None, kind, cells[place], f"{table.name}.{column.name}: {reason}", start
                    )
                    for place, kind, reason in read.faults
                ]


def _mark_totals(table: Table, grid: _Grid, height: int) -> list[bool]:
    """Which rows are sums of others; in the grid they get one name, and parts in brackets a column of their own."""
    cells = [cell.strip() for cell in grid.cells.get(table.total, [""] * height)]
    are_totals = [cell.strip(" :").lower() in _TOTALS for cell in cells]
    grid.cells[f"{table.total}_printed"] = cells
    cells = ["Total" if one else cell for cell, one in zip(cells, are_totals, strict=True)]
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
