"""Canonical tables of a report's summary: load, efficiency, CPU, I/O, statistics."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Pivot, Table
from awrparse.tables.rac import INSTANCE

_PER_SECOND = ("Per Second", "per Second")
LOAD: Final = (
    Table(
        "load_profile",
        "Work per second and per transaction; labels of older versions are given as today's.",
        (r"^Load Profile",),
        (
            Column("statistic", "text", "what is counted", ("",)),
            Column("per_second", "number", "per second", _PER_SECOND),
            Column("per_transaction", "number", "per transaction", ("Per Transaction",)),
            Column("per_exec", "number", "per execution", ("Per Exec",)),
            Column("per_call", "number", "per user call", ("Per Call",)),
        ),
        shape="labels",
        needs=("per_second",),
        renamed={
            "DB time(s)": "DB Time(s)",
            "RAC GC blocks received": "Global Cache blocks received",
            "RAC GC blocks served": "Global Cache blocks served",
            "Redo size": "Redo size (bytes)",
            "Logical reads": "Logical read (blocks)",
            "Physical reads": "Physical read (blocks)",
            "Physical writes": "Physical write (blocks)",
            "Parses": "Parses (SQL)",
            "Hard parses": "Hard parses (SQL)",
            "W/A MB processed": "SQL Work Area (MB)",
            "Executes": "Executes (SQL)",
        },
    ),
    Table(
        "load_ratios",
        "What older versions print below the load profile, such as `% Blocks changed per Read` and `Rows per Sort`.",
        (r"^Load Profile",),
        (
            Column("statistic", "text", "what is measured", ("",)),
            Column("value", "number", "a ratio, or per cent where its name says so", ("#1", "#2")),
        ),
        shape="labels",
        needs=("value",),
        rows_like=r"^(?:% Blocks changed|Recursive Call|Rollback per|Rows per Sort)",
    ),
    Table(
        "instance_efficiency",
        "Hit ratios and the like, as percentages; more than 100 and less than 0 do occur.",
        (r"^Instance Efficiency",),
        (
            Column("statistic", "text", "what is measured", ("",)),
            Column("pct", "pct", "per cent", ("#1",)),
        ),
        shape="labels",
    ),
    Table(
        "host_cpu",
        "Load and CPU use of the host.",
        (r"^Host CPU", r"^OS Statistics By Instance"),
        (
            Column("cpus", "count", "logical processors", ("CPUs", "CPU #CPUs")),
            Column("cores", "count", "cores", ("Cores", "CPU #Cores")),
            Column("sockets", "count", "sockets", ("Sockets", "CPU #Sckts")),
            Column("load_begin", "number", "load average at the start", ("Load Average Begin", "Load Begin", "Begin")),
            Column(
                "load_end", "number", "load average at the end", ("Load Average End", "Average End", "Load End", "End")
            ),
            Column("user_pct", "pct", "user", ("%User", "User", "% CPU % Usr")),
            Column("system_pct", "pct", "system", ("%System", "System", "% CPU % Sys")),
            Column("wio_pct", "pct", "waiting for I/O", ("%WIO", "WIO", "% CPU % WIO")),
            Column("idle_pct", "pct", "idle", ("%Idle", "Idle", "% CPU % Idl")),
            Column("wcpu_pct", "pct", "waiting for CPU (Statspack)", ("WCPU",)),
            Column("busy_pct", "pct", "busy (reports of all instances)", ("% CPU % Busy",)),
            INSTANCE,
        ),
        needs=("idle_pct",),
        in_title=("cpus", "cores", "sockets"),
    ),
    Table(
        "instance_cpu",
        "CPU use of the instance.",
        (r"^Instance CPU",),
        (
            Column(
                "total_cpu_pct",
                "pct",
                "share of the host's CPU",
                ("%Total CPU", "% of total CPU for Instance"),
            ),
            Column(
                "busy_cpu_pct",
                "pct",
                "share of the host's busy CPU",
                ("%Busy CPU", "% of busy CPU for Instance", "% of Busy CPU used for Instance"),
            ),
            Column(
                "resource_manager_pct",
                "pct",
                "share of DB time waiting for the resource manager",
                (
                    "%DB time waiting for CPU (Resource Manager)",
                    "%DB time waiting for CPU - Resource Mgr",
                    "%DB time waiting for CPU (Resource Mgr)",
                ),
            ),
            Column("host_total_s", "s", "CPU time that the host had (Statspack)", ("Host: Total time (s)",)),
            Column("host_busy_s", "s", "CPU time that the host used (Statspack)", ("Host: Busy CPU time (s)",)),
            Column("host_busy_pct", "pct", "share that the host used (Statspack)", ("% of time Host is Busy",)),
            Column("cpu_s", "s", "CPU time of the instance (Statspack)", ("Instance: Total CPU time (s)",)),
            Column("db_time_s", "s", "DB time of the instance (Statspack)", ("Instance: Total Database time (s)",)),
        ),
        shape="wide",
    ),
    Table(
        "io_profile",
        "Requests and volume per second.",
        (r"^IO Profile",),
        (
            Column("statistic", "text", "what is counted, with its unit", ("", "Statistic")),
            Column(
                "total_per_second",
                "number",
                "reads and writes",
                ("Read+Write Per Second", "Read+Write/Second", "Read+Write/s"),
            ),
            Column("read_per_second", "number", "reads", ("Read per Second", "Read/Second", "Reads/s")),
            Column("write_per_second", "number", "writes", ("Write Per Second", "Write/Second", "Writes/s")),
        ),
        shape="labels",
    ),
    Table(
        "memory",
        "Memory of the host, the SGA and the PGA.",
        (r"^Memory Statistics",),
        (
            Column("statistic", "text", "what is measured, with its unit", ("",)),
            Column("begin", "number", "at the first snapshot", ("Begin",)),
            Column("end", "number", "at the last snapshot", ("End",)),
        ),
        shape="labels",
    ),
    Table(
        "sql_memory",
        "Cursors in the shared pool and their sizes (Statspack).",
        (r"^SQL Memory Statistics",),
        (
            Column("statistic", "text", "what is measured, with its unit", ("",)),
            Column("begin", "number", "at the first snapshot", ("Begin",)),
            Column("end", "number", "at the last snapshot", ("End",)),
            Column("change_pct", "pct", "difference in per cent", ("% Diff",)),
        ),
        shape="labels",
    ),
    Table(
        "cache_sizes",
        "Sizes of the caches, in bytes.",
        (r"^Cache Sizes",),
        (
            Column("cache", "text", "cache, or block size", ("",)),
            Column("begin_bytes", "bytes", "at the first snapshot", ("Begin",)),
            # 9i has one size without a heading: `Cache Sizes (end)`
            Column("end_bytes", "bytes", "at the last snapshot; null in Statspack when unchanged", ("End", "#1")),
            INSTANCE,
        ),
        shape="labels",
        renamed={"Shared Pool": "Shared Pool Size"},
        pivots=(
            Pivot(
                r"^Cache Sizes",
                "cache",
                {
                    f"{head} {side}": (name, f"{side.lower()}_bytes")
                    for head, name in (
                        ("Memory Target", "Memory Target"),
                        ("Sga Target", "SGA Target"),
                        ("DB Cache", "Buffer Cache"),
                        ("Shared Pool", "Shared Pool Size"),
                        ("Large Pool", "Large Pool"),
                        ("Java Pool", "Java Pool"),
                        ("Streams Pool", "Streams Pool"),
                        ("PGA Target", "PGA Target"),
                    )
                    for side in ("Begin", "End")
                }
                | {"Log Buffer": ("Log Buffer", "begin_bytes")},
                suffix="M",
            ),
        ),
    ),
    Table(
        "shared_pool",
        "Use of the shared pool.",
        (r"^Shared Pool Statistics",),
        (
            Column("statistic", "text", "what is measured", ("",)),
            Column("begin_pct", "pct", "at the first snapshot", ("Begin",)),
            Column("end_pct", "pct", "at the last snapshot", ("End",)),
        ),
        shape="labels",
    ),
    Table(
        "os_stats",
        "Statistics of the operating system; times are differences in units of 10 ms.",
        (r"^Operating System Statistics$", r"^OS Statistics$"),
        (
            Column("statistic", "text", "statistic as in V$OSSTAT", ("Statistic",)),
            Column("value", "number", "value, or difference over the period", ("Value", "Total")),
            Column("end_value", "number", "value at the end, where it differs", ("End Value",)),
        ),
        needs=("statistic", "value"),
    ),
    Table(
        "os_stats_detail",
        "Load and CPU use of the host at each snapshot.",
        (r"^Operating System Statistics - Detail", r"^OS Statistics - detail"),
        (
            Column("snap_id", "count", "snapshot id (Statspack)", ("Snap Id",)),
            Column("snap_time", "text", "as printed: there is no year", ("Snap Time", "Snapshot Day Time")),
            Column("load", "number", "load", ("Load",)),
            Column("busy_pct", "pct", "busy", ("%busy",)),
            Column("user_pct", "pct", "user", ("%user",)),
            Column("system_pct", "pct", "system", ("%sys", "%System")),
            Column("idle_pct", "pct", "idle", ("%idle",)),
            Column("wio_pct", "pct", "waiting for I/O", ("%iowait", "%WIO")),
        ),
        needs=("snap_time",),
    ),
    Table(
        "instance_activity",
        "Statistics of V$SYSSTAT over the period; key and other statistics together, none twice.",
        (r"^(?:Key |Other )?Instance Activity Stats$", r"^System Statistics \(Global\)"),
        (
            Column("statistic", "statistic", "statistic, in full", ("Statistic",)),
            Column("total", "count", "difference over the period", ("Total",)),
            Column("per_second", "number", "per second", _PER_SECOND),
            Column("per_transaction", "number", "per transaction", ("per Trans",)),
            *(
                Column(f"{name}_per_second", "number", f"{meaning} (reports of all instances)", (f"per Second {head}",))
                for name, meaning, head in (
                    ("avg", "average of the instances' rates", "Average"),
                    ("min", "lowest of the instances' rates", "Min"),
                    ("max", "highest of the instances' rates", "Max"),
                )
            ),
        ),
        shape="sum",
        needs=("statistic", "total", "per_second"),
    ),
    Table(
        "instance_activity_absolute",
        "Statistics that are values and not counts.",
        (
            r"^Instance Activity Stats(?: - Absolute Values)?$",
            r"^Instance Activity Stats - Absolute Val",
            r"^System Statistics \(Absolute Values\)",
        ),
        (
            Column("statistic", "statistic", "statistic", ("Statistic",)),
            Column("begin", "number", "at the first snapshot", ("Begin Value",)),
            Column("end", "number", "at the last snapshot", ("End Value",)),
            INSTANCE,
        ),
        needs=("statistic", "begin"),
        pivots=(
            Pivot(
                r"^System Statistics \(Absolute Values\)",
                "statistic",
                {
                    f"{head} {side}": (name, side.lower())
                    for head, name in (
                        ("Sessions", "logons current"),
                        ("Open Cursors", "opened cursors current"),
                        ("Session Cached Cursors", "session cursor cache count"),
                    )
                    for side in ("Begin", "End")
                },
            ),
        ),
    ),
    Table(
        "thread_activity",
        "Log switches and the like, by hour.",
        (r"^Instance Activity Stats(?: - Thread Activity)?$",),
        (
            Column("statistic", "statistic", "statistic", ("Statistic",)),
            Column("total", "count", "number", ("Total",)),
            Column("per_hour", "number", "per hour", ("per Hour",)),
        ),
        needs=("statistic", "per_hour"),
    ),
    Table(
        "parameters",
        "Initialization parameters, one row a value.",
        (r"^init\.ora ", r"Parameters(?: modified.*)?$"),
        (
            Column("parameter", "parameter", "parameter", ("Parameter Name",)),
            Column("instance", "text", "instance number, `*` for all (RAC)", ("I#",)),
            Column("begin", "text", "value; text reports of AWR cut it at 33 characters", ("Begin value",)),
            Column("end", "text", "value at the end, where it differs", ("End value (if different)",)),
            Column("pdb", "text", "pluggable database", ("PDB Name",)),
        ),
        needs=("parameter", "begin"),
        filled=("parameter",),
        wraps=True,
    ),
)
