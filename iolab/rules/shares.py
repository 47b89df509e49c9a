"""Profiles: the parts of DB time of a report, or of the elapsed time of a trace, for a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.times import nanoseconds
from iolab.rules.event_groups import GROUPS
from iolab.rules.load import is_idle_instance, sessions_active
from iolab.rules.profile import groups_of
from iolab.rules.report_facts import total
from iolab.rules.report_figures import report_facts
from iolab.rules.trace_facts import trace_of

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.rules.report_facts import ReportFacts
    from straceparse import StraceLog

#: One row a part, the largest first; ``share`` is of what ``of`` says, ``sessions`` is null for a trace.
PROFILE: Final = pl.Schema(
    {"group": pl.String(), "part": pl.String(), "share": pl.Float64(), "sessions": pl.Float64(), "of": pl.String()}
)
#: The group of time that is no wait and no CPU.
UNACCOUNTED: Final = "unaccounted"
#: Parts below this are one.
_LEAST: Final = 0.005
_MOST_CALLS: Final = 6


def facts_profile(facts: ReportFacts) -> pl.DataFrame:
    """The groups of foreground waits and the CPU of a report, and DB time that is neither (`PROFILE`).

    Without a row where DB time is contradicted, or almost nothing ran.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts, Wait
        >>> from logframe import Interval
        >>> events = {"log file sync": Wait(Interval.exact(100), Interval.exact(30))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(100), db_cpu_s=Interval.exact(20),
        ...     elapsed_s=Interval.exact(100),
        ...     events=events)
        >>> facts_profile(facts).select("group", "share", "sessions").rows()
        [('unaccounted', 0.5, 0.5), ('commit', 0.3, 0.3), ('cpu', 0.2, 0.2)]
    """
    whole, active = facts.whole_s, sessions_active(facts)
    if whole is None or active is None or is_idle_instance(facts) or not (facts.listed_events or facts.classes):
        return pl.DataFrame(schema=PROFILE)
    seconds = {group: total(events).value for group, events in groups_of(facts).items()}
    if facts.db_cpu_s is not None:
        seconds["cpu"] = seconds.get("cpu", 0) + facts.db_cpu_s.value
    is_whole = facts.db_cpu_s is not None and bool(facts.events or not facts.top_events)
    rest = max(0.0, whole.value - sum(seconds.values())) if is_whole else 0.0  # below the top events there are others
    small = [group for group, time in seconds.items() if time / whole.value < _LEAST]
    parts = sum(seconds.pop(group) for group in small)
    rows = [(group, GROUPS[group], time) for group, time in seconds.items()]
    rows += [(UNACCOUNTED, "not accounted for", rest), ("small", "small parts", parts)]
    rows.sort(key=lambda row: -row[2])
    return pl.DataFrame(
        [
            (group, part.removeprefix("waiting for "), time / whole.value, time / whole.value * active.value, "DB time")
            for group, part, time in rows
            if time / whole.value >= _LEAST
        ],
        schema=PROFILE,
        orient="row",
    )


def report_profile(report: AwrReport) -> pl.DataFrame:
    """The parts of DB time of a report (`PROFILE`); without a row where there is no DB time to divide."""
    return facts_profile(report_facts(report))


def trace_time_profile(log: StraceLog) -> pl.DataFrame:
    """The time of the process with most time in I/O by system call, and between calls (`PROFILE`); needs -T."""
    empty = pl.DataFrame(schema=PROFILE)
    if log.kind != "strace":
        return empty
    trace = trace_of(log)
    if not trace.is_timed or trace.window_s is None:
        return empty
    main = trace.main_process()
    window = main.window_s
    if window is None:
        return empty
    spent = main.by_name.select("name", seconds=nanoseconds("elapsed") / 1e9)
    inside = float(spent.get_column("seconds").sum())
    if inside > window * 1.001:
        return empty
    top = list(spent.head(_MOST_CALLS).iter_rows())
    others = inside - sum(seconds for _, seconds in top)
    rows = [*top, ("other calls", others), ("between calls", max(0.0, window - inside))]
    rows.sort(key=lambda row: -row[1])
    kept = [
        (name, name, seconds / window, None, "elapsed time") for name, seconds in rows if seconds / window >= _LEAST
    ]
    return pl.DataFrame(kept, schema=PROFILE, orient="row")
