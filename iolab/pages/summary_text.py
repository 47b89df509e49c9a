"""The summary of a log as text, for a terminal: findings first, figures and tables where they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import polars as pl
import polars.selectors as cs

from iolab.metrics.formatting import as_sentence
from iolab.pages.ledger_text import USUAL_LINES, first_screen, plain
from iolab.pages.tables import figures_text, frame_text, wrapped
from iolab.rules.finding import is_nothing
from iolab.views import has_view, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from iolab.pages.summary import LogSummary

#: The frames that are printed; of the others only the number of rows is printed.
_PRINTED: Final = ("head", "samples", "top_events", "wait_classes", "compare_top_events", "io_mode", "calls", "summary")
_PRINTED_TOO: Final = ("disks", "counters")
_MOST_ROWS: Final = 8
#: Of a format without a view: this many tables, of more columns than this.
_MOST_TABLES: Final = 4
_LEAST_WIDTH: Final = 2
_MOST_REMARKS: Final = 20

Part = Literal["findings", "figures", "tables"]
PARTS: Final[tuple[Part, ...]] = ("findings", "figures", "tables")


def summary_text(
    seen: LogSummary,
    name: str,
    *,
    parts: Collection[Part] = PARTS[:1],
    width: int = 100,
    is_whole: bool = False,
    style: Callable[[str, str], str] = plain,
    is_utf8: bool = True,
) -> str:
    """The first screen of a log (`iolab.pages.ledger_text`); its figures and tables where they are asked for.

    A log of which nothing is reported is shown by its tables and figures, too.

    Args:
        seen: what `iolab.summarize` gives.
        name: what to call the log in a remark.
        parts: ``findings``, ``figures`` (metrics with bounds and notes), ``tables`` (the most telling frames).
        width: of the terminal, in columns.
        is_whole: all findings with their details, not those that fit on the first screen.
        style: gives a text of a role (a mark, or ``dim``) its colour.
        is_utf8: whether bars may be drawn with block characters.
    """
    shown: list[Part] = list(parts)
    if shown == ["findings"] and seen.ledger is None and (seen.findings.is_empty() or is_nothing(seen.findings)):
        shown = ["findings", "tables", "figures"] if seen.findings.height else ["tables", "figures"]
    blocks = []
    if "findings" in shown:
        columns = view_of(seen.log.format).columns
        blocks.append(
            first_screen(
                seen.findings,
                seen.ledger,
                width=width,
                is_whole=is_whole,
                columns=None if columns is None else columns(seen.log),
                style=style,
                is_utf8=is_utf8,
            )
        )
    if "tables" in shown:
        blocks += [
            f"{title.replace('_', ' ')}\n{frame_text(_plain(seen.frames[title]), most=_MOST_ROWS, width=width)}"
            for title in _shown(seen)
        ]
    if "figures" in shown and seen.figures.height:
        blocks.append(f"figures\n{figures_text(seen.figures, width=width)}")
    if "tables" in shown:
        blocks += _others(seen, width)
    if shown == ["findings"]:
        remarks = seen.diagnostics.height
        said = f"{remarks:,} remark{'s' if remarks > 1 else ''} of the reader: --tables"
        is_room = is_whole or blocks[0].count("\n") + 2 < USUAL_LINES
        return "\n".join([*blocks, style(said, "dim")] if remarks and is_room else blocks)
    blocks += ["\n".join(wrapped(remark, width) for remark in _remarks(seen, name))] if seen.diagnostics.height else []
    return "\n\n".join(blocks)


def _others(seen: LogSummary, width: int) -> list[str]:
    """Notes, and the number of rows of the frames that are not shown."""
    others = [
        f"{title.replace('_', ' ')} {frame.height:,}"
        for title, frame in seen.frames.items()
        if title not in _shown(seen)
    ]
    rest = [as_sentence(note) for note in seen.notes]
    rest += [f"Rows of other frames: {', '.join(others)} (iolab convert writes them)."] if others else []
    return ["\n".join(wrapped(one, width) for one in rest)] if rest else []


def _remarks(seen: LogSummary, name: str) -> list[str]:
    remarks = [
        f"{name if line is None else f'{name}:{line}'}: {kind}: {reason}"
        for line, kind, reason in seen.diagnostics.head(_MOST_REMARKS).select("line", "kind", "reason").rows()
    ]
    if seen.diagnostics.height > _MOST_REMARKS:
        remarks.append(f"and {seen.diagnostics.height - _MOST_REMARKS:,} more remarks")
    return remarks


def _shown(seen: LogSummary) -> list[str]:
    """The tables that are shown: of a format without a view those with figures."""
    if has_view(seen.log.format):
        named = [title for title in _PRINTED if title in seen.frames]
        return named + [title for title in _PRINTED_TOO if title in seen.frames and seen.frames[title].height]
    with_figures = [
        title for title, frame in seen.frames.items() if frame.height and _plain(frame).width > _LEAST_WIDTH
    ]
    return with_figures[:_MOST_TABLES]


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """A table without the bounds of its figures, the numbers of lines, and columns without values."""
    kept = frame.select(~cs.ends_with("_lo", "_hi")).drop("sample", "line", strict=False)
    return kept.select(name for name in kept.columns if kept[name].null_count() < kept.height or not kept.height)
