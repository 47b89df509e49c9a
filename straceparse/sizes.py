"""Descriptor, size and offset of calls whose arguments are plain numbers: the first argument and the last ones.

Compiled code (``calls.c``) reads decimals, nearly all of them; what it leaves, and everything without one, is
read by expressions.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import polars as pl

from logframe.kernel import Block, Exported, load_kernel
from logframe.native import POINTER, SIZE, load_functions
from straceparse.call_table import IO_CALLS
from straceparse.records import PARTS_GRAMMAR
from straceparse.schema import number

if TYPE_CHECKING:
    import ctypes

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
