"""Classified lines into blocks: the tokens of session.lark.

One pass over the page.  Each step looks at the kind of a line, hands over to the reader of that kind of block, and
continues after it; what nothing claims is text.

Results without a ruler are here, too: CSV (SET MARKUP CSV ON of SQL*Plus, SET SQLFORMAT CSV and DELIMITED of SQLcl),
HTML (SET MARKUP HTML ON) and JSON (SET SQLFORMAT JSON of SQLcl).
"""

from __future__ import annotations

import csv
import json
from typing import Final

from logframe import Column
from logframe.split import csv_cells
from sqlplusparse.autotrace import read_autotrace, read_unheaded
from sqlplusparse.elapsed import LABELS, CustomPattern, explain_clock, language_of, read_clock
from sqlplusparse.feedback import read_failure, read_feedback, read_sql_id
from sqlplusparse.grids import ENDS, read_grid
from sqlplusparse.lines import (
    BEGINNINGS,
    BLOCK_DONE,
    COMMANDS,
    COMMIT_DONE,
    CRAMMED,
    KINDS,
    MAY_BE_FIGURE,
    NEARLY_ELAPSED,
    SECTION_MARKS,
    TYPED_STATISTIC,
    Kind,
    Pattern,
    runs_of,
)
from sqlplusparse.listings import RUNSTATS, read_runstats, read_snapper, read_unruled
from sqlplusparse.page import LineRole, Page
from sqlplusparse.plainqueries import LAST_OF_FIGURE, is_notable, read_plain_grid, read_plain_query
from sqlplusparse.plans import read_plan
from sqlplusparse.records import Block, Grid, Outcome, Plan, Typed
from sqlplusparse.statements import read_bare, read_prompt, starts_statement

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


_AUTOTRACE_ERRORS: Final = frozenset({"SP2-0611", "SP2-0612", "SP2-0613", "SP2-0618", "SP2-0619"})
#: After these, a statement's result begins.
_ASKING: Final = frozenset({"INPUT", "STATEMENT_TEXT"})
_LABELS: Final = tuple(LABELS)


class _Blocks:
    """The pass over a page."""

    def __init__(self, page: Page, custom: CustomPattern | None) -> None:
        self.page = page
        self.custom = custom
        self.found: list[Block] = []
        self.text_from: int | None = None
        self.text_to = 0
        self.timer: str | None = None
        self.delimiter: str | None = None
        self.is_plain = custom is None and not page.prompts

    def read(self) -> list[Block]:
        """The blocks of the page, in order."""
        page, kinds = self.page, self.page.kinds
        readers = {
            Kind.PROMPT: self._read_prompt,
            Kind.ELAPSED: self._read_elapsed,
            Kind.FEEDBACK: self._read_feedback,
            Kind.ERROR: self._read_error,
            Kind.STATISTICS_HEADING: self._read_autotrace,
            Kind.STATISTIC: self._read_autotrace,
            Kind.PLAN_HEADING: self._read_explained,
            Kind.SQL_ID: self._read_plan,
            Kind.PLAN_HASH: self._read_plan,
            Kind.PLAN_TABLE: self._read_plan,
            Kind.PLAN_ROW: self._read_plan,
            Kind.RULER: self._read_ruler,
            Kind.SNAPPER_ROW: self._read_snapper,
            Kind.FENCE: self._read_break,
            Kind.BANNER: self._read_break,
            Kind.TIMER_NAME: self._read_timer_name,
            Kind.ELISION: self._read_elision,
            Kind.TRACE: self._pass_over,
            Kind.COMMENT: self._pass_over,
            Kind.SUBSTITUTION: self._pass_over,
        }
        by_kind = [readers.get(kind) for kind in KINDS.values()]
        number, size = 0, len(page)
        while number < size:
            kind = kinds[number]
            if kind == Kind.BLANK:
                number += 1
            elif kind == Kind.TEXT:
                number = self._read_text(number)
            else:
                reader = by_kind[kind]
                after = None if reader is None else reader(number)
                if after is None:
                    page.roles[number] = LineRole.TEXT
                    after = self._add_text(number, number + 1)
                number = after
        self._end_text(size)
        return self.found

    def _add(self, token: str, first: int, last: int, content: object = None) -> int:
        if self.text_from is not None:
            self._end_text(first)
        self.found.append(Block(token, first, last, content))
        return last

    def _add_text(self, first: int, last: int) -> int:
        """Lines of text, which go on with the text that may stand open."""
        if self.text_from is None:
            self.text_from = first
        self.text_to = last
        return last

    def _end_text(self, number: int) -> None:
        """Close the text that may stand open; blank lines do not end it."""
        if self.text_from is not None:
            end = min(number, self.text_to)
            if end > self.text_from:
                self.found.append(Block("TEXT", self.text_from, end))
            self.text_from = None

    def _read_text(self, number: int) -> int:
        """A run of text, up to the first line of it that is more than text."""
        page, custom = self.page, self.custom
        if (
            self.text_from is None
            and page.kind(number + 1) == Kind.RULER
            and not (self.delimiter or custom or is_notable(page.lines[number]))
            and (plain := read_plain_grid(page, number, is_typed=self._is_first()))
        ):
            self.found.append(Block("GRID", number, plain.last, plain))
            return plain.last
        if (self.delimiter or page.lines[number].lstrip()[0] == '"') and (grid := self._read_delimited(number)):
            return self._add("GRID", number, grid.last, grid)
        end = _TEXTS(page.kinds, number).end()
        for place, line in enumerate(page.lines[number:end], number):
            if custom is not None or is_notable(line):
                if place > number:
                    self._add_text(number, place)
                after = self._read_notable(place, line)
                if after is not None:
                    return after
        return self._add_text(number, end)

    def _read_delimited(self, number: int) -> Grid | None:
        is_first = self.text_from is None and self._is_first()
        return read_delimited(self.page, number, self.delimiter, is_first=is_first)

    def _read_notable(self, number: int, line: str) -> int | None:
        """A line of text that may be a statement, a timing, a figure, or damage; None when it is text only."""
        page = self.page
        if self._is_exported(number):
            return self._add_text(number, _TEXTS(page.kinds, number).end())
        if line.startswith(HTML_TABLE):
            if marked := read_html(page, number):
                return self._add("GRID", number, marked.last, marked)
            page.note(number, "unparsed", "a result in HTML; its rows are not read")
            return None
        if line.startswith(JSON_RESULT) and (marked := read_json(page, number)):
            return self._add("GRID", number, marked.last, marked)
        if starts_statement(line) and (read := read_bare(page, number)):
            return self._take(read)
        if self.custom and (timing := self.custom.read(line, number)):
            page.roles[number] = LineRole.TIMING
            return self._add("PRINTED_TIMING", number, number + 1, timing)
        if line.startswith(RUNSTATS) and (compared := read_runstats(page, number)):
            return self._add("GRID", number, compared[1], compared[0])
        if (
            line[-1] in LAST_OF_FIGURE
            and (MAY_BE_FIGURE.match(line) or TYPED_STATISTIC.fullmatch(line.strip()))
            and (unruled := read_unruled(page, number))
        ):
            return self._add("GRID", number, unruled[1], unruled[0])
        if line[-1].isalpha() and line.lstrip()[0].isdigit() and (listed := read_unheaded(page, number)):
            return self._add("SESSION_STATISTICS", number, listed[1], listed[0])
        if ":" not in line:
            return None
        if line.lstrip().startswith(_LABELS) and NEARLY_ELAPSED.match(line):
            self._end_text(number)
            column, expected = explain_clock(line)
            reason = "no Elapsed of a client" + (f": expected {expected}" if expected else "")
            page.refuse(number, "unparsed", reason, column)
            return number + 1
        if "consistent gets" in line and CRAMMED.match(line):
            self._end_text(number)
            page.refuse(number, "damaged", "several lines of a session run together in one; it is not read")
            return number + 1
        return None

    def _is_exported(self, number: int) -> bool:
        """Are the statements from a line on the result of a query, as SET SQLFORMAT INSERT prints it?"""
        above = self.page.lines[max(number - 2, 0) : number]
        return above[-1:] == ["SET DEFINE OFF;"] and above[0].startswith("REM INSERTING into ") and self._is_first()

    def _is_first(self) -> bool:
        """Is the last thing before a text a statement that returns rows?"""
        return bool(self.found) and self.found[-1].token in _ASKING

    def _take(self, block: Block) -> int:
        """Add a block of what was typed; a timer command makes the next Elapsed its own."""
        self.timer = None
        if block.token == "TIMING":
            self.timer = str(block.content)
            block.token = "COMMAND"
        elif block.token == "COMMAND":
            self.delimiter = chosen_delimiter(str(block.content), self.delimiter)
        if self.text_from is not None:
            self._end_text(block.first)
        self.found.append(block)
        return block.last

    def _read_prompt(self, number: int) -> int | None:
        if self.is_plain and not self.delimiter and (query := read_plain_query(self.page, number)):
            self._end_text(number)
            self.timer = None
            self.found += query
            return query[-1].last
        read = read_prompt(self.page, number)
        return None if read is None else self._take(read)

    def _read_snapper(self, number: int) -> int:
        listing, after = read_snapper(self.page, number)
        return self._add("GRID", number, after, listing)

    def _read_break(self, number: int) -> int:
        if self.page.lines[number].startswith(SECTION_MARKS):
            return self._pass_over(number)
        self.timer = None
        return self._add("BREAK", number, number + 1)

    def _read_timer_name(self, number: int) -> int:
        self.timer = self.page.lines[number].strip()
        self.page.roles[number] = LineRole.HEADING
        return self._pass_over(number)

    def _read_elision(self, number: int) -> int:
        self.page.note(number, "missing", "the log was cut here by hand; what is missing is unknown")
        return self._pass_over(number)

    def _pass_over(self, number: int) -> int:
        self._end_text(number)
        return number + 1

    def _read_elapsed(self, number: int) -> int:
        page = self.page
        clock = read_clock(page.lines[number].strip(), number)
        if clock is None:  # the line was classified by the same pattern
            page.refuse(number, "unparsed", "an Elapsed line without a clock")
            return number + 1
        page.roles[number] = LineRole.ELAPSED
        if language_of(clock.label) is None:
            page.note(number, "unknown_name", f"{clock.label!r} is no known word for Elapsed; read as one by its shape")
        if self.timer is not None:
            name, self.timer = self.timer, None
            return self._add("TIMER", number, number + 1, (clock, name))
        return self._add("ELAPSED", number, number + 1, clock)

    def _read_feedback(self, number: int) -> int:
        line = self.page.lines[number].strip()
        self.page.roles[number] = LineRole.FEEDBACK
        rows, verb = read_feedback(line)
        sql_id, last = read_sql_id(self.page, number + 1)
        return self._add(_feedback_token(line, verb), number, last, Outcome(number, line, rows, verb, sql_id=sql_id))

    def _read_error(self, number: int) -> int:
        self._cut_quoted(number)
        outcome, last = read_failure(self.page, number)
        number = self._with_quoted(number)
        after_command = bool(self.found) and self.found[-1].token == "COMMAND"
        is_of_autotrace = outcome.code in _AUTOTRACE_ERRORS and not after_command
        if is_of_autotrace or self._has_no_plan():
            return self._add("TRACE_ERROR" if is_of_autotrace else "EXPLAINED", number, last, outcome)
        if outcome.code is None or not outcome.code.startswith("SP2"):
            return self._add("FAILED", number, last, outcome)
        if after_command:
            return self._add("COMMAND_ERROR", number, last, outcome)
        is_typed = bool(self.found) and isinstance(self.found[-1].content, Typed) and self.text_from is None
        return self._add("FAILED" if is_typed else "REFUSED", number, last, outcome)

    def _cut_quoted(self, number: int) -> None:
        """Take the line of a statement that an error quotes, with a star below it, out of the result above."""
        grid = self.found[-1].content if self.found else None
        if not isinstance(grid, Grid) or grid.cells or self.page.lines[number - 1].strip() != "*":
            return
        first = number - 2
        if any(row in grid.rows for row in range(first, number)):
            grid.rows = [row for row in grid.rows if row < first]
            grid.last = self.found[-1].last = first
            self.page.assign_text(first, number)
            self._add_text(first, number)

    def _with_quoted(self, number: int) -> int:
        """The first line of an error: the one of the statement that it quotes, with a star below it, or its own."""
        first = number - 2
        if self.text_from is None or not self.text_from <= first or self.page.lines[number - 1].strip() != "*":
            return number
        self.page.assign(first, number, LineRole.ERROR)
        self.text_to = first
        if self.text_from == first:
            self.text_from = None
        return first

    def _has_no_plan(self) -> bool:
        """Does the heading of a plan stand above, and no plan?  Then an error says why; the statement itself ran."""
        plan = self.found[-1].content if self.found and self.found[-1].token == "EXPLAINED" else None
        return isinstance(plan, Plan) and not plan.operations and plan.hash_value is None

    def _read_autotrace(self, number: int) -> int | None:
        found, after = read_autotrace(self.page, number)
        if found is None:
            return None
        token = "SESSION_STATISTICS" if found.client == "sqlcl" else "STATISTICS"
        return self._add(token, number, after, found)

    def _read_explained(self, number: int) -> int | None:
        page = self.page
        ahead = page.after_blanks(number + 1)
        if page.kind(ahead) not in _PLAN_STARTS:
            return None
        plan, after = read_plan(page, number, is_explained=True)
        return self._add("EXPLAINED", number, after, plan)

    def _read_plan(self, number: int) -> int | None:
        page = self.page
        top = number
        if page.kinds[number] == Kind.PLAN_ROW and not _has_heading(page, number):
            return None
        plan, after = read_plan(page, number, is_explained=False)
        if not plan.operations:
            sql_id, last = read_sql_id(page, number)
            if sql_id is not None:  # of a query with fewer rows than SET FEEDBACK counts
                return self._add("SELECTED", number, last, Outcome(number, page.lines[number].strip(), sql_id=sql_id))
            if page.kinds[number] == Kind.PLAN_TABLE:
                page.assign(number, after, LineRole.TEXT)
                return None
            after = _after_missing_plan(page, after)
            page.assign(number, after, LineRole.TEXT)
            return self._add("TEXT", top, after)
        return self._add("PLAN", self._heading_above(top), after, plan)

    def _heading_above(self, number: int) -> int:
        """The first line of a plan, with the heading of the query that printed it: a grid above without a row."""
        above = self.found[-1] if self.found and self.text_from is None else None
        if above is None or not isinstance(above.content, Grid) or above.content.rows:
            return number
        self.found.pop()
        return above.first

    def _read_ruler(self, number: int) -> int | None:
        page = self.page
        if page.kind(number + 1) in _BELOW_PLAN_RULERS and (
            page.kind(number + 1) == Kind.PLAN_ROW or _is_cut_plan_ruler(page, number)
        ):
            plan, after = read_plan(page, number, is_explained=False)
            if plan.operations:
                return self._add("PLAN", number, after, plan)
        line = page.lines[number]
        if "*" in line:  # COMPUTE's, but no grid is continued by it
            return None
        start = self.text_from if self.text_from is not None else number
        grid = read_grid(page, number, start, is_typed=self._is_first())
        if grid is None:
            self._end_text(number)
            page.roles[number] = LineRole.HEADING
            return number + 1
        self._end_text(grid.first)
        return self._add("GRID", grid.first, grid.last, grid)


_MISSING_PLAN: Final = "NOTE: cannot fetch plan for SQL_ID"
_LONGEST_STATEMENT: Final = 300
#: What a plan begins with below its heading.
_PLAN_STARTS: Final = frozenset({Kind.RULER, Kind.PLAN_ROW, Kind.PLAN_HASH, Kind.PLAN_TABLE})
_TEXTS: Final = runs_of(Kind.TEXT)
#: The line size cuts the ruler of a plan into fewer pieces.
_MOST_RULERS: Final = 20
#: What may follow the first ruler of a plan, which may be cut at the line size.
_BELOW_PLAN_RULERS: Final = frozenset({Kind.PLAN_ROW, Kind.RULER, Kind.BLANK})


def _after_missing_plan(page: Page, number: int) -> int:
    """The line after the note that a cursor's plan is gone, which stands below its statement; `number` without one."""
    for place in range(number, min(number + _LONGEST_STATEMENT, len(page))):
        if page.kinds[place] in BEGINNINGS:
            break
        if page.lines[place].lstrip().startswith(_MISSING_PLAN):
            end = place + 1
            while page.kind(end) == Kind.TEXT and page.lines[end].startswith(" "):
                end += 1
            return end
    return number


def _feedback_token(line: str, verb: str | None) -> str:
    """The token of a feedback: a query's rows, other rows, the end of a PL/SQL block, a commit, anything else."""
    if verb is not None:
        return "SELECTED" if verb == "select" else "CHANGED"
    if COMMIT_DONE.fullmatch(line):
        return "COMMITTED"
    return "CALLED" if BLOCK_DONE.fullmatch(line) else "DONE"


def _has_heading(page: Page, number: int) -> bool:
    line = page.lines[number]
    return "Operation" in line and "Id" in line


def _is_cut_plan_ruler(page: Page, number: int) -> bool:
    """Is this the ruler of a plan wider than the line size, so that its rest stands in the next line?"""
    ahead = number + 1
    while ahead < number + _MOST_RULERS and (
        page.kind(ahead) == Kind.RULER or (page.kind(ahead) == Kind.BLANK and ahead < min(number + 4, len(page)))
    ):
        ahead += 1
    return page.kind(ahead) == Kind.PLAN_ROW and _has_heading(page, ahead)


def read_blocks(page: Page, custom: CustomPattern | None = None) -> list[Block]:
    """The blocks of a page, in order; each line's role says what became of it."""
    return _Blocks(page, custom).read()
