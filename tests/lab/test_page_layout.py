"""Pages in a real browser: nothing is wider than the screen, nothing is asked of a network, findings come first."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import CHROMIUM, first_y

from iolab.pages.writing import write_report

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_data"
#: Kinds of pages: their logs.
PAGES = {
    "report": [SAMPLES / "awr_series/awrrpt_1_4102_4103.txt"],
    "trace": [SAMPLES / "captures/async_direct_f_ttt_T_y.strace"],
    "session": [SAMPLES / "runs/buffered_direct_async.txt"],
    "pair": [SAMPLES / "articles/003_filesystemio_setall.txt", SAMPLES / "articles/003_filesystemio_none.txt"],
    "folder": sorted((SAMPLES / "awr_series").iterdir())[:6],
    "host": [SAMPLES / "host/iostat.out", SAMPLES / "host/vmstat.out"],
}
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    for name, logs in PAGES.items():
        assert write_report(logs, folder / f"{name}.html") == []
    return {name: folder / f"{name}.html" for name in PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_first_screen(name: str, pages: dict[str, Path]) -> None:
    """At 390, 1280 and 1920 px and on A4 the page is not wider than its screen; a ledger or finding is on the first.

    Nor is it in the 312 px that JupyterLab leaves of 390; a wide screen is filled by a ledger and what is beside it.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, height in ((312, 747), (390, 844), (1280, 800), (1920, 1080), (717, 1000)):
            page = browser.new_page(viewport={"width": width, "height": height})
            if width == 717:  # A4 within its margins, at 96 dots an inch
                page.emulate_media(media="print")
            asked: list[str] = []
            said: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("console", lambda message, said=said: said.append(message.text))
            page.goto(pages[name].as_uri())

            assert [pages[name].as_uri()] == asked
            assert said == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert width < 390 or first_y(page, "table:visible, ol.findings li, #by-log") < height
            assert page.locator("a[href^='#']").count() > 1
            if width == 1920:
                ends = page.evaluate(
                    "[...document.querySelectorAll('.ledgers')].filter(one => one.checkVisibility()).map("
                    "one => Math.max(...[...one.querySelectorAll('table, svg, li')]"
                    ".map(part => part.getBoundingClientRect().right)))"
                )
                assert all(end > 0.75 * width for end in ends)
            missing = page.evaluate(
                "[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
                ".filter(id => id && !document.getElementById(id))"
            )
            assert missing == []
            page.close()
        browser.close()


def test_a_basis_of_a_pair_is_not_split_in_print(tmp_path: Path) -> None:
    """On A4 the change per second and per transaction are whole, and both with the sentences need less than a sheet.

    On a phone the first sentence and the picture are on the first screen, in this order.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    logs = [SAMPLES / "awr_series" / name for name in ("awrrpt_1_4103_4104.txt", "awrrpt_1_4106_4107.txt")]
    assert write_report(logs, tmp_path / "page.html") == []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 703, "height": 1009})
        page.emulate_media(media="print")
        page.goto((tmp_path / "page.html").as_uri())
        tall = [box["height"] for one in page.locator(".basis").all() if (box := one.bounding_box())]
        end = page.locator(".basis").last.bounding_box()
        breaks = page.locator(".basis").evaluate_all("all => all.map(one => getComputedStyle(one).breakInside)")
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 390, "height": 844})
        places = [page.locator(one).first.bounding_box() for one in ("ol.findings li", "table.waterfall")]
        browser.close()

    assert breaks == ["avoid", "avoid"]
    assert sum(tall) < 0.75 * 1009
    assert end is not None
    assert end["y"] + end["height"] < 1009
    assert 0 < places[0]["y"] < places[1]["y"] < 844


def test_a_range_is_chosen_in_all_lanes(pages: dict[str, Path]) -> None:
    """A range dragged in one lane is marked in all, and the table shows its means; Escape shows all, fields choose."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(pages["host"].as_uri())
        lanes = page.locator("#over-time figure.lanes")
        table, chosen = lanes.locator("tbody"), lanes.locator(".chosen")
        whole, time = table.inner_text(), chosen.inner_text()
        box = lanes.locator("svg.plot").nth(1).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40)
        page.mouse.up()

        widths = lanes.locator("rect.brush").evaluate_all(
            "all => all.map(one => parseFloat(one.getAttribute('width')))"
        )
        assert len(widths) == lanes.locator("svg.plot").count() > 1
        assert all(24 < width < 26 for width in widths)
        assert table.locator("tr").first.locator("td").nth(2).inner_text() in {"15", "16", "17"}
        assert table.inner_text() != whole
        dragged = table.inner_text()

        page.keyboard.press("Escape")
        assert (table.inner_text(), chosen.inner_text()) == (whole, time)

        lanes.locator("input").nth(0).fill("900")
        lanes.locator("input").nth(1).fill("1800")
        assert table.inner_text() == dragged
        assert said == []
        browser.close()


@pytest.mark.parametrize("width", [1280, 1440])
def test_the_total_line_is_one_line(width: int, pages: dict[str, Path], tmp_path: Path) -> None:
    """What changed, in two reports, two traces or a folder, is one line as the total of one log is."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    reports = sorted((SAMPLES / "awr_series").iterdir())
    assert write_report(reports, tmp_path / "series.html") == []
    assert write_report([reports[2], reports[8]], tmp_path / "two.html") == []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": width, "height": 900})
        for page in (tmp_path / "series.html", tmp_path / "two.html", *(pages[name] for name in ("report", "trace"))):
            shown.goto(page.as_uri())
            box = shown.locator("h1 ~ .verdict, .total").first.bounding_box()
            assert box is not None
            assert box["height"] < 40, page
        browser.close()


def test_the_closing_part_of_a_report_is_on_the_first_screen(corpus: Path, tmp_path: Path) -> None:
    """With five sentences, of two lines most, the ledger is seen to its closing part, and there is room below it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    page = tmp_path / "page.html"
    assert write_report([corpus / "awr/sarthi2020__AWR-reports/awr_rpt_4.html"], page) == []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 1440, "height": 900})
        shown.goto(page.as_uri())
        assert shown.locator("ol.findings").first.locator("li").count() == 5
        box = shown.locator(".ledgers tr.unknown.level-0").first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 896
        browser.close()


def test_every_table_and_label_of_a_page_is_drawn_whole(tmp_path: Path) -> None:
    """Tables of account have the heads and rules of all tables; a label that does not fit ends in an ellipsis.

    On a phone what a restart changed, which a sentence says as well, is no label that the screen cuts.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - where there is a browser

    page = tmp_path / "page.html"
    assert write_report(sorted((SAMPLES / "awr_series").iterdir())[3:11], page) == []
    assert write_report([SAMPLES / "awr_series/awrrpt_1_4109_4110.txt"], tmp_path / "one.html") == []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 390, "height": 844})
        shown.goto(page.as_uri())
        labels = "[...document.querySelectorAll('#strip text')].map(e => e.getBoundingClientRect())"
        boxes = shown.evaluate(f"{labels}.filter(r => r.width).map(r => [r.left, r.right])")
        assert len(boxes) > 20
        assert [box for box in boxes if box[0] < 0 or box[1] > 390] == []
        assert "filesystemio_options changed from NONE to SETALL" in shown.inner_text("main")
        shown.goto((tmp_path / "one.html").as_uri())
        pieces = "[...document.querySelectorAll('.icicle .piece')].filter(e => e.scrollWidth > e.clientWidth)"
        assert {"ellipsis"} == set(shown.evaluate(f"{pieces}.map(e => getComputedStyle(e).textOverflow)"))
        for cells, kept in (("thead th", "fontWeight"), ("tbody td", "borderBottomStyle")):
            every = f"[...document.querySelectorAll('table:not(.wide table) {cells}')]"
            assert len(set(shown.evaluate(f"{every}.map(e => getComputedStyle(e).{kept})"))) == 1
        browser.close()
