"""How fast extended SQL traces are read: MB/s of CPU time, and that time as a multiple of what awk needs.

The trace is written by the generator of the sample data, with distinct lines.  CPU time is that of this process and its
threads, imports not counted; awk is a process of its own.

    python benchmarks/sqltrace.py [--size MB]
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
from commands import load, target  # beside this file

import sqltraceparse

sys.path.insert(0, str(Path(__file__).parents[1] / "sample_data" / "make"))

#: Count and sum of each event, as a person writes it.
AWK = '/^WAIT #/{split($3, a, " "); n[$2]++; t[$2] += a[2]} END{for (e in n) print e, n[e], t[e]}'


#: The most that `scan_sqltrace` may cost, by awk, and the least MB/s of traces to Parquet.
SCAN_X_AWK, PARQUET_MB_PER_S = 1.5, 60.0
#: Of so many rounds the least time of awk and of the scan counts.
ROUNDS = 5


def write_trace(path: Path, size: int) -> None:
    """A trace of at least `size` bytes: sessions one after the other, each with its own history."""
    from make_sqltrace import trace  # noqa: PLC0415 - a script beside the samples

    with path.open("w", encoding="utf-8") as file:
        pid = 1_000
        while file.tell() < size:
            file.write(trace("disk" if pid % 2 else "flash", pid, datetime(2026, 3, 2, 21, tzinfo=UTC)).text)
            pid += 1


def cpu_of(who: int, call: Callable[[], object]) -> float:
    """CPU seconds that a call takes, of this process or of its children."""
    before = resource.getrusage(who)
    call()
    after = resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def waits_by_event(path: Path) -> None:
    """Count and sum of each event, lazily."""
    waits = sqltraceparse.scan_sqltrace(path).filter(pl.col("kind") == "wait")
    waits.group_by("event").agg(pl.len(), pl.col("elapsed_us").sum()).collect()


def frames_to_parquet(path: Path, folder: Path) -> None:
    """Every frame as a Parquet file."""
    for name, frame in sqltraceparse.read_sqltrace(path).frames().items():
        frame.write_parquet(folder / f"{name}.parquet")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=200, metavar="MB")
    size = parser.parse_args().size * 1_000_000
    print(f"an SQL trace of {size / 1e6:,.0f} MB; {load()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "a.trc"
        write_trace(path, size)
        size = path.stat().st_size
        command = ["awk", "-F'", AWK, str(path)]
        waits_by_event(path)  # the page cache and the thread pool are warm for all
        own, awk, scan = resource.RUSAGE_SELF, float("inf"), float("inf")
        for _ in range(ROUNDS):
            awk = min(
                awk,
                cpu_of(
                    resource.RUSAGE_CHILDREN, lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                ),
            )
            scan = min(scan, cpu_of(own, lambda: waits_by_event(path)))
        rows = (
            ("awk, sum of ela by event", awk, None, None),
            ("scan_sqltrace, the same", scan, SCAN_X_AWK, None),
            (
                "read_sqltrace, all frames to Parquet",
                cpu_of(own, lambda: frames_to_parquet(path, folder)),
                None,
                PARQUET_MB_PER_S,
            ),
            (
                "to_parquet, all frames",
                cpu_of(own, lambda: sqltraceparse.to_parquet(path, folder / "frames")),
                None,
                PARQUET_MB_PER_S,
            ),
            (
                "scan_sqltrace, sink_parquet",
                cpu_of(own, lambda: sqltraceparse.scan_sqltrace(path).sink_parquet(folder / "events.parquet")),
                None,
                None,
            ),
        )
        print(f"{'':40} {'MB/s':>8} {'x awk':>7}")
        for title, seconds, most, least in rows:
            verdict = target(seconds / awk, most, "x awk") or target(size / 1e6 / seconds, least, "MB/s", is_least=True)
            print(f"{title:40} {size / 1e6 / seconds:8.1f} {seconds / awk:7.2f}  {verdict}")
        print(f"peak memory {resource.getrusage(own).ru_maxrss // 1024:,} MB; {load()}")


if __name__ == "__main__":
    main()
