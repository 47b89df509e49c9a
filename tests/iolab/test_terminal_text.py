"""Texts of a log on a terminal: a name in it must not move the cursor, colour the screen or turn letters round."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: What a terminal would obey: bell, escape sequences of two kinds, record separator, a turn of letters, delete.
CONTROLS = "a\x07b\x1b[2Jc\x9b2Jd\x1ee\u202ef\x7fg"
SAMPLES = """
ActSes   %Thread | INST | SQL_ID          | SQL_CHILD | EVENT                  | WAIT_CLASS
------------------------------------------------------------------------------------------
   3.00    (300%) |    1 | 1ka6r{}           | 0         | log{} file sync            | Commit
--  End of ASH snap 1, end=2026-11-21 10:00:00, seconds=10, samples_taken=17
"""
SPOOL = """SQL> select {} from dual;

X
-
X

Elapsed: 00:00:01.00
SQL> selct{} 1;
ERROR at line 1:
ORA-00900: {}
"""
TRACE = '1.000000 pread64(3</u01/{}.dbf>, ""..., 8192, 0) = 8192 <0.000400>\na remark {} of the user\n'
ALL = ("iolab", "show", "--all", "--tables", "--figures")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        pytest.param(ALL, SAMPLES, id="show samples"),
        pytest.param(ALL, SPOOL, id="show spool"),
        pytest.param(ALL, TRACE, id="show trace"),
        pytest.param(["sqlplusparse"], SPOOL, id="sqlplusparse"),
        pytest.param(["straceparse", "--unparsed"], TRACE, id="straceparse"),
        pytest.param(["iolab", "show"], "nothing known {}\n", id="an error"),
    ],
)
def test_controls_of_a_log(command: list[str], text: str, tmp_path: Path) -> None:
    """Commands print them as replacement characters, in results, remarks and errors."""
    log = tmp_path / "a.log"
    log.write_text(text.replace("{}", CONTROLS), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", *command, str(log)], capture_output=True, text=True, check=False)

    assert done.stdout or done.stderr
    for printed in (done.stdout, done.stderr):
        assert not [letter for letter in printed if letter != "\n" and not letter.isprintable()]
