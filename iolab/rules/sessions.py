"""A SQL*Plus or SQLcl session: flash cache, sizes of reads, runs of a statement, and what the session cannot tell."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import count_text, figure_text, share_text, short_text, time_text
from iolab.metrics.lookups import statistic
from iolab.rules.exadata import exadata
from iolab.rules.finding import Evidence, Finding
from iolab.rules.reads import average_read_size
from iolab.stats.intervals import MIN_RUNS, median_interval
from logframe.errors import RefusedError
from logframe.interval import Interval, row_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse import Spool

#: Statistics that sentences use, by their names in V$STATNAME.
_STATISTICS: Final = (
    "cell flash cache read hits",
    "physical read total IO requests",
    "physical read total bytes",
    "cell physical IO bytes eligible for predicate offload",
    "cell physical IO interconnect bytes returned by smart scan",
    "physical reads",
    "session logical reads",
    "consistent gets",
)
_CUMULATIVE: Final = "a listing may count from the session's logon: all of it must be the timed statement's"
#: Fewer runs are no sample.
_LEAST_RUNS: Final = 3
#: Statements whose runs get a sentence.
_MOST_SAMPLES: Final = 4
#: Times are printed in hundredths of a second: shorter ones compare nothing.
_LEAST_TIMED_S: Final = 0.1
_LEAST_READS: Final = 20
#: Of shorter spools no statement is the longest, nor one of a smaller share.
_LEAST_SUM_S: Final = 1.0
_STATEMENT_SHARE: Final = 0.2
#: The longest of so many statements has more than this many equal parts of their time.
_BEYOND_EQUAL: Final = 1.4
_TEXT: Final = 60
_LEAST_GETS: Final = 100_000
_FEW_GETS: Final = 10_000
_RESOLUTION: Final = 0.05


def session_findings(spool: Spool) -> Iterator[Finding]:
    """The findings of a session.

    Examples:
        >>> import sqlplusparse
        >>> text = b'''SQL> select count(*) from t;
        ... Elapsed: 00:00:00.11
        ... SQL> select count(*) from t;
        ... Elapsed: 00:00:00.02
        ... '''
        >>> for one in session_findings(sqlplusparse.read_spool(text, printed=True)): print(one.sentence)
        Whether a first run is slower: 2 runs of one statement, 0.11 and 0.02 s, are no sample.
    """
    figures = _figures(spool)
    elapsed = _elapsed_before_listing(spool)
    for one in exadata(figures, elapsed_s=elapsed, table="statistics"):
        yield replace(one, caveat=_CUMULATIVE) if one.name == "flash_latency" and not one.is_refused else one
    yield from read_size(figures)
    yield from longest_statement(spool)
    yield from repeated_runs(spool)
    yield from first_runs(spool)
    yield from lio_cost(spool)
    yield from not_timed(spool)


def not_timed(spool: Spool) -> Iterator[Finding]:
    r"""A session that prints no time, no cost and no statistic of its statements: what took time cannot be said.

    Examples:
        >>> import sqlplusparse
        >>> text = b"SQL> select 1 from t;\n\n         1\n----------\n         1\n"
        >>> for one in not_timed(sqlplusparse.read_spool(text)): print(one.sentence, one.collect)
        What took time: the session prints no time of a statement. `set timing on` before the statements
        >>> list(not_timed(sqlplusparse.read_spool(text + b"\nElapsed: 00:00:00.01\n")))
        []
    """
    timed = spool.statements.get_column("elapsed_s").drop_nulls().len() + spool.timings.height
    worked = spool.statements.filter(pl.col("status").is_null() | (pl.col("status") == "ok"))
    if timed or spool.autotrace.height or spool.statistics.height or worked.is_empty():
        return
    yield Finding(
        "not_timed",
        "What took time: the session prints no time of a statement.",
        collect="`set timing on` before the statements",
        evidence=(Evidence("statements"),),
        is_refused=True,
        order=9,
    )


def _elapsed_before_listing(spool: Spool) -> Interval | None:
    """The time of the only statement that was timed before the listing of statistics, and is right before it."""
    if spool.statistics.is_empty():
        return None
    listing = spool.statistics.item(0, "statement")
    before = spool.statements.filter((pl.col("statement") < listing) & pl.col("elapsed_s").is_not_null())
    if before.height != 1 or before.item(0, "statement") != listing - 1:
        return None
    return row_figure(before.row(0, named=True), "elapsed_s")


def _figures(spool: Spool) -> dict[str, Interval]:
    found = {}
    for name in _STATISTICS:
        try:
            figure = statistic(spool, name)
        except (LookupError, RefusedError):
            continue
        if figure is not None:
            found[name.lower()] = figure
    return found


def read_size(figures: dict[str, Interval]) -> Iterator[Finding]:
    """The average size of a read of the session.

    Examples:
        >>> figures = {"physical read total io requests": Interval.exact(30),
        ...     "physical read total bytes": Interval.exact(8_192_000)}
        >>> print(*(one.sentence for one in read_size(figures)))
        A read was 267 KiB on average (30 requests).
        >>> list(read_size({}))
        []
    """
    requests, size = figures.get("physical read total io requests"), figures.get("physical read total bytes")
    if requests is None or size is None or requests.lo < _LEAST_READS:
        return
    yield average_read_size(requests, size, "statistics")


def longest_statement(spool: Spool) -> Iterator[Finding]:
    r"""The statement that took most of the time of all timed statements, from a fifth of it and a second in all.

    Examples:
        >>> import sqlplusparse
        >>> text = b"SQL> select 1 from a;\n\nElapsed: 00:00:03.00\nSQL> select 2 from b;\n\nElapsed: 00:00:01.00\n"
        >>> for one in longest_statement(sqlplusparse.read_spool(text, printed=True)): print(one.sentence)
        Statement 1 took 75.0 [74.7, 75.2] % of the 4.00 [3.99, 4.02] s of 2 timed statements: 3.00 [2.99, 3.01] s.
        >>> list(longest_statement(sqlplusparse.read_spool(text[:46], printed=True)))
        []
        >>> runs = text.replace(b"2 from b", b"1 from a")
        >>> list(longest_statement(sqlplusparse.read_spool(runs, printed=True)))  # runs of one statement
        []
    """
    timed = spool.statements.filter(pl.col("elapsed_s").is_not_null())
    if timed.height < 2:
        return
    whole = _sum(timed, "elapsed_s")
    top = timed.sort("elapsed_s", "statement", descending=[True, False]).row(0, named=True)
    time = row_figure(top, "elapsed_s")
    if time is None or whole.lo < _LEAST_SUM_S:
        return
    rest = Interval(whole.value - time.value, max(0.0, whole.lo - time.lo), whole.hi - time.hi)
    share = Interval(time.value / whole.value, time.lo / (time.lo + rest.hi), time.hi / (time.hi + rest.lo))
    repeated = top["text"] is not None and timed.filter(pl.col("text") == top["text"]).height > 1
    if repeated or share.lo < max(_STATEMENT_SHARE, _BEYOND_EQUAL / timed.height):
        return
    yield Finding(
        "main_statement",
        f"Statement {top['statement']} took {share_text(share)} of the {time_text(whole)} of "
        f"{timed.height:,} timed statements: {time_text(time)}.",
        share,
        "timed statements",
        why="the spool does not print its text"
        if top["text"] is None
        else f"it begins: `{short_text(top['text'].replace('`', ' '), _TEXT)}`",
        refuted_by="the time of the server alone: that of the client, of fetching and of printing is in Elapsed",
        evidence=(Evidence("statements", (str(top["statement"]),)),),
        order=2,
    )


def _sum(rows: pl.DataFrame, name: str) -> Interval:
    figures = [figure for row in rows.iter_rows(named=True) if (figure := row_figure(row, name)) is not None]
    return Interval(*(sum(getattr(figure, end) for figure in figures) for end in ("value", "lo", "hi")))


def repeated_runs(spool: Spool) -> Iterator[Finding]:
    r"""The median of each statement that ran three times or more, from six runs on with its 95 % interval.

    Examples:
        >>> import sqlplusparse
        >>> run = "SQL> select count(*) from t;\n\nElapsed: 00:00:0{}.00\n"
        >>> text = "".join(run.format(seconds) for seconds in (1, 2, 3, 4, 5, 6, 7)).encode()
        >>> for one in repeated_runs(sqlplusparse.read_spool(text, printed=True)): print(one.sentence)
        Statement 1 ran 7 times: median 4 s, 95 % 1.733 to 6.27 s.
        >>> text = "".join(run.format(seconds) for seconds in (1, 2, 4)).encode()
        >>> for one in repeated_runs(sqlplusparse.read_spool(text, printed=True)): print(one.sentence)
        Statement 1 ran 3 times: 1 to 4 s, median 2 s; too few runs for an interval.
        >>> list(repeated_runs(sqlplusparse.read_spool(run.format(1).encode(), printed=True)))
        []
    """
    runs = spool.runs().filter(pl.col("elapsed_s").is_not_null() & pl.col("text").is_not_null())
    shown = 0
    for _, rows in runs.group_by("sample", maintain_order=True):
        times = rows.get_column("elapsed_s").to_list()
        if len(times) < _LEAST_RUNS or shown == _MOST_SAMPLES:
            continue
        shown += 1
        first = rows.item(0, "statement")
        middle = f"median {figure_text(median(times))} s"
        plans = rows.drop_nulls("plan_hash_value").group_by("plan_hash_value", maintain_order=True)
        parts = plans.agg("elapsed_s").rows() if rows.get_column("plan_hash_value").n_unique() > 1 else []
        if len(parts) > 1:
            listed = [f"{len(own)} of plan `{plan}`, median {figure_text(median(own))} s" for plan, own in parts]
            said = "; ".join(listed[:_MOST_SAMPLES]) + ("; and others" if len(listed) > _MOST_SAMPLES else "")
            why = "runs of several plans are no sample of one time"
        elif len(times) < MIN_RUNS:
            said = f"{figure_text(min(times))} to {figure_text(max(times))} s, {middle}; too few runs for an interval"
            why = f"an interval of 95 % needs {MIN_RUNS} runs"
        else:
            low, high = median_interval(times)
            said = f"{middle}, 95 % {figure_text(low)} to {figure_text(high)} s"
            why = "the interval is of a sample, by order statistics; the order of the runs is in the chart"
        yield Finding(
            "runs",
            f"Statement {first} ran {len(times)} times: {said}.",
            why=why,
            refuted_by="runs taken in turns with those of another setting",
            evidence=(Evidence("runs", (str(first),)),),
            order=1,
        )


def first_runs(spool: Spool) -> Iterator[Finding]:
    """What the runs of one statement do not tell of a first run: too few of them, or times without a statement."""
    runs = spool.runs().filter(pl.col("elapsed_s").is_not_null())
    unnamed = runs.filter(pl.col("text").is_null())
    times = unnamed.get_column("elapsed_s").sort()
    if unnamed.height >= _LEAST_RUNS and times.item(-1) >= _LEAST_TIMED_S:
        yield Finding(
            "first_run_slower",
            f"Whether first runs are slower: {unnamed.height:,} times ({times.item(0):g} to {times.item(-1):g} s) "
            "carry no statement.",
            collect="`set echo on` before the runs",
            evidence=(Evidence("timings"),),
            is_refused=True,
        )
        yield Finding(
            "which_setting",
            "Which setting was faster: the runs are not labelled.",
            collect="`prompt` with the setting before each series",
            is_refused=True,
        )
    named = runs.filter(pl.col("text").is_not_null())
    for (_,), rows in named.group_by("sample", maintain_order=True):
        if 2 <= rows.height < _LEAST_RUNS:
            listed = ", ".join(f"{seconds:g}" for seconds in rows.get_column("elapsed_s").head(-1))
            last = rows.item(-1, "elapsed_s")
            yield Finding(
                "first_run_slower",
                f"Whether a first run is slower: {rows.height} runs of one statement, {listed} and {last:g} s, are no "
                "sample.",
                collect="six runs or more, with `autotrace` for reads and recursive calls",
                evidence=(Evidence("statements", tuple(str(one) for one in rows.get_column("statement"))),),
                is_refused=True,
            )
            return


def lio_cost(spool: Spool) -> Iterator[Finding]:
    """Elapsed time for each logical read of a statement that read no block from disk; refused where it did."""
    traced = spool.autotrace
    if traced.is_empty() or "parallel" in " ".join(spool.plans.get_column("operation").drop_nulls().head(200)).lower():
        return
    names = {"consistent gets": "consistent", "db block gets": "current", "physical reads": "reads"}
    wide = traced.filter(pl.col("name").is_in(list(names))).select("statement", "name", "value")
    best: tuple[int, int, int] | None = None
    for (statement,), rows in wide.group_by("statement", maintain_order=True):
        values = dict(zip(rows.get_column("name"), rows.get_column("value"), strict=True))
        gets = int(values.get("consistent gets") or 0) + int(values.get("db block gets") or 0)
        if "physical reads" in values and gets >= _FEW_GETS and (best is None or gets > best[1]):
            best = int(str(statement)), gets, int(values["physical reads"] or 0)
    if best is None:
        return
    statement_number, gets, reads = best
    evidence = (Evidence("autotrace", (str(statement_number),)), Evidence("statements", (str(statement_number),)))
    if reads:
        yield Finding(
            "lio_cost",
            f"The time of a logical read: statement {statement_number} read {count_text(reads, 'block')} from disk.",
            collect="a second run, with 0 physical reads",
            evidence=evidence,
            is_refused=True,
        )
        return
    row = spool.statements.filter(pl.col("statement") == statement_number)
    elapsed = row_figure(row.row(0, named=True), "elapsed_s") if row.height else None
    if gets < _LEAST_GETS or elapsed is None or elapsed.value <= 0:
        return
    if (elapsed.hi - elapsed.lo) / elapsed.value > _RESOLUTION:
        return
    yield Finding(
        "lio_cost",
        f"Elapsed per logical read: {time_text(elapsed / gets)} (statement {statement_number}, {gets:,} gets), row "
        "work and "
        "fetching in it.",
        why="no block was read from disk",
        refuted_by="CPU statistics of the same statement",
        evidence=evidence,
        order=6,
    )
