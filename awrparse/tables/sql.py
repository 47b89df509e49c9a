"""Canonical tables of SQL statements and segments."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

#: Title of a section -> what `ordered_by` says.
SQL_ORDERS: Final = {
    "elapsed time": "elapsed",
    "cpu time": "cpu",
    "cpu": "cpu",
    "user i/o wait time": "io_wait",
    "user i/o time": "io_wait",
    "gets": "gets",
    "reads": "reads",
    "physical reads (unoptimized)": "unoptimized_reads",
    "unoptimized read requests": "unoptimized_reads",
    "executions": "executions",
    "parse calls": "parses",
    "sharable memory": "memory",
    "version count": "versions",
    "cluster wait time": "cluster_wait",
}
SEGMENT_ORDERS: Final = {
    "logical reads": "logical_reads",
    "physical reads": "physical_reads",
    "physical read requests": "physical_read_requests",
    "unoptimized reads": "unoptimized_reads",
    "optimized reads": "optimized_reads",
    "direct physical reads": "direct_reads",
    "physical writes": "physical_writes",
    "physical write requests": "physical_write_requests",
    "direct physical writes": "direct_writes",
    "table scans": "table_scans",
    "db blocks changes": "block_changes",
    "row lock waits": "row_lock_waits",
    "itl waits": "itl_waits",
    "buffer busy waits": "buffer_busy_waits",
    "global cache buffer busy": "gc_buffer_busy",
    "cr blocks received": "cr_blocks_received",
    "current blocks received": "current_blocks_received",
    "remote grants": "remote_grants",
    # as the report of all instances calls them
    "global cache remote grants": "remote_grants",
    "gc remote grants": "remote_grants",
    "gc buffer busy": "gc_buffer_busy",
    "gc cr blocks received": "cr_blocks_received",
    "gc current blocks received": "current_blocks_received",
    "physical reads direct": "direct_reads",
    "physical writes direct": "direct_writes",
    "db block changes": "block_changes",
    "segment scans": "table_scans",
}

SQL: Final = (
    Table(
        "sql",
        "SQL statements of every section `SQL ordered by ...`; `sql_by_elapsed` and so on give one section.",
        (r"^SQL ordered by (?P<which>.*?)(?: \(Global\))?$",),
        (
            Column("ordered_by", "text", "the section: " + ", ".join(sorted(set(SQL_ORDERS.values())))),
            Column("sql_id", "text", "SQL id", ("SQL Id",)),
            Column("old_hash_value", "count", "hash value (Statspack)", ("Old Hash Value", "Hash Value")),
            Column(
                "elapsed_s",
                "s",
                "elapsed time",
                ("Elapsed Time (s)", "Elapsd Time (s)", "Total Elapsed (s)"),
            ),
            Column("cpu_s", "s", "CPU time", ("CPU Time (s)", "Total CPU (s)")),
            Column("io_wait_s", "s", "time waited for user I/O", ("User I/O Time (s)", "Total IOWait (s)")),
            Column(
                "cluster_wait_s", "s", "time waited for the cluster", ("Cluster Wait Time (s)", "Total Cluster (s)")
            ),
            Column("executions", "count", "executions", ("Executions", "Total Execs")),
            Column("buffer_gets", "count", "blocks got", ("Buffer Gets", "Total Gets")),
            Column(
                "physical_reads",
                "count",
                "blocks read",
                ("Physical Reads", "Physical Rds", "Total Reads"),
            ),
            Column("read_requests", "count", "read requests", ("Physical Read Reqs", "Total Requests")),
            Column(
                "unoptimized_requests",
                "count",
                "read requests that flash cache did not serve",
                ("UnOptimized Read Reqs", "Total UnOptimized"),
            ),
            Column("rows_processed", "count", "rows", ("Rows Processed", "Total Rows")),
            Column("parse_calls", "count", "parse calls", ("Parse Calls",)),
            Column("offload_eligible_gb", "number", "GB that Exadata cells could filter", ("Offload Elig (GB)",)),
            Column("interconnect_gb", "number", "GB exchanged with Exadata cells", ("Inter connect(GB)",)),
            Column("uncompressed_gb", "number", "GB that Exadata cells decompressed", ("Uncompress (GB)",)),
            Column("smart_scan_returned_pct", "pct", "share that smart scans returned", ("%Ret SS",)),
            Column("cell_efficiency_pct", "pct", "share that cells kept from the network", ("%Cell Eff",)),
            Column("sharable_bytes", "bytes", "shared memory", ("Sharable Mem (b)",)),
            Column("max_sharable_bytes", "kbytes", "largest shared memory (Statspack)", ("Max Sharable Memory (KB)",)),
            Column(
                "end_sharable_bytes", "kbytes", "shared memory at the end (Statspack)", ("End Sharable Memory (KB)",)
            ),
            Column("versions", "count", "child cursors", ("Version Count",)),
            Column(
                "elapsed_per_exec_s",
                "s",
                "elapsed time per execution; null without executions, and so are the next",
                ("Elapsed Time per Exec (s)", "Elap per Exec (s)", "Per Execution Elapsed (s)"),
            ),
            Column("cpu_per_exec_s", "s", "CPU time per execution", ("CPU per Exec (s)", "Per Execution CPU (s)")),
            Column(
                "io_wait_per_exec_s", "s", "user I/O per execution", ("UIO per Exec (s)", "Per Execution IOWait (s)")
            ),
            Column("gets_per_exec", "number", "blocks got per execution", ("Gets per Exec", "Per Execution Gets")),
            Column(
                "reads_per_exec",
                "number",
                "blocks read per execution",
                ("Reads per Exec", "Rds per Exec", "Per Execution Reads"),
            ),
            Column(
                "unoptimized_per_exec",
                "number",
                "unoptimized read requests per execution",
                ("UnOptimized Reqs per Exec", "UnOptimized Reqs per Exe", "Per Execution UnOptimized"),
            ),
            Column("requests_per_exec", "number", "read requests per execution", ("Per Execution Requests",)),
            Column("rows_per_exec", "number", "rows per execution", ("Rows per Exec", "Per Execution Rows")),
            Column(
                "total_pct",
                "pct",
                "share of the total that the section's notes name",
                ("%Total", "% Total Parses", "% Total DB Time"),
            ),
            *(
                Column(
                    f"all_{name}_pct",
                    "pct",
                    f"share of all {words} (reports of all instances)",
                    (f"Percentage of Total {head}",),
                )
                for name, words, head in (
                    ("db_time", "DB time", "DB time"),
                    ("cpu", "CPU time", "DB CPU"),
                    ("io_wait", "user I/O time", "IO Wait"),
                    ("gets", "blocks got", "Gets"),
                    ("reads", "blocks read", "Reads"),
                    ("cluster_wait", "cluster wait time", "Cluster"),
                    ("executions", "executions", "Execs"),
                    ("requests", "read requests", "Requests"),
                    ("unoptimized", "read requests that flash cache did not serve", "UnOptimized"),
                )
            ),
            Column("cluster_wait_per_exec_s", "s", "cluster wait per execution", ("Per Execution Cluster (s)",)),
            Column("cpu_pct", "pct", "CPU time as a share of elapsed time", ("%CPU",)),
            Column("io_pct", "pct", "user I/O time as a share of elapsed time", ("%IO",)),
            Column(
                "cluster_pct", "pct", "cluster wait time as a share of elapsed time", ("%Clu", "CWT % of Elapsd Time")
            ),
            Column("optimized_pct", "pct", "share of read requests that flash cache served", ("%Opt",)),
            Column("module", "text", "module", ("SQL Module", "Module")),
            Column("pdb", "text", "pluggable database", ("PDB Name",)),
            Column("sql_text", "text", "start of the statement, as the report cuts it", ("SQL Text",)),
        ),
        group={"ordered_by": SQL_ORDERS},
    ),
    Table(
        "sql_text",
        "SQL statements in full, as far as the report has them.",
        (r"^Complete List of SQL Text",),
        (
            Column("sql_id", "text", "SQL id", ("SQL Id",)),
            Column("sql_text", "text", "statement", ("SQL Text",)),
        ),
        needs=("sql_id", "sql_text"),
    ),
    Table(
        "segments",
        "Segments of every section `Segments by ...`.",
        (r"^Segments by (?P<which>.*)$", r"^Segment Statistics \(Global\)"),
        (
            Column(
                "ordered_by",
                "text",
                "the section: " + ", ".join(sorted(set(SEGMENT_ORDERS.values()))),
                ("Statistic",),
            ),
            Column("owner", "text", "owner; 11.2 text cuts it at 10 characters", ("Owner",)),
            Column(
                "tablespace",
                "text",
                "tablespace; 11.2 text cuts it at 10 characters",
                ("Tablespace Name", "Tablespace"),
            ),
            Column("object", "text", "object", ("Object Name",)),
            Column("subobject", "text", "subobject", ("Subobject Name",)),
            Column("object_type", "text", "type; text reports cut it at 5 characters", ("Obj. Type",)),
            Column("object_id", "count", "object number (12.1 and later)", ("Obj#",)),
            Column("data_object_id", "count", "data object number (12.1 and later)", ("Dataobj#",)),
            Column(
                "value",
                "count",
                "what the section counts",
                (
                    "Logical Reads",
                    "Physical Reads",
                    "Phys Read Requests",
                    "UnOptimized Reads",
                    "Optimized Reads",
                    "Direct Reads",
                    "Physical Writes",
                    "Phys Write Requests",
                    "Direct Writes",
                    "Table Scans",
                    "DB Block Changes",
                    "Row Lock Waits",
                    "ITL Waits",
                    "Buffer Busy Waits",
                    "GC Buffer Busy",
                    "CR Blocks Received",
                    "Current Blocks Received",
                    "Remote Grants",
                    "GC Remote Grants",
                    "Value",
                ),
            ),
            Column("total_pct", "pct", "share of the total", ("%Total", "Pct Total")),
            Column("capture_pct", "pct", "share of what was captured", ("% of Capture", "%Capture")),
            Column("pdb", "text", "pluggable database", ("PDB Name",)),
        ),
        needs=("owner", "object"),
        group={"ordered_by": SEGMENT_ORDERS},
    ),
)
