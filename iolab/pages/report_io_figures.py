"""The I/O figures of a report for its page: commits, multiblock reads, cells, and the busiest functions and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab import metrics
from iolab.metrics.table import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse import AwrReport

#: This many functions and file types have figures, and this many segments a row.
_MOST: Final = 3
_MOST_SEGMENTS: Final = 10
_IOSTAT: Final = {"iostat_function": "function", "iostat_filetype": "filetype"}
#: Segments and files by what was read of them: the order of the section, the statistic of the whole, the column.
_CACHE_READS: Final = "physical reads cache"
_BLOCKS_READ: Final = "physical reads"


def io_figures(report: AwrReport) -> Iterator[pl.DataFrame]:
    """Metrics of the I/O tables that a report has (`iolab.metrics.METRICS`); what a metric is about is in its name."""
    elapsed = metrics.elapsed_of(report)
    foreground, background = (report.with_bounds(name) for name in ("foreground_events", "background_events"))
    histogram = report.with_bounds("event_histogram") if "event_histogram" in report else None
    if "foreground_events" in report and "background_events" in report:
        yield metrics.commit_times(foreground, background, elapsed, histogram).filter(pl.col("value").is_not_null())
        cached, blocks = (metrics.statistic(report, name) for name in (_CACHE_READS, _BLOCKS_READ))
        if cached is not None:
            found = metrics.multiblock_reads(foreground, background, cache_reads=cached, blocks_read=blocks)
            yield found.filter(pl.col("metric") != "direct_share")  # also a metric of the statistics
    if "foreground_events" in report:
        yield _named(metrics.cell_reads(foreground, histogram), "event")
    if "exadata_outliers" in report:
        disks = metrics.cell_disks(report.with_bounds("exadata_outliers"), report.with_bounds("exadata_server_latency"))
        yield _named(disks, "disk_type")
    for table, key in _IOSTAT.items():
        if table in report:
            found = metrics.io_by_function(report.with_bounds(table), elapsed).filter(pl.col("value") > 0)
            moved = found.filter(pl.col("metric").is_in(["read_mb_per_s", "write_mb_per_s"]))
            total = moved.group_by(key, maintain_order=True).agg(pl.col("value").sum())
            busiest = total.sort("value", descending=True, maintain_order=True).head(_MOST)
            yield _named(found.filter(pl.col(key).is_in(busiest.get_column(key).to_list())), key)


def _named(frame: pl.DataFrame, key: str) -> pl.DataFrame:
    """Metrics whose name says what they are about."""
    return frame.with_columns(metric=pl.concat_str("metric", pl.lit(": "), key)).select(list(METRICS))


def reads_by_segment(report: AwrReport) -> pl.DataFrame:
    """The segments with most blocks read: their own share of all blocks read, and that of all down to them, in %.

    Without rows where the report has no such section, or where the figures contradict each other.
    """
    empty = pl.DataFrame(schema={"segment": pl.String(), "share_pct": pl.Float64(), "cumulative_pct": pl.Float64()})
    whole = metrics.statistic(report, _BLOCKS_READ)
    if "segments" not in report or whole is None or whole.lo <= 0:
        return empty
    rows = report.with_bounds("segments").filter(ordered_by="physical_reads")
    names = [name for name in ("pdb", "owner", "object", "subobject") if name in rows.columns]
    found = metrics.pareto(rows, "value", names=names, whole=whole, largest=_MOST_SEGMENTS)
    known = found.filter(pl.col("value").is_not_null())
    own = pl.col("value").diff().fill_null(pl.col("value"))
    return known.select(segment="name", share_pct=100 * own, cumulative_pct=100 * pl.col("value"))
