"""The account of time of a TKPROF report: the totals of its calls, as CPU, waits, calls and statements.

TKPROF prints recursive statements apart from the statements that called them.  Whether their time is in the time of
the callers depends on the release and on PL/SQL, and is decided by the gets.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from iolab.metrics.formatting import count_text, share_text, time_text
from iolab.time_ledger.account import Account, void_ledger
from iolab.time_ledger.parts import IO_CLASSES, Place
from iolab.time_ledger.sql_traces import FROM_CLIENT, next_of, statement_name
from logframe.interval import Interval, row_figure
from logframe.oracle import is_idle, wait_class_of
from sqltraceparse import without_literals

if TYPE_CHECKING:
    from iolab.time_ledger.account import Ledger
    from sqltraceparse import Tkprof

BASE: Final = "call time"
CPU: Final = "CPU"
#: The recursive statements as one part, where the report does not show whether the callers contain them.
PERHAPS_INSIDE: Final = "recursive statements, inside the others or beside them"
#: A statement with this many times the gets of the recursive statements contains them.
_INSIDE: Final = (0.99, 1.02)
#: Gets from which on they tell.
_LEAST_GETS: Final = 100
#: Of less time no shares are given: it is printed in units of 10 ms.
_LEAST_S: Final = 0.5
#: Waits for commits are between calls where the calls leave no time for this part of them.
_MOST_OF: Final = 0.5
#: Bounds of the total that are apart by more are reported.
_RANGE: Final = 0.01
_STEP_S: Final = 0.01
#: Times below this part of the others are not worth a word.
_LITTLE: Final = 0.10
_MOST_STATEMENTS: Final = 100
#: Rows of waits for the client.
OF_CLIENT: Final = pl.col("event").str.to_lowercase().is_in(FROM_CLIENT)
_OVERALL: Final = ("non_recursive", "recursive")
_ZERO: Final = Interval.exact(0.0)


class Nesting(NamedTuple):
    """Where the time of recursive statements is.

    Attributes:
        kind: ``none`` (there are not), ``inside`` (the others), ``apart``, or ``unknown``.
        container: The ``part`` of `statements_of` that contains them; None where it is not known.
    """

    kind: str
    container: int | None = None


def statements_of(report: Tkprof) -> pl.DataFrame:
    """The statements of a report, those that are alike but for literals as one, the longest first.

    ``key`` (text without literals), ``is_recursive``, ``part`` (number of the first), ``line``, ``sql``, ``text``,
    ``texts``, ``count`` (calls), ``executions``, ``misses`` (of parse), ``elapsed_s``, ``cpu_s`` with bounds,
    ``io_s``, ``disk_blocks``, ``gets``, ``rows``.
    """
    of_statement = report.calls.filter(pl.col("scope") == "statement")
    executed = of_statement.filter(pl.col("call") == "Execute").select("statement", executions="count")
    events = [one for one in report.waits.get_column("event").unique() if wait_class_of(one) in IO_CLASSES]
    waited = report.waits.filter(pl.col("scope") == "statement", pl.col("event").is_in(events))
    io = waited.group_by("statement").agg(io_s=pl.col("total_wait_s").sum())
    times = [f"{name}_s{end}" for name in ("elapsed", "cpu") for end in ("", "_lo", "_hi")]
    rows = (
        of_statement.filter(pl.col("call") == "total")
        .select("statement", "count", *times, "disk_blocks", "rows", gets=pl.sum_horizontal(*_GETS))
        .join(executed, on="statement", how="left")
        .join(io, on="statement", how="left")
        .join(report.statements.drop("error"), on="statement", how="left", maintain_order="left")
        .with_columns(
            key=pl.coalesce(without_literals(pl.col("text")), "sql_id"), is_recursive=pl.col("depth").fill_null(0) > 0
        )
    )
    sums = ("count", "executions", *times, "io_s", "disk_blocks", "gets", "rows")
    found = rows.group_by("key", "is_recursive", maintain_order=True).agg(
        pl.col("statement").first().alias("part"),
        pl.col("line", "text").first(),
        pl.col("sql_id").first().alias("sql"),
        pl.col("misses_parse").sum().alias("misses"),
        *(pl.col(name).sum() for name in sums),
        texts=pl.struct("sql_id", "text").n_unique(),
    )
    return found.sort("elapsed_s", "part", descending=[True, False])


_GETS: Final = ("consistent_gets", "current_gets")


def nesting_of(report: Tkprof, statements: pl.DataFrame) -> Nesting:
    """Whether the time of recursive statements is in that of the statements that called them.

    The gets and CPU tell, and the row sources of a statement: these contain what it called.

    Args:
        report: The report.
        statements: Its `statements_of`.
    """
    recursive = statements.filter("is_recursive")
    overall = {row["scope"]: row for row in _totals(report, "total")}
    gets = {scope: sum(row[name] or 0 for name in _GETS) for scope, row in overall.items()}
    if not recursive.height and (overall.get("recursive") or {}).get("count", 0) == 0:
        return Nesting("none")
    listed = int(recursive.get_column("gets").sum())
    if listed >= _LEAST_GETS:
        roots = report.row_sources.filter(pl.col("level") == 0).select("consistent_gets", part="statement")
        beyond = statements.filter(~pl.col("is_recursive")).join(roots, on="part")
        beside = pl.col("consistent_gets") - pl.col("gets")
        beyond = beyond.filter(beside.is_between(_INSIDE[0] * listed, _INSIDE[1] * listed))
        if beyond.height:  # its row sources contain them, its calls do not
            return Nesting("apart")
        own = pl.col("gets").is_between(_INSIDE[0] * listed, _INSIDE[1] * listed)
        own &= pl.col("gets") >= recursive.get_column("gets").max()  # what is inside is no more than the whole
        own &= pl.col("cpu_s_hi") >= recursive.get_column("cpu_s_lo").sum()
        holds = statements.filter(~pl.col("is_recursive"), own).sort((pl.col("gets") - listed).abs())
        if holds.height:
            return Nesting("inside", holds.item(0, "part"))
    callers, called = _elapsed(report, statements, "non_recursive"), _elapsed(report, statements, "recursive")
    outside = gets.get("non_recursive", int(statements.filter(~pl.col("is_recursive")).get_column("gets").sum()))
    cpu = _overall(report, "total", "cpu_s")
    has_more = cpu.get("recursive", _ZERO).lo > cpu.get("non_recursive", _ZERO).hi
    if gets.get("recursive", listed) > _INSIDE[1] * outside or called.lo > callers.hi or has_more:
        return Nesting("apart")
    return Nesting("unknown")


def tkprof_ledgers(report: Tkprof) -> list[Ledger]:
    """The account of time of a TKPROF report.

    Views: ``what`` (CPU and waits), ``phase`` (Parse, Execute, Fetch) and ``who`` (statements).  Waits for clients are
    between calls, and no part of the total.
    """
    statements = statements_of(report)
    nesting = nesting_of(report, statements)
    callers, called = _elapsed(report, statements, "non_recursive"), _elapsed(report, statements, "recursive")
    total = _joined(nesting, callers, called)
    if total.hi <= 0:
        return [void_ledger("the report has no table of calls", base=BASE)]
    account = Account(total, BASE)
    commits = _what(account, report, nesting)
    account.base = "calls and commits" if commits.value else BASE
    _phases(account, report, nesting)
    _who(account, report, statements, nesting, called)
    unshared = "" if total.lo >= _LEAST_S else f"{range_text(total)} is too short for times in steps of 0.01 s"
    between = f"; commits between calls took {range_text(commits)}" if commits.value else ""
    text = _words(total, callers, called, nesting) + between + _client(report, total)
    lead = account.ledger(unshared=unshared, text=text, counted={"what": "waits", "phase": "calls", "who": "calls"})
    rest = lead.parts().filter(pl.col("kind") == "not_accounted", pl.col("share_lo") >= _LITTLE)
    shares = rest.get_column("share") if report.waits.height else ()  # without its waits a trace is not complete
    said = "".join(f"; {share_text(share)} of it is neither CPU nor a wait" for share in shares)
    return [replace(lead, text=f"{text}{said}")]


def _joined(nesting: Nesting, callers: Interval, called: Interval) -> Interval:
    """A figure of the statements of the session and of recursive ones as one."""
    if nesting.kind == "apart":
        return callers + called
    if nesting.kind == "unknown":
        return Interval(callers.value, callers.lo, callers.hi + called.hi)
    return callers


def _totals(report: Tkprof, call: str) -> list[dict[str, Any]]:
    """The rows of the overall totals."""
    return report.calls.filter(pl.col("scope").is_in(_OVERALL), pl.col("call") == call).to_dicts()


def _overall(report: Tkprof, call: str, column: str) -> dict[str, Interval]:
    """A time of the overall totals by scope."""
    found = {str(row["scope"]): row_figure(row, column) for row in _totals(report, call)}
    return {scope: figure for scope, figure in found.items() if figure is not None}


def _elapsed(report: Tkprof, statements: pl.DataFrame, scope: str) -> Interval:
    """The elapsed time of a scope; without overall totals that of its statements."""
    overall = _overall(report, "total", "elapsed_s")
    if overall:
        return overall.get(scope, _ZERO)
    own = statements.filter(pl.col("is_recursive") == (scope == "recursive"))
    return Interval(*own.select(pl.col("elapsed_s", "elapsed_s_lo", "elapsed_s_hi").sum()).row(0))


def _what(account: Account, report: Tkprof, nesting: Nesting) -> Interval:
    """CPU, and the waits of the overall lists or, without one, of the statements.

    Returns:
        The waits for commits that no call contains: with the CPU they took far more than the calls.
    """
    cpu = _overall(report, "total", "cpu_s")
    if not cpu:
        own = report.calls.filter(pl.col("scope") == "statement", pl.col("call") == "total")
        figures = ("cpu_s", "cpu_s_lo", "cpu_s_hi")
        cpu = {
            scope: Interval(*rows.select(pl.col(figures).sum()).row(0))
            for scope, rows in _by_depth(report, own).items()
        }
    time = _joined(nesting, cpu.get("non_recursive", _ZERO), cpu.get("recursive", _ZERO))
    step = "see the statements with most gets: iolab show --tables"
    account.add("what", CPU, time, kind="cpu", evidence=Place("calls", _OVERALL), next_step=step)
    step = f"see each wait in the trace{trace_of(report)}"
    known = time
    waits = report.waits.filter(pl.col("scope").is_in(_OVERALL))
    if not waits.height:
        of_statements = _by_depth(report, report.waits.filter(pl.col("scope") == "statement"))
        waits = pl.concat(
            [report.waits.clear(), *(rows.with_columns(scope=pl.lit(scope)) for scope, rows in of_statements.items())]
        )
    figures = ("total_wait_s", "total_wait_s_lo", "total_wait_s_hi")
    events = (
        waits.drop_nulls("total_wait_s")
        .group_by("event", maintain_order=True)
        .agg(
            pl.col("waits", *figures).sum(),
            apart=pl.col("total_wait_s").filter(pl.col("scope") == "recursive").sum(),
        )
    )
    rows = events.sort("total_wait_s", "event", descending=[True, False]).to_dicts()
    commits = sum(
        (row_figure(row, "total_wait_s") or _ZERO for row in rows if wait_class_of(row["event"]) == "Commit"), _ZERO
    )
    if (time + commits - account.total).lo <= _MOST_OF * commits.value:
        commits = _ZERO
    account.total += commits
    for view in ("phase", "who") if commits.value else ():
        account.add(view, "commits between calls", commits, kind="wait", wait_class="Commit")
    for row in sorted(rows, key=lambda one: is_idle(one["event"])):
        event, seconds = str(row["event"]), row_figure(row, "total_wait_s")
        if seconds is None or event.lower() in FROM_CLIENT:
            continue
        if is_idle(event) and (known + seconds).lo > account.total.hi:
            continue  # a wait for work, between calls
        if nesting.kind == "unknown":
            seconds = Interval(seconds.value - row["apart"], max(0.0, seconds.lo - row["apart"]), seconds.hi)
        wait_class = wait_class_of(event)
        kind = "io" if wait_class in {"User I/O", "System I/O"} else "wait"
        times, place = row["waits"] or 0, Place("waits", (event,))
        count, then = Interval.exact(times), next_of(event, times) or step
        account.add(
            "what", event, seconds, kind=kind, wait_class=wait_class, count=count, evidence=place, next_step=then
        )
        known = known + seconds
    if known.meets(account.total) and known.value <= account.total.value:
        account.closes(None, "not accounted for (within rounding)", kind="not_accounted")
    return commits


def _by_depth(report: Tkprof, rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Rows of statements by the scope that they are in."""
    deep = report.statements.filter(pl.col("depth") > 0).get_column("statement").implode()
    is_deep = pl.col("statement").is_in(deep)
    return {"non_recursive": rows.filter(~is_deep), "recursive": rows.filter(is_deep)}


def _phases(account: Account, report: Tkprof, nesting: Nesting) -> None:
    for call in ("Parse", "Execute", "Fetch"):
        times = _overall(report, call, "elapsed_s")
        if not times:
            continue
        counts = {str(row["scope"]): float(str(row["count"])) for row in _totals(report, call)}
        seconds = _joined(nesting, times.get("non_recursive", _ZERO), times.get("recursive", _ZERO))
        wanted = _OVERALL if nesting.kind == "apart" else _OVERALL[:1]
        count = Interval.exact(sum(counts.get(scope, 0.0) for scope in wanted))
        account.add("phase", call, seconds, kind="mixed", count=count, evidence=Place("calls", (call,)))


def _who(account: Account, report: Tkprof, statements: pl.DataFrame, nesting: Nesting, called: Interval) -> None:
    """The statements; recursive ones under the statement that contains them, beside it, or as one part."""
    callers = statements.filter(~pl.col("is_recursive"))
    parts: dict[int, str] = {}
    beside = statements if nesting.kind == "apart" else callers
    for row in beside.head(_MOST_STATEMENTS).to_dicts():
        parts[row["part"]] = _add(account, row, None)
    rest = beside.slice(_MOST_STATEMENTS)
    _fold(account, rest, None)
    if nesting.kind == "inside" and nesting.container in parts:
        container = parts[nesting.container]
        inner = statements.filter("is_recursive")
        for row in inner.head(_MOST_STATEMENTS).to_dicts():
            _add(account, row, container)
        _fold(account, inner.slice(_MOST_STATEMENTS), container)
        theirs = sum((row_figure(row, "elapsed_s") or _ZERO for row in inner.to_dicts()), _ZERO)
        whole = statements.filter(~pl.col("is_recursive"), pl.col("part") == nesting.container).row(0, named=True)
        own = (row_figure(whole, "elapsed_s") or _ZERO) - theirs
        if own.value > 0:
            seconds = Interval(own.value, max(0.0, own.lo), own.hi)
            word = whole["sql"] or f"the statement at line {whole['line']}"
            account.add("who", f"{word} without what it calls", seconds, kind="mixed", parent=container)
    elif nesting.kind == "unknown":
        count = Interval.exact(float(statements.filter("is_recursive").get_column("count").sum()))
        seconds = Interval(0.0, 0.0, called.hi)
        account.add("who", PERHAPS_INSIDE, seconds, kind="mixed", count=count, evidence=Place("statements"))
    overall = {str(row["scope"]): row for row in _totals(report, "total")}
    if overall:
        wanted = _OVERALL if nesting.kind == "apart" else _OVERALL[:1]
        printed = sum(int(str(overall[scope]["count"])) for scope in wanted if scope in overall)
        if printed > int(beside.get_column("count").sum()):
            account.closes(None, "statements that are not listed", kind="unlisted", view="who")
        elif "non_recursive" in overall:
            times = row_figure(overall["non_recursive"], "elapsed_s") or _ZERO
            computed = float(callers.get_column("elapsed_s").sum())
            slack = _STEP_S * (int(callers.get_column("texts").sum()) + 1)
            account.check("statements of the session", view="who", printed=times.value, computed=computed, slack=slack)


def _add(account: Account, row: dict[str, Any], parent: str | None) -> str:
    part = account.add(
        "who",
        part_name(row),
        row_figure(row, "elapsed_s") or _ZERO,
        kind="mixed",
        parent=parent,
        count=Interval.exact(float(row["count"] or 0)),
        evidence=Place("statements", (str(row["sql"] or row["part"]),), (row["line"],)),
    )
    account.has_within(part, cpu=row["cpu_s"], io=row["io_s"])
    return part


def part_name(row: dict[str, Any]) -> str:
    """The part of a statement, a row of `statements_of`: its id, or its line, and the begin of its text."""
    return statement_name(row if row["sql"] is not None else {**row, "sql": f"line {row['line']}:"})


def _fold(account: Account, rest: pl.DataFrame, parent: str | None) -> None:
    """Statements that are not listed one by one, as one part."""
    if rest.height:
        seconds = Interval(*rest.select(pl.col("elapsed_s", "elapsed_s_lo", "elapsed_s_hi").sum()).row(0))
        count = Interval.exact(float(rest.get_column("count").sum()))
        texts = int(rest.get_column("texts").sum())
        account.add("who", f"{texts:,} other statements", seconds, kind="mixed", parent=parent, count=count)


def _words(total: Interval, callers: Interval, called: Interval, nesting: Nesting) -> str:
    """The line of the total."""
    step = " (printed in steps of 0.01 s)" if total.hi - total.lo > _RANGE * total.lo else ""
    if nesting.kind == "none":
        return f"calls of the session took {range_text(total)}{step}"
    if nesting.kind == "apart":
        return (
            f"calls took {range_text(total)}{step}: {range_text(callers)} in the session's statements and "
            f"{range_text(called)} in recursive statements"
        )
    if nesting.kind == "inside":
        inner = range_text(called)
        return f"calls of the session took {range_text(total)}{step}, including {inner} in recursive statements"
    if called.hi < _RANGE * callers.lo:
        return f"calls of the session took {range_text(total)}{step}"
    return (
        f"calls of the session took {range_text(total)}; the report does not show whether this includes the "
        f"{range_text(called)} of recursive statements"
    )


def of_client(report: Tkprof) -> pl.DataFrame:
    """The waits for the client: between calls, and no part of the total."""
    overall = report.waits.filter(pl.col("scope") == "non_recursive")
    own = overall if overall.height else report.waits.filter(pl.col("scope") == "statement")
    return own.filter(OF_CLIENT)


def _client(report: Tkprof, total: Interval) -> str:
    """How long the session waited for its client, where that is a notable time beside the total."""
    waits = of_client(report)
    time, count = float(waits.get_column("total_wait_s").sum()), int(waits.get_column("waits").sum())
    if not count or time < _LITTLE * total.value:
        return ""
    trips = f"{count_text(count, 'time')}, {time_text(time / count)} each" if count > 1 else "once"
    return f"; between calls, the session waited {range_text(Interval.exact(time))} for its client, {trips}"


def trace_of(report: Tkprof) -> str:
    """How to show the trace that a report was made of."""
    name = PurePath(report.trace or "").name
    return f": iolab show {name}" if name else ""


def range_text(figure: Interval) -> str:
    """A time of a report: as a range where its bounds tell.

    Examples:
        >>> range_text(Interval(0.53, 0.53, 0.54)), range_text(Interval(26.52, 26.52, 26.53))
        ('0.53 to 0.54 s', '26.5 s')
        >>> range_text(Interval(0.0, 0.0, 0.01)), range_text(Interval(18_873.8, 18_873.8, 18_873.81))
        ('at most 0.01 s', '18,874 s')
    """
    if figure.lo <= 0:
        return f"at most {figure.hi:.2f} s"
    if figure.hi - figure.lo > _RANGE * figure.lo:
        decimals = 2 if figure.lo < 10 else 1
        return f"{figure.lo:,.{decimals}f} to {figure.hi:,.{decimals}f} s"
    value = figure.value
    return f"{value:,.0f} s" if value >= 1000 else f"{value:#.3g}".rstrip(".") + " s"
