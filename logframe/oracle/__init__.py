"""Oracle's own names: the one list of statistics, events and their like, and the units of statistics."""

from logframe.oracle.names import IDLE_EVENTS, WAIT_CLASSES, find_names, full_name, is_idle, known_names, wait_class_of
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
