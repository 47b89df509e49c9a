"""What DBMS_XPLAN and SQL Monitor print around a plan."""

import pytest

from sqlplusparse import Spool, read_spool

STATISTICS = ("", "", "Statistics", "-" * 20, "          3  consistent gets", "          2  physical reads")
PLAN = (
    "Plan hash value: 2871",
    "",
    "-" * 40,
    "| Id  | Operation          | Name | Rows  |",
    "-" * 40,
    "|   0 | SELECT STATEMENT   |      |     7 |",
    "|*  1 |  TABLE ACCESS FULL | T    |     7 |",
    "-" * 40,
    "",
)
SECTIONS = (
    (
        "Hint Report (identified by operation id / Query Block Name / Object Alias):",
        "Total hints for statement: 2 (U - Unused (1), N - Unresolved (1))",
        "-" * 40,
        "",
        "   0 -  STATEMENT",
        "           -  parallel(4)",
        "",
        "   1 -  SEL$1",
        "         N -  index(nope)",
    ),
    (
        "SQL Analysis Report (identified by operation id/Query Block Name/Object Alias):",
        "-" * 40,
        "",
        "   1 -  SEL$1",
        "           -  The query block has 1 cartesian product which may be",
        "              expensive.",
    ),
    ("Query Block Registry:", "-" * 21, "", '  <q o="2" f="y"><n><![CDATA[SEL$1]]></n></q>'),
    ("Result Cache Information (identified by operation id):", "-" * 40, "", "   1 - column-count=1"),
    ("Sql Plan Directive information:", "-" * 31, "", "  Used directive ids:", "    123456"),
)
NOTE = ("", "Note", "-----", "   - this is an adaptive plan")


def read(*lines: str) -> Spool:
    """A session of some lines."""
    return read_spool("\n".join([*lines, ""]).encode())


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section[0])
@pytest.mark.parametrize("strip", [False, True])
def test_sections(section: tuple[str, ...], *, strip: bool) -> None:
    """Below every section the note is the plan's, and the statistics and the time are the statement's."""
    lines = (
        "SQL> select * from t;",
        "",
        "Elapsed: 00:00:00.02",
        "",
        "Execution Plan",
        "-" * 20,
        *PLAN,
        *section,
        *NOTE,
    )
    if strip and section[0].startswith(("Hint", "SQL", "Query")):
        lines = tuple(line.strip() for line in lines)
    spool = read(*lines, *STATISTICS)

    assert spool.statements.select("elapsed_s", "plan_hash_value", "physical_reads").rows() == [(0.02, 2871, 2)]
    assert spool.plans["notes"].to_list() == [["this is an adaptive plan"], []]
    assert spool.tables.height == 0
    assert strip or set(spool.lines()["part"]) == {"record", "non-record"}


def test_text_below_a_plan() -> None:
    """Two blank lines end the predicates: a table below them is a table."""
    predicate = ("Predicate Information (identified by operation id):", "-" * 40, "", '   1 - filter("A"=1)')
    table = (
        "",
        "",
        "Timers of the run",
        "=================",
        "",
        "Timer        Elapsed",
        "---------- ---------",
        "Open            0.01",
    )
    spool = read("Execution Plan", "-" * 20, *PLAN, *predicate, *table)

    assert spool.plans["predicates"].to_list()[1] == ['filter("A"=1)']
    assert spool.table(1).rows() == [("Open", 0.01)]


@pytest.mark.parametrize("step", [1, 2, 3])
def test_depth(step: int) -> None:
    """The depth counts the operations above one, however wide each step to the right is."""
    names = [" " * step * depth + f"STEP {depth}" for depth in (0, 1, 2, 1)]
    rows = [f"|   {place} | {name:<20}|" for place, name in enumerate(names)]
    spool = read("Plan hash value: 1", "-" * 28, "| Id  | Operation           |", "-" * 28, *rows, "-" * 28)

    assert spool.plans.select("parent_id", "depth").rows() == [(None, 0), (0, 1), (1, 2), (0, 1)]


def test_monitor() -> None:
    """A report of SQL Monitor is one statement's: its plan is read, its headings and texts are no results."""
    rule = "=" * 85
    spool = read(
        *("SQL> select dbms_sqltune.report_sql_monitor('7hm3k2d9q0abc') from dual;", "", "REPORT", "-" * 60),
        *(
            "SQL Monitoring Report",
            "",
            "SQL Text",
            "-" * 30,
            "select count(*) from t",
            "",
            "Global Information",
            "-" * 30,
        ),
        *(" Status              :  DONE (ALL ROWS)", " Duration            :  9s", "", "Global Stats", "=" * 30),
        *("| Elapsed |   Cpu   | Fetch |", "| Time(s) | Time(s) | Calls |", "=" * 30, "|    9.01 |    2.35 |     1 |"),
        *("=" * 30, "", "SQL Plan Monitoring Details (Plan Hash Value=2871)", rule),
        "| Id |      Operation       | Name |  Rows   | Cost |   Time    | Execs |   Rows   | Activity |",
        "|    |                      |      | (Estim) |      | Active(s) |       | (Actual) |   (%)    |",
        rule,
        "|  0 | SELECT STATEMENT     |      |         |      |         9 |     1 |        1 |          |",
        "|  1 |   SORT AGGREGATE     |      |       1 |      |         9 |     1 |        1 |    11.11 |",
        "|  2 |    TABLE ACCESS FULL | T    |     10M | 274K |         9 |     1 |      12M |    88.89 |",
        "|    |                      |      |         |      |           |       |          |          |",
        *(rule, "", "1 row selected.", "", "Elapsed: 00:00:00.31"),
    )

    assert spool.statements.select("rows", "elapsed_s").rows() == [(1, 0.31)]
    assert spool.plans.select("layout", "id", "parent_id", "depth", "e_rows", "a_rows", "starts", "cost").rows() == [
        ("monitor", 0, None, 0, None, 1.0, 1.0, None),
        ("monitor", 1, 0, 1, 1.0, 1.0, 1.0, None),
        ("monitor", 2, 1, 2, 1e7, 1.2e7, 1.0, 274000.0),
    ]
    assert spool.table(1).rows() == [("SQL Monitoring Report",)]
    assert spool.tables.height == 1


def test_plan_that_is_gone() -> None:
    """The text of a cursor whose plan is gone is no statement of the session; rows and time are the query's."""
    spool = read(
        *("SQL> select * from table(dbms_xplan.display_cursor);", "", "PLAN_TABLE_OUTPUT", "-" * 40),
        *("SQL_ID  7hm3k2d9q0abc, child number 0", "", "BEGIN DBMS_OUTPUT.GET_LINES(:LINES, :NUMLINES); END;", ""),
        *("NOTE: cannot fetch plan for SQL_ID: 7hm3k2d9q0abc, CHILD_NUMBER: 0", "      Please verify value of SQL_ID"),
        *("", "", "8 rows selected.", "", "Elapsed: 00:00:00.02"),
    )

    assert spool.statements.select("kind", "rows", "elapsed_s").rows() == [("select", 8, 0.02)]
    assert spool.plans.height == 0


ADAPTIVE = """SQL> select * from table(dbms_xplan.display_cursor(null, null, 'adaptive'));

PLAN_TABLE_OUTPUT
--------------------------------------------------
SQL_ID  7hm3k2d9q0abc, child number 0
-------------------------------------
select /*+ plums */ * from plums p, seeds s where p.id = s.id

Plan hash value: 123456789

---------------------------------------------------
|   Id  | Operation               | Name  | Rows  |
---------------------------------------------------
|     0 | SELECT STATEMENT        |       |     1 |
|  *  1 |  HASH JOIN              |       |     1 |
|-    2 |   NESTED LOOPS          |       |     1 |
|-    3 |    STATISTICS COLLECTOR |       |     1 |
|     4 |     TABLE ACCESS FULL   | PLUMS |     1 |
|- *  5 |    INDEX RANGE SCAN     | S_PK  |     1 |
|     6 |   TABLE ACCESS FULL     | SEEDS |     1 |
---------------------------------------------------

Note
-----
   - this is an adaptive plan (rows marked '-' are inactive)

"""


def test_inactive_rows_of_an_adaptive_plan() -> None:
    """Rows that the adaptive plan did not use in the end are marked in the frame, too."""
    plans = read_spool(ADAPTIVE.encode()).plans

    assert plans.filter("is_inactive")["id"].to_list() == [2, 3, 5]
    assert plans["is_inactive"].null_count() == 0


def test_the_id_that_feedback_adds_is_no_part_of_a_plan() -> None:
    """SET FEEDBACK ON SQL_ID, of 18c and later, prints the id of a statement below its rows."""
    log = "SQL> select 1 n from dual;\n\n         N\n----------\n         1\n\n1 row selected.\n\n"
    log += "SQL_ID: 7hm3k2d9q0abc\n\nElapsed: 00:00:00.01\n"
    spool = read_spool(log.encode())

    assert spool.diagnostics.is_empty()
    assert spool.statements["elapsed_s"].to_list() == [0.01]
