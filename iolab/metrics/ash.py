"""Shares of sampled activity: on CPU and in each wait, as this many samples of active sessions allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from iolab.loading import as_log
from iolab.metrics.table import Metric, metrics_frame, single
from iolab.stats.intervals import CONFIDENCE, share_interval
from logframe.interval import ENDS, Interval, row_figure

if TYPE_CHECKING:
    from datetime import datetime

    from awrparse import AwrReport
    from logframe import Source
    from sqlplusparse import SessionSamples


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


_UNSHOWN: Final = "rows that the log does not show are in no sum"
_DEPENDENT: Final = "samples of one long wait are not independent; a share of time, not of waits"


def session_shares(log: SessionSamples | Source) -> pl.DataFrame:
    r"""The share of the sampled time of sessions on CPU and in each wait event, with the error of sampling.

    ``lo`` and ``hi`` are what rounding leaves open and, where the table shows its first rows only, the activity that it
    leaves out; ``ci_lo`` and ``ci_hi`` are the 95 % score interval of the samples.  Where polls met no wait, a row
    ``any wait`` says what share waits may still have had.

    Source: Wilson (1927); Hanley and Lippman-Hand, If nothing goes wrong, is everything all right? (1983).

    Limitations: a sample counts as an independent draw, so the interval of long waits is too narrow.

    Args:
        log: What `sqlplusparse.read_session_samples` gives; several snapshots are added up.

    Returns:
        ``state`` (the event, or ``CPU``), ``samples``, then `METRICS`: ``sampled_share``, a ratio, the largest first.

    Examples:
        >>> from sqlplusparse import read_session_samples
        >>> polls = "".join(f"{number},42,ON CPU,\n" for number in range(100))
        >>> shares = session_shares(read_session_samples(("SAMPLE_ID,SID,STATE,EVENT\n" + polls).encode()))
        >>> [(row["state"], row["value"], round(row["ci_hi"], 3)) for row in shares.rows(named=True)]
        [('CPU', 1.0, 1.0), ('any wait', 0.0, 0.03)]
    """
    log = as_log(log, "session_samples")
    rows = shown_rows(log)
    if rows is None:
        return _refused("there is no sample" if log.samples.is_empty() else "the number of samples is missing")
    named = pl.when(pl.col("state") == "CPU").then(pl.lit("CPU")).otherwise(pl.col("event"))
    groups = (
        rows.group_by(state=named.fill_null("not said"), maintain_order=True)
        .agg(pl.col(f"active_sessions{end}").sum() for end in ENDS)
        .sort("active_sessions", descending=True, maintain_order=True)
    )
    found = {name: Interval(*figures) for name, *figures in groups.iter_rows()}
    metrics = _shares(found, whole_of(log), log)
    counts = [round(figure.value) for figure in found.values()]
    names = list(found)
    if log.kind == "polls" and names == ["CPU"]:
        row = never_seen(counts[0]).row(0, named=True)
        ends = (row["ci_lo"], row["ci_hi"])
        metrics.append(Metric("sampled_share", 0.0, 0.0, 0.0, "ratio", row["basis"], row["caveats"], *ends))
        names.append("any wait")
        counts.append(0)
    return metrics_frame(metrics, state=pl.Series(names, dtype=pl.String), samples=pl.Series(counts, dtype=pl.Int64))


def shown_rows(log: SessionSamples) -> pl.DataFrame | None:
    """The rows of a log, ``active_sessions`` as a number of samples of sessions; None without samples or their number.

    Further tables of a snapshot of Snapper show the same samples by other columns: they are left out.
    """
    rows = log.samples
    if rows.is_empty():
        return None
    if log.kind != "snapper":
        return rows.with_columns(
            pl.col("session_samples").cast(pl.Float64).alias(f"active_sessions{end}") for end in ENDS
        )
    rows = rows.filter(pl.col("table") == pl.col("table").min().over("snap"))
    rows = rows.join(log.snaps.select("snap", "samples_taken"), on="snap", how="left", maintain_order="left")
    if rows.get_column("samples_taken").null_count() or not rows.get_column("samples_taken").sum():
        return None
    return rows.with_columns(pl.col(*(f"active_sessions{end}" for end in ENDS)) * pl.col("samples_taken"))


def _shares(found: dict[str, Interval], whole: Interval | None, log: SessionSamples) -> list[Metric]:
    """The share of each state; ``whole`` is what the log says of all samples of sessions."""
    shown = Interval(*(sum(getattr(one, end) for one in found.values()) for end in ("value", "lo", "hi")))
    total = shown.value if whole is None or whole.lo <= shown.value else whole.value
    rest = 0.0 if whole is None else max(whole.hi - shown.lo, 0.0)
    metrics = []
    for one in found.values():
        share = one.value / total if total else 0.0
        least = one.lo + shown.hi - one.hi + rest
        most = one.hi + rest + shown.lo - one.lo
        is_bounded = log.kind == "polls" or whole is not None
        lo = min(one.lo / least, share) if is_bounded and least else None
        hi = max((one.hi + rest) / most, share) if is_bounded and most else None
        chance = share_interval(min(round(one.value), round(total)), round(total))
        basis = (
            f"{one.value:,.0f} of {total:,.0f} samples of sessions; sessions were sampled {log.moments or 0:,} times"
        )
        caveat = _DEPENDENT if is_bounded else f"{_DEPENDENT}; {_UNSHOWN}"
        limits = (min(chance[0], share), max(chance[1], share))
        metrics.append(Metric("sampled_share", share, lo, hi, "ratio", basis, caveat, *limits))
    return metrics


def whole_of(log: SessionSamples) -> Interval | None:
    """All samples of sessions by the ends of the snapshots; None where one does not say."""
    snaps = log.snaps
    if snaps.is_empty() or snaps.get_column("active_sessions").null_count():
        return None
    columns = (pl.col(f"active_sessions{end}") * pl.col("samples_taken") for end in ENDS)
    return Interval(*snaps.select(column.sum() for column in columns).row(0))


def _refused(why: str) -> pl.DataFrame:
    refused = Metric.refused("sampled_share", "ratio", why, basis="samples of a state / all samples")
    return metrics_frame([refused], state=pl.Series([None], dtype=pl.String), samples=pl.Series([None], dtype=pl.Int64))
