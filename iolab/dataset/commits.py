"""The commit log: which files belong to a dataset.

    DATASET/_commits/0000000001.json             one commit
    DATASET/_commits/0000000001-0000000032.json  a checkpoint: the commits of a range, one a line

A batch belongs to the dataset from its commit on.  A commit may replace batches: a source that changed is converted
again, and the rows of the other sources of its old batch are carried over, so that no file holds an invalid row.

Numbers are given once, without gaps: of two writers of a number one gets it.  A run that takes the place of one that
did not end as it should first writes a commit without files, the *fence*: the other run, should it go on, finds its
next number taken, and its files are not needed by anything.

After 32 commits, 32**2, ... those before are united to a checkpoint, without the batches that were replaced.  So a log
of n commits is at most 32 objects for each digit of n in base 32.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import TYPE_CHECKING, Final, TypeVar

from iolab.dataset.layout import COMMITS, RUN, describe
from iolab.dataset.store import TakenError
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from iolab.dataset.store import Lock, Store

#: This many commits, or checkpoints of one size, become one checkpoint.
FOLD: Final = 32
#: Objects of the log that are read at a time.
_AT_A_TIME: Final = 16
#: How often the log is read again where it changes at the same time.
_TRIES: Final = 5

_Value = TypeVar("_Value")


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
        batch: Id of the batch.
        replaces: Batches that do not belong to the dataset any more.
        files: Of the batch; none of a commit that only replaces, and of a fence.
    """

    number: int
    batch: str
    replaces: tuple[str, ...]
    files: tuple[DataFile, ...]

    def to_json(self) -> str:
        """The record as it is stored: one line."""
        files = [[one.table, one.key, one.rows, one.size, one.schema] for one in self.files]
        return json.dumps({"number": self.number, "batch": self.batch, "replaces": self.replaces, "files": files})

    @classmethod
    def from_json(cls, text: str, number: int = 0, wanted: Callable[[str], bool] | None = None) -> Commit:
        """The record of a line.

        Args:
            text: The line.
            number: Place in the log, where the line does not say it.
            wanted: Of which tables it has the files; None for all.
        """
        record = json.loads(text)
        files = tuple(DataFile(*one) for one in record["files"] if wanted is None or wanted(one[0]))
        return cls(record.get("number", number), record["batch"], tuple(record["replaces"]), files)


def in_pieces(values: Iterable[_Value], size: int) -> Iterator[list[_Value]]:
    """Values in lists of so many.

    Examples:
        >>> list(in_pieces("abc", 2))
        [['a', 'b'], ['c']]
    """
    rest = iter(values)
    while piece := list(islice(rest, size)):
        yield piece


def _key(first: int, last: int) -> str:
    return f"{COMMITS}{first:010d}{f'-{last:010d}' if last > first else ''}.json"


def _ranges(store: Store) -> list[tuple[int, int]]:
    """The first and last numbers of the objects of the log."""
    names = (entry.key.removeprefix(COMMITS).removesuffix(".json") for entry in store.entries(COMMITS))
    ends = (name.split("-") for name in names if name.replace("-", "").isdecimal())
    return [(int(one[0]), int(one[-1])) for one in ends]


def _cover(store: Store) -> list[tuple[int, int]]:
    """The fewest objects that hold the whole log, in order.

    Raises:
        LogError: A commit is missing.
    """
    for _ in range(_TRIES):  # names that are listed while a checkpoint takes the place of commits may lack both
        found, missing = _chosen(_ranges(store))
        if not missing:
            return found
    known = describe(store)
    if known is not None and known["version"] == 1:  # it removed commits that were replaced
        return found
    raise LogError(f"{store.url} lacks commit {missing[0]}: iolab verify {store.url} --repair")


def _chosen(ranges: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[int]]:
    """The longest of ranges that follow each other, and the numbers that are in none.

    Examples:
        >>> _chosen([(1, 1), (2, 2), (1, 3), (4, 4), (6, 6)])
        ([(1, 3), (4, 4), (6, 6)], [5])
    """
    found: list[tuple[int, int]] = []
    missing: list[int] = []
    end = 0
    for first, last in sorted(ranges, key=lambda one: (one[0], -one[1])):
        if first > end:
            missing += range(end + 1, first)
            found.append((first, last))
            end = last
    return found, missing


def _records(store: Store, cover: Iterable[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """The lines of objects of the log, each with the number of the first commit of its object."""
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for several in in_pieces(cover, _AT_A_TIME):
            for (first, _), data in zip(several, pool.map(lambda one: store.read(_key(*one)), several), strict=True):
                # An empty object: the run that was to commit ended before it did (`LocalStore.put_new`).
                yield from ((first, line) for line in data.decode().splitlines())


def read_commits(
    store: Store, wanted: Callable[[str], bool] | None = None, *, cover: Iterable[tuple[int, int]] | None = None
) -> Iterator[Commit]:
    """The records of the commit log, in their order.

    Args:
        store: The dataset.
        wanted: Of which tables they have the files; None for all.
        cover: The objects; None for the whole log.

    Raises:
        LogError: A record is damaged or missing.
        FileNotFoundError: A checkpoint took the place of records while they were read.
    """
    for first, line in _records(store, _cover(store) if cover is None else cover):
        try:
            yield Commit.from_json(line, first, wanted)
        except (ValueError, KeyError, TypeError) as error:
            raise LogError(f"{store.location(_key(first, first))} is damaged: {error}") from error


def live_commits(store: Store, wanted: Callable[[str], bool] | None = None) -> dict[str, Commit]:
    """The commits of the batches that belong to the dataset, by batch; a log that changes meanwhile is read again.

    Args:
        store: The dataset.
        wanted: As of `read_commits`.

    Raises:
        LogError: A record is damaged or missing.
    """
    for _ in range(_TRIES):
        try:
            return _live(read_commits(store, wanted))
        except FileNotFoundError:
            continue
    raise LogError(f"{store.url} changes faster than it can be read: try again")


def _live(commits: Iterable[Commit]) -> dict[str, Commit]:
    found: dict[str, Commit] = {}
    for commit in commits:
        for batch in commit.replaces:
            found.pop(batch, None)
        found[commit.batch] = commit
    return found


class CommitWriter:
    """Appends to the commit log of a dataset whose lock is held, and removes what was replaced.

    Args:
        store: The dataset.
        lock: Its lock.
        run: Id of the run.
    """

    def __init__(self, store: Store, lock: Lock, run: str) -> None:
        self._store, self._lock, self.run = store, lock, run
        self._numbers = count()
        self._garbage: list[str] = []
        self._last = max((last for _, last in _ranges(store)), default=0)
        if lock.was_interrupted:
            while not self._put(Commit(self._last + 1, self.new_batch(), (), ())):
                pass

    def new_batch(self) -> str:
        """An id for a batch."""
        return f"{self.run}{next(self._numbers):0{24 - RUN}x}"

    def fill_gaps(self) -> None:
        """Put an empty record in the place of each commit that is missing; its files belong to no batch."""
        for number in _chosen(_ranges(self._store))[1]:
            self._store.put_new(_key(number, number), Commit(number, self.new_batch(), (), ()).to_json().encode())

    def _put(self, commit: Commit) -> bool:
        self._last = commit.number
        return self._store.put_new(_key(commit.number, commit.number), commit.to_json().encode())

    def commit(self, batch: str, replaces: Sequence[Commit], files: tuple[DataFile, ...]) -> Commit:
        """Make a batch part of the dataset, in place of others, whose files are removed at the end.

        Raises:
            TakenError: The lock was lost, or another run has written to the dataset.
        """
        self._lock.check()
        commit = Commit(self._last + 1, batch, tuple(one.batch for one in replaces), files)
        if not self._put(commit):
            raise TakenError(f"another run has written to {self._store.url}; what it and this one committed is there")
        kept = {file.key for file in files}
        self._garbage += [file.key for one in replaces for file in one.files if file.key not in kept]
        size = FOLD
        while commit.number % size == 0:
            size *= FOLD
        if size > FOLD:
            self.fold(size // FOLD)
        return commit

    def fold(self, size: int | None = None) -> None:
        """Unite the last commits to a checkpoint.

        Args:
            size: How many; None for all.
        """
        ranges = _ranges(self._store)
        cover = [one for one in _chosen(ranges)[0] if size is None or one[0] > self._last - size]
        if not cover or (size is not None and len(cover) == 1):
            return
        first = 1 if size is None else cover[0][0]
        every = list(read_commits(self._store, lambda _: False, cover=cover))
        live = {(one.number, one.batch) for one in _live(every).values()}
        lines = [
            replace(one, replaces=()).to_json()
            for one in read_commits(self._store, cover=cover)
            if one.files and (one.number, one.batch) in live
        ]
        before = {batch for one in every for batch in one.replaces} - {one.batch for one in every}
        if first > 1 and before:
            lines.append(Commit(self._last, "", tuple(sorted(before)), ()).to_json())
        self._store.put_new(_key(first, self._last), "\n".join(lines).encode())
        for one in ranges:
            if first <= one[0] and one != (first, self._last):
                self._store.delete(_key(*one))

    def remove_garbage(self) -> None:
        """Remove the files of batches that were replaced."""
        for key in self._garbage:
            self._store.delete(key)
        self._garbage.clear()
