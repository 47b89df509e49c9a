"""Same input, same output: whatever the number of threads, and whatever the order of Python's sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

SAMPLES: Final = Path(__file__).parents[2] / "sample_data"
#: Logs of every package, those whose figures are sums of products among them.
LOGS: Final = (
    "articles/003_filesystemio_setall.txt",
    "captures/async_direct_tt_T.strace",
    "host/iostat.out",
    "host/quay07_260914_2000.nmon",
    "host/vmstat.out",
    "one_case/awrrpt_1_881_882.txt",
    "one_case/orders_flash.lst",
    "sqltrace/orders_flash_ora_4711.trc",
)
DIGESTS: Final = """
import hashlib, json, sys
import iolab
from iolab.command_line import as_text
from iolab.pages.log_section import log_section
from iolab.pages.summary import summarize
from iolab.pages.summary_text import PARTS, summary_text
found = {}
for path in sys.argv[1:]:
    log = iolab.load(path)
    shown = {name: frame.lazy().collect() for name, frame in log.frames().items()} | {"findings": iolab.findings(log)}
    for number, ledger in enumerate(iolab.ledgers(log)):
        shown |= {f"ledger {number} {view}": ledger.parts(view) for view in ledger.views}
    seen = summarize(log)
    written = {name: frame.write_json() for name, frame in shown.items()} | {
        "text": summary_text(seen, path, parts=PARTS, width=80, is_whole=True),
        "json": as_text({"figures": seen.figures.to_dicts(), "notes": seen.notes}),
        "page": log_section(1, path, seen, is_only=True),
    }
    for name, text in written.items():
        found[f"{path} {name}"] = hashlib.sha256(text.encode()).hexdigest()
print(json.dumps(found))
"""


def digests(threads: int) -> dict[str, str]:
    """Digests of frames, findings, texts and pages, of a process with so many threads and its own hash seed."""
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS, *LOGS],
        cwd=SAMPLES,
        env={**os.environ, "POLARS_MAX_THREADS": str(threads), "PYTHONHASHSEED": str(threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(threads: int) -> None:
    """Frames, ledgers, findings, texts and pages are equal to the last digit."""
    one, several = digests(1), digests(threads)

    assert len(one) > 90
    assert {name for name in one.keys() | several.keys() if one.get(name) != several.get(name)} == set()
