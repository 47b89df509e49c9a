"""Logs that were indented, quoted, doubled or given tabs as a whole are recognised and read as before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from spool_client import Settings, printed, session
from tkprof_reports import NEW, OLD
from transformations import LOSSLESS_LINES, in_page

import iolab

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = [
    f'{pid}       0.000{step:03d} pread64(3, "abc", 8192, {8192 * step}) = 8192\n'
    for step, pid in enumerate([5352, 5353, 5352, 5352, 5354] * 8)
]
CALLS.insert(7, "strace: Process 5355 attached\n")
SUMMARY = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 75.51    0.000296           2       121         3 pread64
 20.25    0.000096           1        60           write
  4.24    0.000020          10         2         2 semtimedop
------ ----------- ----------- --------- --------- ----------------
100.00    0.000412                   183         5 total
"""
COMMENTED = """\
-- prices by month
create table prices as select * from sales;

-- SQL> select count(*) from prices;
--
--   COUNT(*)
-- ----------
--      10000
--
-- Elapsed: 00:00:01.25

select max(price) from prices;

-- Elapsed: 00:00:02.50
-- 12 rows were added later
"""
LISTED = """\
TABLE_NAME             NUM_ROWS     BLOCKS
-------------------- ---------- ----------
PRICES                    10000        223
SALES                     20000        446
STOCK                     30000        669
ORDERS                    40000        892
LINES                     50000       1115
CLIENTS                   60000       1338
VISITS                    70000       1561
"""
LOGS = {
    "session in comments": COMMENTED,
    "result alone": LISTED,
    "session": printed(session(7), Settings()),
    "session with folded rows": printed(session(8), Settings(linesize=80, pagesize=14)),
    "tkprof": NEW,
    "old tkprof": OLD,
    "strace -f -r": "".join(CALLS),
    "strace -c": SUMMARY,
}
CHANGES: dict[str, Callable[[str], str | bytes]] = {
    **{
        name: LOSSLESS_LINES[name]
        for name in ("indented", "indented by a tab", "quoted", "quoted twice", "doubled", "tabs", "coloured")
    },
    "in page": in_page,
}
#: Columns that numbers of lines are in.
_PLACES = ("line", "first_line", "last_line", "end_line", "statement", "plan", "log")


def figures(text: str) -> dict[str, pl.DataFrame]:
    """The frames of a log without numbers of lines, and without rows of blank lines."""
    log = iolab.load(text.encode())
    found = {}
    for name, lazy in log.frames().items():
        frame = lazy.lazy().collect()
        if "kind" in frame.columns and name == "events":
            frame = frame.filter(pl.col("kind") != "blank").drop("args")
        if log.format in {"sqlplus", "tkprof"}:
            frame = frame.drop("text", "title", "notes", strict=False)
        found[f"{log.format} {name}"] = frame.drop(*_PLACES, "args", strict=False)
    return found


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("log", LOGS)
def test_changes_of_a_whole_log(log: str, change: Callable[[str], str]) -> None:
    """The format and each figure are those of the log as it was written."""
    if change is in_page and log.startswith(("strace", "result", "session in")):
        pytest.skip("only sessions and reports are read in pages")
    expected, found = figures(LOGS[log]), figures(change(LOGS[log]))

    assert found.keys() == expected.keys()
    for name, frame in expected.items():
        assert_frame_equal(found[name], frame)
