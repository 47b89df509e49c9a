"""Work on one source within the limits of a run, and a large log that several processes read in pieces.

The ranges are read first, then the pieces, which are committed together.
"""

from __future__ import annotations

import errno
import faulthandler
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from iolab.dataset.jobs import Made, SplitLog
from iolab.dataset.store import StoreError
from iolab.dataset.writer import BatchWriter, rows_of
from logframe import DIAGNOSTICS, LogParseError
from logframe.formats import CERTAIN, formats, head_of, sniff_all
from logframe.limits import limits
from logframe.source import clear_temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from iolab.dataset.jobs import Item, Settings
    from logframe.ranges import Splitting
    from logframe.source import Log


#: What readers raise where the content is at fault.
UNREADABLE: Final = (LogParseError, OSError)


#: Numbers of errors of a full disk.
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def raise_of_place(error: BaseException) -> None:
    """Raise an error again that is no fault of a source: a disk is full, an object store does not answer."""
    cause: BaseException | None = error
    while cause is not None:
        is_full = isinstance(cause, OSError) and cause.errno in _FULL
        if is_full or isinstance(cause, StoreError) or os.strerror(errno.ENOSPC) in str(cause):
            raise error
        cause = cause.__cause__


@contextmanager
def guarded(settings: Settings) -> Iterator[None]:
    """A block of work on one source, within the limits; a process that exceeds the limit of time ends."""
    changes = {name: getattr(settings.limits, name) for name in settings.limits.__slots__}
    if not settings.is_own_process:
        with limits(**changes):
            yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        if settings.seconds > 0:
            # Its thread needs no lock of the interpreter, so it also ends a process that hangs in compiled code.
            faulthandler.dump_traceback_later(settings.seconds, exit=True, file=nowhere)
        try:
            with limits(**changes):
                yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            with suppress(OSError):
                clear_temporary()


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


@dataclass(frozen=True, slots=True)
class Step:
    """One job of a source that is read in pieces.

    Attributes:
        source: The source.
        stage: ``facts`` of a range, the ``plan`` of the pieces, or a ``piece``.
        place: Of the range or piece.
        tries: How many processes of this job have ended.
    """

    source: SplitSource
    stage: Literal["facts", "plan", "piece"]
    place: int
    tries: int = 0

    @property
    def call(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The function of the job, and its arguments without the settings."""
        source = self.source
        match self.stage:
            case "facts":
                return facts_of, (source.item, self.place)
            case "plan":
                return pieces_of, (source.item, [source.facts[place] for place in sorted(source.facts)])
            case _:
                name = f"{source.name}-{self.place}"
                return convert_piece, (source.item, name, source.pieces[self.place])


@dataclass(slots=True, eq=False)
class SplitSource:
    """The state of a source that is read in pieces.

    Attributes:
        item: The source.
        name: What the names of its files begin with.
        facts: Of its ranges.
        pieces: What is read.
        made: The pieces that are written.
        is_over: Nothing more is done in pieces.
        counted: Bytes of its file that were counted as done.
    """

    item: Item
    name: str
    facts: dict[int, Any] = field(default_factory=dict)
    pieces: list[Any] = field(default_factory=list)
    made: dict[int, Made] = field(default_factory=dict)
    is_over: bool = False
    counted: int = 0

    def first(self) -> list[Step]:
        """The first jobs."""
        assert self.item.split is not None  # noqa: S101 - the caller checked
        return [Step(self, "facts", place) for place in range(len(self.item.split.ranges))]

    def whole(self) -> Item:
        """The source, to be read as a whole."""
        self.is_over = True
        return replace(self.item, split=None)

    def after(self, step: Step, result: Any) -> list[Step]:  # noqa: ANN401 - what the job returned
        """The jobs that follow one that has ended; none where others of its stage are not done."""
        match step.stage:
            case "facts":
                self.facts[step.place] = result
                assert self.item.split is not None  # noqa: S101 - see above
                return [Step(self, "plan", 0)] if len(self.facts) == len(self.item.split.ranges) else []
            case "plan":
                self.pieces = result
                self.facts.clear()
                return [Step(self, "piece", place) for place in range(len(self.pieces))]
            case _:
                self.made[step.place] = result
                return []

    def done(self) -> Made | None:
        """What was made of the source; None while pieces are missing."""
        if not self.pieces or len(self.made) < len(self.pieces):
            return None
        made = [self.made[place] for place in range(len(self.pieces))]
        files = tuple(file for one in made for file in one.files)
        return Made(made[0].format, made[0].kind, sum(one.rows for one in made), files)
