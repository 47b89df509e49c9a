"""Several logs as one body of evidence: aligned reports and traces, time lines of reports, and what changed."""

from typing import TYPE_CHECKING

from logframe.lazy import lazy_exports

if TYPE_CHECKING:
    from iolab.evidence.alignment import align_trace
    from iolab.evidence.changes import left_out_sentences, neighbour_changes, parameter_changes
    from iolab.evidence.host_alignment import align_host
    from iolab.evidence.latency_alignment import align_latency
    from iolab.evidence.report_periods import find_breaks, periods
    from iolab.evidence.run_set import align_run, share_clocks
    from iolab.evidence.time_lines import over_time
    from iolab.evidence.timeline import Timeline, read_timeline
    from iolab.evidence.trace_on_host import TraceOnHost, align_trace_with_host
    from iolab.evidence.wait_alignment import align_waits

__all__ = [
    "Timeline",
    "TraceOnHost",
    "align_host",
    "align_latency",
    "align_run",
    "align_trace",
    "align_trace_with_host",
    "align_waits",
    "find_breaks",
    "left_out_sentences",
    "neighbour_changes",
    "over_time",
    "parameter_changes",
    "periods",
    "read_timeline",
    "share_clocks",
]

__getattr__, __dir__ = lazy_exports(__name__)
