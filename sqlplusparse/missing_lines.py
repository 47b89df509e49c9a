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
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sqlplusparse.lines import NUMBERED_LINE, SQL_ID_ALONE, Kind, Pattern
from sqlplusparse.loosefigures import note_loose_figures
from sqlplusparse.page import LineRole
from sqlplusparse.planheads import OLD_ROW, PLAN_GRAMMAR, is_heading
from sqlplusparse.plansigns import note_plan
from sqlplusparse.records import Autotrace, Block, Grid, Outcome, Plan, Typed
from sqlplusparse.rowsigns import note_misplaced_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlplusparse.page import Page
    from sqlplusparse.records import Statement

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
