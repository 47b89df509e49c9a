"""Where a dataset is: a folder of this machine, with the few operations that the rest of the package needs.

A *key* is a path below the dataset, with ``/``.  `put_new` writes a key only if it is absent, in one step: of two
writers one gets True.  A key that is there is whole, or
empty: then the run that was to write it has ended.

`LocalStore` is no store of obstore: that is in the extra ``cluster`` only, its store of files has no conditional update
for a lock (``NotImplementedError`` in 0.12), and a lock of the system ends with its process, without a time to wait.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import socket
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

from logframe.atomic import flush, flush_folder, lock_file, publish
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

#: Files that are not complete; a run that was interrupted leaves some, and the next one removes them.
STAGING: Final = "_staging"
#: Held by the run that writes.
LOCK: Final = "_lock"


class StoreError(LogError):
    """The place of a dataset, or of sources, does not answer: no fault of one source."""


class TakenError(LogError):
    """Another run has taken the place of this one, none of whose files is committed from then on."""


class Entry(NamedTuple):
    """A file of a dataset.

    Attributes:
        key: Its key.
        size: Bytes.
        modified: When it was written, in seconds since 1970.
    """

    key: str
    size: int
    modified: float


@dataclass
class Lock:
    """A lock that is held.

    Attributes:
        was_interrupted: The run that held it before did not end as it should: it may have left files.
        interrupted: The ids of such runs.
        check: Raises LogError where another run has taken the lock.
    """

    was_interrupted: bool
    interrupted: tuple[str, ...]
    check: Callable[[], object]


class Store(Protocol):
    """The operations on the files of a dataset, which a folder and a prefix of a bucket have in common."""

    @property
    def url(self) -> str:
        """The dataset."""

    @property
    def options(self) -> dict[str, str] | None:
        """What Polars needs to read the files."""

    def location(self, key: str) -> str:
        """Path or URL of a key."""

    def read(self, key: str) -> bytes:
        """The content of a key."""

    def put(self, key: str, data: bytes) -> None:
        """Write a key, or replace it."""

    def put_new(self, key: str, data: bytes) -> bool:
        """Write a key if it is absent; whether it was."""

    def take(self, file: Path, key: str) -> None:
        """Move a file to a key."""

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """The files whose keys begin with a prefix."""

    def delete(self, key: str) -> None:
        """Remove a key, if it is there."""

    def staging(self) -> AbstractContextManager[Path]:
        """A folder for files that are not complete."""

    def lock(self, run: str) -> AbstractContextManager[Lock]:
        """The right to write, which one run has at a time."""


@dataclass(frozen=True)
class LocalStore:
    """A dataset in a folder."""

    root: str

    @property
    def url(self) -> str:
        """The folder."""
        return self.root

    @property
    def options(self) -> dict[str, str] | None:
        """Nothing is needed."""
        return None

    def location(self, key: str) -> str:
        """Path of a key."""
        return f"{self.root}/{key}"

    def read(self, key: str) -> bytes:
        """The content of a key."""
        return Path(self.location(key)).read_bytes()

    def put(self, key: str, data: bytes) -> None:
        """Write a key, or replace it."""
        publish(self._written(key, data), Path(self.location(key)))

    def put_new(self, key: str, data: bytes) -> bool:
        """Write a key if it is absent: a link of a name that exists fails."""
        file = self._written(key, data)
        target = Path(self.location(key))
        try:
            flush(file)
            os.link(file, target)
            flush_folder(target.parent)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EMLINK}:
                raise
            return self._claimed(file, target)
        finally:
            file.unlink(missing_ok=True)
        return True

    @staticmethod
    def _claimed(file: Path, target: Path) -> bool:
        """`put_new` on a file system without links: an empty file takes the name, and the content its place."""
        try:
            target.touch(exist_ok=False)
        except FileExistsError:
            return False
        publish(file, target)
        return True

    def _written(self, key: str, data: bytes) -> Path:
        """A file of the staging folder with this content; the folder of the key is made, too."""
        folder = Path(self.root, STAGING)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{secrets.token_hex(8)}.part"
        file.write_bytes(data)
        Path(self.location(key)).parent.mkdir(parents=True, exist_ok=True)
        return file

    def take(self, file: Path, key: str) -> None:
        """Move a file to a key."""
        target = Path(self.location(key))
        target.parent.mkdir(parents=True, exist_ok=True)
        publish(file, target)

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """The files whose keys begin with a prefix, folder by folder."""
        waiting = [self.root]
        while waiting:
            try:
                entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
            except FileNotFoundError:
                continue
            for entry in entries:
                key = entry.path[len(self.root) + 1 :]
                if entry.is_dir(follow_symlinks=False):
                    if key.startswith(prefix) or prefix.startswith(f"{key}/"):
                        waiting.append(entry.path)
                elif key.startswith(prefix):
                    with suppress(FileNotFoundError):
                        found = entry.stat()
                        yield Entry(key, found.st_size, found.st_mtime)

    def delete(self, key: str) -> None:
        """Remove a key, if it is there."""
        Path(self.location(key)).unlink(missing_ok=True)

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder beside the data, so that a file is moved without a copy."""
        folder = Path(self.root, STAGING, secrets.token_hex(8))
        folder.mkdir(parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def lock(self, run: str) -> Iterator[Lock]:
        """A lock that the system releases when the process ends, however it ends."""
        Path(self.root).mkdir(parents=True, exist_ok=True)
        path = Path(self.root, LOCK)
        with path.open("a+", encoding="utf-8") as file:
            file.seek(0)
            text = file.read()
            try:
                lock_file(file, wait=False)
            except BlockingIOError as error:
                raise held(self.root, LockRecord.of(text)) from error
            file.seek(0)
            text = file.read()
            record = LockRecord.of(text).taken(run)
            file.truncate(0)
            file.write(record.to_json())
            file.flush()

            def check() -> None:
                if not path.exists() or not os.path.samestat(path.stat(), os.fstat(file.fileno())):
                    raise lost(self.root)

            yield Lock(bool(text), record.interrupted, check)
            check()
            shutil.rmtree(Path(self.root, STAGING), ignore_errors=True)
            file.truncate(0)


@dataclass(frozen=True)
class LockRecord:
    """What a lock says.

    Attributes:
        run: Id of the run that holds it, or held it last; empty where none did.
        host: Of that run.
        process: Of that run.
        interrupted: Ids of runs that did not end as they should, and whose files are not removed yet.
        state: ``held``, ``lost``; or how the run ended: ``ended``, ``interrupted``.
        turn: Counts how often it was written, so that no two records are the same.
    """

    run: str = ""
    host: str = ""
    process: int = 0
    interrupted: tuple[str, ...] = ()
    state: str = "ended"
    turn: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        """The record of a text; another text was written by an unknown run."""
        if not text:
            return cls()
        try:
            found: dict[str, Any] = json.loads(text)
            return cls(**{"state": "held", **found, "interrupted": tuple(found.get("interrupted", ()))})
        except (ValueError, TypeError, AttributeError):
            return cls(state="held")

    def to_json(self) -> str:
        """The text."""
        return json.dumps(asdict(self))

    def taken(self, run: str) -> Self:
        """The record of a run that takes the lock now."""
        old = () if self.state == "ended" else (*self.interrupted, self.run)
        return type(self)(run, socket.gethostname(), os.getpid(), tuple(filter(None, old)), "held")


def held(url: str, record: LockRecord) -> LogError:
    """The error of a dataset that another run writes to."""
    who = f"process {record.process} on {record.host}" if record.host else "another process"
    return LogError(f"{url} is being written by {who}: wait until it has ended")


def lost(url: str) -> TakenError:
    """The error of a run whose lock another one has taken."""
    return TakenError(f"another run has taken the lock of {url}; what this one committed is there: --resume goes on")
