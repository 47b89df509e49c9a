"""Parquet files as this project writes them: one compression, one size of row groups, rows in their order.

A file is written to a path that only the writer knows, and gets its name when it is whole: `logframe.atomic.replacing`
for one file, `logframe.atomic.new_folder` for several, the staging folder of a dataset.

`physical` gives a frame the column types that every reader of Parquet understands, for other programs.

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

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol, TypedDict

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Literal

    from polars._typing import PolarsDataType


#: Rows of one row group: what a writer holds, and the least that a reader decompresses.
ROWS_PER_GROUP: Final = 65_536
#: Where this many bytes cannot be written, the disk is full.
_PROBE: Final = 1 << 20


class _Options(TypedDict):
    compression: Literal["zstd"]
    compression_level: int
    statistics: bool
    row_group_size: int


class _File(Protocol):
    """The part that is used of the description that Polars gives of a file to write."""

    index_in_partition: int


#: Level 1 writes a seventh faster than level 3, in files that are a fortieth larger.
_OPTIONS: Final[_Options] = {
    "compression": "zstd",
    "compression_level": 1,
    "statistics": True,
    "row_group_size": ROWS_PER_GROUP,
}


def write_parquet(frame: pl.DataFrame | pl.LazyFrame, path: Path, *, metadata: Mapping[str, str] | None = None) -> int:
    """Write a frame to a file; its number of rows.

    A LazyFrame is written in memory that does not grow with it.

    Args:
        frame: Its columns; `logframe.parquet` gives those that every program reads.
        path: A file that has no other reader yet.
        metadata: Names and values that are stored with the columns.

    Raises:
        OSError: The file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_parquet(pl.LazyFrame({"size": [512, 8192]}), Path(folder) / "sizes.parquet")
        2
    """
    noted = None if metadata is None else dict(metadata)
    with _errors(path):
        if isinstance(frame, pl.DataFrame):
            frame.write_parquet(path, metadata=noted, **_OPTIONS)
            return frame.height
        frame.sink_parquet(path, metadata=noted, maintain_order=True, **_OPTIONS)
    rows: int = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    return rows


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """The errors of Polars where a file cannot be written as those of the system.

    Raises:
        OSError: The disk is full.
    """
    try:
        yield
    except pl.exceptions.PolarsError as error:
        try:
            with path.open("ab") as file:
                file.write(bytes(_PROBE))
        except OSError as found:
            raise OSError(found.errno, found.strerror, str(path)) from error
        raise


def write_parts(
    frame: pl.LazyFrame, folder: Path, *, rows_per_file: int, progress: Callable[[int], object] | None = None
) -> list[str]:
    """Write a frame to several files; their names in the order of the rows, ``part-00000.parquet`` and on.

    Args:
        frame: Written in memory that does not grow with it.
        folder: A folder that has no other reader yet.
        rows_per_file: Of each but the last.
        progress: Called with the number of rows in the files that are full.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_parts(pl.LazyFrame({"size": [512, 8192]}), Path(folder), rows_per_file=1)
        ['part-00000.parquet', 'part-00001.parquet']
    """
    names: dict[int, str] = {}

    def next_file(file: _File) -> Path:
        """The path of a file; Polars may ask for them out of order."""
        if progress is not None and names:
            progress(len(names) * rows_per_file)
        names[file.index_in_partition] = f"part-{file.index_in_partition:05d}.parquet"
        return folder / names[file.index_in_partition]

    target = pl.PartitionBy(folder, file_path_provider=next_file, max_rows_per_file=rows_per_file)
    frame.sink_parquet(target, maintain_order=True, **_OPTIONS)
    return [names[place] for place in sorted(names)]


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
