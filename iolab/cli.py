"""The command `iolab`.

Exit codes: 0 done, 1 a log or a notebook could not be read or run, 2 the command line is wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import polars as pl

from awrparse import AwrReport, Spool
from iolab._extras import MissingExtraError
from iolab.kinds import frames_of
from logframe.console import ends_with_its_reader

_MOST_REMARKS: Final = 20


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
        print(f"iolab: {error}", file=sys.stderr)  # noqa: T201 - a command says what went wrong
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="iolab",
        description="Oracle I/O evidence: AWR reports, SQL*Plus spools and strace logs as tables, figures and charts.",
        epilog="exit codes: 0 done, 1 a log or a notebook could not be read or run, 2 the command line is wrong",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    report = commands.add_parser(
        "report",
        help="write one page about logs",
        description="Read any mix of logs and write one self-contained page about them.",
        epilog="example: iolab report awr.html ora_4711.strace spool.txt -o report.html",
    )
    report.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="a log, compressed or not")
    report.add_argument("-o", "--out", type=Path, required=True, metavar="PAGE", help="the page to write")
    report.set_defaults(run=_report)
    show = commands.add_parser(
        "show",
        help="say what a log is and what it holds",
        description="Say what each log is, and print its figures with their bounds and what was not read.",
        epilog="example: iolab show spool.txt --json",
    )
    show.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="a log, compressed or not")
    show.add_argument("--json", action="store_true", help="print JSON, one object a log")
    show.set_defaults(run=_show)
    convert = commands.add_parser(
        "convert",
        help="write the frames of a log as files",
        description="Write every frame of a log as a Parquet or CSV file.",
        epilog="example: iolab convert awr.html -o frames --format csv",
    )
    convert.add_argument("log", type=Path, metavar="LOG", help="a log, compressed or not")
    convert.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="where the files go")
    convert.add_argument("--format", choices=("parquet", "csv"), default="parquet", help="by default parquet")
    convert.set_defaults(run=_convert)
    compare = commands.add_parser(
        "compare",
        help="hold two logs against each other",
        description="Compare two reports by rates, or two spools by the times of the runs of their first sample.",
        epilog="example: iolab compare setall.html none.html",
    )
    compare.add_argument("logs", nargs=2, type=Path, metavar="LOG", help="two reports, or two spools")
    compare.set_defaults(run=_compare)
    notebooks = commands.add_parser(
        "report-notebooks",
        help="run the notebooks and make pages of them",
        description="Run every notebook of a folder, write a self-contained page of each and an index, and print the "
        "headline figures.",
        epilog="example: iolab report-notebooks --out build/report",
    )
    notebooks.add_argument("--notebooks", type=Path, default=Path("notebooks"), metavar="DIR", help="the notebooks")
    notebooks.add_argument("--out", type=Path, default=Path("build/report"), metavar="DIR", help="where the pages go")
    notebooks.set_defaults(run=_report_notebooks)
    return parser


def _report(options: argparse.Namespace) -> int:
    from iolab.report import write_report  # noqa: PLC0415 - Altair is loaded by the commands that need it

    failed = write_report(options.logs, options.out, say=_say)
    for line in failed:
        _say(f"iolab: {line}")
    print(options.out)  # noqa: T201 - a command prints its result
    return 1 if failed else 0


def _show(options: argparse.Namespace) -> int:
    from iolab.headline import figure_rows, text_table  # noqa: PLC0415 - Altair is loaded by the commands that need it
    from iolab.looks import look  # noqa: PLC0415 - see above

    for path in options.logs:
        seen = look(path)
        figures, remarks = seen.figures.to_dicts(), seen.diagnostics.to_dicts()
        if options.json:
            told = {"log": str(path), "what": seen.what, "figures": figures, "diagnostics": remarks}
            print(json.dumps(told, ensure_ascii=False, default=str))  # noqa: T201 - a command prints its result
            continue
        lines = [f"{path}: {seen.what}", *(f"  {name}: {frame.height:,} rows" for name, frame in seen.frames.items())]
        if figures:
            lines += ["", text_table(figure_rows(figures))]
        lines += [f"{path.name}:{one['line'] or ''}: {one['kind']}: {one['reason']}" for one in remarks[:_MOST_REMARKS]]
        if len(remarks) > _MOST_REMARKS:
            lines.append(f"and {len(remarks) - _MOST_REMARKS:,} more remarks")
        print("\n".join(lines))  # noqa: T201 - a command prints its result
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
        print(f"{path}  {frame.height:,} rows")  # noqa: T201 - a command prints its result
    return 0


def _compare(options: argparse.Namespace) -> int:
    from iolab.align import align_reports  # noqa: PLC0415 - the parsers are loaded by the commands that need them
    from iolab.compare import compare  # noqa: PLC0415 - see above
    from iolab.loading import load  # noqa: PLC0415 - see above

    a, b = (load(path) for path in options.logs)
    names = (options.logs[0].name, options.logs[1].name)
    if isinstance(a, AwrReport) and isinstance(b, AwrReport):
        both = align_reports(a, b, names=names)
        print(both)  # noqa: T201 - a command prints its result
        with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160, tbl_hide_dataframe_shape=True):
            print(both.events.with_columns(pl.selectors.float().round_sig_figs(4)))  # noqa: T201 - see above
        return 0
    if isinstance(a, Spool) and isinstance(b, Spool):
        times = [spool.runs().filter(pl.col("sample") == 1).get_column("elapsed_s").drop_nulls() for spool in (a, b)]
        if any(one.is_empty() for one in times):
            raise ValueError("a spool has no statement that was timed twice: there are no runs to compare")
        print(compare(times[0], times[1], names=names))  # noqa: T201 - see above
        return 0
    raise ValueError(f"{names[0]} and {names[1]} cannot be compared: two reports can, and two spools")


def _say(line: str) -> None:
    """A line of progress: beside the result, so that a pipe gets the result alone."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress of a command


def _report_notebooks(options: argparse.Namespace) -> int:
    from iolab.notebooks import report_notebooks  # noqa: PLC0415 - Altair is loaded by the commands that need it

    report_notebooks(options.notebooks, options.out)
    return 0
