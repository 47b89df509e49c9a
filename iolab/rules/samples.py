"""Samples of sessions and of the operating system: where sampled time went, and whose devices were sampled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.evidence.host_alignment import align_host
from iolab.metrics.ash import session_shares, shown_rows
from iolab.rules.finding import Evidence, Finding
from iolab.rules.listings import BLOCKERS, SEE_SESSION
from iolab.rules.phrases import percent, three
from iolab.rules.registry import apply_rules, rule
from iolab.rules.time_parts import PART
from iolab.time_ledger.next_steps import event_step
from iolab.time_ledger.parts import ASIDE, NO_STATEMENT, UNKNOWN
from iolab.time_ledger.samples import session_ledgers
from logframe.errors import RefusedError
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport
    from hostparse import HostLog
    from sqlplusparse import SessionSamples


#: Columns that tell whose a session is, and the part of the samples from which on one of them is named.
_WHOSE: Final = ("MODULE", "ACTION", "PROGRAM")
_MOST: Final = 0.5
_SESSIONS: Final = "see what its sessions run: select sid, status, sql_id, module, action from v$session"
_JOB: Final = "let the job run at other hours (dba_scheduler_windows), or end it: dbms_scheduler.stop_job"
#: What to look at next, by view.
_NEXT: Final = {
    "what": "take an extended SQL trace (event 10046) of a session that does this work",
    "who": "select * from table(dbms_xplan.display_cursor('{}'))",
}


def session_findings(log: SessionSamples) -> Iterator[Finding]:
    """The findings of samples of sessions."""
    yield from apply_rules("session_samples", log)


def _of_module(log: SessionSamples) -> Iterator[Finding]:
    """The module, action or program with most of the samples, and what its sessions waited for."""
    cells = log.others.filter(pl.col("column").is_in(_WHOSE)).unique(["line", "text"], maintain_order=True)
    names = cells.group_by("line", maintain_order=True).agg(whose=pl.col("text").str.join(" "))
    if (rows := shown_rows(log)) is None:
        return
    state = pl.coalesce(pl.format("`{}`", "event"), pl.lit("CPU"))
    share = pl.col("active_sessions") / pl.col("active_sessions").sum()
    shares = rows.select("line", state=state, share=share).join(names, on="line")
    own = shares.filter(pl.col("share").sum().over("whose") >= _MOST)
    if own.height in {0, shares.height}:
        return
    parts = own.group_by("state").agg(pl.col("share").sum()).sort("share", "state", descending=True)
    did = ", ".join(f"{name} {percent(share)}" for name, share in parts.head(2).iter_rows())
    name, part = str(own.item(0, "whose")), str(parts.item(0, "state")).strip("`")
    said = f"`{name}` had {percent(float(own['share'].sum()))} of {log.base}: {did}."
    step = _JOB if name.startswith("DBMS_SCHEDULER") else _SESSIONS
    yield Finding("sampled_time", said, part=part, next=step, order=1)


def _blocked(log: SessionSamples) -> Iterator[Finding]:
    """The session that blocked most of the samples, and how many sessions it blocked at first and at the end."""
    held = log.others.filter(pl.col("column").str.to_lowercase().is_in(BLOCKERS)).unique("line", maintain_order=True)
    if held.is_empty() or (rows := shown_rows(log)) is None:
        return
    share = pl.col("active_sessions") / pl.col("active_sessions").sum()
    blocked = rows.with_columns(share=share).join(held.select("line", holder="text"), on="line").drop_nulls("event")
    holders = blocked.group_by("holder").agg(pl.col("share").sum()).sort("share", "holder", descending=True)
    if holders.is_empty() or holders.item(0, "share") < _MOST:
        return
    holder, share = holders.row(0)
    own = blocked.filter(holder=holder).sort("share", descending=True)
    said = f"Session {holder} blocked {percent(share)} of {log.base}"
    counts = (
        log.samples.filter(pl.col("line").is_in(own["line"].implode()))
        .group_by("snap")
        .agg(n=pl.sum("active_sessions"))
    )
    if counts.height > 1:
        first, last = counts.sort("snap")["n"].gather([0, -1])
        said += f": {three(first)} sessions in the first interval, {three(last)} in the last"
    yield Finding("sampled_time", f"{said}.", part=str(own.item(0, "event")), next=SEE_SESSION.format(holder), order=0)


@rule("sampled_time", "main_statement", of="session_samples", thresholds={"10 %": "iolab.rules.time_parts.PART"})
def sampled_time(log: SessionSamples) -> Iterator[Finding]:
    r"""The states and statements with most samples, with the interval of sampling.

    Examples:
        >>> from sqlplusparse import read_session_samples
        >>> head = "SAMPLE_ID,SID,STATE,EVENT\n"
        >>> polls = head + "".join(f"{number},42,ON CPU,\n" for number in range(200))
        >>> for one in session_findings(read_session_samples(polls.encode())): print(one.sentence)
        CPU took 100 % of the samples.
        No sample shows a wait: waits took at most 1.5 % of the time, with 95 % confidence.
    """
    modules = [*_blocked(log), *_of_module(log)]
    yield from modules
    steps = {**_NEXT, "what": modules[0].next if modules else _NEXT["what"]}
    for lead in session_ledgers(log):
        for view in lead.views:
            for row in lead.parts(view).iter_rows(named=True):
                is_aside = bool(lead.work_base or lead.unshared) and row["kind"] in ASIDE
                if row["level"] or row["kind"] in {*UNKNOWN, "counted_twice"} or (is_aside and view == "who"):
                    continue
                if not is_aside and (row["share_lo"] or 0.0) < PART:
                    continue
                whole = lead.work_base or log.base
                name = row["name"] if row["kind"] == "cpu" else f"`{row['name']}`"
                if is_aside:
                    said = f"{name} is idle time: {row['count']:,.0f} samples."
                else:
                    share = percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
                    said = f"{name} took {share} of {whole}."
                    if row["name"] == NO_STATEMENT:
                        said = f"No SQL statement ran in {share} of {whole}."
                yield Finding(
                    "sampled_time" if view == "what" else "main_statement",
                    said,
                    part=row["part"],
                    detail=f"{row['count']:,.0f} samples; the range is the 95 % interval",
                    next=""
                    if is_aside or row["name"] == NO_STATEMENT
                    else event_step(row["name"]) or steps[view].format(row["name"]),
                )


@rule("no_wait_met", of="session_samples", needs="polls that met no wait", thresholds={"3 / n": "the rule of three"})
def no_wait_met(log: SessionSamples) -> Iterator[Finding]:
    """Polls that met no wait: what share waits may still have."""
    for row in session_shares(log).filter(state="any wait").iter_rows(named=True):
        yield Finding(
            "no_wait_met",
            f"No sample shows a wait: waits took at most {100 * row['ci_hi']:.1f} % of the time, with 95 % confidence.",
            detail=row["basis"],
            evidence=(Evidence("samples", (row["state"],)),),
            order=6,
        )


def devices_of_others(host: tuple[str, HostLog], report: tuple[str, AwrReport]) -> Iterator[Finding]:
    """Devices that cannot have served the database of a report: no latency of its storage is in their log.

    Nothing is reported where the two cannot be compared (`iolab.evidence.align_host`), or where the devices did enough.
    """
    try:
        aligned = align_host(report[1], host[1])
    except RefusedError:
        return
    missing = aligned.filter(quantity="read_requests", verdict="missing").rows(named=True)
    for row in missing:
        when = ", if both are of the same time" if row["covered_s"] is None else ""
        yield Finding(
            "devices_of_others",
            f"The devices of {host[0]} did not serve the database of {report[0]}{when}: at most "
            f"{math.ceil(row['host_hi']):,} of its {row['database']:,.0f} read requests.",
            detail=row["explanation"],
            next="take iostat of all devices of the database's files, such as those of ASM",
            evidence=(Evidence("device"),),
            is_gate=True,
        )
