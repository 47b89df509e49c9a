"""The database beside the system calls: what it counted, what `strace` saw of the same reads, and if they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics import total_waits
from iolab.metrics.lookups import statistic
from iolab.metrics.table import nanoseconds
from iolab.metrics.trace_reads import data_reads
from logframe.interval import ENDS, Interval, figure_cells, row_figure

if TYPE_CHECKING:
    from awrparse import AwrReport
    from logframe import Source
    from sqlplusparse import Spool

#: Figures of the database and of the trace within this of each other agree.
SAME_READS: Final = 0.01

#: Columns of `align_trace`.
TRACED: Final = pl.Schema(
    {"quantity": pl.String(), "unit": pl.String()}
    | {f"{side}{end}": pl.Float64() for side in ("database", "trace", "ratio") for end in ENDS}
    | {"verdict": pl.String(), "explanation": pl.String(), "database_basis": pl.String()}
)


def align_trace(
    database: AwrReport | Spool | Source,
    requests: pl.DataFrame,
    *,
    block_size: int = 8192,
    statement: int | None = None,
) -> pl.DataFrame:
    """What the database counted beside what `strace` saw: requests, blocks, bytes, single- and multi-block reads, time.

    A session's figures (autotrace, session statistics) and the trace of its process should agree.  A report counts all
    sessions of its instance, and a trace one process for as long as it was attached: then the trace is a part.

    Args:
        database: what `awrparse.read_awr` or `sqlplusparse.read_spool` gives.
        requests: what `straceparse.io_requests` gives; `iolab.metrics.data_reads` is applied here.
        block_size: bytes in a block of the database.
        statement: the statement of a spool; by default all that autotrace shows, together.

    Returns:
        The columns `TRACED`, one row a quantity that both sides can tell: ``database`` and ``trace`` with bounds,
        ``ratio`` (trace / database), and a ``verdict``: `agrees` (within 1 % or within the bounds), `part` (less than
        the whole instance did, as expected), `differs`; ``explanation`` names the causes to look for.
    """
    database = as_log(database, "awr", "sqlplus")
    reads = data_reads(requests).filter(pl.col("bytes_transferred").is_not_null())
    size = pl.col("bytes_transferred")
    single, multi = reads.filter(size == block_size), reads.filter((size > block_size) & (size % block_size == 0))
    is_report = database.format == "awr"
    waits = _wait_figures(database) if database.format == "awr" else {}

    def look_up(name: str) -> Interval | None:
        if database.format == "awr" or statement is not None:
            return statistic(database, name, statement=statement)
        # The trace is of the session's process, so it holds the reads of all of its statements.
        each = database.autotrace.filter(pl.col("name") == name).get_column("value").drop_nulls()
        return Interval.exact(float(each.sum())) if len(each) > 1 else statistic(database, name)

    total = int(reads.get_column("bytes_transferred").sum())
    counts = [
        ("requests", "reads", "physical read total IO requests", reads.height),
        ("bytes", "B", "physical read total bytes", total),
    ]
    if total % block_size == 0:
        counts.append(("blocks", "blocks", "physical reads", total // block_size))
    sides: list[tuple[str, str, str, Interval | None, Interval | None]] = [
        (quantity, unit, name, look_up(name), Interval.exact(count)) for quantity, unit, name, count in counts
    ]
    for name, rows, event in (
        ("single_block_reads", single, "db file sequential read"),
        ("multi_block_reads", multi, "db file scattered read"),
    ):
        count, time = waits.get(event, (None, None))
        sides.append((name, "reads", f"waits of {event}", count, Interval.exact(rows.height)))
        sides.append((f"{name}_time", "s", f"time of {event}", time, _time_of(rows)))
    found = [
        _traced(quantity, unit, basis, one, two, is_report=is_report, has_async="async" in reads.get_column("mode"))
        for quantity, unit, basis, one, two in sides
        if one is not None and two is not None
    ]
    return pl.DataFrame(found, schema=TRACED)


def _wait_figures(report: AwrReport) -> dict[str, tuple[Interval | None, Interval | None]]:
    """Number and time of each event's waits."""
    frame = report.with_bounds("foreground_events" if "foreground_events" in report else "top_events")
    known = total_waits(frame).drop_nulls("value").unique("event", keep="first")
    times = {row["event"]: Interval(row["value"], row["lo"], row["hi"]) for row in known.iter_rows(named=True)}
    return {row["event"]: (row_figure(row, "waits"), times.get(row["event"])) for row in frame.iter_rows(named=True)}


def _time_of(reads: pl.DataFrame) -> Interval | None:
    """Time in synchronous reads; from ``-r`` between nothing and the gaps."""
    sync = reads.filter(pl.col("mode") == "sync")
    for column in ("latency", "gap"):
        if not sync.is_empty() and sync.get_column(column).null_count() < sync.height:
            times = sync.select(nanoseconds(column)).to_series()
            seconds = int(times.filter(times >= 0).sum()) / 1e9  # below zero, the clock was set back
            return Interval(seconds, seconds if column == "latency" else 0.0, seconds)
    return None


def _traced(
    quantity: str,
    unit: str,
    basis: str,
    database: Interval,
    trace: Interval,
    *,
    is_report: bool,
    has_async: bool,
) -> dict[str, object]:
    ratio = trace / database if database.lo > 0 else None
    overlaps = trace.lo <= database.hi and database.lo <= trace.hi
    is_near = ratio is not None and abs(ratio.value - 1) <= SAME_READS
    verdict, cause = (
        "differs",
        "the trace holds other statements, or reads of files that are not counted, as control files",
    )
    if overlaps or is_near:
        verdict, cause = "agrees", ""
    elif trace.hi < database.lo and is_report:
        verdict = "part"
        cause = "the report counts every session of the instance for its period, the trace one process while attached"
    elif trace.hi < database.lo:
        cause = (
            "the trace began after the statement or ended before it; parallel servers read for it; "
            "cells answered a smart scan; statistics are the session's since its logon"
        )
    is_other, is_bound = has_async and quantity.endswith("_reads"), quantity.endswith("_time") and trace.lo == 0
    other = "asynchronous reads are direct path reads, not these waits" if is_other else ""
    bound = "without -T the trace gives an upper bound" if is_bound else ""
    return {
        "quantity": quantity,
        "unit": unit,
        **figure_cells("database", database),
        **figure_cells("trace", trace),
        **figure_cells("ratio", ratio),
        "verdict": verdict,
        "explanation": "; ".join(filter(None, [cause, other, bound])),
        "database_basis": basis,
    }
