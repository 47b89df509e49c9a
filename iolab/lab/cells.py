"""What the cells of the notebooks share: their set-up, and refusals that are a sentence instead of a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import polars as pl

from iolab.charts.theme import enable_theme
from logframe.errors import LogError, RefusedError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from IPython.core.interactiveshell import InteractiveShell


def set_up() -> None:
    """Set the theme of the charts; a log that cannot answer a cell stops the run with a sentence.

    Outside IPython only the theme is set.
    """
    from IPython.core.getipython import get_ipython  # noqa: PLC0415 - of JupyterLab, which need not be installed

    enable_theme()
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((LogError, OSError), _say)  # type: ignore[no-untyped-call]


def _say(
    _: InteractiveShell, __: type[BaseException], error: BaseException, ___: TracebackType | None, **____: object
) -> None:
    """Show the reason of a refusal."""
    from IPython.display import Markdown, display  # noqa: PLC0415 - see above

    display(Markdown(f"**Not answered:** {error}"))  # type: ignore[no-untyped-call]


def refuse(reason: str) -> NoReturn:
    """Stop with a reason.

    Raises:
        RefusedError: Always.
    """
    raise RefusedError(reason)


def read_table(path: str | Path, *columns: str, texts: tuple[str, ...] = ()) -> pl.DataFrame:
    """A CSV file with these columns.

    Args:
        path: Of the file.
        columns: That it must have; it may have more.
        texts: Those that are kept as text.

    Raises:
        RefusedError: The file cannot be read as CSV, or lacks a column.
        OSError: There is no such file.

    Examples:
        >>> read_table("sample_data/articles/000_medians.csv", "median_s", texts=("median_s",)).height
        3
        >>> read_table("sample_data/articles/000_medians.csv", "cost")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        logframe.errors.RefusedError: sample_data/articles/000_medians.csv has no column cost: it has test, read, ...
    """
    try:
        table = pl.read_csv(path, schema_overrides=dict.fromkeys(texts, pl.String()))
    except pl.exceptions.PolarsError as error:
        refuse(f"{path} is not a CSV file of the expected form: {str(error).partition(chr(10))[0]}")
    if missing := [name for name in columns if name not in table.columns]:
        refuse(f"{path} has no column {', '.join(missing)}: it has {', '.join(table.columns)}")
    return table
