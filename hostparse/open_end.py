"""Logs that no line feed ends: what stands last in them may go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from logframe import Diagnostic
from logframe.copied import ends_open

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hostparse.parts import Part
    from logframe import Log


def open_end(log: Log, parts: Iterable[Part], last: int) -> list[Diagnostic]:
    """A diagnostic about a name or a whole number at the end of a log without a line feed; none for others.

    A figure with decimals shows by their number that it was cut: `hostparse.parts.cut_end`.

    Args:
        log: opened.
        parts: of its end.
        last: its last line that is not blank.
    """
    if not ends_open(log):
        return []
    for part in parts:
        lines = part.frame.get_column("line")
        if len(lines) and lines[-1] == last and part.heading.fields and _may_go_on(part):
            printed = part.heading.fields[-1].printed
            reason = f"the log ends without a line feed: what is under {printed} in its last line may go on"
            return [Diagnostic(log.name, last, None, "cut", None, reason)]
    return []


def _may_go_on(part: Part) -> bool:
    """Whether the last column has names, figures without decimals, or one figure only."""
    field = part.heading.fields[-1]
    half = part.halves.get(field.name)
    if field.metric is None or half is None or part.frame.height == 1:
        return True
    own = half[-1] if isinstance(half, pl.Series) else half
    return own in {0.0, 0.5 * field.metric.factor, field.metric.factor}
