"""Column types that every reader of Parquet understands: what a frame becomes before it is written for other programs.

| in a frame | in the file |
|---|---|
| `Duration` of any unit | `Int64`, nanoseconds; the column's name gets the suffix ``_ns`` |
| `Time` | `Int64`, nanoseconds since midnight; the column's name gets the suffix ``_ns`` |
| `Enum`, `Categorical`, `Null` | `String` |
| unsigned integers | `Int64` |
| `List`, `Array`, `Struct` | the same of these types, names unchanged |
| all others | unchanged |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polars._typing import PolarsDataType

#: Suffix of a column that was a time or a duration.
SUFFIX: Final = "_ns"


def physical(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """The columns of a frame as columns that other programs read.

    Args:
        schema: Of the frame.

    Raises:
        pl.exceptions.InvalidOperationError: On evaluation, where an unsigned integer exceeds 2**63 - 1.

    Examples:
        >>> from datetime import timedelta
        >>> frame = pl.DataFrame({"elapsed": [timedelta(microseconds=7)], "kind": ["call"]})
        >>> frame.select(physical(frame.schema)).to_dicts()
        [{'elapsed_ns': 7000, 'kind': 'call'}]
    """
    columns = []
    for name, dtype in schema.items():
        target = physical_type(dtype)
        column = pl.col(name)
        if dtype == pl.Duration:
            column = column.dt.total_nanoseconds()
        elif target != dtype:
            column = _nanosecond_durations(column, dtype).cast(target)
        columns.append(column.alias(name + SUFFIX if dtype in (pl.Duration, pl.Time) else name))
    return columns


def physical_type(dtype: pl.DataType) -> pl.DataType:
    """The type that a column of a type gets.

    Examples:
        >>> physical_type(pl.List(pl.Duration("us")))
        List(Int64)
    """
    match dtype:
        case pl.Duration() | pl.Time() | pl.UInt8() | pl.UInt16() | pl.UInt32() | pl.UInt64():
            return pl.Int64()
        case pl.Enum() | pl.Categorical() | pl.Null():
            return pl.String()
        case pl.List():
            return pl.List(physical_type(_instance(dtype.inner)))
        case pl.Array():
            return pl.List(physical_type(_instance(dtype.inner)))
        case pl.Struct():
            return pl.Struct([pl.Field(field.name, physical_type(_instance(field.dtype))) for field in dtype.fields])
        case _:
            return dtype


def _instance(dtype: PolarsDataType) -> pl.DataType:
    return dtype() if isinstance(dtype, type) else dtype


def _nanosecond_durations(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A nested column whose durations count nanoseconds, so that a cast to integers gives those."""
    return column.cast(_in_nanoseconds(dtype)) if dtype.is_nested() else column


def _in_nanoseconds(dtype: pl.DataType) -> pl.DataType:
    match dtype:
        case pl.Duration():
            return pl.Duration("ns")
        case pl.List():
            return pl.List(_in_nanoseconds(_instance(dtype.inner)))
        case pl.Array():
            return pl.List(_in_nanoseconds(_instance(dtype.inner)))
        case pl.Struct():
            return pl.Struct([pl.Field(field.name, _in_nanoseconds(_instance(field.dtype))) for field in dtype.fields])
        case _:
            return dtype
