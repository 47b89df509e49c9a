"""The help of commands: each with its examples below."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class _Formatter(argparse.HelpFormatter):
    """Help whose examples stay on lines of their own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return "\n".join(indent + line for line in text.splitlines())
        return super()._fill_text(text, width, indent)


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    description: str,
    *examples: str,
) -> argparse.ArgumentParser:
    """The parser of a command, with its examples below its help.

    Args:
        commands: Where the command is added.
        name: The command.
        run: What it does; gives the exit code.
        summary: What it does, among the other commands.
        description: What it does, in its own help.
        examples: Command lines.

    >>> commands = argparse.ArgumentParser(prog="iolab").add_subparsers()
    >>> print(add_command(commands, "show", lambda _: 0, "", "Say it.", "iolab show a.log").format_help())
    usage: iolab show [-h]
    Say it.
    options:
      -h, --help  show this help message and exit
    examples:
      iolab show a.log
    """
    command = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog="\n  ".join(["examples:", *examples]),
        formatter_class=_Formatter,
    )
    command.set_defaults(run=run)
    return command
