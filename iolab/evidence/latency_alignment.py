"""How long single-block reads took by a report's histogram, beside the calls that a trace of one process timed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics.histograms import latency_quantiles
from iolab.metrics.trace_reads import data_reads
from logframe.errors import RefusedError
from logframe.extras import require

if TYPE_CHECKING:
    from awrparse import AwrReport
    from logframe import Source

#: Columns of `align_latency`.
LATENCIES: Final = pl.Schema(
    {"quantile": pl.String(), "unit": pl.String()}
    | dict.fromkeys(("database_lo", "database_hi", "trace", "trace_ci_lo", "trace_ci_hi"), pl.Float64())
    | {"verdict": pl.String(), "explanation": pl.String()}
)
_EVENT: Final = "db file sequential read"
#: Fewer reads have no 95th percentile to compare.
_LEAST_READS: Final = 30
_TAIL: Final = 0.025
_EXPLAINED: Final = {
    "agrees": "",
    "shorter": "other sessions waited longer than this process, or in other minutes of the period; a wait also holds "
    "what the database adds to its call",
    "longer": "a wait cannot be shorter than its call: strace itself makes calls longer, the traced process or its "
    "files are slower than the rest, or it is no session of this instance",
}


def align_latency(report: AwrReport | Source, requests: pl.DataFrame, *, block_size: int = 8192) -> pl.DataFrame:
    """Quantiles of single-block reads: the bucket of the report's histogram, and that of the calls in a trace.

    The report has all sessions of its instance for its period, the trace one process while it was attached: reads of
    one storage should be of one bucket, and where they are not the process was not like the rest.  That both are of
    one host and time is to be established before (`iolab.comparison.pair` does).

    Source: the histogram of `db file sequential read`; the times of strace -T; the 95 % interval of a quantile by order
    statistics (Conover, Practical Nonparametric Statistics, 1999).

    Args:
        report: what `awrparse.read_awr` gives.
        requests: what `straceparse.io_requests` gives; `iolab.metrics.data_reads` is applied here.
        block_size: bytes in a block of the database.

    Returns:
        The columns `LATENCIES`, a row a quantile (p50, p95, p99): the edges of the report's bucket (null where it is
        open), the trace's quantile with its 95 % interval, and a ``verdict``: `agrees` (the interval meets the
        bucket), `shorter` or `longer` (of the trace), with causes to look for.

    Raises:
        RefusedError: The report has no histogram of the event, or the trace times fewer than 30 such reads.
    """
    report = as_log(report, "awr")
    if "event_histogram" not in report:
        raise RefusedError("the report has no histogram of waits")
    buckets = latency_quantiles(report.with_bounds("event_histogram"), events=[_EVENT])
    known = buckets.filter(pl.col("value").is_not_null())
    if known.is_empty():
        why = buckets.get_column("caveats").to_list()
        raise RefusedError(f"the report has no histogram of `{_EVENT}`" + (f": {why[0]}" if why else ""))
    reads = data_reads(requests).filter(
        pl.col("bytes_transferred") == block_size, pl.col("mode") == "sync", pl.col("latency").is_not_null()
    )
    times = reads.select(pl.col("latency").dt.total_nanoseconds() / 1000).to_series().sort()
    times = times.filter(times >= 0)  # below zero, the clock was set back
    if times.len() < _LEAST_READS:
        raise RefusedError(
            f"the trace times {times.len()} synchronous reads of {block_size:,} bytes; "
            f"{_LEAST_READS} are needed, and strace -T times them"
        )
    binomial = require("scipy.stats").binom
    rows = []
    for row in known.iter_rows(named=True):
        name = row["metric"].removeprefix("wait_us_")
        share = int(name.removeprefix("p")) / 100
        first, last = (int(binomial.ppf(tail, times.len(), share)) for tail in (_TAIL, 1 - _TAIL))
        low, high = times[max(first - 1, 0)], times[last] if last < times.len() else None
        verdict = "agrees"
        if row["hi"] is not None and low > row["hi"]:
            verdict = "longer"
        elif high is not None and high < row["lo"]:
            verdict = "shorter"
        figures = (row["lo"], row["hi"], times.quantile(share, "higher"), low, high)
        rows.append((name, "us", *figures, verdict, _EXPLAINED[verdict]))
    return pl.DataFrame(rows, schema=LATENCIES, orient="row")
