"""Diagnostics say where: the line, and the column where the text starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from awrparse import read_awr
from logframe import LogParseError

VALID = Path(__file__).parent / "awr_data" / "valid"
TWICE = """\
Foreground Wait Events                    DB/Inst: FIG/fig1  Snaps: 1-2

                                        %Time Total Wait    wait    Waits   % DB
Event                             Waits -outs   Time (s)    (ms)     /txn   time
-------------------------- ------------ ----- ---------- ------- -------- ------
log file sync                        12     0 ########## ####### ########     .0
a line that is nothing at all, 12 words   or 13
                          ------------------------------------------------------
"""


def places(text: str) -> list[tuple[int, int, str]]:
    """Line, column and text of the diagnostics that have a column."""
    rows = read_awr(text.encode()).diagnostics.select("line", "column", "text").rows()
    return [row for row in rows if row[1] is not None]


@pytest.mark.parametrize("path", sorted(VALID.glob("*.txt")), ids=lambda path: path.stem)
def test_the_text_stands_there(path: Path) -> None:
    """At the line and the column that a diagnostic names stands its text."""
    lines = path.read_text(encoding="utf-8").split("\n")

    for line, column, text in places("\n".join(lines)):
        assert lines[line - 1][column - 1 :].startswith(text)


def test_cells_that_look_alike_are_told_by_their_rulers() -> None:
    """Two cells full of signs on one line have their own columns."""
    found = {text: column for _, column, text in places(TWICE)}

    assert found["##########"] == 47
    assert found["#######"] == 58
    assert found["########"] == 66


def test_columns_count_what_stands_before_a_quoted_line() -> None:
    """The column is the file's, not that of the line without its quoting mark."""
    quoted = "".join(f"> {line}\n" for line in TWICE.splitlines())

    assert [(line, column - 2, text) for line, column, text in places(quoted)] == places(TWICE)


def test_html_has_no_columns() -> None:
    """A cell of a page has no place in a line."""
    page = (
        "<html><h1>WORKLOAD REPOSITORY report for</h1><h3>Foreground Wait Events</h3>"
        "<table><tr><th>Event</th><th>Waits</th></tr>"
        "<tr><td>log file sync</td><td>####</td></tr></table></html>"
    )

    diagnostics = read_awr(page.encode()).diagnostics

    assert diagnostics.select("line", "column", "kind").rows() == [(None, None, "overflow")]


def test_strict_points_at_the_cell() -> None:
    """The error of strict reading has the column."""
    with pytest.raises(LogParseError) as caught:
        read_awr(TWICE.encode(), strict=True)

    assert (caught.value.line, caught.value.column, caught.value.text) == (6, 47, "##########")
