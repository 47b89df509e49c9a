"""HTML reports cell by cell against an independent reader."""

import csv
from html.parser import HTMLParser
from pathlib import Path

import pytest

from awrparse import read_awr
from logframe import LogParseError

pytestmark = pytest.mark.corpus


class _Cells(HTMLParser):
    """An independent reader: all cells of all tables, in order, by the standard library's tokenizer."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[str]] = []
        self.cell: list[str] | None = None

    def _end_cell(self) -> None:
        if self.cell is not None:
            self.tables[-1].append(" ".join("".join(self.cell).split()))
            self.cell = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A new row or cell ends the old one, as in a browser."""
        del attrs
        if tag == "table":
            self._end_cell()
            self.tables.append([])
        elif tag in {"td", "th"} and self.tables:
            self._end_cell()
            self.cell = []
        elif tag == "tr":
            self._end_cell()

    def handle_endtag(self, tag: str) -> None:
        """The end of a cell, row or table."""
        if tag in {"td", "th", "tr", "table"}:
            self._end_cell()

    def handle_data(self, data: str) -> None:
        """Text of the cell."""
        if self.cell is not None:
            self.cell.append(data)


def test_html_tables_and_cells(corpus: Path) -> None:
    """As many tables as an independent reader counts, and in each the same texts in the same order."""
    with (corpus / "awr" / "INDEX.tsv").open(encoding="utf-8") as file:
        paths = [row["path"] for row in csv.DictReader(file, delimiter="\t") if row["format"] == "html"]
    for path in paths:
        reader = _Cells()
        reader.feed((corpus / "awr" / path).read_text(encoding="utf-8", errors="backslashreplace"))
        reader.close()
        report = read_awr(corpus / "awr" / path)
        # ADDM reports are preformatted lines, and come last
        titles = [title for title in report.raw_tables if not title.startswith(("ADDM Report", "ADDM Summary of"))]
        assert (path, len(titles)) == (path, len(reader.tables))
        for title, expected in zip(titles, reader.tables, strict=True):
            headings = ["".join(heading.split()) for heading in report.raw_tables.headings(title)]
            # the report cuts long texts in the middle of a word
            cells = ["".join(cell.split()) for values in report.raw_tables.cells(title) for cell in values if cell]
            wanted = ["".join(cell.split()) for cell in expected if cell]
            body = wanted[len(wanted) - len(cells) :] if cells else []
            assert (path, title, cells) == (path, title, body)
            heads = wanted[: len(wanted) - len(cells)]
            assert set("".join(heads)) == set("".join(headings))


@pytest.mark.parametrize("markup", ["<ul><li>" * 60_000, "<div>" * 180_000, "<td " + "a=1 " * 300_000 + ">"])
def test_markup_that_takes_a_parser_minutes_is_refused(markup: str) -> None:
    """A page that opens what nothing closes, or has a tag without end, is refused with the reason."""
    page = f"<html><body><h1>WORKLOAD REPOSITORY report for</h1><table><tr>{markup}"
    with pytest.raises(LogParseError, match=r"opened that nothing closes|a tag has"):
        read_awr(page.encode())
