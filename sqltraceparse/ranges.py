"""One trace in ranges of lines that are read apart, with the rows of the whole trace.

A range ends with a call of depth 0: calls, their waits and the calls below them are within it.  What else crosses its
ends is what the first pass of `sqltraceparse.passes` carries from part to part, and the next execution of each cursor.
The first pass is run over the few records of each range that decide this.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import LogParseError, diagnostics_frame
from logframe.line_cleanup import LineCleanup
from logframe.ranges import Piece, Range, Splitting, line_after, ranges_of, size_of, within
from sqltraceparse import clocks
from sqltraceparse.derived import Derived
from sqltraceparse.grammar import GRAMMAR, cleanup_of
from sqltraceparse.heads import head_of
from sqltraceparse.lines import CODES, classified
from sqltraceparse.passes import (
    Backward,
    Forward,
    bare_waits,
    executions,
    in_order,
    of_process,
    starts_plan,
    with_process,
)
from sqltraceparse.reader import joined, read_pieces
from sqltraceparse.regular import RAW_CALLS, calls_and_closes
from sqltraceparse.trace import SqlTrace
from sqltraceparse.waits import CODED_WAITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Diagnostic, Log
    from sqltraceparse.passes import Frames
    from sqltraceparse.reader import Pieces

#: The end of a range is sought in this many bytes at a time.
_STEP: Final = 1 << 18


@dataclass(frozen=True)
class RangeFacts:
    """What the other ranges need of one; lines count from its start.

    Attributes:
        lines: Number of its lines.
        records: Number of its calls, waits and statements.
        waits: Number of its waits.
        bare: Number of its waits that end after their parameters.
        pieces: Its records without those that no other range needs.
    """

    lines: int
    records: int
    waits: int
    bare: int
    pieces: Pieces


@dataclass(frozen=True)
class _Piece:
    """A range, and what is known of the rest of the trace.

    Attributes:
        cut: The range.
        before: Number of lines before it.
        unit: Of the printed times, in microseconds.
        carried: What the lines before say (`sqltraceparse.passes.Forward`).
        process: The process that is named first in the trace.
        runs: The first execution of each cursor after the range.
        clock: The clocks of the trace.
        notes: Diagnostics of the clocks of this range.
        has_bare_waits: Most waits of the trace end after their parameters.
    """

    cut: Range
    before: int
    unit: int
    carried: Frames
    process: int | None
    runs: pl.DataFrame
    clock: pl.DataFrame
    notes: tuple[Diagnostic, ...]
    has_bare_waits: bool


def _is_plain(log: Log) -> bool:
    """Whether the lines are as the database wrote them."""
    return cleanup_of(log.head()) == LineCleanup()


def _begins_broken(log: Log) -> bool:
    """Whether the first line may be the rest of a number of the line before it."""
    first = pl.DataFrame({"text": log.head()[:1]}, schema={"text": pl.String})
    return bool(first.select(GRAMMAR.matches(pl.col("text"), "^{BROKEN_NUMBER}$").any()).item())


def _cuts(log: Log, size: int) -> list[Range]:
    if not _is_plain(log):
        return []
    return ranges_of(log, max(1, size_of(log) // size), _after_call)


def _after_call(log: Log, place: int) -> int:
    """Where the first line starts after a call of depth 0; the size of the log without one."""
    size = size_of(log)
    start = line_after(log, place)
    while start < size:
        end = line_after(log, min(start + _STEP, size) - 1)
        lines = within(log, Range(start, end)).scan(name="text", row_index_name="line").collect()
        lines = lines.with_columns(pl.col("line").cast(pl.Int64), pl.col("text").str.strip_suffix("\r"))
        kinds = classified(lines).lines.filter(pl.col("code") == CODES["call"], "is_whole")
        calls = calls_and_closes(kinds.lazy().select("line", "text")).filter(pl.col("depth") == 0).collect()
        if calls.height:
            for _ in range(calls.item(0, "line")):
                start = line_after(log, start)
            return start
        start = end
    return size


def _facts(log: Log, cut: Range) -> RangeFacts | None:
    """The facts of a range; None where it does not end with a call of depth 0, or where its clocks are not clear."""
    goes_on = cut.end < size_of(log)
    own = within(log, cut)
    if not _is_plain(own) or (cut.start and _begins_broken(own)):
        return None
    try:
        whole = joined(list(read_pieces(own, continues=goes_on)))
    except LogParseError:
        return None
    lines = int(whole.kinds.get_column("lines").sum())
    calls = whole.calls
    if goes_on and (calls.is_empty() or calls.select("line", "depth").row(-1) != (lines, 0)):
        return None
    edges = _edges(whole, goes_on=goes_on)
    if edges is None:
        return None
    owners = of_process(whole.statements.rename({"statement": "line"}), whole.processes, of_first=False)
    is_last = owners.select(pl.struct("process", "cursor").is_last_distinct()).to_series()
    runs = of_process(calls.filter(pl.col("op") == "EXEC"), whole.processes, of_first=False)
    runs = runs.unique(["process", "cursor"], keep="first", maintain_order=True)
    nothing = {name: getattr(whole, name).clear() for name in ("binds", "transactions", "errors")}
    needed = whole._replace(
        waits=pl.concat(
            [_padded(rows, CODED_WAITS) for rows in (whole.waits.head(1).select("line"), edges.filter("is_wait"))]
        ).sort("line", maintain_order=True),
        calls=pl.concat(
            [
                runs.select(RAW_CALLS.names()).with_columns(tim_us=pl.lit(None, pl.Int64)),
                _padded(edges.filter(~pl.col("is_wait")), RAW_CALLS),
            ]
        ).sort("line", maintain_order=True),
        shapes=whole.shapes.clear(),
        statements=whole.statements.filter(is_last).with_columns(text=pl.lit(None, pl.String)),
        row_sources=_plan_ends(whole.row_sources),
        **nothing,
        diagnostics=[],
    )
    bare = bare_waits(whole.waits, whole.diagnostics).len()
    return RangeFacts(
        lines, whole.waits.height + calls.height + whole.statements.height, whole.waits.height, bare, needed
    )


def _edges(whole: Pieces, *, goes_on: bool) -> pl.DataFrame | None:
    """The lines (``line``, ``tim_us``) that say what the clocks are; None where these are not clear.

    Of each process and run of its clock the first and last two, the least and the greatest, and those around stamps.
    """
    times = [
        frame.filter(pl.col("tim_us") > 0).select("line", "tim_us", is_wait=pl.lit(is_wait))
        for frame, is_wait in ((whole.waits, True), (whole.calls, False))
    ]
    tims = pl.concat(times)
    tims = of_process(tims.sort("line", maintain_order=True), whole.processes, of_first=False).with_row_index("row")
    key = pl.col("process").fill_null(-1)
    step = (pl.col("tim_us").diff() < -clocks.STEP_US).fill_null(value=False)
    tims = tims.with_columns(key=key).with_columns(step=step.over("key"))
    tims = tims.with_columns(run=pl.col("step").cast(pl.Int64).cum_sum().over("key"))
    if goes_on and tims.height and tims.item(-1, "step"):
        return None
    place, count = pl.int_range(pl.len()).over("key", "run"), pl.len().cast(pl.Int64).over("key", "run")
    later = pl.when(place > 0).then("tim_us")
    least, most = later.min().over("key", "run"), later.max().over("key", "run")
    is_edge = (place < 2) | (place >= count - 2) | (later == least) | (later == most)
    stamps = of_process(whole.attributes.filter(pl.col("stamp").is_not_null()), whole.processes, of_first=False)
    waiting, of_lines = stamps.select("line", key=key), tims.select("key", "line", "row")
    near = [
        waiting.join_asof(of_lines, on="line", by="key", strategy=side, check_sortedness=False).get_column("row")
        for side in ("backward", "forward")
    ]
    kept = tims.filter(is_edge.fill_null(value=False) | pl.col("row").is_in(pl.concat(near).drop_nulls().implode()))
    every, said = clocks.with_clock(tims.select("process", "line", "tim_us"), "")
    fewer, said_of_fewer = clocks.with_clock(kept.select("process", "line", "tim_us"), "")
    if said != said_of_fewer or not every.join(fewer, on=every.columns, how="semi", nulls_equal=True).equals(fewer):
        return None
    return kept.select("line", "tim_us", "is_wait")


def _padded(rows: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """The rows with all columns of a schema, null where they have none."""
    return rows.select(name if name in rows else pl.lit(None, dtype).alias(name) for name, dtype in schema.items())


def _plan_ends(rows: pl.DataFrame) -> pl.DataFrame:
    """The row sources that say of which plan the next ones are: those around the start of the last plan, the last."""
    row, start = pl.int_range(pl.len()), starts_plan().arg_true().last()
    return rows.filter((row == 0) | (row == start - 1) | (row == start) | (row == pl.len() - 1))


def _pieces(log: Log, cuts: Sequence[Range], facts: Sequence[RangeFacts]) -> list[_Piece] | None:
    """The ranges with what each needs of the others; None where the trace cannot be cut at these places."""
    if not sum(one.records for one in facts):
        return None
    befores = [0, *accumulate(one.lines for one in facts)]
    pieces = [_later(one.pieces, before) for one, before in zip(facts, befores, strict=False)]
    first = Forward(log.name, head_of(facts[0].pieces.heads).resolution_us)
    carried, runs = [], []
    for piece in pieces:
        carried.append(dict(first.carried))
        runs.append(executions(first.add(piece)["calls"]))
    first.finish()
    # of each cursor a range says the last header, not that of each session
    if first.are_centiseconds or first.is_shared:
        return None
    carried = [with_process(one, first.process) for one in carried]
    if not _is_cut_between(pieces, [_last_process(one, first.process) for one in carried]):
        return None
    named = [with_process({"runs": one}, first.process)["runs"] for one in runs]
    is_usual = sum(one.bare for one in facts) > sum(one.waits for one in facts) / 2
    found = []
    for place, cut in enumerate(cuts):
        before, end = befores[place], befores[place + 1]
        later = pl.concat([named[place].clear(), *named[place + 1 :]])
        found.append(
            _Piece(
                cut,
                before,
                first.unit,
                carried[place],
                first.process,
                later.unique(["process", "cursor"], keep="first", maintain_order=True),
                first.clock,
                tuple(
                    row
                    for row in first.diagnostics
                    if row.kind in {"clock", "ambiguous"} and before < (row.line or 0) <= end
                ),
                is_usual,
            )
        )
    return found


def _later(pieces: Pieces, before: int) -> Pieces:
    """The records with the lines of the trace."""

    def moved(frame: pl.DataFrame, name: str = "line") -> pl.DataFrame:
        return frame.with_columns(pl.col(name) + before)

    return pieces._replace(
        waits=moved(pieces.waits),
        calls=moved(pieces.calls),
        statements=moved(pieces.statements, "statement"),
        row_sources=moved(pieces.row_sources),
        processes=moved(pieces.processes),
        attributes=moved(pieces.attributes),
    )


def _last_process(carried: Frames, first: int | None) -> int | None:
    """The process at the start of a range: the one that was named last, at the start of the trace the first."""
    found: int | None = carried["process"].item(-1, "process") if "process" in carried else first
    return found


def _is_cut_between(pieces: Sequence[Pieces], starts: Sequence[int | None]) -> bool:
    """Whether at each cut no process goes on but the one whose call ended there."""
    within_ranges = [{start, *one.processes.get_column("process")} for one, start in zip(pieces, starts, strict=True)]
    going_on = list(accumulate(reversed(within_ranges), lambda later, own: later | own))[::-1]
    earlier: set[int | None] = set()
    for own, after, start in zip(within_ranges, going_on, starts, strict=True):
        if (earlier & after) - {start}:
            return False
        earlier |= own
    return True


def _read(log: Log, piece: _Piece) -> Piece:
    first = Forward(log.name, piece.unit, dict(piece.carried))
    first.process = piece.process
    frames = first.add(joined(list(read_pieces(within(log, piece.cut), before=piece.before))))
    first.say_cut(is_usual=piece.has_bare_waits)
    second = Backward(piece.process, piece.runs)
    frames = Derived(piece.clock, first.cut_waits, second).frames(second.add(frames))
    clock = piece.clock.clear() if piece.before else piece.clock
    own = [*(() if piece.before else log.notes), *first.diagnostics]
    rows = [*own, *(row for row in piece.notes if row not in own)]
    notes = diagnostics_frame(in_order(rows))
    return Piece(SqlTrace.format, SqlTrace.kind, log.name, {**frames, "clock": clock}, notes)


SPLITTING: Final = Splitting(cuts=_cuts, facts=_facts, pieces=_pieces, read=_read)
