"""Claims of the source articles that their own figures contradict."""

from pathlib import Path

import polars as pl
import pytest

from awrparse import read_awr
from iolab import metrics

ARTICLES = Path(__file__).parents[2] / "sample_data" / "articles"


@pytest.mark.parametrize(("name", "share", "most"), [("setall", 0.0095, 0.01), ("none", 0.0385, 0.04)])
def test_the_processors_were_idle(name: str, share: float, most: float) -> None:
    """The claim "choked by CPU": sessions used below 1 % of one CPU with SETALL, and below 4 % with NONE."""
    report = read_awr(ARTICLES / f"003_filesystemio_{name}.txt")
    row = report.with_bounds("top_events").filter(pl.col("event") == "DB CPU").row(0, named=True)
    seconds = metrics.Interval(row["total_wait_s"], row["total_wait_s_lo"], row["total_wait_s_hi"])
    elapsed = metrics.figure_of(metrics.elapsed(report.with_bounds("wait_classes")))
    assert elapsed is not None

    used = seconds / elapsed

    assert used.value == pytest.approx(share, abs=5e-4)
    assert used.hi < most
