"""The work of one process on a piece of a large log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from iolab.dataset.guards import UNREADABLE, guarded, raise_of_place
from iolab.dataset.jobs import Made, SplitLog
from iolab.dataset.writer import BatchWriter, rows_of
from logframe import DIAGNOSTICS, LogParseError
from logframe.formats import CERTAIN, formats, head_of, sniff_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from iolab.dataset.jobs import Item, Settings
    from logframe.ranges import Splitting
    from logframe.source import Log


def split_of(log: Log, size: int, piece: int) -> SplitLog | None:
    """How a log is read in pieces; None where it is not: it is small, transcoded, or of a format that is not split.

    Args:
        log: The opened log.
        size: Bytes of its text.
        piece: About this many bytes are one piece; a log of less than two pieces is read as a whole.
    """
    if size < 2 * piece or not isinstance(log.target, Path) or log.notes:
        return None
    try:
        found = [(one, sniff) for one, sniff in sniff_all(head_of(log)) if sniff.score >= CERTAIN]
    except LogParseError:
        return None
    if len(found) != 1 or found[0][1].is_refused or found[0][0].splitting is None:
        return None
    ranges = found[0][0].splitting().cuts(log, piece)
    return SplitLog(found[0][0].name, log, tuple(ranges)) if len(ranges) > 1 else None


def _splitting(item: Item) -> tuple[Splitting, SplitLog]:
    assert item.split is not None  # noqa: S101 - the caller checked
    own = formats()[item.split.format].splitting
    assert own is not None  # noqa: S101 - see above
    return own(), item.split


def _tried(settings: Settings, work: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the format returns
    """The result of work on a log; None where it failed: then the log is read as a whole, which says why."""
    with guarded(settings):
        try:
            return work()
        except (*UNREADABLE, Exception, pl.exceptions.PanicException) as error:  # noqa: BLE001 - see above
            raise_of_place(error)
            return None


def facts_of(settings: Settings, item: Item, place: int) -> Any:  # noqa: ANN401 - what the format returns
    """What the other ranges of a log need of one; None where the log is read as a whole."""
    own, split = _splitting(item)
    return _tried(settings, lambda: own.facts(split.log, split.ranges[place]))


def pieces_of(settings: Settings, item: Item, facts: Sequence[Any]) -> list[Any] | None:
    """The pieces of a log, from the facts of its ranges; None where it is read as a whole."""
    own, split = _splitting(item)
    found = _tried(settings, lambda: own.pieces(split.log, split.ranges, facts))
    return None if found is None else list(found)


def convert_piece(settings: Settings, item: Item, name: str, piece: Any) -> Made | None:  # noqa: ANN401 - see above
    """Write the rows of a piece; None where that failed.

    Args:
        settings: Of the run.
        item: The source.
        name: Of the files.
        piece: What the format reads.

    Raises:
        OSError: The files cannot be written.
    """
    own, split = _splitting(item)
    with settings.store.staging() as folder:
        writer = BatchWriter(settings.store, name, folder, settings.run)

        def written() -> tuple[str, str]:
            read = own.read(split.log, piece)
            writer.add(rows_of(read, item.source, 1, settings.tables, is_large=True), is_large=True)
            writer.add_diagnostics(item.source, read.diagnostics.select(DIAGNOSTICS.names()))
            writer.write()
            return read.format, read.kind

        found: tuple[str, str] | None = _tried(settings, written)
        return None if found is None else Made(found[0], found[1], writer.rows, writer.publish())
