"""The views of logs of tools that measure requests: latency histograms, lists of I/O events, fio, biotop, SLOB."""

from __future__ import annotations

from typing import Final

from iolab.rules.block_io import block_io_findings
from iolab.rules.slob import slob_and_report, slob_findings
from iolab.rules.tool_logs import event_findings, fio_findings, histogram_buckets, histogram_findings
from iolab.views import View, summarize_frames

HISTOGRAM: Final = View(
    summarize_frames,
    noun="latency histogram",
    findings=histogram_findings,
    buckets=histogram_buckets,
    looked_at="the largest group of times, where their unit is printed",
)
EVENTS: Final = View(
    summarize_frames,
    noun="list of I/O events",
    findings=event_findings,
    looked_at="times of reads and writes, from 30 of each",
)
FIO: Final = View(summarize_frames, noun="result of fio", findings=fio_findings, looked_at="jobs that made a request")
BLOCK_IO: Final = View(
    summarize_frames,
    noun="summary of block I/O",
    findings=block_io_findings,
    looked_at="the process with most bytes, and percentiles of requests",
)
SLOB: Final = View(
    summarize_frames,
    noun="file of SLOB",
    findings=slob_findings,
    looked_at="settings of the work of a run, and the work of its users",
    pair_findings={"awr": slob_and_report},
)
