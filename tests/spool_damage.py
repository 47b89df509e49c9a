"""Cut and spliced sessions, and what became of the owners: of whose lines a statement of the damaged copy is made.

A damage keeps of each of its lines which line of which original it was.  A statement of the copy that has lines of two
statements of the originals, or a result grid with rows of two, must have a diagnostic near it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from transformations import joined

from logframe import LogParseError
from sqlplusparse import read_spool

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from sqlplusparse import Spool

#: What only a damaged session has.
SIGNS: Final = frozenset(
    {
        "no_owner",
        "missing",
        "sum",
        "cut",
        "misplaced",
    }
)
PLAN: Final = """\
Execution Plan
----------------------------------------------------------
Plan hash value: 1388734953

----------------------------------
| Id  | Operation         | Name |
----------------------------------
|   0 | SELECT STATEMENT  |      |
|   1 |  SORT AGGREGATE   |      |
|   2 |   TABLE ACCESS FULL| T   |
----------------------------------

"""
#: A diagnostic speaks of the damage when it is at most so many lines away from it.
NEAR: Final = 12
#: Roles of lines that a statement owns.
_OWNED: Final = frozenset({"input", "elapsed", "statistic", "plan", "row", "feedback", "error"})
_CUTS: Final = (1, 2, 3, 5, 8, 12, 20, 35, 60)


class Damage(NamedTuple):
    """A damaged session.

    Attributes:
        name: what was done.
        lines: of the copy.
        origins: of each line the number of the original (0, 1) and its line there, counted from 1.
        joints: the lines of the copy, counted from 1, before which something is missing.
    """

    name: str
    lines: list[str]
    origins: list[tuple[int, int]]
    joints: list[int]


def cut(lines: Sequence[str], start: int, count: int) -> Damage:
    """Without so many lines from a place on."""
    kept = [*range(start), *range(start + count, len(lines))]
    return Damage(
        f"cut {count} at {start + 1}", [lines[one] for one in kept], [(0, one + 1) for one in kept], [start + 1]
    )


def spliced(lines: Sequence[str], end: int, other: Sequence[str], start: int) -> Damage:
    """The beginning of one session and the rest of another."""
    return Damage(
        f"spliced {end} with {start + 1}",
        [*lines[:end], *other[start:]],
        [*((0, one + 1) for one in range(end)), *((1, one + 1) for one in range(start, len(other)))],
        [end + 1],
    )


def damages(lines: Sequence[str], other: Sequence[str], chance: random.Random, count: int) -> Iterator[Damage]:
    """Damaged copies of a session; `count` cuts of a random size, and as many splices."""
    for _ in range(count):
        many = chance.choice(_CUTS)
        if many < len(lines) - 2:
            yield cut(lines, chance.randrange(1, len(lines) - many), many)
        yield spliced(lines, chance.randrange(1, len(lines)), other, chance.randrange(1, len(other)))


class Owners:
    """Of each line of a session the statement and the result grid that own it."""

    def __init__(self, spool: Spool) -> None:
        self.spool = spool
        lines = spool.lines()
        self.roles: list[str] = lines["role"].to_list()
        self.statements: list[int | None] = lines["statement"].to_list()
        self.grids = {line: table for table in range(1, spool.tables.height + 1) for line in spool.table_lines(table)}


class Mixed(NamedTuple):
    """Lines of several owners under one: a statement or grid of the copy, its line, and what its lines were."""

    what: str
    line: int
    last: int
    owners: list[object]


def mixed(originals: Sequence[Owners], damage: Damage, copy: Owners) -> list[Mixed]:
    """What a copy gives one owner, and the originals several."""
    made: dict[tuple[str, int], dict[object, tuple[int, str]]] = defaultdict(dict)
    extents: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, (log, line) in enumerate(damage.origins, 1):
        role, statement = copy.roles[number - 1], copy.statements[number - 1]
        if statement is not None and role in _OWNED:
            original = originals[log]
            owner = original.statements[line - 1]
            if original.roles[line - 1] in _OWNED:
                made["statement", statement].setdefault((log, owner), (number, role))
                extents["statement", statement].append(number)
        if (grid := copy.grids.get(number)) is not None:
            made["grid", grid].setdefault((log, originals[log].grids.get(line)), (number, role))
            extents["grid", grid].append(number)
    return [
        Mixed(key[0], min(extents[key]), max(extents[key]), sorted(((v, k) for k, v in found.items()), key=str))
        for key, found in made.items()
        if len(found) > 1
    ]


class Verdict(NamedTuple):
    """Is the copy read, what is mixed with and without a diagnostic near, and the new diagnostics."""

    is_read: bool
    diagnosed: list[Mixed]
    silent: list[Mixed]
    added: list[tuple[object, ...]]


def judge(originals: Sequence[Owners], damage: Damage) -> Verdict:
    """Compare a damaged session with what it was made of."""
    try:
        copy = Owners(read_spool(joined(damage.lines).encode()))
    except LogParseError:
        return Verdict(False, [], [], [])
    places = {origin: number for number, origin in enumerate(damage.origins, 1)}
    known = {
        (places.get((log, row[1])), row[3])
        for log, original in enumerate(originals)
        for row in original.spool.diagnostics.rows()
    }
    added = [row for row in copy.spool.diagnostics.rows() if (row[1], row[3]) not in known]
    diagnosed: list[Mixed] = []
    silent: list[Mixed] = []
    for one in mixed(originals, damage, copy):
        near = any(
            row[1] is None
            or one.line - 2 <= row[1] <= one.last + 2
            or any(abs(row[1] - joint) <= NEAR for joint in damage.joints)
            for row in added
        )
        (diagnosed if near else silent).append(one)
    return Verdict(True, diagnosed, silent, added)


def signs_of(text: str) -> list[tuple[int, str]]:
    """Lines and kinds of the signs in a text."""
    rows = read_spool(text.encode()).diagnostics.select("line", "kind").rows()
    return [row for row in rows if row[1] in SIGNS]
