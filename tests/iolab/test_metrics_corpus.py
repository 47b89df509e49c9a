"""Metrics of real reports: what a report prints about one quantity is consistent, and so is its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
