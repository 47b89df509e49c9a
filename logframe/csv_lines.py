"""The cells of one line of comma-separated values."""

from __future__ import annotations

import csv


def csv_cells(line: str, *, delimiter: str = ",", skips_blanks: bool = False) -> list[str]:
    """The cells of a line; none of an empty line, or of one with a cell beyond 128 kB, which `csv` does not read.

    Args:
        line: The line, without its end.
        delimiter: What stands between two cells.
        skips_blanks: Blanks after a delimiter are no part of a cell.

    Examples:
        >>> csv_cells('a,"b,c", d'), csv_cells("x" * 200_000)
        (['a', 'b,c', ' d'], [])
    """
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=skips_blanks), [])
    except csv.Error:
        return []
