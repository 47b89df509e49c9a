"""An extended SQL trace: where its time went, what a read cost, which statement and what is not accounted for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, figure_text, share_text, time_text
from iolab.metrics.sql_trace import ASYNCHRONOUS, reads_of, us_per_get
from iolab.rules.finding import Evidence, Finding
from iolab.rules.gates import LEAST_WAITS
from iolab.rules.shares import PROFILE
from logframe.interval import Interval
from sqltraceparse import account_time, profile, statement_totals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqltraceparse import SqlTrace

_OF: Final = "response time"
#: Components that the first sentence names.
_MOST_NAMED: Final = 3
_MOST_EVENTS: Final = 2
_STATEMENT_SHARE: Final = 0.2
_GAP_SHARE: Final = 0.05
_LEAST_PART: Final = 0.005


def sql_trace_findings(trace: SqlTrace) -> Iterator[Finding]:
    r"""The findings of an extended SQL trace.

    Examples:
        >>> import iolab
        >>> log = (b"WAIT #1: nam='db file sequential read' ela= 600 file#=1 block#=2 blocks=1 obj#=3 tim=1700\n"
        ...     b"FETCH #1:c=200,e=1000,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=2000\n")
        >>> for one in sql_trace_findings(iolab.load(log)): print(one.sentence)
        Of 1 ms of response time 60.0 % was `db file sequential read`, 20.0 % CPU, 20.0 % unaccounted for.
        `db file sequential read`: 600 us a wait on average, half took at most 600 us (1 wait).
        CPU of a logical read: 100.0 us with the row work in it (2 gets).
    """
    for rule in (clock_is_off, where_time_went, cost_of_reads, main_statement, cost_of_gets, not_in_the_trace):
        yield from rule(trace)


def clock_is_off(trace: SqlTrace) -> Iterator[Finding]:
    """A gate: the clock of the trace does not run as the wall clock does."""
    for line, reason in (
        trace.diagnostics.filter(pl.col("kind") == "clock").select("line", "reason").head(1).iter_rows()
    ):
        sentence = f"{reason[:1].upper()}{reason[1:]}."
        yield Finding("trace_clock", sentence, evidence=(Evidence("clock", lines=(line,)),), is_gate=True)


def where_time_went(trace: SqlTrace) -> Iterator[Finding]:
    """The largest parts of the response time; idle time beside it."""
    parts = profile(trace)
    busy = parts.filter(~pl.col("is_idle"))
    total = int(busy.get_column("total_us").sum())
    if total <= 0:
        return
    top = busy.head(_MOST_NAMED).select("component", "share").rows()
    named = ", ".join(
        f"{share_text(share)}{' was' if place == 0 else ''} {_name(part)}" for place, (part, share) in enumerate(top)
    )
    idle = int(parts.filter("is_idle").get_column("total_us").sum())
    beside = f" Beside it the session waited {time_text(idle / 1e6)} for its client." if idle else ""
    has_waits = not trace.waits.is_empty()
    yield Finding(
        "sql_trace_profile",
        f"Of {time_text(total / 1e6)} of response time {named}.{beside}",
        Interval.exact(float(top[0][1])),
        _OF,
        caveat="" if has_waits else "the trace has no waits (level 1 or 4): what is not CPU is unaccounted for",
        evidence=(Evidence("profile", tuple(part for part, _ in top)),),
        order=0,
    )


def cost_of_reads(trace: SqlTrace) -> Iterator[Finding]:
    """What one wait of the most expensive read events took, and how many blocks it brought."""
    reads = reads_of(trace.waits)
    shares = dict(profile(trace).filter(~pl.col("is_idle")).select("component", "share").iter_rows())
    order = (
        reads.group_by("event").agg(pl.col("elapsed_us").sum()).sort("elapsed_us", "event", descending=[True, False])
    )
    for event in order.get_column("event").head(_MOST_EVENTS):
        own = reads.filter(pl.col("event") == event)
        times = own.get_column("elapsed_us")
        mean, middle = float(times.sum()) / times.len(), times.quantile(0.5, "equiprobable")
        blocks = own.get_column("blocks").drop_nulls()
        size = ""
        if blocks.len() and int(blocks.sum()) != blocks.len():
            size = f", {figure_text(float(blocks.sum()) / blocks.len())} blocks each"
        caveat = "few waits are no distribution" if times.len() < LEAST_WAITS else ""
        if event in ASYNCHRONOUS:
            caveat = "the reads were submitted before the waits began: they took longer than the waits"
        yield Finding(
            "cost_of_a_read",
            f"`{event}`: {time_text(mean / 1e6)} a wait on average, half took at most {time_text((middle or 0) / 1e6)} "
            f"({count_text(times.len(), 'wait')}{size}).",
            Interval.exact(float(shares.get(event, 0.0))),
            _OF,
            caveat=caveat,
            evidence=(Evidence("waits", (event,)),),
            order=2,
        )


def main_statement(trace: SqlTrace) -> Iterator[Finding]:
    """The statement that took most of the time of all calls by itself."""
    totals = statement_totals(trace)
    whole = int(trace.calls.get_column("own_elapsed_us").sum())
    if totals.height < 2 or whole <= 0:
        return
    row = totals.row(0, named=True)
    share = (row["own_elapsed_us"] or 0) / whole
    if row["sql"] is None or share < _STATEMENT_SHARE:
        return
    yield Finding(
        "main_statement",
        f"Statement `{row['sql']}` took {share_text(share)} of the time of all calls by itself: "
        f"{time_text(row['own_elapsed_us'] / 1e6)}, {count_text(row['executions'], 'execution')}, "
        f"{count_text(row['own_disk_blocks'], 'block')} from disk.",
        Interval.exact(share),
        "call time",
        evidence=(Evidence("statements", (row["sql"],)),),
        order=3,
    )


def cost_of_gets(trace: SqlTrace) -> Iterator[Finding]:
    """CPU of one logical read."""
    row = us_per_get(trace.calls).row(0, named=True)
    if row["value"] is None:
        return
    own = trace.calls.filter(pl.col("op").is_in(["EXEC", "FETCH"]))
    gets = int((own.get_column("own_consistent_gets") + own.get_column("own_current_gets")).sum())
    yield Finding(
        "cpu_of_a_get",
        f"CPU of a logical read: {time_text(row['value'] / 1e6)} with the row work in it ({count_text(gets, 'get')}).",
        caveat=row["caveats"],
        evidence=(Evidence("calls"),),
        order=6,
    )


def not_in_the_trace(trace: SqlTrace) -> Iterator[Finding]:
    """Time between the first and the last line that no line accounts for."""
    rows = account_time(trace)
    span, gap = int(rows.get_column("span_us").sum()), int(rows.get_column("gap_us").sum())
    if span <= 0 or abs(gap) / span < _GAP_SHARE:
        return
    if gap < 0:
        sentence = f"Calls and waits overlap by {time_text(-gap / 1e6)}: some are counted twice by the database."
    else:
        sentence = (
            f"{time_text(gap / 1e6)} of the {time_text(span / 1e6)} from the first to the last line is in no line."
        )
    yield Finding(
        "trace_gap",
        sentence,
        caveat="between very short calls it is what tracing itself takes; else lines are missing",
        evidence=(Evidence("accounts"),),
        order=7,
    )


def sql_trace_profile(trace: SqlTrace) -> pl.DataFrame:
    """The parts of the response time of a trace (`PROFILE`)."""
    busy = profile(trace).filter(~pl.col("is_idle"), pl.col("share") >= _LEAST_PART)
    return pl.DataFrame(
        [(part, part, share, None, _OF) for part, share in busy.select("component", "share").iter_rows()],
        schema=PROFILE,
        orient="row",
    )


def _name(component: str) -> str:
    return component if component in {"CPU", "unaccounted for"} else f"`{component}`"
