"""Canonical tables of RAC, and of compare-period reports."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Kind, Table

_INSTANCE = Column("from_instance", "count", "instance that sent", ("Inst No", "Src Inst#", "Src Inst"))
_BLOCK = Column("block_class", "text", "class of block; text reports cut it at 8 characters", ("Block Class",))

RAC: Final = (
    Table(
        "rac_statistics",
        "Instances and other facts of the cluster.",
        (r"^RAC Statistics",),
        (
            Column("statistic", "text", "what is counted", ("",)),
            Column("begin", "number", "at the first snapshot", ("Begin",)),
            Column("end", "number", "at the last snapshot", ("End",)),
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
            r"^Global Cache and Enqueue Services - ",
        ),
        (
            Column("statistic", "text", "what is measured, with its unit", ("",)),
            Column("value", "number", "value", ("#1",)),
        ),
        shape="labels",
    ),
    Table(
        "rac_global_cache_transfer",
        "Blocks received by sending instance and class of block.",
        (r"^Global Cache Transfer Stat",),
        (
            _INSTANCE,
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
            _INSTANCE,
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
        "rac_messaging",
        "Global messaging statistics.",
        (r"^Global Messaging Statistics",),
        (
            Column("statistic", "text", "statistic; text reports cut the name at 33 characters", ("Statistic",)),
            Column("total", "count", "over the period", ("Total",)),
            Column("per_second", "number", "per second", ("per Second",)),
            Column("per_transaction", "number", "per transaction", ("per Trans",)),
        ),
        needs=("statistic", "total"),
    ),
    Table(
        "rac_interconnect_ping",
        "Latency of pings between instances.",
        (r"^Interconnect Ping Latency",),
        (
            Column("target_instance", "count", "instance", ("Target Instance",)),
            Column("pings_500b", "count", "pings of 500 bytes", ("500B Ping Count", "500B Pin Count")),
            Column("latency_500b", "number", "average latency: ms, or us from 18c on", ("Avg Latency 500B msg",)),
            Column("pings_8k", "count", "pings of 8 KiB", ("8K Ping Count",)),
            Column("latency_8k", "number", "average latency: ms, or us from 18c on", ("Avg Latency 8K msg",)),
        ),
        needs=("target_instance",),
    ),
    Table(
        "rac_interconnect_devices",
        "Interconnect traffic and errors by device.",
        (r"^Interconnect Device Statistics",),
        (
            Column("device", "text", "device", ("Device Name",)),
            Column("ip_address", "text", "address", ("IP Address",)),
            Column("is_public", "text", "YES or NO", ("Public",)),
            Column("source", "text", "where the configuration comes from", ("Source",)),
            Column("send_mb_per_s", "number", "megabytes sent per second", ("Send Mbytes/sec",)),
            Column("send_errors", "count", "errors in sending", ("Send Errors",)),
            Column("send_dropped", "count", "packets dropped in sending", ("Send Dropped",)),
            Column("send_overruns", "count", "buffer overruns in sending", ("Send Buffer Overrun",)),
            Column("carrier_lost", "count", "carrier lost", ("Send Carrier Lost",)),
            Column("receive_mb_per_s", "number", "megabytes received per second", ("Receive Mbytes/sec",)),
            Column("receive_errors", "count", "errors in receiving", ("Receive Errors",)),
            Column("receive_dropped", "count", "packets dropped in receiving", ("Receive Dropped",)),
            Column("receive_overruns", "count", "buffer overruns in receiving", ("Receive Buffer Overrun",)),
            Column("frame_errors", "count", "frame errors", ("Receive Frame Errors",)),
        ),
        needs=("device", "send_mb_per_s"),
    ),
    Table(
        "rac_interconnect_client",
        "Interconnect traffic by client.",
        (r"^Interconnect Throughput by Client",),
        (
            Column("client", "text", "client", ("Used By",)),
            Column("send_mb_per_s", "number", "megabytes sent per second", ("Send Mbytes/sec",)),
            Column("receive_mb_per_s", "number", "megabytes received per second", ("Receive Mbytes/sec",)),
        ),
        needs=("client",),
    ),
)


def _both(name: str, kind: Kind, meaning: str, first: str, second: str, difference: str = "") -> tuple[Column, ...]:
    """Columns of one figure for both periods, and of the difference."""
    columns: tuple[Column, ...] = (
        Column(f"first_{name}", kind, f"{meaning}, first period", (first,)),
        Column(f"second_{name}", kind, f"{meaning}, second period", (second,)),
    )
    if difference:
        columns += (Column(f"difference_{name}", kind, f"{meaning}, difference as printed", (difference,)),)
    return columns


def _pair(name: str, kind: Kind, meaning: str, group: str, difference: str = "Diff") -> tuple[Column, ...]:
    both = _both(name, kind, meaning, f"{group} 1st", f"{group} 2nd", f"{group} Diff" if difference == "Diff" else "")
    if difference != "%Diff":
        return both
    return (*both, Column(f"{name}_difference_pct", "pct", f"{meaning}, difference in per cent", (f"{group} %Diff",)))


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
        "compare_host",
        "Compare-period report: the hosts.",
        (r"^Host Configuration Comparison",),
        (
            Column("statistic", "text", "what is compared", ("",)),
            *_both("value", "number", "value", "1st", "2nd", "Diff"),
            Column("difference_pct", "pct", "difference in per cent", ("%Diff",)),
        ),
        shape="labels",
        needs=("first_value",),
    ),
    Table(
        "compare_load_profile",
        "Compare-period report: work per second and per transaction.",
        (r"^Workload Comparison", r"^Load Profile"),
        (
            Column("statistic", "text", "what is counted", ("",)),
            *_both("per_second", "number", "per second", "1st Per Sec", "2nd Per Sec"),
            Column("per_second_difference_pct", "pct", "difference in per cent", ("%Diff",)),
            *_both("per_transaction", "number", "per transaction", "1st Per Txn", "2nd Per Txn"),
            Column("per_transaction_difference_pct", "pct", "difference in per cent", ("%Diff#2",)),
        ),
        shape="labels",
        needs=("first_per_second",),
    ),
    Table(
        "compare_top_events",
        "Compare-period report: the top events of both periods, side by side by rank.",
        (r"^Top Timed Events",),
        (
            Column("first_event", "event", "event, first period", ("1st Event",)),
            Column("first_wait_class", "wait_class", "its class", ("1st Wait Class",)),
            Column("first_waits", "count", "its waits", ("1st Waits",)),
            Column("first_total_wait_s", "s", "its time", ("1st Time(s)",)),
            Column("first_avg_wait_ms", "ms", "its average", ("1st Avg Time(ms)",)),
            Column("first_db_time_pct", "pct", "its share of DB time", ("1st %DB time",)),
            Column("second_event", "event", "event, second period", ("2nd Event",)),
            Column("second_wait_class", "wait_class", "its class", ("2nd Wait Class",)),
            Column("second_waits", "count", "its waits", ("2nd Waits",)),
            Column("second_total_wait_s", "s", "its time", ("2nd Time(s)",)),
            Column("second_avg_wait_ms", "ms", "its average", ("2nd Avg Time(ms)",)),
            Column("second_db_time_pct", "pct", "its share of DB time", ("2nd %DB time",)),
        ),
        needs=("first_event",),
    ),
    *(
        Table(
            name,
            f"Compare-period report: {words} of both periods.",
            (title,),
            (
                *lead,
                *_pair("db_time_pct", "pct", "share of DB time", "% of DB time"),
                *_pair("waits_per_s", "number", "waits per second", "# Waits/sec (Elapsed Time)", "%Diff"),
                *_pair("total_wait_s", "s", "time waited", "Total Wait Time (sec)", "%Diff"),
                *_pair("avg_wait_ms", "ms", "average wait", "Avg Wait Time (ms)", "%Diff"),
            ),
            needs=("first_db_time_pct",),
        )
        for name, words, title, lead in (
            (
                "compare_wait_classes",
                "the wait classes",
                r"^Wait Classes$",
                (Column("wait_class", "wait_class", "wait class", ("Wait Class",)),),
            ),
            (
                "compare_wait_events",
                "the wait events",
                r"^Wait Events$",
                (
                    Column("event", "event", "wait event", ("Event",)),
                    Column("wait_class", "wait_class", "wait class", ("Wait Class",)),
                ),
            ),
        )
    ),
    Table(
        "compare_time_model",
        "Compare-period report: the time model of both periods.",
        (r"^Time Model Statistics",),
        (
            Column("statistic", "text", "statistic", ("Statistic Name",)),
            *_pair("db_time_pct", "pct", "share of DB time", "% of DB time"),
            *_pair("time_s", "s", "time", "Time (seconds)", ""),
            Column("time_difference_pct", "pct", "difference in per cent", ("Time (seconds) %Diff",)),
        ),
        needs=("first_db_time_pct",),
    ),
)
