"""Writing a log of any size to Parquet, in bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe import LogParseError
from logframe.atomic import new_folder
from logframe.parquet import write_parts
from straceparse.opening import open_logs
from straceparse.scan import scan_logs

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from logframe import Log, Source


#: Default number of lines in one file of the data set.
LINES_PER_FILE = 2_000_000
#: Kinds of lines that a log of strace has, and other texts hardly ever.
_OWN: Final = ("call", "unfinished", "resumed", "signal", "exited", "killed")
_MOST_UNREAD: Final = 0.5


def to_parquet(
    source: Source,
    dest: str | PathLike[str],
    *,
    encoding: str | None = None,
    lines_per_file: int = LINES_PER_FILE,
    progress: Callable[[int], object] | None = None,
) -> list[Path]:
    """The files of a Parquet data set with the events of a log, written in bounded memory.

    Args:
        source: as in `scan_strace`.
        dest: a new folder, or an empty one; the files are ``part-00000.parquet`` and on.  It appears when all of them
            are written.
        encoding: as in `scan_strace`.
        lines_per_file: lines in one file.
        progress: called with the number of lines written so far, whenever a file is full.

    Raises:
        LogNotFoundError: there is no such log.
        LogParseError: a log is empty, or has no line of strace.
        LogError: the folder is a URL.
        FileExistsError: the folder is not empty, or is a file.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> import polars as pl
        >>> with TemporaryDirectory() as folder:
        ...     files = to_parquet(b"close(3) = 0", folder)
        ...     print([file.name for file in files], pl.scan_parquet(folder).collect().get_column("name").to_list())
        ['part-00000.parquet'] ['close']
    """
    logs = open_logs(source, encoding=encoding)
    events = scan_logs(logs, include_file_paths="file" if len(logs) > 1 else None)
    with new_folder(os.fspath(dest)) as folder:
        names = write_parts(events, folder, rows_per_file=lines_per_file, progress=progress)
        _refuse_others(pl.scan_parquet([folder / name for name in names]), logs)
    return [Path(dest) / name for name in names]


def _refuse_others(events: pl.LazyFrame, logs: list[Log]) -> None:
    """Raise where most lines of a log are unread, and none is one of strace's."""
    file = "file" if len(logs) > 1 else pl.lit(logs[0].name).alias("file")
    kind = pl.col("kind").cast(pl.String)
    found = (
        events.group_by(file, maintain_order=True)
        .agg(kind.is_in(_OWN).any().alias("is_own"), (kind == "unparsed").mean().alias("unread"))
        .filter(~pl.col("is_own") & (pl.col("unread") > _MOST_UNREAD))
        .head(1)
        .collect()
    )
    for name in found.get_column("file"):
        raise LogParseError("no line of it is one of strace's", source=name, expected="a log of strace")
