"""Fewer and larger files: batches that follow each other become one."""

from __future__ import annotations

import io
import secrets
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.dataset.layout import SCHEMAS, Commit, commit_key, digest, live_commits, require_dataset
from iolab.dataset.planning import Plan
from iolab.dataset.reading import scan_files
from iolab.dataset.store import open_store
from iolab.dataset.writer import BatchWriter
from logframe.errors import LogError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from iolab.dataset.layout import DataFile
    from iolab.dataset.store import Store

#: Batches are united up to this many bytes of files, so that a table of them is sorted in memory.
TARGET_BYTES: Final = 128 << 20


def compact(dest: str | os.PathLike[str], *, target_bytes: int = TARGET_BYTES) -> tuple[int, int]:
    """Unite batches, each table of them in one file that is sorted by what the logs say of themselves.

    A reader that began before may miss files that are removed at the end; the rows stay the same.

    Args:
        dest: The dataset.
        target_bytes: Bytes of the files of a united batch.

    Returns:
        The numbers of batches before and after.

    Raises:
        LogError: It is no dataset, or another run writes to it.
    """
    store = open_store(dest)
    require_dataset(store)
    with store.lock() as lock:
        with Plan(store) as plan:
            number = plan.read_dataset(sweep=lock.was_interrupted)
        commits = live_commits(store)
        garbage: list[str] = []
        before = after = len(commits)
        for group in _groups(list(commits.values()), target_bytes):
            number += 1
            united = _united(store, group, number)
            if not store.put_new(commit_key(number), united.to_json()):
                raise LogError(f"another run has written to {store.url}")
            garbage += [file.key for commit in group for file in commit.files]
            garbage += [commit_key(commit.number) for commit in group]
            after -= len(group) - 1
            lock.renew()
        for key in garbage:
            store.delete(key)
    return before, after


def _groups(commits: list[Commit], most: int) -> Iterator[list[Commit]]:
    """Commits that follow each other, two or more."""
    group: list[Commit] = []
    size = 0
    for commit in commits:
        own = sum(file.size for file in commit.files)
        if group and size + own > most:
            if len(group) > 1:
                yield group
            group, size = [], 0
        group.append(commit)
        size += own
    if len(group) > 1:
        yield group


def _united(store: Store, group: list[Commit], number: int) -> Commit:
    """Write the files of several batches as those of one."""
    batch = digest(["compact", *(commit.batch for commit in group)])
    by_table: dict[str, list[DataFile]] = {}
    for commit in group:
        for file in commit.files:
            by_table.setdefault(file.table, []).append(file)
    with store.staging() as folder:
        writer = BatchWriter(store, batch, folder, secrets.token_hex(8))
        for table, files in by_table.items():
            keys = _keys(store, files[-1])
            # The general keys first; the rows of one log keep their order.
            order = [*keys[2:], *keys[:2]]
            frame = scan_files(store, files).sort(order, nulls_last=True, maintain_order=True).collect()
            writer.write_table(table, frame, keys)
        return Commit(number, batch, tuple(commit.batch for commit in group), writer.publish())


def _keys(store: Store, file: DataFile) -> list[str]:
    """The names of the columns that the rows of a file are sorted by."""
    metadata = pl.read_parquet_metadata(io.BytesIO(store.read(f"{SCHEMAS}{file.schema}.parquet")))
    return metadata["keys"].split(",")
