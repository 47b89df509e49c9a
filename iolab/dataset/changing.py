"""Changes of a dataset: opened for writing, its faults mended, sources removed, batches joined to larger files."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from iolab.dataset.commits import CommitWriter
from iolab.dataset.jobs import Rewrite
from iolab.dataset.layout import DESCRIPTION, RUN, VERSION, describe, require_dataset
from iolab.dataset.listing import name_of
from iolab.dataset.objects import open_store
from iolab.dataset.planning import Plan
from iolab.dataset.reading import collected, scan_files, schema_of, wrong_files, wrong_rows
from iolab.dataset.store import TakenError
from iolab.dataset.writer import BatchWriter
from logframe.errors import LogError
from logframe.places import user_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from iolab.dataset.commits import Commit, DataFile
    from iolab.dataset.store import Store


@contextmanager
def writing(store: Store, *, repair: bool = False, contents: bool = False) -> Iterator[tuple[CommitWriter, Plan]]:
    """A dataset that this run alone writes to, and what it holds.

    Files that other runs left are removed.  Where files of a batch are missing, its sources get the status ``lost``:
    a run that is given them converts them again.

    Args:
        store: The dataset; it need not exist.
        repair: Put an empty record in the place of a commit that is missing.
        contents: Read the files; else their names and sizes are compared.

    Raises:
        LogError: Another run writes to it.
    """
    run = secrets.token_hex(RUN // 2)
    with store.lock(run) as lock, Plan(store) as plan:
        writer = CommitWriter(store, lock, run)
        known = describe(store)
        if known is not None:
            if known["version"] < VERSION:
                writer.fold()
                store.put(DESCRIPTION, json.dumps({**known, "version": VERSION}).encode())
            if repair:
                writer.fill_gaps()
            plan.read()
            _mark_lost(store, writer, plan, contents=contents)
            plan.sweep(lock.interrupted, run)
            plan.read_sources()
        try:
            yield writer, plan
        except TakenError:
            with suppress(LogError, OSError):
                plan.sweep_own(run)
            raise
        except FileNotFoundError:
            lock.check()  # another run that took the lock removes files, too
            raise
        writer.remove_garbage()


def _mark_lost(store: Store, writer: CommitWriter, plan: Plan, *, contents: bool) -> None:
    """Replace batches of which files are missing or damaged by what is left of them."""
    faults = [*wrong_files(plan), *(wrong_rows(store, plan) if contents else ())]
    by_batch: dict[str, set[str]] = {}
    for fault in faults:
        if fault.batch is not None and fault.key is not None:
            by_batch.setdefault(fault.batch, set()).add(fault.key)
    for batch, keys in by_batch.items():
        old = plan.commit_of(batch)
        left = tuple(file for file in old.files if file.key not in keys)
        # Without its record of sources a batch is worth nothing: they are converted as new ones.
        is_known = any(file.table == "_sources" for file in left)
        _replace(store, writer, plan, batch, Rewrite(batch, left, frozenset(), {}, is_lost=True) if is_known else None)


def _replace(store: Store, writer: CommitWriter, plan: Plan, batch: str, rewrite: Rewrite | None) -> None:
    """Replace a batch by what is carried over of it, or by nothing."""
    new = writer.new_batch()
    files: tuple[DataFile, ...] = ()
    if rewrite is not None:
        with store.staging() as folder:
            out = BatchWriter(store, new, folder, writer.run)
            out.carry_over(rewrite)
            files = out.publish()
    plan.add(writer.commit(new, [plan.commit_of(batch)], files))


def repair(dest: str | os.PathLike[str], *, contents: bool = True) -> None:
    """Make a dataset whole again whose files are missing or damaged.

    Sources whose rows were in them get the status ``lost``; `iolab.dataset.convert` with ``resume=True`` converts them
    again, if it is given them.

    Args:
        dest: The dataset.
        contents: Read the files; else only their names and sizes are compared.

    Raises:
        LogError: It is no dataset, or another run writes to it.
    """
    store = open_store(dest)
    require_dataset(store)
    with writing(store, repair=True, contents=contents):
        pass


def remove(dest: str | os.PathLike[str], names: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Remove sources and all of their rows from a dataset; their files are removed, too, when the function returns.

    The logs themselves stay: a later run that is given one converts it again.

    Args:
        dest: The dataset.
        names: Sources as `iolab.dataset.sources` names them, files, archives or folders with all in them.

    Returns:
        The sources that were removed.

    Raises:
        LogError: It is no dataset, holds no such source, or another run writes to it.
    """
    store = open_store(dest)
    require_dataset(store)
    with writing(store) as (writer, plan):
        found: set[str] = set()
        for path in names:
            name = os.fspath(path)
            own = plan.named(name) or plan.named(name_of(str(user_path(name).absolute())))
            if not own:
                raise LogError(f"{store.url} has no source {name!r}: iolab scan {store.url} _sources lists them")
            found.update(own)
        # A copy of a source that is removed has no rows: the next run converts it.
        for batch, dropped in plan.owners({*found, *plan.copies(found)}).items():
            rewrite = Rewrite(batch, plan.commit_of(batch).files, frozenset(dropped), {})
            _replace(store, writer, plan, batch, rewrite)
    return sorted(found)


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
