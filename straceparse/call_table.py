"""The system calls that do I/O: what each does, where its arguments stand, and how its requests end.

One table, from which requests, sizes, metrics, findings and charts are derived: another call is one row here.  A call
has one name across the versions of strace and the personalities of a process.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from straceparse.records import PARTS_GRAMMAR

if TYPE_CHECKING:
    import polars as pl


Direction = Literal["read", "write", "sync", "copy", "readahead"]


class IoCall(NamedTuple):
    """A system call that does I/O; positions of arguments count from 0, and are None where it has no such argument.

    Attributes:
        direction: from a file (``read``), to it (``write``), to its device (``sync``), from one descriptor to another
            (``copy``), or into the page cache (``readahead``); None of a call that carries requests of any kind.
        kind: ``synchronous``: the call is the request; ``submit`` and ``reap``: it carries asynchronous requests;
            ``hidden``: its requests are in memory that strace does not see.
        fd: position of the descriptor; of a copy that is read.
        size: position of the number of bytes.
        offset: position of the place in the file.
        fd_out: position of the descriptor that a copy is written to.
        buffers: position of a list of buffers, whose lengths add up to the size.
        is_at_end: size and offset are the last arguments, after a buffer of any text.
        is_of_file: only files and devices can be read or written so: a socket has no place to begin at.
    """

    direction: Direction | None
    kind: Literal["synchronous", "submit", "reap", "hidden"] = "synchronous"
    fd: int | None = 0
    size: int | None = None
    offset: int | None = None
    fd_out: int | None = None
    buffers: int | None = None
    is_at_end: bool = False
    is_of_file: bool = False


#: System call -> what it does.  Source: the pages of section 2 of the Linux manual.
IO_CALLS: Final[dict[str, IoCall]] = {
    "read": IoCall("read", size=2, is_at_end=True),
    "pread64": IoCall("read", size=2, offset=3, is_at_end=True, is_of_file=True),
    "readv": IoCall("read", buffers=1),
    "preadv": IoCall("read", buffers=1, offset=3, is_of_file=True),
    "preadv2": IoCall("read", buffers=1, offset=3, is_of_file=True),
    "write": IoCall("write", size=2, is_at_end=True),
    "pwrite64": IoCall("write", size=2, offset=3, is_at_end=True, is_of_file=True),
    "writev": IoCall("write", buffers=1),
    "pwritev": IoCall("write", buffers=1, offset=3, is_of_file=True),
    "pwritev2": IoCall("write", buffers=1, offset=3, is_of_file=True),
    "fsync": IoCall("sync", is_of_file=True),
    "fdatasync": IoCall("sync", is_of_file=True),
    "sync_file_range": IoCall("sync", offset=1, size=2, is_of_file=True),
    "syncfs": IoCall("sync", is_of_file=True),
    "sync": IoCall("sync", fd=None),
    "msync": IoCall("sync", fd=None, size=1),
    "sendfile": IoCall("copy", fd=1, offset=2, size=3, fd_out=0),
    "sendfile64": IoCall("copy", fd=1, offset=2, size=3, fd_out=0),
    "copy_file_range": IoCall("copy", offset=1, fd_out=2, size=4),
    "splice": IoCall("copy", offset=1, fd_out=2, size=4),
    "tee": IoCall("copy", fd_out=1, size=2),
    "readahead": IoCall("readahead", offset=1, size=2, is_of_file=True),
    "io_submit": IoCall(None, "submit", fd=None),
    "io_getevents": IoCall(None, "reap", fd=None),
    "io_pgetevents": IoCall(None, "reap", fd=None),
    "io_uring_enter": IoCall(None, "hidden", fd=0),
}


def calls_of(*directions: str) -> tuple[str, ...]:
    """The synchronous calls of some directions.

    Examples:
        >>> calls_of("read")
        ('read', 'pread64', 'readv', 'preadv', 'preadv2')
    """
    return tuple(name for name, call in IO_CALLS.items() if call.direction in directions)


def calls_that(kind: str) -> tuple[str, ...]:
    """The calls of a kind.

    Examples:
        >>> calls_that("reap"), calls_that("hidden")
        (('io_getevents', 'io_pgetevents'), ('io_uring_enter',))
    """
    return tuple(name for name, call in IO_CALLS.items() if call.kind == kind)


#: Operations of control blocks by name -> operation; any other is `other`.
OPERATIONS: Final[dict[object, str]] = {
    **dict.fromkeys(("pread", "preadv", "IOCB_CMD_PREAD", "IOCB_CMD_PREADV"), "read"),
    **dict.fromkeys(("pwrite", "pwritev", "IOCB_CMD_PWRITE", "IOCB_CMD_PWRITEV"), "write"),
    **dict.fromkeys(("fsync", "fdsync", "IOCB_CMD_FSYNC", "IOCB_CMD_FDSYNC"), "sync"),
    **dict.fromkeys(("poll", "IOCB_CMD_POLL"), "poll"),
}
#: Synchronous calls -> direction.
SYNC_CALLS: Final = {name: call.direction for name, call in IO_CALLS.items() if call.direction is not None}
READS: Final = calls_of("read")
WRITES: Final = calls_of("write")
SYNCS: Final = calls_of("sync")
#: Calls whose result is a number of bytes that were moved.
MOVES: Final = calls_of("read", "write", "copy")
#: Calls with a list of buffers.
VECTORED: Final = tuple(name for name, call in IO_CALLS.items() if call.buffers is not None)
#: Other calls whose arguments are parsed one by one.
PLACED: Final = tuple(
    name for name, call in IO_CALLS.items() if not call.is_at_end and call.buffers is None and call.size is not None
)
SUBMITS: Final = calls_that("submit")
REAPS: Final = calls_that("reap")
HIDDEN: Final = calls_that("hidden")
#: Calls with a list of control blocks or events.
SUBMITS_OR_REAPS: Final = (*SUBMITS, *REAPS)
#: Calls that carry asynchronous requests.
ASYNC_CALLS: Final = (*SUBMITS, *REAPS, *HIDDEN)


#: Name printed by strace 4.10 and earlier -> name since 4.11.
ALIASES: Final = {"pread": "pread64", "pwrite": "pwrite64"}
#: Calls that execute another program.
EXECUTES: Final = ("execve", "execveat")


@cache
def canonical_name(syscall: str | None) -> str | None:
    """One name for a system call across versions and personalities.

    Examples:
        >>> [canonical_name(name) for name in ("pread", "readv#64", "64:pwrite", "io_submit")]
        ['pread64', 'readv', 'pwrite64', 'io_submit']
    """
    if syscall is None:
        return None
    name = _personality().sub("", syscall)
    return ALIASES.get(name, name)


@cache
def _personality() -> re.Pattern[str]:
    """What the personality of a process adds to a name."""
    return re.compile(PARTS_GRAMMAR.pattern("^{PERSONALITY}|{PERSONALITY_SUFFIX}$"))


def renamed(names: pl.Series) -> pl.Series:
    """Canonical names of names without a personality suffix."""
    is_old = names.is_in(list(ALIASES))
    return names.replace(ALIASES) if is_old.any() else names
