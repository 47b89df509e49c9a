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
#: What is known of the call that a wait may be part of: its line, its times, its clock.
_OF_CALL: Final = ("of", "start", "end", "clock")
#: The wait for the next call of the client.
FROM_CLIENT: Final = "SQL*Net message from client"
#: Waits for the client: between calls unless the times, or without times the order, say otherwise.
BETWEEN_CALLS: Final = (FROM_CLIENT, "SQL*Net message to client")


def are_alike(*columns: pl.Series) -> bool:
    """Whether all values of some columns are one value, or null."""
    filled = [column for column in columns if len(column)]
    if any(column.null_count() for column in filled):
        return all(column.null_count() == len(column) for column in filled)
    return len({end for column in filled for end in (column.min(), column.max())}) <= 1


def with_parents(calls: pl.DataFrame, count: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The calls with ``row`` and ``parent`` (a line), and what the calls below each one add to it.

    Args:
        calls: of one log, in the order of lines, with ``process``, ``clock``.
        count: the first this many of them add to others; the rest are there to be parents.

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
    one_process = are_alike(frame.get_column("process"))
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


def calls_of_waits(waits: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """The call of each wait: its ``row``, null for a wait between calls, and ``call_from``.

    Args:
        waits: of one log, in the order of lines: ``process``, ``cursor``, ``line``, ``clock``, ``tim_us``,
            ``elapsed_us``, ``is_between`` (an event of `BETWEEN_CALLS`), ``is_from_client``.
        calls: with `with_parents`.
    """
    if waits.is_empty() or calls.is_empty():
        types = {"row": pl.Int64(), "call_from": CALL_FROM}
        return pl.DataFrame(
            pl.Series(name, [None], dtype).new_from_index(0, waits.height) for name, dtype in types.items()
        )
    by = _process_key(waits, calls)
    end = pl.col("tim_us")
    calls = calls.select(
        *("process", "cursor", "line", "clock", "depth", "row"), start=end - pl.col("elapsed_us"), end=end, of="line"
    )
    roots = calls.filter(pl.col("depth") == 0)
    calls = calls.join_asof(
        roots.select(*by, "line", root_before="line"),
        on="line",
        by=by or None,
        strategy="backward",
        allow_exact_matches=False,
        check_sortedness=False,
    )
    of_cursor = calls.filter(pl.col("cursor").is_not_null()).select(*by, "cursor", "line", "row")
    found = waits.join_asof(of_cursor, on="line", by=[*by, "cursor"], strategy="forward", check_sortedness=False)
    own = calls.select(pl.col(*_OF_CALL, "root_before").gather(found.get_column("row")).name.prefix("own_"))
    middle = pl.col("tim_us") - pl.col("elapsed_us") / 2

    def holds(of: str) -> pl.Expr:
        # on one line with the call (records without a line end between them) the wait may be after it
        is_before = (pl.col(f"{of}_of") != pl.col("line")) | (middle <= pl.col(f"{of}_end"))
        return (middle > pl.col(f"{of}_start")) & (pl.col(f"{of}_clock") == pl.col("clock")) & is_before

    # no call of depth 0 ends between the wait and the next call of its cursor
    is_near = pl.col("row").is_not_null() & (pl.col("own_root_before") < pl.col("line")).fill_null(value=True)
    is_timed = pl.col("tim_us").is_not_null() & pl.col("own_start").is_not_null()
    by_cursor = (is_near & is_timed & holds("own")).fill_null(value=False)
    # what is sent before the wait for the client's next call is between calls, else part of the call that follows
    next_client = pl.when(pl.col("is_from_client")).then("line").backward_fill()
    is_sent = next_client.over(by) if by else next_client
    is_inside = ~pl.col("is_between") | (~pl.col("is_from_client") & (is_sent > pl.col("own_of")).fill_null(value=True))
    by_order = is_near & ~is_timed & is_inside
    cursor, order = (pl.lit(name, CALL_FROM) for name in ("cursor", "order"))
    chosen = pl.when(by_cursor).then(cursor).when(by_order).then(order)
    found = found.hstack(own).with_columns(call_from=chosen).with_row_index("place")
    found = found.with_columns(row=pl.when(pl.col("call_from").is_not_null()).then("row"))
    # databases of 11.1 print calls that begin before a wait of another cursor that is part of them
    left = found.filter(pl.col("call_from").is_null(), ~pl.col("is_between"))
    if left.height:
        left = left.select("place", "line", *by, "clock", "tim_us", "elapsed_us")
        for name, some in (("next", calls), ("root", roots)):
            ahead = some.select("line", *by, pl.col(*_OF_CALL, "row").name.prefix(f"{name}_"))
            left = left.join_asof(ahead, on="line", by=by or None, strategy="forward", check_sortedness=False)
        by_next, by_root = (holds(name).fill_null(value=False) for name in ("next", "root"))
        row = pl.when(by_next).then("next_row").when(by_root).then("root_row")
        given = left.select("place", row.alias("row")).filter(pl.col("row").is_not_null())
        places = given.get_column("place")
        found = found.with_columns(
            found.get_column("row").scatter(places, given.get_column("row")),
            found.get_column("call_from").scatter(places, "time"),
        )
    return found.select("row", "call_from")


def calls_after(waits: pl.DataFrame, calls: pl.DataFrame) -> pl.Series:
    """The line of the next call of depth 0 after each wait for the client; null for other waits.

    Args:
        waits: as of `calls_of_waits`, with ``is_from_client``.
        calls: of the same processes, with ``line`` and ``depth``.
    """
    from_client = waits.with_row_index("place").filter("is_from_client").select("place", "process", "line")
    roots = calls.filter(pl.col("depth") == 0).select("process", "line", next_call="line")
    found = pl.Series("next_call", [None], pl.Int64).new_from_index(0, waits.height)
    if from_client.is_empty() or roots.is_empty():
        return found
    by = _process_key(from_client, roots)
    after = from_client.join_asof(
        roots, on="line", by=by or None, strategy="forward", allow_exact_matches=False, check_sortedness=False
    )
    return found.scatter(after.get_column("place"), after.get_column("next_call"))


def _process_key(waits: pl.DataFrame, calls: pl.DataFrame) -> list[str]:
    """The process as a key of joins, where there are several."""
    return [] if are_alike(waits.get_column("process"), calls.get_column("process")) else ["process"]
