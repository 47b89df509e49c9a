"""Contradictions within a report: found when they are there, and only then."""

from pathlib import Path

import pytest

from awrparse import read_awr

SWITCH = "log file switch (private strand flush incomplete)"
DATA = Path(__file__).parent / "awr_data" / "valid"


def _report(*changes: tuple[str, str]) -> bytes:
    text = (DATA / "awr_text_11204.txt").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text.encode()


def test_a_consistent_report_has_no_findings() -> None:
    """Figures that only differ by rounding are no findings."""
    assert read_awr(_report()).check().is_empty()


@pytest.mark.parametrize(
    ("change", "check", "item"),
    [
        ((" 1.2     300     .4 C", " 1.2     900     .4 C"), "average_wait", SWITCH),
        (("100       1     90.0   33.3", "150       2     90.0   50.0"), "top_events", "db file sequential read"),
        ((" 99.9       1   33.3", " 99.9       1   43.3"), "db_time_pct", "db file sequential read"),
        ((" 300.0\nbackground", " 400.0\nbackground"), "db_time", "DB time"),
        (("   Elapsed:               60.17 (mins)", "   Elapsed:               61.17 (mins)"), "elapsed", "elapsed"),
        (("301       1 1.E+02      0.1", "301       1 1.E+02      0.7"), "active_sessions", "User I/O"),
    ],
)  # fmt: skip
def test_a_changed_figure_is_found(change: tuple[str, str], check: str, item: str) -> None:
    """One figure changed beyond its rounding is reported with both values and their bounds."""
    found = read_awr(_report(change)).check()

    rows = found.filter(check=check, item=item)
    assert rows.height >= 1
    row = rows.row(0, named=True)
    assert row["first_lo"] > row["second_hi"] or row["second_lo"] > row["first_hi"]
    assert row["reason"]


def test_the_month_in_the_minutes() -> None:
    """HTML reports of 12.2 print the month of the startup time for its minutes."""
    html = (DATA / "awr_html_122.html").read_text(encoding="utf-8")

    assert read_awr(html.encode())["instances"][0, "startup_time"].minute == 8
    assert read_awr(html.encode()).check()["check"].to_list() == ["startup_time"]
    assert read_awr(html.replace("12.2.0.1.0", "19.0.0.0.0").encode()).check().is_empty()
    assert read_awr(html.replace("09:08", "09:31").encode()).check().is_empty()
