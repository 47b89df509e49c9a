"""The tools that print tables: a data file each beside this module.  Adding a tool is adding its file.

What a file may say is an attribute of `Tool`; a row of ``columns`` is

    HEADING | NAME | UNIT | FACTOR | BASIS

with the attributes of `Metric`.  A heading that is not listed keeps its printed name; a unit is taken from the heading
itself (``%``, ``/s``, ``kb``) or is null: no unit is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

from logframe.data_files import cells_of, data_files, frozen, read_data

if TYPE_CHECKING:
    from collections.abc import Mapping


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
_KIB: Final = 1024.0
_TSV: Final = "\t"


@dataclass(frozen=True)
class Tool:
    """A tool, and by which words its headings are known.

    Attributes:
        name: of the tool.
        order: headings are compared with the tools in this order.
        rank: its place in the name of a log of several tools.
        signs: terminal of ``sniff.lark`` -> what a line shows that matches it.
        all: words that a heading of it has.
        any: words of which one is enough.
        any_column: so is one of the columns that mean the same in all tools.
        group: beginning of the line of groups above, which is enough.
        pattern: of the words between tabs, which is enough.
        has_clock: its rows begin with a clock; without other words every such heading is its own.
        is_timed: so is a heading of no other tool whose first column is a time.
        is_total_cpu: so is the heading of the row of all processors.
        columns: printed heading -> meaning.
        names: printed heading -> column of what a row is about, where no other tool prints it.
        has_own_columns: its headings mean this in its tables alone.
        is_of_sysstat: a heading that is not listed is a column that a version of sysstat has.
        has_kilobytes: ``kb`` before a name is its unit.
        starts_at_boot: where rows have a clock, the first sample is a mean since the start of the system.
        has_no_boot: no sample of a table of names is a mean since the start of the system.
        is_headed_once: the heading is not printed above each report; a name that comes again begins the next.
        is_by_row: each row of a table without names is a sample.
        blank: words of tables whose cells are blank where nothing was counted; each ends below its word.
    """

    name: str
    order: int
    rank: int
    signs: Mapping[str, str] = field(default_factory=dict)
    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    any_column: bool = False
    group: str = ""
    pattern: str = ""
    has_clock: bool = False
    is_timed: bool = False
    is_total_cpu: bool = False
    columns: Mapping[str, Metric] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    has_own_columns: bool = False
    is_of_sysstat: bool = False
    has_kilobytes: bool = False
    starts_at_boot: bool = False
    has_no_boot: bool = False
    is_headed_once: bool = False
    is_by_row: bool = False
    blank: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        return re.compile(self.pattern) if self.pattern else None

    def has(self, printed: list[str], groups: str, *, has_clock: bool, is_total_cpu: bool) -> bool:
        """Is this a heading of the tool?"""
        if self.has_clock and not has_clock:
            return False
        words = set(printed)
        is_named = bool(self.all) and words.issuperset(self.all)
        is_named |= not words.isdisjoint(self.any) or (self.any_column and not words.isdisjoint(COMMON))
        is_named |= (self.is_total_cpu and is_total_cpu) or (
            bool(self.group) and groups.lstrip().startswith(self.group)
        )
        if self._pattern is not None:
            return is_named or self._pattern.search(_TSV.join(["", *printed, ""])) is not None
        return is_named or (self.has_clock and not (self.all or self.any))


def _tool(name: str) -> Tool:
    entry = read_data(__name__, name)
    columns = {}
    for heading, column, unit, factor, basis in cells_of(entry.pop("columns", "")):
        columns[heading] = Metric(column, unit or None, float(factor), cast("Basis", basis))
    return Tool(name=name, columns=columns, **{key: frozen(value) for key, value in entry.items()})


#: Name -> tool, in the order in which headings are compared with them.
TOOLS: Final = {tool.name: tool for tool in sorted(map(_tool, data_files(__name__)), key=lambda tool: tool.order)}
#: Printed heading -> meaning, whatever the tool.
COMMON: Final = {
    word: metric for tool in TOOLS.values() if not tool.has_own_columns for word, metric in tool.columns.items()
}
#: Printed heading -> column of what a row is about, whatever the tool.
KEYS: Final = {**SHARED_KEYS, **{word: name for tool in TOOLS.values() for word, name in tool.names.items()}}
#: A tool that is not known, and the tools whose tables are read by readers of their own.
OTHER: Final = Tool("unknown", 0, 0)


def tool_of(printed: list[str], groups: str, *, has_clock: bool, is_total_cpu: bool, has_time: bool) -> Tool:
    """The tool that prints such a heading."""
    for tool in TOOLS.values():
        if tool.has(printed, groups, has_clock=has_clock, is_total_cpu=is_total_cpu):
            return tool
    return next((tool for tool in TOOLS.values() if has_time and tool.is_timed), OTHER)


def metric_of(printed: str, name: str) -> Metric:
    """The meaning of a printed column of a tool.

    Examples:
        >>> metric_of("rkB/s", "iostat")[:3]
        ('read_bytes_per_s', 'B/s', 1024.0)
        >>> metric_of("%soft", "mpstat")[:2], metric_of("colour", "sar")[:2]
        (('soft_percent', '%'), ('colour', None))
    """
    tool = TOOLS.get(name, OTHER)
    if found := (tool.columns.get(printed) if tool.has_own_columns else None) or COMMON.get(printed):
        return found
    is_known = tool.is_of_sysstat or printed in _CPU
    word = printed.strip("%").replace("/s", "").replace("-", "_").replace("+", "_and_").lower() or printed
    if printed.startswith("%"):
        return Metric(f"{word}_percent", "%", 1.0, "share", is_known)
    if printed.endswith("/s"):
        return Metric(f"{word}_per_s", "/s", 1.0, "rate", is_known)
    if tool.has_kilobytes and printed.startswith("kb") and len(printed) > 2:
        return Metric(f"{word[2:]}_bytes", "B", _KIB, "gauge")
    return Metric(printed, None, 1.0, "unknown", is_known)


_CPU: Final = frozenset(
    {"%user", "%usr", "%nice", "%system", "%sys", "%iowait", "%steal", "%idle", "%irq", "%soft", "%guest", "%gnice"}
)
