"""Contradictions within a report: found when they are there, and only then."""

from pathlib import Path

import pytest

from awrparse import read_awr

SWITCH = "log file switch (private strand flush incomplete)"
DATA = Path(__file__).parent / "awr_data" / "valid"
SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series" / "awrrpt_1_4102_4103.txt"


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
    html = (DATA / "awr_html_122.html").read_text(encoding="utf-8").replace("1.E+03", "90")

    assert read_awr(html.encode())["instances"][0, "startup_time"].minute == 8
    assert read_awr(html.encode()).info.startup_time is None
    assert str(read_awr(html.encode()).info.startup_hour) == "2020-08-11 09:00:00"
    assert read_awr(html.replace("12.2.0.1.0", "19.0.0.0.0").encode()).info.startup_time is not None
    assert read_awr(html.encode()).check()["check"].to_list() == ["startup_time"]
    assert read_awr(html.replace("12.2.0.1.0", "19.0.0.0.0").encode()).check().is_empty()
    assert read_awr(html.replace("09:08", "09:31").encode()).check().is_empty()


@pytest.mark.parametrize(
    ("old", "new", "check", "item"),
    [
        (
            "User I/O                   1,208,515                   779        0.64      14.1",
            "User I/O                   1,208,515                 8,779        7.26     158.6",
            "class_above_db_time",
            "User I/O",
        ),
        (
            "DB CPU                                                4,428.9    80.0       96.2",
            "DB CPU                                               64,428.9    80.0       96.2",
            "class_above_db_time",
            "DB CPU",
        ),
        (
            "DB CPU                                                4,428.9    80.0       96.2",
            "DB CPU                                               64,428.9    80.0       96.2",
            "cpu_above_capacity",
            "DB CPU",
        ),
        (
            "1,477                     1        0.36       0.0",
            "1,477                     1        0.36     100.1",
            "above_100_pct",
            "System I/O",
        ),
        (
            "148,741              327        2.20    5.9      0.1",
            "148,741              327        2.20    5.9    900.0",
            "sessions_above_logged_on",
            "System I/O",
        ),
        (
            "   DB Time:               92.26 (mins)",
            "   DB Time:          792,000.26 (mins)",
            "sessions_above_logged_on",
            "DB time",
        ),
    ],
)
def test_a_part_beyond_its_whole_is_found(old: str, new: str, check: str, item: str) -> None:
    """A class above DB time, more CPU than CPUs, more sessions active than logged on, more than 100 % of a base."""
    text = SERIES.read_text(encoding="utf-8")
    assert old in text

    assert read_awr(text.encode()).check().is_empty()
    found = read_awr(text.replace(old, new).encode()).check().filter(check=check)

    assert [name for name in found["item"] if name.startswith(item)]
    assert (found["first_lo"] > found["second_hi"]).all()


def test_background_classes_may_exceed_db_time() -> None:
    """A class of all processes holds background waits: 900 % of DB time is no finding, and 1.E+02 is 100."""
    text = SERIES.read_text(encoding="utf-8")
    changed = text.replace("2.20    5.9      0.1", "2.20  900.0      0.1")
    assert changed != text

    found = read_awr(changed.encode()).check()["check"].to_list()

    assert "above_100_pct" not in found
    assert "class_above_db_time" not in found


def test_an_average_above_its_maximum_is_found() -> None:
    """Both are of one quantity: 0.4 MB and a largest of 0 differ by rounding, 38.5 and 28 do not."""
    rows = "".join(
        f"<tr><td>B</td><td>{category}</td><td>400</td><td>{average}</td><td>{most}</td></tr>"
        for category, average, most in (("Other", "1.90", 28), ("SQL", "0.40", 0), ("PL/SQL", "38.50", 28))
    )
    page = (
        "<html><h1>WORKLOAD REPOSITORY report for</h1><h3>Process Memory Summary</h3><table><tr><th></th>"
        "<th>Category</th><th>Alloc (MB)</th><th>Avg Alloc (MB)</th><th>Max Alloc (MB)</th></tr>"
        f"{rows}</table></html>"
    )

    found = read_awr(page.encode()).check()

    assert found.select("check", "table", "first", "second").rows() == [
        ("average_above_maximum", "process_memory", 38.5, 28.0)
    ]
    assert "PL/SQL" in found.item(0, "item")
