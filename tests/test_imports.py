"""Import time: a package that only lists its names is there in a moment."""

import subprocess
import sys

import pytest

#: Seconds that the import may take, in a Python that has not loaded anything else.
LIMIT = 0.3
RUNS = 5


@pytest.mark.parametrize("package", ["straceparse", "sqltraceparse", "awrparse", "hostparse"])
def test_import_time(package: str) -> None:
    """The best of five imports, each in a fresh Python, takes less than 0.3 s."""
    code = f"import time; start = time.perf_counter(); import {package}; print(time.perf_counter() - start)"
    command = [sys.executable, "-c", code]
    seconds = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(RUNS)]

    assert min(seconds) < LIMIT
