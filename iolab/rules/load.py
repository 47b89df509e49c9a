"""Load of a report's period: sessions active, processors, DB time that is neither CPU nor a wait, parsing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import MOST_TEXT, short_text, size_text
from iolab.metrics.report_facts import SAMPLED_EVERY_S, total
from iolab.rules.finding import Evidence, Finding
from iolab.rules.gates import period_text
from iolab.rules.phrases import counted, often, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import part_of
from iolab.rules.time_parts import LARGE
from iolab.time_ledger.next_steps import BIND, BUSY_HOUR, MANY_CHILDREN, NOT_SHARED, PARSES, event_step
from iolab.time_ledger.reports import CPU, NOT_ACCOUNTED, cpu_step, plan_of, processors_text, range_text, sampled_on_cpu
from iolab.time_ledger.sql_traces import has_plan
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts

_CPU_SHARE: Final = 0.75
#: Sums of waits and CPU of 28 reports lie above 0.97, or below 0.81.
_MISSING: Final = 0.90
#: Sums of 28 reports lie in 97.2 to 106.2 %, or at least 108.6 %.
_OVERLAP: Final = 1.10
_PARSE_SHARE: Final = 0.10
#: A hard parse that takes longer does more than many literals explain.
_LONG_PARSE_S: Final = 0.1
_TRACE_PARSE: Final = "take an SQL trace (event 10046) of one hard parse: see its recursive statements"
#: A hard parse takes many times as long as a soft one: with this much of all parses they are most of the time.
_HARD: Final = 0.1
#: Nearly all of a time.
_NEARLY_ALL: Final = 0.9
#: A wait with this much of the time of an idle database is named.
_MOST: Final = 0.5
#: A shorter period with almost nothing in it is of no use.
_SHORT_S: Final = 60.0
_MB: Final = 10**6
#: CPUs that were idle for more than this did not keep sessions waiting on average.
_IDLE_PCT: Final = 90.0
#: Memory is short where this much of it went to swap in the period, or the instance held this per cent at the end.
_SWAPPED: Final = 0.05
_HELD: Final = "% Host Mem used for SGA+PGA"
_HELD_PCT: Final = 90.0
#: A host is busy from this many per cent on; others use it where this instance has at most half of that.
_BUSY_PCT: Final = 25.0
_OWN_PCT: Final = 50.0
_CS: Final = 100.0
#: Reads that are short where they take this long at most.
_READS: Final = "db file s"
_SHORT_READ_S: Final = 0.005


@rule("load", of="report", needs="DB time and the length of the period")
def load(facts: ReportFacts) -> Iterator[Finding]:
    """Sessions active, and the host's processors.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(38_493.6), elapsed_s=Interval.exact(304.2),
        ...     cpus=32, idle_pct=Interval.exact(77.7), classes={"User I/O": Interval.exact(20_000)},
        ...     db_cpu_s=Interval.exact(10_000))
        >>> print(*(one.sentence for one in load(facts)))
        On average 127 sessions were active; the 32 CPUs were 78 % idle.
        >>> from dataclasses import replace
        >>> print(*(one.sentence for one in load(replace(facts, kind="awr_global", db_cpu_s=Interval.exact(18_000)))))
        On average 127 sessions were active in all instances together.
        >>> list(load(ReportFacts(elapsed_s=Interval.exact(60))))
        []
    """
    active = facts.sessions_active
    if active is None or facts.is_idle:
        return
    together = " in all instances together" if facts.kind == "awr_global" else ""
    said = f"On average {range_text(active)} sessions were active{together}{processors_text(facts)}."
    yield Finding("load", said, evidence=(Evidence("info"), Evidence("host_cpu")), order=0)


@rule(
    "instance_idle",
    of="report",
    needs="DB time and the length of the period",
    thresholds={"0.01 sessions active": "FINDINGS F06", "30 s of DB time": "LEDGER R13"},
)
def instance_idle(facts: ReportFacts) -> Iterator[Finding]:
    """An instance where almost nothing ran.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(747), elapsed_s=Interval.exact(550_844))
        >>> print(*(one.sentence for one in instance_idle(facts)))
        The database was idle: 747 s of DB time in 153 h (0.00136 sessions active).
        >>> list(instance_idle(ReportFacts(db_time_s=Interval.exact(353), elapsed_s=Interval.exact(3_615))))
        []
    """
    cpu, time, elapsed = facts.db_cpu_s, facts.db_time_s, facts.elapsed_s
    if elapsed is None or elapsed.lo <= 0 or time is None:
        return
    if facts.cpu_contradicts and cpu is not None:
        most = max(time.hi, cpu.hi) / elapsed.lo
        if most >= 0.1:
            return
        least, most = (figure / elapsed.value for figure in sorted((time.value, cpu.value)))
        said = f"Almost nothing ran: {three(least)} to {three(most)} sessions were active."
    elif facts.is_idle:
        active = three(time.value / elapsed.value)
        said = (
            f"The database was idle: {three(time.value)} s of DB time in {period_text(elapsed.value)} "
            f"({active} sessions active)."
        )
        if elapsed.hi < _SHORT_S:
            said = f"The report covers only {period_text(elapsed.value)}, and almost nothing ran in it."
        events = facts.listed_events
        event = max(events, key=lambda one: events[one].time_s.value, default="")
        largest = events.get(event)
        if largest is not None and largest.time_s.value >= _MOST * time.value and largest.waits.value > 0:
            each = seconds(largest.time_s.value / largest.waits.value)
            said += f" Most of it was `{event}`: {counted(largest.waits.value, 'waits')} of {each}."
    else:
        return
    yield Finding(
        "instance_idle",
        said,
        next="" if facts.is_quiet and elapsed.hi >= _SHORT_S else BUSY_HOUR,
        evidence=(Evidence("info"),),
        is_gate=bool(facts.void),
        order=0,
    )


@rule(
    "db_time_unaccounted",
    of="report",
    needs="DB CPU and foreground waits",
    thresholds={"10 % of DB time": "28 reports: above 97 % or below 81 % accounted for"},
)
def db_time_unaccounted(facts: ReportFacts) -> Iterator[Finding]:
    """DB time that is neither CPU nor a wait, and what the samples of active sessions say of it.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Samples
        >>> facts = ReportFacts(db_time_s=Interval.exact(41_424), db_cpu_s=Interval.exact(6_449), cpus=12,
        ...     elapsed_s=Interval.exact(3_555), classes={"User I/O": Interval.exact(11_622)},
        ...     samples=Samples(count=4_097, on_cpu=Interval.exact(8.12)))
        >>> for one in db_time_unaccounted(facts): print(one.sentence)
        56 % of DB time is counted neither as CPU nor as a wait; samples show it on CPU or in its queue.
        >>> from dataclasses import replace
        >>> for one in db_time_unaccounted(replace(facts, samples=Samples())): print(one.sentence)
        56 % of DB time is counted neither as CPU nor as a wait.
        >>> list(db_time_unaccounted(replace(facts, db_cpu_s=Interval.exact(29_000))))
        []
    """
    rest = _unaccounted(facts)
    if rest is None:
        return
    said, detail, next_step = f"{percent(rest)} of DB time is counted neither as CPU nor as a wait", "", ""
    on_cpu, whole = sampled_on_cpu(facts), facts.whole_s
    points = None if on_cpu is None or whole is None else (on_cpu / whole).value
    if points is not None and points >= 0.5 * rest.value:
        most = f"most of it ({points * 100:.0f} % of DB time)" if points < 0.95 * rest.value else "it"
        is_idle = facts.idle_pct is not None and facts.idle_pct.lo >= _IDLE_PCT
        said += f"; samples show {most} {'without a wait' if is_idle else 'on CPU or in its queue'}"
        if is_idle and facts.idle_pct is not None:
            said += f", but the CPUs were {facts.idle_pct.value:.3g} % idle"
            detail = "time in calls that the database does not time: the operating system, or the storage, has it"
        elif not facts.samples.queues:
            detail = "samples, not the CPU clock, show it on CPU, and no slot has more sessions than CPUs"
    elif points is not None:
        seen = f"show {points * 100:.0f} % of DB time of it on CPU" if points >= 0.05 else "do not show it on CPU"
        said += f"; samples of active sessions {seen}"
        detail = "the cause is unknown: neither the CPU clock, nor waits, nor samples show this time"
        next_step = "take an extended SQL trace (event 10046) of one of the sessions"
    elif facts.idle_pct is not None and facts.is_saturated:
        said += f"; the CPUs were {100 - facts.idle_pct.value:.3g} % busy"
        next_step = cpu_step(facts)
        if facts.busy_cpu_pct is not None and facts.busy_cpu_pct.hi <= _OWN_PCT and not facts.is_aix:
            said += f", {percent(facts.busy_cpu_pct / 100)} of it by this instance"
            next_step = "see the processes of the host: top, or pidstat 5"
        said += ", consistent with waiting for one"
    elif facts.has_host and facts.idle_pct is not None:
        detail = (
            f"the processors were {facts.idle_pct.value:.0f} % idle on average; the report has no samples of the time"
        )
    direct = total(facts.of_events("direct path read", "direct path read temp"))
    is_direct = facts.waited_s is not None and direct.lo >= 0.5 * facts.waited_s.hi > 0
    reasons = ["consistent with submitting direct reads"] if is_direct else []
    reasons += ["on AIX with SMT, CPU times are undercounted"] if facts.is_aix else []
    detail = "; ".join(filter(None, (detail, ", and ".join(reasons))))
    if facts.samples.queues:
        queue = facts.samples.queues[0]
        next_step = f"take an ASH report of {queue.begin:%H:%M} to {queue.end:%H:%M}"
        next_step += f" for SQL id {facts.samples.statements[0][0]}" if facts.samples.statements else ""
        next_step += ": @?/rdbms/admin/ashrpti"
    yield Finding(
        "db_time_unaccounted",
        f"{said}.",
        part=NOT_ACCOUNTED,
        detail=detail,
        next=next_step or "take an ASH report of the period: @?/rdbms/admin/ashrpt",
        evidence=(Evidence("foreground_wait_classes"), Evidence("time_model"), Evidence("ash_top_events")),
    )


def _unaccounted(facts: ReportFacts) -> Interval | None:
    """The share of DB time that is neither CPU nor a wait, from 10 % on."""
    rest = part_of(facts, NOT_ACCOUNTED)
    return rest.share if rest is not None and rest.is_large else None


@rule(
    "cpu_queue",
    "os_cpu_wait",
    of="report",
    explains=(NOT_ACCOUNTED,),
    needs="slots of active session history and the number of CPUs",
    thresholds={"sessions above CPUs, less two standard deviations": "LEDGER R6"},
)
def cpu_queue(facts: ReportFacts) -> Iterator[Finding]:
    """Slots in which samples saw more sessions on CPU than there are CPUs, and the host's own count of that wait.

    Examples:
        >>> from datetime import datetime
        >>> from iolab.metrics.ash import Queue
        >>> from iolab.metrics.report_facts import ReportFacts, Samples
        >>> queue = Queue(datetime(2026, 1, 11, 10, 45), datetime(2026, 1, 11, 10, 55), 34.17, 12_394)
        >>> facts = ReportFacts(db_time_s=Interval.exact(41_424), db_cpu_s=Interval.exact(6_449), cpus=12,
        ...     elapsed_s=Interval.exact(3_555), classes={"User I/O": Interval.exact(11_622)},
        ...     samples=Samples(4_097, Interval.exact(8.12), (queue,)), os={"OS_CPU_WAIT_TIME": 3_696_200.0})
        >>> for one in cpu_queue(facts): print(one.sentence)
        From 10:45 to 10:55, samples show 34 sessions on CPU with 12 CPUs: at least 12,300 s cannot have been CPU time.
        Processes waited 37,000 s for a CPU, by the host's own count (`OS_CPU_WAIT_TIME`).
    """
    if facts.whole_s is None or not facts.samples.queues or not facts.has_host:
        return
    queue = facts.samples.queues[0]
    least = 10 ** (math.floor(math.log10(queue.least_s)) - 2) if queue.least_s > 0 else 1.0
    when = f"{queue.begin:%H:%M} to {queue.end:%H:%M}"
    yield Finding(
        "cpu_queue",
        f"From {when}, samples show {queue.sessions:.0f} sessions on CPU with {facts.cpus} CPUs: "
        f"at least {math.floor(queue.least_s / least) * least:,.0f} s cannot have been CPU time.",
        detail=f"one sample stands for {SAMPLED_EVERY_S:.0f} s; two standard deviations of the samples are taken off",
        next=f"take an ASH report of {when}: @?/rdbms/admin/ashrpti",
        evidence=(Evidence("ash_activity"),),
    )
    waited = facts.os.get("OS_CPU_WAIT_TIME", 0.0) / _CS
    if waited >= queue.least_s:
        yield Finding(
            "os_cpu_wait",
            f"Processes waited {three(waited)} s for a CPU, by the host's own count (`OS_CPU_WAIT_TIME`).",
            next=cpu_step(facts),
            evidence=(Evidence("os_stats", ("OS_CPU_WAIT_TIME",)),),
        )


@rule(
    "sampled_statement",
    of="report",
    explains=(NOT_ACCOUNTED,),
    needs="active session history",
    thresholds={"10 % of the samples": "LEDGER section 9"},
)
def sampled_statement(facts: ReportFacts) -> Iterator[Finding]:
    """A statement with many of the samples that stands in no list of SQL.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Samples
        >>> samples = Samples(4_097, None, (), (("0kg3s5m4uzp32", "SELECT 1", 44.59),))
        >>> facts = ReportFacts(db_time_s=Interval.exact(41_424), elapsed_s=Interval.exact(3_555), samples=samples)
        >>> print(*(one.sentence for one in sampled_statement(facts)))
        `0kg3s5m4uzp32` (`SELECT 1`) was in 45 % of the 4,097 samples; no list of SQL by a figure has it.
    """
    if facts.whole_s is None or facts.is_idle:
        return
    for sql_id, text, share in facts.sampled_only:
        begin = f" (`{short_text(text, MOST_TEXT)}`)" if text else ""
        yield Finding(
            "sampled_statement",
            f"`{sql_id}`{begin} was in {percent(share / 100)} of the {facts.samples.count:,} samples; "
            "no list of SQL by a figure has it.",
            Interval.exact(share / 100),
            "samples",
            next=plan_of(sql_id) if not text or has_plan(text) else "",
            evidence=(Evidence("ash_sql_events", (sql_id,)),),
        )


@rule(
    "cpu_is_the_time",
    "time_profile",
    of="report",
    needs="DB CPU",
    thresholds={"75 % of DB time": "FINDINGS F08", "10 % of DB time": "LEDGER section 9"},
)
def cpu_is_the_time(facts: ReportFacts) -> Iterator[Finding]:
    """CPU: how many processors, and the statement that used most of it; `cpu_is_the_time` where it is nearly all.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Statement
        >>> main = Statement("g8rhybcumtwd6", Interval.exact(2_315), cpu_s=Interval.exact(2_144))
        >>> facts = ReportFacts(db_time_s=Interval.exact(12_612), db_cpu_s=Interval.exact(2_876.5), cpus=8,
        ...     elapsed_s=Interval.exact(903), classes={"User I/O": Interval.exact(9_700)}, statements=(main,))
        >>> for one in cpu_is_the_time(facts): print(one.name, one.sentence)
        time_profile CPU took 23 % of DB time: 3.19 of 8 CPUs; 75 % of this CPU time was used by `g8rhybcumtwd6`.
        >>> calm = ReportFacts(db_time_s=Interval.exact(8_000), db_cpu_s=Interval.exact(7_500), cpus=16,
        ...     elapsed_s=Interval.exact(3_600), classes={"User I/O": Interval.exact(400)}, idle_pct=Interval.exact(84))
        >>> for one in cpu_is_the_time(calm): print(one.name, one.sentence)
        cpu_is_the_time Nothing stands out: CPU took 94 % of DB time: 2.08 of 16 CPUs.
        >>> facts = ReportFacts(db_time_s=Interval.exact(61_163), db_cpu_s=Interval.exact(60_900), cpus=48,
        ...     elapsed_s=Interval.exact(3_617), classes={"User I/O": Interval.exact(160)})
        >>> for one in cpu_is_the_time(facts): print(one.name, one.sentence)
        cpu_is_the_time CPU took 99.6 % of DB time: 16.8 of 48 CPUs.
    """
    part, whole, cpu, elapsed = part_of(facts, CPU), facts.whole_s, facts.db_cpu_s, facts.elapsed_s
    if part is None or whole is None or cpu is None or not part.is_large:
        return
    found = captured(facts)
    is_most = found is not None and (cpu / whole).lo >= _CPU_SHARE and found.hi >= _MISSING and found.lo <= _OVERLAP
    used_by = ""
    if elapsed is not None and elapsed.lo > 0:
        used = range_text(part.share * (whole.value / elapsed.value))
        of = f"{min(facts.cpus, facts.cpu_count or facts.cpus):,} " if facts.has_host and facts.cpus is not None else ""
        used_by = f": {used}{' of ' if of else ' '}{of}CPUs{'' if of else ' on average'}"
    users = [(one.cpu_s, one) for one in facts.statements if one.cpu_s is not None and not one.is_block]
    if users and used_by:
        most, one = max(users, key=lambda pair: pair[0].value)
        share = most / cpu
        if share.value >= 0.5 and share.lo <= 1:
            used_by += f"; {percent(share.capped(1).value)} of this CPU time was used by `{one.sql_id}`"
    is_usual = is_most and _is_usual(facts)
    yield Finding(
        "cpu_is_the_time" if is_most else "time_profile",
        f"{'Nothing stands out: ' * is_usual}CPU took {part.took}{used_by}.",
        part=CPU,
        next=BUSY_HOUR if is_usual else "",
        detail="on AIX with SMT, CPU times are undercounted" if facts.is_aix else "",
        evidence=(Evidence(facts.db_cpu_from, (CPU,)), Evidence("host_cpu")),
    )


def _is_usual(facts: ReportFacts) -> bool:
    """Whether the host was hardly busy, and no statement, parsing or wait is large, but for short reads."""
    whole, idle = facts.whole_s, facts.idle_pct
    if whole is None or not facts.has_host or idle is None or idle.lo <= 100 - _BUSY_PCT or facts.sampled_only:
        return False
    waits = [
        wait.time_s
        for name, wait in facts.listed_events.items()
        if not name.startswith(_READS) or wait.avg_s is None or wait.avg_s.hi > _SHORT_READ_S
    ]
    is_one = any((one.elapsed_s / whole).lo >= LARGE for one in facts.statements if not one.is_block)
    return not is_one and not [*parse_time(facts)] and all((time / whole).lo < _PARSE_SHARE for time in waits)


def captured(facts: ReportFacts) -> Interval | None:
    """Waits and CPU as a share of DB time; None where the report does not have both."""
    whole, waited, cpu = facts.whole_s, facts.waited_s, facts.db_cpu_s
    if whole is None or waited is None or cpu is None or facts.is_idle:
        return None
    return (waited + cpu) / whole


@rule(
    "host_busy_with_others",
    of="report",
    needs="the host's CPU and the instance's share of it",
    thresholds={"25 % busy": "evaluation A12", "50 % of the CPU used": "FINDINGS F11"},
)
def host_busy_with_others(facts: ReportFacts) -> Iterator[Finding]:
    """A host whose processors were busy, half of it or more with work of others.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> facts = ReportFacts(idle_pct=Interval.exact(58.9), busy_cpu_pct=Interval.exact(5.2), cpus=14)
        >>> print(*(one.sentence for one in host_busy_with_others(facts)))
        5.75 of 14 CPUs were busy; this instance used 5.2 % of that.
        >>> list(host_busy_with_others(ReportFacts(idle_pct=Interval.exact(97.0), busy_cpu_pct=Interval.exact(31.0))))
        []
    """
    idle, own = facts.idle_pct, facts.busy_cpu_pct
    if facts.is_aix or not facts.has_host or idle is None or own is None or own.hi > _OWN_PCT:
        return
    if 100 - idle.hi < _BUSY_PCT:
        return
    busy = (100 - idle.value) / 100
    cpus = "" if facts.cpus is None else f"{three(busy * facts.cpus)} of {facts.cpus:,} CPUs were busy"
    said = cpus or f"The processors were {percent(busy)} busy"
    yield Finding(
        "host_busy_with_others",
        f"{said}; this instance used {percent(own.value / 100)} of that.",
        next="see the processes of the host: top, or pidstat 5",
        evidence=(Evidence("host_cpu"), Evidence("instance_cpu")),
        order=6,
    )


@rule(
    "host_memory_exhausted",
    of="report",
    needs="statistics of the operating system",
    thresholds={"1 MB/s paged": "FINDINGS F10", "90 % of the memory in SGA and PGA": "a convention"},
)
def host_memory_exhausted(facts: ReportFacts) -> Iterator[Finding]:
    """Swap that was full while the system used more CPU than user code, or paging above 1 MB/s, and who had the memory.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> facts = ReportFacts(os={"SWAP_FREE_BYTES": 0.0, "VM_OUT_BYTES": 29_757_440.0, "VM_IN_BYTES": 34_418_688.0},
        ...     elapsed_s=Interval.exact(3_566), user_pct=Interval.exact(4.2), system_pct=Interval.exact(13.8))
        >>> print(*(one.sentence for one in host_memory_exhausted(facts)))
        No swap was free at a snapshot (0.00834 MB/s paged out), system CPU was 3.29 times user CPU.
        >>> from dataclasses import replace
        >>> list(host_memory_exhausted(replace(facts, user_pct=Interval.exact(40.0))))
        []
        >>> paged = ReportFacts(os={"VM_OUT_BYTES": 49_387_200_512.0, "VM_IN_BYTES": 44_102_000_640.0},
        ...     elapsed_s=Interval.exact(3_600), os_end={_HELD: 96.57, "FREE_MEMORY_BYTES": 2e8})
        >>> print(*(one.sentence for one in host_memory_exhausted(paged)))
        12.3 MB/s were paged in and 13.7 MB/s out; SGA and PGA were 97 % of the memory, 191 MiB was free at the end.
    """
    if facts.is_aix or not facts.has_host or facts.elapsed_s is None or facts.elapsed_s.lo <= 0:
        return
    paged = {name: facts.os.get(name, 0.0) / facts.elapsed_s.value / _MB for name in ("VM_IN_BYTES", "VM_OUT_BYTES")}
    is_paging = max(paged.values()) > 1
    free = [of["SWAP_FREE_BYTES"] for of in (facts.os, facts.os_end) if "SWAP_FREE_BYTES" in of]
    user, system = facts.user_pct, facts.system_pct
    is_full = bool(free) and min(free) == 0 and user is not None and system is not None and system.lo > user.hi
    if not (is_paging or is_full):
        return
    out = f"{three(paged['VM_OUT_BYTES'])} MB/s"
    memory, fell = facts.os.get("PHYSICAL_MEMORY_BYTES", math.inf), free[0] - free[-1] if free else 0.0
    held = facts.os_end.get(_HELD, 0.0)
    is_held = min(paged.values()) > 1 and held >= _HELD_PCT
    is_short = is_paging and (is_held or fell >= _SWAPPED * memory)
    if is_paging:
        is_swap = fell >= _SWAPPED * memory
        swap = f"; free swap fell from {size_text(int(free[0]))} to {size_text(int(free[-1]))}" if is_swap else ""
        if is_held:
            left = facts.os_end.get("FREE_MEMORY_BYTES")
            swap += f"; SGA and PGA were {percent(held / 100)} of the memory"
            swap += "" if left is None else f", {size_text(int(left))} was free at the end"
        said = f"{three(paged['VM_IN_BYTES'])} MB/s were paged in and {out} out{swap}."
    else:
        times = three(system.value / user.value)  # type: ignore[union-attr]
        said = f"No swap was free at a snapshot ({out} paged out), system CPU was {times} times user CPU"
        load = [of["LOAD"] for of in (facts.os, facts.os_end) if "LOAD" in of]
        said += f"; the load rose from {load[0]:,.0f} to {load[1]:,.0f}." if load[:1] < load[1:] else "."
        is_short = max(free) > 0  # there is swap
    yield Finding(
        "host_memory_exhausted",
        said,
        detail="swap was full" + ("" if is_short else ", or is not configured") + "; hardly anything was paged out"
        if not is_paging
        else "pages went to disk and back" + ("" if is_short else "; some systems count reads of files, too"),
        explains=(NOT_ACCOUNTED, "Concurrency") if is_short else (),
        next="reduce SGA and PGA, or add memory; ps -eo pid,rss,args --sort=-rss shows who holds it"
        if is_short
        else "vmstat 5 of the host",
        evidence=(Evidence("os_stats", ("SWAP_FREE_BYTES", "VM_IN_BYTES", "VM_OUT_BYTES")),),
        order=4 if is_short else 7,
    )


@rule("parse_time", of="report", needs="the time model", thresholds={"10 % of DB time": "LEDGER section 9"})
def parse_time(facts: ReportFacts) -> Iterator[Finding]:
    """Time in parsing, from 10 % of DB time; it overlaps CPU and waits, so it is no part of the ledger.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> facts = ReportFacts(db_time_s=Interval.exact(13_799), elapsed_s=Interval.exact(3_614),
        ...     parse_s=Interval.exact(6_030), hard_parse_s=Interval.exact(5_917))
        >>> print(*(one.sentence for one in parse_time(facts)))
        Parsing took 44 % of DB time, nearly all of it in hard parses.
        >>> from dataclasses import replace
        >>> soft = replace(facts, hard_parse_s=Interval.exact(500), versions=(("7xq2b0kd9mvz1", 812),))
        >>> print(*(one.sentence for one in parse_time(soft)))
        Parsing took 44 % of DB time, 3.6 % in hard parses; `7xq2b0kd9mvz1` has 812 child cursors.
        >>> lock = {"library cache lock": Wait(Interval.exact(30), Interval.exact(13_000))}
        >>> waited = replace(facts, parse_s=Interval.exact(13_000), hard_parse_s=Interval.exact(400), events=lock)
        >>> print(*(one.sentence for one in parse_time(waited)))
        Parsing took 94 % of DB time, 2.9 % in hard parses, at least 88 % in `library cache lock`.
        >>> print(*(one.sentence for one in parse_time(replace(facts, alike=(7, 10)))))
        Parsing took 44 % of DB time, nearly all of it in hard parses; 7 of the 10 statements listed differ from another
        only in literals.
        >>> list(parse_time(ReportFacts(db_time_s=Interval.exact(13_799), parse_s=Interval.exact(60))))
        []
    """
    whole, parse, hard = facts.whole_s, facts.parse_s, facts.hard_parse_s
    if whole is None or parse is None or facts.is_idle or (parse / whole).lo < _PARSE_SHARE:
        return
    of_hard, is_hard = "", hard is not None and hard.value >= _MOST * parse.value
    sql_id, children = facts.most_children
    has_children = not is_hard and children >= MANY_CHILDREN
    count, usual = facts.activity.get("parse count (hard)"), "see the statements ordered by parse calls"
    step = NOT_SHARED.format(sql_id) if has_children else PARSES if is_hard else usual
    if hard is not None:
        parses = "hard parses"
        if is_hard and count is not None and count.lo > 0:
            each = hard.value / count.value
            parses = f"{count.value:,.0f} hard parses of {seconds(each)}"
            step = step if each < _LONG_PARSE_S else _TRACE_PARSE
        most = "nearly all of it" if hard.value >= _NEARLY_ALL * parse.value else percent(hard / whole)
        of_hard = f", {most} in {parses}"
    alike, listed = facts.alike
    if not is_hard and not has_children:
        # what is longer than the time outside of parses was in them
        least = {name: wait.time_s.lo + parse.lo - whole.hi for name, wait in facts.listed_events.items()}
        name = max(least, key=lambda one: least[one], default="")
        if name and least[name] >= _MOST * parse.hi:
            of_hard += f", at least {percent(least[name] / whole.value)} in `{name}`"
            step = event_step(name) or step
    if is_hard and step == PARSES and 0 < listed <= 2 * alike:
        of_hard += f"; {alike} of the {counted(listed, 'statements')} listed differ from another only in literals"
        step = BIND
    share = (parse / whole).capped(1)
    yield Finding(
        "parse_time",
        f"Parsing took {percent(share)} of DB time{of_hard}"
        + (f"; `{sql_id}` has {children:,} child cursors." if has_children else "."),
        share,
        next=step,
        explains=(CPU, NOT_ACCOUNTED) if share.lo >= LARGE else (),
        evidence=(Evidence("time_model", ("parse time elapsed", "hard parse elapsed time")),),
        order=4,
    )


@rule("hard_parses", of="report", needs="statistics of parses, and no time model")
def hard_parses(facts: ReportFacts) -> Iterator[Finding]:
    """Hard parses of a report without a time model, where parsing took half of the CPU time.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> counts = {"parse count (hard)": 740_000, "parse count (total)": 1_180_000, "parse time cpu": 601_000}
        >>> facts = ReportFacts(call_time_s=Interval.exact(18_100), db_cpu_s=Interval.exact(9_811),
        ...     elapsed_s=Interval.exact(1_800), activity={name: Interval.exact(n) for name, n in counts.items()})
        >>> for one in hard_parses(facts): print(one.sentence)
        Parsing took 61 % of CPU: 411 hard parses per second, 63 % of all parses.
        >>> list(hard_parses(ReportFacts(call_time_s=facts.call_time_s, db_cpu_s=facts.call_time_s,
        ...     elapsed_s=facts.elapsed_s, activity=facts.activity)))
        []
    """
    hard, parses, parse_cs = (
        facts.activity.get(f"parse {of}", Interval.exact(0)) for of in ("count (hard)", "count (total)", "time cpu")
    )
    cpu, is_timed = facts.db_cpu_s, facts.parse_s is not None
    if is_timed or facts.is_idle or cpu is None or not 0 < hard.value <= parses.value or hard.value < _HARD * parses.lo:
        return
    share = parse_cs / _CS / cpu if cpu.lo > 0 else cpu
    if not _MOST <= share.value <= 1:
        return
    said = f"Parsing took {percent(share)} of CPU: {often(hard, facts.elapsed_s, 'hard parses')}"
    yield Finding(
        "hard_parses",
        f"{said}, {percent(hard / parses)} of all parses.",
        next=BIND,
        explains=(CPU, "latch free", "library cache", "latch: library cache", "latch: shared pool"),
        evidence=(Evidence("instance_activity", ("parse count (hard)", "parse time cpu")),),
        order=4,
    )
