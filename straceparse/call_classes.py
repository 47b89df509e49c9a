"""Classes of system calls: what a call does, and whether its time is I/O, a wait, idle or the kernel's own.

One table of names, beside `straceparse.requests.SYNC_CALLS` with the calls that read and write; of those the target
decides, as a read of a socket is a wait for its other end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import polars as pl

from straceparse.call_table import EXECUTES, HIDDEN, IO_CALLS, READS, REAPS, SUBMITS, SYNC_CALLS, WRITES
from straceparse.descriptors import DESCRIPTOR_CALLS, TARGETS
from straceparse.records import PARTS_GRAMMAR
from straceparse.restarts import RESUMES


class CallClass(NamedTuple):
    """A class of calls.

    Attributes:
        name: what it is called.
        kind: ``io``, ``wait``, ``client``, ``idle``, ``cpu`` or ``mixed``.
        step: of asynchronous I/O: ``submit``, ``reap`` or ``contexts``.
    """

    name: str
    kind: str
    step: str | None = None


ASYNCHRONOUS: Final = "asynchronous I/O"
READY: Final = "waits for descriptors"
#: A poll or select without a descriptor has this instead of its file.
NOTHING: Final = "(no descriptor)"
#: Calls that wait until a descriptor is ready.
READY_CALLS: Final = (
    *("poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64"),
    *("epoll_wait", "epoll_pwait", "epoll_pwait2"),
)
#: Calls that receive from sockets alone, and all calls of sockets.
RECEIVES: Final = ("recv", "recvfrom", "recvmsg", "recvmmsg")
SOCKET_CALLS: Final = (*RECEIVES, "send", "sendto", "sendmsg", "sendmmsg", "accept", "accept4", "connect")
#: A call of fcntl that waits for the lock of a file, by this name, and the class of such calls.
LOCKS_FILE: Final = "fcntl F_SETLKW"
FILE_LOCKS: Final = "locks of files"
#: Calls in which processes of Oracle sleep until they are posted: one that has no work is idle there.
POSTS: Final = ("semtimedop", "semop")
#: Calls that a program makes without the kernel where the clock source allows it.
CLOCKS: Final = ("clock_gettime", "clock_gettime64", "gettimeofday", "time")
#: A call of flock that waits for nothing.
_UNLOCKS: Final = "flock LOCK_UN"
_FCNTL: Final = ("fcntl", "fcntl64")
_OTHER: Final = CallClass("other calls", "mixed")
_SLEEP: Final = CallClass("sleep", "idle")
_FILES: Final = CallClass("file names and attributes", "mixed")

_BY_OP: Final = {
    "read": CallClass("file reads", "io"),
    "write": CallClass("file writes", "io"),
    "sync": CallClass("file flushes", "io"),
    "copy": CallClass("file copies", "io"),
    "readahead": CallClass("allocation and hints", "io"),
}
#: Reads and writes of what is no file.
_BY_TARGET: Final = {
    "socket": CallClass("sockets", "wait"),
    "pipe": CallClass("pipes", "wait"),
    "terminal": CallClass("terminal", "wait"),
    "event": CallClass("event descriptors", "wait"),
    "character": CallClass("character devices", "mixed"),
    "kernel": CallClass("/proc, /sys and files in memory", "cpu"),
    "standard": CallClass("standard input and output", "mixed"),
    "client": CallClass("likely the client (Oracle Net)", "client"),
    "server": CallClass("the client", "client"),
    "database": CallClass("the database server", "wait"),
    "unknown": CallClass("reads and writes, file not known", "mixed"),
}
_CLASSES: Final[dict[str, CallClass]] = {
    **dict.fromkeys(DESCRIPTOR_CALLS, _FILES),
    **dict.fromkeys(
        (
            *("stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "newfstatat", "fstatat64", "statx", "statfs"),
            *("statfs64", "fstatfs", "fstatfs64", "access", "faccessat", "faccessat2", "readlink", "readlinkat"),
            *("getdents", "getdents64", "getcwd", "chdir", "fchdir", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat"),
            *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "chmod", "fchmod"),
            *("fchmodat", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat", "futimesat"),
            *("mknod", "mknodat", "getxattr", "lgetxattr", "fgetxattr", "setxattr", "listxattr", "umask", "lseek"),
            *("_llseek", "name_to_handle_at", "open_by_handle_at"),
        ),
        _FILES,
    ),
    **{name: _BY_OP[op] for name, op in SYNC_CALLS.items()},
    **dict.fromkeys(
        ("fadvise64", "fadvise64_64", "posix_fadvise", "fallocate", "ftruncate", "ftruncate64", "truncate"),
        _BY_OP["readahead"],
    ),
    **dict.fromkeys(SUBMITS, CallClass(ASYNCHRONOUS, "io", "submit")),
    **dict.fromkeys(REAPS, CallClass(ASYNCHRONOUS, "wait", "reap")),
    **dict.fromkeys(
        ("io_setup", "io_destroy", "io_cancel", "io_uring_setup", "io_uring_register"),
        CallClass(ASYNCHRONOUS, "mixed", "contexts"),
    ),
    **dict.fromkeys(HIDDEN, CallClass(ASYNCHRONOUS, "mixed", "submit and reap")),
    **dict.fromkeys((*SOCKET_CALLS, "socket", "socketpair", "bind", "listen", "shutdown"), _BY_TARGET["socket"]),
    **dict.fromkeys(("getsockopt", "setsockopt", "getsockname", "getpeername", "socketcall"), _BY_TARGET["socket"]),
    **dict.fromkeys(("pipe", "pipe2"), _BY_TARGET["pipe"]),
    **dict.fromkeys(("eventfd", "eventfd2", "timerfd_create", "timerfd_settime"), _BY_TARGET["event"]),
    **dict.fromkeys(("epoll_create", "epoll_create1", "epoll_ctl"), _BY_TARGET["event"]),
    **dict.fromkeys(READY_CALLS, CallClass(READY, "wait")),
    **dict.fromkeys(
        (
            "futex",
            "futex_time64",
            "futex_waitv",
            "semop",
            "semtimedop",
            "semtimedop_time64",
            "msgrcv",
            "msgsnd",
        ),
        CallClass("locks and messages", "wait"),
    ),
    _UNLOCKS: _FILES,
    **dict.fromkeys(("flock", LOCKS_FILE), CallClass(FILE_LOCKS, "wait")),
    **dict.fromkeys(
        (
            *("nanosleep", "clock_nanosleep", "clock_nanosleep_time64", "pause", "rt_sigsuspend", "sigsuspend"),
            *("rt_sigtimedwait", "rt_sigtimedwait_time64"),
        ),
        _SLEEP,
    ),
    **dict.fromkeys(CLOCKS, CallClass("reads of the clock", "cpu")),
    **dict.fromkeys(("wait4", "waitid", "waitpid"), CallClass("child processes", "idle")),
    RESUMES: CallClass("restarted waits", "idle"),
    **dict.fromkeys(
        (
            *("mmap", "mmap2", "munmap", "mprotect", "pkey_mprotect", "mremap", "madvise", "process_madvise", "brk"),
            *("mincore", "mlock", "mlock2", "mlockall", "munlock", "munlockall", "membarrier", "mbind"),
            *("set_mempolicy", "get_mempolicy", "migrate_pages", "move_pages", "shmat", "shmdt", "shmget", "shmctl"),
        ),
        CallClass("memory", "mixed"),
    ),
    **dict.fromkeys(
        (
            *("clone", "clone2", "clone3", "fork", "vfork", *EXECUTES, "exit", "exit_group"),
            *("set_tid_address", "arch_prctl", "kill", "tkill", "tgkill"),
        ),
        CallClass("processes", "mixed"),
    ),
}
#: Waits without a descriptor of their own.
_WAITS: Final = tuple(
    name for name, one in _CLASSES.items() if one.kind in {"wait", "idle"} and name not in {*SOCKET_CALLS, *REAPS}
)
#: Calls whose first argument is a descriptor, and says what their time is of.
TARGETED_CALLS: Final = (
    *(name for name in SYNC_CALLS if IO_CALLS[name].fd is not None),
    *(*SOCKET_CALLS, "flock", LOCKS_FILE),
)
#: Those of them that only a file can be read or written by: the others are of what their descriptor is.
_SEEKABLE: Final = tuple(name for name, call in IO_CALLS.items() if call.is_of_file)


def class_of(name: str) -> CallClass:
    """The class of a call whose descriptor is of a file, or that has none.

    Examples:
        >>> class_of("pread64").name, class_of("io_getevents").step, class_of("no_such_call").name
        ('file reads', 'reap', 'other calls')
    """
    return _CLASSES.get(name, _OTHER)


def resumed(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls, the ``name`` of a ``restart_syscall`` that of the wait that it resumes, where the log says it.

    What has a descriptor is not known then: those keep their name.  A `fcntl` that waits for a lock is `LOCKS_FILE`,
    and a `flock` that gives one back has a name of its own, too.

    Examples:
        >>> args = ["<... resuming interrupted poll ...>", "<... resuming interrupted read ...>"]
        >>> resumed(pl.DataFrame({"name": RESUMES, "args": args})).get_column("name").to_list()
        ['poll', 'restart_syscall']
        >>> args = ["4</a>, F_SETLKW, {l_type=F_WRLCK}", "4</a>, F_GETFL"]
        >>> resumed(pl.DataFrame({"name": "fcntl", "args": args})).get_column("name").to_list()
        ['fcntl F_SETLKW', 'fcntl']
    """
    name, args = pl.col("name"), pl.col("args")
    has_waits, has_locks = calls.select((name == RESUMES).any(), locks=name.is_in([*_FCNTL, "flock"]).any()).row(0)
    if has_waits:
        waits = args.str.extract(PARTS_GRAMMAR.pattern("^{RESUMING}({RESUMED_CALL})"), 1)
        calls = calls.with_columns(
            pl.when(name == RESUMES, waits.is_in(_WAITS)).then(waits).otherwise(name).alias("name")
        )
    if has_locks:
        is_lock = name.is_in(_FCNTL) & PARTS_GRAMMAR.matches(args, "{WAITS_FOR_LOCK}")
        is_unlock = (name == "flock") & PARTS_GRAMMAR.matches(args, "{UNLOCKS_FILE}")
        named = pl.when(is_lock).then(pl.lit(LOCKS_FILE)).when(is_unlock).then(pl.lit(_UNLOCKS)).otherwise(name)
        calls = calls.with_columns(named.alias("name"))
    return calls


def with_classes(calls: pl.DataFrame) -> pl.DataFrame:
    """Calls, or sums of them, with ``class``, ``kind`` and ``step``.

    Args:
        calls: with ``name``, and ``target`` (`TARGETS`), null of a call without a descriptor; a poll or select without
            descriptors has `NOTHING` as ``file``.
    """
    names = calls.get_column("name").unique()
    own = pl.DataFrame(
        [(name, *class_of(name)) for name in names],
        schema={"name": pl.String, "class": pl.String, "kind": pl.String, "step": pl.String},
        orient="row",
    )
    by_target = pl.DataFrame(
        [(target, one.name, one.kind) for target, one in _BY_TARGET.items()],
        schema={"target": TARGETS, "_class": pl.String, "_kind": pl.String},
        orient="row",
    )
    name, target = pl.col("name"), pl.col("target")
    is_sure = name.is_in(_SEEKABLE) & target.is_in(["unknown", "standard"])
    is_other = (name.is_in([*READS, *WRITES]) & ~is_sure) | target.is_in(["server", "database"])
    is_bare = name.is_in(READY_CALLS) & (pl.col("file").cast(pl.String) == NOTHING)
    found = calls.join(own, on="name", how="left", maintain_order="left").join(
        by_target, on="target", how="left", maintain_order="left"
    )
    return found.with_columns(
        pl.when(is_bare)
        .then(pl.lit(sleep))
        .when(is_other & pl.col(f"_{column}").is_not_null())
        .then(f"_{column}")
        .otherwise(column)
        .alias(column)
        for column, sleep in (("class", _SLEEP.name), ("kind", _SLEEP.kind))
    ).drop("_class", "_kind")
