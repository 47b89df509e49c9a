"""Pages missing between a result or a plan and another: what stands where the client prints something else."""

import pytest
from spool_damage import PLAN, signs_of

from sqlplusparse import read_spool


@pytest.mark.parametrize(
    "lines",
    [
        [
            "depot          13      0.012",
            "gate            2      0.008",
            "-------- -------- ----------",
            "all  15  0.020",
        ],
        ["  1 Depot of the North              161          5", " " * 40 + "----------", "sum" + " " * 44 + "161"],
        ["RUNS == 20", "------- ------- ------- ------- ----", "NORTH         1       2       3    4"],
        [
            "  SID",
            "-----",
            "  131",
            "TM         Table lock          over all rows",
            "TX         Transaction lock    over rows",
        ],
    ],
    ids=["rows above a ruler", "text before the only column", "columns without headings", "texts below a number"],
)
def test_lines_around_a_ruler_that_are_another_ones(lines: list[str]) -> None:
    """What stands above a ruler and is no heading, and texts below a column of numbers, have a diagnostic."""
    text = "".join(f"{line}\n" for line in ["SQL> @depots", "", *lines, "", "Elapsed: 00:00:01.00"])

    assert "misplaced" in [kind for _, kind in signs_of(text)]


SECTIONS = ("Predicate Information", "Query Block Name / Object Alias")
RESULT = "  COUNT(*)\n----------\n     99950\n\n"


@pytest.mark.parametrize("section", SECTIONS)
def test_a_result_below_a_section_of_a_plan(section: str) -> None:
    """A result that follows a section of a plan without a statement above is read as a result."""
    rule = "-" * 51
    text = f'{PLAN}{section} (identified by operation id):\n{rule}\n\n   2 - filter("N" IS NULL)\n\n{RESULT}'
    spool = read_spool(text.encode())

    assert spool.table(1).rows() == [(99950,)]
    assert spool.plans.height == 3


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_a_plan_without_lines(section: str) -> None:
    """A result directly below the heading of a section is none of its lines, and the plan is not whole."""
    text = f"{PLAN}{section} (identified by operation id):\n\n{RESULT}"

    assert read_spool(text.encode()).table(1).rows() == [(99950,)]
    assert [kind for _, kind in signs_of(text)] == ["cut"]


def test_rows_of_a_result_below_a_section_of_a_plan() -> None:
    """Rows of a result whose headings are missing are no lines of the section above them."""
    text = f"{PLAN}Query Block Name / Object Alias:\n{'-' * 31}\n\n      7900 SMITH      CLERK            7698\n\n"

    assert "no_heading" in read_spool(f"{text}Elapsed: 00:00:01.00\n".encode()).diagnostics["kind"].to_list()


@pytest.mark.parametrize(
    ("line", "instead"),
    [(6, ["-" * 40, "-" * 34]), (11, ["------- ------- ----------"])],
    ids=["two rulers above the headings", "the ruler of a result below the rows"],
)
def test_a_plan_with_the_ruler_of_another_table(line: int, instead: list[str]) -> None:
    """A plan has one rule above its headings and one below its rows, each without gaps."""
    lines = PLAN.splitlines()
    lines[line - 1 : line] = instead

    assert [kind for _, kind in signs_of("".join(f"{one}\n" for one in lines))] == ["cut"]


def test_a_cursor_without_its_plan() -> None:
    """The text of a cursor's statement ends before the next cursor; figures between them are not part of it."""
    head = ["SQL_ID  1a2b3c4d5e6f7, child number 0", "-" * 37, "insert into depots select n from parts where"]
    rows = [
        "fetch  (first)          0.04        0.02           1",
        "fetch  (other)          0.35        0.35           1",
    ]
    text = "".join(f"{line}\n" for line in [*head, *rows, *head, "", *PLAN.splitlines()[2:]])
    spool = read_spool(text.encode())

    assert spool.plans["sql_id"].unique().to_list() == ["1a2b3c4d5e6f7"]
    assert {"cut", "no_heading"} <= set(spool.diagnostics["kind"])


def test_session_statistics_without_heading() -> None:
    """Statistics of SQLcl below no heading are read, and a diagnostic says that the heading is missing."""
    text = "         10  session logical reads\n          1  sorts (memory)\n         26  user calls\n"

    assert signs_of(f"Elapsed: 00:00:01.000\n\n{text}") == [(1, "no_owner"), (3, "cut")]
