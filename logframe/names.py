"""Names of columns, made of headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logframe.source import distinct_names

if TYPE_CHECKING:
    from collections.abc import Iterable


def unique_names(names: Iterable[str]) -> list[str]:
    """Headings as names of columns: a blank one is `column_1`, a repeated one gets its number.

    Examples:
        >>> unique_names(("", "Pct Miss", "Pct  Miss"))
        ['column_1', 'Pct Miss', 'Pct Miss (2)']
    """
    return distinct_names(" ".join(name.split()) or f"column_{place}" for place, name in enumerate(names, 1))
