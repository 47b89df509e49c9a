"""The extension in a real JupyterLab and a real browser, with the network off."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browser import CHROMIUM, PATIENCE, open_browser, outside, until

from iolab.lab.page_jobs import log_notebook
from iolab.lab.serving import serve_lab

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).parents[2] / "sample_data"
TRACE = SAMPLES / "sqltrace/orders_flash_ora_4711.trc"
TOKEN = "t0k"  # noqa: S105 - of a server that lives for this test only
MARKUP = "<img src=x onerror=document.title='owned'>.strace"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    # Playwright's own event loop, and sockets that a browser leaves open when it is closed
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """JupyterLab on a folder with logs of all sorts."""
    base = tmp_path_factory.mktemp("lab")
    folder = base / "work"
    folder.mkdir()
    shutil.copy(TRACE, folder)
    shutil.copy(SAMPLES / "awr_series/awrrpt_1_4110_4111.html", folder / "evening.html")
    (folder / "binary.trc").write_bytes(bytes(range(256)) * 50)
    (folder / "link.trc").symlink_to("/etc/passwd")
    text = "<script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
    line = f'12:00:01.000100 pread64(3</u01/{text.replace("/", "")}.dbf>, "{text}", 8192, 0) = 8192 <0.000200>\n'
    (folder / MARKUP).write_text(line * 20, encoding="utf-8")
    with serve_lab(folder, base, token=TOKEN) as url:
        yield url, folder


def start(page: Any, url: str) -> None:  # noqa: ANN401 - Playwright's page
    """Open JupyterLab with its list of files."""
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/lab?token={TOKEN}&reset")
    page.locator(".jp-DirListing-item").first.wait_for()
    page.locator(".jp-LauncherCard").first.wait_for()


def open_log(page: Any, name: str) -> Any:  # noqa: ANN401 - Playwright's page, and its frame
    """Double click on a log; the frame of its page."""
    page.locator(".jp-DirListing-item", has_text=name).dblclick()
    return shown(page)


def shown(page: Any) -> Any:  # noqa: ANN401 - as above
    """The frame of the page that is in sight."""
    page.locator(".iolab-status:visible", has_text="read in").wait_for()
    frame = page.locator(".iolab-page iframe:visible").element_handle().content_frame()
    frame.locator("main").first.wait_for()
    return frame


def choose_theme(page: Any, name: str) -> None:  # noqa: ANN401 - as above
    """Change the theme of JupyterLab."""
    page.keyboard.press("Control+Shift+C")
    page.locator(".lm-CommandPalette-input").fill(f"Use Theme: {name}")
    page.locator(".lm-CommandPalette-item", has_text=f"Use Theme: {name}").first.click()


def ground(frame: Any) -> list[int]:  # noqa: ANN401 - as above
    """The colour of a page's ground."""
    text = frame.evaluate("getComputedStyle(document.body).backgroundColor")
    return [int(part) for part in text[4:-1].split(",")]


def test_a_double_click_opens_the_page(lab: tuple[str, Path]) -> None:
    """The page in the theme of JupyterLab; a line of the log from it; a table as CSV; read again when the log grows.

    Of the log itself JupyterLab asks nothing, and keeps no copy, until it is opened in the editor.
    """
    url, folder = lab
    with open_browser() as (page, asked):
        start(page, url)
        frame = open_log(page, TRACE.name)
        text = frame.locator("main").inner_text()
        contents = [one for one in asked if f"contents/{TRACE.name}" in one and "checkpoints" not in one]
        copies = list(folder.glob(".ipynb_checkpoints/*"))
        light = ground(frame)
        choose_theme(page, "JupyterLab Dark")
        until(page, lambda: ground(frame) != light)
        dark = ground(frame)

        with page.expect_download() as download:
            frame.get_by_role("button", name="save").first.click()
        table = Path(download.value.path()).read_text(encoding="utf-8-sig")

        first = page.locator(".iolab-page iframe:visible").get_attribute("src")
        page.evaluate("window.addEventListener('message', (event) => { window.told = event.data.scroll; })")
        frame.evaluate("window.scrollTo(0, 700)")
        until(page, lambda: page.evaluate("window.told") == 700)
        with (folder / TRACE.name).open("a", encoding="utf-8") as log:
            log.write("*** 2026-03-02 23:05:00.000\n")
        until(page, lambda: page.locator(".iolab-page iframe:visible").first.get_attribute("src") != first)
        frame = shown(page)
        until(page, lambda: frame.evaluate("window.scrollY") > 100)
        again = (ground(frame), frame.evaluate("window.scrollY"))

        frame.locator("ol.findings p", has_text="the plan of").get_by_role("link").first.click()
        page.locator(".jp-FileEditor").wait_for()
        status = page.locator("#jp-main-statusbar")
        until(page, lambda: (found := re.search(r"Ln (\d+)", status.inner_text())) and int(found[1]) > 1)
        line = int(re.search(r"Ln (\d+)", status.inner_text())[1])

    assert "orders_report" in text
    assert (len(contents), contents[0].count("content=0")) == (1, 1)
    assert copies == []
    assert (min(light) > 200, max(dark) < 60) == (True, True)
    assert table.startswith("component,")
    assert again == (dark, 700)
    assert TRACE.read_text(encoding="utf-8").splitlines()[line - 1].startswith("STAT #")
    assert outside(asked) == []


def test_what_is_no_log_is_said_in_the_tab(lab: tuple[str, Path]) -> None:
    """Binary data, and a link out of the folder: the reason.  Of a report by any name "Open With" shows the page."""
    url, _ = lab
    with open_browser() as (page, asked):
        start(page, url)
        page.locator(".jp-DirListing-item", has_text="binary.trc").dblclick()
        page.get_by_text("binary.trc: binary data, not a log").wait_for()
        page.locator(".jp-DirListing-item", has_text="link.trc").dblclick()
        page.get_by_text("link.trc is a link that leaves the folder that JupyterLab serves").wait_for()
        page.locator(".jp-DirListing-item", has_text="evening.html").click(button="right")
        page.locator(".lm-Menu-item", has_text="Open With").hover()
        page.locator(".lm-Menu-item", has_text="Oracle I/O page").click()
        text = shown(page).locator("main").inner_text()

    assert "AWR" in text
    assert outside(asked) == []


def press(page: Any, name: str) -> None:  # noqa: ANN401 - as above
    """Press a button of the toolbar that is in sight."""
    page.locator(".jp-Toolbar jp-button:visible, .jp-Toolbar button:visible", has_text=name).first.click()


def test_two_logs_are_compared_from_the_toolbar(lab: tuple[str, Path]) -> None:
    """Logs of the folder are offered by name, markup in a name as text; the page of both opens in a tab of its own."""
    url, _ = lab
    with open_browser() as (page, asked):
        start(page, url)
        open_log(page, TRACE.name)
        press(page, "Compare with")
        page.locator(".jp-Dialog select").wait_for()
        choices = page.locator(".jp-Dialog select option").all_inner_texts()
        page.locator(".jp-Dialog select").select_option(MARKUP)
        page.locator(".jp-Dialog button", has_text="Compare").click()
        page.locator(".lm-TabBar-tabLabel", has_text=f"{TRACE.name} and {MARKUP}").wait_for()
        frame = shown(page)
        text = frame.locator("main").inner_text()
        planted = page.locator("img[src=x]").count() + frame.locator("img").count()
        title = page.title()

    assert set(choices) == {"binary.trc", "link.trc", MARKUP}
    assert text.startswith("I/O evidence of 2 logs")
    assert (planted, title == "owned") == (0, False)
    assert outside(asked) == []


def test_the_toolbar_shows_parts_saves_figures_and_inserts_a_cell(lab: tuple[str, Path]) -> None:
    """In place of the bar of contents a list; all figures with units as CSV; a cell that reads the log, and has run."""
    url, folder = lab
    (folder / "books").mkdir()
    book = {"cells": [], "metadata": log_notebook("x")["metadata"], "nbformat": 4, "nbformat_minor": 5}
    (folder / "books/analysis.ipynb").write_text(json.dumps(book), encoding="utf-8")
    with open_browser() as (page, asked):
        start(page, url)
        page.goto(f"{url}/lab/tree/books/analysis.ipynb?token={TOKEN}&reset")
        page.locator(".jp-Notebook").wait_for()
        page.locator(".jp-BreadCrumbs-home").click()
        frame = open_log(page, TRACE.name)
        bars = frame.locator("nav.contents").count()
        select = page.locator("select.iolab-parts:visible")
        parts = select.locator("option").all_inner_texts()
        select.select_option("Tables")
        until(page, lambda: frame.evaluate("window.scrollY") > 100)
        with page.expect_download() as download:
            press(page, "CSV")
        figures = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
        press(page, "Insert cell")
        page.locator(".jp-Notebook:visible .jp-OutputArea-output", has_text="orders_report").first.wait_for()
        code = page.locator(".jp-Notebook:visible .jp-CodeCell .cm-content").all_inner_texts()

    assert (bars, {"Findings", "Ledger", "Tables"} <= set(parts)) == (0, True)
    assert figures[0] == "part,table,row,column,value"
    assert [line for line in figures if ",time (s)," in line]
    assert any(f'iolab.load("../{TRACE.name}")' in one for one in code)
    assert outside(asked) == []


def test_a_page_is_confined(lab: tuple[str, Path]) -> None:
    """Markup in names and texts of a log stays text; the page reaches no part of JupyterLab, no cookie, no server."""
    url, _ = lab
    with open_browser() as (page, asked):
        start(page, url)
        frame = open_log(page, "onerror")
        text = frame.locator("main").inner_text()
        planted = frame.locator("img, script:text('owned')").count()
        reach = frame.evaluate(
            """async () => {
              const tries = {
                parent: () => window.parent.document.title,
                cookie: () => document.cookie,
                storage: () => localStorage.length,
                request: () => fetch("/api/contents").then((answer) => answer.text()),
                script: () => new Promise((done, fail) => {
                  const made = document.createElement("script");
                  made.textContent = "window.ran = true";
                  document.body.append(made);
                  window.ran ? done() : fail();
                }),
              };
              const reached = [];
              for (const [name, one] of Object.entries(tries)) {
                await Promise.resolve().then(one).then(() => reached.push(name), () => {});
              }
              return [window.origin, reached];
            }"""
        )
        titles = (page.title(), frame.title())

    assert "<img src=x onerror=document.title='owned'>" in text
    assert planted == 0
    assert reach == ["null", []]
    assert not any(title == "owned" for title in titles)
    assert outside(asked) == []


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const box = document.querySelector(".iolab-picker");
  for (const kind of ["dragover", "drop"])
    box.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


def test_the_launcher_takes_uploads(lab: tuple[str, Path], tmp_path: Path) -> None:
    """Without a cell, chosen and dropped logs open as pages; a refused file is said, and does not stay."""
    url, folder = lab
    (tmp_path / "empty.lst").touch()
    before = {path.name for path in folder.iterdir()}
    with open_browser() as (page, asked):
        start(page, url)
        page.locator(".jp-LauncherCard", has_text="Oracle I/O logs").click()
        with page.expect_file_chooser() as chooser:
            page.locator(".iolab-picker button").first.click()
        chooser.value.set_files([str(SAMPLES / "one_case/orders_flash.lst"), str(tmp_path / "empty.lst")])
        tab = page.locator(".lm-TabBar-tab", has_text="Oracle I/O logs")
        page.locator(".lm-TabBar-tab", has_text="orders_flash.lst").wait_for()
        text = shown(page).locator("main").inner_text()
        tab.click()
        page.locator(".iolab-picker li.failed").wait_for()
        page.evaluate(DROP, [TRACE.name, TRACE.read_text(encoding="utf-8")])
        page.locator(".iolab-picker li.done").nth(1).wait_for()
        states = page.locator(".iolab-picker li .state").all_inner_texts()
        arrived = {path.name for path in folder.iterdir() if path.is_file()} - before
        page.locator(".iolab-picker li.done").first.get_by_role("button", name="remove").click()
        until(page, lambda: not (folder / "orders_flash.lst").exists())
        rows = page.locator(".iolab-picker li").count()

    assert text.startswith("SQL*Plus session")
    assert states[1] == "the file is empty"
    assert all("read in" in states[place] for place in (0, 2))
    assert arrived == {"orders_flash.lst", "orders_flash_ora_4711-2.trc"}
    assert rows == 2
    assert outside(asked) == []


def test_a_narrow_window_is_left_to_the_page(lab: tuple[str, Path]) -> None:
    """On a phone the file browser makes room for the launcher, the field, a page and a notebook: none is wider."""
    url, folder = lab
    (folder / "narrow.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    with open_browser() as (page, asked):
        page.set_default_timeout(PATIENCE)
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{url}/lab?token={TOKEN}&reset")
        page.locator(".jp-LauncherCard", has_text="Oracle I/O logs").click()
        field = page.locator(".iolab-field")
        page.locator(".iolab-picker").wait_for()
        until(page, lambda: field.bounding_box()["width"] > 300)
        fields = field.evaluate("one => [one.scrollWidth, one.clientWidth]")
        page.goto(f"{url}/lab/tree/{TRACE.name}?token={TOKEN}&reset")
        frame = page.locator(".iolab-page iframe:visible").element_handle().content_frame()
        frame.locator("main").wait_for()
        until(page, lambda: page.locator(".iolab-page").bounding_box()["width"] > 300)
        pages = frame.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        page.locator(".jp-SideBar.jp-mod-left [data-id='filebrowser']").click()
        page.locator(".jp-DirListing-item", has_text="narrow.ipynb").dblclick()
        until(page, lambda: page.locator(".jp-NotebookPanel:visible").bounding_box()["width"] > 300)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{url}/lab/tree/{TRACE.name}?token={TOKEN}&reset")
        page.locator(".jp-DirListing-item").first.wait_for()  # there is room for both

    assert fields[0] <= fields[1]
    assert pages[0] <= pages[1]
    assert outside(asked) == []


def test_a_log_opens_as_a_notebook(lab: tuple[str, Path]) -> None:
    """The notebook lies beside the log, names it, has run, and shows its findings and charts."""
    url, folder = lab
    with open_browser() as (page, asked):
        start(page, url)
        open_log(page, TRACE.name)
        page.locator("jp-button:visible, button:visible", has_text="Open as notebook").first.click()
        page.locator(".jp-Notebook svg.marks").first.wait_for()
        path = folder / f"{TRACE.stem}.ipynb"

        def is_saved() -> bool:
            try:
                book = json.loads(path.read_text(encoding="utf-8"))
            except (FileNotFoundError, ValueError):  # not written yet, or not to its end
                return False
            counts = [cell["execution_count"] for cell in book["cells"] if cell["cell_type"] == "code"]
            return bool(counts) and None not in counts

        until(page, is_saved)
        said = page.locator(".jp-Notebook").inner_text()
        book = json.loads(path.read_text(encoding="utf-8"))

    outputs = [output for cell in book["cells"] for output in cell.get("outputs", [])]
    assert f'LOG = "{TRACE.name}"' in "".join(book["cells"][1]["source"])
    assert "db file scattered read took 36 %" in said
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert outside(asked) == []
