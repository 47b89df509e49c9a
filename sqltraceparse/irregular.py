"""Lines that are not regular: cut, fused with another, or with fields of another version.

What such a line says for certain is read: a field counts where its end is seen.  The rest of it is a diagnostic.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import Diagnostic, explain
from sqltraceparse.grammar import GRAMMAR, record_start
from sqltraceparse.regular import FIELDS, RAW_CALLS, RAW_WAITS, signed_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lark import Token

    from logframe.kinds import DiagnosticKind
    from sqltraceparse.sections import Sorted

#: Kinds whose lines may hold a second record.
_RECORDS: Final = ("wait", "call", "close", "lob", "transaction", "row_source", "parsing", "error")
#: How the reason of a line begins that has a field which no known release prints.
_UNKNOWN: Final = "unknown field"
#: No figure of a trace has more digits: a counter of 64 bits that ran below 0 does.
_LARGEST: Final = 10**18 - 1


class Fields(NamedTuple):
    """What a damaged line says: its rule, its tokens by name, its fields, and why it is not regular (a diagnostic)."""

    rule: str
    tokens: dict[str, str]
    fields: dict[str, int]
    parameters: list[tuple[str, int]]
    reason: str
    column: int | None
    kind: DiagnosticKind = "cut"


def unfused(found: Sorted, name: str) -> tuple[pl.DataFrame | None, list[Diagnostic]]:
    """Lines with each record on a line of its own; None where they are so already.

    Returns:
        The lines (``line``, ``text``; the parts of one line have its number), and a row for each line that was split.
    """
    lines = found.lines
    placed = lines.with_row_index("place").head(found.open_from)  # the others may be part of a text
    if found.waits is not None:
        placed = placed.filter(~pl.col("is_whole"))  # compiled code has read them: each holds one record
    maybe = placed.filter(
        pl.col("kind").is_in([*_RECORDS, "parse_error", "unparsed", "stamp", "attribute"]),
        pl.col("text").str.contains(f".{GRAMMAR.pattern('{RECORD_START}')}"),
    )
    rows: list[Diagnostic] = []
    parts: dict[int, list[str]] = {}
    for place, line, text in maybe.select("place", "line", "text").iter_rows():
        starts = [start.start() for start in record_start().finditer(text) if start.start() > 0]
        cuts = [0, *starts, len(text)]
        pieces = [text[start:end] for start, end in pairwise(cuts)]
        if len(pieces) < 2 or not all(_is_whole(piece) for piece in pieces[1:-1]) or not _begins(pieces[-1]):
            continue
        parts[place] = pieces
        reason = f"{len(pieces)} records on one line without a line end between them; each is read"
        rows.append(Diagnostic(name, line, starts[0] + 1, "repaired", text, reason))
    if not parts:
        return None, []
    frames, done = [], 0
    bare = lines.select("line", "text")
    for place, pieces in parts.items():
        number = bare.item(place, "line")
        split = pl.DataFrame({"line": [number] * len(pieces), "text": pieces}, schema=bare.schema)
        frames += [bare.slice(done, place - done), split]
        done = place + 1
    return pl.concat([*frames, bare.slice(done)]), rows


def read_irregular(lines: pl.DataFrame, name: str) -> tuple[pl.DataFrame, pl.DataFrame, list[Diagnostic]]:
    """Waits and calls from damaged lines (``line``, ``text``) as `RAW_WAITS` and `RAW_CALLS`, with diagnostics."""
    waits: list[dict[str, object]] = []
    calls: list[dict[str, object]] = []
    rows: list[Diagnostic] = []
    for line, text in lines.select("line", "text").iter_rows():
        found = read_fields(text)
        rows.append(Diagnostic(name, line, found.column, found.kind, text, found.reason))
        if found.rule == "wait":
            if "ELAPSED" in found.tokens:
                waits.append({"line": line, **_wait(found)})
        elif "c" in found.fields or "e" in found.fields:
            calls.append({"line": line, **_call(found)})
    return _frame(waits, RAW_WAITS), _frame(calls, RAW_CALLS), rows


def read_fields(text: str) -> Fields:
    """The tokens and fields of one line, and the reason why it is not regular.

    Examples:
        >>> found = read_fields("EXEC #14:c=73,e=12")
        >>> found.fields, found.reason
        ({'c': 73}, 'the line is cut: "e=12" may lack digits')
    """
    from lark import Token, Tree  # noqa: PLC0415 - most traces have regular lines only
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - as above

    try:
        tree = GRAMMAR.parse(text, start="line")
    except UnexpectedInput as error:
        column, expected = explain(error)
        return Fields("", {}, {}, [], f"not a record of a trace; expected: {expected}", column)
    branch = tree.children[0]
    if not isinstance(branch, Tree):
        raise TypeError(f"a line is a tree of its kind, not {branch!r}")
    tokens = [child for child in branch.children if isinstance(child, Token)]
    named = {token.type: str(token) for token in tokens}
    reason, column = _why(text, tokens, str(branch.data))
    if tokens and tokens[-1].type in {"FIELD", "STAT_FIELD", "PARAMETER"} and "may lack" in reason:
        tokens = tokens[:-1]
    fields: dict[str, int] = {}
    parameters: list[tuple[str, int]] = []
    kind: DiagnosticKind = "unknown_name" if reason.startswith(_UNKNOWN) else "cut"
    for token in tokens:
        if token.type in {"FIELD", "STAT_FIELD", "PARAMETER", "ELAPSED"}:
            key, _, number = str(token).strip().rpartition("=")
            if abs(int(number)) > _LARGEST:
                reason, kind = f"{key}={number} is larger than any figure of a trace: a counter overflowed", "overflow"
            elif token.type == "ELAPSED":
                fields["elapsed"] = int(number)
            elif token.type == "PARAMETER":
                parameters.append((key, int(number)))
            else:
                fields[key] = int(number)
    return Fields(str(branch.data), named, fields, parameters, reason, column, kind)


def _why(text: str, tokens: list[Token], rule: str) -> tuple[str, int | None]:
    """Why a line that a rule reads is not regular."""
    last = tokens[-1] if tokens else None
    if last is None:
        return "the line is cut", len(text) + 1
    if last.type == "CUT" and not str(last).strip():
        return "the line is cut", len(text)
    if last.type == "CUT":
        return f"the line goes on with {str(last).strip()[:40]!r} where a field should be", last.column
    if last.type in {"FIELD", "STAT_FIELD"} and rule in {"call", "close", "lob"} and not _ends_with_tim(tokens):
        if text.endswith(","):
            return "the line is cut", len(text) + 1
        if any(str(token).strip().startswith("tim=") for token in tokens):  # which ends a line of any known release
            return f'{_UNKNOWN} "{str(last).strip()}"', last.column
        return f'the line is cut: "{str(last).strip()}" may lack digits', last.column
    if last.type == "PARAMETER" and len([token for token in tokens if token.type == "PARAMETER"]) not in {3, 5}:
        return f'the line is cut: "{str(last).strip()}" may lack digits', last.column
    if last.type in {"EVENT", "NUMBER"}:
        return "the line is cut", len(text) + 1
    if unknown := [one for one in tokens if one.type == "FIELD" and one.strip().partition("=")[0] not in FIELDS]:
        return f'{_UNKNOWN} "{unknown[0].strip()}"', unknown[0].column
    return "the fields are not those of any version that is known; each is read by its name", None


def _ends_with_tim(tokens: list[Token]) -> bool:
    return str(tokens[-1]).strip().startswith("tim=")


def _wait(found: Fields) -> dict[str, object]:
    """The columns of a wait that a damaged line gives."""
    row: dict[str, object] = {
        "cursor": signed_number(found.tokens["NUMBER"]),
        "event": found.tokens["EVENT"].strip()[len("nam='") : -1],
        "elapsed_us": found.fields.get("elapsed"),
    }
    for number, (key, value) in enumerate(found.parameters, 1):
        if key == "obj#":
            row["object_id"] = value
        elif key == "tim":
            row["tim_us"] = value
        elif number <= 3:
            row |= {f"p{number}_name": key, f"p{number}": value}
    return row


def _call(found: Fields) -> dict[str, object]:
    """The columns of a call that a damaged line gives."""
    op = found.tokens.get("CALL", found.tokens.get("LOB_NAME", "CLOSE #")).removesuffix(" #")
    cursor = {} if found.rule == "lob" else {"cursor": signed_number(found.tokens["NUMBER"])}
    lob_type = {"lob_type": found.tokens["LOB_TYPE"]} if "LOB_TYPE" in found.tokens else {}
    known = {FIELDS[key]: value for key, value in found.fields.items() if key in FIELDS}
    return {"op": op, **cursor, **lob_type, **known}


def _frame(rows: list[dict[str, object]], schema: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)


def _begins(text: str) -> bool:
    return record_start().match(text) is not None


def _is_whole(text: str) -> bool:
    return _begins(text) and _whole_record().fullmatch(text) is not None


@cache
def _whole_record() -> re.Pattern[str]:
    names: Iterable[str] = (name for name in GRAMMAR.terminals if name.endswith("_LINE"))
    return re.compile("|".join(_alternatives(names)))


def _alternatives(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield GRAMMAR.pattern(f"{{{name}}}")
