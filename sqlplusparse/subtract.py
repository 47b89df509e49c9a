"""Listings of one session put together, and subtracted by name."""

from __future__ import annotations

import polars as pl

_KEY = ["sid", "name", "column", "unit"]


def session_record(statistics: pl.DataFrame) -> pl.DataFrame:
    """One row a statistic: the last figure that any of the listings shows for it.

    Args:
        statistics: a frame with the schema `STATISTICS`.

    Returns:
        `sid`, `name`, `unit`, `basis`, `value`, `value_lo`, `value_hi`, `listing`, in the order of the listings.
    """
    return (
        statistics.filter(pl.col("value").is_not_null())
        .unique(["sid", "name", "unit", "basis"], keep="last", maintain_order=True)
        .sort("listing", "line", maintain_order=True)
        .select("sid", "name", "unit", "basis", "value", "value_lo", "value_hi", "listing")
    )


def subtract_statistics(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    r"""What changed between two listings of cumulative figures, by session, name and column.

    Args:
        before: the rows of the earlier listing (`STATISTICS`).
        after: the rows of the later one.

    Returns:
        One row a statistic of the later listing: `sid`, `name`, `column`, `unit`, `before`, `after`, `value` (the
        difference) with `value_lo` and `value_hi` from the bounds of both, and `basis` `delta`.  A statistic that only
        one listing shows has a null difference: a listing may leave names out, so a missing figure is not zero.

    Raises:
        ValueError: a listing holds a delta already.

    Examples:
        >>> from sqlplusparse import read_spool
        >>> page = "NAME            VALUE\n-------------- ------\nphysical reads {:>6}\n"
        >>> log = "SQL> select name, value from v$mystat;\n\n" + page
        >>> spool = read_spool((log.format(100) + "\n" + log.format(7339)).encode())
        >>> spool.difference(1, 2).select("name", "before", "after", "value").rows()
        [('physical reads', 100.0, 7339.0, 7239.0)]
    """
    if (pl.concat([before.select("basis"), after.select("basis")])["basis"] == "delta").any():
        raise ValueError("a listing of deltas cannot be subtracted")
    figures = ["value", "value_lo", "value_hi"]
    earlier = before.select(*_KEY, *(pl.col(name).alias(f"before_{name}") for name in figures)).unique(
        _KEY, keep="last", maintain_order=True
    )
    joined = after.join(earlier, on=_KEY, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(
        *_KEY,
        pl.col("before_value").alias("before"),
        pl.col("value").alias("after"),
        (pl.col("value") - pl.col("before_value")).alias("value"),
        (pl.col("value_lo") - pl.col("before_value_hi")).alias("value_lo"),
        (pl.col("value_hi") - pl.col("before_value_lo")).alias("value_hi"),
        pl.lit("delta").alias("basis"),
    )
