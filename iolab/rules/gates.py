"""Gates: is the evidence of a report fit for the sentences that would follow?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, share_text, whole_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.report_facts import total
from logframe.interval import Interval, intersect
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.rules.report_facts import ReportFacts

#: The default interval and five minutes.  Source: MOS 1359094.1, "no longer than 1 hour".
LONG_S: Final = 3_900
#: Sums of 28 reports lie in 97.2 to 106.2 %, at most 80.3 %, or at least 108.6 %.
OVERLAP: Final = 1.10
#: Below so much DB time sums are of rounded seconds.
LEAST_DB_TIME_S: Final = 60
#: Own sum and the one that the report prints may differ by so much, in per cent of DB time.
_SLACK_PCT: Final = 0.2
#: Sessions at the snapshots are not the most there were between them.
_SESSIONS_FACTOR: Final = 1.5
#: Fewer waits are no sample of a latency.
LEAST_WAITS: Final = 30
_HOUR_S: Final = 3_600
#: A period is given in hours from so many on, in whole ones from so many.
_LEAST_HOURS: Final = 3
_WHOLE_HOURS: Final = 20
_DAY_S: Final = 86_400


def impossible_figure(facts: ReportFacts) -> Iterator[Finding]:
    """Figures that contradict each other: CPU above DB time, two statements of DB time, a class above all sessions.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> time, cpu = Interval(617.8, 617.7, 617.9), Interval(1186.7, 1186.6, 1186.8)
        >>> print(*(one.sentence for one in impossible_figure(ReportFacts(db_time_s=time, db_cpu_s=cpu))))
        DB CPU is 1,187 s and DB time 618 s: they contradict each other, and neither is used for a share.
        >>> list(impossible_figure(ReportFacts(db_time_s=time, db_cpu_s=time * 1.04)))  # two clocks may differ so much
        []
    """
    if facts.cpu_contradicts and facts.db_cpu_s is not None and facts.db_time_s is not None:
        yield Finding(
            "impossible_figure",
            f"DB CPU is {whole_text(facts.db_cpu_s, 's')} and DB time {whole_text(facts.db_time_s, 's')}: they "
            "contradict each other, and neither is used for a share.",
            why="CPU of foreground processes is a part of their DB time; work before the first call of a session is "
            "counted in one only",
            refuted_by="the same figures in agreement in the next report",
            evidence=(Evidence(facts.db_cpu_from, ("DB CPU", "DB time")),),
            is_gate=True,
        )
    if facts.other_db_time is not None and facts.db_time_s is not None:
        where, other = facts.other_db_time
        yield Finding(
            "impossible_figure",
            f"DB time is {whole_text(facts.db_time_s, 's')} in the head and {whole_text(other, 's')} in {where}, as "
            "in parts of two reports: no share is computed.",
            why="shares of one DB time applied to the times of another are of nothing",
            refuted_by="one report, whole",
            evidence=(Evidence("info"), Evidence("foreground_wait_classes")),
            is_gate=True,
        )
        for name, what in (("load", "sessions active"), ("overlapping_shares", "do shares add up")):
            yield Finding(
                name,
                f"{what[0].upper()}{what[1:]}: the parts do not belong together.",
                collect="the whole report of one period",
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
                f"Class {name} is printed with {whole_text(time, 's')}, {whole_text(at_once)} sessions at a time, with "
                f"{shown} at the snapshots: it is used for no share.",
                why="a session waits for one thing at a time",
                refuted_by="the same counter within the number of sessions in the next report",
                evidence=(Evidence("wait_classes", (name,)), Evidence("snapshots")),
                is_gate=True,
            )


def idle_events_in_top(facts: ReportFacts) -> Iterator[Finding]:
    """Idle waits among the top events: their shares are of nothing.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts, TopEvent
        >>> top = (TopEvent("LGWR worker group idle", None, None, None), TopEvent("DB CPU", None, None, None))
        >>> print(*(one.sentence for one in idle_events_in_top(ReportFacts(top_events=top))))
        1 of the 2 top events is an idle wait (`LGWR worker group idle`): its share is of nothing.
        >>> list(idle_events_in_top(ReportFacts(top_events=top[1:])))
        []
    """
    idle = [one.event for one in facts.top_events if is_idle(one.event, one.wait_class)]
    if not idle:
        return
    one = len(idle) == 1
    others = "; the shares of the others are too small" if facts.shares_of_all_waits else ""
    yield Finding(
        "idle_events_in_top",
        f"{len(idle)} of the {len(facts.top_events)} top events {'is an idle wait' if one else 'are idle waits'} "
        f"({', '.join(f'`{name}`' for name in idle[:3])}): {'its share is' if one else 'their shares are'} of nothing"
        f"{others}.",
        why="a process that waits for work is not part of DB time",
        refuted_by="another wait class in V$EVENT_NAME of this release",
        evidence=(Evidence("top_events", tuple(idle)),),
        is_gate=True,
    )


def captured(facts: ReportFacts) -> tuple[Interval, bool] | None:
    """Waits and CPU as a share of DB time, and whether the report's own sum contradicts it; None without DB time."""
    whole, waited, cpu = facts.whole_s, facts.waited_s, facts.db_cpu_s
    if whole is None or waited is None or cpu is None or whole.lo < LEAST_DB_TIME_S:
        return None
    own = (waited + cpu) / whole
    if facts.captured_pct is None:
        return None if facts.is_cut else (own, False)
    printed = facts.captured_pct / 100
    slack = _SLACK_PCT / 100
    if own.lo - slack > printed.hi or own.hi + slack < printed.lo:
        return own, True
    near = Interval(own.value, own.lo - slack, own.hi + slack)
    return intersect([near, printed]), False


def overlapping_shares(facts: ReportFacts) -> Iterator[Finding]:
    """Waits and CPU that add up to more than DB time; waits alone that do (`waits_before_the_period`).

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> def facts(waited, cpu): return ReportFacts(db_time_s=Interval.exact(600), db_cpu_s=Interval.exact(cpu),
        ...     classes={"User I/O": Interval.exact(waited)})
        >>> for one in (facts(520, 240), facts(650, 14), facts(400, 180)):
        ...     print([(found.name, found.sentence) for found in overlapping_shares(one)])
        [('overlapping_shares', 'Waits and CPU add up to 126.7 % of DB time: up to 26.7 % is CPU inside waits.')]
        [('waits_before_the_period', 'Waits alone are 108.3 % of DB time: a wait is counted whole when it ends, also one
        that
        began before the period.')]
        []
    """
    found = captured(facts)
    if found is None or facts.whole_s is None or facts.waited_s is None or facts.db_cpu_s is None:
        return
    sum_, contradicts = found
    rows = (Evidence("foreground_wait_classes"), Evidence(facts.db_cpu_from, ("DB CPU", "DB time")))
    if contradicts and facts.captured_pct is not None:
        yield Finding(
            "overlapping_shares",
            f"Whether shares add up: own sum {share_text(sum_)}, printed {share_text(facts.captured_pct / 100)}.",
            evidence=rows,
            is_refused=True,
        )
        return
    if facts.has_earlier_waits:
        waited = facts.waited_s / facts.whole_s
        yield Finding(
            "waits_before_the_period",
            f"Waits alone are {share_text(waited)} of DB time: a wait is counted whole when it ends, also one that "
            "began before the period.",
            why="shares of long waits are at most what is printed",
            refuted_by="the report of the period before shows the same waits in progress",
            evidence=rows,
            is_gate=True,
        )
        return
    excess = sum_ - 1
    if sum_.lo <= OVERLAP:
        return
    reads = "; direct or parallel reads count CPU within the wait" if _polled(facts) else ""
    yield Finding(
        "overlapping_shares",
        f"Waits and CPU add up to {share_text(sum_)} of DB time: up to "
        f"{share_text(Interval(excess.value, excess.value, excess.value))} is CPU inside waits.",
        why="CPU that a process uses within a wait is counted in both, so shares say the order, not the parts" + reads,
        refuted_by="extended traces of sessions whose CPU and waits do not exceed their calls",
        evidence=rows,
        is_gate=True,
    )


def _polled(facts: ReportFacts) -> bool:
    names = ("direct path read", "direct path read temp", "db file parallel read", "SQL*Net more data from client")
    return total(facts.of_events(*names)).value > 0


def interval_too_long(facts: ReportFacts) -> Iterator[Finding]:
    """A period above one hour and five minutes: its averages hide any hour that was different.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> print(*(one.sentence for one in interval_too_long(ReportFacts(elapsed_s=Interval.exact(550_844)))))
        The report covers 153 h: averages over it hide any hour that was different.
        >>> list(interval_too_long(ReportFacts(elapsed_s=Interval.exact(3_613))))
        []
    """
    if facts.elapsed_s is None or facts.elapsed_s.lo <= LONG_S:
        return
    yield Finding(
        "interval_too_long",
        f"The report covers {period_text(facts.elapsed_s.value)}: averages over it hide any hour that was different.",
        why="rates and latencies are means of the whole period",
        refuted_by="reports of single hours that agree",
        evidence=(Evidence("snapshots"),),
        is_gate=facts.elapsed_s.lo > _DAY_S,
    )


def period_text(seconds: float) -> str:
    """How long a period was: in minutes, from three hours on in hours.

    Examples:
        >>> period_text(3_615), period_text(11_000), period_text(550_844)
        ('60 min', '3.1 h', '153 h')
    """
    hours = seconds / _HOUR_S
    if hours < _LEAST_HOURS:
        return f"{seconds / 60:,.0f} min"
    return f"{hours:.1f} h" if hours < _WHOLE_HOURS else f"{hours:,.0f} h"


def no_period(facts: ReportFacts) -> Iterator[Finding]:
    """A period of no length: no rate, and no number of active sessions, follows from it.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> print(*(one.sentence for one in no_period(ReportFacts(elapsed_s=Interval(0, 0, 0.3)))))
        The report covers a period of 0 min: nothing is said a second, and no sessions active.
        >>> list(no_period(ReportFacts(elapsed_s=Interval.exact(60))))
        []
    """
    if facts.elapsed_s is None or facts.elapsed_s.lo > 0:
        return
    yield Finding(
        "no_period",
        f"The report covers a period of {period_text(facts.elapsed_s.value)}: nothing is said a second, and no "
        "sessions active.",
        why="rates are of the time between two snapshots",
        refuted_by="the times of the two snapshots",
        evidence=(Evidence("info"), Evidence("snapshots")),
        is_gate=True,
    )


def report_is_cut(facts: ReportFacts) -> Iterator[Finding]:
    """A report without the statistics that every whole one has: what it does not hold is not missing time.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> print(*(one.sentence for one in report_is_cut(ReportFacts(is_cut=True))))
        The report has no instance activity statistics, as one that is cut: nothing is said of what it does not hold.
        >>> list(report_is_cut(ReportFacts()))
        []
    """
    if facts.is_cut:
        yield Finding(
            "report_is_cut",
            "The report has no instance activity statistics, as one that is cut: nothing is said of what it does not "
            "hold.",
            why="a table that is missing, or its last rows, could change the order of what is said",
            refuted_by="the whole report",
            evidence=(Evidence("info"),),
            is_gate=True,
        )


def too_few_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Top events with too few waits, or too little time, to call their average a latency.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts, TopEvent
        >>> top = TopEvent("log file sync", "Commit", Interval.exact(2), Interval(0.04, 0, 0.5))
        >>> print(*(one.sentence for one in too_few_waits(ReportFacts(db_time_s=Interval.exact(1.8),
        ...     top_events=(top,)))))
        `log file sync` had 2 waits, too few to call their average a latency.
        >>> many = TopEvent("log file sync", "Commit", Interval.exact(2_000), Interval(8.0, 7.5, 8.5))
        >>> list(too_few_waits(ReportFacts(db_time_s=Interval.exact(60), top_events=(many,))))
        []
    """
    few = [
        (one.event, one.waits.value)
        for one in facts.top_events
        if one.waits is not None and 0 < one.waits.hi < LEAST_WAITS and not is_idle(one.event, one.wait_class)
    ]
    if not few:
        return
    named = [f"`{event}`" for event, _ in few[:2]]
    more = len(few) - len(named)
    shown = f"{', '.join(named)} and {count_text(more, 'more event')}" if more else " and ".join(named)
    counted = count_text(few[0][1], "wait") if len(few) == 1 else f"fewer than {LEAST_WAITS} waits each"
    yield Finding(
        "too_few_waits",
        f"{shown} had {counted}, too few to call their average a latency.",
        why=f"fewer than {LEAST_WAITS} waits are no sample",
        evidence=(Evidence("top_events", tuple(event for event, _ in few)),),
        order=8,
    )
