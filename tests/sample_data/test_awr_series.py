"""The series of AWR reports: reproducible, read whole in both forms, its figures consistent as those of an instance."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sample_scripts import sample_script

from awrparse import AwrReport, read_awr
from iolab.metrics import class_shares, contradictions, elapsed, elapsed_of, latency_quantiles

SAMPLE_DATA = Path(__file__).resolve().parents[2] / "sample_data"
MAKE, SERIES = SAMPLE_DATA / "make", SAMPLE_DATA / "awr_series"
REPORTS = sorted(path for path in SERIES.iterdir() if path.stat().st_size > 1000)
#: Every canonical table that the reports have.
TABLES = {
    *("info", "databases", "instances", "hosts", "snapshots", "load_profile", "instance_efficiency", "host_cpu"),
    *("cache_sizes", "os_stats", "instance_activity", "parameters", "top_events", "wait_classes"),
    *("foreground_wait_classes", "foreground_events", "background_events", "event_histogram", "time_model", "sql"),
    *("iostat_function", "iostat_filetype", "tablespace_io"),
}


@pytest.fixture(scope="module")
def make() -> Any:  # noqa: ANN401 - a script, as a module
    """The script that writes the series."""
    return sample_script("make_awr_series")


@pytest.fixture(scope="module")
def reports() -> list[AwrReport]:
    """The reports, read."""
    return [read_awr(path, printed=True) for path in REPORTS]


def value_of(report: AwrReport, table: str, statistic: str, column: str) -> float:
    """A figure of a table of statistics."""
    return float(report[table].filter(pl.col("statistic") == statistic).item(0, column))


def test_series_is_reproducible(tmp_path: Path) -> None:
    """The script writes the very files that are committed: same names, same bytes."""
    subprocess.run([sys.executable, "-B", MAKE / "make_awr_series.py", tmp_path], check=True, capture_output=True)
    committed = {path.name: path.read_bytes() for path in SERIES.iterdir()}

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_report_is_read_whole(path: Path) -> None:
    """Each of the twelve has all its tables, nothing that is not understood, and no figures that contradict."""
    report = read_awr(path, printed=True)

    assert len(REPORTS) == 12
    assert set(report.tables) == TABLES
    assert report.diagnostics.rows() == []
    assert report.check().rows() == []
    assert contradictions(*(report[name] for name in ("top_events", "wait_classes", "foreground_events"))) == []


def test_both_forms_are_there() -> None:
    """Eleven reports are text, one is HTML, and one file is what SQL*Plus printed instead of a report."""
    forms = [path.suffix for path in REPORTS]
    others = [path for path in SERIES.iterdir() if path not in REPORTS]

    assert (forms.count(".txt"), forms.count(".html")) == (11, 1)
    assert ["ORA-20200" in path.read_text(encoding="utf-8") for path in others] == [True]


@pytest.mark.parametrize("number", [0, 4, 7])
def test_text_and_html_of_an_hour_agree(make: Any, number: int) -> None:  # noqa: ANN401 - a module
    """The same hour in both forms gives the same frames, but for names that text cuts."""
    hour = make.plan_hours()[number]
    text, page = (read_awr(make.write_report(hour, form).encode()) for form in ("text", "html"))

    assert (text.form, page.form) == ("text", "html")
    for name in sorted(TABLES - {"info", "iostat_function", "event_histogram"}):
        is_cut = [column for column in text[name].columns if column.endswith("_printed")]
        assert text[name].drop(is_cut).rows() == page[name].drop(is_cut).rows(), name
    assert (
        text["event_histogram"]
        .drop("event_printed", "event")
        .equals(page["event_histogram"].drop("event_printed", "event"))
    )


def test_waits_add_up(reports: list[AwrReport]) -> None:
    """Waits of a class are those of its events; DB time holds CPU and waits; idle waits are in neither."""
    for report in reports:
        classes = report["foreground_wait_classes"].drop_nulls("waits")
        events = report["foreground_events"].drop_nulls("db_time_pct")

        assert classes["waits"].sum() == events["waits"].sum()
        accounted = report["foreground_wait_classes"]["total_wait_s"].sum()
        db_time = value_of(report, "time_model", "DB time", "time_s")
        assert 0.97 < accounted / db_time < 1.0
        assert class_shares(report["wait_classes"], db_time)["value"].null_count() == 0


def test_rates_are_totals_over_the_elapsed_time(reports: list[AwrReport]) -> None:
    """The load profile, the statistics of the instance and the I/O tables show the same reads and gets."""
    for report in reports:
        seconds = elapsed_of(report)
        assert seconds is not None
        for line, statistic in (
            ("Physical read (blocks)", "physical reads"),
            ("Logical read (blocks)", "session logical reads"),
            ("Read IO requests", "physical read IO requests"),
            ("Executes (SQL)", "execute count"),
        ):
            rate = value_of(report, "load_profile", line, "per_second")
            total = value_of(report, "instance_activity", statistic, "total")

            assert total / seconds.hi - 0.05 <= rate <= total / seconds.lo + 0.05
        reads = value_of(report, "instance_activity", "physical reads", "total")
        size = value_of(report, "instance_activity", "physical read bytes", "total")
        assert size == reads * 8192
        by_function = report["iostat_function"].filter(pl.col("is_total")).item(0, "read_bytes")
        total_size = value_of(report, "instance_activity", "physical read total bytes", "total")
        assert math.isclose(by_function, total_size, rel_tol=0.06)


def test_classes_tell_the_length_of_the_period(reports: list[AwrReport]) -> None:
    """Time / average active sessions of the classes allow the elapsed time of the head."""
    for report in reports:
        inferred, head = elapsed(report["wait_classes"]).row(0, named=True), elapsed_of(report)

        assert head is not None
        assert inferred["lo"] <= head.hi
        assert head.lo <= inferred["hi"]


def test_histograms_agree_with_their_waits(reports: list[AwrReport]) -> None:
    """Shares of an event add up to 100 %, and the average of its waits lies between the edges of where they can be."""
    for report in reports:
        histogram = report["event_histogram"]
        assert latency_quantiles(histogram)["value"].null_count() == 0
        reads = histogram.filter(pl.col("event") == "db file sequential read")
        average = (
            report["foreground_events"].filter(pl.col("event") == "db file sequential read").item(0, "avg_wait_ms")
        )
        share = pl.col("waits_pct") / 100
        sums = reads.select(
            least=(share * pl.col("from_us")).sum(), most=(share * pl.col("to_us").fill_null(60e6)).sum()
        )
        least, most = sums.row(0)

        assert least / 1000 <= average <= most / 1000 + 0.01


def test_the_night_has_what_is_said_of_it(make: Any) -> None:  # noqa: ANN401 - a module
    """A batch on both sides of the restart, a quiet hour, a hole, and a buffer cache that grows within an hour."""
    hours = make.plan_hours()
    kinds = [(hour.kind, hour.has_page_cache) for hour in hours]

    assert {("batch", True), ("batch", False), ("quiet", True), ("morning", False)} <= set(kinds)
    assert [hour.begin_snap for hour in hours if hour.cache_mb[0] != hour.cache_mb[1]] == [4114]
    assert sorted({hour.startup for hour in hours}) == [make.STARTED, make.RESTARTED]
    assert all(hour.startup < hour.begin for hour in hours)
