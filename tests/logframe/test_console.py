"""Commands end quietly when what reads their output has ended."""

import subprocess
import sys

import click
import pytest

from logframe.console import run


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


def test_interrupted() -> None:
    """Ctrl-C ends quietly, with 130."""

    @click.command()
    def wait() -> None:
        raise KeyboardInterrupt

    assert run(wait, [], "wait") == 130


def test_a_missing_extra_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The exact command that installs it."""

    @click.command()
    def draw() -> None:
        raise ModuleNotFoundError("No module named 'altair'", name="altair")

    assert run(draw, [], "iolab") == 1
    assert capsys.readouterr().err == 'iolab: altair is needed here and not installed: pip install "iolab[lab]"\n'


def test_a_fault_of_the_program_is_no_error_of_the_user() -> None:
    """Exceptions that are not the project's own keep their traceback."""

    @click.command()
    def broken() -> None:
        raise ValueError("a fault")

    with pytest.raises(ValueError, match="a fault"):
        run(broken, [], "broken")


@pytest.mark.parametrize("package", ["iolab", "awrparse", "sqlplusparse", "straceparse"])
def test_version(package: str) -> None:
    """Every command says its version and which engine classifies lines."""
    done = subprocess.run([sys.executable, "-m", package, "--version"], capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert done.stdout.startswith("iolab ")
    assert "polars" in done.stdout


def test_the_end_of_a_command_looks_for_no_garbage() -> None:
    """A cycle that is left when a command ends is not searched for: with all that Polars imports it takes a while."""
    code = """
import click
from logframe.console import run

class Kept:
    def __del__(self):
        print("found")

def leave():
    kept = Kept()
    kept.itself = kept

run(click.Command("leave", callback=leave), None, "leave")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert (done.stdout, done.stderr) == ("", "")
