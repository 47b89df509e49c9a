"""An extended SQL trace: what its round trips, parses, reads and statements say beyond their share of the time.

The parts of the time are those of the ledger (`iolab.time_ledger.sql_traces`).
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from iolab.metrics.formatting import as_sentence, count_text, short_text, time_text
from iolab.metrics.sql_trace import ASYNCHRONOUS, READ_EVENTS, cpu_step, reads_of, us_per_get
from iolab.rules.finding import LEAST_WAITS, Evidence, Finding
from iolab.rules.phrases import capital, counted, percent, seconds, three
from iolab.rules.registry import apply_rules, rule
from iolab.rules.row_sources import CHANGED, LONG_US, for_each_row, largest_wait, main_step
from iolab.rules.time_parts import PART, sentence
from iolab.time_ledger.next_steps import BIND, CACHE_LOBS, CLIENT_WORK, LOBS, event_step, lob_step, parse_step
from iolab.time_ledger.parts import IO_CLASSES
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.sql_traces import (
    CLIENT,
    CPU,
    FROM_CLIENT,
    GAP,
    RECURSIVE,
    TRIPS,
    Session,
    has_plan,
    is_commit,
    is_query,
    limit_of,
    sessions_of,
    statement_name,
    statement_word,
    step_beside_plan,
)
from logframe.interval import Interval
from logframe.oracle import wait_class_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.time_ledger.account import Ledger
    from sqltraceparse import SqlTrace

#: A part with this much of the time is named in a sentence.
_NAMED: Final = 0.10
#: Of smaller parts a rule has no meaning.
_MOST_RECURSIVE: Final = 0.5
_NOTABLE: Final = 0.05
_MOST_EVENTS: Final = 4
#: One statement with this much of what is reported of it stands for all.
_MOST_OF: Final = 0.8
#: One wait with this much of a statement is all there is to say of its runs.
_ONE_WAIT: Final = 0.9
#: Round trips of which this much is in a few long ones are the client's own time.
_THINKING: Final = 0.5
#: A fetch of this many rows gains little from more.
#: A round trip of more time is the client's own work.
_SLOW_TRIP_US: Final = 500_000
_LARGE_FETCH: Final = 500
#: This much of the time between statements follows the same statement again: rows are sent one by one.
_ONE_BY_ONE: Final = 0.5
#: A parse of this much time is the optimizer's, not the number of parses.
_LONG_PARSE_S: Final = 0.1
#: Fewer logical reads, or less CPU than this many of its steps, give no cost of one: n steps are known to sqrt(n).
_LEAST_GETS: Final = 1_000
_LEAST_STEPS: Final = 100
#: From this share of disk in the gets on, the CPU holds reading; with this share unaccounted for, CPU may be missing.
_MOST_FROM_DISK: Final = 0.10
_MOST_UNACCOUNTED: Final = 0.10
#: Waits for a file that take this many times as long as those for others have a mean of their own.
_MUCH_SLOWER: Final = 2.0
#: Reads for which a session waits at once; one that takes longer is slow, whatever its plan.
_SHORT_READS: Final = ("db file sequential read", "db file scattered read")
_SLOW_READ_US: Final = 50_000
_DEVICES: Final = "see the devices of the files that it reads: iostat -xt 5"
#: The database and tracing need less time between two calls.
_LONG_GAP_S: Final = 1e-3
#: What to do about one row a round trip.
_SEND_AT_ONCE: Final = "send rows in batches (array binds, FORALL): each execution of one row is a round trip"
_GET_AT_ONCE: Final = "get the rows by one query (a join, or a list of keys): each execution is a round trip"
#: Modes of a table lock, and statements, of a check of rows that refer to the one that changes.
_SHARED, _CHANGES = (4, 5), ("delete", "update", "merge")
#: Caches of the dictionary that have had their number in all releases.
_CACHES: Final = {2: "segments", 3: "rollback segments", 7: "users", 8: "objects", 13: "sequences", 16: "histograms"}
#: Waits this many times as long as the median, few of all, have most of the time.
_FAR, _FEW_OF, _MOST_OF_TIME = 8, 0.1, 0.8
_SYNC: Final = "log file sync"
#: Fewer statements that were not parsed are an accident.
_MANY_ERRORS: Final = 10


class Facts(NamedTuple):
    """What the rules of a session take: the trace, its lead ledger, and the session that this is of."""

    trace: SqlTrace
    lead: Ledger
    session: Session

    def share(self, part: str, view: str = "what") -> float:
        """The share of a part, certainly its own; 0 where there is no such part."""
        row = self.row(part, view)
        return 0.0 if row is None else float(row["share_lo"] or 0.0)

    def percent(self, part: str, view: str = "what") -> str:
        """The share of a part as text, with what it is of where that is not the whole session."""
        row = self.row(part, view)
        if row is None:
            return ""
        return f"{percent(Interval(row['share'], row['share_lo'], row['share_hi']))} of {self.base}"

    @property
    def base(self) -> str:
        """What shares are of, where that is not the whole session."""
        work, total = self.lead.work, self.lead.total
        is_part = work is not None and total is not None and total.value - work.value > _NAMED * total.value
        return self.lead.work_base if is_part else "the time"

    def row(self, part: str, view: str = "what") -> dict[str, Any] | None:
        """The row of a part of the ledger."""
        found = self.lead.parts(view).filter(pl.col("part") == part) if view in self.lead.views else None
        return None if found is None or not found.height else found.row(0, named=True)


def sql_trace_findings(trace: SqlTrace) -> Iterator[Finding]:
    r"""What the rules say of an extended SQL trace, beside its ledger.

    Examples:
        >>> import iolab
        >>> log = (b"WAIT #1: nam='db file sequential read' ela= 60000 file#=1 block#=2 blocks=1 obj#=3 tim=170000\n"
        ...     b"FETCH #1:c=20000,e=100000,p=1,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim=200000\n")
        >>> for one in sql_trace_findings(iolab.load(log)): print(one.sentence)
        `db file sequential read` took 60 % of the time: 1 wait of 60 ms, too few for a latency.
        Statements without a header took 100 % of the time: 1 block in 1 wait of 60 ms for `db file sequential read`.
        20 % of the time in calls is neither CPU nor a wait: 20 ms.
    """
    yield from apply_rules("sqltrace", trace)
    sessions = sessions_of(trace)
    lead = ledgers(trace)[0]
    if sessions and not lead.void:
        yield from apply_rules("sqltrace_session", Facts(trace, lead, sessions[0]))


@rule("trace_clock", of="sqltrace", needs="stamps beside `tim`")
def clock_is_off(trace: SqlTrace) -> Iterator[Finding]:
    """A gate: the clock of the trace does not run as the wall clock does."""
    for line, reason in (
        trace.diagnostics.filter(pl.col("kind") == "clock").select("line", "reason").head(1).iter_rows()
    ):
        words = " ".join("`tim`" if word == "tim" else word for word in reason.split(" "))
        words = words.replace(" s: another clock", f" s at line {line:,}: another clock")
        step = "multiply the times by 1.024" if "1.024 us" in words else ""
        place = Evidence("clock", lines=(line,))
        said, is_gate = as_sentence(words), not words.startswith("`tim` advances")
        yield Finding("trace_clock", said, next=step, evidence=(place,), is_gate=is_gate)


@rule("failed_statements", of="sqltrace", needs="PARSE ERROR", thresholds={"10 statements, or half": "a convention"})
def parse_errors(trace: SqlTrace) -> Iterator[Finding]:
    """Statements that were not parsed, because of an error: each is a round trip in vain."""
    failed = trace.statements.filter(pl.col("error").is_not_null())
    if failed.height < min(_MANY_ERRORS, trace.statements.height / 2) or failed.is_empty():
        return
    codes = failed.get_column("error").value_counts(sort=True).sort("count", "error", descending=[True, False])
    listed = ", ".join(f"ORA-{code:05} {counted(n, 'times')}" for code, n in codes.head(_MOST_EVENTS).iter_rows())
    text = short_text(str(failed.item(0, "text") or ""), 80)
    yield Finding(
        "failed_statements",
        f"{count_text(failed.height, 'statement')} failed to parse: {listed}.",
        detail=f"the first one: `{text}`" if text else "",
        next="correct the code that sends them: each is parsed again, and holds the library cache",
        evidence=(Evidence("statements", tuple(map(str, failed.get_column("statement").head(20)))),),
        order=1,
    )


@rule("calls_without_total", of="sqltrace", needs="calls, in a trace with no total")
def calls_of_void(trace: SqlTrace) -> Iterator[Finding]:
    r"""The statement with most of the time in calls, where lines between them are missing: the calls hold.

    Examples:
        >>> import iolab
        >>> call = "{} #{}:c=0,e={},p=0,cr={},cu=0,mis=0,r={},dep=0,og=1,plh=9,tim={}\n"
        >>> log = "WAIT #7: nam='SQL*Net message from client' ela= 5 driver id=1 #bytes=1 p3=0 obj#=-1 tim=1000\n"
        >>> log += call.format("EXEC", 7, 900, 3, 1, 2_000) + call.format("FETCH", 8, 9_000, 500, 10, 90_000_000)
        >>> for one in calls_of_void(iolab.load(log.encode())): print(one.sentence)
        Statements without a header took all 9.90 ms in calls: 2 calls, 503 gets, 11 rows.
    """
    sessions = sessions_of(trace)
    if not sessions or not ledgers(trace)[0].void:
        return
    times = sessions[0].calls.get_column("own_elapsed_us").drop_nulls()
    is_client = pl.col("event").str.to_lowercase().is_in(FROM_CLIENT)
    whole, waited = int(times.sum()), int(sessions[0].waits.filter(~is_client).get_column("elapsed_us").sum())
    if min(times, default=-1) < 0 or not waited <= whole <= sessions[0].span_us:
        return  # these times are wrong, or calls are missing
    names = ("own_elapsed_us", "own_consistent_gets", "own_current_gets", "rows")
    sums = sessions[0].calls.group_by("statement", "sql_id").agg(pl.col(*names).sum(), calls=pl.len())
    for row in sums.sort("own_elapsed_us", "statement", descending=[True, False]).head(1).iter_rows(named=True):
        id_or_line = row["sql_id"] or (row["statement"] and f"the statement at line {row['statement']:,}")
        who = f"`{id_or_line}`" if row["sql_id"] else capital(id_or_line or "statements without a header")
        counts = ((row["calls"], "calls"), (row[names[1]] + row[names[2]], "gets"), (row["rows"], "rows"))
        did = ", ".join(counted(number, word) for number, word in counts if number)
        part = f"{seconds(row['own_elapsed_us'] / 1e6)} of the" if row["own_elapsed_us"] < whole else "all"
        took = f"{part} {seconds(whole / 1e6)} in calls"
        inside = pl.col("statement").eq_missing(row["statement"]) & pl.col("call").is_not_null()
        waits = sessions[0].waits.filter(inside).group_by("event").agg(pl.col("elapsed_us").sum(), pl.len())
        waits = waits.filter(pl.col("elapsed_us") >= PART * row["own_elapsed_us"])
        for event, us, number in waits.sort("elapsed_us", "event", descending=True).head(1).iter_rows():
            did += f"; {seconds(us / 1e6)} of it in {counted(number, 'waits')} for `{event}`"
        yield Finding(
            "calls_without_total",
            f"{who} took {took}: {did}.",
            next="see its calls: iolab show --tables; a total needs the whole trace of one session",
            evidence=(Evidence("calls"),),
            order=1,
        )


@rule("trace_cut", of="sqltrace_session", needs="the line that a trace file at its limit ends with")
def trace_cut(facts: Facts) -> Iterator[Finding]:
    r"""The trace file reached its limit: what the session did afterwards is not in it.

    Examples:
        >>> import iolab
        >>> wait = "WAIT #1: nam='SQL*Net message from client' ela= 9 driver id=1 #bytes=1 p3=0 obj#=-1 tim={}\n"
        >>> log = wait.format(20000) + wait.format(60000) + "*** DUMP FILE SIZE IS LIMITED TO 4096 BYTES ***\n"
        >>> log = "EXEC #1:c=0,e=9000,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=1,tim=19000\n" + log
        >>> log = log.replace("ela= 9", "ela= 38000", 2)
        >>> for one in trace_cut(Facts(trace := iolab.load(log.encode()), ledgers(trace)[0], sessions_of(trace)[0])):
        ...     print(one.sentence)
        The file reached its limit at line 4: the rest of the session is not in the trace.
    """
    line = limit_of(facts.trace, facts.session)
    if line is not None:
        yield Finding(
            "trace_cut",
            f"The file reached its limit at line {line:,}: the rest of the session is not in the trace.",
            evidence=(Evidence("diagnostics", lines=(line,)),),
            is_gate=True,
        )


@rule(
    "round_trips",
    of="sqltrace_session",
    needs="waits for the client and the calls after them",
    thresholds={"500 rows a fetch": "LEDGER, section 11: longer fetches gain little", "p95": "LEDGER, section 6.4"},
)
def round_trips(facts: Facts) -> Iterator[Finding]:
    r"""Waits for the client between the fetches of one cursor: the network, and the number of rows of a fetch.

    Examples:
        >>> import iolab
        >>> wait = "WAIT #1: nam='SQL*Net message from client' ela= 12000 driver id=1 #bytes=1 p3=0 obj#=3 tim={}\n"
        >>> call = "{} #1:c=10,e=10,p=0,cr=2,cu=0,mis=0,r={},dep=0,og=1,plh=9,tim={}\n"
        >>> lines = [call.format("EXEC", 0, 1000)]
        >>> for n in range(13_000, 533_000, 13_000): lines += [wait.format(n), call.format("FETCH", 10, n + 20)]
        >>> found = iolab.findings(iolab.load("".join(lines).encode())).filter(part="round trips between fetches")
        >>> print(found.item(0, "sentence"), found.item(0, "next"), sep="\n")
        Round trips between fetches took 480 ms, 92 % of the time: 40 round trips of 12 ms, 10 rows each.
        fetch more rows at a time (SQL*Plus: set arraysize 500; JDBC: setFetchSize)
    """
    own = facts.session.for_client.filter("is_trip")
    if not own.height or facts.lead.unshared:
        return
    times, whole = own.get_column("us"), int(own.get_column("us").sum())
    each = f"{count_text(own.height, 'round trip')} of {seconds(whole / own.height / 1e6)}"
    place = Evidence("waits", ("SQL*Net message from client",))
    if facts.share(TRIPS) < _NAMED and own.height < LEAST_WAITS:
        return
    if facts.share(TRIPS) < _NAMED:
        said = f"{own.height:,} round trips between fetches took {seconds(whole / 1e6)}: larger fetches gain little."
        yield Finding("round_trips", said, part=TRIPS, evidence=(place,))
        return
    by_statement = facts.session.statements.filter(~pl.col("is_lob") & (pl.col("trips") > 0))
    by_statement = by_statement.sort("trip_us", descending=True)
    first, of = by_statement.row(0, named=True), ""
    if first["trip_us"] >= _MOST_OF * whole and first["sql"]:
        of = f" of `{first['sql']}`"
    said = f"Round trips between fetches{of} took {seconds(whole / 1e6)}, {facts.percent(TRIPS)}"
    low = float(times.quantile(0.05, "equiprobable") or 0.0)
    least = seconds(float(times.clip(upper_bound=low).sum()) / 1e6)
    detail = f"at least {least} is the constant cost of round trips (network, client)"
    rows, step = _fetch(facts, first)
    if think := _think(facts):
        each, rows = think
    yield Finding("round_trips", f"{said}: {each}, {rows}.", part=TRIPS, detail=detail, next=step, evidence=(place,))


def _think(facts: Facts) -> tuple[str, str] | None:
    """How many of the round trips took most of their time beyond what 95 % of them took, where that is most of it."""
    times = facts.session.for_client.filter("is_trip").get_column("us")
    most = float(times.quantile(0.95, "equiprobable") or 0.0)
    above = times.filter(times > most)
    excess = float((above - most).sum())
    if excess < _THINKING * int(times.sum()):
        return None
    return (
        f"{seconds(excess / 1e6)} is in {above.len():,} of {times.len():,}",
        f"the others took up to {seconds(most / 1e6)}",
    )


def _fetch(facts: Facts, one: dict[str, Any]) -> tuple[str, str]:
    """How many rows a fetch of a statement usually brings, and what to do about it."""
    if one["is_lob"]:
        return f"{seconds(one['trip_us'] / one['trips'] / 1e6)} each", LOBS
    fetches = facts.session.calls.filter(pl.col("op") == "FETCH", _is_of(one))
    usual = int(fetches.get_column("rows").median() or 0)  # type: ignore[arg-type]  # of whole numbers
    rows = int(fetches.get_column("rows").sum())
    if usual and (step := lob_step(one["trips"], rows)):  # fetches are not all that the client asked for
        return f"{three(one['trips'] / rows)} for each row", step
    step = "fetch more rows at a time (SQL*Plus: set arraysize 500; JDBC: setFetchSize)"
    if one["trip_us"] >= _SLOW_TRIP_US * one["trips"]:
        step = "see what the client did between the fetches: no network takes so long"
    elif _think(facts):
        step = "see what the client did between the fetches: a few waits hold most of it"
    elif usual >= _LARGE_FETCH:
        step = "look at the network and at the client: the fetches are large already"
    return f"{count_text(usual, 'row')} each", step


@rule("client_time", of="sqltrace_session", needs="waits for the client")
def client_time(facts: Facts) -> Iterator[Finding]:
    """Waits for the client that are no round trip of a fetch: application, user and network together."""
    own = facts.session.for_client.filter(part=CLIENT)
    whole = int(own.get_column("us").sum())
    lead = facts.lead
    if not own.height or lead.total is None or whole / 1e6 < _NAMED * lead.total.value:
        return
    longest = own.sort("us", descending=True).row(0, named=True)
    took = percent(whole / 1e6 / lead.total.value) if lead.unshared else seconds(whole / 1e6)
    most = f", the longest {seconds(longest['us'] / 1e6)}" if own.height > 1 else ""
    said = f"Between statements, the session waited {took} of {seconds(lead.total)} for its client: "
    said += f"{count_text(own.height, 'wait')}{most} (line {longest['line']:,})."
    again, pauses = own.filter("is_again", pl.col("us") < _SLOW_TRIP_US), own.filter(pl.col("us") >= _SLOW_TRIP_US)
    paused = int(pauses.get_column("us").sum())
    if own.height > pauses.height > 1 and paused > _ONE_BY_ONE * whole:
        said = f"{said.removesuffix('.')}; {pauses.height:,} of 0.5 s or longer took {seconds(paused / 1e6)}."
    detail, step = "the trace does not show whether the application, the user or the network took it", ""
    if lead.unshared:
        step = CLIENT_WORK
    if again.height >= LEAST_WAITS and int(again.get_column("us").sum()) > _ONE_BY_ONE * whole:
        each = seconds(int(again.get_column("us").sum()) / again.height / 1e6)
        line = again.get_column("statement").mode().sort()[0]
        one = next(iter(facts.session.statements.filter(statement=line).to_dicts()), None)
        name = "a statement" if one is None else _word(one)
        said = f"{said.removesuffix('.')}; {again.height:,} of them, {each} each, were before {name} again."
        step = _GET_AT_ONCE if one is not None and is_query(one["text"]) else _SEND_AT_ONCE
    place = Evidence("waits", ("SQL*Net message from client",), (longest["line"],))
    yield Finding("client_time", said, part=CLIENT, detail=detail, next=step, evidence=(place,))


@rule(
    "cost_of_a_read",
    of="sqltrace_session",
    needs="waits for reads",
    thresholds={"30 waits for a latency": "finding.LEAST_WAITS"},
)
def cost_of_reads(facts: Facts) -> Iterator[Finding]:
    """What one wait of the most expensive read events took, and how many blocks it brought."""
    reads = reads_of(facts.session.waits.filter(pl.col("call").is_not_null()))
    order = reads.group_by("event").agg(pl.col("elapsed_us").sum())
    for event in order.sort("elapsed_us", "event", descending=[True, False]).get_column("event").head(_MOST_EVENTS):
        own, share = reads.filter(pl.col("event") == event), facts.share(event)
        times, blocks = own.get_column("elapsed_us"), own.get_column("blocks").drop_nulls()
        if (times.len() < LEAST_WAITS and share < _NAMED) or share < 0.01:
            continue  # too few for a latency, and of no weight
        mean, middle = float(times.sum()) / times.len(), times.quantile(0.5, "equiprobable") or 0.0
        each = f"{count_text(times.len(), 'wait')} of {seconds(mean / 1e6)}"
        latency = ", too few for a latency"
        if times.len() >= LEAST_WAITS:
            latency = f" on average; half of them took at most {seconds(middle / 1e6)}"
        detail = ""
        if blocks.len() and int(blocks.sum()) != blocks.len():
            detail = f"{three(float(blocks.sum()) / blocks.len())} blocks per wait"
        said = f"`{event}` took {facts.percent(event)}: {each}{latency}."
        caveat = ""
        if event in ASYNCHRONOUS:
            caveat = "reads may be submitted before the wait begins, so they may take longer than the waits"
        place = Evidence("waits", (event,))
        yield Finding("cost_of_a_read", said, part=event, detail=detail, caveat=caveat, evidence=(place,), order=2)


@rule("hard_parses", of="sqltrace_session", needs="PARSE calls with `mis`")
def hard_parses(facts: Facts) -> Iterator[Finding]:
    """Statements that differ in nothing but literals, each parsed anew; hard parses of one text."""
    statements = facts.session.statements
    for one in statements.filter(pl.col("texts") > 1, pl.col("hard_parses") > 0).head(3).to_dicts():
        name = statement_name(one)
        share = facts.share(name, "who")
        if share < _NOTABLE:
            continue
        said = (
            f"{one['texts']:,} statements that differ only in literals took {facts.percent(name, 'who')}: "
            f"{_parsed(one)}."
        )
        text = short_text(str(one["key"]), 100)
        yield Finding("hard_parses", said, part=name, detail=f"`{text}`", next=BIND, evidence=(_place(one),))
    missed, work = facts.session.parses.filter(pl.col("misses") > 0), facts.lead.work or facts.lead.total
    own, whole = (int(facts.session.parses.get_column(f"{name}elapsed_us").sum()) / 1e6 for name in ("own_", ""))
    if missed.is_empty() or facts.lead.unshared or work is None or whole < _NAMED * work.value:
        return
    part, took = Interval.exact(min(whole / work.value, 1.0)), int(missed.get_column("elapsed_us").sum()) / 1e6
    inside = f", {seconds(whole - own)} of it in recursive statements" if whole - own >= _NOTABLE * whole else ""
    said = f"Parsing took {percent(part)} of {facts.base}: {count_text(missed.height, 'hard parse')}, {seconds(took)}"
    most = statements.sort("hard_parses", descending=True).row(0, named=True)
    step = parse_step(facts.session.parses.height, missed.height, most["texts"], most["sql"])
    if took > _LONG_PARSE_S * missed.height and most["texts"] == 1:
        step = "trace the optimizer (event 10053) for this statement"
    yield Finding(
        "hard_parses",
        f"{said}{inside}.",
        part,
        facts.lead.work_base or facts.lead.base,
        next=step,
        evidence=(Evidence("calls", ("PARSE",)),),
    )


def _parsed(one: dict[str, Any]) -> str:
    """The hard parses of a statement, and their time with and without the recursive statements in them."""
    own, whole = one["parse_us"] / 1e6, one["parse_whole_us"] / 1e6
    both = f", {seconds(whole)} with the recursive statements in it" if whole - own >= _NOTABLE * whole else ""
    return f"{count_text(one['hard_parses'], 'hard parse')}, {seconds(own)} in parsing{both}"


@rule("main_statement", "recursive_sql", of="sqltrace_session", needs="headers of statements")
def main_statements(facts: Facts) -> Iterator[Finding]:
    """The statements with most time: executions, blocks, the largest wait, and where the plan stands."""
    found = facts.session.statements
    for one in found.filter(pl.col("texts") == 1).head(_MOST_EVENTS).to_dicts():
        name = statement_name(one)
        share = facts.share(name, "who")
        if share < _NAMED:
            continue
        word, plan = _word(one), ""
        said = f"{word[:1].upper()}{word[1:]} took {facts.percent(name, 'who')}"
        top, spilled = largest_wait(_waits(facts, one), "elapsed_us", one["us"])
        step = (step_beside_plan(top["event"], top["len"]) if top else "") or _plan(facts.trace, one)
        if is_parsed := bool(one["hard_parses"]) and 0 < one["us"] <= 2 * one["parse_us"]:
            many = one["hard_parses"]
            step = parse_step(many, many, one["texts"], one["sql"]) if many > 1 else step
        by_row, instead = for_each_row(found, one, _word)
        if one["trip_us"] > one["us"]:
            rows, step = _fetch(facts, one)
            parts = [f"{one['trips']:,} round trips ({seconds(one['trip_us'] / 1e6)})", rows]
        elif is_parsed:
            parts = [_parsed(one)]
        else:
            parts = [*_work(facts, one, top, by_row), *(undo := _undo(facts, one, top))]
            parts[-1:] = [parts[-1] + spilled] if parts else []
            if undo:
                step = CHANGED
            elif top is None or (one["us"] >= LONG_US and _is_of_step(top["event"])):
                plan, better = _row_source(facts, one, top)
                step = instead or better or step
            step = CACHE_LOBS if one["is_lob"] and top and top["event"].startswith("direct path read") else step
            step = _device(facts, one, top) or step
        again = pl.col("statement").eq_missing(pl.lit(one["statement"], pl.Int64()))
        client_us = int(facts.session.for_client.filter(again, part=CLIENT)["us"].sum())
        if by_row and client_us > one["us"]:
            plan += f" Between its executions {seconds(client_us / 1e6)} passed in the client."
        text = short_text(str(one["text"] or ""), 80)
        yield Finding(
            "main_statement",
            (f"{said}: {', '.join(parts)}." if parts else f"{said}.") + plan,
            part=name,
            detail=f"`{text}`" if text else "",
            next=step,
            evidence=(_place(one),),
        )
    share = facts.share(RECURSIVE, "who")
    if share >= _NOTABLE:
        sys = found.filter("is_sys")
        most, count = sys.row(0, named=True), count_text(int(sys.get_column("texts").sum()), "statement")
        if most["us"] >= _MOST_RECURSIVE * float(sys.get_column("us").sum()):
            ran = (
                f"{count_text(most['executions'], 'execution')} of `{short_text(str(most['text'] or most['sql']), 40)}`"
            )
            count = ran if sys.height == 1 else f"{count}, most of it in {ran}"
        said = f"Recursive SQL of the dictionary took {facts.percent(RECURSIVE, 'who')}: {count}."
        deep = int(facts.session.calls.filter(pl.col("depth") > 0).get_column("own_elapsed_us").sum())
        detail = f"all recursive statements together took {seconds(deep / 1e6)}"
        is_sequence = any("update seq$" in str(text) for text in sys.get_column("text").head(1))
        step = event_step("enq: SQ") if is_sequence else "see the recursive statements: iolab show --tables"
        yield Finding(
            "recursive_sql", said, part=RECURSIVE, detail=detail, next=step, evidence=(Evidence("statements"),)
        )


@rule("time_profile", of="sqltrace_session", needs="waits for log file sync")
def commits_of_rows(facts: Facts) -> Iterator[Finding]:
    """That the session committed each row of a statement, where the log shows no COMMIT itself."""
    row = facts.row(_SYNC) if facts.share(_SYNC) >= _NAMED else None
    if row is None or any(map(is_commit, facts.session.statements.get_column("text"))):
        return
    commits = {"part": -1, "text": "COMMIT", "executions": row["count"], "is_recursive": False}
    if each := for_each_row(facts.session.statements.filter(~pl.col("is_lob")), commits, _word, noun="a commit")[0]:
        said = f"{sentence(facts.lead, row).removesuffix('.')}{each}."
        yield Finding("time_profile", said, part=row["part"])


def _work(facts: Facts, one: dict[str, Any], top: dict[str, Any] | None, by_row: str) -> Iterator[str]:
    """How often a statement ran, and what most of its time was."""
    is_one = top is not None and top["longest"] >= _ONE_WAIT * (one["us"] + one["trip_us"])  # a mean would mislead
    if one["executions"] > 1:
        each = (one["us"] + one["trip_us"]) / one["executions"] / 1e6
        calls = facts.session.calls.filter(_is_of(one)).sort("own_elapsed_us", descending=True)
        op, longest = calls.select("op", "own_elapsed_us").row(0) if calls.height else ("", 0)
        if not is_one and (longest or 0) >= _ONE_WAIT * (one["us"] + one["trip_us"]):
            yield f"{counted(one['executions'], 'executions')}, one {op} of {seconds(longest / 1e6)}"
        else:
            yield counted(one["executions"], "executions") + ("" if is_one else f" of {seconds(each)}") + by_row
    if top:
        size = f"{count_text(top['blocks'], 'block')} in " if top["blocks"] else ""
        each = f" of {seconds(top['elapsed_us'] / top['len'] / 1e6)}" + (" each" if top["len"] > 1 else "")
        if is_one and top["len"] > 1:
            each = f" (the longest {seconds(top['longest'] / 1e6)})"
        file, few = _slow_file(facts, one, top), "" if is_one else _slow_few(facts, one, top)
        lock = _lock(facts, one, top["event"]) + few
        times = each if file is None and not few else ""
        slow = "" if file is None else f"; file {file[0]} {file[1]}"
        yield f"{size}{count_text(top['len'], 'wait')}{times} for `{top['event']}`{slow}{lock}"
    elif one["us"] > 0 and one["cpu_us"] > _MOST_OF * one["us"]:
        runs = max(1, one["executions"] or 1)
        gets = f", {three(one['gets'] / runs)} gets{' each' * (runs > 1)}" if one["gets"] else ""
        yield f"nearly all of it CPU{gets}"
    elif one["disk_blocks"]:
        yield f"{count_text(one['disk_blocks'], 'block')} from disk"
    if one["is_lob"] and one["trips"]:
        yield f"{count_text(one['trips'], 'round trip')} ({seconds(one['trip_us'] / 1e6)})"


def _slow_few(facts: Facts, one: dict[str, Any], top: dict[str, Any]) -> str:
    """The few waits of an event with nearly all of its time, far from the median: a mean of all would mislead."""
    waits = _waits_for(facts, one, top["event"])
    time = pl.col("elapsed_us")
    slow = waits.filter(time >= _FAR * time.median()).get_column("elapsed_us").sort().to_list()
    share = sum(slow) / max(1, int(waits.get_column("elapsed_us").sum()))
    if not LEAST_WAITS <= len(slow) <= _FEW_OF * waits.height or share < _MOST_OF_TIME:
        return ""
    return f", {len(slow):,} of which took {seconds(slow[0] / 1e6)} or longer, {percent(share)} of this time"


def _row_source(facts: Facts, one: dict[str, Any], top: dict[str, Any] | None) -> tuple[str, str]:
    """What the only plan of a statement shows of its time or gets, and what to do about it."""
    steps = facts.trace.row_sources.filter(_is_of(one), pl.lit(one["texts"] == 1)).to_dicts()
    places = {step["id"]: n for n, step in enumerate(steps)}
    steps = steps if len(places) == len(steps) else []  # of one plan
    parents = [places.get(step["parent_id"]) for step in steps]
    event = top["event"] if top else ""
    return main_step(steps, parents, one["us"], one["gets"], one["executions"], one["text"], event)


def _is_of_step(event: str) -> bool:
    """Whether waits are those of a step of a plan."""
    return wait_class_of(event) in IO_CLASSES or event.endswith("dblink")


def _device(facts: Facts, one: dict[str, Any], top: dict[str, Any] | None) -> str:
    """Where to look for slow reads, of one file or of all, whatever the plan; empty of others."""
    if top is None:
        return ""
    if (file := _slow_file(facts, one, top)) is not None:
        return f"see its device: select name from v$datafile where file# = {file[0]}; iostat -xt 5"  # noqa: S608 - text
    is_short = top["event"] in _SHORT_READS and top["len"] >= LEAST_WAITS
    return _DEVICES if is_short and top["elapsed_us"] >= _SLOW_READ_US * top["len"] else ""


def _slow_file(facts: Facts, one: dict[str, Any], top: dict[str, Any]) -> tuple[int, str] | None:
    """The file with most of the time of an event, and its waits, where they took much longer than those of others."""
    waits = _waits_for(facts, one, top["event"])
    files = waits.group_by("file_id").agg(pl.len(), pl.col("elapsed_us").sum()).drop_nulls("file_id")
    files = files.sort("elapsed_us", "file_id", descending=[True, False])
    if files.height < 2 or files.get_column("len").sum() < waits.height:
        return None
    file, count, spent = files.row(0)
    others, left = files[1:].select(pl.col("len", "elapsed_us").sum()).row(0)
    each, other = spent / count / 1e6, left / others / 1e6
    if min(count, others) < LEAST_WAITS or spent < _MOST_OF * (spent + left) or each < _MUCH_SLOWER * other:
        return None
    share = percent(spent / (spent + left))
    return file, f"had {share} of this time, {seconds(each)} each, and the others {seconds(other)}"


def _lock(facts: Facts, one: dict[str, Any], event: str) -> str:
    """The object and mode of a lock that a statement waited for, and what a shared lock of a table is usually for.

    Of the dictionary cache it is the kind of its entries, by V$ROWCACHE.CACHE#.
    """
    own = facts.session.waits.filter(pl.col("event") == event, _is_of(one))
    caches = own.filter(p1_name="cache id").get_column("p1")
    if caches.n_unique() == 1 and (cache := _CACHES.get(caches.item(0))):
        return f" of {cache} (cache {caches.item(0)})"
    waits = own.filter(p1_name="name|mode")
    number = pl.when(p2_name="object #").then("p2").otherwise("object_id")
    locks = waits.select(object=number, mode=pl.col("p1") & 0xFFFF).unique()
    if locks.height != 1 or (locks.item(0, "object") or 0) <= 0:
        return ""
    is_shared = event.startswith("enq: TM") and locks.item(0, "mode") in _SHARED
    usual = is_shared and str(one["text"]).lower().startswith(_CHANGES)
    said = f" on object {locks.item(0, 'object')}, mode {locks.item(0, 'mode')}"
    return said + ": consistent with a foreign key without an index" * usual


def _undo(facts: Facts, one: dict[str, Any], top: dict[str, Any] | None) -> list[str]:
    """The waits of a query for blocks of undo: of object 0 in one file, where other reads of it have an object."""
    if top is None or top["event"] != "db file sequential read" or not is_query(one["text"]):  # of no change of its own
        return []
    waits = _waits_for(facts, one, *READ_EVENTS)
    undo = waits.filter(event=top["event"], object_id=0)
    is_most = undo.get_column("elapsed_us").sum() >= _MOST_OF * top["elapsed_us"] and undo.height >= LEAST_WAITS
    is_known = undo.get_column("file_id").n_unique() == 1 and not waits.filter(pl.col("object_id") > 0).is_empty()
    return [f"{undo.height:,} of them for undo (obj# 0)"] if is_most and is_known else []


def _waits_for(facts: Facts, one: dict[str, Any], *events: str) -> pl.DataFrame:
    """The waits for events in the calls of a statement."""
    return facts.session.waits.filter(pl.col("event").is_in(events), pl.col("call").is_not_null(), _is_of(one))


def _waits(facts: Facts, one: dict[str, Any]) -> pl.DataFrame:
    """What a statement waited for: ``event``, ``len``, ``elapsed_us``, ``blocks`` and the ``longest``."""
    waits = facts.session.waits.filter(pl.col("call").is_not_null(), _is_of(one))
    waits = pl.concat([waits, facts.session.unfinished.filter(_is_of(one))])
    return waits.group_by("event").agg(
        pl.len(), pl.col("elapsed_us", "blocks").sum(), longest=pl.col("elapsed_us").max()
    )


def _word(one: dict[str, Any]) -> str:
    if one["sql"] and is_commit(one["text"]):
        return f"`COMMIT` (`{one['sql']}`)"
    return f"`{one['sql']}`" if one["sql"] else statement_word(one)


def _plan(trace: SqlTrace, one: dict[str, Any]) -> str:
    """Where the plan of a statement stands."""
    plans = trace.row_sources.filter(_is_of(one))
    name = PurePath(trace.source).name
    show = "iolab show --tables" + ("" if name.startswith("<") else f" {name}")
    if plans.height:
        return f"see the plan of {_word(one)} (line {plans.item(0, 'line'):,}): {show}"
    if one["sql"] and not str(one["sql"]).isdecimal() and has_plan(one["text"]):
        return f"see the plan: select * from table(dbms_xplan.display_cursor('{one['sql']}'))"  # noqa: S608 - text
    return f"see its calls and waits: {show}"


def _is_of(one: dict[str, Any]) -> pl.Expr:
    """Whether a row is of a statement; those without a header are one."""
    if one["sql"] and not str(one["sql"]).isdecimal():  # parsed again, it is a statement of another number
        return pl.col("sql_id").eq_missing(pl.lit(one["sql"], pl.String()))
    return pl.col("statement").eq_missing(pl.lit(one["statement"], pl.Int64))


def _place(one: dict[str, Any]) -> Evidence:
    lines = (one["statement"],) if one["statement"] is not None else ()
    return Evidence("statements", (one["sql"],) if one["sql"] else (), lines)


@rule("trace_gap", "not_accounted_for", of="sqltrace_session")
def unknown_time(facts: Facts) -> Iterator[Finding]:
    """Time that no record names: between records, and in calls beside CPU and waits; CPU within waits."""
    lead, calls = facts.lead, facts.session.calls
    share = facts.share(GAP)
    if share >= _NOTABLE:
        row = facts.row(GAP) or {}
        each = f", {seconds(row['seconds'] / max(1, calls.height))} per call"
        each = each if limit_of(facts.trace, facts.session) is None else ""  # it may be of the call that was cut
        said = f"{facts.percent(GAP)} passed between records: {seconds(row['seconds'])}{each}."
        detail = "the database and the tracing itself work between calls"
        if row["seconds"] > _LONG_GAP_S * calls.height:
            detail = "more than 1 ms per call means that lines are missing"
        step = "" if share < _NAMED else "iolab show --tables: are lines missing, or the file cut?"
        yield Finding("trace_gap", said, part=GAP, detail=detail, next=step, evidence=(Evidence("accounts"),))
    whole = int(calls.get_column("own_elapsed_us").sum())
    rest = calls.get_column("unaccounted_us")
    more = int(rest.clip(lower_bound=0).sum())
    if whole <= 0 or lead.unshared:
        return
    if more >= _NAMED * whole and facts.share("not accounted for") >= _NOTABLE:
        said = f"{percent(more / whole)} of the time in calls is neither CPU nor a wait: {seconds(more / 1e6)}."
        detail = _not_counted(calls) or "consistent with a run queue, or with waits that the release does not name"
        step = "vmstat 1, or sar -q, of the same time: did processes wait for a CPU?"
        part = "not accounted for"
        yield Finding("not_accounted_for", said, part=part, detail=detail, next=step, evidence=(Evidence("calls"),))


def _not_counted(calls: pl.DataFrame) -> str:
    """Calls with time that is no wait, and no CPU, where they hold most of what is not accounted for.

    Some kernels count the CPU of a call as none, or as all of its time.

    Examples:
        >>> import iolab
        >>> call = "FETCH #1:c={cpu},e=14,p=0,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=9,tim={tim}"
        >>> lines = [call.format(cpu=14 if n % 4 == 0 else 0, tim=2000 + 100 * n) for n in range(8)]
        >>> _not_counted(iolab.load(chr(10).join(lines).encode()).calls)
        '6 of 8 calls show time and no CPU: what is not accounted for may be CPU that was not counted'
    """
    left = calls.filter(pl.col("unaccounted_us") > 0)
    silent = left.filter(pl.col("own_cpu_us") == 0)
    missing, of_silent = (int(frame.get_column("unaccounted_us").sum()) for frame in (left, silent))
    whole = int(calls.get_column("own_elapsed_us").sum())
    if missing < _MOST_UNACCOUNTED * whole or of_silent < missing / 2 or not silent.height:
        return ""
    return (
        f"{silent.height:,} of {count_text(calls.height, 'call')} show{'s' if silent.height == 1 else ''} time "
        "and no CPU: what is not accounted for may be CPU that was not counted"
    )


@rule(
    "cpu_of_a_get",
    of="sqltrace_session",
    needs="1,000 logical reads, few of them from disk",
    thresholds={"10 % from disk": "the CPU of reading is in it", "100 steps of the CPU clock": "n steps are sqrt(n)"},
)
def cost_of_gets(facts: Facts) -> Iterator[Finding]:
    """CPU of one logical read at most: row work is in it."""
    calls = facts.trace.calls
    if facts.share(CPU) < _NOTABLE:
        return
    row = us_per_get(calls).row(0, named=True)
    if row["value"] is None:
        return
    own = calls.filter(pl.col("op").is_in(["EXEC", "FETCH"]))
    gets = int((own.get_column("own_consistent_gets") + own.get_column("own_current_gets")).sum())
    silent = own.filter((pl.col("unaccounted_us") > 0) & (pl.col("own_cpu_us") == 0))
    if (left := int(silent.get_column("unaccounted_us").sum())) > _MOST_UNACCOUNTED * (left + row["value"] * gets):
        return  # CPU that the host did not count would be in it: no upper bound
    if int(own.get_column("own_disk_blocks").sum()) > _MOST_FROM_DISK * gets:
        return
    step = cpu_step(calls)
    if gets < _LEAST_GETS or (step > 1 and row["value"] * gets < _LEAST_STEPS * step):
        return
    yield Finding(
        "cpu_of_a_get",
        f"A logical read took at most {time_text(row['value'] / 1e6)} of CPU on average ({gets:,} logical reads).",
        caveat=row["caveats"],
        evidence=(Evidence("calls"),),
        order=6,
    )
