"""A real JupyterLab in a real browser, and the exported pages, with the network off."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browser import CHROMIUM, PATIENCE, open_browser, outside, until

from iolab.lab.serving import serve_lab
from iolab.pages.summary import summarize
from iolab.pages.writing import write_report

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_data"
TOKEN = "t0k"  # noqa: S105 - of a server that lives for this test only

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    # Playwright's own event loop, and sockets that a browser leaves open when it is closed
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@contextmanager
def serve_notebooks(folder: Path) -> Iterator[str]:
    """JupyterLab on a copy of the notebooks; its temporary files are in the folder `tmp`."""
    work = folder / "work"
    shutil.copytree(ROOT / "notebooks", work / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copytree(SAMPLES, work / "sample_data")
    (folder / "tmp").mkdir()
    with serve_lab(work, folder, token=TOKEN, environment={"TMPDIR": str(folder / "tmp")}) as url:
        yield url


def open_notebook(page: Any, url: str, name: str) -> None:  # noqa: ANN401 - Playwright's page
    """Open a notebook, and run all of it."""
    page.goto(f"{url}/lab/tree/notebooks/{name}?token={TOKEN}&reset", timeout=PATIENCE)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE)
    # Before the kernel is idle the menu's command is dropped without a word.
    page.get_by_text("| Idle").first.wait_for(timeout=PATIENCE)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_selector(".iolab-picker", timeout=PATIENCE)
    page.get_by_text("| Idle").first.wait_for(timeout=PATIENCE)


#: How many marks of each kind a chart has: of the charts in sight that were not counted before.
COUNT_MARKS = """() => [...document.querySelectorAll("svg.marks:not([data-counted])")].map((svg) => {
  svg.dataset.counted = "yes";
  const marks = {};
  for (const group of svg.querySelectorAll("g.role-mark"))
    for (const kind of ["symbol", "rect", "line", "area"])
      if (group.classList.contains("mark-" + kind))
        marks[kind] = (marks[kind] || 0) + group.querySelectorAll("path").length;
  return [svg.querySelector("g.role-title-text")?.textContent || "", marks];
})"""


#: The words and the number of shapes of each chart of an exported page; `test_charts_svg.py` counts its marks.
DRAWN = """() => [...document.querySelectorAll("figure.drawn svg")].map(
  (svg) => [svg.textContent, svg.querySelectorAll("path[d], rect").length])"""


def read_through(page: Any) -> tuple[str, list[tuple[str, dict[str, int]]]]:  # noqa: ANN401 - Playwright's page
    """The texts of a notebook from top to bottom, and title and marks of its charts: only what is in sight is drawn."""
    panel = page.locator(".jp-NotebookPanel-notebook .jp-WindowedPanel-outer").first
    texts, charts = [], []
    panel.evaluate("panel => panel.scrollTo(0, 0)")
    for _ in range(100):
        page.wait_for_timeout(300)
        texts.append(page.locator(".jp-Notebook").inner_text())
        charts += page.evaluate(COUNT_MARKS)
        if panel.evaluate("panel => panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 5"):
            break
        panel.evaluate("panel => panel.scrollBy(0, 0.8 * panel.clientHeight)")
    return "\n".join(texts), [(title, marks) for title, marks in charts]


def expected_marks(log: Path) -> list[tuple[str, str, int]]:
    """Title, kind of mark and number of marks of those charts of a log that draw each row of their frame."""
    found = []
    for chart in summarize(log).charts(name=log.name):
        spec = chart.to_dict()
        title = spec["title"] if isinstance(spec["title"], str) else spec["title"]["text"]
        rows = len(next(iter(spec["datasets"].values())))
        kinds = {part["mark"]["type"] for part in spec.get("layer", [spec])}
        if "point" in kinds:
            found.append((title, "symbol", rows))
        elif kinds in ({"bar"}, {"rect"}, {"bar", "text"}):
            found.append((title, "rect", rows))
        else:
            found.append((title, "area" if "area" in kinds else "line", 1))
    return found


def missing(
    expected: list[tuple[str, str, int]], drawn: list[tuple[str, dict[str, int]]]
) -> list[tuple[str, str, int]]:
    """Those charts that are not drawn, or with another number of marks."""
    return [
        one
        for one in expected
        if not any(title.startswith(one[0]) and marks.get(one[1], 0) >= one[2] for title, marks in drawn)
    ]


def make_big(folder: Path) -> Path:
    """A log of 40 MB: a capture, repeated."""
    lines = (SAMPLES / "captures/scattered_buffered_tt_T.strace").read_bytes()
    path = folder / "big.strace"
    path.write_bytes(lines * (40 * 2**20 // len(lines) + 1))
    return path


def figure(log: Path, metric: str) -> float:
    """A figure of a log, read here."""
    value = summarize(log).figures.filter(pl.col("metric") == metric).item(0, "value")
    assert isinstance(value, float)
    return value


def make_hostile(folder: Path) -> Path:
    """A log whose name, texts and paths are markup, Markdown and scripts."""
    markup = "<img src=x onerror=document.title='owned'>"
    link = "[click](javascript:document.title='owned')"
    texts = [
        "<script>document.title='owned'</script>",
        markup,
        link,
        f"$$\\href{{javascript:{markup}}}{{x}}$$",
        f"`|{link}|",
    ]
    lines = [
        f'12:00:0{place}.000100 pread64(3</u01/{text}.dbf>, "{text}", 8192, 0) = 8192 <0.000{200 + place}>'
        for place, text in enumerate(text.replace("/", "") for text in texts)
    ]
    log = folder / f"{markup}[c](javascript:alert(1)).strace"
    log.write_text("\n".join([*lines * 20, markup, *texts, ""]), encoding="utf-8")
    return log


def test_upload_in_jupyterlab_offline(tmp_path: Path) -> None:
    """Logs are uploaded in JupyterLab without a network; charts and figures are of those logs, nothing in them runs.

    What they say is no longer than four screens; figures and frames below are folded.
    One has 40 MB; the name and the texts of another one are markup and scripts.
    """
    big, hostile = make_big(tmp_path), make_hostile(tmp_path)
    trace = SAMPLES / "captures/sequential_direct_tt_T.strace"
    report = SAMPLES / "awr_series/awrrpt_1_4110_4111.html"
    with serve_notebooks(tmp_path) as url, open_browser() as (page, asked):
        open_notebook(page, url, "00_start_here.ipynb")
        with page.expect_file_chooser() as chooser:
            page.locator(".iolab-picker button").first.click()
        chooser.value.set_files([str(trace), str(report), str(big), str(hostile)])
        page.locator(".iolab-picker li.done").nth(3).wait_for(timeout=PATIENCE)
        states = page.locator(".iolab-picker li .state").all_inner_texts()
        page.get_by_text("looks = cells").first.click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run Selected Cell and All Below").click()
        page.locator(".jp-RenderedMarkdown td", has_text="sequential_direct_tt_T.strace").wait_for(timeout=PATIENCE)
        page.get_by_text("| Idle").first.wait_for(timeout=PATIENCE)
        page.wait_for_timeout(2000)
        page.screenshot(path=os.environ.get("IOLAB_SCREENSHOT", tmp_path / "lab.png"))
        text, drawn = read_through(page)
        height = page.locator(".jp-NotebookPanel-notebook .jp-WindowedPanel-outer").first.evaluate(
            "one => one.scrollHeight"
        )
        page.locator(".jp-showHiddenCellsButton").first.click()
        text += read_through(page)[0]
        uploaded = {path.name: path.stat().st_size for path in (tmp_path / "tmp").glob("iolab-upload-*/[!.]*")}
        planted = page.locator("img[src=x], a[href^='javascript:'], script:text('owned')").count()
        title = page.title()

    assert height < 4000
    assert (planted, "owned" in title, "document.title" in text) == (0, False, True)
    assert states[0] == "strace log, 447 lines"
    assert states[1] == "AWR report (HTML), release 12.1.0.2.0, 22 tables"
    assert states[2] == f"strace log, {big.stat().st_size / 2**20:,.0f} MiB"
    assert states[3].startswith("strace log, ")
    assert sorted(uploaded.values()) == sorted(path.stat().st_size for path in (trace, report, big, hostile))
    assert missing(expected_marks(trace) + expected_marks(report), drawn) == []
    assert len(drawn) >= 12
    repeats = big.stat().st_size // (SAMPLES / "captures/scattered_buffered_tt_T.strace").stat().st_size
    small = figure(SAMPLES / "captures/scattered_buffered_tt_T.strace", "reads")
    for said in (
        f"average_active_sessions\t{figure(report, 'average_active_sessions'):.4f}\t",
        f"latency_us_p50 (sync)\t{figure(trace, 'latency_us_p50 (sync)'):.1f}\t",
        f"reads\t{repeats * small:,.0f}\t",
    ):
        assert said in text
    assert outside(asked) == []
    assert list((tmp_path / "tmp").glob("*iolab-upload-*")) == []  # the kernel has ended


DROP = """(files) => {
  const data = new DataTransfer();
  for (const [name, text, repeat] of files) data.items.add(new File([text.repeat(repeat)], name));
  const box = document.querySelector(".iolab-picker");
  for (const kind of ["dragover", "drop"])
    box.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
}"""
LINE = "     0.000123 pread64(268, '', 8192, 0) = 8192\n"


def write_picker_notebook(path: Path) -> None:
    """A notebook with a field that loses patience soon."""
    source = "import iolab\npicker = iolab.LogPicker(patience_ms=500)\npicker"
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path.write_text(
        json.dumps({"cells": [cell], "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}),
        encoding="utf-8",
    )


def kernel_of(folder: Path) -> int:
    """The process that has the folder of uploads open."""
    lock = next((folder / "tmp").glob("iolab-upload-*/.in-use")).resolve()
    for place in Path("/proc").glob("[0-9]*/fd"):
        with suppress(OSError):
            if any(file.resolve() == lock for file in place.iterdir()):
                return int(place.parent.name)
    raise AssertionError("no process holds the folder")


def test_uploads_that_do_not_go_well(tmp_path: Path) -> None:
    """Dropped files of one name, no log, a cancelled one, one whose kernel stops: each is said, and no half is left."""
    with serve_notebooks(tmp_path) as url, open_browser() as (page, asked):
        write_picker_notebook(tmp_path / "work/notebooks/picker.ipynb")
        open_notebook(page, url, "picker.ipynb")
        rows = page.locator(".iolab-picker li")
        kernel = kernel_of(tmp_path)

        page.evaluate(
            DROP,
            [["ora.strace", LINE, 1], ["ora.strace", LINE, 2], ["nul", LINE, 3], ["diary.txt", "Dear diary,\n", 2]],
        )
        page.locator(".iolab-picker li.failed").first.wait_for(timeout=PATIENCE)
        states = rows.locator(".state").all_inner_texts()

        page.evaluate(DROP, [["huge.strace", LINE, 6_000_000]])
        page.wait_for_function(
            "() => parseInt(document.querySelectorAll('.iolab-picker li .state')[4].textContent) > 3"
        )
        rows.nth(4).get_by_role("button", name="cancel").click()
        cancelled = rows.nth(4).locator(".state").inner_text()

        os.kill(kernel, signal.SIGSTOP)
        try:
            page.evaluate(DROP, [["slow.strace", LINE, 500_000]])
            rows.nth(5).get_by_role("button", name="resume").wait_for(timeout=PATIENCE)
            lost = rows.nth(5).locator(".state").inner_text()
        finally:
            os.kill(kernel, signal.SIGCONT)
        resume = rows.nth(5).get_by_role("button", name="resume")

        def is_done() -> bool:
            """Once more where a kernel that is busy with what it missed does not answer in time."""
            if resume.count():
                resume.click()
            return bool(page.locator(".iolab-picker li.done").count() > 3)

        until(page, is_done)
        resumed = rows.nth(5).locator(".state").inner_text()
        page.screenshot(path=tmp_path / "picker.png")
        kept = {path.name: path.stat().st_size for path in (tmp_path / "tmp").glob("iolab-upload-*/[!.]*")}

    assert states[:3] == ["strace log, 1 line", "strace log, 2 lines", "strace log, 3 lines"]
    assert "not a log of a known" in states[3]
    assert "iolab-upload" not in states[3]
    assert (cancelled, lost.partition(":")[0], resumed) == (
        "cancelled",
        "lost",
        f"strace log, {500_000 * len(LINE) / 2**20:,.0f} MiB",
    )
    size = len(LINE)
    assert kept == {"ora.strace": size, "ora-2.strace": 2 * size, "_nul": 3 * size, "slow.strace": 500_000 * size}
    assert outside(asked) == []


def test_exported_page_offline(tmp_path: Path) -> None:
    """A page about the same logs draws its charts without a network, and runs no script that a log holds."""
    bad = tmp_path / "bad.strace"
    line = b"     0.000123 openat(3, \"<script>document.title='owned'</script>\", O_RDONLY) = 4\n"
    bad.write_bytes(line + b"     0.000200 <img src=x onerror=\"document.title='owned'\">\n")
    report = SAMPLES / "awr_series/awrrpt_1_4110_4111.html"
    trace = SAMPLES / "captures/async_direct_tt_T.strace"
    logs = [trace, report, make_big(tmp_path), bad]
    page_path = tmp_path / "report.html"
    command = [sys.executable, "-m", "iolab", "report", *map(str, logs), "-o", str(page_path)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with open_browser() as (page, asked):
        page.goto(page_path.as_uri())
        assert page.locator("figure.drawn svg").count() == page.locator("figure.drawn").count() > 0
        drawn = page.evaluate(DRAWN)
        title = page.title()
        text = page.locator("body").text_content() or ""

    expected = [title for log in (trace, report) for title, _, _ in expected_marks(log)]
    assert [title for title in expected if not any(title in words and marks for words, marks in drawn)] == []
    assert f"average_active_sessions{figure(report, 'average_active_sessions'):.4f}" in text
    assert f"latency_us_p50 (async){figure(trace, 'latency_us_p50 (async)'):,.1f}" in text
    assert title.startswith("I/O evidence")
    assert "<script>document.title" in text or "<img src=x" in text
    assert outside(asked) == []


def test_two_columns_of_the_strip_open_their_pair(tmp_path: Path) -> None:
    """Chosen in any order they show the command, and the comparison that the page has; else a cell opens its report."""
    done = write_report([SAMPLES / "awr_series"], tmp_path / "page.html")
    assert done == []
    with open_browser() as (page, asked):
        page.goto((tmp_path / "page.html").as_uri())
        cells = page.locator("figure.strip svg[role=group]").first.locator("a[data-log]")
        said = page.locator("figure.strip [role=status]")
        seen = []
        for one, other in ((3, 1), (6, 5)):
            page.evaluate("scrollTo(0, 0)")
            page.get_by_role("button", name="Compare two reports").click()
            cells.nth(one).click()
            cells.nth(other).click()
            seen.append((said.inner_text(), page.evaluate("scrollY") > 1000, "#" in page.url))
        page.evaluate("scrollTo(0, 0)")
        cells.nth(1).click()
        assert page.url.endswith("#log-2")

    command = "iolab compare awrrpt_1_41{}.txt awrrpt_1_41{}.txt"
    assert seen == [
        (command.format("03_4104", "05_4106"), False, False),
        (command.format("07_4108", "09_4110"), True, False),
    ]
    assert outside(asked) == []
