"""Lines that are not so regular: calls with decorations, signals, exits, and what only Lark can say.

`read_irregular` gets the lines that slices could not take, as a Series with nulls elsewhere.  Two patterns, built from
the grammar's terminals, read the calls and the marks among them; Lark reads the rest, line by line.  The parts come
back as one list a line: unlike a struct, a list costs nothing for the many lines that are null.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import polars as pl

from straceparse.leader import LEADER
from straceparse.names import canonical_name
from straceparse.records import GRAMMAR, Record, leader_parts, read_line, undecorated

#: The parts of a line, as text: the fields of `Record`, and the system call's name across versions.
PARTS: Final = (*Record._fields, "name")

_OUTCOME: Final = (
    "(?P<value>{VALUE})(?P<decoration>{DECORATION})?(?P<comment>{COMMENT})?(?P<errno>{ERRNO})?(?P<notes>(?:{NOTE})*)"
    "(?P<elapsed>{ELAPSED})?"
)
_CALL: Final = (
    f"^{LEADER}(?:{{_RESUMED_START}}(?P<resumed>{{SYSCALL}}){{_RESUMED_END}}|(?P<syscall>{{SYSCALL}}){{_OPEN}})"
    f"(?P<args>{{ARGS}})?(?:(?P<unfinished>{{UNFINISHED}})|{{_CLOSE}}{_OUTCOME})$"
)
_MARK: Final = f"^{LEADER}(?:(?P<signal>{{SIGNAL}})|(?P<exited>{{EXITED}})|(?P<killed>{{KILLED}}))$"
_LIST: Final = pl.List(pl.String)
_NOTHING: Final = pl.Series([None], dtype=_LIST)
#: Up to so many lines are matched one by one.
_FEW: Final = 24


def read_irregular(lines: pl.Series) -> pl.Series:
    """The `PARTS` of lines, as a Series of lists; null where the line is null."""
    if lines.null_count() == len(lines):
        return _NOTHING.new_from_index(0, len(lines)).alias(lines.name)
    texts = lines.drop_nulls()
    cells: list[str | None] = []
    for text, parts in zip(texts.to_list(), _groups(texts), strict=True):
        cells += _call(parts) or _mark(text) or _other(text)
    found = pl.Series(lines.name, cells, dtype=pl.String).reshape((len(texts), len(PARTS))).arr.to_list()
    if len(found) == len(lines):
        return found
    places = pl.Series([None], dtype=pl.UInt32).new_from_index(0, len(lines))
    return found.gather(places.scatter(lines.is_not_null().arg_true(), range(len(found))))


def _groups(texts: pl.Series) -> list[tuple[str | None, ...]]:
    """The groups of the call pattern for each line; a few lines are not worth a query."""
    if len(texts) <= _FEW:
        pattern = _compiled_call_pattern()
        return [
            found.group(*pattern.groupindex) if (found := pattern.match(text)) else (None,) * len(pattern.groupindex)
            for text in texts
        ]
    return texts.str.extract_groups(_call_pattern()).struct.unnest().rows()


def _call(groups: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The `PARTS` of a call or of a half of one, from the pattern's groups; None where it does not fit."""
    (bare, bracket, secontext, clock, since, beside, number, address, resumed, syscall, args, unfinished) = groups[:12]
    (value, decoration, comment, errno, notes, elapsed) = groups[12:]
    name = syscall or resumed
    if name is None:
        return None
    args = args or ""
    if unfinished and not resumed:
        args = args.removesuffix(" ")
    leader = leader_parts(bare or bracket, secontext, clock, since or beside, number, address)
    return (
        "resumed" if resumed else "unfinished" if unfinished else "call",
        *leader,
        name,
        args,
        value,
        decoration and undecorated(decoration),
        errno and errno[1:],
        f"{comment or ''}{notes or ''}".strip() or None,
        elapsed and elapsed[2:-1],
        None,
        canonical_name(name),
    )


def _mark(text: str) -> tuple[str | None, ...] | None:
    """The `PARTS` of a signal, an exit or a death; None where the line is none."""
    found = _mark_pattern().match(text)
    if found is None:
        return None
    parts = found.groupdict()
    leader = leader_parts(
        parts["pid_column"] or parts["pid_bracket"],
        parts["secontext"],
        parts["clock"],
        parts["since"] or parts["since_beside"],
        parts["number"],
        parts["address"],
    )
    kind = next(name for name in ("signal", "exited", "killed") if parts[name])
    value = found.group("exited")[len("+++ exited with ") : -4] if kind == "exited" else None
    empty = (None,) * (PARTS.index("note") - PARTS.index("value") - 1)
    return (kind, *leader, None, None, value, *empty, parts[kind][4:-3].strip(), None, None, None)


def _other(text: str) -> tuple[str | None, ...]:
    """The `PARTS` of any other line, from Lark."""
    record = read_line(text)
    return (*record, canonical_name(record.syscall))


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(_MARK))


@cache
def _compiled_call_pattern() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(_CALL))


@cache
def _call_pattern() -> str:
    """The pattern of calls and their halves, its terminals filled in; the groups are what `_call` takes apart."""
    pattern = GRAMMAR.pattern(_CALL)
    names = tuple(_compiled_call_pattern().groupindex)
    expected = (
        *("pid_column", "pid_bracket", "secontext", "clock", "since", "since_beside", "number", "address"),
        *("resumed", "syscall", "args", "unfinished", "value", "decoration", "comment", "errno", "notes", "elapsed"),
    )
    if names != expected:
        raise AssertionError(f"the groups of the call pattern are {names}")
    return pattern
