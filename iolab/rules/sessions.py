"""A SQL*Plus or SQLcl session: its statements and their runs, sizes of reads, flash cache, and what it cannot tell."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import MOST_TEXT, count_text, short_text
from iolab.metrics.lookups import statistic
from iolab.metrics.spool_statements import SAMPLE, statement_costs
from iolab.rules import phrases
from iolab.rules.exadata import READ_REQUESTS, exadata
from iolab.rules.finding import CALM, Evidence, Finding
from iolab.rules.listings import OF_STATEMENTS, listed
from iolab.rules.reads import average_read_size
from iolab.rules.registry import apply_rules, rule
from iolab.rules.row_sources import COMPARE_ITSELF, SEE_PLAN, largest_operation, operation_text, own_times
from iolab.rules.samples import session_findings as sample_findings
from iolab.rules.session_errors import untimed_errors
from iolab.rules.session_monitor import cause_of, monitored
from iolab.rules.session_objects import most_sampled, sampled_object
from iolab.rules.session_parts import printed_parts
from iolab.rules.session_repeats import script_twice
from iolab.rules.session_runs import (
    LEAST_TRIPS,
    MANY_TRIPS,
    but_for_literals,
    by_reads,
    by_trips,
    changed,
    changed_rows,
    done,
    explained_by,
    full_scan,
    gets_between,
    in_order,
    is_same_work,
    not_served,
    other_runs,
    plans_between,
    plans_of,
    recursion,
    sample,
    scan,
    trend,
    trips_of,
    without_index,
)
from iolab.rules.session_waits import ANY
from iolab.rules.time_parts import PART, sentence
from iolab.stats.first_runs import two_groups
from iolab.stats.samples import clock_step
from iolab.time_ledger.listings import listing_ledgers
from iolab.time_ledger.next_steps import ON_DISK, lob_step
from iolab.time_ledger.parts import TIMED
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.spools import changes, cheaper_forms, diagnoses, is_long, sampled
from logframe.errors import RefusedError
from logframe.interval import Interval, row_figure
from sqlplusparse.predicates import converted_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from iolab.time_ledger.account import Ledger
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
#: Statements of small shares whose runs get a sentence.
_MOST_SAMPLES: Final = 4
#: Kinds of statements whose runs are no sample.
_NO_SAMPLES: Final = ("transaction", "alter session", "alter system", "command")
#: Kinds of statements that change rows: each row and its entries in indexes take gets.
_CHANGES: Final = ("insert", "update", "delete", "merge")
#: Kinds of statements that autotrace counts for.
_TRACED_KINDS: Final = ("select", *_CHANGES)
#: Kinds that may run again for a measurement: they change nothing.
_REPEATED_KINDS: Final = ("select", "host", None)
#: A share whose bounds are this far apart is not shown.
_TOO_COARSE: Final = 0.5
#: Times are printed in units of 10 ms: shorter ones compare nothing.
_LEAST_TIMED_S: Final = 0.1
_LEAST_READS: Final = 20
_TEMPORARY: Final = " (most of them temporary: there are fewer gets)"
#: Blocks from disk whose time does not matter.
_FEW_BLOCKS: Final = 5
#: Operations that return fewer rows than they are of.
_GROUPS: Final = ("SORT GROUP BY", "SORT GROUP BY NOSORT", "HASH GROUP BY")
_SUMS: Final = ("SORT AGGREGATE", "HASH UNIQUE", "SORT UNIQUE", *_GROUPS)
#: A session of less time has nothing to gain.
_SHORT_S: Final = 1.0
_LEAST_GETS: Final = 100_000
_FEW_GETS: Final = 10_000
_RESOLUTION: Final = 0.05
#: No disk takes so long for a block: reads whose bound is above it are not what took the time.
_SLOWEST_READ_S: Final = 0.1
#: A read of a disk takes about so long, and reads of so small a share of the time do not matter.
_DISK_READ_S: Final = 0.02
_FEW_OF_TIME: Final = 0.05
#: Round trips of so many, with fewer rows each, are what to change first.
_LARGE_FETCH: Final = 100
_HALF: Final = 0.5
_ELAPSED: Final = ("elapsed_s", "elapsed_s_lo", "elapsed_s_hi")
_SQL_TRACE: Final = "an extended SQL trace (event 10046)"
_ECHO: Final = f"`set echo on` before the statements, then take {_SQL_TRACE}"
#: A plan belongs to a run of which its A-Time is at least this share.
_SAME_RUN: Final = 0.95


@dataclass(frozen=True)
class SpoolFacts:
    """A session as its rules see it."""

    spool: Spool

    @cached_property
    def lead(self) -> Ledger | None:
        """The account that the session is described by; None where nothing is timed or listed."""
        return next(iter(ledgers(self.spool)), None)

    @property
    def ledger(self) -> Ledger | None:
        """The account of its time, where that leads; None where nothing is timed, or there is no total."""
        return self.lead if self.lead is not None and not self.lead.void and self.lead.base == TIMED else None

    @property
    def is_monitored(self) -> bool:
        """Whether a report of SQL Monitor leads: no other listing has the time of the clock."""
        return self.lead is not None and self.lead.base != TIMED and self.lead.elapsed is not None

    @cached_property
    def listed(self) -> list[Finding]:
        """What its queries of views listed (`iolab.rules.listings`)."""
        return listed(self.spool)

    @cached_property
    def cause(self) -> Finding | None:
        """What listings say of the statement that took half of the time of the session, or that is monitored."""
        if self.is_monitored:
            return cause_of(self.spool, self.listed)
        row = next(iter(self.large), None)
        aside = sum(one["share"] for one in self.large if one["is_aside"])
        if row is None or row["is_aside"] or row["share_lo"] < _HALF * (1 - aside):
            return None
        found = (one for one in self.listed if one.explains)
        return printed_parts(self.spool, row) or next(
            (one for one in found if explained_by(one.explains[0], row, self.plans(row))), None
        )

    @property
    def costs(self) -> pl.DataFrame:
        """The statements, their times and what autotrace counted (`iolab.metrics.statement_costs`)."""
        return statement_costs(self.spool)

    @cached_property
    def large(self) -> list[dict[str, Any]]:
        """The statements with a finding of their own: `costs` and their shares.

        The largest comes first; what looked for a cause (`diagnoses`) comes after the others.
        """
        if self.ledger is None:
            return []
        shares = (
            self.ledger.parts("who").filter(pl.col("share_lo") >= PART).select("part", "share", "share_lo", "share_hi")
        )
        rows = shares.join(self.costs, on="part", maintain_order="left").to_dicts()
        aside, better = {*diagnoses(self.spool)}, cheaper_forms(self.spool)
        rows.sort(key=lambda row: aside.issuperset(row["statements"]))
        return [row | self._beside(row, better) | {"is_aside": aside.issuperset(row["statements"])} for row in rows]

    def _beside(self, row: dict[str, Any], better: Mapping[int, tuple[str, str]]) -> dict[str, Any]:
        """What the session shows of a statement's runs beside them: changes, plans, gets, and what is scanned."""
        table, predicates = full_scan(self.plans(row)) if row["blocks"] or _gets_of(row) else ("", "")
        converted = converted_column(predicates)
        return {
            "changes": changes(self.spool, row["statements"]),
            "plans": plans_between(self.spool, row),
            "gets_between": gets_between(self.spool, row),
            "scanned": table or None,
            "aggregates": self.plans(row)["operation"].str.strip_chars().is_in(_SUMS).any(),
            "unindexed": without_index(self.spool, table, predicates) if table else [],
            "converted": converted,
            "why": not_served(self.spool, self.costs, row, table, converted) if converted else "",
            "better": better.get(row["statement"], ("", "")),
            "changed_rows": changed_rows(self.spool, row) if row["kind"] in _CHANGES else 0,
        }

    def plans(self, row: dict[str, Any]) -> pl.DataFrame:
        """The operations of the plans of the runs of a statement (`costs`)."""
        return self.spool.plans.filter(pl.coalesce("explains", "statement").is_in(row["statements"]))

    @property
    def is_short(self) -> bool:
        """Whether all statements took too little for a trace: no series of runs, no reads that were counted."""
        total = None if self.ledger is None else self.ledger.total
        return (
            total is not None
            and total.hi < _SHORT_S
            and all(row["runs"] < SAMPLE and (row["blocks"] or 0) <= _FEW_BLOCKS for row in self.large)
        )

    @property
    def is_calm(self) -> bool:
        """Whether all statements are timed, took a few steps of the clock each, and read next to nothing."""
        if self.ledger is None or self.costs.is_empty() or not self.is_short or self.failed_s or self.listed:
            return False
        most, blocks = self.costs.select(pl.col("elapsed_s_hi").max(), pl.col("blocks").max()).row(0)
        if most >= _LEAST_TIMED_S or (blocks or 0) > _FEW_BLOCKS:
            return False
        return set(self.spool.statements.filter(pl.col("elapsed_s").is_null())["kind"]) <= {"command"}

    @property
    def failed_s(self) -> float:
        """The time of the statements that failed."""
        return float(self.failed.get_column("elapsed_s").sum())

    @cached_property
    def failed(self) -> pl.DataFrame:
        """The statements that failed after some time, the longest first."""
        timed = (pl.col("status") == "error") & pl.col("elapsed_s").is_not_null()
        return self.spool.statements.filter(timed).sort("elapsed_s", descending=True, maintain_order=True)

    @cached_property
    def figures(self) -> dict[str, Interval]:
        """The statistics of the session, by names in lower case."""
        found = {}
        for name in _STATISTICS:
            try:
                figure = statistic(self.spool, name)
            except (LookupError, RefusedError):
                continue
            if figure is not None:
                found[name.lower()] = figure
        return found


def session_findings(spool: Spool) -> Iterator[Finding]:
    """What the rules find in a session.

    Examples:
        >>> import sqlplusparse
        >>> text = b'''SQL> select count(*) from t;
        ... Elapsed: 00:00:01.11
        ... SQL> select count(*) from t;
        ... Elapsed: 00:00:00.02
        ... '''
        >>> for one in session_findings(sqlplusparse.read_spool(text, printed=True)): print(one.sentence)
        The statement at line 1 took all of the time: 2 runs, 1.11 and 0.0200 s.
        Two runs of one statement (1.11 and 0.02 s) do not show whether a first run is slower.
    """
    samples = sampled(spool)
    if not samples:
        yield from apply_rules("sqlplus", SpoolFacts(spool))
    else:
        yield from monitored(SpoolFacts(spool))
        yield from sampled_object(spool, *most_sampled(samples[0]))
        yield from (one for one in listed(spool) if one.name == "listed_waits" or one.explains)
    found = set[str]()
    for one in samples:  # what a query says first, no other says again
        new = [row for row in sample_findings(one) if row.name not in found]
        found |= {row.name for row in new}
        yield from new


@rule(
    "main_statement",
    "block_cost",
    "runs_trend",
    of="sqlplus",
    needs="`Elapsed` of statements",
    thresholds={
        "10 % of the time": "LEDGER 9.3",
        "p < 0.01 of Kendall's tau": "iolab.stats.order.ALPHA",
        "100 ms per block": "no disk is slower",
    },
)
def main_statements(facts: SpoolFacts) -> Iterator[Finding]:
    r"""The statements with a tenth of the time or more: their runs, their reads, and what to do next.

    Examples:
        >>> import sqlplusparse
        >>> text = b"SQL> select 1 from a;\n\nElapsed: 00:00:03.00\nSQL> select 2 from b;\n\nElapsed: 00:00:01.00\n"
        >>> for one in main_statements(SpoolFacts(sqlplusparse.read_spool(text))): print(one.sentence)
        The statement at line 1 took 75 % of the time: 3 s.
        The statement at line 4 took 25 % of the time: 1 s.
    """
    advice = "" if facts.failed_s > sum(row["elapsed_s"] for row in facts.large) else _next(facts)
    if facts.is_calm or (facts.is_short and any(one.name == CALM for one in facts.listed)):
        advice = ""
    elif facts.is_short:
        advice = "repeat with longer runs, if any matter: all statements together took less than 1 s"
    of = "of the time of the statements that succeeded" if facts.failed_s >= _LEAST_TIMED_S else "of the time"
    total = None if facts.ledger is None else facts.ledger.total
    for number, row in enumerate(facts.large):
        text = row["text"]
        trended, cause, (better, compare) = trend(row), facts.cause if number == 0 else None, row["better"]
        more = f"{phrases.capital(row['why'])}. " * bool(row["why"])
        more += cause.sentence if cause else f"{phrases.capital(better)}." * bool(better)
        alike = but_for_literals(facts.costs, row, total.value) if number == 0 and total is not None else ""
        yield Finding(
            "main_statement",
            f"{alike}{_sentence(row, is_first=number == 0, of=of)} {more}".rstrip(),
            detail=f"`{short_text(text.replace('`', ' '), MOST_TEXT)}`"
            if text is not None
            else "the log does not show its text" + (f", only its kind ({row['kind']})" if row["kind"] else ""),
            part=row["part"],
            next=(COMPARE_ITSELF.format(*row["converted"]) if row["why"] else cause.next if cause else compare)
            or (_next_of_trend(row, trended[0]) if trended else advice),
            evidence=cause.evidence if cause else (),
            order=0 if number == 0 and row["share"] < max(one["share"] for one in facts.large) else 2,
        )
        if trended:
            yield Finding(
                "runs_trend",
                f"Runs of {_name(row)} became {trended[0]} during the session: {trended[1]}.",
                part=row["part"],
                order=6,
            )
        if number == 0 and row["runs"] < SAMPLE and not _apart(row) and (bound := block_bound(row)):
            yield Finding(
                "block_cost",
                f"That is at most {bound} per block, even if the whole elapsed time was I/O.",
                part=row["part"],
                order=6,
            )


@rule(CALM, of="sqlplus", needs="`Elapsed` of statements", thresholds={"0.1 s": "ten steps of the clock of SQL*Plus"})
def calm_session(facts: SpoolFacts) -> Iterator[Finding]:
    """That nothing stands out in a session of a few steps of the clock."""
    if not facts.is_calm:
        return
    time, gets, blocks = facts.costs.select(pl.col("elapsed_s", "gets", "blocks").max().fill_null(0)).row(0)
    said = [f"took longer than {phrases.seconds(time)}"]
    if gets:
        said.append(f"made more than {count_text(gets, 'get')}")
        said.append(f"read more than {count_text(blocks, 'block')} from disk" if blocks else "read a block from disk")
    any_of = phrases.joined(said, "or")
    yield Finding(CALM, f"Nothing stands out: no statement {any_of}.", evidence=(Evidence("timings"),), order=-1)


@rule("runs", of="sqlplus", needs="three times without a statement's text")
def times_without_text(facts: SpoolFacts) -> Iterator[Finding]:
    """Times of statements that the log does not show, as one sample; two groups of them."""
    silent = facts.costs.filter(pl.col("text").is_null())
    in_order = silent.sort("statement").get_column("elapsed_s").to_list()
    times = sorted(in_order)
    total = facts.ledger.total if facts.ledger is not None else None
    if len(times) < SAMPLE or total is None or sum(times) < max(_HALF * total.hi, times[-1] / _HALF):
        return  # its own sentence says that one took most
    groups = two_groups(in_order, clock_step(times)) if times[0] > 0 else None
    ends = (f"{len(one):,} took {phrases.three(one[0])} to {phrases.three(one[-1])} s" for one in groups or ())
    more = f"in two groups: {' and '.join(ends)}" if groups else f"the longest {phrases.seconds(times[-1])}"
    took = f"took {phrases.seconds(sum(times))} together, {more}."
    said = f"{len(times):,} statements that the log does not echo {took}"
    yield Finding("runs", said, next=_ECHO, evidence=(Evidence("timings"),), position=1)


@rule("listed_rows", "log_switches", "listed_waits", CALM, of="sqlplus", needs="a listing of a view of the dictionary")
def listings(facts: SpoolFacts) -> Iterator[Finding]:
    """What queries listed that is no account of time; it comes first where the session did nothing else."""
    is_lead = facts.lead is None or (facts.lead.base == TIMED and not is_long(facts.spool))
    for one in facts.listed:
        if one is not facts.cause and one.explains not in OF_STATEMENTS:
            explains = () if one.explains == (ANY,) else one.explains
            position, order = (1, one.order - len(facts.listed) - 1) if is_lead else (one.position, one.order)
            yield replace(one, explains=explains, position=position, order=order)  # before all statements


@rule("main_statement", of="sqlplus", needs="a listing of v$sql or v$sqlstats that is longer than the session")
def listed_statements(facts: SpoolFacts) -> Iterator[Finding]:
    """The statements with a tenth of what a query listed: how often they ran, their CPU and logical reads."""
    lead = facts.lead
    if lead is None or "who" not in lead.views or lead.remarks.filter(rule="main_statement").is_empty():
        return
    details = dict(lead.remarks.filter(rule="main_statement").select("part", "text").iter_rows())
    for row in lead.parts("who").filter(pl.col("share_lo") >= PART).iter_rows(named=True):
        if detail := details.get(row["part"]):
            yield Finding("main_statement", f"{sentence(lead, row).removesuffix('.')}; {detail}.", part=row["part"])


@rule("main_statement", of="sqlplus", needs="very many statements that differ only in literals")
def statements_alike(facts: SpoolFacts) -> Iterator[Finding]:
    """Statements that differ only in literals, and are one part of the ledger."""
    if facts.ledger is None or facts.ledger.unshared:
        return
    for row in facts.ledger.parts("who").filter(pl.col("share_hi") >= PART).to_dicts():
        count, alike, text = row["name"].partition(" statements alike: ")
        if not alike:
            continue
        share = phrases.percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
        yield Finding(
            "main_statement",
            f"{count} statements that differ only in literals took {share} of the time.",
            detail=f"`{text}`",
            part=row["part"],
            next="use bind variables and array binds, or one statement for all rows",
        )


def _name(row: dict[str, Any]) -> str:
    """What a statement is called within a sentence: by its number, else by its line."""
    part = str(row["part"])
    return part if part == f"statement {row['statement']}" else f"the statement at {part}"


def _sentence(row: dict[str, Any], *, is_first: bool, of: str) -> str:
    """What a statement took, its runs, and what autotrace says that it did; of the first one a bound stands apart."""
    subject, times = phrases.capital(_name(row)), row["times"]
    share = (
        "all" if row["share"] > 1 - 1e-9 else phrases.percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
    )
    took = f"{subject} took {share}"
    if len(times) >= SAMPLE:
        runs = [f"{_apart(row) or in_order(row) or sample(row, is_whole=is_first)}{other_runs(row)}"]
        return f"{took} {of}: {'; '.join(runs + scan(row, _gets_of(row)) * bool(row['converted']))}."
    if said := _apart(row):
        return f"{took} {of}: {said}."
    bound, did, trips = block_bound(row), done(row), trips_of(row)
    scans = scan(row, _gets_of(row))
    if bound:
        each = "from disk" if is_first else f"in at most {bound} each"
        each += _TEMPORARY * bool(row["gets"] and row["blocks"] > 2 * row["gets"] and not row["disk_sorts"])
        is_change = row["kind"] in _CHANGES and row["gets"] and row["rows"]
        of_rows = [f"made {row['gets']:,} gets for {count_text(row['rows'], 'row')}"] if is_change else []
        did = [*of_rows, f"read {count_text(row['blocks'], 'block')} {each}", *did, *scans]
    elif gets := _gets_of(row):
        did = [gets, *did, *scans]
    if bound and not is_first:
        return f"{subject} {phrases.joined(did)}{f'; {trips}' if trips else ''}."
    is_small = (row["round_trips"] or 0) >= MANY_TRIPS and (row["rows"] or 0) < _LARGE_FETCH * row["round_trips"]
    if did or trips:
        parts = [f"it {phrases.joined(did)}"] * bool(did) + [trips] * bool(trips and (is_small or not did))
        return f"{took} {of}; {'; '.join(parts)}."
    if len(times) > 1:
        return f"{took} {of}: {len(times)} runs, {' and '.join(map(phrases.three, times))} s."
    time = phrases.seconds(Interval(*(row[name] for name in _ELAPSED)))
    if row["share_hi"] - row["share_lo"] > _TOO_COARSE:
        return f"{subject} took {time}: the clock is too coarse for a share."
    if row["changed_rows"] >= MANY_TRIPS:
        each = phrases.seconds(row["elapsed_s"] / row["changed_rows"])
        return f"{took} {of}: {time} for {row['changed_rows']:,} rows, {each} each."
    return f"{took} {of}: {time}{'; times are rounded' if ' to ' in share and ' to ' not in time else ''}."


def _apart(row: dict[str, Any]) -> str:
    """What sets the runs of a statement apart: round trips, a change between them, or reads; empty otherwise."""
    return by_trips(row) or changed(row) or by_reads(row) if len(row["times"]) > 1 else ""


def _gets_of(row: dict[str, Any]) -> str:
    """The gets of a statement that read next to nothing from disk, and for how many rows."""
    gets, blocks = row["gets"] or 0, row["blocks"] or 0
    few = row["blocks"] is not None and blocks * _DISK_READ_S <= _FEW_OF_TIME * row["elapsed_s_lo"]
    if not few or gets < max(_LEAST_GETS, 100 * (row["round_trips"] or 0)):
        return ""
    rows = f" for {count_text(row['rows'], 'row')}" if row["rows"] is not None else ""
    return f"made {gets:,} gets{rows}, {count_text(blocks, 'block')} from disk"


def block_bound(cost: dict[str, Any]) -> str:
    """The most that a block from disk can have taken, rounded up; empty where reads cannot be what took the time.

    Examples:
        >>> block_bound({"us_per_block_hi": 21.25, "blocks": 16_000})
        '21.3 us'
    """
    bound = cost["us_per_block_hi"]
    if not bound or cost["blocks"] < _LEAST_READS or bound > _SLOWEST_READ_S * 1e6:
        return ""
    size, unit = (1e3, "ms") if bound >= 1e3 else (1.0, "us")
    step = 10.0 ** (math.floor(math.log10(bound / size)) - 2)
    return f"{phrases.three(math.ceil(bound / size / step - 1e-9) * step)} {unit}"


def _next_of_trend(row: dict[str, Any], word: str) -> str:
    if in_order(row):
        return f"see what changes from run to run: reads and redo of {_name(row)} by `set autotrace on statistics`"
    return f"repeat {_name(row)} until its runs stop becoming {word}, then compare"


def _next(facts: SpoolFacts) -> str:
    """What to do next about the largest statements."""
    large = facts.large
    if not large:
        return ""
    if large[0]["is_aside"] and large[0]["kind"] == "plsql":
        return "compare what the session listed before this pause and after it"
    plans, of_plans = facts.plans(large[0]), plans_of(large[0])
    if plans.get_column("a_time_s").max():
        return SEE_PLAN
    if len(of_plans) > 1:
        best = min(of_plans, key=lambda plan: median(of_plans[plan]))
        return f"compare the plans, and keep `{best}`: dbms_spm.load_plans_from_cursor_cache"
    if large[0]["kind"] == "host":
        return f"`strace -f -ttt -T -yy` of one run of {_name(large[0])}"
    trips, rows = large[0]["round_trips"] or 0, large[0]["rows"] or 0
    if by_trips(large[0]):
        return "fetch as many rows at a time as in its fastest run (`set arraysize`, or that of the program)"
    if trips >= MANY_TRIPS and rows < _LARGE_FETCH * trips:
        return (
            lob_step(trips, rows)
            or f"fetch more rows at a time (`set arraysize 500`): {rows / trips:.0f} rows took a round trip"
        )
    if large[0]["text"] is None:
        return _ECHO
    if large[0]["times"][1:] and changed(large[0]):
        return "compare its plans before and after: select * from table(dbms_xplan.display_awr('SQL_ID'))"
    if large[0]["converted"]:
        return COMPARE_ITSELF.format(*large[0]["converted"])
    if any(row["kind"] not in _REPEATED_KINDS for row in large):
        return f"take {_SQL_TRACE} of its next run"
    if any(row["disk_sorts"] or (row["blocks"] or 0) > (row["gets"] or math.inf) for row in large[:1]):
        return ON_DISK
    if by_reads(large[0]):
        return f"take {_SQL_TRACE} of a slow run, for its reads and recursive statements"
    if recursion(large[0]):
        return "see what runs for each row: a function of PL/SQL in the statement, or a trigger of its table"
    if large[0]["unindexed"]:
        return f"index `{large[0]['scanned']}` by what its query asks for: {', '.join(large[0]['unindexed'])}"
    if large[0]["scanned"]:
        return "see whether an index serves it, by the predicates of its plan: iolab show --tables"
    if _gets_of(large[0]):
        return "see which step of its plan makes these gets: display_cursor with `ALLSTATS LAST` after a run"
    if any(row["blocks"] for row in large):
        return f"run it again with a warm cache, then with {_SQL_TRACE}"
    if large[0]["gets"] is None and large[0]["kind"] in _TRACED_KINDS:
        return "run it again with `set autotrace traceonly statistics` and an SQL trace (event 10046)"
    return f"run it again with {_SQL_TRACE}"


@rule("not_timed", "plan_time", of="sqlplus")
def not_timed(facts: SpoolFacts) -> Iterator[Finding]:
    r"""A session that prints no time, no cost and no statistic of its statements: what took time cannot be said.

    Examples:
        >>> import sqlplusparse
        >>> text = b"SQL> select 1 from t;\n\n         1\n----------\n         1\n"
        >>> for one in not_timed(SpoolFacts(sqlplusparse.read_spool(text))): print(one.sentence, one.next)
        The log does not show what took the time: no statement is timed. `set timing on` before the statements
        >>> list(not_timed(SpoolFacts(sqlplusparse.read_spool(text + b"\nElapsed: 00:00:00.01\n"))))
        []
    """
    spool = facts.spool
    worked = spool.statements.filter(pl.col("status").is_null() | (pl.col("status") == "ok"))
    if spool.timings.height or spool.autotrace.height or worked.is_empty():
        return
    if listing_ledgers(spool) or facts.listed or any(untimed_errors(spool)):
        return
    planned = spool.plans.filter(pl.col("a_time_s") > 0, pl.col("parent_id").is_null())
    if planned.height:
        top = planned.sort("a_time_s", descending=True, maintain_order=True).row(0, named=True)
        name = f"the plan of `{top['sql_id']}`" if top["sql_id"] else f"the plan at line {top['line']:,}"
        gets = f" and {count_text(round(top['buffers']), 'get')}" if top["buffers"] is not None else ""
        own = own_times(spool).filter(statement=top["statement"], plan=top["plan"])
        one = largest_operation(own)
        did, step = operation_text(own, one) if one else ("", "see the operations of the plan: iolab show --tables")
        yield Finding(
            "plan_time",
            f"{phrases.capital(name)} reports {phrases.seconds(top['a_time_s'])} (A-Time){gets}{did and f'; {did}'}.",
            next=step,
            evidence=(Evidence("plans", lines=(top["line"],)),),
        )
        return
    yield Finding(
        "not_timed",
        "The log does not show what took the time: no statement is timed.",
        next="`set timing on` before the statements",
        evidence=(Evidence("statements"),),
        is_refused=True,
        order=9,
    )


@rule(
    "plan_time",
    of="sqlplus",
    needs="a plan with A-Time of a statement of 10 % of the time",
    thresholds={"a third of the plan's time": "time_parts.LARGE", "10 % of the run": "LEDGER 9.3"},
)
def plan_operation(facts: SpoolFacts) -> Iterator[Finding]:
    """The operation with most of the time of the plan of a large statement, without that of its children."""
    own = own_times(facts.spool)
    total = facts.ledger.total if facts.ledger is not None else None
    for row in facts.large:
        plan = own.filter(pl.coalesce("explains", "statement").is_in(row["statements"]))
        if plan.is_empty():  # that of a statement without its text, by the time of its run
            run, whole = max(row["times"]), pl.col("whole").max().over("statement", "plan")
            plan = own.filter(pl.col("explains").is_null() & whole.is_between(_SAME_RUN * run, run + 1))
        plan = plan.filter(pl.col("plan") == plan.sort("whole").item(-1, "plan")) if plan.height else plan
        if plan.filter(pl.col("whole") > (1 + _RESOLUTION) * max(row["times"], default=0.0) + _RESOLUTION).height:
            continue
        if (one := largest_operation(plan)) is not None and one["a_time_s"] >= PART * max(row["times"], default=0):
            of = f" of `{one['sql_id']}`" if row["text"] is None and one["sql_id"] else ""
            said, step = operation_text(plan, one, f" by the plan{of} (A-Time)")
            yield Finding(
                "plan_time",
                f"{said}.",
                part=row["part"] if total is None else "",
                impact=None if total is None else Interval.exact(min(one["a_time_s"] / total.hi, 1.0)),
                impact_of="the time",
                next=step,
                evidence=(Evidence("plans", lines=(one["line"],)),),
                order=6,
            )


@rule("flash_hits", "flash_latency", "offload", of="sqlplus", needs="a listing of session statistics")
def flash(facts: SpoolFacts) -> Iterator[Finding]:
    """Flash cache and offload, of the statement that was timed before the listing of statistics."""
    requests = facts.spool.statistics.filter(pl.col("name") == READ_REQUESTS)["value"]
    if not (requests.diff() < 0).any():  # else they are of sessions that differ
        yield from exadata(facts.figures, elapsed_s=_elapsed_before_listing(facts.spool), table="statistics")


def _elapsed_before_listing(spool: Spool) -> Interval | None:
    """The time of the only statement that was timed before the listing of statistics, and is right before it."""
    if spool.statistics.is_empty():
        return None
    listing = spool.statistics.item(0, "statement")
    timed = pl.col("elapsed_s").is_not_null() & (pl.col("status") == "ok")
    before = spool.statements.filter((pl.col("statement") < listing) & timed)
    if before.height != 1 or before.item(0, "statement") != listing - 1:
        return None
    return row_figure(before.row(0, named=True), "elapsed_s")


@rule(
    "read_size", of="sqlplus", needs="physical read total bytes and requests", thresholds={"20 reads": "a mean of few"}
)
def read_size(facts: SpoolFacts) -> Iterator[Finding]:
    """The average size of a read of the session."""
    figures = facts.figures
    requests, size = figures.get("physical read total io requests"), figures.get("physical read total bytes")
    if requests is None or size is None or requests.lo < _LEAST_READS:
        return
    yield average_read_size(requests, size, "statistics")


@rule("runs", of="sqlplus", needs="three runs of one text", thresholds={"6 runs": "iolab.stats.intervals.MIN_RUNS"})
def repeated_runs(facts: SpoolFacts) -> Iterator[Finding]:
    r"""The median of each statement of a small share that ran three times or more.

    Examples:
        >>> import sqlplusparse
        >>> run = "SQL> select {} from t;\n\nElapsed: 00:00:{}.00\n"
        >>> text = run.format(2, 50) + "".join(run.format(1, f"0{one}") for one in (1, 2, 1))
        >>> for one in repeated_runs(SpoolFacts(sqlplusparse.read_spool(text.encode()))): print(one.sentence)
        Statement 2 took 7.4 % of the time: 3 runs, median 1 s, from 1 to 2 s.
    """
    ledger = facts.ledger
    if ledger is None or ledger.unshared or ledger.total is None:
        return
    large = {row["part"] for row in facts.large}
    repeated = facts.costs.filter(
        (pl.col("runs") >= SAMPLE)
        & ~pl.col("part").is_in(large)
        & ~pl.col("kind").is_in(_NO_SAMPLES).fill_null(value=False)
    ).sort("elapsed_s", descending=True, maintain_order=True)
    for row in repeated.head(_MOST_SAMPLES).iter_rows(named=True):
        share = phrases.percent(row["elapsed_s"] / ledger.total.value)
        yield Finding(
            "runs",
            f"{phrases.capital(_name(row))} took {share} of the time: {sample(row, is_whole=True)}{other_runs(row)}.",
            part=row["part"],
            evidence=(Evidence("runs", (str(row["statement"]),)),),
            order=5,
        )


@rule("first_run_slower", "which_setting", "runs_alike", of="sqlplus", needs="`Elapsed` of repeated runs")
def first_runs(facts: SpoolFacts) -> Iterator[Finding]:
    """Whether a second run of all statements differs, or why runs of one do not tell it: too few, or without a text."""
    if said := script_twice(facts.spool, facts.costs):
        yield said
        return
    unnamed = facts.spool.runs(by="shape").filter(pl.col("elapsed_s").is_not_null())
    times = unnamed.get_column("elapsed_s").sort()
    if unnamed.height >= SAMPLE and times.item(-1) >= _LEAST_TIMED_S:
        yield Finding(
            "first_run_slower",
            f"The log does not show whether first runs are slower: {unnamed.height:,} times ({times.item(0):g} to "
            f"{times.item(-1):g} s) have no statement.",
            next="`set echo on` before the runs",
            evidence=(Evidence("timings"),),
            is_refused=True,
        )
        yield Finding(
            "which_setting",
            "The log does not show which setting was faster: the runs are not labelled.",
            next="`prompt` with the setting before each series",
            is_refused=True,
        )
    pairs = facts.costs.filter((pl.col("runs") == 2) & ~pl.col("kind").is_in(_NO_SAMPLES).fill_null(value=False))
    pairs = pairs.filter(
        pl.col("times").list.first() >= pl.col("times").list.last(),
        pl.col("part").is_in([row["part"] for row in facts.large if not changed(row)]) | pl.lit(facts.ledger is None),
    )
    for row in pairs.head(1).iter_rows(named=True):
        first, last = row["times"]
        if by_trips(row) or is_same_work(row):
            continue
        yield Finding(
            "first_run_slower",
            f"Two runs of one statement ({first:g} and {last:g} s) do not show whether a first run is slower.",
            next="run it six times or more, with `autotrace` for reads and recursive calls",
            evidence=(Evidence("statements", tuple(map(str, row["statements"]))),),
            is_refused=True,
        )


@rule(
    "lio_cost",
    of="sqlplus",
    needs="autotrace and `Elapsed`",
    thresholds={
        "100,000 gets": "0.01 s of the clock",
        "20 ms": "a read of a disk",
        "10,000 gets": "fewer cost nothing",
    },
)
def lio_cost(facts: SpoolFacts) -> Iterator[Finding]:
    """Elapsed time for each logical read of a statement that read next to nothing from disk; refused where all did."""
    costs = facts.costs.filter(pl.col("us_per_get_hi").is_not_null() & pl.col("blocks").is_not_null())
    step = pl.col("elapsed_s_hi") - pl.col("elapsed_s_lo")
    clean = costs.filter(
        pl.col("blocks") * _DISK_READ_S <= _FEW_OF_TIME * pl.col("elapsed_s_lo"),
        pl.max_horizontal("round_trips", "recursive_calls").fill_null(0) * 100 <= pl.col("gets"),
        pl.col("gets") >= _LEAST_GETS,
        step <= _RESOLUTION * pl.col("elapsed_s"),
    ).sort("gets", descending=True)
    if clean.height:
        row = clean.row(0, named=True)
        each = Interval(*(row[name] / row["gets"] for name in _ELAPSED))
        read = (
            f"only {count_text(row['blocks'], 'block')} came from disk" if row["blocks"] else "no block came from disk"
        )
        yield Finding(
            "lio_cost",
            f"Logical reads took {phrases.seconds(each)} each ({_name(row)}, {row['gets']:,} gets), "
            "row work and fetches included.",
            detail=read,
            evidence=_places(row),
            order=6,
        )
        return
    mixed = costs.filter((pl.col("gets") >= _FEW_GETS) & (pl.col("blocks") > 0)).sort("gets", descending=True)
    if any(row["unindexed"] for row in facts.large[:1]):  # the reads are the cost
        return
    if mixed.is_empty() or facts.cause or (mixed.item(0, "runs") > 1 and by_reads(mixed.row(0, named=True))):
        return
    row = mixed.row(0, named=True)
    has_trips = costs.filter(pl.col("round_trips") >= LEAST_TRIPS).height
    what = "costs of a logical read and of a round trip" if has_trips else "cost of a logical read"
    reads = (
        "every run also read from disk"
        if costs.filter(pl.col("blocks") > 0).height == costs.height > 1
        else f"{_name(row)} also read from disk"
    )
    yield Finding(
        "lio_cost",
        f"The {what} cannot be separated: {reads}.",
        next="" if facts.large and facts.large[0]["blocks"] else "run it again with a warm cache",
        evidence=_places(row),
        is_refused=True,
    )


def _places(row: dict[str, Any]) -> tuple[Evidence, ...]:
    return tuple(Evidence(table, (str(row["statement"]),), (row["line"],)) for table in ("autotrace", "statements"))
