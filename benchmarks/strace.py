"""How fast logs of strace are read: MB/s, and the time as a multiple of what awk needs for the same file.

Large logs are made from the real captures in ``sample_data``, repeated.  Ours runs in this process, imports not
counted; awk and wc are processes.  The Python loop and stracetools get a cut of the log; their times are scaled to the
whole.

    python benchmarks/strace.py [--size MB] [--repeat N] [--memory]
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import polars as pl

import straceparse

CAPTURES = Path(__file__).parents[1] / "sample_data" / "captures"
#: The expression of a script written for the purpose.
LINE = re.compile(
    r"^(?:(?P<pid>\d+) +)?(?P<time>[\d.]+ )?(?: *(?P<since>\d+\.\d+) )?(?P<name>\w+)\((?P<args>.*)\) += "
    r"(?P<result>-?\w+)(?: (?P<errno>E\w+) \((?P<text>.*?)\))?(?: <(?P<elapsed>[\d.]+)>)?$"
)
CUT = 8 << 20


def totals_per_syscall(log: Path) -> None:
    """Calls and time of each system call."""
    straceparse.totals(straceparse.scan_strace(log))


def all_columns(log: Path) -> None:
    """Every column of every event."""
    straceparse.scan_strace(log).select(pl.all().null_count()).collect()


def requests(log: Path) -> None:
    """One row an I/O request."""
    straceparse.io_requests(straceparse.calls(straceparse.scan_strace(log))).collect()


#: What is measured on which capture: title, capture, work, the most it may cost in units of awk.
WORK: tuple[tuple[str, str, Callable[[Path], None], float], ...] = (
    ("calls and time per syscall, -f -ttt -T", "scattered_direct_f_ttt_T_y", totals_per_syscall, 1.0),
    ("all events columns, -r", "scattered_buffered_r", all_columns, 3.0),
    ("io_requests, mostly pread64, -tt -T", "sequential_direct_tt_T", requests, 6.0),
)


def enlarged(capture: str, size: int, folder: Path) -> Path:
    """A log of at least `size` bytes: the capture, repeated."""
    text = (CAPTURES / f"{capture}.strace").read_bytes()
    path = folder / f"{capture}-{size >> 20}.strace"
    with path.open("wb") as log:
        while log.tell() < size:
            log.write(text * max(1, (1 << 22) // len(text)))
    return path


def cut_of(log: Path, folder: Path) -> Path:
    """The first lines of a log."""
    path = folder / f"cut-{log.name}"
    with log.open("rb") as whole:
        path.write_bytes(whole.read(CUT).rpartition(b"\n")[0] + b"\n")
    return path


def best_of(repeat: int, call: Callable[[], object]) -> float:
    """The shortest of several wall times, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


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


def table(size: int, repeat: int, folder: Path) -> Iterator[tuple[str, float, float, str]]:
    """Rows of the table: what, MB/s, multiple of awk, the limit."""
    for title, capture, work, limit in WORK:
        log = enlarged(capture, size, folder)
        megabytes = log.stat().st_size / 1e6
        work(log)  # the page cache and the thread pool are warm for all
        awk = best_of(repeat, command("awk", "{print $1}", str(log)))
        yield f"awk '{{print $1}}' ({capture})", megabytes / awk, 1.0, ""
        wc = best_of(repeat, command("wc", "-l", str(log)))
        yield "wc -l", megabytes / wc, wc / awk, ""
        ours = best_of(repeat, lambda work=work, log=log: work(log))  # type: ignore[misc]
        yield title, megabytes / ours, ours / awk, f"<= {limit}"
        cut = cut_of(log, folder)
        scale = log.stat().st_size / cut.stat().st_size
        for name, loop in (("Python re loop", re_loop), ("stracetools", stracetools_loop)):
            seconds = best_of(1, lambda loop=loop, cut=cut: loop(cut)) * scale  # type: ignore[misc]
            yield name, megabytes / seconds, seconds / awk, ""
        log.unlink()


def peak_of_parquet(log: Path, folder: Path) -> int:
    """Peak memory, in MB, of a process that writes the log to Parquet."""
    code = "import sys, straceparse; straceparse.to_parquet(sys.argv[1], sys.argv[2])"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    subprocess.run([sys.executable, "-c", code, str(log), str(folder / f"set-{log.stem}")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(before, after) // 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200, metavar="MB")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument(
        "--memory", action="store_true", help="peak memory of to_parquet for 1 and 2 GB (takes minutes)"
    )
    options = parser.parse_args()
    print(f"strace logs of {options.size} MB; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'':58} {'MB/s':>8} {'x awk':>7}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, speed, ratio, limit in table(options.size * 1_000_000, options.repeat, folder):
            print(f"{title:58} {speed:8.1f} {ratio:7.2f}  {limit}", flush=True)
        if options.memory:
            for gigabytes in (1, 2):
                log = enlarged("scattered_direct_f_ttt_T_y", gigabytes << 30, folder)
                print(f"to_parquet, {gigabytes} GB: {peak_of_parquet(log, folder)} MB at its peak  <= 800", flush=True)
                log.unlink()
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
