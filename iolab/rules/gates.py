"""Gates: is the evidence of a report fit for the sentences that would follow?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text
from iolab.metrics.report_facts import total
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import percent, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import part_of
from iolab.rules.time_parts import PART
from iolab.time_ledger.reports import ledger_of
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts

#: The default interval and five minutes.  Source: MOS 1359094.1, "no longer than 1 hour".
LONG_S: Final = 3_900
#: Sessions at the snapshots are not the most there were between them.
_SESSIONS_FACTOR: Final = 1.5
_HOUR_S: Final = 3_600
#: A period is given in hours from this many on, in whole ones from so many.
_LEAST_MINUTES: Final = 2
_LEAST_HOURS: Final = 3
_WHOLE_HOURS: Final = 20
_DAY_S: Final = 86_400
_TWICE: Final = "counted twice"


@rule("interval_interrupted", of="report", needs="a restart between the snapshots")
def interval_interrupted(facts: ReportFacts) -> Iterator[Finding]:
    """What cannot be said of a period with a restart: counters begin anew.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> for one in interval_interrupted(ReportFacts(invalid="RESULTS ARE INVALID")): print(one.sentence)
        Shares, rates, comparisons and what-ifs cannot be computed: the instance was restarted between the two
        snapshots.
        >>> list(interval_interrupted(ReportFacts()))
        []
    """
    if facts.invalid or facts.restarted_at is not None:
        yield Finding(
            "interval_interrupted",
            "Shares, rates, comparisons and what-ifs cannot be computed: the instance was restarted between the two "
            "snapshots.",
            evidence=(Evidence("info"),),
            is_refused=True,
        )


@rule(
    "impossible_figure",
    "load",
    "overlapping_shares",
    of="report",
    needs="DB time and DB CPU, wait classes, or two statements of DB time",
    thresholds={"2 s and 1 % between two statements of DB time": "LEDGER R3", "1.5 times the sessions": "FINDINGS F01"},
)
def impossible_figure(facts: ReportFacts) -> Iterator[Finding]:
    """Figures that contradict each other: CPU above DB time, two statements of DB time, a class above all sessions.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> from logframe.interval import Interval
        >>> time, cpu = Interval(617.8, 617.7, 617.9), Interval(1186.7, 1186.6, 1186.8)
        >>> print(*(one.sentence for one in impossible_figure(ReportFacts(db_time_s=time, db_cpu_s=cpu))))
        DB CPU (1,186.7 s) exceeds DB time (617.8 s), of which it is a part: no share is computed.
        >>> list(impossible_figure(ReportFacts(db_time_s=time, db_cpu_s=time * 0.9)))
        []
    """
    if facts.cpu_contradicts and facts.db_cpu_s is not None and facts.db_time_s is not None:
        yield Finding(
            "impossible_figure",
            f"DB CPU ({facts.db_cpu_s.value:,.1f} s) exceeds DB time ({facts.db_time_s.value:,.1f} s), of which "
            "it is a part: no share is computed.",
            next="" if facts.is_quiet else "take the next report of the instance, and compare both figures",
            evidence=(Evidence(facts.db_cpu_from, ("DB CPU", "DB time")),),
            is_gate=True,
        )
    if facts.other_db_time is not None and facts.db_time_s is not None:
        where, other = facts.other_db_time
        yield Finding(
            "impossible_figure",
            f"DB time is {facts.db_time_s.value:,.1f} s in {facts.db_times_s[0][0]} and {other.value:,.1f} s in "
            f"{where}: the report mixes parts of two periods.",
            next="take the whole report of one period: @?/rdbms/admin/awrrpt",
            evidence=(Evidence("info"), Evidence("foreground_wait_classes")),
            is_gate=True,
        )
        for name, what in (("load", "The number of active sessions"), ("overlapping_shares", "Shares")):
            yield Finding(
                name,
                f"{what} cannot be computed: the report mixes parts of two periods.",
                next="take the whole report of one period",
                is_refused=True,
            )
    yield from _above_sessions(facts)


def _above_sessions(facts: ReportFacts) -> Iterator[Finding]:
    if facts.elapsed_s is None or facts.elapsed_s.lo <= 0 or not facts.sessions:
        return
    for name, time in facts.all_classes.items():
        at_once = time / facts.elapsed_s
        if at_once.lo > _SESSIONS_FACTOR * max(facts.sessions):
            shown = " and ".join(f"{count:,}" for count in facts.sessions)
            yield Finding(
                "impossible_figure",
                f"Class {name} is printed with {time.value:,.0f} s, {at_once.value:,.0f} sessions at a time, but the "
                f"snapshots show {shown} sessions. No share is computed from it.",
                next="see the class in the next report of the instance",
                evidence=(Evidence("wait_classes", (name,)), Evidence("snapshots")),
                is_gate=True,
            )


@rule("idle_events_in_top", of="report", needs="the table of top events")
def idle_events_in_top(facts: ReportFacts) -> Iterator[Finding]:
    """Idle waits among the top events, whose printed shares mean nothing.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, TopEvent
        >>> top = (TopEvent("LGWR worker group idle", None, None, None), TopEvent("DB CPU", None, None, None))
        >>> print(*(one.sentence for one in idle_events_in_top(ReportFacts(top_events=top))))
        The top events include an idle wait (`LGWR worker group idle`). Ignore its share.
        >>> print(*(one.sentence for one in idle_events_in_top(ReportFacts(top_events=top, shares_of_all_waits=True))))
        The top events include an idle wait (`LGWR worker group idle`). Ignore its share; the others are too small.
        >>> list(idle_events_in_top(ReportFacts(top_events=top[1:])))
        []
    """
    idle = [one.event for one in facts.top_events if is_idle(one.event, one.wait_class)]
    if not idle:
        return
    one = len(idle) == 1
    others = "; the others are too small" if facts.shares_of_all_waits else ""
    yield Finding(
        "idle_events_in_top",
        f"The top events include {'an idle wait' if one else f'{len(idle)} idle waits'} "
        f"({', '.join(f'`{name}`' for name in idle[:3])}). Ignore {'its share' if one else 'their shares'}{others}.",
        evidence=(Evidence("top_events", tuple(idle)),),
        order=7,
    )


@rule(
    "overlapping_shares",
    "waits_before_the_period",
    of="report",
    needs="DB CPU and foreground waits",
    thresholds={"10 % of DB time": "28 reports: at most 106.2 %, or at least 108.6 %"},
)
def overlapping_shares(facts: ReportFacts) -> Iterator[Finding]:
    """Waits and CPU that add up to more than DB time; waits alone that do (`waits_before_the_period`).

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> from logframe.interval import Interval
        >>> def facts(waited, cpu): return ReportFacts(db_time_s=Interval.exact(600), db_cpu_s=Interval.exact(cpu),
        ...     classes={"User I/O": Interval.exact(waited)})
        >>> for one in (facts(520, 240), facts(650, 54), facts(400, 180)):
        ...     print([(found.name, found.sentence) for found in overlapping_shares(one)])
        [('overlapping_shares', 'CPU time and waits add up to 127 % of DB time, so each share of time is a range.')]
        [('waits_before_the_period', 'Waits alone are 108 % of DB time, so each share of time is a range.')]
        []
    """
    for check in ledger_of(facts).checks.filter(view="what", check="Captured Time", holds=False).iter_rows(named=True):
        yield Finding(
            "overlapping_shares",
            f"The shares contradict each other: the report states {check['printed']:.1f} % of DB time in all, its "
            "parts "
            f"add up to {check['computed']:.1f} %.",
            evidence=(Evidence("foreground_wait_classes"),),
            is_refused=True,
        )
    twice, whole = part_of(facts, _TWICE), facts.whole_s
    if twice is None or twice.share.value > -PART or whole is None or facts.waited_s is None:
        return
    rows = (Evidence("foreground_wait_classes"), Evidence(facts.db_cpu_from, ("DB CPU", "DB time")))
    if facts.has_earlier_waits:
        yield Finding(
            "waits_before_the_period",
            f"Waits alone are {percent((facts.waited_s / whole).value)} of DB time, so each share of time is a range.",
            part=_TWICE,
            next="take the report of the period before, and look for the same waits",
            evidence=rows,
        )
        return
    sampled = ""
    on_cpu, cpu = facts.samples.on_cpu, facts.db_cpu_s
    if on_cpu is not None and facts.elapsed_s is not None and cpu is not None:
        seen = (on_cpu * facts.elapsed_s / whole).value
        if seen < 0.7 * (cpu / whole).value:
            sampled = (
                f"samples show {percent(seen)} of DB time on CPU, the CPU clock {percent((cpu / whole).value)}: "
                "some CPU is probably counted inside waits, too"
            )
    names = ("direct path read", "direct path read temp", "db file parallel read", "SQL*Net more data from client")
    polled = "direct or parallel reads count CPU within the wait" if total(facts.of_events(*names)).value > 0 else ""
    yield Finding(
        "overlapping_shares",
        f"CPU time and waits add up to {percent(1 - twice.share.value)} of DB time, so each share of time is a range.",
        part=_TWICE,
        detail=sampled or polled or "CPU that a process uses within a wait is counted in both",
        next="take an extended SQL trace (event 10046) of one session, and compare CPU and waits call by call",
        evidence=rows,
    )


@rule("interval_too_long", of="report", needs="the period", thresholds={"65 min": "MOS 1359094.1"})
def interval_too_long(facts: ReportFacts) -> Iterator[Finding]:
    """A period above one hour and five minutes: its averages hide its busy hour.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> from logframe.interval import Interval
        >>> print(*(one.sentence for one in interval_too_long(ReportFacts(elapsed_s=Interval.exact(550_844)))))
        The report covers 153 h; its averages hide the busy hours.
        >>> list(interval_too_long(ReportFacts(elapsed_s=Interval.exact(3_613))))
        []
        >>> next_to_each_other = ReportFacts(elapsed_s=Interval.exact(7_213), snapshots=(4, 5))
        >>> print(*(one.next for one in interval_too_long(next_to_each_other)))
        take an ASH report of the busy part of the period: @?/rdbms/admin/ashrpt
    """
    if facts.elapsed_s is None or facts.elapsed_s.lo <= LONG_S or facts.invalid or facts.restarted_at is not None:
        return
    if facts.is_idle and facts.elapsed_s.lo <= _DAY_S:
        return  # no hour was busy
    is_shortest = facts.snapshots is not None and facts.snapshots[1] - facts.snapshots[0] == 1
    part = "take an ASH report of the busy part of the period: @?/rdbms/admin/ashrpt"
    yield Finding(
        "interval_too_long",
        f"The report covers {period_text(facts.elapsed_s.value)}; its averages hide the busy hours.",
        next="" if facts.is_quiet else part if is_shortest else "take reports of single hours: @?/rdbms/admin/awrrpt",
        evidence=(Evidence("snapshots"),),
        is_gate=bool(facts.void) or facts.elapsed_s.lo > _DAY_S,
    )


def period_text(seconds: float) -> str:
    """How long a period was: in minutes, from three hours on in hours, and below two minutes in seconds.

    Examples:
        >>> period_text(11.4), period_text(3_615), period_text(11_000), period_text(550_844)
        ('11 s', '60 min', '3.1 h', '153 h')
    """
    hours = seconds / _HOUR_S
    if seconds < _LEAST_MINUTES * 60:
        return f"{seconds:.0f} s"
    if hours < _LEAST_HOURS:
        return f"{seconds / 60:,.0f} min"
    return f"{hours:.1f} h" if hours < _WHOLE_HOURS else f"{hours:,.0f} h"


@rule("no_period", of="report", needs="a period of no length")
def no_period(facts: ReportFacts) -> Iterator[Finding]:
    """A period of no length: no rate, and no number of active sessions, follows from it.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> from logframe.interval import Interval
        >>> print(*(one.sentence for one in no_period(ReportFacts(elapsed_s=Interval(0, 0, 0.3)))))
        The report covers no time: rates and active sessions cannot be computed.
        >>> list(no_period(ReportFacts(elapsed_s=Interval.exact(60))))
        []
    """
    if facts.elapsed_s is None or facts.elapsed_s.lo > 0:
        return
    yield Finding(
        "no_period",
        "The report covers no time: rates and active sessions cannot be computed.",
        next="take a report of two snapshots: @?/rdbms/admin/awrrpt",
        evidence=(Evidence("info"), Evidence("snapshots")),
        is_gate=True,
    )


@rule("report_is_cut", of="report", needs="a report without instance activity")
def report_is_cut(facts: ReportFacts) -> Iterator[Finding]:
    """A report without the statistics that every whole one has: what it does not hold is not missing time.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> print(*(one.sentence for one in report_is_cut(ReportFacts(is_cut=True))))
        The report ends before its instance activity statistics; later tables are missing.
        >>> list(report_is_cut(ReportFacts()))
        []
    """
    if facts.is_cut and not facts.invalid:
        yield Finding(
            "report_is_cut",
            "The report ends before its instance activity statistics; later tables are missing.",
            next="take the whole report: @?/rdbms/admin/awrrpt",
            evidence=(Evidence("info"),),
            is_gate=True,
        )


@rule("too_few_waits", of="report", needs="the table of top events", thresholds={"30 waits": "a convention"})
def too_few_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Large events with too few waits to call their average a latency.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> def facts(count): return ReportFacts(db_time_s=Interval.exact(60),
        ...     events={"log file sync": Wait(Interval.exact(count), Interval.exact(20))})
        >>> print(*(one.sentence for one in too_few_waits(facts(2))))
        `log file sync` had 2 waits, too few for an average latency.
        >>> list(too_few_waits(facts(2_000)))
        []
    """
    few = [
        (event, wait.waits.value)
        for event, wait in facts.listed_events.items()
        if 0 < wait.waits.hi < LEAST_WAITS and (part := part_of(facts, event)) is not None and part.is_large
    ]
    if not few:
        return
    named = [f"`{event}`" for event, _ in few[:2]]
    more = len(few) - len(named)
    shown = f"{', '.join(named)} and {count_text(more, 'more event')}" if more else " and ".join(named)
    counted = count_text(few[0][1], "wait") if len(few) == 1 else f"fewer than {three(LEAST_WAITS)} waits each"
    yield Finding(
        "too_few_waits",
        f"{shown} had {counted}, too few for an average latency.",
        detail=f"fewer than {LEAST_WAITS} waits are no sample",
        evidence=(Evidence("foreground_events", tuple(event for event, _ in few)),),
        order=8,
    )
