"""What a dataset holds, by its commit log and by the names of its files: what is missing, and what is too much.

Both are in a temporary SQLite database on disk, so that memory does not grow with their number.
"""

from __future__ import annotations

import errno
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from iolab.dataset.commits import Commit, in_pieces, read_commits
from iolab.dataset.layout import COMMITS, RUN, SCHEMAS, is_own, run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from iolab.dataset.store import Store

_TABLES: Final = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -8000;
CREATE TABLE batch(id TEXT PRIMARY KEY, number INTEGER, record TEXT) WITHOUT ROWID;
CREATE TABLE live(key TEXT PRIMARY KEY, batch TEXT, name TEXT, size INTEGER) WITHOUT ROWID;
CREATE TABLE seen(key TEXT PRIMARY KEY, run TEXT, size INTEGER, modified REAL) WITHOUT ROWID;
CREATE TABLE run(id TEXT PRIMARY KEY) WITHOUT ROWID;
"""
#: Rows that are written to the database at a time.
AT_A_TIME: Final = 10_000
#: A file of no batch is removed when it is older than this many seconds, whichever run wrote it.
GRACE: Final = 86_400.0
#: How often the log is read again where it changes at the same time.
_TRIES: Final = 5
#: Files without a batch that are older than a time; and all that a run other than one has left.
_FORGOTTEN: Final = "SELECT key FROM seen WHERE key NOT IN (SELECT key FROM live) AND modified < ?"
_LEFT: Final = (
    "SELECT key FROM seen WHERE key NOT IN (SELECT key FROM live)"
    " AND (modified < ? OR size = 0 OR run IN (SELECT id FROM run WHERE id != ?))"
)


class Contents:
    """The batches of a dataset, their files, and the files that are there.

    Args:
        store: The dataset.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = tempfile.TemporaryDirectory(prefix="iolab-plan-")
        self._base = sqlite3.connect(Path(self._folder.name) / "plan.sqlite")
        self._base.executescript(_TABLES)
        self._began = time.time()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()
        self._folder.cleanup()
        if isinstance(error, sqlite3.OperationalError):
            raise OSError(errno.ENOSPC, f"the plan cannot be written: {error}", self._folder.name) from error

    def read(self) -> None:
        """Read the commit log, then the names of the files.

        Raises:
            LogError: A commit is damaged or missing.
        """
        self._began = time.time()
        for _ in range(_TRIES):
            self._base.executescript("DELETE FROM batch; DELETE FROM live;")
            with suppress(FileNotFoundError):  # a checkpoint took the place of records while they were read
                for commit in read_commits(self._store):
                    self.add(commit)
                break
        self._base.execute("DELETE FROM live WHERE batch NOT IN (SELECT id FROM batch)")
        rows = (
            (one.key, run_of(one.key), one.size, one.modified)
            for one in self._store.entries()
            if is_own(one.key) and not one.key.startswith(COMMITS) and not (_is_schema(one.key) and one.size)
        )
        for several in in_pieces(rows, AT_A_TIME):
            self._base.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", several)

    def add(self, commit: Commit) -> None:
        """Add a commit: the batches that it replaces are no part of the dataset any more."""
        self._base.executemany("DELETE FROM batch WHERE id = ?", [(old,) for old in commit.replaces])
        runs = {batch[:RUN] for batch in (commit.batch, *commit.replaces)}
        self._base.executemany("INSERT OR IGNORE INTO run VALUES (?)", [(run,) for run in runs])
        if commit.files:
            row = commit.batch, commit.number, commit.to_json()
            self._base.execute("INSERT OR REPLACE INTO batch VALUES (?, ?, ?)", row)
            files = [(file.key, commit.batch, file.table, file.size) for file in commit.files]
            self._base.executemany("INSERT OR REPLACE INTO live VALUES (?, ?, ?, ?)", files)

    def commit_of(self, batch: str) -> Commit:
        """The commit of a batch."""
        row = self._base.execute("SELECT record FROM batch WHERE id = ?", (batch,)).fetchone()
        return Commit.from_json(row[0])

    def commits(self) -> Iterator[Commit]:
        """The commits of all batches, in the order of the log."""
        for (batch,) in self._base.execute("SELECT id FROM batch ORDER BY number").fetchall():
            yield self.commit_of(batch)

    def broken(self) -> Iterator[tuple[str, str, str]]:
        """Files of batches that are missing or have another size: batch, key, a sentence."""
        query = (
            "SELECT batch, live.key, live.size, seen.size FROM live LEFT JOIN seen ON seen.key = live.key"
            " WHERE seen.size IS NOT live.size ORDER BY live.key"
        )
        for batch, key, size, found in self._base.execute(query).fetchall():
            what = "is missing" if found is None else f"has {found:,} bytes, and {size:,} were committed"
            yield batch, key, f"{key} {what}"

    def forgotten(self) -> list[str]:
        """Files of no batch that are older than `GRACE`: younger ones may be those of a run that goes on."""
        return [key for (key,) in self._base.execute(_FORGOTTEN, (self._began - GRACE,))]

    def sweep(self, interrupted: tuple[str, ...], run: str) -> None:
        """Remove the files of no batch that other runs left; the lock is held.

        Of a run that the log or the lock names the files are removed at once: it cannot commit them any more
        (`iolab.dataset.commits`).  Those of an unknown run are removed when they are older than `GRACE`.

        Args:
            interrupted: The runs that did not end as they should.
            run: The run that holds the lock.
        """
        self._base.executemany("INSERT OR IGNORE INTO run VALUES (?)", [(one,) for one in interrupted])
        for (key,) in self._base.execute(_LEFT, (self._began - GRACE, run)).fetchall():
            self._store.delete(key)

    def sweep_own(self, run: str) -> None:
        """Remove the files of a run that it did not commit: those of processes that ended."""
        for entry in self._store.entries():
            if run_of(entry.key) == run and not _is_schema(entry.key) and not self._is_live(entry.key):
                self._store.delete(entry.key)

    def _is_live(self, key: str) -> bool:
        query = "SELECT 1 FROM live JOIN batch ON batch.id = live.batch WHERE live.key = ?"
        return self._base.execute(query, (key,)).fetchone() is not None


def _is_schema(key: str) -> bool:
    return key.startswith(SCHEMAS)
