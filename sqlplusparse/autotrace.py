"""Autotrace statistics: SQL*Plus's eleven, SQLcl's session statistics, each line a name and a count.

The names of V$STATNAME, and how a name that was cut at its column's width is completed.

The names are those of `logframe.oracle`, of Oracle 8i to 21c.  It is not every release's whole list: a name it lacks is
kept as printed.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe.oracle import find_names, known_names
from sqlplusparse.lines import DOTS, SESSION_STATISTIC, STATISTIC, Kind, runs_of
from sqlplusparse.page import LineRole, Page
from sqlplusparse.records import Autotrace

if TYPE_CHECKING:
    import re


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


#: What SQL*Plus prints, in its order.  `rows processed` is no statistic of V$STATNAME.
AUTOTRACE_NAMES: Final = (
    "recursive calls",
    "db block gets",
    "consistent gets",
    "physical reads",
    "redo size",
    "bytes sent via SQL*Net to client",
    "bytes received via SQL*Net from client",
    "SQL*Net roundtrips to/from client",
    "sorts (memory)",
    "sorts (disk)",
    "rows processed",
)
_NAMES: Final = list(AUTOTRACE_NAMES)
_LAST: Final = AUTOTRACE_NAMES[-1]
_ORDER: Final = {name: place for place, name in enumerate(AUTOTRACE_NAMES)}
_STATISTICS: Final = runs_of(Kind.STATISTIC)
#: At most this many lines within a list may be none of it.
_MOST_FOREIGN: Final = 8
_TEXTS: Final = runs_of(Kind.TEXT)
_LISTED: Final = runs_of(Kind.STATISTIC, Kind.TEXT)
#: Fewer statistics without a heading may be anything.
_FEWEST_UNHEADED: Final = 3
#: Kinds of lines that may go on with a list.
_WORDS: Final = frozenset({Kind.TEXT, Kind.ELISION})


def read_autotrace(page: Page, number: int) -> tuple[Autotrace | None, int]:
    """The list that begins at a heading or at its first statistic, and the line after it."""
    start = number
    if page.kind(number) == Kind.STATISTICS_HEADING:
        number = page.after_blanks(number + 1)
        if page.kind(number) == Kind.RULER:
            number = page.after_blanks(number + 1)
        if not _is_counted(page, number):
            return None, start + 1
        page.assign(start, number, LineRole.HEADING)
    return _read_whole(page, number) or _read_lines(page, number, has_heading=number > start)


def is_session_statistic(line: str) -> bool:
    """Is a line a count and the name of a statistic of V$STATNAME?

    Examples:
        >>> is_session_statistic("      28  Requests to/from client"), is_session_statistic("      28  apples")
        (True, False)
    """
    shown = SESSION_STATISTIC.fullmatch(line.strip())
    return shown is not None and is_known(shown["name"])


def read_unheaded(page: Page, number: int) -> tuple[Autotrace, int] | None:
    """The list of session statistics that begins at a line without a heading above it, and the line after it.

    None when the lines are not several statistics of V$STATNAME, each after its count.
    """
    if not all(map(is_session_statistic, page.lines[number : number + _FEWEST_UNHEADED])):
        return None
    found, end = _read_lines(page, number, has_heading=True)
    return (found, end) if len(found.names) >= _FEWEST_UNHEADED else None


def _read_whole(page: Page, number: int) -> tuple[Autotrace, int] | None:
    """The list when it is SQL*Plus's eleven lines and no more; None when it is anything else."""
    end = _STATISTICS(page.kinds, number).end()
    if end - number != len(_NAMES) or page.kind(end) in _WORDS:
        return None
    cells = [line.split(None, 1) for line in page.lines[number:end]]
    raws = [raw for raw, _ in cells]
    if [name for _, name in cells] != _NAMES or not "".join(raws).isdigit():
        return None
    page.assign(number, end, LineRole.STATISTIC)
    return Autotrace("sqlplus", list(range(number, end)), _NAMES, list(map(int, raws)), raws), end


def _read_lines(page: Page, number: int, *, has_heading: bool) -> tuple[Autotrace, int]:
    """The list line by line: cut short, commented, with other statistics, with a blank line within."""
    found = Autotrace("sqlplus", [], [], [], [])
    end = number
    # SQLcl's list is in the order of the alphabet, SQL*Plus's is not
    listed = range(number, _LISTED(page.kinds, number).end()) if has_heading else range(0)
    has_others = any(page.kinds[one] == Kind.TEXT and is_session_statistic(page.lines[one]) for one in listed)
    while number < len(page):
        kind = page.kinds[number]
        line = page.lines[number].strip()
        if kind == Kind.BLANK:
            ahead = page.after_blanks(number)
            if ahead - number > 1 or not _goes_on(page, ahead, found):
                break
            number = ahead
            continue
        shown = STATISTIC.fullmatch(line) if kind == Kind.STATISTIC else None
        if shown is None and kind == Kind.TEXT and has_heading:
            shown = SESSION_STATISTIC.fullmatch(line)
            if shown is not None and found.names == _NAMES[: len(found.names)] and not is_known(shown["name"]):
                shown = None  # not among SQL*Plus's own, nor a statistic that SQLcl shows
        if shown is None:
            if kind in _WORDS and DOTS.fullmatch(line):
                page.roles[number] = LineRole.ELISION
                number = end = number + 1
                continue
            ahead = _TEXTS(page.kinds, number).end()
            if not number < ahead <= number + _MOST_FOREIGN or not _goes_on(page, ahead, found):
                break
            page.refuse(number, "unparsed", "this line within the statistics of autotrace is not one of them")
            number += 1
            continue
        if not has_others and found.names and _is_next_list(found.names[-1], shown["name"]):
            break
        _add(page, number, shown, found)
        page.roles[number] = LineRole.STATISTIC
        number = end = number + 1
    if has_others and _LAST not in found.names:
        found = found._replace(client="sqlcl")
    elif found.names and len(found.names) != len(_NAMES):
        reason = f"{len(found.names)} of the {len(_NAMES)} statistics of autotrace are shown; the others are null"
        page.note(found.lines[0], "cut", reason)
    return found, end


def _is_counted(page: Page, number: int) -> bool:
    kind = page.kind(number)
    if kind not in _WORDS:
        return kind == Kind.STATISTIC
    line = page.lines[number].strip()
    return SESSION_STATISTIC.fullmatch(line) is not None or DOTS.fullmatch(line) is not None


def _goes_on(page: Page, number: int, found: Autotrace) -> bool:
    """Does a list go on after a blank line: with a statistic that comes later in SQL*Plus's order?"""
    shown = STATISTIC.fullmatch(page.lines[number].strip()) if page.kind(number) == Kind.STATISTIC else None
    return shown is not None and bool(found.names) and not _is_next_list(found.names[-1], shown["name"])


def _is_next_list(last: str, name: str) -> bool:
    return _ORDER.get(name, len(_ORDER)) <= _ORDER.get(last, -1)


def _add(page: Page, number: int, shown: re.Match[str], found: Autotrace) -> None:
    raw = shown["count"]
    value = None if raw.startswith("#") else int(raw.replace(",", ""))
    if value is None:
        page.note(number, "overflow", "the value did not fit its column; it is null, not zero")
    found.lines.append(number)
    found.names.append(shown["name"].strip())
    found.values.append(value)
    found.raws.append(raw)
