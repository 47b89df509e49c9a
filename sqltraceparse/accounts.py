"""Where the time went: each microsecond of a session once, by call, statement, event and cause.

The time of a call is printed with the calls below it.  Without those it is CPU, waits, and the rest that is neither
(time on the run queue, waits that are not instrumented, what instrumentation itself takes).  Between calls the session
waits for its client.  Inclusive times of different depths are never added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.oracle import IDLE_EVENTS
from sqltraceparse.grammar import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqltraceparse.trace import SqlTrace

_IS_IDLE: Final = pl.col("event").str.to_lowercase().is_in(sorted(IDLE_EVENTS))
#: Components of `profile` that are not events.
CPU, UNACCOUNTED = "CPU", "unaccounted for"


def without_literals(text: pl.Expr) -> pl.Expr:
    """The text of a statement with ``:x`` for each literal, so that statements that differ in nothing else are alike.

    Examples:
        >>> texts = pl.DataFrame({"text": ["select a1 from t where b=17 and c in ('x','it''s') and d<:2", "t(1,2.5)"]})
        >>> texts.select(without_literals(pl.col("text"))).to_series().to_list()
        ['select a1 from t where b=:x and c in (:x,:x) and d<:2', 't(:x,:x)']
    """
    without = text.str.replace_all(GRAMMAR.pattern("{TEXT_LITERAL}"), ":x")
    return without.str.replace_all(GRAMMAR.pattern("(?P<before>{BEFORE_NUMBER}){NUMBER_LITERAL}"), "${before}:x")


def profile(trace: SqlTrace, *, by: Sequence[str] = ()) -> pl.DataFrame:
    r"""The response-time profile: CPU, each event, and what is unaccounted for.

    Args:
        trace: a trace with waits (level 8 or 12); without them all but CPU is unaccounted for.
        by: columns of the calls and waits to tell apart: ``sql_id``, ``statement``, ``session_id``, ``process``.

    Returns:
        One row a component (and value of `by`), the largest first, idle waits last.

        * ``component``: CPU, an event, or the rest of the calls' own time
        * ``is_idle``: a wait for the client or for work between calls; it is no part of the response time
        * ``calls``: number of waits, or of database calls for the components that are no event
        * ``total_us``; ``share`` of the response time (null for idle waits, and where no time passed)
        * ``mean_us``, ``p50_us``, ``p95_us``, ``p99_us``, ``max_us`` of one wait or call; percentiles are
          times that occurred
        * ``skew``: share of the total that the longest tenth of the waits took; 0.1 where all are alike

    Examples:
        >>> from sqltraceparse import read_sqltrace
        >>> trace = read_sqltrace(
        ...     b"WAIT #1: nam='db file sequential read' ela= 40 file#=1 block#=2 blocks=1 obj#=3 tim=1050\n"
        ...     b"FETCH #1:c=20,e=70,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=1060\n"
        ... )
        >>> profile(trace).select("component", "total_us").rows()
        [('db file sequential read', 40), ('CPU', 20), ('unaccounted for', 10)]
    """
    by = list(by)
    waits = trace.waits.lazy().filter(pl.col("elapsed_us").is_not_null())
    is_idle = pl.col("call").is_null() & _IS_IDLE
    events = waits.select(*by, component="event", is_idle=is_idle, one="elapsed_us")
    parts = [events]
    for component, column in ((CPU, "own_cpu_us"), (UNACCOUNTED, "unaccounted_us")):
        part = trace.calls.lazy().select(*by, component=pl.lit(component), is_idle=pl.lit(False), one=column)
        parts.append(part.filter(pl.col("one").is_not_null()))
    one: pl.Expr = pl.col("one")
    tenth = pl.max_horizontal(1, (pl.len() / 10).ceil()).cast(pl.Int64)
    rows = (
        pl.concat(parts)
        .group_by(*by, "component", "is_idle")
        .agg(
            calls=pl.len().cast(pl.Int64),
            total_us=one.sum(),
            mean_us=one.mean(),
            p50_us=one.quantile(0.5, "equiprobable"),
            p95_us=one.quantile(0.95, "equiprobable"),
            p99_us=one.quantile(0.99, "equiprobable"),
            max_us=one.max(),
            skew=pl.when(one.sum() > 0).then(one.top_k(tenth).sum() / one.sum()),
        )
    )
    busy = pl.when(~pl.col("is_idle")).then("total_us").sum()
    response = busy.over(by) if by else busy
    share = pl.when(~pl.col("is_idle") & (response > 0)).then(pl.col("total_us") / response)
    order = [*by, "is_idle", "total_us", "component"]
    found = rows.with_columns(share=share).sort(order, descending=[name == "total_us" for name in order])
    columns = ("calls", "total_us", "share", "mean_us", "p50_us", "p95_us", "p99_us", "max_us", "skew")
    return found.select(*by, "component", "is_idle", *columns).collect()


def account_time(trace: SqlTrace) -> pl.DataFrame:
    """The time of each session, every part of it once.

    Returns:
        One row a process, clock and session: the sessions of a shared server wait at the same time.

        * ``span_us``: from the start of the first record to the end of the last
        * ``cpu_us``, ``wait_us``, ``unaccounted_us``: of all calls, each without those below it
        * ``idle_us``: waits for the client or for work between calls;  ``between_us``: other waits between calls
        * ``gap_us``: what is in no record: the span less all the others.  Negative where calls overlap: some releases
          print calls that begin before the one before them ends.
        * ``gap_share`` of the span
    """
    start = pl.col("tim_us") - pl.col("elapsed_us")
    key = ["process", "clock", "session_id"]
    timed = pl.col("tim_us").is_not_null() & pl.col("elapsed_us").is_not_null()
    ranges = (
        pl.concat([frame.filter(timed).select(*key, "tim_us", start=start) for frame in (trace.calls, trace.waits)])
        .group_by(key)
        .agg(span_us=pl.col("tim_us").max() - pl.col("start").min())
    )
    calls = (
        trace.calls.filter(timed)
        .group_by(key)
        .agg(
            cpu_us=pl.col("own_cpu_us").sum(),
            wait_us=pl.col("own_wait_us").sum(),
            unaccounted_us=pl.col("unaccounted_us").sum(),
        )
    )
    idle = _IS_IDLE
    between = (
        trace.waits.filter(timed, pl.col("call").is_null())
        .group_by(key)
        .agg(
            idle_us=pl.col("elapsed_us").filter(idle).sum(),
            between_us=pl.col("elapsed_us").filter(~idle).sum(),
        )
    )
    parts = ("cpu_us", "wait_us", "unaccounted_us", "idle_us", "between_us")
    joined = ranges.join(calls, on=key, how="left", nulls_equal=True).join(
        between, on=key, how="left", nulls_equal=True
    )
    filled = joined.with_columns(pl.col(name).fill_null(0) for name in parts)
    gap = pl.col("span_us") - pl.sum_horizontal(parts)
    share = pl.when(pl.col("span_us") > 0).then(pl.col("gap_us") / pl.col("span_us"))
    return filled.with_columns(gap_us=gap).with_columns(gap_share=share).sort(key)


def statement_totals(trace: SqlTrace) -> pl.DataFrame:
    """The calls of each statement, with and without the statements below it.

    Returns:
        One row a statement and depth, the largest own time first.

        * ``sql``: SQL_ID, or the hash value where the release prints no SQL_ID
        * ``parses``, ``executions``, ``fetches``, ``closes``: calls
        * ``cpu_us``, ``elapsed_us``, ``disk_blocks``, ``consistent_gets``, ``current_gets``: with the statements below,
          in whose rows the same time stands again
        * ``own_...``: without, as TKPROF prints them.  Closes are part of the ``own_...`` times only.
        * ``idle_us``: waits for the client between its calls
    """
    names = trace.statements.select(
        "statement",
        sql=pl.coalesce("sql_id", pl.col("hash_value").cast(pl.String)),
        text="text",
        command="command",
        user_id="user_id",
    )
    calls = trace.calls.filter(pl.col("cursor").is_not_null()).join(names, on="statement", how="left")
    key = ["sql", "depth", "user_id"]
    is_close = pl.col("op") == "CLOSE"
    inclusive = ("cpu_us", "elapsed_us", "disk_blocks", "consistent_gets", "current_gets", "rows")
    own = ("own_cpu_us", "own_elapsed_us", "own_wait_us", "unaccounted_us")
    gets = ("own_disk_blocks", "own_consistent_gets", "own_current_gets")
    found = calls.group_by(key).agg(
        pl.col("text").first(),
        pl.col("command").first(),
        parses=(pl.col("op") == "PARSE").sum().cast(pl.Int64),
        executions=pl.col("op").is_in(["EXEC", "UNMAP", "SORT UNMAP", "RPC EXEC"]).sum().cast(pl.Int64),
        fetches=(pl.col("op") == "FETCH").sum().cast(pl.Int64),
        closes=is_close.sum().cast(pl.Int64),
        misses=pl.col("misses").sum(),
        **{name: pl.col(name).filter(~is_close).sum() for name in inclusive},
        **{name: pl.col(name).sum() for name in (*own, *gets)},
    )
    idle = (
        trace.waits.filter(pl.col("call").is_null(), _IS_IDLE)
        .join(trace.statements.select("statement", "depth", "user_id"), on="statement")
        .join(names.select("statement", "sql"), on="statement")
        .group_by(key)
        .agg(idle_us=pl.col("elapsed_us").sum())
    )
    found = found.join(idle, on=key, how="left", nulls_equal=True).with_columns(pl.col("idle_us").fill_null(0))
    return found.sort("own_elapsed_us", "sql", "depth", descending=[True, False, False], nulls_last=True)
