"""A trace of any size as a LazyFrame of events, one row a record or line; only one batch is in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl
from polars.io.plugins import register_io_source

from logframe import LogParseError, Source, open_logs
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.reader import read_calls, read_waits, sorted_batches
from sqltraceparse.regular import RAW_CALLS, RAW_WAITS
from sqltraceparse.schema import KIND, KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from logframe import Log
    from sqltraceparse.sections import Sorted

EVENTS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "kind": KIND,
        **{name: dtype for name, dtype in RAW_CALLS.items() if name != "line"},
        **{name: dtype for name, dtype in RAW_WAITS.items() if name not in RAW_CALLS},
        "text": pl.String(),
    }
)
_CALLS: Final = ("call", "close", "lob")


def scan_sqltrace(
    source: Source,
    *,
    encoding: str | None = None,
    include_file_paths: str | None = None,
    n_rows: int | None = None,
) -> pl.LazyFrame:
    r"""The events of a trace, one row a line, as a LazyFrame.

    Waits and calls are read into columns; of any other line the ``text`` stands there.  No line is lost: one that is no
    line of a trace has the kind ``unparsed``.  A filter on ``kind`` and a selection of columns save work.
    What mails, listings and editors put before every line is not in ``text``.

    Args:
        source: a trace, or several: paths, globs, bytes, file objects, compressed or not.
        encoding: of text that is not UTF-8, when you know better than the guess.
        include_file_paths: name of a column with the log each line comes from.
        n_rows: read this many lines of each log at most.

    Returns:
        The columns of `sqltraceparse.EVENTS`; what a line does not say is null.  Times are as printed, in microseconds
        (8i: 10 ms), each call with those below it.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: a log is empty.

    Examples:
        >>> log = (
        ...     b"WAIT #1: nam='db file sequential read' ela= 40 file#=1 block#=2 blocks=1 obj#=3 tim=1050\n"
        ...     b"FETCH #1:c=20,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=1060\n"
        ... )
        >>> scan_sqltrace(log).select("kind", "op", "event", "elapsed_us").collect().rows()
        [('wait', None, 'db file sequential read', 40), ('call', 'FETCH', None, 60)]
    """
    frames = []
    for log in open_logs(source, encoding=encoding):
        if log.is_empty():
            raise LogParseError("the log is empty", source=log.name, expected="an extended SQL trace")
        frame = _scan(log, n_rows)
        if include_file_paths is not None:
            frame = frame.with_columns(pl.lit(log.name).alias(include_file_paths))
        frames.append(frame)
    return frames[0] if len(frames) == 1 else pl.concat(frames)


def _scan(log: Log, n_rows: int | None) -> pl.LazyFrame:
    """The events of one log."""

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The events, of those columns and kinds that are asked for."""
        wanted = list(EVENTS) if columns is None else columns
        tested = [] if predicate is None else [name for name in predicate.meta.root_names() if name not in wanted]
        kinds = _kinds_of(predicate)
        left = limit
        for found in sorted_batches(log, n_rows=n_rows, columns={"line", "op", *wanted, *tested}, kinds=kinds):
            events = _events(found, log.name, [*wanted, *tested], kinds)
            if predicate is not None and kinds != ["wait"]:  # others share a frame with kinds that are not wanted
                events = events.filter(predicate)
            events = events.select(wanted)
            if left is not None:
                events = events.head(left)
                left -= events.height
            yield events
            if left == 0:
                break

    return register_io_source(batches, schema=EVENTS, is_pure=True, explain_name="sqltrace", explain_detail=log.name)


def _events(found: Sorted, name: str, columns: list[str], kinds: Collection[str]) -> pl.DataFrame:
    """The events among lines whose kinds are known."""
    lines = found.lines
    parts = []
    if "wait" in kinds:
        waits, _ = read_waits(found, name)
        of_waits = waits.named([column for column in RAW_WAITS if column in {"line", *columns}])
        parts.append(of_waits.with_columns(kind=pl.lit("wait", KIND)))
    if not set(_CALLS).isdisjoint(kinds):
        calls, _ = read_calls(found, name, [column for column in RAW_CALLS if column in {"line", "op", *columns}])
        kind = (
            pl.when(pl.col("op") == "CLOSE")
            .then(pl.lit("close", KIND))
            .when(GRAMMAR.matches(pl.col("op"), "^{LOB_CALL}$"))
            .then(pl.lit("lob", KIND))
            .otherwise(pl.lit("call", KIND))
        )
        parts.append(calls.with_columns(kind=kind))
    if not set(kinds) <= {"wait", *_CALLS}:
        others = lines.filter(~pl.col("kind").is_in(["wait", *_CALLS])).select("line", "kind", "text")
        damaged = lines.filter(pl.col("kind").is_in(["wait", *_CALLS]) & ~pl.col("is_whole"))
        if damaged.height:
            # of those that are not certain there is no row yet
            silent = damaged.filter(~pl.col("line").is_in(pl.concat([part["line"] for part in parts]).implode()))
            others = pl.concat([others, silent.select("line", pl.lit("unparsed", KIND).alias("kind"), "text")])
        parts.append(others)
    nothing = pl.DataFrame(schema={column: EVENTS[column] for column in ["line", *columns] if column != "line"})
    events = pl.concat([*parts, nothing.with_columns(pl.lit(None, pl.Int64).alias("line"))], how="diagonal_relaxed")
    return events.sort("line", maintain_order=True) if len(parts) > 1 else events


def _kinds_of(predicate: pl.Expr | None) -> Collection[str]:
    """The kinds of lines that can satisfy a predicate on events."""
    if predicate is None or set(predicate.meta.root_names()) != {"kind"}:
        return KINDS
    kinds = pl.DataFrame({"kind": KINDS}, schema={"kind": KIND})
    return kinds.filter(predicate).get_column("kind").to_list()
