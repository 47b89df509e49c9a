"""What commands cost on large input: CPU seconds and peak memory of each process, start included, beside the targets.

An strace log of 300 MB and one of 2 GB, their rows written as Parquet; a folder of hourly reports as one page, beside
what reading every frame of them takes; logs of each format with and without the compiled code.  Ours and what it is
compared with run in turn; of several rounds the least of each counts.

    python benchmarks/large.py [--reports N] [--repeat N] [--short]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import spool
import strace_logs
from awr import made_text
from commands import Cost, cost_of_python, load, target
from sqltrace import write_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
MB = 1_000_000
#: Bytes of the strace logs, and the most MB that a command may need of them.
TRACE_BYTES, TRACE_MB = (300 * MB, 2 << 30), (600, 660)
#: The most that the page of a folder may cost, by reading its reports, and by how much its memory may grow with four
#: times as many of them.
FOLDER_X_READING, FOLDER_X_MEMORY = 1.5, 1.1
#: Bytes of the logs that are read without compiled code, and the most it may cost, by the compiled.
SLOW_BYTES, SLOW_X_COMPILED = 20 * MB, 2.5

TO_PARQUET = "import sys, straceparse; straceparse.to_parquet(sys.argv[1], sys.argv[2])"
READ_ALL = """
import sys
from pathlib import Path
import iolab
for path in sorted(Path(sys.argv[1]).iterdir()):
    log = iolab.load(path)
    log.frames(), log.diagnostics
"""


def least(repeat: int, *works: Callable[[], Cost]) -> list[Cost]:
    """The least CPU seconds and memory of each work over some rounds, in which all are run in turn."""
    rounds = [[work() for work in works] for _ in range(repeat)]
    return [Cost(*map(min, zip(*costs, strict=True))) for costs in zip(*rounds, strict=True)]


def write_reports(folder: Path, count: int) -> Path:
    """So many text reports of one instance, hour after hour, each with figures of its own."""
    sys.path.insert(0, str(ROOT / "sample_data" / "make"))
    from make_awr_series import plan_hours, write_report  # noqa: PLC0415 - a script beside the samples

    folder.mkdir()
    hours = [hour for hour in plan_hours() if hour.startup == hour.startup.replace(day=30, month=8)]
    for number in range(count):
        hour = hours[number % len(hours)]
        later = timedelta(hours=number) - (hour.begin - hours[0].begin)
        snap = hours[0].begin_snap + number
        moved = hour._replace(
            begin_snap=snap, begin=hour.begin + later, end=hour.end + later, level=hour.level * (1 + number % 37 / 100)
        )
        (folder / f"awrrpt_1_{snap}_{snap + 1}.txt").write_text(write_report(moved, "text"), encoding="utf-8")
    return folder


#: The logs that are read without compiled code: title -> what writes one.
LOGS: dict[str, Callable[[Path, int], object]] = {
    "strace log": lambda path, size: strace_logs.written_log(path, size, strace_logs.parallel_lines()),
    "SQL trace": write_trace,
    "spool": lambda path, size: path.write_text(spool.session(40) * (size // len(spool.session(40)) + 1), "ascii"),
    "report": lambda path, size: path.write_bytes(made_text(size)),
}


def traces(folder: Path, scale: float) -> Iterator[tuple[str, str, str]]:
    """Rows of large strace logs: what, its figure, its target."""
    for size, most in zip(TRACE_BYTES, TRACE_MB, strict=True):
        log = strace_logs.written_log(folder / "log.strace", int(size * scale), strace_logs.parallel_lines())
        title = f"{log.stat().st_size / MB:,.0f} MB of strace"
        cost = cost_of_python("-m", "iolab", "show", str(log))
        yield f"iolab show, {title}", f"{cost.cpu_s:.2f} CPU-s, {cost.peak_mb} MB", target(cost.peak_mb, most, "MB")
    cost = cost_of_python("-c", TO_PARQUET, str(log), str(folder / "set"))
    yield f"to_parquet, {title}", f"{cost.cpu_s:.2f} CPU-s, {cost.peak_mb} MB", target(cost.peak_mb, TRACE_MB[0], "MB")
    log.unlink()


def pages(folder: Path, count: int, repeat: int) -> Iterator[tuple[str, str, str]]:
    """Rows of the page of a folder."""
    some, all_ = write_reports(folder / "some", count // 4), write_reports(folder / "all", count)
    page = str(folder / "page.html")
    of_some, of_all, reading = least(
        repeat,
        lambda: cost_of_python("-m", "iolab", "report", str(some), "-o", page),
        lambda: cost_of_python("-m", "iolab", "report", str(all_), "-o", page),
        lambda: cost_of_python("-c", READ_ALL, str(all_)),
    )
    ratio, growth = of_all.cpu_s / reading.cpu_s, of_all.peak_mb / of_some.peak_mb
    title = f"{count} reports as one page"
    figure = f"{of_all.cpu_s:.1f} CPU-s, {ratio:.2f} times reading"
    yield title, figure, target(ratio, FOLDER_X_READING, "times")
    figure = f"{of_all.peak_mb} MB, {growth:.2f} times of {count // 4}"
    yield title, figure, target(growth, FOLDER_X_MEMORY, "times")


def without_kernel(folder: Path, size: int, repeat: int) -> Iterator[tuple[str, str, str]]:
    """Rows of the way that needs no compiled code."""
    for title, write in LOGS.items():
        log = folder / "log"
        write(log, size)
        words = "-m", "iolab", "show", str(log)
        fast, slow = least(
            repeat,
            lambda words=words: cost_of_python(*words),  # type: ignore[misc]
            lambda words=words: cost_of_python(*words, IOLAB_KERNEL="off"),  # type: ignore[misc]
        )
        ratio = slow.cpu_s / fast.cpu_s
        figure = f"{slow.cpu_s:.2f} CPU-s, {ratio:.2f} times compiled"
        yield f"show without compiled code, {title}", figure, target(ratio, SLOW_X_COMPILED, "times")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reports", type=int, default=600, metavar="N")
    parser.add_argument("--repeat", type=int, default=2, metavar="N")
    parser.add_argument("--short", action="store_true", help="small logs, once: whether it runs, not what it costs")
    options = parser.parse_args()
    scale = 1.0
    if options.short:
        options.repeat, options.reports, scale = 1, 8, 0.001
    print(f"large input; {load()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (
            traces(folder, scale),
            pages(folder, options.reports, options.repeat),
            without_kernel(folder, int(SLOW_BYTES * scale), options.repeat),
        )
        for row in (row for some in rows for row in some):
            print(f"{row[0]:44} {row[1]:36} {row[2]}", flush=True)


if __name__ == "__main__":
    main()
