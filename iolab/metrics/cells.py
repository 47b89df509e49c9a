"""Reads from Exadata storage cells: what sessions waited, and what the cells measured of flash and disks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.awr import average_waits
from iolab.metrics.histograms import latency_quantiles, waits_within
from iolab.metrics.table import METRICS, Metric, metrics_frame
from logframe.interval import row_figure, show

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Waits for blocks from cells; from 19c on the event may say from where: `...: flash cache`, `...: xrmem cache`.
_READS: Final = (
    "cell single block physical read",
    "cell multiblock physical read",
    "cell list of blocks physical read",
)
#: A read from flash takes less, one from an idle disk no more.
_SLOW_US: Final = 16_000.0
#: What cells measure of requests, and the columns of the disks.
_MEASURES: Final = {
    "Small Read (ms)": "small_read_ms",
    "Large Read (ms)": "large_read_ms",
    "Small Write (ms)": "small_write_ms",
    "Large Write (ms)": "large_write_ms",
}
_ALL: Final = "All"
#: With a standard deviation of this many means, few requests make the mean.
_WILD: Final = 3.0


def cell_reads(
    foreground: pl.DataFrame, event_histogram: pl.DataFrame | None = None, *, slow_us: float = _SLOW_US
) -> pl.DataFrame:
    """How long sessions waited for blocks from cells: the average, percentiles, and the share of outliers.

    Flash answers within a millisecond and an idle disk within about 16, so a longer wait is one for a queue or a retry.
    Where the event says from where the block came (19c: `cell single block physical read: flash cache`) each place is
    a row of its own; in older releases one event holds both, and its average is of neither.

    Source: Oracle Exadata Storage Server Software User's Guide, cell wait events; the report's wait event histograms.

    Limitations: a wait for several blocks (`cell list of blocks physical read`) is not one read.  Smart scans have
    waits of their own (`cell smart table scan`), which are no latencies of reads.  The histogram holds background
    waits, too; where it has no edge at ``slow_us``, the share is known between bounds only.

    Args:
        foreground: the table `foreground_events` of a report, with its bounds.
        event_histogram: its table `event_histogram`, with its bounds, where it has one.
        slow_us: from this time on a wait is an outlier.

    Returns:
        Rows for each event: ``event``, then `METRICS`: ``avg_wait_ms``, ``wait_us_p50``, ``wait_us_p95``,
        ``wait_us_p99`` and ``share_within_16000_us`` (of the waits that are no outliers).

    Examples:
        >>> waits = pl.DataFrame({"event": ["cell single block physical read: flash cache", "log file sync"],
        ...     "waits": [1000, 10], "total_wait_s": [0.4, 1.0], "avg_wait_ms": [0.4, 100.0]})
        >>> cell_reads(waits).select("event", "metric", "value").rows()
        [('cell single block physical read: flash cache', 'avg_wait_ms', 0.4)]
    """
    is_read = pl.any_horizontal((pl.col("event") == one) | pl.col("event").str.starts_with(f"{one}:") for one in _READS)
    reads = foreground.filter(is_read.fill_null(value=False)).unique("event", keep="first", maintain_order=True)
    parts = [average_waits(reads)]
    if event_histogram is not None and reads.height:
        events = reads.get_column("event").to_list()
        parts.append(latency_quantiles(event_histogram, events=events))
        parts.append(waits_within(event_histogram, to_us=slow_us, events=events))
    found = pl.concat([part.select("event", *METRICS) for part in parts])
    order = {event: place for place, event in enumerate(reads.get_column("event"))}
    return found.sort(pl.col("event").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)


def cell_disks(outliers: pl.DataFrame, latency: pl.DataFrame) -> pl.DataFrame:
    """What cells measured of requests to flash and disks: the mean of each type, and the slowest disk beside it.

    The mean of a type is refused where its standard deviation is three times the mean or more: then a few requests of
    minutes make it, and it is the time of none.  ``slowest`` is the slowest disk that the report lists, as a multiple
    of the mean; ``beyond_range`` counts the cells and disks that the report itself names as beyond its normal range.

    Source: Oracle Database Reference, AWR report sections `Exadata Cell Server IO Latency`; one standard deviation
    around the mean is the report's normal range of cells, two that of disks.

    Limitations: of all databases on the cells, and of smart scans, too; times hold the queue of the cells'
    resource manager.  A disk that is not among the slowest ones listed may still be slow.

    Args:
        outliers: the table `exadata_outliers` of a report, with its bounds.
        latency: its table `exadata_server_latency`, with its bounds.

    Returns:
        Rows for each type of disk and kind of request: ``disk_type``, then `METRICS`: such as ``small_read_ms``,
        ``small_read_slowest`` (x), ``small_read_beyond_range`` (a count).

    Examples:
        >>> outliers = pl.DataFrame({"section": ["server_latency"], "disk_type": ["F"], "cell": ["All"],
        ...     "disk": ["All"], "measure": ["Small Read (ms)"], "mean": [0.5], "sd": [0.1]})
        >>> disks = pl.DataFrame({"disk_type": ["F"], "cell": ["c1"], "disk": ["FD_00"], "small_read_ms": [2.0]})
        >>> cell_disks(outliers, disks).select("metric", "value").rows()
        [('small_read_ms', 0.5), ('small_read_slowest', 4.0), ('small_read_beyond_range', 0.0)]
    """
    rows = outliers.filter(section="server_latency").filter(pl.col("measure").is_in(list(_MEASURES)))
    types: list[str] = []
    made: list[Metric] = []
    of_disks = rows.filter(cell=_ALL, disk=_ALL)
    for row in of_disks.iter_rows(named=True):
        column = _MEASURES[row["measure"]]
        beyond = rows.filter(disk_type=row["disk_type"], measure=row["measure"]).filter(pl.col("cell") != _ALL)
        listed = latency.filter(pl.col("disk_type") == row["disk_type"], pl.col("disk").is_not_null())
        metrics = _of_disks(row, column, listed, beyond.height)
        types += [row["disk_type"]] * len(metrics)
        made += metrics
    return metrics_frame(made, disk_type=pl.Series(types, dtype=pl.String))


def _of_disks(row: dict[str, object], column: str, listed: pl.DataFrame, beyond: int) -> Sequence[Metric]:
    """Mean, slowest disk and number beyond the range, of one kind of request to one type of disk."""
    mean, spread = row_figure(row, "mean"), row_figure(row, "sd")
    name = column.removesuffix("_ms")
    basis = f"mean of {row['measure']} over the disks of type {row['disk_type']}"
    found = Metric(f"{name}_beyond_range", float(beyond), float(beyond), float(beyond), "", "cells and disks named")
    if mean is None:
        return [Metric.refused(column, "ms", "the report does not show it", basis=basis), found]
    if spread is not None and spread.lo >= _WILD * mean.hi:
        reason = f"its standard deviation is {show(spread)} ms: a few requests make the mean of {show(mean)} ms"
        return [Metric.refused(column, "ms", reason, basis=basis), found]
    metrics = [Metric(column, mean.value, mean.lo, mean.hi, "ms", basis), found]
    slowest = listed.filter(pl.col(column).is_not_null()).sort(column, descending=True, maintain_order=True)
    if slowest.height and mean.lo > 0:
        one = slowest.row(0, named=True)
        time = row_figure(one, column)
        if time is not None:
            ratio = time / mean
            basis = f"{one['disk']} of {one['cell']}, {show(time)} ms, over the mean of its type"
            metrics.insert(1, Metric(f"{name}_slowest", ratio.value, ratio.lo, ratio.hi, "x", basis))
    return metrics
