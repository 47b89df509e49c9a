"""Lines of a log without what was added when it was copied, for readers that hold all lines of a log."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from logframe.errors import Diagnostic
from logframe.line_cleanup import find_cleanup, rise
from logframe.normalize import GRAMMAR, without_doubled_blank_lines, without_terminal_codes
from logframe.source_numbers import numbers_of_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from logframe.line_cleanup import LineCleanup
    from logframe.source import Log

_Sign = TypeVar("_Sign")

#: Why a row that stands twice is a diagnostic.
REPEATED: Final = "the row above once more: it counts twice"
#: An addition is looked for in this many lines.
_LOOKED_AT: Final = 120
#: The beginning of a log has no more lines.
_MOST_OF_HEAD: Final = 1_000
#: In this many bytes at the beginning.
_HEAD_BYTES: Final = 1 << 14
#: Fewer lines have no meaning about blank lines that were added.
_FEWEST: Final = 4
#: A line without a number is no row of figures.
_FEWEST_NUMBERS: Final = 1


def cleanup_by_sign(lines: list[str], sign: Callable[[list[str]], object]) -> LineCleanup:
    """What other programs added to most lines of a log.

    Args:
        lines: of its beginning.
        sign: whether lines hold what only such a log has.

    Examples:
        >>> found = cleanup_by_sign(["> a 1", "> a 2", "> b 3"], lambda lines: lines[0].startswith("a"))
        >>> found.cleaned("> b 3")
        'b 3'
    """

    def count_whole(tried: list[str]) -> int:
        # a sign may be seen in spite of an addition
        return 0 if not sign(tried) else 1 if _is_marked(tried) else len(tried)

    return find_cleanup([without_terminal_codes(line) for line in lines[:_LOOKED_AT]], count_whole)


def _is_marked(lines: list[str]) -> bool:
    """Whether most lines begin with the mark of a quotation, or all with numbers that rise."""
    if 2 * sum(line.startswith(">") for line in lines) > len(lines):
        return True
    # of a blank line only the number is left
    found = [_number().match(line if not line.strip().isdecimal() else f"{line}\t") for line in lines]
    numbers = [one.group() for one in found if one is not None]
    return len(numbers) == len(lines) > 1 and rise(numbers)


@cache
def _number() -> re.Pattern[str]:
    return re.compile(GRAMMAR.terminals["LINE_NUMBER"])


def cleaned(log: Log, cleanup_of: Callable[[list[str]], LineCleanup]) -> Log:
    """The log without colours and without what `cleanup_of` finds before the lines of its beginning, in memory."""
    head = log.head(_HEAD_BYTES)
    cleanup = cleanup_of(head)
    if not cleanup.prefix and not any(without_terminal_codes(line) != line for line in head):
        return log
    lines = cleanup.cleaned_lines([without_terminal_codes(line) for line in log.lines()])
    return replace(log, target="\n".join(lines).encode())


def place_in_copy(copied: Sequence[str], lines: Sequence[str]) -> Callable[[int, int], tuple[int, int]] | None:
    """Where a line and column of lines are in those they were read from; None where nothing was added to these.

    Examples:
        >>> place_in_copy(["> a 1 ", "> b 2"], ["a 1", "b 2"])(2, 3)
        (2, 5)
    """
    if list(copied) == list(lines):
        return None

    def place(line: int, column: int) -> tuple[int, int]:
        if (start := copied[line - 1].rfind(lines[line - 1])) >= 0:
            return line, column + start
        # other blanks: the same number, counted from the end
        its, originals = ([start for start, *_ in numbers_of_line(text[line - 1])] for text in (lines, copied))
        after = sum(start > column - 1 for start in its)
        return line, originals[-1 - after] + 1 if after < len(originals) else column

    return place


def plain_lines(lines: list[str]) -> list[str]:
    r"""Lines without colours, tabs and the indent that all of them have, for logs whose columns are places in a line.

    Examples:
        >>> plain_lines(["    PID\tCOMM", "", "      42\tora"])
        ['PID COMM', '', '  42    ora']
    """
    return list(_of_head(tuple(lines))) if len(lines) <= _MOST_OF_HEAD else _without_margin(lines)


@lru_cache(maxsize=4)
def _of_head(lines: tuple[str, ...]) -> list[str]:
    """The same for all formats that look for their signs in the beginning of a log."""
    return _without_margin(lines)


def _without_margin(lines: Sequence[str]) -> list[str]:
    plain = [without_terminal_codes(line).expandtabs() for line in lines]
    margin = min((len(line) - len(line.lstrip(" ")) for line in plain if line.strip()), default=0)
    return [line[margin:] for line in plain]


def unmarked_lines(lines: list[str], sign: Callable[[list[str]], object]) -> list[str]:
    """`plain_lines` without what other programs added to most of them.

    Args:
        lines: of a log.
        sign: whether lines hold what only such a log has.
    """
    cleanup = cleanup_by_sign(lines, lambda tried: sign(plain_lines(tried)))
    if cleanup.prefix:
        lines = cleanup.cleaned_lines([without_terminal_codes(line) for line in lines])
    return plain_lines(lines)


def sign_of_copy(lines: list[str], sign: Callable[[list[str]], _Sign | None]) -> _Sign | None:
    """The sign of a log among lines, as they are or without what other programs added to most of them.

    Args:
        lines: of the beginning of a log.
        sign: what lines hold that only such a log has.
    """
    known: dict[tuple[str, ...], _Sign | None] = {}

    def once(tried: list[str]) -> _Sign | None:
        key = tuple(tried)
        if key not in known:
            known[key] = sign(tried)
        return known[key]

    if (found := once(lines)) is not None:
        return found
    unmarked = unmarked_lines(lines, once)
    return None if unmarked == lines else once(unmarked)


def numbered_lines(log: Log, sign: Callable[[list[str]], object]) -> list[tuple[int, str]]:
    """The number, from 1, and the text of each line of a copied log: `unmarked_lines` without added blank lines.

    Args:
        log: opened.
        sign: whether lines hold what only such a log has.
    """
    lines = [line.rstrip() for line in unmarked_lines(log.lines(), sign)]
    doubled = without_doubled_blank_lines(lines, fewest=_FEWEST)
    return [(number + 1, lines[number]) for number in (range(len(lines)) if doubled is None else doubled.kept)]


def repeated(name: str, lines: list[tuple[int, str]]) -> list[Diagnostic]:
    """Diagnostics about rows of figures that are those right above them once more: pasted or printed twice.

    Args:
        name: of the log.
        lines: numbers and texts.
    """
    return [
        Diagnostic(name, number, None, "repeated", line, REPEATED)
        for (above, text), (number, line) in pairwise(lines)
        if line == text and number == above + 1 and len(list(numbers_of_line(line))) >= _FEWEST_NUMBERS
    ]


def ends_open(log: Log) -> bool:
    """Whether no line feed ends a log, so that its last line may go on."""
    if isinstance(log.target, bytes):
        return not log.target.endswith((b"\n", b"\r"))
    if not isinstance(log.target, Path) or not log.target.stat().st_size:
        return False
    with log.target.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) not in {b"\n", b"\r"}


def open_end(log: Log, lines: list[tuple[int, str]]) -> list[Diagnostic]:
    """A diagnostic about a row whose last number may go on, at the end of a log without a line feed.

    Args:
        log: opened.
        lines: numbers and texts.
    """
    number, line = lines[-1] if lines else (0, "")
    if not line[-1:].isdecimal() or not ends_open(log):
        return []
    reason = "the log ends without a line feed: the last number may go on"
    return [Diagnostic(log.name, number, None, "cut", line, reason)]


def lines_as_read(log: Log, sign: Callable[[list[str]], object]) -> tuple[list[str], list[str]]:
    """The lines of a log as they are, and without what was added to them when they were copied."""
    copied = log.lines()
    lines = [""] * len(copied)
    for number, line in numbered_lines(log, sign):
        lines[number - 1] = line
    return copied, lines
