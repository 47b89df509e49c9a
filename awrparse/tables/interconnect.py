"""Canonical tables of the interconnect of RAC and of the caches that are locked across it."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Table

INTERCONNECT: Final = (
    Table(
        "rac_interconnect_ping",
        "Latency of pings between instances.",
        (r"^Interconnect Ping Latency",),
        (
            Column("target_instance", "count", "instance", ("Target Instance",)),
            Column("pings_500b", "count", "pings of 500 bytes", ("500B Ping Count", "500B Pin Count")),
            Column("latency_500b_us", "us", "average latency; printed in ms before 18c", ("Avg Latency 500B msg",)),
            Column("pings_8k", "count", "pings of 8 KiB", ("8K Ping Count",)),
            Column("latency_8k_us", "us", "average latency; printed in ms before 18c", ("Avg Latency 8K msg",)),
            Column("sd_latency_500b_us", "us", "standard deviation of the latency", ("Stddev 500B msg",)),
            Column("sd_latency_8k_us", "us", "standard deviation of the latency", ("Stddev 8K msg",)),
        ),
        needs=("target_instance",),
        units=(("given in mil+iseconds", "(ms)"), ("given in microseconds", "(us)")),
    ),
    Table(
        "rac_library_cache",
        "Locks and pins of the library cache in the cluster.",
        (r"^Library Cache Activity \(RAC\)",),
        (
            Column("namespace", "text", "namespace", ("Namespace",)),
            Column("lock_requests", "count", "requests of locks", ("GES Lock Requests",)),
            Column("pin_requests", "count", "requests of pins", ("GES Pin Requests",)),
            Column("pin_releases", "count", "releases of pins", ("GES Pin Releases",)),
            Column("invalidation_requests", "count", "requests of invalidations", ("GES Inval Requests",)),
            Column("invalidations", "count", "invalidations", ("GES Invali- dations",)),
        ),
        needs=("namespace", "lock_requests"),
    ),
    Table(
        "rac_dictionary_cache",
        "Locks of the dictionary cache in the cluster.",
        (r"^Dictionary Cache Stats \(RAC\)",),
        (
            Column("cache", "text", "cache", ("Cache",)),
            Column("requests", "count", "requests", ("GES Requests",)),
            Column("conflicts", "count", "conflicts", ("GES Conflicts",)),
            Column("releases", "count", "releases", ("GES Releases",)),
        ),
        needs=("cache", "conflicts"),
    ),
    Table(
        "rac_interconnect",
        "The interfaces of the interconnect at the first and the last snapshot.",
        (r"^Cluster Interconnect",),
        (
            Column("interface", "text", "interface", ("Interface",)),
            Column("begin_address", "text", "address at the first snapshot", ("Begin IP Address",)),
            Column("begin_public", "text", "is it public, Y or N, at the first snapshot", ("Begin Pub",)),
            Column("begin_source", "text", "where that is configured", ("Begin Source",)),
            Column("end_address", "text", "address at the last snapshot, where it differs", ("End IP Address",)),
            Column("end_public", "text", "is it public at the last snapshot", ("End Pub",)),
            Column("end_source", "text", "where that is configured", ("End Src",)),
        ),
        needs=("interface", "begin_address"),
    ),
    Table(
        "rac_remastering",
        "Resources that changed their master.",
        (r"^Dynamic Remastering Statistics",),
        (
            Column("statistic", "text", "statistic", ("Name",)),
            Column("total", "number", "over the period", ("Total",)),
            Column("per_operation", "number", "per remaster operation", ("per Remaster Op",)),
            Column("begin", "number", "at the first snapshot", ("Begin Snap",)),
            Column("end", "number", "at the last snapshot", ("End Snap",)),
        ),
        needs=("statistic", "per_operation"),
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
