"""Shares of the time of sessions that samples saw on CPU and in each wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.loading import as_log
from iolab.metrics.ash import never_seen
from iolab.metrics.table import Metric, metrics_frame
from iolab.stats.intervals import share_interval
from logframe.interval import Interval

if TYPE_CHECKING:
    from logframe import Source
    from sqlplusparse import SessionSamples

_ENDS: Final = ("", "_lo", "_hi")
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
        .agg(pl.col(f"active_sessions{end}").sum() for end in _ENDS)
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
            pl.col("session_samples").cast(pl.Float64).alias(f"active_sessions{end}") for end in _ENDS
        )
    rows = rows.filter(pl.col("table") == pl.col("table").min().over("snap"))
    rows = rows.join(log.snaps.select("snap", "samples_taken"), on="snap", how="left", maintain_order="left")
    if rows.get_column("samples_taken").null_count() or not rows.get_column("samples_taken").sum():
        return None
    return rows.with_columns(pl.col(*(f"active_sessions{end}" for end in _ENDS)) * pl.col("samples_taken"))


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
    columns = (pl.col(f"active_sessions{end}") * pl.col("samples_taken") for end in _ENDS)
    return Interval(*snaps.select(column.sum() for column in columns).row(0))


def _refused(why: str) -> pl.DataFrame:
    refused = Metric.refused("sampled_share", "ratio", why, basis="samples of a state / all samples")
    return metrics_frame([refused], state=pl.Series([None], dtype=pl.String), samples=pl.Series([None], dtype=pl.Int64))
