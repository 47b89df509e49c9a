"""The findings of AWR and Statspack reports, and of a pair of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.report_sets import IDENTITIES, is_same
from iolab.metrics.awr import ALL_INSTANCES
from iolab.metrics.formatting import count_text, short_text, size_text
from iolab.metrics.report_figures import report_facts
from iolab.rules import ash, compare_report, gates, latency, load, pairs, profile, reads, report_causes, writes
from iolab.rules.exadata import exadata
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import percent, seconds
from iolab.rules.registry import apply_rules, rule
from iolab.rules.report_parts import LARGE, parts_of
from iolab.time_ledger.next_steps import PARSES, event_step, step_at
from iolab.time_ledger.parts import UNKNOWN
from iolab.time_ledger.reports import CPU, is_calm, report_ledgers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from iolab.metrics.report_facts import ReportFacts

#: Modules whose rules are registered by their import.
_MODULES: Final = (ash, compare_report, gates, latency, load, profile, reads, report_causes, writes)
#: Kinds of reports whose figures are of one period.
_PERIODS: Final = ("awr", "awr_pdb", "awr_global", "statspack")
#: The begin of an event -> the list of segments that says for which of them its waits were.
_SEGMENTS: Final = {
    "DB CPU": "logical_reads",
    "enq: TX - allocate ITL": "itl_waits",
    **dict.fromkeys(("enq: TX - row lock", "enq: TX - index"), "row_lock_waits"),
    **dict.fromkeys(("buffer busy waits", "read by other session"), "buffer_busy_waits"),
    "gc buffer busy": "gc_buffer_busy",
    **dict.fromkeys(("db file s", "cell single block", "cell multiblock", "cell smart"), "physical_reads"),
    "direct path read": "direct_reads",
}
_OF_TABLESPACE: Final = "see the devices of its data files: select name from v$datafile; iostat -xt 5"
_OF_LOG: Final = "see the redo devices of this instance: iostat -xt 5"
#: A segment with this much of a list is named, and an instance with this much of the time of an event.
_MOSTLY: Final = 0.5
_MOST_TEXT: Final = 60
_OF_CACHE: Final = f"set the least size of the buffer cache (db_cache_size); {PARSES}"
#: An instance or tablespace differs where its average is this many times that of the others.
_FAR: Final = 3


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


@rule("place_of_waits", of="period", needs="waits by instance, reads by tablespace, sizes of caches, or segments")
def place_of_waits(report: AwrReport) -> Iterator[Finding]:
    """Where most of a large event was: its instance, tablespace or segment."""
    yield from places(report, report_facts(report))


def places(report: AwrReport, facts: ReportFacts) -> Iterator[Finding]:
    """The place of each large event, and what to look at there."""
    for event in () if is_calm(facts) else (event for event, part in parts_of(facts).items() if part.is_large):
        step, said = event_step(event), ""
        if far := _differs(report, event):
            said = f"{'A read' if ' tablespace ' in far else f'A wait for `{event}`'} took {far}"
            step = _of_files(report, far.split("`")[1]) if " tablespace " in far else ""
        elif said := _shrunk(report, event):
            step = _OF_CACHE
        elif segment := _segment(report, next((of for begin, of in _SEGMENTS.items() if event.startswith(begin)), "")):
            said = f"Segment `{segment[0]}` accounts for {segment[1]}"
            step = step_at(event, segment[0])
        if said:
            yield Finding("place_of_waits", f"{said}.", next=step, explains=(event,))


def _of_files(report: AwrReport, tablespace: str) -> str:
    """How to see the devices of a tablespace: by the path of its slowest file, on NFS by another command."""
    if "file_io" not in report:
        return _OF_TABLESPACE
    own = report["file_io"].filter(pl.col("tablespace") == tablespace).drop_nulls("avg_read_ms")
    for file in own.sort(pl.col("reads") * pl.col("avg_read_ms")).get_column("file").tail(1):
        return f"see the device of `{file}`: {'nfsiostat 5' if 'nfs' in file.lower() else 'iostat -xt 5'}"
    return _OF_TABLESPACE


def _differs(report: AwrReport, event: str) -> str:
    """The one instance, or tablespace of reads, that took most of the time, each wait far longer than in the others."""
    found = ""
    if "top_events" in report and "instance" in report["top_events"].columns:
        own = report["top_events"].filter(pl.col("event") == event, ~pl.col("instance").is_in(ALL_INSTANCES))
        found = _far(own.select("waits", "avg_wait_ms", name=pl.lit("instance ") + pl.col("instance")))
    if not found and event.startswith("db file s") and "tablespace_io" in report:
        name = pl.format("tablespace `{}`", "tablespace")
        found = _far(report["tablespace_io"].select("reads", "avg_read_ms", name=name))
    return found


@rule("log_writes_by_instance", of="period", explains=("log file sync",), needs="top events of several instances")
def log_writes_by_instance(report: AwrReport) -> Iterator[Finding]:
    """The one instance whose log writes were far longer than those of the others."""
    if said := _differs(report, "log file parallel write"):
        evidence = (Evidence("top_events", ("log file parallel write",)),)
        yield Finding("log_writes_by_instance", f"A log write took {said}.", next=_OF_LOG, evidence=evidence)


def _shrunk(report: AwrReport, event: str) -> str:
    """Of reads of single blocks: that the buffer cache lost half of its size or more, and that the shared pool grew."""
    if not event.startswith("db file sequential") or "cache_sizes" not in report:
        return ""
    rows = report["cache_sizes"].select("cache", "begin_bytes", "end_bytes").drop_nulls().unique("cache", keep="none")
    sizes: dict[str, tuple[float, float]] = {name: (begin, end) for name, begin, end in rows.iter_rows()}
    (cache, less), (pool, more) = (sizes.get(name, (0.0, 0.0)) for name in ("Buffer Cache", "Shared Pool Size"))
    if not 0 < less <= _MOSTLY * cache:
        return ""
    said = f"The buffer cache shrank from {size_text(round(cache))} to {size_text(round(less))}"
    grew = f"; the shared pool grew from {size_text(round(pool))} to {size_text(round(more))}"
    return said + grew * (more > pool)


def _far(rows: pl.DataFrame) -> str:
    """The row with most of the time, its average far above that of all others; of counts, averages (ms) and names."""
    rows = rows.drop_nulls().rename(dict(zip(rows.columns, ("count", "ms", "name"), strict=True)))
    rows = rows.filter(pl.col("count") > 0).with_columns(time=pl.col("count") * pl.col("ms"))
    if rows.height < 2:
        return ""
    rows = rows.sort("time", descending=True)
    _, longest, name, time = rows.row(0)
    rest = rows[1:].select(pl.col("time", "count").sum()).row(0)
    others = float(rest[0] / rest[1])
    if not 0 < _FAR * others <= longest or time < _MOSTLY * (time + rest[0]):
        return ""
    return f"{seconds(longest / 1e3)} in {name}, {seconds(others / 1e3)} in the others"


def _segment(report: AwrReport, statistic: str) -> tuple[str, str] | None:
    """The object with half or more of what a list of segments is ordered by, and its share."""
    if not statistic or "segments" not in report:
        return None
    rows = report["segments"].filter(pl.col("ordered_by") == statistic, pl.col("object").is_not_null())
    share = pl.coalesce("total_pct", "capture_pct").sum() / 100
    top = rows.group_by("owner", "object").agg(share=share).sort("share", "object", descending=[True, False]).head(1)
    for name, part in top.filter(pl.col("share").is_between(_MOSTLY, 1)).select("object", "share").iter_rows():
        return name, f"{percent(part)} of `{statistic.replace('_', ' ')}`"
    return None


def other_steps(report: AwrReport) -> dict[str, str]:
    r"""The commands of Statspack, and those of the platform, in place of those of AWR and Linux.

    Examples:
        >>> from types import SimpleNamespace
        >>> other_steps(SimpleNamespace(kind="statspack", info=SimpleNamespace(platform="AIX-Based Systems (64-bit)"))
        ...     )["iostat -xt"]
        'iostat -D'
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
    platform = (report.info.platform or "").lower()
    for name, command in (("aix", "iostat -D"), ("solaris", "iostat -xn")):
        if name in platform:
            found |= {"iostat -xt": command, "strace (-[fT]+ .*|-ttt.*)?-p PID": "truss -D -f -p PID"}
    return found


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
        text = short_text(first["text"], _MOST_TEXT)
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
    rows = lead.parts().filter(~parents & is_named, pl.col("share_lo") >= LARGE).sort("share_lo", descending=True)
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
