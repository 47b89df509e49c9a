"""Datasets and sources on an object store (``s3://bucket/prefix``), through obstore.

Credentials and the address of the store come from the environment: ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``,
``AWS_SESSION_TOKEN``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` of a store that is not Amazon's.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from iolab.dataset.jobs import Listed
from iolab.dataset.store import LOCK, Lock, StoreError, held, holder
from logframe.errors import LogError, LogNotFoundError, LogParseError
from logframe.extras import require

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEME: Final = "s3://"
_SETTINGS: Final = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
)
#: A lock that was not renewed for this many seconds is that of a run that has ended.
EXPIRES: Final = 120.0
_RENEWED: Final = 30.0
#: Written by a run that ends with an error: the next one removes the files of no batch.
_INTERRUPTED: Final = "_interrupted"
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
        name, config=config, client_options=client, retry_config={"max_retries": 3, "retry_timeout": _timeout()}
    )


def _timeout() -> Any:  # noqa: ANN401 - a timedelta
    from datetime import timedelta  # noqa: PLC0415 - here only

    return timedelta(seconds=60)


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
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            return bytes(bucket.get(path).bytes())

    def put(self, key: str, data: bytes) -> None:
        """Write a key, or replace it."""
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            bucket.put(path, data)

    def put_new(self, key: str, data: bytes) -> bool:
        """Write a key if it is absent: the store decides (a conditional put)."""
        bucket, path = _parts(self.location(key))
        exists = require("obstore.exceptions").AlreadyExistsError
        try:
            with _errors(self.location(key)):
                try:
                    bucket.put(path, data, mode="create", use_multipart=False)
                except exists:
                    return False
        except LogError as error:
            if isinstance(error.__cause__, exists):
                return False
            raise
        return True

    def take(self, file: Path, key: str) -> None:
        """Upload a file."""
        bucket, path = _parts(self.location(key))
        with _errors(self.location(key)):
            bucket.put(path, file)
        file.unlink()

    def entries(self, prefix: str = "") -> Iterator[tuple[str, int]]:
        """The keys that begin with a prefix, and their sizes."""
        bucket, root = _parts(self.url)
        start = f"{root}/" if root else ""
        folder = prefix.rpartition("/")[0]
        with _errors(self.url):
            for several in bucket.list(f"{start}{folder}".rstrip("/") or None):
                for one in several:
                    key = one["path"].removeprefix(start)
                    if one["path"].startswith(start) and key.startswith(prefix):
                        yield key, one["size"]

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
    def lock(self) -> Iterator[Lock]:
        """An object that is created only if it is absent, and renewed while the run goes on."""
        was_interrupted = any(self.entries(_INTERRUPTED))
        while not self.put_new(LOCK, holder().encode()):
            bucket, path = _parts(self.location(LOCK))
            try:
                with _errors(self.location(LOCK)):
                    changed = bucket.head(path)["last_modified"]
                if (datetime.now(UTC) - changed).total_seconds() < EXPIRES:
                    raise held(self.url, self.read(LOCK).decode())
            except FileNotFoundError:
                continue
            self.delete(LOCK)
            was_interrupted = True
        last = [time.monotonic()]

        def renew() -> None:
            if time.monotonic() - last[0] > _RENEWED:
                last[0] = time.monotonic()
                self.put(LOCK, holder().encode())

        try:
            yield Lock(was_interrupted, renew)
            self.delete(_INTERRUPTED)
        except BaseException:
            with suppress(LogError, OSError):  # where it does not answer, the lock expires
                self.put(_INTERRUPTED, b"")
                self.delete(LOCK)
            raise
        self.delete(LOCK)


def open_objects(url: str) -> ObjectStore:
    """The store of a dataset.

    Raises:
        LogError: It is no ``s3://bucket/prefix``.
    """
    _parts(url)
    return ObjectStore(url.rstrip("/"))


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
