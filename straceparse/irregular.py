"""Lines that are not so regular: calls with decorations, signals, exits, and what only Lark can say.

`read_irregular` gets the lines that slices could not take.  Two patterns, built from the grammar's terminals, read the
calls and the marks among them; Lark reads the rest, line by line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import polars as pl

from straceparse.leader import LEADER
from straceparse.names import canonical_name
from straceparse.records import GRAMMAR, Record, bare, leader_parts, read_line, undecorated
from straceparse.schema import KIND

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
#: Up to so many lines are matched one by one.
_FEW: Final = 300


def read_irregular(lines: pl.Series) -> pl.DataFrame:
    """The `PARTS` of lines as text, in columns named ``_kind``, ``_pid``, ..."""
    schema = {f"_{name}": pl.String for name in PARTS}
    return pl.DataFrame(_parts(lines), schema=schema, orient="row").with_columns(pl.col("_kind").cast(KIND))


def read_records(lines: list[str]) -> list[Record]:
    """The records of lines, as `read_line` gives them one by one; carriage returns and colours are removed."""
    return [Record(*parts[:-1]) for parts in _parts(pl.Series("line", map(bare, lines), dtype=pl.String))]  # type: ignore[arg-type]


def _parts(lines: pl.Series) -> list[tuple[str | None, ...]]:
    return [
        _call(parts) or _mark(text) or _other(text) for text, parts in zip(lines.to_list(), _groups(lines), strict=True)
    ]


def _groups(texts: pl.Series) -> list[tuple[str | None, ...]]:
    """The groups of the call pattern for each line; a few lines are not worth a query."""
    if len(texts) <= _FEW:
        pattern = _compiled_call_pattern()
        return [
            found.group(*pattern.groupindex) if (found := pattern.match(text)) else (None,) * len(pattern.groupindex)
            for text in texts
        ]
    groups = pl.col(texts.name).str.extract_groups(_call_pattern())
    return texts.to_frame().lazy().select(groups).unnest(texts.name).collect().rows()  # on all processors


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
