"""What wait event histograms say of latency: the range that holds most reads, and separate hills."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from iolab.metrics.histograms import hills_of
from iolab.metrics.report_facts import total
from iolab.rules.finding import Evidence, Finding
from iolab.rules.phrases import percent, seconds
from iolab.rules.registry import rule
from iolab.rules.time_parts import LARGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from iolab.metrics.report_facts import ReportFacts

#: Waits for one block; a wait of another event is not one read.
SINGLE_BLOCK: Final = ("db file sequential read", "cell single block physical read")
#: Bimodal by design: they spin and then sleep, or are local and then remote.
_BY_DESIGN: Final = ("enq:", "latch", "mutex", "cursor:", "library cache", "gc ", "row cache", "row lock")
_LEAST_READS: Final = 1_000
_LEAST_WAITS: Final = 500
_LEAST_SHARE: Final = 0.01
#: A range is named when it holds this much of all waits, in per cent.
_MOST_PCT: Final = 60.0
_FEW_BETWEEN_PCT: Final = 20.0
#: Numbers of edges as reports print them, and how near to one the counted edge is: 2^20 us is printed as 1 s.
_PRINTED: Final = (1, 2, 4, 8, 16, 32, 64, 125, 250, 500)
_NEAR: Final = 0.05
#: Ranges with edges that histograms print, in us.  Source: data sheets: most flash drives give one reader at a time
#: 10,000 to 20,000 reads per second, 50 to 100 us each, the fastest 20 to 45; half a turn of a disk takes 2 to 4.2 ms.
_RANGES: Final = (
    (0, 64, "shorter than most flash drives take: from a cache, memory or the fastest flash"),
    (64, 512, "like flash, an array's cache or the file system's cache"),
    (512, 2_000, "like remote flash, a cache or a mixture: not decided"),
    (2_000, 16_000, "like a disk, or like something faster with a queue"),
    (16_000, math.inf, "longer than an idle disk takes: consistent with a queue or a stall"),
)


@rule(
    "read_latency_class",
    of="report",
    needs="wait event histograms",
    thresholds={
        "60 % of the reads in one range": "FINDINGS F22",
        "1 % of DB time, 1,000 reads": "FINDINGS F22",
        "a third of DB time in the first bucket": "a convention",
    },
)
def read_latency_class(facts: ReportFacts) -> Iterator[Finding]:
    """The range of time that held most single-block reads, from the histogram, never from the average.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.histograms import Histogram
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(edges, below): return ReportFacts(db_time_s=Interval.exact(12_727), elapsed_s=Interval.exact(899),
        ...     events={"db file sequential read": Wait(Interval.exact(776_224), Interval.exact(9_455))},
        ...     histograms={"db file sequential read": Histogram(776_224, edges, below)})
        >>> disk = facts((1e3, 2e3, 4e3, 8e3, 16e3, 32e3), (1.0, 2.1, 16.1, 55.3, 81.1, 93.3))
        >>> print(*(one.sentence for one in read_latency_class(disk)))
        79 % of single-block reads took 2 to 16 ms, like a disk, or like something faster with a queue.
        >>> for one in read_latency_class(facts((1e3, 2e3), (86.8, 97.0))): print(one.sentence, one.is_refused)
        87 % of single-block reads took under 1 ms, the first bucket: the histogram does not show whether they came
        from flash or a cache. True
        >>> list(read_latency_class(facts((1e3, 2e3, 4e3, 8e3, 16e3), (30.0, 40.0, 60.0, 80.0,
        ...     90.0))))  # no range has most
        []
    """
    if facts.whole_s is None or facts.is_idle:
        return
    for event in SINGLE_BLOCK:
        wait, histogram = facts.events.get(event), facts.histograms.get(event)
        if wait is None or histogram is None or histogram.waits < _LEAST_READS:
            continue
        parallel = total(facts.of_events("db file parallel read"))
        if (wait.time_s / facts.whole_s).lo < _LEAST_SHARE or parallel.lo > wait.time_s.hi:
            continue  # of little weight, or most blocks were read several to a wait
        evidence = (Evidence("event_histogram", (event,)),)
        lowest_edge = histogram.edges_us[0]
        lowest = histogram.below_pct[0]
        if lowest_edge > 512 * 1.03 and lowest >= _MOST_PCT:
            if (wait.time_s / facts.whole_s).lo < LARGE:
                continue  # such short reads matter where they are much of the time
            yield Finding(
                "read_latency_class",
                f"{percent(lowest / 100)} of single-block reads took under {_edge_text(lowest_edge)}, the first "
                "bucket: the histogram does not show whether they came from flash or a cache.",
                next="see `V$EVENT_HISTOGRAM_MICRO` (12.1 and later), or `strace -T` of a session",
                evidence=evidence,
                is_refused=True,
            )
            continue
        for start, end, what in _RANGES:
            share = histogram.between(start, end)
            if share is None or share < _MOST_PCT:
                continue
            yield Finding(
                "read_latency_class",
                f"{percent(min(share, 100.0) / 100)} of single-block reads took {_range_text(start, end)}, "
                f"{_of_storage(what, facts)}.",
                next="see the devices: iostat -xt 5",
                evidence=evidence,
                order=4,
            )
            break


def _of_storage(what: str, facts: ReportFacts) -> str:
    """A file system's cache is not in the candidates where files are in ASM, or it is bypassed by a setting."""
    setting = facts.parameters.get("filesystemio_options", "").lower()
    if facts.in_asm or setting in {"setall", "directio"}:
        return what.replace("flash, an array's cache or the file system's cache", "flash or an array's cache")
    return what


def _edge_text(us: float) -> str:
    """An edge as the reports print it; they count in powers of two of a microsecond or a millisecond.

    Examples:
        >>> [_edge_text(us) for us in (64, 1_024, 65_536, 128_000, 250_000, 1_024_000, 16_777_216)]
        ['64 us', '1 ms', '64 ms', '125 ms', '250 ms', '1 s', '16 s']
    """
    if us < 1_000:
        return f"{us:.0f} us"
    size, unit = (us / 1_000, "ms") if us < 1_000_000 * (1 - _NEAR) else (us / 1_000_000, "s")
    return f"{next((edge for edge in _PRINTED if math.isclose(edge, size, rel_tol=_NEAR)), size):g} {unit}"


def _range_text(start: float, end: float) -> str:
    if start == 0:
        return f"under {_edge_text(end)}"
    if end == math.inf:
        return f"{_edge_text(start)} or more"
    low, high = _edge_text(start), _edge_text(end)
    if low.split()[1] == high.split()[1]:
        low = low.split()[0]
    return f"{low} to {high}"


@rule(
    "two_modes",
    of="report",
    needs="wait event histograms",
    thresholds={"two peaks of 10 %, 8 times apart": "FINDINGS F23", "1 % of DB time, 500 waits": "FINDINGS F23"},
)
def two_modes(facts: ReportFacts) -> Iterator[Finding]:
    """Waits of one event in two separate hills, of which the average is neither.

    Examples:
        >>> from logframe.interval import Interval
        >>> from iolab.metrics.histograms import Histogram
        >>> from iolab.metrics.report_facts import ReportFacts, Wait
        >>> def facts(below): return ReportFacts(db_time_s=Interval.exact(9_000), elapsed_s=Interval.exact(3_600),
        ...     events={"db file sequential read": Wait(Interval.exact(100_000), Interval.exact(500))}, histograms={
        ...     "db file sequential read": Histogram(100_000, (1e3, 2e3, 4e3, 8e3, 16e3, 32e3), below)})
        >>> print(*(one.sentence for one in two_modes(facts((60.0, 62.0, 63.0, 65.0, 95.0, 100.0)))))
        Waits for `db file sequential read` form two groups: 60 % took under 1 ms, 30 % 8 to 16 ms. The average, 5 ms,
        is in neither.
        >>> print(*(one.sentence for one in two_modes(facts((15.0, 30.0, 31.0, 32.0, 32.5, 100.0)))))
        Waits for `db file sequential read` form two groups: 30 % took under 2 ms, 68 % 16 to 32 ms. The average, 5 ms,
        is in neither.
        >>> list(two_modes(facts((10.0, 30.0, 60.0, 90.0, 95.0, 100.0))))
        []
    """
    if facts.whole_s is None or facts.is_idle:
        return
    waits = {**facts.background, **facts.events}
    for event in facts.histograms:
        wait = waits.get(event)
        if wait is None or event.lower().startswith(_BY_DESIGN):
            continue
        least = _LEAST_SHARE if event in facts.events else 0.001 if event == "log file parallel write" else 1.0
        if (wait.time_s / facts.whole_s).lo < least:
            continue
        histogram = facts.histograms.get(event)
        hills = None if histogram is None or histogram.waits < _LEAST_WAITS else hills_of(histogram)
        if hills is None:
            continue
        low, high = _range_text(hills.low_from_us, hills.low_to_us), _range_text(hills.high_from_us, hills.high_to_us)
        average = wait.avg_s
        mean = ""  # within a group it describes neither
        if average is not None and hills.low_to_us <= average.lo * 1e6 and average.hi * 1e6 <= hills.high_from_us:
            mean = f" The average, {seconds(average.value)}, is in neither."
        parts = f"{percent(hills.low_pct / 100)} took {low}, {percent(hills.high_pct / 100)} {high}"
        if hills.between_pct <= _FEW_BETWEEN_PCT:
            said = f"Waits for `{event}` form two groups: {parts}.{mean}"
        else:
            between = f"{percent(hills.between_pct / 100)} {_range_text(hills.low_to_us, hills.high_from_us)}"
            said = f"Waits for `{event}` are widely spread: {parts.replace(', ', f', {between}, ', 1)}."
        yield Finding(
            "two_modes",
            said,
            evidence=(Evidence("event_histogram", (event,)),),
            order=5,
            explains=(event,),
        )
