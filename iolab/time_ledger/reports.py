"""Ledgers of AWR and Statspack reports: DB time by what, who and where, and the time of background processes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from iolab.metrics.awr import PERIODS, period_facts, with_all_waits
from iolab.metrics.report_facts import SAMPLED_EVERY_S
from iolab.metrics.report_figures import FROM_SHARES, report_facts
from iolab.time_ledger.account import Account, Ledger, void_ledger
from iolab.time_ledger.ash import addm_ledgers, ash_ledgers
from iolab.time_ledger.next_steps import (
    BUSY_HOUR,
    CHILDREN,
    COMMIT_LESS,
    FAST_WRITE_S,
    MANY_CHILDREN,
    MANY_COMMITS,
    NOT_SHARED,
    PARSES,
    event_step,
)
from iolab.time_ledger.parts import BLOCK_TIME, IO_CLASSES, Place, Sampled
from logframe.interval import Interval, row_figure
from logframe.oracle import wait_class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from awrparse import AwrReport
    from iolab.metrics.report_facts import ReportFacts, Statement, Wait

DB_TIME: Final = "DB time"
#: Fewer sessions active on average leave nothing to look for.
_ALMOST_NOTHING: Final = 0.05
_CALM: Final = 0.5
#: Waits of sessions that have reached a limit: of memory, of clean buffers, of redo, of processors, of space; and the
#: share of them from which on an instance is not calm.
_AT_LIMITS: Final = (
    *("acknowledge over pga limit", "free buffer waits", "write complete waits", "log buffer space", "log file switch"),
    *("resmgr:cpu quantum", "resmgr:pq queued", "statement suspended", "sort segment", "enq: ss", "enq: us"),
)
AT_LIMIT: Final = 0.05
CALL_TIME: Final = "total call time"
#: The base of a compare-period report, whose waits are of all processes.
ALL_WAITS: Final = "DB time plus background waits"
CPU: Final = "DB CPU"
NOT_ACCOUNTED: Final = "not accounted for"
_OF_BACKGROUND: Final = "waits of background processes"
#: A class and its events may differ by this much of DB time; in a list of the top events a larger sum alone counts.
_CLASS_SLACK: Final = 0.005
#: Captured time as printed and as added up may differ by this many points, and captured SQL (LEDGER, 2.3).
_TIME_SLACK: Final = 0.6
_SQL_SLACK: Final = 1.5
#: The lines above are checked from this much DB time on, in s.
_CHECKED_S: Final = 20.0
#: Captured SQL and the own time of PL/SQL together are at most this, else the one is inside the other.
_WHOLE_PCT: Final = 101.0
#: From this many seconds on tenths are left out.
_NO_TENTHS: Final = 100_000
#: A figure whose ends differ by more is given as a range.
_COARSE: Final = 0.05
#: Idle time of processors that was mostly waiting for I/O has that beside it.
_OF_IDLE: Final = 0.6
#: Characters of the text in the name of a statement.
_TEXT: Final = 60
#: What holds this much of DB time is most of the statement that does, too.
_MOST: Final = 0.5
#: What holds less of the time of a statement is no step for it.
_SOME: Final = 0.1
#: Waits for other sessions, for space in the log, and for commits.
_NOT_BY_PLAN: Final = ("Application", "Commit", "Concurrency", "Configuration")
#: Hard parses are few below this share of DB time.
_FEW_PARSES: Final = 0.05
#: What to look at next, by wait class.
_NEXT: Final = {
    "Administrative": "see the job or command: select * from v$session where wait_class = 'Administrative'",
    "Application": "see the blocking sessions in an ASH report of the period: @?/rdbms/admin/ashrpt",
    "Cluster": "take the report of all instances: @?/rdbms/admin/awrgrpt",
    "Commit": "see the redo devices: iostat -xt 5",
    "Concurrency": "see the blocking sessions in an ASH report of the period: @?/rdbms/admin/ashrpt",
    "Network": "take an extended SQL trace (event 10046) of one session",
    "Scheduler": "the active plan: select * from v$rsrc_plan",
    "System I/O": "see the devices: iostat -xt 5",
    "User I/O": "see the devices: iostat -xt 5",
}
#: The time of a statement in a report about it, and its parts by wait class.
_STATEMENT_TIME: Final = "Elapsed Time (ms)"
_STATEMENT_PARTS: Final = {
    "CPU Time (ms)": "CPU",
    "User I/O Wait Time (ms)": "User I/O",
    "Cluster Wait Time (ms)": "Cluster",
    "Application Wait Time (ms)": "Application",
    "Concurrency Wait Time (ms)": "Concurrency",
}
_ASH: Final = "take an ASH report of the period: @?/rdbms/admin/ashrpt"

_KNOWN: WeakKeyDictionary[ReportFacts, Ledger] = WeakKeyDictionary()


def report_ledgers(report: AwrReport) -> list[Ledger]:
    """The accounts of time of a report: foreground, then background; of two periods the second, then the first.

    Of a file of several reports those of the first come first, and the scope of the others names them.
    """
    found = list(_ledgers(report))
    for number, other in enumerate(report.parts):
        if other is not report and other.kind == report.kind:
            found += [replace(one, scope=f"report {number + 1}, {one.scope}") for one in _ledgers(other)]
    return found


def _ledgers(report: AwrReport) -> Iterator[Ledger]:
    if report.kind in _OTHERS:
        yield from _OTHERS[report.kind](report)
        return
    if report.kind == "awr_diff":
        both = [with_all_waits(period_facts(report, side, place), report, side) for place, side in enumerate(PERIODS)]
        accounts = [ledger_of(one) for one in both]
        said = [
            f"{one.db_time_s.value:,.0f} s, {range_text(one.sessions_active)} sessions active"
            for one in both
            if one.db_time_s is not None and one.sessions_active is not None
        ]
        text = f"first period: DB time {said[0]}; second: {said[1]}" if len(said) == len(both) else ""
        for side, ledger in zip(reversed(PERIODS), reversed(accounts), strict=True):
            yield replace(ledger, scope=f"{side} period", text=text or f"{side} period: {ledger.text}")
        return
    facts = report_facts(report)
    if report.kind == "fragment" and facts.db_time_s is None and facts.call_time_s is None:
        return  # tables without times of a whole
    yield ledger_of(facts)
    background = _background(facts)
    if background is not None:
        yield background


def ledger_of(facts: ReportFacts) -> Ledger:
    """The account of the foreground of a report; computed once for each.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> reads = {"db file sequential read": Wait(Interval.exact(1_000), Interval.exact(60))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(100), elapsed_s=Interval.exact(50), events=reads,
        ...     db_cpu_s=Interval.exact(25), classes={"User I/O": Interval.exact(60.4)})
        >>> print(ledger_of(facts).tree())
        DB time was 100 s in 50 s: 2.00 sessions were active on average
          60.4            60.4         1,000  User I/O
          60.0              60         1,000    db file sequential read
           0.4             0.4                  unlisted in class
          25.0              25                DB CPU
          14.6            14.6                not accounted for
    """
    if facts not in _KNOWN:
        _KNOWN[facts] = _foreground(facts)
    return _KNOWN[facts]


def _foreground(facts: ReportFacts) -> Ledger:
    scope = {"awr_global": "all instances", "awr_pdb": "pluggable database"}.get(facts.kind, "instance")
    base = DB_TIME if facts.db_time_s is not None or facts.call_time_s is None else CALL_TIME
    base = ALL_WAITS if facts.kind == "awr_diff" else base
    total = facts.db_time_s or facts.call_time_s
    if facts.void or total is None:
        return void_ledger(facts.void, base=base, scope=scope, remarks=list(_void_remarks(facts)))
    account = Account(total, base, scope=scope)
    _what(account, facts)
    _who(account, facts)
    where, table = (facts.instances, "time_model") if facts.instances else (facts.services, "services")
    for name, time in where.items():
        account.add("where", name, time, kind="mixed", evidence=Place(table, (name,)))
    ended = [facts.activity[name].value for name in ("user commits", "user rollbacks") if name in facts.activity]
    ledger = account.ledger(
        elapsed=facts.elapsed_s,
        unshared="almost nothing ran" if facts.is_idle else "",
        text=total_text(facts),
        counted={"what": "waits", "who": "executions"},
        transactions=sum(ended) if ended else None,
    )
    return replace(ledger, sampled=tuple(_sampled(facts)))


def sampled_on_cpu(facts: ReportFacts) -> Interval | None:
    """Seconds for which samples show sessions on CPU or waiting for it, beyond DB CPU; None without samples.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Samples
        >>> samples = Samples(count=4_097, on_cpu=Interval.exact(8.12))
        >>> facts = ReportFacts(db_cpu_s=Interval.exact(6_449), elapsed_s=Interval.exact(3_555), samples=samples)
        >>> [round(end) for end in (sampled_on_cpu(facts).value, sampled_on_cpu(facts).lo)]
        [22418, 21343]
    """
    on_cpu = facts.samples.on_cpu
    if on_cpu is None or facts.elapsed_s is None or facts.db_cpu_s is None:
        return None
    return _of_samples((on_cpu * facts.elapsed_s).value / SAMPLED_EVERY_S) - facts.db_cpu_s


def _of_samples(count: float) -> Interval:
    """The time that samples stand for, with two standard deviations of their number."""
    wide = 2 * count**0.5
    return Interval(*(SAMPLED_EVERY_S * one for one in (count, max(0.0, count - wide), count + wide)))


def _sampled(facts: ReportFacts) -> Iterator[Sampled]:
    """Time on CPU that the clock does not count, and statements that are in many samples and in no list."""
    if (time := sampled_on_cpu(facts)) is not None and time.value > 0:
        yield Sampled("what", "on CPU or in its queue", time)
    for sql_id, text, share in facts.sampled_only:
        yield Sampled("who", f"{sql_id} {text[:_TEXT]}".rstrip(), _of_samples(share / 100 * facts.samples.count))


def _void_remarks(facts: ReportFacts) -> Iterator[dict[str, object]]:
    def remark(role: str, text: str) -> dict[str, object]:
        return {"part": None, "role": role, "rule": "void", "text": text, "evidence": Place("info").cell()}

    yield remark("gate", facts.void)
    if facts.invalid or facts.restarted_at is not None:
        between = ""
        if facts.snapshots is not None:
            first, last = facts.snapshots
            between = f" ({first - 1} to {first}, {last} to {last + 1})"
            between = between if last == first + 1 else f", of snapshots between {first} and {last}"
        yield remark("next", f"take reports that do not span the restart{between}: @?/rdbms/admin/awrrpt")
    else:
        yield remark("next", "take the whole report of one period: @?/rdbms/admin/awrrpt")


def total_text(facts: ReportFacts) -> str:
    """The total in one line: DB time, sessions active, processors.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> total_text(ReportFacts(db_time_s=Interval.exact(12_612.5), elapsed_s=Interval.exact(903), cpus=8,
        ...     idle_pct=Interval.exact(57.6)))
        'DB time was 12,612.5 s in 903 s: 14.0 sessions were active on average; the 8 CPUs were 58 % idle'
        >>> total_text(ReportFacts(db_time_s=Interval.exact(67.8), elapsed_s=Interval.exact(3_602)))
        'DB time was 67.8 s in 3,602 s: almost nothing ran, 0.0188 sessions active on average'
        >>> total_text(ReportFacts(db_time_s=Interval.exact(720), elapsed_s=Interval.exact(3_600)))
        'DB time was 720 s in 3,600 s: little ran (0.200 sessions active)'
    """
    if facts.db_time_s is None:
        time = facts.call_time_s.value if facts.call_time_s is not None else 0.0
        return f"{CALL_TIME} was about {time:,.0f} s, computed from {FROM_SHARES}"
    if facts.db_times_s and facts.db_times_s[0][0] == FROM_SHARES:
        return f"DB time was about {range_text(facts.db_time_s)} s, computed from {FROM_SHARES}"
    # tenths, as far as the report prints them, and as they matter
    shown = f"{facts.db_time_s.value:,.{facts.db_time_s.value < _NO_TENTHS:d}f}".removesuffix(".0")
    is_coarse = facts.db_time_s.hi - facts.db_time_s.lo > _COARSE * facts.db_time_s.value
    text = f"DB time was {range_text(facts.db_time_s) if is_coarse else shown} s"
    if facts.elapsed_s is not None and facts.sessions_active is not None:
        active = f"{range_text(facts.sessions_active)} sessions were active on average"
        if facts.sessions_active.hi < _ALMOST_NOTHING:
            active = f"almost nothing ran, {active.replace(' were', '')}"
        elif is_calm(facts):
            active = f"little ran ({range_text(facts.sessions_active)} sessions active)"
        text += f" in {facts.elapsed_s.value:,.0f} s: {active}"
    return f"{text}{processors_text(facts)}"


def range_text(figure: Interval) -> str:
    """Three significant digits, or both ends where they differ by more than 5 %.

    Examples:
        >>> range_text(Interval(13.967, 13.96, 13.98)), range_text(Interval(0.1, 0.05, 0.15))
        ('14.0', '0.0500 to 0.150')
    """
    if figure.hi - figure.lo > _COARSE * figure.value:
        return f"{significant(figure.lo)} to {significant(figure.hi)}"
    return significant(figure.value)


def processors_text(facts: ReportFacts) -> str:
    """``; the 8 CPUs were 58 % idle`` where the host's processors are those of the report.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts
        >>> processors_text(ReportFacts(cpus=72, cpu_count=8, idle_pct=Interval.exact(91.8)))
        '; the 72 CPUs (cpu_count 8) were 92 % idle'
        >>> processors_text(ReportFacts(cpus=4, idle_pct=Interval.exact(49.9), iowait_pct=Interval.exact(44.1)))
        '; the 4 CPUs were 50 % idle (iowait: 44 %)'
        >>> apart = {"idle_only_pct": Interval.exact(5.8), "iowait_pct": Interval.exact(44.1)}
        >>> processors_text(ReportFacts(cpus=4, idle_pct=Interval.exact(49.9), **apart))
        '; the 4 CPUs were 5.8 % idle and 44 % waiting for I/O (iowait)'
        >>> processors_text(ReportFacts(cpus=8, idle_pct=Interval.exact(0.5)))
        '; the 8 CPUs were 0.5 % idle'
    """
    if not facts.has_host or facts.cpus is None or facts.idle_pct is None:
        return ""
    is_limited = facts.cpu_count is not None and facts.cpu_count < facts.cpus
    allowed = f" (cpu_count {facts.cpu_count})" if is_limited else ""
    cpus = "CPU was" if facts.cpus == 1 else f"{facts.cpus:,} CPUs{allowed} were"
    waited = facts.iowait_pct.value if facts.iowait_pct is not None else 0.0
    is_waiting, idle = waited >= _OF_IDLE * facts.idle_pct.value > 0, facts.idle_pct.value
    if facts.idle_only_pct is not None:
        iowait = f" and {waited:.0f} % waiting for I/O (iowait)" if is_waiting else ""
        return f"; the {cpus} {_per_cent(facts.idle_only_pct.value)} % idle{iowait}"
    return f"; the {cpus} {_per_cent(idle)} % idle{f' (iowait: {waited:.0f} %)' if is_waiting else ''}"


def _per_cent(value: float) -> str:
    """Per cent, with a decimal near none and near all."""
    return f"{value:.1f}" if 0 < value < 9.95 or 99.5 <= value < 100 else f"{value:.0f}"


def significant(value: float) -> str:
    """Three significant digits, zeros at the end included: they say how exact it is.

    Examples:
        >>> [significant(value) for value in (13.967, 4.9637, 0.2146, 1021.97, 2.0, 0.01, 0.0)]
        ['14.0', '4.96', '0.215', '1,020', '2.00', '0.0100', '0.00']
    """
    if value <= 0:
        return "0.00"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(rounded)))}f}"


def _what(account: Account, facts: ReportFacts) -> None:
    """CPU, wait classes with their events, and what is neither."""
    if facts.db_cpu_s is not None:
        account.add(
            "what", CPU, facts.db_cpu_s, kind="cpu", wait_class="CPU", evidence=Place(facts.db_cpu_from, (CPU,)),
            next_step=cpu_step(facts),
        )  # fmt: skip
    events = facts.listed_events
    classes, dropped = _classes(facts, events)
    for name in dropped:
        text = f"the wait class {name} contradicts its events: it is left out, its events stand by themselves"
        account.remark("caution", "class_contradicted", text, evidence=Place("foreground_wait_classes", (name,)))
    parents = {}
    for name, time in classes.items():
        counts = [wait.waits for event, wait in events.items() if _class_of(facts, event) == name]
        parents[name] = account.add(
            "what", name, time, kind=_kind(name), wait_class=name,
            count=facts.class_waits.get(name) or (sum(counts, Interval.exact(0)) if counts else None),
            evidence=Place("foreground_wait_classes", (name,)), next_step=_next_of(facts, name),
        )  # fmt: skip
    table = "foreground_events" if facts.events else "top_events"
    for event, wait in events.items():
        wait_class = _class_of(facts, event)
        parent = parents.get(wait_class)
        account.add(
            "what", event, wait.time_s, kind=_kind(wait_class), parent=parent, wait_class=wait_class, count=wait.waits,
            evidence=Place(table, (event,)), next_step=_next_of(facts, wait_class, event),
        )  # fmt: skip
    if account.base == CALL_TIME and facts.shares_of_all_waits and facts.events:
        _background_waits(account, facts)
    for parent in parents.values():
        account.closes(parent, "unlisted in class", kind="unlisted")
    is_part = facts.is_cut and facts.captured_pct is None
    if (not classes and not facts.events) or is_part or facts.db_cpu_s is None:
        _close_by_absence(account, facts, classes, events)
    _check_sums(account, facts, classes, dropped)


def _background_waits(account: Account, facts: ReportFacts) -> None:
    """The waits of background processes, which the total of a report without DB time (9.2) is of, too."""
    of_all = {event: wait for event, wait in facts.background.items() if wait.time_s.value > 0}
    if of_all:
        whole = sum((wait.time_s for wait in of_all.values()), Interval.exact(0))
        parent = account.add("what", _OF_BACKGROUND, whole, kind="wait", evidence=Place("background_events"))
        for event, wait in of_all.items():
            account.add(
                "what", event, wait.time_s, kind=_kind(_class_of(facts, event)), parent=parent, count=wait.waits,
                wait_class=_class_of(facts, event), evidence=Place("background_events", (event,)),
            )  # fmt: skip


def _close_by_absence(
    account: Account, facts: ReportFacts, classes: Mapping[str, Interval], events: Mapping[str, Wait]
) -> None:
    """Waits are not in the report, or a part of them: the rest is not known, and not unaccounted for."""
    waits = [
        *classes.values(),
        *(wait.time_s for event, wait in events.items() if _class_of(facts, event) not in classes),
    ]
    rest = account.total - sum(waits, facts.db_cpu_s or Interval.exact(0))
    if rest.value > 0:
        name = f"{'' if facts.db_cpu_s is not None else 'CPU and '}waits, which the report does not contain"
        if waits:
            name = "not in this part of the report" if facts.events else "not among the top events"
        account.add("what", name, Interval(rest.value, 0.0, max(rest.hi, rest.value)), kind="not_in_log")


def _classes(facts: ReportFacts, events: Mapping[str, Wait]) -> tuple[dict[str, Interval], list[str]]:
    """The classes that their events do not contradict, and the names of the others.

    A list of the top events contradicts a class by a larger sum alone; a table of all events by another sum.  Where a
    list of top events contradicts one class, the headings are shifted: no class is used.
    """
    if not events:
        return facts.classes, []
    slack = _CLASS_SLACK * (facts.db_time_s or Interval.exact(0)).value
    sums: dict[str, Interval] = {}
    for event, wait in events.items():
        wait_class = _class_of(facts, event)
        sums[wait_class] = sums[wait_class] + wait.time_s if wait_class in sums else wait.time_s
    dropped = []
    for name in {**facts.classes, **sums} if facts.classes else ():
        listed, printed = sums.get(name, Interval.exact(0)), facts.classes.get(name, Interval.exact(0))
        if listed.lo - printed.hi > slack or (facts.has_all_events and printed.lo - listed.hi > slack):
            dropped.append(name)
    if dropped and not facts.has_all_events:
        return {}, [name for name in facts.classes if facts.classes[name].value > 0]
    return {name: time for name, time in facts.classes.items() if name not in dropped}, sorted(
        name for name in dropped if name in facts.classes
    )


def _class_of(facts: ReportFacts, event: str) -> str:
    return facts.event_classes.get(event) or wait_class_of(event)


def _kind(wait_class: str) -> str:
    return "io" if wait_class in IO_CLASSES else "idle" if wait_class == "Idle" else "wait"


def _check_sums(account: Account, facts: ReportFacts, classes: Mapping[str, Interval], dropped: list[str]) -> None:
    """The lines of the class page: captured time, foreground waits."""
    if account.total.value < _CHECKED_S or not classes or dropped:
        return
    waits = sum(classes.values(), Interval.exact(0))
    if facts.captured_pct is not None and facts.db_cpu_s is not None:
        share = (waits + facts.db_cpu_s) / account.total * 100
        account.check(
            "Captured Time", view="what", printed=facts.captured_pct.value, computed=share.value,
            slack=_TIME_SLACK + (share.hi - share.lo) / 2,
            unit="% of DB time",
        )  # fmt: skip
    if facts.fg_wait_s is not None:
        slack = _TIME_SLACK / 100 * account.total.value + (waits.hi - waits.lo) / 2
        account.check(
            "Total FG Wait Time", view="what", printed=facts.fg_wait_s.value, computed=waits.value, slack=slack
        )


def statement_name(facts: ReportFacts, one: Statement) -> str:
    """The name of a statement's part: id, container where the id is in several, begin of the text."""
    container = f"({one.pdb})" if one.pdb and one.sql_id in facts.repeated_ids else ""
    words = [one.sql_id, container, one.text[:_TEXT].rstrip()]
    return " ".join(filter(None, words))


def plan_of(sql_id: str) -> str:
    """How to see the plan of a statement."""
    if not sql_id.isalnum() or sql_id.isdigit():
        return f"see the plan of statement {sql_id}: @?/rdbms/admin/sprepsql"
    return f"see the plan of `{sql_id}`: select * from table(dbms_xplan.display_awr('{sql_id}'))"  # noqa: S608 - a text to show


def _who(account: Account, facts: ReportFacts) -> None:
    """The statements of the lists, what was captured and is not listed, PL/SQL itself, and what was not captured."""
    listed = Interval.exact(0)
    for one in facts.statements:
        name, place = statement_name(facts, one), Place("sql", (one.sql_id,))
        if one.is_block:
            part = account.add("who", name, Interval.exact(0), kind="contains", count=one.executions, evidence=place)
            text = f"{one.elapsed_s.value:,.6g} s with what it calls"
            account.remark("contains", "plsql", text, part=part, evidence=place)
            continue
        listed += one.elapsed_s
        part = account.add(
            "who", name, one.elapsed_s, kind="mixed", wait_class=one.module or None, count=one.executions,
            evidence=place, next_step=_next_of_statement(facts, one),
        )  # fmt: skip
        cpu, io = (None if of is None else of.value for of in (one.cpu_s, one.io_s))
        account.has_within(part, cpu=cpu, io=io)
    if not facts.statements:
        return
    if by_elapsed := [one.elapsed_s.hi for one in facts.statements if one.is_by_elapsed]:
        account.hides("who", min(by_elapsed))
    captured = facts.captured_sql_pct
    if captured is None:
        account.closes(None, "not listed", kind="unlisted", view="who")
        return
    time, points = account.total * captured / 100, (listed / account.total * 100).value
    if account.total.value >= _CHECKED_S:
        account.check(
            "Captured SQL", view="who", printed=captured.value, computed=points, unit="% of DB time",
            slack=_SQL_SLACK if points > captured.value else captured.value,
        )  # fmt: skip
    rest = time - listed
    if rest.value > 0:
        account.add("who", "captured, not listed", Interval(rest.value, max(0.0, rest.lo), rest.hi), kind="unlisted")
    own = facts.plsql_s
    if own is not None and own.value > 0 and captured.value + (own / account.total * 100).value <= _WHOLE_PCT:
        account.add(
            "who", BLOCK_TIME, own, kind="mixed", evidence=Place("time_model", ("PL/SQL execution elapsed time",))
        )
    account.closes(None, "not captured", kind="not_accounted", view="who")


def _next_of(facts: ReportFacts, wait_class: str, event: str = "") -> str:
    """What to look at for waits: of some events their own, of a class for reads the plan of what waited most."""
    sql_id, children = facts.most_children
    if children >= MANY_CHILDREN and event.startswith(("cursor:", "library cache: mutex")):
        return NOT_SHARED.format(sql_id)
    if step := event_step(event):
        parses, whole = facts.hard_parse_s, facts.whole_s
        is_soft = parses is not None and whole is not None and parses.hi < _FEW_PARSES * whole.value
        return CHILDREN if step == PARSES and is_soft else step
    if wait_class == "Commit" and _has_many_commits(facts):
        return COMMIT_LESS
    if wait_class == "User I/O" and (one := _largest(facts, "io_s")) is not None and not one.is_short:
        return plan_of(one.sql_id)
    return _NEXT.get(wait_class, _ASH)


def _has_many_commits(facts: ReportFacts) -> bool:
    """Whether sessions committed often, and the log writes were fast: then their number is what took the time.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(write_s): return ReportFacts(elapsed_s=Interval.exact(600), activity={"user commits":
        ...     Interval.exact(500_000)}, background={"log file parallel write": Wait(Interval.exact(400_000),
        ...     Interval.exact(write_s))})
        >>> _has_many_commits(facts(400)), _has_many_commits(facts(12_000))
        (True, False)
    """
    commits, write = facts.activity.get("user commits"), facts.background.get("log file parallel write")
    if commits is None or facts.elapsed_s is None or commits.lo < MANY_COMMITS * facts.elapsed_s.hi:
        return False
    return write is not None and write.avg_s is not None and write.avg_s.hi < FAST_WRITE_S


def _next_of_statement(facts: ReportFacts, one: Statement) -> str:
    """Its plan; of a statement with most of DB time what most of that was, where no plan shows the cause of it."""
    least = _MOST * (facts.whole_s or one.elapsed_s).value
    own = f"see what executes `{one.sql_id}` so often: its module" if one.is_short else plan_of(one.sql_id)
    if one.elapsed_s.value < least:
        return BUSY_HOUR if is_calm(facts) else own
    if facts.hard_parse_s is not None and facts.hard_parse_s.value >= least:
        return PARSES
    times: dict[str, float] = {}
    for event, wait in facts.listed_events.items():
        wait_class = _class_of(facts, event)
        if event_step(event) or wait_class in _NOT_BY_PLAN:
            step = _next_of(facts, wait_class, event)
            times[step] = times.get(step, 0.0) + wait.time_s.value
    step = max(times, key=lambda step: times[step], default="")
    known = [of.value for of in (one.cpu_s, one.io_s) if of is not None]
    is_waiting = len(known) == 2 and sum(known) < _MOST * one.elapsed_s.value  # no plan shows why
    least = (_SOME if is_waiting or one.is_short else _MOST) * one.elapsed_s.value
    if step and times[step] >= least:
        return step
    return own


def cpu_step(facts: ReportFacts) -> str:
    """What to look at for CPU time: the plan of the statement with most of it."""
    one = _largest(facts, "cpu_s")
    if one is None:
        return BUSY_HOUR if is_calm(facts) else _ASH
    return _next_of_statement(facts, one) if is_calm(facts) or one.is_short else plan_of(one.sql_id)


def is_calm(facts: ReportFacts) -> bool:
    """Whether so little ran, and reached no limit, that only a statement with most of it is worth a look."""
    limits = sum((wait.time_s.lo for _, wait in limits_of(facts)[:1]), 0.0)
    if facts.whole_s is not None and limits >= AT_LIMIT * facts.whole_s.hi > 0:
        return False
    return facts.is_quiet and facts.sessions_active is not None and facts.sessions_active.hi < _CALM


def limits_of(facts: ReportFacts) -> list[tuple[str, Wait]]:
    """The waits of sessions that have reached a limit, the longest first."""
    found = [(name, wait) for name, wait in facts.events.items() if name.lower().startswith(_AT_LIMITS)]
    return sorted(found, key=lambda one: -one[1].time_s.value)


def _largest(facts: ReportFacts, column: str) -> Statement | None:
    """The statement with most of a time, where it has 10 % of DB time in it."""
    known = [(getattr(one, column), one) for one in facts.statements if not one.is_block]
    known = [(time, one) for time, one in known if time is not None]
    if not known or facts.whole_s is None:
        return None
    time, one = max(known, key=lambda pair: pair[0].value)
    return one if time.value >= 0.1 * facts.whole_s.value else None


def _of_statement(report: AwrReport) -> list[Ledger]:
    """The elapsed time of the statement that a report is about: CPU and waits by class, and its plans."""
    account_base = "elapsed time of the statement"
    statistics: dict[str, Interval] = {}
    shares = Interval.exact(0)
    for row in report.with_bounds("sql_plan_statistics").iter_rows(named=True):
        figure, share = row_figure(row, "value"), row_figure(row, "snap_pct")
        if figure is not None:
            statistics[row["statistic"]] = statistics.get(row["statistic"], Interval.exact(0)) + figure
        if row["statistic"] == _STATEMENT_TIME and share is not None:
            shares += share
    total = statistics.get(_STATEMENT_TIME)
    if total is None or total.value <= 0:
        return [
            void_ledger("the report does not contain the time of the statement", base=account_base, scope="statement")
        ]
    account = Account(total / 1000, account_base, scope="statement")
    for statistic, name in _STATEMENT_PARTS.items():
        if statistic in statistics:
            account.add(
                "what", name, statistics[statistic] / 1000, kind="cpu" if name == "CPU" else _kind(name),
                wait_class=name, evidence=Place("sql_plan_statistics", (statistic,)), next_step=_NEXT.get(name, _ASH),
            )  # fmt: skip
    if len(statistics.keys() & _STATEMENT_PARTS.keys()) == 0:
        account.add("what", "parts, which the report does not contain", account.total, kind="not_in_log")
    for row in report.with_bounds("sql_plans").iter_rows(named=True):
        time, name = row_figure(row, "elapsed_ms"), f"plan {row['plan_hash_value']}"
        if time is not None:
            evidence = Place("sql_plans", (str(row["plan_hash_value"]),))
            account.add("who", name, time / 1000, kind="mixed", count=row_figure(row, "executions"), evidence=evidence)
    text = f"{account_base} was {account.total.value:,.6g} s"
    runs, reads = statistics.get("Executions"), statistics.get("Disk Reads")
    if runs is not None and runs.value > 0:
        text += f", {runs.value:,.0f} executions"
        text += "" if reads is None else f" of {significant(reads.value / runs.value)} reads"
    if shares.value > 0:
        text += f"; this is {shares.value:.3g} % of DB time"
    return [account.ledger(text=text, counted={"what": "waits", "who": "executions"})]


#: Reports that are no account of one period.
_OTHERS: Final[Mapping[str, Callable[[AwrReport], list[Ledger]]]] = {
    "ash": ash_ledgers,
    "addm": addm_ledgers,
    "awr_sql": _of_statement,
}


def _background(facts: ReportFacts) -> Ledger | None:
    """The account of the background processes; None where the report does not state their time."""
    total = facts.background_s
    if total is None or facts.invalid or facts.restarted_at is not None:
        return None
    base, scope, cpu = "background elapsed time", "background", facts.background_cpu_s
    if cpu is not None and cpu.lo > total.hi:
        said = f"background CPU ({cpu.value:,.1f} s) exceeds background elapsed time ({total.value:,.1f} s)"
        return void_ledger(said, base=base, scope=scope)
    if total.value <= 0:
        return void_ledger("background elapsed time is 0 s", base=base, scope=scope)
    account = Account(total, base, scope=scope)
    if cpu is not None:
        evidence = Place("time_model", ("background cpu time",))
        account.add("what", "background CPU", cpu, kind="cpu", wait_class="CPU", evidence=evidence)
    for event, wait in facts.background.items():
        wait_class = _class_of(facts, event)
        if wait.time_s.lo > total.hi:  # a timer: no process waits longer than all were busy
            account.remark("caution", "timer", f"`{event}` is longer than the total, and left out as a timer")
            continue
        account.add(
            "what", event, wait.time_s, kind=_kind(wait_class), wait_class=wait_class, count=wait.waits,
            evidence=Place("background_events", (event,)), next_step=event_step(event) or _NEXT.get(wait_class, _ASH),
        )  # fmt: skip
    shown = f"{total.value:,.1f}".removesuffix(".0")
    elapsed = "" if facts.elapsed_s is None else f" in {facts.elapsed_s.value:,.0f} s"
    if not facts.background:
        account.closes(None, "waits, which the report does not contain", kind="not_in_log")
    return account.ledger(
        elapsed=facts.elapsed_s,
        unshared="almost nothing ran" if facts.is_idle else "",
        text=f"background processes took {shown} s{elapsed}",
        counted={"what": "waits"},
    )
