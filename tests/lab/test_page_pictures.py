"""The pictures of a page that stand beside its figures: icicle with a magnified row, waterfall, time strip."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iolab.pages.before_after import write_change_report
from iolab.pages.ledger_html import icicle_html
from iolab.pages.waterfall_html import waterfall_html
from iolab.pages.writing import write_report
from iolab.rules.phrases import three
from iolab.time_ledger import Account, Ledger
from logframe.interval import Interval

SERIES = Path(__file__).parents[2] / "sample_data/awr_series"
WIDTHS = re.compile(r'<svg x="[\d.]+%" y="(\d+)" width="([\d.]+)%"')
BARS = re.compile(r'<rect x="([\d.]+)%" y="6" width="([\d.]+)%"')
STEPS = re.compile(r'<line x1="([\d.]+)%" x2="\1%" y1="6"')


def ledger(parts: dict[str, float]) -> Ledger:
    """A ledger of waits that adds up."""
    account = Account(Interval.exact(sum(parts.values())), "DB time")
    for name, seconds in parts.items():
        kind = "cpu" if name == "DB CPU" else "wait"
        account.add("what", name, Interval.exact(seconds), kind=kind, count=Interval.exact(10.0))
    return account.ledger()


@pytest.mark.parametrize(("large", "is_magnified"), [(93.0, False), (98.0, True), (99.9, True), (100.0, False)])
def test_what_is_beside_nearly_all_is_magnified(large: float, is_magnified: bool) -> None:  # noqa: FBT001 - a case
    """Small parts are readable: a row of their own, as wide as the total."""
    drawn = icicle_html(
        ledger({"Network": large, "DB CPU": (100 - large) * 0.6, "Commit": (100 - large) * 0.4}), anchor="a"
    )
    assert ('class="wedge"' in drawn) == is_magnified
    assert ("times as wide" in drawn) == is_magnified
    if is_magnified:
        lowest = drawn[drawn.index('class="wedge"') :]
        assert sum(float(width) for _, width in WIDTHS.findall(lowest)) == pytest.approx(100, abs=0.01)
        assert f"{three(100 / (100 - large))} times as wide" in drawn


def test_the_key_names_what_is_drawn_and_nothing_else() -> None:
    """Only colours in use are explained."""
    drawn = icicle_html(ledger({"DB CPU": 60.0, "Commit": 40.0}), anchor="a")
    assert re.findall(r"</svg> ([^<]+)</span>", drawn[drawn.index("icicle-key") :]) == ["CPU", "Commit"]


@given(
    st.lists(st.tuples(st.floats(0.1, 90), st.floats(0.1, 90)), min_size=2, max_size=20).filter(
        lambda pairs: any(abs(a - b) > 0.5 for a, b in pairs)
    )
)
def test_a_bar_begins_where_the_one_above_it_ends(pairs: list[tuple[float, float]]) -> None:
    """The bars lead from the first total to the second, whatever changed."""
    sides = [{f"event {n}": pair[side] for n, pair in enumerate(pairs)} for side in (0, 1)]
    page = waterfall_html(ledger(sides[0]).compare(ledger(sides[1])))
    bars = [(float(left), float(left) + float(width)) for left, width in BARS.findall(page)]
    steps = [float(place) for place in STEPS.findall(page)]
    assert len(bars) == len(steps) + 1 == page.count("<tr") - 1
    assert bars[0] == (0, pytest.approx(steps[0], abs=0.2))
    for before, (left, right), after in zip(steps, bars[1:], steps[1:], strict=False):
        assert min(abs(left - before), abs(right - before)) < 0.2
        assert min(abs(left - after), abs(right - after)) < 0.2
    assert bars[-1][1] == pytest.approx(steps[-1], abs=0.2)


def test_a_folder_is_drawn_to_scale_in_time_with_its_restart(tmp_path: Path) -> None:
    """Missing time stays empty, and a restart is a line through all rows."""
    assert write_report([SERIES], tmp_path / "page.html") == []
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    strip = page[page.index('<figure class="strip"') : page.index('<section id="heat"')]
    rows = strip.count('role="group"')
    assert "restart 2026-09-15 00:24" in strip
    assert strip.count('class="restart"') == rows > 3
    first = strip[: strip.index('class="restart"')]
    places = [float(place) for place in re.findall(r'<rect x="([\d.]+)%"', first)]
    assert len(places) == 12  # the report of the restart has no time, and 05:00 is missing
    assert places == sorted(places)
    gaps = [round(14 * (after - before) / 100) for before, after in pairwise(places)]
    assert gaps == [1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 1]
    begins = re.findall(r"<td>(2026-[^<]+)</td>", page[page.index('<section id="heat"') : page.index('id="over-time"')])
    assert begins == sorted(begins)


def test_a_page_of_a_change_says_of_what_where_and_when(tmp_path: Path) -> None:
    """The heading is no file name; the change is drawn before all else."""
    sets = [SERIES / "awrrpt_1_4103_4104.txt"], [SERIES / "awrrpt_1_4110_4111.html"]
    for write in (
        lambda page: write_change_report(*sets, page),
        lambda page: write_report([*sets[0], *sets[1]], page),
    ):
        assert write(tmp_path / "page.html") == []
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        heading = re.search(r"<h1>(.*?)</h1>", page)
        assert heading is not None
        for said in ("HARBOR on quay07", "2026-09-14 19:00 to 20:00", "2026-09-15 02:00 to 03:00"):
            assert said in heading[1]
        assert page.index("waterfall") < page.index("<h2>S" if "settings" in page else "<h2>Logs")
