"""Names of logs and of columns, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names, of logs or of columns, with a number after each one that comes again.

    Examples:
        >>> distinct_names(["<bytes>", "a.log", "<bytes>", "<bytes> (2)"])
        ['<bytes>', 'a.log', '<bytes> (2)', '<bytes> (2) (2)']
    """
    taken: set[str] = set()
    numbers: dict[str, int] = {}  # all names of a stem up to its number are taken
    distinct = []
    for stem in names:
        name, number = stem, numbers.get(stem, 1)
        while name in taken:
            number += 1
            name = f"{stem} ({number})"
        numbers[stem] = number
        taken.add(name)
        distinct.append(name)
    return distinct


def unique_names(names: Iterable[str]) -> list[str]:
    """Headings as names of columns: a blank one is `column_1`, a repeated one gets its number.

    Examples:
        >>> unique_names(("", "Pct Miss", "Pct  Miss"))
        ['column_1', 'Pct Miss', 'Pct Miss (2)']
    """
    return distinct_names(" ".join(name.split()) or f"column_{place}" for place, name in enumerate(names, 1))
