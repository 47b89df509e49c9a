"""Commands: what every command line of the project does alike."""

from __future__ import annotations

import io
import os
import sys
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable

Parameters = ParamSpec("Parameters")


def ends_with_its_reader(main: Callable[Parameters, int]) -> Callable[Parameters, int]:
    """A command's main function that ends quietly, with 0, when what reads its output has ended (``| head``).

    Examples:
        >>> ends_with_its_reader(lambda: 2)()
        2
    """

    @wraps(main)
    def command(*args: Parameters.args, **kwargs: Parameters.kwargs) -> int:
        try:
            status = main(*args, **kwargs)
            sys.stdout.flush()
        except BrokenPipeError:
            # what Python still wants to write at its end goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return status

    return command


def log_named(argument: str) -> str | io.BytesIO:
    """What an argument of a command names: a path, or the standard input, read to its end, for ``-``.

    Examples:
        >>> log_named("awrrpt.html")
        'awrrpt.html'
    """
    if argument != "-":
        return argument
    log = io.BytesIO(sys.stdin.buffer.read())
    log.name = "<stdin>"
    return log
