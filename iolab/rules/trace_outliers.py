"""Few calls that took nearly all of the time of their kind, and time-outs that a parent waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.trace_facts import COMMAND, ENTROPY, short_name, trace_of
from iolab.metrics.trace_named import PATH
from iolab.metrics.trace_reads import NOT_KNOWN, file_or_fd
from iolab.metrics.trace_times import STALL, times_of
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import counted, named_list, percent, seconds
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART
from iolab.rules.trace_calls import MORE_ENTROPY, UNKNOWN_END, process_ledger, silent_peer
from straceparse.call_classes import READY_CALLS, TARGETED_CALLS
from straceparse.call_table import REAPS
from straceparse.descriptors import without_note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from straceparse import StraceLog

#: A call this many times as long as the median of its kind, and no shorter than this, is a stall.
FAR: Final = 20
_LEAST_S: Final = STALL.total_seconds()
#: Stalls are at most this share of the calls, and have this share of their time.
_FEW: Final = 0.05
_MOST: Final = 0.5
_MOST_MOMENTS: Final = 3
#: Times between calls are even where this many differ by no more than this part of the shortest.
_LEAST_STEPS: Final = 3
_EVEN: Final = 0.5
#: Classes of calls in which long waits are usual.
_IDLE: Final = ("idle", "client")
_STALLED: Final = "see the device{} then: iostat -xt 1 (of NFS: nfsiostat 1; nfsstat -rc), and dmesg -T"
_SESSION: Final = "see what its session waited for then: V$ACTIVE_SESSION_HISTORY, or an SQL trace (event 10046)"
_OTHER_END: Final = "see what the process at the other end did then: strace -f -ttt -T -yy -p PID"
_PEER: Final = "see whether {} gets the packets and answers: tcpdump -n host {}"


@rule(
    "few_long_calls",
    of="strace",
    needs="30 calls of a name with their times",
    thresholds={
        "20 times the median, 100 ms": "no spread of one device",
        "5 % of the calls, half of their time": "few",
    },
)
def few_long_calls(log: StraceLog) -> Iterator[Finding]:
    """A few calls that have most of the time of their kind: no average describes them.

    Examples:
        >>> import iolab
        >>> line = '17000000{}.000000 pwrite64(3</u01/r.log>, "", 512, 0) = 512 <{:.6f}>'
        >>> lines = [line.format(n, 9.9 if n == 20 else 0.001) for n in range(10, 60) if not 20 < n < 30]
        >>> for one in few_long_calls(iolab.load(chr(10).join(lines).encode())): print(one.sentence)
        1 of 41 `pwrite64` calls took 9.90 s on `r.log`, 99.6 % of the time of all; the median is 1 ms.
    """
    lead = process_ledger(log)
    if lead is None or lead.total is None:
        return
    kinds = times_of(log).classed
    timed = kinds.filter(~pl.col("kind").is_in(_IDLE), pl.col("class") != "locks and messages").group_by("name")
    time = pl.col("elapsed") + pl.col("open")
    names = timed.agg(pl.col("elapsed", "open", "timed", "calls").sum())
    longest = pl.coalesce(pl.col("longest", "longest_open").max())
    sums = times_of(log).calls.group_by("name").agg(pl.col("stalled").sum(), longest=longest)
    mean = pl.when(pl.col("timed") > 0).then(pl.col("elapsed") / pl.col("timed")).otherwise(time / pl.col("calls"))
    # few calls with most of the time are longer than the mean of all by the ratio of the two shares
    names = names.filter(time >= PART * (lead.work or lead.total).lo * 1e9).join(sums, on="name")
    names = names.filter(
        pl.col("longest") >= pl.max_horizontal(_LEAST_S * 1e9, _MOST / _FEW * mean), pl.col("stalled") >= _MOST * time
    )
    if names.is_empty():
        return
    calls = log.calls.lazy().filter(pl.col("name").cast(pl.String).is_in(names.get_column("name").to_list()))
    took, start = (one.dt.total_nanoseconds() / 1e9 for one in (pl.coalesce("elapsed", "gap"), pl.col("start")))
    path = pl.when(pl.col("name").is_in(TARGETED_CALLS)).then(pl.col("fd_path").cast(pl.String)).otherwise(PATH)
    rows = calls.select(
        pl.col("name").cast(pl.String), "pid", "line", "time_of_day", start=start, took=took, path=path
    ).collect()
    targets = trace_of(log).requests.filter(mode="sync").select("pid", "line", at=file_or_fd()).unique(["pid", "line"])
    rows = rows.drop_nulls("took").join(targets, ["pid", "line"], "left", nulls_equal=True, maintain_order="left")
    rows = rows.with_columns(path=pl.coalesce(without_note(pl.col("path")), pl.col("at").replace(NOT_KNOWN, None)))
    middle = pl.col("took").median().over("name")
    rows = rows.with_columns(is_long=(pl.col("took") >= FAR * middle) & (pl.col("took") >= _LEAST_S))
    sums = rows.group_by("name").agg(
        count=pl.len(),
        long=pl.col("is_long").sum(),
        time=pl.col("took").filter("is_long").sum(),
        share=pl.col("took").filter("is_long").sum() / pl.col("took").sum(),
        median=pl.col("took").filter(~pl.col("is_long")).median(),
    )
    few = pl.col("long").is_between(1, _FEW * pl.col("count")), pl.col("share") >= _MOST
    found = sums.filter(*few, pl.col("count") >= LEAST_WAITS)
    for row in found.sort("time", "name", descending=[True, False]).head(1).iter_rows(named=True):
        own = rows.filter(pl.col("is_long"), pl.col("name") == row["name"]).sort("took")
        ends = [seconds(own.item(place, "took")) for place in (0, -1)]
        each = ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix(' s')} to {ends[1]}"
        files = own.get_column("path").unique()
        on = f" on `{short_name(files.item())}`" if files.len() == 1 and files.item() else ""
        named = named_list([f"`{short_name(one)}`" for one in files.drop_nulls().sort()[:_MOST_MOMENTS]])
        pids = own.get_column("pid").n_unique()
        where = f" in {counted(pids, times_of(log).noun)}{_moments(own)}" if pids > 1 else ""
        of_all = f"{percent(row['share'])} of the time of all"
        printed = trace_of(log).printed
        of, kind = kinds.filter(name=row["name"]).sort("elapsed", descending=True).select("class", "kind").row(0)
        is_entropy = files.to_list() == [ENTROPY]
        if not printed and kind in {"cpu", "mixed"}:
            continue  # what followed a call is in its time
        stalled = _STALLED.format(f" of {named}" if named else "") if printed else COMMAND
        step = _OTHER_END if kind == "wait" and row["name"] not in REAPS else stalled
        if is_entropy or (row["name"] in TARGETED_CALLS and kind == "mixed"):  # of no disk, as far as the log tells
            step = MORE_ENTROPY if is_entropy else UNKNOWN_END
        yield Finding(
            "few_long_calls",
            f"{row['long']:,} of {row['count']:,} `{row['name']}` calls took {'' if printed else 'at most '}{each}"
            f"{' each' if row['long'] > 1 else ''}{on}{where}{_regular(own)}, {of_all}; "
            f"the median is {seconds(row['median'])}.",
            detail="a read of it waits until the kernel has enough entropy" if is_entropy else "",
            next=_SESSION if of == "the database server" else step,
            evidence=(Evidence("calls", (row["name"],), tuple(own.get_column("line").head(5))),),
            order=0,
        )


def _moments(calls: pl.DataFrame) -> str:
    """When long calls of several processes began, where they were at the same time."""
    rows = calls.drop_nulls(["start", "time_of_day"]).sort("start")
    is_new = pl.col("start") >= (pl.col("start") + pl.col("took")).cum_max().shift(1, fill_value=0)
    begins = [f"{time:%H:%M:%S}" for time in rows.filter(is_new).get_column("time_of_day")]
    if rows.height < calls.height or not 0 < len(begins) <= min(_MOST_MOMENTS, calls.height // 2):
        return ""
    return f" at the same time ({named_list(begins)})"


def _regular(calls: pl.DataFrame) -> str:
    """How often calls began, where one came after another in even times."""
    steps = calls.get_column("start").drop_nulls().sort().diff().drop_nulls()
    least, most = (float(one or 0.0) for one in (steps.min(), steps.max()))  # type: ignore[arg-type]  # numbers
    is_even = steps.len() >= _LEAST_STEPS and most <= (1 + _EVEN) * least and calls.get_column("pid").n_unique() == 1
    return f", one every {seconds(float(steps.mean() or 0.0))}" if is_even and least > 0 else ""  # type: ignore[arg-type]


@rule("timed_out_below", of="strace", needs="a process that only waited for its children", thresholds={"half": "most"})
def timed_out_below(log: StraceLog) -> Iterator[Finding]:
    """What timed out in the children of a process that did nothing but wait for them."""
    lead = process_ledger(log)
    if lead is None or lead.total is None or not lead.unshared:
        return
    late = (
        times_of(log)
        .calls.filter(pl.col("name").is_in(READY_CALLS))
        .group_by("name")
        .agg(pl.col("timed_out", "late").sum(), pids=pl.col("pid").filter(pl.col("timed_out") > 0).n_unique())
    )
    found = late.filter(pl.col("pids") > 1, pl.col("late") >= _MOST * lead.total.value * 1e9)
    for name, count, ns, pids in found.sort("late", "name", descending=[True, False]).head(1).iter_rows():
        peer, said = silent_peer(times_of(log), name, pl.lit(value=True))
        host = peer.rpartition(":")[0]
        yield Finding(
            "timed_out_below",
            f"{count:,} `{name}` calls timed out after {seconds(ns / count / 1e9)} each in {pids:,} "
            f"{times_of(log).noun}{said}.",
            next=_PEER.format(peer, host) if peer else "see which peer was silent: ls -l /proc/PID/fd; lsof -p PID",
            evidence=(Evidence("calls", (name,)),),
            order=0,
        )
