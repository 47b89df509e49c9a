"""Sections of SQL statements: rows of numbers, each followed by module and statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from awrparse.layout import NUMBER, Cutter, Layout, add_unplaced
from awrparse.records import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

_SQL_ID = re.compile(r"^[0-9a-z]{13}$|^\d{5,10}$")
#: SQL text is cut hard at this many columns.
SQL_WIDTH: Final = 80
_STATSPACK_SQL_WIDTH: Final = 64
_DIFF_SQL_WIDTH: Final = 240


def cut_sql(layout: Layout, lines: list[str], body: Sequence[int]) -> Rows:
    """Rows of numbers with a SQL id (Statspack: a hash value) at one end, each followed by module and SQL text."""
    names, columns = layout.groups[-1]
    cutter = Cutter(columns)
    width = {"statspack": _STATSPACK_SQL_WIDTH, "awr_diff": _DIFF_SQL_WIDTH}.get(layout.report_kind, SQL_WIDTH)
    place = 0 if names[0].upper() == "SQL ID" else len(columns) - 1
    id_column = columns[place]
    id_end = id_column.end if place == 0 else None
    rows = Rows(headings=(*names, "Module", "SQL Text"))
    record: tuple[str, ...] | None = None
    module, text, start = "", list[str](), 0

    def flush() -> None:
        if record is not None:
            rows.cells.append((*record, module, joined_sql(text, width)))
            rows.lines.append(start + 1)

    for number in body:
        line = lines[number]
        name = line[id_column.start : id_end].strip()
        if name and _SQL_ID.match(name):
            cells = cutter.cut(line)
            if cells is not None and _is_record(cells, name):
                flush()
                record, module, text, start = cells, "", [], number
                continue
        if record is None:
            if line.strip():
                add_unplaced(rows, line.strip(), number)
        elif not text and line.startswith("Module:"):
            module = line[7:].strip()
        else:
            text.append(line)
    flush()
    return rows


def _is_record(cells: tuple[str, ...], name: str) -> bool:
    """Numbers beside the id, and not words of a SQL text that starts like one."""
    rest = [cell for cell in cells if cell and cell != name]
    return sum(bool(NUMBER.match(cell)) for cell in rest) >= len(rest) - 1


def joined_sql(text: list[str], width: int) -> str:
    """SQL text whose lines were cut hard at a width: what a line lacks are blanks at its end."""
    while text and not text[-1].strip():
        text.pop()
    if not text:
        return ""
    longest = max((len(line) for line in text[:-1]), default=0)
    # a statement with line feeds of its own is cut a few columns earlier
    width = longest if width - 8 <= longest <= width else width
    return "".join(line.ljust(width) if line.strip() else "" for line in text[:-1]) + text[-1]
