"""Joining lines to calls, batch by batch: halves of calls, continuations, and the time to the next line of the process.

The lines of calls that are not complete at the end of a batch are kept and read again with the next batch.  They are a
few lines of each process at most, so memory does not grow with the log.

Which line of a process follows a call, and which is the end of which start: compiled code (``calls.c``) finds
both in one pass where the lines are those of one log in their order; expressions sort them by process.
"""

from __future__ import annotations

import ctypes
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.kernel import Block, Exported, load_kernel
from logframe.native import POINTER, load_functions
from straceparse.call_table import EXECUTES
from straceparse.ordered import compact
from straceparse.records import KINDS, PARTS_GRAMMAR
from straceparse.schema import DURATION, EVENTS, KIND

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


#: Whether the lines of a kind are a call or half of a call, by the number of the kind.
IS_CALL: Final = pl.Series([kind in {"call", "unfinished", "detached", "cut", "resumed"} for kind in KINDS])
#: Whether they end a gap: neither the end of a call nor a line without a prefix.
IS_NEXT: Final = pl.Series(
    [
        kind in {"call", "unfinished", "detached", "cut", "signal", "stopped", "exited", "killed", "superseded"}
        for kind in KINDS
    ]
)
KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}
PLACE: Final = pl.UInt32()
#: What each kind is, as in ``calls.c``.
_ROLES: Final = bytes(
    IS_CALL[number] + 2 * IS_NEXT[number] + 4 * (kind == "unfinished") + 8 * (kind == "resumed")
    for number, kind in enumerate(KINDS)
).ljust(256, b"\0")


class _Columns(ctypes.Structure):
    _fields_ = tuple((name, POINTER) for name in ("kind", "pid", "at", "is_closed", "is_exec"))


class _Found(ctypes.Structure):
    _fields_ = (
        *((name, POINTER) for name in ("gaps", "has_gap", "has_next", "starts", "ends", "opened", "pending")),
        *((name, ctypes.c_int64) for name in ("pairs", "gap_count", "opened_count", "pending_count")),
    )


@dataclass(frozen=True, slots=True)
class Halves:
    """Places of the halves of calls: each start with its end, and the starts whose end may still come."""

    starts: pl.Series
    ends: pl.Series
    opened: pl.Series


@dataclass(frozen=True, slots=True)
class Gaps:
    """The time from each line to the start of the next line of its process.

    Attributes:
        gap: of each line, in nanoseconds; null where one of the two has no time, or there is no next line.
        has_next: whether there is one.
        pending: places of the calls whose next line may still come.
    """

    gap: pl.Series
    has_next: pl.Series
    pending: pl.Series


@dataclass(frozen=True, slots=True)
class Turns:
    """The lines of calls and those that end gaps, process by process, each in its order.

    Attributes:
        places: of the lines among all lines.
        kinds: numbers of their kinds.
        processes: a number for the process of each; equal ones stand side by side.
    """

    places: pl.Series
    kinds: pl.Series
    processes: pl.Series

    def filter(self, by_kind: pl.Series) -> Turns:
        """Those whose kind is true in this table."""
        wanted = by_kind.gather(self.kinds)
        return Turns(self.places.filter(wanted), self.kinds.filter(wanted), self.processes.filter(wanted))

    def is_new(self) -> pl.Series:
        """Whether a line is the first of its process."""
        before = self.processes.shift(1)
        return (self.processes != before).fill_null(value=True)

    def gather(self, order: pl.Series) -> Turns:
        """Those at these positions."""
        return Turns(self.places.gather(order), self.kinds.gather(order), self.processes.gather(order))


def in_turns(lines: pl.DataFrame, kinds: pl.Series, log: str, process: str, order: str) -> Turns:
    """The lines by the columns of their log, process and order."""
    places = pl.int_range(lines.height, dtype=PLACE, eager=True)
    owners = lines.get_column(process)
    if not is_in_order(lines, log, order):
        ordered = lines.select(log, process, order, places.alias("_place")).sort(log, process, order, "_place")
        places = ordered.get_column("_place")
        number = pl.struct(log, process).rle_id().cast(pl.Int64)
        turns = Turns(places, kinds.gather(places), ordered.select(number).to_series())
    elif owners.n_unique() <= 1:
        turns = Turns(places, kinds, pl.zeros(lines.height, pl.Int64, eager=True))
    else:  # numbers are sorted faster than positions
        keys = (owners.cast(pl.Int64).fill_null(-1) * (1 << 32) + places).sort()
        places = (keys & 0xFFFF_FFFF).cast(PLACE)
        turns = Turns(places, kinds.gather(places), keys // (1 << 32))
    return turns.filter(IS_CALL | IS_NEXT)


def gaps_and_halves(lines: pl.DataFrame, kinds: pl.Series) -> tuple[Gaps, Halves]:
    """The gaps of lines and the halves of calls.

    Args:
        lines: with ``pid``, ``name``, ``at``; ``_log`` and ``_row``, where the line stands; ``_home``, ``_owner`` and
            ``_order``, where it stands as half of a call; and ``_is_closed``, of starts that have no end.
        kinds: the numbers of their kinds.
    """
    is_moved = not lines.get_column("_order").equals(lines.get_column("_row"))
    is_exec = lines.get_column("name").is_in(EXECUTES).fill_null(value=False)
    is_typed = all(lines.schema[name] == EVENTS[name] for name in ("kind", "pid", "at"))
    if is_typed and not is_moved and is_in_order(lines, "_log", "_row"):
        found = in_one_pass(lines, is_exec)
        if found is not None:
            return found
    turns = in_turns(lines, kinds, "_log", "pid", "_row")
    gaps = gaps_of(lines, turns)
    if is_moved:
        turns = in_turns(lines, kinds, "_home", "_owner", "_order")
    return gaps, halves_of(lines, turns, is_exec)


def is_in_order(lines: pl.DataFrame, log: str, order: str) -> bool:
    """Whether the lines are those of one log in their order."""
    return lines.get_column(log).n_unique() <= 1 and lines.get_column(order).is_sorted()


def in_one_pass(lines: pl.DataFrame, is_exec: pl.Series) -> tuple[Gaps, Halves] | None:
    """The gaps and halves of lines in their order; None without compiled code."""
    kernel, library = load_kernel(), _library()
    if kernel is None or library is None or lines.is_empty():
        return None
    count = lines.height
    gaps = Block(kernel, 8 * count, zeroed=True)
    bits = [Block(kernel, count + 7 >> 3, zeroed=True) for _ in range(2)]
    places = [Block(kernel, 4 * count) for _ in range(4)]
    found = _Found(gaps.address, *(block.address for block in (*bits, *places)))
    with ExitStack() as stack:
        exported = [
            stack.enter_context(Exported(series, kind))
            for series, kind in (
                (lines.get_column("kind").to_physical(), "C"),
                (lines.get_column("pid"), "i"),
                (lines.get_column("at").to_physical(), "l"),
                (lines.get_column("_is_closed"), "b"),
                (is_exec, "b"),
            )
        ]
        if library.iolab_take_turns(
            ctypes.byref(_Columns(*(column.address for column in exported))), _ROLES, ctypes.byref(found)
        ):
            raise MemoryError(f"no memory for the processes of {count} lines")
    gap = kernel.series("_gap", "l", count, gaps, validity=bits[0], null_count=count - found.gap_count)
    has_next = kernel.series("_has_gap", "b", count, bits[1])
    sizes = (found.pairs, found.pairs, found.opened_count, found.pending_count)
    starts, ends, opened, pending = (
        kernel.series("places", "I", size, block) for size, block in zip(sizes, places, strict=True)
    )
    return Gaps(gap, has_next, pending), _of_one_call(lines, starts, ends, opened)


@cache
def _library() -> ctypes.CDLL | None:
    return load_functions("straceparse", "calls", iolab_take_turns=(ctypes.c_int32, POINTER, POINTER, POINTER))


def gaps_of(lines: pl.DataFrame, turns: Turns) -> Gaps:
    """The time to the start of the next line of the process, by expressions."""
    starts = turns.filter(IS_NEXT)
    has_next = ~starts.is_new().shift(-1, fill_value=True)
    at = lines.get_column("at").to_physical().gather(starts.places)
    nothing = pl.Series([None], dtype=pl.Int64)
    gap = (at.shift(-1) - at).zip_with(has_next, nothing)
    is_pending = ~has_next & IS_CALL.gather(starts.kinds) & at.is_not_null()
    # from the turns back to the places of the lines
    back = pl.repeat(len(gap), lines.height, dtype=PLACE, eager=True)
    back = back.scatter(starts.places, pl.int_range(len(gap), dtype=PLACE, eager=True))
    return Gaps(
        pl.concat([gap, nothing]).gather(back),
        pl.concat([has_next, pl.Series([False])]).gather(back),
        starts.places.filter(is_pending),
    )


def halves_of(lines: pl.DataFrame, turns: Turns, is_exec: pl.Series) -> Halves:
    """The halves of calls, by expressions: an end belongs to its start if that is the previous line of the process.

    Calls of execve are paired separately, because the exits of other threads come between their halves.
    """
    calls = turns.filter(IS_CALL)
    if is_exec.any():
        lane = is_exec.gather(calls.places).cast(pl.Int64)
        calls = Turns(calls.places, calls.kinds, calls.processes * 2 + lane)
        calls = calls.gather(
            pl.DataFrame([calls.processes.alias("_lane")])
            .select(pl.arg_sort_by("_lane", pl.int_range(pl.len())))
            .to_series()
        )
    is_new = calls.is_new()
    is_start = (calls.kinds == KIND_NUMBERS["unfinished"]) & ~lines.get_column("_is_closed").gather(calls.places)
    is_end = (calls.kinds == KIND_NUMBERS["resumed"]) & ~is_new & is_start.shift(1, fill_value=False)
    ends = is_end.arg_true()
    opened = calls.places.filter(is_start & is_new.shift(-1, fill_value=True))
    return _of_one_call(lines, calls.places.gather(ends - 1), calls.places.gather(ends), opened)


def _of_one_call(lines: pl.DataFrame, starts: pl.Series, ends: pl.Series, opened: pl.Series) -> Halves:
    """The halves that are of the same call; a start whose next line is the end of another one stays alone."""
    names = lines.get_column("name")
    is_same = (names.gather(starts) == names.gather(ends)).fill_null(value=False)
    return Halves(starts.filter(is_same), ends.filter(is_same), opened)


#: Columns that the end of a call has.
OUTCOME: Final = ("result", "result_text", "errno", "note", "elapsed", "elapsed_hi")
#: A notice at the end of a cut line: after `strace` or the path under which strace was started.
_NOTICE_AT_END: Final = PARTS_GRAMMAR.pattern("{PROCESS_NOTICE}$")

#: A tail of a batch up to this part of its lines is read again with the next batch.
_TAIL: Final = 8
_NO_PLACES: Final = pl.Series([], dtype=PLACE)


class CallJoiner:
    """Joins the lines of one source, batch by batch.

    Args:
        others: columns of the events that name their log.
        columns: the columns of the events that the calls are wanted with.
    """

    def __init__(self, others: Sequence[str], columns: Sequence[str]) -> None:
        self._others = list(others)
        self._columns = [*others, *columns]
        self._rows = 0
        self._kept: pl.DataFrame | None = None
        self._logs: dict[tuple[str | None, ...], int] = {}
        #: thread -> its process, and where that is marked, while the start of its execve was not seen
        self._superseded: dict[int, tuple[int, _Moment]] = {}

    @property
    def kept(self) -> int:
        """The number of lines that wait for others."""
        return 0 if self._kept is None else self._kept.height

    def join(self, events: pl.DataFrame, *, is_last: bool = False) -> tuple[pl.DataFrame, int | None]:
        """The calls that are complete with the next batch of events.

        Returns:
            The lines of the calls in the order of their first lines, with the columns of the events, ``_row``, ``_gap``
            (nanoseconds), and, where the call ends on another line, ``_end_line``, ``_end_at`` and ``_is_split``; and
            the row of the first call that is not complete, or None.
        """
        lines = self._numbered(events)
        joined, rests = _with_continuations(lines)
        joined = self._with_owners(joined)
        kinds = joined.get_column("kind").to_physical().cast(pl.UInt32)
        gaps, halves = gaps_and_halves(joined, kinds)
        joined, pending = _with_gaps(joined, gaps)
        waiting = _NO_PLACES
        if not is_last:
            waiting = pl.concat([pending, halves.opened, _cut_at_end(lines), self._without_start(joined, halves)])
            waiting = _with_tail(waiting.unique().sort(), kinds, halves)
        found = _complete(joined, kinds, halves, waiting, self._columns)
        self._kept = _kept(lines, joined, halves, waiting, rests) if len(waiting) else None
        return found, joined.get_column("_row").gather(waiting).min()  # type: ignore[return-value]

    def _numbered(self, events: pl.DataFrame) -> pl.DataFrame:
        """The lines that were kept and those of the next batch, with what is known of them beside the events."""
        row = pl.int_range(self._rows, self._rows + events.height, dtype=pl.UInt32)
        batch = events.with_columns(
            row.alias("_row"),
            row.alias("_order"),
            self._log_numbers(events).alias("_log"),
            self._log_numbers(events).alias("_home"),
            pl.col("pid").alias("_owner"),
            pl.lit(None, pl.Int64).alias("_gap"),
            pl.lit(value=False).alias("_has_gap"),
            pl.lit(value=False).alias("_is_closed"),
        )
        self._rows += events.height
        return batch if self._kept is None else pl.concat([self._kept, batch])

    def _log_numbers(self, events: pl.DataFrame) -> pl.Series:
        """A number for the log of each line."""
        if not self._others:
            return pl.zeros(events.height, pl.UInt32, eager=True)
        names = events.select(self._others)
        for name in names.unique(maintain_order=True).iter_rows():
            self._logs.setdefault(name, len(self._logs))
        table = pl.DataFrame(list(self._logs), schema=names.schema, orient="row").with_row_index("_number")
        return names.join(table, on=self._others, how="left", nulls_equal=True, maintain_order="left")["_number"]

    def _with_owners(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The lines, with the start of an execve given to the process that its thread took over.

        A thread that calls execve takes over the id of its process: strace prints the start under the id of the
        thread, a ``superseded`` line, and the end under the id of the process, with ``-ff`` in another file.
        """
        is_mark = (pl.col("kind") == "superseded") & (pl.col("result") != pl.col("pid"))
        if not self._superseded and not lines.select(is_mark.any()).item():
            return lines
        moved, closed = self._taken_over(lines.with_row_index("_place"), is_mark)
        schema = {"_place": pl.UInt32, "_process": pl.Int32, "_turn": pl.UInt32, "_mark": pl.UInt32, "_at": pl.Int64}
        table = pl.DataFrame(moved, schema=schema, orient="row")
        return (
            lines.with_row_index("_place")
            .join(table, on="_place", how="left", maintain_order="left")
            .with_columns(
                pl.coalesce("_process", "_owner").alias("_owner"),
                pl.coalesce("_turn", "_order").alias("_order"),
                pl.coalesce("_mark", "_home").alias("_home"),
                # its thread has no other line
                pl.coalesce(pl.col("_at") - pl.col("at").to_physical(), "_gap").alias("_gap"),
                (pl.col("_has_gap") | pl.col("_process").is_not_null()).alias("_has_gap"),
                (pl.col("_is_closed") | pl.col("_place").is_in(closed)).alias("_is_closed"),
            )
            .drop(schema)
        )

    def _taken_over(
        self, lines: pl.DataFrame, is_mark: pl.Expr
    ) -> tuple[list[tuple[int, int, int, int, int | None]], list[int]]:
        """The starts of execve whose thread took over a process: place, and process, row, log and time of its mark.

        Also the places of starts that another execve of the thread followed: they have no end.
        """
        is_own = pl.col("name").is_in(EXECUTES) & pl.col("_owner").eq_missing(pl.col("pid")) & ~pl.col("_is_closed")
        opened: dict[int | None, tuple[int | None, _Moment]] = {}
        moved, closed = [], []
        columns = ("_place", "kind", "pid", "result", "_row", "line", "_log", pl.col("at").to_physical())
        for place, kind, pid, thread, *at in lines.filter(is_mark | is_own).select(*columns).iter_rows():
            moment = _Moment(*at)
            if kind == "superseded":
                start, begun = opened.pop(thread, (None, moment))
                if start is not None and self._is_one_run(begun, moment):
                    moved.append((start, pid, moment.row, moment.log, moment.at))
                else:
                    self._superseded[thread] = (pid, moment)
                continue
            before, _ = opened.pop(pid, (None, moment))
            if before is not None and kind != "resumed":
                closed.append(before)
            if kind != "unfinished":
                continue
            process, mark = self._superseded.get(pid, (None, moment))
            if process is not None and not moment.is_of_log(mark) and self._is_one_run(moment, mark):
                moved.append((place, process, mark.row, mark.log, mark.at))
                del self._superseded[pid]
            else:
                opened[pid] = (place, moment)
        return moved, closed

    def _is_one_run(self, one: _Moment, other: _Moment) -> bool:
        """Whether two lines are of one log, or of files of one ``-ff`` set: they differ after the last dot."""
        if one.log == other.log:
            return True
        names = list(self._logs)
        return all(
            first is not None and second is not None and first.rpartition(".")[0] == second.rpartition(".")[0]
            for first, second in zip(names[one.log], names[other.log], strict=True)
        )

    def _without_start(self, lines: pl.DataFrame, halves: Halves) -> pl.Series:
        """Ends of an execve whose start may stand in a file that is still to come."""
        if not self._superseded:
            return _NO_PLACES
        processes = [process for process, _ in self._superseded.values()]
        is_end = (pl.col("kind") == "resumed") & pl.col("name").is_in(EXECUTES) & pl.col("_owner").is_in(processes)
        found = lines.with_row_index("_place").filter(is_end).get_column("_place")
        return found.filter(~found.is_in(halves.ends.implode()))


@dataclass(frozen=True, slots=True)
class _Moment:
    """Where and when a line stands."""

    row: int
    line: int
    log: int
    at: int | None

    def is_of_log(self, other: _Moment) -> bool:
        """Whether another line is of the same log; of logs that are not named, by the first row of the log."""
        return self.log == other.log and self.row - self.line == other.row - other.line


def _with_continuations(lines: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Lines that were interrupted, with their continuation appended.

    With ``-z`` and ``-e status=`` strace may print the end of a split call directly after its start, without a prefix.

    Returns:
        The lines, and the ``_row`` of those that are continued with the place of their continuation (``_rest_place``).
    """
    is_cut, is_continuation = pl.col("kind") == "cut", pl.col("kind") == "continuation"
    if _place_of_last(lines, "continuation") is None:
        return lines.with_columns(pl.lit(None, pl.UInt32).alias("_end_line")), None
    is_next = is_continuation.shift(-1) & (pl.col("_row").shift(-1) == pl.col("_row") + 1)
    is_left = (pl.col("kind") == "unfinished") & is_next
    outcome = [name for name in OUTCOME if name in lines.columns]
    has_args = "args" in lines.columns
    rests = (
        lines.with_row_index("_rest_place")
        .filter((is_cut & ~pl.col("_is_closed")) | is_continuation | is_left)
        .with_columns(_cut=pl.when(~is_continuation).then("_row").forward_fill(), _before=pl.col("kind").shift(1))
        .filter(is_continuation & (pl.col("_before") != "continuation"))
        .select(
            pl.col("_cut").alias("_row"),
            "_rest_place",
            pl.col("line").alias("_end_line"),
            *([pl.col("args").alias("_rest")] if has_args else []),
            *(pl.col(name).alias(f"_{name}") for name in outcome),
        )
    )
    is_continued = pl.col("_end_line").is_not_null()
    kind = (
        pl.when(is_continued & pl.col("_result_text").is_not_null())
        .then(pl.lit("call"))
        .when(is_continued & (pl.col("_note") == "detached"))
        .then(pl.lit("detached"))
        .when(is_continued)
        .then(pl.lit("unfinished"))
        .otherwise(pl.col("kind").cast(pl.String))
    )
    columns = [pl.when(is_continued).then(f"_{name}").otherwise(name).alias(name) for name in outcome]
    if has_args:
        args = pl.concat_str(pl.col("args").str.replace(_NOTICE_AT_END, ""), pl.col("_rest").fill_null(""))
        columns.append(pl.when(is_continued).then(args).otherwise("args").alias("args"))
    joined = lines.join(rests, on="_row", how="left", maintain_order="left").with_columns(
        kind.cast(KIND).alias("kind"), *columns
    )
    return joined.select(*lines.columns, "_end_line"), rests.select("_row", "_rest_place")


def _place_of_last(lines: pl.DataFrame, *kinds: str) -> int | None:
    numbers = [KIND_NUMBERS[kind] for kind in kinds]
    places = lines.get_column("kind").to_physical().is_in(numbers).arg_true()
    return int(places.item(-1)) if len(places) else None


def _cut_at_end(lines: pl.DataFrame) -> pl.Series:
    """The place of the last cut line, where its continuation may still come."""
    place = _place_of_last(lines, "cut", "continuation")
    if place is None or lines.item(place, "kind") != "cut" or lines.item(place, "_is_closed"):
        return _NO_PLACES
    return pl.Series([place], dtype=PLACE)


def _with_gaps(lines: pl.DataFrame, gaps: Gaps) -> tuple[pl.DataFrame, pl.Series]:
    """The lines with their gaps, and the places of calls whose gap may still come; some had theirs before."""
    had_gap = lines.get_column("_has_gap")
    gap, has_gap, pending = gaps.gap, gaps.has_next, gaps.pending
    if had_gap.any():
        gap = lines.get_column("_gap").zip_with(had_gap, gap)
        has_gap = has_gap | had_gap
        pending = pending.filter(~had_gap.gather(pending))
    return lines.with_columns(gap.alias("_gap"), has_gap.alias("_has_gap")), pending


def _with_tail(waiting: pl.Series, kinds: pl.Series, halves: Halves) -> pl.Series:
    """The calls that wait, and all after the first of them where these are few: then no complete call waits for one."""
    if not len(waiting) or (len(kinds) - waiting.item(0)) * _TAIL > len(kinds):
        return waiting
    places = IS_CALL.gather(kinds).scatter(halves.ends, False).arg_true()
    return places.filter(places >= waiting.item(0)).cast(PLACE)


def _complete(
    lines: pl.DataFrame, kinds: pl.Series, halves: Halves, waiting: pl.Series, columns: Sequence[str]
) -> pl.DataFrame:
    """The lines of complete calls, each end joined to its start.

    Columns are filtered one by one: a filter of the whole frame wakes all threads for little work.
    """
    is_call = IS_CALL.gather(kinds)
    if len(halves.starts) or len(waiting):
        is_call = is_call.scatter(pl.concat([halves.ends, waiting]), False)
    is_settled = is_call.gather(halves.starts)
    halves = Halves(halves.starts.filter(is_settled), halves.ends.filter(is_settled), halves.opened)
    columns = list(dict.fromkeys([*columns, "_row", "_gap", "_end_line"]))
    split = _split(lines, halves, columns)
    found = [lines.get_column(name).filter(is_call) for name in columns]
    height = len(found[0])
    found += [
        pl.Series("_end_at", [None], dtype=DURATION).new_from_index(0, height),
        pl.repeat(value=False, n=height, eager=True, dtype=pl.Boolean).alias("_is_split"),
    ]
    if not len(halves.starts):
        return pl.DataFrame(found)
    places = (is_call.cast(PLACE).cum_sum() - 1).gather(halves.starts)
    return pl.DataFrame(
        [series.scatter(places, split[series.name]) if series.name in split else series for series in found]
    )


def _split(lines: pl.DataFrame, halves: Halves, columns: Collection[str]) -> dict[str, pl.Series]:
    """What differs between the start of a split call and the whole call: column -> its values."""

    def of(name: str, places: pl.Series) -> pl.Series:
        return lines.get_column(name).gather(places)

    found = {name: of(name, halves.ends) for name in OUTCOME if name in columns}
    found["_end_line"] = of("line", halves.ends)
    found["_end_at"] = of("at", halves.ends)
    found["_is_split"] = pl.repeat(value=True, n=len(halves.ends), eager=True, dtype=pl.Boolean)
    if "args" in columns:
        parts = pl.DataFrame([of("args", halves.starts), of("args", halves.ends).alias("_rest")])
        # strace 4.26 and before: `<... close resumed> ) = 0`
        rest = pl.when(pl.col("_rest") != " ").then("_rest").otherwise(pl.lit(""))
        found["args"] = parts.select(pl.concat_str("args", rest)).to_series()
    if "fd_path" in columns:
        own = of("fd_path", halves.starts)
        found["fd_path"] = own.zip_with(own.is_not_null(), of("fd_path", halves.ends))
    return found


def _kept(
    lines: pl.DataFrame, joined: pl.DataFrame, halves: Halves, waiting: pl.Series, rests: pl.DataFrame | None
) -> pl.DataFrame:
    """The lines of the calls that wait, with what is known of them."""
    is_kept = halves.starts.is_in(waiting.implode())
    parts = [waiting, halves.ends.filter(is_kept)]
    rows = joined.get_column("_row")
    continued = _NO_PLACES
    if rests is not None:
        own = rows.gather(pl.concat(parts))
        parts.append(rests.filter(pl.col("_row").is_in(own.implode())).get_column("_rest_place"))
        continued = pl.Series(rows.is_in(rests.get_column("_row").implode()).arg_true())
    places = pl.concat(parts).unique().sort()
    alive = pl.concat([halves.opened, halves.starts, continued, _cut_at_end(lines)])
    is_part = joined.get_column("kind").gather(places).is_in(["unfinished", "cut"])
    is_closed = is_part & ~places.is_in(alive.implode())
    state = joined.select("_home", "_owner", "_order", "_gap", "_has_gap")[places]
    kept = lines[places].with_columns(state.get_columns())
    return compact(kept.with_columns((pl.col("_is_closed") | is_closed).alias("_is_closed")))
