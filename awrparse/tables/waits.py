"""Canonical tables of waits and time: events, wait classes, histograms, time model, services."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Pivot, Table
from awrparse.tables.rac import INSTANCE

_EVENT = Column("event", "event", "wait event, in full", ("Event", "Wait Event"))
_CLASS = Column("wait_class", "wait_class", "wait class, in full", ("Wait Class", "Event Class"))
_WAITS = Column("waits", "count", "number of waits", ("Waits", "Event Waits", "Total Waits"))
_TIMEOUTS = Column(
    "timeout_pct", "pct", "share of waits that timed out", ("%Time -outs", "%Tim out", "Event %Timeouts", "%Timeouts")
)
_TIMED_OUT = Column("timeouts", "count", "waits that timed out (Statspack of 9i)", ("Timeouts",))
_TIME = Column(
    "total_wait_s",
    "s",
    "time waited",
    (
        "Total Wait Time (sec)",
        "Total Wait Time (s)",
        "Time(s)",
        "Time (s)",
        "Time (sec)",
        "Tota Time",
        "Wait Time Total(s)",
    ),
)
_AVERAGE = Column(
    "avg_wait_ms",
    "ms",
    "average wait",
    (
        "Wait Avg(ms)",
        "Avg wait (ms)",
        "Avg Wait (ms)",
        "Avg Wait",
        "Avg Wait Time",
        "wait (ms)",
        "Wait Time Avg Wait",
        "Wait Time Avg(ms)",
    ),
)
_PCT = Column(
    "db_time_pct",
    "pct",
    "share of DB time",
    (
        "% DB time",
        "%DB time",
        "Wait Time %DB time",
        "Percent Total DB Time",
    ),
)
_CALL_PCT = Column(
    "call_time_pct",
    "pct",
    "share of total call time, CPU and waits together (10.2, Statspack; 9i: of the elapsed time of all calls)",
    ("Call Time", "%Total Call Time", "% Total Call Time", "% Total Ela Time"),
)
_SESSIONS = Column("avg_active_sessions", "number", "average active sessions", ("Avg Active Sessions",))
_PER_TXN = Column("waits_per_txn", "number", "waits per transaction", ("Waits /txn",))

#: How reports of all instances head the wait classes, and what they are.
_CLASS_HEADS: Final = {
    "User I/O": "User I/O",
    "Sys I/O": "System I/O",
    "Other": "Other",
    "Applic": "Application",
    "Commit": "Commit",
    "Network": "Network",
    "Concurcy": "Concurrency",
    "Config": "Configuration",
    "Cluster": "Cluster",
    "Admin": "Administrative",
    "Scheduler": "Scheduler",
    "DB CPU": "DB CPU",
}
#: Statistic of V$SYS_TIME_MODEL, and how reports of all instances head its time and its share of DB time.
_MODEL_HEADS: Final = (
    ("DB time", "DB time (s)", "% Total DB time"),
    ("DB CPU", "DB CPU (s)", "% DB time DB CPU"),
    ("sql execute elapsed time", "SQL Exec Ela (s)", "% DB time SQL Exec Ela"),
    ("parse time elapsed", "Parse Ela (s)", "% DB time Parse Ela"),
    ("hard parse elapsed time", "Hard Parse Ela (s)", "% DB time Hard Parse"),
    ("PL/SQL execution elapsed time", "PL/SQL Ela (s)", "% DB time PL/SQL Ela"),
    ("Java execution elapsed time", "Java Ela (s)", "% DB time Java Ela"),
    ("background elapsed time", "bg time (s)", "% Total bg time"),
    ("background cpu time", "bg CPU (s)", "% bg time bg CPU"),
)


def _share_of_model(head: str) -> str:
    """The column of a share among the time model of all instances, by its heading."""
    if head.startswith("% Total"):
        return "all_instances_pct"
    return "background_time_pct" if "bg" in head else "db_time_pct"


WAITS: Final = (
    Table(
        "top_events",
        "The events, and CPU, that took most of the time.",
        (r"^Top \d+ (?:Timed|Foreground) .*Events", r"^Top \d+ Timed Events", r"^Top Timed Events"),
        (_EVENT, _WAITS, _TIME, _AVERAGE, _PCT, _CLASS, INSTANCE, _CALL_PCT),
        needs=("event",),
        layouts={
            6: ("event", "waits", "total_wait_s", "avg_wait_ms", "db_time_pct", "wait_class"),
            5: ("event", "waits", "total_wait_s", "avg_wait_ms", "call_time_pct"),
        },
        moved={r"^Top \d+ Timed Events": {"db_time_pct": "call_time_pct"}},
    ),
    Table(
        "wait_classes",
        "Waits by class, foreground and background together.",
        (r"^Wait Classes by Total Wait Time", r"^Wait Class$"),
        (_CLASS, _WAITS, _TIME, _AVERAGE, _PCT, _SESSIONS, _TIMEOUTS, _PER_TXN),
        needs=("wait_class",),
        layouts={6: ("wait_class", "waits", "total_wait_s", "avg_wait_ms", "db_time_pct", "avg_active_sessions")},
    ),
    Table(
        "foreground_wait_classes",
        "Waits of foreground sessions by class.",
        (r"^Foreground Wait Class(?:$|es)",),
        (_CLASS, _WAITS, _TIMEOUTS, _TIME, _AVERAGE, _PCT, INSTANCE),
        needs=("wait_class",),
        layouts={6: ("wait_class", "waits", "timeout_pct", "total_wait_s", "avg_wait_ms", "db_time_pct")},
        pivots=(
            Pivot(
                r"^Foreground Wait Classes$",
                "wait_class",
                {f"{head} (s)": (name, "total_wait_s") for head, name in _CLASS_HEADS.items()},
            ),
            Pivot(
                r"^Foreground Wait Classes - % of DB time",
                "wait_class",
                {f"% DB time {head}": (name, "db_time_pct") for head, name in _CLASS_HEADS.items()},
            ),
            Pivot(
                r"^Foreground Wait Classes - % of Total DB time",
                "wait_class",
                {head: (name, "db_time_pct") for head, name in _CLASS_HEADS.items()},
                fixed={"instance": "*"},
            ),
        ),
    ),
    Table(
        "wait_events",
        "Wait events of foreground and background together (10g and Statspack); idle events come last.",
        (r"^Wait Events(?: \(fg and bg\))?$",),
        (
            _EVENT,
            _WAITS,
            _TIMEOUTS,
            _TIMED_OUT,
            _TIME,
            _AVERAGE,
            _PER_TXN,
            _CALL_PCT,
        ),
        needs=("event", "waits"),
    ),
    Table(
        "foreground_events",
        "Wait events of foreground sessions; idle events come last, without a share.",
        (r"^Foreground Wait Events",),
        (_EVENT, _WAITS, _TIMEOUTS, _TIME, _AVERAGE, _PER_TXN, _PCT, _CALL_PCT),
        needs=("event",),
        layouts={
            7: ("event", "waits", "timeout_pct", "total_wait_s", "avg_wait_ms", "waits_per_txn", "db_time_pct"),
        },
    ),
    Table(
        "background_events",
        "Wait events of background processes; idle events come last, without a share.",
        (r"^Background Wait Events",),
        (
            _EVENT,
            _WAITS,
            _TIMEOUTS,
            _TIMED_OUT,
            _TIME,
            _AVERAGE,
            _PER_TXN,
            Column(
                "background_time_pct",
                "pct",
                "share of background time",
                ("% bg time", "Wait Time %bg time"),
            ),
            _CALL_PCT,
        ),
        needs=("event",),
        layouts={
            7: ("event", "waits", "timeout_pct", "total_wait_s", "avg_wait_ms", "waits_per_txn", "background_time_pct"),
        },
    ),
    Table(
        "event_histogram",
        "Waits of each event by how long they took; a blank range is truly empty and left out.",
        (r"^Wait Event Histogram",),
        (
            _EVENT,
            Column(
                "waits",
                "count",
                "number of waits that the section counts; in the detail sections those within its range",
                ("Total Waits", "Waits"),
            ),
            Column("section", "text", "the range of the section it is printed in; null in the first"),
            Column("range", "text", "the range, such as `<1ms`, with the unit that text reports cut"),
            Column("from_us", "us", "lower end of the range"),
            Column("to_us", "us", "upper end of the range; null without end"),
            Column("waits_pct", "pct", "share of the event's waits", ("% of Waits",)),
        ),
        shape="histogram",
        needs=("event",),
    ),
    Table(
        "time_model",
        "Where DB time and background time went.",
        (r"^Time Model(?:$| Statistics| System Stats| - %)", r"^Foreground Wait Classes(?:$| - % of DB time)"),
        (
            Column("statistic", "statistic", "statistic as in V$SYS_TIME_MODEL", ("Statistic Name", "Statistic")),
            Column("time_s", "s", "time", ("Time (s)",)),
            Column("db_time_pct", "pct", "share of DB time", ("% of DB Time", "% DB time")),
            Column("cpu_time_pct", "pct", "share of total CPU time (12.1 and later)", ("% of Total CPU Time",)),
            INSTANCE,
            Column("background_time_pct", "pct", "share of background time (reports of all instances)", ("% bg time",)),
            Column(
                "all_instances_pct",
                "pct",
                "share of all instances' time (reports of all instances)",
                ("% Total",),
            ),
        ),
        needs=("statistic", "time_s"),
        pivots=(
            Pivot(r"^Time Model$", "statistic", {head: (name, "time_s") for name, head, _ in _MODEL_HEADS}),
            Pivot(
                r"^Time Model - % of DB time",
                "statistic",
                {head: (name, _share_of_model(head)) for name, _, head in _MODEL_HEADS},
            ),
            Pivot(
                r"^Foreground Wait Classes$",
                "statistic",
                {"DB CPU (s)": ("DB CPU", "time_s"), "DB time": ("DB time", "time_s")},
            ),
            Pivot(
                r"^Foreground Wait Classes - % of DB time",
                "statistic",
                {"% DB time DB CPU": ("DB CPU", "db_time_pct"), "% Total DB time": ("DB time", "all_instances_pct")},
            ),
        ),
    ),
    Table(
        "services",
        "Time and reads by service.",
        (r"^Service Statistics$",),
        (
            Column("service", "text", "service", ("Service Name",)),
            Column("db_time_s", "s", "DB time", ("DB Time (s)",)),
            Column("db_cpu_s", "s", "DB CPU", ("DB CPU (s)",)),
            Column("physical_reads_thousands", "number", "blocks read, in thousands", ("Physical Reads (K)",)),
            Column("logical_reads_thousands", "number", "blocks got, in thousands", ("Logical Reads (K)",)),
            Column("pdb", "text", "pluggable database", ("PDB Name",)),
            Column("physical_reads", "count", "blocks read (10.2)", ("Physical Reads",)),
            Column("logical_reads", "count", "blocks got (10.2)", ("Logical Reads",)),
        ),
        needs=("service", "db_time_s"),
    ),
    Table(
        "service_wait_classes",
        "Waits of four classes by service.",
        (r"^Service Wait Class Stats",),
        (
            Column("service", "text", "service", ("Service Name",)),
            Column("user_io_waits", "count", "waits of class User I/O", ("User I/O Total Wts",)),
            Column("user_io_wait_s", "s", "time waited, User I/O", ("User I/O Wt Time",)),
            Column("concurrency_waits", "count", "waits of class Concurrency", ("Concurcy Total Wts",)),
            Column("concurrency_wait_s", "s", "time waited, Concurrency", ("Concurcy Wt Time",)),
            Column("administrative_waits", "count", "waits of class Administrative", ("Admin Total Wts",)),
            Column("administrative_wait_s", "s", "time waited, Administrative", ("Admin Wt Time",)),
            Column("network_waits", "count", "waits of class Network", ("Network Total Wts",)),
            Column("network_wait_s", "s", "time waited, Network", ("Network Wt Time",)),
            Column("pdb", "text", "pluggable database", ("PDB Name",)),
        ),
        needs=("service",),
    ),
    Table(
        "ash_top_events",
        "Active session history: the events that sessions were sampled in.",
        (r"^Top (?P<which>User |Background |)Events$",),
        (
            Column("scope", "text", "`user`, `background`, or `all`"),
            Column("event", "event", "wait event or CPU", ("Event",)),
            Column("wait_class", "wait_class", "wait class", ("Event Class",)),
            Column("session_type", "text", "FOREGROUND or BACKGROUND", ("Session Type",)),
            Column("activity_pct", "pct", "share of the samples", ("% Event", "% Activity")),
            _SESSIONS,
        ),
        needs=("event", "activity_pct"),
        group={"scope": {"user": "user", "background": "background", "": "all"}},
    ),
    Table(
        "addm_findings",
        "What ADDM found, by average active sessions.",
        (r"^Top ADDM Findings",),
        (
            Column("finding", "text", "finding, in the language of the report", ("Finding Name",)),
            Column(
                "avg_active_sessions",
                "number",
                "average active sessions of the task",
                ("Avg active sessions of the task", "Avg act"),
            ),
            Column(
                "finding_pct",
                "pct",
                "share of active sessions that the finding is about",
                ("Percent active sessions of finding", "Percen"),
            ),
            Column("task", "text", "ADDM task", ("Task Name",)),
            Column("begin_time", "time", "start of the task's period", ("Begin Snap Time",)),
            Column("end_time", "time", "end of the task's period", ("End Snap Time",)),
        ),
        needs=("finding",),
    ),
    Table(
        "addm_report_findings",
        "The findings of ADDM reports, as the summary in each of them lists them, before 11.1 its text.",
        (r"^ADDM Summary of Findings",),
        (
            Column("task", "text", "ADDM task", ("Task Name",)),
            Column("finding_number", "count", "number of the finding in the report", ("Finding Number",)),
            Column("finding", "text", "finding, in the language of the report", ("Description",)),
            Column("impact_sessions", "number", "active sessions that the finding is about", ("Active Sessions",)),
            Column("impact_pct", "pct", "share of the activity that the finding is about", ("Percent of Activity",)),
            Column("recommendations", "count", "recommendations for the finding", ("Recommendations",)),
        ),
        needs=("finding", "impact_pct"),
    ),
)
