"""Writing a log of any size to Parquet, in bounded memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from logframe.atomic import new_folder
from logframe.parquet import write_parts
from straceparse.opening import open_logs
from straceparse.scan import scan_logs

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from logframe import Source


#: Default number of lines in one file of the data set.
LINES_PER_FILE = 2_000_000


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
        LogParseError: a log is empty, or is no text.
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
    return [Path(dest) / name for name in names]
