"""The view of AWR and Statspack reports: the head, the tables that matter most in their kind, and figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts, metrics
from iolab.metrics.formatting import format_number
from iolab.metrics.table import Metric
from iolab.pages.figures import join_figures
from iolab.pages.report_io_figures import io_figures, reads_by_segment
from iolab.rules.reports import other_steps, report_findings, report_pair_findings
from iolab.time_ledger.reports import report_ledgers
from iolab.views import Summary, View
from logframe.errors import RefusedError
from logframe.interval import intersect, show
from logframe.lazy import on_use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from awrparse import AwrInfo, AwrReport

#: The tables worth a look, by what they say; of each the first that the report has.
_WANTED: Final = (
    ("top_events", "compare_top_events", "ash_top_events", "foreground_events"),
    ("wait_classes", "foreground_wait_classes", "compare_wait_classes"),
    ("load_profile", "compare_load_profile"),
    ("io_profile",),
    ("addm_findings", "addm_report_findings"),
    ("sql_by_elapsed",),
    ("segments",),
    ("iostat_function",),
    ("file_io", "tablespace_io"),
)
#: Where none of them is there, this many of the others.
_OTHERS: Final = 3
_HEAD: Final = ("info", "databases", "instances", "hosts", "containers", "snapshots", "host_cpu", "instance_cpu")
_MOST_EVENTS: Final = 8
_MOST_AVERAGES: Final = 12
#: Kinds of reports whose waits are of one period.
_PERIODS: Final = ("awr", "awr_pdb", "awr_global", "statspack", "fragment")
_NO_FIGURES: Final = {
    "ash": "an ASH report counts samples of active sessions: it has no waits to compute averages of",
    "addm": "an ADDM report names findings: it has no waits to compute averages of",
    "awr_diff": "a compare-period report has two periods: give the two reports themselves, and they are compared",
}
#: Half of the last digit of minutes with two decimals, in seconds.
_HALF_STEP_S: Final = 0.3
#: Metrics that a report cannot have: its reads are of all files, and its blocks are not.
_NOT_OF_REPORTS: Final = ("block_size",)


def report_frames(report: AwrReport) -> dict[str, pl.DataFrame]:
    """The head of a report as two columns, and the tables that matter most, by name."""
    frames: dict[str, pl.DataFrame] = {}
    head = dict(_said(report.info))
    if "info" in report and head:
        frames["head"] = pl.DataFrame({"what": list(head), "value": list(head.values())})
    there = [name for name in report.tables if name not in _HEAD]
    wanted = [next((name for name in names if name in report), None) for names in _WANTED]
    found = [name for name in wanted if name] or there[:_OTHERS]
    frames |= {name: frame for name in found if (frame := report[name]).height}
    if "sql_by_elapsed" in frames:
        frames["sql_by_elapsed"] = frames["sql_by_elapsed"].drop("ordered_by")
    if (segments := reads_by_segment(report)).height:
        frames["blocks read by segment"] = segments
    if quantiles := _histogram(report):
        frames["latency from histograms"] = pl.DataFrame(quantiles)
    return frames


def _said(info: AwrInfo) -> Iterator[tuple[str, str]]:
    """What a report says of itself, in a few lines."""

    def joined(*parts: object, by: str = ", ") -> str:
        return by.join(str(part) for part in parts if part is not None)

    period = None
    if info.begin_time is not None and info.end_time is not None:
        period = f"{info.begin_time:%Y-%m-%d %H:%M:%S} to {info.end_time:%Y-%m-%d %H:%M:%S}"
    snaps = None if info.begin_snap_id is None else f"snapshots {info.begin_snap_id} to {info.end_snap_id}"
    memory = None if info.memory_gb is None else f"{info.memory_gb:g} GB"
    cpus = None if info.cpus is None else f"{info.cpus} CPUs"
    cluster = "RAC" if info.is_rac else None
    yield from (
        (what, said)
        for what, said in (
            ("database", joined(info.db_name, info.release, cluster)),
            ("instance", joined(info.instance)),
            ("host", joined(info.host, info.platform, cpus, memory)),
            ("period", joined(period, snaps)),
        )
        if said
    )


def _histogram(report: AwrReport) -> list[dict[str, str]]:
    """Median, 95th and 99th percentile of the top events, as the buckets they lie in."""
    if "event_histogram" not in report or "top_events" not in report:
        return []
    events = report["top_events"].get_column("event").drop_nulls().unique(maintain_order=True).to_list()
    found = metrics.latency_quantiles(report.with_bounds("event_histogram"), events=events)
    rows: dict[str, dict[str, str]] = {}
    for row in found.filter(pl.col("value").is_not_null()).iter_rows(named=True):
        name = f"{row['metric'].removeprefix('wait_us_')} (ms)"
        lo, hi = (None if edge is None else format_number(edge / 1000) for edge in (row["lo"], row["hi"]))
        rows.setdefault(row["event"], {"event": row["event"]})[name] = f"above {lo}" if hi is None else f"{lo} to {hi}"
    order = {event: place for place, event in enumerate(events)}
    return sorted(rows.values(), key=lambda row: order.get(row["event"], 0))[:_MOST_EVENTS]


def report_figures(report: AwrReport) -> tuple[pl.DataFrame, list[str]]:
    """The metrics of a report (`iolab.metrics.METRICS`), and what is to be said beside them."""
    if report.kind == "ash" and "ash_top_events" in report:
        shares = metrics.ash_shares(report.with_bounds("ash_top_events"), metrics.ash_samples(report))
        known = shares.filter(pl.col("event").is_not_null()).unique("event", keep="first", maintain_order=True)
        return join_figures(
            [known.with_columns(metric=pl.concat_str("metric", pl.lit(": "), "event")).drop("event")]
        ), [_NO_FIGURES["ash"]]
    if report.kind in _NO_FIGURES or report.kind not in _PERIODS:
        return metrics.metrics_frame([]), [
            _NO_FIGURES.get(report.kind, f"no figures are computed of a report of kind {report.kind}")
        ]
    notes: list[str] = []
    parts = [metrics.metrics_frame(list(_period(report, notes)))]
    reads = metrics.read_metrics(report)
    parts.append(reads.filter(~pl.col("metric").is_in(_NOT_OF_REPORTS)))
    table = next((name for name in ("top_events", "foreground_events") if name in report), None)
    if table is not None:
        averages = metrics.average_waits(
            report.with_bounds(table).unique("event", keep="first", maintain_order=True).head(_MOST_AVERAGES)
        )
        parts.append(averages.with_columns(metric=pl.concat_str("metric", pl.lit(": "), "event")).drop("event"))
    parts += io_figures(report)
    return join_figures(parts), notes


def _period(report: AwrReport, notes: list[str]) -> Iterator[Metric]:
    """Length of the period, DB time and sessions: the head's, else what the rows allow."""
    tables = [report.with_bounds(name) for name in ("top_events", "wait_classes") if name in report]
    classes = report.with_bounds("wait_classes") if "wait_classes" in report else None
    header = metrics.elapsed_of(report)
    inferred = None if classes is None else _only(metrics.elapsed(classes))
    if header is not None:
        basis = "the head of the report, in minutes of two decimals"
        yield Metric("elapsed_s", header.value, header.lo, header.hi, "s", basis)
        other = (
            None if inferred is None or inferred.value is None else metrics.figure_of(metrics.metrics_frame([inferred]))
        )
        if other is not None:
            try:
                intersect([header, other])
            except RefusedError:
                notes.append(
                    f"the head says {show(header)} s, time and average active sessions of the classes {show(other)} s"
                )
    elif inferred is not None:
        yield inferred
    seconds = report.info.db_time_s
    if seconds is not None:
        known = metrics.Interval(seconds, max(seconds - _HALF_STEP_S, 0), seconds + _HALF_STEP_S)
        yield Metric(
            "db_time_s", known.value, known.lo, known.hi, "s", "the head of the report, in minutes of two decimals"
        )
        if header is not None:
            yield _only(metrics.average_active_sessions(known, header))
    elif tables and (found := _only(metrics.db_time(*tables))).value is not None:
        yield found
    notes += metrics.contradictions(*tables)


def _only(frame: pl.DataFrame) -> Metric:
    """The one metric of a frame."""
    return Metric(**frame.row(0, named=True))


def summarize_report(report: AwrReport) -> Summary:
    """The head and main tables of a report, its figures, and its events and wait classes as charts."""
    frames = report_frames(report)
    figures, notes = report_figures(report)
    drawn = {"top_events": frames["top_events"]} if "top_events" in frames else {}
    if report.kind in _PERIODS and (times := metrics.class_times(report)).height:
        drawn["wait_classes"] = times
    return Summary(
        frames, figures, tuple(notes), {table: partial(_draw, table, frame) for table, frame in drawn.items()}
    )


def _draw(table: str, frame: pl.DataFrame, name: str) -> Any:  # noqa: ANN401 - any chart
    return {"top_events": charts.top_events.spec, "wait_classes": charts.wait_classes.spec}[table](
        {name if table == "top_events" else "report": frame}
    )


#: How the first line of a screen calls each kind of report.
_TITLES: Final = {
    "awr": "AWR report",
    "awr_global": "AWR report of all instances",
    "awr_pdb": "AWR report",
    "awr_sql": "AWR report on one statement",
    "awr_diff": "AWR compare-period report",
    "statspack": "Statspack report",
    "ash": "ASH report",
    "addm": "ADDM report",
    "fragment": "Part of a report",
}


def report_headline(report: AwrReport) -> str:
    """Kind, database and host, release and period of a report in one line.

    Examples:
        >>> from awrparse import read_awr
        >>> report_headline(read_awr("sample_data/awr_series/awrrpt_1_4102_4103.txt"))
        'AWR report, HARBOR on quay07, 12.1.0.2, 2026-09-14 18:00 to 19:00'
    """
    info, title = report.info, _TITLES.get(report.kind, "Report")
    if info.invalid is not None and info.db_name is None:
        return f"{title} of snapshots {info.begin_snap_id} to {info.end_snap_id}, not created"
    name = info.db_name or info.instance
    if name is None and report.kind == "awr_diff" and "instances" in report:  # it names no database
        name = " and ".join(report["instances"].get_column("instance").drop_nulls().unique(maintain_order=True))
    if info.container is not None:
        name = f"{info.container} of {name}" if name else info.container
    named = f"{name} on {info.host}" if name and info.host and report.kind != "awr_global" else name
    periods = [(info.begin_time, info.end_time)]
    if "compare_snapshots" in report:
        periods = report["compare_snapshots"].select("begin_time", "end_time").rows()
    release = ".".join((info.release or "").split(".")[:4])
    shown = " and ".join(
        f"{begin:%Y-%m-%d %H:%M} to {end:{'%H:%M' if begin.date() == end.date() else '%m-%d %H:%M'}}"
        for begin, end in periods
        if begin is not None and end is not None
    )
    return ", ".join(filter(None, (title, named, release, shown)))


def _span(report: AwrReport) -> tuple[datetime, datetime, bool] | None:
    begin, end = report.info.begin_time, report.info.end_time
    return None if begin is None or end is None or end < begin else (begin, end, False)


VIEW: Final = View(
    summarize_report,
    noun="report",
    compare={
        "awr": on_use("iolab.comparison.reports:pair_reports"),
        "strace": on_use("iolab.comparison.report_and_trace:pair_evidence"),
    },
    findings=report_findings,
    other_steps=other_steps,
    looked_at="load, waits, CPU, reads, writes, latencies and statements of the period",
    ledgers=report_ledgers,
    headline=report_headline,
    span=_span,
    pair_findings={"awr": report_pair_findings, "strace": on_use("iolab.rules.evidence:report_and_trace")},
)
