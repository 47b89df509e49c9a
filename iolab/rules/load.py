"""Load of a report's period: sessions active, processors, DB time that is neither CPU nor a wait, parsing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, figure_text, share_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.gates import LEAST_DB_TIME_S, OVERLAP, captured, period_text
from iolab.rules.report_facts import total
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.rules.report_facts import ReportFacts

_IDLE_SESSIONS: Final = 0.1
#: Fewer sessions active on average are almost nothing.
NOTHING_SESSIONS: Final = 0.01
#: Sums of waits and CPU of 28 reports lie above 0.97, or below 0.81.
_MISSING: Final = 0.90
_CPU_SHARE: Final = 0.75
_PARSE_SHARE: Final = 0.10
_MB: Final = 10**6


def sessions_active(facts: ReportFacts) -> Interval | None:
    """DB time a second of the period: sessions active on average; None where it is not known."""
    if facts.whole_s is None or facts.elapsed_s is None or facts.elapsed_s.lo <= 0:
        return None
    return facts.whole_s / facts.elapsed_s


def is_idle_instance(facts: ReportFacts) -> bool:
    """Did almost nothing run?  Then shares are of little, and no share is said."""
    active, time = sessions_active(facts), facts.db_time_s
    if active is None or time is None:
        return False
    return active.hi < NOTHING_SESSIONS or (active.hi < _IDLE_SESSIONS and time.hi < LEAST_DB_TIME_S)


def load(facts: ReportFacts) -> Iterator[Finding]:
    """Sessions active, and the host's processors: one sentence of every report with a period.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval(38493.6, 38493.3, 38493.9), elapsed_s=Interval(304.2, 303.9, 304.5),
        ...     cpus=32, idle_pct=Interval(77.7, 77.65, 77.75), classes={"User I/O": Interval.exact(37_661)})
        >>> print(*(one.sentence for one in load(facts)))
        126.5 [126.4, 126.7] sessions were active on average, most of them waiting; the 32 CPUs were 77.7 % idle.
        >>> from dataclasses import replace
        >>> print(*(one.sentence for one in load(replace(facts, kind="awr_pdb"))))
        126.5 [126.4, 126.7] sessions were active on average, most of them waiting.
        >>> list(load(ReportFacts(elapsed_s=Interval.exact(60))))
        []
    """
    active = sessions_active(facts)
    if active is None or facts.whole_s is None or is_idle_instance(facts):
        return
    waiting = ""
    if facts.waited_s is not None and (facts.waited_s / facts.whole_s).lo >= 0.5:
        waiting = ", most of them waiting"
    host = ""
    if facts.has_host and facts.cpus is not None and facts.idle_pct is not None:
        allowed = facts.cpu_count if facts.cpu_count is not None and facts.cpu_count < facts.cpus else None
        of = f"the {facts.cpus} CPUs" if allowed is None else f"the {facts.cpus} CPUs ({allowed} allowed)"
        host = f"; {of} were {share_text(facts.idle_pct / 100)} idle"
    together = " in all instances together" if facts.kind == "awr_global" else ""
    yield Finding(
        "load",
        f"{figure_text(active)} sessions were active on average{together}{waiting}{host}.",
        evidence=(Evidence("info"), Evidence("host_cpu")),
        caveat="sessions that wait are active, too: this is no load of the processors",
        order=0,
    )


def instance_idle(facts: ReportFacts) -> Iterator[Finding]:
    """An instance where almost nothing ran.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval(14.4, 14.1, 14.7), elapsed_s=Interval(7059.6, 7059.3, 7059.9))
        >>> print(*(one.sentence for one in instance_idle(facts)))
        Almost nothing ran: 0.00204 [0.00199, 0.00209] sessions were active on average, 14.4 [14.1, 14.7] s of DB time
        in 118 min.
        >>> list(instance_idle(ReportFacts(db_time_s=Interval.exact(353), elapsed_s=Interval.exact(3_615))))
        []
    """
    if facts.elapsed_s is None or facts.elapsed_s.lo <= 0:
        return
    cpu, time = facts.db_cpu_s, facts.db_time_s
    if facts.cpu_contradicts and cpu is not None and time is not None:
        most = max(time.hi, cpu.hi) / facts.elapsed_s.lo
        if most >= _IDLE_SESSIONS:
            return
        least = min(time.value, cpu.value) / facts.elapsed_s.value
        active_text = f"{figure_text(least)} to {figure_text(max(time.value, cpu.value) / facts.elapsed_s.value)}"
        said = f"Almost nothing ran: {active_text} sessions were active on average, by DB time and by DB CPU."
    elif is_idle_instance(facts) and time is not None:
        active = sessions_active(facts) or Interval.exact(0)
        said = (
            f"Almost nothing ran: {figure_text(active)} sessions were active on average, {figure_text(time, 's')} of "
            f"DB time in {period_text(facts.elapsed_s.value)}."
        )
    else:
        return
    yield Finding(
        "instance_idle",
        said,
        why="shares of so little time are left out",
        refuted_by="a report of a shorter period within",
        evidence=(Evidence("info"),),
        order=0,
    )


def db_time_unaccounted(facts: ReportFacts) -> Iterator[Finding]:
    """DB time that is neither CPU nor a wait, with what fits and what does not follow.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(33_153), db_cpu_s=Interval.exact(4_737), cpus=32,
        ...     elapsed_s=Interval.exact(3_566), idle_pct=Interval.exact(81.9),
        ...     classes={"Concurrency": Interval.exact(2_769)})
        >>> for one in db_time_unaccounted(facts): print(one.sentence)
        77.4 % of DB time was neither CPU nor a wait; the processors were 81.9 % idle on average over the period.
        >>> from dataclasses import replace
        >>> list(db_time_unaccounted(replace(facts, db_cpu_s=Interval.exact(30_000))))
        []
    """
    found = captured(facts)
    if found is None or found[1] or facts.whole_s is None or is_idle_instance(facts):
        return
    sum_, _ = found
    if sum_.hi >= _MISSING:
        return
    missing = 1 - sum_
    host, why, refuted_by = "", _cause(facts), "ASH samples `ON CPU`, or an extended trace of one session"
    if facts.has_host and facts.idle_pct is not None:
        if facts.idle_pct.lo >= 50:
            idle = share_text(facts.idle_pct / 100)
            host = f"; the processors were {idle} idle on average over the period"
            if facts.load_end is not None and facts.cpus is not None and facts.load_end > 2 * facts.cpus:
                why += "; short stalls are not excluded: the load average ended at " + figure_text(facts.load_end)
        elif facts.idle_pct.hi <= 10:
            busy = Interval(100 - facts.idle_pct.value, 100 - facts.idle_pct.hi, 100 - facts.idle_pct.lo)
            host = f"; the processors were {share_text(busy / 100)} busy: waiting for one fits"
    if facts.is_aix:
        why += "; on AIX with SMT CPU times are undercounted"
    yield Finding(
        "db_time_unaccounted",
        f"{share_text(missing)} of DB time was neither CPU nor a wait{host}.",
        missing,
        why=why.removeprefix("; "),
        refuted_by=refuted_by,
        evidence=(Evidence("foreground_wait_classes"), Evidence("time_model"), Evidence("host_cpu")),
    )


def _cause(facts: ReportFacts) -> str:
    """What could be the rest, in the order of how well it is measured."""
    direct = total(facts.of_events("direct path read", "direct path read temp"))
    if facts.waited_s is not None and direct.lo >= 0.5 * facts.waited_s.hi > 0:
        return "time to submit and reap direct reads, outside the wait event, fits"
    if facts.whole_s is not None and facts.parse_s is not None and (facts.parse_s / facts.whole_s).lo >= 0.2:
        return f"{share_text(facts.parse_s / facts.whole_s)} of DB time was in calls that parse"
    return "waiting for a processor, or time outside any wait event; the report does not tell which"


def cpu_is_the_time(facts: ReportFacts) -> Iterator[Finding]:
    """DB time that is mostly CPU.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(61_163), db_cpu_s=Interval.exact(60_900), cpus=48,
        ...     elapsed_s=Interval.exact(3_617), classes={"User I/O": Interval.exact(160)})
        >>> print(*(one.sentence for one in cpu_is_the_time(facts)))
        99.6 % of DB time was CPU: 16.84 of 48 CPUs on average.
        >>> from dataclasses import replace
        >>> list(cpu_is_the_time(replace(facts, classes={"User I/O": Interval.exact(12_000)})))  # shares overlap
        []
    """
    whole, cpu, found = facts.whole_s, facts.db_cpu_s, captured(facts)
    if whole is None or cpu is None or found is None or found[1] or facts.elapsed_s is None or is_idle_instance(facts):
        return
    share = cpu / whole
    if share.lo < _CPU_SHARE or found[0].hi < _MISSING or found[0].lo > OVERLAP or facts.elapsed_s.lo <= 0:
        return
    used = cpu / facts.elapsed_s
    of = ""
    if facts.has_host and facts.cpus is not None:
        of = f": {figure_text(used)} of {count_text(facts.cpu_count or facts.cpus, 'CPU')} on average"
    gets = facts.activity.get("session logical reads")
    hard = facts.hard_parse_s
    why = "CPU of foreground processes; a processor that is shared with other threads counts whole"
    if gets is not None and gets.lo > 0 and hard is not None and (hard / whole).hi < 0.05 and whole.lo >= 600:
        each = cpu * 10**6 / gets
        why = f"{figure_text(each, 'us')} of CPU a logical read, row work and parsing included"
    yield Finding(
        "cpu_is_the_time",
        f"{share_text(share)} of DB time was CPU{of}.",
        share.capped(1),
        why=why,
        refuted_by="AIX with SMT, where CPU times are undercounted" if facts.is_aix else "ASH samples of the period",
        evidence=(Evidence(facts.db_cpu_from, ("DB CPU",)), Evidence("host_cpu")),
    )


def host_busy_with_others(facts: ReportFacts) -> Iterator[Finding]:
    """A busy host whose CPU this instance used half of, or less.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(idle_pct=Interval.exact(12.0), busy_cpu_pct=Interval.exact(31.0))
        >>> print(*(one.sentence for one in host_busy_with_others(facts)))
        The processors were 12.0 % idle; of the CPU used, this instance had 31.0 %.
        >>> list(host_busy_with_others(ReportFacts(idle_pct=Interval.exact(97.0), busy_cpu_pct=Interval.exact(31.0))))
        []
    """
    idle, own = facts.idle_pct, facts.busy_cpu_pct
    if facts.is_aix or not facts.has_host or idle is None or own is None or idle.hi >= 30 or own.hi > 50:
        return
    yield Finding(
        "host_busy_with_others",
        f"The processors were {share_text(idle / 100)} idle; of the CPU used, this instance had "
        f"{share_text(own / 100)}.",
        why="the rest was used outside this instance; the report does not say by what",
        refuted_by="process accounting of the host",
        evidence=(Evidence("host_cpu"), Evidence("instance_cpu")),
        order=6,
    )


def host_memory_exhausted(facts: ReportFacts) -> Iterator[Finding]:
    """Swap that was full while the system used more CPU than user code, or paging above 1 MB/s.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(os={"SWAP_FREE_BYTES": 0.0, "VM_OUT_BYTES": 29_757_440.0, "VM_IN_BYTES": 34_418_688.0},
        ...     elapsed_s=Interval.exact(3_566), user_pct=Interval.exact(4.2), system_pct=Interval.exact(13.8))
        >>> print(*(one.sentence for one in host_memory_exhausted(facts)))
        Swap was full at a snapshot (0 bytes free), and 0.00834 MB/s were paged out.
        >>> from dataclasses import replace
        >>> list(host_memory_exhausted(replace(facts, user_pct=Interval.exact(40.0))))
        []
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
    out = figure_text(paged["VM_OUT_BYTES"], "MB/s")
    if is_paging:
        said = f"{figure_text(paged['VM_IN_BYTES'], 'MB/s')} were paged in and {out} out."
    else:
        said = f"Swap was full at a snapshot (0 bytes free), and {out} were paged out."
    yield Finding(
        "host_memory_exhausted",
        said,
        why="full, not paging"
        if not is_paging
        else "pages went to disk and back; some systems count reads of files, too",
        refuted_by="vmstat of the period",
        evidence=(Evidence("os_stats", ("SWAP_FREE_BYTES", "VM_IN_BYTES", "VM_OUT_BYTES")),),
        order=7,
    )


def parse_time(facts: ReportFacts) -> Iterator[Finding]:
    """Time in parsing, from 10 % of DB time.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(13_799), elapsed_s=Interval.exact(3_614),
        ...     parse_s=Interval.exact(6_030), hard_parse_s=Interval.exact(5_917))
        >>> print(*(one.sentence for one in parse_time(facts)))
        43.7 % of DB time was in parsing, 42.9 % in hard parses.
        >>> list(parse_time(ReportFacts(db_time_s=Interval.exact(13_799), parse_s=Interval.exact(60))))
        []
    """
    whole, parse, hard = facts.whole_s, facts.parse_s, facts.hard_parse_s
    if whole is None or parse is None or is_idle_instance(facts) or (parse / whole).lo < _PARSE_SHARE:
        return
    of_hard = "" if hard is None else f", {share_text(hard / whole)} in hard parses"
    share = parse / whole
    yield Finding(
        "parse_time",
        f"{share_text(share)} of DB time was in parsing{of_hard}.",
        share,
        why="it contains waits and CPU that are named elsewhere: shares are not added to it",
        refuted_by="parse counts and times of V$SESS_TIME_MODEL",
        evidence=(Evidence("time_model", ("parse time elapsed", "hard parse elapsed time")),),
    )
