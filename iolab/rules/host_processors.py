"""How busy the processors of a host were, alone and in the time of a report; the processes that used them."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.evidence.host_alignment import check_host
from iolab.metrics.formatting import MOST_TEXT, RANGE, as_sentence, count_text, short_text, size_text
from iolab.metrics.processors import (
    COLUMNS,
    IS_SAMPLE,
    RESTING,
    SATURATED,
    SINCE_START,
    cpu_metrics,
    cpu_samples,
    has_several_hosts,
    high_stretch,
    levels,
    mean_by_time,
    partition_use,
    placed,
    raised,
)
from iolab.rules import devices, pressure  # noqa: F401 - their rules come before these, whatever was imported first
from iolab.rules.finding import LITTLE, OF_SAMPLES, Evidence, Finding, meanings
from iolab.rules.phrases import counted, joined, named_list, percent, three
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART, numbers_after, sizes_after
from iolab.time_ledger.samples import host_ledgers
from logframe.errors import RefusedError
from logframe.interval import ENDS, Interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from awrparse import AwrReport
    from hostparse import HostLog
    from iolab.time_ledger.account import Ledger

#: Fewer samples do not describe the time between them.
_FEWEST: Final = 10
_MOSTLY: Final = 0.5
#: A CPU that is full moves only where it was seen in as many samples.
_FEW_SAMPLES: Final = 3
#: A host whose processors are busy for less is idle.
_IDLE: Final = 0.10
#: Samples that cover less of a report's time are no mean of it.
_WHOLE: Final = 0.95
#: Tables that rules look at, and what to take where none of them has samples.
_SCOPES: Final = ("host", "cpu", "device", "process")
_TAKE: Final = "LC_ALL=C iostat -xt 5, or pidstat -u 5, while the work runs"
#: Fewer blocked processes are not worth a line.
_LEAST_BLOCKED: Final = 0.5
#: What processors did that was no work of the host, in words.
_NOT_AT_WORK: Final = {
    "idle": "idle",
    "iowait": "idle, with I/O in flight (iowait),",
    "steal": "taken by the hypervisor (steal)",
}
#: What a processor did, in words, where its name does not say it.
_BUSY_WITH: Final = {"user": "user code", "nice": "processes of lower priority", "system": "kernel code"}
_MOST_PROCESSES: Final = 3
PROFILE: Final = "see what it did: perf record -g -p {} -- sleep 10"
_LESS: Final = "reduce or move the largest processes; hold the SGA in huge pages: vm.nr_hugepages, use_large_pages"
_HUGE_PAGES: Final = ("HugePages_Total", "HugePages_Free", "Hugepagesize")
_SGA: Final = ("sga_target", "sga_max_size")
_UNUSED: Final = "let the SGA use the huge pages (use_large_pages, memlock), or release them: sysctl vm.nr_hugepages=0"
#: Less memory swapped in, in KiB/s, is not worth a line.
_LEAST_SWAPPED: Final = 1_000
#: Columns of what was swapped in and out (vmstat, sar -W), and KiB of their unit: pages of Linux on x86 have 4.
_AIX: Final = ("pi_per_s", "po_per_s")
_SWAPPED: Final[dict[tuple[str, str], float]] = {("si", "so"): 1.0, ("pswpin_per_s", "pswpout_per_s"): 4.0, _AIX: 4.0}
_CALM_FIGURES: Final = ("util_percent", *(name for names in _SWAPPED if names != _AIX for name in names))
#: (Table, column of swap in use, or of free swap) -> (bytes of its unit, the column of all swap where it is free).
_IN_USE: Final = {
    ("host", "swpused_bytes"): (1, ""),
    ("MEM", "swapfree_bytes"): (1, "swaptotal_bytes"),
    ("host", "swpd"): (1 << 10, ""),
}
#: Swap in use that grew by more than this factor is what comes first.
_MUCH: Final = 1.5
#: Less swap more in use is not worth a line; its growth has begun where it is above this share of the whole growth.
_LEAST_IN_USE: Final = 256 << 20
_BEGUN: Final = 0.05
#: What grows without an end is this many times as much, or more percent of memory, and still grows in each quarter of
#: its time by this part of the whole.
_TIMES_MORE, _PERCENT_MORE, _EACH_QUARTER, _QUARTER = 2.0, 20.0, 0.1, 4
#: From this factor on processes that pile up are no load of a morning.
_LEAK: Final = 3.0
_GROWING: Final = {"tasks": "The number of processes", "commit_percent": "Committed memory"}
#: What grows, or falls, beside it: its words, its unit, what makes one of it, and whether it rises.
_BESIDE: Final = {
    "memused_percent": ("memory used", " %", 1.0, True),
    "commit_percent": ("committed memory", " %", 1.0, True),
    "ldavg-15": ("the load average", "", 1.0, True),
    "cached_bytes": ("the page cache", " GiB", 2.0**-30, False),
}
#: Columns that say where and when a row is, and the figures of a table without a rule that are reported.
_PLACES: Final = ("line", "run", "sample", "time_of_day", "uid", "tid")
_MOST_FIGURES: Final = 3
#: From this length of a sample on, its time is reported in minutes.
_MINUTE_S: Final = 60


@rule(
    "processors",
    of="host",
    needs="samples of the processors",
    thresholds={"90 %": "a sample is a mean: above it work waits for a processor now and then", "10 %": "a convention"},
)
def processors(log: HostLog) -> Iterator[Finding]:
    r"""How busy the processors were in all samples of a log; nothing of a log without samples of them.

    Examples:
        >>> from hostparse import read_host
        >>> def log(idle: int) -> HostLog:
        ...     row = f" 9 0 0 9 0 0 1 1 {95 - idle} 5 {idle} 0\n"
        ...     return read_host((" r  b   swpd   free  bi    bo   in   cs us sy id wa\n" + row * 21).encode())
        >>> for idle in (2, 70, 95):
        ...     for one in processors(log(idle)): print(one.sentence)
        The CPUs were 98 % busy on average, mostly with user code (93 %); 20 of 20 samples were at least 90 % busy.
        The CPUs were 30 % busy on average over 20 samples.
        The CPUs were idle: 4.0 to 5.5 % busy on average over 20 samples.
        >>> list(processors(read_host(b"Device  r/s  await\nsda 1.0 2.0\n")))
        []
    """
    yield from _of(log, "", None)


@rule(
    "idle_processors",
    "stolen_time",
    of="host",
    needs="samples of the processors",
    thresholds={"10 %": "time_parts.PART"},
)
def idle_processors(log: HostLog) -> Iterator[Finding]:
    """How long the processors were idle, with and without I/O in flight, or taken by the hypervisor."""
    for lead in host_ledgers(log)[:1]:
        yield from idle_time(lead)


def idle_time(lead: Ledger) -> Iterator[Finding]:
    """The parts of the processors' time that were no work of the host."""
    if "what" in lead.views:
        parts = lead.parts().filter(pl.col("part").is_in([*_NOT_AT_WORK]))
        for row in parts.filter(pl.col("share_lo") >= PART).iter_rows(named=True):
            share = percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
            name = "stolen_time" if row["part"] == "steal" else "idle_processors"
            said = f"The CPUs were {_NOT_AT_WORK[row['part']]} for {share} of the time."
            step = "" if name == "idle_processors" else meanings()[name].next
            yield Finding(name, said, part=row["part"], next=step, order=6)


def largest_share(leads: Iterable[Ledger], *parts: str, least: float = PART) -> tuple[str, Interval] | None:
    """The part with most of the processors' time, of those named, and its share; None where that is less."""
    found = [one.parts().filter(pl.col("part").is_in(parts)) for one in leads if "what" in one.views]
    rows = [row for one in found for row in one.filter(pl.col("share_lo") >= least).iter_rows(named=True)]
    shares = [(row["part"], Interval(*(row[f"share{end}"] for end in ENDS))) for row in rows]
    return max(shares, key=lambda row: row[1].value, default=None)


@rule(
    "busiest_processor",
    of="host",
    needs="samples of each processor (mpstat -P ALL, sar -P ALL, nmon)",
    thresholds={"90 %, and less than half on average": "one processor is then the limit of one thread"},
)
def busiest_processor(log: HostLog) -> Iterator[Finding]:
    """The processor that was busy all the time while the others were not: a mean of all hides it."""
    if "cpu" not in log.scopes or has_several_hosts(log):
        return
    rows = log.scan("cpu").filter(
        IS_SAMPLE
        & pl.col("cpu").cast(pl.String).str.tail(1).str.to_integer(strict=False).is_not_null()  # `0`, `CPU001`
    )
    columns = rows.collect_schema().names()
    found = {part: one for part, names in COLUMNS.items() for name in names if (one := f"{name}_percent") in columns}
    if "idle" not in found:
        return
    rests = pl.sum_horizontal(pl.col(found[part]).fill_null(0.0) for part in RESTING if part in found)
    busy = 1 - rests / 100
    parts = {part: mean_by_time(pl.col(name).fill_null(0.0)) for part, name in found.items() if part not in RESTING}
    # the row of a processor that is off line has zeros only
    moving = placed(rows, log.runs).filter(
        pl.sum_horizontal(pl.col(name).fill_null(0.0) for name in found.values()) > 0
    )
    cpus = (
        moving.group_by("cpu")
        .agg(busy=mean_by_time(busy), full=mean_by_time(busy >= SATURATED), samples=pl.len(), **parts)
        .collect()
    )
    if cpus.height <= 1:
        return
    top, mean = cpus.sort("busy", "cpu", descending=[True, False]).row(0, named=True), cpus.get_column("busy").mean()
    busiest = moving.select("sample", "cpu", busy=busy).sort("busy").group_by("sample").last().collect()
    full, number = busiest.filter(pl.col("busy") >= SATURATED).get_column("cpu"), busiest.height
    is_one = top["busy"] >= SATURATED
    is_moved = full.len() >= _MOSTLY * number and number >= _FEW_SAMPLES and full.n_unique() > 1
    if not (is_one or is_moved) or float(mean) >= _MOSTLY:  # type: ignore[arg-type]  # a column of numbers
        return
    most = max(parts, key=lambda part: top[part])
    said = f"CPU {top['cpu']} was {percent(top['busy'])} busy, mostly with {_BUSY_WITH.get(most, most)} "
    said += f"({percent(top[most] / 100)})"
    step = f"see what runs on it: perf top -C {top['cpu']}"
    if not is_one:
        said = (
            f"in {full.len():,} of {count_text(number, 'sample')} one CPU was at least {100 * SATURATED:.0f} % busy, "
        )
        said += f"not always the same: {named_list(sorted(map(str, full.unique())))}"
        step = "see which thread it is: pidstat -t -u 5"
    together = _share(next(cpu_metrics(cpu_samples(log)).filter(metric="host_cpu_busy").iter_rows(named=True)))
    yield Finding(
        "busiest_processor",
        as_sentence(f"{said}; all {cpus.height} CPUs together were {percent(together)} busy"),
        detail=f"{count_text(top['samples'], 'sample')}; a thread, or the interrupts of a device, can use only one CPU",
        next=step + ("" if not is_one or most in {"user", "nice"} else "; cat /proc/interrupts"),
        evidence=(Evidence("cpu", (str(top["cpu"]),)),),
        impact=Interval.exact(top["full"] if is_one else full.len() / number),
        impact_of=OF_SAMPLES,
        order=0,
    )


@rule(
    "busy_process", of="host", needs="samples of processes", thresholds={"half a CPU, or 10 % of all": "a convention"}
)
def busy_process(log: HostLog) -> Iterator[Finding]:
    """The processes that used half a processor or more: a thread cannot use more than one, however many there are."""
    for lead in host_ledgers(log)[:1]:
        if "who" not in lead.views or lead.elapsed is None or lead.elapsed.value <= 0:
            continue
        for row in lead.parts("who").filter(pl.col("kind") == "cpu").head(_MOST_PROCESSES).iter_rows(named=True):
            used = row["seconds"] / lead.elapsed.value
            is_part = (row["share_lo"] or 0.0) >= PART
            if used >= _MOSTLY or is_part:
                _, pid, command = row["name"].split(" ", 2)
                said = f"Process {pid}{command and f' (`{command}`)'} used {three(used)} CPUs on average."
                # a whole CPU is the limit of a thread, however small a part of all CPUs it is
                is_full = used >= SATURATED and not is_part
                place = ("", 0) if is_full else (row["part"], 5)
                yield Finding("busy_process", said, part=place[0], next=PROFILE.format(pid), order=place[1])


@rule(
    "swapping",
    of="host",
    needs="what was swapped in and out (vmstat, sar -W), or how much swap was used (vmstat, sar -S, nmon)",
    thresholds={
        "1,000 KiB/s": "a convention: below it single pages of processes that wake up",
        "256 MiB more in use": "a convention",
        "1.5 times as much in use": "a convention: before all else",
    },
)
def swapping(log: HostLog) -> Iterator[Finding]:
    r"""Memory that was written to the disk, and read again, while the work ran.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:00 AM kbswpfree kbswpused %swpused kbswpcad %swpcad\n"
        >>> rows = "".join(f"10:0{n}:00 AM {4 - n}000000 {n}000000 {n * 25}.00 0 0.00\n" for n in range(1, 4))
        >>> text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
        >>> for one in swapping(read_host(text.encode())): print(one.sentence)
        Swap in use grew from 0.954 to 2.86 GiB.
    """
    columns = log.scan("host").collect_schema().names() if "host" in log.scopes else []
    names = _swap_columns(columns)
    grew, share, is_much = _more_in_use(log)
    evidence, step, said = Evidence("MEM" if "MEM" in log.scopes else "host"), "sar -W 5, for what is swapped now", ""
    if names is not None:
        every = placed(log.scan("host").filter(IS_SAMPLE), log.runs).collect()
        is_swapping = pl.col(names[0]) * _SWAPPED[names] >= _LEAST_SWAPPED
        stretch = high_stretch(every, is_swapping)
        own_stretch = every if stretch is None else every[stretch.first : stretch.last + 1]
        means = own_stretch.select(mean_by_time(pl.col(name)).alias(name) for name in names).row(0)
        back, out = ((mean or 0.0) * _SWAPPED[names] for mean in means)
        if back >= _LEAST_SWAPPED:
            said = (
                f"the host swapped {three(back)} KiB/s in and {three(out)} KiB/s out{stretch.when if stretch else ''}"
            )
            share = every.select(mean_by_time(is_swapping)).item()
            evidence = Evidence("host", names)
            step = "svmon -G; lsps -a" if names == _AIX else "sar -W 5, for the time of it"
    if said or grew:
        unused, none, holders = _unused_pages(log), _no_pages(log), _holders(log)
        less = _UNUSED if unused else _LESS if none or holders else ""
        yield Finding(
            "swapping",
            as_sentence(
                "; ".join(filter(None, (said or grew, unused or none or (said and grew), "" if unused else holders)))
            ),
            next=less or f"see who holds the memory: ps -eo pid,rss,args --sort=-rss; {step}",
            evidence=(evidence,),
            impact=Interval.exact(share),
            impact_of=OF_SAMPLES,
            order=0 if said or is_much else 2,
        )


@rule(
    "growth",
    of="host",
    needs="the number of processes (sar -q), or committed memory (sar -r)",
    thresholds={
        "twice as many, 20 % of memory": "a convention",
        "a tenth of it in each quarter": "a step is no growth",
    },
)
def growth(log: HostLog) -> Iterator[Finding]:
    r"""Processes or committed memory that grew until the end of the log, since when, and what rose and fell beside.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:00 AM   runq-sz  plist-sz   ldavg-1   ldavg-5  ldavg-15   blocked\n"
        >>> rows = "".join(f"10:{n:02}:00 AM   2   {900 + 300 * max(0, n - 9)}   3.0   3.0   {max(3, n)}.0   0\n"
        ...     for n in range(1, 31))
        >>> text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
        >>> for one in growth(read_host(text.encode())): print(one.sentence)
        The number of processes grew from 10:10 until the end of the log, from 900 to 7,200. The load average rose from
        9 to 30. This is consistent with sessions or processes that do not end.
    """
    if "host" not in log.scopes or has_several_hosts(log):
        return
    rows = placed(log.scan("host").filter(IS_SAMPLE), log.runs)
    names = [name for name in _GROWING if name in rows.collect_schema().names()]
    every = rows.collect() if names else pl.DataFrame()
    for name in names:
        own = every.drop_nulls(name)
        begun = _begin_of_growth(own.get_column(name).to_list(), is_percent=name.endswith("_percent"))
        if begun is None:
            continue
        unit = " %" if name.endswith("_percent") else ""
        before, last = own.item(begun - 1, name), own.item(-1, name)
        since = _clock(own, begun)
        said = (
            f"{_GROWING[name]} grew from {since} until the end of the log, from {three(before)} to {three(last)}{unit}."
        )
        beside = _beside(own, begun, name)
        leak = name == "tasks" and last >= _LEAK * before
        end = " This is consistent with sessions or processes that do not end." if leak else ""
        yield Finding(
            "growth",
            f"{said}{beside}{end}",
            impact=Interval.exact((own.height - begun) / own.height),
            impact_of=OF_SAMPLES,
            next="see whose they are: ps -eo user,comm | sort | uniq -c | sort -n; "
            "select machine, program, count(*) from v$session group by machine, program",
            evidence=(Evidence("host", (name,)),),
            order=0,
        )
        return


def _begin_of_growth(values: list[float], *, is_percent: bool) -> int | None:
    """The first sample of a growth until the end; None where it stopped, was a step, or was small.

    Examples:
        >>> _begin_of_growth([5.0] * 9 + [6.0 + n for n in range(20)], is_percent=False)
        9
        >>> _begin_of_growth([5.0] * 9 + [20.0] * 20, is_percent=False)
        >>> _begin_of_growth([5.0] * 9 + [6.0 + n for n in range(20)] + [9.0] * 5, is_percent=False)
    """
    if len(values) < 2 * _FEWEST:
        return None
    first, last = (sum(some) / _FEW_SAMPLES for some in (values[:_FEW_SAMPLES], values[-_FEW_SAMPLES:]))
    grown = last - first
    if grown < _PERCENT_MORE if is_percent else last < _TIMES_MORE * max(first, 1.0):
        return None
    begun = 1 + max(place for place, value in enumerate(values) if value <= first + _BEGUN * grown)
    while begun > 1 and values[begun - 2] < values[begun - 1]:
        begun -= 1
    length = (len(values) - begun) // _QUARTER
    if length < 2:
        return None
    means = [sum(values[at : at + length]) / length for at in range(begun, begun + _QUARTER * length, length)]
    is_steady = all(after - before >= _EACH_QUARTER * grown for before, after in pairwise(means))
    return begun if is_steady and values[-1] >= max(values) - _BEGUN * grown else None


def _beside(rows: pl.DataFrame, begun: int, name: str) -> str:
    """What rose and fell by half or more, or by many percent, while something grew; as sentences."""
    said: dict[bool, list[str]] = {True: [], False: []}
    for other, (words, unit, factor, rises) in _BESIDE.items():
        if other == name or other not in rows.columns or rows.get_column(other).null_count():
            continue
        before, last = rows.item(begun - 1, other) * factor, rows.item(-1, other) * factor
        low, high = (before, last) if rises else (last, before)
        if high - low >= _PERCENT_MORE if unit == " %" else high >= _TIMES_MORE * low and high >= 1:
            verb = "" if said[rises] else " rose" if rises else " fell"
            said[rises].append(f"{words}{verb} from {three(before)} to {three(last)}{unit}")
    return "".join(f" {as_sentence(joined(some))}" for some in said.values() if some)


def _clock(rows: pl.DataFrame, place: int) -> str:
    """The time of a sample, with its date where the log is longer than a day; or its number."""
    ends = rows.get_column("interval_end")
    if (end := ends[place]) is None:
        return f"sample {rows.item(place, 'sample'):,}"
    date = "%Y-%m-%d " if ends.dt.date().n_unique() > 1 else ""
    return f"{end:{date}%H:%M}"


def _swap_columns(columns: Collection[str]) -> tuple[str, str] | None:
    """The columns of what was swapped in and out; pages in and out where no others print those of files so."""
    is_aix = "active_virtual_bytes" in columns
    return next((names for names in _SWAPPED if set(names).issubset(columns) and (is_aix or names != _AIX)), None)


def _unused_pages(log: HostLog) -> str:
    """Huge pages that are reserved and free, where a session printed /proc/meminfo beside its samples."""
    whole, free, kib = (max(numbers_after(log.diagnostics, name), default=0) for name in _HUGE_PAGES)
    if not whole or free < _MOSTLY * whole:
        return ""
    size = f" ({size_text(free * kib << 10)})" if kib else ""
    return f"{free:,} of {whole:,} huge pages{size} were reserved and free"


def _no_pages(log: HostLog) -> str:
    """That no huge pages were reserved, and for an SGA of which size, where the log prints it beside its samples."""
    pages = numbers_after(log.diagnostics, _HUGE_PAGES[0])
    if not pages or max(pages):
        return ""
    sga = max((size for name in _SGA for size in sizes_after(log.diagnostics, name)), default=0)
    return f"no huge pages were reserved{f' for an SGA of {size_text(sga)}' if sga else ''}"


def _holders(log: HostLog) -> str:
    """The processes with most memory, where the log lists it."""
    rows = log.wide("process") if "process" in log.scopes else pl.DataFrame()
    if not {"command", "resident_bytes"}.issubset(rows.columns):
        return ""
    most = rows.unique("pid").drop_nulls("resident_bytes").top_k(_MOST_PROCESSES, by="resident_bytes")
    named = [f"`{one['command']}` {size_text(round(one['resident_bytes']))}" for one in most.to_dicts()]
    return f"of the processes listed, {named_list(named)}" if named else ""


def _more_in_use(log: HostLog) -> tuple[str, float, bool]:
    """How swap in use grew, the share of the samples since it began to, and whether by more than half.

    No words where it did not grow much.
    """
    for (scope, name), (factor, total) in _IN_USE.items():
        rows = log.scan(scope) if scope in log.scopes else None
        if rows is None or not {name, total or name}.issubset(rows.collect_schema().names()):
            continue
        used = (pl.col(total) - pl.col(name)) if total else pl.col(name) * factor
        series = rows.select(used.alias("used")).collect().to_series().drop_nulls()
        if series.len() < 2 or series[-1] - series[0] < _LEAST_IN_USE:
            continue
        begun = int((series > series[0] + _BEGUN * (series[-1] - series[0])).arg_max() or 0)
        first, last = (f"{three(value / (1 << 30))}" for value in (series[0], series[-1]))
        grew = f"swap in use grew from {first} to {last} GiB"
        return grew, (series.len() - begun) / series.len(), series[-1] > _MUCH * series[0]
    return "", 0.0, False


@rule(
    "blocked_processes",
    of="host",
    needs="blocked processes (vmstat)",
    thresholds={"0.5": "a convention", "10 %": "time_parts.PART"},
)
def blocked_processes(log: HostLog) -> Iterator[Finding]:
    """How many processes waited for I/O while processors were idle, and what was read and written, as vmstat counts."""
    if "host" not in log.scopes:
        return
    rows = log.scan("host")
    columns = rows.collect_schema().names()
    if "blocked" not in columns:
        return
    moved = {f"{kind}_bytes_per_s": f"were {word}" for kind, word in (("read", "read"), ("write", "written"))}
    moved = {name: word for name, word in moved.items() if name in columns}
    every = placed(rows.filter(IS_SAMPLE), log.runs).collect()
    swaps = [pl.col(one[0]) * _SWAPPED[one] >= _LEAST_SWAPPED for one in [_swap_columns(columns)] if one]
    stretch = next((high_stretch(every, one) for one in swaps), None) or raised(every, "blocked")
    place = pl.int_range(pl.len())
    is_in = pl.lit(value=True) if stretch is None else place.is_between(stretch.first, stretch.last)
    some = mean_by_time((pl.col("blocked") >= 1) & is_in)
    figures = {name: mean_by_time(pl.col(name), is_in) for name in ("blocked", *moved)}
    mean = every.select(**figures, most=pl.col("blocked").filter(is_in).max(), some=some).row(0, named=True)
    waited, cpus = largest_share(host_ledgers(log)[:1], "iowait"), log.runs.get_column("cpus").drop_nulls().max()
    least = _LEAST_BLOCKED if waited is not None or cpus is None else max(_LEAST_BLOCKED, float(str(cpus)) / 2)
    if (mean["blocked"] or 0.0) < least:
        return
    said = " and ".join(f"{three(mean[name] / 1e6)} MB/s {word}" for name, word in moved.items() if mean[name])
    idle = "" if waited is None else f", and the CPUs were idle with I/O in flight for {percent(waited[1])} of the time"
    when = "" if stretch is None else f"{stretch.when}, {three(levels(every, stretch, 'blocked')[1])} in the others"
    yield Finding(
        "blocked_processes",
        f"On average {three(mean['blocked'])} processes were blocked{when}, at most {mean['most']:g}"
        f"{idle if stretch is None else ''}{said and '; '}{said}{' meanwhile' if said and when else ''}.",
        next="see the devices: iostat -xt 5",
        evidence=(Evidence("host", ("blocked",)),),
        impact=None if waited is None else Interval.exact(mean["some"]),
        impact_of=OF_SAMPLES,
    )


@rule("host_figures", of="host_unread", needs="a table that no other rule says anything of")
def host_figures(log: HostLog) -> Iterator[Finding]:
    r"""The first rates of a table that no rule knows: means, and whose is the largest; counters have none.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:00 AM       tps      rtps      wtps   bread/s   bwrtn/s\n"
        >>> rows = "".join(f"10:0{n}:00 AM   5200.00   4900.00    300.00 400000.00   8000.00\n" for n in range(1, 4))
        >>> text = "Linux 5.4 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
        >>> for one in host_figures(read_host(text.encode())): print(one.sentence)
        On average: 5,200 transfers per second, 4,900 reads per second, 300 writes per second.
    """
    if has_several_hosts(log):
        return
    for scope in log.scopes:
        rows = placed(log.scan(scope).filter(IS_SAMPLE), log.runs)
        schema = rows.collect_schema()
        figures = [name for name in schema.names() if name.endswith(("_per_s", "_percent"))]
        if not figures:
            continue
        names = ("pid", "command", *(name for name, dtype in schema.items() if dtype in (pl.String, pl.Categorical)))
        keys = [name for name in dict.fromkeys(names) if name in schema and name not in _PLACES]
        means = rows.group_by(keys) if keys else rows.group_by(pl.lit(0).alias("all"))
        found = means.agg(**{name: mean_by_time(pl.col(name)) for name in figures}).collect()
        is_there = found.select((pl.col(figures) > 0).any()).row(0, named=True) if found.height else {}
        shown = [name for name in figures if is_there.get(name)][:_MOST_FIGURES]
        if not shown:
            continue
        row = found.sort(*shown, *keys, descending=True).row(0, named=True)
        said = ", ".join(_figure(name, float(row[name] or 0.0)) for name in shown)
        who = short_text(" ".join(str(row[key]) for key in keys if row[key] is not None), MOST_TEXT)
        of = f", more than {counted(found.height - 1, 'others')}" if found.height > 1 else ""
        number = rows.select(pl.struct("run", "sample").n_unique()).collect().item()
        boot = rows.select(pl.col("is_since_boot").null_count()).collect().item()
        when = "on average" if number > 1 else "in the only sample"
        when += ", which may be an average since boot" if number == 1 and boot else ""
        yield Finding(
            "host_figures",
            f"`{who}` had {said} {when}{of}." if who else f"{when.capitalize()}: {said}.",
            next=_TAKE,
            evidence=(Evidence(scope, tuple(shown)),),
            order=1,
        )


def _figure(name: str, mean: float) -> str:
    """A figure with its unit in words.

    Examples:
        >>> _figure("read_bytes_per_s", 2.05e8), _figure("cswch_per_s", 9450.4), _figure("ifutil_percent", 3.0)
        ('205 MB/s read', '9,450 cswch per second', '3 % ifutil')
    """
    if name.endswith("_bytes_per_s"):
        return f"{three(mean / 1e6)} MB/s {name.removesuffix('_bytes_per_s')}"
    if name.endswith("_percent"):
        return f"{three(mean)} % {name.removesuffix('_percent')}"
    rate = " per second" if name.endswith("_per_s") else ""
    return f"{three(mean)} {name.removesuffix('_per_s').replace('_', ' ')}{rate}"


@rule("nothing_read", of="host_unread", needs="a log of which no other rule says anything")
def nothing_read(log: HostLog) -> Iterator[Finding]:
    """A log without samples of processors, devices and processes, or of which none was read."""
    if any(host_figures(log)):
        return
    rows = [log.scan(scope) for scope in log.scopes if scope in _SCOPES]
    boot = [one.select(pl.col("is_since_boot").fill_null(value=False)).collect().to_series() for one in rows]
    missing = "it has no figures of an interval"
    count = log.diagnostics.filter(pl.col("kind") == "unparsed").get_column("line").n_unique()
    said = "The log does not show how busy processors, devices and processes were"
    if not any(map(len, boot)) and count:
        said = "How busy processors, devices and processes were is unknown"
        missing = f"{count_text(count, 'line')} {'was' if count == 1 else 'were'} not read"
    elif any(map(len, boot)) and all(one.all() for one in boot):
        missing = SINCE_START
    elif has_several_hosts(log):
        missing = "its samples are of several hosts, so read the log of each host alone"
    yield Finding(
        "nothing_read",
        f"{said}: {missing}.",
        next=_TAKE,
        evidence=(Evidence("diagnostics" if log.diagnostics.height else "runs"),),
        is_refused=True,
    )


def processors_of_report(host: tuple[str, HostLog], report: tuple[str, AwrReport]) -> Iterator[Finding]:
    """How busy the processors were in a report's time; nothing where host or time are others, or no sample says so."""
    try:
        check_host(report[1], host[1])
    except RefusedError:
        return
    name, log = host
    timed = (
        any(log.scan(scope).select(pl.col("interval_end").is_not_null().any()).collect().item() for scope in log.scopes)
        or not log.runs.get_column("opened_at").has_nulls()
    )
    # samples without a clock are all taken: they may be of other times
    when = f" in the time of {report[0]}, by {name}" if timed else f" in all samples of {name}, which prints no time"
    yield from _of(log, when, report[1])


def _of(log: HostLog, when: str, report: AwrReport | None) -> Iterator[Finding]:
    begin, end = (report.info.begin_time, report.info.end_time) if report is not None else (None, None)
    if report is not None and (begin is None or end is None or not log.runs.height):
        return
    try:
        samples = cpu_samples(log, begin=begin, end=end)
    except RefusedError:
        return
    figures = {row["metric"]: row for row in cpu_metrics(samples).iter_rows(named=True)}
    busy, most = (_share(figures[f"host_cpu_{name}"]) for name in ("busy", "busiest"))
    number, covered = samples.height, samples.get_column("weight_s").sum()
    if begin is not None and end is not None and when.startswith(" in the time"):
        period = (end - begin).total_seconds()
        if covered < _WHOLE * period:
            when = f" in {covered:,.0f} of the {period:,.0f} s{when.removeprefix(' in the time')}"
    full = samples.filter(pl.col("busy") >= SATURATED).height
    is_often = full >= LITTLE * number  # else the mean is the fact
    leads = [] if report is not None else host_ledgers(log)[:1]
    stolen = largest_share(leads, "steal")
    word = "busy" if stolen is None else f"busy or taken by the hypervisor ({percent(stolen[1])} of the time)"
    is_even, average = most.value <= (1 + RANGE) * busy.value, f" on average over {count_text(number, 'sample')}{when}"
    if number == 1:
        said = f"The CPUs were {percent(busy)} {word}{when} in {_only(samples)}."
    elif full:
        share = figures["host_cpu_saturated"]["lo"]
        timed = samples.with_columns(interval_end=pl.coalesce("interval_end", "at"), weight="weight_s")
        cpus, queue = timed.select(mean_by_time(pl.col(name)).alias(name) for name in ("cpus", "runnable")).row(0)
        is_short = cpus is not None and (queue is None or queue > cpus)
        waited = ": work waited for a CPU" if share >= _MOSTLY and number >= _FEWEST and is_short else ""
        stretch = high_stretch(timed, pl.col("busy") >= SATURATED)
        at = _time_of_busiest(samples) if full == 1 else stretch.of_all if stretch else ""
        said = f"The CPUs were {percent(busy)} {word} on average{when}{_mostly(leads)}; {full:,} of {number:,} samples "
        said += f"{'was' if full == 1 else 'were'} at least {100 * SATURATED:.0f} % busy{at}{waited}."
    elif report is None and busy.hi < _IDLE:
        said = f"The CPUs were idle: {percent(busy)} busy"
        peak = f", {percent(most)} in the busiest of {number:,} samples{_time_of_busiest(samples)}"
        said += f"{average if is_even else peak}{_also_calm(log)}."
    else:
        at = "" if report is not None else _time_of_busiest(samples)
        peak = f" on average{when}, {percent(most)} in the busiest of {number:,} samples{at}"
        said = f"The CPUs were {percent(busy)} {word}{average if is_even else peak}."
    waits = _in_flight(leads, busy)
    said = f"{said[:-1]}{waits}."
    if report is None and (of_own := partition_use(log)) is not None:
        said = f"{said[:-1]}; the partition used {three(of_own[0])} physical CPUs, "
        said += f"{percent(of_own[1] / 100)} of its entitlement."
    if report is not None and (own := _of_host(report)) is not None:
        said = f"{said[:-1]}; the report itself counts {own:.1f} %."
    step = "see the processes: pidstat -u 5" if report is None and busy.lo >= _MOSTLY else ""
    step = "see the devices: iostat -xt 5" if waits else step
    yield Finding(
        "processors_of_report" if report is not None else "processors",
        said,
        next=step if word == "busy" else meanings()["stolen_time"].next,
        evidence=(Evidence("cpu" if "cpu" in log.scopes else "host"),),
        caveat=figures["host_cpu_busy"]["caveats"] if report is not None else "",
        impact=_share(figures["host_cpu_saturated"]) if is_often and number > 1 and report is None else None,
        impact_of=OF_SAMPLES,
        order=0 if report is None else 1,
    )


def _only(samples: pl.DataFrame) -> str:
    """The only sample that is used in words, with why others are not."""
    others = int(samples.item(0, "untimed"))
    why = "the length of the others is not known" if others else "all CPU figures of the rest are 0"
    others += int(samples.item(0, "unmoved"))
    return f"one of {others + 1:,} samples; {why}" if others else "the only sample"


def _in_flight(leads: Iterable[Ledger], busy: Interval) -> str:
    """How long the processors were idle with I/O in flight, in words, where that was longer than they were busy."""
    share = largest_share(leads, "iowait")
    is_more = share is not None and share[1].lo >= busy.hi
    return f", and idle with I/O in flight for {percent(share[1])} of the time" if share and is_more else ""


def _also_calm(log: HostLog) -> str:
    """That the devices were idle, too, and that no memory was swapped."""
    most: dict[str, float] = {}
    for rows in (log.scan(scope).filter(IS_SAMPLE) for scope in ("device", "host") if scope in log.scopes):
        names = [name for name in rows.collect_schema().names() if name in _CALM_FIGURES]
        most |= rows.select(pl.col(names).max()).collect().row(0, named=True) if names else {}
    util = most.pop("util_percent", None)
    said = [f"no device was more than {percent(util / 100)} busy"] if util is not None and util < 100 * PART else []
    said += ["no memory was swapped"] if most and not any(most.values()) else []
    return f"; {' and '.join(said)}" if said else ""


def _mostly(leads: Iterable[Ledger]) -> str:
    """Whether it was user code or the kernel that was most of the time of the processors."""
    most = largest_share(leads, *_BUSY_WITH, least=_MOSTLY)
    return f", mostly with {_BUSY_WITH[most[0]]} ({percent(most[1])})" if most else ""


def _time_of_busiest(samples: pl.DataFrame) -> str:
    row = samples.sort("busy", descending=True, maintain_order=True).row(0, named=True)
    end = row["interval_end"] or row["at"]  # as the log prints it
    if not isinstance(end, datetime):
        return ""
    return f" ({end:%H:%M})" if row["weight_s"] >= _MINUTE_S else f" ({end:%H:%M:%S})"


def _share(figure: dict[str, float]) -> Interval:
    return Interval(figure["value"], figure["lo"], figure["hi"])


def _of_host(report: AwrReport) -> float | None:
    """The busy share of the processors that a report of one instance prints, in percent."""
    if "host_cpu" not in report:
        return None
    rows = report["host_cpu"]
    if rows.height != 1:
        return None
    busy, idle = rows.item(0, "busy_pct"), rows.item(0, "idle_pct")
    return busy if busy is not None else None if idle is None else 100.0 - idle
