"""Pages whose markup is out of any measure: what is read of them stays in proportion to their size."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from awrparse import read_awr
from fuzz.growth import SHAPES
from fuzz.invariants import frames_of, read
from fuzz.timer import at_most

HEAD = "<html><title>AWR Report for DB: ORCL</title><body><h1>WORKLOAD REPOSITORY report for</h1>"


@pytest.mark.parametrize(("across", "down"), [(1000, 1000), (10**9, 1), (1, 10**9), ("9" * 5000, "9" * 5000)])
def test_spans_make_no_table_wider_than_a_report_could_have(across: object, down: object) -> None:
    """Many spanning cells in many rows: each row has its own cells, and at most 200 columns by spans."""
    rows = "".join(f"<tr><td colspan={across} rowspan={down}>{row}</td><td>x{row}</td></tr>" for row in range(50))
    table = read_awr(
        f"{HEAD}<h3>Wide</h3><table><tr><th>A</th><th>B</th></tr>{rows}</table></html>".encode()
    ).raw_tables["Wide"]

    assert table.height >= 50
    assert table.width <= 200 + 2 * 50
    cells = {cell for row in table.rows() for cell in row if cell is not None}
    assert {f"x{row}" for row in range(50)} <= cells


MARKUP = (
    *("nested lists", "nested lists of a page", "nested divisions", "nested divisions of a page"),
    *("attributes of a cell", "cells without a row"),
)


@pytest.mark.parametrize("shape", MARKUP)
def test_markup_without_end_takes_no_time(shape: str) -> None:
    """Half a megabyte, which took a minute where its time grew with the square of its size."""
    text = SHAPES[f"AWR: {shape}"](500_000).encode()

    with at_most(10):
        for log in read(text):
            frames_of(log)


def test_reports_of_a_file_know_each_other_once() -> None:
    """The reports of a file are one list, however many there are: a list for each was a gigabyte."""
    text = SHAPES["AWR: repeated heads"](100_000).encode()
    first = read_awr(text)

    assert len(first.parts) > 100
    assert {id(part.parts) for part in first.parts} == {id(first.parts)}


def test_tables_nested_beyond_measure_are_named() -> None:
    """Tables within a few tables are read; those within twenty are left out, and a diagnostic counts them."""
    inner = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    shallow = read_awr(f"{HEAD}<table><tr><td><h3>Inner</h3>{inner}</td></tr></table></html>".encode())
    deep = read_awr((HEAD + "<table><tr><td>" * 500 + inner).encode())

    assert shallow.raw_tables["Inner"].rows() == [(1, 2)]
    assert "misplaced" not in shallow.diagnostics.get_column("kind").to_list()
    kinds = dict(deep.diagnostics.select("kind", "reason").rows())
    assert "481 tables within 20 tables" in kinds["misplaced"]
