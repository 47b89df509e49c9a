"""Figures of a session that stand below no heading, and lines of scripts and plans around results."""

import pytest
from polars.testing import assert_frame_equal
from transformations import joined, wrapped

from sqlplusparse import read_spool

#: A script as a listing shows it, cut above the headings of a result.
SCRIPT = ["Results of running 41.sql", *(f"{number:6}  {word}" for number, word in enumerate(("set", "select"), 3))]
ROWS = ["     80512 Depot of the North          2731     12", "      4417 Harbour depot               118      7"]
PLAN = joined(
    [
        "Execution Plan",
        "----------------------------------------------------------",
        "   0      SELECT STATEMENT Optimizer=ALL_ROWS (Cost=41 Card=27 Bytes=31347)",
        "   1    0   SORT (ORDER BY) (Cost=41 Card=27 Bytes=31347)",
        "   2    1     TABLE ACCESS (BY INDEX ROWID) OF 'DEPOTS' (TABLE) (Cost=29 Card=27 Bytes=31347)",
        "   3    2       INDEX (RANGE SCAN) OF 'DEPOTS_OF_REGION' (INDEX) (Cost=3 Card=27)",
    ]
)


def kinds_of(text: str) -> list[str]:
    """The kinds of the diagnostics of a session."""
    return read_spool(text.encode()).diagnostics["kind"].to_list()


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        ["      1997 .031417", "      1998 .052931"],
        ["    270311", "    270312", "    270312"],
        ["NORTH         41   0.17", "SOUTH        188   0.23"],
        ["      0.003          417       0.007 FIGS   begin", "      0.001           18       0.002 FIGS   end;"],
        ["       417 Concurrency                 3", "       417 Commit                      0"],
        ["DB41   77001 host-a   41 2026-11-02 10:00:00   41   .17"] * 2,
        ["        77        41 DB41        1900123 DB41_A           3 2026-11-02 09:00   2026-11-02 10:00   {"] * 2,
        ["  :1:,3,     :1:,3,                   11         70", "    :2:,4,   :1:,3,:2:,4,             14         80"],
        ["Harbour of the North      17", "Depot                     17", "Quay                       9"],
        ["    123001 Depot#000123001           88498.66    784.17", "HARBOUR          at the quay"],
        ["------- ------ -------- ----------", "total        5     0.39       0.40"],
        ["     100      VIEW OF 'VW_NSO_1'", "      99       SORT (UNIQUE)"],
    ],
    ids=[
        *(
            "names and counts",
            "numbers",
            "one column",
            "shares",
            "texts after",
            "snapshots",
            "many columns",
            "cut texts",
        ),
        *("paths", "one figure at the right", "a folded row", "a total below its ruler", "row sources"),
    ],
)
def test_rows_without_headings(rows: list[str]) -> None:
    """Rows of a result whose headings are missing are text, and a diagnostic says so."""
    found = kinds_of(joined(["Elapsed: 00:00:01.00", "", *rows]))

    assert {"no_heading", "cut"} & set(found)


@pytest.mark.parametrize("below", ["1 row selected.", "Elapsed: 00:00:01.96", joined(["Execution Plan", "-" * 58])])
@pytest.mark.parametrize("row", ["SHIP           6200", "     64003"])
def test_the_last_row_of_a_result_without_headings(row: str, below: str) -> None:
    """A row directly above what the client prints below a result is a diagnostic, also one alone with one figure."""
    text = joined(["Depots", "======", "some words", "", row, "", *below.splitlines(), "Plan hash value: 1388734953"])

    assert "no_heading" in kinds_of(text)


@pytest.mark.parametrize(
    "lines",
    [
        SCRIPT,
        ["     7  case", "     8    then 1", "     9    else 0"],
        [f"{number:6}" for number in range(4, 9)],
        ["27 * 543 = 14,661"] * 3,
        ["1, 90210", "2, 90345"],
        ["Runs of each kind", "=================", *(f"{name:9}        1" for name in ("INSERT", "UPDATE", "MERGE"))],
        [f"-rw-r--r--.   1 oracle dba  {size} May  2 13:58 {size}.out" for size in (332661, 452301, 165982)],
    ],
    ids=["script", "figures in a script", "numbers of blank lines", "sums", "values with commas", "own table", "files"],
)
def test_text_with_numbers(lines: list[str]) -> None:
    """Numbers of the lines of a script, sums and values with commas are no rows of a table."""
    assert "no_heading" not in kinds_of(joined(["Elapsed: 00:00:01.00", "", *lines]))


@pytest.mark.parametrize(
    "above", [SCRIPT, ["SQL> SQL>   2    3    4", "   5    6    7"]], ids=["script", "prompts cut at the line size"]
)
@pytest.mark.parametrize("heading", [[], ["     DEPOT      ITEMS"]], ids=["page missing", "heading"])
def test_numbers_of_lines_above_a_result(above: list[str], heading: list[str]) -> None:
    """Numbered lines of a statement directly above a result are no part of the names of its columns."""
    result = ["---------- ----------", "     80512       2731", "      4417        118"]
    spool = read_spool(joined([*above, *heading, *result, "", "Elapsed: 00:00:01.00"]).encode())
    columns = [column for number in spool.tables["table"] for column in spool.table(number).columns]

    assert columns == "".join(heading).split()
    assert heading or "no_heading" in spool.diagnostics["kind"]


@pytest.mark.parametrize("width", range(66, 92))
def test_rows_of_an_old_plan_in_several_lines(width: int) -> None:
    """A row of a plan that the line size cuts goes on in the next line, also within a number."""
    plan = read_spool(PLAN.encode()).plans
    copy = read_spool(wrapped(PLAN, width, recsep=False).encode()).plans

    assert plan["e_bytes"].to_list() == [31347, 31347, 31347, None]
    assert_frame_equal(copy.drop("line"), plan.drop("line"))


def test_rows_of_an_old_plan_without_heading() -> None:
    """Rows of a plan below no heading are text, and a diagnostic says so."""
    rows = joined(PLAN.splitlines()[2:])

    assert kinds_of(f"Elapsed: 00:00:01.00\n\n{rows}") == ["no_owner", "cut"]
