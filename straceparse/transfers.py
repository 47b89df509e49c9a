"""Sizes, offsets and descriptors of calls whose arguments need parsing: lists of buffers, copies within the kernel.

A copy (``sendfile``, ``copy_file_range``, ``splice``, ``tee``) moves bytes from one descriptor to another without
passing them to the process.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from straceparse.arguments import parsed
from straceparse.call_table import IO_CALLS, PLACED, VECTORED
from straceparse.records import Changed
from straceparse.schema import whole
from straceparse.vectors import descriptor_of, vector_size

#: Offset of preadv2 and pwritev2 that stands for the current position of the file.
_HERE: Final = -1


#: Calls whose arguments are parsed.
PARSED_CALLS: Final = (*VECTORED, *PLACED)


class Transfer(NamedTuple):
    """What the arguments of a call say; None where they do not."""

    fd: int | None = None
    path: str | None = None
    size: int | None = None
    offset: int | None = None
    fd_out: int | None = None
    path_out: str | None = None
    is_printed: bool = True


def transfer_of(name: str, args: str) -> Transfer:
    """Descriptors, size and offset of one of the `PARSED_CALLS`.

    Examples:
        >>> transfer_of("sendfile", "4</tmp/out>, 3</tmp/in>, [0] => [4096], 65536")
        Transfer(fd=3, path='/tmp/in', size=65536, offset=0, fd_out=4, path_out='/tmp/out', is_printed=True)
        >>> transfer_of("pwritev", '3, [{iov_base="a"..., iov_len=4096}], 1, 8192').size
        4096
    """
    values = parsed(args)
    items = list(values.values()) if isinstance(values, dict) else values
    if not isinstance(items, list):
        return Transfer(is_printed=False)
    if name in VECTORED:
        return _vector(items)
    places = IO_CALLS[name]
    fd, path = _descriptor(items, places.fd)
    fd_out, path_out = _descriptor(items, places.fd_out)
    size = whole(_at(items, places.size))
    return Transfer(
        fd, path, size, _offset(_at(items, places.offset)), fd_out, path_out, size is not None or places.size is None
    )


def _vector(items: list[object]) -> Transfer:
    buffers = _at(items, 1)
    size = vector_size(buffers) if isinstance(buffers, list) and len(items) > 2 else None
    offset = whole(_at(items, 3)) if size is not None or isinstance(buffers, list) else None
    fd, path = _descriptor(items, 0)
    return Transfer(fd, path, size, None if offset == _HERE else offset, is_printed=size is not None)


def _descriptor(items: list[object], place: int | None) -> tuple[int | None, str | None]:
    return (None, None) if place is None else descriptor_of(_at(items, place))


def _at(items: list[object], place: int | None) -> object:
    value = None if place is None or place >= len(items) else items[place]
    return value.before if isinstance(value, Changed) else value


def _offset(value: object) -> int | None:
    """The offset before the call: a number, or a pointer to one (``[4096]``); null for the position of the file."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0].before if isinstance(value[0], Changed) else value[0]
    return whole(value)
