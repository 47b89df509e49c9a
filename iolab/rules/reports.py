"""The findings of AWR and Statspack reports, and of a pair of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.rules import exadata, gates, latency, load, pairs, profile, reads, writes
from iolab.rules.report_figures import report_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from iolab.rules.finding import Finding

#: Rules of a report with a period, gates first.
_RULES: Final = (
    gates.impossible_figure,
    gates.overlapping_shares,
    gates.idle_events_in_top,
    gates.interval_too_long,
    load.load,
    load.instance_idle,
    load.db_time_unaccounted,
    load.cpu_is_the_time,
    load.parse_time,
    load.host_busy_with_others,
    load.host_memory_exhausted,
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
#: Kinds of reports whose figures are of one period.
_PERIODS: Final = ("awr", "awr_pdb", "awr_global", "statspack")


def report_findings(report: AwrReport) -> Iterator[Finding]:
    """The findings of a report with a period; of ASH, ADDM and compare-period reports none."""
    if report.kind not in _PERIODS:
        return
    facts = report_facts(report)
    for rule in _RULES:
        yield from rule(facts)
    if not load.is_idle_instance(facts):
        yield from exadata.exadata(facts.activity)


def report_pair_findings(first: tuple[str, AwrReport], second: tuple[str, AwrReport]) -> Iterator[Finding]:
    """What changed from the first of two reports with a period to the second."""
    if first[1].kind not in _PERIODS or second[1].kind not in _PERIODS:
        return
    before, after = report_facts(first[1]), report_facts(second[1])
    yield from pairs.load_change(before, after)
    yield from pairs.settings_changed(before, after)
