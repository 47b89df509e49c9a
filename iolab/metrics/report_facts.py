"""The figures of an AWR or Statspack report that its time ledger and its findings are made of, with bounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from logframe.errors import RefusedError
from logframe.interval import Interval, intersect
from logframe.oracle import is_idle, wait_class_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from iolab.metrics.ash import Queue
    from iolab.metrics.histograms import Histogram

#: Waits of this many times DB time are more than it, by more than the rounding of tables that are printed apart.
_EARLIER_WAITS: Final = 1.005
#: Two statements of DB time are of two periods where they differ by more than this, in s and relative.
_OTHER_TIME: Final = (2.0, 0.01)
#: Below this much DB time, in s, shares are of rounded seconds (R13 of the design of the ledger).
_TINY_S: Final = 30.0
#: Fewer sessions active on average are almost nothing; so are few of a short time.
NOTHING_SESSIONS: Final = 0.01
_IDLE_SESSIONS: Final = 0.1
_QUIET_S: Final = 1_800.0
_IDLE_S: Final = 60.0
#: A report keeps one sample of active sessions in this many seconds (DBA_HIST_ACTIVE_SESS_HISTORY).
SAMPLED_EVERY_S: Final = 10.0
#: Blocks of an execution, or fewer, that no other plan would reduce much.
_FEW_GETS: Final = 30
#: Parameters of places of copies.
_OF_COPIES: Final = ("db_recovery", "log_archive_dest")
#: Samples of a statement, in % of all, that are named where no list of SQL has it.
_SAMPLED_PCT: Final = 10.0
_SATURATED_IDLE_PCT: Final = 10.0
#: Classes of waits that background processes have, too.
_OF_BACKGROUND: Final = ("System I/O", "Other")


@dataclass(frozen=True, slots=True)
class Wait:
    """The waits of one event.

    Attributes:
        waits: how many.
        time_s: time waited, what the report prints and average * waits, intersected.
        printed_avg_s: the average wait as printed; None where it is not, or for waits put together.
    """

    waits: Interval
    time_s: Interval
    printed_avg_s: Interval | None = None

    @property
    def avg_s(self) -> Interval | None:
        """The average wait in seconds, of both and as printed; None where waits may be zero, or they contradict it."""
        if self.waits.lo <= 0:
            return None
        quotient = self.time_s / self.waits
        if self.printed_avg_s is None:
            return quotient
        try:
            return intersect([quotient, self.printed_avg_s])
        except RefusedError:
            return None


@dataclass(frozen=True, slots=True)
class TopEvent:
    """A row of the table of top events, as printed."""

    event: str
    wait_class: str | None
    waits: Interval | None
    time_s: Interval | None


@dataclass(frozen=True, slots=True)
class FunctionIo:
    """I/O of one database function; rates over the period.

    Attributes:
        reads_per_s: read requests per second.
        read_bytes_per_s: bytes read per second.
        waits: waits that the function counts itself.
    """

    reads_per_s: Interval
    read_bytes_per_s: Interval
    waits: Interval | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the lists of SQL.

    Attributes:
        sql_id: its id, or the old hash value of Statspack.
        elapsed_s: of all its executions; PL/SQL has what it calls inside.
        executions: how many; None where no list says.
        cpu_s: CPU in it.  io_s: waits for user I/O in it.
        module: as printed; empty where it is not.
        text: as printed, blanks folded.
        pdb: the container, where the lists have one.
        is_block: it is PL/SQL: a block or a call.
        is_by_elapsed: it is in the list by elapsed time; no statement without a row there took longer than its last.
        counts: of its blocks read from cache and disk, and its rows, in all executions, by the column of the lists;
            and `gets_pct` and `reads_pct`, the shares of all blocks.
    """

    sql_id: str
    elapsed_s: Interval
    executions: Interval | None = None
    cpu_s: Interval | None = None
    io_s: Interval | None = None
    module: str = ""
    text: str = ""
    pdb: str = ""
    is_block: bool = False
    is_by_elapsed: bool = False
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_short(self) -> bool:
        """Does no plan say more: does it insert one row, or get few blocks in each execution?

        Examples:
            >>> one = Statement("82ud5h0qcg0bf", Interval.exact(900), Interval.exact(100), counts={"buffer_gets": 700})
            >>> one.is_short, Statement("82ud5h0qcg0bf", Interval.exact(900), text="insert into t values (:1)").is_short
            (True, True)
        """
        gets, words = self.counts.get("buffer_gets"), self.text.upper().split()
        is_few = gets is not None and self.executions is not None and gets <= _FEW_GETS * self.executions.lo
        return is_few or (words[:1] == ["INSERT"] and " VALUES" in self.text.upper())


@dataclass(frozen=True, slots=True)
class Samples:
    """Active session history inside a report.

    Attributes:
        count: samples of all sessions.
        on_cpu: foreground sessions on CPU or waiting for one, on average.
        queues: when samples saw more sessions on CPU than there are processors.
        statements: id, text and share of the samples (%) of the statements listed, the largest first.
    """

    count: int = 0
    on_cpu: Interval | None = None
    queues: tuple[Queue, ...] = ()
    statements: tuple[tuple[str, str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class ReportFacts:
    """The figures of a report; whatever it does not print is None or empty.

    Attributes:
        kind: as `AwrReport.kind`.
        platform: operating system as printed.
        is_cut: the report ends before its statistics: tables may be cut, and nothing is reported of what is missing.
        invalid: what the report says of its own figures, where they are of no use; with the line.
        snapshots: ids of the two.
        begin: of the period.  end: of the period.
        startups: from when to when at the latest each instance was started, as far as the report prints it.
        elapsed_s: the period.
        db_time_s: DB time of the time model, else of the head, else of the load profile.
        db_times_s: each statement of DB time, and where it is.
        call_time_s: CPU and waits together, of a report that prints shares of it and no DB time.
        db_cpu_s: CPU of foreground processes.  db_cpu_from: the table it is printed in.
        parse_s: `parse time elapsed`; it contains waits and CPU.
        hard_parse_s: `hard parse elapsed time`.  connect_s: `connection management call elapsed time`.
        captured_pct: "Captured Time accounts for" of DB time, as the report prints it.
        captured_sql_pct: "Captured SQL account for" of DB time, likewise.
        fg_wait_s: "Total FG Wait Time", likewise.
        plsql_s: `PL/SQL execution elapsed time`, without what PL/SQL calls.
        background_s: `background elapsed time`.  background_cpu_s: CPU in it.
        class_waits: number of waits of each class.
        has_all_events: the foreground events are of a table of all of them, whose times fitted its column.
        classes: foreground time of each wait class without Idle and DB CPU, in s.
        all_classes: time of each class of foreground and background, in s.
        events: foreground events without idle ones.
        event_classes: the wait class that the report prints beside an event.
        background: background events without idle ones.
        top_events: rows of the table of top events.
        shares_of_all_waits: the printed shares of top events are of all waits, not of DB time (Statspack, 10g).
        histograms: of each event, foreground and background.
        cpus: logical processors.  cpu_count: what the parameter allows.
        idle_pct: of the host's processors, I/O waits included.  iowait_pct: those.  idle_only_pct: where the report
            prints those apart, the rest.
        sessions: at both snapshots.
        activity: totals of `instance_activity`, by lower-case name.  redo_rate: redo per s, as printed.
        os: values at the start, by name.  os_end: at the end, and statistics of memory.
        functions: I/O by function.
        statements: of all lists of SQL that print elapsed times, the longest first.
        alike: how many of the statements listed are another one but for literals, and how many are listed.
        versions: SQL_ID and number of child cursors, of the list by version count.
        services: DB time of each service.
        instances: DB time of each instance of a report of several.
        samples: of active sessions.
        parameters: initialisation parameters.
    """

    kind: str = "awr"
    release: tuple[int, ...] = ()
    platform: str = ""
    is_rac: bool = False
    is_cut: bool = False
    invalid: str = ""
    snapshots: tuple[int, int] | None = None
    begin: datetime | None = None
    end: datetime | None = None
    startups: tuple[tuple[datetime, datetime], ...] = ()
    elapsed_s: Interval | None = None
    db_time_s: Interval | None = None
    db_times_s: tuple[tuple[str, Interval], ...] = ()
    call_time_s: Interval | None = None
    db_cpu_s: Interval | None = None
    db_cpu_from: str = "time_model"
    parse_s: Interval | None = None
    hard_parse_s: Interval | None = None
    connect_s: Interval | None = None
    captured_pct: Interval | None = None
    captured_sql_pct: Interval | None = None
    fg_wait_s: Interval | None = None
    plsql_s: Interval | None = None
    background_s: Interval | None = None
    background_cpu_s: Interval | None = None
    classes: dict[str, Interval] = field(default_factory=dict)
    class_waits: dict[str, Interval] = field(default_factory=dict)
    has_all_events: bool = True
    all_classes: dict[str, Interval] = field(default_factory=dict)
    events: dict[str, Wait] = field(default_factory=dict)
    event_classes: dict[str, str] = field(default_factory=dict)
    background: dict[str, Wait] = field(default_factory=dict)
    top_events: tuple[TopEvent, ...] = ()
    shares_of_all_waits: bool = False
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    cpus: int | None = None
    cores: int | None = None
    cpu_count: int | None = None
    idle_pct: Interval | None = None
    iowait_pct: Interval | None = None
    idle_only_pct: Interval | None = None
    user_pct: Interval | None = None
    system_pct: Interval | None = None
    load_end: float | None = None
    busy_cpu_pct: Interval | None = None
    sessions: tuple[int, ...] = ()
    activity: dict[str, Interval] = field(default_factory=dict)
    redo_rate: Interval | None = None
    os: dict[str, float] = field(default_factory=dict)
    os_end: dict[str, float] = field(default_factory=dict)
    functions: dict[str, FunctionIo] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    alike: tuple[int, int] = (0, 0)
    versions: tuple[tuple[str, int], ...] = ()
    services: dict[str, Interval] = field(default_factory=dict)
    instances: dict[str, Interval] = field(default_factory=dict)
    samples: Samples = field(default_factory=Samples)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def is_aix(self) -> bool:
        """Are its CPU times undercounted with SMT?  Source: ardentperf.com 2016/07/01."""
        return "aix" in self.platform.lower()

    @property
    def in_asm(self) -> bool:
        """Do parameters name disk groups?  Those of copies do not count: files of the database may be elsewhere."""
        of_files = [value for name, value in self.parameters.items() if not name.startswith(_OF_COPIES)]
        return any(value.startswith("+") for value in of_files)

    @cached_property
    def repeated_ids(self) -> frozenset[str]:
        """Ids of statements that are in several containers."""
        return frozenset(one for one, count in Counter(row.sql_id for row in self.statements).items() if count > 1)

    @property
    def sampled_only(self) -> list[tuple[str, str, float]]:
        """Id, text and share (%) of the statements with 10 % of the samples or more that no list has."""
        listed = {one.sql_id for one in self.statements}
        return [one for one in self.samples.statements if one[2] >= _SAMPLED_PCT and one[0] not in listed]

    @property
    def has_host(self) -> bool:
        """Do the figures of the host belong to this report's DB time?  Not for a PDB, nor for several instances."""
        return self.kind in {"awr", "statspack"}

    @property
    def redo_per_s(self) -> Interval | None:
        """The redo of sessions per second, as printed, else over the period."""
        redo = self.activity.get("redo size")
        if self.redo_rate is not None or redo is None or self.elapsed_s is None or self.elapsed_s.lo <= 0:
            return self.redo_rate
        return redo / self.elapsed_s

    @property
    def is_saturated(self) -> bool:
        """Were the host's processors at most 10 % idle?"""
        return self.has_host and self.idle_pct is not None and self.idle_pct.hi <= _SATURATED_IDLE_PCT

    @property
    def listed_events(self) -> dict[str, Wait]:
        """The foreground events, of a report without their table those among its top events.

        The top events of Statspack and 10g are of background processes, too: of events that those wait for, the time of
        sessions is at most that.
        """
        if self.events:
            return self.events
        is_mixed = self.shares_of_all_waits and self.db_time_s is not None
        found = {}
        for one in self.top_events:
            if one.waits is None or one.time_s is None or is_idle(one.event, one.wait_class):
                continue
            is_upper = is_mixed and (one.wait_class or wait_class_of(one.event)) in _OF_BACKGROUND
            found[one.event] = Wait(one.waits, Interval(one.time_s.value, 0, one.time_s.hi) if is_upper else one.time_s)
        return found

    @property
    def waited_s(self) -> Interval | None:
        """Foreground time of all waits that are not idle: of the classes, else of the events."""
        if self.classes:
            return _total(self.classes.values())
        return _total(wait.time_s for wait in self.events.values()) if self.events else None

    @property
    def void(self) -> str:
        """Why the report has no total: its period holds a restart, or it contradicts itself; empty where it has one.

        Examples:
            >>> print(ReportFacts(db_time_s=Interval(920.4, 920.1, 920.7), db_cpu_s=Interval(938.4, 938.1, 938.7)).void)
            DB CPU (938.4 s) exceeds DB time (920.4 s)
            >>> ReportFacts(db_time_s=Interval.exact(10), db_cpu_s=Interval.exact(3)).void
            ''
        """
        if self.invalid:
            return self.invalid
        if self.restarted_at is not None:
            return f"the instance was started at {self.restarted_at:%Y-%m-%d %H:%M:%S}, within the period"
        if self.other_db_time is not None and self.db_time_s is not None:
            where, other = self.other_db_time
            return (
                f"DB time is {self.db_time_s.value:,.1f} s in {self.db_times_s[0][0]}, {other.value:,.1f} s in {where}"
            )
        if self.cpu_contradicts and self.db_cpu_s is not None and self.db_time_s is not None:
            return f"DB CPU ({self.db_cpu_s.value:,.1f} s) exceeds DB time ({self.db_time_s.value:,.1f} s)"
        if self.db_time_s is None and self.call_time_s is None:
            return "the report does not contain DB time"
        if self.db_time_s is not None and self.db_time_s.lo <= 0:
            return f"DB time is {self.db_time_s.value:,.1f} s"
        return ""

    @property
    def restarted_at(self) -> datetime | None:
        """When an instance was started within the period; None where none certainly was."""
        if self.begin is None or self.end is None:
            return None
        return next((first for first, last in self.startups if self.begin < first and last <= self.end), None)

    @property
    def cpu_contradicts(self) -> bool:
        """Is DB CPU certainly more than DB time, which holds it?"""
        return self.db_cpu_s is not None and self.db_time_s is not None and self.db_cpu_s.lo > self.db_time_s.hi

    @property
    def other_db_time(self) -> tuple[str, Interval] | None:
        """Another statement of DB time, which differs from the first by more than 1 %, and 2 s."""
        if not self.db_times_s:
            return None
        first = self.db_times_s[0][1]
        for name, other in self.db_times_s[1:]:
            gap = max(other.lo - first.hi, first.lo - other.hi)
            if gap > max(_OTHER_TIME[0], _OTHER_TIME[1] * max(first.value, other.value)):
                return name, other
        return None

    @property
    def whole_s(self) -> Interval | None:
        """DB time that shares may be of; None where it is not known, contradicted, or not above zero."""
        if self.db_time_s is None or self.db_time_s.lo <= 0 or self.void:
            return None
        return self.db_time_s

    @property
    def sessions_active(self) -> Interval | None:
        """DB time per second of the period: sessions active on average; None where it is not known."""
        if self.whole_s is None or self.elapsed_s is None or self.elapsed_s.lo <= 0:
            return None
        return self.whole_s / self.elapsed_s

    @property
    def is_idle(self) -> bool:
        """Did almost nothing run?  Then shares are of little, and no share is reported."""
        time = self.db_time_s or self.call_time_s
        if time is None or self.void:
            return False
        if time.hi < _TINY_S:
            return True
        if self.elapsed_s is None or self.elapsed_s.lo <= 0:
            return False
        active = time.hi / self.elapsed_s.lo
        return active < NOTHING_SESSIONS or (active < _IDLE_SESSIONS and time.hi < _IDLE_S)

    @property
    def most_children(self) -> tuple[str, int]:
        """The statement with most child cursors, and their number; none without the list by version count."""
        return max(self.versions, key=lambda one: one[1], default=("", 0))

    @property
    def is_quiet(self) -> bool:
        """Would less than half a session be active, if all of DB time and CPU were in one hour of the period?"""
        times = [time.hi for time in (self.db_time_s, self.db_cpu_s) if time is not None]
        return self.db_time_s is not None and max(times) < _QUIET_S

    @property
    def has_earlier_waits(self) -> bool:
        """Are waits alone more than DB time?  Then times of waits that began before the period are in them."""
        whole, waited = self.whole_s, self.waited_s
        return whole is not None and waited is not None and (waited / whole).lo > _EARLIER_WAITS

    def of_events(self, *names: str, prefix: str = "") -> dict[str, Wait]:
        """The foreground events of these names, or with this beginning, by name, the longest time first."""
        wanted = {name.lower() for name in names}
        found = {
            name: wait
            for name, wait in self.events.items()
            if name.lower() in wanted or (prefix and name.lower().startswith(prefix.lower()))
        }
        return dict(sorted(found.items(), key=lambda item: -item[1].time_s.value))


def _total(figures: Iterable[Interval]) -> Interval:
    total = Interval.exact(0)
    for one in figures:
        total += one
    return total


def total(waits: Mapping[str, Wait]) -> Interval:
    """The time of several events together, in s."""
    return _total(wait.time_s for wait in waits.values())


def total_waits(waits: Mapping[str, Wait]) -> Interval:
    """How many waits several events have together."""
    return _total(wait.waits for wait in waits.values())
