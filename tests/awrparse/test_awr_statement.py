"""Reports on one SQL statement (``awrsqrpt``): its plans with their figures and their lines, in text and HTML."""

from __future__ import annotations

import re
from html import escape
from typing import Final

import pytest

from awrparse import read_awr

HEAD: Final = """
WORKLOAD REPOSITORY SQL Report

Snapshot Period Summary

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
PLUM          1234567890 plum1               1 01-Jan-15 00:03 11.2.0.4.0  NO

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 02-Jan-15 10:00:07        50       1.7
  End Snap:       101 02-Jan-15 11:00:09        52       1.8
   Elapsed:               60.03 (mins)
   DB Time:               10.02 (mins)

SQL Summary                              DB/Inst: PLUM/plum1  Snaps: 100-101

                Elapsed
   SQL Id      Time (ms)
------------- ----------
7ws837zynp1zv     12,345
Module: plum_load
select /* fruit */ sum(weight) from plums where tree = :t

          -------------------------------------------------------------

SQL ID: 7ws837zynp1zv                    DB/Inst: PLUM/plum1  Snaps: 100-101
-> 1st Capture and Last Capture Snap IDs
   refer to Snapshot IDs within the snapshot range
-> select /* fruit */ sum(weight) from plums where tree = :t

    Plan Hash           Total Elapsed                 1st Capture   Last Capture
#   Value                    Time(ms)    Executions       Snap ID        Snap ID
--- ---------------- ---------------- ------------- ------------- --------------
1   2222222222                  8,345            60           101            101
2   3333333333                  4,000            40           101            101
          -------------------------------------------------------------

"""
PLAN: Final = """
Plan {number}(PHV: {hash})
-----------------------

Plan Statistics                          DB/Inst: PLUM/plum1  Snaps: 100-101
-> % Total DB Time is the Elapsed Time of the SQL statement divided
   into the Total Database Time multiplied by 100

Stat Name                                Statement   Per Execution % Snap
---------------------------------------- ---------- -------------- -------
Elapsed Time (ms)                        {time:>10}          139.1     1.4
Executions                                       60            N/A     N/A
          -------------------------------------------------------------

Execution Plan
----------------------------------------------------------------------------
| Id  | Operation          | Name  | Rows  | Bytes | Cost (%CPU)| Time     |
----------------------------------------------------------------------------
|   0 | SELECT STATEMENT   |       |       |       |     2 (100)|          |
|   1 |  SORT AGGREGATE    |       |     1 |     5 |            |          |
|*  2 |   {step:<17}| PLUMS |    1M |  2000 |     2   (0)| 00:00:01 |
----------------------------------------------------------------------------

"""
END: Final = """
Full SQL Text

SQL ID       SQL Text
------------ -----------------------------------------------------------------
7ws837zynp1z select /* fruit */ sum(weight) from plums where tree = :t


Report written to awrsqrpt_1_100_101.txt
"""
PLANS: Final = [(1, "2222222222", "8,345", "TABLE ACCESS FULL"), (2, "3333333333", "4,000", "INDEX FULL SCAN")]


def as_text() -> str:
    """The report as text."""
    plans = (PLAN.format(number=number, hash=value, time=time, step=step) for number, value, time, step in PLANS)
    return HEAD + "".join(plans) + END


def as_page() -> str:
    """The report as a page: the same plans below headings of their own."""

    def table(*rows: tuple[str, ...]) -> str:
        cells = [[f"<td>{escape(cell)}</td>" for cell in row] for row in rows]
        cells[0] = [cell.replace("td>", "th>") for cell in cells[0]]
        return "<table>" + "".join("<tr>" + "".join(row) + "</tr>" for row in cells) + "</table>"

    listed = [(str(number), value, time, str(60 - 20 * (number - 1)), "101", "101") for number, value, time, _ in PLANS]
    heads = (
        "#",
        "Plan Hash Value",
        "Total Elapsed Time(ms)",
        "Executions",
        "1st Capture Snap ID",
        "Last Capture Snap ID",
    )
    parts = ["<html><head><title>AWR SQL Report for DB: PLUM, Inst: plum1, Snaps: 100-101</title></head><body>"]
    parts += ["<h1>WORKLOAD REPOSITORY SQL Report</h1><h3>SQL ID: 7ws837zynp1zv</h3>", table(heads, *listed)]
    for number, value, time, step in PLANS:
        parts += [f"<h3>Plan {number}(PHV: {value})</h3><h3>Plan Statistics</h3>"]
        figures = ("Elapsed Time (ms)", time, "139.1", "1.4"), ("Executions", "60", "N/A", "N/A")
        parts += [table(("Stat Name", "Statement", "Per Execution", "% Snap"), *figures), "<h3>Execution Plan</h3>"]
        lines = [
            ("0", "SELECT STATEMENT", "", "", "", "2 (100)", ""),
            ("1", "\N{NO-BREAK SPACE}SORT AGGREGATE", "", "1", "5", "", ""),
            ("* 2", step, "PLUMS", "1M", "2000", "2 (0)", "00:00:01"),
        ]
        parts.append(table(("Id", "Operation", "Name", "Rows", "Bytes", "Cost (%CPU)", "Time"), *lines))
    return "".join(parts) + "</body></html>"


@pytest.mark.parametrize("form", ["text", "html"])
def test_plans_have_their_statement_and_their_figures(form: str) -> None:
    """Each figure and each line of a plan has the statement and the hash value that stand above it."""
    report = read_awr((as_text() if form == "text" else as_page()).encode(), printed=True)

    assert (report.kind, report.form) == ("awr_sql", form)
    assert report.info.db_name == "PLUM"
    assert report.diagnostics.height == 0
    keys = [("7ws837zynp1zv", 2222222222), ("7ws837zynp1zv", 3333333333)]
    plans = report["sql_plans"]
    assert plans.select("sql_id", "plan_hash_value").rows() == keys
    assert plans["elapsed_ms"].to_list() == [8345.0, 4000.0]
    figures = report["sql_plan_statistics"]
    assert figures.select("sql_id", "plan_hash_value", "statistic", "value", "per_exec").rows() == [
        (*keys[0], "Elapsed Time (ms)", 8345.0, 139.1),
        (*keys[0], "Executions", 60.0, None),
        (*keys[1], "Elapsed Time (ms)", 4000.0, 139.1),
        (*keys[1], "Executions", 60.0, None),
    ]
    lines = report["sql_plan_lines"]
    assert lines.select("sql_id", "plan_hash_value").unique(maintain_order=True).rows() == keys
    assert lines.select("line_id", "operation", "estimated_rows", "cost", "cost_cpu_pct").rows()[-1] == (
        2,
        "INDEX FULL SCAN",
        1_000_000,
        2,
        0.0,
    )
    assert lines["depth"].to_list() == [0, 1, 2] * 2 if form == "text" else [None] * 6


def test_the_head_of_the_text_is_read() -> None:
    """Database, release and period stand above the statement."""
    report = read_awr(as_text().encode())

    assert (report.info.instance, report.info.release, report.info.begin_snap_id) == ("plum1", "11.2.0.4.0", 100)
    assert report.raw_tables.cells("SQL Summary") == [
        ("7ws837zynp1zv", "12,345", "plum_load", "select /* fruit */ sum(weight) from plums where tree = :t")
    ]
    assert sum(report.line_counts.values()) == as_text().count("\n")


def test_a_report_without_its_plan_titles_has_no_hash_value() -> None:
    """Where the title of a plan is lost, its figures are not given to another plan."""
    text = re.sub(r"Plan 2\(PHV: 3333333333\)\n-+\n", "", as_text())
    whole = read_awr(as_text().encode())["sql_plan_statistics"]
    torn = read_awr(text.encode())["sql_plan_statistics"]

    assert torn.height == whole.height
    assert torn["plan_hash_value"].to_list() == [2222222222] * 2 + [None] * 2


def test_a_statement_that_names_addm_is_no_addm_report() -> None:
    """A line of SQL text with ADDM and a quoted name stays in its statement, and the next statement is read."""
    text = as_text().replace(
        "select /* fruit */ sum(weight) from plums where tree = :t\n\n          ---",
        "select /* ADDM */ 1 from plums where task = 'ADDM:1'\nand tree = :t\n\n          ---",
    )
    report = read_awr(text.encode())

    assert report.raw_tables["SQL Summary"]["SQL Text"][0].endswith("and tree = :t")
    assert report["sql_plans"].height == 2
    assert report.line_counts.get("prose", 0) == 0


def test_markdown_in_a_quoted_mail() -> None:
    """The bars of a table of Markdown are found behind the marks of a quotation, too."""
    lines = ["Hello,", "", "### Top 5 Timed Foreground Events", ""]
    lines += ["| Event | Waits | Time(s) | Avg wait (ms) | % DB time | Wait Class |", "|---|--:|--:|:-:|---|---|"]
    lines += ["| log file sync | 1,234 | 5 | 4 | 12.5 | Commit |", "| a \\| b | 2 | 6 | 3000 | 7.5 | Other |"]
    plain, quoted = "\n".join(lines), "\n".join(f"> {line}" for line in lines)

    for text in (plain, quoted, plain.replace("\n", "\r\n")):
        assert read_awr(text.encode())["top_events"].select("event", "waits").rows() == [
            ("log file sync", 1234),
            ("a | b", 2),
        ]
