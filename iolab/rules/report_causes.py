"""Causes of waits that a report shows apart from them: settings, lost blocks, sequences, statements, long latches."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import count_text
from iolab.metrics.report_facts import total
from iolab.metrics.report_figures import report_facts
from iolab.rules.finding import NOTABLE, Evidence, Finding
from iolab.rules.phrases import counted, percent, seconds, three
from iolab.rules.registry import rule
from iolab.rules.report_parts import parts_of
from iolab.rules.time_parts import PART
from iolab.time_ledger.next_steps import event_step
from iolab.time_ledger.reports import AT_LIMIT, CPU, NOT_ACCOUNTED, is_calm, limits_of, plan_of
from logframe.data_files import read_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from awrparse import AwrReport
    from iolab.metrics.report_facts import ReportFacts, Statement

#: A ping of 8 KiB that takes this many times one of 500 bytes is slow: four times as long is usual at most.
_SLOW_PING: Final = 5
_DEVICES: Final = "Interconnect Device Statistics"
_DROPPED: Final = "Receive Dropped"
#: A block is sent after the write of its redo; a write of this time is slow.
_LOG_WRITE: Final = "log file parallel write"
_SLOW_S: Final = 0.020
#: What follows the name of a sequence in a statement, and the statement that takes its next numbers.
_NEXT_NUMBER: Final = ".NEXTVAL"
_UPDATE: Final = "UPDATE SEQ$ "
#: Waits for it; the last one may be for other rows.
_SEQUENCES: Final = ("enq: S", "DFS lock handle", "row cache lock")
#: A sequence is updated for every number from this many updates per row on, and has a small cache of this size.
_EACH: Final = 0.8
_SMALL_CACHE: Final = 100
#: A statement with this much of all blocks read, and this many in each execution, reads whole segments.
_MOSTLY: Final = 0.5
_MANY_BLOCKS: Final = 1_000
#: The list of statements and its column, what they did with the blocks, and the parts of the time that this takes.
_BLOCKS: Final = (
    ("reads", "physical_reads", "read {} blocks", ("User I/O",)),
    ("gets", "buffer_gets", "did {} buffer gets", (CPU, "Cluster", NOT_ACCOUNTED, "latch: cache buffers chains")),
)
_LEAST_WAITS: Final = 100
_LITTLE: Final = 0.02
#: A latch is held for microseconds; AWR prints averages of such waits in ms.
_LONG_S: Final = 0.100
#: One event alone may be one holder; two or more point to what all holders share.
_LEAST_EVENTS: Final = 2
#: Waits for a parse, which takes as long as it takes.
_FOR_PARSES: Final = ("cursor: pin s wait on x", "library cache lock", "library cache pin", "library cache load lock")
_SHORT: Final = ("latch", "cursor:", "library cache: mutex", "mutex")


@cache
def _known_parameters() -> list[dict[str, Any]]:
    """Parameters whose values explain waits (`parameters.toml`)."""
    return list(read_data("iolab.rules", "parameters")["parameter"])


@rule(
    "parameter_behind",
    of="period",
    needs="parameters, and foreground events",
    thresholds={"10 % of DB time": "LEDGER section 9"},
)
def parameter_behind(report: AwrReport) -> Iterator[Finding]:
    """Parameters that explain a large event, and what to set."""
    yield from parameters_behind(report_facts(report))


def parameters_behind(facts: ReportFacts) -> Iterator[Finding]:
    r"""The settings that explain each large event; those of file systems neither for ASM nor for Windows.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> set_as = {"disk_asynch_io": "FALSE", "filesystemio_options": "none", "db_writer_processes": "1"}
        >>> events = {"free buffer waits": Wait(Interval.exact(9_000), Interval.exact(700))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), cpus=16, events=events, parameters=set_as)
        >>> for one in parameters_behind(facts): print(one.sentence, one.next, sep="\n")
        `disk_asynch_io` = FALSE, `filesystemio_options` = none: writes are not asynchronous; `db_writer_processes` = 1:
        one process writes for all.
        let the writers write asynchronously: disk_asynch_io = true, filesystemio_options = setall
    """
    is_file = not facts.in_asm and "windows" not in facts.platform.lower()
    stated = set[str]()
    for event in [] if is_calm(facts) else [event for event, part in parts_of(facts).items() if part.is_large]:
        said, step, names = settings_behind(
            event, facts.parameters, facts.cpus or facts.cpu_count or 0, is_file=is_file
        )
        if said and said not in stated:
            stated.add(said)
            evidence = (Evidence("parameters", names),)
            yield Finding("parameter_behind", said, next=step, evidence=evidence, explains=(event,))


def settings_behind(
    event: str, parameters: Mapping[str, str], cpus: float = 0, *, is_file: bool = False
) -> tuple[str, str, tuple[str, ...]]:
    """The settings that explain a wait in a sentence, what to set, and their names; empty without one.

    Args:
        event: the name of the wait.
        parameters: the values of parameters by their names.
        cpus: the number of processors; 0 where it is not known.
        is_file: whether the files are those of a file system, neither of ASM nor of Windows.

    Examples:
        >>> settings_behind("direct path read temp", {"workarea_size_policy": "manual"})[0]
        '`workarea_size_policy` = manual: `pga_aggregate_target` does not size sorts and hash joins.'
    """
    found: dict[str, list[str]] = {}
    steps: dict[str, list[str]] = {}
    names = []
    for one in _known_parameters():
        value = parameters.get(one["name"], "")
        if value.lower() not in one["values"] or not event.startswith(tuple(one["events"])):
            continue
        if (found or one.get("cpus", 0) <= cpus) and (is_file or not one.get("files")):
            found.setdefault(one["says"], []).append(f"`{one['name']}` = {value}")
            steps.setdefault(one["do"], []).append(one["set"])
            names.append(one["name"])
    said = "; ".join(f"{', '.join(ones)}: {says}" for says, ones in found.items())
    step = next((f"{do}: {', '.join(ones)}" for do, ones in steps.items()), "")
    return said and f"{said}.", step, tuple(names)


@rule(
    "lost_blocks",
    of="period",
    explains=("Cluster", "gc "),
    needs="waits for lost blocks, and statistics of the private network",
    thresholds={"5 % of DB time": "Finding.NOTABLE", "5 times a ping of 500 bytes": "usual are up to 4"},
)
def lost_blocks(report: AwrReport) -> Iterator[Finding]:
    """Blocks that the private network lost, and what its devices dropped: no statement makes them arrive."""
    yield from network(report, report_facts(report))


def network(report: AwrReport, facts: ReportFacts) -> Iterator[Finding]:
    """How many blocks were lost, with the device that dropped most packets, and the pings that took long."""
    lost = {name: wait for name, wait in facts.of_events(prefix="gc ").items() if "lost" in name}
    if facts.whole_s is None or facts.is_idle or not lost or (total(lost) / facts.whole_s).lo < NOTABLE:
        return
    count = facts.activity.get("gc blocks lost")
    said = f"The private network lost {count_text(count.value, 'block') if count is not None else 'blocks'}"
    if _DEVICES in report.raw_tables and _DROPPED in report.raw_tables[_DEVICES].columns:
        rows = report.raw_tables[_DEVICES].select("Device Name", pl.col(_DROPPED).cast(pl.Int64, strict=False))
        worst = rows.drop_nulls().filter(pl.col(_DROPPED) > 0).sort(_DROPPED).tail(1).rows()
        said += "".join(f"; `{device}` dropped {packets:,} packets that it received" for device, packets in worst)
    if "rac_interconnect_ping" in report:
        slow = report["rac_interconnect_ping"].select("latency_8k_us", "latency_500b_us").drop_nulls()
        slow = slow.filter(pl.col("latency_8k_us") >= _SLOW_PING * pl.col("latency_500b_us")).sort("latency_8k_us")
        for large, small in slow.tail(1).iter_rows():
            said += f", and 8 KiB pings took {seconds(large / 1e6)} (500 bytes: {seconds(small / 1e6)})"
    names = tuple(lost)
    yield Finding(
        "lost_blocks", f"{said}.", next=event_step(names[0]), evidence=(Evidence("foreground_events", names),)
    )


def busy_blocks(facts: ReportFacts) -> Iterator[Finding]:
    """Slow log writes where sessions waited for blocks that were busy in another instance: it writes their redo first.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> busy, writes = Wait(Interval.exact(8_800), Interval.exact(8_770)), Interval.exact(26_990)
        >>> log = {"log file parallel write": Wait(writes, Interval.exact(2_044))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(70_000), events={"gc cr block busy": busy}, background=log)
        >>> for one in busy_blocks(facts): print(one.sentence)
        A changed block is sent after its redo was flushed: a log write took 75.7 ms on average here.
    """
    busy = {name: wait for name, wait in facts.of_events(prefix="gc ").items() if name.endswith(" block busy")}
    write = facts.background.get(_LOG_WRITE)
    if facts.whole_s is None or facts.is_idle or not busy or (total(busy) / facts.whole_s).lo < PART:
        return
    if write is None or write.avg_s is None or write.avg_s.lo < _SLOW_S or write.waits.lo < _LEAST_WAITS:
        return
    flush = facts.background.get("gcs log flush sync")
    also = f", `gcs log flush sync` {seconds(flush.avg_s.value)}" if flush and flush.avg_s else ""
    said = "A changed block is sent after its redo was flushed: a log write took "
    yield Finding(
        "busy_blocks",
        f"{said}{seconds(write.avg_s.value)} on average here{also}.",
        next="see the devices of the redo logs, on the host of each instance: iostat -xt 5",
        evidence=(Evidence("foreground_events", tuple(busy)), Evidence("background_events", (_LOG_WRITE,))),
        explains=("gc buffer busy", *busy),
    )


@rule(
    "sequence_cache",
    of="report",
    explains=("enq: SQ", "enq: SV", "DFS lock handle", "row cache lock", "latch: row cache"),
    needs="the texts of statements",
    thresholds={"0.8 updates of SEQ$ per row": "one for every number"},
)
def sequence_cache(facts: ReportFacts) -> Iterator[Finding]:
    """The only sequence in the texts of the statements, and how often its row was updated for its next numbers.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Statement, Wait
        >>> from logframe.interval import Interval
        >>> def run(sql_id, runs, text): return Statement(sql_id, Interval.exact(500), Interval.exact(runs), text=text)
        >>> insert = run("gk2v8xw0q1d71", 1_000, "insert into t values (app.seq_t.nextval, :1)")
        >>> events = {"enq: SQ - contention": Wait(Interval.exact(9_000), Interval.exact(700))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_000), events=events, statements=(insert,))
        >>> for one in sequence_cache(facts): print(one.sentence)
        `gk2v8xw0q1d71` takes numbers of sequence `APP.SEQ_T`.
        >>> from dataclasses import replace
        >>> for runs in (1_000, 200):
        ...     update = run("4m7m0t6fjcs5x", runs, "update seq$ set increment$=:2")
        ...     for one in sequence_cache(replace(facts, statements=(insert, update))): print(one.sentence)
        `update seq$` ran 1,000 times for 1,000 rows of `gk2v8xw0q1d71`: sequence `APP.SEQ_T` has no cache.
        `update seq$` ran 200 times for 1,000 rows of `gk2v8xw0q1d71`: sequence `APP.SEQ_T` has a small cache.
    """
    used = sequences_of(facts)
    update = next((one for one in facts.statements if one.text.upper().startswith(_UPDATE)), None)
    waits = {name: part.share.lo for name, part in parts_of(facts).items() if name.startswith(_SEQUENCES)}
    if facts.is_idle or len(used) != 1 or sum(waits.values()) < PART:
        return
    ((name, one),) = used.items()
    said = f"`{one.sql_id}` takes numbers of sequence `{name}`"
    updates = update.executions.value if update is not None and update.executions is not None else 0.0
    rows = max(one.counts.get("rows_processed", 0.0), 0.0 if one.executions is None else one.executions.value)
    if 0 < rows <= _SMALL_CACHE * updates:
        said = f"`update seq$` ran {counted(updates, 'times')} for {counted(rows, 'rows')} of `{one.sql_id}`: sequence "
        said += f"`{name}` has {'no' if _EACH * rows <= updates else 'a small'} cache"
    elif set(waits) <= {_SEQUENCES[-1]}:
        return  # a row cache lock alone may be another's
    yield Finding(
        "sequence_cache",
        f"{said}.",
        next=f"enlarge its cache: alter sequence {name.lower()} cache 1000 (noorder, where the application allows)",
        evidence=(Evidence("sql", (one.sql_id,)),),
    )


def most_blocks(facts: ReportFacts) -> Iterator[Finding]:
    """The statement that got or read most blocks, where each of its executions needs very many; and for how many rows.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Statement, Wait
        >>> from logframe.interval import Interval
        >>> counts = {"physical_reads": 513_529_767, "rows_processed": 1_388, "reads_pct": 99.8}
        >>> scan = Statement("bz0q5s1n2f7ga", Interval.exact(19_110), Interval.exact(1_362), counts=counts)
        >>> facts = ReportFacts(db_time_s=Interval.exact(22_131), statements=(scan,))
        >>> for one in most_blocks(facts): print(one.sentence)
        `bz0q5s1n2f7ga` read 377,000 blocks per execution for 1.02 rows: 99.8 % of all physical reads.
    """
    events = facts.listed_events
    is_temp = max(events, key=lambda name: events[name].time_s.value, default="").endswith(" temp")  # of its own sorts
    for of, name, did, explains in _BLOCKS[is_temp:]:
        read = [one for one in facts.statements if not one.is_block and one.counts.get(f"{of}_pct")]
        one = max(read, key=lambda one: one.counts[f"{of}_pct"], default=None)
        if one is None or one.executions is None or one.executions.lo <= 0 or facts.void or is_calm(facts):
            continue
        share, rows = one.counts[f"{of}_pct"] / 100, one.counts.get("rows_processed")
        each = one.counts.get(name, 0) / one.executions.value
        if each < _MANY_BLOCKS or not _MOSTLY <= share <= 1:
            continue
        if of == "gets" and one.io_s is not None and one.io_s.lo > _MOSTLY * one.elapsed_s.hi:
            continue  # its gets are not what took its time
        many = "" if rows is None else three(rows / one.executions.value)
        per_row = f" for {many} row{'s' * (many != '1')}" if many else ""
        said = f"`{one.sql_id}` {did.format(three(each))} per execution{per_row}"
        yield Finding(
            "blocks_of_a_statement",
            f"{said}: {percent(share)} of all {name.replace('_', ' ')}.",
            next=f"{plan_of(one.sql_id)}; see whether an index saves its scan",
            evidence=(Evidence("sql", (one.sql_id,)),),
            explains=explains,
        )


def sequences_of(facts: ReportFacts) -> dict[str, Statement]:
    """The sequences in the texts of the statements, each with the first one that takes its numbers."""
    used: dict[str, Statement] = {}
    for one in facts.statements:
        for text in one.text.upper().split(_NEXT_NUMBER)[:-1]:
            name = "".join(c if c.isalnum() or c in "_$#." else " " for c in text).split(" ")[-1]
            used.setdefault(name, one)
    return used


@rule(
    "short_latches_long_waits",
    of="report",
    explains=("Concurrency", NOT_ACCOUNTED),
    needs="foreground events",
    thresholds={"100 ms": "FINDINGS F13", "two events of 100 waits": "FINDINGS F13"},
)
def short_latches_long_waits(facts: ReportFacts) -> Iterator[Finding]:
    """Two or more latch or mutex events whose average wait was 100 ms or longer.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> def facts(seconds): return ReportFacts(db_time_s=Interval.exact(33_153), elapsed_s=Interval.exact(3_566),
        ...     events={name: Wait(Interval.exact(1_070), Interval.exact(seconds))
        ...             for name in ("latch: shared pool", "library cache: mutex X")})
        >>> print(*(one.sentence for one in short_latches_long_waits(facts(217))))
        Waits for 2 kinds of latches and mutexes, of 100 waits or more each, averaged 100 ms or more (`latch: shared
        pool` 203 ms), consistent with holders that did not run.
        >>> list(short_latches_long_waits(facts(21)))
        []
    """
    if facts.is_idle or facts.whole_s is None:
        return
    long = {
        name: wait
        for name, wait in facts.of_events(*facts.events).items()
        if name.lower().startswith(_SHORT)
        and not name.lower().startswith(_FOR_PARSES)
        and wait.waits.lo >= _LEAST_WAITS
        and wait.avg_s is not None
        and wait.avg_s.lo >= _LONG_S
    }
    if len(long) < _LEAST_EVENTS:
        return
    first, average = next((name, wait.avg_s) for name, wait in long.items() if wait.avg_s is not None)
    yield Finding(
        "short_latches_long_waits",
        f"Waits for {len(long)} kinds of latches and mutexes, of {_LEAST_WAITS} waits or more each, averaged 100 ms or "
        f"more (`{first}` {seconds(average.value)}), consistent with holders that did not run.",
        next="take an ASH report of the period, and see what the holders did: @?/rdbms/admin/ashrpt",
        evidence=(Evidence("foreground_events", tuple(long)),),
        order=2,
    )


@rule(
    "limit_reached",
    of="report",
    needs="foreground events",
    thresholds={"2 % of DB time, from 5 % on ahead of a calm instance": "a convention"},
)
def limit_reached(facts: ReportFacts) -> Iterator[Finding]:
    """A wait that comes only where a limit is reached, of too little time for a part of its own.

    Examples:
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> from logframe.interval import Interval
        >>> facts = ReportFacts(db_time_s=Interval.exact(353), elapsed_s=Interval.exact(3_615),
        ...     events={"acknowledge over PGA limit": Wait(Interval.exact(3_583), Interval.exact(35))})
        >>> for one in limit_reached(facts): print(one.sentence)
        `acknowledge over PGA limit` took 9.9 % of DB time: 3,583 waits of 9.77 ms.
    """
    if facts.whole_s is None or facts.void or facts.is_idle:
        return
    for name, wait in limits_of(facts)[:1]:
        share = wait.time_s / facts.whole_s
        is_first = share.lo >= AT_LIMIT and facts.is_quiet
        if share.lo >= _LITTLE and share.hi < PART and wait.waits.value > 0:
            each = seconds(wait.time_s.value / wait.waits.value)
            yield Finding(
                "limit_reached",
                f"`{name}` took {percent(share.value)} of DB time: {counted(wait.waits.value, 'waits')} of {each}.",
                None if is_first else share,
                next=event_step(name),
                evidence=(Evidence("foreground_events", (name,)),),
                order=-1 if is_first else 4,
            )
