"""Reports as they arrive: quoted, indented, saved, squeezed and filled up on their way; and what is reported of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

import awrparse
from awrparse.cli import main
from awrparse.html import title_of_summary
from awrparse.text.layout import ANY_RULER
from logframe.normalize import without_margin

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

REPORT = """
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
FIG           1234567890 fig1                1 23-Apr-14 16:33 11.2.0.4.0  NO

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 23-Apr-14 19:00:00        59       1.7
  End Snap:       101 23-Apr-14 20:00:00        62       1.9
   Elapsed:               60.00 (mins)
   DB Time:              120.00 (mins)

Load Profile                    Per Second   Per Transaction  Per Exec  Per Call
~~~~~~~~~~~~~~~            ---------------   --------------- --------- ---------
             DB Time(s):               2.0               0.5      0.01      0.02
      Redo size (bytes):       1,234,567.8          60,123.4

Top 10 Foreground Events by Total Wait Time
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
                                           Total Wait       Wait   % DB Wait
Event                                Waits Time (sec)    Avg(ms)   time Class
------------------------------ ----------- ---------- ---------- ------ --------
db file sequential read          1,000,000     5000.0       5.00   69.4 User I/O
DB CPU                                         2000.0              27.8

Time Model Statistics                       DB/Inst: FIG/fig1  Snaps: 100-101
-> Total time in database user-calls (DB Time): 7200s
-> Statistics including the word "background" measure background process
   time, and so do not contribute to the DB time statistic

Statistic Name                                       Time (s) % of DB Time
------------------------------------------ ------------------ ------------
sql execute elapsed time                              7,000.0         97.2
DB time                                               7,200.0
                          ------------------------------------------------------

SQL ordered by Elapsed Time                 DB/Inst: FIG/fig1  Snaps: 100-101

        Elapsed                  Elapsed Time
        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id
---------------- -------------- ------------- ------ ------ ------ -------------
         5,000.0          1,000          5.00   69.4   20.0   70.0 abcdefgh12345
Module: SQL*Plus
select a_column, another_column, a_third_column, a_fourth_column from a_table wh
ere a_column = 1

                          ------------------------------------------------------

End of Report
"""


def _lines(before: str) -> str:
    return "".join(f"{before}{line}\n" if line else "\n" for line in REPORT.split("\n"))


COPIES = {
    "carriage returns": REPORT.replace("\n", "\r"),
    "quoted without a blank": "".join(f">{line}\n" for line in REPORT.split("\n")),
    "quoted twice without a blank": "".join(f">>{line}\n" for line in REPORT.split("\n")),
    "indented by tabs": _lines("\t"),
    "indented below a sentence": f"This is the report:\n\n{_lines('    ')}\nWhat do you say?\n",
    "tabs below a sentence": f"This is the report:\n\n{_lines(chr(9))}",
    "without blank lines": "".join(f"{line}\n" for line in REPORT.split("\n") if line),
    "filled up with blanks": "".join(f"{line:132}\n" for line in REPORT.split("\n")),
}


@pytest.fixture(scope="module")
def report() -> awrparse.AwrReport:
    """The report as the tool prints it."""
    return awrparse.read_awr(REPORT.encode())


@pytest.mark.parametrize("copy", COPIES)
def test_copies_of_a_report_give_its_tables(copy: str, report: awrparse.AwrReport) -> None:
    """However a report was copied: the same tables, the same head, and every line is accounted for."""
    text = COPIES[copy]
    copied = awrparse.read_awr(text.encode())
    assert {name: report[name].rows() for name in report.tables} == {
        name: copied[name].rows() for name in copied.tables
    }
    assert report.info == copied.info
    assert sum(copied.line_counts.values()) == len(text.replace("\r", "\n").splitlines())


def test_a_margin_is_only_what_all_tables_share() -> None:
    """A ruler that is indented in a report of its own is no margin."""
    lines = ["              Snap Id", "            ---------", "Begin Snap:       100"]
    assert lines == without_margin(lines, ANY_RULER)


def _page(table: str, before: str = "") -> bytes:
    return f"<html><body>{before}{table}</body></html>".encode()


EVENTS = (
    '<table summary="This table displays top 10 wait events by total wait time">'
    "<tr><th>Event</th><th>Waits</th><th>Total Wait Time (sec)</th><th>Avg Wait</th></tr>"
    "<tr><td>log file sync</td><td>100</td><td>26.4K</td><td>502.71us</td></tr></table>"
)


def _events(content: bytes) -> pl.DataFrame:
    return awrparse.read_awr(content)["top_events"].select("event", "waits", "total_wait_s", "avg_wait_ms")


@pytest.mark.parametrize("comment", ["<!-- a -->", "<!---->", "<!-->", "<!-- <td>5</td> -->", "<!-- a\nb --!>"])
def test_comments_are_no_cells(comment: str) -> None:
    """A comment between two cells moves none of them."""
    table = EVENTS.replace("<td>", f"{comment}<td>").replace("<th>", f"{comment}<th>")
    before = "<h3>Top 10 Foreground Events by Total Wait Time</h3>"
    assert _events(_page(table, before)).rows() == [("log file sync", 100, 26400.0, 0.50271)]


@pytest.mark.parametrize(
    "before", ["", "<h1>WORKLOAD REPOSITORY report for</h1><table></table>", "<h3>Load Profile</h3><table></table>"]
)
def test_a_table_without_a_heading_is_known_by_its_summary(before: str) -> None:
    """The summary says what a table is when its heading is lost; the heading of another table does not."""
    assert _events(_page(EVENTS, before)).rows() == [("log file sync", 100, 26400.0, 0.50271)]


def test_a_heading_goes_before_the_summary() -> None:
    """What the report calls a table is its title, whatever the summary says."""
    page = _page(EVENTS, "<h3>Something Else</h3>")
    with pytest.raises(awrparse.report.LogParseError):
        awrparse.read_awr(page)
    assert title_of_summary("Something Else") == ""


HISTOGRAM = """Wait Event Histogram                        DB/Inst: FIG/fig1  Snaps: 1-2

                           Total
Event                      Waits {heads}
-------------------------- ----- ----- ----- ----- -----
log file sync                 10  10.0  20.0  30.0  40.0
                          ------------------------------------------------------
"""


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ("<128u <256u <512u >=512", ["<128us", "<256us", "<512us", ">=512us"]),
        (" <8ms <16ms <32ms >=32m", ["<8ms", "<16ms", "<32ms", ">=32ms"]),
        ("<1/2s   <1s   <2s  >=2s", ["<1/2s", "<1s", "<2s", ">=2s"]),
    ],
)
def test_ranges_have_the_unit_that_text_cuts(heads: str, expected: list[str]) -> None:
    """Text and HTML name a range alike."""
    histogram = awrparse.read_awr(HISTOGRAM.format(heads=heads).encode())["event_histogram"]
    assert expected == histogram["range"].to_list()


def test_sources_of_one_name_are_told_apart() -> None:
    """Two reports given as bytes are two reports in the frame."""
    found = awrparse.read_awrs([REPORT.encode(), REPORT.encode(), io.BytesIO(REPORT.encode()), b"no report"])
    assert found.frame["report"].unique().sort().to_list() == ["<bytes>", "<bytes> (2)", "<file>"]
    assert found.diagnostics["source"].to_list() == ["<bytes> (3)"]


def test_a_file_that_cannot_be_written_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback where the folder is missing."""
    source = tmp_path / "awr.txt"
    source.write_text(REPORT)
    target = tmp_path / "missing" / "out.csv"
    assert main([str(source), "--table", "top_events", "-o", str(target)]) == 1
    assert f"{target}: cannot be written: " in capsys.readouterr().err


STATSPACK = """
STATSPACK report for

Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC
~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---
          1234567890 fig1                1 01-Jan-14 10:00 11.2.0.4.0  NO

Latch Activity  DB/Inst: FIG/fig1  Snaps: 100-101
                  No data exists for this section of the report.
          -------------------------------------------------------------
End of Report
"""


def test_the_database_of_a_statspack_report_stands_beside_its_sections() -> None:
    """The head of a Statspack report leaves the name of the database blank."""
    info = awrparse.read_awr(STATSPACK.encode()).info
    assert (info.db_name, info.instance) == ("FIG", "fig1")


def test_a_line_feed_right_behind_pre_is_a_line() -> None:
    """Browsers drop it; here every line of the page counts, so that the numbers are those of the file."""
    text = REPORT.strip("\n")
    joined, apart = (
        awrparse.read_awr(f"<html><body><pre>{end}{text}</pre></body></html>".encode()) for end in ("", "\n")
    )

    assert sum(apart.line_counts.values()) == sum(joined.line_counts.values()) + 1
    assert apart.tables == joined.tables


@pytest.mark.parametrize("first", ["", "\n"], ids=["behind", "before"])
def test_a_blank_line_between_every_two(first: str) -> None:
    """Forums and office programs make a paragraph of each line: the tables are the same, the lines are the file's."""
    text = REPORT.replace("     97.2", "#########")
    plain = awrparse.read_awr(text.encode())
    paste = first + text.replace("\n", "\n\n")

    found = awrparse.read_awr(paste.encode())

    assert list(found.raw_tables) == list(plain.raw_tables)
    assert [found[name].rows() for name in found.tables] == [plain[name].rows() for name in plain.tables]
    assert sum(found.line_counts.values()) == paste.count("\n")
    lines = paste.split("\n")
    for line, column, words in found.diagnostics.select("line", "column", "text").rows():
        assert lines[line - 1][column - 1 :].startswith(words)
    assert found.diagnostics["kind"].to_list() == ["overflow"]


def test_two_reports_with_blank_lines_between() -> None:
    """Each report of such a paste has its own lines."""
    paste = (REPORT + REPORT).replace("\n", "\n\n")

    parts = awrparse.read_awr(paste.encode()).parts

    assert sum(sum(part.line_counts.values()) for part in parts) == paste.count("\n")
    assert [part["top_events"].height for part in parts] == [2, 2]


@pytest.mark.parametrize(
    ("whole", "damaged", "field"),
    [
        ("120.00 (mins)", "12:0.00 (mins)", "db_time_s"),
        ("120.00 (mins)", "120..00 (mins)", "db_time_s"),
        ("60.00 (mins)", "6x.00 (mins)", "elapsed_s"),
        ("60.00 (mins)", "60.00 (min", "elapsed_s"),
        ("120.00 (mins)", "120.00", "db_time_s"),
    ],
)
def test_a_figure_of_the_head_that_is_none_is_named(whole: str, damaged: str, field: str) -> None:
    """It is null, and its line is in the diagnostics."""
    report = awrparse.read_awr(REPORT.replace(whole, damaged).encode())
    found = report.diagnostics.filter(kind="no_value")

    assert getattr(report.info, field) is None
    assert [REPORT.split("\n")[line - 1].strip().endswith(whole) for line in found["line"]] == [True]


_INSTANCE_CPU = """Instance CPU
~~~~~~~~~~~~
              % of total CPU for Instance:       7.3
              % of busy  CPU for Instance:      47.5
  %DB time waiting for CPU - Resource Mgr:       0.7

"""


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ("% of busy  CPU for Instance", "0x % of busy CPU for Instance", "47.5"),
        ("% of busy  CPU for Instance", "% of total CPU for Instance", "47.5"),
    ],
)
def test_a_label_of_a_table_of_one_row_that_no_column_has(before: str, after: str, lost: str) -> None:
    """A label that is unknown, or there twice, leaves its figure in the raw table, with a diagnostic."""
    text = REPORT.replace("Time Model Statistics ", _INSTANCE_CPU + "Time Model Statistics ")
    whole, damaged = (awrparse.read_awr(one.encode()) for one in (text, text.replace(before, after)))

    assert whole["instance_cpu"].select("total_cpu_pct", "busy_cpu_pct").row(0) == (7.3, 47.5)
    assert whole.diagnostics.equals(awrparse.read_awr(REPORT.encode()).diagnostics)
    assert damaged["instance_cpu"].select("total_cpu_pct", "busy_cpu_pct").row(0) == (7.3, None)
    assert damaged.diagnostics.filter(kind="unknown_name")["text"].to_list() == [lost]
