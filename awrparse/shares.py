"""Rows whose share or rate is of another whole than that of the other rows: they are of another table, or report.

A share is a figure divided by one whole, which all rows of a table have: the database time, the length of the period,
the number of transactions.  Figure and share are rounded, so each row gives an interval for the whole, and these
intervals have a value in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from awrparse.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.report import AwrReport

_REASON: Final = "of another whole than in the other rows; the row may be of another table"
_OTHER_TABLE: Final = "the row may be of another table"
#: The end of the names of shares that each row adds to.
_RUNNING: Final = "_running_pct"
#: Running shares are rounded to so much.
_STEP_PCT: Final = 0.11
#: Fewer rows than these say nothing of each other.
_FEWEST: Final = 2
#: Reports round some figures twice: 0.1497 to 0.15, and this to 0.2.
_ROUNDED_TWICE: Final = 0.1
_SLACK: Final = 1e-3


class _Share(NamedTuple):
    """A figure, its share, and the columns of which each value has a whole of its own."""

    table: str
    figure: str
    share: str
    within: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()


_INSTANCE = ("instance",)
_PER_SQL: Final = {
    "elapsed": "elapsed_s",
    "cpu": "cpu_s",
    "gets": "buffer_gets",
    "reads": "physical_reads",
    "io_wait": "io_wait_s",
    "cluster_wait": "cluster_wait_s",
    "parses": "parse_calls",
    "memory": "sharable_bytes",
}
_SHARES: Final = (
    _Share("top_events", "total_wait_s", "db_time_pct", _INSTANCE),
    _Share("top_events", "total_wait_s", "call_time_pct", _INSTANCE),
    _Share("wait_classes", "total_wait_s", "db_time_pct"),
    _Share("wait_classes", "total_wait_s", "avg_active_sessions"),
    _Share("foreground_wait_classes", "total_wait_s", "db_time_pct", _INSTANCE),
    _Share("foreground_events", "total_wait_s", "db_time_pct"),
    _Share("foreground_events", "waits", "waits_per_txn"),
    _Share("background_events", "total_wait_s", "background_time_pct"),
    _Share("background_events", "waits", "waits_per_txn"),
    _Share("wait_events", "waits", "waits_per_txn"),
    _Share("instance_activity", "total", "per_second"),
    _Share("instance_activity", "total", "per_transaction"),
    _Share("rac_messaging", "total", "per_second"),
    _Share("rac_messaging", "total", "per_transaction"),
    *(_Share("sql", figure, "total_pct", (), (order,)) for order, figure in _PER_SQL.items()),
    _Share("segments", "value", "total_pct", ("ordered_by",)),
    _Share("segments", "value", "capture_pct", ("ordered_by",)),
    *(
        _Share(table, f"{kind}_bytes", f"{kind}_bytes_per_s", within)
        for table, within in (
            ("iostat_function", _INSTANCE),
            ("iostat_filetype", _INSTANCE),
            ("iostat_function_filetype", ()),
        )
        for kind in ("read", "write")
    ),
    _Share("tablespace_io", "reads", "reads_per_s"),
    _Share("file_io", "reads", "reads_per_s"),
    _Share("ash_top_events", "avg_active_sessions", "activity_pct", ("scope",)),
    _Share("ash_commands", "avg_active_sessions", "activity_pct"),
)


def other_wholes(report: AwrReport) -> Iterator[tuple[str, str]]:
    """Name of the row, and the reason, of each row whose share is of another whole than most of its table."""
    if report.kind in {"awr_diff", "awr_global"}:
        return
    for share in _SHARES:
        if share.table in report:
            yield from _other_rows(report.with_bounds(share.table), share)


def falling_sums(report: AwrReport) -> Iterator[tuple[str, str]]:
    """Name and reason of each row whose running share is less than that of the row above: they are of two tables."""
    for table in report.tables:
        for column in TABLES[table].columns:
            if not column.name.endswith(_RUNNING):
                continue
            groups = [name for name in TABLES[table].group if name in report[table].columns]
            frame = report[table].drop_nulls(column.name)
            for rows in frame.partition_by(groups, maintain_order=True) if groups else [frame]:
                falling = rows.filter(pl.col(column.name).diff() < -_STEP_PCT)
                for row in falling.drop(groups).iter_rows():
                    name = " ".join(cell for cell in row if isinstance(cell, str))
                    yield name, f"{table}.{column.name}: less than in the row above; {_OTHER_TABLE}"


def _other_rows(frame: pl.DataFrame, share: _Share) -> Iterator[tuple[str, str]]:
    names = [f"{share.figure}{end}" for end in ("_lo", "_hi")] + [f"{share.share}{end}" for end in ("_lo", "_hi")]
    if not set(names).issubset(frame.columns):
        return
    if share.orders:
        frame = frame.filter(pl.col("ordered_by").is_in(share.orders))
    lo, hi, share_lo, share_hi = map(pl.col, names)
    twice = (share_hi - share_lo) * _ROUNDED_TWICE
    share_lo, share_hi = share_lo - twice, share_hi + twice
    wholes = frame.filter((lo > 0) & (share_lo > 0)).with_columns(
        whole_lo=lo / share_hi * (1 - _SLACK), whole_hi=hi / share_lo * (1 + _SLACK)
    )
    for rows in wholes.partition_by(share.within) if share.within else [wholes]:
        if rows.height < _FEWEST or rows["whole_lo"].max() <= rows["whole_hi"].min():  # type: ignore[operator]
            continue
        common = _most_common(rows["whole_lo"].to_list(), rows["whole_hi"].to_list())
        name = next(column for column in rows.columns if column not in share.within and column != "ordered_by")
        for item in rows.filter((pl.col("whole_lo") > common) | (pl.col("whole_hi") < common))[name]:
            yield str(item), f"{share.table}.{share.share}: {_REASON}"


def _most_common(starts: list[float], ends: list[float]) -> float:
    """A value that lies in most of the intervals.

    Examples:
        >>> _most_common([1.0, 2.0, 9.0], [3.0, 4.0, 9.5])
        2.0
    """
    best, most, count = starts[0], 0, 0
    for value, is_end in sorted([*((start, False) for start in starts), *((end, True) for end in ends)]):
        count += -1 if is_end else 1
        if count > most:
            best, most = value, count
    return best
