"""Metrics of extended SQL traces: reads by object and file, reads in progress at a time, and round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.sql_trace import ASYNCHRONOUS, reads_of
from iolab.metrics.table import Metric, metrics_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

_FROM_CLIENT: Final = "SQL*Net message from client"
_PARALLEL_READ: Final = "db file parallel read"


def reads_by(waits: pl.DataFrame, *, by: Sequence[str] = ("object_id",), block_size: int | None = None) -> pl.DataFrame:
    """The reads of each object, or file: what was waited for, in sums that are exact to the clock.

    Source: the waits for reads (`iolab.metrics.reads_of`) and their ``obj#``, ``file#``, ``blocks``.

    Limitations: not all reads of an object: a direct path read that the session did not wait for is no wait; ``obj#``
    may be that of the read before where the database did not know a new one.

    Args:
        waits: of a `sqltraceparse.SqlTrace`.
        by: columns of the waits: ``object_id``, ``file_id``, ``event``, ``sql_id``.
        block_size: bytes of a block; without it ``bytes`` is null where the waits do not print them.

    Returns:
        One row a value of `by`, the longest time first: ``waits``, ``requests``, ``blocks`` (null where no wait prints
        them), ``bytes``, ``time_s``, ``share_pct`` of the time of all waits for reads, ``mean_us``, ``p95_us`` and
        ``max_us`` of one wait.  An ``object_id`` of 0 or below is no object, and null.

    Examples:
        >>> import sqltraceparse
        >>> log = b"WAIT #1: nam='db file sequential read' ela= 40 file#=7 block#=2 blocks=1 obj#=52 tim=1050"
        >>> waits = sqltraceparse.read_sqltrace(log).waits
        >>> reads_by(waits, block_size=8192).select("object_id", "blocks", "bytes", "mean_us").row(0)
        (52, 1, 8192, 40.0)
    """
    reads = reads_of(waits).with_columns(object_id=pl.when(pl.col("object_id") > 0).then("object_id"))
    elapsed, total = pl.col("elapsed_us"), int(reads.get_column("elapsed_us").sum())
    size = pl.col("bytes") if block_size is None else pl.coalesce("bytes", pl.col("blocks") * block_size)
    is_known = size.is_not_null().all()

    def summed(column: pl.Expr) -> pl.Expr:
        return pl.when(column.is_not_null().any()).then(column.sum())

    found = reads.group_by(by).agg(
        waits=pl.len().cast(pl.Int64),
        requests=pl.col("requests").fill_null(1).sum(),
        blocks=summed(pl.col("blocks")),
        bytes=pl.when(is_known).then(size.sum()),
        time_s=elapsed.sum() / 1e6,
        share_pct=100 * elapsed.sum() / total if total else pl.lit(None, pl.Float64),
        mean_us=elapsed.mean(),
        p95_us=elapsed.quantile(0.95, "equiprobable"),
        max_us=elapsed.max(),
    )
    return found.sort("time_s", *by, descending=[True, *(False for _ in by)])


def read_concurrency(waits: pl.DataFrame) -> pl.DataFrame:
    """Reads in progress at a time: of several processes by their overlapping waits, of one by its parallel reads.

    Source: start and end of each wait for a read by the wall clock; ``requests`` of ``db file parallel read``.

    Limitations: not the depth of direct path reads: they are submitted ahead, and a trace does not print how many; of
    several processes only those whose traces are in the log.

    Args:
        waits: of a `sqltraceparse.SqlTrace`: a merged trace of parallel processes (``trcsess``), or of one.

    Returns:
        ``read_depth_mean`` (over the time in which a read was in progress) and ``read_depth_max``, in waits, refused
        of one process, which waits for one read at a time, and where a clock is not known;
        ``requests_per_parallel_read``, in requests, refused without such a wait.

    Examples:
        >>> import sqltraceparse
        >>> log = b"WAIT #1: nam='db file parallel read' ela= 90 files=1 blocks=5 requests=5 obj#=9 tim=200"
        >>> read_concurrency(sqltraceparse.read_sqltrace(log).waits).select("metric", "value").rows()[2]
        ('requests_per_parallel_read', 5.0)
    """
    reads = reads_of(waits)
    requests = reads.filter(pl.col("event") == _PARALLEL_READ).get_column("requests").drop_nulls()
    if requests.is_empty():
        parallel = Metric.refused("requests_per_parallel_read", "requests", f"no wait for {_PARALLEL_READ}")
    else:
        basis = f"{int(requests.sum()):,} requests / {requests.len():,} waits"
        value = float(requests.sum()) / requests.len()
        parallel = Metric.exact("requests_per_parallel_read", value, "requests", basis)
    return metrics_frame([*_depths(reads), parallel])


def _depths(reads: pl.DataFrame) -> list[Metric]:
    """Mean and largest number of waits in progress."""
    names = ("read_depth_mean", "read_depth_max")
    timed = reads.filter(pl.col("elapsed_us") > 0)
    processes = timed.get_column("process").n_unique()
    reason = ""
    if processes < 2:
        reason = "one process waits for one read at a time"
        if timed.get_column("event").is_in(ASYNCHRONOUS).any():
            reason += "; how many direct path reads it has submitted, a trace does not print"
    elif timed.get_column("wall").null_count():
        reason = "the wall clock of a process is not known: its stamps are missing"
    if reason:
        return [Metric.refused(name, "waits", reason) for name in names]
    end = pl.col("wall").dt.epoch("us")
    edges = pl.concat(
        [
            timed.select(at=end - pl.col("elapsed_us"), step=pl.lit(1)),
            timed.select(at=end, step=pl.lit(-1)),
        ]
    )
    depths = (
        edges.group_by("at").agg(pl.col("step").sum()).sort("at").select("at", depth=pl.col("step").cum_sum())
    ).with_columns(length=pl.col("at").shift(-1) - pl.col("at"))
    busy = int(depths.filter(pl.col("depth") > 0).get_column("length").sum())
    total = int(timed.get_column("elapsed_us").sum())
    basis = f"{total:,} us of waits / {busy:,} us with a read in progress, {processes:,} processes"
    caveats = "the clocks of the processes are aligned by their stamps"
    if timed.get_column("event").is_in(ASYNCHRONOUS).any():
        caveats += "; a wait for direct path reads is one, however many were submitted"
    largest = float(str(depths.get_column("depth").max()))
    return [
        Metric.exact(names[0], total / busy, "waits", basis, caveats),
        Metric.exact(names[1], largest, "waits", "the most waits for reads in progress", caveats),
    ]


def round_trips(calls: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    r"""Round trips to the client, and the rows that each brought.

    Source: waits for ``SQL*Net message from client``, one a round trip; r of the FETCHes of depth 0.

    Limitations: where a program on the server is the client (jobs, PL/SQL): it makes no round trips; round trips that
    bring no rows (commits, DML) are among them.

    Args:
        calls: of a `sqltraceparse.SqlTrace`.
        waits: of the same.

    Returns:
        ``round_trips``; ``rows_per_round_trip``, in rows; ``client_ms_per_round_trip``: the client and the network, in
        ms; refused without a round trip.

    Examples:
        >>> import sqltraceparse
        >>> trace = sqltraceparse.read_sqltrace(
        ...     b"FETCH #1:c=2,e=6,p=0,cr=2,cu=0,mis=0,r=15,dep=0,og=1,plh=9,tim=1060\n"
        ...     b"WAIT #1: nam='SQL*Net message from client' ela= 500 driver id=1 #bytes=1 p3=0 obj#=-1 tim=1600"
        ... )
        >>> round_trips(trace.calls, trace.waits).select("metric", "value").rows()
        [('round_trips', 1.0), ('rows_per_round_trip', 15.0), ('client_ms_per_round_trip', 0.5)]
    """
    trips = waits.filter(pl.col("event") == _FROM_CLIENT, pl.col("elapsed_us").is_not_null())
    units = {"round_trips": "round trips", "rows_per_round_trip": "rows", "client_ms_per_round_trip": "ms"}
    if trips.is_empty():
        return metrics_frame(
            [Metric.refused(name, unit, f"no wait for {_FROM_CLIENT}") for name, unit in units.items()]
        )
    rows = int(calls.filter(pl.col("op") == "FETCH", pl.col("depth") == 0).get_column("rows").sum())
    spent = int(trips.get_column("elapsed_us").sum())
    figures = (
        (trips.height, f"waits for {_FROM_CLIENT}"),
        (rows / trips.height, f"{rows:,} rows / {trips.height:,} round trips"),
        (spent / trips.height / 1000, f"{spent:,} us / {trips.height:,} round trips"),
    )
    return metrics_frame(
        [
            Metric.exact(name, value, unit, basis)
            for (name, unit), (value, basis) in zip(units.items(), figures, strict=True)
        ]
    )
