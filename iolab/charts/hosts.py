"""Hosts beside databases: time lines with one brush, and latency histograms of both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import ChartError, need, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH: Final = 640
_HEIGHT: Final = 110
_NS_PER_MS: Final = 1e6
#: An open bucket is drawn over this many doublings.
_OPEN: Final = 2.0


@vega.chart
def host_over_time(samples: pl.DataFrame, *, title: str = "Host and database over time") -> vega.Chart:
    """Figures of hosts and reports over time, one below the other; a stretch chosen in one is seen in all.

    What to read from it: a line is a mean of its interval, so a report is one long line, and samples show what happened
    within it. Where the processors are busy while reads are quick, the storage is not what the database waits for;
    where the time of a read of the database is far above that of its devices, the time is lost between the two.
    Choose a stretch of the first picture with the pointer: all others show it, a double click shows all.

    Args:
        samples: What `iolab.evidence.over_time` gives: ``panel``, ``series``, ``begin``, ``end``, ``value``.
        title: The heading.

    Raises:
        ChartError: If a column is missing, or no row has a value and both times.

    Examples:
        >>> from datetime import datetime, timedelta
        >>> begin = datetime(2026, 9, 14, 20)
        >>> one = {"panel": "read (MB/s)", "series": "vmstat", "begin": begin, "end": begin + timedelta(hours=1)}
        >>> chart = host_over_time(pl.DataFrame([{**one, "value": 5.0}])).to_dict()
        >>> [part["title"] for part in chart["vconcat"]]
        ['read (MB/s)']
    """
    need(samples, "panel", "series", "begin", "end", "value")
    drawn = samples.filter(pl.col("value").is_finite() & (pl.col("end") > pl.col("begin"))).drop_nulls()
    if drawn.is_empty():
        raise ChartError("no row has a value and both times: there is nothing to draw")
    panels = drawn.get_column("panel").unique(maintain_order=True).to_list()
    brush = {"name": "time", "select": {"type": "interval", "encodings": ["x"]}}
    parts = []
    for number, panel in enumerate(panels):
        rows = shorten(drawn.filter(pl.col("panel") == panel))
        scale = {} if number == 0 else {"scale": vega.Scale(domain={"param": "time"})}
        chart = (
            vega.Chart(rows, title=panel)
            .mark("rule", strokeWidth=2, clip=True)
            .encode(
                x=vega.X("begin:T", title=None, **scale, axis=vega.Axis(format="%H:%M")),
                x2="end:T",
                y=vega.Y("value:Q", title=None, scale=vega.Scale(zero=True)),
                color=vega.Color("series:N", title=None, legend=vega.Legend(orient="right", labelLimit=220)),
                tooltip=[
                    vega.Tooltip("series:N"),
                    vega.Tooltip("begin:T", format="%H:%M:%S", title="from"),
                    vega.Tooltip("end:T", format="%H:%M:%S", title="to"),
                    vega.Tooltip("value:Q", title=panel),
                ],
            )
            .properties(width=_WIDTH, height=_HEIGHT)
        )
        parts.append(chart.properties(params=[brush]) if number == 0 else chart)
    return vega.vconcat(*parts, title=title).properties(resolve={"scale": {"color": "independent"}})


@vega.chart
def histograms_over_time(
    buckets: pl.DataFrame, *, keys: Sequence[str] | None = None, title: str = "Latency histograms over time"
) -> vega.Chart:
    r"""Latency histograms of a tool, table after table: the share of each bucket as a colour.

    What to read from it: a level band is a mode; a band that climbs is a queue that fills, a second band that appears
    a second kind of storage. A column without colour is an interval without requests. Tables that go on counting are
    drawn as what came since the table before.

    Args:
        buckets: What `hostparse.read_histograms` gives as ``buckets``.
        keys: Only histograms of these keys (device, event, operation); by default all, added up.
        title: The heading.

    Raises:
        ChartError: If a column is missing, no bucket has a count, or the log does not say the unit.

    Examples:
        >>> import hostparse
        >>> text = "06:20:16\n usecs : count distribution\n 128 -> 255 : 25 |****|\n 256 -> 511 : 75 |****|\n"
        >>> chart = histograms_over_time(hostparse.read_histograms(text.encode()).buckets)
        >>> [row["share"] for row in next(iter(chart.to_dict()["datasets"].values()))]
        [0.25, 0.75]
    """
    need(buckets, "histogram", "key", "time_text", "lower_ns", "upper_ns", "count", "is_cumulative", "delta")
    drawn = buckets if keys is None else buckets.filter(pl.col("key").is_in(list(keys)))
    drawn = _in_ms(drawn.with_columns(count=pl.when("is_cumulative").then("delta").otherwise("count")))
    # the tables that one time was printed for, one for each key, are one moment
    moments = drawn.select("histogram", "key").unique("histogram", maintain_order=True)
    moments = moments.with_columns(moment=pl.int_range(pl.len()).over(pl.col("key").fill_null("")))
    cells = (
        drawn.join(moments.select("histogram", "moment"), on="histogram", maintain_order="left")
        .group_by("moment", "low", "high", maintain_order=True)
        .agg(pl.col("count").sum(), pl.col("time_text").first())
        .with_columns(share=pl.col("count") / pl.col("count").sum().over("moment"))
        .with_columns(end=pl.col("moment") + 1)
        .filter(pl.col("count") > 0)
        .pipe(_from_floor)
    )
    if cells.is_empty():
        raise ChartError("no bucket has a count: there is nothing to draw")
    return (
        vega.Chart(shorten(cells), title=title)
        .mark("rect")
        .encode(
            x=vega.X("moment:Q", bin="binned", title="table after table", axis=vega.Axis(tickMinStep=1, format="d")),
            x2="end:Q",
            y=vega.Y("low:Q", bin="binned", scale=vega.Scale(type="log"), title="latency (ms, log)"),
            y2="high:Q",
            color=vega.Color("share:Q", title="share of the requests", scale=vega.Scale(range="heatmap")),
            tooltip=[
                vega.Tooltip("time_text:N", title="time"),
                vega.Tooltip("low:Q", title="from (ms)"),
                vega.Tooltip("high:Q", title="to (ms)"),
                vega.Tooltip("count:Q", title="requests", format=","),
                vega.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(width=_WIDTH, height=240)
    )


@vega.chart
def latencies_of_both(
    buckets: pl.DataFrame, waits: pl.DataFrame, *, title: str = "Requests of the host, waits of the database"
) -> vega.Chart:
    r"""A latency histogram of the host above the wait histogram of a database, on one axis.

    What to read from it: a wait holds the request and what the database adds to it, so its distribution lies to the
    right. A mode above alone is of other programs or of writes; one below alone are waits that no device served, such
    as a remote cache. Counts are not comparable: requests are merged and split below the database.

    Each bucket is drawn from its lower to its upper end, whatever its tool prints for it (`hostparse.HISTOGRAMS`, and
    the upper end of Oracle); its height is its share for each doubling of time, so that the areas are the shares.
    A bucket that begins at 0 is drawn down to the least end of all.

    Args:
        buckets: What `hostparse.read_histograms` gives as ``buckets``; all keys are added up.
        waits: What `iolab.metrics.latency_buckets` gives of the events wanted: ``from_us``, ``to_us``, ``waits``.
        title: The heading.

    Raises:
        ChartError: If a column is missing, no bucket has a count, or the log does not say the unit.

    Examples:
        >>> import hostparse
        >>> text = " usecs : count distribution\n 128 -> 255 : 100 |****|\n"
        >>> waits = pl.DataFrame({"from_us": [0.0, 512.0], "to_us": [512.0, None], "waits": [50.0, 50.0]})
        >>> chart = latencies_of_both(hostparse.read_histograms(text.encode()).buckets, waits)
        >>> rows = next(iter(chart.to_dict()["datasets"].values()))
        >>> [(row["side"][:4], row["low"], row["high"], row["share"]) for row in rows]
        [('host', 0.128, 0.256, 1.0), ('data', 0.128, 0.512, 0.5), ('data', 0.512, 2.048, 0.5)]
    """
    need(buckets, "lower_ns", "upper_ns", "count", "is_cumulative", "delta")
    need(waits, "from_us", "to_us", "waits")
    host = _in_ms(buckets.with_columns(count=pl.when("is_cumulative").then("delta").otherwise("count")))
    database = _in_ms(
        waits.select(lower_ns=pl.col("from_us") * 1e3, upper_ns=pl.col("to_us") * 1e3, count=pl.col("waits"))
    )
    sides = []
    for side, frame in (("host: requests of its devices", host), ("database: waits", database)):
        summed = frame.group_by("low", "high", maintain_order=True).agg(pl.col("count").sum().cast(pl.Float64))
        if not summed.get_column("count").sum():
            raise ChartError(f"{side}: no bucket has a count: there is nothing to draw")
        sides.append(summed.with_columns(side=pl.lit(side), share=pl.col("count") / pl.col("count").sum()))
    drawn = _from_floor(pl.concat(sides).filter(pl.col("count") > 0))
    drawn = drawn.sort("side", "low", descending=[True, False])
    drawn = drawn.with_columns(height=pl.col("share") / (pl.col("high") / pl.col("low")).log(2))
    return (
        vega.Chart(shorten(drawn))
        .mark("rect", stroke="white", strokeWidth=0.5)
        .encode(
            x=vega.X("low:Q", bin="binned", scale=vega.Scale(type="log"), title="latency (ms, log)"),
            x2="high:Q",
            y=vega.Y("height:Q", title="share for a doubling", axis=vega.Axis(format="%")),
            y2={"datum": 0},
            color=vega.Color("side:N", legend=None),
            tooltip=[
                vega.Tooltip("low:Q", title="from (ms)"),
                vega.Tooltip("high:Q", title="to (ms)"),
                vega.Tooltip("count:Q", format=",.0f"),
                vega.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(width=_WIDTH, height=120)
        .facet(row=vega.Row("side:N", title=None, sort="descending", header=vega.Header(orient="top")))
        .properties(title=title)
    )


def _from_floor(buckets: pl.DataFrame) -> pl.DataFrame:
    """Buckets that begin at 0 go down to the least end of all: a logarithmic axis has no 0."""
    floor = pl.min_horizontal(pl.col("low").min(), pl.col("high").min() / 2)
    return buckets.with_columns(pl.col("low").fill_null(floor))


def _in_ms(buckets: pl.DataFrame) -> pl.DataFrame:
    """The buckets with both ends in milliseconds: ``low`` is null where a bucket begins at 0, an open one has an end.

    Raises:
        ChartError: If a bucket has no unit.
    """
    if buckets.is_empty() or buckets.select(pl.all_horizontal(pl.col("lower_ns", "upper_ns").is_null()).any()).item():
        raise ChartError("the log does not say the unit of its latencies: there is nothing to draw")
    lower, upper = pl.col("lower_ns") / _NS_PER_MS, pl.col("upper_ns") / _NS_PER_MS
    low = pl.when(lower > 0).then(lower)
    high = pl.when(upper.is_not_null()).then(upper).otherwise(lower * 2**_OPEN)
    return buckets.filter((pl.col("upper_ns") > 0).fill_null(value=True)).with_columns(low=low, high=high)
