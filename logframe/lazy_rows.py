"""LazyFrames over rows that are made when they are wanted, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polars.io.plugins import register_io_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl


def lazy_rows(
    rows: Callable[[list[str] | None], Iterator[pl.DataFrame]], schema: pl.Schema, *, explained: str = "rows"
) -> pl.LazyFrame:
    """A LazyFrame over frames that a function makes, one after another.

    Args:
        rows: gives frames with the columns that are asked for, others beside them or not; None: all columns.
        schema: of the frames.
        explained: what the plan of a query calls them.

    Examples:
        >>> import polars as pl
        >>> def rows(columns):
        ...     yield pl.DataFrame({"size": [512, 8192]})
        ...     yield pl.DataFrame({"size": [4096]})
        >>> lazy_rows(rows, pl.Schema({"size": pl.Int64})).filter(pl.col("size") > 512).collect()["size"].to_list()
        [8192, 4096]
    """

    def batches(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = limit
        for frame in rows(columns):
            found = frame.select(columns or list(schema))
            if left is not None:
                found = found.head(left)
                left -= found.height
            if predicate is not None:
                found = found.filter(predicate)
            yield found
            if left == 0:
                return

    return register_io_source(batches, schema=schema, is_pure=True, explain_name=explained)
