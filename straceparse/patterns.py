"""Lines of variable width: calls with decorations, signals and exits by regular expressions, the rest by Lark.

`match_lines` takes the lines that the fixed-width slices do not match.  Two patterns, built from the grammar's
terminals, read the calls, signals and exits among them; Lark parses the rest line by line.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

import polars as pl

from straceparse.call_table import canonical_name
from straceparse.records import (
    GRAMMAR,
    KINDS,
    LONG,
    PREFIX,
    PREFIX_FIELDS,
    PREFIX_TERMINALS,
    Record,
    bare,
    exited_record,
    killed_record,
    prefix_parts,
    signal_record,
    undecorated,
    unfinished_note,
)

#: The parts of a line as text: the fields of `Record`, and the canonical name of the system call.
PARTS: Final = (*Record._fields, "name")

_OUTCOME: Final = (
    "(?P<value>{VALUE})(?P<decoration>{DECORATION})?(?P<comment>{COMMENT})?(?P<errno>{ERRNO})?(?P<notes>(?:{NOTE})*)"
    "(?P<elapsed>{ELAPSED})?"
)
_CALL: Final = (
    f"^{PREFIX}(?:{{_RESUMED_START}}(?P<resumed>{{SYSCALL}}){{_RESUMED_END}}|(?P<syscall>{{SYSCALL}}){{_OPEN}})"
    f"(?P<args>{{ARGS}})?(?:(?P<unfinished>{{UNFINISHED}})|{{_CLOSE}}{_OUTCOME})$"
)
_SIGNAL_OR_END: Final = f"^{PREFIX}(?:(?P<signal>{{SIGNAL}})|(?P<exited>{{EXITED}})|(?P<killed>{{KILLED}}))$"
#: Up to this many lines are matched one by one in Python, which is faster than a query.
_FEW: Final = 300
#: What Lark reads of lines up to this length is kept.
_KEPT: Final = 500


def match_lines(lines: pl.Series) -> pl.DataFrame:
    """The `PARTS` of lines as text, in columns named ``_kind``, ``_pid``, ..."""
    schema = {f"_{name}": pl.String for name in PARTS}
    return pl.DataFrame(_parts(lines), schema=schema, orient="row").with_columns(pl.col("_kind").cast(pl.Enum(KINDS)))


def read_records(lines: list[str]) -> list[Record]:
    """The records of lines, as `read_line` gives them one by one; carriage returns and colours are removed."""
    return [Record(*parts[:-1]) for parts in _parts(pl.Series("line", map(bare, lines), dtype=pl.String))]  # type: ignore[arg-type]


def _parts(lines: pl.Series) -> list[tuple[str | None, ...]]:
    return [
        _call(parts) or _signal_or_end(text) or _other(text)
        for text, parts in zip(lines.to_list(), _groups(lines), strict=True)
    ]


def _groups(texts: pl.Series) -> list[tuple[str | None, ...]]:
    """The groups of the call pattern for each line."""
    if len(texts) <= _FEW and not (texts.str.len_bytes() > LONG).any():
        pattern = _compiled_call_pattern()
        return [
            found.group(*pattern.groupindex) if (found := pattern.match(text)) else (None,) * len(pattern.groupindex)
            for text in texts
        ]
    groups = pl.col(texts.name).str.extract_groups(_call_pattern())
    return texts.to_frame().lazy().select(groups).unnest(texts.name).collect().rows()  # on all processors


def _call(groups: tuple[str | None, ...]) -> tuple[str | None, ...] | None:
    """The `PARTS` of a call or of half of one from the pattern's groups; None where the line does not match."""
    (column, bracket, secontext, clock, relative_ts, with_clock, syscall_number, instruction_pointer) = groups[:8]
    (resumed, syscall, args, unfinished, value, decoration, comment, errno, notes, elapsed) = groups[8:]
    name = syscall or resumed
    if name is None:
        return None
    args = args or ""
    if unfinished:
        notes = unfinished_note(unfinished)
        if not resumed:
            args = args.removesuffix(" ")
    prefix = prefix_parts(
        column or bracket, secontext, clock, relative_ts or with_clock, syscall_number, instruction_pointer
    )
    return (
        "resumed" if resumed else "unfinished" if unfinished else "call",
        *prefix,
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


def _signal_or_end(text: str) -> tuple[str | None, ...] | None:
    """The `PARTS` of a signal or of the end of a process; None where the line is neither."""
    found = _signal_or_end_pattern().match(text)
    if found is None:
        return None
    *fields, signal, exited, killed = found.groups()
    column, bracket, secontext, clock, relative_ts, with_clock, syscall_number, instruction_pointer = fields
    prefix = prefix_parts(
        column or bracket, secontext, clock, relative_ts or with_clock, syscall_number, instruction_pointer
    )
    event = signal_record(signal) if signal else exited_record(exited) if exited else killed_record(killed)
    return (event.kind, *prefix, *event[len(PREFIX_FIELDS) + 1 :], None)


def _other(text: str) -> tuple[str | None, ...]:
    """The `PARTS` of any other line, parsed by Lark."""
    return _parsed(text) if len(text) > _KEPT else _parsed_once(text)


def _parsed(text: str) -> tuple[str | None, ...]:
    from straceparse.line_parser import read_line  # noqa: PLC0415 - most logs have no line for Lark

    record = read_line(text)
    return (*record, canonical_name(record.syscall))


#: The lines of a sample are read more than once: for what was added to them, for the dialect, and as records.
_parsed_once: Final = lru_cache(4000)(_parsed)


@cache
def _signal_or_end_pattern() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(_SIGNAL_OR_END))


@cache
def _compiled_call_pattern() -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(_CALL))


@cache
def _call_pattern() -> str:
    """The pattern of calls and halves of calls; its groups are those that `_call` expects."""
    pattern = GRAMMAR.pattern(_CALL)
    names = tuple(_compiled_call_pattern().groupindex)
    expected = (
        *PREFIX_TERMINALS,
        *("resumed", "syscall", "args", "unfinished", "value", "decoration", "comment", "errno", "notes", "elapsed"),
    )
    if names != expected:
        raise AssertionError(f"the groups of the call pattern are {names}")
    return pattern
