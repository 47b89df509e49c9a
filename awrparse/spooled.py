"""Reports that SQL*Plus has written: page headings, padding and wrapped lines are taken back.

A query of ``DBMS_WORKLOAD_REPOSITORY`` with a page size repeats its column heading and an underline between the lines
of the report, after as many blank lines as NEWPAGE says.  ``SET TRIMSPOOL OFF`` pads each line to the line size, and a
line that is longer than the line size goes on in the next.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final

from awrparse.records import Piece
from awrparse.text.layout import GRAMMAR

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The column of the function that writes reports.
_USUAL_HEADING: Final = "OUTPUT"
#: How an underline starts.
_UNDERLINE: Final = "\n" + "-" * 6
#: Another heading is one only if it comes so often, with the same underline.
_FEWEST_PAGES: Final = 2
#: An underline of another heading has at least this many dashes; a report has no such table of one column.
_SHORTEST_UNDERLINE: Final = 40
#: The report itself cuts SQL text in HTML after this many characters, whatever the line size.
_CHUNKS: Final = frozenset({1000, 4000, 8000})
#: Lines shorter than these are not the pieces of a wrapped page.
_NARROWEST_HTML: Final = 60
#: A page is wrapped where this many of its lines have the greatest length.
_FEWEST_WRAPPED: Final = 3


@cache
def _heading() -> re.Pattern[str]:
    """A heading and its underline, on lines of their own."""
    return re.compile(GRAMMAR.pattern(r"^\f?(?P<name>{SPOOL_COLUMN})\n(?P<underline>-{6,})$"), re.MULTILINE)


def lines_of_pages(lines: list[str], text: str) -> frozenset[int]:
    r"""The lines that SQL*Plus has put between those of the report, counted from 0: headings, underlines, blank lines.

    Args:
        lines: without blanks at their ends.
        text: the same, joined.

    Examples:
        >>> lines = ["a  1", "", "OUTPUT", "------", "b  2"]
        >>> sorted(lines_of_pages(lines, "\n".join(lines)))
        [1, 2, 3]
    """
    found: dict[tuple[str, int], list[int]] = {}
    number, counted = 0, 0
    for heading in _headings(text):
        number += text.count("\n", counted, heading.start())
        counted = heading.start()
        found.setdefault((heading["name"], len(heading["underline"])), []).append(number)
    pages: set[int] = set()
    for (name, width), starts in found.items():
        is_usual = name == _USUAL_HEADING
        if is_usual or (len(starts) >= _FEWEST_PAGES and width >= _SHORTEST_UNDERLINE):
            blank = _blank_lines(lines, starts)
            for start in starts:
                first = start
                while first > max(0, start - blank) and not lines[first - 1]:
                    first -= 1
                pages.update(range(first, start + 2))
    return frozenset(pages)


def _headings(text: str) -> Iterator[re.Match[str]]:
    """The headings above an underline, each found by the underline."""
    match = _heading().match
    place = text.find(_UNDERLINE)
    while place >= 0:
        if heading := match(text, text.rfind("\n", 0, place) + 1):
            yield heading
        place = text.find(_UNDERLINE, place + 1)


def _blank_lines(lines: list[str], starts: list[int]) -> int:
    """How many blank lines NEWPAGE puts before each heading: as many as stand before every one."""
    # a form feed stands for them, and whoever copied the report may have left out those before the first
    counts = []
    for start in starts[1:] or starts:
        above = start
        while above > 0 and not lines[above - 1] and not lines[start].startswith("\f"):
            above -= 1
        counts.append(start - above)
    return min(*counts, 1) if len(starts) == 1 else min(counts)


def joined_html(lines: list[str], text: str) -> tuple[str, list[Piece]]:
    r"""A page whose lines go on where SQL*Plus or the report itself has cut them at a fixed length.

    Args:
        lines: of the page.
        text: the same, joined; it is given back where no line goes on.

    Returns:
        The page, and where pieces of its lines begin; none where no line goes on.

    Examples:
        >>> lines = ["<td>" + "x" * 96] * 3 + ["y</td>"]
        >>> page, pieces = joined_html(lines, "\n".join(lines))
        >>> page.count("\n"), pieces[:2]
        (0, [Piece(line=1, column=0, source=0), Piece(line=1, column=100, source=1)])
    """
    counts = Counter(map(len, lines))
    longest = max(counts)
    is_wrapped = longest >= _NARROWEST_HTML and counts[longest] >= _FEWEST_WRAPPED
    cut = {*_CHUNKS, longest} if is_wrapped else _CHUNKS
    if cut.isdisjoint(counts):
        return text, []
    parts: list[str] = []
    starts: list[Piece] = []
    place = 0
    for first in [number for number, line in enumerate(lines) if len(line) in cut]:
        if first < place:
            continue
        starts += [Piece(len(parts) + 1, 0, place)] * (place < first)
        parts += lines[place:first]
        pieces: list[str] = []
        size, goes_on, place = 0, True, first
        while goes_on and place < len(lines):
            line = lines[place]
            place += 1
            # RECSEP puts a blank line after the last piece
            if pieces and not line:
                continue
            starts.append(Piece(len(parts) + 1, sum(map(len, pieces)), place - 1))
            pieces.append(line)
            size += len(line)
            goes_on = is_wrapped and len(line) == longest
            if not goes_on:
                goes_on = size in _CHUNKS
                size = 0
        parts.append("".join(pieces))
    starts.append(Piece(len(parts) + 1, 0, place))
    parts += lines[place:]
    return "\n".join(parts), starts
