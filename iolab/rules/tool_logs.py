"""Logs of tools that measure single requests, tests of storage, or the processors: what one request took, and where."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import count_text, figure_text, time_text
from iolab.metrics.histograms import BUCKETS
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import joined, percent, seconds, three
from iolab.rules.registry import apply_rules, rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.samples import profile_ledgers
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse import CpuProfile, EventList, FioResult, LatencyHistograms
    from hostparse.log import FrameLog

#: A 99th percentile needs this many times: with fewer none beyond it is expected with 95 % chance.
_LEAST_P99: Final = 299
_MOST_JOBS: Final = 4
#: The reads or writes of one device with this much of the time of all requests come first.
_MOST_TIME: Final = 0.5
_NO_SETTING: Final = "its settings are not known"
#: The least share of times in a group, and how deep the valley between two groups is, by the smaller peak.
_LEAST_GROUP: Final = 0.05
_VALLEY: Final = 0.10
#: The queue of a test was full where this share of it was in flight.  The rate of a limit varies by less than 2 %, and
#: is a round number or that of equal times (their deviation, by the mean) of a device that can do with as little.
_FULL, _EVEN, _EQUAL, _QUICK = 0.9, 0.02, 0.25, 0.25
#: A rate is round this near to a number; below this first digits, a tenth of them counts, else half of one.
_ROUND, _LOW_DIGITS = 0.001, 2
_LIMIT: Final = "a limit on requests per second (of a volume, a cgroup)"
_AGAIN: Final = "run the job again with less depth"
_SEE_LIMIT: Final = f"compare with the IOPS of the volume, and io.max of the cgroup; {_AGAIN}"
#: Samples of the rate during a test: mean, deviation and number, which is this at least for a spread.
_SPREAD: Final = ("requests_per_s_mean", "requests_per_s_stddev", "requests_per_s_samples")
_FEWEST: Final = 5
#: What a text report of fio prints beside block sizes.
_BESIDE_SIZES: Final = ("(R)", "(W)", "(T)", ",", "-", "/")
#: The latencies of a text report of fio, and what they are.
_TIMES: Final = {"clat": "completion_mean_ms", "lat": "total_mean_ms", "sync": "sync_mean_ms"}
#: The same of the syncs of a job in a result as JSON, in ns.
_SYNCS: Final = {"mean": "sync_mean_ms", "percentile.99.000000": "sync_p99_ms", "max": "sync_max_ms"}
#: From this many times the usual time on a group is another.
_FAR_SLOWER: Final = 8
#: Stalls: the longest of the times, at most this share, of which nearly all are in a few of many tables.
_LONGEST, _NEARLY_ALL, _FEW_TABLES, _MANY_TABLES = 0.1, 0.9, 0.2, 10
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
    "stalls",
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
    names, about = _about(own, label, key)
    yield from _slowest_group(counted, label, key)
    yield from _stalls(own, number, names)
    slow = f", 99 % {_within(own, 0.99 * number)}" if number >= _LEAST_P99 else ""
    yield Finding(
        "latency",
        f"Half of {count_text(number, 'time')}{about} were {_within(own, 0.5 * number)}{slow}.",
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
    if own.select((pl.col("upper_ns").cum_max().shift() > pl.col("lower_ns")).any()).item():  # tables of two units
        return
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


def _about(own: pl.DataFrame, label: str | None, key: str | None) -> tuple[list[str], str]:
    """The names of a group, and a phrase of them and of the number of its histograms."""
    tables, names = own.get_column("histogram").n_unique(), [str(name) for name in (label, key) if name is not None]
    about = f" of {', '.join(f'`{name}`' for name in names)}" if names else ""
    return names, about + (f" ({tables:,} histograms)" if tables > 1 else "")


def _slowest_group(counted: pl.DataFrame, *usual: str | None) -> Iterator[Finding]:
    """The group, as of a disk, half of whose times are far longer than half of those of the largest group."""
    reached = (pl.col("n").cum_sum() >= 0.5 * pl.col("n").sum()).over(_GROUP)
    middle = counted.sort("lower_ns").with_columns(whole=pl.col("n").sum().over(_GROUP)).filter(reached)
    middle = middle.group_by(_GROUP).agg(pl.col("lower_ns", "upper_ns", "whole").first())
    half = _of_group(middle, *usual).select(far=_FAR_SLOWER * pl.col("upper_ns"))  # null in an open bucket
    found = middle.filter(pl.col("whole") >= LEAST_WAITS, pl.col("lower_ns") >= pl.lit(half.item()))
    for label, key, least, _, number in found.sort("lower_ns", *_GROUP, descending=[True, False, False]).head(1).rows():
        names, about = _about(_of_group(counted, label, key), label, key)
        said = f"Half of {count_text(number, 'time')}{about} were {time_text(least / 1e9)} or longer."
        yield Finding("latency", said, evidence=(Evidence("buckets", tuple(names)),), order=0)


def _stalls(own: pl.DataFrame, number: float, names: list[str]) -> Iterator[Finding]:
    """The few tables in which nearly all of the longest times are, where these are far above the usual time."""
    edges = own.group_by("lower_ns", "upper_ns").agg(pl.col("n").sum()).sort("lower_ns")
    edges = edges.with_columns(longer=pl.col("n").cum_sum(reverse=True))
    half = edges.filter(pl.col("n").cum_sum() >= number / 2).item(0, "upper_ns")  # null in an open bucket
    tables = own.get_column("histogram").unique().sort()
    found = edges.filter(
        pl.col("longer").is_between(LEAST_WAITS, _LONGEST * number), pl.col("lower_ns") >= pl.lit(half) * _FAR_SLOWER
    )
    for edge_ns, longer in found.select("lower_ns", "longer").head(1).iter_rows():
        slow = own.filter(pl.col("lower_ns") >= edge_ns).group_by("histogram").agg(pl.col("n").sum())
        slow = slow.sort("n", "histogram", descending=[True, False])
        few = slow.filter((pl.col("n").cum_sum() - pl.col("n")) < _NEARLY_ALL * longer)
        if len(tables) < _MANY_TABLES or few.height > _FEW_TABLES * len(tables):
            return
        places = sorted(int(tables.index_of(one) or 0) + 1 for one in few.get_column("histogram"))
        steps = {after - before for before, after in pairwise(places)}
        apart = f", {steps.pop()} apart" if len(steps) == 1 and len(places) > _MOST_GROUPS else ""
        most = edges.item(-1, "upper_ns")
        longer_than = time_text(edge_ns / 1e9)
        times = f"times of {longer_than} to {time_text(most / 1e9)}" if most else f"times of {longer_than} or longer"
        yield Finding(
            "stalls",
            f"Requests stalled most in {len(places)} of {len(tables)} histograms{apart}: they hold "
            f"{few.get_column('n').sum():,} of the {longer:,} {times}.",
            next="see what happened then: dmesg -T; multipath -ll; the log of the array",
            detail=f"histograms {joined([str(one) for one in places])} of the log",
            evidence=(Evidence("buckets", tuple(names)),),
            order=0,
        )


def _within(own: pl.DataFrame, number: float) -> str:
    """`at most` the upper edge of the bucket in which this many times are reached."""
    edges = own.group_by("upper_ns").agg(pl.col("n").sum(), pl.col("lower_ns").max()).sort("upper_ns", nulls_last=True)
    reached = edges.filter(pl.col("n").cum_sum() >= number)
    upper, lower = reached.item(0, "upper_ns"), reached.item(0, "lower_ns")
    return f"more than {time_text(lower / 1e9)}" if upper is None else f"at most {time_text(upper / 1e9)}"


@rule("storage_test", "full_test_queue", of="fio", needs="a job that made a request")
def fio_findings(log: FioResult) -> Iterator[Finding]:
    """What each job of a test of storage reached: requests per second, the time of one, and how many were in flight."""
    is_99th = pl.col("latency").eq("completion") & pl.col("percentile").eq(99)
    slow = log.percentiles.filter(is_99th).select("number", "direction", p99_ms="latency_ms")
    quick = log.percentiles.filter(latency="completion", percentile=1.0).select(
        "number", "direction", p1_ms="latency_ms"
    )
    jobs = log.jobs.filter(pl.col("requests") > 0)
    for one in (slow, quick):
        jobs = jobs.join(one, on=["number", "direction"], how="left")
    for figure, name in _SYNCS.items():  # of all requests of a job: its writes are synced
        path = pl.when(direction="write").then(pl.format(f"jobs[{{}}].sync.lat_ns.{figure}", "number"))
        values = log.values.select("path", (pl.col("number") / 1e6).alias(name)).unique("path", keep="last")
        jobs = jobs.with_columns(path=path).join(values, on="path", how="left", maintain_order="left").drop("path")
    # the processes of a job are one entry, or as many with its name
    of_name = pl.col("number").n_unique().over("job")
    each = pl.when(of_name == pl.col("processes")).then(1).otherwise(pl.col("processes"))
    yield from _tests(jobs.with_columns(in_entry=each))


@rule(
    "storage_test",
    "full_test_queue",
    of="fio_text",
    needs="a job with rates and latencies",
    thresholds={
        "90 % of the queue": "a job sends the next request late",
        "2 % of a round rate, or of equal times of which 1 % are a quarter": "rates of most devices vary by more",
    },
)
def fio_text_findings(log: FrameLog) -> Iterator[Finding]:
    r"""What each job of a text report of fio reached: requests per second, the time of one, and how many in flight.

    Examples:
        >>> import iolab
        >>> text = "rr: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, "
        >>> text += "iodepth=16\nfio-3.33\nrr: (groupid=0, jobs=2): err= 0: pid=3: Tue Nov 12 08:18:18 2024\n"
        >>> text += "  read: IOPS=4000, BW=31.3MiB/s (32.8MB/s)(1936KiB/21msec)\n"
        >>> text += "    clat (usec): min=45, max=4028, avg=8000.46, stdev=434.89\n"
        >>> text += "   iops        : min= 3990, max= 4010, avg=4000.10, stdev= 3.01, samples=99\n"
        >>> for one in fio_text_findings(iolab.load(text.encode())): print(one.sentence)
        Job `rr` had 32 requests in flight, its whole queue: 4,000 per second of 8.00 ms each. Its rate varied by less
        than 0.1 % (standard deviation): consistent with a limit on requests per second (of a volume, a cgroup).
        Job `rr` (randread, blocks of 8192B, depth 16 in 2 processes): 4,000 reads per second, 32.8 MB/s, 8.00 ms each
        on average.
    """
    tables = log.tables
    if tables["rates"].is_empty():
        return
    keys = ["sample", "direction"]
    times = tables["latencies"].select(*keys, "latency", "latency_mean_ms", "latency_stddev_ms", "latency_max_ms")
    slow, quick = (tables["percentiles"].filter(pl.col("percentile").eq(one)) for one in (99, 1))
    parts = [
        *(
            times.filter(latency=one).select(*keys, pl.col("latency_mean_ms").alias(name))
            for one, name in _TIMES.items()
        ),
        times.filter(latency="clat").select(*keys, completion_stddev_ms="latency_stddev_ms"),
        slow.filter(latency="clat").select(*keys, p99_ms="latency_ms"),
        quick.filter(latency="clat").select(*keys, p1_ms="latency_ms"),
        slow.filter(latency="sync").select(*keys, sync_p99_ms="latency_ms"),
        times.filter(latency="sync").select(*keys, sync_max_ms="latency_max_ms"),
        tables["rate_spread"].select(*keys, *_SPREAD),
    ]
    jobs = tables["rates"].select(*keys, "job", "requests_per_s", "bytes_per_s")
    for part in parts:
        jobs = jobs.join(
            part.unique(keys, keep="first", maintain_order=True), on=keys, how="left", maintain_order="left"
        )
    jobs = jobs.join(tables["jobs"].select("sample", "processes"), on="sample", how="left", maintain_order="left")
    settings = tables["settings"].unique("job", keep="first").select("job", "pattern", "block_size_text", "queue_depth")
    size = pl.col("block_size_text").str.replace_many(dict.fromkeys(_BESIDE_SIZES, " "))
    sizes = size.str.split(" ").list.unique(maintain_order=True).list.set_difference([""])
    one_size = pl.when(sizes.list.len() == 1).then(sizes.list.first()).otherwise("block_size_text")
    jobs = jobs.join(settings.with_columns(block_size_text=one_size), on="job", how="left", maintain_order="left")
    unknown = pl.lit(None)
    yield from _tests(
        jobs.with_columns(
            requests=unknown.cast(pl.Int64),
            number=pl.col("sample"),
            in_entry=pl.col("processes"),
            is_direct=unknown.cast(pl.Boolean),
        )
    )


def _tests(jobs: pl.DataFrame) -> Iterator[Finding]:
    """What each job of a test of storage reached; the largest first."""
    order = ("requests", "requests_per_s")
    jobs = jobs.sort(*order, "job", "direction", descending=[True, True, False, False], nulls_last=True)
    for _, rows in jobs.head(_MOST_JOBS).group_by("number", maintain_order=True):
        yield from _in_flight(rows)
    for row in jobs.head(_MOST_JOBS).iter_rows(named=True):
        word, slow = row["direction"], _slowest(row["p99_ms"])
        alone = ""
        if synced := row["sync_mean_ms"]:
            yield _synced(row, synced)
            alone = " (without its sync)"
        mean, rate, size_rate = row["completion_mean_ms"], row["requests_per_s"], row["bytes_per_s"]
        reached = [
            count_text(row["requests"], word) if rate is None else f"{figure_text(rate)} {word}s per second",
            "" if size_rate is None else figure_text(size_rate / 1e6, "MB/s"),
            "" if mean is None else f"{time_text(mean / 1e3)} each on average{alone}{slow}",
        ]
        setting = [row["pattern"], row["block_size_text"] and f"blocks of {row['block_size_text']}"]
        depth, processes = row["queue_depth"], row["processes"]
        if depth is not None:
            setting.append(f"depth {depth}" + (f" in {processes} processes" if (processes or 1) > 1 else ""))
        requests = "" if row["requests"] is None else f"{count_text(row['requests'], 'request')}; "
        yield Finding(
            "storage_test",
            f"Job `{row['job'] or row['number']}` ({', '.join(filter(None, setting)) or _NO_SETTING}): "
            f"{', '.join(filter(None, reached))}.",
            detail=f"{requests}the time from submission to completion"
            + ("" if row["is_direct"] else "; without direct I/O the file system's cache may have had them"),
            evidence=(Evidence("jobs", (row["job"] or str(row["number"]),)),),
            order=1,
        )


def _slowest(p99_ms: float | None) -> str:
    return "" if p99_ms is None else f", 99 % at most {time_text(p99_ms / 1e3)}"


def _synced(row: dict[str, Any], mean_ms: float) -> Finding:
    """What the syncs of a job took: its data are on the device when they end, not when its writes do."""
    longest = f", the longest {time_text(row['sync_max_ms'] / 1e3)}" if row["sync_max_ms"] else ""
    return Finding(
        "storage_test",
        f"Syncs of job `{row['job'] or row['number']}` took {time_text(mean_ms / 1e3)} each on average"
        f"{_slowest(row['sync_p99_ms'])}{longest}.",
        detail="a write that is not followed by a sync may be only in the page cache",
        next="compare with iostat -xt 1 of the device: w_await, f/s and f_await",
        evidence=(Evidence("latencies", (row["job"] or str(row["number"]),)),),
        order=0 if mean_ms > (row["completion_mean_ms"] or 0.0) else 1,
    )


def _in_flight(rows: pl.DataFrame) -> Iterator[Finding]:
    """How many requests of a job were in flight (rate times time, Little's law), where its queue is longer than one."""
    first, took = rows.row(0, named=True), pl.coalesce("total_mean_ms", "completion_mean_ms")
    rate, in_flight = rows.select(
        pl.col("requests_per_s").sum(), flight=(pl.col("requests_per_s") * took / 1e3).sum()
    ).row(0)
    queue = (first["queue_depth"] or 0) * (first["in_entry"] or 1)
    if queue <= 1 or not in_flight or rows.select((took * pl.col("requests_per_s")).has_nulls()).item():
        return
    is_full = in_flight >= _FULL * queue
    mean, deviation, samples = map(pl.col, _SPREAD)
    spread = rows.select((deviation / mean).filter(samples >= _FEWEST).max()).item()
    of = "its whole queue" if is_full else f"of {queue:,} that its queue can hold"
    even = f"less than {percent(0.001)}" if spread is not None and spread < 0.001 else f"{percent(spread or 0.0)}"
    is_like = (pl.col("p1_ms") <= _QUICK * took) & (pl.col("completion_stddev_ms") <= _EQUAL * took)
    is_quick = is_like.fill_null(value=False).all()
    *means, quick = rows.select(
        mean.sum(), all=(mean * pl.col("in_entry")).sum(), quick=pl.when(is_quick).then(pl.col("p1_ms").max())
    ).row(0)
    is_round = _is_round(rate) and any(map(_is_round, means))
    is_even = is_full and spread is not None and spread < _EVEN and (is_round or quick is not None)
    yield Finding(
        "full_test_queue",
        f"Job `{first['job'] or first['number']}` had {three(round(in_flight, 1))} requests in flight, {of}: "
        f"{three(round(rate))} per second of {seconds(in_flight / rate)} each."
        + (f" Its rate varied by {even} (standard deviation): consistent with {_LIMIT}." if is_even else "")
        + (f" The quickest 1 % took at most {seconds(quick / 1e3)}." if is_even and quick else ""),
        detail="requests per second times the mean time of one (Little's law)",
        next=_SEE_LIMIT if is_even else _AGAIN if is_full else "",
        evidence=(Evidence("jobs", (first["job"] or str(first["number"]),)),),
        order=0,
    )


def _is_round(rate: float | None) -> bool:
    """Whether a rate is one that somebody chose: a few of its first digits, and zeros.

    Examples:
        >>> [_is_round(rate) for rate in (3000.03, 16_000, 7500, 46_420, 29_400, 0)]
        [True, True, True, False, False, False]
    """
    if not rate:
        return False
    unit = 10.0 ** math.floor(math.log10(rate))
    step = unit / (10 if rate < _LOW_DIGITS * unit else 2)
    return abs(rate - round(rate / step) * step) <= _ROUND * rate


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
