"""The views of logs of tools that measure requests: histograms of latencies, lists of I/O events, results of fio."""

from __future__ import annotations

from typing import Final

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
