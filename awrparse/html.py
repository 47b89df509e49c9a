"""HTML reports: every ``<table>`` as headings and cells, with the title and the notes that stand before it.

selectolax repairs markup as a browser does: a missing ``</td>`` or ``</table>``, tags in capitals, attributes without
quotes.  Cells that span columns or rows are repeated in each place they cover in a heading, and stand in the first
place they cover in a row.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from awrparse.addm import addm_of_page
from awrparse.html_cells import MARK, RegularTable, cut_page
from awrparse.records import Document, PrintedTable, Problem, Rows
from awrparse.sniff import PAGE
from awrparse.summaries import title_of_summary
from awrparse.tabbed import count_of_headings
from awrparse.text.bars import is_plan_title, is_sql_id_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

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
