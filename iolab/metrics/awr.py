"""Metrics of AWR and Statspack reports: times by wait class, and bounds of what several figures say of one quantity.

The frames are the canonical tables of `awrparse.read_awr`, read with ``printed=True``: the ``_lo`` and ``_hi`` beside
each number are what its rounding allows.  Without them the numbers are taken as exact, and figures that are consistent
will seem to contradict each other.

By wait class the time of foreground processes is in shares of DB time, that of background processes beside it.

The two periods of a compare-period report are facts of two reports.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics.lookups import db_time_of
from iolab.metrics.report_facts import ReportFacts, Wait
from iolab.metrics.table import REFUSED, Metric, evaluate, figure_of, metrics_frame, single
from logframe.errors import RefusedError
from logframe.interval import ENDS, Interval, intersect, row_figure
from logframe.oracle import is_idle, wait_class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from awrparse import AwrReport
    from logframe import Source
    from logframe.interval import Figure


#: The columns that name what a row is about, the first that a frame has.
_KEYS: Final = ("event", "wait_class", "statistic")
#: Waits whose time or number is not that of single I/Os.
_EVENT_CAVEATS: Final = {
    "db file parallel read": "one wait is for several requests: this is no time of a read",
    "direct path read": "waits are not reads and their time is not the reads' (asynchronous)",
    "direct path read temp": "waits are not reads and their time is not the reads' (asynchronous)",
}
#: The average of fewer waits may be 10 % off by chance: waits spread about as widely as their average.
_FEW_WAITS: Final = 100
_AVERAGE: Final = "an average is no latency: look at the histogram for modes"


def average_waits(waits: pl.DataFrame) -> pl.DataFrame:
    """Average wait of each event or class: time / waits, and what the report prints, intersected.

    Refused where the two contradict each other beyond rounding (a misparse, or figures of two populations), and where
    there are no waits.  Rows without a number of waits (`DB CPU`) are left out.

    ``total_wait_s * 1000 / waits`` and ``avg_wait_ms`` as shown.  Source: Oracle Database Reference,
    V$SYSTEM_EVENT, TIME_WAITED_MICRO and TOTAL_WAITS.

    Limitations: not a latency: an average hides modes (see `latency_quantiles`). A wait of `db file
    parallel read` is for several requests, waits of `direct path read` are not its reads, and asynchronous reads
    may not be waited for at all. A very short average of reads from disk is that of a cache.

    Args:
        waits: a table with ``waits`` and ``total_wait_s``, and ``avg_wait_ms`` where the report has it: `top_events`,
            `wait_classes`, `foreground_events`, ...

    Returns:
        One row an event or class: its name (``event`` or ``wait_class``), then `METRICS`: ``avg_wait_ms``, in ms.

    Examples:
        >>> waits = pl.DataFrame({"event": ["db file sequential read"], "waits": [55702], "total_wait_s": [11100.0],
        ...     "total_wait_s_lo": [11050.0], "total_wait_s_hi": [11150.0], "avg_wait_ms": [199.49],
        ...     "avg_wait_ms_lo": [199.485], "avg_wait_ms_hi": [199.495]})
        >>> average_waits(waits).select("value", "lo", "hi").row(0)
        (199.49, 199.485, 199.495)
        >>> average_waits(waits.with_columns(event=pl.lit(None, pl.String))).height  # a row without a name is no event
        0
    """

    def compute(total_wait_s: Interval, waits: Interval, avg_wait_ms: Interval | None = None) -> Interval:
        quotient = total_wait_s * 1000 / waits
        return quotient if avg_wait_ms is None else _joint("avg_wait_ms", [quotient, avg_wait_ms])

    return _by_row(waits, "avg_wait_ms", "ms", "total_wait_s * 1000 / waits, and avg_wait_ms as shown", compute)


def total_waits(waits: pl.DataFrame) -> pl.DataFrame:
    """Time waited for each event or class: what the report prints, and average * waits, intersected.

    A time printed as `11.1K` is known to 1 %; its average and number of waits may know it to 0.01 %.

    ``total_wait_s`` as shown and ``avg_wait_ms * waits / 1000``.  Source: as of `average_waits`.

    Limitations: not the time that I/O took: waits of several sessions add up, and what is not waited for
    is not in it.

    Args:
        waits: as for `average_waits`.

    Returns:
        One row an event or class: its name, then `METRICS`: ``total_wait_s``, in s.

    Examples:
        >>> waits = pl.DataFrame({"event": ["db file sequential read"], "waits": [55702], "total_wait_s": [11100.0],
        ...     "total_wait_s_lo": [11050.0], "total_wait_s_hi": [11150.0], "avg_wait_ms": [199.49],
        ...     "avg_wait_ms_lo": [199.485], "avg_wait_ms_hi": [199.495]})
        >>> [round(figure, 1) for figure in total_waits(waits).select("lo", "hi").row(0)]
        [11111.7, 11112.3]
    """

    def compute(total_wait_s: Interval, waits: Interval, avg_wait_ms: Interval | None = None) -> Interval:
        return (
            total_wait_s if avg_wait_ms is None else _joint("total_wait_s", [total_wait_s, avg_wait_ms * waits / 1000])
        )

    return _by_row(waits, "total_wait_s", "s", "total_wait_s as shown, and avg_wait_ms * waits / 1000", compute)


def _joint(name: str, figures: list[Interval]) -> Interval:
    try:
        return intersect(figures)
    except RefusedError as refusal:
        raise RefusedError(f"{name}: {refusal}") from refusal


def key_of(frame: pl.DataFrame) -> str:
    """The column that names what the rows are about.

    Raises:
        KeyError: the frame has none.
    """
    for name in _KEYS:
        if name in frame.columns:
            return name
    raise KeyError(f"no column of {', '.join(_KEYS)} in the frame; it has {', '.join(frame.columns)}")


def _by_row(
    waits: pl.DataFrame, metric: str, unit: str, formula: str, compute: Callable[..., Interval]
) -> pl.DataFrame:
    key = key_of(waits)
    names: list[str] = []
    metrics: list[Metric] = []
    for row in waits.iter_rows(named=True):
        if row["waits"] is None or row[key] is None:
            continue
        shown = {name: row_figure(row, name) for name in ("total_wait_s", "waits", "avg_wait_ms")}
        inputs: dict[str, Figure] = {
            name: figure for name, figure in shown.items() if figure is not None or name != "avg_wait_ms"
        }
        caveats = [_AVERAGE] * (metric == "avg_wait_ms")
        if metric == "avg_wait_ms" and 0 < row["waits"] < _FEW_WAITS:
            caveats.append(f"of {row['waits']:,} waits: how far chance moves their average is not in the bounds")
        if row[key] in _EVENT_CAVEATS:
            caveats.append(_EVENT_CAVEATS[row[key]])
        names.append(row[key])
        metrics.append(evaluate(metric, unit, formula, inputs, compute, caveats))
    return metrics_frame(metrics, **{key: pl.Series(names, dtype=pl.String)})


def db_time(*waits: pl.DataFrame) -> pl.DataFrame:
    """DB time of the report's period, inferred: the one time that all rows' time / share of DB time allow.

    The shares of events and of classes are of the same DB time, so both tables may be given.  Times are joined with
    average * waits first.  Refused when the rows contradict each other.

    Shares of total call time (Statspack and 10.2: `call_time_pct`) are of another base, and give no DB time.

    Source: Oracle Database Performance Tuning Guide, DB time; arithmetic on the report's `% DB time`.

    Limitations: the report's tables are of different populations (background waits in one of them is
    allowed: shares may exceed 100 %), or were read without bounds.

    Args:
        waits: tables with ``total_wait_s`` and ``db_time_pct``: `top_events`, `wait_classes`, ...

    Returns:
        One row (`METRICS`): ``db_time_s``, in s.

    Examples:
        >>> waits = pl.DataFrame({"event": ["a", "b"], "waits": [10, 10], "total_wait_s": [74.1, 25.9],
        ...     "db_time_pct": [74.1, 25.9], "db_time_pct_lo": [74.05, 25.85], "db_time_pct_hi": [74.15, 25.95]})
        >>> [round(figure, 2) for figure in db_time(waits).select("lo", "hi").row(0)]
        [99.93, 100.07]
    """
    figures: list[Interval] = []
    for frame in waits:
        for _, time, row in _times(frame):
            share = row_figure(row, "db_time_pct")
            if share is not None and share.lo > 0 and time.lo > 0:
                figures.append(time * 100 / share)
    return single(
        _from_rows(
            "db_time_s",
            "intersection over rows of total_wait_s / db_time_pct",
            figures,
            "no row shows a time and a share of DB time above zero",
        )
    )


def elapsed(wait_classes: pl.DataFrame) -> pl.DataFrame:
    """Length of the report's period, inferred: the one time that all classes' time / average active sessions allow.

    It needs no header, and it shows when a report does not cover what its author says.  Refused when the rows
    contradict each other, or show no average active sessions above zero.

    ``total_wait_s / avg_active_sessions``.  Source: arithmetic on the report's table of wait classes.

    Limitations: only small classes are shown: 0.1 active sessions are anything from 0.05 to 0.15. Where
    the report has a head, its Elapsed is better evidence.

    Args:
        wait_classes: the table `wait_classes` of a report.

    Returns:
        One row (`METRICS`): ``elapsed_s``, in s.

    Examples:
        >>> classes = pl.DataFrame({"wait_class": ["User I/O"], "waits": [71514], "total_wait_s": [15558.0],
        ...     "avg_active_sessions": [8.3], "avg_active_sessions_lo": [8.25], "avg_active_sessions_hi": [8.35]})
        >>> [round(figure) for figure in elapsed(classes).select("lo", "hi").row(0)]
        [1863, 1886]
    """
    figures: list[Interval] = []
    for _, time, row in _times(wait_classes):
        sessions = row_figure(row, "avg_active_sessions")
        if sessions is not None and sessions.lo > 0 and time.lo > 0:
            figures.append(time / sessions)
    return single(
        _from_rows(
            "elapsed_s",
            "intersection over classes of total_wait_s / avg_active_sessions",
            figures,
            "no class shows a time and average active sessions above zero",
        )
    )


def _times(frame: pl.DataFrame) -> list[tuple[str, Interval, dict[str, object]]]:
    """Each row's name and time, joined with average * waits where that is possible, and the row."""
    key = key_of(frame)
    found = []
    for row in frame.iter_rows(named=True):
        time, waits, average = (row_figure(row, name) for name in ("total_wait_s", "waits", "avg_wait_ms"))
        if time is None:
            continue
        if waits is not None and average is not None:
            try:
                time = intersect([time, average * waits / 1000])
            except RefusedError:
                continue  # `average_waits` says so; the row is of two populations
        found.append((str(row[key]), time, row))
    return found


def _from_rows(metric: str, formula: str, figures: list[Interval], nothing: str) -> Metric:
    basis = f"{formula}; {len(figures)} rows"
    if not figures:
        return Metric.refused(metric, "s", nothing, basis=basis)
    try:
        joint = intersect(figures)
    except RefusedError as refusal:
        return Metric.refused(metric, "s", str(refusal), basis=basis)
    middle = (joint.lo + joint.hi) / 2  # no row is better than another: their quotients differ by rounding alone
    return Metric(
        metric,
        middle,
        joint.lo,
        joint.hi,
        "s",
        basis,
        "inferred from rounded figures; the value is the middle of the bounds",
    )


def narrow_waits(events: pl.DataFrame, others: pl.DataFrame, keys: Sequence[str] = ("event",)) -> pl.DataFrame:
    """Waits with the times and averages that another table of the same report prints of them, intersected.

    A report prints the same waits as top events and as foreground events, now one and now the other with more digits.
    An event whose numbers of waits differ, or whose figures contradict each other, is left as it is.

    Args:
        events: a table with ``event``, ``waits``, ``total_wait_s`` and ``avg_wait_ms``, and their bounds.
        others: the other table; its first row of an event counts.
        keys: the columns that name an event: of many reports those of the report, too.

    Returns:
        The rows and columns of `events`.

    Examples:
        >>> def waits(time): return pl.DataFrame([("log file sync", 9, *time, 12.0, 11.5, 12.5)], orient="row",
        ...     schema=["event", "waits", "total_wait_s", "total_wait_s_lo", "total_wait_s_hi",
        ...     "avg_wait_ms", "avg_wait_ms_lo", "avg_wait_ms_hi"])
        >>> narrow_waits(waits((0.1, 0.05, 0.15)), waits((0.108, 0.1075, 0.1085))).item(0, "total_wait_s")
        0.108
    """
    columns = [name for name in ("total_wait_s", "avg_wait_ms") if f"{name}_lo" in events.columns]
    if events.is_empty() or others.is_empty() or not all(f"{name}_lo" in others.columns for name in columns):
        return events
    bounds = [f"{name}{end}" for name in columns for end in ("", "_lo", "_hi")]
    listed = others.select(*keys, "waits", *bounds).unique([*keys, "waits"], keep="first", maintain_order=True)
    joined = events.join(
        listed, on=[*keys, "waits"], how="left", maintain_order="left", suffix="_other", nulls_equal=True
    )
    narrowed: list[pl.Expr] = []
    for name in columns:
        own, other = ([pl.col(f"{name}{end}{side}") for end in ("", "_lo", "_hi")] for side in ("", "_other"))
        agrees, joint = intersected(own, other)
        is_known = agrees & other[0].is_not_null() & own[0].is_not_null()
        narrowed += [pl.when(is_known).then(new).otherwise(old) for new, old in zip(joint, own, strict=True)]
    names = [f"{name}{end}" for name in columns for end in ("", "_lo", "_hi")]
    named = [one.alias(name) for one, name in zip(narrowed, names, strict=True)]
    return joined.with_columns(named).select(events.columns)


def foreground_waits(
    own: pl.DataFrame, every: pl.DataFrame, background: pl.DataFrame, report: Sequence[str] = ("report", "part")
) -> pl.DataFrame:
    """Waits of foreground sessions in many reports: of releases that print all waits, those less the background's.

    Without the table of background events nothing is known of the foreground.

    Args:
        own: the table `foreground_events` of the reports, with its bounds.
        every: the table `wait_events`, which holds foreground and background (10.2 and earlier, Statspack).
        background: the table `background_events`.
        report: the columns that name a report.

    Returns:
        The columns of `own`; a difference has no average but that of its time and its waits.
    """
    keys, figures = [*report, "event"], ("waits", "total_wait_s")
    older = every.join(own, on=report, how="anti").join(background, on=report, how="semi")
    less = background.unique(keys, keep="first").select(*keys, *(f"{name}{end}" for name in figures for end in ENDS))
    both = older.join(less, on=keys, how="left", suffix="_less", maintain_order="left")
    is_less = pl.col("waits_less").is_not_null()
    made = [
        pl.when(is_less)
        .then((pl.col(f"{name}{end}") - pl.col(f"{name}{away}_less")).clip(0))
        .otherwise(pl.col(f"{name}{end}"))
        for name in figures
        for end, away in zip(ENDS, ("", "_hi", "_lo"), strict=True)
    ]
    averages = [pl.when(~is_less).then(pl.col(f"avg_wait_ms{end}")).alias(f"avg_wait_ms{end}") for end in ENDS]
    found = both.with_columns(made + averages).filter(pl.col("waits_hi") > 0, pl.col("total_wait_s_hi") > 0)
    return pl.concat([own, found.select(name for name in own.columns if name in found.columns)], how="diagonal")


def intersected(own: Sequence[pl.Expr], other: Sequence[pl.Expr]) -> tuple[pl.Expr, list[pl.Expr]]:
    """Whether two figures of one quantity agree, and both as one: value, lower and upper bound; null bounds nothing."""
    lo, hi = pl.max_horizontal(own[1], other[1]), pl.min_horizontal(own[2], other[2])
    is_narrower = (other[2] - other[1]) < (own[2] - own[1])
    return lo <= hi, [pl.when(is_narrower).then(other[0]).otherwise(own[0]).clip(lo, hi), lo, hi]


def class_shares(wait_classes: pl.DataFrame, db_time_s: Figure = None) -> pl.DataFrame:
    """Each class's share of DB time: the share as shown, and time / DB time where that is given, intersected.

    Shares of more than 100 % are legal: the class table holds background waits, which are no DB time.

    ``db_time_pct / 100`` as shown and ``total_wait_s / db_time_s``.  Source: Oracle Database Performance Tuning
    Guide, DB time.

    Limitations: not parts of one whole: a class may hold background waits.

    Args:
        wait_classes: the table `wait_classes` of a report.
        db_time_s: DB time, where it is known, such as from `db_time`.

    Returns:
        One row a class: ``wait_class``, then `METRICS`: ``db_time_share``, a ratio.

    Examples:
        >>> classes = pl.DataFrame({"wait_class": ["User I/O"], "waits": [1], "total_wait_s": [15558.0],
        ...     "db_time_pct": [103.7], "db_time_pct_lo": [103.65], "db_time_pct_hi": [103.75]})
        >>> class_shares(classes).select("value", "caveats").row(0)
        (1.037, 'above 1: background waits are in the class, and no part of DB time')
    """
    key = key_of(wait_classes)
    known = {name: time for name, time, _ in _times(wait_classes)}
    names: list[str] = []
    metrics: list[Metric] = []
    for row in wait_classes.iter_rows(named=True):
        shown, time = row_figure(row, "db_time_pct"), known.get(row[key])
        inputs: dict[str, Figure] = {"db_time_pct": shown}
        if db_time_s is not None and time is not None:
            inputs = {**({} if shown is None else inputs), "total_wait_s": time, "db_time_s": db_time_s}

        def compute(
            db_time_pct: Interval | None = None, total_wait_s: Interval | None = None, db_time_s: Interval | None = None
        ) -> Interval:
            shares = [] if db_time_pct is None else [db_time_pct / 100]
            shares += [] if total_wait_s is None or db_time_s is None else [total_wait_s / db_time_s]
            return intersect(shares)

        above = "above 1: background waits are in the class, and no part of DB time"
        caveats = (above,) if shown is not None and shown.lo > 100 else ()
        names.append(row[key])
        formula = "db_time_pct / 100 as shown, and total_wait_s / db_time_s"
        metrics.append(evaluate("db_time_share", "ratio", formula, inputs, compute, caveats))
    return metrics_frame(metrics, **{key: pl.Series(names, dtype=pl.String)})


def contradictions(*waits: pl.DataFrame) -> list[str]:
    """The rows whose time, number of waits and average are not of one quantity, each as a sentence; none is best.

    Examples:
        >>> contradictions(pl.DataFrame({"event": ["log file sync"], "waits": [10], "total_wait_s": [1.0],
        ...     "avg_wait_ms": [7.0]}))
        ['log file sync: avg_wait_ms: the figures contradict each other: 100, 7']
    """
    found = []
    for frame in waits:
        averages = average_waits(frame)
        key = averages.columns[0]
        refused = averages.filter(pl.col("caveats").str.contains("contradict", literal=True))
        found += [f"{name}: {why.removeprefix(REFUSED)}" for name, why in refused.select(key, "caveats").iter_rows()]
    return found


#: Columns of `class_times`.  ``share`` is of what ``base`` names, null where that is not known.
CLASS_TIMES: Final = pl.Schema(
    {
        "side": pl.String(),
        "wait_class": pl.String(),
        "total_wait_s": pl.Float64(),
        "total_wait_s_lo": pl.Float64(),
        "total_wait_s_hi": pl.Float64(),
        "share": pl.Float64(),
        "share_lo": pl.Float64(),
        "share_hi": pl.Float64(),
        "base": pl.String(),
    }
)
#: The part of DB time that is neither CPU nor a wait of a foreground class.
UNACCOUNTED: Final = "not accounted for"
#: CPU of background processes, which the time model has and no wait class.
BACKGROUND_CPU: Final = "background CPU"
#: The CPU of foreground sessions, a part of DB time.
CPU: Final = "DB CPU"
_DB_TIME: Final = "DB time"
_ALL: Final = "time of all classes"
#: Instance of rows about all of them in reports of several: their sum, average and standard deviation.
ALL_INSTANCES: Final = frozenset({"*", "avg", "std"})
_NOT_COUNTED: Final = ("Idle",)


def class_times(report: AwrReport | Source) -> pl.DataFrame:
    """Time of each wait class: of foreground sessions as a share of DB time, and of background processes beside it.

    ``side`` is ``foreground`` (waits of sessions and `DB CPU`: parts of DB time), ``background`` (time of all processes
    minus that of the foreground, and the CPU of the background: no part of DB time, shown in the same unit), or ``all``
    in a report that does not tell the two apart: then ``base`` is the time of all classes.  `not accounted for` is the
    DB time that is neither.  Foreground shares may add up to more than 100 %: the CPU and the waits of a report are
    measured apart, and a wait for a latch or for the resource manager may be counted in both.

    Source: Oracle Database Reference, V$SYS_TIME_MODEL (DB time and DB CPU are of foreground sessions),
    V$SYSTEM_EVENT (TOTAL_WAITS and TOTAL_WAITS_FG).

    Limitations: background times where the report's classes contradict DB time (`AwrReport.check`).

    Args:
        report: with bounds or without.

    Returns:
        One row a side and class (`CLASS_TIMES`), the longest first; empty where the report has no wait classes.

    Examples:
        >>> from awrparse import read_awr
        >>> times = class_times(read_awr("sample_data/awr_series/awrrpt_1_4102_4103.txt"))
        >>> times.filter(side="foreground").select(pl.col("share").sum()).item() > 0.99
        True
    """
    report = as_log(report, "awr")
    every, foreground = (
        _wait_classes_times(report, "wait_classes"),
        _wait_classes_times(report, "foreground_wait_classes"),
    )
    if not foreground:
        if not every:
            return pl.DataFrame(schema=CLASS_TIMES)
        return _rows("all", every, Interval.exact(sum(time.value for time in every.values())), _ALL)
    whole = _db_time(report)
    cpu = _model(report, "db cpu")
    if cpu is not None and CPU in foreground:
        foreground[CPU] = _narrowed(foreground[CPU], cpu)
    frames = [_rows("foreground", foreground, whole, _DB_TIME)]
    if whole is not None and CPU in foreground:
        rest = whole
        for time in foreground.values():
            rest -= time
        if rest.lo > 0:
            frames.append(_rows("foreground", {UNACCOUNTED: rest}, whole, _DB_TIME))
    other = {
        name: _not_below_zero(time - foreground[name]) if name in foreground else time
        for name, time in every.items()
        if name != CPU
    }
    background_cpu = _model(report, "background cpu time")
    if background_cpu is not None:
        other[BACKGROUND_CPU] = background_cpu
    frames.append(_rows("background", {name: time for name, time in other.items() if time.value > 0}, whole, _DB_TIME))
    return pl.concat(frames)


def _rows(side: str, times: dict[str, Interval], whole: Interval | None, base: str) -> pl.DataFrame:
    rows = []
    for name, time in sorted(times.items(), key=lambda item: -item[1].value):
        part = time / whole if whole is not None and whole.lo > 0 else None
        share = (None, None, None) if part is None else (part.value, part.lo, part.hi)
        rows.append((side, name, time.value, time.lo, time.hi, *share, base))
    return pl.DataFrame(rows, schema=CLASS_TIMES, orient="row")


def _wait_classes_times(report: AwrReport, table: str) -> dict[str, Interval]:
    """The time of each class; of several instances the sum."""
    found: dict[str, Interval] = {}
    if table not in report:
        return found
    for row in report.with_bounds(table).iter_rows(named=True):
        time, name = row_figure(row, "total_wait_s"), row["wait_class"]
        if time is None or name is None or name in _NOT_COUNTED or row.get("instance") in ALL_INSTANCES:
            continue
        found[name] = found[name] + time if name in found else time
    return found


def _db_time(report: AwrReport) -> Interval | None:
    """DB time by the time model, else by the head, else by the shares of the classes."""
    found = _model(report, "db time") or db_time_of(report)
    if found is None:
        found = figure_of(db_time(report.with_bounds("foreground_wait_classes")))
    return found


def _model(report: AwrReport, statistic: str) -> Interval | None:
    """A time of the time model; of several instances the sum."""
    if "time_model" not in report:
        return None
    total: Interval | None = None
    for row in report.with_bounds("time_model").iter_rows(named=True):
        if str(row["statistic"]).lower() != statistic or row.get("instance") in ALL_INSTANCES:
            continue
        time = row_figure(row, "time_s")
        if time is not None:
            total = time if total is None else total + time
    return total


def _narrowed(figure: Interval, other: Interval) -> Interval:
    """What both print of one quantity; the first where they contradict each other, which is for `check` to say."""
    try:
        return intersect([figure, other])
    except RefusedError:
        return figure


def _not_below_zero(figure: Interval) -> Interval:
    return Interval(max(figure.value, 0.0), max(figure.lo, 0.0), max(figure.hi, 0.0))


#: What the columns of the periods begin with.
PERIODS: Final = ("first", "second")
#: Their waits may be of background processes, which the report does not tell apart.
_BACKGROUND: Final = ("System I/O", "Other", "Idle")
#: Snapshots are stamped in whole seconds.
_STAMP_S: Final = 1.0


def period_facts(report: AwrReport, side: str, place: int) -> ReportFacts:
    """The facts of one period: its length, DB time, CPU, and foreground events among the top ones.

    Args:
        report: a compare-period report.
        side: what the columns of the period begin with: `first` or `second`.
        place: of the period in the table of snapshots.
    """
    snapshots = report.with_bounds("compare_snapshots")
    row = snapshots.row(place, named=True) if snapshots.height == 2 else {}
    elapsed, db_time = row_figure(row, "elapsed_s"), row_figure(row, "db_time_s")
    if elapsed is not None and row["begin_time"] is not None and row["end_time"] is not None:
        stamped = (row["end_time"] - row["begin_time"]).total_seconds()
        elapsed = _both(elapsed, Interval(stamped, stamped - _STAMP_S, stamped + _STAMP_S))
    model = {
        str(one["statistic"]).lower(): figure
        for one in report.with_bounds("compare_time_model").iter_rows(named=True)
        if (figure := row_figure(one, f"{side}_time_s")) is not None
    }
    if db_time is not None and "db time" in model:
        db_time = _both(db_time, model["db time"])
    return ReportFacts(
        kind=report.kind,
        elapsed_s=elapsed,
        db_time_s=db_time,
        db_cpu_s=model.get("db cpu") or _top_cpu(report, side),
        events=_events(report, side, is_background=False),
        background=_events(report, side, is_background=True),
        parameters=_parameters(report, side),
    )


def with_all_waits(facts: ReportFacts, report: AwrReport, side: str) -> ReportFacts:
    """The facts of a period with its wait classes and all its events, which hold those of background processes."""
    classes, events, names = {}, {}, {}
    printed = _events(report, side, is_background=False) | _events(report, side, is_background=True)
    for row in report.with_bounds("compare_wait_classes").iter_rows(named=True):
        time = row_figure(row, f"{side}_total_wait_s")
        if time is not None and row["wait_class"] not in {None, "Idle", "DB CPU"}:
            classes[row["wait_class"]] = time
    for row in report.with_bounds("compare_wait_events").iter_rows(named=True):
        time, rate = row_figure(row, f"{side}_total_wait_s"), row_figure(row, f"{side}_waits_per_s")
        if time is None or row["event"] is None or is_idle(row["event"], row["wait_class"]):
            continue
        waits = Interval.exact(0)
        if rate is not None and facts.elapsed_s is not None:
            waits = _as_printed(rate * facts.elapsed_s)
        listed = printed.get(row["event"])
        if listed is not None and (rate is None or listed.waits.meets(waits)):
            waits = listed.waits  # a rate is rounded, the count of a top event is not
        events[row["event"]] = Wait(waits, time)
        names[row["event"]] = row["wait_class"] or wait_class_of(row["event"])
    return replace(facts, classes=classes, events=events, event_classes=names) if events else facts


def _as_printed(figure: Interval) -> Interval:
    """A product of rounded figures with the digits that it has.

    Examples:
        >>> _as_printed(Interval(121_060.8, 120_880.0, 121_241.6)).value
        121100.0
    """
    step = 10.0 ** math.floor(math.log10(figure.hi - figure.lo)) if figure.hi > figure.lo else 0.0
    value = round(figure.value / step) * step if step else figure.value
    return replace(figure, value=value) if figure.lo <= value <= figure.hi else figure


def _both(one: Interval, two: Interval) -> Interval | None:
    """What both statements of a figure allow; None where they contradict each other."""
    try:
        return intersect([one, two])
    except RefusedError:
        return None


def _top_cpu(report: AwrReport, side: str) -> Interval | None:
    """The CPU time among the top events of a period."""
    rows = report.with_bounds("compare_top_events").filter(pl.col(f"{side}_event").is_in(["CPU time", "DB CPU"]))
    return row_figure(rows.row(0, named=True), f"{side}_total_wait_s") if rows.height == 1 else None


def _events(report: AwrReport, side: str, *, is_background: bool) -> dict[str, Wait]:
    frame = report.with_bounds("compare_top_events")
    found = {}
    own = pl.col(f"{side}_wait_class").is_in(_BACKGROUND) == is_background
    for row in frame.filter(own).iter_rows(named=True):
        waits, time = row_figure(row, f"{side}_waits"), row_figure(row, f"{side}_total_wait_s")
        if waits is not None and time is not None:
            found[str(row[f"{side}_event"])] = Wait(waits, time)
    return found


def _parameters(report: AwrReport, side: str) -> dict[str, str]:
    """Parameters with their value at the end of a period; lists of values, printed in several rows, are left out.

    A report prints the value of the second period only where it differs from that of the first.
    """
    frame = report.with_bounds("compare_parameters")
    first, second = pl.col("first_end"), pl.col("second_end")
    value = first if side == "first" else pl.coalesce(second, first)
    follows = pl.col("parameter").is_null() | pl.col("parameter").is_duplicated()
    alone = ~follows & ~pl.col("parameter").is_null().shift(-1, fill_value=False)
    return dict(frame.filter(alone, first.is_not_null()).select("parameter", value).iter_rows())
