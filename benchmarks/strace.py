"""How fast logs of strace are read: CPU seconds, as a multiple of what ``mawk '{print $1}'`` needs for the same log.

The logs are generated: distinct lines by the rules of the format (`strace_logs`).  Ours runs in this process, warm;
mawk (awk where it is missing) and wc are processes.  Of several interleaved rounds the least of each counts.  The
Python loop and stracetools read a part of the log, and their times are scaled to the whole.  `STRACE_PARSER` names
GitLab's strace-parser, a program in Rust, which is then run in turn with the others.

    python benchmarks/strace.py [--size MB] [--repeat N] [--fallback] [--short]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import polars as pl
import strace_logs  # beside this file
from commands import load, target

import straceparse
from logframe.native import engine

#: The expression of a script written for the purpose.
LINE = re.compile(
    r"^(?:(?P<pid>\d+) +)?(?P<time>[\d.]+ )?(?: *(?P<since>\d+\.\d+) )?(?P<name>\w+)\((?P<args>.*)\) += "
    r"(?P<result>-?\w+)(?: (?P<errno>E\w+) \((?P<text>.*?)\))?(?: <(?P<elapsed>[\d.]+)>)?$"
)
CUT = 4 << 20


def totals(log: Path) -> None:
    """Calls, errors and times of each system call."""
    straceparse.totals(straceparse.scan_strace(log))


def all_columns(log: Path) -> None:
    """Every column of every event."""
    straceparse.scan_strace(log).select(pl.all().null_count()).collect()


def calls(log: Path) -> None:
    """One row a system call, its halves joined."""
    straceparse.calls(straceparse.scan_strace(log)).select(pl.all().null_count()).collect()


def requests(log: Path) -> None:
    """One row an I/O request."""
    straceparse.io_requests(straceparse.calls(straceparse.scan_strace(log))).collect()


def command_line(log: Path) -> None:
    """The command, its start included."""
    subprocess.run([sys.executable, "-m", "straceparse", str(log)], stdout=subprocess.DEVNULL, check=True)


def summary(log: Path) -> None:
    """The summary of the log on a terminal, its start included."""
    subprocess.run([sys.executable, "-m", "iolab", "show", str(log)], stdout=subprocess.DEVNULL, check=True)


#: The logs: title -> its lines.
LOGS = {"-f -ttt -T": strace_logs.parallel_lines, "-r": strace_logs.relative_lines}
#: The log of asynchronous requests: its megabytes, which hold 100,000 requests, and the CPU seconds it may cost.
ASYNC_MB, ASYNC_S = 34, 0.8
#: What `iolab show` may cost of a log of so many bytes, in CPU seconds.
SHOW_BYTES, SHOW_S = 300_000_000, 3
#: What is measured on which log: title, log, work, the most it may cost in units of mawk.
WORK: tuple[tuple[str, str, Callable[[Path], None], float | None], ...] = (
    ("totals by name", "-f -ttt -T", totals, 1.9),
    ("all columns", "-f -ttt -T", all_columns, None),
    ("python -m straceparse", "-f -ttt -T", command_line, 2.6),
    ("calls", "-f -ttt -T", calls, 4.0),
    ("io_requests", "-f -ttt -T", requests, 5.0),
    ("iolab show", "-f -ttt -T", summary, None),
    ("totals by name", "-r", totals, None),
    ("all columns", "-r", all_columns, 3.0),
)


def cpu_of(call: Callable[[], object]) -> float:
    """CPU seconds of a call, of this process and of those it started."""
    before = os.times()
    call()
    return sum(os.times()[:4]) - sum(before[:4])


def command(*words: str) -> Callable[[], object]:
    """A command whose output goes nowhere."""
    return lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def re_loop(log: Path) -> None:
    """The fields of each line by a loop over one expression."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        sum(found is not None for found in map(LINE.match, lines))


def stracetools_loop(log: Path) -> None:
    """The fields of each line by the PyPI package stracetools."""
    from stracetools.parser import StraceParser  # noqa: PLC0415 - only this measurement needs it

    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        StraceParser().parse_file(str(log))  # it prints every line that it cannot read


def cut_of(log: Path) -> Path:
    """The first lines of a log."""
    path = log.with_name(f"cut-{log.name}")
    with log.open("rb") as whole:
        path.write_bytes(whole.read(CUT).rpartition(b"\n")[0] + b"\n")
    return path


def rows_of(title: str, log: Path, repeat: int) -> Iterator[tuple[str, float, str, str]]:
    """Rows for one log: what, CPU seconds, multiple of mawk where its time can be measured, the target."""
    awk = "mawk" if shutil.which("mawk") else "awk"
    works: dict[str, Callable[[], object]] = {
        f"{awk} '{{print $1}}'": command(awk, "{print $1}", str(log)),
        "wc -l": command("wc", "-l", str(log)),
    }
    if tool := os.environ.get("STRACE_PARSER"):
        works["strace-parser summary"] = command(tool, str(log), "summary")
    limits: dict[str, float | None] = {}
    for name, kind, work, limit in WORK:
        if kind == title:
            works[name] = lambda work=work: work(log)  # type: ignore[misc]
            limits[name] = limit
    for work in works.values():
        work()  # the page cache and the thread pool are warm for all
    found = dict.fromkeys(works, float("inf"))
    for _ in range(repeat):
        for name, work in works.items():
            found[name] = min(found[name], cpu_of(work))
    unit = next(iter(found.values()))
    for name, seconds in found.items():
        verdict = target(seconds / unit, limits.get(name)) if unit else ""
        if name == "iolab show":
            verdict = target(seconds, round(SHOW_S * log.stat().st_size / SHOW_BYTES, 2), "CPU-s")
        yield name, seconds, multiple(seconds, unit), verdict
    part = cut_of(log)
    scale = log.stat().st_size / part.stat().st_size
    for name, loop in (("Python re loop", re_loop), ("stracetools", stracetools_loop)):
        seconds = cpu_of(lambda loop=loop: loop(part)) * scale  # type: ignore[misc]
        yield name, seconds, multiple(seconds, unit), ""


def multiple(seconds: float, unit: float) -> str:
    """A time as a multiple of another; empty where that one is too short for the clock of the system."""
    return f"{seconds / unit:.2f}" if unit else ""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200, metavar="MB")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--fallback", action="store_true", help="without compiled code")
    parser.add_argument("--short", action="store_true", help="1 MB, once: whether it runs, not how fast")
    options = parser.parse_args()
    async_mb = ASYNC_MB
    if options.short:
        options.size = options.repeat = async_mb = 1
    if options.fallback:
        os.environ["IOLAB_KERNEL"] = "off"
    print(f"strace logs of {options.size} MB, {engine()}; {load()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, lines in LOGS.items():
            log = strace_logs.written_log(folder / "log.strace", options.size * 1_000_000, lines())
            print(f"{'strace ' + title:40} {'CPU-s':>8} {'x mawk':>8}")
            for what, seconds, ratio, verdict in rows_of(title, log, options.repeat):
                print(f"  {what:38} {seconds:8.3f} {ratio:>8}  {verdict}", flush=True)
        log = strace_logs.written_log(folder / "log.strace", async_mb * 1_000_000, strace_logs.asynchronous_lines())
        for what, work in (("wc -l", command("wc", "-l", str(log))), ("io_requests", lambda: requests(log))):
            work()
            seconds = min(cpu_of(work) for _ in range(options.repeat))
            limit = ASYNC_S if what == "io_requests" and not options.short else None
            print(f"  {f'{what}, asynchronous, {async_mb} MB':38} {seconds:8.3f}  {target(seconds, limit, 'CPU-s')}")
    print(load())


if __name__ == "__main__":
    main()
