"""Sizes of vectored calls, and descriptors, in parsed arguments."""

from __future__ import annotations

from straceparse.records import Decorated
from straceparse.schema import whole


def vector_size(buffers: list[object]) -> int | None:
    """Bytes of a list of buffers; None where strace truncated the list or a length is not printed.

    Examples:
        >>> vector_size([{"iov_base": b"a", "iov_len": 65536}, (b"b", 8192)]), vector_size([(b"a", 1), ...])
        (73728, None)
    """
    sizes = [_buffer_size(buffer) for buffer in buffers]
    return None if None in sizes else whole(sum(size for size in sizes if size is not None))


def _buffer_size(buffer: object) -> int | None:
    """The length of a buffer: ``{iov_base=..., iov_len=N}``, or ``{"...", N}`` before strace 4.17."""
    size: object = None
    if isinstance(buffer, dict):
        size = buffer.get("iov_len", buffer.get(1))
    elif isinstance(buffer, tuple) and buffer:
        size = buffer[-1]
    return size if isinstance(size, int) else None


def descriptor_of(value: object) -> tuple[int | None, str | None]:
    """Number and path of a descriptor."""
    path = value.path if isinstance(value, Decorated) else None
    number = value.value if isinstance(value, Decorated) else value
    return whole(number, 32), path
