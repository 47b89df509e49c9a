"""HTML reports: every ``<table>`` as headings and cells, with the title and the notes that stand before it.

selectolax repairs markup as a browser does: a missing ``</td>`` or ``</table>``, tags in capitals, attributes without
quotes.  Cells that span columns or rows are repeated in each place they cover in a heading, and stand in the first
place they cover in a row.

The cells of regular tables are cut by ``cells.c``.  A regular table holds rows of as many cells each, and nothing but
text in them; no cell spans others but a heading some columns, and stands in each of them.  The cells do not depend on
the rest of the page, nor the rest on them, so the parser, which takes most of the time that a page needs, gets the page
with those tables empty.

A table of a page that has lost its headings gets its title from what its ``summary`` says.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from awrparse.addm import addm_of_page
from awrparse.records import Document, PrintedTable, Problem, Rows
from awrparse.sniff import PAGE
from awrparse.tabbed import count_of_headings
from awrparse.text.labels import is_plan_title, is_sql_id_title
from logframe.native import POINTER, SIZE, load_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode


#: The attribute of each table of the page that is left: its number where it is regular, else nothing.
MARK: Final = "iolab-table"
#: A page of more tables is left to the parser.
_MOST_TABLES: Final = 1 << 16
#: What separates the cells, as in ``cells.c``.
_SEPARATOR: Final = "\x1f"


class _Table(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_int64) for name in ("name_end", "content", "end", "rows", "width", "heads", "first_cell")
    )


@dataclass(frozen=True, slots=True)
class RegularTable:
    """The cells of one table.

    Attributes:
        cells: their texts, one row after the other; white space around them is removed, and where it holds the end of a
            line or a no-break space it is one blank.
        width: cells of a row.
        heads: leading rows of headings.
    """

    cells: list[str]
    width: int
    heads: int


@dataclass(frozen=True, slots=True)
class PageCells:
    """A page parted into regular tables and the rest.

    Attributes:
        rest: the page, its regular tables empty; each table has the attribute `MARK`.
        tables: the regular tables by their mark.
        has_heads: whether one of them has a ``<th>``.
    """

    rest: str
    tables: dict[str, RegularTable]
    has_heads: bool


def cut_page(text: str) -> PageCells | None:
    """The regular tables of a page, and the rest; None without compiled code, and for a page that cannot be parted so.

    Args:
        text: the page, without comments.

    Returns:
        None also where tables stand in tables, or where the page has elements that change how markup is read.
    """
    library = _library()
    if library is None:
        return None
    try:
        page = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    most = min(_MOST_TABLES, page.count(b"<table") + page.count(b"<TABLE"))
    found, cells = (_Table * most)(), ctypes.create_string_buffer(len(page))
    used, has_heads = ctypes.c_int64(), ctypes.c_int64()
    count = library.iolab_scan_page(page, len(page), cells, found, most, ctypes.byref(used), ctypes.byref(has_heads))
    if count < 0:
        return None
    texts = ctypes.string_at(cells, used.value).decode().split(_SEPARATOR)
    tables: dict[str, RegularTable] = {}
    rest: list[bytes] = []
    place = 0
    for number in range(count):
        table = found[number]
        mark = ""
        if table.rows:
            mark = str(number)
            last = table.first_cell + table.rows * table.width
            tables[mark] = RegularTable(texts[table.first_cell : last], table.width, table.heads)
        rest += page[place : table.name_end], f' {MARK}="{mark}"'.encode(), page[table.name_end : table.content]
        place = table.end if table.rows else table.content
    rest.append(page[place:])
    return PageCells(b"".join(rest).decode(), tables, bool(has_heads.value))


@cache
def _library() -> ctypes.CDLL | None:
    scan = (SIZE, POINTER, SIZE, POINTER, POINTER, SIZE, POINTER, POINTER)
    return load_functions("awrparse", "cells", iolab_scan_page=scan)


#: How a summary goes on after `This table displays `, and the title the table is printed under.
_TITLES: Final = {
    "load profile": "Load Profile",
    "instance efficiency percentages": "Instance Efficiency Percentages (Target 100%)",
    "system load statistics": "Host CPU",
    "CPU usage and wait statistics": "Instance CPU",
    "IO profile": "IO Profile",
    "memory statistics": "Memory Statistics",
    "cache sizes and other statistics": "Cache Sizes",
    "shared pool statistics": "Shared Pool Statistics",
    "top 10 wait events by total wait time": "Top 10 Foreground Events by Total Wait Time",
    "wait class statistics ordered by total wait time": "Wait Classes by Total Wait Time",
    "foreground wait class statistics": "Foreground Wait Class",
    "Foreground Wait Events": "Foreground Wait Events",
    "background wait events statistics": "Background Wait Events",
    "total number of waits, and information": "Wait Event Histogram",
    "different time model statistics": "Time Model Statistics",
    "operating systems statistics": "Operating System Statistics",
    "some detailed operating systems statistics": "Operating System Statistics - Detail",
    "service statistics": "Service Statistics",
    "service wait class statistics": "Service Wait Class Stats",
    "top ADDM findings": "Top ADDM Findings by Average Active Sessions",
    "top SQL by elapsed time": "SQL ordered by Elapsed Time",
    "top SQL by CPU time": "SQL ordered by CPU Time",
    "top SQL by user I/O time": "SQL ordered by User I/O Wait Time",
    "top SQL by buffer gets": "SQL ordered by Gets",
    "top SQL by physical reads": "SQL ordered by Reads",
    "top SQL by unoptimized read requests": "SQL ordered by Physical Reads (UnOptimized)",
    "top SQL by number of executions": "SQL ordered by Executions",
    "top SQL by number of parse calls": "SQL ordered by Parse Calls",
    "top SQL by amount of shared memory used": "SQL ordered by Sharable Memory",
    "top SQL by version counts": "SQL ordered by Version Count",
    "top SQL by cluster wait time": "SQL ordered by Cluster Wait Time",
    "the text of the SQL statements": "Complete List of SQL Text",
    "Key Instance activity statistics": "Key Instance Activity Stats",
    "non-key Instance activity statistics": "Other Instance Activity Stats",
    "Instance activity statistics": "Instance Activity Stats",
    "absolute values of instance-related features": "Instance Activity Stats - Absolute Values",
    "thread activity stats": "Instance Activity Stats - Thread Activity",
    "the IO Statistics for different functions": "IOStat by Function summary",
    "IO Statistics for different file types": "IOStat by Filetype summary",
    "IO Statistics for different tablespaces": "Tablespace IO Stats",
    "IO Statistics for different physical files": "File IO Stats",
    "buffer pool statistics": "Buffer Pool Statistics",
    "buffer wait statistics": "Buffer Wait Statistics",
    "name and value of init.ora parameters": "init.ora Parameters",
    "name and value of the modified initialization parameters": "Modified Parameters",
}
_PREFIX: Final = "This table displays "


def title_of_summary(summary: str) -> str:
    """The title of a table by its summary; an empty text where the summary does not say it.

    Examples:
        >>> title_of_summary("This table displays top 10 wait events by total wait time")
        'Top 10 Foreground Events by Total Wait Time'
        >>> title_of_summary("This table displays host information")
        ''
        >>> title_of_summary("Top 5 Timed Foreground Events")
        'Top 5 Timed Foreground Events'
    """
    if summary.startswith("Top 5 Timed "):  # 11.2.0.3: the summary is the title
        return summary
    if not summary.startswith(_PREFIX):
        return ""
    rest = summary[len(_PREFIX) :]
    return next((title for words, title in _TITLES.items() if rest.startswith(words)), "")


_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_NOTES: Final = frozenset({"ul", "ol", "li"})
_IGNORED: Final = frozenset({"a", "script", "style", "br", "hr", "-comment", "head"})
_COMMENT: Final = re.compile(PAGE.pattern("{COMMENT}"))
_LINE_END: Final = re.compile(PAGE.pattern("{LINE_END}"))
_PRE_AND_LINE: Final = re.compile(PAGE.pattern(r"{PRE_TAG}(?=\r?\n)"))
#: The heading over the last table of a plan.
_LAST_OF_PLAN: Final = "Execution Plan"
_SQL_TEXT: Final = "SQL TEXT"
#: How many columns and rows the spans of cells may make; a damaged attribute must not fill the memory.
_MAX_SPAN: Final = 200
#: Digits of a span that are read: more are beyond the limit anyway, and Python refuses some thousands.
_MAX_DIGITS: Final = 9
#: Tables within tables so deep are layout of no report: their text is read once for each table around them.
_MAX_DEPTH: Final = 20
#: Elements that stay open until they are closed, how many may, and the characters of a tag.
_CONTAINERS: Final = ("ul", "ol", "dl", "div", "span", "font", "center", "blockquote", "table", "section")
_MOST_OPEN: Final = 3_000
_LONGEST_TAG: Final = 100_000


def read_html(text: str, report_kind: str, title: str, first_line: int = 1) -> Document:
    """The tables of one HTML report.

    Args:
        text: the page.
        report_kind: from `awrparse.sniff`.
        title: what the report calls itself.
        first_line: of the page in its file.
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - a text report needs no HTML parser

    clean = _without_comments(text) if "<!--" in text else text
    cut_tables = cut_page(clean)
    page = LexborHTMLParser(clean if cut_tables is None else cut_tables.rest)
    has_heads = (cut_tables is not None and cut_tables.has_heads) or page.css_first("th") is not None
    if cut_tables is not None and not has_heads:
        # headings are among the ordinary cells
        cut_tables, page = None, LexborHTMLParser(clean)
    regular = {} if cut_tables is None else cut_tables.tables
    nodes = page.css("table")
    depths: dict[int | None, int] = {None: 0}
    for node in nodes:
        depths[node.mem_id] = depths[_owner(node)] + 1
    inner: dict[int | None, list[LexborNode]] = {}
    if any(depth > 1 for depth in depths.values()):
        for row in page.css("tr"):
            inner.setdefault(_owner(row), []).append(row)
    shown = [node for node in nodes if depths[node.mem_id] <= _MAX_DEPTH]
    tables = []
    before = ""
    plans = _plans(page) if report_kind == "awr_sql" else {}
    for node in shown:
        heading, notes = _text_before(node)
        notes += plans.get(node.mem_id, ())
        before = heading or before
        attributes = node.attributes
        summary = " ".join((attributes.get("summary") or "").split())
        if (table := regular.get(attributes.get(MARK) or "")) is not None:
            cut = partial(_rows_of, table)
        else:
            # the page is kept alive by the function that reads its rows
            is_outer = bool(inner) and node.css_first("table") is not None
            rows = inner.get(node.mem_id, []) if is_outer else None
            cut = partial(_rows, page, node, rows, has_heads=has_heads)
        tables.append(PrintedTable(heading or title_of_summary(summary) or before, cut, summary=summary, notes=notes))
    for node in page.css("pre"):
        tables += addm_of_page(_own_text(node))
    document = Document(kind=report_kind, form="html", tables=tables, first_line=first_line, title=title, page=text)
    if left_out := len(nodes) - len(shown):
        reason = f"{left_out} tables within {_MAX_DEPTH} tables around them are not read"
        document.problems.append(Problem(first_line, "misplaced", "", reason))
    return document


def hard_markup(text: str) -> str:
    """What in a page takes a parser time that grows with its square; empty where nothing does.

    A browser's rules look at all open elements for each new one, and at all attributes of a tag for each.  Reports open
    some dozen elements at a time and have few attributes.

    Examples:
        >>> hard_markup("<ul><li>" * 60_000)
        '60,000 <ul> are opened that nothing closes'
        >>> hard_markup("<td " + "a=1 " * 60_000 + ">"), hard_markup("<div></div>" * 60_000)
        ('a tag has 240,004 characters', '')
    """
    lower = text.lower()
    for tag in _CONTAINERS:
        opened = lower.count(f"<{tag}") - lower.count(f"</{tag}")
        if opened > _MOST_OPEN:
            return f"{opened:,} <{tag}> are opened that nothing closes"
    if len(text) > _LONGEST_TAG:
        longest = max(len(piece) - piece.rfind("<") for piece in text.split(">") if "<" in piece)
        if longest > _LONGEST_TAG:
            return f"a tag has {longest:,} characters"
    return ""


def _own_text(node: LexborNode) -> str:
    """The text of preformatted lines up to a table, as there is one where nothing closes them."""
    texts = []
    for part in node.iter(include_text=True):
        if part.tag == "table" or (part.tag != "-text" and part.css_first("table") is not None):
            break
        texts.append(part.text())
    return "".join(texts)


def _plans(page: LexborHTMLParser) -> dict[int, tuple[str, ...]]:
    """Each table of a report on one statement -> the statement and the plan that headings above it name."""
    plan: tuple[str, ...] = ()
    text = ""
    found = {}
    for node in page.css("h1,h2,h3,h4,h5,h6,table"):
        if node.tag == "table":
            found[node.mem_id] = plan
            if text == _LAST_OF_PLAN:
                plan = plan[:1]
            continue
        text = " ".join(node.text().split())
        if is_sql_id_title(text):
            plan = (text,)
        elif is_plan_title(text):
            plan = (*plan[:1], text)
    return found


def page_text(text: str) -> str | None:
    """The text of a page that has no table: a text report saved by a browser or a mail program; else None."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - a text report needs no HTML parser

    # a parser drops a line feed right after <pre>, as browsers do; here it is a line, so it gets another
    page = LexborHTMLParser(_PRE_AND_LINE.sub(r"\g<0>\n", text))
    if page.css_first("table") is not None or page.body is None:
        return None
    return page.body.text()


def _rows_of(table: RegularTable) -> Rows:
    """The rows of a table whose cells are cut."""
    return _with_headings(list(zip(*[iter(table.cells)] * table.width, strict=True)), table.heads, table.width)


def _rows(_page: object, table: LexborNode, rows: list[LexborNode] | None, *, has_heads: bool) -> Rows:
    if rows is None:
        # repaired markup has no row outside <tbody>, <thead> or <tfoot>
        rows = [row for part in table.iter() for row in part.iter() if row.tag == "tr"]
    heads = 0
    while heads < len(rows) and _is_heading(rows[heads]):
        heads += 1
    if not has_heads:  # Word and mail programs make ordinary cells of all
        heads = count_of_headings(_cells(rows[:3]))
    if table.css_first("[colspan],[rowspan]") is not None:
        return _with_headings(_spread(table, rows, heads), heads)
    grid = _cells(rows)
    found = _with_headings(grid, heads)
    if heads and grid[0] and grid[0][0]:
        found.problems += _uneven_rows(grid, heads)
    return found


def _uneven_rows(grid: list[list[str]], heads: int) -> list[Problem]:
    """Rows with more or fewer cells than there are headings; cells may stand below the wrong heading."""
    count = len(grid[heads - 1])
    reason = f"the row has more or fewer cells than there are headings ({count}): figures may be in wrong columns"
    return [Problem(None, "misplaced", " | ".join(cells), reason) for cells in grid[heads:] if len(cells) != count]


def _cells(rows: list[LexborNode]) -> list[list[str]]:
    """The texts of the cells; `_cell_text` of each, a row at once."""
    grid = []
    for row in rows:
        line = [cell.text().strip() for cell in row.iter()]
        text = "".join(line)
        if "\n" in text or "\xa0" in text:
            line = [_LINE_END.sub(" ", cell) for cell in line]
        grid.append(line)
    return grid


def _owner(node: LexborNode) -> int | None:
    """The table around a row, or around another table."""
    above = node.parent
    while above is not None and above.tag != "table":
        above = above.parent
    return None if above is None else above.mem_id


def _without_comments(page: str) -> str:
    """The page without its comments; one that does not end is kept."""
    end = max(page.rfind("-->"), page.rfind("--!>")) + len("--!>")
    return _COMMENT.sub("", page[:end]) + page[end:]


def _is_heading(row: LexborNode) -> bool:
    """A row of ``<th>``, blank ``<td>`` among them; a row that only starts with one is not."""
    heads = 0
    for cell in row.iter():
        if cell.tag == "th":
            heads += 1
        elif _cell_text(cell):
            return False
    return heads > 1 or (heads == 1 and (row.css_first("td") is None or row.css_first("th[colspan]") is not None))


def _cell_text(cell: LexborNode) -> str:
    return _LINE_END.sub(" ", cell.text().strip())


def _spread(table: LexborNode, rows: list[LexborNode], heads: int) -> list[list[str]]:
    """Rows whose cells span columns or rows, as a grid; headings are repeated where they span, values are not."""
    cells = table.css("[colspan],[rowspan]")
    spanning = {cell.mem_id for cell in cells}
    with_spanning = {cell.parent.mem_id for cell in cells if cell.parent is not None}
    grid: list[list[str]] = []
    waiting: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(rows):
        if not waiting and row.mem_id not in with_spanning:
            grid += _cells([row])
            continue
        is_heading = number < heads or _is_heading(row)
        line: list[str] = []

        def fill(line: list[str] = line) -> None:
            while (place := len(line)) in waiting:
                left, text = waiting.pop(place)
                line.append(text)
                if left > 1:
                    waiting[place] = (left - 1, text)

        below: dict[int, tuple[int, str]] = {}
        for cell in row.iter():
            if waiting:
                fill()
            text = _cell_text(cell)
            if cell.mem_id not in spanning:
                line.append(text)
                continue
            attributes = cell.attributes
            across = min(_span(attributes.get("colspan")), max(_MAX_SPAN - len(line), 1))
            down = _span(attributes.get("rowspan"))
            for step in range(across):
                if down > 1:
                    below[len(line)] = (down - 1, text if is_heading else "")
                line.append(text if step == 0 or is_heading else "")
        fill()
        waiting.update(below)
        grid.append(line)
    return grid


def _span(value: str | None) -> int:
    value = (value or "").strip()
    return min(max(int(value[:_MAX_DIGITS]), 1), _MAX_SPAN) if value.isdecimal() else 1


def _with_headings(grid: Sequence[Sequence[str]], count: int, even_width: int = 0) -> Rows:
    """This many leading rows joined to one heading a column; the rest are the rows.

    Args:
        grid: the cells of all rows.
        count: of headings.
        even_width: how many cells each row has where all have as many.
    """
    heads, body = grid[:count], grid[count:]
    width = even_width or max(map(len, grid), default=0)
    names = []
    for place in range(width):
        parts: list[str] = []
        for head in heads:
            part = head[place] if place < len(head) else ""
            if part and part not in parts:
                parts.append(part)
        names.append(" ".join(parts))
    if width == 0:  # a page cut after a <tr>
        return Rows()
    rows = (
        list(map(tuple, body))
        if even_width
        else [tuple(cells) if len(cells) == width else (*cells, *[""] * (width - len(cells))) for cells in body]
    )
    for place, name in enumerate(names):
        if name.upper().endswith(_SQL_TEXT):  # the report puts blanks into it so that browsers may break the line
            rows = [(*row[:place], " ".join(row[place].split()), *row[place + 1 :]) for row in rows]
    return Rows(cells=rows, lines=[0] * len(rows), headings=tuple(names))


def _text_before(table: LexborNode) -> tuple[str, tuple[str, ...]]:
    """The heading above a table, and the notes between the two; empty when another table is nearer."""
    notes: list[str] = []
    node: LexborNode | None = table
    while node is not None:
        before = node.prev
        if before is None:
            node = node.parent
            if node is None or node.tag in {"body", "html", "td"}:
                break
            continue
        node = before
        tag = node.tag or ""
        if tag == "table":
            break
        if tag in _IGNORED:
            continue
        if tag in _NOTES:
            items = node.css("li") if tag != "li" else [node]
            notes[:0] = [" ".join(item.text().split()) for item in items]
            continue
        if tag not in _HEADINGS and tag != "-text" and node.css_first("table") is not None:
            last = node.last_child
            while last is not None and last.tag != "table" and last.css_first("table") is not None:
                last = last.last_child
            if last is None or last.tag == "table":
                break
            node = last
            tag = node.tag or ""
        text = " ".join(node.text().split())
        if not text or text.startswith("Back to "):
            continue
        return text, tuple(notes)
    return "", tuple(notes)
