"""Canonical tables of RAC: the global cache, the interconnect, and what only reports of all instances print."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Pivot, Table

_FROM = Column("from_instance", "count", "instance that sent", ("Inst No", "Src Inst#", "Src Inst"))
#: The instance in a report of all instances.
INSTANCE: Final = Column(
    "instance", "text", "instance number; `*` is the cluster; null in a report of one instance", ("I#",)
)
_BLOCK = Column("block_class", "block_class", "class of block, in full", ("Block Class",))

#: Of all instances: what a per-second and a per-transaction table add to a heading.
_SYSTEM: Final = (
    "Logical Reads",
    "Physical Reads",
    "Physical Writes",
    "Redo Size (k)",
    "Block Changes",
    "User Calls",
    "Execs",
    "Parses",
    "Logons",
    "Txns",
)
#: Statistic -> its headings in the tables of totals, per second and per transaction.
_MESSAGES: Final = {
    f"{what} {side}": (f"{total} {side}", f"{second} {side}", f"{transaction} {side}")
    for what, total, second, transaction, sides in (
        (
            "Blocks Received",
            "Blocks Received",
            "Blocks Received Per Second",
            "Blocks Received per Tx",
            ("GC Current", "GC CR"),
        ),
        ("Blocks Served", "Blocks Served", "Blocks Served per Second", "Blocks Served", ("GC Current", "GC CR")),
        ("CPU (seconds)", "CPU (seconds)", "CPU seconds per Second", "CPU (seconds) per Tx", ("GC", "IPC")),
        (
            "Messages",
            "Messages",
            "Messages Per Second",
            "Messages per Transaction",
            ("GCS Received", "GES Received", "GCS Sent", "GES Sent", "Sent Direct", "Sent Indir"),
        ),
    )
    for side in sides
} | {
    "GC Blks Lost": ("GC Blks Lost", "GC Blks Lost/s", "GC Blks Lost/Tx"),
    "GC CR Failure": ("GC CR Failure", "GC CR Fail/s", "GC CR Fail/Tx"),
}
_RATES: Final = ("total", "per_second", "per_transaction")

RAC: Final = (
    Table(
        "rac_statistics",
        "Instances and other facts of the cluster.",
        (r"^RAC Statistics",),
        (
            Column("statistic", "text", "what is counted", ("",)),
            Column("begin", "number", "at the first snapshot", ("Begin",)),
            Column("end", "number", "at the last snapshot", ("End",)),
            Column("remark", "text", "what is printed beside it", ("#3",)),
        ),
        shape="labels",
    ),
    Table(
        "rac_load_profile",
        "Global cache work per second and per transaction.",
        (r"^Global Cache Load Profile",),
        (
            Column("statistic", "text", "what is counted", ("",)),
            Column("per_second", "number", "per second", ("Per Second",)),
            Column("per_transaction", "number", "per transaction", ("Per Transaction",)),
        ),
        shape="labels",
    ),
    Table(
        "rac_services",
        "Global cache and enqueue services: efficiency, times and messages.",
        (
            r"^Global Cache Efficiency Percentages \(",
            r"^Global Cache Efficiency Percentages$",
            r"^Global Cache and Enqueue Services - ",
        ),
        (
            Column("statistic", "text", "what is measured, with its unit", ("",)),
            Column("value", "number", "value", ("#1",)),
            INSTANCE,
        ),
        shape="labels",
        pivots=(
            Pivot(
                r"^Global Cache Efficiency Percentages$",
                "statistic",
                {
                    "Buffer Access Local %": ("Buffer access - local cache %", "value"),
                    "Buffer Access Remote %": ("Buffer access - remote cache %", "value"),
                    "Buffer Access Disk %": ("Buffer access - disk %", "value"),
                    "Locality %": ("Locality %", "value"),
                },
            ),
        ),
    ),
    Table(
        "rac_global_cache_transfer",
        "Blocks received by sending instance and class of block.",
        (r"^Global Cache Transfer Stat",),
        (
            _FROM,
            _BLOCK,
            Column("cr_blocks", "count", "CR blocks received", ("CR Blocks Received",)),
            Column("cr_immediate_pct", "pct", "share received at once", ("CR % Immed",)),
            Column("cr_busy_pct", "pct", "share delayed by contention", ("CR % Busy",)),
            Column("cr_congested_pct", "pct", "share delayed by load", ("CR % Congst",)),
            Column("current_blocks", "count", "current blocks received", ("Current Blocks Received",)),
            Column("current_immediate_pct", "pct", "share received at once", ("Current % Immed",)),
            Column("current_busy_pct", "pct", "share delayed by contention", ("Current % Busy",)),
            Column("current_congested_pct", "pct", "share delayed by load", ("Current % Congst",)),
        ),
        needs=("from_instance",),
    ),
    Table(
        "rac_global_cache_times",
        "Average times to receive a block; 18c and 19c print microseconds, all are given in milliseconds.",
        (r"^Global Cache Transfer Times",),
        (
            _FROM,
            _BLOCK,
            *(
                Column(
                    f"{side.lower()}_{name}_ms",
                    "ms",
                    f"average time of a {side} block, {words}",
                    (f"{side} Avg Time (ms) {head}", f"{side} Avg Time (us) {head}"),
                )
                for side in ("CR", "Current")
                for name, words, head in (
                    ("all", "all blocks", "All"),
                    ("immediate", "received at once", "Immed"),
                    ("busy", "delayed by contention", "Busy"),
                    ("congested", "delayed by load", "Congst"),
                )
            ),
        ),
        needs=("from_instance",),
    ),
    Table(
        "rac_immediate_transfer",
        "Blocks received without delay by the sender, by how many instances took part.",
        (r"^Global Cache Transfer \(Immediate\)",),
        (
            _FROM,
            _BLOCK,
            Column("lost_blocks", "count", "blocks lost", ("Blocks Lost",)),
            *(
                column
                for side in ("CR", "Current")
                for column in (
                    Column(
                        f"{side.lower()}_blocks", "count", f"{side} blocks received", (f"{side} Immed Blks Received",)
                    ),
                    Column(f"{side.lower()}_2hop_pct", "pct", "share from two instances", (f"{side} % 2hop",)),
                    Column(f"{side.lower()}_3hop_pct", "pct", "share from three instances", (f"{side} % 3hop",)),
                )
            ),
        ),
        needs=("from_instance", "cr_blocks"),
    ),
    Table(
        "rac_immediate_times",
        "Average times of blocks received without delay by the sender; microseconds of 18c and 19c in milliseconds.",
        (r"^Global Cache Times \(Immediate\)",),
        (
            _FROM,
            _BLOCK,
            Column("lost_time_ms", "number", "time of lost blocks, as printed", ("Lost Time",)),
            *(
                Column(
                    f"{side.lower()}_{name}_ms",
                    "ms",
                    f"average time of a {side} block{words}",
                    (f"{side} Avg Time (ms) {head}", f"{side} Avg Time (us) {head}"),
                )
                for side in ("CR", "Current")
                for name, words, head in (
                    ("immediate", "", "Immed"),
                    ("2hop", " from two instances", "2hop"),
                    ("3hop", " from three instances", "3hop"),
                )
            ),
        ),
        needs=("from_instance", "cr_immediate_ms"),
    ),
    Table(
        "rac_served",
        "Blocks that this instance served: CR blocks by outcome, current blocks by operation and how long it took.",
        (r"^Global (?P<which>CR|Current) Serve[dr] Stat",),
        (
            Column("block_kind", "text", "`cr` or `current`"),
            Column("statistic", "text", "statistic", ("Statistic",)),
            Column("total", "count", "over the period", ("Total",)),
            *(
                Column(
                    f"{name}_pct",
                    "pct",
                    f"share that took less than {words}, and no less than the band before",
                    (f"% <{head}",),
                )
                for name, words, head in (
                    ("to_100us", "100 us (18c and later)", "100us"),
                    ("to_1ms", "1 ms", "1ms"),
                    ("to_10ms", "10 ms", "10ms"),
                    ("to_100ms", "100 ms", "100ms"),
                    ("to_1s", "1 s", "1s"),
                    ("to_10s", "10 s", "10s"),
                )
            ),
        ),
        needs=("statistic", "total"),
        group={"block_kind": {"cr": "cr", "current": "current"}},
    ),
    Table(
        "rac_messaging",
        "Global messaging statistics.",
        (r"^Global Messaging Statistics",),
        (
            Column("statistic", "statistic", "statistic, in full", ("Statistic",)),
            Column("total", "count", "over the period", ("Total",)),
            Column("per_second", "number", "per second", ("per Second",)),
            Column("per_transaction", "number", "per transaction", ("per Trans",)),
        ),
        needs=("statistic", "total"),
    ),
    Table(
        "rac_os_stats",
        "Report of all instances: CPU, load and memory of each instance's host; `host_cpu` has the shares of CPU, too.",
        (r"^OS Statistics By Instance",),
        (
            INSTANCE,
            Column("cpus", "count", "logical processors", ("CPU #CPUs",)),
            Column("cores", "count", "cores", ("CPU #Cores",)),
            Column("sockets", "count", "sockets", ("CPU #Sckts",)),
            Column("load_begin", "number", "load at the first snapshot", ("Load Begin",)),
            Column("load_end", "number", "load at the last snapshot", ("Load End",)),
            Column("busy_s", "s", "busy time of all processors", ("Time (s) Busy",)),
            Column("idle_s", "s", "idle time of all processors", ("Time (s) Idle",)),
            Column("total_s", "s", "time of all processors", ("Time (s) Total",)),
            Column("memory_mb", "number", "memory in MB", ("Memory MB",)),
            Column("end_cpus", "count", "logical processors at the end, where they differ", ("End Values #CPUs",)),
            Column("end_cores", "count", "cores at the end, where they differ", ("End Values #Cores",)),
            Column("end_sockets", "count", "sockets at the end, where they differ", ("End Values #Sckts",)),
            Column("end_memory_mb", "number", "memory at the end, where it differs", ("End Values Memory (M)",)),
        ),
        needs=("instance", "busy_s"),
    ),
    Table(
        "rac_events",
        "Report of all instances: events with the spread of the average wait over the instances.",
        (r"^(?P<which>Top Timed(?: Foreground| Background)?|(?:Fore|Back)ground Wait) Events(?: \(Global\))?$",),
        (
            Column("section", "text", "`top`, `top_foreground`, `top_background`, `foreground` or `background`"),
            INSTANCE,
            Column("wait_class", "wait_class", "wait class; null for CPU", ("Wait Class",)),
            Column("event", "event", "wait event, or CPU", ("Wait Event",)),
            Column("waits", "count", "number of waits", ("Event Waits",)),
            Column("timeout_pct", "pct", "share of waits that timed out", ("Event %Timeouts",)),
            Column("total_wait_s", "s", "time waited", ("Wait Time Total(s)",)),
            Column("avg_wait_ms", "ms", "average wait", ("Wait Time Avg Wait",)),
            Column("db_time_pct", "pct", "share of DB time", ("Wait Time %DB time",)),
            Column("background_time_pct", "pct", "share of background time", ("Wait Time %bg time",)),
            Column("mean_avg_wait_ms", "ms", "mean of the instances' averages", ("Summary Avg Wait Time Avg",)),
            Column("min_avg_wait_ms", "ms", "smallest average", ("Summary Avg Wait Time Min",)),
            Column("max_avg_wait_ms", "ms", "largest average", ("Summary Avg Wait Time Max",)),
            Column("sd_avg_wait_ms", "ms", "standard deviation of the averages", ("Summary Avg Wait Time Std Dev",)),
            Column(
                "instances", "count", "instances with the event among their top events", ("Summary Avg Wait Time Cnt",)
            ),
        ),
        needs=("event", "mean_avg_wait_ms"),
        group={
            "section": {
                "top timed": "top",
                "top timed foreground": "top_foreground",
                "top timed background": "top_background",
                "foreground wait": "foreground",
                "background wait": "background",
            }
        },
    ),
    Table(
        "rac_system_stats",
        "Report of all instances: work, global cache blocks and messages of each instance.",
        (r"^System Statistics(?: - Per (?:Second|Transaction))?$", r"^SysStat and Global Messaging"),
        (
            INSTANCE,
            Column("statistic", "text", "statistic, as the report calls it", ("Statistic",)),
            Column("total", "number", "over the period", ("Total",)),
            Column("per_second", "number", "per second", ("per Second",)),
            Column("per_transaction", "number", "per transaction", ("per Trans",)),
        ),
        needs=("statistic",),
        pivots=(
            *(
                Pivot(title, "statistic", {f"{name}{end}": (name, column) for name in _SYSTEM})
                for title, end, column in zip(
                    (r"^System Statistics$", r"^System Statistics - Per Second", r"^System Statistics - Per Trans"),
                    ("", "/s", "/tx"),
                    _RATES,
                    strict=True,
                )
            ),
            *(
                Pivot(title, "statistic", {heads[place]: (name, column) for name, heads in _MESSAGES.items()})
                for place, (title, column) in enumerate(
                    zip(
                        (
                            r"^SysStat and Global Messaging *- RAC",
                            r"^SysStat and Global Messaging \(per Sec",
                            r"^SysStat and Global Messaging \(per Tx",
                        ),
                        _RATES,
                        strict=True,
                    )
                )
            ),
        ),
    ),
)
