"""Calls: split lines joined, and what strace's times say about each call.

Three clocks are kept apart, because strace prints three different things (strace(1), options -r, -T and -ttt):

* ``gap``: from the start of a call to the start of the next line of the same process.  It holds the call **and** the
  time the process spent outside the kernel until its next call, so it is an upper bound of the call's time, not the
  time.
* ``elapsed``: the time in the call.  Only ``-T`` prints it, or the two stamps of a split call give it.
* ``end``: ``start`` + ``elapsed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from straceparse.schema import DURATION, EVENTS, KIND

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

#: Columns of the calls frame: one row a system call.
CALLS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "end_line": pl.UInt32(),
        "pid": pl.Int32(),
        "start": DURATION,
        "end": DURATION,
        "gap": DURATION,
        "elapsed": DURATION,
        "elapsed_from": pl.Enum(["T", "stamps"]),
        "wall": pl.Datetime("ns", "UTC"),
        "syscall": pl.String(),
        "name": pl.String(),
        "args": pl.String(),
        "result": pl.Int64(),
        "result_text": pl.String(),
        "errno": pl.String(),
        "note": pl.String(),
        "fd_path": pl.String(),
        "state": pl.Enum(["whole", "split", "unfinished", "resumed", "detached", "cut"]),
    }
)

#: Kinds of lines that are a call or half of one.
_CALLS: Final = ("call", "unfinished", "detached", "cut", "resumed")
#: Kinds of lines that a process's next line may be; the ends of calls and lines without a leader are not among them.
_NEXT: Final = ("call", "unfinished", "detached", "cut", "signal", "stopped", "exited", "killed", "superseded")

#: A notice in the middle of a line; its name is `strace`, or the path under which strace was started.
_NOTICE_AT_END: Final = r"(?:(?:\.{0,2}/[^ ,|\"<>(){}\[\]]*)?strace: )?Process [0-9]+ (?:attached|detached)$"
_OUTCOME: Final = ("result", "result_text", "errno", "note", "elapsed")

#: Columns of the events that make the calls.
_NEEDED: Final = ("line", "at", "kind", *(name for name in CALLS if name in EVENTS and name != "line"))
#: Those that are passed on and that nothing else depends on.
_PASSED_ON: Final = ("wall", "syscall", "args", "errno", "fd_path")
#: Those that otherwise only mending a cut line takes.
_MENDING: Final = ("result_text", "note")

FrameType = TypeVar("FrameType", pl.DataFrame, pl.LazyFrame)


def calls(events: FrameType) -> FrameType:
    """The calls of a log, one row a system call, in the order of their first lines.

    A call that strace split into an ``unfinished`` and a ``resumed`` line is joined, by process; one whose line was
    interrupted by a notice, by the program's output or by ``-z`` is joined with the line that goes on.  A half without
    its other half is kept, and `state` says which half it is.

    The sum of ``-r``'s truncated numbers may run short of ``-T`` by a microsecond a line; the gap is then the elapsed
    time. With ``strace -e trace=...`` the gap also holds the calls that were not traced.  The last call of a process
    has no gap. The files of a ``-ff -r`` set have no gaps at all: strace keeps one clock for all of them, so a file's
    numbers are not its own (`unparsed` says so in a row of its own).

    Args:
        events: what `scan_strace` or `read_strace` gives, all its lines: filter calls, not events.

    Returns:
        The columns of `straceparse.CALLS`; a LazyFrame for a LazyFrame.  (Joining calls needs the whole log: the
        events are collected.)

        * ``line``, ``end_line``: where the call starts and ends in the log
        * ``start``, ``end``: since the log's first stamp; ``wall``: ``start`` in UTC (``-ttt``)
        * ``gap``: to the start of the process's next line, an upper bound of the time in the call
        * ``elapsed``: time in the call; ``elapsed_from``: ``T``, or ``stamps`` of a split call
        * ``state``: ``whole``, ``split`` (both halves found), ``unfinished``, ``resumed``, ``detached``, ``cut``
        * the others as in the events

    Examples:
        >>> from straceparse import read_strace
        >>> log = b'''     0.000000 pread(268, "..."..., 1032192, 787496960) = 1032192
        ...      0.002132 pread(269, "..."..., 1032192, 410009600) = 1032192'''
        >>> calls(read_strace(log)).select("start", "gap", "elapsed")
        shape: (2, 3)
        ┌──────────────┬──────────────┬──────────────┐
        │ start        ┆ gap          ┆ elapsed      │
        │ ---          ┆ ---          ┆ ---          │
        │ duration[ns] ┆ duration[ns] ┆ duration[ns] │
        ╞══════════════╪══════════════╪══════════════╡
        │ 0ns          ┆ 2132µs       ┆ null         │
        │ 2132µs       ┆ null         ┆ null         │
        └──────────────┴──────────────┴──────────────┘
    """
    if isinstance(events, pl.DataFrame):
        return _calls_of(events)
    others = {name: dtype for name, dtype in events.collect_schema().items() if name not in EVENTS}

    def joined(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        """The calls, from the columns of the events that are asked for."""
        used = list(CALLS) if columns is None else columns
        if predicate is not None:
            used = used + predicate.meta.root_names()
        unused = {*_PASSED_ON, *_MENDING}.difference(used)
        found = _with(events, others, unused)
        if unused.intersection(_MENDING) and (found.get_column("kind") == "continuation").any():
            found = _with(events, others, unused.difference(_MENDING))
        found = _calls_of(found)
        found = found if n_rows is None else found.head(n_rows)
        found = found if predicate is None else found.filter(predicate)
        yield found if columns is None else found.select(columns)

    return register_io_source(joined, schema={**others, **CALLS}, is_pure=True)


def _with(events: pl.LazyFrame, others: Iterable[str], unused: Collection[str]) -> pl.DataFrame:
    """The events in memory, with null for what is not used."""
    wanted = (pl.lit(None, EVENTS[name]).alias(name) if name in unused else pl.col(name) for name in _NEEDED)
    return events.select(*others, *wanted).collect()


def _calls_of(events: pl.DataFrame) -> pl.DataFrame:
    """The calls of events in memory."""
    others = [name for name in events.columns if name not in EVENTS and events[name].dtype == pl.String]
    owner = [*([] if _are_one_run(events, others) else others), "_owner"]
    lines = _with_owner(_mended(events.with_row_index("_row")))
    lines = lines.join(_gaps(lines, owner), on="_row", how="left", maintain_order="left")
    lines = lines.filter(pl.col("kind").is_in(_CALLS))
    if not lines.get_column("kind").is_in(["unfinished", "resumed"]).any():
        return _calls(lines, others)
    return _calls(_joined(lines, owner), others)


def _are_one_run(events: pl.DataFrame, others: list[str]) -> bool:
    """Does no process occur in two logs, as in the files of a ``-ff`` set?  Then its id alone tells it apart."""
    processes = events.select(*others, "pid").unique().get_column("pid")
    return not processes.has_nulls() and processes.is_unique().all()


def _with_owner(lines: pl.DataFrame) -> pl.DataFrame:
    """The process that each line belongs to, and the order of its lines.

    A thread that calls execve takes over the id of its process: strace prints the start under the thread's id, a
    ``superseded`` line, and the end under the process's, with ``-ff`` in a file that may come before the thread's.
    """
    owners = lines.with_columns(_owner=pl.col("pid"), _order=pl.col("_row"))
    superseded = lines.filter((pl.col("kind") == "superseded") & pl.col("result").is_not_null())
    for thread, process, row in superseded.select("result", "pid", "_row").iter_rows():
        is_start = (
            (pl.col("pid") == thread) & (pl.col("kind") == "unfinished") & pl.col("name").str.starts_with("execve")
        )
        owners = owners.with_columns(
            _owner=pl.when(is_start).then(process).otherwise("_owner").cast(pl.Int32, strict=False),
            _order=pl.when(is_start).then(row).otherwise("_order"),
        )
    return owners


def _mended(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines that were interrupted, with the line that goes on put behind them.

    With ``-z`` and ``-e status=`` strace may print the end of a split call right behind its start, without a leader.
    """
    is_cut, goes_on = pl.col("kind") == "cut", pl.col("kind") == "continuation"
    if not lines.get_column("kind").is_in(["continuation"]).any():
        return lines
    is_left = (pl.col("kind") == "unfinished") & goes_on.shift(-1)
    rests = (
        lines.filter(is_cut | goes_on | is_left)
        .with_columns(_cut=pl.when(~goes_on).then("_row").forward_fill(), _before=pl.col("kind").shift(1))
        .filter(goes_on & (pl.col("_before") != "continuation"))
        .select(
            pl.col("_cut").alias("_row"),
            pl.col("line").alias("_end_line"),
            pl.col("args").alias("_rest"),
            *(pl.col(name).alias(f"_{name}") for name in _OUTCOME),
        )
    )
    is_mended = pl.col("_end_line").is_not_null()
    has_outcome = pl.col("_result_text").is_not_null()
    args = pl.col("args").str.replace(_NOTICE_AT_END, "")
    kind = (
        pl.when(is_mended & has_outcome)
        .then(pl.lit("call"))
        .when(is_mended & (pl.col("_note") == "detached"))
        .then(pl.lit("detached"))
        .when(is_mended)
        .then(pl.lit("unfinished"))
        .otherwise(pl.col("kind").cast(pl.String))
    )
    return (
        lines.join(rests, on="_row", how="left", maintain_order="left")
        .with_columns(
            kind.cast(KIND).alias("kind"),
            pl.when(is_mended).then(args + pl.col("_rest").fill_null("")).otherwise("args").alias("args"),
            *(pl.when(is_mended).then(f"_{name}").otherwise(name).alias(name) for name in _OUTCOME),
        )
        .drop("_rest", *(f"_{name}" for name in _OUTCOME))
    )


def _gaps(lines: pl.DataFrame, owner: list[str]) -> pl.DataFrame:
    """Time from the start of each line to the start of the next line of the same process."""
    starts = lines.filter(pl.col("kind").is_in(_NEXT)).select("_row", "at", *owner)
    following = pl.col("at").shift(-1)
    if any(starts.get_column(name).n_unique() > 1 for name in owner):
        following = following.over(owner)
    return starts.select("_row", gap=following - pl.col("at"))


def _joined(lines: pl.DataFrame, owner: list[str]) -> pl.DataFrame:
    """The lines with each end of a call put to its start, which stands right before it among its process's lines.

    Calls of execve are looked for among themselves: between the halves stand the ends of the other threads.
    """
    lines = lines.with_columns(_lane=pl.col("name").str.starts_with("execve").fill_null(value=False))
    before = {name: pl.col(name).shift(1).over(*owner, "_lane", order_by="_order") for name in ("kind", "name", "_row")}
    has_start = (pl.col("kind") == "resumed") & (before["kind"] == "unfinished") & (before["name"] == pl.col("name"))
    ends = lines.with_columns(_start=pl.when(has_start.fill_null(value=False)).then(before["_row"]))
    found = ends.filter(pl.col("_start").is_not_null()).select(
        pl.col("_start").alias("_row"),
        pl.col("line").alias("_end_line_of"),
        pl.col("at").alias("_end_at"),
        pl.col("args").alias("_rest"),
        pl.col("fd_path").alias("_fd_path"),
        *(pl.col(name).alias(f"_{name}") for name in _OUTCOME),
    )
    is_split = pl.col("_end_line_of").is_not_null()
    rest = pl.col("_rest").str.replace("^ $", "")  # strace 4.26 and before: `<... close resumed> ) = 0`
    return (
        ends.filter(pl.col("_start").is_null())
        .join(found, on="_row", how="left", maintain_order="left")
        .with_columns(
            pl.when(is_split).then(pl.col("args") + rest).otherwise("args").alias("args"),
            pl.coalesce("fd_path", "_fd_path").alias("fd_path"),
            *(pl.when(is_split).then(f"_{name}").otherwise(name).alias(name) for name in _OUTCOME),
            _split=is_split,
        )
    )


def _calls(lines: pl.DataFrame, others: list[str]) -> pl.DataFrame:
    """The columns of `CALLS`, from lines whose halves are joined."""
    empty = {
        "_end_line": pl.UInt32(),
        "_end_line_of": pl.UInt32(),
        "_end_at": DURATION,
        "_split": pl.Boolean(),
    }
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in empty.items() if name not in lines.columns]
    is_split = pl.col("_split").fill_null(value=False)
    is_end = pl.col("kind") == "resumed"
    by_stamps = pl.when(is_split).then(pl.col("_end_at") - pl.col("at"))
    elapsed = pl.coalesce("elapsed", by_stamps)
    start = pl.when(is_end).then(pl.col("at") - pl.col("elapsed")).otherwise("at")
    source = (
        pl.when(pl.col("elapsed").is_not_null()).then(pl.lit("T")).when(by_stamps.is_not_null()).then(pl.lit("stamps"))
    )
    state = pl.when(is_split).then(pl.lit("split")).when(pl.col("kind") == "call").then(pl.lit("whole"))
    columns = {
        "end_line": pl.coalesce("_end_line_of", "_end_line", "line"),
        "start": start,
        "end": pl.when(is_end).then("at").otherwise(start + elapsed),
        "gap": pl.when(~is_end).then(pl.max_horizontal("gap", pl.when(pl.col("gap").is_not_null()).then(elapsed))),
        "elapsed": elapsed,
        "elapsed_from": source,
        "wall": pl.when(is_end).then(pl.col("wall") - pl.col("elapsed")).otherwise("wall"),
        "state": state.otherwise(pl.col("kind").cast(pl.String)),
    }
    return lines.with_columns(missing).select(
        *others, *(columns.get(name, pl.col(name)).cast(dtype).alias(name) for name, dtype in CALLS.items())
    )
