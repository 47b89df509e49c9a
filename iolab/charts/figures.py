"""Charts of figures: metrics with their bounds, requests of strace logs, and what logical I/O costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import MAX_POINTS, ChartError, named, need, order_of, shorten, whole_ticks
from iolab.metrics.formatting import format_figure

if TYPE_CHECKING:
    from collections.abc import Mapping


@vega.chart
def estimates(
    metrics: pl.DataFrame,
    *,
    references: Mapping[str, float] | None = None,
    unit: str | None = None,
    log: bool = False,
    title: str = "Figures with their bounds",
) -> vega.Chart:
    """One row a metric: its value, what rounding allows as a bar, the interval of a sample as a line with ends.

    What to read from it: two bars that do not overlap are figures that differ; a bar that reaches across a line does
    not tell which side the truth is on.  A bar holds every figure that prints so; a line with ends holds the truth in
    95 % of samples, and has nothing to do with how many digits were printed.

    Args:
        metrics: The columns metric, value, lo, hi and unit of any frame of metrics; ci_lo and ci_hi where it has them.
        references: Figures to compare with, by what they are called; in the unit of the metrics.
        unit: Draw only the metrics of this unit; by default that of the first row.
        log: A logarithmic axis.
        title: The heading.

    Raises:
        ChartError: If a column is missing, or no metric has a value in the unit.

    Examples:
        >>> metrics = pl.DataFrame({"metric": ["a"], "value": [0.397], "lo": [0.395], "hi": [0.403], "unit": ["ms"]})
        >>> estimates(metrics, references={"taught": 1.0}).to_dict()["layer"][0]["mark"]["type"]
        'rule'
    """
    need(metrics, "metric", "value", "lo", "hi", "unit")
    chosen = metrics.get_column("unit")[0] if unit is None else unit
    sampled = [
        (pl.col(name) if name in metrics.columns else pl.lit(None, pl.Float64)).alias(name)
        for name in ("ci_lo", "ci_hi")
    ]
    drawn = shorten(
        metrics.filter((pl.col("unit") == chosen) & pl.col("value").is_not_null()).select(
            named("metric"),
            "value",
            "unit",
            *sampled,
            lo=pl.coalesce("lo", "value"),
            hi=pl.coalesce("hi", "value"),
        )
    ).with_columns(end=pl.max_horizontal("hi", "ci_hi"))
    need(drawn)
    shown = [_shown(*row) for row in drawn.select("value", "lo", "hi", "ci_lo", "ci_hi", "unit").iter_rows()]
    drawn = drawn.with_columns(shown=pl.Series(shown, dtype=pl.String))
    scale = vega.Scale(type="log") if log else vega.Scale(zero=True)
    x = vega.X("value:Q", title=chosen, scale=scale)
    y = vega.Y("metric:N", sort=drawn.get_column("metric").to_list(), title=None)
    tooltip = ["metric", "value", "lo", "hi", "ci_lo", "ci_hi", "unit"]
    base = vega.Chart(drawn).encode(y=y, tooltip=tooltip)
    layers: list[vega.Chart] = []
    if references:
        lines = pl.DataFrame({"name": list(references), "value": list(references.values())})
        rule = vega.Chart(lines).mark("rule", strokeDash=[5, 4], strokeWidth=1.5).encode(x=x)
        text = vega.Chart(lines).mark("text", align="left", dx=5, y=10, baseline="top").encode(x=x, text="name:N")
        layers += [rule, text]
    layers += [
        base.mark("bar", height=14, opacity=0.45).encode(x=vega.X("lo:Q", title=chosen, scale=scale), x2="hi:Q"),
        base.mark("tick", height=22, thickness=2.5).encode(x=x),
        base.mark("text", align="left", dx=12).encode(x=vega.X("end:Q", title=chosen, scale=scale), text="shown:N"),
    ]
    if drawn.get_column("ci_lo").count():
        line = base.transform_filter("isValid(datum.ci_lo)")
        ends = [vega.X(f"{name}:Q", title=chosen, scale=scale) for name in ("ci_lo", "ci_hi")]
        layers.append(line.mark("rule", strokeWidth=1.5).encode(x=ends[0], x2="ci_hi:Q"))
        layers += [line.mark("tick", height=12, thickness=1.5).encode(x=end) for end in ends]
    return vega.layer(*layers, title=title).properties(width=560, height=max(90, 46 * drawn.height))


def _shown(value: float, lo: float, hi: float, ci_lo: float | None, ci_hi: float | None, unit: str) -> str:
    """A figure as a label: bounds of rounding in brackets, the interval of a sample in words."""
    texts, sampled = format_figure(value, lo, hi, unit), format_figure(value, ci_lo, ci_hi, unit)
    interval = f" (95 %: {sampled[1]} to {sampled[2]})" if ci_lo is not None and ci_hi is not None else ""
    if lo == hi:
        return f"{sampled[0] if interval else texts[0]} {unit}{interval}"
    return f"{texts[0]} {unit} [{texts[1]}, {texts[2]}]{interval}"


_WIDTH = 520


@vega.chart
def read_sizes(
    requests: pl.DataFrame,
    *,
    by: str | None = None,
    block_size: int = 8192,
    title: str = "Read sizes",
) -> vega.Chart:
    """How many reads have which size, in database blocks.

    What to read from it: one block is a single-block read (`db file sequential read`); the longest bar at
    db_file_multiblock_read_count blocks, or two less where a scan skips the blocks of the segment's own, is a scan.
    Sizes that are no whole number of blocks are no data blocks: control files, redo, the program's own files.

    Args:
        requests: What `straceparse.io_requests` gives.
        by: A column that names the log, where there are several.
        block_size: Bytes in a block.
        title: The heading.

    Raises:
        ChartError: If a column is missing or no read was completed.

    Examples:
        >>> requests = pl.DataFrame({"op": ["read", "read"], "bytes_transferred": [1032192, 8192]})
        >>> [row["blocks"] for row in next(iter(read_sizes(requests).to_dict()["datasets"].values()))]
        ['1', '126']
    """
    need(requests, "op", "bytes_transferred", *([] if by is None else [by]))
    name = pl.lit("all") if by is None else named(by)
    counts = (
        requests.filter((pl.col("op").cast(pl.String) == "read") & (pl.col("bytes_transferred") > 0))
        .group_by(sample=name, bytes=pl.col("bytes_transferred"), maintain_order=True)
        .agg(reads=pl.len())
        .with_columns(
            blocks=pl.when(pl.col("bytes") % block_size == 0)
            .then((pl.col("bytes") // block_size).cast(pl.String))
            .otherwise(pl.lit("no whole blocks"))
        )
        .group_by("sample", "blocks", maintain_order=True)
        .agg(pl.col("reads").sum(), pl.col("bytes").max())
        .sort("bytes", "sample")
    )
    if counts.is_empty():
        raise ChartError("no read was completed: there is nothing to draw")
    names = ["all"] if by is None else order_of(requests.select(named(by)), by)
    chart: vega.Chart = (
        vega.Chart(counts, title=title)
        .mark("bar")
        .encode(
            # Not beside the bars: they may be lower than their title is long.
            x=vega.X(
                "reads:Q",
                title=f"reads completed, by their size in blocks of {block_size:,} B",
                axis=vega.Axis(tickMinStep=1, format="d"),
            ),
            y=vega.Y("blocks:N", sort=order_of(counts, "blocks"), title=None),
            tooltip=["sample", "blocks", "bytes", "reads"],
        )
        .properties(width=_WIDTH)
    )
    if by is None:
        return chart
    return chart.encode(
        color=vega.Color("sample:N", sort=names, title=None), yOffset=vega.YOffset("sample:N", sort=names)
    )


@vega.chart
def pio_lio_factors(
    factors: pl.DataFrame, *, shape: str = "shape", machine: str = "machine", title: str = "A read against logical I/Os"
) -> vega.Chart:
    """The factor between a physical read and as many logical I/Os, one point a table shape and machine.

    What to read from it: how far from the hundreds or thousands that one would expect; and that no single number holds
    for all shapes or machines.

    Args:
        factors: One row a shape and machine, with the columns of a metric.
        shape: The column that names the shape.
        machine: The column that names the machine.
        title: The heading.

    Raises:
        ChartError: If a column is missing or there is no factor.

    Examples:
        >>> factors = pl.DataFrame({"shape": ["25 B, 1"], "machine": ["A"], "value": [8.8], "lo": [8.7], "hi": [8.9]})
        >>> next(iter(pio_lio_factors(factors).to_dict()["datasets"].values()))[0]["value"]
        8.8
    """
    need(factors, shape, machine, "value", "lo", "hi")
    drawn = shorten(factors.select(shape=named(shape), machine=named(machine), value="value", lo="lo", hi="hi"))
    return (
        vega.Chart(drawn.filter(pl.col("value").is_not_null()), title=title)
        .mark("point", filled=True, size=80, opacity=1)
        .encode(
            x=vega.X("value:Q", title="factor (x, log)", scale=vega.Scale(type="log")),
            y=vega.Y("shape:N", sort=order_of(drawn, "shape"), title=None),
            color=vega.Color("machine:N", title=None, legend=vega.Legend(orient="top")),
            shape=vega.Shape("machine:N", legend=None),
            tooltip=["shape", "machine", "value", "lo", "hi"],
        )
        .properties(width=520, height=240)
    )


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
