"""What was too much for a host: slow and saturated devices, flushes, run queues, processes that waited for a CPU."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import RANGE
from iolab.metrics.processors import (
    SATURATED,
    cpu_parts,
    high_stretch,
    levels,
    mean_by_time,
    raised,
)
from iolab.rules.devices import (
    QUEUE_FULL,
    SEE_USERS,
    SLOW_MS,
    group_words,
    latencies_of,
    queue_of,
    request_kinds,
    timed_samples,
    with_sums,
)
from iolab.rules.finding import OF_SAMPLES, Evidence, Finding
from iolab.rules.host_processors import swapping
from iolab.rules.phrases import capital, counted, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.samples import steps_of
from logframe.errors import RefusedError
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hostparse import HostLog

#: Kinds of requests: the word of several, the column of their rate, and those of the time of one.
_KINDS: Final = (
    ("Reads", "reads_per_s", ("read_await_ms", "read_service_ms")),
    ("Writes", "writes_per_s", ("write_await_ms", "write_service_ms")),
    ("Requests", "transfers_per_s", ("await_ms", "service_ms")),
)
#: Several times what a request to flash takes: a tenth of a millisecond (NVMe).
_SLOW_FLASH_MS: Final = 2.0
_FLASH: Final = ("nvme", "pmem")
#: Fewer requests in a sample do not describe the device.
_LEAST: Final = 10.0
_MOST_DEVICES: Final = 3
#: Devices that were high in nearly as many samples are a group, where they are this many.
_LEAST_GROUP, _AS_OFTEN, _MOSTLY = 3, 0.8, 0.5
#: The rate of a device that slows down falls, too, by more than this part.
_FALLS: Final = 0.2
_MEGABYTE: Final = 1e6
#: Parts of the processors' time that rise in a part of a log, by 20 points of it or more.
_CHANGING: Final = {
    "iowait": "Idle time with I/O in flight (iowait)",
    "steal": "Time taken by the hypervisor (steal)",
    "system": "Kernel code (system)",
    "user": "User code",
}
_MUCH_MORE: Final = 20.0
#: A rise of the number of processes by this factor is worth a sentence.
_MANY_MORE: Final = 1.5
#: Rates of requests that differ by no more in five samples are those of a limit; a slower disk has none.
_LIMITED: Final = 0.99
_FEWEST: Final = 5
_LEAST_RATE: Final = 100
_SEE_LIMIT: Final = "compare with what the volume and the host may do: their requests per second (IOPS)"
_SEE_PATH: Final = "see what it does not share with the others: multipath -ll; its LUN, path and pool in the array"
_MOVED: Final = (("read", "read_bytes_per_s"), ("written", "write_bytes_per_s"))
#: Pages that were scanned, and what else shows that memory was short -> from how many on, who scanned, what it is.
_SCANNED: Final = {
    ("pgscand_per_s", "majflt_per_s"): (1, "processes", "major faults per second"),
    ("sr_per_s", "po_per_s", "de_per_s"): (200, "the kernel", "KiB/s were paged out"),
}
#: What vmstat and sar print of processors that are not busy: idle, with and without I/O in flight.
_NOT_BUSY: Final = ("id_percent", "idle_percent", "wa_percent", "iowait_percent")
#: Devices are compared with one that has no more requests than they have, within this part; they are this many, and
#: high in few of as many samples.
_ALIKE, _LEAST_PEERS, _FEW = 0.2, 2, 0.1
#: How device mapper's devices are named: of several paths, or volumes on disks.
_MAPPED: Final = "dm-"
#: Speeds of links, in Gbit/s.
_LINKS: Final = (1, 10, 25, 40, 100)
#: Interfaces without a link.
_NO_LINKS: Final = ("lo", "lo0")


def _whole(rows: pl.LazyFrame) -> tuple[int, float]:
    """The number of samples, and their length together."""
    single = rows.group_by("run", "sample").agg(pl.col("weight").max())
    number, whole = single.select(pl.len(), pl.col("weight").sum()).collect().row(0)
    return int(number), float(whole)


def _of_device(rows: pl.LazyFrame, device: str) -> pl.DataFrame:
    return rows.filter(pl.col("device") == device).sort("run", "sample").collect()


def _when(rows: pl.DataFrame, is_high: pl.Expr) -> str:
    """When the samples were that are high, where that was one stretch."""
    found = high_stretch(rows, is_high)
    return "" if found is None else found.of_all


def _mean(rows: pl.DataFrame, name: str) -> float:
    return float(rows.select(mean_by_time(pl.col(name))).item() or 0.0)


def _sum(rows: pl.DataFrame) -> float:
    return float(rows.select(pl.col("weight").sum()).item())


def _share(part: float, whole: float) -> Interval:
    return Interval.exact(min(part / whole, 1.0))


@rule(
    "slow_device",
    of="host",
    needs="samples of the devices with the time of a request",
    thresholds={"20 ms, 2 ms for nvme": "several times what a disk or flash takes without a queue; 10 requests"},
)
def slow_device(log: HostLog) -> Iterator[Finding]:
    r"""The devices whose requests took longer than a device of their class takes, by samples.

    Examples:
        >>> from hostparse import read_host
        >>> head = "Device r/s w/s rkB/s wkB/s r_await w_await\n"
        >>> rows = [head + f"sda 100.0 1.0 800.0 8.0 {took} 1.0\n\n" for took in ("1.0", "5.0", "90.0", "30.0")]
        >>> for one in slow_device(read_host("".join(rows).encode())): print(one.mark, one.sentence)
        major Reads from `sda` averaged more than 20 ms in 2 of 3 samples: 60 ms on average, 90 ms in the slowest; 5 ms
        in the others.
    """
    yield from _slow(log, _saturated(log))


def _slow(log: HostLog, saturated: Iterable[tuple[Finding, tuple[str, str]]]) -> Iterator[Finding]:
    """The slow devices, beside the saturated ones, whose groups are looked at where some device is slow."""
    rows = timed_samples(log, "device", "device")
    if rows is None:
        return
    rows = with_sums(rows)
    columns = set(rows.collect_schema().names())
    number, whole = _whole(rows)
    rows = rows.with_columns(flown=_requests(rows)[1])
    rows = rows.with_columns(most_flown=pl.col("flown").max().over("run", "sample"))
    is_flash = pl.any_horizontal(pl.col("device").str.starts_with(name) for name in _FLASH)
    limit = pl.when(is_flash).then(_SLOW_FLASH_MS).otherwise(SLOW_MS)
    found: list[tuple[float, str, dict[str, Any]]] = []
    for word, rate, times in _KINDS:
        time = next((name for name in times if name in columns), None)
        if rate not in columns or time is None or (word == "Requests" and found):
            continue
        moved = pl.col(rate) * pl.col("weight")
        is_slow = (pl.col(time) > limit) & (moved >= _LEAST)
        slow = rows.group_by("device").agg(
            limit=limit.first(),
            number=is_slow.sum(),
            seconds=pl.col("weight").filter(is_slow).sum(),
            slow=(pl.col(time) * moved).filter(is_slow).sum() / moved.filter(is_slow).sum(),
            others=(pl.col(time) * moved).filter(~is_slow).sum() / moved.filter(~is_slow).sum(),
            most=pl.col(time).filter(is_slow).max(),
            slow_rate=moved.filter(is_slow).sum() / pl.col("weight").filter(is_slow).sum(),
            other_rate=moved.filter(~is_slow).sum() / pl.col("weight").filter(~is_slow).sum(),
            rate=moved.sum(),
            every=(pl.col(time) * moved).sum() / moved.sum(),
            flown=pl.col("flown").filter(is_slow).sum(),
            most_flown=pl.col("most_flown").filter(is_slow).sum(),
        )
        devices = slow.collect()
        # few slow requests, now and then, beside a device with many are not what was slow
        is_much = (pl.col("flown") >= PART * 1e3 * pl.col("seconds")) | (pl.col("flown") >= _FEW * pl.col("most_flown"))
        some = devices.filter(pl.col("number") > 0, is_much | (pl.col("number") >= _MOSTLY * number)).to_dicts()
        found += [
            (row["seconds"], word, row | {"is_slow": is_slow, "peers": _peers(devices, row, number)}) for row in some
        ]
    found.sort(key=lambda one: (-one[0], str(one[2]["device"]), one[1]))
    groups = [one for one, _ in saturated if len(one.evidence[0].rows) > 1] if found else []
    said_s = {
        name: one.impact.value * whole / _AS_OFTEN for one in groups if one.impact for name in one.evidence[0].rows
    }
    found = [one for one in found if one[0] > said_s.get(str(one[2]["device"]), 0.0)]
    group = [
        one
        for one in found
        if one[0] >= _MOSTLY * found[0][0] and (one[1], one[2]["limit"]) == (found[0][1], found[0][2]["limit"])
    ]
    if len(group) >= _LEAST_GROUP:
        found = [one for one in found if one not in group]
        yield _slow_group(rows, group, number, whole)
    for slow_s, word, row in found[: _MOST_DEVICES - (len(group) >= _LEAST_GROUP)]:
        others = "" if not row["others"] > 0 else f"; {seconds(row['others'] / 1e3)} in the others"
        most = "" if row["slow"] > (1 - RANGE) * row["most"] else f", {seconds(row['most'] / 1e3)} in the slowest"
        when = _when(_of_device(rows, row["device"]), row["is_slow"])
        samples = f"{row['number']:,} of {counted(number, 'samples')}"
        said = (
            f"{word} {'from' if word == 'Reads' else 'to'} `{row['device']}` averaged more than {three(row['limit'])} "
            f"ms in {samples}{when}: {seconds(row['slow'] / 1e3)} on average{most}{others}."
        )
        falls = bool(when and others) and row["slow_rate"] < (1 - _FALLS) * row["other_rate"]
        if falls:  # less was asked of it, and took longer
            said = (
                f"`{row['device']}` slowed down{when.removeprefix(',')}: {word.lower()} took "
                f"{seconds(row['slow'] / 1e3)} at {three(row['slow_rate'])} per second in {samples}; "
                f"{seconds(row['others'] / 1e3)} at "
                f"{three(row['other_rate'])} per second in the others."
            )
        yield Finding(
            "slow_device",
            f"{said}{row['peers'][0]}",
            impact=_share(slow_s, whole),
            impact_of=OF_SAMPLES,
            next=row["peers"][1] or latencies_of(str(row["device"]), columns),
            evidence=(Evidence("device", (str(row["device"]),)),),
            order=3 if falls else 4 if row["peers"][1] else 5,
        )


def _slow_group(
    rows: pl.LazyFrame, group: list[tuple[float, str, dict[str, Any]]], number: int, whole: float
) -> Finding:
    """Several devices whose requests were slow in nearly as many samples."""
    (slow_s, word, first), devices = group[0], sorted(str(one["device"]) for *_, one in group)
    took = [float(one["slow"]) / 1e3 for *_, one in group]
    return Finding(
        "slow_device",
        f"{word} {'from' if word == 'Reads' else 'to'} {group_words(devices, _others(rows, devices))} averaged more "
        f"than {three(first['limit'])} ms in {_of_samples(rows, devices, first['is_slow'], number)}: "
        f"{seconds(_around(took))} on average.",
        impact=_share(slow_s, whole),
        impact_of=OF_SAMPLES,
        next=latencies_of(devices[0], rows.collect_schema().names()),
        evidence=(Evidence("device", tuple(devices)),),
    )


def _around(values: list[float]) -> Interval:
    """The mean of some figures between the least and the most of them, whatever it is rounded to."""
    least, most = min(values), max(values)
    return Interval(min(max(sum(values) / len(values), least), most), least, most)


def _others(rows: pl.LazyFrame, devices: list[str]) -> list[str]:
    """The names of the devices that are not of a group."""
    names = rows.select(pl.col("device").cast(pl.String).unique()).collect().to_series().drop_nulls()
    return sorted(set(names) - {*devices})


def _of_samples(rows: pl.LazyFrame, devices: list[str], is_high: pl.Expr, whole: int) -> str:
    """In how many samples each device of a group was high, and when most of them were, where that was one stretch."""
    own = rows.filter(pl.col("device").is_in(devices)).with_columns(high=is_high.fill_null(value=False))
    numbers = own.group_by("device").agg(pl.col("high").sum()).collect().get_column("high").to_list()
    ends = pl.col("interval_start", "interval_end").first()
    samples = own.group_by("run", "sample").agg(ends, pl.col("high").mean() >= _MOSTLY).sort("run", "sample").collect()
    found = high_stretch(samples, pl.col("high"))
    when = "" if found is None else f",{' mostly' * (min(numbers) != max(numbers))}{found.when.removeprefix(',')}"
    least, most = min(numbers), max(numbers)
    return f"{f'{least:,} to ' if least < most else ''}{most:,} of {counted(whole, 'samples')}{when}"


def _peers(devices: pl.DataFrame, row: dict[str, Any], samples: int) -> tuple[str, str]:
    """What a request took on other devices that were quick, as a sentence, and what is done next.

    These are the devices with as many requests as the slow one, or more; with fewer than two of them all with a
    notable number, where each was quick.  What device mapper made of disks is not compared with disks, and a device
    that was slow in fewer than half of the samples with none.
    """
    if row["number"] < _MOSTLY * samples:
        return "", ""
    mapped = pl.Series([str(name).startswith(_MAPPED) for name in devices.get_column("device")], dtype=pl.Boolean)
    is_own = str(row["device"]).startswith(_MAPPED)
    own = devices.filter(mapped == is_own)
    kind = f"`{_MAPPED}*` " if is_own and not mapped.all() else ""
    others = own.filter(pl.col("device") != row["device"], pl.col("rate") >= _FEW * row["rate"])
    is_quick = pl.col("every") * 2 < row["slow"]
    alike = others.filter(
        is_quick, pl.col("rate") >= (1 - _ALIKE) * row["rate"], pl.col("number") <= _FEW * row["number"]
    )
    if is_several := alike.height >= _LEAST_PEERS:
        more = " or more" if bool((alike.get_column("rate") > (1 + _ALIKE) * row["rate"]).any()) else ""
        others, kind = alike, f"{kind}devices with as many requests{more}"
    elif others.is_empty() or not others.select(is_quick.all()).item():
        return "", ""
    most = seconds(_most(others, "every") / 1e3)
    if others.height == 1:
        as_many = " with as many requests" * alike.height
        return f" Another {kind}device{as_many} averaged {most}.", _SEE_PATH if as_many else ""
    kind = kind if is_several else f"{kind}devices"
    return f" {others.height} other {kind} averaged {most} or less.", _SEE_PATH if is_several else ""


@rule(
    "saturated_device",
    "full_queue",
    of="host",
    needs="samples of the devices with utilisation, and requests in flight where they are printed",
    thresholds={
        "as long in the queue as in the device": "AIX: the queue is then half of the time of a request",
        "90 % busy with more than 1 in flight": "a device that serves one at a time has a queue then",
        "1 % between least and most, 5 samples": "load varies by more; a limit of requests does not",
    },
)
def saturated_device(log: HostLog) -> Iterator[Finding]:
    """The devices that were never without a request, with others in the queue."""
    found = [*_saturated(log)]
    first = next((one for one, (peers, _) in found if peers), None)  # the quick devices are named once
    if first is not None:
        compared = [name for slow in _slow(log, found) if slow.next == _SEE_PATH for name in slow.evidence[0].rows]
        first = None if first.evidence[0].rows[0] in compared else first
    for one, (peers, step) in found:
        yield replace(one, sentence=one.sentence + peers, next=step or one.next) if one is first else one


def _saturated(log: HostLog) -> Iterator[tuple[Finding, tuple[str, str]]]:
    """The same devices, and of single ones what quick devices took beside them."""
    rows = timed_samples(log, "device", "device", "util_percent")
    if rows is None:
        return
    number, whole = _whole(rows)
    columns = rows.collect_schema().names()
    if {QUEUE_FULL, "queue_ms", "queued", "in_flight"} <= {*columns}:
        yield from ((one, ("", "")) for one in _full_queue(rows, number, whole))
    rows = with_sums(rows)
    has_queue, moved = "in_flight" in columns, [one for one in _MOVED if one[1] in columns]
    rows = rows if has_queue else rows.with_columns(in_flight=math.inf)  # its device is busy, whatever waits
    if "queued" in columns:  # what waits in the host is in flight, too
        rows = rows.with_columns(in_flight=pl.col("in_flight") + pl.col("queued"))
    is_full = (pl.col("util_percent") >= 100 * SATURATED) & (pl.col("in_flight") > 1)
    count, took = _requests(rows)
    full = rows.group_by("device").agg(
        number=is_full.sum(),
        seconds=pl.col("weight").filter(is_full).sum(),
        most=pl.col("in_flight").filter(is_full).max(),
        each=took.filter(is_full & (count > 0)).sum() / count.filter(is_full).sum(),
        rate=count.sum(),
        every=took.sum() / count.sum(),
        least_rate=(count / pl.col("weight")).filter(is_full).min(),
        most_rate=(count / pl.col("weight")).filter(is_full).max(),
        other_rate=(count / pl.col("weight")).filter(~is_full).max(),
        queue=(pl.col("queue_ms") * count).filter(is_full).sum() / count.filter(is_full).sum()
        if "queue_ms" in columns
        else pl.lit(0.0),
        **{name: mean_by_time(pl.col(name), is_full) for _, name in moved},
    )
    every = full.sort("seconds", "device", descending=[True, False]).collect()
    top = every.filter(pl.col("number") > 0)
    group = top.filter(pl.col("seconds") >= _AS_OFTEN * pl.col("seconds").max())
    if group.height >= _LEAST_GROUP:
        is_whole = _most(group, "seconds") >= SATURATED * whole and not any(swapping(log))
        one = _full_group(rows, group, is_full, (number, whole), has_queue=has_queue)
        yield replace(one, order=-1 if is_whole else 4), ("", "")
        top = top[group.height : group.height + _MOST_DEVICES - 1]
    for row in top.head(_MOST_DEVICES).iter_rows(named=True):
        in_flight = f", with up to {three(row['most'])} requests in flight" if has_queue else ""
        took_each = f"; a request took {seconds(row['each'] / 1e3)} on average" if (row["each"] or 0.0) > 0 else ""
        queued = _in_queue([row["queue"]], row["each"]) if took_each else ""
        peers = _peers(every, row | {"slow": row["each"]}, number) if took_each else ("", "")
        took_each += queued
        if not took_each:
            said = [f"{three((row[name] or 0.0) / _MEGABYTE)} MB/s {word}" for word, name in moved]
            took_each = f"; {' and '.join(said)} meanwhile" if said else ""
        is_even = row["number"] >= _FEWEST and row["least_rate"] >= max(_LIMITED * row["most_rate"], _LEAST_RATE)
        is_limited = is_even and (row["other_rate"] or 0.0) < row["least_rate"]
        if is_limited:
            took_each += f"; {row['least_rate']:,.0f} to {row['most_rate']:,.0f} requests per second, as under a limit"
        when = _when(_of_device(rows, row["device"]), is_full)
        one = Finding(
            "saturated_device",
            f"`{row['device']}` was at least {100 * SATURATED:.0f} % busy in {row['number']:,} of "
            f"{counted(number, 'samples')}{when}{in_flight}{took_each}.",
            impact=_share(row["seconds"], whole),
            impact_of=OF_SAMPLES,
            next=_SEE_LIMIT if is_limited else queue_of(str(row["device"])) if queued else SEE_USERS,
            evidence=(Evidence("device", (str(row["device"]),)),),
            order=4,
        )
        yield one, peers if not is_limited else ("", "")


def _in_queue(queues_ms: Iterable[float | None], each_ms: float) -> str:
    """How much of the time of a request to each device it waited in the host, where that is half of it or more."""
    waited = _around([(one or 0.0) / 1e3 for one in queues_ms])
    return f", {seconds(waited)} of it in the queue of the host" if 2e3 * waited.value >= each_ms else ""


def _full_group(
    rows: pl.LazyFrame, group: pl.DataFrame, is_full: pl.Expr, samples: tuple[int, float], *, has_queue: bool
) -> Finding:
    """Several devices that were full in nearly as many samples, and what a request to the others took."""
    devices, (number, whole) = sorted(map(str, group.get_column("device"))), samples
    others = _others(rows, devices)
    in_flight = f", with up to {three(_most(group, 'most'))} requests in flight each" if has_queue else ""
    said = f"{group_words(devices, others)} were at least {100 * SATURATED:.0f} % busy in "
    said += f"{_of_samples(rows, devices, is_full, number)}{in_flight}."
    queued = ""
    took = group.get_column("each").drop_nulls().filter(group.get_column("each").drop_nulls() > 0) / 1e3
    if took.len():
        count, time = _requests(rows)
        # of the whole log, and only where the group was full in it
        is_some = (count.sum() >= whole) & (_most(group, "number") >= SATURATED * number)
        own = rows.filter(pl.col("device").is_in(others))
        rest = own.select(pl.when(is_some).then(time.sum() / count.sum())).collect().item()
        each = _around(took.to_list())
        beside = f"; {seconds(rest / 1e3)} to the others" if rest is not None and rest > 0 else ""
        queued = _in_queue(group.get_column("queue"), 1e3 * each.value)
        said += f" A request to them took {seconds(each)} on average{queued}{beside}."
    return Finding(
        "saturated_device",
        capital(said),
        impact=_share(_most(group, "seconds"), whole),
        impact_of=OF_SAMPLES,
        next=queue_of(devices[0]) if queued else SEE_USERS,
        evidence=(Evidence("device", tuple(devices)),),
    )


def _most(rows: pl.DataFrame, name: str) -> float:
    return float(rows.select(pl.col(name).max()).item())


def _full_queue(rows: pl.LazyFrame, number: int, whole: float) -> Iterator[Finding]:
    """The device to which the host sent too few requests at a time, so that the others waited in the host."""
    count, took = _requests(rows)
    is_full = (pl.col(QUEUE_FULL) > 0) & (count > 0) & (pl.col("queue_ms") * count >= took)
    names = (QUEUE_FULL, "queue_ms", "queued", "in_flight")
    full = rows.group_by("device").agg(
        **{name: mean_by_time(pl.col(name), is_full) for name in names},
        number=is_full.sum(),
        seconds=pl.col("weight").filter(is_full).sum(),
        each=took.filter(is_full).sum() / count.filter(is_full).sum(),
    )
    top = full.filter(pl.col("number") > 0).sort("queued", "device", descending=[True, False]).head(1).collect()
    for row in top.iter_rows(named=True):
        samples = f"{row['number']:,} of {counted(number, 'samples')}{_when(_of_device(rows, row['device']), is_full)}"
        yield Finding(
            "full_queue",
            f"The queue to `{row['device']}` was full in {samples}, {three(row[QUEUE_FULL])} times per second: "
            f"requests waited {seconds(row['queue_ms'] / 1e3)} in it, and the device took {seconds(row['each'] / 1e3)}"
            f". {three(row['queued'])} waited while it had {three(row['in_flight'])}.",
            impact=_share(row["seconds"], whole),
            impact_of=OF_SAMPLES,
            next=queue_of(str(row["device"])),
            evidence=(Evidence("device", (str(row["device"]),)),),
            order=0,
        )


def _requests(rows: pl.LazyFrame) -> tuple[pl.Expr, pl.Expr]:
    """The requests of a row, and their time together in ms: of reads and writes, else of all in one."""
    columns = rows.collect_schema().names()
    kinds = [(rate, time) for word, rate, time in request_kinds(columns) if word != "flush"]
    counts = [pl.col(rate) * pl.col("weight") for rate, _ in kinds]
    times = [pl.col(rate) * pl.col(time).fill_null(0.0) * pl.col("weight") for rate, time in kinds]
    return pl.sum_horizontal(*counts, pl.lit(0.0)), pl.sum_horizontal(*times, pl.lit(0.0))


@rule(
    "device_flushes",
    of="host",
    needs="flushes of devices (iostat: f/s, f_await)",
    thresholds={"10 % of the time": "time_parts.PART"},
)
def device_flushes(log: HostLog) -> Iterator[Finding]:
    """The device whose write cache was flushed in a notable share of the time."""
    rows = timed_samples(log, "device", "device", "flushes_per_s", "flush_await_ms")
    if rows is None:
        return
    _, whole = _whole(rows)
    count = pl.col("flushes_per_s") * pl.col("weight")
    sums = rows.group_by("device").agg(count=count.sum(), took=(count * pl.col("flush_await_ms") / 1e3).sum())
    for row in sums.sort("took", "device", descending=[True, False]).head(1).collect().iter_rows(named=True):
        if row["took"] < PART * whole:
            return
        yield Finding(
            "device_flushes",
            f"The write cache of `{row['device']}` was flushed {three(row['count'] / whole)} times per second, "
            f"{seconds(row['took'] / row['count'])} each.",
            impact=_share(row["took"], whole),
            impact_of=OF_SAMPLES,
            next="see who flushes: strace -c -f -e trace=fsync,fdatasync -p PID",
            evidence=(Evidence("device", (row["device"],)),),
        )


@rule(
    "run_queue",
    of="host",
    needs="runnable processes (vmstat, sar -q)",
    thresholds={"the number of CPUs; 90 % busy without it": "more processes than CPUs: one of them waits"},
)
def run_queue(log: HostLog) -> Iterator[Finding]:
    r"""How often more processes were runnable than there are CPUs.

    Examples:
        >>> from hostparse import read_host
        >>> head = " r  b   swpd   free  bi    bo   in   cs us sy id wa\n"
        >>> log = read_host((head + " 1 0 0 9 0 0 1 1 1 1 98 0\n" + " 9 0 0 9 0 0 1 1 80 20 0 0\n" * 3).encode())
        >>> for one in run_queue(log): print(one.mark, one.sentence)
        context The runnable processes were 9 on average while the CPUs were at least 90 % busy, at most 9.
    """
    rows = timed_samples(log, "host", "runnable")
    if rows is None:
        return
    cpus = log.runs.get_column("cpus").drop_nulls().max()
    own = rows.drop_nulls("runnable").collect()
    idle = [name for name in _NOT_BUSY if name in own.columns and own.get_column(name).count()]
    if cpus is None and not idle:
        return
    if cpus is None:  # a sample that is cut lacks figures
        own = own.drop_nulls(idle)
    waits = pl.col("runnable") > cpus if cpus is not None else 100 - pl.sum_horizontal(idle) >= 100 * SATURATED
    queued, others = own.filter(waits), own.filter(~waits)
    if queued.is_empty():
        return
    level, most = three(_mean(queued, "runnable")), three(float(queued.select(pl.col("runnable").max()).item()))
    if cpus is None:
        said = f"The runnable processes were {level} on average while the CPUs were at least 90 % busy, at most {most}."
    else:
        beside = f"; {three(_mean(others, 'runnable'))} in the others" if others.height else ""
        samples = f"{queued.height:,} of {counted(own.height, 'samples')}{_when(own, waits)}"
        said = f"Processes waited for a CPU in {samples}: {level} were runnable on {counted(float(str(cpus)), 'CPUs')} "
        said += f"on average, at most {most}{beside}."
    if "tasks" in own.columns and (tasks := _mean(queued, "tasks")) >= _MANY_MORE * _mean(others, "tasks") > 0:
        said += f" The number of processes rose from {three(_mean(others, 'tasks'))} to {three(tasks)} meanwhile."
    yield Finding(
        "run_queue",
        said,
        impact=None if cpus is None else _share(_sum(queued), _sum(own)),
        impact_of=OF_SAMPLES,
        detail="whether processes waited is not known: the log does not state the number of CPUs"
        if cpus is None
        else "each sample counts runnable processes at one moment",
        next="see the processes: pidstat -u 5; pidstat 5 shows %wait of each",
        evidence=(Evidence("host", ("runnable",)),),
    )


@rule(
    "changed_load",
    of="host",
    needs="samples of the processors",
    thresholds={"20 % of the time more, and twice as much as in the other samples": "a convention"},
)
def changed_load(log: HostLog) -> Iterator[Finding]:
    r"""What the processors did much more in one part of the log's time, unless swapping or a device explains it.

    Examples:
        >>> from hostparse import read_host
        >>> row = " 1 0 0 9 0 0 1 1 5 5 {} {}\n"
        >>> rows = [row.format(88 - wait, 2 + wait) for wait in (0, 0, 0, 0, 50, 52, 48, 50, 0, 0)]
        >>> log = read_host((" r  b   swpd   free  bi    bo   in   cs us sy id wa\n" + "".join(rows)).encode())
        >>> for one in changed_load(log): print(one.sentence)
        Idle time with I/O in flight (iowait) was 52 % of the processors' time, in samples 5 to 8; 2.0 % in the others.
    """
    try:
        frame = cpu_parts(log)
    except RefusedError:
        return
    frame = frame.with_columns(interval_end=pl.coalesce("interval_end", "at"), weight="weight_s")
    stretches = {part: raised(frame, part) for part in _CHANGING if part in frame.columns}
    found = [(*levels(frame, one, part), part, one) for part, one in stretches.items() if one is not None]
    inside, outside, part, stretch = max(found, key=lambda one: one[0] - one[1], default=(0.0, 0.0, "", None))
    if stretch is None or inside - outside < _MUCH_MORE:
        return
    weight = frame.get_column("weight_s")
    share = float(weight.slice(stretch.first, stretch.last - stretch.first + 1).sum()) / float(weight.sum())
    causes = [*swapping(log), *saturated_device(log)] if part == "iowait" else []
    if any(one.impact is not None and one.impact.value >= share / 2 for one in causes):
        return
    yield Finding(
        "changed_load",
        f"{_CHANGING[part]} was {percent(inside / 100)} of the processors' time{stretch.when}; "
        f"{percent(outside / 100)} in the others.",
        # what a hypervisor takes is no work of the host: no part of the time comes before it
        impact=None if part == "steal" else Interval.exact(share),
        impact_of=OF_SAMPLES,
        next=steps_of(part),
        evidence=(Evidence(str(frame.item(0, "scope")), (part,)),),
        order=-1 if part == "steal" else 5,
    )


@rule(
    "process_waits_for_cpu",
    of="host",
    needs="samples of processes (pidstat -u: %wait)",
    thresholds={"10 % of the time": "time_parts.PART"},
)
def process_waits_for_cpu(log: HostLog) -> Iterator[Finding]:
    """The process that was runnable and had no CPU for longest."""
    rows = timed_samples(log, "process", "pid", "command", "wait_percent")
    if rows is None:
        return
    _, whole = _whole(rows)
    waited = (pl.col("wait_percent") / 100 * pl.col("weight")).sum()
    sums = rows.filter(pl.col("pid") != "-").group_by("pid", "command").agg(waited=waited)
    for row in sums.sort("waited", "pid", descending=[True, False]).head(1).collect().iter_rows(named=True):
        if row["waited"] < PART * whole:
            return
        yield Finding(
            "process_waits_for_cpu",
            f"Process {row['pid']} (`{row['command']}`) waited for a CPU for {percent(row['waited'] / whole)} of the "
            "time.",
            impact=_share(row["waited"], whole),
            impact_of=OF_SAMPLES,
            next="see who had the CPU: pidstat -u 5; perf sched latency",
            evidence=(Evidence("process", (str(row["pid"]),)),),
        )


@rule(
    "memory_scanned",
    of="host",
    needs="pages that processes scanned themselves (sar -B: pgscand/s), or the page scanner of Solaris (vmstat: sr)",
    thresholds={"1 page per second, 200 on Solaris": "where the kernel frees too little before; the usual limit there"},
)
def memory_scanned(log: HostLog) -> Iterator[Finding]:
    r"""How long processes had to free memory themselves, as none was free when they asked for it.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:00 AM pgpgin/s pgpgout/s fault/s majflt/s pgfree/s pgscank/s pgscand/s pgsteal/s %vmeff\n"
        >>> rows = "".join(f"10:0{n}:00 AM 9.0 9.0 900.0 {n}00.0 9.0 0.0 {n}000.00 9.0 9.0\n" for n in range(4))
        >>> text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
        >>> for one in memory_scanned(read_host(text.encode())): print(one.sentence)
        Memory was short in 3 of 3 samples: processes scanned 2,000 pages per second for free ones, 200 major faults per
        second.
    """
    found = [(names, rows) for names in _SCANNED if (rows := timed_samples(log, "host", *names)) is not None]
    if not found:
        return
    names, rows = found[0]
    own, is_short = rows.collect(), pl.col(names[0]) >= _SCANNED[names][0]
    short, others = own.filter(is_short), own.filter(~is_short)
    if short.is_empty():
        return
    read = ""
    if "paged_in_bytes_per_s" in own.columns:
        inside, outside = (_mean(frame, "paged_in_bytes_per_s") / _MEGABYTE for frame in (short, others))
        beside = f", {three(outside)} in the others" if others.height else ""
        read = f"; {three(inside)} MB/s were paged in{beside}" if inside >= 1 else ""
    (scanned, beside), (_, who, what) = (three(_mean(short, one)) for one in names[:2]), _SCANNED[names]
    yield Finding(
        "memory_scanned",
        f"Memory was short in {short.height:,} of {counted(own.height, 'samples')}{_when(own, is_short)}: {who} "
        f"scanned {scanned} pages per second for free ones, {beside} {what}{read}.",
        impact=_share(_sum(short), _sum(own)),
        impact_of=OF_SAMPLES,
        next="see who holds the memory: ps -eo pid,rss,args --sort=-rss; sar -r 5",
        evidence=(Evidence("host", names),),
        order=0,
    )


@rule("process_io", of="host", needs="bytes of processes (pidstat -d)", thresholds={"1 MB/s": "a convention"})
def process_io(log: HostLog) -> Iterator[Finding]:
    r"""The process that read and wrote most bytes.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:0{0} AM   UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
        >>> row = "10:00:0{1} AM     0       777  90000.00     10.00      0.00      80  rman\n\n"
        >>> text = "".join((head + row).format(one, one + 1) for one in range(3))
        >>> for one in process_io(read_host(("Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + text).encode())):
        ...     print(one.sentence)
        Process 777 (`rman`) moved the most bytes: 92.2 MB/s read and 0.0102 MB/s written on average.
    """
    rows = timed_samples(log, "process", "pid", "command", "read_bytes_per_s", "write_bytes_per_s")
    if rows is None:
        return
    _, whole = _whole(rows)
    moved = (pl.col(f"{kind}_bytes_per_s") * pl.col("weight") for kind in ("read", "write"))
    sums = rows.filter(pl.col("pid") != "-").group_by("pid", "command").agg(one.sum() for one in moved).collect()
    if sums.is_empty() or whole <= 0:
        return
    total = pl.col("read_bytes_per_s") + pl.col("write_bytes_per_s")
    row = sums.sort(total, "pid", descending=[True, False]).row(0, named=True)
    read, written = (row[f"{kind}_bytes_per_s"] / whole / _MEGABYTE for kind in ("read", "write"))
    if read + written >= 1:
        yield Finding(
            "process_io",
            f"Process {row['pid']} (`{row['command']}`) moved the most bytes: {three(read)} MB/s read and "
            f"{three(written)} MB/s written on average.",
            next="see the devices that served it: iostat -xt 5",
            evidence=(Evidence("process", (str(row["pid"]),)),),
            order=1,
        )


@rule(
    "busy_interface",
    of="host",
    needs="bytes of the network (sar -n DEV)",
    thresholds={"1 MB/s": "a convention", "90 % of the link": "iolab.metrics.processors.SATURATED"},
)
def busy_interface(log: HostLog) -> Iterator[Finding]:
    r"""The network interface that received and sent most bytes, and whether its link was full.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:00 AM IFACE rxpck/s txpck/s rxkB/s txkB/s rxcmp/s txcmp/s rxmcst/s %ifutil\n"
        >>> rows = "".join(f"10:0{n}:00 AM eth0 9.0 9.0 110000.00 900.00 0.0 0.0 0.0 92.00\n" for n in range(1, 4))
        >>> text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
        >>> for one in busy_interface(read_host(text.encode())): print(one.sentence)
        `eth0` received 113 MB/s and sent 0.922 MB/s on average, 92 % of its link speed.
    """
    rows = timed_samples(log, "interface", "interface", "received_bytes_per_s", "sent_bytes_per_s")
    if rows is None:
        return
    columns = rows.collect_schema().names()
    names = ("received_bytes_per_s", "sent_bytes_per_s")
    averages = {one: mean_by_time(pl.col(one)) for one in (*names, "ifutil_percent") if one in columns}
    means = rows.filter(~pl.col("interface").cast(pl.String).is_in(_NO_LINKS)).group_by("interface")
    total = pl.col("received_bytes_per_s") + pl.col("sent_bytes_per_s")
    found = means.agg(**averages).collect()
    for row in found.sort(total, "interface", descending=[True, False]).head(1).iter_rows(named=True):
        own = (
            rows.filter(pl.col("interface") == row["interface"])
            .sort("run", "sample")
            .with_columns(total=total)
            .collect()
        )
        stretch = raised(own, "total")
        received, sent = ((levels(own, stretch, one)[0] if stretch else row[one]) / _MEGABYTE for one in names)
        if received + sent < 1:
            return
        when = " on average"
        usual = row.get("ifutil_percent") or 0.0
        if stretch is not None:
            others = pl.concat([own[: stretch.first], own[stretch.last + 1 :]])
            is_full = pl.col("ifutil_percent") >= 100 * SATURATED if usual else pl.lit(value=False)
            again, rest = others.filter(is_full).height, others.filter(~is_full).select(mean_by_time(pl.col("total")))
            when = f"{stretch.when}{f', and in {again:,} other samples' * bool(again)}"
            when += f"; {three((rest.item() or 0.0) / _MEGABYTE)} MB/s in all in the others"
        share = (levels(own, stretch, "ifutil_percent")[0] if usual and stretch else usual) / 100
        said = f", {percent(share)} of its link speed" if share else ""
        for speed in [] if share else _LINKS:
            if SATURATED <= (full := max(received, sent) * 8 / 1e3 / speed) <= 1:
                share, said = full, f"; consistent with a full link of {speed} Gbit/s"
        length = 1.0 if stretch is None else (stretch.last - stretch.first + 1) / own.height
        yield Finding(
            "busy_interface",
            f"`{row['interface']}` received {three(received)} MB/s and sent {three(sent)} MB/s"
            f"{said + when if stretch else when + said}.",
            impact=Interval.exact(length) if share >= SATURATED else None,
            impact_of=OF_SAMPLES,
            next="see which connections: ss -ti" if share >= SATURATED else "",
            evidence=(Evidence("interface", (str(row["interface"]),)),),
            order=1 if share >= SATURATED else 2,
        )
