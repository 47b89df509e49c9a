"""Charts of I/O requests from strace logs: sizes, times, depth."""

import polars as pl

from iolab.charts import vega
from iolab.charts._frames import ChartError, named, need, order_of

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
