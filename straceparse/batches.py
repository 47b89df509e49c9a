"""Events batch by batch: some megabytes of lines at a time, each line read by the cheapest engine that matches it.

Batches are large, so that the fixed cost of a query is small, and bounded, so that memory does not grow with the log.
While one batch is parsed, the next one is read.  In most logs nearly all lines are matched by fixed-width slices.

Times are those since the first timestamp of the log.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.line_cleanup import LineCleanup
from logframe.source import batches_of
from straceparse.call_table import renamed
from straceparse.dialects import HALF_DAY
from straceparse.fixed_width import ELAPSED_TERMINALS, FixedWidth, cutter_of
from straceparse.opening import ShortenedLog
from straceparse.patterns import PARTS, match_lines
from straceparse.records import COLOUR, KINDS, LONG
from straceparse.schema import DURATION, KIND, typed_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from logframe import Log
    from logframe.blocks import TextBatch
    from straceparse.dialects import Dialect
    from straceparse.prefix import Layout


#: Nanoseconds of a day.
DAY: Final = 86_400 * 10**9


class Clock:
    """Clock state across batches: what earlier batches contribute to the start times of the next one.

    ``-r`` counts from the start of the previous line of any process, so its cumulative sum is the clock (strace(1),
    ``-r``); since 4.22 it is monotonic, so it takes precedence over the other clocks.  Across the files of a ``-ff``
    set it is meaningless; their other clocks count from the first timestamp of the set.  A ``-t`` or ``-tt`` clock that
    decreases by more than twelve hours has passed midnight.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.adds_up = dialect.relative_ts != "none" and dialect.pid != "file"
        self.is_missing = dialect.clock == "none" and not self.adds_up
        self._starts_daily = dialect.clock != "epoch"
        self._origin = dialect.origin
        self._first: int | None = None
        self._total = 0
        self._days = 0
        self._last: int | None = None

    @property
    def needs(self) -> str:
        """The column that the times are made from."""
        return "relative_ts" if self.adds_up else "_instant"

    def times(self, stamps: pl.Series) -> pl.Series:
        """Times since the log's first timestamp for the lines of the next batch, from its column `needs`."""
        if self.is_missing:
            return pl.Series("at", [None], dtype=DURATION).new_from_index(0, len(stamps))
        stamps = stamps.to_physical()
        found = self._summed(stamps) if self.adds_up else self._counted(stamps)
        return found.cast(DURATION).alias("at")

    def _summed(self, steps: pl.Series) -> pl.Series:
        if self._first is None:
            self._first = steps.drop_nulls().first() if steps.null_count() < len(steps) else None  # type: ignore[assignment]
        sums = steps.fill_null(0).cum_sum() + self._total
        self._total = sums.last() if len(sums) else self._total  # type: ignore[assignment]
        times = sums - (self._first or 0)
        return times if not steps.null_count() else times.set(steps.is_null(), None)

    def _counted(self, clock: pl.Series) -> pl.Series:
        if clock.null_count() == len(clock):
            return clock
        if self._starts_daily:
            clock = self._days_added(clock)
        if self._first is None:
            self._first = clock.drop_nulls().first()  # type: ignore[assignment]
        first: int = self._first  # type: ignore[assignment]
        if self._origin is None:
            return clock - first
        # a file that starts after midnight
        return clock + (DAY if first < self._origin else 0) - self._origin

    def _days_added(self, clock: pl.Series) -> pl.Series:
        held = clock.forward_fill() if clock.null_count() else clock
        before = held.shift(1)
        if self._last is not None:
            before = before.fill_null(self._last)
        days = (clock - before < -HALF_DAY).fill_null(value=False).cum_sum() + self._days
        self._days, self._last = days.last(), held.last()  # type: ignore[assignment]
        return clock + days.cast(pl.Int64) * DAY


_LINE: Final = pl.col("_line")

#: Default size of a batch in bytes: several are in memory at a time, and larger ones are little faster.
BATCH_BYTES: Final = 8 << 20

#: Batches in progress at a time; each uses all processors, but not in all of its steps.
_AT_A_TIME: Final = 2
#: Up to this many other lines are inserted between the fixed-width ones by slicing instead of by sorting.
_FEW: Final = 64

#: Kinds that a line may have which starts with a letter and ends in ``<unfinished ...>``.
_STARTS: Final = frozenset({"unfinished", "cut", "notice", "table", "chatter", "unparsed"})


class BatchReader:
    """Reads batches of lines (``line``, ``_line``) into events with the selected columns.

    Args:
        layout: the fixed-width prefix of most lines of the log, or None.
        dialect: of the log.
        pid: the process id in the name of the log (``-ff``), or None.
        batch_bytes: size of a batch; smaller ones take less memory and slightly more time.
    """

    def __init__(
        self, layout: Layout | None, dialect: Dialect, pid: int | None = None, *, batch_bytes: int = BATCH_BYTES
    ) -> None:
        self._batch_bytes = batch_bytes
        is_sliced = layout is not None and (not dialect.has_elapsed or dialect.elapsed_digits in ELAPSED_TERMINALS)
        self._fixed_width = FixedWidth(layout, dialect) if layout is not None and is_sliced else None
        self._dialect = dialect
        self._typed = typed_columns(dialect, pid, is_fixed_width=True)
        self._typed_any = typed_columns(dialect, pid, is_fixed_width=False)
        self._cutter = None
        if self._fixed_width is not None:
            self._cutter = cutter_of(self._fixed_width, dialect, pid, self._typed["fd_path"])

    def lines_of(self, log: Log, n_rows: int | None) -> pl.LazyFrame | Iterator[TextBatch]:
        """The lines of a log, `n_rows` at most, for the compiled engine, or as a frame where it cannot read them."""
        if self._cutter is None or isinstance(log.target, str):
            return _lines(log, self._dialect, n_rows)
        return self._cutter.batches(log, n_rows, self._batch_bytes)

    def events_of(
        self, log: Log, n_rows: int | None, columns: Collection[str], kinds: Collection[str] = KINDS
    ) -> Iterator[pl.DataFrame]:
        """The events of a log, `n_rows` at most, with these columns, and with the reasons of its shortened lines."""
        reasons = log.reasons if isinstance(log, ShortenedLog) and "reason" in columns else {}
        wanted = [*columns, *({"line"}.difference(columns) if reasons else ())]
        for found in self.events(self.lines_of(log, n_rows), wanted, kinds):
            if reasons:
                own = pl.col("line").replace_strict(reasons, default=None, return_dtype=pl.String)
                found = found.with_columns(reason=pl.coalesce(own, "reason")).select(columns)  # noqa: PLW2901
            yield found

    def events(
        self, lines: pl.LazyFrame | Iterator[TextBatch], columns: Collection[str], kinds: Collection[str] = KINDS
    ) -> Iterator[pl.DataFrame]:
        """The events of lines, batch by batch, with these columns of `EVENTS`.

        Lines of other kinds may be omitted where that is cheaper than parsing them.
        """
        clock = Clock(self._dialect) if "at" in columns else None
        wanted = ["line", *(name for name in columns if name not in {"at", "line"})]
        if clock is not None and clock.needs not in wanted:
            wanted.append(clock.needs)
        leaves_out = clock is None and _STARTS.isdisjoint(kinds)
        readers = ThreadPoolExecutor(_AT_A_TIME)
        try:
            pending: deque[Future[pl.DataFrame]] = deque()
            batches = batches_of(lines, self._batch_bytes) if isinstance(lines, pl.LazyFrame) else lines
            for batch in batches:
                if len(pending) == _AT_A_TIME:
                    yield _with_times(pending.popleft().result(), clock).select(columns)
                pending.append(readers.submit(self._read, batch, wanted, leaves_out=leaves_out))
            while pending:
                yield _with_times(pending.popleft().result(), clock).select(columns)
        finally:  # a query that needs no more rows may end this in one of the threads, which cannot wait for itself
            readers.shutdown(wait=False, cancel_futures=True)

    def _read(self, batch: pl.DataFrame | TextBatch, columns: list[str], *, leaves_out: bool) -> pl.DataFrame:
        if isinstance(batch, pl.DataFrame):
            return self._read_lines(batch, columns, leaves_out=leaves_out)
        assert self._cutter is not None  # noqa: S101 - only it makes text batches
        found, is_filled, rest = self._cutter.read(batch, columns)
        if rest is None:
            return found
        return _mixed(found, is_filled, self._read_lines(rest, columns, leaves_out=False))

    def _read_lines(self, lines: pl.DataFrame, columns: list[str], *, leaves_out: bool) -> pl.DataFrame:
        if self._fixed_width is None:
            return self._matched(lines, columns)
        if leaves_out:
            lines = self._fixed_width.without_starts(lines)
        typed = [self._typed[name] for name in columns]
        short = lines.with_columns(pl.when(_LINE.str.len_bytes() <= LONG).then(_LINE).otherwise(pl.lit("")))
        found = self._sliced(self._fixed_width, short).select(*typed, "_fixed_width").collect()
        if "name" in columns:
            found = found.with_columns(renamed(found.get_column("name")))
        is_fixed_width = found.drop_in_place("_fixed_width")
        if is_fixed_width.all():
            return found
        return _mixed(found, is_fixed_width, self._matched(lines.filter(~is_fixed_width), columns))

    @staticmethod
    def _sliced(fixed_width: FixedWidth, lines: pl.DataFrame) -> pl.LazyFrame:
        """The raw columns of lines; valid only where ``_fixed_width`` is true."""
        frame = lines.lazy().with_columns(_fixed_width=fixed_width.condition())
        for places in fixed_width.places():
            frame = frame.with_columns(places)
        texts = fixed_width.texts()
        texts["name"] = texts["syscall"]
        nothing = pl.lit(None, pl.String)
        return frame.select("line", "_fixed_width", *(texts.get(name, nothing).alias(f"_{name}") for name in PARTS))

    def _matched(self, lines: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
        parts = match_lines(lines.get_column("_line").str.strip_chars_end("\r")).with_columns(lines.get_column("line"))
        return parts.select(self._typed_any[name] for name in columns)


def _lines(log: Log, dialect: Dialect, n_rows: int | None) -> pl.LazyFrame:
    """The lines of a log with their numbers, without carriage returns, colours and pasted prefixes."""
    lines = log.scan(name="_line", row_index_name="line")
    if n_rows is not None:
        lines = lines.head(n_rows)
    if dialect.has_carriage_returns:
        lines = lines.with_columns(_LINE.str.strip_suffix("\r"))
    if dialect.cleanup != LineCleanup():
        lines = lines.with_columns(dialect.cleanup.apply(_LINE))
    if dialect.has_colour:
        lines = lines.with_columns(_LINE.str.replace_all(COLOUR, ""))
    return lines


def kinds_of(predicate: pl.Expr | None) -> Collection[str]:
    """The kinds that can satisfy a predicate on events."""
    if predicate is None or set(predicate.meta.root_names()) != {"kind"}:
        return KINDS
    kinds = pl.DataFrame({"kind": KINDS}, schema={"kind": KIND})
    return kinds.filter(predicate).get_column("kind").to_list()


def _with_times(found: pl.DataFrame, clock: Clock | None) -> pl.DataFrame:
    """The events of the next batch, with ``at`` if a clock is given."""
    return found if clock is None else found.with_columns(clock.times(found.get_column(clock.needs)))


def _mixed(found: pl.DataFrame, is_fixed_width: pl.Series, rest: pl.DataFrame) -> pl.DataFrame:
    """The events of fixed-width lines and of the other lines, in line order."""
    if rest.height > _FEW:
        return pl.concat([found.filter(is_fixed_width), rest]).sort("line")
    pieces, end = [], 0
    for number, place in enumerate((~is_fixed_width).arg_true()):
        pieces += [found.slice(end, place - end), rest.slice(number, 1)]
        end = place + 1
    pieces.append(found.slice(end))
    whole, *others = [piece for piece in pieces if piece.height]
    for piece in others:
        whole = whole.vstack(piece)
    return whole
