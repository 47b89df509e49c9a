"""The reports of a file: mails are unpacked, what SQL*Plus added is taken back, several reports are separated.

The decimal mark of a report is that of elapsed time and DB time in its head, which have two decimals.

A query of ``DBMS_WORKLOAD_REPOSITORY`` with a page size repeats its column heading and an underline between the lines
of the report, after as many blank lines as NEWPAGE says.  ``SET TRIMSPOOL OFF`` pads each line to the line size, and a
line that is longer than the line size goes on in the next.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from awrparse.matching import tables_of
from awrparse.records import Document, Piece, PrintedTable, Problem
from awrparse.sniff import TAG_LINE, has_table, is_html, kind_of_html, split_html, split_text
from awrparse.tabbed import is_tabbed, read_tabbed
from awrparse.text import lines as line_kinds
from awrparse.text.labels import markdown_rulers, with_bars, with_tabs
from awrparse.text.layout import ANY_RULER, GRAMMAR, PLAIN_RULER
from awrparse.text.sections import read_text
from logframe import LogParseError
from logframe.margins import parts_of_mail, without_marked_titles, without_prefixes
from logframe.normalize import (
    LineMap,
    with_line_feeds,
    with_plain_blanks,
    without_doubled_blank_lines,
    without_margin,
    without_terminal_codes,
)
from logframe.printed import mark_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from logframe import Log
    from logframe.printed import DecimalMark


def documents_of_parts(
    parts: Sequence[str], read: Callable[[str], list[Document]], is_known: Callable[[Document], bool]
) -> list[Document]:
    """The reports of the parts of a mail; where none is known, what was read of all parts.

    A mail often has the same report as a page and as plain text: the reports are all of the first one's form.

    Args:
        parts: texts as `logframe.margins.parts_of_mail` gives them.
        read: gives the reports of a text.
        is_known: whether a document is a report.
    """
    documents = [document for part in parts for document in read(part)]
    known = [document for document in documents if is_known(document)]
    return [document for document in known if document.form == known[0].form] or documents


_BEFORE_MINUTES = re.compile(GRAMMAR.pattern(r"(?<![\w.,])({ANY_FIGURE})\s{0,3}$"))
#: A number between blanks or in a cell.
_ALONE = re.compile(GRAMMAR.pattern(r"(?<![^\s>;])-?({ANY_FIGURE}){ANY_UNIT}?(?![^\s<&])"))
#: So far the head of a report reaches, as text or as HTML.
_HEAD: Final = 40_000
#: This much of a report is read where its head does not show the mark.
_ENOUGH: Final = 12_000
#: What follows elapsed time and DB time, and how long a figure before it is at most.
_MINUTES, _LONGEST = GRAMMAR.literal("MINUTES"), 24
#: Fewer figures than these may be anything: a list, a version.
_FEWEST: Final = 3
#: One mark is the report's when it is this many times as frequent as the other.
_CLEAR: Final = 4


class Decision(NamedTuple):
    """The decimal mark of a report; `reason` says what is wrong when its figures do not agree on one."""

    mark: DecimalMark
    reason: str = ""


def find_mark(text: str) -> Decision:
    """The decimal mark that the figures of a report have.

    Args:
        text: the report, or its beginning.

    Examples:
        >>> find_mark("Elapsed:   60,22 (mins)   DB Time:   1.229,53 (mins)")
        Decision(mark=',', reason='')
        >>> find_mark("log file sync   1.234   1.234   5.678")
        Decision(mark='.', reason='')
    """
    commas, points = _count(_minutes(text))
    if not (commas or points):
        commas, points = _count(_ALONE.findall(text[:_ENOUGH]))
        if commas < _FEWEST:
            return Decision(".")
    if commas > _CLEAR * points:
        return Decision(",")
    if points > _CLEAR * commas or not commas:
        return Decision(".")
    return Decision(
        "." if points >= commas else ",",
        f"{points} figures have a decimal point and {commas} a decimal comma: the more frequent mark was taken",
    )


def _minutes(text: str) -> list[str]:
    """The figures in minutes of a report's head."""
    figures = []
    place = text.find(_MINUTES, 0, _HEAD)
    while place >= 0:
        found = _BEFORE_MINUTES.search(text[max(0, place - _LONGEST) : place])
        if found:
            figures.append(found.group(1))
        place = text.find(_MINUTES, place + 1, _HEAD)
    return figures


def _count(figures: list[str]) -> tuple[int, int]:
    """How many figures can only have a decimal comma, and how many only a decimal point."""
    marks = [mark_of(figure) for figure in figures]
    return marks.count(","), marks.count(".")


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


#: What a report must not hold: more of this than of text means that the file is not one.
_CONTROL: Final = "\x00"
#: This many lines of a text report show its decimal mark.
_HEAD_LINES: Final = 400
#: A copy with a blank line after each line has at least this many that are not blank.
_FEWEST_LINES: Final = 4


def is_known(document: Document) -> bool:
    """Is this a report, or a piece of one?  A ruled table or a web page need not be."""
    if document.kind != "fragment":
        return bool(document.tables)
    return document.has_sections or any(map(tables_of, document.tables))


def documents_of(log: Log) -> list[Document]:
    """The reports of a file."""
    text = log.text()
    if _CONTROL in text[:4096]:
        raise LogParseError("binary data, not a report", source=log.name, expected="a text or HTML file")
    if not text.strip():
        raise LogParseError("the file is empty", source=log.name, expected="a report")
    if parts := parts_of_mail(text):
        return documents_of_parts(parts, _documents, is_known)
    return _documents(text)


def _documents(text: str) -> list[Document]:
    """The reports of a text."""
    text = without_terminal_codes(with_line_feeds(text))
    lines = _lines_of(text)
    bare = without_prefixes(lines, TAG_LINE) if "<" in text else lines
    margins = [] if bare is lines else [len(line) - len(own) for line, own in zip(lines, bare, strict=True)]
    text, lines = ("\n".join(bare), bare) if margins else (text, lines)
    line_map, clean = _kept_lines(lines)
    is_page = is_html(clean)
    if is_page:
        from awrparse.html import hard_markup, page_text, read_html  # noqa: PLC0415 - a text report needs no HTML parser

        if hard := hard_markup(clean):
            raise LogParseError(f"not read: {hard}", source="a page", expected="a report as Oracle writes it")
        # the lines of a text report within a page are its own, however many are of one length
        inner = None if has_table(clean) else page_text(clean)
        text, joined = joined_html(line_map.select(lines), clean)
        if inner is None:
            pages = [
                _marked(read_html(page, *kind_of_html(page), first_line=line), page) for line, page in split_html(text)
            ]
            for document in pages:
                document.line_map, document.joined, document.margins = line_map, joined, margins
            return pages
        text = inner
        lines = _lines_of(text)
        line_map, _ = _kept_lines(lines)
    file_lines = lines if text.isascii() else list(map(with_plain_blanks, lines))
    raw_lines = line_map.select(file_lines)
    quoted = without_margin(raw_lines, ANY_RULER)
    lines = without_prefixes(quoted, PLAIN_RULER)
    if lines is not quoted:  # numbers before the lines are not part of the report
        raw_lines = [own.rjust(len(raw)) for own, raw in zip(lines, raw_lines, strict=True)]
        file_lines = [*file_lines]
        for place, line in zip(line_map.kept, raw_lines, strict=True):
            file_lines[place] = line
    lines = without_marked_titles(lines)
    lines = with_bars(lines) if "|" in text else lines
    rulers = frozenset(markdown_rulers(lines)) if "|" in text else frozenset()
    if rulers:
        line_map = line_map.without(rulers)
        raw_lines = line_map.select(file_lines)
        lines = [with_tabs(line) for number, line in enumerate(lines) if number not in rulers]
    # SQL*Plus and editors put tabs for blanks; browsers put them between cells
    filled = [line.expandtabs() for line in lines] if rulers or any("\t" in line for line in lines) else lines
    kinds = line_kinds.classify(filled)
    read = read_tabbed if filled is not lines and is_tabbed(lines, kinds) else read_text
    lines = lines if read is read_tabbed else filled
    documents = [
        _marked(
            read(lines, kinds, part),
            "\n".join(lines[part.first : min(part.end, part.first + _HEAD_LINES)]),
        )
        for part in split_text(lines, kinds)
    ]
    if not line_map.is_whole:
        _count_dropped_lines(documents, line_map, file_lines)
    pieces = [piece for document in documents for piece in _pieces(document)]
    if not is_page:  # in a page there are marks of HTML between the letters
        for piece in pieces:
            piece.lines, piece.raw_lines = lines, raw_lines
    for piece in pieces:
        piece.line_map, piece.file_lines = line_map, file_lines
    return pieces


def _lines_of(text: str) -> list[str]:
    """The lines of a text without blanks at their ends: SQL*Plus fills lines up, and so do some editors."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.rstrip(" ") for line in lines] if " \n" in text or text.endswith(" ") else lines


def _kept_lines(lines: list[str]) -> tuple[LineMap, str]:
    """The lines that are the report's own, and their text."""
    line_map = without_doubled_blank_lines(lines, fewest=_FEWEST_LINES) or LineMap.of(len(lines))
    kept = line_map.select(lines)
    text = "\n".join(kept)
    if pages := lines_of_pages(kept, text):
        line_map = line_map.without(pages)
        text = "\n".join(line_map.select(lines))
    return line_map, text


def _count_dropped_lines(documents: list[Document], line_map: LineMap, lines: list[str]) -> None:
    """Give each report the lines back that were left out: the kinds of the lines are those of the whole file."""
    kinds = bytearray([line_kinds.PAGE_HEADING if line.strip() else line_kinds.BLANK for line in lines])
    places = line_map.kept
    first = 0
    for number, document in enumerate(documents):
        end = first + len(document.line_kinds)
        start = places[first] if number else 0
        stop = places[end] if end < len(places) else len(lines)
        for place, kind in zip(places[first:end], document.line_kinds, strict=True):
            kinds[place] = kind
        document.line_kinds = kinds[start:stop]
        document.first_line = places[document.first_line - 1] + 1
        first = end


def _marked(document: Document, text: str) -> Document:
    """The document with the decimal mark that its beginning shows, and a problem where that is not clear."""
    document.decimal_mark, reason = find_mark(text)
    if reason:
        document.problems.append(Problem(document.first_line, "ambiguous", "", reason))
    return document


def _pieces(document: Document) -> list[Document]:
    """A pasted text in which the same summary table comes again holds pieces of several reports."""
    if document.kind != "fragment":
        return [document]
    groups: list[list[PrintedTable]] = [[]]
    seen: set[str] = set()
    for printed in document.tables:
        # some tables are printed under several titles: SQL and segments in several orders, histograms by range
        names = {
            f"{table.name} {printed.title}" if table.group or table.shape == "histogram" else table.name
            for table in tables_of(printed)
        }
        if names & seen:
            groups.append([])
            seen = set()
        seen |= names
        groups[-1].append(printed)
    if len(groups) == 1:
        return [document]
    pieces = [
        Document("fragment", "text", group, group[0].line if group else 1, decimal_mark=document.decimal_mark)
        for group in groups
    ]
    pieces[0].line_kinds, pieces[0].problems, pieces[0].empty = document.line_kinds, document.problems, document.empty
    return pieces
