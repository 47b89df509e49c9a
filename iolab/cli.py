"""The command `iolab`.

Exit codes: 0 done, 1 a log or a notebook could not be read, compared or run, 2 the command line is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab._extras import MissingExtraError
from iolab.kinds import frames_of
from iolab.lab import add_command as add_lab
from logframe.console import ends_with_its_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_REMARKS: Final = 20
_MOST_ROWS: Final = 60


@ends_with_its_reader
def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of a command line.

    Args:
        arguments: The words after the command's name; by default those of the process.

    >>> main(["report-notebooks", "--notebooks", "no_such_folder", "--out", "build/none"])
    1
    """
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except (MissingExtraError, OSError, ValueError, RuntimeError) as error:
        _tell(f"iolab: {error}")
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="iolab",
        description="Oracle I/O evidence: AWR reports, SQL*Plus spools and strace logs as tables, figures and charts.",
        epilog="exit codes: 0 done, 1 a log or a notebook could not be read, compared or run, 2 the command line is "
        "wrong; iolab COMMAND --help shows examples",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    report = _add(
        commands,
        "report",
        _report,
        "write one page about logs",
        "Read any mix of logs and write one self-contained page about them. Logs that pair up are compared: two "
        "reports, two sessions, two traces, a report or a session with a trace; the page says why others are not.",
        "iolab report awr.html ora_4711.strace spool.txt -o report.html",
        "iolab report before.html after.html -o compared.html --json",
    )
    report.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="a log, compressed or not")
    report.add_argument("-o", "--out", type=Path, required=True, metavar="PAGE", help="the page to write")
    show = _add(
        commands,
        "show",
        _show,
        "say what a log is and what it holds",
        "Say what each log is, and print its figures with their bounds and what was not read.",
        "iolab show spool.txt",
        "iolab show *.strace --json",
    )
    show.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="a log, compressed or not")
    convert = _add(
        commands,
        "convert",
        _convert,
        "write the frames of a log as files",
        "Write every frame of a log as a Parquet or CSV file.",
        "iolab convert awr.html -o frames",
        "iolab convert ora_4711.strace -o frames --format csv",
    )
    convert.add_argument("log", type=Path, metavar="LOG", help="a log, compressed or not")
    convert.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="where the files go")
    convert.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="by default parquet")
    compare = _add(
        commands,
        "compare",
        _compare,
        "hold two logs against each other",
        "Compare two AWR or Statspack reports by rates, two sessions by the runs of the statements that both have, two "
        "strace logs by rates and by reads of one mode and size, or put a trace beside what a report or a session "
        "counted. What cannot be compared is refused, with the reason and exit code 1.",
        "iolab compare setall.html none.html",
        "iolab compare buffered.strace direct.strace",
        "iolab compare linux.txt hpux.txt --json",
    )
    compare.add_argument("logs", nargs=2, type=Path, metavar="LOG", help="two logs; ratios are second / first")
    for command in (report, show, convert, compare):
        command.add_argument("--json", action="store_true", help="print JSON, for scripts")
    notebooks = _add(
        commands,
        "report-notebooks",
        _report_notebooks,
        "run the notebooks and make pages of them",
        "Run every notebook of a folder, write a self-contained page of each and an index, and print the headline "
        "figures.",
        "iolab report-notebooks --out build/report",
    )
    notebooks.add_argument("--notebooks", type=Path, default=Path("notebooks"), metavar="DIR", help="the notebooks")
    notebooks.add_argument("--out", type=Path, default=Path("build/report"), metavar="DIR", help="where the pages go")
    add_lab(commands)
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    description: str,
    *examples: str,
) -> argparse.ArgumentParser:
    """The parser of a command, with its examples below."""
    command = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog="\n  ".join(["examples:", *examples]),
        formatter_class=_Formatter,
    )
    command.set_defaults(run=run)
    return command


class _Formatter(argparse.HelpFormatter):
    """Help whose examples stay on lines of their own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith("examples:"):
            return "\n".join(indent + line for line in text.splitlines())
        return super()._fill_text(text, width, indent)


def _report(options: argparse.Namespace) -> int:
    from iolab.report import write_report  # noqa: PLC0415 - Altair is loaded by the commands that need it

    failed = write_report(options.logs, options.out, say=_tell)
    for line in failed:
        _tell(f"iolab: {line}")
    _print(_json({"page": str(options.out), "failed": failed}) if options.json else options.out)
    return 1 if failed else 0


def _show(options: argparse.Namespace) -> int:
    from iolab.headline import figure_rows, text_table  # noqa: PLC0415 - Altair is loaded by the commands that need it
    from iolab.looks import look  # noqa: PLC0415 - see above

    for path in options.logs:
        seen = look(path)
        figures, remarks = seen.figures.to_dicts(), seen.diagnostics.to_dicts()
        if options.json:
            told = {"log": str(path), "what": seen.what, "figures": figures, "diagnostics": remarks}
            _print(_json(told | {"notes": seen.notes}))
            continue
        lines = [f"{path}: {seen.what}", *(f"  {name}: {frame.height:,} rows" for name, frame in seen.frames.items())]
        lines += [f"  {note}" for note in seen.notes]
        if figures:
            lines += ["", text_table(figure_rows(figures))]
        lines += [f"{path.name}:{one['line'] or ''}: {one['kind']}: {one['reason']}" for one in remarks[:_MOST_REMARKS]]
        if len(remarks) > _MOST_REMARKS:
            lines.append(f"and {len(remarks) - _MOST_REMARKS:,} more remarks")
        _print("\n".join(lines))
    return 0


def _convert(options: argparse.Namespace) -> int:
    from iolab.looks import look  # noqa: PLC0415 - the parsers are loaded by the commands that need them

    seen = look(options.log)
    options.out.mkdir(parents=True, exist_ok=True)
    named = {**frames_of(seen.log), "figures": seen.figures, "diagnostics": seen.diagnostics}
    for name, frame in named.items():
        path = options.out / f"{name}.{options.format}"
        if options.format == "parquet":
            frame.write_parquet(path)
        else:
            flat = [column for column, dtype in frame.schema.items() if not dtype.is_nested()]
            times = [column for column, dtype in frame.schema.items() if dtype == pl.Duration]
            frame.select(flat).with_columns(pl.col(times).dt.total_nanoseconds().name.suffix("_ns")).drop(
                times
            ).write_csv(path)
        _print(_json({"file": str(path), "rows": frame.height}) if options.json else f"{path}  {frame.height:,} rows")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from iolab.loading import load  # noqa: PLC0415 - the parsers are loaded by the commands that need them
    from iolab.pairings import pair  # noqa: PLC0415 - see above
    from iolab.report_tables import frame_text  # noqa: PLC0415 - see above

    first, second = options.logs
    names = (first.name, second.name) if first.name != second.name else (str(first), str(second))
    found = pair(load(first), load(second), names=names)
    if options.json:
        frames = {title: frame.to_dicts() for title, frame in found.frames.items()}
        _print(_json({"logs": found.names, "why": found.why, "paragraphs": found.paragraphs, "frames": frames}))
        return 0
    _print(str(found))
    for title, frame in (found.tables or found.frames).items():
        _print(f"\n{title}\n{frame_text(frame, most=_MOST_ROWS, names={'a': 'A', 'b': 'B'})}")
    return 0


def _report_notebooks(options: argparse.Namespace) -> int:
    from iolab.notebooks import report_notebooks  # noqa: PLC0415 - Altair is loaded by the commands that need it

    report_notebooks(options.notebooks, options.out)
    return 0


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _print(result: object) -> None:
    """The result of a command."""
    print(result)  # noqa: T201 - a command prints its result


def _tell(line: str) -> None:
    """Progress and errors: beside the result, so that a pipe gets the result alone."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress of a command
