"""Rules of meaning: figures that are printed but have no meaning, and are null in the frames.

| flag            | where                                                                        |
|-----------------|------------------------------------------------------------------------------|
| `no_requests`   | a wait or a size of 0 of requests of which there were 0                      |
| `not_counted`   | md devices of Linux: no wait, no utilisation and no depth is kept for them   |
| `not_available` | -1 (nmon also: -0.0): the system or the rights do not give this figure       |
| `saturated`     | 2147483647 of nmon: the counter went over its largest number                 |
"""

from __future__ import annotations

from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.lines import GRAMMAR as LINES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

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


def rates_of(name: str, columns: Collection[str], scope: str) -> list[str]:
    """The rates of the requests that a figure is a mean of; none of one that is no such mean.

    Args:
        name: of the column.
        columns: those of the table.
        scope: what a row is about.
    """
    if scope != "device":
        return []
    rate = _OF_REQUESTS.get(name, "")
    return [rate] if rate in columns else [each for each in _RATES if name in _OF_ALL and each in columns]


class Rules:
    """Why figures of a table have no meaning.

    Args:
        rows: of the table.
        scope: what a row is about.
    """

    def __init__(self, rows: pl.DataFrame, scope: str) -> None:
        self._rows = rows
        self._scope = scope

    def flags(self, name: str, factor: float) -> pl.Series | None:
        """Why each figure in a column has no meaning, null where it says something; None where all do.

        Args:
            name: of the column.
            factor: what the printed figure was multiplied by.
        """
        found = [(is_so, word) for is_so, word in self._of(name, factor) if is_so.any()]
        if not found:
            return None
        flag: pl.Expr = pl.lit(None, dtype=pl.String)
        for is_so, word in reversed(found):
            flag = pl.when(is_so).then(pl.lit(word)).otherwise(flag)
        return pl.select(flag.alias(name)).to_series()

    def _of(self, name: str, factor: float) -> Iterator[tuple[pl.Series, str]]:
        """Which figures each rule speaks of, the first rule first."""
        value = self._rows.get_column(name)
        if self._scope == "process":
            if name in _PROCESS:
                yield value == -factor, "not_available"
            return
        is_zero = value == 0.0
        if self._scope.isupper():  # a table of nmon
            yield (value == -factor) | (is_zero & (1.0 / value < 0.0)), "not_available"
            yield value == _LARGEST * factor, "saturated"
        if rates := rates_of(name, self._rows.columns, self._scope):
            yield reduce(and_, (self._rows.get_column(rate) == 0.0 for rate in rates), is_zero), "no_requests"
        if self._scope == "device" and name in _MD_COUNTS:
            yield is_zero & self._is_md, "not_counted"

    @cached_property
    def _is_md(self) -> pl.Series:
        return self._rows.get_column("device").str.contains(LINES.pattern("^{MD_DEVICE}"))
