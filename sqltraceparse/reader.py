"""Reading a trace batch by batch: lines into raw records, with only one batch of text in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import Diagnostic, LogParseError
from sqltraceparse import irregular, records, regular
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.lines import batches, classified
from sqltraceparse.schema import KINDS
from sqltraceparse.sections import Sorted, sort_lines
from sqltraceparse.waits import Waits, coded, joined_waits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from logframe import Log
    from sqltraceparse.lines import Batch

#: A batch is full when its lines have this many bytes.
BATCH_BYTES: Final = 31 << 20
#: Lines that may need others after them are kept up to this many bytes.
_MOST_HELD: Final = 64 << 20
#: Lines of a head at most, with those of the files that it continues.
_MOST_HEADS: Final = 60
_TEXT: Final = pl.col("text")


class Pieces(NamedTuple):
    """The raw records of some lines of a log.

    Attributes:
        kinds: ``kind`` and number of ``lines`` of it; the parts of a fused line count each.
        heads: ``text``, ``kind`` of the first lines that say what the file is.
        waits: `sqltraceparse.grammar.CODED_WAITS`, in the order of the lines.
        shapes: `sqltraceparse.grammar.SHAPES`, those of the waits.
        calls: `sqltraceparse.regular.RAW_CALLS`, in the order of the lines.
        diagnostics: of these lines.
    """

    kinds: pl.DataFrame
    heads: pl.DataFrame
    waits: pl.DataFrame
    shapes: pl.DataFrame
    calls: pl.DataFrame
    statements: pl.DataFrame
    binds: pl.DataFrame
    row_sources: pl.DataFrame
    transactions: pl.DataFrame
    errors: pl.DataFrame
    processes: pl.DataFrame
    attributes: pl.DataFrame
    diagnostics: list[Diagnostic]


def read_pieces(
    log: Log,
    *,
    batch_bytes: int = BATCH_BYTES,
    n_rows: int | None = None,
    before: int = 0,
    continues: bool = False,
) -> Iterator[Pieces]:
    """The raw records of a log, batch by batch; a batch ends where no section is open.

    Args:
        log: the opened trace.
        batch_bytes: size of a batch of text.
        n_rows: read this many lines at most.
        before: number of lines of the trace before the first one.
        continues: the trace goes on after the last line.

    Raises:
        LogParseError: the trace goes on, and the last lines are part of what goes on.
    """
    for done in sorted_batches(log, batch_bytes=batch_bytes, n_rows=n_rows, before=before, continues=continues):
        yield _pieces(done, log.name)


def joined(pieces: list[Pieces]) -> Pieces:
    """The records of several parts of a log that follow one another; of the heads, the first part's."""

    def part(name: str) -> pl.DataFrame:
        frames: list[pl.DataFrame] = [getattr(piece, name) for piece in pieces]
        return pl.concat(frames, rechunk=True)

    if len(pieces) == 1:
        return pieces[0]
    names = [name for name in Pieces._fields if name not in {"heads", "diagnostics", "waits", "shapes"}]
    rows = [row for piece in pieces for row in piece.diagnostics]
    waits = joined_waits([Waits(piece.waits, piece.shapes) for piece in pieces])
    frames = {name: part(name) for name in names} | {"waits": waits.rows, "shapes": waits.shapes}
    return Pieces(heads=pieces[0].heads, diagnostics=rows, **frames)


def sorted_batches(
    log: Log,
    *,
    batch_bytes: int = BATCH_BYTES,
    n_rows: int | None = None,
    columns: Collection[str] | None = None,
    kinds: Collection[str] = KINDS,
    before: int = 0,
    continues: bool = False,
) -> Iterator[Sorted]:
    """The lines with their kinds, with these columns (None: all) of whole waits and calls of these kinds.

    What is open at the end of a batch goes to the next.

    Raises:
        LogParseError: the trace continues, and something is open at the end.
    """
    held: Batch | None = None
    for read, is_last in batches(log, batch_bytes, n_rows, columns, kinds, before=before):
        batch = read if held is None else held.followed_by(read)
        is_end = (is_last and not continues) or batch.lines.estimated_size() > _MOST_HELD + batch_bytes
        found = sort_lines(batch, log.name, is_last=is_end)
        parted, fused = irregular.unfused(found, log.name)
        if parted is not None:
            found = sort_lines(classified(parted), log.name, is_last=is_end)
        if is_end:
            found = found._replace(open_from=found.lines.height)
            held = None
        else:
            held = batch.from_line(_first_open(found))
        ready = found.ready(fused)
        if ready.lines.height:
            yield ready
    if held is not None and held.lines.height:
        raise LogParseError("the text of a statement or a section is not complete", source=log.name)


def _first_open(found: Sorted) -> int:
    """The number of the first line that waits for the next batch."""
    if found.open_from < found.lines.height:
        return int(found.lines.item(found.open_from, "line"))
    return int(found.lines.item(-1, "line")) + 1


def _pieces(found: Sorted, name: str) -> Pieces:
    """The raw records of lines whose kinds are known."""
    lines = found.lines
    waits, cut_waits = read_waits(found, name)
    calls, cut_calls = read_calls(found, name)
    hot = pl.col("is_whole") & pl.col("kind").is_in(["wait", "call", "close"])
    others = lines.with_row_index("place").filter(~hot)  # few lines, and all that the rest is read from
    broken, broken_rows = _broken_numbers(lines, others, name)
    if broken_rows:
        waits = waits.changed(lambda rows: _without_last_number(rows, broken))
        calls = _without_last_number(calls, broken)
    statements, cut_heads = records.statements(others, lines.get_column("text"), found.texts, name)
    row_sources, cut_rows = records.row_sources(others, name)
    transactions, cut_ends = records.transactions(others, name)
    errors, cut_errors = records.errors(others, name)
    binds, broken_binds = records.binds(others, name)
    if broken_rows:
        transactions, errors = (_without_last_number(frame, broken) for frame in (transactions, errors))
    rows = [
        *found.diagnostics,
        *broken_rows,
        *cut_waits,
        *cut_calls,
        *cut_heads,
        *cut_rows,
        *cut_ends,
        *cut_errors,
        *broken_binds,
        *_foreign(others, name),
    ]
    return Pieces(
        lines.group_by("kind").agg(pl.len().cast(pl.Int64).alias("lines")),
        others.filter(pl.col("kind").is_in(["head", "process", "continued"])).head(_MOST_HEADS).select("text", "kind"),
        waits.rows,
        waits.shapes,
        calls,
        statements,
        binds,
        row_sources,
        transactions,
        errors,
        records.processes(others, name),
        records.attributes(others, name),
        rows,
    )


def read_waits(found: Sorted, name: str) -> tuple[Waits, list[Diagnostic]]:
    """The waits among lines whose kinds are known, in their order, and a row for each that is damaged."""
    is_wait = pl.col("kind") == "wait"
    waits = found.waits
    if waits is None:
        waits = coded(regular.waits(found.lines.lazy().filter(is_wait, "is_whole")).collect())
    odd = found.lines.filter(is_wait, ~pl.col("is_whole")).select("line", "text")
    if odd.is_empty():
        return waits, []
    read, _, cut = irregular.read_irregular(odd, name)
    more = coded(read).changed(lambda rows: rows.select(waits.rows.columns))
    return joined_waits([waits, more]).changed(lambda rows: rows.sort("line", maintain_order=True)), cut


def read_calls(
    found: Sorted, name: str, columns: Sequence[str] = tuple(regular.RAW_CALLS)
) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """The calls, closes and LOB calls among lines whose kinds are known, and a row for each that is damaged."""
    kind = pl.col("kind")
    lines = found.lines.lazy()
    wanted = ["line", *(name for name in columns if name != "line")]
    calls = found.calls
    if calls is None:
        whole = lines.filter("is_whole", kind.is_in(["call", "close"]))
        calls = regular.calls_and_closes(whole).select(wanted).collect()
    others = lines.filter(~pl.col("is_whole"), kind.is_in(["call", "close", "lob"])).select("line", "text").collect()
    if others.is_empty():
        return calls.select(columns), []
    is_lob = GRAMMAR.matches(_TEXT, "^{LOB_LINE}$")
    lobs = regular.lobs(others.lazy().filter(is_lob)).select(wanted).collect()
    _, more, cut = irregular.read_irregular(others.filter(~is_lob), name)
    parts = [part for part in (calls.select(wanted), lobs, more.select(wanted)) if part.height]
    calls = pl.concat(parts).sort("line", maintain_order=True) if parts else calls
    return calls.select(columns), cut


def _broken_numbers(lines: pl.DataFrame, others: pl.DataFrame, name: str) -> tuple[pl.Series, list[Diagnostic]]:
    """The numbers of records whose last number was broken into the next line, with a row for each.

    Args:
        lines: ``line``, ``text``, ``kind``, of a batch.
        others: those that are no whole waits and calls, with their ``place``.
        name: of the log.
    """
    digits = others.filter(
        pl.col("kind") == "unparsed", GRAMMAR.matches(_TEXT, "^{BROKEN_NUMBER}$"), pl.col("place") > 0
    )
    if digits.is_empty():
        return pl.Series("line", dtype=pl.Int64), []
    before = lines.select("line", "text", "kind").select(pl.all().gather(digits.get_column("place") - 1))
    ended = before.filter(
        pl.col("kind").is_in(["wait", "call", "close", "lob", "transaction", "error"]),
        GRAMMAR.matches(_TEXT, "{BROKEN_NUMBER}$"),
    )
    reason = "the last number of this line goes on in the next line; it is left out"
    rows = [
        Diagnostic(name, line, None, "cut", text, reason) for line, text in ended.select("line", "text").iter_rows()
    ]
    return ended.get_column("line"), rows


def _without_last_number(frame: pl.DataFrame, lines: pl.Series) -> pl.DataFrame:
    """The records; of those of certain lines without the time at their end, or a wait's last parameter."""
    is_broken = pl.col("line").is_in(lines.implode())
    last = pl.when(~is_broken).then("tim_us").alias("tim_us")
    if "p3" not in frame.columns:
        return frame.with_columns(last)
    is_old = is_broken & pl.col("tim_us").is_null()
    return frame.with_columns(last, pl.when(~is_old).then("p3").alias("p3"))


def _foreign(lines: pl.DataFrame, name: str) -> list[Diagnostic]:
    """One row for each run of lines that are no lines of a trace, and for what the trace says of its own end.

    Args:
        lines: ``place``, ``line``, ``text``, ``kind``.
        name: of the log.
    """
    odd = lines.filter(pl.col("kind").is_in(["unparsed", "limited"]))
    if odd.is_empty():
        return []
    runs = (
        odd.with_columns(run=(pl.col("place").cast(pl.Int64).diff().fill_null(2) != 1).cum_sum())
        .group_by("run", "kind", maintain_order=True)
        .agg(pl.col("line").first(), _TEXT.first(), pl.col("line").last().alias("last"), pl.len().alias("count"))
    )
    rows = []
    for kind, line, text, last, count in runs.select("kind", "line", "text", "last", "count").iter_rows():
        if kind == "limited":
            reason = "the database stopped writing here: the file reached max_dump_file_size"
            rows.append(Diagnostic(name, line, None, "limit", text, reason))
        else:
            more = "" if count == 1 else f"; so are the next ones up to line {last} ({count:,} lines)"
            rows.append(Diagnostic(name, line, None, "unparsed", text, f"this is not a line of an SQL trace{more}"))
    return rows
