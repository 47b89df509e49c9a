"""Results in HTML (SET MARKUP HTML ON) and JSON (SET SQLFORMAT JSON of SQLcl)."""

from __future__ import annotations

import json
from typing import Final

from logframe import Column
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Grid

#: How results begin.
HTML_TABLE: Final = ("<table", "<TABLE")
JSON_RESULT: Final = '{"results":['
#: What SQL*Plus prints for a null.
_NULL: Final = "\xa0"


def read_html(page: Page, number: int) -> Grid | None:
    """The grid of a table as SQL*Plus prints it, each tag in a line of its own; None for other tables."""
    headings: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    text: list[str] | None = None
    is_heading = False
    for place in range(number + 1, len(page)):
        line = page.lines[place].strip()
        tag = line[:4].lower().rstrip("> ")
        if line.lower() == "</table>":
            return _grid(page, (number, place + 1), tuple(headings), rows)
        if tag == "<tr":
            rows.append((place, []))
        elif tag in {"<th", "<td"} and line.endswith(">") and line.count("<") == 1 and rows:
            text, is_heading = [], tag == "<th"
        elif tag in {"</th", "</td"} and text is not None:
            cell = "\n".join(text).strip().strip(_NULL)
            if not is_heading:
                rows[-1][1].append(cell)
            elif len(rows) == 1:
                headings.append(cell)
            text = None
        elif text is not None:
            text.append(line)
        elif line and tag != "</tr":
            return None
    return None


def read_json(page: Page, number: int) -> Grid | None:
    """The grid of a result in JSON, which SQLcl prints a row a line; None where it is cut."""
    lines = [page.lines[number]]
    rows: list[int] = []
    for place in range(number + 1, len(page)):
        line = page.lines[place]
        lines.append(line)
        if line.startswith("]}"):
            break
        if line.startswith(("{", ",{")):
            rows.append(place)
    try:
        result = json.loads("\n".join(lines), strict=False)["results"][0]
        headings = tuple(str(column["name"]) for column in result["columns"])
        items = result["items"]
        if len(items) != len(rows):
            return None
        named = [{name.lower(): value for name, value in item.items()} for item in items]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    cells = [["" if (value := item.get(name.lower())) is None else str(value) for name in headings] for item in named]
    return _grid(page, (number, number + len(lines)), headings, list(zip(rows, cells, strict=True)))


def _grid(
    page: Page, extent: tuple[int, int], headings: tuple[str, ...], rows: list[tuple[int, list[str]]]
) -> Grid | None:
    """The grid of cells that were read; None where a row has other cells than the heading."""
    cells = [(line, tuple(row)) for line, row in rows if row]
    if not (headings and cells and all(len(row) == len(headings) for _, row in cells)):
        return None
    first, last = extent
    page.assign(first, last, LineRole.HEADING)
    page.assign(cells[0][0], last, LineRole.ROW)
    rulers = ((Column(0, 0),) * len(headings),)
    return Grid(headings, rulers, [line for line, _ in cells], 1, first, last, cells=[row for _, row in cells])
