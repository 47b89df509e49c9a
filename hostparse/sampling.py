"""Samples: which rows are of one report, when its interval began and ended, and whether it is a mean since the start.

Three ways of printing are told apart:

* **clocked** (mpstat, pidstat, sar): each row has its time of day; rows of one time are one sample;
* **by report** (iostat, ``vmstat -d``, ``zpool iostat``): a stamp, the ``avg-cpu`` heading or the first heading of the
  run starts a report, in that order of preference;
* **by row** (vmstat): each row is a sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from hostparse.clocks import DAY_S, GRAMMAR, dated_clock, past_midnights, read_stamps, seconds_of_day
from hostparse.lines import is_kind
from logframe import Diagnostic
from logframe.moments import later, since_1970

if TYPE_CHECKING:
    from hostparse.runs import Run, Runs
    from hostparse.stored import Part

#: Columns that every part has once its samples are placed.
PLACE: Final = {
    "line": pl.UInt32(),
    "run": pl.UInt32(),
    "sample": pl.UInt32(),
    "is_since_boot": pl.Boolean(),
    "interval_start": pl.Datetime("us"),
    "interval_end": pl.Datetime("us"),
    "time_of_day": pl.Time(),
    "is_average": pl.Boolean(),
}
#: Stands for a clock that shows no time.
_DAMAGED: Final = -1
#: Means over this many intervals hardly move, shares by one part of 100 %; a restart makes them move.
_INTERVALS: Final = 5
_POINTS: Final = 100 / _INTERVALS
_LEAST_MOVES: Final = 2
_HALF_DAY: Final = DAY_S // 2
_EITHER: Final = "the first row of another run, a mean since the start of the system, or a row below a repeated heading"


@dataclass
class Placed:
    """Parts with their samples.

    Attributes:
        runs: where and when.
        parts: each part as it was read, and with the columns of `PLACE` first.
        notes: diagnostics about times.
        zones: the zones that rows or stamps name, by run.
        is_ordered: the samples of each run are in the order of their times.
    """

    runs: Runs
    parts: list[tuple[Part, Part]] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    zones: dict[int, set[str]] = field(default_factory=dict)
    is_ordered: bool = True


class Carried(NamedTuple):
    """What is known of the runs of a piece of a log beside its lines.

    Attributes:
        is_going_on: the first run began before the piece.
        first_heading: the number of the first heading of that run, -1 where it is not among the lines; None: not known.
        stamped: runs with stamps, by the number of rows before them.
        headed: runs with the heading of all processors, likewise.
        doubtful: lines of headings of vmstat that may start a run or not.
    """

    is_going_on: bool
    first_heading: int | None
    stamped: frozenset[int]
    headed: frozenset[int]
    doubtful: frozenset[int]


def place_samples(
    name: str,
    parts: list[Part],
    marks: pl.DataFrame,
    runs: Runs,
    alone: pl.DataFrame | None,
    headless: frozenset[int],
    carried: Carried,
) -> Placed:
    """The parts with the run, sample and interval of each row.

    Args:
        name: of the log.
        parts: from the rows under each heading.
        marks: the lines between the rows.
        runs: of the log.
        alone: lines with a clock and no row.
        headless: runs that begin with rows without a heading: what follows is not their first report.
        carried: what is known beside these lines.
    """
    placed = Placed(runs)
    days = _days(runs.runs)
    clocked = [part for part in parts if part.heading.has_clock]
    if clocked:
        found = _clocked(name, clocked, marks, days, alone, headless, placed, carried)
        placed.parts += zip(clocked, found, strict=True)
    reports = _reports(name, marks, days, placed, carried)
    stacked = [
        part for part in parts if not (part.heading.has_clock or part.heading.has_time or part.heading.is_by_row)
    ]
    if any(_moves_too_fast(part) for part in stacked):  # what a collector wrote is samples, one each time
        headless = headless.union(*(part.frame.get_column("run") for part in stacked))
    for part in parts:
        if part.heading.has_clock:
            continue
        if part.heading.has_time:
            placed.parts.append((part, _timed(name, part, placed)))
        elif part.heading.is_by_row:
            placed.parts.append((part, _by_row(name, part, placed, headless, carried.doubtful)))
        else:
            placed.parts.append((part, _by_report(part, reports, headless)))
    return placed


def _days(runs: tuple[Run, ...]) -> pl.DataFrame:
    """The date of the first sample of each run, where the log says it."""
    return pl.DataFrame(
        {"run": [run.run for run in runs], "base": [run.base_day for run in runs]},
        schema={"run": pl.UInt32, "base": pl.Date},
    )


def _after_restarts(days: pl.DataFrame, row: pl.DataFrame, runs: tuple[Run, ...]) -> pl.DataFrame:
    """The same, where a run that begins with a restart goes on after the midnights of the run before."""
    ends = dict(row.group_by("run").agg(pl.col("end").max()).iter_rows())
    base = days.get_column("base").to_list()
    for number, run in enumerate(runs[1:], 1):
        end = ends.get(run.run - 1)
        if run.restarted_s is None or end is None or base[number - 1] is None or run.day != runs[number - 1].day:
            continue
        passed = end // DAY_S + (run.restarted_s < end % DAY_S - _HALF_DAY)
        base[number] = base[number - 1] + timedelta(days=passed)
    return days.with_columns(base=pl.Series(base, dtype=pl.Date))


def _ordered(part: Part, frame: pl.DataFrame) -> Part:
    """The part with the columns of `PLACE`, which `frame` has row by row, first, and without what placed them."""
    names = [column.name for column in part.heading.fields]
    place = frame.select(pl.col(column).cast(dtype) for column, dtype in PLACE.items())
    return replace(part, frame=place.hstack(part.frame.select(names)))


def _unplaced(part: Part) -> pl.DataFrame:
    """A part without its figures: joins copy every column, and figures are many."""
    return part.frame.drop([column.name for column in part.heading.fields if column.metric is not None])


def _time(seconds: pl.Expr) -> pl.Expr:
    return (seconds % DAY_S * 1_000_000_000).cast(pl.Time)


# ------------------------------------------------------------------------------------------------ each row has a clock
def _clocked(
    name: str,
    parts: list[Part],
    marks: pl.DataFrame,
    days: pl.DataFrame,
    alone: pl.DataFrame | None,
    headless: frozenset[int],
    placed: Placed,
    carried: Carried,
) -> list[Part]:
    keys = ["line", "run", "heading_line", "clock", "is_average"]
    rows = [part.frame.select(keys).with_columns(pl.lit(number).alias("part")) for number, part in enumerate(parts)]
    if alone is not None and alone.height:
        clocks = alone.select("line", "run", "heading_line", pl.col("text").str.strip_chars().alias("clock"))
        rows.append(clocks.with_columns(pl.lit(False).alias("is_average"), pl.lit(-1).alias("part")))
    row = pl.concat(rows).sort("line").filter(~pl.col("is_average"))
    row = row.with_columns(seconds_of_day(pl.col("clock")).alias("second"))
    is_damaged = pl.col("second").is_null() & (pl.col("clock").str.strip_chars() != "")
    for line, clock in row.filter(is_damaged).select("line", "clock").iter_rows():
        placed.notes.append(Diagnostic(name, line, None, "clock", clock, "no time of a clock: the row has none"))
    # HP-UX and Solaris print a clock on the first row of a sample only
    printed = pl.when(is_damaged).then(_DAMAGED).otherwise("second").forward_fill().over("run", "heading_line")
    row = row.with_columns(pl.when(printed != _DAMAGED).then(printed).alias("second"))
    blocks = _blocks(row, marks, carried)
    row = row.join(blocks.select("heading_line", "segment"), on="heading_line", how="left", maintain_order="left")
    before = pl.col("second").shift().over("run", "segment")
    row = row.with_columns(
        (pl.col("second") < before - _HALF_DAY).fill_null(value=False).alias("wraps"),
        ((pl.col("second") < before) & (pl.col("second") >= before - _HALF_DAY))
        .fill_null(value=False)
        .alias("goes_back"),
    )
    for line, clock in row.filter("goes_back").select("line", "clock").iter_rows():
        placed.notes.append(
            Diagnostic(name, line, None, "clock", clock, "the clock goes back: a new stretch of samples")
        )
    # the date of the log is that of its first heading: rows after the midnight below it are of the next day
    heads = blocks.group_by("run", "segment").agg(pl.col("start", "first").first())
    late = heads.select("run", "segment", (pl.col("start") > pl.col("first") + _HALF_DAY).alias("is_late"))
    row = row.join(late, on=["run", "segment"], how="left", maintain_order="left")
    wraps = pl.col("wraps").cum_sum().over("run", "segment") + pl.col("is_late").fill_null(value=False)
    row = row.with_columns(
        (pl.col("second") + DAY_S * wraps).alias("end"),
        pl.col("goes_back").cum_sum().over("run", "segment").alias("stretch"),
    )
    samples = _clocked_samples(row, blocks, _after_restarts(days, row, placed.runs.runs))
    found = []
    for number, part in enumerate(parts):
        of_part = row.filter(pl.col("part") == number).select("line", "run", "stretch", "end")
        frame = _unplaced(part).drop("run").join(of_part, on="line", how="left", maintain_order="left")
        frame = frame.with_columns(part.frame.get_column("run"))
        frame = frame.join(samples, on=["run", "stretch", "end"], how="left", maintain_order="left")
        is_alone = pl.col("sample").max().over("run") == 1  # with an interval these tools print no mean since boot
        is_first = is_alone & (pl.col("sample") == 1) & pl.col("is_at_start") & pl.lit(part.heading.of.starts_at_boot)
        found.append(
            _ordered(
                part,
                frame.with_columns(
                    (is_first & ~pl.col("run").is_in(list(headless))).fill_null(value=False).alias("is_since_boot"),
                    pl.when(~is_first).then("interval_start").alias("interval_start"),
                    _time(pl.col("end")).alias("time_of_day"),
                ),
            )
        )
    return found


def _blocks(row: pl.DataFrame, marks: pl.DataFrame, carried: Carried) -> pl.DataFrame:
    """The tables under each heading line, with the clock of the heading and the segment of the file they belong to.

    sar prints either all tables of one time after another, or a table of all times after another; in the latter case
    each table begins again at the clock at which the file begins.
    """
    clock = pl.col("text").str.extract(GRAMMAR.pattern("^[ #]*({HOUR}:{SIXTY}:{SIXTY}(?:{GAP}{HALF})?)"))
    heads = marks.filter("is_heading").select("run", "heading", heading_line="line", start=seconds_of_day(clock))
    times = row.group_by("heading_line").agg(
        pl.col("second").n_unique().alias("times"), pl.col("second").first().alias("first")
    )
    blocks = heads.join(times, on="heading_line", how="left", maintain_order="left").drop_nulls("start")
    begins_again = (
        (pl.col("start") == pl.col("start").first().over("run"))
        & (pl.col("heading") != pl.col("heading").shift().over("run"))
        & (pl.col("times").fill_null(0).cum_max().shift().over("run") > 1)
        & (pl.col("run") >= int(carried.is_going_on))  # a run of all times after another is never read in pieces
    )
    return blocks.with_columns(begins_again.fill_null(value=False).cum_sum().over("run").alias("segment"))


def _clocked_samples(row: pl.DataFrame, blocks: pl.DataFrame, days: pl.DataFrame) -> pl.DataFrame:
    """The samples of each run: number, start and end of the interval, and whether the start is the end."""
    starts = row.join(blocks.select("heading_line", "start", "first"), on="heading_line", how="left")
    is_day_before = pl.col("start") > pl.col("first") + _HALF_DAY
    day = pl.col("end") // DAY_S * DAY_S
    samples = (
        starts.with_columns((day + pl.col("start") - DAY_S * is_day_before.cast(pl.Int64)).alias("heading_start"))
        .group_by("run", "stretch", "end")
        .agg(pl.col("heading_start").min())
        .sort("run", "stretch", "end")
        .with_columns(
            pl.col("end").shift().over("run", "stretch").alias("before"),
            pl.int_range(pl.len()).over("run").alias("sample") + 1,
        )
    )
    start = pl.coalesce("before", pl.when(pl.col("stretch") == 0).then("heading_start"))
    samples = samples.join(days, on="run", how="left", maintain_order="left").with_columns(start.alias("start"))
    return samples.select(
        "run",
        "stretch",
        "end",
        "sample",
        (pl.col("start") == pl.col("end")).fill_null(value=False).alias("is_at_start"),
        later(pl.col("base"), pl.col("start")).alias("interval_start"),
        later(pl.col("base"), pl.col("end")).alias("interval_end"),
    )


# ---------------------------------------------------------------------------------------------- a stamp above a report
def _reports(name: str, marks: pl.DataFrame, days: pl.DataFrame, placed: Placed, carried: Carried) -> pl.DataFrame:
    """For each line between the rows: the number of the report that it belongs to, and the report's interval."""
    is_cpu = pl.col("is_heading") & pl.col("is_total_cpu")
    first = pl.when("is_heading").then("heading").drop_nulls().first().over("run")
    if carried.first_heading is not None:
        first = pl.when(pl.col("run") == 0).then(pl.lit(carried.first_heading, pl.Int32)).otherwise(first)
    starts = (
        pl.when(pl.col("run_value").is_in(list(carried.stamped)) | is_kind("stamp").any().over("run"))
        .then(is_kind("stamp"))
        .when(pl.col("run_value").is_in(list(carried.headed)) | is_cpu.any().over("run"))
        .then(is_cpu)
        .otherwise(pl.col("is_heading") & (pl.col("heading") == first))
    )
    reports = marks.with_columns(starts.fill_null(value=False).cum_sum().over("run").cast(pl.UInt32).alias("sample"))
    stamps = reports.filter(is_kind("stamp")).select("line", "run", "sample", "text")
    if stamps.is_empty():
        nothing = [
            pl.lit(None, dtype=PLACE[column]).alias(column)
            for column in ("interval_start", "interval_end", "time_of_day")
        ]
        return reports.select("run", "sample", *nothing, mark="line")
    stamps = read_stamps(stamps, placed.runs.order.order).join(days, on="run", how="left", maintain_order="left")
    has_clocks = stamps.get_column("second").null_count() < stamps.height
    stamps = stamps.with_columns(
        pl.coalesce("time", *([later(pl.col("base"), past_midnights(pl.col("second")))] if has_clocks else [])).alias(
            "interval_end"
        ),
    )
    _zones(stamps, placed)
    before = pl.col("interval_end").shift().over("run")
    for line, stamp in stamps.filter(pl.col("interval_end") < before).select("line", "text").iter_rows():
        placed.notes.append(
            Diagnostic(name, line, None, "clock", stamp, "the clock goes back: no start of this interval")
        )
    bad = pl.col("interval_end").is_null() & pl.col("second").is_null()
    _note_timeless(name, stamps.filter(bad).select("line", "text"), placed)
    stamps = stamps.select(
        "run",
        "sample",
        "interval_end",
        pl.when(before <= pl.col("interval_end")).then(before).alias("interval_start"),
        pl.coalesce(_time(pl.col("second")), pl.col("interval_end").dt.time()).alias("time_of_day"),
    ).unique(["run", "sample"], keep="last", maintain_order=True)
    return reports.select("run", "sample", mark="line").join(
        stamps, on=["run", "sample"], how="left", maintain_order="left"
    )


def _note_timeless(name: str, stamps: pl.DataFrame, placed: Placed) -> None:
    """Notes stamps, each with its line, that name no moment."""
    for line, stamp in stamps.iter_rows():
        placed.notes.append(Diagnostic(name, line, None, "clock", stamp, "no date or time of day that exists"))


def _zones(rows: pl.DataFrame, placed: Placed) -> None:
    """Notes the zones that stamps name."""
    for run, zones in rows.group_by("run").agg(pl.col("zone").drop_nulls().unique()).iter_rows():
        placed.zones.setdefault(run, set()).update(zones)


def _moves_too_fast(part: Part) -> bool:
    """Whether rates and shares that were written once a run move faster than means since the start of the system can.

    A mean over at least `_INTERVALS` does not fall to less than half in the next one, and a share of the time does not
    change by more than `_POINTS`; at a restart they do.
    """
    if part.frame.get_column("run").n_unique() <= _INTERVALS:
        return False
    rates = [one for one in part.halves if one.endswith(("_per_s", "_percent")) and one in part.frame.columns]
    keys = ["run", *part.heading.keys]
    if not rates or not set(keys) <= set(part.frame.columns) or part.frame.select(keys).is_duplicated().any():
        return False
    before = pl.col(rates).shift().over(keys[1:]) if keys[1:] else pl.col(rates).shift()
    shares = pl.col([one for one in rates if one.endswith("_percent")])
    was = shares.shift().over(keys[1:]) if keys[1:] else shares.shift()
    moves = part.frame.select(
        "run",
        falls=pl.any_horizontal((before >= 1) & (pl.col(rates) < before / 2)),
        jumps=pl.any_horizontal((shares - was).abs() > _POINTS),
    )
    late = moves.filter(pl.col("run") >= pl.col("run").min() + _INTERVALS, pl.col("falls") | pl.col("jumps"))
    return late.get_column("run").n_unique() >= _LEAST_MOVES


def _by_report(part: Part, reports: pl.DataFrame, headless: frozenset[int]) -> Part:
    frame = _unplaced(part).join(reports.drop("run"), on="mark", how="left", maintain_order="left")
    if part.heading.of.is_headed_once:
        again = pl.int_range(pl.len()).over("run", "sample", *part.heading.keys).alias("again")
        numbered = pl.struct("sample", "again").rank("dense").over("run").cast(pl.UInt32)
        frame = frame.with_columns(again).with_columns(numbered.alias("sample"))
    is_first = (pl.col("sample") == 1) & ~pl.col("run").is_in(list(headless)) & pl.lit(not part.heading.of.has_no_boot)
    return _ordered(part, frame.with_columns(is_first.alias("is_since_boot")))


# ------------------------------------------------------------------------------------------------ each row is a sample
def _by_row(name: str, part: Part, placed: Placed, headless: frozenset[int], doubtful: frozenset[int]) -> Part:
    frame = _unplaced(part).with_columns((pl.int_range(pl.len()).over("run") + 1).alias("sample"))
    end: pl.Expr = pl.lit(None, dtype=pl.Datetime("us"))
    clock: pl.Expr = pl.lit(None, dtype=pl.Time())  # a clock without a date
    if part.heading.has_stamp:
        second = seconds_of_day(pl.col("stamp")).alias("second")
        read = frame.select("line", "run", "stamp", dated_clock(pl.col("stamp"), "ymd").alias("at"), second).unnest(
            "at"
        )
        if part.heading.zone is not None:
            read = read.with_columns(pl.coalesce("zone", pl.lit(part.heading.zone)).alias("zone"))
        _zones(read, placed)
        timeless = read.filter(pl.col("time").is_null() & pl.col("second").is_null())
        _note_timeless(name, timeless.select("line", "stamp"), placed)
        frame = frame.with_columns(read.get_column("time").alias("end"), read.get_column("second"))
        end, clock = pl.col("end"), _time(pl.col("second"))
    before = end.shift().over("run")
    is_first = (pl.col("sample") == 1) & ~pl.col("run").is_in(list(headless))
    is_below = pl.col("heading_line") != pl.col("heading_line").shift().over("run")
    is_either = pl.col("heading_line").is_in(list(doubtful)) & is_below
    for line in frame.filter(is_either).get_column("line"):
        placed.notes.append(Diagnostic(name, line, None, "since_boot", None, _EITHER))
    return _ordered(
        part,
        frame.with_columns(
            pl.when(~is_either.fill_null(value=False)).then(is_first).alias("is_since_boot"),
            pl.when(before <= end).then(before).alias("interval_start"),
            end.alias("interval_end"),
            pl.coalesce(end.dt.time(), clock).alias("time_of_day"),
        ),
    )


def _timed(name: str, part: Part, placed: Placed) -> Part:
    """``pidstat -h`` and biopattern: seconds since 1970, or a time of day, in the first column."""
    epoch = since_1970(pl.col("clock").cast(pl.Int64, strict=False))
    frame = _unplaced(part).with_columns(epoch.alias("end"), seconds_of_day(pl.col("clock")).alias("second"))
    timeless = frame.filter(pl.col("end").is_null() & pl.col("second").is_null())
    _note_timeless(name, timeless.select("line", "clock"), placed)
    frame = frame.with_columns(past_midnights(pl.col("second")))
    frame = frame.join(_days(placed.runs.runs), on="run", how="left", maintain_order="left")
    frame = frame.with_columns(pl.coalesce("end", later(pl.col("base"), pl.col("second"))).alias("interval_end"))
    zone = pl.when(pl.col("end").is_not_null()).then(pl.lit("UTC")).alias("zone")
    _zones(frame.select("run", zone), placed)
    order = pl.coalesce(pl.col("end").dt.epoch("s"), "second")
    placed.is_ordered &= bool(frame.select((order >= order.shift().over("run")).fill_null(value=True).all()).item())
    samples = frame.select("run", order.alias("order")).unique().sort("run", "order")
    samples = samples.with_columns((pl.int_range(pl.len()).over("run") + 1).alias("sample"))
    frame = frame.with_columns(order.alias("order")).join(
        samples, on=["run", "order"], how="left", maintain_order="left"
    )
    ends = frame.select("run", "sample", "interval_end").unique().sort("run", "sample")
    ends = ends.with_columns(pl.col("interval_end").shift().over("run").alias("interval_start")).drop("interval_end")
    frame = frame.join(ends, on=["run", "sample"], how="left", maintain_order="left")
    time = pl.coalesce(_time(pl.col("second")), pl.col("end").dt.time())
    # one stamp only: a sample of an interval, or the mean since the start of a command without one
    is_alone = pl.when(pl.col("sample").max().over("run") > 1).then(pl.lit(False)).alias("is_since_boot")
    return _ordered(part, frame.with_columns(is_alone, time.alias("time_of_day")))
