"""Memory of a Series as compiled code reads it, without a copy: the Arrow C stream interface, by ctypes."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final, Self

from logframe.kernel import ARRAY_RELEASE, SCHEMA_RELEASE, ArrowArray, ArrowSchema

if TYPE_CHECKING:
    import polars as pl

_POINTER: Final = ctypes.c_void_p
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
