"""Lines of a trace in batches, with the kind that each has by its own form.

The compiled kernel classifies the lines and parts those of regular waits and calls into figures and shapes; the
expressions of `sqltraceparse.regular` read one line of each shape.  Where there is no compiled code, the same
expressions read them all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe.blocks import part_lines, text_batches
from logframe.kernel import Block, load_kernel
from logframe.lazy_rows import with_last
from logframe.line_cleanup import LineCleanup
from logframe.source import batches_of
from sqltraceparse import regular
from sqltraceparse.grammar import GRAMMAR, cleanup_of, record_start
from sqltraceparse.schema import KINDS
from sqltraceparse.waits import NAMES, Waits, joined_waits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from logframe import Log
    from logframe.blocks import Parted, TextBatch
    from logframe.classify import Classifier
    from logframe.kernel import Kernel

#: Carriage returns at the end of a line that are no part of it: two where text with both was written as text again.
_RETURNS: Final = 2
#: About the length of a line.
_LINE_BYTES: Final = 150
_TEXT: Final = pl.col("text")
CODES: Final = {name: code for code, name in enumerate(KINDS)}
#: Terminal of the grammar -> kind of the lines that it describes; the first that fits.
_TERMINALS: Final = {
    "WAIT_LINE": "wait",
    "CALL_LINE": "call",
    "CLOSE_LINE": "close",
    "BLANK_LINE": "blank",
    "RULE": "rule",
    "END_OF_STATEMENT": "end_of_statement",
    "BIND": "bind",
    "BIND_FIELD": "bind_field",
    "DUMP": "bind_field",
    "BINDS_START": "binds",
    "WAIT_START": "wait",
    "PARSE_ERROR_START": "parse_error",
    "CLOSE_START": "close",
    "CALL_START": "call",
    "STAT_START": "row_source",
    "PARSING_START": "parsing",
    "LOB_START": "lob",
    "TRANSACTION_START": "transaction",
    "ERROR_START": "error",
    "STAMP_LINE": "stamp",
    "ATTRIBUTE": "attribute",
    "APPNAME": "attribute",
    "SLICE": "process",
    "PROCESS": "process",
    "CONTINUED": "continued",
    "LIMITED": "limited",
    "FILE": "head",
    "BANNER": "head",
    "HEAD": "head",
}
#: Code of a kind by the tag of its terminal, which counts from 1; 0 is no terminal.
_CODE_OF_TAG: Final = pl.Series([CODES[kind] for kind in ("unparsed", *_TERMINALS.values())], dtype=pl.UInt8)
#: Kinds of the first tags: whole waits, calls and closes.
_WHOLE: Final = ("wait", "call", "close")
#: Figures of waits and of calls in the order in which they are printed.
_WAIT_FIGURES: Final = ("cursor", "elapsed_us", "p1", "p2", "p3", "object_id", "tim_us")
_CALL_FIGURES: Final = (
    *("cursor", "cpu_us", "elapsed_us", "disk_blocks", "consistent_gets", "current_gets", "misses", "rows", "depth"),
    *("goal", "plan_hash", "close_type", "tim_us"),
)


class Batch(NamedTuple):
    """Lines of a trace.

    Attributes:
        lines: ``line``, ``text``, ``code`` (place in `KINDS`), ``is_whole`` (a wait, call or close with all fields).
        waits, calls: the whole ones among them, the calls as `RAW_CALLS`, where compiled code has read them.
    """

    lines: pl.DataFrame
    waits: Waits | None = None
    calls: pl.DataFrame | None = None

    def from_line(self, line: int) -> Batch:
        """The lines from this one on."""

        def later(part: pl.DataFrame) -> pl.DataFrame:
            return part.filter(pl.col("line") >= line)

        waits, calls = self.waits, self.calls
        return Batch(
            later(self.lines),
            None if waits is None else waits.changed(later),
            None if calls is None else later(calls),
        )

    def followed_by(self, other: Batch) -> Batch:
        """These lines and others."""
        lines = pl.concat([self.lines, other.lines], rechunk=True)
        if self.waits is None or other.waits is None or self.calls is None or other.calls is None:
            return Batch(lines)
        waits = joined_waits([self.waits, other.waits])
        return Batch(lines, waits, pl.concat([self.calls, other.calls], rechunk=True))


@cache
def classifier() -> Classifier:
    """What gives each line its kind."""
    return GRAMMAR.classifier({name: f"{{{name}}}" for name in _TERMINALS})


def classified(lines: pl.DataFrame) -> Batch:
    """Lines (``line``, ``text``) with their kinds."""
    kinds = classifier().kinds_of(lines.get_column("text"))
    tags = (kinds.to_physical() + 1).fill_null(0)
    return Batch(lines.select("line", "text").with_columns(*_codes(tags)))


def _codes(tags: pl.Series) -> tuple[pl.Series, pl.Series]:
    return _CODE_OF_TAG.gather(tags.cast(pl.UInt32)).alias("code"), ((tags > 0) & (tags <= len(_WHOLE))).alias(
        "is_whole"
    )


def batches(
    log: Log,
    batch_bytes: int,
    n_rows: int | None,
    columns: Collection[str] | None = None,
    kinds: Collection[str] = KINDS,
    *,
    before: int = 0,
) -> Iterator[tuple[Batch, bool]]:
    """The lines in batches of about this many bytes, without carriage returns, and whether a batch is the last.

    Args:
        log: the opened trace.
        batch_bytes: size of a batch of text.
        n_rows: read this many lines at most.
        columns: of waits and calls, those that are needed; None: all.
        kinds: of lines that are needed; waits and calls may be left out of `Batch` where they are not.
        before: number of lines of the trace before the first one.
    """
    kernel = load_kernel()
    cleanup = cleanup_of(log.head())
    if kernel is None or isinstance(log.target, str) or cleanup != LineCleanup():
        yield from with_last(_by_expressions(log, batch_bytes, n_rows, before, cleanup))
        return
    texts = text_batches(kernel, log, batch_bytes, n_rows, returns=_RETURNS)
    yield from with_last(_by_kernel(kernel, replace(text, first=before + text.first), columns, kinds) for text in texts)


def _by_expressions(
    log: Log, batch_bytes: int, n_rows: int | None, before: int, cleanup: LineCleanup
) -> Iterator[Batch]:
    lines = log.scan(name="text", row_index_name="line").with_columns(pl.col("line").cast(pl.Int64) + before)
    if cleanup != LineCleanup():
        lines = lines.with_columns(cleanup.apply(_TEXT.str.strip_suffix("\r")))
    if n_rows is not None:
        lines = lines.head(n_rows)
    for batch in batches_of(lines, batch_bytes, piece_rows=max(50, batch_bytes // _LINE_BYTES)):
        has_returns = batch.get_column("text").str.ends_with("\r").any()
        yield classified(batch.with_columns(_TEXT.str.strip_suffix("\r")) if has_returns else batch.rechunk())


# ------------------------------------------------------------------------------------------------------ compiled code


def _by_kernel(kernel: Kernel, batch: TextBatch, columns: Collection[str] | None, kinds: Collection[str]) -> Batch:
    """The lines of a block, classified and parted by compiled code."""
    count = batch.lines.count
    tags = kernel.tags_of(batch.text, batch.lines, classifier().tables)
    texts = kernel.unmatched("text", batch.text, batch.lines, Block(kernel, count, zeroed=True), count)
    numbers = pl.int_range(batch.first, batch.first + count, dtype=pl.Int64, eager=True).alias("line")
    lines = pl.DataFrame([numbers, texts, *_codes(kernel.series("tag", "C", count, tags))])

    def parted(
        kinds_of_tags: Collection[str], printed: tuple[str, ...], needed: Collection[int] | None
    ) -> Parted | None:
        wanted = [tag for tag, kind in enumerate(_WHOLE, 1) if kind in kinds_of_tags and kind in kinds]
        return part_lines(kernel, batch, tags, wanted, len(printed), needed)

    # the figures of waits stand at one place each, those of calls do not
    needed = [place for place, name in enumerate(_WAIT_FIGURES) if columns is None or name in columns]
    waits = _waits(lines, parted({"wait"}, _WAIT_FIGURES, needed), needed)
    if waits is None:
        return Batch(lines)
    if not {"call", "close"} & set(kinds):
        return Batch(lines, waits, pl.DataFrame(schema=regular.RAW_CALLS))
    calls = _calls(lines, parted({"call", "close"}, _CALL_FIGURES, None), columns)
    return Batch(lines) if calls is None else Batch(lines, waits, calls)


def _waits(lines: pl.DataFrame, parted: Parted | None, needed: Sequence[int]) -> Waits | None:
    """Whole lines of waits with these figures; None where they cannot be read so."""
    shapes = None if parted is None else _shapes(lines, parted, regular.waits)
    places = None if parted is None or shapes is None else _places(shapes, parted, _WAIT_FIGURES)
    if parted is None or shapes is None or places is None:
        return None
    found = {"line": lines.get_column("line").gather(parted.places), "shape": parted.shape}
    for place in needed:
        name = _WAIT_FIGURES[place]
        if set(places[name]) - {place, None}:
            return None
        found[name] = _figures(parted, places[name])
    return Waits(pl.DataFrame(found), shapes.select(NAMES))


def _calls(lines: pl.DataFrame, parted: Parted | None, columns: Collection[str] | None) -> pl.DataFrame | None:
    """Whole lines of calls and closes as `RAW_CALLS`; None where they cannot be read so."""
    shapes = None if parted is None else _shapes(lines, parted, regular.calls_and_closes)
    places = None if parted is None or shapes is None else _places(shapes, parted, _CALL_FIGURES)
    if parted is None or shapes is None or places is None:
        return None
    wanted = [name for name in shapes.columns if columns is None or name in columns or name == "line"]
    return pl.DataFrame(
        {
            name: _figures(parted, places[name])
            if name in places
            else lines.get_column("line").gather(parted.places)
            if name == "line"
            else shapes.get_column(name).gather(parted.shape)
            for name in wanted
        }
    )


def _shapes(
    lines: pl.DataFrame, parted: Parted, by_text: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> pl.DataFrame | None:
    """The first line of each shape, read by expressions; None where a second record may stand in a line."""
    firsts = lines.select(pl.col("line", "text").gather(parted.places.gather(parted.first)))
    shapes = by_text(firsts.lazy()).collect(optimizations=pl.QueryOptFlags.none())  # few lines, and many columns
    return None if shapes.height != firsts.height or _may_be_fused(firsts.get_column("text")) else shapes


def _places(shapes: pl.DataFrame, parted: Parted, printed: tuple[str, ...]) -> dict[str, list[int | None]] | None:
    """At which place each figure stands in each shape; None where figures are not those that the expressions read."""
    places: dict[str, list[int | None]] = {name: [] for name in printed}
    for figures, shape in zip(parted.examples, shapes.select(printed).iter_rows(named=True), strict=True):
        there = [name for name in printed if shape[name] is not None]
        if figures[: len(there)] != [shape[name] for name in there]:
            return None
        for name in printed:
            places[name].append(there.index(name) if name in there else None)
    return places


def _figures(parted: Parted, places: list[int | None]) -> pl.Series:
    """The figure that stands at a place which depends on the shape."""
    known = {place for place in places if place is not None}
    if len(known) == 1 and None not in places:
        return parted.figures[known.pop()]
    place = pl.Series(places, dtype=pl.Int8).gather(parted.shape)
    figure = pl.lit(None, pl.Int64)
    for number in sorted(known):
        figure = pl.when(place == number).then(parted.figures[number]).otherwise(figure)
    return pl.select(figure).to_series() if known else pl.Series([None], dtype=pl.Int64).new_from_index(0, len(place))


def _may_be_fused(texts: pl.Series) -> bool:
    """Does one of these lines hold the start of a second record?"""
    return any(record_start().search(text, 1) for text in texts)
