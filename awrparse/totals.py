"""Rows of totals that are not the sum of the rows above them, beyond what rounding explains.

Only figures that add up are compared: bytes and requests; no averages, and no shares.  Only tables are
compared that print every row: those of Exadata print the busiest cells.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final

import polars as pl

from awrparse.columns import IS_TOTAL
from logframe.interval import Interval, row_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awrparse.report import AwrReport

#: What adds up.
_TRAFFIC: Final = (
    *("read_bytes", "read_requests_per_s", "read_bytes_per_s", "write_bytes", "write_requests_per_s"),
    *("write_bytes_per_s", "requests", "requests_per_s", "bytes", "bytes_per_s"),
)
#: Tables that print every row -> the column of which each value has a total of its own.
_TABLES: Final = {
    "iostat_function": "instance",
    "iostat_filetype": "instance",
    "iostat_function_filetype": "function",
}


def wrong_totals(report: AwrReport) -> Iterator[tuple[str, str, Interval, Interval]]:
    """Table, what is summed up, the total as printed and the sum of its rows, where the two contradict each other."""
    for table, group in _TABLES.items():
        frame = report.with_bounds(table)
        if not frame[IS_TOTAL].any():
            continue
        for (key,), rows in frame.group_by(group, maintain_order=True):
            totals = rows.filter(pl.col(IS_TOTAL))
            parts = rows.filter(~pl.col(IS_TOTAL))
            if totals.height != 1 or parts.is_empty():
                continue
            for column in _TRAFFIC:
                if column not in frame.columns or parts[column].null_count():
                    continue
                total = row_figure(totals.row(0, named=True), column)
                figures = [row_figure(row, column) for row in parts.iter_rows(named=True)]
                known = [figure for figure in figures if figure is not None]
                if total is None or len(known) < len(figures):
                    continue
                whole = reduce(add, known)
                if not total.meets(whole):
                    yield table, f"{column} of {key or 'all'}", total, whole
