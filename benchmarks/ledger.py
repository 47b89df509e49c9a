"""What the time ledgers of a log cost, from the file, and what reading every frame of it costs: CPU s, peak memory.

The logs are generated, with distinct lines: an strace log, an SQL trace, a folder of AWR reports, a spool of many
statements.  Each measurement runs in a process of its own, so that its peak memory is its own; imports are not counted.

    python benchmarks/ledger.py [--strace MB] [--trace MB] [--reports N] [--statements N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import strace_logs  # beside this file
from commands import load, target  # beside this file
from sqltrace import write_trace  # beside this file

ROOT = Path(__file__).parents[1]
#: The most that the ledgers may cost, in units of reading.
LIMIT = 1.2

#: Reads every log below a folder: its frames, or with ``ledger`` its ledgers; prints CPU seconds and the peak in MB.
MEASURE = """
import json, resource, sys
from pathlib import Path
import polars as pl
import iolab, iolab.time_ledger.run, iolab.views
for name in ("strace", "sqltrace", "awr", "sqlplus"):
    iolab.views.view_of(name)
what, folder = sys.argv[1:]
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
start = cpu()
for path in sorted(Path(folder).iterdir()):
    log = iolab.load(path)
    if what == "ledger":
        assert iolab.ledgers(log)
        continue
    for frame in log.frames().values():
        if isinstance(frame, pl.LazyFrame):
            frame.select(pl.all().null_count()).collect(engine="streaming")
print(json.dumps({"cpu": cpu() - start, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
"""


def measure(what: str, folder: Path) -> dict[str, float]:
    """CPU seconds and peak memory of all frames of a folder, or of its ledgers."""
    command = [sys.executable, "-c", MEASURE, what, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def write_spool(path: Path, statements: int) -> None:
    """A spool of many timed statements, each with a text of its own or one of a hundred that repeat."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(statements):
            text = f"exec work({number % 100 if number % 2 else number})"
            file.write(f"SQL> {text}\n\n{number:>10}\n\nElapsed: 00:00:{number % 60:02}.{number % 97:02}\n\n")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strace", type=int, default=300, metavar="MB")
    parser.add_argument("--trace", type=int, default=200, metavar="MB")
    parser.add_argument("--reports", type=int, default=200, metavar="N")
    parser.add_argument("--statements", type=int, default=200_000, metavar="N")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folders = {title: Path(name) / title for title in ("strace", "SQL trace", "reports", "spool")}
        for folder in folders.values():
            folder.mkdir()
        strace_logs.written_log(folders["strace"] / "a.strace", asked.strace * 1_000_000, strace_logs.parallel_lines())
        write_trace(folders["SQL trace"] / "a.trc", asked.trace * 1_000_000)
        samples = sorted((ROOT / "sample_data" / "awr_series").glob("awrrpt*"))
        for number in range(asked.reports):
            source = samples[number % len(samples)]
            (folders["reports"] / f"{number:04}{source.suffix}").write_bytes(source.read_bytes())
        write_spool(folders["spool"] / "a.lst", asked.statements)
        print(f"time ledgers; {load()}")
        print(f"{'':12} {'MB':>6} {'read, CPU s':>12} {'ledgers':>12} {'ratio':>6} {'peak MB':>9} {'of ledgers':>11}")
        for title, folder in folders.items():
            size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            read, account = measure("read", folder), measure("ledger", folder)
            ratio = account["cpu"] / read["cpu"]
            figures = f"{size:6.0f} {read['cpu']:12.1f} {account['cpu']:12.1f} {ratio:6.2f}"
            print(
                f"{title:12} {figures} {read['peak']:9.0f} {account['peak']:11.0f}  {target(ratio, LIMIT)}", flush=True
            )


if __name__ == "__main__":
    main()
