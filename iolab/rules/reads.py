"""Kinds of reads in a report: by function, size, path, and whether direct reads were waited for one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, size_text
from iolab.metrics.report_facts import total, total_waits
from iolab.rules.finding import Evidence, Finding
from iolab.rules.load import db_time_unaccounted
from iolab.rules.phrases import counted, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import part_of
from iolab.time_ledger.next_steps import ON_DISK
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts

#: With io_submit they are asynchronous, with pread64 alone synchronous.
_CALLS: Final = "see whether the session calls io_submit or only pread64: strace -f -ttt -T -yy -p PID"
_MB: Final = 10**6
#: Most of the time.
_MOSTLY: Final = 0.5
#: Events of temporary segments.
_TEMPORARY: Final = ("direct path read temp", "direct path write temp")
_KIB: Final = 1024
_LEAST_BYTES_PER_S: Final = 1 * _MB
#: Fewer requests are no rule of how direct reads are done.
_LEAST_REQUESTS: Final = 10_000
#: Waits that are this near to requests are one each.
_EQUAL: Final = 0.03
#: One disk or one path gives a process less; memory gives more, and so do flash drives side by side.
_MEMORY_BYTES_PER_S: Final = 2 * 10**9
_LEAST_BLOCKS: Final = 100_000
_DIRECT_READS: Final = "Direct Reads"
#: Work beside that of sessions, whose reads and writes wait for the same devices.
_BESIDE: Final = ("rman", "data pump", "archive", "arch", "recovery")
_RUN_LATER: Final = "run it in a calm hour, or slower (RATE of a channel of RMAN); see the devices: iostat -xt 5"
#: Names as text reports cut them, at 15 characters.
_FULL_NAMES: Final = {"buffer cache re": "Buffer Cache Reads", "direct reads": "Direct Reads"}


@rule("io_by_kind", of="report", needs="I/O by function", thresholds={"1 MB/s": "FINDINGS F16"})
def io_by_kind(facts: ReportFacts) -> Iterator[Finding]:
    """Which database function read most bytes, from 1 MB/s on.

    Examples:
        >>> from iolab.metrics.report_facts import FunctionIo, ReportFacts
        >>> io = {"Direct Reads": FunctionIo(Interval.exact(595), Interval.exact(581e6)),
        ...     "TOTAL": FunctionIo(Interval.exact(1140), Interval.exact(591e6))}
        >>> print(*(one.sentence for one in io_by_kind(ReportFacts(functions=io))))
        `Direct Reads` accounted for 98 % of bytes read: 595 requests per second of 954 KiB.
        >>> list(io_by_kind(ReportFacts(functions={"TOTAL": FunctionIo(Interval.exact(9), Interval.exact(7e4))})))
        []
        >>> io["RMAN"] = FunctionIo(Interval.exact(900), Interval.exact(9e8))
        >>> io["TOTAL"] = FunctionIo(Interval.exact(1_495), Interval.exact(1.481e9))
        >>> for one in io_by_kind(ReportFacts(functions=io)): print(one.explains)
        ('db file s', 'direct path read', 'log file sync')
    """
    total_io = facts.functions.get("TOTAL")
    kinds = {name: io for name, io in facts.functions.items() if name != "TOTAL"}
    if total_io is None or not kinds or total_io.read_bytes_per_s.lo < _LEAST_BYTES_PER_S:
        return
    name, most = max(kinds.items(), key=lambda item: item[1].read_bytes_per_s.value)
    if most.reads_per_s.lo <= 0:
        return
    share = most.read_bytes_per_s / total_io.read_bytes_per_s
    if share.lo > 1:
        return
    share = share.capped(1)
    size, is_beside = most.read_bytes_per_s / most.reads_per_s / _KIB, name.lower().startswith(_BESIDE)
    yield Finding(
        "io_by_kind",
        f"{_kind_text(name)} accounted for {percent(share.value)} of bytes read: "
        f"{three(most.reads_per_s.value)} requests per second of {three(size.value)} KiB.",
        detail=f"all I/O functions of the report together read {three(total_io.read_bytes_per_s.value / _MB)} MB/s",
        evidence=(Evidence("iostat_function"),),
        order=3,
        explains=("db file s", "direct path read", "log file sync") if is_beside else (),
        next=_RUN_LATER if is_beside else "",
    )


def _kind_text(name: str) -> str:
    """A function of the database as a subject: some are named by what they do, others by who does it."""
    full = _FULL_NAMES.get(name.lower(), name)
    if full.lower().endswith(("reads", "scan")):
        return f"`{full}`"
    return f"Function `{full}`" + (" (all that have no name of their own)" if full.lower() == "others" else "")


@rule("read_size", of="report", needs="instance activity", thresholds={"1 MB/s, 1,000 requests": "FINDINGS F17"})
def read_size(facts: ReportFacts) -> Iterator[Finding]:
    """The average size of a read request, of all reads of the instance.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> activity = {"physical read total io requests": Interval.exact(15_500_000),
        ...     "physical read total bytes": Interval.exact(127_061_250_000)}
        >>> print(*(one.sentence for one in read_size(ReportFacts(activity=activity, elapsed_s=Interval.exact(121)))))
        Reads averaged 8.01 KiB (15,500,000 requests).
        >>> list(read_size(ReportFacts(activity={})))
        []
    """
    requests = facts.activity.get("physical read total io requests")
    size = facts.activity.get("physical read total bytes")
    if requests is None or size is None or facts.elapsed_s is None or requests.lo < 1_000:
        return
    if facts.elapsed_s.lo <= 0 or (size / facts.elapsed_s).lo < _LEAST_BYTES_PER_S:
        return
    yield average_read_size(requests, size, "instance_activity")


def average_read_size(requests: Interval, size: Interval, table: str) -> Finding:
    """The average size of a read, from the requests and bytes that a table of statistics counts.

    Args:
        requests: ``physical read total IO requests``.
        size: ``physical read total bytes``.
        table: The table that holds both.

    Examples:
        >>> average_read_size(Interval.exact(1000), Interval.exact(8192000), "statistics").sentence
        'Reads averaged 8 KiB (1,000 requests).'
    """
    return Finding(
        "read_size",
        f"Reads averaged {three((size / requests / _KIB).value)} KiB ({count_text(requests.value, 'request')}).",
        detail="an average; single-block and large reads are mixed",
        evidence=(Evidence(table, ("physical read total bytes", "physical read total IO requests")),),
        order=4,
    )


def _blocks_text(direct: float, blocks: float, others: str) -> str:
    said = "No blocks were" if direct == 0 else f"{percent(direct / blocks)} of blocks were"
    said = f"{said[0].upper()}{said[1:]} read by direct path"
    return f"{said}, besides {others}." if others else f"{said}, bypassing the buffer cache."


@rule(
    "buffered_or_direct_path",
    of="report",
    needs="instance activity",
    thresholds={"100,000 blocks, 1 MB/s": "FINDINGS F18"},
)
def buffered_or_direct_path(facts: ReportFacts) -> Iterator[Finding]:
    """Which share of the blocks was read past the buffer cache; temporary tablespace and LOBs apart.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> def facts(direct, temp): return ReportFacts(elapsed_s=Interval.exact(60), activity={
        ...     "physical reads": Interval.exact(1_000_000), "physical read bytes": Interval.exact(8_192_000_000),
        ...     "physical reads direct": Interval.exact(direct),
        ...     "physical reads direct temporary tablespace": Interval.exact(temp)})
        >>> for one in (facts(990_000, 0), facts(990_000, 980_000)):
        ...     print(*(found.sentence for found in buffered_or_direct_path(one)))
        99 % of blocks were read by direct path, bypassing the buffer cache.
        1.0 % of blocks were read by direct path, besides 98 % from temporary tablespaces.
    """
    blocks, direct = facts.activity.get("physical reads"), facts.activity.get("physical reads direct")
    size = facts.activity.get("physical read bytes")
    if blocks is None or direct is None or facts.elapsed_s is None or facts.elapsed_s.lo <= 0:
        return
    if blocks.lo < _LEAST_BLOCKS or size is None or (size / facts.elapsed_s).lo < _LEAST_BYTES_PER_S:
        return
    zero = Interval.exact(0)
    temp = facts.activity.get("physical reads direct temporary tablespace", zero)
    lob = facts.activity.get("physical reads direct (lob)", zero)
    plain = direct - temp - lob
    if plain.hi < 0 or direct.lo > blocks.hi:
        return
    parts = " and ".join(
        f"{percent((part / blocks).value)} from {what}"
        for part, what in ((temp, "temporary tablespaces"), (lob, "LOBs"))
        if (part / blocks).value >= 0.001
    )
    plain = Interval(max(plain.value, 0), max(plain.lo, 0), max(plain.hi, 0))
    yield Finding(
        "buffered_or_direct_path",
        _blocks_text(plain.value, blocks.value, parts),
        evidence=(Evidence("instance_activity", ("physical reads", "physical reads direct")),),
        order=4,
    )


@rule(
    "direct_path_sync_or_async",
    of="report",
    needs="I/O by function and foreground events",
    thresholds={"3 % between waits and requests": "FINDINGS F19", "2 GB/s per process": "one drive gives less"},
)
def direct_path_sync_or_async(facts: ReportFacts) -> Iterator[Finding]:
    """Were direct path reads waited for one by one?  By three counts: requests, waits of I/O statistics, event waits.

    Examples:
        >>> from iolab.metrics.report_facts import FunctionIo, ReportFacts, Wait
        >>> def facts(waits, event_waits, seconds): return ReportFacts(elapsed_s=Interval.exact(3_605.4),
        ...     db_time_s=Interval.exact(6_679), db_cpu_s=Interval.exact(100),
        ...     parameters={"filesystemio_options": "none"},
        ...     events={"direct path read": Wait(Interval.exact(event_waits), Interval.exact(seconds))},
        ...     functions={"Direct Reads": FunctionIo(Interval.exact(594.84),
        ...         Interval.exact(581e6), Interval.exact(waits))})
        >>> print(*(one.sentence for one in direct_path_sync_or_async(facts(2_144_800, 2_144_793, 720))))
        Direct path reads were synchronous: 954 KiB took 336 us on average. That is 2.91 GB/s per process, more than a
        disk or SATA drive can read.
        >>> print(*(one.sentence for one in direct_path_sync_or_async(facts(0, 1_400_000, 720))))
        Direct path reads were asynchronous: 1.53 requests per wait, so their average wait (514 us) is not the time of a
        read. A request cost at most 3.11 ms of DB time.
        >>> list(direct_path_sync_or_async(facts(900_000, 1_400_000, 720)))
        []
    """
    io = facts.functions.get(_DIRECT_READS)
    names = ("direct path read", "direct path read temp", "direct path read (lob)")
    foreground = facts.of_events(*names)
    if io is None or io.waits is None or not foreground or facts.elapsed_s is None or facts.is_idle:
        return
    requests = io.reads_per_s * facts.elapsed_s
    if requests.lo < _LEAST_REQUESTS:
        return
    background = [wait for name, wait in facts.background.items() if name.lower() in names]
    waits, time = total_waits(foreground), total(foreground)
    for wait in background:
        waits, time = waits + wait.waits, time + wait.time_s
    evidence = (Evidence("iostat_function", (_DIRECT_READS,)), Evidence("foreground_events", tuple(foreground)))
    of_waits, of_events, each = io.waits / requests, waits / requests, time / requests
    size = io.read_bytes_per_s / io.reads_per_s
    if abs(of_waits.value - 1) <= _EQUAL and abs(of_events.value - 1) <= _EQUAL and each.lo > 0:
        speed = size / each
        from_memory = speed.lo > _MEMORY_BYTES_PER_S
        in_asm = any("+" in value for value in facts.parameters.values())
        rate = f"{three(speed.value / 10**9)} GB/s per process"
        yield Finding(
            "direct_path_sync_or_async",
            f"Direct path reads were synchronous: {three((size / _KIB).value)} KiB took {seconds(each.value)} on "
            f"average. That is {rate}{', more than a disk or SATA drive can read' if from_memory else ''}.",
            detail=f"the data came from memory{'' if in_asm else ' (such as the file system cache)'} or fast flash"
            if from_memory
            else f"{count_text(waits.value, 'wait')} for {three(requests.value)} requests",
            next=_CALLS,
            evidence=evidence,
            order=3,
        )
    elif of_waits.hi < 0.01 and of_events.lo > 0:
        a_wait = 1 / of_events
        if a_wait.lo < 1.05:
            return
        cost = ""
        waited, unaccounted = facts.waited_s, next(db_time_unaccounted(facts), None)
        if facts.whole_s and waited and unaccounted and total(foreground).lo > 0.5 * waited.hi:
            cost = f" A request cost at most {seconds((facts.whole_s / requests).value)} of DB time."
        yield Finding(
            "direct_path_sync_or_async",
            f"Direct path reads were asynchronous: {three(a_wait.value)} requests per wait, so "
            f"their average wait ({seconds((time / waits).value)}) is not the time of a read.{cost}",
            next=_CALLS,
            evidence=evidence,
            order=3,
        )


@rule("temporary_space", of="report", needs="foreground events")
def temporary_space(facts: ReportFacts) -> Iterator[Finding]:
    """Writes to temporary segments and reads from them, one work: sorts and hash joins without enough memory.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> events = {f"direct path {what} temp": Wait(Interval.exact(900), Interval.exact(s)) for what, s in
        ...     (("read", 300), ("write", 330))}
        >>> for one in temporary_space(ReportFacts(db_time_s=Interval.exact(1_000), events=events)): print(one.sentence)
        Sorts and hash joins on disk took 63 % of DB time: `direct path write temp` 33 %, `direct path read temp` 30 %.
    """
    parts = [part for name in _TEMPORARY if (part := part_of(facts, name)) is not None]
    parts.sort(key=lambda one: -one.share.value)
    if len(parts) < len(_TEMPORARY) or not parts[0].is_large:
        return
    both = (parts[0].share + parts[1].share).capped(1)
    said = ", ".join(f"`{one.part}` {percent(one.share)}" for one in parts)
    target = facts.parameters.get("pga_aggregate_target", "")
    said += f"; `pga_aggregate_target` was {size_text(int(target))}" if target.isdecimal() and int(target) else ""
    passes = facts.activity.get("workarea executions - multipass")
    said += f", {counted(passes.value, 'work areas')} needed several passes" if passes and passes.value else ""
    yield Finding(
        "temporary_space",
        f"Sorts and hash joins on disk took {percent(both)} of {parts[0].base}: {said}.",
        both,
        part="" if both.lo >= _MOSTLY else parts[0].part,  # most of the time leads
        next=ON_DISK,
    )


@rule(
    "logical_io_load",
    of="report",
    needs="instance activity and DB CPU",
    thresholds={"50 % of DB time in CPU, 60 s": "FINDINGS F21"},
)
def logical_io(facts: ReportFacts) -> Iterator[Finding]:
    """Logical reads per second, where CPU is most of DB time.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(61_163), db_cpu_s=Interval.exact(60_900),
        ...     elapsed_s=Interval.exact(3_617), activity={"session logical reads": Interval.exact(14_650_000_000)})
        >>> print(*(one.sentence for one in logical_io(facts)))
        Sessions did 4,050,000 logical reads per second: 241,000 for each second of CPU time.
        >>> list(logical_io(ReportFacts()))
        []
    """
    gets, cpu, whole = facts.activity.get("session logical reads"), facts.db_cpu_s, facts.whole_s
    if gets is None or cpu is None or whole is None or facts.elapsed_s is None or facts.is_idle:
        return
    if (cpu / whole).lo < 0.5 or cpu.lo < 60 or facts.elapsed_s.lo <= 0:
        return
    yield Finding(
        "logical_io_load",
        f"Sessions did {three((gets / facts.elapsed_s).value)} logical reads per second: {three((gets / cpu).value)} "
        "for each second of CPU time.",
        evidence=(Evidence("instance_activity", ("session logical reads",)),),
        order=6,
    )
