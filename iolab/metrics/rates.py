"""Counts and DB time of a period: for each second, for each transaction, sessions active."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iolab.metrics.table import evaluate, need_time, single

if TYPE_CHECKING:
    import polars as pl

    from logframe.interval import Figure, Interval


def rate(count: Figure, elapsed_s: Figure, *, metric: str = "per_s") -> pl.DataFrame:
    """A count or amount for each second: ``count / elapsed_s``.

    The only way to compare counts of periods of different length.  Refused when the time is shown as zero.

    Source: definition; the load profile of a report shows its counts so.

    Limitations: the load was not even: an hour's mean does not describe its peak.

    Args:
        count: of the period.
        elapsed_s: its length.
        metric: what to call it, such as ``reads_per_s``.

    Returns:
        One row (`METRICS`), in 1/s.

    Examples:
        >>> rate(55_702, (1874.5, 1863.2, 1885.9)).select("value", "lo", "hi").row(0)  # doctest: +ELLIPSIS
        (29.71..., 29.53..., 29.89...)
    """

    def compute(count: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        return count / elapsed_s

    inputs = {"count": count, "elapsed_s": elapsed_s}
    return single(evaluate(metric, "1/s", "count / elapsed_s", inputs, compute))


def per_transaction(count: Figure, transactions: Figure, *, metric: str = "per_transaction") -> pl.DataFrame:
    """A count or amount for each transaction: ``count / transactions``, `user commits` + `user rollbacks`.

    Source: Oracle Database Reference, `user commits` and `user rollbacks`; a report's load profile does the same.

    Limitations: transactions of the two periods do different work, or most of the work commits nothing.

    Returns:
        One row (`METRICS`), in 1/transaction.

    Examples:
        >>> per_transaction(300, 100).item(0, "value")
        3.0
    """
    inputs = {"count": count, "transactions": transactions}
    return single(
        evaluate(
            metric,
            "1/transaction",
            "count / transactions",
            inputs,
            lambda count, transactions: count / transactions,
        )
    )


def average_active_sessions(db_time_s: Figure, elapsed_s: Figure) -> pl.DataFrame:
    """Sessions active on average: ``db_time_s / elapsed_s``.  Source: Oracle Database Reference, V$SYS_TIME_MODEL.

    Limitations: not a load of the processors: sessions that wait are active, too.

    Returns:
        One row (`METRICS`), in sessions.

    Examples:
        >>> average_active_sessions(15_000, 1_875).item(0, "value")
        8.0
    """

    def compute(db_time_s: Interval, elapsed_s: Interval) -> Interval:
        need_time("elapsed_s", elapsed_s)
        return db_time_s / elapsed_s

    inputs = {"db_time_s": db_time_s, "elapsed_s": elapsed_s}
    caveats = ("of foreground sessions: DB time holds no background work",)
    return single(evaluate("average_active_sessions", "sessions", "db_time_s / elapsed_s", inputs, compute, caveats))
