"""Rules of meaning: figures that are printed but say nothing, and are null in the frames.

| flag            | where                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `no_requests`   | a wait or a size of 0 of requests of which there were 0                      |
| `not_counted`   | md devices of Linux: no wait, no utilisation and no depth is kept for them   |
| `not_available` | -1 (nmon also: -0.0): the system or the rights do not give this figure       |
| `saturated`     | 2147483647 of nmon: the counter went over its largest number                 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.lines import GRAMMAR as LINES

if TYPE_CHECKING:
    from collections.abc import Collection

#: Mean of a request -> the rate of these requests.
_OF_REQUESTS: Final = {
    "read_await_ms": "reads_per_s",
    "write_await_ms": "writes_per_s",
    "discard_await_ms": "discards_per_s",
    "flush_await_ms": "flushes_per_s",
    "read_request_bytes": "reads_per_s",
    "write_request_bytes": "writes_per_s",
    "discard_request_bytes": "discards_per_s",
}
#: Mean of all requests -> the rates of which one is there.
_OF_ALL: Final = ("await_ms", "request_bytes", "queue_ms", "service_ms", "svctm_ms")
_RATES: Final = ("transfers_per_s", "reads_per_s", "writes_per_s", "discards_per_s", "flushes_per_s")
_MD_COUNTS: Final = frozenset({*_OF_REQUESTS, *_OF_ALL, "in_flight", "util_percent"} - {"request_bytes"})
#: The largest number of a signed counter of 32 bits.
_LARGEST: Final = float(2**31 - 1)
_PROCESS: Final = ("read_bytes_per_s", "write_bytes_per_s", "cancelled_write_bytes_per_s", "io_delay_ticks")


def flag_of(name: str, columns: Collection[str], scope: str, factor: float) -> pl.Expr | None:
    """Why the figure in a column says nothing, as a String expression; None where no rule speaks of the column.

    Args:
        name: of the column.
        columns: those of the table.
        scope: what a row is about.
        factor: what the printed figure was multiplied by.
    """
    value = pl.col(name)
    if scope == "process":
        return pl.when(value == -factor).then(pl.lit("not_available")) if name in _PROCESS else None
    rules: list[tuple[pl.Expr, str]] = []
    if scope.isupper():  # a table of nmon
        rules.append(((value == -factor) | ((value == 0.0) & (1.0 / value < 0.0)), "not_available"))
        rules.append((value == _LARGEST * factor, "saturated"))
    rate = _OF_REQUESTS.get(name) if scope == "device" else None
    if rate in columns:
        rules.append(((value == 0.0) & (pl.col(str(rate)) == 0.0), "no_requests"))
    elif scope == "device" and name in _OF_ALL and (rates := [pl.col(each) for each in _RATES if each in columns]):
        none = pl.all_horizontal([each == 0.0 for each in rates])
        rules.append(((value == 0.0) & none, "no_requests"))
    if scope == "device" and name in _MD_COUNTS:
        rules.append(((value == 0.0) & LINES.matches(pl.col("device"), "^{MD_DEVICE}"), "not_counted"))
    if not rules:
        return None
    flag: pl.Expr = pl.lit(None, dtype=pl.String)
    for is_so, word in reversed(rules):
        flag = pl.when(is_so).then(pl.lit(word)).otherwise(flag)
    return flag
