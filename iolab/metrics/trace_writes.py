"""Writes and flushes of each file in an strace log: number, bytes, latency, flushes per write."""

from __future__ import annotations

from typing import Final

import polars as pl

from iolab.metrics.table import nanoseconds
from iolab.metrics.trace_reads import file_or_fd, is_data_request

#: Columns of `writes_by_file`, one row a file; times in us, null where the log has no time of calls.
WRITES_BY_FILE: Final = pl.Schema(
    {
        "file": pl.String(),
        "writes": pl.UInt32(),
        "bytes": pl.Int64(),
        "avg_bytes": pl.Float64(),
        "write_us_p50": pl.Float64(),
        "write_us_p99": pl.Float64(),
        "write_us_max": pl.Float64(),
        "syncs": pl.UInt32(),
        "sync_us_p50": pl.Float64(),
        "sync_us_p99": pl.Float64(),
        "sync_us_max": pl.Float64(),
        "writes_per_sync": pl.Float64(),
        "seconds": pl.Float64(),
        "has_o_direct": pl.Boolean(),
        "has_o_sync": pl.Boolean(),
    }
)


def writes_by_file(requests: pl.DataFrame, opens: pl.DataFrame) -> pl.DataFrame:
    """The writes and flushes of each file, those that took longest first.

    Source: pwrite(2), fsync(2), open(2): with O_SYNC or O_DSYNC a write ends when its data is on the device.

    Limitations: percentiles are times that occurred, with strace's own cost in them.

    Args:
        requests: what `straceparse.io_requests` gives.
        opens: what `straceparse.opens` gives: whether a file was opened with O_DIRECT, O_SYNC or O_DSYNC; null where
            the log does not say it, or its opens differ.

    Returns:
        The columns `WRITES_BY_FILE`.

    Examples:
        >>> from straceparse import calls, io_requests, opens, read_strace
        >>> log = read_strace(b'''1.000000 open("redo.log", O_RDWR|O_DSYNC) = 3 <0.000010>
        ... 1.000100 pwrite64(3, "", 512, 0) = 512 <0.000200>
        ... 1.000500 fdatasync(3) = 0 <0.000900>''')
        >>> found = writes_by_file(io_requests(calls(log)), opens(calls(log)))
        >>> found.select("file", "writes", "write_us_p50", "sync_us_p50", "has_o_sync").row(0)
        ('redo.log', 1, 200.0, 900.0, True)
    """
    is_write, is_sync = (pl.col("_op") == op for op in ("write", "sync"))
    parts = [
        requests.lazy()
        .filter(is_data_request(requests, op), pl.col("fd").is_not_null())
        .select(pl.lit(op).alias("_op"), "bytes_transferred", file=file_or_fd(), us=nanoseconds("latency") / 1e3)
        for op in ("write", "sync")
    ]
    found = (
        pl.concat(pl.collect_all(parts))
        .group_by("file", maintain_order=True)
        .agg(
            is_write.sum().alias("writes"),
            pl.col("bytes_transferred").filter(is_write).sum().alias("bytes"),
            pl.col("bytes_transferred").filter(is_write).mean().alias("avg_bytes"),
            *_percentiles("write", is_write),
            is_sync.sum().alias("syncs"),
            *_percentiles("sync", is_sync),
            seconds=pl.col("us").sum() / 1e6,
            timed=pl.col("us").count(),
        )
        .with_columns(
            seconds=pl.when(pl.col("timed") > 0).then("seconds"),
            writes_per_sync=pl.when(pl.col("syncs") > 0).then(pl.col("writes") / pl.col("syncs")),
        )
    )
    alike = [
        pl.when(pl.col(flag).n_unique() == 1).then(pl.col(flag).first()).alias(flag)
        for flag in ("has_o_direct", "has_o_sync")
    ]
    ways = opens.drop_nulls("file").group_by("file").agg(alike)
    order = ["seconds", "bytes", "file"]
    return (
        found.join(ways, on="file", how="left", maintain_order="left")
        .sort(order, descending=[True, True, False], nulls_last=True)
        .select(pl.col(name).cast(kind) for name, kind in WRITES_BY_FILE.items())
    )


def _percentiles(name: str, is_own: pl.Expr) -> list[pl.Expr]:
    """The smallest times that this many per cent do not exceed."""
    times = pl.col("us").filter(is_own).drop_nulls().sort()
    last = ((pl.lit(q) * times.count()).ceil().cast(pl.Int64) - 1 for q in (0.5, 0.99, 1.0))
    return [
        times.get(at, null_on_oob=True).alias(f"{name}_us_{title}")
        for at, title in zip(last, ("p50", "p99", "max"), strict=True)
    ]
