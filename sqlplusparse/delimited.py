"""Result grids without a ruler: SET MARKUP CSV ON of SQL*Plus, SET SQLFORMAT CSV and DELIMITED of SQLcl."""

from __future__ import annotations

import csv
from typing import Final

from logframe import Column
from logframe.csv_lines import csv_cells
from sqlplusparse.grids import ENDS
from sqlplusparse.lines import COMMANDS, Kind, Pattern
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Grid

#: A line of headings in quotes, which are known without a command.
_QUOTED: Final = Pattern(
    "{QUOTED_HEADING}(?:(?P<delimiter>{CSV_DELIMITER}){QUOTED_HEADING}(?:(?P=delimiter){QUOTED_HEADING})*)?", COMMANDS
)
#: The commands that choose how results are printed; the delimiter, where one is named.
_MARKUP: Final = Pattern(
    r"{MARKUP_CSV}\s+(?P<on>{SETTING_ON})?(?:.*?{DELIMITER}\s+(?P<markup>\S))?"
    r"|{SQLFORMAT}\s*(?:(?P<csv>{CSV})|{DELIMITED}(?:\s+(?P<delimited>\S))?)?",
    COMMANDS,
)
_USUAL: Final = ","
#: A result that is not the first of its statement's lines has a ruler, or headings for this many columns.
_FEWEST: Final = 2


def chosen_delimiter(command: str, before: str | None) -> str | None:
    """The delimiter in force after a client command; None where results have rulers.

    Examples:
        >>> chosen_delimiter("set markup csv on delimiter | quote off", None)
        '|'
        >>> chosen_delimiter("set markup csv off", ","), chosen_delimiter("set timing on", ";")
        (None, ';')
    """
    found = _MARKUP.match(command)
    if found is None:
        return before
    if found["on"] or found["csv"]:
        return found["markup"] or _USUAL
    return found["delimited"]


def read_delimited(page: Page, number: int, delimiter: str | None, *, is_first: bool) -> Grid | None:
    """The grid whose headings stand in a line; None when the line is no line of headings.

    Args:
        page: the page.
        number: number of the line.
        delimiter: what a command chose, None when none is known: the headings must then stand in quotes.
        is_first: the line is the first that a statement printed.
    """
    heading = page.lines[number]
    quoted = _QUOTED.fullmatch(heading.strip())
    if quoted is not None:
        delimiter = quoted["delimiter"] or delimiter or _USUAL
    elif delimiter is None or not is_first:
        return None
    headings = tuple(csv_cells(heading.strip(), delimiter=delimiter))
    if len(headings) < (1 if quoted is not None and is_first else _FEWEST):
        return None
    rulers = ((Column(0, 0),) * len(headings),)
    grid = Grid(headings, rulers, [], 1, number, number + 1, cells=[])
    page.roles[number] = LineRole.HEADING
    end = _read_page(page, grid, number + 1, delimiter)
    while grid.rows and page.lines[(ahead := page.after_blanks(end)) : ahead + 1] == [heading]:
        page.roles[ahead] = LineRole.HEADING
        grid.pages += 1
        end = _read_page(page, grid, ahead + 1, delimiter)
    if not grid.rows:
        page.roles[number] = LineRole.TEXT
        return None
    grid.last = end
    return grid


def _read_page(page: Page, grid: Grid, number: int, delimiter: str) -> int:
    """Add the rows from a line on; the line after them.  A text in quotes may go on over several lines."""
    end = number
    while end < len(page) and page.kinds[end] not in ENDS and page.kinds[end] != Kind.BLANK:
        end += 1
    rows = csv.reader((f"{line}\n" for line in page.lines[number:end]), delimiter=delimiter)
    reached = 0
    try:
        for cells in rows:
            if len(cells) != len(grid.headings):
                break
            page.assign(number + reached, number + rows.line_num, LineRole.ROW)
            grid.rows.append(number + reached)
            grid.cells.append(tuple(cell.strip() for cell in cells))
            reached = rows.line_num
    except csv.Error:  # a text longer than a field may be: what was read before it is right
        pass
    return number + reached
