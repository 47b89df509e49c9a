"""Results as clients print them: rows agree with the feedback, or a diagnostic says why not."""

import random

import polars as pl
import pytest
from spool_client import Settings, expected, printed, session

from sqlplusparse import Spool, read_spool
from sqlplusparse.autotrace import AUTOTRACE_NAMES

TICKS = (pl.col("elapsed_s") * 100).round().cast(pl.Int64)


def kinds(spool: Spool) -> list[str]:
    """The kinds of the diagnostics."""
    return spool.diagnostics["kind"].to_list()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("off", [{"heading": False}, {"underline": ""}])
def test_results_without_a_ruler(seed: int, off: dict[str, object]) -> None:
    """SET HEADING OFF and SET UNDERLINE OFF: owners stay, no row is invented, and a diagnostic names the result."""
    built = session(seed)
    settings = Settings(**off, autotrace=seed % 2 == 0, feedback=seed % 3 > 0)  # type: ignore[arg-type]
    spool = read_spool(printed(built, settings).encode())

    assert spool.statements.select("kind", "rows", TICKS, "physical_reads").rows() == expected(built, settings)
    shown = [number for number, one in enumerate(built, 1) if one.kind == "select" and one.rows]
    spans = spool.statements.select("statement", "first_line", "last_line").rows()
    noted = spool.diagnostics.filter(pl.col("kind") == "no_heading")["line"].to_list()
    assert spool.tables.height == 0
    assert [one for one, first, last in spans if any(first <= line <= last for line in noted)] == shown


def pages(rows: list[tuple[str, int]], page: int, symbol: str) -> list[str]:
    """The pages of a result by SQLcl, which fits the widths of the columns to the rows of each page."""
    lines = []
    for start in range(0, len(rows), page):
        shown = rows[start : start + page]
        wide = max(len("NAME"), *(len(name) for name, _ in shown))
        right = max(len("TOTAL"), *(len(str(total)) for _, total in shown))
        lines += ["", f"{'NAME':<{wide}} {'TOTAL':>{right}}", f"{symbol * wide} {symbol * right}"]
        lines += [f"{name:<{wide}} {total:>{right}}" for name, total in shown]
    return [*lines, ""]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("symbol", ["_", "-"])
def test_pages_of_other_widths(seed: int, symbol: str) -> None:
    """A result whose pages have columns of other widths is one grid, each row cut at its own page's ruler."""
    chance = random.Random(seed)  # noqa: S311 - test data
    rows = [
        (" ".join(chance.choices(["IDX", "PK_OF_PARTS", "A", "LOG TABLE"], k=chance.randrange(1, 4))), 10**place % 997)
        for place in range(chance.randrange(8, 40))
    ]
    feedback = [f"{len(rows)} rows selected.", ""] * chance.randrange(2)
    prompt = "hr@lab> select name, total from parts;" if symbol == "-" or chance.random() < 0.5 else ""
    lines = [prompt, *pages(rows, chance.randrange(2, 9), symbol), *feedback, "Elapsed: 00:00:00.172"]
    spool = read_spool("\n".join(lines).encode())

    assert spool.tables["row_count"].to_list() == [len(rows)]
    assert spool.table(1).rows() == rows
    assert spool.statements["elapsed_s"].to_list() == [0.172]
    assert spool.lines().filter(pl.col("role") == "text").height == 0


def test_other_widths_of_other_queries() -> None:
    """Results that are not echoed, with rulers of dashes and the same headings, stay two."""
    text = "".join(f"NAME {'-' * 0}\n{'-' * wide}\nA\nB\n\n2 rows selected.\n\n" for wide in (5, 9))

    assert read_spool(text.encode()).tables["row_count"].to_list() == [2, 2]


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_nulls(seed: int) -> None:
    """Blank lines are rows of nulls, also the last, where the client counts them."""
    chance = random.Random(seed)  # noqa: S311 - test data
    cells = [chance.choice([None, None, chance.randrange(1000)]) for _ in range(chance.randrange(1, 12))]
    cells[0] = cells[0] or 7 * (seed % 2) or None
    count = len(cells)
    rows = [f"{'' if cell is None else cell:>10}".rstrip() for cell in cells]
    text = [
        "SQL> select n from t;",
        "",
        "         N",
        "-" * 10,
        *rows,
        "",
        f"{count} row{'s' * (count > 1)} selected.",
        "",
    ]
    spool = read_spool("\n".join([*text, "Elapsed: 00:00:00.01"]).encode())

    assert spool.table(1)["N"].cast(pl.Int64).to_list() == cells
    assert "sum" not in kinds(spool)
    assert spool.statements.select("rows", "elapsed_s").rows() == [(count, 0.01)]


def test_wrapped_digits() -> None:
    """Digits that continue a text which fills its column are no rows, where the client counts fewer."""
    wide = "20" * 12
    ruler = f"{'-' * 8} {'-' * 8} {'-' * 24}"
    rows = [f"{'A':<8} {1:>8} 78{wide[2:]}", f"{'':17} {wide}", f"{'':17} 2020", "", f"{'B':<8} {2:>8} C119"]
    text = ["", f"{'NAME':<8} {'N':>8} VALUE", ruler, *rows, "", "2 rows selected.", ""]
    spool = read_spool("\n".join(text).encode())

    assert spool.table(1).rows() == [("A", 1, f"78{wide[2:]}{wide}2020"), ("B", 2, "C119")]
    assert spool.lines().filter(pl.col("role") == "text").height == 0


def test_rows_left_out_by_hand() -> None:
    """A result that was shortened says so, where it was, and what the client selected."""
    text = "SQL> select n from t;\n\n N\n--\n 1\n 2\n\n..<snip>...\n\n 9\n\n70 rows selected.\n"
    spool = read_spool(text.encode())

    assert spool.diagnostics.filter(pl.col("kind") == "missing")["line"].to_list() == [8]
    reasons = spool.diagnostics.filter(pl.col("kind") == "sum")["reason"].to_list()
    assert reasons == ["the client selected 70 rows; 3 were read here; lines were left out by hand"]


def report(chance: random.Random) -> list[str]:
    """Lines of a log table: texts, ruled tables, plans."""
    table = ["Timer       Calls", "-------  --------", f"Run      {chance.randrange(99):>8}", "-------  --------"]
    plan = [
        "Plan hash value: 1388734953",
        "",
        "-" * 24,
        "| Id  | Operation      |",
        "-" * 24,
        "|   0 | SELECT STATEMENT|",
    ]
    parts = [["starting", "loading parts"], table, ["", "done"], plan]
    return [line for part in chance.choices(parts, k=chance.randrange(2, 9)) for line in [*part, ""]] + ["the end"]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("has_heading", [True, False])
def test_rows_of_text_that_read_as_tables(seed: int, has_heading: bool) -> None:  # noqa: FBT001 - a parameter
    """Texts that a query returns make no statements, and the query's time is its own."""
    chance = random.Random(seed)  # noqa: S311 - test data
    lines = report(chance)
    size = chance.choice([6, 9, 1000])
    heading = ["", "TEXT", "-" * 80]
    shown = (
        [line for start in range(0, len(lines), size) for line in [*heading, *lines[start : start + size]]]
        if has_heading
        else lines
    )
    before = ["SQL> create table t (n number);", "", "Table created.", "", "Elapsed: 00:00:00.09", "SQL> @report"]
    after = ["", f"{len(lines)} rows selected.", "", "Elapsed: 00:00:01.25", "SQL> commit;", "", "Commit complete."]
    spool = read_spool("\n".join([*before, *shown, *after]).encode())

    found = spool.statements.select("kind", "rows", "elapsed_s").rows()
    if has_heading or found[1:-1] == [("select", len(lines), 1.25)]:
        assert found == [("ddl", None, 0.09), ("select", len(lines), 1.25), ("transaction", None, None)]
    else:
        assert "sum" in kinds(spool) or "no_heading" in kinds(spool)


@pytest.mark.parametrize("version", ["", " (9.2.0.4)", " (10.1.0.2 autotrace)", " (8.1.7)"])
def test_plan_headings_with_a_version(version: str) -> None:
    """Articles write the version behind the heading; it is no table, and the plan is the statement's."""
    counts = "".join(f"{place:>11}  {name}\n" for place, name in enumerate(AUTOTRACE_NAMES))
    text = (
        f"SQL> select 1 from t;\n\nElapsed: 00:00:00.03\n\nExecution Plan{version}\n{'-' * 58}\n"
        "   0      SELECT STATEMENT Optimizer=CHOOSE (Cost=2 Card=7 Bytes=126)\n"
        "   1    0   TABLE ACCESS (FULL) OF 'T'\n\n"
        f"Statistics\n{'-' * 58}\n{counts}"
    )
    spool = read_spool(text.encode())

    assert spool.statements.select("elapsed_s", "physical_reads").rows() == [(0.03, 3)]
    assert spool.plans["operation"].to_list() == ["SELECT STATEMENT Optimizer=CHOOSE", "TABLE ACCESS (FULL)"]
    assert spool.tables.height == 0


STATISTICS = "".join(
    f"{count:>16}  {name}\n"
    for name, count in {
        "Requests to/from client": 28,
        "consistent gets": 7,
        "consistent gets from cache": 7,
        "logical read bytes from cache": 57344,
        "physical reads": 3,
        "user calls": 28,
    }.items()
)
PLANS = {
    "none": "",
    "old": "Execution Plan\n-----\n   0      SELECT STATEMENT (Cost=2 Card=7)\n   1    0   FILTER\n\n",
    "table": "Explain Plan\n-----\n| Id  | Operation |\n|   0 | SELECT    |\n\n",
}


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("echo", ["", "select count(*) from t;\n\n  COUNT(*)\n__________\n        12\n\n"])
def test_statistics_without_a_heading(plan: str, echo: str) -> None:
    """SQL Developer's statistics without a heading are the statement's, and no plan takes their lines."""
    spool = read_spool(f"{echo}{PLANS[plan]}{STATISTICS}\nElapsed: 00:00:00.172\n".encode())

    assert spool.statements.select("physical_reads", "gets", "elapsed_s").rows() == [(3, 7, 0.172)]
    assert spool.autotrace.filter("is_shown").height == 6
    assert spool.autotrace["client"].unique().to_list() == ["sqlcl"]
    assert spool.plans.height == {"none": 0, "old": 2, "table": 1}[plan]


@pytest.mark.parametrize("seed", range(60))
def test_folded_rows_with_separators(seed: int) -> None:
    """Rows folded at a narrow line size, between separators: no phantom statement, and no row is silently another."""
    chance = random.Random(seed)  # noqa: S311 - test data
    settings = Settings(
        underline=chance.choice("-=~*"),
        colsep=chance.choice([" ", "|", " | ", ";"]),
        linesize=chance.choice([40, 80]),
        pagesize=chance.choice([14, 1000]),
        autotrace=False,
        feedback=seed % 3 > 0,
    )
    built = [one for one in session(seed + 900, size=20) if one.kind == "select" and one.rows]
    spool = read_spool(printed(built, settings).encode())

    assert spool.statements.select("kind", TICKS).rows() == [("select", one.ticks) for one in built]
    cells = [
        [
            tuple(
                int(cell) if column.is_number else cell or None for cell, column in zip(row, one.columns, strict=True)
            )
            for row in one.cells
        ]
        for one in built
    ]
    found = [spool.table(number).rows() for number in range(1, spool.tables.height + 1)]
    assert found == cells or {"ambiguous", "sum"} & set(kinds(spool))


def test_counts_in_prose_are_no_statistics() -> None:
    """Two lines, or counts of anything else, make no list."""
    text = "3  apples\n4  pears\n5  plums\n7  consistent gets from cache\n8  user calls\nElapsed: 00:00:00.01\n"

    assert read_spool(text.encode()).autotrace.height == 0
