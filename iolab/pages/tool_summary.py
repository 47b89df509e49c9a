"""The views of logs of tools that measure requests: latency histograms, lists of I/O events, fio, biotop, SLOB."""

from __future__ import annotations

from functools import partial
from typing import Final

from iolab.rules import block_io, host_severity  # noqa: F401 - their rules are registered
from iolab.rules.processor_tools import counter_findings, tool_findings
from iolab.rules.registry import apply_rules
from iolab.rules.slob import slob_and_report
from iolab.rules.tool_logs import histogram_buckets
from iolab.time_ledger.samples import tool_ledgers
from iolab.views import View, summarize_frames

HISTOGRAM: Final = View(
    summarize_frames,
    noun="latency histogram",
    findings=partial(apply_rules, "histogram"),
    buckets=histogram_buckets,
    looked_at="the histogram with the most times, of those with a unit",
)
EVENTS: Final = View(
    summarize_frames,
    noun="list of I/O events",
    findings=partial(apply_rules, "io_events"),
    looked_at="times of reads and writes, from 30 requests on",
)
FIO: Final = View(
    summarize_frames, noun="result of fio", findings=partial(apply_rules, "fio"), looked_at="jobs that made a request"
)
FIO_TEXT: Final = View(
    summarize_frames,
    noun="report of fio",
    findings=partial(apply_rules, "fio_text"),
    looked_at="jobs whose rates and latencies are printed",
)
BLOCK_IO: Final = View(
    summarize_frames,
    noun="summary of block I/O",
    findings=partial(apply_rules, "block_io"),
    looked_at="the process with most bytes, and percentiles of requests",
)
MOUNTS: Final = View(
    summarize_frames,
    noun="log of NFS mounts",
    findings=partial(apply_rules, "nfsiostat"),
    looked_at="the requests of each mount, and their times",
)
LAYERS: Final = View(
    summarize_frames,
    noun="summary of a blktrace",
    findings=partial(apply_rules, "btt"),
    looked_at="how long requests were in the scheduler and in the device",
)
#: top, dstat, atop and collectl.
PROCESSORS: Final = View(
    summarize_frames,
    noun="log of samples",
    findings=tool_findings,
    ledgers=tool_ledgers,
    looked_at="the processors, the load, and the processes with most CPU time",
)
COUNTERS: Final = View(
    summarize_frames,
    noun="log of kernel counters",
    findings=counter_findings,
    looked_at="the devices between stamps",
)
SLOB: Final = View(
    summarize_frames,
    noun="file of SLOB",
    findings=partial(apply_rules, "slob"),
    looked_at="settings of the work of a run, and the work of its users",
    pair_findings={"awr": slob_and_report},
)
