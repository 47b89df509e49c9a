"""What each line of a text report is, by the terminals of ``report.lark``."""

from __future__ import annotations

from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Final

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
    "error",
    "invalid",
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
    ERROR,
    INVALID,
) = range(len(KINDS))

#: The terminals of titles have an automaton of their own: one of all terminals would have thirty times the states.
_OF_TITLES: Final = frozenset({"title"})
#: Kinds that are no rule of their own in the grammar, or take whatever is left.
_REST: Final = frozenset({"text"})


#: The rank of a line that no terminal describes.
_NO_RANK: Final = 255


@cache
def classifiers() -> tuple[tuple[Classifier, bytes], ...]:
    """Classifiers of lines by the terminals of the grammar, and the rank of the terminal of each of their tags.

    A smaller rank wins: it is the terminal's place among all.  Tags count from 1; 0 is a line without a kind.
    """
    ranks = {terminal: rank for rank, terminal in enumerate(GRAMMAR.kinds)}
    found = []
    for is_of_titles in (True, False):
        names = [
            terminal
            for terminal, rule in GRAMMAR.kinds.items()
            if rule not in _REST and (rule in _OF_TITLES) is is_of_titles
        ]
        # an empty line, which no terminal may describe, is blank, too
        classifier = GRAMMAR.classifier({name: f"{{{name}}}" + "?" * (name == "BLANK") for name in names})
        found.append((classifier, _table([_NO_RANK, *(ranks[name] for name in names)], _NO_RANK)))
    return tuple(found)


def _table(values: list[int], other: int) -> bytes:
    """A table for `bytes.translate`: the first bytes become these values, all others another."""
    return bytes([*values, *[other] * (256 - len(values))])


def classify(lines: list[str]) -> bytearray:
    """The kind of each line, by itself: a position in `KINDS`.

    Args:
        lines: without their line ends.

    Examples:
        >>> [KINDS[kind] for kind in classify(["-> ordered by name", "", "----- ---", "a       1"])]
        ['note', 'blank', 'ruler', 'text']
    """
    (titles, ranks_of_titles), (others, ranks) = [(one.tags_of(lines), ranks) for one, ranks in classifiers()]
    found = bytearray(others.translate(ranks))
    for number in compress(range(len(lines)), titles):
        found[number] = min(found[number], ranks_of_titles[titles[number]])
    return found.translate(_table([KINDS.index(rule) for rule in GRAMMAR.kinds.values()], TEXT))
