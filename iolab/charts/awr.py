"""Charts of AWR and Statspack reports: events side by side, wait classes as shares."""

from collections.abc import Mapping
from typing import Final

import altair as alt
import polars as pl

from iolab.charts._classes import MOST_CLASSES, REST, class_colours, ink_on
from iolab.charts._frames import named, need, shorten

#: A smaller share is too narrow for a name.
_LEAST_LABELLED: Final = 0.15


def top_events(
    reports: Mapping[str, pl.DataFrame], *, most: int = 12, title: str = "Average wait by event"
) -> alt.LayerChart:
    """The average wait of each top event, one point a report, on a logarithmic axis, with its bounds.

    What to read from it: how far the points of one event lie apart; a tenfold distance is one step of the axis.  An
    event with one point only is in the top list of one report only: that is not zero in the other.

    Args:
        reports: The frame `top_events` of each report by name, as `awrparse.read_awr(..., printed=True)` gives it.
        most: How many events to show, those with the most time waited.
        title: The heading.

    Raises:
        ChartError: If a column is missing, or no event has waits.

    >>> frame = pl.DataFrame({"event": ["log file sync"], "avg_wait_ms": [55.75], "avg_wait_ms_lo": [55.745],
    ...                       "avg_wait_ms_hi": [55.755], "total_wait_s": [1.5], "waits": [27]})
    >>> chart = top_events({"SETALL": frame}).to_dict()
    >>> next(iter(chart["datasets"].values()))[0]["average"]
    55.75
    """
    frames = []
    for name, frame in reports.items():
        need(frame, "event", "avg_wait_ms", "total_wait_s", "waits")
        has_bounds = "avg_wait_ms_lo" in frame.columns
        low, high = ("avg_wait_ms_lo", "avg_wait_ms_hi") if has_bounds else ("avg_wait_ms", "avg_wait_ms")
        frames.append(
            frame.select(
                pl.lit(name).alias("report"),
                named("event"),
                pl.col("avg_wait_ms").cast(pl.Float64).alias("average"),
                pl.col(low).cast(pl.Float64).alias("low"),
                pl.col(high).cast(pl.Float64).alias("high"),
                pl.col("total_wait_s").cast(pl.Float64),
                pl.col("waits").cast(pl.Int64),
            )
        )
    drawn = shorten(pl.concat(frames).filter(pl.col("average") > 0, pl.col("low") > 0))
    need(drawn)
    order = (
        drawn.group_by("event", maintain_order=True)
        .agg(pl.col("total_wait_s").max())
        .sort("total_wait_s", "event", descending=[True, False])
        .head(most)
        .get_column("event")
    )
    drawn = drawn.filter(pl.col("event").is_in(order.to_list()))
    names = list(reports)
    base = alt.Chart(drawn).encode(
        y=alt.Y("event:N", sort=order.to_list(), title=None),
        tooltip=[
            alt.Tooltip("report"),
            alt.Tooltip("event"),
            alt.Tooltip("average", title="average wait (ms)"),
            alt.Tooltip("low", title="at least (ms)"),
            alt.Tooltip("high", title="at most (ms)"),
            alt.Tooltip("waits", format=","),
            alt.Tooltip("total_wait_s", title="total wait (s)", format=","),
        ],
    )
    scale = alt.Scale(type="log")
    # Scales of one domain have one legend; with `sort` instead there would be two.
    reports_scale, legend = alt.Scale(domain=names), alt.Legend(orient="top", symbolOpacity=1)
    colour = alt.Color("report:N", scale=reports_scale, title=None, legend=legend)
    bounds = base.mark_bar(height=10, opacity=0.4).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", color=colour)
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("average:Q", title="average wait (ms, log)", scale=scale),
        color=colour,
        shape=alt.Shape("report:N", scale=reports_scale, title=None, legend=legend),
    )
    lines = base.mark_line(color="#8A97A5", strokeWidth=1).encode(
        x=alt.X("average:Q", scale=scale), detail="event:N", color=alt.value("#8A97A5")
    )
    chart: alt.LayerChart = alt.layer(lines, bounds, points, title=title)
    return chart.properties(width=520, height=26 * len(order) + 20)


def wait_classes(reports: Mapping[str, pl.DataFrame], *, title: str = "Where the time went") -> alt.LayerChart:
    """The time of each wait class as a share of all classes' time, one bar a report.

    What to read from it: what the database waited for, whatever the length of the report.  Shares are of the classes
    together, background waits among them, so that they add up; `% DB time` as printed need not, and may exceed 100 %.
    Reports from 11.2 on list DB CPU among the classes: then the shares are of both, and the axis names both.  A common
    class has the same colour in every chart; where there are more classes than colours, the smallest are drawn as one.

    Args:
        reports: The frame `wait_classes` of each report by name.
        title: The heading.

    Raises:
        ChartError: If a column is missing or there is no time.

    >>> frame = pl.DataFrame({"wait_class": ["User I/O", "Commit"], "total_wait_s": [3.0, 1.0]})
    >>> [row["share"] for row in next(iter(wait_classes({"a": frame}).to_dict()["datasets"].values()))]
    [0.75, 0.25]
    """
    frames = []
    for name, frame in reports.items():
        need(frame, "wait_class", "total_wait_s")
        seconds = pl.col("total_wait_s").cast(pl.Float64)
        frames.append(
            frame.filter(seconds > 0).select(
                pl.lit(name).alias("report"), named("wait_class"), seconds, share=seconds / seconds.sum()
            )
        )
    drawn = _few_classes(pl.concat(frames))
    need(drawn)
    has_cpu = "DB CPU" in drawn.get_column("wait_class")
    order = _by_share(drawn)
    colours = class_colours(order)
    rank = {name: place for place, name in enumerate(order)}
    inks = {name: ink_on(colour) for name, colour in zip(order, colours, strict=True)}
    right = pl.col("share").cum_sum().over("report")
    drawn = shorten(
        drawn.sort(pl.col("wait_class").replace_strict(rank, return_dtype=pl.Int64))
        .with_columns(left=right - pl.col("share"), right=right)
        .with_columns(middle=(pl.col("left") + pl.col("right")) / 2, ink=pl.col("wait_class").replace_strict(inks))
    )
    base = alt.Chart(drawn).encode(
        y=alt.Y("report:N", sort=list(reports), title=None),
        tooltip=[
            alt.Tooltip("report"),
            alt.Tooltip("wait_class"),
            alt.Tooltip("share", format=".1%"),
            alt.Tooltip("total_wait_s", title="time (s)", format=","),
        ],
    )
    bars = base.mark_bar(stroke="white", strokeWidth=0.5).encode(
        x=alt.X(
            "left:Q",
            title="share of the time waited" + (" and of DB CPU" if has_cpu else ""),
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        x2="right:Q",
        color=alt.Color(
            "wait_class:N",
            sort=order,
            scale=alt.Scale(domain=order, range=colours),
            title=None,
            legend=alt.Legend(orient="top", columns=4),
        ),
    )
    # The legend distinguishes classes by colour alone: wide ones have their name on them.
    labels = (
        base.transform_filter(f"datum.share >= {_LEAST_LABELLED}")
        .mark_text(fontSize=11)
        .encode(x="middle:Q", text="wait_class:N", color=alt.Color("ink:N", scale=None))
    )
    chart: alt.LayerChart = alt.layer(bars, labels, title=title)
    return chart.properties(width=560, height=44 * len(reports))


def _few_classes(shares: pl.DataFrame) -> pl.DataFrame:
    """The classes with the largest shares; where there are more than colours, the others as one."""
    order = _by_share(shares)
    if len(order) <= MOST_CLASSES:
        return shares
    kept = pl.col("wait_class").is_in(order[: MOST_CLASSES - 1])
    renamed = shares.with_columns(wait_class=pl.when(kept).then("wait_class").otherwise(pl.lit(REST)))
    return renamed.group_by("report", "wait_class", maintain_order=True).agg(pl.col("total_wait_s", "share").sum())


def _by_share(shares: pl.DataFrame) -> list[str]:
    """The classes, the one with the largest shares first."""
    summed = shares.group_by("wait_class", maintain_order=True).agg(pl.col("share").sum())
    order = summed.sort("share", "wait_class", descending=[True, False]).get_column("wait_class").to_list()
    return sorted(order, key=lambda name: name == REST)
