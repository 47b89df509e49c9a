"""A whole trace in memory: its frames, each row with its process, statement, call and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from logframe import Diagnostic, LogParseError, Source, diagnostics_frame, open_log
from logframe.parsed_log import ParsedLog
from logframe.wording import counted
from sqltraceparse.derived import Derived
from sqltraceparse.heads import CENTISECOND_US, Head, head_of, other_of
from sqltraceparse.passes import Backward, Forward, in_order
from sqltraceparse.reader import joined, read_pieces
from sqltraceparse.schema import KIND

if TYPE_CHECKING:
    from collections.abc import Iterable

    from logframe import Log
    from sqltraceparse.reader import Pieces


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
