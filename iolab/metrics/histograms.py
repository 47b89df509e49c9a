"""Latency from wait event histograms: tables merged to one distribution, and quantiles as bounds of buckets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

import polars as pl

from iolab.metrics.table import REFUSED, Metric, metrics_frame
from logframe.errors import RefusedError
from logframe.interval import Interval, row_figure, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


#: Median, 95th and 99th percentile.
QUANTILES: Final = (0.5, 0.95, 0.99)
#: A bucket that ends before this many times its start is between the ends of two tables.
_NARROW: Final = 1.1
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
    for event, waits, buckets, _ in _merged(event_histogram, events):
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
    for event, waits, buckets, _ in _merged(event_histogram, events):
        own = known.get(event)
        if foreground is not None and (own is None or waits is None or own.value <= 0):
            continue
        for share in quantiles:
            names.append(event)
            metrics.append(_quantile(buckets, share, waits, own))
    return metrics_frame(metrics, event=pl.Series(names, dtype=pl.String))


#: An event, its waits, its buckets or the reason why it has none, and the tables that they are of.
_Merged: TypeAlias = "tuple[str, Interval | None, list[Bucket] | str, list[list[Bucket]]]"


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
    for event, waits, buckets, tables in _merged(event_histogram, events):
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
        for table in tables:  # one that begins at 0 and has this edge needs no other
            within = [one for one in table if one.to_us is not None and one.to_us <= to_us]
            if within and (within[0].from_us, within[-1].to_us) == (0, to_us):
                total = sum((one.share for one in within), start=Interval.exact(0))
                below = total if total.hi - total.lo < below.hi - below.lo else below
                lo, hi = max(lo, total.lo), min(hi, total.hi)
        value = min(max(below.value, lo), hi) / 100 if lo <= hi else below.value / 100
        bounds = (lo / 100, hi / 100) if lo <= hi else (below.lo / 100, min(below.hi, 100.0) / 100)
        metrics.append(Metric(name, value, *bounds, "ratio", basis, _BOTH))
    return metrics_frame(metrics, event=pl.Series(names, dtype=pl.String))


def _merged(table: pl.DataFrame, events: Sequence[str] | None) -> list[_Merged]:
    """Each event with its buckets."""
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
    found: list[_Merged] = []
    for (event, _), rows in first.group_by("event", "waits", maintain_order=True):
        buckets = _buckets(rows)
        total = sum(one.share.value for one in buckets)
        waits = row_figure(rows.row(0, named=True), "waits")
        if abs(total - 100) > _SLACK_PCT:
            reason = f"the shares of the buckets add up to {show(total)} %, not to 100 %"
            found.append((str(event), waits, reason, []))
            continue
        tables = [buckets, *sections.get(str(event), [])]
        try:
            for finer in tables[1:]:
                buckets = [part for one in buckets for part in _refine(one, finer)]
            found.append((str(event), waits, buckets, tables))
        except RefusedError as refusal:
            found.append((str(event), waits, str(refusal), tables))
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


@dataclass(frozen=True, slots=True)
class Histogram:
    """The waits of one event, foreground and background, by their time.

    Attributes:
        waits: how many.
        edges_us: the edges that a table prints, rising, the last finite one at the end.
        below_pct: the share of the waits below each edge.
    """

    waits: int
    edges_us: tuple[float, ...]
    below_pct: tuple[float, ...]

    def below(self, edge_us: float) -> float | None:
        """The share of the waits below an edge in per cent; None where no table prints this edge.

        Examples:
            >>> Histogram(100, (1000.0, 2000.0), (60.0, 98.0)).below(2000)
            98.0
        """
        if edge_us == math.inf:
            return 100.0
        if edge_us == 0:
            return 0.0
        for edge, share in zip(self.edges_us, self.below_pct, strict=True):
            # tables print 1/8 s and 1 ms for what others count in powers of two of a microsecond
            if math.isclose(edge, edge_us, rel_tol=0.03):
                return share
        return None

    def between(self, from_us: float, to_us: float) -> float | None:
        """The share of the waits between two edges in per cent; None where no table prints one of them."""
        low, high = self.below(from_us), self.below(to_us)
        return None if low is None or high is None else max(0.0, high - low)

    def buckets(self) -> list[tuple[float, float, float]]:
        """From, to (us) and share (%) of each bucket, the open one last where anything is in it."""
        starts, shares = (0.0, *self.edges_us), (0.0, *self.below_pct)
        ends, reached = (*self.edges_us, math.inf), (*self.below_pct, 100.0)
        found = [
            (start, end, max(0.0, share - before))
            for start, end, before, share in zip(starts, ends, shares, reached, strict=True)
        ]
        return found if found[-1][2] >= 0.05 else found[:-1]


def histograms_of(event_histogram: pl.DataFrame) -> dict[str, Histogram]:
    """The histogram of each event of a report's `event_histogram`, its sections merged (`latency_buckets`).

    Examples:
        >>> import polars as pl
        >>> rows = {"event": ["log file sync"] * 2, "waits": [10] * 2, "section": [None] * 2, "from_us": [0.0, 1000.0],
        ...     "to_us": [1000.0, 2000.0], "waits_pct": [40.0, 60.0]}
        >>> histograms_of(pl.DataFrame(rows))["log file sync"].buckets()
        [(0.0, 1000.0, 40.0), (1000.0, 2000.0, 60.0)]
    """
    found = {}
    for (event,), rows in latency_buckets(event_histogram).group_by("event", maintain_order=True):
        waits, share = (float(rows.get_column(name).sum()) for name in ("waits", "waits_pct"))
        # a bucket of two rows of one event, foreground and background, holds the waits of both
        buckets = rows.group_by("from_us", "to_us").agg(pl.col("waits").sum(), pl.len()).sort("from_us", "to_us")
        each = share / max(buckets.get_column("len").to_list()) / waits if waits else 0.0
        below: dict[float, float] = {}
        reached = 0.0
        for start, end, count, _ in buckets.rows():
            if start:
                below.setdefault(start, reached)
            reached = min(100.0, reached + each * count)
            if end is not None:
                below[end] = reached
        if below and waits:
            edges = sorted(below)
            found[str(event)] = Histogram(round(waits), tuple(edges), tuple(round(below[edge], 6) for edge in edges))
    return found


def spread_factor(histogram: Histogram) -> float | None:
    """CV² of the waits, from the upper edges of the buckets: variance over squared mean; None with an open bucket.

    Examples:
        >>> round(spread_factor(Histogram(100, (1000.0, 2000.0), (50.0, 100.0))), 3)
        0.111
    """
    buckets = histogram.buckets()
    if buckets[-1][1] == math.inf:
        return None
    total = sum(share for _, _, share in buckets)
    mean = sum(end * share for _, end, share in buckets) / total
    squares = sum(end * end * share for _, end, share in buckets) / total
    return squares / mean**2 - 1


@dataclass(frozen=True, slots=True)
class Hills:
    """Two separate hills of a histogram: edges in us, shares in per cent."""

    low_from_us: float
    low_to_us: float
    low_pct: float
    high_from_us: float
    high_to_us: float
    high_pct: float
    between_pct: float


def hills_of(histogram: Histogram) -> Hills | None:
    """Two peaks of 10 % or more, at least 8 times apart, with a valley of at most half the smaller peak between them.

    A bucket wider than a doubling is no peak by itself: its share is taken per doubling.  A hill ends where a bucket
    holds less than 40 % of its peak (30 % on the outer side); the open bucket is no peak.

    Examples:
        >>> edges, below = (1e3, 2e3, 4e3, 8e3, 16e3, 32e3), (10.0, 45.0, 47.0, 49.0, 80.0, 100.0)
        >>> hills = hills_of(Histogram(1000, edges, below))
        >>> (hills.low_to_us, hills.low_pct, hills.high_from_us, hills.between_pct)
        (2000.0, 35.0, 8000.0, 4.0)
        >>> hills_of(Histogram(1000, edges, (10.0, 30.0, 60.0, 90.0, 95.0, 100.0))) is None
        True
    """
    buckets = [one for one in _doublings(histogram) if one[1] < math.inf]
    if len(buckets) < 4:
        return None
    heights = [share / max(1.0, math.log2(end / start)) if start > 0 else share for start, end, share in buckets]
    best: tuple[float, int, int] | None = None
    for low in range(len(heights)):
        for high in range(low + 2, len(heights)):
            if min(heights[low], heights[high]) < 10 or buckets[high][1] < 8 * buckets[low][1]:
                continue
            smaller = min(heights[low], heights[high])
            if min(heights[low + 1 : high]) <= smaller / 2 and (best is None or smaller > best[0]):
                best = (smaller, low, high)
    if best is None:
        return None
    _, low, high = best
    valley = min(range(low + 1, high), key=lambda place: heights[place])
    low_end = _foot(heights, low, valley)
    high_start = _foot(heights, high, valley)
    low_start = low
    while low_start > 0 and heights[low_start - 1] >= 0.3 * heights[low]:
        low_start -= 1
    high_end = high
    while high_end + 1 < len(heights) and heights[high_end + 1] >= 0.3 * heights[high]:
        high_end += 1

    def total(first: int, last: int) -> float:
        return round(sum(share for _, _, share in buckets[first : last + 1]), 6)

    return Hills(
        buckets[low_start][0],
        buckets[low_end][1],
        total(low_start, low_end),
        buckets[high_start][0],
        buckets[high_end][1],
        total(high_start, high_end),
        total(low_end + 1, high_start - 1) if high_start > low_end + 1 else 0.0,
    )


def _doublings(histogram: Histogram) -> Iterator[tuple[float, float, float]]:
    """Its buckets; one between the ends of two tables, such as 1 s to 1,024 ms, is left to the next."""
    held: tuple[float, float] | None = None
    for start, end, share in histogram.buckets():
        first, whole = (start, share) if held is None else (held[0], held[1] + share)
        held = (first, whole) if end < _NARROW * start else None
        if held is None:
            yield first, end, whole


def _foot(heights: list[float], peak: int, valley: int) -> int:
    """The last bucket of a hill on its way from the peak to the valley: 40 % of the peak or more."""
    step = 1 if valley > peak else -1
    place = peak
    while place + step != valley and heights[place + step] >= 0.4 * heights[peak]:
        place += step
    return place
