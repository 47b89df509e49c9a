"""Rows of results: folded, wrapped, paged, totalled, shifted; as many as the client says it selected."""

import random
from dataclasses import replace

import polars as pl
import pytest
from spool_client import Settings, printed, session

from sqlplusparse import Spool, read_spool

SEEDS = range(30)


def read(text: str) -> Spool:
    """The session of a text."""
    return read_spool(text.encode())


def kinds(spool: Spool) -> list[str]:
    """The kinds of its diagnostics, but for joined pages."""
    return [kind for kind in spool.diagnostics["kind"].to_list() if kind != "repaired"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("feedback", [True, False])
def test_folded_rows(seed: int, *, feedback: bool) -> None:
    """Rows folded at a small line size, over pages, have the cells that they have in one line."""
    built = [one for one in session(seed, 12) if one.cells]
    settings = Settings(feedback=feedback, pagesize=random.Random(seed).choice([24, 60]), autotrace=False)  # noqa: S311 - test data
    wide = read(printed(built, settings))
    folded = read(printed(built, replace(settings, linesize=46)))

    assert folded.tables["row_count"].to_list() == wide.tables["row_count"].to_list() == [one.rows for one in built]
    assert [folded.table(number).rows() for number in range(1, len(built) + 1)] == [
        wide.table(number).rows() for number in range(1, len(built) + 1)
    ]
    assert kinds(folded) == []


def test_folded_rows_whose_first_line_is_blank() -> None:
    """The place of a line says which columns it has, also where all of those above it are null."""
    heading = "NAME\n----------\n   BLOCKS STATE\n--------- -----\n"
    text = f"SQL> select * from t;\n\n{heading}\n        4 used\n\nEMP\n\n\n\n2 rows selected.\n"

    assert read(text).table(1).rows() == [(None, 4, "used"), ("EMP", None, None)]


@pytest.mark.parametrize("feedback", ["", "2 rows selected.\n"])
def test_wrapped_texts(feedback: str) -> None:
    """Texts that fill their column go on in the next lines, up to a blank line, whether the count is printed or not."""
    text = (
        "SQL> select a, b, n from t;\n\nA        B                 N\n-------- -------- ----------\n"
        "SHORTEST A_TABLE         159\n_PATH_SQ\nL\n\nSCOTT    EMP               4\n\n"
    )

    assert read(text + feedback).table(1).rows() == [("SHORTEST_PATH_SQL", "A_TABLE", 159), ("SCOTT", "EMP", 4)]


def test_rows_that_break_on_leaves_blank_are_rows() -> None:
    """A value that BREAK ON does not repeat leaves its column blank; such a row goes on with none."""
    text = "SQL> select d, n from t;\n\nD     NAME     \n----- ---------\nSALES CLARK\n      MILLER\n\nHR    KING\n\n"

    assert read(text).table(1).rows() == [("SALES", "CLARK"), (None, "MILLER"), ("HR", "KING")]


def test_results_with_one_heading() -> None:
    """Between two results stand two blank lines, between two pages one."""
    grid = "\n         N\n----------\n      {}\n      {}\n"

    assert read(grid.format(1, 2) + "\n" + grid.format(3, 4)).tables["row_count"].to_list() == [2, 2]
    assert read(grid.format(1, 2) + grid.format(3, 4)).table(1).rows() == [(1,), (2,), (3,), (4,)]
    one_row = "\n  MAX(N)\n--------\n       {}\n"
    assert read(one_row.format(1) + one_row.format(2)).tables.height == 2


def test_total_below_a_second_ruler() -> None:
    """A total between two rulers is the last row of its table."""
    rule = "---------- ---------"
    rows = "read              12\nopen               1\n"
    spool = read(f"\nNAME           CALLS\n{rule}\n{rows}{rule}\ntotal             13\n{rule}\ndone\n")

    assert spool.table(1).rows() == [("read", 12, False), ("open", 1, False), ("total", 13, True)]
    assert spool.tables.select("row_count", "total_count").row(0) == (3, 1)


@pytest.mark.parametrize("rule", ["---------- ---------", "           ---------", "********** ---------"])
def test_total_below_one_row(rule: str) -> None:
    """A row with a figure is no heading of folded columns, though a ruler stands below it."""
    spool = read(
        f"\nNAME           CALLS\n---------- ---------\nread              12\n{rule}\ntotal             12\n{rule}\n"
    )

    assert spool.table(1).select("CALLS").to_series().to_list() == [12, 12]
    assert spool.lines().filter(pl.col("role") == "row").height == 2


@pytest.mark.parametrize("labels", [("sum",), ("avg", "sum"), ("count", "minimum", "maximum"), ("minim", "vari")])
def test_sums_are_marked(labels: tuple[str, ...]) -> None:
    """Rows that COMPUTE printed, one for each of its functions, are totals; the rows below them are not."""
    rule = "********          ----------\n"
    sums = "".join(f"{label:<18}{20 + place:>10}\n" for place, label in enumerate(labels))
    first = "A        X                 1\n         Y                 2\n"
    rows = f"{first}{rule}{sums}B        X                 4\n{rule}{sums}"
    heading = "D        E                 N\n-------- -------- ----------\n"
    text = f"SQL> select d, e, n from t;\n\n{heading}{rows}\n3 rows selected.\n"
    spool = read(text)
    table = spool.table(1)

    assert table.filter(~pl.col("is_total"))["N"].to_list() == [1, 2, 4]
    assert table.filter("is_total")["D"].to_list() == [*labels, *labels]
    assert spool.tables["total_count"].to_list() == [2 * len(labels)]
    assert kinds(spool) == []


def test_tables_within_lines_of_text() -> None:
    """A query that returns lines of text returns the tables in them; the client's count is of other rows."""
    grid = "NAME       CALLS\n------- --------\nread          12\nopen           1\n"
    text = f"SQL> select * from table(p.report);\nA report of calls\n\n{grid}\n{grid}\n9 rows selected.\n"

    assert kinds(read(text)) == ["sum"]
    assert "sum" not in kinds(read(text.replace("9 rows", "4 rows")))


def test_plans_and_tables_within_lines_of_text() -> None:
    """Plans and tables of a query of text are its lines: they are as many as the client counts, with the blank ones."""
    rule = "-" * 37
    plan = f"{rule}\n| Id  | Operation         | Name     |\n{rule}\n|   0 | SELECT STATEMENT  |          |\n{rule}\n"
    grid = "NAME       CALLS\n------- --------\nread          12\nopen           1\n"
    lines = f"Plan hash value: 1388734953\n\n{plan}\nA report of calls\n\n{grid}"
    count = lines.count("\n")
    text = f"TEXT\n{'-' * 80}\n{lines}\n{count} rows selected.\n"

    assert "sum" not in kinds(read(text))
    assert "sum" in kinds(read(text.replace(f"{count} rows", f"{count - 1} rows")))


@pytest.mark.parametrize(
    ("rows", "expected", "found"),
    [
        # a value too wide for its column pushes the rest of its row
        (["ID   1200 ,000833333333 1", "DAY     7          2.5 3"], [("ID", "1200", ",000833333333", "1")], []),
        # a page of the web made all gaps single blanks
        (
            ["1 gc cr block 2-way 105310 2.03", "1 latch: row cache 2 0"],
            [("1", "gc cr block 2-way", "105310", "2.03")],
            [],
        ),
        (["7 User I/O  cell list read  4", "7 User I/O  cell read  2"], None, ["misplaced"]),
        (["7 User cell read 4 5 6 7", "7 User read 4 5 6 7"], None, ["misplaced"]),
    ],
)
def test_shifted_rows(rows: list[str], expected: list[tuple[str, ...]] | None, found: list[str]) -> None:
    """Rows beside their ruler are cut where there is one reading; where there are more, a diagnostic says so."""
    heading = "A         B               C D\n--------- ----- ----------- ---\n"
    spool = read(f"SQL> select a, b, c, d from t;\n\n{heading}" + "\n".join(rows) + "\n\n")

    assert kinds(spool) == found
    if expected:
        assert [tuple(map(str, row)) for row in cut_cells_of(spool)][: len(expected)] == expected


def cut_cells_of(spool: Spool) -> list[tuple[object, ...]]:
    """The rows of the first result, as printed."""
    return spool.table(1).cast(pl.String).rows()


def test_heading_with_single_blanks() -> None:
    """Headings between which a page of the web left one blank are those of the columns, in their order."""
    heading = "INST_ID EVENT WAITS PCT\n---------- ------------------ ---------- -----\n"

    spool = read(f"SQL> select * from t;\n\n{heading}1 latch free 7 2.03\n")
    assert spool.table(1).to_dicts() == [{"INST_ID": 1, "EVENT": "latch free", "WAITS": 7, "PCT": 2.03}]
    assert spool.tables.height == 1


def test_totals_are_no_selected_rows() -> None:
    """The client does not count what COMPUTE prints."""
    rows = "A              1\n               2\n***** ----------\nsum            3\n"
    text = f"SQL> select d, n from t;\n\nD              N\n----- ----------\n{rows}\n2 rows selected.\n"

    assert kinds(read(text)) == []


@pytest.mark.parametrize(("count", "expected"), [(3, []), (4, ["sum"]), (2, ["sum"])])
def test_rows_against_the_feedback(count: int, expected: list[str]) -> None:
    """Rows that are not as many as the client says are reported."""
    rows = "         1\n         2\n         3\n"
    text = f"SQL> select n from t;\n\n         N\n----------\n{rows}\n{count} rows selected.\n"

    assert kinds(read(text)) == expected


def test_rows_of_nulls() -> None:
    """A blank line within a result is a row where the client counted it."""
    text = "SQL> select t from x;\n\nTOKEN\n-----\nalpha\n\nbravo\n\n3 rows selected.\n"

    assert read(text).table(1).rows() == [("alpha",), (None,), ("bravo",)]


def test_values_beside_their_ruler() -> None:
    """A listing whose values stand beside their ruler keeps each value."""
    heading = f"{'NAME':<70}VALUE_BYTES   VALUE_MB"
    rule = f"{'-' * 64} ----------- ----------"
    rows = [
        f"{'physical read total bytes':<72}71828529728    68501.02",
        f"{'cell flash cache read hits':<75}2991          0",
    ]
    spool = read("\n".join(["SQL> select name, value from v$mystat;", "", heading, rule, *rows, "", ""]))

    assert spool.statistics.select("name", "raw").rows() == [
        ("physical read total bytes", "71828529728"),
        ("physical read total bytes", "68501.02"),
        ("cell flash cache read hits", "2991"),
        ("cell flash cache read hits", "0"),
    ]


def test_statistics_without_a_heading() -> None:
    """Lines of MyStats are statistics, with or without the heading."""
    spool = read("STAT    physical reads                    11,576\nSTAT    redo size                             9\n")

    assert spool.statistics.select("type", "name", "value", "basis").rows() == [
        ("STAT", "physical reads", 11576.0, "delta"),
        ("STAT", "redo size", 9.0, "delta"),
    ]


@pytest.mark.parametrize("seed", range(8))
def test_blanks_made_one(seed: int) -> None:
    """Results whose gaps a page of the web made single blanks have the cells that they had, or a diagnostic."""
    built = [one for one in session(seed, 12) if one.cells]
    text = printed(built, Settings(autotrace=False))
    lines = [
        line if line.startswith("SQL>") or not line.strip("- ") else " ".join(line.split()) for line in text.split("\n")
    ]
    whole, copy = read(text), read("\n".join(lines))
    noted = copy.diagnostics.filter(pl.col("kind") == "misplaced")["line"].to_list()

    assert copy.tables.height == whole.tables.height
    for table, first, last in copy.tables.select("table", "first_line", "last_line").rows():
        is_noted = any(first <= line <= last for line in noted)
        assert is_noted or copy.table(table).equals(whole.table(table))
