"""A word that the client does not print where one is expected: no figure beside it is lost in silence."""

import pytest

from sqlplusparse import Spool, read_spool

#: A plan with a table, one without, Snapper's statistics, a list of statistics and results with their ends.
SESSION = """\
SQL> select n from depots;

         N
----------
        41

1 row selected.

Elapsed: 00:00:01.37

Execution Plan
----------------------------------------------------------
Plan hash value: 2731190448

----------------------------------------------------------------------------
| Id  | Operation         | Name   | Rows  | Bytes | Cost (%CPU)| Time     |
----------------------------------------------------------------------------
|   0 | SELECT STATEMENT  |        |    27 |   417 |     3   (0)| 00:00:01 |
|*  1 |  TABLE ACCESS FULL| DEPO_7 |    27 |   417 |     3   (0)| 00:00:01 |
----------------------------------------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   1 - filter("N">3)

Statistics
----------------------------------------------------------
       7239  physical reads

SQL> delete from depots;

7 rows deleted.

Elapsed: 00:00:00.19

Execution Plan
----------------------------------------------------------
   0      DELETE STATEMENT Optimizer=ALL_ROWS (Cost=41 Card=27 Bytes=31347)
   1    0   DELETE OF 'DEPOTS'
   2    1     SORT (ORDER BY) (Cost=41 Card=27 Bytes=31347)
   3    2       TABLE ACCESS (FULL) OF 'SYS_TEMP_77' (TABLE (TEMP))(Cost=2 Card=13 Bytes=130)
   4    2       INDEX (RANGE SCAN) OF 'DEPOTS_PK' (INDEX (UNIQUE)) (Cost=2 Card=14 Bytes=131)

SQL> @snapper stats 5 1 77
   77  @1, DEPOT     , STAT, user calls                                                ,            41,       8.2
   77  @1, DEPOT     , TIME, DB time                                                   ,         27190,     5.4ms
   77  @1, DEPOT     , WAIT, SQL*Net message from client                               ,       4100000,  820.0ms
--  End of Stats snap 1, end=2026-11-02 10:00:06, seconds=5

SQL> @names
 77 DEPOT        cell blocks processed by txn layer                               2.67M
 77 DEPOT        cell blocks processed by data layer                              2.71M
 77 DEPOT        cell blocks helped by minscn optimization                        2.73M

SQL> exit
"""


def signs(spool: Spool) -> set[tuple[int, str]]:
    """Lines and reasons of the diagnostics."""
    return set(spool.diagnostics.select("line", "reason").rows())


@pytest.mark.parametrize(
    ("word", "other", "reason"),
    [
        ("1 row selected.", "1 row selecte .", "1 line like a feedback or an Elapsed, but not as a client prints them"),
        ("7 rows deleted.", "7 row  deleted.", "1 line like a feedback or an Elapsed, but not as a client prints them"),
        ("7 rows deleted.", "7 yvdz deleted.", "1 line like a feedback or an Elapsed, but not as a client prints them"),
        ("7 rows deleted.", "7 rows .", "1 line like a feedback or an Elapsed, but not as a client prints them"),
        ("Elapsed: 00:00:00.19", ": 00:00:00.19", "1 line like a feedback or an Elapsed"),
        ("| Time     |", "| Reads    |", "figures of this row of a plan are not read"),
        ("|    27 |", "| 27(1)|", "figures of this row of a plan are not read"),
        ("|    27 |", "|  27.3.|", "figures of this row of a plan are not read"),
        ("Card=14", "Card Fig=14", "figures of this row of a plan are not read"),
        ("TABLE ACCESS (FULL) OF", "table ACCESS (FULL) OF", "part of a plan, but no plan stands here"),
        ("Elapsed: 00:00:00.19", "Ela    : 00:00:00.19", "1 line like a feedback or an Elapsed"),
        ("| Bytes |", "| Heads |", "plan: the figures under 'Heads' are not read"),
        ("| Bytes |", "| Rows  |", "plan: the figures under 'Rows' are not read"),
        ("| Name   |", "| Id     |", "plan: the figures under 'Id' are not read"),
        ("| Operation         |", "| Vwlyhapvu         |", "part of a plan, but no plan stands here"),
        ("|*  1 |", "|*    |", "part of a plan row with 7 cells"),
        (
            "SCAN) OF 'DEPOTS_PK' (INDEX (UNIQUE)) (Cost",
            "SCAN) OF 'DEPOTS_PK' (INDEX (UNIQUE)) (Cos ",
            "figures of this row",
        ),
        ("Card=13", "Cadr=13", "figures of this row of a plan are not read"),
        ("(ORDER BY) (Cost=41 Card=27", "(ORDER BY) (Ca  =41 Card=27", "figures of this row of a plan are not read"),
        (", STAT,", ", ZAHA,", "nearly a line of Snapper; its figures are not read"),
        ("WAIT", "WA  ", "nearly a line of Snapper; its figures are not read"),
        ("of Stats snap", "of Zahaz snap", "nearly a line of Snapper; its figures are not read"),
        ("physical reads", "physical ylhkz", "this line below the heading of statistics is not one of them"),
        ("by data layer", "by da   layer", "1 line among rows; the figures are not read"),
    ],
)
def test_another_word(word: str, other: str, reason: str) -> None:
    """The line whose figures are not read any more has a diagnostic; with its own words there is none of these."""
    assert SESSION.count(word) == 1 or word in {"| Bytes |", "|    27 |"}
    before = read_spool(SESSION.encode())

    new = signs(read_spool(SESSION.replace(word, other, 1).encode())) - signs(before)

    assert not before.diagnostics["kind"].is_in(["look_alike", "unknown_heading", "unparsed", "broken_plan"]).any()
    assert any(found.startswith(reason) for _, found in new), new


def test_brackets_within_brackets() -> None:
    """The object and the figures after ``(TABLE (TEMP))`` are read, with a blank before the figures and without."""
    rows = (
        read_spool(SESSION.encode())
        .plans.filter(layout="old")
        .select("object_name", "cost", "e_rows", "e_bytes")
        .rows()
    )

    assert rows[3:] == [("SYS_TEMP_77", 2.0, 13.0, 130.0), ("DEPOTS_PK", 2.0, 14.0, 131.0)]


def test_heading_without_its_last_bracket() -> None:
    """A copy that lost the bracket at the end of a heading has the figures below it."""
    spool = read_spool(SESSION.replace("Cost (%CPU)", "Cost (%CPU ", 1).encode())

    assert spool.plans["cost"].to_list()[:2] == [3.0, 3.0]


def test_rows_of_an_old_plan_below_a_row_that_does_not_end() -> None:
    """The next row of a plan is no rest of a row whose bracket is open, also where rows above them are missing."""
    lines = SESSION.splitlines()
    del lines[next(place for place, line in enumerate(lines) if "DELETE OF" in line)]
    text = "\n".join(lines).replace("SORT (ORDER BY) (Cost=41 Card=27 Bytes=31347)", "SORT (ORDER")

    assert read_spool(text.encode()).plans.filter(layout="old")["id"].to_list() == [0, 2, 3, 4]


def test_row_that_a_word_shifts() -> None:
    """A row that lost a word ends between two columns: its figures would be those of others, or part of a text."""
    head = [
        "SQL> select id, name, calls, errors from depots;",
        "",
        f"{'ID':>6} {'NAME':<30} {'CALLS':>8} {'ERRORS':>8}",
    ]
    ruler = " ".join("-" * width for width in (6, 30, 8, 8))
    rows = [f"{one:>6} {f'Depot {one} of the North':<30} {one * 41:>8} {one % 3:>8}" for one in range(1, 9)]
    whole = [*head, ruler, *rows, "", "8 rows selected.", ""]
    shifted = [line.replace("of the North          ", "", 1) if "Depot 3 " in line else line for line in whole]
    short = [line[:37].rstrip() if "Depot 3 " in line else line for line in whole]

    assert read_spool("\n".join(whole).encode()).diagnostics.is_empty()
    assert read_spool("\n".join(short).encode()).diagnostics.is_empty()
    assert read_spool("\n".join(shifted).encode()).diagnostics.select("line", "kind").rows() == [(7, "misplaced_row")]


def test_long_line_that_may_be_a_figure() -> None:
    """Blanks between two words of a line take a time that grows with their number only."""
    spool = read_spool(f"{SESSION}\n 19      VALUE{' ' * 200_000}NUMBER(18,8),\n".encode())

    assert spool.statements.height == read_spool(SESSION.encode()).statements.height


def test_a_row_with_fewer_cells_than_the_heading() -> None:
    """A row above a heading that lacks names has no cell below them: the plan is read, and said to be damaged."""
    spool = read_spool(b"Execution Plan\n-\n5 B\n|Id|Operation||#|\n")

    assert spool.plans.get_column("operation").to_list() == ["B"]
    assert spool.diagnostics.get_column("kind").to_list() == ["broken_plan"]
