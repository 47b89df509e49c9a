"""Repeated statements as samples, in run order: what a comparison of runs needs."""

from __future__ import annotations

from typing import Final

import polars as pl

from sqlplusparse.lines import COMMANDS, GRAMMAR, Pattern
from sqlplusparse.schemas import RUNS, no_rows

_LITERAL: Final = Pattern("(?P<literal>{SQL_LITERAL})", COMMANDS)
#: Kinds of statements that set the stage for a run and are not.
NO_RUNS: Final = ("command", "alter system", "alter session", "transaction")
_COPIED: Final = (
    "statement",
    "text",
    "kind",
    "status",
    "elapsed_s",
    "elapsed_s_lo",
    "elapsed_s_hi",
    "resolution_s",
    "rows",
    "physical_reads",
    "gets",
    "recursive_calls",
    "plan_hash_value",
    "flushed_before",
)


def normal_text(text: str) -> str:
    r"""A statement's text without what makes no difference: blanks, case outside literals, the mark at its end.

    Examples:
        >>> normal_text("SELECT  count(*)\n FROM Test WHERE s = 'A  b';")
        "select count(*) from test where s = 'A  b'"
    """
    parts = _LITERAL.compiled.split(text.strip().rstrip(";/ \n"))
    return "".join(
        part if number % 2 else " ".join(f"<{part.lower()}>".split())[1:-1] for number, part in enumerate(parts)
    )


def find_runs(
    statements: pl.DataFrame,
    timings: pl.DataFrame,
    tables: pl.DataFrame,
    *,
    by: str | None,
    period: int | None,
    min_runs: int,
    is_left_out: bool = False,
) -> pl.DataFrame:
    """The samples of a session, or the runs that belong to none; see `Spool.runs` and `Spool.runs_left_out`."""
    if by not in {None, "text", "shape", "label"}:
        raise ValueError(f"no way to find runs by {by!r}; there are text, shape and label")
    rows = statements.filter(~pl.col("kind").is_in(NO_RUNS).fill_null(False))
    if period is not None:
        if period < 1:
            raise ValueError("a period is 1 or more")
        keyed = rows.with_row_index("place").with_columns(key="period " + (pl.col("place") % period).cast(pl.String))
    elif by == "label":
        keyed = None
    else:
        keyed = _keyed(rows, tables, by) if rows.height >= min_runs else None
    if keyed is not None:
        keyed = keyed.filter(is_other_run() if is_left_out else ~is_other_run())
    if is_left_out:
        return no_rows("runs") if keyed is None or keyed.is_empty() else _joined([_numbered(keyed, 1)])
    found = [] if keyed is None or keyed.height < min_runs else [_numbered(keyed, min_runs)]
    if period is None and by in {None, "label"}:
        labelled = timings.filter(pl.col("origin") == "pattern")
        found += [_labelled(labelled, min_runs)] if labelled.height else []
    found = [part for part in found if part.height]
    return _joined(found) if found else no_rows("runs")


def is_other_run() -> pl.Expr:
    """A run that failed, or returned another number of rows than more than half of the runs that succeeded."""
    failed = (pl.col("status") != "ok").fill_null(value=False)
    counts = pl.col("rows").filter(~failed)
    usual = counts.drop_nulls().mode().sort().first()
    is_usual = (counts == usual).sum() * 2 > counts.count()
    return failed | ((pl.col("rows") != usual) & is_usual).over("key").fill_null(value=False)


def _keyed(rows: pl.DataFrame, tables: pl.DataFrame, by: str | None) -> pl.DataFrame:
    """The statements with a key each: the same for runs of the same statement."""
    text = pl.col("text").map_elements(normal_text, return_dtype=pl.String)
    if by == "text" or (by is None and not rows.get_column("text").null_count()):
        return rows.filter(pl.col("text").is_not_null()).with_columns(key=text)
    shape = pl.format(
        "series {} {} {} {} {} {}",
        "series",
        pl.col("kind").fill_null("?"),
        pl.col("grid").fill_null("-"),
        pl.col("message").str.replace_all(GRAMMAR.pattern("{DIGITS}"), "n").fill_null("-"),
        pl.col("elapsed_s").is_not_null(),
        pl.col("plan_hash_value").is_not_null(),
    )
    headings = tables.group_by("statement", maintain_order=True).agg(
        pl.col("headings").list.join("|").first().alias("grid")
    )
    joined = rows.join(headings, on="statement", how="left", maintain_order="left")
    unechoed = pl.col("text").is_null() & pl.col("elapsed_s").is_not_null()
    if by == "shape":
        return joined.filter(unechoed).with_columns(key=shape)
    return joined.filter(unechoed | pl.col("text").is_not_null()).with_columns(
        key=pl.when(pl.col("text").is_null()).then(shape).otherwise(text)
    )


def _numbered(keyed: pl.DataFrame, min_runs: int) -> pl.DataFrame:
    return (
        keyed.with_columns(
            run=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("key"),
            size=pl.len().over("key"),
            first_plan=pl.col("plan_hash_value").drop_nulls().first().over("key"),
        )
        .filter(pl.col("size") >= min_runs)
        .with_columns(is_plan_changed=pl.col("plan_hash_value") != pl.col("first_plan"))
        .select("key", "run", *_COPIED, "is_plan_changed")
    )


def _labelled(timings: pl.DataFrame, min_runs: int) -> pl.DataFrame:
    """Timings found by the caller's pattern, a sample a label."""
    label = pl.format("label {}", pl.col("label"))
    copied = ("statement", "elapsed_s", "elapsed_s_lo", "elapsed_s_hi", "resolution_s")
    return (
        timings.with_columns(
            key=label, run=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(label), size=pl.len().over(label)
        )
        .filter(pl.col("size") >= min_runs)
        .select("key", "run", pl.col("label").alias("text"), *copied)
    )


def _joined(found: list[pl.DataFrame]) -> pl.DataFrame:
    """The samples numbered in the order of their first runs."""
    rows = pl.concat(found, how="diagonal")
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in RUNS.items() if name not in {*rows.columns, "sample"}]
    keys = rows["key"].unique(maintain_order=True).to_list()
    samples = {key: number for number, key in enumerate(keys, 1)}
    return (
        rows.with_columns(*missing, sample=pl.col("key").replace_strict(samples, default=None, return_dtype=pl.Int64))
        .select(pl.col(name).cast(dtype) for name, dtype in RUNS.items())
        .sort("sample", "run")
    )
