"""The command line: ``python -m straceparse LOG``.

Exit status 0 on success, 1 if no line is a line of strace or a file cannot be read, 2 for wrong arguments.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import polars as pl

import straceparse  # of the tables only that one is imported which is asked for
from logframe import LogParseError
from logframe.atomic import replacing
from logframe.console import limit_option, log_named, put, run, spreadsheet_option, version_option
from logframe.parquet import write_parquet
from logframe.spreadsheet import spreadsheet_safe as safe_cells
from straceparse.dialects import dialect_of
from straceparse.opening import open_logs
from straceparse.scan import scan_logs
from straceparse.schema import DURATION
from straceparse.system_calls import totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from logframe import Log, Source
    from straceparse.dialects import Dialect

_EXAMPLES: Final = """\b
examples:
  python -m straceparse ora_4711.strace                   calls, errors and time of each system call
  python -m straceparse --requests ora_4711.strace        one row an I/O request
  python -m straceparse -o events.parquet *.strace        all lines as a table, whatever the size
  strace -r -p 4711 2>&1 | python -m straceparse -        from a pipe
"""
_FORMATS: Final = {".parquet": "parquet", ".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}


@dataclass(frozen=True)
class _Options:
    """What the command line asks for."""

    logs: tuple[str, ...]
    table: str
    output: Path | None
    json: bool
    n: int
    spreadsheet_safe: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code (`logframe.console`).

    Args:
        arguments: The words after the command's name; by default those of the process.
    """
    return run(show, arguments, "python -m straceparse")


@click.command(
    params=[version_option(), limit_option(), spreadsheet_option()],
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EXAMPLES,
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--calls", "tables", flag_value="calls", multiple=True, help="One row a system call.")
@click.option("--requests", "tables", flag_value="requests", multiple=True, help="One row an I/O request.")
@click.option("--events", "tables", flag_value="events", multiple=True, help="One row a line.")
@click.option("--unparsed", "tables", flag_value="unparsed", multiple=True, help="The lines not read, and why.")
@click.option("--dialect", "tables", flag_value="dialect", multiple=True, help="Which options of strace wrote the log.")
@click.option("--summary", "tables", flag_value="summary", multiple=True, help="The table of strace -c or -C.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write .parquet, .csv or .ndjson."
)
@click.option("--json", "as_json", is_flag=True, help="Print rows as JSON, one a line.")
@click.option("-n", default=40, metavar="ROWS", show_default=True, help="Rows to print; 0 prints all.")
def show(
    logs: tuple[str, ...],
    tables: tuple[str, ...],
    output: Path | None,
    as_json: bool,  # noqa: FBT001 - click passes options by name
    n: int,
    spreadsheet_safe: bool,  # noqa: FBT001 - see above
) -> int:
    """Read logs of strace, whatever its version and options.

    By default: calls, errors and time of each system call.  LOG is a log, compressed or not; - reads standard input.
    """
    if len(tables) > 1:
        raise click.UsageError(f"one table at a time, not {', '.join(f'--{name}' for name in tables)}")
    if output is not None and output.suffix not in _FORMATS:
        raise click.UsageError(f"{output}: the name must end in {', '.join(_FORMATS)}")
    return _run(_Options(logs, tables[0] if tables else "", output, as_json, n, spreadsheet_safe))


def _run(options: _Options) -> int:
    source: Source = [log_named(log) for log in options.logs]
    if options.output is not None and not _is_table(options):
        return _write_events(source, options, options.output)
    logs = open_logs(source)
    if options.table == "dialect":
        for log in logs:
            put(f"{log.name}: {dialect_of([log])}")
        return 0
    if options.table == "summary":
        return _show(straceparse.read_summary(source), options)
    dialect = dialect_of(logs)
    if not dialect.share:
        if dialect.has_summary:
            return _show(straceparse.read_summary(source), options)
        raise LogParseError("no line is strace's", source=logs[0].name, expected="the output of strace")
    return _show(_table(logs, options, dialect), options)


def _is_table(options: _Options) -> bool:
    return options.table not in {"", "events"}


def _table(logs: list[Log], options: _Options, dialect: Dialect) -> pl.DataFrame | pl.LazyFrame:
    events = scan_logs(logs, include_file_paths="log" if len(logs) > 1 else None, dialect=dialect)
    if options.table == "events":
        return events
    if options.table == "unparsed":
        return straceparse.unparsed(events)
    if options.table == "" and dialect.has_elapsed:
        return totals(events)
    calls = straceparse.calls(events)
    if options.table == "calls":
        return calls
    return straceparse.io_requests(calls) if options.table == "requests" else straceparse.gap_totals(calls)


def _write_events(source: Source, options: _Options, output: Path) -> int:
    if output.suffix == ".parquet" and output.is_dir():
        straceparse.to_parquet(source, output)
    else:
        _write(scan_logs(open_logs(source)), options, output)
    return 0


def _write(table: pl.LazyFrame, options: _Options, output: Path) -> None:
    """Write a table, without holding it in memory."""
    with replacing(output, inputs=options.logs) as path:
        match _FORMATS[output.suffix]:
            case "parquet":
                write_parquet(table, path)
            case "csv":
                cells = _seconds(table)
                (safe_cells(cells) if options.spreadsheet_safe else cells).sink_csv(path)
            case _:
                _seconds(table).sink_ndjson(path)


def _show(found: pl.DataFrame | pl.LazyFrame, options: _Options) -> int:
    if options.output is not None:
        _write(found.lazy(), options, options.output)
        return 0
    table = found.lazy().collect()
    rows = table if options.n == 0 else table.head(options.n)
    if options.json:
        for row in _seconds(rows.lazy()).collect().iter_rows(named=True):
            print(json.dumps(row, default=str, ensure_ascii=False))  # noqa: T201 - a command speaks to its user
        return 0
    if rows.is_empty():
        put("no rows")
        return 0
    shown = [name for name in rows.columns if rows.get_column(name).null_count() < rows.height]
    with pl.Config(
        tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=60, tbl_width_chars=200, tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True, tbl_formatting="ASCII_MARKDOWN",
    ):  # fmt: skip
        put(_seconds(rows.select(shown).lazy()).collect())
    if rows.height < table.height:
        put(f"{table.height - rows.height} more rows; -n 0 shows all")
    return 0


def _seconds(table: pl.LazyFrame) -> pl.LazyFrame:
    """Durations as seconds, under names that end in ``_s``."""
    durations = [name for name, dtype in table.collect_schema().items() if dtype == DURATION]
    return table.with_columns(
        (pl.col(name).cast(pl.Int64) / 1_000_000_000).round(9).alias(name) for name in durations
    ).rename({name: f"{name}_s" for name in durations})
