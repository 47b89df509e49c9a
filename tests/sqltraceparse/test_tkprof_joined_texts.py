"""A page missing between two texts of TKPROF: what is left is what TKPROF prints for one statement."""

import pytest
from metamorphic import joined_texts, without
from tkprof_reports import CALLS
from transformations import joined, lines_of

import iolab

HEAD = [
    "TKPROF: Release 19.0.0.0.0 - Development on Sat Jun 25 05:37:55 2026",
    "",
    "Trace file: demo1_ora_4711.trc",
    "",
]
STARS = "*" * 80


def statement(name: str, rows: int) -> list[str]:
    """The report of a statement with a text of several lines."""
    text = ["select sum(amount)", *(f"  , {name}_{number}" for number in range(5)), "from", f" {name}"]
    identity = [STARS, "", f"SQL ID: 2yxfq0vd6r1f{rows} Plan Hash: {rows}388734953", ""]
    return [*identity, *text, "", *CALLS.replace(" 1103 ", f" {rows}103 ").splitlines()]


@pytest.mark.parametrize(
    ("last", "is_joined"), [(3, True), (6, True), (14, False)], ids=["within", "near the end", "in the calls"]
)
def test_a_page_between_two_texts(last: int, *, is_joined: bool) -> None:
    """Only a page from within one text to within the next leaves a report that TKPROF might have written."""
    first, other = statement("orders", 1), statement("depots", 2)
    lines = lines_of(joined([*HEAD, *first, "", *other, "", STARS]))
    start = len(HEAD) + 4 + 4
    end = len(HEAD) + len(first) + 1 + 4 + last
    change = without(range(start, end))
    copy = change.change(joined(lines))
    logs = [list(iolab.load_all(text.encode())) for text in (joined(lines), copy)]

    assert joined_texts(*logs, lines, change) == is_joined
