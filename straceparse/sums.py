"""Totals: calls, errors and time of each system call."""

from __future__ import annotations

import polars as pl

from straceparse.joins import calls as joined_calls
from straceparse.schema import DURATION

#: Calls that failed.  One that a signal interrupted (``= ? ERESTARTSYS``) is made again; strace -c counts it as failed.
_ERRORS = pl.col("errno").filter(~pl.col("errno").str.starts_with("ERESTART")).count().alias("errors")


def totals(events: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    r"""Calls, errors and time of each system call, the longest first; one pass, and calls need not be joined.

    Args:
        events: what `scan_strace` or `read_strace` gives.

    Returns:
        ``name``, ``calls``, ``errors`` (without calls that a signal interrupted, which are made again), ``elapsed``
        (sum of ``-T``; null without it), ``median``, ``p99``, ``max`` of it.

    Examples:
        >>> from straceparse import scan_strace
        >>> log = b"close(3) = 0 <0.000041>\nclose(4) = -1 EBADF (Bad file descriptor) <0.000009>"
        >>> totals(scan_strace(log)).row(0)[:3]
        ('close', 2, 1)
    """
    is_call = pl.col("kind").is_in(["call", "resumed"])
    is_cut = pl.col("kind") == "cut"
    found = events.lazy().filter(is_call | is_cut).group_by("name").agg(*_of_elapsed(), is_cut.any()).collect()
    if found.get_column("kind").any():  # a line that a notice or the program's output cut in two ends on another
        calls = joined_calls(events.lazy()).filter(pl.col("state").is_in(["whole", "split", "resumed"]))
        printed = pl.when(pl.col("elapsed_from") == "T").then("elapsed").alias("elapsed")
        found = calls.with_columns(printed).group_by("name").agg(*_of_elapsed(), kind=pl.lit(value=True)).collect()
    return found.drop("kind").sort("elapsed", "calls", "name", descending=[True, True, False], nulls_last=True)


def gap_totals(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls, errors, time and gap of each system call, from joined calls; for logs without ``-T``.

    Args:
        calls: what `calls` gives.

    Returns:
        ``name``, ``calls``, ``errors``, ``gap`` (to the start of the process's next line: an upper bound of the time in
        the call), ``median``, ``p99``, ``max`` of it.
    """
    gap = pl.col("gap")
    return (
        calls.group_by("name")
        .agg(
            pl.len().alias("calls"),
            _ERRORS,
            pl.when(gap.count() > 0).then(gap.sum()).alias("gap"),
            *_spread(gap),
        )
        .sort("gap", "calls", "name", descending=[True, True, False], nulls_last=True)
    )


def _of_elapsed() -> list[pl.Expr]:
    elapsed = pl.col("elapsed")
    total = pl.when(elapsed.count() > 0).then(elapsed.sum()).alias("elapsed")
    return [pl.len().alias("calls"), _ERRORS, total, *_spread(elapsed)]


def _spread(times: pl.Expr) -> list[pl.Expr]:
    """Median, 99th percentile and maximum; observed values, so that no rounding enters."""
    return [
        times.quantile(0.5, interpolation="lower").cast(DURATION).alias("median"),
        times.quantile(0.99, interpolation="lower").cast(DURATION).alias("p99"),
        times.max().alias("max"),
    ]
