"""Counters since the start of the system: a series of ``/proc/diskstats``, and ``vmstat -s`` and ``-D``."""

from __future__ import annotations

from typing import Final

from hostparse.line_tool import Column, Line, LineTool
from logframe import load_grammar

GRAMMAR: Final = load_grammar("hostparse", "kernel_counters.lark", "line")

#: The counters of a device, as the kernel's documentation orders them; sectors are of 512 bytes, times in ms.
_COUNTERS: Final = (
    *("reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges", "write_sectors", "write_ms"),
    *("in_flight", "busy_ms", "weighted_ms"),
)
_LATER: Final = ("discards", "discard_merges", "discard_sectors", "discard_ms", "flushes", "flush_ms")
_FIELDS: Final = "".join(f"{{GAP}}(?P<{name}>{{WHOLE}})" for name in _COUNTERS)
_MORE: Final = "".join(f"(?:{{GAP}}(?P<{name}>{{WHOLE}}))?" for name in _LATER)
TOOL: Final = LineTool(
    name="kernel_counters",
    title="a log of /proc/diskstats or vmstat -s",
    grammar=GRAMMAR,
    sign="(?:{DISK}|{VMSTAT_SIGN})$",
    given={"disks": ("since_1970_s", "printed_time")},
    lines=(
        Line(
            "(?:{TS})?(?P<time>{TIME})",
            "stamps",
            {"time": Column("since_1970_s", "figure")},
            begins=True,
            sets=("since_1970_s",),
        ),
        Line("(?P<time>{DATE})", columns={"time": Column("printed_time")}, begins=True, sets=("printed_time",)),
        Line(
            f"(?P<major>{{WHOLE}}){{GAP}}(?P<minor>{{WHOLE}}){{GAP}}(?P<device>{{DEVICE}}){_FIELDS}{_MORE}",
            "disks",
            {
                "major": Column("major", "whole"),
                "minor": Column("minor", "whole"),
                "device": Column("device"),
                **{name: Column(name, "whole") for name in (*_COUNTERS, *_LATER)},
            },
            once="device",
        ),
        Line(
            "(?P<value>{WHOLE}) (?P<unit>{KIB})?(?P<name>{NAME})",
            "counters",
            {"name": Column("name"), "value": Column("value", "whole"), "unit": Column("unit")},
        ),
    ),
)
FORMAT: Final = TOOL.format()
