"""Shares of sampled activity: what so many samples of active sessions allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import Metric, metrics_frame, single
from iolab.stats.intervals import CONFIDENCE, share_interval
from logframe.interval import row_figure

if TYPE_CHECKING:
    from awrparse import AwrReport

#: Columns that name a row of a table of activity, the first that it has.
_KEYS: Final = ("event", "session", "sql_id", "object", "file", "service", "client")


def ash_samples(report: AwrReport) -> int | None:
    """How many samples of active sessions an ASH report holds: those of its slots; None where it does not show them.

    A slot's samples are counted once, whatever the number of events that it lists.
    """
    if "ash_activity" not in report:
        return None
    slots = report["ash_activity"].select("slot", "slot_samples").unique().drop_nulls()
    return int(slots.get_column("slot_samples").sum()) or None


def ash_shares(activity: pl.DataFrame, samples: int | None) -> pl.DataFrame:
    """The share of activity of each event, session or statement, with the sampling error of so many samples.

    ``lo`` and ``hi`` are the rounding of the printed percentage, ``ci_lo`` and ``ci_hi`` what chance allows if each
    sample is a draw of its own: the 95 % score interval.

    Source: Wilson (1927); Oracle Database Reference, V$ACTIVE_SESSION_HISTORY (a sample a second; one of ten is kept in
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
