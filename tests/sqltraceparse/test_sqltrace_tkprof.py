"""TKPROF: reports of every form, and the trace that a report was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from tkprof_reports import NEW, OLD

from logframe import LogParseError
from logframe.loading import load_log
from sqltraceparse import Tkprof, read_sqltrace, read_tkprof

if TYPE_CHECKING:
    from pathlib import Path


def test_a_report_of_19c() -> None:
    """Statements, calls with bounds, steps, waits, the failed statement, the totals; nothing is left over."""
    report = load_log(NEW.encode())

    assert isinstance(report, Tkprof)
    assert report.describe() == "TKPROF report of 19.0.0.0.0, 2 statements"
    first, failed = report.statements.iter_rows(named=True)

    assert first["text"].startswith("select sum(amount),\n  'Misses in")
    assert [first[name] for name in ("sql_id", "plan_hash", "depth", "user_id", "user_name", "misses_execute")] == [
        "2yxfq0vd6r1fm",
        1388734953,
        1,
        106,
        "EMP",
        2,
    ]
    assert (failed["text"], failed["error"]) == ("select * from nosuch", 942)
    assert report.calls.group_by("scope").len().sort("scope").rows() == [
        ("non_recursive", 4),
        ("recursive", 4),
        ("statement", 4),
    ]
    fetch = report.calls.row(2, named=True)

    assert (fetch["count"], fetch["elapsed_s_lo"], fetch["elapsed_s_hi"], fetch["rows"]) == (269234, 0.31, 0.32, 1)
    assert report.row_sources.select("level", "rows", "rows_avg", "rows_max", "operation", "cardinality").rows() == [
        (0, 1, 2, 3, "SORT AGGREGATE", None),
        (1, 26924, 26924, 26924, "TABLE ACCESS FULL ORDERS", 4),
    ]
    assert report.waits.select("scope", "event", "waits", "total_wait_s").row(1) == (
        "statement",
        "enq: TX - row lock contention",
        2,
        0.01,
    )
    assert report.diagnostics.is_empty()


def test_a_report_of_9i() -> None:
    """No SQL_ID, no figures of steps, an explained plan whose step goes on in the next line."""
    report = read_tkprof(OLD.encode())

    assert report.statements.select("text", "optimizer_mode", "user_name").rows() == [
        ("select 1\nfrom\n dual", "CHOOSE", "SYS")
    ]
    assert report.row_sources.select("plan", "rows", "operation").rows() == [
        ("row source", 1, "SORT AGGREGATE"),
        ("row source", 100, "TABLE ACCESS FULL ORDERS"),
        ("explain", 0, "SELECT STATEMENT   GOAL: CHOOSE"),
        ("explain", 100, "PARTITION RANGE (ALL) PARTITION: START=1 STOP=28"),
    ]
    assert report.diagnostics.is_empty()


@pytest.mark.parametrize(
    ("before", "after", "column"),
    [("1038       1103          0           1\n---", "1039       1103          0           1\n---", "disk_blocks"),
     ("0.04       0.33", "0.05       0.37", "elapsed_s"),
     ("0.04       0.33", "0.02       0.33", "cpu_s")],
)  # fmt: skip
def test_totals_that_do_not_add_up(before: str, after: str, column: str) -> None:
    """A total that differs by more than what is cut off is said, with its line."""
    rows = read_tkprof(OLD.replace(before, after).encode()).diagnostics

    assert rows.get_column("kind").to_list() == ["sum"]
    assert column in rows.item(0, "reason")
    assert rows.item(0, "line") == 16


@pytest.mark.parametrize("digits", ["9" * 19, "1" * 5001])
def test_numbers_of_users_and_errors_that_are_too_long(digits: str) -> None:
    """A number that no machine word holds is no user, depth or error, cut or whole: its line is a diagnostic."""
    users = [f"Parsing user id: {digits}  (SCOTT)", f"Parsing user id: 5  (SCOTT)   (recursive depth: {digits})"]
    for user in [*users, "Parsing user id: \u00b2"]:
        report = read_tkprof(NEW.replace("Parsing user id: 106  (EMP)", user).encode())
        assert report.statements.get_column("user_id").drop_nulls().is_empty()
        assert digits not in user or digits in "".join(report.diagnostics.get_column("text").drop_nulls())
    report = read_tkprof(NEW.replace("ORA-00942", f"ORA-{digits}").encode())
    assert report.statements.get_column("error").drop_nulls().is_empty()


def test_what_is_no_report() -> None:
    """A text without a title and a table of calls is refused."""
    with pytest.raises(LogParseError, match="no TKPROF report"):
        read_tkprof(b"milk\nbread\n")


@pytest.mark.corpus
def test_real_reports(corpus: Path) -> None:
    """Every table of calls is read, and all totals add up."""
    paths = [path for path in sorted((corpus / "sqltrace").iterdir()) if b"TKPROF: Release" in path.read_bytes()]
    heights = {path.name: read_tkprof(path).calls.height for path in paths}

    assert sorted(heights.values()) == [20, 36, 40, 40, 40, 40, 104, 404]
    for path in paths:
        rows = read_tkprof(path).diagnostics

        assert rows.filter(pl.col("kind") == "sum").is_empty(), path
        assert rows.filter(pl.col("kind") == "unparsed").height <= 1, path


@pytest.mark.corpus
def test_a_trace_and_its_report(corpus: Path) -> None:
    """What calls did themselves is what TKPROF prints for them, to the block and row, and within what it cuts off."""
    [trace_path] = (corpus / "sqltrace").glob("*DBM11106_ora_6334.trc")
    report = read_tkprof(trace_path.with_suffix(".txt"))
    names = {"PARSE": "Parse", "EXEC": "Execute", "FETCH": "Fetch"}
    calls = read_sqltrace(trace_path).calls.with_columns(call=pl.col("op").replace_strict(names))
    printed = report.calls.filter(pl.col("call") != "total").join(
        report.statements.select("statement", "sql_id"), on="statement", how="left"
    )
    compared = 0
    for row in printed.iter_rows(named=True):
        of = pl.col("depth") == 0 if row["scope"] == "non_recursive" else pl.col("depth") > 0
        if row["scope"] == "statement":
            if row["sql_id"] is None:
                continue
            of = pl.col("sql_id") == row["sql_id"]
        mine = calls.filter(of, pl.col("call") == row["call"])
        compared += 1

        assert (row["count"], row["rows"]) == (mine.height, mine.get_column("rows").sum())
        assert [row[name] for name in ("disk_blocks", "consistent_gets", "current_gets")] == [
            mine.get_column(f"own_{name}").sum() for name in ("disk_blocks", "consistent_gets", "current_gets")
        ]
        for name in ("cpu", "elapsed"):
            seconds = mine.get_column(f"own_{name}_us").sum() / 1e6

            assert row[f"{name}_s_lo"] <= seconds < row[f"{name}_s_hi"] + 1e-9, (row, seconds)
    assert compared == 12


def test_lines_where_they_do_not_belong() -> None:
    """A row of a table in a statement's text is text; a step whose figures are damaged and a user of none are named."""
    call = "Fetch        3      0.01       0.02          1          2          3          4"
    report = read_tkprof(NEW.replace("from\n orders", f"from\n{call}\n orders").encode())
    step = read_tkprof(NEW.replace("         2          3  SORT AGG", "         2          x  SORT AGG").encode())
    user = read_tkprof(NEW.replace("Sort options: default", "Parsing user id: 7  (EMP)").encode())

    assert call in report.statements.item(0, "text")
    assert report.calls.height == read_tkprof(NEW.encode()).calls.height
    assert ["SORT AGG" in text for text in step.diagnostics["text"]] == [True]
    assert user.diagnostics.select("line", "kind").rows() == [(8, "unparsed")]
    assert 7 not in user.statements["user_id"].to_list()


@pytest.mark.parametrize(
    ("whole", "damaged"),
    [
        ("Plan Hash", "Wshu Hash"),
        ("Plan Hash", "     Hash"),
        ("2yxfq0vd6r1fm", "2yxfq0vd6r"),
        ("SQL ID", "SQL"),
        ("(recursive depth", "(recursive klwao depth"),
        ("(recursive depth", "(recursive dept "),
    ],
)
def test_a_line_of_a_statement_with_another_word(whole: str, damaged: str) -> None:
    """A plan hash, an SQL ID or a depth below another word is not read, and its line is named."""
    place = NEW[: NEW.index(whole)].count("\n") + 1
    report = read_tkprof(NEW.replace(whole, damaged, 1).encode())

    assert report.diagnostics.select("line", "kind").rows() == [(place, "cut")]


@pytest.mark.parametrize("word", ["call", "elapsed", "rows"])
def test_a_heading_with_another_word_in_a_report_without_its_title(word: str) -> None:
    """The rows below it are named, the texts of later statements are read."""
    text = OLD[OLD.index("call ") :] + "\n" + OLD[OLD.index("select 1") :]
    bare = read_tkprof(text.encode())
    report = read_tkprof(text.replace(word, "x" * len(word), 1).encode())

    assert (bare.calls.height, bare.statements.item(1, "text")) == (8, "select 1\nfrom\n dual")
    assert (report.calls.height, set(report.diagnostics["line"]) >= {3, 4, 5, 7}) == (4, True)


def test_a_heading_with_another_word_where_the_end_of_the_statement_is_missing_too() -> None:
    """Rows of calls below a ruler are no text of the next statement in silence."""
    text = "\n".join(OLD.split("\n")[:16]).replace("elapsed", "ELAPSED") + "\n\n" + OLD[OLD.index("select 1") :]
    report = read_tkprof(text.encode())

    assert report.calls.height == 4
    assert report.diagnostics.select("line", "kind").rows() == [(line, "clock") for line in (12, 13, 14, 16)]


def test_a_statement_without_its_table_of_calls() -> None:
    """A second name and plan hash before the table are those of another statement; the first is in the diagnostics."""
    head = "SQL ID: 2yxfq0vd6r1fm Plan Hash: 1388734953\n"
    report = read_tkprof(NEW.replace(head, "SQL ID: 9zxfq0vd6r1fz Plan Hash: 17\n\n" + head).encode())

    assert report.statements.select("sql_id", "plan_hash").row(0) == ("2yxfq0vd6r1fm", 1388734953)
    assert report.diagnostics["kind"].to_list() == ["clock"]
    assert read_tkprof(NEW.encode()).diagnostics.is_empty()


def test_figures_before_the_object_of_an_index() -> None:
    """The figures of a row source are read where the number of its object stands after them."""
    rulers = f"{'-' * 10} {'-' * 10} {'-' * 10}  {'-' * 51}"
    row = "         1          1          1   INDEX UNIQUE SCAN ORDERS_PK (cr=3 pr=0 pw=0 time=14 us)(object id 74550)"
    heading = "Rows (1st) Rows (avg) Rows (max)  Row Source Operation"
    text = "\n".join([NEW.partition(heading)[0].rstrip(), "", heading, rulers, row, ""])
    report = read_tkprof(text.encode())

    assert report.row_sources.select("operation", "consistent_gets", "elapsed_us").row(-1) == (
        "INDEX UNIQUE SCAN ORDERS_PK (object id 74550)",
        3,
        14,
    )
    assert "cut" not in report.diagnostics["kind"].to_list()
