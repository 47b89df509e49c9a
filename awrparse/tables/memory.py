"""Canonical tables of memory and concurrency: PGA, SGA, shared pool, undo, latches, caches."""

from __future__ import annotations

from typing import Final

from awrparse.columns import Column, Pivot, Table
from awrparse.tables.rac import INSTANCE

_FLAG = Column("snapshot", "text", "B at the first snapshot, E at the last; B1 to E2 in a compare-period report", ("",))
_PDB = Column("pdb", "text", "pluggable database", ("PDB Name",))

MEMORY: Final = (
    Table(
        "buffer_pool_advisory",
        "Estimated physical reads for other sizes of a buffer pool.",
        (r"^Buffer Pool Advisory",),
        (
            Column("pool", "text", "pool", ("P",)),
            Column("size_mb", "number", "size estimated for", ("Size for Est (M)",)),
            Column("size_factor", "number", "size over the present size", ("Size Factor", "Size Factr")),
            Column("buffers_thousands", "number", "buffers, in thousands", ("Buffers (thousands)",)),
            Column(
                "read_factor", "number", "reads over the present reads", ("Est Phys Read Factor", "Est Phys Read Factr")
            ),
            Column("reads_thousands", "number", "physical reads, in thousands", ("Estimated Phys Reads (thousands)",)),
            Column("read_time_s", "s", "time to read", ("Est Phys Read Time",)),
            Column("db_time_pct", "pct", "share of DB time", ("Est %DBtime for Rds", "Est % dbtime for Rds")),
        ),
        needs=("pool", "size_mb"),
    ),
    Table(
        "pga_summary",
        "Work areas: hit ratio and volume.",
        (r"^PGA Aggr Summary", r"^PGA Aggr Target Stats"),
        (
            Column("hit_pct", "pct", "share of work area data processed in memory", ("PGA Cache Hit %",)),
            Column("processed_mb", "number", "megabytes processed", ("W/A MB Processed",)),
            Column("extra_mb", "number", "megabytes read and written beyond", ("Extra W/A MB Read/Written",)),
        ),
        needs=("hit_pct", "extra_mb"),
    ),
    Table(
        "pga_target",
        "PGA target and use at both snapshots.",
        (r"^PGA Aggr Target Stats", r"^PGA Aggregate Target Statistics"),
        (
            _FLAG,
            Column("target_mb", "number", "aggregate target", ("PGA Aggr Target(M)", "PGA Aggr Target (M)")),
            Column("auto_target_mb", "number", "automatic target", ("Auto PGA Target(M)", "Auto PGA Target (M)")),
            Column("allocated_mb", "number", "allocated", ("PGA Mem Alloc(M)", "PGA Mem Alloc (M)")),
            Column("work_area_mb", "number", "used by work areas", ("W/A PGA Used(M)", "W/A PGA Used (M)")),
            Column("work_area_pct", "pct", "share of the PGA in work areas", ("%PGA W/A Mem",)),
            Column("auto_pct", "pct", "share of work areas under automatic control", ("%Auto W/A Mem",)),
            Column("manual_pct", "pct", "share of work areas under manual control", ("%Man W/A Mem",)),
            Column("bound_kb", "number", "global memory bound", ("Global Mem Bound(K)", "Global Mem Bound (K)")),
            *(
                Column(name, "number", f"{words} (reports of all instances)", (f"{head} (M)",))
                for name, words, head in (
                    ("auto_work_area_mb", "work areas under automatic control", "Auto Workareas"),
                    ("manual_work_area_mb", "work areas under manual control", "Manual Workarea"),
                    ("bound_mb", "global memory bound", "Global Mem Bound"),
                )
            ),
            INSTANCE,
        ),
        needs=("target_mb",),
        pivots=(
            Pivot(
                r"^PGA Aggregate Target Statistics",
                "snapshot",
                {
                    f"{head} {side}": (side[0], name)
                    for head, name in (
                        ("PGA Aggr Target", "target_mb"),
                        ("Auto PGA Target", "auto_target_mb"),
                        ("PGA Mem Alloc", "allocated_mb"),
                        ("Auto Workareas", "auto_work_area_mb"),
                        ("Manual Workarea", "manual_work_area_mb"),
                        ("Global Mem Bound", "bound_mb"),
                    )
                    for side in ("Begin", "End")
                },
            ),
        ),
    ),
    Table(
        "pga_histogram",
        "Executions of work areas by optimal size.",
        (r"^PGA Aggr Target Histogram",),
        (
            Column("low_bytes", "bytes", "smallest optimal size", ("Low Optimal",)),
            Column("high_bytes", "bytes", "largest optimal size", ("High Optimal",)),
            Column("executions", "count", "executions", ("Total Execs",)),
            Column("optimal", "count", "in memory", ("Optimal Execs",)),
            Column("one_pass", "count", "in one pass", ("1-Pass Execs",)),
            Column("multi_pass", "count", "in several passes", ("M-Pass Execs",)),
        ),
        needs=("low_bytes",),
    ),
    Table(
        "pga_advisory",
        "Estimated work area I/O for other PGA targets.",
        (r"^PGA Memory Advisory",),
        (
            Column("target_mb", "number", "target estimated for", ("PGA Target Est (MB)", "PGA Aggr Target Est (MB)")),
            Column("size_factor", "number", "target over the present target", ("Size Factr",)),
            Column("processed_mb", "number", "megabytes processed", ("W/A MB Processed",)),
            Column(
                "extra_mb", "number", "megabytes read and written beyond", ("Estd Extra W/A MB Read/ Written to Disk",)
            ),
            Column("hit_pct", "pct", "hit ratio", ("Estd PGA Cache Hit %", "Estd P Cache Hit %")),
            Column(
                "overallocations", "count", "overallocations", ("Estd PGA Overalloc Count", "Estd PGA Overallo Count")
            ),
            Column("time_s", "number", "time to process", ("Estd Time", "Estd Time to Process Bytes (s)")),
        ),
        needs=("target_mb",),
    ),
    Table(
        "shared_pool_advisory",
        "Estimated library cache time for other sizes of the shared pool.",
        (r"^Shared Pool Advisory",),
        (
            Column("size_mb", "number", "size estimated for", ("Shared Pool Size(M)",)),
            Column("size_factor", "number", "size over the present size", ("SP Size Factr",)),
            Column("library_cache_mb", "number", "library cache", ("Est LC Size (M)",)),
            Column("objects", "count", "objects in it", ("Est LC Mem Obj",)),
            Column("time_saved_s", "s", "time saved", ("Est LC Time Saved (s)",)),
            Column("time_saved_factor", "number", "over the present time", ("Est LC Time Saved Factr",)),
            Column("load_time_s", "s", "time to load", ("Est LC Load Time (s)",)),
            Column("load_time_factor", "number", "over the present time", ("Est LC Load Time Factr",)),
            Column("hits_thousands", "number", "hits, in thousands", ("Est LC Mem Obj Hits (K)",)),
            Column("hits", "number", "hits (Statspack)", ("Est LC Mem Obj Hits",)),
        ),
        needs=("size_mb",),
    ),
    Table(
        "sga_advisory",
        "Estimated DB time for other SGA targets.",
        (r"^SGA Target Advisory",),
        (
            Column("target_mb", "number", "target estimated for", ("SGA Target Size (M)",)),
            Column("size_factor", "number", "target over the present target", ("SGA Size Factor",)),
            Column("db_time_s", "s", "DB time", ("Est DB Time (s)",)),
            Column("db_time_factor", "number", "over the present DB time", ("Est DB Time Factor",)),
            Column("physical_reads", "count", "physical reads", ("Est Physical Reads",)),
        ),
        needs=("target_mb",),
    ),
    Table(
        "sga",
        "The regions of the SGA.",
        (r"^SGA Memory Summary",),
        (
            Column("region", "text", "region", ("SGA regions",)),
            Column("begin_bytes", "bytes", "at the first snapshot", ("Begin Size (Bytes)",)),
            Column("end_bytes", "bytes", "at the last, where it differs", ("End Size (Bytes) (if different)",)),
        ),
        needs=("region", "begin_bytes"),
    ),
    Table(
        "sga_breakdown",
        "Parts of the SGA.",
        (r"^SGA breakdown difference",),
        (
            Column("pool", "pool", "pool: `java`, `large`, `shared`, `streams`; null for the rest", ("Pool",)),
            Column("name", "text", "part", ("Name",)),
            Column("begin_mb", "number", "at the first snapshot", ("Begin MB",)),
            Column("end_mb", "number", "at the last snapshot", ("End MB",)),
            Column("difference_pct", "pct", "difference", ("% Diff",)),
            _PDB,
        ),
        needs=("name", "begin_mb"),
    ),
    Table(
        "memory_components",
        "Dynamic components of memory.",
        (r"^Memory Dynamic Components",),
        (
            Column("component", "component", "component", ("Component", "Cache")),
            Column("begin_mb", "number", "at the first snapshot", ("Begin Snap Size (Mb)", "Begin Snap Size (M)")),
            Column("current_mb", "number", "at the last snapshot", ("Current Size (Mb)", "End Snap Size (M)")),
            Column("min_mb", "number", "smallest", ("Min Size (Mb)",)),
            Column("max_mb", "number", "largest", ("Max Size (Mb)",)),
            Column("operations", "count", "resize operations", ("Oper Count", "Op Count")),
            Column("last_operation", "text", "last operation and its mode", ("Last Op Typ/Mod", "Last Op Type/Mode")),
            Column(
                "last_operation_time", "text", "day and time of it, without the year (Statspack)", ("Last Op Time",)
            ),
        ),
        needs=("component",),
    ),
    Table(
        "process_memory",
        "Memory of processes by category.",
        (r"^Process Memory Summary",),
        (
            _PDB,
            INSTANCE,
            _FLAG,
            Column("category", "text", "category", ("Category",)),
            Column("allocated_mb", "number", "allocated", ("Alloc (MB)",)),
            Column("used_mb", "number", "used", ("Used (MB)",)),
            Column("freeable_mb", "number", "freeable (Statspack)", ("Freeabl (MB)",)),
            Column("avg_allocated_mb", "number", "average", ("Avg Alloc (MB)",)),
            Column("sd_allocated_mb", "number", "standard deviation", ("Std Dev Alloc (MB)",)),
            Column("max_allocated_mb", "number", "largest", ("Max Alloc (MB)",)),
            Column("historical_max_mb", "number", "largest ever", ("Hist Max Alloc (MB)",)),
            Column("processes", "count", "processes", ("Num Proc", "Num Procs or Allocs")),
            Column("allocations", "count", "allocations", ("Num Alloc",)),
        ),
        needs=("category", "allocated_mb"),
        filled=("snapshot",),
        total="category",
    ),
    Table(
        "process_memory_top",
        "Memory of the processes that have most, by category (Statspack); the sums of a process have its name.",
        (r"^Top Process Memory",),
        (
            _FLAG,
            Column("process", "count", "number of the process", ("PId",)),
            Column("category", "text", "category, or the name of the process", ("Category",)),
            Column("allocated_mb", "number", "allocated", ("Alloc (MB)",)),
            Column("used_mb", "number", "used", ("Used (MB)",)),
            Column("freeable_mb", "number", "freeable", ("Freeabl (MB)",)),
            Column("max_allocated_mb", "number", "largest", ("Max Alloc (MB)",)),
            Column("historical_max_mb", "number", "largest ever", ("Hist Max Alloc (MB)",)),
        ),
        needs=("process", "category", "allocated_mb"),
        filled=("snapshot", "process"),
    ),
    Table(
        "undo",
        "Undo by tablespace.",
        (r"^Undo Segment Summary",),
        (
            Column("undo_tablespace", "count", "number of the undo tablespace", ("Undo TS#",)),
            Column("undo_blocks_thousands", "number", "undo blocks, in thousands", ("Num Undo Blocks (K)",)),
            Column("transactions", "count", "transactions", ("Number of Transactions",)),
            Column("max_query_s", "s", "longest query", ("Max Qry Len (s)",)),
            Column("max_concurrency", "count", "most transactions at once", ("Max Tx Concurcy", "Max Tx Concy")),
            Column("tuned_retention", "text", "smallest/largest tuned retention in minutes", ("Min/Max TR (mins)",)),
            Column("errors", "text", "snapshots too old/out of space", ("STO/ OOS",)),
            Column("steals", "text", "blocks stolen, released and reused: unexpired, expired", ("uS/uR/uU/ eS/eR/eU",)),
        ),
        needs=("undo_tablespace",),
    ),
    Table(
        "undo_history",
        "Undo by interval of V$UNDOSTAT, the latest first.",
        (r"^Undo Segment Stats",),
        (
            Column("end_time", "text", "end of the interval; as printed: there is no year", ("End Time",)),
            Column("undo_blocks", "count", "undo blocks", ("Num Undo Blocks",)),
            Column("transactions", "count", "transactions", ("Number of Transactions",)),
            Column("max_query_s", "s", "longest query", ("Max Qry Len (s)",)),
            Column("max_concurrency", "count", "most transactions at once", ("Max Tx Concy",)),
            Column("tuned_retention_min", "number", "tuned retention in minutes", ("Tun Ret (mins)",)),
            Column("errors", "text", "snapshots too old/out of space", ("STO/ OOS",)),
            Column("steals", "text", "blocks stolen, released and reused: unexpired, expired", ("uS/uR/uU/ eS/eR/eU",)),
        ),
        needs=("end_time", "undo_blocks"),
    ),
    Table(
        "latches",
        "Latches; text reports cut their names at 24 characters.",
        (r"^Latch Activity",),
        (
            Column("latch", "latch", "latch, in full", ("Latch Name", "Latch")),
            Column("gets", "count", "willing-to-wait requests", ("Get Requests",)),
            Column("miss_pct", "pct", "share that missed", ("Pct Get Miss",)),
            Column("sleeps_per_miss", "number", "sleeps per miss; null without misses", ("Avg Slps /Miss",)),
            Column("wait_s", "s", "time waited", ("Wait Time (s)",)),
            Column("no_wait_gets", "count", "no-wait requests", ("NoWait Requests",)),
            Column("no_wait_miss_pct", "pct", "share that missed", ("Pct NoWait Miss",)),
        ),
        needs=("latch", "gets"),
    ),
    Table(
        "latch_sleeps",
        "Latches that processes slept for.",
        (r"^Latch Sleep Breakdown",),
        (
            Column("latch", "latch", "latch, in full", ("Latch Name",)),
            Column("gets", "count", "requests", ("Get Requests",)),
            Column("misses", "count", "misses", ("Misses",)),
            Column("sleeps", "count", "sleeps", ("Sleeps",)),
            Column("spin_gets", "count", "gets after spinning", ("Spin Gets",)),
            Column("spin_sleeps", "text", "spin gets, and gets after 1 to 4 sleeps (9i)", ("Spin & Sleeps 1->4",)),
            _PDB,
        ),
        needs=("latch", "sleeps"),
        splits={"spin_sleeps": "^(?P<spin_gets>{INTEGER})/"},
        wraps=True,
    ),
    Table(
        "latch_misses",
        "Where in the code latches were missed.",
        (r"^Latch Miss Sources",),
        (
            Column("latch", "latch", "latch, in full", ("Latch Name",)),
            Column("location", "text", "place in the code; text reports cut it at 26 characters", ("Where",)),
            Column("no_wait_misses", "count", "misses of no-wait requests", ("NoWait Misses",)),
            Column("sleeps", "count", "sleeps", ("Sleeps",)),
            Column("waiter_sleeps", "count", "sleeps of those who waited for it", ("Waiter Sleeps",)),
            _PDB,
        ),
        needs=("latch", "location"),
    ),
    Table(
        "mutex_sleeps",
        "Sleeps for mutexes.",
        (r"^Mutex Sleep",),
        (
            Column("mutex", "text", "type of mutex", ("Mutex Type",)),
            Column("location", "text", "place in the code", ("Location",)),
            Column("sleeps", "count", "sleeps", ("Sleeps",)),
            Column("wait_ms", "number", "time waited, in milliseconds", ("Wait Time (ms)",)),
            Column("wait_s", "number", "time waited, in seconds (Statspack)", ("Wait Time (s)",)),
        ),
        needs=("mutex", "sleeps"),
    ),
    Table(
        "enqueues",
        "Enqueues by type and reason.",
        (r"^Enqueue Activity",),
        (
            Column("enqueue", "text", "type and reason", ("Enqueue Type (Request Reason)",)),
            Column("requests", "count", "requests", ("Requests",)),
            Column("gets", "count", "successful gets", ("Succ Gets",)),
            Column("failures", "count", "failed gets", ("Failed Gets",)),
            Column("waits", "count", "waits", ("Waits",)),
            Column("wait_s", "s", "time waited", ("Wt Time (s)",)),
            Column("avg_wait_ms", "ms", "average wait", ("Av Wt Time(ms)",)),
        ),
        needs=("enqueue", "requests"),
    ),
    Table(
        "library_cache",
        "Library cache by namespace.",
        (r"^Library Cache Activity$",),
        (
            Column("namespace", "text", "namespace", ("Namespace",)),
            Column("gets", "count", "get requests", ("Get Requests",)),
            Column("get_miss_pct", "pct", "share that missed", ("Pct Miss",)),
            Column("pins", "count", "pin requests", ("Pin Requests",)),
            Column("pin_miss_pct", "pct", "share that missed", ("Pct Miss#2",)),
            Column("reloads", "count", "reloads", ("Reloads",)),
            Column("invalidations", "count", "invalidations", ("Invali- dations",)),
            Column("ges_lock_requests", "count", "global lock requests (all instances)", ("GES Lock Requests",)),
            Column("ges_pin_requests", "count", "global pin requests (all instances)", ("GES Pin Requests",)),
            Column("ges_pin_releases", "count", "global pin releases (all instances)", ("GES Pin Releases",)),
            Column("ges_inval_requests", "count", "global invalidation requests", ("GES Inval Requests",)),
            Column("ges_invalidations", "count", "global invalidations (all instances)", ("GES Invali- dations",)),
        ),
        needs=("namespace", "gets"),
    ),
    Table(
        "dictionary_cache",
        "Dictionary cache.",
        (r"^Dictionary Cache Stats$",),
        (
            Column("cache", "text", "cache", ("Cache",)),
            Column("gets", "count", "get requests", ("Get Requests",)),
            Column("get_miss_pct", "pct", "share that missed", ("Pct Miss",)),
            Column("scans", "count", "scan requests", ("Scan Reqs",)),
            Column("scan_miss_pct", "pct", "share that missed", ("Pct Miss#2",)),
            Column("modifications", "count", "modification requests", ("Mod Reqs",)),
            Column("usage", "count", "entries in use", ("Final Usage",)),
        ),
        needs=("cache", "gets"),
    ),
)
