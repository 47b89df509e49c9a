"""The frames of one log as files, with its figures: for a few logs.  `iolab.dataset` is for any number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars as pl

from iolab.pages.summary import summarize
from iolab.time_ledger.run import ledger_frame
from logframe.atomic import replacing
from logframe.parquet import write_parquet
from logframe.physical import physical
from logframe.spreadsheet import spreadsheet_safe as safe_cells

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from logframe import Source
    from logframe.formats import ParsedLog

Format = Literal["parquet", "csv"]


def convert_log(
    source: ParsedLog | Source, folder: Path, *, form: Format = "parquet", spreadsheet_safe: bool = False
) -> Iterator[tuple[Path, int]]:
    """Write every frame of a log, its figures, its ledger and its diagnostics to a folder, each as a file.

    In CSV a time is a whole number of nanoseconds (its column ends in ``_ns``), and a list is JSON.

    Args:
        source: As for `iolab.load`.
        folder: Made if it is not there.
        form: `parquet` or `csv`.
        spreadsheet_safe: In CSV, put an apostrophe before what a spreadsheet would run as a formula.

    Yields:
        Each file that was written, and its number of rows.

    Raises:
        LogParseError: If it is no known log.
        OSError: If a file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as place:
        ...     log = b"     0.000123 pread64(268, '', 8192, 0) = 8192"
        ...     [(path.name, rows) for path, rows in convert_log(log, Path(place), form="csv")][:3]
        [('events.csv', 1), ('calls.csv', 1), ('requests.csv', 1)]
    """
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: name a folder")
    seen = summarize(source)
    folder.mkdir(parents=True, exist_ok=True)
    frames: dict[str, pl.DataFrame | pl.LazyFrame] = {**seen.log.frames(), "figures": seen.figures}
    if seen.ledger is not None and not seen.ledger.void:
        frames["ledger"] = ledger_frame(seen.log)
    for name, frame in (frames | {"diagnostics": seen.diagnostics}).items():
        path = folder / f"{name}.{form}"
        with replacing(path, inputs=[source]) as out:
            rows = write_parquet(frame, out) if form == "parquet" else _write_csv(frame, out, is_safe=spreadsheet_safe)
        yield path, rows


def _write_csv(frame: pl.DataFrame | pl.LazyFrame, path: Path, *, is_safe: bool) -> int:
    """Write a frame as CSV; its number of rows.

    A LazyFrame of many rows is written in batches.
    """
    if isinstance(frame, pl.DataFrame):
        _cells(frame, is_safe=is_safe).write_csv(path)
        return frame.height
    rows = 0
    with path.open("wb") as file:
        _cells(pl.DataFrame(schema=frame.collect_schema()), is_safe=is_safe).write_csv(file)
        for batch in frame.collect_batches(maintain_order=True):
            _cells(batch, is_safe=is_safe).write_csv(file, include_header=False)
            rows += batch.height
    return rows


def _cells(frame: pl.DataFrame, *, is_safe: bool) -> pl.DataFrame:
    return safe_cells(_flat(frame)) if is_safe else _flat(frame)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose columns CSV can hold."""
    columns = []
    for name, dtype in frame.schema.items():
        if dtype.is_nested():
            whole = pl.struct(pl.col(name).alias("x")).struct.json_encode()
            encoded = whole.str.strip_prefix('{"x":').str.strip_suffix("}")
            columns.append(pl.when(pl.col(name).is_not_null()).then(encoded).alias(name))
        else:
            columns += physical({name: dtype})
    return frame.select(columns)
