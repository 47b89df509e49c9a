"""Pages in a real browser: they fit every width, ask nothing of a network, and their tables sort, filter and save."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, first_y, open_browser, outside, until

from iolab import write_report

SAMPLES = Path(__file__).parents[2] / "sample_data"
SERIES = SAMPLES / "awr_series"
REPORT = SERIES / "awrrpt_1_4110_4111.html"
#: Each kind of page, and the logs of one.
KINDS = {
    "report": [REPORT],
    "trace": [SAMPLES / "captures" / "async_direct_tt_T.strace"],
    "session": [SAMPLES / "runs" / "buffered_direct_async.txt"],
    "pair": [SERIES / "awrrpt_1_4106_4107.txt", SERIES / "awrrpt_1_4109_4110.txt"],
    "mixed": [REPORT, SAMPLES / "captures" / "async_direct_tt_T.strace", SAMPLES / "articles" / "002_linux.txt"],
    "folder": sorted(SERIES.iterdir())[-7:],
}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    # Playwright's own event loop, and sockets that a browser leaves open when it is closed
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The address of a page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    for kind, logs in KINDS.items():
        write_report(logs, folder / f"{kind}.html")
    return {kind: (folder / f"{kind}.html").as_uri() for kind in KINDS}


def _excess(page: Any) -> int:  # noqa: ANN401 - Playwright's page
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def test_every_page_fits_and_shows_a_finding_and_a_picture_first(pages: dict[str, str]) -> None:
    """At 390, 1280 and 1920 px nothing is wider than the screen; the first has a picture and a ledger or finding."""
    seen = []
    with open_browser() as (page, asked):
        messages: list[str] = []
        page.on("console", lambda message: messages.append(message.text))
        for kind, address in pages.items():
            for width, height in ((390, 844), (1280, 900), (1920, 1000)):
                page.set_viewport_size({"width": width, "height": height})
                page.goto(address)
                first = first_y(page, "table:visible, ol.findings p, .strip-row")
                picture = page.locator("main svg:visible").first.bounding_box()
                fits = picture is not None and max(first, picture["y"]) < height
                seen.append((kind, width, _excess(page), fits))

    assert [one for one in seen if one[2] > 0 or not one[3]] == []
    assert messages == []
    assert outside(asked) == []


def test_pages_print_on_a4_both_ways(pages: dict[str, str]) -> None:
    """Printed, no table is cut at the right: nothing is wider than the paper.

    A heading that sorts is text: on the next sheet a button would be left out of the heading.
    """
    wide, boxes = [], "[...document.querySelectorAll('button.sort')].map(e => getComputedStyle(e).display)"
    with open_browser() as (page, _):
        page.emulate_media(media="print")
        for kind, address in pages.items():
            for width in (703, 1032):  # A4 less its margins, in CSS pixels
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                wide.append((kind, width, _excess(page), page.locator(".tools:visible").count()))
                assert {*page.evaluate(boxes)} <= {"contents"}

    assert [one for one in wide if one[2] > 0 or one[3]] == []


def test_no_problem_of_accessibility(pages: dict[str, str]) -> None:
    """Axe finds nothing on any kind of page, nor in the dark or on a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = []
    with open_browser() as (page, _):
        for kind, address in pages.items():
            for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390))[: 3 if kind == "report" else 1]:
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 900})
                page.goto(address)
                found += [
                    (kind, scheme, width, one["id"], one["nodes"][0]["html"][:200])
                    for one in axe.Axe().run(page).response["violations"]
                ]

    assert found == []


def test_tables_sort_filter_unfold_and_save(pages: dict[str, str], tmp_path: Path) -> None:
    """A heading sorts by number, falling first; a word filters; all rows unfold; the CSV has every row."""
    with open_browser() as (page, _):
        page.goto(pages["report"])
        box = page.locator("div.wide", has=page.locator("th:has-text('waits')")).first
        heading = box.locator("th", has_text="total wait").first

        def column() -> list[float]:
            place = heading.evaluate("head => head.cellIndex")
            cells = box.locator("tbody tr").evaluate_all(f"rows => rows.map(row => row.cells[{place}].textContent)")
            return [float(cell.replace(",", "")) for cell in cells if cell]

        before = column()
        heading.locator("button").click()
        falling, order = column(), heading.get_attribute("aria-sort")
        heading.locator("button").click()
        rising = column()

        place = page.locator("div.wide").evaluate_all("all => all.findIndex(one => one.querySelector('tr[hidden]'))")
        long = page.locator("div.wide").nth(place)
        rows = long.locator("tbody tr").count()
        tools = long.locator("xpath=following-sibling::p[1]")
        shown = long.locator("tbody tr:visible").count()
        page.get_by_role("button", name="unfold all").click()
        unfolded = long.locator("tbody tr:visible").count()
        word = long.locator("tbody tr").nth(rows - 1).locator("td").first.inner_text()
        if tools.locator("input").count():
            tools.locator("input").fill(word)
            filtered = long.locator("tbody tr:visible").count()
            assert 1 <= filtered < rows
        with page.expect_download() as saving:
            tools.get_by_role("button", name="CSV").click()
        saving.value.save_as(tmp_path / "table.csv")

    assert sorted(before, reverse=True) == falling
    assert (order, sorted(before)) == ("descending", rising)
    assert shown < rows == unfolded
    assert len((tmp_path / "table.csv").read_text(encoding="utf-8-sig").splitlines()) == rows + 1


def test_csv_has_numbers_and_markdown_what_is_shown(pages: dict[str, str]) -> None:
    """In CSV a figure is a number without separators, a time is in seconds, bounds are columns; a copy is Markdown."""
    with open_browser() as (page, _):
        page.goto(pages["report"])
        tables = page.evaluate(
            """Array.from(document.querySelectorAll("main div.wide table"), (table) => [csvOf(table), markdownOf(table),
              Array.from(table.tHead.rows[0].cells, (one) => [one.textContent, one.classList.contains("number")])])"""
        )
        figures = page.evaluate(
            """["21,628,695", "12.11 ms", "2.0 [1.5, 2.5]", "12-13", "<=222 us", "at most 49",
              "db file 3"].map(figureOf)"""
        )
        page.evaluate(
            """() => {
              navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
              document.execCommand = () => { window.copied = document.activeElement.value; return true; };
            }"""
        )
        page.locator("main p.tools").get_by_role("button", name="Markdown").first.click()
        until(page, lambda: page.evaluate("window.copied"))
        copied = page.evaluate("window.copied")

    assert figures == [
        {"parts": [21628695, "", ""], "unit": ""},
        {"parts": [12.11, "", ""], "unit": "ms"},
        {"parts": [2, 1.5, 2.5], "unit": ""},
        {"parts": ["", 12, 13], "unit": ""},
        {"parts": ["", "", 222], "unit": "us"},
        {"parts": ["", "", 49], "unit": ""},
        None,
    ]
    numbers = 0
    for data, markdown, heads in tables:
        rows = list(csv.DictReader(io.StringIO(data)))
        lines = markdown.split("\n")
        assert len(lines) == len(rows) + 2
        assert [cell.strip() for cell in re.split(r"(?<!\\\\)\|", lines[0])[1:-1]] == [head for head, _ in heads]
        for head in (head for head, is_number in heads if is_number):
            names = [name for name in rows[0] if name.removesuffix(" lo").removesuffix(" hi") in {head, f"{head} (s)"}]
            for cell in (row[name] for row in rows for name in names if row[name]):
                assert "," not in cell
                numbers += cell.lstrip("-")[:1].isdigit()
    assert numbers > 200
    assert copied.split("\n")[1].startswith("| ---")


def test_all_figures_of_a_page_are_one_file(pages: dict[str, str]) -> None:
    """One row a number: those of the ledger with their part, a time in seconds, those of a table with its title."""
    with open_browser() as (page, _):
        page.goto(pages["report"])
        with page.expect_download() as download:
            page.get_by_role("button", name="Figures as CSV").click()
        rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
        shown = page.locator("table.ledger tbody tr", has_text="db file sequential read").locator("td.number").nth(1)
        time = shown.inner_text().removesuffix(" s").replace(",", "")

    found = [row for row in rows if row["row"] == "db file sequential read" and row["column"] == "time (s)"]
    assert float(found[0]["value"]) == float(time)
    shares = [row for row in rows if row["column"] == "%" and row["table"].startswith("Statements")]
    averages = [
        row["value"] for row in rows if row["row"] == "db file sequential read" and row["column"] == "average (s)"
    ]
    assert len(shares) > 1
    assert 0 < float(averages[0]) < 1
    assert {"top events", "load profile"} < {row["table"] for row in rows}
    assert [row for row in rows if not re.fullmatch(r"-?[\d.]+(e-?\d+)?", row["value"])] == []


def test_a_link_into_a_fold_opens_it(pages: dict[str, str]) -> None:
    """On the page of a folder each report is folded, and a link to it opens it."""
    with open_browser() as (page, _):
        page.goto(pages["folder"])
        closed = page.locator("details.log[open]").count()
        page.locator("#heat tbody a").first.click()
        until(page, lambda: page.locator("details.log[open]").count() > 0)
        opened = page.locator("details.log[open]").count()

    assert (closed, opened) == (0, 1)
