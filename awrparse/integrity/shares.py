"""Rows whose share or rate is of another whole than that of the other rows: they are of another table, or report.

A share is a figure divided by one whole, which all rows of a table have: the database time, the length of the period,
the number of transactions.  Figure and share are rounded, so each row gives an interval for the whole, and these
intervals have a value in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from awrparse.integrity.registry import check
from awrparse.records import Problem
from awrparse.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from awrparse.integrity.registry import Report

_REASON: Final = "of another whole than in the other rows; the row may be of another table"
_OTHER_TABLE: Final = "the row may be of another table"
#: The end of the names of shares that each row adds to.
_RUNNING: Final = "_running_pct"
#: Running shares are rounded to so much.
_STEP_PCT: Final = 0.11
#: Fewer rows than these do not describe each other.
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


@check("rows are of another table or report than the others", "rows", cost_ms=14)
def other_wholes(report: Report) -> Iterator[Problem]:
    """Name of the row, and the reason, of each row whose share is of another whole than most of its table."""
    if report.kind in {"awr_diff", "awr_global"}:
        return
    for share in _SHARES:
        if share.table in report:
            yield from _other_rows(report.with_bounds(share.table), share)


@check("rows are missing, or are of two tables", "rows", cost_ms=1)
def falling_sums(report: Report) -> Iterator[Problem]:
    """Name and reason of each row whose running share is less than that of the row above: they are of two tables."""
    for table in report.tables:
        for column in TABLES[table].columns:
            if column.name.endswith(_RUNNING):
                yield from _falling_rows(report[table], table, column.name)


def _falling_rows(frame: pl.DataFrame, table: str, column: str) -> Iterator[Problem]:
    groups = [name for name in TABLES[table].group if name in frame.columns]
    above: dict[tuple[object, ...], float] = {}
    falling: dict[tuple[object, ...], list[int]] = {}
    for place, (share, *group) in enumerate(zip(*(frame[name].to_list() for name in (column, *groups)), strict=True)):
        if share is not None:
            key = tuple(group)
            if share - above.get(key, share) < -_STEP_PCT:
                falling.setdefault(key, []).append(place)
            above[key] = share
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String and name not in groups]
    for key in above:
        for place in falling.get(key, ()):
            name = " ".join(cell for cell in frame.select(texts).row(place) if cell is not None)
            yield Problem(None, "sum", name, f"{table}.{column}: less than in the row above; {_OTHER_TABLE}")


def _other_rows(frame: pl.DataFrame, share: _Share) -> Iterator[Problem]:
    figures = [f"{name}{end}" for name in (share.figure, share.share) for end in ("_lo", "_hi")]
    if not set(figures).issubset(frame.columns):
        return
    name = next(column for column in frame.columns if column not in share.within and column != "ordered_by")
    groups = [*share.within, *(["ordered_by"] if share.orders else [])]
    wholes: dict[tuple[object, ...], list[tuple[float, float, object]]] = {}
    columns = [frame[column].to_list() for column in (*figures, name, *groups)]
    for lo, hi, share_lo, share_hi, item, *group in zip(*columns, strict=True):
        if lo is None or share_lo is None or (share.orders and group[-1] not in share.orders):
            continue
        twice = (share_hi - share_lo) * _ROUNDED_TWICE
        least, most = share_lo - twice, share_hi + twice
        if lo > 0 and least > 0:
            whole = lo / most * (1 - _SLACK), hi / least * (1 + _SLACK), item
            wholes.setdefault(tuple(group), []).append(whole)
    for rows in wholes.values():
        starts, ends, _ = zip(*rows, strict=True)
        if len(rows) < _FEWEST or max(starts) <= min(ends):
            continue
        common = _most_common(starts, ends)
        for start, end, item in rows:
            if start > common or end < common:
                yield Problem(None, "sum", str(item), f"{share.table}.{share.share}: {_REASON}")


def _most_common(starts: Sequence[float], ends: Sequence[float]) -> float:
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
