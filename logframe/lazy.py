"""Lazy packages: a package's public names, each imported on first use.

Polars takes half a second to import.  A package that only lists its names imports in a moment, and a script that asks
for one of them pays for that one.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from inspect import getsource
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def lazy_exports(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package that imports its public names on use (PEP 562).

    The names and their modules are those that the package imports under ``TYPE_CHECKING``, where type checkers find
    them, too.  They are read from its source when the first one is used.

    Args:
        package: the package's ``__name__``.

    Examples:
        In the ``__init__.py`` of a package::

            if TYPE_CHECKING:
                from mypackage.source import open_log, open_logs

            __getattr__, __dir__ = lazy_exports(__name__)

        >>> attribute, names = lazy_exports("logframe")
        >>> attribute("read_printed")("8K").value
        8000.0
        >>> attribute("no_such_thing")
        Traceback (most recent call last):
        AttributeError: module 'logframe' has no attribute 'no_such_thing'
    """

    def __getattr__(name: str) -> object:  # noqa: N807 - it becomes the package's
        # dunder names are asked for while the package is imported: by import itself, doctest and inspect
        module = None if name.startswith("__") else exports_of(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        if module == package:  # a module of the package
            return import_module(f"{package}.{name}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)  # from now on an ordinary attribute
        return value

    def __dir__() -> list[str]:  # noqa: N807 - it becomes the package's
        return sorted(
            exports_of(package).keys() | {name for name in vars(sys.modules[package]) if name.startswith("__")}
        )

    return __getattr__, __dir__


def on_use(path: str) -> Callable[..., Any]:
    """A function that imports another one, named as an entry point names it, when it is called.

    Examples:
        >>> on_use("logframe.printed:read_printed")("8K").value
        8000.0
    """

    def call(*args: object, **options: object) -> object:
        return resolve_name(path)(*args, **options)

    return call


@cache
def exports_of(package: str) -> dict[str, str]:
    """The names that a package imports under ``TYPE_CHECKING``, each with its module; a module of the package with it.

    Args:
        package: the name of an imported package.

    Raises:
        ValueError: a public name is also the name of one of the modules.  Python binds a module to its package when it
            is imported, so that name would mean one thing before and another after.
        OSError: the source of the package is not there.

    Examples:
        >>> exports_of("logframe")["open_log"]
        'logframe.source'
    """
    exports = {
        alias.name: str(statement.module)
        for block in ast.parse(getsource(sys.modules[package])).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    if clashes := sorted(exports.keys() & {module.removeprefix(f"{package}.") for module in exports.values()}):
        raise ValueError(f"{package}: a public name and a module share the name {', '.join(clashes)}")
    return exports
