"""Headings: the names of the columns of a table, from the words the tool prints above it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hostparse.lines import GRAMMAR
from hostparse.tools import KEYS, OTHER, PROCESS_KEYS, TOOLS, Metric, Tool, metric_of, tool_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD: Final = re.compile(GRAMMAR.pattern("{CELL}"))
_CLOCK: Final = re.compile(GRAMMAR.pattern("^[ #]*{CLOCK}{GAP}"))
#: The label of the row of all processors.
TOTAL_CPU: Final = "avg-cpu:"
_TWICE: Final = 2
#: The first columns of vmstat; the names of memory are of the locale.
_MEMORY: Final = ("r", "b", "swpd", "free", "buff", "cache", "si", "so")
#: Memory that ``vmstat`` of AIX and HP-UX prints in pages.
_IN_PAGES: Final = ("avm", "fre")
#: Columns that say where a row stands and when it is of.
_PLACES: Final = (
    *("line", "mark", "heading_line", "run", "sample", "is_average", "is_since_boot", "clock", "stamp"),
    *("interval_start", "interval_end", "time_of_day"),
)
#: What ``vmstat -t`` of AIX prints above a clock.
_CLOCK_OF_AIX: Final = ("hr", "mi", "se")


@dataclass(frozen=True)
class Field:
    """One column of a row: what it is called, and what its figures mean; None for a name.

    Attributes:
        name: the column's name in the frames.
        printed: the heading.
        metric: the meaning of the figures; None where the column names what the row is about.
    """

    name: str
    printed: str
    metric: Metric | None


@dataclass(frozen=True)
class Heading:
    """The columns of one table.

    Attributes:
        tool: one of `hostparse.tools.TOOLS`, or ``unknown``.
        scope: what a row is about: host, device, cpu, process, ...
        fields: the columns, in order; the clock before a row and the stamp after it are not among them.
        has_clock: each row begins with the time of day.
        has_time: the first column is a time (``pidstat -h``).
        has_stamp: each row ends with a date and a time (``vmstat -t``); `zone` is the zone in the heading.
        zone: name of the zone of the stamps, or None.
        is_total_cpu: the one row below is about all CPUs, and a report of iostat starts with it.
    """

    tool: str
    scope: str
    fields: tuple[Field, ...]
    has_clock: bool
    has_time: bool
    has_stamp: bool
    zone: str | None
    is_total_cpu: bool

    @property
    def printed(self) -> tuple[str, ...]:
        """The words of the heading."""
        return tuple(field.printed for field in self.fields)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns that say what a row is about."""
        return tuple(field.name for field in self.fields if field.metric is None)

    @property
    def of(self) -> Tool:
        """What is known of the tool."""
        return TOOLS.get(self.tool, OTHER)

    @property
    def is_by_row(self) -> bool:
        """Is each row a sample?"""
        return self.of.is_by_row and not self.keys

    @property
    def is_known(self) -> bool:
        """Is some column a known one?"""
        return bool(self.keys) or any(field.metric is not None and field.metric.is_known for field in self.fields)


@lru_cache(maxsize=4096)
def read_heading(text: str, groups: str, has_clock: bool) -> Heading:  # noqa: FBT001 - a key of the cache
    """The heading in a line of words.

    Args:
        text: the line, without the clock before it.
        groups: the line above, where that is one of words too, else empty.
        has_clock: a clock stood before the words.

    Examples:
        >>> heading = read_heading("Device:  rrqm/s  r/s  rsec/s  await  %util", "", False)
        >>> heading.tool, heading.scope, [field.name for field in heading.fields][:4]
        ('iostat', 'device', ['device', 'read_merges_per_s', 'reads_per_s', 'read_bytes_per_s'])
    """
    text, groups = text.expandtabs(), groups.expandtabs()
    words = _words(text)
    is_total_cpu = any(word.text == TOTAL_CPU for word in words)
    has_time = bool(words) and (words[0].text in {"Time", "TIME"} or (not has_clock and _is_time_in_others(words)))
    words = [word for word in words if word.text.rstrip(":") in KEYS or not word.text.endswith(":")][has_time:]
    # the word above the times is of the locale; it stands after the group of the processors
    has_stamp = "timestamp" in groups or "cpu" in [name.strip("-") for name in groups.split()[1:-1]]
    zone = None
    if tuple(word.text for word in words[-len(_CLOCK_OF_AIX) :]) == _CLOCK_OF_AIX:
        words, has_stamp = words[: -len(_CLOCK_OF_AIX)], True
    elif has_stamp and words and words[-1].text not in TOOLS["vmstat"].columns:
        zone = words.pop().text
    printed = _qualified([word.text.rstrip(":") for word in words], [word.middle for word in words], groups)
    if printed[:3] == [*_MEMORY[:3]] and printed[6:8] == [*_MEMORY[6:]]:  # the names between are of the locale
        printed[3:6] = [
            _MEMORY[3],
            *(a if a == "inact" else b for a, b in zip(printed[4:6], _MEMORY[4:6], strict=True)),
        ]
    if printed.count("sy") == _TWICE:  # the line of groups is not there: system calls come before the share of the CPU
        first = printed.index("sy")
        printed[first], printed[printed.index("sy", first + 1)] = "faults sy", "cpu sy"
    tool = tool_of(printed, groups, has_clock=has_clock, is_total_cpu=is_total_cpu, has_time=has_time).name
    if tool == "vmstat" and groups.lstrip().startswith("disk-"):
        printed = ["disk", *printed]
    if tool == "vmstat" and "disk" not in printed:
        keys = {}
    elif set(printed) & {"PID", "TGID", "TID"}:
        keys = {word: name for word, name in KEYS.items() if name in PROCESS_KEYS}
    else:
        keys = {word: name for word, name in KEYS.items() if name != "command"}
    # BSD prints memory in units of its own; those who print pages print both
    unknown = _IN_PAGES if "flt" in printed or "avm" not in printed else ()
    fields = tuple(
        Field(keys[word], word, None) if word in keys else _figure(word, tool if word not in unknown else "")
        for word in printed
    )
    scope = next((field.name for field in fields if field.metric is None), "host")
    names = distinct(field.name for field in fields)
    return Heading(
        tool,
        "process" if scope in PROCESS_KEYS else scope,
        tuple(Field(name, field.printed, field.metric) for name, field in zip(names, fields, strict=True)),
        has_clock,
        has_time,
        has_stamp,
        zone,
        is_total_cpu,
    )


def _is_time_in_others(words: list[_Word]) -> bool:
    """Is the first word the time in other words?  Nothing else stands before the names of a process or a disk."""
    first, second, *rest = (*(word.text for word in words), "", "")
    is_of_process = second in {"UID", "USER", "TGID", "PID"} and bool({second, *rest} & {"PID", "TGID"})
    return (is_of_process or (second == "DISK" and "%RND" in rest)) and first not in KEYS


def without_clock(text: str) -> str:
    """The words without the clock or the ``#`` before them."""
    return _CLOCK.sub("", text).replace("#", " ", 1)


def _figure(word: str, tool: str) -> Field:
    metric = metric_of(word, tool)
    return Field(metric.name, word, metric)


def distinct(names: Iterable[str]) -> list[str]:
    """Names of columns: one that is there twice, or that says where a row stands, gets a number.

    Examples:
        >>> distinct(["r/s", "run", "r/s"])
        ['r/s', 'run_2', 'r/s_2']
    """
    seen = Counter(_PLACES)
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


@dataclass(frozen=True)
class _Word:
    text: str
    middle: float


def _words(text: str) -> list[_Word]:
    """The words of a heading with their places; ``% user`` is one word."""
    found: list[_Word] = []
    pending = False
    for match in _WORD.finditer(text):
        word = match.group()
        if word == "%":
            pending = True
            continue
        found.append(_Word(f"%{word}" if pending else word, (match.start() + match.end()) / 2))
        pending = False
    return found


def _qualified(words: list[str], middles: list[float], groups: str) -> list[str]:
    """Words that stand several times, with the name of the group above them: ``reads total``, ``writes total``."""
    twice = {word for word, count in Counter(words).items() if count > 1}
    places = [(match.start(), match.end(), match.group().strip("-:")) for match in _WORD.finditer(groups)]
    places = [place for place in places if place[2]]
    if not twice or not places:
        return words
    found = []
    for word, middle, before in zip(words, middles, ["", *words], strict=False):
        if word == "sy":  # system calls among the faults; the share of the system among those of the CPU
            found.append("cpu sy" if before == "us" else "faults sy")
        elif word in twice:
            nearest = min(places, key=lambda place: max(place[0] - middle, middle - place[1], 0))
            found.append(f"{nearest[2]} {word}")
        else:
            found.append(word)
    return found
