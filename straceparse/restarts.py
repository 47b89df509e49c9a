"""Restarted calls: a call that a signal interrupted, and its retry, are one request.

``read(3, ...) = ? ERESTARTSYS`` returns to the kernel.  After the signal handler, whose last call is ``rt_sigreturn``,
or at once where there is no handler, the same call is entered again, as itself or as ``restart_syscall`` (signal(7),
"Interruption of system calls and library functions by signal handlers").  Where ``rt_sigreturn`` returns EINTR the
program sees the error: nothing is restarted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import polars as pl

from straceparse.records import PARTS_GRAMMAR

#: The last call of a signal handler, and the call that resumes an interrupted one.
SIGNAL_RETURNS: Final = ("rt_sigreturn", "sigreturn")
RESUMES: Final = "restart_syscall"
_EINTR: Final = "EINTR"
#: A buffer: its address while nothing was read into it, its contents afterwards.
_BUFFER = re.compile(PARTS_GRAMMAR.pattern("{STRING}{ELLIPSIS}?|{HEXADECIMAL}"))
_COMMA: Final = PARTS_GRAMMAR.literal("COMMA")
_IS_INTERRUPTED: Final = PARTS_GRAMMAR.pattern("^{RESTART}$")


@dataclass(slots=True)
class _Interrupted:
    """A call of a process that was interrupted and may be restarted."""

    root: int
    name: str
    args: str
    #: the process did something else since, so only the end of a handler allows a retry
    is_elsewhere: bool = False
    is_returned: bool = False


def restarts_of(calls: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The retries of interrupted calls: ``_row`` of each, and ``_root``, the row of the first call.

    Args:
        calls: all calls of a log in order, with ``_row``, ``pid``, ``name``, ``args`` and ``errno``.
        names: the calls whose retries are wanted.
    """
    is_wanted = pl.col("name").is_in(names) & pl.col("errno").str.contains(_IS_INTERRUPTED)
    pids = calls.filter(is_wanted).get_column("pid").unique()
    found: list[tuple[int, int]] = []
    if not pids.is_empty():
        own = calls.filter(pl.col("pid").is_in(pids.implode(), nulls_equal=True))
        interrupted = own.select(pl.col("errno").str.contains(_IS_INTERRUPTED).fill_null(value=False)).to_series()
        found = _retries(own.select("_row", "pid", "name", "args", "errno").rows(), interrupted.to_list(), set(names))
    return pl.DataFrame(found, schema={"_row": pl.UInt32, "_root": pl.UInt32}, orient="row")


def _retries(
    calls: list[tuple[int, int | None, str, str, str | None]], interrupted: list[bool], names: set[str]
) -> list[tuple[int, int]]:
    """Row of each retry and row of its first call."""
    waiting: dict[int | None, _Interrupted] = {}
    found: list[tuple[int, int]] = []
    for (row, pid, name, args, errno), is_interrupted in zip(calls, interrupted, strict=True):
        held = waiting.get(pid)
        if held is not None:
            if name in SIGNAL_RETURNS:
                held.is_returned, held.is_elsewhere = True, False
                if errno == _EINTR:
                    del waiting[pid]
                continue
            if not held.is_elsewhere and (name == RESUMES or (name == held.name and _is_retry(args, held.args))):
                found.append((row, held.root))
                if not is_interrupted:
                    del waiting[pid]
                continue
            held.is_elsewhere = True
            if held.is_returned:
                del waiting[pid]
        if is_interrupted and name in names:
            waiting[pid] = _Interrupted(row, name, args)
    return found


def _is_retry(args: str, interrupted: str) -> bool:
    """Whether the arguments are the same: the descriptor, and all but the contents of buffers."""
    if args.partition(_COMMA)[0] != interrupted.partition(_COMMA)[0]:
        return False
    return args == interrupted or _BUFFER.sub("", args) == _BUFFER.sub("", interrupted)
