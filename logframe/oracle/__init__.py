"""Oracle's own names: the one list of statistics, events and their like, and the units of statistics."""

from logframe.oracle.event_classes import wait_class_of
from logframe.oracle.idle import IDLE_EVENTS, is_idle
from logframe.oracle.names import WAIT_CLASSES, find_names, full_name, known_names
from logframe.oracle.units import unit_of

__all__ = [
    "IDLE_EVENTS",
    "WAIT_CLASSES",
    "find_names",
    "full_name",
    "is_idle",
    "known_names",
    "unit_of",
    "wait_class_of",
]
