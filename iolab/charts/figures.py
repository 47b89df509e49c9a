"""Charts of metrics: each figure with its bounds."""

from collections.abc import Mapping

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import named, need, shorten
from iolab.metrics.formatting import format_figure


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
