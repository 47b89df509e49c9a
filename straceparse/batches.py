"""Events by the batch: some megabytes of lines at a time, each read by the cheapest reader that can.

Batches are large, so that a batch costs Polars no more than its lines do, and bounded, so that the size of a log does
not matter.  While one batch is read, the next is fetched.  In most logs nearly all lines are regular, and slices are
all there is to do.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.clocks import Clock
from straceparse.irregular import PARTS, read_irregular
from straceparse.names import renamed
from straceparse.records import KINDS
from straceparse.regular import Regular
from straceparse.schema import KIND, typed_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from straceparse.dialect import Dialect
    from straceparse.leader import Layout

#: A batch is full when its lines have so many bytes, unless it is said otherwise.
BATCH_BYTES: Final = 16 << 20

#: So many batches are read at a time; each uses all processors, but not from its first step to its last.
_AT_A_TIME: Final = 2
#: Up to so many irregular lines are put between the regular ones piece by piece.
_FEW: Final = 64

#: What a line may be that starts with a letter and ends in ``<unfinished ...>``.
_STARTS: Final = frozenset({"unfinished", "cut", "notice", "table", "chatter", "unparsed"})


class BatchReader:
    """Reads batches of lines (``line``, ``_line``) into events, for the columns that are asked for.

    Args:
        layout: the fixed leader of the log's regular lines, if it has one.
        dialect: of the log.
        pid: the process that the log's name says (``-ff``).
        batch_bytes: size of a batch; smaller ones take less memory, and a little more time.
    """

    def __init__(
        self, layout: Layout | None, dialect: Dialect, pid: int | None = None, *, batch_bytes: int = BATCH_BYTES
    ) -> None:
        self._batch_bytes = batch_bytes
        self._regular = None if layout is None else Regular(layout, dialect)
        self._dialect = dialect
        self._typed = typed_columns(dialect, pid, is_regular=True)
        self._typed_anyhow = typed_columns(dialect, pid, is_regular=False)

    def events(
        self, lines: pl.LazyFrame, columns: Collection[str], kinds: Collection[str] = KINDS
    ) -> Iterator[pl.DataFrame]:
        """The events of a log, batch by batch, with these columns of `EVENTS`.

        Lines that are none of these kinds may be left out, where that is cheaper than reading them.
        """
        clock = Clock(self._dialect) if "at" in columns else None
        wanted = ["line", *(name for name in columns if name not in {"at", "line"})]
        if clock is not None and clock.needs not in wanted:
            wanted.append(clock.needs)
        leaves_out = clock is None and _STARTS.isdisjoint(kinds)
        with ThreadPoolExecutor(_AT_A_TIME) as readers:
            pending: deque[Future[pl.DataFrame]] = deque()
            for batch in _batches(lines, self._batch_bytes):
                if len(pending) == _AT_A_TIME:
                    yield _with_times(pending.popleft().result(), clock).select(columns)
                pending.append(readers.submit(self._read, batch, wanted, leaves_out=leaves_out))
            for found in pending:
                yield _with_times(found.result(), clock).select(columns)

    def _read(self, lines: pl.DataFrame, columns: list[str], *, leaves_out: bool) -> pl.DataFrame:
        if self._regular is None:
            return self._irregular(lines, columns)
        if leaves_out:
            lines = self._regular.without_starts(lines)
        typed = [self._typed[name] for name in columns]
        found = self._sliced(self._regular, lines).select(*typed, "_regular").collect()
        if "name" in columns:
            found = found.with_columns(renamed(found.get_column("name")))
        is_regular = found.drop_in_place("_regular")
        if is_regular.all():
            return found
        return _mixed(found, is_regular, self._irregular(lines.filter(~is_regular), columns))

    @staticmethod
    def _sliced(regular: Regular, lines: pl.DataFrame) -> pl.LazyFrame:
        """The raw columns of lines, right where a line is ``_regular``."""
        frame = lines.lazy().with_columns(_regular=regular.condition())
        for places in regular.places():
            frame = frame.with_columns(places)
        texts = regular.texts()
        texts["name"] = texts["syscall"]
        nothing = pl.lit(None, pl.String)
        return frame.select("line", "_regular", *(texts.get(name, nothing).alias(f"_{name}") for name in PARTS))

    def _irregular(self, lines: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        parts = read_irregular(lines.get_column("_line")).with_columns(lines.get_column("line"))
        return parts.lazy().select(self._typed_anyhow[name] for name in columns).collect()


def kinds_of(predicate: pl.Expr | None) -> Collection[str]:
    """The kinds of lines that can satisfy a predicate on events."""
    if predicate is None or set(predicate.meta.root_names()) != {"kind"}:
        return KINDS
    kinds = pl.DataFrame({"kind": KINDS}, schema={"kind": KIND})
    return kinds.filter(predicate).get_column("kind").to_list()


def _with_times(found: pl.DataFrame, clock: Clock | None) -> pl.DataFrame:
    """The next batch's events, with ``at`` where there is a clock for it."""
    return found if clock is None else found.with_columns(clock.times(found.get_column(clock.needs)))


def _mixed(found: pl.DataFrame, is_regular: pl.Series, rest: pl.DataFrame) -> pl.DataFrame:
    """The events of regular lines and of the rest, in the order of their lines."""
    if rest.height > _FEW:
        return pl.concat([found.filter(is_regular), rest]).sort("line")
    pieces, end = [], 0
    for number, place in enumerate((~is_regular).arg_true()):
        pieces += [found.slice(end, place - end), rest.slice(number, 1)]
        end = place + 1
    return pl.concat([*pieces, found.slice(end)])


def _batches(lines: pl.LazyFrame, batch_bytes: int) -> Iterator[pl.DataFrame]:
    """The lines in batches of about so many bytes; none is empty."""
    held: list[pl.DataFrame] = []
    size = 0
    for piece in lines.collect_batches():
        held.append(piece)
        size += int(piece.estimated_size())
        if size >= batch_bytes:
            yield pl.concat(held)
            held, size = [], 0
    if held:
        yield pl.concat(held)
