"""Waits whose names are numbers: a trace has few sets of an event and its parameters' names, and each is kept once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from sqltraceparse.regular import RAW_WAITS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

#: Columns of `RAW_WAITS` that a shape says.
NAMES: Final = ("event", "p1_name", "p2_name", "p3_name")
SHAPES: Final = pl.Schema({name: RAW_WAITS[name] for name in NAMES})
#: Columns of waits: those of `RAW_WAITS`, with ``shape``, the row of `SHAPES` that has their names.
CODED_WAITS: Final = pl.Schema(
    {
        "line": pl.Int64(),
        "shape": pl.UInt32(),
        **{name: dtype for name, dtype in RAW_WAITS.items() if name not in NAMES},
    }
)


class Waits(NamedTuple):
    """Waits in the order of their lines.

    Attributes:
        rows: `CODED_WAITS`, or some of these columns.
        shapes: `SHAPES`.
    """

    rows: pl.DataFrame
    shapes: pl.DataFrame

    def changed(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Waits:
        """The waits with other rows."""
        return self._replace(rows=change(self.rows))

    def named(self, columns: Collection[str] = tuple(RAW_WAITS)) -> pl.DataFrame:
        """The waits with these columns of `RAW_WAITS`."""
        return self.rows.select(
            self.shapes.get_column(name).gather(self.rows.get_column("shape")) if name in NAMES else name
            for name in columns
        )


def coded(waits: pl.DataFrame) -> Waits:
    """Waits with the columns of `RAW_WAITS`, their names as numbers.

    Examples:
        >>> import polars as pl
        >>> rows = pl.DataFrame([[2, 1, "x", 5, "a", 1, "b", 2, "c", 3, None, None]], schema=RAW_WAITS, orient="row")
        >>> waits = coded(pl.concat([rows, rows]))
        >>> waits.rows.get_column("shape").to_list(), waits.shapes.rows()
        ([0, 0], [('x', 'a', 'b', 'c')])
        >>> waits.named().row(1)
        (2, 1, 'x', 5, 'a', 1, 'b', 2, 'c', 3, None, None)
    """
    shapes = waits.select(NAMES).unique(maintain_order=True)
    numbered = shapes.with_row_index("shape").with_columns(pl.col("shape").cast(pl.UInt32))
    found = waits.join(numbered, on=NAMES, how="left", nulls_equal=True, maintain_order="left")
    return Waits(found.select(CODED_WAITS.names()), shapes)


def joined_waits(parts: Sequence[Waits]) -> Waits:
    """Several parts as one, in their order."""
    if len(parts) == 1:
        return parts[0]
    rows, count = [], 0
    for part in parts:
        rows.append(part.rows.with_columns(pl.col("shape") + pl.lit(count, pl.UInt32)))
        count += part.shapes.height
    return Waits(pl.concat(rows, rechunk=True), pl.concat([part.shapes for part in parts]))
