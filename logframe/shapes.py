"""Lines as figures and shapes: what stands between the figures is the same in many lines, and is read once.

Bindings of ``shapes.c``.  `part_lines` gives None where there is no compiled code, and for lines that are odd; callers
then read the lines with Polars expressions.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from logframe.kernel import Block
from logframe.native import POINTER, SIZE, load_functions

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

    from logframe.blocks import TextBatch
    from logframe.kernel import Kernel

#: Shapes of one batch; a log with more of them has no shapes to speak of.
_MOST_SHAPES: Final = 2048
_SLOTS: Final = 4 * _MOST_SHAPES
#: Bytes and figures of a shape at most, as in ``shapes.c``.
_SHAPE_BYTES: Final = 512
_SHAPE_FIGURES: Final = 16


class _Shapes(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("slots", "most", "count")),
        *((name, ctypes.c_void_p) for name in ("slot", "row", "length", "bytes", "figures")),
    )


@dataclass(frozen=True, slots=True)
class Parted:
    """Lines in their figures and shapes.

    Attributes:
        places: of the lines within the batch, from 0.
        shape: number of each line's shape, from 0.
        first: of each shape, the row of the first line that has it.
        examples: of each shape, the figures of that line; 0 where it has fewer than it may have.
        figures: the figures of each line in their order, one Series a place, those that were asked for; 0 where a line
            has fewer.
    """

    places: pl.Series
    shape: pl.Series
    first: list[int]
    examples: list[list[int]]
    figures: dict[int, pl.Series]


def part_lines(
    kernel: Kernel,
    batch: TextBatch,
    tags: Block,
    wanted: Collection[int],
    most: int,
    needed: Collection[int] | None = None,
) -> Parted | None:
    """The figures and shapes of the lines of a batch that have certain tags; None where they cannot be parted so.

    A figure is the first run of digits of a line, and every run of digits after an equals sign, where one blank and a
    minus sign may stand before it.

    Args:
        kernel: the compiled kernel.
        batch: the lines.
        tags: one byte a line, as `logframe.kernel.Kernel.tags_of` gives them.
        wanted: the tags of the lines to be parted.
        most: figures of a line at most.
        needed: places of the figures that are needed; None: all.

    Returns:
        None also where a line has more figures, a figure of more than 18 digits, or where there are too many shapes.
    """
    library = _library()
    if library is None:
        return None
    is_wanted = bytes(tag in wanted for tag in range(256))
    rows = library.iolab_count_wanted(tags.address, batch.lines.count, is_wanted)
    places, numbers = Block(kernel, 4 * rows), Block(kernel, 4 * rows)
    figures = {place: Block(kernel, 8 * rows) for place in range(most) if needed is None or place in needed}
    examples = Block(kernel, 8 * _SHAPE_FIGURES * _MOST_SHAPES)
    slot, row = Block(kernel, 4 * _SLOTS, zeroed=True), Block(kernel, 4 * _MOST_SHAPES)
    length, data = Block(kernel, 4 * _MOST_SHAPES), Block(kernel, _SHAPE_BYTES * _MOST_SHAPES)
    shapes = _Shapes(_SLOTS, _MOST_SHAPES, 0, slot.address, row.address, length.address, data.address, examples.address)
    columns = (ctypes.c_void_p * most)(*(figures[place].address if place in figures else None for place in range(most)))
    count = library.iolab_part(
        *(batch.text.address, batch.lines.starts.address, batch.lines.ends.address, tags.address, batch.lines.count),
        *(is_wanted, rows, most, places.address, numbers.address, columns, ctypes.byref(shapes)),
    )
    if count < 0:
        return None
    shown = examples.view.cast("q")[: _SHAPE_FIGURES * count].tolist()
    return Parted(
        kernel.series("place", "I", rows, places),
        kernel.series("shape", "I", rows, numbers),
        row.view.cast("I")[:count].tolist(),
        [shown[_SHAPE_FIGURES * number :][:most] for number in range(count)],
        {place: kernel.series(f"figure_{place}", "l", rows, figure) for place, figure in figures.items()},
    )


@cache
def _library() -> ctypes.CDLL | None:
    part = (SIZE, *([POINTER] * 4), SIZE, POINTER, SIZE, SIZE, *([POINTER] * 4))
    count = (SIZE, POINTER, SIZE, POINTER)
    return load_functions("logframe", "shapes", iolab_part=part, iolab_count_wanted=count)
