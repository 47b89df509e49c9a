"""Locks of files between processes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from logframe.atomic import lock_file

if TYPE_CHECKING:
    from pathlib import Path

_HOLDER = """
import sys
from logframe.atomic import lock_file
with open(sys.argv[1], "w") as file:
    lock_file(file)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_held_until_its_process_ends(tmp_path: Path) -> None:
    """Another process is refused while it lives, and gets the lock when it was killed."""
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with path.open("a") as file, pytest.raises(BlockingIOError):
            lock_file(file, wait=False)
        holder.kill()
    with path.open("a") as file:
        lock_file(file, wait=False)
