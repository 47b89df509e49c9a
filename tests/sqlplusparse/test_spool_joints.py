"""Sessions that were cut or put together: no figure goes to another statement without a diagnostic near it."""

import random

import pytest
from spool_client import Settings, printed, session
from spool_damage import PLAN, SIGNS, Owners, damages, judge, signs_of
from transformations import lines_of

from sqlplusparse import read_spool

GRID = "\n         N\n----------\n         1\n         2\n\n"
ELAPSED = "Elapsed: 00:00:01.00\n\n"


def settings_of(chance: random.Random, *, is_complete: bool = False) -> Settings:
    """Any settings of the client; with `is_complete` those that print every part."""
    return Settings(
        prompt=chance.choice(["SQL> ", "SYS@orcl> "]),
        echo=is_complete or chance.random() < 0.8,
        feedback=is_complete or chance.random() < 0.8,
        timing=is_complete or chance.random() < 0.8,
        autotrace=is_complete or chance.random() < 0.6,
        autocommit=chance.random() < 0.2,
        serveroutput=chance.random() < 0.3,
        pagesize=chance.choice([14, 50]),
        linesize=chance.choice([80, 200]),
    )


@pytest.mark.parametrize("seed", range(8))
def test_whole_sessions_have_no_signs(seed: int) -> None:
    """What the client prints, under any settings, is not taken for damaged."""
    chance = random.Random(seed)  # noqa: S311 - test data
    for _ in range(4):
        assert signs_of(printed(session(chance.randrange(10**6), 8), settings_of(chance))) == []


@pytest.mark.parametrize("seed", range(6))
def test_cuts_and_splices(seed: int) -> None:
    """Of damages of complete sessions at least 19 of 20 move no figure without a diagnostic.

    The others leave what the client prints: the text of one statement above the whole output of another of its kind.
    """
    chance = random.Random(100 + seed)  # noqa: S311 - test data
    silent = made = 0
    for _ in range(6):
        texts = [printed(session(chance.randrange(10**6), 8), settings_of(chance, is_complete=True)) for _ in range(2)]
        originals = [Owners(read_spool(text.encode())) for text in texts]
        first, second = map(lines_of, texts)
        for damage in damages(first, second, chance, 5):
            made += 1
            silent += bool(judge(originals, damage).silent)
    assert made > 50
    assert silent * 20 <= made


@pytest.mark.parametrize(
    ("typed", "printed_below"),
    [
        ("select n from t;", "\nPL/SQL procedure successfully completed.\n\n"),
        ("select n from t;", "\n2 rows updated.\n\n"),
        ("update t set n = 1;", "\n2 rows deleted.\n\n"),
        ("create table t (n number);", f"{GRID}2 rows selected.\n\n"),
        ("exec p", "\nTable created.\n\n"),
    ],
)
def test_feedback_of_another_kind(typed: str, printed_below: str) -> None:
    """What another kind of statement prints is not the typed one's, and neither is the Elapsed below it."""
    spool = read_spool(f"SQL> {typed}\n{printed_below}{ELAPSED}".encode())

    assert "no_owner" in spool.diagnostics["kind"].to_list()
    assert spool.statements.select("elapsed_s").to_series().to_list()[0] is None
    assert spool.timings["statement"].to_list() == [2]


@pytest.mark.parametrize("removed", [4, 7, 8, 10])
def test_cut_plans(removed: int) -> None:
    """A plan that lacks a row above its last, or a line of its frame, has a diagnostic."""
    lines = f"SQL> select count(*) from t;\n{GRID}{ELAPSED}{PLAN}".splitlines(keepends=True)
    start = lines.index("Execution Plan\n")

    assert signs_of("".join(lines)) == []
    assert [kind for _, kind in signs_of("".join(lines[: start + removed] + lines[start + removed + 1 :]))] == ["cut"]


def test_part_that_the_neighbours_have() -> None:
    """A statement without an Elapsed among timed ones has a diagnostic, and none after SET TIMING."""
    one = f"SQL> create table t (n number);\n\nTable created.\n\n{ELAPSED}"
    cut = one.removesuffix(ELAPSED)

    assert signs_of(one + cut + one) == [(7, "missing")]
    assert signs_of(f"{one}SQL> set timing off\n{cut}SQL> set timing on\n{one}") == []


def test_result_within_a_result() -> None:
    """Two results of one typed query, a heading without rows, and a text that does not end are signs."""
    query = "SQL> select n from t;\n"
    other = GRID.replace("         N", "     OTHER")

    assert ("no_owner" in dict(map(reversed, signs_of(f"{query}{GRID}{other}2 rows selected.\n")))) is True
    assert signs_of("SQL> select n\n" + GRID + ELAPSED) == [(1, "cut")]
    assert [kind for _, kind in signs_of(f"{query}\n         N\n----------\n{ELAPSED}")] == ["missing"]


def test_row_of_nulls_that_autotrace_counts() -> None:
    """Without a feedback the statistics say that a blank line is a row."""
    trace = (
        "Statistics\n----------------------------------\n          0  recursive calls\n          1  rows processed\n"
    )
    spool = read_spool(f"SQL> select sum(n) from t;\n\n    SUM(N)\n----------\n\n\n{ELAPSED}{trace}".encode())

    assert spool.table(1).rows() == [(None,)]
    assert spool.diagnostics["reason"].str.starts_with("2 of the 11 statistics").to_list() == [True]


CURSOR = """\
SQL_ID  8zk3jyfzm2v6n, child number 0
-------------------------------------
select count(*) from parts where size_mm > :a

Plan hash value: 2871
----------------------------------------------
| Id  | Operation         | Name  | Starts | A-Rows |
----------------------------------------------
|   0 | SELECT STATEMENT  |       |      1 |      1 |
|*  1 |  TABLE ACCESS FULL| PARTS |      1 |      7 |
|*  2 |   INDEX RANGE SCAN| P1    |      1 |      7 |
----------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   1 - filter("SIZE_MM">:A AND INSTR("NAME",'(')>0)
   2 - access("ID"=3)

"""


@pytest.mark.parametrize(
    ("cut", "reason"),
    [
        (slice(3, None), "no plan stands here"),
        (slice(16, 17), "predicates of its rows are missing"),
        (slice(15, None), "a section below it has no line"),
    ],
)
def test_cut_plans_of_cursors(cut: slice, reason: str) -> None:
    """A plan of DBMS_XPLAN that lacks a part has a diagnostic that says which."""
    lines = f"SQL> select * from table(dbms_xplan.display_cursor);\n\n{CURSOR}{ELAPSED}".splitlines(keepends=True)
    assert signs_of("".join(lines)) == []
    del lines[2 + cut.start : 2 + cut.stop if cut.stop else len(lines) - 2]
    rows = read_spool("".join(lines).encode()).diagnostics.select("kind", "reason").rows()

    assert [kind for kind, _ in rows if kind in SIGNS] == ["cut"]
    assert any(reason in row for _, row in rows)


def test_text_of_a_cursor_that_begins_with_bars() -> None:
    """A line of a statement's text that begins with a concatenation is no row of the plan."""
    shown = CURSOR.replace("select count(*) from parts", "select name\n|| ',' || size_mm\n|| ';' from parts")
    spool = read_spool(f"SQL> select * from table(dbms_xplan.display_cursor);\n\n{shown}{ELAPSED}".encode())

    assert spool.plans.select("sql_id", "plan_hash_value", "id").rows() == [
        ("8zk3jyfzm2v6n", 2871, n) for n in range(3)
    ]
    assert spool.plans["sql_text"][0] == "select name || ',' || size_mm || ';' from parts where size_mm > :a"


def test_plans_without_their_beginning() -> None:
    """A hash value directly below another text, and a predicate that ends within a literal, are signs."""
    query = "SQL> select * from table(dbms_xplan.display_cursor);\n\n"
    _, _, late = CURSOR.partition("where size_mm > :a\n\n")
    open_predicate = CURSOR.replace('"ID"=3)', '"ID"=TO_DATE(\'2026-')

    assert [kind for _, kind in signs_of(f"{query}and of another one\n{late}{ELAPSED}")] == ["cut"]
    assert [kind for _, kind in signs_of(f"{query}{open_predicate}{ELAPSED}")] == ["cut"]


def test_statistics_directly_below_rows() -> None:
    """The client puts a blank line above the statistics of autotrace; without it something is missing."""
    statistics = (
        "Statistics\n----------------------------------------------------------\n"
        "          0  recursive calls\n          2  rows processed\n"
    )
    query = f"SQL> select n from t;\n{GRID}"

    assert signs_of(f"{query}\n{statistics}") == [(11, "cut")]  # only two of the statistics are there
    assert signs_of(f"{query.rstrip()}\n{statistics}") == [(7, "cut"), (9, "cut")]


HEADING = "\nNAME             SIZE          N\n---------- ---------- ----------\n"
ROWS = ["ALPHA              10          1", "BRAVO              20          2", "KILO               30          3"]


@pytest.mark.parametrize(
    ("rows", "misplaced"),
    [
        ([*ROWS, "Nodes"], [8]),
        ([*ROWS, "DELTA 100       text"], [8]),
        ([*ROWS, "DELTA            many          4"], [8]),
        ([*ROWS, *["another row that stands elsewhere    4"] * 5], [8]),
        ([*ROWS, "DELTA              40"], []),
        ([*ROWS, "DELTA      ##########          4"], []),
        ([*ROWS, "                   40          4"], []),
    ],
)
def test_rows_of_another_result(rows: list[str], misplaced: list[int]) -> None:
    """Rows that have no number where all others have, or stand across the ruler, are another result's."""
    text = "SQL> select name, size, n from t;\n" + HEADING + "\n".join(rows) + "\n\n" + ELAPSED

    assert [line for line, kind in signs_of(text) if kind == "misplaced"] == misplaced


def test_text_below_a_sum() -> None:
    """Below the ruler of COMPUTE stands a sum."""
    total = "                      ----------\n"
    rows = "\n".join(ROWS)
    query = f"SQL> select name, size, n from t;\n{HEADING}{rows}\n{total}"

    assert signs_of(f"{query}sum                            6\n\n{ELAPSED}") == []
    assert [kind for _, kind in signs_of(f"{query}Nodes by size\n\n{ELAPSED}")] == ["misplaced"]


def test_query_without_its_result() -> None:
    """A query with an Elapsed only, among others that have results, has lost its own; alone it may be TRACEONLY."""
    whole = f"SQL> select n from t;\n{GRID}{ELAPSED}"
    bare = f"SQL> select n from t;\n\n{ELAPSED}"

    assert [kind for _, kind in signs_of(whole + bare + whole)] == ["missing"]
    assert signs_of(bare + bare) == []


@pytest.mark.parametrize("feedback", ["41 Zeilen ausgew\u00f5hlt.", "41 Zeilen ausgew\u00e4hlt."])
def test_feedback_of_another_code_page(feedback: str) -> None:
    """A feedback whose letters were decoded by another code page is a feedback, not a row."""
    spool = read_spool(f"SQL> select n from t;\n{GRID}\n{feedback}\n\n{ELAPSED}".encode())

    assert spool.table(1)["N"].to_list() == [1, 2]
    assert spool.statements["rows"].to_list() == [int(feedback.split(maxsplit=1)[0])]


def test_tags_are_no_rows() -> None:
    """The end of a preformatted block and a heading of a page end a result, even where blank lines stand between."""
    text = f"<pre>\nSQL> select n from t;\n{GRID}</pre>\n\n<h3>Second run</h3>\n"

    assert read_spool(text.encode()).table(1)["N"].to_list() == [1, 2]


def test_rows_between_remarks() -> None:
    """A result goes on below a blank line and remarks that somebody wrote among its rows."""
    rows = [ROWS[0], "", "-- large", "-- and slow", *ROWS[1:], "", "-- nothing else", "", "some words"]
    spool = read_spool(("SQL> select name, size, n from t;\n" + HEADING + "\n".join(rows) + "\n").encode())

    assert spool.table(1)["N"].to_list() == [1, 2, 3]


def test_time_without_its_statement() -> None:
    """A result with an Elapsed below no text, after a statement that the log shows, says so once; others do not."""
    shown = f"SQL> select n from t;\n{GRID}{ELAPSED}"
    hidden = f"-- in the other session\n{GRID}{ELAPSED}"

    kinds = [kind for text in (shown + hidden, shown + shown, hidden + hidden) for _, kind in notes_of(text)]
    assert kinds.count("no_owner") == 1


def notes_of(text: str) -> list[tuple[int, str]]:
    """Lines and kinds of all diagnostics."""
    return read_spool(text.encode()).diagnostics.select("line", "kind").rows()


LATCHES = "".join(
    f"{name:<24}{gets:>10}{0:>10}{share:>8}\n"
    for name, gets, share in (("redo copy", 25, ".0"), ("redo writing", 75, ".1"), ("enqueues", 1_250, ".0"))
)


@pytest.mark.parametrize("heading", ["", "first run\n---------\n"])
def test_figures_without_headings(heading: str) -> None:
    """Lines of figures below no heading are text, and a diagnostic says so; an underlined title is no heading."""
    spool = read_spool(f"SQL> select n from t;\n{GRID}{ELAPSED}-- the latches\n\n{heading}{LATCHES}\n".encode())

    assert [kind for kind in spool.diagnostics["kind"] if kind == "no_heading"] == ["no_heading"]
    assert spool.tables["headings"].to_list() == [["N"]]


def test_no_figures_without_headings() -> None:
    """Two lines of figures, or lines with a figure at their end, are no table."""
    prose = "from 10 to 11 in 12\nit took 3\nit took 4\nit took 5\nbetween 10 11 12\n"

    assert notes_of(f"SQL> select n from t;\n{GRID}{ELAPSED}{prose}\n") == []


def test_underlined_title_above_a_heading() -> None:
    """Text underlined at its own length above a heading is its title: folded columns would stand in one line."""
    rule = "------------ --------- ---------"
    listing = f"commit:\n-------\nName              Size     Waits\n{rule}\nredo                11         2\n"
    spool = read_spool(f"\n{listing}\n".encode())

    assert spool.tables["headings"].to_list() == [["Name", "Size", "Waits"]]
    assert spool.table(1).rows() == [("redo", 11, 2)]
    folded = (
        "STATUS\n------\nA                         B\n------------------ --------\nopen\nlong name                 4\n"
    )
    assert read_spool(f"SQL> select * from t;\n\n{folded}\n".encode()).tables["headings"].to_list() == [
        ["STATUS", "A", "B"]
    ]


@pytest.mark.parametrize("lines", [0, 3, 200])
def test_an_open_row_of_an_old_plan_takes_no_text_without_end(lines: int) -> None:
    """What follows a cut row goes on with it no further than a row is long, and the plan says that it does not end."""
    head = f"Execution Plan\n{'-' * 58}\n   0      SELECT STATEMENT Optimizer=ALL_ROWS (Cost=4 Card=2\n"
    text = "of another one\n" * lines
    spool = read_spool(f"SQL> select 1 from dual;\n\n{head}{text}{ELAPSED}".encode())

    assert "cut" in spool.diagnostics.get_column("kind").to_list()
    assert len(spool.plans.item(0, "operation")) < 600


def test_a_value_across_two_columns() -> None:
    """A value that is wider than its column may have pushed aside what follows: where each word belongs is a guess."""
    grid = "\nNAME   STARTED              RELEASE\n------ -------------------- --------\n"
    row = "ORCL   01-AUG-2026 12:43:{} 21.3.0.0\n"

    assert signs_of(f"SQL> select 1 from t;\n{grid}{row.format('01')}{ELAPSED}") == []
    found = signs_of(f"SQL> select 1 from t;\n{grid}{row.format('01.123456789')}{ELAPSED}")
    assert [kind for _, kind in found] == ["misplaced"]
