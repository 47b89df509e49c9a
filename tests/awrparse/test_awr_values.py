"""Cells as values: dates in many languages, ids that look like numbers, times in the unit that a note names."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from awrparse import read_awr
from awrparse.values import read_measure, read_time, reading_of

DATA = Path(__file__).parent / "awr_data" / "valid"
REPORTS = sorted(path for path in DATA.iterdir() if path.suffix != ".json")


@pytest.mark.parametrize(
    ("month", "number"),
    [
        *(("JAN", 1), ("Şub", 2), ("márc.", 3), ("Nis", 4), ("Май", 5), ("Haz", 6), ("júl.", 7), ("Ağu", 8)),
        *(("szept.", 9), ("Eki", 10), ("11월 ", 11), ("déc.", 12)),
    ],
)
def test_months_in_the_language_of_the_session(month: str, number: int) -> None:
    """A snapshot's time is read whatever language its month is in."""
    expected = datetime(2020, number, 3, 10, 15, 30)  # noqa: DTZ001 - a report prints no zone

    assert read_time(f"03-{month}-20 10:15:30") == expected


@pytest.mark.parametrize("date", ["{}-Ιαν-21", "{}-ינו-21", "{}-ينا-21", "2021-01-{}"])
@pytest.mark.parametrize("name", ["awr_text_11204.txt", "awr_text_102_rac.txt", "awr_html_122.html"])
def test_a_date_that_is_not_known_is_null_and_told(name: str, date: str) -> None:
    """Times in letters or an order that no table of months has: none is guessed, the rest is read."""
    text = (DATA / name).read_text(encoding="utf-8")
    changed, count = re.subn(r"\b(\d\d)-[A-Z][a-z]{2}-\d\d\b", lambda found: date.format(found[1]), text)
    assert count > 0
    report = read_awr(changed.encode())

    assert (report.info.begin_time, report.info.end_time) == (None, None)
    assert [one for one in report.diagnostics["reason"] if "is not a date and time" in one]
    assert report["top_events"].equals(read_awr(text.encode())["top_events"])


@pytest.mark.parametrize("label", ["Vector Memory Area", "Plum Pool"])
@pytest.mark.parametrize("name", ["awr_text_11204.txt", "awr_text_102_rac.txt", "statspack_102.txt"])
def test_a_later_release_with_another_label_is_read_whole(name: str, label: str) -> None:
    """A release that is not known yet, and a cache that is not: all that was read before is, and the label is told."""
    text = (DATA / name).read_text(encoding="utf-8")
    before = read_awr(text.encode())
    release = ".".join(map(str, before.info.version))
    row = next(line for line in text.split("\n") if "Shared Pool" in line)
    start = len(row) - len(row.lstrip())
    added = f"{label}:".rjust(row.index(":") + 1) + "       640M       640M"
    assert release in text
    assert start > 0
    after = read_awr(text.replace(release, "23.0.0.0.0").replace(row, f"{added}\n{row}", 1).encode())

    assert after.info.version == (23, 0, 0, 0, 0)
    caches = after["cache_sizes"].filter(pl.col("cache") != label)
    assert caches.equals(before["cache_sizes"])
    assert label in after["cache_sizes"]["cache"]
    assert label in after.diagnostics["text"]
    others = set(before.tables) - {"info", "databases", "instances", "cache_sizes", "parameters"}
    assert [table for table in sorted(others) if not after[table].equals(before[table])] == []


@pytest.mark.parametrize(("heading", "value"), [("Wt Time", 123.0), ("Wt Time (cs)", 1.23), ("Wait Time (ms)", 0.123)])
def test_a_heading_may_name_another_unit(heading: str, value: float) -> None:
    """Seconds that are printed as hundredths or thousandths are seconds."""
    assert read_measure("123", reading_of(["123"], "s", heading)).value == value


def test_a_damaged_cell_does_not_narrow_the_bounds_of_its_column() -> None:
    """What is too long for a figure says nothing about the decimals that the column shows."""
    cells = ["9.6", "8.9", "1." + "0" * 5000]
    reading = reading_of(cells, "percent", "% of Waits")

    assert [read_measure(cell, reading)[:3] for cell in cells[:2]] == [(9.6, 9.55, 9.65), (8.9, 8.85, 8.95)]
    assert read_measure(cells[2], reading)[0] is None


def test_digits_behind_a_zero_are_an_id() -> None:
    """A column of ids keeps its zeros; one of figures, a lone zero among them, is numbers."""
    page = (
        "<html><h1>WORKLOAD REPOSITORY report for</h1><h3>Anything</h3><table><tr><th>Id</th><th>Count</th></tr>"
        "<tr><td>0012</td><td>0</td></tr><tr><td>77</td><td>1,200</td></tr></table></html>"
    )

    found = read_awr(page.encode()).raw_tables["Anything"]

    assert found.rows() == [("0012", 0), ("77", 1200)]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_tables_built_together_are_those_built_alone(path: Path) -> None:
    """Asked for at once or one by one, in any order, each table has the same rows, bounds and diagnostics."""
    together, alone = read_awr(path, printed=True), read_awr(path, printed=True)

    frames = together.frames()

    assert list(frames) == list(alone.tables)
    for name in reversed(alone.tables):
        assert (name, frames[name].equals(alone[name])) == (name, True)
        assert together.table_diagnostics(name).equals(alone.table_diagnostics(name))


@pytest.mark.parametrize("cell", ["2,261,328", "8192", "2,261,328 "])
def test_a_size_in_bytes_is_exact(cell: str) -> None:
    """A whole number of bytes was not rounded, whatever the engine; one with a unit was."""
    heads = "<tr><th>SGA regions</th><th>Begin Size (Bytes)</th></tr>"
    rows = f"<tr><td>Fixed Size</td><td>{cell}</td></tr><tr><td>Redo</td><td>1.5M</td></tr>"
    page = f"<html><h3>SGA Memory Summary</h3><table>{heads}{rows}</table></html>"
    frame = read_awr(page.encode(), printed=True)["sga"]
    value = float(cell.replace(",", ""))

    assert frame.select("begin_bytes", "begin_bytes_lo", "begin_bytes_hi").row(0) == (value, value, value)
    assert frame["begin_bytes_lo"].item(1) < 1.5 * 2**20 < frame["begin_bytes_hi"].item(1)
