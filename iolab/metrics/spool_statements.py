"""Statements of a SQL*Plus session: the time of all runs of one text, and what autotrace says that they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import finalize

import polars as pl

from iolab.loading import as_log
from iolab.metrics.formatting import MOST_TEXT
from sqlplusparse.runs import is_other_run, normal_text

if TYPE_CHECKING:
    from logframe import Source
    from sqlplusparse import Spool

#: From this many runs of one text on the session repeats statements, and they are named by number.
SAMPLE: Final = 3
#: This much of a statement's text is its name; places of this many runs are listed.
_NAME: Final = 200
_MOST_PLACES: Final = 20
#: What ends a statement's text and is not part of it.
_END: Final = ";/ \n"
_EXACT: Final = pl.Schema({"text": pl.String(), "exact": pl.String()})
_ELIGIBLE: Final = "cell physical IO bytes eligible for predicate offload"
#: What autotrace counts, and the columns of `STATEMENT_COSTS`.
_TRACED: Final = {
    "physical reads": "blocks",
    "recursive calls": "recursive_calls",
    "SQL*Net roundtrips to/from client": "round_trips",
    "sorts (disk)": "disk_sorts",
    "redo size": "redo_bytes",
    "rows processed": "rows",
}
_COUNTS: Final = ("gets", *_TRACED.values())
#: Columns of `statement_costs`.  ``elapsed_s`` is the sum of the ``runs``; ``times``, ``plans`` (hash values),
#: ``trips`` (round trips), ``reads`` (blocks from disk) and ``recursive`` (calls) are those of each run, but for runs
#: that returned another number of rows than most; ``statements`` and ``lines`` are the places of the first ones.
#: Counts are sums over the runs that autotrace counted, and null where it counted none.
STATEMENT_COSTS: Final = pl.Schema(
    {
        **dict.fromkeys(("part", "name", "text", "kind"), pl.String()),
        **dict.fromkeys(("statement", "line", "runs"), pl.Int64()),
        **dict.fromkeys(("elapsed_s", "elapsed_s_lo", "elapsed_s_hi"), pl.Float64()),
        **dict.fromkeys(("statements", "lines"), pl.List(pl.Int64())),
        "times": pl.List(pl.Float64()),
        **dict.fromkeys(("plans", "trips", "reads", "recursive"), pl.List(pl.Int64())),
        **dict.fromkeys(_COUNTS, pl.Int64()),
        **dict.fromkeys(("us_per_block_hi", "us_per_get_hi", "rows_per_trip"), pl.Float64()),
    }
)
#: The costs of sessions that are in memory: the ledger, its rules and its head ask for them, each.
_KNOWN: Final[dict[int, pl.DataFrame]] = {}


def statement_costs(spool: Spool | Source) -> pl.DataFrame:
    r"""The time of each statement of a session, and the most that a block or a get of it can have taken.

    The runs of one text, blanks and case folded, are one row.  Failed runs are left out.  A run whose text is not in
    the log is a row of its own, named by its line and kind.  The bounds are the whole elapsed time divided by the
    count, as if nothing else had taken time; they are null where reads overlap (parallel query, smart scan), as such a
    quotient bounds no read.

    Source: SQL*Plus User's Guide, SET TIMING, SET AUTOTRACE.

    Limitations: the time is the client's: the network, fetches and printing are in it. A bound is no average of a read,
    and a multiblock read brings several blocks.

    Returns:
        The columns `STATEMENT_COSTS`, in the order of the first runs.  ``part`` is the statement's number in
        `sqlplusparse.Spool.statements` where the session repeats statements three times or more, else its line.

    Examples:
        >>> import sqlplusparse
        >>> run = "SQL> select count(*)\n  2  from t;\n\nElapsed: 00:00:0{}.00\n"
        >>> two, three = (sqlplusparse.read_spool((run.format(1) * number).encode()) for number in (2, 3))
        >>> statement_costs(two).select("part", "name", "runs", "elapsed_s").row(0)
        ('line 1', 'line 1: select count(*) from t', 2, 2.0)
        >>> statement_costs(three).select("part", "name", "runs", "elapsed_s").row(0)
        ('statement 1', '1: select count(*) from t', 3, 3.0)
        >>> traced = run.format(1) + f"\nStatistics\n{'-' * 58}\n  0  db block gets\n  400  consistent gets\n" + (
        ...     "  101  physical reads\n  10  SQL*Net roundtrips to/from client\n  150  rows processed\n")
        >>> costs = statement_costs(sqlplusparse.read_spool(traced.encode()))
        >>> costs.select("blocks", "gets", "us_per_block_hi", "rows_per_trip").row(0)
        (101, 400, 10000.0, 15.0)
    """
    spool = as_log(spool, "sqlplus")
    key = id(spool)
    if key not in _KNOWN:
        _KNOWN[key] = _costs(spool)
        finalize(spool, _KNOWN.pop, key)
    return _KNOWN[key]


def _costs(spool: Spool) -> pl.DataFrame:
    is_parallel = pl.col("tq").is_not_null() | pl.col("in_out").is_not_null()
    is_traced = spool.autotrace.height > 0
    parallel = spool.plans.filter(is_parallel).get_column("statement").unique().to_list() if is_traced else []
    smart = spool.statistics.filter((pl.col("name") == _ELIGIBLE) & (pl.col("value") > 0)).height > 0
    overlaps = pl.col("statement").is_in(parallel).any() | pl.lit(smart)

    def at_most(count: str) -> pl.Expr:
        number = pl.col(count).sum()
        spent = pl.col("elapsed_s_hi").filter(pl.col(count).is_not_null()).sum()
        return pl.when((number > 0) & ~overlaps).then(spent * 1e6 / number)

    return (
        _with_counts(_named(spool), spool)
        .group_by("part", maintain_order=True)
        .agg(
            pl.col("name", "statement", "text", "kind").first(),
            pl.col("elapsed_s", "elapsed_s_lo", "elapsed_s_hi").sum(),
            *(pl.when(pl.col(name).is_not_null().any()).then(pl.col(name).sum()).alias(name) for name in _COUNTS),
            line=pl.col("first_line").first(),
            runs=pl.len(),
            statements=pl.col("statement").head(_MOST_PLACES),
            lines=pl.col("first_line").head(_MOST_PLACES),
            times=pl.col("elapsed_s").filter(~pl.col("is_other")),
            plans=pl.col("plan_hash_value").filter(~pl.col("is_other")),
            trips=pl.col("round_trips").filter(~pl.col("is_other")),
            reads=pl.col("blocks").filter(~pl.col("is_other")),
            recursive=pl.col("recursive_calls").filter(~pl.col("is_other")),
            us_per_block_hi=at_most("blocks"),
            us_per_get_hi=at_most("gets"),
        )
        .with_columns(
            rows_per_trip=pl.when(pl.col("round_trips") > 0).then(pl.col("rows") / pl.col("round_trips")),
        )
        .select(pl.col(name).cast(kind) for name, kind in STATEMENT_COSTS.items())
    )


def _with_counts(runs: pl.DataFrame, spool: Spool) -> pl.DataFrame:
    """Runs with what autotrace counted for each."""
    runs = runs.drop("rows")
    if spool.autotrace.is_empty():
        return runs.with_columns(pl.lit(None, pl.Int64()).alias(name) for name in _TRACED.values())
    value = pl.col("value")
    traced = spool.autotrace.group_by("statement").agg(
        value.filter(pl.col("name") == name).first().alias(column) for name, column in _TRACED.items()
    )
    return runs.join(traced, on="statement", how="left", maintain_order="left")


def _named(spool: Spool) -> pl.DataFrame:
    """The statements that succeeded and have a time, each with its ``part`` and the ``name`` of that."""
    timed = spool.statements.filter(pl.col("elapsed_s").is_not_null() & (pl.col("status") == "ok"))
    folded = pl.col("text").str.replace_all(r"\s+", " ").str.strip_chars()
    timed = timed.with_columns(
        key=folded.str.strip_chars_end(_END).str.to_lowercase(), short=folded.str.slice(0, _NAME)
    )
    # Case and blanks inside literals are kept: only texts of one key with several spellings can differ in them.
    texts: list[str] = []
    if timed.get_column("text").n_unique() > timed.get_column("key").n_unique():
        several = timed.filter(pl.col("key").is_not_null() & (pl.col("text").n_unique().over("key") > 1))
        texts = several.get_column("text").unique().to_list()
    exact = pl.DataFrame({"text": texts, "exact": list(map(normal_text, texts))}, schema=_EXACT)
    has_text = pl.col("text").is_not_null()
    timed = timed.join(exact, on="text", how="left", maintain_order="left").with_columns(
        key=pl.coalesce("exact", "key", pl.format("line {}", "first_line"))
    )
    is_repeated = timed.filter(has_text & (pl.len().over("key") >= SAMPLE)).height > 0
    number, line = (pl.col(name).first().over("key") for name in ("statement", "first_line"))
    by_number = has_text & pl.lit(is_repeated)
    titles = [  # what stands above may name a statement, where it is no end of another
        f", below `{title}`"
        if text is None and 0 < len(title := spool.title(line)) <= MOST_TEXT and title[-1] not in _END
        else ""
        for text, line in timed.select("text", "first_line").iter_rows()
    ]
    label = pl.when(has_text).then("short").otherwise(pl.col("kind").fill_null("no text") + pl.Series(titles))
    return timed.with_columns(
        is_other=is_other_run(),
        part=pl.when(by_number).then(pl.format("statement {}", number)).otherwise(pl.format("line {}", line)),
        name=pl.when(by_number)
        .then(pl.format("{}: {}", number, "short"))
        .otherwise(pl.format("line {}: {}", line, label)),
    )
