"""The figures of an AWR or Statspack report that findings are made of, with bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from logframe.errors import RefusedError
from logframe.interval import Interval, intersect
from logframe.oracle import is_idle

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from iolab.rules.histograms import Histogram

#: Waits of so many times DB time are more than it, by more than the rounding of tables that are printed apart.
_EARLIER_WAITS: Final = 1.005


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
        reads_per_s: read requests a second.
        read_bytes_per_s: bytes read a second.
        waits: waits that the function counts itself.
    """

    reads_per_s: Interval
    read_bytes_per_s: Interval
    waits: Interval | None = None


@dataclass(frozen=True)
class ReportFacts:
    """The figures of a report; whatever it does not print is None or empty.

    Attributes:
        kind: as `AwrReport.kind`.
        platform: operating system as printed.
        is_cut: the report ends before its statistics: tables may be cut, and nothing is said of what is missing.
        elapsed_s: the period.
        db_time_s: DB time of the head, else of the time model.
        db_time_elsewhere_s: DB time as other tables state it.
        db_cpu_s: CPU of foreground processes.  db_cpu_from: the table it is printed in.
        parse_s: `parse time elapsed`; it contains waits and CPU.
        hard_parse_s: `hard parse elapsed time`.
        captured_pct: "Captured Time accounts for" of DB time, as the report prints it.
        classes: foreground time of each wait class without Idle and DB CPU, in s.
        all_classes: time of each class of foreground and background, in s.
        events: foreground events without idle ones.
        background: background events without idle ones.
        top_events: rows of the table of top events.
        shares_of_all_waits: the printed shares of top events are of all waits, not of DB time (Statspack, 10g).
        histograms: of each event, foreground and background.
        cpus: logical processors.  cpu_count: what the parameter allows.
        sessions: at both snapshots.
        activity: totals of `instance_activity`, by lower-case name.
        os: values at the start, by name.  os_end: at the end.
        functions: I/O by function.
        statements: elapsed seconds, executions and module of the statements ordered by elapsed time, by id.
        parameters: initialisation parameters.
    """

    kind: str = "awr"
    release: tuple[int, ...] = ()
    platform: str = ""
    is_rac: bool = False
    is_cut: bool = False
    elapsed_s: Interval | None = None
    db_time_s: Interval | None = None
    db_time_elsewhere_s: tuple[tuple[str, Interval], ...] = ()
    db_cpu_s: Interval | None = None
    db_cpu_from: str = "time_model"
    parse_s: Interval | None = None
    hard_parse_s: Interval | None = None
    captured_pct: Interval | None = None
    classes: dict[str, Interval] = field(default_factory=dict)
    all_classes: dict[str, Interval] = field(default_factory=dict)
    events: dict[str, Wait] = field(default_factory=dict)
    background: dict[str, Wait] = field(default_factory=dict)
    top_events: tuple[TopEvent, ...] = ()
    shares_of_all_waits: bool = False
    histograms: dict[str, Histogram] = field(default_factory=dict)
    cpus: int | None = None
    cores: int | None = None
    cpu_count: int | None = None
    idle_pct: Interval | None = None
    user_pct: Interval | None = None
    system_pct: Interval | None = None
    load_end: float | None = None
    busy_cpu_pct: Interval | None = None
    sessions: tuple[int, ...] = ()
    activity: dict[str, Interval] = field(default_factory=dict)
    os: dict[str, float] = field(default_factory=dict)
    os_end: dict[str, float] = field(default_factory=dict)
    functions: dict[str, FunctionIo] = field(default_factory=dict)
    statements: tuple[tuple[str, Interval, float | None, str], ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def is_aix(self) -> bool:
        """Are its CPU times undercounted with SMT?  Source: ardentperf.com 2016/07/01."""
        return "aix" in self.platform.lower()

    @property
    def has_host(self) -> bool:
        """Do the figures of the host belong to this report's DB time?  Not for a PDB, nor for several instances."""
        return self.kind in {"awr", "statspack"}

    @property
    def listed_events(self) -> dict[str, Wait]:
        """The foreground events, of a report without their table those among its top events."""
        if self.events or self.shares_of_all_waits or self.kind == "awr_global":
            return self.events
        return {
            one.event: Wait(one.waits, one.time_s)
            for one in self.top_events
            if one.waits is not None and one.time_s is not None and not is_idle(one.event, one.wait_class)
        }

    @property
    def waited_s(self) -> Interval | None:
        """Foreground time of all waits that are not idle: of the classes, else of the events."""
        if self.classes:
            return _total(self.classes.values())
        return _total(wait.time_s for wait in self.events.values()) if self.events else None

    @property
    def is_contradictory(self) -> bool:
        """Do DB time and DB CPU, or two statements of DB time, contradict each other?  Then there are no shares."""
        return self.cpu_contradicts or self.other_db_time is not None

    @property
    def cpu_contradicts(self) -> bool:
        """Is DB CPU more than DB time, beyond what two clocks differ by?"""
        cpu, time = self.db_cpu_s, self.db_time_s
        return cpu is not None and time is not None and cpu.lo > 1.05 * time.hi

    @property
    def other_db_time(self) -> tuple[str, Interval] | None:
        """Another statement of DB time that differs from the head's by more than 1 %, and 2 s."""
        if self.db_time_s is None:
            return None
        head = self.db_time_s
        for name, other in self.db_time_elsewhere_s:
            gap = max(other.lo - head.hi, head.lo - other.hi)
            if gap > max(2.0, 0.01 * max(head.value, other.value)):
                return name, other
        return None

    @property
    def whole_s(self) -> Interval | None:
        """DB time that shares may be of; None where it is not known, contradicted, or not above zero."""
        if self.is_contradictory or self.db_time_s is None or self.db_time_s.lo <= 0:
            return None
        return self.db_time_s

    @property
    def has_earlier_waits(self) -> bool:
        """Are waits alone more than DB time?  Then times of waits that began before the period are in them."""
        whole, waited = self.whole_s, self.waited_s
        return whole is not None and waited is not None and (waited / whole).lo > _EARLIER_WAITS

    @property
    def limit(self) -> str:
        """What a sentence says before a share of waits."""
        return "At most " if self.has_earlier_waits else ""

    def share(self, waited: Interval) -> Interval | None:
        """What part of DB time the time of some waits is, as an impact; None where there is no DB time.

        It is an upper limit, from 0 on, where times of before the period are in the waits (`has_earlier_waits`): how
        much of one event is of before it is not in a report.
        """
        if self.whole_s is None:
            return None
        share = (waited / self.whole_s).capped(1)
        return Interval(share.value, 0.0, share.hi) if self.has_earlier_waits else share

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
