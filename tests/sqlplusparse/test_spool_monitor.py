"""Reports of SQL Monitor, and plans of cursors with the statement that they explain."""

import pytest

from sqlplusparse import read_spool

REPORT = """\
SQL> select dbms_sqltune.report_sql_monitor(type => 'text') from dual;

SQL Monitoring Report

SQL Text
------------------------------
select count(*) from parts

Global Information
------------------------------
 Status              :  DONE (ALL ROWS)
 Instance ID         :  2
 SQL ID              :  5f7xk2d9q0abc
 SQL Execution ID    :  16777219
 Execution Started   :  11/01/2014 21:05:44
 Duration            :  39s

Global Stats
==========================================================================
| Elapsed |   Cpu   |    IO    | Fetch | Buffer | Read | Read  | Write | Strange |
| Time(s) | Time(s) | Waits(s) | Calls |  Gets  | Reqs | Bytes | Reqs  | Things  |
==========================================================================
|      39 |      27 |     0.27 |     1 |    10M |  512 | 1.5GB |    3  |       7 |
==========================================================================

SQL Plan Monitoring Details (Plan Hash Value=740244311)
=====================================================================================================
| Id   |    Operation     |  Rows   |   Time    | Start  | Execs |   Rows   | Read  |  Mem  | Activity |Activity Detail|
|      |                  | (Estim) | Active(s) | Active |       | (Actual) | Bytes | (Max) |   (%)    | (# samples)   |
==============================================================================================================
|    0 | SELECT STATEMENT |         |        38 |     +2 |     1 |        1 |       |       |          |               |
| -> 1 |  TABLE ACCESS FUL|     70M |        38 |     +2 |     1 |      70M | 1.5GB |  512K |   100.00 | Cpu (35)      |
|      |                  |         |           |        |       |          |       |       |          | read (4)      |
==============================================================================================================

"""
PLAN = """\
SQL> select count(*)
  2  from parts
  3  where n > 7;

  COUNT(*)
----------
       512

SQL> select * from table(dbms_xplan.display_cursor);

PLAN_TABLE_OUTPUT
--------------------------------------------------------------------------------
SQL_ID  5f7xk2d9q0abc, child number 3
-------------------------------------
{text}

Plan hash value: 3547112603

--------------------------------------------
| Id  | Operation          | Name  | E-Rows |
--------------------------------------------
|   0 | SELECT STATEMENT   |       |        |
|   1 |  TABLE ACCESS FULL | PARTS |     12 |
--------------------------------------------

13 rows selected.

"""


def test_global_statistics() -> None:
    """Each figure of the report has its column, bytes and counts scaled, with the rounding of what was printed."""
    spool = read_spool(REPORT.encode())
    row = spool.monitors.row(0, named=True)

    assert (row["statement"], row["sql_id"], row["plan_hash_value"]) == (1, "5f7xk2d9q0abc", 740244311)
    assert (row["instance"], row["duration_s"], row["status"]) == (2, 39.0, "DONE (ALL ROWS)")
    assert (row["elapsed_s"], row["elapsed_s_lo"], row["elapsed_s_hi"]) == (39.0, 38.5, 39.5)
    assert (row["io_wait_s"], row["buffer_gets"], row["read_requests"], row["write_requests"]) == (
        0.27,
        1e7,
        512.0,
        3.0,
    )
    assert (row["read_bytes"], row["read_bytes_lo"]) == (1.5 * 2**30, pytest.approx(1.45 * 2**30))
    assert row["write_bytes"] is None
    unknown = spool.diagnostics.filter(spool.diagnostics["kind"] == "unknown_name")
    assert unknown["reason"].to_list() == ["SQL Monitor: the figures under 'strange things' are not read"]


def test_plan_lines() -> None:
    """Rows, reads, memory and activity of each line; what its activity was goes on in the lines below."""
    spool = read_spool(REPORT.encode())
    columns = ("id", "operation", "e_rows", "active_s", "start_active_s", "starts", "a_rows", "read_bytes")

    assert spool.monitor_lines.select(columns).rows() == [
        (0, "SELECT STATEMENT", None, 38.0, 2.0, 1.0, 1.0, None),
        (1, "TABLE ACCESS FUL", 7e7, 38.0, 2.0, 1.0, 7e7, 1.5 * 2**30),
    ]
    assert spool.monitor_lines.select("max_memory_bytes", "activity_pct", "activity_detail").row(1) == (
        512.0 * 1024,
        100.0,
        "Cpu (35)\nread (4)",
    )
    assert spool.plans["plan_hash_value"].unique().to_list() == [740244311]
    assert spool.plans["sql_id"].unique().to_list() == ["5f7xk2d9q0abc"]


@pytest.mark.parametrize(
    "text", ["select count(*) from parts where n > 7", "SELECT count(*)\nfrom parts  where n\n> 7"]
)
def test_statement_that_a_plan_explains(text: str) -> None:
    """A cursor's plan has the text shown above it, and the statement of the session with that text."""
    spool = read_spool(PLAN.format(text=text).encode())

    assert spool.plans.select("statement", "sql_id", "child_number", "plan_hash_value", "explains").unique().rows() == [
        (2, "5f7xk2d9q0abc", 3, 3547112603, 1)
    ]
    assert spool.plans["sql_text"].to_list() == [" ".join(text.split("\n")), None]
    assert spool.statements["plan_hash_value"].to_list() == [3547112603, None]


def test_plan_of_a_statement_that_is_not_shown() -> None:
    """Another text explains no statement of the session."""
    spool = read_spool(PLAN.format(text="select max(n) from parts").encode())

    assert spool.plans["explains"].null_count() == 2
    assert spool.statements["plan_hash_value"].null_count() == 2


def test_a_plan_line_whose_number_no_frame_holds() -> None:
    """Its row is a diagnostic; the other rows are read."""
    damaged = REPORT.replace("|    0 | SELECT", f"| {'9' * 5000} | SELECT")
    spool = read_spool(damaged.encode())

    assert spool.monitor_lines["id"].to_list() == [1]
    assert "the number of a plan line is too large" in spool.diagnostics["reason"].to_list()


@pytest.mark.parametrize(
    ("word", "other", "reason"),
    [
        ("SQL Plan Monitoring Details", "SQL Plan Watching Details  ", "a plan of SQL Monitor without its title"),
        ("| -> 1 |", "| -> x |", "figures of a plan line without a number"),
        ("| Bytes | (Max) |", "| Reqs  | (Mxx) |", "SQL Monitor: the figures under 'mem (mxx)' are not read"),
        (
            "| Active |       | (Actual) |",
            "| Active |       | (Estim)  |",
            "the figures under 'rows (estim), again' are not",
        ),
    ],
)
def test_another_word_in_a_report(word: str, other: str, reason: str) -> None:
    """Figures of a plan of SQL Monitor are read or have a diagnostic."""
    reasons = read_spool(REPORT.replace(word, other, 1).encode()).diagnostics["reason"].to_list()

    assert word in REPORT
    assert any(reason in found for found in reasons), reasons
    assert not any(reason in found for found in read_spool(REPORT.encode()).diagnostics["reason"])
