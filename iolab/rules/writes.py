"""Log writes, commits, and space to write, in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import count_text, figure_text, share_text, time_text
from iolab.rules.finding import NOTABLE, Evidence, Finding
from iolab.rules.histograms import spread_factor
from iolab.rules.load import is_idle_instance
from iolab.rules.report_facts import Wait, total
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.rules.report_facts import ReportFacts

_WRITE: Final = "log file parallel write"
_SYNC: Final = "log file sync"
_MB: Final = 10**6
_KIB: Final = 1024
#: Of 28 reports four are above 0.92, all others below 0.13.
_BUSY: Final = 0.5
#: From so many KiB a write, its size explains its time.
_LARGE_KIB: Final = 1_024
_SMALL_KIB: Final = 256
_SLOW_S: Final = 0.020
_LEAST: Final = 100
#: A commit waits for its own write and may meet a running one: 1 to 2 times the write is natural.
_RATIO: Final = 2.5
#: Parts of names of log switches: what they wait for, and who has to do it.
_SWITCHES: Final = (
    (
        "checkpoint",
        "the database writers had not written what the next log file still covers",
        "db file parallel write",
    ),
    ("archiving", "the next log file was not archived yet", "Log archive I/O"),
)
_REMOTE: Final = ("LGWR real time apply sync", "SYNC Remote Write", "Redo Transport", "LNS")


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


def log_writer_busy(facts: ReportFacts) -> Iterator[Finding]:
    """A log writer that waited for large writes half of the time, or more.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> def facts(redo): return ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval(304.2, 303.9,
        ...     304.5),
        ...     background={"log file parallel write": Wait(Interval.exact(674), Interval(297, 296.5, 297.5))},
        ...     activity={"redo size": Interval.exact(redo)})
        >>> print(*(one.sentence for one in log_writer_busy(facts(34_537_740_800))))
        The log writer waited for its writes 97.6 [97.3, 97.9] % of the time: 674 writes of 441 [439, 442] ms and
        51.2 MB each.
        >>> list(log_writer_busy(facts(4_000_000)))  # small writes: their size does not explain it
        []
    """
    write, share = facts.background.get(_WRITE), log_writer_share(facts)
    if write is None or share is None or share.lo < _BUSY or is_idle_instance(facts):
        return
    size, average, redo = _redo_kib(facts, write), write.avg_s, facts.activity.get("redo size")
    if size is None or average is None or redo is None or facts.elapsed_s is None or size.lo < _LARGE_KIB:
        return
    waits = facts.of_events(_SYNC, "log buffer space", prefix="log file switch")
    impact = facts.share(total(waits)) if waits else None
    yield Finding(
        "log_writer_busy",
        f"The log writer waited for its writes {share_text(share)} of the time: "
        f"{count_text(write.waits.value, 'write')} "
        f"of {time_text(average)} and {figure_text(size * _KIB / _MB, 'MB')} each.",
        impact,
        why=f"one writer, {figure_text(redo / facts.elapsed_s / _MB, 'MB/s')} of redo; a larger log buffer fills "
        "later, "
        "it does not empty faster",
        refuted_by="several log writer workers, or no waits for it at the same rate of redo",
        evidence=(Evidence("background_events", (_WRITE,)), Evidence("instance_activity", ("redo size",))),
    )


def small_log_writes_slow(facts: ReportFacts) -> Iterator[Finding]:
    """Small log writes that took 20 ms or more on average: their size does not explain it.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> def facts(seconds): return ReportFacts(db_time_s=Interval.exact(2_269_545), elapsed_s=Interval.exact(2_220),
        ...     background={"log file parallel write": Wait(Interval.exact(26_990), Interval.exact(seconds))},
        ...     activity={"redo size": Interval.exact(193_500_000)})
        >>> print(*(one.sentence for one in small_log_writes_slow(facts(2_044))))
        A log write of 7.00 KiB took 75.7 ms on average: its size does not explain it.
        >>> list(small_log_writes_slow(facts(20)))
        []
    """
    write = facts.background.get(_WRITE)
    if write is None or write.waits.lo < _LEAST or is_idle_instance(facts):
        return
    size, average = _redo_kib(facts, write), write.avg_s
    if size is None or average is None or average.lo < _SLOW_S or size.hi > _SMALL_KIB:
        return
    waits = facts.of_events(_SYNC)
    impact = facts.share(total(waits)) if waits else None
    yield Finding(
        "small_log_writes_slow",
        f"A log write of {figure_text(size, 'KiB')} took {time_text(average)} on average: its size does not explain "
        "it.",
        impact,
        why="other writes on the same storage, remote redo or processors may; the report does not tell which",
        refuted_by="`iostat -x` of the redo device for the period",
        evidence=(Evidence("background_events", (_WRITE,)), Evidence("instance_activity", ("redo size",))),
        order=3,
    )


def commit_beyond_write(facts: ReportFacts) -> Iterator[Finding]:
    """Commits that waited much longer than a log write takes.

    A commit waits for its own write and, with the share L of time that the writer is busy, for the rest of a running
    one: 1 + L (1 + CV²) / 2 writes on average.  Above that, and above 2.5, it waited for something else.

    Examples:
        >>> from iolab.rules.histograms import Histogram
        >>> from iolab.rules.report_facts import ReportFacts
        >>> def facts(writes, seconds): return ReportFacts(
        ...     db_time_s=Interval.exact(33_153), elapsed_s=Interval.exact(3_566),
        ...     events={"log file sync": Wait(Interval.exact(4_186), Interval.exact(558))},
        ...     background={"log file parallel write": Wait(Interval.exact(writes), Interval.exact(seconds))},
        ...     histograms={"log file parallel write": Histogram(writes, (1e3, 2e3, 4e3), (60.0, 95.0, 100.0))})
        >>> for one in commit_beyond_write(facts(11_538, 13)): print(one.sentence)
        A commit waited 133.3 ms, a log write took 1.127 ms: 132.2 ms are not the write.
        >>> for one in commit_beyond_write(facts(115_380, 3_400)): print(one.sentence, one.is_refused)
        Why commits waited longer than a log write: the log writer was busy 95.3 % of the time. True
        >>> list(commit_beyond_write(facts(11_538, 1_000)))
        []
    """
    sync, write, busy = facts.events.get(_SYNC), facts.background.get(_WRITE), log_writer_share(facts)
    if sync is None or write is None or busy is None or facts.whole_s is None or is_idle_instance(facts):
        return
    if sync.waits.lo < _LEAST or write.waits.lo < _LEAST or sync.avg_s is None or write.avg_s is None:
        return
    if write.avg_s.lo <= 0:
        return
    ratio = sync.avg_s / write.avg_s
    if ratio.lo <= _RATIO:
        return
    evidence = (Evidence("foreground_events", (_SYNC,)), Evidence("background_events", (_WRITE,)))
    if busy.hi >= _BUSY:
        yield Finding(
            "commit_beyond_write",
            f"Why commits waited longer than a log write: the log writer was busy {share_text(busy)} of the time.",
            why="a commit then waits for running writes, too, and meets the long ones more often",
            collect="`redo synch time overhead` of V$SYSSTAT, or a trace of the log writer",
            evidence=evidence,
            is_refused=True,
        )
        return
    histogram = facts.histograms.get(_WRITE)
    spread = None if histogram is None else spread_factor(histogram)
    if spread is not None and ratio.lo <= 1 + busy.hi * (1 + spread) / 2:
        return
    if spread is None and busy.hi > 0.2:
        return
    remote = [name for name in facts.background if name.startswith(_REMOTE)]
    rest = Interval.of(sync.avg_s) - write.avg_s
    yield Finding(
        "commit_beyond_write",
        f"A commit waited {time_text(sync.avg_s)}, a log write took {time_text(write.avg_s)}: {time_text(rest)} are "
        "not "
        "the write.",
        facts.share(sync.time_s),
        why="sessions are posted late: processors, scheduling, "
        + (f"remote redo (`{remote[0]}`)" if remote else "another instance")
        + ", polling; `redo synch time overhead` tells",
        refuted_by="commits and log writes of equal length at a low rate",
        evidence=evidence,
    )


def writers_behind(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for the database writers to free buffers, from 5 % of DB time.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> events = {"free buffer waits": Wait(Interval.exact(617_937), Interval.exact(6_616))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval.exact(304), events=events)
        >>> print(*(one.sentence for one in writers_behind(facts)))
        17.2 % of DB time was waiting for the database writers to free buffers: 617,937 waits.
        >>> list(writers_behind(ReportFacts(db_time_s=Interval.exact(500_000), events=events)))
        []
    """
    waits = facts.of_events("free buffer waits", "write complete waits")
    yield from _space(
        facts, waits, "writers_behind", "the database writers to free buffers", ("db file async I/O submit",)
    )


def log_space(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for space in the log buffer, or for a log switch, from 5 % of DB time; each event by its name.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> events = {"log buffer space": Wait(Interval.exact(25_753), Interval.exact(12_641))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(38_493), elapsed_s=Interval.exact(304), events=events)
        >>> print(*(one.sentence for one in log_space(facts)))
        32.8 % of DB time was waiting for `log buffer space`: 25,753 waits.
        >>> list(log_space(ReportFacts(db_time_s=Interval.exact(500_000), events=events)))
        []
        >>> switch = {"log file switch (checkpoint incomplete)": Wait(Interval.exact(4_272), Interval.exact(5_486))}
        >>> facts = ReportFacts(db_time_s=Interval.exact(33_460), elapsed_s=Interval.exact(3_600), events=switch)
        >>> print(*(one.why for one in log_space(facts)))
        the database writers had not written what the next log file still covers; sessions wait where changes come
        faster than they are written
    """
    for name, wait in facts.of_events("log buffer space", prefix="log file switch").items():
        reason, writer = next(((why, of) for part, why, of in _SWITCHES if part in name), ("", _WRITE))
        yield from _space(facts, {name: wait}, "log_space", f"`{name}`", (writer,), reason)


def _space(
    facts: ReportFacts, waits: dict[str, Wait], name: str, what: str, background: tuple[str, ...], reason: str = ""
) -> Iterator[Finding]:
    if facts.whole_s is None or not waits or is_idle_instance(facts):
        return
    share = total(waits) / facts.whole_s
    count = sum(wait.waits.value for wait in waits.values())
    if share.lo < NOTABLE:
        return
    yield Finding(
        name,
        f"{facts.limit}{share_text(share)} of DB time was waiting for {what}: {count_text(count, 'wait')}.",
        facts.share(total(waits)),
        why="; ".join(filter(None, (reason, _writers_why(facts, background)))),
        refuted_by="the same rate of writes without these waits",
        evidence=(Evidence("foreground_events", tuple(waits)), Evidence("background_events", background)),
        order=6,
    )


def _writers_why(facts: ReportFacts, names: tuple[str, ...]) -> str:
    for name in names:
        wait = facts.background.get(name)
        if wait is not None and wait.avg_s is not None and wait.waits.lo >= _LEAST:
            return f"`{name}` took {time_text(wait.avg_s)} on average, {count_text(wait.waits.value, 'wait')}"
    return "sessions wait where changes come faster than they are written"


def all_io_slow(facts: ReportFacts) -> Iterator[Finding]:
    """Three kinds of I/O or more with averages of 20 ms or more.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> def wait(count, seconds): return Wait(Interval.exact(count), Interval.exact(seconds))
        >>> facts = ReportFacts(db_time_s=Interval.exact(227_750), elapsed_s=Interval.exact(1_606),
        ...     events={"db file sequential read": wait(500_000, 22_000)},
        ...     background={"log file parallel write": wait(4_974, 1_557), "control file parallel write": wait(800,
        ...     886)})
        >>> print(*(one.sentence for one in all_io_slow(facts)))
        Reads and writes of every kind were slow on average: single-block reads 44 ms, log writes 313 ms, control file
        writes
        1.108 s.
        >>> list(all_io_slow(ReportFacts(db_time_s=Interval.exact(9_000), events=facts.events)))
        []
    """
    kinds = (
        ("single-block reads", facts.events, "db file sequential read"),
        ("log writes", facts.background, _WRITE),
        ("control file writes", facts.background, "control file parallel write"),
        ("database writer", facts.background, "db file parallel write"),
    )
    slow = []
    for what, waits, name in kinds:
        wait = waits.get(name)
        if wait is None or wait.waits.lo < _LEAST or wait.avg_s is None:
            continue
        if wait.avg_s.lo < _SLOW_S:
            return
        slow.append((what, name, wait.avg_s))
    if len(slow) < 3 or facts.whole_s is None or is_idle_instance(facts):
        return
    time = total(facts.of_events("db file sequential read", "db file scattered read", "direct path read", _SYNC))
    yield Finding(
        "all_io_slow",
        "Reads and writes of every kind were slow on average: "
        + ", ".join(f"{what} {time_text(Interval.exact(average.value))}" for what, _, average in slow)
        + ".",
        facts.share(time),
        why="what they have in common: host, paths, storage; a wait of the database writer is for several writes; "
        "locks are "
        "held until a commit is written",
        refuted_by="`iostat -x` of the period",
        evidence=(
            Evidence("foreground_events", ("db file sequential read",)),
            Evidence("background_events", tuple(name for _, name, _ in slow[1:])),
        ),
        order=2,
    )


def remote_redo(facts: ReportFacts) -> Iterator[Finding]:
    """Waits for redo on another host, from 20 % of the time of commits.

    Examples:
        >>> from iolab.rules.report_facts import ReportFacts
        >>> facts = ReportFacts(db_time_s=Interval.exact(1_448), elapsed_s=Interval.exact(2_653),
        ...     events={"log file sync": Wait(Interval.exact(9_000), Interval.exact(120))},
        ...     background={"LGWR real time apply sync": Wait(Interval.exact(700), Interval.exact(77))})
        >>> print(*(one.sentence for one in remote_redo(facts)))
        Background processes waited 77 s for redo on another host (`LGWR real time apply sync`), beside 120 s of
        commits.
        >>> list(remote_redo(ReportFacts()))
        []
    """
    sync = facts.events.get(_SYNC)
    waits = {name: wait for name, wait in facts.background.items() if name.startswith(_REMOTE)}
    if sync is None or not waits or facts.whole_s is None or is_idle_instance(facts):
        return
    name, wait = max(waits.items(), key=lambda item: item[1].time_s.value)
    share = sync.time_s / facts.whole_s
    if sync.time_s.lo <= 0 or wait.time_s.lo < 0.2 * sync.time_s.hi or wait.waits.lo < _LEAST or share.lo < 0.001:
        return
    yield Finding(
        "remote_redo_in_commit",
        f"Background processes waited {figure_text(wait.time_s, 's')} for redo on another host (`{name}`), beside "
        f"{figure_text(sync.time_s, 's')} of commits.",
        why="a commit ends when the redo is confirmed where the standby asks for it",
        refuted_by="an asynchronous destination",
        evidence=(Evidence("background_events", tuple(waits)), Evidence("foreground_events", (_SYNC,))),
        order=6,
    )
