"""When each of several logs was: one line a log, its time as a bar; logs that are far apart stand beside each other."""

from __future__ import annotations

import html
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from iolab.metrics.formatting import until_text

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A log's begin and end on its own clock, and whether that is UTC.
Span = tuple[datetime, datetime, bool]

#: A gap of more than this many times the longest log breaks the axis.
_FAR: Final = 5
#: Between parts of a broken axis, in per cent of the width.
_GAP: Final = 6.0
_LEAST: Final = 0.8


def when_html(spans: Mapping[str, Span | None]) -> str:
    """The times of logs as bars, the earliest of each clock first; empty where fewer than two logs have any.

    Logs that are far apart, and logs in UTC and in local time, stand beside each other on a broken axis.

    Args:
        spans: begin, end and clock of each log by its name; None for a log without a date.

    Examples:
        >>> day = datetime(2026, 9, 14, 20)
        >>> hour, minute = timedelta(hours=1), timedelta(minutes=1)
        >>> drawn = when_html({"a": (day, day + hour, False), "b": (day + minute, day + 2 * minute, False), "c": None})
        >>> drawn.count("<rect"), "not to scale" in drawn, "no date in the log" in drawn
        (2, False, True)
        >>> later = when_html({"a": (day, day + hour, False), "b": (day + 900 * hour, day + 901 * hour, False)})
        >>> "far apart" in later, when_html({"a": (day, day + hour, False)})
        (True, '')
        >>> "Local time" in when_html({"a": (day, day + hour, False), "b": (day, day + hour, True)})
        True
    """
    timed = sorted(
        ((span, name) for name, span in spans.items() if span is not None), key=lambda one: (one[0][2], one[0])
    )
    if len(timed) < 2:
        return ""
    parts = [part for is_utc in (False, True) for part in _parts([span for span, _ in timed if span[2] is is_utc])]
    rows = [_row(name, _text(span), *_place(span, parts)) for span, name in timed]
    rows += [_row(name, "no date in the log") for name, span in spans.items() if span is None]
    clocks = {part[2] for part in parts}
    notes = []
    if len(clocks) > 1:
        notes.append("Local time and UTC stand apart: the logs do not say how far they differ.")
    if len(parts) > len(clocks):
        notes.append("Axis not to scale: the logs are far apart.")
    note = f'<p class="note">{" ".join(notes)}</p>' if notes else ""
    return f'<figure class="when"><figcaption>When each log was</figcaption>{note}{"".join(rows)}</figure>'


def _parts(spans: list[Span]) -> list[Span]:
    """The parts of the axis of one clock, in their order: logs that overlap, or are near, are on one."""
    longest = max((end - begin for begin, end, _ in spans), default=timedelta())
    found: list[Span] = []
    for begin, end, is_utc in spans:
        if found and begin - found[-1][1] <= _FAR * longest:
            found[-1] = (found[-1][0], max(found[-1][1], end), is_utc)
        else:
            found.append((begin, end, is_utc))
    return found


def _place(span: Span, parts: list[Span]) -> tuple[float, float]:
    """Where the bar of a log begins, and its width, in per cent of the axis."""
    number = next(place for place, part in enumerate(parts) if part[2] is span[2] and part[0] <= span[0] <= part[1])
    begin, end, _ = parts[number]
    available = (100 - _GAP * (len(parts) - 1)) / len(parts)
    whole = (end - begin).total_seconds()
    low, high = (((moment - begin).total_seconds() / whole if whole else 0.0) for moment in span[:2])
    width = max(_LEAST, (high - low) * available)
    return min(number * (available + _GAP) + low * available, 100 - width), width


def _row(name: str, said: str, left: float | None = None, width: float = 0.0) -> str:
    bar = "" if left is None else f'<rect class="c-single_block" x="{left:.2f}%" width="{width:.2f}%" height="14"/>'
    return (
        f'<div><b>{html.escape(name)}</b><svg width="100%" height="14" aria-hidden="true">{bar}</svg>'
        f"<span>{said}</span></div>"
    )


def _text(span: Span) -> str:
    """Both ends, to the second; the day once where it is one."""
    begin, end, is_utc = span
    until = "" if end - begin < timedelta(seconds=1) else f" to {until_text(begin, end)}"
    ends = f"{begin:%Y-%m-%d %H:%M:%S}{until}"
    return f"{ends} UTC" if is_utc else ends
