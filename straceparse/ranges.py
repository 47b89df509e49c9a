"""One log in byte ranges that are read apart, with the events of the whole log.

What a line means may depend on the lines before it: its number, the clock of ``-r``, ``-t`` and ``-tt``, and the
process of a log of standard error that prints it on some lines only.  So there are two passes: `facts_of` of each
range, which needs the range alone, then `starts_of`, which adds the facts up in the order of the ranges, then
`scan_range` of each range with its start.  The passes over ranges may run in any order, anywhere::

    cuts = ranges_of(log, 8)
    facts = [facts_of(log, cut, dialect) for cut in cuts]
    starts = starts_of(facts, dialect)
    events = [scan_range(log, cut, start, dialect) for cut, start in zip(cuts, starts)]

So a log of any size is written to Parquet, in bounded memory.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import DIAGNOSTICS, LogParseError
from logframe.atomic import new_folder
from logframe.parquet import write_parts
from logframe.ranges import Piece, Range, Splitting, ranges_of, size_of, within
from straceparse.batches import DAY
from straceparse.dialects import HALF_DAY, dialect_of
from straceparse.log import StraceLog
from straceparse.opening import open_logs, shortened
from straceparse.ordered import Processes, ProcessFacts, filled, process_facts, processes_after
from straceparse.scan import scan_logs
from straceparse.schema import EVENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from logframe import Log, Source
    from straceparse.dialects import Dialect


_PROCESS: Final = ("pid", "kind", "name", "result", "note")


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


def _scan(log: Log, cut: Range, dialect: Dialect) -> pl.LazyFrame:
    """The events of a range as if it were a log; the processes are those printed."""
    own = shortened(within(log, cut))
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
    """The column that times are made of; see `straceparse.batches.Clock`."""
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """Events of a range, or other tables of the whole log.

    Attributes:
        cut: The range, or None.
        start: Of the range.
        tables: Names of the tables.
        has_diagnostics: Those of the log are with this piece.
    """

    cut: Range | None
    start: RangeStart | None
    tables: tuple[str, ...]
    has_diagnostics: bool = False


def _cuts(log: Log, size: int) -> list[Range]:
    """The ranges of a log whose lines are all of one form."""
    dialect = dialect_of([log])
    if dialect.pid == "file" or dialect.clock == "mixed" or not dialect.share:
        return []
    return ranges_of(log, max(1, size_of(log) // size))


def _facts(log: Log, cut: Range) -> RangeFacts:
    return facts_of(log, cut, dialect_of([log]))


def _pieces(log: Log, cuts: Sequence[Range], facts: Sequence[RangeFacts]) -> list[_Piece]:
    """The events of each range; the calls and the requests, whose parts may be any number of lines apart, as a whole.

    These two read only what they need of the lines, each in one pass, while the events are read.
    """
    starts = starts_of(facts, dialect_of([log]))
    events = [_Piece(cut, start, ("events",)) for cut, start in zip(cuts, starts, strict=True)]
    return [_Piece(None, None, ("requests",)), _Piece(None, None, ("calls", "summary"), has_diagnostics=True), *events]


def _read(log: Log, piece: _Piece) -> Piece:
    dialect = dialect_of([log])
    if piece.cut is not None and piece.start is not None:
        kind = StraceLog([log], dialect).kind
        events = scan_range(log, piece.cut, piece.start, dialect)
        return Piece(StraceLog.format, kind, log.name, {"events": events}, pl.DataFrame(schema=DIAGNOSTICS))
    whole = StraceLog([shortened(log)], dialect)
    tables = {name: frame for name, frame in whole.frames().items() if name in piece.tables}
    notes = whole.diagnostics if piece.has_diagnostics else pl.DataFrame(schema=DIAGNOSTICS)
    return Piece(whole.format, whole.kind, whole.source, tables, notes)


SPLITTING: Final = Splitting(cuts=_cuts, facts=_facts, pieces=_pieces, read=_read)


#: Default number of lines in one file of the data set.
LINES_PER_FILE = 2_000_000
#: Kinds of lines that a log of strace has, and other texts hardly ever.
_OWN: Final = ("call", "unfinished", "resumed", "signal", "exited", "killed")
_MOST_UNREAD: Final = 0.5


def to_parquet(
    source: Source,
    dest: str | PathLike[str],
    *,
    encoding: str | None = None,
    lines_per_file: int = LINES_PER_FILE,
    progress: Callable[[int], object] | None = None,
) -> list[Path]:
    """The files of a Parquet data set with the events of a log, written in bounded memory.

    Args:
        source: as in `scan_strace`.
        dest: a new folder, or an empty one; the files are ``part-00000.parquet`` and on.  It appears when all of them
            are written.
        encoding: as in `scan_strace`.
        lines_per_file: lines in one file.
        progress: called with the number of lines written so far, whenever a file is full.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: a log is empty, or has no line of strace.
        LogError: the folder is a URL.
        FileExistsError: the folder is not empty, or is a file.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> import polars as pl
        >>> with TemporaryDirectory() as folder:
        ...     files = to_parquet(b"close(3) = 0", folder)
        ...     print([file.name for file in files], pl.scan_parquet(folder).collect().get_column("name").to_list())
        ['part-00000.parquet'] ['close']
    """
    logs = open_logs(source, encoding=encoding)
    events = scan_logs(logs, include_file_paths="file" if len(logs) > 1 else None)
    with new_folder(os.fspath(dest)) as folder:
        names = write_parts(events, folder, rows_per_file=lines_per_file, progress=progress)
        _refuse_others(pl.scan_parquet([folder / name for name in names]), logs)
    return [Path(dest) / name for name in names]


def _refuse_others(events: pl.LazyFrame, logs: list[Log]) -> None:
    """Raise where most lines of a log are unread, and none is one of strace's."""
    file = "file" if len(logs) > 1 else pl.lit(logs[0].name).alias("file")
    kind = pl.col("kind").cast(pl.String)
    found = (
        events.group_by(file, maintain_order=True)
        .agg(kind.is_in(_OWN).any().alias("is_own"), (kind == "unparsed").mean().alias("unread"))
        .filter(~pl.col("is_own") & (pl.col("unread") > _MOST_UNREAD))
        .head(1)
        .collect()
    )
    for name in found.get_column("file"):
        raise LogParseError("no line of it is one of strace's", source=name, expected="a log of strace")
