"""Results as SET commands shape them: separators, CSV, HTML, INSERT statements, sums, wrapped texts."""

import pytest

from sqlplusparse import Spool, read_spool

ROWS = [(7369, "SMITH", 800), (7499, "ALLEN", None)]


def read(*lines: str) -> Spool:
    """A session of some lines."""
    return read_spool("\n".join([*lines, ""]).encode())


def statements(spool: Spool, *columns: str) -> list[tuple[object, ...]]:
    """Some columns of the statements."""
    return spool.statements.select(columns).rows()


@pytest.mark.parametrize("separator", ["|", " | ", ",", ";", "  |  "])
def test_column_separator(separator: str) -> None:
    """Rows between separators are cells, also where the first of a row is blank and where the heading comes again."""
    heading, ruler, *rows = [
        separator.join(cells).rstrip()
        for cells in (
            ("     EMPNO", "ENAME     ", "       SAL"),
            ("-" * 10, "-" * 10, "-" * 10),
            ("      7369", "SMITH     ", "       800"),
            ("          ", "ALLEN     ", "          "),
        )
    ]
    spool = read(
        "SQL> select * from emp;", "", heading, ruler, rows[0], "", heading, ruler, rows[1], "", "2 rows selected."
    )

    assert spool.tables["headings"].to_list() == [["EMPNO", "ENAME", "SAL"]]
    assert spool.table(1).rows() == [(7369, "SMITH", 800), (None, "ALLEN", None)]
    assert statements(spool, "rows") == [(2,)]
    assert spool.diagnostics["kind"].to_list() == ["repaired"]


def test_row_of_nulls_between_separators() -> None:
    """A row without a figure is as blank as it is without separators; the table goes on behind it."""
    spool = read("         A|B", "----------|-", "         1|x", "          |", "         2|y", "")

    assert spool.table(1).rows() == [(1, "x"), (2, "y")]
    assert spool.lines()["role"].to_list()[:5] == ["heading", "heading", "row", "blank", "row"]


def test_whole_numbers_of_any_length_keep_their_digits() -> None:
    """More digits than 64 bits hold are an identifier, or a text of digits: none is rounded."""
    spool = read(
        "           SIGNATURE          N", "-------------------- ----------", "18446744073709551615         12"
    )

    assert spool.table(1).rows() == [("18446744073709551615", 12)]


def test_listing_with_separators() -> None:
    """A listing of statistics with a separator between its columns is a listing."""
    name = "physical read total IO requests"
    spool = read(
        "SQL> select name, value from v$mystat;",
        f"{'NAME':<40}|     VALUE",
        f"{'-' * 40}|{'-' * 10}",
        f"{name:<40}|      1841",
    )

    assert spool.statistics.select("name", "value").rows() == [(name, 1841.0)]


@pytest.mark.parametrize(
    ("command", "heading", "rows"),
    [
        ("set markup csv on", '"EMPNO","ENAME","SAL"', ['7369,"SMITH",800', '7499,"ALLEN",']),
        ("set sqlformat csv", '"EMPNO","ENAME","SAL"', ['7369,"SMITH",800', '7499,"ALLEN",']),
        ("set markup csv on delimiter | quote off", "EMPNO|ENAME|SAL", ["7369|SMITH|800", "7499|ALLEN|"]),
        ("set sqlformat delimited ;", '"EMPNO";"ENAME";"SAL"', ['7369;"SMITH";800', '7499;"ALLEN";']),
        ("set timing on", '"EMPNO","ENAME","SAL"', ['7369,"SMITH",800', '7499,"ALLEN",']),
    ],
)
def test_delimited_rows(command: str, heading: str, rows: list[str]) -> None:
    """Rows of CSV are a table of the statement that printed them; headings in quotes need no command."""
    spool = read(f"SQL> {command}", "SQL> select * from emp;", "", heading, *rows, "", "Elapsed: 00:00:00.04")

    assert spool.table(1).rows() == ROWS
    assert statements(spool, "kind", "elapsed_s") == [("select", 0.04)]
    assert spool.lines()["role"].to_list()[3:6] == ["heading", "row", "row"]


def test_delimited_texts() -> None:
    """A text may hold the delimiter, quotes and a line feed; pages repeat the heading; what is no row ends it."""
    heading = '"ID","TXT"'
    spool = read(
        "SQL> select * from t;", "", heading, '1,"a, ""b""', 'c"', "", heading, '2,"d"', "3", "", "commit done"
    )

    assert spool.table(1).rows() == [(1, 'a, "b"\nc'), (2, "d")]
    assert spool.lines()["role"].to_list() == [
        *("input", "blank", "heading", "row", "row", "blank", "heading", "row", "text", "blank", "text")
    ]
    assert read("SQL> select * from t;", '"ID","TXT"', "nothing").tables.height == 0


def test_delimited_listing() -> None:
    """A listing of statistics as CSV is a listing."""
    spool = read("SQL> select name, value from v$mystat;", '"NAME","VALUE"', '"physical reads",7239', '"redo size",12')

    assert spool.statistics.select("name", "value", "basis").rows() == [
        ("physical reads", 7239.0, "cumulative"),
        ("redo size", 12.0, "cumulative"),
    ]


def test_rows_as_inserts() -> None:
    """INSERT statements that are a query's result run nothing: the time is the query's."""
    row = "Insert into DEPT (DEPTNO) values (%d);"
    spool = read(
        *("SQL> select * from dept;", "REM INSERTING into DEPT", "SET DEFINE OFF;", row % 10, row % 20, ""),
        *("2 rows selected.", "", "Elapsed: 00:00:00.014"),
    )

    assert statements(spool, "text", "rows", "elapsed_s") == [("select * from dept", 2, 0.014)]


def test_rows_in_html() -> None:
    """A result in HTML is said to be unread; its statement keeps text and time."""
    spool = read("SQL&gt; select 1 from dual;", "<br>", "<table border='1'>", "</table>", "", "Elapsed: 00:00:00.04")

    assert statements(spool, "text", "elapsed_s") == [("select 1 from dual", 0.04)]
    assert spool.diagnostics.select("line", "kind").rows() == [(3, "unparsed")]


def test_sums() -> None:
    """The lines that COMPUTE draws are no rows, so the sums' column holds numbers; groups stand apart."""
    rule = "**********            ----------"
    spool = read(
        *("SQL> select * from emp;", "", "    DEPTNO ENAME             SAL", "---------- ---------- ----------"),
        *("        10 CLARK            2450", rule, "sum                         2450", ""),
        *(
            "        20 SMITH             800",
            "           FORD             3000",
            rule,
            "sum                         3800",
        ),
        *("", "3 rows selected."),
    )

    assert spool.table(1)["SAL"].to_list() == [2450, 2450, 800, 3000, 3800]
    assert spool.tables["headings"].to_list() == [["DEPTNO", "ENAME", "SAL"]]


def test_sum_of_one_row() -> None:
    """One row above the line of a sum is a row, not the heading of a folded table."""
    spool = read(
        "    DEPTNO        SAL",
        "---------- ----------",
        "        10       2450",
        "           ----------",
        "sum              2450",
    )

    assert spool.table(1)["SAL"].to_list() == [2450, 2450]


def test_wrapped_rows() -> None:
    """Lines of a wrapped text are one row where the client's number of rows says so."""
    lines = (
        *("SQL> select * from notes;", "", "        ID TXT", "---------- ----------"),
        *("         1 a text tha", "           t wraps", "         2 short", "           text", "         3 x", ""),
    )

    assert read(*lines, "3 rows selected.").table(1).rows() == [(1, "a text that wraps"), (2, "short text"), (3, "x")]
    assert read(*lines, "4 rows selected.").tables["row_count"].to_list() == [5]
    assert read(*lines).tables["row_count"].to_list() == [5]


def test_messages_in_rows() -> None:
    """A row that holds a message fails nothing; an error while rows are fetched does, and says how many came."""
    spool = read(
        *("SQL> select msg from alerts;", "", "MSG", "------------------------------", "ORA-00600: internal error", ""),
        *("Elapsed: 00:00:00.01", "SQL> select id from big;", "", "        ID", "----------", "         1", "ERROR:"),
        *("ORA-03113: end-of-file on communication channel", "", "", "1 row selected.", "", "Elapsed: 00:00:05.03"),
    )

    assert statements(spool, "status", "error", "rows", "elapsed_s") == [
        ("ok", None, None, 0.01),
        ("error", "ORA-03113", 1, 5.03),
    ]
    assert spool.table(1).rows() == [("ORA-00600: internal error",)]


def test_runstats() -> None:
    """Both runs of runstats and their difference, names completed; it is all output of one statement."""
    spool = read(
        *(
            "SQL> exec runstats_pkg.rs_stop(500)",
            "Run1 ran in 1234 hsecs",
            "Name                            Run1        Run2        Diff",
        ),
        "STAT...physical reads          1,234         567        -667",
        "STAT...bytes sent via SQL*Net to c      12           8          -4",
        "LATCH.cache buffers chains   500,000      50,000    -450,000",
        *("", "PL/SQL procedure successfully completed.", "", "Elapsed: 00:00:00.12"),
    )

    assert statements(spool, "kind", "elapsed_s") == [("plsql", 0.12)]
    assert spool.statistics.select("type", "name", "column", "value", "basis", "unit").rows() == [
        ("STAT", "physical reads", "Run1", 1234.0, "delta", None),
        ("STAT", "physical reads", "Run2", 567.0, "delta", None),
        ("STAT", "physical reads", "Diff", -667.0, "delta", None),
        ("STAT", "bytes sent via SQL*Net to client", "Run1", 12.0, "delta", None),
        ("STAT", "bytes sent via SQL*Net to client", "Run2", 8.0, "delta", None),
        ("STAT", "bytes sent via SQL*Net to client", "Diff", -4.0, "delta", None),
        ("LATCH", "cache buffers chains", "Run1", 500000.0, "delta", None),
        ("LATCH", "cache buffers chains", "Run2", 50000.0, "delta", None),
        ("LATCH", "cache buffers chains", "Diff", -450000.0, "delta", None),
    ]
