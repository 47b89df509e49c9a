"""File descriptors: the file of each descriptor, from the calls that open, duplicate and close descriptors.

An Oracle process opens a data file, moves its descriptor to 256 or above with ``fcntl(fd, F_DUPFD, 256)`` and closes
the original; a log that starts with an attach does not show this, and only ``-y`` then prints the file.  A descriptor
with the close-on-exec flag is closed when the process executes another program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from straceparse.call_table import EXECUTES
from straceparse.ordered import rows_where
from straceparse.records import PARTS_GRAMMAR, unescaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPENS: Final = frozenset({"open", "openat", "openat2", "creat"})
_CONTROLS: Final = frozenset({"fcntl", "fcntl64"})
_DUPLICATES: Final = frozenset({"dup", "dup2", "dup3"}) | _CONTROLS
_MAKES: Final = frozenset({"clone", "clone2", "clone3", "fork", "vfork"})
#: Calls that give a descriptor of no file -> what `-y` prints of it; a socket is known by its first descriptor.
_CHANNELS: Final = {
    **dict.fromkeys(("socket", "accept", "accept4"), "socket:[fd {}]"),
    **dict.fromkeys(("epoll_create", "epoll_create1"), "anon_inode:[eventpoll]"),
    **dict.fromkeys(("eventfd", "eventfd2"), "anon_inode:[eventfd]"),
    **dict.fromkeys(("signalfd", "signalfd4"), "anon_inode:[signalfd]"),
    **dict.fromkeys(("inotify_init", "inotify_init1"), "anon_inode:inotify"),
    "timerfd_create": "anon_inode:[timerfd]",
    "io_uring_setup": "anon_inode:[io_uring]",
    "memfd_create": "/memfd:",
}
#: Calls that give two descriptors, in brackets.
_PAIRS: Final = {"pipe": "pipe:[fd {}]", "pipe2": "pipe:[fd {}]", "socketpair": "socket:[fd {}]"}
#: The calls that change the file of a descriptor.
DESCRIPTOR_CALLS: Final = (
    _OPENS | _DUPLICATES | _MAKES | {"close", "close_range", *EXECUTES} | _CHANNELS.keys() | _PAIRS.keys()
)

#: What a descriptor is of: a regular file, a block or character device, a socket, ...; ``standard``: 0 to 2 that the
#: log does not name, ``unknown``: other such; ``client``, ``database``: by the contents, a client or server of Oracle;
#: ``server``: the server's end of a connection (of calls that receive, and of waits for them).
TARGETS: Final = pl.Enum(
    [
        *("file", "block", "character", "socket", "pipe", "terminal", "event", "kernel", "standard", "client"),
        *("server", "database", "unknown"),
    ]
)
#: Descriptors 0 to 2, where nothing says what they are of.
_LAST_STANDARD: Final = 2
#: Terminal of the grammar -> target.
_TARGETS: Final = {
    "EVENT_FILE": "event",
    "PIPE_FILE": "pipe",
    "CHANNEL": "socket",
    "TERMINAL_FILE": "terminal",
    "CHARACTER_FILE": "character",
    "KERNEL_FILE": "kernel",
}
_NOTES: Final = {"BLOCK_NOTE": "block", "CHARACTER_NOTE": "character"}

#: The largest descriptor and process id; a larger number is a sign of a damaged line.
_LAST: Final = (1 << 31) - 1
#: No number of a system call has more characters.
_DIGITS: Final = 20


class _Flag(NamedTuple):
    """A flag by its name, and by its value in linux/fcntl.h, linux/sched.h or linux/close_range.h (-X raw)."""

    name: str
    value: int


def _flag(terminal: str, value: int) -> _Flag:
    return _Flag(PARTS_GRAMMAR.literal(terminal), value)


_DUPLICATE: Final = (_flag("DUPLICATE_FLAG", 0), _flag("DUPLICATE_CLOEXEC_FLAG", 1030))
_SET_FLAGS: Final = _flag("SET_FLAG", 2)
_FD_CLOEXEC: Final = _flag("FD_CLOEXEC_FLAG", 1)
_OPEN_CLOEXEC: Final = _flag("OPEN_CLOEXEC_FLAG", 0o2000000)
#: Its value on x86, Arm, Power and z have others.
_DIRECT: Final = _flag("DIRECT_FLAG", 0o40000)
_SYNC: Final = (_flag("SYNC_FLAG", 0o4010000), _flag("DSYNC_FLAG", 0o10000))
_SHARE_FILES: Final = _flag("SHARE_FILES_FLAG", 0x400)
_THREAD: Final = _flag("THREAD_FLAG", 0x10000)
_RANGE_CLOEXEC: Final = _flag("RANGE_CLOEXEC_FLAG", 4)
#: Call -> position of its flags among the arguments; those of clone3 and openat2 are named.
_FLAGS_AT: Final = {"open": 1, "openat": 2, "openat2": 2, "dup3": 2, "close_range": 2, "clone": 0, "clone2": 0}

_INTEGER = re.compile(PARTS_GRAMMAR.pattern("^{ARGUMENT_NAME}?(?P<number>{INTEGER})"))
_PATH = re.compile(PARTS_GRAMMAR.pattern("{STRING}"))
#: Strings, and paths after descriptors, in which anything may stand.
_OPAQUE = re.compile(PARTS_GRAMMAR.pattern("{STRING}|{DECORATION}"))
_NAMED_FLAGS = re.compile(PARTS_GRAMMAR.pattern("{FLAGS_NAME}(?P<flags>{FLAG_SET})"))
_COMMA: Final = PARTS_GRAMMAR.literal("COMMA")
_BRACKET: Final = PARTS_GRAMMAR.literal("BRACKET")
_TWO: Final = 2
_HEXADECIMAL: Final = PARTS_GRAMMAR.literal("HEXADECIMAL_MARK")
_WORDS = re.compile(PARTS_GRAMMAR.pattern("{FLAG}"))

#: Columns of the changes of descriptors.
FILES: Final = pl.Schema({"_row": pl.UInt32, "pid": pl.Int32, "fd": pl.Int32, "file": pl.String})


#: What lsof and ls print of a descriptor.
_FD_FOLDER: Final = re.compile(PARTS_GRAMMAR.pattern("{PROC_FOLDER}(?P<pid>{PID_DIGITS}){FD_FOLDER}"))
_LSOF_LINE: Final = re.compile(
    PARTS_GRAMMAR.pattern(
        "^{LSOF_COMMAND}(?P<pid>{PID_DIGITS}){LSOF_USER}(?P<fd>{PID_DIGITS}){LSOF_KIND}{LISTED_BLANK}(?P<path>{LISTED_PATH})$"
    )
)
_LS_LINE: Final = re.compile(
    PARTS_GRAMMAR.pattern("^{LS_BEFORE}(?P<fd>{PID_DIGITS}){LS_ARROW}(?P<path>{LISTED_PATH})$")
)
#: Columns of `opens`.
OPENS: Final = pl.Schema(
    {
        "line": pl.UInt32,
        "pid": pl.Int32,
        "file": pl.String,
        "fd": pl.Int64,
        "has_o_direct": pl.Boolean,
        "has_o_sync": pl.Boolean,
    }
)


def opens(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls that opened a file, one row each, in order.

    Args:
        calls: of `straceparse.calls`.

    Returns:
        The columns `OPENS`: ``file`` as `io_requests` names it, null where the log does not print it; ``fd`` is the
        result; ``has_o_direct``: whether the flags of the call hold O_DIRECT; ``has_o_sync``: O_SYNC or O_DSYNC, so
        that a write ends when its data is on the device.

    Examples:
        >>> from straceparse import calls, opens, read_strace
        >>> opens(calls(read_strace(b'open("a.dbf", O_RDWR|O_DIRECT) = 7'))).row(0)
        (1, None, 'a.dbf', 7, True, False)
    """
    found = calls.filter(pl.col("name").is_in(_OPENS) & (pl.col("result") >= 0))
    rows = [
        (line, pid, _path_in(args), fd, _has(_DIRECT, name, args), any(_has(flag, name, args) for flag in _SYNC))
        for line, pid, name, args, fd in found.select("line", "pid", "name", "args", "result").iter_rows()
    ]
    return pl.DataFrame(rows, schema=OPENS, orient="row")


def children_of(calls: pl.DataFrame) -> dict[int, int | None]:
    """Each process that a call made, and the process that made the call."""
    made = rows_where(calls, pl.col("name").is_in(_MAKES) & (pl.col("result") > 0))
    return {child: pid for pid, child in made.select("pid", "result").iter_rows() if child <= _LAST and child != pid}


def threads_of(calls: pl.DataFrame) -> set[int]:
    """The children of a process that are threads of it."""
    made = rows_where(calls, pl.col("name").is_in(_MAKES) & (pl.col("result") > 0))
    return {
        child for name, args, child in made.select("name", "args", "result").iter_rows() if _has(_THREAD, name, args)
    }


def programs_of(calls: pl.DataFrame) -> dict[int | None, str]:
    """The program that each process executed last."""
    found = rows_where(calls, pl.col("name").is_in(EXECUTES) & (pl.col("result") == 0))
    named = {pid: _path_in(args) for pid, args in found.select("pid", "args").iter_rows()}
    return {pid: path for pid, path in named.items() if path}


def listed_files(lines: Iterable[str], *, has_pids: bool) -> pl.DataFrame:
    """The files of descriptors that lsof, or ``ls -l /proc/PID/fd``, listed above the calls (`FILES`).

    Args:
        lines: the first ones of a log.
        has_pids: its calls have the numbers of their processes.

    Examples:
        >>> lines = ["oracle_18 18844 oracle  268u   REG  253,9 32212262912  1572874 /u07/b.dbf",
        ...     "$ ls -l /proc/4711/fd", "lrwx------ 1 oracle dba 64 Nov 20 10:00 257 -> /u01/a.dbf"]
        >>> listed_files(lines, has_pids=True).rows()
        [(0, 18844, 268, '/u07/b.dbf'), (0, 4711, 257, '/u01/a.dbf')]
    """
    found, pid = dict[tuple[int | None, int], str](), None
    for line in lines:
        if (folder := _FD_FOLDER.search(line)) is not None:
            pid = int(folder["pid"])
        if (row := _LSOF_LINE.search(line) or _LS_LINE.search(line)) is not None:
            own = int(row["pid"]) if "pid" in row.groupdict() else pid
            found[own if has_pids else None, int(row["fd"])] = row["path"]
    return pl.DataFrame([(0, *key, path) for key, path in found.items()], schema=FILES, orient="row")


class Files:
    """The files of descriptors, batch by batch.

    A child inherits its parent's descriptors; a thread (``CLONE_FILES``) shares them.

    Args:
        listed: what is known before the first call (`listed_files`).
    """

    def __init__(self, listed: pl.DataFrame | None = None) -> None:
        self._known = pl.DataFrame(schema=FILES) if listed is None else listed
        self._tables: dict[int | None, _Table] = {}
        for pid, fd, file in self._known.select("pid", "fd", "file").iter_rows():
            self._tables.setdefault(pid, _Table()).put(fd, file)
        self._sharers: dict[int | None, set[int | None]] = {}

    def changes(self, calls: pl.DataFrame) -> pl.DataFrame:
        """What is known of the descriptors before the next calls, and their changes, one row each (`FILES`).

        Args:
            calls: the next ones in order, with ``_row`` (their position), ``pid``, ``name``, ``args`` and ``result``.
        """
        wanted = calls.filter(pl.col("name").is_in(DESCRIPTOR_CALLS) & pl.col("result").is_between(0, _LAST))
        if wanted.is_empty():
            return self._known
        changes = pl.DataFrame(list(_changes(wanted, self._tables, self._sharers)), schema=FILES, orient="row")
        known = pl.concat([self._known, changes])
        self._known = known.unique(["pid", "fd"], keep="last", maintain_order=True)
        return known


def with_known_files(requests: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """The requests, with the files that are known of their descriptors.

    Args:
        requests: with ``_turn``, ``_owner``, ``fd``, ``file`` and, where they have two files, ``fd_out``, ``file_out``.
        known: what `Files.changes` gives, in the same turns.
    """
    known = known.select(
        pl.col("_row").alias("_turn"), pl.col("pid").fill_null(-1).alias("_key"), "fd", pl.col("file").alias("_file")
    ).sort("_turn", maintain_order=True)
    wanted = requests.with_columns(pl.col("_owner").fill_null(-1).alias("_key")).with_row_index("_order").sort("_turn")
    for fd, file in (("fd", "file"), ("fd_out", "file_out")):
        if fd in wanted.columns and wanted.get_column(fd).null_count() < wanted.height:
            wanted = wanted.with_columns(pl.col(fd).cast(pl.Int32, strict=False))
            found = wanted.join_asof(
                known.rename({"fd": fd}, strict=False), on="_turn", by=["_key", fd], check_sortedness=False
            )
            wanted = found.with_columns(pl.coalesce(file, "_file").alias(file)).drop("_file")
    return wanted.sort("_order").drop("_order", "_key")


def is_channel(path: pl.Expr) -> pl.Expr:
    """Whether the path of a descriptor (``-yy``) is a socket or a pipe."""
    return path.str.contains(PARTS_GRAMMAR.pattern("^{CHANNEL}"))


def target_of(file: pl.Expr, fd: pl.Expr) -> pl.Expr:
    """What a descriptor is of (`TARGETS`), from what `-y` prints, or the call that made it; else from its number.

    Examples:
        >>> frame = pl.DataFrame({"file": ["/u01/a.dbf", "TCP:[1.2.3.4:1521->1.2.3.5:9]", "/proc/7/stat", None, None,
        ...     "/dev/sdb<block 8:16>", "(null):[8-", "{eventfd-count=0x1, eventfd-id=1}"],
        ...     "fd": [3, 4, 5, 1, 9, 6, 7, 8]})
        >>> frame.select(target_of(pl.col("file"), pl.col("fd"))).to_series().to_list()
        ['file', 'socket', 'kernel', 'standard', 'unknown', 'block', 'socket', 'event']
    """
    text = file.cast(pl.String)
    said = [
        *(pl.when(PARTS_GRAMMAR.matches(text, f"^{{{one}}}")).then(pl.lit(kind)) for one, kind in _TARGETS.items()),
        *(pl.when(PARTS_GRAMMAR.matches(text, f"{{{one}}}$")).then(pl.lit(kind)) for one, kind in _NOTES.items()),
    ]
    number = pl.when(fd.is_between(0, _LAST_STANDARD)).then(pl.lit("standard")).otherwise(pl.lit("unknown"))
    return pl.coalesce(*said, pl.when(file.is_not_null()).then(pl.lit("file")), number).cast(TARGETS).alias("target")


def without_note(file: pl.Expr) -> pl.Expr:
    """The name of a file, without the kind and number that `-yy` adds to that of a device.

    Examples:
        >>> pl.select(without_note(pl.lit("/dev/sdb<block 8:16>"))).item()
        '/dev/sdb'
    """
    return file.str.replace(PARTS_GRAMMAR.pattern("(?:{BLOCK_NOTE}|{CHARACTER_NOTE})$"), "")


def is_server_end(file: pl.Expr) -> pl.Expr:
    """Whether a socket is a server's end of a connection, as far as `-yy` tells: null or false where it does not."""
    return PARTS_GRAMMAR.matches(file.cast(pl.String), "^{SERVER_END}$").fill_null(value=False)


def is_system_file(path: pl.Expr) -> pl.Expr:
    """Whether a path is of the kernel's file systems, a device without data, or a raw device."""
    return path.str.contains(PARTS_GRAMMAR.pattern("^{SYSTEM_FILE}"))


def is_library(path: pl.Expr) -> pl.Expr:
    """Whether a path is of a shared library, or of what the loader reads beside them."""
    return path.str.contains(PARTS_GRAMMAR.pattern("{LIBRARY_FILE}"))


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


def _changes(
    calls: pl.DataFrame, tables: dict[int | None, _Table], sharers: dict[int | None, set[int | None]]
) -> Iterator[tuple[int, int | None, int, str | None]]:
    for row, pid, name, args, result in calls.select("_row", "pid", "name", "args", "result").iter_rows():
        table = tables.setdefault(pid, _Table())
        if name in _MAKES:
            if result and result != pid:
                if _has(_SHARE_FILES, name, args):
                    tables[result] = table
                    group = sharers.setdefault(pid, {pid})
                    group.add(result)
                    sharers[result] = group
                else:
                    tables[result] = table.copy()
                yield from ((row, result, fd, file) for fd, file in table.files.items())
            continue
        for fd, file in _changed(name, args, result, table):
            table.put(fd, file, closes_on_exec=_closes_on_exec(name, args))
            yield from ((row, owner, fd, file) for owner in sorted(sharers.get(pid, {pid}), key=lambda one: one or 0))


def _closes_on_exec(name: str, args: str) -> bool:
    """Whether the descriptor that a call makes is closed by execve."""
    return _is(_DUPLICATE[1], args) if name in _CONTROLS else _has(_OPEN_CLOEXEC, name, args)


def _changed(name: str, args: str, result: int, table: _Table) -> list[tuple[int, str | None]]:
    """The descriptors that a call changed, with their files; None for a closed one."""
    if name in _OPENS:
        return [(result, _path_in(args))]
    if name in _CHANNELS:
        return [(result, _CHANNELS[name].format(result))]
    if name in EXECUTES:
        return [(fd, None) for fd in sorted(table.closed_on_exec)]
    if name in _PAIRS:
        return [(fd, _PAIRS[name].format(both[0])) for both in [_pair(args)] if len(both) == _TWO for fd in both]
    numbers = [_integer(argument) for argument in _arguments(args)]
    fd = numbers[0]
    if fd is None or not 0 <= fd <= _LAST:
        return []
    if name == "close_range":
        return _closed_range(fd, numbers[1] if len(numbers) > 1 else None, args, table)
    if name == "close":
        return [(fd, None)]
    if name not in _CONTROLS or any(_is(flag, args) for flag in _DUPLICATE):
        return [(result, table.files.get(fd))]
    if _is(_SET_FLAGS, args):
        arguments = _arguments(args)
        is_set = len(arguments) > 2 and _in(_FD_CLOEXEC, arguments[2])
        (table.closed_on_exec.add if is_set else table.closed_on_exec.discard)(fd)
    return []


def _pair(args: str) -> list[int]:
    """The descriptors in brackets."""
    found = [_integer(one) for one in _OPAQUE.sub("", args).rpartition(_BRACKET)[2].split(_COMMA)]
    return [fd for fd in found[:_TWO] if fd is not None and 0 <= fd <= _LAST]


def _closed_range(first: int, last: int | None, args: str, table: _Table) -> list[tuple[int, str | None]]:
    """The descriptors that ``close_range`` closed; with ``CLOSE_RANGE_CLOEXEC`` it only sets their flag."""
    if last is None:
        return []
    inside = [fd for fd in table.files if first <= fd <= last]
    if _has(_RANGE_CLOEXEC, "close_range", args):
        table.closed_on_exec.update(inside)
        return []
    return [(fd, None) for fd in inside]


def _path_in(args: str) -> str | None:
    """The first string of the arguments, as text."""
    path = _PATH.search(args)
    return None if path is None else unescaped(path.group()[1:-1]).decode("utf-8", errors="backslashreplace")


def _arguments(args: str) -> list[str]:
    """The arguments of a call, without its strings and paths."""
    return _OPAQUE.sub("", args).split(_COMMA)


def _integer(argument: str) -> int | None:
    """The number that an argument starts with."""
    found = _INTEGER.match(argument)
    if found is None or len(found["number"]) > _DIGITS:
        return None
    return int(found["number"], 16 if found["number"].startswith(_HEXADECIMAL) else 10)


def _in(flag: _Flag, argument: str) -> bool:
    """Whether a set of flags has the flag, by name or by value."""
    words = _WORDS.findall(argument)
    number = None if words else _integer(argument)
    return flag.name in words or (number is not None and number & flag.value != 0)


def _is(flag: _Flag, args: str) -> bool:
    """Whether the second argument (the command of fcntl) is this one, by name or by value."""
    arguments = _arguments(args)
    words = _WORDS.findall(arguments[1]) if len(arguments) > 1 else []
    return flag.name in words if words else len(arguments) > 1 and _integer(arguments[1]) == flag.value


def _has(flag: _Flag, name: str, args: str) -> bool:
    """Whether the flags of a call have the flag."""
    if named := _NAMED_FLAGS.search(_OPAQUE.sub("", args)):
        return _in(flag, named["flags"])
    arguments = _arguments(args)
    place = _FLAGS_AT.get(name)
    return place is not None and place < len(arguments) and _in(flag, arguments[place])
