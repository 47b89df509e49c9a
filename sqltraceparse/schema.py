"""The frames of a trace: their columns, in order, with types.

Times are whole microseconds (``_us``); what an 8i database prints in hundredths of a second is multiplied, and
`SqlTrace.resolution_us` says so.  Sizes are database blocks unless the name says bytes.
"""

from __future__ import annotations

from typing import Final

import polars as pl

#: What a line may be.
KINDS: Final = (
    "wait",
    "call",
    "close",
    "lob",
    "transaction",
    "row_source",
    "parsing",
    "text",
    "end_of_statement",
    "parse_error",
    "error",
    "binds",
    "bind",
    "bind_field",
    "stamp",
    "attribute",
    "process",
    "continued",
    "limited",
    "head",
    "rule",
    "blank",
    "unparsed",
)
KIND: Final = pl.Enum(KINDS)

#: How a wait was given to its call: by its cursor and time, by its time alone, by its cursor and place (no times).
CALL_FROM: Final = pl.Enum(["cursor", "time", "order"])

WALL: Final = pl.Datetime("us", "UTC")

CALLS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "session_id": pl.String(),
        "statement": pl.Int64(),
        "sql_id": pl.String(),
        "cursor": pl.Int64(),
        "op": pl.String(),
        "depth": pl.Int64(),
        "parent": pl.Int64(),
        "cpu_us": pl.Int64(),
        "elapsed_us": pl.Int64(),
        "disk_blocks": pl.Int64(),
        "consistent_gets": pl.Int64(),
        "current_gets": pl.Int64(),
        "own_cpu_us": pl.Int64(),
        "own_elapsed_us": pl.Int64(),
        "own_disk_blocks": pl.Int64(),
        "own_consistent_gets": pl.Int64(),
        "own_current_gets": pl.Int64(),
        "own_wait_us": pl.Int64(),
        "unaccounted_us": pl.Int64(),
        "rows": pl.Int64(),
        "misses": pl.Int64(),
        "goal": pl.Int64(),
        "plan_hash": pl.Int64(),
        "close_type": pl.Int64(),
        "lob_type": pl.String(),
        "lob_bytes": pl.Int64(),
        "tim_us": pl.Int64(),
        "clock": pl.Int64(),
        "wall": WALL,
    }
)

WAITS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "session_id": pl.String(),
        "statement": pl.Int64(),
        "sql_id": pl.String(),
        "cursor": pl.Int64(),
        "call": pl.Int64(),
        "call_from": CALL_FROM,
        "next_call": pl.Int64(),
        "event": pl.String(),
        "elapsed_us": pl.Int64(),
        "p1_name": pl.String(),
        "p1": pl.Int64(),
        "p2_name": pl.String(),
        "p2": pl.Int64(),
        "p3_name": pl.String(),
        "p3": pl.Int64(),
        "object_id": pl.Int64(),
        "file_id": pl.Int64(),
        "block": pl.Int64(),
        "blocks": pl.Int64(),
        "requests": pl.Int64(),
        "bytes": pl.Int64(),
        "tim_us": pl.Int64(),
        "clock": pl.Int64(),
        "wall": WALL,
    }
)

STATEMENTS: Final = pl.Schema(
    {
        "statement": pl.Int64(),
        "process": pl.Int64(),
        "cursor": pl.Int64(),
        "sql_id": pl.String(),
        "hash_value": pl.Int64(),
        "address": pl.String(),
        "text": pl.String(),
        "is_whole": pl.Boolean(),
        "length": pl.Int64(),
        "depth": pl.Int64(),
        "user_id": pl.Int64(),
        "schema_id": pl.Int64(),
        "command": pl.Int64(),
        "error": pl.Int64(),
        "tim_us": pl.Int64(),
    }
)

BINDS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "statement": pl.Int64(),
        "sql_id": pl.String(),
        "cursor": pl.Int64(),
        "call": pl.Int64(),
        "position": pl.Int64(),
        "data_type": pl.Int64(),
        "max_length": pl.Int64(),
        "length": pl.Int64(),
        "value": pl.String(),
        "is_null": pl.Boolean(),
    }
)

ROW_SOURCES: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "statement": pl.Int64(),
        "sql_id": pl.String(),
        "cursor": pl.Int64(),
        "plan": pl.Int64(),
        "id": pl.Int64(),
        "parent_id": pl.Int64(),
        "position": pl.Int64(),
        "object_id": pl.Int64(),
        "operation": pl.String(),
        "rows": pl.Int64(),
        "consistent_gets": pl.Int64(),
        "disk_blocks": pl.Int64(),
        "blocks_written": pl.Int64(),
        "starts": pl.Int64(),
        "elapsed_us": pl.Int64(),
        "cost": pl.Int64(),
        "size_bytes": pl.Int64(),
        "cardinality": pl.Int64(),
    }
)

TRANSACTIONS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "is_rollback": pl.Boolean(),
        "is_read_only": pl.Boolean(),
        "tim_us": pl.Int64(),
        "clock": pl.Int64(),
        "wall": WALL,
    }
)

ERRORS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "statement": pl.Int64(),
        "sql_id": pl.String(),
        "cursor": pl.Int64(),
        "error": pl.Int64(),
        "tim_us": pl.Int64(),
    }
)

SESSION: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "process": pl.Int64(),
        "name": pl.String(),
        "value": pl.String(),
        "stamp": pl.String(),
    }
)

CLOCK: Final = pl.Schema(
    {
        "process": pl.Int64(),
        "clock": pl.Int64(),
        "line": pl.Int64(),
        "stamps": pl.Int64(),
        "first_tim_us": pl.Int64(),
        "last_tim_us": pl.Int64(),
        "offset_us": pl.Int64(),
        "offset_lo_us": pl.Int64(),
        "offset_hi_us": pl.Int64(),
        "rate": pl.Float64(),
        "zone_is_known": pl.Boolean(),
    }
)

_SECONDS: Final = {f"{name}{end}": pl.Float64() for name in ("cpu_s", "elapsed_s") for end in ("", "_lo", "_hi")}
_WAIT_SECONDS: Final = {
    f"{name}{end}": pl.Float64() for name in ("max_wait_s", "total_wait_s") for end in ("", "_lo", "_hi")
}

TKPROF_STATEMENTS: Final = pl.Schema(
    {
        "statement": pl.Int64(),
        "line": pl.Int64(),
        "sql_id": pl.String(),
        "plan_hash": pl.Int64(),
        "text": pl.String(),
        "depth": pl.Int64(),
        "misses_parse": pl.Int64(),
        "misses_execute": pl.Int64(),
        "optimizer_mode": pl.String(),
        "user_id": pl.Int64(),
        "user_name": pl.String(),
        "plans_captured": pl.Int64(),
        "error": pl.Int64(),
    }
)

TKPROF_CALLS: Final = pl.Schema(
    {
        "scope": pl.String(),
        "statement": pl.Int64(),
        "line": pl.Int64(),
        "call": pl.String(),
        "count": pl.Int64(),
        **_SECONDS,
        "disk_blocks": pl.Int64(),
        "consistent_gets": pl.Int64(),
        "current_gets": pl.Int64(),
        "rows": pl.Int64(),
    }
)

TKPROF_ROW_SOURCES: Final = pl.Schema(
    {
        "statement": pl.Int64(),
        "line": pl.Int64(),
        "plan": pl.String(),
        "level": pl.Int64(),
        "rows": pl.Int64(),
        "rows_avg": pl.Int64(),
        "rows_max": pl.Int64(),
        "operation": pl.String(),
        "consistent_gets": pl.Int64(),
        "disk_blocks": pl.Int64(),
        "blocks_written": pl.Int64(),
        "starts": pl.Int64(),
        "elapsed_us": pl.Int64(),
        "cost": pl.Int64(),
        "size_bytes": pl.Int64(),
        "cardinality": pl.Int64(),
    }
)

TKPROF_WAITS: Final = pl.Schema(
    {
        "scope": pl.String(),
        "statement": pl.Int64(),
        "line": pl.Int64(),
        "event": pl.String(),
        "waits": pl.Int64(),
        **_WAIT_SECONDS,
    }
)

#: The frames of a trace and of a TKPROF report by name.
SCHEMAS: Final = {
    "SqlTrace": {
        "calls": CALLS,
        "waits": WAITS,
        "statements": STATEMENTS,
        "binds": BINDS,
        "row_sources": ROW_SOURCES,
        "transactions": TRANSACTIONS,
        "errors": ERRORS,
        "session": SESSION,
        "clock": CLOCK,
    },
    "Tkprof": {
        "statements": TKPROF_STATEMENTS,
        "calls": TKPROF_CALLS,
        "row_sources": TKPROF_ROW_SOURCES,
        "waits": TKPROF_WAITS,
    },
}
