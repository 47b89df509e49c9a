"""Columns of printed numbers read at once by ``figures.c``: plain ones; whatever else a cell holds is the caller's.

A plain number is digits, in groups of three or not, with a sign and decimals or without; its values and bounds are
those of `logframe.printed.read_printed`, bit for bit.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe.kernel import Block, load_kernel
from logframe.native import POINTER, SIZE, load_functions

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Sequence

    import polars as pl

#: What a cell is.
PLAIN: Final = 0
BLANK: Final = 1
OTHER: Final = 2
_SEPARATOR: Final = "\x1f"
#: 1 for `OTHER`, else 0.
_ARE_OTHER: Final = bytes(kind == OTHER for kind in range(256))


class ColumnForm(NamedTuple):
    """How the cells of a column are read.

    Attributes:
        cells: how many there are.
        is_exact: whether a whole number is exact; else it is rounded.
        is_whole: whether only whole numbers are plain.
        has_decimals: whether a number with fewer decimals than others of its column has lost zeros.
        is_unread: whether no cell is plain.
        factor: what each number is multiplied with.
        divisor: what it is divided by then.
    """

    cells: int
    is_exact: bool
    is_whole: bool
    has_decimals: bool
    is_unread: bool
    factor: float
    divisor: float


#: A `ColumnForm` as `struct column` of ``figures.c``.
_PACK: Final = struct.Struct("5q2d").pack


@dataclass(frozen=True, slots=True)
class PlainFigures:
    """Cells of columns, one column after the other.

    Attributes:
        kinds: `PLAIN`, `BLANK` or `OTHER`, of each cell.
        values: of the plain cells; of no meaning elsewhere.
        lows: the smallest values that print so.
        highs: the largest ones.
        others: the places of the cells that are `OTHER`, in order.
    """

    kinds: pl.Series
    values: pl.Series
    lows: pl.Series
    highs: pl.Series
    others: list[int]


def read_figures(cells: Sequence[str], columns: Sequence[ColumnForm]) -> PlainFigures | None:
    r"""The plain figures of columns; None without compiled code.

    Args:
        cells: of all columns, with decimal points.
        columns: how they are read, in the order of their cells.

    Returns:
        None also where a cell holds the character U+001F.

    Raises:
        ValueError: the columns have not as many cells as there are.
    """
    kernel, library = load_kernel(), _library()
    if kernel is None or library is None or not cells:
        return None
    count = len(cells)
    if sum(column.cells for column in columns) != count:
        raise ValueError(f"{count} cells are not those of the columns")
    text = _SEPARATOR.join(cells) + _SEPARATOR
    if text.count(_SEPARATOR) != count:
        return None
    data = text.encode(errors="replace")
    kinds, values, lows, highs = (Block(kernel, size * count) for size in (1, 8, 8, 8))
    library.iolab_read_figures(
        *(data, len(data), b"".join([_PACK(*column) for column in columns]), len(columns)),
        *(kinds.address, values.address, lows.address, highs.address),
    )
    return PlainFigures(
        kernel.series("kind", "C", count, kinds),
        kernel.series("value", "g", count, values),
        kernel.series("lo", "g", count, lows),
        kernel.series("hi", "g", count, highs),
        list(compress(range(count), bytes(kinds.view).translate(_ARE_OTHER))),
    )


@cache
def _library() -> ctypes.CDLL | None:
    read = (None, POINTER, SIZE, POINTER, SIZE, POINTER, POINTER, POINTER, POINTER)
    return load_functions("logframe", "figures", iolab_read_figures=read)
