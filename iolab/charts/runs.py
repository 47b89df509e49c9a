"""Charts of timed runs: every run in its place, and the spread of each sample."""

from typing import Literal

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import (
    MAX_POINTS,
    bins_of,
    box_of,
    need,
    order_of,
    samples_of,
    shorten,
    steps_of,
    whole_ticks,
)

_WIDTH, _HEIGHT = 520, 280


@vega.chart
def run_strip(
    runs: pl.DataFrame,
    *,
    value: str = "elapsed_s",
    by: str = "sample",
    run: str = "run",
    unit: str = "s",
    title: str = "Every run in its place",
) -> vega.Chart:
    """Every run in run order, and beside it a box of each sample.

    What to read from it: whether two samples overlap at all; a first run that was cold; a drift, or two levels that a
    median hides (a median between two bands is typical of neither); whether one sample was run after the other, so
    that what changed in between appears as their difference.

    Args:
        runs: One row a run.
        value: The column with the time of the run: a number in `unit`, or a Duration.
        by: The column that names the sample.
        run: The place of the run in the common run order.
        unit: The unit of the times.
        title: The heading.

    Box: the quartiles and the median; whiskers: the last value within 1.5 boxes.  With more than 500 runs a point is
    the median of neighbours.

    Raises:
        ChartError: If a column is missing or no run has a time.

    Examples:
        >>> runs = pl.DataFrame({"sample": ["a", "b"], "run": [1, 2], "elapsed_s": [6.9, 5.7]})
        >>> [part["mark"]["type"] for part in run_strip(runs).to_dict()["hconcat"][1]["layer"]]
        ['rule', 'bar', 'tick']
    """
    need(runs, value, by, run)
    drawn = samples_of(runs.sort(run, maintain_order=True), value, by, unit)
    names = order_of(drawn)
    placed = samples_of(runs, value, by, unit).with_columns(
        runs.filter(pl.col(value).is_not_null()).get_column(run).cast(pl.Float64).alias("run")
    )
    points = _thinned(placed.sort("run", maintain_order=True))
    boxes = box_of(drawn)
    # Scales of one domain have one legend; with `sort` instead there would be two.
    scale, legend = vega.Scale(domain=names), vega.Legend(orient="top")
    colour = vega.Color("sample:N", scale=scale, title=None, legend=legend)
    y_title = f"{_said(value)} ({unit})"
    y = vega.Y("value:Q", title=y_title, scale=vega.Scale(zero=False, padding=12))
    strip = (
        vega.Chart(points)
        .mark("point", filled=True, size=42, opacity=0.85)
        .encode(
            x=vega.X(
                "run:Q",
                title="place in the run order",
                axis=vega.Axis(values=whole_ticks(points, "run"), format="d"),
                scale=vega.Scale(nice=False, zero=False, padding=12),
            ),
            y=y,
            color=colour,
            shape=vega.Shape("sample:N", scale=scale, title=None, legend=legend),
            tooltip=["sample", "run", vega.Tooltip("value", title=f"{_said(value)} ({unit})")],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    both = vega.hconcat(strip, _boxes(boxes, names, y_title, unit), title=title)
    return both.properties(resolve={"scale": {"y": "shared", "color": "independent", "shape": "independent"}})


def _boxes(boxes: pl.DataFrame, names: list[str], y_title: str, unit: str) -> vega.Chart:
    """Boxes drawn from quartiles that were computed before."""
    x = vega.X("sample:N", sort=names, title=None, axis=vega.Axis(labelAngle=-30))
    tooltip = [
        vega.Tooltip("sample"),
        vega.Tooltip("n"),
        *(vega.Tooltip(name, title=f"{name} ({unit})") for name in ("low", "q1", "median", "q3", "high")),
    ]
    colour = vega.Color("sample:N", scale=vega.Scale(domain=names), legend=None)
    base = vega.Chart(boxes).encode(x=x, tooltip=tooltip)
    whiskers = base.mark("rule").encode(y=vega.Y("low:Q", title=y_title), y2="high:Q")
    body = base.mark("bar", width=26, opacity=1).encode(y=vega.Y("q1:Q", title=y_title), y2="q3:Q", color=colour)
    middle = base.mark("tick", width=34, thickness=2.5, color="#7F7F7F").encode(y=vega.Y("median:Q", title=y_title))
    return vega.layer(whiskers, body, middle).properties(width=70 * len(names), height=_HEIGHT)


@vega.chart
def histogram(
    frame: pl.DataFrame,
    *,
    value: str = "elapsed_s",
    by: str | None = None,
    unit: str = "s",
    log: bool = False,
    bins: int = 40,
    title: str = "How often which time",
) -> vega.Chart:
    """How many values of each sample lie in each bin.

    What to read from it: the modes.  A latency with two humps is two populations (a cache and a disk), and no average
    describes either.

    Args:
        frame: One row a run or a request.
        value: The column drawn: a number in `unit`, or a Duration.
        by: The column that names the sample; without it all rows are one.
        unit: The unit of the values.
        log: Bins of equal ratio on a logarithmic axis; values of zero are left out.
        bins: How many bins.
        title: The heading.

    Raises:
        ChartError: If a column is missing or there is nothing to draw.

    Examples:
        >>> frame = pl.DataFrame({"elapsed_s": [1.0, 1.01, 9.0]})
        >>> [row["count"] for row in next(iter(histogram(frame, bins=2).to_dict()["datasets"].values()))]
        [2, 1]
    """
    drawn = samples_of(frame, value, by, unit, above_zero=log)
    names = order_of(drawn)
    kind: Literal["log", "linear"] = "log" if log else "linear"
    chart = (
        vega.Chart(bins_of(drawn, bins=bins, log=log), title=title)
        .mark("bar", opacity=0.6, stroke="white", strokeWidth=0.5)
        .encode(
            x=vega.X("low:Q", title=f"{_said(value)} ({unit})", scale=vega.Scale(type=kind, zero=False), bin="binned"),
            x2="high:Q",
            y=vega.Y("count:Q", title="count", stack=None),
            tooltip=[
                "sample",
                vega.Tooltip("low", title=f"from ({unit})"),
                vega.Tooltip("high", title=f"to ({unit})"),
                "count",
            ],
        )
        .properties(width=_WIDTH, height=180 if len(names) < 2 else 90)
    )
    if len(names) < 2:
        return chart
    colour = vega.Color("sample:N", sort=names, legend=None)
    row = vega.Row("sample:N", sort=names, title=None, header=vega.Header(labelAngle=0, labelAlign="left"))
    return chart.encode(color=colour, row=row)


@vega.chart
def ecdf(
    frame: pl.DataFrame,
    *,
    value: str = "latency",
    by: str | None = None,
    unit: str = "ms",
    log: bool = True,
    axis: str | None = None,
    title: str = "Share of values up to a time",
) -> vega.Chart:
    """The empirical distribution of each sample, on a logarithmic axis: every percentile at once.

    What to read from it: the height at a time is the share that took no longer; a step is a mode, a flat stretch a
    gap between two populations; the curve further left is the faster one, and curves that cross have no single faster.

    Args:
        frame: One row a request or a run.
        value: The column drawn: a number in `unit`, or a Duration.
        by: The column that names the sample.
        unit: The unit of the values.
        log: A logarithmic axis; values of zero are left out.
        axis: What the values are called; by default the name of their column.
        title: The heading.

    Raises:
        ChartError: If a column is missing or there is nothing to draw.

    Examples:
        >>> frame = pl.DataFrame({"latency": [1_000_000, 2_000_000]}, schema={"latency": pl.Duration("ns")})
        >>> next(iter(ecdf(frame).to_dict()["datasets"].values()))
        [{'sample': 'all', 'value': 1.0, 'share': 0.5}, {'sample': 'all', 'value': 2.0, 'share': 1.0}]
    """
    drawn = samples_of(frame, value, by, unit, above_zero=log)
    names = order_of(drawn)
    axis = f"{axis or _said(value)} ({unit}{', log' if log else ''})"
    scale = vega.Scale(type="log") if log else vega.Scale(zero=False)
    legend = None if by is None else vega.Legend(orient="top")
    return (
        vega.Chart(steps_of(drawn), title=title)
        .mark("line", interpolate="step-after", strokeWidth=2)
        .encode(
            x=vega.X("value:Q", title=axis, scale=scale),
            y=vega.Y("share:Q", title="share up to here", axis=vega.Axis(format="%")),
            # Scales of one domain have one legend; with `sort` instead there would be two.
            color=vega.Color("sample:N", scale=vega.Scale(domain=names), title=None, legend=legend),
            strokeDash=vega.StrokeDash("sample:N", scale=vega.Scale(domain=names), title=None, legend=legend),
            tooltip=["sample", vega.Tooltip("value", title=axis), vega.Tooltip("share", format=".1%")],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )


def _thinned(points: pl.DataFrame) -> pl.DataFrame:
    """At most `MAX_POINTS` points a sample: medians of neighbours where there are more."""
    most = points.group_by("sample").len().get_column("len").max()
    every = -(-int(most) // MAX_POINTS) if isinstance(most, int) else 1
    if every > 1:
        place = pl.int_range(pl.len()).over("sample") // every
        points = (
            points.with_columns(bucket=place)
            .group_by("sample", "bucket", maintain_order=True)
            .agg(pl.col("value").median(), pl.col("run").median())
            .drop("bucket")
        )
    return shorten(points)


def _said(column: str) -> str:
    """A column's name in words: the unit that ends it is separate."""
    for end in ("_s", "_ms", "_us"):
        column = column.removesuffix(end)
    return column.replace("_", " ")
