"""Where DB time went: groups of waits, row locks, statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, figure_text, share_text, time_text
from iolab.rules.event_groups import GROUPS, group_of
from iolab.rules.finding import NOTABLE, Evidence, Finding
from iolab.rules.gates import LEAST_WAITS, OVERLAP, captured
from iolab.rules.load import cpu_is_the_time, is_idle_instance
from iolab.rules.report_facts import Wait, total
from iolab.rules.writes import all_io_slow, log_space, small_log_writes_slow, writers_behind
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.rules.report_facts import ReportFacts

#: Events that a sentence names.
_MOST_NAMED: Final = 3
#: Groups that get a sentence.
_MOST_GROUPS: Final = 3
_LOCK_SHARE: Final = 0.20
#: A group with so large a part in a finding of its own gets no second one.
_NEARLY_ALL: Final = 0.9
_STATEMENT_SHARE: Final = 0.50
_ROW_LOCKS: Final = "enq: TX - row lock contention"
#: Modules of the database's own upkeep: its snapshots and advisors.
_UPKEEP: Final = ("dbms_scheduler", "mmon_slave", "admin", "dbms_workload_repository", "rdbms")


def groups_of(facts: ReportFacts) -> dict[str, dict[str, Wait]]:
    """The foreground events of each group, the group with the longest time first."""
    found: dict[str, dict[str, Wait]] = {}
    for name, wait in sorted(facts.listed_events.items(), key=lambda item: -item[1].time_s.value):
        found.setdefault(group_of(name), {})[name] = wait
    return dict(sorted(found.items(), key=lambda item: -total(item[1]).value))


def time_profile(facts: ReportFacts) -> Iterator[Finding]:
    """The largest groups of waits, each with its share of DB time and its events.

    Groups, not events: the largest event may be a read while the largest group waits for space to write.  CPU is one
    of them.  Without the table of foreground events, the top events give what there is at least.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> def wait(count, seconds): return Wait(Interval.exact(count), Interval.exact(seconds))
        >>> events = {"db file sequential read": wait(21_628_695, 16_407), "log buffer space": wait(25_753, 12_641),
        ...     "free buffer waits": wait(617_937, 6_616)}
        >>> facts = ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval.exact(304.2), events=events)
        >>> from dataclasses import replace
        >>> for one in time_profile(replace(facts, db_cpu_s=Interval.exact(5_774), cpus=32)): print(one.sentence)
        15.0 % of DB time was CPU: 18.98 of 32 CPUs on average.
        50.0 % of DB time was waiting for space to write: `log buffer space` 32.8, `free buffer waits` 17.2 %.
        42.6 % of DB time was single-block reads: `db file sequential read`, 71,100 a second, 759 us on average.
        >>> list(time_profile(ReportFacts(db_time_s=Interval.exact(12), elapsed_s=Interval.exact(7_000),
        ...     events=events)))
        []
    """
    whole = facts.whole_s
    if whole is None or is_idle_instance(facts):
        return
    yield from _cpu_part(facts)
    table = "foreground_events" if facts.events else "top_events"
    shown = 0
    for group, events in groups_of(facts).items():
        share = total(events) / whole
        if share.lo < NOTABLE or shown == _MOST_GROUPS or _is_said(facts, events):
            continue
        shown += 1
        limit = facts.limit or ("" if facts.events else "At least ")
        yield Finding(
            "time_profile",
            f"{limit}{share_text(share)} of DB time was {GROUPS[group]}: {_events_text(facts, events)}.",
            facts.share(total(events)),
            why=_why(facts, group, events),
            refuted_by="other shares in the ASH samples of the period",
            evidence=(Evidence(table, tuple(events)[:6]),),
            caveat="one wait may be for several requests" if "db file parallel read" in events else "",
        )


def _cpu_part(facts: ReportFacts) -> Iterator[Finding]:
    """CPU beside waits; where it is most of DB time, `cpu_is_the_time` says it."""
    whole, cpu, found = facts.whole_s, facts.db_cpu_s, captured(facts)
    if whole is None or cpu is None or (cpu / whole).lo < NOTABLE or next(cpu_is_the_time(facts), None) is not None:
        return
    share, used = cpu / whole, ""
    if facts.has_host and facts.cpus is not None and facts.elapsed_s is not None and facts.elapsed_s.lo > 0:
        allowed = min(facts.cpus, facts.cpu_count or facts.cpus)
        used = f": {figure_text(cpu / facts.elapsed_s)} of {count_text(allowed, 'CPU')} on average"
    yield Finding(
        "time_profile",
        f"{share_text(share)} of DB time was CPU{used}.",
        share.capped(1),
        why="a part of it was used within waits"
        if found is not None and found[0].lo > OVERLAP and not facts.has_earlier_waits
        else "",
        refuted_by="AIX with SMT, where CPU times are undercounted" if facts.is_aix else "ASH samples of the period",
        evidence=(Evidence(facts.db_cpu_from, ("DB CPU",)),),
    )


def _is_said(facts: ReportFacts, events: dict[str, Wait]) -> bool:
    """Does one finding of its own (row locks, space to write, the resource manager) hold nearly all of a group?"""
    for rule in (lock_waits, log_space, writers_behind, resource_manager):
        for found in rule(facts):
            own = [events[name].time_s.value for name in found.evidence[0].rows if name in events]
            if sum(own) >= _NEARLY_ALL * total(events).value:
                return True
    return False


def _events_text(facts: ReportFacts, events: dict[str, Wait]) -> str:
    whole = facts.whole_s or Interval.exact(1)
    first, *others = events.items()
    counted = [(name, wait) for name, wait in events.items() if (wait.time_s / whole).value >= 0.001]
    if len(counted) <= 1 or not others:
        name, wait = first
        return f"`{name}`{_rate_text(facts, wait)}"
    parts = [f"`{name}` {share_text(wait.time_s / whole).removesuffix(' %')}" for name, wait in counted[:_MOST_NAMED]]
    more = len(counted) - len(parts)
    return ", ".join(parts) + " %" + (f", {count_text(more, 'more event')}" if more else "")


def _rate_text(facts: ReportFacts, wait: Wait) -> str:
    average = wait.avg_s
    if average is None or wait.waits.lo < LEAST_WAITS or facts.elapsed_s is None or facts.elapsed_s.lo <= 0:
        return f", {count_text(wait.waits.value, 'wait')}"
    a_second = wait.waits / facts.elapsed_s
    often = f"{figure_text(a_second.value)} a second" if a_second.value >= 1 else count_text(wait.waits.value, "wait")
    return f", {often}, {time_text(average)} on average"


def _why(facts: ReportFacts, group: str, events: dict[str, Wait]) -> str:
    if group == "single_block" and total(facts.of_events("db file parallel read")).value > 0:
        return "a wait of `db file parallel read` is for several blocks"
    if group == "other_reads":
        return "a wait for direct reads is not a read, and its time is not theirs where they are asynchronous"
    if facts.has_earlier_waits:
        return "a wait is counted whole when it ends: a part of it may be of before the period"
    found = captured(facts)
    if found is not None and found[0].lo > OVERLAP:
        return "shares overlap: they say the order"
    return "events of one cause are one group: the largest event may be of another" if len(events) > 1 else ""


def lock_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Row locks, from 20 % of DB time.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> events = {"enq: TX - row lock contention": Wait(Interval.exact(22_983), Interval.exact(2_198_781))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(2_269_545), elapsed_s=Interval.exact(2_220), events=events)
        >>> print(*(one.sentence for one in lock_waits(facts)))
        96.9 % of DB time was waiting for row locks: 22,983 waits of 95.7 s on average.
        >>> list(lock_waits(ReportFacts(db_time_s=Interval.exact(20_000_000), events=events)))
        []
    """
    waits = facts.of_events(_ROW_LOCKS)
    if facts.whole_s is None or not waits or is_idle_instance(facts):
        return
    wait = waits[_ROW_LOCKS] if _ROW_LOCKS in waits else next(iter(waits.values()))
    share, average = wait.time_s / facts.whole_s, wait.avg_s
    if share.lo < _LOCK_SHARE or average is None or wait.waits.lo < LEAST_WAITS:
        return
    slow = next(iter((*all_io_slow(facts), *small_log_writes_slow(facts))), None)
    held = "" if slow is None else f"; locks are held until the commit is written, and {_slow_text(slow.name)}"
    yield Finding(
        "lock_waits",
        f"{facts.limit}{share_text(share)} of DB time was waiting for row locks: "
        f"{count_text(wait.waits.value, 'wait')} of {time_text(average)} on average.",
        facts.share(wait.time_s),
        why=f"holder and statement are not in the report; ASH has them (BLOCKING_SESSION){held}",
        refuted_by="ASH samples of the blockers",
        evidence=(Evidence("foreground_events", (_ROW_LOCKS,)),),
        order=6,
    )


def _slow_text(name: str) -> str:
    return "reads and writes of every kind were slow" if name == "all_io_slow" else "log writes were slow"


def top_sql_share(facts: ReportFacts) -> Iterator[Finding]:
    """A statement with half of DB time or more.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> statements = (("309mwpa4tk161", Interval.exact(22_411), 71_984.0, "SQL*Plus"),)
        >>> facts = ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval.exact(304), statements=statements)
        >>> print(*(one.sentence for one in top_sql_share(facts)))
        Statement `309mwpa4tk161` took 58.2 % of DB time in 71,984 executions.
        >>> list(top_sql_share(ReportFacts(db_time_s=Interval.exact(9_000),
        ...     statements=statements)))  # more than the whole
        []
    """
    whole = facts.whole_s
    if whole is None or is_idle_instance(facts) or whole.lo < 60:
        return
    found = captured(facts)
    if found is not None and found[0].lo > 1.1:
        return
    listed = Interval.exact(0)
    for one in facts.statements:
        listed += one[1]
    for statement, elapsed, executions, module in facts.statements:
        share = elapsed / whole
        if share.lo < _STATEMENT_SHARE or share.lo > 1 or any(part in module.lower() for part in _UPKEEP):
            continue
        times = f" in {count_text(executions, 'execution')}" if executions else ""
        sums = listed / whole
        yield Finding(
            "top_sql_share",
            f"Statement `{statement}` took {share_text(share)} of DB time{times}.",
            share.capped(1),
            why=f"the statements listed add up to {share_text(sums)}; a PL/SQL block also counts what it calls",
            refuted_by="a child statement with the same time",
            evidence=(Evidence("sql", (statement,)),),
            order=7,
        )


def resource_manager(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for the resource manager, from 5 % of DB time.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> events = {"resmgr:cpu quantum": Wait(Interval.exact(900), Interval.exact(120))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), elapsed_s=Interval.exact(600), events=events)
        >>> print(*(one.sentence for one in resource_manager(facts)))
        12.0 % of DB time was waiting for the resource manager: 900 waits of 133.3 ms on average.
        >>> list(resource_manager(ReportFacts(db_time_s=Interval.exact(9_000), events=events)))
        []
    """
    waits = facts.of_events(prefix="resmgr:")
    if facts.whole_s is None or not waits or is_idle_instance(facts):
        return
    time = total(waits)
    share = time / facts.whole_s
    count = sum(one.waits.value for one in waits.values())
    if share.lo < NOTABLE or count < LEAST_WAITS:
        return
    yield Finding(
        "resource_manager",
        f"{facts.limit}{share_text(share)} of DB time was waiting for the resource manager: "
        f"{count_text(count, 'wait')} of {time_text(time / count)} on average.",
        facts.share(time),
        why="a plan of the resource manager, or `cpu_count`, keeps sessions from the processors",
        refuted_by="no active plan in the period",
        evidence=(Evidence("foreground_events", tuple(waits)),),
    )
