"""A whole trace in memory: its frames, each row with its process, statement, call and time.

Of a trace of any size, a LazyFrame of events, one row a record or line: only one batch is in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl
from polars.io.plugins import register_io_source

from logframe import Diagnostic, LogParseError, Source, diagnostics_frame, open_log, open_logs
from logframe.parsed_log import ParsedLog
from logframe.wording import counted
from sqltraceparse.derived import Derived
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.heads import CENTISECOND_US, Head, head_of, other_of
from sqltraceparse.passes import Backward, Forward, in_order
from sqltraceparse.reader import joined, read_calls, read_pieces, read_waits, sorted_batches
from sqltraceparse.regular import RAW_CALLS, RAW_WAITS
from sqltraceparse.schema import KIND, KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from logframe import Log
    from sqltraceparse.reader import Pieces
    from sqltraceparse.sections import Sorted


@dataclass(frozen=True, eq=False, repr=False)
class SqlTrace(ParsedLog):
    """An extended SQL trace.

    Each row has the ``line`` it was read from, and its ``process`` (null where the trace names none).  ``statement`` is
    the line of the header of the statement that the cursor held, the key of `statements`.  ``tim_us`` is the clock of
    the trace, at the end of what the row says; ``wall`` the same instant by the stamps (see `clock`).

    Attributes:
        source: name of the log.
        head: what the first lines say: release, host, instance, process.
        calls: one row a database call; ``own_...`` figures are without the calls below (``parent``).
        waits: one row a wait; ``call`` is the line of the call that it is part of, null between calls; ``next_call`` of
            a wait for the client is the line of the next call of depth 0 of its process.
        statements: one row a statement header, with the text.
        binds: one row a bind value; ``call`` is the line of the execution.
        row_sources: one row a step of an executed plan, figures with those of the steps below.
        transactions: one row an end of a transaction.
        errors: one row an error of a call.
        session: attributes of the session (module, action, ...), from each line on.
        clock: one row a clock: its offset to the wall clock with bounds, and its rate.
        kinds: number of lines of each kind; together they are all lines.
        diagnostics: what is wrong, line by line.
        resolution_us: the unit of the printed times in microseconds: 1, or 10,000 for 8i.
    """

    source: str
    head: Head
    calls: pl.DataFrame
    waits: pl.DataFrame
    statements: pl.DataFrame
    binds: pl.DataFrame
    row_sources: pl.DataFrame
    transactions: pl.DataFrame
    errors: pl.DataFrame
    session: pl.DataFrame
    clock: pl.DataFrame
    kinds: pl.DataFrame
    diagnostics: pl.DataFrame
    resolution_us: int = 1
    format: str = field(default="sqltrace", init=False)
    kind: str = field(default="10046", init=False)

    @cached_property
    def lobs(self) -> pl.DataFrame:
        """The calls on LOBs."""
        return self.calls.filter(pl.col("lob_type").is_not_null())

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frames by name."""
        names = ("calls", "waits", "statements", "binds", "row_sources", "transactions", "errors", "session", "clock")
        return {name: getattr(self, name) for name in names}

    def describe(self) -> str:
        """What the log is, in one line."""
        release = f" of {self.head.release}" if self.head.release else ""
        processes = self.calls.get_column("process").n_unique() if self.calls.height else 1
        several = f", {processes:,} processes" if processes > 1 else ""
        return (
            f"extended SQL trace{release}, {counted(self.calls.height, 'call')}, {counted(self.waits.height, 'wait')}"
            f"{several}"
        )


def read_sqltrace(source: Source, *, encoding: str | None = None, strict: bool = False) -> SqlTrace:
    r"""A trace in memory.

    Args:
        source: one trace: a path, bytes or a file object, compressed or not.
        encoding: of text that is not UTF-8, when you know better than the guess.
        strict: raise at the first line that cannot be read.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: the log is empty or holds no record of an SQL trace; with `strict`, a line cannot be read.

    Examples:
        >>> trace = read_sqltrace(
        ...     b"PARSING IN CURSOR #1 len=18 dep=0 uid=5 oct=3 lid=5 tim=990 hv=1 ad='6b'\n"
        ...     b"select 1 from dual\nEND OF STMT\n"
        ...     b"WAIT #1: nam='db file sequential read' ela= 40 file#=1 block#=2 blocks=1 obj#=3 tim=1050\n"
        ...     b"FETCH #1:c=20,e=60,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=1060\n"
        ... )
        >>> trace.calls.select("op", "own_elapsed_us", "own_cpu_us", "own_wait_us", "unaccounted_us").row(0)
        ('FETCH', 60, 20, 40, 0)
        >>> trace.statements.item(0, "text")
        'select 1 from dual'
    """
    log = open_log(source, encoding=encoding)
    if log.is_empty():
        raise LogParseError("the log is empty", source=log.name, expected="an extended SQL trace")
    trace = assembled(read_pieces(log), log.name, log.notes)
    check_records(trace.calls.height + trace.waits.height + trace.statements.height, log)
    if strict and trace.diagnostics.height:
        raise Diagnostic(*trace.diagnostics.row(0)).to_error()
    return trace


def check_records(count: int, log: Log) -> None:
    """Raise `LogParseError` that says what a log is in which this many records were found, without any."""
    if not count:
        other = other_of("\n".join(log.head()))
        what = "no trace of the database" if other is None else other.what
        raise LogParseError(f"this is {what}", source=log.name, expected="an extended SQL trace (event 10046)")


def assembled(pieces: Iterable[Pieces], name: str, notes: Iterable[Diagnostic]) -> SqlTrace:
    """The frames of a trace from the raw records of all its lines."""
    whole = joined(list(pieces))
    head = head_of(whole.heads)
    first = Forward(name, head.resolution_us)
    frames = first.add(whole)
    first.finish()
    if first.are_centiseconds:
        first = Forward(name, CENTISECOND_US)
        frames = first.add(whole)
        first.finish()
    second = Backward(first.process)
    frames = Derived(first.clock, first.cut_waits, second).frames(second.add(frames))
    rows = [*notes, *first.diagnostics]
    return SqlTrace(
        source=name,
        head=head,
        **frames,
        clock=first.clock,
        kinds=first.kinds.select(pl.col("kind").cast(KIND), "lines"),
        diagnostics=diagnostics_frame(in_order(rows)),
        resolution_us=first.unit,
    )


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
