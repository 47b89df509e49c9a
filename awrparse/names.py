"""Names that text reports cut: wait classes and wait events in full, where what is left of them fits only one."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
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


@cache
def known_events() -> tuple[str, ...]:
    """The names of wait events that this package knows, sorted."""
    return tuple(sorted(files("awrparse").joinpath("events.txt").read_text(encoding="utf-8").splitlines()))


def full_wait_class(printed: str) -> str:
    """A wait class in full; the text itself when it is no beginning of exactly one.

    Examples:
        >>> full_wait_class("Concurre"), full_wait_class("Configurat"), full_wait_class("Mine")
        ('Concurrency', 'Configuration', 'Mine')
    """
    return _completed(printed, WAIT_CLASSES)


def full_event(printed: str, width: int | None) -> str:
    """A wait event in full.

    Args:
        printed: the name as the report has it.
        width: of its column; a name that is shorter was not cut.  None when nothing is cut, as in HTML.

    Returns:
        The one known event that starts so; the text itself when none does, or more than one.

    Examples:
        >>> full_event("SQL*Net message from clien", 26), full_event("log file switch (private stran", 30)
        ('SQL*Net message from client', 'log file switch (private strand flush incomplete)')
        >>> full_event("log file sync", 30), full_event("gc cr", 5)
        ('log file sync', 'gc cr')
    """
    if width is None or len(printed) < width:
        return printed
    return _completed(printed, known_events())


def _completed(printed: str, names: tuple[str, ...]) -> str:
    if len(printed) < _SHORTEST:
        return printed
    place = bisect_left(names, printed)
    found = names[place : place + 2]
    if found and found[0] == printed:
        return printed
    fitting = [name for name in found if name.startswith(printed)]
    return fitting[0] if len(fitting) == 1 else printed
