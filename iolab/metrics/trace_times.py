"""The times of the calls of an strace log, summed by process, call and target in one pass over the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import polars as pl

from iolab.metrics.table import nanoseconds, set_back
from iolab.metrics.trace_named import CallNames, Named
from straceparse.call_classes import POSTS, READY_CALLS, RECEIVES, SOCKET_CALLS, resumed, with_classes
from straceparse.call_table import IO_CALLS, READS, REAPS, WRITES
from straceparse.descriptors import (
    DESCRIPTOR_CALLS,
    TARGETS,
    children_of,
    is_server_end,
    programs_of,
    target_of,
    threads_of,
    without_note,
)
from straceparse.ordered import compact, rows_where
from straceparse.transfers import Targets, packets

if TYPE_CHECKING:
    from straceparse import StraceLog

#: Columns of the calls that their times are summed from.
CALLS: Final = (
    *("line", "pid", "name", "start", "end", "gap", "elapsed", "elapsed_hi", "errno", "state"),
    *("args", "result", "note", "fd_path"),
)
#: How the sums of the calls of two parts of a log make those of both.
_ADDED: Final = tuple(
    pl.col(name).sum() for name in ("calls", "timed", "followed", "printed", "elapsed", "slack", "between", "open")
)
SUMS: Final = (
    *_ADDED,
    pl.col("failed", "timed_out", "late", "stalled", "stamped").sum(),
    pl.col("first").min(),
    pl.col("last", "longest", "longest_open").max(),
)
#: Calls that end with an error when their time is over.
_TIMED: Final = ("semtimedop", "semtimedop_time64", "futex", "futex_time64", "rt_sigtimedwait", "mq_timedreceive")
#: Calls that return 0 when their time is over; those that reap are often given none.
_POLLS: Final = (*("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"), *REAPS)
_IS_TIMED_OUT: Final = (
    (pl.col("errno") == "ETIMEDOUT")
    | ((pl.col("errno") == "EAGAIN") & pl.col("name").is_in(_TIMED))
    | ((pl.col("result") == 0) & pl.col("name").is_in(_POLLS))
)
#: Errors of what a program may not do, cannot reach or has no room for.
_REFUSALS: Final = (
    *("EACCES", "EPERM", "EROFS", "EIO", "ENOSPC", "EDQUOT", "EFBIG", "ENOMEM", "EMFILE", "ENFILE", "ESTALE"),
    *("ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EADDRINUSE", "EADDRNOTAVAIL"),
)
_TIME: Final = pl.coalesce("elapsed", "gap")
#: A call that takes as long is no spread of one device.
STALL: Final = timedelta(milliseconds=100)
_LATE: Final = _TIME.filter("_is_late")
_OF_CALLS: Final = (
    pl.col("errno").count().cast(pl.Int64).alias("failed"),
    _LATE.count().cast(pl.Int64).alias("timed_out"),
    _LATE.sum().dt.total_nanoseconds().alias("late"),
    pl.col("elapsed").max().dt.total_nanoseconds().alias("longest"),
    pl.col("gap").filter(pl.col("elapsed").is_null()).max().dt.total_nanoseconds().alias("longest_open"),
    _TIME.filter(_TIME >= STALL).sum().dt.total_nanoseconds().alias("stalled"),
    pl.col("start").count().cast(pl.Int64).alias("stamped"),
    pl.col("start").min().alias("first"),
    pl.max_horizontal(pl.col("start").max(), pl.col("end").max()).alias("last"),
)
#: Reads of what may be no file.
_READS: Final = tuple(name for name in READS if not IO_CALLS[name].is_of_file)
_OF_TARGETS: Final = ("pid", "name", "fd", "file")
#: This many reads of a descriptor are looked at in a batch for packets of Oracle Net, and this many must be packets.
_LOOKED_AT: Final = 20
_PACKETS: Final = 0.9
#: The last decimal of a time between two stamps that do not show theirs.
_STEP: Final = 1000
#: A process that waits for what it has to write writes after most posts, and reads a control file at most; one whose
#: sleeps nearly all time out works by a timer, and may read as often as it writes.
_WRITES: Final = 0.5
_READS_OF_WRITER: Final = 0.05
_BY_TIMER: Final = 0.9
_MARKS: Final = pl.Schema({"line": pl.UInt32, "pid": pl.Int32, "at": pl.Int64, "is_end": pl.Boolean})


@dataclass(frozen=True)
class CallTimes:
    """The times of all calls of a log.

    Attributes:
        calls: one row a process and name of its calls: how many there were (``calls``), ``failed``, of these
            ``timed_out``, which took ``late`` (ns, without times at most); the ``longest`` of all (ns); how many have
            a time of their start (``stamped``), of their own (``timed``), from -T (``printed``), of the line after
            them (``followed``);
            the sum of their times (``elapsed``), how much longer it may be as times are cut (``slack``, ns), of the
            time after them until the next line of the process (``between``, ns), and of the time to that line of
            calls without a time (``open``, the longest is ``longest_open``, ns); of both times, those of a
            `STALL` or more (``stalled``, ns); the first start and the last end.
        targets: the same of the calls that act on a descriptor, one row a process, name, descriptor and file;
            ``target`` says what it is of.
        set_back: processes whose clock goes back, or that go on after their end.
        marks: one row a process with signals, stops or its end: their number, the first and last (ns), and the time
            after them until its next line (``after``, ns).
        parents: process -> the process that made it.
        threads: processes that are threads of the one that made them.
        ended: process -> the end that the log shows of it, such as ``exited with 2``; empty of one without an error.
        refused: process -> name, error and line of its last call that a right, the network or a limit stopped.
        programs: process -> the last program that it executed.
        named: what the calls name.
    """

    calls: pl.DataFrame
    targets: pl.DataFrame
    set_back: frozenset[int | None]
    marks: pl.DataFrame
    parents: dict[int, int | None]
    programs: dict[int | None, str]
    threads: frozenset[int]
    ended: dict[int | None, str]
    refused: dict[int | None, tuple[str, str, int]]
    named: Named

    @property
    def noun(self) -> str:
        """`threads` where all but one process of the log are threads that it made, else `processes`."""
        pids = set(self.calls.get_column("pid"))
        return "threads" if len(pids - self.threads) <= 1 < len(pids) else "processes"

    @cached_property
    def classed(self) -> pl.DataFrame:
        """The sums of calls with their class, one row a process, name and target."""
        others = self.calls.join(
            self.targets.select("pid", "name").unique(),
            on=["pid", "name"],
            how="anti",
            nulls_equal=True,
            maintain_order="left",
        ).select(
            *(name for name in (*self.targets.columns, "timed_out") if name in self.calls.columns),
            fd=pl.lit(None, pl.Int32),
            file=pl.lit(None, pl.String),
            target=pl.lit(None, TARGETS),
        )
        both = pl.concat([self.targets, others], how="diagonal_relaxed")
        found = with_classes(both.with_columns(nanoseconds("elapsed")))
        rests = pl.col("name").is_in(POSTS) & _only_writes(self.named.readers["pid"])
        return found.with_columns(kind=pl.when(rests).then(pl.lit("idle")).otherwise("kind"))


def _only_writes(readers: pl.Series) -> pl.Expr:
    """Whether a process writes after it was posted, and has neither reads nor a client: as LGWR it waits for work.

    Args:
        readers: processes that submit reads.
    """

    def count(which: pl.Expr, column: str = "calls") -> pl.Expr:
        return pl.col(column).filter(which).sum().over("pid")

    posts = pl.col("name").is_in(POSTS)
    is_timer = count(posts, "timed_out") >= _BY_TIMER * count(posts)
    writes, reads = (count(pl.col("class") == name) for name in ("file writes", "file reads"))
    writes += count(pl.col("step") == "submit")
    is_alone = (count(pl.col("kind") == "client") == 0) & ~pl.col("pid").is_in(readers.implode(), nulls_equal=True)
    most_reads = pl.when(is_timer).then(writes).otherwise(_READS_OF_WRITER * writes)
    return is_alone & (writes >= _WRITES * count(posts)) & (reads <= most_reads)


class CallSums:
    """Sums the times of calls, batch by batch.

    Args:
        log: whose calls are taken.
    """

    def __init__(self, log: StraceLog) -> None:
        self._find = Targets(has_paths=log.dialect.has_paths, listed=log.listed)
        self._sums: list[pl.DataFrame] = []
        self._targets: list[pl.DataFrame] = []
        self._packets: list[pl.DataFrame] = []
        self._stamps = pl.DataFrame(schema={"line": pl.UInt32, "pid": pl.Int32, "start": pl.Duration("ns")})
        self._set_back: set[int | None] = set()
        self._marks: list[pl.DataFrame] = []
        self._waiting = pl.DataFrame(schema=_MARKS)
        self._after: list[pl.DataFrame] = []
        self._parents: dict[int, int | None] = {}
        self._programs: dict[int | None, str] = {}
        self._threads: set[int] = set()
        self._ended: dict[int | None, str] = {}
        self._refused: dict[int | None, tuple[str, str, int]] = {}
        self._names = CallNames()

    def mark(self, events: pl.DataFrame) -> None:
        """Take the next lines that are no calls: signals, stops, ends."""
        is_end = pl.col("kind").is_in(["exited", "killed"])
        is_good = ((pl.col("kind") == "exited") & (pl.col("result") == 0)).fill_null(value=True)
        said = pl.when(is_good).then(pl.lit("")).otherwise(pl.col("note").cast(pl.String).fill_null("killed"))
        for pid, end in events.filter(is_end).select("pid", said).iter_rows():
            self._ended[pid] = self._ended.get(pid) or end
        stamped = events.select("line", "pid", at=nanoseconds("at"), is_end=is_end).drop_nulls("at")
        if stamped.height:
            self._marks.append(
                stamped.group_by("pid").agg(marks=pl.len(), first=pl.col("at").min(), last=pl.col("at").max())
            )
            self._waiting = pl.concat([self._waiting, stamped])

    def add(self, calls: pl.DataFrame) -> None:
        """Take the next calls, with the columns `CALLS`."""
        calls = resumed(calls)
        sums = compact(_summed(calls.with_columns(_is_late=_IS_TIMED_OUT), ["pid", "name"], *_OF_CALLS))
        self._sums.append(sums)
        self._names.add(calls, sums.get_column("name").drop_nulls().unique().to_list())
        found = self._find.of(calls)
        if found.height or not self._targets:
            by_target = _summed(found, [*_OF_TARGETS]).with_columns(pl.col("name").cast(pl.String))
            self._targets.append(compact(by_target))
            self._look_into(found)
        self._watch_clock(calls)
        self._pass_marks(calls)
        changing = rows_where(calls, pl.col("name").is_in(DESCRIPTOR_CALLS))
        self._parents.update(children_of(changing))
        self._programs.update(programs_of(changing))
        self._threads |= threads_of(changing)
        refused = rows_where(calls, pl.col("errno").is_in(_REFUSALS)).select("pid", "name", "errno", "line")
        for pid, *which in refused.unique("pid", keep="last", maintain_order=True).iter_rows():
            self._refused[pid] = (*which,)

    def _watch_clock(self, calls: pl.DataFrame) -> None:
        # the line after a call may be of a signal or of the end of its process
        self._set_back.update(rows_where(calls, pl.col("gap") < pl.duration()).get_column("pid"))
        stamps = calls.select("line", "pid", "start").drop_nulls("start")
        if stamps.is_empty():
            return
        starts = stamps.get_column("start")
        is_on = stamps.get_column("line").is_sorted() and starts.is_sorted()  # all processes together, in most logs
        if not is_on or (self._stamps.height and starts.item(0) < self._stamps.get_column("start").max()):
            self._set_back.update(set_back(pl.concat([self._stamps, stamps]), "start"))
        latest = stamps.group_by("pid").agg(pl.col("line", "start").last()).select("line", "pid", "start")
        self._stamps = pl.concat([self._stamps, latest]).unique("pid", keep="last", maintain_order=True)

    def _look_into(self, found: pl.DataFrame) -> None:
        """What was read from and written to descriptors that are not known."""
        is_read = pl.col("name").is_in(_READS)
        is_moved = (is_read | pl.col("name").is_in(WRITES)) & (pl.col("result") > 0) & (pl.col("fd") > 2)
        some = found.select("pid", "fd", "args", "result", is_read=is_read, _is=pl.col("file").is_null() & is_moved)
        some = rows_where(some, pl.col("_is"))
        if some.height:
            some = some.group_by("pid", "fd", "is_read", maintain_order=True).head(_LOOKED_AT)
            some = some.with_columns(packets(some))
            is_packet, asks = pl.col("is_packet") & pl.col("is_read"), pl.col("asks") & ~pl.col("is_read")
            sums = some.group_by("pid", "fd").agg(pl.col("is_read").sum(), is_packet.sum(), asks.sum())
            self._packets.append(sums)

    def _pass_marks(self, calls: pl.DataFrame) -> None:
        """The time from each signal or stop to the next line of its process, where that is known by now."""
        waiting = self._waiting
        if waiting.is_empty() or calls.is_empty():
            return
        last: int = calls.get_column("line").max()  # type: ignore[assignment]
        begun = rows_where(calls, pl.col("pid").is_in(waiting.get_column("pid").unique().implode(), nulls_equal=True))
        begun = begun.select("line", "pid", start=nanoseconds("start"), next_line="line").drop_nulls("start")
        keyed = waiting.with_columns(pl.col("pid").fill_null(-1)).sort("line")
        found = keyed.with_columns(
            mark_line=pl.col("line").shift(-1).over("pid"), mark_at=pl.col("at").shift(-1).over("pid")
        ).join_asof(
            begun.with_columns(pl.col("pid").fill_null(-1)).sort("line"),
            on="line",
            by="pid",
            strategy="forward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        is_mark = pl.col("mark_line") < pl.col("next_line").fill_null(last + 1)
        end = pl.when(is_mark).then("mark_at").otherwise("start")
        # the stamp of a signal may be later than that of the call after it
        found = found.with_columns(after=(end - pl.col("at")).clip(0), pid=pl.when(pl.col("pid") >= 0).then("pid"))
        # what has ended makes no calls: those of another process follow
        self._set_back.update(found.filter("is_end", pl.col("after").is_not_null()).get_column("pid"))
        self._after.append(found.drop_nulls("after").group_by("pid").agg(pl.col("after").sum()))
        self._waiting = found.filter(pl.col("after").is_null()).select(_MARKS.names())

    def found(self) -> CallTimes:
        """The sums of all."""
        sums = pl.concat(self._sums).group_by("pid", "name").agg(SUMS).sort("pid", "name")
        targets = pl.concat(self._targets).group_by(_OF_TARGETS).agg(_ADDED).sort(_OF_TARGETS)
        targets = targets.with_columns(target_of(pl.col("file"), pl.col("fd")), file=without_note(pl.col("file")))
        is_socket = pl.col("name").is_in(SOCKET_CALLS).any().over("pid", "fd") & (pl.col("target") == "unknown")
        socket = pl.lit("socket", targets.schema["target"])
        targets = targets.with_columns(target=pl.when(is_socket).then(socket).otherwise("target"))
        targets = _with_clients(targets)
        if self._packets:
            spoken = pl.concat(self._packets).group_by("pid", "fd").agg(pl.all().sum())
            spoken = spoken.filter(pl.col("is_read") > 0, pl.col("is_packet") >= _PACKETS * pl.col("is_read"))
            end = pl.when(pl.col("asks") > 0).then(pl.lit("database")).otherwise(pl.lit("client"))
            ends = spoken.select("pid", "fd", _end=end.cast(targets.schema["target"]))
            targets = targets.join(ends, on=["pid", "fd"], how="left", nulls_equal=True, maintain_order="left")
            is_open = pl.col("target").is_in(["unknown", "socket"])
            named = pl.when(is_open).then(pl.coalesce("_end", "target")).otherwise("target")
            targets = targets.with_columns(target=named).drop("_end")
        marks = pl.concat(self._marks) if self._marks else _no_marks()
        marks = marks.group_by("pid").agg(pl.col("marks").sum(), pl.col("first").min(), pl.col("last").max())
        after = pl.concat([pl.DataFrame(schema={"pid": pl.Int32, "after": pl.Int64}), *self._after])
        after = after.group_by("pid").agg(pl.col("after").sum())
        marks = marks.join(after, on="pid", how="left", nulls_equal=True).with_columns(pl.col("after").fill_null(0))
        return CallTimes(
            sums,
            targets,
            frozenset(self._set_back),
            marks,
            dict(self._parents),
            dict(self._programs),
            frozenset(self._threads),
            self._ended,
            self._refused,
            self._names.found(),
        )


def _with_clients(targets: pl.DataFrame) -> pl.DataFrame:
    """What is received at the server's end of a connection is the client's time, and so are the waits for it.

    The waits of a process that receives from others, too, are of either.
    """
    is_wait = pl.col("name").is_in(READY_CALLS) & pl.col("file").is_null()
    is_end = pl.col("name").is_in([*READS, *RECEIVES]) & is_server_end(pl.col("file"))
    is_peer = pl.col("name").is_in([*READS, *RECEIVES]) & pl.col("target").is_in(["socket", "pipe", "unknown"])
    is_served = (is_end.any() & ~(is_peer & ~is_end).any()).over("pid")
    named = pl.when(is_end | (is_wait & is_served)).then(pl.lit("server", targets.schema["target"])).otherwise("target")
    return targets.with_columns(target=named)


def _no_marks() -> pl.DataFrame:
    return pl.DataFrame(schema={"pid": pl.Int32, "marks": pl.UInt32, "first": pl.Int64, "last": pl.Int64})


def _ns(duration: pl.Expr) -> pl.Expr:
    return duration.dt.total_nanoseconds()


def _summed(calls: pl.DataFrame, keys: list[str], *more: pl.Expr) -> pl.DataFrame:
    elapsed, gap, below = pl.col("elapsed"), pl.col("gap"), pl.col("elapsed_hi")
    return calls.group_by(keys).agg(
        *more,
        calls=pl.len().cast(pl.Int64),
        timed=elapsed.count().cast(pl.Int64),
        followed=gap.count().cast(pl.Int64),
        printed=below.count().cast(pl.Int64),  # of times between two stamps the last decimal is not known
        elapsed=elapsed.sum(),
        slack=_ns((below - elapsed).sum()) + _STEP * (elapsed.count() - below.count()).cast(pl.Int64),
        between=_ns((gap - elapsed).sum()),
        open=_ns(gap.filter(elapsed.is_null()).sum()),
    )


#: The times of logs that are in use: a large log is read for them.
_TIMES: Final[WeakKeyDictionary[StraceLog, CallTimes]] = WeakKeyDictionary()


def times_of(log: StraceLog) -> CallTimes:
    """The times of the calls of a log, computed once."""
    if log not in _TIMES:
        sums = CallSums(log)
        log.read_calls(CALLS, sums.add, sums.mark)
        _TIMES[log] = sums.found()
    return _TIMES[log]


def known_times(log: StraceLog) -> CallTimes | None:
    """The times of the calls of a log, where they were computed before."""
    return _TIMES.get(log)


def remember(log: StraceLog, times: CallTimes) -> None:
    """Keep the times of a log that were summed by another pass over it."""
    _TIMES[log] = times
