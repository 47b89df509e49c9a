"""Rows of a text report: cut at the rulers, records of several lines joined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from awrparse.records import Problem, Rows
from awrparse.text.cutting import Cutter, cutter_at
from awrparse.text.labels import add_labels
from awrparse.text.layout import GRAMMAR, WIDE_GAP, Layout, add_unplaced, are_values, is_number
from awrparse.text.record_rows import cut_records
from awrparse.text.sql_rows import cut_sql
from logframe import Column, cut_row

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = re.compile(GRAMMAR.pattern("{WORD}"))
_CPU_ROW = re.compile(GRAMMAR.pattern(r"\s*({CPU_ROW})\s+(?=[\d.,#])"))
#: A CPU row has no waits and no average: first heading and number of columns -> which columns its numbers are.
_CPU_PLACES: Final[dict[tuple[str, int], dict[int, tuple[int, ...]]]] = {
    ("Event", 6): {2: (2, 4)},
    ("Event", 5): {2: (2, 4)},
    ("Wait Class", 6): {3: (2, 4, 5)},
}


def cut_rows(layout: Layout, lines: list[str], body: Sequence[int]) -> Rows:
    """The rows of a table under one ruler or several."""
    groups = layout.groups
    if layout.is_sql:
        return cut_sql(layout, lines, body)
    if len(groups) > 1:
        return cut_records(layout, lines, body)
    columns = groups[0][1]
    if columns[0].start == 1 and columns[0].end - columns[0].start > 3 and _starts_with_name(columns, lines, body):
        return _cut_named(layout, lines, body)
    return _cut_single(layout, lines, body)


def _is_empty(line: str) -> bool:
    """Is there nothing in a line, or only the tildes above a sum?"""
    return not line.strip(" ~\f\t")


def _starts_with_name(columns: tuple[Column, ...], lines: list[str], body: Sequence[int]) -> bool:
    """Under a ruler that leaves the margin free each record starts with a line for its name."""
    first = next((lines[number] for number in body if lines[number].strip()), "")
    if not first or WIDE_GAP.search(first.strip()):
        return False
    cells = cutter_at(columns).cut(first)
    return cells is None or not are_values(cells)


def _cut_single(layout: Layout, lines: list[str], body: Sequence[int]) -> Rows:
    names, columns = layout.groups[0]
    start = columns[0].start
    has_labels = start > 1 and any(lines[number][: start - 1].strip() for number in body)
    if has_labels:
        columns = (Column(0, start - 1), *columns)
        names = ("", *names)
    texts = [lines[number] for number in body]
    if "" in texts or any(map(_is_empty, texts)):
        body = [number for number in body if not _is_empty(lines[number])]
        texts = [lines[number] for number in body]
    found = cutter_at(columns).cut_all(texts)
    has_cpu = (names[0], len(columns)) in _CPU_PLACES
    if None in found or has_labels or has_cpu or max(map(len, texts), default=0) > columns[-1].end:
        return _joined_rows(names, columns, list(zip(body, texts, found, strict=True)), has_labels=has_labels)
    return Rows(cast("list[tuple[str, ...]]", found), [number + 1 for number in body], headings=names, extents=columns)


def _joined_rows(
    names: tuple[str, ...],
    columns: tuple[Column, ...],
    found: list[tuple[int, str, tuple[str, ...] | None]],
    *,
    has_labels: bool,
) -> Rows:
    """Rows where lines do not fit the ruler: names on a line of their own, labels, words that have shifted."""
    cutter = cutter_at(columns)
    rows = Rows(headings=names, extents=columns)
    numeric = _Numeric(rows)
    width = len(columns)
    has_cpu = (names[0], width) in _CPU_PLACES
    last_end = columns[-1].end
    name = ""
    for number, text, cut in found:
        line, cells, tail = text, cut, ""
        if len(line) > last_end:
            if has_labels and ":" in line[last_end:]:
                line, tail = line[:last_end], line[last_end:].strip()
                cells = cutter.cut(line)
            if cells is not None and line[last_end : last_end + 1] == " ":
                cells = _without_extra(rows, line, number, last_end, cutter)
        if has_cpu and (cells is None or cells[1]) and (cpu := _cpu_cells(line, names)):
            cells = cpu
        if cells is None and has_labels:
            add_labels(rows, line, number, width)
        elif cells is None and not name and WIDE_GAP.search(line.strip()) is None:
            name = line.strip()
            name_line = number
            continue
        elif cells is None:
            _add_shifted(rows, line, number, columns, numeric)
        elif name and not cells[0]:
            rows.cells.append((name, *cells[1:]))
            rows.lines.append(name_line + 1)
            name = ""
        else:
            rows.cells.append(cells)
            rows.lines.append(number + 1)
        if name:
            add_unplaced(rows, name, name_line)
            name = ""
        if tail:
            add_labels(rows, tail, number, width)
    if name:
        add_unplaced(rows, name, name_line)
    return rows


def _without_extra(rows: Rows, line: str, number: int, end: int, cutter: Cutter) -> tuple[str, ...] | None:
    """The cells of a row with words after its last column, which are not part of it: marks of whoever copied it."""
    extra = line[end:].strip()
    if extra:
        rows.problems.append(Problem(number + 1, "misplaced", extra, "words after the last column of the table"))
    return cutter.cut(line[:end])


def _cpu_cells(line: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The cells of a CPU row that has shifted: how many numbers it has says which they are."""
    found = _CPU_ROW.match(line)
    if found is None:
        return None
    numbers = line[found.end() :].split()
    places = _CPU_PLACES.get((names[0], len(names)), {}).get(len(numbers))
    if places is None:
        return None
    cells = [""] * len(names)
    cells[0] = found.group(1)
    for place, number in zip(places, numbers, strict=True):
        cells[place] = number
    return tuple(cells)


def _add_shifted(rows: Rows, line: str, number: int, columns: tuple[Column, ...], numeric: _Numeric) -> None:
    """A row that does not fit its ruler: words go where they overlap."""
    words = _WORD.findall(line)
    if len(words) == len(columns):
        rows.cells.append(tuple(words))
        rows.lines.append(number + 1)
        return
    shifted = cut_row(line, columns, numeric.places())
    problem = (
        shifted.problem
        or next((f"{cell!r} is more than one number" for cell in shifted.cells if _is_several_numbers(cell)), "")
        or next(
            (f"{cell!r} ends in a figure of another column" for cell in shifted.cells if _has_figure(cell, line)), ""
        )
    )
    if problem:
        rows.problems.append(Problem(number + 1, "misplaced", line.strip(), problem))
    rows.cells.append(shifted.cells)
    rows.lines.append(number + 1)


def _is_several_numbers(cell: str) -> bool:
    words = cell.split()
    return len(words) > 1 and all(map(is_number, words))


def _has_figure(cell: str, line: str) -> bool:
    """Does a name end in a number that stands apart from it in the line?"""
    name, _, last = cell.rpartition(" ")
    return bool(name) and is_number(last) and f"  {last}" in line


class _Numeric:
    """The columns, but for the first, that hold numbers only in the rows so far; each row is looked at once."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._seen = 0
        self._is_number: dict[int, bool] = {}

    def places(self) -> tuple[int, ...]:
        """The places of these columns."""
        for cells in self._rows.cells[self._seen :]:
            for place, cell in enumerate(cells):
                if cell and self._is_number.get(place, True):
                    self._is_number[place] = is_number(cell)
        self._seen = len(self._rows.cells)
        return tuple(sorted(place for place, is_numeric in self._is_number.items() if place and is_numeric))


def _cut_named(layout: Layout, lines: list[str], body: Sequence[int]) -> Rows:
    """Records of a name line and a line under the ruler; the name keeps its indent, which says whose child it is."""
    names, columns = layout.groups[0]
    cutter = cutter_at(columns)
    name_heading = "Function/File Name" if layout.title.startswith("IOStat") else "Name"
    rows = Rows(headings=(name_heading, *names), extents=(None, *columns), spans_lines=True)
    name, name_line = "", 0
    for number in body:
        line = lines[number].rstrip()
        if not line:
            continue
        cells = cutter.cut(line)
        if cells is not None and name and are_values(cells):
            rows.cells.append((name, *cells))
            rows.lines.append(name_line + 1)
            name = ""
        else:
            if name:
                add_unplaced(rows, name, name_line)
            name, name_line = line, number
    if name:
        add_unplaced(rows, name, name_line)
    return rows
