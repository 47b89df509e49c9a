"""Lines cut into columns of figures: each is what Python reads of the word, and None where a line has another form."""

import random

import polars as pl
import pytest

from logframe.kernel import load_kernel
from logframe.split import split_figures

GAPS = (" ", "   ", "\t", " \t ")
#: Lines that are not a word and two figures of one and of no decimals.
OTHERS = (
    "sda 1.5", "sda 1.5 2 3", "sda 1.5 2 ", "sda 1.50 2", "sda 1. 2", "sda .5 2", "sda 1,5 2", "sda 1.5 2.0", "sda - 2",
    "sda 1.5 x", "sda 1.5 2x", "sda", "", " ", "sda 1.5k 2", "sda +1.5 2", "sda 1e5 2", "sda 1.5 --2", "sda nan 2",
    "sda 1234567890123456.5 2", "sda 1.5 1234567890123456", "sda 1.5\n2", "sda 1.5 2\n", "sda\u00a01.5 2",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _compiled() -> None:
    if load_kernel() is None:
        pytest.skip("no compiled code")


def printed(draw: random.Random, decimals: int) -> str:
    """A figure with so many decimals."""
    sign = draw.choice(("", "", "-"))
    return f"{sign}{draw.randrange(10 ** draw.randrange(1, 12)):0{draw.randrange(1, 4)}}" + (
        f".{draw.randrange(10**decimals):0{decimals}}" if decimals else ""
    )


@pytest.mark.parametrize("seed", range(20))
def test_words_between_blanks(seed: int) -> None:
    """Each figure is the number that Python reads; -0.0 keeps its sign."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    decimals = [draw.randrange(4) for _ in range(draw.randrange(1, 9))]
    words = draw.randrange(3)
    cells = [[printed(draw, each) for each in decimals] for _ in range(draw.randrange(1, 60))]
    lines = [
        draw.choice(("", " "))
        + "".join(f"é{word}{draw.choice(GAPS)}" for word in range(words))
        + draw.choice(GAPS).join(row)
        for row in cells
    ]
    found = split_figures(pl.Series(lines), decimals, words=words)

    assert found is not None
    assert [repr(float(row[0])) for row in cells] == [repr(value) for value in found[0]]
    assert [[float(cell) for cell in column] for column in zip(*cells, strict=True)] == [
        each.to_list() for each in found
    ]


@pytest.mark.parametrize("seed", range(10))
def test_cells_between_commas(seed: int) -> None:
    """An empty cell is null, wherever it stands."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    width = draw.randrange(1, 7)
    cells = [[draw.choice(("", printed(draw, 1))) for _ in range(width)] for _ in range(30)]
    found = split_figures(pl.Series([",".join(row) for row in cells]), [1] * width, separator=",")
    expected = [[float(cell) if cell else None for cell in column] for column in zip(*cells, strict=True)]

    assert found is not None
    assert expected == [each.to_list() for each in found]


@pytest.mark.parametrize("line", OTHERS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_of_another_form(line: str, place: int) -> None:
    """One such line, wherever it stands, and none is cut."""
    lines = ["sda 1.5 2", "sdb 0.0 -1"]
    lines.insert(place, line)

    assert split_figures(pl.Series(lines), [1, 0], words=1) is None


def test_nothing_to_cut() -> None:
    """No line, and a null, are left to the caller."""
    assert split_figures(pl.Series([], dtype=pl.String), [1]) is None
    assert split_figures(pl.Series(["1.5", None]), [1]) is None


def test_digits_that_a_double_holds() -> None:
    """Fifteen digits are read, rounded once; sixteen are left to the caller."""
    (found,) = split_figures(pl.Series(["9999999999999.99", "0.07"]), [2]) or [pl.Series()]

    assert found.to_list() == [9999999999999.99, 0.07]
    assert split_figures(pl.Series(["99999999999999.99"]), [2]) is None
