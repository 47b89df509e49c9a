"""A SQL trace beside the strace log of its process, the session that ran it, its TKPROF report, or an AWR report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from iolab.comparison.report_and_trace import why_other_day
from iolab.comparison.result import Pairing, UnpairedError
from iolab.comparison.statements import KEY
from iolab.evidence.wait_alignment import align_waits
from iolab.metrics.formatting import figure_text
from iolab.metrics.report_figures import report_facts
from iolab.metrics.spool_statements import statement_costs
from logframe.interval import Interval
from logframe.wording import counted
from sqltraceparse import statement_totals

if TYPE_CHECKING:
    from awrparse import AwrReport
    from iolab.comparison.result import Options
    from sqlplusparse import Spool
    from sqltraceparse import SqlTrace
    from sqltraceparse.tkprof import Tkprof
    from straceparse import StraceLog


def pair_with_calls(trace: SqlTrace, log: StraceLog, names: tuple[str, str], _: Options) -> Pairing:
    """The waits of a trace beside the system calls that they contain (`iolab.evidence.align_waits`).

    Raises:
        RefusedError: They are not of one process, or a clock is missing.
    """
    found = align_waits(trace, log)
    said = [
        f"{row['matched']:,} of {row['waits']:,} waits for `{row['event']}` contain one system call: "
        f"{figure_text(row['wait_us_mean'], 'us')} per wait, {figure_text(row['call_us_mean'], 'us')} of it the call."
        for row in found.summary.filter(pl.col("matched") > 0).iter_rows(named=True)
    ]
    why = f"both are of process {found.process}"
    return Pairing(names, why, (*said, *found.notes), {"Waits and calls": found.summary}, verdict=said[0])


def pair_with_session(trace: SqlTrace, spool: Spool, names: tuple[str, str], _: Options) -> Pairing:
    """The elapsed times of a session beside the time of the same statements in a trace; the rest is the client's.

    Raises:
        UnpairedError: They have no statement of the same text.
    """
    own = statement_totals(trace).filter(pl.col("text").is_not_null()).with_columns(key=KEY)
    own = own.group_by("key").agg(trace_s=pl.col("elapsed_us").sum() / 1e6, executions=pl.col("executions").sum())
    costs = statement_costs(spool).filter(pl.col("text").is_not_null()).with_columns(key=KEY)
    both = costs.select(
        "key", "text", "runs", session_s="elapsed_s", least_s="elapsed_s_lo", most_s="elapsed_s_hi"
    ).join(own, on="key")
    if both.is_empty():
        raise UnpairedError("no statement of the session is in the trace")
    session, least, most, traced = both.select(pl.col("session_s", "least_s", "most_s", "trace_s").sum()).row(0)
    verdict = f"{counted(both.height, 'statement')} in both: {figure_text(Interval(session, least, most), 's')} by the "
    verdict += f"session's clock, {figure_text(traced, 's')} in database calls by the trace"
    verdict += ": the same within the step of that clock." if least <= traced <= most else "."
    runs, executions = int(both["runs"].sum()), int(both["executions"].sum())
    if runs != executions:
        verdict += f" The session has {counted(runs, 'run')} of them, the trace {counted(executions, 'execution')}."
    if (both["trace_s"] > both["most_s"]).any():
        verdict += " A statement took longer in the trace than in the session: they are of other executions."
    return Pairing(
        names, "statements of the same text", (), {"Statements": both.drop("key", "least_s", "most_s")}, verdict=verdict
    )


def pair_with_tkprof(trace: SqlTrace, report: Tkprof, names: tuple[str, str], _: Options) -> Pairing:
    """The totals of a trace beside those that a TKPROF report prints: they agree where it is of this trace.

    Raises:
        UnpairedError: The report prints no totals, or the trace has no calls.
    """
    totals = report.calls.filter(pl.col("scope") == "non_recursive", pl.col("call") == "total")
    calls = trace.calls.filter(pl.col("depth") == 0, pl.col("op").is_in(["PARSE", "EXEC", "FETCH"]))
    if totals.is_empty() or calls.is_empty():
        raise UnpairedError("the report prints no totals, or the trace has no calls")
    row, seconds = totals.row(0, named=True), float(calls["own_elapsed_us"].sum()) / 1e6
    printed = Interval(row["elapsed_s_lo"], row["elapsed_s_lo"], row["elapsed_s_hi"])
    agree = printed.lo <= seconds <= printed.hi + len(trace.statements) * 0.01 and row["count"] == calls.height
    verdict = f"The report {'is of this trace' if agree else 'is of another trace, or of a part of this one'}: it has "
    verdict += f"{counted(row['count'], 'call')} of {figure_text(printed, 's')}, the trace "
    verdict += f"{calls.height:,} of {seconds:.4g} s."
    return Pairing(names, "a trace and a TKPROF report", (), {"Totals": totals}, verdict=verdict)


def pair_with_report(trace: SqlTrace, report: AwrReport, names: tuple[str, str], _: Options) -> Pairing:
    """The average waits of one session beside those of all sessions of its instance.

    Raises:
        UnpairedError: They are of other instances or days, or have no event in common.
    """
    instance, own = report.info.instance, trace.head.instance
    if instance and own and instance.lower() != own.lower():
        raise UnpairedError(f"{names[0]} is of the instance {own}, {names[1]} of {instance}")
    if reason := why_other_day(report, trace.waits, (names[1], names[0])):
        raise UnpairedError(reason)
    waits = trace.waits.group_by("event").agg(waits=pl.len().cast(int), session_ms=pl.col("elapsed_us").mean() / 1e3)
    events = {name: wait.avg_s.value * 1e3 for name, wait in report_facts(report).events.items() if wait.avg_s}
    averages = pl.col("event").replace_strict(events, default=None, return_dtype=pl.Float64)
    both = waits.with_columns(report_ms=averages).drop_nulls("report_ms")
    if both.is_empty():
        raise UnpairedError("no event of the trace is in the report")
    both = both.with_columns(ratio=pl.col("session_ms") / pl.col("report_ms")).sort(-pl.col("waits"), "event")
    first = both.row(0, named=True)
    verdict = f"`{first['event']}` took {figure_text(first['session_ms'], 'ms')} in the session, "
    verdict += f"{figure_text(first['report_ms'], 'ms')} on average of the instance."
    time = "Whether the trace lies within the hours of the report is not checked."
    return Pairing(names, "one session, and all of its instance", (time,), {"Waits": both}, verdict=verdict)
