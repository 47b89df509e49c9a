"""Blocks into groups of one statement each, by the grammar session.lark.

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

if TYPE_CHECKING:
    from collections.abc import Sequence

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
