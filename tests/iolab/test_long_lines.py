"""Lines of 60 kB that are nearly what a tool prints: they are looked at in linear time, where minutes were possible."""

from __future__ import annotations

import pytest

import iolab

BLANKS = " " * 60_000
PERF = """oracle_4711_db1  4711 [001] 123.456789:     250000 cpu-clock:
\t 8f2b1c0 kcbgtcr+0x1a3 (/u01/app/oracle/bin/oracle)

oracle_4711_db1  4711 [001] 123.457789:     250000 cpu-clock:
\t 8f2b1c0 kcbgtcr+0x1a3 {}x

"""
TOP = """12:00:00 loadavg: 0.10 0.11 0.12 1/170 4321

PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms
2171   ora_lgwr_plum    W 202 1   xvda1        8     8.0   1.02
2172   ora_lgwr_fig     W 202 1   {}x
"""
PLAN = """SQL> select name from plums;

Execution Plan
----------------------------------------------------------
Plan hash value: 1601196873

-----------------------------------------------------------------------------
| Id  | Operation         | Name  | Rows  | Bytes | Cost (%CPU)| Time     |
-----------------------------------------------------------------------------
|   0 | SELECT STATEMENT  |       |     1 |    13 |     2   (0)| 00:00:01 |
|   1 |  TABLE ACCESS FULL| PLUMS |     1 |    13 |{}x| 00:00:01 |
-----------------------------------------------------------------------------
"""
LISTING = """SQL> select name, value from v$mystat;

NAME                 VALUE
---------------- ---------
consistent gets         12
{}physical reads ---
physical writes          3
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(PERF, "samples", id="perf"),
        pytest.param(TOP, "processes", id="biotop"),
        pytest.param(PLAN, "plans", id="plan"),
        pytest.param(LISTING, "statements", id="listing"),
    ],
)
def test_a_long_line_that_is_nearly_one(text: str, name: str) -> None:
    """The other lines are read as they are without it."""
    log = iolab.load(text.replace("{}", BLANKS).encode())

    assert log.frames()[name].lazy().collect().height > 0
