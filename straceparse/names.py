"""Names of system calls: one name across the versions of strace and the personalities of a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

#: Name printed by strace 4.10 and earlier -> name since 4.11.
ALIASES: Final = {"pread": "pread64", "pwrite": "pwrite64"}


@cache
def canonical_name(syscall: str | None) -> str | None:
    """One name for a system call across versions and personalities.

    Examples:
        >>> [canonical_name(name) for name in ("pread", "readv#64", "64:pwrite", "io_submit")]
        ['pread64', 'readv', 'pwrite64', 'io_submit']
    """
    if syscall is None:
        return None
    name = syscall.split("#", 1)[0].rsplit(":", 1)[-1]
    return ALIASES.get(name, name)


def renamed(names: pl.Series) -> pl.Series:
    """Canonical names of names without a personality suffix."""
    is_old = names.is_in(list(ALIASES))
    return names.replace(ALIASES) if is_old.any() else names
