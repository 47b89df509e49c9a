"""The part of a page about one log: its ledger, findings, charts, tables, folded figures."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.metrics.formatting import as_sentence, count_text
from iolab.pages.drawn import drawn_html
from iolab.pages.elements import split_headline, title_html
from iolab.pages.findings_html import MOST, evidence_html, findings_html, frame_of
from iolab.pages.histogram_html import buckets_html, histograms_html
from iolab.pages.lanes_html import lanes_html, lanes_of
from iolab.pages.ledger_html import covered, ledger_html, total_html
from iolab.pages.ledger_text import below_ledger
from iolab.pages.statements_html import statements_html
from iolab.pages.tables import diagnostics_html, figures_html, frame_html
from iolab.pages.what_if_html import what_if_html
from iolab.rules.finding import findings_frame
from iolab.rules.time_parts import small_gaps
from iolab.views import view_of
from logframe.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from iolab.pages.summary import LogSummary
    from iolab.pages.what_if_html import Run

    _Chart = tuple[Mapping[str, Any], str]

#: The bar of contents of a page of one log.
ONE_LOG_CONTENTS: Final = (
    ("log-1", "Findings"),
    ("log-1-what", "Ledger"),
    ("log-1-statements", "Statements"),
    ("log-1-charts", "Charts"),
    ("log-1-tables", "Tables"),
    ("log-1-cited", "Evidence"),
    ("log-1-figures", "Figures"),
)
#: What a trace says of its session, and what the grey line calls it.
_OF_SESSIONS: Final = {"service": "service", "module": "module", "client_driver": "driver"}
_HISTOGRAM: Final = "event_histogram"
#: Rows of a table on a page; its script folds all but the first.
_MOST_ROWS: Final = 60
#: The width of a plot beside findings, with its labels half a page.
BESIDE: Final = 320
#: The width of a plot in a column of half a page, without its labels: a wider one would be scaled down with its text.
COLUMN: Final = 460
_MOST_HISTOGRAMS: Final = 3


def contents_html(links: Iterable[tuple[str, str]]) -> str:
    """The bar at the top of a page: identifiers and what to call them.

    Examples:
        >>> contents_html([("log-1", "Findings")])
        '<nav class="contents" aria-label="contents"><b>iolab</b><a href="#log-1">Findings</a></nav>'
    """
    items = "".join(f'<a href="#{anchor}">{html.escape(said)}</a>' for anchor, said in links)
    return f'<nav class="contents" aria-label="contents"><b>iolab</b>{items}</nav>'


def log_section(
    number: int, name: str, seen: LogSummary, *, is_only: bool = False, is_drawn: bool = True, runs: Sequence[Run] = ()
) -> str:
    """All that a page says of a log.

    Args:
        number: of the log on its page.
        name: what the page calls it.
        seen: its summary.
        is_only: whether the page is about this log alone; what it is is then the heading of the page.
        is_drawn: whether its charts are drawn, at two widths; on a page of many logs the ledger is enough.
        runs: what other traces of the page took for the same rows.
    """
    anchor = f"log-{number}"
    title = split_headline(printable(seen.headline))[0] if is_only else printable(seen.headline)
    parts = [f'<section id="{anchor}"><h2>{title_html(title)}</h2><p class="lead">{_identity(seen, name)}</p>']
    statements, links = statements_html(seen, anchor=anchor) if is_drawn else ("", {})
    cited_tables = {one["table"] for evidence in seen.findings.get_column("evidence") for one in evidence}
    links = {table: f"{anchor}-{table}" for table in cited_tables} | links
    if seen.ledger is not None:
        parts.append(total_html(seen.ledger, anchor=anchor, linked=links))
    histograms = _histograms(seen)
    lanes = lanes_html(lanes_of({name: seen.log})) if is_drawn else ""
    drawn = (
        [(chart.to_dict(), f"{name}: {seen.what}") for chart in seen.charts(name=name)]
        if is_drawn and not lanes
        else []
    )
    if not seen.findings.is_empty():
        # without a ledger the first chart is the picture of the log
        early = 1 if drawn and not histograms and seen.ledger is None else 0
        first = "".join(drawn_html(spec, label=label, width=BESIDE) for spec, label in drawn[:early])
        del drawn[:early]
        cells = [cell for cell in (_ledger(seen, anchor, links, runs, drawn), histograms, first) if cell]
        beside = (
            f'<div class="beside-findings">{"".join(f"<div>{cell}</div>" for cell in cells)}</div>' if cells else ""
        )
        found = below_ledger(seen.findings, seen.ledger)
        if seen.ledger is not None and found.height < MOST and (gaps := [*small_gaps(seen.ledger, found)]):
            found = pl.concat([found, findings_frame(gaps)]).sort("refused", maintain_order=True)
        said = findings_html(found, anchor=anchor)
        # a ledger needs the whole width
        kind = "first beside" if beside and seen.ledger is None else "first"
        parts.append(f'<div class="{kind}"><div>{said}</div>{beside}</div>')
    parts += [f"<p>{html.escape(as_sentence(note))}</p>" for note in seen.notes]
    parts.append(statements)
    if lanes:
        parts.append(f'<div id="{anchor}-charts">{lanes}</div>')
    if drawn:
        parts.append(f'<div id="{anchor}-charts" class="two">{_in_columns(drawn)}</div>')
    cited, whole = evidence_html(seen.log, seen.findings, anchor=anchor, shown=seen.frames)
    tables = "".join(
        f'<div id="{anchor}-{title}">' * (title in whole)
        + "<div>" * (title not in whole)
        + f"<h4>{html.escape(title.replace('_', ' '))}</h4>{frame_html(frame, most=_MOST_ROWS)}</div>"
        for title, frame in seen.frames.items()
        if title != "head" and frame.height
    )
    if tables:
        parts.append(f'<div id="{anchor}-tables"><h3>Tables</h3><div class="tables">{tables}</div></div>')
    if cited:
        parts.append(
            f'<div id="{anchor}-cited"><h3>Rows that findings cite</h3><div class="tables">{cited}</div></div>'
        )
    if seen.figures.height:
        figures = figures_html(seen.figures)
        parts.append(f'<details id="{anchor}-figures"><summary>Figures with bounds</summary>{figures}</details>')
    if seen.diagnostics.height:
        remarks = diagnostics_html(seen.diagnostics)
        said = f"What was not read, or is worth a look: {seen.diagnostics.height:,}"
        parts.append(f"<details><summary>{said}</summary>{remarks}</details>")
    body = "".join(parts) + "</section>"
    for level in (2, 3, 4) if is_only else ():  # its heading is that of the page
        body = body.replace(f"<h{level}>", f"<h{level - 1}>").replace(f"</h{level}>", f"</h{level - 1}>")
    return body


def _ledger(seen: LogSummary, anchor: str, links: Mapping[str, str], runs: Sequence[Run], drawn: list[_Chart]) -> str:
    """The tables of the ledger, whose rows lead to their statement, else to the evidence that is on the page.

    A table that would stand alone takes the first chart beside it.
    """
    if seen.ledger is None or seen.ledger.void:
        return ""
    columns = view_of(seen.log.format).columns
    rows = next(iter(seen.figures.filter(pl.col("metric") == "array_size").get_column("value")), None)
    trips = seen.frames["round_trips"].head(1).to_dicts() if "round_trips" in seen.frames else []
    beside = what_if_html(seen.ledger, anchor=anchor, rows=rows, trips=next(iter(trips), {}), runs=runs)
    if drawn and not beside and not {"what", "who"} <= set(seen.ledger.views):
        beside = _in_columns([drawn.pop(0)])
    return ledger_html(
        seen.ledger,
        anchor=anchor,
        columns=None if columns is None else columns(seen.log),
        linked=links,
        beside=beside,
        is_second=rows is not None,
    )


def _in_columns(drawn: Iterable[_Chart]) -> str:
    return "".join(f"<div>{drawn_html(spec, label=label, width=COLUMN)}</div>" for spec, label in drawn)


def _histograms(seen: LogSummary) -> str:
    """The histograms that findings cite, drawn; of a log that is one, its largest."""
    if (buckets := view_of(seen.log.format).buckets) is not None:
        drawn = buckets(seen.log)
        counts = drawn.group_by("event", maintain_order=True).agg(pl.col("waits").sum())
        return buckets_html(
            drawn,
            {event: count_text(count, "time") for event, count in counts.iter_rows()},
            events=counts.get_column("event").to_list(),
            title="How long each took",
            note="Share of the times in each bucket, all tables of a group together; dashed: an open bucket.",
        )
    cited = [
        name
        for evidence in seen.findings.get_column("evidence")
        for one in evidence
        if one["table"] == _HISTOGRAM
        for name in one["rows"]
    ]
    if not cited:
        return ""
    frame = frame_of(seen.log, _HISTOGRAM)
    return "" if frame is None else histograms_html(frame, list(dict.fromkeys(cited))[:_MOST_HISTOGRAMS])


def _within_day(period: str) -> str:
    """A period without its day, which the title has, where it is one day."""
    begin, _, end = period.partition(" to ")
    day = begin.partition(" ")[0]
    return period if not day or not end.startswith(f"{day} ") else period.replace(f"{day} ", "")


def _identity(seen: LogSummary, name: str) -> str:
    """The name of the log, its head where it has one, and how far to trust it, in one line."""
    head = seen.frames.get("head")
    kind = split_headline(seen.headline)[1]  # with its release, else what the log says of itself
    what = kind if kind[-1:].isdigit() else seen.what
    parts = [name] if what in seen.headline else [name, what]
    if head is not None and {"what", "value"} <= set(head.columns):
        said = f"{seen.headline}, {seen.what}"
        for what, value in head.select("what", "value").iter_rows():
            pieces = str(value).split(", ")
            new = [one for one in pieces if one not in said]
            is_named = new and new[0] == pieces[0] and what != "period"
            parts += [f"{what} {', '.join(new)}" if is_named else _within_day(", ".join(new))] if new else []
    session = frame_of(seen.log, "session")
    own = {} if session is None or "value" not in session.columns else dict(session.select("name", "value").rows())
    parts += [f"{said} {own[name].replace(' : ', ' ')}" for name, said in _OF_SESSIONS.items() if own.get(name)]
    process = getattr(getattr(seen.log, "head", None), "process", None)
    started = getattr(getattr(seen.log, "info", None), "startup_hour", None)
    parts += [f"process {process}"] * (process is not None)
    parts += [f"up since {started:%Y-%m-%d}"] if started is not None else []
    return html.escape(" · ".join([*parts, *covered(seen.ledger)]))
