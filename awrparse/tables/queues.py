"""Queues: Advanced Queuing and Streams."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

_QUEUE: Final = Column("queue", "text", "queue, with its number where it is printed", ("Queue Name", "Queue", "Name"))
_SUBSCRIBER: Final = Column("subscriber", "text", "subscriber and its queue", ("Subscriber/Queue", "Name"))
_BUFFERED: Final = (
    *(
        column
        for name, meaning, heads in (
            ("enqueued", "messages put into the queue", ("Enq Msgs", ("Enq Msgs/sec", "Enq Msg/s"))),
            ("dequeued", "messages taken out of the queue", ("Deq Msgs", ("Deq Msgs/sec", "Deq Msg/s"))),
            ("spilled", "messages moved from memory to disk", ("Spill Msgs", ("Spill Msgs/sec", "Spill Msg/s"))),
        )
        for column in (
            Column(name, "count", meaning, (heads[0],)),
            Column(f"{name}_per_s", "number", f"{meaning}, per second", heads[1]),
        )
    ),
    Column("spilled_pct", "pct", "share of the messages that were moved to disk", ("%Spill Msgs",)),
)

QUEUES: Final = (
    Table(
        "queue_processes",
        "Processes of Advanced Queuing and Streams.",
        (r"^(?:Streams|Advanced Queue) CPU/IO Usage",),
        (
            Column("session_type", "text", "what the sessions do", ("Session Type",)),
            Column(
                "first_logon",
                "text",
                "when the first of them logged on, as printed: 11.2 prints no year",
                ("First Logon",),
            ),
            Column("cpu_s", "s", "CPU time", ("CPU time(s)",)),
            Column("io_wait_s", "s", "time waited for user I/O", ("User IO Wait time(s)",)),
            Column("system_io_wait_s", "s", "time waited for system I/O", ("SYS IO Wait time(s)",)),
        ),
        needs=("session_type", "cpu_s"),
    ),
    Table(
        "persistent_queues",
        "Messages of persistent queues, and the time that they took.",
        (r"^Persistent Queues$",),
        (
            _QUEUE,
            Column("enqueued", "count", "messages put into the queue", ("Enq Msgs",)),
            Column("dequeued", "count", "messages taken out of the queue", ("Deq Msgs",)),
            Column("expired_pct", "pct", "share of the messages that expired", ("%Exp Msgs",)),
            Column("delayed_pct", "pct", "share of the messages that were delayed", ("%Delay Msgs",)),
            Column("enqueue_s", "s", "time to put them into the queue", ("Enq Time(s)",)),
            Column("dequeue_s", "s", "time to take them out", ("Deq Time(s)",)),
            Column("transformation_pct", "pct", "share of the time for transformations", ("%Transf Time",)),
            Column("evaluation_pct", "pct", "share of the time for the evaluation of rules", ("%Eval Time",)),
        ),
        needs=("queue", "enqueued"),
    ),
    Table(
        "persistent_queue_rates",
        "Messages of persistent queues per second, and the time of one.",
        (r"^Persistent Queues Rate",),
        (
            _QUEUE,
            Column("enqueued_per_s", "number", "messages put into the queue per second", ("Enqueue Msgs/sec",)),
            Column("dequeued_per_s", "number", "messages taken out per second", ("Dequeue Msgs/sec",)),
            Column("avg_enqueue_s", "s", "average time to put one into the queue", ("Avg Enqueue sec / msg",)),
            Column("avg_dequeue_s", "s", "average time to take one out", ("Avg Dequeue sec / msg",)),
        ),
        needs=("queue", "enqueued_per_s"),
    ),
    Table(
        "persistent_queue_subscribers",
        "Messages of persistent queues by subscriber.",
        (r"^Persistent Queue Subscribers",),
        (
            _SUBSCRIBER,
            *(
                column
                for name, head in (("enqueued", "Enqueue"), ("dequeued", "Dequeue"), ("expired", "Expire"))
                for column in (
                    Column(name, "count", f"messages {name}", (f"{head} Msgs",)),
                    Column(f"{name}_per_s", "number", f"messages {name} per second", (f"{head} Msgs/sec",)),
                )
            ),
        ),
        needs=("subscriber", "enqueued"),
    ),
    Table(
        "buffered_queues",
        "Messages of buffered queues.",
        (r"^Buffered Queues$",),
        (
            _QUEUE,
            *_BUFFERED,
            Column("is_restarted", "text", "`*`: its activity began within the period (Statspack)", ("*",)),
        ),
        needs=("queue", "enqueued_per_s"),
    ),
    Table(
        "buffered_queue_subscribers",
        "Messages of buffered queues by subscriber.",
        (r"^Buffered Queue Subscribers",),
        (_SUBSCRIBER, *_BUFFERED),
        needs=("subscriber", "enqueued_per_s"),
    ),
    Table(
        "rule_sets",
        "Evaluations of rule sets (Statspack).",
        (r"^Rule Sets$",),
        (
            Column("rule_set", "text", "rule set", ("Rule",)),
            Column("is_restarted", "text", "`*`: its activity began within the period", ("*",)),
            Column("evaluations_per_s", "number", "evaluations per second", ("Eval/sec",)),
            Column("reloads_per_s", "number", "reloads per second", ("Reloads/sec",)),
            Column("without_sql_pct", "pct", "share of the evaluations without SQL", ("No-SQL Eval %",)),
            Column("with_sql_pct", "pct", "share of the evaluations with SQL", ("SQL Eval %",)),
        ),
        needs=("rule_set", "evaluations_per_s"),
    ),
)
