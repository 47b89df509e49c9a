"""`write_report`: any mix of logs as one self-contained page."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from iolab.comparison import Pairing, pair_all
from iolab.comparison.result import WHAT_CHANGED
from iolab.evidence.time_lines import over_time
from iolab.loading import load
from iolab.metrics.formatting import as_sentence
from iolab.metrics.report_figures import report_facts
from iolab.metrics.table import REFUSED
from iolab.pages import page_html
from iolab.pages.drawn import drawn_html
from iolab.pages.elements import large_html, marked_html, split_headline, title_html
from iolab.pages.findings_html import (
    Said,
    findings_html,
    frame_of,
    moves_html,
    part_anchor,
    sentences_html,
    verdict_html,
)
from iolab.pages.heat_html import heat_html
from iolab.pages.lanes_html import infos_of, lanes_html, lanes_over
from iolab.pages.ledger_folder import (
    LEAST,
    LogRow,
    change_base,
    changed_parameters,
    folder_head,
    in_time,
    log_row,
    sets_head,
)
from iolab.pages.ledger_text import sentences
from iolab.pages.log_section import BESIDE, ONE_LOG_CONTENTS, contents_html, log_section
from iolab.pages.metric_table import figure_rows
from iolab.pages.sections import reason_of, refuse_empty, write_page
from iolab.pages.statements_html import shared_html, statements_of
from iolab.pages.strip_html import SNAPSHOT, strip_html
from iolab.pages.summary import LogSummary, summarize
from iolab.pages.tables import frame_html
from iolab.pages.waterfall_html import beside_waterfall_html, waterfall_html
from iolab.pages.what_if_html import measured_runs
from iolab.pages.when_html import when_html
from iolab.rules.finding import is_nothing
from iolab.rules.pairs import OF_COMPARISONS
from iolab.rules.run import findings_together
from iolab.sources import NamedLog, Place, find_logs
from iolab.time_ledger.reports import plan_of
from iolab.views import view_of
from logframe.atomic import check_output
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

#: The figures that the summary of a page names, the first three that a log has.
_HEADLINES: Final = (
    *("ms_per_flash_read", "db_time_s", "average_active_sessions", "read_mb_per_s", "avg_read_kib"),
    *("latency_us_p50 (sync)", "latency_us_p50 (async)", "elapsed_s", "us_per_lio", "reads"),
)
_MOST_HEADLINES: Final = 3
#: The bar of contents of a page of many logs.
_CONTENTS: Final = (
    ("strip", "Time line"),
    ("heat", "Where time went"),
    ("over-time", "Over time"),
    ("logs", "Logs"),
    ("comparisons", "Comparisons"),
)
#: What precedes the logs in that of a page of few.
_OF_FEW: Final = (*_CONTENTS[3:], ("statements", "Statements"))
#: Links of the bar of contents.
_MOST_CONTENTS: Final = 7
#: Of more logs a page has no drawings.
_FEW: Final = 6
#: Of more logs a page has the time of each alone, and keeps no log: its cost is nearly that of reading them.
_MOST_WHOLE: Final = 50
_VERDICT: Final = re.compile(r"Verdict: .+?(?= - )")
_ALONE: Final = (
    "No comparison: {}. Two reports, two sessions or two traces are compared, the repeated runs of one session, and a "
    "report or a session with a trace."
)


def write_report(
    logs: Iterable[Place] | Place,
    out: str | Path,
    *,
    say: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """A page about logs: what was read, how logs compare, figures with bounds and caveats, charts, what was not read.

    Logs that pair up are compared (`iolab.comparison`); the page says what makes them a pair, and why others are not.

    The page needs no network, and runs no script but its own: what a log holds is shown as text.

    Args:
        logs: Paths, folders, patterns, archives, open files, or one of them, of any mix of logs (`iolab.sources`).
        out: Where the page is written; folders on the way are made.
        say: Takes a line of progress a log.

    Returns:
        One line a log that could not be read, with the reason; the page has them too.

    Raises:
        LogError: If there is no log to read, none of them could be read, or the page would overwrite one.
        OSError: If the page cannot be written.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     log = Path(folder) / "reads.strace"
        ...     _ = log.write_text("     0.000123 pread64(268, '', 8192, 0) = 8192" + chr(10))
        ...     write_report(log, Path(folder) / "report.html")
        []
    """
    named = find_logs(logs)
    if not named:
        raise LogError("no log was given")
    page = Path(out)
    check_output(page, [one.place for one in named])
    is_drawn, is_whole = len(named) <= _FEW, len(named) <= _MOST_WHOLE
    read = _read(named, say)
    summaries, logs = read.summaries, in_time(read.rows)
    refuse_empty(read.failed, len(named))
    _mark_runs(read.sections, [one.name for one in named], summaries if is_drawn else {})
    changed = changed_parameters(logs) if len(named) > 1 else []
    heading, what, change, between = _heading(read, logs, changed)
    asked = [one for one in named if one.name in (between or summaries)]
    compared = {one.name: summaries[one.name].log if is_whole else load(one.source) for one in asked}
    pairings = list(pair_all(compared)) if compared else []
    together = findings_together([(name, seen.log) for name, seen in summaries.items()])
    first, drawn = (
        ("", None) if not is_drawn or len(named) == 1 else _first_chart(pairings, is_beside=together.height > 0)
    )
    comparisons = _comparisons(pairings, len(read.infos), is_drawn=is_drawn, drawn=drawn)
    first = (_when(summaries) if is_drawn else "") + first
    if len(named) > 1:
        links = {one.name: f"log-{n}" for n, one in enumerate(named, 1)}
        contents = [*_OF_FEW, *((link, name) for name, link in links.items())] if is_drawn else list(_CONTENTS)
        strip = strip_html(logs, links, changed) if len({row.kind for row in logs.values()}) == 1 else ""
        parts = [f"<h1>{title_html(heading)}</h1>{what}", _total_line(change, between), strip]
        lanes = lanes_html(lanes_over(read.figures, read.infos))
        overview = _overview(logs, links, lanes)
        there = [(one, one) for one in ("heat", "comparisons") if f' id="{one}"' in overview + comparisons]
        change = [_linked(one, links | dict(there)) for one in change]
        base, texts = change_base(logs, between), _texts(read) if len(named) == 2 else {}
        lead = _lead(pairings, together, change, first, is_pair=len(named) == 2, texts=texts, base=base)
        parts += lead
        is_said = bool(strip or lead[0] or together.height)  # else what each log says comes first
        step = "" if is_whole else '<p class="lead"><b>next</b> all of one log: iolab report LOG</p>'
        parts += [overview, _summary(read.table, step)][:: 1 if is_said else -1]
        same = shared_html(summaries) if is_drawn else ""
        each = same if is_drawn or not read.sections else "<h2>Each log</h2>"
        parts += [comparisons, each, *read.sections]
    else:
        contents = list(ONE_LOG_CONTENTS)
        parts = [*read.sections, comparisons if "<section" in comparisons else ""]
    body = "".join(parts)
    there = [(anchor, said) for anchor, said in contents if f' id="{anchor}"' in body]
    write_page(page, page_html(heading, body, before=contents_html(there[:_MOST_CONTENTS])))
    return read.failed


@dataclass(frozen=True)
class _Read:
    """What a page keeps of its logs.

    Attributes:
        summaries: of each that was read, by its name; of very many logs none is kept.
        rows: of those with a ledger.
        figures: what each says over time.
        infos: what each says it is.
        kinds: the kind of each.
        table: the first table of the page, a row a log; its cells are HTML.
        sections: all of each log; of very many logs none.
        failed: a line a log that could not be read, with the reason.
    """

    summaries: dict[str, LogSummary] = field(default_factory=dict)
    rows: dict[str, LogRow] = field(default_factory=dict)
    figures: dict[str, pl.DataFrame] = field(default_factory=dict)
    infos: dict[str, object] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    table: list[tuple[str, str, str, str]] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def _read(named: Sequence[NamedLog], say: Callable[[str], object]) -> _Read:
    """Read each log; one that fails is a row with its reason."""
    is_drawn, is_whole = len(named) <= _FEW, len(named) <= _MOST_WHOLE
    read = _Read()
    for number, one in enumerate(named, 1):
        name = one.name
        say(f"[{number}/{len(named)}] {one.place}")
        section, link = "", f'<a href="#log-{number}">{html.escape(name)}</a>'
        try:
            seen = summarize(one.source)
            if is_whole:
                section = log_section(number, name, seen, is_only=len(named) == 1, is_drawn=is_drawn)
                section = section if is_drawn else _folded(number, name, seen.headline, section)
            else:
                link = f'<span id="log-{number}">{html.escape(name)}</span>'
            first = _first(seen) if is_whole else ""
            line = (link, html.escape(seen.headline), first, html.escape(_counted(seen.diagnostics)))
            row, figures, info = log_row(seen), over_time({name: seen.log}), infos_of({name: seen.log})
        except Exception as error:  # noqa: BLE001 - a page of many logs survives any of them
            reason = reason_of(error, one.place, given=len(named))
            read.failed.append(f"{name}: {reason}")
            read.table.append((link, f"not read: {html.escape(reason)}", "", ""))
            read.sections.append(_unread(number, name, str(error).replace(one.place, name), is_drawn=is_drawn))
            continue
        read.summaries.update({name: seen} if is_whole else {})
        read.rows.update({} if row is None else {name: row})
        read.figures[name] = figures
        read.infos.update(info)
        read.kinds.append(seen.headline.partition(", ")[0])
        read.table.append(line)
        read.sections.extend([section] if section else [])
    return read


def _total_line(change: Sequence[Said], between: tuple[str, str] | None) -> str:
    """What changed most in many logs, and the two between which it did."""
    is_said = any("iolab compare" in one.step for one in change)
    step = "<b>next</b> iolab compare {} {}".format(*map(html.escape, between)) if between and not is_said else ""
    step = f'<p class="lead">{step}</p>' if step else ""
    return f'<p class="verdict">{large_html(change[0].sentence, 2)}</p>{step}' if change else ""


def _lead(
    pairings: Sequence[Pairing],
    together: pl.DataFrame,
    change: Sequence[Said],
    first: str,
    *,
    is_pair: bool,
    texts: Mapping[str, str],
    base: str,
) -> list[str]:
    """What else changed in several logs; the findings of all that it does not say; a chart."""
    lead = ""
    one = next((one for one in pairings if one.verdict), None)
    if change[1:]:
        base = base if any(one.number for one in change) else ""
        lead = f'<div class="sentences">{sentences_html(change[1:], base=base)}</div>'
    elif not change and is_pair and one is not None and (one.change is not None or together.is_empty()):
        if one.change is None:
            lead = f'<p class="verdict">{large_html(one.verdict, 2)}</p>'
        else:
            lead = verdict_html(one.change, one.warning)
            own = [Said("", one.beside)] if one.beside else []
            if (sampled := one.sampled) is not None:
                link = ("samples", texts.get(sampled.sql_id, part_anchor(one.change, sampled.sql_id)))
                size = sampled.share_of(one.change)
                own = [Said(sampled.moved, sampled.sentence, plan_of(sampled.sql_id), link, size)]
            settings = together.filter(name="settings_changed").get_column("sentence").to_list()
            together = together.filter(~pl.col("name").is_in(OF_COMPARISONS))
            lead += moves_html(one.change, waterfall_html(one.change), [*own, *(Said("", said) for said in settings)])
            lead += beside_waterfall_html(one.change, one.not_compared, sampled=one.sampled, texts=texts)
            first = ""
    said = findings_html(together, anchor="both", is_linked=False) if together.height else ""
    return [lead, _first_screen(said, first)]


def _texts(read: _Read) -> dict[str, str]:
    """What has the text of a statement on the page, by SQL_ID: its part, or the rows of samples that name it."""
    found: dict[str, str] = {}
    for number, (section, seen) in enumerate(zip(read.sections, read.summaries.values(), strict=False), 1):
        own = {f"log-{number}-statement-{place}": one.sql_id for place, one in enumerate(statements_of(seen), 1)}
        rows, table = frame_of(seen.log, "ash_sql_events"), f"log-{number}-ash_sql_events"
        texts = {sql_id: anchor for anchor, sql_id in own.items() if sql_id}
        sampled = dict.fromkeys(() if rows is None else rows.get_column("sql_id").drop_nulls(), table)
        found |= {name: anchor for name, anchor in (sampled | texts).items() if f'id="{anchor}"' in section}
    return found


def _linked(one: Said, links: Mapping[str, str]) -> Said:
    """A sentence whose link goes to what is on the page."""
    there = links.get(one.link[1]) if one.link else None
    return one._replace(link=(one.link[0], there) if one.link and there else None)


def _when(summaries: dict[str, LogSummary]) -> str:
    """When logs of several formats were, before anything is reported of them together."""
    formats = {seen.log.format for seen in summaries.values()}
    if len(formats) < 2:
        return ""
    spans = {name: view_of(seen.log.format).span for name, seen in summaries.items()}
    return when_html({name: None if span is None else span(summaries[name].log) for name, span in spans.items()})


def _overview(logs: dict[str, LogRow], links: dict[str, str], lanes: str) -> str:
    """Where time went in each log, and what happened when, for logs that have times."""
    begins = {name: f"{row.begin:%Y-%m-%d %H:%M}" for name, row in logs.items() if row.begin is not None}
    heat = heat_html({name: row.ledger for name, row in logs.items()}, links, begins, _gaps(logs))
    return heat + (f'<section id="over-time">{lanes}</section>' if lanes else "")


def _gaps(logs: dict[str, LogRow]) -> dict[str, str]:
    """The time before a report of a period that none of them covers."""
    gaps: dict[str, str] = {}
    last: datetime | None = None
    for name, row in logs.items():
        if row.begin is None or row.end is None or row.ledger.elapsed is None:
            continue
        if last is not None and row.begin - last > SNAPSHOT:
            gaps[name] = f"no figures from {last:%Y-%m-%d %H:%M} to {row.begin:%Y-%m-%d %H:%M}"
            if row.started is not None and last < row.started < row.begin:
                gaps[name] += f"; restart {row.started:%H:%M}"
        last = row.end if last is None else max(last, row.end)
    return gaps


def _heading(
    read: _Read, rows: dict[str, LogRow], changed: Sequence[dict[str, Any]]
) -> tuple[str, str, list[Said], tuple[str, str] | None]:
    """Title of a page and the line below it; of many logs what changed, and between which two."""
    summaries, count = read.summaries, len(read.infos)
    if len(summaries) == count == 1:
        return split_headline(next(iter(summaries.values())).headline)[0], "", [], None
    if count == 2 and len({seen.log.format for seen in summaries.values()}) == 1:
        named = dict(zip("AB", summaries, strict=False))
        title, kind = sets_head({side: {name: summaries[name].log} for side, name in named.items()})
        files = [f"{name} ({side}){_snapshots(summaries[name].log)}" for side, name in named.items()]
        machines = {row.machine for row in rows.values() if row.machine}
        of_both = [*machines] if len(machines) == 1 else []
        of_both += _idle([summaries[name].log for name in named.values()])
        return title, _lead_line(" · ".join([*[kind] * bool(kind), *files, *of_both])), [], None
    if len(rows) == count and len({row.kind for row in rows.values()}) == 1:
        title, kind, change, between = folder_head(rows, changed)
        return (title, _lead_line(kind), change, between) if count >= LEAST else (title, _lead_line(kind), [], None)
    kinds = Counter(read.kinds)
    what = " · ".join(kind if often == 1 else f"{often} × {kind}" for kind, often in kinds.items())
    return f"I/O evidence of {count:,} logs", _lead_line(what), [], None


def _snapshots(log: object) -> str:
    info = getattr(log, "info", None)
    first, last = (getattr(info, name, None) for name in ("begin_snap_id", "end_snap_id"))
    return "" if first is None else f", snapshots {first} to {last}"


def _idle(logs: Sequence[Any]) -> list[str]:
    """How idle the processors of the hosts of two reports were."""
    facts = [report_facts(log) for log in logs if log.format == "awr"]
    idle = [one.idle_pct.value for one in facts if one.has_host and one.idle_pct is not None]
    return ["idle {:.0f} → {:.0f} %".format(*idle)] if len(idle) == len(logs) else []


def _lead_line(what: str) -> str:
    return f'<p class="lead">{html.escape(what)}</p>' if what else ""


def _mark_runs(sections: list[str], names: Sequence[str], summaries: dict[str, LogSummary]) -> None:
    """Make the parts of traces again that another trace of the page is a measured run of."""
    runs = measured_runs(summaries)
    for place, name in enumerate(names):
        if runs.get(name):
            sections[place] = log_section(place + 1, name, summaries[name], runs=runs[name])


def _unread(number: int, name: str, said: str, *, is_drawn: bool) -> str:
    """The part of a log that was not read, with the reason."""
    section = f'<section id="log-{number}"><h2>{html.escape(name)}</h2><pre>{html.escape(said)}</pre></section>'
    return section if is_drawn else _folded(number, name, "not read", section)


def _folded(number: int, name: str, what: str, section: str) -> str:
    """The part of one of many logs, folded; the fold takes over its identifier."""
    anchor = f' id="log-{number}"'
    summary = f"<summary>{html.escape(name)} <small>{html.escape(what)}</small></summary>"
    return f'<details class="log"{anchor}>{summary}{section.replace(anchor, "", 1)}</details>'


def _first(seen: LogSummary) -> str:
    """The first sentence of a log with an impact, else its first sentence, else its first figures."""
    findings = seen.findings
    if (findings.is_empty() or is_nothing(findings)) and (headline := _headline(seen)):
        return html.escape(headline)
    if findings.is_empty():
        return ""
    if seen.ledger is not None and seen.ledger.void:
        return html.escape(f"no total: {seen.ledger.void}")
    said = sentences(findings, is_whole=False, has_ledger=seen.ledger is not None)
    return html.escape((said[0]["sentence"] if said else findings.item(0, "sentence")).replace("`", ""))


def _summary(rows: list[tuple[str, str, str, str]], step: str) -> str:
    """The first table of the page; its cells are HTML."""
    columns = zip(("log", "what it is", "first finding", "remarks"), zip(*rows, strict=True), strict=True)
    shown = [(heading, cells) for heading, cells in columns if any(cells)]
    headings = "".join(f"<th>{heading}</th>" for heading, _ in shown)
    lines = zip(*(cells for _, cells in shown), strict=True)
    body = "".join(f"<tr>{''.join(f'<td class=long>{cell}</td>' for cell in line)}</tr>" for line in lines)
    table = f"<table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table>"
    return f'<section id="logs"><h2>Logs</h2>{step}<div class="wide">{table}</div></section>'


def _headline(seen: LogSummary) -> str:
    """The first figures of a log, those that were not refused."""
    figures = {row["metric"]: row for row in seen.figures.to_dicts() if not row["caveats"].startswith(REFUSED)}
    wanted = [figures[name] for name in _HEADLINES if name in figures][:_MOST_HEADLINES]
    if not wanted and "median_s" in (seen.frames["samples"].columns if "samples" in seen.frames else ()):
        rows = seen.frames["samples"].head(_MOST_HEADLINES).select("sample", "median_s", "runs").rows()
        return "; ".join(f"sample {sample}: median {median:.4g} s of {runs} runs" for sample, median, runs in rows)
    return "; ".join(f"{name} {value} {unit}".strip() for name, value, _, _, _, unit in figure_rows(wanted))


def _first_screen(said: str, first: str) -> str:
    """The findings of all logs and the first chart, beside each other where there are both."""
    beside = f'<div class="beside-findings"><div>{first}</div></div>' if first else ""
    kind = "first beside" if said and beside and "waterfall" not in first else "first"  # that needs the whole width
    shown = f'<div class="{kind}"><div>{said}</div>{beside}</div>'
    return shown if said or beside else ""


def _first_chart(pairings: Sequence[Pairing], *, is_beside: bool) -> tuple[str, Pairing | None]:
    """The first chart of the first comparison that has one, beside the findings or alone, and that comparison."""
    width = BESIDE if is_beside else None
    for one in pairings:
        if not one.refusal and (pictures := _pictures(one, width)):
            return pictures[0], one
    return "", None


def _comparisons(pairings: Sequence[Pairing], logs: int, *, is_drawn: bool, drawn: Pairing | None) -> str:
    """The pairings of the logs, with those that were refused; the first chart of one may stand at the top already."""
    if not pairings:
        why = "there is one log" if logs == 1 else "no two of these logs are of kinds that compare"
        why = why if logs <= _MOST_WHOLE else f"there are more than {_MOST_WHOLE} logs"
        return f"<p><small>{_ALONE.format(why)}</small></p>" if logs else ""
    parts = ['<section id="comparisons"><h2>Comparisons</h2>']
    made = [one for one in pairings if not one.refusal]
    parts += [pairing_html(one, is_drawn=is_drawn, without=1 if one is drawn else 0) for one in made]
    refused: dict[str, list[str]] = {}
    for one in pairings:
        if one.refusal:
            refused.setdefault(one.refusal, []).append(one.title)
    if refused:
        items = "".join(
            f"<li><b>{html.escape('; '.join(pairs))}</b>: {html.escape(why)}</li>" for why, pairs in refused.items()
        )
        parts.append(f"<h3>Not compared</h3><ul>{items}</ul>")
    return "".join(parts) + "</section>"


def pairing_html(one: Pairing, *, is_drawn: bool, without: int = 0) -> str:
    """A comparison of two logs: what makes them a pair, the result in words, charts and tables.

    Args:
        one: the comparison.
        is_drawn: whether its charts are drawn.
        without: how many of the first charts are drawn elsewhere.
    """
    parts = [f'<h3>{html.escape(one.title)}</h3><p class="lead">{html.escape(as_sentence(one.why))}</p>']
    if one.verdict:
        parts.append(f'<p class="verdict">{marked_html(one.verdict)}</p>')
    if one.legend:
        parts.append(f"<p>{html.escape(one.legend)}.</p>")
    for paragraph in one.paragraphs:
        verdict = _VERDICT.sub(r"<strong>\g<0></strong>", marked_html(paragraph))
        parts.append(f"<p>{verdict.replace(' Caveat: ', '<br>Caveat: ')}</p>")
    if is_drawn:
        parts += _pictures(one)[without:]
    drawn = WHAT_CHANGED if is_drawn and one.change is not None else None
    for title, frame in (one.tables or one.frames).items():
        if title == drawn:
            continue
        parts.append(f"<h4>{html.escape(title)}</h4>{frame_html(frame, names={'a': 'A', 'b': 'B'})}")
    return "".join(parts)


def _pictures(one: Pairing, width: int | None = None) -> list[str]:
    """Where the time changed as a table with bars, and the charts of a comparison."""
    change = one.change
    if change is None:
        return [drawn_html(chart.to_dict(), label=one.title, width=width) for chart in one.charts()]
    others = replace(one, drawers=tuple(draw for draw in one.drawers if draw != change.to_chart))
    drawn = [drawn_html(chart.to_dict(), label=one.title) for chart in others.charts()]
    return [waterfall_html(change) + beside_waterfall_html(change, one.not_compared), *drawn]


def _counted(diagnostics: pl.DataFrame) -> str:
    if diagnostics.is_empty():
        return "none"
    kinds = diagnostics.group_by("kind").len().sort("kind")
    return ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in kinds.iter_rows())
