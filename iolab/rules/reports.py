"""The findings of AWR and Statspack reports, and of a pair of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.comparison.report_sets import IDENTITIES
from iolab.metrics.formatting import count_text
from iolab.rules import (
    ash,
    compare_report,
    concurrency,
    exadata,
    fragments,
    gates,
    latency,
    load,
    pairs,
    profile,
    reads,
    writes,
)
from iolab.rules.finding import NOTHING, Evidence, Finding
from iolab.rules.report_figures import report_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport

#: Rules of a report with a period, gates first.
_RULES: Final = (
    gates.impossible_figure,
    gates.overlapping_shares,
    gates.idle_events_in_top,
    gates.no_period,
    gates.report_is_cut,
    gates.interval_too_long,
    load.load,
    load.instance_idle,
    load.db_time_unaccounted,
    load.cpu_is_the_time,
    load.parse_time,
    load.host_busy_with_others,
    load.host_memory_exhausted,
    concurrency.short_latches_long_waits,
    writes.all_io_slow,
    profile.time_profile,
    profile.lock_waits,
    profile.top_sql_share,
    profile.resource_manager,
    writes.log_writer_busy,
    writes.small_log_writes_slow,
    writes.commit_beyond_write,
    writes.writers_behind,
    writes.log_space,
    writes.remote_redo,
    reads.io_by_kind,
    reads.direct_path_sync_or_async,
    reads.read_size,
    reads.buffered_or_direct_path,
    reads.logical_io,
    latency.read_latency_class,
    latency.two_modes,
    gates.too_few_waits,
)
#: Rules of reports that have no single period.
_OTHERS: Final = {
    "ash": ash.ash_findings,
    "addm": ash.addm_findings,
    "awr_diff": compare_report.compare_findings,
    "fragment": fragments.fragment_findings,
}
#: Kinds of reports whose figures are of one period.
_PERIODS: Final = ("awr", "awr_pdb", "awr_global", "statspack")


def report_findings(report: AwrReport) -> Iterator[Finding]:
    """The findings of a report: of one period, of two (compare-period), of samples (ASH) or of ADDM."""
    other = _OTHERS.get(report.kind)
    if other is not None:
        yield from other(report)
    if report.kind not in _PERIODS:
        if other is None:
            yield Finding(NOTHING, "No rule is about this kind of report.", caveat="its tables are below")
        return
    facts = report_facts(report)
    for rule in _RULES:
        yield from rule(facts)
    yield from fragments.findings_without_db_time(report, facts)
    if not load.is_idle_instance(facts):
        yield from exadata.exadata(facts.activity)
    yield from _not_read(report)


def _not_read(report: AwrReport) -> Iterator[Finding]:
    """Lines of tables that were not read, at the foot."""
    unread = report.diagnostics.filter(report.diagnostics["kind"] == "unparsed")
    if unread.height:
        were, first = "was" if unread.height == 1 else "were", unread.item(0, "line")
        yield Finding(
            "lines_not_read",
            f"{count_text(unread.height, 'line')} of tables {were} not read; the first is line {first:,}.",
            why="they are in the diagnostics",
            evidence=(Evidence("diagnostics", lines=tuple(unread["line"].head(5))),),
            order=9,
        )


def report_pair_findings(first: tuple[str, AwrReport], second: tuple[str, AwrReport]) -> Iterator[Finding]:
    """What changed between two reports with a period, in the order of time; a gate for two databases."""
    if first[1].kind not in _PERIODS or second[1].kind not in _PERIODS:
        return
    different = _identity(first[1], second[1])
    if different:
        what, one, two = different
        yield Finding(
            "evidence_mismatch",
            f"The {what} differs: {one} in {first[0]}, {two} in {second[0]}; no change is computed.",
            why="the difference of two systems is no change of one",
            refuted_by="two reports of one instance",
            evidence=(Evidence("info"),),
            is_gate=True,
        )
        return
    if _overlap(first[1], second[1]):
        yield Finding(
            "evidence_mismatch",
            f"{first[0]} and {second[0]} are of one instance and of periods that overlap; no change is computed.",
            why="a change is from one period to a later one",
            evidence=(Evidence("info"),),
            is_gate=True,
        )
        return
    begins = [one[1].info.begin_time for one in (first, second)]
    if begins[0] is not None and begins[1] is not None and begins[1] < begins[0]:
        first, second = second, first
    before, after = report_facts(first[1]), report_facts(second[1])
    yield from pairs.load_change(before, after)
    yield from pairs.settings_changed(before, after)


def _overlap(one: AwrReport, two: AwrReport) -> bool:
    """Do the periods of two reports overlap?  False where a report does not say when it begins and ends."""
    begin, end, other_begin, other_end = (
        moment for info in (one.info, two.info) for moment in (info.begin_time, info.end_time)
    )
    if begin is None or end is None or other_begin is None or other_end is None:
        return False
    return begin < other_end and other_begin < end


def _identity(one: AwrReport, two: AwrReport) -> tuple[str, object, object] | None:
    """What says that two reports are not of one instance: what it is, and its two values; None where nothing does."""
    for field, what in IDENTITIES.items():
        values = (getattr(one.info, field), getattr(two.info, field))
        if None not in values and str(values[0]).lower() != str(values[1]).lower():
            return what, *values
    return None
