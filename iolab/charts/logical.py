"""Charts of logical I/O: what a get costs, and how much dearer a read is."""

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import named, need, order_of, shorten


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
