"""What stands around a statement's result: prompts, comments, feedback, errors, output of PL/SQL, statistics."""

import pytest

from sqlplusparse import Spool, read_spool


def read(*lines: str) -> Spool:
    """A session of some lines."""
    return read_spool("\n".join([*lines, ""]).encode())


def statements(spool: Spool, *columns: str) -> list[tuple[object, ...]]:
    """Some columns of the statements."""
    return spool.statements.select(columns).rows()


@pytest.mark.parametrize(
    "prompt",
    [
        *("SCOTT@lab1 10:15:00>", "scott@LAB1(db01)>", "[scott@lab1]>", "SYS AS SYSDBA @lab1 >", "12c>", "lab1:scott>"),
        *("ops$app%LAB1>", "SQL (SCOTT@lab1 sid=23) >", "sys@LAB1 SQL>", "2024-03-04 10:00:00 scott@lab1>"),
    ],
)
def test_prompts(prompt: str) -> None:
    """Prompts of people's own: texts are found, so are flushes."""
    spool = read(
        *(f"{prompt} alter system flush buffer_cache;", "", "System altered.", ""),
        *(f"{prompt} select 1", "  2  from dual;", "", "Elapsed: 00:00:00.02"),
    )

    assert statements(spool, "text", "flushed_before", "elapsed_s") == [
        ("alter system flush buffer_cache", None, None),
        ("select 1\nfrom dual", "buffer_cache", 0.02),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "[oracle@db01 ~]$ qgen -d 1 > /tmp/q.sql",
        "x -> select one of them",
        "[oracle@db01 ~]$ grep -c x a@b.log > with.txt",
        "<b> select",
        '"A" > update',
    ],
)
def test_no_prompts(line: str) -> None:
    """Redirections, arrows and comparisons are no prompts."""
    assert statements(read(line, "SQL> commit;", "", "Commit complete."), "text") == [("commit",)]


def test_semicolon_in_comment() -> None:
    """A semicolon ends a statement only if the client does not ask for its next line."""
    spool = read(
        *(
            "SQL> with function f return number is begin return 1; end;",
            "  2  select f -- one;",
            "  3  from dual",
            "  4  /",
        ),
        *("", "         F", "----------", "         1", "", "Elapsed: 00:00:00.02"),
    )

    assert statements(spool, "text", "elapsed_s") == [
        ("with function f return number is begin return 1; end;\nselect f -- one;\nfrom dual", 0.02)
    ]
    assert spool.tables["title"].to_list() == [None]


def test_typed_comment() -> None:
    """Prose in a comment of several lines runs nothing, whatever it begins with."""
    spool = read("SQL> /* run 1", "SQL>    select the best", "SQL> */", "SQL> commit;", "", "Commit complete.")

    assert statements(spool, "text") == [("commit",)]
    assert spool.lines()["role"].to_list()[:3] == ["command"] * 3


def test_statement_that_is_not_run() -> None:
    """A statement that an empty line leaves in the buffer is run by the slash below it, once."""
    result = ("", "         A", "----------", "         1", "", "Elapsed: 00:00:00.02")
    spool = read(
        "SQL> select 1 a",
        "  2  from dual",
        "  3",
        "SQL> /",
        *result,
        "SQL> run",
        "  1  select 1 a",
        "  2* from dual",
        *result,
    )

    assert statements(spool, "first_line", "text", "elapsed_s") == [
        (4, "select 1 a\nfrom dual", 0.02),
        (11, "select 1 a\nfrom dual", 0.02),
    ]
    assert spool.runs()["run"].to_list() == [1, 2]


@pytest.mark.parametrize("command", ["@x", "@/u01/x.sql 7", "start x.sql", "get x.sql"])
def test_the_first_statement_of_a_script_begins_at_its_command(command: str) -> None:
    """Nothing of a script is echoed: its first statement is where the script was run, the next at its own heading."""
    result = ("", "         A", "----------", "         1", "", "Elapsed: 00:00:00.02")
    spool = read("SQL> set timing on", f"SQL> {command}", *result, *result, "SQL> select 1 a from dual;", *result)

    assert statements(spool, "first_line", "text") == [
        (2 if command[0] in "@s" else 4, None),
        (10, None),
        (15, "select 1 a from dual"),
    ]


def test_output_like_feedback() -> None:
    """What a PL/SQL block prints is its output; its own end and time come behind it."""
    printed = ("Elapsed: 00:00:07.77", "10 rows created.", "ORA-01403: no data found")
    done = ("", "PL/SQL procedure successfully completed.", "", "Elapsed: 00:00:00.03")
    spool = read("SQL> exec p", *printed, *done, "SQL> commit;", "", "Commit complete.", "", "Elapsed: 00:00:00.01")

    assert statements(spool, "text", "status", "elapsed_s") == [("exec p", "ok", 0.03), ("commit", "ok", 0.01)]
    assert spool.timings["elapsed_s"].to_list() == [0.03, 0.01]
    assert spool.lines()["role"].to_list()[1:4] == ["text"] * 3


def test_time_of_block_without_feedback() -> None:
    """With FEEDBACK off the first Elapsed is the block's, whatever comes behind it."""
    spool = read(
        "SQL> exec p", "", "Elapsed: 00:00:07.77", "SQL> exec q", "", "PL/SQL procedure successfully completed."
    )

    assert statements(spool, "text", "elapsed_s") == [("exec p", 7.77), ("exec q", None)]


def test_report_of_sqlcl() -> None:
    """The code of an error is that of the database, wherever SQLcl's report prints it."""
    spool = read(
        *("SQL> select * from nosuch;", "", "Error starting at line : 1 in command -", "select * from nosuch"),
        *(
            "Error at Command Line : 1 Column : 15",
            "Error report -",
            "SQL Error: ORA-00942: no such table",
            "Elapsed: 00:00:00.008",
        ),
    )

    assert statements(spool, "error", "message", "elapsed_s") == [("ORA-00942", "ORA-00942: no such table", 0.008)]


def test_autotrace_that_may_not() -> None:
    """Errors of SET AUTOTRACE are that command's, not a statement."""
    spool = read(
        "SQL> set autotrace on", "SP2-0618: Cannot find the Session Identifier", "SQL> commit;", "", "Commit complete."
    )

    assert statements(spool, "text") == [("commit",)]


def test_foreign_line_in_statistics() -> None:
    """A line within a list that is none of its statistics is refused; the list and its statement stay whole."""
    spool = read(
        *("SQL> select 1 from dual;", "", "Elapsed: 00:00:00.02", "", "Statistics", "-" * 20),
        *(
            "          3  consistent gets",
            " 1.2346E+11  redo size",
            "          1  sorts (memory)",
            "          1  rows processed",
        ),
    )

    assert statements(spool, "consistent_gets", "rows", "elapsed_s") == [(3, 1, 0.02)]
    assert spool.autotrace.filter("is_shown")["client"].unique().to_list() == ["sqlplus"]
    assert spool.diagnostics.select("line", "kind").rows() == [(7, "cut"), (8, "unparsed")]


def test_unknown_name_in_statistics() -> None:
    """A list with `rows processed` is SQL*Plus's: what it lacks is null, not zero, whatever else it holds."""
    spool = read(
        "Statistics",
        "-" * 20,
        "          3  consistent gets",
        "        552  bytes sent to client",
        "          1  rows processed",
    )

    assert statements(spool, "physical_reads", "consistent_gets") == [(None, 3)]


@pytest.mark.parametrize(
    ("feedback", "kind", "rows"),
    [
        ("1,000,000 rows merged.", "merge", 1000000),
        ("anonymous block completed", "plsql", None),
        ("table ORDERS created.", "ddl", None),
        ("Restore point created.", "ddl", None),
        ("Tabelle mit TRUNCATE geleert.", "ddl", None),
    ],
)
def test_feedback(feedback: str, kind: str, rows: int | None) -> None:
    """What other clients and statements say."""
    assert statements(read(feedback, "", "Elapsed: 00:00:00.02"), "kind", "rows", "message", "elapsed_s") == [
        (kind, rows, feedback, 0.02)
    ]


@pytest.mark.parametrize(
    "reason",
    [
        ("ERROR:", "ORA-01039: insufficient privileges on underlying objects of the view", "", ""),
        ("ORA-12838: cannot read/modify an object after modifying it in parallel", "", ""),
    ],
)
def test_no_plan(reason: tuple[str, ...]) -> None:
    """An error where the plan would stand fails no statement: its statistics are its own."""
    spool = read(
        *(
            "SQL> insert into t select * from s;",
            "",
            "7 rows created.",
            "",
            "Elapsed: 00:00:00.44",
            "",
            "Execution Plan",
        ),
        *("-" * 58, *reason, "SP2-0612: Error generating AUTOTRACE EXPLAIN report", "", "Statistics", "-" * 58),
        *("          5  physical reads", "          7  rows processed"),
    )

    assert statements(spool, "status", "rows", "elapsed_s", "physical_reads") == [("ok", 7, 0.44, 5)]


@pytest.mark.parametrize(
    "line",
    [
        *("RMAN> delete obsolete;", "DGMGRL> show configuration", "mysql> select 1;"),
        *("oracle@db01:/u01/oracle> sqlplus / as sysdba", "oracle@db01> time ./run.sh"),
    ],
)
def test_other_programs(line: str) -> None:
    """What is typed in a shell or another program's prompt is no statement of the session."""
    spool = read(line, "", "SQL> commit;", "", "Commit complete.")

    assert statements(spool, "text") == [("commit",)]
    assert spool.lines()["role"][0] in {"text", "command"}


def test_invisible_characters() -> None:
    """Characters without a width, as pages put them before a line, change nothing."""
    spool = read("\N{ZERO WIDTH SPACE}SQL> commit;", "", "\N{ZERO WIDTH NO-BREAK SPACE}Commit complete.")

    assert statements(spool, "text", "message") == [("commit", "Commit complete.")]


def test_call_over_several_lines() -> None:
    """A call that a dash takes to the next line is whole."""
    spool = read("SQL> exec p(1, -", "> b => 2, -", "> c => 3);", "", "PL/SQL procedure successfully completed.")

    assert statements(spool, "text", "kind") == [("exec p(1, b => 2, c => 3)", "plsql")]


def test_block_that_is_not_run() -> None:
    """A full stop leaves a block in the buffer, too."""
    spool = read(
        "SQL> begin", "  2    p;", "  3  end;", "  4  .", "SQL> /", "", "PL/SQL procedure successfully completed."
    )

    assert statements(spool, "first_line", "text") == [(5, "begin\n  p;\nend;")]


def test_statement_behind_a_comment() -> None:
    """A comment before a statement is part of it; a comment alone runs nothing."""
    spool = read("SQL> /* run 1 */", "SQL> /* run 2 */ select 1 from dual;", "", "Elapsed: 00:00:00.02")

    assert statements(spool, "text", "kind", "elapsed_s") == [("/* run 2 */ select 1 from dual", "select", 0.02)]
