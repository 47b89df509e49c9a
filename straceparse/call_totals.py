"""Totals: number of calls and errors, and time, of each system call."""

from __future__ import annotations

import polars as pl

from straceparse.records import PARTS_GRAMMAR
from straceparse.schema import DURATION

#: Whether the call failed.  One that a signal interrupted (``= ? ERESTARTSYS``) is restarted; strace -c counts it.
_HAS_FAILED = pl.col("errno").is_not_null() & ~PARTS_GRAMMAR.matches(pl.col("errno"), "^{RESTART}$")


def totals(events: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    r"""Calls, errors and time of each system call, by descending time; one pass, without joining split calls.

    Args:
        events: the result of `scan_strace` or `read_strace`.

    Returns:
        ``name``, ``calls``, ``errors`` (without calls that a signal interrupted, which are restarted), ``elapsed``
        (sum of ``-T``; null without it), and its ``median``, ``p99`` and ``max`` by nearest rank: the smallest observed
        time that 50 or 99 per cent of the calls do not exceed.

    Examples:
        >>> from straceparse import scan_strace
        >>> log = b"close(3) = 0 <0.000041>\nclose(4) = -1 EBADF (Bad file descriptor) <0.000009>"
        >>> totals(scan_strace(log)).row(0)[:3]
        ('close', 2, 1)
    """
    ends = pl.col("kind").is_in(["call", "resumed", "continuation"])
    counts = _counts(events.lazy().filter(ends), "elapsed")
    if counts.get_column("name").has_nulls():  # a call cut by a notice or by program output has a continuation
        from straceparse.system_calls import calls as joined_calls  # noqa: PLC0415 - most logs have no such call

        calls = joined_calls(events.lazy()).filter(pl.col("state").is_in(["whole", "split", "resumed"]))
        printed = pl.when(pl.col("elapsed_from") == "T").then("elapsed").alias("elapsed")
        counts = _counts(calls.with_columns(printed), "elapsed")
    return _totals(counts, "elapsed")


def gap_totals(calls: pl.LazyFrame | pl.DataFrame) -> pl.DataFrame:
    """Calls, errors and gap of each system call, from joined calls; for logs without ``-T``.

    Args:
        calls: the result of `calls`.

    Returns:
        ``name``, ``calls``, ``errors``, ``gap`` (to the start of the next line of the process: an upper bound of the
        elapsed time), and its ``median``, ``p99`` and ``max`` as in `totals`.
    """
    return _totals(_counts(calls.lazy(), "gap"), "gap")


def _counts(calls: pl.LazyFrame, time: str) -> pl.DataFrame:
    """Number of calls and errors of each name and time: as exact as the calls, in far fewer rows."""
    counted = calls.group_by("name", time).agg(pl.len().alias("calls"), _HAS_FAILED.sum().alias("errors"))
    return counted.collect()


def _totals(counts: pl.DataFrame, time: str) -> pl.DataFrame:
    """The totals of each name, by descending time."""
    known, calls = pl.col(time).is_not_null(), pl.col("calls")
    times, weights = pl.col(time).filter(known), calls.filter(known)
    total = (times.to_physical() * weights.cast(pl.Int64)).sum().cast(DURATION)

    def percentile(percent: int) -> pl.Expr:
        """The smallest time that this percentage of the calls does not exceed; exact, in integers."""
        rank = (weights.cast(pl.Int64).sum() * percent + 99) // 100
        return times.filter(weights.cum_sum() >= rank).first()

    return (
        counts.sort(time)
        .group_by("name")
        .agg(
            calls.sum(),
            pl.col("errors").sum(),
            pl.when(known.any()).then(total).alias(time),
            percentile(50).alias("median"),
            percentile(99).alias("p99"),
            times.last().alias("max"),
        )
        .sort(time, "calls", "name", descending=[True, True, False], nulls_last=True)
    )
