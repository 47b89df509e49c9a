"""Metrics of system calls in an strace log: gaps, times, and where the database would show them.

The frames are what `straceparse.calls` gives.  What strace's times mean: strace(1), options -r, -T and -ttt.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from iolab.metrics.table import (
    REFUSED,
    SET_BACK,
    UPPER_BOUND,
    Metric,
    bounds_of,
    clip_share,
    is_set_back,
    metrics_frame,
    nanoseconds,
    spread,
    tick_of,
    window,
)
from logframe.interval import Interval
from straceparse.call_table import HIDDEN, READS, REAPS, SUBMITS, SYNCS, WRITES
from straceparse.descriptors import is_channel

_NEEDS_T: Final = f"{REFUSED}the log has no time of the calls themselves; trace with strace -T"
_TRACED_ONLY: Final = "calls that strace was asked not to trace count as time between calls"

#: System calls -> where an Oracle session shows their time.
_SHOWN: Final = {
    **dict.fromkeys(REAPS, "direct path read when it waits; no wait event when it only polls"),
    **dict.fromkeys(SUBMITS, "no wait event"),
    **dict.fromkeys(HIDDEN, "not known"),
    "semtimedop": "the event that the session waits for (log file sync, latch, buffer busy, idle, ...)",
    "semop": "the event that the session waits for (log file sync, latch, buffer busy, idle, ...)",
    **dict.fromkeys(SYNCS, "a write wait of the file (control file, log file)"),
    "recvfrom": "SQL*Net message from client",
    "recvmsg": "SQL*Net message from client",
    "epoll_wait": "SQL*Net message from client, or another idle wait",
    "poll": "SQL*Net message from client, or another idle wait",
    "sendto": "SQL*Net message to client",
    "sendmsg": "SQL*Net message to client",
    "nanosleep": "the event that the session waits for",
    "clock_nanosleep": "the event that the session waits for",
    "select": "the event that the session waits for",
}
BETWEEN: Final = "(between calls)"


def call_gaps(calls: pl.DataFrame) -> pl.DataFrame:
    """Time from the start of a call to the start of the process's next, for each system call.

    The gap holds the call **and** the time after it, so it is an upper bound of the time in the call; from ``-r`` there
    is nothing better.

    Source: strace(1), -r: the time from the start of one call to the start of the next.

    Limitations: not a latency: it never is one.

    Args:
        calls: what `straceparse.calls` gives.

    Returns:
        Five rows a system call: ``syscall``, then `METRICS`: ``gap_us_mean``, ``gap_us_p50``, ``gap_us_p95``,
        ``gap_us_p99``, ``gap_us_max``, in us; those called most first.
    """
    caveat = f"{UPPER_BOUND} of the time in the call: the time until the next call is in it"
    return _by_name(calls, "gap", "gap_us", "start to start of the process's next line", caveat, is_difference=True)


def call_times(calls: pl.DataFrame) -> pl.DataFrame:
    """Time in each system call, as ``-T`` shows it.

    Source: strace(1), -T: the time from the beginning to the end of the call.

    Limitations: for calls of microseconds: strace stops the process twice a call, which takes longer
    than they do.

    Args:
        calls: what `straceparse.calls` gives.

    Returns:
        Five rows a system call: ``syscall``, then `METRICS`: ``elapsed_us_mean``, ``elapsed_us_p50``, ..., in us;
        refused in a log without ``-T``.
    """
    return _by_name(calls, "elapsed", "elapsed_us", "time in the call (-T)", "", is_difference=False)


def _by_name(
    calls: pl.DataFrame, column: str, metric: str, basis: str, caveat: str, *, is_difference: bool
) -> pl.DataFrame:
    order = calls.group_by("name").len().sort("len", "name", descending=[True, False]).get_column("name").to_list()
    names: list[str] = []
    metrics: list[Metric] = []
    for name in order:
        own = calls.filter(pl.col("name") == name)
        times, bounds = own.get_column(column), bounds_of(own, column)
        found = spread(times, metric, basis=basis, caveat=caveat, is_difference=is_difference, bounds=bounds)
        metrics += found
        names += [name] * len(found)
    return metrics_frame(metrics, syscall=pl.Series(names, dtype=pl.String))


def submit_cost(calls: pl.DataFrame) -> pl.DataFrame:
    """What it costs to submit asynchronous requests: the time in ``io_submit``, and its share of all the time in AIO.

    A submission that only queues takes microseconds.  Where a file is not opened with O_DIRECT the kernel reads within
    ``io_submit``, so nearly all the time is there: the request is asynchronous in name only.

    Source: io_submit(2).

    Limitations: the mean of few submissions: one that blocks makes it; look at the percentiles.

    Args:
        calls: what `straceparse.calls` gives.

    Returns:
        ``submit_us_mean``, ``submit_us_p50``, ..., in us: from ``-T``, else from the gaps, as upper bounds (``lo`` is
        0); and ``submit_time_share``, a ratio: io_submit / (io_submit + io_getevents), refused without ``-T``, and
        where one of the two was not traced.
    """
    submits = calls.filter(pl.col("name").is_in(SUBMITS))
    reaps = calls.filter(pl.col("name").is_in(REAPS))
    times = submits.get_column("elapsed")
    if times.null_count() < times.len():
        metrics = spread(times, "submit_us", basis="time in io_submit (-T)", bounds=bounds_of(submits, "elapsed"))
    else:
        caveat = f"{UPPER_BOUND}: without -T the time until the next call is in it"
        gaps = submits.get_column("gap")
        metrics = spread(gaps, "submit_us", basis="gap of io_submit", caveat=caveat, is_upper=True)
    basis = "time in io_submit / time in io_submit and io_getevents"
    inside, waiting = (frame.select(nanoseconds("elapsed")).to_series().drop_nulls() for frame in (submits, reaps))
    if calls.get_column("elapsed").null_count() == calls.height:
        reason = _NEEDS_T
    elif inside.is_empty() or waiting.is_empty():
        reason = f"{REFUSED}the log has no time of both io_submit and io_getevents"
    elif not (inside != 0).any() and not (waiting != 0).any():
        reason = f"{REFUSED}the log's clock shows no time in io_submit and io_getevents"
    else:
        return metrics_frame([*metrics, _share_of_submits(inside, waiting, basis)])
    return metrics_frame([*metrics, Metric("submit_time_share", None, None, None, "ratio", basis, reason)])


def _share_of_submits(inside: pl.Series, waiting: pl.Series, basis: str) -> Metric:
    """Each time may be up to a tick longer than it is printed."""
    tick = tick_of(pl.concat([inside, waiting]))
    (low, high), (less, more) = (
        (total, total + tick * times.len()) for times in (inside, waiting) for total in [int(times.sum())]
    )
    lo = low / (low + more)
    said = "most of the time is in io_submit: it blocks, as on files opened without O_DIRECT" if lo > 0.5 else ""
    return Metric("submit_time_share", low / (low + less), lo, high / (high + less), "ratio", basis, said)


def time_shares(calls: pl.DataFrame) -> pl.DataFrame:
    """Share of each process's time in system calls and between them, from its first call to its last.

    Between calls a process computes, or waits for a processor.

    Source: strace(1), -T and -ttt.

    Limitations: strace was asked to trace some calls only (-e): the others count as time between calls.
    strace's own time is between calls, too.

    Args:
        calls: what `straceparse.calls` gives.

    Returns:
        Two rows a process: ``pid``, then `METRICS`: ``in_calls_share``, ``between_calls_share``, ratios; refused in a
        log without ``-T``, and where the clock was set back.
    """
    pids: list[int | None] = []
    metrics: list[Metric] = []
    for (pid,), rows in calls.group_by("pid", maintain_order=True):
        found = _window_of(rows)
        basis = "sum of elapsed (-T) / (last end - first start)"
        set_back = is_set_back(rows, "start")
        if found is None or set_back or found[0].lo <= 0:
            reason = SET_BACK if set_back else f"{REFUSED}the process's time is not above the clock's step"
            reason = _NEEDS_T if found is None else reason
            both = [
                Metric(name, None, None, None, "ratio", basis, reason)
                for name in ("in_calls_share", "between_calls_share")
            ]
        else:
            seconds, inside = found
            share = clip_share(inside / seconds)
            rest = clip_share(1 - share)
            both = [
                Metric("in_calls_share", share.value, share.lo, share.hi, "ratio", basis, _TRACED_ONLY),
                Metric("between_calls_share", rest.value, rest.lo, rest.hi, "ratio", basis, _TRACED_ONLY),
            ]
        metrics += both
        pids += [pid if isinstance(pid, int) else None] * 2
    return metrics_frame(metrics, pid=pl.Series(pids, dtype=pl.Int32))


def _window_of(rows: pl.DataFrame) -> tuple[Interval, Interval] | None:
    """A process's time from its first start to its last end, and the time in its calls; None without ``-T``."""
    timed = rows.filter(pl.col("elapsed").is_not_null() & pl.col("start").is_not_null())
    if timed.is_empty():
        return None
    starts = timed.select(nanoseconds("start")).to_series()
    spent = timed.select(nanoseconds("elapsed")).to_series()
    tick = tick_of(pl.concat([starts, spent]))
    first = int(starts.item(0))
    last = max(first, int(timed.select(nanoseconds("end").max()).item()))
    lines = rows.height
    total = int(spent.sum())
    return window(first, last, lines=lines, tick=tick), Interval(
        total / 1e9, total / 1e9, (total + tick * timed.height) / 1e9
    )


def database_waits(calls: pl.DataFrame, *, block_size: int = 8192) -> pl.DataFrame:
    """Where the time goes by system call, and in which wait an Oracle session would show each.

    It is what the system calls allow, not what the database recorded: a read of several blocks is `db file scattered
    read` through the buffer cache and `direct path read` past it, and the call is the same.

    Source: strace(1); the names are those of V$EVENT_NAME.

    Limitations: not what a session waited for: only V$SESSION_EVENT or a 10046 trace shows that. Polling and
    io_submit show no wait event.

    Args:
        calls: what `straceparse.calls` gives.
        block_size: bytes in a block of the database: one is a single-block read.

    Returns:
        One row a system call and kind: ``syscall``, ``shown_as``, ``calls``, then `METRICS`: ``time_share``, a ratio of
        all processes' time; the largest first, and last the time between calls.  From ``-r`` each is an upper bound
        (``lo`` is 0), and there is no row for the time between calls.  Refused where the clock was set back.
    """
    timed = calls.with_columns(shown_as=_shown_as(block_size))
    has_times = timed.get_column("elapsed").null_count() < timed.height
    column = "elapsed" if has_times else "gap"
    windows = [_window_of(rows) for _, rows in calls.group_by("pid", maintain_order=True)] if has_times else []
    known = [one for one in windows if one is not None]
    gaps = int(calls.select(nanoseconds("gap")).to_series().sum())
    total = sum((one[0] for one in known), Interval.exact(0)) if has_times else Interval.exact(gaps / 1e9)
    sums = (
        timed.group_by("name", "shown_as")
        .agg(calls=pl.len(), time=nanoseconds(column).sum())
        .sort("time", "name", "shown_as", descending=[True, False, False])
    )
    metrics: list[Metric] = []
    basis = "time in the calls (-T) / time of the processes" if has_times else "gaps of the calls / all gaps"
    caveat = "" if has_times else f"{UPPER_BOUND}: without -T the time until the next call is in it"
    tick = tick_of(timed.select(nanoseconds(column)).to_series())
    set_back = is_set_back(calls, "start")
    is_known = total.lo > 0 and not set_back
    for time, count in sums.select("time", "calls").iter_rows():
        if not is_known:
            reason = SET_BACK if set_back else f"{REFUSED}the log shows no time"
            metrics.append(Metric("time_share", None, None, None, "ratio", basis, reason))
            continue
        share = clip_share(Interval(time / 1e9, time / 1e9, (time + tick * count) / 1e9) / total)
        lo = share.lo if has_times else 0.0
        metrics.append(Metric("time_share", share.value, lo, share.hi, "ratio", basis, caveat))
    keys = {name: sums.get_column(name).to_list() for name in ("name", "shown_as", "calls")}
    if has_times and is_known:
        rest = clip_share(1 - sum((one[1] for one in known), Interval.exact(0)) / total)
        keys = {
            name: [*values, extra]
            for (name, values), extra in zip(
                keys.items(), (BETWEEN, "DB CPU, or waiting for a processor", 0), strict=True
            )
        }
        metrics.append(Metric("time_share", rest.value, rest.lo, rest.hi, "ratio", basis, _TRACED_ONLY))
    return metrics_frame(
        metrics,
        syscall=pl.Series(keys["name"], dtype=pl.String),
        shown_as=pl.Series(keys["shown_as"], dtype=pl.String),
        calls=pl.Series(keys["calls"], dtype=pl.Int64),
    )


def _shown_as(block_size: int) -> pl.Expr:
    """Where a session shows a call's time."""
    name = pl.col("name")
    is_socket = is_channel(pl.col("fd_path"))
    return (
        pl.when(name.is_in(READS) & is_socket)
        .then(pl.lit("SQL*Net message from client"))
        .when(name.is_in(WRITES) & is_socket)
        .then(pl.lit("SQL*Net message to client"))
        .when(name.is_in(READS) & (pl.col("result") == block_size))
        .then(pl.lit("db file sequential read, or direct path read of one block"))
        .when(name.is_in(READS) & (pl.col("result") > block_size) & (pl.col("result") % block_size == 0))
        .then(pl.lit("db file scattered read, or direct path read"))
        .when(name.is_in(READS))
        .then(pl.lit("no data block: a control file, a log, or no wait event"))
        .when(name.is_in(WRITES))
        .then(pl.lit("a write wait of the file (data, log, direct path, trace file)"))
        .otherwise(name.replace_strict(_SHOWN, default="no wait event", return_dtype=pl.String))
    )
