"""Canonical tables of active session history: in ASH reports, and at the end of AWR reports from 11.2 on.

A cell that is blank because the statement, session or slot is the one above is filled.  So is what is counted for the
whole group (`executions`, `activity_pct`, `slot_samples`), which some versions print in each of its rows and others in
the first: add it up once a group.
"""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

_ACTIVITY: Final = Column("activity_pct", "pct", "share of all samples of the whole group", ("% Activity",))
_EVENT: Final = Column("event", "event", "wait event, or CPU", ("Event", "Top Event", "Event Caused"))
_EVENT_PCT: Final = Column("event_pct", "pct", "share of all samples that were in the event", ("% Event",))
_SESSIONS: Final = Column(
    "avg_active_sessions", "number", "average active sessions", ("Avg Active Sessions", "Avg Active")
)
_PDB: Final = Column("pdb", "text", "pluggable database", ("Container Name", "PDB Name"))
_USER: Final = Column("user", "text", "user", ("User",))
_PROGRAM: Final = Column("program", "text", "program", ("Program",))
_TABLESPACE: Final = Column("tablespace", "text", "tablespace", ("Tablespace",))
_ROW_SOURCE: Final = Column("row_source", "text", "step of the plan", ("Row Source", "Top Row Source"))
_ROW_SOURCE_PCT: Final = Column(
    "row_source_pct", "pct", "share of all samples that were in the step", ("% Row Source", "% RwSrc")
)
_STATEMENT: Final = (
    Column("sql_id", "text", "statement", ("SQL ID", "SQL Id")),
    Column("plan_hash", "count", "hash value of the plan", ("Plan Hash", "Planhash", "PlanHash")),
    Column("full_plan_hash", "count", "hash value of the plan without adaptive steps (19c)", ("FullPlanhash",)),
    Column(
        "executions",
        "count",
        "executions that were sampled, of the statement",
        ("Executions", "Sampled # of Executions"),
    ),
    _ACTIVITY,
)
_SQL_TEXT: Final = Column("sql_text", "text", "statement as printed", ("SQL Text",))
_IDENTITY: Final = (
    Column("sid", "count", "session"),
    Column("serial", "count", "serial number of the session"),
    Column("instance_number", "count", "instance of the session; null where it is not printed"),
)
_SAMPLED: Final = (
    Column("samples", "count", "samples of the session in the event"),
    Column("samples_of", "count", "samples of the whole period"),
    Column("samples_pct", "pct", "the first as a share of the second"),
)
_SID: Final = r"^(?P<sid>{INTEGER}),\s*(?P<serial>{INTEGER})(?:\s*\(\s*(?P<instance_number>{INTEGER})\s*\))?$"
_SHARE: Final = r"^(?P<samples>{COUNT})/(?P<samples_of>{COUNT})\s*\[\s*(?P<samples_pct>{FIGURE}%)\]$"
_SIZE_HEADS: Final = ("SGA Size", "Buffer Cache", "Shared Pool", "ASH Buffer Size", "In-memory Area Size")
_SIZES: Final = ("sga", "buffer_cache", "shared_pool", "ash_buffer", "in_memory")


def _session(name: str, meaning: str, title: str, head: str) -> Table:
    return Table(
        name,
        meaning,
        (title,),
        (
            Column("session", "text", "session as printed: id, serial number, instance", (head,)),
            *_IDENTITY,
            _ACTIVITY,
            _EVENT,
            _EVENT_PCT,
            _USER,
            _PROGRAM,
            Column("samples_printed", "text", "samples as printed", ("# Samples Active",)),
            *_SAMPLED,
            Column("transactions", "count", "transactions", ("XIDs",)),
            _PDB,
        ),
        needs=("session", "event"),
        filled=("session", "activity_pct", "user", "program", "pdb"),
        splits={"session": _SID, "samples_printed": _SHARE},
    )


ASH: Final = (
    Table(
        "ash_activity",
        "Active session history: the most frequent events of each slot of time.",
        (r"^Activity Over Time",),
        (
            Column("slot", "text", "start and length of the slot as printed", ("Slot Time (Duration)",)),
            Column("slot_start", "text", "start of the slot, a time of the day"),
            Column("slot_begin", "time", "start of the slot with its date, by the period of the report"),
            Column("slot_s", "s", "length of the slot"),
            Column("slot_samples", "count", "samples of the whole slot", ("Slot Count",)),
            _EVENT,
            Column("samples", "count", "samples of the slot in the event", ("Event Count",)),
            _EVENT_PCT,
        ),
        needs=("slot", "event"),
        filled=("slot", "slot_samples"),
        splits={
            "slot": (
                r"^(?P<slot_start>{CLOCK})\s*\("
                r"(?:(?P<slot_s_minutes>{FIGURE})\s*{MINUTES}|(?P<slot_s>{FIGURE})\s*{SECONDS})\)$"
            ),
        },
    ),
    Table(
        "ash_sql_events",
        "Active session history: the statements that were sampled most, by event.",
        (r"^Top SQL with Top Events", r"^Top SQL by Top Events"),
        (*_STATEMENT, _EVENT, _EVENT_PCT, _ROW_SOURCE, _ROW_SOURCE_PCT, _SQL_TEXT, _PDB),
        needs=("sql_id", "event"),
        filled=("sql_id", "plan_hash", "full_plan_hash", "pdb", "sql_text", "executions", "activity_pct"),
    ),
    Table(
        "ash_sql_row_sources",
        "Active session history: the statements that were sampled most, by step of their plan.",
        (r"^Top SQL with Top Row Sources", r"^Top SQL by Top Row Sources"),
        (*_STATEMENT, _ROW_SOURCE, _ROW_SOURCE_PCT, _EVENT, _EVENT_PCT, _SQL_TEXT, _PDB),
        needs=("sql_id", "row_source"),
        filled=("sql_id", "plan_hash", "full_plan_hash", "pdb", "sql_text", "executions", "activity_pct"),
    ),
    _session(
        "ash_sessions",
        "Active session history: the sessions that were sampled most, by event.",
        r"^Top Sessions$",
        "Sid, Serial#",
    ),
    _session(
        "ash_blocking_sessions",
        "Active session history: the sessions that others waited for most, by event.",
        r"^Top Blocking Sessions",
        "Blocking Sid (Inst)",
    ),
    Table(
        "ash_event_parameters",
        "Active session history: the values of the parameters of the most frequent events.",
        (r"^Top Event P1/P2/P3 Values",),
        (
            _EVENT,
            Column("event_pct", "pct", "share of all samples of the event", ("% Event",)),
            Column(
                "values",
                "text",
                "values of the parameters as printed",
                ("P1, P2, P3 Values", "P1 Value, P2 Value, P3 Value"),
            ),
            *(Column(f"p{number}", "text", f"value of parameter {number}") for number in (1, 2, 3)),
            Column("activity_pct", "pct", "share of all samples with these values", ("% Activity",)),
            *(
                Column(f"p{number}_name", "text", f"name of parameter {number}", (f"Parameter {number}",))
                for number in (1, 2, 3)
            ),
        ),
        needs=("event", "values"),
        filled=("event", "p1_name", "p2_name", "p3_name", "event_pct"),
        splits={"values": r'^"(?P<p1>[^"]*)",\s*"(?P<p2>[^"]*)",\s*"(?P<p3>[^"]*)"$'},
    ),
    Table(
        "ash_objects",
        "Active session history: the objects that were waited for most, by event.",
        (r"^Top DB Objects",),
        (
            Column("object_id", "count", "object", ("Object ID",)),
            _ACTIVITY,
            _EVENT,
            _EVENT_PCT,
            Column("object", "text", "owner, name and type", ("Object Name (Type)",)),
            _TABLESPACE,
            _PDB,
        ),
        needs=("object_id", "event"),
        filled=("object_id", "object", "tablespace", "pdb", "activity_pct"),
    ),
    Table(
        "ash_files",
        "Active session history: the files that were waited for most, by event.",
        (r"^Top DB Files",),
        (
            Column("file_id", "count", "file", ("File ID",)),
            _ACTIVITY,
            _EVENT,
            _EVENT_PCT,
            Column("file", "text", "file", ("File Name",)),
            _TABLESPACE,
            _PDB,
        ),
        needs=("file_id", "event"),
        filled=("file_id", "file", "tablespace", "pdb", "activity_pct"),
    ),
    Table(
        "ash_services",
        "Active session history: services and modules by action.",
        (r"^Top Service/Module",),
        (
            Column("service", "text", "service", ("Service",)),
            Column("module", "text", "module", ("Module",)),
            _ACTIVITY,
            Column("action", "text", "action", ("Action",)),
            Column("action_pct", "pct", "share of all samples that were in the action", ("% Action",)),
            _PDB,
        ),
        needs=("service", "module", "action"),
        filled=("service", "module", "pdb", "activity_pct"),
    ),
    Table(
        "ash_containers",
        "Active session history: pluggable databases.",
        (r"^Top Containers",),
        (
            Column("pdb", "text", "pluggable database", ("Container Name",)),
            Column("samples", "count", "samples", ("Count",)),
            _ACTIVITY,
            _SESSIONS,
        ),
        needs=("pdb", "activity_pct"),
    ),
    Table(
        "ash_clients",
        "Active session history: clients.",
        (r"^Top Client IDs",),
        (
            Column("client", "text", "identifier of the client", ("Client ID",)),
            _ACTIVITY,
            _SESSIONS,
            _USER,
            _PROGRAM,
            Column("service", "text", "service", ("Service",)),
        ),
        needs=("client", "activity_pct"),
    ),
    Table(
        "ash_commands",
        "Active session history: kinds of SQL command.",
        (r"^Top SQL Command Types",),
        (
            Column("command", "text", "kind of command", ("SQL Command Type",)),
            Column("statements", "count", "distinct statements", ("Distinct SQLIDs",)),
            _ACTIVITY,
            _SESSIONS,
        ),
        needs=("command", "activity_pct"),
    ),
    Table(
        "ash_phases",
        "Active session history: phases of execution.",
        (r"^Top Phases of Execution",),
        (Column("phase", "text", "phase", ("Phase of Execution",)), _ACTIVITY, _SESSIONS),
        needs=("phase", "activity_pct"),
    ),
    Table(
        "ash_calls",
        "Active session history: kinds of call.",
        (r"^Top Call Types",),
        (
            Column("call", "text", "kind of call", ("Call Type",)),
            Column("calls", "count", "samples in such a call", ("Count",)),
            _ACTIVITY,
            _SESSIONS,
        ),
        needs=("call", "activity_pct"),
    ),
    Table(
        "ash_plsql",
        "Active session history: PL/SQL by the subprogram that was called first, and the one at work.",
        (r"^Top PL/SQL Procedures",),
        (
            Column("entry", "text", "called first", ("PL/SQL Entry Subprogram", "PLSQL Entry Subprogram")),
            _ACTIVITY,
            Column("current", "text", "at work", ("PL/SQL Current Subprogram", "PLSQL Current Subprogram")),
            Column("current_pct", "pct", "share of all samples that were in it", ("% Current",)),
            _PDB,
        ),
        needs=("entry", "current"),
        filled=("entry", "pdb", "activity_pct"),
    ),
    Table(
        "ash_memory",
        "What an ASH report says of the instance: processors and memory.",
        (r"^$", r"^ASH Report For"),
        (
            Column("cpus", "count", "processors", ("CPUs",)),
            *(
                column
                for name, head in zip(_SIZES, _SIZE_HEADS, strict=True)
                for column in (
                    Column(f"{name}_printed", "text", "size and share as printed", (head,)),
                    Column(f"{name}_bytes", "bytes", "size"),
                    Column(f"{name}_pct", "pct", "share of the SGA"),
                )
            ),
        ),
        needs=("cpus", "sga_printed"),
        splits={
            f"{name}_printed": (
                rf"^(?P<{name}_bytes>{{FIGURE}}{{SIZE_UNIT}}?)(?:\s*\(\s*(?P<{name}_pct>{{FIGURE}}%)\s*\))?$"
            )
            for name in _SIZES
        },
    ),
)
