"""Rows of printed tables by canonical column: which heading is which column, and the shapes that rows have.

Printed tables with a column for each name, turned into rows: the forms of reports of all instances.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse.columns import Column, Table, fold
from awrparse.records import PrintedTable, Rows
from awrparse.values import CELLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from awrparse.columns import Pivot
    from logframe import Column as Extent


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


_RANGE = re.compile(CELLS.pattern(r"(?P<sign>{SIGN})\s*(?P<number>{RANGE_NUMBER})(?P<unit>{RANGE_UNIT})?$"))
_SECTION = re.compile(CELLS.pattern(r"\((?P<range>{IN_BRACKETS})\)\s*$"))
#: A unit that a note should give, and gives not.
_UNKNOWN = "(?)"
#: What 10.2 says above a table whose times are not in seconds.
_IN_CENTISECONDS = re.compile(CELLS.pattern(r"\((?P<head>{IN_BRACKETS})\) {IN_CENTISECONDS}"))
_MICROSECONDS = {"us": 1, "u": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}


#: Columns of a histogram before its ranges.
_BEFORE_RANGES: Final = 2
#: This many sets of headings of one table are remembered.
_MOST_HEADINGS: Final = 256


class Grid(NamedTuple):
    """Rows of one printed table by canonical column."""

    cells: dict[str, list[str]]
    headings: dict[str, str]
    extents: dict[str, Extent]
    lines: list[int]
    spans_lines: bool = False


def columns_by_heading(table: Table, headings: tuple[str, ...]) -> list[Column | None]:
    """The canonical column of each printed one.  Garbled headings are recognised by their number and order."""
    known = table.known_headings
    if headings not in known:
        if len(known) >= _MOST_HEADINGS:
            known.clear()
        known[headings] = _columns_by_heading(table, headings)
    return known[headings]


def _columns_by_heading(table: Table, headings: Sequence[str]) -> list[Column | None]:
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
        columns = [table.by_name[name] for name in layout]
        pairs = zip(headings, found, columns, strict=True)
        words = {word for column in columns for head in column.heads for word in head.split()}
        if all(one is column if one else not _has_more(heading, column, words) for heading, one, column in pairs):
            return [*columns]
    return found


def _has_more(heading: str, column: Column, words: set[str]) -> bool:
    """Has a heading the words of a column's, and others that the table has not, as where a mail program moved them?"""
    return any({*head.split()} < {*heading.split()} and {*heading.split()} - words for head in column.heads)


def grid_of(table: Table, printed: PrintedTable) -> Grid:
    """The rows of a printed table by canonical column."""
    match table.shape:
        case "labels":
            return _grid_of_labels(table, printed)
        case "wide":
            return _grid_wide(table, printed)
        case "histogram":
            return _grid_of_histogram(printed)
        case _:
            return _grid_of_rows(table, printed)


def _grid_of_rows(table: Table, printed: PrintedTable) -> Grid:
    rows = printed.rows
    places = columns_of(table, printed)
    cells, lines, extents_of = rows.cells, rows.lines, rows.extents
    if table.rows_like:
        like = re.compile(table.rows_like)
        kept = [number for number, row in enumerate(cells) if like.match(row[0])]
        cells, lines = [cells[number] for number in kept], [lines[number] for number in kept]
    are_wrapped = is_wrapped(table, printed)
    if are_wrapped:
        cells, lines = _unwrapped(cells, lines, widths_of(printed))
    by_name: dict[str, list[str]] = {}
    headings, extents = {}, {}
    columns = list(zip(*cells, strict=True)) or [()] * len(places)
    with_units = _with_units(table, printed)
    for place, (column, following) in enumerate(zip_longest(places, places[1:])):
        if column is not None:
            name = column.name
            by_name[name] = list(columns[place])
            if following is None and has_marks(rows.headings, place):
                by_name[name] = [behind_mark(*row[place : place + 2]) for row in cells]
            headings[name] = with_units[place]
            if place < len(extents_of) and (extent := extents_of[place]) is not None:
                extents[name] = extent
    _add_group(table, printed, by_name, len(cells))
    for name in table.in_title:
        if name not in by_name and (number := _in_title(table.by_name[name], printed)):
            by_name[name] = [number] * len(cells)
    if not are_wrapped:
        _fill([by_name[name] for name in table.filled if name in by_name])
    return Grid(by_name, headings, extents, lines, rows.spans_lines)


def columns_of(table: Table, printed: PrintedTable) -> list[Column | None]:
    """The canonical column of each printed one, by the headings and the title."""
    found = columns_by_heading(table, printed.headings)
    if not table.moved:
        return found
    moved = next((moved for title, moved in table.moved.items() if re.search(title, printed.title)), None)
    if moved is None:
        return found
    return [table.by_name[moved.get(column.name, column.name)] if column else None for column in found]


def _with_units(table: Table, printed: PrintedTable) -> Sequence[str]:
    """The headings with the units that a note gives them: ``Time Waited (Wt Time) in centisecond``."""
    headings, notes = printed.headings, printed.notes
    found = next((found for note in notes if (found := _IN_CENTISECONDS.search(note))), None)
    if not found and not table.units:
        return headings
    notes_with_unit = (unit for note in notes for pattern, unit in table.units if re.search(pattern, note))
    unit = next(notes_with_unit, _UNKNOWN) if table.units else ""
    return [
        f"{heading} (cs)" if found and found["head"] in heading else f"{heading} {unit}" if unit else heading
        for heading in headings
    ]


def is_wrapped(table: Table, printed: PrintedTable) -> bool:
    """May long values go on in rows without a name?"""
    return table.wraps and bool(printed.rows.extents) and "multi" not in printed.title.lower()


def widths_of(printed: PrintedTable) -> tuple[int, ...]:
    """How wide the columns below a ruler are."""
    return tuple([extent.end - extent.start if extent else 0 for extent in printed.rows.extents])


def goes_on(row: tuple[str, ...], above: tuple[str, ...], widths: tuple[int, ...]) -> bool:
    """Could the cells of a row without a name be the rest of those above, which fill their columns?"""
    return all(len(up) >= width - 1 for cell, up, width in zip(row, above, widths, strict=True) if cell)


def _unwrapped(
    cells: list[tuple[str, ...]], lines: list[int], widths: tuple[int, ...]
) -> tuple[list[tuple[str, ...]], list[int]]:
    """Rows whose values go on in rows without a name (Statspack) joined."""
    joined: list[list[str]] = []
    starts: list[int] = []
    last: tuple[str, ...] = ()
    for row, line in zip(cells, lines, strict=True):
        if row[0] or not joined or not goes_on(row, last, widths):
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
    found = re.search(CELLS.pattern(rf"\b{re.escape(column.heads[0])}:\s*({{LABEL_VALUE}})"), text)
    return found.group(1) if found else ""


def _fill(columns: list[list[str]]) -> None:
    """Give a blank cell the text above it, but not where a column before it starts another group.

    Examples:
        >>> slots, users = ["1", "", "2"], ["fig", "", ""]
        >>> _fill([slots, users])
        >>> slots, users
        (['1', '1', '2'], ['fig', 'fig', ''])
    """
    above = [""] * len(columns)
    for row in range(len(columns[0]) if columns else 0):
        is_same = True
        for place, cells in enumerate(columns):
            if cells[row]:
                is_same = is_same and cells[row] == above[place]
            elif is_same:
                cells[row] = above[place]
            above[place] = cells[row]


def _add_group(table: Table, printed: PrintedTable, cells: dict[str, list[str]], height: int) -> None:
    """A column whose values the title gives; of a title that is not known, the heading of what the section counts."""
    for name, values in table.group.items():
        found = table.pattern.search(printed.title)
        which = found.group("which") if found else None
        if which is not None and which.strip().lower() not in values:
            columns = zip(columns_by_heading(table, printed.headings), printed.headings, strict=False)
            heads = [head for column, head in columns if column is not None and column.name == "value"]
            which = next((head for head in heads if head.strip().lower() in values), which)
        texts = [which or ""] * height if which is not None else cells.get(name, [""] * height)
        cells[name] = [values.get(text.strip().lower(), text.strip().lower()) for text in texts]


def cells_without_heading(table: Table, printed: PrintedTable) -> list[str]:
    """The cells of a table of labels, or of one row, that no canonical column takes."""
    if table.shape == "wide":
        return _cells_beside(table, printed)
    columns = _columns_of_labels(table, printed)
    found = []
    for row in printed.rows.cells:
        step = 0
        for place, cell in enumerate(row):
            step = 0 if place == 0 or cell.endswith(":") else step + 1
            if step and cell and (step >= len(columns) or columns[step] is None):
                found.append(cell)
    return found


def _cells_beside(table: Table, printed: PrintedTable) -> list[str]:
    """The cells that `_grid_wide` does not take: below another heading, after another label, or there twice."""
    cells = printed.rows.cells
    by_place = columns_by_heading(table, printed.headings)
    if any(column is not None for column in by_place):
        return [cell for row in cells for column, cell in zip(by_place, row, strict=True) if column is None and cell]
    return [cell for column, filled in _labelled(table, printed) for cell in filled[column is not None :]]


def _labelled(table: Table, printed: PrintedTable) -> Iterator[tuple[Column | None, list[str]]]:
    """The values of each label of a table of one row, and the column that takes the first; of two labels one has it."""
    taken: set[str] = set()
    for label, *values in printed.rows.cells:
        column = table.by_head.get(fold(label))
        if column is not None and column.name in taken:
            column = None
        if column is not None:
            taken.add(column.name)
        yield column, [value for value in values if value]


def _columns_of_labels(table: Table, printed: PrintedTable) -> list[Column | None]:
    """The canonical column of each place of a table of labels: one without a heading has none that a heading takes."""
    seen: Counter[str] = Counter()
    places: list[str] = []
    for number, head in enumerate(map(fold, printed.headings)):
        seen[head] += 1
        key = head if seen[head] == 1 else f"{head}#{seen[head]}"
        places.append(key if head and number else f"#{number}")
    found = [table.by_head.get(place) for place in places]
    named = {column.name for place, column in zip(places, found, strict=True) if column and place[0] != "#"}
    return [
        None if column and place[0] == "#" and column.name in named else column
        for place, column in zip(places, found, strict=True)
    ]


def _grid_of_labels(table: Table, printed: PrintedTable) -> Grid:
    """Rows of a label and its values; a cell that ends in a colon starts another label in the same row."""
    columns = _columns_of_labels(table, printed)
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
            column = columns[step] if step < len(columns) else None
            if column is not None:
                cells[column.name][-1] = cell
                headings[column.name] = printed.headings[step]
    return Grid(cells, headings, {}, lines)


def _grid_wide(table: Table, printed: PrintedTable) -> Grid:
    """One row: from headings over one row of values, or from labels with one value each."""
    by_place = columns_by_heading(table, printed.headings)
    cells: dict[str, list[str]] = {}
    rows = printed.rows
    if any(column is not None for column in by_place):
        return _grid_of_rows(table, printed)
    for column, filled in _labelled(table, printed):
        if column is not None:
            cells[column.name] = filled[:1] or [""]
    return Grid(cells, {}, {}, rows.lines[:1] if cells else [])


def columns_of_histogram(printed: PrintedTable) -> list[bool]:
    """Which columns of a histogram are taken: the event, its waits, and those whose heading is a range."""
    ranges = _ranges(printed.headings)
    return [place < _BEFORE_RANGES or place in ranges for place in range(len(printed.headings))]


def _grid_of_histogram(printed: PrintedTable) -> Grid:
    """One row for each event and range."""
    section = found.group("range") if (found := _SECTION.search(printed.title)) else ""
    # what the columns `<=1s` and `>1s` are, by their note
    is_binary = any("1024ms" in note.replace(" ", "") for note in printed.notes)
    ranges = _ranges(printed.headings, second=1_024_000.0 if is_binary else 1_000_000.0)
    rows = [
        (row[0], row[1], section, *limits, row[place], line)
        for row, line in zip(printed.rows.cells, printed.rows.lines, strict=True)
        for place, limits in ranges.items()
        if row[place]
    ]
    names = ("event", "waits", "section", "range", "from_us", "to_us", "waits_pct")
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(len(names) + 1)]
    lines = columns.pop()
    cells = dict(zip(names, columns, strict=True))
    extent = printed.extent(0)
    return Grid(cells, {}, {"event": extent} if extent else {}, lines)


def _ranges(headings: Sequence[str], *, second: float = 1_000_000.0) -> dict[int, tuple[str, str, str]]:
    """Place of each column that is a range -> its text, its lower and its upper end in microseconds."""
    limits: dict[int, tuple[str, str, float]] = {}
    before: tuple[str, str] = ("", "")
    for place, heading in enumerate(headings):
        found = _RANGE.search(heading.replace("< ", "<"))
        if place >= _BEFORE_RANGES and found:
            sign, number, unit = found["sign"], found["number"], found["unit"] or ""
            if sign.startswith(">") and number == before[0]:  # text reports cut its unit: `>=512`, `>=32m`
                unit = before[1]
            unit = "us" if unit == "u" else unit
            before = (number, unit)
            top, _, bottom = number.partition("/")
            size = int(top) / (int(bottom or 1) or 1) * _MICROSECONDS.get(unit, 1)
            if number == "1" and unit == "s" and sign in {"<=", ">"}:
                size = second
            limits[place] = (f"{sign}{number}{unit}", sign, size)
    found_ranges: dict[int, tuple[str, str, str]] = {}
    below = 0.0
    for place, (text, sign, size) in limits.items():
        # below a heading that is no range, where the range before ends is not known
        begin = str(below) if place - 1 in limits or not found_ranges else ""
        end = str(size) if sign.startswith("<") else ""
        found_ranges[place] = (text, begin, end)
        # the last range starts where the one before ends
        below = max(below, size) if sign.startswith("<") else below
    return found_ranges
