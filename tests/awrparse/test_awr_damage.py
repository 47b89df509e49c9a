"""Damaged reports: each row is a row of the original, or a diagnostic says where it may not be."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from report_damage import Copy, html_damages, judge, text_damages
from transformations import lines_of

from awrparse import read_awr
from logframe import LogParseError, open_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from report_damage import Verdict

#: Larger pages take minutes for each damage.
_LARGEST = 1_200_000

HERE = Path(__file__).parent / "awr_data" / "valid"
SERIES = Path(__file__).parents[2] / "sample_data" / "awr_series"
TEXTS = (
    HERE / "awr_text_11204.txt",
    HERE / "awr_text_102_rac.txt",
    HERE / "statspack_102.txt",
    SERIES / "awrrpt_1_4102_4103.txt",
    SERIES / "awrrpt_1_4111_4112.txt",
)
PAGES = (SERIES / "awrrpt_1_4110_4111.html", HERE / "awr_html_122.html")


def verdicts_of(path: Path, other: Path, rounds: int) -> Iterator[tuple[str, Verdict]]:
    """What was done to each damaged copy of a report, and what became of its rows.

    Args:
        path: the report.
        other: the report that it is spliced with.
        rounds: how often each kind of damage is tried.
    """
    text, second = open_log(path).text(), open_log(other).text()
    chance = random.Random(path.name)  # noqa: S311 - a seed makes the damage repeatable
    originals = [Copy(text.encode()), Copy(second.encode())]
    is_page = originals[0].reports[0].form == "html"
    damages = (
        html_damages(text, second, chance, rounds)
        if is_page
        else text_damages(lines_of(text), lines_of(second), chance, rounds)
    )
    for damage in damages:
        yield damage[0], judge(originals if damage[0].startswith("spliced") else originals[:1], damage)


def silent_of(path: Path, other: Path, rounds: int) -> list[str]:
    """Damage of a report that changes rows without a diagnostic, and damage with a diagnostic on everything."""
    found = []
    for name, verdict in verdicts_of(path, other, rounds):
        found += [f"{path.name}, {name}: {what} {row}" for what, row in verdict.silent[:2]]
        if len(verdict.added) > 60 + 2 * verdict.diagnosed:
            found.append(f"{path.name}, {name}: {len(verdict.added)} diagnostics")
    return found


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_damaged_texts(path: Path) -> None:
    """Lines cut, repeated, wrapped, of another report: no row changes without a diagnostic."""
    other = TEXTS[(TEXTS.index(path) + 1) % len(TEXTS)]
    assert silent_of(path, other, 3) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_damaged_pages(path: Path) -> None:
    """The same of pages, where rows, tables and any piece of the markup are missing."""
    assert silent_of(path, PAGES[1 - PAGES.index(path)], 3) == []


@pytest.mark.corpus
def test_damaged_real_reports(corpus: Path, is_whole: bool) -> None:  # noqa: FBT001 - a fixture
    """No row of a damaged real report changes without a diagnostic."""
    if not is_whole:
        pytest.skip("IOLAB_WHOLE_CORPUS=1 damages the real reports, too (half an hour)")
    by_form: dict[str, list[Path]] = {"html": [], "text": []}
    for path in sorted((corpus / "awr").rglob("*")):
        if path.is_file() and path.stat().st_size < _LARGEST and path.suffix in {".txt", ".lst", ".html", ".htm"}:
            by_form["html" if path.suffix.startswith(".htm") else "text"].append(path)
    for form, paths in by_form.items():
        rows, silent = 0, []
        for path, other in pairwise([*paths, paths[0]]):
            try:
                for name, verdict in verdicts_of(path, other, 2):
                    rows += verdict.equal + verdict.diagnosed + len(verdict.silent)
                    silent += [(path.name, name, *found) for found in verdict.silent]
            except LogParseError:  # what is no report has no rows to damage
                continue
        assert rows > 50_000, form
        assert silent == [], silent[:20]


@pytest.mark.parametrize("count", ["9" * 19, "9" * 39])
def test_a_number_of_processors_that_no_frame_holds(count: str) -> None:
    """Such a number is none, and the frames are made."""
    report = read_awr(f"STATSPACK report for\n\nHost Name: db1   Num CPUs: {count}   Phys Memory (MB): 100\n".encode())

    assert (report.info.host, report.info.cpus) == ("db1", None)
    assert all(frame.lazy().collect().height >= 0 for frame in report.frames().values())
