"""Canonical tables of reports on one SQL statement (``awrsqrpt``): its plans, their figures and their lines."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

_SQL_ID: Final = Column("sql_id", "text", "statement", ("SQL ID",))
_PLAN: Final = Column("plan_hash_value", "count", "hash value of the plan", ("PHV", "Plan Hash Value"))

PLANS: Final = (
    Table(
        "sql_plans",
        "The plans of a statement, as reports on one statement list them.",
        (r"^SQL ID: ",),
        (
            _SQL_ID,
            Column("plan_number", "count", "number of the plan in the report", ("#",)),
            _PLAN,
            Column("elapsed_ms", "ms", "elapsed time of its executions", ("Total Elapsed Time(ms)",)),
            Column("executions", "count", "executions", ("Executions",)),
            Column("first_snap_id", "count", "snapshot that captured it first", ("1st Capture Snap ID",)),
            Column("last_snap_id", "count", "snapshot that captured it last", ("Last Capture Snap ID",)),
        ),
        needs=("plan_hash_value", "elapsed_ms"),
        in_title=("sql_id",),
    ),
    Table(
        "sql_plan_statistics",
        "Figures of a statement by plan; the unit stands in the statistic.",
        (r"^Plan Statistics",),
        (
            _SQL_ID,
            _PLAN,
            Column("statistic", "text", "figure, with its unit", ("Stat Name",)),
            Column("value", "number", "of all executions with this plan", ("Statement", "Statement Total")),
            Column("per_exec", "number", "per execution", ("Per Execution",)),
            Column("snap_pct", "pct", "share of the whole database between the snapshots", ("% Snap", "% Snap Total")),
        ),
        needs=("statistic", "value"),
        in_title=("sql_id", "plan_hash_value"),
    ),
    Table(
        "sql_plan_lines",
        "Lines of the plans of a statement.",
        (r"^Execution Plan",),
        (
            _SQL_ID,
            _PLAN,
            Column("id_printed", "text", "number of the line as printed", ("Id",)),
            Column("line_id", "count", "number of the line"),
            Column("depth", "count", "depth in the plan; null in HTML", ("Depth",)),
            Column("operation", "text", "operation", ("Operation",)),
            Column("object", "text", "object", ("Name",)),
            Column("estimated_rows", "count", "rows that the optimizer expects", ("Rows", "E-Rows")),
            Column("estimated_bytes", "bytes", "bytes that the optimizer expects", ("Bytes", "E-Bytes")),
            Column("temp_bytes", "bytes", "temporary space that the optimizer expects", ("TempSpc",)),
            Column("cost_printed", "text", "cost as printed", ("Cost (%CPU)", "Cost")),
            Column("cost", "count", "cost"),
            Column("cost_cpu_pct", "pct", "share of CPU in the cost"),
            Column("estimated_time", "text", "time that the optimizer expects", ("Time",)),
            Column("partition_start", "text", "first partition", ("Pstart",)),
            Column("partition_stop", "text", "last partition", ("Pstop",)),
        ),
        needs=("id_printed", "operation"),
        in_title=("sql_id", "plan_hash_value"),
        splits={
            "id_printed": r"^\*?\s*(?P<line_id>{INTEGER})$",
            "cost_printed": r"^(?P<cost>{COUNT})(?:\s*\(\s*(?P<cost_cpu_pct>{INTEGER})\s*\))?$",
        },
    ),
)
