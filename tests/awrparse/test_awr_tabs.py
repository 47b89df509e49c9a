"""Tabs: between cells, as browsers copy a table, and for blanks, as SQL*Plus and editors put them."""

from __future__ import annotations

from pathlib import Path

import pytest

from awrparse import read_awr
from awrparse.tabbed import is_tabbed
from awrparse.text.lines import classify

VALID = Path(__file__).parent / "awr_data" / "valid"
RULED = [path for path in sorted(VALID.glob("*.txt")) if "\t" not in path.read_text(encoding="utf-8")]


def with_tabs(line: str) -> str:
    """The line with a tab for every run of two blanks or more that ends at a tab stop."""
    pieces = [line[start : start + 8] for start in range(0, len(line), 8)]
    return "".join(
        piece.rstrip(" ") + "\t" if len(piece) == 8 and piece.endswith("  ") and number < len(pieces) - 1 else piece
        for number, piece in enumerate(pieces)
    )


@pytest.mark.parametrize("path", RULED, ids=lambda path: path.stem)
def test_tabs_for_blanks_change_nothing(path: Path) -> None:
    """A report whose blanks became tabs has the same tables, values and lines."""
    text = path.read_text(encoding="utf-8")
    tabbed = "\n".join(with_tabs(line) for line in text.split("\n"))
    assert tabbed.count("\t") > 10

    plain, found = read_awr(text.encode()), read_awr(tabbed.encode())

    assert list(found.raw_tables) == list(plain.raw_tables)
    assert {name: found[name].to_dicts() for name in found.tables} == {
        name: plain[name].to_dicts() for name in plain.tables
    }
    assert found.line_counts == plain.line_counts


def test_a_copied_table_has_its_title_notes_and_cells() -> None:
    """Blank cells stay null, notes are kept, and the titles of a list of links are not taken for the table's."""
    report = read_awr(VALID / "tabbed_122.txt")

    assert report.raw_tables.notes("Foreground Wait Events")[0].startswith("s - second")
    assert report.raw_tables.cells("Foreground Wait Events")[0][2] == ""
    assert report.raw_tables["Figures nobody knows"]["Value"].to_list() == ["00012", None]
    assert report.raw_tables["Figures nobody knows (2)"].rows() == [("third", 3)]
    assert report.empty_sections == ("Top 10 Channel Waits",)


def test_titles_without_blank_lines_between() -> None:
    """In a mail nothing but its title may stand between two tables of the same width."""
    text = (
        "Top 10 Foreground Events by Total Wait Time\nEvent\tWaits\nlog file sync\t12\n"
        "Wait Classes by Total Wait Time\nWait Class\tWaits\nCommit\t13\nUser I/O\t14\n"
    )

    report = read_awr(text.encode())

    assert report["top_events"].select("event", "waits").rows() == [("log file sync", 12)]
    assert report["wait_classes"].select("wait_class", "waits").rows() == [("Commit", 13), ("User I/O", 14)]


def test_decimal_commas_in_copied_tables() -> None:
    """A copied table may have them, too."""
    text = (
        "Top 5 Timed Foreground Events\n\nEvent\tWaits\tTime(s)\tAvg wait (ms)\t% DB time\tWait Class\n"
        "log file sync\t1.234.567\t12,5\t0,01\t12,1\tCommit\nDB CPU\t\t99,1\t\t55,2\t\n"
        "latch free\t12\t1,5\t2,3\t,1\tOther\n"
    )

    report = read_awr(text.encode())

    assert report.decimal_mark == ","
    assert report["top_events"].select("waits", "total_wait_s", "db_time_pct").rows() == [
        (1234567, 12.5, 12.1),
        (None, 99.1, 55.2),
        (12, 1.5, 0.1),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Event\tWaits\nlog file sync\t12", True),
        ("Event\tWaits\n--------\t-----\nlog file sync\t12", False),
        ("Top 5\tAvg\n~~~~~~\nEvent\tWaits\n------ -----\na\t1\nb\t2", False),
        ("Bob\n-- \nEvent\tWaits\nlog file sync\t12", True),
        ("one\ttab", False),
    ],
)
def test_the_first_table_tells(text: str, expected: bool) -> None:  # noqa: FBT001 - a row of the table above
    """A ruler below the first lines with tabs means that the tabs are blanks; the two dashes of a signature do not."""
    lines = text.split("\n")

    assert is_tabbed(lines, classify([line.expandtabs() for line in lines])) == expected
