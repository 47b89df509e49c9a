"""The schemas of a session's frames.

Units stand in the column names: ``_s`` seconds.  A printed figure ``x`` has ``x_lo`` and ``x_hi`` beside it, the
interval of values that print that way.  Line numbers count from 1, and so do statements, listings, plans and tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache

import polars as pl

_Types = Mapping[str, pl.DataType | type[pl.DataType]]
#: Of this many rows a frame is made row by row.
FEW_ROWS = 50

#: One row a statement.
STATEMENTS = pl.Schema(
    {
        "statement": pl.Int64,
        "first_line": pl.Int64,
        "last_line": pl.Int64,
        "text": pl.String,
        "kind": pl.String,
        "status": pl.String,
        "error": pl.String,
        "message": pl.String,
        "rows": pl.Int64,
        "elapsed_s": pl.Float64,
        "elapsed_s_lo": pl.Float64,
        "elapsed_s_hi": pl.Float64,
        "resolution_s": pl.Float64,
        "plan_hash_value": pl.Int64,
        "physical_reads": pl.Int64,
        "gets": pl.Int64,
        "consistent_gets": pl.Int64,
        "db_block_gets": pl.Int64,
        "recursive_calls": pl.Int64,
        "flushed_before": pl.String,
        "prompt": pl.String,
        "series": pl.Int64,
        "sql_id": pl.String,
    }
)

#: One row an Elapsed line, a timer, or a timing found by the caller's pattern.
TIMINGS = pl.Schema(
    {
        "statement": pl.Int64,
        "line": pl.Int64,
        "origin": pl.String,
        "label": pl.String,
        "language": pl.String,
        "printed": pl.String,
        "elapsed_s": pl.Float64,
        "elapsed_s_lo": pl.Float64,
        "elapsed_s_hi": pl.Float64,
        "resolution_s": pl.Float64,
    }
)

#: One row a statistic of an autotrace list.
AUTOTRACE = pl.Schema(
    {
        "statement": pl.Int64,
        "line": pl.Int64,
        "client": pl.String,
        "name": pl.String,
        "value": pl.Int64,
        "unit": pl.String,
        "raw": pl.String,
        "is_shown": pl.Boolean,
    }
)

#: One row a figure of a listing of session or system statistics.
STATISTICS = pl.Schema(
    {
        "statement": pl.Int64,
        "listing": pl.Int64,
        "line": pl.Int64,
        "sid": pl.Int64,
        "type": pl.String,
        "name": pl.String,
        "printed_name": pl.String,
        "is_known": pl.Boolean,
        "is_truncated": pl.Boolean,
        "column": pl.String,
        "unit": pl.String,
        "basis": pl.String,
        "raw": pl.String,
        "value": pl.Float64,
        "value_lo": pl.Float64,
        "value_hi": pl.Float64,
        "ulp": pl.Float64,
        "interval_s": pl.Float64,
    }
)

_PLANS: _Types = {
    "statement": pl.Int64,
    "plan": pl.Int64,
    "line": pl.Int64,
    "layout": pl.String,
    "plan_source": pl.String,
    "sql_id": pl.String,
    "child_number": pl.Int64,
    "plan_hash_value": pl.Int64,
    "id": pl.Int64,
    "parent_id": pl.Int64,
    "depth": pl.Int64,
    "is_inactive": pl.Boolean,
    "operation": pl.String,
    "object_name": pl.String,
    "starts": pl.Float64,
    "e_rows": pl.Float64,
    "e_bytes": pl.Float64,
    "temp_space": pl.Float64,
    "cost": pl.Float64,
    "cpu_percent": pl.Float64,
    "e_time_s": pl.Float64,
    "a_rows": pl.Float64,
    "a_time_s": pl.Float64,
    "buffers": pl.Float64,
    "reads": pl.Float64,
    "writes": pl.Float64,
    "o_mem": pl.Float64,
    "one_mem": pl.Float64,
    "used_mem": pl.Float64,
    "passes": pl.Int64,
    "used_tmp": pl.Float64,
    "pstart": pl.String,
    "pstop": pl.String,
    "tq": pl.String,
    "in_out": pl.String,
    "pq_distrib": pl.String,
    "predicates": pl.List(pl.String),
    "notes": pl.List(pl.String),
    "sql_text": pl.String,
    "explains": pl.Int64,
}
#: One row an operation of a plan.
PLANS = pl.Schema(_PLANS)


def _with_bounds(names: tuple[str, ...]) -> _Types:
    """Figures, each with its bounds beside it."""
    return {f"{name}{part}": pl.Float64 for name in names for part in ("", "_lo", "_hi")}


#: One row a report of SQL Monitor: what it says of the execution, and its global statistics.
MONITORS = pl.Schema(
    {
        "statement": pl.Int64,
        "monitor": pl.Int64,
        "line": pl.Int64,
        "sql_id": pl.String,
        "execution_id": pl.String,
        "status": pl.String,
        "started": pl.String,
        "instance": pl.Int64,
        "duration_s": pl.Float64,
        "plan_hash_value": pl.Int64,
        "servers": pl.Int64,
        "longest_server": pl.String,
        **_with_bounds(
            (
                *(
                    "longest_server_s",
                    "elapsed_s",
                    "queuing_s",
                    "cpu_s",
                    "io_wait_s",
                    "application_wait_s",
                    "concurrency_wait_s",
                ),
                *("cluster_wait_s", "plsql_s", "other_wait_s", "fetch_calls", "buffer_gets"),
                *("read_requests", "read_bytes", "write_requests", "write_bytes"),
                *("offload_eligible_bytes", "offload_returned_bytes", "uncompressed_bytes", "cell_offload_pct"),
            )
        ),
    }
)
#: One row a line of the plan in a report of SQL Monitor.
MONITOR_LINES = pl.Schema(
    {
        "monitor": pl.Int64,
        "line": pl.Int64,
        "id": pl.Int64,
        "operation": pl.String,
        "object_name": pl.String,
        "activity_detail": pl.String,
        **_with_bounds(
            (
                *("e_rows", "cost", "active_s", "start_active_s", "starts", "a_rows"),
                *("read_requests", "read_bytes", "write_requests", "write_bytes", "cell_offload_pct"),
                *("memory_bytes", "temp_bytes", "max_memory_bytes", "max_temp_bytes", "activity_pct", "progress_pct"),
            )
        ),
    }
)

_TABLES: _Types = {
    "table": pl.Int64,
    "statement": pl.Int64,
    "first_line": pl.Int64,
    "last_line": pl.Int64,
    "title": pl.String,
    "headings": pl.List(pl.String),
    "row_count": pl.Int64,
    "total_count": pl.Int64,
    "pages": pl.Int64,
    "is_folded": pl.Boolean,
}
#: One row a result grid; `Spool.table` gives its rows.
TABLES = pl.Schema(_TABLES)

#: One row a physical line: what became of it.
LINES = pl.Schema({"line": pl.Int64, "role": pl.String, "part": pl.String, "statement": pl.Int64})

#: One row a run, by `Spool.runs`.
RUNS = pl.Schema(
    {
        "sample": pl.Int64,
        "run": pl.Int64,
        "statement": pl.Int64,
        "text": pl.String,
        "kind": pl.String,
        "status": pl.String,
        "elapsed_s": pl.Float64,
        "elapsed_s_lo": pl.Float64,
        "elapsed_s_hi": pl.Float64,
        "resolution_s": pl.Float64,
        "rows": pl.Int64,
        "physical_reads": pl.Int64,
        "gets": pl.Int64,
        "recursive_calls": pl.Int64,
        "plan_hash_value": pl.Int64,
        "is_plan_changed": pl.Boolean,
        "flushed_before": pl.String,
    }
)

#: The schemas by the name of the frame.
SPOOL_SCHEMAS = {
    "statements": STATEMENTS,
    "timings": TIMINGS,
    "autotrace": AUTOTRACE,
    "statistics": STATISTICS,
    "plans": PLANS,
    "monitors": MONITORS,
    "monitor_lines": MONITOR_LINES,
    "tables": TABLES,
    "lines": LINES,
    "runs": RUNS,
}


@cache
def _empty(frame: str) -> pl.DataFrame:
    return SPOOL_SCHEMAS[frame].to_frame()


def no_rows(frame: str) -> pl.DataFrame:
    """A frame of a session without rows, copied from one that is kept: making its columns takes longer."""
    return _empty(frame).clone()


def frame_of(columns: Mapping[str, Sequence[object]], schema: _Types, *, strict: bool = True) -> pl.DataFrame:
    """Columns, at least one row long, as a frame; Polars takes a few rows faster than the columns of them.

    Examples:
        >>> frame_of({"line": [1, 10**20]}, {"line": pl.Int64}, strict=False).rows()
        [(1,), (None,)]
    """
    shown = [columns[name] for name in schema]
    if len(shown[0]) <= FEW_ROWS:
        # rows take no whole number that is too large, which columns make null or refuse
        with suppress(pl.exceptions.ComputeError, OverflowError):
            return pl.DataFrame(list(zip(*shown, strict=True)), schema=schema, orient="row", strict=strict)
    return pl.DataFrame(dict(zip(schema, shown, strict=True)), schema=schema, strict=strict)
