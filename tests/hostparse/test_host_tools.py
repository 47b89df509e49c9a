"""The data files of the tools hold what the reader of tables asks for."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from hostparse.columns import Basis
from hostparse.recognise import SNIFF
from hostparse.tools import TOOLS, Tool, tool_of

EVERY = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


@EVERY
def test_a_file_is_whole(tool: Tool) -> None:
    """Signs are terminals of the grammar, a column has a basis that is known, and a pattern compiles."""
    assert tool.signs.keys() <= SNIFF.terminals.keys()
    assert {metric.basis for metric in tool.columns.values()} <= {*get_args(Basis)}
    assert re.compile(tool.pattern)


def test_orders_and_ranks_are_one_tool_s() -> None:
    """No two tools have the same place."""
    assert len({tool.order for tool in TOOLS.values()}) == len({tool.rank for tool in TOOLS.values()}) == len(TOOLS)


@pytest.mark.parametrize(
    ("words", "groups", "has_clock", "expected"),
    [
        ("CPU %usr %iowait %irq", "", True, "mpstat"),
        ("CPU %user %iowait %steal", "", True, "sar"),
        ("CPU total/s dropd/s", "", True, "sar"),
        ("CPU 0/s 8/s", "", True, "mpstat"),
        ("UID PID kB_rd/s", "", True, "pidstat"),
        ("TIME DISK %RND %SEQ", "", False, "biopattern"),
        ("alloc free read", "", False, "zpool"),
        ("r b swpd", "procs ---memory---", False, "vmstat"),
        ("total merged", "disk- ---reads---", False, "vmstat"),
        ("r/s w/s device", "", False, "iostat"),
        ("lorem ipsum", "", False, "unknown"),
    ],
)
def test_the_tool_of_a_heading(words: str, groups: str, has_clock: bool, expected: str) -> None:  # noqa: FBT001
    """A heading is of the first tool whose words it has."""
    found = tool_of(words.split(), groups, has_clock=has_clock, is_total_cpu=False, has_time=False)
    assert found.name == expected
