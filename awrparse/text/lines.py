"""What each line of a text report is, by the terminals of ``report.lark``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import load_grammar

if TYPE_CHECKING:
    from logframe.classify import Classifier

GRAMMAR = load_grammar("awrparse", "report.lark", "line")

#: The names of the kinds of line; a line's kind is its position here.
KINDS: Final = (
    "text",
    "blank",
    "banner",
    "title",
    "note",
    "ruler",
    "underline",
    "terminator",
    "no_data",
    "end",
    "addm",
    "fence",
    "heading",
    "record",
    "prose",
    "unparsed",
    "page_heading",
)
(
    TEXT,
    BLANK,
    BANNER,
    TITLE,
    NOTE,
    RULER,
    UNDERLINE,
    TERMINATOR,
    NO_DATA,
    END,
    ADDM,
    FENCE,
    HEADING,
    RECORD,
    PROSE,
    UNPARSED,
    PAGE_HEADING,
) = range(len(KINDS))

#: The terminals of titles have an automaton of their own: one of all terminals would have thirty times the states.
_OF_TITLES: Final = frozenset({"title"})
#: Kinds that are no rule of their own in the grammar, or take whatever is left.
_REST: Final = frozenset({"text"})


@cache
def classifiers() -> tuple[tuple[Classifier, pl.Series], ...]:
    """Classifiers of lines by the terminals of the grammar, and the rank of each terminal: a smaller one wins."""
    ranks = {terminal: rank for rank, terminal in enumerate(GRAMMAR.kinds)}
    found = []
    for is_of_titles in (True, False):
        names = [
            terminal
            for terminal, rule in GRAMMAR.kinds.items()
            if rule not in _REST and (rule in _OF_TITLES) is is_of_titles
        ]
        classifier = GRAMMAR.classifier({name: f"{{{name}}}" for name in names})
        found.append((classifier, pl.Series([ranks[name] for name in names], dtype=pl.UInt8)))
    return tuple(found)


def classify(lines: list[str]) -> bytearray:
    """The kind of each line, by itself: a position in `KINDS`.

    Args:
        lines: without their line ends.

    Examples:
        >>> [KINDS[kind] for kind in classify(["-> ordered by name", "", "----- ---", "a       1"])]
        ['note', 'blank', 'ruler', 'text']
    """
    texts = pl.Series(lines, dtype=pl.String)
    found = [ranks.gather(classifier.kinds_of(texts).to_physical()) for classifier, ranks in classifiers()]
    strongest = pl.select(pl.min_horizontal(found)).to_series()
    kinds = pl.Series([KINDS.index(rule) for rule in GRAMMAR.kinds.values()], dtype=pl.UInt8).gather(strongest)
    is_empty = texts.str.len_bytes() == 0
    return bytearray(kinds.fill_null(TEXT).set(is_empty, BLANK).to_list())
