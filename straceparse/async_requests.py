"""Asynchronous requests, batch by batch: each in the cheapest way that reads its context."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import polars as pl

from straceparse.aio import ASYNC_SCHEMA, by_call, frame_of, request_of
from straceparse.aio_columns import column_contexts, column_requests, column_rest
from straceparse.call_table import SUBMITS
from straceparse.ordered import compact

if TYPE_CHECKING:
    from straceparse.aio import Request


class AsyncRequests:
    """Matches asynchronous requests to their completions, batch by batch.

    Contexts of the usual form are read as columns (`straceparse.aio_columns`), the others call by call.

    Args:
        others: columns that name the log of a call.
    """

    def __init__(self, others: list[str]) -> None:
        self._others = others
        self._odd: set[tuple[object, ...]] | None = set()
        self._columns: pl.DataFrame | None = None
        self._waiting: dict[tuple[object, ...], list[Request]] = defaultdict(list)
        self._later: pl.DataFrame | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether requests wait for their completions, or calls for their turn."""
        return self._columns is not None or self._later is not None or bool(self._waiting)

    def add(self, rows: pl.DataFrame, last_line: int | None) -> tuple[pl.DataFrame, int | None]:
        """The requests that are complete with the next calls that submit and reap requests.

        Args:
            rows: the calls, with ``_row``.
            last_line: all calls that start up to this line are known; None at the end of the log, which completes all
                requests.

        Returns:
            The requests, and the row of the first call that has another one, or None.
        """
        rows = rows.with_columns(pl.col("start", "end", "gap", "wall", "time_of_day").to_physical())
        if self._later is not None:
            rows = pl.concat([self._later, rows]).sort("_row")
        self._later = None
        if last_line is not None and not self._others:
            is_later = ~pl.col("name").is_in(SUBMITS) & (pl.col("end_line") > last_line)
            later = rows.filter(is_later)
            if later.height:
                rows, self._later = rows.filter(~is_later), compact(later)
        return pl.concat(self._found(rows, is_last=last_line is None)), self._first_open()

    def _found(self, rows: pl.DataFrame, *, is_last: bool) -> list[pl.DataFrame]:
        columns, rest, odd = column_contexts(rows, self._others, self._odd)
        if odd is None or odd != self._odd:
            self._odd = odd
            self._leave_columns()
        found = []
        if columns.height:
            done, waiting = column_requests(columns, self._columns, self._others, ASYNC_SCHEMA)
            self._columns = compact(waiting) if waiting.height else None
            found.append(done)
        if is_last and self._columns is not None:
            found.append(column_rest(self._columns, self._others, ASYNC_SCHEMA))
            self._columns = None
        requests = by_call(rest, self._others, self._waiting)
        if is_last:
            requests += [request for waiting in self._waiting.values() for request in waiting]
            self._waiting.clear()
        found.append(frame_of(requests, self._others))
        return found

    def _leave_columns(self) -> None:
        """Read the waiting requests of contexts that are no longer read as columns call by call."""
        if self._columns is None:
            return
        keys = [*self._others, "_context"]
        is_odd = pl.Series([self._odd is None or key in self._odd for key in self._columns.select(keys).iter_rows()])
        for row in self._columns.filter(is_odd).iter_rows(named=True):
            self._waiting[tuple(row[key] for key in keys)].append(request_of(row))
        rest = self._columns.filter(~is_odd)
        self._columns = rest if rest.height else None

    def _first_open(self) -> int | None:
        rows = [request.row for waiting in self._waiting.values() for request in waiting]
        for frame in (self._columns, self._later):
            rows += [] if frame is None else frame.get_column("_row").to_list()
        return min(rows, default=None)

    def waiting_descriptors(self) -> pl.DataFrame:
        """``_row``, ``pid`` and ``fd`` of the requests that wait."""
        own = [
            (one.row, one.call["pid"], one.fd)
            for waiting in self._waiting.values()
            for one in waiting
            if one.fd is not None
        ]
        schema = {"_row": pl.UInt32, "pid": pl.Int32, "fd": pl.Int32}
        found = pl.DataFrame(own, schema=schema, orient="row")
        if self._columns is None:
            return found
        return pl.concat([found, self._columns.select("_row", "pid", pl.col("fd").cast(pl.Int32, strict=False))])
