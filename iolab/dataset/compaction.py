"""Fewer and larger files: batches that follow each other become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.dataset.changing import writing
from iolab.dataset.layout import require_dataset
from iolab.dataset.objects import open_store
from iolab.dataset.reading import collected, scan_files, schema_of
from iolab.dataset.writer import BatchWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from iolab.dataset.commits import Commit, CommitWriter, DataFile
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
    with writing(store) as (writer, plan):
        before = after = 0
        for group in _groups(plan.commits(), target_bytes):
            before += len(group)
            after += 1
            if len(group) > 1:
                _unite(store, writer, group)
        writer.fold()
    return before, after


def _groups(commits: Iterable[Commit], most: int) -> Iterator[list[Commit]]:
    """Commits that follow each other."""
    group: list[Commit] = []
    size = 0
    for commit in commits:
        own = sum(file.size for file in commit.files)
        if group and size + own > most:
            yield group
            group, size = [], 0
        group.append(commit)
        size += own
    if group:
        yield group


def _unite(store: Store, writer: CommitWriter, group: list[Commit]) -> None:
    """Write the files of several batches as those of one, which replaces them."""
    batch = writer.new_batch()
    by_table: dict[str, list[DataFile]] = {}
    for commit in group:
        for file in commit.files:
            by_table.setdefault(file.table, []).append(file)
    with store.staging() as folder:
        out = BatchWriter(store, batch, folder, writer.run)
        for table, files in by_table.items():
            keys = schema_of(store, files[-1])[1]
            # The general keys first; the rows of one log keep their order.
            order = [*keys[2:], *keys[:2]]
            rows = scan_files(store, files).sort(order, nulls_last=True, maintain_order=True)
            out.write_table(table, collected(store.url, rows), keys)
        writer.commit(batch, group, out.publish())
