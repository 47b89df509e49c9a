"""The lines of an nmon file: rows of figures, some megabytes of text at a time, and the few lines around them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.lines import BATCH_BYTES, NMON, TEXT, with_own_text
from logframe.source import batches_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logframe import Log

_KINDS: Final = {
    "setting": "SETTING",
    "configuration": "CONFIGURATION",
    "clock": "CLOCK",
    "process_heading": "PROCESS_HEADING",
    "process": "PROCESS",
    "arguments": "ARGUMENTS",
    "heading": "HEADING",
}


#: Kinds whose text is not kept: a file may hold many.
_MANY: Final = ("process", "arguments", "configuration", "blank")


class NmonLines(NamedTuple):
    """The lines of a file.

    Attributes:
        is_data: of every line: is it a row of figures?
        others: ``line``, ``text``, ``kind`` and ``run`` of the other lines that say something of those.
        kinds: number of lines of each kind.
    """

    is_data: pl.Series
    others: pl.DataFrame
    kinds: dict[str, int]

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.is_data)


def sorted_out(log: Log) -> NmonLines:
    """Which lines are rows of figures, and the other lines with their kinds and the run of each."""
    is_data: list[pl.Series] = []
    others: list[pl.DataFrame] = []
    kinds: Counter[str] = Counter()
    is_row = NMON.matches(TEXT, "^{DATA_START}") & ~NMON.matches(TEXT, "^{OTHER_START}")
    for batch in _batches(log):
        found = batch.select(is_row.alias("is_data")).to_series()
        rest = batch.filter(~found).with_columns(_kind())
        kinds.update(dict(rest.get_column("kind").value_counts().iter_rows()))
        kinds["data"] += int(found.sum())
        others.append(with_own_text(rest.filter(~pl.col("kind").is_in(_MANY))))
        is_data.append(found)
    starts = (NMON.matches(TEXT, "^{FILE_START}").cum_sum().cast(pl.Int32) - 1).clip(lower_bound=0).cast(pl.UInt32)
    others_of_all = pl.concat(others).with_columns(starts.alias("run"))
    return NmonLines(pl.concat(is_data, rechunk=True), others_of_all, dict(sorted(kinds.items())))


def _batches(log: Log) -> Iterator[pl.DataFrame]:
    """The lines, some megabytes at a time: ``line`` and ``text``."""
    for lines in batches_of(log.scan(name="text", row_index_name="line"), BATCH_BYTES):
        if lines.select((TEXT.str.ends_with("\r") | TEXT.str.ends_with(" ")).any()).item():
            yield lines.with_columns(TEXT.str.strip_chars_end(" \r"))
        else:
            yield lines


class NmonRows(NamedTuple):
    """Rows of some ticks: ``line``, ``text`` and ``run``.

    Attributes:
        data: rows of figures.
        processes: rows of processes.
    """

    data: pl.DataFrame
    processes: pl.DataFrame


def rows_of(log: Log, lines: NmonLines, *, in_pieces: bool) -> Iterator[NmonRows]:
    """The rows of a file, some megabytes of text at a time, all rows of a tick together.

    Args:
        log: opened.
        lines: of the log.
        in_pieces: begin a piece with the clock of a tick; the rows of a file that was sorted are one piece.
    """
    starts = lines.others.select("line", "run").sort("line")
    clocks = lines.others.filter(pl.col("kind") == "clock").get_column("line")
    waiting: list[pl.DataFrame] = []
    for batch in _batches(log):
        last = int(batch.item(-1, "line"))
        clock = clocks.filter((clocks >= batch.item(0, "line")) & (clocks <= last)).max()
        if not in_pieces or clock is None or last == lines.height:
            waiting.append(batch)
            continue
        whole = pl.concat([*waiting, batch.filter(pl.col("line") < clock)])
        waiting = [with_own_text(batch.filter(pl.col("line") >= clock))]
        if whole.height:
            yield _rows(whole, lines, starts)
    if waiting:
        yield _rows(pl.concat(waiting), lines, starts)


def _rows(batch: pl.DataFrame, lines: NmonLines, starts: pl.DataFrame) -> NmonRows:
    """The rows among some lines."""
    is_data = lines.is_data.slice(int(batch.item(0, "line")) - 1, batch.height)
    found = []
    for rows in (batch.filter(is_data), batch.filter(~is_data).filter(NMON.matches(TEXT, "^{PROCESS}$"))):
        if starts.get_column("run").max():
            found.append(rows.join_asof(starts, on="line").with_columns(pl.col("run").fill_null(0)))
        else:
            found.append(rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias("run")))
    return NmonRows(*found)


def _kind() -> pl.Expr:
    """The kind of a line that is no row of figures."""
    kind: pl.Expr = pl.when(TEXT == "").then(pl.lit("blank")).otherwise(pl.lit("text"))
    for name, terminal in reversed(_KINDS.items()):
        kind = pl.when(NMON.matches(TEXT, f"^{{{terminal}}}$")).then(pl.lit(name)).otherwise(kind)
    return kind.alias("kind")
