"""Totals of a report against their rows, and what of it is a diagnostic."""

from __future__ import annotations

from pathlib import Path

import pytest
from awr_tables import as_html, as_text, printed

from awrparse import TABLES, read_awr

SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
NAMES = ["iostat_function", "iostat_filetype"]


#: What stands in each row, and in that of the total, by the end of what `awr_tables` writes.
CELLS = {"K": ("5M", "15M"), ".5": ("2.0", "{}")}


def report_of(name: str, form: str, rate: str) -> bytes:
    """A table of three rows with 5 MB and two requests per second each, and its total with another rate."""
    one = printed(TABLES[name], 0)
    kinds = [next((end for end in CELLS if cell.endswith(end)), "") for cell in one.rows[0]]
    rows = [[CELLS[kind][0] if kind else "" for kind in kinds] for _ in one.rows]
    total = [CELLS[kind][1].format(rate) if kind else "" for kind in kinds]
    names = [[row[0], *cells[1:]] for row, cells in zip(one.rows, rows, strict=True)]
    table = one._replace(rows=[*names, ["TOTAL:", *total[1:]]])
    return (as_html if form == "html" else as_text)(table).encode()


@pytest.mark.parametrize("form", ["text", "html"])
@pytest.mark.parametrize("name", NAMES)
def test_totals(name: str, form: str) -> None:
    """A total that its rows give within their rounding is right; another one is a contradiction and a diagnostic."""
    right = read_awr(report_of(name, form, "6.0"))
    assert right[name]["is_total"].to_list() == [False, False, False, True]
    assert "total" not in right.check()["check"].to_list()
    assert "contradiction" not in right.diagnostics["kind"].to_list()
    wrong = read_awr(report_of(name, form, "7.0"))
    found = wrong.check().filter(check="total")
    assert set(found["item"]) >= {"read_requests_per_s of all", "write_requests_per_s of all"}
    assert (found["first"].unique().to_list(), found["second"].unique().to_list()) == ([7.0], [6.0])
    assert wrong.diagnostics.filter(kind="contradiction")["text"].to_list() == found["item"].to_list()


def test_a_row_that_is_missing() -> None:
    """A page lost within a table of I/O: the rows that are left do not give the total."""
    text = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8")
    report = read_awr(text.encode())
    assert report.diagnostics.filter(kind="contradiction").is_empty()
    name = report["iostat_function"]["function_printed"][0]
    lines = text.split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith("IOStat by Function"))
    row = next(place for place, line in enumerate(lines[start:], start) if line.startswith(name))
    damaged = read_awr("\n".join([*lines[:row], *lines[row + 1 :]]).encode())
    assert damaged.diagnostics.filter(kind="contradiction").height > 0


def test_strict_reads_what_contradicts_itself() -> None:
    """With `strict` lines that are not read are errors, figures that contradict each other are none."""
    with_fault = report_of("iostat_function", "text", "7.0")
    assert "iostat_function" in read_awr(with_fault, strict=True)


def test_two_tables_that_became_one() -> None:
    """Without the lines from a table's end to the rows of the next these join it; names that come twice say so."""
    text = (SERIES / "awrrpt_1_4102_4103.txt").read_text(encoding="utf-8")
    report = read_awr(text.encode())
    foreground, background = report["foreground_events"], report["background_events"]
    both = set(foreground["event"]) & set(background["event"])
    lines = text.split("\n")
    start = next(place for place, line in enumerate(lines) if line.startswith("Background Wait Events"))
    first = next(
        place for place, line in enumerate(lines[start:], start) if line.startswith(background["event_printed"][0])
    )
    end = max(place for place, line in enumerate(lines[:start]) if line.startswith(foreground["event_printed"][-1]))
    joined = read_awr("\n".join([*lines[: end + 1], *lines[first:]]).encode())
    assert joined["foreground_events"].height > foreground.height
    assert both
    assert set(joined.diagnostics.filter(kind="contradiction")["text"]) == both
    assert report.diagnostics.filter(kind="contradiction").is_empty()
