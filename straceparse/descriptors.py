"""File descriptors: which file a descriptor stood for, from the calls that open, duplicate and close.

An Oracle process opens a data file, moves its descriptor to 256 or above with ``fcntl(fd, F_DUPFD, 256)`` and closes
the first one; a log that starts at the attach shows none of this, and only ``-y`` then knows the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.arguments import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENS: Final = frozenset({"open", "openat", "openat2", "creat"})
_DUPLICATES: Final = frozenset({"dup", "dup2", "dup3", "fcntl", "fcntl64"})
_MAKES: Final = frozenset({"clone", "clone2", "clone3", "fork", "vfork"})
#: The calls that say what a descriptor stands for.
DESCRIPTOR_CALLS: Final = _OPENS | _DUPLICATES | _MAKES | {"close"}

#: The largest descriptor and process id; a larger one stands in a damaged line.
_LAST: Final = (1 << 31) - 1
_FIRST_NUMBER = re.compile(r"^(?:[a-z]+=)?([0-9]+)")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')

#: Columns of `files_of`.
FILES: Final = pl.Schema({"_row": pl.UInt32, "pid": pl.Int32, "fd": pl.Int32, "file": pl.String})


def files_of(calls: pl.DataFrame) -> pl.DataFrame:
    """What each descriptor stands for from which call on: one row a change, with the columns `FILES`.

    A child inherits its parent's descriptors; a thread (``CLONE_FILES``) shares them.

    Args:
        calls: with ``_row`` (place of the call), ``pid``, ``name``, ``args`` and ``result``, in order.
    """
    wanted = calls.filter(pl.col("name").is_in(DESCRIPTOR_CALLS) & pl.col("result").is_between(0, _LAST))
    return pl.DataFrame(list(_changes(wanted)), schema=FILES, orient="row")


def _changes(calls: pl.DataFrame) -> Iterator[tuple[int, int | None, int, str | None]]:
    tables: dict[int | None, dict[int, str]] = {}
    sharers: dict[int | None, set[int | None]] = {}
    for row, pid, name, args, result in calls.select("_row", "pid", "name", "args", "result").iter_rows():
        table = tables.setdefault(pid, {})
        if name in _MAKES:
            if result and result != pid:
                if "CLONE_FILES" in args:
                    tables[result] = table
                    group = sharers.setdefault(pid, {pid})
                    group.add(result)
                    sharers[result] = group
                else:
                    tables[result] = dict(table)
                yield from ((row, result, fd, file) for fd, file in table.items())
            continue
        for fd, file in _changed(name, args, result, table):
            if file is None:
                table.pop(fd, None)
            else:
                table[fd] = file
            yield from ((row, owner, fd, file) for owner in sorted(sharers.get(pid, {pid}), key=lambda one: one or 0))


def _changed(name: str, args: str, result: int, table: dict[int, str]) -> Iterator[tuple[int, str | None]]:
    """The descriptors that a call changed, with their files; None for one that was closed."""
    if name in _OPENS:
        if path := _PATH.search(args):
            yield result, unescaped(path.group(1)).decode("utf-8", errors="backslashreplace")
        return
    first = _FIRST_NUMBER.match(args)
    if first is None:
        return
    fd = int(first.group(1))
    if fd > _LAST:
        return
    if name == "close":
        yield fd, None
    elif name.startswith("dup") or "F_DUPFD" in args:
        yield result, table.get(fd)
