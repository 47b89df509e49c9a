"""CSV whose cells no spreadsheet runs."""

import csv
from pathlib import Path

import polars as pl
import pytest

from awrparse.cli import main as awr_main
from iolab.cli import main as iolab_main
from logframe.spreadsheet import spreadsheet_safe
from straceparse.cli import main as strace_main

#: What a spreadsheet runs at the start of a cell.
STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def formulas(path: Path, separator: str = ",") -> list[str]:
    """The cells of a CSV file that a spreadsheet would run; numbers are none."""
    with path.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file, delimiter=separator) for cell in row]
    found = [cell for cell in cells if cell.lstrip(" \t\r\n\0\u200b\ufeff").startswith(STARTS)]
    return [cell for cell in found if not cell.lstrip("+-").replace(".", "", 1).isdigit()]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\r\n", "\0", "\u200b", "\ufeff ", "x;", "x; ", "x\n", "x\ty\t", 'a";']
)
def test_formulas_are_marked(start: str, before: str, tmp_path: Path) -> None:
    """Whatever blanks stand before it, and wherever a spreadsheet separates cells; once is enough."""
    frame = pl.DataFrame({"text": [f"{before}{start}cmd|' /C calc'!A0", None, ""], f"{start}heading": [1, 2, 3]})
    safe = spreadsheet_safe(frame)
    path = tmp_path / "cells.csv"
    safe.write_csv(path)

    assert formulas(path) == formulas(path, ";") == []
    assert spreadsheet_safe(safe).equals(safe)
    assert safe["text"][0].replace("'", "") == frame["text"][0].replace("'", "")
    frame.write_csv(path)
    assert formulas(path)


@pytest.mark.parametrize(
    "text", ["-1", "+0.5", "-1.5e6", "read", "a = b", "3, -1", "x@y", "2014-04-23", "'=quoted", ""]
)
def test_other_cells_stay_as_they_are(text: str) -> None:
    """Numbers, and texts that only contain such characters."""
    frame = pl.DataFrame({"text": [text, None], "size": [-1, 2], "list": [[1], None]})

    assert spreadsheet_safe(frame).equals(frame)
    assert spreadsheet_safe(frame.lazy()).collect().equals(frame)


def test_enumerations_are_texts() -> None:
    """Their names come from a log as well."""
    frame = pl.DataFrame({"a": ["=1+1", "b"]}).with_columns(b=pl.col("a").cast(pl.Categorical))

    assert spreadsheet_safe(frame).rows() == [("'=1+1", "'=1+1"), ("b", "b")]


LOG = """10:00:00.000001 read(3, "a", 8192) = 8192 <0.000100>
=cmd|' /C calc'!A0
10:00:00.000301 read(3, "a", 8192) = 8192 <0.000100>
10:00:00.000401 read(3, "a;=HYPERLINK()", 8192) = 8192 <0.000100>
"""


@pytest.mark.parametrize("command", ["straceparse", "iolab"])
def test_commands_mark_formulas_where_asked(command: str, tmp_path: Path) -> None:
    """Without the option the cells are those of the log."""
    log = tmp_path / "ora.strace"
    log.write_text(LOG, encoding="utf-8")

    def written(name: str, *options: str) -> list[str]:
        folder = tmp_path / name
        folder.mkdir()
        if command == "straceparse":
            assert strace_main([str(log), "--events", "-o", str(folder / "events.csv"), *options]) == 0
        else:
            assert iolab_main(["convert", str(log), "-o", str(folder), "--format", "csv", *options]) == 0
        files = list(folder.glob("*.csv"))
        assert all(pl.read_csv(file).height >= 0 for file in files)
        return [cell for file in files for mark in ",;" for cell in formulas(file, mark)]

    found = written("plain")
    assert any(cell.startswith("=cmd") for cell in found)
    assert any(cell.startswith("=HYPERLINK") for cell in found)
    assert written("safe", "--spreadsheet-safe") == []


def test_reports_mark_formulas_where_asked(tmp_path: Path) -> None:
    """A name in a report may be a formula."""
    report = Path(__file__).parents[2] / "sample_data/articles/003_filesystemio_none.txt"
    text = report.read_text(encoding="utf-8", errors="replace")
    changed = tmp_path / "awr.txt"
    name = "free buffer waits"
    changed.write_text(text.replace(name, "=1+2".ljust(len(name))), encoding="utf-8")
    plain, safe = tmp_path / "plain.csv", tmp_path / "safe.csv"
    for path, options in ((plain, []), (safe, ["--spreadsheet-safe"])):
        assert awr_main([str(changed), "--table", "top_events", "-o", str(path), *options]) == 0

    assert "=1+2" in formulas(plain)
    assert formulas(safe) == []
    assert pl.read_csv(safe).height == pl.read_csv(plain).height


def test_the_option_is_of_csv_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dataset is read by programs: there the option is an error, not ignored."""
    with pytest.raises(SystemExit):
        iolab_main(["convert", "x.log", "-o", str(tmp_path / "set"), "--spreadsheet-safe"])
    assert "needs --format csv" in capsys.readouterr().err
