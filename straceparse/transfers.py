"""Descriptor, file, size and offset of each call that acts on a file, batch by batch.

A copy (``sendfile``, ``copy_file_range``, ``splice``, ``tee``) moves bytes from one descriptor to another without
passing them to the process.

Lists of buffers and copies need their arguments parsed; of the other calls the first argument and the last ones are
plain numbers.  Compiled code (``calls.c``) reads decimals, nearly all of them; what it leaves, and everything without
one, is read by expressions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from logframe.kernel import Block, Exported, load_kernel
from logframe.native import POINTER, SIZE, load_functions
from straceparse.arguments import parsed
from straceparse.call_classes import NOTHING, READY_CALLS, TARGETED_CALLS
from straceparse.call_table import IO_CALLS, PLACED, VECTORED
from straceparse.descriptors import DESCRIPTOR_CALLS, Files, with_known_files
from straceparse.ordered import rows_where
from straceparse.records import PARTS_GRAMMAR, Changed, Decorated, unescaped
from straceparse.schema import number, whole

if TYPE_CHECKING:
    import ctypes


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
    places = IO_CALLS[name]
    fd, path = _descriptor(items, places.fd)
    if places.buffers is not None:
        buffers = _at(items, places.buffers)
        size = vector_size(buffers) if isinstance(buffers, list) and len(items) > places.buffers + 1 else None
        offset = whole(_at(items, places.offset)) if isinstance(buffers, list) else None
        return Transfer(fd, path, size, None if offset == _HERE else offset, is_printed=size is not None)
    fd_out, path_out = _descriptor(items, places.fd_out)
    size = whole(_at(items, places.size))
    return Transfer(
        fd, path, size, _offset(_at(items, places.offset)), fd_out, path_out, size is not None or places.size is None
    )


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


_SIZED, _PLACED = 1, 2
#: Calls whose last argument is a size, and those whose last two are a size and an offset; numbers as in ``calls.c``.
ROLES: Final = {name: _SIZED if call.offset is None else _PLACED for name, call in IO_CALLS.items() if call.is_at_end}

_COMMA: Final = PARTS_GRAMMAR.literal("COMMA")
_FD: Final = PARTS_GRAMMAR.pattern("^{FD_NAME}?({INTEGER})")
_LAST: Final = PARTS_GRAMMAR.pattern("{COMMA}{SIZE_NAME}?({INTEGER})$")
_LAST_TWO: Final = PARTS_GRAMMAR.pattern(
    "{COMMA}{SIZE_NAME}?(?P<count>{INTEGER}){COMMA}{OFFSET_NAME}?(?P<offset>{INTEGER})$"
)
#: The last two numbers of a call, and its descriptor, are no longer than this.
_WIDTH: Final = 64
#: Arguments of up to this many bytes are split; longer ones hold much text of a buffer.
_SHORT: Final = 256
_NAMES: Final = ("_fd", "_count", "_offset")


def with_sizes(calls: pl.DataFrame) -> pl.DataFrame:
    """The calls with ``_fd``, ``_count`` and ``_offset``, null where an argument is not a number.

    Args:
        calls: with ``args``, and ``_role``: one of the values of `ROLES`, 0 for other calls.
    """
    found = by_compiled_code(calls)
    if found is None:
        return calls.with_columns(by_expressions(calls.select("args", "_role")).get_columns())
    numbers, left = found
    if not len(left):
        return calls.with_columns(numbers)
    rest = by_expressions(calls.select("args", "_role")[left])
    return calls.with_columns(series.scatter(left, rest[series.name]) for series in numbers)


def by_compiled_code(calls: pl.DataFrame) -> tuple[list[pl.Series], pl.Series] | None:
    """The numbers of most rows, and the places of the others; None without compiled code."""
    kernel, library = load_kernel(), _library()
    if kernel is None or library is None or calls.is_empty():
        return None
    count = calls.height
    values = [Block(kernel, 8 * count, zeroed=True) for _ in _NAMES]
    has_size, has_offset, is_read = (Block(kernel, count + 7 >> 3, zeroed=True) for _ in range(3))
    texts = calls.get_column("args").cast(pl.String)
    with Exported(texts, "vu") as args, Exported(calls.get_column("_role"), "C") as roles:
        left = library.iolab_argument_numbers(
            *(args.address, roles.address, _SHORT),
            *(block.address for block in (*values, has_size, has_offset, is_read)),
        )
    bits = (is_read, has_size, has_offset)
    read, *others = (kernel.series("bits", "b", count, block) for block in bits)
    missing = (left, *(count - one.sum() for one in others))
    numbers = [
        kernel.series(name, "l", count, block, validity=valid if nulls else None, null_count=nulls)
        for name, block, valid, nulls in zip(_NAMES, values, bits, missing, strict=True)
    ]
    return numbers, ((~read).arg_true() if left else pl.Series(dtype=pl.UInt32))


@cache
def _library() -> ctypes.CDLL | None:
    numbers = (SIZE, POINTER, POINTER, SIZE, *6 * [POINTER])
    return load_functions("straceparse", "calls", iolab_argument_numbers=numbers)


def by_expressions(calls: pl.DataFrame) -> pl.DataFrame:
    """The numbers of all rows: most are plain decimals, only the others need patterns with names and bases."""
    args = pl.col("args")
    is_placed, is_sized = pl.col("_role") == _PLACED, pl.col("_role") == _SIZED
    parts = pl.when(args.str.len_bytes() <= _SHORT).then(args).str.split(_COMMA)
    count = pl.col("_parts").list.len()
    last = pl.when(count > 1).then(_decimal_at(-1))
    size = pl.when(is_placed & (count > 2)).then(_decimal_at(-2)).when(is_sized).then(last)
    found = calls.with_columns_seq(parts.alias("_parts")).select_seq(
        _decimal_at(0).alias("_fd"), size.alias("_count"), pl.when(is_placed).then(last).alias("_offset"), "_role"
    )
    is_odd = pl.col("_fd").is_null() | (is_placed & (pl.col("_offset").is_null() | pl.col("_count").is_null()))
    odd = found.select_seq((is_odd | (is_sized & pl.col("_count").is_null())).arg_true()).to_series()
    found = found.drop("_role")
    if not len(odd):
        return found
    # the numbers are the first and the last arguments, so the patterns do not search the buffer between them
    head, tail = args.str.head(_WIDTH), args.str.tail(_WIDTH)
    two = pl.when(is_placed).then(tail).str.extract_groups(_LAST_TWO).struct
    one = pl.when(is_sized).then(tail).str.extract(_LAST, 1)
    values = calls[odd].select(
        number(head.str.extract(_FD, 1)).alias("_fd"),
        number(pl.coalesce(two.field("count"), one)).alias("_count"),
        number(two.field("offset")).alias("_offset"),
    )
    return pl.DataFrame([series.scatter(odd, values[series.name]) for series in found.get_columns()])


def _decimal_at(place: int) -> pl.Expr:
    """The argument at a place as a number; null without one, or there is no such argument."""
    return pl.col("_parts").list.get(place, null_on_oob=True).cast(pl.Int64, strict=False)


_TARGETED: Final = pl.Enum([*TARGETED_CALLS, *READY_CALLS])
_CHANGING: Final = pl.Enum(sorted(DESCRIPTOR_CALLS))
_WANTED: Final = ("pid", "name", "args", "result", "fd_path", "state", "gap", "elapsed", "elapsed_hi")
_BARE: Final = "^{NO_DESCRIPTORS}"
_CONTENT: Final = PARTS_GRAMMAR.pattern(
    "^{FD_NAME}?{DECIMAL}{DECORATION}?{COMMA}{ARGUMENT_NAME}?{QUOTE}({PACKET_START})"
)
#: Packets of Oracle Net: types of the fifth byte (connect, accept, refuse, redirect, data, resend, marker, ...).
_PACKETS: Final = frozenset(range(1, 16))
#: The type of data, the place of their function, and functions that a client calls: one of the server, or several.
_DATA: Final = 6
_FUNCTION: Final = 10
_CALLS_SERVER: Final = (b"\x03", b"\x11")
#: A shorter packet is not one.
_LEAST_BYTES: Final = 8


class Targets:
    """Finds what calls act on.

    Args:
        has_paths: the log prints paths after descriptors (`-y`), so that opens need not be followed.
        listed: the files of descriptors that were open before (`straceparse.descriptors.listed_files`).
    """

    def __init__(self, *, has_paths: bool, listed: pl.DataFrame | None = None) -> None:
        self._files = None if has_paths else Files(listed)
        self._rows = 0

    def of(self, calls: pl.DataFrame) -> pl.DataFrame:
        """The calls that act on a descriptor, or wait for one, with ``fd`` and ``file``; null where not known.

        Their names are of an enumeration, which is faster to group by.

        Args:
            calls: the next ones, with the columns of `_WANTED`, ``line`` and ``start``.
        """
        if not calls.get_column("line").is_sorted() and not calls.get_column("start").has_nulls():
            calls = calls.sort("start", maintain_order=True)  # of a -ff set: its threads are in different files
        numbered = calls.with_row_index("_row", offset=self._rows)
        self._rows += calls.height
        named = numbered.select("_row", *_WANTED).with_columns(pl.col("name").cast(_TARGETED, strict=False))
        wanted = rows_where(named, pl.col("name").is_not_null())
        is_ready = pl.col("name").is_in(READY_CALLS)
        wanted = with_sizes(wanted.with_columns(_role=pl.lit(0, pl.UInt8))).drop("_role", "_count", "_offset")
        has_fd = ~is_ready & (pl.col("state") != "resumed")
        bare = pl.when(is_ready & PARTS_GRAMMAR.matches(pl.col("args"), _BARE)).then(pl.lit(NOTHING))
        found = wanted.with_columns(
            fd=pl.when(has_fd).then(pl.col("_fd").cast(pl.Int32, strict=False)),
            file=pl.when(is_ready).then(bare).otherwise("fd_path"),
        ).drop("_fd")
        if self._files is None:
            return found.drop("_row")
        changing = rows_where(numbered, pl.col("name").cast(_CHANGING, strict=False).is_not_null())
        known = self._files.changes(changing)
        if known.is_empty():
            return found.drop("_row")
        owned = found.rename({"_row": "_turn", "pid": "_owner"})
        return with_known_files(owned, known).rename({"_owner": "pid"}).drop("_turn")


def packets(calls: pl.DataFrame) -> pl.DataFrame:
    r"""Whether what each call moved begins like a packet of Oracle Net (``is_packet``), and asks a server (``asks``).

    Args:
        calls: with ``args`` and ``result``.

    Examples:
        >>> args = ['9, "\\0\\25\\0\\0\\6\\0\\0\\0\\0\\0\\3N"..., 8208', '9, "total 0"..., 8208']
        >>> packets(pl.DataFrame({"args": args, "result": [21, 21]})).rows()
        [(True, True), (False, False)]
    """
    begins = calls.get_column("args").str.extract(_CONTENT, 1)
    maybe = begins.is_not_null().arg_true()
    both = zip(begins.gather(maybe), calls.get_column("result").gather(maybe), strict=True)
    found = pl.DataFrame(
        [_packet(unescaped(begin), result) for begin, result in both], schema=["is_packet", "asks"], orient="row"
    )
    no = pl.repeat(value=False, n=calls.height, dtype=pl.Boolean, eager=True)
    return pl.DataFrame([no.scatter(maybe, column).alias(column.name) for column in found])


def _packet(begin: bytes, result: int) -> tuple[bool, bool]:
    """A packet has its length in two bytes and two of a checksum, or, since version 315, in four.

    Several data packets may be read at once.  The byte after the flags of data says what it is: a call of the server.
    """
    if len(begin) < _LEAST_BYTES or result < _LEAST_BYTES:
        return False, False
    length = int.from_bytes(begin[:2]) if begin[2:4] == b"\0\0" else int.from_bytes(begin[:4])
    is_data = begin[4] == _DATA and begin[5:8] == b"\0\0\0" and length >= _LEAST_BYTES
    is_packet = is_data or (length == result and begin[4] in _PACKETS)
    return is_packet, is_packet and begin[4] == _DATA and begin[_FUNCTION : _FUNCTION + 1] in _CALLS_SERVER
