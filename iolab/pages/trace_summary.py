"""The view of strace logs: system calls, how each file was read, and the figures of the reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts, metrics
from iolab.metrics.formatting import count_text
from iolab.metrics.trace_facts import Trace, short_name, trace_of
from iolab.metrics.trace_reads import Op, is_data_request
from iolab.metrics.trace_times import times_of
from iolab.pages.figures import join_figures
from iolab.rules.trace_pairs import trace_pair
from iolab.rules.traces import trace_findings
from iolab.time_ledger.strace import strace_ledgers
from iolab.views import Summary, View
from logframe.lazy import on_use

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from straceparse import StraceLog

#: One of this many lines tells when the log begins.
_FIRST_LINES: Final = 1_000
#: Fewer reads are no distribution: a curve of their times would be of single steps.
_LEAST_READS: Final = 6

_OPS: Final[tuple[Op, ...]] = ("read", "write", "sync")
#: Figures that are a lower bound where lines were not read.
_COUNTS: Final = ("reads", "bytes_read", "writes", "bytes_written", "flushes")
_OF_TIMELINE: Final = ("pid", "name", "start", "end", "gap")
_OF_MODES: Final = (
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


def trace_frames(trace: Trace) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The main frames of a log by name, and what the log cannot tell of its reads."""
    # The sum of no rows is null: a log without -T does not say that the calls took no time.
    elapsed = pl.when(pl.col("timed") > 0).then("elapsed")
    counted = trace.by_name.select("name", "calls", "failed", elapsed=elapsed)
    counted = counted.sort("calls", "name", descending=[True, False])
    modes = trace.modes
    unseen = dict.fromkeys(one for said in modes.get_column("limitations") for one in said.split("; ") if one)
    writes = trace.writes
    frames = {"calls": counted, "io_mode": modes.select(_OF_MODES), "writes": writes, "queues": trace.queues}
    notes = [f"the log does not show {'; '.join(unseen)}"] if unseen else []
    return {name: frame for name, frame in frames.items() if frame.height}, notes


def trace_figures(trace: Trace) -> tuple[pl.DataFrame, list[str]]:
    """The metrics of a log's reads (`iolab.metrics.METRICS`), and what is to be said where it has none."""
    requests = trace.requests
    has = {op: bool(requests.select(is_data_request(requests, op).any()).item()) for op in _OPS}
    writes = [metrics.write_sizes(requests)] if has["write"] else []
    writes += [metrics.flush_count(requests)] if has["sync"] else []
    writes += [_latency(requests, op, f"{op}_") for op in ("write", "sync") if has[op]]
    if not has["read"]:
        return _as_far_as_read(join_figures(writes), trace), [
            "the log has no reads of files or devices: there are no figures of reads"
        ]
    parts = [
        metrics.read_sizes(requests),
        metrics.read_rate(requests),
        _latency(requests, "read"),
        *writes,
        metrics.depth(requests, curve=trace.depths),
        metrics.littles_law(requests, curve=trace.depths).filter(
            pl.col("metric") != "depth_mean", pl.col("value").is_not_null()
        ),
    ]
    return _as_far_as_read(join_figures(parts), trace), []


def _as_far_as_read(figures: pl.DataFrame, trace: Trace) -> pl.DataFrame:
    """The figures; those of a log of which lines are not read, or read twice, have no bounds but those of counts."""
    unread, repeated = trace.unread_calls, trace.repeated
    if not unread and not repeated:
        return figures
    said = [f"{unread:,} of {trace.lines:,} lines were not read"] if unread else []
    said += [f"{repeated:,} requests are in the log twice"] if repeated else []
    is_count = pl.col("metric").is_in(_COUNTS) & (not repeated)
    caveats = pl.concat_str(
        pl.lit("; ".join(said)), pl.col("caveats").replace("", None), separator="; ", ignore_nulls=True
    )
    return figures.with_columns(
        lo=pl.when(is_count).then("lo"),
        hi=pl.lit(None, pl.Float64),
        caveats=pl.when(pl.col("value").is_not_null()).then(caveats).otherwise("caveats"),
    )


def _latency(requests: pl.DataFrame, op: Op, prefix: str = "") -> pl.DataFrame:
    """The latency of one kind of request, with the mode in the name of each metric."""
    mode = pl.col("mode").cast(pl.String)
    named = pl.concat_str(pl.lit(prefix), "metric", pl.lit(" ("), mode, pl.lit(")"))
    return metrics.read_latency(requests, op).with_columns(metric=named)


def timed_reads(reads: pl.LazyFrame) -> pl.DataFrame:
    """Reads with their time and what it is: the latency, else the gap to the process's next call, its upper bound."""
    source = pl.col("latency_from").cast(pl.String)
    is_bound = pl.col("latency").is_null() | source.is_in(["gap", "poll"])
    return (
        reads.with_columns(
            time=pl.coalesce("latency", "gap"),
            is_bound=is_bound.fill_null(value=True),
            sample=pl.concat_str(
                pl.col("mode").cast(pl.String),
                pl.when(is_bound).then(pl.lit(" (upper bound)")).otherwise(pl.lit("")),
            ),
        )
        .filter(pl.col("time").is_not_null())
        .collect()
    )


def summarize_trace(log: StraceLog) -> Summary:
    """The calls by name, how each file was read, the figures of the reads, and charts over time."""
    if log.summary is not None and log.kind == "strace_summary":
        return Summary({"summary": log.summary}, join_figures([]))
    trace = trace_of(log)
    frames, unknown = trace_frames(trace)
    figures, notes = trace_figures(trace)
    return Summary(frames, figures, (*unknown, *notes), _drawers(log, trace))


def _drawers(log: StraceLog, trace: Trace) -> dict[str, Callable[[str], Any]]:
    reads = trace.reads

    def of_times(draw: Callable[[pl.DataFrame, str], Any]) -> Callable[[str], Any]:
        def drawn(_: str) -> Any:  # noqa: ANN401 - a chart
            timed = timed_reads(reads)
            if timed.height < _LEAST_READS:
                raise charts.ChartError("too few reads have a time: their distribution would be of single steps")
            return draw(timed, "time until the next call at most" if timed["is_bound"].any() else "latency")

        return drawn

    return {
        "call_timeline": lambda _: charts.call_timeline.spec(log.calls.select(_OF_TIMELINE).collect()),
        "read_sizes": lambda _: charts.read_sizes.spec(reads.collect()),
        "ecdf": of_times(
            lambda timed, axis: charts.ecdf.spec(timed, value="time", by="sample", axis=axis, title="Latency of reads")
        ),
        "latency_heat_map": of_times(lambda timed, axis: charts.latency_heat_map.spec(timed, value="time", axis=axis)),
        "queue_depth": lambda _: charts.queue_depth.spec(trace.depths),
    }


def _span(log: StraceLog) -> tuple[datetime, datetime, bool] | None:
    if log.kind != "strace":
        return None
    wall = pl.col("wall").dt.replace_time_zone(None).dt.cast_time_unit("us")
    begin, end = log.events.select(wall.min().alias("begin"), wall.max().alias("end")).collect().row(0)
    return None if begin is None else (begin, end, True)


def headline(log: StraceLog) -> str:
    """Program, processes, calls and begin of a log, in one line.

    Examples:
        >>> import iolab
        >>> log = b'11:40:21.335138 execve("./reader", ["./reader"], 0x7ffd /* 0 vars */) = 0 <0.000186>'
        >>> headline(iolab.load(log))
        'strace log of ./reader, one process, 1 call, 11:40:21 (no date)'
    """
    if log.kind != "strace":
        return "strace -c summary"
    times = times_of(log)
    pids = times.calls.get_column("pid").unique()
    first = next((pid for pid in pids.sort() if pid not in times.parents and pid in times.programs), None)
    program = times.programs.get(first) or ""
    program = short_name(program) if program.startswith("/") else program
    processes = "one process" if len(pids) == 1 else f"{len(pids):,} {times.noun}"
    calls = count_text(int(times.calls.get_column("calls").sum()), "call")
    return f"strace log{f' of {program}' if program else ''}, {processes}, {calls}, {_begin(log)}"


def _begin(log: StraceLog) -> str:
    """When the log begins, as far as it says."""
    first = log.events.select("wall", "time_of_day").head(_FIRST_LINES).collect()
    wall, of_day = (first.get_column(name).drop_nulls() for name in ("wall", "time_of_day"))
    if len(wall):
        return f"{wall[0]:%Y-%m-%d %H:%M:%S} UTC"
    if len(of_day):
        return f"{of_day[0]:%H:%M:%S} (no date)"
    return "no clock (-r only)" if log.dialect.relative_ts != "none" else "no stamps"


VIEW: Final = View(
    summarize_trace,
    noun="trace",
    compare={"strace": on_use("iolab.comparison.traces:pair_traces")},
    compares_times=True,
    findings=trace_findings,
    looked_at="how files were opened and read, sizes and times of reads, where time went",
    ledgers=strace_ledgers,
    headline=headline,
    span=_span,
    pair_findings={"strace": trace_pair},
)
