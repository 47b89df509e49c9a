"""Rows between vertical bars: the plans of reports on one statement, and tables of Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from awrparse.records import Rows
from awrparse.text.layout import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAR_ROW = re.compile(GRAMMAR.pattern("{BAR_ROW}"))
#: The heading whose cells are indented by their depth in the plan, and that of the depth.
_INDENTED, _DEPTH = "Operation", "Depth"
#: How a line below headings begins.
_STARTS: Final = frozenset({"|-", "|:", "| "})
_TITLE: Final = re.compile(GRAMMAR.pattern("{PLAN_TITLE}"))
_SQL_ID_TITLE: Final = re.compile(GRAMMAR.pattern("{SQL_ID_TITLE}"))


_MARKDOWN_RULER: Final = re.compile(GRAMMAR.pattern("{MARKDOWN_RULER}"))
_BARE_RULER: Final = re.compile(GRAMMAR.pattern("{BARE_MARKDOWN_RULER}"))
#: A bar within a cell of Markdown.
_ESCAPED, _HELD = "\\|", "\x00"


def markdown_rulers(lines: Sequence[str]) -> list[int]:
    """The lines that set the headings of a table of Markdown apart from its rows, counted from 0.

    Examples:
        >>> markdown_rulers(["| Event | Waits |", "|---|---:|", "| latch free | 1 |"])
        [1]
    """
    return [
        number
        for number, line in enumerate(lines)
        if "|" in line
        and line.lstrip()[:2] in _STARTS
        and _MARKDOWN_RULER.fullmatch(line.strip())
        and number > 0
        and is_bar_row(lines[number - 1])
    ]


def with_bars(lines: list[str]) -> list[str]:
    """The lines with a bar at both ends of the rows of tables of Markdown that have bars between their cells only.

    Examples:
        >>> with_bars(["Event|Waits", "---|---:", "latch free|1", "", "a|b"])
        ['|Event|Waits|', '|---|---:|', '|latch free|1|', '', 'a|b']
    """
    found = lines
    for number in range(1, len(lines)):
        if "|" not in lines[number] or "|" not in lines[number - 1] or not _BARE_RULER.fullmatch(lines[number]):
            continue
        found = [*lines] if found is lines else found
        place = number - 1
        while place < len(lines) and "|" in lines[place]:
            row = lines[place].strip()
            found[place] = f"|{row.removeprefix('|').removesuffix('|')}|"
            place += 1
    return found


def with_tabs(line: str) -> str:
    r"""A row of Markdown with a tab between its cells; any other line as it is.

    Examples:
        >>> with_tabs("| latch free | 1 |"), with_tabs("Wait Events")
        ('latch free\t1', 'Wait Events')
    """
    if not is_bar_row(line):
        return line
    return "\t".join(cell.strip().replace(_HELD, "|") for cell in cells_of(line.replace(_ESCAPED, _HELD)))


def is_bar_row(line: str) -> bool:
    """Does a line start and end with a vertical bar?"""
    return _BAR_ROW.fullmatch(line.strip()) is not None


def is_plan_title(line: str) -> bool:
    """Does a line name a plan and its hash value?"""
    return _TITLE.fullmatch(line.strip()) is not None


def is_sql_id_title(line: str) -> bool:
    """Is this the title above the plans of a statement?"""
    return _SQL_ID_TITLE.fullmatch(line.strip()) is not None


def cells_of(line: str) -> list[str]:
    """The cells between the bars, blanks kept.

    Examples:
        >>> cells_of("| 0 | SELECT |")
        [' 0 ', ' SELECT ']
    """
    return line.strip()[1:-1].split("|")


def cut_bars(lines: Sequence[str], head: int, body: Sequence[int]) -> Rows:
    """Rows between bars; cells of `Operation` are indented by their depth, which becomes a column of its own.

    Args:
        lines: all lines of the file.
        head: the line of the headings.
        body: the lines of the rows.
    """
    names = tuple(" ".join(cell.split()) for cell in cells_of(lines[head]))
    grid = [cells_of(lines[number]) for number in body]
    rows = Rows(headings=(*names, _DEPTH))
    place = names.index(_INDENTED) if _INDENTED in names else -1
    for number, cells in zip(body, grid, strict=True):
        depth = str(len(cells[place]) - len(cells[place].lstrip()) - 1) if 0 <= place < len(cells) else ""
        width = len(names)
        texts = [cell.strip() for cell in cells[:width]]
        rows.cells.append((*texts, *[""] * (width - len(texts)), depth))
        rows.lines.append(number + 1)
    return rows
