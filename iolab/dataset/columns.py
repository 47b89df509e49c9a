"""Frames of several versions below each other: columns united by name, each of a type that holds those of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence


def concat(frames: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Frames below each other; a frame without a column gives nulls.

    A column whose type differs gets the type that Polars unites them to.  A value beside lists becomes a list of one.
    All else becomes text, nested values as JSON.

    Examples:
        >>> old = pl.LazyFrame({"a": [1, None], "b": [1.5, 2.0]})
        >>> new = pl.LazyFrame({"a": [["x", "y"]], "b": [{"c": 1}]})
        >>> concat([old, new]).collect().to_dict(as_series=False)
        {'a': [['1'], None, ['x', 'y']], 'b': ['1.5', '2.0', '{"c":1}']}
    """
    types: dict[str, pl.DataType] = {}
    schemas = [frame.collect_schema() for frame in frames]
    for schema in schemas:
        for name, dtype in schema.items():
            types[name] = _common(types.get(name, dtype), dtype)
    cast = [
        frame.with_columns(
            _as_type(pl.col(name), dtype, types[name]) for name, dtype in schema.items() if dtype != types[name]
        )
        for frame, schema in zip(frames, schemas, strict=True)
    ]
    return pl.concat(cast, how="diagonal")


def _common(one: pl.DataType, other: pl.DataType) -> pl.DataType:
    """The type that holds the values of two."""
    if one == other:
        return one
    inner = [dtype.inner if isinstance(dtype, pl.List) else dtype for dtype in (one, other)]
    if inner != [one, other]:
        return pl.List(_common(*(dtype() if isinstance(dtype, type) else dtype for dtype in inner)))
    if pl.Struct in (one, other):
        return pl.String()
    try:
        empty = [pl.DataFrame(schema={"x": dtype}) for dtype in (one, other)]
        return pl.concat(empty, how="vertical_relaxed").schema["x"]
    except pl.exceptions.PolarsError:
        return pl.String()


def _as_type(column: pl.Expr, dtype: pl.DataType, target: pl.DataType) -> pl.Expr:
    """A column as one of a type that `_common` gave."""
    if isinstance(target, pl.List) and not isinstance(dtype, pl.List):
        return pl.when(column.is_not_null()).then(pl.concat_list(_as_type(column, dtype, _inner(target))))
    if isinstance(target, pl.List) and isinstance(dtype, pl.List):
        return column.list.eval(_as_type(pl.element(), _inner(dtype), _inner(target)))
    if isinstance(target, pl.String) and isinstance(dtype, pl.Struct):
        return pl.when(column.is_not_null()).then(column.struct.json_encode())
    return column.cast(target)


def _inner(dtype: pl.List) -> pl.DataType:
    return dtype.inner() if isinstance(dtype.inner, type) else dtype.inner
