"""Foreign rows: names that belong to another table; the title or the page between the two is probably missing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from awrparse.integrity.registry import check
from awrparse.matching import tables_of
from awrparse.records import Problem
from awrparse.tables import TABLES
from awrparse.text.layout import is_number
from logframe.oracle import known_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.integrity.registry import Report

#: Kinds whose names are listed; those of functions, pools and the like are too short to tell tables apart.
_KINDS: Final = ("event", "statistic", "latch")
#: Labels of the tables at the head of a report.
_LABELS: Final = {
    "load_profile": (
        *("DB Time(s)", "DB CPU(s)", "Background CPU(s)", "Redo size (bytes)", "Logical read (blocks)"),
        *("Block changes", "Physical read (blocks)", "Physical write (blocks)", "Read IO requests"),
        *("Write IO requests", "Read IO (MB)", "Write IO (MB)", "IM scan rows", "Session Logical Read IM"),
        *("Global Cache blocks received", "Global Cache blocks served", "User calls", "Parses (SQL)"),
        *("Hard parses (SQL)", "SQL Work Area (MB)", "Logons", "User logons", "Executes (SQL)", "Rollbacks"),
        *("Transactions", "Sorts"),
    ),
    "load_ratios": ("% Blocks changed per Read", "Recursive Call %", "Rollback per transaction %", "Rows per Sort"),
    "instance_efficiency": (
        *("Buffer Nowait %", "Redo NoWait %", "Buffer Hit %", "In-memory Sort %", "Library Hit %", "Soft Parse %"),
        *("Execute to Parse %", "Latch Hit %", "Parse CPU to Parse Elapsd %", "% Non-Parse CPU"),
        *("Optimal W/A Exec %", "Flash Cache Hit %"),
    ),
    "io_profile": (
        *("Total Requests", "Database Requests", "Optimized Requests", "Redo Requests", "Total (MB)"),
        *("Database (MB)", "Optimized Total (MB)", "Redo (MB)", "Database (blocks)", "Via Buffer Cache (blocks)"),
        "Direct (blocks)",
    ),
    "memory": ("Host Mem (MB)", "SGA use (MB)", "PGA use (MB)", "% Host Mem used for SGA+PGA"),
    "cache_sizes": (
        *("Buffer Cache", "Std Block Size", "Shared Pool Size", "Log Buffer", "In-Memory Area", "Memory Target"),
        *("SGA Target", "Large Pool", "Java Pool", "Streams Pool", "PGA Target"),
    ),
    "shared_pool": ("Memory Usage %", "% SQL with executions>1", "% Memory for SQL w/exec>1"),
    "snapshots": ("Begin Snap", "End Snap"),
    "instance_cpu": (
        *("% of total CPU for Instance", "% of busy CPU for Instance", "%DB time waiting for CPU - Resource Mgr"),
        *("Host: Total time (s)", "Host: Busy CPU time (s)", "% of time Host is Busy", "Instance: Total CPU time (s)"),
        *("% of Busy CPU used for Instance", "Instance: Total Database time (s)"),
    ),
}
#: Idle events of background processes only.
_BACKGROUND: Final = frozenset(
    {
        *("pmon timer", "smon timer", "lreg timer", "dispatcher timer", "ASM background timer", "DIAG idle wait"),
        *("Space Manager: slave idle wait", "class slave wait", "LGWR worker group idle", "heartbeat redo informer"),
        *("Streams AQ: qmn coordinator idle wait", "Streams AQ: qmn slave idle wait", "AQPC idle"),
        *("VKTM Logical Idle Wait",),
    }
)
#: What is listed among the events, and is not one.
_CPU: Final = frozenset({"DB CPU", "CPU time", "background cpu time"})
_OTHER_TABLE: Final = "lines between this row and those of the table may be missing"


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(known_names(kind))


@cache
def _labels() -> frozenset[str]:
    return frozenset(label for labels in _LABELS.values() for label in labels)


@check("rows belong to another table: the title between the two is missing", "rows", cost_ms=2)
def other_names(report: Report) -> Iterator[Problem]:
    """Name and reason of each row that has the name of a row of another table."""
    yield from _without_table(report)
    for table in report.tables:
        if table in _LABELS:
            yield from _other_labels(report, table)
        for column in TABLES[table].columns:
            if column.kind in _KINDS:
                yield from _of_other_kinds(report, table, column.name, column.kind)
    if "foreground_events" in report:
        for name in report["foreground_events"]["event"]:
            if name in _BACKGROUND:
                yield Problem(
                    None, "foreign", name, f"foreground_events: only background processes wait for this; {_OTHER_TABLE}"
                )


def _other_labels(report: Report, table: str) -> Iterator[Problem]:
    """Rows of a table of labels that no report has in this table."""
    if TABLES[table].shape != "labels":
        return
    frame = report[table]
    own = frozenset(_LABELS[table])
    for label in frame[frame.columns[0]].drop_nulls():
        if label in own:
            continue
        is_known = label in _labels() or any(label in _names(kind) for kind in _KINDS)
        what = "one of another table" if is_known else "not known"
        yield Problem(None, "foreign", label, f"{table}: the label is {what}; {_OTHER_TABLE}")


def _without_table(report: Report) -> Iterator[Problem]:
    """Labels of a known table in a table that is not one: its title was cut off."""
    document = report.document
    renamed = TABLES["load_profile"].renamed
    for printed in document.tables:
        matched = tables_of(printed)
        if any(table.shape == "labels" for table in matched):
            continue
        is_of_labels = document.form == "text" and not printed.rows.extents
        for row in printed.rows.cells:
            if not (is_of_labels or row[0].endswith(":")) or not any(map(is_number, row[1:])):
                continue
            label = " ".join(row[0].removesuffix(":").split())
            label = renamed.get(label, label)
            owners = [name for name, labels in _LABELS.items() if label in labels]
            if owners and not any(table.name in owners for table in matched):
                yield Problem(
                    None,
                    "foreign",
                    label,
                    f"{owners[0]}: the label stands without its table; its figures are in raw_tables only",
                )


def _of_other_kinds(report: Report, table: str, column: str, kind: str) -> Iterator[Problem]:
    """Names that are not part of their kind: known as another, or in capitals as steps of plans are."""
    for name in dict.fromkeys(report[table][column].to_list()):
        if name is None or name in _names(kind) or name in _CPU:
            continue
        others = [other for other in _KINDS if other != kind and name in _names(other)]
        is_step = kind == "event" and name.isupper() and " " in name
        if others or is_step or name in _labels():
            what = others[0] if others else "step of a plan" if is_step else "label"
            yield Problem(None, "foreign", name, f"{table}.{column}: the name is that of a {what}; {_OTHER_TABLE}")
