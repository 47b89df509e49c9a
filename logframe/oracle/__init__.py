"""Oracle's own names: the one list of statistics, events and their like, and the units of statistics."""

from logframe.oracle.names import WAIT_CLASSES, find_names, full_name, known_names
from logframe.oracle.units import unit_of

__all__ = ["WAIT_CLASSES", "find_names", "full_name", "known_names", "unit_of"]
