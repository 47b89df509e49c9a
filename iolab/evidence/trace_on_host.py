"""A traced process beside samples of its host: requests and bytes of the same seconds, Little's law on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import polars as pl

from iolab.evidence.host_alignment import QUANTITIES, scope_of
from iolab.loading import as_log
from iolab.metrics.processors import IS_SAMPLE
from iolab.metrics.sql_trace import reads_of
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from hostparse import HostLog
    from logframe import Source
    from sqltraceparse import SqlTrace
    from straceparse import StraceLog

#: Columns of `TraceOnHost.figures`.
TRACE_ON_HOST: Final = pl.Schema(
    {"quantity": pl.String()}
    | dict.fromkeys(("process_lo", "process_hi", "host", "host_lo", "host_hi"), pl.Float64())
    | {"verdict": pl.String(), "samples": pl.Int64(), "covered_s": pl.Float64(), "explanation": pl.String()}
)
#: Columns of `TraceOnHost.sides`.
SIDES: Final = pl.Schema(
    {"side": pl.String(), "name": pl.String()}
    | dict.fromkeys(
        ("requests_per_s", "bytes_per_request", "latency_ms", "in_flight", "in_flight_expected", "littles_law_ratio"),
        pl.Float64(),
    )
)
#: What is compared, each an operation and a column of the requests.
_COMPARED: Final = ("read_requests", "read_bytes", "write_requests", "write_bytes")
#: A stamp of whole seconds says its time to one second.
_RESOLUTION_US: Final = 1_000_000
#: Both sides agree when they differ by less.
_CLOSE: Final = 0.02
_UTC: Final = frozenset({"UTC", "GMT", "Z"})
_SAID: Final = {
    "agrees": "the host saw as much as the process asked for",
    "more": "the host did more: other processes did I/O too",
    "less": "the host did less: a cache of the file system served the process, it reads over a network, or the clocks "
    "or hosts are not the same",
    "missing": "all devices of the log together did less: they are not those that served the process, or a cache did",
    "possible": "the devices did at least as much; those of several layers count a request more than once, so only "
    "host_hi is a bound",
}


@dataclass(frozen=True, slots=True)
class TraceOnHost:
    """What a process asked for, and what its host did in the same seconds.

    Attributes:
        figures: `TRACE_ON_HOST`, one row a quantity.  ``process_lo`` counts the requests that lie within the samples
            whatever the stamps were rounded from, ``process_hi`` those that can.  ``verdict``: `agrees`, `more`,
            `less`, and where the samples are of devices `missing` or `possible`.
        sides: `SIDES`: reads of the process, and of each device that did any: rate, mean size, mean latency, mean
            number in flight (of a device with its writes), the number that rates x latencies give, and their ratio
            (Little's law): one side whose ratio is far from 1 contradicts itself.
        begin: of the samples, on their clock.
        end: see `begin`.
        notes: what was assumed.
    """

    figures: pl.DataFrame
    sides: pl.DataFrame
    begin: datetime
    end: datetime
    notes: tuple[str, ...]


class _Trace(NamedTuple):
    """Requests with ``op``, ``start``, ``end`` (us, on the clock of the trace), ``requests`` and ``bytes``.

    Attributes:
        requests: one row each.
        is_local: the clock is that of the host, without a zone; else it is UTC.
        doubt_us: the clock is known to so much.
        notes: what was assumed.
    """

    requests: pl.DataFrame
    is_local: bool
    doubt_us: float
    notes: tuple[str, ...] = ()


def align_trace_with_host(
    trace: StraceLog | SqlTrace | Source,
    log: HostLog | Source,
    *,
    shift_s: float | None = None,
    block_size: int | None = None,
) -> TraceOnHost:
    """What a traced process asked for, beside what samples of its host saw in the same seconds.

    Only samples that lie within the time of the trace are added up: rate times seconds.  Requests near an edge of them
    may be on either side of it, as stamps are whole seconds: the process's figures have bounds.

    Limitations: a read that the file system's cache serves reaches no device; one request of a process can be several
    of a device, and several can be merged to one, so requests agree less well than bytes.

    Args:
        trace: an strace log (with ``-ttt`` and ``-T``) or a SQL trace with waits, as `iolab.load` gives them.
        log: what `hostparse.read_host` gives, with times.
        shift_s: seconds to add to the stamps of the samples, to get to the clock of the trace (UTC for strace, and for
            a SQL trace that prints a zone): -3600 where the host is at UTC+1.  By default the zone that the samples
            name.
        block_size: of the database, for the bytes of a SQL trace, which counts blocks.

    Raises:
        RefusedError: a clock has no date or its zone is not known, or no whole sample lies within the trace.
    """
    trace = as_log(trace, "strace", "sqltrace")
    log = as_log(log, "host")
    if trace.format == "sqltrace":
        found = _sql_trace(cast("SqlTrace", trace), block_size)
    else:
        found = _strace(cast("StraceLog", trace))
    shift_us, note = _shift(log, shift_s, is_local=found.is_local)
    scope = scope_of(log)
    rows = _timed(log.wide(scope, bounds=True), shift_us)
    first, last = found.requests.select(pl.col("start").min(), pl.col("end").max()).row(0)
    within = rows.filter(pl.col("start") >= first, pl.col("stop") <= last)
    if within.is_empty():
        raise RefusedError(
            f"no whole sample lies within the {(last - first) / 1e6:,.1f} s of the trace, on the clock of the samples; "
            "zones are not guessed"
        )
    spans = _spans(within)
    doubt = _RESOLUTION_US + found.doubt_us
    figures = []
    for quantity in _COMPARED:
        (op, column), (_, rate) = quantity.split("_"), QUANTITIES[quantity]
        own = found.requests.filter(op=op)
        if own.is_empty() or own.get_column(column).null_count() or rate not in within.columns:
            continue
        figures.append(_figure(quantity, own, column, within, rate, spans, doubt, is_device=scope == "device"))
    if not figures:
        raise RefusedError("the trace and the samples have no figure of bytes or requests in common")
    begin, end = within.select(pl.col("interval_start").min(), pl.col("interval_end").max()).row(0)
    sides = [*_process_side(found.requests.filter(op="read"), spans), *_device_sides(within, scope)]
    return TraceOnHost(
        pl.DataFrame(figures, schema=TRACE_ON_HOST, orient="row"),
        pl.DataFrame(sides, schema=SIDES, orient="row"),
        begin,
        end,
        tuple(one for one in (note, *found.notes) if one),
    )


def _strace(trace: StraceLog) -> _Trace:
    start = pl.col("wall").dt.epoch("us")
    requests = (
        trace.requests.filter(pl.col("op").cast(pl.String).is_in(["read", "write"]), pl.col("errno").is_null())
        .select(
            op=pl.col("op").cast(pl.String),
            start=start,
            end=start + pl.col("latency").dt.total_microseconds(),
            requests=pl.col("requests").cast(pl.Float64),
            bytes=pl.col("bytes_transferred").cast(pl.Float64),
        )
        .collect()
    )
    if requests.is_empty():
        raise RefusedError("the strace log has no read and no write")
    if requests.get_column("start").null_count():
        raise RefusedError("the strace log has no wall clock with the date; it needs -ttt")
    timed = requests.drop_nulls("end")
    if timed.is_empty():
        raise RefusedError("the strace log does not show how long a request took; it needs -T")
    left = requests.height - timed.height
    return _Trace(
        timed, is_local=False, doubt_us=0.0, notes=(f"{left:,} requests without an end are left out",) * (left > 0)
    )


def _sql_trace(trace: SqlTrace, block_size: int | None) -> _Trace:
    clocks = trace.clock.drop_nulls(["offset_us", "offset_lo_us", "offset_hi_us"])
    if clocks.is_empty():
        raise RefusedError("the stamps of the trace do not bound its clock; it needs a stamp between two of its lines")
    zones = clocks.get_column("zone_is_known").unique().to_list()
    if len(zones) > 1:
        raise RefusedError("some stamps of the trace have a zone and some have none; cut it where they change")
    width = clocks.select(
        pl.max_horizontal((pl.col(f"offset_{end}_us") - pl.col("offset_us")).abs() for end in ("lo", "hi")).max()
    ).item()
    end = pl.col("wall").dt.epoch("us")
    size = pl.lit(None, dtype=pl.Float64) if block_size is None else pl.col("blocks").cast(pl.Float64) * block_size
    waits = reads_of(trace.waits).filter(pl.col("wall").is_not_null())
    requests = waits.select(
        op=pl.lit("read"),
        start=end - pl.col("elapsed_us"),
        end=end,
        requests=pl.col("requests").fill_null(1).cast(pl.Float64),
        bytes=size,
    )
    if requests.is_empty():
        raise RefusedError("the trace has no wait for a read with a time")
    note = "" if block_size is not None else "no bytes: the trace counts blocks, and block_size is not given"
    return _Trace(requests, is_local=not zones[0], doubt_us=float(width), notes=(note,))


def _shift(log: HostLog, shift_s: float | None, *, is_local: bool) -> tuple[float, str]:
    """Microseconds from the clock of the samples to that of the trace, and what was assumed."""
    if shift_s is not None:
        return shift_s * 1e6, f"the stamps of the samples were moved by {shift_s:+,.0f} s, as given"
    zones = set(log.runs.get_column("zone").to_list())
    if is_local:
        raise RefusedError("the trace prints local time without a zone: its distance to UTC is not known")
    zone = zones.pop() if len(zones) == 1 else None
    if zone in _UTC:
        return 0.0, ""
    try:
        offset = datetime.strptime(zone or "", "%z").utcoffset()
    except ValueError:
        offset = None
    if offset is None:
        said = "without a zone" if zone is None else f"in {zone}, a name of several zones"
        raise RefusedError(f"the samples print local time {said}: its distance to UTC is not known")
    return -offset.total_seconds() * 1e6, ""


def _timed(rows: pl.DataFrame, shift_us: float) -> pl.DataFrame:
    """Samples with ``start`` and ``stop`` in us on the clock of the trace, and their ``seconds``."""
    rows = rows.filter(IS_SAMPLE).drop_nulls(["interval_start", "interval_end"])
    if rows.is_empty():
        raise RefusedError("the samples have no times, or none but the mean since the start of the system")
    return rows.with_columns(
        start=pl.col("interval_start").dt.epoch("us") + shift_us,
        stop=pl.col("interval_end").dt.epoch("us") + shift_us,
        seconds=(pl.col("interval_end") - pl.col("interval_start")).dt.total_microseconds() / 1e6,
    )


def _spans(rows: pl.DataFrame) -> list[tuple[float, float]]:
    """The stretches of time that samples cover without a gap."""
    spans: list[tuple[float, float]] = []
    for start, stop in rows.select("start", "stop").unique().sort("start", "stop").iter_rows():
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], stop))
        else:
            spans.append((start, stop))
    return spans


def _figure(
    quantity: str,
    requests: pl.DataFrame,
    column: str,
    rows: pl.DataFrame,
    rate: str,
    spans: list[tuple[float, float]],
    doubt: float,
    *,
    is_device: bool,
) -> tuple[object, ...]:
    """One row of `TRACE_ON_HOST`."""
    start, end = pl.col("start"), pl.col("end")
    certain = pl.any_horizontal((start >= low + doubt) & (end <= high - doubt) for low, high in spans)
    possible = pl.any_horizontal((end >= low - doubt) & (start <= high + doubt) for low, high in spans)
    low, high = requests.select(
        pl.col(column).filter(certain).sum().alias("low"), pl.col(column).filter(possible).sum().alias("high")
    ).row(0)
    value, host_lo, host_hi = rows.select(
        (pl.col(name) * pl.col("seconds")).sum() for name in (rate, f"{rate}_lo", f"{rate}_hi")
    ).row(0)
    if is_device:
        verdict = "missing" if host_hi < low else "possible"
        value = host_lo = None
    elif host_hi < low * (1 - _CLOSE):
        verdict = "less"
    else:
        verdict = "more" if host_lo > high * (1 + _CLOSE) else "agrees"
    samples = rows.select("run", "sample").unique().height
    covered = sum(high - low for low, high in spans) / 1e6
    return quantity, low, high, value, host_lo, host_hi, verdict, samples, covered, _SAID[verdict]


def _process_side(reads: pl.DataFrame, spans: list[tuple[float, float]]) -> list[tuple[object, ...]]:
    """The reads of the process within the samples."""
    seconds = sum(high - low for low, high in spans) / 1e6
    start, end = pl.col("start"), pl.col("end")
    overlap = pl.sum_horizontal(
        (pl.min_horizontal(end, high) - pl.max_horizontal(start, low)).clip(0) for low, high in spans
    )
    area = reads.select((overlap * pl.col("requests")).sum()).item() / 1e6 / seconds
    own = reads.filter(pl.any_horizontal((end > low) & (end <= high) for low, high in spans))
    if own.is_empty():
        return []
    count, size, waited = own.select(
        pl.col("requests").sum(),
        pl.when(pl.col("bytes").null_count() == 0).then(pl.col("bytes").sum() / pl.col("requests").sum()).alias("size"),
        ((end - start) * pl.col("requests")).sum().alias("waited") / 1e6,
    ).row(0)
    return [("process", None, count / seconds, size, 1e3 * waited / count, *_littles_law(waited, seconds, area))]


def _littles_law(waited: float | None, seconds: float, in_flight: float | None) -> tuple[float | None, ...]:
    """The mean number in flight, that which the seconds waited by all requests give, and their ratio."""
    expected = None if waited is None else waited / seconds
    return in_flight, expected, expected / in_flight if expected is not None and in_flight else None


def _device_sides(rows: pl.DataFrame, scope: str) -> list[tuple[object, ...]]:
    """The reads of each device that did any, of samples that say their time and number in flight."""
    if scope != "device" or "reads_per_s" not in rows.columns:
        return []
    found: list[tuple[object, ...]] = []
    for (device,), own in rows.partition_by("device", as_dict=True, maintain_order=True).items():
        seconds = float(own.get_column("seconds").sum())

        def total(name: str, own: pl.DataFrame = own) -> float | None:
            return None if name not in own.columns else float((own[name] * own["seconds"]).sum())

        def waited(kind: str, own: pl.DataFrame = own) -> float | None:
            if f"{kind}_await_ms" not in own.columns:
                return None
            rate = "flushes_per_s" if kind == "flush" else f"{kind}s_per_s"
            return float((own[rate] * own[f"{kind}_await_ms"].fill_null(0.0) * own["seconds"]).sum())

        reads, size, depth = total("reads_per_s"), total("read_bytes_per_s"), total("in_flight")
        if not reads:
            continue
        times = [waited(kind) for kind in ("read", "write", "discard", "flush")]
        all_ms = None if None in times[:2] else sum(time or 0.0 for time in times)
        per_read = (None if one is None else one / reads for one in (size, times[0]))
        mean = None if depth is None else depth / seconds
        waited_s = None if all_ms is None else all_ms / 1e3
        found.append(("device", device, reads / seconds, *per_read, *_littles_law(waited_s, seconds, mean)))
    return found
