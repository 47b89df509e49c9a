"""Columns of printed numbers read at once by ``figures.c``: plain ones; whatever else a cell holds is the caller's.

A plain number is digits, in groups of three or not, with a sign and decimals or without; its values and bounds are
those of `logframe.printed.read_printed`, bit for bit.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe.kernel import Block, load_kernel
from logframe.native import POINTER, SIZE, load_functions

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Sequence

    import polars as pl

#: What a cell is; ``N/A`` is blank, too.
PLAIN: Final = 0
BLANK: Final = 1
OTHER: Final = 2
_SEPARATOR: Final = "\x1f"


class ColumnForm(NamedTuple):
    """How the cells of a column are read.

    Attributes:
        is_exact: whether a whole number is exact; else it is rounded.
        is_whole: whether only whole numbers are plain.
        has_decimals: whether a number with fewer decimals than others of its column has lost zeros.
        is_unread: whether no cell is plain.
        factor: what each number is multiplied with.
        divisor: what it is divided by then.
    """

    is_exact: bool
    is_whole: bool
    has_decimals: bool
    is_unread: bool
    factor: float
    divisor: float


#: A number of cells and a `ColumnForm` as `struct column` of ``figures.c``.
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


def read_figures(columns: Sequence[Sequence[str]], forms: Sequence[ColumnForm]) -> PlainFigures | None:
    r"""The plain figures of columns; None without compiled code.

    Args:
        columns: their cells, with decimal points.
        forms: how each column is read.

    Returns:
        None also where there are no cells, or one holds the character U+001F.
    """
    kernel, library = load_kernel(), _library()
    count = sum(map(len, columns))
    if kernel is None or library is None or not count:
        return None
    text = _SEPARATOR.join(chain.from_iterable(columns)) + _SEPARATOR
    if text.count(_SEPARATOR) != count:
        return None
    packed = [_PACK(len(cells), *form) for cells, form in zip(columns, forms, strict=True)]
    data = text.encode(errors="replace")
    kinds, values, lows, highs = (Block(kernel, size * count) for size in (1, 8, 8, 8))
    library.iolab_read_figures(
        *(data, len(data), b"".join(packed), len(packed)),
        *(kinds.address, values.address, lows.address, highs.address),
    )
    return PlainFigures(
        kernel.series("kind", "C", count, kinds),
        kernel.series("value", "g", count, values),
        kernel.series("lo", "g", count, lows),
        kernel.series("hi", "g", count, highs),
        places_of(bytes(kinds.view), OTHER),
    )


def places_of(data: bytes, byte: int) -> list[int]:
    """The places of a byte, which are few."""
    places = []
    place = data.find(byte)
    while place >= 0:
        places.append(place)
        place = data.find(byte, place + 1)
    return places


@cache
def _library() -> ctypes.CDLL | None:
    read = (None, POINTER, SIZE, POINTER, SIZE, POINTER, POINTER, POINTER, POINTER)
    return load_functions("logframe", "figures", iolab_read_figures=read)
