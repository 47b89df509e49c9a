"""Reports of one instance over time: sessions active, the same by part, and the latency of the largest wait."""

from __future__ import annotations

import html
from datetime import timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from iolab.pages.heat_html import leading_wait, parts_of
from iolab.pages.lanes_html import ticks
from iolab.pages.ledger_html import pattern_html
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from iolab.pages.ledger_folder import LogRow

_LEAST_LOGS: Final = 3
#: Of more reports the values are left out; the cells stay.
_MOST_VALUES: Final = 24
#: Labels of the axis; and the width of that of a restart, in per cent of the strip.
_MOST_TICKS: Final = 15
_LABEL: Final = 34.0
#: An event with this share of its class stands for it.
_NEARLY_ALL: Final = 0.9
#: Rows of parts; smaller ones are not shown.
_MOST_PARTS: Final = 9
#: A value is printed from this many sessions on.
_LEAST_VALUE: Final = 0.05
_ROW: Final = 21
_BARS: Final = 84
#: Opacity of a cell: this much for almost nothing, and the rest in proportion.
_FAINT: Final = 0.12
#: From this opacity on its figure is in the colour of the background.
_DARK: Final = 0.8
#: Reports that are apart by no more follow one another: a snapshot takes that long.
SNAPSHOT: Final = timedelta(minutes=1)
#: Hatchings: time without a report, and time without a name.
_MISSING: Final = "no-report"
_UNKNOWN: Final = "strip-unknown"

#: What a row of the strip draws of a report: when, how tall or dark from 0 to 1, and its value as a text.
_Cell = tuple["datetime", "datetime", float, str]


def strip_html(logs: Mapping[str, LogRow], links: Mapping[str, str], changed: Sequence[dict[str, Any]] = ()) -> str:
    """The strip; empty of fewer than three reports with sessions and a period.

    Args:
        logs: the row of each log by its name, all of one kind.
        links: the identifier of each log's part of the page.
        changed: what `iolab.pages.ledger_folder.changed_parameters` gives of them.
    """
    shown: dict[str, tuple[datetime, datetime, float]] = {}
    sessions: dict[str, dict[str, float]] = {}
    styles: dict[str, str] = {}
    events: dict[str, dict[str, float]] = {}
    for name, one in logs.items():
        total, elapsed = one.ledger.total, one.ledger.elapsed
        if one.begin is None or one.end is None or total is None or elapsed is None or elapsed.value <= 0:
            continue
        shown[name] = (one.begin, one.end, float(total.value / elapsed.value))
        for part, (style, seconds) in parts_of(one.ledger).items():
            sessions.setdefault(part, {})[name] = seconds / elapsed.value
            styles[part] = style
        for row in one.ledger.parts("what").to_dicts() if "what" in one.ledger.views else []:
            if row["parent"] is not None and row["class"] in sessions:
                own = events.setdefault(row["class"], {})
                own[row["name"]] = own.get(row["name"], 0.0) + row["seconds"] / elapsed.value
    if len(shown) < _LEAST_LOGS:
        return ""
    span = (min(begin for begin, _, _ in shown.values()), max(end for _, end, _ in shown.values()))
    restarts = _restarts(logs, span)
    changed = changed if restarts else ()
    missing = _missing([(begin, end) for begin, end, _ in shown.values()])

    def line(
        label: str, values: Mapping[str, float], texts: Mapping[str, str], kind: str, top: float, high: int
    ) -> str:
        cells = {name: (*shown[name][:2], value / top, texts.get(name, "")) for name, value in values.items()}
        return _row(label, cells, span, (restarts, missing), kind, high, links)

    active = {name: size for name, (_, _, size) in shown.items()}
    has_values = len(shown) <= _MOST_VALUES
    rows = [line("sessions active", active, _texts(active, has_values), "c-bars", max(active.values()) or 1.0, _BARS)]
    large = [part for part, of in sessions.items() if max(of.values()) >= _LEAST_VALUE]
    order = sorted(large, key=lambda part: (styles[part] == "c-unknown", -sum(sessions[part].values()), part))
    darkest = max(max(of.values()) for of in sessions.values())
    rows += [
        line(_named(part, events), sessions[part], _texts(sessions[part], has_values), styles[part], darkest, _ROW)
        for part in order[:_MOST_PARTS]
    ]
    slow, waits = leading_wait({name: logs[name].ledger for name in shown})
    if waits:
        own = {name: 1e3 * row["avg"] for name, row in waits.items()}
        rows.append(
            line(f"average ms of `{slow}`", own, _texts(own, has_values), "c-single_block", max(own.values()), _BARS)
        )
    patterns = pattern_html(_MISSING, 9) + pattern_html(_UNKNOWN, 6)
    hours = ticks(*span, most=_MOST_TICKS)
    axis = f'<svg class="axis" width="100%" height="18" aria-hidden="true"><defs>{patterns}</defs>{hours}</svg>'
    note = "Cells: sessions active in that part, darker is more."
    chip = f'<svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" {_fill(_MISSING)}/></svg>'
    note += f" {chip} No report of this time." if missing else ""
    return (
        f'<figure class="strip" id="strip"><figcaption class="strip-row"><span>{len(shown)} reports over time</span>'
        f'<svg width="100%" height="{34 if changed else 18}">{_labels(restarts, span, changed)}</svg></figcaption>'
        f"{''.join(rows)}"
        f'<div class="strip-row"><span></span>{axis}</div><p class="note">{note}</p></figure>'
    )


def _missing(spans: list[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    """The times that no report covers."""
    ends = accumulate((end for _, end in sorted(spans)), max)
    later = [begin for begin, _ in sorted(spans)][1:]
    return [(end, begin) for end, begin in zip(ends, later, strict=False) if begin - end > SNAPSHOT]


def _fill(pattern: str) -> str:
    """What paints a piece with a hatching of the strip."""
    return f'class="{pattern}" fill="url(#{pattern})"'


def _texts(values: Mapping[str, float], has_values: bool) -> dict[str, str]:  # noqa: FBT001 - one of two forms
    return {
        name: f"{value:,.{1 if value >= 1 else 2}f}"
        for name, value in values.items()
        if has_values and value >= _LEAST_VALUE
    }


def _restarts(logs: Mapping[str, LogRow], span: tuple[datetime, datetime]) -> list[datetime]:
    """When the instance was started between the first report and the last; times within an hour are one."""
    found: dict[datetime, datetime] = {}
    for when in sorted(one.started for one in logs.values() if one.started is not None):
        if span[0] < when < span[1]:
            found.setdefault(when.replace(minute=0, second=0), when)
    return list(found.values())


def _named(part: str, events: Mapping[str, Mapping[str, float]]) -> str:
    """A class by its event where that is nearly all of it."""
    own = events.get(part, {})
    name = max(own, key=lambda event: own[event], default="")
    return f"`{name}`" if name and own[name] >= _NEARLY_ALL * sum(own.values()) else part


def _labels(restarts: list[datetime], span: tuple[datetime, datetime], changed: Sequence[dict[str, Any]]) -> str:
    """The time of each restart, and a parameter that it changed, beside its line; one near the last is a line alone."""
    drawn, last = "", -_LABEL
    for when in restarts:
        place = 100 * (when - span[0]) / (span[1] - span[0])
        if place - last >= _LABEL:
            side, dx, last = ("end", -4, place) if place > _LABEL else ("start", 4, place)
            label = f"restart {when:%Y-%m-%d %H:%M}"
            own = [row for row in changed if row["from_time"] <= when <= row["to_time"]]
            more = f" and {len(own) - 1} more" if len(own) > 1 else ""
            said = [f"{row['parameter']} {row['before']} → {row['after']}{more}" for row in own[:1]]
            for line, text in enumerate((label, *said)):
                at = f'x="{place:.2f}%" y="{14 + 16 * line}" dx="{dx}" text-anchor="{side}"'
                drawn += f'<text {at} class="when{" setting" * line}">{html.escape(printable(text))}</text>'
    return drawn


def _row(
    label: str,
    cells: Mapping[str, _Cell],
    span: tuple[datetime, datetime],
    marks: tuple[list[datetime], list[tuple[datetime, datetime]]],
    kind: str,
    high: int,
    links: Mapping[str, str],
) -> str:
    whole = (span[1] - span[0]).total_seconds()

    def place(when: datetime) -> float:
        return 100 * (when - span[0]).total_seconds() / whole

    is_bar = high == _BARS
    drawn = [f'<rect width="100%" height="{high - 1}" class="ground"/>']
    drawn += [
        f'<rect x="{place(begin):.2f}%" width="{place(end) - place(begin):.2f}%" height="{high}" {_fill(_MISSING)}/>'
        for begin, end in marks[1]
    ]
    for name, (begin, end, size, text) in cells.items():
        left, width = place(begin), place(end) - place(begin)
        tall = max(1.0, size * (high - 18)) if is_bar else high - 1
        dark = 1.0 if is_bar else _FAINT + (1 - _FAINT) * size
        is_open = kind in {"c-unknown", "c-twice"}
        painted = _fill(_UNKNOWN) if is_open else f'class="{kind}" fill-opacity="{dark:.2f}"'
        y = high - 1 - tall if is_bar else 0
        middle, on = left + width / 2, "" if is_bar or is_open or dark < _DARK else ' class="on-piece"'
        figure = f'<text x="{middle:.2f}%" y="{y - 4 if is_bar else 15:.1f}" text-anchor="middle"{on}>{text}</text>'
        tip = html.escape(f"{printable(name)}, {begin:%Y-%m-%d %H:%M}: {label.replace('`', '')} {text}".strip())
        piece = f'<rect x="{left:.2f}%" y="{y:.1f}" width="{width:.2f}%" height="{tall:.1f}" {painted}/>'
        piece = f"<g><title>{tip}</title>{piece}{figure if text else ''}</g>"
        log = html.escape(printable(name))
        drawn.append(f'<a href="#{links[name]}" data-log="{log}">{piece}</a>' if name in links else piece)
    drawn += [f'<line x1="{place(one):.2f}%" x2="{place(one):.2f}%" y2="{high}" class="restart"/>' for one in marks[0]]
    first, *code = html.escape(printable(label)).split("`")
    painted = _fill(_UNKNOWN) if kind in {"c-unknown", "c-twice"} else f'class="{kind}"'
    chip = f'<svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" {painted}/></svg> '
    said = ("" if is_bar else chip) + first + (f"<code>{code[0]}</code>" if code else "")
    return (
        f'<div class="strip-row"><span>{said}</span><svg width="100%" height="{high}" role="group" '
        f'aria-label="{html.escape(printable(label.replace("`", "")))} over time">{"".join(drawn)}</svg></div>'
    )
