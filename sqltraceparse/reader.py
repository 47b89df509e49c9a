"""Reading a trace batch by batch: lines into raw records, with only one batch of text in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe import Diagnostic
from sqltraceparse import irregular, records, regular
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.sections import Sorted, sort_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from logframe import Log

#: A batch is full when its lines have so many bytes.
BATCH_BYTES: Final = 16 << 20
#: About the length of a line.
_LINE_BYTES: Final = 150
#: Lines that may need others after them are kept up to this many bytes.
_MOST_HELD: Final = 64 << 20
_TEXT: Final = pl.col("text")


class Pieces(NamedTuple):
    """The raw records of some lines of a log.

    Attributes:
        lines: ``line``, ``text``, ``kind``, ``is_whole`` of each line; the parts of a fused line have its number.
        waits, calls: `sqltraceparse.regular.RAW_WAITS` and `RAW_CALLS`, in the order of the lines.
        diagnostics: of these lines.
    """

    lines: pl.DataFrame
    waits: pl.DataFrame
    calls: pl.DataFrame
    statements: pl.DataFrame
    binds: pl.DataFrame
    row_sources: pl.DataFrame
    transactions: pl.DataFrame
    errors: pl.DataFrame
    processes: pl.DataFrame
    attributes: pl.DataFrame
    diagnostics: list[Diagnostic]


def read_pieces(log: Log, *, batch_bytes: int = BATCH_BYTES, n_rows: int | None = None) -> Iterator[Pieces]:
    """The raw records of a log, batch by batch; a batch ends where no section is open.

    Args:
        log: the opened trace.
        batch_bytes: size of a batch of text.
        n_rows: read so many lines at most.
    """
    for done in sorted_batches(log, batch_bytes=batch_bytes, n_rows=n_rows):
        yield _pieces(done, log.name)


def sorted_batches(log: Log, *, batch_bytes: int = BATCH_BYTES, n_rows: int | None = None) -> Iterator[Sorted]:
    """The lines with their kinds; what is open at the end of a batch goes to the next."""
    held: pl.DataFrame | None = None
    for batch, is_last in _batches(log, batch_bytes, n_rows):
        lines = batch if held is None else pl.concat([held, batch], rechunk=True)
        is_end = is_last or lines.estimated_size() > _MOST_HELD + batch_bytes
        found = sort_lines(lines, log.name, is_last=is_end)
        parted, fused = irregular.unfused(found.lines, log.name)
        if parted is not None:
            found = sort_lines(parted, log.name, is_last=is_end)
        if is_end:
            held = None
            yield found._replace(diagnostics=[*found.diagnostics, *fused])
            continue
        held = lines.filter(pl.col("line") >= _first_open(found))
        ready = found.lines.head(found.open_from)
        if ready.height:
            done = int(ready.item(-1, "line"))
            fused = [row for row in fused if row.line is not None and row.line <= done]
            yield found._replace(lines=ready, diagnostics=[*found.diagnostics, *fused])


def _first_open(found: Sorted) -> int:
    """The number of the first line that waits for the next batch."""
    if found.open_from < found.lines.height:
        return int(found.lines.item(found.open_from, "line"))
    return int(found.lines.item(-1, "line")) + 1


def _batches(log: Log, batch_bytes: int, n_rows: int | None) -> Iterator[tuple[pl.DataFrame, bool]]:
    """The lines in batches of about so many bytes, without carriage returns, and whether a batch is the last."""
    lines = log.scan(name="text", row_index_name="line").with_columns(pl.col("line").cast(pl.Int64))
    if n_rows is not None:
        lines = lines.head(n_rows)
    held: list[pl.DataFrame] = []
    size = 0
    for piece in lines.collect_batches(chunk_size=max(50, batch_bytes // _LINE_BYTES), maintain_order=True):
        if size >= batch_bytes:
            yield _bare(held), False
            held, size = [], 0
        held.append(piece)
        size += int(piece.estimated_size())
    if held:
        yield _bare(held), True


def _bare(pieces: list[pl.DataFrame]) -> pl.DataFrame:
    lines = pl.concat(pieces, rechunk=True)
    if lines.get_column("text").str.ends_with("\r").any():
        lines = lines.with_columns(_TEXT.str.strip_suffix("\r"))
    return lines


def _pieces(found: Sorted, name: str) -> Pieces:
    """The raw records of lines whose kinds are known."""
    lines = found.lines
    waits, cut_waits = read_waits(lines, name)
    calls, cut_calls = read_calls(lines, name)
    statements, cut_heads = records.statements(lines, found.texts, name)
    row_sources, cut_rows = records.row_sources(lines, name)
    transactions, cut_ends = records.transactions(lines, name)
    errors, cut_errors = records.errors(lines, name)
    rows = [
        *found.diagnostics,
        *cut_waits,
        *cut_calls,
        *cut_heads,
        *cut_rows,
        *cut_ends,
        *cut_errors,
        *_foreign(lines, name),
    ]
    return Pieces(
        lines,
        waits,
        calls,
        statements,
        records.binds(lines),
        row_sources,
        transactions,
        errors,
        records.processes(lines),
        records.attributes(lines),
        rows,
    )


def read_waits(
    lines: pl.DataFrame, name: str, columns: Sequence[str] = tuple(regular.RAW_WAITS)
) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """The waits among lines whose kinds are known, in their order, and a row for each that is damaged."""
    kept = lines.lazy().filter(pl.col("kind") == "wait")
    found, odd = pl.collect_all(
        [
            regular.waits(kept.filter("is_whole")).select("line", *(name for name in columns if name != "line")),
            kept.filter(~pl.col("is_whole")).select("line", "text"),
        ]
    )
    if odd.is_empty():
        return found.select(columns), []
    more, _, cut = irregular.read_irregular(odd, name)
    return pl.concat([found, more.select(found.columns)]).sort("line", maintain_order=True).select(columns), cut


def read_calls(
    lines: pl.DataFrame, name: str, columns: Sequence[str] = tuple(regular.RAW_CALLS)
) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """The calls, closes and LOB calls among lines whose kinds are known, and a row for each that is damaged."""
    kinds = ["call", "close", "lob"]
    kept = lines.lazy().filter(pl.col("kind").is_in(kinds)).collect().lazy()
    is_lob = (pl.col("kind") == "lob") & GRAMMAR.matches(_TEXT, "^{LOB_LINE}$")
    wanted = ["line", *(name for name in columns if name != "line")]
    *found, odd = pl.collect_all(
        [
            regular.calls(kept.filter("is_whole", pl.col("kind") == "call")).select(wanted),
            regular.closes(kept.filter("is_whole", pl.col("kind") == "close")).select(wanted),
            regular.lobs(kept.filter(is_lob)).select(wanted),
            kept.filter(~pl.col("is_whole") & ~is_lob).select("line", "text"),
        ]
    )
    _, more, cut = irregular.read_irregular(odd, name)
    parts = [part for part in (*found, more.select(wanted)) if part.height]
    calls = pl.concat(parts).sort("line", maintain_order=True) if parts else more.select(wanted)
    return calls.select(columns), cut


def _foreign(lines: pl.DataFrame, name: str) -> list[Diagnostic]:
    """One row for each run of lines that are no lines of a trace, and for what the trace says of its own end."""
    place = pl.int_range(pl.len())
    odd = lines.with_columns(place=place).filter(pl.col("kind").is_in(["unparsed", "limited"]))
    if odd.is_empty():
        return []
    runs = (
        odd.with_columns(run=(pl.col("place").diff().fill_null(2) != 1).cum_sum())
        .group_by("run", "kind", maintain_order=True)
        .agg(pl.col("line").first(), _TEXT.first(), pl.col("line").last().alias("last"), pl.len().alias("count"))
    )
    rows = []
    for kind, line, text, last, count in runs.select("kind", "line", "text", "last", "count").iter_rows():
        if kind == "limited":
            reason = "the database stopped writing here: the file reached max_dump_file_size"
            rows.append(Diagnostic(name, line, None, "limited", text, reason))
        else:
            more = "" if count == 1 else f"; so are the next ones up to line {last} ({count:,} lines)"
            rows.append(Diagnostic(name, line, None, "unparsed", text, f"this is no line of an SQL trace{more}"))
    return rows
