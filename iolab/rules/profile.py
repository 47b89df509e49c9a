"""Parts of DB time that say more than their row: statements, PL/SQL, row locks, the resource manager, refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import MOST_TEXT, count_text, short_text
from iolab.metrics.report_facts import total
from iolab.rules.finding import LEAST_WAITS, NOTABLE, Evidence, Finding
from iolab.rules.phrases import often, often_each, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import part_of, parts_of
from iolab.rules.time_parts import PART
from iolab.rules.writes import all_io_slow, small_log_writes_slow
from iolab.time_ledger.next_steps import MANY_CHILDREN, NOT_SHARED, event_step
from iolab.time_ledger.parts import BLOCK_TIME
from iolab.time_ledger.reports import NOT_ACCOUNTED, ledger_of, statement_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts, Statement

_LOCK_SHARE: Final = 0.20
#: Events of reads of single blocks; those that are faster on average are not slow.
_SINGLE: Final = ("single block physical read", "sequential read")
_FAST_S: Final = 0.002
#: Parallel statements wait for servers in this event, whatever the plan of the resource manager.
PARALLEL_QUEUE: Final = "resmgr:pq queued"
#: What a plan of the resource manager limits, of a pluggable database and of consumer groups.
#: Parameters that limit the I/O of a pluggable database.
_IO_LIMITS: Final = ("max_mbps", "max_iops")
_LIMITS: Final = "dba_cdb_rsrc_plan_directives for a pluggable database, dba_rsrc_plan_directives for its groups"
_ROW_LOCKS: Final = "enq: TX - row lock contention"
#: Parts of the statements that are not.
_CLOSING: Final = ("captured, not listed", "not captured", "not listed", "counted twice")
#: A statement whose time is mostly one thing.
_MOSTLY: Final = 0.5
#: A statement with this much is the only one.
_ONE: Final = 0.9
#: Latches and other waits of background processes from here on.
_BACKGROUND_SHARE: Final = 0.10


@rule(
    "main_statement",
    of="report",
    needs="a list of SQL with elapsed times",
    thresholds={"10 % of DB time": "LEDGER section 9"},
)
def main_statement(facts: ReportFacts) -> Iterator[Finding]:
    """A statement with 10 % of DB time or more: how often, how long, CPU or I/O; its module.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Statement
        >>> from logframe.interval import Interval
        >>> one = Statement("82ud5h0qcg0bf", Interval.exact(3_625.7), Interval.exact(176_182),
        ...     io_s=Interval.exact(3_589), module="Swingbench", text="select customer_id from customers")
        >>> facts = ReportFacts(db_time_s=Interval.exact(12_612.5), elapsed_s=Interval.exact(903), statements=(one,))
        >>> for found in main_statement(facts): print(found.part, found.sentence, found.detail, sep=" | ")
        82ud5h0qcg0bf select customer_id from customers | `82ud5h0qcg0bf` took 29 % of DB time, 99 % of it I/O:
        195 executions per second, 20.6 ms each. | module Swingbench
    """
    if facts.is_idle:
        return
    blocks = [one for one in facts.statements if one.is_block]
    for one in facts.statements:
        name = statement_name(facts, one)
        part = None if one.is_block else part_of(facts, name, "who")
        if part is None or not part.is_large:
            continue
        each, runs = "", one.executions
        if runs is not None and runs.lo > 0:
            each = f": {often_each(runs, facts.elapsed_s, 'executions', seconds((one.elapsed_s / runs).value))}"
        where = f" in {one.pdb}" if one.pdb and f"({one.pdb})" in name else ""
        begin = f"One statement, `{one.sql_id}`{where}," if part.share.lo >= _ONE else f"`{one.sql_id}`{where}"
        detail = [f"module {one.module}"] if one.module else []
        inside = [
            block for block in blocks if block.elapsed_s.value >= NOTABLE * (facts.whole_s or one.elapsed_s).value
        ]
        if inside and part.share.lo >= _ONE:
            detail.append(
                f"{count_text(len(inside), 'PL/SQL block')} of up to {seconds(inside[0].elapsed_s.value)} may call it"
            )
        yield Finding(
            "main_statement",
            f"{begin} took {part.took}{_split(one)}{each}.",
            part=name,
            detail="; ".join(detail),
            evidence=(Evidence("sql", (one.sql_id,)),),
        )


@rule(
    "plsql_block",
    of="report",
    needs="a list of SQL with elapsed times",
    thresholds={"10 % of DB time": "LEDGER section 9"},
)
def plsql_block(facts: ReportFacts) -> Iterator[Finding]:
    """The longest PL/SQL block, where PL/SQL itself is large, or no statement: a block contains what it calls.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Statement
        >>> from logframe.interval import Interval
        >>> block = Statement("3abcdefghijk3", Interval.exact(990), Interval.exact(1), text="begin run; end;",
        ...     is_block=True)
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), statements=(block,),
        ...     captured_sql_pct=Interval.exact(3), plsql_s=Interval.exact(860))
        >>> for one in plsql_block(facts): print(one.part, one.sentence, sep=" | ")
        PL/SQL itself | PL/SQL itself took 86 % of DB time; block `3abcdefghijk3` took 99 % with what it calls.
        >>> from dataclasses import replace
        >>> for one in plsql_block(replace(facts, plsql_s=None)): print(one.sentence)
        The PL/SQL block `3abcdefghijk3` took 99 % of DB time with what it calls.
    """
    whole, parts = facts.whole_s, parts_of(facts, "who")
    block = next((one for one in facts.statements if one.is_block), None)
    if block is None or whole is None or facts.is_idle or (block.elapsed_s / whole).lo < PART:
        return
    own = parts.get(BLOCK_TIME)
    is_own = own is not None and own.is_large
    if not is_own and any(part.is_large for name, part in parts.items() if name not in _CLOSING):
        return
    took = f"took {percent((block.elapsed_s / whole).capped(1))}"
    yield Finding(
        "plsql_block",
        f"{BLOCK_TIME} took {own.took}; block `{block.sql_id}` {took} with what it calls."
        if own is not None and is_own
        else f"The PL/SQL block `{block.sql_id}` {took} of DB time with what it calls.",
        part=BLOCK_TIME if is_own else "",
        detail=f"its text: {short_text(block.text, MOST_TEXT).rstrip('.')}" if block.text else "",
        next=f"take a profile of the lines of `{block.sql_id}`: dbms_hprof",
        evidence=(Evidence("sql", (block.sql_id,)),),
        order=1,
    )


def _split(one: Statement) -> str:
    """What most of a statement's time was, by the columns of the list."""
    if one.elapsed_s.lo <= 0:
        return ""
    for time, what in ((one.io_s, "I/O"), (one.cpu_s, "CPU")):
        if time is not None and (share := (time / one.elapsed_s).capped(1)).lo >= _MOSTLY:
            return f", {percent(share.value)} of it {what}"
    return ""


@rule(
    "lock_waits",
    of="report",
    explains=(_ROW_LOCKS,),
    needs="foreground events",
    thresholds={"20 % of DB time": "FINDINGS F14", "30 waits": "a convention"},
)
def lock_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Row locks, from 20 % of DB time; and slow writes, as a lock lasts until its commit.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> events = {"enq: TX - row lock contention": Wait(Interval.exact(22_983), Interval.exact(2_198_781))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(2_269_545), elapsed_s=Interval.exact(2_220), events=events)
        >>> print(*(one.part for one in lock_waits(facts)))
        enq: TX - row lock contention
        >>> list(lock_waits(ReportFacts(db_time_s=Interval.exact(20_000_000), events=events)))
        []
    """
    name, wait = next(iter(facts.of_events(_ROW_LOCKS).items()), ("", None))
    part = part_of(facts, name)
    if wait is None or part is None or part.share.lo < _LOCK_SHARE or wait.avg_s is None or wait.waits.lo < LEAST_WAITS:
        return
    yield Finding("lock_waits", "", part=name)
    for slow in [*all_io_slow(facts), *small_log_writes_slow(facts)][:1]:
        yield replace(slow, name="lock_waits", sentence=f"{slow.sentence.rstrip('.')}; a lock lasts until its commit.")


@rule(
    "resource_manager",
    of="report",
    explains=("resmgr:",),
    needs="foreground events",
    thresholds={"30 waits": "a convention"},
)
def resource_manager(facts: ReportFacts) -> Iterator[Finding]:
    """What limits sessions in large waits for the resource manager: CPUs or a limit of I/O, and the active plan.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> events = {"resmgr:cpu quantum": Wait(Interval.exact(900), Interval.exact(120))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), elapsed_s=Interval.exact(600), events=events,
        ...     cpu_count=4, cpus=64, idle_pct=Interval.exact(80))
        >>> print(*(one.sentence for one in resource_manager(facts)))
        The resource manager held sessions back: `cpu_count` was 4 of 64 CPUs, which were 80 % idle.
        >>> list(resource_manager(ReportFacts(db_time_s=Interval.exact(9_000), events=events)))
        []
        >>> facts = ReportFacts(db_time_s=Interval.exact(200), parameters={"max_mbps": "110"}, cpu_count=4, cpus=64,
        ...     events={"resmgr: I/O rate limit": events["resmgr:cpu quantum"]})
        >>> print(*(one.sentence for one in resource_manager(facts)))
        The resource manager held sessions back: `max_mbps` was 110.
    """
    names = [name for name in facts.of_events(prefix="resmgr:") if not name.startswith(PARALLEL_QUEUE)]
    part = part_of(facts, names[0]) if names else None
    if part is None or not part.is_large or facts.events[names[0]].waits.value < LEAST_WAITS:
        return
    limit, plan = "", facts.parameters.get("resource_manager_plan", "").rpartition(":")[2]
    if "I/O" in names[0]:
        limits = [f"`{one}` was {facts.parameters[one]}" for one in _IO_LIMITS if facts.parameters.get(one, "0") != "0"]
        limit = f": {' and '.join(limits)}" if limits else ""
    elif facts.cpu_count is not None and facts.cpu_count < (facts.cpus or math.inf):
        idle = f", which were {percent(facts.idle_pct.value / 100)} idle" if facts.idle_pct is not None else ""
        limit = f": `cpu_count` was {facts.cpu_count}" + (f" of {facts.cpus:,} CPUs{idle}" if facts.cpus else "")
    yield Finding(
        "resource_manager",
        f"The resource manager held sessions back{limit}.",
        next=f"see the limits of plan `{plan}`: {_LIMITS}" if plan else event_step(names[0]),
        evidence=(Evidence("foreground_events", tuple(names)),),
    )


@rule(
    "child_cursors",
    of="report",
    needs="SQL ordered by version count",
    thresholds={"100 children": "a convention", "5 % of DB time": "FINDINGS F15"},
)
def child_cursors(facts: ReportFacts) -> Iterator[Finding]:
    """The statement with most child cursors, where sessions waited for the library cache.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> events = {"cursor: mutex S": Wait(Interval.exact(90_000), Interval.exact(300))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), events=events, versions=(("7xq2b0kd9mvz1", 812),))
        >>> print(*(f"{one.sentence} {one.next}" for one in child_cursors(facts)))
        `7xq2b0kd9mvz1` has 812 child cursors; sessions waited for the library cache for 30 % of DB time. see why its \
        cursor was not shared: select * from v$sql_shared_cursor where sql_id = '7xq2b0kd9mvz1'
        >>> from dataclasses import replace
        >>> list(child_cursors(replace(facts, parse_s=Interval.exact(20))))  # the waits were elsewhere, as in logons
        []
    """
    waits = {**facts.of_events(prefix="cursor:"), **facts.of_events(prefix="library cache")}
    sql_id, children = facts.most_children
    if facts.whole_s is None or not waits or facts.is_idle or children < MANY_CHILDREN:
        return
    waited = total(waits)
    share = waited / facts.whole_s
    is_elsewhere = facts.parse_s is not None and 2 * facts.parse_s.hi < waited.lo  # not in parses
    if share.lo < NOTABLE or is_elsewhere:
        return
    yield Finding(
        "child_cursors",
        f"`{sql_id}` has {children:,} child cursors; sessions waited for the library cache for "
        f"{percent(share.capped(1))} of DB time.",
        share.capped(1),
        next=NOT_SHARED.format(sql_id),
        evidence=(Evidence("sql", (sql_id,)), Evidence("foreground_events", tuple(waits))),
    )


@rule(
    "logons",
    of="report",
    needs="the time model",
    thresholds={"10 % of DB time": "LEDGER section 9"},
)
def logons(facts: ReportFacts) -> Iterator[Finding]:
    """Time in which sessions connected or disconnected, from 10 % of DB time.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> from logframe.interval import Interval
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), elapsed_s=Interval.exact(600),
        ...     connect_s=Interval.exact(900), activity={"logons cumulative": Interval.exact(1_200)})
        >>> print(*(one.sentence for one in logons(facts)))
        Logons and logoffs took 90 % of DB time: 900 s, 2 logons per second.
    """
    time, whole, count = facts.connect_s, facts.whole_s, facts.activity.get("logons cumulative")
    if time is None or whole is None or facts.is_idle or facts.void or time.lo < PART * whole.hi:
        return
    often_ = f", {often(count, facts.elapsed_s, 'logons')}" if count is not None else ""
    share = (time / whole).capped(1)
    yield Finding(
        "logons",
        f"Logons and logoffs took {percent(share)} of DB time: {seconds(time)}{often_}.",
        share,
        next="see who connects so often, and connection pools: select machine, program, logon_time from v$session",
        evidence=(Evidence("time_model", ("connection management call elapsed time",)),),
    )


@rule(
    "background_waits",
    of="report",
    needs="background events and background elapsed time",
    thresholds={"10 % of background time": "evaluation A12"},
)
def background_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Latches and other contention of background processes, from 10 % of their time.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> waits = {"latch free": Wait(Interval.exact(61_889), Interval.exact(1_105))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(9_000), elapsed_s=Interval.exact(3_600),
        ...     background_s=Interval.exact(3_680), background=waits)
        >>> print(*(one.sentence for one in background_waits(facts)))
        `latch free` took 30 % of the time of background processes: 17.2 waits per second, 17.9 ms each.
        >>> from dataclasses import replace
        >>> list(background_waits(replace(facts, background_s=Interval.exact(60_000))))
        []
    """
    whole, cpu = facts.background_s, facts.background_cpu_s
    if whole is None or whole.lo <= 0 or facts.whole_s is None or facts.is_idle:
        return
    if cpu is not None and cpu.lo > whole.hi:
        return
    for name, wait in sorted(facts.background.items(), key=lambda item: -item[1].time_s.value):
        share = wait.time_s / whole
        is_contention = name.lower().startswith(("latch", "enq:", "library cache", "row cache", "buffer busy"))
        if not is_contention or share.lo < _BACKGROUND_SHARE or share.lo > 1 or wait.waits.lo < LEAST_WAITS:
            continue
        each = "" if wait.avg_s is None else f", {seconds(wait.avg_s.value)} each"
        yield Finding(
            "background_waits",
            f"`{name}` took {percent(share.capped(1).value)} of the time of background processes: "
            f"{often(wait.waits, facts.elapsed_s, 'waits')}{each}.",
            detail=f"background time was {three(whole.value)} s and is not part of DB time",
            next="see the background sessions in an ASH report: @?/rdbms/admin/ashrpt",
            evidence=(Evidence("background_events", (name,)),),
            order=5,
        )


@rule(
    "not_separable",
    of="report",
    needs="a large part whose cause a report does not show",
    thresholds={"10 % of DB time": "LEDGER section 9"},
)
def not_separable(facts: ReportFacts) -> Iterator[Finding]:
    """What a report cannot show of its largest part, and what would.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> events = {"db file sequential read": Wait(Interval.exact(770_898), Interval.exact(9_336))}
        >>> for one in not_separable(ReportFacts(db_time_s=Interval.exact(12_612), events=events)): print(one.sentence)
        The report does not show whether the storage was slow, or reads waited in a queue.
    """
    ledger = ledger_of(facts)
    if ledger.void or facts.is_idle or facts.whole_s is None:
        return
    large = [row for row in ledger.parts().iter_rows(named=True) if (row["share_lo"] or 0) >= _BACKGROUND_SHARE]
    first = max(large, key=lambda row: float(row["own_lo"]), default=None)
    if first is None:
        return
    names, said, collect = {row["part"] for row in large}, "", "iostat -xt 5"
    if first["part"] == NOT_ACCOUNTED and facts.is_saturated:
        return  # it waited for processors
    if first["part"] == NOT_ACCOUNTED:
        said = "The gain of a change cannot be estimated: too much DB time is not accounted for"
        collect = "take an ASH report: @?/rdbms/admin/ashrpt"
    elif first["class"] == "User I/O" and "db file parallel read" in names:
        said = "The report does not show the time of one read: `db file parallel read` waits for several blocks"
    elif first["class"] == "User I/O" and any(name.endswith(_SINGLE) for name in names) and first["avg"] >= _FAST_S:
        said = "The report does not show whether the storage was slow, or reads waited in a queue"
    if said:
        yield Finding("not_separable", f"{said}.", next=collect, is_refused=True, order=1)
