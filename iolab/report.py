"""`write_report`: any mix of logs as one self-contained page."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Final

from iolab.headline import COLUMNS, figure_rows
from iolab.looks import SHOWN_ROWS, Look, look
from iolab.pages import chart_html, page_html, table_html
from iolab.theme import dress_charts
from logframe import LogParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

#: Rows of diagnostics that a page shows of one log.
_MOST_DIAGNOSTICS: Final = 200
_MOST_COLUMNS: Final = 12


def write_report(
    logs: Iterable[str | Path] | str | Path,
    out: str | Path,
    *,
    say: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """A page about logs: what was read, figures with bounds and caveats, charts, frames, and what was not read.

    The page needs no network, and runs no script but its own: what a log holds is shown as text.

    Args:
        logs: One path or several, of any mix of logs.
        out: Where the page is written.
        say: Takes a line of progress a log.

    Returns:
        One line a log that could not be read, with the reason; the page has them too.

    Raises:
        ValueError: If there is no log to read.
        OSError: If the page cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder) / "reads.strace"
    ...     _ = log.write_text("     0.000123 pread64(268, '', 8192, 0) = 8192" + chr(10))
    ...     write_report(log, Path(folder) / "report.html")
    []
    """
    paths = [Path(logs)] if isinstance(logs, str | Path) else [Path(log) for log in logs]
    if not paths:
        raise ValueError("no log was given")
    dress_charts()
    sections, failed, rows = [], [], []
    for number, path in enumerate(paths, 1):
        say(f"[{number}/{len(paths)}] {path}")
        try:
            seen = look(path)
        except (LogParseError, OSError) as error:
            failed.append(f"{path.name}: {str(error).splitlines()[0]}")
            rows.append((path.name, "not read", str(error).splitlines()[0]))
            sections.append(
                f'<section id="log-{number}"><h2>{_text(path.name)}</h2><pre>{_text(str(error))}</pre></section>'
            )
            continue
        rows.append((path.name, seen.what, _counted(seen.diagnostics)))
        sections.append(_section(number, path.name, seen))
    title = f"I/O evidence: {', '.join(path.name for path in paths[:3])}{', ...' if len(paths) > 3 else ''}"
    summary = table_html(["log", "what it is", "remarks"], rows)
    Path(out).write_text(page_html(title, f"<h1>I/O evidence</h1>{summary}{''.join(sections)}"), encoding="utf-8")
    return failed


def _section(number: int, name: str, seen: Look) -> str:
    parts = [f'<section id="log-{number}"><h2>{_text(name)}</h2><p class="lead">{_text(seen.what)}</p>']
    if seen.figures.height:
        figures = seen.figures.to_dicts()
        shown = [
            (*row, figure["basis"], figure["caveats"])
            for row, figure in zip(figure_rows(figures), figures, strict=True)
        ]
        parts.append("<h3>Figures</h3>")
        parts.append(table_html([*COLUMNS, "basis", "caveats"], shown, numbers=("value", "lo", "hi")))
    parts += [chart_html(chart.to_dict(), label=f"{name}: {seen.what}") for chart in seen.charts()]
    for title, frame in seen.frames.items():
        parts.append(f"<h3>{_text(title)}</h3>{_frame_html(frame, SHOWN_ROWS)}")
    if seen.diagnostics.height:
        parts.append(f"<h3>Diagnostics</h3>{_frame_html(seen.diagnostics, _MOST_DIAGNOSTICS)}")
    return "".join(parts) + "</section>"


def _frame_html(frame: pl.DataFrame, most: int) -> str:
    """The first rows of a frame; columns that are null throughout are left out."""
    head = frame.head(most)
    kept = [name for name in head.columns if head.get_column(name).null_count() < head.height][:_MOST_COLUMNS]
    numbers = [name for name in kept if head.schema[name].is_numeric()]
    table = table_html(
        kept, [[_cell(value) for value in row] for row in head.select(kept).iter_rows()], numbers=numbers
    )
    left = frame.height - head.height
    return table + (f"<p><small>and {left:,} more rows</small></p>" if left else "")


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:,.6g}"
    text = value if value is None else str(value)
    return text if text is None or len(text) <= 300 else text[:300] + " ..."


def _counted(diagnostics: pl.DataFrame) -> str:
    if diagnostics.is_empty():
        return ""
    kinds = diagnostics.group_by("kind").len().sort("kind")
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.iter_rows())


def _text(value: str) -> str:
    return html.escape(value)
