"""What a command costs on a small log, its start included: CPU seconds beside the targets and `import polars`.

The commands and the import of Polars, their floor, are run in turn; of several rounds the least of each counts.

    python benchmarks/start.py [--repeat N]
"""

import argparse
import os
import tempfile
from pathlib import Path

from commands import cost_of_python, target

SAMPLES = Path(__file__).parents[1] / "sample_data"
LOGS = (
    "awr_series/awrrpt_1_4102_4103.txt",
    "captures/async_direct_tt_T.strace",
    "sqltrace/orders_disk_ora_4890.trc",
    "articles/002_linux.txt",
    "host/iostat.out",
)
#: The CPU seconds that a command may take.
SHOW_S, PAGE_S = 0.35, 0.8


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    options = parser.parse_args()
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        page = str(Path(folder) / "page.html")
        works: dict[str, tuple[tuple[str, ...], float | None]] = {"import polars": (("-c", "import polars"), None)}
        for log in LOGS:
            path = str(SAMPLES / log)
            works[f"iolab show {Path(log).name}"] = ("-m", "iolab", "show", path), SHOW_S
            works[f"iolab report {Path(log).name}"] = ("-m", "iolab", "report", path, "-o", page), PAGE_S
        found = dict.fromkeys(works, float("inf"))
        for _ in range(options.repeat + 1):  # the first round writes the caches
            for name, (words, _) in works.items():
                found[name] = min(found[name], cost_of_python(*words).cpu_s)
    print(f"{'command':48} {'CPU-s':>7}  target")
    for name, seconds in found.items():
        print(f"{name:48} {seconds:7.3f}  {target(seconds, works[name][1])}")


if __name__ == "__main__":
    main()
