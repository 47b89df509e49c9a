"""What a command costs, CPU seconds and peak memory of its process, and whether a figure meets its target."""

import os
import subprocess
import sys
import tempfile
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


def load() -> str:
    """How busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def cost_of_python(*words: str, **environment: str) -> Cost:
    """The cost of a Python process with these arguments, whose output goes nowhere.

    Args:
        words: Its arguments.
        environment: Variables that it has beside those of this process.

    Raises:
        CalledProcessError: It failed.
    """
    command = [sys.executable, *words]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **environment})
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise subprocess.CalledProcessError(process.returncode, command, stderr=errors.read())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)
