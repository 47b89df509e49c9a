"""System calls: split lines joined, and the times of each call.

Three times are kept apart, because strace prints three different ones (strace(1), options -r, -T and -ttt):

* ``gap``: from the start of a call to the start of the next line of the same process.  It includes the call **and** the
  time the process spent outside the kernel until its next call, so it is an upper bound of the elapsed time.
* ``elapsed``: the time in the call, from ``-T``, or from the two timestamps of a split call.
* ``end``: ``start`` + ``elapsed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from straceparse.names import EXECUTES
from straceparse.records import PARTS_GRAMMAR
from straceparse.schema import DURATION, EVENTS, KIND

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

#: Columns of the calls frame, one row per system call.
CALLS: Final = pl.Schema(
    {
        "line": pl.UInt32(),
        "end_line": pl.UInt32(),
        "pid": pl.Int32(),
        "start": DURATION,
        "end": DURATION,
        "gap": DURATION,
        "elapsed": DURATION,
        "elapsed_hi": DURATION,
        "elapsed_from": pl.Enum(["T", "stamps"]),
        "wall": pl.Datetime("ns", "UTC"),
        "time_of_day": pl.Time(),
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

#: Kinds of lines that are a call or half of a call.
_CALLS: Final = ("call", "unfinished", "detached", "cut", "resumed")
#: Kinds of lines that end a gap: neither the end of a call nor a line without a prefix.
_NEXT: Final = ("call", "unfinished", "detached", "cut", "signal", "stopped", "exited", "killed", "superseded")

#: A notice at the end of a cut line: after `strace` or the path under which strace was started.
_NOTICE_AT_END: Final = PARTS_GRAMMAR.pattern("{PROCESS_NOTICE}$")
_OUTCOME: Final = ("result", "result_text", "errno", "note", "elapsed", "elapsed_hi")

#: Columns of the events that the calls are computed from.
_NEEDED: Final = ("line", "at", "kind", *(name for name in CALLS if name in EVENTS and name != "line"))
#: Of these, the columns that are only passed on.
_PASSED_ON: Final = ("wall", "time_of_day", "syscall", "args", "errno", "fd_path")
#: Columns that are passed on, and used to join continuation lines.
_FOR_CONTINUATIONS: Final = ("result_text", "note")

FrameType = TypeVar("FrameType", pl.DataFrame, pl.LazyFrame)


def calls(events: FrameType) -> FrameType:
    """The calls of a log, one row per system call, in the order of their first lines.

    A call that strace split into an ``unfinished`` and a ``resumed`` line is joined by process; one whose line was
    interrupted by a notice, by program output or by ``-z`` is joined with its continuation.  A half whose other half is
    missing is kept, and `state` names the half.

    The sum of the truncated ``-r`` values can be less than ``-T`` by one microsecond per line; the gap is then set to
    the elapsed time.  With ``strace -e trace=...`` the gap also includes the calls that were not traced.  The last call
    of a process has no gap.  The files of a ``-ff -r`` set have no gaps: strace keeps one clock for all of them, so the
    values within one file do not add up (`unparsed` has a row about it).

    Args:
        events: the result of `scan_strace` or `read_strace` with all lines: filter calls, not events.

    Returns:
        The columns of `straceparse.CALLS`; a LazyFrame for a LazyFrame.  (Joining needs the whole log, so the events
        are collected.)

        * ``line``, ``end_line``: first and last line of the call
        * ``start``, ``end``: since the log's first timestamp; ``wall``: ``start`` in UTC (``-ttt``);
          ``time_of_day``: ``start`` as local time (``-t``, ``-tt``)
        * ``gap``: to the start of the next line of the process, an upper bound of the elapsed time
        * ``elapsed``: time in the call; ``elapsed_from``: ``T``, or ``stamps`` for the timestamps of a split call;
          ``elapsed_hi``: strace truncates the time of ``-T``, so it is below this
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
        """The calls, with the selected columns."""
        used = list(CALLS) if columns is None else columns
        if predicate is not None:
            used = used + predicate.meta.root_names()
        unused = {*_PASSED_ON, *_FOR_CONTINUATIONS}.difference(used)
        found = _with(events, others, unused)
        if unused.intersection(_FOR_CONTINUATIONS) and (found.get_column("kind") == "continuation").any():
            found = _with(events, others, unused.difference(_FOR_CONTINUATIONS))
        found = _calls_of(found)
        found = found if n_rows is None else found.head(n_rows)
        found = found if predicate is None else found.filter(predicate)
        yield found if columns is None else found.select(columns)

    return register_io_source(joined, schema={**others, **CALLS}, is_pure=True)


def _with(events: pl.LazyFrame, others: Iterable[str], unused: Collection[str]) -> pl.DataFrame:
    """The events in memory, with null in unused columns."""
    wanted = (pl.lit(None, EVENTS[name]).alias(name) if name in unused else pl.col(name) for name in _NEEDED)
    return events.select(*others, *wanted).collect()


def _calls_of(events: pl.DataFrame) -> pl.DataFrame:
    """The calls of events in memory."""
    others = [name for name in events.columns if name not in EVENTS and events[name].dtype == pl.String]
    owner = [*([] if _are_one_run(events, others) else others), "_owner"]
    lines = _with_owner(_join_continuations(events.with_row_index("_row")))
    lines = lines.join(_gaps(lines, owner), on="_row", how="left", maintain_order="left")
    lines = lines.filter(pl.col("kind").is_in(_CALLS))
    if not lines.get_column("kind").is_in(["unfinished", "resumed"]).any():
        return _calls(lines, others)
    return _calls(_joined(lines, owner), others)


def _are_one_run(events: pl.DataFrame, others: list[str]) -> bool:
    """Whether each process occurs in one log only, as in a ``-ff`` set, so that the pid alone identifies it."""
    processes = events.select(*others, "pid").unique().get_column("pid")
    return not processes.has_nulls() and processes.is_unique().all()


def _with_owner(lines: pl.DataFrame) -> pl.DataFrame:
    """The process that each line belongs to, and the order of its lines.

    A thread that calls execve takes over the id of its process: strace prints the start under the id of the thread, a
    ``superseded`` line, and the end under the id of the process, with ``-ff`` in another file.
    """
    owners = lines.with_columns(_owner=pl.col("pid"), _order=pl.col("_row"))
    superseded = lines.filter((pl.col("kind") == "superseded") & pl.col("result").is_not_null())
    for thread, process, row in superseded.select("result", "pid", "_row").iter_rows():
        is_start = (pl.col("pid") == thread) & (pl.col("kind") == "unfinished") & pl.col("name").is_in(EXECUTES)
        owners = owners.with_columns(
            _owner=pl.when(is_start).then(process).otherwise("_owner").cast(pl.Int32, strict=False),
            _order=pl.when(is_start).then(row).otherwise("_order"),
        )
    return owners


def _join_continuations(lines: pl.DataFrame) -> pl.DataFrame:
    """Lines that were interrupted, with their continuation appended.

    With ``-z`` and ``-e status=`` strace may print the end of a split call directly after its start, without a prefix.
    """
    is_cut, is_continuation = pl.col("kind") == "cut", pl.col("kind") == "continuation"
    if not lines.get_column("kind").is_in(["continuation"]).any():
        return lines
    is_left = (pl.col("kind") == "unfinished") & is_continuation.shift(-1)
    rests = (
        lines.filter(is_cut | is_continuation | is_left)
        .with_columns(_cut=pl.when(~is_continuation).then("_row").forward_fill(), _before=pl.col("kind").shift(1))
        .filter(is_continuation & (pl.col("_before") != "continuation"))
        .select(
            pl.col("_cut").alias("_row"),
            pl.col("line").alias("_end_line"),
            pl.col("args").alias("_rest"),
            *(pl.col(name).alias(f"_{name}") for name in _OUTCOME),
        )
    )
    is_continued = pl.col("_end_line").is_not_null()
    has_outcome = pl.col("_result_text").is_not_null()
    args = pl.col("args").str.replace(_NOTICE_AT_END, "")
    kind = (
        pl.when(is_continued & has_outcome)
        .then(pl.lit("call"))
        .when(is_continued & (pl.col("_note") == "detached"))
        .then(pl.lit("detached"))
        .when(is_continued)
        .then(pl.lit("unfinished"))
        .otherwise(pl.col("kind").cast(pl.String))
    )
    return (
        lines.join(rests, on="_row", how="left", maintain_order="left")
        .with_columns(
            kind.cast(KIND).alias("kind"),
            pl.when(is_continued).then(args + pl.col("_rest").fill_null("")).otherwise("args").alias("args"),
            *(pl.when(is_continued).then(f"_{name}").otherwise(name).alias(name) for name in _OUTCOME),
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
    """The lines with each end of a call joined to its start, the previous line of the same process.

    Calls of execve are paired separately, because the exits of other threads come between their halves.
    """
    lines = lines.with_columns(_lane=pl.col("name").is_in(EXECUTES).fill_null(value=False))
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
    rest = (
        pl.when(pl.col("_rest") != " ").then("_rest").otherwise(pl.lit(""))
    )  # strace 4.26 and before: `<... close resumed> ) = 0`
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


def _earlier(time_of_day: pl.Expr, elapsed: pl.Expr) -> pl.Expr:
    """A time of day less a duration, on the day before where it passes midnight."""
    nanoseconds = time_of_day.to_physical().cast(pl.Int64) - elapsed.to_physical().cast(pl.Int64)
    return (nanoseconds % (86_400 * 10**9)).cast(pl.Time)


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
        "time_of_day": pl.when(is_end)
        .then(_earlier(pl.col("time_of_day"), pl.col("elapsed")))
        .otherwise("time_of_day"),
        "state": state.otherwise(pl.col("kind").cast(pl.String)),
    }
    return lines.with_columns(missing).select(
        *others, *(columns.get(name, pl.col(name)).cast(dtype).alias(name) for name, dtype in CALLS.items())
    )
