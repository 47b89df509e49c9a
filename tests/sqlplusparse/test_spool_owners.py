"""Owners: which statement an Elapsed, a feedback and a plan belong to, by the client's order of output."""

import polars as pl
import pytest

from sqlplusparse import Spool, read_spool

PLAN = """\
SQL_ID  5f7xk2d9q0abc, child number 0
-------------------------------------
select count(*) from parts

Plan hash value: 3547112603

----------------------------------------------------
| Id  | Operation          | Name  | Starts | A-Rows |
----------------------------------------------------
|   0 | SELECT STATEMENT   |       |      1 |      1 |
|   1 |  SORT AGGREGATE    |       |      1 |      1 |
----------------------------------------------------

"""
TRACE = """
Statistics
----------------------------------------------------------
          0  recursive calls
          3  db block gets
          6  consistent gets
          5  physical reads
          0  redo size
        549  bytes sent via SQL*Net to client
        624  bytes received via SQL*Net from client
          2  SQL*Net roundtrips to/from client
          0  sorts (memory)
          0  sorts (disk)
          1  rows processed

"""


def owned(text: str) -> list[tuple[object, ...]]:
    """Kind, rows, seconds and reads of each statement."""
    return read(text).statements.select("kind", "rows", "elapsed_s", "physical_reads").rows()


def read(text: str) -> Spool:
    """The session of a text."""
    return read_spool(text.encode())


@pytest.mark.parametrize(
    ("changed", "kind", "commit"),
    [
        ("3 rows created.", "insert", "Commit complete."),
        ("1 row deleted.", "delete", "Commit complete."),
        ("12 rows merged.", "merge", "Commit complete."),
        ("2 Zeilen aktualisiert.", "update", "Transaktion mit COMMIT abgeschlossen."),
        ("3行が作成されました。", "insert", "コミットが完了しました。"),
        ("PL/SQL procedure successfully completed.", "plsql", "Commit complete."),
    ],
)
@pytest.mark.parametrize("is_echoed", [True, False])
def test_autocommit(changed: str, kind: str, commit: str, *, is_echoed: bool) -> None:
    """Behind another feedback, SET AUTOCOMMIT's own is no statement: the Elapsed is the statement's above it."""
    typed = {"plsql": "exec load_parts", "update": "update t set a = 1;"}.get(kind, f"{kind} into t values (1);")
    text = (f"SQL> {typed}\n" if is_echoed else "") + f"\n{changed}\n\n{commit}\nElapsed: 00:00:07.87\n"
    rows = int("".join(filter(str.isdigit, changed)) or 0) or None

    assert owned(text) == [(kind, rows, 7.87, None)]


def test_autocommit_with_autotrace() -> None:
    """The statistics behind the Elapsed belong to the same statement."""
    text = f"SQL> insert into t select * from s;\n\n9 rows created.\n\nCommit complete.\nElapsed: 00:00:01.50\n{TRACE}"

    assert owned(text) == [("insert", 9, 1.5, 5)]


def test_commit_is_a_statement_of_its_own() -> None:
    """A COMMIT that is not echoed stands below two blank lines and above one."""
    text = "\n3 rows created.\n\nElapsed: 00:00:02.00\n\n\nCommit complete.\n\nElapsed: 00:00:00.04\n"

    assert owned(text) == [("insert", 3, 2.0, None), ("transaction", None, 0.04, None)]
    assert owned("SQL> commit;\n\nCommit complete.\n\nElapsed: 00:00:00.04\n") == [("transaction", None, 0.04, None)]


def test_commit_that_two_may_own() -> None:
    """Without blank lines nothing says whether a COMMIT was run: the Elapsed has no owner, and a diagnostic says so."""
    spool = read("3 rows created.\nCommit complete.\nElapsed: 00:00:05.50\n")

    assert spool.statements["elapsed_s"].null_count() == spool.statements.height
    assert spool.timings.select("statement", "elapsed_s").rows() == [(None, 5.5)]
    assert spool.diagnostics["kind"].to_list() == ["no_owner"]
    assert owned("SQL> set timing on auto on\n3 rows created.\nCommit complete.\nElapsed: 00:00:05.50\n") == [
        ("insert", 3, 5.5, None)
    ]


@pytest.mark.parametrize(
    "error", ["SP2-0612: Error generating AUTOTRACE EXPLAIN report", "SP2-0611: Error enabling STATISTICS report"]
)
def test_error_of_autotrace_before_the_elapsed(error: str) -> None:
    """An error of autotrace ends no statement, whether it stands above the Elapsed or below it."""
    grid = "\n         N\n----------\n        42\n\n"
    both = f"SQL> select n from t;\n{grid}{error}\nElapsed: 00:00:31.90\n"
    both += f"SQL> select n from s;\n{grid}Elapsed: 00:00:00.01\n\n{error}\n"

    assert owned(both) == [("select", None, 31.9, None), ("select", None, 0.01, None)]
    assert owned(f"{grid}{error}\nElapsed: 00:00:31.90\n") == [("select", None, 31.9, None)]


def test_output_of_functions_behind_the_feedback() -> None:
    """What a query's functions print through DBMS_OUTPUT stands between its feedback and its Elapsed."""
    text = "SQL> select f(n) from t;\n\n      F(N)\n----------\n         1\n\n1 row selected.\n\n"
    text += "called with 7\ncalled with 8\nElapsed: 00:00:03.00\n"

    assert owned(text) == [("select", 1, 3.0, None)]


def test_plan_that_a_block_printed() -> None:
    """A plan out of DBMS_OUTPUT belongs to the block whose end stands below, not to the query above."""
    grid = "\nNAME         VERSION\n------------ ----------\nLAB          19.0\n\n"
    end = "PL/SQL procedure successfully completed.\n\nElapsed: 00:00:00.33\n"
    spool = read(f"{grid}Elapsed: 00:00:00.10\nRows: 7\n{PLAN}\n{end}")

    assert spool.statements.select("kind", "elapsed_s").rows() == [("select", 0.1), ("plsql", 0.33)]
    assert spool.plans["statement"].unique().to_list() == [2]
    assert spool.timings["statement"].to_list() == [1, 2]


@pytest.mark.parametrize("feedback", ["", "1 row selected.\n\n"])
def test_plan_that_a_block_printed_without_timing(feedback: str) -> None:
    """A plan below no heading is no result of a query, also where no Elapsed says so."""
    grid = f"\nNAME         VERSION\n------------ ----------\nLAB          19.0\n\n{feedback}"
    spool = read(f"{grid}Rows: 7\n{PLAN}\nPL/SQL procedure successfully completed.\n\n")

    assert spool.statements["kind"].to_list()[-1] == "plsql"
    assert spool.plans["statement"].unique().to_list() == [spool.statements.height]


def test_texts_of_a_query_that_read_as_tables() -> None:
    """With timing on, tables before one Elapsed are one query's, whose count says that rows are missing."""
    table = "Name   Calls\n------ -----\nopen       1\nread      12\n\n"
    before = "SQL> set timing on\nSQL> create table t (n number);\n\nTable created.\n\nElapsed: 00:00:00.09\n"
    spool = read(f"{before}{table}{table.replace('Name', 'File')}\n9 rows selected.\n\nElapsed: 00:00:01.25\n")

    assert spool.statements.select("kind", "rows", "elapsed_s").rows() == [("ddl", None, 0.09), ("select", 9, 1.25)]
    assert "sum" in spool.diagnostics["kind"].to_list()


def test_results_that_a_block_printed() -> None:
    """With timing on, underlined text and tables above the end of a block are the block's: a query has an Elapsed."""
    report = "SUMMARY\n---------------\n Findings : 3\n\nName   Calls\n------ -----\nopen       1\nread      12\n\n"
    spool = read(
        f"\nElapsed: 00:00:00.10\n\n{report}\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:02.71\n"
    )

    assert spool.statements.select("kind", "elapsed_s").rows() == [(None, 0.1), ("plsql", 2.71)]


@pytest.mark.parametrize("rule", [11, 45])
def test_report_that_a_typed_block_printed(rule: int) -> None:
    """Underlined titles among what a typed block prints make no statements of their own: the time is the block's."""
    titles = "".join(f"\n{title}\n{'-' * rule}\n Owner : HR\n Count : 3\n" for title in ("INFORMATION", "ALL RESULTS"))
    grid = "SQL> select n from t;\n\n         N\n----------\n         1\n\nElapsed: 00:00:00.01\n"
    end = "\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:02.71\n"
    spool = read(f"SQL> exec report_it\n{titles}{end}{grid}")

    assert spool.statements.select("kind", "elapsed_s").rows() == [("plsql", 2.71), ("select", 0.01)]
    assert spool.table(spool.tables.height).rows() == [(1,)]
    assert spool.tables["statement"].to_list()[-1] == 2


def test_autotrace_below_what_it_cannot_belong_to() -> None:
    """DDL has no statistics of autotrace: the Elapsed above them is a query's that printed nothing, or nobody's."""
    unechoed = read(f"\nSystem altered.\n\nElapsed: 00:00:00.11\n{TRACE}")
    echoed = read(f"SQL> alter system flush buffer_cache;\n\nSystem altered.\n\nElapsed: 00:00:00.11\n{TRACE}")

    assert unechoed.statements.select("kind", "elapsed_s", "physical_reads").rows() == [
        ("alter system", None, None),
        (None, 0.11, 5),
    ]
    assert echoed.statements.select("kind", "elapsed_s", "physical_reads").rows() == [
        ("alter system", None, None),
        (None, None, 5),
    ]
    assert echoed.diagnostics.filter(pl.col("kind") == "no_owner")["line"].to_list() == [5]


def test_elapsed_printed_again_at_the_end_of_a_script() -> None:
    """SQLcl repeats the last Elapsed of a script: it is kept, without an owner, as a repetition."""
    clock = "Elapsed: 00:00:01.818\n"
    text = f"SQL> @load\nSQL> drop table t;\n\nTable T dropped.\n\n{clock}{clock}SQL> select 1 from dual;\n"
    spool = read(text)

    assert spool.statements["elapsed_s"].sum() == 1.818
    assert spool.timings.select("statement", "origin").rows() == [(1, "statement"), (None, "repeat")]
    assert spool.diagnostics["kind"].to_list() == ["no_owner"]
    silent = read("Elapsed: 00:00:00.010\nElapsed: 00:00:00.010\n")
    assert silent.timings["statement"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("between", "again", "origin"),
    [
        ("SQL> set feedback off\n", "00:01:35.368", "repeat"),
        ("", "00:01:35.369", "repeat"),
        ("SQL> set feedback off\n", "00:01:35.371", "statement"),
        ("SQL> @load.sql\n", "00:01:35.368", "statement"),
    ],
)
def test_elapsed_printed_again_below_a_command(between: str, again: str, origin: str) -> None:
    """A setting may stand between, and a millisecond; a script that was run has times of its own."""
    first = "SQL> select 1 from t;\n\n1 row selected. \nElapsed: 00:01:35.368\n"

    assert read(f"{first}{between}Elapsed: {again}\n").timings["origin"].to_list() == ["statement", origin]


def test_an_error_of_the_client_takes_no_time() -> None:
    """The client prints no Elapsed for its own error: the one below has no owner, and a diagnostic says so."""
    spool = read('SP2-0734: unknown command beginning "foo"\n\nElapsed: 00:01:00.00\n\nTable created.\n')

    assert spool.timings.select("statement", "elapsed_s").rows() == [(None, 60.0)]
    assert spool.statements.select("error", "elapsed_s").rows() == [("SP2-0734", None), (None, None)]
    assert "no_owner" in spool.diagnostics["kind"].to_list()


def test_autocommit_in_a_script_without_echo() -> None:
    """One blank line above `Commit complete.` is of SET AUTOCOMMIT, also where its Elapsed stands below another."""
    text = "SQL> @run.sql\n\n79652 rows deleted.\n\nCommit complete.\n\nElapsed: 02:06:32.12\n"

    assert owned(text) == [("delete", 79652, 7592.12, None)]


def test_heading_of_a_plan_read_from_a_collection() -> None:
    """The heading of a query that printed a plan is the plan's own, whatever the column is called."""
    spool = read(f"\nTEXT\n{'-' * 80}\n{PLAN}\n9 rows selected.\n\nElapsed: 00:00:00.13\n")

    assert spool.tables.height == 0
    assert spool.statements.select("rows", "elapsed_s").rows() == [(9, 0.13)]
    assert spool.plans["statement"].to_list() == [1, 1]


TIMES = """Timer set: load
===============
Timer         Elapsed  Calls
------------  -------  -----
load one         0.31      1
{last}
"""


@pytest.mark.parametrize("last", ["[timed in ms: 0.01]\nElapsed: 00:00:00.42", "\nElapsed: 00:00:00.42"])
def test_a_table_that_a_query_printed_after_its_rows(last: str) -> None:
    """DBMS_OUTPUT stands below the number of rows; a table with an empty line before the Elapsed is a result."""
    query = "\n         N\n----------\n         7\n\n161 rows selected.\n\n"
    found = owned(query + TIMES.format(last=last))
    assert [row[2] for row in found] == ([0.42] if last[0] == "[" else [None, 0.42])
    typed = owned(f"SQL> select 7 from t;\n{query}{TIMES.format(last=last)}SQL> exit\n")
    assert typed[0][:3] == ("select", 161, 0.42 if last[0] == "[" else None)


@pytest.mark.parametrize("last", ["------------  -------  -----\n[timed in ms: 0.01]", ""])
def test_a_table_within_the_text_of_a_block(last: str) -> None:
    """A block that is not echoed printed a table between lines of text; one with an empty line below is a query's."""
    query = "\n         N\n----------\n         7\n\n"
    end = "\nPL/SQL procedure successfully completed.\n\nElapsed: 00:00:00.42"
    found = owned(query + TIMES.format(last=last + end))
    assert [row[0] for row in found] == (["select", "plsql"] if last else ["select", "select", "plsql"])
