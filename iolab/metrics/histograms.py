"""Latency from wait event histograms: quantiles as the bounds of the bucket they lie in."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import REFUSED, Metric, metrics_frame
from logframe.interval import Interval, row_figure, show

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Median, 95th and 99th percentile.
QUANTILES: Final = (0.5, 0.95, 0.99)
#: The shares of a row are rounded to 0.1, and a blank share may be up to 0.05: they add up to 100 within this.
_SLACK_PCT: Final = 1.5


def latency_quantiles(
    event_histogram: pl.DataFrame, *, quantiles: Sequence[float] = QUANTILES, events: Sequence[str] | None = None
) -> pl.DataFrame:
    """Median, 95th and 99th percentile of each event's waits, as the bounds of the buckets that hold them.

    A histogram does not say where in a bucket a wait lies: ``value`` is the upper edge of the bucket, "no longer than";
    ``lo`` and ``hi`` are the edges.  Where the rounding of the shares lets a quantile lie in one of several buckets the
    bounds hold them all.  ``hi`` is null where the bucket is open (longer than the last edge), and ``value`` is then
    its lower edge.  Refused where the shares of an event do not add up to 100 %.

    Source: Oracle Database Reference, V$EVENT_HISTOGRAM_MICRO; the report's wait event histograms.

    When not to believe it: beyond the bucket: one of 16 to 32 ms is all that is known. Old versions have buckets
    from 1 ms on, where a cache and a disk fall into one.

    Args:
        event_histogram: the table `event_histogram` of a report, read with ``printed=True``.
        quantiles: shares between 0 and 1: 0.95 for the 95th percentile.
        events: the events wanted; by default all.

    Returns:
        One row an event and quantile: ``event``, then `METRICS`: ``wait_us_p50``, ``wait_us_p95``, ..., in us.

    Raises:
        ValueError: a quantile is no share.

    Examples:
        >>> buckets = pl.DataFrame({"event": ["log file sync"] * 3, "waits": [100] * 3, "section": [None] * 3,
        ...     "from_us": [0.0, 1000.0, 2000.0], "to_us": [1000.0, 2000.0, None], "waits_pct": [60.0, 38.0, 2.0]})
        >>> latency_quantiles(buckets).select("metric", "value", "lo", "hi").rows()
        [('wait_us_p50', 1000.0, 0.0, 1000.0), ('wait_us_p95', 2000.0, 1000.0, 2000.0),
         ('wait_us_p99', 2000.0, 2000.0, None)]
    """
    for share in quantiles:
        if not 0 < share <= 1:
            raise ValueError(f"the quantile {share:g} does not lie between 0 and 1")
    wanted = event_histogram if events is None else event_histogram.filter(pl.col("event").is_in(list(events)))
    if "section" in wanted.columns:  # sections after the first show the long waits again, finer
        wanted = wanted.filter(pl.col("section").is_null())
    names: list[str] = []
    metrics: list[Metric] = []
    for (event, _), buckets in wanted.group_by("event", "waits", maintain_order=True):  # text reports cut names alike
        rows = buckets.sort("from_us", maintain_order=True).to_dicts()
        for share in quantiles:
            names.append(str(event))
            metrics.append(_quantile(rows, share))
    return metrics_frame(metrics, event=pl.Series(names, dtype=pl.String))


def _quantile(rows: list[dict[str, object]], share: float) -> Metric:
    name = f"wait_us_p{share * 100:g}"
    shares = [row_figure(row, "waits_pct") or Interval(0, 0, 0.05) for row in rows]
    basis = f"bucket that holds {share:g} of the waits; {show(row_figure(rows[0], 'waits') or 0)} waits"
    total = sum(one.value for one in shares)
    if abs(total - 100) > _SLACK_PCT:
        reason = f"{REFUSED}the shares of the buckets add up to {show(total)} %, not to 100 %"
        return Metric(name, None, None, None, "us", basis, reason)
    best = _bucket(list(accumulate(one.value for one in shares)), share * total)
    # What lies up to a bucket is known from the shares up to it, and from those above it.
    least, most = (list(accumulate(getattr(one, end) for one in shares)) for end in ("lo", "hi"))
    first = _bucket([min(hi, 100 - (least[-1] - lo)) for lo, hi in zip(least, most, strict=True)], share * 100)
    last = _bucket([max(lo, 100 - (most[-1] - hi)) for lo, hi in zip(least, most, strict=True)], share * 100)
    first, last = min(first, best), max(last, best)
    lo, hi = _edge(rows[first], "from_us"), _edge(rows[last], "to_us")
    value = _edge(rows[best], "to_us")
    if value is None:
        value = _edge(rows[best], "from_us")
    return Metric(name, value, lo, hi, "us", basis, "the edges of a bucket: where in it the waits lie is not known")


def _bucket(reached: list[float], wanted: float) -> int:
    """The first bucket up to which the wanted share of the waits lies."""
    return next((place for place, share in enumerate(reached) if share >= wanted - 1e-9), len(reached) - 1)


def _edge(row: dict[str, object], column: str) -> float | None:
    value = row[column]
    return float(value) if isinstance(value, (int, float)) else None
