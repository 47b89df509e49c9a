"""Sets of logs: the files of ``strace -ff``, thousands of them, read together.

Small files are joined to one text, so that the cost of a query is paid once for many of them, and the number of files
in one query does not matter.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from straceparse.batches import BatchReader, Clock
from straceparse.dialects import file_pid
from straceparse.opening import ShortenedLog
from straceparse.schema import EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from logframe import Log
    from straceparse.dialects import Dialect
    from straceparse.prefix import Layout


class SetReader:
    """Reads several logs into events, one after the other, in bounded memory.

    Args:
        layout: the fixed-width prefix of most lines, or None.
        dialect: of all the logs.
        name: of the column with the log of each event, or None.
        batch_bytes: size of a batch.
    """

    def __init__(self, layout: Layout | None, dialect: Dialect, name: str | None, batch_bytes: int) -> None:
        self._layout = layout
        self._dialect = dialect
        self._name = name
        self._batch_bytes = batch_bytes
        self._reader = BatchReader(layout, dialect, batch_bytes=batch_bytes)

    def events(self, logs: Sequence[Log], columns: Sequence[str], n_rows: int | None) -> Iterator[pl.DataFrame]:
        """The events of logs, `n_rows` of each at most, with these columns."""
        for group in _groups(logs, self._batch_bytes):
            if len(group) == 1 or n_rows is not None:
                for log in group:
                    yield from self._events_of_one(log, columns, n_rows)
            else:
                yield self._events_of_many(group, columns)

    def _events_of_one(self, log: Log, columns: Sequence[str], n_rows: int | None) -> Iterator[pl.DataFrame]:
        pid = file_pid(log) if self._dialect.pid == "file" else None
        reader = BatchReader(self._layout, self._dialect, pid, batch_bytes=self._batch_bytes)
        own = [name for name in columns if name != self._name]
        for found in reader.events_of(log, n_rows, own or ["line"]):
            named = found if self._name is None else found.with_columns(pl.lit(log.name).alias(self._name))
            yield named.select(columns)

    def _events_of_many(self, logs: Sequence[Log], columns: Sequence[str]) -> pl.DataFrame:
        """The events of small logs, read as one text."""
        texts = [_text(log) for log in logs]
        heights = [text.count(b"\n") for text in texts]
        joined = replace(logs[0], target=b"".join(texts))
        clock = Clock(self._dialect)
        needs = {"at": clock.needs}
        wanted = list(dict.fromkeys(["line", *(needs.get(name, name) for name in columns if name != self._name)]))
        found = pl.concat(list(self._reader.events(self._reader.lines_of(joined, None), wanted)), rechunk=True)
        which = pl.Series(range(len(logs)), dtype=pl.UInt32).repeat_by(pl.Series(heights)).explode()
        starts = pl.Series(heights, dtype=pl.UInt32).cum_sum().shift(1, fill_value=0)
        parts = {name: found.get_column(needs.get(name, name)) for name in columns if name != self._name}
        if "line" in columns:
            parts["line"] = found.get_column("line") - starts.gather(which)
        if "pid" in columns and self._dialect.pid == "file":
            parts["pid"] = pl.Series([file_pid(log) for log in logs], dtype=EVENTS["pid"]).gather(which)
        if "at" in columns:
            parts["at"] = self._times(found.get_column(clock.needs), starts.to_list(), heights)
        if self._name is not None and self._name in columns:
            parts[self._name] = pl.Series([log.name for log in logs]).gather(which)
        return pl.DataFrame([parts[name].alias(name) for name in columns])

    def _times(self, stamps: pl.Series, starts: Sequence[int], heights: Sequence[int]) -> pl.Series:
        """The start of each line; every log has a clock of its own."""
        pieces = zip(starts, heights, strict=True)
        return pl.concat([Clock(self._dialect).times(stamps.slice(start, height)) for start, height in pieces])


def _groups(logs: Sequence[Log], most_bytes: int) -> Iterator[list[Log]]:
    """The logs in order, in groups of about this many bytes; a large one is a group of its own."""
    group: list[Log] = []
    total = 0
    for log in logs:
        if isinstance(log, ShortenedLog):
            if group:
                yield group
            yield [log]
            group, total = [], 0
            continue
        size = _size(log)
        if group and total + size > most_bytes:
            yield group
            group, total = [], 0
        group.append(log)
        total += size
    if group:
        yield group


def _size(log: Log) -> int:
    return len(log.target) if isinstance(log.target, bytes) else Path(log.target).stat().st_size


def _text(log: Log) -> bytes:
    """The text of a log; its last line ends, too."""
    text = log.target if isinstance(log.target, bytes) else Path(log.target).read_bytes()
    return text if text.endswith(b"\n") else text + b"\n"
