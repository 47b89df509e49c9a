"""The schema of the events frame, and how text becomes its types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.dialect import HALF_DAY, file_pid
from straceparse.records import GRAMMAR, KINDS

if TYPE_CHECKING:
    from logframe import Log
    from straceparse.dialect import Dialect

KIND: Final = pl.Enum(KINDS)
DURATION: Final = pl.Duration("ns")

#: Columns of the events frame: one row a line of the log.
EVENTS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "pid": pl.Int32(),
        "comm": pl.String(),
        "at": DURATION,
        "wall": pl.Datetime("ns", "UTC"),
        "time_of_day": pl.Time(),
        "since": DURATION,
        "kind": KIND,
        "syscall": pl.String(),
        "name": pl.String(),
        "args": pl.String(),
        "result": pl.Int64(),
        "result_text": pl.String(),
        "errno": pl.String(),
        "note": pl.String(),
        "elapsed": DURATION,
        "fd_path": pl.String(),
        "number": pl.Int32(),
        "address": pl.String(),
        "reason": pl.String(),
    }
)

_DAY: Final = 86_400 * 10**9
_NANO: Final = pl.Decimal(28, 9)


_STAMPED: Final = frozenset(KINDS[:5]) | frozenset(KINDS[6:11])
_DETACHED = re.compile(r"Process ([0-9]+) detached$")


def typed_columns(log: Log, dialect: Dialect) -> list[pl.Expr]:
    """The columns of `EVENTS` from the raw columns ``_kind``, ``_pid``, ... of one log."""
    value = pl.col("_value")
    clock, since = pl.col("_instant"), pl.col("_elapsed_since")
    shown = value
    if dialect.has_paths:
        shown = pl.concat_str(value, pl.format("<{}>", pl.col("_decoration")).fill_null(""))
    columns = {
        "line": pl.col("line"),
        "pid": _pid(log, dialect),
        "comm": pl.col("_comm"),
        "at": _at(dialect, clock, since),
        "wall": clock.cast(EVENTS["wall"]) if dialect.clock == "epoch" else _null("wall"),
        "time_of_day": clock.cast(pl.Time) if dialect.clock == "time" else _null("time_of_day"),
        "since": since.cast(DURATION) if dialect.since != "none" else _null("since"),
        "kind": pl.col("_kind"),
        "syscall": pl.col("_syscall"),
        "name": pl.col("_name"),
        "args": pl.col("_args"),
        "result": number(value),
        "result_text": shown,
        "errno": pl.col("_errno"),
        "note": pl.col("_note"),
        "elapsed": nanoseconds(pl.col("_elapsed")).cast(DURATION) if dialect.has_elapsed else _null("elapsed"),
        "fd_path": _fd_path() if dialect.has_paths else _null("fd_path"),
        "number": pl.col("_number").cast(pl.Int32, strict=False),
        "address": pl.col("_address"),
        "reason": pl.col("_reason"),
    }
    return [column.cast(EVENTS[name]).alias(name) for name, column in columns.items()]


def _pid(log: Log, dialect: Dialect) -> pl.Expr:
    """The process of each line: printed, from the file's name (``-ff``), or the only one left.

    On standard error strace prints ``[pid N]`` only while it traces more than one process.
    """
    if dialect.pid == "file":
        return pl.lit(file_pid(log), pl.Int32)
    if dialect.pid == "none":
        return _null("pid")
    if dialect.pid != "mixed":
        return pl.col("_pid").cast(pl.Int32, strict=False)
    parts = pl.struct("_pid", "_kind", "_name", "_value", "_note")
    return parts.map_batches(survivors, return_dtype=pl.Int32)


def survivors(rows: pl.Series) -> pl.Series:
    """The process of each line of a log that names it only while there are several.

    A line without a name belongs to the only process that was seen and has not ended; before any was named, to the one
    that no ``clone`` or ``fork`` returned.
    """
    frame = rows.struct.unnest()
    born = {int(text) for text in _children(frame) if text and text.isdigit()}
    named = [int(text) for text in frame.get_column("_pid").drop_nulls().unique(maintain_order=True)]
    first = next((pid for pid in named if pid not in born), None)
    alive: dict[int, None] = {} if first is None else {first: None}
    last = first
    pids: list[int | None] = []
    for text, kind, note in frame.select("_pid", "_kind", "_note").iter_rows():
        pid = int(text) if text else None
        if kind == "notice" and (gone := _DETACHED.search(note)):
            alive.pop(int(gone.group(1)), None)  # strace 4.6 and before print no exit
        if pid is None and kind in _STAMPED:
            pid = last if last in alive or not alive else next(iter(alive)) if len(alive) == 1 else None
            pid = next(iter(alive)) if len(alive) == 1 else pid
        if pid is not None:
            last = pid
            alive[pid] = None
            if kind in {"exited", "killed"}:
                alive.pop(pid)
        pids.append(pid)
    return pl.Series(rows.name, pids, dtype=pl.Int32)


def _children(frame: pl.DataFrame) -> list[str | None]:
    """What the calls that make processes returned."""
    makes = pl.col("_name").is_in(["clone", "clone2", "clone3", "fork", "vfork"])
    return frame.filter(makes).get_column("_value").to_list()


def _null(name: str) -> pl.Expr:
    return pl.lit(None, EVENTS[name])


def nanoseconds(seconds: pl.Expr) -> pl.Expr:
    """Seconds with up to nine printed decimals as whole nanoseconds; exact, no float is involved."""
    return seconds.cast(_NANO, strict=False).to_physical().cast(pl.Int64)


def instants(dialect: Dialect) -> list[pl.Expr]:
    """The clock and ``-r`` in nanoseconds, as the columns that `typed_columns` takes its times from."""
    return [_clock(dialect).alias("_instant"), nanoseconds(pl.col("_since")).alias("_elapsed_since")]


def _clock(dialect: Dialect) -> pl.Expr:
    """The clock in nanoseconds: since 1970 (``-ttt``), or of the day (``-t``, ``-tt``); null for the other kind."""
    text = pl.col("_clock")
    if dialect.clock == "none":
        return pl.lit(None, pl.Int64)
    if dialect.clock == "epoch":
        return nanoseconds(text)
    hours, minutes = (text.str.slice(start, 2).cast(pl.Int64, strict=False) for start in (0, 3))
    of_day = hours * 3600 * 10**9 + minutes * 60 * 10**9 + nanoseconds(text.str.slice(6))
    if dialect.clock == "time":
        return of_day
    return pl.when(text.str.contains(":", literal=True)).then(of_day)


def _at(dialect: Dialect, clock: pl.Expr, since: pl.Expr) -> pl.Expr:
    """Time since the log's first stamp.

    ``-r`` counts from the start of the line before, whatever its process, so its sum over all lines is the clock
    (strace.1, ``-r``); since 4.22 it is a clock that does not jump, so it goes before the others.  Across the files of
    a ``-ff`` set it means nothing; their other clocks count from the first stamp of the set.  A ``-t`` or ``-tt`` clock
    that falls by more than twelve hours has passed midnight.
    """
    if dialect.since != "none" and dialect.pid != "file":
        stamps = since.fill_null(0).cum_sum()
        return pl.when(since.is_not_null()).then(stamps - since.drop_nulls().first().fill_null(0)).cast(DURATION)
    if dialect.clock == "none":
        return _null("at")
    if dialect.clock != "epoch":
        before = clock.forward_fill().shift(1)
        days = (clock - before < -HALF_DAY).fill_null(value=False).cum_sum()
        clock += days * _DAY
    first = clock.drop_nulls().first()
    if dialect.origin is None:
        return (clock - first).cast(DURATION)
    day = pl.when(first < dialect.origin).then(_DAY).otherwise(0)  # a file that starts after midnight
    return (clock + day - dialect.origin).cast(DURATION)


def number(value: pl.Expr) -> pl.Expr:
    """A printed number as Int64: decimal, hexadecimal (``0x7f..``) or octal (``022``, of umask)."""
    hexadecimal = pl.when(value.str.starts_with("0x")).then(value).str.slice(2).str.to_integer(base=16, strict=False)
    is_octal = value.str.starts_with("0") & ~value.str.starts_with("0x") & (value.str.len_bytes() > 1)
    octal = pl.when(is_octal).then(value).str.to_integer(base=8, strict=False)
    return pl.coalesce(octal, value.cast(pl.Int64, strict=False), hexadecimal)


def _fd_path() -> pl.Expr:
    """What ``-y`` prints behind the first argument when that is a descriptor, else behind the result."""
    first = pl.col("_args").str.extract(GRAMMAR.pattern("^(?:fd=)?[0-9]+({DECORATION})"), 1)
    return pl.coalesce(first.str.strip_suffix("(deleted)").str.slice(1).str.head(-1), pl.col("_decoration"))
