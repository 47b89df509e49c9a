"""A first look at a log: what it is, its frames, figures, charts, and what was not read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import awrparse
from iolab import metrics
from iolab.io_mode import io_mode
from iolab.kinds import Log, describe_log
from iolab.loading import load
from logframe import DIAGNOSTICS
from straceparse import calls, io_requests, unparsed

if TYPE_CHECKING:
    from logframe import Source

#: Rows of a frame that a look shows.
SHOWN_ROWS = 12


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
    """

    what: str
    frames: dict[str, pl.DataFrame]
    figures: pl.DataFrame
    diagnostics: pl.DataFrame
    log: Log
    requests: pl.DataFrame | None = None

    def charts(self) -> list[Any]:
        """The charts that show this log; none where it holds nothing to draw."""
        from iolab import charts  # noqa: PLC0415 - Altair is loaded for those who look at charts

        drawn = []
        for draw in self._drawers(charts):
            try:
                drawn.append(draw())
            except charts.ChartError:
                continue
        return drawn

    def _drawers(self, charts: Any) -> list[Any]:  # noqa: ANN401 - a module
        if isinstance(self.log, awrparse.AwrReport):
            found = self.frames
            return [
                *([lambda: charts.top_events({"report": found["top_events"]})] if "top_events" in found else []),
                *([lambda: charts.wait_classes({"report": found["wait_classes"]})] if "wait_classes" in found else []),
            ]
        if isinstance(self.log, awrparse.Spool):
            runs = self.frames.get("runs")
            if runs is None:
                return []
            named = runs.with_columns(sample=pl.format("sample {}", "sample"))
            return [lambda: charts.run_strip(named, run="statement")]
        requests = self.requests
        if requests is None:
            return []
        reads = metrics.data_reads(requests)
        by_mode = reads.with_columns(pl.col("mode").cast(pl.String))
        return [
            lambda: charts.read_sizes(reads),
            lambda: charts.ecdf(by_mode, by="mode", title="Latency of reads"),
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
        frames: dict[str, pl.DataFrame] = {
            name: log[name] for name in ("top_events", "wait_classes", "load_profile") if name in log.tables
        }
        parts = []
        if "top_events" in frames:
            averages = metrics.average_waits(frames["top_events"])
            parts.append(averages.with_columns(metric=pl.format("{}: {}", "metric", "event")).drop("event"))
        if "wait_classes" in frames:
            parts.append(metrics.elapsed(frames["wait_classes"]))
        return Look(what, frames, _joined(parts), log.diagnostics, log)
    if isinstance(log, awrparse.Spool):
        return _look_at_spool(what, log)
    if "kind" not in log.columns:
        return Look(what, {"summary": log}, _joined([]), pl.DataFrame(schema=DIAGNOSTICS), log)
    return _look_at_trace(what, log)


def _look_at_spool(what: str, log: awrparse.Spool) -> Look:
    runs = log.runs()
    named = {
        "statements": log.statements,
        "runs": runs,
        "autotrace": log.autotrace.filter("is_shown"),
        "statistics": log.statistics,
        "tables": log.tables,
    }
    frames = {name: frame for name, frame in named.items() if frame.height}
    try:
        figures = metrics.read_metrics(log)
    except LookupError:  # several statements were timed: their figures are those of `runs`
        figures = _joined([])
    return Look(what, frames, figures, log.diagnostics, log)


def _look_at_trace(what: str, log: pl.DataFrame) -> Look:
    found = calls(log)
    requests = io_requests(found)
    counted = (
        found.group_by("name", maintain_order=True)
        .agg(calls=pl.len(), failed=pl.col("errno").is_not_null().sum(), elapsed=pl.col("elapsed").sum())
        .sort("calls", "name", descending=[True, False])
    )
    frames = {"calls": counted, "io_mode": io_mode(found)}
    figures = _joined(
        [
            metrics.read_sizes(requests),
            metrics.read_rate(requests),
            metrics.read_latency(requests).drop("mode"),
        ]
    )
    return Look(
        what, {name: frame for name, frame in frames.items() if frame.height}, figures, unparsed(log), log, requests
    )


def _joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Frames of metrics as one; an empty one of none."""
    return pl.concat([pl.DataFrame(schema=metrics.METRICS), *(part.select(list(metrics.METRICS)) for part in parts)])
