"""Charts of strace logs over time: requests outstanding."""

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import MAX_POINTS, need, shorten, whole_ticks


@vega.chart
def queue_depth(curve: pl.DataFrame, *, title: str = "Requests outstanding") -> vega.Chart:
    """How many requests were submitted and not yet reaped, over time.

    What to read from it: a line at 1 is a process that waits for each read before it asks for the next; two or more is
    asynchronous reading, and zero between peaks is time in which the process computed and the device had nothing to do.

    Args:
        curve: What `iolab.metrics.queue_depth` gives: ``at``, ``depth``.
        title: The heading.

    Longer logs are drawn as the most that were outstanding in each of 500 intervals.

    Raises:
        ChartError: If a column is missing or the log shows no outstanding request.

    Examples:
        >>> curve = pl.DataFrame({"at": [0, 2_000_000], "depth": [1, 0]}, schema_overrides={"at": pl.Duration("ns")})
        >>> next(iter(queue_depth(curve).to_dict()["datasets"].values()))
        [{'at': 0.0, 'depth': 1}, {'at': 2.0, 'depth': 0}]
    """
    need(curve, "at", "depth")
    drawn = curve.select(at=pl.col("at").dt.total_nanoseconds() / 1e6, depth=pl.col("depth").cast(pl.Int64))
    every = -(-drawn.height // MAX_POINTS)
    if every > 1:
        drawn = (
            drawn.with_columns(bucket=pl.int_range(pl.len()) // every)
            .group_by("bucket", maintain_order=True)
            .agg(pl.col("at").first(), pl.col("depth").max())
            .drop("bucket")
        )
    return (
        vega.Chart(shorten(drawn), title=title)
        .mark("area", interpolate="step-after", opacity=0.5, line={"strokeWidth": 1})
        .encode(
            x=vega.X("at:Q", title="since the start of the log (ms)"),
            y=vega.Y(
                "depth:Q", title="requests outstanding", axis=vega.Axis(values=whole_ticks(drawn, "depth"), format="d")
            ),
            tooltip=[vega.Tooltip("at", title="at (ms)"), vega.Tooltip("depth")],
        )
        .properties(width=640, height=160)
    )
