"""Lazy packages: a package's public names, each imported on first use.

Polars takes half a second to import.  A package that only lists its names imports in a moment, and a script that asks
for one of them pays for that one.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


def lazy_exports(
    package: str, exports: Mapping[str, str], modules: Collection[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that imports its public names on use (PEP 562).

    The package lists its names three times, and a test compares the lists: imported under ``TYPE_CHECKING`` for type
    checkers, in ``__all__`` for readers, and here, with their modules, for the interpreter.

    Args:
        package: the package's ``__name__``.
        exports: each public name and the module that defines it: one within the package, or its full name.
        modules: modules of the package that are public themselves.

    Raises:
        ValueError: a public name is also the name of one of the modules.  Python binds a module to its package when it
            is imported, so that name would mean one thing before and another after.

    Examples:
        In the ``__init__.py`` of a package::

            __getattr__, __dir__ = lazy_exports(__name__, {"open_log": "source", "open_logs": "source"})

        >>> attribute, names = lazy_exports("logframe", {"Printed": "printed", "read_printed": "printed"})
        >>> attribute("read_printed")("8K").value
        8000.0
        >>> attribute("no_such_thing")
        Traceback (most recent call last):
        AttributeError: module 'logframe' has no attribute 'no_such_thing'
    """
    if clashes := sorted(exports.keys() & set(exports.values())):
        raise ValueError(f"{package}: a public name and a module share the name {', '.join(clashes)}")

    top = package.partition(".")[0] + "."

    def __getattr__(name: str) -> object:  # noqa: N807 - it becomes the package's
        if name in modules:
            return import_module(f"{package}.{name}")
        module = exports.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value = getattr(import_module(module if module.startswith(top) else f"{package}.{module}"), name)
        setattr(sys.modules[package], name, value)  # from now on an ordinary attribute
        return value

    def __dir__() -> list[str]:  # noqa: N807 - it becomes the package's
        return sorted(exports.keys() | set(modules) | vars(sys.modules[package]).keys())

    return __getattr__, __dir__
