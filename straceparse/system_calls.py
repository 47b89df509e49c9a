"""System calls: split lines joined, the times of each call, and totals of each system call.

Three times are kept apart, because strace prints three different ones (strace(1), options -r, -T and -ttt):

* ``gap``: from the start of a call to the start of the next line of the same process.  It includes the call **and** the
  time the process spent outside the kernel until its next call, so it is an upper bound of the elapsed time.
* ``elapsed``: the time in the call, from ``-T``, or from the two timestamps of a split call.
* ``end``: ``start`` + ``elapsed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl

from logframe.lazy_rows import lazy_rows
from straceparse.joining import CallJoiner
from straceparse.ordered import InOrder, batches_of, in_larger, is_known_as_one_log, of_one_log
from straceparse.records import KINDS, PARTS_GRAMMAR
from straceparse.schema import DURATION, EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: Where the time of a call comes from, and how much of it is in the log.
TIMED_BY: Final = pl.Enum(["T", "stamps"])
STATE: Final = pl.Enum(["whole", "split", "unfinished", "resumed", "detached", "cut"])
#: Columns of the calls frame, one row per system call.
CALLS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "end_line": pl.UInt32(),
        "pid": pl.Int32(),
        "start": DURATION,
        "end": DURATION,
        "gap": DURATION,
        "elapsed": DURATION,
        "elapsed_hi": DURATION,
        "elapsed_from": TIMED_BY,
        "wall": pl.Datetime("ns", "UTC"),
        "time_of_day": pl.Time(),
        "syscall": pl.String(),
        "name": pl.String(),
        "args": pl.String(),
        "result": pl.Int64(),
        "result_text": pl.String(),
        "errno": pl.String(),
        "note": pl.String(),
        "fd_path": pl.String(),
        "state": STATE,
    }
)

#: The state of a call on one line, by the kind of the line.
_STATES: Final = pl.Series([{"call": "whole"}.get(kind, kind) for kind in KINDS]).cast(STATE, strict=False)

#: Columns of the calls -> the columns of the events that they are made of, where these differ.
_MADE_OF: Final = {
    "end_line": ("line",),
    "start": ("at", "elapsed"),
    "end": ("at", "elapsed"),
    "gap": ("at", "elapsed"),
    "elapsed_from": ("elapsed",),
    "wall": ("wall", "elapsed"),
    "time_of_day": ("time_of_day", "elapsed"),
    "state": ("kind",),
}

FrameType = TypeVar("FrameType", pl.DataFrame, pl.LazyFrame)


def calls(events: FrameType) -> FrameType:
    """The calls of a log, one row per system call, in the order of their first lines.

    A call that strace split into an ``unfinished`` and a ``resumed`` line is joined by process; one whose line was
    interrupted by a notice, by program output or by ``-z`` is joined with its continuation.  A half whose other half is
    missing is kept, and `state` names the half.

    The sum of the truncated ``-r`` values can be less than ``-T`` by one microsecond per line; the gap is then set to
    the elapsed time.  With ``strace -e trace=...`` the gap also includes the calls that were not traced.  The last call
    of a process has no gap.  The files of a ``-ff -r`` set have no gaps: strace keeps one clock for all of them, so the
    values within one file do not add up (`unparsed` has a row about it).

    Args:
        events: the result of `scan_strace` or `read_strace` with all lines: filter calls, not events.

    Returns:
        The columns of `straceparse.CALLS`; a LazyFrame for a LazyFrame.  That reads the log batch by batch, in bounded
        memory: calls that wait for the end of an earlier one are kept in temporary files when they are many.

        * ``line``, ``end_line``: first and last line of the call
        * ``start``, ``end``: since the log's first timestamp; ``wall``: ``start`` in UTC (``-ttt``);
          ``time_of_day``: ``start`` as local time (``-t``, ``-tt``)
        * ``gap``: to the start of the next line of the process, an upper bound of the elapsed time
        * ``elapsed``: time in the call; ``elapsed_from``: ``T``, or ``stamps`` for the timestamps of a split call;
          ``elapsed_hi``: strace truncates the time of ``-T``, so it is below this
        * ``state``: ``whole``, ``split`` (both halves found), ``unfinished``, ``resumed``, ``detached``, ``cut``
        * the others as in the events

    Examples:
        >>> from straceparse import read_strace
        >>> log = b'''     0.000000 pread(268, "..."..., 1032192, 787496960) = 1032192
        ...      0.002132 pread(269, "..."..., 1032192, 410009600) = 1032192'''
        >>> calls(read_strace(log)).select("start", "gap", "elapsed")
        shape: (2, 3)
        ┌──────────────┬──────────────┬──────────────┐
        │ start        ┆ gap          ┆ elapsed      │
        │ ---          ┆ ---          ┆ ---          │
        │ duration[ns] ┆ duration[ns] ┆ duration[ns] │
        ╞══════════════╪══════════════╪══════════════╡
        │ 0ns          ┆ 2132µs       ┆ null         │
        │ 2132µs       ┆ null         ┆ null         │
        └──────────────┴──────────────┴──────────────┘
    """
    return _of_frame(events) if isinstance(events, pl.DataFrame) else _of_query(events)


def _of_frame(events: pl.DataFrame) -> pl.DataFrame:
    others = [name for name in events.columns if name not in EVENTS and events[name].dtype == pl.String]
    found, _ = CallJoiner(others, _sources(CALLS)).join(events.select(_needed(others, CALLS)), is_last=True)
    return _calls(found, others, list(CALLS))


def _of_query(events: pl.LazyFrame) -> pl.LazyFrame:
    schema = events.collect_schema()
    others = [name for name, dtype in schema.items() if name not in EVENTS and dtype == pl.String]

    def joined(used: list[str]) -> Iterator[pl.DataFrame]:
        return _joined_batches(events, others, used)

    found = lazy_rows(joined, {**{name: schema[name] for name in others}, **CALLS}, explained="calls")
    return of_one_log(found, joined) if is_known_as_one_log(events) else found


def _joined_batches(events: pl.LazyFrame, others: list[str], used: list[str]) -> Iterator[pl.DataFrame]:
    """The calls of a log, batch by batch, with the columns that are used."""
    own = [name for name in CALLS if name in used]
    joiner = CallJoiner(others, _sources(own))
    needed = _needed(others, own)
    with InOrder() as order:
        for batch in in_larger(batches_of(events, needed), lambda: joiner.kept):
            rows, first_open = joiner.join(batch)
            del batch  # the memory of a batch is needed for the next one
            found = _calls(rows, others, own, "_row")
            del rows
            parts = order.add(found, first_open)
            del found
            yield from (part.select(used) for part in parts)
        schema = events.collect_schema()
        rows, _ = joiner.join(pl.DataFrame(schema={name: schema[name] for name in needed}), is_last=True)
        yield from (part.select(used) for part in order.add(_calls(rows, others, own, "_row"), None))


def _sources(columns: Iterable[str]) -> list[str]:
    """The columns of the events that columns of the calls are made of."""
    found = {"line", "pid", "kind", "at", "name"}
    for name in columns:
        found.update(_MADE_OF.get(name, (name,)))
    return [name for name in EVENTS if name in found]


def _needed(others: list[str], columns: Iterable[str]) -> list[str]:
    """The columns of the events that columns of the calls are made of, and those that lines are joined by."""
    return [*others, *dict.fromkeys([*_sources(columns), "result", "result_text", "note"])]


def _earlier(time_of_day: pl.Expr, elapsed: pl.Expr) -> pl.Expr:
    """A time of day less a duration, on the day before where it passes midnight."""
    nanoseconds = time_of_day.to_physical().cast(pl.Int64) - elapsed.to_physical().cast(pl.Int64)
    return (nanoseconds % (86_400 * 10**9)).cast(pl.Time)


def _calls(lines: pl.DataFrame, others: list[str], names: list[str], *more: str) -> pl.DataFrame:
    """These columns of `CALLS`, from lines whose halves are joined."""
    is_split, is_end = pl.col("_is_split"), pl.col("kind") == "resumed"
    by_stamps = pl.when(is_split).then(pl.col("_end_at") - pl.col("at"))
    elapsed = pl.coalesce("elapsed", by_stamps)
    start = pl.when(is_end).then(pl.col("at") - pl.col("elapsed")).otherwise("at")
    printed, stamps = pl.lit("T", TIMED_BY), pl.lit("stamps", TIMED_BY)
    source = pl.when(pl.col("elapsed").is_not_null()).then(printed).when(by_stamps.is_not_null()).then(stamps)
    state = pl.lit(_STATES).gather(pl.col("kind").to_physical())
    gap = pl.col("_gap").cast(DURATION)
    columns = {
        "end_line": pl.coalesce("_end_line", "line"),
        "start": start,
        "end": pl.when(is_end).then("at").otherwise(start + elapsed),
        "gap": pl.when(~is_end).then(pl.max_horizontal(gap, pl.when(gap.is_not_null()).then(elapsed))),
        "elapsed": elapsed,
        "elapsed_from": source,
        "wall": pl.when(is_end).then(pl.col("wall") - pl.col("elapsed")).otherwise("wall"),
        "time_of_day": pl.when(is_end)
        .then(_earlier(pl.col("time_of_day"), pl.col("elapsed")))
        .otherwise("time_of_day"),
        "state": pl.when(is_split).then(pl.lit("split", STATE)).otherwise(state),
    }
    return lines.select(
        *others, *(columns.get(name, pl.col(name)).cast(CALLS[name]).alias(name) for name in names), *more
    )


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
        found = calls(events.lazy()).filter(pl.col("state").is_in(["whole", "split", "resumed"]))
        printed = pl.when(pl.col("elapsed_from") == "T").then("elapsed").alias("elapsed")
        counts = _counts(found.with_columns(printed), "elapsed")
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
