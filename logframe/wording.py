"""How counts are reported in sentences, and how texts of a log are shown on a terminal."""

import unicodedata
from typing import Final


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
