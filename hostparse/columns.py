"""What each printed column means: its name here, its unit, and the factor to that unit.

The headings of each tool are in its file (`hostparse.tools`).  One that is not listed keeps its printed name; a unit is
taken from the heading itself (``%``, ``/s``, ``kb``) or is null: no unit is guessed.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Basis = Literal["rate", "share", "time", "gauge", "count", "total", "invalid", "unknown"]


class Metric(NamedTuple):
    """The meaning of one column of figures.

    Attributes:
        name: the column's name in the frames; its unit stands in the name.
        unit: ``/s``, ``B/s``, ``B``, ``ms``, ``s``, ``%``, ``1`` or None where the heading does not say it.
        factor: what the printed figure is multiplied by.
        basis: ``rate`` (per second of the interval), ``share`` (percent), ``time``, ``gauge`` (a mean or a level),
            ``count`` (an exact whole number), ``total`` (counted over the interval or since the start), ``invalid``
            (not to be used: what the tool prints is no measure), ``unknown``.
        is_known: the heading is in the list.
    """

    name: str
    unit: str | None
    factor: float = 1.0
    basis: Basis = "gauge"
    is_known: bool = True


#: The length of an interval as sadf states it, from the time that the system is up; stamps may contradict it.
STATED_INTERVAL: Final = Metric("stated_interval_s", "s", 1.0, "gauge")
#: Printed heading -> column of what a row is about, where several tools print it.
SHARED_KEYS: Final = {
    "Device": "device",
    "DEV": "device",
    "device": "device",
    "Disks": "device",
    "disk": "device",
    "DISK": "device",
    "CPU": "cpu",
    "UID": "uid",
    "USER": "user",
    "TGID": "tgid",
    "PID": "pid",
    "TID": "tid",
    "Command": "command",
}
#: Names that stand last and may be missing.
OPTIONAL_KEYS: Final = frozenset({"manufacturer", "product", "status"})
#: Names without blanks: numbers, and names of users.
ONE_WORD: Final = frozenset({"cpu", "node", "interrupt", "uid", "user", "tgid", "pid", "tid", "bus", "fan", "battery"})
#: Keys of which a row of a process has several; beside them, ``CPU`` is a figure.
PROCESS_KEYS: Final = frozenset({"uid", "user", "tgid", "pid", "tid", "command"})
