"""Where a dataset is: a folder of this machine, with the few operations that the rest of the package needs.

A *key* is a path below the dataset, with ``/``.  `put_new` writes a key only if it is absent, in one step: of two
writers one gets True.  A key that is there is whole, or
empty: then the run that was to write it has ended.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from logframe.atomic import flush, flush_folder, publish
from logframe.errors import LogError
from logframe.locking import lock_file
from logframe.places import user_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Files that are not complete; a run that was interrupted leaves some, and the next one removes them.
STAGING: Final = "_staging"
#: Held by the run that writes.
LOCK: Final = "_lock"


class StoreError(LogError):
    """The place of a dataset, or of sources, does not answer: no fault of one source."""


class Store(Protocol):
    """The operations on the files of a dataset."""

    @property
    def url(self) -> str:
        """Path or URL of the dataset."""

    @property
    def options(self) -> dict[str, str] | None:
        """What Polars needs to read the files (``storage_options``)."""

    def location(self, key: str) -> str:
        """Path or URL of a key."""

    def read(self, key: str) -> bytes:
        """The content of a key; FileNotFoundError where it is absent."""

    def put(self, key: str, data: bytes) -> None:
        """Write a key, or replace it."""

    def put_new(self, key: str, data: bytes) -> bool:
        """Write a key if it is absent; whether it was."""

    def take(self, file: Path, key: str) -> None:
        """Move a file of `staging` to a key."""

    def entries(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """The keys that begin with a prefix, and their sizes in bytes."""

    def delete(self, key: str) -> None:
        """Remove a key, if it is there."""

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A folder of this machine for files that are not complete; removed at the end of the block."""

    @contextmanager
    def lock(self) -> Iterator[Lock]:
        """Held by the one run that writes; LogError where another one holds it."""


@dataclass
class Lock:
    """A lock that is held.

    Attributes:
        was_interrupted: The run that held it before did not end as it should: it may have left files.
        renew: Says that the run goes on; called every few seconds.
    """

    was_interrupted: bool
    renew: Callable[[], object]


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

    def entries(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """The keys that begin with a prefix, folder by folder."""
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
                        yield key, entry.stat().st_size

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
    def lock(self) -> Iterator[Lock]:
        """A lock that the system releases when the process ends, however it ends."""
        Path(self.root).mkdir(parents=True, exist_ok=True)
        with Path(self.root, LOCK).open("a+", encoding="utf-8") as file:
            try:
                lock_file(file, wait=False)
            except BlockingIOError as error:
                file.seek(0)
                raise held(self.root, file.read()) from error
            file.seek(0)
            was_interrupted = bool(file.read())
            file.truncate(0)
            file.write(holder())
            file.flush()
            yield Lock(was_interrupted, lambda: None)
            shutil.rmtree(Path(self.root, STAGING), ignore_errors=True)
            file.truncate(0)


def holder() -> str:
    """Who holds a lock, as text."""
    return json.dumps({"host": socket.gethostname(), "process": os.getpid()})


def held(url: str, text: str) -> LogError:
    """The error of a dataset that another run writes to."""
    try:
        owner = json.loads(text)
        who = f"process {owner['process']} on {owner['host']}"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return LogError(f"{url} is being written by {who}: wait until it has ended")


def open_store(dest: str | os.PathLike[str]) -> Store:
    """The store of a dataset.

    Args:
        dest: A folder, or ``s3://bucket/prefix``.

    Raises:
        LogError: It is another URL, empty, or not UTF-8.
    """
    text = os.fspath(dest)
    if "://" in text:
        from iolab.dataset.objects import open_objects  # noqa: PLC0415 - its library is optional

        return open_objects(text)
    if not text:
        raise LogError("the path of the dataset is empty")
    folder = str(user_path(text).absolute())
    try:
        folder.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(folder).decode("utf-8", "backslashreplace")
        raise LogError(f"{shown} is not UTF-8: name another folder for the dataset") from None
    return LocalStore(folder)
