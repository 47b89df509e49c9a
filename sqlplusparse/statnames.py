"""The names of V$STATNAME, and how a name that was cut at its column's width is completed.

``statistics.txt`` lists names of Oracle 8i to 21c, one a line.  It is not every release's whole list: a name it lacks
is kept as printed.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

#: A shorter text is not completed: too many names begin like it.
_SHORTEST: Final = 8
#: So many letters tell most texts from names.
_FIRST: Final = 4


class Name(NamedTuple):
    """A statistic's name as V$STATNAME has it.

    Attributes:
        name: completed where the printed name was cut, else as printed.
        is_known: the name is in the dictionary.
        is_truncated: the printed name was cut.
    """

    name: str
    is_known: bool
    is_truncated: bool


@cache
def statistic_names() -> tuple[str, ...]:
    """The names in the dictionary, sorted without regard to case."""
    text = files("sqlplusparse").joinpath("statistics.txt").read_text(encoding="utf-8")
    return tuple(sorted(text.split("\n")[:-1], key=str.casefold))


@cache
def _folded() -> tuple[list[str], dict[str, str]]:
    names = statistic_names()
    return [name.casefold() for name in names], {name.casefold(): name for name in names}


@lru_cache(maxsize=4096)
def complete(printed: str, *, is_cut: bool = False) -> Name:
    """The statistic a printed name stands for.

    Args:
        printed: the name, perhaps cut at its column's width.
        is_cut: the name fills its column, so it may be cut even where the dictionary does not say how it goes on.

    Examples:
        >>> complete("physical read total multi bl")
        Name(name='physical read total multi block requests', is_known=True, is_truncated=True)
        >>> complete("physical reads")
        Name(name='physical reads', is_known=True, is_truncated=False)
        >>> complete("no such statistic")
        Name(name='no such statistic', is_known=False, is_truncated=False)
    """
    folded, exact = _folded()
    key = " ".join(printed.split()).casefold()
    if key in exact:
        return Name(exact[key], is_known=True, is_truncated=False)
    if len(key) >= _SHORTEST:
        place = bisect_left(folded, key)
        if place < len(folded) and folded[place].startswith(key):
            is_only = place + 1 == len(folded) or not folded[place + 1].startswith(key)
            return Name(exact[folded[place]] if is_only else printed, is_known=is_only, is_truncated=True)
    return Name(printed, is_known=False, is_truncated=is_cut)


@cache
def _firsts() -> frozenset[str]:
    """The first letters of the names, without regard to case; fewer where a blank or the end comes sooner."""
    return frozenset(name.split(" ")[0][:_FIRST] for name in _folded()[0])


def may_be_known(printed: str) -> bool:
    """Does a text begin as one of the names does?  Most texts do not, which is quickly seen."""
    return printed.split(" ", 1)[0][:_FIRST].casefold() in _firsts()


def is_known(printed: str) -> bool:
    """Is this a statistic's name, whole or cut where only one name begins so?"""
    return complete(printed).is_known
