"""The process of each line of a log of standard error.

There strace prints ``[pid N]`` only while it traces more than one process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.records import KINDS, PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Kinds of lines that belong to one process.
_STAMPED: Final = frozenset(KINDS[:5]) | frozenset(KINDS[6:11])
_DETACHED = re.compile(PARTS_GRAMMAR.pattern("{DETACHED_BEFORE}({PID_DIGITS}){DETACHED_AFTER}$"))


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes that are traced at a line of a log.

    Attributes:
        alive: Those that were seen and have not ended.
        last: The one of the line before.
    """

    alive: tuple[int, ...]
    last: int | None


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """What a part of a log says of its processes.

    Attributes:
        named: Processes in the order in which they are printed.
        born: Results of the calls that create processes.
        ends: Rows of calls that a notice cut, and of continuations, for a call whose halves are in two parts.
        rows: The rows that decide which processes are traced after this part.
    """

    named: tuple[int, ...]
    born: tuple[int | None, ...]
    ends: pl.DataFrame
    rows: tuple[tuple[int | None, str, str | None], ...]


def survivors(rows: pl.Series) -> pl.Series:
    """The process of each line of a log that prints it only while several processes are traced.

    A line without a pid belongs to the only process that was seen and has not ended; before the first pid, to the
    process that no ``clone`` or ``fork`` returned.
    """
    frame = rows.struct.unnest()
    return filled(rows, next(iter(processes_after([process_facts(frame)]))))


def filled(rows: pl.Series, traced: Processes) -> pl.Series:
    """The process of each line of a part of such a log.

    Args:
        rows: The columns `pid` (as printed), `kind`, `name`, `result` and `note` of its events.
        traced: The processes before its first line.
    """
    frame = rows.struct.unnest()
    if frame.filter(_is_open()).is_empty():
        return frame.get_column("pid")
    state = _State(traced)
    pids = [state.process_of(*row) for row in frame.select("pid", "kind", "note").iter_rows()]
    return pl.Series(rows.name, pids, dtype=pl.Int32)


def process_facts(frame: pl.DataFrame) -> ProcessFacts:
    """What a part of a log says of its processes, from the columns that `filled` takes."""
    printed = frame.get_column("pid")
    ends = frame.filter(pl.col("kind").is_in(["cut", "continuation"])).select("kind", "name", "result")
    born = frame.filter(_makes()).get_column("result").to_list()
    named = printed.drop_nulls().unique(maintain_order=True).to_list()
    return ProcessFacts(tuple(named), tuple(born), ends, tuple(_decisive(frame)))


def _decisive(frame: pl.DataFrame) -> list[tuple[int | None, str, str | None]]:
    """The rows that decide which processes are traced after the last one.

    Between two rows without a pid, or that end a process, only the last line of each printed process counts.
    """
    is_end = pl.col("kind").is_in(["exited", "killed", "notice"])
    row = pl.struct("pid", "kind")
    return (
        frame.lazy()
        .select("pid", pl.col("kind").cast(pl.String), "note")
        .filter(pl.col("pid").is_not_null() | is_end | _is_open())
        .with_columns(special=is_end | pl.col("pid").is_null())
        .with_columns(block=pl.col("special").rle_id())
        .filter(
            pl.when("special")
            .then(is_end | row.ne_missing(row.shift(1)))
            .otherwise(pl.struct("block", "pid").is_last_distinct())
        )
        .select("pid", "kind", "note")
        .collect()
        .rows()
    )


def processes_after(facts: Sequence[ProcessFacts]) -> Iterator[Processes]:
    """The processes that are traced before each part of a log.

    Args:
        facts: Of all parts, in their order.
    """
    ends = pl.concat([one.ends for one in facts])
    born = {result for one in facts for result in one.born} | set(_born_in_two(ends))
    first = next((pid for one in facts for pid in one.named if pid not in born), None)
    state = _State(Processes(() if first is None else (first,), first))
    for one in facts:
        yield state.traced
        for row in one.rows:
            state.process_of(*row)


class _State:
    """The processes that are traced, line by line."""

    def __init__(self, traced: Processes) -> None:
        self._alive: dict[int, None] = dict.fromkeys(traced.alive)
        self._last = traced.last

    @property
    def traced(self) -> Processes:
        return Processes(tuple(self._alive), self._last)

    def process_of(self, printed: int | None, kind: str, note: str | None) -> int | None:
        """The process of the next line."""
        if kind == "notice" and (gone := _DETACHED.search(note or "")):
            self._alive.pop(int(gone.group(1)), None)  # strace 4.6 and before print no exit
        pid = printed
        if pid is None and kind in _STAMPED:
            if len(self._alive) == 1:
                pid = next(iter(self._alive))
            elif self._last in self._alive or not self._alive:
                pid = self._last
        if pid is not None:
            self._last = pid
            self._alive[pid] = None
            if kind in {"exited", "killed"}:
                self._alive.pop(pid)
        return pid


def _is_open() -> pl.Expr:
    """Whether a line belongs to a process and does not print which."""
    return pl.col("pid").is_null() & pl.col("kind").cast(pl.String).is_in(_STAMPED)


def _makes() -> pl.Expr:
    """Whether a line is a call that creates a process."""
    return pl.col("name").is_in(["clone", "clone2", "clone3", "fork", "vfork"])


def _born_in_two(ends: pl.DataFrame) -> list[int | None]:
    """The results of the calls that create processes and that a notice cut, from their continuations."""
    is_end = pl.col("kind") == "continuation"
    named = ends.with_columns(pl.when(is_end).then(pl.col("name").shift(1)).otherwise("name").alias("name"))
    return named.filter(_makes() & is_end).get_column("result").to_list()
