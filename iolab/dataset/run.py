"""`convert`: logs of any number and size to a dataset.

A run finds sources, hands batches to an executor, and commits what is written.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from iolab.dataset.changing import writing
from iolab.dataset.commits import in_pieces
from iolab.dataset.executors import DaskCluster, Executor, LostError, Processes, Serial
from iolab.dataset.jobs import Converted, Done, Item, Job, Listed, Progress, Rewrite, Settings
from iolab.dataset.layout import DESCRIPTION, VERSION, describe
from iolab.dataset.listing import list_files
from iolab.dataset.objects import open_store
from iolab.dataset.pieces import SplitSource, Step
from iolab.dataset.store import LOCK, STAGING, LocalStore
from iolab.dataset.worker import convert_batch, identify
from logframe.errors import LogError
from logframe.limits import current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from iolab.dataset.commits import CommitWriter
    from iolab.dataset.executors import Outcome
    from iolab.dataset.planning import Plan
    from iolab.dataset.store import Store


#: A batch holds at most this many bytes of text, or one source that is larger, and this many sources.
BATCH_BYTES: Final = 32 << 20
BATCH_SOURCES: Final = 64
#: Sources that are recorded without being read, in one commit.
_RECORDED: Final = 1000
#: This many files, or bytes of them, are identified by one job.
_CHUNK_FILES: Final = 256
_CHUNK_BYTES: Final = 128 << 20
#: A source whose process ended this many times, alone in its batch, is not tried again.  The last time nothing runs
#: beside it, when all others are done: processes end for want of memory, or because someone ends them.
_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Files to be identified."""

    listed: tuple[Listed, ...]
    tries: int = 0


@dataclass(frozen=True, slots=True)
class _Batch:
    """Sources to be converted, or recorded with a status."""

    items: tuple[Item, ...]
    status: str | None = None
    message: str | None = None
    originals: dict[str, str] = field(default_factory=dict)
    touched: bool = False
    tries: int = 0
    split: SplitSource | None = None


class Run:
    """The state of a run.

    Args:
        store: The dataset.
        plan: What is to be done.
        executor: Where jobs run.
        settings: Of all jobs.
        writer: Of the commit log.
        retry: Also sources that could not be read before.
        progress: Called after each commit.
    """

    def __init__(
        self,
        store: Store,
        plan: Plan,
        executor: Executor,
        settings: Settings,
        *,
        writer: CommitWriter,
        retry: bool,
        progress: Callable[[Progress], object] | None,
    ) -> None:
        self._store, self._plan, self._executor, self._settings = store, plan, executor, settings
        self._writer = writer
        self._progress = progress
        self._found, self._todo, self._total = plan.counts(retry=retry)
        if self._todo:
            plan.index_contents()
        self._work: Iterator[Listed] = plan.work(retry=retry)
        self._held: Listed | None = None
        self._has_work = True
        self._chunks: deque[_Chunk] = deque()  # in the order of their files
        self._identified: dict[int, list[Item]] = {}  # by the identity of the chunk
        self._ready: deque[_Chunk | _Batch | Step] = deque()
        self._last: deque[_Batch] = deque()
        self._busy: set[str] = set()  # batches that a running job replaces
        self._jobs: dict[str, tuple[Job, dict[str, list[str]]]] = {}
        self._batch: list[Item] = []
        self._duplicates: list[tuple[Item, str]] = []
        self._has_lost = False  # a process ended in a batch, whose files may be there
        self._counts: Counter[str] = Counter()
        self._rows = self._bytes = self._done = self._batches = 0
        self._start = time.monotonic()

    def result(self) -> Converted:
        """What was done so far."""
        return Converted(
            self._found,
            self._found - self._todo,
            dict(self._counts),
            self._rows,
            self._bytes,
            self._batches,
            time.monotonic() - self._start,
        )

    def go(self) -> None:
        """Convert all sources.

        Raises:
            LogError: Another run has written to the dataset, or the cluster cannot be reached.
            OSError: The dataset cannot be written.
        """
        self._all()
        if again := list(self._plan.widowed()):
            self._work, self._has_work = iter(again), True
            self._all()
        if self._has_lost:
            self._plan.sweep_own(self._writer.run)

    def _all(self) -> None:
        while True:
            while self._executor.free and (task := self._next()) is not None:
                self._submit(task)
            if not self._executor.running:
                return
            for outcome in self._executor.wait(1.0):
                self._handle(outcome)

    def _next(self) -> _Chunk | _Batch | Step | None:
        """What can be submitted now."""
        for _ in range(len(self._ready)):
            task = self._ready.popleft()
            if isinstance(task, Step) and task.source.is_over:
                continue
            if not isinstance(task, _Batch) or self._busy.isdisjoint(self._plan.batches_of(task.items)):
                return task
            self._ready.append(task)
        if self._has_work and len(self._chunks) <= 2 * self._executor.workers:
            chunk = self._next_chunk()
            if chunk.listed:
                self._chunks.append(chunk)
                return chunk
            self._has_work = False
        if not self._has_work and not self._chunks and (self._batch or self._duplicates):
            self._flush()
            return self._next()
        if self._last and not (self._has_work or self._chunks or self._ready or self._executor.running):
            return self._last.popleft()
        return None

    def _next_chunk(self) -> _Chunk:
        """The next files to identify; none at the end."""
        found: list[Listed] = []
        size = 0
        if self._held is not None:
            found, size, self._held = [self._held], self._held.size, None
        for one in self._work:
            if found and (len(found) == _CHUNK_FILES or size + one.size > _CHUNK_BYTES):
                self._held = one
                break
            found.append(one)
            size += one.size
        return _Chunk(tuple(found))

    def _submit(self, task: _Chunk | _Batch | Step) -> None:
        if isinstance(task, _Chunk):
            self._executor.submit(task, identify, self._settings, task.listed)
            return
        if isinstance(task, Step):
            function, arguments = task.call
            self._executor.submit(task, function, self._settings, *arguments)
            return
        owners = self._plan.batches_of(task.items)
        rewrites = tuple(self._rewrite(batch, names, task) for batch, names in owners.items())
        items = () if task.touched else task.items
        name = self._writer.new_batch()
        made = None if task.split is None else task.split.done()
        job = Job(name, items, rewrites, task.status, task.message, task.originals, made)
        self._busy |= owners.keys()
        self._jobs[name] = job, owners
        self._executor.submit((task, name), convert_batch, self._settings, job)

    def _rewrite(self, batch: str, names: Sequence[str], task: _Batch) -> Rewrite:
        files = self._plan.commit_of(batch).files
        if not task.touched:
            return Rewrite(batch, files, frozenset(names), {})
        stamps = {item.source: (item.listed.stamp, item.listed.modified) for item in task.items}
        return Rewrite(batch, files, frozenset(), stamps)

    def _handle(self, outcome: Outcome) -> None:
        """Go on after a job."""
        if isinstance(outcome.task, _Chunk):
            self._handle_chunk(outcome, outcome.task)
            return
        if isinstance(outcome.task, Step):
            self._handle_step(outcome, outcome.task)
            return
        task, name = outcome.task
        job, owners = self._jobs.pop(name)
        self._busy -= owners.keys()
        if isinstance(outcome.error, LostError):
            self._has_lost = True
            self._ready.extendleft(reversed(self._after_loss(task, outcome.seconds)))
        elif outcome.error is not None:
            raise outcome.error
        else:
            self._commit(task, job, owners, outcome.result)

    def _handle_step(self, outcome: Outcome, step: Step) -> None:
        source = step.source
        if isinstance(outcome.error, LostError):
            self._has_lost = True
            if not source.is_over and step.tries + 2 < _TRIES and not self._was_late(outcome.seconds):
                self._ready.appendleft(replace(step, tries=step.tries + 1))
            elif not source.is_over:
                self._ready += self._after_loss(_Batch((source.whole(),), tries=step.tries), outcome.seconds)
        elif outcome.error is not None:
            raise outcome.error
        elif outcome.result is None and not source.is_over:
            self._has_lost = True  # of its other pieces files may be there
            self._ready.append(_Batch((source.whole(),)))
        elif not source.is_over:
            self._ready.extend(source.after(step, outcome.result))
            if source.done() is not None:
                self._ready.append(_Batch((source.item,), split=source))
            if step.stage == "piece":
                share = source.item.listed.size // len(source.pieces)
                source.counted += share
                self._show(share)

    def _handle_chunk(self, outcome: Outcome, chunk: _Chunk) -> None:
        if isinstance(outcome.error, LostError):
            place = self._chunks.index(chunk)
            again = self._chunks_after_loss(chunk, outcome.seconds)
            del self._chunks[place]
            for one in reversed(again):
                self._chunks.insert(place, one)
                if id(one) not in self._identified:
                    self._ready.appendleft(one)
        elif outcome.error is not None:
            raise outcome.error
        else:
            self._identified[id(chunk)] = outcome.result
        while self._chunks and id(self._chunks[0]) in self._identified:
            self._plan_items(self._identified.pop(id(self._chunks.popleft())))

    def _chunks_after_loss(self, chunk: _Chunk, seconds: float) -> list[_Chunk]:
        if len(chunk.listed) > 1:
            half = len(chunk.listed) // 2
            return [_Chunk(chunk.listed[:half]), _Chunk(chunk.listed[half:])]
        if chunk.tries + 1 < _TRIES and not self._was_late(seconds):
            return [replace(chunk, tries=chunk.tries + 1)]
        listed = chunk.listed[0]
        item = Item(listed.file, listed, None, 0, None)
        self._ready.append(_Batch((item,), "killed", self._reason(seconds)))
        done = _Chunk(())
        self._identified[id(done)] = []
        return [done]

    def _after_loss(self, task: _Batch, seconds: float) -> list[_Batch]:
        """What is tried after the process of a batch has ended: its halves, or a single source again."""
        if len(task.items) > 1:
            half = len(task.items) // 2
            return [replace(task, items=task.items[:half]), replace(task, items=task.items[half:])]
        if task.tries + 1 < _TRIES and not self._was_late(seconds):
            again = replace(task, tries=task.tries + 1)
            if again.tries + 1 < _TRIES:
                return [again]
            self._last.append(again)
            return []
        if task.status is not None:
            raise LogError(f"the processes that write to {self._store.url} end without an error")
        return [replace(task, status="killed", message=self._reason(seconds))]

    def _was_late(self, seconds: float) -> bool:
        return 0 < self._settings.seconds <= seconds

    def _reason(self, seconds: float) -> str:
        if self._was_late(seconds):
            return f"not read within the limit of {self._settings.seconds:g} s"
        return f"the process that read it ended, {_TRIES} times"

    def _plan_items(self, items: Sequence[Item]) -> None:
        """Put sources into batches: those that are new or changed, duplicates, those that are the same."""
        touched: dict[str, list[Item]] = {}
        changed: dict[tuple[str, ...], list[Item]] = {}
        for item in items:
            state = self._plan.state(item)
            owners = tuple(self._plan.batches_of([item]))
            if state == "known":
                continue
            if state == "touched":
                touched.setdefault(owners[0], []).append(item)
            elif (original := self._plan.original(item)) is not None:
                self._duplicates.append((item, original))
            elif item.split is not None:
                self._ready.extend(SplitSource(item, self._writer.new_batch()).first())
            elif owners:
                changed.setdefault(owners, []).append(item)
            else:
                self._add(item)
        self._ready += [_Batch(tuple(several), touched=True) for several in touched.values()]
        for several in changed.values():
            self._ready += [_Batch(tuple(piece)) for piece in in_pieces(several, BATCH_SOURCES)]
        if len(self._duplicates) >= _RECORDED:
            self._flush_duplicates()

    def _add(self, item: Item) -> None:
        size = sum(one.content_bytes for one in self._batch)
        if self._batch and (size + item.content_bytes > BATCH_BYTES or len(self._batch) == BATCH_SOURCES):
            self._flush_batch()
        self._batch.append(item)

    def _flush(self) -> None:
        self._flush_duplicates()
        self._flush_batch()

    def _flush_batch(self) -> None:
        if self._batch:
            self._ready.append(_Batch(tuple(self._batch)))
            self._batch = []

    def _flush_duplicates(self) -> None:
        for several in in_pieces(self._duplicates, _RECORDED):
            originals = {item.source: original for item, original in several}
            items = tuple(item for item, _ in several)
            self._ready.append(_Batch(items, "duplicate", None, originals))
        self._duplicates = []

    def _commit(self, task: _Batch, job: Job, owners: dict[str, list[str]], done: Done) -> None:
        """Make a batch part of the dataset."""
        commit = self._writer.commit(job.batch, [self._plan.commit_of(batch) for batch in owners], done.files)
        if job.made is not None and not set(job.made.files) <= set(done.files):
            self._has_lost = True  # the source has changed: its pieces are not wanted
        dropped = {} if task.touched else owners
        self._plan.committed(commit, done, {batch: dropped.get(batch, []) for batch in owners})
        if task.touched:
            self._plan.restamped(task.items)
        self._count(task, done)

    def _count(self, task: _Batch, done: Done) -> None:
        if task.touched:
            self._counts["touched"] += len(task.items)
        self._counts.update(status for *_, status, _ in done.sources)
        self._rows += done.rows
        self._bytes += 0 if task.status else sum(item.content_bytes for item in task.items)
        self._batches += 1
        size = sum(item.listed.size // max(item.in_file, 1) for item in task.items)
        self._show(size - (0 if task.split is None else task.split.counted))

    def _show(self, size: int) -> None:
        """Say that this many more bytes are done."""
        self._done += size
        if self._progress is not None:
            self._progress(Progress(min(self._done, self._total), self._total, dict(self._counts), self._rows))


#: Limit of time for one source, in seconds.
SECONDS: Final = 900.0
#: A larger log of a format that can be split is read in pieces of about this many bytes.
PIECE_BYTES: Final = 64 << 20


def convert(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    dest: str | os.PathLike[str],
    *,
    executor: str | Executor = "processes",
    tables: Iterable[str] | None = None,
    since: date | None = None,
    resume: bool = False,
    retry: bool = False,
    seconds: float = SECONDS,
    progress: Callable[[Progress], object] | None = None,
) -> Converted:
    r"""Convert logs of every registered format to a dataset of Parquet files.

    What is committed stays, whatever happens afterwards; a run that was interrupted is continued with ``resume=True``,
    which converts what is new or has changed and nothing else.  Logs of the same content are converted once.  A log
    that cannot be read is a row of `sources`, and stops nothing.

    A script that uses processes needs ``if __name__ == "__main__":``, for each process imports it.

    Args:
        sources: Files, folders with all that is below them, patterns, archives, ``s3://bucket/prefix/``, ``@file`` (one
            source a line); or one of these.
        dest: Folder of the dataset, or ``s3://bucket/prefix``.
        executor: ``processes``, ``processes:4``, ``dask-local:4``, ``dask://host:port``, ``serial``, or an object with
            the methods of `iolab.dataset.executors.Executor`.
        tables: Names of the tables to write, such as ``foreground_events`` or ``awr/foreground_events``; None for all.
        since: Files that did not change since are left out; a `date` or `datetime`, UTC where it has no time zone.
        resume: Continue an existing dataset.
        retry: Also read again what was unreadable, killed or failed before.
        seconds: Limit of time for one source, or one piece of a large one; 0 for none.  Only an executor with processes
            of its own keeps it.
        progress: Called after each commit.

    Raises:
        LogNotFoundError: Nothing is at one of the sources.
        LogError: The dataset exists and `resume` is False, the folder holds something else, the dataset is of a newer
            version or was made with other tables, another run writes to it, or the executor is not known.
        OSError: The dataset cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "ora_4711.log").write_bytes(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n")
        ...     done = convert(Path(folder, "ora_4711.log"), Path(folder, "dataset"), executor="serial")
        >>> done.counts
        {'converted': 1}
    """
    named = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    store = open_store(dest)
    wanted = None if tables is None else sorted(set(tables))
    _check(store, wanted, resume=resume)
    with writing(store) as (writer, plan):
        if describe(store) is None:
            store.put(DESCRIPTION, json.dumps({"version": VERSION, "tables": wanted}).encode())
        _check(store, wanted, resume=True)
        outside = store.url if isinstance(store, LocalStore) else None
        plan.add_files(list_files(named, outside=outside), since=_microseconds(since))
        pool = open_executor(executor) if plan.counts(retry=retry)[1] else open_executor("serial")
        chosen = None if wanted is None else frozenset(wanted)
        settings = Settings(store, chosen, current(), seconds, PIECE_BYTES, pool.is_own_process, writer.run)
        try:
            run = Run(*(store, plan, pool, settings), writer=writer, retry=retry, progress=progress)
            run.go()
        finally:
            if pool is not executor:
                pool.close()
        return run.result()


def _check(store: Store, tables: list[str] | None, *, resume: bool) -> None:
    """Refuse a place that cannot be written to.

    Raises:
        LogError: With the reason.
    """
    if isinstance(store, LocalStore) and Path(store.root).is_file():
        raise LogError(f"{store.root} is a file: name a folder")
    known: dict[str, Any] | None = describe(store)
    if known is None:
        keys = (entry.key for entry in store.entries())
        first = next((key for key in keys if key != LOCK and not key.startswith(STAGING)), None)
        if first is not None:
            raise LogError(f"{store.url} is no dataset, and not empty (it holds {first}): name a new folder")
        return
    if not resume:
        raise LogError(f"{store.url} is a dataset: continue it with --resume (resume=True), or name a new folder")
    if known.get("tables") != tables:
        made = ", ".join(known["tables"]) if known.get("tables") else "all tables"
        raise LogError(f"{store.url} was made with {made}: continue it with the same tables, or name a new folder")


def _microseconds(since: date | None) -> int | None:
    if since is None:
        return None
    at = since if isinstance(since, datetime) else datetime(since.year, since.month, since.day, tzinfo=UTC)
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1e6)


def open_executor(text: str | Executor) -> Executor:
    """The executor of a description.

    Args:
        text: ``processes``, ``processes:4``, ``serial``, ``dask-local``, ``dask-local:4`` or ``dask://host:port``; or
            an `Executor`.

    Raises:
        LogError: It is not one of these.

    Examples:
        >>> open_executor("serial").workers
        1
    """
    if not isinstance(text, str):
        return text
    kind, _, rest = text.partition(":")
    if kind == "serial" and not rest:
        return Serial()
    if kind in {"processes", "dask-local"} and (not rest or (rest.isdecimal() and int(rest))):
        count = int(rest) if rest else None
        return Processes(count) if kind == "processes" else DaskCluster.local(count)
    if kind == "dask" and rest.startswith("//") and rest.rpartition(":")[2].isdecimal():
        return DaskCluster.at(f"tcp:{rest}")
    raise LogError(
        f"no executor {text!r}; there are processes, processes:N, serial, dask-local, dask-local:N and dask://HOST:PORT"
    )
