"""Counters since the start of the system: a series of ``/proc/diskstats``, and ``vmstat -s`` and ``-D``."""

from __future__ import annotations

from typing import Final

import polars as pl

from hostparse.clocks import Order, read_stamps
from hostparse.headings import Field, Heading
from hostparse.line_tool import Column, Line, LineTool
from hostparse.log import FrameLog, HostLog
from hostparse.runs import Run, Runs
from hostparse.sampling import PLACE
from hostparse.stored import MemoryParts, Part
from hostparse.tools import metric_of
from logframe import load_grammar
from logframe.moments import since_1970

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
#: What iostat prints of a device -> from the growth of counters, and the seconds in which they grew.
_GREW: Final = {name: pl.col(name).cast(pl.Int64).diff().over("device") for name in _COUNTERS}
_S: Final = pl.col("interval_end").diff().over("device").dt.total_microseconds() / 1e6
_RATES: Final = {
    "r/s": _GREW["reads"] / _S,
    "w/s": _GREW["writes"] / _S,
    "rkB/s": _GREW["read_sectors"] / 2 / _S,
    "wkB/s": _GREW["write_sectors"] / 2 / _S,
    "r_await": pl.when(_GREW["reads"] > 0).then(_GREW["read_ms"] / _GREW["reads"]),
    "w_await": pl.when(_GREW["writes"] > 0).then(_GREW["write_ms"] / _GREW["writes"]),
    "aqu-sz": _GREW["weighted_ms"] / 1e3 / _S,
    "%util": (_GREW["busy_ms"] / 10 / _S).clip(upper_bound=100.0),
}


def device_samples(log: FrameLog) -> HostLog | None:
    """The devices between the stamps of ``/proc/diskstats``, as iostat prints them; None without several stamps.

    Counters that went back began again: no rate is of them.
    """
    disks = read_stamps(log.tables["disks"].with_columns(text="printed_time"), "ymd")
    disks = disks.with_columns(interval_end=pl.coalesce(since_1970(pl.col("since_1970_s")), "time"))
    disks = disks.drop_nulls("interval_end").unique(["device", "interval_end"], keep="first", maintain_order=True)
    if disks.get_column("interval_end").n_unique() <= 1:
        return None
    fields = {word: metric_of(word, "iostat") for word in _RATES}
    rates = [(figure * fields[word].factor).alias(fields[word].name) for word, figure in _RATES.items()]
    grew = disks.with_columns(pl.col("interval_end").shift().over("device").alias("interval_start"), *rates)
    is_whole = pl.all_horizontal(one.ge(0) for one in _GREW.values() if one is not _GREW["in_flight"])
    grew = grew.filter(disks.select((is_whole & (_S > 0)).fill_null(value=False)).to_series())
    is_other = pl.lit(value=False)  # no mean since the start of the system, and none at the end
    grew = grew.with_columns(run=0, is_since_boot=is_other, is_average=is_other, time_of_day=pl.lit(None))
    frame = grew.select(*PLACE, "device", *(one.name for one in fields.values())).cast(pl.Schema(PLACE))
    columns = (Field("device", "Device", None), *(Field(one.name, word, one) for word, one in fields.items()))
    heading = Heading("iostat", "device", columns, False, False, False, None, False)
    part = Part(heading, frame, {one.name: 0.0 for one in fields.values()})
    runs = Runs((Run(0, 1, system="Linux"),), Order("ymd", is_assumed=False))
    return HostLog(log.source, "iostat", MemoryParts([part]), runs, log.diagnostics)
