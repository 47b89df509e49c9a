"""Names of system calls: one name across the versions of strace and the personalities of a process."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from straceparse.records import PARTS_GRAMMAR

if TYPE_CHECKING:
    import polars as pl

#: Name printed by strace 4.10 and earlier -> name since 4.11.
ALIASES: Final = {"pread": "pread64", "pwrite": "pwrite64"}
#: Calls that execute another program.
EXECUTES: Final = ("execve", "execveat")


@cache
def canonical_name(syscall: str | None) -> str | None:
    """One name for a system call across versions and personalities.

    Examples:
        >>> [canonical_name(name) for name in ("pread", "readv#64", "64:pwrite", "io_submit")]
        ['pread64', 'readv', 'pwrite64', 'io_submit']
    """
    if syscall is None:
        return None
    name = _personality().sub("", syscall)
    return ALIASES.get(name, name)


@cache
def _personality() -> re.Pattern[str]:
    """What the personality of a process adds to a name."""
    return re.compile(PARTS_GRAMMAR.pattern("^{PERSONALITY}|{PERSONALITY_SUFFIX}$"))


def renamed(names: pl.Series) -> pl.Series:
    """Canonical names of names without a personality suffix."""
    is_old = names.is_in(list(ALIASES))
    return names.replace(ALIASES) if is_old.any() else names
