"""The names of V$STATNAME, and how a name that was cut at its column's width is completed.

The names are those of `logframe.oracle`, of Oracle 8i to 21c.  It is not every release's whole list: a name it lacks is
kept as printed.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, NamedTuple

from logframe.oracle import find_names, known_names

#: A shorter text is not completed: too many names begin like it.
_SHORTEST: Final = 8
#: This many letters distinguish most texts from names.
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
    return tuple(sorted(known_names("statistic"), key=str.casefold))


@lru_cache(maxsize=4096)
def complete(printed: str, *, is_cut: bool = False) -> Name:
    """The statistic a printed name stands for.

    Args:
        printed: the name, perhaps cut at its column's width.
        is_cut: the name fills its column, so it may be cut even where the dictionary does not say how it continues.

    Examples:
        >>> complete("physical read total multi bl")
        Name(name='physical read total multi block requests', is_known=True, is_truncated=True)
        >>> complete("physical reads")
        Name(name='physical reads', is_known=True, is_truncated=False)
        >>> complete("no such statistic")
        Name(name='no such statistic', is_known=False, is_truncated=False)
    """
    key = " ".join(printed.split())
    found = find_names("statistic", key) if key else ()
    if len(found) == 1 and " ".join(found[0].split()).casefold() == key.casefold():
        return Name(found[0], is_known=True, is_truncated=False)
    if found and len(key) >= _SHORTEST:
        is_only = len(found) == 1
        return Name(found[0] if is_only else printed, is_known=is_only, is_truncated=True)
    return Name(printed, is_known=False, is_truncated=is_cut)


@cache
def _firsts() -> frozenset[str]:
    """The first letters of the names, without regard to case; fewer where a blank or the end comes sooner."""
    return frozenset(name.split(" ")[0][:_FIRST] for name in map(str.casefold, statistic_names()))


def may_be_known(printed: str) -> bool:
    """Does a text begin as one of the names does?  Most texts do not, which is quickly seen."""
    return printed.split(" ", 1)[0][:_FIRST].casefold() in _firsts()


def is_known(printed: str) -> bool:
    """Is this a statistic's name, whole or cut where only one name begins so?"""
    return complete(printed).is_known
