"""What every command line of the project has in common: exit codes, errors in one line, ``-`` for standard input.

Exit codes: 0 done; 1 a log could not be read, or a file not written; 2 the command line is wrong; 130 interrupted.
An exception of another kind is a fault of the program and is shown with its traceback.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import time
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import click

from logframe.errors import LogError
from logframe.extras import DISTRIBUTION, EXTRAS, MissingExtraError, missing
from logframe.limits import limits, parsed
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Seconds before progress is shown, and between two lines of it.
_PATIENCE: Final = 1.0
_EVERY: Final = 0.2

#: A command makes objects while it imports and reads that it keeps: searching them for cycles is a tenth of its time.
_GC_THRESHOLDS: Final = (100_000, 20, 20)


def run(command: click.Command, arguments: Sequence[str] | None, name: str) -> int:
    """Run a command; its exit code.

    Args:
        command: The command.
        arguments: The words after the command's name; by default those of the process.
        name: The program's name, for messages.

    Raises:
        SystemExit: With 2, if the command line is wrong.

    Examples:
        >>> run(click.Command("nothing", callback=lambda: 3), [], "nothing")
        3
    """
    _open_streams()
    words = sys.argv[1:] if arguments is None else list(arguments)
    if arguments is None:  # at its end, a process would search for cycles several times among all that was imported
        atexit.register(gc.freeze)
        gc.set_threshold(*_GC_THRESHOLDS)
    if f"_{name.upper()}_COMPLETE" in os.environ:  # the shell asks for completions
        command.main(args=words, prog_name=name)
    try:
        # As click's own `main` does, but that exits with 1 where the output's reader has ended.
        with command.make_context(name, words) as context:
            code = command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as request:
        return request.exit_code
    except click.UsageError as error:
        error.show()
        raise SystemExit(error.exit_code) from error
    except BrokenPipeError:
        # What Python still wants to write at its end is discarded.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, click.Abort):
        return 130
    except (LogError, OSError, MissingExtraError, click.ClickException) as error:
        say(f"{name.removeprefix('python -m ')}: {message_of(error)}")
        return 1
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        say(f"{name.removeprefix('python -m ')}: {missing(library)}")
        return 1
    return int(code or 0)


def _open_streams() -> None:
    """Give a process whose input, output or error stream is closed (``>&-``, some schedulers) the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def message_of(error: Exception) -> str:
    """The message of an error; of one of the operating system without its number.

    Examples:
        >>> message_of(FileNotFoundError(2, "No such file or directory", "a.log"))
        'a.log: No such file or directory'
    """
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def say(line: str) -> None:
    """Print progress or an error, apart from the result, so that a pipe gets the result alone."""
    print(printable(line), file=sys.stderr, flush=True)  # noqa: T201 - a command prints


@contextmanager
def reading(name: str = "") -> Iterator[None]:
    """Show on a terminal how much of a long log was read, on one line that is gone when the block ends.

    Args:
        name: Of the log.
    """
    from logframe.source import WATCH  # noqa: PLC0415 - the readers are imported by the commands that need them

    if not sys.stderr.isatty():
        yield
        return
    start = shown = time.monotonic()
    total, is_shown = 0, False

    def add(count: int) -> None:
        nonlocal total, shown, is_shown
        total += count
        now = time.monotonic()
        if now - start > _PATIENCE and now - shown > _EVERY:
            shown, is_shown = now, True
            sys.stderr.write(f"\r{printable(name)[:40]} {total / 1e6:,.0f} MB read in {now - start:,.0f} s\x1b[K")
            sys.stderr.flush()

    token = WATCH.set(add)
    try:
        yield
    finally:
        WATCH.reset(token)
        if is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def put(result: object) -> None:
    """Print a result that holds texts of a log, without their controls."""
    print(printable(str(result)))  # noqa: T201 - a command prints


def version_text() -> str:
    """The versions of the project, Polars and Python, and whether the compiled kernel is in use.

    Examples:
        >>> version_text().startswith("iolab ")
        True
    """
    from logframe.native import engine  # noqa: PLC0415 - only for --version

    def known(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "(not installed)"

    python = ".".join(map(str, sys.version_info[:3]))
    return f"{DISTRIBUTION} {known(DISTRIBUTION)}, polars {known('polars')}, Python {python}, {engine()}"


def version_option() -> click.Option:
    """The option ``--version`` of every command."""

    def show(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's protocol
        if value:
            click.echo(version_text())
            context.exit()

    return click.Option(["--version"], is_flag=True, expose_value=False, is_eager=True, callback=show, help="Versions.")


def limit_option() -> click.Option:
    """The option ``--limit`` of every command that reads logs (`logframe.limits`)."""

    def change(context: click.Context, _: click.Parameter, values: tuple[str, ...]) -> None:
        changes = {name: value for text in values for name, value in parsed(text).items()}
        context.with_resource(limits(**changes))

    return click.Option(
        ["--limit"],
        multiple=True,
        metavar="NAME=VALUE",
        expose_value=False,
        callback=change,
        help="Change a limit of what is opened, such as max_bytes=200G or allow_urls=yes.",
    )


def spreadsheet_option() -> click.Option:
    """The option ``--spreadsheet-safe`` of every command that writes CSV (`logframe.extras`)."""
    return click.Option(
        ["--spreadsheet-safe"],
        is_flag=True,
        help="In CSV, put an apostrophe before what a spreadsheet would run as a formula.",
    )


def log_named(argument: str) -> str | BinaryIO:
    """What an argument of a command names: a path, or the standard input for ``-``.

    Examples:
        >>> log_named("awrrpt.html")
        'awrrpt.html'
    """
    return cast("BinaryIO", _StandardInput()) if argument == "-" else argument


class _StandardInput:
    """The standard input with a name."""

    name = "<stdin>"

    def read(self, size: int = -1) -> bytes:
        """Bytes from the standard input."""
        return sys.stdin.buffer.read(size)
