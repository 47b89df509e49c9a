"""A first look at a log as text, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from iolab.pages.tables import figures_text, frame_text

if TYPE_CHECKING:
    from iolab.pages.summary import LogSummary

#: The frames that are printed; of the others only the number of rows is told.
_PRINTED: Final = ("head", "samples", "top_events", "wait_classes", "compare_top_events", "io_mode", "calls", "summary")
_MOST_ROWS: Final = 8
_MOST_REMARKS: Final = 20


def summary_text(seen: LogSummary, name: str) -> str:
    """What a log is, its most telling frames, its figures with bounds and notes, and what was not read.

    Args:
        seen: What `iolab.summarize` gives.
        name: What to call the log in a remark.
    """
    blocks = [f"{title.replace('_', ' ')}\n{frame_text(seen.frames[title], most=_MOST_ROWS)}" for title in _shown(seen)]
    if seen.figures.height:
        blocks.append(f"figures\n{figures_text(seen.figures)}")
    others = [
        f"{title.replace('_', ' ')} {frame.height:,}"
        for title, frame in seen.frames.items()
        if title not in _shown(seen)
    ]
    rest = [f"{note[:1].upper()}{note[1:]}." for note in seen.notes]
    rest += [f"Rows of other frames: {', '.join(others)} (iolab convert writes them)."] if others else []
    blocks += ["\n".join(rest)] if rest else []
    remarks = [
        f"{name if line is None else f'{name}:{line}'}: {kind}: {reason}"
        for line, kind, reason in seen.diagnostics.head(_MOST_REMARKS).select("line", "kind", "reason").rows()
    ]
    if seen.diagnostics.height > _MOST_REMARKS:
        remarks.append(f"and {seen.diagnostics.height - _MOST_REMARKS:,} more remarks")
    blocks += ["\n".join(remarks)] if remarks else []
    return "\n\n".join(blocks)


def _shown(seen: LogSummary) -> list[str]:
    return [title for title in _PRINTED if title in seen.frames]
