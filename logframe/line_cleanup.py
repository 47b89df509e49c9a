"""Finding out what other programs added to every line of a log, by how many lines are whole without it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from logframe.normalize import (
    BLANKS,
    CHANGED_CHARACTERS,
    ESCAPE,
    GRAMMAR,
    PREFIXES,
    has_changed_characters,
    indent_of,
    without_terminal_codes,
    without_terminal_codes_expr,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

#: Number of sampled lines that a prefix is tried on.
_TRIED: Final = 120
#: So many lines that end with blanks at the same place are padded.
_FEWEST_PADDED: Final = 3


@dataclass(frozen=True, slots=True)
class LineCleanup:
    """What other programs added to every line of a log.

    Attributes:
        prefix: pattern of what precedes most lines.
        has_changed: some characters were replaced (`CHANGED_CHARACTERS`).
        has_blanks_at_end: lines are padded with blanks.
        has_codes: lines have colours of a terminal.
    """

    prefix: str = ""
    has_changed: bool = False
    has_blanks_at_end: bool = False
    has_codes: bool = False

    def apply(self, line: pl.Expr) -> pl.Expr:
        """The lines as the log had them; the same expression where nothing was added."""
        if self.has_codes:
            line = without_terminal_codes_expr(line)
        if self.prefix:
            line = line.str.replace(f"^{self.prefix}", "")
        if self.has_changed:
            line = line.str.replace_many(CHANGED_CHARACTERS)
        return line.str.strip_chars_end(BLANKS) if self.has_blanks_at_end else line

    def cleaned(self, line: str) -> str:
        """One line as the log had it."""
        if self.has_codes:
            line = without_terminal_codes(line)
        if self.prefix:
            line = re.sub(f"^{self.prefix}", "", line)
        if self.has_changed:
            for changed, original in CHANGED_CHARACTERS.items():
                line = line.replace(changed, original)
        return line.rstrip(BLANKS) if self.has_blanks_at_end else line


def find_cleanup(
    lines: Sequence[str], count_whole: Callable[[list[str]], int], ambiguous: Sequence[str] = ()
) -> LineCleanup:
    """What was added to most of the sampled lines of a log.

    A cleanup is found only if more of the lines are whole lines of the log with it than without it.

    Args:
        lines: sampled from the log.
        count_whole: how many of some lines are whole lines of the log.
        ambiguous: patterns of prefixes that may also be a part of the log's own: they are tried last.

    Examples:
        >>> found = find_cleanup(["> 1 read  ", "> 2 reads  "], lambda lines: sum(line[0].isdigit() for line in lines))
        >>> found.cleaned("> 3 reads  ")
        '3 reads'
    """
    written = [line for line in (line.removesuffix("\r") for line in lines) if line.strip(BLANKS)]
    unusual = [number for number, line in enumerate(written) if has_changed_characters(line)]
    is_changed = bool(unusual)
    step = max(1, len(written) // _TRIED)
    tried = [written[number] for number in sorted({*range(0, len(written), step), *unusual[:_TRIED]})]
    has_codes = any(ESCAPE in line for line in tried)
    ends = _is_padded([without_terminal_codes(line) for line in written] if has_codes else written)
    best = as_is = LineCleanup(has_blanks_at_end=ends, has_codes=has_codes)

    def whole_after(cleanup: LineCleanup) -> int:
        return count_whole([cleanup.cleaned(line) for line in tried])

    most = whole_after(as_is)
    candidates: list[str] = [""]
    if 2 * most < len(tried):
        candidates = [*(GRAMMAR.terminals[name] for name in PREFIXES), "", shared_indent(tried), *ambiguous]
    for prefix in candidates:
        found = [one[0] for one in map(re.compile(prefix).match, tried) if one is not None]
        if 2 * len(found) <= len(tried) or not _is_counted(found):
            continue
        for changed in (False, True) if is_changed else (False,):
            candidate = LineCleanup(prefix, changed, ends, has_codes)
            whole = most if candidate == as_is else whole_after(candidate)
            if whole > most and (not prefix or 2 * whole >= len(found)):
                best, most = candidate, whole
    return best


def _is_padded(lines: Sequence[str]) -> bool:
    """Do most lines end with blanks, or do all that are shorter than a line size end with blanks there?"""
    sizes = [len(line) for line in lines if line.endswith(tuple(BLANKS))]
    if 2 * len(sizes) > len(lines):
        return True
    return len(sizes) >= _FEWEST_PADDED and len({*sizes}) == 1 and min(map(len, lines)) == sizes[0]


def _is_counted(found: Sequence[str]) -> bool:
    """Do numbers that a tab follows, among what stands before lines, rise as those of lines do?  Process ids do not."""
    numbers = [one.strip().lstrip("0") for one in found if one.endswith("\t") and one.strip().isdecimal()]
    return all((len(one), one) < (len(two), two) for one, two in pairwise(numbers))


def shared_indent(lines: Sequence[str]) -> str:
    """The blanks that all lines start with."""
    shortest = min(map(indent_of, lines), key=len, default="")
    return shortest if all(line.startswith(shortest) for line in lines) else ""
