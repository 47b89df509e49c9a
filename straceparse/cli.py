"""The command line: ``python -m straceparse LOG``.

Exit status 0 on success, 1 if no line is a line of strace or a file cannot be read, 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import LogParseError, open_logs
from logframe.console import ends_with_its_reader, log_named
from straceparse.call_totals import gap_totals, totals
from straceparse.diagnostics import unparsed
from straceparse.dialects import dialect_of
from straceparse.parquet import to_parquet
from straceparse.requests import io_requests
from straceparse.scan import scan_logs
from straceparse.schema import DURATION
from straceparse.summary import read_summary
from straceparse.system_calls import calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Log, Source

_EXAMPLES: Final = """examples:
  python -m straceparse ora_4711.strace                   calls, errors and time of each system call
  python -m straceparse --requests ora_4711.strace        one row an I/O request
  python -m straceparse -o events.parquet *.strace        all lines as a table, whatever the size
  strace -r -p 4711 2>&1 | python -m straceparse -        from a pipe
"""
_FORMATS: Final = {".parquet": "parquet", ".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}


@ends_with_its_reader
def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of the command."""
    options = _options(argv)
    try:
        return _run(options)
    except LogParseError as error:
        print(f"straceparse: {error}", file=sys.stderr)  # noqa: T201 - a command speaks to its user
        return 1


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m straceparse",
        description="Read logs of strace, whatever its version and options.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("logs", nargs="+", metavar="LOG", help="a log, compressed or not; - reads standard input")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--calls", action="store_true", help="one row a system call")
    what.add_argument("--requests", action="store_true", help="one row an I/O request")
    what.add_argument("--events", action="store_true", help="one row a line")
    what.add_argument("--unparsed", action="store_true", help="the lines that could not be read, and why")
    what.add_argument("--dialect", action="store_true", help="which options of strace wrote the log")
    what.add_argument("--summary", action="store_true", help="the table of strace -c or -C")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write .parquet, .csv or .ndjson")
    parser.add_argument("--json", action="store_true", help="print rows as JSON, one a line")
    parser.add_argument("-n", type=int, default=40, metavar="ROWS", help="rows to print (default %(default)s; 0: all)")
    options = parser.parse_args(argv)
    if options.output is not None and options.output.suffix not in _FORMATS:
        parser.error(f"{options.output}: the name must end in {', '.join(_FORMATS)}")
    return options


def _run(options: argparse.Namespace) -> int:
    source: Source = [log_named(log) for log in options.logs]
    if options.output is not None and not _is_table(options):
        return _write_events(source, options.output)
    logs = open_logs(source)
    if options.dialect:
        for log in logs:
            print(f"{log.name}: {dialect_of([log])}")  # noqa: T201 - a command speaks to its user
        return 0
    if options.summary:
        return _show(read_summary(source), options)
    dialect = dialect_of(logs)
    if not dialect.share:
        if dialect.has_summary:
            return _show(read_summary(source), options)
        raise LogParseError("no line is strace's", source=logs[0].name, expected="the output of strace")
    return _show(_table(logs, options, has_elapsed=dialect.has_elapsed), options)


def _is_table(options: argparse.Namespace) -> bool:
    return any((options.calls, options.requests, options.unparsed, options.summary, options.dialect))


def _table(logs: list[Log], options: argparse.Namespace, *, has_elapsed: bool) -> pl.DataFrame:
    events = scan_logs(logs, include_file_paths="log" if len(logs) > 1 else None)
    if options.events:
        return events.collect()
    if options.unparsed:
        return unparsed(events)
    if options.calls:
        return calls(events).collect()
    if options.requests:
        return io_requests(calls(events)).collect()
    return totals(events) if has_elapsed else gap_totals(calls(events).collect())


def _write_events(source: Source, output: Path) -> int:
    """Write all lines as a table, without holding them in memory."""
    if output.suffix == ".parquet" and output.is_dir():
        to_parquet(source, output)
        return 0
    events = scan_logs(open_logs(source))
    match _FORMATS[output.suffix]:
        case "parquet":
            events.sink_parquet(output)
        case "csv":
            _seconds(events).sink_csv(output)
        case _:
            _seconds(events).sink_ndjson(output)
    return 0


def _show(table: pl.DataFrame, options: argparse.Namespace) -> int:
    if options.output is not None:
        match _FORMATS[options.output.suffix]:
            case "parquet":
                table.write_parquet(options.output)
            case "csv":
                _seconds(table.lazy()).collect().write_csv(options.output)
            case _:
                _seconds(table.lazy()).collect().write_ndjson(options.output)
        return 0
    rows = table if options.n == 0 else table.head(options.n)
    if options.json:
        for row in _seconds(rows.lazy()).collect().iter_rows(named=True):
            print(json.dumps(row, default=str, ensure_ascii=False))  # noqa: T201 - a command speaks to its user
        return 0
    if rows.is_empty():
        print("no rows")  # noqa: T201 - a command speaks to its user
        return 0
    shown = [name for name in rows.columns if rows.get_column(name).null_count() < rows.height]
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=60, tbl_width_chars=200, tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True, tbl_formatting="ASCII_MARKDOWN",
    ):  # fmt: skip
        print(_seconds(rows.select(shown).lazy()).collect())  # noqa: T201 - a command speaks to its user
    if rows.height < table.height:
        print(f"{table.height - rows.height} more rows; -n 0 shows all")  # noqa: T201 - a command speaks to its user
    return 0


def _seconds(table: pl.LazyFrame) -> pl.LazyFrame:
    """Durations as seconds, under names that end in ``_s``."""
    durations = [name for name, dtype in table.collect_schema().items() if dtype == DURATION]
    return table.with_columns(
        (pl.col(name).cast(pl.Int64) / 1_000_000_000).round(9).alias(name) for name in durations
    ).rename({name: f"{name}_s" for name in durations})
