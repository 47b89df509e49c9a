"""The order of lines within each process: which line follows a call, and which line is the end of which start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from straceparse.names import EXECUTES
from straceparse.records import KINDS

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


@dataclass(frozen=True, slots=True)
class Halves:
    """Places of the halves of calls: each start with its end, and the starts whose end may still come."""

    starts: pl.Series
    ends: pl.Series
    opened: pl.Series


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
    logs, owners = lines.get_column(log), lines.get_column(process)
    if logs.n_unique() > 1 or not lines.get_column(order).is_sorted():
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


def gaps_of(lines: pl.DataFrame, turns: Turns) -> tuple[pl.Series, pl.Series, pl.Series]:
    """The time to the start of the next line of the process.

    Returns:
        ``_gap`` and ``_has_gap`` of all lines, and the places of calls whose next line may still come.
    """
    starts = turns.filter(IS_NEXT)
    has_next = ~starts.is_new().shift(-1, fill_value=True)
    at = lines.get_column("at").to_physical().gather(starts.places)
    nothing = pl.Series([None], dtype=pl.Int64)
    gap = (at.shift(-1) - at).zip_with(has_next, nothing)
    had_gap = lines.get_column("_has_gap")
    is_pending = ~has_next & IS_CALL.gather(starts.kinds) & at.is_not_null() & ~had_gap.gather(starts.places)
    # from the turns back to the places of the lines
    back = pl.repeat(len(gap), lines.height, dtype=PLACE, eager=True)
    back = back.scatter(starts.places, pl.int_range(len(gap), dtype=PLACE, eager=True))
    gaps = pl.concat([gap, nothing]).gather(back)
    found = pl.concat([has_next, pl.Series([False])]).gather(back)
    if had_gap.any():
        gaps = lines.get_column("_gap").zip_with(had_gap, gaps)
    return gaps.alias("_gap"), (found | had_gap).alias("_has_gap"), starts.places.filter(is_pending)


def halves_of(lines: pl.DataFrame, turns: Turns) -> Halves:
    """The halves of calls: an end belongs to its start if that is the previous line of the process.

    Calls of execve are paired separately, because the exits of other threads come between their halves.
    """
    calls = turns.filter(IS_CALL)
    names = lines.get_column("name")
    is_exec = names.is_in(EXECUTES).fill_null(value=False)
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
    starts, ends = calls.places.gather(ends - 1), calls.places.gather(ends)
    is_same = (names.gather(starts) == names.gather(ends)).fill_null(value=False)
    opened = calls.places.filter(is_start & is_new.shift(-1, fill_value=True))
    return Halves(starts.filter(is_same), ends.filter(is_same), opened)
