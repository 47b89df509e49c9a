"""The view of SQL*Plus sessions: statements, repeated runs as samples, and the figures of one timed statement."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab import charts, metrics
from iolab.pages.figures import join_figures
from iolab.rules.session_pairs import session_pair
from iolab.rules.sessions import block_bound, session_findings
from iolab.stats.intervals import MIN_RUNS, median_interval
from iolab.time_ledger.spools import spool_headline, spool_ledgers
from iolab.views import Summary, View
from logframe.lazy import on_use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlplusparse import Spool

#: What a summary shows of statements and plans; the loaded log has more.
_OF_STATEMENTS: Final = (
    *("statement", "first_line", "text", "kind", "status", "error", "message", "rows", "elapsed_s", "elapsed_s_lo"),
    *("elapsed_s_hi", "plan_hash_value", "physical_reads", "gets"),
)
_OF_PLANS: Final = (
    *("statement", "plan_hash_value", "id", "operation", "object_name", "starts", "e_rows", "cost", "a_rows"),
    *("a_time_s", "buffers", "reads"),
)
#: Columns of the frame `samples`.
SAMPLES: Final = pl.Schema(
    {
        "sample": pl.Int64(),
        "text": pl.String(),
        "runs": pl.Int64(),
        "median_s": pl.Float64(),
        "ci95_low_s": pl.Float64(),
        "ci95_high_s": pl.Float64(),
        "first_s": pl.Float64(),
        "fastest_s": pl.Float64(),
        "slowest_s": pl.Float64(),
    }
)


def spool_frames(log: Spool) -> dict[str, pl.DataFrame]:
    """The main frames of a session by name; those without a row are left out."""
    runs = log.runs().filter(pl.col("elapsed_s").count().over("sample") > 1)
    named = {
        "samples": samples(runs),
        "statements": log.statements.select(_OF_STATEMENTS),
        "runs": runs,
        "autotrace": log.autotrace.filter("is_shown").select("statement", "name", "value"),
        "statistics": log.statistics.select(
            "statement", "listing", "name", "value", "value_lo", "value_hi", "unit", "basis"
        ),
        "plans": log.plans.select(_OF_PLANS),
    }
    return {name: frame for name, frame in named.items() if frame.height}


def samples(runs: pl.DataFrame) -> pl.DataFrame:
    """One row a sample of repeated runs: the median of its elapsed times with a 95 % interval, and its ends.

    Args:
        runs: What `sqlplusparse.Spool.runs` gives.

    Returns:
        The columns `SAMPLES`; the interval has four digits, and is null where fewer than 6 runs allow none.

    Examples:
        >>> runs = pl.DataFrame({"sample": [1] * 3, "text": ["select 1 from dual"] * 3, "elapsed_s": [0.4, 0.2, 0.3]})
        >>> samples(runs).row(0)
        (1, 'select 1 from dual', 3, 0.3, None, None, 0.4, 0.2, 0.4)
    """
    rows = []
    timed = runs.filter(pl.col("elapsed_s").is_not_null())
    for (number,), sample in timed.group_by("sample", maintain_order=True):
        times = sample.get_column("elapsed_s").to_list()
        ends = median_interval(times) if len(times) >= MIN_RUNS else ()
        # Between ties the interval has more digits than the clock.
        low, high = (float(f"{end:.4g}") for end in ends) if ends else (None, None)
        others = (times[0], min(times), max(times))
        rows.append((number, sample.item(0, "text"), len(times), median(times), low, high, *others))
    return pl.DataFrame(rows, schema=SAMPLES, orient="row")


def spool_figures(log: Spool) -> tuple[pl.DataFrame, list[str]]:
    """The metrics of a session (`iolab.metrics.METRICS`), and what is to be said where it has none."""
    try:
        figures = join_figures([*_of_statement(log), metrics.read_metrics(log)])
    except LookupError as error:
        timed = log.statements.get_column("elapsed_s").drop_nulls().len()
        why = f"{timed} statements were timed, each for itself" if timed > 1 else str(error).strip('"')
        return join_figures([]), [f"no figures of reads: {why}"]
    if figures.is_empty():
        return figures, ["no figures: no statement shows a time, or statistics of its reads"]
    return figures, []


def _of_statement(log: Spool) -> Iterator[pl.DataFrame]:
    """The elapsed time of the one statement that was timed, and what a logical I/O cost it, by CPU, else at most.

    Raises:
        LookupError: If several statements were timed, or show their gets.
    """
    elapsed = metrics.elapsed_of(log)
    if elapsed is not None:
        basis, caveat = "elapsed, as the client shows it", "the client's clock: the network and the fetches are in it"
        seconds = metrics.Metric("elapsed_s", elapsed.value, elapsed.lo, elapsed.hi, "s", basis, caveat)
        yield metrics.metrics_frame([seconds])
    found = metrics.lio_cost(log)
    if found is not None:
        yield found


def summarize_session(log: Spool) -> Summary:
    """The statements, samples, statistics and plans of a session, its figures, and its runs as a chart."""
    frames = spool_frames(log)
    figures, notes = spool_figures(log)
    runs = frames.get("runs")
    drawers = {} if runs is None else {"run_strip": lambda _: _draw_runs(runs)}
    return Summary(frames, figures, tuple(notes), drawers)


def _draw_runs(runs: pl.DataFrame) -> Any:  # noqa: ANN401 - any chart
    return charts.run_strip.spec(runs.with_columns(sample=pl.concat_str(pl.lit("sample "), "sample")), run="statement")


def _columns(log: Spool) -> pl.DataFrame:
    """Blocks of each statement and the most that one can have taken, else its gets; of repeated runs nothing."""
    costs = metrics.statement_costs(log)
    if costs.is_empty() or costs.get_column("blocks").null_count() == costs.height or costs["runs"].max() != 1:
        return pl.DataFrame()
    if not any(block_bound(row) for row in costs.iter_rows(named=True)) and int(costs["gets"].sum()) > 0:
        return costs.select("part", gets=pl.col("gets").map_elements("{:,}".format, pl.String).fill_null(""))
    return pl.DataFrame(
        [
            (
                row["part"],
                f"{row['blocks']:,}" if row["blocks"] else "",
                f"<={each}" if (each := block_bound(row)) else "",
            )
            for row in costs.iter_rows(named=True)
        ],
        schema={"part": pl.String, "blocks": pl.String, "per_block": pl.String},
        orient="row",
    )


VIEW: Final = View(
    summarize_session,
    noun="SQL*Plus session",
    compare={
        "sqlplus": on_use("iolab.comparison.sessions:pair_sessions"),
        "strace": on_use("iolab.comparison.report_and_trace:pair_evidence"),
    },
    compare_runs=on_use("iolab.comparison.sessions:pair_runs"),
    findings=session_findings,
    ledgers=spool_ledgers,
    headline=spool_headline,
    columns=_columns,
    looked_at="times of statements, repeated runs, logical reads, and statistics of reads and of flash",
    pair_findings={"sqlplus": session_pair, "strace": on_use("iolab.rules.evidence:session_and_trace")},
)
