"""Reading a dataset: its tables, its sources, what was not read, and what it consists of."""

from __future__ import annotations

import io
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from iolab.dataset.commits import live_commits
from iolab.dataset.contents import Contents
from iolab.dataset.layout import OWN_TABLES, SCHEMAS, concat, require_dataset
from iolab.dataset.objects import open_store
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.dataset.commits import DataFile
    from iolab.dataset.store import Store


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
        ``_ns`` (`logframe.parquet`).

    Raises:
        LogError: It is no dataset, or has no such table; the message lists those that there are.
    """
    store = open_store(dest)
    require_dataset(store)
    files = _files(store, table)
    if not files and table in OWN_TABLES:
        return pl.LazyFrame(schema=OWN_TABLES[table])
    found = {file.table for file in files}
    if table not in found and len(found) > 1:
        raise LogError(f"{len(found)} formats have a table {table!r}: {', '.join(sorted(found))}")
    if not found:
        known = sorted({file.table for one in live_commits(store).values() for file in one.files} - OWN_TABLES.keys())
        raise LogError(f"{store.url} has no table {table!r}; it has {', '.join(known) or 'none'}")
    return scan_files(store, [file for file in files if table == file.table or table not in found])


def _files(store: Store, table: str) -> list[DataFile]:
    """The files of a table, with or without its format."""
    commits = live_commits(store, lambda name: table in {name, name.partition("/")[2]})
    return [file for commit in commits.values() for file in commit.files]


def scan_files(store: Store, files: list[DataFile]) -> pl.LazyFrame:
    """The rows of files of one table, their columns united by name (`iolab.dataset.layout`)."""
    by_schema: dict[str, list[DataFile]] = {}
    for file in files:
        by_schema.setdefault(file.schema, []).append(file)
    return concat(
        [
            pl.scan_parquet(
                [store.location(file.key) for file in several],
                schema=schema_of(store, several[0])[0],
                glob=False,
                storage_options=store.options,
            )
            for several in by_schema.values()
        ]
    )


def schema_of(store: Store, file: DataFile) -> tuple[pl.Schema, list[str]]:
    """The columns of a file, and the names of those that its rows are sorted by.

    Raises:
        LogError: They and the file are missing or damaged.
    """
    try:
        data = io.BytesIO(store.read(f"{SCHEMAS}{file.schema}.parquet"))
        return pl.Schema(pl.read_parquet_schema(data)), pl.read_parquet_metadata(data)["keys"].split(",")
    except (FileNotFoundError, pl.exceptions.PolarsError, KeyError):
        pass  # the file has the columns, too
    lazy = pl.scan_parquet(store.location(file.key), glob=False, storage_options=store.options)
    try:
        return lazy.collect_schema(), ["source"]
    except (pl.exceptions.PolarsError, OSError) as error:
        raise unread(store.url, error) from error


def unread(dest: str | os.PathLike[str], error: Exception) -> LogError:
    """The error of a dataset whose files cannot be read."""
    first, url = str(error).strip().partition("\n")[0], os.fspath(dest)
    return LogError(f"files of {url} cannot be read ({first}); if they are missing: iolab verify {url} --repair")


def collected(dest: str | os.PathLike[str], lazy: pl.LazyFrame) -> pl.DataFrame:
    """The rows of files of a dataset.

    Raises:
        LogError: One of them is missing or damaged.
    """
    try:
        return lazy.collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise unread(dest, error) from error


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
    return collected(dest, scan(dest, "_sources")).sort("source")


def diagnostics(dest: str | os.PathLike[str]) -> pl.DataFrame:
    """What was not read of all sources, with the columns `logframe.DIAGNOSTICS`, in the order of the sources.

    Raises:
        LogError: It is no dataset.
    """
    return collected(dest, scan(dest, "_diagnostics")).sort("source", maintain_order=True)


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
    commits = [commit for commit in live_commits(store).values() if commit.files]
    files = [file for commit in commits for file in commit.files]
    columns = {"table": pl.String, "files": pl.Int64, "rows": pl.Int64, "size_bytes": pl.Int64}
    found: dict[str, list[int]] = {}
    for file in files:
        total = found.setdefault(file.table, [0, 0, 0])
        found[file.table] = [total[0] + 1, total[1] + file.rows, total[2] + file.size]
    rows = [(table, *total) for table, total in sorted(found.items())]
    own = [file for file in files if file.table == "_sources"]
    statuses = collected(dest, scan_files(store, own).select("status")) if own else pl.DataFrame({"status": []})
    counted = Counter(statuses.get_column("status").to_list())
    return Status(len(commits), dict(counted), pl.DataFrame(rows, schema=columns, orient="row"))


class Fault(NamedTuple):
    """What is wrong with a dataset.

    Attributes:
        text: A sentence.
        batch: The batch that holds a file that is missing or damaged.
        key: That file.
    """

    text: str
    batch: str | None = None
    key: str | None = None


def verify(dest: str | os.PathLike[str], *, contents: bool = True) -> list[str]:
    """What is wrong with a dataset, one sentence each; empty when nothing is.

    Every committed file is there with the size and the rows that its commit says, no other file is that is older than a
    day, each source is there once, and its rows are as many as its record says.

    Args:
        dest: The dataset.
        contents: Read the files; else only their names and sizes are compared.

    Raises:
        LogError: It is no dataset, or a commit is missing.
    """
    store = open_store(dest)
    require_dataset(store)
    with Contents(store) as found:
        found.read()
        return [fault.text for fault in (*wrong_files(found), *(wrong_rows(store, found) if contents else ()))]


def wrong_files(contents: Contents) -> Iterator[Fault]:
    """Files that are missing, too much or of another size."""
    yield from (Fault(text, batch, key) for batch, key, text in contents.broken())
    yield from (Fault(f"{key} belongs to no batch") for key in contents.forgotten())


def wrong_rows(store: Store, contents: Contents) -> Iterator[Fault]:
    """Files that cannot be read, and sources whose rows are not as many as their record says."""
    missing = {key for _, key, _ in contents.broken()}
    counted: Counter[str] = Counter()
    known = []
    for commit in contents.commits():
        for file in commit.files:
            if file.key in missing:
                continue
            try:
                # Polars does not say whether an object is damaged or the store does not answer; the store does.
                place = io.BytesIO(store.read(file.key)) if store.options else store.location(file.key)
                frame = pl.scan_parquet(place, glob=False)
                rows = frame.group_by("source").len().collect(engine="streaming")
                known += [frame.select("source", "status", "rows").collect()] if file.table == "_sources" else []
            except (pl.exceptions.PolarsError, FileNotFoundError) as error:
                yield Fault(f"{file.key} cannot be read: {error}", commit.batch, file.key)
                continue
            if rows["len"].sum() != file.rows:
                text = f"{file.key} has {rows['len'].sum():,} rows, and {file.rows:,} were committed"
                yield Fault(text, commit.batch, file.key)
            if file.table[0] != "_":
                counted.update(dict(rows.iter_rows()))
    records = pl.concat([pl.DataFrame(schema={"source": pl.String, "status": pl.String, "rows": pl.Int64}), *known])
    twice = records.filter(pl.col("source").is_duplicated()).get_column("source").unique().to_list()
    yield from (Fault(f"{source} was converted twice") for source in twice)
    for source, status, rows in records.select("source", "status", pl.col("rows").fill_null(0)).iter_rows():
        found = counted.pop(source, 0)
        if found != rows and status != "lost":
            yield Fault(f"{source} has {found:,} rows, and its record says {rows:,}")
    yield from (Fault(f"{source} has {count:,} rows and no record") for source, count in counted.items())
