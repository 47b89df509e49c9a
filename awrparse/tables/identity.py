"""Canonical tables of what a report is about: database, instances, hosts, snapshots."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Kind, Table

#: `report["info"]`: the fields of `AwrInfo` as one row.
INFO: Final = Table(
    "info",
    "What the report says about itself, in one row; `report.info` has the same as attributes.",
    (),
    (
        Column("kind", "text", "kind of report"),
        Column("form", "text", "`text` or `html`"),
        Column("db_name", "text", "database"),
        Column("db_id", "count", "database id"),
        Column("instance", "text", "instance; null in a report of several"),
        Column("instance_number", "count", "its number"),
        Column("release", "text", "release"),
        Column("is_rac", "flag", "one of several instances"),
        Column("is_cdb", "flag", "a container database"),
        Column("container", "text", "pluggable database that the report is of; null where it is of all"),
        Column("startup_time", "time", "when the instance was started"),
        Column("host", "text", "host name; text reports cut it at 16 characters"),
        Column("platform", "text", "operating system"),
        Column("cpus", "count", "logical processors"),
        Column("cores", "count", "cores"),
        Column("sockets", "count", "sockets"),
        Column("memory_gb", "number", "memory in GB"),
        Column("begin_snap_id", "count", "first snapshot"),
        Column("end_snap_id", "count", "last snapshot"),
        Column("begin_time", "time", "when the first was taken"),
        Column("end_time", "time", "when the last was taken"),
        Column("elapsed_s", "s", "time between them"),
        Column("db_time_s", "s", "DB time"),
        Column("db_cpu_s", "s", "CPU time of the sessions (Statspack)"),
        Column("average_active_sessions", "number", "average active sessions (Statspack, ASH, ADDM)"),
        Column("sample_count", "count", "samples of active sessions (ASH)"),
        Column("sessions_begin", "count", "sessions at the first snapshot"),
        Column("sessions_end", "count", "sessions at the last"),
        Column("invalid", "text", "the line that says that the figures are not valid"),
    ),
)

#: What only reports of all instances say of the database.
_GLOBAL: Final[tuple[tuple[str, Kind, str, str], ...]] = (
    ("block_bytes", "bytes", "size of a block", "Database Block Size"),
    ("begin_snap_id", "count", "first snapshot", "Snapshot Ids Begin"),
    ("end_snap_id", "count", "last snapshot", "Snapshot Ids End"),
    ("instances", "count", "instances in the report", "Number of Instances In Report"),
    ("instances_of_all", "count", "instances of the database", "Number of Instances Total"),
    ("hosts", "count", "hosts in the report", "Number of Hosts In Report"),
    ("hosts_of_all", "count", "hosts of the database", "Number of Hosts Total"),
    ("db_time_s", "minutes", "DB time", "Report Total (minutes) DB time"),
    ("elapsed_s", "minutes", "time between the snapshots", "Report Total (minutes) Elapsed time"),
)

#: The titles over the database and its instances; the last is that of reports on one statement.
_TITLES: Final = (r"^$", r"^Database", r"^WORKLOAD REPOSITORY", r"^ASH Report", r"^Snapshot Period Summary")

IDENTITY: Final = (
    Table(
        "databases",
        "The database and the instance that the report is about.",
        _TITLES,
        (
            Column("db_name", "text", "database", ("DB Name", "Database Name", "Name")),
            Column("db_id", "count", "database id", ("DB Id", "Database Id")),
            Column("unique_name", "text", "unique name", ("Unique Name", "Database Unique Name")),
            Column("role", "text", "role, such as PRIMARY", ("DB Role", "Role", "Database Role")),
            Column("edition", "text", "edition, such as EE", ("Edition", "Database Edition")),
            Column("release", "text", "release", ("Release",)),
            Column("rac", "text", "YES or NO", ("RAC", "Database RAC", "Cluster")),
            Column("cdb", "text", "YES or NO", ("CDB", "Database CDB")),
            Column("host", "text", "host (ASH reports)", ("Host",)),
            *(
                Column(name, kind, f"{meaning} (reports of all instances)", (head,))
                for name, kind, meaning, head in _GLOBAL
            ),
            Column("std_block_bytes", "bytes", "size of a block (compare-period reports)", ("Std Block Size",)),
            Column("period", "text", "first or second period (compare-period reports)", ("Snapshot Set",)),
        ),
        needs=("db_id",),
    ),
    Table(
        "instances",
        "The instances in the report.",
        _TITLES,
        (
            Column("instance", "text", "instance", ("Instance",)),
            Column("instance_number", "count", "its number", ("Inst Num", "Inst num", "I#")),
            Column("startup_time", "time", "when it was started", ("Startup Time", "Startup")),
            Column("release", "text", "release", ("Release",)),
            Column("host", "text", "host", ("Host",)),
            Column("platform", "text", "platform", ("Platform",)),
            Column("begin_time", "time", "first snapshot", ("Begin Snap Time",)),
            Column("end_time", "time", "last snapshot", ("End Snap Time",)),
            Column("elapsed_s", "minutes", "time between the snapshots", ("Elapsed Time(min)",)),
            Column("db_time_s", "minutes", "DB time", ("DB time(min)",)),
            Column("up_hours", "number", "hours since the start", ("Up Time(hrs)",)),
            Column("avg_active_sessions", "number", "average active sessions", ("Avg Active Sessions",)),
            Column("user", "text", "user who took the report (19c)", ("User Name",)),
            Column(
                "sees_system_data",
                "text",
                "YES or NO: are figures of the whole system in it?",
                ("System Data Visible",),
            ),
            Column("period", "text", "first or second period (compare-period reports)", ("Snapshot Set",)),
        ),
        needs=("instance", "instance_number"),
    ),
    Table(
        "hosts",
        "The host of the instance; text reports cut its name at 16 characters.",
        (r"^$", r"^Host Name", r"^WORKLOAD REPOSITORY"),
        (
            Column("host", "text", "host name", ("Host Name",)),
            Column("platform", "text", "platform", ("Platform",)),
            Column("cpus", "count", "logical processors", ("CPUs",)),
            Column("cores", "count", "cores; null where the platform does not say", ("Cores",)),
            Column("sockets", "count", "sockets; null where the platform does not say", ("Sockets",)),
            Column("memory_gb", "number", "memory in GB", ("Memory(GB)", "Memory (GB)", "Memory (G)")),
        ),
        needs=("platform",),
        layouts={6: ("host", "platform", "cpus", "cores", "sockets", "memory_gb")},
    ),
    Table(
        "containers",
        "The pluggable databases in the report.",
        (r"^$", r"^WORKLOAD REPOSITORY"),
        (
            Column("container_db_id", "count", "database id", ("Container DB Id",)),
            Column("container", "text", "name", ("Container Name",)),
            Column("open_time", "time", "when it was opened", ("Open Time",)),
        ),
        needs=("container_db_id",),
    ),
    Table(
        "snapshots",
        "The first and the last snapshot of the report.",
        (r"^$", r"^Snapshot", r"^WORKLOAD REPOSITORY"),
        (
            Column("snapshot", "text", "`Begin Snap` or `End Snap`", ("",)),
            Column("snap_id", "count", "snapshot id", ("Snap Id",)),
            Column("snap_time", "time", "when it was taken", ("Snap Time",)),
            Column("sessions", "count", "sessions", ("Sessions",)),
            Column("cursors_per_session", "number", "open cursors per session", ("Curs/Sess", "Cursors/Session")),
            Column("instances", "count", "instances (RAC)", ("Instances",)),
            Column("open_pdbs", "count", "open pluggable databases", ("Pluggable Databases Open",)),
            Column("cdb", "text", "YES or NO: is it one of a container database", ("CDB",)),
            Column("comment", "text", "comment (Statspack)", ("Comment",)),
        ),
        needs=("snap_id", "snap_time"),
        rows_like=r"(?i)^(?:begin|end) snap",
    ),
)
