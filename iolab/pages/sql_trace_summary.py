"""The views of extended SQL traces and of TKPROF reports."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts, metrics
from iolab.metrics.formatting import until_text
from iolab.pages.figures import join_figures
from iolab.pages.what_if_html import TRIP_TIMES
from iolab.rules.sql_traces import sql_trace_findings
from iolab.rules.tkprof import tkprof_findings
from iolab.time_ledger.sql_traces import sessions_of, sql_trace_ledgers, statement_name
from iolab.time_ledger.tkprof import part_name, statements_of, tkprof_ledgers
from iolab.views import Summary, View
from logframe.lazy import on_use
from logframe.wording import counted
from sqltraceparse import account_time, profile, statement_totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqltraceparse import SqlTrace, Tkprof

#: Statements of a screen.
_MOST_SHOWN: Final = 20
#: What names a session, and where its trace has it.
_OF_SESSIONS: Final = {"session": "session_id", "module": "module"}
#: Fewer reads are no distribution.
_LEAST_READS: Final = 6
#: Columns of statements on a screen: buffer gets and blocks from disk are of two kinds, and never one column.
_BLOCKS: Final = {"gets": "gets", "disk blocks": "disk_blocks"}
_OF_STATEMENTS: Final = (
    *("sql", "depth", "parses", "executions", "fetches", "rows", "own_elapsed_us", "own_cpu_us", "own_wait_us"),
    *("unaccounted_us", "own_disk_blocks", "own_consistent_gets", "own_current_gets", "text"),
)


def summarize_sql_trace(trace: SqlTrace) -> Summary:
    """The response-time profile, the account of each session, statements by their own time, and what a read cost."""
    parts = profile(trace)
    frames = {
        "profile": parts,
        "accounts": account_time(trace),
        "statements": statement_totals(trace).select(_OF_STATEMENTS),
        "round_trips": _round_trips(trace),
        "reads_by_object": metrics.reads_by(trace.waits, by=["object_id", "event"]),
        "reads_by_file": metrics.reads_by(trace.waits, by=["file_id", "event"]),
        "row_sources": trace.row_sources,
        "errors": trace.errors,
        "clock": trace.clock,
    }
    figures = join_figures(
        [
            _with_event(metrics.wait_latency(trace.waits)),
            _with_event(metrics.wait_sizes(trace.waits)),
            metrics.multiblock_count(trace.waits),
            metrics.us_per_get(trace.calls),
            metrics.rows_per_fetch(trace.calls),
            metrics.round_trips(trace.calls, trace.waits),
            metrics.read_concurrency(trace.waits),
        ]
    )
    kept = {name: frame for name, frame in frames.items() if frame.height}
    return Summary(kept, figures, (), _drawers(metrics.reads_of(trace.waits)))


def _round_trips(trace: SqlTrace) -> pl.DataFrame:
    """The round trips between the fetches of each statement: their rows, and how long they took; the longest first."""
    us, fetched = pl.col("us"), (pl.col("op") == "FETCH") & (pl.col("depth") == 0)
    found = [
        one.for_client.filter("is_trip")
        .group_by("statement")
        .agg(
            pl.len().alias("round_trips"),
            *(us.quantile(share, "nearest").cast(pl.Int64).alias(name) for name, share in TRIP_TIMES.items()),
            us.sum().alias("elapsed_us"),
        )
        .join(
            one.calls.filter(fetched)
            .group_by("statement")
            .agg(rows_per_fetch=pl.col("rows").mean(), array_size=pl.col("rows").max()),
            on="statement",
        )
        for one in sessions_of(trace)[:1]
    ]
    return pl.concat(found).sort("elapsed_us", "statement", descending=[True, False]) if found else pl.DataFrame()


def summarize_tkprof(report: Tkprof) -> Summary:
    """The statements, their calls and waits, and the totals."""
    total = report.calls.filter(pl.col("call") == "total").join(
        report.statements.select("statement", "sql_id", "depth", "text"), on="statement", how="left"
    )
    frames = {"totals": total.drop("call", "line"), **report.frames()}
    return Summary({name: frame for name, frame in frames.items() if frame.height}, join_figures([]))


def _with_event(figures: pl.DataFrame) -> pl.DataFrame:
    """Metrics whose names say their event."""
    return figures.with_columns(metric=pl.concat_str("metric", pl.lit(" ("), "event", pl.lit(")")))


def _drawers(reads: pl.DataFrame) -> dict[str, Callable[[str], Any]]:
    timed = reads.select(
        "event",
        time=pl.col("elapsed_us").cast(pl.Duration("us")),
        submitted=pl.col("tim_us").cast(pl.Duration("us")) - pl.col("tim_us").min().cast(pl.Duration("us")),
    )
    if timed.height < _LEAST_READS:
        return {}
    return {
        "ecdf": lambda _: charts.ecdf.spec(
            timed, value="time", by="event", axis="time of a wait", title="Waits for reads"
        ),
        "latency_heat_map": lambda _: charts.latency_heat_map.spec(timed, value="time", axis="time of a wait"),
    }


def _span(trace: SqlTrace) -> tuple[datetime, datetime, bool] | None:
    """From the first to the last call, in UTC where the stamps have a zone."""
    is_utc = bool(trace.clock.get_column("zone_is_known").all())
    wall = trace.calls.get_column("wall").dt.replace_time_zone(None).drop_nulls()
    return (wall.min(), wall.max(), is_utc) if wall.len() else None  # type: ignore[return-value] # datetimes


def _headline(trace: SqlTrace) -> str:
    """What the trace is of: "SQL trace, PDB1 of cdb1 on host1, session 35.1202, 2026-03-02 23:00:00 to 23:05:00"."""
    said = {name: value for name, value in trace.session.select("name", "value").iter_rows() if value}
    container = said.get("stamp", "").partition("(")[0]
    whose = " of ".join(filter(None, (container, trace.head.instance)))
    whose = f"{whose} on {trace.head.host.partition('.')[0]}" if whose and trace.head.host else whose
    session, module = (f"{name} {said[key]}" if key in said else "" for name, key in _OF_SESSIONS.items())
    first = trace.session.get_column("stamp").drop_nulls().head(1).to_list()
    when = _period(first[0], trace.calls.get_column("wall").max()) if first else None
    return ", ".join(part for part in ("extended SQL trace", whose, session, when, module) if part)


def _period(first: str, last: Any) -> str:  # noqa: ANN401 - a maximum
    """From a stamp to the last call, on the clock of the stamp; one that is no time as it is.

    Examples:
        >>> from datetime import UTC, datetime
        >>> _period("2026-03-02T23:59:58.5-07:00", datetime(2026, 3, 3, 7, 0, 1, tzinfo=UTC))
        '2026-03-02 23:59:58 to 2026-03-03 00:00:01'
        >>> [_period("2026-03-02 23:00:00", last) for last in (None, datetime(2026, 3, 2, 23, 4, tzinfo=UTC))]
        ['2026-03-02 23:00:00', '2026-03-02 23:00:00 to 23:04:00']
    """
    try:
        begin = datetime.fromisoformat(first.strip())
    except ValueError:
        return first.replace("T", " ")[:19]
    end = begin if last is None else last.astimezone(begin.tzinfo) if begin.tzinfo else last.replace(tzinfo=None)
    until = "" if (end - begin).total_seconds() < 1 else f" to {until_text(begin, end)}"
    return f"{begin:%Y-%m-%d %H:%M:%S}{until}"


def _columns(trace: SqlTrace) -> pl.DataFrame:
    """Buffer gets, and blocks from disk, of each statement that is a part of the ledger."""
    sessions = sessions_of(trace)
    rows = [] if not sessions else sessions[0].statements.head(_MOST_SHOWN).to_dicts()
    found = [{"part": statement_name(row), **_blocks(row)} for row in rows]
    return pl.DataFrame(found, schema=dict.fromkeys(("part", *_BLOCKS), pl.String))


def _blocks(row: dict[str, Any]) -> dict[str, str]:
    """The cells of a statement for `_BLOCKS`."""
    return {title: f"{row[name]:,}" for title, name in _BLOCKS.items()}


def _tkprof_headline(report: Tkprof) -> str:
    """What the report is of: "TKPROF report, 19.0, of trace demo1_ora_4711.trc, 2 statements"."""
    release = ".".join((report.release or "").split(".")[:2])
    trace = f"of trace {PurePath(report.trace).name}" if report.trace else ""
    count = counted(report.statements.height, "statement")
    return ", ".join(part for part in ("TKPROF report", release, trace, count) if part)


def _tkprof_columns(report: Tkprof) -> pl.DataFrame:
    """Buffer gets, blocks from disk, and rows of each statement that is a part of the ledger."""
    rows = statements_of(report).head(_MOST_SHOWN).to_dicts()
    found = [{"part": part_name(row), **_blocks(row), "rows": f"{row['rows']:,}"} for row in rows]
    return pl.DataFrame(found, schema=dict.fromkeys(("part", *_BLOCKS, "rows"), pl.String))


SQL_TRACE: Final = View(
    summarize_sql_trace,
    noun="SQL trace",
    compare={
        "sqltrace": on_use("iolab.comparison.sql_traces:pair_sql_traces"),
        "strace": on_use("iolab.comparison.with_sql_trace:pair_with_calls"),
        "sqlplus": on_use("iolab.comparison.with_sql_trace:pair_with_session"),
        "tkprof": on_use("iolab.comparison.with_sql_trace:pair_with_tkprof"),
        "awr": on_use("iolab.comparison.with_sql_trace:pair_with_report"),
    },
    findings=sql_trace_findings,
    looked_at="calls and waits",
    ledgers=sql_trace_ledgers,
    headline=_headline,
    columns=_columns,
    span=_span,
)
TKPROF: Final = View(
    summarize_tkprof,
    noun="report",
    findings=tkprof_findings,
    looked_at="totals and statements",
    ledgers=tkprof_ledgers,
    headline=_tkprof_headline,
    columns=_tkprof_columns,
)
