"""A log of tables, read in pieces that end where a sample begins: its rows are never in memory together.

Each piece is read with the lines before it that say what its own lines mean: the headings in force, and the last sample
under each.  The rows of those lines are of the piece before, and say how its numbers of samples and its days go on.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from hostparse.facts import read_facts
from hostparse.lines import KIND, OPENS, batches, is_kind, with_own_text
from hostparse.runs import Runs
from hostparse.stored import Collector, cut_end, open_end
from hostparse.tables import Before, Tables, read_piece
from logframe.lazy_rows import with_last

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from hostparse.clocks import DateOrder
    from hostparse.facts import Facts
    from hostparse.runs import Run
    from hostparse.stored import Part
    from hostparse.tables import Key, Piece
    from logframe import Diagnostic, Log

_LINE: Final = pl.col("line")
#: Kinds of lines that may be rows of a sample.
_ROWS: Final = ("row", "average", "clock_alone")
#: What rows of one moment have in common, where each table numbers its samples.
_TIME: Final = ("interval_end", "time_of_day")
#: A row is looked for in this many lines first.
_NEAR: Final = 256
#: Lines that cannot stand within a table before its heading.
_BETWEEN: Final = ("blank", "ruler")


class _Last(NamedTuple):
    """The last row of a part in a run."""

    line: int
    sample: int
    interval_end: dt.datetime | None


@dataclass
class _State:
    """What was read up to a line.

    Attributes:
        shown: the lines that are shown again before the next piece.
        before: what is known of them.
        run: number of the run that goes on.
        last: by part, the last row in that run.
        runs: all.
        zones: names of zones by run.
        headless: runs that begin with rows without a heading.
        halves: half units of the last column of each part, but that of the last row.
    """

    shown: pl.DataFrame | None = None
    before: Before = field(default_factory=Before)
    run: int = 0
    last: dict[Key, _Last] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    zones: dict[int, set[str]] = field(default_factory=dict)
    headless: set[int] = field(default_factory=set)
    halves: dict[Key, set[float]] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    notes: list[Diagnostic] = field(default_factory=list)


class _UnorderedError(Exception):
    """Samples are not in the order of their times: the log cannot be read in pieces."""


def read_tables(log: Log, *, date_order: DateOrder | None = None, collector: Collector | None = None) -> Tables:
    """The tables of a log.

    Args:
        log: opened.
        date_order: ``mdy`` or ``dmy``, where the dates of the log do not show it.
        collector: of the parts; None: one in memory.
    """
    facts = read_facts(log, date_order)
    try:
        return _Reader(log, facts, collector or Collector()).read(in_pieces=True)
    except _UnorderedError:
        if collector is not None:
            collector.clear()
        return _Reader(log, facts, collector or Collector()).read(in_pieces=False)


class _Reader:
    """Reads a log piece by piece."""

    def __init__(self, log: Log, facts: Facts, collector: Collector) -> None:
        self._log = log
        self._facts = facts
        self._collector = collector
        self._state = _State()

    def read(self, *, in_pieces: bool) -> Tables:
        """All pieces."""
        waiting: list[pl.DataFrame] = []
        size = wanted = 0
        for lines, is_last in with_last(self._batches()):
            waiting.append(lines)
            size += int(lines.get_column("text").str.len_bytes().sum())
            if not is_last and (not in_pieces or size < wanted):
                continue
            together = pl.concat(waiting) if len(waiting) > 1 else waiting[0]
            end = self._read_piece(together, is_last=is_last)
            if end is None:
                waiting, wanted = [together], 2 * size
                continue
            rest = _part_of(together, end)
            waiting, wanted = [with_own_text(rest)], 0
            size = int(rest.get_column("text").str.len_bytes().sum())
        return self._finish()

    def _batches(self) -> Iterator[pl.DataFrame]:
        for lines, kind in zip(batches(self._log), self._facts.kinds, strict=True):
            yield lines.with_columns(kind)

    def _finish(self) -> Tables:
        state = self._state
        zones = {run: next(iter(names)) for run, names in state.zones.items() if len(names) == 1}
        runs = tuple(replace(run, zone=zones.get(run.run, run.zone)) for run in state.runs)
        clocked = [key for key in state.halves if key[2]]
        notes = [*self._facts.notes, *state.notes]
        notes.sort(key=lambda note: note.line or 0)
        kinds = dict(sorted(state.kinds.items()))
        return Tables(self._collector.finish(clocked), Runs(runs, self._facts.order), kinds, tuple(notes))

    def _read_piece(self, lines: pl.DataFrame, *, is_last: bool) -> int | None:
        """Read lines up to the last sample that is whole; the line after them, None where no sample is.

        Args:
            lines: that were not read yet.
            is_last: no line comes after them.
        """
        state = self._state
        first = int(lines.item(0, "line"))
        before = replace(state.before, first=first)
        shown = lines if state.shown is None else pl.concat([state.shown, lines])
        piece = read_piece(self._log.name, shown, self._facts, before)
        if not piece.is_ordered and not (is_last and first == 1):
            raise _UnorderedError
        end = int(lines.item(-1, "line")) + 1 if is_last else self._end(piece, shown, first)
        if end is None or end <= first:
            return None
        parts = self._globally(piece)
        if is_last:
            parts, cut = cut_end(self._log.name, parts, state.halves, self._facts.last)
            state.notes += cut or open_end(self._log, parts.values(), self._facts.last)
        own = {key: _between(part, first, end) for key, part in parts.items()}
        for key, part in own.items():
            state.halves.setdefault(key, set()).update(() if is_last else _halves(part))
        self._collector.add(own)
        own_lines = _part_of(lines, 0, end)
        for kind, count in own_lines.get_column("kind").value_counts().iter_rows():
            state.kinds[kind] = state.kinds.get(kind, 0) + count
        state.notes += [note for note in piece.notes if note.line is None or first <= note.line < end]
        self._add_runs(piece, end)
        if not is_last:
            self._go_on(piece, parts, shown, own_lines, end)
        return end

    def _globally(self, piece: Piece) -> dict[Key, Part]:
        """The parts with runs and samples counted from the beginning of the log, and days as before the piece."""
        state = self._state
        if state.before.run is None:
            return piece.parts
        placed = {}
        latest: dict[Any, _Last] = {}
        moved: dict[Any, tuple[int, int]] = {}
        for key, part in piece.parts.items():
            group, last = _group(key, part), state.last.get(key)
            if last is None or (group in latest and last.line <= latest[group].line):
                continue
            rows = part.frame.filter(line=last.line)
            if rows.is_empty():
                continue
            latest[group] = last
            local, end = rows.select("sample", "interval_end").row(0)
            ends = last.interval_end is not None and end is not None
            moved[group] = (last.sample - local, int((last.interval_end - end).total_seconds() * 1e6) if ends else 0)
        for key, part in piece.parts.items():
            samples, time = moved.get(_group(key, part), (0, 0))
            goes_on = pl.col("run") == 0
            frame = part.frame.with_columns(
                (pl.col("sample").cast(pl.Int64) + pl.when(goes_on).then(samples).otherwise(0)).cast(pl.UInt32),
                (pl.col("run") + state.run).cast(pl.UInt32),
                *(
                    pl.col(name) + pl.when(goes_on).then(pl.duration(microseconds=time)).otherwise(pl.duration())
                    for name in ("interval_start", "interval_end")
                    if time
                ),
            )
            placed[key] = replace(part, frame=frame)
        return placed

    def _end(self, piece: Piece, lines: pl.DataFrame, first: int) -> int | None:
        """The line after the last row before the last sample; None where no sample is before it."""
        last: dict[str, Any] | None = None
        group: object = None
        for key, part in piece.parts.items():
            rows = part.frame.filter(~pl.col("is_average") & pl.col("sample").is_not_null() & _LINE.ge(first))
            if rows.height and (last is None or rows.item(-1, "line") > last["line"]):
                last, group = rows.row(-1, named=True), _moment(key, part)
        if last is None:
            return None
        marks = piece.marks.filter(pl.col("run") == last["run"])
        by_table = marks.height > 0 and marks.item(0, "run_value") in self._facts.by_table
        same = _TIME if group == "time" else ("sample",)
        is_of = pl.all_horizontal(pl.lit(by_table) | pl.col(name).eq_missing(last[name]) for name in same)
        starts = []
        for key, part in piece.parts.items():
            if by_table or _moment(key, part) == group:
                rows = part.frame.filter((pl.col("run") == last["run"]) & is_of & _LINE.ge(first))
                starts += [rows.item(0, "line")] if rows.height else []
        return _after_row(_part_of(lines, first), min(starts))

    def _add_runs(self, piece: Piece, end: int) -> None:
        """Note the runs up to a line."""
        state = self._state
        for run in piece.runs:
            if run.run == 0 and state.before.run is not None:
                state.runs[state.run] = replace(run, run=state.run)
            elif run.line < end:
                state.runs.append(replace(run, run=state.run + run.run))
        for local, zones in piece.zones.items():
            state.zones.setdefault(state.run + local, set()).update(zones)

    def _go_on(
        self, piece: Piece, parts: dict[Key, Part], shown: pl.DataFrame, own_lines: pl.DataFrame, end: int
    ) -> None:
        """Note what the lines up to a line say of those from it on."""
        state = self._state
        offset = state.run
        goes_on = state.before.run is not None
        state.headless |= {offset + run for run in piece.headless}
        passed = piece.marks.filter(end > _LINE)
        number, value = passed.select("run", "run_value").row(-1) if passed.height else (0, state.before.run_value)
        heads = passed.filter((pl.col("run") == number) & pl.col("is_heading"))
        first_heading = piece.keys[heads.item(0, "heading")] if heads.height else None
        if number == 0 and state.before.first_heading is not None:
            first_heading = state.before.first_heading
        state.run = offset + number
        state.before = Before(
            state.runs[state.run] if passed.height or goes_on else None,
            value,
            state.before.rows + own_lines.filter(is_kind("row")).height,
            end,
            first_heading,
            state.run in state.headless,
        )
        here = {key: part.frame.filter((pl.col("run") == state.run) & (end > _LINE)) for key, part in parts.items()}
        here = {key: rows.filter(~pl.col("is_average") & pl.col("sample").is_not_null()) for key, rows in here.items()}
        here = {key: rows for key, rows in here.items() if rows.height}
        state.last = {key: _Last(*rows.select("line", "sample", "interval_end").row(-1)) for key, rows in here.items()}
        state.shown = self._shown(piece, parts, here, shown, end)

    def _shown(
        self, piece: Piece, parts: dict[Key, Part], here: dict[Key, pl.DataFrame], lines: pl.DataFrame, end: int
    ) -> pl.DataFrame:
        """The lines that say what those after them mean: the headings in force, and the last sample under each."""
        lines = _part_of(lines, 0, end)
        ranges: list[tuple[int, int]] = []
        passed = piece.marks.filter(end > _LINE)
        in_force = passed.height > 0 and passed.select(pl.col("heading").fill_null(-1)).item(-1, 0) >= 0
        heads = [_heading_range(lines, passed.item(-1, "heading_line"))] if in_force else []
        samples: dict[Any, tuple[int, int]] = {}
        for key, rows in here.items():
            line, sample = rows.select("line", "sample").row(-1)
            ranges.append((rows.filter(pl.col("sample") == sample).item(0, "line"), line))
            group = _group(key, parts[key])
            samples[group] = max(samples.get(group, (0, 0)), (line, sample))
            number = piece.keys.index(key)
            above = piece.marks.filter((line > _LINE) & pl.col("is_heading") & (pl.col("heading") == number))
            heads.append(_heading_range(lines, int(above.item(-1, "line"))))
        for group, (_, sample) in samples.items():
            starts = [
                rows.filter(pl.col("sample") == sample).get_column("line").min()
                for key, rows in here.items()
                if _group(key, parts[key]) == group
            ]
            start = min(int(str(line)) for line in starts if line is not None)
            ranges.append((_after_row(lines, start) or int(lines.item(0, "line")), end))
        is_row, is_head = (
            pl.any_horizontal(pl.lit(value=False), *(_LINE.is_between(low, high) for low, high in each))
            for each in (ranges, heads)
        )
        shown = lines.filter((is_row | is_head) & ~is_kind(*OPENS, "configuration"))
        # the row below a heading shows its columns, and is no row of the last sample
        kind = pl.when(is_row | ~is_kind(*_ROWS)).then("kind").otherwise(pl.lit("text", KIND))
        return with_own_text(shown.with_columns(kind))


def _group(key: Key, part: Part) -> object:
    """Parts whose samples are numbered together have the same one."""
    if part.heading.has_clock:
        return "clock"
    is_alone = part.heading.has_time or part.heading.is_by_row
    return key if is_alone else "report"


def _moment(key: Key, part: Part) -> object:
    """Parts that may have rows of one moment have the same one."""
    return "time" if part.heading.has_time else _group(key, part)


def _after_row(lines: pl.DataFrame, line: int) -> int | None:
    """The line after the last row before a line."""
    above = _part_of(lines, 0, line)
    for size in (_NEAR, above.height):
        rows = above.tail(size).filter(is_kind(*_ROWS))
        if rows.height:
            return int(rows.item(-1, "line")) + 1
    return None


def _heading_range(lines: pl.DataFrame, line: int) -> tuple[int, int]:
    """A heading with the groups above it and the row below it."""
    before = _part_of(lines, 0, line).tail(4).rows()
    low = line
    for number, _, kind in reversed(before):
        if kind == "words":
            low = number
        elif kind in _BETWEEN:
            continue
        break
    below = _part_of(lines, line + 1)
    for size in (_NEAR, below.height):
        rows = below.head(size).filter(is_kind(*_ROWS))
        if rows.height:
            return low, int(rows.item(0, "line"))
    return low, line


def _part_of(lines: pl.DataFrame, first: int, end: int | None = None) -> pl.DataFrame:
    """The lines from one on and before another one."""
    numbers = lines.get_column("line")
    start = bisect_left(numbers, first)
    return lines.slice(start, None if end is None else bisect_left(numbers, end) - start)


def _between(part: Part, first: int, end: int) -> Part:
    """The rows of a part from a line on and before another one."""
    lines = part.frame.get_column("line")
    start, stop = (bisect_left(lines, line) for line in (first, end))
    if start == 0 and stop == len(lines):
        return part
    halves = {
        name: half.slice(start, stop - start) if isinstance(half, pl.Series) else half
        for name, half in part.halves.items()
    }
    return replace(part, frame=part.frame.slice(start, stop - start), halves=halves)


def _halves(part: Part) -> set[float]:
    """The half units of the last column of a part."""
    half = part.halves.get(part.heading.fields[-1].name) if part.heading.fields and part.frame.height else None
    if half is None:
        return set()
    return set(half.unique()) if isinstance(half, pl.Series) else {half}
