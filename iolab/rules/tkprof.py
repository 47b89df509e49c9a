"""A TKPROF report: what its calls took, how much of it was CPU and waits, and which statement took most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, share_text, time_text
from iolab.rules.event_groups import group_of
from iolab.rules.finding import NOTABLE, Evidence, Finding
from iolab.rules.shares import PROFILE, UNACCOUNTED
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqltraceparse import Tkprof

#: The totals of a report, and what their statements are called.
_SCOPES: Final = {
    "non_recursive": "statements of the session",
    "recursive": "recursive statements",
}
_OF: Final = "call time"
#: Times are printed in hundredths of a second: of less than this no share is computed.
_LEAST_S: Final = 0.5
_LEAST_GETS: Final = 100_000
#: CPU is known to this part of itself, or no cost of a logical read is computed.
_RESOLUTION: Final = 0.05
#: From so much disk in the gets on, the CPU of reading is in it.
_MOST_FROM_DISK: Final = 0.10
_MOST_EVENTS: Final = 3
#: Smaller parts are not drawn.
_LEAST_PART: Final = 0.005
_STATEMENT_SHARE: Final = 0.20


def tkprof_findings(report: Tkprof) -> Iterator[Finding]:
    r"""The findings of a TKPROF report: the totals of its statements, the longer ones first.

    Examples:
        >>> from sqltraceparse import read_tkprof
        >>> head = "TKPROF: Release 19.0.0.0.0 - Development on Mon Mar 1 10:00:00 2021\n\n"
        >>> text = head + '''OVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS
        ...
        ... call     count       cpu    elapsed       disk      query    current        rows
        ... ------- ------  -------- ---------- ---------- ---------- ----------  ----------
        ... Parse        1      0.00       0.00          0          0          0           0
        ... Execute      1      0.00       0.00          0          0          0           0
        ... Fetch        2      6.00       8.00         40     400000          0           1
        ... ------- ------  -------- ---------- ---------- ---------- ----------  ----------
        ... total        4      6.00       8.00         40     400000          0           1
        ... '''
        >>> for one in tkprof_findings(read_tkprof(text.encode())): print(one.sentence)
        Calls of statements of the session took 8.00 s: 75.0 [74.9, 75.2] % was CPU; 400,000 logical reads, 40 blocks
        from disk.
        At most 15.00 [15.00, 15.03] us of CPU a logical read (400,000 gets).
    """
    totals = _totals(report)
    for place, (elapsed, cpu, row) in enumerate(totals):
        yield from _total(elapsed, cpu, row, order=min(place, 1))
        if elapsed.lo >= _LEAST_S:
            yield from _events(report, str(row["scope"]), elapsed)
    for elapsed, cpu, row in totals[:1]:
        yield from _main_statement(report, str(row["scope"]), elapsed)
        yield from _cost_of_gets(cpu, row)


def tkprof_profile(report: Tkprof) -> pl.DataFrame:
    """The parts of the time of the larger total of a report: CPU, waits, and what is neither (`PROFILE`).

    Without a row where the total is too short for shares.

    Examples:
        >>> from sqltraceparse import read_tkprof
        >>> head = "TKPROF: Release 19.0.0.0.0 - Development on Mon Mar 1 10:00:00 2021"
        >>> text = head + '''
        ...
        ... OVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS
        ...
        ... call     count       cpu    elapsed       disk      query    current        rows
        ... ------- ------  -------- ---------- ---------- ---------- ----------  ----------
        ... Fetch        2      6.00       8.00         40     400000          0           1
        ... ------- ------  -------- ---------- ---------- ---------- ----------  ----------
        ... total        2      6.00       8.00         40     400000          0           1
        ... '''
        >>> tkprof_profile(read_tkprof(text.encode())).select("group", "part", "share").rows()
        [('cpu', 'CPU', 0.75), ('unaccounted', 'not accounted for', 0.25)]
    """
    totals = _totals(report)
    if not totals or totals[0][0].lo < _LEAST_S:
        return pl.DataFrame(schema=PROFILE)
    elapsed, cpu, row = totals[0]
    parts = [("cpu", "CPU", cpu.value)]
    for event, seconds in (
        report.waits.filter(pl.col("scope") == row["scope"]).select("event", "total_wait_s").drop_nulls().iter_rows()
    ):
        if not is_idle(event, None):
            parts.append((group_of(event), event, seconds))
    parts.append((UNACCOUNTED, "not accounted for", max(0.0, elapsed.value - sum(time for *_, time in parts))))
    parts.sort(key=lambda part: -part[2])
    return pl.DataFrame(
        [
            (group, part, seconds / elapsed.value, None, f"the time of {_SCOPES[str(row['scope'])]}")
            for group, part, seconds in parts
            if seconds / elapsed.value >= _LEAST_PART
        ],
        schema=PROFILE,
        orient="row",
    )


def _totals(report: Tkprof) -> list[tuple[Interval, Interval, dict[str, object]]]:
    """Elapsed time and CPU of the totals of a report with their rows, the longest first."""
    totals = []
    for row in report.calls.filter(pl.col("scope").is_in(list(_SCOPES)) & (pl.col("call") == "total")).to_dicts():
        elapsed, cpu = row_figure(row, "elapsed_s"), row_figure(row, "cpu_s")
        if elapsed is not None and cpu is not None:
            totals.append((elapsed, cpu, row))
    totals.sort(key=lambda one: -one[0].value)
    return totals


def _total(elapsed: Interval, cpu: Interval, row: dict[str, object], *, order: int) -> Iterator[Finding]:
    scope = str(row["scope"])
    share = None
    if elapsed.lo >= _LEAST_S:
        least, most = cpu.lo / elapsed.hi, cpu.hi / elapsed.lo
        share = Interval(min(cpu.value / elapsed.value, 1), min(least, 1), min(most, 1))
    part = "" if share is None else f"{share_text(share)} was CPU; "
    overlap = "CPU is counted in steps: short calls may show more CPU than time" if cpu.lo > elapsed.hi else ""
    if not elapsed.hi:
        return
    yield Finding(
        "tkprof_profile",
        f"Calls of {_SCOPES[scope]} took {time_text(elapsed)}: {part}{count_text(_gets(row), 'logical read')}, "
        f"{count_text(_count(row, 'disk_blocks'), 'block')} from disk.",
        share,
        _OF,
        why="statements that others call are recursive: their time may be in the time of the callers, too",
        refuted_by="the trace itself, which has each call",
        evidence=(Evidence("calls", (scope,)),),
        caveat=overlap,
        order=order,
    )


def _events(report: Tkprof, scope: str, elapsed: Interval) -> Iterator[Finding]:
    """The waits of a scope from 5 % of its time on, the longest first."""
    rows = report.waits.filter(pl.col("scope") == scope).sort("total_wait_s", descending=True, nulls_last=True)
    named = 0
    for row in rows.to_dicts():
        time, event = row_figure(row, "total_wait_s"), str(row["event"])
        if time is None or is_idle(event, None) or named == _MOST_EVENTS or (time / elapsed).lo < NOTABLE:
            continue
        named += 1
        share = time / elapsed
        yield Finding(
            "tkprof_profile",
            f"{share_text(share)} of the time of {_SCOPES[scope]} was waiting for `{event}`: "
            f"{count_text(_count(row, 'waits'), 'wait')}, {time_text(time)}.",
            share.capped(1),
            _OF,
            refuted_by="the trace itself, which has each wait",
            evidence=(Evidence("waits", (event,)),),
            order=2,
        )


def _main_statement(report: Tkprof, scope: str, elapsed: Interval) -> Iterator[Finding]:
    """The statement of the session with most time; recursive ones are parts of each other."""
    if scope != "non_recursive" or elapsed.lo < _LEAST_S:
        return
    rows = report.calls.filter((pl.col("scope") == "statement") & (pl.col("call") == "total")).join(
        report.statements.filter(pl.col("depth") == 0).select("statement", "sql_id"), on="statement"
    )
    for row in rows.sort("elapsed_s", descending=True, nulls_last=True).head(1).to_dicts():
        own = row_figure(row, "elapsed_s")
        if own is None or rows.height < 2 or (own / elapsed).lo < _STATEMENT_SHARE:
            continue
        share = own / elapsed
        name = f"`{row['sql_id']}`" if row["sql_id"] else f"number {row['statement']} of the report"
        yield Finding(
            "main_statement",
            f"Statement {name} took {share_text(share)} of the time of statements of the session: {time_text(own)}, "
            f"{count_text(_gets(row), 'logical read')}, {count_text(_count(row, 'disk_blocks'), 'block')} from disk.",
            share.capped(1),
            _OF,
            why="what it calls is in its time",
            refuted_by="the trace itself, which has the time of each call without those below it",
            evidence=(Evidence("statements", (str(row["sql_id"] or row["statement"]),)),),
            order=3,
        )


def _cost_of_gets(cpu: Interval, row: dict[str, object]) -> Iterator[Finding]:
    gets = _gets(row)
    if _count(row, "disk_blocks") > _MOST_FROM_DISK * gets:
        return
    if gets < _LEAST_GETS or cpu.value <= 0 or (cpu.hi - cpu.lo) / cpu.value > _RESOLUTION:
        return
    yield Finding(
        "cpu_of_a_get",
        f"At most {time_text(cpu / gets)} of CPU a logical read ({count_text(gets, 'get')}).",
        why="row work and parsing are in the CPU",
        evidence=(Evidence("calls", (str(row["scope"]),)),),
        order=6,
    )


def _gets(row: dict[str, object]) -> int:
    return _count(row, "consistent_gets") + _count(row, "current_gets")


def _count(row: dict[str, object], column: str) -> int:
    value = row[column]
    return value if isinstance(value, int) else 0
