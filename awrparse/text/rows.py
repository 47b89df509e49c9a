"""Rows of a text report: cut at the rulers, records of several lines joined.

The lines of a record may each have a ruler of their own.  In sections of SQL statements a row of numbers is followed by
module and statement.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from awrparse.grids import columns_by_heading
from awrparse.records import Problem, Rows
from awrparse.tables import tables_titled
from awrparse.text.labels import add_labels
from awrparse.text.layout import (
    ANY_RULER,
    GRAMMAR,
    WIDE_GAP,
    Cutter,
    Layout,
    add_unplaced,
    are_values,
    cutter_at,
    is_number,
)
from logframe import Column, cut_row

if TYPE_CHECKING:
    from collections.abc import Sequence


_STATEMENT_ID = re.compile(GRAMMAR.pattern("{STATEMENT_ID}"))
#: Fewer words than these, or columns of a ruler, may be part of a statement.
_FEWEST_COLUMNS: Final = 3
#: Columns are so far apart at least where a row has few words.
_GAP: Final = " " * 6
#: SQL text is cut hard at this many columns.
SQL_WIDTH: Final = 80
_STATSPACK_SQL_WIDTH: Final = 64
_DIFF_SQL_WIDTH: Final = 240
#: A hash value of Statspack has up to this many digits, right below its ruler.
_HASH_DIGITS: Final = 10
CUT_ID: Final = "the ruler above is too short for an id: the lines were cut, and its last digits are missing"
DAMAGED_ID: Final = "no id of a statement stands beside these figures: the row is damaged"


def cut_sql(layout: Layout, lines: list[str], body: Sequence[int]) -> Rows:
    """Rows of numbers with a SQL id (Statspack: a hash value) at one end, each followed by module and SQL text."""
    names, columns = layout.groups[-1]
    cutter = cutter_at(columns)
    width = {"statspack": _STATSPACK_SQL_WIDTH, "awr_diff": _DIFF_SQL_WIDTH}.get(layout.report_kind, SQL_WIDTH)
    place = 0 if names[0].upper() == "SQL ID" else len(columns) - 1
    id_column = columns[place]
    id_end = id_column.end if place == 0 else None
    rows = Rows(headings=(*names, "Module", "SQL Text"), extents=columns)
    texts = [lines[number] for number in body]
    records: list[tuple[int, tuple[str, ...]]] = []
    is_cut = layout.report_kind == "statspack" and place > 0 and id_column.end - id_column.start < _HASH_DIGITS
    for position, text in enumerate(texts):
        name = text[id_column.start : id_end].strip()
        # most lines are SQL text; a pattern is slow to say so
        has_id = name.isalnum() and _STATEMENT_ID.fullmatch(name) is not None
        edge = text.lstrip(" \f")[:1] if place else text.rstrip()[-1:]
        if not has_id and not edge.isdigit() and edge != ".":
            continue
        cells = cutter.cut(text)
        if cells is None or not (_is_record(cells, name) if has_id else _has_only_figures(cells, place)):
            continue
        records.append((position, cells))
        if not has_id:
            rows.problems.append(Problem(body[position] + 1, "cut", name or text.strip(), DAMAGED_ID))
        elif is_cut:
            records[-1] = position, (*cells[:-1], "")
            rows.problems.append(Problem(body[position] + 1, "cut", name, CUT_ID))
    starts = [position for position, _ in records]
    for number, text in zip(body, texts[: starts[0] if starts else None], strict=False):
        if text.strip():
            add_unplaced(rows, text.strip(), number)
    for (position, cells), end in zip(records, [*starts, len(texts)][1:], strict=True):
        first, module = position + 1, ""
        # a page may end between the figures and the module
        while first < end and (not texts[first].strip() or texts[first].startswith("Module:")):
            module = texts[first][7:].strip() or module
            first += 1
        if layout.is_cut_short and end == len(texts):
            last = next((place for place in range(first + 1, end) if not texts[place].strip()), end)
            for number, text in zip(body[last:end], texts[last:end], strict=True):
                if text.strip():
                    add_unplaced(rows, text.strip(), number)
            end = last  # noqa: PLW2901 - what is left of the text
        rows.cells.append((*cells, module, joined_sql(texts[first:end], width, is_exact=width == _STATSPACK_SQL_WIDTH)))
        rows.lines.append(body[position] + 1)
        add_foreign_rows(rows, body[first:end], texts[first:end])
    return rows


def add_foreign_rows(rows: Rows, body: Sequence[int], texts: Sequence[str]) -> None:
    """What stands among the lines of a statement, and is not one: a ruler, or the row of a table."""
    for number, text in zip(body, texts, strict=True):
        if text.lstrip(" \f").startswith("--"):
            is_strange = ANY_RULER.fullmatch(text) is not None and len(text.split()) >= _FEWEST_COLUMNS
        else:
            is_strange = _GAP in text and not text.isspace() and _is_row(text.split())
        if is_strange:
            reason = "within the text of a statement: rows of a table whose title is missing may follow"
            rows.problems.append(Problem(number + 1, "foreign", text.strip(), reason))


def _is_row(words: list[str]) -> bool:
    """Does a line that has a gap end in a figure, or has the id of a statement beside its figures?"""
    if is_number(words[-1]) and not words[-1].isdecimal():
        return True
    if len(words) < _FEWEST_COLUMNS:
        return False
    has_id = any(_STATEMENT_ID.fullmatch(word) for word in (words[0], words[-1]))
    return has_id and 2 * sum(map(is_number, words)) > len(words)


def _is_record(cells: tuple[str, ...], name: str) -> bool:
    """Numbers beside the id, and not words of a SQL text that starts like one."""
    rest = [cell for cell in cells if cell and cell != name]
    return sum(map(is_number, rest)) >= len(rest) - 1


def _has_only_figures(cells: tuple[str, ...], place: int) -> bool:
    """Are all cells figures, but for the one at a place?"""
    rest = [cell for number, cell in enumerate(cells) if cell and number != place]
    return len(rest) >= _FEWEST_COLUMNS and all(map(is_number, rest))


def joined_sql(text: list[str], width: int, *, is_exact: bool = False) -> str:
    """SQL text whose lines were cut hard at a width: what a line lacks are blanks at its end.

    Args:
        text: the lines.
        width: where they were cut at the latest.
        is_exact: they were never cut earlier; Statspack has them from V$SQLTEXT, in pieces of equal length.

    Examples:
        >>> joined_sql(["select a from", "dual"], 14), joined_sql(["select a from", "dual"], 14, is_exact=True)
        ('select a fromdual', 'select a from dual')
    """
    # a page may end within a statement
    text = [line.replace("\f", "") for line in text if line.strip() or "\f" not in line]
    while text and not text[-1].strip():
        text.pop()
    if not text:
        return ""
    longest = max(map(len, text[:-1]), default=0)
    # a statement with line feeds of its own is cut a few columns earlier
    if not is_exact and width - 8 <= longest < width:
        # one blank may have stood at the end of the line; it is only certain where a list goes on
        return "".join([line.ljust(longest + line.endswith(",")) if line else "" for line in text[:-1]]) + text[-1]
    return "".join([line and line.ljust(width) for line in text[:-1]]) + text[-1]


_INDENTED_SQL_ID: Final = re.compile(GRAMMAR.pattern(r"{INDENTED_SQL_ID}\s"))


_ACROSS: Final = "words stand where the ruler has gaps: the line may be none of this table's"


class _Record(NamedTuple):
    """One record: its first line, counted from 0, the cells of its lines by place, and the lines of its SQL text."""

    start: int
    cells: dict[int, tuple[str, ...]]
    text: list[int]

    @property
    def is_named(self) -> bool:
        """Does it start a group, and not go on with the one above?"""
        return bool(self.cells.get(0, ("",))[0])


class _Places:
    """The lines of a record: their rulers, and which of their columns are figures of a canonical table."""

    def __init__(self, layout: Layout, body: Sequence[int], lines: list[str]) -> None:
        self.cutters = [cutter_at(columns) for _, columns in layout.groups]
        names = tuple(name for heads, _ in layout.groups for name in heads)
        measures: set[int] = set()
        # where blank lines part the records, a missing line shows by itself
        if all(lines[number].strip() for number in body):
            for table in tables_titled(layout.title):
                found = columns_by_heading(table, names)
                measures |= {place for place, column in enumerate(found) if column is not None and column.is_measure}
        self._measures: list[list[int]] = []
        first = 0
        for heads, _ in layout.groups:
            self._measures.append([place - first for place in measures if first <= place < first + len(heads)])
            first += len(heads)

    def fits(self, line: str, place: int) -> bool:
        """Could the line stand at this place of a record: words in its columns, and figures where it has figures?"""
        if not any(self._measures):
            return True
        cutter, measures = self.cutters[place], self._measures[place]
        cells = cutter.cut(line.rstrip())
        if cells is None or len(line.rstrip()) > cutter.columns[-1].end:
            return False
        figures = [cells[column] for column in measures if cells[column]]
        return all(map(is_number, figures)) and (bool(figures) or not measures)

    def place_of(self, line: str, expected: int) -> int:
        """Where in a record a line stands: where it is expected, or else where alone it fits.

        Where no figures are expected, a line whose figures fit the first line of a record begins one.
        """
        if self.fits(line, expected):
            begins = self._measures[0] and not self._measures[expected] and self.fits(line, 0)
            return 0 if begins else expected
        fitting = [place for place in range(len(self.cutters)) if self.fits(line, place)]
        return fitting[0] if len(fitting) == 1 else expected


def cut_records(layout: Layout, lines: list[str], body: Sequence[int]) -> Rows:
    """Records of as many lines as there are rulers; a blank line ends a record early."""
    groups = layout.groups
    has_sql = groups[0][0][0].strip().upper() == "SQL ID"
    names = tuple(name for heads, _ in groups for name in heads)
    extents = tuple(column for _, columns in groups for column in columns)
    rows = Rows(headings=(*names, "SQL Text") if has_sql else names, extents=extents, spans_lines=True)
    places = _Places(layout, body, lines)
    records = _records(places, lines, body, rows, has_sql=has_sql)
    for record in records:
        cells = [cell for place, cutter in enumerate(places.cutters) for cell in _cells(record.cells, place, cutter)]
        if has_sql:
            text = [lines[number] for number in record.text]
            cells.append(joined_sql(text, SQL_WIDTH))
            add_foreign_rows(rows, record.text, text)
        rows.cells.append(tuple(cells))
        rows.lines.append(record.start + 1)
    _add_incomplete(records, len(groups), lines, rows, has_sql=has_sql)
    return rows


def _records(places: _Places, lines: list[str], body: Sequence[int], rows: Rows, *, has_sql: bool) -> list[_Record]:
    """The lines of a table, record by record."""
    cutters = places.cutters
    last = len(cutters) - 1
    # both lines of a record have the same ruler, and the second is indented; a blank line is a first one as above
    is_indented = [cutter.columns for cutter in cutters[:-1]] == [cutter.columns for cutter in cutters[1:]]
    records: list[_Record] = []
    open_record: _Record | None = None
    for number in body:
        line = lines[number]
        if not line.strip():
            if open_record and (not has_sql or len(open_record.cells) <= last or open_record.text):
                open_record = None
            continue
        place = len(open_record.cells) if open_record else 0
        if has_sql:
            if _INDENTED_SQL_ID.match(line):
                place = 0
            elif open_record is None:
                place = 1
            elif max(open_record.cells) == last:
                open_record.text.append(number)
                continue
        elif is_indented:
            place = int(line.startswith(" "))
        else:
            place = places.place_of(line, place if place <= last else 0)
        if open_record is None or place <= max(open_record.cells):
            open_record = _Record(number, {}, [])
            records.append(open_record)
        cells = cutters[place].cut(line)
        if cells is None:
            shifted = cut_row(line, cutters[place].columns)
            cells = shifted.cells
            problem = shifted.problem or _ACROSS
            rows.problems.append(Problem(number + 1, "misplaced", line.strip(), problem))
        open_record.cells[place] = cells
    return records


def _add_incomplete(records: list[_Record], count: int, lines: list[str], rows: Rows, *, has_sql: bool) -> None:
    """Records without some of their lines, where others of their kind have them all."""
    for record in records if has_sql else ():
        last = record.cells.get(count - 1, ())
        if any(last) and not any(map(is_number, last)):
            text = next(filter(None, last))
            reason = "a line without figures stands where those of this record should be: lines are missing"
            rows.problems.append(Problem(record.start + 1, "cut", text, reason))
    whole = Counter(record.is_named for record in records if len(record.cells) == count)
    for record in records:
        if len(record.cells) == count:
            continue
        # what goes on with the record above has no name, and may have no more than one line everywhere
        # a statement whose text follows has its id above
        if record.is_named or record.text or whole[False] or record is records[0]:
            text = lines[record.start].strip()
            reason = f"a record of this table has {count} lines, and this one {len(record.cells)}: lines are missing"
            rows.problems.append(Problem(record.start + 1, "cut", text, reason))


def _cells(record: dict[int, tuple[str, ...]], place: int, cutter: Cutter) -> tuple[str, ...]:
    return record.get(place) or ("",) * len(cutter.columns)


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
