"""Finding out what other programs added to every line of a log, by how many lines are whole without it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from logframe.normalize import (
    BLANKS,
    CHANGED_CHARACTERS,
    ENTITIES,
    ESCAPE,
    GRAMMAR,
    PREFIXES,
    has_changed_characters,
    has_entities,
    has_other_characters,
    indent_of,
    shared_start,
    without_terminal_codes,
    without_terminal_codes_expr,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

#: Number of sampled lines that a prefix is tried on.
_TRIED: Final = 120
#: This many lines that end with blanks at the same place are padded.
_FEWEST_PADDED: Final = 2
#: This many lines that begin with the same words may have them from another program.
_FEWEST_SAME: Final = 4


@dataclass(frozen=True, slots=True)
class LineCleanup:
    """What other programs added to every line of a log.

    Attributes:
        prefix: pattern of what precedes most lines.
        has_changed: some characters were replaced (`CHANGED_CHARACTERS`).
        has_entities: marks are as a page writes them (`ENTITIES`).
        has_blanks_at_end: lines are padded with blanks.
        has_codes: lines have colours of a terminal.
    """

    prefix: str = ""
    has_changed: bool = False
    has_entities: bool = False
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
        if self.has_entities:
            line = line.str.replace_many(ENTITIES)
        return line.str.strip_chars_end(BLANKS) if self.has_blanks_at_end else line

    def cleaned(self, line: str) -> str:
        """One line as the log had it."""
        return self.cleaned_lines([line])[0]

    def cleaned_lines(self, lines: Sequence[str]) -> list[str]:
        """Lines as the log had them."""
        if self.has_codes:
            lines = [without_terminal_codes(line) for line in lines]
        if self.prefix:
            prefix = re.compile(self.prefix)
            lines = [line[found.end() :] if (found := prefix.match(line)) else line for line in lines]
        if self.has_changed and has_changed_characters("".join(lines)):
            for changed, original in CHANGED_CHARACTERS.items():
                lines = [line.replace(changed, original) for line in lines]
        if self.has_entities and has_entities("".join(lines)):
            for entity, original in ENTITIES.items():
                lines = [line.replace(entity, original) for line in lines]
        return [line.rstrip(BLANKS) for line in lines] if self.has_blanks_at_end else [*lines]


class _Reading(NamedTuple):
    """Sampled lines with a cleanup.

    Attributes:
        cleanup: tried on them.
        lines: as it leaves them.
        preceded: how many of them its prefix precedes.
    """

    cleanup: LineCleanup
    lines: list[str]
    preceded: int


class _Readings:
    """Sampled lines of a log as they are, and without each thing that may have been added to most of them.

    Attributes:
        as_is: the lines without what no format prints: colours, and blanks at the end.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        written = [line for line in (line.removesuffix("\r") for line in lines) if line.strip(BLANKS)]
        is_changed = has_changed_characters("".join(written))
        unusual = [number for number, line in enumerate(written) if has_changed_characters(line)] if is_changed else []
        step = max(1, len(written) // _TRIED)
        self._tried = [written[number] for number in sorted({*range(0, len(written), step), *unusual[:_TRIED]})]
        text = "".join(self._tried) if is_changed else ""
        is_typed = has_other_characters(text)
        # strings of a log may hold marks of a page: these are replaced where more lines are whole with that only
        self._replaced = [(False, False), *([(True, False)] if is_typed else [])]
        self._replaced += [(is_typed, True)] if has_entities(text) else []
        has_codes = any(ESCAPE in line for line in self._tried)
        ends = _is_padded([without_terminal_codes(line) for line in written] if has_codes else written)
        cleanup = LineCleanup(has_blanks_at_end=ends, has_codes=has_codes)
        self.as_is = _Reading(cleanup, cleanup.cleaned_lines(self._tried), len(self._tried))

    @cached_property
    def others(self) -> list[_Reading]:
        """The lines without what precedes most of them in copies of any log."""
        lines = self.as_is.lines
        # the name of a program, a container or a file
        start = shared_start(lines) if len(lines) >= _FEWEST_SAME else ""
        same = re.escape(start[: start.rfind(" ") + 1])
        prefixes = (*(GRAMMAR.terminals[name] for name in PREFIXES), "", shared_indent(lines), same)
        return [reading for prefix in prefixes for reading in self.indented(prefix)]

    def indented(self, prefix: str) -> list[_Reading]:
        """The lines without a prefix, and without the indent that all of them have after it."""
        found = self.without(prefix)
        indent = shared_indent(found[0].lines) if prefix and found else ""
        return [*found, *self.without(prefix + indent)] if indent else found

    def without(self, prefix: str) -> list[_Reading]:
        """The lines without a prefix, if it precedes most of them, and also without replaced characters."""
        found = [one[0] for one in map(re.compile(prefix).match, self.as_is.lines) if one is not None]
        if 2 * len(found) <= len(self._tried) or not _is_counted(found):
            return []
        as_is = self.as_is.cleanup
        cleanups = [
            replace(as_is, prefix=prefix, has_changed=changed, has_entities=entities)
            for changed, entities in self._replaced
        ]
        return [_Reading(one, one.cleaned_lines(self._tried), len(found)) for one in cleanups if one != as_is]


@lru_cache(maxsize=4)
def _readings(lines: tuple[str, ...]) -> _Readings:
    """The same for all formats that look for their signs in the beginning of a log."""
    return _Readings(lines)


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
    readings = _readings(tuple(lines))
    best, tried, _ = readings.as_is
    most = count_whole(tried)
    # of a log most of whose lines are whole, only characters may have been replaced
    others = (
        readings.without("") if 2 * most >= len(tried) else chain(readings.others, *map(readings.indented, ambiguous))
    )
    for cleanup, cleaned, preceded in others:
        whole = count_whole(cleaned)
        if whole > most and (not cleanup.prefix or 2 * whole >= preceded):
            best, most = cleanup, whole
    return best


def _is_padded(lines: Sequence[str]) -> bool:
    """Do most lines end with blanks, or do all that are shorter than a line size end with blanks there?"""
    sizes = [len(line) for line in lines if line.endswith(tuple(BLANKS))]
    if 2 * len(sizes) > len(lines):
        return True
    return len(sizes) >= _FEWEST_PADDED and len({*sizes}) == 1 and min(map(len, lines)) == sizes[0]


def _is_counted(found: Sequence[str]) -> bool:
    """Do numbers that a tab follows, among what stands before lines, rise as those of lines do?  Process ids do not."""
    return rise([one for one in found if one.endswith("\t") and one.strip().isdecimal()])


def rise(printed: Sequence[str]) -> bool:
    r"""Is each whole number greater than the one before it?  They may have any number of digits.

    Args:
        printed: with what stands around them: blanks, tabs, colons.

    Examples:
        >>> rise(["  9:", " 10:", "011:"]), rise(["2\t", "2\t"])
        (True, False)
    """
    numbers = [one.strip(" \t:").lstrip("0") for one in printed]
    return all((len(one), one) < (len(two), two) for one, two in pairwise(numbers))


def shared_indent(lines: Sequence[str]) -> str:
    """The blanks that all lines start with."""
    shortest = min(map(indent_of, lines), key=len, default="")
    return shortest if all(line.startswith(shortest) for line in lines) else ""
