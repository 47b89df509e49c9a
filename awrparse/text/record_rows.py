"""Records of several lines, each under a ruler of its own."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse.grids import columns_by_heading
from awrparse.records import Problem, Rows
from awrparse.tables import tables_titled
from awrparse.text.cutting import Cutter, cutter_at
from awrparse.text.layout import GRAMMAR, Layout, is_number
from awrparse.text.sql_rows import SQL_WIDTH, add_foreign_rows, joined_sql
from logframe import cut_row

if TYPE_CHECKING:
    from collections.abc import Sequence

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
