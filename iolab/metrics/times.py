"""Spreads of times that strace printed: what a mean, a median or a percentile of cut times allows."""

from __future__ import annotations

from typing import Final

import polars as pl

from iolab.metrics.table import REFUSED, Metric
from logframe.interval import Interval

#: Percentiles of every spread.
PERCENTILES: Final = (50, 95, 99)
#: What the caveats of an upper bound begin with.
UPPER_BOUND: Final = "an upper bound"
#: Why nothing between two moments of such a log is known.
SET_BACK: Final = f"{REFUSED}the clock was set back within the log, or logs without process ids were read as one"

#: A clock of strace prints at most nine decimals; so far apart are the decimals it may print, in nanoseconds.
_TICKS: Final = (10**9, 10**6, 10**3, 1)


def spread(
    times: pl.Series,
    name: str,
    *,
    basis: str,
    caveat: str = "",
    is_upper: bool = False,
    is_difference: bool = False,
    bounds: pl.Series | None = None,
) -> list[Metric]:
    """Mean, median, 95th and 99th percentile and maximum of times, in microseconds.

    Percentiles are times that occurred (the smallest that this many per cent do not exceed); of few times a high one is
    the longest, and its caveat says so.  strace cuts its times, so each is between what is printed and one more of its
    last decimal.

    Args:
        times: a Duration column; nulls are left out, and so are times below zero, which the caveat counts.
        name: such as ``gap_us``; the rows are ``gap_us_mean``, ``gap_us_p50``, ...
        basis: what the times are.
        caveat: of all rows.
        is_upper: the times are upper bounds of what is meant; then `lo` is 0.
        is_difference: they are differences of two cut times, and may also be one decimal too long.
        bounds: what each time is below, where the log shows the last decimal (``elapsed_hi``); without it the last
            decimal is taken from the times.

    Returns:
        Five metrics; refused when there is no time, or all are zero and the last decimal is not known.

    Examples:
        >>> times = pl.Series([2_132_000, 2_214_000, 2_334_000], dtype=pl.Int64).cast(pl.Duration("ns"))
        >>> [(one.metric, round(one.value, 1)) for one in spread(times, "gap_us", basis="gaps")][:2]
        [('gap_us_mean', 2226.7), ('gap_us_p50', 2214.0)]
    """
    counts = times.drop_nulls().dt.total_nanoseconds().sort()
    set_back = int((counts < 0).sum())
    if set_back:
        counts = counts.filter(counts >= 0)
        said = f"{_count(set_back)} below zero left out: the clock was set back"
        caveat = f"{caveat}; {said}" if caveat else said
    labels = ["mean", *(f"p{percent}" for percent in PERCENTILES), "max"]
    basis = f"{basis}; n = {counts.len()}"
    if counts.is_empty():
        reason = f"{REFUSED}no such time is in the log" + f"; {caveat}" * bool(set_back)
        return [Metric(f"{name}_{label}", None, None, None, "us", basis, reason) for label in labels]
    most = int(counts.item(-1))
    shown = _last_decimal(times, bounds)
    if not most and shown is None:
        reason = f"{REFUSED}the log's clock shows no time between them, and not how fine it is"
        return [Metric(f"{name}_{label}", None, None, None, "us", basis, reason) for label in labels]
    tick = tick_of(counts) if shown is None else shown
    last = counts.len() - 1
    places = [max(-(-counts.len() * percent // 100) - 1, 0) for percent in PERCENTILES]
    total = int((counts if most * counts.len() < 2**63 else counts.cast(pl.Int128)).sum())
    values = [total / counts.len(), *(float(counts.item(place)) for place in places), float(most)]
    few = f"of {_count(counts.len())} it is the longest"
    caveats = [caveat, *("; ".join(filter(None, (caveat, few * (place == last)))) for place in places), caveat]
    metrics = []
    for label, value, said in zip(labels, values, caveats, strict=True):
        lo = 0.0 if is_upper else max(value - tick * is_difference, 0.0)
        metrics.append(Metric(f"{name}_{label}", value / 1e3, lo / 1e3, (value + tick) / 1e3, "us", basis, said))
    return metrics


def bounds_of(frame: pl.DataFrame, column: str) -> pl.Series | None:
    """What each time of a column is below (``elapsed_hi`` of ``elapsed``); None where the frame has no such column."""
    name = f"{column}_hi"
    return frame.get_column(name) if name in frame.columns else None


def _last_decimal(times: pl.Series, bounds: pl.Series | None) -> int | None:
    """The largest distance in nanoseconds from a time to its bound; None where a time has no bound."""
    if bounds is None:
        return None
    steps = (bounds - times).filter(times.is_not_null()).dt.total_nanoseconds()
    return None if steps.is_empty() or steps.has_nulls() else int(steps.max())  # type: ignore[arg-type]


def _count(times: int) -> str:
    return "1 time" if times == 1 else f"{times} times"


def is_set_back(frame: pl.DataFrame, column: str) -> bool:
    """Does a process's clock go back from one line of the log to a later one?

    Examples:
        >>> lines = {"line": [1, 2, 3], "pid": [7, 8, 7], "start": [10, 0, 9]}
        >>> is_set_back(pl.DataFrame(lines).cast({"start": pl.Duration("ns")}), "start")
        True
    """
    return not set_back(frame, column).is_empty()


def set_back(frame: pl.DataFrame, column: str) -> pl.Series:
    """The processes whose clock goes back from one line of the log to a later one."""
    stamps = frame.select("line", "pid", column).drop_nulls(column).sort("line", maintain_order=True)
    step = pl.col(column).diff().over("pid").dt.total_nanoseconds()
    return stamps.filter(step < 0).get_column("pid").unique()


def window(first_ns: int, last_ns: int, *, lines: int, tick: int) -> Interval:
    """The time between two stamps of a log, in seconds.

    Both stamps are cut at a tick; with ``-r`` so is each of the numbers between them, and their sum runs short by up to
    a tick a line.

    Examples:
        >>> window(0, 6_680_000, lines=3, tick=1000).rounded(6)
        (0.00668, 0.006679, 0.006683)
    """
    passed = last_ns - first_ns
    return Interval(passed / 1e9, max(passed - tick, 0) / 1e9, (passed + tick * max(lines, 1)) / 1e9)


def nanoseconds(column: str) -> pl.Expr:
    """A Duration column as whole nanoseconds."""
    return pl.col(column).dt.total_nanoseconds()


def tick_of(times: pl.Series) -> int:
    """The last decimal that all the times show, in nanoseconds: one second, millisecond, microsecond or nanosecond.

    strace cuts a time there, so the true one lies between what is printed and one tick more.

    Args:
        times: whole nanoseconds.

    Examples:
        >>> tick_of(pl.Series([2_132_000, 245_000])), tick_of(pl.Series([3_000_000_000]))
        (1000, 1000000000)
    """
    known = times.filter(times != 0)
    if known.is_empty():
        return 1
    # Of few times, whole milliseconds are more likely chance than a log that prints no microseconds.
    ticks = (tick for tick in _TICKS if not (tick == 10**6 and known.len() < 3))
    return next(tick for tick in ticks if not any((part % tick != 0).any() for part in (known.head(1000), known)))
