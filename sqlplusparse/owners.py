"""Which statement owns an Elapsed, a feedback, a plan: what the client's order of output says beyond one token.

The client prints for each statement, in this order and only where it is set: the result, the feedback, ``Commit
complete.`` (SET AUTOCOMMIT), what DBMS_OUTPUT holds, the Elapsed, the plan, the statistics.  So

* between two prompts at which something was typed, everything belongs to the one statement typed at the first;
* after an Elapsed, a result without one is no statement of its own when a PL/SQL block's Elapsed comes next: the block
  printed it;
* plans and statistics of autotrace belong to queries and DML alone.

Where the order leaves two owners, the figure has none, and a diagnostic says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlplusparse.lines import COMMANDS, Kind, Pattern
from sqlplusparse.missing_lines import split_feedback
from sqlplusparse.records import Block, Clock, Grid, Outcome, Plan, Typed
from sqlplusparse.settings import AUTOCOMMIT

if TYPE_CHECKING:
    from sqlplusparse.page import Page

#: Tokens of feedbacks and errors, which end what a statement prints.
OUTCOMES: Final = frozenset({"SELECTED", "CHANGED", "CALLED", "DONE", "CLOSED", "FAILED", "REFUSED"})
#: What is typed and has no text.
_UNTYPED: Final = frozenset({"COMMAND", "INPUT", "BREAK"})
#: What a PL/SQL block may print the like of.
_OUTCOME_LIKE: Final = frozenset(
    {"FAILED", "REFUSED", "DONE", "SELECTED", "CHANGED", "COMMITTED", "COMMAND_ERROR", "ELAPSED"}
)
_OUTPUT_LIKE: Final = (_OUTCOME_LIKE | {"TEXT"}) - {"ELAPSED"}
#: What the lines above and below a feedback are.
_APART: Final = frozenset({Kind.BLANK, Kind.PROMPT, Kind.FENCE})
#: What a block may print through DBMS_OUTPUT, and the token of each when it did.
_PRINTED: Final = {"GRID": "PRINTED_GRID", "PLAN": "PRINTED_PLAN", "TEXT": "PRINTED_TEXT"}
_WITHIN_TEXT: Final = frozenset({Kind.TEXT, Kind.RULER})
_ENDS_OF_STATEMENTS: Final = frozenset({"ELAPSED", "STATISTICS", "SESSION_STATISTICS"})
_ENDS_OF_OUTPUT: Final = OUTCOMES | _ENDS_OF_STATEMENTS
#: What the order of output says more of.
_UNSETTLED: Final = frozenset({"COMMITTED", "TRACE_ERROR", "ELAPSED", "SELECTED", "CALLED"})
#: What SET AUTOCOMMIT commits after.
_COMMITS: Final = frozenset({"CHANGED", "CALLED"})
#: What only queries and DML have below their Elapsed.
_TRACED: Final = frozenset({"EXPLAINED", "STATISTICS", "SESSION_STATISTICS"})
_UNTRACED: Final = frozenset({"DONE", "CALLED"})
_UNTRACED_ENDS: Final = _UNTRACED | {"FAILED"}
#: What stands below the part of a line that an error is in.
_STAR: Final = "*"
#: How SQLcl reports an error.
_REPORT: Final = "Error starting at line"
_UNTRACED_KINDS: Final = frozenset({"plsql", "explain", "alter system", "alter session", "transaction", "ddl"})
#: A heading of rows of text is looked for in this many blocks.
_MOST_CANDIDATES: Final = 8
#: What may be between two statements.
_BETWEEN: Final = frozenset({"COMMAND", "BREAK", "TEXT"})
#: Client commands that change the buffer which ``/`` runs, or run statements that are not echoed.
LOADS: Final = Pattern("{LOADING}", COMMANDS)
#: SQLcl shows milliseconds.
_SQLCL_DECIMALS: Final = 3


def settle_owners(page: Page, blocks: list[Block]) -> None:
    """Give blocks the tokens that the client's order of output makes them; session.lark makes statements of those."""
    _settle_output(page, blocks)
    _note_doubtful(page, blocks)
    _split_client_results(page, blocks)
    split_feedback(page, blocks)
    _split_untyped(page, blocks)
    autocommit: bool | None = None
    typed: Typed | None = None
    start = 0
    results: int | None = None
    for place, block in enumerate(blocks):
        token, content = block.token, block.content
        if token == "GRID":
            if results and typed is not None and typed.prompt is not None and typed.kind == "select":
                block.token = "PRINTED_GRID"  # a query that was typed has one result: this is more of its output
            results = None if results is None else results + 1
            continue
        if isinstance(content, Typed) or token in _UNTYPED:
            typed = content if isinstance(content, Typed) else None
            start = place
            results = 0
            if token == "COMMAND" and (found := AUTOCOMMIT.match(str(content))):
                autocommit = found["off"] is None
        if token in _ENDS_OF_OUTPUT:
            results = None
        if token not in _UNSETTLED:
            continue
        match token:
            case "ELAPSED":
                _settle_rows_output(page, blocks, place)
                _settle_elapsed(page, blocks, start, place, typed)
            case "SELECTED":
                _settle_text_rows(page, blocks, start, place)
            case "COMMITTED":
                _settle_commit(page, blocks, place, typed, autocommit=autocommit)
            case "TRACE_ERROR":
                _settle_trace_error(blocks, start, place)
            case "CALLED" if typed is None or typed.prompt is None:
                _settle_call(page, blocks, start, place)
            case _:
                pass


def _settle_output(page: Page, blocks: list[Block]) -> None:
    """Make text of what a PL/SQL block prints that reads as the client's own feedback, error or Elapsed.

    The client says once that a block has ended, after all that the block printed and before its Elapsed.
    """
    if not any(block.token == "CALLED" for block in blocks):
        return
    call: int | None = None
    tokens = [block.token for block in blocks]
    for place, (token, block) in enumerate(zip(tokens, blocks, strict=True)):
        if token in _UNTYPED or isinstance(block.content, Typed):
            call = place if isinstance(block.content, Typed) and block.content.kind == "plsql" else None
        elif token == "CALLED":
            is_timed = _after_commit(tokens, place) == "ELAPSED"
            first = _first_printed(page, blocks, place, is_timed=is_timed) if call is None else call + 1
            for printed in blocks[first:place]:
                if printed.token in _OUTCOME_LIKE and (is_timed or printed.token != "ELAPSED"):
                    printed.token, printed.content = "TEXT", None
                    page.assign_text(printed.first, printed.last)
                if printed.token == "TEXT" and call is not None and blocks[call].token == "CALL_TEXT":
                    printed.token = "PRINTED_TEXT"
            call = None


def _first_printed(page: Page, blocks: list[Block], place: int, *, is_timed: bool) -> int:
    """The first block that a PL/SQL block which is not echoed printed before its feedback at a place.

    Any statement but the client's own has an Elapsed where the one before and the one after have, and a prompt of its
    own where the client read its standard input.
    """
    first = place
    while first and (blocks[first - 1].token in _OUTPUT_LIKE and not _is_of_client(blocks[first - 1])):
        first -= 1
    above = blocks[first - 1].token if first else ""
    if (is_timed and above == "ELAPSED") or (page.habits.get("piped") and above in {"BREAK", "INPUT"}):
        return first
    return place


def _note_doubtful(page: Page, blocks: list[Block]) -> None:
    """Add a diagnostic for what may be a statement's outcome, or what a PL/SQL block printed that looks the same.

    The client heads an error, puts a blank line above and below the number of rows that were changed, and two between
    such feedbacks.
    """
    if Kind.BLANK not in page.kinds:
        return
    is_typed = False
    edge = Block("BREAK", len(page), len(page))
    for before, block, below in zip([edge, *blocks], blocks, [*blocks[1:], edge], strict=False):
        if isinstance(block.content, Typed) or block.token in _UNTYPED:
            is_typed = isinstance(block.content, Typed) and block.content.text is not None
        elif not is_typed and (block.token == "CHANGED" or (block.token == "FAILED" and _is_bare(page, block))):
            above = page.kinds[block.first - 1] if block.first else Kind.BLANK
            is_near = below.token == "CALLED" and below.first < block.last + 2
            is_bare = block.token == "FAILED" and before.token == "GRID"  # the client heads an error of a query
            if is_near or is_bare or not {above, page.kind(block.last)} <= _APART:
                reason = "a PL/SQL block may have printed this, or a statement that is not echoed"
                page.note(block.first, "no_owner", reason)


def _is_bare(page: Page, block: Block) -> bool:
    """Is an error the server's without the client's words above it?"""
    outcome = block.content
    is_coded = isinstance(outcome, Outcome) and outcome.text == page.lines[block.first].strip()
    return is_coded and not _is_of_client(block)


def _split_client_results(page: Page, blocks: list[Block]) -> None:
    """End a statement around what DESCRIBE, SHOW ERRORS and SHOW PARAMETER print where they are not echoed."""
    split: list[Block] = []
    is_typed = False
    for block in blocks:
        if isinstance(block.content, Typed) or block.token in _UNTYPED:
            typed = block.content
            is_typed = isinstance(typed, Typed) and (bool(typed.prompt) or typed.kind in {None, "command"})
        is_client = isinstance(block.content, Grid) and block.content.is_of_client
        if is_client and not is_typed:
            split.append(Block("BREAK", block.first, block.first))
        split.append(block)
        if is_client and (not is_typed or page.habits.get("piped")):
            split.append(Block("BREAK", block.last, block.last))
    blocks[:] = split


def _split_untyped(page: Page, blocks: list[Block]) -> None:
    """End a statement where what follows directly cannot be of it, or may be of another.

    Autotrace prints one plan a statement, and none for what failed or has no rows.  SQLcl reports an error alike where
    a query's rows came and where another statement printed nothing else; an Elapsed below it says that it is one.
    """
    split: list[Block] = []
    for block, below in zip(blocks, [*blocks, None][1:], strict=True):
        before = split[-1] if split else None
        if block.token == "COMMITTED" and (before is None or before.token not in _COMMITS):
            block.token = "DONE"
        if before is not None and _is_of_another(before, block):
            split.append(Block("BREAK", block.first, block.first))
        elif (
            before is not None
            and (before.token, block.token) == ("GRID", "FAILED")
            and block.last > block.first + 1
            and page.lines[block.first + 1].strip() == _STAR
        ):  # while a query's rows come, the client quotes no line of its text in an error
            split.append(Block("BREAK", block.first, block.first))
        elif (
            before is not None
            and (before.token, block.token) == ("GRID", "FAILED")
            and page.lines[block.first].startswith(_REPORT)
            and (below is None or below.token != "ELAPSED")
        ):
            page.note(block.first, "no_owner", "this error may be of the query above, or of another statement")
            split.append(Block("BREAK", block.first, block.first))
        split.append(block)
    blocks[:] = split


def _is_of_another(before: Block, block: Block) -> bool:
    """Is a plan or are the statistics of autotrace of another statement than the block above?"""
    if block.token == "EXPLAINED" and isinstance(block.content, Plan):
        return before.token in _UNTRACED_ENDS or (before.token == "EXPLAINED" and isinstance(before.content, Plan))
    return block.token == "STATISTICS" and before.token in _UNTRACED_ENDS


def _after_commit(tokens: list[str], place: int) -> str:
    """The token after a feedback and the commit that SET AUTOCOMMIT may have printed."""
    after = [*tokens[place + 1 : place + 3], "", ""]
    return after[1] if after[0] == "COMMITTED" else after[0]


def _settle_commit(
    page: Page, blocks: list[Block], place: int, typed: Typed | None, *, autocommit: bool | None
) -> None:
    """Is ``Commit complete.`` SET AUTOCOMMIT's, after another feedback, or a statement's own?

    By itself the client prints one blank line above it; a COMMIT has two.  A COMMIT with an Elapsed stands below the
    Elapsed of the statement before it.  A copy without blank lines does not say.
    """
    block = blocks[place]
    before = blocks[place - 1] if place else None
    if before is None or before.token not in _COMMITS or (typed is not None and typed.kind == "transaction"):
        block.token = "DONE"
        return
    below = blocks[place + 1] if place + 1 < len(blocks) else None
    above = block.first - before.last
    is_timed = below is not None and below.token == "ELAPSED"
    if (typed is not None and typed.prompt is not None) or autocommit:
        return
    if autocommit is None and above == 1:
        return
    block.token = "DONE"
    if is_timed and below is not None and autocommit is None and above == 0:
        _disown(page, below, "SET AUTOCOMMIT may have committed, or a COMMIT that is not echoed")


def _disown(page: Page, block: Block, reason: str) -> None:
    block.token = "UNOWNED"
    page.note(block.first, "no_owner", f"two statements may own this Elapsed, so none does: {reason}")


def _settle_trace_error(blocks: list[Block], start: int, place: int) -> None:
    """An error of autotrace stands before the Elapsed, or in the place of the plan or the statistics."""
    ahead = place
    while ahead < len(blocks) and blocks[ahead].token == "TRACE_ERROR":
        ahead += 1
    is_before = ahead < len(blocks) and blocks[ahead].token == "ELAPSED"
    tokens = [block.token for block in blocks[start:place]]
    last = next((token for token in reversed(tokens) if token not in {"EXPLAINED", "TRACE_ERROR"}), "")
    if not is_before or last in _ENDS_OF_STATEMENTS:
        blocks[place].token = "EXPLAINED"


def _settle_rows_output(page: Page, blocks: list[Block], place: int) -> None:
    """Text and tables between the rows that were selected and the Elapsed: the query printed them (DBMS_OUTPUT).

    A line of text stands directly above the Elapsed, where the client prints an empty line below a result of its own.
    """
    first = place
    while first and blocks[first - 1].token in _PRINTED:
        first -= 1
    if first and blocks[first - 1].token == "SELECTED" and page.kinds[blocks[place].first - 1] in _WITHIN_TEXT:
        for block in blocks[first:place]:
            block.token = "OUTPUT"


def _is_within_text(page: Page, block: Block) -> bool:
    """Does a table stand between lines of text, without the empty lines that the client prints around a result?"""
    around = {page.kind(block.first - 1), page.kind(block.last)}
    return isinstance(block.content, Grid) and block.first > 0 and around <= _WITHIN_TEXT


def _settle_elapsed(page: Page, blocks: list[Block], start: int, place: int, typed: Typed | None) -> None:
    """An Elapsed that is no statement's: printed again at the end of a script, or above a plan it cannot go with."""
    block = blocks[place]
    before = blocks[place - 1] if place else None
    if before is not None and (before.token == "REFUSED" or _is_of_client(before)):
        block.token = "UNOWNED"
        page.note(block.first, "no_owner", "the client's own error above takes no time: this Elapsed has no owner")
        return
    number = _before_commands(blocks, place)
    last = blocks[number] if number >= 0 else None
    above = last.content if last is not None and last.token in {"ELAPSED", "REPEATED"} else None
    clock = block.content
    is_after = typed is not None or number < place - 1 or _has_feedback(blocks, place)
    if isinstance(above, Clock) and isinstance(clock, Clock) and is_after:
        is_same = clock.decimals == above.decimals and abs(clock.ticks - above.ticks) <= 1
        if is_same and clock.decimals >= _SQLCL_DECIMALS:
            block.token = "REPEATED"
            page.note(block.first, "no_owner", "SQLcl prints the last Elapsed of a script again at its end")
        if is_same or number == place - 1:
            return
    traced = place + 1 < len(blocks) and blocks[place + 1].token in _TRACED
    if not traced or before is None:
        return
    reason = "plan and statistics of autotrace are a query's, and the statement above is not a query"
    if typed is not None and typed.kind in _UNTRACED_KINDS and place > start:
        if _TRACED.isdisjoint(one.token for one in blocks[start:place]) and _is_first_elapsed(blocks, start, place):
            _disown(page, block, reason)
    elif before.token in _UNTRACED:
        before.token = "CLOSED"


def _is_of_client(block: Block) -> bool:
    """Is it an error of the client itself, which sent nothing to the database?"""
    return block.token == "FAILED" and isinstance(block.content, Outcome) and (block.content.code or "")[:3] == "SP2"


def _before_commands(blocks: list[Block], place: int) -> int:
    """The place before the client's own commands that were typed above, but for those that run statements."""
    place -= 1
    while place >= 0 and blocks[place].token == "COMMAND" and not LOADS.match(str(blocks[place].content)):
        place -= 1
    return place


def _is_first_elapsed(blocks: list[Block], start: int, place: int) -> bool:
    return all(one.token != "ELAPSED" for one in blocks[start:place])


def _has_feedback(blocks: list[Block], place: int) -> bool:
    """Has the statement that owns the Elapsed above a feedback?  Then the client says of each what it did."""
    for block in reversed(blocks[max(place - 4, 0) : place]):
        if block.token in OUTCOMES or block.token == "COMMITTED":
            return True
        if block.token not in {"ELAPSED", "REPEATED"}:
            return False
    return False


def _settle_text_rows(page: Page, blocks: list[Block], start: int, place: int) -> None:
    """Rows of text that read as tables, plans or anything else: as many lines as the client says it selected.

    They are one query's, whose heading is above the first, on every page, or has none (SET HEADING OFF, PAGESIZE 0).
    """
    outcome = blocks[place].content
    count = outcome.rows if isinstance(outcome, Outcome) else None
    first = place
    while first > start and blocks[first - 1].token in _PRINTED:
        first -= 1
    if not count or (place - first < 2 and blocks[place - 1].token != "TEXT"):
        return
    end = blocks[place].first
    end -= page.kinds[end - 1] == Kind.BLANK
    top = end - count
    candidates = 0
    for number in range(first, place):
        block = blocks[number]
        if block.first >= top:
            if top >= 0 and number == first and not any(page.lines[top : block.first]):
                _print(blocks[number:place])
                return
            break
        heading = block.last - 1 if block.token == "TEXT" else block.first
        if (
            place - number > 1
            and heading >= top - count
            and page.kinds[heading + 1] == Kind.RULER
            and candidates < _MOST_CANDIDATES
        ):
            candidates += 1
            if _lines_below(page, heading, end) == count:
                _print(blocks[number if heading == block.first else number + 1 : place])
                return
    if _is_one_timed(blocks, first, place, count):
        lines = blocks[place - 1].last - blocks[first].first
        reason = f"the client selected {count} rows; {lines} lines that read as text, tables and plans are their texts"
        page.note(blocks[first].first, "sum", reason)
        _print(blocks[first:place])


def _is_one_timed(blocks: list[Block], first: int, place: int, count: int) -> bool:
    """Are blocks before a feedback one query's rows because SET TIMING has been on since an earlier Elapsed?

    Another query would have an Elapsed of its own.  The last grid alone must not be what the client counted.
    """
    before = first
    while before > 0 and blocks[before - 1].token in _BETWEEN and not _sets_timing(blocks[before - 1]):
        before -= 1
    grids = [block.content for block in blocks[first:place] if isinstance(block.content, Grid)]
    return (
        before > 0
        and blocks[before - 1].token == "ELAPSED"
        and place + 1 < len(blocks)
        and blocks[place + 1].token == "ELAPSED"
        and len(grids) > 1
        and grids[-1].row_count != count
        and blocks[place - 1].last - blocks[first].first >= count
    )


def _sets_timing(block: Block) -> bool:
    return block.token == "COMMAND" and "timi" in str(block.content).lower()


def _lines_below(page: Page, top: int, end: int) -> int:
    """How many lines are below a heading of two lines, but for those of the heading on further pages."""
    heading = page.lines[top : top + 2]
    count = end - top - 2
    number = top + 2
    while True:
        try:
            number = page.lines.index(heading[1], number, end)
        except ValueError:
            return count
        if page.lines[number - 1] == heading[0]:
            count -= 2 + (page.kinds[number - 2] == Kind.BLANK)
        number += 1


def _print(blocks: list[Block]) -> None:
    """Make blocks output of the statement whose end comes next."""
    for block in blocks:
        block.token = _PRINTED[block.token]


def _settle_call(page: Page, blocks: list[Block], start: int, place: int) -> None:
    """Results and plans before the end of a PL/SQL block that is not echoed: the block printed them.

    With timing on from before, a query would have had an Elapsed of its own; else this is known of plans only, which a
    query prints under a heading, and of tables within text.
    """
    first = place
    while first > start and blocks[first - 1].token in _PRINTED:
        first -= 1
    tokens = [block.token for block in blocks]
    is_timed = first > 0 and tokens[first - 1] in _ENDS_OF_STATEMENTS and _after_commit(tokens, place) == "ELAPSED"
    if not is_timed:
        plans = [
            number
            for number in range(first, place)
            if (isinstance(blocks[number].content, Plan) and page.kinds[blocks[number].first] != Kind.PLAN_TABLE)
            or _is_within_text(page, blocks[number])
        ]
        if not plans:
            return
        first = plans[0]
        if any(blocks[n].token == "GRID" and n not in plans for n in range(first, place)):
            return
    elif "GRID" not in tokens[first:place] and "PLAN" not in tokens[first:place]:
        return
    _print(blocks[first:place])
