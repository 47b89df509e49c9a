"""Little's law as a check of a trace: depth, rate and latency of the same requests must be of one queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import REFUSED, Metric, metrics_frame
from iolab.metrics.times import SET_BACK, is_set_back
from iolab.metrics.trace_reads import queue_depth

if TYPE_CHECKING:
    from collections.abc import Sequence

#: From this relative difference on the three figures are not of the same requests.
MOST_OFF: Final = 0.2
_METRICS: Final = (("depth_mean", "requests"), ("depth_expected", "requests"), ("littles_law_ratio", "ratio"))


def littles_law(requests: pl.DataFrame) -> pl.DataFrame:
    """The mean depth of the queue, and the depth that rate x latency give: two ways to one figure.

    The depth is the area below the curve of outstanding requests over its length; the rate is the requests of that
    time, the latency the mean of those whose end the log shows.  Where the ratio of the two is off by more than 20 %
    requests are missing, matched wrongly, or their latency is not the time that they were outstanding (``-r`` gives
    gaps): then neither rate, depth nor latency of the trace is to be used alone, and the caveat says so.

    Source: Little, A proof for the queuing formula L = lambda W (1961).

    Limitations: as a proof that the latencies are right: errors in both ways agree with each other.

    Args:
        requests: what `straceparse.io_requests` gives.

    Returns:
        Three rows (`METRICS`): ``depth_mean`` and ``depth_expected`` in requests, ``littles_law_ratio``, their ratio.
        Refused where the log does not show when requests began and ended, and where its clock was set back.

    Examples:
        >>> second = 10**9
        >>> reads = pl.DataFrame({"line": [1, 2], "pid": [1, 1], "op": ["read"] * 2, "mode": ["async"] * 2,
        ...     "submitted": [0, second], "completed": [2 * second, 4 * second], "latency": [2 * second, 3 * second]})
        >>> reads = reads.with_columns(pl.col("submitted", "completed", "latency").cast(pl.Duration("ns")))
        >>> littles_law(reads).select("metric", "value").rows()
        [('depth_mean', 1.25), ('depth_expected', 1.25), ('littles_law_ratio', 1.0)]
    """
    if is_set_back(requests, "submitted"):
        return _refused(SET_BACK)
    curve = queue_depth(requests)
    if curve.height < 2:
        return _refused(f"{REFUSED}the log shows no time during which a request was outstanding")
    at = curve.get_column("at").dt.total_nanoseconds()
    window = int(at[-1] - at[0])
    area = int((curve.get_column("depth").head(-1) * at.diff().drop_nulls()).sum())
    counted = requests.filter(
        pl.col("op").cast(pl.String).is_in(["read", "write", "other"])
        & ((pl.col("mode").cast(pl.String) == "async") | pl.col("completed").is_not_null())
    )
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
