"""Signs that lines of a session are missing, or that two sessions were put together: what the client never prints so.

The client prints the parts of each statement whole and in one order, and the same parts for each statement until SET
changes that.  What contradicts it is a diagnostic:

* `no_owner`: a feedback that another kind of statement than the one typed above it has; it is a statement's of
  its own then (`split_feedback`);
* `missing`: no Elapsed, feedback or statistics, where the statements of the same kind before and after it have
  one and no command of the client stands between them;
* `sum`: the feedback and the statistics of autotrace count different rows;
* `cut`: a plan without its first rows, with a gap in them or without the line that ends its table, and parts
  of a plan that stand below no heading;
* `cut`: statistics of autotrace below no heading, or a line of a typed statement whose number does not follow;
* `sum`: results of a query that have other rows together than the client counts;
* `no_heading`: lines of figures that stand in no table;
* `no_owner`: an Elapsed below no text of a statement, in a log that shows the one of the statement before;
* `missing`: a heading without a row, which the client does not print;
* `misplaced`: a row that does not stand below the ruler as most rows of its result do;
* `missing`: a feedback or an Elapsed directly below a row, where the session has a blank line above the others.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from logframe import Column, columns_of, fits
from logframe.wording import counted
from sqlplusparse.cells import cut_cells, is_guess
from sqlplusparse.frames import unread_rows
from sqlplusparse.grids import is_counted
from sqlplusparse.lines import LISTS, NUMBER, NUMBERED_LINE, SQL_ID_ALONE, WIDE_GAP, Kind, Pattern
from sqlplusparse.page import LineRole
from sqlplusparse.plans import OLD_ROW, is_cut, is_heading
from sqlplusparse.predicates import PLAN_GRAMMAR
from sqlplusparse.records import Autotrace, Block, Grid, Outcome, Plan, Typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlplusparse.page import Page
    from sqlplusparse.records import Statement


#: Lines that end with a figure and have this many are a table's where there are this many of them.
_FEWEST_FIGURES: Final = 2
_FEWEST_LINES: Final = 2
#: Lines of a text and a figure are a table's where this many end in one column.
_FEWEST_ALIGNED: Final = 3
#: What the client prints below a result.
_BELOW_ROWS: Final = frozenset({Kind.ELAPSED, Kind.FEEDBACK, Kind.PLAN_HEADING})
_TEXTS: Final = re.compile(
    re.escape(bytes([LineRole.TEXT])) + b"[" + re.escape(bytes([LineRole.TEXT, LineRole.BLANK])) + b"]*"
)
_LIST: Final = Pattern("{COMMA}", LISTS)
#: What a feedback stands between.
_AROUND_FEEDBACK: Final = frozenset({Kind.BLANK, Kind.ELAPSED, Kind.PROMPT})
#: Roles of lines that nothing was read from.
_UNTYPED: Final = frozenset({LineRole.TEXT, LineRole.COMMENT})
_NEARLY_FEEDBACK: Final = Pattern("{NEARLY_FEEDBACK}", LISTS)
_NEARLY_CLOCK: Final = Pattern("{NEARLY_CLOCK}", LISTS)
#: A line of Snapper's statistics, whatever their type, and what the end of its snapshots says.
_SNAPPER_ROW: Final = Pattern("{DIGITS}(?:{GAP}{INSTANCE})?{COMMA}(?:{FIELD}{COMMA}){3}")
_SNAPPER_END: Final = Pattern("--.*{SNAPPER_SECONDS}{DIGITS}")


def note_loose_figures(page: Page) -> None:
    """Add a diagnostic where lines of figures stand in no table."""
    for found in _TEXTS.finditer(page.roles):
        numbers = [number for number in range(*found.span()) if page.lines[number]]
        lines = [number for number in numbers if _has_figures(page, number)]
        if numbers and page.kinds[max(numbers[0] - 2, 0)] == Kind.STATISTICS_HEADING:
            page.note(numbers[0], "cut", "this line below the heading of statistics is not one of them")
        beside = [number for number in numbers if _is_beside_rows(page, number)]
        if beside:
            page.note(beside[0], "unparsed", f"{counted(len(beside), 'line')} among rows; the figures are not read")
        if len(lines) < _FEWEST_LINES and not any(_is_below_ruler(page, one) or _is_wide(page, one) for one in lines):
            lines = _rows_of_names(page, numbers)
        if lines:
            reason = f"figures in {counted(len(lines), 'line')} stand below no heading with a ruler; they are text"
            page.note(lines[0], "no_heading", reason)
        nearly = [number for number in numbers if is_nearly_printed(page, number)]
        if nearly:
            reason = f"{counted(len(nearly), 'line')} like a feedback or an Elapsed, but not as a client prints them"
            page.note(nearly[0], "unparsed", reason)
    if Kind.SNAPPER_ROW in page.kinds:
        for number, role in enumerate(page.roles):
            line = page.lines[number].strip() if role in _UNTYPED else ""
            if _SNAPPER_ROW.match(line) or _SNAPPER_END.match(line):
                page.note(number, "unparsed", "nearly a line of Snapper; its figures are not read")


def _is_beside_rows(page: Page, number: int) -> bool:
    """Does a line end with a figure, between rows or beside one that ends, or has its colon, at the same place?"""
    line = page.lines[number]
    if not line.split()[-1][0].isdigit():
        return False
    around = [one for one in (number - 1, number + 1) if 0 <= one < len(page) and page.roles[one] == LineRole.ROW]
    return len(around) > 1 or any(_has_ends_of(line, page.lines[one]) for one in around)


def _has_ends_of(line: str, other: str) -> bool:
    """Are the ends of two lines, or their first colons, below each other?"""
    colon = line.find(" : ")
    return len(line) == len(other) if colon < 0 else colon == other.find(" : ")


def is_nearly_printed(page: Page, number: int) -> bool:
    """Is a line an Elapsed, or by itself a feedback with a number of rows, but for a word?"""
    line = page.lines[number].strip()
    if ":" in line and line[-1].isdigit():
        return _NEARLY_CLOCK.fullmatch(line) is not None
    if line[-1:] != "." or not _NEARLY_FEEDBACK.fullmatch(line):
        return False
    return page.kind(max(number - 1, 0)) in _AROUND_FEEDBACK and page.kind(number + 1) in _AROUND_FEEDBACK


def _rows_of_names(page: Page, numbers: list[int]) -> list[int]:
    """Lines of a text that end with a figure at the right of a column, or one directly above the end of a result.

    A program that prints tables of its own underlines their titles with equals signs, as no client does.
    """
    ends = [number for number in numbers if _ends_with_figure(page, number)]
    aligned = Counter(len(page.lines[number]) for number in ends)
    width, count = aligned.most_common(1)[0] if aligned else (0, 0)
    if count >= _FEWEST_ALIGNED and all(page.lines[number].strip("= ") for number in numbers):
        return [number for number in ends if len(page.lines[number]) == width]
    below = page.after_blanks(numbers[-1] + 1) if numbers else len(page)
    return numbers[-1:] if ends[-1:] == numbers[-1:] and page.kind(below) in _BELOW_ROWS else []


def _ends_with_figure(page: Page, number: int) -> bool:
    """Is the last cell of a line a number, and not that of a line of a script?"""
    line = page.lines[number]
    return "  " in line and _is_number(WIDE_GAP.compiled.split(line)[-1]) and not is_counted(page, number)


def _is_wide(page: Page, number: int) -> bool:
    """Has a line figures at both ends and one between them, and more than blanks in between?"""
    words = page.lines[number].split()
    count = sum(map(_is_number, words))
    return _FEWEST_FIGURES < count < len(words) and _is_number(words[0]) and _is_number(words[-1])


def _is_below_ruler(page: Page, number: int) -> bool:
    """Does a line stand directly below the ruler of several columns, and fit it?"""
    above = number - 1
    if above < 0 or page.kinds[above] != Kind.RULER:
        return False
    columns = columns_of(page.lines[above])
    return len(columns) > 1 and fits(page.lines[number], columns)


def _has_figures(page: Page, number: int) -> bool:
    """Are all words of a line numbers, or half of its cells or several of many, as in a row of a table?"""
    line = page.lines[number]
    words = line.split()
    if not (_is_number(words[0]) or _is_number(words[-1])):
        return False
    cells = WIDE_GAP.compiled.split(line.strip())
    count = sum(map(_is_number, words))
    if min(count, len(cells) - 1) > _FEWEST_FIGURES:
        return True
    if not line[-1].isdigit() or _LIST.search(line):  # a text may follow the figures
        return count > _FEWEST_FIGURES and "   " in line.lstrip() and all(map(_is_number, words[:3]))
    if not _is_number(words[-1]):
        return False
    if count == len(words):
        return count > 1 or (line[0] == " " and not is_counted(page, number))
    if len(cells) > 1 and count >= _FEWEST_FIGURES and 2 * count >= len(words) and not is_counted(page, number):
        return True
    # the first cell may number a line of a statement
    alone = sum(map(_is_number, cells[1:]))
    return alone >= _FEWEST_FIGURES and 2 * alone >= len(cells)


def _is_number(word: str) -> bool:
    """Is a word a number and nothing else?"""
    return (word[:1].isdigit() or word[-1:].isdigit()) and NUMBER.fullmatch(word) is not None


_ID: Final = Pattern("{BAR}(?P<mark>[^0-9|]*)(?P<id>{UP_TO_9_DIGITS})[^0-9|]*{BAR}", PLAN_GRAMMAR)
_DOUBLE_RULE: Final = Pattern("{DOUBLE_RULE}", PLAN_GRAMMAR)
_TWO_RULERS: Final = bytes((Kind.RULER, Kind.RULER))
_ADAPTIVE: Final = "adaptive plan"
_PREDICATES: Final = "Predicate Information"


def note_plan(page: Page, block: Block, plan: Plan) -> None:
    """Add a diagnostic where a plan is not whole."""
    if plan.operations and (problem := _problem_of(page, block, plan)):
        page.note(block.first, "cut", f"this plan is not whole: {problem}")
    for line in unread_rows(plan):
        page.note(line, "cut", "figures of this row of a plan are not read")


def _problem_of(page: Page, block: Block, plan: Plan) -> str:
    found = [one for one in (_ID.match(operation.text) for operation in plan.operations) if one is not None]
    ids = [int(one["id"]) for one in found]
    if ids[:1] != [0]:
        return "its first rows are missing"
    if any(after != before + 1 for before, after in pairwise(ids)) and not any(
        _ADAPTIVE in note for note in plan.notes
    ):
        return "rows within it are missing"
    if plan.layout == "old":
        return "its last row does not end" if is_cut(plan.operations[-1].text) else ""
    if not _is_opened(page, block):
        return "the line above its headings is missing"
    if _is_section_empty(page, block):
        return "a section below it has no line"
    if not _is_closed(page, plan.operations[-1].line):
        return "the line that ends its table is missing"
    if not _is_headed(page, block):
        return "what stands above its hash value is missing"
    if _has_predicates(page, block):
        starred = {int(one["id"]) for one in found if "*" in one["mark"]}
        if starred - plan.predicates.keys():
            return "predicates of its rows are missing"
        if plan.predicates and is_cut(plan.predicates[max(plan.predicates)][-1]):
            return "its last predicate does not end"
    return ""


def _is_opened(page: Page, block: Block) -> bool:
    """Does a ruler stand above the headings of a plan?"""
    heads = (number for number in range(block.first, block.last) if page.kinds[number] == Kind.PLAN_ROW)
    heading = next((number for number in heads if is_heading(page.lines[number])), block.first)
    number = heading - 1
    while number > 0 and page.kinds[number] == Kind.BLANK:
        number -= 1
    if number > block.first and page.kinds[number - 1 : heading] == _TWO_RULERS:
        # the line size cuts a ruler where it cuts the headings
        return len(page.lines[number]) != len(page.lines[heading])
    return _is_rule(page, number)


def _is_headed(page: Page, block: Block) -> bool:
    """Is the line above a hash value, with which a plan begins, blank, a heading, or none of a statement's text?"""
    above = block.first - 1
    return above < 0 or page.kinds[block.first] != Kind.PLAN_HASH or page.kinds[above] != Kind.TEXT


def _is_section_empty(page: Page, block: Block) -> bool:
    """Does a plan end with the heading of a section, or the ruler below it?"""
    kinds = page.kinds[block.last - 2 : block.last]
    return kinds[-1] == Kind.PLAN_SECTION or kinds == bytes((Kind.PLAN_SECTION, Kind.RULER))


def _has_predicates(page: Page, block: Block) -> bool:
    """Has a plan a section of predicates?"""
    number = page.kinds.find(Kind.PLAN_SECTION, block.first, block.last)
    while number >= 0:
        if page.lines[number].lstrip().startswith(_PREDICATES):
            return True
        number = page.kinds.find(Kind.PLAN_SECTION, number + 1, block.last)
    return False


def _is_closed(page: Page, number: int) -> bool:
    """Does a ruler follow the last row of a plan, which may be cut into several lines?"""
    number += 1
    while number < len(page) and (page.kinds[number] == Kind.BLANK or page.roles[number] == LineRole.PLAN):
        number += 1
    return number < len(page) and _is_rule(page, number)


def _is_rule(page: Page, number: int) -> bool:
    """Is a line a rule from the left to the right of a plan's table?"""
    line = page.lines[number]
    return (page.kinds[number] == Kind.RULER and " " not in line.strip()) or _DOUBLE_RULE.fullmatch(line) is not None


#: Of this many rows one may be of another kind by mistake.
_FEWEST_ALIKE: Final = 10
_FEWEST_COLUMNS: Final = 3
_REMARK: Final = "<--"
#: This many rows of one width and form are one result's.
_FEWEST_FITTING: Final = 3


def note_misplaced_rows(page: Page, grid: Grid) -> None:
    """Add a diagnostic where rows do not stand below the ruler of a result, where others do."""
    columns = grid.rulers[0]
    if _are_figures(grid.headings) or _is_beside(page, grid):
        page.note(grid.first, "misplaced", "the lines above this ruler are no headings of its columns")
    for number in _below_blank_lines(page, grid) if len(grid.rows) > 1 else ():
        if is_nearly_printed(page, number):
            page.note(number, "misplaced", "a row like a feedback or an Elapsed, but not as a client prints them")
    if len(grid.rulers) > 1 or grid.cells:
        return
    if grid.is_collapsed or (len(grid.rows) == 1 and not fits(page.lines[grid.rows[0]], columns)):
        _note_guesses(page, grid, columns)
    if grid.is_collapsed or len(grid.rows) == 1:
        return
    misplaced = _outside(page, grid, columns)
    is_other = False
    if len(columns) == 1 and misplaced and grid.rows[0] not in misplaced:
        first = page.lines[grid.rows[0]][columns[0].start :]
        is_other = _rowsigns_is_number(first, columns[0].end - columns[0].start)
    if misplaced and len(misplaced) * 2 >= len(grid.rows) and not (is_other or _is_tail(grid, misplaced)):
        _note_guesses(page, grid, columns)
        return
    if not misplaced:
        misplaced = [number for number in grid.rows if _ends_between(page.lines[number], columns)]
    if not misplaced:
        misplaced = [*_no_numbers(page, grid)] or [*_below_sums(page, grid)] or _text_alone(page, grid)
    if not misplaced and not grid.totals and len(columns) > 1:
        misplaced = _of_other_types(page, grid)
    if misplaced:
        reason = f"{len(misplaced)} of {len(grid.rows)} rows do not stand below the ruler; they may be another result's"
        page.note(misplaced[0], "misplaced", reason)


def _below_blank_lines(page: Page, grid: Grid) -> Iterator[int]:
    """Rows with a blank line above."""
    blank = page.kinds.find(Kind.BLANK, grid.rows[0], grid.rows[-1]) if grid.rows else -1
    while blank >= 0:
        if page.kinds[blank + 1] != Kind.BLANK:
            yield blank + 1
        blank = page.kinds.find(Kind.BLANK, blank + 1, grid.rows[-1])


def _note_guesses(page: Page, grid: Grid, columns: tuple[Column, ...]) -> None:
    """Add a diagnostic where rows are shifted off the ruler and more than one reading is possible."""
    guesses = [number for number in grid.rows if is_guess(page.lines[number], columns, is_collapsed=grid.is_collapsed)]
    if guesses:
        reason = f"{len(guesses)} of {len(grid.rows)} rows do not stand below the ruler; cells may be in other columns"
        page.note(guesses[0], "misplaced", reason)


def _outside(page: Page, grid: Grid, columns: tuple[Column, ...]) -> list[int]:
    """Rows that are longer than the only column, or stand across the gaps between columns."""
    if len(columns) == 1:
        return [number for number in grid.rows if len(page.lines[number]) > columns[0].end]
    return [number for number in grid.rows if not fits(page.lines[number], columns)]


def _ends_between(line: str, columns: tuple[Column, ...]) -> bool:
    """Does a line end with a number, after several blanks, that neither begins nor ends where a column does?"""
    end = len(line.rstrip())
    if end >= columns[-1].end or not line[end - 1 : end].isdigit():
        return False
    start = line.rfind("  ", 0, end) + 2
    return (
        start > 1
        and NUMBER.fullmatch(line[start:end]) is not None
        and not (any(start == column.start or end == column.end for column in columns))
    )


def _is_tail(grid: Grid, misplaced: list[int]) -> bool:
    """Do some rows fit, and none below the first that does not?"""
    return len(grid.rows) - len(misplaced) >= _FEWEST_FITTING and grid.rows[-len(misplaced) :] == misplaced


def _no_numbers(page: Page, grid: Grid) -> Iterator[int]:
    """Rows whose cell does not end, or is no number, where the heading and most rows say that the column has numbers.

    The client puts the heading of numbers at the right of its column, that of texts at the left.
    """
    above = page.lines[grid.first : grid.rows[0]] if grid.rows else []
    if len(above) != 2:
        return
    for start, end in grid.rulers[0]:
        heading = above[0][start:end]
        if len(heading) != end - start or heading[0] != " " or heading[-1] == " ":
            continue
        cells = [(number, page.lines[number][start:end]) for number in grid.rows]
        others = [number for number, cell in cells if not _rowsigns_is_number(cell, end - start)]
        if others and len(others) * 2 < len(cells):
            yield from others
            return


def _rowsigns_is_number(cell: str, width: int) -> bool:
    """Is this a number at the right of its column, or nothing?"""
    text = cell.strip()
    return not text or (
        len(cell) == width and cell[-1] != " " and (NUMBER.fullmatch(text) is not None or text[0] == "#")
    )


def _below_sums(page: Page, grid: Grid) -> Iterator[int]:
    """Rows below the ruler of COMPUTE that have nothing under its dashes."""
    for number in grid.rows if grid.totals else ():
        ruler = number - 1
        if ruler > grid.rows[0] and page.kinds[ruler] == Kind.RULER:
            line = page.lines[number]
            if not any(line[start:end].strip() for start, end in columns_of(page.lines[ruler])):
                yield number


def _text_alone(page: Page, grid: Grid) -> list[int]:
    """The last row, where it alone has a text in the first column and no number in the last one."""
    columns = grid.rulers[0]
    if len(columns) < _FEWEST_COLUMNS or len(grid.rows) < _FEWEST_FITTING:
        return []
    start = columns[-1].start
    cells = [page.lines[number][start:].strip() for number in grid.rows]
    is_alone = not cells[-1] and not page.lines[grid.rows[-1]][columns[0].end :].strip()
    return grid.rows[-1:] if is_alone and all(map(NUMBER.fullmatch, filter(None, cells[:-1]))) else []


def _is_figure(cell: str) -> bool:
    """Is a cell empty, a number, or too wide for its column; a remark may follow it?"""
    return NUMBER.fullmatch(cell.partition(_REMARK)[0].rstrip()) is not None or not cell.strip("#")


@lru_cache(maxsize=1 << 10)
def _are_figures(headings: tuple[str, ...]) -> bool:
    """Are several figures one below another in the heading of a column, or in those of two the same figure?"""
    figures = [words for words in map(str.split, headings) if words and all(map(NUMBER.fullmatch, words))]
    return any(len(words) > 1 for words in figures) or len({*map(tuple, figures)}) < len(figures)


def _is_beside(page: Page, grid: Grid) -> bool:
    """Does the line above the ruler of a single column have text before it, or have most columns no heading?"""
    columns, above = grid.rulers[0], page.lines[grid.first]
    if len(columns) == 1:
        before = above[: columns[0].start]
        return before[-1:] == " " and before.strip() != ""
    return 2 * sum(map(bool, grid.headings)) < len(grid.headings)


def _of_other_types(page: Page, grid: Grid) -> list[int]:
    """Rows with a text in a column that has numbers in nearly all rows of a result."""
    if len(grid.rows) < _FEWEST_ALIKE:
        return []
    rows = [cut_cells(page.lines[number], grid.rulers[0]) for number in grid.rows]
    found: set[int] = set()
    for cells in zip(*rows, strict=True):
        others = [place for place, cell in enumerate(cells) if not _is_figure(cell)]
        if len(others) * _FEWEST_ALIKE <= sum(map(bool, cells)):
            found.update(others)
    return [grid.rows[place] for place in sorted(found)]


_DML: Final = frozenset({"insert", "update", "delete", "merge"})
#: Kinds of statements that autotrace counts for.
_TRACED: Final = _DML | {"select"}
#: Kinds of what is typed that the client, or a program it calls, prints anything for.
_FREE: Final = frozenset({"command", "host", None})
#: Kinds of statements whose feedback counts rows of what was done, or says that a block has ended, or that it was done.
_TOKENS: Final = {"select": "SELECTED", "plsql": "CALLED", **dict.fromkeys(_DML, "CHANGED")}
_RESULTS: Final = frozenset({"SELECTED", "CHANGED", "CALLED", "DONE", "CLOSED", "GRID"})
#: By default the client says how many rows a query has when it has so many.
_COUNTED_ROWS: Final = 6
#: Roles of lines that the client puts a blank line below, before the statistics.
_PRINTED: Final = frozenset({LineRole.ROW, LineRole.PLAN, LineRole.ELAPSED, LineRole.FEEDBACK})
#: Between statements with one of these the client may have been set to print other parts.
_CHANGES: Final = frozenset({"COMMAND", "COMMAND_ERROR", "UNOWNED", "TIMER"})
#: This many feedbacks stand below a blank line for one that does not.
_MOST_DIRECT: Final = 4
_LOOSE_ROLE: Final = re.compile(b"[" + re.escape(bytes([LineRole.TEXT, LineRole.ROW])) + b"]")
_END_OF_ROWS: Final = re.compile(b"[" + re.escape(bytes([LineRole.FEEDBACK, LineRole.ELAPSED])) + b"]")
_DIRECT: Final = re.compile(re.escape(bytes([LineRole.ROW])) + b"(?=" + _END_OF_ROWS.pattern + b")")
_ENDS_OF_TEXT: Final = frozenset(";/.")
_ENDS_WITH_NUMBER: Final = Pattern("{DIGITS}$", PLAN_GRAMMAR)
#: The last signs of a row of an old plan.
_ENDS_OF_ROW: Final = frozenset(")'")
_LOOSE_ROW: Final = Pattern("{BAR}{OPERATION_ID}{BAR} *[A-Z]", PLAN_GRAMMAR)
_PREDICATE: Final = Pattern("{PREDICATE_LINE}", PLAN_GRAMMAR)
_SOURCE_ROW: Final = Pattern("{ROW_SOURCE}", PLAN_GRAMMAR)


def split_feedback(page: Page, blocks: list[Block]) -> None:
    """End a statement that was typed before the result or feedback that another kind of statement has.

    What follows is then a statement that is not echoed; its Elapsed and statistics are its own.
    """
    typed: Typed | None = None
    split: list[Block] = []
    for block in blocks:
        token, content = block.token, block.content
        if token not in _RESULTS:
            if isinstance(content, Typed):
                typed = content
            elif token in {"COMMAND", "INPUT", "BREAK"}:
                typed = None
        elif typed is not None:
            if (typed.prompt is not None or token != "GRID") and _is_other(typed.kind, token, content):
                first = block.first
                what = "a result" if token == "GRID" else "this feedback"
                page.note(first, "no_owner", f"{what} is no {typed.kind} statement's; lines may be missing above")
                split.append(Block("BREAK", first, first))
                typed = None
            elif token != "GRID" or (typed.prompt is None and typed.kind != "select"):
                typed = None
        split.append(block)
    blocks[:] = split


def _is_other(kind: str | None, token: str, content: object) -> bool:
    """Does a result or feedback contradict the kind of statement that was typed?"""
    if kind in _FREE:
        return False
    if token == "GRID":
        return kind not in {"select", "plsql"}
    verb = content.verb if isinstance(content, Outcome) else None
    if kind in _DML:
        return verb != kind
    return token != _TOKENS.get(kind or "", "DONE") and (kind in _TOKENS or token != "CLOSED")


def note_missing_lines(page: Page, statements: list[Statement], blocks: list[Block]) -> None:
    """Add the diagnostics of all other signs."""
    _note_missing_parts(page, statements, blocks)
    for statement in statements:
        if statement.autotrace is not None:
            _note_rows(page, statement)
        if statement.prompt is not None and statement.kind == "select":
            _note_query(page, statement)
    for block in blocks:
        content = block.content
        if isinstance(content, Grid):
            note_misplaced_rows(page, content)
            if not content.rows and block.statement is not None and statements[block.statement - 1].prompt is not None:
                page.note(content.first, "missing", "a heading without rows; lines may be missing")
        elif isinstance(content, Plan):
            note_plan(page, block, content)
        elif isinstance(content, Autotrace):
            if page.roles[block.first] == LineRole.STATISTIC:
                if len(content.names) > 1:
                    reason = "no heading stands above these statistics of autotrace"
                    page.note(block.first, "cut", reason)
            elif block.first and page.roles[block.first - 1] in _PRINTED:
                page.note(block.first, "cut", "no blank line stands above these statistics")
    _note_other_rows(page, statements)
    _note_unknown_texts(page, statements)
    _note_loose_lines(page)
    note_loose_figures(page)
    _note_blank_lines(page)


def _note_missing_parts(page: Page, statements: list[Statement], blocks: list[Block]) -> None:
    """Statements without a part that those around them have."""
    ended = [one for one in statements if one.kind not in _FREE and (one.outcome is None or one.outcome.code is None)]
    typed = [one for one in ended if one.prompt is not None]
    others = [one for one in ended if one.kind != "select"]
    queries = [one for one in ended if one.kind == "select"]
    traced = [one for one in ended if one.kind in _TRACED]

    def note(part: str, those: list[Statement], has: Callable[[Statement], bool]) -> None:
        have = list(map(has, those))
        if all(have):
            return
        three = zip(have, have[1:], have[2:], strict=False)
        alone = [place for place, parts in enumerate(three) if parts == (True, False, True)]
        settings = _settings(page, blocks) if alone else {}
        for place in alone:
            before, one, after = those[place : place + 3]
            if settings[before.ordinal] == settings[after.ordinal]:
                if part == "feedback" and one.kind == "select" and not _is_counted(one, (before, after)):
                    continue
                reason = f"no {part}, which the statements before and after this one have; lines may be missing"
                page.note(one.first, "missing", reason)

    note("result", [one for one in typed if one.kind == "select"], _has_result)
    note("Elapsed", typed, lambda one: one.clock is not None)
    note("feedback", others, lambda one: one.outcome is not None)
    note("feedback", queries, lambda one: one.outcome is not None)
    note("statistics", traced, lambda one: one.autotrace is not None)


def _settings(page: Page, blocks: list[Block]) -> dict[int, int]:
    """How often the client may have been set to print other parts before each statement, by its ordinal."""
    settings: dict[int, int] = {}
    changes = 0
    for block in blocks:
        if block.statement is not None:
            settings.setdefault(block.statement, changes)
        elif block.token in _CHANGES or (block.token == "BREAK" and page.kind(block.first) != Kind.PROMPT):
            changes += block.last > block.first
    return settings


def _has_result(query: Statement) -> bool:
    """Has a query a result, a plan or a feedback, or nothing else that the client printed?"""
    return query.results > 0 or query.outcome is not None or query.clock is None or len(query.blocks) > 2


def _is_counted(query: Statement, others: Iterable[Statement]) -> bool:
    """Has a query this many rows that the client, which counted those of others, counts them?"""
    rows = _rows_of(query)
    fewest = min(one.outcome.rows or 0 for one in others if one.outcome is not None)
    return rows is None or rows >= min(_COUNTED_ROWS, fewest or _COUNTED_ROWS)


def _rows_of(statement: Statement) -> int | None:
    """How many rows the results of a statement have; None without a result."""
    grids = _grids_of(statement)
    return sum([grid.selected_count for grid in grids]) if grids else None


def _grids_of(statement: Statement) -> list[Grid]:
    """The results of a statement, without tables within the lines of text that it selected or printed."""
    return [block.content for block in statement.blocks if block.token == "GRID" and isinstance(block.content, Grid)]


def _note_other_rows(page: Page, statements: list[Statement]) -> None:
    """Queries of which the client counted other rows than those of all their results together.

    A query that returns lines of text returns tables within them.
    """
    noted = {note.line for note in page.notes if note.kind == "sum"}
    for statement in statements:
        outcome = statement.outcome
        if outcome is None or outcome.verb != "select" or outcome.rows is None:
            continue
        read = _rows_of(statement)
        if read is None or read == outcome.rows:
            continue
        grids = _grids_of(statement)
        if not noted.intersection(grid.first + 1 for grid in grids):
            reason = f"the client selected {outcome.rows} rows; {read} were read in {len(grids)} results"
            page.note(grids[0].first, "sum", reason)


def _note_unknown_texts(page: Page, statements: list[Statement]) -> None:
    """Statements with an Elapsed of which the log shows no text, where it shows that of the one before."""
    found = [
        statement.clock.line
        for before, statement in pairwise(statements)
        if statement.text is None and statement.clock is not None and before.prompt is not None and before.text
    ]
    if found:
        reason = f"the log does not show which statements these times are of: {len(found)} in all"
        page.note(found[0], "no_owner", reason)


def _note_rows(page: Page, statement: Statement) -> None:
    """Rows counted by autotrace that are not those of the feedback."""
    trace, outcome = statement.autotrace, statement.outcome
    if trace is None or outcome is None or outcome.code is not None or outcome.verb is None:
        return
    counted = trace.rows_processed
    if counted is not None and outcome.rows is not None and counted != outcome.rows:
        reason = f"the feedback counts {outcome.rows} rows, the statistics {counted}; they may be two statements'"
        page.note(trace.lines[-1], "sum", reason)


def _note_query(page: Page, query: Statement) -> None:
    """A query that was typed whose text does not end, or that has two results."""
    typed = query.blocks[0]
    if typed.token == "INPUT" and len(query.blocks) > 1:
        line = page.lines[typed.last - 1].rstrip()
        if line[-1:] not in _ENDS_OF_TEXT and not _ENDS_WITH_NUMBER.search(line):
            page.note(typed.first, "cut", "the text of this query does not end, and what it printed follows")
    if query.results > 1 and query.text is not None:
        grids = [block for block in query.blocks if isinstance(block.content, Grid)]
        if len(grids) > 1:
            page.note(grids[1].first, "no_owner", "a query that was typed has one result; this may be another's")


def _note_loose_lines(page: Page) -> None:
    """Lines of a plan that are in none."""
    is_noted = False
    kinds, roles, before = page.kinds, page.roles, -1
    for found in _LOOSE_ROLE.finditer(roles):
        number = found.start()
        kind = kinds[number]
        if is_noted and kinds[before + 1 : number].count(Kind.BLANK) < number - before - 1:
            is_noted = False  # other lines stand between
        before = number
        line, is_text = page.lines[number], roles[number] == LineRole.TEXT
        if kind == Kind.TEXT:
            last = line[-1:]
            is_loose = bool(
                (last == ")" and _PREDICATE.match(line))
                or (last in _ENDS_OF_ROW and OLD_ROW.fullmatch(line))
                or (is_text and _SOURCE_ROW.fullmatch(line))
            )
        elif kind == Kind.PLAN_ROW:
            is_loose = _LOOSE_ROW.match(line.strip()) is not None or is_heading(line)
        else:
            is_loose = is_text and kind == Kind.SQL_ID and not SQL_ID_ALONE.fullmatch(line.strip())
        if is_loose and not is_noted:
            page.note(number, "cut", "part of a plan, but no plan stands here")
        is_noted = is_noted or is_loose
        if kind == Kind.TEXT and roles[number - 1] == LineRole.INPUT and number and _is_numbered(line):
            page.note(number, "cut", "a line of a statement's text whose number does not follow the one above")


def _is_numbered(line: str) -> bool:
    """Is a line numbered as SQL*Plus numbers the lines of a statement?"""
    found = NUMBERED_LINE.fullmatch(line)
    return found is not None and line[:3].strip().isdigit() and line[3:5] == "  "


def _note_blank_lines(page: Page) -> None:
    """Feedbacks and Elapsed lines directly below a row, where nearly all others are not."""
    direct = [found.end() for found in _DIRECT.finditer(page.roles)]
    if not direct:
        return
    apart = -len(direct)
    for found in _END_OF_ROWS.finditer(page.roles, 1):
        above = found.start() - 1
        while above > 0 and page.kinds[above] == Kind.BLANK:
            above -= 1
        apart += page.roles[above] == LineRole.ROW
    if len(direct) * _MOST_DIRECT <= apart:
        for number in direct:
            reason = "directly below a row, where this session has a blank line elsewhere; lines may be missing"
            page.note(number, "missing", reason)
