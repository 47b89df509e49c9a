"""The frames of one log as files, with its figures: for a few logs.  `iolab.dataset` is for any number."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import polars as pl

from iolab.pages.summary import summarize
from iolab.time_ledger.run import ledger_frame
from logframe.atomic import replacing
from logframe.errors import LogError
from logframe.extras import require
from logframe.parquet import physical, write_parquet
from logframe.spreadsheet import spreadsheet_safe as safe_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from logframe import Source
    from logframe.formats import ParsedLog

Format = Literal["parquet", "csv", "xlsx"]
#: What a sheet of Excel holds: rows below the headings, characters in a cell and in the name of a sheet.
_MOST_ROWS: Final = 1_048_575
_MOST_CHARACTERS: Final = 32_767
_LONGEST_NAME: Final = 31
_BOOK: Final = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
#: A workbook holds when it was made: the same log gives the same file.
_MADE: Final = datetime(2026, 1, 1)  # noqa: DTZ001 - Excel knows no zones


def convert_log(
    source: ParsedLog | Source, folder: Path, *, form: Format = "parquet", spreadsheet_safe: bool = False
) -> Iterator[tuple[Path, int]]:
    """Write every frame of a log, its figures, its ledger and its diagnostics to a folder, each as a file.

    Numbers are numbers, the unit is in the name of the column, and the bounds stand beside the value (``_lo``,
    ``_hi``).  In CSV and Excel a time is a whole number of nanoseconds (its column ends in ``_ns``), and a list is
    JSON.  Excel gets one workbook with a sheet a frame, whose times with a zone are in UTC (``_utc``).

    Args:
        source: As for `iolab.load`.
        folder: Made if it is not there; for Excel the workbook, where it ends in ``.xlsx``.
        form: `parquet`, `csv` or `xlsx`.
        spreadsheet_safe: In CSV, put an apostrophe before what a spreadsheet would run as a formula.

    Yields:
        Each file that was written, and its number of rows.

    Raises:
        LogParseError: If it is no known log.
        LogError: If a frame has more rows than a sheet of Excel.
        OSError: If a file cannot be written.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as place:
        ...     log = b"     0.000123 pread64(268, '', 8192, 0) = 8192"
        ...     [(path.name, rows) for path, rows in convert_log(log, Path(place), form="csv")][:3]
        [('events.csv', 1), ('calls.csv', 1), ('requests.csv', 1)]
    """
    book = None if form != "xlsx" else folder if folder.suffix == ".xlsx" else folder / "tables.xlsx"
    folder = folder if book is None else book.parent
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: name a folder")
    seen = summarize(source)
    folder.mkdir(parents=True, exist_ok=True)
    frames: dict[str, pl.DataFrame | pl.LazyFrame] = {**seen.log.frames(), "figures": seen.figures}
    if seen.ledger is not None and not seen.ledger.void:
        frames["ledger"] = ledger_frame(seen.log)
    frames["diagnostics"] = seen.diagnostics
    if book is not None:
        with replacing(book, inputs=[source]) as out:
            rows = _write_workbook(frames, out)
        yield book, rows
        return
    for name, frame in frames.items():
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


def _write_workbook(frames: Mapping[str, pl.DataFrame | pl.LazyFrame], path: Path) -> int:
    """Write frames as the sheets of a workbook; the number of their rows."""
    with require("xlsxwriter").Workbook(path, _BOOK) as book:
        book.set_properties({"created": _MADE})
        rows = 0
        for number, (name, frame) in enumerate(frames.items(), 1):
            whole = frame.lazy().head(_MOST_ROWS + 1).collect()
            if whole.height > _MOST_ROWS:
                raise LogError(f"{name} has more than {_MOST_ROWS:,} rows, which Excel does not take: --format csv")
            sheet = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 4]}_{number}"
            kinds: dict[Any, str] = {pl.Float64: "General", pl.Int64: "General"}
            _for_excel(flat(whole)).write_excel(book, sheet, dtype_formats=kinds, freeze_panes=(1, 0), autofit=True)
            rows += whole.height
    return rows


def _for_excel(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose cells Excel can hold: no zones, and no text that is too long."""
    columns = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None).alias(f"{name}_utc")
        elif dtype == pl.String:
            cut = pl.concat_str(column.str.slice(0, _MOST_CHARACTERS - 4), pl.lit(" ..."))
            column = pl.when(column.str.len_chars() > _MOST_CHARACTERS).then(cut).otherwise(column).alias(name)
        columns.append(column)
    return frame.select(columns)


def _cells(frame: pl.DataFrame, *, is_safe: bool) -> pl.DataFrame:
    return safe_cells(flat(frame)) if is_safe else flat(frame)


def flat(frame: pl.DataFrame) -> pl.DataFrame:
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
