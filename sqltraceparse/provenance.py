"""Which rows of the frames of an SQL trace or a TKPROF report came from which lines, for `logframe.provenance`."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from logframe import open_log
from logframe.copied import place_in_copy
from logframe.provenance import Claim, Part, by_line, is_tabular
from sqltraceparse.grammar import cleanup_of
from sqltraceparse.regular import FIELDS
from sqltraceparse.trace import SqlTrace

if TYPE_CHECKING:
    from logframe import Source
    from sqltraceparse.tkprof import Tkprof

#: What records of a trace start with that have figures.
_RECORDS: Final = ("PARSE", "EXEC", "FETCH", "UNMAP", "SORT UNMAP", "CLOSE", "WAIT", "STAT", "XCTEND", "ERROR", "LOB")

#: How a record ends whose moment was not measured.
_UNTIMED: Final = "tim="

#: What stands before each column of a bind.
_BIND: Final = {"data_type": "dty=", "max_length": "mxl=", "length": "avl=", "value": "value="}
#: What the records of each frame print, in their order; times in units of `SqlTrace.resolution_us`.
_TRACE: Final = {
    "calls": ("lob_type", "lob_bytes", *FIELDS.values()),
    "waits": ("event", "elapsed_us", "p1", "p2", "p3", "object_id", "tim_us"),
    "statements": ("length", "depth", "user_id", "command", "schema_id", "tim_us", "hash_value", "error"),
    "binds": (),  # by their marks
    "row_sources": (
        *("id", "rows", "parent_id", "position", "object_id", "operation", "consistent_gets", "disk_blocks"),
        *("blocks_written", "starts", "elapsed_us", "cost", "size_bytes", "cardinality"),
    ),
    "transactions": ("is_rollback", "is_read_only", "tim_us"),
    "errors": ("error", "tim_us"),
    "session": ("name", "value", "stamp"),
}
#: Columns in the unit of the trace's clock.
_TIMES: Final = frozenset({"cpu_us", "elapsed_us"})

#: What the rows of a report print; a statement's figures follow labels.
_TKPROF: Final = {
    "statements": {},
    "row_sources": dict.fromkeys(
        (
            *("rows", "rows_avg", "rows_max", "consistent_gets", "disk_blocks", "blocks_written", "elapsed_us"),
            *("starts", "cost", "size_bytes", "cardinality"),
        ),
        1.0,
    ),
}
_LABELS: Final = {
    "SQL ID": ("plan_hash",),
    "Plan Hash": ("plan_hash",),
    "Misses in library cache during parse": ("misses_parse",),
    "Misses in library cache during execute": ("misses_execute",),
    "Parsing user id": ("user_id", "depth"),
    "Number of plan statistics captured": ("plans_captured",),
    "Error encountered": ("error",),
}

#: What rows of a table of calls start with.
_CALLS: Final = frozenset({"Parse", "Execute", "Fetch", "total"})


def parts_of(parsed: SqlTrace | Tkprof, source: Source) -> list[Part]:
    """The log's text, with the rows of its frames by line; that of a statement of a trace is the line of its header."""
    frames = parsed.frames()
    log = open_log(source)
    copied = log.lines()
    text = cleaned = cleanup_of(log.head()).cleaned_lines(copied) if isinstance(parsed, SqlTrace) else copied
    if isinstance(parsed, SqlTrace):
        columns = {
            name: {column: parsed.resolution_us if column in _TIMES else 1.0 for column in its}
            for name, its in _TRACE.items()
        }
        heads = parsed.statements["statement"].to_list()
        claims = {line: [Claim("statements", row, columns["statements"])] for row, line in enumerate(heads)}
        text = [timeless if (timeless := line.rstrip("0")).endswith(_UNTIMED) else line for line in text]
        part = by_line("\n".join(text), frames, columns, claims=claims, is_row=_is_record)
        _claim_below(part, text)
    else:
        part = by_line("\n".join(text), frames, _TKPROF, is_row=_is_figures)
        starts = parsed.statements["line"].to_list()
        for number, line in enumerate(text, 1):
            names = _LABELS.get(line.partition(":")[0].strip())
            if names is not None and (row := bisect_right(starts, number)):
                part.claim(number, Claim("statements", row - 1, dict.fromkeys(names, 1.0)))
    part.place = place_in_copy(copied, cleaned)
    return [part]


def _is_record(line: str) -> bool:
    """Whether a line is a record with figures, by its first word and the number of its cursor."""
    word, sign, _ = line.partition(" #")
    return bool(sign) and word in _RECORDS


def _is_figures(line: str) -> bool:
    """Whether a line of a report is one of a table: a call, or a step of a plan."""
    word = line.split(maxsplit=1)[0] if line.strip() else ""
    return (word in _CALLS or word.isdigit()) and is_tabular(line)


def _claim_below(part: Part, text: list[str]) -> None:
    """The rows of binds go on in the indented lines below; what these say of a bind's place in memory is layout."""
    for number, claims in list(part.claims.items()):
        own = [claim for claim in claims if claim.frame == "binds"]
        below = number if own and isinstance(number, int) else len(text) + 1
        while below <= len(text) and (
            below == number or (below not in part.claims and text[below - 1].startswith(" "))
        ):
            line = text[below - 1]
            for name, mark in _BIND.items():
                # "mxl=32(05)": the length is the number that begins after its mark; a value may hold anything
                if start := (line if name == "value" else line.partition(_BIND["value"])[0]).find(mark) + 1:
                    start += len(mark) - 1
                    end = len(line) + 1 if name == "value" else start + 1
                    part.claim(below, own[0]._replace(columns={name: 1.0}, start=start, end=end))
            part.statuses[below] = "layout"
            below += 1
