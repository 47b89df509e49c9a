"""How fast sessions are read: MB a CPU second by `read_spool`, beside what the same file costs others in the same run.

Large spools are made: of long results (as most large spools are), and of many short statements with their plans and
statistics.  The largest real spools are measured too, where they lie beside the project, each repeated to a few MB.

    python benchmarks/spool.py [--size MB] [--repeat N]
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from commands import target  # beside this file

from sqlplusparse import read_spool
from sqlplusparse.autotrace import AUTOTRACE_NAMES

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("IOLAB_CORPUS", ROOT.parent / "shared" / "corpus")) / "sqlplus"
#: What a script written for the purpose would look for.
LINES = re.compile(
    r"^\s*(?P<label>[^\W\d][^\d:\n|='\"(\[]{1,18}?) ?:[ \t]+(?P<h>\d{2,}) ?: ?(?P<m>[0-5]\d) ?: ?(?P<s>[0-5]\d\.\d\d)"
    r"|^\s*(?P<count>\d+)\s+(?P<name>recursive calls|db block gets|consistent gets|physical reads|rows processed)"
    r"|^Plan hash value: (?P<hash>\d+)|^SQL> (?P<text>.*)|^(?P<rows>\d+) rows? selected"
)
#: The microseconds that a short statement of a large spool may cost.
SHORT_US = 15


def session(rows: int) -> str:
    """One traced and timed query with so many rows of result."""
    grid = "".join(f"{'APP':<20} {f'OBJECT_{row * 37}':<40} {row * 991:>10} 02-MAY-13\n" for row in range(rows))
    rule = "-" * 79
    operations = ("SELECT STATEMENT", " SORT ORDER BY", "  TABLE ACCESS FULL")
    plan = "".join(
        f"|   {place} | {name:<19}| T    |  109K |  2131K| 29625   (1)| 00:00:02 |\n"
        for place, name in enumerate(operations)
    )
    statistics = "".join(f"{place * 117:>11}  {name}\n" for place, name in enumerate(AUTOTRACE_NAMES))
    ruler = f"{'-' * 20} {'-' * 40} {'-' * 10} ---------"
    lines = [
        "SQL> select owner, object_name, object_id, created from t where owner = 'APP'",
        "  2  order by object_id;",
        "",
        f"{'OWNER':<20} {'OBJECT_NAME':<40} {'OBJECT_ID':>10} CREATED",
        ruler,
        grid,
        f"{rows} rows selected.\n\nElapsed: 00:00:01.23\n\nExecution Plan\n{'-' * 58}\nPlan hash value: 2287326370\n",
        f"{rule}\n| Id  | Operation          | Name | Rows  | Bytes | Cost (%CPU)| Time     |\n{rule}",
        f"{plan}{rule}\n\n",
        f"Statistics\n{'-' * 58}\n{statistics}\n",
    ]
    return "\n".join(lines)


def short_statements(count: int) -> str:
    """So many different queries of one row each, timed."""
    return "".join(
        f"SQL> select sum(blocks) s from t{number};\n\n{'S':>10}\n{'-' * 10}\n{number * 991:>10}\n\n"  # noqa: S608
        f"1 row selected.\n\nElapsed: 00:00:{number // 100 % 60:02d}.{number % 100:02d}\n"
        for number in range(count)
    )


def re_loop(path: Path) -> None:
    """The lines of interest by a loop over one expression."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        sum(found is not None for found in map(LINES.match, lines))


def cpu_seconds() -> float:
    """CPU time of this process and its commands: on a shared machine it says more than the wall clock."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def best_of(repeat: int, call: Callable[[], object]) -> float:
    """The shortest of several CPU times, in seconds."""
    times = []
    for _ in range(repeat):
        start = cpu_seconds()
        call()
        times.append(cpu_seconds() - start)
    return max(min(times), 1e-6)


def measure(name: str, path: Path, repeat: int) -> None:
    """One line of the table."""
    size = path.stat().st_size / 1e6
    reading = best_of(repeat, lambda: read_spool(path))
    plans = best_of(repeat, lambda: read_spool(path).plans)
    loop = best_of(repeat, lambda: re_loop(path))
    wc = best_of(repeat, lambda: subprocess.run(["wc", "-l", path], stdout=subprocess.DEVNULL, check=True))
    awk = best_of(repeat, lambda: subprocess.run(["awk", "{print $1}", path], stdout=subprocess.DEVNULL, check=True))
    print(
        f"{name:<28} {size:6.1f} MB {size / reading:7.1f} MB/s {size / plans:7.1f} MB/s   "
        f"{reading / loop:6.1f}x {reading / awk:6.1f}x {reading / wc:6.1f}x"
    )


def main() -> int:
    """Make the spools, measure, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--size", type=float, default=10, help="MB of each spool (default 10)")
    parser.add_argument("--repeat", type=int, default=3, help="times to measure; the shortest counts (default 3)")
    options = parser.parse_args()
    print(f"{'spool':<28} {'size':>9} {'read_spool':>12} {'with plans':>12}   {'re loop':>7} {'awk':>7} {'wc -l':>7}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spool.log"
        for name, rows in (("results of 1000 rows", 1000), ("40 rows a statement", 40), ("1 row a statement", 1)):
            text = session(rows)
            path.write_text(text * int(options.size * 1e6 / len(text)), encoding="utf-8")
            measure(name, path, options.repeat)
        text = short_statements(int(options.size * 7000))
        path.write_text(text, encoding="utf-8")
        measure("short statements", path, options.repeat)
        each = best_of(options.repeat, lambda: read_spool(path)) / int(options.size * 7000) * 1e6
        print(f"one short statement of many: {each:.1f} us  {target(each, SHORT_US)}")
        path.write_text(short_statements(1), encoding="utf-8")
        small = best_of(options.repeat, lambda: [read_spool(path) for _ in range(100)]) / 100
        path.write_text(text[:1_000_000], encoding="utf-8")
        loop = best_of(options.repeat, lambda: re_loop(path))
        print(f"one short statement alone: {small * 1e3:.2f} ms, {small / loop:.3f} of the re loop over 1 MB")
        if not CORPUS.is_dir():
            print("(the real spools beside the project are missing; IOLAB_CORPUS names their folder)")
            return 0
        spools = [real for pattern in ("*.log", "*.LST", "*.lst") for real in CORPUS.rglob(pattern)]
        for real in sorted(spools, key=lambda real: real.stat().st_size, reverse=True)[:5]:
            data = real.read_bytes()
            path.write_bytes(data * max(1, int(options.size * 1e6 / len(data))))
            measure(real.name[:28], path, options.repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
