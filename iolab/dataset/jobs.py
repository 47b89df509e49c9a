"""What a worker is given, what it returns, and what a run did: plain values that travel between processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from iolab.dataset.commits import DataFile
    from iolab.dataset.store import Store
    from logframe.limits import Limits
    from logframe.ranges import Range
    from logframe.source import Log


class Listed(NamedTuple):
    """A file that was found, or the files of one log.

    Attributes:
        file: Its path; of several files of one log their common path with ``.*`` at its end.
        files: What is opened.
        stamp: Changes when the file changes.
        size: Bytes.
        modified: When it was changed last, in microseconds since 1970.
    """

    file: str
    files: tuple[str, ...]
    stamp: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class SplitLog:
    """How a large log is read in pieces.

    Attributes:
        format: Name of its format.
        log: The log: a file of plain text.
        ranges: Of its text.
    """

    format: str
    log: Log
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A source to convert: a file, the files of one log, or a member of an archive.

    Attributes:
        source: Its name in the dataset: the path, or ``archive/member``.
        listed: The file.
        member: Name of the log within an archive, else None.
        content_bytes: Bytes of its text after decompression.
        hash: Of that text.
        message: Why it cannot be read, where that is known already.
        in_file: Number of sources in its file.
        split: Format and ranges of a large log that is read in pieces.
    """

    source: str
    listed: Listed
    member: str | None
    content_bytes: int
    hash: str | None
    message: str | None = None
    in_file: int = 1
    split: SplitLog | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A batch that is replaced because some of its sources have changed.

    Attributes:
        batch: Its id.
        files: Its files.
        drop: Sources whose rows are not carried over.
        stamps: New stamps of sources whose content is the same: source -> stamp and time of the last change.
        is_lost: Other files of the batch are missing, so that its sources are to be converted again.
    """

    batch: str
    files: tuple[DataFile, ...]
    drop: frozenset[str]
    stamps: dict[str, tuple[str, int]]
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """What all jobs of a run share.

    Attributes:
        store: The dataset.
        tables: Tables to write, as ``format/name`` or ``name``; None for all.
        limits: Of opening logs.
        seconds: Limit of time for one source; 0 for none.
        piece_bytes: About this many bytes of a large log are one piece.
        is_own_process: The job runs in a process that may be ended, and whose temporary files are its own.
        run: Id of the run.
    """

    store: Store
    tables: frozenset[str] | None
    limits: Limits
    seconds: float
    piece_bytes: int
    is_own_process: bool
    run: str


@dataclass(frozen=True, slots=True)
class Made:
    """The rows of a source, or of a piece of one, that are written and not committed yet.

    Attributes:
        format: Of the log.
        kind: Of the log.
        rows: Rows in its tables.
        files: Of its tables and diagnostics.
    """

    format: str
    kind: str
    rows: int
    files: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A batch to convert.

    Attributes:
        batch: Its id.
        items: Its sources.
        rewrites: Batches that it replaces.
        status: What is recorded of all items without reading them; None to read them.
        message: The reason, with `status`.
        originals: Source of a duplicate -> the source of the same content.
        made: What was made of its only source in pieces.
    """

    batch: str
    items: tuple[Item, ...]
    rewrites: tuple[Rewrite, ...] = ()
    status: str | None = None
    message: str | None = None
    originals: dict[str, str] = field(default_factory=dict)
    made: Made | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A batch that was written and is not committed yet.

    Attributes:
        files: To be committed.
        sources: Each item's source, file, stamp, hash, status and number of sources in its file.
        rows: Rows in its tables, without those that were carried over.
    """

    files: tuple[DataFile, ...]
    sources: tuple[tuple[Any, ...], ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Converted:
    """What a run did.

    Attributes:
        found: Files that were found.
        skipped: Files that the dataset holds already.
        counts: Status -> sources (`iolab.dataset.STATUSES`), and `touched`: sources whose file was written again with
            the same content.
        rows: Rows that were written.
        content_bytes: Bytes of text that were read.
        batches: Batches that were committed.
        seconds: Time of the run.
    """

    found: int
    skipped: int
    counts: dict[str, int]
    rows: int
    content_bytes: int
    batches: int
    seconds: float

    def __str__(self) -> str:
        counts = {**dict.fromkeys(("converted", "unreadable", "duplicate", "killed"), 0), **self.counts}
        shown = [f"{self.skipped:,} skipped", *(f"{count:,} {status}" for status, count in counts.items())]
        return f"{self.found:,} files: {', '.join(shown)}; {self.rows:,} rows, {self.seconds:,.1f} s"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Bytes of files that are committed.
        total: Bytes of files to be read.
        counts: As in `Converted`.
        rows: As in `Converted`.
    """

    done: int
    total: int
    counts: dict[str, int]
    rows: int
