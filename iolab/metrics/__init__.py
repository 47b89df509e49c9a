"""Metrics: what the frames of the parsers say about reads, with bounds, a basis and caveats.

Every function gives a frame with the columns `METRICS`; some put a column before them that names what the row is
about (``event``, ``wait_class``, ``syscall``, ``file``, ``mode``, ``pid``).  ``value`` lies within ``lo`` and ``hi``,
which hold all that the rounding of the printed figures allows.  A metric that its inputs contradict is refused: its
value is null, and its ``caveats`` begin with "refused:" and give the reason.

    spool = sqlplusparse.read_spool("flash.log")
    iolab.metrics.read_metrics(spool)

* from session statistics, autotrace and timings: `read_metrics` (all at once), `ms_per_flash_read`, `flash_hit_ratio`,
  `read_size`, `blocks_per_read`, `block_size`, `throughput`, `iops`, `direct_share`, `smart_scan_saving`; `us_per_lio`,
  `pio_lio_factor`, `lio_share`, `rows_per_trip`; `time_change`, `rank_correlation`; `statement_costs` of each
* from AWR and Statspack reports: `average_waits`, `total_waits`, `db_time`, `elapsed`, `rate`, `per_transaction`,
  `average_active_sessions`, `class_shares`, `class_times`, `latency_quantiles`, `latency_buckets`, `waits_within`,
  `contradictions`; `io_by_function`, `commit_times`, `multiblock_reads`, `pareto`, `modes_of`; of Exadata cells
  `cell_reads`, `cell_disks`; of samples `ash_shares`,
  `ash_samples`, `never_seen`
* from strace logs: `read_sizes`, `read_rate`, `read_latency`, `sequentiality`, `queue_depth`, `depth`,
  `depth_by_file`, `littles_law` of I/O requests;
  `call_gaps`, `call_times`, `submit_cost`, `time_shares`, `database_waits` of calls
* from extended SQL traces: `wait_latency`, `wait_sizes`, `multiblock_count`, `read_shares`, `us_per_get`,
  `rows_per_fetch`; `reads_of`, `cpu_step`
* from samples of sessions: `session_shares`; of a host: `host_cpu`, `cpu_samples`
* to compute with: `Interval`, `intersect`, `statistic`, `elapsed_of`, `figure_of`
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.metrics.ash import ash_samples, ash_shares, never_seen, session_shares
    from iolab.metrics.awr import (
        average_waits,
        class_shares,
        class_times,
        contradictions,
        db_time,
        elapsed,
        total_waits,
    )
    from iolab.metrics.correlation import rank_correlation
    from iolab.metrics.histograms import latency_buckets, latency_quantiles, waits_within
    from iolab.metrics.lookups import (
        db_time_of,
        elapsed_of,
        lio_cost,
        lio_share,
        pio_lio_factor,
        read_metrics,
        rows_per_trip,
        statistic,
        time_change,
        us_per_lio,
    )
    from iolab.metrics.processors import cpu_samples, host_cpu
    from iolab.metrics.reads import (
        average_active_sessions,
        block_size,
        blocks_per_read,
        direct_share,
        flash_hit_ratio,
        iops,
        ms_per_flash_read,
        per_transaction,
        rate,
        read_size,
        smart_scan_saving,
        throughput,
    )
    from iolab.metrics.report_io import (
        cell_disks,
        cell_reads,
        commit_times,
        io_by_function,
        modes_of,
        multiblock_reads,
        pareto,
    )
    from iolab.metrics.spool_statements import statement_costs
    from iolab.metrics.sql_trace import (
        cpu_step,
        multiblock_count,
        read_concurrency,
        read_shares,
        reads_by,
        reads_of,
        round_trips,
        rows_per_fetch,
        us_per_get,
        wait_latency,
        wait_sizes,
    )
    from iolab.metrics.table import METRICS, Metric, figure_of, metrics_frame
    from iolab.metrics.trace_calls import call_gaps, call_times, database_waits, submit_cost, time_shares
    from iolab.metrics.trace_queue import QUEUES, depth, depth_by_file, littles_law, queue_depth
    from iolab.metrics.trace_reads import (
        data_reads,
        flush_count,
        read_latency,
        read_rate,
        read_sizes,
        sequentiality,
        write_sizes,
    )
    from iolab.metrics.trace_writes import WRITES_BY_FILE, writes_by_file
    from logframe.errors import RefusedError
    from logframe.interval import Interval, intersect

__all__ = [
    "METRICS",
    "QUEUES",
    "WRITES_BY_FILE",
    "Interval",
    "Metric",
    "RefusedError",
    "ash_samples",
    "ash_shares",
    "average_active_sessions",
    "average_waits",
    "block_size",
    "blocks_per_read",
    "call_gaps",
    "call_times",
    "cell_disks",
    "cell_reads",
    "class_shares",
    "class_times",
    "commit_times",
    "contradictions",
    "cpu_samples",
    "cpu_step",
    "data_reads",
    "database_waits",
    "db_time",
    "db_time_of",
    "depth",
    "depth_by_file",
    "direct_share",
    "elapsed",
    "elapsed_of",
    "figure_of",
    "flash_hit_ratio",
    "flush_count",
    "host_cpu",
    "intersect",
    "io_by_function",
    "iops",
    "latency_buckets",
    "latency_quantiles",
    "lio_cost",
    "lio_share",
    "littles_law",
    "metrics_frame",
    "modes_of",
    "ms_per_flash_read",
    "multiblock_count",
    "multiblock_reads",
    "never_seen",
    "pareto",
    "per_transaction",
    "pio_lio_factor",
    "queue_depth",
    "rank_correlation",
    "rate",
    "read_concurrency",
    "read_latency",
    "read_metrics",
    "read_rate",
    "read_shares",
    "read_size",
    "read_sizes",
    "reads_by",
    "reads_of",
    "round_trips",
    "rows_per_fetch",
    "rows_per_trip",
    "sequentiality",
    "session_shares",
    "smart_scan_saving",
    "statement_costs",
    "statistic",
    "submit_cost",
    "throughput",
    "time_change",
    "time_shares",
    "total_waits",
    "us_per_get",
    "us_per_lio",
    "wait_latency",
    "wait_sizes",
    "waits_within",
    "write_sizes",
    "writes_by_file",
]

__getattr__, __dir__ = lazy_exports(__name__)
