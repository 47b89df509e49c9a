"""What a worker is given, and what it returns: plain values that travel between processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iolab.dataset.layout import DataFile
    from iolab.dataset.store import Store
    from logframe.limits import Limits


@dataclass(frozen=True, slots=True)
class Listed:
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
    """

    source: str
    listed: Listed
    member: str | None
    content_bytes: int
    hash: str | None
    message: str | None = None
    in_file: int = 1


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A batch that is replaced because some of its sources have changed.

    Attributes:
        batch: Its id.
        files: Its files.
        drop: Sources whose rows are not carried over.
        stamps: New stamps of sources whose content is the same: source -> stamp and time of the last change.
    """

    batch: str
    files: tuple[DataFile, ...]
    drop: frozenset[str]
    stamps: dict[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Settings:
    """What all jobs of a run share.

    Attributes:
        store: The dataset.
        tables: Tables to write, as ``format/name`` or ``name``; None for all.
        limits: Of opening logs.
        seconds: Limit of time for one source; 0 for none.
        is_own_process: The job runs in a process that may be ended, and whose temporary files are its own.
    """

    store: Store
    tables: frozenset[str] | None
    limits: Limits
    seconds: float
    is_own_process: bool


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
    """

    batch: str
    items: tuple[Item, ...]
    rewrites: tuple[Rewrite, ...] = ()
    status: str | None = None
    message: str | None = None
    originals: dict[str, str] = field(default_factory=dict)


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
