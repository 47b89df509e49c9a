"""What an instance did in an hour: every figure of a report comes from here, so that no two can contradict each other.

Waits have a distribution of times; their number, time, average and histogram are of that distribution.
"""

from __future__ import annotations

import itertools
import math
import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

BLOCK = 8192
#: Upper edges of the ranges of a histogram, in microseconds; the last range is open.
EDGES_US = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 1_000_000)
CPUS = 16
MEMORY_GB = 64
SEED = 20260914


class Mix(NamedTuple):
    """Times of waits: shares of lognormal parts, each with its median in microseconds and its sigma."""

    parts: tuple[tuple[float, float, float], ...]

    def varied(self, factor: float, moved: float) -> Mix:
        """All times longer by a factor; of two parts, a share moved from the last to the first."""
        moves = (moved, -moved) if len(self.parts) > 1 else (0.0,)
        return Mix(
            tuple(
                (share + move, median * factor, sigma)
                for (share, median, sigma), move in zip(self.parts, moves, strict=True)
            )
        )

    def mean(self) -> float:
        """The mean, in microseconds."""
        return sum(share * median * math.exp(sigma * sigma / 2) for share, median, sigma in self.parts)

    def below(self, edge: float) -> float:
        """The share of waits shorter than an edge."""
        return sum(
            share * (1 + math.erf(math.log(edge / median) / (sigma * math.sqrt(2)))) / 2
            for share, median, sigma in self.parts
        )


class Wait(NamedTuple):
    """An event of an hour: number of waits, their time, timeouts, and how many were in each range of time."""

    event: str
    wait_class: str
    count: int
    time_us: int
    timeouts: int
    ranges: tuple[int, ...]


class Instance(NamedTuple):
    """Whose report it is."""

    database: str
    name: str
    host: str
    release: str


HARBOR = Instance("HARBOR", "harbor1", "quay07", "12.1.0.2.0")


class Hour(NamedTuple):
    """An hour as it is planned: what ran, where the files were cached, and how large the buffer cache was."""

    begin_snap: int
    begin: datetime
    end: datetime
    startup: datetime
    kind: str
    #: Of the kind's work, the share that was done.
    level: float
    has_page_cache: bool
    cache_mb: tuple[int, int]
    form: str = "text"
    instance: Instance = HARBOR


class Work(NamedTuple):
    """Rates of a kind of work: per second at level 1."""

    transactions: float
    executes: float
    gets: float
    single_reads: float
    scattered_reads: float
    direct_reads: float
    redo: float
    cpu_s: float
    lock_waits: float


WORKS = {
    "evening": Work(38, 2_150, 88_000, 310, 14, 2, 410_000, 1.25, 0.05),
    "quiet": Work(3, 190, 6_400, 22, 1, 0.2, 36_000, 0.11, 0.0),
    "batch": Work(11, 3_900, 205_000, 920, 62, 46, 2_450_000, 2.6, 0.6),
    "morning": Work(64, 3_400, 131_000, 455, 18, 3, 690_000, 1.9, 0.2),
}
_CACHED, _DISK = Mix(((0.93, 265, 0.45), (0.07, 4_300, 0.6))), Mix(((0.09, 330, 0.4), (0.91, 5_150, 0.55)))
#: event: wait class, times with the page cache, times without it.
TIMES = {
    "db file sequential read": ("User I/O", _CACHED, _DISK),
    "db file scattered read": (
        "User I/O",
        Mix(((0.9, 900, 0.5), (0.1, 9_000, 0.6))),
        Mix(((0.05, 900, 0.4), (0.95, 7_900, 0.6))),
    ),
    "direct path read": ("User I/O", Mix(((1.0, 2_900, 0.8),)), Mix(((1.0, 6_800, 0.8),))),
    "read by other session": ("User I/O", _CACHED, _DISK),
    "log file sync": ("Commit", Mix(((1.0, 1_350, 0.6),)), Mix(((1.0, 900, 0.5),))),
    "free buffer waits": ("Configuration", Mix(((1.0, 9_700, 0.4),)), Mix(((1.0, 9_700, 0.4),))),
    "enq: TX - row lock contention": ("Application", Mix(((1.0, 46_000, 1.3),)), Mix(((1.0, 46_000, 1.3),))),
    "buffer busy waits": ("Concurrency", Mix(((1.0, 240, 1.1),)), Mix(((1.0, 240, 1.1),))),
    "library cache: mutex X": ("Concurrency", Mix(((1.0, 150, 1.2),)), Mix(((1.0, 150, 1.2),))),
    "SQL*Net message to client": ("Network", Mix(((1.0, 2, 0.4),)), Mix(((1.0, 2, 0.4),))),
    "SQL*Net more data to client": ("Network", Mix(((1.0, 24, 0.7),)), Mix(((1.0, 24, 0.7),))),
    "control file sequential read": ("System I/O", Mix(((1.0, 310, 0.5),)), Mix(((1.0, 520, 0.6),))),
    "Disk file operations I/O": ("User I/O", Mix(((1.0, 60, 0.9),)), Mix(((1.0, 60, 0.9),))),
    "SQL*Net message from client": ("Idle", Mix(((1.0, 28_000, 1.8),)), Mix(((1.0, 28_000, 1.8),))),
    "log file parallel write": ("System I/O", Mix(((1.0, 980, 0.5),)), Mix(((1.0, 640, 0.45),))),
    "db file parallel write": ("System I/O", Mix(((1.0, 5_900, 0.9),)), Mix(((1.0, 2_100, 0.6),))),
    "control file parallel write": ("System I/O", Mix(((1.0, 2_300, 0.5),)), Mix(((1.0, 1_900, 0.5),))),
    "os thread startup": ("Concurrency", Mix(((1.0, 26_000, 0.3),)), Mix(((1.0, 26_000, 0.3),))),
    "rdbms ipc message": ("Idle", Mix(((1.0, 480_000, 0.9),)), Mix(((1.0, 480_000, 0.9),))),
    "pmon timer": ("Idle", Mix(((1.0, 2_990_000, 0.01),)), Mix(((1.0, 2_990_000, 0.01),))),
}


class Activity(NamedTuple):
    """All figures of an hour; times in microseconds."""

    hour: Hour
    elapsed_us: int
    transactions: int
    rollbacks: int
    calls: int
    executes: int
    parses: int
    hard_parses: int
    logons: int
    gets: int
    changes: int
    redo_bytes: int
    foreground: tuple[Wait, ...]
    background: tuple[Wait, ...]
    cpu_us: int
    background_cpu_us: int
    db_time_us: int
    background_us: int
    direct_requests: int
    direct_blocks: int
    cached_requests: int
    cached_blocks: int
    single_requests: int
    write_requests: int
    write_blocks: int
    log_writes: int
    user_pct: float
    wio_pct: float

    def rate(self, total: float) -> float:
        """A total for each second."""
        return total * 1e6 / self.elapsed_us


def spread(count: int, mix: Mix) -> tuple[int, ...]:
    """How many of the waits were in each range: whole numbers that add up to the count."""
    reached = [round(count * mix.below(edge)) for edge in EDGES_US]
    edges = [0, *reached, count]
    return tuple(high - low for low, high in itertools.pairwise(edges))


def make_activity(hour: Hour) -> Activity:
    """The figures of an hour; the same hour gives the same figures."""
    rng = random.Random(SEED + hour.begin_snap)  # noqa: S311 - figures, not secrets

    def about(value: float, by: float = 0.06) -> float:
        return value * (1 + by * (2 * rng.random() - 1))

    work = WORKS[hour.kind]
    elapsed_us = int((hour.end - hour.begin).total_seconds()) * 1_000_000 + int(rng.random() * 400_000)
    seconds = elapsed_us / 1e6 * hour.level

    def total(rate: float, by: float = 0.06) -> int:
        return round(about(rate, by) * seconds)

    # More buffers, fewer reads: the share of gets that miss falls with the square root of the cache.
    misses = math.sqrt(2_048 / (sum(hour.cache_mb) / 2))
    transactions, executes, gets = total(work.transactions), total(work.executes), total(work.gets)
    singles, scattered = total(work.single_reads * misses), total(work.scattered_reads * misses)
    direct = total(work.direct_reads)
    calls = round(executes * 0.42)
    is_written = work.redo > 1_000_000 and hour.has_page_cache

    def wait(event: str, count: int, *, timeouts: int = 0) -> Wait:
        wait_class, cached, disk = TIMES[event]
        mix = (cached if hour.has_page_cache else disk).varied(about(1, 0.04), 0.02 * (2 * rng.random() - 1))
        return Wait(event, wait_class, count, round(count * mix.mean()), timeouts, spread(count, mix))

    foreground = (
        wait("db file sequential read", singles),
        wait("db file scattered read", scattered),
        wait("direct path read", direct),
        wait("read by other session", round(singles * 0.011)),
        wait("log file sync", transactions),
        wait("free buffer waits", total(43) if is_written else 0),
        wait("enq: TX - row lock contention", total(work.lock_waits, 0.4)),
        wait("buffer busy waits", round(gets * 2.1e-5)),
        wait("library cache: mutex X", total(0.7, 0.3)),
        wait("SQL*Net message to client", calls),
        wait("SQL*Net more data to client", round(calls * 0.06)),
        wait("control file sequential read", total(0.4)),
        wait("Disk file operations I/O", total(0.3)),
        wait("SQL*Net message from client", calls),
    )
    redo_bytes = total(work.redo)
    writes = round(redo_bytes * about(1) / 6_000)
    log_writes = round(transactions * 0.86 + seconds * 0.4)
    timers = round(elapsed_us / 3e6)
    ipc = round(elapsed_us / 1e6 * 11)
    background = (
        wait("log file parallel write", log_writes),
        wait("db file parallel write", round(writes * 0.08)),
        wait("control file parallel write", round(elapsed_us / 3e6)),
        wait("control file sequential read", round(elapsed_us / 1e6 * 1.9)),
        wait("db file sequential read", round(elapsed_us / 1e6 * 0.21)),
        wait("os thread startup", round(elapsed_us / 1e6 * 0.012)),
        wait("rdbms ipc message", ipc, timeouts=round(ipc * 0.93)),
        wait("pmon timer", timers, timeouts=timers),
    )
    cpu_us = round(about(work.cpu_s) * seconds * 1e6)
    waited = sum(one.time_us for one in foreground if one.wait_class != "Idle")
    io_us = sum(one.time_us for one in foreground if one.wait_class == "User I/O")
    background_cpu_us = round(cpu_us * 0.035 + elapsed_us * 0.006)
    background_waited = sum(one.time_us for one in background if one.wait_class != "Idle")
    return Activity(
        hour=hour,
        elapsed_us=elapsed_us,
        transactions=transactions,
        rollbacks=round(transactions * 0.004),
        calls=calls,
        executes=executes,
        parses=round(executes * 0.27),
        hard_parses=round(executes * 0.0011),
        logons=total(0.31),
        gets=gets,
        changes=round(redo_bytes / 190),
        redo_bytes=redo_bytes,
        foreground=tuple(one for one in foreground if one.count),
        background=tuple(one for one in background if one.count),
        cpu_us=cpu_us,
        background_cpu_us=background_cpu_us,
        db_time_us=round((cpu_us + waited) * 1.012),
        background_us=background_waited + background_cpu_us,
        direct_requests=round(direct * 1.4),
        direct_blocks=round(direct * 1.4) * 126,
        cached_requests=singles + scattered + background[4].count,
        cached_blocks=singles + scattered * 43 + background[4].count,
        single_requests=singles + background[4].count,
        write_requests=writes,
        write_blocks=round(writes * 2.3),
        log_writes=log_writes,
        user_pct=100 * (cpu_us + background_cpu_us) / elapsed_us / CPUS * 1.06,
        wio_pct=min(40.0, 100 * io_us / elapsed_us / CPUS * 0.7),
    )
