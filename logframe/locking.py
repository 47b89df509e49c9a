"""Locks of files between processes, on systems with and without `fcntl`."""

from __future__ import annotations

import sys
from typing import IO, Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def lock_file(file: IO[Any], *, wait: bool = True) -> None:
    """Hold an open file alone until it is closed or its process ends.

    Args:
        file: Open for writing.
        wait: Wait for another process that holds it.

    Raises:
        BlockingIOError: Another process holds it, and `wait` is false.
        OSError: The file system has no locks.
    """
    if sys.platform == "win32":
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
