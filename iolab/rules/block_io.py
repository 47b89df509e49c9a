"""biotop, biolatpcts, btt and nfsiostat: who moved most bytes, what a request took and where, the slowest mount."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, figure_text, time_text
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import numbers_after
from logframe.interval import ENDS, Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse.events import EventList
    from hostparse.log import FrameLog

_KEY: Final = ("pid", "command")
#: The section of btt of all devices, and the schedulers of Linux.
_ALL_DEVICES: Final = "All Devices"
_SCHEDULERS: Final = {"noop", "deadline", "cfq", "anticipatory", "none", "mq-deadline", "kyber", "bfq"}
#: What to look at where requests wait before they are sent to a device.
_SEE_SCHEDULER: Final = (
    "compare scheduler, nr_requests and queue depth: grep . /sys/block/DISK/queue/{scheduler,nr_requests} "
    "/sys/block/DISK/device/queue_depth; see the limits of its cgroup: io.max"
)
#: The percentiles that are reported, and their words.
_SAID: Final = ((50.0, "half of the {}"), (99.0, "99 % of the {}"), (100.0, "the longest of the {}"))
_OPERATIONS: Final = {"read": "reads", "write": "writes", "discard": "discards", "flush": "flushes"}


@rule("process_io", "latency", of="block_io", needs="rows of biotop or biolatpcts")
def block_io_findings(log: FrameLog) -> Iterator[Finding]:
    r"""The process with most bytes of those that biotop lists; the times of requests that biolatpcts gives.

    Percentiles of intervals are not of all time together: of several intervals the least and the greatest are reported.

    Examples:
        >>> from hostparse import read_summaries
        >>> head = "PID     COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms\n"
        >>> rows = "4711    ora_dbw0_orcl    W 252 3   dm-3        30     240   2.00\n"
        >>> rows += "14501   cksum            R 202 1   xvda1       10    1440   0.50\n"
        >>> for one in block_io_findings(read_summaries((head + rows + head + rows).encode())): print(one.sentence)
        `cksum` (14501) moved the most bytes of the listed processes: 2.95 MB in 2 intervals, 20 requests of 500 us
        each.
        >>> text = "sda  p50  p99  p100\nread 95us 1.5ms 2.5ms\nwrite - - -\n"
        >>> for one in block_io_findings(read_summaries(text.encode())): print(one.sentence)
        Half of the reads of `sda` took at most 101 us, 99 % at most 2.05 ms, the longest at most 3.05 ms.
        >>> for one in block_io_findings(read_summaries(b"sda  p50  p99\nread - -\nwrite - -\n")):
        ...     print(one.sentence, one.is_refused)
        The log does not show how long requests took: no interval has a request. True
    """
    processes = log.tables["processes"]
    if processes.height:
        yield from _processes(processes)
    percentiles = log.tables["percentiles"]
    if percentiles.is_empty():
        return
    timed = percentiles.drop_nulls("latency_ms")
    if timed.is_empty():
        yield Finding(
            "latency",
            "The log does not show how long requests took: no interval has a request.",
            next="biolatpcts while the work runs",
            evidence=(Evidence("percentiles"),),
            is_refused=True,
        )
        return
    for (device, operation), rows in timed.group_by("device", "operation", maintain_order=True):
        yield from _percentiles(device, str(operation), rows)


def _processes(processes: pl.DataFrame) -> Iterator[Finding]:
    count = pl.col("requests")
    totals = processes.group_by(_KEY, maintain_order=True).agg(
        pl.col("bytes", "bytes_lo", "bytes_hi").sum(),
        count.sum(),
        *((pl.col(f"latency_ms{end}") * count).sum().alias(f"busy_ms{end}") for end in ENDS),
    )
    row = totals.sort("bytes", "pid", descending=[True, False]).row(0, named=True)
    number = processes.get_column("sample").n_unique()
    moved = Interval(*(row[f"bytes{end}"] / 1e6 for end in ENDS))
    took = ""
    if row["requests"]:
        mean = Interval(*(row[f"busy_ms{end}"] / row["requests"] / 1e3 for end in ENDS))
        took = (
            f", {count_text(row['requests'], 'request')} of {time_text(mean)}{' each' if row['requests'] > 1 else ''}"
        )
    yield Finding(
        "process_io",
        f"`{row['command']}` ({row['pid']}) moved the most bytes of the listed processes: "
        f"{figure_text(moved, 'MB')} in {count_text(number, 'interval')}{took}.",
        evidence=(Evidence("processes", (row["command"],)),),
        order=1,
    )


def _percentiles(device: object, operation: str, rows: pl.DataFrame) -> Iterator[Finding]:
    number = rows.get_column("sample").n_unique()
    word = _OPERATIONS.get(operation, operation) + (f" of `{device}`" if device is not None else "")
    said: list[str] = []
    for percentile, words in _SAID:
        own = rows.filter(pl.col("percentile") == percentile)
        if own.height:
            least, most = (
                time_text(float(str(value)) / 1e3) for value in (own["latency_ms_hi"].min(), own["latency_ms_hi"].max())
            )
            often = "" if least == most else f" ({least} in the best of {count_text(number, 'interval')})"
            whose = words.format(word) + " took" if not said else words.removesuffix(" of the {}")
            said.append(f"{whose} at most {most}{often}")
    if not said:
        return
    yield Finding(
        "latency",
        f"{said[0][:1].upper()}{', '.join(said)[1:]}.",
        evidence=(Evidence("percentiles", (operation,)),),
        order=1,
    )


_AGAIN: Final = "see what is sent again, and the server: nfsstat -rc; ss -ti; iostat -xt 5 on the server"
_SERVER: Final = "see the server, and the network to it: iostat -xt 5 on the server; ss -ti"
_SLOT_TABLE: Final = "slot_table_entries"
_SLOTS: Final = "raise what the client may send at a time: nconnect of the mount, sunrpc.tcp_max_slot_table_entries"


@rule("request_layers", of="btt", needs="the steps of all devices, from queued to completed (Q2C)")
def request_layers(log: FrameLog) -> Iterator[Finding]:
    r"""Where the time of a request passed: before the scheduler, in it (I2D), and in driver and device (D2C).

    Examples:
        >>> import iolab
        >>> head = "==================== All Devices ====================\n\n"
        >>> rows = "I2D 0.000000398 0.012000000 0.410220318 81221\nD2C 0.000070210 0.004000000 0.061108204 81221\n"
        >>> log = iolab.load((head + rows + "Q2C 0.000081004 0.016000000 0.412001877 81221\n").encode())
        >>> for one in request_layers(log): print(one.sentence)
        A request took 16 ms on average: it waited 12 ms in the I/O scheduler (I2D, 75 %), and the device took 4 ms
        (D2C, 25 %). The longest of 81,221 requests took 412 ms.
    """
    rows = log.tables["steps"]
    own = {row["step"]: row for row in rows.filter(section=_ALL_DEVICES).to_dicts()}
    whole = own.get("Q2C")
    if whole is None or not whole["mean_ms"] or "D2C" not in own:
        return
    took = {name: own[name]["mean_ms"] / 1e3 if name in own else 0.0 for name in ("I2D", "D2C", "Q2C")}
    # the means of the steps are of as many requests where none was merged, or sent again
    is_same = own.get("I2D", whole)["count"] == own["D2C"]["count"] == whole["count"]
    shares = {name: f", {percent(one / took['Q2C'])}" if is_same else "" for name, one in took.items()}
    is_held = took["I2D"] > took["D2C"]
    texts = log.diagnostics.get_column("text").drop_nulls()
    chosen = {word.strip("[]") for text in texts for word in text.split() if word[0] + word[-1] == "[]"} & _SCHEDULERS
    name = f" `{chosen.pop()}`" if len(chosen) == 1 else ""
    waits = f"it waited {seconds(took['I2D'])} in the I/O scheduler{name} (I2D{shares['I2D']})" if took["I2D"] else ""
    device = f"the device took {seconds(took['D2C'])} (D2C{shares['D2C']})"
    yield Finding(
        "request_layers",
        f"A request took {seconds(took['Q2C'])} on average: {', and '.join(filter(None, (waits, device)))}. "
        f"The longest of {count_text(whole['count'], 'request')} took {seconds(whole['max_ms'] / 1e3)}.",
        detail="D2C is from the dispatch to the driver until completion",
        next=_SEE_SCHEDULER if is_held else "see the distribution of the latencies: biolatency -D 10 1",
        evidence=(Evidence("steps", ("I2D", "D2C", "Q2C")),),
        order=0,
    )


@rule(
    "request_layers",
    of="io_events",
    needs="blkparse, with the issue and the completion of requests",
    thresholds={"half of the time before the issue": "most"},
)
def layers_of_events(log: EventList) -> Iterator[Finding]:
    r"""That requests waited in the host, before they were issued to the driver, longer than the device took.

    Examples:
        >>> import iolab
        >>> step = "8,0 1 {} {:.6f} 7 {} R {} + 16 [oracle]\n"
        >>> steps = (("Q", 0.0), ("D", 0.08), ("C", 0.0804))
        >>> text = "".join(step.format(n, n + at, word, 16 * n) for n in range(1, 41) for word, at in steps)
        >>> for one in layers_of_events(iolab.load(text.encode())): print(one.sentence)
        A request took 80.4 ms on average: it waited 80.0 ms in the host before it was issued, and the device took
        400 us.
    """
    rows = log.requests.drop_nulls(["device_ms", "total_ms"])
    device, whole = (float(rows[name].mean() or 0) / 1e3 for name in ("device_ms", "total_ms"))  # type: ignore[arg-type]
    if rows.height < LEAST_WAITS or whole < 2 * device:
        return
    yield Finding(
        "request_layers",
        f"A request took {seconds(whole)} on average: it waited {seconds(whole - device)} in the host before it was "
        f"issued, and the device took {seconds(device)}.",
        next=_SEE_SCHEDULER,
        evidence=(Evidence("requests"),),
        order=0,
    )


@rule("slow_mount", of="nfsiostat", needs="requests of NFS mounts")
def slow_mount(log: FrameLog) -> Iterator[Finding]:
    r"""The reads and the writes of the NFS mount with most requests in flight: how long one took, and where.

    The first sample is a mean since the mount, and left out where others follow.  The time in the queue is as printed;
    older versions print none, and it is the rest of the time.

    Examples:
        >>> import iolab
        >>> head = "kB/s kB/op retrans avg RTT (ms) avg exe (ms)\n"
        >>> rows = f"read: ops/s {head} 9.0 72.0 8.0 1 (1.0%) 12.0 30.0\n"
        >>> log = iolab.load(f"nas:/vol mounted on /u04:\n\n ops/s rpc bklog\n 9.0 0.0\n\n{rows}".encode())
        >>> for one in slow_mount(log): print(one.sentence)
        Reads of `/u04` took 30 ms each, 18 ms in the client's queue, 12 ms in network and server: 9 per second, 1.0 %
        sent again.
    """
    rows = log.tables["operations"]
    samples = rows.get_column("sample").n_unique()
    rate = pl.col("requests_per_s")
    means = (
        rows.filter(pl.col("sample") > (1 if samples > 1 else 0), rate > 0)
        .group_by("mount", "direction")
        .agg(
            *((pl.col(name) * rate).sum() / rate.sum() for name in ("latency_ms", "round_trip_ms")),
            queued=(pl.coalesce("queue_ms", pl.col("latency_ms") - pl.col("round_trip_ms")) * rate).sum() / rate.sum(),
            again=(pl.col("retransmitted_percent") * rate).sum() / rate.sum() / 100,
            rate=rate.sum() / max(samples - 1, 1),
        )
        .with_columns(flight=pl.col("rate") * pl.col("latency_ms"))
        .sort("flight", "mount", "direction", descending=[True, False, False])
    )
    if means.is_empty():
        return
    for row in means.filter(pl.col("mount") == means.item(0, "mount")).iter_rows(named=True):
        again = f", {percent(row['again'])} sent again" if row["again"] else ""
        is_queued = row["queued"] > row["round_trip_ms"]
        inside = f"{seconds(row['round_trip_ms'] / 1e3)} of it on the network and in the server"
        if is_queued:
            times = seconds(row["queued"] / 1e3), seconds(row["round_trip_ms"] / 1e3)
            slots = max(numbers_after(log.diagnostics, _SLOT_TABLE), default=0)
            few = f" ({slots:,} RPC slots)" if 0 < slots < float(means.get_column("flight").sum()) / 1e3 else ""
            inside = f"{times[0]} in the client's queue{few}, {times[1]} in network and server"
        yield Finding(
            "slow_mount",
            f"{_OPERATIONS[row['direction']].capitalize()} of `{row['mount']}` took {seconds(row['latency_ms'] / 1e3)} "
            f"each, {inside}: {three(row['rate'])} per second{again}.",
            detail="" if is_queued else "the other part is the time in the queue of the client",
            next=_AGAIN if row["again"] else _SLOTS if is_queued else _SERVER,
            evidence=(Evidence("operations", (row["mount"],)),),
            order=0,
        )
