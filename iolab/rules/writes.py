"""Log writes, commits, and space to write, in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text
from iolab.metrics.histograms import spread_factor
from iolab.metrics.processors import SATURATED
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import part_of
from iolab.time_ledger.next_steps import COMMIT_LESS, MANY_COMMITS, REMOTE_REDO, STANDBY, event_step
from iolab.time_ledger.reports import cpu_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts, Statement, Wait
    from logframe.interval import Interval

_WRITE: Final = "log file parallel write"
_SYNC: Final = "log file sync"
_OVERHEAD: Final = "redo synch time overhead (usec)"
#: Sessions were posted late where this much of the time of commits was after the write.
_LATE: Final = 0.5
_MB: Final = 10**6
_KIB: Final = 1024
#: Of 28 reports four are above 0.92, all others below 0.13.
_BUSY: Final = 0.5
#: From this many KiB a write, its size explains its time.
_LARGE_KIB: Final = 1_024
_SMALL_KIB: Final = 256
_SLOW_S: Final = 0.020
#: Kinds of I/O; where three or more are counted and all are slow, the storage is.
_LEAST_KINDS: Final = 3
_READ: Final = "db file sequential read"
_KINDS: Final = {
    _READ: "single-block reads",
    _WRITE: "log writes",
    "control file parallel write": "control file writes",
    "db file parallel write": "database writer",
}
_LEAST: Final = 100
#: A commit waits for its own write and may meet a running one: 1 to 2 times the write is natural.
_RATIO: Final = 2.5
#: Statements that change rows, of which one has as many as there were commits but for this part.
_CHANGES: Final = ("insert", "update", "delete", "merge")
_ALIKE: Final = 0.8
#: Parts of names of log switches, and what they wait for.
_SWITCHES: Final = {
    "checkpoint": "the database writers had not yet written the blocks that the next log file protects",
    "archiving": "the next log file was not archived yet",
}
_ARCHIVE: Final = "Log archive I/O"
_SWITCHED: Final = "log switches (derived)"
_HOUR_S: Final = 3_600


def log_writer_share(facts: ReportFacts) -> Interval | None:
    """Share of the period that the log writer waited for its writes; None where it is not known, or of several."""
    write = facts.background.get(_WRITE)
    if write is None or facts.elapsed_s is None or facts.elapsed_s.lo <= 0 or facts.kind not in {"awr", "statspack"}:
        return None
    share = write.time_s / facts.elapsed_s
    return None if share.lo > 1 else share


def _redo_kib(facts: ReportFacts, write: Wait) -> Interval | None:
    redo = facts.activity.get("redo size")
    return None if redo is None or write.waits.lo < _LEAST else redo / write.waits / _KIB


@rule(
    "log_writer_busy",
    of="report",
    explains=("log file sync", "log buffer space"),
    needs="background events and the redo size",
    thresholds={"50 % of the period": "28 reports: above 92 %, or below 13 %", "1 MiB a write": "FINDINGS F27"},
)
def log_writer_busy(facts: ReportFacts) -> Iterator[Finding]:
    """A log writer that waited for large writes half of the time, or more.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(redo): return ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval(304.2, 303.9,
        ...     304.5),
        ...     background={"log file parallel write": Wait(Interval.exact(674), Interval(297, 296.5, 297.5))},
        ...     activity={"redo size": Interval.exact(redo)})
        >>> print(*(one.sentence for one in log_writer_busy(facts(34_537_740_800))))
        The log writer waited for its writes 97.6 % of the time: 674 writes of 441 ms and 51.2 MB each.
        >>> list(log_writer_busy(facts(4_000_000)))  # small writes: their size does not explain it
        []
    """
    write, share = facts.background.get(_WRITE), log_writer_share(facts)
    if write is None or share is None or share.lo < _BUSY or facts.is_idle:
        return
    size, average, redo = _redo_kib(facts, write), write.avg_s, facts.redo_per_s
    if size is None or average is None or redo is None or size.lo < _LARGE_KIB:
        return
    yield Finding(
        "log_writer_busy",
        f"The log writer waited for its writes {share.value * 100:.1f} % of the time: "
        f"{count_text(write.waits.value, 'write')} of {seconds(average.value)} and "
        f"{three((size * _KIB / _MB).value)} MB each.",
        detail=f"one log writer wrote {three((redo / _MB).value)} MB/s of redo; a larger log buffer "
        "would fill later, but not empty faster",
        next="see the redo devices: iostat -xt 5",
        evidence=(Evidence("background_events", (_WRITE,)), Evidence("instance_activity", ("redo size",))),
        order=2,
    )


@rule(
    "small_log_writes_slow",
    of="report",
    explains=("log file sync",),
    needs="background events and the redo size",
    thresholds={"20 ms": "FINDINGS F28", "256 KiB a write": "FINDINGS F28"},
)
def small_log_writes_slow(facts: ReportFacts) -> Iterator[Finding]:
    """Small log writes that took 20 ms or more on average: their size does not explain it.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(seconds): return ReportFacts(db_time_s=Interval.exact(2_269_545), elapsed_s=Interval.exact(2_220),
        ...     background={"log file parallel write": Wait(Interval.exact(26_990), Interval.exact(seconds))},
        ...     activity={"redo size": Interval.exact(193_500_000)})
        >>> print(*(one.sentence for one in small_log_writes_slow(facts(2_044))))
        A log write of 7.00 KiB took 75.7 ms on average; its size does not explain it.
        >>> list(small_log_writes_slow(facts(20)))
        []
    """
    write = facts.background.get(_WRITE)
    if write is None or write.waits.lo < _LEAST or facts.is_idle:
        return
    size, average = _redo_kib(facts, write), write.avg_s
    if size is None or average is None or average.lo < _SLOW_S or size.hi > _SMALL_KIB:
        return
    yield Finding(
        "small_log_writes_slow",
        f"A log write of {three(size.value)} KiB took {seconds(average.value)} on average; its size does not explain "
        "it.",
        next="see the redo device: iostat -xt 5",
        evidence=(Evidence("background_events", (_WRITE,)), Evidence("instance_activity", ("redo size",))),
        order=3,
    )


def log_write(facts: ReportFacts) -> str:
    """How long a log write took on average, for the end of a sentence on commits; empty where that is not known."""
    write = facts.background.get(_WRITE)
    if write is None or write.avg_s is None or write.waits.lo < _LEAST:
        return ""
    return f"a log write took {seconds(write.avg_s.value)} on average"


def one_per_row(facts: ReportFacts) -> str:
    """That there is one commit for each row that a statement changed, else for each execution; empty of others.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Statement
        >>> from logframe.interval import Interval
        >>> rows = {"rows_processed": 9_980}
        >>> insert = Statement("6kd2v9s1xq8fa", Interval.exact(70), text="insert into t", counts=rows)
        >>> for commits in (10_000, 500):
        ...     facts = ReportFacts(activity={"user commits": Interval.exact(commits)}, statements=(insert,))
        ...     print(one_per_row(facts).strip())
        Sessions committed once per row: 10,000 commits for 9,980 rows of `6kd2v9s1xq8fa`.
        <BLANKLINE>
        >>> insert = Statement("6kd2v9s1xq8fa", Interval.exact(70), Interval.exact(9_990), text="insert into t")
        >>> facts = ReportFacts(activity={"user commits": Interval.exact(10_000)}, statements=(insert,))
        >>> print(one_per_row(facts).strip())
        Sessions committed once per execution: 10,000 commits for 9,990 executions of `6kd2v9s1xq8fa`.
    """

    def count(one: Statement) -> float:
        runs = 0.0 if one.executions is None else one.executions.value
        return one.counts.get("rows_processed") or runs

    commits = facts.activity.get("user commits")
    one = max((one for one in facts.statements if one.text.lower().startswith(_CHANGES)), key=count, default=None)
    if one is None or commits is None or commits.lo < MANY_COMMITS:
        return ""
    if not _ALIKE * commits.hi <= count(one) <= commits.lo / _ALIKE:
        return ""
    each = "row" if one.counts.get("rows_processed") else "execution"
    said = f"{commits.value:,.0f} commits for {count(one):,.0f} {each}s of `{one.sql_id}`"
    return f"Sessions committed once per {each}: {said}. "


@rule(
    "commit_beyond_write",
    "log_write",
    of="report",
    explains=(_SYNC,),
    needs="`log file sync` and `log file parallel write`",
    thresholds={
        "2.5 writes": "a commit waits for its own write and may meet a running one",
        "50 % of the time of commits": "evaluation A14: `redo synch time overhead (usec)`",
    },
)
def commit_beyond_write(facts: ReportFacts) -> Iterator[Finding]:
    """Commits that waited much longer than a log write takes, and whether sessions were posted late.

    A commit waits for its own write and, with the share L of time that the writer is busy, for the rest of a running
    one: 1 + L (1 + CV²) / 2 writes on average.  Above that, and above 2.5, it waited for something else.  From 11.2.0.4
    on `redo synch time overhead (usec)` is the time between the end of the write and the end of the wait.

    Examples:
        >>> from iolab.metrics.histograms import Histogram
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(writes, seconds, **activity): return ReportFacts(
        ...     db_time_s=Interval.exact(33_153), elapsed_s=Interval.exact(3_566),
        ...     events={"log file sync": Wait(Interval.exact(4_186), Interval.exact(558))},
        ...     background={"log file parallel write": Wait(Interval.exact(writes), Interval.exact(seconds))},
        ...     histograms={"log file parallel write": Histogram(writes, (1e3, 2e3, 4e3), (60.0, 95.0, 100.0))},
        ...     activity={"redo synch time overhead (usec)": Interval.exact(us) for us in activity.values()})
        >>> for one in commit_beyond_write(facts(11_538, 13)): print(one.sentence)
        A commit waited 133 ms and a log write took 1.13 ms on average; the report does not show what the rest was.
        >>> for one in commit_beyond_write(facts(11_538, 13, us=500_000_000)): print(one.sentence)
        A commit waited 133 ms and a log write took 1.13 ms on average; sessions continued 119 ms after their write
        ended.
        >>> for one in commit_beyond_write(facts(11_538, 13, us=5_000_000)): print(one.sentence)
        A commit waited 133 ms and a log write took 1.13 ms on average; only 1.19 ms of it passed after the write.
        >>> for one in commit_beyond_write(facts(115_380, 3_400)): print(one.sentence, one.is_refused)
        The log writer was busy 95 % of the time: the report does not show whether commits waited for it or were posted
        late. True
        >>> from dataclasses import replace
        >>> own, remote = facts(11_538, 13), Wait(Interval.exact(4_186), Interval.exact(500))
        >>> sent = {**own.background, "SYNC Remote Write": remote}
        >>> list(commit_beyond_write(replace(own, background=sent)))
        []
        >>> for one in commit_beyond_write(replace(own, idle_pct=Interval.exact(0.7))): print(one.sentence)
        A commit waited 133 ms and a log write took 1.13 ms on average; the processors were 99.3 % busy, so commits
        waited for one.
        >>> list(commit_beyond_write(facts(11_538, 1_000)))
        []
        >>> slow = replace(facts(11_538, 1_000), db_time_s=Interval.exact(1_000))
        >>> for one in commit_beyond_write(slow): print(one.sentence)
        Commits waited for the log: a log write took 86.7 ms on average.
    """
    sync, write, busy = facts.events.get(_SYNC), facts.background.get(_WRITE), log_writer_share(facts)
    if sync is None or facts.whole_s is None or facts.is_idle or sync.waits.lo < _LEAST or sync.avg_s is None:
        return
    rows, part = one_per_row(facts), part_of(facts, _SYNC)
    is_large = part is not None and part.is_large
    evidence = (Evidence("foreground_events", (_SYNC,)), Evidence("background_events", (_WRITE,)))
    if write is None or write.waits.lo < _LEAST or write.avg_s is None or write.avg_s.lo <= 0:
        if rows and is_large:  # of a pluggable database, whose report has no writes of the log
            yield Finding("log_write", rows.strip(), next=COMMIT_LESS, evidence=evidence[:1])
        return
    ratio = sync.avg_s / write.avg_s
    overhead = facts.activity.get(_OVERHEAD)
    late = None if overhead is None else overhead / 10**6 / sync.waits
    is_long, is_unclear = ratio.lo > _RATIO, busy is not None and busy.hi >= _BUSY and late is None
    if is_long and busy is not None and not is_unclear:
        histogram = facts.histograms.get(_WRITE)
        spread = None if histogram is None else spread_factor(histogram)
        is_long = busy.hi <= 0.2 if spread is None else ratio.lo > 1 + busy.hi * (1 + spread) / 2
    if not is_long or (rows and (is_unclear or busy is None)):
        if is_large and not [*log_writer_busy(facts), *small_log_writes_slow(facts)]:
            said = f"{rows}Commits waited for the log: {log_write(facts)}."
            yield Finding("log_write", said, next=COMMIT_LESS if rows else "", evidence=evidence)
        return
    if busy is None:
        return
    if is_unclear:
        yield Finding(
            "commit_beyond_write",
            f"The log writer was busy {percent(busy.value)} of the time: the report does not show whether commits "
            "waited for it or were posted late.",
            next="see `redo synch time overhead (usec)` of V$SYSSTAT, or a trace of the log writer",
            evidence=evidence,
            is_refused=True,
        )
        return
    said, step = "", "take an extended SQL trace (event 10046) of the log writer"
    if late is not None and (late / sync.avg_s).value < _LATE:
        rest = f"; only {seconds(late.value)} of it passed after the write"
    elif late is not None:
        rest, step = f"; sessions continued {seconds(late.value)} after their write ended", cpu_step(facts)
    elif facts.has_host and facts.idle_pct is not None and facts.idle_pct.hi <= 100 * (1 - SATURATED):
        rest = f"; the processors were {percent(1 - facts.idle_pct.value / 100)} busy, so commits waited for one"
        step = cpu_step(facts)
    elif [*remote_redo(facts)]:
        return
    elif rows:
        said, rest, step = rows, "", COMMIT_LESS
    else:
        rest = "; the report does not show what the rest was"
        step = "select name, value from v$sysstat where name like 'redo synch time%'"
    yield Finding(
        "commit_beyond_write",
        f"{said}A commit waited {seconds(sync.avg_s.value)} and {log_write(facts)}{rest}.",
        next=step,
        evidence=(*evidence, Evidence("instance_activity", (_OVERHEAD,))),
    )


#: Waits of the database writers for their writes: the second one is long where the writes are synchronous.
_SUBMIT: Final = "db file async I/O submit"
_OF_BUFFERS: Final = ("free buffer waits", "write complete waits")
_OF_WRITERS: Final = {"db file parallel write": "writes", _SUBMIT: f"`{_SUBMIT}`"}


@rule("writers_behind", of="report", explains=_OF_BUFFERS, needs="foreground events")
def writers_behind(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for the database writers to free buffers, and how long their writes took.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> events = {"free buffer waits": Wait(Interval.exact(617_937), Interval.exact(6_616))}
        >>> writes = {"db file parallel write": Wait(Interval.exact(9_000), Interval.exact(900))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval.exact(304), events=events,
        ...     background=writes)
        >>> for one in writers_behind(facts): print(one.part or one.sentence)
        free buffer waits
        Sessions waited for the database writers, whose writes took 100 ms.
        >>> list(writers_behind(ReportFacts(db_time_s=Interval.exact(500_000), events=events)))
        []
    """
    waits = [name for name in _OF_BUFFERS if (part := part_of(facts, name)) is not None and part.is_large]
    whole = facts.whole_s.value if facts.whole_s is not None else 1.0
    for name in waits:
        printed = 100 * facts.events[name].time_s.value / whole
        yield Finding("writers_behind", "", part=name, detail=f"by the printed times {printed:.1f} %")
    known = {name: facts.background[name] for name in _OF_WRITERS if name in facts.background}
    name = max(known, key=lambda event: known[event].time_s.value, default="")
    each = known[name].avg_s if name and known[name].waits.lo >= _LEAST else None
    if not waits or each is None:
        return
    said = f"Sessions waited for the database writers, whose {_OF_WRITERS[name]} took {seconds(each.value)}."
    yield Finding("writers_behind", said, evidence=(Evidence("background_events", (name,)),))


@rule("log_space", of="report", needs="foreground events")
def log_space(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for space in the log buffer, or for a log switch; each event by its name, with the redo and its switches.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> switch = {"log file switch (checkpoint incomplete)": Wait(Interval.exact(4_272), Interval.exact(5_486))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(33_460), elapsed_s=Interval.exact(3_600), events=switch,
        ...     activity={"redo size": Interval.exact(7.2e10), "log switches (derived)": Interval.exact(240)})
        >>> for one in log_space(facts): print(one.part or one.sentence)
        log file switch (checkpoint incomplete)
        Sessions made 20 MB/s of redo: the logs switched 240 times per hour.
        >>> list(log_space(ReportFacts(db_time_s=Interval.exact(500_000), events=switch)))
        []
    """
    redo, switches = facts.redo_per_s, facts.activity.get(_SWITCHED)
    for name in facts.of_events("log buffer space", prefix="log file switch"):
        part = part_of(facts, name)
        if part is None or not part.is_large:
            continue
        reason = next((detail for words, detail in _SWITCHES.items() if words in name), "")
        yield Finding("log_space", "", part=name, detail=reason)
        if facts.elapsed_s is None:
            continue
        said = "" if redo is None else f"Sessions made {three(redo.value / _MB)} MB/s of redo"
        if "switch" in name and switches is not None:
            said += f"{': the' if said else 'The'} logs switched {three((switches / facts.elapsed_s).value * _HOUR_S)}"
            said += " times per hour"
        archive = facts.background.get(_ARCHIVE) if "archiving" in name else None
        if said and archive is not None and archive.avg_s is not None and archive.waits.lo >= _LEAST:
            said += f"; `{_ARCHIVE}` took {seconds(archive.avg_s.value)} each"
        if said:
            evidence = (Evidence("instance_activity", ("redo size",)),)
            yield Finding("log_space", f"{said}.", next=event_step(name), evidence=evidence, explains=(name,))


@rule(
    "all_io_slow",
    of="report",
    needs="foreground and background events",
    thresholds={"20 ms": "FINDINGS F30", "100 waits": "a convention"},
)
def all_io_slow(facts: ReportFacts) -> Iterator[Finding]:
    """Three kinds of I/O or more with averages of 20 ms or more.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def wait(count, seconds): return Wait(Interval.exact(count), Interval.exact(seconds))
        >>> facts = ReportFacts(db_time_s=Interval.exact(227_750), elapsed_s=Interval.exact(1_606),
        ...     events={"db file sequential read": wait(500_000, 22_000)},
        ...     background={"log file parallel write": wait(4_974, 1_557), "control file parallel write": wait(800,
        ...     886)})
        >>> print(*(one.sentence for one in all_io_slow(facts)))
        All I/O was slow on average: single-block reads 44 ms, log writes 313 ms, control file writes 1.11 s.
        >>> list(all_io_slow(ReportFacts(db_time_s=Interval.exact(9_000), events=facts.events)))
        []
    """
    waits = facts.background | {_READ: facts.events[_READ]} if _READ in facts.events else facts.background
    counted = ((what, name, waits[name]) for name, what in _KINDS.items() if name in waits)
    slow = [(what, name, wait.avg_s) for what, name, wait in counted if wait.waits.lo >= _LEAST and wait.avg_s]
    is_slow = len(slow) >= _LEAST_KINDS and all(average.lo >= _SLOW_S for _, _, average in slow)
    if not is_slow or facts.whole_s is None or facts.is_idle:
        return
    said = ", ".join(f"{what} {seconds(average.value)}" for what, _, average in slow)
    yield Finding(
        "all_io_slow",
        f"All I/O was slow on average: {said}.",
        next="see all devices of the host: iostat -xt 5",
        evidence=(Evidence("foreground_events"), Evidence("background_events", tuple(name for _, name, _ in slow))),
        order=2,
    )


@rule(
    "remote_redo_in_commit",
    of="report",
    explains=(_SYNC,),
    needs="`log file sync` and background waits for redo on another host",
    thresholds={"20 % of the time of commits": "FINDINGS F31"},
)
def remote_redo(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for redo on another host, from 20 % of the time of commits.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_448), elapsed_s=Interval.exact(2_653),
        ...     events={"log file sync": Wait(Interval.exact(9_000), Interval.exact(120))},
        ...     background={"LGWR real time apply sync": Wait(Interval.exact(700), Interval.exact(77))})
        >>> print(*(one.sentence for one in remote_redo(facts)))
        Commits waited for redo on another host: `LGWR real time apply sync` took 110 ms on average.
        >>> list(remote_redo(ReportFacts()))
        []
    """
    sync = facts.events.get(_SYNC)
    waits = {name: wait for name, wait in facts.background.items() if name.startswith(REMOTE_REDO)}
    if sync is None or not waits or facts.whole_s is None or facts.is_idle:
        return
    name, wait = max(waits.items(), key=lambda item: item[1].time_s.value)
    share = sync.time_s / facts.whole_s
    if sync.time_s.lo <= 0 or wait.waits.lo < _LEAST or share.lo < 0.001:
        return
    said = f"Background processes waited {three(wait.time_s.value)} s for redo on another host (`{name}`)"
    if wait.avg_s is not None and sync.avg_s is not None and wait.avg_s.lo >= _LATE * sync.avg_s.hi:
        written = log_write(facts)
        said = f"Commits waited for redo on another host: `{name}` took {seconds(wait.avg_s.value)}"
        said += f", {written}" if written else " on average"
    elif wait.time_s.lo < 0.2 * sync.time_s.hi:
        return
    yield Finding(
        "remote_redo_in_commit",
        f"{said}.",
        next=STANDBY,
        evidence=(Evidence("background_events", tuple(waits)), Evidence("foreground_events", (_SYNC,))),
        order=6,
    )
