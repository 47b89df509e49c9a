"""The text of a log in blocks of whole lines, for compiled code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from logframe.kernel import Block, Lines

if TYPE_CHECKING:
    from collections.abc import Iterator

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
