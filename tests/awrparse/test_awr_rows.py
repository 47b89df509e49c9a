# ruff: noqa: S608 - the statements are text of reports
"""Names in full, sums apart from what they sum up, blanks that repeat the cell above, and where SQL text ends."""

from __future__ import annotations

import polars as pl
import pytest
from awr_tables import FILE_HEADS

from awrparse import read_awr

SQL_HEADS = """
     Buffer                 Gets              Elapsed
      Gets   Executions   per Exec   %Total Time (s)   %CPU    %IO    SQL Id
----------- ----------- ------------ ------ ---------- ----- ----- -------------
"""
SQL_ROW = "  1,234,567          12    102,880.6   33.3       12.3  10.1  80.2 0figfigfigf{number}\n{text}\n\n"


def test_histogram_names_are_completed_below_a_ruler_of_groups() -> None:
    """The event of a histogram, whose ruler stands below another, is completed as everywhere."""
    text = """Wait Event Histogram                        DB/Inst: FIG/fig1  Snaps: 10-11
-> Units for Total Waits column: K is 1000, M is 1000000, G is 1000000000

                                                    % of Waits
                                 -----------------------------------------------
                           Total
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
SQL*Net message from clien    10  50.0  50.0
          -------------------------------------------------------------
"""
    frame = read_awr(text.encode())["event_histogram"]
    assert frame["event"].unique().to_list() == ["SQL*Net message from client"]
    assert frame["event_printed"].unique().to_list() == ["SQL*Net message from clien"]


def test_functions_of_text_and_page_are_one_name_and_totals_are_marked() -> None:
    """A cut function has its name, the sum is `Total` and marked, a type of file has a column of its own."""
    text = """IOStat by Function summary                  DB/Inst: FIG/fig1  Snaps: 10-11

                Reads:  Reqs   Data    Writes:  Reqs   Data    Waits:    Avg
Function Name   Data    per sec per sec Data    per sec per sec Count    Tm(ms)
--------------- ------- ------- ------- ------- ------- ------- ------- -------
Buffer Cache Re      5M     1.0   .001M      0M     0.0      0M      70     4.1
TOTAL:               5M     1.0   .001M      0M     0.0      0M      70     4.1
          -------------------------------------------------------------
"""
    frame = read_awr(text.encode())["iostat_function"]
    assert frame.select("function", "function_printed", "is_total").rows() == [
        ("Buffer Cache Reads", "Buffer Cache Re", False),
        ("Total", "TOTAL:", True),
    ]
    page = """<html><h3>IOStat by Function/Filetype summary</h3>
    <table><tr><th>Function/File Name</th><th>Reads: Data</th>
    </tr><tr><td>LGWR</td><td>7M</td></tr><tr><td>&#160; LGWR (Log File)</td><td>7M</td></tr>
    <tr><td>TOTAL:</td><td>7M</td></tr></table></html>"""
    frame = read_awr(page.encode())["iostat_function_filetype"]
    assert frame.select("function", "filetype", "is_total").rows() == [
        ("LGWR", None, True),
        ("LGWR", "Log File", False),
        ("Total", None, True),
    ]
    assert frame.filter(~pl.col("is_total"))["read_bytes"].sum() == 7 << 20


def section(title: str, heading: str, *lines: str) -> bytes:
    """A section of a text report: its heading, a ruler and rows."""
    end = "-" * 61
    return "\n".join([f"{title}  DB/Inst: FIG/fig1  Snaps: 10-11", "", heading, *lines, f"{'':10}{end}", ""]).encode()


@pytest.mark.parametrize(
    ("table", "title", "heading", "printed", "names"),
    [
        (
            *("memory_components", "Memory Dynamic Components", "Component         Begin Snap Size (Mb)"),
            {"DEFAULT 16K buff": 16, "shared pool": 512},
            ["DEFAULT 16K buffer cache", "shared pool"],
        ),
        (
            *("buffer_waits", "Buffer Wait Statistics", "Class                            Waits"),
            {"2nd level bmb": 10, "system undo head": 20},
            ["2nd level bmb", "system undo header"],
        ),
        (
            *("iostat_filetype", "IOStat by Filetype summary", "Filetype Name              Reads: Data"),
            {"Control File": 1, "Data File Increm": 2},
            ["Control File", "Data File Incremental Backup"],
        ),
    ],
    ids=["component", "block class", "file type"],
)
def test_cut_names_are_completed(
    table: str, title: str, heading: str, printed: dict[str, int], names: list[str]
) -> None:
    """Names that fill their column are those of the page, in every table that text reports cut."""
    rows = [f"{name:<16} {figure:>20}" for name, figure in printed.items()]
    frame = read_awr(section(title, heading, f"{'-' * 16} {'-' * 20}", *rows))[table]

    assert frame.to_series(0).to_list() == names
    assert frame.to_series(1).to_list() == list(printed)


def test_counts_that_wrap_make_no_row() -> None:
    """Counts of 9i that go on in the next line belong to the latch above."""
    report = read_awr(
        section(
            "Latch Sleep breakdown",
            "                                      Get                            Spin &\n"
            "Latch Name                       Requests      Misses      Sleeps Sleeps 1->4",
            f"{'-' * 26} {'-' * 14} {'-' * 11} {'-' * 11} {'-' * 12}",
            "library cache                  14,234,981     123,456      12,345 111111/12300",
            "                                                                  /45/0/0",
            "shared pool                       123,456         321          12 309/12/0/0/0",
        )
    )
    columns = ("latch", "gets", "sleeps", "spin_gets", "spin_sleeps")

    assert report["latch_sleeps"].select(columns).rows() == [
        ("library cache", 14234981, 12345, 111111, "111111/12300/45/0/0"),
        ("shared pool", 123456, 12, 309, "309/12/0/0/0"),
    ]
    assert report.diagnostics.is_empty()


@pytest.mark.parametrize("row", ["", "PLUM          1234567890 plum                1 9.2.0.6.0   NO      dbhost01\n"])
def test_an_error_is_no_row(row: str) -> None:
    """What the script of Statspack prints where it fails stands below a ruler, and is named with its line."""
    errors = ["ORA-20200: Begin Snapshot Id 1 does not exist", "ORA-06512: at line 46", 'SP2-0552: Bind variable "B"']
    heading = (
        "STATSPACK report for\n\n"
        "DB Name         DB Id    Instance     Inst Num Release     Cluster Host\n"
        "------------ ----------- ------------ -------- ----------- ------- ------------\n"
    )
    report = read_awr((heading + row + "\n".join(errors) + "\n").encode())

    assert report["databases"]["db_name"].to_list() == (["PLUM"] if row else [])
    assert report.diagnostics["text"].to_list() == errors


def test_an_error_in_sql_text_is_sql_text() -> None:
    """A statement may have a line that begins as an error does."""
    text = "select a,\nORA-00001: b"
    report = read_awr(f"SQL ordered by Gets\n{SQL_HEADS}{SQL_ROW.format(number='13', text=text)}".encode())

    assert "ORA-00001: b" in report["sql"]["sql_text"].item()


def test_a_blank_tablespace_is_the_one_above() -> None:
    """Statspack prints a tablespace above its first file only; a blank in another column is no repetition."""
    rows = """\
SEEDS                    /u01/seeds01.dbf
           100     0.1   2.0   4     1.0           10        0          0
                         /u01/seeds02.dbf
           200     0.2         4     1.0           20        0          0

          -------------------------------------------------------------
"""
    frame = read_awr((FILE_HEADS + rows).encode())["file_io"]
    assert frame.select("tablespace", "reads", "avg_read_ms").rows() == [("SEEDS", 100, 2.0), ("SEEDS", 200, None)]


@pytest.mark.parametrize("prose", ["", "The first of them takes 33 percent of all.\n\n"], ids=["nothing", "prose"])
def test_sql_text_ends_before_the_next_title(prose: str) -> None:
    """A table below SQL text needs no `DB/Inst` beside its title; prose between them is no SQL text."""
    text = (
        f"SQL ordered by Gets\n{SQL_HEADS}"
        f"{SQL_ROW.format(number='13', text='select a from b')}"
        f"{SQL_ROW.format(number='14', text='select c from d')}{prose}"
        "SQL ordered by Executions\n-> Total Executions:   1,000\n\n"
        "                                              Elapsed\n"
        " Executions   Rows Processed  Rows per Exec   Time (s)  %CPU   %IO    SQL Id\n"
        "------------ --------------- -------------- ---------- ----- ----- -------------\n"
        "         500             500            1.0        1.2  10.1    .2 0figfigfigf15\nupdate x set y = 1\n"
    )
    report = read_awr(text.encode())
    assert (len(report.parts), report["sql"].select("ordered_by", "sql_text").rows()) == (
        1,
        [("gets", "select a from b"), ("gets", "select c from d"), ("executions", "update x set y = 1")],
    )
    assert report["sql"]["executions"].to_list() == [12, 12, 500]
    assert report.diagnostics["text"].to_list() == ([prose.strip()] if prose else [])


def test_a_title_within_sql_text_is_sql_text() -> None:
    """Words of a statement that are the title of a table end nothing where no ruler follows."""
    text = f"SQL ordered by Gets\n{SQL_HEADS}" + SQL_ROW.format(
        number="13", text="select a from b\nTime Model\nwhere c"
    )
    report = read_awr(text.encode())
    assert "Time Model" in report["sql"]["sql_text"].item(0)
    assert "time_model" not in report


@pytest.mark.parametrize("feed", ["", "\n"], ids=["in a line", "at the start of a line"])
def test_tags_in_sql_text_make_no_page(feed: str) -> None:
    """A statement that writes HTML stands in a text report."""
    text = f"SQL ordered by Gets  DB/Inst: FIG/fig1  Snaps: 10-11\n{SQL_HEADS}" + SQL_ROW.format(
        number="13", text=f"select '{feed}<html><table><tr><td>'||a||'{feed}</td></tr></table>' from b"
    )
    report = read_awr(text.encode())
    assert (report.form, report["sql"].height) == ("text", 1)
    session = "SQL> select '<table><tr>' from dual;\n\n<table><tr>\n\nSQL> @awrrpt\n" + text
    assert read_awr(session.encode())["sql"].height == 1


def test_segments_of_a_statspack_of_9i() -> None:
    """Its sections are named by the statistic: `Top 5 Physical Reads per Segment`."""
    text = """Top 5 Buf. Busy Waits per Segment for DB: FIG  Instance: fig1  Snaps: 11 -12
-> End Segment Buffer Busy Waits Threshold:       100

                                           Subobject    Obj.  Buffer Busy
Owner      Tablespace Object Name          Name         Type        Waits %Total
---------- ---------- -------------------- ------------ ----- ----------- ------
FIG        FIG_DATA   ORDERS                            TABLE       1,004  93.14
          -------------------------------------------------------------
Top 5 Physical Reads per Segment for DB: FIG  Instance: fig1  Snaps: 11 -12
-> End Segment Physical Reads Threshold:      1000

                                           Subobject    Obj.    Physical
Owner      Tablespace Object Name          Name         Type       Reads %Total
---------- ---------- -------------------- ------------ ----- ---------- ------
FIG        FIG_DATA   ITEMS                             TABLE     31,204  61.20
          -------------------------------------------------------------
"""
    frame = read_awr(text.encode())["segments"]
    assert frame.select("ordered_by", "object", "value", "total_pct").rows() == [
        ("buffer_busy_waits", "ORDERS", 1_004, 93.14),
        ("physical_reads", "ITEMS", 31_204, 61.20),
    ]


@pytest.mark.parametrize(("heading", "found"), [("GC Buffer Busy", "gc_buffer_busy"), ("Value", "waits of all kinds")])
def test_segments_below_a_title_that_is_not_known(heading: str, found: str) -> None:
    """What the section counts is named by its column, where its title names something else."""
    text = """Segments by Waits of All Kinds     DB/Inst: FIG/fig  Snaps: 1-2

           Tablespace                      Subobject  Obj.
Owner         Name    Object Name            Name     Type  {:>14} %Total
---------- ---------- -------------------- ---------- ----- -------------- -------
FIG        FIGS       ALPHA                           TABLE             39    9.29
"""
    frame = read_awr(text.format(heading).encode())["segments"]
    assert frame.select("ordered_by", "object", "value").rows() == [(found, "ALPHA", 39)]
