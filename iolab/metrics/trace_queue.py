"""The queue of a trace: requests outstanding over time, and Little's law as a check of them.

Depth, rate and latency of the same requests must be of one queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import REFUSED, SET_BACK, Metric, is_set_back, metrics_frame
from iolab.metrics.trace_reads import file_or_fd, hidden_requests, is_data_read, is_data_request
from straceparse.call_table import HIDDEN
from straceparse.ordered import rows_where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iolab.metrics.trace_reads import Op

#: From this relative difference on the three figures are not of the same requests.
MOST_OFF: Final = 0.2
_METRICS: Final = (("depth_mean", "requests"), ("depth_expected", "requests"), ("littles_law_ratio", "ratio"))
_HIDDEN: Final = f"{REFUSED}io_uring carried requests that strace does not show"
#: Columns of `depth_by_file`.
QUEUES: Final = pl.Schema(
    {
        "file": pl.String(),
        "op": pl.String(),
        "requests": pl.UInt32(),
        "depth_max": pl.Int64(),
        "depth_mean": pl.Float64(),
    }
)
_DESCRIPTOR: Final = ["file", "fd", "op"]
_HAS_END: Final = (pl.col("mode") == "async") | pl.col("completed").is_not_null()


def queue_depth(requests: pl.DataFrame) -> pl.DataFrame:
    """Reads of data outstanding over time, submitted and not yet reaped; of a log without reads its writes.

    A request that was submitted before the log began is outstanding from its start on; one whose completion is not in
    the log, to its end.  Synchronous requests count where ``-T`` shows their end.

    Source: io_submit(2) and io_getevents(2): submitted minus reaped.

    Limitations: not the depth at the device: what is reaped late was done earlier, and without O_DIRECT
    the kernel may read within the submission.

    Args:
        requests: what `straceparse.io_requests` gives.

    Returns:
        ``at`` (Duration since the log's first stamp) and ``depth`` (Int64) from then on, one row a change, in order.
    """
    return (
        _changes(requests)
        .sort("at")
        .select("at", depth=pl.col("change").cast(pl.Int64).cum_sum())
        .filter(pl.col("at").ne_missing(pl.col("at").shift(-1)))  # all changes of a moment together
        .filter((pl.col("depth") != pl.col("depth").shift(1)).fill_null(value=True))
    )


def _is_counted(requests: pl.DataFrame) -> pl.Expr:
    """Requests of one direction that are outstanding for a time that the log may show."""
    is_read = is_data_read(requests)
    is_own = is_read if requests.select(is_read.any()).item() else is_data_request(requests, "write")
    return is_own & _HAS_END & ~pl.col("syscall").is_in(HIDDEN)


def _changes(requests: pl.DataFrame) -> pl.DataFrame:
    """When the number of requests outstanding changed, and by how many."""
    has_moment = pl.any_horizontal(pl.col("submitted", "completed").is_not_null())
    is_counted = requests.select(_is_counted(requests) & has_moment).to_series()
    counted = rows_where(requests.select("submitted", "completed"), is_counted)
    zero = pl.lit(0, pl.Duration("ns"))
    begun = counted.select(at=pl.col("submitted").fill_null(zero), change=pl.lit(1, pl.Int8))
    ended = counted.select(at="completed", change=pl.lit(-1, pl.Int8)).drop_nulls("at")
    return pl.concat([begun, ended])


def depth(requests: pl.DataFrame, *, curve: pl.DataFrame | None = None) -> pl.DataFrame:
    """How many requests were outstanding: the most, and the mean over time.

    Source: as of `queue_depth`.

    Limitations: as for `queue_depth`: the device may have had fewer.

    Args:
        requests: what `straceparse.io_requests` gives.
        curve: what `queue_depth` gives of them, where it is known.

    Returns:
        Two rows (`METRICS`): ``depth_max`` and ``depth_mean``, in requests.  Refused where the log has no asynchronous
        request, and no ``-T``, and where its clock was set back.
    """
    curve = queue_depth(requests) if curve is None else curve
    basis = "submitted and not yet reaped, weighted by time"
    set_back = is_set_back(requests, "submitted")
    hidden = hidden_requests(requests)
    if set_back or hidden or curve.height < 2:
        shown = _HIDDEN if hidden else f"{REFUSED}the log shows no time during which a request was outstanding"
        refused = SET_BACK if set_back else shown
        return metrics_frame(
            [Metric(name, None, None, None, "requests", basis, refused) for name in ("depth_max", "depth_mean")]
        )
    most = float(curve.get_column("depth").max())  # type: ignore[arg-type]
    area, window = _area(curve)
    mean = area / window
    caveat = "reaped late is done earlier: the device had fewer"
    return metrics_frame(
        [
            Metric("depth_max", most, None, most, "requests", basis, caveat),
            Metric("depth_mean", mean, None, mean, "requests", basis, caveat),
        ]
    )


def _area(curve: pl.DataFrame) -> tuple[int, int]:
    """The area below the curve of requests outstanding, in nanoseconds, and its length."""
    at = curve.get_column("at").dt.total_nanoseconds()
    return int((curve.get_column("depth").head(-1) * at.diff().drop_nulls()).sum()), int(at[-1] - at[0])


def depth_by_file(requests: pl.DataFrame) -> pl.DataFrame:
    """Requests outstanding at a time, for each file and direction.

    Source: as of `queue_depth`.

    Limitations: as for `queue_depth`; a file that several processes use has the requests of all.

    Args:
        requests: what `straceparse.io_requests` gives.

    Returns:
        The columns `QUEUES`, those with most requests first: ``depth_max``; ``depth_mean``: by time, while a request of
        the file was outstanding.  Empty where the clock was set back, or io_uring carried requests.

    Examples:
        >>> from straceparse import calls, io_requests, read_strace
        >>> log = b'''1.000000 pread64(3</u01/a.dbf>, "", 8192, 0) = 8192 <0.000400>
        ... 1.000500 pread64(3</u01/a.dbf>, "", 8192, 8192) = 8192 <0.000400>'''
        >>> depth_by_file(io_requests(calls(read_strace(log)))).row(0)
        ('/u01/a.dbf', 'read', 2, 1, 1.0)
    """
    if is_set_back(requests, "submitted") or hidden_requests(requests):
        return pl.DataFrame(schema=QUEUES)
    own = pl.concat(_spans(requests, op) for op in ("read", "write"))
    if own.is_empty():
        return pl.DataFrame(schema=QUEUES)
    names = own.group_by("file", "fd", "op").agg(requests=pl.len()).with_columns(name=file_or_fd())
    # a number for each file and direction; changes in its order add up to 0 for each of them
    names = names.with_columns(key=pl.struct("name", "op").rank("dense").cast(pl.UInt32))
    own = own.join(names.select("key", *_DESCRIPTOR), on=_DESCRIPTOR, how="left", nulls_equal=True)
    begun = own.select("key", at=pl.col("submitted").to_physical(), change=pl.lit(1, pl.Int8))
    ended = own.select("key", at=pl.col("completed").to_physical(), change=pl.lit(-1, pl.Int8))
    # two sorts by one column take a quarter of the time of one by two
    curve = (
        pl.concat([begun, ended])
        .sort("at")
        .sort("key", maintain_order=True)
        .with_columns(depth=pl.col("change").cast(pl.Int64).cum_sum())
    )
    is_same = (pl.col("key") == pl.col("key").shift(-1)).fill_null(value=False)
    # all changes of a moment together: the last of them has the depth from then on
    curve = curve.filter((~is_same | (pl.col("at") != pl.col("at").shift(-1))).fill_null(value=True))
    curve = curve.with_columns(time=pl.when(is_same).then(pl.col("at").shift(-1) - pl.col("at")).otherwise(0))
    busy = pl.col("time").filter(pl.col("depth") > 0).sum()
    depths = curve.group_by("key").agg(
        depth_max=pl.col("depth").max(),
        depth_mean=pl.when(busy > 0).then((pl.col("depth") * pl.col("time")).sum() / busy),
    )
    found = names.group_by("key", "op", file="name").agg(pl.col("requests").sum()).join(depths, on="key")
    found = found.filter(pl.col("depth_max") > 0).sort("requests", "file", "op", descending=[True, False, False])
    return found.select(pl.col(name).cast(kind) for name, kind in QUEUES.items())


def _spans(requests: pl.DataFrame, op: Op) -> pl.DataFrame:
    """The requests of data of one direction of which both ends are known."""
    has_both = pl.col("submitted").is_not_null() & pl.col("completed").is_not_null()
    is_own = requests.select(is_data_request(requests, op) & has_both).to_series()
    return rows_where(requests.select("file", "fd", "submitted", "completed"), is_own).with_columns(op=pl.lit(op))


def littles_law(requests: pl.DataFrame, *, curve: pl.DataFrame | None = None) -> pl.DataFrame:
    """The mean depth of the queue, and the depth that rate x latency give: two ways to one figure.

    The depth is the area below the curve of outstanding requests over its length; the rate is the requests of that
    time, the latency the mean of those whose end the log shows.  Where the ratio of the two is off by more than 20 %
    requests are missing, matched wrongly, or their latency is not the time that they were outstanding (``-r`` gives
    gaps): then neither rate, depth nor latency of the trace is to be used alone, and the caveat says so.

    Source: Little, A proof for the queuing formula L = lambda W (1961).

    Limitations: as a proof that the latencies are right: errors in both ways agree with each other.

    Args:
        requests: what `straceparse.io_requests` gives.
        curve: what `queue_depth` gives of them, where it is known.

    Returns:
        Three rows (`METRICS`): ``depth_mean`` and ``depth_expected`` in requests, ``littles_law_ratio``, their ratio.
        Refused where the log does not show when requests began and ended, and where its clock was set back.

    Examples:
        >>> second = 10**9
        >>> reads = pl.DataFrame({"line": [1, 2], "pid": [1, 1], "op": ["read"] * 2, "mode": ["async"] * 2,
        ...     "syscall": ["io_submit"] * 2, "requests": 1, "file": "a", "target": "file", "match": "data",
        ...     "bytes_transferred": 8192, "bytes_requested": 8192, "is_printed": True, "errno": None,
        ...     "submitted": [0, second], "completed": [2 * second, 4 * second], "latency": [2 * second, 3 * second]})
        >>> reads = reads.with_columns(pl.col("submitted", "completed", "latency").cast(pl.Duration("ns")))
        >>> littles_law(reads).select("metric", "value").rows()
        [('depth_mean', 1.25), ('depth_expected', 1.25), ('littles_law_ratio', 1.0)]
    """
    if is_set_back(requests, "submitted"):
        return _refused(SET_BACK)
    if hidden_requests(requests):
        return _refused(_HIDDEN)
    curve = queue_depth(requests) if curve is None else curve
    if curve.height < 2:
        return _refused(f"{REFUSED}the log shows no time during which a request was outstanding")
    area, window = _area(curve)
    counted = requests.filter(_is_counted(requests)).select("latency")
    timed = counted.get_column("latency").drop_nulls().dt.total_nanoseconds()
    if timed.is_empty() or not window or not area:
        return _refused(f"{REFUSED}the log does not show how long a request took")
    mean, latency = area / window, float(timed.sum()) / timed.len()
    expected = counted.height * latency / window
    ratio = expected / mean
    basis = f"{counted.height} requests in {window / 1e9:.6g} s, {timed.len()} of {latency / 1e3:,.6g} us on average"
    said = (
        "depth, rate and latency agree"
        if abs(ratio - 1) <= MOST_OFF
        else f"depth, rate and latency are not of the same requests: off by {abs(ratio - 1):.0%}; use none alone"
    )
    return _rows((mean, expected, ratio), basis, said)


def _rows(values: Sequence[float], basis: str, caveat: str) -> pl.DataFrame:
    return metrics_frame(
        Metric(name, value, None, None, unit, basis, caveat)
        for (name, unit), value in zip(_METRICS, values, strict=True)
    )


def _refused(reason: str) -> pl.DataFrame:
    return metrics_frame(
        Metric(name, None, None, None, unit, "depth = rate x latency", reason) for name, unit in _METRICS
    )
