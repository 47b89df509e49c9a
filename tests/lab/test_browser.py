"""A real JupyterLab in a real browser, and the exported pages, with the network off."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from iolab.report import write_report

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SAMPLES = ROOT / "sample_data"
TOKEN = "t0k"  # noqa: S105 - of a server that lives for this test only

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    # Playwright's own event loop, and sockets that a browser leaves open when it is closed
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]


@contextmanager
def open_browser() -> Iterator[tuple[Any, list[str]]]:
    """A browser that can reach 127.0.0.1 only, and the addresses it asked for."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where the tests run

    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    flags += [
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with sync_playwright() as driver, TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, headless=True, args=flags, viewport={"width": 1280, "height": 900}
        )
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        try:
            yield context.new_page(), asked
        finally:
            context.close()


def outside(asked: list[str]) -> list[str]:
    """The addresses that are not of this machine."""
    own = ("http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:", "about:", "chrome")
    return [url for url in asked if not url.startswith(own)]


@contextmanager
def serve_lab(folder: Path) -> Iterator[str]:
    """JupyterLab on a copy of the notebooks, on a free port."""
    work = folder / "work"
    shutil.copytree(ROOT / "notebooks", work / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copytree(SAMPLES, work / "sample_data")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={work}", "--ServerApp.port_retries=0"]
    command += [f"--LabApp.workspaces_dir={folder / 'workspaces'}", "--LabApp.news_url=None"]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(120):
                with suppress(OSError), urllib.request.urlopen(f"{url}/api?token={TOKEN}", timeout=2):  # noqa: S310
                    break
                time.sleep(0.5)
            yield url
        finally:
            server.terminate()
            server.wait(timeout=30)


def run_all(page: Any) -> None:  # noqa: ANN401 - Playwright's page
    """Run every cell, from the menu."""
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def read_through(page: Any) -> tuple[str, int]:  # noqa: ANN401 - Playwright's page
    """The texts of a notebook from top to bottom, and the most charts seen at once: only what is in sight is drawn."""
    panel = page.locator(".jp-NotebookPanel-notebook .jp-WindowedPanel-outer").first
    texts, charts = [], 0
    panel.evaluate("panel => panel.scrollTo(0, 0)")
    for _ in range(100):
        page.wait_for_timeout(300)
        texts.append(page.locator(".jp-Notebook").inner_text())
        charts = max(charts, page.locator(".jp-OutputArea-output canvas, .jp-OutputArea-output svg.marks").count())
        if panel.evaluate("panel => panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 5"):
            break
        panel.evaluate("panel => panel.scrollBy(0, 0.8 * panel.clientHeight)")
    return "\n".join(texts), charts


def test_upload_in_jupyterlab_offline(tmp_path: Path) -> None:
    """Three logs, one of 40 MB, are uploaded in JupyterLab without a network; charts and figures are of those logs."""
    big = tmp_path / "big.strace"
    lines = (SAMPLES / "captures/scattered_buffered_tt_T.strace").read_bytes()
    big.write_bytes(lines * (40 * 2**20 // len(lines) + 1))
    trace = SAMPLES / "captures/sequential_direct_tt_T.strace"
    report = SAMPLES / "articles/003_filesystemio_none.txt"
    with serve_lab(tmp_path) as url, open_browser() as (page, asked):
        page.goto(f"{url}/lab/tree/notebooks/00_start_here.ipynb?token={TOKEN}&reset", timeout=120_000)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
        page.get_by_text("| Idle").first.wait_for(timeout=120_000)
        run_all(page)
        page.wait_for_selector(".iolab-picker", timeout=120_000)
        page.get_by_text("| Idle").first.wait_for(timeout=120_000)
        with page.expect_file_chooser() as chooser:
            page.locator(".iolab-picker button").first.click()
        chooser.value.set_files([str(trace), str(report), str(big)])
        page.locator(".iolab-picker li.done").nth(2).wait_for(timeout=120_000)
        states = page.locator(".iolab-picker li .state").all_inner_texts()
        page.get_by_text("looks = {").first.click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run Selected Cell and All Below").click()
        page.get_by_text("sequential_direct_tt_T.strace: strace log").first.wait_for(timeout=180_000)
        page.get_by_text("| Idle").first.wait_for(timeout=180_000)
        page.wait_for_timeout(3000)
        page.screenshot(path=os.environ.get("IOLAB_SCREENSHOT", tmp_path / "lab.png"))
        text, charts = read_through(page)

    assert states[0].startswith("strace log, ")
    assert states[1] == "fragment report (text), 2 tables"
    assert states[2] == f"strace log, {big.stat().st_size / 2**20:,.0f} MiB"
    assert "avg_wait_ms: free buffer waits" in text
    assert charts >= 1
    assert outside(asked) == []


def test_exported_page_offline(tmp_path: Path) -> None:
    """A page about two logs draws its charts without a network, and runs no script that a log holds."""
    bad = tmp_path / "bad.strace"
    line = b"     0.000123 openat(3, \"<script>document.title='owned'</script>\", O_RDONLY) = 4\n"
    bad.write_bytes(line + b"     0.000200 <img src=x onerror=\"document.title='owned'\">\n")
    logs = [SAMPLES / "captures/async_direct_tt_T.strace", SAMPLES / "articles/003_filesystemio_none.txt", bad]

    failed = write_report(logs, tmp_path / "report.html")

    with open_browser() as (page, asked):
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("svg.marks", timeout=60_000)
        page.wait_for_timeout(1500)
        drawn = page.locator("figure.chart svg.marks").count()
        wanted = page.locator("figure.chart").count()
        title = page.title()
        text = page.locator("body").inner_text()
    assert failed == []
    assert (drawn, title.startswith("I/O evidence")) == (wanted, True)
    assert wanted >= 5
    assert "<script>document.title" in text or "<img src=x" in text
    assert outside(asked) == []
