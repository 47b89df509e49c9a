"""Reports as SQL*Plus, mail programs and editors hand them on: the typed frames stay equal."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from transformations import LOSSLESS_HTML, LOSSLESS_TEXT, LOSSY_HTML, in_page, paged, wrapped

from awrparse import read_awr
from logframe import open_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from awrparse import AwrReport

HERE = Path(__file__).parent / "awr_data" / "valid"
SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
TEXTS = [
    HERE / "awr_text_11204.txt",
    HERE / "awr_text_102_rac.txt",
    HERE / "statspack_92.txt",
    HERE / "statspack_102.txt",
    HERE / "statspack_121.txt",
    HERE / "ash_121.txt",
    HERE / "fragment_122.txt",
    SERIES / "awrrpt_1_4102_4103.txt",
    SERIES / "awrrpt_1_4111_4112.txt",
]
PAGE = SERIES / "awrrpt_1_4110_4111.html"


def typed(report: AwrReport) -> dict[tuple[int, str], pl.DataFrame]:
    """All canonical frames of all parts."""
    return {(number, name): part[name] for number, part in enumerate(report.parts) for name in part.tables}


#: Each report as it is, which many tests change.
original = lru_cache(4)(read_awr)


def encoded(text: str | bytes) -> bytes:
    """What a source of bytes holds."""
    return text.encode() if isinstance(text, str) else text


def differences(report: AwrReport, other: AwrReport) -> list[tuple[int, str]]:
    """The frames that are not equal, or only in one of the two."""
    one, two = typed(report), typed(other)
    return [
        key for key in sorted(set(one) | set(two)) if key not in one or key not in two or not one[key].equals(two[key])
    ]


@pytest.mark.parametrize("change", LOSSLESS_TEXT.values(), ids=LOSSLESS_TEXT)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_text_reports_survive(path: Path, change: Callable[[str], str | bytes]) -> None:
    """A lossless change of a text report changes no typed frame."""
    report = original(path)
    assert (len(typed(report)) > 0, differences(report, read_awr(encoded(change(open_log(path).text()))))) == (True, [])


@pytest.mark.parametrize("change", LOSSLESS_HTML.values(), ids=LOSSLESS_HTML)
def test_html_reports_survive(change: Callable[[str], str | bytes]) -> None:
    """A lossless change of an HTML report changes no typed frame."""
    report = original(PAGE)
    assert differences(report, read_awr(encoded(change(open_log(PAGE).text())))) == []


@pytest.mark.parametrize("size", range(4, 60, 3))
def test_any_page_size(size: int) -> None:
    """Headings of pages of any size, in any place of the report, are no rows and end no table."""
    text = (HERE / "awr_text_11204.txt").read_text(encoding="utf-8")
    report = read_awr(encoded(paged(text, size)))
    assert differences(original(encoded(text)), report) == []
    assert sum(report.line_counts.values()) == paged(text, size).count("\n")
    assert report.line_counts["page_heading"] >= 2 * (text.count("\n") // size)


def test_long_lines_in_a_page_are_no_pieces() -> None:
    """Many lines of the greatest length are pieces of longer ones in a page of tables, and none in a text report."""
    lines = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8").split("\n")
    note = f"-> {'and more words ' * 20}".ljust(240, ".")[:240]
    text = "\n".join(f"{line}\n{note}" if "DB/Inst:" in line else line for line in lines)
    assert sum(len(line) == 240 for line in text.split("\n")) > 3
    assert differences(read_awr(encoded(text)), read_awr(encoded(in_page(text)))) == []


def test_one_heading_in_a_table() -> None:
    """A single heading between the rows of a table parts nothing."""
    text = (
        "Top 10 Foreground Events by Total Wait Time\n\n"
        "Event                            Waits Time (sec)  Avg(ms)  time    Class\n"
        "------------------------------ ------- ---------- -------- ----- --------\n"
        "log file sync                      100       11.1   111.00  50.0 Commit\n"
        "\nOUTPUT\n" + "-" * 80 + "\n"
        "db file sequential read            200        2.2    11.00  20.0 User I/O\n"
    )
    assert read_awr(text.encode())["top_events"]["waits"].to_list() == [100, 200]


def test_a_column_named_like_a_table_is_no_page() -> None:
    """One line in capitals above dashes is a page's heading only if it comes again with the same dashes."""
    text = (HERE / "awr_text_11204.txt").read_text(encoding="utf-8")
    report = read_awr(encoded(text + "\nNAMES\n" + "-" * 50 + "\nfig\n"))
    assert "page_heading" not in report.line_counts


@pytest.mark.corpus
def test_wrapped_pages_keep_their_figures(corpus: Path) -> None:
    """Blanks at the end of a line are lost when it wraps: they may be missing in texts, and in nothing else."""
    for path in sorted((corpus / "awr").rglob("*.html"))[::8]:
        text, report = open_log(path).text(), read_awr(path)
        if report.form != "html":
            continue
        for name, change in LOSSY_HTML.items():
            other = read_awr(encoded(change(text)))
            for _, table in differences(report, other):
                one, two = report[table], other[table]
                assert (path.name, name, table, one.height) == (path.name, name, table, two.height)
                unequal = [column for column in one.columns if not one[column].equals(two[column])]
                assert all(one[column].dtype == pl.String for column in unequal), (path.name, name, table, unequal)


def test_wrapped_report_of_the_series() -> None:
    """A page that SQL*Plus has wrapped at any line size has the figures of the page."""
    text, report = open_log(PAGE).text(), read_awr(PAGE)
    for width in (100, 132, 250, 500, 999):
        assert (width, differences(report, read_awr(encoded(wrapped(text, width))))) == (width, [])
