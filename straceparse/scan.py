"""Scanning: a log of any size as a LazyFrame of events, one row a line.

Three engines share the work; each takes the lines that the one before it does not match:

1. slices at fixed positions, for lines with a prefix of fixed width (`straceparse.fixed_width`): most lines of most
   logs;
2. regular expressions for calls, split calls, signals and exits of variable width (`straceparse.patterns`);
3. Lark (`straceparse.line_parser`), for everything else, and for the reason why a line cannot be parsed.

All three are built from the terminals of ``parts.lark``; compiled code takes the place of the first where it is there.
Tests over real and damaged lines check that they agree.
Lines are read in batches (`straceparse.batches`): columns that are not selected are not computed, and only a few
batches are in memory, whatever the size of the log.

Of a set of logs, such as the thousands of files of ``strace -ff``, the small ones are joined to one text: the cost of a
query is paid once for many of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from polars.io.plugins import register_io_source

from logframe.lazy_rows import lazy_rows
from straceparse.batches import BATCH_BYTES, BatchReader, Clock, kinds_of
from straceparse.dialects import Dialect, dialect_of, file_pid
from straceparse.opening import ShortenedLog, open_logs
from straceparse.ordered import is_known_as_one_log, of_one_log, survivors
from straceparse.prefix import Layout, layout_of
from straceparse.schema import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from logframe import Log, Source


class SetReader:
    """Reads several logs into events, one after the other, in bounded memory.

    Args:
        layout: the fixed-width prefix of most lines, or None.
        dialect: of all the logs.
        name: of the column with the log of each event, or None.
        batch_bytes: size of a batch.
    """

    def __init__(self, layout: Layout | None, dialect: Dialect, name: str | None, batch_bytes: int) -> None:
        self._layout = layout
        self._dialect = dialect
        self._name = name
        self._batch_bytes = batch_bytes
        self._reader = BatchReader(layout, dialect, batch_bytes=batch_bytes)

    def events(self, logs: Sequence[Log], columns: Sequence[str], n_rows: int | None) -> Iterator[pl.DataFrame]:
        """The events of logs, `n_rows` of each at most, with these columns."""
        for group in _groups(logs, self._batch_bytes):
            if len(group) == 1 or n_rows is not None:
                for log in group:
                    yield from self._events_of_one(log, columns, n_rows)
            else:
                yield self._events_of_many(group, columns)

    def _events_of_one(self, log: Log, columns: Sequence[str], n_rows: int | None) -> Iterator[pl.DataFrame]:
        pid = file_pid(log) if self._dialect.pid == "file" else None
        reader = BatchReader(self._layout, self._dialect, pid, batch_bytes=self._batch_bytes)
        own = [name for name in columns if name != self._name]
        for found in reader.events_of(log, n_rows, own or ["line"]):
            named = found if self._name is None else found.with_columns(pl.lit(log.name).alias(self._name))
            yield named.select(columns)

    def _events_of_many(self, logs: Sequence[Log], columns: Sequence[str]) -> pl.DataFrame:
        """The events of small logs, read as one text."""
        texts = [_text(log) for log in logs]
        heights = [text.count(b"\n") for text in texts]
        joined = replace(logs[0], target=b"".join(texts))
        clock = Clock(self._dialect)
        needs = {"at": clock.needs}
        wanted = list(dict.fromkeys(["line", *(needs.get(name, name) for name in columns if name != self._name)]))
        found = pl.concat(list(self._reader.events(self._reader.lines_of(joined, None), wanted)), rechunk=True)
        which = pl.Series(range(len(logs)), dtype=pl.UInt32).repeat_by(pl.Series(heights)).explode()
        starts = pl.Series(heights, dtype=pl.UInt32).cum_sum().shift(1, fill_value=0)
        parts = {name: found.get_column(needs.get(name, name)) for name in columns if name != self._name}
        if "line" in columns:
            parts["line"] = found.get_column("line") - starts.gather(which)
        if "pid" in columns and self._dialect.pid == "file":
            parts["pid"] = pl.Series([file_pid(log) for log in logs], dtype=EVENTS["pid"]).gather(which)
        if "at" in columns:
            parts["at"] = self._times(found.get_column(clock.needs), starts.to_list(), heights)
        if self._name is not None and self._name in columns:
            parts[self._name] = pl.Series([log.name for log in logs]).gather(which)
        return pl.DataFrame([parts[name].alias(name) for name in columns])

    def _times(self, stamps: pl.Series, starts: Sequence[int], heights: Sequence[int]) -> pl.Series:
        """The start of each line; every log has a clock of its own."""
        pieces = zip(starts, heights, strict=True)
        return pl.concat([Clock(self._dialect).times(stamps.slice(start, height)) for start, height in pieces])


def _groups(logs: Sequence[Log], most_bytes: int) -> Iterator[list[Log]]:
    """The logs in order, in groups of about this many bytes; a large one is a group of its own."""
    group: list[Log] = []
    total = 0
    for log in logs:
        if isinstance(log, ShortenedLog):
            if group:
                yield group
            yield [log]
            group, total = [], 0
            continue
        size = _size(log)
        if group and total + size > most_bytes:
            yield group
            group, total = [], 0
        group.append(log)
        total += size
    if group:
        yield group


def _size(log: Log) -> int:
    return len(log.target) if isinstance(log.target, bytes) else Path(log.target).stat().st_size


def _text(log: Log) -> bytes:
    """The text of a log; its last line ends, too."""
    text = log.target if isinstance(log.target, bytes) else Path(log.target).read_bytes()
    return text if text.endswith(b"\n") else text + b"\n"


def scan_strace(
    source: Source,
    *,
    encoding: str | None = None,
    include_file_paths: str | None = None,
    n_rows: int | None = None,
) -> pl.LazyFrame:
    """The events of a log, one row a line, as a LazyFrame.

    The columns are the same for all options and versions of strace; what a log does not print is null.  No line is
    dropped: one that cannot be parsed has the kind ``unparsed`` (see `unparsed`).

    Args:
        source: a log, several, or the files of a ``-ff`` set: paths, globs, bytes, file objects, compressed or not.
        encoding: of a log that is not UTF-8; detected by default.
        include_file_paths: name of a column with the log each line comes from.
        n_rows: read this many lines of each log at most.

    Returns:
        The columns of `straceparse.EVENTS`.

        * ``line``: number of the line in its log, from 1
        * ``pid``, ``comm``: process (null for the only process of a log that prints none), its command (``-Y``)
        * ``at``: start of the line's event, from the log's first timestamp; null without a clock.  Of a ``resumed``
          line it is the end of the call.
        * ``wall``: that instant in UTC (``-ttt``);  ``time_of_day``: the local time printed (``-t``, ``-tt``)
        * ``relative_ts``: as printed by ``-r``: time since the start of the previous line, **not** the duration of
          this call
        * ``kind``: one of `straceparse.KINDS`
        * ``syscall``, ``name``: as printed, and under one name across versions (``pread`` -> ``pread64``)
        * ``args``: text between the parentheses; ``result``: the number returned; ``result_text``: as printed
        * ``errno``: ``ENOENT``...; ``note``: the text in parentheses after it, and the text of signals, exits and
          notices
        * ``elapsed``: time in the call, from ``-T`` only; it is truncated, so the time is below ``elapsed_hi``
        * ``fd_path``: what ``-y`` prints after the first argument, or after the result where the call returns a
          descriptor
        * ``syscall_number``, ``instruction_pointer``: of ``-n`` and ``-i``
        * ``reason``: why a line is ``unparsed`` or ``cut``

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: a log is empty, or is no text.

    Examples:
        >>> log = b'''     0.000000 pread(268, "..."..., 1032192, 787496960) = 1032192
        ...      0.002132 pread(269, "..."..., 1032192, 410009600) = 1032192'''
        >>> scan_strace(log).select("at", "name", "result").collect()
        shape: (2, 3)
        ┌──────────────┬─────────┬─────────┐
        │ at           ┆ name    ┆ result  │
        │ ---          ┆ ---     ┆ ---     │
        │ duration[ns] ┆ str     ┆ i64     │
        ╞══════════════╪═════════╪═════════╡
        │ 0ns          ┆ pread64 ┆ 1032192 │
        │ 2132µs       ┆ pread64 ┆ 1032192 │
        └──────────────┴─────────┴─────────┘
    """
    return scan_logs(open_logs(source, encoding=encoding), include_file_paths=include_file_paths, n_rows=n_rows)


def scan_logs(
    logs: list[Log],
    *,
    include_file_paths: str | None = None,
    n_rows: int | None = None,
    batch_bytes: int = BATCH_BYTES,
    dialect: Dialect | None = None,
) -> pl.LazyFrame:
    """The events of opened logs, whose dialect is found where it is not given; see `scan_strace`."""
    dialect = dialect or dialect_of(logs)
    layout = layout_of(dialect.lines)
    written = [log for log in logs if not log.is_empty()]
    if len(logs) > 1 and dialect.pid != "mixed" and not any(isinstance(log.target, str) for log in logs):
        return _scan_set(written, dialect, layout, include_file_paths, n_rows, batch_bytes)
    frames = []
    for log in written:
        frame = _scan(log, dialect, layout, n_rows, batch_bytes)
        if include_file_paths is not None:
            frame = frame.with_columns(pl.lit(log.name).alias(include_file_paths))
        frames.append(frame)
    if len(frames) > 1:
        return _one_after_the_other(frames)
    return frames[0] if is_known_as_one_log(frames[0]) else of_one_log(frames[0])


def read_strace(
    source: Source,
    *,
    encoding: str | None = None,
    include_file_paths: str | None = None,
    n_rows: int | None = None,
    strict: bool = False,
) -> pl.DataFrame:
    r"""The events of a log in memory: `scan_strace`, collected.

    Args:
        source: as in `scan_strace`.
        encoding: as in `scan_strace`.
        include_file_paths: as in `scan_strace`.
        n_rows: as in `scan_strace`.
        strict: raise at the first line that cannot be read.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: a log is empty or no text; with `strict`, a line cannot be read.

    Examples:
        >>> read_strace(b"close(3) = 0\nhello").get_column("kind").to_list()
        ['call', 'unparsed']
    """
    events = scan_strace(source, encoding=encoding, include_file_paths=include_file_paths, n_rows=n_rows).collect()
    if strict:
        from straceparse.diagnostics import raise_first  # noqa: PLC0415 - the others need no diagnostics

        raise_first(events, source)
    return events


def _scan(log: Log, dialect: Dialect, layout: Layout | None, n_rows: int | None, batch_bytes: int) -> pl.LazyFrame:
    """The events of one log."""
    pid = file_pid(log) if dialect.pid == "file" else None

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The events of as many lines and with those columns that are selected."""
        reader = BatchReader(layout, dialect, pid, batch_bytes=batch_bytes)
        rows = min((number for number in (n_rows, limit) if number is not None), default=None)
        wanted = list(EVENTS) if columns is None else columns
        tested = [] if predicate is None else [name for name in predicate.meta.root_names() if name not in wanted]
        for found in reader.events_of(log, rows, [*wanted, *tested], kinds_of(predicate)):
            yield (found if predicate is None else found.filter(predicate)).select(wanted)

    events = register_io_source(batches, schema=EVENTS, is_pure=True, explain_name="strace", explain_detail=log.name)
    if dialect.pid != "mixed":
        return of_one_log(events, lambda columns: batches(columns, None, None, None))
    process = pl.struct("pid", "kind", "name", "result", "note").map_batches(survivors, return_dtype=EVENTS["pid"])
    return events.with_columns(process.alias("pid"))


def _scan_set(
    logs: list[Log],
    dialect: Dialect,
    layout: Layout | None,
    include_file_paths: str | None,
    n_rows: int | None,
    batch_bytes: int,
) -> pl.LazyFrame:
    """The events of several logs; small ones are joined, so that a query reads thousands of them."""
    schema = {**EVENTS, **({include_file_paths: pl.String()} if include_file_paths is not None else {})}

    def rows(columns: list[str]) -> Iterator[pl.DataFrame]:
        return SetReader(layout, dialect, include_file_paths, batch_bytes).events(logs, columns, n_rows)

    return lazy_rows(rows, schema, explained="strace", detail=f"{len(logs)} logs")


def _one_after_the_other(frames: list[pl.LazyFrame]) -> pl.LazyFrame:
    """The rows of all frames; one query each, because Polars stalls on hundreds of sources in one."""

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = limit
        for frame in frames:
            selected = frame if predicate is None else frame.filter(predicate)
            selected = selected if columns is None else selected.select(columns)
            found = (selected if left is None else selected.head(left)).collect()
            yield found
            if left is not None and (left := left - found.height) <= 0:
                return

    return register_io_source(batches, schema=frames[0].collect_schema(), is_pure=True)
