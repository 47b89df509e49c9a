"""Lines cut into columns of figures by compiled code, where all lines are of one form.

Bindings of ``split.c``.  `split_figures` gives None where there is no compiled code, and where a line has another form;
callers then cut the lines with Polars expressions.

The cells of one line of comma-separated values.
"""

from __future__ import annotations

import csv
import ctypes
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe.kernel import Block, load_kernel
from logframe.native import POINTER, SIZE, load_functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


_BLANK: Final = " "
#: Decimals of a figure at most: a double holds no more digits.
_MOST_DECIMALS: Final = 15


def split_figures(
    lines: pl.Series, decimals: Sequence[int], *, separator: str = _BLANK, words: int = 0
) -> list[pl.Series] | None:
    """The figures of lines, one Float64 Series a column; None where one line has another form.

    Args:
        lines: texts without newlines.
        decimals: of each column: this many does each of its figures show.
        separator: a blank for any number of blanks and tabs; or one character, between two of which a cell may be
            empty: it is null.
        words: before the figures, this many words between blanks are passed over.
    """
    kernel, library = load_kernel(), _library()
    if kernel is None or library is None or not len(lines) or lines.null_count() or max(decimals) > _MOST_DECIMALS:
        return None
    text = lines.str.join("\n").item().encode()
    blocks = [Block(kernel, 8 * len(lines)) for _ in decimals]
    columns = (ctypes.c_void_p * len(blocks))(*(block.address for block in blocks))
    empty = library.iolab_split(
        *(text, len(text), len(lines), words, len(blocks), ord(separator), bytes(decimals), columns)
    )
    if empty < 0:
        return None
    found = [kernel.series(f"figure_{number}", "g", len(lines), block) for number, block in enumerate(blocks)]
    return [figures.fill_nan(None) for figures in found] if empty else found


@cache
def _library() -> ctypes.CDLL | None:
    split = (SIZE, ctypes.c_char_p, SIZE, SIZE, SIZE, SIZE, ctypes.c_int32, ctypes.c_char_p, POINTER)
    return load_functions("logframe", "split", iolab_split=split)


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
