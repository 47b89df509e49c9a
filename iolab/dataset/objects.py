"""Datasets and sources on an object store (``s3://bucket/prefix``), through obstore.

Credentials and the address of the store come from the environment: ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``,
``AWS_SESSION_TOKEN``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` of a store that is not Amazon's.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any, Final

from iolab.dataset.jobs import Listed
from iolab.dataset.store import LOCK, Entry, LocalStore, Lock, LockRecord, StoreError, held, lost
from logframe.errors import LogError, LogNotFoundError, LogParseError
from logframe.extras import require
from logframe.places import user_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.dataset.store import Store

SCHEME: Final = "s3://"
_SETTINGS: Final = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
)
#: A lock that was not renewed for this many seconds is that of a run that has ended.
EXPIRES: Final = 120.0
_RENEWED: Final = 30.0
#: How often a conditional write is tried, and a lock that others want, too.
_TRIES: Final = 3
_CHUNK: Final = 8 << 20


def _settings() -> dict[str, str]:
    """The settings of the environment, as obstore and Polars take them."""
    found = {name.lower().removesuffix("_s3"): os.environ[name] for name in _SETTINGS if os.environ.get(name)}
    if found.get("aws_endpoint_url", "").startswith("http://"):
        found["aws_allow_http"] = "true"
    return found


@cache
def _bucket(name: str, settings: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 - obstore is optional
    stores = require("obstore.store")
    client = {"allow_http": True} if dict(settings).get("aws_allow_http") else None
    config = {key: value for key, value in settings if key != "aws_allow_http"}
    return stores.S3Store(
        name,
        config=config,
        client_options=client,
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=60)},
    )


def _parts(url: str) -> tuple[Any, str]:
    """The bucket of a URL, and the key in it.

    Raises:
        LogError: The URL names no bucket.
    """
    bucket, _, key = url.removeprefix(SCHEME).partition("/")
    if not url.startswith(SCHEME) or not bucket:
        raise LogError(f"{url} is no s3://bucket/prefix")
    return _bucket(bucket, tuple(sorted(_settings().items()))), key.strip("/")


@contextmanager
def _errors(url: str) -> Iterator[None]:
    """Errors of the store as those of files.

    Raises:
        FileNotFoundError: The key is absent.
        PermissionError: The store refuses.
        StoreError: The store does not answer, or answers with another error.
    """
    errors = require("obstore.exceptions")
    try:
        yield
    except (errors.NotFoundError, FileNotFoundError) as error:
        raise FileNotFoundError(2, "no such object", url) from error
    except errors.BaseError as error:
        first = str(error).strip().partition("\n")[0]
        if isinstance(error, (errors.PermissionDeniedError, errors.UnauthenticatedError)):
            raise PermissionError(13, first, url) from error
        raise StoreError(f"{url}: {first}") from error


@dataclass(frozen=True)
class ObjectStore:
    """A dataset below a prefix of a bucket."""

    url: str

    @property
    def options(self) -> dict[str, str] | None:
        """What Polars needs to read the files."""
        return _settings()

    def location(self, key: str) -> str:
        """URL of a key."""
        return f"{self.url}/{key}"

    def read(self, key: str) -> bytes:
        """The content of a key."""
        return self._get(key)[0]

    def _get(self, key: str) -> tuple[bytes, dict[str, Any]]:
        """The content of a key, and what the store says of it."""
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            found = bucket.get(path)
            return bytes(found.bytes()), found.meta

    def put(self, key: str, data: bytes) -> None:
        """Write a key, or replace it."""
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            bucket.put(path, data)

    def put_new(self, key: str, data: bytes) -> bool:
        """Write a key if it is absent: the store decides (a conditional put)."""
        return self.put_if(key, data, "create") is not None

    def put_if(self, key: str, data: bytes, mode: Any) -> str | None:  # noqa: ANN401 - see obstore
        """Write a key on a condition.

        The store may do it and its answer be lost, or be an error: then its client tries again, and the condition
        fails.  So what is there is compared with what was written; `data` must be of this writer alone.

        Args:
            key: The key.
            data: Its content.
            mode: ``create``, or the ETag that the object must have (`obstore.UpdateVersion`).

        Returns:
            The ETag; None where the condition does not hold.
        """
        bucket, path = _parts(self.location(key))
        errors = require("obstore.exceptions")
        for left in reversed(range(_TRIES)):
            try:
                with _errors(self.location(key)):
                    return str(bucket.put(path, data, mode=mode, use_multipart=False)["e_tag"])
            except StoreError as error:
                with suppress(FileNotFoundError):
                    there, meta = self._get(key)
                    if there == data:
                        return str(meta["e_tag"])
                if isinstance(error.__cause__, (errors.AlreadyExistsError, errors.PreconditionError)):
                    return None
                if not left:
                    raise
        return None

    def take(self, file: Path, key: str) -> None:
        """Upload a file."""
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            bucket.put(path, file)
        file.unlink()

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """The objects whose keys begin with a prefix."""
        bucket, root = _parts(self.url)
        start = f"{root}/" if root else ""
        folder = prefix.rpartition("/")[0]
        with _errors(self.url):
            for several in bucket.list(f"{start}{folder}".rstrip("/") or None):
                for one in several:
                    key = one["path"].removeprefix(start)
                    if one["path"].startswith(start) and key.startswith(prefix):
                        yield Entry(key, one["size"], one["last_modified"].timestamp())

    def delete(self, key: str) -> None:
        """Remove a key, if it is there."""
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            try:
                bucket.delete(path)
            except FileNotFoundError:
                return

    @contextmanager
    def staging(self) -> Iterator[Path]:
        """A temporary folder of this machine."""
        with tempfile.TemporaryDirectory(prefix="iolab-staging-") as folder:
            yield Path(folder)

    @contextmanager
    def lock(self, run: str) -> Iterator[Lock]:
        """An object that is written only if it is as this run knows it, and written again while the run goes on."""
        lease = _Lease(self, run)
        stop = Event()
        thread = Thread(target=lease.renew_until, args=(stop,), daemon=True)
        thread.start()
        try:
            yield Lock(lease.was_interrupted, lease.record.interrupted, lease.renew)
        except BaseException:
            stop.set()
            with suppress(LogError, OSError):  # where it does not answer, the lock expires
                lease.renew("interrupted")
            raise
        finally:
            stop.set()
        lease.renew("ended")


class _Lease:
    """The lock of a dataset, held: every write names the ETag of the one before, so a lock that was taken is noticed.

    Args:
        store: The dataset.
        run: Id of the run.

    Raises:
        LogError: Another run holds it.
    """

    def __init__(self, store: ObjectStore, run: str) -> None:
        self._store = store
        self._mutex = RLock()
        for _ in range(_TRIES):
            try:
                text, meta = store._get(LOCK)  # noqa: SLF001 - of this module
            except FileNotFoundError:
                text, meta = b"", {}
            old = LockRecord.of(text.decode())
            if old.state == "held" and time.time() - meta["last_modified"].timestamp() < EXPIRES:
                raise held(store.url, old)
            self.was_interrupted = bool(text) and old.state != "ended"
            self.record = old.taken(run)
            self._tag = self._put({"e_tag": meta["e_tag"]} if meta else "create")
            if self._tag is not None:
                return
        raise held(store.url, old)

    def _put(self, mode: Any) -> str | None:  # noqa: ANN401 - see obstore
        return self._store.put_if(LOCK, self.record.to_json().encode(), mode)

    def renew(self, state: str = "held") -> None:
        """Write it again.

        Raises:
            LogError: Another run has taken it, or the store does not answer.
        """
        with self._mutex:
            if self.record.state != "held":
                raise lost(self._store.url)
            self.record = replace(self.record, state=state, turn=self.record.turn + 1)
            tag = self._put({"e_tag": self._tag})
            if tag is None:  # taken; or written by this run, with an answer that was lost
                text, meta = self._store._get(LOCK)  # noqa: SLF001 - of this module
                if LockRecord.of(text.decode()).run == self.record.run:
                    tag = self._put({"e_tag": meta["e_tag"]})
            if tag is None:
                self.record = replace(self.record, state="lost")
                raise lost(self._store.url)
            self._tag = tag

    def renew_until(self, stop: Event) -> None:
        """Renew it now and then."""
        while not stop.wait(_RENEWED):
            with suppress(LogError, OSError):  # `Lock.check` says so
                self.renew()


def open_store(dest: str | os.PathLike[str]) -> Store:
    """The store of a dataset.

    Args:
        dest: A folder, or ``s3://bucket/prefix``.

    Raises:
        LogError: It is another URL, empty, or not UTF-8.
    """
    text = os.fspath(dest)
    if "://" in text:
        _parts(text)
        return ObjectStore(text.rstrip("/"))
    if not text:
        raise LogError("the path of the dataset is empty")
    folder = str(user_path(text).absolute())
    try:
        folder.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(folder).decode("utf-8", "backslashreplace")
        raise LogError(f"{shown} is not UTF-8: name another folder for the dataset") from None
    return LocalStore(folder)


def list_objects(url: str) -> Iterator[Listed]:
    """The objects below a prefix, or one object.

    Raises:
        LogNotFoundError: There is not one.
    """
    bucket, prefix = _parts(url)
    place = url.removeprefix(SCHEME).partition("/")[0]
    is_found = False
    with _errors(url):
        try:
            if prefix and not url.endswith("/"):
                yield _listed(place, bucket.head(prefix))
                return
        except FileNotFoundError:
            pass  # it is a prefix
        for several in bucket.list(prefix or None):
            for one in several:
                if one["size"] and not one["path"].rpartition("/")[2].startswith("."):
                    is_found = True
                    yield _listed(place, one)
    if not is_found:
        raise LogNotFoundError("no object has this prefix", source=url)


def _listed(bucket: str, found: Any) -> Listed:  # noqa: ANN401 - obstore is optional
    name = f"{SCHEME}{bucket}/{found['path']}"
    stamp = found.get("e_tag") or f"{found['size']}:{found['last_modified']}"
    return Listed(name, (name,), stamp, found["size"], int(found["last_modified"].timestamp() * 1e6))


def stamp_of_object(url: str) -> str | None:
    """The stamp of an object; None where it is not there any more."""
    bucket, key = _parts(url)
    try:
        with _errors(url):
            return _listed("", bucket.head(key)).stamp
    except FileNotFoundError:
        return None


def fetch(url: str, folder: Path) -> Path:
    """Copy an object to a file of this machine.

    Raises:
        LogParseError: It is not there any more.
    """
    bucket, key = _parts(url)
    target = folder / key.rpartition("/")[2]
    try:
        with _errors(url), target.open("wb") as out:
            for piece in bucket.get(key).stream(min_chunk_size=_CHUNK):
                out.write(bytes(piece))
    except FileNotFoundError as error:
        raise LogParseError("there is no such object any more", source=url) from error
    return target
