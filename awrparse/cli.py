"""The command line: what a report is, its top events, any of its tables as a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from awrparse.many import read_awrs
from awrparse.report import AwrReport, read_awr
from awrparse.tables import TABLES, VIEWS
from logframe import LogParseError
from logframe.console import ends_with_its_reader, log_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WRITERS: dict[str, Callable[[pl.DataFrame, str], object]] = {
    ".csv": pl.DataFrame.write_csv,
    ".parquet": pl.DataFrame.write_parquet,
    ".json": pl.DataFrame.write_json,
    ".ndjson": pl.DataFrame.write_ndjson,
}
_TOP = ("event", "waits", "total_wait_s", "avg_wait_ms", "db_time_pct", "wait_class")


@ends_with_its_reader
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status: 0, or 1 when a report could not be read, or 2 for a wrong option."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(arguments)
    if options.tables:
        _print_tables()
        return 0
    if not options.report:
        _parser().print_usage(sys.stderr)
        return 2
    try:
        if options.table:
            return _write_table(options)
        return max([_print_report(path, check=options.check) for path in options.report], default=0)
    except LogParseError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command prints
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m awrparse",
        description="Read AWR, Statspack and ASH reports, text or HTML.",
    )
    parser.add_argument("report", nargs="*", metavar="REPORT", help="a file, folder or glob; - reads standard input")
    parser.add_argument("--tables", action="store_true", help="list the canonical tables and their columns")
    parser.add_argument("--table", metavar="NAME", help="one canonical table of all reports")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the table: .csv, .parquet, .json or .ndjson")
    parser.add_argument("--printed", action="store_true", help="with the bounds of each printed number")
    parser.add_argument("--check", action="store_true", help="figures of a report that contradict each other")
    return parser


def _print_tables() -> None:
    for table in TABLES.values():
        columns = ", ".join(table.schema)
        print(f"{table.name}\n    {table.meaning}\n    {columns}")  # noqa: T201 - a command prints
    print("\nparts of sql: " + ", ".join(VIEWS))  # noqa: T201 - a command prints


def _write_table(options: argparse.Namespace) -> int:
    found = read_awrs([log_named(path) for path in options.report], table=options.table, printed=options.printed)
    for row in found.diagnostics.iter_rows(named=True):
        place = ":".join(str(part) for part in (row["source"], row["line"]) if part is not None)
        print(f"{place}: {row['reason']}", file=sys.stderr)  # noqa: T201 - a command prints
    if options.output is None:
        with _wide():
            print(found.frame)  # noqa: T201 - a command prints
    else:
        suffix = Path(options.output).suffix.lower()
        if suffix not in _WRITERS:
            raise LogParseError(
                f"no way to write {suffix or 'a file without a suffix'}",
                source=options.output,
                expected=", ".join(_WRITERS),
            )
        try:
            _WRITERS[suffix](found.frame, options.output)
        except OSError as error:
            raise LogParseError(f"cannot be written: {error.strerror or error}", source=options.output) from error
        print(f"{found.frame.height} rows written to {options.output}")  # noqa: T201 - a command prints
    return int((found.diagnostics["kind"] == "unreadable").any())


def _print_report(path: str, *, check: bool) -> int:
    """One report on the terminal; 1 when it cannot be read."""
    try:
        first = read_awr(log_named(path))
    except LogParseError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command prints
        return 1
    for report in first.parts:
        _print_one(report, check=check)
    return 0


def _print_one(report: AwrReport, *, check: bool) -> None:
    print(f"{report.source}: {report.kind}, {report.form}, {len(report.found)} tables")  # noqa: T201 - a command prints
    for name, value in report.info.as_dict().items():
        if value is not None and name not in {"kind", "form"}:
            print(f"    {name:16} {value}")  # noqa: T201 - a command prints
    with _wide():
        if "top_events" in report:
            print(report["top_events"].select(_TOP))  # noqa: T201 - a command prints
        elif "ash_top_events" in report:
            print(report["ash_top_events"])  # noqa: T201 - a command prints
        if check:
            print(report.check())  # noqa: T201 - a command prints
    if not report.diagnostics.is_empty():
        print(f"    {report.diagnostics.height} rows in the diagnostics")  # noqa: T201 - a command prints


def _wide() -> pl.Config:
    """Frames with all their rows and columns."""
    return pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160, fmt_str_lengths=60, tbl_hide_dataframe_shape=True)
