"""What is to be done: the files that were found, compared with those that the dataset holds.

Both are in the temporary database of `iolab.dataset.contents`.
"""

from __future__ import annotations

import os
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import polars as pl

from iolab.dataset.commits import in_pieces
from iolab.dataset.contents import AT_A_TIME, Contents
from iolab.dataset.jobs import Item, Listed
from iolab.dataset.listing import joined_stamp, name_of
from iolab.dataset.reading import collected
from logframe import LogParseError, open_logs
from logframe.formats import formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from iolab.dataset.commits import Commit
    from iolab.dataset.jobs import Done
    from iolab.dataset.store import Store

_TABLES: Final = """
CREATE TABLE known(
    source TEXT PRIMARY KEY, file TEXT, stamp TEXT, hash TEXT, status TEXT, in_file INTEGER, batch TEXT) WITHOUT ROWID;
CREATE INDEX known_file ON known(file);
CREATE INDEX known_batch ON known(batch);
CREATE TABLE listed(
    file TEXT PRIMARY KEY, raw BLOB, stamp TEXT, size INTEGER, modified INTEGER, stem TEXT) WITHOUT ROWID;
CREATE TABLE part(file TEXT, path BLOB);
CREATE TABLE content(hash TEXT PRIMARY KEY, source TEXT) WITHOUT ROWID;
CREATE INDEX content_source ON content(source);
"""
#: Files of sources that are read at a time.
_FILES_AT_A_TIME: Final = 200
#: Stands for the path of a source of several files.
_IN_PARTS: Final = b""
#: Statuses of sources that a run with `retry` reads again.
RETRIED: Final = ("unreadable", "killed", "failed")


class Plan(Contents):
    """The files that were found and those that the dataset holds.

    Args:
        store: The dataset.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._counts: tuple[int, int, int] | None = None
        self._base.executescript(_TABLES)

    def read_sources(self) -> None:
        """Read what the dataset knows of its sources; no file of a batch is missing (`broken`)."""
        query = "SELECT key, batch FROM live WHERE name = '_sources' AND batch IN (SELECT id FROM batch)"
        for several in in_pieces(self._base.execute(query).fetchall(), _FILES_AT_A_TIME):
            self._read_sources(dict(several))

    def _read_sources(self, keys: dict[str, str]) -> None:
        """Rows of some files of `_sources`; with the key of each row's file, which names its batch."""
        places = {self._store.location(key): batch for key, batch in keys.items()}
        wanted = ("source", "file", "stamp", "hash", "status", "in_file")
        rows = pl.scan_parquet(
            list(places), include_file_paths="_place", glob=False, storage_options=self._store.options
        ).select(*wanted, "_place")
        found = collected(self._store.url, rows).with_columns(pl.col("_place").replace_strict(places))
        self._base.executemany("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?, ?)", found.rows())

    def add_files(self, files: Iterable[Listed], *, since: int | None = None) -> None:
        """Add files that were found.

        Args:
            files: The files.
            since: Those that did not change since are left out; microseconds since 1970.
        """
        rows = (
            (
                one.file,
                _raw(one.files[0]),
                one.stamp,
                one.size,
                one.modified,
                _stem(one.file),
            )
            for one in files
            if since is None or one.modified >= since
        )
        for several in in_pieces(rows, AT_A_TIME):
            several.sort(key=itemgetter(0))  # neighbours of a tree go in together
            self._base.executemany("INSERT OR IGNORE INTO listed VALUES (?, ?, ?, ?, ?, ?)", several)
        self._base.commit()
        self._join_parts()

    def _join_parts(self) -> None:
        """Put the files that are one log, such as those of ``strace -ff``, in the place of one file."""
        self._base.execute("CREATE INDEX listed_stem ON listed(stem) WHERE stem IS NOT NULL")
        stems = self._base.execute(
            "SELECT stem FROM listed WHERE stem IS NOT NULL GROUP BY stem HAVING count(*) > 1"
        ).fetchall()
        for (stem,) in stems:
            rows = self._base.execute(
                "SELECT file, raw, stamp, size, modified FROM listed WHERE stem = ? ORDER BY file", (stem,)
            ).fetchall()
            name, stamp = f"{stem}.*", joined_stamp([row[2] for row in rows])
            paths = [_path(file, raw) for file, raw, *_ in rows]
            if not self._is_known(name, stamp):
                singles = sum(self._is_known(row[0], row[2]) for row in rows)
                if singles == len(rows) or not _is_one_log(paths):
                    continue
            self._base.execute("DELETE FROM listed WHERE stem = ?", (stem,))
            self._base.executemany("INSERT INTO part VALUES (?, ?)", [(name, os.fsencode(path)) for path in paths])
            total = (name, _IN_PARTS, stamp, sum(row[3] for row in rows), max(row[4] for row in rows), None)
            self._base.execute("INSERT OR REPLACE INTO listed VALUES (?, ?, ?, ?, ?, ?)", total)

    def _is_known(self, file: str, stamp: str) -> bool:
        query = "SELECT 1 FROM known WHERE file = ? AND stamp = ? LIMIT 1"
        return self._base.execute(query, (file, stamp)).fetchone() is not None

    def index_contents(self) -> None:
        """Make sources be found by their content: needed only where there is work."""
        self._index_hashes()
        self._base.execute(
            "INSERT OR IGNORE INTO content SELECT hash, source FROM known"
            " WHERE hash IS NOT NULL AND status NOT IN ('duplicate', 'changed', 'lost') ORDER BY source"
        )

    def counts(self, *, retry: bool) -> tuple[int, int, int]:
        """Files that were found, those of them to be read, and the bytes of these; counted once, before the run."""
        if self._counts is not None:
            return self._counts
        found = self._base.execute("SELECT count(*) FROM listed").fetchone()[0]
        todo, size = self._base.execute(f"SELECT count(*), coalesce(sum(size), 0) {_todo(retry=retry)}").fetchone()
        self._counts = found, todo, size
        return self._counts

    def work(self, *, retry: bool) -> Iterator[Listed]:
        """The files that are new or have changed, in the order of their paths.

        Args:
            retry: Also those that could not be read before.
        """
        after = ""
        while self.counts(retry=retry)[1]:
            rows = self._base.execute(
                f"SELECT l.file, raw, l.stamp, size, modified {_todo(retry=retry)}"
                " AND l.file > ? ORDER BY l.file LIMIT ?",
                (after, AT_A_TIME),
            ).fetchall()
            for file, raw, stamp, size, modified in rows:
                yield Listed(file, self._files(file, raw), stamp, size, modified)
            if len(rows) < AT_A_TIME:
                return
            after = rows[-1][0]

    def _files(self, file: str, raw: bytes | None) -> tuple[str, ...]:
        if raw != _IN_PARTS:
            return (_path(file, raw),)
        parts = self._base.execute("SELECT path FROM part WHERE file = ? ORDER BY path", (file,))
        return tuple(os.fsdecode(path) for (path,) in parts)

    def original(self, item: Item) -> str | None:
        """The source that has the same content, or None; then this one is known from now on as having it."""
        if item.hash is None:
            return None
        self._base.execute("DELETE FROM content WHERE source = ? AND hash != ?", (item.source, item.hash))
        self._base.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", (item.hash, item.source))
        found: str = self._base.execute("SELECT source FROM content WHERE hash = ?", (item.hash,)).fetchone()[0]
        return None if found == item.source else found

    def state(self, item: Item) -> Literal["new", "touched", "known"]:
        """Whether the dataset has a source with this content: not, under another stamp of its file, or as it is."""
        row = self._base.execute("SELECT hash, stamp, status FROM known WHERE source = ?", (item.source,)).fetchone()
        if row is None or item.hash is None or row[0] != item.hash or row[2] not in {"converted", "duplicate"}:
            return "new"
        query = "SELECT 1 FROM known WHERE hash = ? AND status NOT IN ('duplicate', 'lost') LIMIT 1"
        if row[2] == "duplicate" and self._base.execute(query, (item.hash,)).fetchone() is None:
            return "new"  # its original has another content now
        return "known" if row[1] == item.listed.stamp else "touched"

    def batches_of(self, items: Sequence[Item]) -> dict[str, list[str]]:
        """The batches that hold rows of sources now, and these sources; of files that became one log, of each file."""
        names: dict[str, None] = {}
        for item in items:
            own = {item.source, *(map(name_of, item.listed.files) if len(item.listed.files) > 1 else ())}
            names |= dict.fromkeys(sorted(own))
        return self.owners(names)

    def owners(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The batches that hold rows of sources, and these sources."""
        found: dict[str, list[str]] = {}
        for name in names:
            row = self._base.execute("SELECT batch FROM known WHERE source = ?", (name,)).fetchone()
            if row is not None:
                found.setdefault(row[0], []).append(name)
        return found

    def copies(self, names: Iterable[str]) -> set[str]:
        """The duplicates of sources."""
        query = (
            "SELECT o.source FROM known k JOIN known o ON o.hash = k.hash WHERE k.source = ? AND o.status = 'duplicate'"
        )
        self._index_hashes()
        return {source for name in names for (source,) in self._base.execute(query, (name,))}

    def _index_hashes(self) -> None:
        self._base.execute("CREATE INDEX IF NOT EXISTS known_hash ON known(hash)")

    def named(self, name: str) -> list[str]:
        """The sources of a name: one source, all of a file, or all below a folder or in an archive."""
        query = "SELECT source FROM known WHERE source = ?1 OR file = ?1 OR substr(source, 1, ?2) = ?3"
        below = f"{name.rstrip('/')}/"
        return [source for (source,) in self._base.execute(query, (name, len(below), below))]

    def committed(self, commit: Commit, done: Done, replaced: dict[str, list[str]]) -> None:
        """Note a commit: its sources, and the batches that it replaces with the sources that it drops from them."""
        self.add(commit)
        for old, dropped in replaced.items():
            self._base.executemany("DELETE FROM known WHERE source = ?", [(name,) for name in dropped])
            self._base.execute("UPDATE known SET batch = ? WHERE batch = ?", (commit.batch, old))
        self._base.executemany(
            "INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?, ?)", [(*row, commit.batch) for row in done.sources]
        )

    def restamped(self, items: Sequence[Item]) -> None:
        """Note the new stamps of sources whose content is the same."""
        self._base.executemany(
            "UPDATE known SET stamp = ? WHERE source = ?", [(item.listed.stamp, item.source) for item in items]
        )

    def widowed(self) -> Iterator[Listed]:
        """Files of duplicates whose original has another content now."""
        if self._base.execute("SELECT 1 FROM known WHERE status = 'duplicate' LIMIT 1").fetchone() is None:
            return
        self._index_hashes()
        query = (
            "SELECT k.file, l.raw, l.stamp, l.size, l.modified FROM known k JOIN listed l ON l.file = k.file"
            " WHERE k.status = 'duplicate' AND NOT EXISTS"
            " (SELECT 1 FROM known o WHERE o.hash = k.hash AND o.status NOT IN ('duplicate', 'lost')) GROUP BY k.file"
        )
        for file, raw, stamp, size, modified in self._base.execute(query).fetchall():
            yield Listed(file, self._files(file, raw), stamp, size, modified)


def _todo(*, retry: bool) -> str:
    again = ", ".join(f"'{status}'" for status in ("changed", "lost", *(RETRIED if retry else ())))
    # Of an archive that was not converted as a whole, some members are missing.
    return (
        "FROM listed l WHERE NOT coalesce((SELECT count(*) >= max(in_file) FROM known k"  # noqa: S608 - constant text
        f" WHERE k.file = l.file AND k.stamp = l.stamp AND k.status NOT IN ({again})), 0)"
    )


def _raw(path: str) -> bytes | None:
    """A path as bytes, for it need not be UTF-8; None where its name in the dataset is the path."""
    return None if path.isascii() else os.fsencode(path)


def _path(file: str, raw: bytes | None) -> str:
    """The path of a file, from its name in the dataset and what `_raw` gave."""
    return file if raw is None else os.fsdecode(raw)


def _stem(file: str) -> str | None:
    """What the names of files that may be one log have in common."""
    if not file[-1:].isdecimal():
        return None
    stem, _, suffix = file.rpartition(".")
    return stem if stem and suffix.isdecimal() and suffix.isascii() else None


def _is_one_log(files: Sequence[str]) -> bool:
    """Whether a registered format reads the files as one log."""
    try:
        logs = open_logs([Path(file) for file in files])
        return any(one.is_one_log is not None and one.is_one_log(logs) for one in formats().values())
    except (LogParseError, OSError):
        return False
