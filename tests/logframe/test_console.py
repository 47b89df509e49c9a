"""Commands end quietly when what reads their output has ended."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        ("awrparse", "--tables"),
        ("sqlplusparse", "sample_data/runs/buffered_direct_async.txt"),
        ("straceparse", "--events", "-n", "0", "sample_data/captures/async_direct_r.strace"),
    ],
    ids=" ".join,
)
def test_a_reader_that_ends_early(arguments: tuple[str, ...]) -> None:
    """No traceback, whatever the reader does."""
    with subprocess.Popen(
        [sys.executable, "-m", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.readline()
        command.stdout.close()

        assert command.stderr.read() == ""
    assert command.returncode == 0
