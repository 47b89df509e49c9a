"""Canonical tables of compare-period reports: statements, segments, files, latches and caches of both periods.

Columns are named as in `awrparse.tables.compare`.
"""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table
from awrparse.tables.periods import both, pair, share
from awrparse.tables.sql import SEGMENT_ORDERS

_FILE: Final = (
    *pair("reads_per_s", "number", "reads per second", "Avg Reads / Sec", "Avg Reads per Sec", end="%Diff"),
    *pair("writes_per_s", "number", "writes per second", "Avg Writes / Sec", "Avg Writes per Sec", end="%Diff"),
    *pair("reads", "count", "reads", "Reads", end=""),
    *pair("avg_read_ms", "ms", "average read time", "Avg Read Time (ms)", end=""),
    *pair("blocks_per_read", "number", "blocks per read", "Avg Blocks / Read", "Avg Blocks per Read", end=""),
    *pair("writes", "count", "writes", "Writes", end=""),
    *pair("buffer_waits", "count", "waits for a buffer", "Buffer Waits", end=""),
    *pair("avg_buffer_wait_ms", "ms", "average wait for a buffer", "Avg Buf Wait Time (ms)", end=""),
    *pair("ios_per_s", "number", "reads and writes per second", "IOs per second"),
)
_TABLESPACE: Final = Column("tablespace", "text", "tablespace", ("Tablespace",))
#: Order of a section of statements or latches or files -> its name in `ordered_by`.
_SQL_ORDERS: Final = {
    "elapsed time": "elapsed",
    "cpu time": "cpu",
    "i/o time": "io_wait",
    "buffer gets": "gets",
    "physical reads": "reads",
    "unoptimized read requests": "unoptimized_reads",
    "executions": "executions",
    "parse calls": "parses",
    "sharable memory": "memory",
    "version count": "versions",
    "cluster wait time": "cluster_wait",
}
#: How the headings of the sections of segments call what they count.
_SEGMENT_COUNTS: Final = (
    "Logical Reads",
    "Physical Reads",
    "Read Requests",
    "UnOptimized Requests",
    "UnOptimized Reqs",
    "Optimized Read Requests",
    "Optimized Requests",
    "Optimized Reqs",
    "Direct Reads",
    "Physical Writes",
    "Write Requests",
    "Direct Writes",
    "Table Scans",
    "Block Changes",
    "DB Block Changes",
    "Row Lock Waits",
    "ITL Waits",
    "Buffer Busy Waits",
)
_SEGMENT_TITLES: Final = {
    **SEGMENT_ORDERS,
    "unoptimized read requests": "unoptimized_reads",
    "optimized read requests": "optimized_reads",
    "direct physical reads": "direct_reads",
}
COMPARE_TOPS: Final = (
    Table(
        "compare_sql",
        "Compare-period report: statements of every section `Top SQL Comparison by ...`.",
        (r"^Top SQL Comparison by (?P<which>.*)$",),
        (
            Column("ordered_by", "text", "the section: " + ", ".join(sorted(_SQL_ORDERS.values()))),
            Column("sql_id", "text", "SQL id", ("SQL Id",)),
            *share(
                "share of what the section is ordered by",
                "Elapsed Time % of DB time",
                "CPU Time % of DB CPU",
                "I/O Time % of DB time",
                "% Total Gets",
                "% Total Physical Reads",
                "% Total UnOptimized Read Requests",
                "% Total Parses",
                "% Total Sharable Memory",
                "% Total Cluster Wait",
            ),
            *pair(
                "elapsed_per_exec_ms",
                "ms",
                "elapsed time per execution",
                "Elapsed Time (ms) per Exec",
                "Exec Time (ms) per Exec",
                end="",
            ),
            *pair("cpu_per_exec_ms", "ms", "CPU time per execution", "CPU Time (ms) per Exec", end=""),
            *pair("io_wait_per_exec_ms", "ms", "user I/O per execution", "I/O Time (ms) per Exec", end=""),
            *pair("gets_per_exec", "number", "blocks got per execution", "Gets per Exec", end=""),
            *pair("reads_per_exec", "number", "blocks read per execution", "Physical Reads per Exec", end=""),
            *pair("read_requests_per_exec", "number", "read requests per execution", "Read Requests per Exec", end=""),
            *pair("read_requests", "count", "read requests", "Total Read Requests", end=""),
            *pair("optimized_pct", "pct", "share of reads that flash cache served", "%Optimized Reads", end=""),
            *pair("rows_per_exec", "number", "rows per execution", "#Rows Processed per Exec", end=""),
            *pair("executions", "count", "executions", "#Executions", end=""),
            *pair(
                "executions_per_db_second",
                "number",
                "executions per second of DB time",
                "#Exec/sec (DB time)",
                "#Executions/sec (DB time)",
            ),
            *pair("parse_calls", "count", "parse calls", "Parses", end=""),
            *pair("sharable_bytes", "number", "shared memory", "Sharable Memory Used", end=""),
            *pair("max_sharable_bytes", "number", "largest shared memory", "Sharable Memory Max", end=""),
            *pair("versions", "count", "child cursors", "Version Count"),
            *pair("max_versions", "count", "most child cursors", "Version Count Max", end=""),
            *pair("cluster_wait_s", "s", "time waited for the cluster", "Cluster Wait Time (sec)", end=""),
            *pair(
                "cluster_wait_per_exec_s",
                "s",
                "time waited for the cluster per execution",
                "Cluster Wait Time per Exec (sec)",
                end="",
            ),
            Column(
                "plans",
                "text",
                "plans of the first period/of the second/of both",
                ("#Plans 1st/2nd/Both", "#Plan 1st/2nd/Both"),
            ),
            Column("module", "text", "module", ("Module", "SQL Module")),
            Column("sql_text", "text", "start of the statement, as the report cuts it", ("SQL Text",)),
        ),
        needs=("sql_id",),
        group={"ordered_by": _SQL_ORDERS},
    ),
    Table(
        "compare_tablespace_io",
        "Compare-period report: I/O of the tablespaces.",
        (r"^Tablespace IO Stats",),
        (_TABLESPACE, *_FILE),
        needs=("tablespace", "first_reads"),
    ),
    Table(
        "compare_file_io",
        "Compare-period report: I/O of the files, of every section `Top File Comparison by ...`.",
        (r"^Top File Comparison by (?P<which>.*)$",),
        (
            Column("ordered_by", "text", "the section: io, read_time, buffer_waits"),
            _TABLESPACE,
            Column("file", "text", "file", ("Filename",)),
            *_FILE,
            *pair("db_time_pct", "pct", "share of DB time", "Read Time % of DB time", "Wait Time % of DB time"),
        ),
        needs=("file", "first_reads"),
        group={"ordered_by": {"io": "io", "read time": "read_time", "buffer waits": "buffer_waits"}},
    ),
    Table(
        "compare_segments",
        "Compare-period report: segments of every section `Top Segments Comparison by ...`.",
        (r"^Top Segments(?: Comparison)? by (?P<which>.*)$",),
        (
            Column("ordered_by", "text", "the section, as in `segments`"),
            Column("owner", "text", "owner", ("Owner",)),
            Column("tablespace", "text", "tablespace", ("Tablespace",)),
            Column("object", "text", "object", ("Object Name",)),
            Column("subobject", "text", "subobject", ("Subobject Name",)),
            Column("object_type", "text", "type; text reports cut it at 5 characters", ("Type", "Obj. Type")),
            *share("share of the total", "% of Total", *(f"% of Total {name}" for name in _SEGMENT_COUNTS)),
            *pair("value", "count", "what the section counts", *_SEGMENT_COUNTS, end="%Diff"),
            *pair(
                "captured_pct",
                "pct",
                "share of what was captured",
                "% of Captured",
                *(f"% of Captured {name}" for name in _SEGMENT_COUNTS),
            ),
            *both(
                "captured_running_pct",
                "pct",
                "share of what was captured, running total",
                "% of Captured 1st Total",
                "% of Captured 2nd Total",
            ),
        ),
        needs=("object", "first_value"),
        group={"ordered_by": _SEGMENT_TITLES},
    ),
    Table(
        "compare_latches",
        "Compare-period report: latches, by sleeps and by time waited.",
        (r"^Latch (?P<which>Sleep|Wait Time) Breakdown",),
        (
            Column("ordered_by", "text", "`sleeps` or `wait_time`"),
            Column("latch", "latch", "latch", ("Latch Name",)),
            *pair("sleeps_pct", "pct", "share of all sleeps", "% of Total Sleeps"),
            *pair("gets", "count", "requests", "Get Requests", end=""),
            *pair("misses", "count", "misses", "Misses", end=""),
            *pair("spin_gets", "count", "gets after spinning", "Spin Gets", end=""),
            *pair("sleeps", "count", "sleeps", "Sleeps", end=""),
            *pair("wait_cs", "number", "time waited in hundredths of a second", "Wait Time (cs)"),
        ),
        needs=("latch", "first_sleeps"),
        group={"ordered_by": {"sleep": "sleeps", "wait time": "wait_time"}},
    ),
    Table(
        "compare_enqueues",
        "Compare-period report: enqueues.",
        (r"^Enqueue Activity",),
        (
            Column("enqueue", "text", "type and reason", ("Enqueue Type (Request Reason)",)),
            *pair("db_time_pct", "pct", "share of DB time", "Wait Time % of DB time"),
            *pair("wait_s", "s", "time waited", "Wait Time", "Wait Time (s)", end=""),
            *pair("requests", "count", "requests", "Requests", end=""),
            *pair("gets", "count", "successful gets", "Successful Gets", end=""),
            *pair("failures", "count", "failed gets", "Failed Gets", end=""),
            *pair("waits", "count", "waits", "Waits", end=""),
            *pair("avg_wait_ms", "ms", "average wait", "Avg Wait Time (ms)", end=""),
        ),
        needs=("enqueue", "first_requests"),
    ),
    Table(
        "compare_buffer_waits",
        "Compare-period report: waits for buffers by class of block.",
        (r"^Buffer Wait Statistics",),
        (
            Column("block_class", "text", "class of block", ("Class",)),
            *pair("db_time_pct", "pct", "share of DB time", "Wait Time % of DB time"),
            *pair("total_wait_s", "s", "time waited", "Total Wait Time (s)", end=""),
            *pair("waits", "count", "waits", "# Waits", end=""),
            *pair("avg_wait_ms", "ms", "average wait", "Avg Wait Time (ms)", end="%Diff"),
        ),
        needs=("block_class", "first_waits"),
    ),
    Table(
        "compare_dictionary_cache",
        "Compare-period report: the dictionary cache.",
        (r"^Dictionary Cache Stat",),
        (
            Column("cache", "text", "cache", ("Cache",)),
            *pair(
                "gets_per_db_second", "number", "per second of DB time", "Get Requests per Sec (DB time)", end="%Diff"
            ),
            *pair("gets_per_second", "number", "per second", "Get Requests per Sec (Elapsed Time)", end="%Diff"),
            *pair("gets", "count", "get requests", "Get Requests", end=""),
            *both("get_miss_pct", "pct", "share that missed", "Pct Miss 1st", "Pct Miss 2nd"),
            *pair("scans", "count", "scan requests", "Scan Requests", end=""),
            *both("scan_miss_pct", "pct", "share that missed", "Pct Miss 1st#2", "Pct Miss 2nd#2"),
            *pair("modifications", "count", "modification requests", "Mod Reqs", end=""),
            *pair("usage", "count", "entries in use", "Final Usage", end=""),
        ),
        needs=("cache", "first_gets"),
    ),
    Table(
        "compare_library_cache",
        "Compare-period report: the library cache.",
        (r"^Library Cache Activity$",),
        (
            Column("namespace", "text", "namespace", ("Namespace",)),
            *pair(
                "gets_per_db_second", "number", "per second of DB time", "Get Requests per Sec (DB Time)", end="%Diff"
            ),
            *pair("gets_per_second", "number", "per second", "Get Requests per Sec (Elapsed Time)", end="%Diff"),
            *pair("gets", "count", "get requests", "Get Requests", end=""),
            *both("get_miss_pct", "pct", "share that missed", "Pct Miss 1st", "Pct Miss 2nd"),
            *pair("pins", "count", "pin requests", "Pin Requests", end=""),
            *both("pin_miss_pct", "pct", "share that missed", "Pct Miss 1st#2", "Pct Miss 2nd#2"),
            *pair("reloads", "count", "reloads", "Reloads", end=""),
            *pair("invalidations", "count", "invalidations", "Invalidations", end=""),
        ),
        needs=("namespace", "first_gets"),
    ),
)
