"""Sizes and times of the reads of an strace log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, size_text
from iolab.metrics.table import figure_of, nanoseconds
from iolab.metrics.trace_facts import COMMAND, Trace, opens_of, seconds_of, short_name, trace_of
from iolab.metrics.trace_reads import NOT_NAMED, read_latency, read_rate
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import counted, every, named_list, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import LARGE, PART
from iolab.rules.trace_calls import process_ledger
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.strace import BETWEEN
from straceparse.call_classes import ASYNCHRONOUS, POSTS
from straceparse.call_table import READS
from straceparse.ordered import rows_where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from straceparse import StraceLog

_MOST_SIZES: Final = 3
#: Of this few reads no rate is reported.
_FEW: Final = 5
#: A rate known less well than this is not said.
_COARSE: Final = 0.10
_LEAST_READS: Final = 200
_KIB: Final = 1024
_SMALL: Final = 16 * _KIB
#: Most flash drives take longer; strace's own cost makes times longer, never shorter.
_FLASH_US: Final = 64
#: Neither flash nor a cache takes as long, nor the cost of strace.
_FLASH_MOST_US: Final = 2_000
#: A copy out of memory with strace's cost; O_DIRECT reads of a virtual disk took 39 to 66 us.
_COPY_US: Final = 32
_MOST_SHARE: Final = 0.60
#: Of fewer processes that read it is usual that one reads most; of more, one has this many times as many as the next.
_LEAST_PROCESSES: Final = 3
_MUCH_MORE: Final = 2
#: The others were idle, waiting for a post, for this part of their time in calls.
_MOSTLY_IDLE: Final = 0.75
_SKEW: Final = "see how the rows were distributed, in the session of the query: select * from v$pq_tqstat"
#: A rate within less of the log's time says within what.
_BRIEF: Final = 0.5
#: Reads go straight on where this share of them begins where the one before ended.
_MOSTLY: Final = 0.9


@rule(
    "one_process_read",
    of="strace",
    needs="reads of several processes",
    thresholds={"60 %, or twice the next": "a convention", "75 % of the time of the others idle": "a convention"},
)
def one_process_read(log: StraceLog) -> Iterator[Finding]:
    """The process that made most of the reads, where several made some and the others waited for most of their time.

    Examples:
        >>> import iolab
        >>> line = '{} 1700000000.{:02}0000 pread64(3</a.dbf>, "", 8192, 0) = 8192 <0.009000>'
        >>> wait = '{} 1700000000.010000 semtimedop(9, [{{0, -1, 0}}], 1, {{1, 0}}) = 0 <0.550000>'
        >>> lines = [line.format(8, 0), line.format(9, 0), wait.format(8), wait.format(9)]
        >>> lines += [line.format(7, n) for n in range(1, 61)]
        >>> for one in one_process_read(iolab.load(chr(10).join(lines).encode())): print(one.sentence)
        Process 7 made 60 of 62 reads within 609 ms; the other 2 made at most 1 each within 9 ms and were idle for
        1.10 s in `semtimedop`.
        >>> for one in one_process_read(iolab.load(chr(10).join(lines[2:]).encode())): print(one.sentence)
        Process 7 made all 60 reads within 599 ms; the other 2 made none and were idle for 1.10 s in `semtimedop`.
    """
    trace = trace_of(log)
    last = pl.max_horizontal("submitted", "completed").max()
    sums = trace.reads.group_by("pid").agg(made=pl.len(), first=pl.col("submitted").min(), last=last).collect()
    writers = trace.requests.filter(pl.col("op") == "write").get_column("pid").unique()
    idle = trace.calls.filter(~pl.col("pid").is_in([*sums["pid"], *writers])).select("pid").unique()
    sums = pl.concat([sums, idle.with_columns(made=pl.lit(0, pl.UInt32))], how="diagonal")
    sums = sums.sort("made", "pid", descending=True)
    if sums.height < _LEAST_PROCESSES:
        return
    pid, most = sums.item(0, "pid"), sums.item(0, "made")
    whole, rest = int(sums.get_column("made").sum()), sums[1:]
    next_most, fewest = rest.item(0, "made"), rest.item(-1, "made")
    others = trace.calls.filter(pl.col("pid").ne_missing(pl.lit(pid, pl.Int32())))
    posts = others.filter(pl.col("name").is_in(POSTS))
    is_skewed = most >= _MOST_SHARE * whole or (most >= _MUCH_MORE * next_most and fewest >= LEAST_WAITS)
    if not is_skewed or seconds_of(posts, "elapsed") < _MOSTLY_IDLE * seconds_of(others, "elapsed"):
        return
    span = (pl.col("last").max() - sums["first"].min()).dt.total_nanoseconds()
    each = f"at most {next_most:,} each" if next_most else "none"
    own, theirs = (
        f" within {seconds(ns / 1e9)}" if (ns := one.select(span).item()) else "" for one in (sums[:1], rest)
    )
    names = named_list([f"`{name}`" for name in posts.get_column("name").unique().sort()])
    yield Finding(
        "one_process_read",
        f"Process {pid} made {f'{most:,} of {whole:,}' if most < whole else f'all {whole:,}'} reads{own}; the other "
        f"{rest.height} made {each}{theirs} and were idle for {seconds(seconds_of(posts, 'elapsed'))} in {names}.",
        trace.share_of_few_reads,
        "the log",
        next=_SKEW,
        evidence=(Evidence("requests"),),
        order=3,
        explains=("file reads", ASYNCHRONOUS),
    )


@rule("read_size", of="strace", needs="reads of data", thresholds={"90 % straight on in the file": "a convention"})
def read_sizes(log: StraceLog) -> Iterator[Finding]:
    """How large reads were, by the sizes that came most often."""
    trace = trace_of(log)
    reads = trace.reads.select("bytes_transferred", "op").filter(pl.col("bytes_transferred") > 0).collect()
    sizes = reads.get_column("bytes_transferred")
    if sizes.is_empty():
        return
    counts = sizes.value_counts().sort("count", "bytes_transferred", descending=True)
    first = counts if counts.height <= _MOST_SIZES + 1 - bool(trace.unsized) else counts.head(_MOST_SIZES)
    listed = [f"{count:,} of {size_text(size, largest='KiB')}" for size, count in first.iter_rows()]
    listed[0] = listed[0].replace(" of ", " read of " if counts.item(0, "count") == 1 else " reads of ", 1)
    is_read = (pl.col("op") == "read") & (pl.col("bytes_transferred") > 0)
    has_others = trace.requests.select(is_read.sum()).item() > sizes.len()  # of libraries, pipes and sockets
    many = counted(sizes.len(), "file reads") if has_others else every(sizes.len(), "reads")
    more = sizes.len() - int(first.get_column("count").sum())
    if more:
        listed.append(f"{more:,} of other sizes")
    unprinted = trace.unsized
    if unprinted:
        said = (
            f"The log does not print the size of {count_text(unprinted, 'request')}; the others are {', '.join(listed)}"
        )
    elif counts.height == 1:
        said = f"{many} returned {size_text(sizes.item(0), largest='KiB')}{' each' if sizes.len() > 1 else ''}"
        if (reads.get_column("op") == "read").all():
            said += _in_order(trace.followed, sizes.len() - 1)
    else:
        said = f"{many} had {count_text(counts.height, 'size')}: {', '.join(listed)}"
    rate = figure_of(read_rate(trace.requests), "read_mb_per_s")
    if rate is not None and rate.hi - rate.lo <= _COARSE * rate.value and not unprinted and sizes.len() > _FEW:
        span, lead = float(sizes.sum()) / rate.value / 1e6, process_ledger(log)
        is_part = lead is not None and lead.total is not None and span < _BRIEF * lead.total.value
        said += f"; together {three(rate.value)} MB/s{f', within {seconds(span)}' if is_part else ''}"
    yield Finding(
        "read_size",
        f"{said}.",
        trace.share_of_few_reads,
        "the log",
        detail="; ".join(_beside(trace)),
        evidence=(Evidence("requests"),),
        order=4,
        explains=("file reads", ASYNCHRONOUS) if sizes.len() >= LEAST_WAITS else (),
    )


def _in_order(followed: int | None, steps: int) -> str:
    """Whether reads of one size of one descriptor go straight on in their file, by the steps from one to the next."""
    share = (followed or 0) / max(1, steps)
    if steps < LEAST_WAITS or share < _MOSTLY:
        return ""
    return f", {'all' if share == 1 else percent(share)} of them where the one before ended in the file"


def _beside(trace: Trace) -> Iterator[str]:
    """What is to be said beside the sizes of reads."""
    is_read = (pl.col("op") == "read") & (pl.col("bytes_transferred") > 0)
    not_named = trace.requests.select(is_read & pl.col("target").is_in(NOT_NAMED)).to_series()
    taken = int((not_named & trace.is_read).sum())
    left = int(not_named.sum()) - taken
    if taken or left:
        left_out = f"{', ' if taken else ''}{left:,} not counted (less than a sector)" if left else ""
        yield f"reads of files without a name: {f'{taken:,} counted' if taken else ''}{left_out}"
    times = read_latency(rows_where(trace.requests, pl.col("mode") == "async"))
    times = times.filter(pl.col("metric") == "latency_us_p50")
    if times.height and times.item(0, "value") is not None:
        yield f"asynchronous requests took {seconds(times.item(0, 'value') / 1e6)} (median), and overlap"


@rule(
    "read_latency_class",
    of="strace",
    needs="synchronous reads of one size with O_DIRECT, and -T",
    thresholds={"64 us": "most flash drives take longer", "60 % of 200 reads or more": "a convention"},
)
def read_latency_class(log: StraceLog) -> Iterator[Finding]:
    """Times of small O_DIRECT reads of one size: most flash drives take longer than 64 us; more is not decided.

    Examples:
        >>> import iolab
        >>> log = b'''     0.000000 openat(AT_FDCWD, "t", O_RDWR|O_DIRECT) = 3
        ...      0.000100 pread64(3, "", 8192, 0) = 8192'''
        >>> for one in read_latency_class(iolab.load(log)): print(one.sentence, one.is_refused)
        The log does not show how long reads took: without -T there are only upper bounds. True
    """
    trace = trace_of(log)
    if not trace.has_reads:
        return
    if not trace.is_timed:
        yield Finding(
            "read_latency_class",
            "The log does not show how long reads took: without -T there are only upper bounds.",
            next=COMMAND,
            is_refused=True,
        )
        return
    for name, size, times in _timed_reads(trace, direct=True):
        median = float(times.median() or 0) / 1e3  # type: ignore[arg-type]  # of integers
        fast = _share_below(times, _FLASH_US) >= _MOST_SHARE
        then = ", including strace's own cost: flash and caches cannot be told apart" if median < _FLASH_MOST_US else ""
        yield Finding(
            "read_latency_class",
            f"{size // _KIB} KiB reads of `{short_name(name)}` took {seconds(median / 1e6)} (median of {times.len():,} "
            f"reads){', faster than most flash drives' if fast else then}.",
            detail="strace makes calls longer, never shorter: the data came from a cache of the storage or fast flash"
            if fast
            else "",
            evidence=(Evidence("requests", (name,)),),
            order=4,
        )


def _share_below(times: pl.Series, limit_us: int) -> float:
    return int((times < limit_us * 1_000).sum()) / max(times.len(), 1)


def _timed_reads(trace: Trace, *, direct: bool) -> Iterator[tuple[str, int, pl.Series]]:
    """File, size and times (ns) of the synchronous small reads of one size with -T, of files opened that way.

    Those whose open is not in the log are one, without a name, and not known to be direct.
    """
    is_wanted = (
        (pl.col("mode") == "sync")
        & (pl.col("latency_from") == "T")
        & pl.col("syscall").is_in(READS)
        & (pl.col("bytes_transferred") == pl.col("bytes_requested"))
        & pl.col("bytes_transferred").is_between(1, _SMALL)
    )
    wanted = trace.reads.filter(is_wanted).select("file", "bytes_transferred", "latency").collect()
    ways = {
        file: {is_direct for _, is_direct in opens_of(trace, str(file))} for file in wanted.get_column("file").unique()
    }
    unknown = [file for file, how in ways.items() if not how]
    wanted = wanted.with_columns(file=pl.col("file").cast(pl.String).replace(unknown, None))
    for (file, size), rows in wanted.group_by("file", "bytes_transferred", maintain_order=True):
        if rows.height >= _LEAST_READS and (ways.get(file) or {False}) == {direct}:
            yield str(file or ""), int(str(size)), rows.select(nanoseconds("latency")).to_series().drop_nulls()


@rule(
    "page_cache_share",
    of="strace",
    needs="synchronous reads of one size, not known to be with O_DIRECT, and -T",
    thresholds={"32 us": "a copy out of memory with the cost of strace", "60 % of the reads": "a convention"},
)
def page_cache_share(log: StraceLog) -> Iterator[Finding]:
    """Small reads that were copies out of the kernel's cache: under 32 us; a drive takes longer."""
    trace, found = trace_of(log), dict[tuple[int, bool], list[tuple[str, pl.Series]]]()
    for name, size, times in _timed_reads(trace, direct=False):
        if _share_below(times, _COPY_US) >= _MOST_SHARE:
            found.setdefault((size, bool(name)), []).append((name, times))
    shares = ledgers(log)[0].parts().filter(part=BETWEEN).get_column("share_lo").drop_nulls() if found else ()
    for (size, has_name), rows in found.items():
        times = pl.concat([times for _, times in rows])
        names, took = [name for name, _ in rows if name], int(times.sum()) / 1e9
        of = f" of {named_list([f'`{short_name(name)}`' for name in names])}" if names else ""
        then = "they came from" if has_name else "consistent with"
        is_large = trace.window_s and took >= PART * trace.window_s
        yield Finding(
            "page_cache_share",
            f"{times.len():,} reads of {size // _KIB} KiB{of} took {seconds(took / times.len())} on average: {then} "
            f"the page cache, not a disk ({percent(_share_below(times, _COPY_US))} took less than {_COPY_US} us).",
            evidence=(Evidence("requests", tuple(names)),),
            order=0 if is_large else 4,
            explains=(BETWEEN,) if not is_large and any(share >= LARGE for share in shares) else (),
        )


@rule("stalls", of="strace", needs="reads of which the log times less than half")
def timed_few(log: StraceLog) -> Iterator[Finding]:
    """Reads of which few are timed, by the calls of other processes between: no percentile of them is reported."""
    sync = trace_of(log).reads.filter(pl.col("mode") == "sync").select("latency").collect()
    timed = sync.height - sync.get_column("latency").null_count()
    if timed and timed < 0.5 * sync.height:
        yield Finding(
            "stalls",
            f"The log does not show which reads were long: only {timed:,} of {count_text(sync.height, 'read')} "
            f"{'has' if timed == 1 else 'have'} a time.",
            detail="without -T, a read has a time only where the log splits it in two lines (unfinished, resumed)",
            next=COMMAND,
            is_refused=True,
        )
