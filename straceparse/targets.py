"""Targets: the descriptor of each call that acts on one, and the file of it, batch by batch."""

from __future__ import annotations

from typing import Final

import polars as pl

from straceparse.call_classes import NOTHING, READY_CALLS, TARGETED_CALLS
from straceparse.descriptors import DESCRIPTOR_CALLS, Files, with_known_files
from straceparse.ordered import rows_where
from straceparse.records import PARTS_GRAMMAR, unescaped
from straceparse.sizes import with_sizes

_READY: Final = pl.Enum(READY_CALLS)
_TARGETED: Final = pl.Enum([*TARGETED_CALLS, *READY_CALLS])
_CHANGING: Final = pl.Enum(sorted(DESCRIPTOR_CALLS))
_WANTED: Final = ("pid", "name", "args", "result", "fd_path", "state", "gap", "elapsed", "elapsed_hi")
_BARE: Final = "^{NO_DESCRIPTORS}"
_CONTENT: Final = PARTS_GRAMMAR.pattern(
    "^{FD_NAME}?{DECIMAL}{DECORATION}?{COMMA}{ARGUMENT_NAME}?{QUOTE}({FIRST_BYTES})"
)
#: Packets of Oracle Net: types of the fifth byte (connect, accept, refuse, redirect, data, resend, marker, ...).
_PACKETS: Final = frozenset(range(1, 16))
#: A shorter packet is not one.
_LEAST_BYTES: Final = 8


class Targets:
    """Finds what calls act on.

    Args:
        has_paths: the log prints paths after descriptors (`-y`), so that opens need not be followed.
    """

    def __init__(self, *, has_paths: bool) -> None:
        self._files = None if has_paths else Files()
        self._rows = 0

    def of(self, calls: pl.DataFrame) -> pl.DataFrame:
        """The calls that act on a descriptor, or wait for one, with ``fd`` and ``file``; null where not known.

        Args:
            calls: the next ones, with the columns of `_WANTED`, ``line`` and ``start``.
        """
        if not calls.get_column("line").is_sorted() and not calls.get_column("start").has_nulls():
            calls = calls.sort("start", maintain_order=True)  # of a -ff set: its threads are in different files
        numbered = calls.with_row_index("_row", offset=self._rows)
        self._rows += calls.height
        wanted = rows_where(
            numbered.select("_row", *_WANTED), pl.col("name").cast(_TARGETED, strict=False).is_not_null()
        )
        is_ready = pl.col("name").cast(_READY, strict=False).is_not_null()
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


def packets(reads: pl.DataFrame) -> pl.Series:
    r"""Whether what each read returned begins like a packet of Oracle Net: its length in the first bytes, and a type.

    Args:
        reads: with ``args`` and ``result``.

    Examples:
        >>> args = ['9, "\\0\\25\\0\\0\\6\\0\\0\\0\\0\\0\\3N"..., 8208', '9, "total 0"..., 8208']
        >>> packets(pl.DataFrame({"args": args, "result": [21, 21]})).to_list()
        [True, False]
    """
    begins = reads.get_column("args").str.extract(_CONTENT, 1).to_list()
    found = [
        begin is not None and _is_packet(unescaped(begin), result)
        for begin, result in zip(begins, reads.get_column("result").to_list(), strict=True)
    ]
    return pl.Series("is_packet", found, dtype=pl.Boolean)


def _is_packet(begin: bytes, result: int) -> bool:
    """A packet has its length in two bytes and two of a checksum, or, since version 315, in four."""
    if len(begin) < _LEAST_BYTES or result < _LEAST_BYTES:
        return False
    length = int.from_bytes(begin[:2]) if begin[2:4] == b"\0\0" else int.from_bytes(begin[:4])
    return length == result and begin[4] in _PACKETS
