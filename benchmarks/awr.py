"""How fast reports are read: MB/s and ratios against other readers of the same file in the same run.

Run it from the project's root: ``python benchmarks/awr.py [REPORT...]``.  Without arguments it takes the reports that
the tests made, repeated until they have the size of a real one.  Each figure is the processor time of the best of
several runs, so that other work on the machine counts little; only the last, of two processes, is by the clock and
wants a machine with two idle processors.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import awrparse
from awrparse.sniff import is_html

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
MADE = ROOT / "tests" / "awrparse" / "awr_data" / "valid"
RUNS = 7
#: A real HTML report has 0.3 to 2.1 MB, a text report about 0.2 MB.
HTML_BYTES, TEXT_BYTES = 1_000_000, 250_000
#: So many copies show what a second process gives.
MANY = 60


def best(run: Callable[[], object]) -> float:
    """Processor seconds of the fastest of several runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def made_html() -> bytes:
    """A page of many tables with the shape of a real report's."""
    row = "<tr><td class='awrnc'>db file sequential read</td><td align='right' class='awrnc'>{0:,}</td>"
    row += "<td align='right' class='awrnc'>1.25</td><td align='right' class='awrnc'>4.82ms</td>"
    row += "<td align='right' class='awrnc'>12.5</td><td class='awrnc'>User I/O</td></tr>\n"
    heads = "<tr><th>Event</th><th>Waits</th><th>Total Wait Time (sec)</th><th>Avg Wait</th>"
    heads += "<th>% DB time</th><th>Wait Class</th></tr>\n"
    body = "".join(map(row.format, range(150)))
    table = "<h3>Top {0} Foreground Events by Total Wait Time</h3><table summary='t'>" + heads + body + "</table>\n"
    count = HTML_BYTES // len(table)
    page = "<html><head><title>AWR Report for DB: A, Inst: a, Snaps: 1-2</title></head><body>"
    return (page + "".join(table.replace("{0}", str(number)) for number in range(count)) + "</body></html>").encode()


def made_text() -> bytes:
    """A text report whose sections repeat under other titles."""
    text = (MADE / "awr_text_11204.txt").read_text(encoding="utf-8")
    start = text.index("\fForeground Wait Events")
    end = text.index("End of Report")
    section = text[start:end]
    count = TEXT_BYTES // len(section)
    more = "".join(section.replace("Foreground Wait", f"Foreground {number} Wait") for number in range(count))
    return (text[:end] + more + text[end:]).encode()


def every_row(report: awrparse.AwrReport) -> int:
    """Cells of all tables, cut."""
    return sum(len(cells) for title in report.found for cells in report.found.cells(title))


class _Tokens(HTMLParser):
    """The standard library's tokenizer alone, keeping the texts of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []

    def handle_data(self, data: str) -> None:
        """Text."""
        self.cells.append(data)


def tokens(text: str) -> None:
    """All text of a page by the standard library."""
    reader = _Tokens()
    reader.feed(text)


def pandas_html(text: str) -> Callable[[], object] | None:
    """`pandas.read_html` on the page, when pandas and one of its parsers are there."""
    try:
        import pandas as pd  # noqa: PLC0415 - a reference, not a dependency

        pd.read_html(io.StringIO("<table><tr><td>1</td></tr></table>"))
    except ImportError as error:
        print(f"  pandas.read_html: not measured ({error})")
        return None
    return lambda: pd.read_html(io.StringIO(text))


def measure(name: str, data: bytes) -> None:
    """Print the figures of one report."""
    size = len(data) / 1e6
    text = data.decode("utf-8", errors="replace")
    read = best(lambda: awrparse.read_awr(data))
    rows = best(lambda: every_row(awrparse.read_awr(data)))
    print(f"{name} ({size:.2f} MB)")
    print(f"  read_awr, tables found               {read * 1000:8.1f} ms {size / read:7.1f} MB/s")
    print(f"  read_awr, every cell of every table  {rows * 1000:8.1f} ms {size / rows:7.1f} MB/s")
    if not is_html(text):
        return
    other = best(lambda: tokens(text))
    print(f"  html.parser, texts only              {other * 1000:8.1f} ms {other / rows:7.1f} x as long")
    if run := pandas_html(text):
        other = best(run)
        print(f"  pandas.read_html                     {other * 1000:8.1f} ms {other / rows:7.1f} x as long")


def measure_many(data: bytes) -> None:
    """Print what a second process gives."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(MANY):
            (Path(folder) / f"{number:03}.html").write_bytes(data)
        times = {}
        for workers in (1, 2):
            start = time.perf_counter()
            awrparse.read_awrs(folder, table="top_events", workers=workers, progress=False)
            times[workers] = time.perf_counter() - start
    print(f"read_awrs, {MANY} reports: one process {times[1]:.1f} s, two {times[2]:.1f} s: {times[1] / times[2]:.2f} x")


def main() -> None:
    """Measure the reports named, or made ones."""
    reports = [(Path(name).name, Path(name).read_bytes()) for name in sys.argv[1:]]
    for name, data in reports or [("made HTML report", made_html()), ("made text report", made_text())]:
        measure(name, data)
    measure_many(made_html())


if __name__ == "__main__":
    main()
