"""Events by the batch: some megabytes of lines at a time, each read by the cheapest reader that can.

Batches are large, so that a batch costs Polars no more than its lines do, and bounded, so that the size of a log does
not matter.  In most logs every line of most batches is regular, and slices are all there is to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.clocks import Clock
from straceparse.irregular import PARTS, read_irregular
from straceparse.names import renamed
from straceparse.regular import Regular
from straceparse.schema import typed_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from straceparse.dialect import Dialect
    from straceparse.leader import Layout

#: A batch is full when its lines have so many bytes, unless it is said otherwise.
BATCH_BYTES: Final = 32 << 20


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

    def events(self, lines: pl.LazyFrame, columns: Collection[str]) -> Iterator[pl.DataFrame]:
        """The events of a log, batch by batch, with these columns of `EVENTS`."""
        clock = Clock(self._dialect) if "at" in columns else None
        wanted = ["line", *(name for name in columns if name not in {"at", "line"})]
        if clock is not None and clock.needs not in wanted:
            wanted.append(clock.needs)
        for batch in _batches(lines, self._batch_bytes):
            found = self._read(batch, wanted)
            if clock is not None:
                found = found.with_columns(clock.times(found.get_column(clock.needs)))
            yield found.select(columns)

    def _read(self, lines: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        if self._regular is None:
            return self._irregular(lines, columns)
        typed = [self._typed[name] for name in columns]
        found = self._sliced(self._regular, lines).select(*typed, "_regular").collect()
        if "name" in columns:
            found = found.with_columns(renamed(found.get_column("name")))
        is_regular = found.drop_in_place("_regular")
        if is_regular.all():
            return found
        rest = self._irregular(lines.filter(~is_regular), columns)
        return pl.concat([found.filter(is_regular), rest]).sort("line")

    @staticmethod
    def _sliced(regular: Regular, lines: pl.DataFrame) -> pl.LazyFrame:
        """The raw columns of lines, right where a line is ``_regular``."""
        frame = lines.lazy().with_columns(_regular=regular.condition())
        for places in regular.places():
            frame = frame.with_columns(places)
        texts = regular.texts()
        texts["name"] = texts["syscall"]
        nothing = pl.lit(None, pl.String)
        is_regular = pl.col("_regular") & regular.is_placed()
        return frame.select("line", is_regular, *(texts.get(name, nothing).alias(f"_{name}") for name in PARTS))

    def _irregular(self, lines: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        parts = read_irregular(lines.get_column("_line")).with_columns(lines.get_column("line"))
        return parts.lazy().select(self._typed_anyhow[name] for name in columns).collect()


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
