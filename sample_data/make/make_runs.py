"""Writes the sample runs: 31 timed runs each of buffered, direct and asynchronous reads, in turn.

    python3 sample_data/make/make_runs.py

Needs ``cc`` and ``libaio-dev``, and the right to create ``/u01``. A run is a whole process, from its start to its end,
timed by the monotonic clock, and written as SQLcl writes a timed command: hours, minutes, seconds, and
milliseconds cut off. The three kinds of read take turns, so that a change of the machine meets all three.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from data_files import NAMES, drop_from_page_cache, make_data_files

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = Path(__file__).resolve().parent.parent / "runs"
N = 31
READS = 2000
MEBIBYTES = 1024
KINDS = {"buffered": ["scattered"], "direct": ["scattered", "--direct"], "asynchronous": ["async", "--direct"]}

HEADING = """\
SQL> REMARK {n} runs each of buffered, direct and asynchronous reads, in turn; 2 files of {mebibytes} MiB.
SQL> REMARK Buffered: pread through the page cache. Direct: pread, O_DIRECT. Asynchronous: libaio, O_DIRECT.
SQL> REMARK Cache state: {state}
SQL> REMARK Machine: {cpus} CPUs, load average {low:.2f} to {high:.2f} during the runs, of which the run is about 1.

"""
COLD = "cold; the files are dropped from the page cache before every run. Caches below: unknown."
WARM = "warm; the files stay in the page cache, which direct reads pass by. Caches below: unknown."


def format_elapsed(nanoseconds: int) -> str:
    """An elapsed time as SQLcl prints it; what is less than a millisecond is cut off.

    Examples:
        >>> format_elapsed(61_234_999_999)
        '00:01:01.234'
    """
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}.{rest // 1_000_000:03}"


def time_command(command: list[str], folder: Path) -> int:
    """The nanoseconds that *command* took."""
    start = time.monotonic_ns()
    subprocess.run(command, check=True, cwd=folder, env={})
    return time.monotonic_ns() - start


def run_in_turn(folder: Path, *, cold: bool) -> Iterator[tuple[str, float]]:
    """Each run as logged and the load average after it; one run of each kind goes before and is not timed."""
    commands = [["./reader", *mode, "--count", str(READS), *NAMES] for mode in KINDS.values()]
    for command in commands:
        subprocess.run(command, check=True, cwd=folder, env={})
    for _ in range(N):
        for command in commands:
            if cold:
                drop_from_page_cache(folder)
            elapsed = time_command(command, folder)
            logged = f"SQL> host {' '.join(command)}\n\nElapsed: {format_elapsed(elapsed)}\n\n"
            yield logged, os.getloadavg()[0]


def main() -> None:
    """Writes both logs: with the files dropped from the page cache before every run, and with them left there."""
    RUNS.mkdir(exist_ok=True)
    with make_data_files(MEBIBYTES) as folder:
        for name, state in (("buffered_direct_async.txt", COLD), ("buffered_direct_async_warm.txt", WARM)):
            logged, loads = zip(*run_in_turn(folder, cold=state == COLD), strict=True)
            machine = {"cpus": os.cpu_count(), "low": min(loads), "high": max(loads)}
            heading = HEADING.format(n=N, mebibytes=MEBIBYTES, state=state, **machine)
            (RUNS / name).write_text(heading + "".join(logged), encoding="utf-8", newline="\n")
            print(name)


if __name__ == "__main__":
    main()
