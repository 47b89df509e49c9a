"""Canonical tables of compare-period reports: both periods and the difference.

Columns are named after the period: ``first_...``, ``second_...``; ``difference_...`` is the difference as printed, and
``..._difference_pct`` the difference in per cent of the first period.
"""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Kind, Pivot, Table
from awrparse.tables.periods import both, pair

_RATES: Final = (
    *pair("per_db_second", "number", "per second of DB time", "per Second (DB time)", end="%Diff"),
    *pair("per_second", "number", "per second", "per Second (Elapsed Time)", end="%Diff"),
    *pair("per_transaction", "number", "per transaction", "per Trans", end="%Diff"),
)
_EVENT: Final = Column("event", "event", "wait event", ("Event",))
_CLASS: Final = Column("wait_class", "wait_class", "wait class", ("Wait Class",))
_SESSION_TYPE: Final = Column("session_type", "text", "what the sessions do", ("Session Type",))
_WAITS: Final = (
    *pair("db_time_pct", "pct", "share of DB time", "% of DB time"),
    *pair("waits_per_s", "number", "waits per second", "# Waits/sec (Elapsed Time)", end="%Diff"),
    *pair("total_wait_s", "s", "time waited", "Total Wait Time (sec)", end="%Diff"),
    *pair("avg_wait_ms", "ms", "average wait", "Avg Wait Time (ms)", end="%Diff"),
)
#: Columns of one side of the top events: name, kind, meaning, heading.
_TOP: Final[tuple[tuple[str, Kind, str, str], ...]] = (
    ("event", "event", "event", "Event"),
    ("wait_class", "wait_class", "its class", "Wait Class"),
    ("waits", "count", "its waits", "Waits"),
    ("total_wait_s", "s", "its time", "Time(s)"),
    ("avg_wait_ms", "ms", "its average", "Avg Time(ms)"),
    ("db_time_pct", "pct", "its share of DB time", "%DB time"),
)
_READS: Final = ("Total Reads", "Buffer Cache Reads", "Direct Reads", "Data File Reads", "Temp File Reads")
_WRITES: Final = (
    "Total Writes",
    "DBWR",
    "Direct Writes",
    "LGWR",
    "Data File Writes",
    "Temp File Writes",
    "Log File Writes",
)


def _io_pivots() -> tuple[Pivot, ...]:
    """I/O by function and by type of file, as data and as requests: a column for each, in both periods."""
    return tuple(
        Pivot(
            rf"^IOStat by {title} - {words} per Second",
            "item",
            {
                f"{item} {mark}": (item, f"{period}_{name}" if period else f"{name}_difference_pct")
                for item in items
                for mark, period in (("1st", "first"), ("2nd", "second"), ("%Diff", ""))
            },
            fixed={"grouped_by": group},
        )
        for title, group, items in (
            ("Function", "function", ("Total Reads", "Buffer Cache Reads", "Direct Reads", *_WRITES[:4])),
            ("File Type", "filetype", ("Total Reads", *_READS[3:], "Total Writes", *_WRITES[4:])),
        )
        for words, name in (("Data Rate", "mb_per_s"), ("Requests", "requests_per_s"))
    )


COMPARE: Final = (
    Table(
        "compare_snapshots",
        "Compare-period report: the two periods.",
        (r"^$", r"^WORKLOAD REPOSITORY COMPARE"),
        (
            Column("period", "text", "1st or 2nd", ("Snapshot Set",)),
            Column("begin_snap_id", "count", "first snapshot", ("Begin Snap Id",)),
            Column("begin_time", "time", "its time", ("Begin Snap Time",)),
            Column("end_snap_id", "count", "last snapshot", ("End Snap Id",)),
            Column("end_time", "time", "its time", ("End Snap Time",)),
            Column("avg_active_users", "number", "average active users", ("Avg Active Users",)),
            Column("elapsed_s", "minutes", "time between the snapshots", ("Elapsed Time (min)",)),
            Column("db_time_s", "minutes", "DB time", ("DB time (min)",)),
        ),
        needs=("period", "begin_snap_id"),
        rows_like=r"^(?:1st|2nd)",
    ),
    Table(
        "compare_snapshots_difference",
        "Compare-period report: by how much the two periods differ, in per cent of the first.",
        (r"^$", r"^WORKLOAD REPOSITORY COMPARE"),
        (
            Column("avg_active_users_pct", "pct", "average active users", ("Avg Active Users",)),
            Column("elapsed_pct", "pct", "time between the snapshots", ("Elapsed Time (min)",)),
            Column("db_time_pct", "pct", "DB time", ("DB time (min)",)),
        ),
        needs=("avg_active_users_pct", "elapsed_pct"),
        rows_like=r"^$",
    ),
    *(
        Table(
            name,
            f"Compare-period report: {words}.",
            (title,),
            (
                Column("statistic", "text", "what is compared", ("",)),
                *both("value", "number", "value", first, second, difference),
                Column("difference_pct", "pct", "difference in per cent", ("%Diff",)),
            ),
            shape="labels",
            needs=("first_value",),
        )
        for name, words, title, (first, second, difference) in (
            ("compare_host", "the hosts", r"^Host Configuration Comparison", ("1st", "2nd", "Diff")),
            ("compare_cache_sizes", "sizes of the caches in MB", r"^Cache Sizes", ("1st (M)", "2nd (M)", "Diff (M)")),
            ("compare_ratios", "ratios of the workload", r"^Workload Comparison", ("First", "Second", "Diff")),
        )
    ),
    Table(
        "compare_load_profile",
        "Compare-period report: work per second and per transaction.",
        (r"^Workload Comparison", r"^Load Profile"),
        (
            Column("statistic", "text", "what is counted", ("",)),
            *both("per_second", "number", "per second", "1st Per Sec", "2nd Per Sec"),
            Column("per_second_difference_pct", "pct", "difference in per cent", ("%Diff",)),
            *both("per_transaction", "number", "per transaction", "1st Per Txn", "2nd Per Txn"),
            Column("per_transaction_difference_pct", "pct", "difference in per cent", ("%Diff#2",)),
        ),
        shape="labels",
        needs=("first_per_second",),
    ),
    Table(
        "compare_top_events",
        "Compare-period report: the top events of both periods, side by side by rank.",
        (r"^Top Timed Events",),
        tuple(
            Column(f"{period}_{name}", kind, f"{meaning}, {period} period", (f"{mark} {head}",))
            for period, mark in (("first", "1st"), ("second", "2nd"))
            for name, kind, meaning, head in _TOP
        ),
        needs=("first_event",),
    ),
    Table(
        "compare_wait_classes",
        "Compare-period report: the wait classes of both periods.",
        (r"^Wait Classes$",),
        (_CLASS, *_WAITS),
        needs=("first_db_time_pct",),
    ),
    Table(
        "compare_wait_events",
        "Compare-period report: the wait events of both periods.",
        (r"^Wait Events$",),
        (_EVENT, _CLASS, *_WAITS),
        needs=("first_db_time_pct",),
    ),
    Table(
        "compare_time_model",
        "Compare-period report: the time model of both periods.",
        (r"^Time Model Statistics",),
        (
            Column("statistic", "statistic", "statistic", ("Statistic Name",)),
            *pair("db_time_pct", "pct", "share of DB time", "% of DB time"),
            *both("time_s", "s", "time", "Time (seconds) 1st", "Time (seconds) 2nd"),
            Column("time_difference_pct", "pct", "difference in per cent", ("Time (seconds) %Diff",)),
            *pair("time_per_transaction_s", "s", "time per transaction", "Time per Trans (seconds)", end="%Diff"),
        ),
        needs=("first_db_time_pct",),
    ),
    Table(
        "compare_os_stats",
        "Compare-period report: statistics of the operating system; times are in units of 10 ms.",
        (r"^Operating System Statistics",),
        (
            Column("statistic", "text", "statistic as in V$OSSTAT", ("Statistic Name",)),
            *pair("value", "number", "value", "Value (centi-seconds)", "Value", end=""),
            *_RATES,
        ),
        needs=("statistic", "first_per_second"),
    ),
    Table(
        "compare_services",
        "Compare-period report: shares of the services.",
        (r"^Service Statistics$",),
        (
            Column("service", "text", "service", ("Service Name",)),
            *pair("db_time_pct", "pct", "share of DB time", "% of DB time"),
            *pair("cpu_pct", "pct", "share of CPU time", "% CPU Time"),
            *pair("physical_reads_pct", "pct", "share of physical reads", "% Physical Reads"),
            *pair("logical_reads_pct", "pct", "share of logical reads", "% Logical Reads"),
        ),
        needs=("service", "first_db_time_pct"),
    ),
    Table(
        "compare_services_rac",
        "Compare-period report: shares of the services in the blocks received from other instances.",
        (r"^Service Statistics \(RAC\)",),
        (
            Column("service", "text", "service", ("Service Name",)),
            *pair("cr_blocks_pct", "pct", "share of consistent read blocks", "% CR Blks Received"),
            *pair("current_blocks_pct", "pct", "share of current blocks", "% Current Blks Received"),
            Column("difference_total_pct", "pct", "both differences together, as printed", ("Total Dif", "Total Diff")),
        ),
        needs=("service", "first_cr_blocks_pct"),
    ),
    Table(
        "compare_queue_processes",
        "Compare-period report: processes of Streams and Advanced Queuing, by CPU time.",
        (r"^Streams by CPU Time",),
        (
            _SESSION_TYPE,
            *pair("cpu_s", "s", "CPU time", "CPU Time (sec)", end="%Diff"),
            *pair("user_io_s", "s", "time waited for user I/O", "User I/O Time (sec)", end="%Diff"),
            *pair("system_io_s", "s", "time waited for system I/O", "System I/O Time (sec)", end="%Diff"),
        ),
        needs=("session_type", "first_user_io_s"),
    ),
    Table(
        "compare_queue_processes_io",
        "Compare-period report: processes of Streams and Advanced Queuing, by time of I/O.",
        (r"^Streams by IO Time",),
        (
            _SESSION_TYPE,
            *(
                Column(f"{period}_{name}_s", "s", f"{words}, {period} period", (f"IO Time (sec) {mark} {head}",))
                for period, mark in (("first", "1st"), ("second", "2nd"))
                for name, words, head in (
                    ("user_io", "time waited for user I/O", "User"),
                    ("system_io", "time waited for system I/O", "System"),
                    ("io", "time waited for I/O", "Total"),
                )
            ),
            Column("io_s_difference_pct", "pct", "difference in per cent", ("IO Time (sec) Total %D",)),
            *pair("cpu_s", "s", "CPU time", "CPU Time (sec)", end="%Diff"),
        ),
        needs=("session_type", "first_io_s"),
    ),
    Table(
        "compare_instance_activity",
        "Compare-period report: statistics of V$SYSSTAT of both periods.",
        (r"^(?:Key |Other )?Instance Activity Stats",),
        (
            Column("statistic", "statistic", "statistic, in full", ("Statistic",)),
            *pair("value", "number", "value", "Value", end="%Diff"),
            *_RATES,
        ),
        needs=("statistic", "first_value", "first_per_second"),
    ),
    Table(
        "compare_iostat",
        "Compare-period report: I/O by function and by type of file, per second.",
        (r"^IOStat by (?:Function|File Type) - (?:Data Rate|Requests) per Second",),
        (
            Column("grouped_by", "text", "`function` or `filetype`", ("grouped by",)),
            Column("item", "text", "function or type of file, and whether reads or writes", ("item",)),
            *pair("mb_per_s", "number", "megabytes per second", "MB/s", end="%Diff"),
            *pair("requests_per_s", "number", "requests per second", "requests/s", end="%Diff"),
        ),
        needs=("item",),
        pivots=_io_pivots(),
    ),
    Table(
        "compare_pga",
        "Compare-period report: work areas.",
        (r"^PGA Aggregate Summary",),
        (
            *pair("hit_pct", "pct", "share of work area data processed in memory", "PGA Cache Hit %"),
            *pair("bytes_per_db_second", "bytes", "per second of DB time", "W/A Bytes/Sec (DB time)", end="%Diff"),
            *pair("processed_mb", "number", "megabytes processed", "W/A MB Processed", end=""),
            *pair(
                "extra_bytes_per_db_second",
                "bytes",
                "read and written beyond, per second of DB time",
                "Read/Written W/A Bytes/Sec (DB time)",
                end="%Diff",
            ),
            *pair("extra_mb", "number", "megabytes read and written beyond", "Read/Written W/A MB", end=""),
        ),
        needs=("first_hit_pct",),
    ),
    *(
        Table(
            name,
            f"Compare-period report: {words}.",
            (title,),
            (
                *lead,
                *(
                    Column(f"{period}_{side}", "number", f"at the {side} of the {period} period", heads)
                    for period, mark in (("first", "1st"), ("second", "2nd"))
                    for side, heads in (
                        ("begin", (f"{mark} Begin Value", f"{mark} Begin Value (KB)")),
                        ("end", (f"{mark} End Value", f"{mark} End Value (KB)")),
                    )
                ),
                *(
                    Column(f"{period}_change_pct", "pct", f"change within the {period} period", (f"{mark} %Diff",))
                    for period, mark in (("first", "1st"), ("second", "2nd"))
                ),
                *(
                    Column(
                        f"{side}_difference_pct",
                        "pct",
                        f"difference at the {side}, in per cent",
                        (f"% Diff of {side} Val", f"% Diff of {side} Value", f"%Diff of {side} Values"),
                    )
                    for side in ("begin", "end")
                ),
            ),
            needs=(lead[-1].name, "first_begin"),
            filled=filled,
        )
        for name, words, title, lead, filled in (
            (
                "compare_process_memory",
                "memory of processes by category",
                r"^Process Memory Summary",
                (
                    Column("category", "text", "category", ("Category",)),
                    Column("measure", "text", "what is measured, with its unit", ("Summary",)),
                ),
                ("category",),
            ),
            (
                "compare_sga",
                "the regions of the SGA, in KB",
                r"^SGA Memory Summary",
                (Column("region", "text", "region", ("SGA regions",)),),
                (),
            ),
            (
                "compare_sga_breakdown",
                "parts of the SGA, in the unit that the report's notes name",
                r"^SGA Breakdown Difference",
                (
                    Column("pool", "text", "pool", ("Pool",)),
                    Column("name", "text", "part", ("Name",)),
                ),
                ("pool",),
            ),
        )
    ),
    Table(
        "compare_parameters",
        "Compare-period report: initialization parameters.",
        (r"^init\.ora ", r"Parameters$"),
        (
            Column("parameter", "text", "parameter", ("Parameter Name",)),
            *(
                Column(
                    f"{period}_{side}",
                    "text",
                    f"value at the {side} of the {period} period{where}",
                    (f"{mark} Period {side} Snap Value",),
                )
                for period, mark in (("first", "1st"), ("second", "2nd"))
                for side in ("begin", "end")
                for where in ("" if (period, side) == ("first", "end") else ", where it differs",)
            ),
        ),
        needs=("parameter", "first_begin"),
    ),
)
