"""Pages as the reports print them: contents with links, anchors, rows of two styles by turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Events in the order of a histogram.
EVENTS: Final = (
    *("db file parallel read", "db file scattered read", "db file sequential read", "direct path read"),
    *("log file parallel write", "log file sync", "read by other session", "row cache lock", "undo segment extension"),
)
_RANGES: Final = ("&lt;1ms", "&lt;2ms", "&lt;4ms")


def row(event: str, number: int, histogram: int = 0) -> str:
    """A row of a histogram; odd numbers have the other style."""
    style = "awrnc" if number % 2 else "awrc"
    figures = [40 + number, 35 - number - histogram, 25 + histogram]
    cells = "".join(
        f'<td align="right" headers="%ofWaits {name}" class=\'{style}\'>{figure}.0</td>'
        for name, figure in zip(_RANGES, figures, strict=True)
    )
    name = f"<td scope=\"row\" class='{style}'>{event}</td>"
    waits = f"<td align=\"right\" class='{style}'>{100 + number}</td>"
    return f"<tr>{name}{waits}{cells}</tr>\n"


def table(summary: str, rows: Iterable[str]) -> str:
    """A histogram of these rows."""
    heads = "".join(f'<th class="awrbg" scope="col">{name}</th>' for name in ("Event", "Total Waits", *_RANGES))
    return f'<table border="0" class="tdiff" summary="{summary}"><tr>\n{heads}</tr>\n{"".join(rows)}</table>'


def section(number: int, title: str, content: str) -> str:
    """A section with its anchor."""
    return f'<a class="awr" name="{number}"></a>\n<h3 class="awr">{title}</h3>\n{content}<p />\n'


def page() -> str:
    """A page of histograms, labels and a table of one row."""
    rows = [[row(event, number, histogram) for number, event in enumerate(EVENTS)] for histogram in range(3)]
    ranges = ("up to 64 us", "up to 32 ms", "up to 2 sec")
    summary = "This table displays total number of waits for each wait event"
    histograms = [
        (10 + place, f"Wait Event Histogram ({name})", table(summary, rows[place])) for place, name in enumerate(ranges)
    ]
    memory = "".join(
        f"<tr><td scope=\"row\" class='awrc'>{label}:</td><td align=\"right\" class='awrc'>{figure}</td></tr>\n"
        for label, figure in (("Host Mem (MB)", 1000), ("SGA use (MB)", 500), ("PGA use (MB)", 100))
    )
    sections = [
        (9, "Memory Statistics", f"<table><tr><th>&#160;</th><th>Begin</th></tr>\n{memory}</table>"),
        *histograms,
        (20, "Wait Event Histogram Detail (4 sec to 2 min)", table("Wait event histogram", rows[0][:1])),
    ]
    contents = "".join(
        f'<li class="awr"><a class="awr" href="#{number}">{title}</a></li>\n' for number, title, _ in sections
    )
    body = "".join(section(*one) for one in sections)
    return (
        "<html><head><title>AWR Report for DB: FIG, Inst: fig, Snaps: 1-2</title></head><body>\n"
        f"<h1>WORKLOAD REPOSITORY report for</h1>\n<ul>\n{contents}</ul>\n{body}</body></html>\n"
    )
