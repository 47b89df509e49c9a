"""Lanes: quantities of hosts and databases over one time axis, in which a range is chosen in all lanes at once.

The lanes are drawn here, as SVG in per cent of the width; the page's script chooses ranges.  Without script all of the
time is shown, and its figures are in the table below.
"""

from __future__ import annotations

import html
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from iolab.charts.theme import CATEGORIES
from iolab.evidence.time_lines import OVER_TIME, over_time
from iolab.metrics.formatting import figure_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from logframe.formats import ParsedLog

#: Lines of a series; of more samples neighbouring ones are one line.
MOST_LINES: Final = 600
_HEIGHT: Final = 84
_LEAST_INTERVALS: Final = 3
#: Periods that cover less of the time between the first and the last are not on one axis.
_LEAST_COVERED: Final = 0.02
#: Steps of the time axis in seconds; the first that gives at most this many ticks is taken.
_STEPS: Final = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000)
_MOST_TICKS: Final = 7
_DAY: Final = timedelta(days=1)


def lanes_of(logs: Mapping[str, ParsedLog]) -> pl.DataFrame:
    """What lanes show of logs: as `lanes_over`."""
    return lanes_over({name: over_time({name: log}) for name, log in logs.items()}, infos_of(logs))


def infos_of(logs: Mapping[str, ParsedLog]) -> dict[str, object]:
    """What each log says it is; None of one without a head."""
    return {name: getattr(log, "info", None) for name, log in logs.items()}


def lanes_over(figures: Mapping[str, pl.DataFrame], infos: Mapping[str, object]) -> pl.DataFrame:
    """What lanes show of logs; reports of one instance are one series.

    Args:
        figures: what `iolab.evidence.over_time` gives of each log by its name.
        infos: what `infos_of` gives of the same logs.

    Returns:
        `iolab.evidence.time_lines.OVER_TIME`; without a row where there are fewer than two quantities or three
        intervals, or where the intervals are too far apart for one axis.
    """
    called = _series(infos)
    frames = [
        frame.with_columns(
            pl.col("series").str.replace(name, called[name], literal=True).str.strip_chars().replace("", "all")
        )
        for name, frame in figures.items()
    ]
    empty = pl.DataFrame(schema=OVER_TIME)
    rows = pl.concat(frames).filter(pl.col("end") > pl.col("begin")) if frames else empty
    if not _is_covered(rows):  # far from the rest: only what is near the log with most samples
        most = max(frames, key=lambda one: one.height, default=empty)
        if most.height:
            begin, end = most.select(pl.col("begin").min(), pl.col("end").max()).row(0)
            rows = rows.filter(pl.col("end") > begin - (end - begin), pl.col("begin") < end + (end - begin))
    is_enough = rows.get_column("panel").n_unique() > 1 and rows.get_column("begin").n_unique() >= _LEAST_INTERVALS
    return rows if is_enough and _is_covered(rows) else empty


def _is_covered(rows: pl.DataFrame) -> bool:
    """Whether the intervals are near enough for one axis."""
    if rows.is_empty():
        return False
    whole = rows.select(pl.col("end").max() - pl.col("begin").min()).item()
    covered = rows.select("begin", "end").unique().select((pl.col("end") - pl.col("begin")).sum()).item()
    return bool(covered >= _LEAST_COVERED * whole)


def _series(infos: Mapping[str, object]) -> dict[str, str]:
    """What each log is called: the instance of a report, with the database where two are of one name; else its name.

    The only log has none.
    """
    called = {}
    databases: dict[str, set[str]] = {}
    for name, info in infos.items():
        instance = getattr(info, "instance", None) or getattr(info, "db_name", None)
        called[name] = str(instance) if instance else name if len(infos) > 1 else ""
        databases.setdefault(called[name], set()).add(str(getattr(info, "db_id", None)))
    return {
        name: f"{said} of {getattr(infos[name], 'db_id', None)}" if len(databases[said]) > 1 else said
        for name, said in called.items()
    }


def lanes_html(rows: pl.DataFrame) -> str:
    """The lanes, one a quantity, with a table of means; empty without rows.

    Args:
        rows: what `lanes_of` gives.

    Examples:
        >>> from datetime import datetime, timedelta
        >>> times = [datetime(2026, 9, 14, 20) + timedelta(minutes=minute) for minute in range(4)]
        >>> rows = pl.DataFrame([(panel, "db1", begin, begin + timedelta(minutes=1), value)
        ...     for panel in ("read (MB/s)", "busy (%)") for begin, value in zip(times, (5.0, 7.0, 6.0, 2.0))],
        ...     schema=OVER_TIME, orient="row")
        >>> page = lanes_html(rows)
        >>> page.count("<line"), page.count('class="plot"'), "20:02" in page
        (10, 2, True)
        >>> lanes_html(rows.clear())
        ''
    """
    if rows.is_empty():
        return ""
    begin, end = rows.select(pl.col("begin").min(), pl.col("end").max()).row(0)
    lanes: list[str] = []
    table: list[str] = []
    for panel in rows.get_column("panel").unique(maintain_order=True):
        own = rows.filter(pl.col("panel") == panel)
        top = float(own.select(pl.col("value").max()).item() or 0.0)
        groups = []
        for place, ((series,), part) in enumerate(own.group_by("series", maintain_order=True)):
            colour = CATEGORIES[place % len(CATEGORIES)]
            groups.append(_lines(_shortened(part), len(table), colour, (begin, end), top))
            table.append(_row(panel, str(series), part, colour))
        grid = f'<line x1="0" x2="100%" y1="{_HEIGHT - 1}" y2="{_HEIGHT - 1}" class="zero"/>'
        lanes.append(
            f'<p class="lane-name">{html.escape(panel)}</p><div class="lane"><p class="lane-axis">'
            f'<span>{figure_text(top)}</span><span>0</span></p><svg class="plot" width="100%" height="{_HEIGHT}" '
            f'role="img" aria-label="{html.escape(panel)} over time">{grid}{"".join(groups)}</svg></div>'
        )
    note = (
        "A line is the mean of its interval, a mean of the table is by time. Drag in a lane to choose a range in all "
        "of them; Escape shows all again."
    )
    if any(part.height > MOST_LINES for _, part in rows.group_by("panel", "series")):
        note += f" Of series of more than {MOST_LINES:,} samples neighbouring ones are one line."
    return (
        f'<figure class="drawn lanes" data-start="{_milliseconds(begin)}" data-end="{_milliseconds(end)}">'
        f'<figcaption>Over time</figcaption><p class="note">{note}</p>{"".join(lanes)}'
        f'<div class="lane"><p></p><svg width="100%" height="18" aria-hidden="true">{ticks(begin, end)}</svg></div>'
        f'<p class="note chosen" aria-live="polite">{_text(begin)} to {_text(end, begin)}, on the clock of the '
        'logs</p><table class="lane-table"><thead><tr><th>quantity</th><th>series</th><th class="number">samples</th>'
        '<th class="number">mean</th><th class="number">largest</th></tr></thead>'
        f"<tbody>{''.join(table)}</tbody></table></figure>"
    )


def _shortened(part: pl.DataFrame) -> pl.DataFrame:
    """At most `MOST_LINES` rows: neighbouring intervals are one, with the mean of their values."""
    if part.height <= MOST_LINES:
        return part
    ordered = part.sort("begin").with_row_index("place")
    return ordered.group_by(pl.col("place") * MOST_LINES // part.height, maintain_order=True).agg(
        pl.col("begin").min(), pl.col("end").max(), pl.col("value").mean()
    )


def _lines(part: pl.DataFrame, row: int, colour: str, span: tuple[datetime, datetime], top: float) -> str:
    begin, whole = span[0], (span[1] - span[0]).total_seconds()
    lines = []
    for start, stop, value in part.select("begin", "end", "value").iter_rows():
        low, high = (100 * (one - begin).total_seconds() / whole for one in (start, stop))
        y = _HEIGHT - 2 - (_HEIGHT - 6) * (value / top if top > 0 else 0.0)
        lines.append(f'<line x1="{low:.2f}%" x2="{high:.2f}%" y1="{y:.1f}" y2="{y:.1f}" data-v="{value:.5g}"/>')
    return f'<g data-row="{row}" stroke="{colour}" stroke-width="2" stroke-linecap="square">{"".join(lines)}</g>'


def _row(panel: str, series: str, part: pl.DataFrame, colour: str) -> str:
    seconds = (pl.col("end") - pl.col("begin")).dt.total_microseconds()
    mean = part.select((pl.col("value") * seconds).sum() / seconds.sum()).item()
    chip = f'<svg width="14" height="9" aria-hidden="true"><rect width="14" height="4" y="3" fill="{colour}"/></svg> '
    numbers = (f"{part.height:,}", figure_text(float(mean)), figure_text(part.select(pl.col("value").max()).item()))
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return f"<tr><td>{html.escape(panel)}</td><td>{chip}{html.escape(series)}</td>{cells}</tr>"


def ticks(begin: datetime, end: datetime, *, most: int = _MOST_TICKS) -> str:
    """The labels of a time axis, placed in per cent of the width, at most so many."""
    whole = (end - begin).total_seconds()
    step = next((one for one in _STEPS if whole / one <= most), _STEPS[-1])
    midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    first = midnight + timedelta(seconds=step * -(-(begin - midnight).total_seconds() // step))
    count = int((end - first).total_seconds() // step) + 1 if first <= end else 0
    parts = []
    for tick in (first + timedelta(seconds=step * number) for number in range(min(count, 2 * most))):
        place = 100 * (tick - begin).total_seconds() / whole
        anchor = "start" if place < 5 else "end" if place > 95 else "middle"
        parts.append(f'<text x="{place:.2f}%" y="13" text-anchor="{anchor}">{_tick_text(tick, whole, step)}</text>')
    return "".join(parts)


def _tick_text(tick: datetime, whole: float, step: int) -> str:
    if step >= _DAY.total_seconds():
        return f"{tick:%Y-%m-%d}"
    if whole > _DAY.total_seconds():
        return f"{tick:%m-%d %H:%M}"
    return f"{tick:%H:%M:%S}" if step < 60 else f"{tick:%H:%M}"


def _text(time: datetime, begin: datetime | None = None) -> str:
    """A time, with its day unless it is the end of a range within one day."""
    return f"{time:%H:%M:%S}" if begin is not None and begin.date() == time.date() else f"{time:%Y-%m-%d %H:%M:%S}"


def _milliseconds(time: datetime) -> int:
    """Milliseconds since 1970 of a time without zone, as if it were UTC: the script shows it the same way."""
    return round((time - datetime(1970, 1, 1)).total_seconds() * 1000)  # noqa: DTZ001 - times of logs have no zone
