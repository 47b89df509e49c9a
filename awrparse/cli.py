"""The command line: what a report is, its top events, any of its tables as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

from awrparse.many import read_awrs
from awrparse.report import AwrReport, read_awr
from awrparse.tables import TABLES, VIEWS
from logframe import LogParseError
from logframe.atomic import replacing
from logframe.console import limit_option, log_named, put, run, say, spreadsheet_option, version_option
from logframe.parquet import write_parquet
from logframe.spreadsheet import spreadsheet_safe as safe_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": pl.DataFrame.write_csv,
    ".parquet": write_parquet,
    ".json": pl.DataFrame.write_json,
    ".ndjson": pl.DataFrame.write_ndjson,
}
_TOP = ("event", "waits", "total_wait_s", "avg_wait_ms", "db_time_pct", "call_time_pct", "wait_class")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code (`logframe.console`).

    Args:
        arguments: The words after the command's name; by default those of the process.
    """
    return run(show, arguments, "python -m awrparse")


@click.command(
    params=[version_option(), limit_option(), spreadsheet_option()],
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("reports", nargs=-1, metavar="REPORT...")
@click.option("--tables", is_flag=True, help="List the canonical tables and their columns.")
@click.option("--table", metavar="NAME", help="One canonical table of all reports.")
@click.option("-o", "--output", metavar="FILE", help="Write the table: .csv, .parquet, .json or .ndjson.")
@click.option("--printed", is_flag=True, help="With the bounds of each printed number.")
@click.option("--check", is_flag=True, help="Figures of a report that contradict each other.")
def show(
    reports: tuple[str, ...],
    tables: bool,  # noqa: FBT001 - click passes options by name
    table: str | None,
    output: str | None,
    printed: bool,  # noqa: FBT001 - see above
    check: bool,  # noqa: FBT001 - see above
    spreadsheet_safe: bool,  # noqa: FBT001 - see above
) -> int:
    """Read AWR, Statspack and ASH reports, text or HTML.

    REPORT is a file, a folder or a pattern; - reads standard input.
    """
    if tables:
        _print_tables()
        return 0
    if not reports:
        raise click.UsageError("missing argument 'REPORT...'")
    if table:
        return _write_table(reports, table, output, printed=printed, is_safe=spreadsheet_safe)
    return max([_print_report(path, check=check) for path in reports], default=0)


def _print_tables() -> None:
    for table in TABLES.values():
        columns = ", ".join(table.schema)
        put(f"{table.name}\n    {table.meaning}\n    {columns}")
    put("\nparts of sql: " + ", ".join(VIEWS))


def _write_table(reports: Sequence[str], table: str, output: str | None, *, printed: bool, is_safe: bool) -> int:
    found = read_awrs([log_named(path) for path in reports], table=table, printed=printed)
    for row in found.diagnostics.iter_rows(named=True):
        place = ":".join(str(part) for part in (row["source"], row["line"]) if part is not None)
        say(f"{place}: {row['reason']}")
    if output is None:
        with _wide():
            put(found.frame)
    else:
        suffix = Path(output).suffix.lower()
        if suffix not in _WRITERS:
            raise LogParseError(
                f"no way to write {suffix or 'a file without a suffix'}",
                source=output,
                expected=", ".join(_WRITERS),
            )
        try:
            with replacing(output, inputs=reports) as path:
                is_marked = is_safe and suffix == ".csv"
                _WRITERS[suffix](safe_cells(found.frame) if is_marked else found.frame, path)
        except OSError as error:
            raise LogParseError(f"cannot be written: {error.strerror or error}", source=output) from error
        put(f"{found.frame.height} rows written to {output}")
    return int(found.diagnostics["kind"].is_in(["unreadable", "no_report"]).any())


def _print_report(path: str, *, check: bool) -> int:
    """One report on the terminal; 1 when it cannot be read."""
    try:
        first = read_awr(log_named(path))
    except LogParseError as error:
        say(str(error))
        return 1
    for report in first.parts:
        _print_one(report, check=check)
    return 0


def _print_one(report: AwrReport, *, check: bool) -> None:
    put(f"{report.source}: {report.kind}, {report.form}, {len(report.raw_tables)} tables")
    for name, value in report.info.as_dict().items():
        if value is not None and name not in {"kind", "form"}:
            put(f"    {name:16} {value}")
    with _wide():
        if "top_events" in report:
            put(report["top_events"].select(_TOP))
        elif "ash_top_events" in report:
            put(report["ash_top_events"])
        if check:
            put(report.check())
    if not report.diagnostics.is_empty():
        put(f"    {report.diagnostics.height} rows in the diagnostics")


def _wide() -> pl.Config:
    """Frames with all their rows and columns."""
    return pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=160, fmt_str_lengths=60, tbl_hide_dataframe_shape=True)
