"""Two reports of one instance: load, rate and latency, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from iolab.metrics.formatting import count_text, figure_text, share_text
from iolab.rules.finding import Evidence, Finding
from iolab.rules.gates import LEAST_WAITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts
    from logframe.interval import Interval

#: A change of load below this is not decomposed.
_LEAST_CHANGE: Final = 0.10
#: Parts of a change below this are not named.
_LEAST_PART: Final = 0.05
_MOST_PARTS: Final = 3
#: Waits of so much of the load are said where one takes so many times as long, or as short.
_LEAST_WEIGHT: Final = 0.10
_LONGER: Final = 1.5
_MOST_NAMED: Final = 4
#: Values of so many characters may be cut, or be one of a list.
_CUT_FROM: Final = 16
#: Lengths of the periods that compare.
_LENGTHS: Final = 2.0


def load_change(
    before: ReportFacts, after: ReportFacts, *, tables: tuple[str, str] = ("info", "foreground_events")
) -> Iterator[Finding]:
    """How the sessions active changed between two reports, and which waits made most of it: more of them, or longer.

    Args:
        before: the facts of the first report.
        after: those of the second.
        tables: that have the periods and the waits.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(elapsed, time, waits, waited): return ReportFacts(elapsed_s=Interval.exact(elapsed),
        ...     db_time_s=Interval.exact(time),
        ...     events={"db file sequential read": Wait(Interval.exact(waits), Interval.exact(waited))})
        >>> first, second = facts(900, 6_381, 520_240, 4_567), facts(898.8, 12_727, 776_224, 9_455)
        >>> for one in load_change(first, second): print(one.sentence)
        Sessions active went from 7.09 to 14.16: 1.997 times as many.
        77.0 % of the increase was `db file sequential read`: 1.494 times as many waits, each 1.388 times as long.
        >>> list(load_change(first, facts(9_000, 63_810, 1, 1)))  # periods of other lengths
        []
    """
    sessions = [facts.sessions_active for facts in (before, after)]
    if before.elapsed_s is None or after.elapsed_s is None or sessions[0] is None or sessions[1] is None:
        return
    lengths = after.elapsed_s.value / before.elapsed_s.value
    if not 1 / _LENGTHS < lengths < _LENGTHS or sessions[0].lo <= 0:
        return
    first, second = sessions[0], sessions[1]
    ratio = second / first
    yield Finding(
        "load",
        f"Sessions active went from {figure_text(first)} to {figure_text(second)}: {figure_text(ratio)} times as many.",
        why="averages of two periods of like length, in the order of time",
        refuted_by="single hours within the periods",
        evidence=(Evidence(tables[0]),),
        order=0,
    )
    change, rates = second - first, _rates(before, after)
    if abs(ratio.value - 1) < _LEAST_CHANGE or change.lo * change.hi <= 0:
        yield from _other_changes(rates, tables[1])
        return
    what = "increase" if change.value > 0 else "decrease"
    parts = []
    for name, rate in rates.items():
        share = rate.change / change
        if share.lo >= _LEAST_PART:
            parts.append((share, name, rate.often, rate.longer))
    parts.sort(key=lambda part: -part[0].value)
    for share, name, often, longer in parts[:_MOST_PARTS]:
        queue = often.lo > 1 and longer.lo > 1
        yield Finding(
            "load_or_latency",
            f"{share_text(share)} of the {what} was `{name}`: {figure_text(often)} times as many waits, each "
            f"{figure_text(longer)} times as long.",
            share.capped(1),
            f"the {what}",
            why="longer with more of them, as in a queue; the report has no queue of the device"
            if queue
            else "sessions waiting = waits a second x their average",
            refuted_by="`iostat` of both periods",
            evidence=(Evidence(tables[1], (name,)),),
        )
    if before.db_cpu_s is not None and after.db_cpu_s is not None:
        cpu = after.db_cpu_s / after.elapsed_s - before.db_cpu_s / before.elapsed_s
        share = cpu / change
        if share.lo >= _LEAST_PART:
            yield Finding(
                "load_or_latency",
                f"{share_text(share)} of the {what} was CPU: {figure_text(before.db_cpu_s / before.elapsed_s)} to "
                f"{figure_text(after.db_cpu_s / after.elapsed_s)} CPUs.",
                share.capped(1),
                f"the {what}",
                why="CPU of foreground processes",
                refuted_by="CPU a transaction of both periods",
                evidence=(Evidence("time_model", ("DB CPU",)),),
            )
    named = {name for _, name, _, _ in parts[:_MOST_PARTS]}
    yield from _other_changes({name: rate for name, rate in rates.items() if name not in named}, tables[1])


class _Rate(NamedTuple):
    """What became of the waits of an event.

    Attributes:
        change: of the sessions that wait.
        often: ratio of the waits a second.
        longer: ratio of the averages.
        weight: part of the sessions active, in the report where it is larger.
    """

    change: Interval
    often: Interval
    longer: Interval
    weight: Interval


def _rates(before: ReportFacts, after: ReportFacts) -> dict[str, _Rate]:
    """The events that both reports have, and were waited for often enough."""
    found: dict[str, _Rate] = {}
    actives = [facts.sessions_active for facts in (before, after)]
    if before.elapsed_s is None or after.elapsed_s is None or actives[0] is None or actives[1] is None:
        return found
    for name, wait in after.events.items():
        other = before.events.get(name)
        if other is None or min(wait.waits.lo, other.waits.lo) < LEAST_WAITS:
            continue
        if other.time_s.lo > 0 and wait.avg_s is not None and other.avg_s is not None:
            waiting = (other.time_s / before.elapsed_s, wait.time_s / after.elapsed_s)
            often = (wait.waits / after.elapsed_s) / (other.waits / before.elapsed_s)
            weights = [one / active for one, active in zip(waiting, actives, strict=True) if active and active.lo > 0]
            weight = max(weights, key=lambda one: one.value)
            found[name] = _Rate(waiting[1] - waiting[0], often, wait.avg_s / other.avg_s, weight)
    return found


def _other_changes(rates: dict[str, _Rate], table: str) -> Iterator[Finding]:
    """Large waits that became longer or shorter, whatever the load did: fewer of them may hide it, or other parts."""
    found = [
        (rate.weight, name, rate.often, rate.longer)
        for name, rate in rates.items()
        if rate.weight.lo >= _LEAST_WEIGHT and (rate.longer.lo >= _LONGER or rate.longer.hi <= 1 / _LONGER)
    ]
    for weight, name, often, longer in sorted(found, key=lambda one: -one[0].value)[:_MOST_PARTS]:
        yield Finding(
            "load_or_latency",
            f"`{name}` was waited for {figure_text(often)} times as often, and {figure_text(longer)} times as long.",
            weight.capped(1),
            "the larger of the two loads",
            why="the load alone does not show it: sessions waiting = waits a second x their average",
            refuted_by="`iostat` of both periods",
            evidence=(Evidence(table, (name,)),),
        )


def _differ(one: str, two: str) -> bool:
    """Are two printed values of a parameter certainly not the same?"""
    short, long = sorted((one, two), key=len)
    return one != two and not (len(short) >= _CUT_FROM and short in long)


def settings_changed(before: ReportFacts, after: ReportFacts, *, table: str = "parameters") -> Iterator[Finding]:
    """Parameters that both reports list with different values; between the periods, never because of them.

    Text reports cut long values, and print a list on several lines: a part of the other value is no change.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> one, two = ReportFacts(parameters={"a": "1", "b": "2"}), ReportFacts(parameters={"a": "1", "b": "3"})
        >>> print(*(found.sentence for found in settings_changed(one, two)))
        1 parameter of 2 changed between the reports: `b` 2 to 3.
        >>> list(settings_changed(one, one))
        []

    >>> path = "/u00/app/oracle/admin/DBM11203/adump"
    >>> list(settings_changed(ReportFacts(parameters={"a": path}), ReportFacts(parameters={"a": path[:-3]})))
    []
    """
    both = [name for name in before.parameters if name in after.parameters]
    changed = [name for name in both if _differ(before.parameters[name], after.parameters[name])]
    if not changed:
        return
    listed = ", ".join(
        f"`{name}` {before.parameters[name]} to {after.parameters[name]}" for name in changed[:_MOST_NAMED]
    )
    more = f", {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
    yield Finding(
        "settings_changed",
        f"{count_text(len(changed), 'parameter')} of {len(both)} changed between the reports: {listed}{more}.",
        why="what changed with them is not shown to be their effect",
        evidence=(Evidence(table, tuple(changed)),),
        order=3,
    )
