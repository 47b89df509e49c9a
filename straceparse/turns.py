"""The order of lines within each process: which line follows a call, and which line is the end of which start.

Compiled code (``calls.c``) finds both in one pass where the lines are those of one log in their order; expressions sort
them by process.
"""

from __future__ import annotations

import ctypes
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Final

import polars as pl

from logframe.kernel import Block, Exported, load_kernel
from logframe.native import POINTER, load_functions
from straceparse.names import EXECUTES
from straceparse.records import KINDS
from straceparse.schema import EVENTS

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
