"""Replication by GoldenGate: its memory, and what the apply processes read, coordinate and apply."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

_REPLICAT: Final = (
    Column("replicat", "text", "Replicat process", ("Replicat Name",)),
    Column("apply_name", "text", "apply process", ("Apply Name",)),
)

REPLICATION: Final = (
    Table(
        "replication_memory",
        "Memory of the SGA that capture and apply processes use.",
        (r"^Replication SGA Usage",),
        (
            Column("component", "text", "capture or apply", ("Component",)),
            Column("module", "text", "module of its session", ("Session Module",)),
            Column("name", "text", "name of the process", ("Object Name",)),
            *(
                column
                for what, meaning in (("used", "used"), ("allocated", "allocated"))
                for column in (
                    Column(
                        f"{what}_begin_mb",
                        "number",
                        f"megabytes {meaning} at the begin",
                        (f"SGA {what.title()} Begin Snap",),
                    ),
                    Column(
                        f"{what}_end_mb", "number", f"megabytes {meaning} at the end", (f"SGA {what.title()} End Snap",)
                    ),
                    Column(f"{what}_change_pct", "pct", "difference in per cent", (f"SGA {what.title()} %Diff",)),
                )
            ),
            Column("utilization_pct", "pct", "share of the allocated memory that is used", ("% SGA Util",)),
        ),
        needs=("component", "used_begin_mb"),
    ),
    Table(
        "goldengate_apply_reader",
        "Logical change records that apply readers took out of the queue.",
        (r"^GoldenGate Apply Reader$",),
        (
            *_REPLICAT,
            Column("dequeued", "count", "logical change records dequeued", ("Reader LCRs Deq",)),
            Column("lag_s", "s", "lag of the reader", ("Reader Lag(s)",)),
        ),
        needs=("apply_name", "dequeued"),
    ),
    Table(
        "goldengate_apply_coordinator",
        "Transactions that apply coordinators received and applied.",
        (r"^GoldenGate Apply Coordinator$",),
        (
            *_REPLICAT,
            Column("received", "count", "transactions received", ("Txns Received",)),
            Column("applied", "count", "transactions applied", ("Txns Applied",)),
            Column("rolled_back", "count", "transactions rolled back", ("Txns Rolled Back",)),
            Column("wait_dependencies_pct", "pct", "share that waited for others", ("Wait Deps%",)),
            Column("wait_commit_pct", "pct", "share that waited for a commit", ("Wait Commit%",)),
            Column("unassigned", "count", "complete transactions not assigned yet", ("Unassigned Complete Txns",)),
            Column("errors", "count", "errors", ("Total Errors",)),
        ),
        needs=("apply_name", "received"),
    ),
    Table(
        "goldengate_apply_server",
        "Logical change records that apply servers applied.",
        (r"^GoldenGate Apply Server$",),
        (
            *_REPLICAT,
            Column("applied", "count", "logical change records applied", ("Server LCRs Applied",)),
            Column("dequeue_s", "s", "time to dequeue", ("Server Dequeue Time(s)",)),
            Column("apply_s", "s", "time to apply", ("Server Apply Time(s)",)),
            Column("retried_records", "count", "logical change records retried", ("Total LCRs Retried",)),
            Column("retried_transactions", "count", "transactions retried", ("Total Txns Retried",)),
        ),
        needs=("apply_name", "applied"),
    ),
    Table(
        "goldengate_apply_coordinator_rates",
        "Transactions of apply coordinators per second.",
        (r"^GoldenGate Apply Coordinator Rate$",),
        (
            *_REPLICAT,
            Column("received_per_s", "number", "transactions received per second", ("Txns Received/sec",)),
            Column("applied_per_s", "number", "transactions applied per second", ("Txns Applied/sec",)),
            Column("rolled_back_per_s", "number", "transactions rolled back per second", ("Txns Rolled Back/sec",)),
            Column("unassigned_per_s", "number", "complete transactions per second", ("Unassigned Complete Txn/sec",)),
            Column("errors_per_s", "number", "errors per second", ("Total Errors/sec",)),
        ),
        needs=("apply_name", "received_per_s"),
    ),
    Table(
        "goldengate_apply_rates",
        "Logical change records of apply readers and servers per second, and the time of one.",
        (r"^GoldenGate Apply Reader and Server Rate$",),
        (
            *_REPLICAT,
            Column("read_per_s", "number", "logical change records read per second", ("Reader LCRs/sec",)),
            Column(
                "applied_per_s", "number", "logical change records applied per second", ("Server LCRs Applied/sec",)
            ),
            Column("avg_dequeue_cs", "number", "average time to dequeue one", ("Server Dequeue Time/msg",)),
            Column("avg_apply_cs", "number", "average time to apply one", ("Server Apply Time/msg",)),
            Column("retried_records_per_s", "number", "records retried per second", ("Total LCRs Retried/sec",)),
            Column(
                "retried_transactions_per_s", "number", "transactions retried per second", ("Total Txn Retried/sec",)
            ),
        ),
        needs=("apply_name", "read_per_s"),
    ),
)
