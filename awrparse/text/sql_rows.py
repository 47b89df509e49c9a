"""Sections of SQL statements: rows of numbers, each followed by module and statement."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from awrparse.records import Problem, Rows
from awrparse.text.cutting import cutter_at
from awrparse.text.layout import ANY_RULER, GRAMMAR, Layout, add_unplaced, is_number

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
_CUT_ID: Final = "the ruler above is too short for an id: the lines were cut, and its last digits are missing"
_DAMAGED_ID: Final = "no id of a statement stands beside these figures: the row is damaged"


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
            rows.problems.append(Problem(body[position] + 1, "cut", name or text.strip(), _DAMAGED_ID))
        elif is_cut:
            records[-1] = position, (*cells[:-1], "")
            rows.problems.append(Problem(body[position] + 1, "cut", name, _CUT_ID))
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
