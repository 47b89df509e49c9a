"""Processes that read logs side by side, and the search for cyclic garbage, paused while many objects are made.

Python looks for cycles after every some hundred new objects, and goes through all that are alive again and again.  A
reader that makes a row of texts or a Series for each of thousands of cells spends up to a third of its time there and
frees nothing: what it makes holds no cycles.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes started in this block run Polars in one thread: there is one process a processor."""
    name = "POLARS_MAX_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def paused_collection() -> Iterator[None]:
    """No search for cyclic garbage meanwhile, in no thread; afterwards it is as it was.  Also a decorator.

    Where several are open at once, in one thread or in many, the one that found the search on turns it on again.

    Examples:
        >>> with paused_collection():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
