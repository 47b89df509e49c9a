"""Logs of extreme sizes: CPU time and peak memory of a command on each, and how both grow with the size.

Each log is made at a quarter of its size, too.  An exponent of 1 is a cost in proportion to the size; 0 is none at all.

    python benchmarks/extremes.py [--scale 0.1] [--only WORD]
"""

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

import awr
import spool
import strace_logs
from commands import cost_of_python, load

MB = 1_000_000
#: Each log is measured at its size and at one so many times smaller.
SMALLER = 4
SHOW = ("-m", "iolab", "show")
TOTALS = ("-m", "straceparse")


def report(path: Path, size: int) -> None:
    """A report of HTML with many rows in each table."""
    path.write_bytes(awr.made_html(size, rows=3000))


def tables(path: Path, size: int) -> None:
    """A report of HTML with thousands of tables."""
    path.write_bytes(awr.made_html(size))


def long_results(path: Path, size: int) -> None:
    """A spool of queries with a thousand rows each, their plans and statistics."""
    text = spool.session(1000)
    with path.open("w", encoding="ascii") as file:
        for _ in range(size // len(text) + 1):
            file.write(text)


def short_queries(path: Path, size: int) -> None:
    """A spool of different queries of one row each."""
    path.write_text(spool.short_statements(size // 141), encoding="ascii")


def calls(pids: Iterator[int]) -> Iterator[str]:
    """One read a line, of these processes."""
    for number, pid in enumerate(pids):
        clock = f"{1_795_253_115 + number // 5_000}.{number % 5_000 * 200:06d}"
        spent = f"<0.000{number % 900 + 99:03d}>"
        yield f'{pid} {clock} pread64(256, "\\6\\242\\0\\0"..., 8192, {8192 * number}) = 8192 {spent}\n'


def processes(path: Path, size: int) -> None:
    """A trace of so many processes, one call each."""
    with path.open("w", encoding="ascii") as file:
        file.writelines(islice(calls(count(1)), size))


def long_line(path: Path, size: int) -> None:
    """A trace with one line of so many bytes among others."""
    lines = calls(1 + number % 9 for number in count())
    with path.open("w", encoding="ascii") as file:
        file.writelines(islice(lines, 20_000))
        file.write('7 1795253119.000000 write(1, "')
        for _ in range(size // MB):
            file.write("0123456789" * (MB // 10))
        file.write('", 4096) = 4096 <0.000123>\n')
        file.writelines(islice(lines, 20_000))


def files(path: Path, size: int) -> None:
    """A set of so many files (``-ff``) of fifty calls each."""
    path.mkdir()
    lines = (line.partition(" ")[2] for line in calls(count()))
    for pid in range(1, size + 1):
        (path / f"trace.{pid}").write_text("".join(islice(lines, 50)), encoding="ascii")


def trace(path: Path, size: int) -> None:
    """A trace of several processes with distinct lines."""
    strace_logs.written_log(path, size, strace_logs.parallel_lines())


class Extreme(NamedTuple):
    """A log of an extreme size, and what is run on it."""

    title: str
    size: int
    unit: str
    write: Callable[[Path, int], None]
    words: tuple[str, ...]


EXTREMES = (
    Extreme("report of HTML, show", 200 * MB, "bytes", report, SHOW),
    Extreme("report of 9,000 tables, show", 200 * MB, "bytes", tables, SHOW),
    Extreme("spool of long results, show", 500 * MB, "bytes", long_results, SHOW),
    Extreme("spool of short queries, show", 125 * MB, "bytes", short_queries, SHOW),
    Extreme("process ids, totals", 1_000_000, "processes", processes, TOTALS),
    Extreme("process ids, show", 1_000_000, "processes", processes, SHOW),
    Extreme("one long line, totals", 500 * MB, "bytes", long_line, TOTALS),
    Extreme("one long line, show", 500 * MB, "bytes", long_line, SHOW),
    Extreme("files of a set, totals", 20_000, "files", files, TOTALS),
    Extreme("files of a set, show", 20_000, "files", files, SHOW),
    Extreme("strace log, totals", 5_000 * MB, "bytes", trace, TOTALS),
)


def main() -> None:
    """Make the logs, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="make logs of so many times the size")
    parser.add_argument("--only", default="", metavar="WORD", help="only logs whose title has this word")
    options = parser.parse_args()
    print(f"{load()}")
    print(f"{'log':<30} {'size':>13} {'':<10} {'CPU-s':>8} {'MB':>7}   growth of time, of memory")
    for extreme in EXTREMES:
        if options.only in extreme.title:
            large = max(int(extreme.size * options.scale), SMALLER)
            costs = []
            for size in (large // SMALLER, large):
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "log"
                    extreme.write(path, size)
                    costs.append(cost_of_python(*extreme.words, str(path)))
            grown = [math.log(after / before, SMALLER) for before, after in zip(*costs, strict=True)]
            seconds, peak = costs[-1]
            print(
                f"{extreme.title:<30} {large:13,} {extreme.unit:<10} {seconds:8.1f} {peak:7,}   "
                f"{grown[0]:5.2f} {grown[1]:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
