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
from iolab.report_looks import report_figures, report_frames
from logframe import DIAGNOSTICS
from straceparse import calls, io_requests, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Source

#: What a first look needs of statements and plans; the loaded log has more.
_OF_STATEMENTS = (
    *("statement", "first_line", "text", "kind", "status", "error", "message", "rows", "elapsed_s", "elapsed_s_lo"),
    *("elapsed_s_hi", "plan_hash_value", "physical_reads", "gets"),
)
_OF_PLANS = (
    *("statement", "plan_hash_value", "id", "operation", "object_name", "starts", "e_rows", "cost", "a_rows"),
    *("a_time_s", "buffers", "reads"),
)
_OF_MODES = (
    "pid",
    "file",
    "mode",
    "sync_reads",
    "async_reads",
    "sync_bytes",
    "async_bytes",
    "async_share",
    "has_o_direct",
)


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
        if isinstance(self.log, awrparse.Spool):
            runs = self.frames.get("runs")
            if runs is None:
                return []
            named = runs.with_columns(sample=pl.format("sample {}", "sample"))
            return [lambda: charts.run_strip(named, run="statement")]
        if self.requests is None or self.calls is None:
            return []
        requests, calls_of_log = self.requests, self.calls
        reads = metrics.data_reads(requests)
        timed = _with_times(reads)
        is_bound = timed.get_column("is_bound").any()
        axis = "time until the next call at most" if is_bound else "latency"
        return [
            lambda: charts.call_timeline(calls_of_log),
            lambda: charts.read_sizes(reads),
            lambda: charts.ecdf(timed, value="time", by="sample", axis=axis, title="Latency of reads"),
            lambda: charts.latency_heat_map(timed, value="time", axis=axis),
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
    if isinstance(log, awrparse.Spool):
        return _look_at_spool(what, log)
    if "kind" not in log.columns:
        return Look(what, {"summary": log}, _joined([]), pl.DataFrame(schema=DIAGNOSTICS), log)
    return _look_at_trace(what, log)


def _look_at_spool(what: str, log: awrparse.Spool) -> Look:
    runs = log.runs()
    named = {
        "statements": log.statements.select(_OF_STATEMENTS),
        "runs": runs.filter(pl.col("elapsed_s").count().over("sample") > 1),
        "autotrace": log.autotrace.filter("is_shown").select("statement", "name", "value"),
        "statistics": log.statistics.select(
            "statement", "listing", "name", "value", "value_lo", "value_hi", "unit", "basis"
        ),
        "plans": log.plans.select(_OF_PLANS),
    }
    frames = {name: frame for name, frame in named.items() if frame.height}
    notes = []
    try:
        figures = _joined([*_figures_of_statement(log), metrics.read_metrics(log)])
    except LookupError as error:
        figures = _joined([])
        notes.append(f"no figures of the reads: {str(error).strip(chr(34))}")
    else:
        if figures.is_empty():
            notes.append("no figures: no statement shows a time, or statistics of its reads")
    return Look(what, frames, figures, log.diagnostics, log, notes=tuple(notes))


def _figures_of_statement(log: awrparse.Spool) -> Iterator[pl.DataFrame]:
    """The elapsed time of the one statement that was timed, and what a logical I/O cost it at most.

    Raises:
        LookupError: If several statements were timed, or show their gets.
    """
    elapsed = metrics.elapsed_of(log)
    if elapsed is None:
        return
    seconds = metrics.Metric(
        "elapsed_s",
        elapsed.value,
        elapsed.lo,
        elapsed.hi,
        "s",
        "elapsed, as the client shows it",
        "the client's clock: the network and the fetches are in it",
    )
    yield metrics.metrics_frame([seconds])
    consistent, current, reads = (
        metrics.statistic(log, name) for name in ("consistent gets", "db block gets", "physical reads")
    )
    if consistent is not None and current is not None and reads is not None and (consistent + current).lo > 0:
        yield metrics.us_per_lio(consistent + current, elapsed_s=elapsed, physical_reads=reads)


def _look_at_trace(what: str, log: pl.DataFrame) -> Look:
    found = calls(log)
    requests = io_requests(found)
    timed = pl.col("elapsed").is_not_null()
    counted = (
        found.group_by("name", maintain_order=True)
        .agg(
            calls=pl.len(),
            failed=pl.col("errno").is_not_null().sum(),
            # A sum of nothing is null: a log without -T does not say that the calls took no time.
            elapsed=pl.when(timed.any()).then(pl.col("elapsed").sum()),
        )
        .sort("calls", "name", descending=[True, False])
    )
    modes = io_mode(found)
    frames = {"calls": counted, "io_mode": modes.select(_OF_MODES)}
    untold = dict.fromkeys(one for said in modes.get_column("not_told") for one in said.split("; ") if one)
    notes = [f"what the log cannot tell: {'; '.join(untold)}"] if untold else []
    if metrics.data_reads(requests).is_empty():
        figures = _joined([])
        notes.append("the log has no reads of data (whole sectors of 512 bytes): there are no figures of reads")
    else:
        latency = metrics.read_latency(requests)
        figures = _joined(
            [
                metrics.read_sizes(requests),
                metrics.read_rate(requests),
                latency.with_columns(metric=pl.format("{} ({})", "metric", "mode")),
                metrics.depth(requests),
            ]
        )
    frames = {name: frame for name, frame in frames.items() if frame.height}
    return Look(what, frames, figures, unparsed(log), log, requests, found, tuple(notes))


def _with_times(reads: pl.DataFrame) -> pl.DataFrame:
    """Reads with their time and what it is: the latency, else the gap to the process's next call, its upper bound."""
    source = pl.col("latency_from").cast(pl.String)
    is_bound = pl.col("latency").is_null() | source.is_in(["gap", "poll"])
    return reads.with_columns(
        time=pl.coalesce("latency", "gap"),
        is_bound=is_bound.fill_null(value=True),
        sample=pl.format(
            "{}{}",
            pl.col("mode").cast(pl.String),
            pl.when(is_bound).then(pl.lit(" (upper bound)")).otherwise(pl.lit("")),
        ),
    ).filter(pl.col("time").is_not_null())


def _joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Frames of metrics as one; an empty one of none."""
    return pl.concat([pl.DataFrame(schema=metrics.METRICS), *(part.select(list(metrics.METRICS)) for part in parts)])
