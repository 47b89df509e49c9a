"""Waits of the database beside the system calls of the same reads: what the database adds to a read.

A process that reads synchronously prints a wait whose time contains that of its system call.  Both logs have a clock:
that of the trace is known between bounds, that of strace exactly.  Of all offsets within the bounds the one is taken at
which the most waits hold exactly a call of a matching size; where it is not clear, nothing is compared.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.loading import as_log
from iolab.metrics.sql_trace import ASYNCHRONOUS, reads_of
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Source
    from sqltraceparse import SqlTrace
    from straceparse import StraceLog

#: Columns of `WaitAlignment.waits`.
WAIT_CALLS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "event": pl.String(),
        "wait_us": pl.Float64(),
        "calls": pl.Int64(),
        "call_line": pl.Int64(),
        "call_us": pl.Float64(),
        "added_us": pl.Float64(),
        "bytes": pl.Int64(),
    }
)
#: A wait counts whole microseconds, and so does the clock at its end.
_RESOLUTION_US: Final = 2.0
#: Reads by which the offset is found; more say no more, and the work grows with their square.
_MOST_READS: Final = 1_500
#: At least this many waits must hold a call at the offset, as a share of those that lie within the strace log.
_LEAST_SHARE: Final = 0.8
#: At another offset, further away than the longest wait, at most this many as a share of those.
_MOST_ELSEWHERE: Final = 0.5
_LEAST_READS: Final = 5
_BLOCK_SIZES: Final = (2048, 4096, 8192, 16384, 32768)


@dataclass(frozen=True, slots=True)
class WaitAlignment:
    """Waits for reads beside the system calls that they contain.

    Attributes:
        waits: one row a wait for a synchronous read (`WAIT_CALLS`), in the order of the trace: its time, the number of
            read calls of a matching size within it, and where that is one, the call's line, its time, what the
            database adds (wait - call), all in us, and its bytes.
        summary: one row an event: ``waits``, ``matched`` (those with one call), then of the matched ones
            ``wait_us_mean``, ``call_us_mean``, ``added_us_mean``, ``added_us_p50``, ``added_us_p95``, ``added_us_max``.
        process: the process.
        offset_us: what was added to the trace's wall clock, with ``offset_lo_us`` and ``offset_hi_us``: the offsets at
            which as many waits hold a call.
        block_size: bytes of a block, by which calls and waits agree.
        notes: what was assumed, one sentence each.
    """

    waits: pl.DataFrame
    summary: pl.DataFrame
    process: int
    offset_us: float
    offset_lo_us: float
    offset_hi_us: float
    block_size: int
    notes: tuple[str, ...]

    def samples(self) -> pl.DataFrame:
        """The matched reads as two samples for `iolab.charts.ecdf`: ``sample``, ``latency`` (a Duration)."""
        matched = self.waits.filter(pl.col("call_us").is_not_null())
        sides = (("wait of the database", "wait_us"), ("system call", "call_us"))
        return pl.concat(
            matched.select(sample=pl.lit(name), latency=(pl.col(column) * 1000).round().cast(pl.Int64))
            for name, column in sides
        ).with_columns(pl.col("latency").cast(pl.Duration("ns")))


class _Wait(NamedTuple):
    line: int
    event: str
    elapsed: int
    end: float
    blocks: int


class _Call(NamedTuple):
    line: int
    start: float
    end: float
    size: int


class _Window(NamedTuple):
    """Offsets in us at which a number of waits hold a call."""

    waits: int
    low: float
    high: float


def align_waits(
    trace: SqlTrace | Source, log: StraceLog | Source, *, process: int | None = None, shift_s: float | None = None
) -> WaitAlignment:
    """What the database adds to each read: its waits beside the system calls of the same process.

    Source: ``ela`` of each wait for a synchronous read; the time of the call that lies within it (``strace -T``).

    Limitations: not the database's own work for a read: the time between two waits is in the CPU of the call; strace
    itself slows each call, most of which is between the calls and so in the wait.

    Args:
        trace: with waits (level 8 or 12) and stamps.
        log: with the wall clock (``-ttt``) and times of calls (``-T``).
        process: the process of both, where the logs do not say it: ``strace -p`` without ``-f`` prints none.
        shift_s: seconds to add to the stamps of a trace that prints no zone, to get to UTC: -7200 where they are of
            UTC+2.

    Raises:
        RefusedError: the logs are not of one process, a clock is missing, or no offset is clearly the right one.
    """
    trace = as_log(trace, "sqltrace")
    log = as_log(log, "strace")
    process = _process(trace, log, process)
    notes = []
    clock = _clock(trace, process)
    shift_us = 0.0
    if not clock["zone_is_known"]:
        if shift_s is None:
            raise RefusedError("the trace prints local time without a zone: its distance to UTC is not known")
        shift_us = shift_s * 1e6
        notes.append(f"the trace prints no zone; its stamps were moved by {shift_s:+,.0f} s, as given")
    wide = (clock["offset_lo_us"] - clock["offset_us"], clock["offset_hi_us"] - clock["offset_us"])
    every, calls = _waits(trace, process, shift_us), _calls(log, process)
    first, last = calls[0].start, max(call.end for call in calls)
    waits = [one for one in every if one.end + wide[1] >= first and one.end - one.elapsed + wide[0] <= last]
    if len(waits) < len(every):
        notes.append(f"{len(every) - len(waits):,} waits for reads lie outside the time of strace's log")
    if not waits:
        raise RefusedError(f"none of the {len(every):,} waits for reads lies in the time of the strace log")
    size, best, elsewhere = _offset(waits, calls, wide)
    probed = len(_probed(waits))
    if best.waits < max(_LEAST_READS, _LEAST_SHARE * probed):
        raise RefusedError(
            f"the clocks cannot be aligned: at the best offset {best.waits:,} of {probed:,} waits for reads hold a "
            "read call: the strace log may be of another time, or lack read calls"
        )
    if elsewhere > _MOST_ELSEWHERE * best.waits:
        raise RefusedError(
            f"the clocks cannot be aligned: at one offset {best.waits:,} pairs of a wait and a read call fit, and "
            f"{elsewhere:,} at another; the reads are too alike"
        )
    offset = (best.low + best.high) / 2
    frame = _matched(waits, calls, offset, size)
    return WaitAlignment(frame, _summary(frame), process, offset, best.low, best.high, size, tuple(notes))


def _process(trace: SqlTrace, log: StraceLog, process: int | None) -> int:
    traced = set(trace.waits.get_column("process").drop_nulls())
    called = set(log.requests.select(pl.col("pid").unique()).collect().get_column("pid").drop_nulls())
    if process is None:
        both = traced & called
        if len(both) == 1:
            return int(both.pop())
        if not traced or not called:
            silent = "the SQL trace, whose first lines are missing," if not traced else "the strace log"
            raise RefusedError(f"{silent} does not say which process it is of; strace -f prints it on every line")
        found = f"{len(both)} processes are in both logs" if both else "no process is in both logs"
        raise RefusedError(f"{found}; trace one process with both")
    for name, known in (("trace", traced), ("strace log", called)):
        if known and process not in known:
            raise RefusedError(f"the {name} has no read of process {process}")
    return process


def _clock(trace: SqlTrace, process: int) -> dict[str, float]:
    """The one clock of the process, with bounds."""
    clocks = trace.clock.filter(pl.col("process").eq_missing(process) | pl.col("process").is_null())
    if clocks.height != 1:
        raise RefusedError(f"the trace has {clocks.height} clocks of this process; cut it where the clock changes")
    row = clocks.row(0, named=True)
    if row["offset_us"] is None or row["offset_hi_us"] is None:
        raise RefusedError("the stamps of the trace do not bound its clock; it needs a stamp between two of its lines")
    return row


def _waits(trace: SqlTrace, process: int, shift_us: float) -> list[_Wait]:
    """Waits for synchronous reads of one request, with their ends in us since 1970."""
    own = pl.col("process").eq_missing(process) | pl.col("process").is_null()
    kept = (
        reads_of(trace.waits)
        .filter(own, ~pl.col("event").is_in(ASYNCHRONOUS), pl.col("wall").is_not_null(), pl.col("blocks").is_not_null())
        .filter(pl.col("requests").fill_null(1) == 1)
        .select("line", "event", "elapsed_us", pl.col("wall").dt.epoch("us") + shift_us, "blocks")
        .sort("wall", maintain_order=True)
    )
    if kept.height < _LEAST_READS:
        raise RefusedError(f"the trace has {kept.height} waits for synchronous reads with their blocks; 5 are needed")
    return [_Wait(*row) for row in kept.iter_rows()]


def _calls(log: StraceLog, process: int) -> list[_Call]:
    """Synchronous reads, with their starts and ends in us since 1970."""
    own = pl.col("pid").eq_missing(process) | pl.col("pid").is_null()
    reads = log.requests.filter(own, pl.col("op") == "read", pl.col("mode") == "sync").collect()
    timed = reads.filter(pl.col("latency_from").cast(pl.String).is_in(["T", "stamps"]))
    if timed.is_empty():
        raise RefusedError("strace's log has no read with its own time; it needs -T")
    if timed.get_column("wall").null_count():
        raise RefusedError("strace's log has no wall clock with the date; it needs -ttt")
    start = pl.col("wall").dt.epoch("ns") / 1000
    kept = timed.filter(pl.col("bytes_transferred") > 0).select(
        "line", start, start.alias("end") + pl.col("latency").dt.total_nanoseconds() / 1000, "bytes_transferred"
    )
    return [_Call(*row) for row in kept.sort("wall").iter_rows()]


def _offset(waits: list[_Wait], calls: list[_Call], wide: tuple[float, float]) -> tuple[int, _Window, int]:
    """The block size and the offsets at which the most waits hold a call of their size.

    Returns:
        The size, the offsets, and how many waits hold a call at the best offset that is far from them.
    """
    starts = [call.start for call in calls]
    probed = _probed(waits)
    edges: dict[int, list[tuple[float, int]]] = {size: [] for size in _BLOCK_SIZES}
    for wait in probed:
        first = bisect_left(starts, wait.end - wait.elapsed + wide[0] - _RESOLUTION_US)
        last = bisect_right(starts, wait.end + wide[1] + _RESOLUTION_US)
        for call in calls[first:last]:
            size, rest = divmod(call.size, wait.blocks) if wait.blocks else (0, 0)
            low = max(wide[0], call.end - wait.end - _RESOLUTION_US)
            high = min(wide[1], call.start - wait.end + wait.elapsed + _RESOLUTION_US)
            if rest == 0 and size in edges and low <= high:
                edges[size] += [(low, 0), (high, 1)]
    windows = {size: _windows(edges[size]) or [_Window(0, *wide)] for size in _BLOCK_SIZES}
    best = {size: max(found, key=lambda window: window.waits) for size, found in windows.items()}
    size = max(best, key=lambda one: best[one].waits)
    away = max((wait.elapsed for wait in probed), default=0) + _RESOLUTION_US
    low, high = best[size].low - away, best[size].high + away
    others = [one.waits for one in windows[size] if one.high < low or one.low > high]
    return size, best[size], max(others, default=0)


def _probed(waits: list[_Wait]) -> list[_Wait]:
    """Some of the waits, from all of the time."""
    return waits[:: -(-len(waits) // _MOST_READS) or 1]


def _windows(edges: list[tuple[float, int]]) -> list[_Window]:
    """How many intervals cover each stretch between two edges; an edge is a start (0) or an end (1)."""
    windows = []
    count = 0
    for (place, is_end), (following, _) in pairwise(sorted(edges)):
        count += -1 if is_end else 1
        windows.append(_Window(count, place, following))
    return windows


def _matched(waits: Sequence[_Wait], calls: Sequence[_Call], offset: float, block_size: int) -> pl.DataFrame:
    """Each wait with the calls of its size that lie within it."""
    starts = [call.start for call in calls]
    rows = []
    for wait in waits:
        begin, end = wait.end - wait.elapsed + offset - _RESOLUTION_US, wait.end + offset + _RESOLUTION_US
        within = [
            call
            for call in calls[bisect_left(starts, begin) : bisect_right(starts, end)]
            if call.end <= end and call.size == wait.blocks * block_size
        ]
        row: dict[str, object] = {"line": wait.line, "event": wait.event, "wait_us": float(wait.elapsed)}
        row["calls"] = len(within)
        if len(within) == 1:
            (call,) = within
            time = call.end - call.start
            row |= {"call_line": call.line, "call_us": time, "added_us": wait.elapsed - time, "bytes": call.size}
        rows.append(row)
    return pl.DataFrame(rows, schema=WAIT_CALLS).sort("line")


def _summary(waits: pl.DataFrame) -> pl.DataFrame:
    """The matched waits by event."""
    matched = pl.col("call_us").is_not_null()
    added = pl.col("added_us")
    return (
        waits.group_by("event", maintain_order=True)
        .agg(
            waits=pl.len().cast(pl.Int64),
            matched=matched.sum().cast(pl.Int64),
            wait_us_mean=pl.col("wait_us").filter(matched).mean(),
            call_us_mean=pl.col("call_us").mean(),
            added_us_mean=added.mean(),
            added_us_p50=added.quantile(0.5, "nearest"),
            added_us_p95=added.quantile(0.95, "nearest"),
            added_us_max=added.max(),
        )
        .sort("waits", descending=True, maintain_order=True)
    )
