"""The command `iolab`.

Exit codes: 0 done, 1 a log or a notebook could not be read, compared or run, 2 the command line is wrong.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from iolab._extras import MissingExtraError
from iolab._help import add_command
from iolab.lab import add_lab_command
from logframe import LogParseError
from logframe.console import ends_with_its_reader, log_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iolab.sources import NamedLog

_MOST_ROWS: Final = 60
_MOST_NAMED: Final = 3
_LOGS: Final = "a log, compressed or not, a folder, a pattern or an archive; - reads standard input"


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
        _tell(f"iolab: {_told(error)}")
        return 1
    return code


def _told(error: Exception) -> str:
    """An error without Python's words around those of the operating system."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="iolab",
        description="Oracle I/O evidence: AWR reports, SQL*Plus spools and strace logs as tables, figures and charts.",
        epilog="exit codes: 0 done, 1 a log or a notebook could not be read, compared or run, 2 the command line is "
        "wrong; iolab COMMAND --help shows examples",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    report = add_command(
        commands,
        "report",
        _report,
        "write one page about logs",
        "Read any mix of logs and write one self-contained page about them. Logs that pair up are compared: two "
        "reports, two sessions, two traces, a report or a session with a trace; the page says why others are not.",
        "iolab report awr.html ora_4711.strace spool.txt -o report.html",
        "iolab report before.html after.html -o compared.html --json",
    )
    report.add_argument("logs", nargs="+", metavar="LOG", help=_LOGS)
    report.add_argument("-o", "--out", type=Path, required=True, metavar="PAGE", help="the page to write")
    show = add_command(
        commands,
        "show",
        _show,
        "say what a log is and what it holds",
        "Say what each log is, and print its main tables, its figures with their bounds, and what was not read.",
        "iolab show spool.txt",
        "iolab show *.strace --json",
        "ssh dbhost cat /tmp/ora_4711.strace.gz | iolab show -",
    )
    show.add_argument("logs", nargs="+", metavar="LOG", help=_LOGS)
    convert = add_command(
        commands,
        "convert",
        _convert,
        "write the frames of a log as files",
        "Write every frame of a log as a Parquet or CSV file; of several logs each to a folder of its own. In CSV "
        "times are nanoseconds, and lists are JSON.",
        "iolab convert awr.html -o frames",
        "iolab convert ora_4711.strace -o frames --format csv",
    )
    convert.add_argument("logs", nargs="+", metavar="LOG", help=_LOGS)
    convert.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="where the files go")
    convert.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="by default parquet")
    compare = add_command(
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
    compare.add_argument("logs", nargs=2, metavar="LOG", help="two logs; ratios are second / first; - reads one")
    for command in (report, show, convert, compare):
        command.add_argument("--json", action="store_true", help="print JSON, for scripts")
    notebooks = add_command(
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
    add_lab_command(commands)
    return parser


def _report(options: argparse.Namespace) -> int:
    from iolab.pages.writing import write_report  # noqa: PLC0415 - Altair is loaded by the commands that need it

    failed = write_report([log_named(word) for word in options.logs], options.out, say=_tell)
    for line in failed:
        _tell(f"iolab: {line}")
    _print(_json({"page": str(options.out), "failed": failed}) if options.json else options.out)
    return 1 if failed else 0


def _show(options: argparse.Namespace) -> int:
    from iolab.pages.summary import summarize  # noqa: PLC0415 - the parsers are loaded by the commands that need them
    from iolab.pages.summary_text import summary_text  # noqa: PLC0415 - see above

    code = 0
    for number, one in enumerate(_named(options.logs)):
        try:
            seen = summarize(one.source)
        except (LogParseError, OSError) as error:
            code = 1
            _tell(f"iolab: {error}")
            if options.json:
                _print(_json({"log": one.place, "error": str(error)}))
            continue
        if options.json:
            told = {"log": one.place, "what": seen.what, "figures": seen.figures.to_dicts()}
            _print(_json(told | {"diagnostics": seen.diagnostics.to_dicts(), "notes": seen.notes}))
        else:
            parts = [f"{one.place}: {seen.what}", summary_text(seen, one.name)]
            _print("\n" * (number > 0) + "\n\n".join(part for part in parts if part))
    return code


def _convert(options: argparse.Namespace) -> int:
    from iolab.converting import convert_log  # noqa: PLC0415 - the parsers are loaded by the commands that need them

    named, code = _named(options.logs), 0
    for one in named:
        own = re.sub(r"[^\w.-]+", "_", one.name.partition(".* (")[0])
        folder = options.out if len(named) == 1 else options.out / own
        try:
            for path, rows in convert_log(one.source, folder, form=options.format):
                _print(_json({"file": str(path), "rows": rows}) if options.json else f"{path}  {rows:,} rows")
        except LogParseError as error:
            code = 1
            _tell(f"iolab: {error}")
    return code


def _compare(options: argparse.Namespace) -> int:
    from iolab.comparison import pair  # noqa: PLC0415 - see above
    from iolab.loading import load  # noqa: PLC0415 - the parsers are loaded by the commands that need them
    from iolab.pages.tables import frame_text  # noqa: PLC0415 - see above

    named = _named(options.logs)
    if len(named) != 2:
        told = ", ".join(one.name for one in named[:_MOST_NAMED]) + ", ..." * (len(named) > _MOST_NAMED)
        raise ValueError(f"two logs are compared, and these are {len(named)}: {told}")
    first, second = (load(one.source) for one in named)
    found = pair(first, second, names=(named[0].name, named[1].name))
    if options.json:
        frames = {title: frame.to_dicts() for title, frame in found.frames.items()}
        _print(_json({"logs": found.names, "why": found.why, "paragraphs": found.paragraphs, "frames": frames}))
        return 0
    _print(str(found))
    for title, frame in (found.tables or found.frames).items():
        _print(f"\n{title}\n{frame_text(frame, most=_MOST_ROWS, names={'a': 'A', 'b': 'B'})}")
    return 0


def _named(words: Sequence[str]) -> list[NamedLog]:
    from iolab.sources import find_logs  # noqa: PLC0415 - the parsers are loaded by the commands that need them

    return find_logs([log_named(word) for word in words])


def _report_notebooks(options: argparse.Namespace) -> int:
    from iolab.lab.notebooks import report_notebooks  # noqa: PLC0415 - Altair is loaded by the commands that need it

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
