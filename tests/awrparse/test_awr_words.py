"""One word of a report is another: a figure that no table has then is named by a diagnostic."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from awrparse import read_awr

DATA = Path(__file__).parent / "awr_data" / "valid"
SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series" / "awrrpt_1_4104_4105.txt"

RAC = DATA / "awr_text_102_rac.txt"
LABELS = "labels below a title that is not known; they are in raw_tables only"


def damaged(path: Path, old: str, new: str) -> tuple[str, str]:
    """A report, and the same with its first such words replaced."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    return text, text.replace(old, new, 1)


def new_problems(text: str, changed: str) -> set[tuple[str, str]]:
    """Kind and table of what is said of a changed report and not of the whole one."""
    rows = [read_awr(one.encode()).diagnostics.select("kind", "reason").rows() for one in (text, changed)]
    return {(kind, reason.partition(":")[0]) for kind, reason in rows[1] if (kind, reason) not in rows[0]}


def _titles(table: str) -> str:
    return f"the headings are those of {table}, the title is not; the table is in raw_tables only"


@pytest.mark.parametrize("name", ["", "7hq3wz8mt0c2 ", "7hq3 z8mt0c2f", "7HQ3WZ8MT0C2F"])
def test_a_row_beside_a_damaged_id(name: str) -> None:
    """The figures are a row of their own, and its text is none of the statement above."""
    text, changed = damaged(SERIES, "1vd9kx4rs6b7y", name)
    whole, found = (read_awr(one.encode()) for one in (text, changed))

    assert found["sql"].drop("sql_id").equals(whole["sql"].drop("sql_id"))
    assert new_problems(text, changed) == {("cut", "no id of a statement stands beside these figures")}


def test_a_damaged_id_in_the_first_column() -> None:
    """Where the id is the first column, the figures beside it say what a row is."""
    head = "Top SQL Comparison by Reads  DB/Inst: FIG/fig1  Snaps: 1-2\n\n"
    rulers = "SQL Id            Reads       Gets      Execs\n------------- ---------- ---------- ----------\n"
    row = "{} {:>10} {:>10} {:>10}\nselect a from b\n".format
    report = read_awr((head + rulers + row("0figfigfigf13", 100, 200, 300) + row("0figfigf gf14", 1, 2, 3)).encode())
    assert report.raw_tables.cells("Top SQL Comparison by Reads")[1][:4] == ("0figfigf gf14", "1", "2", "3")
    assert "cut" in report.diagnostics["kind"].to_list()


@pytest.mark.parametrize("new", ["REPOSITORY repor ", "REPOSITORYreport", "repository report"])
def test_a_report_without_its_name(new: str) -> None:
    """The head of a report says its period, whatever the line above it says."""
    text, changed = damaged(SERIES, "REPOSITORY report", new)
    whole, found = (read_awr(one.encode()) for one in (text, changed))
    assert found["info"].drop("kind").equals(whole["info"].drop("kind"))
    assert found.info.elapsed_s == pytest.approx(3611.4)


@pytest.mark.parametrize(
    ("path", "old", "new", "kind", "table"),
    [
        (SERIES, "Operating System", "Operating Zfzalt", "foreign", _titles("os_stats")),
        (SERIES, "Operating System S", "Operating SystemS", "foreign", _titles("os_stats")),
        (SERIES, "Wait Event Histogram", "Wa   Event Histogram", "foreign", _titles("event_histogram")),
        (DATA / "ash_121.txt", "ASH Report", "A   Report", "foreign", _titles("databases")),
        (DATA / "tabbed_122.txt", "Inst Num", "xyzzy Num", "unknown_name", "databases"),
        (DATA / "awr_html_122.html", "Begin Snap:", "Fin Snap:", "foreign", "snapshots"),
        (DATA / "awr_html_122.html", "DB Time:", "DB Zeit:", "foreign", "snapshots"),
        (SERIES, "Elapsed:", "        ", "foreign", "snapshots"),
        (DATA / "awr_text_11204.txt", "Begin        End", "             End", "unknown_name", "cache_sizes"),
        (SERIES, "cpu_count", "         ", "unknown_name", "parameters"),
        (SERIES, "cpu_count                     16", "16", "misplaced", "parameters.parameter"),
        (DATA / "ash_121.txt", "kiwi1 ", " ", "misplaced", "databases.release"),
        (SERIES, "quay07", "", "misplaced", "'x86 64-bit 16' ends in a figure of another column"),
        (SERIES, "06:41 12.1", "06:41 xyzzy 12.1", "misplaced", "databases.release"),
        (SERIES, "  <2ms", "  xyzz", "unknown_name", "event_histogram"),
        (SERIES, "  <2ms  <4ms", "  <4ms", "unknown_name", "event_histogram"),
        (DATA / "statspack_121.txt", "  <2ms  <4ms", "    <4ms", "unknown_name", "event_histogram"),
        (RAC, "Global Cache Efficiency", "Global Jhjol Efficiency", "foreign", LABELS),
        (RAC, "RAC Statistics", "R   Statistics", "foreign", LABELS),
    ],
)
def test_a_word_that_is_not_known(path: Path, old: str, new: str, kind: str, table: str) -> None:
    """A title, a heading or a label that is not known takes no figures away without a word."""
    text, changed = damaged(path, old, new)
    assert (kind, table) in new_problems(text, changed)


def test_a_value_without_a_name_is_not_of_the_parameter_above() -> None:
    """A row without a name goes on with the value above where this fills its column, and else is a row of its own."""
    text, changed = damaged(SERIES, "cpu_count", "         ")
    whole, found = (read_awr(one.encode())["parameters"] for one in (text, changed))
    assert found["begin"].to_list() == whole["begin"].to_list()
    assert found["parameter"].to_list().count("") + found["parameter"].null_count() == 1


def test_a_size_without_its_heading_is_in_no_other_column() -> None:
    """Sizes at the end of a period are not those at its beginning, whose heading is missing."""
    text, changed = damaged(DATA / "awr_text_11204.txt", "Begin        End", "             End")
    whole, found = (read_awr(one.encode())["cache_sizes"] for one in (text, changed))
    assert found["begin_bytes"].null_count() == found.height
    assert found["end_bytes"].drop_nulls().to_list() == whole["end_bytes"].drop_nulls().to_list()


def test_a_range_below_a_heading_that_is_none() -> None:
    """Beside a column whose range is not known, the lower end of the next range is not known."""
    text, changed = damaged(SERIES, "  <2ms", "  xyzz")
    whole, found = (read_awr(one.encode())["event_histogram"].unique("range") for one in (text, changed))
    assert set(whole["range"]) - set(found["range"]) == {"<2ms"}
    assert found.filter(range="<4ms")["from_us"].to_list() == [None]
    others = [frame.filter(~pl.col("range").is_in(["<2ms", "<4ms"])) for frame in (whole, found)]
    assert (
        others[0]
        .select("range", "from_us", "to_us")
        .sort("range")
        .equals(others[1].select("range", "from_us", "to_us").sort("range"))
    )
