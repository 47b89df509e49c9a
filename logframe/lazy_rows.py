"""LazyFrames over rows that are made when they are wanted, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from polars.io.plugins import register_io_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import polars as pl
    from polars._typing import PolarsDataType

Batch = TypeVar("Batch")


def lazy_rows(
    rows: Callable[[list[str]], Iterable[pl.DataFrame]],
    schema: Mapping[str, PolarsDataType],
    *,
    explained: str = "rows",
    detail: str | None = None,
) -> pl.LazyFrame:
    """A LazyFrame over frames that a function makes, one after another.

    Args:
        rows: gives frames with the columns that are named, others beside them or not.
        schema: of the frames.
        explained: what the plan of a query calls them.
        detail: what the plan says of them, beside that.

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
        wanted = list(schema) if columns is None else columns
        tested = [] if predicate is None else predicate.meta.root_names()
        left = limit
        for frame in rows(list(dict.fromkeys([*wanted, *tested]))):
            found = frame if left is None else frame.head(left)
            yield (found if predicate is None else found.filter(predicate)).select(wanted)
            if left is not None and (left := left - found.height) <= 0:
                return

    return register_io_source(batches, schema=schema, is_pure=True, explain_name=explained, explain_detail=detail)


def with_last(batches: Iterable[Batch]) -> Iterator[tuple[Batch, bool]]:
    """Each batch, and whether it is the last one.

    Examples:
        >>> list(with_last("ab"))
        [('a', False), ('b', True)]
    """
    held: list[Batch] = []
    for batch in batches:
        if held:
            yield held.pop(), False
        held.append(batch)
    if held:
        yield held.pop(), True
