"""A whole trace in memory: its frames, each row with its process, statement, call and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import Diagnostic, LogParseError, Source, diagnostics_frame, open_log
from sqltraceparse import clocks
from sqltraceparse.heads import Head, head_of, other_of
from sqltraceparse.nesting import with_calls, with_parents
from sqltraceparse.reader import Pieces, read_pieces
from sqltraceparse.schema import (
    BINDS,
    CALLS,
    ERRORS,
    KIND,
    ROW_SOURCES,
    SESSION,
    STATEMENTS,
    TRANSACTIONS,
    WAITS,
    WALL,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Names under which the parameters of waits are printed.
_FILE: Final = ("file#", "file number", "file#(dba)")
_BLOCK: Final = ("block#", "first dba")
_BLOCKS: Final = ("blocks", "block cnt", "#blocks")
#: Events of 9i and 10.1 whose parameters are printed as p1, p2, p3: file, block, blocks.
_PLAIN_READS: Final = (
    "db file sequential read",
    "db file scattered read",
    "db file single write",
    "direct path read",
    "direct path write",
    "direct path read temp",
    "direct path write temp",
    "direct path read (lob)",
    "direct path write (lob)",
)
_CENTISECOND_US: Final = 10_000
_TIMES: Final = ("cpu_us", "elapsed_us", "tim_us")


@dataclass(frozen=True)
class SqlTrace:
    """An extended SQL trace.

    Each row has the ``line`` it was read from, and its ``process`` (null where the trace names none).  ``statement`` is
    the line of the header of the statement that the cursor held, the key of `statements`.  ``tim_us`` is the clock of
    the trace, at the end of what the row says; ``wall`` the same instant by the stamps (see `clock`).

    Attributes:
        source: name of the log.
        head: what the first lines say: release, host, instance, process.
        calls: one row a database call; ``own_...`` figures are without the calls below (``parent``).
        waits: one row a wait; ``call`` is the line of the call that it is part of, null between calls.
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
            f"extended SQL trace{release}, {_counted(self.calls.height, 'call')}, {_counted(self.waits.height, 'wait')}"
            f"{several}"
        )


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


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
    pieces = list(read_pieces(log))
    trace = assembled(pieces, log.name, list(log.notes))
    if trace.calls.is_empty() and trace.waits.is_empty() and trace.statements.is_empty():
        other = other_of("\n".join(log.head()))
        what = "no trace of the database" if other is None else other.what
        raise LogParseError(f"this is {what}", source=log.name, expected="an extended SQL trace (event 10046)")
    if strict and trace.diagnostics.height:
        raise Diagnostic(*trace.diagnostics.row(0)).to_error()
    return trace


def assembled(pieces: list[Pieces], name: str, notes: list[Diagnostic]) -> SqlTrace:
    """The frames of a trace from the raw records of all its lines."""

    def joined(part: str) -> pl.DataFrame:
        frames: list[pl.DataFrame] = [getattr(piece, part) for piece in pieces]
        return pl.concat(frames, rechunk=True)

    head = head_of(pieces)
    rows = [*notes, *(row for piece in pieces for row in piece.diagnostics)]
    kinds = (
        pl.concat([piece.lines.select("kind") for piece in pieces])
        .group_by("kind")
        .agg(pl.len().cast(pl.Int64).alias("lines"))
        .sort("kind")
    )
    unit = _CENTISECOND_US if head.is_centiseconds else 1
    processes = joined("processes")
    waits, calls = (_scaled(_of_process(joined(part), processes), unit) for part in ("waits", "calls"))
    waits, calls, tims, more = _with_clocks(waits, calls, name)
    rows += more
    session = _of_process(joined("attributes"), processes)
    clock, more = clocks.clocks(tims, session.select("process", "line", "name", "stamp").drop_nulls("stamp"), name)
    rows += more
    statements = _scaled(_of_process(joined("statements").rename({"statement": "line"}), processes), unit)
    waits, more = _cut_waits(waits, {row.line for row in rows if row.kind == "cut"}, name)
    rows += more
    calls = with_parents(_with_statement(calls, statements))
    waits = with_calls(_with_statement(waits, statements), calls)
    calls, waits = _with_own_waits(calls, waits)
    binds = _with_statement(_of_process(joined("binds"), processes), statements)
    row_sources = _with_statement(_of_process(joined("row_sources"), processes), statements)
    errors = _with_statement(_of_process(_scaled(joined("errors"), unit), processes), statements)
    transactions = _of_process(_scaled(joined("transactions"), unit), processes)
    with_wall = _Wall(clock, tims)
    return SqlTrace(
        source=name,
        head=head,
        calls=_selected(_with_session(with_wall(calls), session), CALLS),
        waits=_selected(_with_session(with_wall(_with_io(waits)), session), WAITS),
        statements=_selected(statements.rename({"line": "statement"}), STATEMENTS),
        binds=_selected(_with_execution(binds, calls), BINDS),
        row_sources=_selected(_with_plan(row_sources), ROW_SOURCES),
        transactions=_selected(with_wall(with_wall.with_clock(transactions)), TRANSACTIONS),
        errors=_selected(errors, ERRORS),
        session=_selected(session, SESSION),
        clock=clock,
        kinds=kinds.select(pl.col("kind").cast(KIND), "lines"),
        diagnostics=diagnostics_frame(sorted(rows, key=lambda row: (row.line or 0, row.kind))),
        resolution_us=unit,
    )


def _selected(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _scaled(frame: pl.DataFrame, unit: int) -> pl.DataFrame:
    """Times in microseconds."""
    return frame if unit == 1 else frame.with_columns(pl.col(n) * unit for n in _TIMES if n in frame.columns)


def _of_process(frame: pl.DataFrame, processes: pl.DataFrame) -> pl.DataFrame:
    """The rows with the process whose lines they are: the last one that was named, for the first lines the first."""
    if processes.is_empty():
        return frame.with_columns(pl.lit(None, pl.Int64).alias("process"))
    if processes.get_column("process").n_unique() == 1:
        return frame.with_columns(pl.lit(processes.item(0, "process"), pl.Int64).alias("process"))
    return frame.join_asof(processes, on="line", strategy="backward", check_sortedness=False).with_columns(
        pl.col("process").fill_null(processes.item(0, "process"))
    )


def _with_clocks(
    waits: pl.DataFrame, calls: pl.DataFrame, name: str
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, list[Diagnostic]]:
    """Waits and calls with ``clock`` and sound ``tim_us``, and all of their times in order."""
    frames = []
    for number, frame in enumerate((waits, calls)):
        timed = pl.when(pl.col("tim_us") > 0).then("tim_us").alias("tim_us")
        frames.append(frame.select("process", "line", timed, kind=pl.lit(number)).with_row_index("row"))
    tims = pl.concat(frames).sort("line", maintain_order=True).filter(pl.col("tim_us").is_not_null())
    tims, rows = clocks.with_clock(tims, name)
    found = []
    for number, frame in enumerate((waits, calls)):
        part = tims.filter(pl.col("kind") == number).select("row", "tim_us", "clock")
        if part.height == frame.height:
            found.append(frame.with_columns(part.sort("row").get_columns()[1:]))
        else:
            indexed = frame.drop("tim_us").with_row_index("row")
            found.append(indexed.join(part, on="row", how="left", maintain_order="left").drop("row"))
    return found[0], found[1], tims.drop("row", "kind"), rows


def _cut_waits(waits: pl.DataFrame, known: set[int | None], name: str) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """Waits that end before ``obj#`` though the others go on: their last parameter may lack digits."""
    bare = pl.col("object_id").is_null() & pl.col("tim_us").is_null() & pl.col("p3").is_not_null()
    odd = waits.filter(bare, ~pl.col("line").is_in(known))
    if odd.is_empty() or odd.height > waits.height / 2:
        return waits, []
    bare &= ~pl.col("line").is_in(known)
    reason = "the line is cut after the parameters, which others do not end with; the last parameter is left out"
    rows = [Diagnostic(name, line, None, "cut", None, reason) for line in odd.get_column("line")]
    return waits.with_columns(p3=pl.when(~bare).then("p3")), rows


def _with_statement(frame: pl.DataFrame, statements: pl.DataFrame) -> pl.DataFrame:
    """The rows with the statement that their cursor held at their line."""
    owners = statements.select("line", "process", "cursor", "sql_id", statement="line").filter(
        pl.col("cursor").is_not_null()
    )
    key = ["cursor"]
    if owners.get_column("process").n_unique() > 1 or frame.get_column("process").n_unique() > 1:
        key = ["process", "cursor"]
    return frame.join_asof(
        owners.drop([name for name in ("process",) if name not in key]),
        on="line",
        by=key,
        strategy="backward",
        check_sortedness=False,
    )


def _with_own_waits(calls: pl.DataFrame, waits: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Calls with the time of their waits and what is unaccounted for; waits with the statement of their call."""
    sums = waits.filter(pl.col("row").is_not_null()).group_by("row").agg(own_wait_us=pl.col("elapsed_us").sum())
    calls = calls.join(sums, on="row", how="left", maintain_order="left").with_columns(
        pl.col("own_wait_us").fill_null(0)
    )
    calls = calls.with_columns(unaccounted_us=pl.col("own_elapsed_us") - pl.col("own_cpu_us") - pl.col("own_wait_us"))
    owned = pl.col("row").is_not_null()
    owner = waits.get_column("row")
    return calls, waits.with_columns(
        statement=pl.when(owned).then(calls.get_column("statement").gather(owner)).otherwise("statement"),
        sql_id=pl.when(owned).then(calls.get_column("sql_id").gather(owner)).otherwise("sql_id"),
    )


def _with_io(waits: pl.DataFrame) -> pl.DataFrame:
    """Waits with file, block, blocks, requests and bytes, where their parameters say so."""

    def named(names: Sequence[str], plain: str) -> pl.Expr:
        found = (
            pl.when(pl.col("p1_name").is_in(names))
            .then("p1")
            .when(pl.col("p2_name").is_in(names))
            .then("p2")
            .when(pl.col("p3_name").is_in(names))
            .then("p3")
        )
        is_plain = (pl.col(f"{plain}_name") == plain) & pl.col("event").is_in(_PLAIN_READS)
        return found.when(is_plain).then(plain)

    shapes = waits.select("event", "p1_name", "p2_name", "p3_name").unique()
    is_read = pl.any_horizontal(
        pl.col(f"p{n}_name").is_in([*_FILE, *_BLOCK, *_BLOCKS, "p1", "bytes"]) for n in (1, 2, 3)
    )
    if not shapes.select(is_read.any()).item():
        nothing = pl.lit(None, pl.Int64)
        return waits.with_columns(file_id=nothing, block=nothing, blocks=nothing, requests=nothing, bytes=nothing)
    blocks = named(_BLOCKS, "p3")
    return waits.with_columns(
        file_id=named(_FILE, "p1"),
        block=named(_BLOCK, "p2"),
        blocks=blocks,
        requests=pl.coalesce(_first_named("requests"), pl.when(blocks.is_not_null()).then(1)),
        bytes=_first_named("bytes"),
    )


def _first_named(name: str) -> pl.Expr:
    """The parameter of this name."""
    found = pl.when(pl.col("p1_name") == name).then("p1")
    return found.when(pl.col("p2_name") == name).then("p2").when(pl.col("p3_name") == name).then("p3")


def _with_execution(binds: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Binds with the execution that they are of: the next EXEC of the cursor."""
    runs = calls.filter(pl.col("op") == "EXEC").select("line", "process", "cursor", call="line")
    key = ["cursor"] if runs.get_column("process").n_unique() <= 1 else ["process", "cursor"]
    return binds.join_asof(
        runs if len(key) > 1 else runs.drop("process"), on="line", by=key, strategy="forward", check_sortedness=False
    )


def _with_plan(row_sources: pl.DataFrame) -> pl.DataFrame:
    """Row sources with the plan they are part of: the line of its first row source."""
    first = (
        (pl.col("id") == 1) | (pl.col("cursor") != pl.col("cursor").shift()) | (pl.col("id") <= pl.col("id").shift())
    )
    return row_sources.with_columns(plan=pl.when(first.fill_null(value=True)).then("line").forward_fill())


def _with_session(frame: pl.DataFrame, session: pl.DataFrame) -> pl.DataFrame:
    """The rows with the session whose lines they are, as ``sid.serial#``."""
    said = session.filter(pl.col("name") == "session_id").select("line", "process", session_id="value")
    if said.is_empty():
        return frame.with_columns(pl.lit(None, pl.String).alias("session_id"))
    by = "process" if frame.get_column("process").n_unique() > 1 else None
    return frame.join_asof(
        said if by else said.drop("process"), on="line", by=by, strategy="backward", check_sortedness=False
    )


class _Wall:
    """Adds the wall clock to rows with ``process``, ``clock``, ``tim_us``."""

    def __init__(self, clock: pl.DataFrame, tims: pl.DataFrame) -> None:
        self._offsets = clock.select("process", "clock", "offset_us")
        self._tims = tims

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        wall = (pl.col("tim_us") + pl.col("offset_us")).cast(pl.Datetime("us")).dt.replace_time_zone("UTC").cast(WALL)
        if self._offsets.height == 1:
            offset = pl.lit(self._offsets.item(0, "offset_us"), pl.Int64)
            return frame.with_columns(offset.alias("offset_us")).with_columns(wall=wall)
        found = frame.join(self._offsets, on=["process", "clock"], how="left", nulls_equal=True, maintain_order="left")
        return found.with_columns(wall=wall)

    def with_clock(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows with the clock of the calls around them."""
        if self._offsets.height <= 1:
            clock = self._offsets.item(0, "clock") if self._offsets.height else None
            return frame.with_columns(pl.lit(clock, pl.Int64).alias("clock"))
        known = self._tims.select("process", "line", "clock")
        return frame.join_asof(known, on="line", by="process", strategy="nearest", check_sortedness=False)
