"""A first look at a log: what it is, its frames, figures, charts, and what was not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

import awrparse
import sqlplusparse
from iolab import metrics
from iolab.kinds import Log, describe_log
from iolab.loading import load
from iolab.pages.figures import join_figures
from iolab.pages.report_summary import report_figures, report_frames
from iolab.pages.session_summary import spool_figures, spool_frames
from iolab.pages.trace_summary import timed_reads, trace_figures, trace_frames
from logframe import DIAGNOSTICS
from straceparse import calls, io_requests, unparsed

if TYPE_CHECKING:
    from logframe import Source

#: Fewer reads are no distribution: a curve of their times would be of single steps.
_LEAST_READS: Final = 6


@dataclass(frozen=True)
class Look:
    """A first look at a log.

    Attributes:
        what: What the log is, in a few words.
        frames: Its main frames by name.
        figures: Its metrics (`iolab.metrics.METRICS`); may be empty.
        diagnostics: What was not read, or is worth a look (`logframe.DIAGNOSTICS`).
        log: The log as it was loaded.
        requests: The I/O requests of an strace log, else None.
        calls: The calls of an strace log, else None.
        notes: Sentences to say beside the figures.
    """

    what: str
    frames: dict[str, pl.DataFrame]
    figures: pl.DataFrame
    diagnostics: pl.DataFrame
    log: Log
    requests: pl.DataFrame | None = None
    calls: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def charts(self, *, name: str = "report") -> list[Any]:
        """The charts that show this log; none where it holds nothing to draw.

        Args:
            name: What to call the log in a chart.
        """
        from iolab import charts  # noqa: PLC0415 - Altair is loaded for those who look at charts

        drawn = []
        for draw in self._drawers(charts, name):
            try:
                drawn.append(draw())
            except charts.ChartError:
                continue
        return drawn

    def _drawers(self, charts: Any, name: str) -> list[Any]:  # noqa: ANN401 - a module
        if isinstance(self.log, awrparse.AwrReport):
            tables = {table: self.frames[table] for table in ("top_events", "wait_classes") if table in self.frames}
            draw = {"top_events": charts.top_events, "wait_classes": charts.wait_classes}
            return [lambda table=table: draw[table]({name: tables[table]}) for table in tables]
        if isinstance(self.log, sqlplusparse.Spool):
            runs = self.frames.get("runs")
            if runs is None:
                return []
            named = runs.with_columns(sample=pl.format("sample {}", "sample"))
            return [lambda: charts.run_strip(named, run="statement")]
        if self.requests is None or self.calls is None:
            return []
        requests, calls_of_log = self.requests, self.calls
        timed = timed_reads(requests)
        is_bound = timed.get_column("is_bound").any()
        axis = "time until the next call at most" if is_bound else "latency"
        of_times = [
            lambda: charts.ecdf(timed, value="time", by="sample", axis=axis, title="Latency of reads"),
            lambda: charts.latency_heat_map(timed, value="time", axis=axis),
        ]
        return [
            lambda: charts.call_timeline(calls_of_log),
            lambda: charts.read_sizes(metrics.data_reads(requests)),
            *(of_times if timed.height >= _LEAST_READS else []),
            lambda: charts.queue_depth(metrics.queue_depth(requests)),
        ]


def look(source: Source) -> Look:
    r"""A first look at whatever log this is.

    Args:
        source: As for `iolab.load`.

    Raises:
        LogNotFoundError: If nothing is there.
        LogParseError: If it is no known log.

    >>> look(b"     0.000123 pread64(268, '', 8192, 0) = 8192\n").what
    'strace log, 1 line'
    """
    log = load(source)
    what = describe_log(log)
    if isinstance(log, awrparse.AwrReport):
        figures, notes = report_figures(log)
        return Look(what, report_frames(log), figures, log.diagnostics, log, notes=tuple(notes))
    if isinstance(log, sqlplusparse.Spool):
        figures, notes = spool_figures(log)
        return Look(what, spool_frames(log), figures, log.diagnostics, log, notes=tuple(notes))
    if "kind" not in log.columns:
        return Look(what, {"summary": log}, join_figures([]), pl.DataFrame(schema=DIAGNOSTICS), log)
    found = calls(log)
    requests = io_requests(found)
    frames, untold = trace_frames(found)
    figures, notes = trace_figures(requests)
    return Look(what, frames, figures, unparsed(log), log, requests, found, (*untold, *notes))
