"""Damaged reports: each row is a row of the original, or a diagnostic says where it may not be.

``IOLAB_AWR_DAMAGE=20 pytest -m corpus`` damages every real report in so many places of each kind.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from report_damage import Copy, html_damages, judge, text_damages
from transformations import lines_of

from logframe import open_log

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
ROUNDS = int(os.environ.get("IOLAB_AWR_DAMAGE", "0"))


def silent_of(path: Path, other: Path, rounds: int) -> list[str]:
    """Damage of a report that changes rows without a diagnostic, and damage with a diagnostic on everything."""
    text, second = open_log(path).text(), open_log(other).text()
    chance = random.Random(path.name)  # noqa: S311 - a seed makes the damage repeatable
    originals = [Copy(text.encode()), Copy(second.encode())]
    is_page = originals[0].reports[0].form == "html"
    damages = (
        html_damages(text, second, chance, rounds)
        if is_page
        else text_damages(lines_of(text), lines_of(second), chance, rounds)
    )
    found = []
    for damage in damages:
        name = damage[0]
        verdict = judge(originals if name.startswith("spliced") else originals[:1], damage)
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
