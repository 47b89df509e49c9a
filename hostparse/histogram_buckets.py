"""The ends of the buckets of latency histograms, missing ones, and what came since the table before."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

_POWERS: Final = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def ends_of(value: int, mark: str | None) -> tuple[float | None, float | None]:
    """The ends of a bucket of DTrace: ``<`` and ``>=`` mark the open ones of a linear histogram."""
    if mark is not None:
        return (None, float(value)) if mark.startswith("<") else (float(value), None)
    if value == 0:
        return 0.0, 1.0
    return (float(value), 2.0 * value) if value > 0 else (2.0 * value, float(value))


def linear_uppers(printed: Sequence[tuple[int, str | None]]) -> list[float | None]:
    """The upper ends of the buckets of a table of DTrace, where they do not double: each where the next one begins.

    Args:
        printed: value of each bucket, and the mark before it.

    Returns:
        An end for each bucket; nothing where the values are powers of two.

    Examples:
        >>> linear_uppers([(0, None), (10, None), (20, None)]), linear_uppers([(0, None), (1, None), (2, None)])
        ([10.0, 20.0, 30.0], [])
    """
    values = [value for value, mark in printed if mark is None]
    steps = [high - low for low, high in pairwise(values)]
    is_even = len(steps) > 1 and len(set(steps)) == 1 and steps[0] > 1
    if len(values) == len(printed) and all(abs(one) & (abs(one) - 1) == 0 for one in values) and not is_even:
        return []
    last = float(values[-1] + steps[-1]) if steps and steps[-1:] * 2 == steps[-2:] else None
    return [*(float(value) for value, _ in printed[1:]), last]


def amount_of(text: str) -> float | None:
    """A printed end; None without one."""
    if text == "...":
        return None
    return float(text) if text[-1].isdigit() else float(text[:-1]) * _POWERS[text[-1]]


def missing_buckets(name: str, buckets: pl.DataFrame, elided: list[int]) -> list[Diagnostic]:
    """A diagnostic for each table with a bucket that does not begin where the one above it ends."""
    by = ["histogram", "key"]
    # a list of several instances begins with the first bucket again
    first = pl.col("lower").first().over("histogram")
    above = buckets.select(
        *("line", *by, "lower"),
        pl.col("upper").shift().over(by).fill_null(first).alias("above_upper"),
        pl.col("line").shift().over(by).alias("above_line"),
    )
    # of whole numbers, the bucket that ends with -1 is the one before that of 0
    is_gap = (pl.col("lower") != pl.col("above_upper")) & ~((pl.col("lower") == 0) & (pl.col("above_upper") == -1))
    found = above.filter(is_gap).unique(by, keep="first", maintain_order=True)
    return [
        Diagnostic(
            name,
            line,
            None,
            "contradiction",
            f"{lower:g}",
            f"a bucket from {upper:g} on is missing here",
        )
        for line, lower, upper, before in found.select("line", "lower", "above_upper", "above_line").iter_rows()
        if not any((before or 0) < one < line for one in elided)
    ]


def with_deltas(buckets: pl.DataFrame) -> pl.DataFrame:
    """The counts since the table before, where tables of one key go on counting.

    A count that falls says that counting began anew, or that the tool clears its tables: the tables of that key are
    then not cumulative.
    """
    by = ["label", "key", "lower", "upper"]
    before = pl.col("count").shift().over(by)
    falls = (pl.col("count") < before).fill_null(value=False)
    is_fresh = falls.any().over("label", "key") & (pl.len().over(by) > 1) & pl.col("clock_us").is_null()
    cumulative = pl.col("is_cumulative") & ~is_fresh
    buckets = buckets.with_columns(cumulative.alias("is_cumulative"))
    first = pl.col("histogram") == pl.col("histogram").min().over("label", "key")
    delta = pl.when(~pl.col("is_cumulative")).then("count").when(first).then(None).when(falls).then("count")
    return buckets.with_columns(delta.otherwise(pl.col("count") - before.fill_null(0)).alias("delta"))
