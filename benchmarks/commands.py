"""What a command costs, CPU seconds and peak memory of its process, and whether a figure meets its target."""

import os
import subprocess
import sys
from typing import NamedTuple


class Cost(NamedTuple):
    """What a command cost: CPU seconds, and the memory at its peak in MB (2^20 bytes)."""

    cpu_s: float
    peak_mb: int


def target(figure: float, limit: float | None, unit: str = "", *, is_least: bool = False) -> str:
    """The target of a figure, and whether it is missed; empty without one."""
    if limit is None:
        return ""
    is_met = figure >= limit if is_least else figure <= limit
    return f"{'>=' if is_least else '<='} {limit:g}{f' {unit}' if unit else ''}{'' if is_met else '  missed'}"


def cost_of_python(*words: str) -> Cost:
    """The cost of a Python process with these arguments, whose output goes nowhere.

    Raises:
        CalledProcessError: It failed.
    """
    command = [sys.executable, *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)
