"""Pressure of a host (PSI): how long tasks waited for a processor, memory or I/O, as the kernel counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.processors import SATURATED
from iolab.rules.devices import SEE_USERS, timed_samples
from iolab.rules.finding import OF_SAMPLES, Evidence, Finding
from iolab.rules.phrases import counted, percent
from iolab.rules.registry import rule
from iolab.rules.time_parts import PART
from logframe.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse import HostLog

#: Letters of a column -> who waited; the worse first.
_WHO: Final = {"f": "All tasks", "s": "Some tasks"}
#: What for, and what is done next.
_WHAT: Final = {
    "mem": ("memory", "see who holds the memory: ps -eo pid,rss,args --sort=-rss; sar -B 5"),
    "io": ("I/O", SEE_USERS),
    "cpu": ("a CPU", "see the processes: pidstat -u 5"),
}
#: Of which time: the sample, else that of the kernel's running means.
_SPANS: Final = {"": "the time", "_10": "10 s", "_60": "60 s", "_300": "300 s"}


@rule(
    "pressure",
    of="host",
    needs="pressure stall information (sar -q ALL)",
    thresholds={"90 %": "iolab.metrics.processors.SATURATED"},
)
def pressure(log: HostLog) -> Iterator[Finding]:
    r"""What tasks waited for nearly all the time in some samples.

    Examples:
        >>> from hostparse import read_host
        >>> head = "10:00:00 AM %smem-10 %smem-60 %smem-300 %smem\n"
        >>> rows = "10:01:00 AM 0.00 0.00 0.00 0.00\n10:02:00 AM 99.80 40.00 9.00 5.00\n"
        >>> text = "Linux 6.1 (db1) \t05/20/2024 \t_x86_64_\t(8 CPU)\n\n" + head + rows
        >>> for one in pressure(read_host(text.encode())): print(one.sentence)
        Some tasks waited for memory at least 90 % of 10 s in 1 of 2 samples (PSI; 99.8 % at 10:02:00).
    """
    rows = timed_samples(log, "host")
    columns = [] if rows is None else rows.collect_schema().names()
    for what, (words, step) in _WHAT.items():
        named = [(who, span) for who in _WHO for span in _SPANS if f"{who}{what}{span}_percent" in columns]
        if rows is None or not named:
            continue
        own = rows.sort("run", "sample").collect()
        for who, span in named:
            name = f"{who}{what}{span}_percent"
            high = own.filter(pl.col(name) >= 100 * SATURATED)
            if high.is_empty():
                continue
            top = high.sort(name).row(-1, named=True)
            most = percent(top[name] / 100)
            most = f"{most} at {top['interval_end']:%H:%M:%S}" if top["interval_end"] is not None else f"at most {most}"
            is_severe = who == "f" or what == "mem"
            share = float(high.select(pl.sum("weight")).item() / own.select(pl.sum("weight")).item())
            yield Finding(
                "pressure",
                f"{_WHO[who]} waited for {words} at least {100 * SATURATED:.0f} % of {_SPANS[span]} in "
                f"{high.height:,} of {counted(own.height, 'samples')} (PSI; {most}).",
                # of a host with much I/O some task waits for it all the time; running means are not of the samples
                impact=Interval.exact(share) if is_severe and not span else None,
                impact_of=OF_SAMPLES,
                next=step,
                evidence=(Evidence("host", (name,)),),
                order=0 if is_severe and share >= PART else 4,
            )
            break
