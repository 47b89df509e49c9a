"""Metrics of real reports: what a report prints about one quantity is consistent, and so is its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from awrparse import read_awr
from iolab import metrics

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.corpus
def test_real_reports_do_not_contradict_themselves(corpus: Path) -> None:
    """Every average is time over waits within rounding, and the inferred length agrees with the header's."""
    paths = [path for path in sorted((corpus / "awr").rglob("*.txt")) if "_snippets" not in path.parts]
    assert paths
    averages, lengths = 0, 0
    for path in paths:
        report = read_awr(path, printed=True)
        tables = [report.with_bounds(name) for name in ("top_events", "wait_classes", "foreground_events")]
        assert metrics.contradictions(*tables) == [], path
        averages += sum(metrics.average_waits(table).height for table in tables)
        header, inferred = metrics.elapsed_of(report), metrics.figure_of(metrics.elapsed(tables[1]))
        if header is not None and inferred is not None:
            metrics.intersect([header, inferred])  # refuses figures that are not of one quantity
            lengths += 1

    assert averages > 100
    assert lengths > 0


@pytest.mark.corpus
def test_percentiles_of_single_block_reads_are_bounded(corpus: Path) -> None:
    """Median, 95th and 99th percentile lie between two printed edges in every report that has the event's histogram.

    Reports from 12.2 on print 512 us as the last edge of their first table: their later sections bound the rest.
    """
    bounded, late = 0, 0
    paths = [path for path in sorted((corpus / "awr").rglob("*")) if path.suffix in {".html", ".txt"}]
    for path in paths:
        report = read_awr(path, printed=True)
        histogram = report.with_bounds("event_histogram") if "event_histogram" in report else pl.DataFrame()
        if histogram.is_empty() or "db file sequential read" not in histogram["event"]:
            continue
        found = metrics.latency_quantiles(histogram, events=["db file sequential read"])
        assert found["metric"].to_list() == ["wait_us_p50", "wait_us_p95", "wait_us_p99"], path
        assert found["hi"].null_count() == 0, path
        assert (found["lo"] < found["hi"]).all(), path
        bounded += 1
        late += report.info.version >= (12, 2)

    assert (bounded, late) == (27, 9)
