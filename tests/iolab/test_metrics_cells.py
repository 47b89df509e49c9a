"""Waits for Exadata cells, what the cells measured, and the I/O figures of a report's page."""

from pathlib import Path

import polars as pl
import pytest

from awrparse import AwrReport
from iolab import load, metrics
from iolab.pages.report_io_figures import io_figures, reads_by_segment
from iolab.pages.report_summary import report_figures

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
SINGLE = "cell single block physical read"
FLASH, DISK = f"{SINGLE}: flash cache", f"{SINGLE}: harddisk"


def histogram(event: str, *buckets: tuple[float, float | None, float]) -> pl.DataFrame:
    """A histogram of 10,000 waits: from, to (us) and per cent."""
    rows = [
        {"event": event, "waits": 10_000, "section": None, "from_us": low, "to_us": high, "waits_pct": share}
        for low, high, share in buckets
    ]
    return pl.DataFrame(rows, schema_overrides={"section": pl.String, "to_us": pl.Float64})


def test_places_of_a_block_are_events_of_their_own() -> None:
    """Of 19c: flash and disk apart; smart scans and events with another name are no reads of blocks."""
    names = ["cell smart table scan", FLASH, "cell single block physical reader", DISK, None, FLASH]
    waits = pl.DataFrame(
        {"event": names, "waits": [50, 1000, 3, 40, 1, 7], "total_wait_s": [9.0, 0.4, 1.0, 0.6, 1.0, 7.0]}
    )
    found = metrics.cell_reads(waits)

    assert found.select("event", "value").rows() == [(FLASH, pytest.approx(0.4)), (DISK, pytest.approx(15.0))]
    assert metrics.cell_reads(waits.clear()).is_empty()


def test_outliers_are_a_share_of_the_waits() -> None:
    """Flash and 2 % of waits beyond an idle disk: p50 in flash, p99 open, 98 % within 16 ms; two events stay apart."""
    buckets = histogram(SINGLE, (0.0, 512.0, 90.0), (512.0, 16_000.0, 8.0), (16_000.0, None, 2.0))
    waits = pl.DataFrame({"event": [SINGLE], "waits": [10_000], "total_wait_s": [12.0]})
    found = {row["metric"]: row for row in metrics.cell_reads(waits, buckets).iter_rows(named=True)}

    assert (found["wait_us_p50"]["lo"], found["wait_us_p50"]["hi"]) == (0.0, 512.0)
    assert (found["wait_us_p99"]["lo"], found["wait_us_p99"]["hi"]) == (16_000.0, None)
    assert found["share_within_16000_us"]["value"] == pytest.approx(0.98)


def cells(mean: float, sd: float, *beyond: str) -> pl.DataFrame:
    """What a report prints of small reads from one type of disk, and the cells that it names."""
    rows = [
        {"cell": "All", "disk": None, "mean": mean, "sd": sd},
        {"cell": "All", "disk": "All", "mean": mean, "sd": sd},
    ]
    rows += [{"cell": name, "disk": None, "mean": 9 * mean, "sd": None} for name in beyond]
    fixed = {"section": "server_latency", "disk_type": "H", "measure": "Small Read (ms)"}
    return pl.DataFrame([fixed | row for row in rows], schema_overrides={"disk": pl.String, "sd": pl.Float64})


def test_the_slowest_disk_and_the_cells_beyond_the_range() -> None:
    """The slowest disk as a multiple of the mean; a row of a cell is no disk; what the report names is counted."""
    latency = pl.DataFrame(
        {"disk_type": ["H", "H", "H", "F"], "cell": ["c1", "c1", "c2", "c9"], "disk": [None, "CD_00", "CD_01", "FD_00"],
         "small_read_ms": [99.0, 6.0, 14.0, 77.0]}
    )  # fmt: skip
    found = metrics.cell_disks(cells(7.0, 2.0, "c1"), latency)

    values = dict(found.select("metric", "value").iter_rows())
    assert values == {"small_read_ms": 7.0, "small_read_slowest": 2.0, "small_read_beyond_range": 1.0}
    assert "CD_01 of c2" in found.filter(metric="small_read_slowest").item(0, "basis")


def test_a_mean_of_a_few_huge_requests_is_refused() -> None:
    """A standard deviation of seventy means: the mean is the time of no request."""
    found = metrics.cell_disks(cells(3870.0, 269_167.0), pl.DataFrame(schema={"disk_type": pl.String, "cell": pl.String,
                               "disk": pl.String, "small_read_ms": pl.Float64}))  # fmt: skip

    refused = found.filter(metric="small_read_ms").row(0, named=True)
    assert refused["value"] is None
    assert "a few requests make the mean" in refused["caveats"]


def test_the_figures_of_a_report_say_what_they_are_about() -> None:
    """Multiblock reads and commits where the tables are there; every name is of one row."""
    (path,) = SERIES.glob("*_4107_4108.txt")
    report = load(path)
    assert isinstance(report, AwrReport)
    figures, _ = report_figures(report)

    names = figures.get_column("metric")
    assert not names.is_duplicated().any()
    assert {"log_write_ms", "effective_mbrc"} & set(names)
    assert pl.concat([*io_figures(report)]).height
    shares = reads_by_segment(report)
    if shares.height:
        assert shares["cumulative_pct"].is_sorted()
        assert shares["share_pct"].sum() == pytest.approx(shares["cumulative_pct"][-1])
