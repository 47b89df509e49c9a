"""File descriptors: the file of each descriptor, from the calls that open, duplicate and close descriptors.

An Oracle process opens a data file, moves its descriptor to 256 or above with ``fcntl(fd, F_DUPFD, 256)`` and closes
the original; a log that starts with an attach does not show this, and only ``-y`` then prints the file.  A descriptor
with the close-on-exec flag is closed when the process executes another program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.arguments import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENS: Final = frozenset({"open", "openat", "openat2", "creat"})
_DUPLICATES: Final = frozenset({"dup", "dup2", "dup3", "fcntl", "fcntl64"})
_MAKES: Final = frozenset({"clone", "clone2", "clone3", "fork", "vfork"})
#: The calls that change the file of a descriptor.
DESCRIPTOR_CALLS: Final = _OPENS | _DUPLICATES | _MAKES | {"close", "close_range", "execve", "execveat"}

#: The largest descriptor and process id; a larger number is a sign of a damaged line.
_LAST: Final = (1 << 31) - 1
_FIRST_NUMBER = re.compile(r"^(?:[a-z]+=)?([0-9]{1,19})(?![0-9])")
_RANGE = re.compile(r"^(?:first=)?([0-9]{1,19}), (?:last=)?([0-9]{1,19})(?![0-9])")
_CLOSES_ON_EXEC = re.compile("O_CLOEXEC|F_DUPFD_CLOEXEC")
_DUPLICATES_FD = re.compile("F_DUPFD(?!_QUERY)")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')

#: Columns of `files_of`.
FILES: Final = pl.Schema({"_row": pl.UInt32, "pid": pl.Int32, "fd": pl.Int32, "file": pl.String})


def files_of(calls: pl.DataFrame) -> pl.DataFrame:
    """The changes of descriptors, one row per change, with the columns `FILES`.

    A child inherits its parent's descriptors; a thread (``CLONE_FILES``) shares them.

    Args:
        calls: with ``_row`` (position of the call), ``pid``, ``name``, ``args`` and ``result``, in order.
    """
    wanted = calls.filter(pl.col("name").is_in(DESCRIPTOR_CALLS) & pl.col("result").is_between(0, _LAST))
    return pl.DataFrame(list(_changes(wanted)), schema=FILES, orient="row")


@dataclass(frozen=True, slots=True)
class _Table:
    """The descriptors of a process and its threads: their files, and those that an execve closes."""

    files: dict[int, str] = field(default_factory=dict)
    closed_on_exec: set[int] = field(default_factory=set)

    def copy(self) -> _Table:
        """A copy, as a child inherits it."""
        return _Table(dict(self.files), set(self.closed_on_exec))

    def put(self, fd: int, file: str | None, *, closes_on_exec: bool = False) -> None:
        """Set the file of a descriptor; None closes it."""
        self.closed_on_exec.discard(fd)
        if file is None:
            self.files.pop(fd, None)
            return
        self.files[fd] = file
        if closes_on_exec:
            self.closed_on_exec.add(fd)


def _changes(calls: pl.DataFrame) -> Iterator[tuple[int, int | None, int, str | None]]:
    tables: dict[int | None, _Table] = {}
    sharers: dict[int | None, set[int | None]] = {}
    for row, pid, name, args, result in calls.select("_row", "pid", "name", "args", "result").iter_rows():
        table = tables.setdefault(pid, _Table())
        if name in _MAKES:
            if result and result != pid:
                if "CLONE_FILES" in args:
                    tables[result] = table
                    group = sharers.setdefault(pid, {pid})
                    group.add(result)
                    sharers[result] = group
                else:
                    tables[result] = table.copy()
                yield from ((row, result, fd, file) for fd, file in table.files.items())
            continue
        for fd, file in _changed(name, args, result, table):
            table.put(fd, file, closes_on_exec=_CLOSES_ON_EXEC.search(args) is not None)
            yield from ((row, owner, fd, file) for owner in sorted(sharers.get(pid, {pid}), key=lambda one: one or 0))


def _changed(name: str, args: str, result: int, table: _Table) -> list[tuple[int, str | None]]:
    """The descriptors that a call changed, with their files; None for a closed one."""
    if name in _OPENS:
        path = _PATH.search(args)
        return [(result, unescaped(path.group(1)).decode("utf-8", errors="backslashreplace") if path else None)]
    if name.startswith("execve"):
        return [(fd, None) for fd in sorted(table.closed_on_exec)]
    if name == "close_range":
        return _closed_range(args, table)
    first = _FIRST_NUMBER.match(args)
    if first is None or (fd := int(first.group(1))) > _LAST:
        return []
    if name == "close":
        return [(fd, None)]
    if name.startswith("dup") or _DUPLICATES_FD.search(args):
        return [(result, table.files.get(fd))]
    if "F_SETFD" in args:
        change = table.closed_on_exec.add if "FD_CLOEXEC" in args else table.closed_on_exec.discard
        change(fd)
    return []


def _closed_range(args: str, table: _Table) -> list[tuple[int, str | None]]:
    """The descriptors that ``close_range`` closed; with ``CLOSE_RANGE_CLOEXEC`` it only sets their flag."""
    found = _RANGE.match(args)
    if found is None:
        return []
    first, last = map(int, found.groups())
    inside = [fd for fd in table.files if first <= fd <= last]
    if "CLOSE_RANGE_CLOEXEC" in args:
        table.closed_on_exec.update(inside)
        return []
    return [(fd, None) for fd in inside]
