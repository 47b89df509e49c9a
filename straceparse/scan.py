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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from polars.io.plugins import register_io_source

from logframe.lazy_rows import lazy_rows
from straceparse.batches import BATCH_BYTES, BatchReader, kinds_of
from straceparse.dialects import Dialect, dialect_of, file_pid
from straceparse.opening import open_logs
from straceparse.ordered import is_known_as_one_log, of_one_log, survivors
from straceparse.prefix import Layout, layout_of
from straceparse.schema import EVENTS
from straceparse.sets import SetReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Log, Source


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
