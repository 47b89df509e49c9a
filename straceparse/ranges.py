"""One log in byte ranges that are read apart, with the events of the whole log.

What a line means may depend on the lines before it: its number, the clock of ``-r``, ``-t`` and ``-tt``, and the
process of a log of standard error that prints it on some lines only.  So there are two passes: `facts_of` of each
range, which needs the range alone, then `starts_of`, which adds the facts up in the order of the ranges, then
`scan_range` of each range with its start.  The passes over ranges may run in any order, anywhere::

    cuts = byte_ranges(log, 8)
    facts = [facts_of(log, cut, dialect) for cut in cuts]
    starts = starts_of(facts, dialect)
    events = [scan_range(log, cut, start, dialect) for cut, start in zip(cuts, starts)]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import LogParseError
from straceparse.clocks import DAY
from straceparse.dialects import HALF_DAY
from straceparse.opening import shortened
from straceparse.processes import Processes, ProcessFacts, filled, process_facts, processes_after
from straceparse.scan import scan_logs
from straceparse.schema import EVENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Log
    from straceparse.dialects import Dialect

_CHUNK: Final = 1 << 16
_PROCESS: Final = ("pid", "kind", "name", "result", "note")


class Range(NamedTuple):
    """Bytes of a log, whole lines."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RangeFacts:
    """What the ranges after this one need of it.

    Attributes:
        lines: Its number of lines.
        first: First timestamp in nanoseconds, or None: with ``-r`` the first step.
        last: Last timestamp.
        days: Midnights within it (``-t``, ``-tt``).
        steps: Sum of its steps (``-r``).
        processes: Which processes it names, where some lines name none.
    """

    lines: int
    first: int | None
    last: int | None
    days: int
    steps: int
    processes: ProcessFacts | None


@dataclass(frozen=True, slots=True)
class RangeStart:
    """What a range needs of those before it.

    Attributes:
        line: Number of lines before it.
        shift: Nanoseconds to add to times since its own first timestamp.
        processes: The processes that are traced at its start, where some lines name none.
    """

    line: int
    shift: int
    processes: Processes | None


def byte_ranges(log: Log, count: int) -> list[Range]:
    """A log in so many ranges of about the same size, or fewer where it has few lines.

    Raises:
        LogParseError: The log is no file of this machine and no bytes.
    """
    size = _size(log)
    starts = [0]
    for number in range(1, count):
        start = _line_after(log, max(size * number // count, starts[-1]), size)
        if starts[-1] < start < size:
            starts.append(start)
    return [Range(start, end) for start, end in zip(starts, [*starts[1:], size], strict=True)]


def _size(log: Log) -> int:
    match log.target:
        case bytes():
            return len(log.target)
        case Path():
            return log.target.stat().st_size
        case _:
            raise LogParseError("only a file of this machine is read in ranges", source=log.name)


def _line_after(log: Log, place: int, size: int) -> int:
    """Where the first line starts after a place."""
    while place < size:
        found = _bytes(log, Range(place, min(place + _CHUNK, size))).find(b"\n")
        if found >= 0:
            return place + found + 1
        place += _CHUNK
    return size


def _bytes(log: Log, cut: Range) -> bytes:
    if isinstance(log.target, bytes):
        return log.target[cut.start : cut.end]
    with Path(log.target).open("rb") as file:
        file.seek(cut.start)
        return file.read(cut.end - cut.start)


def _scan(log: Log, cut: Range, dialect: Dialect) -> pl.LazyFrame:
    """The events of a range as if it were a log; the processes are those printed."""
    own = shortened(replace(log, target=_bytes(log, cut)))
    as_printed = replace(dialect, pid="bracket") if dialect.pid == "mixed" else dialect
    return scan_logs([own], dialect=as_printed)


def facts_of(log: Log, cut: Range, dialect: Dialect) -> RangeFacts:
    """The facts of one range of a log."""
    stamp = _stamp(dialect)
    wanted = [*(["line"] if stamp is None else [stamp]), *(_PROCESS if dialect.pid == "mixed" else ())]
    events = _scan(log, cut, dialect).select(wanted).collect()
    processes = process_facts(events.select(_PROCESS)) if dialect.pid == "mixed" else None
    if stamp is None:
        return RangeFacts(events.height, None, None, 0, 0, processes)
    stamps = events.get_column(stamp).to_physical()
    known = stamps.drop_nulls()
    if known.is_empty():
        return RangeFacts(events.height, None, None, 0, 0, processes)
    days = int((known.diff() < -HALF_DAY).sum()) if stamp == "time_of_day" else 0
    first, last = int(known[0]), int(known[-1])
    return RangeFacts(events.height, first, last, days, int(known.sum()) if stamp == "relative_ts" else 0, processes)


def _stamp(dialect: Dialect) -> str | None:
    """The column that times are made of; see `straceparse.clocks.Clock`."""
    if dialect.relative_ts != "none" and dialect.pid != "file":
        return "relative_ts"
    if dialect.clock == "none":
        return None
    return "wall" if dialect.clock == "epoch" else "time_of_day"


def starts_of(facts: Sequence[RangeFacts], dialect: Dialect) -> list[RangeStart]:
    """What each range of a log needs of those before it.

    Args:
        facts: Of all ranges, in their order.
        dialect: Of the whole log.
    """
    processes: list[Processes | None] = [None] * len(facts)
    if dialect.pid == "mixed":
        processes = list(processes_after([one.processes for one in facts if one.processes is not None]))
    is_sum = _stamp(dialect) == "relative_ts"
    is_daily = _stamp(dialect) == "time_of_day"
    starts = []
    line = total = days = 0
    origin = last = None
    for one, traced in zip(facts, processes, strict=True):
        origin = one.first if origin is None else origin
        if is_daily and last is not None and one.first is not None and one.first - last < -HALF_DAY:
            days += 1
        own = (one.first or 0) - (origin or 0)
        starts.append(RangeStart(line, own + (total if is_sum else days * DAY), traced))
        line += one.lines
        total += one.steps
        days += one.days
        last = one.last if one.last is not None else last
    return starts


def scan_range(log: Log, cut: Range, start: RangeStart, dialect: Dialect) -> pl.LazyFrame:
    """The events of a range, as `straceparse.scan_strace` gives them for the whole log.

    Args:
        log: The log.
        cut: One of its ranges.
        start: Its start, of `starts_of`.
        dialect: Of the whole log.
    """
    events = _scan(log, cut, dialect)
    at = pl.col("at") + pl.lit(start.shift, pl.Int64).cast(EVENTS["at"])
    line = (pl.col("line") + start.line).cast(EVENTS["line"])
    traced = start.processes
    if traced is None:
        return events.with_columns(at=at, line=line)
    process = pl.struct(_PROCESS).map_batches(lambda rows: filled(rows, traced), return_dtype=EVENTS["pid"])
    return events.with_columns(at=at, line=line, pid=process)
