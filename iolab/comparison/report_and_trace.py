"""The database and the system calls: what both saw of the same reads."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.traces import check_calls
from iolab.evidence.alignment import align_trace
from iolab.evidence.latency_alignment import align_latency
from iolab.metrics.formatting import as_sentence, figure_text
from iolab.metrics.trace_reads import data_reads
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.comparison.result import Options
    from sqlplusparse import Spool
    from straceparse import StraceLog

#: Zones lie so far east and west of UTC, which the stamps of strace count; a report has the time of its host.
_EAST: Final = timedelta(hours=14)
_WEST: Final = timedelta(hours=12)
_QUARTER: Final = timedelta(minutes=15)

#: What a verdict of `align_trace` is in a sentence.
_SAID: Final = {
    "agrees": "the database and the trace agree in {0}, within 1 % or their bounds",
    "differs": "the database and the trace differ in {0}",
    "part": "the trace holds a part of the database's {0}",
}


def pair_evidence(database: AwrReport | Spool, trace: StraceLog, names: tuple[str, str], _: Options) -> Pairing:
    """What a report or a session counted, beside what a trace saw.

    Raises:
        UnpairedError: If the trace has no reads, or is of another system or day than the report, or the two have no
            figure in common.
    """
    check_calls(trace)
    report = database if database.format == "awr" else None
    calls = pl.DataFrame() if report is None else trace.calls.collect()  # a session is compared by its reads alone
    if report is not None and (reason := why_apart(report, calls, names) or why_unknown(report, calls, names)):
        raise UnpairedError(reason)
    requests = trace.requests.collect()
    if data_reads(requests).is_empty():
        raise UnpairedError(f"{names[1]} has no reads of data")
    aligned = align_trace(database, requests)
    if aligned.is_empty():
        raise UnpairedError(
            "the report has no figure of reads that a trace has, too"
            if report is not None
            else "the session shows neither physical reads nor requests nor bytes read: set autotrace on, or list its "
            "statistics"
        )
    why = (
        "the report counts all sessions of its instance, the trace what one process did while it was attached"
        if report is not None
        else "the session's own figures, and the trace that may be of its process: the logs do not say that it is"
    )
    verdicts = []
    for (verdict,), rows in aligned.group_by("verdict", maintain_order=True):
        *before, last = (str(one).replace("_", " ") for one in rows.get_column("quantity"))
        verdicts.append(_SAID[str(verdict)].format(f"{', '.join(before)} and {last}" if before else last))
    paragraphs = [as_sentence("; ".join(verdicts))]
    frames = {"Both sides of the system calls": aligned}
    if report is not None:
        paragraphs += filter(None, [_zone(report, calls)])
        try:
            frames["Latency of single-block reads"] = latencies = align_latency(report, requests)
        except RefusedError as refusal:
            paragraphs.append(f"Latencies are not compared: {refusal}.")
        else:
            paragraphs.append(_latencies(latencies))
    return Pairing(names, why, tuple(paragraphs), frames)


def _latencies(latencies: pl.DataFrame) -> str:
    """What the quantiles of both sides are, and whether they agree."""
    parts = []
    for row in latencies.iter_rows(named=True):
        edge = f"above {row['database_lo']:g}"
        bucket = edge if row["database_hi"] is None else f"{row['database_lo']:g} to {row['database_hi']:g}"
        said = "agrees" if row["verdict"] == "agrees" else f"the trace's is {row['verdict']}"
        parts.append(f"{row['quantile']} {bucket} us in the report, {figure_text(row['trace'], 'us')} traced: {said}")
    return f"Single-block reads: {'; '.join(parts)}."


def why_apart(report: AwrReport, calls: pl.DataFrame, names: tuple[str, str]) -> str:
    """Why a trace is not of the report's host or period; empty where nothing says so."""
    platform = report.info.platform
    if platform and "linux" not in platform.lower():
        return f"{names[0]} is of a database on {platform}, {names[1]} was traced on Linux"
    return why_other_day(report, calls, names)


def why_other_day(report: AwrReport, records: pl.DataFrame, names: tuple[str, str]) -> str:
    """Why records with stamps are not of the report's period, in any zone; empty where nothing says so."""
    stamps = records.get_column("wall").drop_nulls()
    begin, end = report.info.begin_time, report.info.end_time
    if stamps.is_empty() or begin is None or end is None:
        return ""
    first, last = (stamp.replace(tzinfo=None) for stamp in (stamps[0], stamps[-1]))
    is_other = last < begin - _EAST or first > end + _WEST
    span = f"{begin:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M}"
    return f"{names[0]} covers {span}, {names[1]} was taken on {first:%Y-%m-%d}" if is_other else ""


def _zone(report: AwrReport, calls: pl.DataFrame) -> str:
    """At which zone of the host a trace, whose stamps are UTC, is of the report's time, and how much it covers."""
    stamps = calls.get_column("wall").drop_nulls()
    begin, end = report.info.begin_time, report.info.end_time
    if stamps.is_empty() or begin is None or end is None or end <= begin:
        return ""
    first, last = (stamp.replace(tzinfo=None) for stamp in (stamps[0], stamps[-1]))
    zones = range(-(_WEST // _QUARTER), _EAST // _QUARTER + 1)  # full hours before others that cover as much
    starts = {zone: max(first + zone * _QUARTER, begin) for zone in zones}
    covered, _, zone = max((min(last + zone * _QUARTER, end) - one, -(zone % 4), zone) for zone, one in starts.items())
    share = covered / (end - begin)
    said = f"They are of one time if the host's clock is UTC{zone / 4:+g}; the trace then covers"
    return f"{said} {share:.1%} of the period." if share >= 0 else ""


def why_unknown(report: AwrReport, calls: pl.DataFrame, names: tuple[str, str]) -> str:
    """Why it is not known whether a trace is of the report's period; empty where it is."""
    missing = []
    if calls.get_column("wall").null_count() == calls.height:
        missing.append(f"{names[1]} has no date: trace with -ttt, or -tt and the date")
    if report.info.begin_time is None or report.info.end_time is None:
        missing.append(f"{names[0]} does not say when it begins and ends")
    return f"the log and the report may be of different times: {'; '.join(missing)}" if missing else ""
