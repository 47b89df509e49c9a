"""Shares of sampled activity: what this many samples of active sessions allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.loading import as_log
from iolab.metrics.table import Metric, metrics_frame, single
from iolab.stats.intervals import CONFIDENCE, share_interval
from logframe.interval import Interval, row_figure

if TYPE_CHECKING:
    from datetime import datetime

    from awrparse import AwrReport
    from logframe import Source

#: Columns that name a row of a table of activity, the first that it has.
_KEYS: Final = ("event", "session", "sql_id", "object", "file", "service", "client")


#: Half of the last digit of the average active sessions.
_HALF_STEP: Final = 0.005
#: A quotient that is not a whole number within this share is no interval of sampling.
_NEAR: Final = 0.02
#: What an ASH report calls the samples of sessions that were not waiting.
ON_CPU: Final = "CPU + Wait for CPU"


@dataclass(frozen=True)
class AshTotal:
    """What all samples of an ASH report are together.

    Attributes:
        samples: How many; 100 where the report does not say: figures are then percent of them.
        unit: What one stands for: the seconds between two samples, or 1.
        base: What the total is, in words.
        is_counted: Whether ``samples`` is their number.
        interval_s: The seconds between two samples; None where the report does not say enough for it.
        elapsed: The length of the period in s.
        printed: Average active sessions as printed.
    """

    samples: int
    unit: float
    base: str
    is_counted: bool
    interval_s: int | None
    elapsed: Interval | None
    printed: Interval | None

    @property
    def seconds(self) -> float:
        """Samples times unit."""
        return self.samples * self.unit


class Queue(NamedTuple):
    """Slots of time, one after the other, with more sessions on CPU than there are CPUs."""

    begin: datetime
    end: datetime
    sessions: float
    least_s: float


def ash_total(report: AwrReport) -> AshTotal:
    """How many samples an ASH report has, and what one stands for: 1 s in memory, 10 s on disk, by what it prints.

    The interval is the whole number next to average active sessions x elapsed time / samples.
    """
    info, samples = report.info, ash_samples(report)
    sessions = info.average_active_sessions
    printed = None if sessions is None else Interval(sessions, max(sessions - _HALF_STEP, 0.0), sessions + _HALF_STEP)
    elapsed = None
    if info.begin_time is not None and info.end_time is not None and info.end_time > info.begin_time:
        elapsed = Interval.exact((info.end_time - info.begin_time).total_seconds())
    elif info.elapsed_s:
        elapsed = Interval(info.elapsed_s, max(info.elapsed_s - 3.0, 0.0), info.elapsed_s + 3.0)
    if samples is None:
        return AshTotal(100, 1.0, "percent of the samples", False, None, elapsed, printed)
    interval = None
    if printed is not None and elapsed is not None:
        quotient = printed * elapsed / samples
        nearest = max(1, round(quotient.value))
        interval = nearest if quotient.lo <= nearest * (1 + _NEAR) and quotient.hi >= nearest * (1 - _NEAR) else None
    if interval is None:
        return AshTotal(samples, 1.0, "samples", True, None, elapsed, printed)
    return AshTotal(samples, float(interval), "samples x interval", True, interval, elapsed, printed)


def ash_samples(report: AwrReport | Source) -> int | None:
    """How many samples of active sessions a report holds: its Sample Count, else those of its slots; None without both.

    A slot's samples are counted once, whatever the number of events that it lists.
    """
    report = as_log(report, "awr")
    if report.info.sample_count:
        return report.info.sample_count
    return int(slots_of(report).get_column("samples").sum()) or None if "ash_activity" in report else None


def slots_of(report: AwrReport) -> pl.DataFrame:
    """The slots of time of active session history: ``slot`` as printed, ``begin``, ``length_s``, ``samples``."""
    if "ash_activity" not in report:
        return pl.DataFrame(
            schema={"slot": pl.String, "begin": pl.Datetime("us"), "length_s": pl.Float64, "samples": pl.Int64}
        )
    slots = report["ash_activity"].select("slot", begin="slot_begin", length_s="slot_s", samples="slot_samples")
    return slots.filter(pl.col("samples").is_not_null()).unique("slot", keep="first", maintain_order=True)


def cpu_queues(report: AwrReport, cpus: int, interval_s: float) -> list[Queue]:
    """The slots in which samples saw more sessions on CPU than there are CPUs, neighbours together, the longest first.

    Sessions above the CPUs cannot have been on one: they waited for it.  ``least_s`` is that time less two standard
    deviations of the samples.

    Args:
        report: An ASH report, or an AWR report with active session history.
        cpus: CPUs of the host.
        interval_s: The seconds between two samples.
    """
    if "ash_activity" not in report:
        return []
    slots = slots_of(report).drop_nulls().filter(pl.col("length_s") > 0)
    if slots.is_empty():
        return []
    on_cpu = report["ash_activity"].filter(event=ON_CPU).select("slot", on_cpu="samples")
    slots = slots.join(on_cpu, on="slot", maintain_order="left").with_columns(
        above=(pl.col("on_cpu") - 2 * pl.col("on_cpu").sqrt()) * interval_s - cpus * pl.col("length_s")
    )
    end = pl.col("begin") + pl.duration(microseconds=pl.col("length_s") * 1e6)
    full = slots.with_columns(end=end, group=(pl.col("above") <= 0).cum_sum()).filter(pl.col("above") > 0)
    found = full.group_by("group", maintain_order=True).agg(
        pl.col("begin").min(),
        pl.col("end").max(),
        pl.col("on_cpu", "length_s").sum(),
    )
    queues = []
    for _, begin, stop, samples, length in found.iter_rows():
        least = (samples - 2 * samples**0.5) * interval_s - cpus * length
        queues.append(Queue(begin, stop, samples * interval_s / length, least))
    return sorted(queues, key=lambda one: -one.least_s)


def ash_shares(activity: pl.DataFrame, samples: int | None) -> pl.DataFrame:
    """The share of activity of each event, session or statement, with the sampling error of this many samples.

    ``lo`` and ``hi`` are the rounding of the printed percentage, ``ci_lo`` and ``ci_hi`` what chance allows if each
    sample is a draw of its own: the 95 % score interval.

    Source: Wilson (1927); Oracle, V$ACTIVE_SESSION_HISTORY (one sample per second; one of ten is kept in
    DBA_HIST_ACTIVE_SESS_HISTORY).

    Limitations: samples follow each other, so a wait of many seconds is several samples of one event: then
    the true interval is wider.  A share of samples is a share of time, never of waits: short waits are seldom met.

    Args:
        activity: a table with ``activity_pct``: `ash_top_events`, `ash_sessions`, ...
        samples: of all sessions in the period (`ash_samples`); without them there is no interval.

    Returns:
        One row each: its name, then `METRICS`: ``activity_share``, a ratio.

    Examples:
        >>> table = pl.DataFrame({"event": ["log file sync"], "activity_pct": [30.0]})
        >>> row = ash_shares(table, 100).row(0, named=True)
        >>> row["value"], round(row["ci_lo"], 3), round(row["ci_hi"], 3)
        (0.3, 0.219, 0.396)
    """
    key = next(name for name in _KEYS if name in activity.columns)
    names: list[str | None] = []
    metrics: list[Metric] = []
    for row in activity.iter_rows(named=True):
        share = row_figure(row, "activity_pct")
        names.append(None if row[key] is None else str(row[key]))
        basis = f"activity_pct as shown; {samples or '?'} samples"
        if share is None or share.lo > 100:
            why = "no share is shown" if share is None else "more than 100 % of the samples"
            metrics.append(Metric.refused("activity_share", "ratio", why, basis=basis))
            continue
        part = share / 100
        limits = (None, None) if not samples else share_interval(round(min(part.value, 1.0) * samples), samples)
        caveat = (
            "samples of one long wait are not independent" if samples else "how many samples there are is not known"
        )
        metrics.append(Metric("activity_share", part.value, part.lo, part.hi, "ratio", basis, caveat, *limits))
    return metrics_frame(metrics, **{key: pl.Series(names, dtype=pl.String)})


def never_seen(samples: int) -> pl.DataFrame:
    """What share a state may still have that none of n samples met: at most 3 / n, with 95 % confidence.

    Source: the rule of three; Hanley and Lippman-Hand, If nothing goes wrong, is everything all right? (1983).

    Limitations: of a state that lasts shorter than the distance of the samples and comes with their beat.

    Returns:
        One row (`METRICS`): ``share_never_seen``, a ratio of 0, whose interval ends at 1 - 0.05^(1/n).

    Examples:
        >>> round(never_seen(100).item(0, "ci_hi"), 4)
        0.0295
    """
    if samples < 1:
        return single(Metric.refused("share_never_seen", "ratio", "there is no sample", basis="no samples"))
    most = 1 - (1 - CONFIDENCE) ** (1 / samples)
    basis = f"0 of {samples} samples"
    return single(Metric("share_never_seen", 0.0, 0.0, 0.0, "ratio", basis, "of independent samples", 0.0, most))
