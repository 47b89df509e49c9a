"""When and where an nmon file was taken: its settings, and the clock of each tick."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from hostparse.clocks import MONTHS, calendar_day, of_each, past_midnights, second_of, seconds_of_day
from hostparse.lines import NMON, TEXT
from hostparse.runs import Run
from logframe import Diagnostic
from logframe.moments import later, moment
from logframe.printed import whole_number

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

#: A count of more digits is damaged: no machine word holds it.


def runs_of(settings: pl.DataFrame) -> list[Run]:
    """The runs of a file, from the lines AAA."""
    found: list[Run] = []
    for (number,), group in settings.partition_by("run", as_dict=True, maintain_order=True).items():
        said: dict[str, str] = {}
        for text in group.get_column("text"):
            _, key, *rest = text.split(",", 2)
            said.setdefault(key, rest[0].strip() if rest else "")
        is_aix = "AIX" in said or said.get("build") == "AIX"
        opened = _tick_time(f"{said.get('time', '').replace('.', ':')},{said.get('date', '')}")
        known: dict[str, Any] = {
            "system": "AIX" if is_aix else (said.get("OS", "").partition(",")[0] or None),
            "release": said.get("AIX") if is_aix else said.get("OS", "").partition(",")[2].partition(",")[0] or None,
            "host": said.get("host"),
            "cpus": whole_number(said.get("cpus", "").rpartition(",")[2]),
            "interval_s": whole_number(said.get("interval", "")),
            "command": said.get("command"),
            "opened_at": opened,
            "day": opened.date() if opened else None,
        }
        found.append(Run(int(str(number)), group.item(0, "line"), **known))
    return found or [Run(0, 1)]


@cache
def _tick() -> re.Pattern[str]:
    return re.compile(NMON.pattern("(?P<clock>{DAY_TIME})(?:,(?P<day>{DAY})-(?P<month>{MONTH})-(?P<year>{YEAR}))?"))


def _tick_time(text: str) -> dt.datetime | None:
    """The wall clock in ``17:28:10,10-FEB-2016``."""
    found = _tick().match(text)
    if found is None or (month := (found["month"] or "").capitalize()) not in MONTHS:
        return None
    return moment(calendar_day(int(found["year"]), MONTHS.index(month) + 1, found["day"]), second_of(found["clock"]))


def ticks_of(name: str, clocks: pl.DataFrame, runs: Sequence[Run], notes: list[Diagnostic]) -> pl.DataFrame:
    """Each tick of each run with its time and that of the tick before."""
    part = TEXT.str.splitn(",", 3).struct
    ticks = clocks.select(
        "line",
        "run",
        "text",
        part.field("field_1").str.slice(1).cast(pl.UInt32, strict=False).alias("sample"),
        of_each(part.field("field_2"), _tick_time, pl.Datetime("us")).alias("interval_end"),
        seconds_of_day(part.field("field_2").str.slice(0, 8)).alias("seconds"),
    ).unique(["run", "sample"], keep="first", maintain_order=True)
    days = pl.DataFrame(
        {"run": [run.run for run in runs], "day": [run.base_day for run in runs]},
        schema={"run": pl.UInt32, "day": pl.Date},
    )
    ticks = ticks.sort("run", "sample").join(days, on="run", how="left", maintain_order="left")
    undated = later(pl.col("day"), past_midnights(pl.col("seconds")))
    is_strange = (
        pl.col("interval_end").is_null()
        & undated.is_not_null()
        & (pl.col("text").str.count_matches(",", literal=True) > 2)
    )
    for line, text in ticks.filter(is_strange).select("line", "text").iter_rows():
        notes.append(Diagnostic(name, line, None, "clock", text, "no date: it is taken from the head of the log"))
    ticks = ticks.with_columns(pl.coalesce("interval_end", undated).alias("interval_end"))
    for line, text in ticks.filter(pl.col("interval_end").is_null()).select("line", "text").iter_rows():
        notes.append(Diagnostic(name, line, None, "clock", text, "no time of a clock: its samples have none"))
    before = pl.col("interval_end").shift().over("run")
    for line, text in ticks.filter(pl.col("interval_end") < before).select("line", "text").iter_rows():
        notes.append(Diagnostic(name, line, None, "clock", text, "the clock goes back: no start of this interval"))
    return ticks.select(
        "run",
        "sample",
        pl.lit(False).alias("is_since_boot"),
        pl.when((before <= pl.col("interval_end")) & (pl.col("sample") == pl.col("sample").shift().over("run") + 1))
        .then(before)
        .alias("interval_start"),
        "interval_end",
        pl.col("interval_end").dt.time().alias("time_of_day"),
    )
