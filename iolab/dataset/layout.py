"""What a dataset consists of: its files, the commit log, and the tables about its sources.

    DATASET/_dataset.json                     version of this layout, and the options that all batches share
    DATASET/_commits/00000001.json            the commit log: which files belong to the dataset
    DATASET/_sources/<batch>.parquet          one row a source
    DATASET/_diagnostics/<batch>.parquet      what was not read
    DATASET/<format>/<table>/<batch>.parquet  the rows of a table of all sources of a batch
    DATASET/_schemas/<id>.parquet             the columns of a table, without rows

A batch belongs to the dataset from its commit on.  A commit may replace batches: a source that changed is converted
again, and the rows of the other sources of its old batch are carried over, so that no file holds an
invalid row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from string import hexdigits
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from iolab.dataset.store import Store

#: Version of the layout; a dataset of a higher one is not opened.
VERSION: Final = 1
DESCRIPTION: Final = "_dataset.json"
COMMITS: Final = "_commits/"
#: Digits of the id of a batch, or of a schema.
_BATCH: Final = 24
SCHEMAS: Final = "_schemas/"

#: One row a source: a log, the files of one log, or a member of an archive.
SOURCES: Final = pl.Schema(
    {
        "source": pl.String(),
        "file": pl.String(),
        "status": pl.String(),
        "format": pl.String(),
        "kind": pl.String(),
        "parts": pl.Int64(),
        "rows": pl.Int64(),
        "message": pl.String(),
        "duplicate_of": pl.String(),
        "size_bytes": pl.Int64(),
        "content_bytes": pl.Int64(),
        "modified": pl.Datetime("us", "UTC"),
        "stamp": pl.String(),
        "hash": pl.String(),
        "in_file": pl.Int64(),
    }
)
#: What became of a source.
STATUSES: Final = {
    "converted": "its rows are in the tables",
    "unreadable": "it is no log that is read, empty, or damaged; the message says what",
    "duplicate": "its content is that of another source, which is converted",
    "killed": "the process that read it ended, or the limit of time passed, several times",
    "failed": "the reader raised an error that is a fault of the program",
    "changed": "it changed while it was read; the next run converts it",
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a table.

    Attributes:
        table: ``format/name``, `_sources` or `_diagnostics`.
        key: Place below the dataset.
        rows: Number of rows.
        size: Number of bytes.
        schema: Id of its columns, which ``_schemas/`` holds.
    """

    table: str
    key: str
    rows: int
    size: int
    schema: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One record of the commit log.

    Attributes:
        number: Place in the log.
        batch: Id of the batch: a hash of its sources and of the options.
        replaces: Batches that do not belong to the dataset any more.
        files: Of the batch.
    """

    number: int
    batch: str
    replaces: tuple[str, ...]
    files: tuple[DataFile, ...]

    def to_json(self) -> bytes:
        """The record as it is stored."""
        files = [[one.table, one.key, one.rows, one.size, one.schema] for one in self.files]
        return json.dumps({"batch": self.batch, "replaces": self.replaces, "files": files}).encode()


def is_own(key: str) -> bool:
    """Whether a file below a dataset has a name that only its own writers give: no other is ever removed.

    Examples:
        >>> batch = "b7a35dcf697f72972b1e70fa"
        >>> own = f"awr/info/{batch}.parquet", f"_sources/{batch}-2.parquet", "_commits/0000000001.json", "_staging/a"
        >>> [is_own(key) for key in own]
        [True, True, True, True]
        >>> [is_own(key) for key in ("notes.md", "_delta_log/0.json", "awr/info/mine.parquet", f".git/x/{batch}")]
        [False, False, False, False]
    """
    *folders, name = key.split("/")
    stem, _, ending = name.partition(".")
    if folders[:1] == ["_staging"]:  # what is not complete
        return True
    if f"{'/'.join(folders)}/" == COMMITS:
        return ending == "json" and len(stem) == len("0000000001") and stem.isdecimal()
    batch, dash, number = stem.partition("-")
    is_batch = len(batch) == _BATCH and set(batch) <= set(hexdigits) and (number.isdecimal() if dash else True)
    tables = len(folders) == 2 or (len(folders) == 1 and folders[0] in {"_sources", "_diagnostics", "_schemas"})
    return ending == "parquet" and is_batch and tables and not key.startswith(".")


def commit_key(number: int) -> str:
    """Place of a record."""
    return f"{COMMITS}{number:010d}.json"


def read_commits(store: Store, table: str | None = None) -> Iterator[Commit]:
    """The records of the commit log, in their order.

    Args:
        store: The dataset.
        table: Give the files of this table only.

    Raises:
        LogError: A record is damaged.
    """
    for key in sorted(key for key, _ in store.entries(COMMITS)):
        try:
            data = store.read(key)
        except FileNotFoundError:  # it was replaced, and removed since the keys were listed
            continue
        if not data:  # the run that was to commit ended before it did (`LocalStore.put_new`)
            continue
        try:
            record = json.loads(data)
            files = tuple(DataFile(*one) for one in record["files"] if table in {None, one[0]})
            number = int(key.removeprefix(COMMITS).removesuffix(".json"))
            yield Commit(number, record["batch"], tuple(record["replaces"]), files)
        except (ValueError, KeyError, TypeError) as error:
            raise LogError(f"{store.location(key)} is damaged: {error}") from error


def live_commits(store: Store) -> dict[str, Commit]:
    """The commits of the batches that belong to the dataset, by batch."""
    found: dict[str, Commit] = {}
    for commit in read_commits(store):
        for batch in commit.replaces:
            found.pop(batch, None)
        found[commit.batch] = commit
    return found


def describe(store: Store) -> dict[str, Any] | None:
    """The options of a dataset, or None without one.

    Raises:
        LogError: It is of a newer version, or its description is damaged.
    """
    try:
        data = store.read(DESCRIPTION)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found: dict[str, Any] = json.loads(data)
        version = int(found["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise LogError(f"{store.location(DESCRIPTION)} is damaged: {error}") from error
    if version > VERSION:
        raise LogError(
            f"{store.url} is a dataset of version {version}; this program reads versions up to {VERSION}: upgrade it"
        )
    return found


def is_dataset(folder: str) -> bool:
    """Whether a folder of this machine is a dataset."""
    return Path(folder, DESCRIPTION).is_file()


def require_dataset(store: Store) -> dict[str, Any]:
    """The options of a dataset.

    Raises:
        LogError: There is not one.
    """
    found = describe(store)
    if found is None:
        raise LogError(
            f"{store.url} is no dataset: it has no {DESCRIPTION} (iolab convert SOURCES -o DATASET makes one)"
        )
    return found


def digest(parts: Iterable[object]) -> str:
    """A short id that stands for a list of values."""
    found = blake2b(digest_size=12)
    for part in parts:
        found.update(repr(part).encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    return found.hexdigest()
