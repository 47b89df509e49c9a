"""Columns of printed numbers read by compiled code: as `read_printed` reads each cell, and nothing else is plain."""

import random
import re

import pytest

from logframe import read_printed
from logframe.figures import BLANK, OTHER, PLAIN, ColumnForm, PlainFigures, read_figures
from logframe.kernel import load_kernel
from logframe.printed import MOST_DIGITS

ODD = (
    *(
        "-",
        ",",
        "1,",
        ",1",
        "1,2345",
        "12,345,6",
        "N/B",
        "N/A ",
        "-N/A",
        "N/",
        "1.5K",
        "1.2.3",
        "-.",
        ".",
        "5.",
        "- 5",
        " 5",
        "7 ",
        "+5",
        "1e5",
    ),
    *(
        "\u0661",
        "1234,567",
        "####",
        "1234567890123456",
        "0.1234567890123456",
        "--5",
        "5-",
        "1,234,56.7",
        "\N{MINUS SIGN}1",
    ),
)
USUAL = ("0", "-0", "-0.00", "00", ".5", "-.5", "1,234,567.89", "12", "999,999,999,999,999", "0.00000000000001")

pytestmark = pytest.mark.skipif(load_kernel() is None, reason="no compiled code")


def column(*, is_exact: bool = False, is_whole: bool = False, has_decimals: bool = False) -> ColumnForm:
    """A column in its own unit."""
    return ColumnForm(is_exact, is_whole, has_decimals, False, 1.0, 1.0)


def rows(found: PlainFigures | None) -> list[tuple[int, str, str, str]]:
    """Kind, value and bounds of each cell, each number as it would be written: -0.0 is not 0.0."""
    assert found is not None
    return [
        (kind, repr(value), repr(low), repr(high))
        for kind, value, low, high in zip(found.kinds, found.values, found.lows, found.highs, strict=True)
    ]


@pytest.mark.parametrize("seed", range(30))
def test_as_read_printed(seed: int) -> None:
    """Every plain cell has the value and bounds of `read_printed`, one division of exact numbers: bit for bit."""
    draw = random.Random(seed)  # noqa: S311 - data for tests
    forms, columns, expected = [], [], []
    for _ in range(60):
        own = [*draw.choices(USUAL, k=draw.randrange(3)), *draw.choices(ODD, k=draw.randrange(2))]
        for _ in range(draw.choice((0, 1, 2, 40))):
            number = draw.randrange(10 ** draw.randrange(1, 16))
            own.append(draw.choice(("", "", "-")) + draw.choice((f"{number}", f"{number:,}")))
            own[-1] += draw.choice(("", f".{draw.randrange(10 ** draw.randrange(1, 5))}"))
        draw.shuffle(own)
        is_exact, has_decimals = draw.random() < 0.5, draw.random() < 0.5
        form = column(is_exact=is_exact, has_decimals=has_decimals and not is_exact)
        shown = [found.group(1) for cell in own if (found := re.fullmatch(r"-?[0-9,]*\.([0-9]+)", cell))]
        decimals = max(map(len, shown), default=0) if form.has_decimals else None
        forms.append(form)
        columns.append(own)
        expected += [read_printed(cell, rounded=not is_exact, decimals=decimals) for cell in own]
    found = rows(read_figures(columns, forms))
    cells = [cell for own in columns for cell in own]

    assert sum(kind == PLAIN for kind, *_ in found) > 100
    for cell, (kind, *figures), printed in zip(cells, found, expected, strict=True):
        if kind == PLAIN:
            assert (cell, *figures) == (cell, *map(repr, printed[:3]))


def test_kinds() -> None:
    """Blank cells, plain ones, and every other form, which is not plain."""
    cells = ["", "N/A", *USUAL, *ODD]
    plain = read_figures([cells], [column()])
    found = rows(plain)

    assert [kind for kind, *_ in found] == [BLANK, BLANK, *[PLAIN] * len(USUAL), *[OTHER] * len(ODD)]
    assert plain is not None
    assert plain.others == list(range(len(cells) - len(ODD), len(cells)))


def test_whole_and_unread() -> None:
    """A column of counts has no plain cell with decimals; one whose unit is not known has none at all."""
    cells = ["1", "1.0", ""]
    unread = ColumnForm(False, False, False, True, 1.0, 1.0)
    found = read_figures([cells, cells], [column(is_exact=True, is_whole=True), unread])

    assert [kind for kind, *_ in rows(found)] == [PLAIN, OTHER, BLANK, OTHER, OTHER, BLANK]


def test_one_column_of_one_divisor() -> None:
    """A figure is divided, not multiplied with the inverse: 1.755 ms are 1,755 us."""
    found = rows(read_figures([["1.75"]], [ColumnForm(False, False, True, False, 1.0, 0.001)]))

    assert found == [(PLAIN, repr(1.75 / 0.001), repr(1.745 / 0.001), repr(1.755 / 0.001))]


def test_lost_decimals_leave_too_many_digits() -> None:
    """A whole number that another cell gives more decimals than a double holds is not plain."""
    cells = ["123456789012", "0.12345"]
    found = rows(read_figures([cells], [column(has_decimals=True)]))

    assert [kind for kind, *_ in found] == [OTHER, PLAIN]


def test_decimals_of_a_cell_that_is_too_long() -> None:
    """They are none of the column's, as `read_printed` takes the cell for no number."""
    for other, half in (("9" * 58 + ".6", 0.05), ("9" * 59 + ".6", 0.5)):
        cells = ["56", other]
        assert len(other) - MOST_DIGITS == (half == 0.5)
        first, _ = rows(read_figures([cells], [column(has_decimals=True)]))
        assert first == (PLAIN, "56.0", repr(56 - half), repr(56 + half))


def test_separator() -> None:
    """A cell with the separator is not read by compiled code."""
    assert read_figures([["1\x1f2"]], [column()]) is None
