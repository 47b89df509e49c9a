"""The compiled kernel: lines of a buffer and their kinds, and memory that Polars takes over without a copy.

Bindings of ``kernel.c`` by ctypes, which lets other threads run meanwhile.  `load_kernel` gives None where there is no
compiled code; callers then use Polars expressions.

Compiled code reads the memory of a Series without a copy, too: by the Arrow C stream interface.
"""

from __future__ import annotations

import ctypes
import weakref
from array import array
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Self

import polars as pl

from logframe.native import load_compiled

if TYPE_CHECKING:
    from logframe.automaton import Automaton


#: A buffer holds fewer bytes than this: places in it are numbers of 32 bits.
MOST_BYTES: Final = (1 << 31) - 1

_POINTER: Final = ctypes.c_void_p
_I64, _I32, _U32 = ctypes.c_int64, ctypes.c_int32, ctypes.c_uint32


class ArrowArray(ctypes.Structure):
    """``struct ArrowArray`` of the Arrow C data interface."""

    _fields_ = (
        *((name, _I64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
        *((name, _POINTER) for name in ("buffers", "children", "dictionary", "release", "private_data")),
    )


class ArrowSchema(ctypes.Structure):
    """``struct ArrowSchema`` of the Arrow C data interface."""

    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("format", "name", "metadata")),
        *((name, _I64) for name in ("flags", "n_children")),
        *((name, _POINTER) for name in ("children", "dictionary", "release", "private_data")),
    )


SCHEMA_RELEASE: Final = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
_NULLABLE: Final = 2
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (_POINTER, ctypes.c_char_p, _POINTER)


def _released(schema: ctypes._Pointer[ArrowSchema]) -> None:
    """Let go of a schema: its texts belong to Python."""
    schema.contents.release = None


_release_schema: Final = SCHEMA_RELEASE(_released)


class Block:
    """Memory of a number of bytes that Polars and Python may share; it is freed when the last of them lets go.

    Attributes:
        address: where it starts.
        size: number of bytes.
    """

    def __init__(self, kernel: Kernel, size: int, *, zeroed: bool = False) -> None:
        address = kernel.library.iolab_allocate(size, zeroed)
        if not address:
            raise MemoryError(f"no memory for {size} bytes of lines")
        self.address: int = address
        self.size = size
        weakref.finalize(self, kernel.library.iolab_let_go, address).atexit = False

    @property
    def view(self) -> memoryview:
        """The bytes, to be read or written while the block is there."""
        return memoryview((ctypes.c_char * self.size).from_address(self.address)).cast("B")


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a buffer.

    Attributes:
        count: number of lines.
        starts: where each line begins, in 32 bits.
        ends: where it ends: the place of its newline, or of the carriage return before it.
    """

    count: int
    starts: Block
    ends: Block


class Tables:
    """An automaton's tables as the kernel runs them: a step is the place of the next state's row."""

    def __init__(self, automaton: Automaton) -> None:
        is_wide = len(automaton.steps) > 1 << 16
        steps = array("I" if is_wide else "H", [state * automaton.width for state in automaton.steps])
        self.classes = automaton.classes
        self.tags = automaton.tags
        self.steps = (ctypes.c_char * (len(steps) * steps.itemsize)).from_buffer(steps)
        self.is_wide = is_wide
        self.width = automaton.width
        self.start = automaton.start * automaton.width


class _Column:
    """An array as an object that Polars imports (the Arrow PyCapsule interface); used once."""

    def __init__(self, kernel: Kernel, text: str, array: ArrowArray) -> None:
        self._kernel = kernel
        self._array = array
        self._schema = ArrowSchema(text.encode(), b"", None, _NULLABLE, 0, None, None, None, None)
        self._schema.release = ctypes.cast(_release_schema, _POINTER)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return (
            _new_capsule(ctypes.addressof(self._schema), b"arrow_schema", None),
            _new_capsule(ctypes.addressof(self._array), b"arrow_array", None),
        )

    def close(self) -> None:
        """Release the array where nothing took it over."""
        if self._array.release:
            ARRAY_RELEASE(self._array.release)(ctypes.addressof(self._array))


ARRAY_RELEASE: Final = ctypes.CFUNCTYPE(None, _POINTER)


class Kernel:
    """The functions of ``kernel.c``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        library.iolab_allocate.restype = _POINTER
        library.iolab_allocate.argtypes = (_I64, _I32)
        library.iolab_let_go.restype = None
        library.iolab_let_go.argtypes = (_POINTER,)
        library.iolab_count_lines.restype = _I64
        library.iolab_count_lines.argtypes = (_POINTER, _I64)
        library.iolab_find_lines.restype = _I32
        library.iolab_find_lines.argtypes = (_POINTER, _I64, _I64, _I32, _POINTER, _POINTER)
        library.iolab_whole_lines.restype = _I64
        library.iolab_whole_lines.argtypes = (_POINTER, _I64)
        library.iolab_views.restype = None
        library.iolab_views.argtypes = (_POINTER, _POINTER, _POINTER, _I64, _POINTER, _POINTER)
        library.iolab_classify.restype = None
        library.iolab_classify.argtypes = (
            *(_POINTER, _POINTER, _POINTER, _I64, ctypes.c_char_p, _POINTER, _I32, _U32, _U32, ctypes.c_char_p),
            _POINTER,
        )
        library.iolab_export.restype = _I32
        library.iolab_export.argtypes = (_POINTER, _I64, _I64, _POINTER, _POINTER, _POINTER, _I64)

    def block_of(self, data: bytes) -> Block:
        """A block that holds a copy of bytes."""
        block = Block(self, len(data))
        ctypes.memmove(block.address, data, len(data))
        return block

    def lines_of(self, text: Block, size: int | None = None, *, returns: int = 0) -> Lines:
        """The lines of a block's first bytes; a last line needs no newline.

        Args:
            text: the block.
            size: number of bytes, all of them where it is left out.
            returns: this many carriage returns at the end of a line are no part of it; `polars.scan_lines` strips one.

        Raises:
            ValueError: there are more bytes than places of 32 bits can name.
        """
        size = text.size if size is None else size
        if size > MOST_BYTES:
            raise ValueError(f"{size} bytes in one buffer; at most {MOST_BYTES}")
        count = self.library.iolab_count_lines(text.address, size)
        starts, ends = Block(self, 4 * count), Block(self, 4 * count)
        if self.library.iolab_find_lines(text.address, size, count, returns, starts.address, ends.address):
            raise RuntimeError("the buffer changed while its lines were counted")
        return Lines(count, starts, ends)

    def tags_of(self, text: Block, lines: Lines, tables: Tables) -> Block:
        """One byte a line: the tag of its kind, 0 for none."""
        tags = Block(self, lines.count)
        self.library.iolab_classify(
            *(text.address, lines.starts.address, lines.ends.address, lines.count),
            *(tables.classes, ctypes.addressof(tables.steps), tables.is_wide),
            *(tables.width, tables.start, tables.tags, tags.address),
        )
        return tags

    def unmatched(self, name: str, text: Block, lines: Lines, tags: Block, count: int) -> pl.Series:
        r"""The lines whose tag is 0, as text without a copy; bytes that are not UTF-8 are written as ``\xNN``."""
        views = Block(self, 16 * count)
        self.library.iolab_views(
            *(text.address, lines.starts.address, lines.ends.address, lines.count, tags.address, views.address)
        )
        found = self.series(name, "vz", count, views, text=text)
        try:
            return found.cast(pl.String)
        except pl.exceptions.ComputeError:  # the log was written to after its encoding was found
            decoded = [line.decode("utf-8", errors="backslashreplace") for line in found.to_list()]
            return pl.Series(name, decoded, dtype=pl.String)

    def series(
        self,
        name: str,
        arrow_format: str,
        length: int,
        values: Block,
        *,
        validity: Block | None = None,
        null_count: int = 0,
        text: Block | None = None,
    ) -> pl.Series:
        """Memory as a Series, without a copy; the Series keeps it.

        Args:
            name: of the Series.
            arrow_format: the type in the Arrow C data interface: ``C`` (UInt8), ``l`` (Int64), ``vu`` (string views)...
            length: number of values.
            values: the values, or the views of texts.
            validity: a bit a value, 0 where it is null.
            null_count: number of null values.
            text: what the views of ``vu`` point to.
        """
        array = ArrowArray()
        if self.library.iolab_export(
            *(ctypes.addressof(array), length, null_count, validity and validity.address, values.address),
            *(text and text.address, -1 if text is None else text.size),
        ):
            raise MemoryError(f"no memory for the column {name}")
        column = _Column(self, arrow_format, array)
        try:
            return pl.Series(column).alias(name)
        finally:
            column.close()


@cache
def load_kernel() -> Kernel | None:
    """The kernel; None where there is no compiled code (`logframe.native.engine` says why).

    Raises:
        KernelError: as `logframe.native.load_compiled`.
    """
    found = load_compiled("logframe", "kernel")
    return None if found.library is None else Kernel(found.library)


_GET: Final = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER)
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = _POINTER
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


class _ArrowStream(ctypes.Structure):
    _fields_ = tuple(
        (name, _POINTER) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    )


class Exported:
    """The values of a Series; a context manager, within which the memory is there.

    Args:
        series: the Series.
        arrow_format: what the memory must hold, as for `logframe.kernel.Kernel.series`.

    Attributes:
        address: of a ``struct ArrowArray``.

    Raises:
        TypeError: the Series holds something else.
    """

    def __init__(self, series: pl.Series, arrow_format: str) -> None:
        capsule = series.rechunk().__arrow_c_stream__()
        place = _pointer_of(capsule, b"arrow_array_stream")
        stream = _ArrowStream.from_address(place)
        schema, self._array = ArrowSchema(), ArrowArray()
        self.address = ctypes.addressof(self._array)
        if _GET(stream.get_schema)(place, ctypes.addressof(schema)) or _GET(stream.get_next)(place, self.address):
            raise RuntimeError(f"the column {series.name} has no memory to read")
        found = schema.format.decode()
        SCHEMA_RELEASE(schema.release)(ctypes.pointer(schema))
        if found != arrow_format:
            ARRAY_RELEASE(self._array.release)(self.address)
            raise TypeError(f"the column {series.name} is {found} in memory, not {arrow_format}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        ARRAY_RELEASE(self._array.release)(self.address)
