"""Memory of the kernel while a log of 400 MB is uploaded in JupyterLab by a real browser.

Starts JupyterLab and Chromium, puts one `iolab.LogPicker` into a notebook, chooses a file made of a capture in
``sample_data`` repeated, and samples the kernel's resident memory all the while.  The kernel's peak is also read after
its own reset of the mark, so that no sample can miss it.

    python benchmarks/upload.py [--size MB] [--limit MB]
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from iolab.lab.serving import serve_lab

CAPTURE = Path(__file__).parents[1] / "sample_data" / "captures" / "scattered_direct_f_ttt_T_y.strace"
TOKEN = "of-a-server-of-a-minute"  # noqa: S105 - it guards nothing
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
SOURCE = "import os, iolab\npicker = iolab.LogPicker()\nprint('kernel', os.getpid())\npicker"


def enlarged(size: int, folder: Path) -> Path:
    """A log of at least `size` bytes: the capture, repeated."""
    text = CAPTURE.read_bytes()
    path = folder / "big.strace"
    with path.open("wb") as log:
        while log.tell() < size:
            log.write(text * max(1, (1 << 22) // len(text)))
    return path


def write_notebook(path: Path) -> None:
    """A notebook with a field for uploads."""
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "source": SOURCE, "outputs": [], "execution_count": None}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


def memory_of(pid: int, field: str) -> float:
    """A line of /proc/PID/status in MB: VmRSS is what is resident, VmHWM the most that was."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) * 1024 / 1e6


class Sampler(threading.Thread):
    """Samples the resident memory of a process ten times a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.samples: list[float] = []
        self.ended = threading.Event()

    def run(self) -> None:
        """Sample until the end."""
        while not self.ended.wait(0.1):
            self.samples.append(memory_of(self.pid, "VmRSS"))


def open_notebook(page: Page, url: str) -> int:
    """Open the notebook and run it; the kernel's process."""
    page.goto(f"{url}/lab/tree/upload.ipynb?token={TOKEN}&reset", timeout=120_000)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    page.get_by_text("| Idle").first.wait_for(timeout=120_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_selector(".iolab-picker", timeout=120_000)
    printed = page.locator(".jp-OutputArea-output pre").first.inner_text()
    return int(printed.split()[1])


def measure(log: Path, folder: Path) -> Iterator[tuple[str, float, str]]:
    """Rows of the table: what, the figure, its unit."""
    write_notebook(folder / "upload.ipynb")
    with serve_lab(folder, folder, token=TOKEN) as url, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        page = browser.new_page()
        kernel = open_notebook(page, url)
        page.wait_for_timeout(2000)
        before = memory_of(kernel, "VmRSS")
        Path(f"/proc/{kernel}/clear_refs").write_text("5", encoding="utf-8")  # the peak begins anew
        sampler = Sampler(kernel)
        sampler.start()
        start = time.perf_counter()
        with page.expect_file_chooser() as chooser:
            page.locator(".iolab-picker button").first.click()
        chooser.value.set_files(str(log))
        page.locator(".iolab-picker progress[value]").first.wait_for()
        page.wait_for_function(
            "() => !document.querySelector('.iolab-picker progress')"
            " || document.querySelector('.iolab-picker progress').value"
            " >= 0.97 * document.querySelector('.iolab-picker progress').max",
            timeout=600_000,
        )
        moving = max(sampler.samples, default=before)
        page.locator(".iolab-picker li.done, .iolab-picker li.failed").first.wait_for(timeout=600_000)
        seconds = time.perf_counter() - start
        said = page.locator(".iolab-picker li .state").inner_text()
        page.wait_for_timeout(2000)
        sampler.ended.set()
        sampler.join()
        yield "kernel before", before, "MB"
        yield "kernel, most while pieces came", moving, "MB"
        yield "kernel, most until the log was recognised", memory_of(kernel, "VmHWM"), "MB"
        yield "kernel after", memory_of(kernel, "VmRSS"), "MB"
        yield f"upload ({said})", seconds, "s"
        browser.close()


def main() -> int:
    """Print the table; 1 if the kernel grew by more than the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=400, metavar="MB")
    parser.add_argument("--limit", type=int, default=60, metavar="MB", help="how much the kernel may grow")
    options = parser.parse_args()
    print(f"a log of {options.size} MB; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        rows = list(measure(enlarged(options.size * 1_000_000, folder), folder))
    for title, figure, unit in rows:
        print(f"{title:58} {figure:8.1f} {unit}")
    grown = rows[2][1] - rows[0][1]
    print(f"{'kernel, growth at its peak':58} {grown:8.1f} MB  <= {options.limit}")
    return int(grown > options.limit)


if __name__ == "__main__":
    sys.exit(main())
