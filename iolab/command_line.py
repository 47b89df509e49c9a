"""What the commands of `iolab` have in common: examples in their help, arguments, JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from logframe.console import log_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iolab.sources import NamedLog

#: Rows of a table that are printed.
MOST_ROWS: Final = 60

logs_argument: Final = click.argument("logs", nargs=-1, required=True, metavar="LOG...")
json_option: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


class ExampleCommand(click.Command):
    """A command whose help ends in examples."""

    def __init__(self, *args: Any, examples: tuple[str, ...] = (), **kwargs: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, each on a line of its own."""
        del context  # click's protocol
        formatter.write_paragraph()
        formatter.write("examples:\n" + "".join(f"  {line}\n" for line in self.examples))


def named_logs(words: Sequence[str]) -> list[NamedLog]:
    """The logs that the arguments of a command name."""
    from iolab.sources import find_logs  # noqa: PLC0415 - the parsers are imported by the commands that need them

    return find_logs([log_named(word) for word in words])


def as_text(value: object) -> str:
    """A value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)
