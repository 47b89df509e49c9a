"""Tables: the rows of a log under their headings, each in its run and its sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.cells import MOST_COLUMNS, cut_rows, figures, with_blanks
from hostparse.headings import read_heading, without_clock
from hostparse.lines import GRAMMAR, OPENS, TEXT, is_kind
from hostparse.recognise import SNIFF
from hostparse.runs import Run, Runs, read_runs, stated_step, unread_heads, with_steps
from hostparse.sampling import Carried, place_samples
from hostparse.stored import Part
from logframe import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hostparse.facts import Facts
    from hostparse.headings import Heading
    from hostparse.stored import Parts

_CLOCK_BEFORE: Final = "^{GAP}?{CLOCK}{GAP}"


@dataclass(frozen=True)
class Tables:
    """What a log of tables holds.

    Attributes:
        parts: one for each heading.
        runs: where and when.
        kinds: number of lines of each kind.
        diagnostics: lines and cells that could not be read, and what was assumed.
    """

    parts: Parts
    runs: Runs
    kinds: dict[str, int]
    diagnostics: tuple[Diagnostic, ...]


Key = tuple[str, str, bool]
"""A heading as it is printed: its words, the line of groups above it, and whether a clock stands before them."""


@dataclass(frozen=True)
class Before:
    """What the lines before a piece of a log say of it; by default nothing, as at the beginning of a log.

    Attributes:
        run: the run that goes on, with the number 0; None where none has begun.
        run_value: number of rows before the lines that opened it.
        rows: number of rows before the piece.
        first: the first line that is of the piece; lines before it are shown for what they say of those after them.
        first_heading: the first heading of the run that goes on.
        is_headless: the run that goes on began with rows without a heading.
    """

    run: Run | None = None
    run_value: int = 0
    rows: int = 0
    first: int = 1
    first_heading: Key | None = None
    is_headless: bool = False


class Piece(NamedTuple):
    """The tables of a piece of a log; runs and samples are counted from the first line that was shown.

    Attributes:
        parts: by the heading of each, with their samples.
        runs: of the piece, the one that goes on first.
        zones: names of the zones that stamps give, by run.
        headless: runs that begin with rows without a heading.
        marks: the lines between the rows: see `_Marks`.
        keys: the heading of each number in `marks`.
        notes: diagnostics.
        is_ordered: the samples are in the order of their times, so that those of a later piece come after them.
    """

    parts: dict[Key, Part]
    runs: tuple[Run, ...]
    zones: dict[int, set[str]]
    headless: frozenset[int]
    marks: pl.DataFrame
    keys: list[Key]
    notes: list[Diagnostic]
    is_ordered: bool


@dataclass
class _Rows:
    """What was read from the rows.

    Attributes:
        parts: by the number of their heading.
        alone: lines with a clock and no row.
        unread: diagnostics.
        headless: runs that begin with rows without a heading.
    """

    parts: dict[int, Part] = field(default_factory=dict)
    alone: list[pl.DataFrame] = field(default_factory=list)
    unread: list[list[Diagnostic]] = field(default_factory=list)
    headless: set[int] = field(default_factory=set)


@dataclass
class _Marks:
    """The lines between the rows.

    Attributes:
        frame: ``line``, ``kind``, ``text``, ``run``, ``run_value`` (rows before the run), ``heading`` (the number of
            the heading that holds from here on, -1 where none does), ``heading_line`` and ``is_heading``.
        headings: by number.
        keys: of the headings.
        notes: diagnostics about them.
    """

    frame: pl.DataFrame
    headings: list[Heading]
    keys: list[Key]
    notes: list[Diagnostic] = field(default_factory=list)


def read_piece(name: str, lines: pl.DataFrame, facts: Facts, before: Before) -> Piece:
    """The tables of a piece of a log.

    Args:
        name: of the log.
        lines: ``line``, ``text`` and ``kind``.
        facts: of the whole log.
        before: what the lines before say.
    """
    kept = _kept(lines, before)
    marks = _marks(name, kept, before, facts.starts)
    steps = {line: step for line, step in zip(kept["line"], kept["step"], strict=True) if step is not None}
    runs = with_steps(read_runs(marks.frame, facts.order.order, before.run), steps)
    rows = _rows(name, lines, marks)
    if before.is_headless:
        rows.headless.add(0)
    alone = pl.concat(rows.alone) if rows.alone else None
    first = None
    if before.first_heading is not None:
        first = marks.keys.index(before.first_heading) if before.first_heading in marks.keys else -1
    carried = Carried(before.run is not None, first, facts.stamped, facts.headed, facts.doubtful)
    numbers = {id(part): number for number, part in rows.parts.items()}
    placed = place_samples(
        name, list(rows.parts.values()), marks.frame, Runs(runs, facts.order), alone, frozenset(rows.headless), carried
    )
    bad = [
        Diagnostic(name, line, None, "no_value", text, f"no figure under {printed}: null in the frames")
        for _, part in placed.parts
        for line, printed, text in part.problems
    ]
    timeless = [
        Diagnostic(name, line, None, "clock", text, "no date and time that exist: this run has none")
        for line, run, text in marks.frame.filter(is_kind("opening", "date")).select("line", "run", "text").iter_rows()
        if runs[run].opened_at is None
    ]
    other = _unread(name, lines.filter(is_kind("text")), "not a line of a table")
    unread = [timeless, bad, unread_heads(name, marks.frame), other, *rows.unread]
    unread = [[note for note in part if note.line not in steps] for part in (marks.notes, *unread)]
    notes = [*placed.notes, *(note for part in unread for note in part)]
    parts = {marks.keys[numbers[id(read)]]: part for read, part in placed.parts}
    return Piece(
        parts,
        runs,
        placed.zones,
        frozenset(rows.headless),
        marks.frame,
        marks.keys,
        notes,
        placed.is_ordered,
    )


def _kept(lines: pl.DataFrame, before: Before) -> pl.DataFrame:
    """The lines that are no rows, and the rows below headings, with ``rows_before`` and the ``step`` of commands."""
    is_row = is_kind("row")
    counted = (is_row & (pl.col("line") >= before.first)).cum_sum().cast(pl.UInt32) + before.rows
    # the row below a heading, with a ruler between them or not, shows how many columns there are
    is_below = is_kind("words", "ruler").shift(1).fill_null(value=True)
    kept = lines.with_columns(counted.alias("rows_before"), step=stated_step(TEXT))
    return kept.filter(~is_row | is_below | pl.col("step").is_not_null())


def _rows(name: str, lines: pl.DataFrame, marks: _Marks) -> _Rows:
    """The figures of the rows."""
    found = _Rows()
    around = marks.frame.select("line", "heading", "heading_line", "run", mark="line")
    rows = lines.filter(is_kind("row", "average", "clock_alone")).join_asof(around, on="line")
    rows = rows.with_columns(pl.col("heading").fill_null(-1), pl.col("run").fill_null(0))
    for (number,), group in rows.partition_by("heading", as_dict=True, maintain_order=True).items():
        if not isinstance(number, int) or number < 0:
            found.unread.append(_unread(name, group, "a row without a heading above it"))
            found.headless.update(_headless(group.filter(is_kind("row")), marks))
            continue
        heading = marks.headings[number]
        if len(heading.fields) > MOST_COLUMNS:
            found.unread.append(_unread(name, group, f"under a heading of {len(heading.fields):,} columns"))
            continue
        alone = group.filter(is_kind("clock_alone"))
        found.parts[number], left = _part(heading, group.filter(~is_kind("clock_alone")) if alone.height else group)
        found.unread.append(_unread(name, left, f"does not fit its heading: {' '.join(heading.printed)}"))
        if heading.has_clock:
            found.alone.append(alone)
        else:
            found.unread.append(_unread(name, alone, "a clock among rows that have none"))
    return found


def _headless(rows: pl.DataFrame, marks: _Marks) -> Iterator[int]:
    """The runs in which rows without a heading fit one that stands below them, or hold the last figures of a row."""
    if marks.frame.height and marks.frame.item(0, "opens"):  # what stands above the first run is of another one
        rows = rows.drop_nulls("mark")
    is_cut = GRAMMAR.matches(TEXT, "^{GAP}?{FIGURE}(?:(?:{GAP}{FIGURE})*|(?:{GAP}{FIGURE})+{GAP}{CELL})$")
    for (run,), group in rows.partition_by("run", as_dict=True).items():
        below = marks.frame.filter(pl.col("is_heading") & (pl.col("run") == run)).get_column("heading").unique()
        if group.select(is_cut.any()).item() or any(_fits(marks.headings[number], group) for number in below):
            yield int(str(run))


def _fits(heading: Heading, rows: pl.DataFrame) -> bool:
    """Is some row one of a heading, with figures where it has them?"""
    if len(heading.fields) > MOST_COLUMNS:
        return False
    part, _ = _part(heading, rows)
    return part.frame.height > len({line for line, _, _ in part.problems})


def _unread(name: str, rows: pl.DataFrame, reason: str) -> list[Diagnostic]:
    printed = zip(rows.get_column("line"), rows.get_column("text"), strict=True)
    return [Diagnostic(name, line, None, "unparsed", text, reason) for line, text in printed]


def _marks(name: str, lines: pl.DataFrame, before: Before, starts: frozenset[int]) -> _Marks:
    """The lines between the rows, with the number of the heading and of the run that hold from each on."""
    # a blank line between the groups of vmstat and its columns was added to the log
    is_group = (
        pl.when(~is_kind("blank"))
        .then(SNIFF.matches(TEXT, "^{GROUPS}$") | GRAMMAR.matches(TEXT, "^{POOL_GROUPS}$"))
        .forward_fill()
        .fill_null(value=False)
    )
    around = lines.filter(~is_kind("ruler"), ~(is_kind("blank") & is_group))
    is_words = is_kind("words")
    around = around.with_columns(
        pl.col("kind").cast(pl.String).shift(-1).fill_null("").alias("next_kind"),
        TEXT.shift(-1).fill_null("").alias("next_text"),
        # a heading that stands twice is no group
        pl.when(is_words.shift(1) & (TEXT.shift(1) != TEXT)).then(TEXT.shift(1)).fill_null("").alias("groups"),
    )
    marks = around.filter(~is_kind("row", "blank", "average", "clock_alone", "text"))
    words = _without_labels(marks.filter(is_words & (pl.col("next_kind") != "words")))
    key = ["words", "groups", "has_clock"]
    distinct = words.select(key).unique(maintain_order=True)
    keys = list(distinct.iter_rows())
    headings = [read_heading(without_clock(text), groups, clock) for text, groups, clock in keys]
    distinct = distinct.with_columns(pl.int_range(len(headings), dtype=pl.Int32).alias("heading"))
    words = words.join(distinct, on=key, how="left", maintain_order="left")
    prose: list[int] = []
    notes: list[Diagnostic] = []
    unknown = [number for number, heading in enumerate(headings) if not heading.is_known]
    doubtful = words.filter(pl.col("heading").is_in(unknown)).select("line", "heading", "text", "next_text")
    for line, number, text, below in doubtful.iter_rows():
        if len(below.split()) == len(headings[number].fields) > 1:
            reason = "a heading that is not known: its columns keep their names and have no unit"
            notes.append(Diagnostic(name, line, None, "unknown_name", text, reason))
        else:
            prose.append(line)
            notes.append(Diagnostic(name, line, None, "unparsed", text, "words, but not the heading of a table"))
    words = words.filter(~pl.col("line").is_in(prose)).select("line", "heading", heading_line="line")
    opens = is_kind(*OPENS) | (pl.col("line").is_in(list(starts)) & (pl.col("line") >= before.first))
    marks = marks.filter(~pl.col("line").is_in(prose)).join(words, on="line", how="left", maintain_order="left")
    marks = marks.with_columns(
        opens.alias("opens"),
        pl.when(opens).then("rows_before").forward_fill().fill_null(before.run_value).alias("run_value"),
        pl.col("heading").is_not_null().alias("is_heading"),
        pl.coalesce("heading", pl.when(opens).then(pl.lit(-1, pl.Int32))).forward_fill(),
        pl.col("heading_line").forward_fill(),
    )
    numbered = pl.col("run_value").rank("dense").cast(pl.UInt32) - 1
    total = [number for number, heading in enumerate(headings) if heading.is_total_cpu]
    is_total = pl.col("heading").is_in(total).alias("is_total_cpu")
    return _Marks(marks.with_columns(numbered.alias("run"), is_total), headings, keys, notes)


def _without_labels(words: pl.DataFrame) -> pl.DataFrame:
    """Headings without the clock before them, or the word for means: ``Average:  CPU  %usr`` is the heading of CPUs."""
    has_clock = TEXT.str.contains(GRAMMAR.pattern(_CLOCK_BEFORE))
    label = GRAMMAR.pattern("^{AVERAGE_LABEL}")
    words = words.with_columns(
        has_clock.alias("has_clock"),
        pl.when(has_clock).then(TEXT.str.replace(GRAMMAR.pattern(_CLOCK_BEFORE), "")).otherwise(TEXT).alias("words"),
        TEXT.str.replace(label, "").str.strip_chars().alias("unlabelled"),
    )
    clocked = words.filter("has_clock").select(pl.col("words").str.strip_chars()).get_column("words").unique()
    # the label of the row below says so where the heading is damaged
    has_label = TEXT.str.extract(f"({label})") == pl.col("next_text").str.extract(f"({label})")
    is_average = ~pl.col("has_clock") & (
        pl.col("unlabelled").is_in(clocked.implode()) | has_label.fill_null(value=False)
    )
    blanks = GRAMMAR.pattern("{GAP}")
    return words.with_columns(
        (pl.col("has_clock") | is_average).alias("has_clock"),
        pl.when(pl.col("has_clock") | is_average)
        .then(pl.when(is_average).then("unlabelled").otherwise("words").str.strip_chars().str.replace_all(blanks, " "))
        .otherwise("words")
        .alias("words"),
    )


def _part(heading: Heading, rows: pl.DataFrame) -> tuple[Part, pl.DataFrame]:
    """The rows under a heading as figures, and those that do not fit it."""
    is_average = is_kind("average") & pl.lit(heading.has_clock)
    rows = with_blanks(rows.with_columns(is_average.alias("is_average")), heading)
    if rows.get_column("is_average").any():
        # as under a clock, the rows below the first mean of a table may lack the word
        is_said = pl.col("is_average") | TEXT.str.contains(GRAMMAR.pattern(_CLOCK_BEFORE))
        known = pl.when(is_said).then("is_average").forward_fill().over("heading_line")
        rows = rows.with_columns(known.fill_null(value=False).alias("is_average"))
        label = GRAMMAR.pattern("^{AVERAGE_LABEL}{GAP}?")
        rows = rows.with_columns(pl.when("is_average").then(TEXT.str.replace(label, "")).otherwise(TEXT).alias("text"))
    found, left, decimals = cut_rows(rows, heading)
    columns: list[pl.Series] = []
    halves: dict[str, float | pl.Series] = {}
    problems: list[tuple[int, str, str]] = []
    for number, column in enumerate(heading.fields):
        cells = found.get_column(f"c{number}").alias(column.name)
        if column.metric is None:
            columns.append(cells)
            continue
        read = figures(cells, column.metric.factor, column.metric.basis, decimals.get(f"c{number}"))
        columns.append(read.values.alias(column.name))
        halves[column.name] = read.half
        problems += [(found.item(row, "line"), column.printed, cells[row]) for row in read.problems]
    place = [
        name
        for name in ("line", "mark", "heading_line", "run", "is_average", "clock", "stamp")
        if name in found.columns
    ]
    return Part(heading, found.select(place).with_columns(columns), halves, tuple(problems)), left
