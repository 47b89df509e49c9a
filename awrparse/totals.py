"""Rows of totals that are not the sum of the rows above them, beyond what rounding explains.

Only figures that add up are compared: bytes and requests; no averages, and no shares.  Only tables are
compared that print every row: those of Exadata print the busiest cells.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Final

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
        for key, rows in frame.rows_by_key(group, named=True, include_key=True).items():
            totals = [row for row in rows if row[IS_TOTAL]]
            parts = [row for row in rows if not row[IS_TOTAL]]
            if len(totals) != 1 or not parts:
                continue
            for column in _TRAFFIC:
                total = row_figure(totals[0], column)
                known = [figure for row in parts if (figure := row_figure(row, column)) is not None]
                if total is None or len(known) < len(parts):
                    continue
                whole = reduce(add, known)
                if not total.meets(whole):
                    yield table, f"{column} of {key or 'all'}", total, whole
