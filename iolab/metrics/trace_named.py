"""What the calls of an strace log name: paths, errors, peers and locks, in one pass over the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from straceparse.aio import OPS
from straceparse.call_classes import READY_CALLS, TARGETED_CALLS, class_of
from straceparse.call_table import HIDDEN, SUBMITS
from straceparse.ordered import compact, rows_where
from straceparse.records import PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CONNECT: Final = "connect"
_GETRUSAGE: Final = "getrusage"
_USER_TIME: Final = PARTS_GRAMMAR.pattern("{USER_TIME}(?P<s>{DECIMAL}){MICROSECONDS}(?P<us>{DECIMAL})")
_HALVES: Final = ("read", "write")
#: The names of reads, and of writes, in control blocks; old versions print none.
_READS, _WRITES = ([name for name, op in OPS.items() if op == one and isinstance(name, str)] for one in _HALVES)
_NAME, _ARGS = pl.col("name"), pl.col("args")
_MAY_READ: Final = _ARGS.str.contains_any(_READS) | ~_ARGS.str.contains_any(_WRITES)
_LOCKS: Final = "locks and messages"
_TEXT: Final = _ARGS.str.extract(PARTS_GRAMMAR.pattern("({STRING})"), 1).str.strip_chars('"')
#: What a call names: its first text, else the file of its descriptor.
PATH: Final = pl.coalesce(_TEXT, pl.col("fd_path").cast(pl.String))
_SPENT: Final = pl.coalesce("elapsed", "gap").dt.total_nanoseconds()
_ADDRESS: Final = _ARGS.str.extract_groups(
    PARTS_GRAMMAR.pattern("{PORT_BEFORE}(?P<port>{DECIMAL}){HOST_BEFORE}(?P<host>{HOST})")
).struct
_DESCRIPTOR: Final = _ARGS.str.extract(PARTS_GRAMMAR.pattern("^{FIRST_DESCRIPTOR}({DECIMAL})"), 1)
_PEER: Final = _ARGS.str.extract(PARTS_GRAMMAR.pattern("{PEER_BEFORE}({PEER})"), 1)
#: A call that submits one request, and returns when one has ended.
_IS_ALONE: Final = (pl.col("result") == 1) & (_ARGS.str.split(", ").list.slice(1, 2).list.join(",") == "1,1")
_READY: Final = (
    pl.col("note")
    .str.extract_groups(PARTS_GRAMMAR.pattern("{READY_BEFORE}(?P<fd>{DECIMAL})(?:{PEER_BEFORE}(?P<peer>{PEER}))?"))
    .struct
)
_CONNECTED: Final = pl.Schema({"pid": pl.Int32, "fd": pl.String, "to": pl.String})


def folder_of(path: str) -> pl.Expr:
    """The folder of a path in a column; empty where the path has none."""
    parts = pl.col(path).str.split("/")
    return parts.list.head(parts.list.len() - 1).list.join("/")


@dataclass(frozen=True, slots=True)
class Named:
    """What the calls of a log name.

    Attributes:
        paths: ``pid``, ``name``, ``path``, and the time ``spent`` (ns, of calls without a time at most) of calls that
            name one; but for those that act on a descriptor (`CallTimes.targets`).
        errors: ``name``, ``errno``, ``folder`` (null without a path), ``calls`` and ``elapsed`` (ns) of failed calls.
        peers: ``pid``, ``name``, ``to``, and the ``calls`` that waited in vain for this peer; null where not known.
        ready: ``pid``, ``name``, ``at`` (a peer, else ``fd N``), and the ``calls`` that ended when it was ready, alone,
            and the time ``spent`` in them (ns).
        rings: ``pid``, and the ``calls`` of io_uring_enter that submitted one request and waited for one.
        locks: ``pid``, ``name``, and ``at``, the first argument of the longest call of those that wait for a lock.
        readers: ``pid``, and the ``calls`` of it that submitted a read, or what is not printed.
        user: ``pid`` and the ``seconds`` of user time from its first to its last getrusage(2): CPU outside of calls.
    """

    paths: pl.DataFrame
    errors: pl.DataFrame
    peers: pl.DataFrame
    ready: pl.DataFrame
    rings: pl.DataFrame
    locks: pl.DataFrame
    user: pl.DataFrame
    readers: pl.DataFrame


class CallNames:
    """Sums up what calls name, batch by batch."""

    def __init__(self) -> None:
        self._found: list[tuple[pl.DataFrame, ...]] = []
        self._connected = pl.DataFrame(schema=_CONNECTED)

    def add(self, calls: pl.DataFrame, names: Iterable[str]) -> None:
        """Take the next calls, with the columns `iolab.metrics.trace_times.CALLS`, and the names of all of them."""
        own = calls.select("pid", "name", "args", "fd_path", "result", "errno", "elapsed", "gap", "note")
        others, locks, waits, rings, submits = (
            rows_where(own, _NAME.is_in([name for name in names if is_one(name)]))
            for is_one in (_is_other, _is_lock, _is_wait, HIDDEN.__contains__, SUBMITS.__contains__)
        )
        has_text = _ARGS.str.contains('"', literal=True)
        paths = rows_where(others, has_text | pl.col("fd_path").is_not_null())
        failed = rows_where(own, pl.col("errno").is_not_null())
        parts = (
            _summed(paths.select("pid", "name", path=PATH, spent=_SPENT).drop_nulls("path")),
            _summed(
                failed.select("name", "errno", "elapsed", path=pl.when(~_NAME.is_in(TARGETED_CALLS)).then(PATH)).select(
                    "name", "errno", folder=folder_of("path"), calls=1, elapsed=pl.col("elapsed").dt.total_nanoseconds()
                )
            ),
            _summed(self._peers(waits)),
            _summed(
                rows_where(waits, (pl.col("result") == 1) & pl.col("note").is_not_null())
                .select(
                    "pid",
                    "name",
                    at=pl.coalesce(_READY.field("peer"), "fd " + _READY.field("fd")),
                    calls=1,
                    spent=_SPENT,
                )
                .drop_nulls(["at", "spent"])
            ),
            _summed(rows_where(rings, _IS_ALONE).select("pid", calls=1)),
            locks.drop_nulls("elapsed")
            .group_by("pid", "name")
            .agg(pl.col("elapsed").max(), at=_ARGS.get(pl.col("elapsed").arg_max()).str.split(",").list.first()),
            rows_where(own, _NAME == _GETRUSAGE).group_by("pid").agg(first=_ARGS.first(), last=_ARGS.last()),
            _summed(rows_where(submits, _MAY_READ).select("pid", calls=1)),
        )
        self._found.append(tuple(compact(one) for one in parts))

    def _peers(self, waits: pl.DataFrame) -> pl.DataFrame:
        """The calls that waited in vain for a descriptor, with the address that it was connected to."""
        is_connect = _NAME == _CONNECT
        some = rows_where(waits, is_connect | (pl.col("result") == 0))
        to = _ADDRESS.field("host") + ":" + _ADDRESS.field("port")
        some = some.select(
            "pid", "name", fd=_DESCRIPTOR, peer=_PEER, to=pl.when(is_connect).then(to.fill_null("")), calls=1
        )
        some = pl.concat([self._connected, some], how="diagonal")
        some = some.with_columns(to=pl.col("to").forward_fill().over("pid", "fd"))
        self._connected = compact(some.drop_nulls("to").select(_CONNECTED.names())).unique(["pid", "fd"], keep="last")
        late = some.filter(_NAME.is_not_null(), ~is_connect)
        return late.select("pid", "name", pl.coalesce("peer", "to").alias("to"), "calls")

    def found(self) -> Named:
        """The sums of all."""
        paths, errors, peers, ready, rings, locks, user, reads = (
            pl.concat(parts) for parts in zip(*self._found, strict=True)
        )
        user = user.group_by("pid", maintain_order=True).agg(pl.col("first").first(), pl.col("last").last())
        user = user.select("pid", seconds=_user("last") - _user("first")).drop_nulls("seconds")
        locks = locks.group_by("pid", "name").agg(pl.col("at").get(pl.col("elapsed").arg_max()))
        return Named(
            _summed(paths), _summed(errors), _summed(peers), _summed(ready), _summed(rings), locks, user, _summed(reads)
        )


def _user(args: str) -> pl.Expr:
    """The user time in arguments of getrusage(2), in s; null where it is not printed."""
    found = pl.col(args).str.extract_groups(_USER_TIME).struct
    return found.field("s").cast(pl.Float64) + found.field("us").cast(pl.Float64) / 1e6


def _is_other(name: str) -> bool:
    return name not in TARGETED_CALLS


def _is_lock(name: str) -> bool:
    return class_of(name).name == _LOCKS


def _is_wait(name: str) -> bool:
    return name == _CONNECT or name in READY_CALLS


def _summed(rows: pl.DataFrame, values: Sequence[str] = ("calls", "elapsed", "spent")) -> pl.DataFrame:
    """The sums of some columns for each combination of the others."""
    keys = [name for name in rows.columns if name not in values]
    return rows.group_by(keys).agg(pl.exclude(keys).sum())
