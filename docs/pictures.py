"""Makes the pictures of the README with a browser: ``python docs/pictures.py``.

terminal.png   `iolab show` of a report
page.png       the head of the page of that report
notebook.png   a notebook in JupyterLab
"""

import html
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import open_browser  # noqa: E402 - beside the tests

from iolab.lab.copies import copy_lab  # noqa: E402
from iolab.lab.serving import serve_lab  # noqa: E402

REPORT = "sample_data/one_case/awrrpt_1_881_882.txt"
TOKEN = "".join(str(digit) for digit in range(8))
COMMAND = f"iolab show {REPORT}"
STYLE = "margin:0;padding:18px;background:#10151B;color:#E5EAEF;font:13px/1.35 'DejaVu Sans Mono',monospace"


def terminal(page: Page) -> None:
    """The screen of a terminal, as text."""
    command = [sys.executable, "-m", "iolab", *COMMAND.split()[1:]]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    page.set_viewport_size({"width": 960, "height": 200})
    page.set_content(f'<pre style="{STYLE}">$ {html.escape(COMMAND)}\n{html.escape(printed)}</pre>')
    page.locator("pre").screenshot(path=ROOT / "docs" / "terminal.png")


def report(page: Page, folder: Path) -> None:
    """The head of a page."""
    out = folder / "report.html"
    command = [sys.executable, "-m", "iolab", "report", REPORT, "-o", out]
    subprocess.run(command, cwd=ROOT, check=True)
    page.set_viewport_size({"width": 1100, "height": 900})
    page.goto(out.as_uri())
    page.screenshot(path=ROOT / "docs" / "page.png")


def notebook(page: Page, folder: Path) -> None:
    """A notebook with its answer and its chart, as JupyterLab shows it."""
    copied, settings = folder / "lab", folder / "settings"
    settings.mkdir()
    copy_lab(copied)
    with serve_lab(copied, settings, token=TOKEN) as url:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"{url}/lab/tree/notebooks/01_direct_or_buffered.ipynb?token={TOKEN}")
        page.locator(".jp-RenderedVegaCommon5 canvas, .jp-RenderedVegaCommon5 svg").first.wait_for(timeout=60_000)
        page.wait_for_timeout(3_000)
        page.screenshot(path=ROOT / "docs" / "notebook.png")


def main() -> None:
    """Make all three."""
    with tempfile.TemporaryDirectory() as name, open_browser() as (page, _):
        terminal(page)
        report(page, Path(name))
        notebook(page, Path(name))


if __name__ == "__main__":
    main()
