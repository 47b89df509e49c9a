"""The text of a log in blocks of whole lines, for compiled code, and its lines as figures and shapes.

The shape of a line is what stands between its figures, which is the same in many lines and read once.  `part_lines`, a
binding of ``shapes.c``, gives None where there is no compiled code, and for lines that are odd; callers then read the
lines with Polars expressions.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from logframe.kernel import Block, Lines
from logframe.native import POINTER, SIZE, load_functions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import polars as pl

    from logframe.kernel import Kernel
    from logframe.source import Log


#: A batch has at least this many bytes: a smaller one would cost more than its lines.
_LEAST_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Whole lines of a log.

    Attributes:
        text: the block that starts with them.
        size: their number of bytes.
        lines: where each line starts and ends, without carriage returns before the newline.
        first: number of the first line, from 1.
    """

    text: Block
    size: int
    lines: Lines
    first: int


def text_batches(
    kernel: Kernel, log: Log, batch_bytes: int, n_rows: int | None = None, *, returns: int = 1
) -> Iterator[TextBatch]:
    """The lines of a log, `n_rows` at most, in batches of about this many bytes.

    Args:
        kernel: the compiled kernel.
        log: the opened log; its target is a path or bytes.
        batch_bytes: size of a batch; a line that is longer makes its batch larger.
        n_rows: number of lines at most; None: all.
        returns: this many carriage returns at the end of a line are no part of it.
    """
    first = 1
    for text, size in _blocks(kernel, log, max(batch_bytes, _LEAST_BYTES)):
        lines = kernel.lines_of(text, size, returns=returns)
        if n_rows is not None and first - 1 + lines.count >= n_rows:
            kept = n_rows - (first - 1)
            if kept:
                yield TextBatch(text, size, replace(lines, count=kept), first)
            return
        yield TextBatch(text, size, lines, first)
        first += lines.count


def _blocks(kernel: Kernel, log: Log, batch_bytes: int) -> Iterator[tuple[Block, int]]:
    """Blocks of whole lines, with the number of bytes that the lines have; the last may lack its newline."""
    match log.target:
        case bytes():
            start, data = 0, memoryview(log.target)
            while start < len(data):
                end = min(len(data), start + batch_bytes)
                if end < len(data):
                    end = log.target.find(b"\n", end) + 1 or len(data)
                yield kernel.block_of(log.target[start:end]), end - start
                start = end
        case Path():
            with log.target.open("rb", buffering=0) as file:
                yield from _blocks_of_file(kernel, file, batch_bytes)


def _blocks_of_file(kernel: Kernel, file: BinaryIO, batch_bytes: int) -> Iterator[tuple[Block, int]]:
    begun = b""
    while True:
        text = Block(kernel, max(batch_bytes, 2 * len(begun)))
        view = text.view
        view[: len(begun)] = begun
        size = len(begun)
        while size < text.size and (got := file.readinto(view[size:])):  # type: ignore[attr-defined]
            size += got
        whole = kernel.library.iolab_whole_lines(text.address, size)
        is_end = size < text.size
        if is_end:
            whole = size
        begun = bytes(view[whole:size])
        if whole:
            yield text, whole
        if is_end:
            return


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
