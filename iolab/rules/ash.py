"""ASH and ADDM reports: where sampled sessions were, and what samples do not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.ash import ash_samples
from iolab.metrics.formatting import count_text, figure_text, share_text
from iolab.rules.event_groups import group_of
from iolab.rules.finding import NOTABLE, Evidence, Finding
from iolab.rules.shares import PROFILE, UNACCOUNTED
from iolab.stats.intervals import share_interval
from logframe.errors import RefusedError
from logframe.interval import Interval, intersect, row_figure
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport

#: What an ASH report calls the samples of sessions that were not waiting.
_CPU: Final = "CPU + Wait for CPU"
_SAMPLES: Final = "the samples"
#: Events that get a sentence.
_MOST_NAMED: Final = 3
#: Fewer samples are no profile: the 95 % interval of a share of a half is then wider than 20 points.
_LEAST_SAMPLES: Final = 100
#: Table of the findings of ADDM -> its column with their shares of the activity.
_ADDM_TABLES: Final = {"addm_report_findings": "impact_pct", "addm_findings": "finding_pct"}
#: Smaller parts are not drawn.
_LEAST_PART: Final = 0.005
#: A statement with so large a share gets a sentence, as in AWR reports.
_STATEMENT: Final = 0.5
#: Tables that each hold every sample once; the table of a cluster holds those of the instances again.
_SCOPES: Final = ("user", "background")


def ash_findings(report: AwrReport) -> Iterator[Finding]:
    """The findings of an ASH report.

    Examples:
        >>> import awrparse
        >>> text = b'''ASH Report For TEST/TEST
        ...
        ... DB Name         DB Id    Instance     Inst Num Release     RAC Host
        ... ------------ ----------- ------------ -------- ----------- --- ------------
        ... TEST            12345678 TEST                1 11.2.0.3.0  NO  dbhost
        ...
        ... Top User Events            DB/Inst: TEST/TEST  (Apr 23 19:30 to 19:45)
        ...
        ...                                                                Avg Active
        ... Event                               Event Class        % Event   Sessions
        ... ----------------------------------- --------------- ---------- ----------
        ... db file sequential read             User I/O             75.00       3.00
        ... CPU + Wait for CPU                  CPU                  25.00       1.00
        ...           -------------------------------------------------------------
        ... '''
        >>> for one in ash_findings(awrparse.read_awr(text)): print(one.sentence)
        4.00 [3.99, 4.01] sessions were active on average, those of the background among them.
        75.0 % of the samples were in `db file sequential read`.
        25.0 % of the samples were on a processor, or waiting for one.
        How many waits there were, and how long each took: samples do not tell.
    """
    frame = report.with_bounds("ash_top_events")
    rows = frame.filter(pl.col("scope").is_in(_SCOPES) & pl.col("activity_pct").is_not_null())
    total = ash_samples(report)
    yield from _load(rows)
    yield from _events(rows, total)
    yield from _statements(report, total)
    yield from _blockers(report, rows)
    if total is not None and total < _LEAST_SAMPLES:
        yield Finding(
            "too_few_samples",
            f"{count_text(total, 'sample')} in all: too few for shares.",
            why=f"with fewer than {_LEAST_SAMPLES} samples the 95 % interval of a half is wider than 20 points",
            evidence=(Evidence("ash_activity"),),
            is_gate=True,
        )
    yield Finding(
        "ash_profile",
        "How many waits there were, and how long each took: samples do not tell.",
        collect="the AWR report of the same period",
        evidence=(Evidence("ash_top_events"),),
        is_refused=True,
    )


def ash_profile(report: AwrReport) -> pl.DataFrame:
    """The parts of the samples of an ASH report: user events, background events, and what is not listed (`PROFILE`).

    Without a row where there are too few samples for shares.

    Examples:
        >>> import awrparse
        >>> text = b'''ASH Report For TEST/TEST
        ...
        ... Top User Events            DB/Inst: TEST/TEST  (Apr 23 19:30 to 19:45)
        ...
        ...                                                                Avg Active
        ... Event                               Event Class        % Event   Sessions
        ... ----------------------------------- --------------- ---------- ----------
        ... db file sequential read             User I/O             75.00       3.00
        ... CPU + Wait for CPU                  CPU                  20.00       0.80
        ...           -------------------------------------------------------------
        ... '''
        >>> ash_profile(awrparse.read_awr(text)).select("group", "part", "share").rows()[:2]
        [('single_block', 'db file sequential read', 0.75), ('cpu', 'CPU, or waiting for it', 0.2)]
    """
    total = ash_samples(report)
    if "ash_top_events" not in report or (total is not None and total < _LEAST_SAMPLES):
        return pl.DataFrame(schema=PROFILE)
    frame = report["ash_top_events"].filter(pl.col("scope").is_in(_SCOPES) & (pl.col("activity_pct") > 0))
    parts = []
    for scope, event, percent in frame.select("scope", "event", "activity_pct").iter_rows():
        name = "CPU, or waiting for it" if event == _CPU else str(event)
        said = f"{name} (background)" if scope == "background" else name
        parts.append(("cpu" if event == _CPU else group_of(str(event)), said, percent / 100))
    if rest := max(0.0, 1 - sum(share for *_, share in parts)) * bool(parts):
        parts.append((UNACCOUNTED, "not listed", rest))
    rows = [(*part, None, _SAMPLES) for part in sorted(parts, key=lambda part: -part[2]) if part[2] >= _LEAST_PART]
    return pl.DataFrame(rows, schema=PROFILE, orient="row")


def _load(rows: pl.DataFrame) -> Iterator[Finding]:
    """Sessions active: those in one event over its share; all rows of the table must agree."""
    found = []
    for row in rows.iter_rows(named=True):
        active, share = row_figure(row, "avg_active_sessions"), row_figure(row, "activity_pct")
        if active is not None and share is not None and share.lo > 0:
            found.append(active * 100 / share)
    try:
        sessions = intersect(found)
    except RefusedError:
        return
    yield Finding(
        "load",
        f"{figure_text(sessions)} sessions were active on average, those of the background among them.",
        why="sessions in an event / its share of the samples, of all events together",
        evidence=(Evidence("ash_top_events"),),
        caveat="sessions that wait are active, too: this is no load of the processors",
        order=0,
    )


def _events(rows: pl.DataFrame, total: int | None) -> Iterator[Finding]:
    """The events of user sessions with most samples."""
    named = 0
    for row in rows.filter(pl.col("scope") == "user").sort("activity_pct", descending=True).iter_rows(named=True):
        share, event = row_figure(row, "activity_pct"), str(row["event"])
        if share is None or share.lo < 100 * NOTABLE or named == _MOST_NAMED or is_idle(event, row["wait_class"]):
            continue
        named += 1
        where = "on a processor, or waiting for one" if event == _CPU else f"in `{event}`"
        yield Finding(
            "ash_profile",
            f"{share_text(share / 100)} of {_counted(total)} were {where}.",
            share / 100,
            _SAMPLES,
            why=_sampling(share, total),
            refuted_by="the AWR report of the same period",
            evidence=(Evidence("ash_top_events", (event,)),),
        )


def _counted(total: int | None) -> str:
    return _SAMPLES if total is None else f"{total:,} samples"


def _sampling(share: Interval, total: int | None) -> str:
    """What sampling leaves open, apart from the rounding of the printed share."""
    if total is None:
        return "sessions that were active when a sample was taken; the report does not say how many samples"
    low, high = share_interval(round(share.value / 100 * total), total)
    return (
        f"95 % {100 * low:.1f} to {100 * high:.1f} % by sampling, if samples were independent; a wait longer than the "
        "time between two samples is in several"
    )


def _statements(report: AwrReport, total: int | None) -> Iterator[Finding]:
    """One statement that has half of the samples, or more."""
    if "ash_sql_events" not in report:
        return
    frame = report.with_bounds("ash_sql_events").filter(pl.col("sql_id").is_not_null())
    for row in frame.unique("sql_id", keep="first", maintain_order=True).iter_rows(named=True):
        share = row_figure(row, "activity_pct")
        if share is None or share.lo < 100 * _STATEMENT:
            continue
        yield Finding(
            "top_sql_share",
            f"Statement `{row['sql_id']}` had {share_text(share / 100)} of {_counted(total)}.",
            share / 100,
            _SAMPLES,
            why="of all its plans and row sources together" if row["plan_hash"] is None else "of one plan",
            refuted_by="the same table of a shorter period",
            evidence=(Evidence("ash_sql_events", (str(row["sql_id"]),)),),
        )


def _blockers(report: AwrReport, rows: pl.DataFrame) -> Iterator[Finding]:
    """A session that others waited for; only where its share is of all samples, as the event's own share shows."""
    if "ash_blocking_sessions" not in report:
        return
    users = {
        str(row["event"]): figure
        for row in rows.filter(pl.col("scope") == "user").iter_rows(named=True)
        if (figure := row_figure(row, "activity_pct")) is not None
    }
    for row in report.with_bounds("ash_blocking_sessions").head(1).iter_rows(named=True):
        share, event = row_figure(row, "event_pct"), str(row["event"])
        if share is None or share.lo < 100 * NOTABLE or event not in users or share.lo > users[event].hi:
            continue
        program = f" ({row['program']})" if row["program"] else ""
        yield Finding(
            "blocking_session",
            f"{share_text(share / 100)} of the samples were in `{event}`, waiting for session {row['sid']}{program}.",
            share / 100,
            _SAMPLES,
            why="a session that others wait for may itself wait",
            refuted_by="the samples of that session",
            evidence=(Evidence("ash_blocking_sessions", (str(row["session"]),)),),
        )


def addm_findings(report: AwrReport) -> Iterator[Finding]:
    r"""What ADDM found, in its own words and figures; refused where the report has no table of it.

    Examples:
        >>> import awrparse
        >>> report = awrparse.read_awr(b"          ADDM Report for Task 'TASK_1'\n          ------------------\n")
        >>> for one in addm_findings(report): print(one.sentence, one.is_refused)
        What ADDM found: the report has no table of findings. True
        >>> report = awrparse.read_awr(b"          ADDM Report for Task 'TASK_1'\n          ------------------\n"
        ...     b"There are no findings to report.\n")
        >>> for one in addm_findings(report): print(one.sentence, one.is_refused)
        ADDM had no findings to report. False
    """
    columns = next(((table, share) for table, share in _ADDM_TABLES.items() if table in report), None)
    if columns is None:
        yield Finding(
            "addm_finding",
            "What ADDM found: the report has no table of findings.",
            why="the report is cut, or says in another language that there are none",
            collect="the AWR report of the same period",
            is_refused=True,
        )
        return
    table, column = columns
    if report[table].is_empty():
        yield Finding("addm_finding", "ADDM had no findings to report.", evidence=(Evidence("info"),))
    for row in report.with_bounds(table).iter_rows(named=True):
        share = row_figure(row, column)
        if share is None or share.lo > 100:
            continue
        share = (share / 100).capped(1)
        yield Finding(
            "addm_finding",
            f"ADDM names `{row['finding']}` with {share_text(share)} of the activity.",
            share,
            "the activity, by ADDM",
            why="ADDM's own estimate; its findings overlap and do not add up",
            evidence=(Evidence(table, (str(row["finding"]),)),),
        )
