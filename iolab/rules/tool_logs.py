"""Logs of tools that measure single requests, tests of storage, or the processors: what one request took, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, figure_text, time_text
from iolab.metrics.histograms import BUCKETS
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import percent, seconds
from iolab.rules.registry import apply_rules, rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.samples import profile_ledgers
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse import CpuProfile, EventList, FioResult, LatencyHistograms

#: A 99th percentile needs this many times: with fewer none beyond it is expected with 95 % chance.
_LEAST_P99: Final = 299
_MOST_JOBS: Final = 4
#: The reads or writes of one device with this much of the time of all requests come first.
_MOST_TIME: Final = 0.5
_NO_SETTING: Final = "its settings are not known"
#: The least share of times in a group, and how deep the valley between two groups is, by the smaller peak.
_LEAST_GROUP: Final = 0.05
_VALLEY: Final = 0.10
#: Groups of histograms that are drawn, and what tells them apart.
_MOST_GROUPS: Final = 3
_GROUP: Final = ("label", "key")
_DRAWN: Final = ("event", "from_us", "to_us", "waits", "waits_pct")
#: Operations by their first letter, as tools print them (`R`, `WS`, `RA`).
_OPERATIONS: Final = {"R": "read", "W": "write"}
#: Tools that list only what took longer than a limit.
_SLOW_ONLY: Final = ("slower",)


@rule(
    "latency",
    of="histogram",
    needs="times in a unit",
    thresholds={"30 times, 299 for 99 %": "finding.LEAST_WAITS; 95 % chance of one beyond"},
)
def histogram_findings(log: LatencyHistograms) -> Iterator[Finding]:
    r"""Half and 99 % of the times of the largest group of histograms, by the upper edges of their buckets.

    Tables of one group (label and key) follow each other in time, so that their counts add up; of counters since a
    start only the differences are taken.

    Examples:
        >>> from hostparse import read_histograms
        >>> head = "     usecs               : count     distribution\n"
        >>> rows = "".join(f"{low:>10} -> {high:<10} : {count:<8} |*|\n"
        ...     for low, high, count in ((64, 127, 10), (128, 255, 300), (256, 511, 90)))
        >>> for one in histogram_findings(read_histograms((head + rows).encode())): print(one.sentence)
        Half of 400 times were at most 256 us, 99 % at most 512 us.
        >>> list(histogram_findings(read_histograms((head + rows[:rows.index("128")]).encode())))
        []
    """
    counted = _counted(log)
    if counted.is_empty():
        return
    sums = _groups(counted)
    label, key, number = sums.row(0)
    if number < LEAST_WAITS:
        return
    own = _of_group(counted, label, key)
    tables = own.get_column("histogram").n_unique()
    names = [str(name) for name in (label, key) if name is not None]
    about = f" of {', '.join(f'`{name}`' for name in names)}" if names else ""
    where = f" ({tables:,} histograms)" if tables > 1 else ""
    slow = f", 99 % {_within(own, 0.99 * number)}" if number >= _LEAST_P99 else ""
    yield Finding(
        "latency",
        f"Half of {count_text(number, 'time')}{about}{where} were {_within(own, 0.5 * number)}{slow}.",
        evidence=(Evidence("buckets", tuple(names)),),
        caveat="" if sums.height == 1 else f"the largest of {sums.height:,} groups",
        order=1,
    )


@rule(
    "two_groups",
    of="histogram",
    needs="times in a unit",
    thresholds={"a tenth of the smaller peak between the groups; 5 % and 30 times in each": "a convention"},
)
def two_groups(log: LatencyHistograms) -> Iterator[Finding]:
    r"""Times that are of two kinds, with few between: their mean is that of none.

    Examples:
        >>> from hostparse import read_histograms
        >>> head = "     usecs               : count     distribution\n"
        >>> rows = "".join(f"{low:>10} -> {2 * low - 1:<10} : {count:<8} |*|\n"
        ...     for low, count in ((128, 300), (256, 90), (512, 3), (1024, 60), (2048, 100)))
        >>> for one in two_groups(read_histograms((head + rows).encode())): print(one.sentence)
        The times are in two groups: 71 % were at most 512 us, 29 % at least 1.02 ms.
    """
    counted = _counted(log)
    if counted.is_empty():
        return
    groups = _groups(counted)
    label, key, number = groups.row(0)
    of = f" of `{', '.join(str(one) for one in (label, key) if one is not None)}`" if groups.height > 1 else ""
    own = _of_group(counted, label, key).group_by("lower_ns", "upper_ns").agg(pl.col("n").sum()).sort("lower_ns")
    buckets: list[tuple[int, int | None, float]] = []
    for lower, upper, count in own.iter_rows():
        if buckets and (end := buckets[-1][1]) is not None and end < lower:
            buckets.append((end, lower, 0.0))  # buckets that are empty are not there
        buckets.append((lower, upper, float(count)))
    counts = [count for _, _, count in buckets]
    least = max(_LEAST_GROUP * number, LEAST_WAITS)

    def depth(at: int) -> float:
        return counts[at] / min(max(counts[:at]), max(counts[at + 1 :]))

    inner = [at for at in range(1, len(counts) - 1) if min(sum(counts[:at]), sum(counts[at + 1 :])) >= least]
    valley = min(inner, key=depth, default=0)
    if not valley or depth(valley) > _VALLEY:
        return
    slow = sum(counts[valley + 1 :])
    fast_ns, slow_ns, _ = buckets[valley]
    yield Finding(
        "two_groups",
        f"The times{of} are in two groups: {percent(sum(counts[:valley]) / number)} were at most "
        f"{seconds(fast_ns / 1e9)}, {percent(slow / number)} at least {seconds((slow_ns or 0) / 1e9)}.",
        next="see the devices and processes of each group: biosnoop -Q",
        evidence=(Evidence("buckets", tuple(str(name) for name in (label, key) if name is not None)),),
        order=0,
    )


def _counted(log: LatencyHistograms) -> pl.DataFrame:
    """The buckets with a unit of time and a number ``n`` in them; of counters since a start what was added."""
    counts = pl.when(pl.col("is_cumulative")).then("delta").otherwise("count")
    return log.buckets.with_columns(n=counts).filter((pl.col("n") > 0) & pl.col("lower_ns").is_not_null())


def _groups(counted: pl.DataFrame) -> pl.DataFrame:
    """Label, key and number of times of each group, the largest first."""
    return counted.group_by(_GROUP).agg(pl.col("n").sum()).sort("n", *_GROUP, descending=[True, False, False])


def _of_group(counted: pl.DataFrame, label: str | None, key: str | None) -> pl.DataFrame:
    return counted.filter(
        *(pl.col(name).eq_missing(pl.lit(value)) for name, value in zip(_GROUP, (label, key), strict=True))
    )


def histogram_buckets(log: LatencyHistograms) -> pl.DataFrame:
    r"""The distributions of the largest groups of histograms, for a chart.

    Returns:
        ``event`` (label and key), ``from_us``, ``to_us`` (null in an open bucket), ``waits`` and ``waits_pct`` as in
        `iolab.metrics.histograms.BUCKETS`; the largest groups first, without those of fewer times than make a latency.

    Examples:
        >>> from hostparse import read_histograms
        >>> head = "     usecs               : count     distribution\n"
        >>> rows = "".join(f"{low:>10} -> {high:<10} : {count:<8} |*|\n"
        ...     for low, high, count in ((64, 127, 10), (128, 255, 30)))
        >>> histogram_buckets(read_histograms((head + rows).encode())).rows()
        [('all times', 64.0, 128.0, 10.0, 25.0), ('all times', 128.0, 256.0, 30.0, 75.0)]
    """
    counted = _counted(log)
    parts = []
    for label, key, number in _groups(counted).filter(pl.col("n") >= LEAST_WAITS).head(_MOST_GROUPS).iter_rows():
        own = _of_group(counted, label, key).group_by("lower_ns", "upper_ns").agg(pl.col("n").sum())
        name = ", ".join(str(one) for one in (label, key) if one is not None) or "all times"
        parts.append(
            own.sort("lower_ns").select(
                event=pl.lit(name),
                from_us=pl.col("lower_ns") / 1e3,
                to_us=pl.col("upper_ns") / 1e3,
                waits=pl.col("n").cast(pl.Float64),
                waits_pct=100 * pl.col("n") / number,
            )
        )
    return pl.concat(parts) if parts else pl.DataFrame(schema={name: BUCKETS[name] for name in _DRAWN})


def _within(own: pl.DataFrame, number: float) -> str:
    """`at most` the upper edge of the bucket in which this many times are reached."""
    edges = own.group_by("upper_ns").agg(pl.col("n").sum(), pl.col("lower_ns").max()).sort("upper_ns", nulls_last=True)
    reached = edges.filter(pl.col("n").cum_sum() >= number)
    upper, lower = reached.item(0, "upper_ns"), reached.item(0, "lower_ns")
    return f"more than {time_text(lower / 1e9)}" if upper is None else f"at most {time_text(upper / 1e9)}"


@rule("storage_test", of="fio", needs="a job that made a request")
def fio_findings(log: FioResult) -> Iterator[Finding]:
    """What each job of a test of storage reached: requests per second, and the time of one."""
    jobs = log.jobs.filter(pl.col("requests") > 0).sort("requests", "job", "direction", descending=[True, False, False])
    for row in jobs.head(_MOST_JOBS).iter_rows(named=True):
        word = row["direction"]
        own = log.percentiles.filter(
            (pl.col("number") == row["number"])
            & (pl.col("direction") == word)
            & (pl.col("latency") == "completion")
            & (pl.col("percentile") == 99)
        )
        ninety_ninth = own.item(0, "latency_ms") if own.height else None
        slow = "" if ninety_ninth is None else f", 99 % at most {time_text(ninety_ninth / 1e3)}"
        mean, rate, size_rate = row["completion_mean_ms"], row["requests_per_s"], row["bytes_per_s"]
        reached = [
            count_text(row["requests"], word) if rate is None else f"{figure_text(rate)} {word}s per second",
            "" if size_rate is None else figure_text(size_rate / 1e6, "MB/s"),
            "" if mean is None else f"{time_text(mean / 1e3)} each on average{slow}",
        ]
        setting = [row["pattern"], row["block_size_text"] and f"blocks of {row['block_size_text']}"]
        depth, processes = row["queue_depth"], row["processes"]
        if depth is not None:
            setting.append(f"depth {depth}" + (f" in {processes} processes" if (processes or 1) > 1 else ""))
        yield Finding(
            "storage_test",
            f"Job `{row['job'] or row['number']}` ({', '.join(filter(None, setting)) or _NO_SETTING}): "
            f"{', '.join(filter(None, reached))}.",
            detail=f"{count_text(row['requests'], 'request')}; the time from submission to completion"
            + ("" if row["is_direct"] else "; without direct I/O the file system's cache may have had them"),
            evidence=(Evidence("jobs", (row["job"] or str(row["number"]),)),),
            order=1,
        )


@rule("latency", of="io_events", needs="requests with times", thresholds={"30 requests": "finding.LEAST_WAITS"})
def event_findings(log: EventList) -> Iterator[Finding]:
    r"""Half and the longest of the reads and writes of a list of I/O events; refused where only slow ones are listed.

    Examples:
        >>> from hostparse import read_events
        >>> head = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n"
        >>> rows = "".join(f"{n}.0 oracle 42 sda R {n} 8192 {n}.00\n" for n in range(1, 41))
        >>> for one in event_findings(read_events((head + rows).encode())): print(one.sentence)
        Half of 40 reads from `sda` took at most 20 ms, the longest 40 ms (line 41).
        >>> rows += "".join(f"{n}.0 lgwr 43 sdb W {n} 4096 90.00\n" for n in range(1, 31))
        >>> print(next(event_findings(read_events((head + rows).encode()))).sentence)
        Writes to `sdb` took 77 % of the time of 70 requests: 30 of 90 ms each, all of `lgwr` (43); the others took
        20.5 ms.
    """
    timed = log.events.filter(pl.col("latency_ms").is_not_null() & pl.col("operation").is_not_null())
    if log.kind in _SLOW_ONLY:
        yield Finding(
            "latency",
            f"The log does not show how long most requests took: the tool lists only the {log.events.height:,} above "
            "its limit.",
            next="`biolatency`, or `biosnoop`",
            evidence=(Evidence("events"),),
            is_refused=True,
        )
        return
    source = timed.select("operation", "latency_ms", "line", "device", "command", "pid")
    if source.is_empty() and log.requests.height:
        took, unknown = pl.coalesce("total_ms", "device_ms"), pl.lit(None, pl.String)
        source = log.requests.select("operation", "line", "device", latency_ms=took, command=unknown, pid=unknown)
        source = source.drop_nulls(["operation", "latency_ms"])
    kinds = source.with_columns(
        kind=pl.col("operation").str.slice(0, 1).str.to_uppercase().replace_strict(_OPERATIONS, default=None)
    ).drop_nulls("kind")
    yield from _most_time(kinds)
    for (kind, _), rows in kinds.group_by("kind", "device", maintain_order=True):
        times = rows.get_column("latency_ms")
        if times.len() < LEAST_WAITS:
            continue
        longest = rows.sort("latency_ms", "line", descending=[True, False]).row(0, named=True)
        middle = times.quantile(0.5, "equiprobable") or 0.0
        yield Finding(
            "latency",
            f"Half of {count_text(times.len(), str(kind))}{_of_disk(rows, str(kind))} took at most "
            f"{time_text(middle / 1e3)}, the longest {time_text(longest['latency_ms'] / 1e3)} "
            f"(line {longest['line']:,}).",
            evidence=(Evidence("events", lines=(longest["line"],)),),
            order=1,
        )


def _most_time(kinds: pl.DataFrame) -> Iterator[Finding]:
    """The reads or writes of one device that took most of the time of all requests, beside the others."""
    groups = kinds.group_by("kind", "device").agg(pl.col("latency_ms").sum(), pl.len()).sort("latency_ms").rows()
    total = float(kinds.get_column("latency_ms").sum())
    if len(groups) < 2 or groups[-1][3] < LEAST_WAITS or groups[-1][2] < _MOST_TIME * total:
        return
    kind, device, busy, count = groups[-1]
    own = kinds.filter(pl.col("kind").eq(kind) & pl.col("device").eq_missing(device))
    callers = own.select("command", "pid").unique()
    whose = f", all of `{callers.item(0, 0)}` ({callers.item(0, 1)})" if callers.drop_nulls().height == 1 else ""
    others = seconds((total - busy) / (kinds.height - count) / 1e3)
    took = f"{percent(busy / total)} of the time of {kinds.height:,} requests"
    yield Finding(
        "latency",
        f"{kind.capitalize()}s{_of_disk(own, kind)} took {took}: "
        f"{count:,} of {seconds(busy / count / 1e3)} each{whose}; the others took {others}.",
        next="see this device beside the others: iostat -xt 5",
        evidence=(Evidence("events"),),
        order=0,
    )


def _of_disk(rows: pl.DataFrame, kind: str) -> str:
    """The device of all requests of a kind, where it is one."""
    disks = rows.get_column("device").drop_nulls().unique()
    return f" {'from' if kind == 'read' else 'to'} `{disks.item()}`" if disks.len() == 1 else ""


def profile_findings(log: CpuProfile) -> Iterator[Finding]:
    """The findings of a CPU profile."""
    yield from apply_rules("cpu_profile", log)


@rule("cpu_profile", of="cpu_profile", thresholds={"10 %": "iolab.rules.time_parts.PART"})
def cpu_profile(log: CpuProfile) -> Iterator[Finding]:
    r"""The layers of the database that had most samples of the processors, with their functions.

    Examples:
        >>> from hostparse import read_profile
        >>> for one in profile_findings(read_profile(b"  oracle`kdst_fetch   150\n  oracle`kcbgtcr   50\n")):
        ...     print(one.sentence)
        Row access (kd) took 69 to 80 % of 200 samples, mostly `kdst_fetch`.
        `kdst_fetch` took 69 to 80 % of 200 samples.
        Buffer cache (kcb) took 20 to 31 % of 200 samples, mostly `kcbgtcr`.
        `kcbgtcr` took 20 to 31 % of 200 samples.
    """
    for lead in profile_ledgers(log):
        parts = lead.parts() if lead.views else lead.frame
        for row in parts.filter(pl.col("kind") == "cpu").iter_rows(named=True):
            if (row["share_lo"] or 0.0) < PART or lead.total is None:
                continue
            share = percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
            inner = parts.filter((pl.col("parent") == row["part"]) & (pl.col("kind") == "cpu"))
            mostly = f", mostly `{inner.item(0, 'name')}`" if inner.height else ""
            name = f"`{row['name']}`" if row["level"] else f"{row['name'][:1].upper()}{row['name'][1:]}"
            yield Finding(
                "cpu_profile",
                f"{name} took {share} of {count_text(lead.total.value, 'sample')}{mostly}.",
                part=row["part"],
                next="see who calls it: the same profile with stacks: `perf record -g`, or `ustack()` of dtrace",
            )
