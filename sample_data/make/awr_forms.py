"""Lays tables out as an AWR report prints them: as text in columns under rulers, or as HTML.

A block knows both of its forms: `write_text` and `write_html` only put blocks one below the other.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

PAGE_WIDTH = 80
#: What ends a section from 11.2.0.4 on.
SECTION_END = " " * 26 + "-" * 54


class Column(NamedTuple):
    """A column: its heading in HTML, the words of its heading in text, line by line, its width and its side."""

    name: str
    words: tuple[str, ...]
    width: int
    side: str = ">"


class Table(NamedTuple):
    """A ruled table; of the summary (title underlined, no end), or a section of its own (`is_section`)."""

    title: str
    columns: tuple[Column, ...]
    rows: list[tuple[str, ...]]
    is_section: bool = True
    group: str = ""
    #: Columns in each line of a record, where a record takes several lines.
    lines: tuple[int, ...] = ()
    #: The module and the text of each row's statement.
    texts: tuple[tuple[str, str], ...] = ()


class Labels(NamedTuple):
    """A block of labels and values: its lines in text, its heading and rows in HTML."""

    title: str
    text: list[str]
    heading: tuple[str, ...]
    rows: list[tuple[str, ...]]


class Head(NamedTuple):
    """What every title of a section ends with."""

    database: str
    instance: str
    begin_snap: int
    end_snap: int


Block = Table | Labels


def put(cell: str, column: Column) -> str:
    """A cell in its column; a name that is too long is cut, as the report does."""
    return cell[: column.width].ljust(column.width) if column.side == "<" else cell.rjust(column.width)


def head_lines(columns: tuple[Column, ...]) -> list[str]:
    """The headings above their ruler: words stand on the lines next to it."""
    height = max(len(column.words) for column in columns)
    lines = []
    for number in range(height):
        cells = []
        for column in columns:
            missing = height - len(column.words)
            cells.append(put("" if number < missing else column.words[number - missing], column))
        lines.append(" ".join(cells).rstrip())
    return [*lines, " ".join("-" * column.width for column in columns)]


def split_columns(table: Table) -> list[tuple[int, int]]:
    """Which columns stand in which line of a record."""
    ends, first = [], 0
    for count in table.lines or (len(table.columns),):
        ends.append((first, first + count))
        first += count
    return ends


def table_text(table: Table, head: Head) -> list[str]:
    """A table in text."""
    parts = split_columns(table)
    lines = []
    if table.is_section:
        right = f"DB/Inst: {head.database}/{head.instance}  Snaps: {head.begin_snap}-{head.end_snap}"
        lines += [table.title + right.rjust(PAGE_WIDTH - len(table.title)), ""]
    elif table.title:
        lines += [table.title, "~" * len(table.title) + table.group]
    for first, end in parts:
        lines += head_lines(table.columns[first:end])
    texts = table.texts or (("", ""),) * len(table.rows)
    for row, (module, text) in zip(table.rows, texts, strict=True):
        for first, end in parts:
            cells = zip(row[first:end], table.columns[first:end], strict=True)
            lines.append(" ".join(put(cell, column) for cell, column in cells).rstrip())
        if text:
            cut = [text[start : start + PAGE_WIDTH] for start in range(0, len(text), PAGE_WIDTH)]
            lines += [f"Module: {module}", *cut, ""]
    return [*lines, SECTION_END, ""] if table.is_section else [*lines, ""]


def write_text(blocks: list[Block], head: Head) -> str:
    """The report as text."""
    lines = ["", "WORKLOAD REPOSITORY report for", ""]
    for block in blocks:
        lines += [*block.text, ""] if isinstance(block, Labels) else table_text(block, head)
        if isinstance(block, Table) and block.is_section:
            lines.append("")
    return "\n".join([*lines, "End of Report", ""])


def row_html(cells: tuple[str, ...], kind: str) -> str:
    """A row; a blank cell is a no-break space."""
    inner = "".join(f"<{kind} class='awrc'>{escape(cell) if cell else '&#160;'}</{kind}>" for cell in cells)
    return f"<tr>{inner}</tr>"


def block_html(block: Block) -> str:
    """A block in HTML: its title as a heading, then its table."""
    if isinstance(block, Labels):
        heading, rows = block.heading, block.rows
    else:
        heading = tuple(column.name for column in block.columns)
        rows = block.rows
        if block.texts:
            heading = (*heading, "SQL Module", "SQL Text")
            rows = [(*row, *text) for row, text in zip(rows, block.texts, strict=True)]
    title = f'<h3 class="awr">{escape(block.title)}</h3>\n' if block.title else ""
    head = row_html(heading, "th") + "\n" if any(heading) else ""
    body = "\n".join(row_html(row, "td") for row in rows)
    return f'{title}<table border="0" width="600" summary="{summary_of(block)}">\n{head}{body}\n</table><p />'


def summary_of(block: Block) -> str:
    """What a reader of tables knows a block by that has no title of its own."""
    if block.title:
        return f"This table displays {block.title}"
    first = block.heading[1] if isinstance(block, Labels) else block.columns[0].name
    what = {"DB Name": "database instance", "Host Name": "host", "Snap Id": "snapshot"}[first]
    return f"This table displays {what} information"


def write_html(blocks: list[Block], head: Head) -> str:
    """The report as HTML."""
    title = f"AWR Report for DB: {head.database}, Inst: {head.instance}, Snaps: {head.begin_snap}-{head.end_snap}"
    page = [
        f'<html lang="en"><head><title>{escape(title)}</title></head><body class="awr">',
        '<h1 class="awr">WORKLOAD REPOSITORY report for</h1><p />',
        *(block_html(block) for block in blocks),
        "<p />End of Report</body></html>",
        "",
    ]
    return "\n".join(page)
