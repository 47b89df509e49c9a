"""Charts of metrics: each figure with its bounds."""

from collections.abc import Mapping

import altair as alt
import polars as pl

from iolab.charts._frames import named, need, shorten
from iolab.metrics.formatting import format_figure


def estimates(
    metrics: pl.DataFrame,
    *,
    references: Mapping[str, float] | None = None,
    unit: str | None = None,
    log: bool = False,
    title: str = "Figures with their bounds",
) -> alt.LayerChart:
    """One row a metric: the value as a point, what the evidence allows as a bar, and other figures as lines.

    What to read from it: two bars that do not overlap are figures that differ; a bar that reaches across a line does
    not tell which side the truth is on.

    Args:
        metrics: The columns metric, value, lo, hi and unit of any frame of metrics.
        references: Figures to compare with, by what they are called; in the unit of the metrics.
        unit: Draw only the metrics of this unit; by default that of the first row.
        log: A logarithmic axis.
        title: The heading.

    Raises:
        ChartError: If a column is missing, or no metric has a value in the unit.

    >>> metrics = pl.DataFrame({"metric": ["a"], "value": [0.397], "lo": [0.395], "hi": [0.403], "unit": ["ms"]})
    >>> estimates(metrics, references={"taught": 1.0}).to_dict()["layer"][0]["mark"]["type"]
    'rule'
    """
    need(metrics, "metric", "value", "lo", "hi", "unit")
    chosen = metrics.get_column("unit")[0] if unit is None else unit
    drawn = shorten(
        metrics.filter((pl.col("unit") == chosen) & pl.col("value").is_not_null()).select(
            named("metric"), "value", "unit", lo=pl.coalesce("lo", "value"), hi=pl.coalesce("hi", "value")
        )
    )
    need(drawn)
    shown = [_shown(*row) for row in drawn.select("value", "lo", "hi", "unit").iter_rows()]
    drawn = drawn.with_columns(shown=pl.Series(shown, dtype=pl.String))
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    x = alt.X("value:Q", title=chosen, scale=scale)
    y = alt.Y("metric:N", sort=drawn.get_column("metric").to_list(), title=None)
    tooltip = ["metric", "value", "lo", "hi", "unit"]
    base = alt.Chart(drawn).encode(y=y, tooltip=tooltip)
    layers: list[alt.Chart] = []
    if references:
        lines = pl.DataFrame({"name": list(references), "value": list(references.values())})
        rule = alt.Chart(lines).mark_rule(strokeDash=[5, 4], strokeWidth=1.5).encode(x=x)
        text = alt.Chart(lines).mark_text(align="left", dx=5, y=10, baseline="top").encode(x=x, text="name:N")
        layers += [rule, text]
    layers += [
        base.mark_bar(height=14, opacity=0.45).encode(x=alt.X("lo:Q", title=chosen, scale=scale), x2="hi:Q"),
        base.mark_tick(height=22, thickness=2.5).encode(x=x),
        base.mark_text(align="left", dx=12).encode(x=alt.X("hi:Q", title=chosen, scale=scale), text="shown:N"),
    ]
    return alt.layer(*layers, title=title).properties(width=560, height=max(90, 46 * drawn.height))


def _shown(value: float, lo: float, hi: float, unit: str) -> str:
    """A figure as a label."""
    texts = format_figure(value, lo, hi, unit)
    return f"{texts[0]} {unit}" if lo == hi else f"{texts[0]} {unit} [{texts[1]}, {texts[2]}]"
