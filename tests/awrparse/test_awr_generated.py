"""Every canonical table, written in text and in HTML with every spelling of its headings, is read column for column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from awr_tables import NO_TEXT, OTHERS, as_html, as_markdown, as_text, eras, printed

from awrparse import TABLES, read_awr
from awrparse.columns import BY_ROW

if TYPE_CHECKING:
    from collections.abc import Callable

    from awr_tables import Printed

    from awrparse.columns import Table

#: `awr_data` and `test_awr_pivots` have the tables that are not written here.
CASES = [(table, era) for table in TABLES.values() if table.name not in OTHERS for era in range(eras(table))]
IDS = [f"{table.name}-{era}" for table, era in CASES]
#: What a note above a table must say so that its figures have a unit.
NOTES = {"rac_interconnect_ping": "Average and standard deviation of ping latency is given in microseconds"}


#: Tables below the title of the report itself, which a copy of one table has not.
UNTITLED = {"databases", "instances", "hosts", "containers", "snapshots", "ash_memory"}


def name_of(value: Table | int) -> str:
    """A part of a test's name."""
    return str(getattr(value, "name", value))


def check(table: Table, era: int, form: str) -> None:
    """The frame of the written table has the values that were written, and no diagnostics."""
    one = printed(table, era)
    note = NOTES.get(table.name, "")
    if form == "html":
        text = as_html(one, f"<ul><li>{note}</li></ul>" if note else "")
    elif form == "text":
        text = as_text(one, note and f"-> {note}\n")
    else:
        text = as_markdown(one, note and f"- {note}\n\n")
    report = read_awr(text.encode(), printed=True)
    assert table.name in report, (form, one.title, one.headings)
    frame = report[table.name]
    expected = [{name: table.renamed.get(str(value), value) for name, value in row.items()} for row in one.expected]
    assert frame.select(list(expected[0])).to_dicts() == expected
    assert report.table_diagnostics(table.name)["text"].to_list() == []


@pytest.mark.parametrize(("table", "era"), CASES, ids=IDS)
def test_html(table: Table, era: int) -> None:
    """In a page."""
    check(table, era, "html")


@pytest.mark.parametrize(("table", "era"), [case for case in CASES if case[0].name not in NO_TEXT], ids=name_of)
def test_text(table: Table, era: int) -> None:
    """In a text report."""
    check(table, era, "text")


@pytest.mark.parametrize(("table", "era"), [case for case in CASES if case[0].name not in UNTITLED], ids=name_of)
def test_markdown(table: Table, era: int) -> None:
    """In a copy whose cells stand between vertical bars, as chats and issue trackers have them."""
    check(table, era, "markdown")


@pytest.mark.parametrize("form", [as_html, as_text, as_markdown])
@pytest.mark.parametrize(
    ("table", "era"),
    [case for case in CASES if case[0].name not in NO_TEXT and any(one.name == "total_pct" for one in case[0].columns)],
    ids=name_of,
)
def test_a_share_of_the_total_beyond_it_is_told(table: Table, era: int, form: Callable[[Printed], str]) -> None:
    """Express Edition prints shares of millions per cent: the figure as printed, and a remark, whatever the section."""
    one = printed(table, era)
    share = f"{one.expected[0]['total_pct']}"
    beyond = one._replace(rows=[["16,990,400" if cell == share else cell for cell in row] for row in one.rows])
    right, wrong = (read_awr(form(each).encode()) for each in (one, beyond))

    assert wrong[table.name][0, "total_pct"] == 16_990_400
    counts = [report.check().filter(check="above_100_pct", first=16_990_400).height for report in (right, wrong)]
    assert counts == [0, 1]


def test_the_exceptions_are_few() -> None:
    """Most tables are written and read here."""
    assert len({table.name for table, _ in CASES}) > 110


@pytest.mark.parametrize("note", ["miliseconds", "milliseconds", "microseconds", ""])
def test_pings_are_in_microseconds(note: str) -> None:
    """The note above says what the latency is printed in; without it the figure is null, and a diagnostic says so."""
    one = printed(TABLES["rac_interconnect_ping"], 0, height=1)
    text = as_text(one, f"-> standard deviation of ping latency is given in {note}\n" if note else "")
    report = read_awr(text.encode())
    expected = {"microseconds": 20.5, "": None}.get(note, 20500.0)
    assert report["rac_interconnect_ping"]["latency_500b_us"].to_list() == [expected]
    assert set(report.diagnostics["kind"]) == (set() if note else {"ambiguous"})


@pytest.mark.parametrize(
    ("title", "name"), [("Timed Events", "call_time_pct"), ("Timed Foreground Events", "db_time_pct")]
)
def test_a_share_of_call_time_is_no_share_of_db_time(title: str, name: str) -> None:
    """Before 11.1, and in Statspack, the shares of the top events are of CPU and waits together."""
    page = (
        f"<html><h3>Top 5 {title}</h3><table><tr><th>Event</th><th>Waits</th><th>Time(s)</th><th>Avg wait (ms)</th>"
        "<th>% DB time</th><th>Wait Class</th></tr>"
        "<tr><td>log file sync</td><td>1</td><td>2</td><td>3</td><td>45.6</td><td>Commit</td></tr></table></html>"
    )
    row = read_awr(page.encode())["top_events"].row(0, named=True)
    other = {"call_time_pct": "db_time_pct", "db_time_pct": "call_time_pct"}[name]
    assert (row[name], row[other]) == (45.6, None)


def test_cells_of_another_form_are_told() -> None:
    """A session that is no pair of numbers keeps its text, has no numbers, and is a diagnostic."""
    one = printed(TABLES["ash_sessions"], 0, height=1)
    one.rows[0][0] = "twenty, three"
    report = read_awr(as_html(one).encode())
    row = report["ash_sessions"].row(0, named=True)
    assert (row["session"], row["sid"], report.diagnostics["kind"].to_list()) == ("twenty, three", None, ["no_value"])


def test_a_group_is_filled() -> None:
    """Blanks below a session are the session and its share; the next session has its own user, or none."""
    one = printed(TABLES["ash_sessions"], 0, height=4)
    places = {name: place for place, name in enumerate(("session", "activity", "event", "share", "user"))}
    for row, blank in ((1, ("session", "activity", "user")), (2, ("user",)), (3, ("session", "activity", "user"))):
        for name in blank:
            one.rows[row][places[name]] = ""
    for form in (as_html, as_text):
        frame = read_awr(form(one).encode())["ash_sessions"]
        assert frame["sid"].to_list() == [20, 20, 22, 22]
        assert frame["activity_pct"].to_list() == [10.5, 10.5, 12.5, 12.5]
        assert [user is None for user in frame["user"]] == [False, False, True, True]


def test_edges_of_a_histogram_are_exact_and_a_second_is_what_the_note_says() -> None:
    """The edges are no printed figures; `<=1s` ends at 1,024 ms where the report says so."""
    note = "<ul><li>column heading of &lt;=1s is truly &lt;1024ms, &gt;1s is truly &gt;=1024ms</li></ul>"
    page = (
        "<html><h3>Wait Event Histogram</h3>{}<table><tr><th>Event</th><th>Total Waits</th><th>&lt;1ms</th>"
        "<th>&lt;=1s</th><th>&gt;1s</th></tr><tr><td>log file sync</td><td>9</td><td>5.0</td><td>90.0</td><td>5.0</td>"
        "</tr></table></html>"
    )
    for text, second in ((page.format(note), 1_024_000.0), (page.format(""), 1_000_000.0)):
        frame = read_awr(text.encode(), printed=True)["event_histogram"]
        assert frame["to_us"].to_list() == [1000.0, second, None]
        assert frame.filter(frame["from_us"] != frame["from_us_lo"]).height == 0
        assert frame["to_us_lo"].to_list() == frame["to_us_hi"].to_list() == frame["to_us"].to_list()


def test_every_figure_has_a_unit_or_says_where_it_stands() -> None:
    """A column of figures without a unit is one of few names, whose unit another column of the row names."""
    without = {
        column.name
        for table in TABLES.values()
        for column in table.columns
        if column.dtype == pl.Float64 and not column.unit
    }
    assert without == BY_ROW


def test_units() -> None:
    """A rate is per second, a share is in per cent, and a number that is not of one kind has no unit."""
    units = {column.name: column.unit for table in TABLES.values() for column in table.columns}
    assert units["read_bytes_per_s"] == "bytes/s"
    assert units["read_requests_per_s"] == "1/s"
    assert units["avg_wait_ms"] == "ms"
    assert units["requested_mb"] == "MB"
    assert {column.unit for table in TABLES.values() for column in table.columns if column.name == "value"} <= {"", "1"}
