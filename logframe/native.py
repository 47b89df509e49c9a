"""Compiled code of the packages: loaded where it was built, checked, and never needed.

A C file of a package (``logframe/kernel.c``) is compiled when the project is installed (``hatch_build.py``), into
``kernel.compiled`` beside it.  Whatever prevents its use (no compiler, another machine, other sources) leaves the
Polars expressions, which give the same answers; `engine` says which of the two runs, and why.

The variable ``IOLAB_KERNEL`` decides: ``off`` never loads compiled code, ``require`` makes its absence an error, and
without it compiled code is used where it is there.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

#: Types of C: any pointer, and what counts and sizes are.
POINTER: Final = ctypes.c_void_p
SIZE: Final = ctypes.c_int64
#: The variable of the environment, and what it may be.
VARIABLE: Final = "IOLAB_KERNEL"
CHOICES: Final = ("", "off", "require")


class KernelError(ImportError):
    """``IOLAB_KERNEL`` is no choice, or requires compiled code that cannot be loaded."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A compiled library, or the reason why there is not one.

    Attributes:
        library: its functions; None without it.
        reason: why it is not there; empty where it is.
    """

    library: ctypes.CDLL | None
    reason: str


@cache
def load_compiled(package: str, name: str) -> Loaded:
    """The library compiled from ``name.c`` of a package.

    Raises:
        KernelError: ``IOLAB_KERNEL`` is ``require`` and the library cannot be used, or it is no choice at all.
    """
    choice = os.environ.get(VARIABLE, "")
    if choice not in CHOICES:
        raise KernelError(f"{VARIABLE}={choice!r}: it must be 'require', 'off' or empty")
    if choice == "off":
        return Loaded(None, f"{VARIABLE}=off")
    found = _opened(package, name)
    if found.library is None and choice == "require":
        raise KernelError(f"{VARIABLE}=require, but {package}/{name}.c is not in use: {found.reason}")
    return found


def load_functions(package: str, name: str, **functions: tuple[type | None, ...]) -> ctypes.CDLL | None:
    """The library compiled from ``name.c`` of a package, its functions declared; None without compiled code.

    Args:
        package: the package.
        name: of the C file.
        functions: of each function the type of its result, then those of its arguments.

    Raises:
        KernelError: as `load_compiled`.
    """
    library = load_compiled(package, name).library
    if library is not None:
        for function, (result, *arguments) in functions.items():
            declared = getattr(library, function, None)
            if declared is None:
                if os.environ.get(VARIABLE) == "require":
                    raise KernelError(f"{package}/{name}.compiled has no function {function}")
                return None
            declared.restype, declared.argtypes = result, arguments
    return library


def engine() -> str:
    """What classifies lines in this process, in a sentence for ``--version``.

    Raises:
        KernelError: as `load_compiled`.
    """
    found = load_compiled("logframe", "kernel")
    return "compiled kernel" if found.library is not None else f"Polars expressions ({found.reason})"


def _is_truncated(content: bytes) -> bool:
    r"""Whether a library ends before its table of sections: to load such a one would end the process.

    Source: the header of an ELF file; libraries of other systems are not judged.

    Examples:
        >>> header = b"\x7fELF\x02" + bytes(35) + (4096).to_bytes(8, "little") + bytes(10) + b"\x40\0\x02\0"
        >>> _is_truncated(header), _is_truncated(header + bytes(5000)), _is_truncated(b"")
        (True, False, True)
    """
    if not content:
        return True
    if not content.startswith(b"\x7fELF\x02"):
        return False
    place, size, count = (int.from_bytes(content[start:end], "little") for start, end in ((40, 48), (58, 60), (60, 62)))
    return len(content) < place + size * count


def _opened(package: str, name: str) -> Loaded:
    folder = files(package)
    path, source = folder.joinpath(f"{name}.compiled"), folder.joinpath(f"{name}.c")
    try:
        expected = hashlib.sha256(source.read_bytes()).hexdigest()
        if not path.is_file():
            return Loaded(None, "not compiled: there was no C compiler when it was installed")
        if _is_truncated(path.read_bytes()):
            return Loaded(None, f"{name}.compiled is cut; install the project again")
        library = ctypes.CDLL(str(path))
        identify = library.iolab_source
    except AttributeError:
        return Loaded(None, f"{name}.compiled is no library of this project")
    except OSError as error:
        return Loaded(None, f"{name}.compiled cannot be loaded: {error}")
    identify.restype = ctypes.c_char_p
    if identify() != expected.encode():
        return Loaded(None, f"{name}.compiled was made from another {name}.c; install the project again")
    return Loaded(library, "")
