"""Wait event histograms as bars on one axis of doublings, for the first screen of a page."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.metrics.formatting import figure_text
from iolab.metrics.histograms import latency_buckets
from iolab.pages.ledger_html import colour
from logframe.interval import row_figure
from logframe.oracle import wait_class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Place = Callable[[float | None, float], float]

_HEIGHT: Final = 64
_LABEL: Final = 16
#: Shares from here on are written above their bar.
_SHOWN_PCT: Final = 4.0
#: Edges that get a tick, in us.
_TICKS: Final = (1, 4, 16, 64, 256, 1e3, 4e3, 16e3, 64e3, 250e3, 1e6, 4e6, 16e6, 64e6)
_LEAST_PCT: Final = 0.05


def histograms_html(event_histogram: pl.DataFrame, events: Sequence[str]) -> str:
    """The histograms of events, one below the other on one axis; empty where none of them can be drawn.

    An open bucket, of which one end is not known, has a dashed outline.

    Examples:
        >>> rows = {"event": ["log file sync"] * 2, "waits": [100] * 2, "section": [None] * 2, "from_us": [0.0, 1000.0],
        ...     "to_us": [1000.0, 2000.0], "waits_pct": [60.0, 40.0]}
        >>> drawn = histograms_html(pl.DataFrame(rows), ["log file sync"])
        >>> "log file sync" in drawn, drawn.count("<rect"), histograms_html(pl.DataFrame(rows), [])
        (True, 2, '')
    """
    if not events:
        return ""
    counts = {event: counted for event in events if (counted := _counted(event_histogram, event))}
    return buckets_html(
        latency_buckets(event_histogram, events=list(events)),
        counts,
        events=events,
        title="How long a wait took",
        note="Share of waits in each doubling of time, foreground and background; dashed: an open bucket.",
    )


def buckets_html(
    buckets: pl.DataFrame, counts: Mapping[str, str], *, events: Sequence[str], title: str, note: str
) -> str:
    """Distributions of times, one below the other on one axis; empty where none of them can be drawn.

    Args:
        buckets: ``event``, ``from_us``, ``to_us`` and ``waits_pct``, as in `iolab.metrics.histograms.BUCKETS`.
        counts: how many times each has, as text.
        events: which are drawn, in their order.
        title: of the figure.
        note: below the title.
    """
    buckets = buckets.filter(pl.col("waits_pct") >= _LEAST_PCT)
    if buckets.is_empty():
        return ""
    printed = [*buckets.get_column("from_us").drop_nulls(), *buckets.get_column("to_us").drop_nulls()]
    edges = [float(edge) for edge in printed if edge > 0]
    low: float = math.log2(min(edges)) - 1
    high: float = math.log2(max(edges)) + 1

    def place(edge: float | None, default: float) -> float:
        exponent: float = math.log2(edge) if edge else default
        return 100 * (exponent - low) / (high - low)

    rows = []
    for event in events:
        own = buckets.filter(pl.col("event") == event)
        if own.is_empty():
            continue
        top = max(own["waits_pct"])
        rows.append(
            f"<p class=note><code>{html.escape(event)}</code> {html.escape(counts.get(event, ''))}</p>"
            f'<svg width="100%" height="{_HEIGHT + _LABEL + 1}" role="img" aria-label="{_said(event, own)}">'
            f"{''.join(_bar(row, event, place, low, high, top) for row in own.iter_rows(named=True))}</svg>"
        )
    if not rows:
        return ""
    ticks = "".join(
        f'<text x="{place(tick, low):.2f}%" y="12" text-anchor="middle">{_edge(tick)}</text>'
        for tick in _TICKS
        if 4 < place(tick, low) < 96
    )
    return (
        f'<figure class="histogram"><figcaption>{html.escape(title)}</figcaption><p class=note>{html.escape(note)}</p>'
        f'{"".join(rows)}<svg width="100%" height="16" aria-hidden="true">{ticks}</svg></figure>'
    )


def _counted(event_histogram: pl.DataFrame, event: str) -> str:
    """The waits of an event as its largest table prints them: `21.5M` is known to three digits, and shown so."""
    largest = event_histogram.filter(pl.col("event") == event).sort("waits", descending=True, nulls_last=True)
    waits = row_figure(largest.row(0, named=True), "waits")
    return "" if waits is None else f"{figure_text(waits)} waits"


def _bar(row: dict[str, float], event: str, place: Place, low: float, high: float, top: float) -> str:
    share, start, end = row["waits_pct"], row["from_us"], row["to_us"]
    left, right = place(start, low), place(end, high)
    height = max(1.0, share / top * _HEIGHT)
    y = _HEIGHT + _LABEL - height
    is_open = not start or end is None
    wait_class = "Commit" if event.startswith("log file") else wait_class_of(event)
    kind = "open-bucket" if is_open else colour("io" if wait_class == "User I/O" else "wait", wait_class, event)
    width = max(0.2, right - left - 0.3)
    bar = f'<rect class="{kind}" x="{left:.2f}%" y="{y:.1f}" width="{width:.2f}%" height="{height:.1f}"/>'
    if share < _SHOWN_PCT:
        return bar
    middle = (left + right) / 2
    return f'{bar}<text x="{middle:.2f}%" y="{y - 3:.1f}" text-anchor="middle">{share:.0f}</text>'


def _edge(us: float) -> str:
    if us < 1e3:
        return f"{us:g} us"
    return f"{us / 1e3:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def _said(event: str, own: pl.DataFrame) -> str:
    """The largest bucket in words."""
    row = own.sort("waits_pct", descending=True).row(0, named=True)
    end = "or more" if row["to_us"] is None else f"to {_edge(row['to_us'])}"
    return html.escape(f"{event}: {row['waits_pct']:.1f} % took {_edge(row['from_us'])} {end}")
