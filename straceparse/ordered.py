"""Rows in order, although some become known late: what waits for them is held, in temporary files beyond a limit.

In a log of standard error strace prints ``[pid N]`` only while it traces more than one process; the process of the
other lines is known late, too.
"""

from __future__ import annotations

import re
import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import polars as pl

from logframe.lazy_rows import lazy_rows
from straceparse.records import KINDS, PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


#: This many bytes of waiting rows stay in memory; more of them are written to temporary files.
HELD_BYTES: Final = 48 << 20


@dataclass(frozen=True, slots=True)
class _Held:
    """Rows in order that wait: in memory, or in a file.

    Attributes:
        rows: the frame, or the file with it.
        last: the largest ``_row`` among them.
        size: bytes in memory.
    """

    rows: pl.DataFrame | Path
    last: int
    size: int


class InOrder:
    """Gives frames in the order of their column ``_row``; a context manager that removes its temporary files.

    Args:
        by: the columns that the rows are in order of; the first is ``_row``.
    """

    def __init__(self, by: tuple[str, ...] = ("_row",)) -> None:
        self._by = by
        self._held: deque[_Held] = deque()
        self._size = 0
        self._late: list[pl.DataFrame] = []
        self._last = -1
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, rows: pl.DataFrame, first_open: int | None) -> Iterator[pl.DataFrame]:
        """Take rows, and give those whose turn it is.

        Args:
            rows: in order; some may belong before rows that came earlier.
            first_open: the smallest ``_row`` that is still to come of those seen so far; None without one.
        """
        if not self._held and not self._late and rows.height:
            is_before = _count_before(rows, first_open)
            if is_before == rows.height:
                self._last = max(self._last, int(rows.get_column("_row").item(-1)))
                yield rows
                return
        self._take(rows)
        yield from self._ready(first_open)

    def _take(self, rows: pl.DataFrame) -> None:
        late = _count_before(rows, self._last + 1) if rows.height else 0
        if late:
            self._late.append(compact(rows.head(late)))
        if rows.height > late:
            self._hold(rows.slice(late))

    def _hold(self, rows: pl.DataFrame) -> None:
        last = int(rows.get_column("_row").item(-1))
        self._last = max(self._last, last)
        size = int(rows.estimated_size())
        if self._held and self._size + size > HELD_BYTES:
            self._held.append(_Held(self._written(rows), last, 0))
            return
        self._size += size
        self._held.append(_Held(rows, last, size))

    def _written(self, rows: pl.DataFrame) -> Path:
        """The file with the rows."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="straceparse-")
        path = Path(self._folder.name) / f"{self._files}.parquet"
        self._files += 1
        rows.write_parquet(path, compression="lz4", statistics=False)
        return path

    def _ready(self, first_open: int | None) -> Iterator[pl.DataFrame]:
        while self._held:
            held = self._held[0]
            if first_open is not None and held.last >= first_open:
                break
            self._held.popleft()
            self._size -= held.size
            yield self._with_late(_read(held.rows), held.last + 1)
        if not self._held:
            if self._late and (found := self._with_late(self._late[0].clear(), first_open)).height:
                yield found
            return
        held = self._held[0]
        rows = held.rows if isinstance(held.rows, pl.DataFrame) else None
        if rows is not None and (count := _count_before(rows, first_open)):
            rest = rows.slice(count)
            # a few rows must not keep the memory of all the others
            self._held[0] = _Held(compact(rest) if 4 * rest.height < rows.height else rest, held.last, held.size)
            yield self._with_late(rows.head(count), first_open)

    def _with_late(self, rows: pl.DataFrame, end: int | None) -> pl.DataFrame:
        """Rows, and those late ones that belong before or between them."""
        if not self._late:
            return rows
        late = self._late[0] if len(self._late) == 1 else pl.concat(self._late).sort(self._by)
        count = _count_before(late, end)
        self._late = [late.slice(count)] if count < late.height else []
        if not count:
            return rows
        return late.head(count) if rows.is_empty() else pl.concat([late.head(count), rows]).sort(self._by)


def compact(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with memory of their own: a slice, or a view of a text, keeps that of its whole batch."""
    texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
    own = rows[pl.int_range(rows.height, dtype=pl.UInt32, eager=True)]
    return own.with_columns(pl.concat_str(pl.lit(""), pl.col(name)).alias(name) for name in texts)


def _count_before(rows: pl.DataFrame, end: int | None) -> int:
    """The number of rows before a row, in rows that are in order."""
    if end is None:
        return rows.height
    return int(rows.get_column("_row").search_sorted(end, side="left"))


def _read(rows: pl.DataFrame | Path) -> pl.DataFrame:
    if isinstance(rows, pl.DataFrame):
        return rows
    found = pl.read_parquet(rows)
    rows.unlink()
    return found


def rows_where(rows: pl.DataFrame, condition: pl.Expr | pl.Series) -> pl.DataFrame:
    """The rows that fulfil a condition; column by column, as a filter of a frame wakes all threads for little work."""
    is_wanted = rows.select(condition).to_series()
    if is_wanted.null_count():  # a query of its own
        is_wanted = is_wanted.fill_null(value=False)
    if not is_wanted.any():
        return rows.clear()
    return rows if is_wanted.all() else pl.DataFrame([column.filter(is_wanted) for column in rows.get_columns()])


def in_larger(frames: Iterable[pl.DataFrame], least: Callable[[], int]) -> Iterator[pl.DataFrame]:
    """The rows of frames in batches of at least this many rows; the last may have fewer."""
    held: list[pl.DataFrame] = []
    count = 0
    for frame in frames:
        held.append(frame)
        count += frame.height
        del frame  # its memory is needed for the next one
        if count >= least():
            yield held.pop() if len(held) == 1 else pl.concat(held)
            held.clear()
            count = 0
    if held:
        yield pl.concat(held)


#: Attribute of a frame of one log: gives its columns batch by batch, without a query around it.
_BATCHES: Final = "_straceparse_batches"


def of_one_log(
    frame: pl.LazyFrame, batches: Callable[[list[str]], Iterator[pl.DataFrame]] | None = None
) -> pl.LazyFrame:
    """The same frame, of which is known that its lines are those of one log in their order.

    Args:
        frame: rows with ``line``.
        batches: gives the columns of the frame that are named; None where only a query does.
    """
    setattr(frame, _BATCHES, batches or (lambda columns: frame.select(columns).collect_batches()))
    return frame


def batches_of(frame: pl.LazyFrame, columns: list[str]) -> Iterator[pl.DataFrame]:
    """The rows of a frame, batch by batch, with these columns."""
    own = getattr(frame, _BATCHES, None)
    yield from frame.select(columns).collect_batches() if own is None else own(columns)


def tapped(frame: pl.LazyFrame, columns: list[str], take: Callable[[pl.DataFrame], object]) -> pl.LazyFrame:
    """The same frame of one log; a function is given each batch of it that is read, with these columns."""

    def batches(used: list[str]) -> Iterator[pl.DataFrame]:
        for batch in batches_of(frame, list(dict.fromkeys([*used, *columns]))):
            take(batch.select(columns))
            yield batch.select(used)

    return of_one_log(lazy_rows(batches, frame.collect_schema()), batches)


def is_known_as_one_log(frame: pl.LazyFrame) -> bool:
    """Whether a frame was given by `of_one_log`."""
    return hasattr(frame, _BATCHES)


def is_one_log(frame: pl.LazyFrame) -> bool:
    """Whether the column ``line`` is in order, as in one log; reads it where that is not known."""
    if is_known_as_one_log(frame):
        return True
    last = 0
    for batch in batches_of(frame, ["line"]):
        lines = batch.get_column("line")
        if not lines.is_sorted() or (len(lines) and lines.item(0) < last):
            return False
        last = lines.item(-1) if len(lines) else last
    return True


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
