"""Pieces of TKPROF reports joined: where lines of one stand below those of another, a diagnostic says so."""

from __future__ import annotations

import polars as pl
import pytest
from tkprof_reports import NEW, OLD

from sqltraceparse import read_tkprof

#: How lines of a statement begin, and those that no whole report prints right below them.
JOINTS = [
    ("call ", "Execute "),
    ("call ", "  db file"),
    ("Parse ", "Fetch "),
    ("Parse ", "Optimizer"),
    ("Execute ", "total "),
    ("Execute ", "Elapsed"),
    ("Fetch ", "Misses"),
    ("Fetch ", "  Event"),
    ("total ", "Number of plan"),
    ("total ", "         1"),
    ("Misses", "         1"),
    ("Optimizer", "         1"),
    ("Optimizer", "  Event"),
    ("Parsing user", "         1"),
    ("Parsing user", "  db file"),
    ("Rows ", "         1"),
    ("Rows ", "Elapsed"),
    ("         1", "  db file"),
    ("Elapsed", "  db file"),
]


def order_of(text: str) -> pl.DataFrame:
    """The diagnostics of lines that stand where they cannot."""
    return read_tkprof(text.encode()).diagnostics.filter(pl.col("kind") == "clock")


def place_of(lines: list[str], start: str) -> int:
    """The first line that begins so, counted from 0."""
    return next(number for number, line in enumerate(lines) if line.startswith(start))


@pytest.mark.parametrize("text", [NEW, OLD], ids=["19c", "9i"])
def test_whole_reports_are_in_order(text: str) -> None:
    """No line of a whole report is out of order."""
    assert order_of(text).is_empty()


@pytest.mark.parametrize(("kept", "rest"), JOINTS)
def test_a_piece_of_a_statement_is_missing(kept: str, rest: str) -> None:
    """The rest of a statement stands below the beginning of another: the first line of it is named."""
    lines = NEW.splitlines()
    end, start = place_of(lines, kept), place_of(lines, rest)
    damaged = "\n".join([*lines[: end + 1], *lines[start:]])

    assert order_of(damaged)["line"].to_list()[:1] == [end + 2]


@pytest.mark.parametrize("kept", ["call ", "Parse ", "Fetch ", "Rows ", "Elapsed"])
def test_the_end_of_a_statement_is_missing(kept: str) -> None:
    """The stars that end a statement stand within its tables."""
    lines = NEW.splitlines()
    end = place_of(lines, kept)
    start = end + place_of(lines[end:], "****")

    assert order_of("\n".join([*lines[: end + 1], *lines[start:]]))["line"].to_list() == [end + 2]


def test_rows_of_two_statements() -> None:
    """An event that a statement has twice, and a step of a plan that is indented by two more than the one above."""
    lines = NEW.splitlines()
    wait, step = place_of(lines, "  db file"), place_of(lines, "     26924")
    twice = "\n".join([*lines[: wait + 1], *lines[wait:]])
    assert order_of(twice)["line"].to_list() == [wait + 2]
    deeper = "\n".join([*lines[:step], lines[step].replace(" TABLE ACCESS", "   TABLE ACCESS"), *lines[step + 1 :]])
    assert order_of(deeper)["line"].to_list() == [step + 1]
