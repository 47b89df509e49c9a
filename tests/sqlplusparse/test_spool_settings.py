"""The client's settings: one session printed in many ways reads the same."""

import random
from dataclasses import replace

import polars as pl
import pytest
from spool_client import Settings, expected, printed, session

from sqlplusparse import Spool, read_spool

PROMPTS = (
    "SQL> ",
    "SCOTT@lab1> ",
    "24/05/2011 12:37:04 | SCOTT@ORCL > ",
    "[lab:1521] hr => ",
    "hr on lab# ",
    "12:37:04 idle-7 % ",
    "lab: ",
)
UNDERLINES = ("-", "=", "~", "*", "+", "_")
SEPARATORS = (" ", " | ", "|", "||", ";", " # ", "<>")
SEEDS = range(40)


def drawn(seed: int) -> Settings:
    """Some settings, the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - test data
    return Settings(
        prompt=chance.choice(PROMPTS),
        underline=chance.choice(UNDERLINES),
        colsep=chance.choice(SEPARATORS),
        timing=chance.random() < 0.8,
        autotrace=chance.random() < 0.6,
        autocommit=chance.random() < 0.3,
        serveroutput=chance.random() < 0.5,
        pagesize=chance.choice([14, 24, 50]),
    )


def statements(spool: Spool) -> list[tuple[object, ...]]:
    """Kind, rows, hundredths of a second and physical reads of each statement."""
    ticks = (pl.col("elapsed_s") * 100).round().cast(pl.Int64)
    return spool.statements.select("kind", "rows", ticks, "physical_reads").rows()


def tables(spool: Spool) -> list[list[tuple[object, ...]]]:
    """The rows of each result."""
    return [spool.table(number).rows() for number in range(1, spool.tables.height + 1)]


@pytest.mark.parametrize("seed", SEEDS)
def test_owners_in_any_settings(seed: int) -> None:
    """Each figure is its statement's, whatever the prompt, the underline and the column separator are."""
    built, settings = session(seed), drawn(seed)
    spool = read_spool(printed(built, settings).encode())

    assert statements(spool) == expected(built, settings)
    assert spool.statements["prompt"].unique().to_list() == [settings.prompt.strip()]


@pytest.mark.parametrize("seed", SEEDS)
def test_results_in_any_settings(seed: int) -> None:
    """Each result has its rows, over pages of any size; the marks change nothing."""
    built, settings = session(seed), drawn(seed)
    spool = read_spool(printed(built, settings).encode())
    rows = [
        [
            tuple(
                int(cell) if column.is_number else cell or None for cell, column in zip(row, one.columns, strict=True)
            )
            for row in one.cells
        ]
        for one in built
        if one.cells
    ]

    assert [[tuple(str(cell) for cell in row) for row in table] for table in tables(spool)] == [
        [tuple(str(cell) for cell in row) for row in table] for table in rows
    ]


@pytest.mark.parametrize("prompt", PROMPTS[2:])
def test_prompt_that_a_command_chose(prompt: str) -> None:
    """A prompt that is seen once is known by its command."""
    text = f"SQL> set sqlprompt '{prompt}'\n{prompt}select 1 from dual;\n\nElapsed: 00:00:00.73\n"
    spool = read_spool(text.encode())

    assert spool.statements.select("text", "prompt", "elapsed_s").rows() == [
        ("select 1 from dual", prompt.strip(), 0.73)
    ]


def test_underline_that_a_command_chose() -> None:
    """Without an echoed query, a ruler of one run is known by the command."""
    text = "SQL> set underline '~' echo off\n\n  COUNT(*)\n~~~~~~~~~~\n        14\n\nElapsed: 00:00:00.73\n"

    assert tables(read_spool(text.encode())) == [[(14,)]]


def test_separator_that_a_command_chose() -> None:
    """A separator of letters is known by the command."""
    grid = "A     x         B\n----- x ---------\none   x         1\ntwo   x        22\n"
    text = f"SQL> set colsep ' x '\nSQL> select a, b from t;\n\n{grid}\n"

    assert tables(read_spool(text.encode())) == [[("one", 1), ("two", 22)]]


def test_titles_are_not_headings() -> None:
    """Text underlined with equals signs is text, unless a query was typed just above it."""
    spool = read_spool(
        b"SQL> exec report\n\nSummary\n=======\nwrote 3 files\n\nPL/SQL procedure successfully completed.\n"
    )

    assert spool.tables.height == 0


def test_settings_of_the_generator() -> None:
    """The same session under two settings is printed differently."""
    built = session(3)

    assert printed(built, Settings()) != printed(built, replace(Settings(), underline="="))
