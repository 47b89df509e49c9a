"""Ruled tables: rows that fit, rows that shifted, rows that cannot be decided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logframe import Column, Cut, columns_of, cut_row, fits, headings, is_ruler

RULER = "------------------------------ -------- ---------- ------"
COLUMNS = columns_of(RULER)


def printed(name: str, waits: str, time: str, percent: str) -> str:
    """A row under the ruler."""
    return f"{name:30} {waits:>8} {time:>10} {percent:>6}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (RULER, True),
        ("  ---- --", True),
        ("==== ====", True),
        ("~~~~", True),
        ("____ ___", True),
        ("-", True),
        ("------\t---", True),
        ("--- - -", True),
        ("----\r", True),
        ("", False),
        ("    ", False),
        ("-- x --", False),
        ("-->", False),
        ("-- 5", False),
        ("=", False),
        ("_", False),
    ],
)
def test_is_ruler(line: str, expected: bool) -> None:  # noqa: FBT001 - a parameter
    """Runs of dashes and blanks only; a lone `=` or `_` is none."""
    assert is_ruler(line) is expected


def test_columns_of() -> None:
    """Extents are half open and count from 0; an indented ruler is indented."""
    assert columns_of("  --- --") == (Column(2, 5), Column(6, 8))
    assert columns_of("no ruler") == ()


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (printed("free waits", "702", "11,112", "22.8"), ("free waits", "702", "11,112", "22.8")),
        (printed("DB CPU", "", "2,877", "22.8"), ("DB CPU", "", "2,877", "22.8")),
        ("short", ("short", "", "", "")),
        ("", ("", "", "", "")),
        (printed("free waits", "702", "11,112", "22.8") + " note", ("free waits", "702", "11,112", "22.8 note")),
    ],
)
def test_rows_that_fit(row: str, cells: tuple[str, ...]) -> None:
    """Cut at the ruler: inner blanks stay, missing cells are empty, the last column takes the rest."""
    assert fits(row, COLUMNS)
    assert cut_row(row, COLUMNS) == Cut(cells)


def test_first_column_takes_what_stands_before_it() -> None:
    """A ruler that is indented more than its rows loses nothing."""
    assert cut_row("name  12", columns_of("  --  --")).cells == ("name", "12")


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("free waits                        55,702      11,112     22.8", ("free waits", "55,702", "11,112", "22.8")),
        (
            "log file switch (private strand)  55,702     11,112   22.8",
            ("log file switch (private strand)", "55,702", "11,112", "22.8"),
        ),
        ("free waits                    123,456,789    11,112   22.8", ("free waits", "123,456,789", "11,112", "22.8")),
    ],
    ids=["moved", "long name", "long number"],
)
def test_rows_that_shifted(row: str, cells: tuple[str, ...]) -> None:
    """A row that an edit moved: each word goes to the column it overlaps most, and the cut says so."""
    assert not fits(row, COLUMNS)
    assert cut_row(row, COLUMNS, numeric=(1, 2, 3)) == Cut(cells, is_shifted=True)


def test_word_between_two_columns() -> None:
    """A word that overlaps two columns alike cannot be decided: a guess, with the problem named."""
    found = cut_row("aaaa 12345 b", columns_of("---- -- -- -"))

    assert (found.is_shifted, found.problem) == (True, "'12345' lies between two columns")
    assert " ".join(found.cells).split() == ["aaaa", "12345", "b"]


def test_two_numbers_in_one_column() -> None:
    """Two words in a column of numbers are a problem; in a column of text they are a text."""
    columns = columns_of("---- ------ --")
    row = "name 1 2   345"

    assert cut_row(row, columns, numeric=(1, 2)).problem == "'1 2' is more than one number"
    assert cut_row(row, columns, numeric=(2,)).problem == ""


def test_headings() -> None:
    """Several lines of a heading become one name a column."""
    lines = [
        "                                             Total   % DB",
        "Event                             Waits    Time (s)   time",
    ]

    assert headings(lines, COLUMNS) == ("Event", "Waits", "Total Time (s)", "% DB time")


widths = st.lists(st.integers(1, 12), min_size=1, max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...]]:
    """A ruler, a row printed under it, and the cells of the row."""
    sizes = draw(widths)
    cells = [draw(st.text("ab1 .", max_size=size).map(str.strip)) for size in sizes]
    aligned = [
        draw(st.sampled_from([str.ljust, str.rjust]))(cell, size) for cell, size in zip(cells, sizes, strict=True)
    ]
    return " ".join("-" * size for size in sizes), " ".join(aligned), tuple(cells)


@given(tables())
def test_printed_rows_come_back(table: tuple[str, str, tuple[str, ...]]) -> None:
    """Whatever was printed under a ruler, to the left or to the right, is cut back into its cells."""
    ruler, row, cells = table

    assert cut_row(row, columns_of(ruler)) == Cut(cells)
    assert cut_row(row.rstrip(), columns_of(ruler)) == Cut(cells)


@given(widths, st.text("ab12 ,.", max_size=60))
def test_no_word_is_lost(sizes: list[int], row: str) -> None:
    """However a row lies under its ruler, every character that is no blank stands in a cell, in order."""
    found = cut_row(row, columns_of(" ".join("-" * size for size in sizes)))

    assert "".join("".join(found.cells).split()) == "".join(row.split())
