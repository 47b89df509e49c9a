"""What a log of tables says as a whole: the kind of every line, the order of its dates, and how each run is printed.

A log is read in pieces (`hostparse.pieces`); what lines far below say of those above them is found here first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import polars as pl

from hostparse.headings import TOTAL_CPU
from hostparse.lines import GRAMMAR, OPENS, TEXT, batches, is_kind, kinds_of, repeated_rows, with_own_text
from hostparse.runs import RunStarts, dates_of, order_of
from logframe import Diagnostic
from logframe.lazy_rows import with_last

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse.clocks import DateOrder, Order
    from logframe import Log

_CLOCK: Final = "^[ #]*({CLOCK}){GAP}"


@dataclass(frozen=True)
class Facts:
    """What a log says as a whole; a run is named by the number of rows before the lines that open it.

    Attributes:
        kinds: of the lines, batch by batch.
        order: of the parts of dates.
        notes: what had to be assumed, and rows that are those above once more.
        last: the last line that is not blank.
        stamped: runs with stamps above their reports.
        headed: runs with the heading of all processors.
        by_table: runs that may print a table of all times after another one.
        starts: lines that start a run because of where they stand.
        doubtful: lines of headings of vmstat that may start a run or not.
    """

    kinds: tuple[pl.Series, ...]
    order: Order
    notes: tuple[Diagnostic, ...]
    last: int
    stamped: frozenset[int]
    headed: frozenset[int]
    by_table: frozenset[int]
    starts: frozenset[int]
    doubtful: frozenset[int]


@dataclass
class _Found:
    """What was found up to a batch."""

    kinds: list[pl.Series] = field(default_factory=list)
    opened: dict[str, None] = field(default_factory=dict)
    stamped_dates: set[str] = field(default_factory=set)
    has_halves: bool = False
    last: int = 0
    rows: int = 0
    run: int = 0
    run_starts: RunStarts = field(default_factory=RunStarts)
    opens: list[pl.Series] = field(default_factory=list)
    stamps: list[pl.DataFrame] = field(default_factory=list)
    totals: list[pl.Series] = field(default_factory=list)
    by_table: set[int] = field(default_factory=set)
    starts: dict[int, str] = field(default_factory=dict)
    first_clock: dict[int, str | None] = field(default_factory=dict)
    last_row: str | None = None
    end: pl.DataFrame | None = None
    repeated: list[Diagnostic] = field(default_factory=list)


def read_facts(log: Log, date_order: DateOrder | None) -> Facts:
    """What a log says as a whole.

    Args:
        log: opened.
        date_order: ``mdy`` or ``dmy``, where the dates of the log do not show it.
    """
    found = _Found()
    for batch, is_last in with_last(batches(log)):
        kind = kinds_of(batch)
        found.kinds.append(kind)
        lines = batch.with_columns(kind)
        own = lines.filter(is_kind("row", "average")).select("line", "text")
        found.repeated += repeated_rows(log.name, own if found.end is None else pl.concat([found.end, own]))
        found.end = with_own_text(own.tail(1))
        _add(found, lines, is_last=is_last)
    opened = list(found.opened)
    order = order_of(opened, list(found.stamped_dates), has_halves=found.has_halves, said=date_order)
    notes = []
    if order.is_assumed:
        reason = "day and month may be the other way round: the month is taken to come first"
        shown = [*opened, *sorted(found.stamped_dates)][0]
        notes.append(Diagnostic(log.name, None, None, "ambiguous", shown, reason))
    begins = found.run_starts
    stamps = pl.concat([pl.DataFrame(schema={"line": pl.UInt32, "rows_before": pl.UInt32}), *found.stamps])
    stamps = stamps.filter(~pl.col("line").is_in(list(begins.dates)))
    opens = sorted({0, *begins.dates.values(), *begins.starts.values(), *(row for rows in found.opens for row in rows)})
    stamped, headed = (
        frozenset(opens[bisect_right(opens, row) - 1] for row in rows)
        for rows in (stamps.get_column("rows_before"), (row for rows in found.totals for row in rows))
    )
    sets = (stamped, headed, frozenset(found.by_table), frozenset(begins.starts), frozenset(begins.doubtful))
    return Facts(tuple(_dated(found)), order, (*notes, *found.repeated), found.last, *sets)


def _dated(found: _Found) -> Iterator[pl.Series]:
    """The kinds of the lines, batch by batch, where stamps that are dates of runs are such."""
    dates, first = sorted(found.run_starts.dates), 1
    for kinds in found.kinds:
        end = first + len(kinds)
        own = dates[bisect_left(dates, first) : bisect_left(dates, end)]
        yield kinds.scatter([line - first for line in own], "date") if own else kinds
        first = end


def _add(found: _Found, lines: pl.DataFrame, *, is_last: bool) -> None:
    """What a batch of lines says."""
    is_row, is_written = lines.select(is_row=is_kind("row"), is_written=~is_kind("blank")).get_columns()
    written, rows = is_written.arg_true(), is_row.arg_true()
    if len(written):
        found.last = int(lines.item(int(written[-1]), "line"))
    counted = lines.with_columns((is_row.cum_sum() + found.rows).alias("rows_before").cast(pl.UInt32))
    special = counted.filter(is_kind(*OPENS, "configuration", "stamp", "words"))
    opens = is_kind(*OPENS)
    special = special.with_columns(
        pl.when(opens).then("rows_before").forward_fill().fill_null(found.run).cast(pl.UInt32).alias("run")
    )
    opened, stamped, has_halves = dates_of(special)
    found.opened.update(dict.fromkeys(opened))
    found.stamped_dates.update(stamped)
    found.has_halves |= has_halves
    is_total = is_kind("words") & TEXT.str.contains(TOTAL_CPU, literal=True)
    found.run_starts.add(counted, is_last=is_last)
    found.opens.append(special.filter(is_kind(*OPENS)).get_column("rows_before").unique())
    found.stamps.append(special.filter(is_kind("stamp")).select("line", "rows_before"))
    found.totals.append(special.filter(is_total).get_column("rows_before"))
    _add_clocked(found, lines, special)
    if special.height:
        found.run = int(special.item(-1, "run"))
    found.rows += len(rows)
    found.last_row = lines.item(int(rows[-1]), "text") if len(rows) else found.last_row


def _add_clocked(found: _Found, lines: pl.DataFrame, special: pl.DataFrame) -> None:
    """Runs in which a heading has the clock of the first one, and rows of another time than the first above it."""
    clock = TEXT.str.extract(GRAMMAR.pattern(_CLOCK))
    heads = special.filter(is_kind("words")).with_columns(clock.alias("clock")).drop_nulls("clock")
    new = heads.unique("run", keep="first", maintain_order=True).filter(~pl.col("run").is_in(list(found.starts)))
    found.starts.update(new.select("run", "clock").iter_rows())
    heads = heads.filter(pl.col("clock").is_in(list(found.starts.values())))
    if heads.is_empty():
        return
    shown = pl.when(is_kind("row")).then(TEXT)
    above = shown.forward_fill().fill_null(pl.lit(found.last_row, pl.String))
    around = lines.select("line", above.alias("above"), shown.backward_fill().alias("below"))
    heads = heads.join(around, on="line", how="left", maintain_order="left")
    heads = heads.with_columns(pl.col("above", "below").str.extract(GRAMMAR.pattern(_CLOCK)))
    started = set(new.get_column("line"))
    for line, run, start, clock_above, clock_below in heads.select(
        "line", "run", "clock", "above", "below"
    ).iter_rows():
        if line in started:
            found.first_clock[run] = clock_below
        elif start == found.starts[run] and clock_above != (found.first_clock[run] or clock_below):
            found.by_table.add(run)
