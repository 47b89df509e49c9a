"""What the operating system saw: iostat, vmstat, mpstat, pidstat, sar and their kin as dataframes.

    import hostparse

    log = hostparse.read_host("db1_iostat_24.02.19.1300.dat.bz2")
    log.wide("device")                                      # one row a sample and device
    log.samples                                             # one row a figure, with the bounds of its rounding

Names are imported when they are first used, so that the import itself costs nothing.
"""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from hostparse.cpu_profile import PROFILE, CpuProfile, read_profile
    from hostparse.events import EVENTS, REQUESTS, EventList, read_events
    from hostparse.fio import FioResult, read_fio
    from hostparse.histograms import HISTOGRAMS, MEANS, LatencyHistograms, read_histograms
    from hostparse.log import AssumedClock, HostLog
    from hostparse.read import read_host
    from hostparse.runs import RUNS, Run
    from hostparse.shapes import SAMPLES
    from hostparse.slob import SETTINGS, USERS, read_slob
    from hostparse.summaries import LOADS, PERCENTILES, PROCESSES, read_summaries

__all__ = [
    "EVENTS",
    "HISTOGRAMS",
    "LOADS",
    "MEANS",
    "PERCENTILES",
    "PROCESSES",
    "PROFILE",
    "REQUESTS",
    "RUNS",
    "SAMPLES",
    "SETTINGS",
    "USERS",
    "AssumedClock",
    "CpuProfile",
    "EventList",
    "FioResult",
    "HostLog",
    "LatencyHistograms",
    "Run",
    "read_events",
    "read_fio",
    "read_histograms",
    "read_host",
    "read_profile",
    "read_slob",
    "read_summaries",
]

__getattr__, __dir__ = lazy_exports(__name__)
