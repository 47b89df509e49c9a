"""Canonical tables of recovery, checkpoints, limits, shared servers and processes."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

#: How versions call a block of the redo log.
_WORDS: Final = ("RedoBlks", "Redo Blks")


def _counts(*columns: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(name, "count", meaning, (head,)) for name, meaning, head in columns)


def _blocks(name: str, meaning: str, *heads: str) -> Column:
    """Redo blocks, which older versions head `RedoBlks` or `Redo Blks`."""
    return Column(
        name, "count", f"redo blocks: {meaning}", tuple(f"{head} {word}" for head in heads for word in _WORDS)
    )


RECOVERY: Final = (
    Table(
        "instance_recovery",
        "What recovery of the instance would take, at the first and at the last snapshot.",
        (r"^Instance Recovery Stats",),
        (
            Column("snapshot", "text", "B at the first snapshot, E at the last", ("", "B")),
            Column("target_mttr_s", "s", "time to recover that was asked for", ("Targt MTTR (s)",)),
            Column("estimated_mttr_s", "s", "time to recover that is expected", ("Estd MTTR (s)",)),
            Column("estimated_ios", "count", "dirty buffers that recovery would read", ("Recovery Estd IOs",)),
            _blocks("actual_redo_blocks", "that recovery would read now", "Actual"),
            _blocks("target_redo_blocks", "that recovery may read", "Target"),
            _blocks("log_size_redo_blocks", "limit by the size of the log", "Log Sz", "Log File Size"),
            _blocks("log_timeout_redo_blocks", "limit by LOG_CHECKPOINT_TIMEOUT", "Log Ckpt Timeout"),
            _blocks("log_interval_redo_blocks", "limit by LOG_CHECKPOINT_INTERVAL", "Log Ckpt Interval"),
            Column("optimal_log_mb", "number", "size of a log that is advised", ("Opt Log Sz(M)",)),
            Column("estimated_rac_available_s", "s", "time until the cluster is available", ("Estd RAC Avail Time",)),
        ),
        needs=("target_mttr_s", "estimated_mttr_s"),
    ),
    Table(
        "checkpoint_activity",
        "Buffers that checkpoints wrote, by the reason.",
        (r"^Checkpoint Activity",),
        _counts(
            ("mttr_writes", "for FAST_START_MTTR_TARGET", "MTTR Writes"),
            ("log_size_writes", "for the size of the log", "Log Size Writes"),
            ("log_checkpoint_writes", "for LOG_CHECKPOINT_TIMEOUT and _INTERVAL", "Log Ckpt Writes"),
            ("other_writes", "for other settings", "Other Settings Writes"),
            ("autotune_writes", "of self-tuned checkpoints", "Autotune Ckpt Writes"),
            ("thread_writes", "of thread checkpoints", "Thread Ckpt Writes"),
        ),
        needs=("mttr_writes", "autotune_writes"),
    ),
    Table(
        "mttr_advisory",
        "I/O that other settings of FAST_START_MTTR_TARGET would cause.",
        (r"^MTTR Advisory",),
        (
            Column("mttr_target_s", "s", "target", ("Size for Est (s)", "Size fo Est (s)")),
            Column("dirty_limit", "count", "dirty buffers that it allows", ("Dirty Limit",)),
            *(
                column
                for name, what, heads in (
                    ("cache_writes", "writes of the cache", "Cache Writes"),
                    ("total_writes", "writes", "Total Writes"),
                    ("total_ios", "I/O requests", "Total IOs"),
                )
                for column in (
                    Column(f"{name}_thousands", "count", f"estimated {what}, in thousands", (f"Est {heads}",)),
                    Column(
                        f"{name}_ratio",
                        "number",
                        f"estimated {what} to those of today",
                        (f"Est {heads.removesuffix('s')} Fctr",),
                    ),
                )
            ),
        ),
        needs=("mttr_target_s", "dirty_limit"),
    ),
    Table(
        "memory_target_advisory",
        "DB time that other sizes of memory would give.",
        (r"^Memory Target Advice",),
        (
            Column("memory_mb", "number", "size of memory", ("Memory Size (M)",)),
            Column("memory_ratio", "number", "size to that of today", ("Memory Size Factor",)),
            Column("estimated_db_time_s", "s", "estimated DB time", ("Est. DB time (s)",)),
            Column("is_reset", "text", "Y when the advisor was reset within the period", ("Advice Reset",)),
        ),
        needs=("memory_mb", "estimated_db_time_s"),
    ),
    Table(
        "streams_pool_advisory",
        "Spills that other sizes of the streams pool would cause.",
        (r"^Streams Pool Advisory",),
        (
            Column("size_mb", "number", "size", ("Size for Est (MB)", "Streams Pool Size (M)")),
            Column("size_factor", "number", "size to that of today", ("Size Factor", "Streams Pool Size Factor")),
            Column("spills", "count", "estimated messages spilled", ("Est Spill Count",)),
            Column("spill_s", "s", "estimated time of spilling", ("Est Spill Time (s)",)),
            Column("unspills", "count", "estimated messages read again", ("Est Unspill Count",)),
            Column("unspill_s", "s", "estimated time of reading them", ("Est Unspill Time (s)",)),
        ),
        needs=("size_mb", "spills"),
    ),
    Table(
        "resource_limits",
        "Resources of the instance that were near their limit.",
        (r"^Resource Limit Stats",),
        (
            Column("resource", "text", "resource", ("Resource Name",)),
            Column("current", "count", "in use at the last snapshot", ("Current Utilization",)),
            Column("maximum", "count", "most that were in use", ("Maximum Utilization",)),
            Column("initial", "count", "allocated at the start; null when unlimited", ("Initial Allocation",)),
            Column("limit", "count", "limit; null when unlimited", ("Limit",)),
        ),
        needs=("resource", "maximum"),
    ),
    Table(
        "shared_servers_activity",
        "Connections, shared servers and dispatchers.",
        (r"^Shared Servers Activity",),
        tuple(
            Column(f"avg_{state}_{name}", "number", f"{meaning}, {state}", (f"Avg {state.title()} {head}",))
            for name, meaning, head in (
                ("connections", "average connections", "Connections"),
                ("servers", "average shared servers", "Shared Srvrs"),
                ("dispatchers", "average dispatchers", "Dispatchers"),
            )
            for state in ("total", "active")
        ),
        needs=("avg_total_connections", "avg_total_servers"),
    ),
    Table(
        "shared_servers_rates",
        "Requests and messages of shared servers.",
        (r"^Shared Servers Rates",),
        (
            Column("common_queue_per_s", "number", "requests in the common queue", ("Common Queue Per Sec",)),
            Column("dispatcher_queue_per_s", "number", "requests in dispatchers' queues", ("Disp Queue Per Sec",)),
            Column("messages_per_s", "number", "messages of servers", ("Server Msgs/Sec",)),
            Column("kib_per_s", "number", "KiB of servers", ("Server KB/Sec",)),
            Column("common_queue", "count", "requests in the common queue", ("Common Queue Total",)),
            Column("dispatcher_queue", "count", "requests in dispatchers' queues", ("Disp Queue Total",)),
            Column("messages", "count", "messages of servers", ("Server Total Msgs",)),
            Column("kib", "number", "KiB of servers", ("Server Total(KB)",)),
        ),
        needs=("common_queue_per_s", "messages_per_s"),
    ),
    Table(
        "shared_servers_utilization",
        "How busy shared servers were.",
        (r"^Shared Servers Utilization",),
        (
            Column("server_time_s", "s", "time of all servers", ("Total Server Time (s)",)),
            Column("busy_pct", "pct", "share of it at work", ("%Busy",)),
            Column("idle_pct", "pct", "share of it idle", ("%Idle",)),
            Column("incoming_pct", "pct", "share of it receiving", ("Incoming Net %",)),
            Column("outgoing_pct", "pct", "share of it sending", ("Outgoing Net %",)),
        ),
        needs=("server_time_s", "busy_pct"),
    ),
    Table(
        "shared_servers_dispatchers",
        "Dispatchers of shared servers.",
        (r"^Shared Servers Dispatchers",),
        (
            Column("dispatcher", "text", "dispatcher", ("Name",)),
            Column("avg_connections", "number", "average connections", ("Avg Conns",)),
            Column("dispatcher_time_s", "s", "time of the dispatcher", ("Total Disp Time (s)",)),
            Column("busy_pct", "pct", "share of it at work", ("%Busy",)),
            Column("idle_pct", "pct", "share of it idle", ("%Idle",)),
            Column("queued", "count", "requests queued", ("Total Queued",)),
            Column("queue_wait_s", "s", "time they waited", ("Total Queue Wait (s)",)),
            Column("avg_queue_wait_ms", "ms", "average wait", ("Avg Queue Wait (ms)",)),
        ),
        needs=("dispatcher", "dispatcher_time_s"),
        total="dispatcher",
    ),
    Table(
        "process_waits",
        "Wait time of background processes by class.",
        (r"^Top Process Types by Wait Class",),
        (
            Column("process", "text", "type of process", ("Process Type",)),
            Column("meaning", "text", "what it is", ("Description",)),
            Column("wait_class", "wait_class", "wait class", ("Wait Class Type",)),
            Column("wait_s", "s", "time waited", ("Wait Time (sec)",)),
        ),
        needs=("process", "wait_s"),
    ),
    Table(
        "process_cpu",
        "CPU time of background processes.",
        (r"^Top Process Types by CPU Used",),
        (
            Column("process", "text", "type of process", ("Process Type",)),
            Column("meaning", "text", "what it is", ("Description",)),
            Column("cpu_s", "s", "CPU time", ("CPU Time (sec)",)),
        ),
        needs=("process", "cpu_s"),
    ),
    Table(
        "channel_waits",
        "Waits for messages between processes.",
        (r"^Top 10 Channel Waits",),
        (
            Column("channel", "text", "channel", ("Channel",)),
            Column("waits", "count", "number of waits", ("Waits",)),
            Column("total_wait_s", "s", "time waited", ("Total Wait Time (s)",)),
            Column("avg_wait_us", "us", "average wait", ("Avg Wait",)),
        ),
        needs=("channel", "total_wait_s"),
    ),
)
