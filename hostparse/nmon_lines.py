"""The lines of an nmon file: rows of figures, some megabytes of text at a time, and the few lines around them."""

from __future__ import annotations

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


class NmonLines(NamedTuple):
    """The lines of a file.

    Attributes:
        is_data: of every line: is it a row of figures?
        others: ``line``, ``text``, ``kind`` and ``run`` of the other lines.
    """

    is_data: pl.Series
    others: pl.DataFrame

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.is_data)


def sorted_out(log: Log) -> NmonLines:
    """Which lines are rows of figures, and the other lines with their kinds and the run of each."""
    is_data: list[pl.Series] = []
    others: list[pl.DataFrame] = []
    is_row = NMON.matches(TEXT, "^{DATA_START}") & ~NMON.matches(TEXT, "^{OTHER_START}")
    for batch in _batches(log):
        found = batch.select(is_row.alias("is_data")).to_series()
        others.append(with_own_text(batch.filter(~found).with_columns(_kind())))
        is_data.append(found)
    starts = (NMON.matches(TEXT, "^{FILE_START}").cum_sum().cast(pl.Int32) - 1).clip(lower_bound=0).cast(pl.UInt32)
    return NmonLines(pl.concat(is_data, rechunk=True), pl.concat(others).with_columns(starts.alias("run")))


def _batches(log: Log) -> Iterator[pl.DataFrame]:
    """The lines, some megabytes at a time: ``line`` and ``text``."""
    for lines in batches_of(log.scan(name="text", row_index_name="line"), BATCH_BYTES):
        if lines.select((TEXT.str.ends_with("\r") | TEXT.str.ends_with(" ")).any()).item():
            yield lines.with_columns(TEXT.str.strip_chars_end(" \r"))
        else:
            yield lines


def data_of(log: Log, lines: NmonLines) -> Iterator[pl.DataFrame]:
    """The rows of figures, some megabytes of text at a time: ``line``, ``text`` and ``run``."""
    starts = lines.others.select("line", "run").sort("line")
    has_runs = bool(starts.get_column("run").max())
    for batch in _batches(log):
        data = batch.filter(lines.is_data.slice(int(batch.item(0, "line")) - 1, batch.height))
        if has_runs:
            yield data.join_asof(starts, on="line").with_columns(pl.col("run").fill_null(0))
        else:
            yield data.with_columns(pl.lit(0, dtype=pl.UInt32).alias("run"))


def _kind() -> pl.Expr:
    """The kind of a line that is no row of figures."""
    kind: pl.Expr = pl.when(TEXT == "").then(pl.lit("blank")).otherwise(pl.lit("text"))
    for name, terminal in reversed(_KINDS.items()):
        kind = pl.when(NMON.matches(TEXT, f"^{{{terminal}}}$")).then(pl.lit(name)).otherwise(kind)
    return kind.alias("kind")
