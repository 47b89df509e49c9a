"""What the operating system saw of the storage, beside what the database counted: bytes and requests of one window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse import AssumedClock
from iolab.loading import as_log
from iolab.metrics.lookups import statistic
from iolab.metrics.processors import IS_SAMPLE
from logframe.errors import RefusedError

if TYPE_CHECKING:
    from datetime import datetime

    from awrparse import AwrReport
    from hostparse import HostLog
    from logframe import Source

#: Columns of `align_host`.
ALIGNED: Final = pl.Schema(
    {"quantity": pl.String()}
    | dict.fromkeys(("database", "host", "host_lo", "host_hi", "ratio"), pl.Float64())
    | {"verdict": pl.String(), "samples": pl.Int64(), "covered_s": pl.Float64(), "explanation": pl.String()}
)
#: Quantity -> statistic of the database, column of the samples.
QUANTITIES: Final = {
    "read_bytes": ("physical read total bytes", "read_bytes_per_s"),
    "write_bytes": ("physical write total bytes", "write_bytes_per_s"),
    "read_requests": ("physical read total IO requests", "reads_per_s"),
    "write_requests": ("physical write total IO requests", "writes_per_s"),
}
#: Both sides agree when they differ by less: what stamps of whole seconds cannot tell from equal.
_CLOSE: Final = 0.02
#: A report in text names its host by this many characters.
HOST_WIDTH: Final = 16

_MISSING: Final = (
    "the devices that served the database are not among these, as all of them together did less; no latency and no "
    "utilisation of the database's storage can be taken from this log"
)
_ALL_LAYERS: Final = (
    "all devices of all layers together: the same request may count more than once, so only hi is a bound"
)
_HOST_WIDE: Final = (
    "all block I/O of the host, each request once; reads served by the file system's cache are not in it"
)


class _Window(NamedTuple):
    """The samples within a report's time.

    Attributes:
        rows: the samples with ``weight`` (seconds within the window) and ``is_whole``.
        covered_s: seconds of the window that samples cover; None without times.
        note: what had to be assumed.
    """

    rows: pl.DataFrame
    covered_s: float | None
    note: str


def align_host(
    report: AwrReport | Source, log: HostLog | Source, *, first_end: datetime | None = None, step_s: float | None = None
) -> pl.DataFrame:
    """What samples of the operating system saw of the bytes and requests that a report counted.

    Samples within the report's time are added up: rate times seconds.  A sample that the begin or the end cuts counts
    by its share, and its bounds are nothing and all of it; time without a sample may have had the busiest one's rate.
    Means since the start of the system are left out.  vmstat
    counts each request once; of devices all layers together are an upper bound, and no ratio is given.

    Args:
        report: what `awrparse.read_awr` gives.
        log: what `hostparse.read_host` gives.
        first_end: for a log without times: the end of its first report, on the clock of the report.
        step_s: for a log without times: the seconds between its reports; by default both are those of ``log.clock``.

    Returns:
        The columns `ALIGNED`, one row a quantity.  ``verdict``: `agrees` (within the bounds, or within 2 %), `more`
        (other programs did I/O too), `less`, `missing` (no device of the log can have served the database), `part` (the
        samples cover a part of the time only), `possible` (the devices did at least as much), `unknown`.  A log without
        times and without `first_end` can only say `missing`: even its busiest sample is below the database's mean rate.

    Raises:
        RefusedError: the report has no begin and end, the log is of another host, or has no rates of bytes or requests.
    """
    report = as_log(report, "awr")
    log = as_log(log, "host")
    begin, end = report.info.begin_time, report.info.end_time
    if begin is None or end is None or end <= begin:
        raise RefusedError("the report does not say when it begins and ends")
    check_host(report, log)
    scope = scope_of(log)
    rows = log.wide(scope, bounds=True).filter(IS_SAMPLE)
    if rows.is_empty():
        raise RefusedError("the log has no sample but the mean since the start of the system")
    clock = log.clock if first_end is None or step_s is None else AssumedClock(first_end, step_s)
    window = _window(rows, begin, end, clock)
    seconds = (end - begin).total_seconds()
    found = []
    for quantity, (name, column) in QUANTITIES.items():
        counted = statistic(report, name)
        if counted is None or column not in rows.columns or rows.get_column(column).null_count() == rows.height:
            continue
        found.append(_aligned(quantity, counted.value, column, window, seconds, is_device=scope == "device"))
    if not found:
        raise RefusedError("the report and the samples have no figure of bytes or requests in common")
    return pl.DataFrame(found, schema=ALIGNED, orient="row")


def check_host(report: AwrReport, log: HostLog) -> None:
    """Refuse samples of another host; names are compared without domain, as far as a report prints them.

    Raises:
        RefusedError: The samples are of several hosts, or of another one than the report.
    """
    hosts = set(log.runs.get_column("host").drop_nulls())
    host = report.info.host
    if len(hosts) > 1:
        raise RefusedError(f"the samples are of {len(hosts)} hosts: {', '.join(sorted(hosts)[:3])}")
    for name in hosts:
        short, other = name.partition(".")[0].lower(), (host or "").partition(".")[0].lower()
        if host is not None and short[:HOST_WIDTH] != other[:HOST_WIDTH]:
            raise RefusedError(f"the report is of host {host}, the samples are of {name}")


def scope_of(log: HostLog) -> str:
    """The table that counts bytes or requests: the whole host where there is one, else the devices.

    Raises:
        RefusedError: There is no such table.
    """
    wanted = {rate for _, rate in QUANTITIES.values()}
    for scope in ("host", "device"):
        if scope in log.scopes and wanted & set(log.scan(scope).collect_schema().names()):
            return scope
    raise RefusedError("the samples have no rates of bytes or requests")


def _window(rows: pl.DataFrame, begin: datetime, end: datetime, clock: AssumedClock | None) -> _Window:
    """The samples within a time, with the seconds of each that lie in it."""
    note = ""
    if clock is not None:
        first_end, step_s, why = clock
        at = pl.lit(first_end).cast(pl.Datetime("us")) + pl.duration(
            microseconds=((pl.col("sample").cast(pl.Float64) - 1) * step_s * 1e6).cast(pl.Int64)
        )
        rows = rows.with_columns(interval_end=at, interval_start=at - pl.duration(microseconds=int(step_s * 1e6)))
        note = f"times assumed: the first report ended at {first_end:%Y-%m-%d %H:%M:%S}, one every {step_s:g} s"
        note += f" ({why})" if why else ""
    timed = rows.drop_nulls(["interval_start", "interval_end"])
    if timed.is_empty():
        return _Window(rows.with_columns(weight=pl.lit(None, dtype=pl.Float64)), None, "the log has no times")
    start = pl.max_horizontal("interval_start", pl.lit(begin).cast(pl.Datetime("us")))
    stop = pl.min_horizontal("interval_end", pl.lit(end).cast(pl.Datetime("us")))
    within = (stop - start).dt.total_microseconds() / 1e6
    length = (pl.col("interval_end") - pl.col("interval_start")).dt.total_microseconds() / 1e6
    timed = timed.with_columns(weight=within, length=length).filter(pl.col("weight") > 0)
    if timed.is_empty():
        raise RefusedError(
            f"no sample lies within the report's time, {begin:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S}, on the clock of "
            "the log; zones are not guessed"
        )
    timed = timed.with_columns(is_whole=pl.col("weight") >= pl.col("length"))
    spans = timed.select("interval_start", "interval_end", "weight").unique(["interval_start", "interval_end"])
    return _Window(timed, float(spans.get_column("weight").sum()), note)


def _aligned(
    quantity: str, database: float, column: str, window: _Window, seconds: float, *, is_device: bool
) -> tuple[object, ...]:
    """One row of `ALIGNED`."""
    rows = window.rows
    explanation = _ALL_LAYERS if is_device else _HOST_WIDE
    count = rows.select("run", "sample").unique().height
    notes = [explanation, window.note] if window.note else [explanation]
    samples = rows.group_by("run", "sample").agg(pl.col(f"{column}_hi").sum())
    busiest = float(samples.select(pl.col(f"{column}_hi").max()).item())
    if window.covered_s is None:
        most = busiest * seconds
        verdict = "missing" if is_device and most < database else "unknown"
        notes.append("hi is the busiest sample for the whole time: an assumption that the samples cover it")
        said = [_MISSING, *notes] if verdict == "missing" else notes
        return quantity, database, None, None, most, None, verdict, count, None, "; ".join(said)
    weight = pl.col("weight")
    value, lo, hi = rows.select(
        (pl.col(column) * weight).sum().alias("value"),
        (pl.col(f"{column}_lo") * weight).filter("is_whole").sum().alias("lo"),
        (pl.col(f"{column}_hi") * pl.col("length")).sum().alias("hi"),
    ).row(0)
    longest = float(rows.select(pl.col("length").max()).item())
    is_part = window.covered_s < seconds - 2 * longest
    # in the time that no sample covers, the rate may have been that of the busiest one
    hi += max(seconds - window.covered_s, 0.0) * busiest
    if is_part:
        verdict = "part"
        notes.append(
            f"samples cover {window.covered_s:,.0f} of {seconds:,.0f} s: a total of them is no total of the time"
        )
    elif is_device:
        verdict = "missing" if hi < database else "possible"
        notes = [_MISSING, *notes] if verdict == "missing" else notes
    else:
        agrees = lo <= database <= hi or abs(value - database) <= _CLOSE * database
        verdict = "agrees" if agrees else "less" if value < database else "more"
    shown = (None, None) if is_device else (value, lo)
    ratio = None if is_device or is_part or not database else value / database
    return quantity, database, *shown, hi, ratio, verdict, count, window.covered_s, "; ".join(notes)
