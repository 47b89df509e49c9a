"""Metrics of extended SQL traces: what reads and logical reads cost, reads by object and file, round trips.

The frames are those of `sqltraceparse.SqlTrace`.  A trace prints each wait with its own time, so sums and means are
exact to the microsecond of the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import Metric, metrics_frame, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: Events of one read request each, but for parallel reads, whose waits print their number of requests.
READ_EVENTS: Final = (
    "db file sequential read",
    "db file scattered read",
    "db file parallel read",
    "direct path read",
    "direct path read temp",
    "direct path read (lob)",
    "cell single block physical read",
    "cell multiblock physical read",
    "cell list of blocks physical read",
    "cell smart table scan",
    "cell smart index scan",
    "db flash cache single block physical read",
    "db flash cache multiblock physical read",
)
#: Waits for reads that were submitted before: their time is less than that of the read.
ASYNCHRONOUS: Final = ("direct path read", "direct path read temp", "direct path read (lob)", "cell smart table scan")
_MULTIBLOCK: Final = ("db file scattered read", "cell multiblock physical read")
_TICKS_US: Final = (10_000, 1_000)


def reads_of(waits: pl.DataFrame) -> pl.DataFrame:
    """The waits for reads, the largest sum of times first by event."""
    return waits.filter(pl.col("event").is_in(READ_EVENTS), pl.col("elapsed_us").is_not_null())


def wait_latency(waits: pl.DataFrame) -> pl.DataFrame:
    """Time of one wait of each read event: mean, median, 95th and 99th percentile and maximum.

    Source: the ``ela`` of each wait, in microseconds.

    Limitations: not the time of a read, of direct path reads and smart scans: they are submitted ahead, and a
    session waits only for what is not there yet; of parallel reads: one wait is several requests.

    Args:
        waits: of a `sqltraceparse.SqlTrace`.

    Returns:
        Five rows an event: ``event``, then `METRICS`: ``wait_us_mean``, ``wait_us_p50``, ..., in us.
    """

    def metrics(event: str, own: pl.DataFrame) -> list[Metric]:
        caveat = ""
        if event in ASYNCHRONOUS:
            caveat = "a read may be submitted before its wait begins: a wait is no longer than its read"
        elif event == "db file parallel read":
            requests = own.get_column("requests").mean()
            caveat = f"one wait is {requests:.1f} requests on average" if isinstance(requests, float) else ""
        times = own.get_column("elapsed_us").cast(pl.Duration("us"))
        return spread(times, "wait_us", basis="ela of each wait", caveat=caveat)

    return _by_event(reads_of(waits), metrics)


def wait_sizes(waits: pl.DataFrame, *, block_size: int | None = None) -> pl.DataFrame:
    """Blocks and bytes of one read of each event.

    Source: the parameters of the waits (``blocks``, ``block cnt``, ``requests``, ``bytes``).

    Limitations: a block size that is not that of the file's tablespace; a trace does not print it.

    Args:
        waits: of a `sqltraceparse.SqlTrace`.
        block_size: bytes of a block; without it bytes are refused where the waits do not print them.

    Returns:
        Three rows an event: ``event``, then `METRICS`: ``reads``, ``blocks_per_read``, ``kib_per_read``.
    """

    def metrics(event: str, own: pl.DataFrame) -> list[Metric]:
        del event
        requests, blocks, size = (own.get_column(name) for name in ("requests", "blocks", "bytes"))
        count = int(requests.fill_null(1).sum())
        known = blocks.drop_nulls()
        found = [Metric.exact("reads", count, "reads", "requests of the waits; one a wait where they print none")]
        if known.len():
            of = f"{int(known.sum()):,} blocks / {count:,} reads"
            found.append(Metric.exact("blocks_per_read", float(known.sum()) / count, "blocks", of))
        else:
            found.append(Metric.refused("blocks_per_read", "blocks", "the waits print no number of blocks"))
        if size.drop_nulls().len():
            total = float(size.drop_nulls().sum())
            found.append(Metric.exact("kib_per_read", total / count / 1024, "KiB", "bytes of the waits / reads"))
        elif block_size is not None and known.len():
            kib = float(known.sum()) * block_size / count / 1024
            found.append(Metric.exact("kib_per_read", kib, "KiB", f"blocks * {block_size:,} bytes / reads"))
        else:
            reason = "a trace does not print the block size; give block_size"
            found.append(Metric.refused("kib_per_read", "KiB", reason))
        return found

    return _by_event(reads_of(waits), metrics)


def multiblock_count(waits: pl.DataFrame) -> pl.DataFrame:
    """Blocks of one multiblock read: what became of db_file_multiblock_read_count.

    Source: blocks of the waits for multiblock reads through the cache.

    Limitations: not the parameter: blocks that are cached already, and ends of extents, cut reads short.

    Args:
        waits: of a `sqltraceparse.SqlTrace`.

    Returns:
        ``mbrc_mean`` and ``mbrc_max``, in blocks; refused without a multiblock read whose blocks are printed.
    """
    own = waits.filter(pl.col("event").is_in(_MULTIBLOCK)).get_column("blocks").drop_nulls()
    if own.is_empty():
        return metrics_frame(
            [Metric.refused(name, "blocks", "no multiblock read with its blocks") for name in ("mbrc_mean", "mbrc_max")]
        )
    basis = f"blocks of {own.len():,} multiblock reads"
    return metrics_frame(
        [
            Metric.exact("mbrc_mean", float(own.sum()) / own.len(), "blocks", basis),
            Metric.exact("mbrc_max", float(str(own.max())), "blocks", basis),
        ]
    )


def read_shares(waits: pl.DataFrame) -> pl.DataFrame:
    """How blocks were read: one by one, several at a time through the cache, direct, by smart scan, in parallel.

    Source: blocks of the waits by event.

    Limitations: not shares of all reads: a direct path read that the session did not wait for is no wait.

    Args:
        waits: of a `sqltraceparse.SqlTrace`.

    Returns:
        A row for each way that occurs: ``event``, then `METRICS`: ``block_share``, a ratio.
    """
    own = reads_of(waits).filter(pl.col("blocks").is_not_null())
    total = int(own.get_column("blocks").sum())
    sums = own.group_by("event").agg(pl.col("blocks").sum()).sort("blocks", "event", descending=[True, False])
    basis = f"blocks of the event / {total:,} blocks"
    metrics = [Metric.exact("block_share", blocks / total, "", basis) for _, blocks in sums.iter_rows()]
    return metrics_frame(metrics, event=sums.get_column("event"))


def us_per_get(calls: pl.DataFrame) -> pl.DataFrame:
    """CPU of one logical read: own CPU of executions and fetches over their own consistent and current gets.

    Calls without a get are left out, and parses: their CPU is not that of reading blocks.

    Source: c, cr and cu of each call, without those of the calls below it.

    Limitations: where rows are sorted, joined, aggregated or sent in great number: that CPU is in it.

    Args:
        calls: of a `sqltraceparse.SqlTrace`.

    Returns:
        ``us_per_get``, in us; refused without gets.  Where the kernel counts CPU in steps, the caveat says so.
    """
    own = calls.with_columns(gets=pl.col("own_consistent_gets") + pl.col("own_current_gets")).filter(
        pl.col("op").is_in(["EXEC", "FETCH"]), pl.col("gets") > 0
    )
    gets, cpu = int(own.get_column("gets").sum()), int(own.get_column("own_cpu_us").sum())
    if not gets:
        return metrics_frame([Metric.refused("us_per_get", "us", "no call with a get")])
    caveats = ["row work is in it"]
    if (step := cpu_step(calls)) > 1:
        caveats.append(f"the host counts CPU in steps of about {step:,} us")
    reads = int(own.get_column("own_disk_blocks").sum())
    if reads:
        caveats.append(f"{reads:,} of the blocks {'was' if reads == 1 else 'were'} read from disk")
    basis = f"own CPU {cpu:,} us / {gets:,} gets of {own.height:,} calls"
    return metrics_frame([Metric.exact("us_per_get", cpu / gets, "us", basis, "; ".join(caveats))])


def cpu_step(calls: pl.DataFrame) -> int:
    """The step in which the host counts the CPU of calls, in us; 1 where it counts microseconds.

    Examples:
        >>> cpu_step(pl.DataFrame({"cpu_us": [0, 1000, 999, 4999, 2000]})), cpu_step(pl.DataFrame({"cpu_us": [17]}))
        (1000, 1)
    """
    cpu = calls.get_column("cpu_us").drop_nulls()
    cpu = cpu.filter(cpu > 1)
    for step in _TICKS_US:
        rest = cpu % step
        if cpu.len() >= 3 and bool(((rest <= cpu // step + 1) | (rest >= step - cpu // step - 1)).all()):
            return step
    return 1


def rows_per_fetch(calls: pl.DataFrame) -> pl.DataFrame:
    """Rows of one fetch: the array size that the client uses, and its round trips.

    Source: r of each FETCH of depth 0.

    Limitations: not the array size, where most fetches are the last of their query.

    Args:
        calls: of a `sqltraceparse.SqlTrace`.

    Returns:
        ``rows_per_fetch`` and ``array_size`` (the most rows of one fetch), in rows; refused without a fetch.
    """
    rows = calls.filter(pl.col("op") == "FETCH", pl.col("depth") == 0).get_column("rows").drop_nulls()
    if rows.is_empty():
        names = ("rows_per_fetch", "array_size")
        return metrics_frame([Metric.refused(name, "rows", "no fetch of depth 0") for name in names])
    basis = f"{int(rows.sum()):,} rows / {rows.len():,} fetches"
    return metrics_frame(
        [
            Metric.exact("rows_per_fetch", float(rows.sum()) / rows.len(), "rows", basis),
            Metric.exact("array_size", float(str(rows.max())), "rows", "the most rows of one fetch"),
        ]
    )


def _by_event(reads: pl.DataFrame, metrics: Callable[[str, pl.DataFrame], list[Metric]]) -> pl.DataFrame:
    """Metrics of each event, the one with the longest time first."""
    order = (
        reads.group_by("event").agg(pl.col("elapsed_us").sum()).sort("elapsed_us", "event", descending=[True, False])
    )
    names: list[str] = []
    found: list[Metric] = []
    for event in order.get_column("event"):
        own = metrics(event, reads.filter(pl.col("event") == event))
        found += own
        names += [event] * len(own)
    return metrics_frame(found, event=pl.Series(names, dtype=pl.String))


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
