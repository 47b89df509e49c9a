"""How counts are reported in sentences, how texts of a log are shown on a terminal, and names made unique."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


def counted(count: int, word: str) -> str:
    """A count and what is counted, in the plural unless it is one.

    Examples:
        >>> counted(1, "statement"), counted(0, "call"), counted(12_000, "line")
        ('1 statement', '0 calls', '12,000 lines')
    """
    return f"{count:,} {word}{'' if count == 1 else 's'}"


_UNPRINTABLE: Final = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    r"""A text as it may stand on a terminal, which obeys controls: all but ends of lines are replaced, tabs by blanks.

    Examples:
        >>> printable("a\x1b[2Jb\u202ec"), printable("two\nlines")
        ('a\ufffd[2Jb\ufffdc', 'two\nlines')
    """
    if text.isprintable():
        return text
    return "".join(_UNPRINTABLE if _is_control(letter) else letter for letter in text.replace("\t", " "))


def _is_control(letter: str) -> bool:
    return letter != "\n" and not letter.isprintable() and unicodedata.category(letter) != "Zs"


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
