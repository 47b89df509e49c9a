"""The devices of a host's samples: which one had most requests in flight, and what a request took."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import RANGE, count_text
from iolab.metrics.processors import IS_SAMPLE, SATURATED, SINCE_START, has_several_hosts, mean_by_time, placed
from iolab.rules.finding import Evidence, Finding, platform_steps
from iolab.rules.phrases import capital, joined, named_list, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART
from logframe.interval import ENDS, Interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from hostparse import HostLog

#: Of a request: its word, the column of its rate, and the columns of its time, of which the first is used.
_KINDS: Final = (
    ("read", "reads_per_s", ("read_await_ms", "read_service_ms")),
    ("write", "writes_per_s", ("write_await_ms", "write_service_ms")),
    ("flush", "flushes_per_s", ("flush_await_ms",)),
    ("request", "transfers_per_s", ("await_ms", "service_ms")),
)
_PLURALS: Final = {"flush": "flushes"}
#: Columns that are the sum of two others, where those are printed in its place.
_SUMS: Final = (
    ("transfers_per_s", ("reads_per_s", "writes_per_s")),
    *((f"{kind}await_ms", ("queue_ms", f"{kind}service_ms")) for kind in ("", "read_", "write_")),
)
#: How often the queue to a device was full, and the longest request: printed by AIX's iostat -D.
QUEUE_FULL: Final = "queue_full_per_s"
_LONGEST: Final = "read_service_max_ms"
#: Rows of iostat that hold those of a group of devices.
_GROUPS: Final = ("total", "all")
_BYTES: Final = (("read", "read_bytes_per_s"), ("written", "write_bytes_per_s"), ("moved", "bytes_per_s"))
#: What gives samples of the devices, by the tool whose log has none.
_COMMANDS: Final = {"zpool": "zpool iostat -l 5 60", "sar": "sar -d 5 60", "nmon": "nmon -f -s 5 -c 60"}
#: A device with this many requests in flight on average was never without one, and is reported first.
_ALWAYS: Final = 1.0
#: A sample with half of all time of requests, and twice the mean or more, is named; it leads with ten in flight.
_FAR_MORE, _MANY = 2.0, 10.0
#: What is done next where the devices were idle, or quick.
_BUSY: Final = "take a log while the work runs"
#: Bytes per second of a device that is not idle.
_MUCH: Final = 1e6
#: A device that moved less has nothing to it.
_LITTLE: Final = 1e5
#: Devices that were busy for less in all samples, with no request in any as long as this on average, were calm.
_CALM: Final = 0.4
#: Several times what a request to a disk takes: a seek and half a turn.
SLOW_MS: Final = 20.0
#: Errors that Solaris counts since boot (iostat -e), which a path or a disk gives.
_ERRORS: Final = {"trn": "transport errors", "h/w": "hard errors"}
#: A disk that fails gives errors of its own; as many devices have what they share.
_SEVERAL: Final = 3
#: Names of devices share at least this much before they are a group of their own.
_LEAST_PREFIX: Final = 2
#: Single requests are worth a look where some took this long, and one was in flight a tenth of the time.
_LONG_MS: Final = 1.0
#: Columns of nmon that others name otherwise.
_OF_NMON: Final = {"read_bytes_per_s": "received_bytes_per_s", "write_bytes_per_s": "sent_bytes_per_s"}
#: What is done next, on Linux (`platforms.toml`), to see who uses a device.
SEE_USERS: Final = "see who reads and writes: pidstat -d 5; biosnoop -Q"
#: A kind of request of fewer in all samples together gives no time of one.
_LEAST: Final = 1.0


@rule("device_load", of="host", needs="samples of the devices")
def device_load(log: HostLog) -> Iterator[Finding]:
    r"""The device that had most requests in flight, what one took, and how many there were.

    Requests in flight are the rate times the time of one (Little's law); where no time is printed, the device that
    moved most bytes is named.  A device that a sample does not list did nothing in it: tools leave out idle ones.
    Means since the start of the system are no samples: a log that has nothing else is refused.

    Examples:
        >>> from hostparse import read_host
        >>> head = "Device r/s w/s rkB/s wkB/s r_await w_await\n"
        >>> since_boot = head + "sda 1.0 1.0 8.0 8.0 9.0 1.0\nsdb 1.0 1.0 8.0 8.0 9.0 1.0\n\n"
        >>> sample = head + "sda 100.0 10.0 800.0 80.0 5.0 1.0\nsdb 300.0 0.0 2400.0 0.0 0.2 0.0\n\n"
        >>> for one in device_load(read_host((since_boot + sample * 2).encode())): print(one.sentence)
        `sda` had the most requests in flight, 0.510 on average. It served 100 reads per second of 5 ms each
        and 10 writes per second of 1 ms each.
        >>> for one in device_load(read_host(since_boot.encode())): print(one.sentence, one.is_refused)
        The log does not show what the devices did: all figures are averages since boot. True
        >>> list(device_load(read_host(b" r  b   swpd   free\n 1  0  0  9\n")))
        []
    """
    if "device" not in log.scopes or has_several_hosts(log):
        return
    rows = with_sums(whole_disks(log.scan("device", bounds=True)), ENDS)
    columns = set(rows.collect_schema().names())
    rows = rows.with_columns(weight=(pl.col("interval_end") - pl.col("interval_start")).dt.total_microseconds() / 1e6)
    is_timed = pl.col("weight") > 0
    count = rows.select(all=pl.len(), samples=IS_SAMPLE.sum(), timed=(IS_SAMPLE & is_timed).sum()).collect()
    if not count.item(0, "samples"):
        if count.item(0, "all"):
            yield Finding(
                "device_load",
                f"The log does not show what the devices did: {SINCE_START}.",
                next=f"{_COMMANDS.get(log.kind, 'iostat -xt 5 60')}, while the work runs",
                evidence=(Evidence("device"),),
                is_refused=True,
            )
        return
    samples = rows.filter(IS_SAMPLE)
    # samples without their seconds are left out; where none has them, all count alike
    samples = samples.filter(is_timed) if count.item(0, "timed") else samples.with_columns(weight=pl.lit(1.0))
    kinds = request_kinds(columns)
    said, whole = _counted(samples)
    what = "Nothing" if log.scopes == ("device",) else "No device"
    yield from (_in_flight(samples, kinds, said, whole, what) if kinds else _moved(samples, columns, said, whole))


def whole_disks(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Samples of devices without groups of them, and without partitions, whose requests are those of their disks."""
    names = set(rows.select("device").unique().collect().to_series().drop_nulls())
    disks = {one: {disk := one.rstrip("0123456789"), disk.removesuffix("p"), one.partition(",")[0]} for one in names}
    parts = [one for one, found in disks.items() if found & (names - {one})]
    is_group = pl.col("device").str.strip_chars().str.to_lowercase().is_in(_GROUPS)
    return rows.filter(pl.col("device").is_not_null() & ~is_group & ~pl.col("device").is_in(parts))


def timed_samples(log: HostLog, scope: str, *needs: str) -> pl.LazyFrame | None:
    """The rows of samples with their length as ``weight``; None without the columns, or of several hosts."""
    if scope not in log.scopes or has_several_hosts(log):
        return None
    rows = log.scan(scope)
    if scope == "interface":  # nmon names the directions otherwise
        rows = rows.rename(_OF_NMON, strict=False)
    if not set(needs).issubset(rows.collect_schema().names()):
        return None
    rows = placed(rows.filter(IS_SAMPLE), log.runs).filter(pl.col("weight") > 0)
    return whole_disks(rows) if scope == "device" else rows


def with_sums(rows: pl.LazyFrame, ends: Collection[str] = ("",)) -> pl.LazyFrame:
    """Samples of devices with the columns that are the sum of two others: a request waits in a queue of the host, too.

    Args:
        rows: the samples.
        ends: of the columns, where they have bounds.
    """
    columns = set(rows.collect_schema().names())
    return rows.with_columns(
        (pl.col(f"{one}{end}") + pl.col(f"{two}{end}")).alias(f"{name}{end}")
        for name, (one, two) in _SUMS
        if name not in columns and {one, two} <= columns
        for end in ends
    )


def request_kinds(columns: Collection[str]) -> list[tuple[str, str, str]]:
    """The kinds of requests whose rate and time are printed, with both columns: all in one only without others."""
    kinds = [
        (word, rate, time)
        for word, rate, times in _KINDS
        if rate in columns and (time := next((one for one in times if one in columns), None))
    ]
    return [one for one in kinds if one[0] != "request"] or kinds


def _counted(samples: pl.LazyFrame) -> tuple[str, float]:
    """The number of samples in words, and their time together in s."""
    single = samples.group_by("run", "sample").agg(pl.col("weight").max())
    number, whole = single.select(pl.len(), pl.col("weight").sum()).collect().row(0)
    return count_text(number, "sample"), float(whole)


def _in_flight(
    samples: pl.LazyFrame, kinds: list[tuple[str, str, str]], count: str, whole: float, what: str
) -> Iterator[Finding]:
    def over_time(figure: pl.Expr) -> pl.Expr:
        return (figure.fill_null(0.0) * pl.col("weight")).sum() / whole

    def flight(name: str, time: str, end: str) -> pl.Expr:
        return (pl.col(f"{name}{end}") * pl.col(f"{time}{end}")).fill_null(0.0) / 1e3

    columns = samples.collect_schema().names()
    has_util = "util_percent" in columns
    flying = {end: pl.sum_horizontal(flight(name, time, end) for _, name, time in kinds) for end in ENDS}
    if "in_flight" in columns:  # what the log prints, to its last digit; what waits in the host is in flight, too
        printed = {
            end: sum((pl.col(f"{name}{end}") for name in ("in_flight", "queued") if name in columns), pl.lit(0.0))
            for end in ENDS
        }
        flying = {end: one.clip(printed["_lo"], printed["_hi"]) for end, one in flying.items()}
    samples = samples.with_columns(one.alias(f"flying{end}") for end, one in flying.items())
    totals = samples.group_by("device").agg(
        *(over_time(pl.col(f"{name}{end}")).alias(f"{word}s{end}") for word, name, _ in kinds for end in ENDS),
        *(over_time(flight(one, time, end)).alias(f"{word} flight{end}") for word, one, time in kinds for end in ENDS),
        *(over_time(pl.col(f"flying{end}")).alias(f"flight{end}") for end in ENDS),
        largest=pl.max_horizontal(pl.col(time) for *_, time in kinds).max(),
        full=mean_by_time(pl.col(QUEUE_FULL)) if QUEUE_FULL in columns else pl.lit(0.0),
        always=mean_by_time(pl.col("flying") >= _ALWAYS),
        busy=over_time(pl.col("util_percent")) / 100 if has_util else pl.lit(None, pl.Float64),
        busiest=pl.col("util_percent").max() / 100 if has_util else pl.lit(None, pl.Float64),
    )
    found = totals.sort("flight", "device", descending=[True, False]).collect()
    busiest = found.get_column("busiest").max()
    row = found.row(0, named=True)
    if not found.select(pl.max_horizontal(pl.col(f"{word}s").max() for word, *_ in kinds)).item():
        yield _idle(f"served nothing in {count}: all requests")
    if row["flight"] <= 0:
        return
    calm, longest = "", float(found.get_column("largest").max() or 0.0)  # type: ignore[arg-type]  # numbers
    most = 1.0 if busiest is None else float(busiest)  # type: ignore[arg-type]  # a number
    is_calm = row["flight"] < _ALWAYS and most < _CALM and longest < SLOW_MS
    if is_calm or (row["flight"] < PART and most < PART):
        calm = (
            f"{what} stands out: each {'device ' * (what == 'Nothing')}was at most {percent(most)} busy in any sample. "
        )
    own = samples.filter(pl.col("device") == row["device"]).sort("flying", "sample")
    top = own.tail(1).collect().row(0, named=True)
    is_peak = top["flying"] >= max(_ALWAYS, _FAR_MORE * row["flight"])
    is_peak &= top["flying"] * top["weight"] >= row["flight"] * whole / _FAR_MORE
    said: list[str] = []
    each: list[float] = []
    for word, name, time in kinds:
        rates, flights = _figure(row, f"{word}s"), _figure(row, f"{word} flight")
        if is_peak:
            rates = Interval.exact(top[name] or 0.0)
            flights = rates * (top[time] or 0.0) / 1e3
        if rates.lo > 0 and rates.value * (top["weight"] if is_peak else whole) >= _LEAST:
            often = three(rates.value)
            noun = word if often == "1" else _PLURALS.get(word, f"{word}s")
            said.append(f"{often} {noun} per second of {seconds(flights.value / rates.value)} each")
            each.append(flights.value / rates.value)
    if not said and not calm:
        return
    busy = "" if row["busy"] is None else f"busy {percent(row['busy'])} of the time, "
    served = f"`{row['device']}` had the most requests in flight, {three(row['flight'])} on average. "
    served += f"It served {' and '.join(said)}."
    if is_peak:
        about = [f"{top['interval_end']:%H:%M:%S}"] if top["interval_end"] is not None else []
        about += [f"{percent(top['util_percent'] / 100)} busy"] if has_util and top["util_percent"] else []
        at = f" ({', '.join(about)})" if about else ""
        served = f"`{row['device']}` had the most requests in flight: {three(row['flight'])} on average, "
        served += f"{three(top['flying'])} in the busiest of {count}{at}. It then served {' and '.join(said)}."
    is_full = row["always"] >= SATURATED or (row["always"] >= PART and is_peak and top["flying"] >= _MANY)
    yield Finding(
        "device_load",
        f"{calm}{served if said else ''}".strip(),
        detail=f"{busy}in {count}{_slowest(row['largest'] / 1e3, each)}{_queue(kinds)}",
        next=latencies_of(row["device"], columns)
        if row["largest"] >= _LONG_MS and row["flight"] >= PART and not calm
        else _BUSY,
        evidence=(Evidence("device", (row["device"],)),),
        order=0 if row["flight"] >= _ALWAYS and is_full and not row["full"] else 2,
    )


def _idle(what: str) -> Finding:
    said = f"The devices {what} are printed as 0."
    return Finding("device_load", said, next=_BUSY, evidence=(Evidence("device"),), order=2)


def _slowest(largest_s: float, averages: list[float]) -> str:
    """The average of the slowest sample, where that is not the average of all."""
    is_slower = averages and largest_s > (1 + RANGE) * max(averages)
    return f"; the slowest sample averaged {seconds(largest_s)}" if is_slower else ""


def _queue(kinds: list[tuple[str, str, str]]) -> str:
    """Whether the times leave out what requests waited in a queue of the host."""
    return ", without the time in the queues of the host" if any("service" in time for *_, time in kinds) else ""


def _moved(samples: pl.LazyFrame, columns: set[str], count: str, whole: float) -> Iterator[Finding]:
    """The device that moved most bytes, where no time of requests is printed."""
    named = [(word, name) for word, name in _BYTES if name in columns]
    named = [one for one in named if one[0] != "moved"] or named
    if not named:
        return
    names = [f"{name}{end}" for _, name in named for end in ("", "_hi")]
    totals = samples.group_by("device").agg((pl.col(names).fill_null(0.0) * pl.col("weight")).sum() / whole)
    every, most = (pl.sum_horizontal(names[start::2]) for start in (0, 1))
    totals = totals.with_columns(every=every, most=most.max())
    row = totals.sort("every", "device", descending=[True, False]).collect().row(0, named=True)
    if row["every"] <= 0:
        yield _idle(f"moved no data in {count}: all bytes")
        return
    parts = [
        f"{three(row[name] / 1e6)} MB/s{'' if word == 'moved' else f' {word}'}" for word, name in named if row[name]
    ]
    said = f"`{row['device']}` moved the most bytes: {' and '.join(parts)} on average."
    if row["every"] < _LITTLE:
        said = f"No device stands out: each moved at most {three(row['most'] / 1e6)} MB/s on average."
    yield Finding(
        "device_load",
        said,
        detail=f"{count}; the log prints no request times",
        next=latencies_of(str(row["device"])) if row["every"] >= _MUCH else _BUSY,
        evidence=(Evidence("device", (row["device"],)),),
        order=2,
    )


@rule(
    "device_errors",
    of="host",
    needs="errors of the devices (iostat -xe of Solaris)",
    thresholds={"one in each interval between samples": "fewer are single events, and do not lead"},
)
def device_errors(log: HostLog) -> Iterator[Finding]:
    r"""The devices whose transport or hard errors grew while the log was taken.

    Examples:
        >>> from hostparse import read_host
        >>> head = "   extended device statistics   ---- errors ---\n    r/s    w/s   kr/s   kw/s wait actv"
        >>> head += " wsvc_t asvc_t  %w  %b s/w h/w trn tot device\n"
        >>> row = "    1.0    1.0    1.0    1.0  0.0  0.0    0.0    3.6   0   3   0   0 {0:3} {0:3} {1}\n"
        >>> samples = (head + row.format(n * n, "c3t0d0") + row.format(0, "c1t0d0") for n in range(1, 6))
        >>> for one in device_errors(read_host("".join(samples).encode())): print(one.sentence)
        Transport errors of `c3t0d0` grew by 24, from 1 to 25. The other device had no new ones.
    """
    rows = log.scan("device") if "device" in log.scopes else pl.LazyFrame()
    names = [name for name in _ERRORS if name in rows.collect_schema()]
    if not names or has_several_hosts(log):
        return
    ends = rows.filter(pl.col("device").is_not_null()).sort("run", "sample").group_by("device", maintain_order=True)
    every = ends.agg(pl.col(names).first().name.suffix(" first"), pl.col(names).last(), count=pl.len()).collect()
    more = [pl.col(name) > pl.col(f"{name} first") for name in names]
    grown = every.filter(pl.any_horizontal(more))
    if grown.is_empty():
        return
    sums, said = grown.select(pl.exclude("device", "count").sum()).row(0, named=True), list[str]()
    for name in names:
        last, first = sums[name], sums[f"{name} first"]
        if last > first:
            said.append(f"{_ERRORS[name]}{{}} grew by {three(last - first)}, from {three(first)} to {three(last)}")
    devices, others = (
        sorted(map(str, grown.get_column("device"))),
        sorted(map(str, every.join(grown, on="device", how="anti").get_column("device"))),
    )
    of = f" of {group_words(devices, others)}"
    is_path = len(devices) >= _SEVERAL and "trn" in names and sums["trn"] > sums["trn first"]
    path = ": consistent with a failing path (HBA, cable, port), not a disk" if is_path else ""
    rest = (
        ""
        if not others
        else f" The other {'device' if len(others) == 1 else f'{len(others)} devices'} had no new ones{path}."
    )
    is_steady = sum(sums[name] - sums[f"{name} first"] for name in names) >= float(grown.item(0, "count")) - 1
    yield Finding(
        "device_errors",
        f"{capital(joined([one.format(of if not number else '') for number, one in enumerate(said)]))}.{rest}",
        detail="sums of the counters of these devices in the first and the last sample",
        next="see the path to them, and its log: mpathadm list lu; fcinfo hba-port -l; iostat -En; /var/adm/messages",
        evidence=(Evidence("device", tuple(devices)),),
        order=-2 if is_steady else 3,
    )


def group_words(names: Sequence[str], others: Sequence[str]) -> str:
    """Several devices in words: by the beginning that only their names have, else by the first two.

    Args:
        names: of the devices, in order.
        others: the names of the others.

    Examples:
        >>> group_words(["c3t0d1", "c3t0d2", "c3t0d3"], ["c1t0d0"]), group_words(["sda", "sdb", "sdc"], ["sdd", "sde"])
        ('3 of 4 devices (`c3t0d*`)', '3 of 5 devices (`sda`, `sdb` and `sdc`)')
        >>> group_words(["sda", "sdb"], []), group_words(["sda"], ["sdb"])
        ('all 2 devices', '`sda`')
    """
    if len(names) == 1:
        return f"`{names[0]}`"
    if not others:
        return f"all {len(names)} devices"
    start = os.path.commonprefix([*names])  # noqa: RUF071 - names, not paths
    own = f"`{start}*`" if len(start) >= _LEAST_PREFIX and not any(one.startswith(start) for one in others) else ""
    shown = own or named_list([f"`{one}`" for one in names])
    return f"{len(names)} of {len(names) + len(others)} devices ({shown})"


def other_steps(log: HostLog) -> dict[str, str]:
    """The commands of the platform of a log in place of those of Linux (`platform_steps`)."""
    words, settings = (
        " ".join(log.runs.get_column(name).drop_nulls()) if name in log.runs.columns else ""
        for name in ("system", "settings")
    )
    is_named = "device" in log.scopes and not words
    disks = log.scan("device").select("device").drop_nulls().unique().collect().to_series() if is_named else ()
    return platform_steps(words, map(str, disks), settings)


def latencies_of(device: str, columns: Collection[str] = ()) -> str:
    """How to see the latencies of a device, by the system that names devices like it, or who uses it.

    Args:
        device: its name.
        columns: of the log, which may have these latencies.

    Examples:
        >>> for device in ("sda", "hdisk8"): print(latencies_of(device))
        see the distribution of the latencies: biolatency -D 10 1
        see average, minimum and maximum times: iostat -D hdisk8 5
    """
    if _LONGEST in columns:
        return SEE_USERS
    if device.startswith("hdisk"):
        return f"see average, minimum and maximum times: iostat -D {device} 5"
    return "see the distribution of the latencies: biolatency -D 10 1"


def queue_of(device: str) -> str:
    """How to see, and to raise, the number of requests that a device of AIX is sent at a time; of others who sends."""
    if not device.startswith("hdisk"):
        return SEE_USERS
    return f"compare queue_depth with what the storage allows: lsattr -El {device} -a queue_depth; chdev to raise it"


def _figure(row: dict[str, float], name: str) -> Interval:
    value = row[name]
    return Interval(value, min(value, row[f"{name}_lo"]), max(value, row[f"{name}_hi"]))
