"""The clock of a trace: ``tim`` counts microseconds from an unknown start; stamps say what the time of day was.

A process's clock goes on over all its files.  Where ``tim`` runs back by more than 1 s, files of different hosts
or boots were put together: there a new ``clock`` begins, and times of different clocks are never subtracted.

A stamp stands between a line written before it and one written after it, so the difference between wall clock and
``tim`` lies between two bounds.  All stamps of a clock together give the narrowest.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

import polars as pl

from logframe import Diagnostic
from sqltraceparse.grammar import GRAMMAR
from sqltraceparse.nesting import are_alike
from sqltraceparse.schema import CLOCK

#: Lines of calls that end at nearly the same time are not in the order of their ``tim``.
STEP_US: Final = 1_000_000
#: A line is written this late after its ``tim`` at most, as a rule.
_WRITING_US: Final = 20_000
#: What the clock of ``tim`` may differ from the wall clock before it is reported.
_MOST_DRIFT: Final = 0.005
#: Microseconds of a unit of ``tim`` in Oracle 10.2 on some platforms.
_UNIT: Final = 1.024
#: Clocks of one trace do not differ by this factor.
_FAR: Final = 2
#: Stamps closer than this do not describe the rate.
_RATE_FROM_US: Final = 3_000_000
_1970: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - of stamps in whatever zone


def with_clock(
    tims: pl.DataFrame, name: str, before: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """The lines with a ``tim`` (``process``, ``line``, ``tim_us``) with ``clock``, counted from 1 in each process.

    A ``tim`` that alone lies before or after both its neighbours is damaged: it is null in the result.

    Args:
        tims: the lines.
        name: of the log.
        before: the last line before them of each process, with ``clock``; it is the first of the result.
    """
    if before is not None and before.height:
        found, said = with_clock(pl.concat([before.drop("clock"), tims], how="diagonal_relaxed"), name)
        counted = before.filter(pl.col("clock") > 1).select("process", _before=pl.col("clock") - 1)
        if counted.height:
            found = found.join(counted, on="process", how="left", nulls_equal=True, maintain_order="left")
            found = found.with_columns(pl.col("clock") + pl.col("_before").fill_null(0)).drop("_before")
        return found, said
    rows: list[Diagnostic] = []
    before_it = pl.col("tim_us").diff()
    is_single = tims.height > 0 and are_alike(tims.get_column("process"))
    step = ((before_it if is_single else before_it.over("process")) < -STEP_US).fill_null(value=False)
    odd = tims.filter(step).get_column("process").unique()
    first = pl.lit(1, pl.Int64).alias("clock")
    if odd.is_empty():
        return tims.with_columns(first), rows
    is_odd = pl.col("process").is_in(odd.implode(), nulls_equal=True)
    parts = [tims.filter(~is_odd).with_columns(first)]
    for part in tims.filter(is_odd).partition_by("process", maintain_order=True):
        tim = part.get_column("tim_us")
        steps = (tim.diff() < -STEP_US).fill_null(value=False).arg_true().to_list()
        damaged = [alone for place in steps if (alone := _alone(tim, place)) is not None]
        if damaged:
            tim = tim.scatter(damaged, None)
            part = part.with_columns(tim)  # noqa: PLW2901 - the rest works on what is left
            for place in damaged:
                reason = "the tim of this line does not fit those of the lines around it: it is damaged and left out"
                rows.append(Diagnostic(name, int(part.item(place, "line")), None, "clock", None, reason))
            steps = (tim.forward_fill().diff() < -STEP_US).fill_null(value=False).arg_true().to_list()
        for place in steps:
            before, after = tim.forward_fill()[place - 1], tim[place]
            reason = (
                f"tim goes back by {(before - after) / 1e6:,.3f} s: another clock begins; times before and after it "
                "are not compared"
            )
            rows.append(Diagnostic(name, int(part.item(place, "line")), None, "clock", None, reason))
        starts = pl.Series("clock", [0] * part.height, dtype=pl.Int64).scatter(steps, 1)
        parts.append(part.with_columns((starts.cum_sum() + 1).alias("clock")))
    return pl.concat(parts).sort("line", maintain_order=True), rows


def _alone(tim: pl.Series, place: int) -> int | None:
    """Where time goes back, the one value that fits neither of its neighbours, which follow one another."""
    before = tim[place - 1]
    if place + 1 == len(tim):
        is_cut = tim[place] < before / 2  # the last digits are missing
        return place if is_cut else None
    after = tim[place + 1]
    if after is not None and after >= before - STEP_US:
        return place
    around = [tim[place - 2] if place > 1 else None, tim[place], after]
    is_ahead = None not in around and max(around) - min(around) <= STEP_US
    return place - 1 if is_ahead else None


def clocks(
    ranges: pl.DataFrame, said_of: dict[tuple[int | None, int], list[Said]], name: str
) -> tuple[pl.DataFrame, list[Diagnostic]]:
    """What is known of each clock (`CLOCK`): its range, its offset to the wall clock with bounds, its rate.

    Args:
        ranges: one row a clock: ``process``, ``clock``, ``line``, ``first_tim_us``, ``last_tim_us``.
        said_of: what the stamps of each process and clock say (`Stamps.said`).
        name: of the log, for diagnostics.

    Returns:
        ``offset_us`` is to be added to ``tim_us`` for microseconds since 1970, in UTC where the stamps print a zone,
        else in the local time of the host; it lies between ``offset_lo_us`` and ``offset_hi_us`` (null: not bounded).
        ``rate`` is seconds of ``tim`` per second of the wall clock.
    """
    rows: list[Diagnostic] = []
    out = []
    for process, clock, line, first, last in ranges.iter_rows():
        said = said_of.get((process, clock), [])
        rate = _rate(said)
        row: dict[str, object] = {
            "process": process,
            "clock": clock,
            "line": line,
            "stamps": len(said),
            "first_tim_us": first,
            "last_tim_us": last,
            "rate": rate,
        }
        if said:
            row |= _offset([one for one in said if one.is_zoned] or said)
            if rate is not None and not _agrees(rate):
                row["offset_us"] = None
        if rate is not None and abs(rate - 1) > _MOST_DRIFT:
            rows.append(Diagnostic(name, line, None, "clock", None, _drift(rate, said)))
        out.append(row)
    return pl.DataFrame([{key: row.get(key) for key in CLOCK} for row in out], schema=CLOCK), rows


class Said(NamedTuple):
    """What one stamp says of the offset: its bounds, and the times it was made of."""

    low: int
    high: int | None
    wall: int
    tim: int
    is_zoned: bool
    is_alone: bool


class Stamps:
    """The stamps of a log with the times around them.

    A stamp is written with the line after it, or when an attribute changes before that; it is of that line's clock.
    """

    def __init__(self) -> None:
        self._open: pl.DataFrame | None = None
        self._done: list[pl.DataFrame] = []

    def add(self, stamps: pl.DataFrame, tims: pl.DataFrame) -> None:
        """The stamps of the next part of the log.

        Args:
            stamps: ``process``, ``line``, ``name`` (``stamp`` where it stands alone), ``stamp`` (as printed).
            tims: ``process``, ``line``, ``tim_us``, ``clock`` of this part, below the last one of each process before.
        """
        if stamps.is_empty() and self._open is None:
            return
        key = pl.col("process").fill_null(-1).alias("key")
        lines = tims.select(key, "line", "clock", "tim_us")
        found = stamps.with_columns(key).join_asof(
            lines.rename({"clock": "clock_before", "tim_us": "before"}),
            on="line",
            by="key",
            strategy="backward",
            check_sortedness=False,
        )
        waiting = found if self._open is None else pl.concat([self._open, found])
        after = waiting.join_asof(
            lines.rename({"tim_us": "after"}), on="line", by="key", strategy="forward", check_sortedness=False
        )
        self._done.append(after.filter(pl.col("after").is_not_null()))
        self._open = after.filter(pl.col("after").is_null()).select(waiting.columns)

    def name_process(self, process: int) -> None:
        """The process of the stamps that wait for a line, if none was named before."""
        if self._open is not None:
            self._open = self._open.with_columns(
                pl.col("process").fill_null(pl.lit(process, pl.Int64)), key=pl.lit(process, pl.Int64)
            )

    def said(self, process: int | None) -> dict[tuple[int | None, int], list[Said]]:
        """What each stamp says, by process and clock; `process` is that of lines before the first that names one."""
        found: dict[tuple[int | None, int], list[Said]] = {}
        if not self._done:
            return found
        around = (
            pl.concat(self._done)
            .with_columns(
                pl.col("process").fill_null(pl.lit(process, pl.Int64)),
                before=pl.when(pl.col("clock_before") == pl.col("clock")).then("before"),
            )
            .select("process", "clock", "name", "before", "after", "stamp")
        )
        for owner, clock, name, before, after, stamp in around.iter_rows():
            if (at := wall_time(stamp)) is None:
                continue
            wall, zoned, digits = at
            printed = 10 ** max(0, 6 - digits)
            low = wall - after - _WRITING_US - printed
            # the first stamps are written with the first line, whenever tracing was switched on
            high = None if before is None else wall - before + printed
            if high is None or high >= low:
                said = Said(low, high, wall, after, zoned, name == "stamp")
                found.setdefault((owner, clock), []).append(said)
        return found


def _offset(said: list[Said]) -> dict[str, object]:
    """The offset between bounds in which all stamps agree; where the clocks drift, between the outermost of them."""
    lows = [one.low for one in said]
    highs = [one.high for one in said if one.high is not None]
    nearest = sorted(one.wall - one.tim for one in said)
    low, high, offset = max(lows), min(highs, default=None), nearest[-1]
    if high is not None and low > high:
        low, high, offset = min(lows), max(highs), nearest[len(nearest) // 2]
    if high is not None:
        offset = min(offset, high)
    return {"offset_us": offset, "offset_lo_us": low, "offset_hi_us": high, "zone_is_known": said[0].is_zoned}


def _rate(said: list[Said]) -> float | None:
    """Seconds of ``tim`` per second of the stamps, from the first and the last that stand directly before a line."""
    exact = [one for one in said if one.is_alone or one.high is None]
    if len(exact) < 2 or exact[-1].wall - exact[0].wall < _RATE_FROM_US:
        return None
    return (exact[-1].tim - exact[0].tim) / (exact[-1].wall - exact[0].wall)


def _agrees(rate: float) -> bool:
    """May this be the rate of one clock?  No clock of a database is off by more than 1.024."""
    return 0.9 < rate < 1.1


def _drift(rate: float, said: list[Said]) -> str:
    """Why times of this clock are not what they seem."""
    if abs(rate - 1 / _UNIT) < _MOST_DRIFT:
        return (
            f"tim runs at {rate:.4f} times the speed of the date lines (***): the times are {100 * (1 - rate):.1f} % "
            f"too short (Oracle 10.2 counts units of {_UNIT} us)"
        )
    if 1 / _FAR < rate < _FAR:  # times run on in order: no line was moved
        wall = (said[-1].wall - said[0].wall) / 1e6
        return f"tim advances {rate:.3g} times as fast as the date lines (***), which are {wall:,.1f} s apart"
    return "tim and the date lines (***) do not agree: lines were moved, or parts of several traces were put together"


def wall_time(stamp: str) -> tuple[int, bool, int] | None:
    """A printed stamp: microseconds since 1970, whether in UTC by a zone, and the digits of the second; None of none.

    Examples:
        >>> wall_time("2013-08-26T14:40:23.035+02:00"), wall_time("2013-08-26 14402300")
        ((1377520823035000, True, 3), None)
    """
    text = stamp.replace("T", " ", 1)
    local, zone = _pattern("{LOCAL_STAMP}").match(text), _pattern("(?P<zone>{ZONE}) *$").search(text)
    try:
        at = None if local is None else datetime.fromisoformat(local.group())
    except ValueError:
        at = None
    if local is None or at is None:
        return None
    shift = 0
    if zone is not None:
        sign, hours, minutes = zone["zone"][0], zone["zone"][1:3], zone["zone"][4:6]
        shift = (int(hours) * 60 + int(minutes)) * (-1 if sign == "-" else 1)
    micros = (at - _1970) // timedelta(microseconds=1) - shift * 60_000_000
    return micros, zone is not None, len(local.group().partition(".")[2])


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(GRAMMAR.pattern(template))
