"""`write_report`: any mix of logs as one self-contained page."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from iolab.charts.theme import enable_chart_theme
from iolab.comparison import Pairing, pair_all
from iolab.metrics.table import REFUSED
from iolab.pages import chart_html, page_html
from iolab.pages.metric_table import figure_rows
from iolab.pages.summary import LogSummary, summarize
from iolab.pages.tables import diagnostics_html, figures_html, frame_html
from iolab.sources import Place, find_logs
from logframe import LogParseError
from logframe.atomic import check_output, replacing
from logframe.errors import LogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import polars as pl

#: The figures that the summary of a page names, the first three that a log has.
_HEADLINES: Final = (
    *("ms_per_flash_read", "db_time_s", "average_active_sessions", "mb_per_s", "avg_read_kib"),
    *("latency_us_p50 (sync)", "latency_us_p50 (async)", "elapsed_s", "us_per_lio", "reads"),
)
_MOST_HEADLINES: Final = 3
_VERDICT: Final = re.compile(r"Verdict: \w+")
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

    Logs that pair up are compared (`iolab.comparison`); the page says what makes them a pair, and why others are none.

    The page needs no network, and runs no script but its own: what a log holds is shown as text.

    Args:
        logs: Paths, folders, patterns, archives, open files, or one of them, of any mix of logs (`iolab.sources`).
        out: Where the page is written; folders on the way are made.
        say: Takes a line of progress a log.

    Returns:
        One line a log that could not be read, with the reason; the page has them too.

    Raises:
        LogError: If there is no log to read, or the page would overwrite one.
        OSError: If the page cannot be written.

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
    enable_chart_theme()
    looks: dict[str, LogSummary] = {}
    failed, rows, sections = [], [], []
    for number, one in enumerate(named, 1):
        name = one.name
        say(f"[{number}/{len(named)}] {one.place}")
        link = f'<a href="#log-{number}">{_text(name)}</a>'
        try:
            seen = looks[name] = summarize(one.source)
        except (LogParseError, OSError) as error:
            reason = _reason(error, one.place)
            failed.append(f"{name}: {reason}")
            rows.append((link, f"not read: {_text(reason)}", "", ""))
            said = str(error).replace(one.place, name)
            sections.append(f'<section id="log-{number}"><h2>{_text(name)}</h2><pre>{_text(said)}</pre></section>')
            continue
        rows.append((link, _text(seen.what), _text(_headline(seen)), _text(_counted(seen.diagnostics))))
        sections.append(_section(number, name, seen))
    title = f"I/O evidence: {', '.join(one.name for one in named[:3])}{', ...' if len(named) > 3 else ''}"
    parts = ["<h1>I/O evidence</h1>", _summary(rows), _comparisons(looks), *sections]
    page.parent.mkdir(parents=True, exist_ok=True)
    with replacing(page) as out_page:
        out_page.write_text(page_html(title, "".join(parts)), encoding="utf-8")
    return failed


def _reason(error: Exception, place: str) -> str:
    """Why a log was not read, in a line without its path."""
    line = str(error).splitlines()[0]
    name = Path(place).name
    return re.sub(rf"^{re.escape(place)}:(?=\d)", "line ", line).replace(f"{place}: ", "").replace(place, name)


def _summary(rows: list[tuple[str, str, str, str]]) -> str:
    """The first table of the page; its cells are HTML."""
    headings = "".join(f"<th>{heading}</th>" for heading in ("log", "what it is", "headline", "remarks"))
    body = "".join(f"<tr>{''.join(f'<td class=long>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table></div>'


def _headline(seen: LogSummary) -> str:
    """The first figures of a log, those that were not refused."""
    figures = {row["metric"]: row for row in seen.figures.to_dicts() if not row["caveats"].startswith(REFUSED)}
    wanted = [figures[name] for name in _HEADLINES if name in figures][:_MOST_HEADLINES]
    if not wanted and "samples" in seen.frames:
        rows = seen.frames["samples"].head(_MOST_HEADLINES).select("sample", "median_s", "runs").rows()
        return "; ".join(f"sample {sample}: median {median:.4g} s of {runs} runs" for sample, median, runs in rows)
    return "; ".join(f"{name} {value} {unit}".strip() for name, value, _, _, unit in figure_rows(wanted))


def _comparisons(looks: Mapping[str, LogSummary]) -> str:
    """The pairings of the logs, with those that were refused."""
    pairings = list(pair_all({name: seen.log for name, seen in looks.items()}))
    if not pairings:
        why = "there is one log" if len(looks) == 1 else "no two of these logs are of kinds that compare"
        return f"<p><small>{_ALONE.format(why)}</small></p>" if looks else ""
    parts = ['<section id="comparisons"><h2>Comparisons</h2>']
    parts += [_pairing(one) for one in pairings if not one.refusal]
    refused: dict[str, list[str]] = {}
    for one in pairings:
        if one.refusal:
            refused.setdefault(one.refusal, []).append(one.title)
    if refused:
        items = "".join(f"<li><b>{_text('; '.join(pairs))}</b>: {_text(why)}</li>" for why, pairs in refused.items())
        parts.append(f"<h3>Not compared</h3><ul>{items}</ul>")
    return "".join(parts) + "</section>"


def _pairing(one: Pairing) -> str:
    parts = [f'<h3>{_text(one.title)}</h3><p class="lead">{_text(one.why[:1].upper() + one.why[1:])}.</p>']
    if one.legend:
        parts.append(f"<p>{_text(one.legend)}.</p>")
    for paragraph in one.paragraphs:
        verdict = _VERDICT.sub(r"<strong>\g<0></strong>", _text(paragraph))
        parts.append(f"<p>{verdict.replace(' Caveat: ', '<br>Caveat: ')}</p>")
    parts += [chart_html(chart.to_dict(), label=one.title) for chart in one.charts()]
    for title, frame in (one.tables or one.frames).items():
        parts.append(f"<h4>{_text(title)}</h4>{frame_html(frame, names={'a': 'A', 'b': 'B'})}")
    return "".join(parts)


def _section(number: int, name: str, seen: LogSummary) -> str:
    parts = [f'<section id="log-{number}"><h2>{_text(name)}</h2><p class="lead">{_text(seen.what)}</p>']
    if seen.figures.height:
        parts.append(f"<h3>Figures</h3>{figures_html(seen.figures)}")
    parts += [f"<p>{_text(note[:1].upper() + note[1:])}.</p>" for note in seen.notes]
    parts += [chart_html(chart.to_dict(), label=f"{name}: {seen.what}") for chart in seen.charts(name=name)]
    for title, frame in seen.frames.items():
        parts.append(f"<h3>{_text(title.replace('_', ' '))}</h3>{frame_html(frame)}")
    if seen.diagnostics.height:
        parts.append(f"<h3>What was not read, or is worth a look</h3>{diagnostics_html(seen.diagnostics)}")
    return "".join(parts) + "</section>"


def _counted(diagnostics: pl.DataFrame) -> str:
    if diagnostics.is_empty():
        return "none"
    kinds = diagnostics.group_by("kind").len().sort("kind")
    return ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in kinds.iter_rows())


def _text(value: str) -> str:
    return html.escape(value)
