"""Latches, mutexes and locks of the library cache whose waits are longer than holders that run would explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import seconds
from iolab.rules.registry import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts

_LEAST_WAITS: Final = 100
#: A latch is held for microseconds; AWR prints averages of such waits in ms.
_LONG_S: Final = 0.100
#: One event alone may be one holder; two or more point to what all holders share.
_LEAST_EVENTS: Final = 2
#: Waits for a parse, which takes as long as it takes.
_FOR_PARSES: Final = ("cursor: pin s wait on x", "library cache lock", "library cache pin", "library cache load lock")
_SHORT: Final = ("latch", "cursor:", "library cache: mutex", "mutex")


@rule(
    "short_latches_long_waits",
    of="report",
    explains=("Concurrency",),
    needs="foreground events",
    thresholds={"100 ms": "FINDINGS F13", "two events of 100 waits": "FINDINGS F13"},
)
def short_latches_long_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Two or more latch or mutex events whose average wait was 100 ms or longer.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> def facts(seconds): return ReportFacts(db_time_s=Interval.exact(33_153), elapsed_s=Interval.exact(3_566),
        ...     events={name: Wait(Interval.exact(1_070), Interval.exact(seconds))
        ...             for name in ("latch: shared pool", "library cache: mutex X")})
        >>> print(*(one.sentence for one in short_latches_long_waits(facts(217))))
        Waits for 2 kinds of latches and mutexes averaged 100 ms or more (`latch: shared pool` 203 ms), consistent with
        holders that did not run.
        >>> list(short_latches_long_waits(facts(21)))
        []
    """
    if facts.is_idle or facts.whole_s is None:
        return
    long = {
        name: wait
        for name, wait in facts.of_events(*facts.events).items()
        if name.lower().startswith(_SHORT)
        and not name.lower().startswith(_FOR_PARSES)
        and wait.waits.lo >= _LEAST_WAITS
        and wait.avg_s is not None
        and wait.avg_s.lo >= _LONG_S
    }
    if len(long) < _LEAST_EVENTS:
        return
    first, average = next((name, wait.avg_s) for name, wait in long.items() if wait.avg_s is not None)
    yield Finding(
        "short_latches_long_waits",
        f"Waits for {len(long)} kinds of latches and mutexes averaged 100 ms or more (`{first}` "
        f"{seconds(average.value)}), consistent with holders that did not run.",
        next="take an ASH report of the period, and see what the holders did: @?/rdbms/admin/ashrpt",
        evidence=(Evidence("foreground_events", tuple(long)),),
        order=2,
    )
