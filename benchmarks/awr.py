"""How fast reports are read: MB/s and ratios against other readers of the same file in the same run.

Run it from the project's root: ``python benchmarks/awr.py [REPORT...]``.  Without arguments it takes the reports that
the tests made, repeated until they have the size of a real one.  Each figure is the processor time of the best of
several runs, so that other work on the machine counts little.  What two processes give by the clock wants a machine
with two idle processors; the ratio of processor times below it is what such a machine can give.
"""

from __future__ import annotations

import argparse
import io
import os
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from commands import target  # beside this file
from selectolax.lexbor import LexborHTMLParser

import awrparse
from awrparse.sniff import is_html

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
MADE = ROOT / "tests" / "awrparse" / "awr_data" / "valid"
RUNS = 7
#: The least MB/s of the typed tables of a text report.
TEXT_MB_PER_S = 16.0
#: A real HTML report has 0.3 to 2.1 MB, a text report about 0.2 MB.
HTML_BYTES, TEXT_BYTES = 1_000_000, 250_000
#: Copies that show what a second process gives have this size together: some seconds of work.
MANY_BYTES = 400_000_000
#: So often one process and two take turns.
TRIES = 2


def best(run: Callable[[], object]) -> float:
    """Processor seconds of the fastest of several runs."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def made_html(size: int = HTML_BYTES, rows: int = 150) -> bytes:
    """A page of many tables with the shape of a real report's; one is the top events, the others are of no canon."""
    row = "<tr><td class='awrnc'>db file sequential read</td><td align='right' class='awrnc'>{0:,}</td>"
    row += "<td align='right' class='awrnc'>1.25</td><td align='right' class='awrnc'>4.82ms</td>"
    row += "<td align='right' class='awrnc'>12.5</td><td class='awrnc'>User I/O</td></tr>\n"
    heads = "<tr><th>Event</th><th>Waits</th><th>Total Wait Time (sec)</th><th>Avg Wait</th>"
    heads += "<th>% DB time</th><th>Wait Class</th></tr>\n"
    body = "".join(map(row.format, range(rows)))
    table = "<h3>Orchard Events {0}</h3><table summary='t'>" + heads + body + "</table>\n"
    top = table.replace("Orchard Events {0}", "Top 10 Foreground Events by Total Wait Time")
    count = size // len(table)
    page = "<html><head><title>AWR Report for DB: A, Inst: a, Snaps: 1-2</title></head><body>"
    return (
        page + top + "".join(table.replace("{0}", str(number)) for number in range(count)) + "</body></html>"
    ).encode()


def made_text(size: int = TEXT_BYTES) -> bytes:
    """A text report with a section that repeats under other titles, its rows as many as in a real report."""
    text = (MADE / "awr_text_11204.txt").read_text(encoding="utf-8")
    start = text.index("\fForeground Wait Events")
    end = text.index("End of Report")
    lines = text[start:end].split("\n")
    ruler = next(number for number, line in enumerate(lines) if line.startswith("----"))
    below = next(number for number in range(ruler, len(lines)) if lines[number].startswith(" "))
    section = "\n".join([*lines[: ruler + 1], *lines[ruler + 1 : below] * 8, *lines[below:]])
    count = size // len(section)
    more = "".join(section.replace("Foreground Wait", f"Foreground {number} Wait") for number in range(count))
    return (text[:end] + more + text[end:]).encode()


def every_row(report: awrparse.AwrReport) -> int:
    """Cells of all tables, cut."""
    return sum(len(cells) for title in report.raw_tables for cells in report.raw_tables.cells(title))


def every_cell(text: str) -> list[str]:
    """The text of every cell of a page, by the HTML parser alone."""
    return [cell.text() for cell in LexborHTMLParser(text).css("td,th")]


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
    """`pandas.read_html` on the page, when pandas and one of its parsers are there; else says what is missing."""
    try:
        import pandas as pd  # noqa: PLC0415 - a reference, not a dependency

        pd.read_html(io.StringIO("<table><tr><td>1</td></tr></table>"))
    except ImportError as error:
        print(f"  pandas.read_html                     skipped: {error}")
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
    typed = best(lambda: awrparse.read_awr(data, printed=True).frames())
    limit = None if is_html(text) else TEXT_MB_PER_S
    verdict = target(size / typed, limit, is_least=True)
    print(f"  all typed tables with bounds         {typed * 1000:8.1f} ms {size / typed:7.1f} MB/s  {verdict}")
    if not is_html(text):
        return
    parsed = best(lambda: every_cell(text))
    print(
        f"  selectolax, text of every cell       {parsed * 1000:8.1f} ms {typed / parsed:7.1f} x as long, typed tables"
    )
    other = best(lambda: tokens(text))
    print(f"  html.parser, texts only              {other * 1000:8.1f} ms {other / rows:7.1f} x as long")
    if run := pandas_html(text):
        other = best(run)
        print(f"  pandas.read_html                     {other * 1000:8.1f} ms {other / rows:7.1f} x as long")


class _Times(NamedTuple):
    """What one call took, in seconds: by the clock, of this process, of the others together."""

    clock: float
    here: float
    others: float


def timed(folder: str, workers: int) -> _Times:
    """The times of reading all reports of a folder."""
    start, before = time.perf_counter(), os.times()
    awrparse.read_awrs(folder, table="top_events", workers=workers, progress=False)
    after = os.times()
    here = after.user + after.system - before.user - before.system
    others = after.children_user + after.children_system - before.children_user - before.children_system
    return _Times(time.perf_counter() - start, here, others)


def measure_many(reports: list[tuple[str, bytes]]) -> None:
    """Print what a second process gives on copies of the reports."""
    copies = max(1, MANY_BYTES // sum(len(data) for _, data in reports))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(copies):
            for place, (name, data) in enumerate(reports):
                (Path(folder) / f"{number:03}_{place:03}{Path(name).suffix}").write_bytes(data)
        rounds = [(timed(folder, 1), timed(folder, 2)) for _ in range(TRIES)]
    one, two = min(one.clock for one, _ in rounds), min(two.clock for _, two in rounds)
    alone, busier = min(one.here for one, _ in rounds), min(max(two.here, two.others) for _, two in rounds)
    size = copies * sum(len(data) for _, data in reports) / 1e6
    print(f"read_awrs, {copies * len(reports)} reports ({size:.0f} MB)")
    print(f"  by the clock                         one process {one:5.1f} s, two {two:5.1f} s {one / two:7.2f} x")
    print(f"  processor time, the busier one       one process {alone:5.1f} s, two {busier:5.1f} s", end=" ")
    print(f"{alone / busier:7.2f} x")


def main() -> None:
    """Measure the reports named, or made ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", nargs="*", type=Path, metavar="REPORT", help="a report; without one, made ones")
    paths = parser.parse_args().report
    reports = [(path.name, path.read_bytes()) for path in paths]
    reports = reports or [("made report.html", made_html()), ("made report.txt", made_text())]
    for name, data in reports:
        measure(name, data)
    measure_many(reports)


if __name__ == "__main__":
    main()
