"""Blocks into groups of one statement each, by the grammar session.lark, and these into statements.

Lark's parser says which blocks are one statement.  It is given short pieces: where two tokens are never neighbours
within a statement (the grammar's rules say which do), one statement ends before the next begins, so a
session may be cut there.  Most pieces of a session are alike, and each kind of piece is parsed once.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import compress, pairwise
from operator import not_
from typing import TYPE_CHECKING, Final

from lark import Token, Tree

from logframe import load_grammar
from sqlplusparse.blocks import HTML_TABLE
from sqlplusparse.lines import COMMANDS, FEEDBACK, Kind, Pattern
from sqlplusparse.owners import LOADS, OUTCOMES, settle_owners
from sqlplusparse.records import Autotrace, Block, Clock, Grid, Listing, Outcome, Plan, Statement, Typed
from sqlplusparse.statements import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlplusparse.page import Page


GRAMMAR: Final = load_grammar("sqlplusparse", "session.lark", "session", "statement")
#: Longer pieces are rare, and not kept.
_LONGEST_KEPT: Final = 40


def group(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """For each statement the place of its first token, and of the token after its last.

    Examples:
        >>> group(["INPUT", "GRID", "ELAPSED", "TEXT", "GRID", "ELAPSED", "EXPLAINED", "STATISTICS"])
        [(0, 3), (4, 8)]
    """
    within = neighbours()
    tokens = tuple(tokens)
    cuts = compress(range(1, len(tokens)), map(not_, map(within.__contains__, pairwise(tokens))))
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*cuts, len(tokens)):
        piece = tokens[start:end]
        found = _parsed(piece) if len(piece) < _LONGEST_KEPT else parse(piece)
        spans += [(start + first, start + last) for first, last in found]
        start = end
    return spans


def parse(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """What `group` gives, by one pass of Lark's parser over all tokens."""
    parser = GRAMMAR.parser.parse_interactive("", start="session")
    for place, token in enumerate(tokens):
        parser.feed_token(Token(token, str(place)))
    tree: Tree[Token] = parser.feed_eof()  # type: ignore[no-untyped-call]  # lark leaves it unannotated
    statements = [node.children for node in tree.children if isinstance(node, Tree)]
    return [(int(str(leaves[0])), int(str(leaves[-1])) + 1) for leaves in statements]


_parsed = lru_cache(maxsize=1 << 12)(parse)


@cache
def neighbours() -> frozenset[tuple[str, str]]:
    """The pairs of tokens of which one may follow the other within a statement.

    Examples:
        >>> ("INPUT", "GRID") in neighbours(), ("ELAPSED", "GRID") in neighbours()
        (True, False)
    """
    rules = _rules_of("statement")
    firsts, lasts = _edges(rules, 0), _edges(rules, -1)
    return frozenset(
        (before, after)
        for expansions in rules.values()
        for expansion in expansions
        for left, right in pairwise(expansion)
        for before in lasts.get(left, {left})
        for after in firsts.get(right, {right})
    )


def _rules_of(start: str) -> dict[str, list[list[str]]]:
    """The expansions of a rule and of all rules it leads to; none is empty but the session's own."""
    rules: dict[str, list[list[str]]] = {}
    for rule in GRAMMAR.parser.rules:
        rules.setdefault(rule.origin.name, []).append([symbol.name for symbol in rule.expansion])
    reached = [start]
    for name in reached:
        reached += {symbol for expansion in rules[name] for symbol in expansion if symbol in rules} - {*reached}
    return {name: rules[name] for name in reached}


def _edges(rules: dict[str, list[list[str]]], side: int) -> dict[str, set[str]]:
    """The tokens that each rule may begin with (`side` 0) or end with (-1)."""
    edges: dict[str, set[str]] = {name: set() for name in rules}
    size = -1
    while size != (size := sum(map(len, edges.values()))):
        for name, expansions in rules.items():
            for expansion in expansions:
                symbol = expansion[side]
                edges[name] |= edges.get(symbol, {symbol})
    return edges


_FLUSH: Final = Pattern(r"{FLUSH}\s+(?P<what>{FLUSHED})", COMMANDS)
#: Words of a feedback -> the kind of the statement that it is the feedback of.
_FEEDBACK_KINDS: Final = (
    ("plsql", Pattern("{BLOCK_WORD}", FEEDBACK)),
    ("explain", Pattern("{EXPLAINED_WORD}", FEEDBACK)),
    ("transaction", Pattern("{TRANSACTION_WORD}", FEEDBACK)),
    ("alter session", Pattern("{SESSION_WORD}", FEEDBACK)),
    ("alter system", Pattern("{SYSTEM_WORD}", FEEDBACK)),
)
_PLAN_KINDS: Final = {"SELECT": "select", "INSERT": "insert", "UPDATE": "update", "DELETE": "delete", "MERGE": "merge"}
#: Kinds of commands that the client runs itself, or gives to the operating system.
_CLIENT: Final = frozenset({"command", "host"})
_ALTERED: Final = "alter session"
_PROSE: Final = frozenset({Kind.TEXT, Kind.FENCE})
#: After these, text is no longer the statement's unless more of the statement follows.
_ENDED: Final = OUTCOMES | {"GRID"}
#: What may follow a statement's outcome without being of it.
_LOOSE: Final = frozenset({"TEXT"})
_TEXTS: Final = frozenset({"TEXT", "PRINTED_TEXT"})
_BARE_PARTS: Final = frozenset({"ELAPSED", "STATISTICS", "SESSION_STATISTICS"})


def read_statements(page: Page, blocks: list[Block]) -> list[Statement]:
    """The statements of a page's blocks, each block with its own; client commands that printed nothing are left out."""
    statements: list[Statement] = []
    flushed: list[str] = []
    buffer: str | None = None
    series = 0
    reached = 0
    settle_owners(page, blocks)
    for first, end in group([block.token for block in blocks]):
        last = end
        if blocks[end - 1].token in _LOOSE and any(block.token in _ENDED for block in blocks[first:end]):
            while last > first + 1 and blocks[last - 1].token in _LOOSE:
                last -= 1
        if first > reached:
            between = blocks[reached:first]
            if any(_is_prose(page, block) for block in between):
                series += 1
                buffer = None
            for block in between:
                if isinstance(block.content, Typed):
                    buffer = block.content.text
                elif block.token == "COMMAND" and LOADS.match(str(block.content)):
                    buffer = None
        statement = _made(len(statements) + 1, blocks[first:last], series)
        if statement.text is None and first > reached and _is_script(blocks[first - 1]):
            statement.script = blocks[first - 1].first
        reached = last
        if statement.text == "/":
            _rerun(statement, buffer, statements)
        elif statement.text is not None and statement.kind not in _CLIENT:
            buffer = statement.text
        if statement.kind in _CLIENT and last == first + 1:
            continue
        statement.kind = statement.kind or _kind_by_output(statement)
        flush = _FLUSH.match(statement.text) if statement.kind == "alter system" and statement.text else None
        if flush is None:
            if flushed:
                statement.flushed = tuple(dict.fromkeys(flushed))
                flushed.clear()
        elif statement.outcome is None or statement.outcome.code is None:
            flushed.append(" ".join(flush["what"].lower().split()))
        statements.append(statement)
        for block in statement.blocks:
            block.statement = statement.ordinal
        _check(page, statement)
    return statements


def _is_script(block: Block) -> bool:
    return block.token == "COMMAND" and str(block.content).lower().startswith(("@", "sta"))


def _is_prose(page: Page, block: Block) -> bool:
    """Is a block between two statements text of the log's own, or a fence?"""
    return block.token in {"TEXT", "BREAK"} and block.last > block.first and page.kinds[block.first] in _PROSE


def _rerun(statement: Statement, buffer: str | None, before: list[Statement]) -> None:
    """Give ``/`` the statement in the buffer, unless what it printed is another kind of statement's output.

    It is then the last one of that kind, where the session was only altered since, and both have one plan.
    """
    statement.text = None
    if buffer is not None:
        kind, shown = kind_of(buffer), _kind_by_output(statement)
        if shown in {None, kind}:
            statement.text, statement.kind = buffer, kind
        elif last := next((one for one in reversed(before) if one.kind not in {*_CLIENT, _ALTERED}), None):
            plans = [{plan.hash_value for plan in one.plans} - {None} for one in (last, statement)]
            if last.kind == shown and plans[0] == plans[1] != set():
                statement.text, statement.kind = last.text, shown


def _made(ordinal: int, blocks: list[Block], series: int) -> Statement:
    """The statement that blocks make."""
    statement = Statement(ordinal, blocks, series=series)
    for block in blocks:
        content = block.content
        if isinstance(content, Clock):
            statement.clock = content
        elif isinstance(content, Grid):
            statement.results += 1
        elif isinstance(content, Typed):
            statement.text, statement.prompt, statement.kind = content
        elif isinstance(content, Outcome):
            if block.token in OUTCOMES:
                failure = statement.outcome
                statement.outcome = content if failure is None else failure._replace(rows=content.rows)
        elif isinstance(content, Listing):
            statement.results += 1
        elif isinstance(content, Autotrace):
            statement.autotrace = content
        elif isinstance(content, Plan):
            statement.plans.append(content)
    return statement


def _kind_by_output(statement: Statement) -> str | None:
    """The kind of a statement that was not echoed, by what it printed."""
    outcome = statement.outcome
    if outcome is not None and outcome.verb is not None:
        return outcome.verb
    if outcome is not None and outcome.code is None:
        return next((kind for kind, pattern in _FEEDBACK_KINDS if pattern.search(outcome.text)), "ddl")
    if statement.results:
        is_client = any(isinstance(one.content, Grid) and one.content.is_of_client for one in statement.blocks)
        return "command" if is_client else "select"
    for plan in statement.plans:
        if plan.plan_source == "explain" and plan.operations:
            return _PLAN_KINDS.get(plan.operations[0].cells().get("operation", "").split(" ")[0])
    return None


def _check(page: Page, statement: Statement) -> None:
    """Diagnostics about a whole statement."""
    outcome, clock = statement.outcome, statement.clock
    if outcome is not None and outcome.code is not None:
        reason = f"the statement failed with {outcome.code}"
        if statement.text is None:
            reason = f"a statement failed with {outcome.code}; the log does not show its text"
        page.note(outcome.line, "failed", reason)
    if statement.kind == "select" and not statement.results:
        _check_text_rows(page, statement)
    if (
        clock is not None
        and statement.blocks[0].token in _BARE_PARTS
        and all(block.token in _BARE_PARTS for block in statement.blocks)
    ):
        page.note(clock.line, "no_owner", "the log shows no statement, result or feedback for this Elapsed")


def _check_text_rows(page: Page, statement: Statement) -> None:
    """A diagnostic for the rows of a query that are printed without headings: they are text."""
    outcome = statement.outcome
    if any(one.plan_source != "explain" for one in statement.plans):
        return
    if outcome is not None and (outcome.code is not None or outcome.rows == 0):
        return
    texts = [block for block in statement.blocks if block.token in _TEXTS]
    if outcome is not None:
        texts = [block for block in texts if block.first < outcome.line]
    lines = [line for block in texts for line in page.lines[block.first : block.last] if line]
    if lines and not any(line.startswith(HTML_TABLE) for line in lines):
        count = len(lines)
        reason = f"{count} lines of a query's result have no heading with a ruler below it; they are text"
        page.note(texts[0].first, "no_heading", reason)
