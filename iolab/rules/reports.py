"""The findings of AWR and Statspack reports, and of a pair of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.report_sets import IDENTITIES, is_same
from iolab.metrics.formatting import MOST_TEXT, count_text, short_text
from iolab.metrics.report_figures import report_facts
from iolab.rules import (
    ash,
    compare_report,
    gates,
    latency,
    load,
    pairs,
    profile,
    reads,
    report_causes,
    report_places,
    writes,
)
from iolab.rules.exadata import exadata
from iolab.rules.finding import Evidence, Finding, platform_steps
from iolab.rules.phrases import percent
from iolab.rules.registry import apply_rules, rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.parts import UNKNOWN
from iolab.time_ledger.reports import CPU, report_ledgers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport

#: Modules whose rules are registered by their import.
_MODULES: Final = (ash, compare_report, gates, latency, load, profile, reads, report_causes, report_places, writes)
#: Kinds of reports whose figures are of one period.
_PERIODS: Final = ("awr", "awr_pdb", "awr_global", "statspack")


def report_findings(report: AwrReport) -> Iterator[Finding]:
    """The findings of a report: of one period, of two (compare-period), of samples (ASH) or of ADDM.

    The parts of its time are those of its ledger (`iolab.time_ledger.reports`).
    """
    if report.kind == "ash":
        yield from ash.ash_findings(report)
    elif report.kind == "addm":
        yield from ash.addm_findings(report)
    elif report.kind in _PERIODS:
        facts = report_facts(report)
        yield from apply_rules("report", facts)
        if not facts.is_idle and not facts.void:
            yield from apply_rules("period", report)
    else:
        yield from apply_rules(report.kind, report)
    yield from apply_rules("any report", report)


def other_steps(report: AwrReport) -> dict[str, str]:
    r"""The commands of Statspack, and those of the platform, in place of those of AWR and Linux.

    Examples:
        >>> from types import SimpleNamespace
        >>> other_steps(SimpleNamespace(kind="statspack", info=SimpleNamespace(platform="AIX-Based Systems (64-bit)"))
        ...     )["iostat -xt( 5)?"]
        'iostat -D 5'
    """
    found = {}
    if report.kind == "statspack":
        found["take an ASH report.*"] = "take an extended SQL trace (event 10046) of one of the sessions"
        found["see the blocking sessions in an ASH report.*"] = "see BLOCKING_SESSION of V$$SESSION while it lasts"
        found["@[?]/rdbms/admin/awrrpt"] = "@?/rdbms/admin/spreport"
    if report.kind in {"ash", "statspack"}:
        found[": the blocking sessions in an ASH report.*"] = ""
    if report.kind == "ash":
        found["take an ASH report of the period [(].*[)]: its object is the segment"] = "see it in Top DB Objects"
    has_events = report.kind.startswith("awr") and "top_events" in report
    if has_events and any(str(event).startswith("cell ") for event in report["top_events"].get_column("event")):
        found["iostat -xt 5"] = "cellcli -e list metriccurrent where objectType = 'CELLDISK'"
    return found | platform_steps(report.info.platform or "")


@rule("flash_hits", "flash_latency", "offload", of="period", needs="instance activity of Exadata")
def flash(report: AwrReport) -> Iterator[Finding]:
    """Flash cache and offload by the statistics of the instance."""
    yield from exadata(report_facts(report).activity)


@rule("lines_not_read", of="any report", needs="lines of tables that could not be read")
def lines_not_read(report: AwrReport) -> Iterator[Finding]:
    """Lines of tables that were not read, at the foot."""
    unread = report.diagnostics.filter(report.diagnostics["kind"] == "unparsed")
    if unread.height:
        were, first = "was" if unread.height == 1 else "were", unread.row(0, named=True)
        text = short_text(first["text"], MOST_TEXT)
        yield Finding(
            "lines_not_read",
            f"{count_text(unread.height, 'line')} of tables {were} not read; the first is line {first['line']:,}: "
            f"`{text}`.",
            next="see the diagnostics of the report: iolab show --tables",
            evidence=(Evidence("diagnostics", lines=tuple(unread["line"].head(5))),),
            order=9,
        )


def _of_second(report: AwrReport) -> str:
    """The total of another report of the file, and its largest part."""
    lead = next((one for one in report_ledgers(report) if not one.void and one.total is not None), None)
    if lead is None or lead.total is None or lead.base != "DB time" or "what" not in lead.views:
        return ""
    parents = pl.col("part").is_in(lead.parts().get_column("parent").drop_nulls().to_list())
    is_named = ~pl.col("kind").is_in([*UNKNOWN, "counted_twice"])
    rows = lead.parts().filter(~parents & is_named, pl.col("share_lo") >= PART).sort("share_lo", descending=True)
    name, share = rows.select("name", "share").row(0) if rows.height else ("", 0.0)
    named = f", {percent(share)} of it {'CPU' if name == CPU else f'`{name}`'}" if name else ""
    return f", with {lead.total.value:,.0f} s of DB time{named}"


@rule("several_reports", of="any report", needs="a file of several reports")
def several_reports(report: AwrReport) -> Iterator[Finding]:
    """A file with more reports than the first, of which the findings are."""
    if len(report.parts) > 1 and report is report.parts[0]:
        second = f": the second is of {name}" if (name := report.parts[1].info.db_name) else ""
        second += _of_second(report.parts[1]) if second else ""
        yield Finding(
            "several_reports",
            f"The file holds {len(report.parts)} reports, and these figures are of the first alone{second}.",
            next="save each report as a file of its own: iolab show",
            evidence=(Evidence("diagnostics"),),
            is_gate=True,
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
            f"The {what} differs ({one} in {first[0]}, {two} in {second[0]}): the reports are of two systems.",
            evidence=(Evidence("info"),),
            is_gate=True,
        )
        return
    if _overlap(first[1], second[1]):
        yield Finding(
            "evidence_mismatch",
            f"{first[0]} and {second[0]} are of one instance, but their periods overlap, so they show no change over "
            "time.",
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
        if None not in values and not is_same(field, *values):
            return what, *values
    return None
