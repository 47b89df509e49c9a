"""Restarted calls: a call that a signal interrupted, and its retry, are one request.

``read(3, ...) = ? ERESTARTSYS`` returns to the kernel.  After the signal handler, whose last call is ``rt_sigreturn``,
or at once where there is no handler, the same call is entered again, as itself or as ``restart_syscall`` (signal(7),
"Interruption of system calls and library functions by signal handlers").  Where ``rt_sigreturn`` returns EINTR the
program sees the error: nothing is restarted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.ordered import compact
from straceparse.records import PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Collection

#: The last call of a signal handler, and the call that resumes an interrupted one.
SIGNAL_RETURNS: Final = ("rt_sigreturn", "sigreturn")
RESUMES: Final = "restart_syscall"
_EINTR: Final = "EINTR"
#: Operations that move bytes.
_MOVES: Final = ("read", "write", "copy")
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


class Restarts:
    """Finds the retries of interrupted calls, batch by batch.

    Args:
        names: the calls whose retries are wanted.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._waiting: dict[int | None, _Interrupted] = {}

    @property
    def open_roots(self) -> list[int]:
        """The rows of the interrupted calls that may still be restarted."""
        return [held.root for held in self._waiting.values()]

    def retries(self, calls: pl.DataFrame) -> pl.DataFrame:
        """The retries among the next calls: ``_row`` of each, and ``_root``, the row of the first call.

        Args:
            calls: the next calls in order, with ``_row``, ``pid``, ``name``, ``args`` and ``errno``.
        """
        errors = calls.get_column("errno")
        found: list[tuple[int, int]] = []
        if self._waiting or errors.drop_nulls().str.contains(_IS_INTERRUPTED).any():
            is_interrupted = errors.str.contains(_IS_INTERRUPTED).fill_null(value=False)
            is_wanted = is_interrupted & calls.get_column("name").is_in(list(self._names))
            pids = {*calls.get_column("pid").filter(is_wanted), *self._waiting}
            if pids:
                wanted = pl.Series([list(pids)], dtype=pl.List(pl.Int32))
                is_own = calls.get_column("pid").is_in(wanted, nulls_equal=True)
                own = calls.select("_row", "pid", "name", "args", "errno").filter(is_own)
                found = self._found(own.rows(), is_interrupted.filter(is_own).to_list())
        return pl.DataFrame(found, schema={"_row": pl.UInt32, "_root": pl.UInt32}, orient="row")

    def _found(
        self, calls: list[tuple[int, int | None, str, str, str | None]], interrupted: list[bool]
    ) -> list[tuple[int, int]]:
        """Row of each retry and row of its first call."""
        waiting = self._waiting
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
            if is_interrupted and name in self._names:
                waiting[pid] = _Interrupted(row, name, args)
        return found


def _is_retry(args: str, interrupted: str) -> bool:
    """Whether the arguments are the same: the descriptor, and all but the contents of buffers."""
    if args.partition(_COMMA)[0] != interrupted.partition(_COMMA)[0]:
        return False
    return args == interrupted or _BUFFER.sub("", args) == _BUFFER.sub("", interrupted)


class RestartedRequests:
    """Joins the retries of interrupted calls to their requests, batch by batch.

    Args:
        names: the calls that are requests.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._restarts = Restarts(names)
        #: requests whose calls may still be restarted, and the retries so far
        self._roots: pl.DataFrame | None = None
        self._retries: pl.DataFrame | None = None

    @property
    def waiting(self) -> pl.DataFrame | None:
        """The requests whose calls may still be restarted."""
        return self._roots

    def joined(self, requests: pl.DataFrame, calls: pl.DataFrame, *, is_last: bool) -> pl.DataFrame:
        """The next requests that are complete, a retry joined to the call that was interrupted.

        Args:
            requests: one row each of the `names` among the calls, with ``_row``.
            calls: the next calls.
            is_last: there are no more calls.
        """
        columns = ("_row", "end_line", "end", "elapsed", "elapsed_hi", "gap", "start", "result", "errno")
        retries = self._restarts.retries(calls)
        if retries.is_empty() and self._roots is None and not self._restarts.open_roots:
            return requests
        ends = retries.join(calls.select(columns), on="_row", maintain_order="left")
        if self._retries is not None:
            ends = pl.concat([self._retries, ends])
        requests = requests.join(retries.select("_row"), on="_row", how="anti", maintain_order="left")
        if self._roots is not None:
            requests = pl.concat([self._roots, requests])
        open_roots = pl.Series([] if is_last else self._restarts.open_roots, dtype=pl.UInt32).implode()
        is_open, is_more = pl.col("_row").is_in(open_roots), pl.col("_root").is_in(open_roots)
        roots, more = requests.filter(is_open), ends.filter(is_more)
        self._roots = compact(roots) if roots.height else None
        self._retries = compact(more) if more.height else None
        return _with_retries(requests.filter(~is_open), ends.filter(~is_more))


def _with_retries(requests: pl.DataFrame, ends: pl.DataFrame) -> pl.DataFrame:
    """The requests, each with the outcome of its last retry."""
    if ends.is_empty():
        return requests
    elapsed = pl.col("elapsed").sum()
    last = ends.group_by("_root", maintain_order=True).agg(
        pl.col("end_line", "end", "gap", "start", "result", "errno").last().name.prefix("_"),
        pl.len().cast(pl.UInt32).alias("_restarts"),
        pl.when(pl.col("elapsed").is_not_null().all()).then(elapsed).alias("_elapsed"),
        pl.when(pl.col("elapsed_hi").is_not_null().all()).then(pl.col("elapsed_hi").sum()).alias("_elapsed_hi"),
    )
    is_restarted = pl.col("_restarts").is_not_null()
    has_bytes = pl.col("op").is_in(_MOVES) & (pl.col("_result") >= 0)
    between = pl.col("_end") - pl.col("submitted")
    has_clock = between.is_not_null()
    columns = {
        "end_line": pl.col("_end_line"),
        "completed": pl.col("_end"),
        "gap": pl.col("_start") + pl.col("_gap") - pl.col("submitted"),
        "bytes_transferred": pl.when(has_bytes).then("_result"),
        "errno": pl.col("_errno"),
        "latency": pl.coalesce(between, pl.col("latency") + pl.col("_elapsed")),
        "latency_hi": pl.when(~has_clock).then(pl.col("latency_hi") + pl.col("_elapsed_hi")),
        "latency_from": pl.when(has_clock).then(pl.lit("stamps")).otherwise("latency_from"),
        "restarts": pl.col("_restarts"),
    }
    joined = requests.join(last.rename({"_root": "_row"}), on="_row", how="left", maintain_order="left")
    return joined.with_columns(
        pl.when(is_restarted).then(column).otherwise(name).alias(name) for name, column in columns.items()
    ).select(requests.columns)
