"""Reading a dataset: its tables, its sources, what was not read, and what it consists of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from iolab.dataset.layout import SCHEMAS, SOURCES, Commit, is_own, live_commits, require_dataset
from iolab.dataset.store import Store, open_store
from iolab.dataset.writer import tables_of
from logframe import DIAGNOSTICS
from logframe.errors import LogError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from iolab.dataset.layout import DataFile


def scan(dest: str | os.PathLike[str], table: str) -> pl.LazyFrame:
    """The rows of a table of all sources, as a LazyFrame.

    Only committed files are read.  Columns that files of other versions of the program have, or lack, are united by
    name: a file without a column gives nulls.

    Args:
        dest: The dataset.
        table: ``format/name`` such as ``awr/foreground_events``, or ``name`` alone where one format has it.

    Returns:
        ``source`` and ``part`` (the number of the log in its source, from 1), what a report says of itself
        (``db_name``, ``begin_time``, ...), then the columns of the table; durations are integers whose names end in
        ``_ns`` (`logframe.physical`).

    Raises:
        LogError: It is no dataset, or has no such table; the message lists those that there are.
    """
    store = open_store(dest)
    require_dataset(store)
    commits = live_commits(store)
    files = [file for commit in commits.values() for file in commit.files]
    return scan_files(store, [file for file in files if file.table == _named(table, files, store)])


def _named(table: str, files: Iterable[DataFile], store: Store) -> str:
    """The full name of a table."""
    known = tables_of(files)
    if table in known or table in {"_sources", "_diagnostics"}:
        return table
    found = [one for one in known if one.partition("/")[2] == table]
    if len(found) == 1:
        return found[0]
    if found:
        raise LogError(f"{len(found)} formats have a table {table!r}: {', '.join(found)}")
    raise LogError(f"{store.url} has no table {table!r}; it has {', '.join(known) or 'none'}")


def scan_files(store: Store, files: list[DataFile]) -> pl.LazyFrame:
    """The rows of files of one table, their columns united by name."""
    by_schema: dict[str, list[str]] = {}
    for file in files:
        by_schema.setdefault(file.schema, []).append(store.location(file.key))
    frames = [
        pl.scan_parquet(
            places,
            schema=pl.read_parquet_schema(_schema_file(store, name)),
            glob=False,
            storage_options=store.options,
        )
        for name, places in by_schema.items()
    ]
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")


def _schema_file(store: Store, name: str) -> bytes:
    return store.read(f"{SCHEMAS}{name}.parquet")


def sources(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """What became of each source, in the order of their names.

    Args:
        dest: The dataset.

    Returns:
        ``source``, ``file``, ``status`` (`iolab.dataset.STATUSES`), ``format``, ``kind``, ``parts`` (logs in the
        source), ``rows``, ``message``, ``duplicate_of``, ``size_bytes`` (of the file), ``content_bytes`` (of the text),
        ``modified`` (UTC), ``stamp`` (changes with the file), ``hash`` (of the text), ``in_file`` (sources in it).

    Raises:
        LogError: It is no dataset.
    """
    return _own(dest, "_sources", SOURCES).sort("source")


def diagnostics(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """What was not read of all sources, with the columns `logframe.DIAGNOSTICS`, in the order of the sources.

    Raises:
        LogError: It is no dataset.
    """
    return _own(dest, "_diagnostics", DIAGNOSTICS).sort("source", maintain_order=True)


def _own(dest: str | os.PathLike[str], table: str, schema: pl.Schema) -> pl.DataFrame:
    store = open_store(dest)
    require_dataset(store)
    files = [file for commit in live_commits(store).values() for file in commit.files if file.table == table]
    return scan_files(store, files).collect() if files else pl.DataFrame(schema=schema)


@dataclass(frozen=True)
class Status:
    """What a dataset consists of.

    Attributes:
        batches: Committed batches.
        sources: Status -> number of sources.
        tables: One row a table: ``table``, ``files``, ``rows``, ``size_bytes``.
    """

    batches: int
    sources: dict[str, int]
    tables: pl.DataFrame

    def __str__(self) -> str:
        total = sum(self.sources.values())
        counts = ", ".join(f"{count:,} {status}" for status, count in sorted(self.sources.items()))
        size = sum(self.tables["size_bytes"].to_list())
        text = f"{total:,} sources ({counts or 'none'}) in {self.batches:,} batches, {size / 1e6:,.1f} MB"
        rows = [f"{name:40} {rows:>15,} rows {files:>7,} files" for name, files, rows, _ in self.tables.iter_rows()]
        return "\n".join([text, *rows])


def status(dest: str | os.PathLike[str]) -> Status:
    """What a dataset consists of, by its commit log.

    Raises:
        LogError: It is no dataset.
    """
    store = open_store(dest)
    require_dataset(store)
    commits = live_commits(store)
    files = [file for commit in commits.values() for file in commit.files]
    columns = {"table": pl.String, "files": pl.Int64, "rows": pl.Int64, "size_bytes": pl.Int64}
    found: dict[str, list[int]] = {}
    for file in files:
        total = found.setdefault(file.table, [0, 0, 0])
        found[file.table] = [total[0] + 1, total[1] + file.rows, total[2] + file.size]
    rows = [(table, *total) for table, total in sorted(found.items())]
    counted = Counter(_own(dest, "_sources", SOURCES).get_column("status").to_list())
    return Status(len(commits), dict(counted), pl.DataFrame(rows, schema=columns, orient="row"))


def verify(dest: str | os.PathLike[str], *, contents: bool = True) -> list[str]:
    """What is wrong with a dataset, one sentence each; empty when nothing is.

    Every committed file is there with the size and the rows that its commit says, no other file is, each source is
    there once, and its rows are as many as its record says.

    Args:
        dest: The dataset.
        contents: Read the files; else only their names and sizes are compared.

    Raises:
        LogError: It is no dataset.
    """
    store = open_store(dest)
    require_dataset(store)
    commits = live_commits(store)
    return [*_wrong_files(store, commits), *(_wrong_rows(store, commits) if contents else ())]


def _wrong_files(store: Store, commits: dict[str, Commit]) -> list[str]:
    sizes = {
        key: size for key, size in store.entries() if key[0] != "_" or key.startswith(("_sources/", "_diagnostics/"))
    }
    wrong = []
    for commit in commits.values():
        for file in commit.files:
            size = sizes.pop(file.key, None)
            if size is None:
                wrong.append(f"{file.key} is missing")
            elif size != file.size:
                wrong.append(f"{file.key} has {size:,} bytes, and {file.size:,} were committed")
    wrong += [f"{key} belongs to no batch" for key in sizes if is_own(key)]
    wrong += [f"{key} was not removed" for key, _ in store.entries("_staging/")]
    return wrong


def _wrong_rows(store: Store, commits: dict[str, Commit]) -> list[str]:
    wrong = []
    counted: Counter[str] = Counter()
    for commit in commits.values():
        for file in commit.files:
            try:
                frame = pl.scan_parquet(store.location(file.key), glob=False, storage_options=store.options)
                rows = frame.group_by("source").len().collect(engine="streaming")
            except (pl.exceptions.PolarsError, OSError) as error:
                wrong.append(f"{file.key} cannot be read: {error}")
                continue
            if rows["len"].sum() != file.rows:
                wrong.append(f"{file.key} has {rows['len'].sum():,} rows, and {file.rows:,} were committed")
            if file.table[0] != "_":
                counted.update(dict(rows.iter_rows()))
    files = [file for commit in commits.values() for file in commit.files if file.table == "_sources"]
    known = scan_files(store, files).collect() if files else pl.DataFrame(schema=SOURCES)
    twice = known.filter(pl.col("source").is_duplicated()).get_column("source").unique().to_list()
    wrong += [f"{source} was converted twice" for source in twice]
    for source, rows in known.select("source", pl.col("rows").fill_null(0)).iter_rows():
        found = counted.pop(source, 0)
        if found != rows:
            wrong.append(f"{source} has {found:,} rows, and its record says {rows:,}")
    wrong += [f"{source} has {count:,} rows and no record" for source, count in counted.items()]
    return wrong
