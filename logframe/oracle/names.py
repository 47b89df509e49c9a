"""Names of Oracle's statistics, events and their like; cut names in full where what is left fits only one.

Wait classes and events (V$EVENT_NAME), statistics (V$STATNAME, V$SYS_TIME_MODEL and those of global messaging), latches
(V$LATCHNAME), functions and types of files that do I/O (V$IOSTAT_FUNCTION, V$IOSTAT_FILE), components of memory
(V$MEMORY_DYNAMIC_COMPONENTS), pools (V$SGASTAT), classes of blocks (V$WAITSTAT) and initialization parameters whose
names are longer than the column of text reports.  The lists lie beside this module, a name a line.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

#: The wait classes of V$EVENT_NAME, and what reports list beside them.
WAIT_CLASSES: Final = (
    "Administrative",
    "Application",
    "CPU",
    "Cluster",
    "Commit",
    "Concurrency",
    "Configuration",
    "DB CPU",
    "Idle",
    "Network",
    "Other",
    "Queueing",
    "Scheduler",
    "System I/O",
    "User I/O",
)
#: Fewer letters than these are no cut name.
_SHORTEST: Final = 5
#: Kind of column -> the file of the names that it may hold.
_LISTS: Final = {
    "event": "events.txt",
    "statistic": "statistics.txt",
    "latch": "latches.txt",
    "io_function": "functions.txt",
    "filetype": "filetypes.txt",
    "component": "components.txt",
    "pool": "pools.txt",
    "block_class": "block_classes.txt",
    "parameter": "parameters.txt",
}
#: What Statspack writes before the name of a buffer cache.
_CACHES: Final = {"D:": "DEFAULT ", "K:": "KEEP ", "R:": "RECYCLE "}


@cache
def known_names(kind: str) -> tuple[str, ...]:
    """The names of a kind (`event`, `statistic`, `latch`, `wait_class`, ...) that this package knows, sorted.

    Examples:
        >>> known_names("latch")[:2], len(known_names("wait_class"))
        (('AQ Background: interrupt command latch', 'AQ Coord jobx_kwsbgsgn latch'), 15)
    """
    if kind == "wait_class":
        return WAIT_CLASSES
    return tuple(sorted(files("logframe.oracle").joinpath(_LISTS[kind]).read_text(encoding="utf-8").splitlines()))


def full_name(kind: str, printed: str, width: int | None) -> str:
    """A name in full.

    Args:
        kind: what is named: `event`, `statistic`, `latch`, `wait_class`, `io_function`, `filetype`, `component`,
            `pool`, `block_class` or `parameter`.
        printed: the name as the report has it.
        width: of its column; a name that is shorter was not cut.  None when nothing is cut, as in HTML.  The width
            does not show anything about wait classes: some versions cut them before its end.

    Returns:
        The one known name that starts so; the text itself when none does, or more than one.

    Examples:
        >>> full_name("event", "SQL*Net message from clien", 26), full_name("event", "log file sync", 30)
        ('SQL*Net message from client', 'log file sync')
        >>> full_name("wait_class", "Concurre", 8), full_name("wait_class", "Mine", 8)
        ('Concurrency', 'Mine')
        >>> full_name("statistic", "physical read total bytes optimi", 32)
        'physical read total bytes optimized'
        >>> full_name("latch", "Memory Queue Message Sub", 24)
        'Memory Queue Message Sub'
        >>> full_name("component", "DEFAULT 16K buf", 15), full_name("component", "D:buffer cache", 15)
        ('DEFAULT 16K buffer cache', 'DEFAULT buffer cache')
        >>> full_name("pool", "java p", 6), full_name("pool", "java pool", None), full_name("io_function", "LGWR", 15)
        ('java', 'java', 'LGWR')
    """
    if kind == "wait_class":
        return _completed(kind, printed)
    if kind == "pool":
        return _completed(kind, printed).removesuffix(" pool")
    if kind == "component" and printed[:2] in _CACHES:
        return _CACHES[printed[:2]] + printed[2:]
    if width is None or len(printed) < width - 1:
        return printed
    if len(printed) >= width:
        return _completed(kind, printed)
    # one short of its column: not cut, or cut after a blank
    full = _completed(kind, f"{printed} ")
    return printed if full.endswith(" ") or printed in known_names(kind) else full


def _completed(kind: str, start: str) -> str:
    """The one name that starts so; the start itself when that is a name, or there are several or none."""
    found = find_names(kind, start) if len(start) >= _SHORTEST else ()
    return found[0] if len(found) == 1 else start


@lru_cache(maxsize=1 << 13)
def find_names(kind: str, start: str) -> tuple[str, ...]:
    """The names that a printed text may stand for: the name itself, else up to two that begin so.

    Case and the number of blanks make no difference.

    Examples:
        >>> find_names("statistic", "physical reads"), find_names("statistic", "physical read total multi bl")
        (('physical reads',), ('physical read total multi block requests',))
        >>> find_names("statistic", "no such statistic")
        ()
    """
    folded, exact = _folded(kind)
    if start in known_names(kind):  # two may differ in case only
        return (start,)
    key = _key(start)
    if key in exact:
        return (exact[key],)
    place = bisect_left(folded, key)
    return tuple(exact[name] for name in folded[place : place + 2] if name.startswith(key))


@cache
def _folded(kind: str) -> tuple[list[str], dict[str, str]]:
    """The names of a kind without case, sorted, and the name that each is."""
    exact = {_key(name): name for name in known_names(kind)}
    return sorted(exact), exact


def _key(name: str) -> str:
    """A name without case and with single blanks; one at its end says that a word ends there."""
    return " ".join(name.casefold().split()) + " " * name.endswith(" ")
