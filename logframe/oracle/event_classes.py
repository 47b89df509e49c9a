"""The wait class of each event, for reports that do not print it.

Source: V$EVENT_NAME of 10.2 to 19 as documented in the Oracle Database Reference, appendix "Oracle Wait Events", and
the classes that reports print beside events.  The list lies beside this module: class, tab, name; ``*`` is any rest.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from logframe.oracle.idle import is_idle

#: Shorter names are not taken for cut ones.
_LEAST_CUT: Final = 12


@lru_cache(maxsize=1 << 12)
def wait_class_of(event: str) -> str:
    """The wait class of an event; `Other` for all that the list does not have, as most of the class are.

    Examples:
        >>> [wait_class_of(name) for name in ("db file sequential read", "gc cr grant 2-way", "DFS lock handle")]
        ['User I/O', 'Cluster', 'Other']
        >>> wait_class_of("SQL*Net message from client"), wait_class_of("enq: TX - row lock conten")
        ('Idle', 'Application')
    """
    name = " ".join(event.lower().split())
    if is_idle(name):
        return "Idle"
    exact, beginnings = _classes()
    if name in exact:
        return exact[name]
    for begin, wait_class in beginnings:
        if name.startswith(begin):
            return wait_class
    if len(name) >= _LEAST_CUT:
        found = {wait_class for full, wait_class in exact.items() if full.startswith(name)}
        if len(found) == 1:
            return found.pop()
    return "Other"


@cache
def _classes() -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Classes by name, and beginnings of names with their class, the longest first."""
    exact, beginnings = {}, []
    for line in files("logframe.oracle").joinpath("event_classes.txt").read_text(encoding="utf-8").splitlines():
        wait_class, name = line.split("\t")
        if name.endswith("*"):
            beginnings.append((name[:-1].lower(), wait_class))
        else:
            exact[name.lower()] = wait_class
    return exact, sorted(beginnings, key=lambda one: -len(one[0]))
