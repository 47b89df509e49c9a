"""The periods of many reports, and where they do not follow each other: restarts, gaps, overlaps, repeated reports."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from awrparse.info import started_between

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

#: Columns of `periods`.
PERIODS: Final = pl.Schema(
    {
        "report": pl.String(),
        "part": pl.Int64(),
        "kind": pl.String(),
        "db_name": pl.String(),
        "db_id": pl.Int64(),
        "instance_name": pl.String(),
        "begin_snap_id": pl.Int64(),
        "end_snap_id": pl.Int64(),
        "begin_time": pl.Datetime("us"),
        "end_time": pl.Datetime("us"),
        "elapsed_s": pl.Float64(),
        "db_time_s": pl.Float64(),
        "startup_time": pl.Datetime("us"),
        "startup_hour": pl.Datetime("us"),
        "form": pl.String(),
        "release": pl.String(),
        "cpus": pl.Int64(),
    }
)
#: Columns of `find_breaks`.
BREAKS: Final = pl.Schema(
    {
        "db_name": pl.String(),
        "db_id": pl.Int64(),
        "instance_name": pl.String(),
        "kind": pl.String(),
        "from_time": pl.Datetime("us"),
        "to_time": pl.Datetime("us"),
        "startup_time": pl.Datetime("us"),
        "before": pl.String(),
        "after": pl.String(),
        "reason": pl.String(),
    }
)
#: Columns that name an instance.
INSTANCE: Final = ("db_name", "db_id", "instance_name")
#: Reports of a period between two snapshots of one instance; others have no place on a time line.
KINDS: Final = ("awr", "awr_pdb", "statspack", "fragment")
#: Waits for one block from a file: their average is the latency of a read as sessions see it.
SINGLE_BLOCK_READS: Final = ("db file sequential read", "cell single block physical read")
#: Averages of fewer waits jump: they are compared with no other.
LEAST_WAITS: Final = 100
#: Snapshots are timed to the second.
CLOCK_S: Final = 1.0
#: Columns that not every table `info` has.
_OPTIONAL: Final = {
    **dict.fromkeys(("container", "host", "invalid"), pl.String()),
    "startup_hour": pl.Datetime("us"),
}


def periods(info: pl.DataFrame) -> pl.DataFrame:
    """The periods of reports, one row each, by instance and in order of time.

    Reports without times, with a restart between their snapshots, of a DB time below 0, or that say of themselves that
    they are not valid, are left out, and those that are of no period between two snapshots of an instance (ASH, ADDM,
    compare-period and cluster reports).  The instance of a report on a
    pluggable database has its name after a `/`: such reports are of one instance and its snapshots, and still not of
    the same activity.  Where two hosts have reports of one time of an instance, as a copy of a database has, its name
    has the host after an `@`; where two databases have an instance of this name, it has the database id in brackets.

    Args:
        info: The table `info` of many reports, as `awrparse.read_awrs` gives it.

    Returns:
        The columns `PERIODS`.
    """
    is_timed = pl.col("begin_time").is_not_null() & pl.col("end_time").is_not_null()
    started = pl.coalesce("startup_time", "startup_hour")
    is_void = (pl.col("begin_time") < started) & (started <= pl.col("end_time")) | (pl.col("db_time_s") < 0)
    every = info.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in _OPTIONAL.items() if name not in info.columns
    )
    is_valid = pl.col("invalid").is_null() & ~is_void.fill_null(value=False)
    known = every.filter(is_timed & pl.col("kind").is_in(KINDS) & is_valid)
    of_both = pl.concat_str("instance_name", "container", separator="/", ignore_nulls=True)
    named = known.with_columns(
        instance_name=pl.when(pl.col("container").is_null()).then("instance_name").otherwise(of_both)
    )
    return (
        _told_apart(named)
        .select(pl.col(name).cast(dtype) for name, dtype in PERIODS.items())
        .sort(*INSTANCE, "begin_time", "end_time", "report", "part", maintain_order=True)
    )


def _told_apart(known: pl.DataFrame) -> pl.DataFrame:
    """The periods with the database id, or the host that text reports cut, in names that are of several instances."""
    with_id = pl.format("{} ({})", "instance_name", pl.col("db_id").cast(pl.String).fill_null("?"))
    is_shared = pl.col("db_id").n_unique().over("instance_name") > 1
    known = known.with_columns(instance_name=pl.when(is_shared).then(with_id).otherwise("instance_name"))
    host = pl.col("host").str.to_lowercase()
    is_one = host.str.starts_with(host.shift()) | host.shift().str.starts_with(host)
    is_two = ~is_one & (pl.col("begin_time") < pl.col("end_time").shift())
    ordered = known.sort(*INSTANCE, "begin_time", "end_time", "report", maintain_order=True)
    named = pl.concat_str("instance_name", "host", separator="@", ignore_nulls=True)
    return ordered.with_columns(
        instance_name=pl.when(is_two.any().over(INSTANCE)).then(named).otherwise("instance_name")
    )


def once(periods: pl.DataFrame) -> pl.DataFrame:
    """The periods without those of which others are: each time of an instance counts once.

    Of the reports of one period, such as text and HTML, the first is taken; of one of a day and those of its hours the
    hours, where they cover half of it, else the day.
    """
    names = [*INSTANCE, "kind"]
    single = periods.unique([*names, "begin_time", "end_time"], keep="first", maintain_order=True)
    ordered = single.with_row_index("place").sort("begin_time", "end_time", descending=[False, True])
    dropped: list[int] = []
    for _, rows in ordered.group_by(names, maintain_order=True):
        dropped += _doubled(rows.select("place", "begin_time", "end_time").rows())
    return single.filter(~pl.int_range(pl.len()).is_in(dropped))


def of_instances(frame: pl.DataFrame, periods: pl.DataFrame) -> pl.DataFrame:
    """The rows of a table of many reports that are of these periods, with the names of their instances."""
    named = periods.select("report", "part", *INSTANCE)
    return frame.drop(INSTANCE, strict=False).join(named, on=["report", "part"], maintain_order="left")


def _doubled(spans: list[tuple[int, datetime, datetime]]) -> Iterator[int]:
    """The places of spans, in the order of their begins and the longest first, that hold others or lie in one."""
    for number, (place, _, end) in enumerate(spans):
        within = []
        for other in range(number + 1, len(spans)):
            if spans[other][1] >= end:
                break
            within += [spans[other]] if spans[other][2] <= end else []
        covered = sum((one[2] - one[1] for one in within), timedelta())
        if 2 * covered >= end - spans[number][1]:
            yield place
        else:
            yield from (one[0] for one in within)


def find_breaks(periods: pl.DataFrame) -> pl.DataFrame:
    """Where the reports of an instance do not follow each other: restarts, gaps, overlaps and repeats, with the reason.

    * ``restart``: the instance was started anew.  Statistics began at zero, so no report can cover it.
    * ``gap``: snapshots, or time, lie between two reports that none of those compared covers.
    * ``overlap``: a report begins before the last one ended: their figures are not of different times.
    * ``repeat``: a report is left out (`once`): others are of its time.  All the rest is of the reports that are not.

    Args:
        periods: What `periods` gives.

    Returns:
        The columns `BREAKS`; ``before`` and ``after`` are the reports.

    Examples:
        >>> from datetime import datetime
        >>> hours = [(1, 2), (2, 3), (5, 6)]
        >>> known = pl.DataFrame({name: [None] * 3 for name in PERIODS}, schema=PERIODS).with_columns(
        ...     report=pl.Series(["a", "b", "c"]), form=pl.lit("text"), instance_name=pl.lit("i"),
        ...     begin_snap_id=pl.Series([one for one, _ in hours]), end_snap_id=pl.Series([two for _, two in hours]),
        ...     begin_time=pl.Series([datetime(2026, 1, 1, one) for one, _ in hours]),
        ...     end_time=pl.Series([datetime(2026, 1, 1, two) for _, two in hours]))
        >>> find_breaks(known).select("kind", "before", "after", "reason").rows()
        [('gap', 'b', 'c', 'snapshots 3 to 5, 2 h 00 min: no report compared covers them')]
    """
    found = []
    single = once(periods)
    for one, two in pairwise(single.to_dicts()):
        names = {name: two[name] for name in INSTANCE}
        if names != {name: one[name] for name in names}:
            continue
        gap = _break_between(one, two)
        if gap is not None:
            kind, reason = gap
            times = {"from_time": one["end_time"], "to_time": two["begin_time"], "startup_time": None}
            if kind == "restart":
                times["startup_time"] = two["startup_time"]
            found.append(
                {**names, "kind": kind, **times, "before": one["report"], "after": two["report"], "reason": reason}
            )
    repeats = periods.join(single, on=["report", "part"], how="anti", nulls_equal=True).select(
        *INSTANCE,
        kind=pl.lit("repeat"),
        from_time="begin_time",
        to_time="end_time",
        after="report",
        reason=pl.lit("the report is left out: others are of its time"),
    )
    return pl.concat([pl.DataFrame(found, schema=BREAKS), repeats], how="diagonal").sort(*INSTANCE, "from_time")


def _break_between(one: dict[str, Any], two: dict[str, Any]) -> tuple[str, str] | None:
    """Kind and reason of a break between neighbours; None where they follow each other."""
    away = (two["begin_time"] - one["end_time"]).total_seconds()
    snaps = None
    is_alike = one["kind"] == two["kind"]  # Statspack counts its own snapshots
    if is_alike and one["end_snap_id"] is not None and two["begin_snap_id"] is not None:
        snaps = two["begin_snap_id"] - one["end_snap_id"]
    if away < -CLOCK_S:
        return "overlap", f"the report begins {_length(-away)} before the last one ends"
    before, after = _started(one), _started(two)
    if before is not None and after is not None and after[0] > before[1]:
        when = f"at {after[0]}"
        if two["startup_time"] is None:
            first, last = max(after[0], one["end_time"]), min(after[1], two["begin_time"])
            when = f"between {first:%Y-%m-%d %H:%M} and {last:%H:%M}"
        return "restart", f"the instance was started {when}; {_length(away)} are in no report"
    if (snaps and away > 0) or (snaps is None and away > CLOCK_S):
        named = f"snapshots {one['end_snap_id']} to {two['begin_snap_id']}, " if snaps else ""
        return "gap", f"{named}{_length(away)}: no report compared covers them"
    return None


def _started(row: dict[str, Any]) -> tuple[datetime, datetime] | None:
    """From when to when at the latest the instance of a report was started; None where it is not known."""
    moment, hour = row["startup_time"], row["startup_hour"]
    return started_between(moment or hour, is_hour=moment is None) if moment or hour else None


def _length(seconds: float) -> str:
    """A stretch of time in words."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes >= 3 * 1440:
        return f"{minutes / 1440:,.0f} days"
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"
