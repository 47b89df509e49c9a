"""Latency from wait event histograms: sections merged to one distribution, and quantiles as bounds of buckets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.table import REFUSED, Metric, metrics_frame
from logframe.errors import RefusedError
from logframe.interval import Interval, row_figure, show

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Median, 95th and 99th percentile.
QUANTILES: Final = (0.5, 0.95, 0.99)
#: The shares of a row are rounded to 0.1, and a blank share may be up to 0.05: they add up to 100 within this.
_SLACK_PCT: Final = 1.5
_BOTH: Final = "foreground and background waits"

#: One row a bucket: `to_us` is null in the open one; `waits_pct` is of all waits of the event.
BUCKETS: Final = pl.Schema(
    {
        "event": pl.String(),
        "from_us": pl.Float64(),
        "to_us": pl.Float64(),
        **{f"{name}{end}": pl.Float64() for name in ("waits_pct", "waits") for end in ("", "_lo", "_hi")},
    }
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Waits from a time up to another one, as a share of all waits in per cent; open where `to_us` is None."""

    from_us: float
    to_us: float | None
    share: Interval

    def holds(self, other: Bucket) -> bool:
        """Does the other bucket lie within this one?"""
        if other.from_us < self.from_us:
            return False
        return self.to_us is None or (other.to_us is not None and other.to_us <= self.to_us)


def latency_buckets(event_histogram: pl.DataFrame, *, events: Sequence[str] | None = None) -> pl.DataFrame:
    """The distribution of each event's waits: the sections of a report merged, and their counts.

    A report splits its histogram: the first table ends in one wide bucket, and later sections show the waits in it
    again, finer.  Each wide bucket is replaced by what a later section shows within it; what the section leaves out
    (blank columns) is the rest of the wide bucket.  Shares add up to 100 %, and counts to the waits of the event,
    within their rounding.  An event whose shares do not add up, or whose section contradicts its first table, is left
    out.

    Source: Oracle Database Reference, V$EVENT_HISTOGRAM_MICRO; the report's wait event histograms.

    Limitations: not foreground waits: a histogram holds foreground and background waits.

    Args:
        event_histogram: the table `event_histogram` of a report, with its bounds.
        events: the events wanted; by default all.

    Returns:
        One row a bucket (`BUCKETS`), in order.

    Examples:
        >>> table = pl.DataFrame({"event": ["log file sync"] * 4, "waits": [100, 100, 38, 38],
        ...     "section": [None, None, "up to 32 ms", "up to 32 ms"], "from_us": [0.0, 512.0, 512.0, 1000.0],
        ...     "to_us": [512.0, None, 1000.0, 2000.0], "waits_pct": [62.0, 38.0, 30.0, 8.0]})
        >>> latency_buckets(table).select("from_us", "to_us", "waits").rows()
        [(0.0, 512.0, 62.0), (512.0, 1000.0, 30.0), (1000.0, 2000.0, 8.0), (2000.0, None, 0.0)]
    """
    rows: list[dict[str, object]] = []
    for event, waits, buckets in _merged(event_histogram, events):
        if isinstance(buckets, str):
            continue
        for one in buckets:
            row: dict[str, object] = {"event": event, "from_us": one.from_us, "to_us": one.to_us}
            for name, figure in (("waits_pct", one.share), ("waits", waits and one.share * waits / 100)):
                ends = (figure.value, figure.lo, figure.hi) if figure is not None else (None, None, None)
                row |= dict(zip((name, f"{name}_lo", f"{name}_hi"), ends, strict=True))
            rows.append(row)
    return pl.DataFrame(rows, schema=BUCKETS, orient="row")


def latency_quantiles(
    event_histogram: pl.DataFrame,
    *,
    quantiles: Sequence[float] = QUANTILES,
    events: Sequence[str] | None = None,
    foreground: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Median, 95th and 99th percentile of each event's waits, as the bounds of the buckets that hold them.

    A histogram does not say where in a bucket a wait lies: ``value`` is the upper edge of the bucket, "no longer than";
    ``lo`` and ``hi`` are the edges.  All sections of the histogram are used (`latency_buckets`).  Where the rounding of
    the shares lets a quantile lie in one of several buckets the bounds hold them all.  ``hi`` is null where the bucket
    is open (longer than the last edge printed), and ``value`` is then its lower edge.  Refused where the shares of an
    event do not add up to 100 %, or its sections contradict each other.

    With the table of foreground events the quantiles are those of the foreground waits: the histogram holds both kinds,
    and any of its waits may be background ones, so the bounds are wider.

    Source: Oracle Database Reference, V$EVENT_HISTOGRAM_MICRO; the report's wait event histograms.

    Limitations: beyond the bucket: one of 16 to 32 ms is all that is known. Old versions have buckets
    from 1 ms on, where a cache and a disk fall into one.

    Args:
        event_histogram: the table `event_histogram` of a report, with its bounds.
        quantiles: shares between 0 and 1: 0.95 for the 95th percentile.
        events: the events wanted; by default all.
        foreground: the table `foreground_events` of the same report; events that it does not have are left out.

    Returns:
        One row an event and quantile: ``event``, then `METRICS`: ``wait_us_p50``, ``wait_us_p95``, ..., in us; of
        foreground waits ``foreground_wait_us_p50``, ...

    Raises:
        ValueError: a quantile is no share.

    Examples:
        >>> buckets = pl.DataFrame({"event": ["log file sync"] * 3, "waits": [100] * 3, "section": [None] * 3,
        ...     "from_us": [0.0, 1000.0, 2000.0], "to_us": [1000.0, 2000.0, None], "waits_pct": [60.0, 38.0, 2.0]})
        >>> latency_quantiles(buckets).select("metric", "value", "lo", "hi").rows()
        [('wait_us_p50', 1000.0, 0.0, 1000.0), ('wait_us_p95', 2000.0, 1000.0, 2000.0),
         ('wait_us_p99', 2000.0, 2000.0, None)]
        >>> latency_quantiles(buckets, quantiles=[0.5], foreground=pl.DataFrame({"event": ["log file sync"],
        ...     "waits": [80]})).select("metric", "value", "lo", "hi").rows()
        [('foreground_wait_us_p50', 1000.0, 0.0, 1000.0)]
    """
    for share in quantiles:
        if not 0 < share <= 1:
            raise ValueError(f"the quantile {share:g} does not lie between 0 and 1")
    names: list[str] = []
    metrics: list[Metric] = []
    known = {} if foreground is None else {row["event"]: row_figure(row, "waits") for row in foreground.to_dicts()}
    for event, waits, buckets in _merged(event_histogram, events):
        own = known.get(event)
        if foreground is not None and (own is None or waits is None or own.value <= 0):
            continue
        for share in quantiles:
            names.append(event)
            metrics.append(_quantile(buckets, share, waits, own))
    return metrics_frame(metrics, event=pl.Series(names, dtype=pl.String))


def waits_within(
    event_histogram: pl.DataFrame, *, to_us: float = 1000.0, events: Sequence[str] | None = None
) -> pl.DataFrame:
    """Share of each event's waits that were shorter than a time, from the merged sections of the histogram.

    A bucket that the time lies within may hold any part of its waits below it: then only bounds are known, and the
    value is the middle of them.  Refused where the shares do not add up, as in `latency_quantiles`.

    Source: as of `latency_quantiles`.

    Limitations: not reads from a cache: a share of short waits suggests one, and does not prove it; and a
    histogram holds background waits, too.

    Args:
        event_histogram: the table `event_histogram` of a report, with its bounds.
        to_us: the time, in microseconds.
        events: the events wanted; by default all.

    Returns:
        One row an event: ``event``, then `METRICS`: ``share_within_1000_us``, a ratio.

    Examples:
        >>> table = pl.DataFrame({"event": ["log file sync"] * 2, "waits": [100, 100], "section": [None, None],
        ...     "from_us": [0.0, 1000.0], "to_us": [1000.0, None], "waits_pct": [62.0, 38.0]})
        >>> waits_within(table).select("metric", "value").row(0)
        ('share_within_1000_us', 0.62)
        >>> waits_within(table, to_us=500).select("value", "lo", "hi").row(0)
        (0.31, 0.0, 0.62)
    """
    names, metrics = [], []
    for event, waits, buckets in _merged(event_histogram, events):
        names.append(event)
        name = f"share_within_{to_us:g}_us"
        basis = f"waits shorter than {to_us:g} us of {'?' if waits is None else show(waits)} waits"
        if isinstance(buckets, str):
            metrics.append(Metric.refused(name, "ratio", buckets, basis=basis))
            continue
        below = Interval.exact(0)
        above = Interval.exact(0)
        for one in buckets:
            if one.to_us is not None and one.to_us <= to_us:
                below += one.share
            elif one.from_us < to_us:
                below += Interval(one.share.value / 2, 0, one.share.hi)
                above += Interval(one.share.value / 2, 0, one.share.hi)
            else:
                above += one.share
        lo, hi = max(below.lo, 100 - above.hi, 0.0), min(below.hi, 100 - above.lo, 100.0)
        value = min(max(below.value, lo), hi) / 100 if lo <= hi else below.value / 100
        bounds = (lo / 100, hi / 100) if lo <= hi else (below.lo / 100, min(below.hi, 100.0) / 100)
        metrics.append(Metric(name, value, *bounds, "ratio", basis, _BOTH))
    return metrics_frame(metrics, event=pl.Series(names, dtype=pl.String))


def _merged(table: pl.DataFrame, events: Sequence[str] | None) -> list[tuple[str, Interval | None, list[Bucket] | str]]:
    """Each event with its waits and its buckets, or the reason why it has none."""
    table = table.filter(pl.col("from_us").is_not_null())  # of a bucket without its range a diagnostic tells
    wanted = table if events is None else table.filter(pl.col("event").is_in(list(events)))
    is_first = pl.lit(value=True)
    if "section" in wanted.columns:
        # A report of a cluster names its only table, too: then the section that holds all waits is the first table.
        whole = (pl.col("waits_pct").sum().over("event", "waits", "section") - 100).abs() <= _SLACK_PCT
        is_first = pl.col("section").is_null() | (pl.col("section").is_not_null().all() & whole)
    first, later = wanted.filter(is_first), wanted.filter(~is_first)
    # Text reports cut names: two events of one name have two rows, and a section does not say which it refines.
    twice = first.select("event", "waits").unique().filter(pl.col("event").is_duplicated()).get_column("event")
    sections: dict[str, list[list[Bucket]]] = {}
    if later.height:
        for (event, _), rows in later.group_by("event", "section", maintain_order=True):
            if event not in twice:
                sections.setdefault(str(event), []).append(_buckets(rows))
    found: list[tuple[str, Interval | None, list[Bucket] | str]] = []
    for (event, _), rows in first.group_by("event", "waits", maintain_order=True):
        buckets = _buckets(rows)
        total = sum(one.share.value for one in buckets)
        waits = row_figure(rows.row(0, named=True), "waits")
        if abs(total - 100) > _SLACK_PCT:
            reason = f"the shares of the buckets add up to {show(total)} %, not to 100 %"
            found.append((str(event), waits, reason))
            continue
        try:
            for finer in sections.get(str(event), []):
                buckets = [part for one in buckets for part in _refine(one, finer)]
            found.append((str(event), waits, buckets))
        except RefusedError as refusal:
            found.append((str(event), waits, str(refusal)))
    return found


def _buckets(rows: pl.DataFrame) -> list[Bucket]:
    found = []
    for row in rows.sort("from_us", maintain_order=True).to_dicts():
        share = row_figure(row, "waits_pct") or Interval(0, 0, 0.05)
        found.append(Bucket(float(row["from_us"]), None if row["to_us"] is None else float(row["to_us"]), share))
    return found


def _refine(bucket: Bucket, finer: list[Bucket]) -> list[Bucket]:
    """A bucket as the finer ones within it, and the rest of it where they leave gaps.

    Raises:
        RefusedError: the finer ones hold more than the bucket, beyond rounding.
    """
    inside = [one for one in finer if bucket.holds(one) and (one.from_us, one.to_us) != (bucket.from_us, bucket.to_us)]
    if not inside:
        return [bucket]
    total = inside[0].share
    for one in inside[1:]:
        total = total + one.share
    if total.lo > bucket.share.hi + 1e-9:
        raise RefusedError(
            f"a section shows {show(total)} % of the waits within a bucket that has {show(bucket.share)} % of them"
        )
    rest = bucket.share - total
    gaps: list[tuple[float, float | None]] = []
    reached = bucket.from_us
    for one in inside:
        if one.from_us > reached:
            gaps.append((reached, one.from_us))
        reached = one.from_us if one.to_us is None else one.to_us
    is_open = inside[-1].to_us is None
    if not is_open and (bucket.to_us is None or bucket.to_us > reached):
        gaps.append((reached, bucket.to_us))
    if not gaps and rest.lo > 1e-9:
        raise RefusedError(
            f"a section shows {show(total)} % of the waits of a bucket that has {show(bucket.share)} % of them"
        )
    most = max(rest.hi, 0.0)
    parts = []
    for start, end in gaps:
        # Where there are several gaps, what is left may be in any of them; it is counted in the last.
        value = min(max(rest.value, 0.0), most) if (start, end) == gaps[-1] else 0.0
        least = max(rest.lo, 0.0) if len(gaps) == 1 else 0.0
        parts.append(Bucket(start, end, Interval(value, min(least, value), most)))
    return sorted([*inside, *parts], key=lambda one: one.from_us)


def _quantile(buckets: list[Bucket] | str, share: float, waits: Interval | None, foreground: Interval | None) -> Metric:
    name = f"{'' if foreground is None else 'foreground_'}wait_us_p{share * 100:g}"
    counted = "? waits" if waits is None else f"{show(waits)} waits"
    of = _BOTH if foreground is None else f"{show(foreground)} of them foreground"
    basis = f"bucket that holds {share:g} of the waits; {counted}, {of}"
    if isinstance(buckets, str):
        return Metric.refused(name, "us", buckets, basis=basis)
    shares = [one.share for one in buckets]
    total = sum(one.value for one in shares)
    reached = list(accumulate(one.value for one in shares))
    # What lies up to a bucket is known from the shares up to it, and from those above it.
    least, most = (list(accumulate(getattr(one, end) for one in shares)) for end in ("lo", "hi"))
    up_to_most = [min(hi, 100 - (least[-1] - lo), 100.0) for lo, hi in zip(least, most, strict=True)]
    up_to_least = [max(lo, 100 - (most[-1] - hi), 0.0) for lo, hi in zip(least, most, strict=True)]
    wanted, spare = share * 100, 0.0
    if foreground is not None and waits is not None:
        part = 100 * foreground.value / waits.value
        if part > 100 + _SLACK_PCT:
            reason = f"{REFUSED}{show(foreground)} foreground waits are more than the {show(waits)} of the histogram"
            return Metric(name, None, None, None, "us", basis, reason)
        # Any of the waits may be background ones: all of the shortest, or all of the longest.
        part = min(part, 100.0)
        wanted, spare = share * part, 100 - part
    first, last = _bucket(up_to_most, wanted), _bucket(up_to_least, wanted + spare)
    best = min(max(_bucket(reached, share * total), first), last)
    lo, hi = buckets[first].from_us, buckets[last].to_us
    value = buckets[best].to_us
    caveats = "the edges of a bucket: where in it the waits lie is not known"
    if foreground is None:
        caveats += "; background waits are in it"
    return Metric(name, buckets[best].from_us if value is None else value, lo, hi, "us", basis, caveats)


def _bucket(reached: list[float], wanted: float) -> int:
    """The first bucket up to which the wanted share of the waits lies."""
    return next((place for place, share in enumerate(reached) if share >= wanted - 1e-9), len(reached) - 1)
