"""Heat map of latency over time: every read of a log in one picture, whatever their number."""

from typing import Final

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import ChartError, at_edge, bin_edges, in_unit, need, place_in, shorten, time_unit

_WIDTH: Final = 640
_HEIGHT: Final = 260


@vega.chart
def latency_heat_map(
    requests: pl.DataFrame,
    *,
    value: str = "latency",
    at: str = "submitted",
    unit: str = "ms",
    times: int = 60,
    levels: int = 24,
    axis: str | None = None,
    title: str = "Latency over time",
) -> vega.Chart:
    """How many requests began when and took how long: time to the right, latency on a logarithmic axis upwards.

    What to read from it: a level band is a mode, such as a cache and below it a disk; two bands are two populations,
    and their average is neither. A column that is high throughout is a stall: everything waited at the same time. A
    band that climbs is a queue that fills, one that sinks a cache that warms up. A white column is time in which
    there was no request.

    Args:
        requests: One row a request, as `straceparse.io_requests` gives them.
        value: The column drawn: a Duration, or a number in `unit`; times of zero are left out.
        at: The column with the time since the start of the log, a Duration.
        unit: The unit of the latency.
        times: How many bins of time.
        levels: How many bins of latency, equal in ratio.
        axis: What the latency is called; by default the name of its column.
        title: The heading.

    The requests are counted in Polars: at most `times` x `levels` cells are drawn, empty ones left out.

    Raises:
        ChartError: If a column is missing, or no request has both times.

    Examples:
        >>> requests = pl.DataFrame({"submitted": [0, 1_000_000, 9_000_000], "latency": [100_000, 100_000, 3_000_000]})
        >>> chart = latency_heat_map(requests.cast(pl.Duration("ns")), times=2, levels=2)
        >>> [row["count"] for row in next(iter(chart.to_dict()["datasets"].values()))]
        [2, 1]
    """
    need(requests, value, at)
    drawn = requests.select(at=pl.col(at).dt.total_nanoseconds(), value=in_unit(requests, value, unit)).filter(
        pl.col("at").is_not_null() & pl.col("value").is_finite() & (pl.col("value") > 0)
    )
    if drawn.is_empty():
        raise ChartError(f"no row has a {at} and a {value} above zero: there is nothing to draw")
    first, last, low, high = drawn.select(
        pl.col("at").min().alias("first"),
        pl.col("at").max().alias("last"),
        pl.col("value").min().alias("low"),
        pl.col("value").max().alias("high"),
    ).row(0)
    time_unit_name, nanoseconds = time_unit(last)
    columns = bin_edges(first / nanoseconds, last / nanoseconds, bins=times, log=False)
    # One latency only: a band around it, as a bin from a value to itself has no width.
    rows = bin_edges(low, high if high > low else low * 1.01, bins=levels, log=True)
    cells = (
        drawn.with_columns(pl.col("at") / nanoseconds)
        .group_by(column=place_in("at", columns, log=False), row=place_in("value", rows, log=True), maintain_order=True)
        .agg(count=pl.len())
        .select(
            "column",
            "row",
            begin=at_edge("column", columns),
            end=at_edge("column", columns[1:]),
            low=at_edge("row", rows),
            high=at_edge("row", rows[1:]),
            count="count",
        )
        .sort("column", "row")
        .drop("column", "row")
    )
    called = axis or value.replace("_", " ")
    return (
        vega.Chart(shorten(cells), title=title)
        .mark("rect")
        .encode(
            x=vega.X("begin:Q", bin="binned", title=f"since the start of the log ({time_unit_name})"),
            x2="end:Q",
            y=vega.Y("low:Q", bin="binned", scale=vega.Scale(type="log"), title=f"{called} ({unit}, log)"),
            y2="high:Q",
            color=vega.Color(
                "count:Q",
                title="requests",
                scale=vega.Scale(type="log", range="heatmap")
                if cells.get_column("count").n_unique() > 1
                else vega.Scale(),
                legend=vega.Legend(format="d", tickMinStep=1),
            ),
            tooltip=[
                vega.Tooltip("begin:Q", title=f"from ({time_unit_name})"),
                vega.Tooltip("end:Q", title=f"to ({time_unit_name})"),
                vega.Tooltip("low:Q", title=f"{called} from ({unit})"),
                vega.Tooltip("high:Q", title=f"{called} to ({unit})"),
                vega.Tooltip("count:Q", title="requests", format=","),
            ],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
