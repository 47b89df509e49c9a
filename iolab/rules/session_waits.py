"""The waits that a session lists of itself: those of the runs of the statement that took longest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import counted, seconds
from iolab.rules.report_causes import settings_behind
from iolab.rules.time_parts import LARGE, PART
from iolab.time_ledger.listings import account_of
from iolab.time_ledger.next_steps import MORE_ROWS, event_step
from iolab.time_ledger.spools import diagnoses
from sqlplusparse import queried_tables
from sqltraceparse.nesting import FROM_CLIENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse import Spool

#: How a session queries its own statistics and waits, and what explains the time of any statement.
_OF_SESSION: Final = ("v$mystat", "v$pq_sesstat", "'userenv'", "userenv(", "snap_events.")
#: Words of what lists its waits: a query, or a package that prints what was added since its start.
_ITS_WAITS: Final = ("v$session_event", "snap_events.")
ANY: Final = "any statement"
#: The place of statistics in the order of listings.
OF_STATISTICS: Final = 4
#: Headings of the package that prints the waits of a session.
_SNAPPED: Final = {"event", "waits", "time_outs", "csec"}
_TRIPS: Final = "SQL*Net roundtrips to/from client"
#: What the client prints where it connects again.
_CONNECTED: Final = "banner"


def waits_of_session(spool: Spool, longest: Longest) -> Iterator[Finding]:
    """The waits that the session listed after runs of the statement that took longest, where they were most of these.

    A listing is of the runs since the one before it, or since the session connected again.
    """
    found = []
    for own, rows in _waits_of_runs(spool, longest):
        elapsed = float(own.get_column("elapsed_s").sum())
        some = [row for row in rows if PART * elapsed <= row[1] <= elapsed]
        if some and some[0][1] >= LARGE * elapsed and sum(time for _, time, _ in some) <= elapsed:
            found.append((own.height, some))
    if not found:
        return
    number, most = max(found, key=lambda one: one[1][0][1])
    waited = [f"{seconds(s)} for `{name}` ({counted(n, 'waits')} of {seconds(s / n)})" for name, s, n in most]
    said = f"{f'In {number:,} runs the' if number > 1 else 'The'} session waited {' and '.join(waited)}."
    name = most[0][0]
    if len(parts := [(runs, *row[1:]) for runs, rows in found for row in rows if row[0] == name]) > 1:
        each = [f"{seconds(s)} in {runs:,} runs ({counted(n, 'waits')} of {seconds(s / n)})" for runs, s, n in parts]
        said = f"`{name}` took {', then '.join(each)}."
    setting, step, _ = settings_behind(name, _settings_before(spool, longest))
    said = f"{said} {setting}".rstrip()
    is_unknown = name == FROM_CLIENT and longest.runs["text"].has_nulls()  # else its own step says more
    yield Finding(
        "listed_rows", said, next=step or (MORE_ROWS if is_unknown else event_step(name)),
        evidence=(Evidence("tables", (name,)),), order=OF_STATISTICS, explains=(ANY,),
    )  # fmt: skip


def _settings_before(spool: Spool, longest: Longest) -> dict[str, str]:
    """What the session set before the statement that took longest (ALTER SESSION SET), by the names of parameters."""
    is_before = (pl.col("kind") == "alter session") & (pl.col("statement") < longest.statement)
    texts = spool.statements.filter(is_before).get_column("text").drop_nulls()
    words = [text.lower().rstrip(";").replace("=", " ").split() for text in texts]
    return {name: value for one in words for name, value in zip(one[3::2], one[4::2], strict=False)}


def _waits_of_runs(spool: Spool, longest: Longest) -> Iterator[tuple[pl.DataFrame, list[tuple[str, float, float]]]]:
    """The runs of the statement that took longest before each listing of waits, and what the session waited in them."""
    is_trip, is_run = pl.col("name") == _TRIPS, pl.col("statement") == longest.statement
    counted_in = (
        spool.autotrace.filter(is_trip, is_run),
        spool.statistics.filter(is_trip, pl.col("statement") > longest.statement, pl.col("basis") == "delta").head(1),
    )
    trips = next((float(rows["value"].sum()) for rows in counted_in if rows.height), 0.0)
    asked = own_statements(spool, 0)
    connects = spool.lines().filter(role=_CONNECTED).get_column("line")
    last, known = 0, dict[str, tuple[float, float]]()
    for one in queried_tables(spool):
        is_its = one.statement in asked and any(word.startswith(_ITS_WAITS) for word in one.words)
        is_its |= {column.heading.strip().lower() for column in one.columns} >= _SNAPPED
        if not is_its or (account := account_of(one)) is None:
            continue
        # waits for a client are those of a statement where they are as many as its round trips
        is_of_it = (pl.col("kind") != "idle") | ((pl.col("count") - trips).abs() < PART * trips)
        listed = account.parts().filter(pl.col("count") > 0, is_of_it).select("name", "seconds", "count").rows()
        rows = {name: (time, count) for name, time, count in listed}
        begun = max([last, *connects.filter(connects < one.line)])
        if begun > last or any(rows[name] < known[name] for name in {*rows} & {*known}):
            known = {}  # another session
        grown = [
            (name, time - before[0], count - before[1])
            for name, (time, count) in rows.items()
            if count > (before := known.get(name, (0.0, 0.0)))[1]
        ]
        own = longest.runs.filter(pl.col("first_line").is_between(begun, one.line))
        last, known = one.line, rows
        if own.height:
            yield own, sorted(grown, key=lambda row: -row[1])


class Longest(NamedTuple):
    """The statement that took longest; what looks for a cause only without others.

    Attributes:
        statement, elapsed_s: its number and its time.
        runs: the runs of its text; one run alone where the log has no text.
    """

    statement: int
    elapsed_s: float
    runs: pl.DataFrame


def longest_of(spool: Spool) -> Longest:
    """The statement that took longest, and its runs."""
    is_aside = pl.col("statement").is_in(diagnoses(spool))
    key = pl.coalesce("text", pl.col("statement").cast(pl.String))
    timed = spool.statements.drop_nulls("elapsed_s").with_columns(key=key).sort(~is_aside, "elapsed_s", "statement")
    longest, elapsed = timed.select("statement", "elapsed_s").row(-1) if timed.height else (0, 0.0)
    is_run = pl.col("key").is_in(timed.filter(statement=longest)["key"].implode())
    return Longest(longest, elapsed, timed.filter(is_run).sort("statement"))


def own_statements(spool: Spool, after: int) -> list[int]:
    """The queries of the statistics and waits of the session itself after a statement."""
    texts = spool.statements.drop_nulls("text").filter(pl.col("statement") > after).select("statement", "text")
    return [number for number, text in texts.iter_rows() if any(word in text.lower() for word in _OF_SESSION)]
