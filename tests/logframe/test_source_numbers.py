"""The numbers of a text and of a page, listed without a reader."""

from __future__ import annotations

import pytest

from logframe.source_numbers import GRAMMAR, numbers_of_line, numbers_of_page, numbers_of_text, rows_of_page


@pytest.mark.parametrize(("rule", "sample"), GRAMMAR.samples)
def test_samples(rule: str, sample: str) -> None:
    """Each sample of the grammar is one number, of its rule."""
    assert [(text, is_compound) for _, text, is_compound in numbers_of_line(sample)] == [(sample, rule == "compound")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("db file sequential read   1,234  11.1K 199.49ms 74.1", ["1,234", "11.1K", "199.49ms", "74.1"]),
        ("SYS_C0012 0x7f3a 7fb8bnx02 db_cache2 ORA-00942 $1", []),
        ('read(3, "", 8192) = 8192 <0.000012>', ["3", "8192", "8192", "0.000012"]),
        ("-17 +5 3-5 --12 x-1", ["-17", "+5", "3", "5", "12"]),
        ("40/300 [ 13%] (2)", ["40", "300", "13%", "2"]),
        ("p1=9 p2=80997", ["9", "80997"]),
        ("Snaps: 10-11  11.2.0.4.0 00:00:01.50", ["10", "11", "11.2.0.4.0", "00:00:01.50"]),
        ("1,23 1,234 1234,5 12,", ["1,23", "1,234", "1234,5", "12"]),
        ("#### N/A - .", []),
        ("\x1b[35mread\x1b[0m(3) = 7", ["3", "7"]),
    ],
)
def test_lines(line: str, expected: list[str]) -> None:
    """Digits within a name are no number; units, marks and signs belong to one."""
    assert [text for _, text, _ in numbers_of_line(line)] == expected


def test_the_decimal_mark_of_a_report() -> None:
    """With a decimal comma the full stop groups digits."""
    assert [text for _, text, _ in numbers_of_line("1.234,5  2.000", mark=",")] == ["1.234,5", "2.000"]


def test_separated_values() -> None:
    """Where commas stand between values they group no digits."""
    assert [one.text for one in numbers_of_text("CPU,T0001,1,995", separator=",")] == ["1", "995"]


def test_a_page() -> None:
    """Places are table, row and cell, whatever end tags are missing; scripts are no part of the page."""
    page = (
        "<p>7</p><script>8</script>\n<table><tr><th>P99<tr><td>1<td>&nbsp;2,5<table><tr><td>4</table><tr><td>3</table>"
    )
    found = [(one.key, one.cell, one.line, one.text, one.is_heading) for one in numbers_of_page(page)]
    assert found == [
        (None, None, 1, "7", False),
        ((1, 2), 1, 2, "1", False),
        ((1, 2), 2, 2, "2,5", False),
        ((2, 1), 1, 2, "4", False),
        ((1, 3), 1, 2, "3", False),
    ]
    assert rows_of_page(page) == {1: [1, 2, 1], 2: [1]}


def test_a_reference_to_a_character_of_thousands_of_digits_is_blank() -> None:
    """It is not a number, and numbers behind it keep their places."""
    page = f"<table><tr><td>&#{'9' * 5_000}; 17</td></tr></table>"

    assert [(one.cell, one.text) for one in numbers_of_page(page)] == [(1, "17")]
    assert rows_of_page(page) == {1: [1]}
