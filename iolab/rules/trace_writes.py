"""Writes and flushes of an strace log: files that are read, too, and their size, latency, and flushes per write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import size_text
from iolab.metrics.table import nanoseconds
from iolab.metrics.trace_facts import short_name, trace_of
from iolab.metrics.trace_reads import file_or_fd
from iolab.metrics.trace_times import times_of
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import counted, often_each, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART
from iolab.rules.trace_calls import WRITER, is_own, is_writer, process_ledger
from iolab.rules.trace_outliers import FAR
from iolab.rules.trace_time import IOSTAT
from iolab.time_ledger.next_steps import ON_DISK
from logframe.interval import Interval
from straceparse.call_classes import with_classes
from straceparse.records import PARTS_GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.trace_facts import Trace
    from straceparse import StraceLog

#: What requests do with a file.
_HALVES: Final = ("write", "read")
_EXTENDS: Final = "fallocate"
#: Fewer have no percentile.
_LEAST: Final = 20
#: This many files are named.
_MOST_FILES: Final = 3
#: A file that is not flushed, and whose writes took less of the log, is not named.
_SHARE: Final = 0.01
#: Bytes and seconds of a copy, as dd prints them.
_COPIED: Final = PARTS_GRAMMAR.pattern("^(?P<bytes>{COPIED_BYTES}){COPIED} (?P<seconds>{COPIED_SECONDS}) s")
#: The line above it, where all blocks are whole, and a size of blocks from which calls cost little.
_RECORDS: Final = PARTS_GRAMMAR.pattern("^({COPIED_BYTES}){WHOLE_RECORDS}$")
_SMALL: Final = 65536
_NEXT: Final = "`iostat -xt 1` of the device{}: w_await, f/s and f_await"
_NFS: Final = "`nfsiostat 1`{} (a local disk: `iostat -xt 1`): avg RTT and exe of writes"


@rule(
    "write_latency",
    of="strace",
    needs="20 timed writes or flushes of a file",
    thresholds={"20": "a percentile of fewer is one value", "1 % of the log": "a convention"},
    explains=("file writes", "file flushes"),
)
def write_latency(log: StraceLog) -> Iterator[Finding]:
    """Size and latency of the writes and flushes of the files that took most time in them.

    Examples:
        >>> import iolab
        >>> lines = ['1700000000.000000 open("redo.log", O_RDWR|O_DSYNC) = 3 <0.000010>']
        >>> lines += [f'1700000000.0{n}000 pwrite64(3, "", 512, {n}) = 512 <0.000200>' for n in range(100, 130)]
        >>> print(*(one.sentence for one in write_latency(iolab.load(chr(10).join(lines).encode()))))
        30 writes to `redo.log` (O_SYNC or O_DSYNC), 512 bytes on average, took a median of 200 us (p99 200 us).
    """
    trace, lead = trace_of(log), process_ledger(log)
    window, is_alone = trace.window_s, lead is not None and is_writer(log, lead)
    batches = trace.requests.filter(pl.col("mode") == "async").select(file_or_fd()).to_series()
    cut = {*batches} if trace.unprinted else set()  # lists that strace did not print whole
    of_all = trace.requests.filter(pl.col("file").is_null()).group_by(file_or_fd()).agg(pl.col("pid").n_unique())
    cut |= {*of_all.filter(pl.col("pid") > 1).to_series(0)}  # a number is another descriptor in each process
    for row in trace.writes.filter(~pl.col("file").is_in(cut)).head(_MOST_FILES).iter_rows(named=True):
        if row["seconds"] is None and row["has_o_sync"] and row["writes"] >= _LEAST:
            yield _untimed(trace, row)
        is_durable = row["has_o_sync"] or row["syncs"]
        if row["seconds"] is None or not (is_durable or (window and row["seconds"] >= _SHARE * window)):
            continue
        name, parts = f"`{short_name(row['file'])}`", []
        folder = row["file"].rpartition("/")[0]
        name += " (O_SYNC or O_DSYNC)" if row["has_o_sync"] else ""
        if row["writes"] >= _LEAST and row["write_us_p50"] is not None:
            parts.append(
                f"{counted(row['writes'], 'writes')} to {name}, {size_text(round(row['avg_bytes']))} on average, took "
                f"{_times(row, 'write')}"
            )
        if row["syncs"] >= _LEAST and row["sync_us_p50"] is not None:
            per = _per_write(row["writes_per_sync"]) if row["writes"] else ""
            parts.append(f"{counted(row['syncs'], 'flushes')} of {name} took {_times(row, 'sync')}{per}")
        step = (_NFS if _is_nfs(folder) else _NEXT).format(f" of {folder}" if folder else "")
        for said in parts:
            yield Finding(
                "write_latency",
                f"{said}.",
                next=WRITER if is_alone else step,
                evidence=(Evidence("requests", (str(row["file"]),)),),
                detail="each write ends when its data is on the device" if row["has_o_sync"] else "",
                order=3,
            )


@rule(
    "file_extended",
    of="strace",
    needs="calls of fallocate",
    thresholds={"30 extensions": "finding.LEAST_WAITS"},
)
def file_extended(log: StraceLog) -> Iterator[Finding]:
    """A file that grew many times by little, and what its writes and flushes took together.

    Examples:
        >>> import iolab
        >>> grow = "1700000000.{:03}000 fallocate(3</u01/a.dbf>, 0, 0, 1048576) = 0 <0.000100>"
        >>> fill = '1700000000.{:03}000 pwrite64(3</u01/a.dbf>, "", 1048576, 0) = 1048576 <0.000900>'
        >>> lines = [(fill if n % 2 else grow).format(n) for n in range(60)]
        >>> for one in file_extended(iolab.load(chr(10).join(lines).encode())): print(one.sentence)
        `a.dbf` was extended 30 times by 1 MiB (`fallocate`); its writes and flushes took 27 ms of 59.9 ms.
    """
    trace, lead = trace_of(log), process_ledger(log)
    if int(trace.calls.filter(name=_EXTENDS)["calls"].sum()) < LEAST_WAITS:
        return
    rows = log.calls.filter(pl.col("name") == _EXTENDS, pl.col("result") == 0).select("fd_path", "args").collect()
    parts = pl.col("args").str.split(", ").list
    rows = rows.select(fd=parts.first(), file="fd_path", size=parts.last().cast(pl.Int64, strict=False))
    rows = rows.select(file_or_fd().alias("file"), "size").drop_nulls()
    sums = rows.group_by("file").agg(pl.len(), pl.col("size").mean(), kinds=pl.col("size").n_unique())
    for file, count, size, kinds in sums.sort("len", "file", descending=[True, False]).head(1).iter_rows():
        if count < LEAST_WAITS:
            return
        said = f"`{short_name(file)}` was extended {count:,} times by {size_text(round(size))}"
        said += f"{' on average' if kinds > 1 else ''} (`{_EXTENDS}`)"
        took = float(trace.writes.filter(pl.col("file") == file)["seconds"].sum())
        whole = lead.total.value if lead is not None and lead.total is not None else 0.0
        if took and whole:
            said += f"; its writes and flushes took {seconds(took)} of {seconds(whole)}"
        yield Finding(
            "file_extended",
            f"{said}.",
            Interval.exact(min(1.0, took / whole)) if took and whole else None,
            "elapsed time",
            next="extend it in larger steps: INCREMENT_BY of DBA_DATA_FILES (autoextend NEXT), or resize it beforehand",
            evidence=(Evidence("calls", (_EXTENDS,)),),
            order=0,
        )


@rule(
    "written_and_read",
    of="strace",
    needs="times of calls that read and write one file",
    thresholds={"10 % of the time for each half": "time_parts.PART"},
)
def written_and_read(log: StraceLog) -> Iterator[Finding]:
    """A file, as of a temporary tablespace, that took a notable share of the time both to write and to read.

    Examples:
        >>> import iolab
        >>> line = '1700000000.00{}000 {}64(3</u01/temp01.dbf>, "", 8192, 0) = 8192 <0.000{}00>'
        >>> lines = [line.format(n, "pwrite" if n < 5 else "pread", 5 if n < 5 else 4) for n in range(1, 9)]
        >>> for one in written_and_read(iolab.load(chr(10).join(lines).encode())): print(one.sentence)
        `temp01.dbf` took 49 % of 7.40 ms: 27 % to write it (4 requests, 500 us each), 22 % to read it (4 requests,
        400 us each).
    """
    lead = process_ledger(log)
    if lead is None or lead.total is None or lead.unshared:
        return
    whole = (lead.work or lead.total).value
    own = trace_of(log).requests.filter(is_own(lead), pl.col("op").is_in(_HALVES), pl.col("latency").is_not_null())
    alone = trace_of(log).queues.filter(pl.col("depth_max") == 1).get_column("file")  # others have times that overlap
    own = own.filter((pl.col("mode") == "sync") | file_or_fd().is_in(alone.implode()))
    files = with_classes(times_of(log).targets.filter(is_own(lead))).filter(pl.col("kind") == "io")
    own = own.filter(file_or_fd().is_in(files.select(file_or_fd()).to_series().implode()))
    rows = own.select("op", file_or_fd().alias("file"), took=nanoseconds("latency") / 1e9).drop_nulls("file")
    sums = rows.group_by("file", "op").agg(pl.col("took").sum(), count=pl.len()).filter(pl.col("took") >= PART * whole)
    both = sums.filter(pl.len().over("file") == len(_HALVES))
    both = both.sort(pl.col("took").sum().over("file"), "file", "op", descending=True).head(len(_HALVES))
    share = float(both.get_column("took").sum()) / whole
    said = [
        f"{percent(took / whole)} to {op} it "
        f"({often_each(Interval.exact(count), None, 'requests', seconds(took / count))})"
        for op, took, count in both.select("op", "took", "count").iter_rows()
    ]
    for file in both.get_column("file").head(1):
        yield Finding(
            "written_and_read",
            f"`{short_name(file)}` took {percent(share)} of {seconds(whole)}: {', '.join(said)}.",
            Interval.exact(share),
            "the non-idle time" if lead.work else "elapsed time",
            next=ON_DISK if "temp" in file.lower() else IOSTAT,
            evidence=(Evidence("requests", (file,)),),
            order=0,
        )


@rule(
    "copied_in_blocks",
    of="strace_summary",
    needs="the lines of dd beside the table of strace -c",
    thresholds={"64 KiB": "from there on a call costs little beside the bytes that it moves"},
)
def copied_in_blocks(log: StraceLog) -> Iterator[Finding]:
    r"""A copy of `dd` in small blocks: its calls are many, and each of them costs time.

    Examples:
        >>> import iolab
        >>> log = "8388608+0 records in\n8388608+0 records out\n"
        >>> log += "4294967296 bytes (4.3 GB) copied, 411.207 s, 10.4 MB/s\n"
        >>> log += "% time     seconds  usecs/call     calls    errors syscall\n"
        >>> log += "------ ----------- ----------- --------- --------- ----------------\n"
        >>> log += "100.00   46.913377           5   8390133           read\n"
        >>> for one in copied_in_blocks(iolab.load(log.encode())): print(one.sentence)
        `dd` copied 4 GiB in blocks of 512 bytes: 411 s, 10.4 MB/s.
    """
    texts = log.diagnostics.sort("line").get_column("text").drop_nulls().str.strip_chars()
    for size, took_s, count in _copies(texts).drop_nulls().sort("seconds").tail(1).iter_rows():
        if count and size < _SMALL * count and size % count == 0 and took_s > 0:
            yield Finding(
                "copied_in_blocks",
                f"`dd` copied {size_text(size)} in blocks of {size_text(size // count)}: {seconds(took_s)}, "
                f"{three(size / took_s / 1e6)} MB/s.",
                next="copy in larger blocks: dd bs=1M",
                evidence=(Evidence("diagnostics"),),
                order=-1,
            )


def _copies(texts: pl.Series) -> pl.DataFrame:
    """The copies that dd printed among lines: ``bytes``, ``seconds`` and ``count`` of blocks, null unless all whole."""
    lines = pl.DataFrame({"text": texts, "above": texts.shift(1)})
    count = pl.col("above").str.extract(_RECORDS, 1).cast(pl.Int64, strict=False)
    copied = lines.select(pl.col("text").str.extract_groups(_COPIED), count=count).unnest("text")
    took = pl.col("seconds").str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return copied.select(pl.col("bytes").cast(pl.Int64, strict=False), took, "count").drop_nulls(["bytes", "seconds"])


def _untimed(trace: Trace, row: dict[str, Any]) -> Finding:
    """Writes that each wait for the device, of a log without times; with the time that dd printed for all of them."""
    said = f"{counted(row['writes'], 'writes')} to `{short_name(row['file'])}` were synchronous (O_SYNC or O_DSYNC), "
    said += f"{size_text(round(row['avg_bytes']))} on average."
    times = _copies(trace.unread["text"]).filter(pl.col("bytes") == row["bytes"])["seconds"].to_list()
    if len(times) == 1 and times[0] > 0:
        rate = f"{seconds(times[0] / row['writes'])} per write, {three(row['bytes'] / times[0] / 1e6)} MB/s"
        said += f" `dd` printed {seconds(times[0])} for its copy: {rate}."
    return Finding(
        "write_latency",
        said,
        next="write larger blocks, or sync once at the end (dd: bs=1M conv=fsync); iostat -xt 1 shows w_await",
        evidence=(Evidence("requests", (str(row["file"]),)),),
        detail="each write ends when its data is on the device",
        order=0,
    )


def _is_nfs(folder: str) -> bool:
    """Whether a folder is likely on NFS, by the names on its path: `/arch_nfs`, `/nfs01/redo`."""
    words = folder.lower().replace("_", "/").replace("-", "/").split("/")
    return any(word.startswith("nfs") or word.endswith("nfs") for word in words)


def _per_write(writes: float) -> str:
    """How many writes came before each flush."""
    if round(writes, 1) == 1:
        return ", one after each write"
    return f", one per {three(writes)} writes" if writes > 1 else f", {three(1 / writes)} per write"


def _times(row: dict[str, float], kind: str) -> str:
    """Median and 99th percentile, and the longest where that percentile hides it."""
    middle, high, longest = (row[f"{kind}_us_{name}"] / 1e6 for name in ("p50", "p99", "max"))
    beyond = f", the longest {seconds(longest)}" if longest >= FAR * high else ""
    return f"a median of {seconds(middle)} (p99 {seconds(high)}{beyond})"
