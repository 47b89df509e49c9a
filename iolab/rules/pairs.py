"""Two reports of one instance: load, rate and latency, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import percent, three, times_as
from iolab.rules.writes import log_write
from iolab.time_ledger.reports import ledger_of
from logframe.errors import LogError
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts

#: Parts of a change below this are not named.
_LEAST_PART: Final = 0.05
_MOST_PARTS: Final = 3
#: Waits of this much of the load are reported where one takes this many times as long, or as short.
_LEAST_WEIGHT: Final = 0.10
_LONGER: Final = 1.5
_MOST_NAMED: Final = 4
_MORE: Final = "compare the statements that have more of it in the second period, and their plans"
#: Values of this many characters may be cut, or be one of a list.
_CUT_FROM: Final = 16
#: Findings that a comparison of two logs says itself.
OF_COMPARISONS: Final = ("load", "load_or_latency", "settings_changed")


def load_change(
    before: ReportFacts, after: ReportFacts, *, tables: tuple[str, str] = ("info", "foreground_events")
) -> Iterator[Finding]:
    """How the time changed between two reports, and which parts made most of it: more of them, or longer.

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
        DB time rose from 7.09 to 14.2 sessions active (+100 %); 77 % of the change is from `db file sequential read`.
        `db file sequential read` made up 77 % of the increase in DB time: its waits occurred 1.49 times as often,
        and each took 1.39 times as long.
    """
    try:
        change = ledger_of(before).compare(ledger_of(after))
    except LogError:
        return
    yield Finding(
        "load",
        change.sentence,
        evidence=(Evidence(tables[0]),),
        order=0,
    )
    what = "increase" if change.change.value > 0 else "decrease"
    whole = change.base if change.base == "DB time" else "the total"
    total = max(change.a.value, change.b.value)
    rows = change.parts.filter(pl.col("view") == "what", pl.col("status") == "both", pl.col("kind") != "contains")
    inner = set(rows.get_column("parent").drop_nulls())
    named = 0
    for row in rows.filter(~pl.col("part").is_in(list(inner))).iter_rows(named=True):
        counts = [
            (row[f"count_{side}"] or 0) * (one.elapsed_s.value if one.elapsed_s is not None else 1)
            for side, one in (("a", before), ("b", after))
        ]
        if max(counts) < LEAST_WAITS and row["kind"] != "cpu":
            continue
        often = longer = 0.0
        if row["by_count"] is not None and row["a"] > 0 and min(counts) >= LEAST_WAITS:
            often = row["count_b"] / row["count_a"]
            longer = row["b"] / row["a"] / often
        changed = f"{times_as(often, 'often', 'less often')}, and each took {times_as(longer, 'long', 'less time')}"
        share = row["share"] or 0.0
        if change.is_shared and share >= _LEAST_PART and named < _MOST_PARTS:
            named += 1
            ratios = f"its waits occurred {changed}"
            moved = f"it went from {three(row['a'])} to {three(row['b'])} {change.unit}"
            of_it = percent(share) if share <= 1 else "more than all"
            writes = [log_write(one) for one in (before, after) if row["name"] == "log file sync"]
            caused = (
                f"; {writes[0]} before, {writes[1].removeprefix('a log write took ')} after"
                if writes and all(writes)
                else ""
            )
            yield Finding(
                "load_or_latency",
                f"`{row['name']}` made up {of_it} of the {what} in {whole}: {ratios if often else moved}{caused}.",
                Interval.exact(min(share, 1.0)),
                f"the {what}",
                detail="more waits that each take longer are consistent with a queue; the report does not show the "
                "device's queue"
                if min(often, longer) > 1
                else "",
                next="" if longer >= _LONGER else _MORE,
                evidence=(Evidence(tables[1] if row["kind"] != "cpu" else "time_model", (row["name"],)),),
            )
        elif max(row["a"], row["b"]) >= _LEAST_WEIGHT * total and often and not 1 / _LONGER < longer < _LONGER:
            yield Finding(
                "load_or_latency",
                f"`{row['name']}` occurred {changed}.",
                Interval.exact(min(1.0, max(row["a"], row["b"]) / total)),
                "the larger of the two loads",
                evidence=(Evidence(tables[1], (row["name"],)),),
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
        evidence=(Evidence(table, tuple(changed)),),
        order=3,
    )
