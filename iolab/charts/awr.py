"""Charts of AWR and Statspack reports: events side by side, wait classes as shares."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import MOST_CLASSES, REST, class_colours, ink_on, named, need, order_of, shorten

#: A smaller share is too narrow for a name.
_LEAST_LABELLED: Final = 0.15
#: A bar that is longer than this many times DB time would leave no space for the others.
_FURTHEST: Final = 2.0


@vega.chart
def top_events(
    reports: Mapping[str, pl.DataFrame], *, most: int = 12, title: str = "Average wait by event"
) -> vega.Chart:
    """The average wait of each top event, one point a report, on a logarithmic axis, with its bounds.

    What to read from it: how far the points of one event lie apart; a tenfold distance is one step of the axis.  An
    event with one point only is in the top list of one report only: that is not zero in the other.

    Args:
        reports: The frame `top_events` of each report by name, as `awrparse.read_awr(..., printed=True)` gives it.
        most: How many events to show, those with the most time waited.
        title: The heading.

    Raises:
        ChartError: If a column is missing, or no event has waits.

    Examples:
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
    base = vega.Chart(drawn).encode(
        y=vega.Y("event:N", sort=order.to_list(), title=None),
        tooltip=[
            vega.Tooltip("report"),
            vega.Tooltip("event"),
            vega.Tooltip("average", title="average wait (ms)"),
            vega.Tooltip("low", title="at least (ms)"),
            vega.Tooltip("high", title="at most (ms)"),
            vega.Tooltip("waits", format=","),
            vega.Tooltip("total_wait_s", title="total wait (s)", format=","),
        ],
    )
    scale = vega.Scale(type="log")
    # Scales of one domain have one legend; with `sort` instead there would be two.
    reports_scale, legend = vega.Scale(domain=names), vega.Legend(orient="top", symbolOpacity=1)
    colour = vega.Color("report:N", scale=reports_scale, title=None, legend=legend)
    bounds = base.mark("bar", height=10, opacity=0.4).encode(x=vega.X("low:Q", scale=scale), x2="high:Q", color=colour)
    points = base.mark("point", filled=True, size=70, opacity=1).encode(
        x=vega.X("average:Q", title="average wait (ms, log)", scale=scale),
        color=colour,
        shape=vega.Shape("report:N", scale=reports_scale, title=None, legend=legend),
    )
    lines = base.mark("line", color="#8A97A5", strokeWidth=1).encode(
        x=vega.X("average:Q", scale=scale), detail="event:N", color=vega.value("#8A97A5")
    )
    chart: vega.Chart = vega.layer(lines, bounds, points, title=title)
    return chart.properties(width=520, height=26 * len(order) + 20)


@vega.chart
def wait_classes(reports: Mapping[str, pl.DataFrame], *, title: str = "Where the time went") -> vega.Chart:
    """The time of each wait class: foreground in per cent of DB time, background processes in a bar below it.

    What to read from it: what sessions spent DB time on, whatever the length of the report; and what background
    processes did meanwhile, which is no part of DB time and is drawn on the same scale.  Foreground classes may reach
    beyond 100 %.  A bar that is longer than the scale ends at its edge, and a text gives its length.  Of a report that
    does not tell foreground from background (the table `wait_classes` alone) shares are of the time of all classes.
    A common class has the same colour in every chart; where there are more classes than colours, the smallest are
    drawn as one.

    Args:
        reports: What `iolab.metrics.class_times` gives of each report, by name; or its table `wait_classes`.
        title: The heading.

    Raises:
        ChartError: If a column is missing or there is no time.

    Examples:
        >>> frame = pl.DataFrame({"wait_class": ["User I/O", "Commit"], "total_wait_s": [3.0, 1.0]})
        >>> [row["share"] for row in next(iter(wait_classes({"a": frame}).to_dict()["datasets"].values()))]
        [0.75, 0.25]
    """
    drawn = _few_classes(pl.concat(_class_shares(name, frame) for name, frame in reports.items()))
    need(drawn)
    order = _by_share(drawn)
    colours = class_colours(order)
    rank = {name: place for place, name in enumerate(order)}
    inks = {name: ink_on(colour) for name, colour in zip(order, colours, strict=True)}
    right = pl.col("share").cum_sum().over("bar")
    drawn = drawn.sort(pl.col("wait_class").replace_strict(rank, return_dtype=pl.Int64)).with_columns(
        left=right - pl.col("share"), right=right, ink=pl.col("wait_class").replace_strict(inks)
    )
    limit = _scale_end(drawn)
    beyond = drawn.group_by("bar", maintain_order=True).agg(pl.col("right").max()).filter(pl.col("right") > limit)
    lengths = beyond.select("bar", at=pl.lit(limit), said=_length_text())
    drawn = shorten(
        drawn.filter(pl.col("left") < limit)
        .with_columns(pl.col("right").clip(upper_bound=limit))
        .with_columns(middle=(pl.col("left") + pl.col("right")) / 2, width=pl.col("right") - pl.col("left"))
    )
    bars_in_order = [
        bar for name in reports for bar in order_of(drawn.filter(report=name).sort("side", descending=True), "bar")
    ]
    base = vega.Chart(drawn).encode(
        y=vega.Y("bar:N", sort=bars_in_order, title=None, axis=vega.Axis(labelLimit=260)),
        tooltip=[
            vega.Tooltip("report"),
            vega.Tooltip("side"),
            vega.Tooltip("wait_class"),
            vega.Tooltip("share", format=".1%"),
            vega.Tooltip("base", title="share of"),
            vega.Tooltip("total_wait_s", title="time (s)", format=","),
        ],
    )
    bars = base.mark("bar", stroke="white", strokeWidth=0.5).encode(
        x=vega.X(
            "left:Q",
            title=f"share of {' or '.join(order_of(drawn, 'base'))}",
            axis=vega.Axis(format="%"),
            scale=vega.Scale(domain=[0, limit]),
        ),
        x2="right:Q",
        color=vega.Color(
            "wait_class:N",
            sort=order,
            scale=vega.Scale(domain=order, range=colours),
            title=None,
            legend=vega.Legend(orient="top", columns=4),
        ),
    )
    # The legend distinguishes classes by colour alone: wide ones have their name on them.
    labels = (
        base.transform_filter(f"datum.width >= {_LEAST_LABELLED * limit}")
        .mark("text", fontSize=11)
        .encode(x="middle:Q", text="wait_class:N", color=vega.Color("ink:N", scale=None))
    )
    layers = [bars, labels]
    if beyond.height:
        ends = vega.Chart(lengths).encode(y=vega.Y("bar:N", sort=bars_in_order), x="at:Q")
        layers.append(ends.mark("text", align="right", dx=-4, fontSize=11, fontWeight="bold").encode(text="said:N"))
    chart: vega.Chart = vega.layer(*layers, title=title)
    return chart.properties(width=560, height=30 * len(bars_in_order) + 14)


def _class_shares(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a report to draw: one bar a side."""
    need(frame, "wait_class", "total_wait_s")
    seconds = pl.col("total_wait_s").cast(pl.Float64)
    timed = frame.filter(seconds > 0)
    if "share" in frame.columns:
        timed = timed.filter(pl.col("share") > 0)
        share, side, base = pl.col("share"), pl.col("side"), pl.col("base")
    else:
        has_cpu = "DB CPU" in timed.get_column("wait_class")
        share, side = seconds / seconds.sum(), pl.lit("all")
        base = pl.lit("the time of all classes" + (" and DB CPU" if has_cpu else ""))
    bar = (
        pl.when(side == "background").then(pl.concat_str(pl.lit(name), pl.lit(", background"))).otherwise(pl.lit(name))
    )
    return timed.select(
        pl.lit(name).alias("report"),
        bar.alias("bar"),
        side.alias("side"),
        named("wait_class"),
        seconds,
        share=share,
        base=base,
    )


def _scale_end(drawn: pl.DataFrame) -> float:
    """Where the axis ends: at 100 %, or where the longest bar does, at most at twice DB time."""
    return min(max(1.0, float(drawn.get_column("right").max())), _FURTHEST)  # type: ignore[arg-type]  # of numbers


def _length_text() -> pl.Expr:
    """How far a bar reaches that is longer than the scale."""
    return pl.concat_str((pl.col("right") * 100).round(0).cast(pl.Int64).cast(pl.String), pl.lit(" % →"))


def _few_classes(shares: pl.DataFrame) -> pl.DataFrame:
    """The classes with the largest shares; where there are more than colours, the others as one."""
    order = _by_share(shares)
    if len(order) <= MOST_CLASSES:
        return shares
    kept = pl.col("wait_class").is_in(order[: MOST_CLASSES - 1])
    renamed = shares.with_columns(wait_class=pl.when(kept).then("wait_class").otherwise(pl.lit(REST)))
    keys = ("report", "bar", "side", "wait_class", "base")
    return renamed.group_by(keys, maintain_order=True).agg(pl.col("total_wait_s", "share").sum())


def _by_share(shares: pl.DataFrame) -> list[str]:
    """The classes, the one with the largest shares first."""
    summed = shares.group_by("wait_class", maintain_order=True).agg(pl.col("share").clip(upper_bound=_FURTHEST).sum())
    order = summed.sort("share", "wait_class", descending=[True, False]).get_column("wait_class").to_list()
    return sorted(order, key=lambda name: name == REST)
