"""The data files of the tools hold what the reader of tables asks for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from hostparse.recognise import SNIFF
from hostparse.tools import TOOLS, Basis, Tool, tool_of

ROOT = Path(__file__).parents[2]
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


#: A tool of sysstat that is not read, as a user would add it.
TAPESTAT = """
order = 0
rank = 1000
all = ["Tape"]
has_own_columns = true
names.Tape = "tape"
columns = '''
r/s | reads_per_s | /s | 1 | rate
kB_wrtn/s | write_bytes_per_s | B/s | 1024 | rate
'''
"""
READ_TAPES = """
import hostparse
log = hostparse.read_host(b'''Linux 5.4.17 (db1) \\t02/19/24 \\t_x86_64_\\t(8 CPU)

Tape:    r/s   kB_wrtn/s
st0        4          30
st1        0           0
''')
print(hostparse.__file__.startswith(FOLDER), log.kind, log.diagnostics.height)
print(log.wide("tape").select("tape", "reads_per_s", "write_bytes_per_s").rows())
"""


def test_a_tool_is_one_file(tmp_path: Path) -> None:
    """A file beside the others is all that it takes: names, units and the kind of the log."""
    shutil.copytree(ROOT / "hostparse", tmp_path / "hostparse")
    (tmp_path / "hostparse" / "tools" / "tapestat.toml").write_text(TAPESTAT, encoding="utf-8")
    script = READ_TAPES.replace("FOLDER", repr(str(tmp_path)))
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.stderr == ""
    assert done.stdout.splitlines() == ["True tapestat 0", "[('st0', 4.0, 30720.0), ('st1', 0.0, 0.0)]"]
