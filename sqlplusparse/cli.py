"""``python -m sqlplusparse LOG``: the statements of a session as a table on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
import polars as pl

from logframe.console import limit_option, log_named, put, run, version_option
from sqlplusparse.reader import read_spool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlplusparse.reader import Spool

_TEXT_WIDTH: Final = 56


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code (`logframe.console`).

    Args:
        arguments: The words after the command's name; by default those of the process.
    """
    return run(show, arguments, "python -m sqlplusparse")


@click.command(params=[version_option(), limit_option()], context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--runs", is_flag=True, help="Print repeated statements as samples instead.")
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be read.")
@click.option("--encoding", help="Of the logs, where the guess is wrong.")
@click.option("--timing-pattern", help="Regular expression for timings that scripts print themselves.")
def show(
    logs: tuple[str, ...],
    runs: bool,  # noqa: FBT001 - click passes options by name
    strict: bool,  # noqa: FBT001 - see above
    encoding: str | None,
    timing_pattern: str | None,
) -> int:
    """Print the statements of SQL*Plus and SQLcl sessions with their elapsed times, reads and gets.

    LOG is a spool file, compressed or not; - reads standard input.
    """
    for log in logs:
        spool = read_spool(log_named(log), strict=strict, encoding=encoding, timing_pattern=timing_pattern)
        put(_report(spool, has_runs=runs))
    return 0


def _report(spool: Spool, *, has_runs: bool) -> str:
    """The table of one session and a line of counts."""
    frame = _runs(spool) if has_runs else _statements(spool)
    notes = spool.diagnostics["kind"].value_counts(sort=True).sort("count", "kind", descending=[True, False])
    counted = ", ".join(f"{kind} {count}" for kind, count in notes.iter_rows()) or "none"
    with pl.Config(
        tbl_formatting="ASCII_MARKDOWN",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=400,
        fmt_str_lengths=_TEXT_WIDTH + 8,
        set_fmt_float="full",
    ):
        return f"{spool.source} ({spool.encoding})\n{frame}\ndiagnostics: {counted}\n"


def _text() -> pl.Expr:
    return pl.col("text").str.replace_all(r"\s+", " ").str.head(_TEXT_WIDTH).alias("text")


def _statements(spool: Spool) -> pl.DataFrame:
    status = pl.coalesce("error", "status").alias("status")
    return spool.statements.select(
        "statement", "kind", _text(), status, "rows", "elapsed_s", "physical_reads", "gets", "flushed_before"
    )


def _runs(spool: Spool) -> pl.DataFrame:
    return spool.runs().select(
        "sample",
        "run",
        "statement",
        _text(),
        "elapsed_s",
        "physical_reads",
        "gets",
        "is_plan_changed",
        "flushed_before",
    )
