"""Copies of sessions as pages and mails make them: a blank line after every line, entities, blanks that are lost."""

from html import escape
from pathlib import Path

import polars as pl
import pytest

from sqlplusparse import read_spool

DATA = Path(__file__).parent / "spool_data"
#: Sessions whose lines stand close together, and frames without the places of the lines.
SESSIONS = ("english.log", "allstats.log", "sqlcl.log", "listings.log", "unechoed.log", "old_plan.txt")
FRAMES = ("statements", "timings", "autotrace", "statistics", "plans", "tables")


def spaced(lines: list[str]) -> str:
    """A blank line after every line."""
    return "".join(f"{line}\n\n" for line in lines)


def without_places(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame without the numbers of lines."""
    return frame.drop("line", "first_line", "last_line", strict=False)


@pytest.mark.parametrize("name", SESSIONS)
def test_blank_line_after_every_line(name: str) -> None:
    """Such a copy gives the frames of the original."""
    lines = (DATA / name).read_text().splitlines()
    spool, copy = read_spool(DATA / name), read_spool(spaced(lines).encode())

    for frame in FRAMES:
        assert without_places(getattr(copy, frame)).equals(without_places(getattr(spool, frame))), frame
    tables = range(1, spool.tables.height + 1)
    assert [copy.table(table).rows() for table in tables] == [spool.table(table).rows() for table in tables]


@pytest.mark.parametrize("name", SESSIONS)
def test_lines_of_spaced_copies(name: str) -> None:
    """Every line of the copy is accounted for, and its numbers are those of the copy."""
    lines = (DATA / name).read_text().splitlines()
    spool, copy = read_spool(DATA / name), read_spool(spaced(lines).encode())
    doubled = [number for number in spool.lines()["role"] for _ in (0, 1)]

    assert copy.lines().height == 2 * len(lines)
    assert copy.lines()["role"].to_list()[::2] == doubled[::2]
    assert set(copy.lines()["role"].to_list()[1::2]) == {"blank"}
    for frame, column in (
        ("statements", "first_line"),
        ("timings", "line"),
        ("plans", "line"),
        ("diagnostics", "line"),
    ):
        places, places_of_copy = getattr(spool, frame)[column], getattr(copy, frame)[column]
        assert [None if place is None else 2 * place - 1 for place in places] == places_of_copy.to_list()


def test_blank_lines_of_its_own() -> None:
    """A session whose commands and answers stand apart anyhow is read as it stands."""
    session = "SQL> commit;\n\nCommit complete.\n\n" * 5

    assert read_spool(session.encode()).statements["first_line"].to_list() == [1, 5, 9, 13, 17]


def test_entities() -> None:
    """A session with the marks of a page's source reads as the session; a line feed among them moves no line."""
    session = (DATA / "english.log").read_text()
    copy = read_spool(escape(session).encode())

    assert copy.statements.equals(read_spool(session.encode()).statements)
    assert copy.plans.equals(read_spool(session.encode()).plans)
    spool = read_spool(b"SQL&gt; select 1 &#10; from dual;\n\nElapsed: 00:00:00.02\n")
    assert spool.statements.select("first_line", "text", "elapsed_s").row(0) == (1, "select 1   from dual", 0.02)


def test_entities_in_data() -> None:
    """What a session itself selects keeps its entities."""
    spool = read_spool(b"SQL> select x from t;\n\nX\n--------------------\na &gt; b &amp; c\n")

    assert spool.table(1).rows() == [("a &gt; b &amp; c",)]


def test_lost_blanks() -> None:
    """Without the blanks that begin its lines a plan keeps its notes, and its parents are unknown, not the root."""
    lines = [
        "Execution Plan",
        "Plan hash value: 2871",
        "| Id | Operation | Name | Rows |",
        "| 0 | SELECT STATEMENT | | 7 |",
        "| 1 | SORT AGGREGATE | | 1 |",
        "| 2 | TABLE ACCESS FULL | PARTS | 7 |",
        "",
        "Note",
        "-----",
        "- dynamic statistics used",
        "",
        "Statistics",
        "7 consistent gets",
    ]
    spool = read_spool("\n".join(lines).encode())

    assert spool.plans.select("id", "parent_id", "depth").rows() == [(0, None, 0), (1, None, None), (2, None, None)]
    assert spool.plans["notes"].to_list()[0] == ["dynamic statistics used"]
    assert spool.statements["consistent_gets"].to_list() == [7]
