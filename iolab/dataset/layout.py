"""What a dataset consists of: its files, and the tables about its sources.

    DATASET/_dataset.json                     version of this layout, and the options that all batches share
    DATASET/_commits/0000000001.json          the commit log (`iolab.dataset.commits`)
    DATASET/_sources/<batch>.parquet          one row per source
    DATASET/_diagnostics/<batch>.parquet      what was not read
    DATASET/<format>/<table>/<batch>.parquet  the rows of a table of all sources of a batch
    DATASET/_schemas/<id>.parquet             the columns of a table, without rows

The id of a batch begins with that of the run that wrote it, and no two batches have the same id.  So no run writes to a
file of another one, and a name says whose file it is.

Frames of several versions are put below each other: columns united by name, each of a type that holds those of all.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from logframe import DIAGNOSTICS
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from iolab.dataset.store import Store


#: Version of the layout; a dataset of a higher one is not opened.
VERSION: Final = 2
DESCRIPTION: Final = "_dataset.json"
COMMITS: Final = "_commits/"
SCHEMAS: Final = "_schemas/"
#: Hexadecimal digits of the id of a run, with which the id of each of its batches begins.
RUN: Final = 12
#: Names that only the writers of a dataset give; ids of batches and schemas have 24 digits.
_OWN: Final = re.compile(
    r"_commits/\d{10}(-\d{10})?\.json"
    r"|(_sources|_diagnostics|_schemas|[^._/][^/]*/[^/]+)/(?P<run>[0-9a-f]{12})[0-9a-f]{12}(-\d+)*\.parquet"
)

#: One row a source: a log, the files of one log, or a member of an archive.
SOURCES: Final = pl.Schema(
    {
        "source": pl.String(),
        "file": pl.String(),
        "status": pl.String(),
        "format": pl.String(),
        "kind": pl.String(),
        "parts": pl.Int64(),
        "rows": pl.Int64(),
        "message": pl.String(),
        "duplicate_of": pl.String(),
        "size_bytes": pl.Int64(),
        "content_bytes": pl.Int64(),
        "modified": pl.Datetime("us", "UTC"),
        "stamp": pl.String(),
        "hash": pl.String(),
        "in_file": pl.Int64(),
    }
)
#: The tables about sources, which every dataset has.
OWN_TABLES: Final = {"_sources": SOURCES, "_diagnostics": pl.Schema(DIAGNOSTICS)}
#: What became of a source.
STATUSES: Final = {
    "converted": "its rows are in the tables",
    "unreadable": "it is no log that is read, empty, or damaged; the message says what",
    "duplicate": "its content is that of another source, which is converted",
    "killed": "the process that read it ended, or the limit of time passed, several times",
    "failed": "the reader raised an error that is a fault of the program",
    "changed": "it changed while it was read; the next run converts it",
    "lost": "files with its rows are missing or damaged; the next run converts it",
}


def is_own(key: str) -> bool:
    """Whether a file below a dataset has a name that only its own writers give: no other is ever removed.

    Examples:
        >>> batch = "b7a35dcf697f72972b1e70fa"
        >>> own = f"awr/info/{batch}.parquet", f"_sources/{batch}-2-3.parquet", "_commits/0000000001.json"
        >>> [is_own(key) for key in own]
        [True, True, True]
        >>> [is_own(key) for key in ("notes.md", "_delta_log/0.json", "awr/info/mine.parquet", f".git/x/{batch}")]
        [False, False, False, False]
    """
    return _OWN.fullmatch(key) is not None


def run_of(key: str) -> str | None:
    """The id of the run that wrote a file of a table; None for any other file."""
    found = _OWN.fullmatch(key)
    return found["run"] if found else None


def describe(store: Store) -> dict[str, Any] | None:
    """The options of a dataset, or None without one.

    Raises:
        LogError: It is of a newer version, or its description is damaged.
    """
    try:
        data = store.read(DESCRIPTION)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found: dict[str, Any] = json.loads(data)
        version = int(found["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise LogError(f"{store.location(DESCRIPTION)} is damaged: {error}") from error
    if version > VERSION:
        raise LogError(
            f"{store.url} is a dataset of version {version}; this program reads versions up to {VERSION}: upgrade it"
        )
    return found


def is_dataset(folder: str) -> bool:
    """Whether a folder of this machine is a dataset."""
    return Path(folder, DESCRIPTION).is_file()


def require_dataset(store: Store) -> dict[str, Any]:
    """The options of a dataset.

    Raises:
        LogError: There is not one.
    """
    found = describe(store)
    if found is None:
        raise LogError(
            f"{store.url} is no dataset: it has no {DESCRIPTION} (iolab convert SOURCES -o DATASET makes one)"
        )
    return found


def digest(parts: Iterable[object]) -> str:
    """A short id that stands for a list of values."""
    found = blake2b(digest_size=12)
    for part in parts:
        found.update(repr(part).encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    return found.hexdigest()


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
