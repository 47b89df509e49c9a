"""``python -m sqlplusparse LOG``: the statements of a session as a table on the terminal."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import LogParseError
from logframe.console import ends_with_its_reader, log_named
from sqlplusparse.reader import read_spool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlplusparse.reader import Spool

_TEXT_WIDTH: Final = 56


@ends_with_its_reader
def main(argv: Sequence[str] | None = None) -> int:
    """Print the statements of the logs named; the exit status: 0, or 1 when a log cannot be read.

    Args:
        argv: arguments; those of the process when None.
    """
    parser = argparse.ArgumentParser(
        prog="python -m sqlplusparse",
        description="Print the statements of SQL*Plus and SQLcl sessions with their elapsed times, reads and gets.",
    )
    parser.add_argument(
        "logs", nargs="+", metavar="LOG", help="a spool file, compressed or not; - reads standard input"
    )
    parser.add_argument("--runs", action="store_true", help="print repeated statements as samples instead")
    parser.add_argument("--strict", action="store_true", help="stop at the first line that cannot be read")
    parser.add_argument("--encoding", help="of the logs, where the guess is wrong")
    parser.add_argument("--timing-pattern", help="regular expression for timings that scripts print themselves")
    options = parser.parse_args(argv)
    for log in options.logs:
        try:
            spool = read_spool(
                log_named(log), strict=options.strict, encoding=options.encoding, timing_pattern=options.timing_pattern
            )
        except LogParseError as error:
            sys.stderr.write(f"{error}\n")
            return 1
        sys.stdout.write(_report(spool, has_runs=options.runs) + "\n")
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
