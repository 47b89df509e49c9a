"""Sessions that were cut or put together: no figure goes to another statement without a diagnostic near it."""

import random

import pytest
from spool_client import Settings, printed, session
from spool_damage import Owners, damages, judge
from transformations import lines_of

from sqlplusparse import read_spool

#: What only a damaged session has.
SIGNS = frozenset(
    {
        "other_feedback",
        "missing_part",
        "rows_differ",
        "broken_plan",
        "broken_statistics",
        "broken_text",
        "empty_result",
        "second_result",
        "misplaced_row",
        "no_blank_line",
    }
)
GRID = "\n         N\n----------\n         1\n         2\n\n"
PLAN = """\
Execution Plan
----------------------------------------------------------
Plan hash value: 1388734953

----------------------------------
| Id  | Operation         | Name |
----------------------------------
|   0 | SELECT STATEMENT  |      |
|   1 |  SORT AGGREGATE   |      |
|   2 |   TABLE ACCESS FULL| T   |
----------------------------------

"""
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


def signs_of(text: str) -> list[tuple[int, str]]:
    """Lines and kinds of the signs in a text."""
    rows = read_spool(text.encode()).diagnostics.select("line", "kind").rows()
    return [row for row in rows if row[1] in SIGNS]


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

    assert "other_feedback" in spool.diagnostics["kind"].to_list()
    assert spool.statements.select("elapsed_s").to_series().to_list()[0] is None
    assert spool.timings["statement"].to_list() == [2]


@pytest.mark.parametrize("removed", [4, 7, 8, 10])
def test_cut_plans(removed: int) -> None:
    """A plan that lacks a row above its last, or a line of its frame, has a diagnostic."""
    lines = f"SQL> select count(*) from t;\n{GRID}{ELAPSED}{PLAN}".splitlines(keepends=True)
    start = lines.index("Execution Plan\n")

    assert signs_of("".join(lines)) == []
    assert [kind for _, kind in signs_of("".join(lines[: start + removed] + lines[start + removed + 1 :]))] == [
        "broken_plan"
    ]


def test_part_that_the_neighbours_have() -> None:
    """A statement without an Elapsed among timed ones has a diagnostic, and none after SET TIMING."""
    one = f"SQL> create table t (n number);\n\nTable created.\n\n{ELAPSED}"
    cut = one.removesuffix(ELAPSED)

    assert signs_of(one + cut + one) == [(7, "missing_part")]
    assert signs_of(f"{one}SQL> set timing off\n{cut}SQL> set timing on\n{one}") == []


def test_result_within_a_result() -> None:
    """Two results of one typed query, a heading without rows, and a text that does not end are signs."""
    query = "SQL> select n from t;\n"
    other = GRID.replace("         N", "     OTHER")

    assert ("second_result" in dict(map(reversed, signs_of(f"{query}{GRID}{other}2 rows selected.\n")))) is True
    assert signs_of("SQL> select n\n" + GRID + ELAPSED) == [(1, "broken_text")]
    assert [kind for _, kind in signs_of(f"{query}\n         N\n----------\n{ELAPSED}")] == ["empty_result"]


def test_row_of_nulls_that_autotrace_counts() -> None:
    """Without a feedback the statistics say that a blank line is a row."""
    trace = (
        "Statistics\n----------------------------------\n          0  recursive calls\n          1  rows processed\n"
    )
    spool = read_spool(f"SQL> select sum(n) from t;\n\n    SUM(N)\n----------\n\n\n{ELAPSED}{trace}".encode())

    assert spool.table(1).rows() == [(None,)]
    assert [kind for kind in spool.diagnostics["kind"] if kind in SIGNS] == []
