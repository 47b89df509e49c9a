"""Canonical tables of Exadata's flash cache, smart scans, and of the databases that share the cells.

Reports of 12.1 and 18c print them, as HTML only.  ``All`` rows stand as printed among the cells.
"""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table
from awrparse.tables.exadata import CELL, CELLS

_DATABASE: Final = (
    Column("ordered_by", "text", "`requests` or `throughput`"),
    Column("cell", "text", "cell; null where a row is about all cells", ("Cell Name",)),
    Column("db_name", "text", "database", ("DB Name",)),
    Column("db_id", "count", "database id", ("DBID",)),
    Column(
        "total_pct",
        "pct",
        "share of the requests or of the volume, of all cells or of the cell",
        tuple(
            f"{group} {head}"
            for group in ("IO Requests", "IO Throughput (MB)")
            for head in ("%Total", "%Cell", "%Captured")
        ),
    ),
    Column("requests", "count", "I/O requests", ("IO Requests Total Requests",)),
    Column("requests_per_s", "number", "I/O requests per second (18c)", ("IO Requests per Sec",)),
    Column("flash_requests", "count", "requests to flash", ("IO Requests Flash",)),
    Column("disk_requests", "count", "requests to hard disk", ("IO Requests Disk",)),
    Column("io_mb", "number", "megabytes", ("IO Throughput (MB) Total MB",)),
    Column("io_mb_per_s", "number", "megabytes per second (18c)", ("IO Throughput (MB) per Sec",)),
    Column("flash_mb", "number", "megabytes of flash", ("IO Throughput (MB) Flash",)),
    Column("disk_mb", "number", "megabytes of hard disk", ("IO Throughput (MB) Disk",)),
)

FLASH: Final = (
    Table(
        "exadata_smart_io",
        "Exadata: smart scans by cell.",
        (r"^Smart IO$",),
        (
            CELL,
            Column("requested_mb", "number", "megabytes requested", ("MB Requested Total",)),
            Column("requested_mb_per_s", "number", "megabytes requested per second", ("MB Requested per Sec",)),
            Column("storage_index_mb", "number", "megabytes that storage indexes saved", ("Storage Index MB",)),
            Column("flash_cache_mb", "number", "megabytes from the flash cache", ("Flash Cache MB",)),
            Column("offload_mb", "number", "megabytes offloaded", ("Offload MB",)),
            Column("offload_pct", "pct", "offload efficiency", ("Offload % Efficiency",)),
            Column("requested_pct", "pct", "share of what was requested of all cells", ("MB Requested % Total",)),
            Column("storage_index_pct", "pct", "share that storage indexes saved", ("Storage Index % Optimized",)),
            Column("flash_cache_pct", "pct", "share from the flash cache", ("Flash Cache % Optimized",)),
            Column("passthru_mb", "number", "megabytes sent in passthru mode", ("Passthru MB",)),
            Column("passthru_pct", "pct", "share in passthru mode", ("Passthru % Passthru",)),
            Column("reverse_offload_mb", "number", "megabytes of reverse offload", ("Reverse Offload MB",)),
            Column("reverse_offload_pct", "pct", "share of reverse offload", ("Reverse Offload % reverseOffload",)),
        ),
        needs=("cell",),
        total="cell",
    ),
    Table(
        "exadata_passthru",
        "Exadata: why smart scans ran in passthru mode.",
        (r"^Passthru Reasons",),
        (
            Column("reason", "text", "reason", ("Passthru Reasons",)),
            Column("sessions", "count", "sessions", ("Number of Sessions",)),
            Column("total_pct", "pct", "share of the sessions", ("% Total",)),
        ),
        needs=("reason",),
    ),
    Table(
        "exadata_flash_log",
        "Exadata: redo writes to the flash log by cell.",
        (r"^Flash Log$",),
        (
            CELL,
            Column("requests_pct", "pct", "share of the requests", ("Write Requests % Total", "Write Requests %Total")),
            Column("requests", "count", "write requests", ("Write Requests Total",)),
            Column("requests_per_s", "number", "write requests per second", ("Write Requests per Sec",)),
            Column("write_mb", "number", "megabytes written", ("Write MB Total",)),
            Column("write_mb_per_s", "number", "megabytes written per second", ("Write MB per Sec",)),
            Column("efficiency_pct", "pct", "share of slow writes that were prevented", ("Outliers % Efficiency",)),
            Column("outliers_prevented", "count", "slow writes prevented", ("Outliers Prevented",)),
            Column("outliers", "count", "slow writes", ("Outliers Actual",)),
            Column("disk_errors", "count", "errors of hard disks", ("Errors Disk I/O",)),
            Column("flash_errors", "count", "errors of flash", ("Errors Flash I/O",)),
            Column("keep_mb", "number", "megabytes kept", ("Keep (MB)",)),
            Column("skip_busy", "count", "writes that found the flash log busy", ("Skip Busy",)),
        ),
        needs=("cell", "requests"),
        total="cell",
    ),
    Table(
        "exadata_flash_configuration",
        "Exadata: mode of the flash cache.",
        (r"^Flash Cache Configuration",),
        (
            Column("mode", "text", "WriteBack or WriteThrough", ("Mode",)),
            Column("compression", "text", "TRUE or FALSE", ("Compression",)),
            Column("status", "text", "status (18c)", ("Status",)),
            CELLS,
        ),
        needs=("mode",),
    ),
    Table(
        "exadata_flash_space",
        "Exadata: what the flash cache is used for, by cell (12.1).",
        (r"^Flash Cache Space Usage",),
        (
            CELL,
            *(
                Column(f"{name}_mb", "number", f"megabytes {meaning}", (f"Space (MB) {head}",))
                for name, meaning, head in (
                    ("allocated", "allocated", "Allocated"),
                    ("used", "used", "Used"),
                    ("oltp", "of OLTP", "OLTP"),
                    ("dw", "of scans", "DW"),
                    ("keep", "kept", "Keep"),
                )
            ),
            Column("keep_victim", "number", "victims in the keep area", ("Keep Victim",)),
        ),
        needs=("cell", "allocated_mb"),
        total="cell",
    ),
    Table(
        "exadata_flash_reads",
        "Exadata: reads from the flash cache by cell.",
        (r"^Flash Cache User Reads$",),
        (
            CELL,
            Column("read_requests", "count", "read requests", ("Read Requests Total", "Read Requests Total Hits")),
            Column(
                "read_requests_per_s",
                "number",
                "read requests per second",
                ("Read Requests per Sec", "Read Requests Hits per Sec"),
            ),
            Column(
                "misses",
                "count",
                "misses and partial hits",
                ("Read Requests Misses/Partial Hits", "Read Requests Misses Partial Hits"),
            ),
            Column("read_mb", "number", "megabytes read", ("Read Megabytes Total", "Read Megabytes Total Hits")),
            Column(
                "read_mb_per_s",
                "number",
                "megabytes read per second",
                ("Read Megabytes per Sec", "Read Megabytes Hit MB/s"),
            ),
            Column("oltp_requests", "count", "read requests of OLTP", ("Read Requests OLTP",)),
            Column("dw_requests", "count", "read requests of scans", ("Read Requests DW", "Read Requests Scan")),
            *(
                Column(
                    f"{group}_{unit}",
                    "count" if unit == "requests" else "number",
                    f"{'read requests' if unit == 'requests' else 'megabytes'} of {meaning}",
                    (f"Read {'Requests' if unit == 'requests' else 'Megabytes'} {head}",),
                )
                for group, meaning, head in (
                    ("columnar", "the columnar cache", "Columnar"),
                    ("keep", "objects that are to be kept", "Keep"),
                    ("secondary_hit", "hits of active secondaries", "Active Secondary Hits"),
                    ("secondary_miss", "misses of active secondaries", "Active Secondary Misses"),
                )
                for unit in ("requests", "mb")
            ),
            Column("oltp_mb", "number", "megabytes read by OLTP", ("Read Megabytes OLTP",)),
            Column("dw_mb", "number", "megabytes read by scans", ("Read Megabytes DW", "Read Megabytes Scan")),
        ),
        needs=("cell", "read_requests"),
        total="cell",
    ),
    Table(
        "exadata_flash_writes",
        "Exadata: writes to the flash cache by cell (12.1).",
        (r"^Flash Cache User Writes$",),
        (
            CELL,
            *(
                column
                for name, group in (("requests", "Write Requests"), ("mb", "Write Megabytes"))
                for column in (
                    Column(f"write_{name}", "number", f"{group.lower()}", (f"{group} Total Value",)),
                    Column(f"write_{name}_per_s", "number", f"{group.lower()} per second", (f"{group} Total per Sec",)),
                    *(
                        Column(
                            f"{kind}_{name}{end}",
                            "pct" if end else "number",
                            f"{words}{share}",
                            (f"{group} {head} {side}",),
                        )
                        for kind, words, head in (
                            ("first", "first writes", "First Writes"),
                            ("over", "overwrites", "Overwrites"),
                            ("partial", "partial writes", "Partial Writes"),
                        )
                        for end, share, side in (("", "", "Value"), ("_pct", ", share", "% Writes"))
                    ),
                )
            ),
        ),
        needs=("cell", "write_requests"),
        total="cell",
    ),
    Table(
        "exadata_flash_internal",
        "Exadata: reads and writes of the flash cache by itself, by cell (12.1).",
        (r"^Flash Cache Internal (?P<which>Reads|Writes)",),
        (
            Column("direction", "text", "`reads`: read to be written to disk; `writes`: to populate the cache"),
            CELL,
            Column("requests", "count", "requests", ("Read to Disk Write Reqs", "Pop Write Requests")),
            Column("mb", "number", "megabytes", ("Read to Disk Write MB", "Pop Write Megabytes")),
        ),
        needs=("cell", "requests"),
        total="cell",
        group={"direction": {"reads": "reads", "writes": "writes"}},
    ),
    Table(
        "exadata_flash_scans",
        "Exadata: what scans replaced in the flash cache, by cell.",
        (r"^Flash Cache Scan Population",),
        (
            CELL,
            *(
                Column(name, "count", meaning, (head,))
                for name, meaning, head in (
                    ("oltp", "data of OLTP replaced", "Replacements OLTP"),
                    ("dw", "data of other scans replaced", "Replacements DW"),
                    ("self", "data of the same object replaced", "Replacements Self"),
                    ("zero_hit", "data without a hit replaced", "Replacements Zero Hit"),
                    ("free_headers", "free headers used", "Free Headers Used"),
                )
            ),
        ),
        needs=("cell", "oltp"),
        total="cell",
    ),
    Table(
        "exadata_io_reasons",
        "Exadata: why the cells did I/O.",
        (r"^Top IO Reasons by (?P<which>Requests|MB)",),
        (
            Column("ordered_by", "text", "`requests` or `mb`"),
            CELL,
            Column("reason", "text", "reason", ("IO Reason",)),
            Column("cell_pct", "pct", "share of the cell", ("Requests %Cell", "MB %Cell")),
            Column("requests", "count", "requests", ("Requests Value", "Requests")),
            Column("mb", "number", "megabytes", ("MB Value", "MB")),
        ),
        needs=("cell", "reason"),
        total="cell",
        group={"ordered_by": {"requests": "requests", "mb": "mb"}},
        filled=("cell",),
    ),
    Table(
        "exadata_databases",
        "Exadata: the databases that did most I/O, on all cells and on each.",
        (r"^Top Databases by IO (?P<which>Requests|Throughput)(?: per Cell)?$",),
        _DATABASE,
        needs=("db_name", "requests"),
        group={"ordered_by": {"requests": "requests", "throughput": "throughput"}},
        filled=("cell",),
    ),
)
