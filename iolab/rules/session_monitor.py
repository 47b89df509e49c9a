"""What reports of SQL Monitor in a session say: how long a statement ran, and where its plan was active."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import capital, percent, seconds
from iolab.rules.registry import rule
from iolab.rules.row_sources import GATHER, SEE_PLAN, estimate
from iolab.rules.session_waits import ANY
from iolab.rules.time_parts import LARGE, PART
from iolab.time_ledger.listings import last_monitors
from iolab.time_ledger.next_steps import event_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlplusparse import Spool

#: Processes work side by side where a statement took this many times as long as it ran.
_SIDE_BY_SIDE: Final = 1.1
#: A parallel server has too much of the work with this many times its even share.
_UNEVEN: Final = 2.0
_CPU: Final = "Cpu"
_RUNS_ON: Final = "EXECUTING"


class _Facts(Protocol):
    """What the rule takes of a session (`iolab.rules.sessions.SpoolFacts`)."""

    @property
    def spool(self) -> Spool: ...
    @property
    def is_monitored(self) -> bool: ...
    @property
    def cause(self) -> Finding | None: ...


@rule("plan_time", of="sqlplus", needs="a report of SQL Monitor", thresholds={"10 %": "iolab.rules.time_parts.PART"})
def monitored(facts: _Facts) -> Iterator[Finding]:
    """The statements that SQL Monitor reports, each with the line of its plan that was most active."""
    rows = last_monitors(facts.spool)
    total = sum(row["elapsed_s"] for row in rows)
    cause = facts.cause if facts.is_monitored else None
    for row in (one for one in rows if one["elapsed_s"] >= PART * total):
        said, step = _plan_of(facts.spool, row)
        who = f"`{row['sql_id']}`" if row["sql_id"] else f"the statement of the report at line {row['line']:,}"
        took, ran = row["elapsed_s"], row["duration_s"]
        of_all = f"{seconds(took)} in all its processes (SQL Monitor)"
        times = f"took {seconds(took)} (SQL Monitor)"
        times = f"ran for {seconds(ran)}, {of_all}" if ran and took > _SIDE_BY_SIDE * ran else times
        if cause is not None and row is rows[0]:
            said[1:1] = [cause.sentence]
            step = cause.next if step == SEE_PLAN else step
        share = (row["longest_server_s"] or 0.0) / took
        if share >= max(LARGE, _UNEVEN / (row["servers"] or 1)):
            server = f"`{row['longest_server']}` took {seconds(row['longest_server_s'])}"
            said[:0] = [f"Of {row['servers']:,} parallel servers {server}, {percent(share)} of it."]
        order = 0 if row is rows[0] and facts.is_monitored else 6
        evidence = (Evidence("monitors", lines=(row["line"],)),)
        sentence = " ".join([f"{capital(who)} {times}.", *said])
        yield Finding("plan_time", sentence, next=step, evidence=evidence, order=order)


def cause_of(spool: Spool, listed: Iterable[Finding]) -> Finding | None:
    """The first listing of what the longest statement waited for, or of its parallel servers."""
    rows = last_monitors(spool)
    top = _most_active(spool, rows[0]) if rows else None
    events = {event for _, event in _samples(top["activity_detail"] or "")} if top is not None else set[str]()
    is_parallel = any(name.startswith("PX ") for name in spool.monitor_lines["operation"].drop_nulls())
    for one in listed:
        if is_parallel and one.explains == (ANY,):
            return one
        if one.explains and any(event.startswith(one.explains) for event in events):
            return one
    return None


def _most_active(spool: Spool, row: dict[str, Any]) -> dict[str, Any] | None:
    """The most active line of the plan of a report; None where none has a third of the activity."""
    lines = spool.monitor_lines.filter(pl.col("activity_pct") >= 100 * LARGE, monitor=row["monitor"])
    return next(lines.sort("activity_pct", "id", descending=[True, False]).iter_rows(named=True), None)


def _plan_of(spool: Spool, row: dict[str, Any]) -> tuple[list[str], str]:
    """The most active line of a plan and what it waited for, and the rows that were not expected; what to do next."""
    top = _most_active(spool, row)
    if top is None:
        return [], SEE_PLAN
    samples = [*_samples(top["activity_detail"] or "")]
    most, event = max(samples, default=(0, ""))
    of = f" of `{top['object_name']}`" if top["object_name"] else ""
    said = f"`{top['operation']}`{of} (Id {top['id']}) had {percent(top['activity_pct'] / 100)} of the activity"
    name = "CPU" if event == _CPU else f"`{event}`"
    total = sum(count for count, _ in samples)
    said += f": {name}{f' in {most:,} of {total:,} samples' * (most < total)}." if samples else "."
    lines = spool.monitor_lines.filter(monitor=row["monitor"])["line"]
    plan = spool.plans.filter(pl.col("line").is_in(lines.implode()))
    named = plan.filter(line=top["line"]).to_dicts()
    if str(row["status"]).startswith(_RUNS_ON):  # fewer rows may still come
        plan = plan.filter(pl.col("a_rows") >= pl.col("e_rows"))
    off = estimate(plan, named[0]).removeprefix("; ") if named and plan.height else ""
    return [said, *([f"{capital(off)}."] if off else [])], GATHER if off else event_step(event) or SEE_PLAN


def _samples(detail: str) -> Iterator[tuple[int, str]]:
    """The events of an activity detail, and their samples."""
    for line in detail.splitlines():
        event, _, count = line.rstrip(") ").rpartition(" (")
        if count.isdecimal():
            yield int(count), event
