"""Tables under the titles and headings that reports print, written down here and not taken from the definitions."""

from __future__ import annotations

from itertools import groupby, zip_longest
from pathlib import Path

import pytest

from awrparse import read_awr

#: Of each table a line with its name and title, and for each heading, its levels between bars, a line with the column,
#: the value, and the cell where that is printed in another unit.
LINES = (Path(__file__).parent / "printed_tables.txt").read_text(encoding="utf-8").strip().split("\n\n")
PRINTED = {text.partition(":")[0]: text.split("\n") for text in LINES}


def page_of(title: str, cells: dict[str, str]) -> str:
    """A page of one table of one row; a heading of several levels stands below those of its group."""
    levels = list(zip_longest(*(heading.split("|")[::-1] for heading in cells), fillvalue=""))[::-1]
    groups = [[(head, len(list(group))) for head, group in groupby(level)] for level in levels[:-1]]
    rows = ["".join(f'<th colspan="{width}">{head}</th>' for head, width in level) for level in groups]
    rows.append("".join(f"<th>{head or '&#160;'}</th>" for head in levels[-1]))
    rows.append("".join(f"<td>{cell}</td>" for cell in cells.values()))
    table = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<html><h1>WORKLOAD REPOSITORY report for</h1><h3>{title}</h3><table>{table}</table></html>"


@pytest.mark.parametrize("name", PRINTED)
def test_every_column_is_read(name: str) -> None:
    """Each figure is in the column of its heading, in the unit of the column, and no line is left over."""
    columns = [line.split(" = ") for line in PRINTED[name][1:]]
    title = PRINTED[name][0].partition(": ")[2]
    report = read_awr(page_of(title, {heading.strip("'"): cells[-1] for heading, _, *cells in columns}).encode())
    row = report[name].row(0, named=True)

    assert report[name].height == 1
    for heading, column, value, *_ in columns:
        expected = value if isinstance(row[column], str) else float(value)
        assert (heading, row[column]) == (heading, expected)
    assert report.diagnostics["text"].to_list() == []
