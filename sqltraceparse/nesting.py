"""Which call is part of which, and which wait of which call.

Calls of depth n + 1 are written before the call of depth n that made them, and their figures are part of its figures.
A wait is written before the call that it is part of, and bears its cursor.  So the next call of a lesser depth is the
parent, and the next call of the cursor that of the wait, if the times agree: a call that failed has no line.
No call reaches beyond the next one of depth 0.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from sqltraceparse.schema import CALL_FROM

#: Depth of calls that print none: calls on LOBs are part of whatever encloses them.
_NO_DEPTH: Final = 1_000
#: Figures that include those of the calls below, and the names of what is left without them.
INCLUSIVE: Final = {
    "cpu_us": "own_cpu_us",
    "elapsed_us": "own_elapsed_us",
    "disk_blocks": "own_disk_blocks",
    "consistent_gets": "own_consistent_gets",
    "current_gets": "own_current_gets",
}
#: Waits for the client: between calls unless the times say otherwise.
BETWEEN_CALLS: Final = ("SQL*Net message from client", "SQL*Net message to client")


def with_parents(calls: pl.DataFrame, count: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The calls with ``row`` and ``parent`` (a line), and what the calls below each one add to it.

    Args:
        calls: of one log, in the order of lines, with ``process``, ``clock``.
        count: the first so many of them add to others; the rest are there to be parents.

    Returns:
        The calls, and ``row`` of a parent with the sum of each `INCLUSIVE` figure of its children as ``_...``.
    """
    found = _with_up(calls.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64)))
    children = found.head(count).filter(pl.col("up").is_not_null())
    below = children.group_by(row="up").agg(pl.col(name).sum().alias(f"_{name}") for name in INCLUSIVE)
    lines = found.get_column("line")
    return found.with_columns(lines.gather(found.get_column("up")).alias("parent")).drop("up"), below


def _with_up(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls (with ``row``) with ``up``, the row of each one's parent, which is of the same process."""
    frame = calls.select(
        "process",
        "clock",
        "row",
        depth=pl.col("depth").fill_null(_NO_DEPTH),
        start=pl.col("tim_us") - pl.col("elapsed_us"),
        middle=pl.col("tim_us") - pl.col("elapsed_us") // 2,
    )
    one_process = frame.get_column("process").n_unique() <= 1
    depths = sorted(set(frame.get_column("depth").to_list()) - {0})
    above: pl.Expr = pl.lit(None, pl.Int64)
    for level in depths:
        next_above = pl.when(pl.col("depth") < level).then("row").backward_fill()
        if not one_process:
            next_above = next_above.over("process")
        above = pl.when(pl.col("depth") == level).then(next_above).otherwise(above)
    ups: pl.Series = frame.select(above.alias("up")).to_series()
    # a following call that began later is not the parent: the parent failed, or its line is missing; perhaps the next
    starts, clocks, middles = frame.get_column("start"), frame.get_column("clock"), frame.get_column("middle")
    following = ups
    for _ in depths:
        outside = ((starts.gather(ups) > middles) | (clocks.gather(ups) != clocks)).fill_null(value=False)
        if not outside.any():
            break
        ups = pl.select(pl.when(outside).then(following.gather(ups)).otherwise(ups)).to_series()
    else:
        outside = ((starts.gather(ups) > middles) | (clocks.gather(ups) != clocks)).fill_null(value=False)
        ups = pl.select(pl.when(~outside).then(ups)).to_series()
    return calls.with_columns(ups.alias("up"))


def with_calls(waits: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The waits with ``call`` (a line) and ``row`` (of the call), null for those between calls, and ``call_from``.

    Args:
        waits: of one log, in the order of lines, with ``process``, ``clock``.
        calls: with `with_parents`.
    """
    if waits.is_empty() or calls.is_empty():
        return waits.with_columns(
            *(
                pl.lit(None, dtype).alias(name)
                for name, dtype in (("call", pl.Int64), ("row", pl.Int64), ("call_from", CALL_FROM))
            )
        )
    found = calls.select(
        "process",
        "cursor",
        "line",
        "clock",
        "depth",
        start=pl.col("tim_us") - pl.col("elapsed_us"),
        end=pl.col("tim_us"),
        call=pl.col("line"),
        row=pl.col("row"),
    )
    by = _process_key(waits, calls)
    of_cursor = found.filter(pl.col("cursor").is_not_null()).drop("depth")
    roots = found.filter(pl.col("depth") == 0)
    joined = (
        waits.join_asof(
            of_cursor, on="line", by=[*by, "cursor"], strategy="forward", check_sortedness=False, suffix="_of_cursor"
        )
        .join_asof(_named(found, "next", by), on="line", by=by or None, strategy="forward", check_sortedness=False)
        .join_asof(_named(roots, "root", by), on="line", by=by or None, strategy="forward", check_sortedness=False)
    )
    middle = pl.col("tim_us") - pl.col("elapsed_us") / 2

    def holds(of: str, clock: str) -> pl.Expr:
        # on one line with the call (records without a line end between them) the wait may be after it
        is_before = (pl.col(f"{of}call") != pl.col("line")) | (middle <= pl.col(f"{of}end"))
        return (middle > pl.col(f"{of}start")) & (pl.col(clock) == pl.col("clock")) & is_before

    is_near = pl.col("call").is_not_null() & (pl.col("call") <= pl.col("root_call")).fill_null(value=True)
    is_timed = pl.col("tim_us").is_not_null() & pl.col("start").is_not_null()
    by_cursor = is_near & is_timed & holds("", "clock_of_cursor")
    by_order = is_near & ~is_timed & ~pl.col("event").is_in(BETWEEN_CALLS)
    elsewhere = ~pl.col("event").is_in(BETWEEN_CALLS)  # databases of 11.1 print calls that begin before such a wait
    by_next = elsewhere & holds("next_", "next_clock").fill_null(value=False)
    by_root = elsewhere & holds("root_", "root_clock").fill_null(value=False)
    chosen = (
        pl.when(by_cursor.fill_null(value=False))
        .then(pl.struct(call="call", row="row", call_from=pl.lit("cursor", CALL_FROM)))
        .when(by_order)
        .then(pl.struct(call="call", row="row", call_from=pl.lit("order", CALL_FROM)))
        .when(by_next)
        .then(pl.struct(call="next_call", row="next_row", call_from=pl.lit("time", CALL_FROM)))
        .when(by_root)
        .then(pl.struct(call="root_call", row="root_row", call_from=pl.lit("time", CALL_FROM)))
    )
    return joined.with_columns(chosen.alias("chosen")).select(*waits.columns, pl.col("chosen").struct.unnest())


def _process_key(waits: pl.DataFrame, calls: pl.DataFrame) -> list[str]:
    """The process as a key of joins, where there are several."""
    first = calls.item(0, "process")
    one = all(
        frame.get_column("process").eq_missing(pl.Series([first], dtype=pl.Int64)).all() for frame in (waits, calls)
    )
    return [] if one else ["process"]


def _named(calls: pl.DataFrame, name: str, by: list[str]) -> pl.DataFrame:
    return calls.select(
        "line",
        *by,
        pl.col("start").alias(f"{name}_start"),
        pl.col("end").alias(f"{name}_end"),
        pl.col("clock").alias(f"{name}_clock"),
        pl.col("call").alias(f"{name}_call"),
        pl.col("row").alias(f"{name}_row"),
    )
