"""A TKPROF report: which statements took its time, which contain others, and what the report does not show.

The parts of the time are those of the ledger (`iolab.time_ledger.tkprof`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from iolab.metrics.formatting import MOST_TEXT, count_text, short_text
from iolab.metrics.sql_trace import READ_EVENTS
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import capital, percent, seconds, three
from iolab.rules.registry import apply_rules, rule
from iolab.rules.row_sources import INSTEAD, OFTEN, for_each_row, largest_wait, main_step
from iolab.time_ledger.next_steps import BIND, CACHE_LOBS, CLIENT_WORK, MORE_ROWS, lob_step, parse_step
from iolab.time_ledger.run import ledgers
from iolab.time_ledger.sql_traces import has_plan, is_commit, step_beside_plan
from iolab.time_ledger.tkprof import (
    OF_CLIENT,
    PERHAPS_INSIDE,
    Nesting,
    nesting_of,
    of_client,
    part_name,
    range_text,
    statements_of,
    trace_of,
)
from logframe.interval import Interval, row_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.time_ledger.account import Ledger
    from sqltraceparse import Tkprof

#: A part with this much of the time is named in a sentence.
_NAMED: Final = 0.10
#: A statement with this much of the gets is named beside the one that calls it.
_MOST_OF: Final = 0.5
_MOST_NAMED: Final = 6
_LEAST_GETS: Final = 100_000
#: Blocks from disk are named from one of this many gets on.
_FEW_BLOCKS: Final = 1_000
#: Blocks are of the reads of one event where the others are at most this part of them.
_OTHER_READS: Final = 0.02
_ROW_SOURCE: Final = "row source"
#: Executions of less time each, and calls of less time together, leave nothing to gain.
_SHORT_S, _LITTLE_S = 1e-3, 1.0
_NOTHING: Final = " Nothing stands out: each execution took less than 1 ms."
_QUEUED: Final = " {} of this is neither CPU nor a wait: consistent with waiting for a CPU."
#: With this much of the time the client is the question.
_MOST_TIME: Final = 0.9
#: A longer round trip is the client's own work, and one of this many rows gains little from more.
_SLOW_TRIP_S, _LARGE_FETCH = 0.5, 500
#: CPU is known to this part of itself, or no cost of a logical read is computed.
_RESOLUTION: Final = 0.05
#: From this much disk in the gets on, the CPU of reading is in it.
_MOST_FROM_DISK: Final = 0.10


class Facts(NamedTuple):
    """What the rules of a report take: the report, its lead ledger, its statements, and where recursive ones are."""

    report: Tkprof
    lead: Ledger
    statements: pl.DataFrame
    nesting: Nesting


def tkprof_findings(report: Tkprof) -> Iterator[Finding]:
    r"""What the rules say of a TKPROF report, beside its ledger.

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
        >>> for one in list(tkprof_findings(read_tkprof(text.encode())))[:1]: print(one.sentence)
        Calls of the session took 8.00 s.
    """
    lead = ledgers(report)[0]
    if not lead.void:
        statements = statements_of(report)
        yield from apply_rules("tkprof", Facts(report, lead, statements, nesting_of(report, statements)))


@rule("total", of="tkprof")
def total(facts: Facts) -> Iterator[Finding]:
    """What the calls took, and whether recursive statements are in it."""
    step = f"read the trace itself, for times in microseconds{trace_of(facts.report)}"
    waited, calls = _client_s(facts), facts.lead.total
    if calls is not None and waited * (1 - _MOST_TIME) >= calls.hi * _MOST_TIME:
        step = CLIENT_WORK
    words, detail = facts.lead.text, ""
    if facts.nesting.kind == "inside":
        row, listed = _of_part(facts, facts.nesting.container), facts.statements.filter("is_recursive")["gets"].sum()
        detail = f"{_inner(_word(row))} has about as many gets ({row['gets']:,}) as the recursive statements "
        detail += f"({listed:,}), so it probably contains them"
    yield Finding("total", f"{capital(words)}.", detail=detail, next=step, evidence=(Evidence("calls"),), order=0)


@rule("round_trips", of="tkprof", needs="waits for the client", thresholds={"half of the time": "a convention"})
def round_trips(facts: Facts) -> Iterator[Finding]:
    """Waits for the client longer than all calls, most of them in the many round trips of one statement."""
    waited, waits = _client_s(facts), facts.report.waits.filter(pl.col("scope") == "statement", OF_CLIENT)
    top = next(waits.sort("total_wait_s", descending=True, nulls_last=True).iter_rows(named=True), None)
    if top is None or facts.lead.total is None or waited <= facts.lead.total.hi or (top["waits"] or 0) < OFTEN:
        return
    one = next(facts.statements.filter(part=top["statement"], is_recursive=False).iter_rows(named=True), None)
    if one is None or top["total_wait_s"] <= _MOST_OF * waited:
        return
    trips, each = top["waits"], top["total_wait_s"] / top["waits"]
    said = f"The session waited for its client most of the time: {range_text(Interval.exact(waited))} "
    said += f"between calls that took {seconds(facts.lead.total)}. "
    said += f"{_word(one)} made {count_text(trips, 'round trip')} of {seconds(each)}"
    said += f", {count_text(round(one['rows'] / trips), 'row')} each" if one["rows"] >= trips else ""
    is_small = each < _SLOW_TRIP_S and one["rows"] < _LARGE_FETCH * trips
    step = lob_step(trips, one["rows"]) or (MORE_ROWS if is_small else CLIENT_WORK)
    yield Finding("round_trips", f"{said}.", next=step, evidence=(Evidence("waits", (top["event"],)),), order=0)


@rule(
    "main_statement",
    "hard_parses",
    of="tkprof",
    needs="tables of calls of statements",
    thresholds={"100 executions, as many as rows but for 1 %": "a convention"},
)
def main_statements(facts: Facts) -> Iterator[Finding]:
    """The statements with most time, with their text; those that differ only in literals as one."""
    has_who = "who" in facts.lead.views and not facts.lead.unshared
    parts = {row["part"]: row for row in facts.lead.parts("who").iter_rows(named=True)} if has_who else {}
    for one in facts.statements.head(_MOST_NAMED).to_dicts():
        row = parts.get(part_name(one))
        if row is None or (row["share_lo"] or 0.0) < _NAMED:
            continue
        share = percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
        text = short_text(str(one["text"] or one["key"] or ""), 100)
        place = Evidence("statements", (str(one["sql"] or one["part"]),), (one["line"],))
        if one["texts"] > 1:
            said = f"{one['texts']:,} statements that differ only in literals took {share} of the time"
            said += f": {count_text(one['misses'], 'hard parse')}."
            yield Finding("hard_parses", said, part=row["part"], detail=f"`{text}`", next=BIND, evidence=(place,))
            continue
        waits = _waits(facts.report, one).filter(~OF_CLIENT, pl.col("total_wait_s_lo") <= one["elapsed_s_hi"])
        top, spilled = largest_wait(waits, "total_wait_s", one["elapsed_s"])  # a longer one is between its calls
        by_row, instead = for_each_row(facts.statements, one, lambda each: _inner(_word(each)))
        what = _work(facts.report, one, by_row, top) + spilled
        detail, culprit = f"`{text}`", _culprit(facts, one)
        if culprit:
            what, top = _called(facts.report, one, culprit)
            detail += f" calls `{short_text(str(culprit['text'] or culprit['key'] or ''), 100)}`"
        elif one["is_recursive"] and row["parent"] is not None:
            detail += f"; its time is part of {_inner(_word(_of_part(facts, facts.nesting.container)))}"
        parse_s = _parse_s(facts.report, one)
        if parse_s:
            what = f"{count_text(one['misses'], 'hard parse')}, {seconds(parse_s)} in parsing"
        with_calls = ", with the statements it calls," if one["part"] == facts.nesting.container else ""
        silent = _silent(facts, one)
        source, better = _row_source(facts.report, one, top) if not culprit and not parse_s else ("", "")
        source += _between(facts.report, one) if by_row else ""
        source = _QUEUED.format(percent(silent)) if silent >= _MOST_OF else source
        is_calm = _is_calm(facts, one)
        source += _NOTHING * is_calm
        of = "call time" if _client_s(facts) > one["elapsed_s"] else "the time"
        said = f"{_word(one)}{with_calls} took {share} of {of}: {what}.{source}"
        better = better or (step_beside_plan(top["event"]) if top else "")
        if is_calm:
            step = CLIENT_WORK
        elif top and not parse_s and _lobs_of(facts.report, one, top):
            step = CACHE_LOBS
        elif parse_s and one["misses"] > 1:
            step = parse_step(one["misses"], one["misses"], one["texts"], one["sql"])
        else:
            step = (not parse_s and (instead or better)) or _step(facts, one, culprit, is_silent=silent >= _MOST_OF)
        yield Finding("main_statement", said, part=row["part"], detail=detail, next=step, evidence=(place,))


def _is_calm(facts: Facts, one: dict[str, Any]) -> bool:
    """Whether all calls took little time together, and each of many executions of a statement next to none."""
    whole, often = facts.lead.total, one["executions"] or 0
    is_little = whole is not None and whole.hi < _LITTLE_S and often >= OFTEN
    return is_little and one["elapsed_s_hi"] < _SHORT_S * often


def _step(facts: Facts, one: dict[str, Any], culprit: dict[str, Any] | None, *, is_silent: bool) -> str:
    """What to do about a statement of which no wait, parse or other statement tells."""
    if is_silent:
        return "see whether processes waited for a CPU: vmstat 5, or sar -q, of the same time"
    if culprit and (culprit["executions"] or 0) >= OFTEN:
        return INSTEAD.format(_inner(_word(one)))
    if one["part"] == facts.nesting.container:
        return "see the statements in it: iolab show --tables"
    if facts.report.row_sources.filter(pl.col("statement") == one["part"]).height:
        return f"see its plan below line {one['line']:,} of the report"
    if one["sql"] and has_plan(one["text"]):
        return f"see its plan: select * from table(dbms_xplan.display_cursor('{one['sql']}'))"  # noqa: S608 - text
    return f"read the trace itself, for times in microseconds{trace_of(facts.report)}"


def _culprit(facts: Facts, one: dict[str, Any]) -> dict[str, Any] | None:
    """The recursive statement with most of the time, or gets, of the statement that holds it; None of others."""
    if facts.nesting.kind != "inside" or one["is_recursive"] or one["part"] != facts.nesting.container:
        return None
    inner = facts.statements.filter("is_recursive")
    found = [inner.filter(pl.col(name) > _MOST_OF * one[name]) for name in ("elapsed_s", "gets")]
    return next((rows.row(0, named=True) for rows in found if rows.height), None)


def _called(report: Tkprof, one: dict[str, Any], culprit: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """What a statement did by the one that it calls, which without an identifier is named by its text; its wait."""
    word = _inner(_word(culprit))
    word += "" if culprit["sql"] else f" `{short_text(str(culprit['text'] or culprit['key'] or ''), MOST_TEXT)}`"
    word += f" ({count_text(culprit['executions'], 'execution')})" if culprit["executions"] else ""
    what = f"{count_text(one['executions'] or 0, 'execution')}, {count_text(one['gets'], 'get')}"
    if culprit["elapsed_s"] <= _MOST_OF * one["elapsed_s"]:
        return f"{what}, {percent(culprit['gets'] / one['gets'])} of them by {word}", None
    top, spilled = largest_wait(_waits(report, culprit).filter(~OF_CLIENT), "total_wait_s", culprit["elapsed_s"])
    waited = f", {count_text(top['waits'], 'wait')} for `{top['event']}`" if top else spilled
    return f"{what}, {percent(culprit['elapsed_s'] / one['elapsed_s'])} of its time in {word}{waited}", top


def _work(report: Tkprof, one: dict[str, Any], by_row: str, top: dict[str, Any] | None) -> str:
    """What a statement did: its executions, the waits that were half of its time, else its rows and gets."""
    blocks = count_text(one["disk_blocks"], "block")
    what = count_text(one["executions"], "execution") if one["executions"] else count_text(one["count"], "call")
    what += by_row
    if top:
        others = _other_reads(report, one, top) if one["disk_blocks"] else None
        size = "" if others is None else f"{blocks} from disk, " if others else f"{blocks} in "
        each_lob = _lobs_of(report, one, top)
        lobs = f", {three(each_lob)} per execution: LOBs that are not cached" if each_lob else ""
        what += f", {size}{count_text(top['waits'], 'wait')} for `{top['event']}`"
        return f"{what} ({seconds(top['total_wait_s'])}){lobs}"
    if not one["gets"] and not has_plan(one["text"]):
        return f"{what}, no gets: its own code took it, not the statements that it executes"
    what += "" if by_row else f", {count_text(one['rows'], 'row')}"
    what += f", {count_text(one['gets'], 'get')}"
    return what + (f", {blocks} from disk" if one["disk_blocks"] * _FEW_BLOCKS >= one["gets"] else "")


def _waits(report: Tkprof, one: dict[str, Any]) -> pl.DataFrame:
    return report.waits.filter(pl.col("scope") == "statement", pl.col("statement") == one["part"])


def _lobs_of(report: Tkprof, one: dict[str, Any], top: dict[str, Any]) -> float:
    """Direct path reads of LOBs per execution: those that no step of the plan made, as it read nothing; else 0."""
    steps = report.row_sources.filter(pl.col("statement") == one["part"]).get_column("disk_blocks")
    is_beside = "dbms_lob" in str(one["text"]).lower() or (steps.len() > 0 and not steps.sum())
    is_lob = top["event"] == "direct path read (lob)" or (top["event"] == "direct path read" and is_beside)
    return top["waits"] / one["executions"] if is_lob and (one["executions"] or 0) >= OFTEN else 0.0


def _between(report: Tkprof, one: dict[str, Any]) -> str:
    """The time of the client between the executions of a statement, where it is longer than theirs; as a sentence."""
    time = float(_waits(report, one).filter(OF_CLIENT).get_column("total_wait_s").sum())
    return f" Between its calls {seconds(time)} passed in the client." if time > one["elapsed_s"] else ""


def _row_source(report: Tkprof, one: dict[str, Any], top: dict[str, Any] | None) -> tuple[str, str]:
    """What the plan of a statement shows of its time or gets, and what to do about it."""
    steps = report.row_sources.filter(pl.col("statement") == one["part"], pl.col("plan") == _ROW_SOURCE).to_dicts()
    levels = [step["level"] for step in steps]
    parents = [max((m for m in range(n) if levels[m] < level), default=None) for n, level in enumerate(levels)]
    us, event = one["elapsed_s"] * 1e6, top["event"] if top else ""
    return main_step(steps, parents, us, one["gets"] or 0, one["executions"] or 1, one["text"], event)


def _parse_s(report: Tkprof, one: dict[str, Any]) -> float:
    """The time of parsing of a statement with hard parses, where it is half of its time; else 0."""
    own = pl.col("scope") == "statement", pl.col("statement") == one["part"], pl.col("call") == "Parse"
    time = float(report.calls.filter(*own).get_column("elapsed_s").sum())
    return time if one["misses"] and 0 < one["elapsed_s"] <= 2 * time else 0.0


def _silent(facts: Facts, one: dict[str, Any]) -> float:
    """The share of a statement's time that is neither CPU nor a wait; 0 where the report has no CPU or waits of it."""
    own = _waits(facts.report, one)
    if one["part"] == facts.nesting.container:  # the waits of the statements that it calls stand below them
        inner = facts.statements.filter("is_recursive").get_column("part")
        of_inner = pl.col("scope").eq("statement") & pl.col("statement").is_in(inner.implode())
        own = pl.concat([own, facts.report.waits.filter(of_inner)])
    waited = float(own.filter(~OF_CLIENT).get_column("total_wait_s").sum())
    return 1 - (one["cpu_s"] + waited) / one["elapsed_s"] if own.height and one["cpu_s"] else 0.0


def _other_reads(report: Tkprof, one: dict[str, Any], top: dict[str, Any]) -> int | None:
    """The waits for other reads than those of the largest wait; None where it is for none, or they are not few."""
    waits = _waits(report, one).select("event", "waits").rows()
    reads = {event: count or 0 for event, count in waits if event in READ_EVENTS}
    others = sum(reads.values()) - reads.get(top["event"], 0)
    return others if top["event"] in reads and others <= _OTHER_READS * sum(reads.values()) else None


@rule("hard_parses", of="tkprof", needs="overall totals")
def parsing(facts: Facts) -> Iterator[Finding]:
    """The time of parsing, where it is a tenth or more."""
    if "phase" not in facts.lead.views or facts.lead.unshared:
        return
    large = facts.lead.parts("phase").filter(pl.col("part") == "Parse", pl.col("share_lo") >= _NAMED)
    for row in large.to_dicts():
        share = percent(Interval(row["share"], row["share_lo"], row["share_hi"]))
        own = pl.col("is_recursive").not_() | pl.lit(facts.nesting.kind == "apart")  # those whose calls are counted
        hard = int(facts.statements.filter(own).get_column("misses").sum())
        calls = f"{count_text(int(row['count']), 'call')}, {count_text(hard, 'hard parse')}"
        said = f"Parsing took {share} of call time: {calls}."
        most = facts.statements.sort("misses", descending=True).row(0, named=True)
        step = parse_step(row["count"], hard, most["texts"], most["sql"])
        yield Finding("hard_parses", said, part="Parse", next=step, evidence=(Evidence("calls", ("Parse",)),))


@rule("recursive_sql", of="tkprof", needs="recursive statements")
def recursive_beside(facts: Facts) -> Iterator[Finding]:
    """The longest recursive statement, where the report does not show in whose time it is."""
    recursive = facts.statements.filter("is_recursive")
    if facts.nesting.kind != "unknown" or not recursive.height or facts.lead.unshared or facts.lead.total is None:
        return
    one = recursive.row(0, named=True)
    time = row_figure(one, "elapsed_s")
    if time is None or time.lo < _NAMED * facts.lead.total.value:
        return
    said = (
        f"{_word(one)} took {range_text(time)}: {count_text(one['count'], 'call')}, {count_text(one['gets'], 'get')}."
    )
    detail = f"`{short_text(str(one['text'] or ''), 100)}`; the report does not show which statement called it"
    place = Evidence("statements", (str(one["sql"] or one["part"]),), (one["line"],))
    yield Finding("recursive_sql", said, part=PERHAPS_INSIDE, detail=detail, evidence=(place,))


@rule(
    "cpu_of_a_get",
    of="tkprof",
    needs="100,000 logical reads, few of them from disk",
    thresholds={"10 % from disk": "the CPU of reading is in it", "5 %": "resolution of the printed CPU"},
)
def cost_of_gets(facts: Facts) -> Iterator[Finding]:
    """CPU of one logical read at most, where most CPU is not of parsing: row work is in it."""
    scopes = ("non_recursive", "recursive") if facts.nesting.kind == "apart" else ("non_recursive",)
    calls = facts.report.calls.filter(pl.col("scope").is_in(scopes))
    rows = calls.filter(pl.col("call").is_in(["Execute", "Fetch"])).to_dicts()
    times = [time for row in rows if (time := row_figure(row, "cpu_s")) is not None]
    parsing = float(calls.filter(pl.col("call") == "Parse").get_column("cpu_s").sum())
    gets, disk = sum(_gets(row) for row in rows), sum(row["disk_blocks"] or 0 for row in rows)
    if not times or gets < _LEAST_GETS or disk > _MOST_FROM_DISK * gets:
        return
    cpu = sum(times[1:], times[0])
    if cpu.value <= parsing or (cpu.hi - cpu.lo) / cpu.value > _RESOLUTION:
        return
    yield Finding(
        "cpu_of_a_get",
        f"A logical read took at most {seconds(cpu.value / gets)} of CPU on average ({gets:,} logical reads).",
        evidence=(Evidence("calls", scopes),),
        order=6,
    )


def _client_s(facts: Facts) -> float:
    """The time that the session waited for its client, between calls."""
    return float(of_client(facts.report).get_column("total_wait_s").sum())


def _of_part(facts: Facts, part: int | None) -> dict[str, Any]:
    return facts.statements.filter(~pl.col("is_recursive"), pl.col("part") == part).row(0, named=True)


def _word(one: dict[str, Any]) -> str:
    if is_commit(one["text"]):
        return f"`COMMIT` (line {one['line']:,})"
    return f"`{one['sql']}`" if one["sql"] else f"The statement at line {one['line']:,}"


def _inner(words: str) -> str:
    return words[:1].lower() + words[1:]


def _gets(row: dict[str, Any]) -> int:
    return (row["consistent_gets"] or 0) + (row["current_gets"] or 0)
