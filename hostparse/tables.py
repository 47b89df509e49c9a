"""Tables: the rows of a log under their headings, each in its run and its sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.cells import cut_rows, figures
from hostparse.headings import read_heading, without_clock
from hostparse.lines import GRAMMAR, KIND, OPENS, TEXT, batches, kinds_of, with_own_text
from hostparse.parts import Part, together, without_cut_end
from hostparse.recognise import SNIFF
from hostparse.runs import Runs, read_runs
from hostparse.sampling import place_samples
from logframe import Diagnostic

if TYPE_CHECKING:
    from hostparse.clocks import DateOrder
    from hostparse.headings import Heading
    from logframe import Log

_CLOCK_BEFORE: Final = "^{GAP}?{CLOCK}{GAP}"
_KIND: Final = pl.col("kind").cast(pl.String)


@dataclass(frozen=True)
class Tables:
    """What a log of tables holds.

    Attributes:
        parts: one for each heading.
        runs: where and when.
        kinds: number of lines of each kind.
        diagnostics: lines and cells that could not be read, and what was assumed.
    """

    parts: tuple[Part, ...]
    runs: Runs
    kinds: dict[str, int]
    diagnostics: tuple[Diagnostic, ...]


class _Lines(NamedTuple):
    """The lines of a log.

    Attributes:
        kinds: of every line.
        kept: ``line``, ``text``, ``kind`` and ``rows_before`` of the lines that are no rows, and of the row below each
            heading.
    """

    kinds: pl.Series
    kept: pl.DataFrame


@dataclass
class _Rows:
    """What was read from the rows.

    Attributes:
        parts: by the number of their heading, piece by piece.
        alone: lines with a clock and no row.
        unread: diagnostics.
        headless: runs that begin with rows without a heading.
    """

    parts: dict[int, list[Part]] = field(default_factory=dict)
    alone: list[pl.DataFrame] = field(default_factory=list)
    unread: list[list[Diagnostic]] = field(default_factory=list)
    headless: set[int] = field(default_factory=set)


@dataclass
class _Marks:
    """The lines between the rows.

    Attributes:
        frame: ``line``, ``kind``, ``text``, ``run``, ``heading`` (the number of the heading that holds from here on, -1
            where none does), ``heading_line`` and ``is_heading``.
        headings: by number.
        notes: diagnostics about them.
    """

    frame: pl.DataFrame
    headings: list[Heading]
    notes: list[Diagnostic] = field(default_factory=list)


def read_tables(log: Log, *, date_order: DateOrder | None = None) -> Tables:
    """The tables of a log.

    Args:
        log: opened.
        date_order: ``mdy`` or ``dmy``, where the dates of the log do not show it.
    """
    lines = _classified(log)
    marks = _marks(log.name, lines.kept)
    runs, notes = read_runs(log.name, marks.frame, date_order)
    rows = _rows(log, lines.kinds, marks)
    written = (lines.kinds.cast(pl.String) != "blank").arg_true()
    last = int(written[-1]) + 1 if len(written) else 0
    parts, cut = without_cut_end(log.name, [together(pieces) for pieces in rows.parts.values()], last)
    unread = [_unread(log.name, lines.kept.filter(_KIND == "text"), "no line of a table"), *rows.unread]
    alone = pl.concat(rows.alone) if rows.alone else None
    placed = place_samples(log.name, parts, marks.frame, runs, alone, frozenset(rows.headless))
    bad = [
        Diagnostic(log.name, line, None, "cell", text, f"no figure under {printed}: null in the frames")
        for part in parts
        for line, printed, text in part.problems
    ]
    found = [*marks.notes, *notes, *placed.notes, *cut, *bad, *(note for part in unread for note in part)]
    found.sort(key=lambda note: note.line or 0)
    kinds = dict(lines.kinds.value_counts().with_columns(pl.col("kind").cast(pl.String)).sort("kind").iter_rows())
    return Tables(tuple(placed.parts), placed.runs, kinds, tuple(found))


def _classified(log: Log) -> _Lines:
    """The kind of every line; the text of ordinary rows is not kept."""
    kinds: list[pl.Series] = []
    kept: list[pl.DataFrame] = []
    rows_before = 0
    for batch in batches(log):
        kind = kinds_of(batch)
        is_row = kind.cast(pl.String) == "row"
        before = is_row.cum_sum() + rows_before
        kinds.append(kind)
        # the row below a heading, with a ruler between them or not, shows how many columns there are
        is_below = kind.cast(pl.String).shift(1).is_in(["words", "ruler"]).fill_null(value=True)
        lines = batch.with_columns(kind, before.alias("rows_before"))
        kept.append(with_own_text(lines.filter(~is_row | is_below)))
        rows_before = int(before[-1])
    schema = {"line": pl.UInt32(), "text": pl.String(), "kind": KIND, "rows_before": pl.UInt32()}
    whole = pl.concat(kept, rechunk=True) if kept else pl.DataFrame(schema=schema)
    return _Lines(pl.concat(kinds, rechunk=True) if kinds else pl.Series("kind", dtype=KIND), whole)


def _rows(log: Log, kinds: pl.Series, marks: _Marks) -> _Rows:
    """The figures of the rows, some megabytes of text at a time."""
    found = _Rows()
    around = marks.frame.select("line", "heading", "heading_line", "run", mark="line")
    for batch in batches(log):
        kind = kinds.slice(int(batch.item(0, "line")) - 1, batch.height)
        rows = batch.with_columns(kind).filter(_KIND.is_in(["row", "average", "clock_alone"]))
        rows = rows.join_asof(around, on="line")
        rows = rows.with_columns(pl.col("heading").fill_null(-1), pl.col("run").fill_null(0))
        for (number,), group in rows.partition_by("heading", as_dict=True, maintain_order=True).items():
            if not isinstance(number, int) or number < 0:
                found.unread.append(_unread(log.name, group, "a row without a heading above it"))
                found.headless.update(group.get_column("run").unique())
                continue
            heading = marks.headings[number]
            is_alone = _KIND == "clock_alone"
            part, left = _part(heading, group.filter(~is_alone))
            found.parts.setdefault(number, []).append(part)
            found.alone.append(group.filter(is_alone & pl.lit(heading.has_clock)))
            found.unread.append(_unread(log.name, left, f"does not fit its heading: {' '.join(heading.printed)}"))
            if not heading.has_clock:
                found.unread.append(_unread(log.name, group.filter(is_alone), "a clock among rows that have none"))
    return found


def _unread(name: str, rows: pl.DataFrame, reason: str) -> list[Diagnostic]:
    return [
        Diagnostic(name, line, None, "unparsed", text, reason) for line, text in rows.select("line", "text").iter_rows()
    ]


def _marks(name: str, lines: pl.DataFrame) -> _Marks:
    """The lines between the rows, with the number of the heading and of the run that hold from each on."""
    # a blank line between the groups of vmstat and its columns was added to the log
    is_group = pl.when(_KIND != "blank").then(SNIFF.matches(TEXT, "^{GROUPS}$")).forward_fill().fill_null(value=False)
    around = lines.filter(_KIND != "ruler", ~((_KIND == "blank") & is_group))
    is_words = _KIND == "words"
    around = around.with_columns(
        _KIND.shift(-1).fill_null("").alias("next_kind"),
        TEXT.shift(-1).fill_null("").alias("next_text"),
        pl.when(is_words.shift(1)).then(TEXT.shift(1)).fill_null("").alias("groups"),
    )
    marks = around.filter(~_KIND.is_in(["row", "blank", "average", "clock_alone", "text"]))
    words = _without_labels(marks.filter(is_words & (pl.col("next_kind") != "words")))
    key = ["words", "groups", "has_clock"]
    distinct = words.select(key).unique(maintain_order=True)
    headings = [read_heading(without_clock(text), groups, clock) for text, groups, clock in distinct.iter_rows()]
    distinct = distinct.with_columns(pl.int_range(len(headings), dtype=pl.Int32).alias("heading"))
    words = words.join(distinct, on=key, how="left", maintain_order="left")
    prose: list[int] = []
    notes: list[Diagnostic] = []
    unknown = [number for number, heading in enumerate(headings) if not heading.is_known]
    doubtful = words.filter(pl.col("heading").is_in(unknown)).select("line", "heading", "text", "next_text")
    for line, number, text, below in doubtful.iter_rows():
        if len(below.split()) == len(headings[number].fields) > 1:
            reason = "a heading that is not known: its columns keep their names and have no unit"
            notes.append(Diagnostic(name, line, None, "heading", text, reason))
        else:
            prose.append(line)
            notes.append(Diagnostic(name, line, None, "unparsed", text, "words, but not the heading of a table"))
    words = words.filter(~pl.col("line").is_in(prose)).select("line", "heading", heading_line="line")
    opens = _KIND.is_in(OPENS)
    marks = marks.filter(~pl.col("line").is_in(prose)).join(words, on="line", how="left", maintain_order="left")
    marks = marks.with_columns(
        pl.when(opens).then("rows_before").forward_fill().fill_null(0).alias("run"),
        pl.col("heading").is_not_null().alias("is_heading"),
        pl.coalesce("heading", pl.when(opens).then(pl.lit(-1, pl.Int32))).forward_fill(),
        pl.col("heading_line").forward_fill(),
    )
    numbered = pl.col("run").rank("dense").cast(pl.UInt32) - 1
    total = [number for number, heading in enumerate(headings) if heading.is_total_cpu]
    is_total = pl.col("heading").is_in(total).alias("is_total_cpu")
    return _Marks(marks.with_columns(numbered.alias("run"), is_total), headings, notes)


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
    is_average = ~pl.col("has_clock") & pl.col("unlabelled").is_in(clocked.implode())
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
    is_average = (_KIND == "average") & pl.lit(heading.has_clock)
    rows = rows.with_columns(is_average.alias("is_average"))
    if rows.get_column("is_average").any():
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
