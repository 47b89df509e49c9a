"""Result grids: the rows under a ruler of dashes, their pages joined.

Rows folded over several lines, because the line size is less than the columns need.

Of each row SQL*Plus prints one line for each ruler, blank where all of its columns are null, and after the row a blank
line (SET RECSEP).  So the place of a line says which columns it has, not what stands in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from logframe import Column, columns_of, cut_row, fits
from sqlplusparse.cells import are_collapsed, cut_cells, headings_of
from sqlplusparse.lines import BEGINNINGS, FEEDBACK, LISTS, NUMBER, Kind, Pattern, runs_of
from sqlplusparse.page import LineRole, Page, section_above
from sqlplusparse.records import Grid
from sqlplusparse.statements import is_numbered, is_quoted_error, starts_statement

if TYPE_CHECKING:
    from collections.abc import Iterator


_Rows = list[tuple[int, tuple[str, ...]]]
#: Blank lines after a row: what SET RECSEP prints by default, or nothing.
_SEPARATORS: Final = (1, 0)


def fits_ruler(line: str, columns: tuple[Column, ...]) -> bool:
    """Stands a line within the columns of a ruler?"""
    return fits(line, columns) and len(line) <= columns[-1].end


def unfold(page: Page, grid: Grid, count: int | None = None) -> None:
    """Give a grid its rows and their cells, by the places of the lines.

    Args:
        page: the page.
        grid: a grid of more than one ruler; its rows are line numbers.
        count: how many rows the client says there are.

    A grid whose lines do not go by their places keeps the lines that it has; a diagnostic says so.
    """
    if not grid.rows:
        return
    readings = [rows for separators in _SEPARATORS if (rows := list(_by_place(page, grid, separators)))]
    if count is not None:
        readings.sort(key=lambda rows: len(rows) != count)
    if readings:
        rows = readings[0]
        grid.rows = [number for number, _ in rows]
        grid.cells = [cells for _, cells in rows]
        return
    if count is None:
        reason = "the lines of these folded rows do not follow their rulers; rows may be merged"
        page.note(grid.first, "ambiguous", reason)


def _by_place(page: Page, grid: Grid, separators: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rows when each has one line a ruler and this many blank lines after it; none when a line does not fit."""
    rows: _Rows = []
    number, end = grid.first, grid.last
    height = len(grid.rulers)
    while number < end:
        start = number
        while number < end and (page.roles[number] == LineRole.HEADING or _is_before_heading(page, number, end)):
            number += 1
        if number >= end:
            break
        if number == start and rows and separators and page.lines[number - 1]:
            return
        lines = [page.lines[place] if place < len(page) else "" for place in range(number, number + height)]
        if not any(lines):
            return
        cells: list[str] = []
        for line, columns in zip(lines, grid.rulers, strict=True):
            if not fits_ruler(line, columns):
                return
            cells += cut_row(line, columns).cells
        first = next(place for place, line in enumerate(lines, number) if line)
        rows.append((first, tuple(cells)))
        number += height
        for _ in range(separators):
            if number < end and page.lines[number]:
                return
            number += 1
    yield from rows


def _is_before_heading(page: Page, number: int, end: int) -> bool:
    """Stand only blank lines between this one and a heading that is printed again?"""
    while number < end and (not page.lines[number] or page.kinds[number] == Kind.ELISION):
        number += 1
    return number < end and page.roles[number] == LineRole.HEADING


#: Pages with wrapped rows or cut by hand differ in length by this much at most.
_UNEVEN: Final = 0.5
#: Numbers of lines have fewer digits.
_DIGITS: Final = 5
#: A heading has at most this many lines.
_TALLEST_HEADING: Final = 4
_FOLDED_RULERS: Final = 12
#: A text does not fit by chance the ruler of this many columns.
_FEWEST_COLUMNS: Final = 3
#: Feedback is looked for this many lines below.
_FARTHEST_FEEDBACK: Final = 200
#: Kinds of lines that no row of a grid is.
ENDS: Final = BEGINNINGS | {Kind.PLAN_TABLE, Kind.PLAN_HASH, Kind.PLAN_ROW, Kind.SQL_ID}
#: A row may hold a message; an error while rows are fetched has a line of its own above it.
_CODED: Final = Pattern("{CODED_ROW}", FEEDBACK)
#: What COMPUTE prints below its ruler where it computes more than one function.
_SUM_LABEL: Final = Pattern(" *{SUM_LABEL}(?: |$)", LISTS)
#: What procedures print above the results that they return.
_RESULT_SET: Final = "ResultSet #"
#: Lines within a grid that are no rows of it.
_NO_ROWS: Final = frozenset({Kind.ELISION, Kind.COMMENT})
#: Headings within a report of SQL Monitor.
MONITOR_TITLES: Final = frozenset({"SQL Text", "Global Information", "Global Stats"})
#: What may stand between a grid and its title.
GAPS: Final = frozenset({Kind.BLANK, Kind.RULER})
_TEXTS: Final = runs_of(Kind.TEXT)


def read_grid(page: Page, ruler: int, text_from: int, *, is_typed: bool = False) -> Grid | None:
    """The grid whose ruler is at a line; None when the dashes only underline or separate text.

    Args:
        page: the page.
        ruler: number of the ruler's line.
        text_from: the first line of the text just above it that nothing else has claimed.
        is_typed: it is the first output of a query typed at a prompt, whose pages may hold one row.
    """
    line = page.lines[ruler]
    columns = columns_of(line)
    if ruler == text_from or not columns or page.kinds[ruler - 1] != Kind.TEXT:
        return None
    above = page.lines[ruler - 1]
    if is_counted(page, ruler - 1):
        return None
    is_title = (not is_typed and _is_title(page, ruler, columns[0])) or above.strip() in MONITOR_TITLES
    if len(columns) == 1 and is_title:
        return None
    top = ruler - 1
    while (
        top > text_from and ruler - top < _TALLEST_HEADING and len(columns) > 1 and _is_heading(page, top - 1, columns)
    ):
        top -= 1
    rulers = [columns]
    found = list(headings_of(page.lines[top:ruler], line, columns))
    if not any(found) or len(above.rstrip()) > columns[-1].end + 200:
        return None
    end = ruler + 1
    while len(rulers) < _FOLDED_RULERS and page.kind(end) == Kind.TEXT and page.kind(end + 1) == Kind.RULER:
        more = columns_of(page.lines[end + 1])
        if _is_computed(page.lines[end + 1], columns) or _is_row_above_sum(page.lines[end], more, columns):
            break
        rulers.append(more)
        found += headings_of(page.lines[end : end + 1], page.lines[end + 1], more)
        end += 2
    grid = Grid(tuple(found), tuple(rulers), [], 1, top, end, _title(page, top, text_from))
    grid.is_collapsed = len(rulers) == 1 and are_collapsed(page.lines[top:ruler], columns)
    page.assign(top, end, LineRole.HEADING)
    grid.last = _read_rows(page, grid, page.lines[top:end], is_typed=is_typed)
    if len(rulers) > 1:
        unfold(page, grid)
    return grid


def _is_heading(page: Page, number: int, columns: tuple[Column, ...]) -> bool:
    line = page.lines[number]
    is_text = page.kinds[number] == Kind.TEXT and not is_counted(page, number)
    return is_text and fits(line, columns) and len(line) <= columns[-1].end


def is_counted(page: Page, number: int) -> bool:
    """Does a line begin with the number that follows the first or the last of the line above, as those of a text do?"""
    first = page.lines[number].lstrip().partition(" ")[0]
    if not first.isdecimal() or len(first) > _DIGITS or not number:
        return False
    above = page.lines[number - 1].split()
    return any(
        one.isdecimal() and len(one) < _DIGITS and int(one) + 1 == int(first) for one in (*above[:1], *above[-1:])
    )


def _is_title(page: Page, ruler: int, column: Column) -> bool:
    """Is the text above a single run of dashes underlined text, not the heading of a column?"""
    above = page.lines[ruler - 1].strip()
    if page.kind(ruler + 1) == Kind.BLANK and len(above) == column.end - column.start:
        return True
    if page.kind(ruler + 1) == Kind.RULER:
        return True
    if page.kind(ruler + 1) != Kind.TEXT:
        return False
    is_underlined = len(above) == column.end - column.start
    if page.kind(ruler + 2) == Kind.RULER:
        below = columns_of(page.lines[ruler + 2])
        # of folded columns the client puts as many into a line as it can
        is_apart = is_underlined and column.end + 1 + below[0].end - below[0].start <= below[-1].end
        return len(below) > 1 and (len(above) < column.end - column.start or is_apart)
    return is_underlined and _has_figures_beside(page.lines[ruler + 1], column)


def _has_figures_beside(line: str, column: Column) -> bool:
    """Goes a line on with figures at the right of a column?"""
    return len(line.rstrip()) > column.end and NUMBER.fullmatch(line.rsplit(None, 1)[-1]) is not None


def _title(page: Page, top: int, text_from: int) -> str:
    """The text just above a heading, over at most one blank line and rules of dashes."""
    number = top - 1
    while number >= 0 and page.kinds[number] in GAPS and top - number < 3:
        number -= 1
    if section := section_above(page, top):
        return section
    texts: list[str] = []
    while number >= max(text_from - 4, 0) and page.roles[number] == LineRole.TEXT and len(texts) < 3:
        texts.insert(0, page.lines[number].strip())
        number -= 1
    return "\n".join(texts)


def _read_rows(page: Page, grid: Grid, heading: list[str], *, is_typed: bool) -> int:
    """Collect the rows; the line after the last."""
    number = end = head = grid.last
    size = len(page)
    pages: list[tuple[int, tuple[Column, ...]]] = []
    kinds, roles, rows = page.kinds, page.roles, grid.rows
    while number < size:
        kind = kinds[number]
        if kind == Kind.TEXT:
            if _repeats(page, number, heading):
                if not _is_next_page(page, grid, head, number, shortest=1 if is_typed else 2):
                    break
                number = end = head = _skip_heading(page, grid, number, len(heading))
                continue
            if _is_page_of_other_widths(page, grid, number, heading, is_typed=is_typed):
                heading = page.lines[number : number + 2]
                pages.append((len(rows), columns_of(heading[1])))
                number = end = head = _skip_heading(page, grid, number, len(heading))
                continue
            end = _next_heading(page, number, _TEXTS(kinds, number).end(), heading)
            if grid.is_of_client:  # at an empty prompt, the next statement follows directly
                end = next((place for place in range(number, end) if starts_statement(page.lines[place])), end)
                if end == number:
                    break
            page.assign(number, end, LineRole.ROW)
            rows.extend(range(number, end))
            number = end
        elif kind == Kind.BLANK:
            number = page.after_blanks(number)
            if (
                number < size
                and not _goes_on(page, grid, number, heading)
                and not _is_page_of_other_widths(page, grid, number, heading, is_typed=is_typed)
            ):
                break
        elif kind in ENDS and not (kind == Kind.ERROR and _CODED.match(page.lines[number])):
            break
        elif kind == Kind.RULER:
            # within a grid: COMPUTE's above a sum, under some of the columns, or one above a total
            if not set(columns_of(page.lines[number])) <= {*grid.rulers[0]} or not _is_first_total(page, grid, number):
                break
            roles[number] = LineRole.HEADING
            number = end = number + 1
            grid.totals = grid.totals.union(_totals(page, number))
        elif kind in _NO_ROWS:
            if kind == Kind.ELISION:
                page.note(number, "missing", "rows were left out here by hand; how many is unknown")
                grid.is_elided = True
            number += 1
        else:
            roles[number] = LineRole.ROW
            rows.append(number)
            number = end = number + 1
    if pages:
        _cut_pages(page, grid, pages)
    return end


def _is_page_of_other_widths(page: Page, grid: Grid, number: int, heading: list[str], *, is_typed: bool) -> bool:
    """Is the heading printed again over columns of other widths, as SQLcl does, which fits them to each page?

    Its rulers are of underscores by default; with dashes, only the result of a query that was typed is known to be one.
    """
    ruler = page.kind(number + 1) == Kind.RULER and page.lines[number + 1]
    return (
        ruler is not False
        and len(heading) == 2
        and len(grid.rows) > 1
        and (is_typed or ruler.lstrip().startswith("_"))
        and page.lines[number].split() == heading[0].split()
        and len(columns_of(ruler)) == len(grid.rulers[0])
    )


def _cut_pages(page: Page, grid: Grid, pages: list[tuple[int, tuple[Column, ...]]]) -> None:
    """Give a grid its cells, cut on each page at that page's ruler.

    Args:
        page: the page of lines.
        grid: the grid; its ruler is the first page's.
        pages: of each further page the place of its first row among the rows, and its columns.
    """
    start, columns = 0, grid.rulers[0]
    for end, following in (*pages, (len(grid.rows), columns)):
        grid.cells += [cut_cells(page.lines[number], columns) for number in grid.rows[start:end]]
        start, columns = end, following


def _repeats(page: Page, number: int, heading: list[str]) -> bool:
    return page.lines[number] == heading[0] and page.lines[number : number + len(heading)] == heading


def _is_next_page(page: Page, grid: Grid, head: int, number: int, *, shortest: int) -> bool:
    """Is a heading that is printed again the next page's, not another result's of the same query?

    Pages are equally long and hold more than one row, and one blank line stands between them (SET NEWPAGE); a folded
    row has a blank line of its own after it.  Between two results stand the blank lines of both.

    Args:
        page: the page.
        grid: the grid so far.
        head: the line after the heading above.
        number: the line where the heading begins again.
        shortest: a page has this many lines below its heading.
    """
    last = number - 1
    while last > head and page.kinds[last] == Kind.BLANK:
        last -= 1
    is_folded = len(grid.rulers) > 1
    length = number - head
    blanks = 1 + (len(grid.rulers) if is_folded else 0)
    if last - head + 1 < shortest or number - last - 1 > blanks:
        return False
    if grid.page_length is None:
        grid.page_length = length
    return is_folded or length == grid.page_length or abs(length - grid.page_length) <= _UNEVEN * length


def _next_heading(page: Page, number: int, stop: int, heading: list[str]) -> int:
    """Where the heading is printed again in the lines up to `stop`; `stop` when it is not."""
    try:
        while True:
            number = page.lines.index(heading[0], number, stop)
            if _repeats(page, number, heading):
                return number
            number += 1
    except ValueError:
        return stop


def _skip_heading(page: Page, grid: Grid, number: int, height: int) -> int:
    page.assign(number, number + height, LineRole.HEADING)
    grid.pages += 1
    return number + height


def _goes_on(page: Page, grid: Grid, number: int, heading: list[str]) -> bool:
    """Does the grid go on after a blank line?"""
    kind = page.kinds[number]
    if _repeats(page, number, heading) or kind == Kind.ELISION:
        return True
    if kind == Kind.COMMENT:
        return _goes_on_below_remarks(page, grid, number)
    if kind == Kind.RULER:
        return (
            set(columns_of(page.lines[number])) < set(grid.rulers[0])
            and page.lines[number].split() != heading[-1].split()
        )
    if (
        grid.is_of_client
        or page.lines[number].startswith(_RESULT_SET)
        or is_numbered(page, number)
        or is_quoted_error(page, number)
    ):
        return False
    if len(grid.rulers) > 1 and kind == Kind.TEXT:
        fitting = any(fits_ruler(page.lines[number], columns) for columns in grid.rulers)
        return fitting and not _heads_ruler(page, number, grid.rulers[0])
    if kind != Kind.TEXT or _heads_ruler(page, number, grid.rulers[0]):
        return False
    if grid.rows and is_alike(page.lines[number], page.lines[grid.rows[0]], grid.rulers[0]):
        return True
    return _are_rows(page, number, grid.rulers[0], fewest=_FEWEST_COLUMNS if grid.rows else 1)


def _goes_on_below_remarks(page: Page, grid: Grid, number: int) -> bool:
    """Stands a whole row with numbers where others have them below remarks that somebody wrote among the rows?"""
    while page.kind(number) == Kind.COMMENT:
        number += 1
    columns = grid.rulers[0]
    if len(columns) < _FEWEST_COLUMNS or not grid.rows or page.kind(number) != Kind.TEXT:
        return False
    line, model = page.lines[number], page.lines[grid.rows[0]]
    has_numbers = any(map(NUMBER.fullmatch, cut_cells(model, columns)))
    return has_numbers and all(cut_cells(line, columns)) and is_alike(line, model, columns)


def _are_rows(page: Page, number: int, columns: tuple[Column, ...], *, fewest: int) -> bool:
    """Do all lines up to the client's feedback fit at least this many columns, and fill most of them?

    Then they are rows, whatever rows above hold.
    """
    if len(columns) < fewest:
        return False
    for place in range(number, min(number + _FARTHEST_FEEDBACK, len(page))):
        kind, line = page.kinds[place], page.lines[place]
        if kind == Kind.FEEDBACK:
            return True
        if (
            kind == Kind.TEXT
            and fits_ruler(line, columns)
            and sum(map(bool, cut_cells(line, columns))) * 2 > len(columns)
        ):
            continue
        if kind != Kind.BLANK:
            return False
    return False


def _heads_ruler(page: Page, number: int, columns: tuple[Column, ...]) -> bool:
    """Is the text from here on the heading of another grid?"""
    place = number
    while place < number + _TALLEST_HEADING and page.kind(place) == Kind.TEXT:
        place += 1
    return page.kind(place) == Kind.RULER and not _is_computed(page.lines[place], columns)


def _is_computed(line: str, columns: tuple[Column, ...]) -> bool:
    """Is this ruler COMPUTE's for sure: has it stars, or no dashes under the first column?"""
    return "*" in line or columns_of(line)[0].start > columns[0].start


def is_alike(row: str, model: str, columns: tuple[Column, ...]) -> bool:
    """Does a row fit the ruler, with numbers where another row has numbers?"""
    if not fits(row, columns) or len(row.rstrip()) > columns[-1].end + 80:
        return False
    cells, models = cut_row(row, columns).cells, cut_row(model, columns).cells
    if len(columns) == 1:
        return NUMBER.fullmatch(models[0]) is None or NUMBER.fullmatch(cells[0]) is not None
    return all(
        not cell or NUMBER.fullmatch(cell.split()[0]) is not None
        for cell, other in zip(cells, models, strict=True)
        if other and NUMBER.fullmatch(other)
    )


def _is_row_above_sum(line: str, below: tuple[Column, ...], columns: tuple[Column, ...]) -> bool:
    """Is the line above a ruler a row, and the ruler COMPUTE's, not the next one of folded headings?"""
    return set(below) <= set(columns) and any(NUMBER.fullmatch(cell) for cell in cut_cells(line, columns) if cell)


def _totals(page: Page, number: int) -> Iterator[int]:
    """The lines of sums below a ruler within a grid: the first, and others with the labels of further functions."""
    if page.kind(number) == Kind.TEXT:
        yield number
        while page.kind(number + 1) == Kind.TEXT and _SUM_LABEL.match(page.lines[number + 1]):
            number += 1
            yield number


def _is_first_total(page: Page, grid: Grid, number: int) -> bool:
    """Is a ruler under all columns the one above a total, which the same ruler may close?

    The ruler that closes it becomes part of the heading, so that it is not read again.
    """
    columns = grid.rulers[0]
    if set(columns_of(page.lines[number])) != set(columns):
        return True
    if len(columns) == 1:
        return False
    if grid.totals:
        page.roles[number] = LineRole.HEADING
        return False
    return page.kind(number + 1) == Kind.TEXT and fits_ruler(page.lines[number + 1], columns)
